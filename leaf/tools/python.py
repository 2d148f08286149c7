"""Tools that run Python: run_python, add_package, remove_package. Absent on machines that cannot
confine it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import BaseModel, Field, field_validator

from leaf.errors import CodeError, InvalidInputError
from leaf.sandbox.confine import confinement
from leaf.sandbox.namespace import PythonCell
from leaf.sandbox.packages import Packages
from leaf.sandbox.ran import Ran
from leaf.sandbox.written import WrittenFile
from leaf.settings.disk import scratch
from leaf.shapes.results import (
    FigureDrawn,
    FileWritten,
    Printed,
    TableShown,
    ToldResult,
    ToolResult,
    UnreadTable,
)
from leaf.store.made_files import MadeFile
from leaf.store.model import ChatFile
from leaf.tables.notebooks import CellOutcome, Notebooks
from leaf.tables.queries import QueryResult
from leaf.tables.results import united
from leaf.tables.table import Table
from leaf.tools import remarks
from leaf.tools.advice import advice, half_done
from leaf.tools.base import Picture, Source, Tool, ToolContext, ToolOutput, find_file, gone, quoted
from leaf.tools.permissions import Permission
from leaf.tools.printed import fit, size_in_bytes, size_in_words, unseen, without_encoded
from leaf.tools.table_data import beside_json, place_of, table_json
from leaf.tools.table_text import TableText, text_table

CODE_CHARACTERS = 50_000
TABLE_CHARACTERS = 6_000
"""Of each DataFrame that goes to the model, about 2,400 tokens."""
ROWS_SHOWN = 50


class RunPythonInput(BaseModel):
    code: str
    files: list[str] = Field(title="Files", default_factory=list)
    timeout: float = Field(60, description="Seconds.")

    @field_validator("code")
    @classmethod
    def not_empty(cls, code: str) -> str:
        """Checked here and not in the schema, which is a part of every request."""
        if not 0 < len(code) <= CODE_CHARACTERS:
            raise ValueError(f"give 1 to {CODE_CHARACTERS:,} characters")
        return code


def run_python(context: ToolContext, given: RunPythonInput) -> ToolOutput:
    """Run a cell, keep its DataFrames and figures, and say what came of it."""
    notebooks = _notebooks(context)

    def open_file(name: str) -> tuple[ChatFile, Path]:
        chat_file = find_file(context, name)
        return chat_file, context.library.open(context.scope, chat_file.file.id)

    for name in given.files:
        open_file(name)
    _refuse_deleted(context, given.code)
    with scratch("cell") as folder:
        rested = notebooks.run(
            context.scope,
            context.chat_id,
            context.message_id,
            context.key,
            given.code,
            context.files,
            open_file,
            folder,
            files=given.files,
            seconds=given.timeout,
            stop=context.stop,
            progress=context.progress,
            after=context.edited.cells_before if context.edited else None,
        )
        if rested.ran.failure is not None:
            lasts = bool(context.message_id) and context.edited is None
            raise _error(rested.ran, notebooks.packages, context.files, lasts)
        products = _keep(context, given.code, rested)
    return _output(context, given.code, rested, products)


@dataclass(frozen=True)
class _Made:
    """What a cell made, kept."""

    written: list[MadeFile]
    results: list[FrameKept]
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class FrameKept:
    """A DataFrame that became a result."""

    name: str
    result: QueryResult
    text: TableText
    """What the model gets of it."""


def _keep(context: ToolContext, code: str, rested: CellOutcome) -> _Made:
    ran = rested.ran
    written = [
        context.library.keep_written(
            context.scope, context.chat_id, context.message_id, name, file.path, context.key
        )
        for name, file in _named(ran.written)
    ]
    keep_frame = partial(
        context.tables.queries.keep_frame,
        context.scope,
        context.chat_id,
        data_only=rested.data_only,
        first=rested.first,
        results=rested.results,
        turn=context.turn,
        read=rested.read,
        edited=context.edit_id,
    )
    results = []
    for number, (path, name) in enumerate(ran.frames, 1):
        call = context.key and f"{context.key}/{number}"
        result = keep_frame(path, code, name, rested.tables, context.stop, call=call)
        text = text_table(result.columns, result.rows[:ROWS_SHOWN], TABLE_CHARACTERS)
        results.append(FrameKept(name, result, text))
    figures = (
        context.library.pictures.keep_figure(context.scope, context.chat_id, path, context.stop)
        for path in ran.figures
    )
    pictures = (
        Picture(
            figure.sha256,
            "image/png",
            figure.width,
            figure.height,
            f"figure {number} of cell {rested.cell.number}",
        )
        for number, figure in enumerate(figures, 1)
    )
    return _Made(written, results, tuple(pictures))


class CellRan(ToldResult):
    python: Printed
    tables: list[TableShown]
    figures: list[FigureDrawn]
    written: list[FileWritten]
    beside: list[UnreadTable]


def _output(context: ToolContext, code: str, rested: CellOutcome, products: _Made) -> ToolOutput:
    ran, cell, tables = rested.ran, rested.cell, rested.tables
    sources = [
        Source(t.handle, t.file_id, t.file_name, place_of(t), "computed", query=code)
        for t in tables
    ]
    opened = {
        c.handle: c
        for c in context.files
        for name in rested.opened
        if name in (c.handle, c.file.id, c.file.name, c.slug)
    }
    sources += [
        Source(c.handle, c.file.id, c.file.name, "", "computed", query=code)
        for c in opened.values()
    ]
    readings = [
        remarks.ReadTable(t, t.name in rested.data_only, _read(rested, t), rested.first.get(t.name))
        for t in tables
    ]
    notes = remarks.new(readings, context.hooks.told)
    caveats = tuple(dict.fromkeys(text for result in rested.results for text in result.said))
    return ToolOutput(
        _text(
            ran,
            cell,
            products.results,
            products.pictures,
            products.written,
            (*caveats, *notes.spoken),
        ),
        _in_words(code, products.results, products.pictures, products.written),
        sources=tuple(sources),
        coverage=tuple(remarks.coverage(r) for r in readings),
        data=CellRan(
            python=_about(ran, cell),
            tables=_tables_json(products.results),
            figures=_figures_json(products.pictures),
            written=[
                {"sha256": one.sha256, "name": one.name, "size": one.size}
                for one in products.written
            ],
            beside=beside_json(rested.beside),
            **notes.to_json(),
        ),
        pictures=products.pictures,
    )


def _read(rested: CellOutcome, table: Table) -> frozenset[str] | None:
    """The columns of a table that code reads, itself or through kept results; None for any."""
    through = [
        r.read
        for r in rested.results
        if any((t.file_id, t.name) == (table.file_id, table.name) for t in r.tables)
    ]
    return united(
        [*([rested.read] if table.name in rested.direct or not through else []), *through]
    )


def _notebooks(context: ToolContext) -> Notebooks:
    if context.python is None:
        raise InvalidInputError("Python cannot run here.", "Use query_tables.")
    return context.python


def _refuse_deleted(context: ToolContext, code: str) -> None:
    """Say that a table is gone, rather than that its name is unknown."""
    for deleted in context.deleted:
        if re.search(rf"\b{re.escape(deleted.slug)}\b", code) and not any(
            deleted.slug == c.slug for c in context.files
        ):
            raise gone(deleted)


def _text(
    ran: Ran,
    cell: PythonCell,
    results: Sequence[FrameKept],
    pictures: Sequence[Picture],
    written: Sequence[MadeFile],
    sentences: Sequence[str],
) -> str:
    pieces = [f"Cell {cell.number} ran in {ran.seconds:.2f} s.", *_said_of_namespace(ran)]
    if ran.printed.strip():
        pieces.append(f"Printed{_cut(ran)}:\n{fit(ran.printed.rstrip())}")
    if ran.value.strip():
        pieces.append(f"Value:\n{fit(ran.value)}")
    for frame in results:
        result, shown = frame.result, frame.text
        named = f" ({frame.name})" if frame.name else ""
        size = f"{result.total:,} rows × {len(result.columns)} columns"
        pieces.append(
            f"Result {result.result_id}{named}: {size}; {shown.rows:,} shown "
            f"below.\n{without_encoded(shown.text)}"
        )
    if pictures:
        pieces.append(
            f"{len(pictures)} figure{'s' if len(pictures) > 1 else ''} drawn; the user sees it."
        )
    if written:
        named = ", ".join(
            f"{quoted(file.name, 80)} ({size_in_bytes(file.size)})" for file in written
        )
        pieces.append(f"Files kept, which the user can download or add to the chat: {named}.")
    pieces += [*ran.notes]
    if len(pieces) == 1:
        pieces.append("Nothing was printed and the last line has no value.")
    return "\n".join([*pieces, *sentences])


def _said_of_namespace(ran: Ran) -> list[str]:
    cells = f"{ran.rebuilt} cell{'s' if ran.rebuilt != 1 else ''}"
    rebuilt = (
        [f"The variables had been let go and were rebuilt from {cells}."] if ran.rebuilt else []
    )
    return [*rebuilt, *ran.lost]


def _cut(ran: Ran) -> str:
    if ran.characters <= len(ran.printed):
        return ""
    return f" {size_in_words(ran.characters)}; the first {len(ran.printed):,} characters are kept"


def _named(written: Sequence[WrittenFile]) -> Iterator[tuple[str, WrittenFile]]:
    """Each file with a name of its own: its last part, or where that is taken its whole path."""
    taken: set[str] = set()
    for file in written:
        short = file.name.rpartition("/")[2]
        name = short if short not in taken else file.name.replace("/", "-")
        taken.add(name)
        yield name, file


def _error(ran: Ran, packages: Packages, files: Sequence[ChatFile], lasts: bool) -> CodeError:
    """What went wrong, where in the cell, and what had been printed before; `lasts` where its
    variables do."""
    failure = ran.failure
    assert failure is not None
    where = f" on line {failure.line}" if failure.line else ""
    message = f": {quoted(failure.message, 900)}" if failure.message else ""
    advised = f". {advised}" if (advised := advice(failure, packages, files)) else ""
    pieces = [f"{failure.type}{where}{message}{advised}", *_said_of_namespace(ran), failure.text]
    pieces += half_done(failure) if lasts else ()
    if ran.printed.strip():
        pieces.append(f"Printed before{_cut(ran)}:\n{fit(ran.printed.rstrip())[:4_000]}")
    return CodeError(without_encoded("\n".join(pieces)))


def _about(ran: Ran, cell: PythonCell) -> Printed:
    return {
        "cell": cell.number,
        "printed": ran.printed,
        "characters": ran.characters,
        "unseen": unseen(ran.printed, ran.characters),
        "value": ran.value,
        "notes": list(ran.notes),
        "rebuilt": ran.rebuilt,
        "lost": list(ran.lost),
        "seconds": round(ran.seconds, 3),
    }


def _tables_json(results: Sequence[FrameKept]) -> list[TableShown]:
    return [
        {**table_json(frame.result, frame.text.rows, frame.text.cut), "name": frame.name}
        for frame in results
    ]


def _figures_json(pictures: Sequence[Picture]) -> list[FigureDrawn]:
    return [
        {"sha256": p.sha256, "width": p.width, "height": p.height, "label": p.label}
        for p in pictures
    ]


def _in_words(
    code: str,
    results: Sequence[FrameKept],
    pictures: Sequence[Picture],
    written: Sequence[MadeFile],
) -> str:
    """What its first comment says, or `Ran Python`, and what came of it."""
    comment = re.match(r"\s*#+\s*(.+)", code)
    title = quoted(comment.group(1), 100) if comment else "Ran Python"
    outcomes = [
        f"{frame.result.total:,} row{'s' if frame.result.total != 1 else ''}"
        for frame in results[:2]
    ]
    outcomes += [f"{len(pictures)} figure{'s' if len(pictures) > 1 else ''}"] if pictures else []
    outcomes += [f"wrote {quoted(file.name, 60)}" for file in written[:2]]
    return f"{title}: {', '.join(outcomes)}" if outcomes else title


class AddPackageInput(BaseModel):
    name: str = Field(title="Package")
    version: str = Field("", title="Version")


class PackagesInstalled(ToolResult):
    packages: dict[str, str]


def add_package(context: ToolContext, given: AddPackageInput) -> ToolOutput:
    """Install a package for this chat, if somebody there allows it."""
    notebooks = _notebooks(context)
    workspace = context.scope.workspace_id
    context.progress(f"Looking for {quoted(given.name, 60)} …")
    plan = notebooks.packages.plan(
        workspace, context.chat_id, given.name, given.version.strip(), context.stop
    )
    if plan.present:
        return ToolOutput(
            f"{plan.name} {plan.version} is there already.",
            f"{plan.name} {plan.version} is there already",
        )
    context.permit(
        Permission(
            f"Install {plan.words()} from the package index for this chat?",
            "It is installed for this chat alone and has no network. Without an answer it is not "
            "installed.",
            "Do without the package.",
            icon="deployed_code_update",
        )
    )
    context.progress(f"Installing {plan.words()} …")
    replaced = plan.name in notebooks.packages.installed(workspace, context.chat_id)
    notebooks.packages.add(workspace, context.chat_id, plan, context.stop)
    if replaced:
        notebooks.forget(context.scope, context.chat_id)
    return ToolOutput(
        f"Installed {plan.words()} for this chat. Import it in run_python.",
        f"Installed {plan.words()}",
        data=PackagesInstalled(packages=notebooks.packages.installed(workspace, context.chat_id)),
    )


class RemovePackageInput(BaseModel):
    name: str = Field(title="Package")


def remove_package(context: ToolContext, given: RemovePackageInput) -> ToolOutput:
    """Take a package away that this chat had installed."""
    notebooks = _notebooks(context)
    version = notebooks.packages.remove(
        context.scope.workspace_id, context.chat_id, given.name, context.stop
    )
    notebooks.forget(context.scope, context.chat_id)
    summary = f"Removed {quoted(given.name, 60)} {version}"
    return ToolOutput(f"{summary}. The variables are rebuilt at the next run_python.", summary)


def _confined() -> bool:
    return confinement().kind == "landlock"


TOOLS = (
    Tool(
        "run_python",
        "Run Python offline: pandas, scipy, sklearn, statsmodels, matplotlib. Tables are "
        "DataFrames by SQL name; "
        "query(sql) gives one, open_file(handle) a path. Variables live on. Returns prints, last "
        "expression, figures, "
        "files written; DataFrames (last expression, display(df)) get result ids.",
        RunPythonInput,
        run_python,
        "Running Python",
        icon="code",
        counted=("Python cell", "Python cells"),
        result=CellRan,
        offered=_confined,
        replay="cell",
    ),
    Tool(
        "add_package",
        "Install a listed package if the user agrees.",
        AddPackageInput,
        add_package,
        "Adding a package",
        icon="deployed_code_update",
        result=PackagesInstalled,
        offered=_confined,
        effect="outside",
        repeatable=False,
    ),
    Tool(
        "remove_package",
        "Undo add_package.",
        RemovePackageInput,
        remove_package,
        "Removing a package",
        icon="deployed_code_history",
        offered=_confined,
        effect="outside",
        repeatable=False,
    ),
)

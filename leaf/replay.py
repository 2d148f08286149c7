"""A bundle computed again: no model, no key, none of the app's data.

Its files are found by their SHA-256, its queries and cells run in order in a temporary folder,
every figure is traced anew.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.errors import LeafError, NotFoundError, UnreadableFileError
from leaf.exports.bundle import WRITTEN_BYTES, said_by_cell
from leaf.exports.compare import different_results, different_words, same_trace
from leaf.exports.manifest import FILES, KeptAnswer, KeptCall, KeptFile, Manifest, parse
from leaf.files.library import open_path
from leaf.provenance.receipts.answer import of_answer
from leaf.settings import Settings
from leaf.settings.disk import scratch
from leaf.shapes.parts import Part, ToolPart
from leaf.shapes.results import Output
from leaf.store.model import File, Message
from leaf.tables.paging import RowsWanted
from leaf.tools.registry import all_tools, declared

if TYPE_CHECKING:
    import pandas as pd

Json = dict[str, Any]

REPLAY = "replay"
"""In place of the answers to which the calls belong: what their cells share."""
COMPARED = ("query", "cell", "chart")
"""Kinds of calls whose results are compared."""
BUNDLE_BYTES = 64 * 1024 * 1024 + WRITTEN_BYTES
LOOKED_AT = FILES
"""Files of a data folder that are looked at."""
SHOWN_SQL = 60


@dataclass(frozen=True)
class ReportLine:
    """What became of one call, file or figure."""

    kind: str
    """`query`, `cell`, `chart`, `figure`, `file`, or `step` for what is not counted."""
    name: str
    agrees: bool
    text: str

    def __str__(self) -> str:
        right, wrong = ("found", "MISSING") if self.kind == "file" else ("agrees", "DIFFERENT")
        return f"{self.name:<12} {right if self.agrees else wrong:<9}  {self.text}"


@dataclass(frozen=True)
class Report:
    """What agrees and what does not."""

    lines: tuple[ReportLine, ...]
    unreceipted: int = 0
    """Figures that had no receipt in the chat; they cannot be looked at."""

    @property
    def agrees(self) -> bool:
        """Whether everything that is counted came out as it was."""
        return all(line.agrees for line in self.lines if line.kind in (*COMPARED, "figure"))

    @property
    def total(self) -> str:
        """`12 of 12 queries, 6 of 6 cells, 31 of 31 figures agree`."""
        pieces = []
        for kind, plural in (
            ("query", "queries"),
            ("cell", "cells"),
            ("chart", "charts"),
            ("figure", "figures"),
        ):
            of_kind = [line for line in self.lines if line.kind == kind]
            if of_kind or kind in ("query", "figure"):
                pieces.append(f"{sum(line.agrees for line in of_kind)} of {len(of_kind)} {plural}")
        without = f" {self.unreceipted} figures had no receipt." if self.unreceipted else ""
        return f"{', '.join(pieces)} agree.{without}"

    def __str__(self) -> str:
        return "\n".join([*map(str, self.lines), self.total])


@dataclass(frozen=True)
class BundleRead:
    """What a child found in a bundle."""

    manifest: Json
    code: dict[str, str]
    """Name of a file -> its text."""


def _ignore(line: ReportLine) -> None:
    """Nobody reads along."""


def replay(bundle: Path, data: Path, on_line: Callable[[ReportLine], None] = _ignore) -> Report:
    """Compute a bundle, as ZIP or as a folder, again with the files of `data`. Raises
    UnreadableFileError, NotFoundError."""
    from leaf.wiring import confined

    with scratch("replay") as folder:
        whole = folder / "bundle.zip"
        whole.write_bytes(_bytes(bundle))
        contents = confined(
            folder,
            "leaf.exports.reading:read",
            {"path": "in:bundle"},
            {"bundle": whole},
            BundleRead,
        )
    manifest = parse(contents.manifest)
    check_code(manifest, contents.code)
    return replay_manifest(manifest, data, on_line)


def replay_manifest(
    manifest: Manifest | Json, data: Path, on_line: Callable[[ReportLine], None] = _ignore
) -> Report:
    """The same with what stands in manifest.json."""
    manifest = manifest if isinstance(manifest, Manifest) else parse(manifest)
    lines: list[ReportLine] = []

    def tell(line: ReportLine) -> None:
        lines.append(line)
        on_line(line)

    with Workbench(manifest.files, data) as bench:
        for line in bench.files():
            tell(line)
        outputs: dict[tuple[str, str], Output] = {}
        names = _names(manifest)
        for answer in manifest.answers:
            for call in answer.calls:
                told, output = _again(bench, call, names[answer.id, call.id])
                if output is not None:
                    outputs[answer.id, call.id] = output
                if told is not None:
                    tell(told)
    for line in _figures(manifest.answers, outputs):
        tell(line)
    unreceipted = sum(
        receipt.kind == "none" for answer in manifest.answers for receipt in answer.receipts
    )
    return Report(tuple(lines), unreceipted)


class Workbench:
    """The files of a manifest under the names that they had in the chat, in a temporary data
    folder. Close it, or use `with`."""

    def __init__(self, files: Sequence[KeptFile | Mapping[str, Any]], data: Path) -> None:
        from leaf.wiring import build

        self._files = [
            file if isinstance(file, KeptFile) else KeptFile.model_validate(file) for file in files
        ]
        self._paths, self._others = find_files(self._files, data)
        self._folder = ExitStack()
        self._leaf = build(Settings(home=self._folder.enter_context(scratch("replay"))))
        self._open = True
        atexit.register(self.close)
        self._session = self._leaf.session(self._leaf.local_scope())
        self._chat = self._session.chats.create()
        self._inside: dict[str, File] = {}
        """sha256 -> a file that came out of an archive or a mail that was found."""
        there: dict[str, str] = {}
        for file in self._files:
            if file.sha256 in self._paths:
                folder, _, name = file.name.rpartition("/")
                with open_path(self._paths[file.sha256]) as stream:
                    added = self._session.files.add(name, stream, folder=folder)
                self._inside.update({member.sha256: member for member in added.inside})
                there[file.handle] = added.file.id if added.file.sha256 == file.sha256 else ""
        for file in self._files:
            file_id = there.get(file.handle) or (
                self._inside[file.sha256].id if file.sha256 in self._inside else ""
            )
            if file_id:
                self._session.attached.add_as(self._chat.id, file_id, file.handle, file.slug)

    def __enter__(self) -> Workbench:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        if self._open:
            self._open = False
            atexit.unregister(self.close)
            self._leaf.close()
            self._folder.close()

    @property
    def missing(self) -> list[KeptFile]:
        """Files of the chat that were not found."""
        return [
            file
            for file in self._files
            if file.sha256 not in self._paths and file.sha256 not in self._inside
        ]

    def files(self) -> Iterator[ReportLine]:
        """Where each file was found, or why not."""
        for file in self._files:
            path = self._paths.get(file.sha256)
            if path is not None:
                yield ReportLine("file", file.handle, True, f"{file.name}, found as {path.name}")
            elif file.sha256 in self._inside:
                yield ReportLine(
                    "file",
                    file.handle,
                    True,
                    f"{file.name}, found in {self._inside[file.sha256].folder}",
                )
            elif other := self._others.get(file.name.rpartition("/")[2]):
                yield ReportLine("file", file.handle, False, f"{file.name} is there {other}")
            else:
                yield ReportLine(
                    "file",
                    file.handle,
                    False,
                    f"{file.name} is missing (sha256 {file.sha256[:12]}…)",
                )

    def run(self, call: KeptCall) -> Output:
        """Carry out a call; its output as in a chat. Raises the LeafError that the model would have
        got."""
        ids = [result.result_id for result in call.results if result.result_id]
        if ids and (call.sql or call.code):
            self._session.results.number_next(self._chat.id, min(int(i[1:]) for i in ids))
        return self._session.tools.run(
            call.tool, call.input, chat_id=self._chat.id, message_id=REPLAY
        ).to_json()

    def rows(self, result_id: str, limit: int) -> list[list[Any]]:
        """Rows of a result that `run` made."""
        return self._session.results.page(self._chat.id, result_id, RowsWanted(limit=limit)).rows

    def query(self, sql: str, name: str = "") -> pd.DataFrame:
        """The whole result of a query over the chat's tables, for notebooks. Raises QueryError,
        NotFoundError.

        `name` is that of the result in the chat (`r3`), by which later queries may read it.
        """
        import pandas as pd

        if name:
            self._session.results.number_next(self._chat.id, int(name[1:]))
        output = self._session.tools.run("query_tables", {"sql": sql}, chat_id=self._chat.id)
        result_id = output.data.to_json()["table"]["result_id"]
        with scratch("query") as folder:
            path = self._session.results.export(self._chat.id, result_id, "parquet", into=folder)
            return pd.read_parquet(path)

    def keep(self, name: str, frame: pd.DataFrame) -> None:
        """A table that Python made, for notebooks: under the name of its result in the chat, by which
        later queries may read it."""
        from leaf.sandbox import frames

        if not name or self._session.results.gone(self._chat.id, name) is None:
            return
        self._session.results.number_next(self._chat.id, int(name[1:]))
        with scratch("query") as folder:
            path = folder / "table.parquet"
            frames.write(frame, path)
            self._session.results.keep_table(self._chat.id, path)


def find_files(files: Sequence[KeptFile], data: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """sha256 -> where it is in a folder, whatever its name; and the names of files there that are not
    those of the chat -> why not."""
    wanted, sizes, names = (
        {f.sha256 for f in files},
        {f.size for f in files},
        {f.name.rpartition("/")[2] for f in files},
    )
    if not data.is_dir():
        raise NotFoundError(
            f"There is no folder '{data}'.", "Name the folder with the data files: --data FOLDER"
        )
    path_of: dict[str, Path] = {}
    others: dict[str, str] = {}
    for number, path in enumerate(data.rglob("*")):
        if number >= LOOKED_AT:
            raise UnreadableFileError(
                f"There are more than {LOOKED_AT:,} files in '{data}'.",
                "Name a folder with the data files alone: --data FOLDER",
            )
        try:
            size = path.stat().st_size if path.is_file() else -1
            sha256 = _sha256(path) if size in sizes else ""
        except OSError as e:  # one that may not be read, or that goes just now
            others[path.name] = f"and cannot be read: {e.strerror}"
            continue
        if sha256 in wanted:
            path_of.setdefault(sha256, path)
        elif size >= 0 and path.name in names:
            others[path.name] = "with other content than in the chat"
    return path_of, others


def _sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _bytes(bundle: Path) -> bytes:
    """The ZIP, or what counts of a folder as one."""
    if not bundle.exists():
        raise NotFoundError(f"There is no bundle '{bundle}'.", "Check the path.")
    too_large = UnreadableFileError(
        f"{bundle.name} is larger than {BUNDLE_BYTES // 1024**2} MB, so it is no bundle of a chat."
    )
    if bundle.is_file():
        if bundle.stat().st_size > BUNDLE_BYTES:
            raise too_large
        return bundle.read_bytes()
    target, size = io.BytesIO(), 0
    paths = [
        bundle / "manifest.json",
        *sorted(bundle.glob("queries/*.sql")),
        *sorted(bundle.glob("cells/*.py")),
    ]
    with zipfile.ZipFile(target, "w") as archive:
        for path in paths:
            if path.is_file() and not path.is_symlink():
                size += path.stat().st_size
                if size > BUNDLE_BYTES:
                    raise too_large
                archive.writestr(path.relative_to(bundle).as_posix(), path.read_bytes())
    return target.getvalue()


def check_code(manifest: Manifest, code: Mapping[str, str]) -> None:
    """What people read in `queries` and `cells` must be what runs. Raises UnreadableFileError."""
    for call in manifest.calls():
        if call.file and code.get(call.file, "").rstrip() != (call.code or call.sql).rstrip():
            raise UnreadableFileError(
                f"{call.file} of the bundle is not what its manifest.json says.",
                "Export the chat again.",
            )


def _names(manifest: Manifest) -> dict[tuple[str, str], str]:
    """`query 3`, `cell 1`, by answer and call."""
    counts: dict[str, int] = {}
    names = {}
    for answer in manifest.answers:
        for call in answer.calls:
            replayed = declared(call.tool).replay
            kind = replayed if replayed in COMPARED else call.tool
            counts[kind] = counts.get(kind, 0) + 1
            names[answer.id, call.id] = f"{kind} {counts[kind]}"
    return names


def _again(bench: Workbench, call: KeptCall, name: str) -> tuple[ReportLine | None, Output | None]:
    """A call run again: the line to tell, and its output."""
    kind = declared(call.tool).replay
    if kind == "no":
        return None, None
    began = time.monotonic()
    try:
        if call.tool not in {tool.name for tool in all_tools()}:
            raise NotFoundError(f"{call.tool} cannot run on this machine.")
        output = bench.run(call)
    except LeafError as e:
        source = call.sql or call.code or str(call.input)
        gone = [
            file.name
            for file in bench.missing
            if file.slug in source.lower() or file.handle in source
        ]
        why = f"{', '.join(gone)} is not there" if gone else str(e).splitlines()[0][:240]
        return ReportLine(kind, name, False, f"cannot be computed: {why}"), None
    if kind == "step":
        return None, output
    different = different_results(call.results, output, bench.rows) or different_words(
        (call.printed, call.value), said_by_cell(output)
    )
    sizes = (
        ", ".join(f"{r.total:,} {'row' if r.total == 1 else 'rows'}" for r in call.results)
        or "no rows"
    )
    about = " ".join((call.sql or call.code).split())[:SHOWN_SQL]
    text = different or f"{sizes} in {time.monotonic() - began:.2f} s · {about}"
    return ReportLine(kind, name, not different, text), output


def _figures(
    answers: Sequence[KeptAnswer], outputs: Mapping[tuple[str, str], Output]
) -> Iterator[ReportLine]:
    """Each figure that had a receipt, traced anew in what the calls gave this time."""
    history: list[Message] = []
    for answer in answers:
        history.append(
            _message(f"q-{answer.id}", "user", [{"type": "text", "text": answer.question}])
        )
        calls = {call.id: call for call in answer.calls}
        parts: list[Part] = []
        texts: list[int] = []
        for number, piece in enumerate(answer.said):
            if piece.call:
                output = outputs.get((answer.id, piece.call))
                if output is not None:
                    parts.append(_part(calls[piece.call], output))
            else:
                texts.append(len(parts))
                parts.append(
                    {"type": "text", "id": f"said-{number}", "text": piece.text, "state": "done"}
                )
        traced = of_answer(parts, history) if answer.receipts else None
        receipts = traced["receipts"] if traced else ()
        again = {(texts.index(r["part"]), r["start"]): r for r in receipts if r["part"] in texts}
        for receipt in answer.receipts:
            if receipt.kind in (
                "none",
                "asked",
            ):  # what stands in a question was kept as a receipt once
                continue
            now = again.get((receipt.text, receipt.start))
            value = now.get("value", "") if now and now["kind"] != "none" else None
            agrees = (
                value is not None
                and now is not None
                and now["text"] == receipt.figure
                and same_trace(receipt.figure, receipt.value, value)
            )
            how = (
                receipt.how
                or " ".join(filter(None, (receipt.column, receipt.result_id)))
                or receipt.place
            )
            text = f"{receipt.figure}: {receipt.kind}, {how}"[:200]
            if receipt.against:
                text += f"; {receipt.against}"
            if not agrees:
                text += (
                    f"; was {receipt.value or 'there'}, is "
                    f"{'not found' if value is None else value or 'there'}"
                )
            yield ReportLine("figure", f"figure {answer.id}", agrees, text)
        history.append(_message(answer.id, "assistant", parts))


def _part(call: KeptCall, output: Output) -> ToolPart:
    return {
        "type": f"tool-{call.tool}",
        "toolCallId": call.id,
        "state": "output-available",
        "input": call.input,
        "output": output,
    }


def _message(message_id: str, role: Any, parts: list[Part]) -> Message:
    return Message(message_id, "replay", "", role, "completed", parts, [])

"""What a pin shows of a result: its beginning or its chart, what made it, and what it rests on. Made
when it is pinned and when it is computed again, and kept with the pin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from leaf.errors import LeafError
from leaf.language.text import ENGLISH, speaking
from leaf.provenance import coverage
from leaf.sessions.house import House
from leaf.shapes.part_values import texts_of
from leaf.shapes.parts import CoverageData
from leaf.shapes.pins import PinContent
from leaf.shapes.results import Covered
from leaf.store import edited_steps, messages, newer_files
from leaf.store.boards import PinDraft, SourceFile
from leaf.store.model import ChatFile, File, Scope
from leaf.tables import charts
from leaf.tables.paging import ResultPage, RowsWanted
from leaf.tables.queries import ResultRead
from leaf.tables.results import StoredResult, behind, caveats
from leaf.tools import remarks
from leaf.tools.charts import ROWS_DRAWN
from leaf.tools.recompute import in_place
from leaf.tools.table_data import table_read

ROWS = 50
"""Rows of a table that a pin holds."""
COLUMNS = 40
"""Columns of it."""
CELL = 300
"""Characters of a cell."""
CODE = 20_000
TITLE = 80


@dataclass(frozen=True)
class ResultPinned:
    """Which result of which chat, and how it is shown."""

    chat_id: str
    name: str
    spec: Mapping[str, Any] | None = None
    """Of a chart; None for a table."""


def draft(house: House, scope: Scope, asked: ResultPinned, *, newest: bool = False) -> PinDraft:
    """With `newest` of a result that was made over the newest version of each file.

    Raises NotFoundError for a chat or a result that is not there, ResultGoneError, and
    InvalidInputError for a spec that cannot be drawn.
    """
    results = house.tables.results
    one = results.get(scope, asked.chat_id, asked.name)
    files = _files(house, scope, asked.chat_id, newest=newest)
    read = house.tables.queries.read_result(scope, asked.chat_id, one, files)
    limit = ROWS if asked.spec is None else ROWS_DRAWN
    page = results.page(scope, asked.chat_id, asked.name, RowsWanted(limit=limit))
    find = results.finder(scope, asked.chat_id)
    then = {str(t["file_id"]): str(t["sha256"]) for b in behind(find, one) for t in b.tables}
    content = _content(one, page, _readings(read), caveats(find, one, then))
    if asked.spec is not None:
        content = _drawn(content, charts.check(asked.spec, page.columns), page)
    message_id = _message_of(house, scope, one)
    return PinDraft(
        asked.chat_id,
        message_id,
        one.name,
        one.row.sha256,
        "table" if asked.spec is None else "chart",
        _title(asked.spec) or _question(house, scope, message_id) or one.name,
        content,
    )


def remarks_on(house: House, scope: Scope, chat_id: str, name: str) -> list[tuple[str, str]]:
    """What a reader of the rows of a result has to know, each with what sort of remark it is."""
    one = house.tables.results.get(scope, chat_id, name)
    try:
        files = _files(house, scope, chat_id, newest=False)
        read = house.tables.queries.read_result(scope, chat_id, one, files)
    except LeafError as e:  # the rows leave all the same
        return [("Note", f"How its tables were read could not be looked at: {e.message}")]
    covered: CoverageData = {"files": _covered(_readings(read))}
    with speaking(ENGLISH):
        rests = [("Rests on", coverage.line(covered, named=True))] if read.tables else []
        doubtful = [*read.said, *coverage.doubts(covered)]
        return [
            *rests,
            *(("Doubtful", text) for text in doubtful),
            *(("Note", text) for text in coverage.notes(covered)),
        ]


def stale(
    content: PinContent, now: Mapping[str, SourceFile], newer: Mapping[str, File]
) -> list[str]:
    """What changed of the files behind a pin since it was computed, a sentence each."""
    changes = []
    for source in content["sources"]:
        name, file_id = source.get("file") or source["name"], source.get("file_id", "")
        file, text = now.get(file_id), ""
        if later := newer.get(file_id):
            at = later.created_at.astimezone()
            when = f"{at.day} {at:%b %Y, %H:%M}"
            text = f"A newer {name} was added on {when}; this is of the one before."
        elif file is None or file.deleted:
            text = f"{name} was deleted since."
        changes.append(text)
    return list(dict.fromkeys(filter(None, changes)))


def _files(house: House, scope: Scope, chat_id: str, *, newest: bool) -> Sequence[ChatFile]:
    if not newest:
        return house.library.chat_files(scope, chat_id)
    there = house.library.chat_files(scope, chat_id, deleted=True)
    newer = newer_files.newer(house.store.db, scope, [c.file.id for c in there])
    return [c for c in in_place(there, newer) if c.file.deleted_at is None]


def _readings(read: ResultRead) -> list[remarks.ReadTable]:
    return [
        remarks.ReadTable(t, t.name in read.data_only, read.read, read.first.get(t.name))
        for t in read.tables
    ]


def _content(
    one: StoredResult,
    page: ResultPage,
    readings: Sequence[remarks.ReadTable],
    notes: Sequence[str],
) -> PinContent:
    about = one.about
    return {
        "columns": [_cut(column) for column in page.columns[:COLUMNS]],
        "types": page.types[:COLUMNS],
        "rows": [[_cut(cell) for cell in row[:COLUMNS]] for row in page.rows],
        "total": page.total,
        "wide": len(page.columns),
        "sql": str(about.get("sql") or "")[:CODE],
        "code": str(about.get("code") or "")[:CODE],
        "covered": _covered(readings),
        "sources": [table_read(one) for one in readings],
        "said": list(notes),
        "seconds": float(about.get("seconds") or 0),
        "computed_at": str(about.get("created") or ""),
    }


def _covered(readings: Sequence[remarks.ReadTable]) -> list[Covered]:
    return [cast("Covered", asdict(remarks.coverage(one))) for one in readings]


def _drawn(content: PinContent, spec: dict[str, Any], page: ResultPage) -> PinContent:
    """With the chart, and whole in the columns that it names."""
    text = _bare("\n".join(_texts(spec)))
    used = [i for i, column in enumerate(page.columns) if _bare(column) in text]
    return {
        **content,
        "columns": [page.columns[i] for i in used],
        "types": [page.types[i] for i in used],
        "rows": [[row[i] for i in used] for row in page.rows],
        "spec": charts.with_types(spec, dict(zip(page.columns, page.types, strict=True))),
    }


def _texts(value: object) -> Iterator[str]:
    """Every text of a spec."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner)


def _bare(text: str) -> str:
    """Without what a spec escapes in the name of a column, and by which it does."""
    return "".join(character for character in text if character not in '\\"')


def _message_of(house: House, scope: Scope, one: StoredResult) -> str:
    """The answer to which a result belongs."""
    if one.row.message_id or not one.edited:
        return one.row.message_id
    try:
        return edited_steps.get(house.store.db, scope, one.edited).message_id
    except LeafError:  # of code that failed after it had its rows, and was discarded
        return ""


def _question(house: House, scope: Scope, message_id: str) -> str:
    """The question that an answer is of, as a title."""
    if not message_id:
        return ""
    db = house.store.db
    asked = messages.get(db, scope, messages.get(db, scope, message_id).parent_id)
    words = " ".join(" ".join(texts_of(asked.parts)).split())
    return words if len(words) <= TITLE else f"{words[: TITLE - 1].rstrip()}…"


def _title(spec: Mapping[str, Any] | None) -> str:
    title = (spec or {}).get("title")
    text = title.get("text") if isinstance(title, Mapping) else title
    lines = text if isinstance(text, list) else [text]
    return " ".join(line for line in lines if isinstance(line, str)).strip()[:TITLE]


def _cut(value: Any) -> Any:
    return f"{value[:CELL]}…" if isinstance(value, str) and len(value) > CELL else value


def file_ids(contents: Iterable[PinContent | None]) -> list[str]:
    """Of all files behind these, each once."""
    return list(
        dict.fromkeys(
            str(source.get("file_id") or "")
            for content in contents
            if content
            for source in content["sources"]
        )
    )

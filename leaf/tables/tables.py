"""The tables of a chat: found in its files, described, queried; results kept. All Parquet is opened in confined children only."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from leaf.errors import FileError, InvalidInputError, LeafError, NotFoundError, SandboxError, StoreError, not_found
from leaf.formats.base import KINDS, ROW, Note, holds_tables, may_hold_tables
from leaf.formats.cells import places
from leaf.formats.notes import OUTSIDE
from leaf.sandbox.pool import Limits, Pool
from leaf.store import Store
from leaf.store.model import ChatFile, File, Scope
from leaf.tables import charts, drawing, results
from leaf.tables.convert import Converter, OnProgress, new_folder, plain_id, write_whole
from leaf.tables.names import table_names

Json = dict[str, Any]

QUERY_LIMITS = Limits(seconds=60, memory_mb=2048, output_mb=4096)
PROFILE_LIMITS = Limits(seconds=120, memory_mb=2048, output_mb=4096)
EXPORT_LIMITS = Limits(seconds=600, memory_mb=2048, output_mb=16_384)
DRAWING_LIMITS = Limits(seconds=60, memory_mb=2048, output_mb=256)
MAX_PAGE = 10_000
RESULTS_NAMED = 12
"""Results that an error names, the newest."""
LARGE = 20_000_000
"""Bytes from which on a file is converted when it is added: a question should not wait for it."""
PREPARED = 8
"""Tables of such a file whose columns are looked at then."""
PROFILED = 3
"""Raised when a profile is made in another way; those that were kept are then made anew."""
LINK_ALL = 16
"""Up to so many tables every query gets them all; of more, those that it may name."""


@dataclass(frozen=True)
class Table:
    """One table of a file in a chat."""

    name: str
    """SQL name."""
    file_id: str
    file_name: str
    handle: str
    sheet: str
    place: str
    """Cell range or lines it was found at."""
    parquet: Path
    rows: int
    """Rows of data: what a query of the table's name sees."""
    columns: tuple[tuple[str, str], ...]
    """(name, DuckDB type) in order."""
    findings: tuple[Note, ...] = ()
    """What was guessed, mended, doubled or left out, each with its place."""
    hidden: bool = False
    sha256: str = ""
    first_row: int = 1
    marked: bool = False
    """Whether its Parquet holds `_row` and `_kind`; else its rows follow one another from `first_row`."""
    left_out: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Kind (`subtotal`, `total`, `note`) -> rows of the file that are of it, at most 1,000."""
    left_out_counts: Mapping[str, int] = field(default_factory=dict)
    doubtful: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Kind -> rows of the file that may be of it but are not proven to be: they are rows of data. At most 1,000."""
    doubtful_counts: Mapping[str, int] = field(default_factory=dict)
    shared: bool = False
    """Whether other tables stand in the same sheet or file beside it."""
    inside: bool = False
    """Whether it stands in a document: `sheet` is then what it is called there, and its rows have no numbers in the file."""

    @property
    def label(self) -> str:
        """What a person calls it: `book.xlsx · Data`; with its place where the sheet or the file holds several tables."""
        if self.shared:
            place = f"{self.sheet}!{self.place}" if self.sheet else self.place
            return f"{self.file_name} · {place}" if place else f"{self.file_name} · {self.name}"
        return f"{self.file_name} · {self.sheet}" if self.sheet else self.file_name

    @property
    def outside(self) -> Mapping[str, int]:
        """What stands around its rows and is none of them: `title`, `remark` … -> how many rows."""
        counts: dict[str, int] = {}
        for note in self.findings:
            if note.kind in OUTSIDE:
                counts[OUTSIDE[note.kind]] = counts.get(OUTSIDE[note.kind], 0) + note.count
        return counts

    @property
    def notes(self) -> tuple[str, ...]:
        """The findings' sentences."""
        return tuple(note.text for note in self.findings)

    @property
    def mark(self) -> Json:
        """Where its rows stand, for the child."""
        return {"first": self.first_row, "marked": self.marked, "whole": not self.left_out}

    def place_of_row(self, row: int) -> str:
        """Locator of one row of the file: `sheet Data!A7:F7`, `row 7`; of a document the table's own place."""
        if self.inside:
            return self.place
        span = re.fullmatch(r"([A-Z]+)\d+:([A-Z]+)\d+", self.place) if self.sheet else None
        return f"sheet {self.sheet}!{span[1]}{row}:{span[2]}{row}" if span else f"row {row}"

    @property
    def excluded(self) -> str:
        """`12 left out as subtotals, 1 as a total`; empty where every row is data."""
        return left_out_in_words(self.left_out_counts)

    @property
    def excluded_places(self) -> str:
        """`rows 4, 7, 12` of the file."""
        numbers = sorted(n for found in self.left_out.values() for n in found)
        return places(numbers, shown=12) if numbers else ""

    def cells(self, rows: Sequence[int]) -> str:
        """Where some rows are: `Data!A7:F7, A14:F15`, `rows 7, 14-15`."""
        span = re.fullmatch(r"([A-Z]+)\d+:([A-Z]+)\d+", self.place) if self.sheet else None
        said = places(sorted(rows), shown=12)
        if not span:
            return f"{said} of {self.sheet}" if self.inside else said
        said, _, more = said.partition(" and ")
        runs = [(a, b or a) for a, b in re.findall(r"(\d+)(?:-(\d+))?", said)]
        return f"{self.sheet}!" + ", ".join(f"{span[1]}{a}:{span[2]}{b}" for a, b in runs) + (f" and {more}" if more else "")


_AS_ONE = {"note": "a summary", "summary": "a summary", "unreadable line": "an unreadable line"}
_AS_SEVERAL = {"note": "summaries", "summary": "summaries"}


def left_out_in_words(counts: Mapping[str, int]) -> str:
    """`2 left out as totals, 1 as a title`."""
    said = ""
    for kind, count in counts.items():
        what = _AS_ONE.get(kind, f"a {kind}") if count == 1 else _AS_SEVERAL.get(kind, f"{kind}s")
        said += f", {count:,} as {what}" if said else f"{count:,} left out as {what}"
    return said


@dataclass(frozen=True)
class TableSet:
    """The tables of some files, and why others have none."""

    tables: tuple[Table, ...]
    failures: Mapping[str, str]
    """File id -> one sentence, for tabular files that could not be read."""

    def find(self, name: str) -> Table:
        """The table with that SQL name. Raises NotFoundError with the nearest names."""
        for table in self.tables:
            if table.name.lower() == name.strip().strip('"').lower():
                return table
        raise not_found("table", name, [t.name for t in self.tables], "this chat")


@dataclass(frozen=True)
class ColumnProfile:
    name: str
    type: str
    nulls: int
    distinct: int
    """Exact up to a million rows, estimated above: see `Profile.approximate`."""
    min: Any = None
    max: Any = None
    mean: float | None = None
    std: float | None = None
    """Of a sample (n - 1)."""
    quartiles: tuple[Any, ...] = ()
    """Of numbers, dates and times: at a quarter, a half and three quarters; estimated where `Profile.estimated`."""
    cast: str = ""
    """Of dates that stayed text: the SQL that reads them."""
    top: tuple[tuple[Any, int], ...] = ()
    """(value, count), most frequent first; empty for numbers and for columns of mostly different values."""


@dataclass(frozen=True)
class Profile:
    """What a table holds, without its rows."""

    table: str
    """SQL name."""
    rows: int
    columns: tuple[ColumnProfile, ...]
    sample: tuple[tuple[Any, ...], ...]
    """The first five rows."""
    approximate: bool
    """Whether `distinct` is an estimate."""
    estimated: bool = False
    """Whether the quartiles are estimates."""
    omitted: int = 0
    """Columns after the first 200, which are not profiled."""


@dataclass(frozen=True)
class ResultRead:
    """A kept result as a later query, or code, reads it."""

    name: str
    """`r1`."""
    parquet: Path
    total: int
    """Its rows, all of them."""
    tables: tuple[Table, ...]
    """What it rests on; of a file that was changed or deleted since, the table as it was then, without its Parquet."""
    data_only: frozenset[str]
    """Names of those of which rows of data alone were read."""
    read: frozenset[str] | None
    """Columns that were read for it, and for those that it was made from, by `touched.key`; None where it may be any."""
    said: tuple[str, ...] = ()
    """What has to be said with it: its own limit, files that changed or were deleted since."""


@dataclass(frozen=True)
class QueryResult:
    result_id: str
    """`r1`, `r2` …, one per query in a chat."""
    sql: str
    columns: list[str]
    types: list[str]
    rows: list[list[Any]]
    """The first 200 at most; plain JSON values."""
    total: int
    """All rows of the result."""
    seconds: float
    tables: tuple[Table, ...]
    """Those that the query reads."""
    scanned: int
    """Rows of those tables together."""
    clipped: int = 0
    """Shown cells that were cut."""
    data_only: tuple[str, ...] = ()
    """Names of tables of which rows of data alone were read, and no other ones by NAME__all."""
    beside: tuple[Table, ...] = ()
    """The other tables of the files that these are in."""
    results: tuple[ResultRead, ...] = ()
    """Kept results that it reads; the tables that they rest on are among `tables`."""
    said: tuple[str, ...] = ()
    """How the statement was read where it was mended, and what it cannot be taken for."""
    read: frozenset[str] | None = None
    """Columns of its tables that it reads itself, by `touched.key`; None where it may be any."""

    @property
    def places(self) -> tuple[str, ...]:
        """Where each of `rows` stands in its file, for a query of one table that keeps `_row`: `sheet Data!A7:F7`, `row 7`."""
        if len(self.tables) != 1 or self.columns.count(ROW) != 1:
            return ()
        at = self.columns.index(ROW)
        if "INT" not in self.types[at] or any(row[at] is None for row in self.rows):
            return ()
        return tuple(self.tables[0].place_of_row(int(row[at])) for row in self.rows)


@dataclass(frozen=True)
class Recomputed:
    """What became of a result when its query ran again."""

    outcome: Literal["same", "different", "gone"]
    """`gone`: a file that it was made from is not there any more."""
    text: str
    """In one sentence for a person."""
    cells: tuple[tuple[int, str, str | None, str | None], ...] = ()
    """The first different cells: row from 1, column, value then, value now."""
    seconds: float = 0.0


@dataclass(frozen=True)
class ResultPage:
    """Some rows of a result or of a table."""

    columns: list[str]
    types: list[str]
    rows: list[list[Any]]
    total: int
    offset: int
    clipped: int = 0
    sql: str = ""
    """Empty for a table."""
    numbers: Sequence[int] = ()
    """Of a table: the rows' numbers in its file, in order. Of a result empty."""
    whole: int = 0
    """Rows before the filter; `total` are those that meet it."""


class Tables:
    """Every call takes the scope on whose behalf it is made; nothing is shared between workspaces."""

    def __init__(self, store: Store, pool: Pool, home: Path) -> None:
        self._pool = pool
        self._converter = Converter(store, pool, home)
        self._results = home / "results"
        self._profiling: dict[Path, threading.Lock] = {}
        self._guard = threading.Lock()

    def of(
        self,
        scope: Scope,
        files: Sequence[ChatFile],
        stop: threading.Event | None = None,
        on_progress: OnProgress | None = None,
    ) -> TableSet:
        """The tables of the tabular ones among `files`; each file is converted once, at first need.

        `on_progress` is told in words how much of a large file is read.
        A file that cannot be read goes to `failures` and hides no other. Raises RunError after `stop`, StoreError.
        """
        tabular = [f for f in files if may_hold_tables(f.file.kind, f.file.outline)]
        found = self._converted(scope, tabular, stop, on_progress)
        tables: list[Table] = []
        failures: dict[str, str] = {}
        taken: set[str] = set()
        for chat_file, infos in zip(tabular, found, strict=True):
            if isinstance(infos, LeafError):
                failures[chat_file.file.id] = f"{chat_file.file.name}: {infos}"
                continue
            names = table_names(chat_file.slug, [str(i["sheet"]) for i in infos], taken)
            folder = self._converter.folder(chat_file.file)
            sheets = Counter(info["sheet"] for info in infos)
            tables += [
                _table(chat_file, name, info, folder, shared=sheets[info["sheet"]] > 1)
                for name, info in zip(names, infos, strict=True)
            ]
        return TableSet(tuple(tables), failures)

    def prepare(self, scope: Scope, file: File, stop: threading.Event | None, on_progress: OnProgress | None = None) -> None:
        """Convert a large file and look at its columns before anybody asks; nothing happens for others, or the second time.

        Raises RunError after `stop`, StoreError. A file that holds no table says so when it is asked for.
        """
        if file.size < LARGE or not holds_tables(file.kind, file.outline) or file.outline.get("error"):
            return
        alone = ChatFile(chat_id="", handle="f1", slug="table", file=file)
        for table in self.of(scope, [alone], stop, on_progress).tables[:PREPARED]:
            with contextlib.suppress(SandboxError):
                self.describe(scope, table, stop)

    def describe(self, _scope: Scope, table: Table, stop: threading.Event | None = None) -> Profile:
        """Profile every column of a table, once: what was found stands beside its Parquet. Raises SandboxError."""
        kept = table.parquet.with_suffix(f".profile-{PROFILED}.json")
        found = _kept_profile(kept)
        if found is None:
            with self._guard:
                alone = self._profiling.setdefault(kept, threading.Lock())
            with alone:  # what is asked while a new file is looked at waits for that, and does not begin anew
                found = _kept_profile(kept)
                if found is None:
                    found = self._profile(table, stop)
                    write_whole(kept, json.dumps(found))
            self._profiling.pop(kept, None)
        columns = tuple(
            ColumnProfile(**{**c, "top": tuple((v, n) for v, n in c["top"]), "quartiles": tuple(c["quartiles"])})
            for c in found["columns"]
        )
        sample = tuple(tuple(row) for row in found["sample"])
        return Profile(table.name, found["rows"], columns, sample, found["approximate"], found["estimated"], found["omitted"])

    def _profile(self, table: Table, stop: threading.Event | None) -> Json:
        arguments = {
            "parquet": "in:t.parquet",
            "seconds": PROFILE_LIMITS.seconds,
            "memory_mb": PROFILE_LIMITS.memory_mb,
            "mark": table.mark,
        }
        found: Json = self._call("profile", arguments, {"t.parquet": table.parquet}, PROFILE_LIMITS, stop)
        return found

    def query(
        self,
        scope: Scope,
        chat_id: str,
        files: Sequence[ChatFile],
        sql: str,
        stop: threading.Event | None = None,
        on_progress: OnProgress | None = None,
        *,
        turn: str = "",
    ) -> QueryResult:
        """Run one reading statement over the tables of `files` and keep its whole result under a new id.

        `turn` names the turn of a model that it belongs to, whose other results it does not see.

        Raises QueryError, NotFoundError (with the nearest names), SandboxError and its kinds, RunError after `stop`.
        """
        began = time.monotonic()
        with new_folder(self._folder(scope, chat_id)) as folder:
            ran = self._run(scope, chat_id, files, sql, folder, stop, on_progress, turn)
            answer, seconds = ran.answer, round(time.monotonic() - began, 3)
            about = {
                "sql": answer["sql"],
                "tables": [_origin(t, t.name in ran.data_only) for t in ran.tables],
                "read": answer["read"],
                "results": [r.name for r in ran.results],
                "turn": turn,
                **{key: answer[key] for key in ("columns", "types", "total")},
                "seconds": seconds,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
            }
            result_id = self._keep(scope, chat_id, folder / "result.parquet", about)
        return QueryResult(
            result_id,
            answer["sql"],
            **{key: answer[key] for key in ("columns", "types", "rows", "total", "clipped")},
            seconds=seconds,
            tables=ran.tables,
            scanned=sum(t.rows for t in ran.tables),
            data_only=ran.data_only,
            beside=ran.beside,
            results=ran.results,
            said=ran.said,
            read=results.read_of(answer),
        )

    def keep_frame(
        self,
        scope: Scope,
        chat_id: str,
        parquet: Path,
        code: str,
        name: str,
        tables: Sequence[Table] = (),
        stop: threading.Event | None = None,
        *,
        data_only: Collection[str] = (),
        results: Sequence[ResultRead] = (),
        turn: str = "",
        read: Collection[str] | None = None,
    ) -> QueryResult:
        """Keep a table that Python code made under a new id, like the result of a query; `tables` are what it rests on, of
        those named in `data_only` their rows of data alone, and `results` the kept results among that; `read` are the columns of
        the tables that the code reads, by `touched.key`, None for any.

        The file is read in a confined child, and what is kept is what that one writes.
        Raises UnreadableFileError, SandboxError and its kinds, RunError after `stop`.
        """
        began = time.monotonic()
        with new_folder(self._folder(scope, chat_id)) as folder:
            arguments = {"parquet": "in:t.parquet", "out": "out:", "memory_mb": QUERY_LIMITS.memory_mb}
            answer = self._call("adopt", arguments, {"t.parquet": parquet}, QUERY_LIMITS, stop, folder)
            seconds = round(time.monotonic() - began, 3)
            about = {
                "sql": "",
                "code": code,
                "name": name,
                "tables": [_origin(t, t.name in data_only) for t in tables],
                "results": [r.name for r in results],
                "turn": turn,
                "read": None if read is None else sorted(read),
                **{key: answer[key] for key in ("columns", "types", "total")},
                "seconds": seconds,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
            }
            result_id = self._keep(scope, chat_id, folder / "result.parquet", about)
        return QueryResult(result_id, "", **answer, seconds=seconds, tables=tuple(tables), scanned=sum(t.rows for t in tables))

    def result(
        self,
        scope: Scope,
        chat_id: str,
        result_id: str,
        *,
        offset: int = 0,
        limit: int = 200,
        order_by: str = "",
        descending: bool = False,
        where: Mapping[str, str] | None = None,
        stop: threading.Event | None = None,
        turn: str = "",
    ) -> ResultPage:
        """Rows of a kept result, sorted and filtered if asked: see `filters.condition`. Raises NotFoundError, also for a result
        that other calls of `turn` make.
        """
        try:
            path = self.result_path(scope, chat_id, result_id)
        except NotFoundError as e:
            raise NotFoundError(e.message, f"{e.hint} {results.SIDE_BY_SIDE}" if turn else e.hint) from e
        about = json.loads(path.with_suffix(".json").read_text())
        if turn and about.get("turn") == turn:
            raise NotFoundError(f"Result {result_id} is made in this turn.", results.SIDE_BY_SIDE)
        return self._page(path, offset, limit, order_by, descending, stop, sql=about["sql"], where=where)

    def recompute(
        self,
        scope: Scope,
        chat_id: str,
        files: Sequence[ChatFile],
        result_id: str,
        stop: threading.Event | None = None,
    ) -> Recomputed:
        """Run a kept result's query again over the files as they are now, and compare. The new result is not kept.

        `files` are all of the chat, the deleted ones among them. Raises NotFoundError, QueryError, SandboxError, FileError.
        """
        kept = self.result_path(scope, chat_id, result_id)
        about = self.about_result(scope, chat_id, result_id)
        there = {f.file.id: f for f in files if f.file.deleted_at is None}
        names = {f.file.id: f.file.name for f in files}
        gone = [names.get(t["file_id"], t["name"]) for t in about["tables"] if t["file_id"] not in there]
        if gone:
            return Recomputed("gone", f"{', '.join(dict.fromkeys(gone))} was deleted, so this cannot be computed again.")
        changed = [names[t["file_id"]] for t in about["tables"] if there[t["file_id"]].file.sha256 != t["sha256"]]
        began = time.monotonic()
        with new_folder(self._folder(scope, chat_id)) as folder:
            self._run(scope, chat_id, list(there.values()), about["sql"], folder, stop)
            seconds = round(time.monotonic() - began, 3)
            return _recomputed(self._compare(kept, folder / "result.parquet", stop), sorted(set(changed)), seconds)

    def compare_frame(
        self, scope: Scope, chat_id: str, result_id: str, parquet: Path, seconds: float, stop: threading.Event | None = None
    ) -> Recomputed:
        """Compare a kept result with a table that Python code made anew.

        Raises NotFoundError, UnreadableFileError, SandboxError.
        """
        with new_folder(self._folder(scope, chat_id)) as folder:
            arguments = {"parquet": "in:t.parquet", "out": "out:", "memory_mb": QUERY_LIMITS.memory_mb}
            self._call("adopt", arguments, {"t.parquet": parquet}, QUERY_LIMITS, stop, folder)
            found = self._compare(self.result_path(scope, chat_id, result_id), folder / "result.parquet", stop)
        return _recomputed(found, (), seconds)

    def _compare(self, kept: Path, again: Path, stop: threading.Event | None) -> Json:
        inputs = {"kept.parquet": kept, "again.parquet": again}
        arguments = {"kept": "in:kept.parquet", "again": "in:again.parquet", "memory_mb": QUERY_LIMITS.memory_mb}
        found: Json = self._pool.call("leaf.tables.compare:compare", arguments, inputs=inputs, limits=QUERY_LIMITS, stop=stop)
        return found

    def page(
        self,
        _scope: Scope,
        table: Table,
        *,
        offset: int = 0,
        limit: int = 200,
        order_by: str = "",
        descending: bool = False,
        stop: threading.Event | None = None,
    ) -> ResultPage:
        """Rows of a table, sorted if asked; totals and notes are among them, and `_row` and `_kind` then come first.

        Raises NotFoundError for an unknown column.
        """
        return self._page(table.parquet, offset, limit, order_by, descending, stop, mark=table.mark)

    def position(self, _scope: Scope, table: Table, row: int) -> int:
        """Where row `row` of the file stands in `page`, from 0; for a row between two of them the later one."""
        if not table.marked:
            return min(max(0, row - table.first_row), max(0, table.rows - 1))
        arguments = {"parquet": "in:t.parquet", "row": row, "memory_mb": QUERY_LIMITS.memory_mb}
        found = int(self._call("position", arguments, {"t.parquet": table.parquet}, QUERY_LIMITS, None))
        return min(found, max(0, table.rows + sum(table.left_out_counts.values()) - 1))

    def about_result(self, scope: Scope, chat_id: str, result_id: str) -> Json:
        """What was kept with a result: sql, tables and their sha256, columns, types, total, seconds, created."""
        about: Json = json.loads(self.result_path(scope, chat_id, result_id).with_suffix(".json").read_text())
        return about

    def result_path(self, scope: Scope, chat_id: str, result_id: str) -> Path:
        """The Parquet file of a result. Raises NotFoundError with the ids there are."""
        folder = self._folder(scope, chat_id)
        path = folder / f"{result_id}.parquet"
        if not re.fullmatch(r"r\d{1,9}", result_id) or not path.is_file() or not _is_written(path.with_suffix(".json")):
            if (one := results.kept(folder, result_id)) is not None and not path.is_file():
                raise results.lost(one)
            known = sorted((p.stem for p in folder.glob("r*.parquet")), key=lambda name: int(name[1:]))
            raise not_found("result", result_id, known[-12:], "this chat")
        return path

    def export(
        self,
        scope: Scope,
        chat_id: str,
        result_id: str,
        form: str = "csv",
        names: Mapping[str, str] | None = None,
        stop: threading.Event | None = None,
    ) -> Path:
        """The whole result as a file: `csv`, `xlsx` or `parquet`. `names` (file id -> name) are told in an Excel file.

        Raises NotFoundError, InvalidInputError, also for a result that is too large for Excel.
        """
        path = self.result_path(scope, chat_id, result_id)
        if form == "parquet":
            return path
        if form not in ("csv", "xlsx"):
            raise InvalidInputError(f"A result cannot be exported as '{form}'.", "Choose csv, xlsx or parquet.")
        target = path.with_suffix(f".{form}")
        if not target.exists():
            with new_folder(path.parent) as folder:
                arguments: Json = {"parquet": "in:t.parquet", "out": "out:"}
                if form == "csv":
                    function = "leaf.tables.child:export_csv"
                    arguments["memory_mb"] = EXPORT_LIMITS.memory_mb
                else:
                    function = "leaf.tables.export:xlsx"
                    arguments["about"] = _told(self.about_result(scope, chat_id, result_id), names or {})
                inputs = {"t.parquet": path}
                self._pool.call(function, arguments, inputs=inputs, limits=EXPORT_LIMITS, out=folder, stop=stop)
                (folder / f"export.{form}").replace(target)
        return target

    def draw(self, spec: Mapping[str, Any], columns: Sequence[str], rows: Sequence[Sequence[Any]], form: str, into: Path) -> Path:
        """A checked chart with its rows as a file in the folder `into`: `png`, `svg` or `json`. Raises InvalidInputError."""
        if form not in drawing.FORMS:
            raise InvalidInputError(f"A chart cannot be exported as '{form}'.", "Choose png, svg or json.")
        chart = drawing.whole(charts.check(spec, columns), columns, rows)
        arguments = {"chart": chart, "form": form, "out": "out:"}
        self._pool.call("leaf.tables.drawing:draw", arguments, limits=DRAWING_LIMITS, out=into)
        return into / f"chart.{form}"

    def number_next(self, scope: Scope, chat_id: str, number: int) -> None:
        """Let the next result of a chat be `r<number>`, if the numbers before it are free or used."""
        folder = self._folder(scope, chat_id)
        folder.mkdir(parents=True, exist_ok=True)
        if number > 1:
            (folder / f"r{number - 1}.json").touch()

    def results_named(
        self,
        scope: Scope,
        chat_id: str,
        text: str,
        files: Sequence[ChatFile],
        stop: threading.Event | None = None,
        *,
        turn: str = "",
    ) -> list[ResultRead]:
        """The chat's kept results that a statement or code names, with what they rest on. `files` are all live ones of the chat.

        Rows that are gone are computed anew where every file is as it was. Raises NotFoundError where that cannot be.
        """
        taken = {c.slug for c in files}
        found = results.named(self._folder(scope, chat_id), text, taken, turn)
        return [self._read_result(scope, chat_id, one, files, stop) for one in found]

    def result_names(self, scope: Scope, chat_id: str, turn: str = "") -> list[str]:
        """Names of the chat's results, oldest first, without those that `turn` makes."""
        return results.names(self._folder(scope, chat_id), turn)

    def files_behind(self, scope: Scope, chat_id: str, text: str) -> set[str]:
        """Ids of the files that the results rest on which a text names."""
        return {str(t["file_id"]) for one in results.named(self._folder(scope, chat_id), text) for t in one.tables}

    def _read_result(
        self, scope: Scope, chat_id: str, one: results.Kept, files: Sequence[ChatFile], stop: threading.Event | None
    ) -> ResultRead:
        folder = self._folder(scope, chat_id)
        ids = {str(t["file_id"]) for t in one.tables}
        tables = self.of(scope, [c for c in files if c.file.id in ids], stop).tables
        now = {(t.file_id, t.sha256, t.name): t for t in tables}
        behind = tuple(now.get((t["file_id"], t["sha256"], t["name"])) or _as_it_was(t) for t in one.tables)
        said = tuple(results.caveats(folder, one, {c.file.id: c.file.sha256 for c in files}))
        data_only = frozenset(str(t["name"]) for t in one.tables if t.get("data_only", True))
        if not one.parquet.is_file():
            self._compute_again(scope, chat_id, one, files, stop)
        read = results.read(folder, one)
        return ResultRead(one.name, one.parquet, int(one.about["total"]), behind, data_only, read, said)

    def _compute_again(
        self, scope: Scope, chat_id: str, one: results.Kept, files: Sequence[ChatFile], stop: threading.Event | None
    ) -> None:
        """Make the rows of a result anew from its query, the whole of them."""
        now = {c.file.id: c.file.sha256 for c in files}
        if not one.about.get("sql") or any(now.get(t["file_id"]) != t["sha256"] for t in one.tables):
            raise results.lost(one)
        ids = {str(t["file_id"]) for t in one.tables}
        with new_folder(one.parquet.parent) as folder:
            ran = self._run(scope, chat_id, [c for c in files if c.file.id in ids], str(one.about["sql"]), folder, stop)
            if ran.answer["total"] != one.about["total"]:
                raise results.lost(one)
            (folder / "result.parquet").replace(one.parquet)

    def _run(
        self,
        scope: Scope,
        chat_id: str,
        files: Sequence[ChatFile],
        sql: str,
        folder: Path,
        stop: threading.Event | None,
        on_progress: OnProgress | None = None,
        turn: str = "",
    ) -> _Ran:
        """Run a statement over the tables of `files` and the chat's kept results; its result is in `folder`."""
        found = self.of(scope, files, stop, on_progress)
        tables = found.tables
        read = self.results_named(scope, chat_id, sql, files, stop, turn=turn)
        if not tables and found.failures:
            raise FileError(" ".join(found.failures.values()))
        linked = tables if len(tables) <= LINK_ALL else _mentioned(tables, sql)
        paths = {t.name: t.parquet for t in linked} | {r.name: r.parquet for r in read}
        arguments = {
            "sql": sql,
            "tables": {name: f"in:{number}.parquet" for number, name in enumerate(paths)},
            "rows": {t.name: t.mark for t in linked} | {r.name: {"result": True} for r in read},
            "names": [
                *(name for t in tables for name in ((t.name, f"{t.name}__all") if t.left_out else (t.name,))),
                *self.result_names(scope, chat_id, turn)[-RESULTS_NAMED:],
            ],
            "files": _known_as(files, tables),
            "out": "out:",
            "seconds": QUERY_LIMITS.seconds,
            "memory_mb": QUERY_LIMITS.memory_mb,
        }
        inputs = {f"{number}.parquet": path for number, path in enumerate(paths.values())}
        answer: Json = self._call("query", arguments, inputs, QUERY_LIMITS, stop, folder)
        used = tuple(t for t in tables if t.name in answer["tables"])
        through = tuple(r for r in read if r.name in answer["tables"])
        return _Ran.of(answer, used, through, tables)

    def _converted(
        self, scope: Scope, files: Sequence[ChatFile], stop: threading.Event | None, on_progress: OnProgress | None = None
    ) -> list[list[Json] | LeafError]:
        """The tables of each file or why it has none, in order."""
        own = [f.file for f in files if f.file.workspace_id == scope.workspace_id]
        found = iter(self._converter.tables_of(own, stop, on_progress))
        foreign = NotFoundError("There is no such file.")
        return [next(found) if f.file.workspace_id == scope.workspace_id else foreign for f in files]

    def _page(
        self,
        parquet: Path,
        offset: int,
        limit: int,
        order_by: str,
        descending: bool,
        stop: threading.Event | None,
        sql: str = "",
        mark: Json | None = None,
        where: Mapping[str, str] | None = None,
    ) -> ResultPage:
        offset, limit = max(0, offset), min(max(0, limit), MAX_PAGE)
        arguments = {
            "parquet": "in:t.parquet",
            "offset": offset,
            "limit": limit,
            "order_by": order_by,
            "descending": descending,
            "memory_mb": QUERY_LIMITS.memory_mb,
            "mark": mark,
            "where": dict(where) if where else None,
        }
        found = self._call("page", arguments, {"t.parquet": parquet}, QUERY_LIMITS, stop)
        return ResultPage(**found, offset=offset, sql=sql)

    def _call(
        self,
        function: str,
        arguments: Json,
        inputs: Mapping[str, Path],
        limits: Limits,
        stop: threading.Event | None,
        out: Path | None = None,
    ) -> Any:
        return self._pool.call(f"leaf.tables.child:{function}", arguments, inputs=inputs, limits=limits, out=out, stop=stop)

    def _folder(self, scope: Scope, chat_id: str) -> Path:
        return self._results / plain_id(scope.workspace_id) / plain_id(chat_id)

    def _keep(self, scope: Scope, chat_id: str, parquet: Path, about: Json) -> str:
        """Move a result to the next free id. The empty `rN.json` is the claim on the id; threads and processes respect it."""
        folder = self._folder(scope, chat_id)
        number = max((int(p.stem[1:]) for p in folder.glob("r*.json") if p.stem[1:].isdigit()), default=0)
        while True:
            number += 1
            claim = folder / f"r{number}.json"
            with contextlib.suppress(FileExistsError):
                try:
                    claim.open("x").close()
                    parquet.replace(claim.with_suffix(".parquet"))
                except FileExistsError:
                    raise
                except OSError as e:
                    raise StoreError(f"The result cannot be kept: {e.strerror}.", "Free some space and try again.") from e
                write_whole(claim, json.dumps(about))
                return claim.stem


@dataclass(frozen=True)
class _Ran:
    """What came of a statement."""

    answer: Json
    """What the child says of it."""
    tables: tuple[Table, ...]
    """Those that it reads, itself or through a result."""
    data_only: tuple[str, ...]
    results: tuple[ResultRead, ...]
    beside: tuple[Table, ...]
    said: tuple[str, ...]

    @staticmethod
    def of(answer: Json, used: Sequence[Table], through: Sequence[ResultRead], tables: Sequence[Table]) -> _Ran:
        behind = joined(used, through)
        whole = {t.name for t in used if t.name not in answer["data_only"]}
        whole |= {t.name for r in through for t in r.tables if t.name not in r.data_only}
        said = (*answer["said"], *dict.fromkeys(text for r in through for text in r.said))
        data_only = tuple(t.name for t in behind if t.name not in whole)
        return _Ran(answer, behind, data_only, tuple(through), beside(tables, behind), said)


def joined(used: Sequence[Table], through: Sequence[ResultRead]) -> tuple[Table, ...]:
    """The tables that are read themselves and those behind results, each once."""
    every = [*used, *(t for r in through for t in r.tables)]
    return tuple({(t.file_id, t.name, t.sha256): t for t in reversed(every)}.values())[::-1]


def _kept_profile(path: Path) -> Json | None:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _origin(table: Table, data_only: bool) -> Json:
    """What is kept with a result of a table that it was made from."""
    about = {"name": table.name, "file_id": table.file_id, "sha256": table.sha256, "rows": table.rows, "data_only": data_only}
    where = {"file": table.file_name, "handle": table.handle, "sheet": table.sheet, "place": table.place}
    return {**about, **where, "left_out": dict(table.left_out_counts), "outside": dict(table.outside)}


def _as_it_was(origin: Json) -> Table:
    """A table of which only that is left what was kept with a result."""
    around = tuple(Note(kind, "", count) for kind, said in OUTSIDE.items() if (count := origin.get("outside", {}).get(said, 0)))
    return Table(
        name=origin["name"],
        file_id=origin["file_id"],
        file_name=origin.get("file") or origin["name"],
        handle=origin.get("handle", ""),
        sheet=origin.get("sheet", ""),
        place=origin.get("place", ""),
        parquet=Path(),
        rows=int(origin.get("rows") or 0),
        columns=(),
        findings=around,
        sha256=origin["sha256"],
        left_out_counts=origin.get("left_out", {}),
    )


def _known_as(files: Sequence[ChatFile], tables: Sequence[Table]) -> dict[str, list[str]]:
    """Other names that SQL may use for tables: of files, with and without their folders and ending, handles, sheets. No name of
    a table.
    """
    known: dict[str, list[str]] = {}
    for table in tables:
        steps = table.file_name.split("/")
        paths = ["/".join(steps[at:]) for at in range(len(steps))]
        stems = [path.rpartition(".")[0] for path in paths]
        for name in dict.fromkeys((*paths, *stems, table.handle, "" if table.inside else table.sheet)):
            if name:
                known.setdefault(name, []).append(table.name)
    own = {t.name for t in tables} | {c.slug for c in files}
    return {name: named for name, named in known.items() if name.lower() not in own}


def _told(about: Json, names: Mapping[str, str]) -> Json:
    """What an Excel file says of a result."""
    sources = [
        {
            "table": t["name"],
            "file": names.get(t["file_id"], ""),
            "place": "!".join(filter(None, (t.get("sheet"), t.get("place")))),
            "rows": t.get("rows"),
            "sha256": t["sha256"],
        }
        for t in about["tables"]
    ]
    facts = {key: about.get(key) for key in ("created", "seconds")}
    return {**facts, "query": about.get("sql") or about.get("code"), "rows": about["total"], "sources": sources}


def _is_written(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def asks_which(sql: str) -> bool:
    """Whether a query asks DuckDB which tables there are."""
    return re.search(r"\b(show|information_schema|duckdb_\w+|pg_\w+|sqlite_master)\b", sql, re.IGNORECASE) is not None


def _mentioned(tables: Sequence[Table], sql: str) -> list[Table]:
    """Tables whose name occurs in the query, or all if it asks DuckDB which there are."""
    text = sql.lower()
    if asks_which(sql):
        return list(tables)
    return [t for t in tables if t.name.lower() in text]


def beside(tables: Sequence[Table], used: Sequence[Table]) -> tuple[Table, ...]:
    """The tables of the same files that were not used."""
    names, files = {t.name for t in used}, {t.file_id for t in used}
    return tuple(t for t in tables if t.file_id in files and t.name not in names)


def in_order(tables: Sequence[Table]) -> list[Table]:
    """The tables of a file, the one first that is meant where none is named: the largest that is not hidden."""
    first = max(tables, key=lambda t: (not t.hidden, t.rows))
    return [first, *(t for t in tables if t is not first)]


def _table(chat_file: ChatFile, name: str, info: Json, folder: Path, *, shared: bool = False) -> Table:
    return Table(
        name=name,
        file_id=chat_file.file.id,
        file_name=chat_file.file.name,
        handle=chat_file.handle,
        sheet=info["sheet"],
        place=info["place"],
        parquet=folder / info["parquet"],
        rows=info["rows"],
        columns=tuple((str(n), str(t)) for n, t in info["columns"]),
        findings=tuple(Note(**note) for note in info["notes"]),
        hidden=bool(info["hidden"]),
        sha256=chat_file.file.sha256,
        first_row=info["first_row"],
        marked=info["marked"],
        left_out={kind: tuple(rows) for kind, rows in info["left_out"]},
        left_out_counts=dict(info["left_out_counts"]),
        doubtful={kind: tuple(rows) for kind, rows in info.get("doubtful", ())},
        doubtful_counts=dict(info.get("doubtful_counts", ())),
        shared=shared,
        inside=not KINDS[chat_file.file.kind].tabular,
    )


def _recomputed(found: Json, changed: Sequence[str], seconds: float) -> Recomputed:
    """The comparison in words."""
    since = f" {', '.join(changed)} changed since." if changed else ""
    rows, again = found["rows_kept"], found["rows_again"]
    if found["columns_kept"] != found["columns_again"]:
        return Recomputed("different", f"Computed again, the columns are others.{since}", seconds=seconds)
    if rows != again:
        return Recomputed("different", f"Computed again, there are {again:,} rows in place of {rows:,}.{since}", seconds=seconds)
    if found["cells"]:
        cells = f"{found['cells']:,} cell{'s are' if found['cells'] > 1 else ' is'} different"
        first = tuple((int(row), str(column), was, now) for row, column, was, now in found["first"])
        return Recomputed("different", f"Computed again, {cells}.{since}", first, seconds)
    same = f"all {rows:,} rows are the same" if rows != 1 else "the row is the same"
    return Recomputed("same", f"Computed again in {seconds:.1f} s: {same}.{since}", seconds=seconds)

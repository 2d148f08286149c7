"""SQL over the tables of a chat and over its kept results: a statement runs in a confined child,
and its whole result is kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leaf.errors import FileError, NotFoundError, QueryError, ResultGoneError, SandboxError
from leaf.readers.base import ROW, Note
from leaf.readers.notes import OUTSIDE
from leaf.sandbox.pool import Pool
from leaf.store.model import ChatFile, Scope
from leaf.tables import results
from leaf.tables.convert import OnProgress, new_folder
from leaf.tables.keeping import KeptResults
from leaf.tables.mentions import known_as, mentioned
from leaf.tables.paging import QUERY_LIMITS
from leaf.tables.table import Table, TableSet, beside
from leaf.tables.written import QueryAnswer, RowsWritten, check_written

Json = dict[str, Any]

RESULT = r"result\.parquet"
SHOWN = ("columns", "types", "rows", "total", "clipped")
RESULTS_NAMED = 12
"""Results that an error names, the newest."""
LINK_ALL = 16
"""Up to so many tables every query gets them all; of more, those that it may name."""


@dataclass(frozen=True)
class ResultRead:
    """A kept result as a later query, or code, reads it."""

    name: str
    """`r1`."""
    parquet: Path
    total: int
    """Its rows, all of them."""
    tables: tuple[Table, ...]
    """What it rests on; of a file that was changed or deleted since, the table as it was then,
    without its Parquet."""
    data_only: frozenset[str]
    """Names of those of which rows of data alone were read."""
    read: frozenset[str] | None
    """Columns that were read for it, and for those that it was made from, by `touched.key`; None
    where it may be any."""
    first: Mapping[str, int] = field(default_factory=dict)
    """Of tables that were not read whole for it, how many rows at most."""
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
    first: Mapping[str, int] = field(default_factory=dict)
    """Of tables that it does not read whole, itself or through kept results, how many rows at
    most."""
    offset: int = 0
    of: int = 0
    ranked: bool = False
    start: int = -1
    """Which rows these are of all that there were without a limit, and of its table: see
    `cuts.ResultCut`."""

    @property
    def places(self) -> tuple[str, ...]:
        """Where each of `rows` stands in its file, for a query of one table that keeps `_row`:
        `sheet Data!A7:F7`, `row 7`."""
        if len(self.tables) != 1 or self.columns.count(ROW) != 1:
            return ()
        at = self.columns.index(ROW)
        if "INT" not in self.types[at] or any(row[at] is None for row in self.rows):
            return ()
        return tuple(self.tables[0].place_of_row(int(row[at])) for row in self.rows)


TablesOf = Callable[
    [Scope, Sequence[ChatFile], threading.Event | None, OnProgress | None], TableSet
]
"""The tables of some files, converted where they are not: `Tables.of`."""


class Queries:
    """Runs statements, and keeps what Python made of tables. Every call takes the scope on whose
    behalf it is made."""

    def __init__(self, pool: Pool, tables_of: TablesOf, kept_results: KeptResults) -> None:
        self._pool = pool
        self._tables_of = tables_of
        self._kept = kept_results

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
        call: str = "",
        edited: str = "",
    ) -> QueryResult:
        """Run one reading statement over the tables of `files` and keep its whole result under a
        new id.

        `turn` names the turn of a model that it belongs to, whose other results it does not see,
        and `call` its tool call, which keeps one result however often it is carried out; `edited`
        the step of which a person edited the statement.

        Raises QueryError, NotFoundError (with the nearest names), SandboxError and its kinds,
        RunError after `stop`.
        """
        began = time.monotonic()
        with new_folder(self._kept.folder(scope, chat_id)) as folder:
            ran = self.run(scope, chat_id, files, sql, folder, stop, on_progress, turn)
            answer, seconds = ran.answer, round(time.monotonic() - began, 3)
            about = {
                "sql": answer.sql,
                "tables": ran.origins,
                "read": answer.read,
                "results": [r.name for r in ran.results],
                **{key: getattr(answer, key) for key in ("columns", "types", "total")},
                "seconds": seconds,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                **({"edited": edited} if edited else {}),
            }
            result = self._kept.keep(scope, chat_id, folder / "result.parquet", about, turn, call)
        return QueryResult(
            result.name,
            answer.sql,
            **{key: getattr(answer, key) for key in SHOWN},
            seconds=seconds,
            tables=ran.tables,
            scanned=sum(t.rows for t in ran.tables),
            data_only=ran.data_only,
            beside=ran.beside,
            results=ran.results,
            said=ran.said,
            read=None if answer.read is None else frozenset(answer.read),
            first=ran.first,
            **{key: getattr(answer, key) for key in ("offset", "of", "ranked", "start")},
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
        first: Mapping[str, int] | None = None,
        results: Sequence[ResultRead] = (),
        turn: str = "",
        call: str = "",
        read: Collection[str] | None = None,
        edited: str = "",
    ) -> QueryResult:
        """Keep a table that Python code made under a new id, like the result of a query; `tables`
        are what it rests on, of those named in `data_only` their rows of data alone, of those in
        `first` so many rows at most, and `results` the kept results among that; `read` are the
        columns of the tables that the code reads, by `touched.key`, None for any; `call` says which
        table of which tool call it is, as for `query`, and `edited` names the step of which a person
        edited the code.

        The file is read in a confined child, and what is kept is what that one writes.
        Raises UnreadableFileError, SandboxError and its kinds, RunError after `stop`.
        """
        began = time.monotonic()
        with new_folder(self._kept.folder(scope, chat_id)) as folder:
            answer = self.adopt(parquet, folder, stop)
            seconds = round(time.monotonic() - began, 3)
            about = {
                "sql": "",
                "code": code,
                "name": name,
                "tables": [origin(t, t.name in data_only, first or {}) for t in tables],
                "results": [r.name for r in results],
                "read": None if read is None else sorted(read),
                **{key: getattr(answer, key) for key in ("columns", "types", "total")},
                "seconds": seconds,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                **({"edited": edited} if edited else {}),
            }
            result = self._kept.keep(scope, chat_id, folder / "result.parquet", about, turn, call)
        return QueryResult(
            result.name,
            "",
            **vars(answer),
            seconds=seconds,
            tables=tuple(tables),
            scanned=sum(t.rows for t in tables),
        )

    def adopt(self, parquet: Path, folder: Path, stop: threading.Event | None) -> RowsWritten:
        """Have a confined child write a table that code made anew into `folder`, and give its first
        rows."""
        arguments = {"parquet": "in:t.parquet", "out": "out:", "memory_mb": QUERY_LIMITS.memory_mb}
        inputs = {"t.parquet": parquet}
        answer = self._pool.call(
            "leaf.tables.child:adopt",
            arguments,
            returns=RowsWritten,
            inputs=inputs,
            limits=QUERY_LIMITS,
            out=folder,
            takes=RESULT,
            stop=stop,
        )
        check_written(answer, folder)
        return answer

    def results_named(
        self,
        scope: Scope,
        chat_id: str,
        text: str,
        files: Sequence[ChatFile],
        stop: threading.Event | None = None,
        *,
        turn: str = "",
        instead: Mapping[str, str] | None = None,
    ) -> dict[str, ResultRead]:
        """The chat's kept results that a statement or code names, by these names, with what they
        rest on. `files` are all live ones of the chat; `instead` says of names which result stands
        for them now.

        Rows that are gone are made anew by the recorded query where every file is as it was, and
        taken for those that were recorded if they are the same to the byte; that is said. Raises
        ResultGoneError for all others.
        """
        taken = {c.slug for c in files}
        by_name = {one.name: one for one in self._kept.named(scope, chat_id, text, taken, turn)}
        for name, other in (instead or {}).items():
            if name in by_name:
                by_name[name] = self._kept.get(scope, chat_id, other)
        return {n: self.read_result(scope, chat_id, one, files, stop) for n, one in by_name.items()}

    def read_result(
        self,
        scope: Scope,
        chat_id: str,
        one: results.StoredResult,
        files: Sequence[ChatFile],
        stop: threading.Event | None = None,
    ) -> ResultRead:
        """A kept result with what it rests on, as in `results_named`. Raises ResultGoneError."""
        find = self._kept.finder(scope, chat_id)
        ids = {str(t["file_id"]) for t in one.tables}
        tables = self._tables_of(scope, [c for c in files if c.file.id in ids], stop, None).tables
        now = {(t.file_id, t.sha256, t.name): t for t in tables}
        behind = tuple(
            now.get((t["file_id"], t["sha256"], t["name"])) or _as_it_was(t) for t in one.tables
        )
        caveats = tuple(results.caveats(find, one, {c.file.id: c.file.sha256 for c in files}))
        data_only = frozenset(str(t["name"]) for t in one.tables if t.get("data_only", True))
        try:
            parquet = self._kept.rows_of(scope, one)
        except ResultGoneError as gone:
            self._restore(scope, chat_id, one, files, stop, gone)
            parquet = self._kept.rows_of(scope, one)
            caveats = (f"{gone.message} Its query gave the very same rows again.", *caveats)
        read = results.read(find, one)
        first = {str(t["name"]): int(t["first"]) for t in one.tables if "first" in t}
        return ResultRead(
            one.name, parquet, int(one.about["total"]), behind, data_only, read, first, caveats
        )

    def _restore(
        self,
        scope: Scope,
        chat_id: str,
        one: results.StoredResult,
        files: Sequence[ChatFile],
        stop: threading.Event | None,
        gone: ResultGoneError,
    ) -> None:
        """Put the rows of a result back that its query gives again, all of them to the byte. Raises
        `gone` where it does not."""
        now = {c.file.id: c.file.sha256 for c in files}
        if one.how != "query" or any(now.get(t["file_id"]) != t["sha256"] for t in one.tables):
            raise gone
        ids = {str(t["file_id"]) for t in one.tables}
        own = [c for c in files if c.file.id in ids]
        with new_folder(self._kept.folder(scope, chat_id)) as folder:
            try:
                self.run(scope, chat_id, own, str(one.about["sql"]), folder, stop)
            except (QueryError, NotFoundError, FileError, SandboxError) as e:
                raise gone from e
            if not self._kept.put_back(scope, one, folder / "result.parquet"):
                raise gone

    def run(
        self,
        scope: Scope,
        chat_id: str,
        files: Sequence[ChatFile],
        sql: str,
        folder: Path,
        stop: threading.Event | None,
        on_progress: OnProgress | None = None,
        turn: str = "",
        instead: Mapping[str, str] | None = None,
    ) -> QueryOutcome:
        """Run a statement over the tables of `files` and the chat's kept results; its result is in
        `folder`."""
        table_set = self._tables_of(scope, files, stop, on_progress)
        tables = table_set.tables
        read = self.results_named(scope, chat_id, sql, files, stop, turn=turn, instead=instead)
        if not tables and table_set.failures:
            raise FileError(" ".join(table_set.failures.values()))
        known = known_as(files, tables)
        linked = tables if len(tables) <= LINK_ALL else mentioned(tables, sql, known)
        paths = {t.name: t.parquet for t in linked} | {n: r.parquet for n, r in read.items()}
        arguments = {
            "sql": sql,
            "tables": {name: f"in:{number}.parquet" for number, name in enumerate(paths)},
            "rows": {t.name: t.mark for t in linked} | {n: {"result": True} for n in read},
            "names": [
                *(
                    name
                    for t in tables
                    for name in ((t.name, f"{t.name}__all") if t.left_out else (t.name,))
                ),
                *self._kept.names(scope, chat_id, turn)[-RESULTS_NAMED:],
            ],
            "files": known,
            "out": "out:",
            "seconds": QUERY_LIMITS.seconds,
            "memory_mb": QUERY_LIMITS.memory_mb,
        }
        inputs = {f"{number}.parquet": path for number, path in enumerate(paths.values())}
        answer = self._pool.call(
            "leaf.tables.child:query",
            arguments,
            returns=QueryAnswer,
            inputs=inputs,
            limits=QUERY_LIMITS,
            out=folder,
            takes=RESULT,
            stop=stop,
        )
        check_written(answer, folder)
        used = tuple(t for t in tables if t.name in answer.tables)
        through = tuple(r for n, r in read.items() if n in answer.tables)
        return QueryOutcome.of(answer, used, through, tables)


@dataclass(frozen=True)
class QueryOutcome:
    """What came of a statement."""

    answer: QueryAnswer
    """What the child says of it."""
    tables: tuple[Table, ...]
    """Those that it reads, itself or through a result."""
    data_only: tuple[str, ...]
    first: Mapping[str, int]
    results: tuple[ResultRead, ...]
    beside: tuple[Table, ...]
    said: tuple[str, ...]

    @property
    def origins(self) -> list[Json]:
        """What is kept of its tables with a result."""
        return [origin(t, t.name in self.data_only, self.first) for t in self.tables]

    @staticmethod
    def of(
        answer: QueryAnswer,
        used: Sequence[Table],
        through: Sequence[ResultRead],
        tables: Sequence[Table],
    ) -> QueryOutcome:
        behind = joined(used, through)
        whole = {t.name for t in used if t.name not in answer.data_only}
        whole |= {t.name for r in through for t in r.tables if t.name not in r.data_only}
        remarks = (*answer.said, *dict.fromkeys(text for r in through for text in r.said))
        data_only = tuple(t.name for t in behind if t.name not in whole)
        first = joined_first({t.name: answer.first.get(t.name) for t in used}, through)
        return QueryOutcome(
            answer, behind, data_only, first, tuple(through), beside(tables, behind), remarks
        )


def joined(used: Sequence[Table], through: Sequence[ResultRead]) -> tuple[Table, ...]:
    """The tables that are read themselves and those behind results, each once."""
    every = [*used, *(t for r in through for t in r.tables)]
    return tuple({(t.file_id, t.name, t.sha256): t for t in reversed(every)}.values())[::-1]


def joined_first(own: Mapping[str, int | None], through: Sequence[ResultRead]) -> dict[str, int]:
    """How many rows at most were read of tables that nothing read whole: `own` says it of those that
    are read themselves, with None for all."""
    every = [*own.items(), *((t.name, r.first.get(t.name)) for r in through for t in r.tables)]
    whole = {name for name, rows in every if rows is None}
    most: dict[str, int] = {}
    for name, rows in every:
        if rows is not None and name not in whole:
            most[name] = max(rows, most.get(name, 0))
    return most


def origin(table: Table, data_only: bool, first: Mapping[str, int]) -> Json:
    """What is kept with a result of a table that it was made from."""
    about = {
        "name": table.name,
        "file_id": table.file_id,
        "sha256": table.sha256,
        "rows": table.rows,
        "data_only": data_only,
        **({"first": first[table.name]} if table.name in first else {}),
    }
    where = {
        "file": table.file_name,
        "handle": table.handle,
        "sheet": table.sheet,
        "place": table.place,
    }
    return {
        **about,
        **where,
        "left_out": dict(table.left_out_counts),
        "outside": dict(table.outside),
    }


def _as_it_was(origin: Json) -> Table:
    """A table of which only that is left what was kept with a result."""
    around = tuple(
        Note(kind, "", count)
        for kind, label in OUTSIDE.items()
        if (count := origin.get("outside", {}).get(label, 0))
    )
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

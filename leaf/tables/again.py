"""Results made again and compared with what was kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from leaf.errors import NotFoundError, ResultGoneError
from leaf.sandbox.pool import Pool
from leaf.store.model import ChatFile, Scope
from leaf.tables.convert import new_folder
from leaf.tables.keeping import KeptResults
from leaf.tables.paging import QUERY_LIMITS
from leaf.tables.queries import Queries, origin
from leaf.tables.results import StoredResult
from leaf.tables.table import Table
from leaf.tables.written import RowsWritten


@dataclass(frozen=True)
class Recomputed:
    """What became of a result when its query ran again."""

    outcome: Literal["same", "different", "gone"]
    """`gone`: it cannot be computed again, since a file that it was made from is not there any
    more."""
    text: str
    """In one sentence for a person."""
    cells: tuple[tuple[int, str, str | None, str | None], ...] = ()
    """The first different cells: row from 1, column, value then, value now."""
    seconds: float = 0.0
    kept_as: str = ""
    """The new result that its rows became: where those of the old one were gone and these are not
    they, or where they were to be kept."""


@dataclass(frozen=True)
class Remade:
    """Rows that were made anew."""

    parquet: Path
    answer: RowsWritten
    """columns, types and total, as the child says them."""
    seconds: float
    origins: dict[str, Any]
    """The tables and results that were read now, as they are kept with a result; empty where that is
    not known."""
    keep: bool = False
    """Whether it becomes a result of its own where it is not the same, or made of other files."""


@dataclass(frozen=True)
class Compared:
    """Two results side by side, as the child says it: see `compare.compare`."""

    rows_kept: int
    rows_again: int
    columns_kept: list[str]
    columns_again: list[str]
    cells: int
    first: tuple[tuple[int, str, str | None, str | None], ...]


class Recomputer:
    """Runs what made a result once more."""

    def __init__(self, pool: Pool, queries: Queries, kept_results: KeptResults) -> None:
        self._pool = pool
        self._queries = queries
        self._kept = kept_results

    def recompute(
        self,
        scope: Scope,
        chat_id: str,
        files: Sequence[ChatFile],
        result_id: str,
        stop: threading.Event | None = None,
        *,
        keep: bool = False,
        instead: Mapping[str, str] | None = None,
    ) -> Recomputed:
        """Run a kept result's query again over the files as they are now, and compare. `instead` says
        which results stand for those that it names.

        The new rows are not kept, unless those of the result are gone: then they are put back where
        they are the same to the byte, and become a new result otherwise. With `keep` they become
        one as well where they are others, or where a file changed since. `files` are all of the
        chat, the deleted ones among them. Raises NotFoundError, QueryError, SandboxError,
        FileError.
        """
        one = self._kept.get(scope, chat_id, result_id)
        if one.how != "query":
            raise self._no_query(scope, one)
        live = [f for f in files if f.file.deleted_at is None]
        gone = [str(t.get("file") or t["name"]) for t in one.tables if not _now(t, live)]
        if gone:
            return Recomputed(
                "gone",
                f"{', '.join(dict.fromkeys(gone))} was deleted, so this cannot be computed again.",
            )
        changed = [
            str(t.get("file") or chat_file.file.name)
            for t in one.tables
            if (chat_file := _now(t, live)) and chat_file.file.sha256 != t["sha256"]
        ]
        began = time.monotonic()
        with new_folder(self._kept.folder(scope, chat_id)) as folder:
            sql = str(one.about["sql"])
            ran = self._queries.run(scope, chat_id, live, sql, folder, stop, instead=instead)
            seconds = round(time.monotonic() - began, 3)
            origins = {"tables": ran.origins, "results": [r.name for r in ran.results]}
            new = Remade(folder / "result.parquet", ran.answer, seconds, origins, keep)
            return self._settle(scope, chat_id, one, new, sorted(set(changed)), stop)

    def compare_frame(
        self,
        scope: Scope,
        chat_id: str,
        result_id: str,
        parquet: Path,
        seconds: float,
        stop: threading.Event | None = None,
        *,
        tables: Sequence[Table] | None = None,
        instead: Mapping[str, str] | None = None,
    ) -> Recomputed:
        """Compare a kept result with a table that Python code made anew; where its rows are gone,
        as in `recompute`. With `tables`, those that the code could read, it is kept as there;
        `instead` are the results that stood for those that it names.

        Raises NotFoundError, UnreadableFileError, SandboxError.
        """
        one = self._kept.get(scope, chat_id, result_id)
        with new_folder(self._kept.folder(scope, chat_id)) as folder:
            answer = self._queries.adopt(parquet, folder, stop)
            origins: dict[str, Any] = {"tables": _as_now(one, tables)} if tables is not None else {}
            if instead:
                origins["results"] = list(instead.values())
            keep = tables is not None
            new = Remade(folder / "result.parquet", answer, seconds, origins, keep)
            changed = _changed(one, new)
            return self._settle(scope, chat_id, one, new, changed, stop)

    def _settle(
        self,
        scope: Scope,
        chat_id: str,
        one: StoredResult,
        new: Remade,
        changed: Sequence[str],
        stop: threading.Event | None,
    ) -> Recomputed:
        """Compare with the rows of the result, or, where they are gone, with what is recorded."""
        try:
            parquet = self._kept.rows_of(scope, one)
        except ResultGoneError:
            return self._remake(scope, chat_id, one, new, changed)
        verdict = _recomputed(self._compare(parquet, new.parquet, stop), changed, new.seconds)
        if new.keep and (verdict.outcome == "different" or changed):
            return replace(verdict, kept_as=self._keep(scope, chat_id, one, new))
        return verdict

    def _remake(
        self,
        scope: Scope,
        chat_id: str,
        one: StoredResult,
        new: Remade,
        changed: Sequence[str],
    ) -> Recomputed:
        if self._kept.put_back(scope, one, new.parquet):
            return Recomputed(
                "same",
                f"The rows of {one.name} were gone and are back: computed again, they are the same "
                f"to the byte.",
                seconds=new.seconds,
            )
        name = self._keep(scope, chat_id, one, new)
        return Recomputed(
            "different",
            f"{_differing(one, new.answer)}{_since(changed)} They are the new result {name}; the "
            f"rows of {one.name} stay gone.",
            seconds=new.seconds,
            kept_as=name,
        )

    def _keep(self, scope: Scope, chat_id: str, one: StoredResult, new: Remade) -> str:
        """Keep it as a result of its own, which names the first that the same code made."""
        about = {
            **one.about,
            **new.origins,
            **{key: getattr(new.answer, key) for key in ("columns", "types", "total")},
            "seconds": new.seconds,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "again": one.about.get("again") or one.name,
        }
        return self._kept.keep(scope, chat_id, new.parquet, about).name

    def _no_query(self, scope: Scope, one: StoredResult) -> NotFoundError:
        """Why a result that no query made is not computed again here."""
        try:
            self._kept.rows_of(scope, one)
        except ResultGoneError as gone:
            return gone
        return NotFoundError(f"{one.name} was made by no query.", "Ask for it again.")

    def _compare(self, original: Path, again: Path, stop: threading.Event | None) -> Compared:
        inputs = {"kept.parquet": original, "again.parquet": again}
        arguments = {
            "kept": "in:kept.parquet",
            "again": "in:again.parquet",
            "memory_mb": QUERY_LIMITS.memory_mb,
        }
        return self._pool.call(
            "leaf.tables.compare:compare",
            arguments,
            returns=Compared,
            inputs=inputs,
            limits=QUERY_LIMITS,
            stop=stop,
        )


def _now(table: dict[str, Any], live: Sequence[ChatFile]) -> ChatFile | None:
    """The file that stands now where a table of a result was read from."""
    by_id = next((f for f in live if f.file.id == table["file_id"]), None)
    return by_id or next((f for f in live if f.handle == table.get("handle")), None)


def _as_now(one: StoredResult, tables: Sequence[Table]) -> list[dict[str, Any]]:
    """The tables of a result as they are now; one that is not there any more as it was."""
    there = {table.name: table for table in tables}
    return [
        origin(
            table,
            bool(was.get("data_only", True)),
            {table.name: int(was["first"])} if "first" in was else {},
        )
        if (table := there.get(str(was["name"])))
        else dict(was)
        for was in one.tables
    ]


def _changed(one: StoredResult, new: Remade) -> list[str]:
    """Names of the files that are others now than when the result was made."""
    now = {t["name"]: t["sha256"] for t in new.origins.get("tables") or ()}
    changed = [t for t in one.tables if now.get(t["name"], t["sha256"]) != t["sha256"]]
    return sorted({str(t.get("file") or t["name"]) for t in changed})


def _differing(one: StoredResult, answer: RowsWritten) -> str:
    """In which way rows differ from what is recorded of a result whose own are gone."""
    total, again = int(one.about["total"]), int(answer.total)
    if list(one.about["columns"]) != list(answer.columns):
        return "Computed again, the columns are others than were recorded."
    if total != again:
        return f"Computed again, there are {again:,} rows in place of {total:,}."
    if not one.row.sha256:
        return (
            f"Computed again, there are {again:,} rows as before; whether they are the same is not "
            f"known, since only their number was recorded."
        )
    return (
        f"Computed again, there are {again:,} rows as before, but they are not those that were "
        f"recorded to the byte."
    )


def _since(changed: Sequence[str]) -> str:
    return f" {', '.join(changed)} changed since." if changed else ""


def _recomputed(comparison: Compared, changed: Sequence[str], seconds: float) -> Recomputed:
    """The comparison in words."""
    since = _since(changed)
    rows, again = comparison.rows_kept, comparison.rows_again
    if comparison.columns_kept != comparison.columns_again:
        return Recomputed(
            "different", f"Computed again, the columns are others.{since}", seconds=seconds
        )
    if rows != again:
        return Recomputed(
            "different",
            f"Computed again, there are {again:,} rows in place of {rows:,}.{since}",
            seconds=seconds,
        )
    if comparison.cells:
        cells = f"{comparison.cells:,} cell{'s are' if comparison.cells > 1 else ' is'} different"
        return Recomputed(
            "different", f"Computed again, {cells}.{since}", comparison.first, seconds
        )
    same = f"all {rows:,} rows are the same" if rows != 1 else "the row is the same"
    return Recomputed("same", f"Computed again in {seconds:.1f} s: {same}.{since}", seconds=seconds)

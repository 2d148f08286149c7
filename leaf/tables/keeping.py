"""Results that chats have kept: a row for each in the database, and its Parquet among the blobs.
What they rest on is read in `results.py`."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import Any

from leaf.errors import InvalidInputError, NotFoundError, StorageError, about, not_found
from leaf.sandbox.answers import unreadable
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import Pool
from leaf.store import Store
from leaf.store import results as rows
from leaf.store.model import Scope
from leaf.store.removal import Gone
from leaf.store.results import ResultRow
from leaf.tables import adopting, results
from leaf.tables.convert import new_folder, plain_id
from leaf.tables.paging import FIRST, Pages, ResultPage, RowsWanted
from leaf.tables.query_errors import SIDE_BY_SIDE
from leaf.tables.results import Find, StoredResult

Json = dict[str, Any]

EXPORT_LIMITS = CallLimits(seconds=600, memory_mb=2048, output_mb=16_384)
NAMED = 12
"""Results that an error names, the newest."""
_ID = re.compile(r"r[1-9]\d{0,8}")


class KeptResults:
    """Results under their ids. No chat reaches those of another."""

    def __init__(self, store: Store, pool: Pool, home: Path, pages: Pages) -> None:
        """`home` is the data folder."""
        self._store = store
        self._pool = pool
        self._home = home / "results"
        self._pages = pages
        self._adopted: set[tuple[str, str]] = set()
        """Chats whose results are known to have their rows."""

    def folder(self, scope: Scope, chat_id: str) -> Path:
        """Where files are made for the chat's results, which may not be there yet."""
        return self._home / plain_id(scope.workspace_id) / plain_id(chat_id)

    def keep(
        self,
        scope: Scope,
        chat_id: str,
        parquet: Path,
        about: Json,
        turn: str = "",
        call: str = "",
    ) -> StoredResult:
        """Keep a result under the chat's next id; `turn` is the model's that made it, and `call`
        says what of which of its calls it is: under the same one it is kept once. Raises
        NotFoundError for a chat that the caller does not see, StoreError, SpaceError."""
        self._adopt(scope, chat_id)
        self._store.space.check()
        with parquet.open("rb") as stream:
            blob = self._store.blobs.put(scope.workspace_id, stream, sys.maxsize, lasting=False)
        of = results.message_of(turn)
        row = ResultRow(0, about, blob.sha256, blob.size, of, turn, call)
        number = rows.add(self._store.db, scope, chat_id, row)
        return StoredResult(f"r{number}", row)

    def put_back(self, scope: Scope, one: StoredResult, parquet: Path) -> bool:
        """Keep the rows of a result again, if these are they to the byte; whether they are."""
        with parquet.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != one.row.sha256:
                return False
            stream.seek(0)
            self._store.blobs.put(scope.workspace_id, stream, sys.maxsize, lasting=False)
        return True

    def find(self, scope: Scope, chat_id: str, name: str) -> StoredResult | None:
        """The result of that name, whether its rows are there or not; None where the chat has
        none."""
        if not _ID.fullmatch(name):
            return None
        self._adopt(scope, chat_id)
        records = rows.find(self._store.db, scope, chat_id, [int(name[1:])])
        return StoredResult(name, records[0]) if records else None

    def finder(self, scope: Scope, chat_id: str) -> Find:
        """`find` for a chat, that asks once for each name."""
        known: dict[str, StoredResult | None] = {}

        def find(name: str) -> StoredResult | None:
            if name not in known:
                known[name] = self.find(scope, chat_id, name)
            return known[name]

        return find

    def named(
        self, scope: Scope, chat_id: str, text: str, taken: Collection[str] = (), turn: str = ""
    ) -> list[StoredResult]:
        """The results that a text names, each once. Names in `taken` belong to tables of the chat,
        which go before.

        Those that `turn` itself made are not there for it: its calls run side by side, and which
        of them is r1 is known at its end.
        """
        if not (names := results.names_in(text, taken)):
            return []
        self._adopt(scope, chat_id)
        records = rows.find(self._store.db, scope, chat_id, [int(name[1:]) for name in names])
        there = {f"r{row.number}": row for row in records if not turn or row.turn != turn}
        return [StoredResult(name, there[name]) for name in names if name in there]

    def rows_of(self, scope: Scope, one: StoredResult) -> Path:
        """The Parquet file of a result, which holds the very bytes that were recorded. Raises
        ResultGoneError."""
        blobs, sha256 = self._store.blobs, one.row.sha256
        if not sha256:
            raise results.lost(one, "they were lost before their content was recorded")
        try:
            if not blobs.exists(scope.workspace_id, sha256):
                raise results.lost(one, f"their file is missing from {blobs.whereabouts}")
            if not blobs.is_intact(scope.workspace_id, sha256):
                raise results.lost(one, "their file holds something else now")
            return blobs.local(scope.workspace_id, sha256)
        except StorageError as e:
            raise about(e, f"result {one.name}") from e

    def about(self, scope: Scope, chat_id: str, result_id: str) -> Json:
        """What was kept with a result: sql or code, tables and their sha256, columns, types, total,
        seconds, created. Raises NotFoundError."""
        return self.get(scope, chat_id, result_id).about

    def get(self, scope: Scope, chat_id: str, result_id: str) -> StoredResult:
        """A result, whether its rows are there or not. Raises NotFoundError with the ids there
        are."""
        result = self.find(scope, chat_id, result_id)
        if result is None:
            known = self.names(scope, chat_id)[-NAMED:]
            raise not_found("result", result_id, known, "this chat")
        return result

    def path(self, scope: Scope, chat_id: str, result_id: str) -> Path:
        """The Parquet file of a result. Raises NotFoundError with the ids there are, and
        ResultGoneError."""
        return self.rows_of(scope, self.get(scope, chat_id, result_id))

    def names(self, scope: Scope, chat_id: str, turn: str = "") -> list[str]:
        """Names of the chat's results, oldest first, without those that `turn` makes."""
        self._adopt(scope, chat_id)
        return [f"r{number}" for number in rows.numbers(self._store.db, scope, chat_id, turn)]

    def files_behind(self, scope: Scope, chat_id: str, text: str) -> set[str]:
        """Ids of the files that the results rest on which a text names."""
        return {str(t["file_id"]) for one in self.named(scope, chat_id, text) for t in one.tables}

    def number_next(self, scope: Scope, chat_id: str, number: int) -> None:
        """Let the next result of a chat be `r<number>`, if none at or above it was given."""
        self._adopt(scope, chat_id)
        rows.number_from(self._store.db, scope, chat_id, number)

    def let_go(self, gone: Gone) -> None:
        """Remove the folders of chats whose rows are deleted; the rows of their results are blobs,
        which go with the others."""
        for chat_id in gone.chats:
            shutil.rmtree(self.folder(Scope(gone.workspace_id, ""), chat_id), ignore_errors=True)
        if gone.whole:
            shutil.rmtree(self._home / plain_id(gone.workspace_id), ignore_errors=True)

    def _adopt(self, scope: Scope, chat_id: str) -> None:
        """Give results that an earlier version kept as files alone their rows, once."""
        place = (scope.workspace_id, chat_id)
        if place in self._adopted:
            return
        begun = rows.standing(self._store.db, scope, chat_id)
        if begun is False:
            adopting.adopt(self._store, scope, chat_id, self.folder(scope, chat_id))
        if begun is not None and chat_id != rows.OUTSIDE:
            self._adopted.add(place)

    def page(
        self,
        scope: Scope,
        chat_id: str,
        result_id: str,
        wanted: RowsWanted = FIRST,
        stop: threading.Event | None = None,
        *,
        turn: str = "",
    ) -> ResultPage:
        """Rows of a kept result, sorted and filtered if asked. Raises NotFoundError, also for a
        result that other calls of `turn` make.
        """
        try:
            one = self.get(scope, chat_id, result_id)
        except NotFoundError as e:
            raise NotFoundError(e.message, f"{e.hint} {SIDE_BY_SIDE}" if turn else e.hint) from e
        if turn and one.row.turn == turn:
            raise NotFoundError(f"Result {result_id} is made in this turn.", SIDE_BY_SIDE)
        parquet = self.rows_of(scope, one)
        page = self._pages.of_parquet(parquet, wanted, stop, sql=str(one.about.get("sql") or ""))
        return replace(page, edited=one.edited)

    def export(
        self,
        scope: Scope,
        chat_id: str,
        result_id: str,
        form: str = "csv",
        *,
        into: Path,
        names: Mapping[str, str] | None = None,
        remarks: Sequence[tuple[str, str]] = (),
        stop: threading.Event | None = None,
    ) -> Path:
        """The whole result as a file: `csv`, `csv-raw`, `xlsx` or `parquet`, made in the folder
        `into` where it is not its Parquet. Only `csv-raw` leaves text as it is that a spreadsheet
        takes for a formula. `names` (file id -> name) and `remarks` are told in an Excel file.

        Raises NotFoundError, InvalidInputError, also for a result that is too large for Excel.
        """
        one = self.get(scope, chat_id, result_id)
        path = self.rows_of(scope, one)
        if form == "parquet":
            return path
        if form not in ("csv", "csv-raw", "xlsx"):
            raise InvalidInputError(
                f"A result cannot be exported as '{form}'.", "Choose csv, xlsx or parquet."
            )
        with new_folder(into) as folder:
            arguments: Json = {
                "parquet": "in:t.parquet",
                "out": "out:",
                "memory_mb": EXPORT_LIMITS.memory_mb,
            }
            if form != "xlsx":
                function = "leaf.tables.child:export_csv"
                arguments["raw"] = form == "csv-raw"
            else:
                function = "leaf.tables.export:xlsx"
                arguments["about"] = {**_told(one.about, names or {}), "remarks": [*remarks]}
            inputs = {"t.parquet": path}
            written = f"export.{form.removesuffix('-raw')}"
            self._pool.call(
                function,
                arguments,
                returns=NoneType,
                inputs=inputs,
                limits=EXPORT_LIMITS,
                out=folder,
                takes=re.escape(written),
                stop=stop,
            )
            output = folder / written
            if not output.is_file():
                raise unreadable()
            return output.replace(into / f"{result_id}.{written.partition('.')[2]}")


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
    return {
        **facts,
        "query": about.get("sql") or about.get("code"),
        "edited": bool(about.get("edited")),
        "rows": about["total"],
        "sources": sources,
    }

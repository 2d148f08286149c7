"""The tables of a chat: found in its files, described, queried; results kept. All Parquet is opened
in confined children only."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any

from leaf.errors import InvalidInputError, LeafError, NotFoundError, SandboxError
from leaf.readers.base import TableInfo, holds_tables, may_hold_tables
from leaf.sandbox.answers import unreadable
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import Pool
from leaf.store import Store
from leaf.store.model import ChatFile, File, Scope
from leaf.store.removal import Gone
from leaf.tables import charts, drawing
from leaf.tables.again import Recomputer
from leaf.tables.convert import Converter, OnProgress
from leaf.tables.glances import Glances
from leaf.tables.keeping import KeptResults
from leaf.tables.names import table_names
from leaf.tables.paging import Pages
from leaf.tables.profiles import Profiles
from leaf.tables.queries import Queries
from leaf.tables.table import Table, TableSet, table_of

DRAWING_LIMITS = CallLimits(seconds=60, memory_mb=2048, output_mb=256)
LARGE = 20_000_000
"""Bytes from which on a file is converted when it is added: a question should not wait for it."""
PREPARED = 8
"""Tables of such a file whose columns are looked at then."""


class Tables:
    """Every call takes the scope on whose behalf it is made; nothing is shared between
    workspaces."""

    def __init__(self, store: Store, pool: Pool, home: Path) -> None:
        self._pool = pool
        self._converter = Converter(store, pool, home)
        self.profiles = Profiles(pool)
        self.glances = Glances(pool)
        self.pages = Pages(pool)
        self.results = KeptResults(store, pool, home, self.pages)
        self.queries = Queries(pool, self.of, self.results)
        self.again = Recomputer(pool, self.queries, self.results)

    def let_go(self, gone: Gone) -> None:
        """Remove what is kept of chats and bytes whose rows are deleted."""
        self._converter.let_go(gone)
        self.results.let_go(gone)

    def close(self) -> None:
        """Put no more tables into the store."""
        self._converter.lasting.close()

    def settle(self) -> None:
        """Wait until the tables are in the store that are worth it."""
        self._converter.lasting.settle()

    def of(
        self,
        scope: Scope,
        files: Sequence[ChatFile],
        stop: threading.Event | None = None,
        on_progress: OnProgress | None = None,
    ) -> TableSet:
        """The tables of the tabular ones among `files`; each file is converted once, at first need.

        `on_progress` is told in words how much of a large file is read. A file that cannot be read
        goes to `failures` and hides no other. Raises RunError after `stop`, StoreError.
        """
        tabular = [f for f in files if may_hold_tables(f.file.kind, f.file.outline)]
        outcomes = self._converted(scope, tabular, stop, on_progress)
        tables: list[Table] = []
        failures: dict[str, str] = {}
        taken: set[str] = set()
        for chat_file, infos in zip(tabular, outcomes, strict=True):
            if isinstance(infos, LeafError):
                failures[chat_file.file.id] = f"{chat_file.file.name}: {infos}"
                continue
            names = table_names(chat_file.slug, [info.sheet for info in infos], taken)
            folder = self._converter.folder(chat_file.file)
            sheets = Counter(info.sheet for info in infos)
            tables += [
                table_of(chat_file, name, info, folder, shared=sheets[info.sheet] > 1)
                for name, info in zip(names, infos, strict=True)
            ]
        return TableSet(tuple(tables), failures)

    def is_read(self, scope: Scope, file: File) -> bool:
        """Whether asking for a file's tables costs nothing any more."""
        return file.workspace_id == scope.workspace_id and self._converter.is_read(file)

    def prepare(
        self,
        scope: Scope,
        file: File,
        stop: threading.Event | None,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Convert a large file and look at its columns before anybody asks; nothing happens for
        others, or the second time.

        Raises RunError after `stop`, StoreError. A file that holds no table says so when it is
        asked for.
        """
        if (
            file.size < LARGE
            or not holds_tables(file.kind, file.outline)
            or file.outline.get("error")
        ):
            return
        alone = ChatFile(chat_id="", handle="f1", slug="table", file=file)
        for table in self.of(scope, [alone], stop, on_progress).tables[:PREPARED]:
            with contextlib.suppress(SandboxError):
                self.profiles.describe(scope, table, stop)

    def draw(
        self,
        spec: Mapping[str, Any],
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        form: str,
        into: Path,
    ) -> Path:
        """A checked chart with its rows as a file in the folder `into`: `png`, `svg` or `json`.
        Raises InvalidInputError."""
        if form not in drawing.FORMS:
            raise InvalidInputError(
                f"A chart cannot be exported as '{form}'.", "Choose png, svg or json."
            )
        chart = drawing.whole(charts.check(spec, columns), columns, rows)
        arguments = {"chart": chart, "form": form, "out": "out:"}
        self._pool.call(
            "leaf.tables.drawing:draw",
            arguments,
            returns=NoneType,
            limits=DRAWING_LIMITS,
            out=into,
            takes=rf"chart\.{form}",
        )
        path = into / f"chart.{form}"
        if not path.is_file():
            raise unreadable()
        return path

    def read_so_far(self, file: File) -> tuple[int, int]:
        """How many bytes of a file are read, of how many; (0, 0) where it is not being read."""
        return self._converter.read_so_far(file)

    def _converted(
        self,
        scope: Scope,
        files: Sequence[ChatFile],
        stop: threading.Event | None,
        on_progress: OnProgress | None = None,
    ) -> list[list[TableInfo] | LeafError]:
        """The tables of each file or why it has none, in order."""
        own = [f.file for f in files if f.file.workspace_id == scope.workspace_id]
        outcomes = iter(self._converter.tables_of(own, stop, on_progress))
        foreign = NotFoundError("There is no such file.")
        return [
            next(outcomes) if f.file.workspace_id == scope.workspace_id else foreign for f in files
        ]

"""Python over the chats' tables: which cells a chat has run, what its code is given, and what came
of it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from leaf.errors import FileError, NotFoundError
from leaf.readers.base import holds_tables
from leaf.sandbox.namespace import Given, PythonCell, Supply
from leaf.sandbox.packages import Packages
from leaf.sandbox.ran import Ran
from leaf.sandbox.sessions import Sessions
from leaf.store import Store, cells, messages
from leaf.store.model import ChatFile, Scope
from leaf.store.removal import Gone
from leaf.tables.frames import read_by
from leaf.tables.heads import TableSize, first_by
from leaf.tables.lineage import cells_behind, rests_on
from leaf.tables.queries import ResultRead, joined, joined_first
from leaf.tables.results import turn_of
from leaf.tables.rows import ALL
from leaf.tables.table import Table, beside
from leaf.tables.tables import Tables
from leaf.tables.views import views

OpenFile = Callable[[str], tuple[ChatFile, Path]]
"""Handle or name -> the chat's file and where its bytes are. Raises NotFoundError."""


@dataclass(frozen=True)
class CellOutcome:
    """What came of a cell, and what it rests on."""

    ran: Ran
    cell: PythonCell
    tables: tuple[Table, ...]
    """That it names, or that variables were made from which it uses."""
    data_only: frozenset[str]
    """Names of those of which rows of data alone were read, and no others by NAME__all."""
    opened: tuple[str, ...]
    """Files, likewise, by handle or name."""
    beside: tuple[Table, ...] = ()
    """The other tables of the files of `tables`."""
    results: tuple[ResultRead, ...] = ()
    """Kept results that it names; what they rest on is among `tables`."""
    direct: frozenset[str] = frozenset()
    """Names of those of `tables` that it reads itself, and not through a result alone."""
    read: frozenset[str] | None = None
    """Columns of those that it reads, by `touched.key`; None where it may be any."""
    heads: Mapping[str, int] = field(default_factory=dict)
    """How many rows at most of those that it reads itself and not whole."""

    @property
    def first(self) -> dict[str, int]:
        """How many rows at most of tables of which neither it nor a result that it reads holds all."""
        return joined_first({name: self.heads.get(name) for name in self.direct}, self.results)


_Names = dict[str, Table | ResultRead]
"""What each name stands for that code was given."""


class Notebooks:
    """The Python of all chats. Every call takes the scope on whose behalf it is made."""

    def __init__(
        self, store: Store, sessions: Sessions, tables: Tables, packages: Packages
    ) -> None:
        self._store = store
        self._tables = tables
        self.sessions = sessions
        self.packages = packages
        self._given: dict[str, _Names] = {}

    def warm(self) -> None:
        """Have a child ready before somebody needs it."""
        self.sessions.warm()

    def close(self) -> None:
        """End all children."""
        self.sessions.close()

    def run(
        self,
        scope: Scope,
        chat_id: str,
        message_id: str,
        key: str,
        code: str,
        chat_files: Sequence[ChatFile],
        open_file: OpenFile,
        out: Path,
        *,
        files: Sequence[str] = (),
        seconds: float = 0.0,
        stop: threading.Event,
        progress: Callable[[str], None] = lambda _text: None,
        after: int | None = None,
    ) -> CellOutcome:
        """Run a cell at the end of the branch of `message_id`, and keep it if it succeeds.

        With `after` it runs after so many of the branch's cells, in a namespace of its own. Then,
        and outside of an answer, nothing is kept; outside of one nothing was before. Raises what
        `Sessions.run` raises.
        """
        lasts = bool(message_id) and after is None
        owner = f"{scope.workspace_id}/{chat_id if lasts else uuid4()}"
        earlier = self._earlier(scope, chat_id, message_id, key)[:after] if message_id else []
        cell = PythonCell(key or str(uuid4()), code, len(earlier) + 1, tuple(files))
        by_name = self._given.setdefault(owner, {})
        turn = turn_of(key)
        results = self._tables.results.names(scope, chat_id, turn)
        supply = self._supply(scope, chat_id, chat_files, open_file, by_name, stop, turn)
        slugs = _slugs(chat_files)
        packages = self.packages.ready(scope.workspace_id, chat_id, stop) if message_id else None
        try:
            ran = self.sessions.run(
                owner,
                cell,
                earlier,
                supply,
                out,
                slugs=slugs,
                results=[name for name in results if name not in slugs],
                packages=packages,
                seconds=seconds,
                stop=stop,
                progress=progress,
            )
        finally:
            if not lasts:
                self._given.pop(owner, None)
                self.sessions.forget(owner)
        if lasts and ran.failure is None:
            cells.add(self._store.db, scope, chat_id, message_id, cell.key, code, files)
        return self._rested(scope, ran, (*earlier, cell), by_name, chat_files, stop)

    def _rested(
        self,
        scope: Scope,
        ran: Ran,
        cells_run: Sequence[PythonCell],
        by_name: _Names,
        chat_files: Sequence[ChatFile],
        stop: threading.Event,
    ) -> CellOutcome:
        """What the last of the cells rests on; `by_name` are the names that they were given."""
        named, opened = rests_on([(c.code, c.files) for c in cells_run], by_name)
        read = {name: by_name[name] for name in by_name if name in named}
        through = tuple(one for one in read.values() if isinstance(one, ResultRead))
        used = joined([one for one in read.values() if isinstance(one, Table)], through)
        whole = {
            one.name for name, one in read.items() if isinstance(one, Table) and name.endswith(ALL)
        }
        whole |= {t.name for r in through for t in r.tables if t.name not in r.data_only}
        data_only = frozenset(t.name for t in used if t.name not in whole)
        known = self._tables.of(
            scope, [c for c in chat_files if c.file.id in {t.file_id for t in used}], stop
        ).tables
        direct = {name: one for name, one in read.items() if isinstance(one, Table)}
        columns = read_by(
            [c.code for c in cells_run], {n: [c for c, _ in t.columns] for n, t in direct.items()}
        )
        extents = {
            name: TableSize(
                one.rows + (sum(one.left_out_counts.values()) if name.endswith(ALL) else 0),
                frozenset(column for column, _ in one.columns),
            )
            for name, one in direct.items()
        }
        heads = first_by(cells_behind([c.code for c in cells_run], extents), extents)
        both = Counter(one.name for one in direct.values())
        names = frozenset(both)
        return CellOutcome(
            ran,
            cells_run[-1],
            used,
            data_only,
            tuple(sorted(opened)),
            beside(known, used),
            through,
            names,
            columns,
            {direct[n].name: rows for n, rows in heads.items() if both[direct[n].name] == 1},
        )

    def again(
        self,
        scope: Scope,
        chat_id: str,
        message_id: str,
        number: int,
        code: str,
        chat_files: Sequence[ChatFile],
        open_file: OpenFile,
        out: Path,
        stop: threading.Event | None = None,
        *,
        files: Sequence[str] | None = None,
        instead: Mapping[str, str] | None = None,
    ) -> Ran:
        """Run cell `number` of the branch of `message_id` once more, after those before it, in a
        namespace of its own; with `files`, which it opens, one that a person edited and that is
        not among the branch's. `instead` says which results stand for those that code names.

        Nothing is kept. Raises NotFoundError where the cell is not the one that is kept, and what
        `Sessions.run` raises.
        """
        stop = stop or threading.Event()
        cells_before = self._earlier(scope, chat_id, message_id, "")
        cell = next((c for c in cells_before if c.number == number and c.code == code), None)
        if files is not None:
            cell = PythonCell(str(uuid4()), code, number, tuple(files))
        if cell is None:
            raise NotFoundError("This cell is not kept any more, so it cannot be run again.")
        owner = f"{scope.workspace_id}/{uuid4()}"
        supply = self._supply(scope, chat_id, chat_files, open_file, {}, stop, instead=instead)
        packages = self.packages.ready(scope.workspace_id, chat_id, stop)
        slugs = _slugs(chat_files)
        results = [name for name in self._tables.results.names(scope, chat_id) if name not in slugs]
        before = cells_before[: number - 1]
        try:
            return self.sessions.run(
                owner,
                cell,
                before,
                supply,
                out,
                slugs=slugs,
                results=results,
                packages=packages,
                stop=stop,
            )
        finally:
            self.sessions.forget(owner)

    def _supply(
        self,
        scope: Scope,
        chat_id: str,
        chat_files: Sequence[ChatFile],
        open_file: OpenFile,
        by_name: _Names,
        stop: threading.Event,
        turn: str = "",
        instead: Mapping[str, str] | None = None,
    ) -> Supply:
        """What code may read of the chat; `by_name` is told which table or kept result each
        name stands for."""

        def supply(kind: str, name: str) -> dict[str, Given]:
            if kind == "file":
                chat_file, path = open_file(name)
                return {chat_file.file.name: Given(path)}
            if kind == "result":
                read = self._tables.queries.results_named(
                    scope, chat_id, name, chat_files, stop, turn=turn, instead=instead
                )
                by_name.update(read)
                return {called: Given(one.parquet) for called, one in read.items()}
            pairs = [
                (view, table)
                for table in self._tables_named(scope, chat_files, name, stop)
                for view in views(table)
            ]
            by_name.update({view.name: table for view, table in pairs})
            return {
                view.name: Given(table.parquet, view.sql, view.numbered) for view, table in pairs
            }

        return supply

    def count(self, scope: Scope, chat_id: str, message_id: str) -> int:
        """Cells that have run on the branch that ends with this message."""
        return len(self._earlier(scope, chat_id, message_id, ""))

    def forget(self, scope: Scope, chat_id: str) -> None:
        """Let go of a chat's variables; they are made anew when they are needed."""
        self.sessions.forget(f"{scope.workspace_id}/{chat_id}")

    def let_go(self, gone: Gone) -> None:
        """End the Python of chats whose rows are deleted, and remove their packages."""
        for chat_id in gone.chats:
            owner = f"{gone.workspace_id}/{chat_id}"
            self._given.pop(owner, None)
            self.sessions.forget(owner)
            self.packages.forget(gone.workspace_id, chat_id)

    def _earlier(self, scope: Scope, chat_id: str, message_id: str, key: str) -> list[PythonCell]:
        """Successful cells of the branch, in order, without the one that is about to run
        (again)."""
        branch = messages.branch_ids(self._store.db, scope, chat_id, message_id) or (message_id,)
        branch_cells = cells.of_messages(self._store.db, scope, chat_id, branch)
        before = [c for c in branch_cells if c.key != key]
        return [PythonCell(c.key, c.code, number, c.files) for number, c in enumerate(before, 1)]

    def _tables_named(
        self, scope: Scope, chat_files: Sequence[ChatFile], name: str, stop: threading.Event
    ) -> tuple[Table, ...]:
        """The tables of the file whose SQL name this is, or begins. Raises FileError where the file
        cannot be read."""
        named = [
            c
            for c in chat_files
            if name.lower() == c.slug or name.lower().startswith(f"{c.slug}__")
        ]
        if not named:
            return ()
        chat_file = max(named, key=lambda c: len(c.slug))
        table_set = self._tables.of(scope, [chat_file], stop)
        if table_set.failures and not table_set.tables:
            raise FileError(" ".join(table_set.failures.values()))
        if not table_set.tables:
            raise NotFoundError(f"{chat_file.file.name} holds no table.")
        return table_set.tables


def _slugs(chat_files: Sequence[ChatFile]) -> list[str]:
    return [c.slug for c in chat_files if holds_tables(c.file.kind, c.file.outline)]

"""Deleting for good: rows, bytes, what was made of them, and what databases keep of deleted rows.

Rows go in one transaction, with a note of what has to follow (`notes.py`), so that a killed process
leaves nothing behind: the next start does it, or another process within the hour. Doing it twice does
no harm, since nothing is removed that a row still names.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from leaf.errors import LeafError, StoreAwayError
from leaf.files.library import Library
from leaf.keeping.notes import Notes, RemovalNote
from leaf.runs.runs import Runs
from leaf.store import Store, accounts, audit, boards, chats, links, messages, projects, removal
from leaf.store.database import Transaction
from leaf.store.model import Scope
from leaf.store.removal import Gone
from leaf.tables.notebooks import Notebooks
from leaf.tables.tables import Tables

OPERATOR = Scope("", "")
"""In the audit log: whoever runs Leaf, in no workspace."""
logger = logging.getLogger(__name__)


@dataclass
class Scrubbing:
    """Rewrites of the databases: one that began after a deletion does for it as well."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    wanted: int = 0
    done: int = 0


class Remover:
    """Deletes for good. Safe to call from any number of threads."""

    def __init__(
        self,
        store: Store,
        library: Library,
        tables: Tables,
        runs: Runs,
        home: Path,
        python: Notebooks | None,
    ) -> None:
        self._store = store
        self._library = library
        self._tables = tables
        self._runs = runs
        self._python = python
        self._notes = Notes(store.db, store.blobs, home)
        self._scrubbing = Scrubbing()

    def chat(self, scope: Scope, chat_id: str) -> bool:
        """Delete a chat; answers that are being written are ended. Files stay in the library.

        Returns whether the last byte is gone: False means that rows are left in a file of a
        database that could not be rewritten now, which the next start does. Raises NotFoundError,
        InvalidInputError for one who only takes part.
        """
        db = self._store.db
        with db.transaction(scope) as tx:
            chats.check_host(tx, scope, chat_id, "delete it")
        if chats.get(db, scope, chat_id, deleted=True).deleted_at is None:
            unfinished = messages.unfinished(db, scope, chat_id)
            chats.delete(db, scope, chat_id)
            self._runs.end(unfinished)

        return self._remove(lambda tx: [removal.purge_chat_in(tx, scope, chat_id)], scope)

    def file(self, scope: Scope, file_id: str) -> bool:
        """Delete a file, with what came out of it; returns as `chat`. Chats keep what they said of
        it. Raises NotFoundError, InvalidInputError for one who neither added it nor owns the
        workspace."""
        return self._remove(lambda tx: [removal.purge_file_in(tx, scope, file_id)], scope)

    def board(self, scope: Scope, board_id: str) -> bool:
        """Delete a board with its public links; returns as `chat`. Raises NotFoundError."""
        return self._end_links(scope, lambda tx: boards.delete_in(tx, scope, board_id))

    def link(self, scope: Scope, link_id: str) -> bool:
        """End a public link with what it shows; returns as `chat`. Raises NotFoundError."""
        return self._end_links(scope, lambda tx: links.revoke_in(tx, scope, link_id))

    def renew_link(self, scope: Scope, link_id: str, sha256: str, shown: Collection[str]) -> bool:
        """Have a public link show this snapshot in place of the one before, which goes; returns as
        `chat`. Raises NotFoundError, InvalidInputError."""
        return self._end_links(
            scope, lambda tx: [links.renew_in(tx, scope, link_id, sha256, shown)]
        )

    def let_go_of(self, workspace_id: str, sha256: str) -> None:
        """Remove bytes, unless a row names them. Raises StorageError."""
        self._library.let_go(Gone(workspace_id, hashes=(sha256,)))

    def project(self, scope: Scope, project_id: str) -> bool:
        """Delete a project; its chats and files stay. Returns as `chat`. Raises NotFoundError,
        InvalidInputError for one who is not its host."""
        stopped: list[str] = []

        def remove(tx: Transaction) -> list[Gone]:
            stopped.extend(projects.delete_in(tx, scope, project_id))
            return [Gone(scope.workspace_id)]

        whole = self._remove(remove, scope)
        for message_id in stopped:
            self._runs.stop(message_id)
        return whole

    def unscoped_workspace(self, workspace_id: str) -> bool:
        """Delete a workspace with all that is in it; returns as `chat`. For the operator. Raises
        NotFoundError."""
        self._runs.end(removal.unfinished_of(self._store.db, workspace_id))

        def remove(tx: Transaction) -> list[Gone]:
            audit.add(tx, OPERATOR, "workspace deleted for good", workspace_id)
            return [removal.remove_workspace(tx, workspace_id)]

        return self._remove(remove)

    def unscoped_account(self, email: str) -> bool:
        """Delete a user, what is theirs alone, and all that says who they are; returns as `chat`.
        For the operator. Raises NotFoundError, InvalidInputError for the only owner of a workspace
        with others."""
        stopped: list[str] = []

        def remove(tx: Transaction) -> list[Gone]:
            account = accounts.remove_account(tx, email)
            stopped.extend(account.stopped)
            audit.add(tx, OPERATOR, "account deleted for good", account.user_id)
            return account.gone

        whole = self._remove(remove)
        for message_id in stopped:
            self._runs.stop(message_id)
        return whole

    def finish(self) -> None:
        """Carry out what processes that were killed have left to do, here or anywhere, and what an
        earlier version left of accounts."""
        for note in self._notes.left():
            self._carry_out(note, scrub=note.path is not None)
        try:
            if nobodys := accounts.unscoped_nobodys(self._store.db):
                logger.warning("deleting %d chats of accounts that are gone", len(nobodys))
                self._remove(lambda tx: [removal.remove_chat(tx, *one) for one in nobodys])
        except (
            LeafError
        ) as e:  # such as a database that takes nothing: the start does not hang on it
            logger.warning("chats of accounts that are gone are not deleted yet: %s", e)

    def _end_links(self, scope: Scope, end: Callable[[Transaction], Iterable[str]]) -> bool:
        """Their rows hold no content, so that no database is rewritten for them."""

        def remove(tx: Transaction) -> list[Gone]:
            return [Gone(scope.workspace_id, hashes=tuple(end(tx)))]

        return self._remove(remove, scope, scrub=False)

    def _remove(
        self,
        remove: Callable[[Transaction], list[Gone]],
        scope: Scope | None = None,
        *,
        scrub: bool = True,
    ) -> bool:
        note = RemovalNote()
        try:
            with self._store.db.transaction(scope) as tx:
                note.gone = remove(tx)
                tx.concerns(one.workspace_id for one in note.gone)
                self._notes.write(tx, note)
        except StoreAwayError:
            raise  # perhaps it was kept: the note stays, and removes nothing that is there still
        except BaseException:
            self._notes.take_back(note)
            raise
        return self._carry_out(note, scrub=scrub)

    def _carry_out(self, note: RemovalNote, *, scrub: bool = True) -> bool:
        """Whether all of it could be done; else the note stays."""
        try:
            for one in note.gone:
                self._let_go(one)
            if scrub:
                self._scrub()
            self._notes.done(note)
        except (LeafError, OSError) as e:
            logger.warning("what was deleted is not gone yet: %s", e)
            return False
        self._store.space.look_again()
        return True

    def _let_go(self, noted: Gone) -> None:
        gone = removal.confirmed(self._store.db, noted)
        if gone.messages:
            self._runs.forget(gone.messages)
        self._library.let_go(gone)
        self._tables.let_go(gone)
        if self._python is not None:
            self._python.let_go(gone)

    def _scrub(self) -> None:
        state = self._scrubbing
        state.wanted += 1
        mine = state.wanted
        with state.lock:
            if state.done >= mine:
                return
            covers = state.wanted
            self._store.db.scrub()
            state.done = covers

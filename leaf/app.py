"""class Leaf: one application. It starts and stops, knows who signs in, gives them sessions, and
shows the operator what runs.

Whatever belongs to somebody is reached through their session, and stands in `leaf.sessions`.
"""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from leaf.budgets.periods import Range
from leaf.errors import (
    BlobGoneError,
    LeafError,
    NotFoundError,
    SandboxError,
    SignInError,
    StoreError,
    public_reason,
)
from leaf.identity import identify
from leaf.keeping.backup import BackupMade, backup
from leaf.keeping.remover import OPERATOR
from leaf.keeping.restore import forget_staged
from leaf.runs.records import Load, RunRecord, StepRecord
from leaf.sessions.house import House
from leaf.sessions.session import Session
from leaf.settings.mail import one_form
from leaf.store import audit, files, links, logins, operator_lists, users
from leaf.store.audit import AuditLine
from leaf.store.changes import Hub
from leaf.store.model import NamedUsage, Scope, Visit
from leaf.store.operator_lists import AccountRecord, WorkspaceRecord
from leaf.store.space import SpaceUsed

ROOM = 1024**2
"""Bytes that the disk has to take for questions to be taken."""


class Leaf:
    """One application over one data folder. Safe to call from any number of threads."""

    def __init__(
        self, house: House, close: Callable[[], None], prepare: Callable[[], None] = lambda: None
    ) -> None:
        """`prepare` loads what the first call of the model needs."""
        self.settings = house.settings
        self._house = house
        self._db = house.store.db
        self._close = close
        self._prepare = prepare
        self._warming: threading.Thread | None = None
        self._guard = threading.Lock()

    def launch(self) -> None:
        """Go on with unfinished answers and jobs now, rather than with the next question. Raises
        StoreError, StoreBusyError."""
        self._db.listen()
        self._house.runs.launch()
        self._house.jobs.launch()
        self._house.remover.finish()
        forget_staged(self.settings.home)

    def warm(self) -> None:
        """Begin to load what no page needs but the first use would wait for: the model's client,
        and, where there are files, a child that reads them.

        Once is enough. One thread does it, one thing after another: two that import compiled
        packages have crashed Python.
        """
        with self._guard:
            if self._warming is None:
                # Asked here, as no thread may be in the database when Python ends without a close.
                there = False
                with suppress(LeafError):  # whoever needs the store hears what is wrong with it
                    there = files.unscoped_any(self._db)
                self._warming = threading.Thread(
                    target=self._warm, args=(there,), name="warm", daemon=True
                )
                self._warming.start()

    def expect_files(self) -> None:
        """A file is on its way, which a child will read: begin to start one, without waiting for
        it."""
        with suppress(SandboxError):  # it is told to whoever needs the child
            self._house.library.warm()

    def _warm(self, files_there: bool) -> None:
        try:
            self._prepare()
            if files_there:
                self.expect_files()
        except Exception as e:  # noqa: BLE001 - whoever needs it loads it then, and hears what is wrong
            logging.getLogger("leaf").warning(
                "Nothing was prepared: %s", e if isinstance(e, LeafError) else type(e).__name__
            )

    def close(self) -> None:
        """Let go of runs, which the next start goes on with, end children, close the database. Use
        the object no more."""
        with self._guard:
            warming, self._warming = self._warming, threading.current_thread()
        if warming is not None:
            warming.join()
        self._close()

    # --- who

    def session(self, scope: Scope) -> Session:
        """What this user may do in this workspace: the only way to anything that belongs to
        somebody."""
        return Session(self._house, scope)

    def local_scope(self) -> Scope:
        """The one user of an app without login, and their workspace."""
        return users.ensure_local_user(self._db)

    def sign_in(self, claims: Mapping[str, object], workspace_id: str = "") -> Visit:
        """Who a browser acts for, by the claims of its login; in that workspace if it is theirs,
        else where they were last.

        Asked at every turn, since a sign-in may end in another tab and a membership by another
        hand. The first time makes the user and "{first name}'s Workspace", and accepts invitations.
        Raises SignInError.
        """
        try:
            identity = identify(claims, self.settings, datetime.now(UTC))
            visit = logins.find(self._db, identity, workspace_id)
            if visit is None:
                logins.begin(self._db, identity)
                visit = logins.find(self._db, identity, workspace_id)
        except SignInError as e:
            if e.reason == "refused":
                audit.unscoped_refused(self._db, one_form(str(claims.get("email") or "")))
            raise
        if visit is None:
            raise NotFoundError("Your workspace was removed just now.", "Reload the page.")
        return visit

    def scope_in(self, claims: Mapping[str, object], workspace_id: str) -> Scope:
        """For whom something acts that was meant for one workspace, and comes into no other. Raises
        SignInError, and NotFoundError where it is not theirs, or not any more."""
        scope = self.sign_in(claims, workspace_id).scope
        if scope.workspace_id != workspace_id:
            raise NotFoundError("No such workspace.", "You may have been removed from it.")
        return scope

    def sign_out(self, visit: Visit, *, everywhere: bool = False) -> None:
        """End this sign-in in every tab, or all sign-ins of the user."""
        if everywhere:
            logins.end_all(self._db, visit)
        else:
            logins.end(self._db, visit)

    def choose_workspace(self, visit: Visit, workspace_id: str) -> None:
        """Open this one in new tabs. Raises NotFoundError."""
        logins.remember_workspace(self._db, visit, workspace_id)

    def shared_page(self, token: str) -> bytes | None:
        """The snapshot that a public link shows, for whoever has the link, as a whole page; None
        for every token that opens nothing, and while links are not allowed. Raises StoreError."""
        snapshot = links.unscoped_open(self._db, token) if self.settings.public_links else None
        if snapshot is None:
            return None
        try:
            with self._house.store.blobs.open(*snapshot) as page:
                return page.read()
        except BlobGoneError:
            return None

    # --- what is the same for everybody

    @property
    def changes(self) -> Hub:
        """Where every write is told, to whoever waits in its workspace."""
        return self._db.changes

    def parts(self) -> dict[str, str]:
        """What questions need, and what is wrong with it, empty where it is well: the database, the
        records of runs, where files last, room on the disk. Names nobody and no address."""
        return {
            "database": _wrong(lambda: self._db.read("SELECT 1")),
            "runs": _wrong(lambda: self._house.runs.records(limit=1)),
            "storage": _wrong(self._house.store.blobs.place.check),
            "disk": _wrong(lambda: _write_something(self.settings.home)),
        }

    def load(self) -> Load:
        """How many answers this process writes, and how many questions wait. Reads no store."""
        return self._house.runs.board.load()

    def for_room(self) -> int:
        """How many questions wait for nothing but room in a process, each counted by the one that
        was asked; those that a process left that is gone by the last one alone."""
        try:
            return self._house.runs.for_room()
        except StoreError:
            return self._house.runs.board.for_room()

    # --- the operator's view, which asks for everybody; never a page's (see sessions/operations.py)

    def runs(self, status: str = "", limit: int = 50) -> list[RunRecord]:
        """The newest answers; with `status` (pending, streaming, completed, stopped, error) only
        those."""
        return self._house.runs.records(status, limit)

    def run_steps(self, message_id: str) -> list[StepRecord]:
        """What a run has done so far. Empty once its record was pruned, a day after its end. Raises
        NotFoundError."""
        return self._house.runs.steps(message_id)

    def resume_run(self, message_id: str) -> None:
        """Go on in this process with an unfinished answer that no other writes. Raises
        NotFoundError, RunError."""
        self._house.runs.resume(message_id)

    def usage_of_all(self, range: Range, by: Literal["day", "model", "user"]) -> list[NamedUsage]:
        """Of everybody in all workspaces."""
        return self._house.budgets.operator_usage(range, by)

    def workspaces(self) -> list[WorkspaceRecord]:
        """All workspaces, with who owns them and how much is in them."""
        return operator_lists.unscoped_workspaces(self._db)

    def accounts(self) -> list[AccountRecord]:
        """Everybody who has an account here."""
        return operator_lists.unscoped_accounts(self._db)

    def purge_workspace(self, workspace_id: str) -> bool:
        """Delete a workspace for good, with all that is in it. Returns whether the last byte is
        gone now; else it goes at the next start. Raises NotFoundError."""
        return self._house.remover.unscoped_workspace(workspace_id)

    def purge_account(self, email: str) -> bool:
        """Delete a user for good, with what is theirs alone. Returns as `purge_workspace`. Raises
        NotFoundError, InvalidInputError for the only owner of a workspace with others."""
        return self._house.remover.unscoped_account(email)

    def backup(self, target: Path, *, secrets: bool = False) -> BackupMade:
        """Save everything under a new name, a folder or a `.zip`, while all goes on; connections
        to other services only with `secrets`. Raises InvalidInputError, StoreError."""
        summary = backup(self._house.store, self.settings.home, target, secrets=secrets)
        try:
            audit.note(self._db, OPERATOR, "backup made")
        except StoreError as e:  # that a disk is full is a reason to make one elsewhere
            logging.getLogger("leaf").warning("a backup is not written down: %s", e)
        return summary

    def space(self) -> SpaceUsed:
        """What is used of the disk, by kind."""
        return self._house.store.space.used()

    def audit(self, kind: str = "", email: str = "", limit: int = 50) -> list[AuditLine]:
        """Who did what in all workspaces, newest first; of one kind and about one address if asked.
        Raises InvalidInputError."""
        return audit.unscoped_page(self._db, kind, email, limit)

    def unlink_account(self, email: str) -> bool:
        """Let the next account with this address take its user over."""
        return logins.unscoped_unlink(self._db, email)


def _wrong(act: Callable[[], object]) -> str:
    try:
        act()
    except Exception as e:  # noqa: BLE001 - whatever it is, it is not well
        why = e if isinstance(e, LeafError) else type(e).__name__
        logging.getLogger("leaf").warning("Not well: %s", why)
        return public_reason(e)
    return ""


def _write_something(home: Path) -> None:
    with tempfile.TemporaryFile(dir=home) as file:
        file.write(bytes(ROOM))
        file.flush()

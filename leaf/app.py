"""class Leaf: one application. It starts and stops, knows who signs in, gives them sessions, and shows the operator what runs.

Whatever belongs to somebody is reached through their session, and stands in `leaf.sessions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Literal

from leaf.agent.models.directory import ModelChoice
from leaf.budgets.periods import Range
from leaf.errors import NotFoundError
from leaf.identity import identify
from leaf.runs.records import Load, RunRecord, StepRecord
from leaf.sessions.house import House
from leaf.sessions.session import Session
from leaf.store import logins, users
from leaf.store.changes import Hub
from leaf.store.model import NamedUsage, Scope, Visit


class Leaf:
    """One application over one data folder. Safe to call from any number of threads."""

    def __init__(self, house: House, close: Callable[[], None]) -> None:
        self.settings = house.settings
        self._house = house
        self._db = house.store.db
        self._close = close

    def launch(self) -> None:
        """Go on with unfinished answers and jobs and have children ready now, rather than with the next question.

        Raises StoreError, StoreBusyError.
        """
        self._db.listen()
        self._house.library.warm()
        self._house.runs.launch()
        self._house.jobs.launch()
        if self._house.python is not None:
            self._house.python.warm()

    def close(self) -> None:
        """Let go of runs, which the next start goes on with, end children, close the database. Use the object no more."""
        self._close()

    # --- who

    def session(self, scope: Scope) -> Session:
        """What this user may do in this workspace: the only way to anything that belongs to somebody."""
        return Session(self._house, scope)

    def local_scope(self) -> Scope:
        """The one user of an app without login, and their workspace."""
        return users.ensure_local_user(self._db)

    def sign_in(self, claims: Mapping[str, object], workspace_id: str = "") -> Visit:
        """Who a browser acts for, by the claims of its login; in that workspace if it is theirs, else where they were last.

        Asked at every turn, since a sign-in may end in another tab and a membership by another hand. The first time makes the
        user and "{first name}'s Workspace", and accepts invitations. Raises SignInError.
        """
        identity = identify(claims, self.settings, datetime.now(UTC))
        visit = logins.find(self._db, identity, workspace_id)
        if visit is None:
            logins.begin(self._db, identity)
            visit = logins.find(self._db, identity, workspace_id)
        if visit is None:
            raise NotFoundError("Your workspace was removed just now.", "Reload the page.")
        return visit

    def sign_out(self, visit: Visit, *, everywhere: bool = False) -> None:
        """End this sign-in in every tab, or all sign-ins of the user."""
        if everywhere:
            logins.end_all(self._db, visit)
        else:
            logins.end(self._db, visit)

    def choose_workspace(self, visit: Visit, workspace_id: str) -> None:
        """Open this one in new tabs. Raises NotFoundError."""
        logins.remember_workspace(self._db, visit, workspace_id)

    # --- what is the same for everybody

    @property
    def changes(self) -> Hub:
        """Where every write is told, to whoever waits in its workspace."""
        return self._db.changes

    def models(self) -> list[ModelChoice]:
        """Models that can be chosen, from the server where it says."""
        return self._house.models.choices()

    def default_model(self) -> str:
        """The model for chats that have none of their own."""
        return self._house.models.default()

    def set_default_model(self, model: str) -> None:
        """Kept in the data folder."""
        self._house.models.set_default(model)

    def load(self) -> Load:
        """How many answers this process writes, and how many questions wait. Reads no store."""
        return self._house.runs.load()

    # --- the operator's view, which asks for everybody; never a page's

    def runs(self, status: str = "", limit: int = 50) -> list[RunRecord]:
        """The newest answers; with `status` (pending, streaming, completed, stopped, error) only those."""
        return self._house.runs.records(status, limit)

    def run_steps(self, message_id: str) -> list[StepRecord]:
        """What a run has done so far. Empty once its record was pruned, a day after its end. Raises NotFoundError."""
        return self._house.runs.steps(message_id)

    def resume_run(self, message_id: str) -> None:
        """Go on in this process with an unfinished answer that no other writes. Raises NotFoundError, RunError."""
        self._house.runs.resume(message_id)

    def usage_of_all(self, range: Range, by: Literal["day", "model", "user"]) -> list[NamedUsage]:
        """Of everybody in all workspaces."""
        return self._house.budgets.operator_usage(range, by)

    def unlink_account(self, email: str) -> bool:
        """Let the next account with this address take its user over."""
        return logins.unscoped_unlink(self._db, email)

"""The audit log: who did what, where and when, on which id. Lines are added in the transaction of
what they tell of, never changed, and removed when they are old or with their workspace. They hold
no content: no title, no name of a file, no question."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from leaf.errors import InvalidInputError, NotFoundError
from leaf.settings.mail import one_form
from leaf.store.database import Database, Row, Transaction, now, one_of
from leaf.store.ids import new_id
from leaf.store.model import Scope
from leaf.store.users import MEMBER, params

Kind = Literal["sign-in", "people", "drive", "export", "deletion", "settings", "operation"]
Outcome = Literal["done", "refused"]

ACTIONS: dict[str, Kind] = {
    "signed in": "sign-in",
    "signed out": "sign-in",
    "signed out everywhere": "sign-in",
    "sign-in": "sign-in",  # one that was refused
    "account unlinked": "sign-in",
    "invited": "people",
    "invitation taken back": "people",
    "joined": "people",
    "made owner": "people",
    "made member": "people",
    "removed from workspace": "people",
    "left workspace": "people",
    "brought into chat": "people",
    "taken out of chat": "people",
    "left chat": "people",
    "brought into project": "people",
    "taken out of project": "people",
    "left project": "people",
    "chat shown to project": "people",
    "board shared": "people",
    "board no longer shared": "people",
    "public link made": "people",
    "public link updated": "people",
    "public link revoked": "people",
    "public link first opened": "people",
    "chat opened to members": "people",
    "chat closed to members": "people",
    "joined chat by its link": "people",
    "prompt shared": "people",
    "prompt not shared any more": "people",
    "Drive connected": "drive",
    "Drive disconnected": "drive",
    "chat exported": "export",
    "result exported": "export",
    "chart exported": "export",
    "answer exported": "export",
    "document downloaded": "export",
    "board exported": "export",
    "file downloaded": "export",
    "written file downloaded": "export",
    "usage exported": "export",
    "audit log exported": "export",
    "backup made": "operation",
    "backup restored": "operation",
    "chat deleted": "deletion",
    "chat restored": "deletion",
    "chat deleted for good": "deletion",
    "file deleted": "deletion",
    "file restored": "deletion",
    "file deleted for good": "deletion",
    "board deleted": "deletion",
    "project deleted": "deletion",
    "document deleted": "deletion",
    "document restored": "deletion",
    "shared prompt deleted": "deletion",
    "workspace deleted for good": "deletion",
    "account deleted for good": "deletion",
    "workspace renamed": "settings",
    "budget set": "settings",
    "default model chosen": "settings",
    "model connected": "settings",
    "model disconnected": "settings",
}
"""All that is written down, each with its kind."""
KINDS: tuple[Kind, ...] = (
    "sign-in",
    "people",
    "drive",
    "export",
    "deletion",
    "settings",
    "operation",
)
PAGE = 50
LONGEST_SUBJECT = 254
AGAIN = timedelta(hours=1)
"""A refusal that comes again so soon is not written down again: a page asks at every turn."""


@dataclass(frozen=True)
class AuditLine:
    """One line of the log."""

    id: str
    happened_at: datetime
    workspace_id: str
    user_id: str
    who: str
    """Their address; empty for whoever runs Leaf, and for somebody who has no account any more."""
    action: str
    subject: str
    outcome: Outcome

    @property
    def kind(self) -> Kind:
        """An action of a later version counts as an operation."""
        return ACTIONS.get(self.action, "operation")


def add(
    tx: Transaction, scope: Scope, action: str, subject: str = "", outcome: Outcome = "done"
) -> None:
    """Write a line; `action` is a key of `ACTIONS`."""
    if action not in ACTIONS:
        raise ValueError(action)
    tx.execute(
        "INSERT INTO audit (id, happened_at, workspace_id, user_id, action, subject, outcome) VALUES "
        "(:id, :at, :workspace, :user, :action, :subject, :outcome)",
        params(
            scope,
            id=new_id(),
            at=now(),
            action=action,
            subject=subject[:LONGEST_SUBJECT],
            outcome=outcome,
        ),
    )


def note(db: Database, scope: Scope, action: str, subject: str = "") -> None:
    """A line for what changes nothing in the database, such as a download; none from somebody who
    does not belong to the workspace."""
    with db.transaction(scope) as tx:
        if not scope.workspace_id or tx.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
            add(tx, scope, action, subject)


def unscoped_refused(db: Database, address: str) -> None:
    """A sign-in that was refused, once an hour for each address."""
    values: Row = {"subject": address[:LONGEST_SUBJECT], "since": now() - AGAIN}
    with db.transaction() as tx:
        if not tx.read(
            "SELECT 1 AS yes FROM audit WHERE outcome = 'refused' AND subject = :subject AND "
            "happened_at > :since LIMIT 1",
            values,
        ):
            add(tx, Scope("", ""), "sign-in", address, "refused")


def in_all_workspaces(tx: Transaction, user_id: str, action: str) -> None:
    """A line about a user, for the owners of each of their workspaces."""
    for row in tx.read(
        "SELECT workspace_id FROM workspace_members WHERE user_id = :user", {"user": user_id}
    ):
        add(tx, Scope(str(row["workspace_id"]), user_id), action, user_id)


def page(
    db: Database,
    scope: Scope,
    *,
    kind: str = "",
    user_id: str = "",
    limit: int = PAGE,
    offset: int = 0,
) -> list[AuditLine]:
    """Lines of the workspace, newest first, of one kind and one person if asked. For owners: raises
    InvalidInputError, NotFoundError for a stranger."""
    _check_owner(db, scope)
    condition, values = _wanted(kind, user_id)
    return _read(
        db, f"a.workspace_id = :workspace AND {condition}", params(scope, **values), limit, offset
    )


def count(db: Database, scope: Scope, *, kind: str = "", user_id: str = "") -> int:
    """How many there are. Raises as `page`."""
    _check_owner(db, scope)
    condition, values = _wanted(kind, user_id)
    rows = db.read(
        f"SELECT count(*) AS n FROM audit a WHERE a.workspace_id = :workspace AND {condition}",
        params(scope, **values),
    )
    return int(rows[0]["n"])


def unscoped_page(
    db: Database, kind: str = "", email: str = "", limit: int = PAGE, offset: int = 0
) -> list[AuditLine]:
    """Lines of all workspaces, and of none, newest first. For the operator."""
    condition, values = _wanted_of_all(kind, email)
    return _read(db, condition, values, limit, offset)


def unscoped_count(db: Database, kind: str = "", email: str = "") -> int:
    """How many there are. For the operator."""
    condition, values = _wanted_of_all(kind, email)
    (row,) = db.read(
        "SELECT count(*) AS n FROM audit a LEFT JOIN users u ON u.id = a.user_id "
        f"WHERE {condition}",
        values,
    )
    return int(row["n"])


def unscoped_sweep(db: Database, kept: timedelta) -> None:
    """Remove lines that are older."""
    with db.transaction() as tx:
        tx.execute("DELETE FROM audit WHERE happened_at < :horizon", {"horizon": now() - kept})


def _wanted_of_all(kind: str, email: str) -> tuple[str, Row]:
    condition, values = _wanted(kind, "")
    if not email.strip():
        return condition, values
    values["email"] = one_form(email)
    return f"{condition} AND (u.email = :email OR a.subject = :email)", values


def _wanted(kind: str, user_id: str) -> tuple[str, Row]:
    conditions, values = ["TRUE"], Row()
    if kind:
        if kind not in KINDS:
            raise InvalidInputError(
                f"There is no kind '{kind[:40]}'.", f"Choose {', '.join(KINDS)}."
            )
        those, names = one_of("a.action", [a for a, of in ACTIONS.items() if of == kind])
        conditions.append(those)
        values |= names
    if user_id:
        conditions.append("a.user_id = :person")
        values["person"] = user_id
    return " AND ".join(conditions), values


def _read(db: Database, condition: str, values: Row, limit: int, offset: int) -> list[AuditLine]:
    rows = db.read(
        "SELECT a.id, a.happened_at, a.workspace_id, a.user_id, COALESCE(u.email, '') AS who, a.action, "
        f"a.subject, a.outcome FROM audit a LEFT JOIN users u ON u.id = a.user_id WHERE {condition} "
        "ORDER BY a.happened_at DESC, a.id DESC LIMIT :limit OFFSET :offset",
        {**values, "limit": limit, "offset": offset},
    )
    return [AuditLine(**row) for row in rows]


def _check_owner(db: Database, scope: Scope) -> None:
    rows = db.read(
        "SELECT o.role FROM workspace_members o WHERE o.workspace_id = :workspace AND "
        f"o.user_id = :user AND {MEMBER}",
        params(scope),
    )
    if not rows:
        raise NotFoundError("No such workspace.", "You may have been removed from it.")
    if rows[0]["role"] != "owner":
        raise InvalidInputError(
            "Only an owner of the workspace can read its audit log.", "Ask one of its owners."
        )

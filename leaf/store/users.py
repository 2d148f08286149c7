"""Users, their workspaces, and who may see what. The local user is the only one until logins are
configured; see `logins`."""

from __future__ import annotations

from leaf.errors import NotFoundError
from leaf.settings.mail import one_form
from leaf.store.database import Database, Transaction, now
from leaf.store.ids import new_id
from leaf.store.model import Scope, User

LOCAL_EMAIL = "local"
MEMBER = (
    "EXISTS (SELECT 1 FROM workspace_members m WHERE m.workspace_id = :workspace AND "
    "m.user_id = :user)"
)
"""True where the caller belongs to the workspace on whose behalf it asks."""


def params(scope: Scope, **more: object) -> dict[str, object]:
    """The parameters that every scoped statement has, and its own."""
    return {"workspace": scope.workspace_id, "user": scope.user_id, **more}


def member_of(tx: Transaction, scope: Scope, email: str) -> str:
    """The id of a member of the caller's workspace. Raises NotFoundError."""
    rows = tx.read(
        "SELECT u.id FROM users u JOIN workspace_members o ON o.user_id = u.id "
        "WHERE o.workspace_id = :workspace AND u.email = :email",
        params(scope, email=one_form(email)),
    )
    if not rows:
        raise NotFoundError(
            f"{email.strip()} is not a member of this workspace.",
            "Invite them to it in Settings first.",
        )
    return str(rows[0]["id"])


def ensure_local_user(db: Database) -> Scope:
    """The one user of an installation without logins, made at first use."""
    return ensure_user(db, LOCAL_EMAIL, "You")


def is_local(db: Database, scope: Scope) -> bool:
    """Whether the caller is the one user of an installation without logins."""
    values = {"user": scope.user_id, "email": LOCAL_EMAIL}
    return bool(db.read("SELECT id FROM users WHERE id = :user AND email = :email", values))


def ensure_user(db: Database, email: str, name: str) -> Scope:
    """The user with that address and their own workspace, made at first use; two first visits at
    once make one user."""
    with db.transaction() as tx:
        scope = _find(tx, email)
        if scope is not None:
            return scope
        at = now()
        row = {"id": new_id(), "email": one_form(email), "name": name, "at": at}
        tx.execute(
            "INSERT INTO users (id, email, name, created_at) VALUES (:id, :email, :name, :at) ON "
            "CONFLICT DO NOTHING",
            row,
        )
        # Waits for the other first visit, if there is one, and then finds what that one made.
        scope = _find(tx, email)
        if scope is not None:
            return scope
        return Scope(add_workspace(tx, str(row["id"]), "Workspace"), str(row["id"]))


def add_workspace(tx: Transaction, user_id: str, name: str) -> str:
    """A workspace that belongs to the user; returns its id."""
    row = {"workspace": new_id(), "user": user_id, "name": name, "at": now()}
    tx.execute("INSERT INTO workspaces (id, name, created_at) VALUES (:workspace, :name, :at)", row)
    tx.execute(
        "INSERT INTO workspace_members (workspace_id, user_id, role, created_at) VALUES "
        "(:workspace, :user, 'owner', :at)",
        row,
    )
    return str(row["workspace"])


def get_user(db: Database, scope: Scope) -> User:
    """Raises NotFoundError if the user is not a member of the workspace."""
    rows = db.read(
        f"SELECT id, email, name, created_at FROM users WHERE id = :user AND {MEMBER}",
        params(scope),
    )
    if not rows:
        raise NotFoundError("No such user in this workspace.", "Sign in again.")
    return User(**rows[0])


def _find(tx: Transaction, email: str) -> Scope | None:
    rows = tx.read(
        "SELECT w.workspace_id, u.id FROM users u JOIN workspace_members w ON w.user_id = u.id "
        "WHERE u.email = :email ORDER BY w.created_at LIMIT 1",
        {"email": one_form(email)},
    )
    return Scope(str(rows[0]["workspace_id"]), str(rows[0]["id"])) if rows else None

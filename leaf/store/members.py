"""Who belongs to a workspace: members with their roles, invitations by address. Owners invite and
remove; anyone may leave."""

from __future__ import annotations

import re

from leaf.errors import InvalidInputError, NotFoundError
from leaf.settings.mail import is_plain, one_form
from leaf.store import audit, messages, projects
from leaf.store.database import Database, Transaction, now
from leaf.store.ids import new_id
from leaf.store.model import Invitation, Member, Membership, Role, Scope
from leaf.store.users import MEMBER, params

NAME_LENGTH = 80
_ADDRESS = re.compile(r"[^@\s\x00-\x1f]+@[^@\s\x00-\x1f.][^@\s\x00-\x1f]*")


def clean_address(email: str) -> str:
    """In the one form of it. Raises InvalidInputError for what cannot be an e-mail address."""
    address = one_form(email)
    if not _ADDRESS.fullmatch(address) or len(address) > 254 or not is_plain(email.strip()):
        raise InvalidInputError(
            f"'{address[:80]}' is not an e-mail address.", "Write it like ann@example.org."
        )
    return address


def memberships(db: Database, scope: Scope) -> list[Membership]:
    """The caller's workspaces, oldest membership first."""
    rows = db.read(
        "SELECT w.id AS workspace_id, w.name, m.role FROM workspace_members m JOIN workspaces w "
        "ON w.id = m.workspace_id "
        "WHERE m.user_id = :user ORDER BY m.created_at, w.id",
        params(scope),
    )
    return [Membership(**row) for row in rows]


def list_members(db: Database, scope: Scope) -> list[Member]:
    """Everybody in the workspace, oldest first; nobody for a caller who is not."""
    rows = db.read(
        "SELECT u.id AS user_id, u.email, u.name, o.role, o.created_at AS since FROM "
        "workspace_members o "
        f"JOIN users u ON u.id = o.user_id WHERE o.workspace_id = :workspace AND {MEMBER} ORDER "
        f"BY o.created_at, u.id",
        params(scope),
    )
    return [Member(**row) for row in rows]


def list_invitations(db: Database, scope: Scope) -> list[Invitation]:
    """Those that wait to be accepted."""
    rows = db.read(
        "SELECT i.id, i.email, u.name AS invited_by, i.created_at FROM invitations i JOIN users u "
        "ON u.id = i.user_id "
        f"WHERE i.workspace_id = :workspace AND {MEMBER} ORDER BY i.created_at, i.id",
        params(scope),
    )
    return [Invitation(**row) for row in rows]


def invite(db: Database, scope: Scope, email: str) -> None:
    """Let whoever owns the address join at their next sign-in. Doing it twice is one invitation.

    Raises InvalidInputError for a wrong address, a member's address, or a caller who is no owner;
    NotFoundError.
    """
    address = clean_address(email)
    with db.transaction(scope) as tx:
        _hold(tx, scope, owner=True)
        if tx.read(
            "SELECT 1 AS yes FROM workspace_members o JOIN users u ON u.id = o.user_id "
            "WHERE o.workspace_id = :workspace AND u.email = :email",
            params(scope, email=address),
        ):
            raise InvalidInputError(f"{address} is a member already.")
        tx.execute(
            "INSERT INTO invitations (id, workspace_id, email, user_id, created_at) VALUES (:id, "
            ":workspace, :email, :user, :at) "
            "ON CONFLICT DO NOTHING",
            params(scope, id=new_id(), email=address, at=now()),
        )
        audit.add(tx, scope, "invited", address)


def withdraw(db: Database, scope: Scope, invitation_id: str) -> None:
    """Take an invitation back. Raises NotFoundError, and InvalidInputError for a caller who is no
    owner."""
    with db.transaction(scope) as tx:
        _hold(tx, scope, owner=True)
        if not tx.read(
            "DELETE FROM invitations WHERE id = :id AND workspace_id = :workspace RETURNING id",
            params(scope, id=invitation_id),
        ):
            raise NotFoundError("No such invitation.", "It may have been accepted or taken back.")
        audit.add(tx, scope, "invitation taken back", invitation_id)


def set_role(db: Database, scope: Scope, user_id: str, role: Role) -> None:
    """Raises NotFoundError; InvalidInputError for a caller who is no owner, or where no owner would
    be left."""
    with db.transaction(scope) as tx:
        _hold(tx, scope, owner=True)
        _member(tx, scope, user_id)
        if role != "owner":
            _check_owner_left(tx, scope, user_id)
        tx.execute(
            "UPDATE workspace_members SET role = :role WHERE workspace_id = :workspace AND "
            "user_id = :member",
            params(scope, role=role, member=user_id),
        )
        audit.add(tx, scope, f"made {role}", user_id)


def rename(db: Database, scope: Scope, name: str) -> None:
    """Raises InvalidInputError for an empty name or a caller who is no owner; NotFoundError."""
    name = " ".join(name.split())[:NAME_LENGTH]
    if not name:
        raise InvalidInputError("A workspace needs a name.", "Type at least one letter.")
    with db.transaction(scope) as tx:
        _hold(tx, scope, owner=True)
        tx.execute(
            "UPDATE workspaces SET name = :name WHERE id = :workspace", params(scope, name=name)
        )
        audit.add(tx, scope, "workspace renamed", scope.workspace_id)


def remove(db: Database, scope: Scope, user_id: str) -> list[str]:
    """End a membership at once, the caller's own too; returns the ids of answers that were being
    written for them.

    They leave the chats and projects that they shared with others. Those that were theirs alone are
    kept, unseen, and are there again if they come back. Raises NotFoundError; InvalidInputError for a
    caller who is no owner, or where no owner would be left.
    """
    with db.transaction(scope) as tx:
        _hold(tx, scope, owner=user_id != scope.user_id)
        _member(tx, scope, user_id)
        _check_owner_left(tx, scope, user_id)
        stopped = messages.stop_unfinished(tx, scope, user_id)
        values = params(scope, member=user_id)
        tx.execute(
            "DELETE FROM workspace_members WHERE workspace_id = :workspace AND user_id = :member",
            values,
        )
        tx.execute(
            "DELETE FROM chat_participants WHERE user_id = :member AND chat_id IN ("
            "SELECT c.id FROM chats c JOIN chat_participants q ON q.chat_id = c.id "
            "WHERE c.workspace_id = :workspace AND q.user_id <> :member)",
            values,
        )
        projects.forget_member(tx, scope.workspace_id, user_id)
        left = user_id == scope.user_id
        audit.add(tx, scope, "left workspace" if left else "removed from workspace", user_id)
    return stopped


def _hold(tx: Transaction, scope: Scope, *, owner: bool) -> None:
    """Check the caller, and keep other changes of this workspace's members waiting on PostgreSQL
    until this one is done."""
    if not tx.read(
        f"UPDATE workspaces SET name = name WHERE id = :workspace AND {MEMBER} RETURNING id",
        params(scope),
    ):
        raise NotFoundError("No such workspace.", "You may have been removed from it.")
    if owner and _member(tx, scope, scope.user_id) != "owner":
        raise InvalidInputError(
            "Only an owner of the workspace can do that.", "Ask one of its owners."
        )


def _member(tx: Transaction, scope: Scope, user_id: str) -> str:
    """The role of a member. Raises NotFoundError."""
    rows = tx.read(
        "SELECT role FROM workspace_members WHERE workspace_id = :workspace AND user_id = :member",
        params(scope, member=user_id),
    )
    if not rows:
        raise NotFoundError("No such member of this workspace.", "They may have left.")
    return str(rows[0]["role"])


def _check_owner_left(tx: Transaction, scope: Scope, user_id: str) -> None:
    if not tx.read(
        "SELECT 1 AS yes FROM workspace_members WHERE workspace_id = :workspace AND role = "
        "'owner' AND user_id <> :member",
        params(scope, member=user_id),
    ):
        raise InvalidInputError("A workspace needs an owner.", "Make somebody else an owner first.")

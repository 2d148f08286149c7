"""Deleting an account for good: what is theirs alone goes with it, what they shared stays with the
others."""

from __future__ import annotations

from dataclasses import dataclass

from leaf.errors import InvalidInputError, NotFoundError
from leaf.settings.mail import one_form
from leaf.store import link_rows, logins, messages, projects
from leaf.store.database import Database, Row, Transaction
from leaf.store.model import Scope
from leaf.store.removal import Gone, column, remove_chat, remove_workspace
from leaf.store.results import OUTSIDE

PERSONAL_TABLES = (
    "integrations",
    "oauth_states",
    "drive_files",
    "drive_folders",
    "drive_changes",
    "drive_tokens",
    "jobs",
    "file_contexts",
    "boards",
    "board_pins",
    "shared_links",
    "shared_link_chats",
    "open_chats",
    "prompts",
    "project_members",
    "invitations",
    "chat_participants",
    "workspace_members",
    "identities",
    "preferences",
)
"""Those whose rows are one person's, wherever they stand. What was used stays counted, under an id
that is nobody's any more; what was asked in chats with others stays in these chats."""


@dataclass(frozen=True)
class AccountGone:
    """An account that is deleted."""

    user_id: str
    """Which lines of the audit log keep."""
    gone: list[Gone]
    stopped: list[str]
    """Answers in chats with others that were being written for them, or waited."""


def remove_account(tx: Transaction, email: str) -> AccountGone:
    """Delete a user: the workspaces that nobody else belongs to, their own chats in others, those
    included that they were removed from before, and all that says who they are, as the public links
    of others do whose page names them. Answers that they wait for elsewhere get an end.

    Raises NotFoundError, and InvalidInputError where others would be left without an owner.
    """
    rows = tx.read("SELECT id, email FROM users WHERE email = :email", {"email": one_form(email)})
    if not rows:
        raise NotFoundError(
            f"Nobody here has the address {email}.", "See: python -m leaf users list"
        )
    user = {"user": str(rows[0]["id"]), "email": str(rows[0]["email"])}
    alone, shared = _memberships(tx, user)
    removals = [remove_workspace(tx, workspace_id) for workspace_id in alone]
    stopped: list[str] = []
    for workspace_id in shared:
        stopped += messages.stop_unfinished(tx, Scope(workspace_id, ""), user["user"])
        shared_by_links = link_rows.forget_maker(tx, workspace_id, user["user"])
        gone = Gone(workspace_id, hashes=tuple(shared_by_links))
        for chat_id in _chats_of_one(tx, workspace_id, user):
            gone += remove_chat(tx, workspace_id, chat_id)
        removals.append(gone)
    named = link_rows.forget_named(tx, user["user"])
    removals += [Gone(workspace_id, hashes=(sha256,)) for workspace_id, sha256 in named]
    jobs = "SELECT id FROM jobs WHERE user_id = :user"
    tx.execute(f"DELETE FROM job_items WHERE job_id IN ({jobs})", user)
    outside = {"chat": f"{OUTSIDE}:{user['user']}"}
    for table in ("results", "result_numbers"):
        tx.execute(f"DELETE FROM {table} WHERE chat_id = :chat", outside)
    for table in PERSONAL_TABLES:
        tx.execute(f"DELETE FROM {table} WHERE user_id = :user", user)
    logins.forget_whose(tx, user["user"])
    for workspace_id in shared:
        projects.remove_nobodys(tx, workspace_id)
    tx.execute("DELETE FROM invitations WHERE email = :email", user)
    tx.execute("DELETE FROM budgets WHERE subject = :user", user)
    tx.execute("DELETE FROM audit WHERE subject = :email", user)
    tx.execute("DELETE FROM users WHERE id = :user", user)
    return AccountGone(user["user"], removals, stopped)


def unscoped_nobodys(db: Database) -> list[tuple[str, str]]:
    """Workspace and id of chats in which nobody is: nobody can open, restore or delete them. Earlier
    versions left those of an account that was removed from its workspace before it was purged."""
    rows = db.read(
        "SELECT c.workspace_id, c.id FROM chats c WHERE NOT EXISTS (SELECT 1 FROM "
        "chat_participants p WHERE p.chat_id = c.id)"
    )
    return [(str(row["workspace_id"]), str(row["id"])) for row in rows]


def _memberships(tx: Transaction, user: Row) -> tuple[list[str], list[str]]:
    """The user's workspaces: those that are theirs alone, and those in which others are and
    something of theirs. They may have left one of these, or been removed: their chats stayed."""
    rows = tx.read(
        """
        SELECT m.workspace_id, w.name,
            (SELECT count(*) FROM workspace_members o WHERE o.workspace_id = m.workspace_id) AS members,
            (SELECT count(*) FROM workspace_members o
                WHERE o.workspace_id = m.workspace_id AND o.role = 'owner' AND o.user_id <> :user) AS owners
        FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id WHERE m.user_id = :user
        """,
        user,
    )
    for row in rows:
        if row["members"] > 1 and not row["owners"]:
            raise InvalidInputError(
                f"{user['email']} is the only owner of '{row['name']}', which others belong to.",
                "Make somebody else an owner first, or purge that workspace.",
            )
    alone = [str(row["workspace_id"]) for row in rows if row["members"] == 1]
    shared = [str(row["workspace_id"]) for row in rows if row["members"] > 1]
    left = column(
        tx,
        "SELECT c.workspace_id AS id FROM chats c JOIN chat_participants p ON p.chat_id = c.id "
        "WHERE p.user_id = :user UNION SELECT workspace_id FROM shared_links WHERE user_id = :user",
        user,
    )
    return alone, [*shared, *(one for one in left if one not in {*alone, *shared})]


def _chats_of_one(tx: Transaction, workspace_id: str, user: Row) -> list[str]:
    """Chats of a workspace in which this user takes part and nobody else."""
    return column(
        tx,
        """
        SELECT c.id FROM chats c JOIN chat_participants p ON p.chat_id = c.id AND p.user_id = :user
        WHERE c.workspace_id = :workspace AND NOT EXISTS (
            SELECT 1 FROM chat_participants o WHERE o.chat_id = c.id AND o.user_id <> :user)
        """,
        {"workspace": workspace_id, "user": user["user"]},
    )

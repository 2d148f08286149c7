"""Which chats are in a project, and who sees them by it.

Whoever takes part in a chat of a project is in the project. A chat is seen by everybody there from
its first question on; when it leaves, only those stay in it who took part before it came.
"""

from __future__ import annotations

from collections.abc import Sequence

from leaf.errors import InvalidInputError, NotFoundError
from leaf.store import audit, chats, messages
from leaf.store.database import Database, Transaction, now
from leaf.store.model import Chat, Scope
from leaf.store.seniority import after_all
from leaf.store.users import MEMBER, params

_IN_IT = (
    "EXISTS (SELECT 1 FROM project_members i WHERE i.project_id = k.project_id AND "
    "i.user_id = :user)"
)


def list_chats(
    db: Database, scope: Scope, project_id: str, *, limit: int, offset: int = 0
) -> list[Chat]:
    """Chats of a project in which something was asked, newest activity first; none where the
    caller is not in it."""
    rows = db.read(
        f"SELECT {chats.COLUMNS} FROM chats c JOIN project_chats k ON k.chat_id = c.id "
        f"WHERE k.project_id = :project AND c.deleted_at IS NULL AND c.head_id <> '' "
        f"AND {_IN_IT} AND {chats.VISIBLE} "
        "ORDER BY c.updated_at DESC, c.id DESC LIMIT :limit OFFSET :offset",
        params(scope, project=project_id, limit=limit, offset=offset),
    )
    return [Chat(**row) for row in rows]


def ids(tx: Transaction, project_id: str) -> list[str]:
    """All of them, deleted and empty ones too. For projects that the caller was found to be in."""
    rows = tx.read(
        "SELECT chat_id FROM project_chats WHERE project_id = :project ORDER BY chat_id",
        {"project": project_id},
    )
    return [str(row["chat_id"]) for row in rows]


def begin(db: Database, scope: Scope, project_id: str, model: str) -> Chat:
    """A chat of the project without a question, in which the caller alone takes part until there is
    one: theirs that is there already, else a new one. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        hold(tx, project_id)
        _members(tx, scope, project_id)
        rows = tx.read(
            f"SELECT {chats.COLUMNS} FROM chats c JOIN project_chats k ON k.chat_id = c.id WHERE "
            "k.project_id = :project AND c.head_id = '' AND c.deleted_at IS NULL AND "
            f"c.user_id = :user AND c.title = '' AND {chats.VISIBLE} ORDER BY c.id DESC LIMIT 1",
            params(scope, project=project_id),
        )
        if rows:
            return Chat(**rows[0])
        chat = chats.create_in(tx, scope, model=model)
        _enter(tx, scope, project_id, chat.id, [scope.user_id])
    return chat


def show(db: Database, scope: Scope, chat_id: str) -> None:
    """Something is asked for the first time in a chat: everybody of its project sees it from now
    on. Nothing for a chat in no project. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        chats.hold_row(tx, chat_id)
        project_id = project_of(tx, chat_id)
        if project_id:
            hold(tx, project_id)
            chats.get(tx, scope, chat_id)
            there = _participants(tx, chat_id)
            _bring_in(tx, chat_id, [m for m in _all_members(tx, project_id) if m not in there])


def show_all_to(tx: Transaction, project_id: str, user_id: str) -> None:
    """Somebody came into the project."""
    for row in tx.read(
        "SELECT c.id FROM chats c JOIN project_chats k ON k.chat_id = c.id WHERE "
        "k.project_id = :project AND c.head_id <> ''",
        {"project": project_id},
    ):
        _bring_in(tx, str(row["id"]), [user_id])


def close_to(tx: Transaction, scope: Scope, project_id: str, user_id: str) -> list[str]:
    """Somebody leaves the project, and with them the chats whose host they are. Returns ids of
    answers that were being written for who sees their chat no more."""
    stopped: list[str] = []
    for chat_id in ids(tx, project_id):
        there = _participants(tx, chat_id)
        if user_id not in there:
            continue
        if chats.host_of(tx, chat_id)[0] == user_id:
            stopped += take_out(tx, scope, chat_id)
        else:
            stopped += _let_go(tx, scope, chat_id, [user_id])
    return stopped


def newcomers(db: Database | Transaction, scope: Scope, chat_id: str, project_id: str) -> list[str]:
    """Names of who would see the chat, if it were moved there, and does not now. Raises
    NotFoundError."""
    chats.get(db, scope, chat_id)
    _members(db, scope, project_id)
    rows = db.read(
        "SELECT u.name FROM project_members n JOIN users u ON u.id = n.user_id WHERE "
        "n.project_id = :project AND NOT EXISTS (SELECT 1 FROM chat_participants s WHERE "
        "s.chat_id = :chat AND s.user_id = n.user_id) ORDER BY n.created_at, u.id",
        {"project": project_id, "chat": chat_id},
    )
    return [str(row["name"]) for row in rows]


def move(
    db: Database, scope: Scope, chat_id: str, project_id: str, *, shown: bool = False
) -> list[str]:
    """Put a chat into a project, or, with no id, into none. Returns the ids of answers that were
    being written for who sees it no more.

    `shown`: the person knows that others will see it. Raises NotFoundError; InvalidInputError for
    one who is not its host, for a chat with people who are not in the project, and without `shown`
    where others would see it.
    """
    with db.transaction(scope) as tx:
        chats.check_host(tx, scope, chat_id, "move it")
        chats.hold(tx, scope, chat_id, chats.get(tx, scope, chat_id).updated_at)
        before = project_of(tx, chat_id)
        if before == project_id:
            return []
        stay = _stay(tx, chat_id)
        if not project_id:
            return take_out(tx, scope, chat_id)
        hold(tx, project_id)
        members = _members(tx, scope, project_id)
        if any(one not in members for one in stay):
            raise InvalidInputError(
                "Somebody in this chat is not in the project.",
                "Bring them into the project, or take them out of the chat, first.",
            )
        there = _participants(tx, chat_id)
        if not shown and any(one not in there for one in members):
            raise InvalidInputError(
                "Everybody in that project would see this chat.", "Confirm that they may."
            )
        stopped = _let_go(tx, scope, chat_id, [one for one in there if one not in members])
        tx.execute("DELETE FROM project_chats WHERE chat_id = :chat", {"chat": chat_id})
        _enter(tx, scope, project_id, chat_id, stay)
        _close(tx, scope, chat_id)
        new = [one for one in members if one not in there]
        _bring_in(tx, chat_id, new)
        if new:
            audit.add(tx, scope, "chat shown to project", f"{chat_id} {project_id}")
    return stopped


def take_out(tx: Transaction, scope: Scope, chat_id: str) -> list[str]:
    """The chat leaves its project, and those leave it who came by the project. Who calls has
    checked who asks."""
    stay, there = _stay(tx, chat_id), _participants(tx, chat_id)
    stopped = _let_go(tx, scope, chat_id, [one for one in there if one not in stay])
    tx.execute("DELETE FROM project_chats WHERE chat_id = :chat", {"chat": chat_id})
    return stopped


def check_may_join(tx: Transaction, chat_id: str, user_id: str) -> None:
    """Raises InvalidInputError for somebody who is not in the project of the chat, which the caller
    holds."""
    hold(tx, project_of(tx, chat_id))
    if tx.read(
        "SELECT 1 AS yes FROM project_chats k WHERE k.chat_id = :chat AND NOT EXISTS (SELECT 1 "
        "FROM project_members n WHERE n.project_id = k.project_id AND n.user_id = :member)",
        {"chat": chat_id, "member": user_id},
    ):
        raise InvalidInputError(
            "This chat is in a project that they are not in.",
            "Bring them into the project, or move the chat out of it, first.",
        )


def hold(tx: Transaction, project_id: str) -> None:
    """Keep other changes of a project waiting on PostgreSQL: who is in it stays so until whoever was
    found there is in its chats. Who holds a chat as well has held that before."""
    tx.execute("UPDATE projects SET title = title WHERE id = :project", {"project": project_id})


def project_of(tx: Transaction, chat_id: str) -> str:
    """The project in which a chat is; empty for none."""
    rows = tx.read("SELECT project_id FROM project_chats WHERE chat_id = :chat", {"chat": chat_id})
    return str(rows[0]["project_id"]) if rows else ""


def _all_members(db: Database | Transaction, project_id: str) -> list[str]:
    rows = db.read(
        "SELECT user_id FROM project_members WHERE project_id = :project ORDER BY created_at, user_id",
        {"project": project_id},
    )
    return [str(row["user_id"]) for row in rows]


def _members(db: Database | Transaction, scope: Scope, project_id: str) -> list[str]:
    """Who is in a project that the caller is in. Raises NotFoundError."""
    member_ids = _all_members(db, project_id)
    mine = db.read(
        "SELECT 1 AS yes FROM projects WHERE id = :project AND workspace_id = :workspace "
        f"AND {MEMBER}",
        params(scope, project=project_id),
    )
    if not mine or scope.user_id not in member_ids:
        raise NotFoundError("No such project.", "It may have been deleted, or you are not in it.")
    return member_ids


def _participants(tx: Transaction, chat_id: str) -> list[str]:
    rows = tx.read(
        "SELECT user_id FROM chat_participants WHERE chat_id = :chat ORDER BY created_at, user_id",
        {"chat": chat_id},
    )
    return [str(row["user_id"]) for row in rows]


def _stay(tx: Transaction, chat_id: str) -> list[str]:
    """Who takes part in the chat whether or not it is in its project; its host where nobody is left
    of these."""
    there = _participants(tx, chat_id)
    rows = tx.read("SELECT people FROM project_chats WHERE chat_id = :chat", {"chat": chat_id})
    if not rows:
        return there
    return [one for one in there if one in rows[0]["people"]] or there[:1]


def _enter(
    tx: Transaction, scope: Scope, project_id: str, chat_id: str, people: Sequence[str]
) -> None:
    tx.execute(
        "INSERT INTO project_chats (chat_id, project_id, workspace_id, people, created_at) VALUES "
        "(:chat, :project, :workspace, :people, :at)",
        params(scope, chat=chat_id, project=project_id, people=list(people), at=now()),
    )
    tx.execute(
        "UPDATE projects SET used_at = :at WHERE id = :project",
        {"at": now(), "project": project_id},
    )


def _close(tx: Transaction, scope: Scope, chat_id: str) -> None:
    """People come into it by the project alone; nor does it stand open again once it has left."""
    values = {"chat": chat_id}
    if tx.read("DELETE FROM open_chats WHERE chat_id = :chat RETURNING chat_id", values):
        audit.add(tx, scope, "chat closed to members", chat_id)


def _bring_in(tx: Transaction, chat_id: str, user_ids: Sequence[str]) -> None:
    """After everybody who is there: the host stays the host. Whoever was in the chat before it came, and
    left it or was taken out since, is there by the project alone now."""
    at = after_all(tx, "chat_participants", chat_id)
    new = [
        user_id
        for user_id in user_ids
        if tx.read(
            "INSERT INTO chat_participants (chat_id, user_id, created_at) VALUES (:chat, :member, "
            ":at) ON CONFLICT DO NOTHING RETURNING user_id",
            {"chat": chat_id, "member": user_id, "at": at},
        )
    ]
    for row in tx.read("SELECT people FROM project_chats WHERE chat_id = :id", {"id": chat_id}):
        stay = [one for one in row["people"] if one not in new]
        if stay != row["people"]:
            tx.execute(
                "UPDATE project_chats SET people = :people WHERE chat_id = :id",
                {"people": stay, "id": chat_id},
            )


def _let_go(tx: Transaction, scope: Scope, chat_id: str, user_ids: Sequence[str]) -> list[str]:
    stopped: list[str] = []
    for user_id in user_ids:
        stopped += messages.stop_unfinished(tx, scope, user_id, chat_id)
        tx.execute(
            "DELETE FROM chat_participants WHERE chat_id = :chat AND user_id = :member",
            {"chat": chat_id, "member": user_id},
        )
    return stopped

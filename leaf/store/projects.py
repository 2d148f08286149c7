"""Projects: chats and files that belong together, with instructions for the model.

A project is for who is in it, and for nobody else of its workspace: its maker at first, then those
whom its host brings in. Its host is who has been in it longest; they alone change it. Which chats
are in it, and who sees these, is `project_chats`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from leaf.errors import InvalidInputError, NotFoundError
from leaf.store import audit, file_rows, files, project_chats
from leaf.store.database import Database, Transaction, composed, now, searched
from leaf.store.ids import new_id
from leaf.store.model import File, Participant, Scope
from leaf.store.seniority import after_all
from leaf.store.users import MEMBER, member_of, params

TITLE_LENGTH = 120
INSTRUCTIONS_LENGTH = 4_000
"""Characters: about a thousand tokens, once in each chat."""
MOST_PROJECTS = 500
"""In which one person is, in a workspace."""
MOST_FILES = 100
"""Of one project."""
_FROM = "FROM projects p JOIN project_members q ON q.project_id = p.id AND q.user_id = :user"
_SEEN = f"p.workspace_id = :workspace AND {MEMBER}"
_PROJECT = """
    p.id, p.title, p.instructions, p.created_at, p.used_at,
    (SELECT count(*) FROM project_members n WHERE n.project_id = p.id) AS people,
    NOT EXISTS (SELECT 1 FROM project_members e WHERE e.project_id = p.id AND
        (e.created_at < q.created_at OR (e.created_at = q.created_at AND e.user_id < q.user_id))) AS own
"""


@dataclass(frozen=True)
class Project:
    """A project that the caller is in."""

    id: str
    title: str
    instructions: str
    """What the model is told in each of its chats; empty for nothing."""
    created_at: datetime
    used_at: datetime
    people: int
    """How many are in it."""
    own: bool
    """Whether the caller is its host, and may change it."""

    @property
    def shared(self) -> bool:
        """Whether others see it and its chats."""
        return self.people > 1


def list_projects(
    db: Database, scope: Scope, *, query: str = "", limit: int = MOST_PROJECTS
) -> list[Project]:
    """Those that the caller is in, the one used last first; with a query, those in whose title all
    its words occur."""
    words = searched(query).split()[:10]
    having = "".join(f" AND strpos(lower(p.title), :word{i}) > 0" for i in range(len(words)))
    values = params(scope, limit=limit, **{f"word{i}": word for i, word in enumerate(words)})
    rows = db.read(
        f"SELECT {_PROJECT} {_FROM} WHERE {_SEEN}{having} "
        "ORDER BY p.used_at DESC, p.id DESC LIMIT :limit",
        values,
    )
    return [Project(**row) for row in rows]


def get(db: Database | Transaction, scope: Scope, project_id: str) -> Project:
    """Raises NotFoundError, also for one that the caller is not in."""
    rows = db.read(
        f"SELECT {_PROJECT} {_FROM} WHERE p.id = :project AND {_SEEN}",
        params(scope, project=project_id),
    )
    if not rows:
        raise NotFoundError("No such project.", "It may have been deleted, or you are not in it.")
    return Project(**rows[0])


def of_chat(db: Database | Transaction, scope: Scope, chat_id: str) -> Project | None:
    """The project of a chat; None for one in none, and where the caller is not in it."""
    rows = db.read(
        f"SELECT {_PROJECT} {_FROM} JOIN project_chats k ON k.project_id = p.id "
        f"WHERE k.chat_id = :chat AND {_SEEN}",
        params(scope, chat=chat_id),
    )
    return Project(**rows[0]) if rows else None


def create(db: Database, scope: Scope, title: str) -> Project:
    """One in which the caller alone is. Raises NotFoundError for one who is not of the workspace,
    InvalidInputError for an empty title and for too many."""
    values = params(scope, id=new_id(), title=_titled(title), at=now())
    with db.transaction(scope) as tx:
        if not tx.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
            raise NotFoundError("No such workspace.", "Sign in again.")
        _check_room(tx, scope)
        tx.execute(
            "INSERT INTO projects (id, workspace_id, user_id, title, instructions, created_at, "
            "used_at) VALUES (:id, :workspace, :user, :title, '', :at, :at)",
            values,
        )
        tx.execute(
            "INSERT INTO project_members (project_id, workspace_id, user_id, created_at) "
            "VALUES (:id, :workspace, :user, :at)",
            values,
        )
        return get(tx, scope, str(values["id"]))


def rename(db: Database, scope: Scope, project_id: str, title: str) -> None:
    """Raises NotFoundError, InvalidInputError for an empty title and for one who is not its
    host."""
    with db.transaction(scope) as tx:
        _hold(tx, scope, project_id, "rename it")
        values = {"title": _titled(title), "project": project_id}
        tx.execute("UPDATE projects SET title = :title WHERE id = :project", values)


def instruct(db: Database, scope: Scope, project_id: str, text: str) -> None:
    """What the model is told from the next question on. Raises NotFoundError, InvalidInputError
    for a text that is too long and for one who is not its host."""
    clean = text.strip()
    if len(clean) > INSTRUCTIONS_LENGTH:
        raise InvalidInputError(
            f"The instructions have {len(clean):,} characters; {INSTRUCTIONS_LENGTH:,} is the most.",
            "Keep what is longer in a file of the project.",
        )
    with db.transaction(scope) as tx:
        _hold(tx, scope, project_id, "change its instructions")
        values = {"text": clean, "project": project_id}
        tx.execute("UPDATE projects SET instructions = :text WHERE id = :project", values)


def use(db: Database, scope: Scope, project_id: str) -> None:
    """It was used just now. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        get(tx, scope, project_id)
        tx.execute(
            "UPDATE projects SET used_at = :at WHERE id = :project",
            {"at": now(), "project": project_id},
        )


def delete_in(tx: Transaction, scope: Scope, project_id: str) -> list[str]:
    """For good. Its chats stay with who took part in them before, its files in the library.
    Returns the ids of answers that were being written for others. Raises NotFoundError,
    InvalidInputError for one who is not its host."""
    _hold(tx, scope, project_id, "delete it")
    stopped: list[str] = []
    for chat_id in project_chats.ids(tx, project_id):
        stopped += project_chats.take_out(tx, scope, chat_id)
    remove_rows(tx, ":project", {"project": project_id})
    audit.add(tx, scope, "project deleted", project_id)
    return stopped


def remove_rows(tx: Transaction, those: str, given: dict[str, object]) -> None:
    """Delete all rows of projects; `those` is SQL that gives their ids. Who calls has checked who
    asks."""
    for table in ("project_files", "project_chats", "project_members"):
        tx.execute(f"DELETE FROM {table} WHERE project_id IN ({those})", given)
    tx.execute(f"DELETE FROM projects WHERE id IN ({those})", given)


def remove_nobodys(tx: Transaction, workspace_id: str) -> None:
    """Those that nobody is in any more."""
    those = "SELECT p.id FROM projects p WHERE p.workspace_id = :workspace AND NOT EXISTS "
    those += "(SELECT 1 FROM project_members n WHERE n.project_id = p.id)"
    remove_rows(tx, those, {"workspace": workspace_id})


# --- files


def list_files(db: Database | Transaction, scope: Scope, project_id: str) -> list[File]:
    """In the order in which they came, without deleted ones. Raises NotFoundError."""
    get(db, scope, project_id)
    rows = db.read(
        f"SELECT {file_rows.COLUMNS} FROM files f JOIN project_files k ON k.file_id = f.id "
        f"WHERE k.project_id = :project AND f.deleted_at IS NULL AND {file_rows.VISIBLE} "
        "ORDER BY k.created_at, f.id",
        params(scope, project=project_id),
    )
    return [File(**row) for row in rows]


def add_files(db: Database, scope: Scope, project_id: str, file_ids: Sequence[str]) -> None:
    """Each of its chats to come has them from the start. Raises NotFoundError, InvalidInputError
    for too many, for the text of a document, and for one who is not its host."""
    with db.transaction(scope) as tx:
        _hold(tx, scope, project_id, "change its files")
        there = {file.id for file in list_files(tx, scope, project_id)}
        new = files.get_all(tx, scope, [i for i in dict.fromkeys(file_ids) if i not in there])
        for file in new:
            if file.source == "generated":
                raise InvalidInputError(
                    f"“{file.name}” is a document that belongs to its chat.",
                    "Download it, and add it as a file.",
                )
        if len(there) + len(new) > MOST_FILES:
            raise InvalidInputError(
                f"A project takes {MOST_FILES} files.", "Remove some, or add an archive of them."
            )
        for file in new:
            tx.execute(
                "INSERT INTO project_files (project_id, workspace_id, file_id, created_at) "
                "VALUES (:project, :workspace, :file, :at) ON CONFLICT DO NOTHING",
                params(scope, project=project_id, file=file.id, at=now()),
            )


def remove_file(db: Database, scope: Scope, project_id: str, file_id: str) -> None:
    """Chats that have it keep it. Raises NotFoundError, InvalidInputError for one who is not its
    host."""
    with db.transaction(scope) as tx:
        _hold(tx, scope, project_id, "change its files")
        tx.execute(
            "DELETE FROM project_files WHERE project_id = :project AND file_id = :file",
            {"project": project_id, "file": file_id},
        )


# --- people


def list_members(db: Database | Transaction, scope: Scope, project_id: str) -> list[Participant]:
    """The host first. Raises NotFoundError."""
    get(db, scope, project_id)
    rows = db.read(
        "SELECT u.id AS user_id, u.email, u.name FROM project_members n JOIN users u ON u.id = "
        "n.user_id WHERE n.project_id = :project ORDER BY n.created_at, u.id",
        {"project": project_id},
    )
    return [Participant(**row, host=i == 0) for i, row in enumerate(rows)]


def add_member(db: Database, scope: Scope, project_id: str, email: str) -> None:
    """Bring in a member of the workspace, who sees all its chats from now on. Raises
    NotFoundError, InvalidInputError for one who is not its host."""
    with db.transaction(scope) as tx:
        _hold(tx, scope, project_id, "bring in others")
        new = Scope(scope.workspace_id, member_of(tx, scope, email))
        _check_room(tx, new)
        tx.execute(
            "INSERT INTO project_members (project_id, workspace_id, user_id, created_at) "
            "VALUES (:project, :workspace, :user, :at) ON CONFLICT DO NOTHING",
            params(new, project=project_id, at=after_all(tx, "project_members", project_id)),
        )
        project_chats.show_all_to(tx, project_id, new.user_id)
        audit.add(tx, scope, "brought into project", f"{project_id} {new.user_id}")


def remove_member(db: Database, scope: Scope, project_id: str, user_id: str) -> list[str]:
    """Take somebody out, or leave; returns the ids of answers that were being written for them, or
    for others in their chats.

    Chats whose host they are leave the project with them. Raises NotFoundError; InvalidInputError
    where only its host may do it, or where nobody would be left.
    """
    left = user_id == scope.user_id
    with db.transaction(scope) as tx:
        _hold(tx, scope, project_id, "" if left else "take others out")
        there = {one.user_id for one in list_members(tx, scope, project_id)}
        if user_id not in there:
            raise NotFoundError("They are not in this project.", "They may have left it.")
        if len(there) == 1:
            raise InvalidInputError("Nobody else is in this project.", "Delete it instead.")
        stopped = project_chats.close_to(tx, scope, project_id, user_id)
        tx.execute(
            "DELETE FROM project_members WHERE project_id = :project AND user_id = :member",
            {"project": project_id, "member": user_id},
        )
        action = "left project" if left else "taken out of project"
        audit.add(tx, scope, action, f"{project_id} {user_id}")
    return stopped


def forget_member(tx: Transaction, workspace_id: str, user_id: str) -> None:
    """Somebody leaves the workspace, and the chats that they shared: projects that others are in
    they leave, too. Those that were theirs alone are kept, unseen, as their chats are."""
    values = {"workspace": workspace_id, "member": user_id}
    theirs = (
        "SELECT n.project_id FROM project_members n WHERE n.workspace_id = :workspace AND "
        "n.user_id = :member AND EXISTS (SELECT 1 FROM project_members o WHERE "
        "o.project_id = n.project_id AND o.user_id <> :member)"
    )
    tx.execute(
        f"DELETE FROM project_chats WHERE project_id IN ({theirs}) AND chat_id IN "
        "(SELECT s.chat_id FROM chat_participants s WHERE s.user_id = :member)",
        values,
    )
    tx.execute(
        f"DELETE FROM project_members WHERE user_id = :member AND project_id IN ({theirs})", values
    )


# --- who may


def _hold(tx: Transaction, scope: Scope, project_id: str, what: str) -> Project:
    """A project of the caller's, kept from other writers until the transaction ends; with `what`,
    one whose host they are. Raises NotFoundError, InvalidInputError."""
    project_chats.hold(tx, project_id)
    project = get(tx, scope, project_id)
    if what and not project.own:
        host = list_members(tx, scope, project_id)[0]
        raise InvalidInputError(
            f"This project is {host.name}'s; only they can {what}.", "You can leave it."
        )
    return project


def _check_room(tx: Transaction, scope: Scope) -> None:
    (there,) = tx.read(
        "SELECT count(*) AS n FROM project_members WHERE workspace_id = :workspace AND "
        "user_id = :user",
        params(scope),
    )
    if int(there["n"]) >= MOST_PROJECTS:
        raise InvalidInputError(
            f"{MOST_PROJECTS} projects are as many as one person can be in.", "Delete one first."
        )


def _titled(title: str) -> str:
    clean = " ".join(composed(title).split())[:TITLE_LENGTH]
    if not clean:
        raise InvalidInputError("A project needs a title.", "Type at least one letter.")
    return clean

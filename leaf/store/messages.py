"""Messages: question and answer are saved together, an answer is finished in one commit, branches
share a parent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from leaf.errors import InvalidInputError, NotFoundError
from leaf.shapes.part_values import texts_of
from leaf.shapes.parts import Part, UsageData
from leaf.shapes.raw import RawMessage
from leaf.store import branch as branches
from leaf.store import chat_files, chats, lost_access, told_instructions
from leaf.store.branch import COLUMNS, Branch, message_of
from leaf.store.database import (
    Database,
    Params,
    Row,
    Transaction,
    composed,
    containing,
    now,
    one_of,
    searched,
)
from leaf.store.ids import new_id
from leaf.store.model import Chat, Exchange, Message, Scope, Status, Thread, Unfinished
from leaf.store.users import params


def add_exchange(
    db: Database,
    scope: Scope,
    chat_id: str,
    parts: list[Part],
    *,
    raw: Sequence[RawMessage] = (),
    parent_id: str | None = None,
    seen: str = "",
    model: str = "",
    title: str = "",
    told: str = "",
    files: Collection[str] | None = None,
) -> Exchange:
    """Save a question and its pending answer in one commit, show that branch, and give the waiting
    files to the question: those that are named, or all.

    `parent_id` is the message that the question follows: None for the end of the branch that is
    shown, empty for the beginning. Where something follows already, that makes a branch. `seen` is
    the last message that who asks had before them: where another branch is shown by now, the
    question goes to the end of the one with that message, if it is still there. `title` is
    taken by a chat that has none. `told` is the digest of instructions that the model is told with
    the question. Raises NotFoundError.
    """
    with db.transaction(scope) as tx:
        chat = chats.hold(tx, scope, chat_id, now())
        at = chat.updated_at  # never earlier than what was said before, whatever the clock does
        parent = end_of(tx, chat, seen) if parent_id is None else parent_id
        if parent_id:
            _in_chat(tx, chat_id, parent_id)
        question = Message(
            new_id(),
            chat_id,
            parent,
            "user",
            "completed",
            parts,
            list(raw),
            created_at=at,
            updated_at=at,
            user_id=scope.user_id,
        )
        answer = _pending(scope, chat_id, question.id, model, at)
        _insert(tx, question)
        _insert(tx, answer)
        told_instructions.note(tx, chat_id, question.id, told, at)
        chat_files.send_in(tx, chat_id, question.id, files)
        _show(tx, answer)
        if title and not chat.title:
            tx.execute(
                "UPDATE chats SET title = :title WHERE id = :chat",
                {"title": composed(title)[: chats.TITLE_LENGTH], "chat": chat_id},
            )
    return Exchange(question, answer)


def add_answer(db: Database, scope: Scope, question_id: str, *, model: str = "") -> Message:
    """Another pending answer to a question that was asked before, beside the earlier ones. Raises
    NotFoundError."""
    with db.transaction(scope) as tx:
        question = get(tx, scope, question_id)
        if question.role != "user":
            raise InvalidInputError(
                "Only a question can be answered again.", "Give the id of a user message."
            )
        chat = chats.hold(tx, scope, question.chat_id, now())
        answer = _pending(scope, question.chat_id, question.id, model, chat.updated_at)
        _insert(tx, answer)
        _show(tx, answer)
    return answer


def get(db: Database | Transaction, scope: Scope, message_id: str) -> Message:
    """Raises NotFoundError."""
    return message_of(_seen(db, scope, message_id, COLUMNS))


def chat_of(db: Database, scope: Scope, message_id: str) -> str:
    """The id of its chat, for who only has to know that it may be seen: what it says is not read.
    Raises NotFoundError."""
    return str(_seen(db, scope, message_id, "x.chat_id")["chat_id"])


def _seen(
    db: Database | Transaction,
    scope: Scope,
    message_id: str,
    columns: str,
    *,
    deleted: bool = False,
) -> Row:
    """Of a message whose chat the caller may see; of one that was put away only with `deleted`.
    Raises NotFoundError."""
    if db.engine == "postgres":
        live = "" if deleted else "AND c.deleted_at IS NULL "
        rows = db.read(
            f"SELECT {columns} FROM messages x JOIN chats c ON c.id = x.chat_id "
            f"WHERE x.id = :id {live}AND {chats.VISIBLE}",
            params(scope, id=message_id),
        )
    else:  # see `chats.seen`
        rows = db.read(f"SELECT {columns} FROM messages x WHERE x.id = :id", {"id": message_id})
        chat = chats.seen(db, scope, str(rows[0]["chat_id"])) if rows else None
        if chat is None or (chat["deleted_at"] is not None and not deleted):
            rows = []
    if not rows:
        raise NotFoundError(f"No message '{message_id}'.", "Its chat may have been deleted.")
    return rows[0]


def get_of_any_chat(tx: Transaction, scope: Scope, message_id: str) -> Message:
    """The same for a message whose chat may have been put away: what a run has to save is saved.
    Raises NotFoundError."""
    return message_of(_seen(tx, scope, message_id, COLUMNS, deleted=True))


def thread(
    db: Database,
    scope: Scope,
    chat_id: str,
    *,
    head: str = "",
    before: str = "",
    last: int | None = None,
    first: str = "",
) -> Thread:
    """The branch that ends with `head` (else the one that is shown), oldest first.

    `last` cuts it to the newest messages, and to no later one than `first`, where the branch has
    that; `before` takes only what lies before that message, for loading earlier ones. Raises
    NotFoundError.
    """
    chat = chats.get(db, scope, chat_id)
    tree = branches.tree(db, chat_id)
    end = head or chat.head_id
    for message_id in (end, before):
        if message_id and message_id not in tree.parents:
            raise NotFoundError(f"No message '{message_id}' in this chat.", "Open the chat again.")
    branch = tree.branch(tree.parents[before] if before else end)
    start = 0 if last is None else max(0, len(branch) - max(0, last))
    if first in tree.parents and first in branch:
        start = min(start, branch.index(first))
    shown = branch[start:]
    messages = tuple(branches.read(db, chat_id, tree.times, shown))
    return Thread(
        messages, start, {i: tree.siblings(i) for i in shown if len(tree.siblings(i)) > 1}
    )


def find(db: Database, scope: Scope, chat_id: str, query: str) -> str:
    """Id of the newest message of the branch that is shown which holds most of these words; empty
    if none holds any. Raises NotFoundError."""
    chat = chats.get(db, scope, chat_id)
    order = branches.tree(db, chat_id).branch(chat.head_id)
    held: dict[str, int] = {}
    for word in query.split()[:10]:
        for row in db.read(
            "SELECT id FROM messages WHERE chat_id = :chat AND words LIKE :word ESCAPE '!'",
            {"chat": chat_id, "word": containing(word)},
        ):
            held[row["id"]] = held.get(row["id"], 0) + 1
    return max((i for i in order if i in held), key=lambda i: (held[i], order.index(i)), default="")


def history(db: Database, scope: Scope, chat_id: str, head: str) -> Branch:
    """The same branch to its end, read as far as somebody looks. Raises NotFoundError."""
    chats.get(db, scope, chat_id)
    tree = branches.tree(db, chat_id)
    if head not in tree.parents:
        raise NotFoundError(f"No message '{head}' in this chat.", "Open the chat again.")
    return Branch(db, chat_id, tree, tree.branch(head))


def branch_ids(db: Database, scope: Scope, chat_id: str, head: str) -> tuple[str, ...]:
    """Ids of the messages of the branch that ends with `head`, oldest first. Raises
    NotFoundError."""
    chats.get(db, scope, chat_id)
    tree = branches.tree(db, chat_id)
    return tuple(tree.branch(head)) if head in tree.parents else ()


def siblings(db: Database, scope: Scope, message_id: str) -> tuple[str, ...]:
    """Ids of all messages with the same parent, itself included, oldest first. Raises
    NotFoundError."""
    return branches.tree(db, chat_of(db, scope, message_id)).siblings(message_id)


def newest_below(db: Database, scope: Scope, message_id: str) -> str:
    """The end of the newest branch through this message: what to show when a reader turns to it.
    Raises NotFoundError."""
    return branches.tree(db, chat_of(db, scope, message_id)).newest_below(message_id)


def finish(
    db: Database,
    scope: Scope,
    message_id: str,
    *,
    parts: list[Part],
    raw: list[RawMessage],
    usage: UsageData,
    status: Status,
    error: str = "",
) -> None:
    """Save an answer whole, in one commit. Doing it again changes nothing but the time. Raises
    NotFoundError.

    An answer in a chat that was put away meanwhile is saved as well, so that undoing the deletion
    brings it back.
    """
    at = now()
    with db.transaction(scope) as tx:
        message = get_of_any_chat(tx, scope, message_id)
        tx.execute(
            "UPDATE messages SET parts = :parts, raw = :raw, words = :words, usage = :usage, "
            "status = :status, error = :error, "
            "updated_at = :at WHERE id = :id",
            {
                "parts": parts,
                "raw": raw,
                "words": _words(parts),
                "usage": usage,
                "status": status,
                "error": error,
                "at": at,
                "id": message_id,
            },
        )
        tx.execute("DELETE FROM run_leases WHERE message_id = :id", {"id": message_id})
        tx.execute(
            f"UPDATE chats AS c SET updated_at = {chats.LATER} WHERE c.id = :chat",
            {"at": at, "chat": message.chat_id},
        )


def unscoped_keep_shown(db: Database, message_id: str, parts: list[Part]) -> None:
    """Give an answer that was ended because its asker sees the chat no more what those who do were
    shown of it. Nothing happens to any other. For the runs only."""
    answer = unscoped_get(db, message_id)
    if answer is None or answer.message.status != "stopped" or answer.message.parts or not parts:
        return
    values = {"at": now(), "id": message_id}
    with db.transaction() as tx:
        tx.concerns([answer.scope.workspace_id])
        tx.execute(
            "UPDATE messages SET parts = :parts, words = :words, updated_at = :at WHERE id = :id AND "
            "status = 'stopped'",
            {"parts": parts, "words": _words(parts), **values},
        )
        tx.execute(
            f"UPDATE chats AS c SET updated_at = {chats.LATER} WHERE c.id = :chat",
            {"at": values["at"], "chat": answer.message.chat_id},
        )


def set_feedback(db: Database, scope: Scope, message_id: str, feedback: int) -> None:
    """1 for thumbs up, -1 for down, 0 to take it back. Raises NotFoundError and
    InvalidInputError."""
    if feedback not in (-1, 0, 1):
        raise InvalidInputError(f"Feedback is {feedback}.", "Give 1, -1 or 0.")
    with db.transaction(scope) as tx:
        get(tx, scope, message_id)
        tx.execute(
            "UPDATE messages SET feedback = :feedback WHERE id = :id",
            {"feedback": feedback, "id": message_id},
        )


def stop_pending(db: Database, scope: Scope, message_id: str) -> bool:
    """End an answer of the workspace that was not begun, in one commit. False if it was begun or
    withdrawn meanwhile."""
    with db.transaction(scope) as tx:
        rows = tx.read(
            "UPDATE messages SET status = 'stopped', updated_at = :at WHERE id = :id AND status = "
            "'pending' "
            "AND chat_id IN (SELECT c.id FROM chats c WHERE c.workspace_id = :workspace) "
            "RETURNING id",
            {"at": now(), "id": message_id, "workspace": scope.workspace_id},
        )
    return bool(rows)


def withdraw(db: Database, scope: Scope, message_id: str) -> Message:
    """Take a pending answer and its question out of the chat again; what was asked after it follows
    what stood before it.

    The question stays if it has another answer; its files wait in the composer again if it goes.
    Returns the question. Raises NotFoundError, and InvalidInputError once the answer is being
    written.
    """
    at = now()
    with db.transaction(scope) as tx:
        answer = get(tx, scope, message_id)
        chat = chats.hold(tx, scope, answer.chat_id, at)
        answer = get(tx, scope, message_id)
        if answer.role != "assistant" or answer.status != "pending":
            raise InvalidInputError(
                "This question is not waiting any more.", "Stop its answer instead."
            )
        question = get(tx, scope, answer.parent_id)
        others = tx.read(
            "SELECT id FROM messages WHERE chat_id = :chat AND parent_id = :question AND "
            "id <> :answer ORDER BY created_at, id",
            {"chat": chat.id, "question": question.id, "answer": answer.id},
        )
        before = str(others[-1]["id"]) if others else question.parent_id
        for gone in [answer] if others else [answer, question]:
            tx.execute("DELETE FROM messages WHERE id = :id", {"id": gone.id})
        tx.execute(
            "UPDATE messages SET parent_id = :before WHERE chat_id = :chat AND parent_id = :answer",
            {"chat": chat.id, "before": before, "answer": answer.id},
        )
        if chat.head_id == answer.id:
            tx.execute(
                "UPDATE chats SET head_id = :before WHERE id = :chat",
                {"before": before, "chat": chat.id},
            )
        if not others:
            chat_files.wait_again_in(tx, chat.id, question.id)
            told_instructions.forget(tx, question.id)
    return question


def unfinished(db: Database, scope: Scope, chat_id: str) -> list[str]:
    """Ids of the chat's answers that wait or are being written, the newest first. Raises
    NotFoundError."""
    chats.get(db, scope, chat_id)
    rows = db.read(
        "SELECT id FROM messages WHERE chat_id = :chat AND status IN ('pending', 'streaming') "
        "ORDER BY created_at DESC, id DESC",
        {"chat": chat_id},
    )
    return [str(row["id"]) for row in rows]


def unscoped_unfinished(db: Database) -> list[Unfinished]:
    """Every answer that is pending or being written, oldest first. Asks for everybody: for the runs
    only."""
    return _unscoped(db, "x.status IN ('pending', 'streaming') ORDER BY x.created_at, x.id", {})


def unscoped_get(db: Database, message_id: str) -> Unfinished | None:
    """One message, whoever asked; None when there is no such message any more. For the runs and the
    operator only."""
    answers = _with_scopes(db, [message_id])
    return answers[0] if answers else None


def unscoped_answers(db: Database, status: str = "", limit: int = 50) -> list[Unfinished]:
    """The newest answers of everybody, those with that status if one is given. For the operator
    only."""
    condition = "x.status = :status AND " if status else ""
    return _unscoped(
        db,
        condition + "x.role = 'assistant' ORDER BY x.created_at DESC, x.id DESC LIMIT :limit",
        {"status": status, "limit": limit},
    )


def _unscoped(db: Database, condition: str, values: Params) -> list[Unfinished]:
    """First which they are, then what they say: where DuckDB looks through all messages, it would
    read what each of them says."""
    rows = db.read(f"SELECT x.id FROM messages x WHERE {condition}", values)
    return _with_scopes(db, [str(row["id"]) for row in rows])


def _with_scopes(db: Database, ids: Sequence[str]) -> list[Unfinished]:
    """In this order, as far as they are there."""
    if not ids:
        return []
    those, values = one_of("x.id", ids)
    rows = db.read(
        f"SELECT {COLUMNS}, c.workspace_id, c.deleted_at FROM messages x JOIN chats c "
        f"ON c.id = x.chat_id WHERE {those}",
        values,
    )
    answer_of = {}
    for row in rows:
        scope = Scope(str(row.pop("workspace_id")), str(row["user_id"]))
        deleted = row.pop("deleted_at") is not None
        answer_of[str(row["id"])] = Unfinished(scope, message_of(row), deleted)
    return [answer_of[message_id] for message_id in ids if message_id in answer_of]


def stop_unfinished(tx: Transaction, scope: Scope, user_id: str, chat_id: str = "") -> list[str]:
    """Give answers that somebody waits for an end, in one chat or in the whole workspace; returns
    their ids.

    For somebody who loses access; see `lost_access`.
    """
    in_chat = "AND c.id = :chat" if chat_id else ""
    theirs = (
        "user_id = :asker AND chat_id IN "
        f"(SELECT c.id FROM chats c WHERE c.workspace_id = :workspace {in_chat})"
    )
    return lost_access.stop(tx, theirs, params(scope, asker=user_id, chat=chat_id))


def _pending(scope: Scope, chat_id: str, question_id: str, model: str, at: datetime) -> Message:
    return Message(
        new_id(),
        chat_id,
        question_id,
        "assistant",
        "pending",
        [],
        [],
        model=model,
        created_at=at,
        updated_at=at,
        user_id=scope.user_id,
    )


def _insert(tx: Transaction, message: Message) -> None:
    tx.execute(
        """
        INSERT INTO messages (id, chat_id, user_id, parent_id, role, status, parts, raw, words, model, usage, error, feedback,
            created_at, updated_at)
        VALUES (:id, :chat, :user, :parent, :role, :status, :parts, :raw, :words, :model, :usage, '', 0, :at, :at)
        """,
        {
            "id": message.id,
            "chat": message.chat_id,
            "user": message.user_id,
            "parent": message.parent_id,
            "role": message.role,
            "status": message.status,
            "parts": message.parts,
            "raw": message.raw,
            "words": _words(message.parts),
            "model": message.model,
            "usage": message.usage,
            "at": message.created_at,
        },
    )


def _show(tx: Transaction, message: Message) -> None:
    tx.execute(
        "UPDATE chats SET head_id = :head WHERE id = :chat",
        {"head": message.id, "chat": message.chat_id},
    )


def _in_chat(tx: Transaction, chat_id: str, message_id: str) -> None:
    if not tx.read(
        "SELECT id FROM messages WHERE id = :id AND chat_id = :chat",
        {"id": message_id, "chat": chat_id},
    ):
        raise NotFoundError(f"No message '{message_id}' in this chat.", "Open the chat again.")


def _words(parts: list[Part]) -> str:
    return searched("\n".join(texts_of(parts)))


def end_of(db: Database | Transaction, chat: Chat, seen: str) -> str:
    """The end of the branch that holds the message `seen`, of the one that is shown if that does."""
    if not seen or seen == chat.head_id:
        return chat.head_id
    tree = branches.tree(db, chat.id)
    if seen not in tree.parents or (chat.head_id and seen in tree.branch(chat.head_id)):
        return chat.head_id
    return tree.newest_below(seen)

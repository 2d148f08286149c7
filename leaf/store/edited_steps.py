"""Steps of answers that a person ran again with code of their own. Each stands beside the step that it
was made from, which it leaves as it is.

What failed, was stopped or ended with its process holds the code until its author runs that step
again or discards it. All times by which one is taken for ended are the database's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from leaf.errors import InvalidInputError, NotFoundError
from leaf.store import chats, messages
from leaf.store.database import Database, Row, Transaction, now
from leaf.store.ids import new_id
from leaf.store.model import Json, Scope
from leaf.store.users import params

State = Literal["running", "done", "failed", "stopped"]
SILENCE = 15.0
"""Seconds after which a step that was not heard of is taken for ended with its process."""
LOST = "Leaf ended while this ran. Run it again."
_SILENT = "extract(epoch FROM now() - e.beat_at) > :silence"
_COLUMNS = f"""
    e.id, e.chat_id, e.message_id, e.call_id, e.user_id, e.tool, e.given, e.state, e.output, e.error, e.progress, e.made_at,
    coalesce((SELECT max(u.name) FROM users u WHERE u.id = e.user_id), '') AS author,
    e.state = 'running' AND {_SILENT} AS silent
"""
_SEEN = (
    "e.workspace_id = :workspace AND EXISTS (SELECT 1 FROM chats c WHERE c.id = e.chat_id AND "
    f"c.deleted_at IS NULL AND {chats.VISIBLE})"
)
"""True for the steps (as `e`) of chats that the caller may see."""


@dataclass(frozen=True)
class EditedStep:
    """A step that a person edited, and what came of it."""

    id: str
    chat_id: str
    message_id: str
    """The answer to which the step belongs that it was made from."""
    call_id: str
    """That step."""
    user_id: str
    author: str
    """The name of who edited it; empty for an account that is gone."""
    tool: str
    given: Mapping[str, Any]
    """The input of the tool, with the edited code."""
    state: State
    made_at: datetime
    output: Mapping[str, Any] | None = None
    """As of a step of an answer, once it is done."""
    error: str = ""
    """Why it is not done, as the tool says it."""
    progress: str = ""
    """While it runs, how far it is."""


def begin(db: Database, scope: Scope, step: EditedStep) -> EditedStep:
    """Keep a step that is about to run, in place of the author's earlier ones of the same call that
    came to nothing; `id`, `chat_id`, `author` and `made_at` of `step` do not count.

    Raises NotFoundError for an answer that the caller does not see, InvalidInputError while it is
    being written or while another edited step of the caller runs.
    """
    step_id = new_id()
    with db.transaction(scope) as tx:
        message = messages.get(tx, scope, step.message_id)
        if message.status in ("pending", "streaming"):
            raise InvalidInputError(
                "This answer is still being written.", "Edit its steps when it is whole."
            )
        values = params(scope, silence=SILENCE, message=message.id, call=step.call_id)
        tx.execute(  # of two that the caller begins at once the second finds the first
            "UPDATE workspace_members SET role = role WHERE workspace_id = :workspace AND "
            "user_id = :user",
            params(scope),
        )
        if tx.read(
            "SELECT 1 AS yes FROM edited_steps e WHERE e.user_id = :user AND "
            f"e.workspace_id = :workspace AND e.state = 'running' AND NOT {_SILENT} LIMIT 1",
            values,
        ):
            raise InvalidInputError(
                "Another step that you edited is still running.", "Wait for it, or stop it."
            )
        tx.execute(
            "DELETE FROM edited_steps AS e WHERE e.message_id = :message AND e.call_id = :call "
            f"AND e.user_id = :user AND {_came_to_nothing()}",
            values,
        )
        tx.execute(
            "INSERT INTO edited_steps (id, workspace_id, chat_id, message_id, call_id, user_id, "
            "tool, given, state, output, error, progress, stop, made_at, beat_at) VALUES (:id, "
            ":workspace, :chat, :message, :call, :user, :tool, :given, 'running', NULL, '', '', "
            "FALSE, :at, now())",
            {
                **values,
                "id": step_id,
                "chat": message.chat_id,
                "tool": step.tool,
                "given": dict(step.given),
                "at": now(),
            },
        )
        return _one(tx, scope, step_id)


def get(db: Database, scope: Scope, edit_id: str) -> EditedStep:
    """Raises NotFoundError for one of a chat that the caller does not see."""
    return _one(db, scope, edit_id)


def of_message(db: Database, scope: Scope, message_id: str) -> list[EditedStep]:
    """Those of an answer, oldest first; none where the caller does not see it."""
    rows = db.read(
        f"SELECT {_COLUMNS} FROM edited_steps e WHERE e.message_id = :message AND {_SEEN} "
        "ORDER BY e.made_at, e.id",
        params(scope, message=message_id, silence=SILENCE),
    )
    return [_step(row) for row in rows]


def finish(
    db: Database,
    scope: Scope,
    edit_id: str,
    state: State,
    output: Json | None = None,
    error: str = "",
) -> bool:
    """Keep what came of a running step; False where it does not run any more, or its author does
    not see the chat any more. A chat that was put away meanwhile is no hindrance."""
    with db.transaction(scope) as tx:
        rows = tx.read(
            "UPDATE edited_steps AS e SET state = :state, output = :output, error = :error, "
            "progress = '' WHERE e.id = :id AND e.state = 'running' AND EXISTS (SELECT 1 FROM "
            f"chats c WHERE c.id = e.chat_id AND {chats.VISIBLE}) RETURNING e.id",
            params(scope, id=edit_id, state=state, output=output, error=error),
        )
    return bool(rows)


def stop(db: Database, scope: Scope, edit_id: str) -> None:
    """Ask for the end of a running step, wherever it runs. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        _one(tx, scope, edit_id)
        tx.execute(
            "UPDATE edited_steps AS e SET stop = TRUE WHERE e.id = :id AND e.state = 'running'",
            {"id": edit_id},
        )


def discard(db: Database, scope: Scope, edit_id: str) -> None:
    """Remove one's own step that came to nothing. Raises NotFoundError, and InvalidInputError for
    one that gave a result, still runs, or is somebody else's."""
    with db.transaction(scope) as tx:
        _one(tx, scope, edit_id)
        if not tx.read(
            "DELETE FROM edited_steps AS e WHERE e.id = :id AND e.user_id = :user AND "
            f"{_came_to_nothing()} RETURNING e.id",
            params(scope, id=edit_id, silence=SILENCE),
        ):
            raise InvalidInputError(
                "This step stays.", "Its author can discard one that failed or was stopped."
            )


def unscoped_beat(db: Database, edit_id: str, progress: str) -> bool:
    """Say that a step still runs and how far it is; whether it is to end, or is not there any
    more. That of somebody who does not see its chat any more ends here."""
    with db.transaction() as tx:
        tx.concerns([])
        rows = tx.read(
            "UPDATE edited_steps SET beat_at = now(), progress = :progress WHERE id = :id AND "
            "state = 'running' RETURNING stop, workspace_id, chat_id, user_id",
            {"id": edit_id, "progress": progress},
        )
        if not rows or rows[0]["stop"]:
            return True
        sees = tx.read(
            "SELECT 1 AS yes FROM chat_participants p JOIN workspace_members m ON m.user_id = "
            "p.user_id WHERE p.chat_id = :chat_id AND p.user_id = :user_id AND m.workspace_id = "
            ":workspace_id",
            rows[0],
        )
        if not sees:
            tx.concerns([str(rows[0]["workspace_id"])])
            tx.execute(
                "UPDATE edited_steps SET state = 'stopped', error = 'Stopped.', progress = '' "
                "WHERE id = :id",
                {"id": edit_id},
            )
    return not sees


def _came_to_nothing() -> str:
    return f"(e.state IN ('failed', 'stopped') OR (e.state = 'running' AND {_SILENT}))"


def _one(db: Database | Transaction, scope: Scope, edit_id: str) -> EditedStep:
    rows = db.read(
        f"SELECT {_COLUMNS} FROM edited_steps e WHERE e.id = :id AND {_SEEN}",
        params(scope, id=edit_id, silence=SILENCE),
    )
    if not rows:
        raise NotFoundError("No such edited step.", "It may have been discarded, or its chat.")
    return _step(rows[0])


def _step(row: Row) -> EditedStep:
    """One whose process is gone has stopped."""
    if row.pop("silent"):
        row |= {"state": "stopped", "error": LOST, "progress": ""}
    return EditedStep(**row)

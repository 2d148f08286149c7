"""Which process writes which answer, where several share one history.

Each process has a row in which its heart beats, and a lease on each answer that it writes. A lease
has a token, raised whenever somebody else takes the answer: see `fence`. A lease of nobody is there
for whoever takes it first. All times are the database's own; no machine's clock is asked.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from leaf.errors import NotFoundError
from leaf.store import chats, messages
from leaf.store.changes import EVERYWHERE, LIVE, RUNS
from leaf.store.database import Database, Transaction, now, one_of
from leaf.store.model import Message, Scope, Unfinished

NOBODY = ""
_QUIET = "extract(epoch FROM now() - p.beat_at) > :silence"


@dataclass(frozen=True)
class Holder:
    """A process, as others know it."""

    id: str
    version: str
    """Of the order of the steps that it can run."""
    per_user: int
    """Answers that are written for one person at once, by all processes together."""


@dataclass(frozen=True)
class Lease:
    """Who writes an answer."""

    message_id: str
    process_id: str
    """`NOBODY`: whoever takes it."""
    token: int
    version: str
    stop: bool


@dataclass(frozen=True)
class Written:
    """An answer that is being written."""

    message_id: str
    chat_id: str
    scope: Scope
    """Of whoever asked."""


@dataclass(frozen=True)
class WaitingQuestion:
    """Of a question that waits."""

    ahead: int
    """Answers of its chat that come first."""
    written: int
    """Answers that are being written for whoever asked."""


@dataclass(frozen=True)
class Heartbeat:
    """What a process learns when its heart beats."""

    others: int
    """Other processes."""
    silent: int
    """Those among them that were not heard for so long that they are gone."""
    left: int
    """Answers that nobody writes."""
    mine: Mapping[str, bool]
    """Ids of the answers that are this process's -> whether somebody wants one stopped."""


# --- processes


def unscoped_enter(db: Database, holder: Holder) -> None:
    """Be one of the processes from now on, and let the others know."""
    with db.transaction() as tx:
        tx.concerns([EVERYWHERE])
        tx.tell(RUNS)
        _appear(tx, holder)


def unscoped_clock_ahead(db: Database) -> float:
    """Seconds by which this machine's clock is ahead of the database's; negative where it is
    behind."""
    (row,) = db.read("SELECT extract(epoch FROM clock_timestamp()) AS seconds")
    return time.time() - float(row["seconds"])


def unscoped_beat(db: Database, process_id: str, silence: float) -> Heartbeat | None:
    """One beat, and all that is looked at with it, in one statement: every process asks it every few
    seconds. None where this one was taken for gone, and what it wrote is others' now."""
    rows = db.single(
        f"""
        UPDATE processes SET beat_at = now() WHERE id = :id RETURNING
            (SELECT count(*) FROM processes p WHERE p.id <> :id) AS others,
            (SELECT count(*) FROM processes p WHERE p.id <> :id AND {_QUIET}) AS silent,
            (SELECT count(*) FROM run_leases l WHERE NOT EXISTS (
                SELECT 1 FROM processes p WHERE p.id = l.process_id AND NOT {_QUIET})) AS left_over,
            (SELECT json_object_agg(l.message_id, l.stop) FROM run_leases l WHERE
                l.process_id = :id) AS mine
        """,
        {"id": process_id, "silence": silence},
    )
    if not rows:
        return None
    others, silent, left, mine = rows[0].values()
    return Heartbeat(int(others), int(silent), int(left), mine or {})


def unscoped_release_silent(db: Database, process_id: str, silence: float) -> int:
    """Take away what processes hold that were not heard for so long; returns how many answers that
    are. Of several that try, one does it, and all hear of it."""
    with db.transaction() as tx:
        gone = tx.read(
            f"DELETE FROM processes AS p WHERE p.id <> :id AND {_QUIET} RETURNING p.id",
            {"id": process_id, "silence": silence},
        )
        freed = _free(tx, "process_id NOT IN (SELECT id FROM processes)", {})
        if gone or freed:
            tx.concerns([EVERYWHERE])
            tx.tell(RUNS)
    return freed


def unscoped_release_seats(db: Database, process_id: str, seats: Collection[str]) -> None:
    """The same for earlier processes in whose place this one is: a locked file says that they are
    gone."""
    with db.transaction() as tx:
        rows = tx.read("SELECT id FROM processes UNION SELECT process_id AS id FROM run_leases")
        gone = [str(row["id"]) for row in rows]
        gone = [one for one in gone if one.partition(".")[0] in seats and one != process_id]
        those, ids = one_of("id", gone)
        tx.execute(f"DELETE FROM processes WHERE {those}", ids)
        those, ids = one_of("process_id", gone)
        _free(tx, those, ids)
        tx.concerns([EVERYWHERE])


def unscoped_drain(db: Database, process_id: str) -> None:
    """Take nothing up from now on, and let the others take what waits."""
    with db.transaction() as tx:
        tx.concerns([EVERYWHERE])
        tx.tell(RUNS)
        tx.execute("UPDATE processes SET draining = TRUE WHERE id = :id", {"id": process_id})


def unscoped_offer(db: Database) -> None:
    """Have the others look for what waits."""
    with db.transaction() as tx:
        tx.concerns([EVERYWHERE])
        tx.tell(RUNS)


def unscoped_leave(db: Database, process_id: str) -> None:
    """Be none of the processes any more; what this one writes is there for the others."""
    with db.transaction() as tx:
        tx.concerns([EVERYWHERE])
        tx.tell(RUNS)
        tx.execute("DELETE FROM processes WHERE id = :id", {"id": process_id})
        _free(tx, "process_id = :id", {"id": process_id})


def unscoped_can_run(db: Database, version: str) -> bool:
    """Whether there is a process that runs this version and goes on."""
    return bool(
        db.read(
            "SELECT 1 AS yes FROM processes WHERE version = :version AND NOT draining LIMIT 1",
            {"version": version},
        )
    )


# --- leases


def claim(
    db: Database, scope: Scope, message_id: str, holder: Holder | None = None
) -> Literal["claimed", "busy", "full", "gone"]:
    """Make a pending answer the running one of its chat, in one commit: of several processes that
    try, one succeeds. `holder` is the one that tries, where there are several.

    `busy` while another answer of the chat is being written or comes first; `full` while as many
    are written for whoever asked as may be at once, wherever they are; `gone` when it was
    withdrawn, stopped or begun meanwhile.
    """
    with db.transaction(scope) as tx:
        try:
            chats.hold_of(tx, scope, message_id)
            message = messages.get(tx, scope, message_id)
        except NotFoundError:
            return "gone"
        if message.status != "pending":
            return "gone"
        if tx.read(
            "SELECT id FROM messages WHERE chat_id = :chat AND status = 'streaming'",
            {"chat": message.chat_id},
        ):
            return "busy"
        if holder and _comes_later(tx, message):
            return "busy"
        if holder and _is_full(tx, scope, holder):
            return "full"
        begun = tx.read(  # but one that was stopped meanwhile, which waits for nobody's chat
            "UPDATE messages SET status = 'streaming', updated_at = :at WHERE id = :id AND "
            "status = 'pending' RETURNING id",
            {"at": now(), "id": message_id},
        )
        if not begun:
            return "gone"
        tx.tell(LIVE)
        if holder:
            _appear(tx, holder)
            _insert(tx, scope, message, holder.id, holder.version)
    return "claimed"


def unscoped_mine(db: Database, process_id: str) -> dict[str, Lease]:
    """The leases of a process by message id; of `NOBODY` what can be taken."""
    rows = db.read(
        "SELECT message_id, process_id, token, version, stop FROM run_leases WHERE "
        "process_id = :id ORDER BY taken_at, message_id",
        {"id": process_id},
    )
    return {str(row["message_id"]): Lease(**row) for row in rows}


def unscoped_token(db: Database, message_id: str, process_id: str) -> int | None:
    """Under which this process writes an answer; None if it is not this one's."""
    rows = db.read(
        "SELECT token FROM run_leases WHERE message_id = :message AND process_id = :id",
        {"message": message_id, "id": process_id},
    )
    return int(rows[0]["token"]) if rows else None


def unscoped_is_written(db: Database, message_id: str, silence: float) -> bool:
    """Whether a process has an answer that was heard in these seconds."""
    return bool(
        db.read(
            "SELECT 1 AS yes FROM run_leases l JOIN processes p ON p.id = l.process_id WHERE "
            f"l.message_id = :message AND NOT {_QUIET}",
            {"message": message_id, "silence": silence},
        )
    )


def unscoped_all(db: Database) -> list[Written]:
    """What is being written, by whichever process."""
    rows = db.read("SELECT message_id, chat_id, workspace_id, user_id FROM run_leases")
    return [
        Written(
            str(row["message_id"]),
            str(row["chat_id"]),
            Scope(str(row["workspace_id"]), str(row["user_id"])),
        )
        for row in rows
    ]


def unscoped_known(db: Database) -> frozenset[str]:
    """Ids of the answers that have a lease, whoever holds it."""
    return frozenset(str(r["message_id"]) for r in db.read("SELECT message_id FROM run_leases"))


def unscoped_waiting(db: Database, message_ids: Collection[str]) -> frozenset[str]:
    """Those of the answers that wait to be begun, by whichever process."""
    those, ids = one_of("id", list(message_ids))
    rows = db.read(f"SELECT id FROM messages WHERE {those} AND status = 'pending'", ids)
    return frozenset(str(row["id"]) for row in rows)


def unscoped_standing(db: Database, message_id: str) -> WaitingQuestion | None:
    """By the rules of `claim`; None for an answer that does not wait."""
    rows = db.read(
        "SELECT (SELECT count(*) FROM messages x WHERE x.chat_id = m.chat_id AND (x.status = "
        "'streaming' OR x.status = 'pending' AND (x.created_at, x.id) < (m.created_at, m.id))) "
        "AS ahead, (SELECT count(*) FROM run_leases l WHERE l.user_id = m.user_id) AS written "
        "FROM messages m WHERE m.id = :message AND m.status = 'pending'",
        {"message": message_id},
    )
    return WaitingQuestion(**rows[0]) if rows else None


def unscoped_running_chats(db: Database, workspace_id: str) -> frozenset[str]:
    """Ids of the workspace's chats in which an answer is being written or waits."""
    rows = db.read(
        "SELECT DISTINCT m.chat_id FROM messages m JOIN chats c ON c.id = m.chat_id WHERE "
        "m.status IN ('pending', 'streaming') AND c.workspace_id = :workspace",
        {"workspace": workspace_id},
    )
    return frozenset(str(row["chat_id"]) for row in rows)


def unscoped_leave_to_all(db: Database, found: Unfinished, version: str) -> None:
    """Give an answer that is being written without a lease one of nobody's: it was begun before
    there were any."""
    with db.transaction(found.scope) as tx:
        _insert(tx, found.scope, found.message, NOBODY, version)


def unscoped_take(db: Database, message_id: str, holder: Holder) -> bool:
    """Take an answer of nobody's; False if another was quicker."""
    with db.transaction() as tx:
        tx.concerns([])
        _appear(tx, holder)
        rows = tx.read(
            "UPDATE run_leases SET process_id = :id, token = token + 1, version = :version, "
            "taken_at = now() WHERE message_id = :message AND process_id = '' RETURNING token",
            {"id": holder.id, "version": holder.version, "message": message_id},
        )
    return bool(rows)


def unscoped_seize(db: Database, found: Unfinished, holder: Holder) -> bool:
    """Take an answer away from whoever has it: what that one writes from now on is not kept. False
    for one that is over by now."""
    values = {"id": holder.id, "message": found.message.id}
    with db.transaction(found.scope) as tx:
        _appear(tx, holder)
        # The lease goes with the saved answer: who waits here for that finds neither.
        held = tx.read(
            "UPDATE run_leases SET process_id = :id, token = token + 1, taken_at = now() "
            "WHERE message_id = :message RETURNING token",
            values,
        )
        if not held:
            if not tx.read(
                "SELECT 1 AS yes FROM messages WHERE id = :message AND status = 'streaming'",
                {"message": found.message.id},
            ):
                return False
            _insert(tx, found.scope, found.message, holder.id, holder.version)
        tx.tell(RUNS)
    return True


def unscoped_want_stop(db: Database, found: Unfinished, silence: float) -> bool:
    """Tell whoever writes an answer to stop it. False if nobody was heard for so long who could."""
    with db.transaction(found.scope) as tx:
        tx.tell(RUNS)
        rows = tx.read(
            "UPDATE run_leases AS l SET stop = TRUE WHERE l.message_id = :message RETURNING "
            "(SELECT count(*) FROM processes p WHERE p.id = l.process_id AND NOT "
            f"{_QUIET}) AS heard",
            {"message": found.message.id, "silence": silence},
        )
    return bool(rows and rows[0]["heard"])


def unscoped_sweep(db: Database) -> None:
    """Forget leases of answers that are not written any more, as of chats deleted for good."""
    with db.transaction() as tx:
        tx.concerns([])
        tx.execute(
            "DELETE FROM run_leases WHERE message_id NOT IN (SELECT id FROM messages WHERE "
            "status IN ('pending', 'streaming'))"
        )


def _appear(tx: Transaction, holder: Holder) -> None:
    """Beat, whether or not this process is known."""
    tx.execute(
        "INSERT INTO processes (id, version, draining, started_at, beat_at) VALUES (:id, "
        ":version, FALSE, now(), now()) ON CONFLICT (id) DO UPDATE SET beat_at = now()",
        {"id": holder.id, "version": holder.version},
    )


def _insert(tx: Transaction, scope: Scope, message: Message, process_id: str, version: str) -> None:
    tx.execute(
        "INSERT INTO run_leases (message_id, process_id, token, version, workspace_id, user_id, "
        "chat_id, stop, taken_at) VALUES (:message, :id, 1, :version, :workspace, :user, :chat, "
        "FALSE, now()) ON CONFLICT DO NOTHING",
        {
            "message": message.id,
            "id": process_id,
            "version": version,
            "workspace": scope.workspace_id,
            "user": scope.user_id,
            "chat": message.chat_id,
        },
    )


def _free(tx: Transaction, condition: str, values: dict[str, str]) -> int:
    rows = tx.read(
        "UPDATE run_leases SET process_id = '', token = token + 1 WHERE process_id <> '' AND "
        f"{condition} RETURNING message_id",
        values,
    )
    return len(rows)


def _comes_later(tx: Transaction, message: Message) -> bool:
    """Whether a question of the same chat was asked before and waits, in whichever process."""
    return bool(
        tx.read(
            "SELECT id FROM messages WHERE chat_id = :chat AND status = 'pending' AND "
            "(created_at < :at OR (created_at = :at AND id < :id)) LIMIT 1",
            {"chat": message.chat_id, "at": message.created_at, "id": message.id},
        )
    )


def _is_full(tx: Transaction, scope: Scope, holder: Holder) -> bool:
    """Held to the end of the transaction, so that two processes do not count at the same time."""
    tx.execute("UPDATE users SET name = name WHERE id = :user", {"user": scope.user_id})
    rows = tx.read(
        "SELECT count(*) AS running FROM run_leases WHERE user_id = :user",
        {"user": scope.user_id},
    )
    return int(rows[0]["running"]) >= holder.per_user

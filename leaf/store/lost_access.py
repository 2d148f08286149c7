"""Answers of somebody who sees their chat no more.

Their runs can save nothing from then on, so nothing else would ever end these answers, and no other
question of the chat would be answered.
"""

from __future__ import annotations

from leaf.store.changes import RUNS
from leaf.store.database import Database, Params, Transaction, now, one_of

UNFINISHED = "status IN ('pending', 'streaming')"


def stop(tx: Transaction, those: str, given: Params) -> list[str]:
    """Give unfinished messages an end; `those` is a condition of SQL. Returns their ids."""
    theirs = f"{UNFINISHED} AND {those}"
    # Leases first, as a run does it that ends just now: each would wait for the other.
    tx.execute(
        f"DELETE FROM run_leases WHERE message_id IN (SELECT id FROM messages WHERE {theirs})",
        given,
    )
    rows = tx.read(
        f"UPDATE messages SET status = 'stopped', updated_at = :at WHERE {theirs} RETURNING id",
        {**given, "at": now()},
    )
    tx.tell(RUNS)
    return [str(row["id"]) for row in rows]


def unscoped_stop(db: Database) -> list[str]:
    """The same for everybody who asked and may not see the chat any more, such as somebody whose
    account was deleted by a version that ended nothing. For the runs only."""
    rows = db.read(
        "SELECT x.id, c.workspace_id FROM messages x JOIN chats c ON c.id = x.chat_id WHERE "
        f"x.{UNFINISHED} AND NOT (EXISTS (SELECT 1 FROM chat_participants p WHERE "
        "p.chat_id = c.id AND p.user_id = x.user_id) AND EXISTS (SELECT 1 FROM workspace_members m "
        "WHERE m.workspace_id = c.workspace_id AND m.user_id = x.user_id))"
    )
    if not rows:
        return []
    those, ids = one_of("id", [str(row["id"]) for row in rows])
    with db.transaction() as tx:
        tx.concerns({str(row["workspace_id"]) for row in rows})
        return stop(tx, those, ids)

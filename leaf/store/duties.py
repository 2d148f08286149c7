"""What one process of all that share a database does now and then, and how far its last round went.

Which one does it is settled by one statement: whoever comes first once it is due. Nothing is held
meanwhile, so a process that dies in a round leaves no more than the rest of it, until the next.
"""

from __future__ import annotations

from datetime import timedelta

from leaf.store.database import Database, now


def unscoped_take(db: Database, name: str, period: timedelta) -> str | None:
    """Where a round begins that this process is to do now; None where none is due. The first is due
    a period after somebody asked first. What is due later than two periods from now was said by a clock
    that was ahead, and does not hold."""
    at = now()
    values = {"name": name, "at": at, "next": at + period}
    with db.transaction() as tx:
        tx.concerns([])
        rows = tx.read(
            "UPDATE duties SET due_at = :next WHERE name = :name AND (due_at <= :at OR due_at > :latest) "
            "RETURNING position",
            {**values, "latest": at + 2 * period},
        )
        if not rows:
            tx.execute(
                "INSERT INTO duties (name, due_at, position) VALUES (:name, :next, '') "
                "ON CONFLICT DO NOTHING",
                values,
            )
    return str(rows[0]["position"]) if rows else None


def unscoped_leave(db: Database, name: str, position: str) -> None:
    """Where the next round begins."""
    with db.transaction() as tx:
        tx.concerns([])
        tx.execute(
            "UPDATE duties SET position = :position WHERE name = :name",
            {"name": name, "position": position},
        )

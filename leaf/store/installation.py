"""What was chosen for everybody who uses this history, whichever process serves them."""

from __future__ import annotations

from leaf.store.changes import EVERYWHERE, TOPICS
from leaf.store.database import Database, now

DEFAULT_MODEL = "default_model"
TOPIC = TOPICS["installation"]


def unscoped_read(db: Database, name: str) -> str:
    """Empty where nobody chose."""
    rows = db.read("SELECT value FROM installation WHERE name = :name", {"name": name})
    return str(rows[0]["value"]) if rows else ""


def unscoped_write(db: Database, name: str, value: str) -> None:
    """In the place of what was chosen before; all processes hear of it."""
    _put(db, name, value, "DO UPDATE SET value = :value, updated_at = :at")


def unscoped_adopt(db: Database, name: str, value: str) -> None:
    """The same, unless something was chosen."""
    _put(db, name, value, "DO NOTHING")


def _put(db: Database, name: str, value: str, known: str) -> None:
    with db.transaction() as tx:
        tx.concerns([EVERYWHERE])
        tx.execute(
            "INSERT INTO installation (name, value, updated_at) VALUES (:name, :value, :at) "
            f"ON CONFLICT (name) {known}",
            {"name": name, "value": value, "at": now()},
        )

"""Notes of what has to be removed after rows were deleted for good: ids and hashes only.

Each stands in the data folder (`removing/`), for what this machine holds, until all of it is gone.
Where files last elsewhere than on this disk it is a row as well, written with the deletion itself: a
lost disk forgets nothing, and any process carries it out. A workspace's row stays for a day, in which
it is looked through again: somebody may have been putting bytes into it as it went.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from leaf.errors import StoreError
from leaf.settings.private import write_private
from leaf.store.blobs import Blobs
from leaf.store.database import Database, Transaction, now
from leaf.store.removal import Gone

OTHERS = timedelta(minutes=10)
"""Age from which on a row is carried out by whoever finds it: its own process has had its time."""
LATE = timedelta(days=1)
"""For which bytes may still come into a workspace that is gone."""
logger = logging.getLogger(__name__)


@dataclass
class RemovalNote:
    """One deletion's."""

    gone: list[Gone] = field(default_factory=list)
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    path: Path | None = None
    """Where it stands in the data folder; None for a row that another process may have written."""

    @property
    def json(self) -> list[dict[str, Any]]:
        return [one.to_json() for one in self.gone]


class Notes:
    """Of one data folder and its database."""

    def __init__(self, db: Database, blobs: Blobs, home: Path) -> None:
        self._db = db
        self._rows = blobs.store is not None
        self._folder = home / "removing"

    def write(self, tx: Transaction, note: RemovalNote) -> None:
        """In the transaction of the deletion, before it ends. Raises StoreError."""
        note.path = self._folder / f"{note.id}.json"
        if self._rows:
            tx.execute(
                "INSERT INTO removal_notes (id, gone, noted_at) VALUES (:id, :gone, :at)",
                {"id": note.id, "gone": note.json, "at": now()},
            )
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_private(note.path, json.dumps(note.json))
        except OSError as e:
            raise StoreError(
                f"The data folder cannot be written: {e.strerror}.",
                "Free some space or fix its permissions.",
            ) from e

    def take_back(self, note: RemovalNote) -> None:
        """Nothing was deleted. A note that stays removes nothing that a row names."""
        if note.path is not None:
            with suppress(OSError):
                note.path.unlink()

    def done(self, note: RemovalNote) -> None:
        """All of it is gone. Raises StoreError."""
        if self._rows:
            late = any(one.whole for one in note.gone)
            with self._db.transaction() as tx:
                tx.concerns([])
                tx.execute(
                    "DELETE FROM removal_notes WHERE id = :id AND noted_at <= :before",
                    {"id": note.id, "before": now() - LATE if late else now()},
                )
        if note.path is not None:
            note.path.unlink(missing_ok=True)

    def left(self) -> Iterator[RemovalNote]:
        """What is to be carried out: the data folder's, then rows that nobody seems to be at."""
        for path in sorted(self._folder.glob("*.json")):
            try:
                yield _note(json.loads(path.read_text()), path.stem, path)
            except (OSError, ValueError, KeyError, TypeError):
                logger.warning("the note %s cannot be read", path.name)
        if not self._rows:
            return
        for row in self._db.read(
            "SELECT id, gone FROM removal_notes WHERE noted_at <= :before ORDER BY noted_at",
            {"before": now() - OTHERS},
        ):
            yield _note(row["gone"], str(row["id"]))


def _note(items: list[dict[str, Any]], name: str, path: Path | None = None) -> RemovalNote:
    return RemovalNote([Gone.from_json(one) for one in items], name, path)

"""The model that was chosen in the page for everybody: a row of the history, so that all processes
know it and none forgets it with its disk."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

from leaf.store import installation
from leaf.store.changes import EVERYWHERE
from leaf.store.database import Database
from leaf.store.installation import DEFAULT_MODEL

FILE = "default_model.txt"
"""Where earlier versions kept it, each machine for itself."""

logger = logging.getLogger(__name__)


class ChosenModel:
    """A `DefaultModel`. Asked with each drawing of a page, so it is read again only once it was
    told that something was chosen."""

    def __init__(self, db: Database, home: Path) -> None:
        self._db = db
        self._known: tuple[int, str] | None = None
        _adopt(db, home / FILE)

    def read(self) -> str:
        position = self._db.changes.newest(EVERYWHERE, [installation.TOPIC])
        if self._known is None or self._known[0] != position:
            self._known = position, installation.unscoped_read(self._db, DEFAULT_MODEL)
        return self._known[1]

    def write(self, model: str) -> None:
        installation.unscoped_write(self._db, DEFAULT_MODEL, model)


def _adopt(db: Database, file: Path) -> None:
    """Take over what the file of an earlier version says, once: it goes then."""
    try:
        model = file.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as e:
        logger.warning("%s cannot be read: %s", FILE, type(e).__name__)
        return
    if model:
        installation.unscoped_adopt(db, DEFAULT_MODEL, model)
    with suppress(OSError):
        file.unlink()

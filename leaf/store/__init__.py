"""History and files: SQL on DuckDB or PostgreSQL, and blobs on disk. One module per aggregate; each call takes a scope.

database   the seam: SQL with :name parameters        duckdb, postgres   the two behind it
changes    what was written, told to whom it concerns listener           the same from other processes
migrate    numbered migrations, run at boot only      blobs              content-addressed files on disk
users  logins  members  chats  participants  messages  files  chat_files     model              the values handed out
documents                                            versions of documents
usage  budgets                                       what answers used, what they may use
cells  consents        Python that ran in a chat; what a step asked and was told
integrations  oauth_states  drive_files              connections to other services, and what came from them
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaf.settings import Settings
    from leaf.store.blobs import Blobs
    from leaf.store.database import Database


@dataclass(frozen=True)
class Store:
    """What the rooms above are given: rows and bytes."""

    db: Database
    blobs: Blobs

    def close(self) -> None:
        self.db.close()


def open_store(settings: Settings) -> Store:
    """Open the database that the settings name, bring it up to date, and find the blobs. Raises StoreError."""
    from leaf.store.blobs import Blobs
    from leaf.store.migrate import migrate, migrations

    db = _open_database(settings)
    try:
        migrate(db, migrations())
        blobs = Blobs(settings.home)
    except BaseException:
        db.close()
        raise
    return Store(db, blobs)


def _open_database(settings: Settings) -> Database:
    from leaf.errors import StoreError

    try:
        settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as e:
        raise StoreError(
            f"The data folder {settings.home} cannot be made: {e.strerror}.", "Set LEAF_HOME to another folder."
        ) from e
    if settings.database_url:
        from leaf.store.postgres import PostgresDatabase

        return PostgresDatabase(settings.database_url)
    from leaf.store.duckdb import DuckDatabase

    return DuckDatabase(settings.home / "leaf.duckdb")

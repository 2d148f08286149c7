"""History and files: SQL on DuckDB or PostgreSQL, and blobs. One module per aggregate; each
call takes a scope.

database   the seam: SQL with :name parameters        duckdb, postgres   the two behind it
changes    what was written, told to whom it concerns listener           the same from other processes
migrate    numbered migrations, run at boot only      blobs              content-addressed bytes; objects/ is where they last
users  logins  members  chats  participants  messages  files  chat_files     model              the values handed out
documents                                            versions of documents
leases  fence          which process writes which answer, and that no other does
usage  usage_days  budgets                           what answers used, the same added up, what they may use
cells  consents        Python that ran in a chat; what a step asked and was told
edited_steps  boards   steps of answers that a person ran again with code of their own; pages of pinned results
blob_names  care       what each blob belongs to; checking, moving and sweeping all of them
transcripts  chat_packages                           words of recordings; packages that chats have installed
results  made_files                                  rows that a chat keeps under r1, r2 …; files that Python wrote
audit  removal  rows   who did what; deleting for good; all rows as text, for backups
newer_files            what came later in the place of a file
chat_search  signatures                              chats with some words on DuckDB; which of them can have a word
space                  what is used of the disk, and the most that may be
integrations  oauth_states  drive_files              connections to other services, and what came from them
installation           what was chosen for everybody
vault      tokens and keys encrypted at rest
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaf.settings import Settings
    from leaf.store.blobs import Blobs
    from leaf.store.database import Database
    from leaf.store.space import Space


@dataclass(frozen=True)
class Store:
    """What the packages above are given: rows and bytes."""

    db: Database
    blobs: Blobs
    space: Space

    def close(self) -> None:
        self.blobs.close()
        self.db.close()


def open_store(settings: Settings) -> Store:
    """Open the database that the settings name, bring it up to date, and find the blobs. Raises
    StoreError, and SettingsError for a bucket that cannot be used as it is set, or a time zone."""
    from leaf.store.blob_names import is_named
    from leaf.store.blob_states import BlobStates
    from leaf.store.blobs import Blobs
    from leaf.store.migrate import migrate, migrations
    from leaf.store.model import Scope
    from leaf.store.objects.opening import open_objects
    from leaf.store.space import GIGABYTE, Space
    from leaf.store.usage_days import bring_up, check_zone

    db = open_database(settings)
    try:
        migrate(db, migrations())
        check_zone(db, settings.time_zone)
        bring_up(db, settings.time_zone)
        objects = open_objects(settings, db)
        blobs = Blobs(
            settings.home,
            objects,
            settings.storage.cache_bytes,
            is_named=lambda key: is_named(db, Scope(key.workspace_id, ""), key.sha256),
            states=BlobStates(db),
        )
    except BaseException:
        db.close()
        raise
    return Store(db, blobs, Space(settings.home, int(settings.disk_gb * GIGABYTE)))


def open_database(settings: Settings) -> Database:
    """The database that the settings name, as it is. Raises StoreError, SettingsError."""
    from leaf.errors import StoreError
    from leaf.settings.private import keep_private

    try:
        keep_private(settings.home)
    except OSError as e:
        raise StoreError(
            f"The data folder {settings.home} cannot be made: {e.strerror}.",
            "Set LEAF_HOME to another folder.",
        ) from e
    if settings.database_url:
        from leaf.store.postgres import PostgresDatabase

        return PostgresDatabase(settings.database_url)
    from leaf.store.duckdb import DuckDatabase

    return DuckDatabase(settings.home / "leaf.duckdb")

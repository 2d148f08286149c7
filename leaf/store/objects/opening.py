"""Which store of blobs the settings name."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from leaf.errors import StoreError
from leaf.settings.storage import FOLDER

if TYPE_CHECKING:
    from leaf.settings import Settings
    from leaf.store.database import Database
    from leaf.store.objects.base import ObjectStore

_log = logging.getLogger(__name__)


def open_objects(settings: Settings, db: Database) -> ObjectStore | None:
    """None: the data folder. Raises SettingsError for a bucket that cannot be used as it is set; one
    that is only away now is looked for again whenever it is needed."""
    storage = settings.storage
    if storage.bucket:
        from leaf.store.objects.bucket import BucketObjects

        bucket = BucketObjects(storage)
        try:
            bucket.check()
        except StoreError as e:
            _log.warning("%s", e)
        return bucket
    if storage.url == FOLDER or db.engine != "postgres":
        return None
    from leaf.store.objects.database import DatabaseObjects

    return DatabaseObjects(db, storage.database_bytes)

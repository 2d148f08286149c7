"""Which blobs are not as they should be, kept in the database: a restart knows them, and so does every
other process.

`missing` and `altered` are those that somebody looked for and did not find as they were kept. `swept`
are those that nothing is made of and that are being deleted, or were within the hour: whoever puts the
same bytes meanwhile puts them once more, as the first time may have been deleted with the old ones.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Literal

from leaf.errors import StoreError
from leaf.store.database import Database, now, one_of
from leaf.store.objects.base import BlobKey

State = Literal["missing", "altered", "swept"]
SWEPT = timedelta(hours=1)
"""For which it is remembered: longer than bytes take to be put."""
BATCH = 1_000
"""Blobs that are asked for at a time."""
_WHICH = "workspace_id = :workspace_id AND sha256 = :sha256"
_log = logging.getLogger(__name__)


class BlobStates:
    """Of all workspaces. Safe to share between threads and processes."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def lost(self, workspace_id: str, hashes: Collection[str]) -> dict[str, bool]:
        """Those that were not found as they were kept, and whether that was altered."""
        altered_of: dict[str, bool] = {}
        every = list(dict.fromkeys(hashes))
        for start in range(0, len(every), BATCH):
            those, names = one_of("sha256", every[start : start + BATCH])
            rows = self._db.read(
                "SELECT sha256, state FROM blob_states WHERE workspace_id = :workspace AND "
                f"state <> 'swept' AND {those}",
                {"workspace": workspace_id, **names},
            )
            altered_of |= {str(row["sha256"]): row["state"] == "altered" for row in rows}
        return altered_of

    def all_lost(self) -> list[tuple[BlobKey, bool]]:
        """The same in all workspaces, those that were found first before the others."""
        rows = self._db.read(
            "SELECT workspace_id, sha256, state FROM blob_states WHERE state <> 'swept' "
            "ORDER BY since"
        )
        return [(BlobKey(r["workspace_id"], r["sha256"]), r["state"] == "altered") for r in rows]

    def note(self, key: BlobKey, *, altered: bool) -> None:
        """It was looked for and not found as it was kept. Where that cannot be written it is seen
        the next time."""
        values = {**key._asdict(), "state": "altered" if altered else "missing", "at": now()}
        try:
            with self._db.transaction() as tx:
                tx.concerns([key.workspace_id])
                tx.tell("files")
                tx.execute(
                    "INSERT INTO blob_states (workspace_id, sha256, state, since) VALUES "
                    "(:workspace_id, :sha256, :state, :at) ON CONFLICT (workspace_id, sha256) DO "
                    "UPDATE SET state = excluded.state WHERE blob_states.state <> excluded.state",
                    values,
                )
        except StoreError as e:
            _log.warning("that a file is lost could not be noted: %s", e)

    def clear(self, key: BlobKey) -> bool:
        """It was put, or found whole; whether it was being swept, so that it has to be put again."""
        if not self._db.read(f"SELECT 1 AS yes FROM blob_states WHERE {_WHICH}", key._asdict()):
            return False
        with self._db.transaction() as tx:  # waits for whoever is deleting it
            tx.concerns([key.workspace_id])
            tx.tell("files")
            rows = tx.read(f"DELETE FROM blob_states WHERE {_WHICH} RETURNING state", key._asdict())
        return bool(rows and rows[0]["state"] == "swept")

    def begin_sweep(self, keys: Collection[BlobKey]) -> None:
        """Say that these are to be deleted, before it is looked a last time whether they may be."""
        with self._db.transaction() as tx:
            tx.concerns([])
            for key in keys:
                tx.execute(
                    "INSERT INTO blob_states (workspace_id, sha256, state, since) VALUES "
                    "(:workspace_id, :sha256, 'swept', :at) ON CONFLICT (workspace_id, sha256) DO "
                    "UPDATE SET state = 'swept', since = excluded.since",
                    {**key._asdict(), "at": now()},
                )

    def sweep(self, key: BlobKey, delete: Callable[[], bool]) -> bool:
        """Call `delete` unless somebody has put these bytes since `begin_sweep`; who does so now
        waits for it. Whether it deleted."""
        with self._db.transaction() as tx:
            tx.concerns([])
            held = tx.read(
                f"UPDATE blob_states SET state = state WHERE {_WHICH} AND state = 'swept' "
                "RETURNING state",
                key._asdict(),
            )
            return bool(held) and delete()

    def end_sweep(self) -> None:
        """Forget what was swept long ago."""
        with self._db.transaction() as tx:
            tx.concerns([])
            tx.execute(
                "DELETE FROM blob_states WHERE state = 'swept' AND since < :before",
                {"before": now() - SWEPT},
            )

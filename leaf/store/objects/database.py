"""Blobs in PostgreSQL, in pieces of a megabyte: for those who have one database that lasts and no
disk that does.

A blob and its pieces are written in one transaction, so nobody sees half of one. All blobs together
keep to a quota: a database that is full takes no more of the history either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from leaf.errors import StorageError
from leaf.store import converted
from leaf.store.database import Database, Transaction, now
from leaf.store.objects.base import PIECE, BlobEntry, BlobKey, gone_from, in_megabytes, key_of

LARGEST = 100 * 1024 * 1024
"""Bytes of one blob: more of it in one transaction would keep a small database from other work."""
SPARE = 0.5
"""Part of the quota up to which blobs that can be made again are taken."""
QUOTA = 400 * 1024 * 1024
"""Bytes of all blobs; free databases hold 500 MB, with the history."""
COUNTING = 0x1EAF19
"""Key of the advisory lock under which the quota is counted."""
_WHICH = "workspace_id = :workspace_id AND sha256 = :sha256"


class DatabaseObjects:
    """Safe to use from any number of threads, and from several processes. Raises StoreError, as the
    database does, where that fails."""

    name = "the database"
    largest = LARGEST

    def __init__(self, db: Database, quota_bytes: int = QUOTA) -> None:
        self._db = db
        self._quota = quota_bytes

    def put(self, key: BlobKey, path: Path, size: int) -> None:
        self._make_room(key, size)
        with self._db.transaction() as tx:
            tx.read("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))", {"key": key.place})
            _remove(tx, key)
            _write(tx, key, path)
            tx.read("SELECT pg_advisory_xact_lock(:lock)", {"lock": COUNTING})
            self._refuse_over_quota(tx, key, size)
            tx.execute(
                "INSERT INTO blobs (workspace_id, sha256, size, written_at) "
                "VALUES (:workspace_id, :sha256, :size, :at)",
                {**key._asdict(), "size": size, "at": now()},
            )

    def pieces(self, key: BlobKey) -> Iterator[bytes]:
        if self.find(key) is None:
            raise gone_from(self.name)
        number = 0
        while rows := self._db.read(
            f"SELECT bytes FROM blob_pieces WHERE {_WHICH} AND number = :number",
            {**key._asdict(), "number": number},
        ):
            yield bytes(rows[0]["bytes"])
            number += 1

    def find(self, key: BlobKey) -> BlobEntry | None:
        rows = self._db.read(f"SELECT size, written_at FROM blobs WHERE {_WHICH}", key._asdict())
        return BlobEntry(key, int(rows[0]["size"]), rows[0]["written_at"]) if rows else None

    def absent(self, keys: Collection[BlobKey], /) -> set[BlobKey]:
        if not keys:
            return set()
        wanted = [{"w": key.workspace_id, "s": key.sha256} for key in keys]
        rows = self._db.read(
            "SELECT k->>'w' AS workspace_id, k->>'s' AS sha256 FROM json_array_elements("
            "CAST(:wanted AS JSON)) AS k WHERE NOT EXISTS (SELECT 1 FROM blobs b WHERE "
            "b.workspace_id = k->>'w' AND b.sha256 = k->>'s')",
            {"wanted": wanted},
        )
        return {BlobKey(**row) for row in rows}

    def has_room(self, size: int, /) -> bool:
        return _used(self._db) + size <= SPARE * self._quota

    def delete(self, key: BlobKey) -> None:
        with self._db.transaction() as tx:
            _remove(tx, key)

    def entries(self, workspace_id: str = "") -> Iterator[BlobEntry]:
        rows = self._db.read(
            "SELECT workspace_id, sha256, size, written_at FROM blobs "
            "WHERE :workspace_id IN ('', workspace_id) ORDER BY workspace_id, sha256",
            {"workspace_id": workspace_id},
        )
        for row in rows:
            key = key_of(row["workspace_id"], row["sha256"])
            yield BlobEntry(key, int(row["size"]), row["written_at"])

    def check(self, *, writing: bool = False) -> None:
        """The database is looked at elsewhere; what can be wrong here is the quota."""
        used = _used(self._db)
        if writing and used > self._quota:
            raise StorageError(f"{_filled(used, self._quota)}, so no more are taken.", HINT)

    def _make_room(self, key: BlobKey, size: int) -> None:
        """Of what can be made again, where there would be none for this one. Raises StorageError
        where that does not do."""
        if _used(self._db, but=key) + size <= self._quota:
            return
        with self._db.transaction() as tx:
            tx.concerns([])
            converted.unscoped_make_room(tx)
            self._refuse_over_quota(tx, key, size)  # which leaves all as it was

    def _refuse_over_quota(self, db: Database | Transaction, key: BlobKey, size: int) -> None:
        """Raises StorageError where this one would be too many."""
        there = _used(db, but=key)
        if there + size > self._quota:
            raise StorageError(
                f"{_filled(there, self._quota)}, so this file ({in_megabytes(size)}) was not kept.",
                HINT,
            )


HINT = (
    "Delete files for good, raise LEAF_STORAGE_DATABASE_MB if the database holds more, or set "
    "LEAF_STORAGE_URL to a bucket, or to `file` where the disk lasts: see docs/deploy.md."
)


def _filled(used: int, quota: int) -> str:
    return f"The files in the database hold {in_megabytes(used)} of {in_megabytes(quota)}"


def _used(db: Database | Transaction, but: BlobKey | None = None) -> int:
    key = but or BlobKey("", "")
    rows = db.read(
        f"SELECT COALESCE(SUM(size), 0) AS used FROM blobs WHERE NOT ({_WHICH})", key._asdict()
    )
    return int(rows[0]["used"])


def _write(tx: Transaction, key: BlobKey, path: Path) -> None:
    with path.open("rb") as file:
        for number, piece in enumerate(iter(lambda: file.read(PIECE), b"")):
            tx.execute(
                "INSERT INTO blob_pieces (workspace_id, sha256, number, bytes) "
                "VALUES (:workspace_id, :sha256, :number, :bytes)",
                {**key._asdict(), "number": number, "bytes": piece},
            )


def _remove(tx: Transaction, key: BlobKey) -> None:
    tx.execute(f"DELETE FROM blobs WHERE {_WHICH}", key._asdict())
    tx.execute(f"DELETE FROM blob_pieces WHERE {_WHICH}", key._asdict())

"""Tables as Parquet in the store, beside what cannot be made again: where making them took longer than
fetching them would, so that after a lost disk, and on another machine, nobody waits for that again.

They are put in a thread of their own, after whoever asked has the table. What is fetched is compared
with its hash; what is gone, altered or of other readers is made anew. Where files last in the data
folder there is nothing to do: the Parquet stands beside them.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from leaf.errors import BlobGoneError, LeafError, SandboxError, StorageError
from leaf.readers.base import VERSION, TableInfo
from leaf.sandbox.answers import checked, plain
from leaf.store import Store, blob_names, converted
from leaf.store.converted import ConvertedTable
from leaf.store.model import File, Scope

PARQUET = r"\d{1,6}\.parquet"
"""What the tables that a child writes are called."""
LEAST_SAVED = 0.1
"""Seconds that fetching has to save: putting costs requests and room."""
_log = logging.getLogger(__name__)


class LastingTables:
    """Safe to use from any number of threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._guard = threading.Lock()
        self._worker: ThreadPoolExecutor | None = None
        self._closed = False

    def known(self, files: Sequence[File]) -> Iterator[tuple[File, list[ConvertedTable]]]:
        """Those of the files whose tables are in the store; all are of one workspace."""
        if self._store.blobs.store is None or not files:
            return
        hashes = [file.sha256 for file in files]
        by_hash = converted.find(self._store.db, files[0].workspace_id, hashes, VERSION)
        for file in files:
            if tables := by_hash.get((file.sha256, file.kind)):
                yield file, tables

    def fetch(
        self, file: File, kept: Sequence[ConvertedTable], into: Path
    ) -> list[TableInfo] | None:
        """Write the Parquet of a file into a folder. None where that cannot be, so that it is made
        anew."""
        try:
            tables = checked([one.about for one in kept], list[TableInfo])
            for one, table in zip(kept, tables, strict=True):
                if not re.fullmatch(PARQUET, table.parquet):
                    raise BlobGoneError("What is kept of this table names no file.")
                if not (into / table.parquet).exists():
                    self._store.blobs.fetch_spare(
                        file.workspace_id, one.sha256, into / table.parquet
                    )
        except (BlobGoneError, SandboxError) as e:
            _log.warning("a table is made anew, as it cannot be used from the store: %s", e)
            self._let_go(file.workspace_id, converted.forget(self._store.db, file))
            return None
        except StorageError as e:
            _log.warning("a table is made anew, as it cannot be fetched: %s", e)
            return None
        return tables

    def offer(self, file: File, folder: Path, tables: Sequence[TableInfo], seconds: float) -> None:
        """Have the Parquet of a file put, which stands in a folder and took so many seconds to
        make, if fetching it would save some."""
        if self._store.blobs.store is None or not tables or seconds < LEAST_SAVED:
            return
        try:
            size = sum((folder / name).stat().st_size for name in _names(tables))
        except OSError:  # removed meanwhile
            return
        if seconds - self._store.blobs.pace.seconds(size) < LEAST_SAVED:
            return
        with self._guard:
            if self._closed:
                return
            self._worker = self._worker or ThreadPoolExecutor(1, "leaf-tables")
            self._worker.submit(self._put, file, folder, tables)

    def settle(self) -> None:
        """Wait until all is put that was offered."""
        with self._guard:
            worker = self._worker
        if worker is not None:
            worker.submit(lambda: None).result()

    def close(self) -> None:
        """What is being put is put to its end; the rest is made again when it is needed."""
        with self._guard:
            self._closed, worker = True, self._worker
        if worker is not None:
            worker.shutdown(wait=True, cancel_futures=True)

    def _put(self, file: File, folder: Path, tables: Sequence[TableInfo]) -> None:
        put: list[ConvertedTable] = []
        try:
            for table in tables:
                blob = self._store.blobs.put_spare(file.workspace_id, folder / table.parquet)
                if blob is None:
                    break
                put.append(ConvertedTable(blob.sha256, blob.size, plain(table)))
            whole = len(put) == len(tables)
            left = converted.keep(self._store.db, file, VERSION, put) if whole else _hashes(put)
            self._let_go(file.workspace_id, left)
        except (LeafError, OSError) as e:
            _log.warning("the tables of a file stay on this disk alone: %s", e)

    def _let_go(self, workspace_id: str, hashes: Iterable[str]) -> None:
        """Remove bytes that no row names. Raises StorageError."""
        for sha256 in dict.fromkeys(hashes):
            if not blob_names.is_named(self._store.db, Scope(workspace_id, ""), sha256):
                self._store.blobs.delete(workspace_id, sha256)


def _names(tables: Iterable[TableInfo]) -> set[str]:
    return {table.parquet for table in tables}


def _hashes(tables: Iterable[ConvertedTable]) -> list[str]:
    return [one.sha256 for one in tables]

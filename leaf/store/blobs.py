"""Bytes named by their SHA-256, once per workspace. The one class that the house uses for them,
wherever they last.

    put    stream → a file beside its later place, hashed → the store → only then it counts as kept
    local  the file itself in the data folder; else from the cache, where it is fetched to and checked

With the data folder as their place (`home/blobs/<workspace>/<aa>/<sha256>`) nothing is copied and there
is no cache. With another one that folder may hold blobs of earlier times: they are used, and put into
the store when they are.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import BinaryIO, NamedTuple

from leaf.errors import BlobGoneError, FileTooLargeError, StoreError
from leaf.store.blob_states import BlobStates
from leaf.store.objects.base import BlobEntry, BlobKey, ObjectStore, gone_from, in_megabytes, key_of
from leaf.store.objects.behind import BlobsBehind
from leaf.store.objects.cache import BlobCache, HeldPath, altered
from leaf.store.objects.folder import BlobFolder, gone_from_folder
from leaf.store.objects.pace import BucketPace

_log = logging.getLogger(__name__)

REMEMBERED = 10_000
"""Blobs of which it is remembered that they are intact, or where they stand."""
TRIES = 3
PAUSE = 20.0
"""Seconds for which a store that has failed is not asked to take what the folder has."""
CACHE_BYTES = 5 * 1024**3


class StoredBlob(NamedTuple):
    sha256: str
    size: int


class Blobs:
    """The blobs of all workspaces. Safe to use from any number of threads."""

    def __init__(
        self,
        home: Path,
        store: ObjectStore | None = None,
        cache_bytes: int = CACHE_BYTES,
        *,
        is_named: Callable[[BlobKey], bool] = lambda _key: True,
        states: BlobStates | None = None,
        pause: float = PAUSE,
    ) -> None:
        """Without a store they stand in the data folder. `is_named` says whether the database still
        names a blob: one that was deleted meanwhile is not put into the store. `states` remembers
        what was lost and what is being swept; without it nothing is. `pause` is in seconds."""
        self.folder = BlobFolder(home / "blobs")
        self.store = store
        self.cache = BlobCache(home / "cache" / "blobs", cache_bytes) if store else None
        self._intact: dict[str, tuple[int, int, int]] = {}
        """Blobs that were read whole and found to be what they are named by, as they were then."""
        self._lasting: set[BlobKey] = set()
        """Blobs of the folder that are known to be in the store as well."""
        self._not_before = 0.0
        """Until when nothing of the folder is put into the store, since that failed."""
        self._states = states
        self.pace = BucketPace()
        self._guard = threading.Lock()
        self._taking = threading.Lock()
        """Held while a file of the data folder gets its name, and while one is swept."""
        self._fetching: dict[BlobKey, threading.Lock] = {}
        self._pause = pause
        self._is_named = is_named
        self._behind = BlobsBehind(home / "behind", self._brought, pause) if store else None

    @property
    def place(self) -> ObjectStore:
        """Where blobs last."""
        return self.store or self.folder

    @property
    def whereabouts(self) -> str:
        """The same in words."""
        return self.store.name if self.store else "the data folder"

    def put(
        self,
        workspace_id: str,
        stream: BinaryIO,
        limit_bytes: int,
        *,
        on_progress: Callable[[int], None] | None = None,
        lasting: bool = True,
    ) -> StoredBlob:
        """Keep what the stream gives. It appears under its name whole or not at all, and lasts when
        this returns. What can be made again may be kept in the data folder alone where the store
        does not take it: `lasting` is False then.

        Raises FileTooLargeError over `limit_bytes`, StoreError when it cannot be kept.
        """
        key_of(workspace_id, "0" * 64)
        into = self.cache.files if self.cache else self.folder
        with into.receiving(workspace_id, stream, limit_bytes, on_progress) as received:
            key = key_of(workspace_id, received.sha256)
            if self.store is None or self.cache is None:
                with self._taking:
                    self.folder.take(key, received.path)
            elif lasting:
                self._put(self.store, key, received.path, received.size)
                self.cache.take(key, received.path, received.size)
            elif self._offered(self.store, key, received.path, received.size):
                self.cache.take(key, received.path, received.size)
            else:
                self._keep_here(key, received.path)
        return StoredBlob(received.sha256, received.size)

    def local(self, workspace_id: str, sha256: str) -> Path:
        """A file with these bytes, to be read. It stays where it is for as long as the caller
        keeps this very object, or has the file open.

        Raises BlobGoneError where they are missing or are not what they were, StorageError where
        the store cannot be asked.
        """
        key = key_of(workspace_id, sha256)
        there = self.folder.path(key)
        if self.store is None or self.cache is None:
            if not there.is_file():
                raise gone_from_folder()
            return there
        if (path := self.cache.find(key)) is not None:
            return path
        if there.is_file() and self._made_lasting(self.store, key, there):
            return there
        return self._fetched(self.store, self.cache, key)

    def open(self, workspace_id: str, sha256: str) -> BinaryIO:
        """Raises as `local`."""
        try:
            return self.local(workspace_id, sha256).open("rb")
        except FileNotFoundError as e:
            raise gone_from_folder() from e

    def exists(self, workspace_id: str, sha256: str) -> bool:
        """Whether the bytes are there; the store is asked if need be. Raises StorageError."""
        key = key_of(workspace_id, sha256)
        if self.folder.path(key).is_file() or (self.cache and self.cache.find(key)):
            return True
        return self.store is not None and self.store.find(key) is not None

    def lost(self, workspace_id: str, hashes: Collection[str]) -> dict[str, BlobGoneError]:
        """Those of them that are known to be gone, or altered. Folder and database are asked for
        all at once, a bucket is not: what it lacks is known since somebody wanted to open it, or
        since it was looked through."""
        keys = [key_of(workspace_id, sha256) for sha256 in hashes]
        absent = self.place.absent(keys)
        noted = self._states.lost(workspace_id, hashes) if self.store and self._states else {}
        return {
            key.sha256: altered() if noted.get(key.sha256) else gone_from(self.whereabouts)
            for key in keys
            if (key in absent or key.sha256 in noted) and not self._is_here(key)
        }

    def _is_here(self, key: BlobKey) -> bool:
        """Whether this machine has it, wherever it lasts."""
        cached = self.cache is not None and self.cache.files.path(key).is_file()
        return cached or self.folder.path(key).is_file()

    def is_intact(self, workspace_id: str, sha256: str) -> bool:
        """Whether the bytes are there and still the ones that they are named by. They are read
        whole the first time, and again when the file was touched since. Raises StorageError."""
        try:
            path = self.local(workspace_id, sha256)
        except BlobGoneError:
            return False
        if self._same(path, sha256):
            return True
        if self.cache is None:
            return False
        self.cache.delete(key_of(workspace_id, sha256))
        try:
            return self._same(self.local(workspace_id, sha256), sha256)
        except BlobGoneError:
            return False

    def delete(self, workspace_id: str, sha256: str) -> None:
        """Remove the bytes for good; nothing happens if they are gone. Raises StorageError."""
        key = key_of(workspace_id, sha256)
        self._lasting.discard(key)
        self.folder.delete(key)
        if self._behind is not None:
            self._behind.forget(key)
        if self.store is not None and self.cache is not None:
            self.cache.delete(key)
            self.store.delete(key)

    def delete_if(self, key: BlobKey, may_go: Callable[[BlobEntry], bool]) -> bool:
        """Remove a blob for good if it may go as it stands now; whether it did. Raises
        StorageError."""
        with self._taking:
            latest = self.place.find(key)
            if latest is not None and not may_go(latest):
                return False
            self.delete(*key)
        return True

    def delete_all(self, workspace_id: str) -> None:
        """Remove all that a workspace had, named or not, which is deleted for good. Raises
        StorageError."""
        places = [self.folder, self.place, *([self.cache.files] if self.cache else [])]
        for key in {entry.key for place in places for entry in place.entries(workspace_id)}:
            self.delete(*key)

    def put_spare(self, workspace_id: str, path: Path) -> StoredBlob | None:
        """Put what can be made again into the store, past the cache; None where the store is the
        data folder, does not take it now, or has no room but for what cannot be made again."""
        if self.store is None:
            return None
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        key, size = key_of(workspace_id, sha256), path.stat().st_size
        try:
            spare = self.store.has_room(size) and not 0 < self.store.largest < size
        except StoreError as e:
            _log.warning("a table is not put into the store: %s", e)
            return None
        if not spare or not self._offered(self.store, key, path, size):
            return None
        return StoredBlob(sha256, size)

    def fetch_spare(self, workspace_id: str, sha256: str, into: Path) -> None:
        """Write the bytes to a new file, past the cache. Raises BlobGoneError where they are not in
        the store as they were put, StorageError."""
        digest, size, began = hashlib.sha256(), 0, time.monotonic()
        with self.folder.explained(), into.open("xb") as file:
            for piece in self.place.pieces(key_of(workspace_id, sha256)):
                digest.update(piece)
                size += file.write(piece)
        self.pace.note(size, time.monotonic() - began)
        if digest.hexdigest() != sha256:
            raise altered()

    def close(self) -> None:
        """Bring nothing into the store any more; the next start does."""
        if self._behind is not None:
            self._behind.close()

    def _put(self, store: ObjectStore, key: BlobKey, path: Path, size: int) -> None:
        """Into the store. What stands there is written anew: it may have been altered."""
        if store.largest and size > store.largest:
            raise FileTooLargeError(
                f"The file is larger than {in_megabytes(store.largest)}, the most that {store.name} "
                f"takes.",
                "Split it, or have LEAF_STORAGE_URL set to a bucket, see docs/deploy.md.",
            )
        store.put(key, path, size)
        if self._states is not None and self._states.clear(key):
            store.put(key, path, size)  # what was there was being swept, and this perhaps with it

    def _keep_here(self, key: BlobKey, path: Path) -> None:
        """In the data folder alone, until the store takes it: other processes lack it meanwhile."""
        self.folder.take(key, path)
        if self._behind is not None:
            with self.folder.explained():
                self._behind.add(key)

    def _brought(self, key: BlobKey) -> bool:
        """Put a blob of the folder into the store; whether it is there now, or can't be."""
        path = self.folder.path(key)
        if self.store is None or not self._same(path, key.sha256):
            return True
        try:
            if not self._is_named(key):
                return True
            self._put(self.store, key, path, path.stat().st_size)
            if not self._is_named(key):  # deleted for good while it went up
                self.store.delete(key)
                return True
        except (StoreError, FileTooLargeError, OSError) as e:
            _log.warning("a file stays in the data folder alone: %s", e)
            return isinstance(e, FileTooLargeError)
        self._note_lasting(key)
        return True

    def _made_lasting(self, store: ObjectStore, key: BlobKey, path: Path) -> bool:
        """Put a blob of the folder into the store, if it is not there. Whether it can be used: a
        store that is away, or full, is no reason against it."""
        if key in self._lasting:
            return True
        if not self._same(path, key.sha256):
            return False
        if self._offered(store, key, path, path.stat().st_size, anew=False):
            self._note_lasting(key)
        return True

    def _offered(
        self, store: ObjectStore, key: BlobKey, path: Path, size: int, *, anew: bool = True
    ) -> bool:
        """Whether the store has taken it, or had it unless it is to be written `anew`; one that has
        just failed is not asked."""
        if time.monotonic() < self._not_before:
            return False
        try:
            there = None if anew else store.find(key)
            if there is None or there.size != size:
                self._put(store, key, path, size)
        except (StoreError, FileTooLargeError) as e:
            if isinstance(e, StoreError):
                self._not_before = time.monotonic() + self._pause
            _log.warning("a file stays in the data folder alone: %s", e)
            return False
        return True

    def _fetched(self, store: ObjectStore, cache: BlobCache, key: BlobKey) -> Path:
        with self._guard:
            lock = self._fetching.setdefault(key, threading.Lock())
        try:
            with lock:
                path = cache.find(key) or self._filled(cache, store, key)
        except BlobGoneError as e:
            if self._states is not None:
                self._states.note(key, altered=e.altered)
            raise
        finally:
            with self._guard:
                self._fetching.pop(key, None)
        if self._states is not None:
            self._states.clear(key)
        self._note_intact(path)
        return path

    def _filled(self, cache: BlobCache, store: ObjectStore, key: BlobKey) -> HeldPath:
        """Fetch a blob, once more where another process has already made room of it."""
        for _ in range(TRIES):
            began = time.monotonic()
            if (path := cache.fill(key, store.pieces(key))) is not None:
                self.pace.note(path.stat().st_size, time.monotonic() - began)
                return path
        raise StoreError(
            "The cache in the data folder does not keep what is put there.",
            "Raise LEAF_CACHE_GB, and look whether this process may open more files.",
        )

    def _same(self, path: Path, sha256: str) -> bool:
        try:
            seen = _fingerprint(path)
            if self._intact.get(str(path)) == seen:
                return True
            with path.open("rb") as file:
                same = hashlib.file_digest(file, "sha256").hexdigest() == sha256
        except OSError:
            return False
        if same:
            self._note_intact(path, seen)
        return same

    def _note_intact(self, path: Path, seen: tuple[int, int, int] | None = None) -> None:
        if len(self._intact) >= REMEMBERED:
            self._intact.clear()
        self._intact[str(path)] = seen or _fingerprint(path)

    def _note_lasting(self, key: BlobKey) -> None:
        if len(self._lasting) >= REMEMBERED:
            self._lasting.clear()
        self._lasting.add(key)


def _fingerprint(path: Path) -> tuple[int, int, int]:
    """What changes when a file is written, and stays when a child gets a link to it."""
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns

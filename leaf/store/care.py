"""Looking after blobs as a whole: whether all that the database names are there, copies from one place
to another, and what nobody names any more."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from leaf.errors import BlobGoneError
from leaf.settings.disk import scratch
from leaf.store import Store, blob_names
from leaf.store.blob_states import BlobStates
from leaf.store.database import now
from leaf.store.objects.base import BlobEntry, BlobKey, ObjectStore

Told = Callable[[int, int], None]
"""How many are done, of how many."""
FRESH = timedelta(days=1)
"""Blobs younger than this may be about to be named."""


@dataclass
class BlobCount:
    """What was done with blobs, and with which of them it could not be done."""

    done: int = 0
    size: int = 0
    """Bytes of those."""
    left: int = 0
    """That needed nothing, or were left alone."""
    problems: list[str] = field(default_factory=list)
    """A sentence for each that needs somebody."""

    def add(self, size: int) -> None:
        self.done += 1
        self.size += size


def check(store: Store, told: Told) -> BlobCount:
    """Read every blob that the database names, from where it lasts, and compare its hash. Raises
    StorageError."""
    named, tally = blob_names.unscoped_named(store.db), BlobCount()
    place = store.blobs.place
    for number, (key, what) in enumerate(sorted(named.items()), 1):
        problem, size = _examined(place, key)
        if not problem:
            tally.add(size)
        elif store.blobs.store is not None and not _examined(store.blobs.folder, key)[0]:
            tally.problems.append(f"{what}: in the data folder alone; storage move copies it.")
        else:
            tally.problems.append(f"{what}: {problem} (SHA-256 {key.sha256}).")
        told(number, len(named))
    return tally


def move(
    source: ObjectStore, target: ObjectStore, told: Told, *, remove: bool = False
) -> BlobCount:
    """Copy every blob that the target lacks, and read it back. What is there already is not copied
    again, so an interrupted move goes on. `remove` takes away from the source what the target is
    known to hold. Raises StorageError."""
    entries, tally = list(source.entries()), BlobCount()
    for number, entry in enumerate(entries, 1):
        there = target.find(entry.key)
        if there is not None and there.size == entry.size and not remove:
            tally.left += 1
        elif problem := _copied(source, target, entry):
            tally.problems.append(f"{entry.key.place}: {problem}.")
        else:
            tally.add(entry.size)
            if remove:
                source.delete(entry.key)
        told(number, len(entries))
    return tally


def sweep(store: Store, told: Told, *, trial: bool = False) -> BlobCount:
    """Delete the blobs of this database's workspaces that it does not name and that are older than
    a day, wherever they stand; with `trial` only count them. Raises StorageError."""
    named, ours = blob_names.unscoped_named(store.db), blob_names.unscoped_workspaces(store.db)
    tally = BlobCount()
    nobodys = [entry for entry in _everywhere(store) if entry.key not in named]
    old = [e for e in nobodys if e.key.workspace_id in ours and is_old(e)]
    going = iter(old) if trial else swept(store, old, lambda: blob_names.unscoped_named(store.db))
    for number, entry in enumerate(going, 1):
        tally.add(entry.size)
        told(number, len(old))
    tally.left = len(nobodys) - tally.done
    return tally


def swept(
    store: Store, entries: Sequence[BlobEntry], named: Callable[[], Collection[BlobKey]]
) -> Iterator[BlobEntry]:
    """Delete those that are still named by nothing and still old, wherever they stand, and give each
    that was. Whoever puts the same bytes meanwhile puts them so that they last. Raises
    StorageError."""
    if not entries:
        return
    states = BlobStates(store.db)
    states.begin_sweep([entry.key for entry in entries])
    named_keys = named()
    for entry in entries:
        key = entry.key
        if key in named_keys:
            states.clear(key)
        elif states.sweep(key, lambda k=key: store.blobs.delete_if(k, is_old)):  # type: ignore[misc]
            yield entry


def _everywhere(store: Store) -> Iterable[BlobEntry]:
    """Of each blob one entry, from where it lasts, the folder or the cache."""
    blobs = store.blobs
    places = [blobs.cache.files] if blobs.cache is not None else []
    entry_of: dict[BlobKey, BlobEntry] = {}
    for place in (*places, blobs.folder, blobs.place):
        entry_of.update({entry.key: entry for entry in place.entries()})
    return entry_of.values()


def is_old(entry: BlobEntry) -> bool:
    """Whether nobody is about to name it any more."""
    return now() - entry.written_at > FRESH


def _examined(place: ObjectStore, key: BlobKey) -> tuple[str, int]:
    """What is wrong with a blob, empty for nothing, and its size."""
    digest, size = hashlib.sha256(), 0
    try:
        for piece in place.pieces(key):
            digest.update(piece)
            size += len(piece)
    except BlobGoneError:
        return f"missing from {place.name}", 0
    return ("" if digest.hexdigest() == key.sha256 else f"altered in {place.name}"), size


def _copied(source: ObjectStore, target: ObjectStore, entry: BlobEntry) -> str:
    """Why it could not be copied; empty if it was, or was there."""
    if not _examined(target, entry.key)[0]:
        return ""
    with _spooled(source.pieces(entry.key)) as (path, sha256, size):
        if sha256 != entry.key.sha256:
            return f"altered in {source.name}, so it was not copied"
        if target.largest and size > target.largest:
            return f"too large for {target.name}"
        target.put(entry.key, path, size)
    return _examined(target, entry.key)[0]


@contextmanager
def _spooled(pieces: Iterator[bytes]) -> Iterator[tuple[Path, str, int]]:
    """The bytes as a file, with their hash and size."""
    digest, size = hashlib.sha256(), 0
    with scratch("move") as folder:
        path = folder / "blob"
        with path.open("wb") as file:
            for piece in pieces:
                digest.update(piece)
                size += file.write(piece)
        yield path, digest.hexdigest(), size

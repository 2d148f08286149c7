"""A look through the blobs that nobody asked for: what nothing is made of is swept, and what is named
and not there is noted, workspace after workspace.

    listed, then named → nobody's and older than a day → said to be swept → looked at once more → deleted
    named, then listed → not there                     → looked at once more → noted as missing

A blob that somebody is just putting is never taken for nobody's: what is named is asked after the
list was made, only old ones count, and whoever puts the same bytes in this very moment is told (see
`blob_states.py`). Blobs of workspaces that the database does not know stay: a bucket may hold another
installation's. Those of a workspace that was deleted go with its note.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from leaf.store import Store, blob_names, care
from leaf.store.blob_states import BlobStates
from leaf.store.model import Scope
from leaf.store.objects.base import BlobKey

LISTED = 20_000
"""Blobs of a round; the workspace in which it is reached is finished."""
SWEPT = 500
"""Most that a round deletes of one workspace."""
LOOKED_FOR = 500
"""Most that a round looks for one by one, in each of which a bucket is asked."""


@dataclass
class RoundDone:
    """What a round has found."""

    position: str = ""
    """Where the next begins: after this workspace."""
    listed: int = 0
    swept: int = 0
    lost: int = 0
    back: int = 0


class Round:
    """One look. Not to be shared between threads."""

    def __init__(self, store: Store, closed: threading.Event | None = None) -> None:
        """It ends early once `closed` is set."""
        self._store = store
        self._db = store.db
        self._blobs = store.blobs
        self._place = store.blobs.place
        self._states = BlobStates(store.db)
        self._closed = closed or threading.Event()
        self._done = RoundDone()

    def go(self, position: str = "") -> RoundDone:
        """From the workspace after `position` on. Raises StoreError."""
        self._find_back()
        self._states.end_sweep()
        for workspace_id in self._after(position):
            self._look_through(workspace_id)
            self._done.position = workspace_id
            if self._done.listed >= LISTED or self._closed.is_set():
                return self._done
        self._done.position = ""
        return self._done

    def _after(self, position: str) -> list[str]:
        return [w for w in sorted(blob_names.unscoped_workspaces(self._db)) if w > position]

    def _look_through(self, workspace_id: str) -> None:
        before = blob_names.unscoped_named_in(self._db, workspace_id)
        listed = {entry.key: entry for entry in self._place.entries(workspace_id)}
        self._done.listed += len(listed)
        self._note_lost(workspace_id, before - listed.keys())
        named = blob_names.unscoped_named_in(self._db, workspace_id)
        nobodys = [e for e in listed.values() if e.key not in named and care.is_old(e)][:SWEPT]
        for _ in care.swept(
            self._store, nobodys, lambda: blob_names.unscoped_named_in(self._db, workspace_id)
        ):
            self._done.swept += 1
            if self._closed.is_set():
                return

    def _note_lost(self, workspace_id: str, absent: set[BlobKey]) -> None:
        """Unless they have come meanwhile, were deleted, stand in the data folder alone, or are told
        by one question whenever a file is shown."""
        known = self._states.lost(workspace_id, [key.sha256 for key in absent])
        told = self._place.absent(absent)
        suspects = sorted(key for key in absent - told if key.sha256 not in known)[:LOOKED_FOR]
        named = blob_names.unscoped_named_in(self._db, workspace_id) if suspects else set()
        for key in suspects:
            if self._closed.is_set():
                return
            if (
                key in named
                and self._blobs.folder.find(key) is None
                and self._place.find(key) is None
            ):
                self._states.note(key, altered=False)
                self._done.lost += 1

    def _find_back(self) -> None:
        """Those that were missing and are there again, however they came, and those that nothing is
        made of any more."""
        for key, altered in self._states.all_lost()[:LOOKED_FOR]:
            if self._closed.is_set():
                return
            back = not altered and self._place.find(key) is not None
            scope = Scope(key.workspace_id, "")
            if back or not blob_names.is_named(self._db, scope, key.sha256):
                self._states.clear(key)
                self._done.back += back

"""What was deleted for good through another Leaf is removed from this one's disk, too: about once an
hour each process that has its files elsewhere looks through what it has made of files, and what it has
fetched of them. Beside that each looks for results that a killed process left half written: in a chat that
goes on the next one removes them, in others nobody did.

What is here is asked before what the database names, so that nothing that comes meanwhile is taken for
left over. All of it is fetched or made again where somebody needs it after all.
"""

from __future__ import annotations

import logging
import re
import shutil
from pathlib import Path

from leaf.errors import LeafError
from leaf.files.search_index import SearchIndex
from leaf.keeping.background import Background
from leaf.store import Store, blob_names, leftovers, removal
from leaf.store.model import Scope
from leaf.store.removal import Gone
from leaf.tables.tables import Tables

HASH = re.compile(r"[0-9a-f]{64}")
logger = logging.getLogger(__name__)


class Leftovers(Background):
    """Safe to call from any number of threads. Where files last in the data folder nobody else
    deletes: one Leaf has it."""

    def __init__(self, store: Store, tables: Tables, home: Path) -> None:
        self._store = store
        self._tables = tables
        self._home = home
        self._index = SearchIndex(home / "search")
        super().__init__("leftovers", self._look)

    def look(self) -> None:
        """Remove what killed processes and other Leafs have left. Raises StoreError."""
        leftovers.remove(self._home / "results", "*/*/.new-*")
        if self._store.blobs.cache is None:
            return
        for workspace_id in sorted(self._here()):
            if self.ending.is_set():
                return
            self._of_files(workspace_id)
            self._fetched(workspace_id)

    def _look(self) -> None:
        try:
            self.look()
        except (LeafError, OSError) as e:
            logger.warning("what others have deleted stays here for another hour: %s", e)

    def _here(self) -> set[str]:
        """Workspaces of which anything is here."""
        folders = ("tables", "transcripts", "cache/blobs")
        workspace_ids = {
            path.name for folder in folders for path in (self._home / folder).glob("*/")
        }
        return workspace_ids | {path.stem for path in (self._home / "search").glob("*.sqlite")}

    def _of_files(self, workspace_id: str) -> None:
        """Tables, transcripts and the search index."""
        scope = Scope(workspace_id, "")
        folders = [self._home / kind / workspace_id for kind in ("tables", "transcripts")]
        names = {path.name[:64] for folder in folders for path in folder.glob("*")}
        here = {name for name in names if HASH.fullmatch(name)} | self._index.hashes(scope)
        there = "SELECT sha256 FROM files WHERE workspace_id = :workspace"
        left = here - set(removal.column(self._store.db, there, {"workspace": workspace_id}))
        if not left:
            return
        self._index.forget(scope, left)
        self._tables.let_go(Gone(workspace_id, hashes=(*left,)))
        for sha256 in left:
            shutil.rmtree(folders[1] / sha256, ignore_errors=True)

    def _fetched(self, workspace_id: str) -> None:
        """Copies of bytes, but those that are in use: they may be about to be named."""
        cache = self._store.blobs.cache
        if cache is None:
            return
        here = {entry.key for entry in cache.files.entries(workspace_id)}
        named = blob_names.unscoped_named_in(self._store.db, workspace_id) if here else set()
        for key in here - named:
            cache.drop(key)

"""What is kept for a time and then removed without anybody asking."""

from __future__ import annotations

import logging
from datetime import timedelta

from leaf.errors import LeafError
from leaf.store import Store, blob_names, boards, link_rows
from leaf.store.model import Scope

LINKS = timedelta(days=7)
"""For which a public link that ran out is still told of to its maker."""
logger = logging.getLogger(__name__)


def forget_expired(store: Store) -> None:
    """Pins that were removed, and public links that ran out a while ago, with their snapshots."""
    boards.unscoped_forget_removed(store.db)
    for workspace_id, sha256 in link_rows.unscoped_forget_over(store.db, LINKS):
        if blob_names.is_named(store.db, Scope(workspace_id, ""), sha256):
            continue
        try:
            store.blobs.delete(workspace_id, sha256)
        except LeafError as e:  # nobody can reach it any more, and `storage sweep` finds it
            logger.warning("the snapshot of a link that ran out is not gone yet: %s", e)

"""What people saw of an answer that its run may not save any more."""

from __future__ import annotations

import logging

from leaf import logs
from leaf.agent.events import compact, reduce
from leaf.errors import StoreError
from leaf.runs.run import Run
from leaf.store import fence, messages
from leaf.store.database import Database

logger = logging.getLogger(__name__)


def keep_shown(db: Database, run: Run) -> None:
    """Of a run whose asker was taken out of the chat: the others saw it grow."""
    try:
        with fence.behind(None):  # the lease went with the access
            messages.unscoped_keep_shown(db, run.message_id, reduce(compact(run.read().chunks)))
    except StoreError as e:
        logger.warning("what run %s had shown was not kept: %s", run.message_id, logs.reason(e))

"""Why the run database failed, in words for a person: its disk, who may write, its server; else it
is Leaf's own fault."""

from __future__ import annotations

import logging
import re

from leaf.errors import StoreBusyError, StoreError
from leaf.store.refused import cause_of

FULL = re.compile(r"disk is full|no space left|file too large|quota", re.IGNORECASE)
BROKEN_DISK = re.compile(r"disk i/o error|input/output error", re.IGNORECASE)
FORBIDDEN = re.compile(
    r"readonly database|read-only|unable to open database file|permission denied", re.IGNORECASE
)
LOCKED = re.compile(r"database( table)? is locked", re.IGNORECASE)
DAMAGED = re.compile(r"malformed|not a database", re.IGNORECASE)
UNREACHED = re.compile(
    r"connection (refused|failed|reset|timed out|is lost|to server)|could not "
    r"(connect|translate)|server closed|"
    r"timeout expired|authentication failed|starting up|shutting down|too many "
    r"(clients|connections)",
    re.IGNORECASE,
)

logger = logging.getLogger(__name__)


def explain(error: Exception, *, shared: bool) -> StoreError:
    """What happened, by what the database said, and what to do. `shared` is the one on PostgreSQL.

    What is not known to come from outside is called Leaf's own fault, and the log has all of it.
    """
    message = str(error)
    problem = _on_server(message) if shared else _on_disk(message)
    if problem is None:
        logger.error("the run database failed", exc_info=error)
        return StoreError(
            "The database that answers are written through failed by a fault of Leaf.",
            "Your files and settings are not to blame. The log has the details, `python -m leaf "
            "doctor` the versions.",
        )
    return problem


def _on_disk(message: str) -> StoreError | None:
    if FULL.search(message):
        return StoreError(
            "The run database cannot be written: the disk of the data folder is full.",
            "Free some space.",
        )
    if BROKEN_DISK.search(message):
        return StoreError(
            "The run database cannot be written: the disk of the data folder failed.",
            "Check that disk.",
        )
    if FORBIDDEN.search(message):
        return StoreError(
            "The run database runs.sqlite cannot be written.",
            "Check who may write in the data folder, LEAF_HOME.",
        )
    if LOCKED.search(message):
        return StoreBusyError(
            "The run database runs.sqlite is locked by another program.", "Close that program."
        )
    if DAMAGED.search(message):
        return StoreError(
            "The run database runs.sqlite is damaged.",
            "Start Leaf again: it puts the file aside and makes a new one.",
        )
    return None


def _on_server(message: str) -> StoreError | None:
    if FULL.search(message):
        return StoreError(
            "The run database cannot be written: the disk of the PostgreSQL server is full.",
            "Free some space there.",
        )
    if FORBIDDEN.search(message):
        return StoreError(
            "The PostgreSQL user of LEAF_DATABASE_URL may not make the tables of runs.",
            "Let it make the schema `dbos`.",
        )
    if UNREACHED.search(message):
        if cause := cause_of(message):
            return StoreError(
                f"The PostgreSQL server cannot be reached: {cause.reason}", cause.hint
            )
        return StoreError(
            "The PostgreSQL server cannot be reached.", "Check that it runs, and LEAF_DATABASE_URL."
        )
    return None

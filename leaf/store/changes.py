"""What was written, told to whom it concerns: a transaction names its workspace, and its statements
say which topics it changed.

Whoever waits hears of a change once it is committed, of one that was rolled back never. A table
that pages show has a topic here; what else is written (keys, caches, steps of an answer, which is
shown as it is streamed) is told to nobody.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from leaf.store.model import Scope

SILENT = ""
TOPICS = {
    "chats": "chats",
    "chat_participants": "chats",
    "messages": "messages",
    "files": "files",
    "file_contexts": "files",
    "chat_files": "files",
    "prompts": "prompts",
    "projects": "projects",
    "project_members": "projects",
    "project_chats": "projects",
    "project_files": "projects",
    "told_instructions": SILENT,  # told with the question
    "documents": "documents",
    "document_versions": "documents",
    "document_receipts": SILENT,
    "jobs": "jobs",
    "job_items": SILENT,
    "usage_steps": "usage",
    "usage_days": SILENT,  # told with the step that is added up
    "usage_chats": SILENT,
    "usage_zone": SILENT,
    "budgets": "budgets",
    "workspaces": "team",
    "workspace_members": "team",
    "invitations": "team",
    "users": "team",
    "identities": "team",
    "preferences": SILENT,  # read once by each tab
    "installation": "models",
    "logins": "team",
    "integrations": "drive",
    "drive_folders": "drive",
    "drive_files": SILENT,
    "drive_changes": SILENT,
    "drive_tokens": SILENT,
    "oauth_states": SILENT,
    "derived_pictures": SILENT,
    "model_files": SILENT,
    "cells": SILENT,
    "edited_steps": "edits",
    "boards": "boards",
    "shared_links": SILENT,  # each opening is counted there, which is worth no drawing
    "shared_link_chats": SILENT,
    "open_chats": SILENT,
    "board_pins": "boards",
    "consents": SILENT,
    "made_files": SILENT,
    "results": SILENT,
    "audit": SILENT,
    "result_numbers": SILENT,
    "transcripts": SILENT,  # told with the outline of their file
    "chat_packages": SILENT,
    "chat_signatures": SILENT,  # made of messages that were told
    "blobs": SILENT,
    "blob_pieces": SILENT,
    "converted_tables": SILENT,
    "blob_states": SILENT,  # told as files by whoever finds one lost, or back
    "removal_notes": SILENT,
    "duties": SILENT,
    "processes": SILENT,
    "run_leases": SILENT,  # told as RUNS where others have to act
}
"""Table -> what pages call it that show it."""
ALL = frozenset(TOPICS.values()) - {SILENT}
RUNS = "runs"
"""Told to the processes that write answers, and to no page: something is to be stopped or taken
over."""
LIVE = "live"
"""Which answers are being written has changed, and nothing that is kept. Told to pages that wait for
one to begin, or count them; all others show what they did, and to draw each of them again as an
answer begins and ends would cost as much as the answer."""
EVERYWHERE = "*"
"""Stands for every workspace where it cannot be said which one has changed."""

_WRITES = re.compile(
    r"\bINSERT\s+INTO\s+(?P<inserted>\w+)|\bDELETE\s+FROM\s+(?P<deleted>\w+)"
    r"|\bUPDATE\s+(?P<updated>\w+)(?:\s+AS\s+\w+)?\s+SET\s+(?P<column>\w+)\s*=\s*(?P<value>[\w.:']*)"
)
_HEARTBEAT = "beat_at"
_BEGINS = "'streaming'"


@dataclass(frozen=True)
class Change:
    """Something of a topic was written in a workspace."""

    workspace_id: str
    topic: str


class Hub:
    """Where the changes of this process arrive, and those that other processes tell of. Safe to
    share between threads."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._position = 0
        self._newest: dict[Change, int] = {}
        self._listeners: list[Callable[[Collection[Change]], None]] = []
        self._hearers: tuple[Callable[[str], None], ...] = ()

    @property
    def position(self) -> int:
        """How many times something was told; take it before reading what is then waited for to
        change."""
        with self._news:
            return self._position

    def publish(self, changes: Collection[Change]) -> None:
        """Tell of what is committed."""
        if not changes:
            return
        with self._news:
            self._position += 1
            self._newest.update(dict.fromkeys(changes, self._position))
            listeners = tuple(self._listeners)
            self._news.notify_all()
        for listener in listeners:
            listener(changes)

    def publish_everything(self) -> None:
        """Something may have been missed: let all look."""
        self.publish([Change(EVERYWHERE, topic) for topic in (*ALL, RUNS, LIVE)])

    def newest(self, workspace_id: str, topics: Iterable[str] = ALL) -> int:
        """The position of the last change of these topics; 0 if there was none."""
        with self._news:
            return self._newest_of(workspace_id, topics)

    def wait(
        self, workspace_id: str, since: int, timeout: float, topics: Iterable[str] = ALL
    ) -> bool:
        """Whether something was told after the position `since`; waits for it so many seconds."""
        topics = frozenset(topics)
        with self._news:
            return self._news.wait_for(
                lambda: self._newest_of(workspace_id, topics) > since, timeout
            )

    def listen(self, listener: Callable[[Collection[Change]], None]) -> Callable[[], None]:
        """Have every change told to a function, in the thread that wrote; it must not block.
        Returns what ends that."""
        with self._news:
            self._listeners.append(listener)

        def end() -> None:
            with self._news:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return end

    def hear(self, hearer: Callable[[str], None]) -> None:
        """Have every line that another process tells (`Database.tell`) given to a function, in the
        thread that listens; it must not block."""
        with self._news:
            self._hearers = (*self._hearers, hearer)

    def told(self, line: str) -> None:
        """Another process told it."""
        for hearer in self._hearers:
            hearer(line)

    def _newest_of(self, workspace_id: str, topics: Iterable[str]) -> int:
        return max(
            (
                self._newest.get(Change(w, topic), 0)
                for topic in topics
                for w in (workspace_id, EVERYWHERE)
            ),
            default=0,
        )


class ChangedTopics:
    """What one transaction has written so far."""

    def __init__(self, scope: Scope | None) -> None:
        self._workspaces = {scope.workspace_id} if scope else set()
        self._topics: set[str] = set()

    def note(self, sql: str) -> None:
        """Take in a statement."""
        self._topics |= topics_of(sql)

    def tell(self, topic: str) -> None:
        """This topic, though no table says so."""
        self._topics.add(topic)

    def concerns(self, workspace_ids: Iterable[str]) -> None:
        """These workspaces, too."""
        self._workspaces |= set(workspace_ids)

    @property
    def changes(self) -> list[Change]:
        return [
            Change(workspace_id, topic)
            for workspace_id in sorted(self._workspaces)
            for topic in sorted(self._topics)
        ]


@lru_cache(maxsize=500)
def topics_of(sql: str) -> frozenset[str]:
    """What a statement changes that pages show. To set a column to itself is to hold the row, a
    heartbeat is no change, and that an answer begins is told as LIVE."""
    topics = set()
    for match in _WRITES.finditer(sql):
        column, value = match["column"], (match["value"] or "").rpartition(".")[2]
        if match["updated"] and (column in (value, _HEARTBEAT) or value == _BEGINS):
            continue
        topics.add(TOPICS.get(match["inserted"] or match["deleted"] or match["updated"], SILENT))
    return frozenset(topics - {SILENT})

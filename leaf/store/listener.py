"""What other processes on the same PostgreSQL write: each commit notifies, and one connection
listens.

A notice is a line `PROCESS WORKSPACE TOPIC`; a process overlooks its own, which its hub has had at
the commit. On a channel of their own come lines `PROCESS LINE` that one process tells the others.
Nothing asks the database in between. Only after half a minute of silence the listener sends itself
a notice through another connection. If that does not arrive, something may have been missed (a cut
that nobody told of, a pooler that shares connections by transaction): everybody looks, and it
connects anew.
"""

from __future__ import annotations

import logging
import secrets
import selectors
import socket
import threading
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from leaf.errors import LeafError
from leaf.store.changes import Change, Hub

if TYPE_CHECKING:
    from psycopg import Connection

CHANNEL = "leaf_changes"
LINES = "leaf_lines"
LONGEST_LINE = 7900
"""Bytes of a notice; the server refuses 8,000."""
NOTIFY = "SELECT pg_notify(%(channel)s, line) FROM unnest(CAST(%(lines)s AS text[])) AS line"
TELL = (
    "SELECT set_config('synchronous_commit', 'off', true) UNION ALL "
    "SELECT CAST(pg_notify(%(channel)s, line) AS text) FROM unnest(CAST(%(lines)s AS text[])) AS line"
)
"""The same for what may be lost: the server's disk is not waited for."""
LOOK_SECONDS = 30.0
"""Silence after which the listener makes sure that it can hear."""
ECHO_SECONDS = 5.0
AGAIN_SECONDS = 0.5
LONGEST_SECONDS = 30.0
"""Waits between two attempts to connect: the first, and the longest to which it grows."""

logger = logging.getLogger(__name__)


class _DeafError(Exception):
    """Its own notice did not come back."""


class Listener:
    """The one connection of a process that listens."""

    def __init__(
        self,
        hub: Hub,
        connect: Callable[[], Connection[Any]],
        send: Callable[[str, dict[str, Any]], None],
    ) -> None:
        """`connect` makes a connection of its own; `send` runs a statement on another one."""
        self._hub = hub
        self._connect = connect
        self._send = send
        self._name = secrets.token_hex(8)
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._bell, self._rope = socket.socketpair()

    def start(self) -> None:
        """Begin to listen. Once is enough."""
        with self._starting:
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(
                    target=self._run, name="store-listener", daemon=True
                )
                self._thread.start()

    def close(self) -> None:
        """End it within a moment."""
        self._closed.set()
        self._rope.close()
        if self._thread is not None:
            self._thread.join(LONGEST_SECONDS)
        self._bell.close()

    def notice(self, changes: Collection[Change]) -> tuple[str, dict[str, Any]]:
        """The statement that tells other processes of changes when its transaction commits, and its
        parameters."""
        lines = [f"{self._name} {change.workspace_id} {change.topic}" for change in changes]
        return NOTIFY, {"channel": CHANNEL, "lines": lines}

    def telling(self, lines: Iterable[str]) -> tuple[str, dict[str, Any]] | None:
        """The statement that tells lines to other processes, and its parameters; None where no line
        is short enough."""
        mine = [f"{self._name} {line}" for line in lines]
        short = [line for line in mine if len(line.encode()) <= LONGEST_LINE]
        return (TELL, {"channel": LINES, "lines": short}) if short else None

    def _run(self) -> None:
        wait = AGAIN_SECONDS
        while not self._closed.is_set():
            try:
                with self._connect() as connection:
                    connection.execute(f"LISTEN {CHANNEL}; LISTEN {LINES}")
                    self._hub.publish_everything()  # what was told until now was not heard
                    wait = AGAIN_SECONDS
                    self._hear(connection)
            except Exception as e:  # noqa: BLE001 - whatever cuts it off, it comes back
                if not self._closed.is_set():
                    why = e.message if isinstance(e, LeafError) else type(e).__name__
                    logger.info(
                        "the database is not listened to, and is again in %.1f seconds: %s",
                        wait,
                        why,
                    )
                self._closed.wait(wait)
                wait = min(LONGEST_SECONDS, 2 * wait)

    def _hear(self, connection: Connection[Any]) -> None:
        """Until `close`, or until the connection is cut."""
        with selectors.DefaultSelector() as selector:
            selector.register(connection.fileno(), selectors.EVENT_READ)
            selector.register(self._bell, selectors.EVENT_READ)
            asked = False
            while not self._closed.is_set():
                for notice in connection.notifies(timeout=0):
                    asked = False
                    if notice.channel == LINES:
                        self._pass_on(notice.payload)
                    else:
                        self._take(notice.payload)
                if selector.select(ECHO_SECONDS if asked else LOOK_SECONDS):
                    continue
                if asked:
                    raise _DeafError
                asked = True
                self._send(NOTIFY, {"channel": CHANNEL, "lines": [self._name]})

    def _take(self, line: str) -> None:
        name, _, payload = line.partition(" ")
        workspace_id, _, topic = payload.partition(" ")
        if name != self._name and topic:
            self._hub.publish([Change(workspace_id, topic)])

    def _pass_on(self, line: str) -> None:
        name, _, told = line.partition(" ")
        if name != self._name:
            self._hub.told(told)

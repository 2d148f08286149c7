"""Fork servers that the tests of one process share: each loads pandas, DuckDB and the readers' libraries,
which takes a second or two of a core, and a test that builds a Leaf would start two.

A server runs nothing that came from outside, so that one which served a test is as good as new for
the next; children are ended by the test that asked for them, as ever. Tests of servers themselves
say `OWN_FORK_SERVERS = True` in their module.
"""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from leaf.sandbox.children import START_SECONDS
from leaf.sandbox.forkserver import ForkServer
from leaf.sandbox.kinds import ChildKind


class ForkServers:
    """The servers, by the kind of their children."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count()
        self._servers: dict[str, ForkServer] = {}
        self._starter = ThreadPoolExecutor(1)  # a server ends with the thread that started it

    def lend(self, _folder: Path, kind: ChildKind) -> Lent:
        """In place of `ForkServer`."""
        return Lent(self._starter.submit(self._of, kind).result())

    def close(self) -> None:
        for server in self._servers.values():
            server.close()
        self._starter.shutdown()

    def _of(self, kind: ChildKind) -> ForkServer:
        key = json.dumps(kind.config(), sort_keys=True)
        server = self._servers.get(key)
        if server is None or not server.is_alive():
            server = ForkServer(self._folder / str(next(self._numbers)), kind)
            server.wait_until_ready(4 * START_SECONDS)
            self._servers[key] = server
        return server


class Lent:
    """A server that outlives whoever has it."""

    def __init__(self, server: ForkServer) -> None:
        self.fork, self.reap = server.fork, server.reap
        self.is_alive, self.said = server.is_alive, server.said

    def wait_until_ready(self, _seconds: float) -> None:
        """It is."""

    def kill(self) -> None:
        """Its children are ended one by one."""

    def close(self) -> None:
        """The same."""

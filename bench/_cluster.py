"""Several Leafs as they stand in production: one PostgreSQL, one S3 server behind a wire that can be cut,
a data folder for each, and no sign-in, so that commands reach each of them by its own address."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from cryptography.fernet import Fernet

from leaf.errors import RunError
from leaf.remote import client
from leaf.remote.contract import SessionCommands
from leaf.store.model import Scope
from tests import postgres, s3_server
from tests.app_process import App
from tests.tcp_proxy import TcpProxy

BUCKET = "leaf"
CONNECTIONS = 300
ANYBODY = Scope("", "")
"""A command acts for the local user of the Leaf that it asks."""


@dataclass
class Process:
    """One Leaf, which can be killed, frozen and started again."""

    app: App
    up: bool = True
    """Whether a balancer would send anybody there."""
    changing: threading.Lock = field(default_factory=threading.Lock)

    def session(self) -> SessionCommands:
        """What a person there can do. Raises RunError where nobody answers."""
        address = client.find(self.app.home) if self.up else None
        if address is None:
            raise RunError("This Leaf does not answer.", "Ask another one.")
        return client.connect(address).session(ANYBODY)

    @property
    def names(self) -> str:
        """What the ids of its starts begin with."""
        return (self.app.home / "executor").read_text().strip()

    def kill(self) -> None:
        self.up = False
        self.app.stop(signal.SIGKILL)

    def start(self) -> None:
        self.app.start()
        self.up = True

    def freeze(self) -> None:
        """A balancer does not notice at once."""
        self._signal(signal.SIGSTOP)

    def wake(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, how: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, how)

    @property
    def pid(self) -> int:
        """Of its newest start. Raises ProcessLookupError while it is down."""
        if self.app._process is None:
            raise ProcessLookupError
        return self.app._process.pid


@dataclass
class Cluster:
    """All of them."""

    folder: Path
    database: str
    """What stands after the name of the database in its address."""
    store: TcpProxy
    """The wire to the S3 server."""
    settings: dict[str, str]
    processes: list[Process]

    @property
    def database_url(self) -> str:
        return f"postgresql:///postgres{self.database}"

    def rows(self, sql: str, *given: Any) -> list[tuple[Any, ...]]:
        """Of the database that they share. Raises psycopg.Error while it is away."""
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            found = connection.execute(sql, given)
            return found.fetchall() if found.description else []

    def all_of_them(self, act: Callable[[Process], object]) -> None:
        """Beside one another."""
        with ThreadPoolExecutor(len(self.processes)) as pool:
            list(pool.map(act, self.processes))


@contextmanager
def cluster(
    number: int, model_url: str, *, database: Sequence[str] = (), **settings: str
) -> Iterator[Cluster]:
    """So many Leafs that have started. `database` are settings of PostgreSQL. All who come are one
    user."""
    with ExitStack() as started:
        folder = Path(tempfile.mkdtemp(prefix="leaf-cluster-"))
        started.callback(shutil.rmtree, folder, ignore_errors=True)
        address = started.enter_context(postgres.server(CONNECTIONS, database))
        port = started.enter_context(s3_server.server())
        s3_server.make_bucket(port, BUCKET)
        store = started.enter_context(TcpProxy(port))
        shared = {**_shared(address, store.url), **settings}
        apps = [_app(folder, n + 1, model_url, shared) for n in range(number)]
        opened = Cluster(folder, address, store, shared, [Process(app) for app in apps])
        started.callback(opened.all_of_them, lambda one: one.app.stop())
        started.callback(opened.all_of_them, Process.wake)
        apps[0].start()  # it makes the tables
        opened.all_of_them(lambda one: None if one.app is apps[0] else one.start())
        yield opened


def _app(folder: Path, number: int, model_url: str, shared: dict[str, Any]) -> App:
    return App(folder / f"leaf-{number}", model_url, **shared)


def _shared(address: str, store_url: str) -> dict[str, str]:
    """The settings of each."""
    return {
        "LEAF_DATABASE_URL": f"postgresql:///postgres{address}",
        "LEAF_STORAGE_URL": f"s3://{BUCKET}/files",
        "AWS_ENDPOINT_URL": store_url,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "LEAF_SECRET_KEY": Fernet.generate_key().decode(),
        "LEAF_LOG": "json",
    }


def lacking() -> str:
    """What this machine lacks; blank where it has all."""
    known = {
        "PostgreSQL (apt-get install postgresql)": postgres.programs(),
        "uv (make .venv/.dev)": s3_server.uv(),
    }
    return " and ".join(name for name, found in known.items() if found is None)

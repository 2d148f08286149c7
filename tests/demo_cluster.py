"""Several Leafs on this machine, without containers: `make demo-cluster`. Each has a data folder of
its own; they share a PostgreSQL and an S3 server, and one nginx leads to them. All of it listens on
loopback, and is gone at the end with what was kept in it."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from tests import balancers, postgres, s3_server
from tests.app_process import App

NAME = "leaf"
OPENED_BY_EACH = 60
"""Connections to PostgreSQL that one Leaf may open, with some to spare."""
PASSED_ON = ("ANTHROPIC_", "LEAF_MODEL")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8080, help="where the balancer listens (8080)")
    parser.add_argument("--leafs", type=int, default=3, help="how many (3)")
    given = parser.parse_args()
    if lacking := _lacking():
        print(
            f"{' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} missing on this machine."
        )
        return 1
    if _taken(given.port):
        print(f"Port {given.port} is taken; give another one: make demo-cluster CLUSTER_PORT=8090")
        return 1
    ended = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: ended.set())
    with ExitStack() as started:
        try:
            _start(started, given.port, given.leafs)
        except (OSError, RuntimeError, pytest.skip.Exception) as e:
            print(f"The cluster did not start: {e}.")
            return 1
        ended.wait()
        print("\n  Ending.", flush=True)
    return 0


def _lacking() -> list[str]:
    """What the machine has to have, and how it comes there."""
    known = {
        "PostgreSQL (apt-get install postgresql)": postgres.programs(),
        "nginx (apt-get install nginx-light)": balancers.program("nginx"),
        "uv (make .venv/.dev)": s3_server.uv(),
    }
    return [name for name, found in known.items() if found is None]


def _taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _start(started: ExitStack, port: int, number: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="leaf-cluster-"))
    started.callback(shutil.rmtree, folder, ignore_errors=True)
    address = started.enter_context(postgres.server(number * OPENED_BY_EACH))
    print("  PostgreSQL runs.", flush=True)
    s3_port = started.enter_context(s3_server.server())
    s3_server.make_bucket(s3_port, NAME)
    print(f"  The S3 server is at http://127.0.0.1:{s3_port}", flush=True)
    leafs = [App(folder / f"leaf-{n + 1}", **_settings(address, s3_port)) for n in range(number)]
    _start_all(started, leafs)
    for app in leafs:
        print(f"  One Leaf is at {app.url}, its log in {app.log}", flush=True)
    started.enter_context(balancers.nginx([app.port for app in leafs], port=port))
    print(
        f"\n  Leaf is at http://127.0.0.1:{port}; Ctrl+C ends all of it and forgets it.\n",
        flush=True,
    )


def _start_all(started: ExitStack, leafs: Sequence[App]) -> None:
    """Beside one another; one of them migrates the database, and the others wait for it."""
    started.callback(_stop_all, leafs)
    with ThreadPoolExecutor(len(leafs)) as pool:
        list(pool.map(App.start, leafs))


def _stop_all(leafs: Sequence[App]) -> None:
    with ThreadPoolExecutor(len(leafs)) as pool:
        list(pool.map(App.stop, leafs))


def _settings(postgres_address: str, s3_port: int) -> dict[str, str]:
    """The same for every Leaf. Nobody signs in: all who come are one user, from this machine."""
    return {
        **{name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)},
        "LEAF_DATABASE_URL": f"postgresql:///postgres{postgres_address}",
        "LEAF_STORAGE_URL": f"s3://{NAME}/files",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{s3_port}",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "LEAF_SECRET_KEY": KEY,
        "LEAF_ALLOW_OPEN": "1",
        "LEAF_ALLOWED_HOSTS": "localhost",
    }


KEY = Fernet.generate_key().decode()

if __name__ == "__main__":
    sys.exit(main())

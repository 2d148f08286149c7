"""An S3 server on loopback for tests: moto, in an environment of its own, since one of its libraries
needs an older python-dateutil than Leaf runs with."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVER = ("moto[s3]==5.2.5", "flask==3.1.2", "flask-cors==6.0.5")
SECONDS = 120.0
"""That the server may take to start; the first time its packages are fetched."""


@contextlib.contextmanager
def server() -> Iterator[int]:
    """Its port; skips where uv or the packages cannot be had."""
    found = uv()
    if found is None:
        pytest.skip("uv is not installed")
    port = _free_port()
    first, *others = SERVER
    more = [word for package in others for word in ("--with", package)]
    command = [found, "tool", "run", "--from", first, *more, "moto_server"]
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            [*command, "-H", "127.0.0.1", "-p", str(port)],
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            _wait(process, port)
            yield port
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 15)


def uv() -> str | None:
    """It fetches programs into environments of their own, and runs them."""
    return shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")


def make_bucket(port: int, name: str) -> None:
    address = f"http://127.0.0.1:{port}/{name}"
    urllib.request.urlopen(urllib.request.Request(address, method="PUT"), timeout=20).close()


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.1)
    pytest.skip("moto's server cannot be had here")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])

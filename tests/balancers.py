"""nginx and HAProxy on loopback, with the configuration that `deploy/` has for them."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.app_process import free_port

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"
SECONDS = 20.0
PAGE_PATH = "/_stcore/stream"
"""The websocket of a page, which says where its session is."""


def program(name: str) -> str | None:
    """Debian keeps both out of the PATH of plain users."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@contextlib.contextmanager
def nginx(leafs: Sequence[int], *, port: int = 0, apart: int = 0) -> Iterator[int]:
    """Before the Leafs at these ports; gives its own. With `apart`, the sessions of pages are in
    the Leaf at that port and all else goes to the others, as without sticky sessions at its worst.

    Skips where nginx is not installed."""
    found = program("nginx")
    if found is None:
        pytest.skip("nginx is not installed (apt-get install nginx-light)")
    port = port or free_port()
    folder = Path(tempfile.mkdtemp(prefix="leaf-nginx-"))
    text = nginx_configuration(leafs, port, folder)
    if apart:
        there = f"location = {PAGE_PATH} {{ proxy_pass http://127.0.0.1:{apart}; }}"
        text = text.replace("location / {", f"{there}\n        location / {{", 1)
    (folder / "nginx.conf").write_text(text)
    # Started by root it would work as somebody who cannot look into the folder.
    user = " user root;" if os.getuid() == 0 else ""
    command = [
        found,
        "-p",
        str(folder),
        "-c",
        str(folder / "nginx.conf"),
        "-g",
        f"daemon off;{user}",
    ]
    with _running(command, port, folder):
        yield port


@contextlib.contextmanager
def haproxy(leafs: Sequence[int], *, port: int = 0, apart: int = 0) -> Iterator[int]:
    """The same by HAProxy."""
    found = program("haproxy")
    if found is None:
        pytest.skip("HAProxy is not installed (apt-get install haproxy)")
    port = port or free_port()
    folder = Path(tempfile.mkdtemp(prefix="leaf-haproxy-"))
    text = haproxy_configuration(leafs, port)
    if apart:
        there = f"use_backend pages if {{ path {PAGE_PATH} }}\n    default_backend"
        text = text.replace("default_backend", there, 1)
        text += f"\nbackend pages\n    server apart 127.0.0.1:{apart}\n"
    (folder / "haproxy.cfg").write_text(text)
    with _running([found, "-db", "-f", str(folder / "haproxy.cfg")], port, folder):
        yield port


def nginx_configuration(leafs: Sequence[int], port: int, folder: Path) -> str:
    """That of `deploy/`, with the ports and the folder of this machine in place of a container's."""
    text = (DEPLOY / "nginx.conf").read_text()
    text = _servers(
        text, [f"server 127.0.0.1:{leaf} max_fails=2 fail_timeout=10s;" for leaf in leafs]
    )
    return _exchanged(text, ("listen 8080;", f"listen 127.0.0.1:{port};")).replace(
        "/tmp/", f"{folder}/"
    )


def haproxy_configuration(leafs: Sequence[int], port: int) -> str:
    text = (DEPLOY / "haproxy.cfg").read_text()
    text = _servers(
        text, [f"server leaf-{n} 127.0.0.1:{leaf} cookie leaf{n}" for n, leaf in enumerate(leafs)]
    )
    return _exchanged(text, ("bind :8080", f"bind 127.0.0.1:{port}"))


def _servers(text: str, lines: Sequence[str]) -> str:
    """The lines that name the Leafs, exchanged for others."""
    named = re.compile(r"^( *)server leaf-\d\b.*\n", re.MULTILINE)
    first = named.search(text)
    assert first, "the configuration names no Leaf"
    rest = named.sub("", text)
    given = "".join(f"{first[1]}{line}\n" for line in lines)
    return rest[: first.start()] + given + rest[first.start() :]


def _exchanged(text: str, pair: tuple[str, str]) -> str:
    assert text.count(pair[0]) == 1, pair[0]
    return text.replace(*pair)


@contextlib.contextmanager
def _running(command: Sequence[str], port: int, folder: Path) -> Iterator[None]:
    log = folder / "log"
    try:
        with log.open("wb") as said:
            process = subprocess.Popen(command, stdout=said, stderr=said)
        try:
            _wait(process, port, log)
            yield
        finally:
            process.terminate()
            process.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the balancer ended: {log.read_text()[-2000:]}")
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.05)
    raise RuntimeError("the balancer did not start")

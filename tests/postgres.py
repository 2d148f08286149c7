"""A private PostgreSQL server for tests: its own cluster in a temporary folder, reached over a Unix
socket, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def programs() -> Path | None:
    """The folder that holds `initdb`; Debian keeps it out of the PATH."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((f for f in reversed(folders) if (f / "initdb").exists()), None)


def owner() -> str | None:
    """PostgreSQL refuses to run as root: the user that it then runs as."""
    if os.getuid() != 0:
        return None
    names = {user.pw_name for user in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@contextlib.contextmanager
def server(connections: int = 60) -> Iterator[str]:
    """The part of an address that stands after the name of the database; skips where PostgreSQL is
    not installed."""
    bin_folder = programs()
    if bin_folder is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="leaf-pg-"))
    user = owner()
    if user is not None:
        shutil.chown(folder, user)
    data = folder / "data"

    def run(*command: str) -> None:
        subprocess.run(
            [str(bin_folder / command[0]), *command[1:]],
            check=True,
            capture_output=True,
            user=user,
            cwd=folder,
        )

    try:
        run(
            "initdb",
            "-D",
            str(data),
            "-U",
            "leaf",
            "--auth",
            "trust",
            "-E",
            "UTF8",
            "--locale",
            "C.UTF-8",
            "--no-sync",
        )
        options = (
            f"-k {folder} -c listen_addresses='' -c fsync=off -c max_connections={connections}"
        )
        run("pg_ctl", "-D", str(data), "-l", str(folder / "log"), "-o", options, "-w", "start")
        try:
            yield f"?host={folder}&user=leaf"
        finally:
            run("pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fresh(address: str) -> str:
    """The address of a new database on the server."""
    import psycopg

    name = f"t{os.urandom(6).hex()}"
    with psycopg.connect(f"postgresql:///postgres{address}", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"postgresql:///{name}{address}"

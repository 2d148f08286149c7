"""A private PostgreSQL server for tests: its own cluster in a temporary folder, reached over a Unix
socket, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from urllib.parse import parse_qsl

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


SHARED = "TESTS_POSTGRES"
"""Variable of the environment: the server of whoever runs tests many times, as `server` gives it."""


@contextlib.contextmanager
def shared() -> Iterator[str]:
    """That server, or one of these tests' own."""
    if given := os.environ.get(SHARED):
        yield given
    else:
        with server() as address:
            yield address


@contextlib.contextmanager
def server(connections: int = 60, settings: Sequence[str] = ()) -> Iterator[str]:
    """The part of an address that stands after the name of the database; skips where PostgreSQL is
    not installed. `settings` are further ones, as in `work_mem = 8MB`."""
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
        given = (
            f"unix_socket_directories = '{folder}'",
            "listen_addresses = ''",
            "fsync = off",
            f"max_connections = {connections}",
            *settings,
        )
        with (data / "postgresql.conf").open("a") as configuration:
            configuration.write("\n".join(["", *given, ""]))
        run("pg_ctl", "-D", str(data), "-l", str(folder / "log"), "-w", "start")
        try:
            yield f"?host={folder}&user=leaf"
        finally:
            run("pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def admit(address: str, *lines: str) -> None:
    """Let in whom these lines of pg_hba.conf name, the first that fits; over the socket all."""
    import psycopg

    folder = dict(parse_qsl(address.removeprefix("?")))["host"]
    told = "\n".join(["local all all trust", *lines, ""])
    (Path(folder) / "data" / "pg_hba.conf").write_text(told)
    with psycopg.connect(f"postgresql:///postgres{address}", autocommit=True) as connection:
        connection.execute("SELECT pg_reload_conf()")


def restart(address: str, away: float = 0.0) -> None:
    """Have the server fall over, and start it again after so many seconds: its connections are cut at
    once, and it finds what was committed in its log."""
    _control(address, "-m", "immediate", "stop")
    time.sleep(away)
    start(address)


def start(address: str) -> None:
    """Start a server again that has ended."""
    _control(address, "start")


def _control(address: str, *words: str) -> None:
    bin_folder = programs()
    assert bin_folder is not None
    folder = dict(parse_qsl(address.removeprefix("?")))["host"]
    command = [str(bin_folder / "pg_ctl"), "-D", f"{folder}/data", "-l", f"{folder}/log", "-w"]
    subprocess.run([*command, *words], check=True, capture_output=True, user=owner(), cwd=folder)


def fresh(address: str, like: str = "template1", settings: str = "") -> str:
    """The address of a new database on the server, with all that is in the one that it is `like`;
    `settings` are further ones, as in `ENCODING 'LATIN1'`."""
    import psycopg

    name = f"t{os.urandom(6).hex()}"
    with psycopg.connect(f"postgresql:///postgres{address}", autocommit=True) as connection:
        if connection.info.server_version >= 150000:  # else it is the only way
            settings += " STRATEGY FILE_COPY"  # without its log, which nobody reads
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {like} {settings}".encode())
    return f"postgresql:///{name}{address}"


def copied(database: str) -> str:
    """The address of a copy of a database, which nobody may have open."""
    name, _, server = database.removeprefix("postgresql:///").partition("?")
    return fresh(f"?{server}", like=name)


def of_test(request: pytest.FixtureRequest) -> str:
    """The address of a database on the tests' server that goes with whatever asks for it, and has
    the tables of a Leaf without anything. In modules that say `OWN_DATABASES = True`, where Leaf
    makes them, it has none."""
    server = request.getfixturevalue("postgres_server")
    is_own = getattr(request.module, "OWN_DATABASES", False)
    database = fresh(server) if is_own else copied(_with_tables(server))
    request.addfinalizer(partial(drop, database))
    return database


@cache
def _with_tables(server: str) -> str:
    """To make them, migration by migration, takes a third of a second, a copy a tenth of that."""
    from dbos import DBOS

    from leaf.store.migrate import migrate, migrations
    from leaf.store.postgres import PostgresDatabase

    database = fresh(server)
    with contextlib.closing(PostgresDatabase(database)) as db:
        migrate(db, migrations())
    DBOS.migrate(database.replace("postgresql:", "postgresql+psycopg:"))
    return database


def drop(database: str) -> None:
    """Whoever is still connected to it."""
    import psycopg

    name, _, server = database.removeprefix("postgresql:///").partition("?")
    with psycopg.connect(f"postgresql:///postgres?{server}", autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())


def drop_fresh(address: str) -> None:
    """Drop what `fresh` made on a server, whoever is still connected to it."""
    import psycopg

    made = "SELECT datname FROM pg_database WHERE datname ~ '^t[0-9a-f]{12}$'"
    with psycopg.connect(f"postgresql:///postgres{address}", autocommit=True) as connection:
        for (name,) in connection.execute(made).fetchall():
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())

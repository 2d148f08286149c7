"""A PostgreSQL that lets nobody in: each cause has its own sentence, with what to do next and never
with the password."""

from __future__ import annotations

import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl

import psycopg
import pytest

from leaf.errors import StoreAwayError
from leaf.runs.failures import explain
from leaf.settings import Settings
from leaf.store import open_store
from leaf.store.refused import refused
from tests import postgres
from tests.app_process import free_port
from tests.live_kit import wait_until

SECRET = "hunter2"


@dataclass(frozen=True)
class Server:
    """One that asks for passwords over TCP."""

    socket: str
    port: int

    def over_tcp(self, user: str, name: str = "leaf", more: str = "") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{name}{more}"


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    port = free_port()
    settings = ("listen_addresses = '127.0.0.1'", f"port = {port}")
    with postgres.server(8, settings) as started:
        address = f"{started}&port={port}"
        with psycopg.connect(f"postgresql:///postgres{address}", autocommit=True) as connection:
            for statement in (
                "CREATE DATABASE leaf",
                "CREATE DATABASE crowded CONNECTION LIMIT 0",
                f"CREATE ROLE ann LOGIN PASSWORD '{SECRET}x'",
                "CREATE ROLE bob",
            ):
                connection.execute(statement)
        postgres.admit(
            address,
            "hostssl all secure 127.0.0.1/32 scram-sha-256",
            "host all ann,nobody 127.0.0.1/32 scram-sha-256",
        )
        wait_until(lambda: "password" in said(f"postgresql://ann@127.0.0.1:{port}/leaf").message)
        yield Server(address, port)


def said(url: str) -> StoreAwayError:
    """What is said at the start."""
    from leaf.store.postgres import PostgresDatabase

    with pytest.raises(StoreAwayError) as caught:
        PostgresDatabase(url)
    return caught.value


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("user", "name", "more", "reason", "next_step"),
    [
        (f"ann:{SECRET}", "leaf", "", "does not take this user with this password", "Check both"),
        (f"nobody:{SECRET}", "leaf", "", "does not take this user with this password", "%40"),
        (
            "ann",
            "leaf",
            "",
            "asks for a password, and LEAF_DATABASE_URL has none",
            "user:password@",
        ),
        (f"ann:{SECRET}x", "nowhere", "", "has no database of this name", "createdb"),
        (f"ann:{SECRET}x", "crowded", "", "takes no more connections", "nothing was lost"),
        (f"secure:{SECRET}", "leaf", "?sslmode=disable", "only encrypted connections", "sslmode="),
        (f"ann:{SECRET}", "leaf", "?sslmode=require", "asks for TLS", "take sslmode out"),
        (f"eve:{SECRET}", "leaf", "?sslmode=disable", "encrypted connections|from here", "."),
    ],
)
def test_each_reason_of_a_guarded_server_has_its_own_sentence(
    guarded: Server, user: str, name: str, more: str, reason: str, next_step: str
) -> None:
    error = said(guarded.over_tcp(user, name, more))
    assert re.search(reason, error.message)
    assert next_step in error.hint
    assert error.reason
    assert error.message.endswith(error.reason)
    assert f"127.0.0.1:{guarded.port}/{name}" in error.message
    assert SECRET not in str(error)
    for named in (name, "ann", "127.0.0.1"):
        assert named not in error.reason.split()


@pytest.mark.postgres
def test_an_unknown_user_is_told_from_a_missing_database(guarded: Server, tmp_path: Path) -> None:
    with pytest.raises(StoreAwayError, match="the server knows no such user"):
        open_store(Settings(home=tmp_path, database_url=over_socket(guarded, "leaf", "nobody")))
    with pytest.raises(StoreAwayError, match="has no database of this name"):
        open_store(Settings(home=tmp_path, database_url=over_socket(guarded, "nowhere", "leaf")))
    with pytest.raises(StoreAwayError, match="does not let this user into this database"):
        open_store(Settings(home=tmp_path, database_url=over_socket(guarded, "leaf", "bob")))
    open_store(Settings(home=tmp_path, database_url=over_socket(guarded, "leaf", "leaf"))).close()


def over_socket(server: Server, name: str, user: str) -> str:
    return f"postgresql:///{name}{server.socket.replace('user=leaf', f'user={user}')}"


@pytest.mark.postgres
def test_a_server_that_is_shut_down_says_so_and_then_that_nothing_listens() -> None:
    with postgres.server(8) as address:
        url = f"postgresql:///postgres{address}"
        folder = dict(parse_qsl(address.removeprefix("?")))["host"]
        bin_folder = postgres.programs()
        assert bin_folder is not None
        with psycopg.connect(url):  # keeps it from its end
            stop = subprocess.Popen(
                [str(bin_folder / "pg_ctl"), "-D", f"{folder}/data", "-m", "smart", "-w", "stop"],
                user=postgres.owner(),
                cwd=folder,
                stdout=subprocess.DEVNULL,
            )
            wait_until(lambda: "it is being shut down" in _told(url))
        assert stop.wait(30) == 0
        assert "nothing listens there" in _told(url)
        postgres.start(address)


def _told(url: str) -> str:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError as e:
        return refused(url, str(e)).message
    return ""


@contextmanager
def says(words: bytes | None, code: bytes = b"XX000") -> Iterator[str]:
    """The address of a server that answers every greeting with an error of these words; None: with
    nothing."""
    listener = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            held.append(client)
            client.recv(1000)
            if words is not None:
                body = b"SFATAL\0VFATAL\0C" + code + b"\0M" + words + b"\0\0"
                client.sendall(b"E" + (len(body) + 4).to_bytes(4, "big") + body)

    threading.Thread(target=serve, daemon=True).start()
    port = listener.getsockname()[1]
    yield f"postgresql://ann:{SECRET}@127.0.0.1:{port}/leaf?sslmode=disable"
    listener.close()
    for client in held:
        client.close()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("the database system is starting up", "it is starting up."),
        ("the database system is in recovery mode", "it is starting up."),
        ("sorry, too many clients already", "it takes no more connections."),
        ("no more connections allowed (max_client_conn)", "it takes no more connections."),
        (
            "connection is insecure (try using `sslmode=require`)",
            "the server takes only encrypted connections (TLS).",
        ),
    ],
)
def test_what_a_server_says_before_it_lets_anybody_in_is_understood(
    words: str, reason: str
) -> None:
    with says(words.encode()) as url:
        assert said(url).reason == reason


def test_words_that_are_not_known_are_passed_on_without_the_password() -> None:
    with says(f"Rolle ann mit {SECRET} darf das nicht".encode()) as url:
        error = said(url)
    assert "Rolle ann mit … darf das nicht" in error.message
    assert SECRET not in str(error)
    assert error.reason == ""


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (f"postgresql://ann:{SECRET}@127.0.0.1:1/leaf", "nothing listens there."),
        (f"postgresql://ann:{SECRET}@no-such.invalid/leaf", "there is no host of this name."),
        (f"postgresql:///leaf?host=/nowhere&password={SECRET}", "nothing listens there."),
    ],
)
def test_a_place_where_no_server_is_is_told_from_one_that_lets_nobody_in(
    url: str, reason: str
) -> None:
    error = said(url)
    assert error.reason == reason
    assert SECRET not in str(error)
    assert "/nowhere" not in str(error)


def test_a_server_that_does_not_answer_is_said_to_take_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("leaf.store.postgres.CONNECT_SECONDS", 2)  # the shortest that libpq knows
    began = time.monotonic()
    with says(None) as url:
        assert said(url).reason == "it does not answer in time."
    assert time.monotonic() - began < 8


def test_the_records_of_runs_give_the_same_reason() -> None:
    said_to_runs = Exception('connection failed: FATAL:  role "ann" does not exist')
    assert "the server knows no such user" in explain(said_to_runs, shared=True).message
    unknown = explain(Exception("something that nobody has heard of"), shared=True)
    assert "cannot be reached" not in unknown.message

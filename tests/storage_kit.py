"""Where history and files last, for tests that hold for each: DuckDB and a folder, PostgreSQL, an S3
server."""

from __future__ import annotations

import http.server
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from leaf.settings.storage import Storage
from tests import postgres, s3_server

PLACES = ("folder", "database", "bucket")
KEPT = ("duckdb", "postgres", "postgres-s3")
"""History and files in the data folder; both in PostgreSQL; history there and files in a bucket."""


def storage_at(port: int, bucket: str, **more: object) -> Storage:
    """A bucket of the server at a port of this machine."""
    return Storage(
        url=f"s3://{bucket}/leaf/files",
        endpoint=f"http://127.0.0.1:{port}",
        region="us-east-1",
        key_id="key",
        secret="secret",
        **more,  # type: ignore[arg-type]
    )


def fresh_bucket(port: int) -> str:
    name = f"b{os.urandom(6).hex()}"
    s3_server.make_bucket(port, name)
    return name


def choose(request: pytest.FixtureRequest, place: str) -> tuple[str, Storage]:
    """The address of a database, empty for DuckDB, and where blobs last beside it."""
    if place == "database":
        return request.getfixturevalue("postgres_url"), Storage()
    if place == "bucket":
        port = request.getfixturevalue("s3_port")
        return "", storage_at(port, fresh_bucket(port))
    return "", Storage()


def kept_at(request: pytest.FixtureRequest, where: str) -> dict[str, Any]:
    """The settings of a Leaf that has all of it at one of `KEPT`, in a fresh database."""
    if where == "duckdb":
        return {}
    found: dict[str, Any] = {"database_url": postgres.of_test(request)}
    if where == "postgres-s3":
        port = request.getfixturevalue("s3_port")
        found["storage"] = storage_at(port, fresh_bucket(port))
    return found


@contextmanager
def refusing_server(status: int, code: str) -> Iterator[int]:
    """The port of a server that answers everything with an error, as S3 words it."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            body = f"<?xml version='1.0'?><Error><Code>{code}</Code></Error>".encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_PUT = do_POST = do_DELETE = _answer

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


def files_under(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]

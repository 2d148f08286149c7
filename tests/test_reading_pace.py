"""With many answers at once each stream is read in larger pieces, whole and without falling
behind; what Leaf takes of the HTTP client for that is there."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest
from httpcore2 import NetworkStream

from leaf.agent.models.pace import EACH, FREE, MOST, ReadingPace

WORDS = [f"word{i} ".encode() for i in range(120)]


class _Server(BaseHTTPRequestHandler):
    """Sends the words as chunks: some milliseconds apart, or all at once."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        chunks = [b"%x\r\n%s\r\n" % (len(word), word) for word in WORDS]
        if self.path == "/at-once":
            self.wfile.write(b"".join(chunks))
        else:
            for chunk in chunks:
                self.wfile.write(chunk)
                time.sleep(0.003)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def crowded(pace: ReadingPace, others: int) -> Iterator[None]:
    """So many other streams are read as well."""
    with ExitStack() as held:
        for _ in range(others):
            held.enter_context(pace.reading(httpx2.Response(200)))
        yield


def test_few_streams_are_read_as_they_come(url: str) -> None:
    waits: list[float] = []
    pace = ReadingPace(waits.append)
    with (
        httpx2.Client() as client,
        crowded(pace, FREE - 1),
        client.stream("GET", url) as response,
        pace.reading(response),
    ):
        assert b"".join(response.iter_bytes()) == b"".join(WORDS)
    assert waits == []


def test_with_many_a_read_brings_several_words(url: str) -> None:
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        time.sleep(seconds)

    pace = ReadingPace(wait)
    with httpx2.Client() as client, crowded(pace, FREE + 40), client.stream("GET", url) as response:
        with pace.reading(response):
            assert b"".join(response.iter_bytes()) == b"".join(WORDS)
        assert waits == pytest.approx([41 * EACH] * len(waits))
    assert 2 <= len(waits) <= len(WORDS) / 3


def test_what_is_there_is_not_waited_with(url: str) -> None:
    waits: list[float] = []
    pace = ReadingPace(waits.append)
    with (
        httpx2.Client() as client,
        crowded(pace, 10 * FREE),
        client.stream("GET", url + "/at-once") as response,
    ):
        time.sleep(0.2)
        with pace.reading(response):
            assert b"".join(response.iter_bytes()) == b"".join(WORDS)
    assert waits == []


def test_nobody_waits_long_and_the_connection_is_as_it_was(url: str) -> None:
    pace = ReadingPace()
    with httpx2.Client() as client:
        with crowded(pace, 10_000):
            assert pace.pause == MOST
            with client.stream("GET", url + "/at-once") as response:
                network = response.extensions["network_stream"]
                with pace.reading(response):
                    assert "read" in vars(network)
                    response.read()
                assert "read" not in vars(network)
        assert pace.pause == 0
        with client.stream("GET", url + "/at-once") as response:
            assert response.extensions["network_stream"] is network
            assert response.read() == b"".join(WORDS)


def test_a_response_from_nowhere_is_read_too() -> None:
    pace = ReadingPace()
    with pace.reading(httpx2.Response(200, content=b"whole")) as _:
        pass
    assert pace.pause == 0


def test_the_client_still_has_what_the_pace_is_kept_by() -> None:
    """Where one of these is gone, read `leaf/agent/models/pace.py` anew."""
    from httpcore2._backends import sync
    from httpcore2._sync import http11

    source = inspect.getsource(http11)
    assert "self._network_stream.read(self.READ_NUM_BYTES, timeout=timeout)" in source
    assert '"network_stream": network_stream' in source
    assert list(inspect.signature(NetworkStream.read).parameters) == [
        "self",
        "max_bytes",
        "timeout",
    ]
    assert 'info == "is_readable"' in inspect.getsource(sync.SyncStream.get_extra_info)

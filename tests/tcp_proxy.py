"""A TCP proxy on loopback whose wire can be cut and mended: what a lost network looks like to a
browser. It counts the HTTP requests that go through it."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections import Counter
from typing import Self

_REQUEST = re.compile(rb"(GET|HEAD|PUT|POST|DELETE) /")


class TcpProxy:
    """Forwards to `port`; a context manager. While it is cut, connections are reset and new ones
    refused at once.

    Requests that begin with `refusing` never get through, as at a proxy that knows no websockets at
    that address.
    """

    def __init__(self, port: int, refusing: bytes = b"") -> None:
        self._target = port
        self._refusing = refusing
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.requests: Counter[str] = Counter()
        """Method -> how many HTTP requests came with it: a piece that begins like one is one."""
        self._refused = threading.Semaphore(0)
        """One for each connection that came while the wire was cut."""
        self._whole = threading.Event()
        self._whole.set()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._listener.close()

    def cut(self) -> None:
        """End every connection and take no new ones."""
        self._whole.clear()
        with self._lock:
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def wait_for_refusals(self, number: int, timeout: float = 30.0) -> None:
        """Stay cut until somebody has tried that often to connect."""
        for _ in range(number):
            assert self._refused.acquire(timeout=timeout), "nobody tried to connect"

    def heal(self) -> None:
        """Take connections again."""
        self._whole.set()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self._whole.is_set():
                    self._connect(client)
                else:
                    client.close()
                    self._refused.release()

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._target), timeout=10)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        with self._lock:
            self._open |= {client, server}
        for source, sink in ((client, server), (server, client)):
            forward = threading.Thread(
                target=self._forward, args=(source, sink, source is client), daemon=True
            )
            forward.start()

    def _forward(self, source: socket.socket, sink: socket.socket, asking: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if asking and (found := _REQUEST.match(data)):
                    with self._lock:
                        self.requests[found[1].decode()] += 1
                if self._refusing and data.startswith(self._refusing):
                    source.sendall(
                        b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: "
                        b"close\r\n\r\n"
                    )
                    break
                sink.sendall(data)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._open -= {source, sink}

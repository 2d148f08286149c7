"""The HTTP client of a connection that a person made: it follows no redirect, and connects to the
very address that was judged, so that a name cannot mean another one a moment later."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from typing import Any

import httpcore2
import httpx2

from leaf.agent.models.certificates import trusted
from leaf.agent.models.reach import Reach

MOST_BYTES = 64 * 1024 * 1024
"""Of one response. What a server of somebody's own sends is held in memory."""
CONNECTIONS = 100


def client(reach: Reach, **options: Any) -> httpx2.Client:
    """What is sent goes where `reach` allows, and no further."""
    if reach.inner:
        return httpx2.Client(follow_redirects=False, **options)
    return httpx2.Client(
        follow_redirects=False, trust_env=False, transport=_JudgedTransport(reach), **options
    )


class _JudgedTransport(httpx2.HTTPTransport):
    """Without a proxy, which would look names up itself."""

    def __init__(self, reach: Reach) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=trusted(),
            max_connections=CONNECTIONS,
            network_backend=_JudgedBackend(reach),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = super().handle_request(request)
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _Bounded(response.stream)
        return response


class _JudgedBackend(httpcore2.NetworkBackend):
    """Looks a name up once, and connects to what it was judged by."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._plain = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Raises InnerAddressError, and ConnectError as any other."""
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as e:
            raise httpcore2.ConnectError(e) from e
        addresses = list(dict.fromkeys(str(place[4][0]) for place in infos))
        for address in addresses:
            self._reach.judge(host, port, address)
        for address in addresses[:-1]:
            try:
                return self._plain.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return self._plain.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)


class _Bounded(httpx2.SyncByteStream):
    """A response that ends, at last by an error."""

    def __init__(self, stream: httpx2.SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        took = 0
        for piece in self._stream:
            took += len(piece)
            if took > MOST_BYTES:
                raise httpx2.ReadError("the response is too long")
            yield piece

    def close(self) -> None:
        self._stream.close()

"""The routes by which commands use the app's Leaf: for callers on this machine that know the key,
and nobody else."""

from __future__ import annotations

import hmac
import io
import ipaddress
import re
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from anyio import CapacityLimiter, from_thread, to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from leaf import __version__
from leaf.errors import InvalidInputError, LeafError
from leaf.remote import codec
from leaf.remote.address import proof

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from leaf.app import Leaf

CALL_BYTES = 8 * 1024 * 1024
"""Largest call; a question longer than that is a file."""
HELLO_BYTES = 1_024
CALLS = 32
"""Calls at one time; each holds a thread, watching included."""
LONGEST_WAIT = 2.0
"""Seconds that a watcher may wait for news in one call, so that the app can close at any time."""
PIECE = 1024 * 1024
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
PATHS = frozenset({"/_leaf/hello", "/_leaf/call", "/_leaf/files"})
"""Of `routes`; whoever comes here shows the key of the key file."""
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")


def routes(leaf: Callable[[], Leaf], key: Callable[[], str]) -> list[Route]:
    """To be mounted by the app. `key` gives the key of the key file; while there is none, nobody
    may call."""
    door = CommandRoutes(leaf, key)
    return [
        Route("/_leaf/hello", door.hello, methods=["POST"]),
        Route("/_leaf/call", door.call, methods=["POST"]),
        Route("/_leaf/files", door.add_file, methods=["POST"]),
    ]


class CommandRoutes:
    """Looks at who is calling, and carries out what they may ask."""

    def __init__(self, leaf: Callable[[], Leaf], key: Callable[[], str]) -> None:
        self._leaf = leaf
        self._key = key
        self._threads = CapacityLimiter(CALLS)

    async def hello(self, request: Request) -> Response:
        """Show that this is the app that wrote the key file, before anybody sends it the key."""
        if not _local(request) or not self._key():
            return _refused(403)
        try:
            challenge = codec.from_json(await _body(request, HELLO_BYTES))
        except LeafError as e:
            return _failed(e)
        if not isinstance(challenge, dict):
            return _refused(400)
        return _answer(
            codec.pack_value(
                {"proof": proof(self._key(), str(challenge.get("nonce"))), "version": __version__}
            )
        )

    async def call(self, request: Request) -> Response:
        """Call a method of Leaf, or of the local user's session."""
        if refused := self._refuse(request):
            return refused
        try:
            method, arguments = codec.unpack_call(await _body(request, CALL_BYTES))
            return _answer(
                await to_thread.run_sync(self._carry_out, method, arguments, limiter=self._threads)
            )
        except LeafError as e:
            return _failed(e)

    async def add_file(self, request: Request) -> Response:
        """Take a file: a line of JSON (`name`, and `context`, `folder`, `shared` or `job`), then
        its bytes, a piece at a time."""
        if refused := self._refuse(request):
            return refused
        upload = _Upload(request.stream())
        try:
            return _answer(await to_thread.run_sync(self._add, upload, limiter=self._threads))
        except LeafError as e:
            await upload.drain()
            return _failed(e)
        except ClientDisconnect:
            return _refused(400)

    def _refuse(self, request: Request) -> Response | None:
        if not _local(request):
            return _refused(403)
        key = self._key()
        authorization = request.headers.get("authorization", "")
        if not key or not hmac.compare_digest(authorization.encode(), f"Bearer {key}".encode()):
            return _refused(401)
        return None

    def _carry_out(self, method: codec.Method, arguments: dict[str, Any]) -> bytes:
        app = self._leaf()
        if "timeout" in arguments:
            arguments["timeout"] = min(arguments["timeout"], LONGEST_WAIT)
        owner = getattr(app.session(app.local_scope()), method.part) if method.part else app
        return codec.pack_value(getattr(owner, method.name)(**arguments))

    def _add(self, upload: _Upload) -> bytes:
        app = self._leaf()
        session = app.session(app.local_scope())
        stream = io.BufferedReader(upload, PIECE)
        head = codec.from_json(stream.readline(CALL_BYTES))
        if not isinstance(head, dict):
            raise InvalidInputError("An upload begins with a line that names the file.")
        name, context = str(head.get("name", "")), str(head.get("context", ""))
        folder, shared = str(head.get("folder", "")), head.get("shared") is True
        if job_id := str(head.get("job", "")):
            sources = [(f"{folder}/{name}", stream)]
            session.jobs.take(job_id, sources, problem=str(head.get("problem", "")))
            return codec.pack_value(None)
        return codec.pack_value(
            session.files.add(name, stream, context, folder=folder, shared=shared)
        )


class _Upload(io.RawIOBase):
    """A request's body as a file, read by a worker thread."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, into: WriteableBuffer) -> int:
        while not self._left:
            piece = from_thread.run(anext, self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        target = memoryview(into).cast("B")
        size = min(len(target), len(self._left))
        target[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    async def drain(self) -> None:
        """Read on to the end: a sender that is cut off in the middle never reads the answer that
        says why."""
        with suppress(ClientDisconnect):
            async for _ in self._pieces:
                pass


async def _body(request: Request, limit: int) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > limit:
            raise InvalidInputError(
                f"The call is larger than {limit:,} bytes.", "Send long text as a file."
            )
    return bytes(body)


def _local(request: Request) -> bool:
    """Whether the caller is a command on this machine: no browser, no proxy, no name that an
    outsider can point here."""
    headers = request.headers
    host = re.sub(r":\d+$", "", headers.get("host", ""))
    if "origin" in headers or any(name in headers for name in FORWARDED):
        return False
    return host in LOCAL_HOSTS and request.client is not None and _loopback(request.client.host)


def _loopback(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def _answer(content: bytes, status: int = 200) -> Response:
    return Response(content, status, {"cache-control": "no-store"}, "application/json")


def _failed(error: LeafError) -> Response:
    return _answer(codec.pack_error(error), 422)


def _refused(status: int) -> Response:
    """Without a reason: who may call needs none."""
    error: dict[str, Any] = {
        "type": "LeafError",
        "message": "The app does not take this call.",
        "hint": "",
    }
    return _answer(codec.to_json({"error": error}), status)

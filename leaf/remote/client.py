"""The app as a command sees it: the methods of `contract.Commands`, each one a call over loopback.

Every call has a connection of its own: one kept open may have been closed by the app in a pause,
and a question must not be asked twice because nobody knows whether the first asking arrived.
"""

from __future__ import annotations

import hmac
import http.client
import secrets
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit

from leaf import __version__
from leaf.errors import InvalidInputError, LeafError, RunError
from leaf.files.library import Added, open_path
from leaf.remote import codec
from leaf.remote.address import Address, alive, proof, read
from leaf.remote.contract import METHODS, Commands
from leaf.store.model import Scope

HELLO_SECONDS = 5.0
ANSWER_SECONDS = 900.0
"""For a call that parses a large file or runs a long query; the app itself limits those."""
BACKUP_SECONDS = 86_400.0
"""For a backup, which takes as long as there is data."""
PIECE = 1024 * 1024


def find(home: Path) -> Address | None:
    """The app that holds this data folder; None if there is none that answers. Raises LeafError for
    an app of another version."""
    address = read(home)
    if address is None or not alive(address.pid):
        return None
    version = _greet(address)
    if version and version != __version__:
        raise LeafError(
            f"The app at {address.url} is Leaf {version}, this is {__version__}.",
            "Restart the app.",
        )
    return address if version else None


def connect(address: Address) -> Commands:
    """The app's Leaf."""
    return cast(Commands, Remote(address))


class Remote:
    """Any method of `METHODS` that is Leaf's own, found by name, and the session of the app's local
    user."""

    def __init__(self, address: Address) -> None:
        self._address = address

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return _method(self._address, name)

    def session(self, _scope: Scope, /) -> RemoteSession:
        """The scope stays here: the app acts for its local user."""
        return RemoteSession(self._address)

    def launch(self) -> None:
        """Nothing to do: the app has gone on with unfinished answers when it started."""

    def close(self) -> None:
        """Nothing to give back: the app goes on."""


class RemotePart:
    """A part of a session: its methods, found by name."""

    def __init__(self, address: Address, name: str) -> None:
        self._address = address
        self._name = name

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return _method(self._address, f"{self._name}.{name}")


class RemoteFiles(RemotePart):
    """The library, with what sends a file."""

    def add_path(
        self, path: Path, context: str = "", folder: str = "", shared: bool = False
    ) -> Added:
        """Send a file to the library, in pieces."""
        with open_path(path) as file:
            head = _head(
                {"name": path.name, "context": context, "folder": folder, "shared": shared}
            )
            return codec.unpack_added(
                _exchange(self._address, "/_leaf/files", _pieces(head, path, file))
            )


class RemoteJobs(RemotePart):
    """The jobs, with what sends files."""

    def take_paths(self, job_id: str, paths: Sequence[Path], folders: Sequence[str] = ()) -> None:
        """Send files to a job, one after another. One that cannot be opened, or read to its end, is
        told with the job."""
        for path, folder in zip(paths, folders or [""] * len(paths), strict=True):
            named = {"name": path.name, "folder": folder, "job": job_id}
            try:
                with _opened(path) as file:
                    _exchange(self._address, "/_leaf/files", _pieces(_head(named), path, file))
            except UnreadPathError as e:
                head = _head({**named, "problem": str(e)})
                _exchange(self._address, "/_leaf/files", head)


class RemoteSession:
    """The parts of `contract.SessionCommands`."""

    def __init__(self, address: Address) -> None:
        self.chats = RemotePart(address, "chats")
        self.messages = RemotePart(address, "messages")
        self.models = RemotePart(address, "models")
        self.files = RemoteFiles(address, "files")
        self.attached = RemotePart(address, "attached")
        self.jobs = RemoteJobs(address, "jobs")
        self.tools = RemotePart(address, "tools")


def _method(address: Address, name: str) -> Callable[..., Any]:
    """A method of `METHODS`, as a call. Raises AttributeError for any other."""
    if name not in METHODS:
        raise AttributeError(name)

    def call(*values: Any, **named: Any) -> Any:
        call = codec.pack_call(name, values, named)
        patience = BACKUP_SECONDS if name == "backup" else ANSWER_SECONDS
        answer = _exchange(address, "/_leaf/call", call, timeout=patience)
        return codec.unpack_value(name, answer)

    return call


class UnreadPathError(LeafError):
    """A file on this machine that cannot be opened or read: nothing that the app says."""


def _opened(path: Path) -> BinaryIO:
    try:
        return open_path(path)
    except LeafError as e:
        raise UnreadPathError(e.message, e.hint) from e


def _head(named: Mapping[str, object]) -> bytes:
    """The line before the bytes of a file."""
    return codec.to_json(named) + b"\n"


def _pieces(head: bytes, path: Path, file: BinaryIO) -> Iterator[bytes]:
    yield head
    while True:
        try:
            piece = file.read(PIECE)
        except OSError as e:
            raise UnreadPathError(
                f"Cannot read '{path}': {e.strerror}.", "Check the file and the disk."
            ) from e
        if not piece:
            return
        yield piece


def _greet(address: Address) -> str:
    """The version of the app at this address; empty if nobody there knows the key, which is not
    sent."""
    nonce = secrets.token_hex(16)
    try:
        answer = _exchange(
            Address(address.url, "", address.pid),
            "/_leaf/hello",
            codec.to_json({"nonce": nonce}),
            timeout=HELLO_SECONDS,
        )
    except LeafError:
        return ""
    if not isinstance(answer, dict):
        return ""
    known = hmac.compare_digest(
        str(answer.get("proof")).encode(), proof(address.key, nonce).encode()
    )
    return str(answer.get("version")) if known else ""


def _exchange(
    address: Address, path: str, body: bytes | Iterator[bytes], *, timeout: float = ANSWER_SECONDS
) -> Any:
    """Send a body and take the value out of the answer. Raises the LeafError in it, RunError
    without one."""
    headers = {"Content-Type": "application/octet-stream"}
    if address.key:
        headers["Authorization"] = f"Bearer {address.key}"
    try:
        connection = _connection(address.url, timeout)
        try:
            connection.request("POST", path, body, headers)
            content = connection.getresponse().read()
        finally:
            connection.close()
    except (OSError, http.client.HTTPException, ValueError) as e:
        raise RunError(
            f"The app at {address.url} stopped answering.",
            "It may have been closed; start it again.",
        ) from e
    try:
        answer = codec.from_json(content)
    except InvalidInputError as e:
        raise LeafError(f"The app at {address.url} failed at this.", "Its log says why.") from e
    if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
        raise codec.unpack_error(answer["error"])
    return answer.get("value") if isinstance(answer, dict) else None


def _connection(url: str, timeout: float) -> http.client.HTTPConnection:
    """On loopback a certificate for another name says nothing; that the app knows the key has been
    seen before it is sent."""
    parts = urlsplit(url)
    if parts.hostname not in ("127.0.0.1", "::1"):
        raise ValueError("not a loopback address")
    if parts.scheme == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return http.client.HTTPSConnection(
            parts.hostname, parts.port, timeout=timeout, context=context
        )
    return http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)

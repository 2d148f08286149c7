"""Uploads go to disk as they come, in a folder of the data folder, and never into memory as a
whole. Streamlit's own route would hold every byte for as long as the session lives.

Who may upload was decided before (`ui/admitted.py`). What is taken is bounded for each file, for
each person and in all; a file goes when it was handed over, or with its session.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from anyio import to_thread
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from leaf.errors import NotFoundError
from leaf.ui.admitted import UPLOAD
from leaf.ui.cookies import cookies_of

PIECE = 1024 * 1024
"""Bytes that are written at a time."""
FRAME = 64 * 1024
"""Bytes around a file in the body that carries it: boundaries, headers, its name."""
SWEEP = 60.0
"""Seconds between two looks whether the sessions of what is held have ended, while something is."""
LEFT = 86_400
"""Seconds after which a file that stands there at a start is nobody's."""
FREE = 1024**3
"""Bytes of the disk that uploads leave free."""

RELOAD = (
    "Reload it. If that does not help: where several Leafs stand behind one balancer, it has to "
    "keep a browser at one of them."
)
NOT_HERE = f"This page is not open any more. {RELOAD}"

logger = logging.getLogger("leaf")


@dataclass(frozen=True)
class UploadLimits:
    """In bytes."""

    file: int
    person: int
    total: int


class UploadRefusedError(Exception):
    """What is sent is not taken. `said` is for whoever sent it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.said = message


class Held:
    """One upload on disk. The file goes with the object."""

    def __init__(self, store: Uploads, who: str) -> None:
        descriptor, name = tempfile.mkstemp(dir=store.folder(), prefix="upload-")
        self.path, self.size = Path(name), 0
        self._file: BinaryIO = os.fdopen(descriptor, "wb")
        self._store, self._who = store, who
        self._drop = weakref.finalize(self, _forget, self.path, store, who, taken := [0])
        self._taken = taken

    def write(self, piece: bytes) -> None:
        """Raises UploadRefusedError where a limit is reached, and OSError."""
        self.size += len(piece)
        self._store.count(self._who, self.size, len(piece))
        self._taken[0] += len(piece)
        self._file.write(piece)

    def finish(self) -> None:
        self._file.close()

    def drop(self) -> None:
        """Remove the file at once."""
        self._file.close()
        self._drop()


def _forget(path: Path, store: Uploads, who: str, taken: list[int]) -> None:
    path.unlink(missing_ok=True)
    store.give_back(who, taken[0])


class OnDisk(bytes):
    """What stands in Streamlit's records in place of the content: empty, of the content's length."""

    held: Held

    def __new__(cls, held: Held) -> OnDisk:
        content = super().__new__(cls)
        content.held = held
        return content

    def __len__(self) -> int:
        return self.held.size


class Uploads:
    """What is held, by whom. `limits` and `home` are asked for when they are needed; `begins` is
    called when a file begins to come."""

    def __init__(
        self,
        limits: Callable[[], UploadLimits],
        home: Callable[[], Path],
        begins: Callable[[], None] = lambda: None,
    ) -> None:
        self.limits = limits
        self.begins = begins
        self._home = home
        self._lock = threading.RLock()  # a file may be forgotten by a collection at any line
        self._held = Counter[str]()
        self._whole: dict[str, tuple[str, Held]] = {}
        """By Streamlit's id of the file: the session that it was sent to. The composer takes the
        record out of Streamlit's manager before the page sees the file, so that this alone keeps
        the content."""

    def folder(self) -> Path:
        folder = self._home() / "uploads"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder

    def clear(self) -> None:
        """Remove what a process that was killed has left; another one over the same folder may be
        taking uploads just now."""
        for left in self.folder().glob("upload-*"):
            with suppress(FileNotFoundError):  # handed over just now
                if time.time() - left.stat().st_mtime > LEFT:
                    left.unlink()

    def keep(self, session_id: str, file_id: str, held: Held) -> None:
        """The file came whole. It stays until it was handed over, or its session has ended."""
        with self._lock:
            self._whole[file_id] = session_id, held

    def sweep(self, is_active: Callable[[str], bool]) -> bool:
        """Remove what was sent to sessions that have ended; whether something else is held."""
        with self._lock:
            ended = [known for known, (session, _) in self._whole.items() if not is_active(session)]
        for file_id in ended:
            self.drop(file_id)
        with self._lock:
            return bool(self._whole)

    def of(self, session_id: str, file_id: str) -> Held | None:
        """What this session was sent under this id, if it was not handed over yet."""
        with self._lock:
            session, held = self._whole.get(file_id, ("", None))
            return held if session == session_id else None

    def drop(self, file_id: str) -> None:
        """It was handed over, or taken back by the person."""
        with self._lock:
            _, held = self._whole.pop(file_id, ("", None))
        if held is not None:
            held.drop()

    def count(self, who: str, size: int, more: int) -> None:
        """So many bytes `more` of a file that has `size` now. Raises UploadRefusedError."""
        limits = self.limits()
        if size > limits.file:
            raise UploadRefusedError(413, "The file is larger than this Leaf takes.")
        with self._lock:
            if self._held[who] + more > limits.person or self._held.total() + more > limits.total:
                raise UploadRefusedError(
                    413, "Too much is being uploaded at once. Wait until it was added, then go on."
                )
            self._held[who] += more
        if os.name == "posix" and _free(self._home()) < FREE:
            self.give_back(who, more)
            raise UploadRefusedError(507, "The disk of this Leaf is full.")

    def give_back(self, who: str, size: int) -> None:
        with self._lock:
            self._held[who] -= size
            self._held += Counter()  # forgets whoever has nothing left


def _free(home: Path) -> int:
    stats = os.statvfs(home)
    return stats.f_bavail * stats.f_frsize


class Receiving:
    """ASGI middleware in place of Streamlit's route for uploads. `who` names the person for whom
    the cookies of a request speak."""

    def __init__(
        self,
        app: ASGIApp,
        uploads: Callable[[], Uploads],
        who: Callable[[dict[str, str]], str],
        based: Callable[[str], str],
    ) -> None:
        self.app = app
        self.uploads = uploads
        self.who = who
        self.prefix = based(UPLOAD)
        self._sweeps = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"] if scope["type"] == "http" else ""
        path = scope["path"] if method in ("PUT", "DELETE") else ""
        if not path.startswith(self.prefix):
            await self.app(scope, receive, send)
            return
        session_id, _, file_id = path.removeprefix(self.prefix).partition("/")
        if method == "DELETE":
            waits = bool(_record(session_id, file_id))  # else a page has it already
            await self.app(scope, receive, send)
            if waits and not _record(session_id, file_id):
                await to_thread.run_sync(self.uploads().drop, file_id)
            return
        try:
            await self._take(Request(scope, receive), session_id, file_id)
            answer: Response = Response(status_code=204)
        except UploadRefusedError as e:
            answer = JSONResponse({"error": e.said}, e.status)
        except OSError as e:
            logger.warning("An upload was not kept: %s", e.strerror)
            answer = JSONResponse({"error": "The upload could not be kept."}, 507)
        except ClientDisconnect:
            return
        await answer(scope, receive, send)

    async def _take(self, request: Request, session_id: str, file_id: str) -> None:
        from streamlit.runtime import get_instance
        from streamlit.runtime.uploaded_file_manager import UploadedFileRec

        _check_xsrf(request.headers)
        runtime = get_instance()
        if not file_id or not runtime.is_active_session(session_id):
            raise UploadRefusedError(400, NOT_HERE)
        uploads = self.uploads()
        uploads.sweep(runtime.is_active_session)
        if int(request.headers.get("content-length") or 0) > uploads.limits().file + FRAME:
            raise UploadRefusedError(413, "The file is larger than this Leaf takes.")
        who = self.who(cookies_of(request.headers)) or session_id
        uploads.begins()
        held = await to_thread.run_sync(Held, uploads, who)
        body: _Body | None = None
        try:
            body = _Body(request.headers, held)
            async for piece in request.stream():
                await body.take(piece)
            name, media_type = body.end()
            await to_thread.run_sync(held.finish)
        except BaseException:
            held.drop()
            raise
        finally:
            if body is not None:
                body.close()
        if not runtime.is_active_session(session_id):
            held.drop()
            raise UploadRefusedError(400, NOT_HERE)
        uploads.keep(session_id, file_id, held)
        record = UploadedFileRec(file_id, name, media_type, OnDisk(held))
        cast(Any, runtime.uploaded_file_mgr).add_file(session_id, record)
        if not self._sweeps:
            self._sweeps = True
            asyncio.get_running_loop().call_later(SWEEP, self._sweep)

    def _sweep(self) -> None:
        """On the event loop, again and again while something is held."""
        from streamlit.runtime import Runtime

        self._sweeps = Runtime.exists() and self.uploads().sweep(
            Runtime.instance().is_active_session
        )
        if self._sweeps:
            asyncio.get_running_loop().call_later(SWEEP, self._sweep)


def _record(session_id: str, file_id: str) -> list[Any]:
    from streamlit.runtime import get_instance

    return list(get_instance().uploaded_file_mgr.get_files(session_id, [file_id]))


def _check_xsrf(headers: Headers) -> None:
    from streamlit.web.server.starlette.starlette_app_utils import validate_xsrf_token

    cookie = cookies_of(headers).get("_streamlit_xsrf")
    if not validate_xsrf_token(headers.get("x-xsrftoken"), cookie):
        raise UploadRefusedError(403, "This upload does not come from a page of this Leaf.")


class _Body:
    """A form with one file, which is written while it comes."""

    def __init__(self, headers: Headers, held: Held) -> None:
        _, options = parse_options_header(headers.get("content-type", "").encode("latin-1"))
        if b"boundary" not in options:
            raise UploadRefusedError(400, "This is no upload of a page.")
        self._held = held
        self._files = self._around = 0
        self._in_file = False
        self._headers: dict[bytes, bytes] = {}
        self._field = self._content = b""
        self._name = self._media_type = ""
        self._buffer = bytearray()
        self._parser = MultipartParser(
            options[b"boundary"],
            {
                "on_part_begin": self._headers.clear,
                "on_header_field": self._on_field,
                "on_header_value": self._on_content,
                "on_header_end": self._on_header,
                "on_headers_finished": self._on_headers,
                "on_part_data": self._on_data,
            },
        )

    async def take(self, piece: bytes) -> None:
        """Raises UploadRefusedError, OSError."""
        from python_multipart.exceptions import FormParserError

        self._around += len(piece)
        try:
            self._parser.write(piece)
        except FormParserError as e:
            raise UploadRefusedError(400, "This is no upload of a page.") from e
        if self._around > FRAME:
            raise UploadRefusedError(400, "This is no upload of a page.")
        if len(self._buffer) >= PIECE:
            await self._flush()

    async def _flush(self) -> None:
        buffered, self._buffer = bytes(self._buffer), bytearray()
        await to_thread.run_sync(self._held.write, buffered)

    def end(self) -> tuple[str, str]:
        """Name and media type. Raises UploadRefusedError, OSError."""
        self._parser.finalize()
        if self._files != 1:
            raise UploadRefusedError(400, "An upload has one file.")
        self._held.write(bytes(self._buffer))
        return self._name, self._media_type or "application/octet-stream"

    def close(self) -> None:
        """The parser holds this object, which holds it: part them, so that nothing waits for a
        collection."""
        cast(dict[str, Any], self._parser.callbacks).clear()

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _on_content(self, data: bytes, start: int, end: int) -> None:
        self._content += data[start:end]

    def _on_header(self) -> None:
        self._headers[self._field.lower()] = self._content
        self._field = self._content = b""

    def _on_headers(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._in_file = b"filename" in options
        if self._in_file:
            self._files += 1
            self._name = options[b"filename"].decode("utf-8", "replace")
            self._media_type = self._headers.get(b"content-type", b"").decode("latin-1")
        if self._files > 1:
            raise UploadRefusedError(400, "An upload has one file.")

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._around -= end - start
            self._buffer += data[start:end]


@dataclass(frozen=True)
class Upload:
    """A file that a browser sent to a page."""

    name: str
    _given: Any
    _held: Held | None
    _uploads: Uploads | None

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Its bytes; they are gone afterwards. Raises NotFoundError where they are not there (any
        more)."""
        if self._held is None or self._uploads is None:
            if len(self._given.getbuffer()) != self._given.size:
                raise self._gone()
            yield self._given
            return
        try:
            stream = self._held.path.open("rb")
        except FileNotFoundError as e:
            raise self._gone() from e
        with stream:
            yield stream
        self._uploads.drop(self._given.file_id)

    def _gone(self) -> NotFoundError:
        return NotFoundError(
            f"'{self.name}' is not here any more, perhaps because it was handed over before.",
            "Choose it again to add it again.",
        )


def received(given: Sequence[Any]) -> list[Upload]:
    """For a page: what its widgets gave, with the content, which stays until it was read."""
    from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

    from leaf.ui import state

    context = get_script_run_ctx()
    if context is None:
        return [Upload(each.name, each, None, None) for each in given]
    uploads = state.uploads()
    return [
        Upload(
            each.name,
            each,
            uploads.of(context.session_id, getattr(each, "file_id", "")),
            uploads,
        )
        for each in given
    ]

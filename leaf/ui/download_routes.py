"""Where browsers take files along and play them, from the disk as they go, never whole in memory.

    GET /_leaf/downloads/WORKSPACE/...    the paths stand in `ui/taken.py`

Host and Origin were judged before (`ui/visitors.py`), and where nobody signs in the cookie
(`ui/entrance.py`). An address says what is wanted and proves nothing: at each request the cookies
say who asks, and the database what they may have, so any Leaf of it answers. Whoever may not have
something, and whoever asks for what is not there, get the same answer.
"""

from __future__ import annotations

import errno
import logging
import re
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

import anyio
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from leaf.errors import (
    FAULT,
    BlobGoneError,
    LeafError,
    NotFoundError,
    ResultGoneError,
    SignInError,
    StoreError,
)
from leaf.language.problems import told
from leaf.language.text import mark, speaking, t
from leaf.ui import shared
from leaf.ui.cookies import cookies_of
from leaf.ui.language import best
from leaf.ui.making import FULL, NoRoomError, Room, Rooms
from leaf.ui.taken import KEPT, MADE, FileRequest, Take, Taken

if TYPE_CHECKING:
    from leaf.sessions.session import Session

AT_ONCE = 8
"""Files that are made at one time, of all people; the rest wait."""
PIECE = 256 * 1024
RESUMED, MOST_RESUMED = 86_400.0, 10_000
"""Seconds, and downloads, for which it is remembered that they began."""
NAME = 180
"""Bytes of a name, below what any disk takes with a number added."""
NOTHING = (
    mark("Nothing is here for you"),
    mark("It is not there any more, or it is not yours to have. Sign in, and press again in Leaf."),
)
NOT_MADE = mark("This could not be downloaded")
GONE = mark("This file is not there any more")
HEADERS = {"cross-origin-resource-policy": "same-origin", "cache-control": "private, no-store"}
"""Of every answer here, so that no page elsewhere can draw, play or run it, and no proxy keeps it."""
_HIDING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Characters that turn the direction of a name around, and with it where its ending seems to be."""

logger = logging.getLogger("leaf")

Enter = Callable[[Mapping[str, str], str], "Session"]
"""Cookies and a workspace -> what their owner may do there. Raises LeafError."""


class DownloadRoutes:
    """The routes. `rooms` is asked for when something is made."""

    def __init__(
        self,
        enter: Enter,
        rooms: Callable[[], Rooms],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._enter = enter
        self._rooms = rooms
        self._begun = Begun(clock)
        self._making: CapacityLimiter | None = None

    def routes(self, path: str) -> list[Route]:
        """Below this path, as browsers ask for it."""
        handlers = [(rest, self._kept(take)) for rest, take in KEPT.items()]
        handlers += [(rest, self._made(take)) for rest, take in MADE.items()]
        return [
            Route(f"{path}/{{workspace_id}}{rest}", self._answered(handler), methods=["GET"])
            for rest, handler in handlers
        ]

    def _answered(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """What goes wrong is a page in words."""

        async def answer(request: Request) -> Response:
            language = best(request.headers.get("accept-language", ""))
            if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
                return _nothing(language)
            try:
                own, language = await to_thread.run_sync(self._entered, request, language)
                request.state.language = language
                return await handler(request, own)
            except LeafError as e:
                return _refused(e, language)
            except Exception:
                logger.exception("A download failed")
                return _page(500, language, NOT_MADE, FAULT)

        return answer

    def _entered(self, request: Request, language: str) -> tuple[Session, str]:
        """With the language in which the page speaks to them."""
        own = self._enter(cookies_of(request.headers), request.path_params["workspace_id"])
        return own, own.team.language() or language

    def _kept(self, take: Take) -> Handler:
        async def answer(request: Request, own: Session) -> Response:
            begun = (own.scope.user_id, str(request.url.path), str(request.url.query))
            goes_on = request.method == "HEAD" or (
                _goes_on(request.headers.get("range", "")) and self._begun.knows(begun)
            )
            asked = FileRequest(own, request.path_params, request.query_params, goes_on)
            taken = await to_thread.run_sync(take, asked)
            if not goes_on:
                self._begun.add(begun)
            return await to_thread.run_sync(Streamed, taken)

        return answer

    def _made(self, take: Take) -> Handler:
        async def answer(request: Request, own: Session) -> Response:
            if request.method == "HEAD":  # nothing is made, or written down, that nobody takes
                return Response(status_code=405, headers={"allow": "GET"})
            room = await to_thread.run_sync(self._rooms().enter, own.scope.user_id)
            asked = FileRequest(
                own,
                request.path_params,
                request.query_params,
                into=room.path,
                language=request.state.language,
            )
            try:
                taken = await to_thread.run_sync(take, asked, limiter=self._limiter())
                return await to_thread.run_sync(Streamed, taken, room)
            except BaseException as e:
                await _emptied(room)
                if isinstance(e, OSError) and e.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise NoRoomError(FULL) from e
                raise

        return answer

    def _limiter(self) -> CapacityLimiter:
        """Made on the event loop."""
        if self._making is None:
            self._making = CapacityLimiter(AT_ONCE)
        return self._making


Handler = Callable[[Request, "Session"], Awaitable[Response]]


class Begun:
    """Which downloads began here: one that goes on after a break is the same one, and is written
    down once. Used on the event loop alone."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._at: OrderedDict[tuple[str, ...], float] = OrderedDict()

    def add(self, download: tuple[str, ...]) -> None:
        self._at[download] = self._clock()
        self._at.move_to_end(download)
        if len(self._at) > MOST_RESUMED:
            self._at.popitem(last=False)

    def knows(self, download: tuple[str, ...]) -> bool:
        at = self._at.get(download)
        return at is not None and self._clock() - at < RESUMED


class Streamed(FileResponse):
    """A file from the disk, which stays there until the response has ended."""

    chunk_size = PIECE

    def __init__(self, taken: Taken, room: Room | None = None) -> None:
        """Raises BlobGoneError where the file was removed just now."""
        self.taken, self.room = taken, room
        headers = {
            # else what stands around the routes would compress it, piece by piece
            "content-encoding": "identity",
            "content-disposition": disposition(taken.name, "inline" if taken.played else ""),
        }
        if taken.sha256:
            headers["etag"] = f'"{taken.sha256}"'
        else:
            headers["accept-ranges"] = "none"
        try:
            file_stat = taken.path.stat()
        except FileNotFoundError as e:
            raise BlobGoneError("This file was removed just now.", "Reload the page.") from e
        super().__init__(
            taken.path, headers=headers, media_type=taken.media_type, stat_result=file_stat
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.taken.sha256:  # it is made anew each time, and a part of it fits to no other
            headers = [(name, value) for name, value in scope["headers"] if name != b"range"]
            scope = {**scope, "headers": headers}
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self.room is not None:
                await _emptied(self.room)


async def _emptied(room: Room) -> None:
    """Also where the request was cut off."""
    with anyio.CancelScope(shield=True):
        await to_thread.run_sync(room.close)


def disposition(name: str, how: str = "") -> str:
    """The header that says under which name something is saved; `how` is `attachment` if empty."""
    plain = saved_name(name)
    ascii = re.sub(r'[^ -~]|["\\%]', "_", plain)
    return f"{how or 'attachment'}; filename=\"{ascii}\"; filename*=UTF-8''{quote(plain, safe='')}"


def saved_name(name: str) -> str:
    """A name as it may stand in a folder: on one line, without folders, its ending where it seems
    to be, and not too long."""
    seen = "".join(
        " " if unicodedata.category(one) in ("Cc", "Zl", "Zp", "Cs") else one
        for one in _HIDING.sub("", name)
    )
    plain = " ".join(re.sub(r"[/\\]", "_", seen).split()).lstrip(". ")
    stem, dot, ending = plain.rpartition(".")
    if not dot or len(ending.encode()) > 16:
        stem, ending = plain, ""
    cut = stem.encode()[: NAME - len(dot + ending)].decode(errors="ignore").rstrip()
    return f"{cut or 'file'}.{ending}" if ending else cut or "file"


def _goes_on(ranged: str) -> bool:
    """Whether a Range asks for what comes after a beginning."""
    first = re.match(r"\s*bytes\s*=\s*(\d+)\s*-", ranged)
    return first is not None and int(first[1]) > 0


def _refused(problem: LeafError, language: str) -> Response:
    with speaking(language):
        message = told(problem)
    if isinstance(problem, BlobGoneError | ResultGoneError):
        return _page(410, language, GONE, message)
    if isinstance(problem, NotFoundError | SignInError):
        return _nothing(language)
    later = isinstance(problem, NoRoomError | StoreError)
    return _page(503 if later else 409, language, NOT_MADE, message)


def _nothing(language: str) -> Response:
    return _page(404, language, *NOTHING)


def _page(status: int, language: str, title: str, text: str) -> Response:
    with speaking(language):
        texts = {"title": escape(t(title)), "text": escape(t(text))}
    page = shared.PAGE.format(lang=language, **texts)
    return HTMLResponse(page, status, headers={"vary": "accept-language, cookie"})

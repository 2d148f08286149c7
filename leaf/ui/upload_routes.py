"""Where the list of files on a page sends them and asks how far they are, beside the page's own
script: a page may be drawn anew, left for another chat or be busy meanwhile.

    POST   /_leaf/uploads                       names and sizes of what will come: a job, and its items
    PUT    /_leaf/uploads/JOB/POSITION          the bytes of one of them, to disk as they come
    POST   /_leaf/uploads/JOB/POSITION/again    look once more at one whose bytes are here
    DELETE /_leaf/uploads/JOB/POSITION          do without one; without a position, without the rest
    POST   /_leaf/uploads/JOB/close             put away what is over
    POST   /_leaf/uploads/JOB/go-on             take up what was left when it ended
    POST   /_leaf/uploads/JOB/left              the tab that was to send the rest is closed
    GET    /_leaf/uploads?here=CHAT             how far everything is

Host and Origin were judged before (`ui/visitors.py`). Each request shows the key of its tab.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from leaf.errors import FAULT, FileTooLargeError, LeafError, NotFoundError
from leaf.language import problems
from leaf.language.text import speaking
from leaf.ui.cookies import cookies_of
from leaf.ui.language import best
from leaf.ui.receiving import PIECE, RELOAD, Held, UploadRefusedError, Uploads
from leaf.ui.upload_keys import UploadKey, UploadKeys

KEY = "x-leaf-key"
AT_ONCE = 4
"""Files that one person may be sending at one time."""
MOST_FILES = 20_000
MOST_NAMES = 8 * 1024 * 1024
"""Bytes of a list of names."""
LOST = "The connection broke before all of it was here. Try again."
LEFT = "The page that was to send it was closed. Add it again."
NO_KEY = f"This page was open too long, or Leaf was started again. {RELOAD}"
BUSY = "Other files of yours are being sent."

if TYPE_CHECKING:
    from leaf.sessions.session import Session

logger = logging.getLogger("leaf")

Handler = Callable[[Request, UploadKey], Awaitable[Response]]


class UploadRoutes:
    """The routes. `keys`, `uploads` and `who` are asked for when they are needed."""

    def __init__(
        self,
        keys: Callable[[], UploadKeys],
        uploads: Callable[[], Uploads],
        who: Callable[[dict[str, str]], str],
    ) -> None:
        self._keys = keys
        self._uploads = uploads
        self._who = who
        self._sending = Counter[str]()

    def routes(self, path: str) -> list[Route]:
        """Below this path, as browsers ask for it."""
        one = "/{job}/{position:int}"
        endpoints: list[tuple[str, str, Handler]] = [
            ("", "GET", self._list),
            ("", "POST", self._begin),
            ("/{job}", "DELETE", self._cancel_all),
            ("/{job}/close", "POST", self._close),
            ("/{job}/go-on", "POST", self._go_on),
            ("/{job}/left", "POST", self._left),
            ("/{job}/without", "POST", self._without),
            (one, "PUT", self._take),
            (one, "DELETE", self._cancel),
            (f"{one}/again", "POST", self._again),
        ]
        return [
            Route(path + rest, self._answered(handler), methods=[method])
            for rest, method, handler in endpoints
        ]

    def _answered(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """What goes wrong is an answer: a sentence, and whether to send it again can help."""

        async def answer(request: Request) -> Response:
            account = self._who(cookies_of(request.headers))
            key = self._keys().of(request.headers.get(KEY, ""), account)
            if key is None:
                with speaking(best(request.headers.get("accept-language", ""))):
                    return _refused(403, NO_KEY, why="key")
            with speaking(key.language):
                try:
                    return await handler(request, key)
                except UploadRefusedError as e:
                    return _refused(e.status, e.said)
                except LeafError as e:
                    return _refused(404 if isinstance(e, NotFoundError) else 409, str(e))

        return answer

    async def _list(self, request: Request, key: UploadKey) -> Response:
        from leaf.ui.upload_view import shown

        here = request.query_params.get("here", "")

        jobs = await to_thread.run_sync(lambda: shown(key.session(), here))
        return JSONResponse(jobs, headers={"cache-control": "no-store"})

    async def _begin(self, request: Request, key: UploadKey) -> Response:
        target, new, files = _asked(await _body(request))
        self._uploads().begins()

        def begin() -> dict[str, str]:
            own = key.session()
            chat_id = own.chats.create(key.model).id if new else target
            job = own.jobs.announce(files, target=chat_id, origin=chat_id or "files")
            return {"job": job.id, "chat": chat_id}

        return JSONResponse(await to_thread.run_sync(begin))

    async def _take(self, request: Request, key: UploadKey) -> Response:
        job_id, position = str(request.path_params["job"]), int(request.path_params["position"])
        own = await to_thread.run_sync(key.session)
        who = key.account or own.scope.user_id
        if self._sending[who] >= AT_ONCE:
            return _refused(429, BUSY, why="busy")
        self._sending[who] += 1
        try:
            return await self._receive(request, own, who, job_id, position)
        finally:
            self._sending[who] -= 1
            self._sending += Counter()  # forgets whoever sends nothing

    async def _receive(
        self, request: Request, own: Session, who: str, job_id: str, position: int
    ) -> Response:
        told = await to_thread.run_sync(own.jobs.expect, job_id, position)
        held: Held | None = None
        problem = FAULT
        try:
            held = await to_thread.run_sync(Held, self._uploads(), who)
            await _write(request, held, told)
            await to_thread.run_sync(_hand_over, own, job_id, position, held)
            problem = ""
            return Response(status_code=204)
        except ClientDisconnect:
            problem = LOST
            return Response(status_code=499)
        except UploadRefusedError as e:
            problem = e.said
            raise
        except OSError as e:
            logger.warning("An upload was not kept: %s", e.strerror)
            problem = (
                "It could not be kept. Try again; if that does not help, tell whoever runs Leaf."
            )
            return _refused(507, problem)
        except LeafError as e:
            problem = str(e)
            return _refused(413 if isinstance(e, FileTooLargeError) else 409, problem)
        finally:
            if held is not None:
                await to_thread.run_sync(held.drop)
            if problem:
                await to_thread.run_sync(_fail, own, job_id, position, problem)

    async def _cancel(self, request: Request, key: UploadKey) -> Response:
        item = str(request.path_params["job"]), int(request.path_params["position"])
        return await _done(lambda: key.session().jobs.cancel(*item))

    async def _cancel_all(self, request: Request, key: UploadKey) -> Response:
        job_id = str(request.path_params["job"])
        return await _done(lambda: key.session().jobs.cancel_all(job_id))

    async def _again(self, request: Request, key: UploadKey) -> Response:
        item = str(request.path_params["job"]), int(request.path_params["position"])
        return await _done(lambda: key.session().jobs.again(*item))

    async def _go_on(self, request: Request, key: UploadKey) -> Response:
        job_id = str(request.path_params["job"])
        return await _done(lambda: key.session().jobs.go_on(job_id))

    async def _left(self, request: Request, key: UploadKey) -> Response:
        job_id = str(request.path_params["job"])
        return await _done(lambda: key.session().jobs.fail_rest(job_id, LEFT))

    async def _without(self, request: Request, key: UploadKey) -> Response:
        job_id = str(request.path_params["job"])
        return await _done(lambda: key.session().jobs.do_without(job_id))

    async def _close(self, request: Request, key: UploadKey) -> Response:
        job_id = str(request.path_params["job"])
        return await _done(lambda: key.session().jobs.forget(job_id))


async def _done(act: Callable[[], object]) -> Response:
    await to_thread.run_sync(act)
    return Response(status_code=204)


async def _body(request: Request) -> bytes:
    """Raises UploadRefusedError."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_NAMES:
            raise UploadRefusedError(413, "These are too many files for one go. Add fewer.")
    return bytes(body)


async def _write(request: Request, held: Held, told: Callable[[int], None]) -> None:
    """Raises UploadRefusedError, OSError, ClientDisconnect."""
    length = request.headers.get("content-length", "")
    buffer = bytearray()
    async for piece in request.stream():
        buffer += piece
        if len(buffer) >= PIECE:
            whole, buffer = bytes(buffer), bytearray()
            await to_thread.run_sync(held.write, whole)
            told(held.size)
    await to_thread.run_sync(held.write, bytes(buffer))
    if length and length != str(held.size):
        raise ClientDisconnect
    await to_thread.run_sync(held.finish)


def _hand_over(own: Session, job_id: str, position: int, held: Held) -> None:
    with held.path.open("rb") as stream:
        own.jobs.receive(job_id, position, stream)


def _fail(own: Session, job_id: str, position: int, problem: str) -> None:
    try:
        own.jobs.fail(job_id, position, problem)
    except LeafError as e:  # its job was put away meanwhile, or the store is closed
        logger.info("What became of an upload was not kept: %s", e)


def _asked(body: bytes) -> tuple[str, bool, list[tuple[str, int]]]:
    """The chat, whether it is to be a new one, names with folders and sizes. Raises
    UploadRefusedError."""
    try:
        match json.loads(body):
            case {"chat": str(chat), "files": [*entries]} if 0 < len(entries) <= MOST_FILES:
                return (
                    ("" if chat == "new" else chat),
                    chat == "new",
                    [_named(one) for one in entries],
                )
    except (ValueError, RecursionError) as e:
        raise UploadRefusedError(400, "This is no list of files of a page.") from e
    raise UploadRefusedError(400, f"Add 1 to {MOST_FILES:,} files in one go.")


def _named(entry: Any) -> tuple[str, int]:
    match entry:
        case [str(name), int(size)] if 0 <= size < 1 << 53:
            return name[-4_000:], size  # the folders nearest to it, and its ending
    raise ValueError("no file")


def _refused(status: int, message: str, why: str = "") -> Response:
    """`why` is for the list: `key` and `busy` pass by themselves."""
    return JSONResponse(
        {"error": problems.said(message), "why": why}, status, {"cache-control": "no-store"}
    )

"""Where public links lead: one page for whoever has the address, signed in or not, and one answer for
every address that opens nothing."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from leaf.errors import LeafError
from leaf.language.text import mark, speaking, t
from leaf.ui.language import best

PATH = "/_leaf/shared/"
POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox"
)
"""Nothing on the page is fetched, run or sent, and it has no origin: it cannot act as a page of
Leaf."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex, nofollow, noarchive",
    "cache-control": "no-store",
}
PAGE = """<!doctype html><html lang="{lang}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>{title}</title><style>:root {{ color-scheme: light dark }}
body {{ font: 16px/1.6 sans-serif; color: #1d2420; background: #fbfaf7; max-width: 34rem; margin: 18vh auto; padding: 0 1.5rem }}
h1 {{ font: 600 1.7rem serif }} @media (prefers-color-scheme: dark) {{ body {{ color: #e6eae6; background: #111614 }} }}</style>
<main><h1>{title}</h1><p>{text}</p></main></html>"""
GONE = (
    mark("Nothing is here"),
    mark("This link is not right, has run out or was revoked. Ask whoever sent it for another."),
)
SLOWER = (mark("Too many requests"), mark("Wait a minute, then open the link again."))
AWAY = (mark("Not now"), mark("Leaf cannot show this just now. Open the link again in a minute."))
AT_ONCE = 4
"""Pages that are read at the same time; the rest wait."""
A_MINUTE, MISSES = 120, 20
"""Requests from one address, and how many of them may open nothing."""
ADDRESSES = 10_000
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


class RequestRate:
    """How often each address has asked in this minute. Used on the event loop alone."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._minute = 0
        self._asked: OrderedDict[str, list[int]] = OrderedDict()

    def allows(self, address: str) -> bool:
        """Count a request; whether it is to be answered."""
        minute = int(self._clock() // 60)
        if minute != self._minute:
            self._minute = minute
            self._asked.clear()
        counted = self._asked.setdefault(address, [0, 0])
        if len(self._asked) > ADDRESSES:
            self._asked.popitem(last=False)
        counted[0] += 1
        return counted[0] <= A_MINUTE and counted[1] < MISSES

    def missed(self, address: str) -> None:
        """It opened nothing."""
        if address in self._asked:
            self._asked[address][1] += 1


def shared_routes(
    path: str, find: Callable[[str], bytes | None], pace: RequestRate | None = None
) -> list[Route]:
    """`path` is `PATH` as browsers ask for it; `find` gives the page of a token, or None."""
    paced = pace or RequestRate()
    reading = asyncio.Semaphore(AT_ONCE)

    async def show(request: Request) -> Response:
        address, token = _address(request), request.path_params["token"]
        language = best(request.headers.get("accept-language", ""))
        if not paced.allows(address):
            return _told(language, *SLOWER, 429, {"retry-after": "60"})
        page = None
        if _TOKEN.fullmatch(token):
            try:
                async with reading:
                    page = await asyncio.to_thread(find, token)
            except LeafError:
                return _told(language, *AWAY, 503, {"retry-after": "60"})
        if page is None:
            paced.missed(address)
            return _told(language, *GONE, 404)
        return HTMLResponse(page, headers=HEADERS)

    return [Route(path + "{token:path}", show)]


def _address(request: Request) -> str:
    """Of the browser as far as that can be known: the last that a proxy in front of Leaf has added,
    with that proxy's."""
    forwarded = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()[:64]
    return f"{request.client.host if request.client else ''} {forwarded}"


def _told(
    language: str, title: str, text: str, status: int, more: dict[str, str] | None = None
) -> Response:
    """In the language of the browser: nobody is known here."""
    with speaking(language):
        page = PAGE.format(lang=language, title=escape(t(title)), text=escape(t(text)))
    return HTMLResponse(page, status, HEADERS | (more or {}))

"""Streamlit's page is served as it is, with two scripts more in its head. One hands Streamlit the look
that this browser chose, before it reads it. The other has seven parts: a page that cannot open its
websocket says so instead of staying empty, one that loses it keeps what is typed meanwhile, a list of
choices stays open under a control that was half out of sight, Ctrl+K waits for the palette, the focus
goes back to what opened a preview or a dialog, another page begins at its top, and what is half
written stays with its chat."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import FileResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaf.language.text import NAMES, speaking
from leaf.ui.language import best
from leaf.ui.spoken import PRELUDE, spoken

SCRIPT, LOOK = "/_leaf/unconnected.js", "/_leaf/look.js"
ASSETS = Path(__file__).resolve().parent / "assets"
ASSET = ASSETS / "unconnected.js"
LOST = ASSETS / "lost.js"
COMPOSER = ASSETS / "composer.js"
PARTS = (
    *((ASSETS / f"{name}.js",) for name in ("lists", "early", "focus", "top")),
    (COMPOSER, ASSETS / "draft.js"),
)
"""Which say nothing, each with what stands before it."""
CHOSEN_LOOK = ASSETS / "look_chosen.js"
TAGS = f'<script src=".{LOOK}"></script><script src=".{SCRIPT}" defer></script></head>'.encode()
"""Relative as Streamlit's own, since a host may put a prefix of its own before ours. Streamlit's own
script is a module, which begins after what stands in the page has been read."""

VARIES = {"vary": "accept-language"}


class PageHead:
    """ASGI middleware around Streamlit. `based` gives a path as browsers ask for it; pages below
    `not_below` are not Streamlit's."""

    def __init__(self, app: ASGIApp, based: Callable[[str], str], not_below: str = "") -> None:
        self.app = app
        self.script, self.look = based(SCRIPT), based(LOOK)
        self.not_below = not_below

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        others = scope["type"] != "http" or scope["method"] != "GET"
        if others or (self.not_below and scope["path"].startswith(self.not_below)):
            await self.app(scope, receive, send)
        elif scope["path"] == self.script:
            wanted = best(Headers(scope=scope).get("accept-language", ""))
            answer = Response(_said_in(wanted), 200, VARIES, "text/javascript")
            await answer(scope, receive, send)
        elif scope["path"] == self.look:
            await FileResponse(CHOSEN_LOOK, media_type="text/javascript")(scope, receive, send)
        elif "text/html" in Headers(scope=scope).get("accept", ""):
            await self.app(_plain(scope), receive, _Extended(send))
        else:
            await self.app(scope, receive, send)


@cache
def _said_in(language: str) -> str:
    """The scripts, each in a scope of its own, with what the first says in this language. The second
    speaks as the page does, whose language may be another one by then."""
    first, second, composer = map(_read, (ASSET, LOST, COMPOSER))
    words = json.dumps(_words(first, language), ensure_ascii=False)
    all_words = json.dumps({name: _words(second, name) for name in NAMES}, ensure_ascii=False)
    speaking_ones = (
        f"{PRELUDE}\nspeak({words})\n{first}",
        f"{PRELUDE}\nconst LANGUAGES = {all_words}\n{composer}\n{second}",
    )
    silent = ("\n".join(map(_read, part)) for part in PARTS)
    return "".join(f"{{\n{script}}}\n" for script in (*speaking_ones, *silent))


def _read(asset: Path) -> str:
    return asset.read_text(encoding="utf-8")


def _words(script: str, language: str) -> dict[str, object]:
    with speaking(language):
        return spoken(script)


def _plain(scope: Scope) -> Scope:
    """The page has to come uncompressed: it is a few kilobytes."""
    headers = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
    return {**scope, "headers": headers}


class _Extended:
    """Sends a page with the scripts in its head, and everything else as it comes."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_page(message):
            self._begun = message
            return
        if self._begun is None or message["type"] != "http.response.body":
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body"):
            begun, self._begun = self._begun, None
            page = self._body.replace(b"</head>", TAGS, 1)
            MutableHeaders(scope=begun)["content-length"] = str(len(page))
            await self._send(begun)
            await self._send({"type": "http.response.body", "body": page})


def _is_page(message: Message) -> bool:
    headers = Headers(raw=message["headers"])
    return (
        message["status"] == 200
        and headers.get("content-type", "").startswith("text/html")
        and "content-encoding" not in headers
    )

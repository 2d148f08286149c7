"""Signing out takes a POST of a page of this Leaf, so that no link or picture elsewhere signs
anybody out. Streamlit's own route takes a GET: a browser that is sent there by Leaf's page gets a
page that asks for it by POST at once, any other one with a button."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaf.language.text import speaking, t
from leaf.ui.language import best

PATH, SCRIPT = "/auth/logout", "/_leaf/sign-out.js"
ASSET = Path(__file__).resolve().parent / "assets" / "sign-out.js"
PAGE = """<!doctype html><html lang="{language}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Leaf</title><style>body {{ font: 16px/1.6 sans-serif; color: #1d2420; background: #fbfaf7; max-width: 34rem;
margin: 18vh auto; padding: 0 1.5rem }} h1 {{ font: 600 1.7rem serif }} button {{ font: inherit; padding: .4rem 1rem }}</style>
<h1>{title}</h1><form method="post"{now}><button>{act}</button></form><script src="..{script}"></script></html>"""


class SignOut:
    """ASGI middleware around Streamlit's route. `based` gives a path as browsers ask for it."""

    def __init__(self, app: ASGIApp, based: Callable[[str], str]) -> None:
        self.app = app
        self.path, self.script = based(PATH), based(SCRIPT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", "")).rstrip("/")
        if scope["type"] != "http" or path not in (self.path, self.script):
            await self.app(scope, receive, send)
        elif path == self.script:
            await FileResponse(ASSET, media_type="text/javascript")(scope, receive, send)
        elif scope["method"] == "POST":
            await self.app({**scope, "method": "GET"}, receive, _told(send))
        else:
            await _page(Headers(scope=scope))(scope, receive, send)


def _page(headers: Headers) -> Response:
    """The script's address is relative, since a host may put a prefix of its own before ours."""
    now = ' data-now=""' if headers.get("sec-fetch-site") == "same-origin" else ""
    language = best(headers.get("accept-language", ""))
    with speaking(language):
        texts = {"title": escape(t("Sign out of Leaf")), "act": escape(t("Sign out"))}
    page = PAGE.format(now=now, script=SCRIPT, language=language, **texts)
    return HTMLResponse(page, headers={"cache-control": "no-store"})


def _told(send: Send) -> Send:
    """Where to go on stands in a header that the script reads: a redirect to the provider would be
    followed by the request itself, and the policy of the page forbids it."""

    async def send_told(message: Message) -> None:
        if message["type"] == "http.response.start" and 300 <= message["status"] < 400:
            headers = MutableHeaders(scope=message)
            headers["x-leaf-location"] = headers["location"]
            del headers["location"]
            message["status"] = 200
        await send(message)

    return send_told

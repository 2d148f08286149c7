"""What a page shows and takes beside its websocket, pictures on one hand, uploads on the other, is
for those who are signed in, and only in sessions of their own. Streamlit asks for the address
alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from leaf.errors import LeafError
from leaf.ui.cookies import claims_in, cookies_of

MEDIA, UPLOAD = "/media/", "/_stcore/upload_file/"
SAID = "Sign in to Leaf first. What was asked for belongs to somebody who is signed in."

logger = logging.getLogger("leaf")


class Admitted:
    """ASGI middleware. `needed` says whether people sign in, `admit` raises LeafError for claims
    that open nothing, `based` gives a path as browsers ask for it."""

    def __init__(
        self,
        app: ASGIApp,
        needed: Callable[[], bool],
        admit: Callable[[Mapping[str, object]], object],
        based: Callable[[str], str],
    ) -> None:
        self.app = app
        self.needed = needed
        self.admit = admit
        self.media, self.upload = based(MEDIA), based(UPLOAD)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        if path.startswith((self.media, self.upload)) and not await self._may(scope, path):
            answer = JSONResponse({"error": SAID}, 403, {"cache-control": "no-store"})
            await answer(scope, receive, send)
            return
        await self.app(scope, receive, send)

    async def _may(self, scope: Scope, path: str) -> bool:
        try:
            if not self.needed():
                return True
            claims = claims_in(cookies_of(Headers(scope=scope)))
            await to_thread.run_sync(self.admit, claims)
        except LeafError:
            return False
        if path.startswith(self.upload):
            session_id = path.removeprefix(self.upload).split("/")[0]
            if scope["method"] == "PUT" and not _runtime().is_active_session(session_id):
                return True  # there is nothing of anybody, and who receives uploads says so
            return account(claims) in set(_accounts([session_id]))
        # What no page shows any more belongs to no session, and is there for moments.
        held = set(_accounts(_holders(path.removeprefix(self.media).partition(".")[0])))
        return not held or account(claims) in held


def account(claims: Mapping[str, object]) -> tuple[str, str]:
    """Who signed in: issuer and subject, empty for nobody."""
    return str(claims.get("iss") or ""), str(claims.get("sub") or "")


def _runtime() -> Any:
    from streamlit.runtime import get_instance

    return get_instance()


def _holders(file_id: str) -> list[str]:
    """The sessions in which a picture or a download stands."""
    manager = _runtime().media_file_mgr
    with manager._lock:  # noqa: SLF001
        return [
            session_id
            for session_id, files in manager._files_by_session_and_coord.items()  # noqa: SLF001
            if file_id in files.values()
        ]


def _accounts(session_ids: list[str]) -> Iterator[tuple[str, str]]:
    """Whose the sessions are; a session before its sign-in is nobody's."""
    for session_id in session_ids:
        info = _runtime()._session_mgr.get_session_info(session_id)  # noqa: SLF001
        owner = account(info.session._user_info) if info else ("", "")  # noqa: SLF001
        if owner != ("", ""):
            yield owner

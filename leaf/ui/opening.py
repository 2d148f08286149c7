"""How often one person opens pages. To open one is what costs most of all that a page can ask for,
so somebody who opens them without end would slow down everybody else."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from leaf.errors import LeafError
from leaf.ui.admitted import account
from leaf.ui.cookies import claims_in, cookies_of

PAGE = "/_stcore/stream"
AT_ONCE = 30
"""Pages that a person opens without a wait: all tabs, when a server is back."""
EVERY_SECONDS = 5.0
"""One more each so many seconds."""
LONGEST_SECONDS = 10.0
"""Nobody waits for longer; the browser tries again by itself."""
HELD_SECONDS = 5.0
"""For how long whoever gets no turn waits to hear so: to refuse costs this process as much as to open
half a page, and who tries without end would be refused hundreds of times a second."""
HELD_MOST = 40
"""Of one person at one time; beyond that a refusal comes at once, so that none pile up."""
TRY_AGAIN_LATER = 1013
MANY = 1000


class OpeningTurns:
    """When a person's next page may open."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._free_at: dict[tuple[str, str], float] = {}
        """When somebody's pages of all times would have opened, had they come one after another."""

    def take(self, who: tuple[str, str]) -> float | None:
        """Seconds to wait; None if there is no turn within `LONGEST_SECONDS`."""
        now = self._clock()
        fresh = now - AT_ONCE * EVERY_SECONDS
        free_at = max(self._free_at.get(who, fresh), fresh) + EVERY_SECONDS
        if free_at - now > LONGEST_SECONDS:
            return None
        if len(self._free_at) > MANY:
            self._free_at = {one: at for one, at in self._free_at.items() if at > fresh}
        self._free_at[who] = free_at
        return max(0.0, free_at - now)


class Openings:
    """ASGI middleware. `needed` says whether people sign in: who did not is not told apart from
    others, so nobody is kept from signing in. `based` gives a path as browsers ask for it."""

    def __init__(
        self, app: ASGIApp, needed: Callable[[], bool], based: Callable[[str], str]
    ) -> None:
        self.app = app
        self.needed = needed
        self.page = based(PAGE)
        self.turns = OpeningTurns()
        self._held = Counter[tuple[str, str]]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        who = self._who(scope) if scope["type"] == "websocket" else ("", "")
        if who != ("", ""):
            wait = self.turns.take(who)
            if wait is None:
                await self._hold(who)
                await WebSocketClose(TRY_AGAIN_LATER)(scope, receive, send)
                return
            await asyncio.sleep(wait)
        await self.app(scope, receive, send)

    async def _hold(self, who: tuple[str, str]) -> None:
        if self._held[who] >= HELD_MOST:
            return
        self._held[who] += 1
        try:
            await asyncio.sleep(HELD_SECONDS)
        finally:
            self._held[who] -= 1
            if not self._held[who]:
                del self._held[who]

    def _who(self, scope: Scope) -> tuple[str, str]:
        if scope["path"] != self.page:
            return "", ""
        try:
            return (
                account(claims_in(cookies_of(Headers(scope=scope)))) if self.needed() else ("", "")
            )
        except LeafError:
            return "", ""

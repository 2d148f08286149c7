"""What this process keeps for live answers: tickets, the hub, the door."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from leaf.language.text import in_digits, t
from leaf.ui.live.hub import EncoderHub
from leaf.ui.live.route import NOT_STICKY, SEVERAL, ConnectionLimits, LiveRoute
from leaf.ui.live.tickets import Tickets


class LiveAnswers:
    """One a process."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop | None,
        newest_change: Callable[[str, tuple[str, ...]], int],
        limits: ConnectionLimits | None = None,
    ) -> None:
        self.tickets = Tickets()
        self.hub = EncoderHub(loop)
        self.door = LiveRoute(self.tickets, self.hub, newest_change, limits)
        self.polled = 0
        """Browser tabs that could not connect and ask again and again instead."""

    def standing(self, polled_here: str) -> tuple[bool, str]:
        """How answers come to the screen, for whoever looks what works: whether well, and in words.
        `polled_here` is why this tab could not connect, if so.
        """
        if not self.hub.serving:
            return (
                False,
                t(
                    "answers come some times a second, because Leaf was not started by "
                    "its own app (app.py)."
                ),
            )
        refused = self.door.refused["limit"]
        numbers = t("{connections} connected now", connections=in_digits(self.door.connections))
        numbers += (
            t(", {polled} tabs fell back", polled=in_digits(self.polled)) if self.polled else ""
        )
        numbers += (
            t(", {refused} refused because there were too many", refused=in_digits(refused))
            if refused
            else ""
        )
        if self.door.refused["elsewhere"] >= SEVERAL:
            return False, f"{NOT_STICKY} {numbers}."
        if polled_here:
            why = t(
                "this tab cannot connect to /_leaf/live ({polled_here}); its "
                "answers come some times a second. A proxy before",
                polled_here=polled_here,
            )
            return (
                False,
                t(
                    "{why} Leaf has to let websockets through at every address, not at "
                    "/_stcore/stream alone, and to keep a browser at one Leaf where "
                    "there are several. {numbers}.",
                    why=why,
                    numbers=numbers,
                ),
            )
        return True, t("words are pushed to the page as they come. {numbers}.", numbers=numbers)

"""The websocket on which an answer goes to a browser. Host and Origin were judged before, as of all
requests (`ui/visitors.py`).

A connection says nothing but its ticket and what it has seen; from then on it listens. What is sent
is always the difference to what it has seen, taken when the one before is on its way, so that a
slow reader gets less often, never more.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import orjson
from starlette.websockets import WebSocket, WebSocketDisconnect

from leaf.errors import LeafError
from leaf.runs.run import Run
from leaf.store.model import Message
from leaf.ui.live.encoder import Encoder
from leaf.ui.live.hub import EncoderHub
from leaf.ui.live.tickets import LIFETIME, Ticket, Tickets

PROTOCOL = "leaf.live"
"""Subprotocol of the connection; the ticket follows as a second one, since addresses are written
into logs."""
PATIENCE = 30.0
"""Seconds that a reader may need for one message."""
LOOK = 5.0
"""Seconds after which a connection looks whether its reader takes what is sent, and whether it may
stay, if something changed that could end it. One timer does both: one for each message would cost
more than the message."""
SAFETY = 60.0
"""Seconds after which it looks in any case."""
NOT_HERE = 1.0
"""Seconds between two looks for an answer that no process streams yet."""
SEVERAL = 3
"""Browsers that were meant for another process: fewer may have come while one was replaced."""
NOT_STICKY = (
    "browsers come to this Leaf that are at another one. The balancer has to keep each browser at "
    "one Leaf (sticky sessions, docs/deploy.md), or uploads, pictures and downloads fail."
)
HELD = 0.5
"""Seconds for which a connection is held that is refused for its ticket or for a limit, so that who tries
without end costs little."""
HELD_MOST = 100
"""Such connections at one time; others are refused at once."""
UNFINISHED = frozenset({"pending", "streaming"})
RULED_BY = ("team", "chats")
"""Topics of changes by which somebody may lose their access."""

logger = logging.getLogger("leaf")


@dataclass(frozen=True)
class ConnectionLimits:
    """How many connections there may be at one time."""

    answer: int = 20
    """Of one user to one answer: as many tabs as show it."""
    user: int = 250
    total: int = 1_000


class _EndError(Exception):
    """The connection ends, with this code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


ENDED, NOT_ALLOWED, TALKS, SLOW, CLOSING = 1000, 4401, 1008, 1013, 1001


class LiveRoute:
    """Lets viewers in and serves them, all on the event loop."""

    def __init__(
        self,
        tickets: Tickets,
        hub: EncoderHub,
        newest_change: Callable[[str, tuple[str, ...]], int],
        limits: ConnectionLimits | None = None,
    ) -> None:
        self.limits = limits or ConnectionLimits()
        self.refused = Counter[str]()
        """How many were refused, by why: `ticket`, `elsewhere` (a ticket of another process),
        `limit`."""
        self._tickets = tickets
        self._hub = hub
        self._newest_change = newest_change
        self._open = Counter[tuple[str, ...]]()
        self._held = 0

    async def __call__(self, socket: WebSocket) -> None:
        ticket = self._admit(socket)
        keys = _keys(ticket) if isinstance(ticket, Ticket) else ()
        if not isinstance(ticket, Ticket) or any(
            self._open[key] >= most
            for key, most in zip(
                keys, (self.limits.total, self.limits.user, self.limits.answer), strict=True
            )
        ):
            await self._refuse(socket, "limit" if isinstance(ticket, Ticket) else self._why(socket))
            return
        self._open.update(keys)
        try:
            await self._let_in(socket, ticket)
        except WebSocketDisconnect:
            pass
        finally:
            self._open.subtract(keys)
            self._open += Counter()  # forgets whoever has none left

    @property
    def connections(self) -> int:
        """How many there are."""
        return self._open[("all",)]

    def _admit(self, socket: WebSocket) -> Ticket | None:
        protocols: list[str] = socket.scope.get("subprotocols") or []
        if len(protocols) != 2 or protocols[0] != PROTOCOL or not self._hub.serving:
            return None
        return self._tickets.take(protocols[1])

    def _why(self, socket: WebSocket) -> str:
        words = (socket.scope.get("subprotocols") or [""])[-1]
        return "elsewhere" if self._tickets.is_elsewhere(words) else "ticket"

    async def _refuse(self, socket: WebSocket, why: str) -> None:
        self.refused[why] += 1
        if why == "elsewhere" and self.refused[why] == SEVERAL:
            logger.warning("Live answers: %s", NOT_STICKY)
        if self.refused[why] in (1, 100, 10_000):
            logger.warning("Live answers: %d connections were refused (%s)", self.refused[why], why)
        if why != "elsewhere" and self._held < HELD_MOST:
            self._held += 1
            try:
                await asyncio.sleep(HELD)
            finally:
                self._held -= 1
        await socket.close()  # before it was accepted: a plain 403

    async def _let_in(self, socket: WebSocket, ticket: Ticket) -> None:
        try:
            message, run = await asyncio.to_thread(ticket.access)
        except LeafError:
            await self._refuse(socket, "ticket")
            return
        await socket.accept(PROTOCOL)
        viewer = _Viewer(socket, ticket, self._tickets, self._hub, self._newest_change)
        serving = asyncio.create_task(viewer.serve(message, run))
        tasks = (
            serving,
            asyncio.create_task(_listen(socket)),
            asyncio.create_task(viewer.look_again()),
        )
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        code = next((one.code for one in outcomes if isinstance(one, _EndError)), ENDED)
        if code in (TALKS, SLOW):
            return  # the server then cuts the line; a farewell would wait for who does not listen
        if not any(isinstance(one, WebSocketDisconnect) for one in outcomes):
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await socket.close(code)


class _Viewer:
    """One connection."""

    def __init__(
        self,
        socket: WebSocket,
        ticket: Ticket,
        tickets: Tickets,
        hub: EncoderHub,
        newest_change: Callable[[str, tuple[str, ...]], int],
    ) -> None:
        self._socket = socket
        self._ticket = ticket
        self._tickets = tickets
        self._hub = hub
        self._newest_change = newest_change
        self._next = ""
        """The words of the ticket for the next connection."""
        self._woken = asyncio.Event()
        self._sending_since: float | None = None
        self._due = False
        """Whether it is time to look."""
        self._renewed_at = self._looked_at = time.monotonic()
        self._seen = self._position()

    async def serve(self, message: Message, run: Run | None) -> None:
        """Until the answer is whole, or it may not be seen any more."""
        await self._renew()
        followed: Run | None = None
        while True:
            if run is not None and run is not followed:
                if await self._follow(run):
                    return
                followed = run
            elif message.status not in UNFINISHED:
                await self._send(orjson.dumps({"done": True, "do": []}).decode())
                return
            else:
                await asyncio.sleep(NOT_HERE)
            message, run = await self._ask()

    async def look_again(self) -> None:
        """Have it look, every few seconds; ends with an error where the reader takes nothing."""
        while True:
            await asyncio.sleep(LOOK)
            since = self._sending_since
            if since is not None and time.monotonic() - since > PATIENCE:
                raise _EndError(SLOW)
            self._due = True
            self._woken.set()

    async def _follow(self, run: Run) -> bool:
        """To its end. Whether the answer is whole then; else another run of it goes on."""
        woken = self._woken
        encoder = self._hub.join(run, woken, self._ticket.language)
        query = self._socket.query_params
        epoch, number = (
            query.get("epoch", ""),
            int(query["seen"]) if query.get("seen", "").isdigit() else -1,
        )
        first = True
        try:
            while self._hub.serving:
                woken.clear()
                if first or encoder.number != number or encoder.done:
                    done = encoder.done
                    frame, number = await _frame(encoder, number, epoch)
                    epoch, first = encoder.epoch, False
                    await self._send(frame)
                    if done:
                        return not encoder.moved
                await woken.wait()
                if self._due:
                    self._due = False
                    await self._look()
        finally:
            self._hub.leave(encoder, woken)
        raise _EndError(CLOSING)

    async def _send(self, text: str) -> None:
        self._sending_since = time.monotonic()
        await self._socket.send_text(text)
        self._sending_since = None

    async def _renew(self) -> None:
        """Give the browser a ticket for when it has to come again."""
        self._tickets.drop(self._next)
        self._next, self._renewed_at = self._tickets.make(self._ticket), time.monotonic()
        await self._send(orjson.dumps({"ticket": self._next}).decode())

    async def _look(self) -> None:
        now = time.monotonic()
        if now - self._renewed_at > LIFETIME / 2:
            await self._renew()
        ended = self._ticket.ends_at is not None and time.time() >= self._ticket.ends_at
        if ended or now - self._looked_at > SAFETY or self._position() != self._seen:
            await self._ask()

    async def _ask(self) -> tuple[Message, Run | None]:
        self._seen, self._looked_at = self._position(), time.monotonic()
        try:
            return await asyncio.to_thread(self._ticket.access)
        except LeafError:
            self._tickets.drop(self._next)
            raise _EndError(NOT_ALLOWED) from None

    def _position(self) -> int:
        return self._newest_change(self._ticket.workspace_id, RULED_BY)


async def _frame(encoder: Encoder, number: int, epoch: str) -> tuple[str, int]:
    """What is new; made beside the event loop where it is not there yet."""
    if ready := encoder.ready(number, epoch):
        return ready
    return await asyncio.to_thread(encoder.frame, number, epoch)


async def _listen(socket: WebSocket) -> None:
    """Viewers have nothing to say; who does is sent away."""
    received = await socket.receive()
    if received["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(received.get("code", 1000))
    raise _EndError(TALKS)


def _keys(ticket: Ticket) -> tuple[tuple[str, ...], ...]:
    return ("all",), (ticket.user_id,), (ticket.user_id, ticket.message_id)

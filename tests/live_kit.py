"""What the tests of live answers share: a viewer without a browser, which does what it is told, and
the door on loopback."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import WebSocketRoute
from websockets import Subprotocol
from websockets.sync.client import ClientConnection, connect

from leaf.agent.events import Chunk, chunk
from leaf.runs.run import Run
from leaf.ui.live.desk import LiveAnswers
from leaf.ui.live.encoder import Encoder
from leaf.ui.live.route import PROTOCOL, ConnectionLimits
from leaf.ui.live.tickets import Access, Ticket
from leaf.ui.visitors import Rules, Visitors

Json = dict[str, Any]


@dataclass
class Seen:
    """A node as the browser has it."""

    kind: str
    fields: Json
    parent: int
    pieces: list[list[Any]] = field(default_factory=list)
    words: str = ""

    def shown(self) -> tuple[str, str, list[tuple[int, str]], str]:
        return (
            self.kind,
            str(self.fields),
            [(level, html) for level, html in self.pieces],
            self.words,
        )


class Screen:
    """A viewer: what `assets/live.js` does with frames, without drawing."""

    def __init__(self) -> None:
        self.order: list[int] = []
        self.nodes: dict[int, Seen] = {}
        self.tail: list[str] = ["", ""]
        self.number, self.epoch = -1, ""
        self.done = False
        self.ticket = ""
        self.milestone = 0

    def catch_up(self, encoder: Encoder) -> str:
        """Take what is new; the frame as it was sent."""
        sent, _ = encoder.frame(self.number, self.epoch)
        self.take(orjson.loads(sent))
        return sent

    def take(self, frame: Json) -> None:
        self.ticket = frame.get("ticket") or self.ticket
        if "to" in frame:
            assert frame["from"] in (-1, self.number), "a piece is missing"
            if frame["from"] == -1:
                self.order, self.nodes = [], {}
            for operation in frame["do"]:
                self._carry_out(*operation)
            self.number, self.epoch, self.milestone = frame["to"], frame["epoch"], frame["drawn"]
        self.done = self.done or bool(frame.get("done"))

    def _carry_out(self, name: str, *rest: Any) -> None:
        if name == "clear":
            self.order, self.nodes = [], {}
        elif name == "tail":
            self.tail = list(rest)
        elif name == "+":
            node_id, parent, after, kind, fields = rest
            assert parent == 0 or parent in self.nodes
            self.nodes[node_id] = Seen(kind, fields, parent)
            self.order.insert(self._behind(parent, after), node_id)
        elif name == "=":
            self._set(*rest)
        elif name == "t":
            node_id, start, pieces = rest
            node = self.nodes[node_id]
            assert start <= len(node.pieces)
            node.pieces[start:], node.words = pieces, ""
        elif name == "a":
            self.nodes[rest[0]].words += rest[1]

    def _set(self, node_id: int, fields: Json) -> None:
        self.nodes[node_id].fields = fields
        if self.nodes[node_id].kind == "writing":
            for inside in [i for i in self.order if self.nodes[i].parent == node_id]:
                self.order.remove(inside)
                del self.nodes[inside]

    def _behind(self, parent: int, after: int) -> int:
        """Behind the neighbour and all that stands within it."""
        if not after:
            return self.order.index(parent) + 1 if parent else 0
        at = self.order.index(after) + 1
        while at < len(self.order) and self.nodes[self.order[at]].parent == after:
            at += 1
        return at

    def shown(self) -> list[Any]:
        """Everything, in its order."""
        return [*(self.nodes[i].shown() for i in self.order), self.tail]

    def of(self, kind: str) -> list[Seen]:
        return [self.nodes[i] for i in self.order if self.nodes[i].kind == kind]

    def text(self) -> str:
        return "".join(
            "".join(html for _, html in self.nodes[i].pieces) + self.nodes[i].words
            for i in self.order
        )


def follow(encoder: Encoder, screen: Screen) -> None:
    """Come again whenever the encoder asks for it, until all is shown that is there."""
    due: float | None = 0.0
    while due is not None:
        time.sleep(max(0.0, due - time.perf_counter()))
        _, due = encoder.advance(time.perf_counter())
        screen.catch_up(encoder)


def said(text: str, size: int, text_id: str = "text-1-0") -> list[Chunk]:
    """Chunks of a text, so many characters each."""
    deltas = [
        chunk("text-delta", id=text_id, delta=text[i : i + size]) for i in range(0, len(text), size)
    ]
    return [chunk("text-start", id=text_id), *deltas, chunk("text-end", id=text_id)]


def run_of(chunks: Sequence[Chunk], message_id: str = "m1") -> Run:
    run = Run(message_id)
    for c in chunks:
        run.emit(c)
    return run


class FakeAccess:
    """Whether a run may be seen, which can end."""

    def __init__(self, run: Run | None, status: str = "streaming") -> None:
        self.run, self.status = run, status
        self.problem: Exception | None = None

    def __call__(self) -> Any:
        if self.problem:
            raise self.problem
        return SimpleNamespace(status=self.status), self.run


@dataclass
class Served:
    """The door on loopback, behind the middleware that judges visitors."""

    answers: LiveAnswers
    address: str
    position: list[int]
    """What the changes of the workspace stand at."""

    def ticket(
        self,
        access: Access | Run,
        user: str = "u1",
        message: str = "m1",
        ends_at: float | None = None,
    ) -> str:
        opened = FakeAccess(access) if isinstance(access, Run) else access
        return self.answers.tickets.make(Ticket(user, "w1", message, opened, ends_at))

    def connect(self, ticket: str, seen: str = "", **options: Any) -> ClientConnection:
        return connect(
            f"{self.address}{seen}",
            subprotocols=[Subprotocol(PROTOCOL), Subprotocol(ticket)],
            legacy=True,
            **options,
        )


@contextmanager
def serving(limits: ConnectionLimits | None = None, rules: Rules | None = None) -> Iterator[Served]:
    """A server in a thread, until the end of the block."""
    position = [0]
    ready = threading.Event()
    found: list[LiveAnswers] = []

    async def enter(socket: Any) -> None:
        await found[0].door(socket)

    @asynccontextmanager
    async def lifespan(_app: Any) -> Any:
        found.append(
            LiveAnswers(asyncio.get_running_loop(), lambda _workspace, _topics: position[0], limits)
        )
        ready.set()
        yield
        found[0].hub.close()

    judged = Middleware(Visitors, rules=lambda: rules or Rules(), open_paths=frozenset())
    app = Starlette(
        routes=[WebSocketRoute("/_leaf/live", enter)], middleware=[judged], lifespan=lifespan
    )
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, ws="websockets-sansio", log_level="error")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        assert ready.wait(20)
        wait_until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Served(found[0], f"ws://127.0.0.1:{port}/_leaf/live", position)
    finally:
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive(), "the server did not end"


def wait_until(is_so: Callable[[], object], seconds: float = 60.0) -> None:
    """Of a page: in place of `wait_for_function`, which a page whose scripts may not evaluate text
    refuses at its second try."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.05)

"""Viewers of answers: one in a browser, and many that speak each app's own protocol as its page
does.

What is measured is how late words reach them, in seconds. Leaf's own viewers are those of
`bench.page`, by `leaf.py`.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from bench.idle import cpu, family
from bench.page import FLAGS, STAMP

LET_IN = 30.0
"""Seconds that all viewers together have until each has got a word."""
SETTLED, WATCHED = 3.0, 8.0
"""Seconds after that which are not counted, and those which are."""

Pieces = AsyncGenerator[str]
"""What comes from the server, in pieces that may repeat words."""
Connect = Callable[[str], Pieces]
"""The address of an app -> what it says to a viewer with an answer of its own."""


@dataclass
class Viewer:
    """One that watches an answer of its own."""

    heard: list[tuple[float, float]] = field(default_factory=list)
    """When each word was sent, in seconds since 1970, and how much later it came."""

    async def watch(self, pieces: Pieces) -> None:
        last = 0
        async with aclosing(pieces) as coming:
            async for piece in coming:
                now = time.time()
                new = [stamp for stamp in map(int, STAMP.findall(piece)) if stamp > last]
                last = max([last, *new])
                self.heard += [(stamp / 1000, now - stamp / 1000) for stamp in new]


async def crowd(connect: Connect, url: str, count: int, process: int) -> tuple[list[float], float]:
    """How late each word reached each of `count` viewers, and what share of a core the app took
    meanwhile.

    A viewer that gets no word counts as `WATCHED`.
    """
    viewers = [Viewer() for _ in range(count)]
    tasks = [asyncio.create_task(viewer.watch(connect(url))) for viewer in viewers]
    until = time.monotonic() + LET_IN
    while time.monotonic() < until and not all(viewer.heard for viewer in viewers):
        await asyncio.sleep(0.1)
    await asyncio.sleep(SETTLED)
    began, before = time.time(), seconds_of(process)
    await asyncio.sleep(WATCHED)
    share = (seconds_of(process) - before) / WATCHED
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    found = [[late for sent, late in viewer.heard if sent > began] for viewer in viewers]
    return [late for viewer in found for late in viewer or [WATCHED]], share


def seconds_of(process: int) -> float:
    """Processor time of an app and its children."""
    return sum(cpu(pid) for pid in family(process))


async def chainlit(url: str) -> Pieces:
    """Socket.IO over a websocket, by hand: `0` opens, `40` connects, `42` is an event, `2` asks for
    a sign of life."""
    import websockets

    session = {"clientType": "webapp", "sessionId": str(uuid.uuid4()), "userEnv": "{}"}
    message = {
        "id": str(uuid.uuid4()),
        "name": "user",
        "type": "user_message",
        "output": "Stream",
        "createdAt": "",
    }
    address = url.replace("http", "ws") + "/ws/socket.io/?EIO=4&transport=websocket"
    async with websockets.connect(address, max_size=None, open_timeout=60) as socket:
        async for raw in socket:
            text = str(raw)
            if text.startswith("0"):
                await socket.send("40" + json.dumps(session))
            elif text.startswith("40"):
                await socket.send("42" + json.dumps(["connection_successful"]))
                await socket.send(
                    "42"
                    + json.dumps(["client_message", {"message": message, "fileReferences": []}])
                )
            elif text == "2":
                await socket.send("3")
            else:
                yield text


async def gradio(url: str) -> Pieces:
    """A place in the queue, then the stream of server-sent events of the session."""
    import httpx2

    async with httpx2.AsyncClient(base_url=f"{url}/gradio_api", timeout=60) as client:
        session = uuid.uuid4().hex
        config = (await client.get(f"{url}/config")).json()
        number = next(d["id"] for d in config["dependencies"] if d["api_name"] == "answer")
        asked = {"data": ["Stream", None], "fn_index": number, "session_hash": session}
        (await client.post("/queue/join", json=asked)).raise_for_status()
        async with client.stream("GET", "/queue/data", params={"session_hash": session}) as events:
            async for line in events.aiter_lines():
                yield line


async def streamlit(url: str) -> Pieces:
    """The websocket of the page: one run of the script, whose address asks for an answer."""
    import websockets
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    asked = BackMsg()
    asked.rerun_script.query_string = "ask=Stream"
    address = url.replace("http", "ws") + "/_stcore/stream"
    protocol = websockets.Subprotocol("streamlit")
    async with websockets.connect(
        address, subprotocols=[protocol], max_size=None, open_timeout=60
    ) as socket:
        await socket.send(bytes(asked.SerializeToString()))
        async for raw in socket:
            message = ForwardMsg.FromString(raw if isinstance(raw, bytes) else raw.encode())
            if (
                message.WhichOneof("type") == "delta"
                and message.delta.new_element.WhichOneof("type") == "markdown"
            ):
                yield message.delta.new_element.markdown.body


# In a browser


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium that finds nothing but this machine."""
    from playwright.sync_api import sync_playwright

    alone = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=[*FLAGS.split(), alone]
        )
        try:
            yield chromium
        finally:
            chromium.close()


def ask_in(page: Any, selector: str, tries: int = 10) -> None:
    """Type a question, and again where it was lost: some pages take words before they are connected
    and forget them."""
    from playwright.sync_api import TimeoutError as StillNothingError

    for _ in range(tries):
        page.locator(selector).first.click()
        page.keyboard.type("Stream")
        page.keyboard.press("Enter")
        try:
            page.get_by_text(STAMP).first.wait_for(timeout=3_000)
        except StillNothingError:
            continue
        return
    raise RuntimeError(f"{page.url} answers nothing.")


def in_page(page: Any) -> list[float]:
    """How late each word stood in a page in which an answer has begun: a second passes, then seven
    are watched."""
    script = """([settled, watched]) => new Promise(resolve => {
        const late = [], from = Date.now() + settled, until = from + watched
        let last = Date.now()
        const look = () => {
            const now = Date.now()
            for (const word of (document.body.innerText.match(/t\\d{13}/g) || []).slice(-200)) {
                const at = Number(word.slice(1))
                if (at > last) { last = at; if (at >= from) late.push((now - at) / 1000) }
            }
            now < until ? requestAnimationFrame(look) : resolve(late)
        }
        look()
    })"""
    return [float(value) for value in page.evaluate(script, [1000, 7000])]

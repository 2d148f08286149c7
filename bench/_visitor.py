"""A tab of somebody who is signed in, as far as the app can tell: Streamlit's websocket, its
uploads, and the websocket of a running answer. Nothing is drawn."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets import ClientConnection, ConnectionClosed, InvalidStatus, Subprotocol, connect

STAMP = re.compile(r"t(\d{13})")
ORIGIN = "https://app.example.org"
BOUNDARY = "----leaf"
PATIENCE = 60.0
"""Seconds after which an answer or a page that did not come is an error."""


@dataclass
class Heard:
    """What one person has seen of their answers."""

    words: list[tuple[float, float]] = field(default_factory=list)
    """When each word was sent, in seconds since 1970, and how much later it came."""
    firsts: list[tuple[float, float]] = field(default_factory=list)
    """When each question was sent, and after how many seconds its first word came."""
    errors: list[str] = field(default_factory=list)


class Tab:
    """One open page. `connect` it, then ask; what goes wrong stands in `heard.errors`."""

    def __init__(
        self, port: int, cookie: str, xsrf: str, heard: Heard, origin: str = ORIGIN
    ) -> None:
        self.heard = heard
        self._origin = origin
        self.session = self.composer = self.query = self.search = ""
        self._port = port
        self._headers = {"Cookie": f"_streamlit_xsrf={xsrf}; {cookie}"}
        self._xsrf = xsrf
        self._page: ClientConnection | None = None
        self._changed = asyncio.Condition()
        self._drawn = 0
        """How often the page was drawn to its end."""
        self._offers: dict[str, tuple[str, str, int]] = {}
        """Running answers -> their ticket, fragment, and what the page has drawn of them."""
        self._files: dict[str, str] = {}
        """Where the page sends files, and with which key."""
        self._watched: set[str] = set()
        self._done: set[str] = set()
        self._urls: dict[str, Any] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def connect(self) -> None:
        """Open the page and have it drawn. Raises TimeoutError, OSError, InvalidStatus."""
        self._page = await connect(
            f"ws://127.0.0.1:{self._port}/_stcore/stream",
            origin=self._origin,  # type: ignore[arg-type] # a type of its own for text
            subprotocols=[Subprotocol("streamlit"), Subprotocol(self._xsrf)],
            additional_headers=self._headers,
            max_size=None,
            open_timeout=PATIENCE,
        )
        self._begin(self._read())
        await self.draw()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._page is not None:
            await self._page.close()

    async def draw(self, **texts: str) -> None:
        """Have the page drawn, with text in widgets by their ids, and wait for it."""
        before = self._drawn
        await self._say(self._rerun(texts))
        await self._until(lambda: self._drawn > before)

    async def ask(self, text: str, file: tuple[str, bytes] | None = None) -> None:
        """Ask, with a file beside the question, and stay until the answer is whole."""
        message = self._rerun({})
        state = message.rerun_script.widget_states.widgets.add()
        state.id = self.composer
        state.chat_input_value.data = text
        if file is not None:
            await self.attach(*file)
            message.rerun_script.query_string = self.query
        before, asked, heard = set(self._done), time.time(), len(self.heard.words)
        await self._say(message)
        await self._until(lambda: self._done > before)
        if len(self.heard.words) == heard:
            self.heard.errors.append("an answer without words")
        else:
            sent, late = self.heard.words[heard]
            self.heard.firsts.append((asked, sent + late - asked))

    async def attach(self, name: str, content: bytes) -> None:
        """Add a file to a new chat as the list of files does, go there, and wait until it is read.
        Raises RuntimeError where it is refused."""
        import httpx2

        await self._until(lambda: "key" in self._files)
        headers = {**self._headers, "Origin": self._origin, "x-leaf-key": self._files["key"]}
        path = f"http://127.0.0.1:{self._port}{self._files['path']}"

        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as client:

            async def call(method: str, rest: str, **given: Any) -> Any:
                answer = await client.request(method, path + rest, **given)
                if answer.status_code >= 400:
                    raise RuntimeError(f"a file was refused: {answer.status_code} {answer.text}")
                return answer.json() if answer.content else None

            asked = {"chat": "new", "files": [[name, len(content)]]}
            begun = await call("POST", "", json=asked)
            await call("PUT", f"/{begun['job']}/0", content=content)
            async with asyncio.timeout(PATIENCE):
                while not all(job["over"] for job in await call("GET", f"?here={begun['chat']}")):
                    await asyncio.sleep(0.5)
        self.query = f"chat={begun['chat']}"
        await self.draw()

    async def upload(self, name: str, content: bytes) -> Any:
        """Send a file to Streamlit's page; its addresses there. Raises RuntimeError where it is refused."""
        message, request_id = BackMsg(), secrets.token_hex(8)
        message.file_urls_request.request_id = request_id
        message.file_urls_request.session_id = self.session
        message.file_urls_request.file_names.append(name)
        await self._say(message)
        await self._until(lambda: request_id in self._urls)
        urls = self._urls.pop(request_id)
        status = await self.put(urls.upload_url, name, content)
        if status != 204:
            raise RuntimeError(f"an upload was refused: {status}")
        return urls

    async def put(self, path: str, name: str, content: bytes) -> int:
        """The status of an upload to an address."""
        head = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            f"Content-Type: text/csv\r\n\r\n"
        )
        body = head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
        lines = [
            f"PUT /{path.lstrip('/')} HTTP/1.1",
            f"Host: 127.0.0.1:{self._port}",
            f"Content-Type: multipart/form-data; boundary={BOUNDARY}",
            f"Content-Length: {len(body)}",
            f"X-Xsrftoken: {self._xsrf}",
            f"Cookie: {self._headers['Cookie']}",
            "Connection: close",
        ]
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
            with suppress(OSError):
                writer.write(body)
                await writer.drain()
            async with asyncio.timeout(PATIENCE):
                first = await reader.readline()
            return int(first.split()[1]) if first else 0
        finally:
            writer.close()

    # Inside

    def _begin(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _rerun(self, texts: dict[str, str]) -> BackMsg:
        message = BackMsg()
        message.rerun_script.query_string = self.query
        for widget, text in texts.items():
            state = message.rerun_script.widget_states.widgets.add()
            state.id, state.string_value = widget, text
        return message

    async def _say(self, message: BackMsg) -> None:
        assert self._page is not None
        await self._page.send(message.SerializeToString())

    async def _until(self, is_so: Any) -> None:
        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(is_so)

    async def _read(self) -> None:
        """What the script sends, for as long as the page is open."""
        assert self._page is not None
        with suppress(ConnectionClosed):
            async for raw in self._page:
                self._take(ForwardMsg.FromString(raw))
                async with self._changed:
                    self._changed.notify_all()

    def _take(self, found: Any) -> None:
        kind = found.WhichOneof("type")
        if kind == "new_session":
            self.session = found.new_session.initialize.session_id
        elif kind == "page_info_changed":
            self.query = found.page_info_changed.query_string
        elif kind == "script_finished":
            # A run that ended early for another one has drawn what it came to, often half a page.
            self._drawn += found.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
        elif kind == "file_urls_response":
            self._urls[found.file_urls_response.response_id] = found.file_urls_response.file_urls[0]
        elif kind == "delta" and found.delta.WhichOneof("type") == "new_element":
            self._see(found.delta.new_element, found.delta.fragment_id)

    def _see(self, element: Any, fragment: str) -> None:
        kind = element.WhichOneof("type")
        if kind == "chat_input":
            self.composer = element.chat_input.id
        elif kind == "text_input" and element.text_input.label == "Search chats":
            self.search = element.text_input.id
        elif kind == "exception":
            self.heard.errors.append(f"an exception in the page: {element.exception.type}")
        elif kind == "alert":
            self.heard.errors.append(f"the page says: {element.alert.body[:120]}")
        elif kind == "bidi_component" and element.bidi_component.component_name == "leaf_uploads":
            self._files = json.loads(element.bidi_component.json)
        elif kind == "bidi_component" and element.bidi_component.component_name == "leaf_live":
            given = json.loads(element.bidi_component.json)
            if given.get("ticket"):
                self._offers[given["message"]] = (given["ticket"], fragment, given["position"])
            if given.get("ticket") and given["message"] not in self._watched:
                self._watched.add(given["message"])
                self._begin(self._watch(given["message"]))

    async def _watch(self, message: str) -> None:
        """Hear a running answer to its end, and have the page draw what is there to be drawn."""
        ticket, last, asked = self._offers[message][0], 0, -1
        try:
            async with connect(
                f"ws://127.0.0.1:{self._port}/_leaf/live",
                origin=self._origin,  # type: ignore[arg-type] # a type of its own for text
                subprotocols=[Subprotocol("leaf.live"), Subprotocol(ticket)],
                max_size=None,
                open_timeout=PATIENCE,
            ) as live:
                async for frame in live:
                    now = time.time()
                    new = [stamp for stamp in map(int, STAMP.findall(str(frame))) if stamp > last]
                    last = max([last, *new])
                    self.heard.words += [(stamp / 1000, now - stamp / 1000) for stamp in new]
                    said = json.loads(frame)
                    if said.get("drawn", -1) > max(asked, self._offers[message][2]):
                        asked = said["drawn"]
                        await self._draw_piece(message)
                    if said.get("done"):
                        await self._draw_piece(message)
                        break
        except (OSError, InvalidStatus, ConnectionClosed) as e:
            self.heard.errors.append(f"a running answer was not shown: {type(e).__name__} {e}")
        self._done = {*self._done, message}
        async with self._changed:
            self._changed.notify_all()

    async def _draw_piece(self, message: str) -> None:
        """As the component asks for it: the part of the page around it."""
        rerun = self._rerun({})
        rerun.rerun_script.fragment_id = self._offers[message][1]
        await self._say(rerun)

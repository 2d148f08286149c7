"""The page under load, in one run: a long chat opens and is drawn again; a word's way to the
screen, for one viewer and for many.

    python -m bench.page [--only chat,one,40,80,200,two]

Words carry the time at which the model server sent them, so the way to the screen is the whole one:
model client, run, encoder, connection, and for one viewer the browser. The many are websocket
clients that do what a browser does: each asks the script for the page, takes its ticket, and
watches an answer of its own. All limits are at their defaults but LEAF_RUNS and LEAF_RUNS_PER_USER,
since one user would have only three answers at a time. The last figures are of two apps on one
PostgreSQL, where each viewer watches in one an answer that the other one writes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from bench._figures import Figure, Report, changed
from bench._stamps import SECONDS
from leaf.shapes.parts import Part, ToolPart
from leaf.shapes.results import Output, TableShown
from tests import postgres

ROOT = Path(__file__).resolve().parents[1]
STAMP = re.compile(r"t(\d{13})")
CROWDS = {40: 0.060, 80: 0.100, 200: 0.250}
"""Viewers at once -> seconds in which 95 % of the words have to come."""
ELSEWHERE, ELSEWHERE_P95 = 80, 0.300
"""Viewers in one process of answers that another one writes, half of them in each, and the same."""
CORES = 1.0
"""What part of a core the app may take meanwhile."""
ENTERING = 10
"""Viewers that open their page at once."""
ENTERED = SECONDS - 60
"""Seconds within which all viewers have to be let in: once an answer has ended its page has nothing
live to watch."""
SETTLED = 3.0
"""Seconds that are not counted, after the last viewer was let in."""
WATCHED = 8.0
"""Seconds that are counted."""
LIMITS = {"LEAF_MODEL": "stamps", "LEAF_RUNS": "400", "LEAF_RUNS_PER_USER": "400"}
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update"
)

TARGETS = {"open": 1.0, "rerun": 0.6, "one": 0.020, "one p95": 0.040}


def main() -> int:
    """Report the figures; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--only",
        default=f"chat,one,{','.join(map(str, CROWDS))},two",
        help="which lines, parted by commas",
    )
    given = parser.parse_args()
    wanted = given.only.split(",")
    report = Report(
        "page",
        ("leaf/ui", "leaf/runs", "leaf/agent", "leaf/provenance", "leaf/sessions"),
        changed(parser, given),
    )
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        long_chat = _fill(Path(folder)) if "chat" in wanted else ""
        with model_server("bench._stamps", 50) as stamps, _app(Path(folder), stamps) as (url, _):
            if "chat" in wanted:
                opened, again = _long_chat(url, long_chat)
                figures.append(
                    _time(
                        "a chat of 200 messages and 400 tool calls", "open", opened, TARGETS["open"]
                    )
                )
                figures.append(
                    _time(
                        "a chat of 200 messages and 400 tool calls",
                        "drawn again",
                        again,
                        TARGETS["rerun"],
                    )
                )
            if "one" in wanted:
                one = _one_viewer(url)
                figures.append(
                    _time(
                        "model server to screen, one viewer",
                        "median",
                        statistics.median(one),
                        TARGETS["one"],
                    )
                )
                figures.append(
                    _time(
                        "model server to screen, one viewer",
                        "95th percentile",
                        _p95(one),
                        TARGETS["one p95"],
                    )
                )
    for count, most in CROWDS.items():
        if str(count) in wanted:
            figures += _crowd(count, most)
    if "two" in wanted:
        figures += _elsewhere()
    return report.end(figures)


def _crowd(count: int, most: float) -> list[Figure]:
    """So many viewers in an app of their own: how late the slowest twentieth of their words came,
    and what the app took."""
    with (
        tempfile.TemporaryDirectory() as folder,
        model_server("bench._stamps", 25) as stamps,
        _app(Path(folder), stamps) as (url, process),
    ):
        late, share = asyncio.run(_many_viewers(url, count, process))
    return _of_crowd(
        f"model server to {count} viewers, each with an answer of its own", late, share, most
    )


def _elsewhere() -> list[Figure]:
    """Two apps with folders of their own on one PostgreSQL; none where it is not installed."""
    if postgres.programs() is None:
        print("PostgreSQL is not installed: nobody watches elsewhere.")
        return []
    with ExitStack() as stack:
        address = postgres.fresh(stack.enter_context(postgres.server()))
        stamps = stack.enter_context(model_server("bench._stamps", 25))
        homes = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2)]
        (one, first), (two, second) = (
            stack.enter_context(_app(Path(home), stamps, LEAF_DATABASE_URL=address))
            for home in homes
        )
        half = ELSEWHERE // 2
        watched = [(two, chat) for chat in _start(one, half)]
        watched += [(one, chat) for chat in _start(two, half)]
        late, share = asyncio.run(_watch(watched, (first, second)))
    who = f"model server to {ELSEWHERE} viewers over two processes, each of an answer of the other"
    return _of_crowd(who, late, share, ELSEWHERE_P95)


def _of_crowd(who: str, late: list[float], share: float, most: float) -> list[Figure]:
    return [
        _time(who, "median", statistics.median(late), None),
        _time(who, "95th percentile", _p95(late), most),
        Figure(who, "words a second, of all", len(late) / WATCHED, shown="{:,.0f}"),
        Figure(who, "the app's part of a core", share, CORES, at_least=False, shown="{:.2f}"),
    ]


def _time(who: str, what: str, seconds: float, most: float | None) -> Figure:
    return Figure(
        who, what, seconds * 1000, most and most * 1000, at_least=False, shown="{:,.0f} ms"
    )


# What is looked at


def _fill(home: Path) -> str:
    """A data folder with one chat of 100 questions and 100 answers of four tool calls each; the
    chat's id."""
    from leaf import settings
    from leaf.store import chats, messages, open_store, users

    store = open_store(settings.load({"LEAF_HOME": str(home)}))
    scope = users.ensure_local_user(store.db)
    chat = chats.create(store.db, scope, title="A long chat")
    for number in range(100):
        exchange = messages.add_exchange(
            store.db, scope, chat.id, [{"type": "text", "text": f"Question {number}"}]
        )
        parts: list[Part] = [part for call in range(4) for part in _step(number, call)]
        parts.append(
            {
                "type": "text",
                "text": f"Answer {number}. " + "Words of an answer. " * 40,
                "state": "done",
            }
        )
        parts.append(
            {
                "type": "data-usage",
                "data": {"input": 1000, "cached": 900, "output": 50, "cost": 0.001, "seconds": 2.0},
            }
        )
        messages.finish(
            store.db, scope, exchange.answer.id, parts=parts, raw=[], usage={}, status="completed"
        )
    store.close()
    return chat.id


def _step(number: int, call: int) -> list[Part]:
    rows = [[f"name {i}", i, i * 1.5, f"2026-01-{i % 28 + 1:02}"] for i in range(50)]
    table: TableShown = {
        "columns": ["name", "count", "sum", "day"],
        "types": ["VARCHAR", "BIGINT", "DOUBLE", "DATE"],
        "rows": rows,
        "total": 50,
    }
    output: Output = {
        "text": "…",
        "summary": f"Summed column {call}",
        "sources": [],
        "coverage": [],
    }
    output["data"] = {"table": {**table, "result_id": "r1"}}
    part: ToolPart = {
        "type": "tool-query_tables",
        "toolCallId": f"c{number}-{call}",
        "state": "output-available",
        "input": {"sql": "SELECT 1"},
        "output": output,
    }
    return [part]


def _long_chat(url: str, chat_id: str) -> tuple[float, float]:
    """Seconds from the click on the chat to its last answer on the screen, and of one more drawing;
    medians of five."""
    with browser() as chromium:
        page = chromium.new_page()
        page.goto(url)
        page.get_by_role("button", name="A long chat").first.wait_for()
        opened, again = [], []
        for _ in range(5):
            page.get_by_role("button", name="New chat").first.click()
            page.get_by_role("heading", name="What do you want to know?").wait_for()
            quiet(page)
            opened.append(_time_until(page, "A long chat", "Answer 99."))
            quiet(page)
            again.append(time_of_rerun(page, "A long chat"))
            quiet(page)
        return statistics.median(opened), statistics.median(again)


def _time_until(page: Any, button: str, text: str) -> float:
    """Seconds, by the browser's clock, from the click until the text stands in the page and the
    script is done."""
    script = """([name, text]) => new Promise(resolve => {
        const began = performance.now()
        const main = document.querySelector('#stMain'), app = document.querySelector('[data-testid=stApp]')
        const look = () => main.innerText.includes(text) && app.dataset.testScriptState === 'notRunning'
            ? resolve((performance.now() - began) / 1000) : requestAnimationFrame(look)
        const button = [...document.querySelectorAll('button')].find(b => b.innerText.trim() === name)
        button.click(); look()
    })"""
    return float(page.evaluate(script, [button, text]))


def time_of_rerun(page: Any, title: str) -> float:
    """Seconds of a full drawing of the page as it stands: the click on the chat that is open
    already, by its title."""
    script = """name => new Promise((resolve, reject) => {
        setTimeout(() => reject(new Error("The chat was not drawn again.")), 60000)
        const began = performance.now(), app = document.querySelector('[data-testid=stApp]')
        let ran = false
        const look = () => {
            const state = app.dataset.testScriptState
            if (state === 'running') ran = true
            ran && state === 'notRunning' ? resolve((performance.now() - began) / 1000) : setTimeout(look, 4)
        }
        const button = [...document.querySelectorAll('button')].find(b => b.innerText.trim() === name)
        button.click(); look()
    })"""
    return float(page.evaluate(script, title))


def quiet(page: Any) -> None:
    """Wait until nothing runs and nothing was drawn for half a second."""
    script = """() => new Promise(resolve => {
        let timer
        const runs = () => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState !== 'notRunning'
        const later = () => { clearTimeout(timer); timer = setTimeout(done, 500) }
        const watch = new MutationObserver(later)
        const done = () => { if (runs()) return later(); watch.disconnect(); resolve() }
        watch.observe(document.querySelector('#stMain'), {subtree: true, childList: true, characterData: true})
        later()
    })"""
    page.evaluate(script)


def _one_viewer(url: str) -> list[float]:
    """How late each word stood in the page, in seconds."""
    with browser() as chromium:
        page = chromium.new_page()
        page.goto(url)
        page.get_by_role("heading", name="What do you want to know?").wait_for()
        chat_id = _start(url, 1)[0]
        page.goto(f"{url}/?chat={chat_id}")
        page.get_by_text(STAMP).first.wait_for()
        script = """([settled, watched]) => new Promise(resolve => {
            const late = [], from = Date.now() + settled, until = from + watched
            let last = Date.now()
            const look = () => {
                const now = Date.now()
                const words = document.querySelector('#stMain').innerText.match(/t\\d{13}/g) || []
                for (const word of words.slice(-200)) {
                    const at = Number(word.slice(1))
                    if (at > last) { last = at; if (at >= from) late.push((now - at) / 1000) }
                }
                now < until ? requestAnimationFrame(look) : resolve(late)
            }
            look()
        })"""
        return [float(value) for value in page.evaluate(script, [1000, 7000])]


async def _many_viewers(url: str, count: int, process: int) -> tuple[list[float], float]:
    """How late each word reached each of `count` viewers, in seconds, and what share of a core the
    app took meanwhile."""
    chats = await asyncio.to_thread(_start, url, count)
    return await _watch([(url, chat) for chat in chats], (process,))


async def _watch(
    watched: Sequence[tuple[str, str]], processes: Sequence[int]
) -> tuple[list[float], float]:
    """The same for chats, each looked at by a viewer at an address; of a core what an app took on
    average."""
    crowd, entering = [Viewer() for _ in watched], asyncio.Semaphore(ENTERING)
    tasks = [
        asyncio.create_task(viewer.watch(url, chat_id, entering))
        for viewer, (url, chat_id) in zip(crowd, watched, strict=True)
    ]
    deadline = time.monotonic() + ENTERED
    while not all(viewer.let_in for viewer in crowd):
        if time.monotonic() > deadline:
            inside = sum(viewer.let_in for viewer in crowd)
            print(f"{inside} of {len(crowd)} viewers were let in within {ENTERED:.0f} s.")
            break
        await asyncio.sleep(0.1)
        for task in tasks:
            if task.done():
                task.result()
    await asyncio.sleep(SETTLED)
    from_then_on, before = time.time(), sum(map(_seconds_of, processes))
    await asyncio.sleep(WATCHED)
    share = (sum(map(_seconds_of, processes)) - before) / WATCHED / len(processes)
    for task in tasks:
        task.cancel()
    found = [[late for sent, late in viewer.heard if sent > from_then_on] for viewer in crowd]
    return [late for viewer in found for late in viewer or [WATCHED]], share


@dataclass
class Viewer:
    """A browser tab, as far as the app can tell."""

    let_in: bool = False
    heard: list[tuple[float, float]] = field(default_factory=list)
    """When each word was sent, in seconds since 1970, and how much later it came."""

    async def watch(self, url: str, chat_id: str, entering: asyncio.Semaphore) -> None:
        """Draw the page, take the ticket that it gives, and hear what is pushed."""
        from websockets import Subprotocol, connect

        # A browser waits for as long as it takes, so no side gives up here either.
        patient: dict[str, Any] = {"max_size": None, "ping_interval": None, "open_timeout": None}
        address = url.replace("http", "ws")
        async with AsyncExitStack() as stack:
            async with entering:
                page = await stack.enter_async_context(
                    connect(
                        f"{address}/_stcore/stream",
                        subprotocols=[Subprotocol("streamlit")],
                        **patient,
                    )
                )
                ticket = await _ticket(page, chat_id)
            staying = asyncio.create_task(_stay(page))
            asked = [Subprotocol("leaf.live"), Subprotocol(ticket)]
            async with connect(f"{address}/_leaf/live", subprotocols=asked, **patient) as live:
                self.let_in, last = True, 0
                async for frame in live:
                    now = time.time()
                    new = [stamp for stamp in map(int, STAMP.findall(str(frame))) if stamp > last]
                    last = max([last, *new])
                    self.heard += [(stamp / 1000, now - stamp / 1000) for stamp in new]
            staying.cancel()


async def _ticket(page: Any, chat_id: str) -> str:
    """Have the script draw the chat; the ticket that it gives to the component."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    message = BackMsg()
    message.rerun_script.query_string = f"chat={chat_id}"
    await page.send(message.SerializeToString())
    async for raw in page:
        found = ForwardMsg.FromString(raw)
        if (
            found.WhichOneof("type") == "delta"
            and found.delta.new_element.WhichOneof("type") == "bidi_component"
        ):
            component = found.delta.new_element.bidi_component
            if component.component_name == "leaf_live":
                return str(json.loads(component.json)["ticket"])
    raise RuntimeError("the page gave no ticket")


async def _stay(page: Any) -> None:
    """An open tab: what comes is taken in."""
    async for _ in page:
        pass


def _seconds_of(process: int) -> float:
    """Processor time that it has taken; its children, which read files, not counted."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# What it needs


def _start(url: str, count: int) -> list[str]:
    with urlopen(f"{url}/bench/start?n={count}", timeout=600) as answer:
        chats: list[str] = json.load(answer)
    return chats


@contextmanager
def model_server(module: str, *arguments: object) -> Iterator[str]:
    """The address of a model server that prints its port, in a process of its own."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    """One that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _app(home: Path, model_url: str, **more: str) -> Iterator[tuple[str, int]]:
    """The app's address and process; `more` are settings besides."""
    port = free_port()
    served = ["--server.address", "127.0.0.1", "--server.port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "bench/_page_app.py", *served],
        cwd=ROOT,
        env={
            **os.environ,
            **LIMITS,
            "LEAF_HOME": str(home),
            "LEAF_LOCAL_TOKEN": "off",
            "LEAF_MODEL_URL": model_url,
            **more,
            "LEAF_TITLES": "off",
            "PYTHONPATH": str(ROOT),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urlopen(f"{url}/_stcore/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url, process.pid
    finally:
        process.terminate()
        process.wait()


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=FLAGS.split()
        )
        yield chromium
        chromium.close()


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


if __name__ == "__main__":
    sys.exit(main())

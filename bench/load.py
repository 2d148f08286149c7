"""Forty people who are signed in ask about files of their own, for ten minutes, alone and beside one
who floods the app.

    python -m bench.load [--minutes N] [--people N]

Each has a workspace of their own, adds a table with the first question, reads the answer as it is
written, thinks, and asks again. The one who floods asks in many tabs at once, uploads, searches,
opens pages and running answers and leaves them, as fast as one can. App, model server and this
program share the machine. Exits with 1 where one of the others meets an error, waits more than half as long again
as without the flood, or the memory of the app grows.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from websockets import ConnectionClosed, InvalidStatus, Subprotocol, connect

from bench._figures import Figure, Report, changed
from bench._visitor import ORIGIN, Heard, Tab
from bench.idle import family
from bench.page import model_server
from tests.app_process import App
from tests.test_ui_cookies import cookie_of
from tests.test_ui_visitors import AUTH

THINKS = 35.0
"""Seconds between an answer and the next question, on average."""
SETTLED = 0.1
"""Part of the time that is not counted: the first pages and files of all people."""
RATIO = 1.5
FLAT = 1.10
LOOKS = 5.0
"""Seconds between two looks at the memory."""
TABS, PAGES, UPLOADS = 12, 12, 4
"""Of the one who floods, at one time: tabs that ask, pages that come and go, uploads."""
REFUSED = (ConnectionClosed, InvalidStatus, OSError, TimeoutError, RuntimeError)
LIMITS: dict[str, Any] = {
    "LEAF_MODEL": "stamps",
    "LEAF_MAX_UPLOAD_MB": "20",
    "LEAF_UPLOADS_MB": "60",
    "LEAF_RUNS": "40",
}


def main() -> int:
    """Report the figures; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="of each of the two runs")
    parser.add_argument("--people", type=int, default=40, help="the one who floods among them")
    given = parser.parse_args()
    measured = ("leaf/ui", "leaf/runs", "leaf/agent", "leaf/sessions", "leaf/sandbox", "leaf/store")
    report = Report("load", measured, changed(parser, given))
    alone = asyncio.run(_run(given.people - 1, given.minutes * 60, flooded=False))
    flooded = asyncio.run(_run(given.people - 1, given.minutes * 60, flooded=True))
    return report.end(_figures(alone, flooded, given.people - 1))


@dataclass
class Seen:
    """What one run has shown."""

    words: list[float] = field(default_factory=list)
    """Seconds from the model server to a viewer."""
    firsts: list[float] = field(default_factory=list)
    """Seconds from a question to the first word of its answer."""
    errors: list[str] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)
    """(seconds since the beginning, MB of the app and its children)"""
    flood: Counter[str] = field(default_factory=Counter)

    @property
    def growth(self) -> float:
        """The largest mean of a minute in the last half, against the smallest."""
        until = self.memory[-1][0]
        size = min(60.0, until / 4)
        late = [(at, mb) for at, mb in self.memory if at >= until / 2]
        minutes = itertools.groupby(late, key=lambda one: (one[0] - until / 2) // size)
        means = [_mean([mb for _, mb in found]) for _, found in minutes]
        return max(means) / min(means)


def _figures(alone: Seen, flooded: Seen, people: int) -> list[Figure]:
    who = f"{people} people, and one who floods"
    print(f"The flood: {dict(flooded.flood)}")
    for text, count in Counter(flooded.errors + alone.errors).most_common(10):
        print(f"    {count} times: {text}")
    refused = sum(count for what, count in flooded.flood.items() if what.startswith("refused"))
    done = sum(flooded.flood.values())
    return [
        Figure(
            who,
            "errors that the others met",
            len(flooded.errors),
            0,
            False,
            "{:.0f}",
            {"without the flood": len(alone.errors)},
        ),
        *_against(who, "question to first word, 95th percentile", alone.firsts, flooded.firsts),
        *_against(who, "word to viewer, 95th percentile", alone.words, flooded.words),
        Figure(
            who,
            "questions answered",
            len(flooded.firsts),
            shown="{:,.0f}",
            beside={"without the flood": len(alone.firsts)},
        ),
        Figure(
            who,
            "memory over the last half, its largest minute against its smallest",
            flooded.growth,
            FLAT,
            False,
            "{:.2f} ×",
            {"without the flood": alone.growth},
        ),
        Figure(
            who,
            "memory at the end",
            flooded.memory[-1][1],
            shown="{:,.0f} MB",
            beside={"without the flood": alone.memory[-1][1]},
        ),
        Figure(who, "what the one who floods did", done, shown="{:,.0f}"),
        Figure(who, "… and was refused", refused, 1, shown="{:,.0f}"),
    ]


def _against(who: str, what: str, alone: Sequence[float], flooded: Sequence[float]) -> list[Figure]:
    """A time, and how it compares with that of the run without the flood."""
    before, now = _p95(alone), _p95(flooded)
    beside = {"without the flood": before * 1000}
    return [
        Figure(who, what, now * 1000, shown="{:,.0f} ms", beside=beside),
        Figure(who, f"{what}, against without", now / before, RATIO, False, "{:.2f} ×"),
    ]


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)] if values else float("nan")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


async def _run(people: int, seconds: float, *, flooded: bool) -> Seen:
    """One run, in an app of its own."""
    with tempfile.TemporaryDirectory() as folder, model_server("bench._load_model") as model:
        secrets = Path(folder) / "secrets.toml"
        secrets.write_text(AUTH)
        app = App(Path(folder) / "home", model, secrets=secrets, **LIMITS).start()
        try:
            return await _watched(app, people, seconds, flooded)
        finally:
            app.stop()


async def _watched(app: App, people: int, seconds: float, flooded: bool) -> Seen:
    seen, began = Seen(), time.time()
    heard = [Heard() for _ in range(people)]
    xsrf = generate_xsrf_token_string(None, None)
    life = [_live(app.port, xsrf, number, one, began, seconds) for number, one in enumerate(heard)]
    tasks = [asyncio.create_task(work) for work in life]
    looking = asyncio.create_task(_look(app, began, seen))
    if flooded:
        await asyncio.sleep(seconds * SETTLED)
        tasks.append(asyncio.create_task(_flooded(app.port, xsrf, began + seconds, seen.flood)))
    for done in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(done, BaseException):
            seen.errors.append(f"{type(done).__name__}: {done}")
    looking.cancel()
    counted = began + 2 * seconds * SETTLED
    for one in heard:
        seen.words += [late for sent, late in one.words if sent > counted]
        seen.firsts += [late for asked, late in one.firsts if asked > counted]
        seen.errors += one.errors
    return seen


async def _look(app: App, began: float, seen: Seen) -> None:
    assert app._process is not None
    pid = app._process.pid
    while True:
        await asyncio.sleep(LOOKS)
        seen.memory.append((time.time() - began, await asyncio.to_thread(_memory, pid)))


def _memory(pid: int) -> float:
    """MB of the app and its children, what they share counted once (PSS)."""
    total = 0
    with suppress(OSError):
        for process in family(pid):
            with suppress(OSError, IndexError, ValueError):
                rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
                total += int(rollup.partition("\nPss:")[2].split()[0])
    return total / 1024


# Those who work


async def _live(
    port: int, xsrf: str, number: int, heard: Heard, began: float, seconds: float
) -> None:
    """One person's ten minutes."""
    chance = random.Random(number)
    await asyncio.sleep(chance.uniform(0, seconds * SETTLED))
    tab = Tab(port, _cookie(f"person{number}"), xsrf, heard)
    await tab.connect()
    try:
        file: tuple[str, bytes] | None = ("sales.csv", _table(chance))
        while time.time() < began + seconds - 15:
            await tab.ask("What did each region sell?", file)
            file = None
            await asyncio.sleep(chance.uniform(0.5, 1.5) * min(THINKS, seconds / 10))
    finally:
        await tab.close()


def _cookie(who: str) -> str:
    """Of somebody who stays signed in for longer than this takes."""
    return cookie_of(who, exp=int(time.time()) + 24 * 3600)


def _table(chance: random.Random) -> bytes:
    rows = (f"{chance.choice('NSEW')},{chance.randrange(1_000)}" for _ in range(5_000))
    return ("region,revenue\n" + "\n".join(rows)).encode()


# The one who floods


async def _flooded(port: int, xsrf: str, until: float, did: Counter[str]) -> None:
    """The flood from a process of its own: its work is none of the others' clients'."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        did.update(await asyncio.wrap_future(pool.submit(_flood, port, xsrf, until)))


def _flood(port: int, xsrf: str, until: float) -> Counter[str]:
    did = Counter[str]()
    asyncio.run(Flood(port, xsrf, did, until).begin())
    return did


@dataclass
class Flood:
    """All that one person can do at once."""

    port: int
    xsrf: str
    did: Counter[str]
    until: float
    cookie: str = field(default_factory=lambda: _cookie("flood"))

    async def begin(self) -> None:
        work: list[Callable[[], Coroutine[Any, Any, None]]] = [
            *[self._asks] * TABS,
            *[self._comes_and_goes] * PAGES,
            *[self._uploads] * UPLOADS,
            self._searches,
            self._watches,
        ]
        await asyncio.gather(*(self._again(one) for one in work))

    async def _again(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Until the time is over; what is refused is counted, and tried again."""
        name = work.__name__.strip("_")
        while time.time() < self.until:
            try:
                async with asyncio.timeout(max(0.1, self.until - time.time())):
                    await work()
                    self.did[name] += 1
            except REFUSED as e:
                self.did[
                    f"refused: {name}" if not isinstance(e, TimeoutError) else f"waited: {name}"
                ] += 1
                await asyncio.sleep(0.01)

    def _tab(self) -> Tab:
        return Tab(self.port, self.cookie, self.xsrf, Heard())

    async def _asks(self) -> None:
        tab = self._tab()
        try:
            await tab.connect()
            while time.time() < self.until:
                await tab.ask("What did each region sell?")
                self.did["asked"] += 1
        finally:
            self._count(tab)
            await tab.close()

    async def _comes_and_goes(self) -> None:
        tab = self._tab()
        try:
            await tab.connect()
        finally:
            self._count(tab)
            await tab.close()

    async def _uploads(self) -> None:
        tab = self._tab()
        try:
            await tab.connect()
            while time.time() < self.until:
                await tab.upload("big.csv", os.urandom(1 << 20) * 8)
                self.did["uploaded"] += 1
        finally:
            await tab.close()

    async def _searches(self) -> None:
        tab = self._tab()
        try:
            await tab.connect()
            for number in itertools.count():
                await tab.draw(**{tab.search: f"word{number}"})
                self.did["searched"] += 1
        finally:
            await tab.close()

    async def _watches(self) -> None:
        """Running answers, with tickets that are none."""
        async with connect(
            f"ws://127.0.0.1:{self.port}/_leaf/live",
            origin=ORIGIN,  # type: ignore[arg-type] # a type of its own for text
            subprotocols=[Subprotocol("leaf.live"), Subprotocol("x" * 43)],
        ):
            pass

    def _count(self, tab: Tab) -> None:
        self.did["refused in words"] += len(tab.heard.errors)


if __name__ == "__main__":
    sys.exit(main())

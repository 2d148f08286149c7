"""What one answer costs where several Leafs share a PostgreSQL and a bucket: statements, rows, bytes of
PostgreSQL's log, requests to the bucket, processor.

    python -m bench.answer_cost [--answers N]

Two Leafs, one page open at one of them, as a browser has it: it asks, is shown the answer while it is
written at fifteen words a second, and is drawn again. What both Leafs ask while nothing is asked of them
is measured first and left out, by the second. `docs/scaling.md` counts with these figures.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from bench._cluster import Cluster, cluster, lacking
from bench._figures import Figure, Report, changed
from bench._scaling import DATABASE as DATABASE_CPU
from bench._scaling import IDLE as IDLE_SUBJECT
from bench._scaling import LEAF, LOG, LONG, PLAIN, REQUESTS, STATEMENTS, UPLOAD, WRITTEN
from bench._scaling import QUERY as QUERIED
from bench._visitor import Heard, Tab
from bench.idle import TICKS, cpu, family
from tests.messages_server import MessagesServer, Turn

LEAFS = 2
IDLE = 20.0
"""Seconds for which nothing is asked."""
IDLE_STATEMENTS = 1.0
"""Of PostgreSQL a second, at most, for each Leaf of which nothing is asked."""
A_SECOND = 15.0
FEW, MANY = 60, 300
"""Words of an answer."""
SQL = "SELECT region, sum(revenue) AS total FROM {table} GROUP BY region ORDER BY region"
KINDS = {"plain": PLAIN, "long": LONG, "query": QUERIED, "upload": UPLOAD}
SETTINGS = {"LEAF_ALLOW_OPEN": "1"}
DATABASE = ("shared_preload_libraries = 'pg_stat_statements'", "pg_stat_statements.max = 10000")


def main() -> int:
    """Report the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--answers", type=int, default=5, help="of each kind")
    given = parser.parse_args()
    measured = ("leaf/runs", "leaf/store", "leaf/sessions", "leaf/agent", "leaf/ui")
    report = Report("answer_cost", measured, changed(parser, given))
    if without := lacking():
        print(f"Missing on this machine: {without}.")
        return 1
    with (
        MessagesServer(_brain) as server,
        cluster(LEAFS, server.url, database=DATABASE, **SETTINGS) as opened,
    ):
        opened.rows("CREATE EXTENSION pg_stat_statements")
        return report.end(asyncio.run(_measure(opened, given.answers)))


def _brain(body: dict[str, Any]) -> Turn:
    """A query first where a file is asked about, then words."""
    text = str(body["messages"][-1])
    if "tool_result" not in text and any(f"{kind}:" in text for kind in ("query", "upload")):
        came = re.search(r"upload: number (\d+)", text)
        table = f"more{came[1]}" if came else "sales"
        return Turn.call(("query_tables", {"sql": SQL.format(table=table)}))
    words = MANY if "long:" in text else FEW
    stamp = f"t{time.time_ns() // 1_000_000} "
    said = stamp + " ".join(f"word{number}" for number in range(words - 1))
    return Turn.say(said, pieces=words, delay=1 / A_SECOND)


@dataclass
class Cost:
    """What was asked of the servers, and how long it took."""

    seconds: float = 0.0
    statements: float = 0.0
    written: float = 0.0
    """Rows."""
    log: float = 0.0
    """Bytes of PostgreSQL's write-ahead log."""
    database: float = 0.0
    """Seconds of processor of PostgreSQL."""
    leaf: float = 0.0
    """The same of the Leafs and their children."""
    requests: float = 0.0
    """To the bucket."""

    def each(self, answers: int, idle: Cost) -> Cost:
        """Of one answer, without what is asked anyway in that time."""
        rest = self.seconds / idle.seconds

        def of(name: str) -> float:
            return float(max(0.0, getattr(self, name) - rest * getattr(idle, name)) / answers)

        return Cost(
            self.seconds / answers,
            of("statements"),
            of("written"),
            of("log"),
            of("database"),
            of("leaf"),
            max(0.0, self.requests - rest * idle.requests) / answers,
        )


class Meter:
    """Reads what all servers have done so far."""

    def __init__(self, opened: Cluster) -> None:
        self._cluster = opened
        self._postmaster = int(
            (Path(_folder(opened.database)) / "data" / "postmaster.pid").read_text().split()[0]
        )

    def read(self) -> Cost:
        rows = self._cluster.rows(
            "SELECT sum(calls), sum(rows) FILTER (WHERE query ~* '^\\s*(insert|update|delete)'), "
            "sum(wal_bytes) FROM pg_stat_statements "
            "WHERE query !~ 'pg_stat_statements'"
        )
        statements, written, log = (float(value or 0) for value in rows[0])
        leaf = sum(self._processor(process.pid) for process in self._cluster.processes)
        requests = self._cluster.store.requests.total()
        database = self._processor(self._postmaster)
        return Cost(time.monotonic(), statements, written, log, database, leaf, requests)

    def _processor(self, pid: int) -> float:
        """Of a process, its living children, and those that it has waited for."""
        total = 0.0
        for one in family(pid):
            with suppress(OSError, IndexError, ValueError):
                fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
                total += cpu(one) + (int(fields[13]) + int(fields[14])) / TICKS
        return total


def _folder(address: str) -> str:
    return address.partition("host=")[2].partition("&")[0]


async def _measure(opened: Cluster, answers: int) -> list[Figure]:
    meter, heard = Meter(opened), Heard()
    costs: dict[str, Cost] = {}
    idle: Cost | None = None
    for kind in KINDS:
        asker = Asker(opened, heard)
        await asyncio.to_thread(asker.attach, "sales.csv", _table(0))
        tab = await asker.open()
        try:
            await tab.ask("query: the first")
            await asyncio.sleep(2)
            if idle is None:
                idle = await _counted(meter, lambda: asyncio.sleep(IDLE))
            asking = await _counted(meter, partial(_ask, asker, tab, kind, answers))
            costs[kind] = asking.each(answers, idle)
        finally:
            await tab.close()
    for error in heard.errors[:5]:
        print(f"    {error}")
    made = opened.rows("SELECT count(*) FROM results")[0][0]
    assert made >= 2 * answers, f"{made} queries gave a result: the others failed"
    assert idle is not None
    return _figures(idle, costs)


class Asker:
    """One person with a page open at one Leaf, and a chat of its own."""

    def __init__(self, opened: Cluster, heard: Heard) -> None:
        self._folder = opened.folder
        self._port = opened.processes[0].app.port
        self._session = opened.processes[0].session()
        self._chat = self._session.chats.create()
        self._heard = heard

    def attach(self, name: str, content: bytes) -> None:
        """Add a file and put it beside the next question."""
        path = self._folder / name
        path.write_bytes(content)
        self._session.attached.add(self._chat.id, [self._session.files.add_path(path).file.id])

    async def open(self) -> Tab:
        """The page with the chat."""
        xsrf, origin = generate_xsrf_token_string(None, None), f"http://127.0.0.1:{self._port}"
        tab = Tab(self._port, "", xsrf, self._heard, origin)
        tab.query = f"chat={self._chat.id}"
        await tab.connect()
        return tab


async def _ask(asker: Asker, tab: Tab, kind: str, answers: int) -> None:
    for number in range(1, answers + 1):
        if kind == "upload":
            await asyncio.to_thread(asker.attach, f"more{number}.csv", _table(number))
        await tab.ask(f"{kind}: number {number}")


async def _counted(meter: Meter, act: Callable[[], Awaitable[None]]) -> Cost:
    before = await asyncio.to_thread(meter.read)
    await act()
    await asyncio.sleep(1)
    after = await asyncio.to_thread(meter.read)
    return Cost(
        after.seconds - before.seconds,
        after.statements - before.statements,
        after.written - before.written,
        after.log - before.log,
        after.database - before.database,
        after.leaf - before.leaf,
        after.requests - before.requests,
    )


def _table(number: int) -> bytes:
    rows = (f"{'NSEW'[row % 4]},{row + number}" for row in range(7_000))
    return ("region,revenue\n" + "\n".join(rows)).encode()


def _figures(idle: Cost, costs: dict[str, Cost]) -> list[Figure]:
    found = [
        Figure(
            IDLE_SUBJECT,
            "statements of both a second",
            idle.statements / idle.seconds,
            LEAFS * IDLE_STATEMENTS,
            False,
            "{:.1f}",
        ),
        Figure(IDLE_SUBJECT, "rows written a second", idle.written / idle.seconds),
        Figure(IDLE_SUBJECT, "requests to the bucket", idle.requests, shown="{:.0f}"),
    ]
    for kind, cost in costs.items():
        who = KINDS[kind]
        found += [
            Figure(who, STATEMENTS, cost.statements, shown="{:.0f}"),
            Figure(who, WRITTEN, cost.written, shown="{:.0f}"),
            Figure(who, LOG, cost.log / 1000, shown="{:.0f} kB"),
            Figure(who, DATABASE_CPU, cost.database * 1000, shown="{:.0f} ms"),
            Figure(who, LEAF, cost.leaf * 1000, shown="{:.0f} ms"),
            Figure(who, REQUESTS, cost.requests, shown="{:.1f}"),
        ]
    return found


if __name__ == "__main__":
    sys.exit(main())

"""What befalls the cluster: a plan that a seed decides, and what carries it out and looks how long
answers stood still."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

import psycopg

from bench._cluster import Cluster, Process
from tests import postgres

EVERY = 20.0
"""Seconds between two kills."""
BACK = (4.0, 16.0)
"""Seconds after which a killed Leaf is started again: before or after others have taken over."""
FROZEN = 60.0
"""Seconds for which one Leaf is frozen: long past the moment at which it counts as gone."""
AWAY = 30.0
"""Seconds for which the store is gone."""
DATABASE_AWAY = (0.0, 4.0)
"""Seconds between the end and the start of PostgreSQL, of its first and its second restart."""
LOOK = 0.1
LONGEST = 120.0
"""Seconds after which an answer that nobody went on with is not waited for any more."""
Kind = Literal["kill", "database", "store", "freeze"]


@dataclass(frozen=True)
class Planned:
    at: float
    """Seconds since the beginning."""
    kind: Kind
    seconds: float
    """Until it is over."""


@dataclass
class Struck:
    """What an event met."""

    kind: Kind
    at: float
    """`time.monotonic()`."""
    answers: frozenset[str]
    """Ids of the answers that were being written there."""
    stood: float | None = None
    """The longest time until somebody went on with one of them."""


def plan(seconds: float, seed: int) -> list[Planned]:
    """A kill every 20 s, and beside them: PostgreSQL falls over twice, the store is gone once, one Leaf is
    frozen once."""
    chance = random.Random(seed)
    kills = [
        Planned(at * EVERY, "kill", chance.uniform(*BACK))
        for at in range(1, max(2, int(seconds / EVERY)))
    ]
    first, second = DATABASE_AWAY
    beside = [
        Planned(seconds * chance.uniform(0.22, 0.30), "database", first),
        Planned(seconds * chance.uniform(0.40, 0.45), "store", min(AWAY, seconds / 3)),
        Planned(seconds * chance.uniform(0.64, 0.68), "freeze", FROZEN),
        Planned(seconds * chance.uniform(0.80, 0.88), "database", second),
    ]
    return sorted([*kills, *beside], key=lambda one: one.at)


@dataclass
class Events:
    """Carries out a plan."""

    cluster: Cluster
    seed: int
    struck: list[Struck] = field(default_factory=list)
    _frozen: Process | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def carry_out(self, planned: Sequence[Planned]) -> None:
        """Returns when all of it is over and all Leafs are there again."""
        began, chance = time.monotonic(), random.Random(self.seed)
        threads = []
        for one in planned:
            time.sleep(max(0.0, began + one.at - time.monotonic()))
            thread = threading.Thread(target=self._let_happen, args=(one, chance.random()))
            thread.start()
            threads.append(thread)
        for thread in threads:
            thread.join()

    def _let_happen(self, one: Planned, draw: float) -> None:
        print(f"    {one.at:5.0f} s: {one.kind}", flush=True)
        if one.kind == "database":
            self.struck.append(Struck(one.kind, time.monotonic(), self._written()))
            postgres.restart(self.cluster.database, one.seconds)
        elif one.kind == "store":
            self.struck.append(Struck(one.kind, time.monotonic(), frozenset()))
            self.cluster.store.cut()
            time.sleep(one.seconds)
            self.cluster.store.heal()
        elif (at := self._choose(draw)) is not None:
            with at.changing:
                (self._kill if one.kind == "kill" else self._freeze)(at, one.seconds)

    def _choose(self, draw: float) -> Process | None:
        """A Leaf that is well; None where that would be the last one."""
        with self._lock:
            well = [
                p
                for p in self.cluster.processes
                if p.up and p is not self._frozen and not p.changing.locked()
            ]
            return well[int(draw * len(well))] if len(well) > 1 else None

    def _kill(self, at: Process, back: float) -> None:
        at.kill()
        with self._looked_at("kill", at):
            time.sleep(back)
            at.start()

    def _freeze(self, at: Process, seconds: float) -> None:
        self._frozen = at
        at.freeze()
        with self._looked_at("freeze", at):
            time.sleep(seconds)
            at.wake()
            self._frozen = None

    @contextmanager
    def _looked_at(self, what: Kind, at: Process) -> Iterator[None]:
        """What it wrote is watched until others go on with it, or it is up again."""
        struck = Struck(what, time.monotonic(), self._written(at))
        self.struck.append(struck)
        looking = threading.Thread(target=self._look, args=(struck, at.names))
        looking.start()
        yield
        looking.join()

    def _written(self, at: Process | None = None) -> frozenset[str]:
        """The answers that are being written, everywhere or by one Leaf."""
        for _ in range(50):
            with suppress(psycopg.Error):
                rows = self.cluster.rows("SELECT message_id, process_id FROM run_leases")
                return frozenset(str(message) for message, process in rows if _is_of(process, at))
            time.sleep(LOOK)
        return frozenset()

    def _look(self, struck: Struck, names: str) -> None:
        """How long it takes until the last of the answers is somebody else's, or done. A start that
        takes the place of the killed one is somebody else."""
        gone = self._holders(struck.answers, names)
        left, until = set(struck.answers), time.monotonic() + LONGEST
        while left and time.monotonic() < until:
            time.sleep(LOOK)
            with suppress(psycopg.Error):
                rows = self.cluster.rows("SELECT message_id, process_id FROM run_leases")
                standing = {str(message) for message, process in rows if process in {"", *gone}}
                if left - standing:
                    struck.stood = time.monotonic() - struck.at
                left &= standing
        if left:
            struck.stood = LONGEST

    def _holders(self, answers: frozenset[str], names: str) -> set[str]:
        for _ in range(50):
            with suppress(psycopg.Error):
                rows = self.cluster.rows("SELECT message_id, process_id FROM run_leases")
                return {
                    str(process)
                    for message, process in rows
                    if message in answers and str(process).startswith(names)
                }
            time.sleep(LOOK)
        return set()


def _is_of(process_id: str, at: Process | None) -> bool:
    return at is None or (bool(process_id) and process_id.startswith(at.names))

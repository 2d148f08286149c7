"""Looks after runs while they are written, and after what other processes want or left."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from leaf import logs
from leaf.runs.board import RunBoard, status_chunk
from leaf.runs.dispatch import SAFETY_SECONDS, Dispatcher
from leaf.runs.engine import Engine
from leaf.runs.presence import Presence
from leaf.store import leases, removal
from leaf.store.database import Database

logger = logging.getLogger(__name__)

TELL_SECONDS = 0.12
"""How often other processes are told what running answers grew by."""
WRITE_SECONDS = 1.0
"""How often that is written, for those who come later and for what they were not told."""
REST = 3.0
"""How many times as long as a duty took it is left alone: many streams are written less often, not
all the time."""
LOOK_SECONDS = 1.0
"""How often it is looked for runs that were left for a while and are to be begun again."""
ADOPT_SECONDS = 60.0
"""How often answers are looked for that nobody writes, in case something was missed."""
PRUNE_SECONDS = 3600.0
RETENTION = timedelta(days=1)
"""How long the records of finished runs are kept: what Retry goes on from, and what the operator
looks into."""


@dataclass
class _Duty:
    """What is done again and again, as long as it is needed."""

    period: float
    act: Callable[[], None]
    needed: Callable[[], object] = lambda: True
    due: float = 0.0
    """`time.monotonic()` of the next time."""


class Keeper:
    """What is done again and again."""

    def __init__(
        self,
        board: RunBoard,
        dispatcher: Dispatcher,
        db: Database,
        engine: Engine,
        hourly: Sequence[Callable[[], None]] = (),
        presence: Presence | None = None,
    ) -> None:
        """`hourly` is what others want to have done about once an hour; `presence` is given where
        several processes share a history."""
        self._hourly = hourly
        self._board = board
        self._dispatcher = dispatcher
        self._db = db
        self._engine = engine
        self._presence = presence

    def keep(self) -> None:
        """Write streams, begin again what was parked, prune, look for what other processes want or
        left. Runs until `close`."""
        duties = [
            _Duty(
                LOOK_SECONDS,
                self._begin_parked,
                lambda: any(live.again_at is not None for live in self._board.live.values()),
            ),
            _Duty(PRUNE_SECONDS, self._prune),
            *(_Duty(PRUNE_SECONDS, act) for act in self._hourly),
        ]
        if self._presence is not None:
            # Here alone others read streams while they grow; else each step writes its own when it
            # ends.
            duties.append(_Duty(WRITE_SECONDS, self._write, lambda: self._board.live))
            duties.append(_Duty(ADOPT_SECONDS, self._presence.adopt))
        while not self._board.ending:
            with self._board.news:
                due = min(duty.due for duty in duties if duty.needed())
                if not self._board.closed:  # since the loop looked
                    self._board.news.wait(min(due - time.monotonic(), SAFETY_SECONDS))
                now = time.monotonic()
                acts = [duty for duty in duties if duty.due <= now and duty.needed()]
            for duty in acts:
                began = time.monotonic()
                self._do(duty.act)
                ended = time.monotonic()
                duty.due = max(began + duty.period, ended + REST * (ended - began))

    def tell(self) -> None:
        """Tell other processes what running answers grow by, in a thread of its own: words do not
        wait until others are written. Runs until `close`."""
        while not self._board.ending:
            with self._board.news:
                if not self._board.live:
                    self._board.news.wait(SAFETY_SECONDS)
            began = time.monotonic()
            self._do(self._tell)
            time.sleep(max(TELL_SECONDS, REST * (time.monotonic() - began)))

    def _tell(self) -> None:
        with self._board.news:
            streams = {one: live.stream for one, live in self._board.live.items()}
        if self._presence is not None and not self._board.alone:
            lines = [line for one, stream in streams.items() for line in stream.untold(one)]
            self._presence.tell(lines)

    def _do(self, duty: Callable[[], None]) -> None:
        try:
            duty()
        except Exception as e:  # the other duties go on
            if not self._board.closed:
                logger.warning(
                    "looking after runs: %s",
                    logs.reason(e),
                    exc_info=True,
                )

    def _write(self) -> None:
        with self._board.news:
            streams = [live.stream for live in self._board.live.values()]
        for stream in streams:
            stream.flush()

    def _begin_parked(self) -> None:
        with self._board.news:
            now = time.monotonic()
            due = [
                live
                for live in self._board.live.values()
                if live.again_at is not None and live.again_at <= now
            ]
            for live in due:
                live.again_at = None
        for live in due:
            self._board.runs[live.entry.message_id].emit(status_chunk(""))
            self._dispatcher.begin_again(live.entry.message_id)

    def _prune(self) -> None:
        if gone := self._engine.prune(RETENTION):
            logger.info("pruned the records of %d finished runs", gone)
        over = self._engine.over()
        if orphans := set(over) - removal.still_there(self._db, over):
            self._engine.forget(list(orphans))
        if self._presence is not None:
            leases.unscoped_sweep(self._db)

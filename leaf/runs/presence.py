"""This process among the others of the same history: its heart beats, and it takes up what those
leave that are gone.

Who is gone is told by the database's clock alone. A process that was frozen and wakes finds its
answers taken; what it still tries to write is not kept (`store/fence.py`), and it drops them. While
a process is alone and writes nothing its heart stands still: nobody asks.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaf.errors import LeafError
from leaf.runs import failures
from leaf.runs.board import RunBoard, ticket_of
from leaf.runs.engine import VERSION, Engine
from leaf.store import leases, messages
from leaf.store.changes import RUNS, Change
from leaf.store.database import Database
from leaf.store.leases import NOBODY, Holder, Lease
from leaf.store.model import Message, Unfinished

if TYPE_CHECKING:
    from leaf.runs.dispatch import Dispatcher

BEGUN_SECONDS = 60.0
"""After which an answer is not just about to be begun by a process that knows no leases."""
OFF_SECONDS = 30.0
"""By which clocks of two machines may differ before the operator is told."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LeaseTimes:
    """Seconds."""

    beat: float = 3.0
    """Between two beats of the heart."""
    silence: float = 10.0
    """Without a beat after which a process is taken for gone."""
    stop: float = 2.0
    """For which whoever writes an answer may take to stop it before it is stopped without them."""


class Presence:
    """One a process, where several share a history."""

    def __init__(
        self,
        board: RunBoard,
        dispatcher: Dispatcher,
        db: Database,
        engine: Engine,
        times: LeaseTimes,
        others_changed: Callable[[], None] = lambda: None,
    ) -> None:
        """`others_changed` is done when a process came or went, and now and then."""
        self.times = times
        self._board = board
        self._dispatcher = dispatcher
        self._db = db
        self._engine = engine
        self._others_changed = others_changed
        self._news = threading.Event()
        self._told = True
        """Whether others said that there is something to do."""
        self._unwritten: frozenset[str] = frozenset()
        """Ids of the answers that were this process's at the last beat and that it did not write."""
        board.alone = False
        self._beaten = float("-inf")
        """`time.monotonic()` of the last beat."""

    @property
    def holder(self) -> Holder:
        """This process."""
        return Holder(self._engine.process_id, VERSION, self._board.limits.per_user)

    def heard(self, changes: Collection[Change]) -> None:
        """Others let it know that something is to be done."""
        topics = {change.topic for change in changes}
        if RUNS in topics:
            self._told = True
        if RUNS in topics or self._board.alone:  # then its heart may stand still
            self._news.set()

    def tell(self, lines: Sequence[str]) -> None:
        """Let others know what answers grew by, if there are any others. What they are not told
        they read."""
        if not lines or self._board.alone or self._board.closed:
            return
        try:
            self._db.tell(lines)
        except LeafError as e:
            logger.info("others were not told of a stream: %s", e)

    def wake(self) -> None:
        """Have it look now."""
        self._news.set()

    def ended(self) -> None:
        """An answer is over here, and there is room for another."""
        if self._board.reserved:
            self._told = True
            self._news.set()

    def enter(self) -> None:
        """Be there, and let go what earlier processes in this one's place held."""
        leases.unscoped_enter(self._db, self.holder)
        leases.unscoped_release_seats(
            self._db, self._engine.process_id, frozenset(self._engine.executors)
        )
        ahead = leases.unscoped_clock_ahead(self._db)
        if abs(ahead) > OFF_SECONDS:
            logger.warning(
                "the clock of this machine is %.0f s %s the database server's: set both by the same "
                "time server, or links and sign-ins end early or late and times are shown wrong",
                abs(ahead),
                "ahead of" if ahead > 0 else "behind",
            )

    def keep(self) -> None:
        """Beat and look, as long as there is anybody to do it for. Runs until `close`."""
        while not self._board.ending:
            try:
                self._board.alone = self._look()
            except Exception as e:  # noqa: BLE001 - the next beat may do
                if not self._board.closed:
                    why = e.message if isinstance(e, LeafError) else type(e).__name__
                    logger.warning("the heart of this process missed a beat: %s", why)
                self._board.alone = False
            load = self._board.load()
            idle = self._board.alone and not (load.running or load.waiting or self._unwritten)
            self._news.wait(None if idle else self.times.beat)
            self._news.clear()

    def adopt(self) -> None:
        """Take up what nobody writes, as far as there is room, and have what waits wait here as
        well: whoever is first begins it."""
        self._dispatcher.end_lost()
        known = leases.unscoped_known(self._db)
        unfinished = messages.unscoped_unfinished(self._db)
        for answer in unfinished:
            if answer.message.status == "pending":
                self._board.wait(ticket_of(answer))
            elif answer.message.id not in known:
                self._find_owner(answer)
        self._take_free({answer.message.id: answer for answer in unfinished})
        self._others_changed()

    def _look(self) -> bool:
        """One beat. Returns whether there is no other process.

        Who comes late to it judges nobody: just started or woken, or the database was away, and the
        others had no chance to be heard either.
        """
        told, self._told = self._told, False
        try:
            return self._look_and_adopt(told)
        except Exception:  # it is looked for at the next beat
            self._told = self._told or told
            self._board.reserve(False)
            raise

    def _look_and_adopt(self, told: bool) -> bool:
        late = time.monotonic() - self._beaten > 2 * self.times.beat
        with (
            self._board.news
        ):  # before it is asked whose they are: what begins meanwhile is this one's
            live = list(self._board.live)
        standing = leases.unscoped_beat(self._db, self._engine.process_id, self.times.silence)
        self._beaten = time.monotonic()
        if standing is None:
            logger.warning("this process was taken for gone, and is back")
            leases.unscoped_enter(self._db, self.holder)
        mine = standing.mine if standing else {}
        self._look_at(live, mine)
        self._write_unwritten(mine)
        if standing is not None and not late and (standing.silent or standing.left):
            leases.unscoped_release_silent(self._db, self._engine.process_id, self.times.silence)
            told = True
        if told:
            self.adopt()
        elif standing is not None and not standing.left:
            self._board.reserve(False)
        return standing is not None and not standing.others

    def _look_at(self, live: Collection[str], mine: Mapping[str, bool]) -> None:
        """Stop what is to be stopped, and let go what another has taken."""
        for message_id in live:
            if message_id not in mine:
                self._board.lose(message_id)
            elif mine[message_id]:
                self._board.stop(message_id)

    def _write_unwritten(self, mine: Mapping[str, bool]) -> None:
        """Go on with what is this process's and not written by it: it took an answer, and the word of
        that was lost, or it could not end it as it meant to. One that is about to be begun or ended is
        not found so at two beats."""
        with self._board.news:
            unwritten = frozenset(
                one
                for one in mine
                if one not in self._board.live and one not in self._board.waiting
            )
        again, self._unwritten = unwritten & self._unwritten, unwritten
        for message_id in again:
            answer = messages.unscoped_get(self._db, message_id)
            if answer is not None and answer.message.status == "streaming":
                logger.info("run %s is this process's, and gone on with", message_id)
                self._go_on(answer, stop=mine[message_id])

    def _take_free(self, unfinished: dict[str, Unfinished]) -> None:
        """As far as there is room. For the others the next room is kept: behind all that waits they
        would not go on for as long as enough is asked."""
        left = leases.unscoped_mine(self._db, NOBODY).values()
        mine = [lease for lease in left if self._is_for_this(lease)]
        self._board.reserve(bool(mine))
        waits = False
        try:
            for lease in mine:
                if answer := unfinished.get(lease.message_id):
                    if waits := not self._board.has_room():
                        return
                    self._take(answer, lease)
                else:
                    leases.unscoped_sweep(self._db)
        finally:
            self._board.reserve(waits)

    def _is_for_this(self, lease: Lease) -> bool:
        """One of another version is left to those that can go on with it, as long as there are any;
        where something of it is left here, that ends first."""
        if lease.message_id in self._board.live:
            return False
        return lease.version == VERSION or not leases.unscoped_can_run(self._db, lease.version)

    def _take(self, answer: Unfinished, lease: Lease) -> None:
        """One answer, if nobody is quicker."""
        if leases.unscoped_take(self._db, lease.message_id, self.holder):
            logger.info("run %s is taken over", lease.message_id)
            self._go_on(answer, stop=lease.stop)

    def _go_on(self, answer: Unfinished, *, stop: bool) -> None:
        """With one that is this process's now, and owed: whatever fails, it is tried again."""
        try:
            self._dispatcher.go_on(answer, stop=stop)
        except Exception as e:  # noqa: BLE001 - the others that are left are not to wait for this one
            reason = e if isinstance(e, LeafError) else failures.explain(e, shared=True)
            self._board.remember(ticket_of(answer))
            self._board.park(answer.message.id, reason.message)

    def _find_owner(self, answer: Unfinished) -> None:
        """An answer without a lease was begun by a version that knew none, or came with a backup.
        Without a record, after a while, nobody is at it; with one it is this process's where its
        name is."""
        record = self._engine.record(answer.message.id)
        if record is None and _idle_seconds(answer.message) < BEGUN_SECONDS:
            return
        if record is None or record.executor in self._engine.executors:
            leases.unscoped_leave_to_all(self._db, answer, record.version if record else VERSION)


def _idle_seconds(message: Message) -> float:
    return time.time() - message.updated_at.timestamp() if message.updated_at else 0.0

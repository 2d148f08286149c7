"""What waits and what runs in this process, behind one lock. No database is asked here, and no
thread lives here."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, replace

from leaf.agent.draft import STATUS
from leaf.agent.events import Chunk, chunk
from leaf.runs.records import Load
from leaf.runs.run import Run
from leaf.runs.steps import Stream
from leaf.runs.waiting import QueueEntry, QueuePlace, Waiting
from leaf.store.changes import EVERYWHERE, LIVE, Change, Hub
from leaf.store.model import Unfinished

ELSEWHERE = "This answer goes on in another process."
KEPT_SECONDS = 120.0
"""How long a finished run can still be read from its chunks; later, from the history."""
AGAIN_SECONDS = 5.0
"""How long a run that could not be kept, for want of disk space, is left before it is begun
again."""
BUSY_SECONDS = 30.0
"""How long a chat or a person is left alone for whom another process writes, unless that one tells that it is
done."""


@dataclass(frozen=True)
class QueueLimits:
    """How many answers are written at once."""

    per_user: int = 3
    total: int = 20


@dataclass
class Live:
    """A run that this process has begun."""

    entry: QueueEntry
    stream: Stream
    again_at: float | None = None
    """`time.monotonic()` at which to begin it again, for a run that could not be kept."""
    lost: bool = False
    """Another process has taken it."""


class RunBoard:
    """What the threads that serve runs share. Whoever changes two things at once holds `news`
    meanwhile."""

    def __init__(self, changes: Hub, limits: QueueLimits) -> None:
        self._changes = changes
        self.limits = limits
        self.waiting = Waiting()
        self.runs: dict[str, Run] = {}
        """What can be read from its chunks, by message id."""
        self.live: dict[str, Live] = {}
        """What this process has begun."""
        self.busy_until: dict[str, float] = {}
        """Id of a chat or a person -> when to try again: another process answers in that chat, or as
        many answers are written for that person as may be."""
        self.asked: set[str] = set()
        """Message ids of the waiting questions that were asked of this process. Others wait here as
        well, in case that this one has room first."""
        self._offered: set[str] = set()
        """Message ids of those among them of which the others were told."""
        self.alone = True
        """Whether no other process shares the history, so that all that waits is this one's."""
        self.reserved = False
        """Whether the next room here is for an answer that nobody writes any more: it was begun before
        what waits."""
        self.claiming = False
        """Whether a question is being claimed, which will need room."""
        self._reasons: dict[str, str] = {}
        """Message id -> what was said last of why it is not written just now."""
        self.told = 0
        """How many times answers changed, here or elsewhere."""
        self._doubted: set[str] = set()
        """Workspaces in which something was told that may have ended the waiting of a question here:
        another process has begun it, or it was stopped or withdrawn there."""
        self.news = threading.Condition(threading.RLock())
        self.closed = False

    @property
    def ending(self) -> bool:
        """Whether this process lets go of its runs: it was closed, or ends without having been."""
        return self.closed or not threading.main_thread().is_alive()

    def running(self, message_id: str) -> bool:
        """Whether this process is writing it."""
        with self.news:
            return message_id in self.live

    def running_chats(self, workspace_id: str) -> frozenset[str]:
        """Ids of the workspace's chats in which this process is writing, or a question waits."""
        with self.news:
            entries = [*(live.entry for live in self.live.values()), *self.waiting.entries()]
        return frozenset(
            entry.chat_id for entry in entries if entry.scope.workspace_id == workspace_id
        )

    def place(self, message_id: str) -> QueuePlace | None:
        """Where a question stands that waits here; None if it does not."""
        with self.news:
            running = [live.entry for live in self.live.values()]
            place = self.waiting.place(
                message_id, running, per_user=self.limits.per_user, total=self.limits.total
            )
            elsewhere = self.waiting.asker(message_id) in self.busy_until
        return replace(place, limit="person") if place and elsewhere else place

    def load(self) -> Load:
        """How much there is to do."""
        with self.news:
            return Load(len(self.live), len(self.waiting))

    def has_room(self) -> bool:
        """Whether one more answer may be written here."""
        with self.news:
            return not self.closed and len(self.live) + self.claiming < self.limits.total

    def reserve(self, reserved: bool) -> None:
        """Keep the next room for what nobody writes, or for it no longer."""
        with self.news:
            if self.reserved != reserved:
                self.reserved = reserved
                self.news.notify_all()

    def for_room(self, elsewhere: Collection[QueueEntry] = ()) -> int:
        """How many questions wait for nothing but room in this process, each counted by the one that
        was asked. `elsewhere` are answers that other processes write."""
        with self.news:
            running = {live.entry.message_id: live.entry for live in self.live.values()}
            if len(running) < self.limits.total:
                return 0
            running |= {entry.message_id: entry for entry in elsewhere}
            ready = self.waiting.ready(
                list(running.values()), self.busy_until, per_user=self.limits.per_user
            )
            return len(ready if self.alone else self.asked.intersection(ready))

    def to_offer(self) -> frozenset[str]:
        """Message ids of the questions that were asked of this process, have no room in it, and of
        which the others have not been told: they may have room. From now on they count as told."""
        with self.news:
            running = [live.entry for live in self.live.values()]
            if self.alone or len(running) < self.limits.total:
                return frozenset()
            ready = self.waiting.ready(running, self.busy_until, per_user=self.limits.per_user)
            offers = self.asked.intersection(ready) - self._offered
            self._offered = self._offered.intersection(self.asked) | offers
        return frozenset(offers)

    def doubtful(self) -> frozenset[str]:
        """Message ids of the questions that wait here and perhaps nowhere else any more. From now on
        they count as looked at."""
        with self.news:
            doubted, self._doubted = self._doubted, set()
            return frozenset(
                entry.message_id
                for entry in self.waiting.entries()
                if {entry.scope.workspace_id, EVERYWHERE} & doubted
            )

    def wait(self, entry: QueueEntry, *, asked: bool = False) -> None:
        """Put a question into the queue, unless it is begun already. `asked`: of this process."""
        with self.news:
            if entry.message_id in self.live:
                return
            if asked:
                self.asked = {one for one in self.asked if one in self.waiting} | {entry.message_id}
            self._forget_old()
            self.runs.setdefault(entry.message_id, Run(entry.message_id))
            self.waiting.add(entry)
            self.tell(entry)

    def remember(self, entry: QueueEntry) -> Run:
        """Count a run as this process's. A new attempt of one that is known goes on in the same
        `Run`."""
        with self.news:
            self.waiting.remove(entry.message_id)
            followed = self.runs.get(entry.message_id)
            if followed is not None and followed.elsewhere:
                del self.runs[entry.message_id]
            run = self.runs.setdefault(entry.message_id, Run(entry.message_id))
            live = self.live.setdefault(entry.message_id, Live(entry, Stream()))
            live.again_at = None
            if self._reasons.pop(entry.message_id, ""):
                run.emit(status_chunk(""))
            if self.closed:
                run.stop.set()
        if followed is not None and followed.elsewhere:
            followed.emit(chunk("abort", reason=ELSEWHERE))
        self.tell(entry, LIVE)
        return run

    def tell(self, entry: QueueEntry, topic: str = "messages") -> None:
        """What waits and what runs is known to this process alone, so it is told beside what the
        history tells."""
        with self.news:
            self.news.notify_all()
        self._changes.publish([Change(entry.scope.workspace_id, topic)])

    def heard(self, changes: Collection[Change]) -> None:
        """Another process may be done with a chat in which a question waits here, or with an answer
        for somebody who waits for one here; or it has begun what waits here."""
        topics = {change.topic for change in changes}
        if topics.isdisjoint(("messages", LIVE)):
            return
        with self.news:
            if self.busy_until or len(self.waiting):
                self.news.notify_all()
            if "messages" in topics:
                self.told += 1
                self.busy_until.clear()
            if len(self.waiting):
                self._doubted |= {change.workspace_id for change in changes}

    def next(self) -> QueueEntry | None:
        """Whose turn it is, if anybody's."""
        if self.closed or self.reserved:
            return None
        now = time.monotonic()
        self.busy_until = {
            chat_id: until for chat_id, until in self.busy_until.items() if until > now
        }
        running = [live.entry for live in self.live.values()]
        return self.waiting.next(
            running, self.busy_until.keys(), per_user=self.limits.per_user, total=self.limits.total
        )

    def leave_alone(self, one: str, seconds: float, since: int | None = None) -> None:
        """Try nothing for a while in a chat, or for a person. Not if something was told after
        `since`, a value of `told`: then it is tried at once."""
        with self.news:
            if since is None or since == self.told:
                self.busy_until[one] = time.monotonic() + seconds

    def park(self, message_id: str, reason: str) -> None:
        """Leave a run for a while, saying why, and begin it again. It keeps its place among those
        that run."""
        with self.news:
            if live := self.live.get(message_id):
                live.again_at = time.monotonic() + AGAIN_SECONDS
                self.say_why(message_id, reason)
                self.news.notify_all()

    def say_why(self, message_id: str, reason: str) -> None:
        """Tell whoever watches an answer why it is not written just now, once for each reason, until
        it is."""
        with self.news:
            run = self.runs.get(message_id)
            if run is not None and self._reasons.get(message_id) != reason:
                self._reasons[message_id] = reason
                run.emit(status_chunk(f"{reason} This answer goes on by itself when that is over."))

    def release(self, message_id: str) -> Live | None:
        """This process writes it no more. Returns what it had of it."""
        with self.news:
            live = self.live.pop(message_id, None)
            self._reasons.pop(message_id, None)
        if live:
            self.tell(live.entry, LIVE)
        return live

    def lose(self, message_id: str) -> None:
        """Another process has it: end it here, and keep nothing more of it."""
        with self.news:
            live = self.live.get(message_id)
            if live is None:
                return
            live.lost = True
            self.runs[message_id].stop.set()
        if live.again_at is not None:
            self.let_go(message_id)

    def let_go(self, message_id: str, *, again: bool = False) -> None:
        """Whoever watches it here turns to the process that has it. With `again` that is this one
        after all, which begins it anew in a while."""
        with self.news:
            run, live = self.runs.pop(message_id, None), self.live.pop(message_id, None)
            self._reasons.pop(message_id, None)
            if live and again:
                at = time.monotonic() + AGAIN_SECONDS
                self.live[message_id] = Live(live.entry, Stream(), at)
                self.runs[message_id] = Run(message_id)
            entry = self.waiting.remove(message_id) or (live.entry if live else None)
        if run:
            run.emit(chunk("abort", reason=ELSEWHERE))
        if entry:
            self.tell(entry)

    def waits_no_more(self, message_id: str) -> None:
        """The same for a question that is not to be begun here any more."""
        with self.news:
            if message_id in self.waiting:  # else it is this process's by now
                self.let_go(message_id)

    def stop(self, message_id: str) -> None:
        """A person wants it stopped for good."""
        with self.news:
            if run := self.runs.get(message_id):
                run.stop_wanted = True
                run.stop.set()
            if (live := self.live.get(message_id)) and live.again_at is not None:
                live.again_at = 0.0
            self.news.notify_all()

    def drop(self, message_id: str, last: Chunk) -> None:
        """Take a question out of the queue; who watches it gets its last chunk."""
        with self.news:
            entry = self.waiting.remove(message_id)
            self._reasons.pop(message_id, None)
            if run := self.runs.get(message_id):
                run.emit(last)
        if entry:
            self.tell(entry)

    def _forget_old(self) -> None:
        horizon = time.monotonic() - KEPT_SECONDS
        for message_id, run in list(self.runs.items()):
            if run.ended_at is not None and run.ended_at < horizon:
                del self.runs[message_id]


def status_chunk(text: str) -> Chunk:
    """A sentence on how a run stands, or empty when there is nothing to say any more."""
    return chunk("data-status", id=STATUS, data={"text": text})


def ticket_of(found: Unfinished) -> QueueEntry:
    return QueueEntry(found.message.id, found.message.chat_id, found.scope)

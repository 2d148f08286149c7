"""Begin, watch, stop and resume jobs: each has a thread of this process, and is held by no page, no
tab and no command."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import BinaryIO

from leaf import logs
from leaf.errors import FAULT, LeafError, NotFoundError, RunError, StoreAwayError
from leaf.files.library import Library
from leaf.files.names import split_path
from leaf.jobs.announced import CLOSED, NOT_HERE, AnnouncedFiles, ItemProgress, given
from leaf.jobs.live import LiveJob, through_outages
from leaf.jobs.places import Place, Places
from leaf.jobs.work import Watch
from leaf.sandbox.slots import working_for
from leaf.store import Store, announced, jobs
from leaf.store.jobs import Job, JobItem, Kind, State
from leaf.store.model import Json, Scope

logger = logging.getLogger(__name__)

WORKING = 3
"""Jobs that are worked on at one time; others wait for their turn, those of one user behind those
of others. A job that only waits for files needs no place."""
HANDED = 64
"""Files that are handed over in one write."""
HANDED_SECONDS = 0.5
IDLE_SECONDS = 900.0
"""After so long without a new file, no more are expected."""
LOOK_SECONDS = 0.2
AWAY_SECONDS = 30.0
"""How long whoever waits for a job waits for a database that does not answer."""
CLOSING_SECONDS = 5.0
ABANDONED = timedelta(minutes=15)
"""Where several processes share a history: how long nothing has happened at a job whose process was
gone before it had an id among them."""
RETENTION = timedelta(days=7)

Work = Callable[[Scope, Job, Watch], None]
Source = tuple[str, Callable[[], AbstractContextManager[BinaryIO]]]
"""A file's name and what opens it."""
JobList = list[Job]
Shown = list[ItemProgress]
ItemList = list[JobItem]


class JobService:
    """All jobs of this process."""

    def __init__(
        self,
        store: Store,
        library: Library,
        works: Mapping[Kind, Work],
        *,
        shared: bool = False,
        process: Callable[[], str] = lambda: "",
    ) -> None:
        """`works` says what jobs of each kind do; `shared` is whether other processes work on the
        same history, and `process` this one's id among them, empty before it has one."""
        self._store = store
        self._library = library
        self._works = works
        self._shared = shared
        self._process = process
        self._nameless = secrets.token_hex(6)
        self._changed = threading.Condition()
        self._live: dict[str, LiveJob] = {}
        self._owed: list[tuple[Scope, str]] = []
        """Jobs that this process has taken up and could not go on with, as when the database was away."""
        self._places = Places(WORKING)
        self.announced = AnnouncedFiles(store, library, self._reopen)
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._launched = False

    @property
    def _holder(self) -> str:
        """As what this process has jobs: its id among the others tells them when it is gone."""
        return self._process() or self._nameless

    def launch(self) -> None:
        """Go on with what processes that are gone have left. Once is enough."""
        with self._changed:
            if self._launched or self._closed:
                return
            self._launched = True
        jobs.unscoped_prune(self._store.db, RETENTION)
        older_than = ABANDONED if self._shared else None
        self._go_on_with(jobs.unscoped_claim(self._store.db, self._holder, older_than))
        self.adopt()

    def adopt(self) -> None:
        """Let go of what another process has taken, and take up what one has left that is gone. For where
        several share a history, whenever one came or went."""
        with self._changed:
            if not self._launched or self._closed or not self._process():
                return
            here = list(self._live)
        if here:
            jobs.unscoped_hand_on(self._store.db, self._nameless, self._holder)
        held = jobs.unscoped_held(self._store.db, self._holder)
        with self._changed:
            lost = [self._live[job_id] for job_id in here if job_id in self._live.keys() - held]
        for live in lost:
            live.end()
        with self._changed:
            owed, self._owed = self._owed, []
        self._go_on_with(one for one in owed if one[1] in held)
        self._go_on_with(jobs.unscoped_claim_left(self._store.db, self._holder))

    def _go_on_with(self, claimed: Iterable[tuple[Scope, str]]) -> None:
        for scope, job_id in claimed:
            with self._changed:
                if job_id in self._live:
                    continue
            try:
                self._resume(scope, job_id)
            except NotFoundError:  # whoever began it is no member any more
                jobs.end(
                    self._store.db,
                    job_id,
                    "failed",
                    "You are not a member of this workspace any more.",
                )
            except Exception as e:  # the others are claimed already, and nobody else's
                fault = None if isinstance(e, LeafError) else e
                logger.warning("a job is gone on with later: %s", logs.reason(e), exc_info=fault)
                with self._changed:
                    self._owed.append((scope, job_id))

    def close(self) -> None:
        """Let go of all jobs within seconds; the next start goes on with them."""
        with self._changed:
            self._closed = True
            for live in self._live.values():
                live.end()
            threads = list(self._threads)
        deadline = time.monotonic() + CLOSING_SECONDS
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def begin(self, scope: Scope, kind: Kind, *, total: int = 0, asked: Json | None = None) -> Job:
        """A new job; one of files waits for `take` and `all_there`. Raises NotFoundError,
        StoreError."""
        self.launch()
        state: State = "arriving" if kind == "files" else "working"
        job = jobs.begin(self._store.db, scope, kind, state, total, asked or {}, self._holder)
        if kind == "transcript":
            jobs.append(self._store.db, scope, job.id, [("", {"file": job.asked["file"]}, "")])
        self._start(scope, job)
        return job

    def take(self, scope: Scope, job_id: str, sources: Iterable[Source]) -> None:
        """Keep the bytes of files and hand them to a job of files. One that cannot be kept is told
        with the job.

        Raises NotFoundError, StoreError, RunError once the job is over.
        """
        asked = jobs.get(self._store.db, scope, job_id).asked
        handed: list[tuple[str, Json, str]] = []
        since = time.monotonic()
        for name, opened in sources:
            self._raise_if_over(job_id)
            handed.append(self._kept(scope, name, opened, asked))
            if len(handed) >= HANDED or time.monotonic() - since > HANDED_SECONDS:
                self._hand_over(scope, job_id, handed)
                handed, since = [], time.monotonic()
        if handed:
            self._hand_over(scope, job_id, handed)

    def take_failed(self, scope: Scope, job_id: str, failed: Iterable[tuple[str, str]]) -> None:
        """Hand over files that could not be sent, each with why. Raises NotFoundError, RunError
        once the job is over."""
        self._raise_if_over(job_id)
        self._hand_over(scope, job_id, [(name, {}, problem) for name, problem in failed])

    def all_there(self, scope: Scope, job_id: str, problem: str = "") -> None:
        """No more files come; `problem` says why some are missing. Raises NotFoundError."""
        jobs.all_there(self._store.db, scope, job_id, problem)
        self._notify()

    def get(self, scope: Scope, job_id: str) -> Job:
        """How far it is. Raises NotFoundError."""
        return self._with_looked(jobs.get(self._store.db, scope, job_id))

    def list(self, scope: Scope) -> JobList:
        """The caller's jobs that are under way, or over and not put away; oldest first."""
        return [self._with_looked(job) for job in jobs.list_jobs(self._store.db, scope)]

    def outcomes(self, scope: Scope, job_id: str) -> ItemList:
        """What became of files so far. Raises NotFoundError."""
        return jobs.outcomes(self._store.db, scope, job_id)

    def wait(self, scope: Scope, job_id: str, seconds: float) -> Job:
        """The job once it is over, or after so many seconds. It goes on when a database that is away
        comes back, and so does this. Raises NotFoundError, or StoreAwayError after AWAY_SECONDS."""
        deadline = time.monotonic() + seconds
        away = 0.0
        while True:
            try:
                job = self.get(scope, job_id)
            except StoreAwayError:
                away = away or time.monotonic()
                if time.monotonic() - away > AWAY_SECONDS:
                    raise
                left = LOOK_SECONDS
            else:
                away, left = 0.0, deadline - time.monotonic()
                if not job.under_way or left <= 0:
                    return job
            with self._changed:
                self._changed.wait(min(left, LOOK_SECONDS))

    def stop(self, scope: Scope, job_id: str) -> Job:
        """End a job; what it has added stays. Raises NotFoundError."""
        jobs.get(self._store.db, scope, job_id)
        jobs.end(self._store.db, job_id, "stopped")
        with self._changed:
            if live := self._live.get(job_id):
                live.end()
            self._changed.notify_all()
        return self.get(scope, job_id)

    def go_on(self, scope: Scope, job_id: str) -> Job:
        """Take up again what a stopped or failed job has left; another one is left as it is. Raises
        NotFoundError."""
        if jobs.go_on(self._store.db, scope, job_id, self._holder):
            self._start(scope, jobs.get(self._store.db, scope, job_id), resumed=True)
        return self.get(scope, job_id)

    def forget(self, scope: Scope, job_id: str) -> None:
        """Put away a job that is over. Raises NotFoundError."""
        jobs.forget(self._store.db, scope, job_id)

    def announce(self, scope: Scope, files: Sequence[tuple[str, int]], asked: Json) -> Job:
        """A new job of files of which names, with folders before them, and sizes are known; their
        bytes come one by one, see `announced`. Raises NotFoundError, StoreError."""
        self.launch()
        asked = {**asked, "announced": True}
        db, items = self._store.db, self.announced.items(files)
        job = jobs.begin(db, scope, "files", "arriving", len(items), asked, self._holder)
        jobs.append(db, scope, job.id, items, state="coming")
        announced.turn(db, scope, job.id, (), "failed")  # perhaps none of them comes
        self._start(scope, job)
        return self.get(scope, job.id)

    def cancel(self, scope: Scope, job_id: str, position: int) -> JobItem:
        """`AnnouncedFiles.cancel`, also while the file is read ahead."""
        item = self.announced.cancel(scope, job_id, position)
        with self._changed:
            if item.file_id and (live := self._live.get(job_id)):
                live.end(item.file_id)
        return item

    def cancel_all(self, scope: Scope, job_id: str) -> Job:
        """End a job: what it has added stays, and nothing else comes. Raises NotFoundError."""
        self.announced.cancel_all(scope, job_id)
        return self.stop(scope, job_id)

    def shown(self, scope: Scope, job_id: str, limit: int) -> Shown:
        """How far files of a job are, those first that need somebody. Raises NotFoundError."""
        sent = self.announced.sent_of(job_id)
        with self._changed:
            live = self._live.get(job_id)
            reads = live.reads[0] if live and live.reads else ""
        return [
            ItemProgress(item, sent.get(item.position, -1), bool(reads) and item.file_id == reads)
            for item in announced.shown(self._store.db, scope, job_id, limit)
        ]

    def _reopen(self, scope: Scope, job_id: str, state: State) -> None:
        """Go on with a job, unless its thread, or another process, does so by itself."""
        announced.reopen(self._store.db, scope, job_id, state, self._holder)
        self._start_own(scope, job_id)

    def _start_own(self, scope: Scope, job_id: str) -> None:
        """Have a thread for a job that this process has, if it is under way."""
        if self._has(job_id):
            self._start(scope, jobs.get(self._store.db, scope, job_id), resumed=True)

    def _has(self, job_id: str) -> bool:
        """Whether this process has a job that is under way."""
        # It may get its id among the others just now.
        names = {self._nameless, self._holder}
        return any(job_id in jobs.unscoped_held(self._store.db, name) for name in names)

    def _resume(self, scope: Scope, job_id: str) -> None:
        """Go on with a job that another process left: files that had not arrived by then do not
        arrive any more."""
        job = jobs.get(self._store.db, scope, job_id)
        if job.announced:
            self.announced.fail_all(scope, job_id, CLOSED)
            job = jobs.get(self._store.db, scope, job_id)
        if job.state == "arriving":
            missing = job.total - job.there
            problem = (
                f"Leaf was closed while files were arriving: {job.there:,} of {job.total:,} "
                f"had arrived. "
                "Add the folder again for the others; what is there is not added twice."
            )
            jobs.all_there(self._store.db, scope, job_id, problem if missing > 0 else "")
            job = jobs.get(self._store.db, scope, job_id)
        self._start(scope, job, resumed=True)

    def _start(self, scope: Scope, job: Job, *, resumed: bool = False) -> None:
        """A thread for a job. One that has a thread, which may be about to end, keeps it: when it ends
        it looks whether there is more to do."""
        live = LiveJob(scope, job, self._changed, resumed=resumed, count=job.done)
        live.place = Place(self._places, scope.user_id)
        live.more = lambda: self._more(live)
        thread = threading.Thread(
            target=self._run, args=(live,), name=f"job-{job.kind}", daemon=True
        )
        with self._changed:
            if self._closed:
                raise RunError("Leaf is shutting down.", "Try again when it is back.")
            if job.id in self._live:
                self._changed.notify_all()
                return
            self._live[job.id] = live
            self._threads = [t for t in self._threads if t.is_alive()] + [thread]
        thread.start()

    def _run(self, live: LiveJob) -> None:
        """A job's thread. However it ends is kept, unless the process ends: then the next one goes
        on."""
        state: State = "done"
        problem = ""
        try:
            through_outages(lambda: self._work(live), live.stop)
        except RunError:
            return self._end_thread(live) if live.stop.is_set() else self._let_go(live)
        except LeafError as e:
            state, problem = "failed", str(e)
        except Exception:
            if not threading.main_thread().is_alive() or self._closed:
                return self._let_go(live)
            logger.exception("a job failed")
            state, problem = "failed", FAULT
        try:
            if not self._closed:
                through_outages(lambda: self._keep_end(live, state, problem), live.stop)
                if live.job.kind == "transcript":  # the recording itself says how it stands
                    jobs.forget(self._store.db, live.scope, live.job.id)
        except RunError:
            pass
        except LeafError as e:
            logger.warning("the end of a job was not kept: %s", logs.reason(e))
            return self._let_go(live)  # not to be done again and again
        self._end_thread(live)

    def _work(self, live: LiveJob) -> None:
        """All of it, or what is left of it where the database was away under it. Raises RunError for one
        that another process has by then."""
        if live.tried:
            if not self._has(live.job.id):
                raise RunError("Stopped.")
            live.job = jobs.get(self._store.db, live.scope, live.job.id)
            live.resumed, live.count = True, live.job.done
        live.tried = True
        with self._turn(live), working_for(live.scope.user_id):
            self._works[live.job.kind](live.scope, live.job, live)

    def _keep_end(self, live: LiveJob, state: State, problem: str) -> None:
        mine = (self._nameless, self._holder)  # one that woke may have lost it to another
        jobs.end(self._store.db, live.job.id, state, problem, mine)

    def _end_thread(self, live: LiveJob) -> None:
        """Let go of a job, but go on where somebody took it up again while the thread was about to
        end."""
        self._let_go(live)
        if not self._closed:
            with suppress(LeafError):
                self._start_own(live.scope, live.job.id)

    def _let_go(self, live: LiveJob) -> None:
        with self._changed:
            del self._live[live.job.id]
            self._changed.notify_all()

    @contextmanager
    def _turn(self, live: LiveJob) -> Iterator[None]:
        """Waits for a place to work, which a transcript does not need: its engine has a queue of
        its own."""
        if live.place is None or live.job.kind == "transcript":
            yield
            return
        live.place.take(live.stop)
        try:
            yield
        finally:
            live.place.give()

    def _more(self, live: LiveJob) -> bool:
        """Wait for more files, without a place to work; False when none come."""
        if live.place is not None:
            live.place.give()
        more = self._come(live)
        if live.place is not None:
            live.place.take(live.stop)
        return more

    def _come(self, live: LiveJob) -> bool:
        idle_since, seen = time.monotonic(), (-1, -1)
        while not live.stop.is_set():
            job = jobs.get(self._store.db, live.scope, live.job.id)
            if job.there > job.done:
                return True
            if job.state != "arriving":
                return False
            if (now := (job.there, sum(self.announced.sent_of(job.id).values()))) != seen:
                seen, idle_since = now, time.monotonic()
            if time.monotonic() - idle_since > IDLE_SECONDS:
                self._expect_no_more(live.scope, job)
            with self._changed:
                self._changed.wait(LOOK_SECONDS)
        raise RunError("Stopped.")

    def _expect_no_more(self, scope: Scope, job: Job) -> None:
        if job.announced:
            self.announced.fail_all(scope, job.id, NOT_HERE)
            return
        problem = f"No more files came: {job.there:,} of {job.total:,} had arrived."
        self.all_there(scope, job.id, problem)

    def _kept(
        self,
        scope: Scope,
        name: str,
        opened: Callable[[], AbstractContextManager[BinaryIO]],
        asked: Json,
    ) -> tuple[str, Json, str]:
        try:
            folder, last = split_path(name)
            with opened() as stream:
                stored_file = self._library.keep(
                    scope,
                    last,
                    stream,
                    context=str(asked.get("context", "")),
                    shared=bool(asked.get("shared")),
                    folder=folder,
                )
        except LeafError as e:
            return name.removeprefix("/"), {}, str(e)
        return stored_file.name, given(stored_file), ""

    def _hand_over(
        self, scope: Scope, job_id: str, handed: Sequence[tuple[str, Json, str]]
    ) -> None:
        jobs.append(self._store.db, scope, job_id, handed)
        self._notify()

    def _raise_if_over(self, job_id: str) -> None:
        with self._changed:
            live = self._live.get(job_id)
        if live is None or live.stop.is_set():
            raise RunError("This job is over.", "Add the files again.")

    def _with_looked(self, job: Job) -> Job:
        with self._changed:
            live = self._live.get(job.id)
        if live is None:
            return replace(job, beside=job.done)
        beside = live.besides if job.asked.get("target") else job.done
        return replace(job, looked=live.count, note=live.note, beside=beside)

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

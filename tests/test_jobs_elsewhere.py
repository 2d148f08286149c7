"""Jobs where several processes share a history: one whose process is gone goes on elsewhere, and is worked
on by one alone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from leaf.errors import RunError, StoreAwayError
from leaf.files.library import Library
from leaf.jobs.jobs import JobService
from leaf.jobs.work import Watch
from leaf.runs.engine import VERSION
from leaf.sandbox.pool import Pool
from leaf.settings import Settings
from leaf.store import Store, jobs, leases, open_store, users
from leaf.store.jobs import Job
from leaf.store.leases import Holder
from leaf.store.model import Scope
from tests import forked_programs
from tests.leaf_kit import opened
from tests.runs_kit import wait_until
from tests.test_jobs import made

ADD = """
import sys
from pathlib import Path
from leaf.settings import Settings
from leaf.wiring import build

leaf = build(Settings(home=Path(sys.argv[1]), database_url=sys.argv[3]))
leaf.launch()
jobs = leaf.session(leaf.local_scope()).jobs
paths = sorted(Path(sys.argv[2]).iterdir())
job = jobs.begin(len(paths))
jobs.take_paths(job.id, paths)
jobs.all_arrived(job.id)
print(job.id, flush=True)
sys.stdin.read()
"""


FILES = 80
"""More than a process adds before it is killed."""


def test_a_job_of_a_killed_process_is_gone_on_with_by_another(
    postgres_url: str, tmp_path: Path
) -> None:
    made(tmp_path / "given", FILES)
    with opened(tmp_path / "two", database_url=postgres_url) as leaf:
        leaf.launch()
        command = [sys.executable, "-c", ADD, str(tmp_path / "one"), str(tmp_path / "given")]
        process = forked_programs.Popen(
            [*command, postgres_url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        job_id = process.stdout.readline().strip()
        process.kill()
        process.wait()
        session = leaf.session(leaf.local_scope())
        assert session.jobs.get(job_id).under_way
        job = session.jobs.wait(job_id, 60)
        assert (job.state, job.done, job.failed) == ("done", FILES, 0)
        assert len(session.files.list()) == FILES


@dataclass
class Worker:
    """A process as its jobs know it, whose work goes on until it is told to end."""

    id: str
    store: Store
    library: Library
    fails: bool = False
    """Whether its work ends with an error."""
    begun: threading.Event = field(default_factory=threading.Event)
    dropped: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        works: Any = {"drive": self.work}
        self.jobs = JobService(
            self.store, self.library, works, shared=True, process=lambda: self.id
        )

    def work(self, _scope: Scope, _job: Job, watch: Watch) -> None:
        self.begun.set()
        while not self.done.is_set():
            if watch.stop.wait(0.05):
                self.dropped.set()
                raise RunError("Stopped.")
        if self.fails:
            raise StoreAwayError("The connection to the database was lost.")

    def enter(self) -> None:
        leases.unscoped_enter(self.store.db, Holder(self.id, VERSION, 3))
        self.jobs.launch()


@pytest.fixture
def shared(postgres_url: str, tmp_path: Path, pool: Pool) -> Iterator[tuple[Worker, Worker]]:
    store = open_store(Settings(home=tmp_path, database_url=postgres_url))
    library = Library(store, pool, tmp_path)
    pair = Worker("one-1.a", store, library), Worker("two-1.b", store, library)
    for worker in pair:
        worker.enter()
    yield pair
    for worker in pair:
        worker.done.set()
        worker.jobs.close()
    store.close()


def test_a_frozen_process_lets_go_of_the_job_that_another_has_taken(
    shared: tuple[Worker, Worker], tmp_path: Path
) -> None:
    frozen, other = shared
    scope = users.ensure_local_user(frozen.store.db)
    job = frozen.jobs.begin(scope, "drive")
    assert frozen.begun.wait(10)
    other.jobs.adopt()
    assert not other.begun.is_set()  # its process is among the others
    leases.unscoped_leave(frozen.store.db, frozen.id)
    other.jobs.adopt()
    assert other.begun.wait(10)
    leases.unscoped_enter(frozen.store.db, Holder(frozen.id, VERSION, 3))
    frozen.jobs.adopt()
    assert frozen.dropped.wait(10)
    wait_until(lambda: jobs.unscoped_held(other.store.db, other.id) == {job.id})
    assert other.jobs.get(scope, job.id).under_way
    other.done.set()
    wait_until(lambda: other.jobs.get(scope, job.id).state == "done")


def test_of_two_processes_one_takes_a_job_and_of_those_that_were_never_known_none_does(
    shared: tuple[Worker, Worker],
) -> None:
    first, second = shared
    scope = users.ensure_local_user(first.store.db)
    for holder in ("gone-1.c", "0123456789ab"):
        jobs.begin(first.store.db, scope, "drive", "working", 0, {}, holder)
    threads = [threading.Thread(target=worker.jobs.adopt) for worker in shared]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held = [jobs.unscoped_held(first.store.db, worker.id) for worker in (first, second)]
    assert sorted(len(some) for some in held) == [0, 1]
    assert len(jobs.unscoped_held(first.store.db, "0123456789ab")) == 1


def test_what_began_before_its_process_had_an_id_goes_on_and_is_known_by_the_id(
    shared: tuple[Worker, Worker],
) -> None:
    early, other = shared
    scope, name = users.ensure_local_user(early.store.db), early.id
    early.id = ""
    job = early.jobs.begin(scope, "drive")
    assert early.begun.wait(10)
    early.id = name
    early.jobs.adopt()
    assert jobs.unscoped_held(early.store.db, name) == {job.id}
    assert not early.dropped.wait(0.2)
    leases.unscoped_leave(early.store.db, name)
    other.jobs.adopt()
    assert other.begun.wait(10)


def test_a_process_that_starts_leaves_others_their_jobs_however_long_a_file_takes(
    shared: tuple[Worker, Worker],
) -> None:
    """Or however far behind the clock of their machine is."""
    busy, other = shared
    scope = users.ensure_local_user(busy.store.db)
    job = busy.jobs.begin(scope, "drive")
    assert busy.begun.wait(10)
    beat(busy, job.id, 20)
    third = Worker("three-1.c", other.store, other.library)
    third.enter()
    busy.jobs.adopt()
    assert jobs.unscoped_held(busy.store.db, busy.id) == {job.id}
    assert not third.begun.is_set()
    assert not busy.dropped.is_set()


def test_a_job_that_was_taken_up_while_the_database_fell_over_is_gone_on_with(
    shared: tuple[Worker, Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, other = shared
    scope = users.ensure_local_user(gone.store.db)
    job = gone.jobs.begin(scope, "drive")
    assert gone.begun.wait(10)
    leases.unscoped_leave(gone.store.db, gone.id)

    def away(_scope: Scope, _job_id: str) -> None:
        raise StoreAwayError("The connection to the database was lost.")

    with monkeypatch.context() as patch:
        patch.setattr(other.jobs, "_resume", away)
        other.jobs.adopt()
    assert jobs.unscoped_held(other.store.db, other.id) == {job.id}
    other.jobs.adopt()
    assert other.begun.wait(10)


def test_a_fault_under_one_job_keeps_no_other_from_being_gone_on_with(
    shared: tuple[Worker, Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, other = shared
    scope = users.ensure_local_user(gone.store.db)
    faulty, whole = (gone.jobs.begin(scope, "drive").id for _ in range(2))
    leases.unscoped_leave(gone.store.db, gone.id)
    resume = other.jobs._resume

    def fail(scope: Scope, job_id: str) -> None:
        if job_id == faulty:
            raise RuntimeError("A fault of Leaf, or of a library.")
        resume(scope, job_id)

    with monkeypatch.context() as patch:
        patch.setattr(other.jobs, "_resume", fail)
        other.jobs.adopt()
    assert {*other.jobs._live} == {whole}
    other.jobs.adopt()
    assert {*other.jobs._live} == {faulty, whole}


@pytest.mark.parametrize(("minutes", "taken"), [(20, True), (5, False)])
def test_a_job_of_a_process_without_an_id_is_taken_up_once_nothing_has_happened_for_long(
    shared: tuple[Worker, Worker], minutes: int, taken: bool
) -> None:
    gone, other = shared
    scope = users.ensure_local_user(gone.store.db)
    job = jobs.begin(gone.store.db, scope, "drive", "working", 0, {}, "nameless")
    beat(gone, job.id, minutes)
    third = Worker("three-1.c", other.store, other.library)
    third.enter()
    assert (jobs.unscoped_held(other.store.db, third.id) == {job.id}) == taken
    third.done.set()
    third.jobs.close()


def beat(worker: Worker, job_id: str, minutes: int) -> None:
    """Something has happened at a job so many minutes ago."""
    with worker.store.db.transaction() as tx:
        tx.execute(
            f"UPDATE jobs SET beat_at = now() - INTERVAL '{minutes} minutes' WHERE id = :id",
            {"id": job_id},
        )


def test_a_process_that_lost_a_job_does_not_say_how_it_ended(
    shared: tuple[Worker, Worker],
) -> None:
    """One that was frozen finds its connections cut, and fails at once."""
    woken, other = shared
    scope = users.ensure_local_user(woken.store.db)
    woken.fails = True
    job = woken.jobs.begin(scope, "drive")
    assert woken.begun.wait(10)
    leases.unscoped_leave(woken.store.db, woken.id)
    other.jobs.adopt()
    assert other.begun.wait(10)
    woken.done.set()
    wait_until(lambda: not woken.jobs._live)
    assert other.jobs.get(scope, job.id).state == "working"
    other.done.set()
    wait_until(lambda: other.jobs.get(scope, job.id).state == "done")


def test_a_job_that_is_stopped_from_another_process_ends_where_it_is_worked_on(
    postgres_url: str, tmp_path: Path
) -> None:
    begun, dropped = threading.Event(), threading.Event()

    def work(_scope: Scope, _job: Job, watch: Watch) -> None:
        begun.set()
        if watch.stop.wait(30):
            dropped.set()
            raise RunError("Stopped.")

    with opened(tmp_path / "one", database_url=postgres_url) as leaf:
        leaf.launch()
        leaf._house.jobs._works = {**leaf._house.jobs._works, "drive": work}
        job = leaf._house.jobs.begin(leaf.local_scope(), "drive")
        assert begun.wait(20)
        here = {"LEAF_HOME": str(tmp_path / "two"), "LEAF_DATABASE_URL": postgres_url}
        command = [sys.executable, "-m", "leaf", "files", "stop", job.id]
        ended = forked_programs.run(
            command, capture_output=True, text=True, env={**os.environ, **here}, check=False
        )
        assert ended.returncode == 0, ended.stderr
        assert dropped.wait(10)
        assert leaf.session(leaf.local_scope()).jobs.get(job.id).state == "stopped"

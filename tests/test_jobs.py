"""Jobs that add files: counted, stopped, resumed after a kill, and nothing added twice."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from leaf.errors import NotFoundError, RunError
from leaf.jobs.places import Place, Places
from leaf.jobs.work import Watch
from leaf.sessions.session import Session
from leaf.store import Store, jobs
from leaf.store.jobs import Became, Job, State, outcome_line, progress_line
from leaf.store.model import Scope
from tests import forked_programs
from tests.drive_kit import leaf_beside
from tests.drive_server import ANA, FOLDER, DriveServer
from tests.leaf_kit import add, opened

ADD = """
import sys, threading
from pathlib import Path
from leaf.settings import Settings
from leaf.wiring import build

leaf = build(Settings(home=Path(sys.argv[1])))
jobs = leaf.session(leaf.local_scope()).jobs
paths = sorted(Path(sys.argv[2]).iterdir())
job = jobs.begin(len(paths))
jobs.take_paths(job.id, paths)
jobs.all_arrived(job.id)
while (job := jobs.wait(job.id, 0.05)).under_way:
    print(job.done, flush=True)
print("over", flush=True)
"""


IMPORT = """
import pickle, sys
from pathlib import Path
from leaf.settings import Settings
from leaf.wiring import build

leaf = build(Settings(home=Path(sys.argv[1]), google=pickle.loads(Path(sys.argv[2]).read_bytes())))
jobs = leaf.session(leaf.local_scope()).jobs
job = jobs.begin_drive([sys.argv[3]])
while (job := jobs.wait(job.id, 0.05)).under_way:
    print(job.done, flush=True)
print("over", flush=True)
"""


def made(folder: Path, count: int) -> list[Path]:
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:04d}.csv").write_text(f"id,value\n{number},1\n")
    return sorted(folder.iterdir())


def added(session: Session, paths: list[Path], target: str = "") -> Job:
    """A job with all of them, once it is over."""
    job = session.jobs.begin(len(paths), target=target)
    session.jobs.take_paths(job.id, paths)
    session.jobs.all_arrived(job.id)
    return session.jobs.wait(job.id, 120)


def test_a_job_counts_what_became_of_each_file(tmp_path: Path) -> None:
    folder = tmp_path / "given"
    made(folder, 3)
    (folder / "again.csv").write_bytes((folder / "0000.csv").read_bytes())
    (folder / "broken.xlsx").write_bytes(b"PK\x03\x04 nothing")
    (folder / "huge.txt").write_bytes(b"x" * 2_000_000)
    with opened(tmp_path / "home", max_upload_bytes=1_000_000) as leaf:
        session = leaf.session(leaf.local_scope())
        session.files.add_path(folder / "0001.csv")
        job = added(session, [*sorted(folder.iterdir()), folder / "absent.csv"])
        assert (job.state, job.total, job.done, job.failed) == ("done", 7, 7, 3)
        states = {item.name: item.state for item in session.jobs.outcomes(job.id)}
        assert states == {
            "0000.csv": "added",
            "0001.csv": "known",
            "0002.csv": "added",
            "again.csv": "added",
            "broken.xlsx": "unreadable",
            "huge.txt": "failed",
            "absent.csv": "failed",
        }
        problems = {
            item.name: item.problem for item in session.jobs.outcomes(job.id) if item.problem
        }
        assert "add it again" in problems["broken.xlsx"]
        assert "Split it" in problems["huge.txt"]
        assert "absent.csv" in problems["absent.csv"]
        assert len(session.files.list()) == 5
        assert outcome_line(job) == "4 of 7 files are there; 3 failed."


def test_progress_is_said_in_files_and_percent() -> None:
    job = Job("1", "files", "working", 1_400, {}, {}, "", None, None, None, 1_400, 412, 3)  # type: ignore[arg-type]
    assert progress_line(job) == "412 of 1,400 files, 29 %; 3 failed"
    assert progress_line(replace(job, looked=1_500)) == "1,400 of 1,400 files, 100 %; 3 failed"
    assert job.share == pytest.approx(412 / 1_400)
    assert replace(job, total=0).share == 0.0
    assert replace(job, state="stopped").share == 1.0, "a bar that stays would look like work"


@pytest.mark.parametrize(
    ("state", "total", "done", "entered"),
    [
        ("arriving", 3, 3, False),
        ("working", 0, 0, False),
        ("working", 3, 2, False),
        ("working", 3, 3, True),  # large tables are still read ahead
        ("done", 3, 3, True),
        ("stopped", 3, 1, True),
    ],
)
def test_all_of_a_job_is_in_the_library_before_it_is_over(
    state: State, total: int, done: int, entered: bool
) -> None:
    job = Job("1", "files", state, total, {}, {}, "", None, None, None, total, done)  # type: ignore[arg-type]
    assert job.entered is entered


def test_a_job_grows_by_what_is_announced_and_is_held_by_its_process(
    store: Store, scope: Scope
) -> None:
    job = jobs.begin(store.db, scope, "files", "arriving", 0, {"announced": True}, "here")
    for names in ("abc", "de"):
        items = [(f"{name}.csv", {}, "") for name in names]
        jobs.append(store.db, scope, job.id, items, state="coming")
    found = jobs.get(store.db, scope, job.id)
    assert (found.total, found.coming) == (5, 5)
    jobs.mark(store.db, job.id, [Became(number, "waiting") for number in range(5)])
    assert [item.name for item in jobs.waiting(store.db, job.id, 9)] == [
        f"{name}.csv" for name in "abcde"
    ]
    assert jobs.unscoped_held(store.db, "here") == {job.id}
    assert jobs.unscoped_held(store.db, "there") == frozenset()
    jobs.end(store.db, job.id, "stopped")
    assert jobs.unscoped_held(store.db, "here") == frozenset()


def test_files_go_beside_the_question_of_a_chat_and_of_a_new_one(tmp_path: Path) -> None:
    paths = made(tmp_path / "given", 2)
    with opened(tmp_path / "home") as leaf:
        scope = leaf.local_scope()
        session = leaf.session(scope)
        chat = session.chats.create()
        added(session, paths, target=chat.id)
        job = added(session, paths, target="new")
        for chat_id in (chat.id, job.outcome["chat"]):
            assert [c.file.name for c in leaf._house.library.chat_files(scope, chat_id)] == [
                "0000.csv",
                "0001.csv",
            ]
        with pytest.raises(NotFoundError):
            session.jobs.begin(1, target="no-such-chat")


def killed_on_its_way(program: str, *arguments: object) -> None:
    """Run a program that prints how many files it has added, and kill it after the first."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    process = forked_programs.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        assert line.strip() != "over", "it was over before it could be killed"
        if int(line) > 0:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def gone_on_with(leaf: Leaf, count: int) -> tuple[Session, Job]:
    """The only job, which was under way, once it is over: all files are there."""
    session = leaf.session(leaf.local_scope())
    (before,) = session.jobs.list()
    assert 0 < before.done < count
    leaf._house.jobs.launch()
    job = session.jobs.wait(before.id, 240)
    assert (job.state, job.done, job.failed) == ("done", count, 0)
    return session, job


def test_a_killed_process_is_gone_on_with_and_nothing_is_added_twice(tmp_path: Path) -> None:
    count = 200
    paths = made(tmp_path / "given", count)
    killed_on_its_way(ADD, tmp_path / "home", tmp_path / "given")
    with opened(tmp_path / "home") as leaf:
        session, job = gone_on_with(leaf, count)
        assert sorted(file.name for file in session.files.list()) == [path.name for path in paths]
        assert {item.state for item in session.jobs.outcomes(job.id)} == {"added"}


def test_an_import_from_drive_that_is_killed_is_gone_on_with_and_nothing_is_there_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    count = 90
    with DriveServer() as google:
        folder = google.add("Top", FOLDER, google.root(ANA))
        for number in range(count):
            google.add(f"{number:04d}.csv", "text/csv", folder, f"id,value\n{number},1\n".encode())
        with leaf_beside(google, tmp_path / "home"):
            pass
        given = tmp_path / "google"
        given.write_bytes(pickle.dumps(google.settings()))
        killed_on_its_way(IMPORT, tmp_path / "home", given, folder)
        with opened(tmp_path / "home", google=google.settings()) as leaf:
            session, _ = gone_on_with(leaf, count)
            assert sorted(file.name for file in session.files.list()) == [
                f"Top/{number:04d}.csv" for number in range(count)
            ]
            assert [file for file in session.files.list() if file.outline.get("error")] == []


def test_a_process_that_is_killed_while_files_arrive_says_which_are_missing(tmp_path: Path) -> None:
    paths = made(tmp_path / "given", 4)
    with opened(tmp_path / "home") as leaf:
        scope = leaf.local_scope()
        job = leaf.session(scope).jobs.begin(4)
        leaf.session(scope).jobs.take_paths(job.id, paths[:2])
    with opened(tmp_path / "home") as leaf:
        leaf._house.jobs.launch()
        job = leaf.session(scope).jobs.wait(job.id, 60)
        assert (job.state, job.total, job.done) == ("done", 2, 2)
        assert "2 of 4 had arrived" in job.problem
        assert added(leaf.session(scope), paths).done == 4
        assert len(leaf.session(scope).files.list()) == 4


def test_a_stopped_job_keeps_what_came_and_goes_on_when_asked(tmp_path: Path) -> None:
    paths = made(tmp_path / "given", 2)
    with opened(tmp_path / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        job = session.jobs.begin(2)
        session.jobs.take_paths(job.id, paths[:1])
        while session.jobs.get(job.id).done < 1:
            session.jobs.wait(job.id, 0.1)
        assert session.jobs.stop(job.id).state == "stopped"
        with pytest.raises(RunError):
            session.jobs.take_paths(job.id, paths[1:])
        assert [file.name for file in session.files.list()] == ["0000.csv"]
        session.jobs.go_on(job.id)
        assert session.jobs.wait(job.id, 60).state == "done"
        session.jobs.forget(job.id)
        assert session.jobs.list() == []
        assert len(session.files.list()) == 1


class Held:
    """The work of files, that begins at once and does not end before it may."""

    def __init__(self, leaf: Leaf) -> None:
        self._works = leaf._house.jobs._works
        self._work = self._works["files"]
        self.ends = threading.Event()
        self.began: list[str] = []
        leaf._house.jobs._works = {**self._works, "files": self}

    def __call__(self, scope: Scope, job: Job, watch: Watch) -> None:
        self.began.append(job.id)
        try:
            self._work(scope, job, watch)
        finally:
            self.ends.wait(60)


def test_a_job_that_goes_on_while_it_still_ends_is_gone_on_with(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as leaf:
        held = Held(leaf)
        session = leaf.session(leaf.local_scope())
        job = session.jobs.announce([("a.csv", 8), ("b.csv", 8)])
        session.jobs.expect(job.id, 0)
        session.jobs.receive(job.id, 0, BytesIO(b"a,b\n1,2\n"))
        session.jobs.fail(job.id, 1, "The line was cut.")
        while not held.began or session.jobs.get(job.id).done < 2:
            session.jobs.wait(job.id, 0.1)
        assert session.jobs.stop(job.id).state == "stopped"
        session.jobs.expect(job.id, 1)
        session.jobs.receive(job.id, 1, BytesIO(b"a,b\n3,4\n"))
        assert held.began == [job.id]
        held.ends.set()
        assert session.jobs.wait(job.id, 60).state == "done"
        assert sorted(file.name for file in session.files.list()) == ["a.csv", "b.csv"]


def test_a_job_that_goes_on_in_two_tabs_is_worked_on_once(tmp_path: Path) -> None:
    paths = made(tmp_path / "given", 20)
    with opened(tmp_path / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        job = session.jobs.begin(20)
        session.jobs.take_paths(job.id, paths)
        session.jobs.stop(job.id)
        while leaf._house.jobs._live:
            time.sleep(0.02)
        held = Held(leaf)
        tabs = [threading.Thread(target=session.jobs.go_on, args=(job.id,)) for _ in range(4)]
        for tab in tabs:
            tab.start()
        for tab in tabs:
            tab.join()
        while session.jobs.get(job.id).done < 20:
            session.jobs.wait(job.id, 0.1)
        assert held.began == [job.id]
        assert {item.state for item in session.jobs.outcomes(job.id)} == {"added"}
        held.ends.set()
        assert session.jobs.wait(job.id, 60).state == "done"
        session.jobs.go_on(job.id)
        assert session.jobs.get(job.id).state == "done"
        assert held.began == [job.id]


def test_a_job_is_gone_on_with_also_where_the_clock_was_set_back(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        job = session.jobs.announce([("a.csv", 8)])
        later = datetime.now(UTC) + timedelta(hours=2)
    with opened(tmp_path / "home") as leaf:
        with leaf._house.store.db.transaction(leaf.local_scope()) as tx:
            given = {"at": later, "id": job.id}
            tx.execute("UPDATE jobs SET beat_at = :at WHERE id = :id", given)
        leaf._house.jobs.launch()
        assert leaf.session(leaf.local_scope()).jobs.wait(job.id, 60).state == "done"


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"a,b\n9,9\n"], ids=["new", "known"])
def test_a_file_that_is_cancelled_while_it_is_looked_at_does_not_come(
    tmp_path: Path, content: bytes
) -> None:
    with opened(tmp_path / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        known = add(session, "wanted not.csv", b"a,b\n9,9\n")
        chat = session.chats.create()
        looked_at, may_end = threading.Event(), threading.Event()
        arrivals = leaf._house.library._arrivals
        look = arrivals._look

        def waits(*given: Any, **more: Any) -> Any:
            looked_at.set()
            may_end.wait(60)
            return look(*given, **more)

        arrivals._look = waits  # type: ignore[method-assign]
        job = session.jobs.announce([("wanted not.csv", 8), ("wanted.csv", 8)], target=chat.id)
        for position, sent in enumerate((content, b"a,b\n3,4\n")):
            session.jobs.expect(job.id, position)
            session.jobs.receive(job.id, position, BytesIO(sent))
            looked_at.wait(60)
        session.jobs.cancel(job.id, 0)
        may_end.set()
        assert session.jobs.wait(job.id, 60).state == "done"
        assert [p.item.state for p in session.jobs.shown(job.id)] == ["cancelled", "added"]
        assert [one.file.name for one in session.attached.list(chat.id)] == ["wanted.csv"]
        assert {file.name for file in session.files.list()} == {known.name, "wanted.csv"}


@pytest.mark.parametrize("others", [0, 1])
def test_a_line_that_is_found_cut_while_the_file_comes_again_loses_nothing(
    tmp_path: Path, others: int
) -> None:
    """The browser sends it again at once; the server learns much later that the first line is dead."""
    with opened(tmp_path / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        job = session.jobs.announce([("a.csv", 8)] + [("b.csv", 8)] * others)
        session.jobs.expect(job.id, 0)
        session.jobs.expect(job.id, 0)
        session.jobs.fail(job.id, 0, "The connection broke.")
        if not others:
            assert not session.jobs.wait(job.id, 60).under_way
        session.jobs.receive(job.id, 0, BytesIO(b"a,b\n1,2\n"))
        for position in range(1, 1 + others):
            session.jobs.expect(job.id, position)
            session.jobs.receive(job.id, position, BytesIO(b"a,b\n3,4\n"))
        assert session.jobs.wait(job.id, 60).state == "done"
        assert [p.item.state for p in session.jobs.shown(job.id)] == ["added"] * (1 + others)


def test_an_archive_that_is_deleted_while_another_is_unpacked_ends_no_job(tmp_path: Path) -> None:
    def archive(name: str) -> bytes:
        out = BytesIO()
        with zipfile.ZipFile(out, "w") as made:
            made.writestr(name, f"a,b\n1,{name}\n")
        return out.getvalue()

    with opened(tmp_path / "home") as leaf:
        session, library = leaf.session(leaf.local_scope()), leaf._house.library
        unpack = library.unpack

        def deletes_the_next(*given: Any, **more: Any) -> Any:
            for file in session.files.list():
                if file.name == "2.zip":
                    session.files.delete(file.id)
            return unpack(*given, **more)

        library.unpack = deletes_the_next  # type: ignore[method-assign]
        job = session.jobs.announce([(f"{n}.zip", 1) for n in (1, 2, 3)])
        for position in range(3):
            session.jobs.expect(job.id, position)
            session.jobs.receive(job.id, position, BytesIO(archive(f"{position + 1}.csv")))
        assert session.jobs.wait(job.id, 60).state == "done"
        assert {file.name for file in session.files.list()} == {
            "1.zip",
            "1.zip/1.csv",
            "3.zip",
            "3.zip/3.csv",
        }


def test_what_another_tab_wants_too_stays_when_one_does_without_it(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        first, second = session.chats.create(), session.chats.create()

        def sent(chat_id: str, *names: str) -> str:
            job = session.jobs.announce([(name, 8) for name in names], target=chat_id)
            for position, _ in enumerate(names):
                session.jobs.expect(job.id, position)
                session.jobs.receive(job.id, position, BytesIO(b"a,b\n1,2\n"))
            assert session.jobs.wait(job.id, 60).state == "done"
            return job.id

        def beside(chat_id: str) -> list[str]:
            return [one.file.name for one in session.attached.list(chat_id)]

        one = sent(first.id, "same.csv")
        sent(second.id, "same.csv")
        session.jobs.cancel(one, 0)
        assert (beside(first.id), beside(second.id)) == ([], ["same.csv"])
        twice = sent(first.id, "twice.csv", "twice.csv")
        session.jobs.cancel(twice, 0)
        assert beside(first.id) == ["twice.csv"]
        session.jobs.cancel(twice, 1)
        assert beside(first.id) == []
        alone = sent(first.id, "alone.csv")
        session.jobs.cancel(alone, 0)
        assert {file.name for file in session.files.list()} == {"same.csv", "twice.csv"}


def test_a_job_is_seen_by_whoever_began_it_alone(tmp_path: Path) -> None:
    paths = made(tmp_path / "given", 1)
    with opened(tmp_path / "home") as leaf:
        scope = leaf.local_scope()
        job = added(leaf.session(scope), paths)
        stranger = Scope(scope.workspace_id, "somebody-else")
        assert leaf.session(stranger).jobs.list() == []
        jobs = leaf.session(stranger).jobs
        for ask in (jobs.get, jobs.outcomes, jobs.stop, jobs.forget, jobs.go_on):
            with pytest.raises(NotFoundError):
                ask(job.id)


def test_two_jobs_with_the_same_files_make_each_file_once(tmp_path: Path) -> None:
    paths = made(tmp_path / "given", 70)
    with opened(tmp_path / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        found: list[Job] = []
        threads = [
            threading.Thread(target=lambda: found.append(added(session, paths))) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [job.done for job in found] == [70, 70]
        assert len(session.files.list()) == 70


def test_a_job_whose_bytes_are_gone_says_so_of_that_file(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as leaf:
        scope = leaf.local_scope()
        session = leaf.session(scope)
        kept = leaf._house.library.keep(scope, "a.csv", BytesIO(b"a,b\n1,2\n"))
        leaf._house.store.blobs.delete(scope.workspace_id, kept.sha256)
        job = session.jobs.begin(1)
        given = {
            "sha256": kept.sha256,
            "size": kept.size,
            "source": "upload",
            "context": "",
            "shared": False,
        }
        jobs.append(leaf._house.store.db, scope, job.id, [("a.csv", given, "")])
        session.jobs.all_arrived(job.id)
        (became,) = session.jobs.outcomes(session.jobs.wait(job.id, 60).id)
        assert (became.state, "Add it again" in became.problem) == ("failed", True)
        assert session.files.list() == []


def test_announced_files_come_in_any_order_and_each_by_itself(tmp_path: Path) -> None:
    with opened(tmp_path / "home", max_upload_bytes=1_000_000) as leaf:
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        names = [("2024/north/sales.csv", 8), ("2023/north/sales.csv", 8), ("huge.csv", 2_000_000)]
        job = session.jobs.announce([*names, ("late.csv", 8), ("no.csv", 8)], target=chat.id)
        assert (job.total, job.coming, job.failed, job.state) == (5, 4, 1, "arriving")
        first = session.jobs.shown(job.id)[2].item
        assert (first.state, "Split it" in first.problem) == ("failed", True)
        told = session.jobs.expect(job.id, 1)
        told(5)
        assert session.jobs.shown(job.id)[1].sent == 5
        session.jobs.receive(job.id, 1, BytesIO(b"a,b\n3,4\n"))
        session.jobs.expect(job.id, 0)
        session.jobs.receive(job.id, 0, BytesIO(b"a,b\n1,2\n"))
        session.jobs.cancel(job.id, 4)
        with pytest.raises(RunError):
            session.jobs.expect(job.id, 4)
        session.jobs.expect(job.id, 3)
        session.jobs.fail(job.id, 3, "The connection broke.")
        job = session.jobs.wait(job.id, 60)
        assert (job.state, job.done, job.failed, job.cancelled) == ("done", 5, 2, 1)
        assert job.beside == 5
        assert outcome_line(job) == "2 of 5 files are there; 2 failed; 1 cancelled."
        assert sorted(one.file.name for one in session.attached.list(chat.id)) == [
            "2023/north/sales.csv",
            "2024/north/sales.csv",
        ]
        told = session.jobs.expect(job.id, 3)  # a job that is over takes what comes again
        session.jobs.receive(job.id, 3, BytesIO(b"a,b\n5,6\n"))
        job = session.jobs.wait(job.id, 60)
        assert (job.state, job.done, job.failed) == ("done", 5, 1)
        assert len(session.attached.list(chat.id)) == 3


def test_a_file_that_was_added_is_taken_back_and_one_that_was_left_out_stays_out(
    tmp_path: Path,
) -> None:
    with opened(tmp_path / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        job = session.jobs.announce([("a.csv", 8), ("b.csv", 8), ("c.csv", 8)], target=chat.id)
        for number in range(2):
            session.jobs.expect(job.id, number)
            session.jobs.receive(job.id, number, BytesIO(b"a,b\n%d,2\n" % number))
        while len(session.attached.list(chat.id)) < 2:
            session.jobs.wait(job.id, 0.1)
        left_out = next(c for c in session.attached.list(chat.id) if c.file.name == "a.csv")
        session.attached.remove(chat.id, left_out.file.id)
        session.jobs.cancel(job.id, 1)
        session.jobs.expect(job.id, 2)
        session.jobs.receive(job.id, 2, BytesIO(b"a,b\n9,2\n"))
        assert session.jobs.wait(job.id, 60).state == "done"
        assert [one.file.name for one in session.attached.list(chat.id)] == ["c.csv"]
        assert sorted(file.name for file in session.files.list()) == ["a.csv", "c.csv"]
        assert [file.name for file in session.files.deleted()] == ["b.csv"]


def test_of_announced_files_a_killed_process_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        job = session.jobs.announce([("a.csv", 8), ("b.csv", 8)], target=chat.id)
        session.jobs.expect(job.id, 0)
        session.jobs.receive(job.id, 0, BytesIO(b"a,b\n1,2\n"))
        session.jobs.expect(job.id, 1)
    with opened(tmp_path / "home") as leaf:
        leaf._house.jobs.launch()
        session = leaf.session(leaf.local_scope())
        job = session.jobs.wait(job.id, 60)
        assert (job.state, job.done, job.failed) == ("done", 2, 1)
        (kept,) = session.attached.list(chat.id)
        assert kept.file.name == "a.csv"
        (_, lost) = session.jobs.shown(job.id)
        assert "not here whole when Leaf was closed" in lost.item.problem
        session.jobs.expect(job.id, 1)
        session.jobs.receive(job.id, 1, BytesIO(b"a,b\n3,4\n"))
        assert session.jobs.wait(job.id, 60).failed == 0
        assert len(session.attached.list(chat.id)) == 2


def test_cancelling_all_keeps_what_is_there(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        job = session.jobs.announce([(f"{n}.csv", 8) for n in range(5)])
        session.jobs.expect(job.id, 0)
        session.jobs.receive(job.id, 0, BytesIO(b"a,b\n1,2\n"))
        while session.jobs.get(job.id).done < 1:
            session.jobs.wait(job.id, 0.1)
        job = session.jobs.cancel_all(job.id)
        assert (job.state, job.cancelled, job.coming) == ("stopped", 4, 0)
        assert [file.name for file in session.files.list()] == ["0.csv"]


def test_whoever_has_fewest_places_gets_the_next_and_waiting_for_files_needs_none() -> None:
    places, stop, order = Places(1), threading.Event(), list[str]()
    ann = Place(places, "ann")
    ann.take(stop)

    def wait(user: str) -> None:
        place = Place(places, user)
        place.take(stop)
        order.append(user)
        if user == "bob":
            done.wait(10)
        place.give()

    done = threading.Event()
    threads = [threading.Thread(target=wait, args=(user,)) for user in ("ann", "bob")]
    for thread in threads:
        thread.start()
        while not any(place.user == thread.name for place in places._waiting) and (
            len(places._waiting) < threads.index(thread) + 1
        ):
            thread.join(0.01)
    places._held["ann"] += 1  # another of hers is worked on
    ann.give()
    threads[1].join(0.5)
    assert order == ["bob"]
    done.set()
    for thread in threads:
        thread.join(10)
    assert order == ["bob", "ann"]
    waiting = Place(places, "cleo")
    places._free = 0
    stop.set()
    with pytest.raises(RunError):
        waiting.take(stop)
    assert places._waiting == []

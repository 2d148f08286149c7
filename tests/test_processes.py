"""Several processes over one PostgreSQL: each answer is written once, whoever dies, freezes or is
updated meanwhile."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from leaf.errors import StoreError
from leaf.runs.board import QueueLimits, RunBoard
from leaf.runs.engine import VERSION
from leaf.runs.presence import LeaseTimes, Presence
from leaf.runs.waiting import QueueEntry
from leaf.store import Store, fence, leases, messages, users
from leaf.store.changes import Change, Hub
from leaf.store.fence import Fence, FencedError
from leaf.store.leases import Holder
from leaf.store.model import Scope, Unfinished
from tests import forked_programs, postgres
from tests.app_process import ROOT
from tests.lease_process import PER_USER
from tests.messages_server import MessagesServer, Turn
from tests.runs_kit import MODEL, Desk, text_of, wait_for, wait_until

QUICK = LeaseTimes(beat=0.3, silence=1.5, stop=0.5)
PATIENT = LeaseTimes(beat=0.5, silence=60.0, stop=0.5)


class Process:
    """One of them."""

    def __init__(
        self, home: Path, url: str, model_url: str, times: LeaseTimes = QUICK, total: int = 20
    ) -> None:
        home.mkdir(exist_ok=True)
        self._log = (home / "log.txt").open("ab")
        numbers = [str(n) for n in (times.beat, times.silence, times.stop, total)]
        self.process = forked_programs.Popen(
            [sys.executable, "-m", "tests.lease_process", str(home), url, model_url, *numbers],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def say(self, line: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.hear()

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def signal(self, how: signal.Signals) -> None:
        self.process.send_signal(how)

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()
        self._log.close()


class Place:
    """The database that they share, and what they did there."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        self.processes: list[Process] = []
        self.asked: list[str] = []
        self.most = 0

    def start(
        self, number: int, model_url: str, times: LeaseTimes = QUICK, total: int = 20
    ) -> list[Process]:
        """So many at once, each with a folder of its own. The first makes the tables."""
        for _ in range(number):
            home = self.folder / f"home{len(self.processes)}"
            self.processes.append(Process(home, self.url, model_url, times, total))
            if len(self.processes) == 1:
                assert self.processes[0].hear(), (home / "log.txt").read_text()
        for process in self.processes[-number:]:
            if process is not self.processes[0]:
                assert process.hear()
        return self.processes

    def rows(self, sql: str, *given: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(sql, given).fetchall()

    def status(self, message_id: str) -> str:
        return str(self.rows("SELECT status FROM messages WHERE id = %s", message_id)[0][0])

    def statuses(self) -> list[str]:
        return [
            str(row[0]) for row in self.rows("SELECT status FROM messages WHERE role = 'assistant'")
        ]

    def text(self, message_id: str) -> str:
        parts = self.rows("SELECT parts FROM messages WHERE id = %s", message_id)[0][0]
        return "".join(part["text"] for part in parts if part["type"] == "text")

    def writing(self) -> int:
        """How many words are in the streams of running answers."""
        streams = " ".join(row[0] for row in self.rows("SELECT value FROM dbos.streams"))
        return len(re.findall(r"word\d", streams))


@pytest.fixture
def place(tmp_path: Path, postgres_url: str) -> Iterator[Place]:
    opened = Place(tmp_path, postgres_url)
    yield opened
    for process in opened.processes:
        process.close()


class SlowModel:
    """Answers `About N: …` to the question N, a word now and then, and counts."""

    def __init__(self, seconds: float = 1.5) -> None:
        self.asked: Counter[str] = Counter()
        self.seconds = seconds

    def __call__(self, body: dict[str, Any]) -> Turn:
        question = re.findall(r"question-\d+", str(body["messages"]))[-1]
        self.asked[question] += 1
        return Turn.say(text_for(question), pieces=30, delay=self.seconds / 30)


def text_for(question: str) -> str:
    return f"About {question}: " + " ".join(f"word{i}" for i in range(60)) + "."


def all_over(place: Place) -> bool:
    return not {"pending", "streaming"} & set(place.statuses())


def test_a_killed_processs_answers_are_gone_on_with_by_another_each_once(place: Place) -> None:
    model = SlowModel()
    with MessagesServer(model) as server:
        first, second, third = place.start(3, server.url)
        asked = {
            process.say(f"ask question-{i}"): f"question-{i}"
            for i, process in enumerate([first, second, third])
        }
        wait_until(lambda: place.statuses().count("streaming") == 3 and place.writing() > 3)
        first.signal(signal.SIGKILL)
        wait_until(lambda: all_over(place))
        for message_id, question in asked.items():
            assert place.status(message_id) == "completed"
            assert place.text(message_id) == text_for(question)
        assert sum(model.asked.values()) <= 4  # at most one is asked again
        assert model.asked["question-1"] == model.asked["question-2"] == 1
    assert place.rows("SELECT * FROM run_leases") == []
    assert len(place.rows("SELECT * FROM processes")) == 2


def test_a_frozen_process_that_wakes_writes_nothing_twice_and_goes_on_with_what_is_new(
    place: Place,
) -> None:
    model = SlowModel()
    with MessagesServer(model) as server:
        frozen, other = place.start(2, server.url)
        asked = frozen.say("ask question-1")
        wait_until(lambda: place.writing() > 3)
        frozen.signal(signal.SIGSTOP)
        wait_until(lambda: place.status(asked) == "completed")
        before = _everything(place)
        frozen.signal(signal.SIGCONT)
        again = frozen.say("ask question-2")
        wait_until(lambda: place.status(again) == "completed")
        assert place.text(asked) == text_for("question-1")
        assert place.text(again) == text_for("question-2")
        assert model.asked == {"question-1": 2, "question-2": 1}
        after = _everything(place)
        for name, rows in before.items():
            assert set(rows) <= set(after[name])
        of_first = [row for row in after["usage_steps"] if asked in row]
        assert len(of_first) == len([row for row in before["usage_steps"] if asked in row])
    assert other.process.poll() is None
    assert frozen.process.poll() is None


def _everything(place: Place) -> dict[str, list[str]]:
    """What the answers left, row by row as text."""
    found = {
        name: place.rows(f"SELECT CAST(t AS TEXT) FROM {name} t")
        for name in ("usage_steps", "results", "documents", "cells", "dbos.operation_outputs")
    }
    found["messages"] = place.rows(
        "SELECT CAST(m AS TEXT) FROM messages m WHERE status = 'completed'"
    )
    return {name: [str(row[0]) for row in rows] for name, rows in found.items()}


def test_stop_ends_an_answer_of_a_dead_process_at_once_and_frees_its_chat(place: Place) -> None:
    with MessagesServer(SlowModel(seconds=20)) as server:
        first, second = place.start(2, server.url, PATIENT)
        asked = first.say("ask question-1")
        wait_until(lambda: "word" in str(place.rows("SELECT value FROM dbos.streams")))
        first.signal(signal.SIGKILL)
        pressed = time.monotonic()
        assert second.say(f"stop {asked}") == "done"
        wait_until(lambda: place.status(asked) == "stopped")
        assert time.monotonic() - pressed < 5  # long before anybody knows that it is dead
        assert place.text(asked).startswith("About question-1: word0")
    assert place.rows("SELECT * FROM run_leases") == []


def test_stop_reaches_a_living_process_without_waiting_for_a_look(place: Place) -> None:
    with MessagesServer(SlowModel(seconds=20)) as server:
        first, second = place.start(2, server.url, LeaseTimes(beat=30.0, silence=90.0, stop=30.0))
        asked = first.say("ask question-1")
        wait_until(lambda: "word" in str(place.rows("SELECT value FROM dbos.streams")))
        pressed = time.monotonic()
        second.say(f"stop {asked}")
        wait_until(lambda: place.status(asked) == "stopped")
        assert time.monotonic() - pressed < 5


def test_two_processes_together_write_no_more_for_one_person_than_one_may(place: Place) -> None:
    model = SlowModel(seconds=0.6)
    with MessagesServer(model) as server:
        processes = place.start(2, server.url)
        for i in range(8):
            processes[i % 2].say(f"ask question-{i}")
        most = 0

        def over() -> bool:
            nonlocal most
            statuses = place.statuses()
            most = max(most, statuses.count("streaming"))
            return set(statuses) == {"completed"}

        wait_until(over)
        assert most == PER_USER
        assert sum(model.asked.values()) == 8


def test_a_process_that_is_told_to_end_hands_its_answers_over(place: Place) -> None:
    model = SlowModel(seconds=3)
    with MessagesServer(model) as server:
        first, _ = place.start(2, server.url, PATIENT)
        asked = [first.say(f"ask question-{i}") for i in range(PER_USER + 1)]
        wait_until(lambda: place.statuses().count("streaming") == PER_USER and place.writing() > 3)
        told = time.monotonic()
        first.signal(signal.SIGTERM)
        first.process.wait(10)
        assert time.monotonic() - told < 10
        wait_until(lambda: all_over(place))
        assert [place.status(one) for one in asked] == ["completed"] * (PER_USER + 1)
        assert [place.text(one) for one in asked] == [
            text_for(f"question-{i}") for i in range(PER_USER + 1)
        ]
        assert max(model.asked.values()) <= 2
    assert len(place.rows("SELECT * FROM processes")) == 1


def test_the_next_start_goes_on_where_the_last_process_left_off(
    tmp_path: Path, postgres_url: str
) -> None:
    with MessagesServer(SlowModel()) as server:
        with Desk(tmp_path / "one", server.url, database_url=postgres_url) as desk:
            asked = desk.ask("question-1")
            wait_until(lambda: len(desk.shown(asked.id, "text-delta")) > 2)
        with Desk(tmp_path / "two", server.url, database_url=postgres_url) as desk:
            desk.runs.launch()
            assert text_of(desk.end(asked.id)) == text_for("question-1")


def test_an_answer_of_another_version_is_left_to_those_that_can_go_on_with_it(
    tmp_path: Path, postgres_url: str
) -> None:
    older = Holder("older", "leaf-0", PER_USER)
    with (
        MessagesServer(SlowModel(seconds=0.2)) as server,
        Desk(tmp_path, server.url, database_url=postgres_url, times=QUICK) as desk,
    ):
        asked = desk.save("question-1")
        assert leases.claim(desk.db, desk.scope, asked.id, older) == "claimed"
        found = messages.unscoped_get(desk.db, asked.id)
        assert found is not None
        leases.unscoped_seize(desk.db, found, older)
        leases.unscoped_leave(desk.db, older.id)
        beside = Holder("beside", "leaf-0", PER_USER)
        leases.unscoped_enter(desk.db, beside)
        stays = threading.Event()

        def beat() -> None:
            while not stays.wait(0.2):
                leases.unscoped_beat(desk.db, beside.id, 60.0)

        beating = threading.Thread(target=beat)
        beating.start()
        desk.runs.launch()
        time.sleep(2 * QUICK.silence)
        assert desk.message(asked.id).status == "streaming"
        stays.set()
        beating.join()
        assert text_of(desk.end(asked.id)) == text_for("question-1")


def test_a_question_without_room_is_begun_by_another_process_that_has_it(place: Place) -> None:
    with MessagesServer(SlowModel(seconds=60)) as server:
        one, _ = place.start(2, server.url, PATIENT, total=1)
        one.say("ask question-1")
        wait_for(place.statuses, ["streaming"])
        one.say("ask question-2")
        wait_for(place.statuses, ["streaming"] * 2)
        holders = place.rows("SELECT DISTINCT process_id FROM run_leases")
        assert len(holders) == 2


def test_what_waits_for_room_alone_is_counted_once_over_all_processes(place: Place) -> None:
    """By this more Leafs are started: what a person's limit or a chat holds back they cannot help."""
    with MessagesServer(SlowModel(seconds=60)) as server:
        one, two = place.start(2, server.url, PATIENT, total=1)
        first = one.say("ask question-1")
        two.say("ask question-2")
        wait_for(place.statuses, ["streaming"] * 2)
        one.say(f"ask_after {first} question-3")  # waits for its chat
        wait_for(lambda: [one.say("load"), two.say("load")], ["1 0", "1 0"])
        two.say("ask question-4")  # the third for this person
        for number in range(5, 8):  # those after it wait for this person's others
            one.say(f"ask question-{number}")
        found = [process.say("load").split() for process in (one, two)]
        assert [waiting for waiting, _ in found] == ["5", "5"]
        assert sum(int(for_room) for _, for_room in found) == 1


def test_a_rename_elsewhere_is_known_and_read_within_a_second(place: Place) -> None:
    with MessagesServer(SlowModel(seconds=0.2)) as server:
        one, two = place.start(2, server.url, PATIENT)
        asked = one.say("ask question-1")
        wait_until(lambda: place.status(asked) == "completed")
        (chat_id,) = place.rows("SELECT chat_id FROM messages WHERE id = %s", asked)[0]
        late = []
        for number in range(5):
            assert two.say("changed 20") == "ready"
            renamed = float(one.say(f"rename {chat_id} Name {number}"))
            at, _, title = two.hear().partition(" ")
            assert title == f"Name {number}"
            late.append(float(at) - renamed)
        assert sorted(late)[2] < 1


def test_a_process_that_is_alone_counts_all_that_waits_for_room() -> None:
    board = RunBoard(Hub(), QueueLimits(per_user=2, total=1))
    people = [Scope("w", f"u{n}") for n in range(3)]
    board.remember(QueueEntry("m", "c", people[0]))
    for number, person in enumerate([people[0], people[0], people[1], people[2]]):
        board.wait(QueueEntry(f"m{number}", f"c{number}", person), asked=number == 2)
    assert board.for_room() == 3
    board.alone = False
    assert board.for_room() == 1
    assert board.for_room([QueueEntry(f"e{n}", f"d{n}", people[1]) for n in range(2)]) == 0


def test_others_are_told_once_of_a_question_that_only_room_is_missing_for() -> None:
    board = RunBoard(Hub(), QueueLimits(per_user=2, total=1))
    people = [Scope("w", f"u{n}") for n in range(2)]
    board.wait(QueueEntry("m", "c", people[0]), asked=True)
    board.alone = False
    assert not board.to_offer()  # there is room here
    board.remember(QueueEntry("m0", "c0", people[0]))
    board.wait(QueueEntry("m1", "c0", people[1]), asked=True)  # waits for its chat
    board.wait(QueueEntry("m2", "c2", people[1]))  # others have it already
    assert board.to_offer() == {"m"}
    board.wait(QueueEntry("m3", "c3", people[0]), asked=True)  # the third of this person
    board.wait(QueueEntry("m4", "c4", people[1]), asked=True)
    assert board.to_offer() == {"m4"}
    assert not board.to_offer()


def test_a_chat_that_was_left_alone_is_tried_at_once_when_others_tell_of_messages() -> None:
    board = RunBoard(Hub(), QueueLimits(per_user=2, total=1))
    person = Scope("w", "u")
    board.wait(QueueEntry("m", "c", person))
    board.leave_alone("c", 60)
    assert board.next() is None
    board.heard([Change("w", "files")])
    assert board.next() is None
    board.heard([Change("w", "messages")])
    assert (found := board.next()) is not None
    assert found.message_id == "m"
    board.leave_alone("c", 60, since=board.told - 1)  # told of meanwhile
    assert not board.busy_until


def test_a_process_that_cannot_look_takes_itself_for_one_of_several(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = LeaseTimes(beat=0.2, silence=60.0, stop=0.5)
    with (
        MessagesServer([]) as server,
        Desk(tmp_path, server.url, database_url=postgres_url, times=times) as desk,
    ):
        desk.runs.launch()
        wait_until(lambda: desk.runs.board.alone)

        def fail(_: Presence) -> bool:
            raise StoreError("The server is away.", "Wait.")

        monkeypatch.setattr(Presence, "_look", fail)
        leases.unscoped_enter(desk.db, Holder("beside", VERSION, PER_USER))
        wait_until(lambda: not desk.runs.board.alone)


def test_a_process_that_is_alone_and_idle_beats_no_more_until_others_come(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []
    look = Presence._look

    def counted(presence: Presence) -> bool:
        looks.append(time.monotonic())
        return look(presence)

    monkeypatch.setattr(Presence, "_look", counted)
    times = LeaseTimes(beat=0.1, silence=60.0, stop=0.5)
    with (
        MessagesServer([]) as server,
        Desk(tmp_path, server.url, database_url=postgres_url, times=times) as desk,
    ):
        desk.runs.launch()
        wait_until(lambda: desk.runs.board.alone)
        time.sleep(0.5)  # what was told at the start is heard
        before = len(looks)
        time.sleep(1.0)
        assert len(looks) <= before + 1
        leases.unscoped_enter(desk.db, Holder("beside", VERSION, PER_USER))
        wait_until(lambda: len(looks) > before + 5)


@pytest.mark.parametrize(
    ("off", "said"),
    [(320, "320 s ahead of the database"), (-90, "90 s behind the database"), (5, "")],
)
def test_a_clock_that_differs_from_the_database_servers_is_told_to_the_operator(
    postgres_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    off: float,
    said: str,
) -> None:
    monkeypatch.setattr(leases, "time", SimpleNamespace(time=lambda: time.time() + off))
    with (
        MessagesServer([]) as server,
        Desk(tmp_path, server.url, database_url=postgres_url) as desk,
    ):
        desk.runs.launch()
    told = [record.getMessage() for record in caplog.records if "clock" in record.getMessage()]
    assert len(told) == bool(said)
    assert said in " ".join(told)


def test_a_beat_of_the_heart_is_one_statement(tmp_path: Path) -> None:
    """Where several Leafs stand idle it is nearly all that they ask."""
    counted = ("shared_preload_libraries = 'pg_stat_statements'",)
    with postgres.server(30, counted) as address, MessagesServer([]) as server:
        url = postgres.fresh(address)
        times = LeaseTimes(beat=0.2, silence=60.0, stop=0.5)
        with (
            Desk(tmp_path, server.url, database_url=url, times=times) as desk,
            psycopg.connect(url, autocommit=True) as looking,
        ):
            looking.execute("CREATE EXTENSION pg_stat_statements")
            desk.runs.launch()
            leases.unscoped_enter(desk.db, Holder("beside", VERSION, PER_USER))
            wait_until(lambda: not desk.runs.board.alone)

            def calls(of: str) -> int:
                sql = (
                    "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query LIKE %s "
                    "AND query NOT LIKE '%%pg_stat%%'"
                )
                return int(looking.execute(sql, [of]).fetchall()[0][0])

            time.sleep(1)  # what the start still asks
            looking.execute("SELECT pg_stat_statements_reset()")
            wait_until(lambda: calls("%UPDATE processes SET beat_at%") > 10)
            beats = calls("%UPDATE processes SET beat_at%")
            assert calls("%") <= beats + 3


def test_a_question_whose_claim_was_kept_and_not_confirmed_is_answered(
    tmp_path: Path, postgres_url: str
) -> None:
    """As when the database falls over between the commit and its word of that."""
    with (
        MessagesServer(SlowModel(seconds=0.2)) as server,
        Desk(tmp_path, server.url, database_url=postgres_url, times=QUICK) as desk,
    ):
        desk.runs.launch()
        asked = desk.save("question-1")
        holder = desk.runs._dispatcher.holder
        assert leases.claim(desk.db, desk.scope, asked.id, holder) == "claimed"
        desk.runs._dispatcher.unsure.add(asked.id)
        desk.runs.start(desk.scope, asked)
        assert text_of(desk.end(asked.id)) == text_for("question-1")


# Leases


@pytest.fixture
def exchange(store: Store, scope: Scope) -> Callable[[], Unfinished]:
    def make() -> Unfinished:
        from leaf.store import chats

        chat = chats.create(store.db, scope, model=MODEL)
        answer = messages.add_exchange(store.db, scope, chat.id, [], model=MODEL).answer
        found = messages.unscoped_get(store.db, answer.id)
        assert found is not None
        return found

    return make


def on_postgres(store: Store) -> None:
    if store.db.engine != "postgres":
        pytest.skip("DuckDB has one process")


@pytest.mark.parametrize("settings", ["postgres"], indirect=True)
def test_what_a_run_writes_whose_lease_was_taken_is_not_kept(
    store: Store, scope: Scope, exchange: Callable[[], Unfinished]
) -> None:
    on_postgres(store)
    mine, other = Holder("mine", VERSION, 3), Holder("other", VERSION, 3)
    found = exchange()
    assert leases.claim(store.db, scope, found.message.id, mine) == "claimed"
    token = leases.unscoped_token(store.db, found.message.id, "mine")
    assert token is not None
    with fence.behind(Fence(found.message.id, token)), store.db.transaction(scope) as tx:
        tx.execute("UPDATE users SET name = 'Before' WHERE id = :id", {"id": scope.user_id})
    leases.unscoped_seize(store.db, found, other)
    with (
        pytest.raises(FencedError),
        fence.behind(Fence(found.message.id, token)),
        store.db.transaction(scope) as tx,
    ):
        tx.execute("UPDATE users SET name = 'After' WHERE id = :id", {"id": scope.user_id})
    assert users.ensure_local_user(store.db) == scope
    name = store.db.read("SELECT name FROM users WHERE id = :id", {"id": scope.user_id})[0]["name"]
    assert name == "Before"
    assert leases.unscoped_token(store.db, found.message.id, "mine") is None


@pytest.mark.parametrize("settings", ["postgres"], indirect=True)
def test_of_many_processes_one_takes_what_a_silent_one_left(
    store: Store, scope: Scope, exchange: Callable[[], Unfinished]
) -> None:
    on_postgres(store)
    found = [exchange() for _ in range(3)]
    for one in found:
        leases.claim(store.db, scope, one.message.id, Holder("dead", VERSION, 3))
    time.sleep(0.3)
    others = [Holder(f"p{i}", VERSION, 3) for i in range(4)]
    for other in others:
        leases.unscoped_enter(store.db, other)
    taken: list[tuple[str, str]] = []

    def take(holder: Holder) -> None:
        leases.unscoped_release_silent(store.db, holder.id, 0.2)
        for lease in leases.unscoped_mine(store.db, leases.NOBODY).values():
            if leases.unscoped_take(store.db, lease.message_id, holder):
                taken.append((holder.id, lease.message_id))

    threads = [threading.Thread(target=take, args=[other]) for other in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(message_id for _, message_id in taken) == sorted(f.message.id for f in found)
    standing = leases.unscoped_beat(store.db, "p0", 60.0)
    assert standing is not None
    assert (standing.others, standing.left) == (3, 0)
    assert leases.unscoped_beat(store.db, "dead", 60.0) is None


def test_a_person_has_no_more_answers_than_allowed_and_a_chat_keeps_its_order(
    store: Store, scope: Scope, exchange: Callable[[], Unfinished]
) -> None:
    holder = Holder("one", VERSION, 2)
    found = [exchange() for _ in range(3)]
    later = messages.add_exchange(store.db, scope, found[2].message.chat_id, [], model=MODEL)
    assert leases.claim(store.db, scope, later.answer.id, holder) == "busy"
    claimed = [leases.claim(store.db, scope, f.message.id, holder) for f in found]
    assert claimed == ["claimed", "claimed", "full"]
    messages.finish(
        store.db, scope, found[0].message.id, parts=[], raw=[], usage={}, status="completed"
    )
    assert leases.claim(store.db, scope, found[2].message.id, holder) == "claimed"


# What a tab asks that has not heard yet


def test_a_question_joins_the_branch_that_its_asker_saw(store: Store, scope: Scope) -> None:
    from leaf.store import chats

    chat = chats.create(store.db, scope, model=MODEL)

    def ask(**where: str) -> Any:
        return messages.add_exchange(store.db, scope, chat.id, [], model=MODEL, **where)

    first = ask()
    second = ask(seen=first.answer.id)
    assert second.question.parent_id == first.answer.id
    other = ask(parent_id=first.answer.id)  # another tab edits the second question
    third = ask(seen=second.answer.id)  # the first tab has not heard
    assert third.question.parent_id == second.answer.id
    assert chats.get(store.db, scope, chat.id).head_id == third.answer.id
    grown = ask(seen=second.answer.id)  # the same branch, only longer by now
    assert grown.question.parent_id == third.answer.id
    assert ask(seen=other.answer.id).question.parent_id == other.answer.id
    head = chats.get(store.db, scope, chat.id).head_id
    assert ask(seen="withdrawn meanwhile").question.parent_id == head

"""What a process among several takes up, leaves to others and lets go."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from leaf.agent.ends import STOPPED
from leaf.errors import StoreBusyError, StoreError
from leaf.runs import dispatch, presence
from leaf.runs.board import BUSY_SECONDS, ELSEWHERE, QueueLimits, ticket_of
from leaf.runs.dispatch import DAMAGED, FAILED_SECONDS
from leaf.runs.engine import MOST_ATTEMPTS, VERSION, Engine, Record
from leaf.runs.presence import BEGUN_SECONDS
from leaf.shapes.chunks import chunk
from leaf.store import chats, leases, messages
from leaf.store.changes import RUNS, Change
from leaf.store.leases import Holder
from leaf.store.model import Unfinished
from tests import one_process, postgres
from tests.one_process import TIMES, Here, Place
from tests.runs_kit import wait_until

OTHER = Holder("other-1.x", VERSION, 99)
OLDER = Holder("older-1.x", "leaf-0", 99)


@pytest.fixture(scope="module")
def databases(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Place]:
    url = postgres.fresh(request.getfixturevalue("postgres_server"))
    with one_process.opened(tmp_path_factory.mktemp("here"), url) as opened:
        yield opened


@pytest.fixture
def place(databases: Place) -> Iterator[Place]:
    databases.empty()
    databases.held.set()
    yield databases
    databases.held.set()


@pytest.fixture
def here(place: Place) -> Here:
    return Here(place)


def begun(place: Place, *those: Unfinished) -> bool:
    """Whether these were begun and no other, each once."""
    ids = sorted(found.message.id for found in those)
    wait_until(lambda: len(place.begun) >= len(ids))
    return sorted(place.begun) == ids


def away(*_: object, **__: object) -> Any:
    raise StoreBusyError("The database is away.", "Wait.")


# What is looked for


def test_what_waits_waits_here_as_well_and_what_nobody_writes_is_written_here(place: Place) -> None:
    visits: list[str] = []
    here = Here(place, others_changed=lambda: visits.append("told"))
    waits, left, theirs = place.asked(), place.left(), place.written(OTHER.id)
    here.presence.adopt()
    assert here.waits() == [waits.message.id]
    assert here.board.asked == set(), "it was asked of another"
    assert begun(place, left)
    assert {*here.board.live} == {left.message.id}
    assert [place.holder(f) for f in (waits, left, theirs)] == [None, here.id, OTHER.id]
    assert visits == ["told"]
    here.presence.adopt()
    assert begun(place, left), "it is written here by now"


def test_no_more_is_taken_up_than_there_is_room_for(place: Place) -> None:
    here = Here(place, QueueLimits(per_user=99, total=2))
    left = [place.left() for _ in range(3)]
    here.presence.adopt()
    assert begun(place, *left[:2])
    assert [place.holder(found) for found in left] == [here.id, here.id, ""]
    here.board.release(left[0].message.id)
    here.board.closed = True
    here.presence.adopt()
    assert place.holder(left[2]) == "", "a process that ends takes nothing up"


def test_what_is_left_of_an_answer_here_ends_before_it_is_taken_again(here: Here) -> None:
    here.writes(found := here.place.left())
    here.presence.adopt()
    assert here.place.holder(found) == ""
    assert here.place.begun == []


def test_leases_of_what_is_over_are_forgotten(here: Here) -> None:
    over = here.place.left()
    here.place.rows(f"UPDATE messages SET status = 'completed' WHERE id = '{over.message.id}'")
    here.presence.adopt()
    assert here.place.holder(over) is None
    assert here.place.begun == []


@pytest.mark.parametrize("stays", [True, False])
def test_an_answer_of_another_version_is_left_as_long_as_a_process_of_that_version_is_there(
    here: Here, stays: bool
) -> None:
    found = here.place.left(OLDER.version)
    own = here.place.left()
    if stays:
        leases.unscoped_enter(here.place.db, OLDER)
    here.presence.adopt()
    assert here.place.holder(found) == ("" if stays else here.id)
    assert here.place.holder(own) == here.id
    assert begun(here.place, *([own] if stays else [own, found]))


def test_an_answer_that_cannot_be_gone_on_with_now_is_owed_and_begun_again(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = here.place.left()
    monkeypatch.setattr(here.dispatcher, "go_on", away)
    here.presence.adopt()
    assert here.place.holder(found) == here.id
    assert here.board.live[found.message.id].again_at is not None
    [told] = here.board.runs[found.message.id].read().chunks
    assert told["type"] == "data-status"
    assert told["data"]["text"].startswith("The database is away.")


@pytest.mark.parametrize(
    ("record", "seconds", "taken"),
    [
        (None, 0, False),
        (None, BEGUN_SECONDS - 20, False),
        (None, BEGUN_SECONDS + 20, True),
        ("here", 0, True),
        ("elsewhere", BEGUN_SECONDS + 20, False),
    ],
)
def test_an_answer_without_a_lease_is_taken_where_its_record_is_or_once_nobody_begins_it(
    here: Here, record: str | None, seconds: float, taken: bool
) -> None:
    place = here.place
    found = place.of_before()
    place.age(found, seconds)
    if record:
        place.engine.begin(found.message.id)
        wait_until(lambda: (r := place.engine.record(found.message.id)) is not None and r.over)
        place.begun.clear()
    if record == "elsewhere":
        place.rows("UPDATE dbos.workflow_status SET executor_id = 'elsewhere-1.x'")
    here.presence.adopt()
    assert place.holder(found) == (here.id if taken else None)
    assert begun(place, *([found] if taken else []))


def test_an_answer_without_a_lease_has_the_version_of_its_record(here: Here) -> None:
    place = here.place
    found = place.of_before()
    place.engine.begin(found.message.id)
    wait_until(lambda: (r := place.engine.record(found.message.id)) is not None and r.over)
    place.rows(f"UPDATE dbos.workflow_status SET application_version = '{OLDER.version}'")
    leases.unscoped_enter(place.db, OLDER)
    here.presence.adopt()
    assert place.rows("SELECT process_id, version FROM run_leases") == [("", OLDER.version)]


def test_what_nobody_may_see_any_more_is_ended(here: Here) -> None:
    found = here.place.left()
    here.place.rows("DELETE FROM chat_participants")
    here.presence.adopt()
    assert here.place.rows("SELECT status FROM messages WHERE role = 'assistant'") == [("stopped",)]
    assert here.place.holder(found) is None


# A beat


def test_a_beat_stops_what_is_to_be_stopped_and_lets_go_what_another_has(here: Here) -> None:
    place = here.place
    goes_on, stops, taken = (here.writes() for _ in range(3))
    assert leases.unscoped_want_stop(place.db, stops, 60)
    leases.unscoped_seize(place.db, taken, OTHER)
    here.presence._look()
    runs = [here.board.runs[f.message.id] for f in (goes_on, stops, taken)]
    assert [run.stop_wanted for run in runs] == [False, True, False]
    assert [run.stop.is_set() for run in runs] == [False, True, True]
    assert [here.board.live[run.message_id].lost for run in runs] == [False, False, True]


def test_a_beat_tells_whether_there_are_others(here: Here) -> None:
    assert here.presence._look() is True
    leases.unscoped_enter(here.place.db, OTHER)
    assert here.presence._look() is False
    leases.unscoped_leave(here.place.db, OTHER.id)
    assert here.presence._look() is True


def test_who_was_taken_for_gone_comes_back_without_what_it_wrote(here: Here) -> None:
    found = here.writes()
    leases.unscoped_leave(here.place.db, here.id)
    assert here.presence._look() is False, "it may not be alone"
    assert here.place.processes() == {here.id}
    assert here.board.live[found.message.id].lost


def test_who_comes_late_to_a_beat_takes_nobody_for_gone(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, at = here.place, [1_000.0]
    clock = SimpleNamespace(monotonic=lambda: at[0], time=time.time)
    monkeypatch.setattr(presence, "time", clock)
    here.presence._look()
    found = place.written(OTHER.id)

    def silent() -> None:
        place.rows(
            f"UPDATE processes SET beat_at = now() - interval '31 seconds' WHERE id = '{OTHER.id}'"
        )

    silent()
    at[0] += 2 * TIMES.beat + 0.1
    here.presence._look()
    assert place.holder(found) == OTHER.id, "just woken, and the other may be as well"
    at[0] += 2 * TIMES.beat
    here.presence._look()
    assert place.holder(found) == here.id
    assert place.processes() == {here.id}
    assert begun(place, found)


def test_the_first_beat_takes_nobody_for_gone(here: Here) -> None:
    found = here.place.written(OTHER.id)
    here.place.rows(
        f"UPDATE processes SET beat_at = now() - interval '1 day' WHERE id = '{OTHER.id}'"
    )
    here.presence._look()
    assert here.place.holder(found) == OTHER.id


def test_a_process_that_is_silent_and_holds_nothing_is_forgotten(here: Here) -> None:
    here.presence._look()
    leases.unscoped_enter(here.place.db, OTHER)
    here.presence._look()
    assert here.place.processes() == {here.id, OTHER.id}
    here.place.rows(
        f"UPDATE processes SET beat_at = now() - interval '1 day' WHERE id = '{OTHER.id}'"
    )
    here.presence._look()
    assert here.place.processes() == {here.id}


def test_what_nobody_writes_is_taken_up_at_the_next_beat(here: Here) -> None:
    here.presence._look()
    found = here.place.left()
    here.presence._look()
    assert here.place.holder(found) == here.id


def test_one_looks_for_more_when_it_was_told_and_only_then(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits: list[str] = []
    here = Here(place, others_changed=lambda: visits.append("looked"))
    looks = here.presence._look
    looks()
    assert len(visits) == 1, "at the start"
    looks()
    assert len(visits) == 1
    here.presence.heard([Change("w", "messages")])
    looks()
    assert len(visits) == 1
    here.presence.heard([Change("w", "messages"), Change("*", RUNS)])
    with monkeypatch.context() as broken:
        broken.setattr(leases, "unscoped_beat", away)
        with pytest.raises(StoreError):
            looks()
    looks()
    assert len(visits) == 2, "that the database was away does not unsay it"
    with monkeypatch.context() as broken:
        broken.setattr(leases, "unscoped_beat", away)
        with pytest.raises(StoreError):
            looks()
    looks()
    assert len(visits) == 2


@pytest.mark.parametrize(
    ("alone", "topic", "wakes"),
    [(True, "messages", True), (False, "messages", False), (False, RUNS, True), (True, RUNS, True)],
)
def test_the_heart_is_woken_where_it_stands_still_or_something_is_to_be_done(
    here: Here, alone: bool, topic: str, wakes: bool
) -> None:
    assert not here.board.alone, "until one has looked"
    here.board.alone = alone
    here.presence.heard([Change("w", topic)])
    assert here.presence._news.is_set() == wakes


def test_others_are_told_what_answers_grew_by_where_there_are_any(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[list[str]] = []
    monkeypatch.setattr(here.place.db, "tell", told.append)
    here.presence.tell([])
    here.presence.tell(["one"])
    here.board.alone = True
    here.presence.tell(["two"])
    here.board.alone, here.board.closed = False, True
    here.presence.tell(["three"])
    assert told == [["one"]]
    here.board.closed = False
    found = here.writes()
    here.board.live[found.message.id].stream.add(chunk("text-start", id="1"))
    here.keeper._tell()
    here.keeper._tell()
    assert [[line.split(" ")[0] for line in lines] for lines in told[1:]] == [[found.message.id]]
    here.board.live[found.message.id].stream.add(chunk("text-end", id="1"))
    here.board.alone = True
    here.keeper._tell()
    assert len(told) == 2
    monkeypatch.setattr(here.place.db, "tell", away)
    here.board.alone = False
    here.presence.tell(["what they are not told they read"])


def test_a_start_takes_over_what_earlier_processes_in_its_place_held(here: Here) -> None:
    place = here.place
    (seat,) = place.engine.executors
    earlier, theirs, own = place.written(f"{seat}.before"), place.written(OTHER.id), here.writes()
    here.presence.enter()
    assert [place.holder(f) for f in (earlier, theirs, own)] == ["", OTHER.id, here.id]
    assert place.processes() == {here.id, OTHER.id}
    assert here.presence.holder == Holder(place.engine.process_id, VERSION, 99)


# A claim


def claims(here: Here, found: Unfinished) -> float:
    """Have a question's answer claimed that waits here; when that was."""
    here.board.wait(ticket_of(found), asked=True)
    began = time.monotonic()
    here.dispatcher._claim(ticket_of(found))
    return began


def test_a_question_whose_turn_it_is_is_claimed_and_begun(here: Here) -> None:
    found = here.place.asked()
    here.dispatcher.unsure.add(found.message.id)
    claims(here, found)
    assert begun(here.place, found)
    assert (here.waits(), {*here.board.live}) == ([], {found.message.id})
    assert here.place.holder(found) == here.id
    assert here.dispatcher.unsure == set()


@pytest.mark.parametrize("why", ["its chat", "its asker"])
def test_a_question_that_is_held_up_elsewhere_waits_for_a_while(here: Here, why: str) -> None:
    place = here.place
    chat = place.chat()
    first = place.asked(chat)
    leases.claim(place.db, first.scope, first.message.id, OTHER)
    found = place.asked(chat if why == "its chat" else None)
    here.dispatcher.holder = Holder(here.id, VERSION, 1 if why == "its asker" else 99)
    began = claims(here, found)
    one = chat.id if why == "its chat" else place.scope.user_id
    assert [*here.board.busy_until] == [one]
    assert BUSY_SECONDS <= here.board.busy_until[one] - began < BUSY_SECONDS + 10
    assert here.waits() == [found.message.id]
    assert place.begun == []


def test_what_was_told_while_one_tried_is_tried_again_at_once(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> str:
        here.board.heard([Change("w", "messages")])
        return "busy"

    monkeypatch.setattr(leases, "claim", busy)
    claims(here, here.place.asked())
    assert here.board.busy_until == {}


@pytest.mark.parametrize(
    ("unsure", "mine", "goes_on"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_a_question_that_was_begun_already_is_let_go_unless_that_was_here(
    here: Here, unsure: bool, mine: bool, goes_on: bool
) -> None:
    found = here.place.written(here.id if mine else OTHER.id)
    if unsure:
        here.dispatcher.unsure.add(found.message.id)
    claims(here, found)
    assert here.waits() == []
    assert here.dispatcher.unsure == set()
    assert begun(here.place, *([found] if goes_on else []))
    assert {*here.board.live} == {*here.board.runs} == ({found.message.id} if goes_on else set())


def test_a_process_that_has_its_history_alone_forgets_a_question_that_is_gone(here: Here) -> None:
    found = here.place.written(here.id)
    here.dispatcher.holder = None
    here.dispatcher.unsure.add(found.message.id)
    claims(here, found)
    assert (here.waits(), here.place.begun) == ([], [])
    assert not here.board.runs[found.message.id].read().done, "how it ended stands in the history"
    assert here.dispatcher.is_mine(found.message.id), "there is nobody else"


def test_a_question_that_could_not_be_claimed_is_left_for_moments(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = here.place.asked()
    monkeypatch.setattr(leases, "claim", away)
    monkeypatch.setattr(dispatch, "FAILED_SECONDS", FAILED_SECONDS + 100)
    thread = threading.Thread(target=here.dispatcher.dispatch)
    began = time.monotonic()
    here.board.wait(ticket_of(found), asked=True)
    thread.start()
    wait_until(lambda: bool(here.board.busy_until))
    assert here.dispatcher.unsure == {found.message.id}
    assert here.board.busy_until[found.message.chat_id] - began > 100
    assert here.waits() == [found.message.id]
    monkeypatch.undo()
    here.board.heard([Change("w", "messages")])
    wait_until(lambda: here.place.begun == [found.message.id])
    with here.board.news:
        here.board.closed = True
        here.board.news.notify_all()
    thread.join(10)
    assert not thread.is_alive()


# Going on


@pytest.mark.parametrize("what", ["mine", "theirs", "away"])
def test_what_was_left_for_a_while_is_begun_again_where_it_is_still_this_ones(
    here: Here, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, later = here.writes(), here.writes()
    run = here.board.runs[now.message.id]
    for one in (now, later):
        here.board.park(one.message.id, "No room.")
    here.board.live[now.message.id].again_at = 0.0
    if what == "theirs":
        leases.unscoped_seize(here.place.db, now, OTHER)
    if what == "away":
        monkeypatch.setattr(leases, "unscoped_token", away)
    here.keeper._begin_parked()
    assert begun(here.place, *([now] if what == "mine" else []))
    said = [c["data"]["text"] for c in run.read().chunks if c["type"] == "data-status"]
    assert said[1] == "", "what was said is over"
    if what == "theirs":
        assert run.read().chunks[-1] == chunk("abort", reason=ELSEWHERE)
        assert {*here.board.live} == {later.message.id}
    if what == "away":
        assert said[2].startswith("The database is away.")
    assert (here.board.live[later.message.id].again_at is None) is False
    if now.message.id in here.board.live:
        assert (here.board.live[now.message.id].again_at is None) == (what == "mine")


def test_what_cannot_be_begun_is_left_for_a_while_and_says_why(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("could not connect to server")

    found = here.writes()
    monkeypatch.setattr(Engine, "begin", refuse)
    here.dispatcher.begin(found.message.id)
    assert here.board.live[found.message.id].again_at is not None
    [told] = here.board.runs[found.message.id].read().chunks
    assert told["type"] == "data-status"
    assert told["data"]["text"].startswith("The PostgreSQL server cannot be reached.")


def record(found: Unfinished, **given: Any) -> Record:
    """As of a run that another process had begun here."""
    usual: dict[str, Any] = {
        "over": False,
        "gave_up": False,
        "attempts": 1,
        "executor": "other-1",
        "version": VERSION,
        "stop_wanted": False,
        "begun_at": None,
        "ended_at": None,
    }
    return Record(found.message.id, **(usual | given))


@pytest.mark.parametrize(
    ("status", "given", "alone", "becomes"),
    [
        ("pending", None, True, "waits"),
        ("streaming", None, True, "taken"),
        ("pending", {"executor": "mine"}, True, "taken"),
        ("streaming", {"executor": "mine"}, True, "taken"),
        ("streaming", {}, True, "left"),
        ("streaming", {}, False, "taken"),
        ("streaming", {"over": True}, True, "anew"),
        ("streaming", {"version": "leaf-0"}, True, "anew"),
        ("streaming", {"over": True, "gave_up": True}, True, ("error", DAMAGED)),
        ("streaming", {"gave_up": True, "stop_wanted": True}, True, ("stopped", "")),
    ],
)
def test_what_a_start_does_with_each_answer_that_is_not_over(
    here: Here, status: str, given: dict[str, Any] | None, alone: bool, becomes: object
) -> None:
    place = here.place
    found = place.asked() if status == "pending" else place.written(here.id)
    if alone:
        here.dispatcher.holder = None
    known = None if given is None else record(found, **given)
    if given == {"executor": "mine"}:
        known = record(found, executor=place.engine.executors[0])
    if becomes == "anew":  # its record is there, and would keep it from beginning
        place.engine.begin(found.message.id)
        wait_until(lambda: (r := place.engine.record(found.message.id)) is not None and r.over)
        place.begun.clear()
    here.dispatcher._recover_one(found, known)
    now = place.found(found.message.id).message
    assert here.waits() == ([found.message.id] if becomes == "waits" else [])
    assert begun(place, *([found] if becomes in ("taken", "anew") else []))
    assert {*here.board.live} == ({found.message.id} if becomes in ("taken", "anew") else set())
    assert (now.status, now.error) == (becomes if isinstance(becomes, tuple) else (status, ""))


@pytest.mark.parametrize("over", [False, True])
def test_what_ended_while_one_looked_is_not_begun_anew(here: Here, over: bool) -> None:
    found = here.place.written(here.id)
    if over:
        here.place.rows("UPDATE messages SET status = 'completed'")
    else:
        here.place.rows("DELETE FROM messages")
    here.dispatcher._recover_one(found, record(found, over=True))
    assert here.place.begun == []
    assert not here.board.live


@pytest.mark.parametrize(
    ("attempts", "stop", "kept_stop", "becomes"),
    [
        (1, False, False, "streaming"),
        (MOST_ATTEMPTS - 1, False, False, "streaming"),
        (MOST_ATTEMPTS, False, False, "error"),
        (1, True, False, "stopped"),
        (1, False, True, "stopped"),
        (MOST_ATTEMPTS, False, True, "stopped"),
    ],
)
def test_going_on_with_what_was_anothers_is_counted_and_ends_what_was_to_stop(
    here: Here, attempts: int, stop: bool, kept_stop: bool, becomes: str
) -> None:
    place = here.place
    found = place.written(here.id)
    place.held.clear()
    place.engine.begin(found.message.id)
    wait_until(lambda: place.begun == [found.message.id])
    place.engine._note(found.message.id, {"attempts": attempts, "stop": kept_stop})
    run = here.board.remember(ticket_of(found))
    here.dispatcher.go_on(found, stop=stop)
    now = place.found(found.message.id).message
    assert now.status == becomes
    assert now.error == (DAMAGED if becomes == "error" else "")
    assert now.usage == ({} if becomes == "streaming" else {"model": now.model})
    after = place.engine.record(found.message.id)
    assert after is not None
    assert after.attempts == attempts + (becomes == "streaming")
    ends = {"streaming": [], "error": ["error"], "stopped": ["abort"]}
    assert [c["type"] for c in run.read().chunks] == ends[becomes]


def test_of_records_alone_those_are_ended_whose_answers_are_over(here: Here) -> None:
    place = here.place
    place.held.clear()
    goes_on, over = place.written(here.id), place.written(here.id)
    for one in (goes_on, over):
        place.engine.begin(one.message.id)
    wait_until(lambda: len(place.begun) == 2)
    messages.finish(
        place.db, over.scope, over.message.id, parts=[], raw=[], usage={}, status="completed"
    )
    tried: list[str] = []
    here.dispatcher.begin = tried.append  # type: ignore[method-assign]
    here.dispatcher.finish_records()
    assert tried == [over.message.id]


# Following what another process writes


@pytest.mark.parametrize(
    ("status", "ends"),
    [
        ("completed", ("finish", "stop")),
        ("stopped", ("abort", STOPPED)),
        ("error", ("error", "It went wrong.")),
        ("streaming", ("abort", ELSEWHERE)),
        ("pending", ("abort", ELSEWHERE)),
        ("deleted", ("error", "The chat of this answer was deleted.")),
    ],
)
def test_who_follows_an_answer_is_told_how_it_ended(
    here: Here, status: str, ends: tuple[str, str]
) -> None:
    place = here.place
    found = place.written(OTHER.id)
    place.engine.begin(found.message.id)
    wait_until(lambda: (r := place.engine.record(found.message.id)) is not None and r.over)
    run = here.board.remember(ticket_of(found))
    here.board.release(found.message.id)
    run.elsewhere = True
    if status == "deleted":
        place.rows("DELETE FROM messages")
    else:
        place.rows(f"UPDATE messages SET status = '{status}', error = 'It went wrong.'")
    last = here.elsewhere._last_of(found.message.id)
    assert tuple(last.values()) == ends
    goes_on = status in ("streaming", "pending")
    assert (found.message.id in here.board.runs) != goes_on, "another run is followed next"
    assert here.elsewhere._goes_on(found.message.id) == goes_on


def test_a_run_that_is_this_processs_by_now_is_not_taken_from_it(here: Here) -> None:
    found = here.writes()
    assert here.elsewhere._last_of(found.message.id) == chunk("abort", reason=ELSEWHERE)
    assert found.message.id in here.board.runs


def test_only_what_is_being_written_and_has_a_record_is_followed(here: Here) -> None:
    place = here.place
    place.held.clear()
    watch: Callable[[str], Any] = here.elsewhere.watch
    waits, bare, written, over = (
        place.asked(), place.written(OTHER.id), place.written(OTHER.id), place.written(OTHER.id),
    )  # fmt: skip
    for one in (written, over, waits):
        place.engine.begin(one.message.id)
    wait_until(lambda: len(place.begun) == 3)
    place.rows(f"UPDATE messages SET status = 'completed' WHERE id = '{over.message.id}'")
    assert [watch(f.message.id) for f in (waits, bare, over)] == [None, None, None]
    assert watch("nobody's") is None
    run = watch(written.message.id)
    assert run is watch(written.message.id)
    assert run.elsewhere
    assert here.board.runs == {written.message.id: run}
    place.db.changes.told("nobody-follows-this w 0 1 []")
    place.db.changes.told(f"{written.message.id} no part of an answer")
    assert not run.read().done
    chats.delete(place.db, place.scope, written.message.chat_id)
    place.held.set()  # its run ends, and nobody has said how
    wait_until(lambda: run.read().done)
    assert run.read().chunks == (chunk("abort", reason=ELSEWHERE),)
    wait_until(lambda: not here.elsewhere._followers)

"""What a process among several takes up, leaves to others and lets go."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from leaf.errors import StoreBusyError, StoreError
from leaf.runs import presence
from leaf.runs.board import QueueLimits, ticket_of
from leaf.runs.engine import VERSION
from leaf.runs.presence import BEGUN_SECONDS
from leaf.shapes.chunks import chunk
from leaf.store import leases
from leaf.store.changes import RUNS, Change
from leaf.store.leases import Holder
from leaf.store.model import Unfinished
from tests import postgres, process_kit
from tests.process_kit import TIMES, Here, Place
from tests.runs_kit import wait_until

OTHER = Holder("other-1.x", VERSION, 99)
OLDER = Holder("older-1.x", "leaf-0", 99)


@pytest.fixture(scope="module")
def databases(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Place]:
    url = postgres.of_test(request)
    with process_kit.opened(tmp_path_factory.mktemp("here"), url) as opened:
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


def test_what_nobody_writes_comes_before_what_waits(place: Place) -> None:
    here = Here(place, QueueLimits(per_user=99, total=1))
    first, left, asked = here.writes(), place.left(), place.asked()
    here.board.wait(ticket_of(asked), asked=True)
    here.presence._look()
    assert place.holder(left) == "", "there is no room"
    here.board.release(first.message.id)
    here.presence.ended()
    assert here.board.next() is None, "what was begun before is to go on first"
    here.presence._look()
    assert begun(place, left)
    assert here.board.next() is None, "there is no room"
    here.board.release(left.message.id)
    assert here.board.next() == ticket_of(asked)


def test_room_that_a_question_is_just_taking_is_none(place: Place) -> None:
    here = Here(place, QueueLimits(per_user=99, total=1))
    left, here.board.claiming = place.left(), True
    here.presence.adopt()
    assert (place.holder(left), here.board.reserved) == ("", True)
    here.board.claiming = False
    here.presence.adopt()
    assert (place.holder(left), here.board.reserved) == (here.id, False)


def test_room_is_kept_no_longer_than_there_is_something_left(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Here(place, QueueLimits(per_user=99, total=1))
    here.writes()
    left = place.left()
    here.presence._look()
    assert here.board.reserved
    assert leases.unscoped_take(place.db, left.message.id, OTHER)
    here.presence._look()
    assert not here.board.reserved
    leases.unscoped_leave(place.db, OTHER.id)
    here.presence._look()
    assert here.board.reserved
    monkeypatch.setattr(leases, "unscoped_known", away)
    with pytest.raises(StoreBusyError):
        here.presence._look()
    assert not here.board.reserved


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


def test_what_is_this_ones_and_not_written_is_gone_on_with_at_the_second_beat(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = here.place
    left, stops, claimed = place.left(), place.left(), place.asked()
    take = leases.unscoped_take

    def cut(*given: Any) -> bool:
        take(*given)
        raise StoreBusyError("The connection was lost.", "Perhaps it was kept.")

    monkeypatch.setattr(leases, "unscoped_take", cut)
    for _ in range(2):
        with pytest.raises(StoreBusyError):
            here.presence.adopt()
    monkeypatch.undo()
    assert [place.holder(f) for f in (left, stops)] == [here.id] * 2
    assert leases.unscoped_want_stop(place.db, stops, 60)
    here.board.wait(ticket_of(claimed))
    leases.claim(place.db, claimed.scope, claimed.message.id, here.presence.holder)
    for _ in range(2):  # the one that waits here is begun by the thread that claimed it
        assert place.begun == []
        assert place.status(stops) == "streaming"
        here.presence._look()
    assert begun(place, left)
    assert place.status(stops) == "stopped"
    assert {*here.board.live} == {left.message.id}


def test_one_looks_again_where_what_is_left_could_not_be_taken_up(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "unscoped_known", away)
    with pytest.raises(StoreBusyError):
        here.presence._look()
    monkeypatch.undo()
    asked = here.place.asked()
    here.presence._look()
    assert here.waits() == [asked.message.id]


def test_a_fault_under_one_answer_keeps_no_other_from_being_taken_up(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty, whole = here.place.left(), here.place.left()
    go_on = here.dispatcher.go_on

    def fail(found: Unfinished, *, stop: bool = False) -> None:
        if found.message.id == faulty.message.id:
            raise RuntimeError("A fault of Leaf, or of a library.")
        go_on(found, stop=stop)

    monkeypatch.setattr(here.dispatcher, "go_on", fail)
    here.presence.adopt()
    assert begun(here.place, whole)
    assert here.board.live[faulty.message.id].again_at is not None


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

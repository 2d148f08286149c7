"""What waits and what runs in one process: whose turn it is, who is told, and how a run is read.
Nothing of it needs a database."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from leaf.runs.board import (
    AGAIN_SECONDS,
    ELSEWHERE,
    QueueLimits,
    RunBoard,
    status_chunk,
    ticket_of,
)
from leaf.runs.records import Load
from leaf.runs.run import Run, Slice
from leaf.runs.waiting import QueueEntry, QueuePlace, Waiting
from leaf.shapes.chunks import Chunk, chunk
from leaf.store.changes import LIVE, Change, Hub
from leaf.store.model import Message, Scope, Unfinished

ANN, BEN, ZOE = Scope("w", "ann"), Scope("w", "ben"), Scope("other", "zoe")
END = chunk("finish", finishReason="stop")
GONE = chunk("abort", reason=ELSEWHERE)
MESSAGES = [Change("w", "messages")]


def entry(message_id: str, who: Scope = ANN, chat_id: str = "") -> QueueEntry:
    return QueueEntry(message_id, chat_id or f"chat-of-{message_id}", who)


def ids(found: list[QueueEntry]) -> list[str]:
    return [one.message_id for one in found]


class Told:
    """A board, and what pages are told of it."""

    def __init__(self, limits: QueueLimits | None = None) -> None:
        self._changes: list[Change] = []
        hub = Hub()
        hub.listen(self._changes.extend)
        self.board = RunBoard(hub, limits or QueueLimits())

    def take(self) -> list[Change]:
        """What was told since the last call."""
        told, self._changes[:] = list(self._changes), []
        return told


# What is told


def test_pages_are_told_of_what_begins_to_wait_runs_and_ends() -> None:
    told = Told()
    board = told.board
    waits, lives = [Change("w", "messages")], [Change("w", LIVE)]
    board.wait(entry("m1"), asked=True)
    assert told.take() == waits
    assert board.place("m1") == QueuePlace(0)
    board.waiting.remove("m1")
    run = board.remember(entry("m1"))
    assert run is board.runs["m1"]
    assert told.take() == lives
    assert board.load() == Load(running=1, waiting=0)
    board.wait(entry("m1"))
    assert (told.take(), board.load()) == ([], Load(1, 0)), "it is begun already"
    released = board.release("m1")
    assert released is not None
    assert released.entry == entry("m1")
    assert told.take() == lives
    assert board.release("m1") is None
    assert told.take() == []
    board.wait(entry("m2"))
    board.wait(entry("m3", ZOE))
    told.take()
    board.drop("m2", END)
    assert told.take() == waits
    assert board.runs["m2"].read().chunks == (END,)
    board.drop("m2", END)
    board.drop("never heard of", END)
    assert told.take() == []
    assert board.load() == Load(0, 1)
    board.let_go("m3")
    assert told.take() == [Change("other", "messages")]
    board.let_go("m3")
    assert told.take() == []


def parked(board: RunBoard) -> None:
    board.remember(entry("m"))
    board.park("m", "No room.")


@pytest.mark.parametrize(
    ("before", "act"),
    [
        (lambda _: None, lambda board: board.wait(entry("m"))),
        (lambda _: None, lambda board: board.remember(entry("m"))),
        (lambda board: board.leave_alone("c", 60), lambda board: board.heard(MESSAGES)),
        (lambda board: board.remember(entry("m")), lambda board: board.park("m", "No room.")),
        (lambda board: board.remember(entry("m")), lambda board: board.release("m")),
        (lambda board: board.wait(entry("m")), lambda board: board.let_go("m")),
        (lambda board: board.wait(entry("m")), lambda board: board.drop("m", END)),
        (parked, lambda board: board.stop("m")),
    ],
    ids=["wait", "remember", "heard", "park", "release", "let go", "drop", "stop"],
)
def test_threads_that_wait_for_something_to_do_wake_at_each_change(
    before: Callable[[RunBoard], object], act: Callable[[RunBoard], object]
) -> None:
    board = Told().board
    before(board)
    waits, woken = threading.Event(), []

    def wait() -> None:
        with board.news:
            waits.set()
            woken.append(board.news.wait(10))

    thread = threading.Thread(target=wait)
    thread.start()
    assert waits.wait(10)
    act(board)  # which needs the lock, so the other waits by now
    thread.join(3)
    assert woken == [True]


# Whose turn it is


def test_a_chat_or_a_person_is_left_alone_for_a_while() -> None:
    board = Told().board
    board.wait(entry("m1", ANN, "c"))
    board.leave_alone("c", 60, since=board.told)
    assert board.next() is None
    assert board.place("m1") == QueuePlace(0), "its chat is held, and no limit"
    board.leave_alone("c", 0)
    found = board.next()
    assert found == entry("m1", ANN, "c")
    assert board.busy_until == {}, "the while is over, and forgotten"
    board.leave_alone("ann", 60)
    assert board.next() is None
    assert board.place("m1") == QueuePlace(0, "person")
    assert board.place("nobody's") is None
    before = board.told
    board.heard([Change("w", "files")])
    assert (board.told, {*board.busy_until}) == (before, {"ann"})
    board.heard([Change("w", "files"), *MESSAGES])
    assert board.busy_until == {}
    board.leave_alone("ann", 60, since=before)
    assert board.busy_until == {}, "something was told meanwhile"
    board.closed = True
    assert board.next() is None, "a process that ends begins nothing"


def test_what_waits_for_nothing_but_room_is_counted_from_the_limit_on() -> None:
    board = Told(QueueLimits(per_user=2, total=2)).board
    for number in range(3):
        board.wait(entry(f"w{number}", BEN), asked=True)
    board.remember(entry("r1"))
    assert board.for_room() == 0, "there is room for one more"
    board.remember(entry("r2"))
    assert board.for_room() == 2, "the third waits for this person's others"
    assert board.for_room([entry("e1", BEN), entry("r1", ANN)]) == 1
    board.alone = False
    assert board.for_room() == 2
    board.drop("w0", END)
    board.wait(entry("w3", ZOE), asked=True)
    assert board.asked == {"w1", "w2", "w3"}, "of those that wait all are known still"
    board.wait(entry("w4", Scope("w", "eve")))
    assert board.for_room() == 3, "what was asked of another process that one counts"
    board.leave_alone("zoe", 60)
    assert board.for_room() == 2


def test_a_chat_is_at_work_where_one_is_written_or_waits_in_its_workspace() -> None:
    board = Told().board
    board.remember(entry("m1", ANN, "c1"))
    board.wait(entry("m2", BEN, "c2"))
    board.wait(entry("m3", ZOE, "c3"))
    assert board.running_chats("w") == {"c1", "c2"}
    assert board.running_chats("other") == {"c3"}
    assert board.running_chats("third") == set()
    assert (board.running("m1"), board.running("m2")) == (True, False)


def queue(*waits: QueueEntry) -> Waiting:
    waiting = Waiting()
    for one in waits:
        waiting.add(one)
    return waiting


def test_a_queue_knows_what_waits_in_it_and_keeps_nothing_of_what_was_taken_out() -> None:
    waiting = queue(entry("a1", ANN, "c"), entry("b1", BEN, "c"), entry("a2", ANN, "d"))
    waiting.add(entry("a1", ANN, "c"))
    assert len(waiting) == 3
    assert ids(waiting.entries()) == ["a1", "a2", "b1"]
    assert ("b1" in waiting, "b2" in waiting) == (True, False)
    assert (waiting.asker("b1"), waiting.asker("b2")) == ("ben", "")
    assert waiting.remove("b2") is None
    assert waiting.remove("a1") == entry("a1", ANN, "c")
    assert waiting.remove("a1") is None
    assert len(waiting) == 2
    assert waiting.place("b1", [], per_user=3, total=20) == QueuePlace(0), "first of its chat now"
    assert waiting.remove("b1") == entry("b1", BEN, "c")
    assert waiting.remove("a2") == entry("a2", ANN, "d")
    assert (len(waiting), waiting.entries()) == (0, [])
    waiting.add(entry("b1", BEN, "c"))
    waiting.add(entry("a1", ANN, "c"))
    assert waiting.next([], (), per_user=3, total=20) == entry("b1", BEN, "c")


@pytest.mark.parametrize(
    ("running", "busy", "turn", "ready"),
    [
        ([], [], "a1", ["a1", "a3", "b1"]),
        ([entry("x")], [], "a1", ["a1", "b1"]),
        ([entry("x"), entry("y")], [], "b1", ["b1"]),
        ([entry("x", BEN), entry("y", BEN)], [], "a1", ["a1", "a3"]),
        ([entry("x", ZOE, "c")], [], "a3", ["a3", "b1"]),
        ([], ["ann"], "b1", ["b1"]),
        ([], ["c", "d"], "b1", ["b1"]),
        ([], ["ben", "c"], "a3", ["a3"]),
        ([entry(f"z{n}", ZOE) for n in range(3)], [], "a1", ["a1", "a3", "b1"]),
        ([entry(f"z{n}", ZOE) for n in range(4)], [], None, ["a1", "a3", "b1"]),
    ],
)
def test_whose_turn_it_is_and_what_could_be_begun_with_more_room(
    running: list[QueueEntry], busy: list[str], turn: str | None, ready: list[str]
) -> None:
    """Ann asked twice in one chat and once in another, Ben once; two a person, four in all."""
    waiting = queue(
        entry("a1", ANN, "c"), entry("a2", ANN, "c"), entry("a3", ANN, "d"), entry("b1", BEN, "e")
    )
    assert waiting.ready(running, busy, per_user=2) == ready
    found = waiting.next(running, busy, per_user=2, total=4)
    assert (found and found.message_id) == turn


def test_what_stands_behind_another_persons_question_of_its_chat_is_not_begun() -> None:
    waiting = queue(entry("a1", ANN, "c"), entry("b1", BEN, "c"), entry("b2", BEN, "d"))
    assert waiting.ready([], [], per_user=3) == ["a1", "b2"]
    found = waiting.next([], ["ann"], per_user=3, total=20)
    assert found == entry("b2", BEN, "d")


@pytest.mark.parametrize(
    ("running", "limit"),
    [
        ([], ""),
        ([entry("x"), entry("z", ZOE)], ""),
        ([entry("x"), entry("y")], "person"),
        ([entry("x"), entry("z", ZOE), entry("y", BEN)], "process"),
    ],
)
def test_which_limit_a_question_waits_for(running: list[QueueEntry], limit: str) -> None:
    place = queue(entry("a1")).place("a1", running, per_user=2, total=3)
    assert place is not None
    assert place.limit == limit


# What becomes of a run


def test_a_new_attempt_goes_on_in_the_same_run_and_one_that_was_followed_in_another() -> None:
    board = Told().board
    first = board.remember(entry("m"))
    assert not first.stop.is_set()
    board.park("m", "No room.")
    again = board.remember(entry("m"))
    assert again is first
    assert board.live["m"].again_at is None, "it is begun"
    assert again.read().chunks == (
        status_chunk("No room. This answer goes on by itself when that is over."),
        status_chunk(""),
    ), "it waits no more"
    followed = board.runs["n"] = Run("n")
    followed.elsewhere = True
    own = board.remember(entry("n"))
    assert own is board.runs["n"]
    assert own is not followed
    assert (followed.read().chunks, own.read().chunks) == ((GONE,), ())
    board.closed = True
    assert board.ending
    assert board.remember(entry("late")).stop.is_set(), "what begins in the end goes no further"


def test_why_an_answer_waits_is_said_once_for_each_reason() -> None:
    board = Told().board
    board.wait(entry("m"))
    for reason in ("No room.", "No room.", "Away."):
        board.say_why("m", reason)
    board.say_why("nobody's", "No room.")
    assert [c["data"]["text"][:8] for c in board.runs["m"].read().chunks] == [
        "No room.",
        "Away. Th",
    ]


def test_a_run_that_is_left_for_a_while_says_why_and_keeps_its_place() -> None:
    board = Told().board
    run = board.remember(entry("m"))
    began = time.monotonic()
    board.park("m", "No room.")
    again_at = board.live["m"].again_at
    assert again_at is not None
    assert AGAIN_SECONDS <= again_at - began < AGAIN_SECONDS + 5
    assert run.read().chunks == (
        status_chunk("No room. This answer goes on by itself when that is over."),
    )
    assert board.load() == Load(1, 0)
    board.park("nobody's", "No room.")
    board.stop("m")
    assert (run.stop.is_set(), run.stop_wanted) == (True, True)
    stopped_at = board.live["m"].again_at
    assert stopped_at is not None
    assert stopped_at < began, "it is begun at once, to end"


def test_stop_is_for_good_and_losing_a_run_to_another_process_is_not() -> None:
    board = Told().board
    wanted, lost, left = (board.remember(entry(m)) for m in ("m1", "m2", "m3"))
    board.stop("m1")
    board.lose("m2")
    found = [(run.stop.is_set(), run.stop_wanted) for run in (wanted, lost, left)]
    assert found == [(True, True), (True, False), (False, False)]
    assert [board.live[m].lost for m in ("m1", "m2", "m3")] == [False, True, False]
    assert board.live["m1"].again_at is None
    board.stop("nobody's")
    assert all(not run.read().done for run in (wanted, lost, left))


def test_who_watches_what_another_process_has_turns_there() -> None:
    told = Told()
    board = told.board
    first = board.remember(entry("m"))
    began = time.monotonic()
    told.take()
    board.let_go("m", again=True)
    assert first.read().chunks == (GONE,)
    assert told.take() == MESSAGES
    live, run = board.live["m"], board.runs["m"]
    assert run is not first
    assert not run.read().done
    assert live.entry == entry("m")
    assert live.again_at is not None
    assert AGAIN_SECONDS <= live.again_at - began < AGAIN_SECONDS + 5
    assert not live.lost
    board.let_go("unknown", again=True)
    assert {*board.live} == {*board.runs} == {"m"}
    board.let_go("m")
    assert not board.live
    assert not board.runs
    assert told.take() == MESSAGES


def test_a_ticket_is_that_of_the_answer_in_its_chat() -> None:
    answer = Message("m", "c", "q", "assistant", "pending", [], [])
    assert ticket_of(Unfinished(BEN, answer)) == QueueEntry("m", "c", BEN)


# How a run is read


def test_a_run_is_read_from_any_position_and_ends_once() -> None:
    run = Run("m")
    words: list[Chunk] = [chunk("text-delta", id="1", delta=str(n)) for n in range(3)]
    assert run.read() == Slice((), 0, False)
    for c in words:
        run.emit(c)
    assert run.read() == Slice(tuple(words), 3, False)
    assert run.read(2) == Slice(tuple(words[2:]), 3, False)
    assert run.read(3) == Slice((), 3, False)
    assert run.ended_at is None
    heard = []
    end = run.listen(lambda: heard.append(run.read().done))
    run.emit(END)
    run.emit(words[0])
    assert heard == [True], "of what comes after the end nobody hears"
    end()
    end()
    assert run.ended_at is not None
    assert run.read(3) == Slice((END,), 4, True)
    assert run.read(4, timeout=60) == Slice((), 4, True), "nothing more is waited for"


@pytest.mark.parametrize("position", [0, 1])
def test_a_reader_waits_for_the_first_new_chunk_alone(position: int) -> None:
    run = Run("m")
    run.emit(status_chunk("Begun."))
    found: list[Slice] = []
    reader = threading.Thread(target=lambda: found.append(run.read(position, 30)))
    reader.start()
    if position:
        reader.join(0.1)
        assert reader.is_alive(), "nothing is new"
        run.emit(END)
    reader.join(5)
    assert [(s.position, s.done) for s in found] == [(1, False) if position == 0 else (2, True)]


def test_runs_of_one_answer_are_told_from_each_other() -> None:
    assert Run("m").born != Run("m").born

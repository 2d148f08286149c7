"""Pages are drawn a few at a time, in the order in which they came; none keeps the others waiting."""

from __future__ import annotations

import threading
import time

import pytest

from leaf.ui.turns import AHEAD, ALL, LONGEST, SHARE_LEAST, SHARE_MOST, DrawingTurns, _Place
from tests.live_kit import wait_until


def test_a_few_are_drawn_at_a_time_in_their_order() -> None:
    turns = DrawingTurns(at_once=2, counts=60)
    going_on = [threading.Event() for _ in range(6)]
    begun: list[int] = []

    def draw(number: int) -> None:
        with turns.turn():
            begun.append(number)
            assert going_on[number].wait(20)

    pages = []
    for number in range(6):
        pages.append(threading.Thread(target=draw, args=(number,)))
        pages[-1].start()
        wait_until(lambda n=number: len(turns._line) + len(turns._drawn) == n + 1)
    for number in range(6):
        wait_until(lambda n=number: begun == list(range(min(6, n + 2))))
        going_on[number].set()
    for page in pages:
        page.join(20)
    assert begun == list(range(6))
    assert not turns._line
    assert not turns._drawn


def test_nobody_keeps_others_waiting_with_many_tabs() -> None:
    turns = DrawingTurns(at_once=3, counts=60, each=2)
    going_on, begun = threading.Semaphore(0), list[str]()
    lock = threading.Lock()

    def draw(who: str) -> None:
        with turns.turn(who):
            with lock:
                begun.append(who)
            assert going_on.acquire(timeout=20)

    pages = [threading.Thread(target=draw, args=("flood",)) for _ in range(20)]
    for page in pages:
        page.start()
    wait_until(lambda: len(begun) == 2 and len(turns._line) == 18)
    for who in ("ann", "bob"):
        pages.append(threading.Thread(target=draw, args=(who,)))
        pages[-1].start()
        count = len(pages)
        wait_until(lambda n=count: len(turns._line) + len(turns._drawn) == n)
    wait_until(lambda: begun == ["flood", "flood", "ann"])
    going_on.release()  # one of the three: whoever it is, bob is next
    wait_until(lambda: len(begun) == 4)
    assert begun[3] == "bob"
    going_on.release(len(pages))
    for page in pages:
        page.join(20)
    assert begun.count("flood") == 20


@pytest.mark.parametrize(("others", "share"), [(0, SHARE_MOST), (9, ALL / 10), (99, SHARE_LEAST)])
def test_who_has_pages_drawn_without_end_is_slower_the_more_people_are_there(
    others: int, share: float
) -> None:
    now = 1_000.0
    turns = DrawingTurns(clock=lambda: now)

    def draw(who: str, seconds: float) -> None:
        with turns.turn(who):
            turns.charge(who, seconds)

    for number in range(others):
        draw(f"person {number}", 0.1)
    draw("flood", AHEAD)
    page = threading.Thread(target=draw, args=("flood", 0.01))
    page.start()
    wait_until(lambda: len(turns._line) == 1)
    assert turns._next() is None
    draw("ann", 0.01)  # who waits keeps nobody else waiting
    there = others + 2
    wait = turns._seconds_to_change(turns._line[0])
    assert wait is not None
    least = min(SHARE_MOST, max(SHARE_LEAST, ALL / there))
    assert 0 < wait <= 0.1 / least  # what the turn itself took is owed, too
    assert least == pytest.approx(share, rel=0.6)
    now += wait + 0.1
    with turns._lock:
        turns._line[0].told.notify()
    page.join(20)
    assert not page.is_alive()


def test_nobody_is_held_back_for_doing_as_the_others_do() -> None:
    """As on a machine that is slow, where each page costs more than an equal part allows."""
    now = 1_000.0
    turns = DrawingTurns(clock=lambda: now)
    waited = dict.fromkeys([*(f"person {number}" for number in range(39)), "flood"], 0.0)

    def draw(who: str, seconds: float) -> bool:
        """Whether it was their turn."""
        me = _Place(who, threading.Condition(turns._lock))
        turns._line.append(me)
        mine = turns._next() is me
        turns._line.remove(me)
        if mine:
            turns._begin(me)
            turns.charge(who, seconds)
            turns._drawn.remove(me)
        return mine

    drawn = dict.fromkeys(waited, 0)
    for second in range(900):
        now += 1.0
        for number, who in enumerate(waited):
            many = who == "flood"
            if many or second % 30 == number % 30:
                done = draw(who, 0.6)
                drawn[who] += done
                waited[who] += not done
    assert sum(waited[who] for who in waited if who != "flood") == 0
    assert drawn["person 0"] == 30
    assert 30 <= drawn["flood"] <= 2 * 30 + AHEAD / 0.6


def test_after_a_page_that_takes_long_nobody_waits_for_more_than_twenty_seconds() -> None:
    now = 1_000.0
    turns = DrawingTurns(clock=lambda: now)
    for number in range(99):
        with turns.turn(f"person {number}"):
            pass
    with turns.turn("ann"):
        turns.charge("ann", 60.0)
    me = _Place("ann", threading.Condition(turns._lock))
    turns._line.append(me)
    assert turns._seconds_to_change(me) == pytest.approx(LONGEST)


def test_of_many_pages_that_wait_one_alone_looks_when_the_next_may_begin() -> None:
    now = 1_000.0
    turns = DrawingTurns(clock=lambda: now)
    with turns.turn("flood"):
        turns.charge("flood", AHEAD)
    begun, lock = list[int](), threading.Lock()

    def draw(number: int) -> None:
        with turns.turn("flood"), lock:
            begun.append(number)

    pages = [threading.Thread(target=draw, args=(number,)) for number in range(20)]
    for page in pages:
        page.start()
    wait_until(lambda: len(turns._line) == 20)
    with turns._lock:
        looking = [place for place in turns._line if turns._seconds_to_change(place) is not None]
        assert looking == turns._line[:1]
        now += 60.0
        looking[0].told.notify()
    for page in pages:
        page.join(20)
    assert sorted(begun) == list(range(20))


def test_pages_of_nobody_in_particular_are_never_held_back() -> None:
    turns = DrawingTurns(clock=lambda: 1_000.0)
    for _ in range(3):
        with turns.turn():
            turns.charge("", AHEAD)
    assert not turns._people


def test_one_that_waits_for_something_keeps_nobody_from_beginning() -> None:
    turns = DrawingTurns(at_once=1, counts=0.1)
    going_on = threading.Event()
    begun = threading.Event()

    def wait() -> None:
        with turns.turn():
            begun.set()
            going_on.wait(20)

    page = threading.Thread(target=wait)
    page.start()
    assert begun.wait(20)
    began = time.monotonic()
    with turns.turn():
        assert time.monotonic() - began < 15
    going_on.set()
    page.join(20)


def test_a_drawing_that_fails_gives_its_turn_back() -> None:
    turns = DrawingTurns(at_once=1, counts=60)
    for _ in range(3):
        with pytest.raises(ValueError, match="broken"), turns.turn():
            raise ValueError("broken")
    assert not turns._drawn

"""Slots for work in confined children: few at a time, fair between people, ended by Stop."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from leaf.errors import RunError
from leaf.sandbox.slots import Slots, working_for


class Work:
    """Pieces of work that begin in some order and end when they are told to."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.begun: list[str] = []
        self.may_end: dict[str, threading.Event] = {}
        self.threads: list[threading.Thread] = []

    def ask(self, person: str, name: str) -> None:
        self.may_end[name] = threading.Event()
        before = len(self.slots._line) + len(self.begun)

        def work() -> None:
            with working_for(person), self.slots.taken():
                self.begun.append(name)
                assert self.may_end[name].wait(30)

        thread = threading.Thread(target=work)
        self.threads.append(thread)
        thread.start()
        until(lambda: len(self.slots._line) + len(self.begun) > before)

    def end(self, name: str) -> None:
        self.may_end[name].set()


@contextmanager
def working(count: int) -> Iterator[Work]:
    work = Work(Slots(count))
    try:
        yield work
    finally:
        for event in work.may_end.values():
            event.set()
        for thread in work.threads:
            thread.join(30)


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_as_many_as_there_are_slots_work_and_the_rest_in_their_order() -> None:
    with working(2) as work:
        for name in "abcd":
            work.ask("", name)
        until(lambda: len(work.begun) == 2)
        work.end("b")
        until(lambda: len(work.begun) == 3)
        work.end("a")
        until(lambda: len(work.begun) == 4)
        assert work.begun == ["a", "b", "c", "d"]


def test_one_person_leaves_a_slot_to_others_and_whoever_has_fewest_is_next() -> None:
    with working(4) as work:
        for name in ("f1", "f2", "f3", "f4", "f5"):
            work.ask("flood", name)
        until(lambda: len(work.begun) == 3)
        work.ask("ann", "a1")
        work.ask("bob", "b1")
        until(lambda: len(work.begun) == 4)
        work.end("f1")
        until(lambda: len(work.begun) == 5)
        work.end("f2")
        work.end("a1")
        until(lambda: len(work.begun) == 7)
        assert work.begun == ["f1", "f2", "f3", "a1", "b1", "f4", "f5"]


def test_who_is_stopped_while_waiting_leaves_the_line() -> None:
    slots, stop = Slots(1), threading.Event()
    with slots.taken():
        threading.Timer(0.05, stop.set).start()
        with pytest.raises(RunError), slots.taken(stop):
            raise AssertionError("it had no slot")
    with slots.taken(stop):  # it is free, so nobody has to wait
        assert not slots._line


def test_a_failure_gives_its_slot_back() -> None:
    slots = Slots(1)
    for _ in range(3):
        with pytest.raises(LookupError), slots.taken():
            raise LookupError
    with slots.taken():
        assert slots._free == 0

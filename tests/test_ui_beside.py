"""What is worked out from files is made beside the page, once for what it is made of."""

from __future__ import annotations

import threading
import time

import pytest

from leaf.agent.rules.tables import AskedColumn, AskedTable
from leaf.errors import FileError
from leaf.sessions.suggesting import COLUMNS, _telling
from leaf.ui.beside import BackgroundCache


def test_who_asks_does_not_wait_and_all_who_ask_get_what_was_made_once() -> None:
    kept, may, made = BackgroundCache(), threading.Event(), []

    def make() -> list[str]:
        may.wait(20)
        made.append(1)
        return ["How many?"]

    begun = time.monotonic()
    first, second = kept.of(("a",), make), kept.of(("a",), make)
    assert time.monotonic() - begun < 5
    assert not first.done()
    may.set()
    assert first.result(20) == second.result(20) == ["How many?"]
    assert made == [1]


def test_what_failed_is_said_to_the_page_that_waited_and_made_again_for_the_next() -> None:
    kept, tries = BackgroundCache(), []

    def make() -> list[str]:
        tries.append(1)
        if len(tries) == 1:
            raise FileError("Not now.")
        return ["How many?"]

    for _ in range(2):  # who began it, and the page that is drawn when it is over
        with pytest.raises(FileError, match="Not now"):
            kept.of(("a",), make).result(20)
    assert len(tries) == 1
    assert kept.of(("a",), make).result(20) == ["How many?"]


def test_only_so_many_are_kept() -> None:
    kept, made = BackgroundCache(kept=2), []
    for key in "abcba":
        kept.of((key,), lambda key=key: made.append(key) or [key]).result(20)  # type: ignore[misc]
    assert made == ["a", "b", "c", "a"]


def test_few_are_made_at_one_time_and_all_get_their_turn() -> None:
    kept, may, guard, at_once = (
        BackgroundCache(at_once=2),
        threading.Event(),
        threading.Lock(),
        [0, 0],
    )

    def make() -> list[str]:
        with guard:
            at_once[0] += 1
            at_once[1] = max(at_once)
        may.wait(20)
        with guard:
            at_once[0] -= 1
        return ["How many?"]

    threads = threading.active_count()
    asked = [kept.of((str(i),), make) for i in range(20)]
    assert threading.active_count() <= threads + 2
    may.set()
    assert [one.result(20) for one in asked] == [["How many?"]] * 20
    assert at_once == [0, 2]
    assert kept.of(("later",), make).result(20) == ["How many?"]


def test_what_is_made_for_one_person_keeps_nobody_else_waiting() -> None:
    kept, may = BackgroundCache(at_once=4, each=2), threading.Event()

    def make() -> list[str]:
        may.wait(20)
        return ["How many?"]

    flood = [kept.of((f"flood {i}",), make, "flood") for i in range(20)]
    assert kept.of(("ann",), lambda: ["Why?"], "ann").result(20) == ["Why?"]
    may.set()
    assert [one.result(20) for one in flood] == [["How many?"]] * 20


def test_what_does_not_last_is_made_again() -> None:
    kept, made = BackgroundCache(), []
    for _ in range(2):
        kept.of(("a",), lambda: made.append(1) or made).result(20)  # type: ignore[func-returns-value]
        kept.forget(("a",))
    assert made == [1, 1]


def test_of_a_very_wide_table_the_columns_that_tell_something_are_looked_at() -> None:
    columns = tuple(
        AskedColumn(f"c{i}", "BIGINT", "number", (f"c{i}",), 1 if i < 900 else 7, 0)
        for i in range(1_100)
    )
    told = _telling(AskedTable("wide", "f1", "wide.csv", 30, columns))
    assert [c.name for c in told.columns] == [f"c{i}" for i in range(900, 1_100)]
    assert len(told.columns) == COLUMNS

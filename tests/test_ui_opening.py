"""One person who opens pages without end waits, and nobody else does."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from leaf.ui.opening import (
    AT_ONCE,
    EVERY_SECONDS,
    HELD_MOST,
    HELD_SECONDS,
    LONGEST_SECONDS,
    MANY,
    OpeningTurns,
)
from tests.app_process import App
from tests.test_ui_cookies import cookie_of
from tests.test_ui_visitors import AUTH, shake


def test_many_at_once_are_free_then_one_every_while() -> None:
    now = 1000.0
    turns = OpeningTurns(lambda: now)
    ann, ben = ("i", "ann"), ("i", "ben")
    assert {turns.take(ann) for _ in range(AT_ONCE)} == {0.0}
    waits = [turns.take(ann) for _ in range(int(LONGEST_SECONDS / EVERY_SECONDS))]
    assert waits == [EVERY_SECONDS * (n + 1) for n in range(len(waits))]
    assert turns.take(ann) is None
    assert turns.take(ben) == 0.0
    now += LONGEST_SECONDS
    assert turns.take(ann) == EVERY_SECONDS, "what was refused is not counted"
    now += 3600
    assert {turns.take(ann) for _ in range(AT_ONCE)} == {0.0}
    for n in range(3 * MANY):
        turns.take(("i", str(n)))
        now += EVERY_SECONDS
    assert len(turns._free_at) <= MANY + 1


@pytest.fixture
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("opened")
    (folder / "secrets.toml").write_text(AUTH)
    running = App(folder / "home", secrets=folder / "secrets.toml").start()
    yield running
    running.stop()


def test_who_opens_pages_without_end_is_told_to_wait_and_others_are_not(app: App) -> None:
    most = AT_ONCE + int(LONGEST_SECONDS / EVERY_SECONDS)

    def opened(who: str) -> int:
        own = {"Cookie": cookie_of(who)} if who else {}
        return shake(app, {"Host": f"127.0.0.1:{app.port}", **own})[0]

    with ThreadPoolExecutor(most + 10) as pool:
        statuses = list(pool.map(opened, ["ann"] * (most + 10)))
        assert set(statuses) == {101, 403}
        assert statuses.count(101) >= most
        assert opened("ben") == 101
        assert list(pool.map(opened, [""] * (AT_ONCE + 10))) == [101] * (AT_ONCE + 10)


def test_a_refusal_is_held_for_as_many_as_one_person_may_hold(app: App) -> None:
    most = AT_ONCE + int(LONGEST_SECONDS / EVERY_SECONDS)
    own = {"Host": f"127.0.0.1:{app.port}", "Cookie": cookie_of("carla")}

    def opened(_: int) -> tuple[int, float]:
        began = time.monotonic()
        return shake(app, own)[0], time.monotonic() - began

    with ThreadPoolExecutor(most + HELD_MOST + 20) as pool:
        found = list(pool.map(opened, range(most + HELD_MOST + 20)))
    refused = [seconds for status, seconds in found if status == 403]
    assert sum(seconds >= HELD_SECONDS for seconds in refused) >= HELD_MOST
    assert min(refused) < HELD_SECONDS

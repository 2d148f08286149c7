"""What may succeed in a moment is tried again, for as long as was said; a wait ends when the work
is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import islice, repeat

import pytest

from leaf.errors import RunError
from leaf.retries import Again, Waits, doubling, pause, retry, retry_after


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waited: list[float] = []

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float, stop: threading.Event | None) -> None:
        if stop is not None and stop.is_set():
            raise RunError("Stopped.")
        self.now += seconds
        self.waited.append(seconds)


def failing(times: int, error: Exception) -> Callable[[], str]:
    left = [error] * times

    def attempt() -> str:
        if left:
            raise left.pop()
        return "done"

    return attempt


def busy(error: Exception) -> Again | None:
    return Again() if isinstance(error, OSError) else None


def test_an_attempt_is_made_again_after_each_wait() -> None:
    clock = Clock()
    assert (
        retry(failing(2, OSError()), busy, Waits((1.0, 4.0, 9.0), clock=clock), pause=clock.pause)
        == "done"
    )
    assert clock.waited == [1.0, 4.0]


def test_the_last_error_is_raised_when_the_waits_are_over() -> None:
    clock = Clock()
    with pytest.raises(OSError, match="away"):
        retry(failing(9, OSError("away")), busy, Waits((1.0, 1.0), clock=clock), pause=clock.pause)
    assert len(clock.waited) == 2


def test_an_error_that_stays_is_raised_at_once() -> None:
    clock = Clock()
    with pytest.raises(ValueError, match="wrong"):
        retry(failing(1, ValueError("wrong")), busy, Waits((1.0,), clock=clock), pause=clock.pause)
    assert clock.waited == []


def test_no_wait_goes_beyond_the_patience() -> None:
    clock = Clock()
    with pytest.raises(OSError, match="away"):
        retry(
            failing(99, OSError("away")),
            busy,
            Waits(repeat(0.4), patience=1.0, clock=clock),
            pause=clock.pause,
        )
    assert clock.waited == [0.4, 0.4]
    assert Waits((5.0,), patience=60.0, clock=clock).next(asked=61.0) is None


def test_a_wait_that_the_server_asks_for_is_kept() -> None:
    clock = Clock()
    waits = Waits((1.0, 1.0, 1.0), clock=clock)
    assert [waits.next(asked=7.0), waits.next(asked=0.0), waits.next(least=3.0)] == [7.0, 0.0, 3.0]


def test_what_is_waited_for_is_told_before() -> None:
    clock, told = Clock(), list[tuple[str, float]]()
    waits = Waits((2.0,), clock=clock)
    retry(
        failing(1, OSError("away")),
        busy,
        waits,
        on_wait=lambda e, wait: told.append((str(e), wait)),
        pause=clock.pause,
    )
    assert told == [("away", 2.0)]


def test_a_stop_ends_the_wait_and_no_attempt_follows() -> None:
    stop, made = threading.Event(), list[int]()

    def attempt() -> None:
        made.append(1)
        threading.Timer(0.05, stop.set).start()
        raise OSError

    began = time.monotonic()
    with pytest.raises(RunError):
        retry(attempt, busy, Waits((60.0,)), stop=stop)
    assert len(made) == 1
    assert time.monotonic() - began < 30
    with pytest.raises(RunError):
        retry(attempt, busy, Waits((60.0,)), stop=stop)
    assert len(made) == 1
    with pytest.raises(RunError):
        pause(60.0, stop)


def test_waits_double_up_to_the_longest() -> None:
    assert list(islice(doubling(1.0, 30.0), 7)) == [1, 2, 4, 8, 16, 30, 30]
    assert next(islice(doubling(1.0, 30.0), 5_000, None)) == 30.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("", 0.0),
        ("-3", 0.0),
        ("nan", 0.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 0.0),
    ],
)
def test_a_header_says_how_long(header: str, seconds: float) -> None:
    assert retry_after({"retry-after": header}) == seconds
    assert retry_after({}) == 0.0

"""What is counted when Leaf is measured beside other apps."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator
from urllib.request import Request, urlopen

import pytest

from bench.page import model_server
from bench.peers.__main__ import ONE, STARTS, WORDS_A_SECOND, Found, figures
from bench.peers.environments import REQUIREMENTS, version
from bench.peers.viewers import Viewer

PEERS = sorted(path.stem for path in REQUIREMENTS.glob("*.txt"))


def _found(late: float, start: float) -> Found:
    return Found(start, 0.002, [late] * 20, {40: [late * 2] * 20}, {40: 0.3})


def test_the_others_stand_beside_leaf_in_each_line() -> None:
    made = {
        f.sentence: f
        for f in figures({"Leaf": _found(0.009, 2.0), "Chainlit 2.12.0": _found(0.02, 4.0)}, [40])
    }
    one = made["one viewer: word to screen, median"]
    assert (one.value, one.beside, one.target, one.met) == (
        pytest.approx(9),
        {"Chainlit 2.12.0": pytest.approx(20)},
        ONE,
        True,
    )
    assert (
        made["40 viewers: word to viewer, 95th percentile"].written_beside
        == "Chainlit 2.12.0: 40 ms"
    )
    start = made["start: to a page in which a question can be typed"]
    assert start.target == STARTS * 4.0
    assert all(set(figure.beside) == {"Chainlit 2.12.0"} for figure in made.values())


def test_a_slow_start_and_a_slow_crowd_are_missed() -> None:
    made = figures({"Leaf": _found(0.05, 9.0), "Chainlit 2.12.0": _found(0.01, 4.0)}, [40])
    assert [f.sentence for f in made if not f.met] == [
        "one viewer: word to screen, median",
        "one viewer: word to screen, 95th percentile",
        "40 viewers: word to viewer, 95th percentile",
        "start: to a page in which a question can be typed",
    ]


def test_a_word_that_is_sent_again_counts_once_and_from_when_it_was_sent() -> None:
    sent = int(time.time() * 1000) - 500

    async def pieces() -> AsyncGenerator[str]:
        yield f"t{sent} "
        yield f'{{"text": "t{sent} t{sent + 40} "}}'
        yield "no word at all"

    viewer = Viewer()
    asyncio.run(viewer.watch(pieces()))
    assert [at for at, _ in viewer.heard] == [sent / 1000, (sent + 40) / 1000]
    assert 0.4 < viewer.heard[0][1] < 5


def test_the_model_server_says_when_each_word_was_sent() -> None:
    with (
        model_server("bench._stamps", WORDS_A_SECOND) as url,
        urlopen(Request(url, b"{}", method="POST"), timeout=10) as answer,
    ):
        began, stamps = time.time(), list[int]()
        while len(stamps) < WORDS_A_SECOND:
            stamps += map(int, re.findall(rb"t(\d{13})", answer.readline()))
    assert time.time() - began >= 0.8
    assert stamps == sorted(stamps)
    assert abs(stamps[-1] / 1000 - time.time()) < 5


@pytest.mark.parametrize("name", PEERS)
def test_packages_of_the_others_are_pinned(name: str) -> None:
    lines = (REQUIREMENTS / f"{name}.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.!+-]+", line) for line in lines)
    assert re.fullmatch(rf"{name.capitalize()} [\d.]+", version(name))


def test_each_of_the_others_has_an_app_that_knows_nothing_of_leaf() -> None:
    served = REQUIREMENTS.parent / "served"
    assert sorted(path.name for path in served.glob("*.py")) == [f"{name}_app.py" for name in PEERS]
    assert not any(re.search(r"\bleaf\b", path.read_text()) for path in served.glob("*.py"))

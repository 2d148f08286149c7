"""What answers grow by: each chunk is shown once and in order, whatever was told, lost or late."""

from __future__ import annotations

import random

import pytest
from dbos import DBOS
from sqlalchemy.exc import SQLAlchemyError

from leaf.errors import RunError
from leaf.runs.batches import MOST_KEPT, Batch, BatchFollower, batches, told
from leaf.runs.steps import Stream
from leaf.shapes.chunks import Chunk, chunk
from leaf.store.listener import LONGEST_LINE
from leaf.store.postgres import PostgresDatabase
from tests.live_kit import wait_until


def words(first: int, last: int) -> list[Chunk]:
    return [chunk("text-delta", id="1", delta=f"{n} ") for n in range(first, last)]


def text(shown: list[Chunk]) -> str:
    return "".join(c["delta"] for c in shown if c["type"] == "text-delta")


def written(parts: list[Batch], rng: random.Random) -> list[list[Chunk]]:
    """The same as pieces of the run database, some batches a piece."""
    pieces = []
    while parts:
        several = rng.randint(1, 4)
        pieces.append([c for batch in parts[:several] for c in batch.kept()])
        parts = parts[several:]
    return pieces


def cut(writer: str, first: int, last: int, rng: random.Random) -> list[Batch]:
    found, start, at = [], 0, first
    while at < last:
        end = min(last, at + rng.randint(1, 5))
        found.append(Batch(writer, start, start + end - at, words(at, end)))
        start, at = start + end - at, end
    return found


@pytest.mark.parametrize("seed", range(200))
def test_each_chunk_is_shown_once_and_in_order_whatever_is_lost_on_the_way(seed: int) -> None:
    """Two writers after each other; notices are lost, doubled and late, writes are repeated."""
    rng = random.Random(seed)
    first, second = cut("a", 0, 40, rng), cut("b", 40, 90, rng)
    pieces = written(first, rng) + written(second, rng)
    notices = [b.line("m") for b in first + second if rng.random() < 0.8]
    if rng.random() < 0.3:
        notices.insert(rng.randrange(len(notices)), rng.choice(notices))
    late = rng.randint(0, 12)  # how far the run database is behind what is told
    shown: list[Chunk] = []
    follower = BatchFollower(shown.append)
    while pieces or notices:
        if notices and (not pieces or rng.random() < late / 13):
            follower.hear(told(notices.pop(0))[1])
        elif pieces:
            piece = pieces.pop(0)
            follower.read(piece)
            if rng.random() < 0.2:
                follower.read(piece)  # a write that was not confirmed is written again
    said = text(shown)
    assert said == "".join(f"{n} " for n in range(90))


def test_what_follows_is_shown_as_it_is_told() -> None:
    shown: list[Chunk] = []
    follower = BatchFollower(shown.append)
    one, two, three = (Batch("w", n, n + 1, words(n, n + 1)) for n in range(3))
    assert not follower.hear(two), "one before it is missing"
    follower.read(one.kept())
    assert text(shown) == "0 1 "
    assert follower.hear(three)
    assert text(shown) == "0 1 2 "
    follower.read([*two.kept(), *three.kept()])
    assert follower.hear(two)
    assert text(shown) == "0 1 2 "


def test_no_more_is_kept_of_what_is_told_too_early_than_may_be() -> None:
    shown: list[Chunk] = []
    follower = BatchFollower(shown.append)
    follower.read(Batch("w", 0, 1, words(0, 1)).kept())
    for n in range(2, MOST_KEPT + 3):
        follower.hear(Batch("w", n, n + 1, words(n, n + 1)))
    follower.read(Batch("w", 1, 2, words(1, 2)).kept())
    assert text(shown).split()[-1] == str(MOST_KEPT + 1), "and the last one is read later"


def test_what_is_told_too_early_is_not_said_to_be_shown() -> None:
    """By this the run database is read at once for what is missing."""
    shown: list[Chunk] = []
    follower = BatchFollower(shown.append)
    one, two, three = (Batch("w", n, n + 1, words(n, n + 1)) for n in range(3))
    follower.read(one.kept())
    assert not follower.hear(three), "two is missing"
    assert text(shown) == "0 "
    assert follower.hear(two)
    assert text(shown) == "0 1 2 "
    assert not follower.hear(Batch("another", 0, 1, words(7, 8))), "nothing of it was read"
    assert text(shown) == "0 1 2 "


def test_one_that_was_taken_for_gone_and_wakes_is_not_heard() -> None:
    shown: list[Chunk] = []
    follower = BatchFollower(shown.append)
    follower.read(Batch("old", 0, 1, words(0, 1)).kept())
    follower.read(Batch("new", 0, 1, words(1, 2)).kept())
    assert not follower.hear(Batch("old", 1, 2, words(7, 8)))
    assert follower.hear(Batch("new", 1, 2, words(2, 3)))
    assert text(shown) == "0 1 2 "


def test_what_an_earlier_version_wrote_has_no_numbers_and_is_shown() -> None:
    shown: list[Chunk] = []
    follower = BatchFollower(shown.append)
    follower.read([chunk("begin", step="model-1", attempt=1), *words(0, 2)])
    follower.read(words(2, 4))
    assert text(shown) == "0 1 2 3 "
    assert [b.chunks for b in batches(words(0, 2))] == [words(0, 2)]
    later = Batch("w", 0, 2, words(2, 4))
    assert list(batches([*words(0, 2), *later.kept()])) == [Batch("", 0, 0, words(0, 2)), later]
    assert list(batches([])) == []
    numbered = Batch("w", 2, 2, [])
    assert list(batches([*later.kept(), *numbered.kept()])) == [later, numbered]
    assert list(batches([*numbered.kept(), *words(0, 1)])) == [Batch("w", 2, 2, words(0, 1))]


def test_a_batch_stands_in_both_places_with_its_numbers() -> None:
    batch = Batch("w", 3, 5, words(3, 5))
    assert batch.kept() == [chunk("batch", writer="w", start=3, end=5), *words(3, 5)]
    assert told(batch.line("m1")) == ("m1", batch)


def test_what_was_shown_is_not_shown_again_whichever_way_it_comes() -> None:
    shown: list[Chunk] = []
    follower = BatchFollower(shown.append)
    one, two, three = (Batch("w", n, n + 1, words(n, n + 1)) for n in range(3))
    follower.read([*one.kept(), *two.kept()])
    assert follower.hear(two)
    assert follower.hear(one)
    follower.read(two.kept())
    assert not follower.hear(Batch("w", 3, 4, words(3, 4)))
    follower.read(three.kept())
    assert text(shown) == "0 1 2 3 ", "what was told too early follows what was read"
    other = [Batch("v", n, n + 1, words(n + 4, n + 5)) for n in range(2)]
    follower.read(other[0].kept())
    assert follower.hear(other[1])
    assert text(shown) == "0 1 2 3 4 5 ", "another writer begins to count anew"


def test_others_are_told_once_of_what_an_answer_grew_by() -> None:
    stream = Stream()
    for c in words(0, 3):
        stream.add(c)
    [line] = stream.untold("m1")
    answer, batch = told(line)
    assert (answer, batch.start, batch.end, text(batch.chunks)) == ("m1", 0, 3, "0 1 2 ")
    assert stream.untold("m1") == []
    stream.add(*words(3, 4))
    assert [told(line)[1].start for line in stream.untold("m1")] == [3]


@pytest.mark.parametrize(
    "line", ["", "m", "m w 0 1 [", "m w x 1 []", 'm w 0 1 {"a": 1}', "m w 0 1 [3]"]
)
def test_a_line_that_is_no_part_of_an_answer_is_refused(line: str) -> None:
    with pytest.raises(RunError):
        told(line)


def test_what_a_line_cannot_hold_comes_back_as_it_went(postgres_url: str) -> None:
    """Through a real server: odd letters, several lines, and one that is too long for a notice."""
    here, there = PostgresDatabase(postgres_url), PostgresDatabase(postgres_url)
    heard: list[str] = []
    own: list[str] = []
    try:
        there.changes.hear(heard.append)
        here.changes.hear(own.append)
        here.listen()
        there.listen()
        odd = [chunk("text-delta", id="1", delta="a\x00\n\u2028 שלום 🌿 'x' %s")]
        lines = [
            Batch("w", 0, 1, odd).line("m"),
            "z" * LONGEST_LINE,
            Batch("w", 1, 2, odd).line("m"),
        ]
        wait_until(lambda: bool(here.tell(lines) or heard))
        assert [told(line)[1].start for line in heard[:2]] == [0, 1]
        assert told(heard[0])[1].chunks == odd
        here.tell([])
        here.tell(["y" * LONGEST_LINE])
        assert own == []
    finally:
        here.close()
        there.close()


def test_a_stream_is_written_inside_of_steps_and_again_where_that_failed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    written_now: list[Chunk] = []
    failing = [False]

    def write(_stream: str, piece: list[Chunk]) -> None:
        if failing[0]:
            raise SQLAlchemyError("The disk is full.")
        written_now.extend(piece)

    monkeypatch.setattr(DBOS, "write_stream", write)
    stream = Stream()
    stream.add(words(0, 1)[0])
    stream.flush()
    assert written_now == [], "outside of a step it would be a step of its own"
    with stream.step("model-1", 1):
        stream.flush()
        assert text(written_now) == "0 "
        failing[0] = True
        for n in range(1, 4):
            stream.add(words(n, n + 1)[0])
            stream.flush()
        assert text(written_now) == "0 "
        assert [r.message for r in caplog.records] == [
            "a stream is not written for now: SQLAlchemyError"
        ], "it is said once, and tried some times a second"
        failing[0] = False
        stream.flush()
        assert text(written_now) == "0 1 2 3 "
        failing[0] = True
        stream.add(words(4, 5)[0])
        stream.flush()
        assert len(caplog.records) == 2, "and again when it fails anew"
        failing[0] = False
    assert text(written_now) == "0 1 2 3 4 "
    found = list(batches(written_now))
    assert [(b.start, b.end) for b in found] == [(n, n + 1) for n in range(6)]
    assert {b.writer for b in found} == {found[0].writer} != {""}
    assert found[1].chunks[0] == chunk("begin", step="model-1", attempt=1)
    stream.add(words(5, 6)[0])
    stream.flush()
    assert text(written_now) == "0 1 2 3 4 ", "after its end nothing is written"

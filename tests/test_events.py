"""Chunks and the reducer that makes parts of them."""

from __future__ import annotations

import random

import pytest

from leaf.agent.events import TERMINAL, Chunk, chunk, compact, reduce, replay

ANSWER: list[Chunk] = [
    chunk("start", messageId="m1"),
    chunk("start-step", step=1),
    chunk("reasoning-start", id="r1"),
    chunk("reasoning-delta", id="r1", delta="Look "),
    chunk("reasoning-delta", id="r1", delta="first."),
    chunk("reasoning-end", id="r1"),
    chunk("tool-input-start", toolCallId="c1", toolName="query_tables"),
    chunk("tool-input-delta", toolCallId="c1", inputTextDelta='{"sql": '),
    chunk("tool-input-delta", toolCallId="c1", inputTextDelta='"SELECT 1"}'),
    chunk(
        "tool-input-available", toolCallId="c1", toolName="query_tables", input={"sql": "SELECT 1"}
    ),
    chunk("tool-output-available", toolCallId="c1", output={"text": "1"}),
    chunk("finish-step"),
    chunk("start-step", step=2),
    chunk("text-start", id="t1"),
    chunk("text-delta", id="t1", delta="It is "),
    chunk("text-delta", id="t1", delta="one."),
    chunk("text-end", id="t1"),
    chunk("finish-step"),
    chunk("source-document", sourceId="s1", mediaType="text/csv", title="a.csv", filename="a.csv"),
    chunk("data-usage", id="usage", data={"input": 3}),
    chunk("finish", finishReason="stop"),
]


def test_stream_becomes_parts_in_the_order_in_which_they_began() -> None:
    assert reduce(ANSWER) == [
        {"type": "step-start"},
        {"type": "reasoning", "id": "r1", "text": "Look first.", "state": "done"},
        {
            "type": "tool-query_tables",
            "toolCallId": "c1",
            "state": "output-available",
            "input": {"sql": "SELECT 1"},
            "output": {"text": "1"},
        },
        {"type": "step-start"},
        {"type": "text", "id": "t1", "text": "It is one.", "state": "done"},
        {
            "type": "source-document",
            "sourceId": "s1",
            "mediaType": "text/csv",
            "title": "a.csv",
            "filename": "a.csv",
        },
        {"type": "data-usage", "id": "usage", "data": {"input": 3}},
    ]


def test_compacted_stream_gives_the_same_parts_in_fewer_chunks() -> None:
    assert reduce(compact(ANSWER)) == reduce(ANSWER)
    assert len(compact(ANSWER)) == len(ANSWER) - 3


@pytest.mark.parametrize("seed", range(20))
def test_step_that_runs_again_after_a_crash_shows_once(seed: int) -> None:
    random_cut = random.Random(seed)
    first, second = ANSWER[1:12], ANSWER[12:18]
    cut_first, cut_second = (
        first[: random_cut.randrange(len(first))],
        second[: random_cut.randrange(len(second))],
    )
    stream = [
        ANSWER[0],
        *cut_first,
        *first,
        *cut_second,
        *second,
        *second,
        *ANSWER[18:20],
        *ANSWER[18:],
    ]
    assert reduce(stream) == reduce(ANSWER)


def test_reset_drops_what_the_named_step_had_shown_and_nothing_before_it() -> None:
    cut = [*ANSWER[:15], chunk("data-reset-step", data={"step": 2}, transient=True)]
    assert reduce(cut) == [*reduce(ANSWER[:12]), {"type": "step-start"}]


def test_reset_without_a_number_means_the_newest_step() -> None:
    assert reduce([*ANSWER[:15], chunk("data-reset-step", data={})]) == reduce(
        [*ANSWER[:15], chunk("data-reset-step", data={"step": 2}, transient=True)]
    )


def test_reset_of_a_step_that_had_not_begun_drops_nothing() -> None:
    assert reduce(
        [*ANSWER[:12], chunk("data-reset-step", data={"step": 2}, transient=True)]
    ) == reduce(ANSWER[:12])


@pytest.mark.parametrize(
    "last", [chunk("abort", reason="Stopped."), chunk("error", errorText="Cut."), chunk("finish")]
)
@pytest.mark.parametrize("length", [7, 8, 10])
def test_stream_that_ends_early_leaves_no_call_open(last: Chunk, length: int) -> None:
    part = reduce([*ANSWER[:length], last])[-1]
    assert (part["state"], part["errorText"]) == ("output-error", "Not finished.")
    assert "inputText" not in part


def test_text_that_was_streaming_is_done_when_the_stream_ends() -> None:
    assert reduce([*ANSWER[:15], chunk("abort", reason="Stopped.")])[-1] == {
        "type": "text",
        "id": "t1",
        "text": "It is ",
        "state": "done",
    }


def test_wrong_input_of_a_call_is_kept_with_the_reason() -> None:
    wrong = chunk(
        "tool-input-error",
        toolCallId="c1",
        toolName="query_tables",
        input='{"sql',
        errorText="Not JSON.",
    )
    assert reduce([*ANSWER[:8], wrong])[-1] == {
        "type": "tool-query_tables",
        "toolCallId": "c1",
        "state": "output-error",
        "input": '{"sql',
        "errorText": "Not JSON.",
    }


def test_data_with_an_id_replaces_the_earlier_one_and_without_is_added() -> None:
    parts = reduce(
        [chunk("data-a", id="1", data=1), chunk("data-a", id="1", data=2), chunk("data-a", data=3)]
    )
    assert parts == [{"type": "data-a", "id": "1", "data": 2}, {"type": "data-a", "data": 3}]


def test_unknown_chunks_and_orphan_deltas_are_passed_over() -> None:
    orphans = [
        chunk("weather"),
        chunk("text-delta", id="x", delta="?"),
        chunk("tool-output-available", toolCallId="x", output={}),
    ]
    assert reduce(orphans) == []


def random_stream(rng: random.Random) -> list[Chunk]:
    """Steps with texts, thoughts and tool calls in any state, some of them begun again, the last
    one perhaps cut off."""
    stream = [chunk("start", messageId="m1")]
    for step in range(1, rng.randrange(1, 5)):
        shown = [
            c for block in range(rng.randrange(4)) for c in random_block(rng, f"{step}.{block}")
        ]
        if rng.random() < 0.3:
            stream += [
                chunk("start-step", step=step),
                *shown[: rng.randrange(len(shown) + 1)],
                chunk("data-reset-step", data={"step": step}, transient=True),
            ]
        stream += [chunk("start-step", step=step), *shown, chunk("finish-step")]
    stream += [
        chunk("source-document", sourceId=f"s{n}", title="a.csv") for n in range(rng.randrange(3))
    ]
    stream += [chunk("data-note", data={"n": n}) for n in range(rng.randrange(3))]
    stream += [
        chunk("file", url="/a.png", mediaType="image/png"),
        chunk("data-usage", id="usage", data={"input": 3}),
    ]
    if rng.random() < 0.3:
        stream = stream[: rng.randrange(1, len(stream) + 1)]
    return [*stream, *([chunk(rng.choice(sorted(TERMINAL)))] if rng.random() < 0.7 else [])]


def random_block(rng: random.Random, name: str) -> list[Chunk]:
    if rng.random() < 0.5:
        kind = rng.choice(["text", "reasoning"])
        deltas = [
            chunk(f"{kind}-delta", id=name, delta=rng.choice(["a ", "", "é"]))
            for _ in range(rng.randrange(4))
        ]
        return [
            chunk(f"{kind}-start", id=name),
            *deltas,
            *[chunk(f"{kind}-end", id=name)] * rng.randrange(2),
        ]
    call = [
        chunk("tool-input-start", toolCallId=name, toolName="read_file"),
        chunk("tool-input-delta", toolCallId=name, inputTextDelta='{"file": '),
        chunk("tool-input-available", toolCallId=name, toolName="read_file", input={"file": "f1"}),
        rng.choice(
            [
                chunk("tool-output-available", toolCallId=name, output={"text": "1"}),
                chunk("tool-output-error", toolCallId=name, errorText="No such file."),
                chunk(
                    "tool-input-error",
                    toolCallId=name,
                    toolName="read_file",
                    input={},
                    errorText="file is missing.",
                ),
            ]
        ),
    ]
    return call[: rng.randrange(1, len(call) + 1)]


@pytest.mark.parametrize("seed", range(200))
def test_replayed_parts_give_the_same_parts(seed: int) -> None:
    parts = reduce(random_stream(random.Random(seed)))
    assert reduce(replay(parts)) == parts


def test_deltas_are_joined_only_with_neighbours_of_their_own_block() -> None:
    chunks = [
        chunk("text-delta", id=block, delta=text)
        for block, text in (("a", "1"), ("a", "2"), ("b", "3"), ("a", "4"))
    ]
    chunks += [chunk("data-document-delta", id="d", data={"delta": text}) for text in ("x", "y")]
    chunks += [chunk("finish-step"), chunk("finish-step")]
    found = [(c.get("id"), c.get("delta") or c.get("data")) for c in compact(chunks)]
    assert found == [
        ("a", "12"),
        ("b", "3"),
        ("a", "4"),
        ("d", {"delta": "xy"}),
        (None, None),
        (None, None),
    ]


def test_replay_of_a_whole_answer_is_the_compacted_stream_without_its_first_and_last_chunk() -> (
    None
):
    replayed = replay(reduce(ANSWER))
    assert [
        c["type"] for c in replayed if c["type"] not in ("finish-step", "tool-input-delta")
    ] == [
        c["type"]
        for c in compact(ANSWER)[1:-1]
        if c["type"] not in ("finish-step", "tool-input-delta")
    ]

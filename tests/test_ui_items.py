"""From parts to items, and from items to elements of a growing answer."""

from __future__ import annotations

from typing import Any

import pytest

from leaf.agent.events import apply, chunk, reduce
from leaf.runs.run import Run
from leaf.shapes.part_values import newest
from leaf.ui.items import Item, answer_text, items
from leaf.ui.live.polled import PolledAnswer, PolledView
from leaf.ui.steps import caption, icon

TEXT = "First paragraph.\n\n```sql\nselect 1\n```\n\nSecond paragraph, longer.\n\n" * 3


def stream() -> list[dict[str, Any]]:
    """Chunks of an answer with a thought, two steps side by side, a chart and text."""
    output = {"text": "x", "summary": "Did it", "sources": [], "coverage": [], "data": {}}
    charted = {
        **output,
        "data": {"chart": {"spec": {"mark": "bar"}, "columns": ["a"], "rows": [[1]]}},
    }
    chunks = [chunk("start", messageId="m"), chunk("start-step"), chunk("reasoning-start", id="r")]
    chunks += [chunk("reasoning-delta", id="r", delta=word) for word in ("Look ", "first.")]
    chunks += [chunk("reasoning-end", id="r")]
    for call, name in (("1", "query_tables"), ("2", "make_chart")):
        chunks += [chunk("tool-input-start", toolCallId=call, toolName=name)]
        chunks += [chunk("tool-input-delta", toolCallId=call, inputTextDelta='{"sql"')]
        chunks += [
            chunk("tool-input-available", toolCallId=call, toolName=name, input={"sql": "select 1"})
        ]
    chunks += [chunk("tool-output-available", toolCallId="2", output=charted)]
    chunks += [
        chunk("tool-output-available", toolCallId="1", output=output),
        chunk("finish-step"),
        chunk("start-step"),
    ]
    chunks += [
        chunk("text-start", id="t"),
        *(chunk("text-delta", id="t", delta=TEXT[i : i + 5]) for i in range(0, len(TEXT), 5)),
    ]
    return [
        *chunks,
        chunk("text-end", id="t"),
        chunk("data-usage", id="u", data={"input": 5}),
        chunk("finish", finishReason="stop"),
    ]


class Screen:
    """What stands in each element, and every drawing that a real page would refuse."""

    def __init__(self) -> None:
        self.elements: list[Item] = []
        self.keys_this_pass: set[str] = set()

    def draw(self, view: PolledView, place: Any, item: Item) -> int:
        if item.kind in ("step", "chart"):
            assert item.key not in self.keys_this_pass, "a widget was drawn twice in one pass"
            self.keys_this_pass.add(item.key)
        if isinstance(place, int):
            self.elements[place] = item
            return place
        self.elements[len(view.drawn) :] = [item]
        return len(view.drawn)


def new_pass(screen: Screen) -> PolledView:
    screen.keys_this_pass = set()
    view = PolledView("c", "m")
    view._draw = lambda place, item: screen.draw(view, place, item)  # type: ignore[method-assign]  # the screen stands for Streamlit
    return view


@pytest.mark.parametrize("pass_length", [1, 3, 7, 1000])
def test_however_the_passes_fall_the_page_ends_with_the_items_of_the_whole(
    pass_length: int,
) -> None:
    screen, parts, chunks = Screen(), [], stream()
    view = new_pass(screen)
    for number, piece in enumerate(chunks):
        apply(parts, piece)
        if number % pass_length == 0 or not view.draw(items(parts, running=True)):
            view = new_pass(screen)
            assert view.draw(items(parts, running=True))
    view = new_pass(screen)
    assert view.draw(items(parts))
    assert screen.elements[: len(view.drawn)] == items(parts)


def test_a_running_answer_says_so_until_text_grows() -> None:
    parts: list[dict[str, Any]] = []
    assert [item.kind for item in items(parts, running=True)] == ["waiting"]
    apply(parts, chunk("text-start", id="t"))
    apply(parts, chunk("text-delta", id="t", delta="Hello"))
    assert [item.kind for item in items(parts, running=True)] == ["text"]
    assert [item.kind for item in items([], running=False)] == []


def test_what_a_run_waits_for_stands_at_its_end_until_it_goes_on() -> None:
    parts: list[dict[str, Any]] = []
    for text in ("Hel", "lo"):
        apply(parts, chunk("text-start", id="t"))
        apply(parts, chunk("text-delta", id="t", delta=text))
        apply(parts, chunk("data-status", id="status", data={"text": "Trying again in 1 s."}))
        assert [(item.kind, item.text) for item in items(parts, running=True)][1:] == [
            ("status", "Trying again in 1 s.")
        ]
        assert [item.kind for item in items(parts)] == ["text"]
        apply(parts, chunk("data-status", id="status", data={"text": ""}))
        assert [item.kind for item in items(parts, running=True)] == ["text"]


def test_steps_and_text_stand_in_the_order_in_which_they_came() -> None:
    parts: list[dict[str, Any]] = []
    for piece in stream():
        apply(parts, piece)
    kinds = [item.kind for item in items(parts)]
    assert kinds[:4] == ["thought", "step", "step", "chart"]
    assert set(kinds[4:]) == {"text", "code"}


def test_a_follower_reads_each_chunk_once() -> None:
    run, follower = Run("m"), PolledAnswer()
    for piece in stream()[:-1]:
        run.emit(piece)
        follower.read(run)
    assert not follower.done
    assert not follower.read(run)
    run.emit(stream()[-1])
    assert follower.read(run)
    assert follower.done
    assert answer_text(follower.parts) == TEXT.strip()
    assert newest(follower.parts, "usage") == {"input": 5}


def test_a_follower_begins_anew_with_another_run_of_the_answer() -> None:
    """As where a process that wrote it is gone, and another goes on."""
    first, second, follower = Run("m"), Run("m"), PolledAnswer()
    for piece in stream()[:12]:
        first.emit(piece)
    first.emit(chunk("abort", reason="This answer goes on in another process."))
    follower.read(first)
    assert follower.done
    for piece in stream():
        second.emit(piece)
        follower.read(second)
    assert answer_text(follower.parts) == TEXT.strip()
    assert items(follower.parts) == items(reduce(stream()))


def test_a_step_is_named_in_plain_words_in_every_state() -> None:
    step: dict[str, Any] = {
        "type": "tool-query_tables",
        "toolCallId": "1",
        "state": "input-available",
        "input": {},
    }
    assert caption(step).startswith(":shimmer[")
    assert icon(step) == "spinner"
    step.update(
        state="output-available",
        output={"summary": "Summed *revenue* in q3_sales", "seconds": 0.21},
    )
    assert caption(step) == "Summed \\*revenue\\* in q3\\_sales · 0\\.2 s"
    step.update(state="output-error", errorText="No table.")
    assert caption(step).endswith("did not work\\: No table")
    assert "error" in icon(step)

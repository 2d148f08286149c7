"""A tool is one place: what is declared of it is all that page, compaction, exports and replay know
of it."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from pydantic import BaseModel, Field
from streamlit.testing.v1 import AppTest

from leaf.agent.stubs import receipt
from leaf.provenance.receipts.answer import kept_receipts
from leaf.replay import replay
from leaf.shapes.results import TableShown, ToolResult
from leaf.tools import registry
from leaf.tools.base import Source, Tool, ToolContext, ToolOutput, find_file
from leaf.ui.steps import caption, icon
from leaf.ui.words import tool_of
from tests.leaf_kit import add, finished, opened
from tests.messages_server import MessagesServer, Turn

WORDS = ("plum " * 37 + "fig " * 11).encode()


class CountWordsInput(BaseModel):
    file: str = Field(title="File", description="Handle or name.")
    least: int = Field(1, title="At least", description="Leave out words that are rarer.")


class WordsCounted(ToolResult):
    table: TableShown


def count_words(context: ToolContext, given: CountWordsInput) -> ToolOutput:
    found = find_file(context, given.file)
    words = context.library.open(context.scope, found.file.id).read_text().split()
    rows = [[word, times] for word, times in Counter(words).most_common() if times >= given.least]
    table = {
        "columns": ["word", "times"],
        "types": ["VARCHAR", "BIGINT"],
        "rows": rows,
        "total": len(rows),
    }
    source = Source(found.handle, found.file.id, found.file.name, "", "read")
    text = "\n".join(f"{word}: {times}" for word, times in rows) + "\n" + "(end of the list)" * 60
    return ToolOutput(
        text, f"Counted the words of {found.file.name}", (source,), data=WordsCounted(table=table)
    )


COUNT_WORDS = Tool(
    "count_words",
    "Counts words.",
    CountWordsInput,
    count_words,
    "Counting words",
    icon="match_word",
    result=WordsCounted,
    replay="step",
)


def test_a_tool_is_added_in_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "FAMILIES", (*registry.FAMILIES, (COUNT_WORDS,)))
    data = tmp_path / "data"
    data.mkdir()
    (data / "fruit.txt").write_bytes(WORDS)
    turns = [Turn.call(("count_words", {"file": "f1"})), Turn.say("Plum stands there 37 times.")]
    with (
        MessagesServer(turns) as server,
        opened(tmp_path / "home", api_key="k", model_url=server.url) as leaf,
    ):
        scope = leaf.local_scope()
        session = leaf.session(scope)
        file = add(session, "fruit.txt", WORDS)
        chat = session.chats.create()
        message = finished(session, session.messages.send(chat.id, "How often?", [file.id]).id)
        exported = session.chats.export(chat.id, "folder", tmp_path).read_bytes()
        markdown = zipfile.ZipFile(io.BytesIO(exported)).read("chat.md").decode()

    step = next(part for part in message.parts if part["type"] == "tool-count_words")
    assert caption(step).startswith("Counted the words of fruit\\.txt")
    assert caption({**step, "state": "input-available"}) == ":shimmer[Counting words …]"
    assert icon(step) == ":material/match_word:"
    assert tool_of(step).inputs == {"file": "File", "least": "At least"}
    assert [(r["text"], r["kind"], r["call_id"]) for r in kept_receipts(message.parts)] == [
        ("37", "exact", step["toolCallId"])
    ]
    assert "> Counted the words of fruit.txt" in markdown

    use = {"name": "count_words", "input": step["input"]}
    assert "Make the call again to see its result again." in receipt(
        use, step["output"], step["output"]["text"]
    )

    (tmp_path / "chat.zip").write_bytes(exported)
    assert replay(tmp_path / "chat.zip", data).total == "0 of 0 queries, 1 of 1 figures agree."
    (data / "fruit.txt").write_bytes(WORDS)
    monkeypatch.setattr(registry, "FAMILIES", registry.FAMILIES[:-1])
    assert (
        replay(tmp_path / "chat.zip", data).total == "0 of 0 queries, 0 of 1 figures agree."
    )  # nothing runs it again


def draw_step() -> None:
    import json
    import os

    import streamlit as st

    from leaf.ui import steps
    from leaf.ui.items import Item

    steps.draw(st.container(), Item("step", "k", step=json.loads(os.environ["STEP"])), "", "m")


def test_a_step_of_any_tool_is_drawn_with_the_words_of_its_parameters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "FAMILIES", (*registry.FAMILIES, (COUNT_WORDS,)))
    output = {
        "text": "plum: 37",
        "summary": "Counted the words of fruit.txt",
        "sources": [],
        "coverage": [],
        "data": {},
    }
    step = {
        "type": "tool-count_words",
        "toolCallId": "1",
        "state": "output-available",
        "input": {"file": "f1"},
        "output": output,
    }
    monkeypatch.setenv("STEP", json.dumps(step))
    page = AppTest.from_function(draw_step, default_timeout=60).run()
    assert not page.exception
    assert [e.label for e in page.expander] == ["Counted the words of fruit\\.txt"]


@pytest.mark.parametrize(
    ("effect", "again"), [("write", False), ("outside", False), ("read", True)]
)
def test_what_changes_something_is_not_to_be_called_again(
    monkeypatch: pytest.MonkeyPatch, effect: str, again: bool
) -> None:
    changing = Tool(
        "send_mail", "", CountWordsInput, count_words, effect=effect, repeatable=effect == "read"
    )  # type: ignore[arg-type]
    monkeypatch.setattr(registry, "FAMILIES", ((changing,),))
    told = receipt({"name": "send_mail", "input": {}}, {"summary": "Sent"}, "x" * 1_000)
    assert ("Make the call again" in told) is again


def test_a_call_of_a_tool_that_is_not_there_any_more_is_shown() -> None:
    step = {"type": "tool-draw_map", "state": "output-error"}
    assert caption(step) == "Draw map · did not work"
    assert tool_of(step).replay == "no"
    assert tool_of(step).effect == "read"


def test_every_tool_is_declared_whole() -> None:
    for tool in (tool for family in registry.FAMILIES for tool in family):
        assert tool.title, tool.name
        assert tool.icon != "check", tool.name
        assert tool.repeatable or tool.effect != "read" or tool.replay == "chart", tool.name
        assert not (tool.effect != "read" and tool.repeatable), tool.name

"""What a run lends to a tool: the model for a text of its own, live chunks, progress, and rich
results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

import pytest

from leaf.agent.blocks import output_result, plain, question_message
from leaf.agent.budget import FileInChat
from leaf.agent.events import compact, reduce
from leaf.agent.models.claude import ClaudeModel
from leaf.agent.steps import InlineSteps
from leaf.agent.task import AnswerTask, Outcome
from leaf.errors import ModelError
from leaf.settings import RunLimits
from leaf.store.model import Message
from leaf.tools.base import Asked, AskRequest, CitablePassage, Hooks, Picture, ToolOutput
from tests import agent_kit
from tests.messages_server import Failure, MessagesServer, Turn

Json = dict[str, Any]
CALL = ("add_numbers", {"numbers": [1]})


Serve = Callable[..., MessagesServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A server with a script, closed with the test."""
    with ExitStack() as stack:
        yield lambda *script: stack.enter_context(MessagesServer(script))


def run(
    server: MessagesServer, tool: Any, *, model: str = "claude-sonnet-5-5", **options: Any
) -> tuple[Outcome, list[Json]]:
    chunks: list[Json] = []
    agent = agent_kit.agent_for(ClaudeModel("key", server.url, retries=0), **options)
    task = AnswerTask("a1", model, [agent_kit.question("Write it down")], tool, RunLimits())
    return agent.answer(task, chunks.append, InlineSteps(), threading.Event()), chunks


def tool_results(server: MessagesServer) -> list[Json]:
    return [
        b for b in server.requests[-1].body["messages"][-1]["content"] if b["type"] == "tool_result"
    ]


def test_a_tool_has_the_model_write_a_text_that_counts_as_the_answers(serve: Serve) -> None:
    server = serve(Turn.call(CALL), Turn.say("A long report."), Turn.say("Done."))
    pieces: list[str] = []
    asked: list[Asked] = []

    def tool(name: str, given: Json, stop: threading.Event, hooks: Hooks) -> ToolOutput:
        assert hooks.ask is not None
        assert hooks.ask.window == 1_000_000
        assert hooks.key.startswith("a1/tool-1-1")
        asked.append(
            hooks.ask(AskRequest("You write reports.", "the transcript", 500), pieces.append)
        )
        return ToolOutput("written", "Wrote a report")

    outcome, _ = run(server, tool)
    assert "".join(pieces) == asked[0].text == "A long report."
    writing = server.requests[1].body
    assert "tools" not in writing
    assert writing["max_tokens"] == 500
    assert "the transcript" in str(writing["messages"])
    assert "the transcript" not in str(server.requests[2].body)
    alone = serve(Turn.call(CALL), Turn.say("Done."))
    without, _ = run(alone, lambda *_: ToolOutput("written", "Wrote a report"))
    assert outcome.usage["output"] == without.usage["output"] + asked[0].output_tokens
    assert outcome.usage["cost"] > without.usage["cost"]


def test_a_cut_stream_begins_the_text_anew(serve: Serve) -> None:
    server = serve(
        Turn.call(CALL),
        Turn.say("A long report in many words.", cut_after=4),
        Turn.say("Whole."),
        Turn.say("Done."),
    )
    said: list[str] = []

    def tool(name: str, given: Json, stop: threading.Event, hooks: Hooks) -> ToolOutput:
        assert hooks.ask is not None
        text = hooks.ask(AskRequest("You write.", "x", 500), said.append, said.clear).text
        return ToolOutput(text, "Wrote")

    outcome, _ = run(server, tool)
    assert outcome.status == "completed"
    assert "".join(said) == "Whole."


def test_a_model_that_refuses_is_the_tools_error(serve: Serve) -> None:
    server = serve(Turn.call(CALL), Failure.unauthorized(), Turn.say("It could not be written."))
    problems: list[str] = []

    def tool(name: str, given: Json, stop: threading.Event, hooks: Hooks) -> ToolOutput:
        assert hooks.ask is not None
        try:
            hooks.ask(AskRequest("You write.", "x", 500), lambda _: None)
        except ModelError as e:
            problems.append(str(e))
            raise
        raise AssertionError("the server refused")

    outcome, _ = run(server, tool)
    assert outcome.status == "completed"
    assert "401" in problems[0]


def test_rules_lend_no_model(serve: Serve) -> None:
    server = serve(Turn.call(CALL), Turn.say("Done."))
    lent: list[Hooks] = []
    run(
        server,
        lambda name, given, stop, hooks: lent.append(hooks) or ToolOutput("x", "y"),
        can_write=False,
    )
    [hooks] = lent
    assert hooks.ask is None
    assert hooks.file_tokens is None, "no model reads: there is nothing to save for one"


def test_what_cannot_go_back_to_the_model_is_the_tools_fault_and_the_answer_goes_on(
    serve: Serve,
) -> None:
    server = serve(Turn.call(CALL), Turn.say("It failed."))
    without_texts: Any = None
    broken = ToolOutput("x", "y", passages=(CitablePassage("f1#p 1", "a.pdf", without_texts),))
    outcome, _ = run(server, lambda *_: broken)
    assert outcome.status == "completed"
    [result] = tool_results(server)
    assert result["is_error"]
    assert "by a fault of Leaf" in result["content"]


def test_live_chunks_are_seen_and_only_what_the_output_shows_is_kept(serve: Serve) -> None:
    server = serve(Turn.call(CALL), Turn.say("Done."))

    def tool(name: str, given: Json, stop: threading.Event, hooks: Hooks) -> ToolOutput:
        hooks.progress("half of it")
        hooks.show("document", "d1", {"title": "Report", "state": "writing"})
        hooks.show("document-delta", "d1", {"delta": "One "})
        hooks.show("document-delta", "d1", {"delta": "two"})
        return ToolOutput(
            "ok",
            "Wrote",
            shows=({"name": "document", "id": "d1", "data": {"title": "Report", "state": "done"}},),
        )

    outcome, chunks = run(server, tool)
    at = [c["type"] for c in chunks].index("tool-output-available")
    seen = {part["type"]: part for part in reduce(compact(chunks[:at]))}
    assert seen["data-document"]["data"] == {
        "title": "Report",
        "state": "writing",
        "text": "One two",
    }
    assert seen["data-progress"]["data"] == {"text": "half of it"}
    assert len([c for c in compact(chunks) if c["type"] == "data-document-delta"]) == 1
    kept = [part for part in outcome.parts if part["type"].startswith("data-document")]
    assert kept == [
        {"type": "data-document", "id": "d1", "data": {"title": "Report", "state": "done"}}
    ]
    assert not [part for part in outcome.parts if part["type"] == "data-progress"]


PASSAGES = (CitablePassage("f1#pages 3", "report.pdf, page 3", ("First paragraph.", "Second.")),)
RICH = ToolOutput(
    "head\nFirst paragraph.\nSecond.", "Read", passages=PASSAGES, head="report.pdf · pages 3 of 9"
)


def test_passages_go_out_as_blocks_that_can_be_cited(serve: Serve) -> None:
    server = serve(Turn.call(CALL), Turn.say("Done."))
    run(server, lambda *_: RICH)
    first, passage = tool_results(server)[0]["content"]
    assert first == {"type": "text", "text": "report.pdf · pages 3 of 9"}
    assert passage["type"] == "search_result"
    assert passage["source"] == "f1#pages 3"
    assert passage["citations"] == {"enabled": True}
    assert [block["text"] for block in passage["content"]] == ["First paragraph.", "Second."]


def test_a_basic_server_gets_the_same_as_text(serve: Serve) -> None:
    server = serve(Turn.call(CALL), Turn.say("Done."))
    outcome, _ = run(server, lambda *_: RICH, profile_for=lambda _: "basic")
    text = "report.pdf · pages 3 of 9\n\n[f1#pages 3]\nFirst paragraph.\nSecond."
    assert tool_results(server)[0]["content"] == text
    kept = outcome.raw[1]["content"][0]["content"]
    assert kept[1]["type"] == "search_result", "the history keeps what another model can cite"


def test_pictures_are_kept_as_references_and_said_where_nobody_sees_them() -> None:
    picture = Picture("ab" * 32, "image/jpeg", 800, 600, "page 3 of scan.pdf")
    kept = output_result(
        "c1", ToolOutput("Page 3 of scan.pdf", "Looked", pictures=(picture,)).to_json()
    )
    assert kept["content"][1]["source"]["type"] == "leaf"
    assert kept["content"][1]["source"]["sha256"] == "ab" * 32
    said = plain({"role": "user", "content": [kept]})["content"][0]["content"]
    assert said == "Page 3 of scan.pdf\n\n[page 3 of scan.pdf: this model cannot see pictures.]"


def test_pictures_that_came_with_the_question_are_in_the_budget_by_their_file(serve: Serve) -> None:
    pages = [
        asdict(Picture("ab" * 32, "image/png", 280, 280, f"f1 scan.pdf, page {n}")) for n in (1, 2)
    ]
    raw = [question_message("What is it?", pictures=pages)]
    asked = Message("u1", "chat", "", "user", "completed", [], raw)
    server = serve(Turn.say("Two pages."))
    agent = agent_kit.agent_for(ClaudeModel("key", server.url, retries=0), sees_for=lambda _: False)
    files = [FileInChat("f1", "scan.pdf", 200, newest=True), FileInChat("f2", "a.csv", 900)]
    task = AnswerTask("a1", "claude-sonnet-5-5", [asked], lambda *_: RICH, files=files)
    outcome = agent.answer(task, lambda _: None, InlineSteps(), threading.Event())
    [budget] = [part["data"] for part in outcome.parts if part["type"] == "data-budget"]
    assert budget["used"] == 200
    assert [(f["handle"], f["choice"], f["read"]) for f in budget["files"]] == [
        ("f1", "shown at once", 200),
        ("f2", "metadata only", 0),
    ]


def test_a_call_may_bring_in_what_pictures_and_earlier_calls_leave(serve: Serve) -> None:
    page = asdict(Picture("ab" * 32, "image/png", 280, 280, "f1 scan.pdf, page 1"))
    asked = Message(
        "u1", "chat", "", "user", "completed", [], [question_message("Why?", pictures=[page])]
    )
    call = Turn.call(("read_lines", {"file": "report.pdf"}))
    server = serve(call, call, Turn.say("Done."))
    agent = agent_kit.agent_for(ClaudeModel("key", server.url, retries=0), sees_for=lambda _: False)
    left = list[int | None]()

    def tool(name: str, given: Json, stop: threading.Event, hooks: Hooks) -> ToolOutput:
        left.append(hooks.file_tokens)
        return agent_kit.run_tool(name, given, stop)

    files = [FileInChat("f1", "scan.pdf", 200), FileInChat("f2", "report.pdf", 10_000)]
    task = AnswerTask("a1", "claude-sonnet-5-5", [asked], tool, files=files, file_tokens=1_000)
    outcome = agent.answer(task, lambda _: None, InlineSteps(), threading.Event())
    [budget] = [part["data"] for part in outcome.parts if part["type"] == "data-budget"]
    assert left == [900, 1_000 - 100 - (budget["used"] - 100) // 2]


def test_what_is_read_twice_is_counted_twice(serve: Serve) -> None:
    def read(times: int) -> int:
        call = Turn.call(("read_lines", {"file": "report.pdf"}))
        server = serve(*[call] * times, Turn.say("Done."))
        agent = agent_kit.agent_for(ClaudeModel("key", server.url, retries=0))
        asked = agent_kit.question("What does it say?")
        files = [FileInChat("f1", "report.pdf", 10_000)]

        def tool(name: str, given: Json, stop: threading.Event, _: Hooks) -> ToolOutput:
            return agent_kit.run_tool(name, given, stop)

        task = AnswerTask("a1", "claude-sonnet-5-5", [asked], tool, files=files)
        outcome = agent.answer(task, lambda _: None, InlineSteps(), threading.Event())
        [budget] = [part["data"] for part in outcome.parts if part["type"] == "data-budget"]
        return int(budget["files"][0]["read"])

    assert read(1) > 0
    assert read(3) == 3 * read(1)

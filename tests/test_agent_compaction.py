"""Folding: a chat that outgrows its model goes on, its requests keep their beginnings, and nothing
is lost from the page."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from leaf.agent.amounts import Sizes
from leaf.agent.calibration import Calibration
from leaf.agent.compaction import (
    BranchPosition,
    Compaction,
    entries_of,
    first_sent,
    newest_compaction,
    render,
)
from leaf.agent.compaction_plan import Planner, WindowLimits
from leaf.agent.loop import Agent
from leaf.agent.models.claude import ClaudeModel
from leaf.agent.steps import InlineSteps, ModelStep, S, ToolStep, parse_step
from leaf.agent.stubs import result_stub
from leaf.readers.tokens import Rates
from leaf.store.model import Message
from leaf.tools.base import CitablePassage, Coverage, Source, ToolOutput
from tests.agent_kit import Answered, agent_for, answer, answered, question
from tests.messages_server import Failure, MessagesServer, Request, Turn

Json = dict[str, Any]
MODEL = "claude-sonnet-5-5"
WINDOW = 20_000
WORDS = [
    "revenue",
    "region",
    "order",
    "customer",
    "delivery",
    "contract",
    "warranty",
    "budget",
    "supplier",
    "Monday",
    "plan",
]


def prose(words: int, seed: int = 1) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def reads(words: int) -> Callable[..., ToolOutput]:
    """A tool that gives so many words, different for each place."""

    def run(name: str, given: Json, stop: object) -> ToolOutput:
        first = given.get("first", 1)
        text = f"report.txt (f1) · lines {first}\n\n" + prose(words, first)
        source = Source("f1", "id-1", "report.txt", f"lines {first}-{first + 9}", "read")
        return ToolOutput(
            text,
            f"Read lines {first}",
            (source,),
            (Coverage("id-1", "report.txt", "lines", 10, 900, ((first, 9),)),),
        )

    return run


def two_rounds(body: Json) -> Turn:
    """Reads twice a question, then answers."""
    last = next(
        i
        for i in range(len(body["messages"]) - 1, -1, -1)
        if body["messages"][i]["content"][0]["type"] == "text"
    )
    rounds = sum(m["role"] == "user" for m in body["messages"][last + 1 :])
    asked = sum(m["role"] == "user" and m["content"][0]["type"] == "text" for m in body["messages"])
    if rounds < 2:
        return Turn.call(
            ("read_lines", {"file": "report.txt", "first": asked * 100 + rounds * 10}),
            thinking=f"Place {rounds}.",
        )
    return Turn.say(f"Answer {asked}. " + prose(30, asked), thinking="That answers it.")


def small_agent(server: MessagesServer, window: int = WINDOW, **options: Any) -> Agent:
    return agent_for(
        ClaudeModel("key", server.url),
        window_for=lambda model: window,
        max_output_tokens=1_000,
        **options,
    )


def chat(
    server: MessagesServer, agent: Agent, turns: int, words: int = 700, model: str = MODEL
) -> list[Message]:
    """A chat of so many questions; the whole of it at the end."""
    history: list[Message] = []
    for turn in range(turns):
        history.append(question(f"Question {turn}? " + prose(10, turn), f"u{turn}"))
        done = answer(agent, history, model=model, tool=reads(words), message_id=f"a{turn}")
        assert done.outcome.status == "completed", done.outcome.error
        assert "limit" not in done.text
        history.append(answered_as(done, f"a{turn}", model))
    return history


def answered_as(done: Answered, message_id: str, model: str = MODEL) -> Message:
    return replace(answered(done.outcome, model, message_id), usage=done.outcome.usage)


def compactions(history: list[Message]) -> list[Json]:
    return [
        part["data"]
        for message in history
        for part in message.parts
        if part["type"] == "data-folded"
    ]


def sent(request: Request) -> str:
    """The messages of a request as text, without cache marks."""
    plain = json.loads(
        json.dumps(request.body["messages"]),
        object_hook=lambda d: {k: v for k, v in d.items() if k != "cache_control"},
    )
    return "".join(json.dumps(message) for message in plain)


def test_long_chat_never_outgrows_the_window_and_keeps_its_beginning_between_folds() -> None:
    with MessagesServer(two_rounds, window=60_000) as server:
        history = chat(server, small_agent(server, 60_000), 24)
        assert not server.refused
    assert 2 <= len(compactions(history)) <= 6
    bodies = [sent(request)[:-1] for request in server.requests]
    changed = sum(not after.startswith(before) for before, after in pairwise(bodies))
    assert changed == len(compactions(history))


def test_nothing_that_is_kept_is_changed_by_a_fold() -> None:
    with MessagesServer(two_rounds, window=WINDOW) as server:
        history = chat(server, small_agent(server), 12)
    assert compactions(history)
    whole = [
        b["content"]
        for m in history
        for raw in m.raw
        for b in raw["content"]
        if b["type"] == "tool_result"
    ]
    assert len(whole) == 24
    assert all(len(content) > 4_000 for content in whole)


def test_folded_result_says_what_it_was_what_it_saw_and_how_to_see_it_again() -> None:
    with MessagesServer(two_rounds, window=WINDOW) as server:
        chat(server, small_agent(server), 12)
    assert 'read_lines(file=\\"report.txt\\", first=100)' in sent(server.requests[-1])
    for words in (
        "Read lines 100",
        "10 of 900 lines of report.txt",
        "f1#lines 100-109",
        "Make the call again",
    ):
        assert words in sent(server.requests[-1])


def test_questions_and_answers_stay_whole_while_folding_results_is_enough() -> None:
    with MessagesServer(two_rounds, window=WINDOW) as server:
        history = chat(server, small_agent(server), 12)
    text = sent(server.requests[-1])
    assert all(
        json.dumps(m.raw[0]["content"][0]["text"])[1:-1] in text
        for m in history
        if m.role == "user"
    )
    assert all(f"Answer {n}. " in text for n in range(1, 12))


def test_one_long_answer_folds_its_own_older_results() -> None:
    def twenty(body: Json) -> Turn:
        rounds = sum(m["role"] == "user" for m in body["messages"]) - 1
        if rounds < 20:
            return Turn.call(
                ("read_lines", {"file": "r", "first": rounds * 10 + 1}), thinking="On."
            )
        return Turn.say("Done.")

    with MessagesServer(twenty, window=WINDOW) as server:
        done = answer(small_agent(server), "Read it all", tool=reads(900))
        assert not server.refused
    assert done.outcome.status == "completed"
    assert done.text == "Done."
    assert [p for p in done.outcome.parts if p["type"] == "data-folded"]
    assert "revenue" in str(server.requests[-1].body["messages"][-1]), (
        "the newest result is still whole"
    )


class KeptSteps(InlineSteps):
    """Steps whose values are kept, as a durable executor keeps them."""

    def __init__(self, kept: dict[str, Json], until: int = 10_000) -> None:
        super().__init__()
        self.kept = kept
        self.left = until

    def __call__(self, name: str, shape: type[S], function: Callable[[], S]) -> S:
        if name not in self.kept:
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            self.kept[name] = json.loads(json.dumps(function().to_json()))
        return shape.from_json(self.kept[name])

    def parallel(self, shape: type[S], jobs: Any) -> list[S]:
        return [self(name, shape, function) for name, function in jobs]


@pytest.mark.parametrize("crash_after", [5, 11, 17])
def test_answer_that_folded_and_was_interrupted_goes_on_with_the_same_requests(
    crash_after: int,
) -> None:
    def fifteen(body: Json) -> Turn:
        rounds = sum(m["role"] == "user" for m in body["messages"]) - 1
        call = Turn.call(("read_lines", {"file": "r", "first": rounds * 10 + 1}))
        return call if rounds < 15 else Turn.say("Done.")

    with MessagesServer(fifteen, window=WINDOW) as server:
        whole = answer(small_agent(server), "Read it all", tool=reads(900))
        wanted = [without_ids(sent(request)) for request in server.requests]
    with MessagesServer(fifteen, window=WINDOW) as server:
        kept: dict[str, Json] = {}
        agent = small_agent(server)
        with pytest.raises(KeyboardInterrupt):
            answer(agent, "Read it all", tool=reads(900), steps=KeptSteps(kept, crash_after))
        done = answer(small_agent(server), "Read it all", tool=reads(900), steps=KeptSteps(kept))
        assert [without_ids(sent(request)) for request in server.requests] == wanted
    assert [data["fold"] for data in compactions([answered_as(done, "a1")])] == [
        d["fold"] for d in compactions([answered_as(whole, "a1")])
    ]
    assert done.text == whole.text


def test_an_answer_that_takes_over_a_failed_one_sends_no_more_than_one_that_did_not_fail() -> None:
    """What it takes over was compacted, and the compaction's marks name the failed answer."""
    failing: list[int] = []

    def fifteen(body: Json) -> Turn | Failure:
        rounds = sum(m["role"] == "user" for m in body["messages"]) - 1
        if rounds in failing:
            return Failure(400, "invalid_request_error", "no")
        call = Turn.call(("read_lines", {"file": "r", "first": rounds * 10 + 1}))
        return call if rounds < 15 else Turn.say("Done.")

    with MessagesServer(fifteen, window=WINDOW) as server:
        whole = answer(small_agent(server), "Read it all", tool=reads(900), message_id="a2")
        wanted = [without_ids(sent(request)) for request in server.requests]
    with MessagesServer(fifteen, window=WINDOW) as server:
        failing.append(12)
        kept: dict[str, Json] = {}
        failed = answer(small_agent(server), "Read it all", tool=reads(900), steps=KeptSteps(kept))
        assert failed.outcome.status == "error"
        assert compactions([answered_as(failed, "a1")])
        failing.clear()
        again = {
            name: step.taken_over("a1", "a2").to_json()
            for name, value in kept.items()
            if isinstance(step := parse_step(name, value), ModelStep | ToolStep) and step.good
        }
        done = answer(
            small_agent(server),
            "Read it all",
            tool=reads(900),
            message_id="a2",
            steps=KeptSteps(again),
        )
        assert [without_ids(sent(request)) for request in server.requests] == wanted
    assert [data["fold"] for data in compactions([answered_as(done, "a2")])] == [
        data["fold"] for data in compactions([answered_as(whole, "a2")])
    ]


def without_ids(text: str) -> str:
    return re.sub(r"(toolu|sig)_\d+", "id", text)


def test_server_that_refuses_for_length_is_asked_once_more_with_less() -> None:
    turns = 6
    with MessagesServer(two_rounds, window=9_000) as server:
        agent = small_agent(server, window=200_000)
        history = chat(server, agent, turns, words=500)
        assert all("too long" in why for why in server.refused)
        assert server.refused
    assert compactions(history)


def test_turn_that_ends_at_the_window_is_taken_again_with_less() -> None:
    full = Turn((*Turn.say("half").blocks,), stop_reason="model_context_window_exceeded")
    history = [question("Read", "u0"), said_with_results("a0"), question("And?", "u1")]
    with MessagesServer([full, Turn.say("Whole.")], strict=False) as server:
        done = answer(small_agent(server, 200_000), history)
    assert done.text == "Whole."
    assert len(sent(server.requests[1])) < len(sent(server.requests[0])) / 2


def test_chat_that_cannot_be_made_shorter_says_so_and_asks_no_more() -> None:
    with MessagesServer([Failure.too_long()] * 3) as server:
        done = answer(small_agent(server), "Hello")
        assert server.connections == 1
    assert "longer than the model can take" in done.outcome.error


def test_a_server_that_refuses_any_length_is_asked_once_more_and_no_oftener() -> None:
    history = [question("Read", "u0")]
    for n in range(6):
        history += [said_with_results(f"a{n}"), question("And?", f"u{n + 1}")]
    with MessagesServer([Failure.too_long()] * 9, strict=False) as server:
        done = answer(small_agent(server, 200_000), history)
        assert server.connections == 2
    assert "longer than the model can take" in done.outcome.error


def said_with_results(message_id: str, results: int = 4) -> Message:
    raw: list[Json] = []
    for n in range(results):
        raw.append(
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": f"c{n}", "name": "read_lines", "input": {"n": n}}
                ],
            }
        )
        raw.append(
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": f"c{n}", "content": prose(700, n)}
                ],
            }
        )
    raw.append(
        {"role": "assistant", "content": [{"type": "text", "text": "It is so. " + prose(250)}]}
    )
    return Message(message_id, "chat", "", "assistant", "completed", [], raw, model=MODEL)


def long_history(answers: int) -> list[Message]:
    history: list[Message] = []
    for n in range(answers):
        history += [
            question(f"Question {n}? {prose(40, n)}", f"u{n}"),
            said_with_results(f"a{n}", 2),
        ]
    return [*history, question("The last one?", "last")]


def planner(history: list[Message], compaction: Compaction | None = None) -> Planner:
    return Planner(entries_of(history), compaction, Sizes(), Rates(), fixed=500, scale=1.0)


@pytest.mark.parametrize(
    ("answers", "short", "gone"), [(10, False, False), (60, True, False), (400, True, True)]
)
def test_answers_are_shortened_and_left_out_only_when_receipts_are_not_enough(
    answers: int, short: bool, gone: bool
) -> None:
    history = long_history(answers)
    limits = WindowLimits(33_000, 33_000)
    planned = planner(history).plan(BranchPosition("last", 1), "last", 1_000_000, limits)
    assert planned is not None
    assert (bool(planned.compaction.short.message), bool(planned.compaction.gone.message)) == (
        short or gone,
        gone,
    )
    messages = render(entries_of(history), planned.compaction, model=MODEL, profile="claude")
    assert Sizes().of(messages).tokens(Rates()) + 500 <= 33_000
    assert messages[0]["role"] == "user"
    assert messages[-1] == history[-1].raw[0], "the question itself is never shortened"


def test_a_request_is_the_same_when_what_is_left_out_of_it_is_not_read() -> None:
    history = long_history(400)
    planned = planner(history).plan(
        BranchPosition("last", 1), "last", 1_000_000, WindowLimits(33_000, 33_000)
    )
    assert planned is not None
    start = first_sent(history, planned.compaction)
    assert start > 100
    asked = sum(message.role == "user" for message in history[:start])
    of_all = render(entries_of(history), planned.compaction, model=MODEL, profile="claude")
    of_read = render(
        entries_of(history[start:]), planned.compaction, model=MODEL, profile="claude", before=asked
    )
    assert json.dumps(of_read) == json.dumps(of_all)
    assert (
        first_sent(
            history, replace(planned.compaction, gone=BranchPosition("of another branch", 1))
        )
        == 0
    )
    assert first_sent(history, None) == 0


def test_newest_results_are_cut_where_nothing_else_can_make_room() -> None:
    raw: list[Json] = [
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": f"c{n}", "name": "read_lines", "input": {}}
                for n in range(3)
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": f"c{n}", "content": prose(9_000, n)}
                for n in range(3)
            ],
        },
    ]
    history = [
        question("Read", "u"),
        Message("a", "chat", "", "assistant", "streaming", [], raw, model=MODEL),
    ]
    planned = planner(history).plan(
        BranchPosition("a", 2), "u", 60_000, WindowLimits(10_000, 10_000)
    )
    assert planned is not None
    assert planned.compaction.cap
    messages = render(entries_of(history), planned.compaction, model=MODEL, profile="claude")
    assert Sizes().of(messages).tokens(Rates()) <= 10_000
    assert str(messages[-1]).count("Cut here") == 3


def test_fold_for_the_price_alone_is_made_only_where_it_saves_much() -> None:
    limits = WindowLimits.of("claude-haiku-5-5", 1_000_000, 16_000, 0.8)
    assert (limits.window, limits.cheap) == (800_000, 95_000)
    long_question = [question(prose(60_000), "u0")]
    assert planner(long_question).plan(BranchPosition("u0", 1), "u0", 110_000, limits) is None


def test_fold_of_another_branch_is_not_applied() -> None:
    compaction = Compaction(
        BranchPosition("elsewhere", 3), "other", receipts=BranchPosition("elsewhere", 3)
    )
    history = long_history(2)
    assert render(entries_of(history), compaction, model=MODEL, profile="claude") == render(
        entries_of(history), None, model=MODEL, profile="claude"
    )


def test_fold_survives_being_kept_as_json() -> None:
    compaction = Compaction(
        BranchPosition("a", 3),
        "u",
        BranchPosition("a", 2),
        BranchPosition("b", 1),
        BranchPosition(),
        500,
    )
    part = {
        "type": "data-folded",
        "id": "folded-1",
        "data": {"fold": json.loads(json.dumps(compaction.to_json()))},
    }
    assert (
        newest_compaction([Message("a", "c", "", "assistant", "completed", [part], [])])
        == compaction
    )


def test_short_results_and_results_of_changes_are_not_asked_for_again() -> None:
    short = {"type": "tool_result", "tool_use_id": "c", "content": "one file"}
    assert result_stub(short, None, None) is short
    long = {"type": "tool_result", "tool_use_id": "c", "content": prose(900)}
    made = result_stub(
        long,
        {"name": "create_document", "input": {"title": "Minutes"}},
        {"summary": "Wrote Minutes"},
    )
    assert "again" not in made["content"]
    assert "Wrote Minutes" in made["content"]


def test_folded_passages_and_pictures_leave_a_line_and_no_citation_behind() -> None:
    passage = {
        "type": "search_result",
        "source": "f1#pages 1",
        "title": "r.pdf",
        "content": [{"type": "text", "text": prose(900)}],
    }
    picture = {
        "type": "image",
        "source": {"type": "leaf", "sha256": "0", "width": 900, "height": 900, "label": "plan.png"},
    }
    use = {"type": "tool_use", "id": "c", "name": "read_file", "input": {"file": "f1"}}
    cited = {
        "type": "text",
        "text": "So.",
        "citations": [{"type": "search_result_location", "search_result_index": 0}],
    }
    first = Message(
        "u0",
        "c",
        "",
        "user",
        "completed",
        [],
        [{"role": "user", "content": [{"type": "text", "text": "See"}, picture]}],
    )
    result = {
        "type": "tool_result",
        "tool_use_id": "c",
        "content": [{"type": "text", "text": "r.pdf (f1)"}, passage, picture],
    }
    raw = [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [cited]},
    ]
    history = [
        first,
        Message("a0", "c", "", "assistant", "completed", [], raw, model=MODEL),
        question("And?", "u1"),
    ]
    compaction = Compaction(BranchPosition("u1", 1), "u1", receipts=BranchPosition("a0", 3))
    text = json.dumps(render(entries_of(history), compaction, model=MODEL, profile="claude"))
    assert "search_result" not in text
    assert "image" not in text
    assert "citations" not in text
    assert "[plan.png: folded to save room; view_file shows it again.]" in text


def cites(places: int = 3) -> Callable[..., ToolOutput]:
    """A tool that gives passages to cite, different for each place."""

    def run(name: str, given: Json, stop: object) -> ToolOutput:
        first = given.get("first", 1)
        texts = [f"Place {first}.{n} says {prose(200, first + n)}" for n in range(places)]
        passages = tuple(
            CitablePassage(f"f1#page {first}{n}", "report.pdf", (text,))
            for n, text in enumerate(texts)
        )
        source = Source("f1", "id-1", "report.pdf", f"page {first}", "read")
        return ToolOutput(
            "\n".join(texts),
            f"Read page {first}",
            (source,),
            passages=passages,
            head="report.pdf (f1)",
        )

    return run


def test_citations_of_passages_that_are_folded_away_are_not_sent_and_stay_on_the_page() -> None:
    def brain(body: Json) -> Turn:
        asked = sum(
            m["role"] == "user" and m["content"][0]["type"] == "text" for m in body["messages"]
        )
        if body["messages"][-1]["content"][0]["type"] == "text":
            return Turn.call(
                ("read_lines", {"file": "report.pdf", "first": asked}), thinking="I look."
            )
        return Turn.cite((f"Answer {asked}", f"Place {asked}.1 says"))

    with MessagesServer(brain, window=WINDOW) as server:
        agent, history = small_agent(server), []
        for turn in range(12):
            history.append(question(f"Question {turn}?", f"u{turn}"))
            done = answer(agent, history, tool=cites(), message_id=f"a{turn}")
            assert done.outcome.status == "completed", done.outcome.error
            history.append(answered_as(done, f"a{turn}"))
        assert not server.refused
        bodies = [request.body["messages"] for request in server.requests]
    assert compactions(history)
    cited = [
        sum(bool(b.get("citations")) for m in body for b in m["content"] if b["type"] == "text")
        for body in bodies
    ]
    assert max(cited) >= 2, "between two folds citations go out as they came"
    assert any(after < before for before, after in pairwise(cited))
    assert all(
        any(b.get("citations") for raw in m.raw for b in raw["content"])
        for m in history
        if m.role == "assistant"
    )


def test_server_of_the_tests_refuses_a_citation_of_what_is_not_sent() -> None:
    with MessagesServer([Turn.say("Fine.")]) as server:
        location = {
            "type": "search_result_location",
            "search_result_index": 0,
            "source": "f1#page 1",
            "cited_text": "x",
        }
        cited = {"type": "text", "text": "So.", "citations": [location]}
        said = Message(
            "a0",
            "c",
            "",
            "assistant",
            "completed",
            [],
            [{"role": "assistant", "content": [cited]}],
            model=MODEL,
        )
        done = answer(small_agent(server), [question("First", "u0"), said, question("And?", "u1")])
    assert done.outcome.status == "error"
    assert "search_result_index 0" in server.refused[0]


def test_rates_are_learned_from_usage_and_kept(tmp_path: Any) -> None:
    from leaf.readers.tokens import Weight

    kept = Calibration(tmp_path / "rates.json")
    for weight, tokens in (
        (Weight(1_000, 0), 1_600),
        (Weight(400, 600), 2_000),
        (Weight(5_000, 10), 8_000),
    ):
        kept.learn(MODEL, weight, tokens)
    rates = Calibration(tmp_path / "rates.json").rates(MODEL)
    assert rates.latin == pytest.approx(1.6, rel=0.03)
    assert rates.other == pytest.approx(2.25, rel=0.1)
    assert Calibration(tmp_path / "rates.json").rates("another") == Rates()

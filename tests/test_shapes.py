"""What is kept of chats and runs is read by its types: of versions before, of later ones, and where
it is damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from leaf import settings
from leaf.agent.events import chunk, reduce
from leaf.agent.export import answer_markdown
from leaf.agent.models.base import ModelTurn, TokenUsage
from leaf.agent.steps import VERSION, CitationStep, ModelStep, ToolStep, TurnCall, parse_step
from leaf.errors import RunError, StoreError
from leaf.exports.bundle import _answer
from leaf.shapes.chunks import parse_chunks
from leaf.shapes.part_parser import parse_parts
from leaf.shapes.parts import UNREADABLE
from leaf.shapes.results import Data, ToolResult
from leaf.store import chats, messages, open_store, users
from leaf.tools import registry
from leaf.ui.items import items

OLD_PARTS: list[Any] = [
    {"type": "step-start"},
    {"type": "reasoning", "id": "r1", "text": "Look.", "state": "done"},
    {
        "type": "tool-query_tables",
        "toolCallId": "c1",
        "state": "output-available",
        "input": {"sql": "SELECT sum(x) FROM t"},
        "output": {
            "text": "Result r1: 1 rows",
            "summary": "Summed x",
            "sources": [
                {
                    "handle": "f1",
                    "file_id": "1",
                    "name": "t.csv",
                    "place": "",
                    "action": "queried",
                    "query": "SELECT 1",
                    "quote": "",
                }
            ],
            "coverage": [
                {
                    "file_id": "1",
                    "name": "t.csv",
                    "unit": "rows",
                    "seen": 3,
                    "total": 3,
                    "ranges": [],
                }
            ],
            "data": {
                "table": {
                    "columns": ["x"],
                    "types": ["BIGINT"],
                    "rows": [[6]],
                    "total": 1,
                    "result_id": "r1",
                    "seconds": 0.01,
                }
            },
            "passages": [],
            "head": "",
            "seconds": 0.2,
        },
    },
    {
        "type": "tool-gone_since",
        "toolCallId": "c2",
        "state": "output-error",
        "input": "no object",
        "errorText": "No such tool.",
    },
    {"type": "text", "id": "text-2-0", "text": "It is 6.", "state": "done"},
    {
        "type": "source-document",
        "sourceId": "s1",
        "mediaType": "text/csv",
        "title": "t.csv",
        "filename": "t.csv",
        "place": "row 2",
    },
    {
        "type": "data-coverage",
        "id": "coverage",
        "data": [
            {"file_id": "1", "name": "t.csv", "unit": "rows", "seen": 3, "total": 3, "ranges": []}
        ],
    },
    {
        "type": "data-usage",
        "id": "usage",
        "data": {"input": 3, "output": 1, "cost": None, "model": "m", "seconds": 1.5},
    },
]
"""Parts as versions wrote them that knew neither `providerMetadata` nor coverage with names."""
OLD_MODEL_STEP: dict[str, Any] = {
    "turn": {
        "content": [
            {
                "type": "tool_use",
                "id": "t1",
                "name": "query_tables",
                "input": {"sql": "SELECT 1"},
                "later": [1],
            }
        ],
        "stop_reason": "tool_use",
        "usage": {"input": 10, "cached": 4, "cache_creation": 0, "output": 2},
        "model": "m",
        "seconds": 0.5,
        "broken": {},
    },
    "fold": {
        "made": {"message": "a", "raw": 1},
        "asked": "q",
        "receipts": {"message": "a", "raw": 1},
        "short": {"message": "", "raw": 0},
        "gone": {"message": "", "raw": 0},
        "cap": 0,
    },
    "calls": [
        {
            "raw_id": "t1",
            "id": "t1",
            "name": "query_tables",
            "input": {"sql": "SELECT 1"},
            "problem": "",
        }
    ],
    "error": "",
    "stopped": False,
    "chunks": [{"type": "start-step", "step": 1}, {"type": "data-new-kind", "data": {"n": 1}}],
    "usage": {"input": 10, "cached": 4, "cache_creation": 0, "output": 2},
    "money": 0.001,
    "seconds": 0.6,
}
OLD_TOOL_STEP: dict[str, Any] = {
    "id": "t1",
    "output": {
        **OLD_PARTS[2]["output"],
        "shows": [{"name": "document", "id": "d1", "data": {"state": "done"}}],
    },
    "error": "",
    "stopped": False,
    "content": {"f1": 12},
    "seconds": 0.2,
}
"""Steps as a run database holds them from before they had a version."""


def test_parts_of_before_are_read_as_they_are() -> None:
    kept = json.loads(json.dumps(OLD_PARTS))
    assert parse_parts(kept) == OLD_PARTS
    assert [a is b for a, b in zip(parse_parts(kept), kept, strict=True)] == [True] * len(kept)


def test_what_a_later_version_adds_is_kept() -> None:
    later = [{"type": "data-map", "data": {"x": 1}}, {**OLD_PARTS[4], "language": "de"}]
    later.append({**OLD_PARTS[2], "output": {**OLD_PARTS[2]["output"], "data": {"map": [1, 2]}}})
    assert parse_parts(json.loads(json.dumps(later))) == later


def test_a_damaged_part_hides_no_other_and_is_said(tmp_path: Path) -> None:
    store = open_store(settings.load({"LEAF_HOME": str(tmp_path)}))
    scope = users.ensure_local_user(store.db)
    chat = chats.create(store.db, scope)
    asked = messages.add_exchange(store.db, scope, chat.id, [{"type": "text", "text": "How much?"}])
    damaged = [
        {"type": "text", "text": 5},
        {"type": "tool-x", "state": "output-available"},
        *OLD_PARTS,
    ]
    messages.finish(
        store.db, scope, asked.answer.id, parts=[], raw=[], usage={}, status="completed"
    )
    with store.db.transaction(scope) as tx:
        tx.execute(
            "UPDATE messages SET parts = :parts WHERE id = :id",
            {"parts": damaged, "id": asked.answer.id},
        )
    answer = messages.get(store.db, scope, asked.answer.id)
    parts = answer.parts
    store.close()
    assert parts[2:] == OLD_PARTS
    assert [item.text for item in items(parts) if item.kind == "note"] == [UNREADABLE, UNREADABLE]
    assert "It is 6." in [item.text for item in items(parts)]
    assert answer_markdown(answer, None).count(UNREADABLE) == 2
    exported = _answer(answer, "How much?", {answer.id: "a1"}, {})
    assert [piece.text for piece in exported.said if piece.text][:2] == [UNREADABLE, UNREADABLE]


def test_what_is_no_list_of_parts_is_an_error_with_a_way_on() -> None:
    with pytest.raises(StoreError, match=r"What is kept of message 7 is no list of parts\. .*copy"):
        parse_parts({"type": "text"}, "message 7")


def test_steps_of_before_are_read() -> None:
    model = parse_step("model-1", json.loads(json.dumps(OLD_MODEL_STEP)))
    assert isinstance(model, ModelStep)
    assert model.turn is not None
    assert model.turn.content == OLD_MODEL_STEP["turn"]["content"]
    assert model.calls == (TurnCall("t1", "t1", "query_tables", {"sql": "SELECT 1"}),)
    assert model.compaction is not None
    assert model.compaction.to_json() == OLD_MODEL_STEP["fold"]
    assert list(model.shown) == OLD_MODEL_STEP["chunks"]
    assert (model.tokens, model.good, model.outcome) == (12, True, "ok")
    tool = parse_step("tool-1-1-query_tables", json.loads(json.dumps(OLD_TOOL_STEP)))
    assert isinstance(tool, ToolStep)
    assert tool.output == OLD_TOOL_STEP["output"]
    assert [c["type"] for c in tool.shown] == ["tool-output-available", "data-document"]
    assert tool.usage is None
    assert parse_step("task", {"limits": {}}) is None


@pytest.mark.parametrize(
    "step",
    [
        ModelStep(
            ModelTurn([{"type": "text", "text": "a"}], "end_turn"),
            chunks=(chunk("text-start", id="t"),),
            usage=TokenUsage(1, 0, 0, 2),
        ),
        ModelStep(used_up="No money is left."),
        ToolStep(
            "c1",
            OLD_TOOL_STEP["output"],
            content={"f1": 3},
            usage=TokenUsage(1, 0, 0, 1),
            money=None,
        ),
        ToolStep("c1", error="It failed.", stopped=True),
        CitationStep((chunk("finish-step"),), 0.1),
    ],
)
def test_a_step_comes_back_from_json_as_it_was(step: ModelStep | ToolStep | CitationStep) -> None:
    kept = json.loads(json.dumps(step.to_json()))
    assert kept["version"] == VERSION
    assert type(step).from_json(kept) == step
    assert type(step).from_json({**kept, "added_later": 1}) == step


def test_a_step_that_another_answer_paid_for_costs_nothing_again() -> None:
    turn = ModelTurn([{"type": "text", "text": "a"}], "end_turn")
    paid = ModelStep(turn, usage=TokenUsage(1, 0, 0, 2), money=0.5, seconds=3.0)
    assert paid.taken_over("a", "b") == ModelStep(turn)
    asked = ToolStep("c1", usage=TokenUsage(1, 0, 0, 2), money=0.5, seconds=3.0)
    assert asked.taken_over("a", "b") == ToolStep("c1", usage=TokenUsage())


def test_a_step_of_a_later_version_is_not_guessed_at() -> None:
    with pytest.raises(RunError, match="A later version of Leaf began this answer"):
        ToolStep.from_json({**OLD_TOOL_STEP, "version": VERSION + 1})
    with pytest.raises(RunError, match=r"in a form that cannot be read \(usage\.input\)"):
        ModelStep.from_json({**OLD_MODEL_STEP, "usage": {"input": "many"}})


def test_a_stream_is_checked_and_its_unknown_kinds_pass() -> None:
    stream = [
        {"type": "begin", "step": "model-1", "attempt": 1},
        chunk("text-start", id="t"),
        {"type": "data-new", "n": 1},
    ]
    assert parse_chunks(stream) == stream
    assert reduce(parse_chunks(stream)) == [
        {"type": "text", "id": "t", "text": "", "state": "streaming"},
        {"type": "data-new", "n": 1},
    ]
    with pytest.raises(RunError, match="holds a chunk 'text-delta' that cannot be read"):
        parse_chunks([{"type": "text-delta", "id": "t"}])
    with pytest.raises(RunError, match="something that is no chunk"):
        parse_chunks([["text-delta"]])


def test_each_tool_gives_shapes_that_readers_of_results_know() -> None:
    known = get_type_hints(Data)
    tools = [tool for family in registry.FAMILIES for tool in family]
    assert sum(tool.result is not ToolResult for tool in tools) >= 15
    for tool in tools:
        assert set(tool.result.model_fields) <= set(known), tool.name

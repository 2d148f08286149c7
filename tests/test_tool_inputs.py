"""What a model may send to the tools: every tool, every parameter, every usual spelling."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest

from leaf.errors import InvalidInputError
from leaf.tools import registry
from leaf.tools.inputs import OTHER_NAMES, accepted, check_input
from tests.messages_server import Turn
from tests.test_agent_loop import ask, results_of, tool_parts

TOOLS = {tool.name: tool for tool in registry.all_tools()}
PARAMETERS = [
    (name, field) for name, tool in TOOLS.items() for field in tool.input_model.model_fields
]
GIVEN: dict[str, Any] = {
    "spec": {"mark": "bar"},
    "files": ["f1"],
    "kinds": ["pdf"],
    "metadata": {"participants": "A"},
}
ENCODED = base64.b64encode(random.Random(7).randbytes(900)).decode()


def value_of(tool: str, field: str) -> Any:
    """Something that the parameter takes."""
    kind = TOOLS[tool].input_model.model_json_schema()["properties"][field]
    if field in GIVEN:
        return GIVEN[field]
    if "enum" in kind:
        return kind["enum"][-1]
    return {"integer": 200, "number": 5, "boolean": True}.get(kind.get("type"), "f1")


def filled(tool: str, *more: str) -> dict[str, Any]:
    """The required parameters, and some others."""
    fields = TOOLS[tool].input_model.model_fields
    wanted = [name for name, field in fields.items() if field.is_required() or name in more]
    if tool == "make_chart" and not {"sql", "result_id"} & set(wanted):
        wanted.append("sql")
    return {name: value_of(tool, name) for name in wanted}


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


@pytest.mark.parametrize(("tool", "field"), PARAMETERS)
def test_every_spelling_of_a_parameter_is_taken_for_it(tool: str, field: str) -> None:
    given = filled(tool, field)
    spellings = {
        field.upper(),
        camel(field),
        field.replace("_", "-"),
        field.replace("_", ""),
        field.title(),
    } - {field}
    fields = TOOLS[tool].input_model.model_fields
    spellings |= {other for other in OTHER_NAMES.get(field, ()) if other not in fields}
    for spelling in spellings:
        other = {(spelling if name == field else name): value for name, value in given.items()}
        meant = accepted(TOOLS[tool], other)
        assert meant == accepted(TOOLS[tool], given), spelling
        if tool != "create_document":  # which checks more than its shape
            check_input(TOOLS[tool], other)


@pytest.mark.parametrize("tool", TOOLS)
def test_an_unknown_parameter_is_refused_and_the_tools_own_are_named(tool: str) -> None:
    with pytest.raises(InvalidInputError, match="xyzzy") as error:
        check_input(TOOLS[tool], {**filled(tool), "xyzzy": 1})
    fields = list(TOOLS[tool].input_model.model_fields)
    assert all(field in str(error.value) for field in fields)
    if not fields:
        assert "takes no parameters" in str(error.value)


@pytest.mark.parametrize(("tool", "field"), PARAMETERS)
def test_a_misspelt_parameter_is_answered_with_the_nearest(tool: str, field: str) -> None:
    wrong = f"{field}zz" if len(field) > 3 else f"{field}z"
    with pytest.raises(InvalidInputError) as error:
        accepted(TOOLS[tool], {wrong: value_of(tool, field)})
    assert f"no parameter '{wrong}'" in str(error.value)
    assert f"Did you mean '{field}'?" in str(error.value)


@pytest.mark.parametrize("schema", registry.schemas(), ids=lambda schema: schema["name"])
def test_a_schema_is_closed_and_names_no_other_spelling(schema: dict[str, Any]) -> None:
    assert schema["input_schema"]["additionalProperties"] is False
    assert set(schema["input_schema"]["properties"]) == set(
        TOOLS[schema["name"]].input_model.model_fields
    )
    assert "fileId" not in json.dumps(schema)


@pytest.mark.parametrize(("tool", "field"), PARAMETERS)
def test_file_content_as_base64_is_refused_in_every_parameter(tool: str, field: str) -> None:
    hidden: Any = {"a": ENCODED} if isinstance(value_of(tool, field), dict) else ENCODED
    with pytest.raises(
        InvalidInputError,
        match=f"{field} holds binary data .*no file content goes through parameters",
    ):
        check_input(
            TOOLS[tool],
            {
                **filled(tool),
                field: [hidden] if isinstance(value_of(tool, field), list) else hidden,
            },
        )


@pytest.mark.parametrize(
    ("tool", "given", "meant"),
    [
        ("search_files", {"query": "x", "files": "f1"}, {"query": "x", "files": ["f1"]}),
        (
            "search_files",
            {"query": "x", "files": '["f1", "f2"]'},
            {"query": "x", "files": ["f1", "f2"]},
        ),
        (
            "search_files",
            {"query": "x", "files": "Plan, 2024.csv"},
            {"query": "x", "files": ["Plan, 2024.csv"]},
        ),
        ("describe_table", {"file": "f1", "sheet": None}, {"file": "f1"}),
        ("describe_table", {"input": {"fileId": "f1"}}, {"file": "f1"}),
        ("describe_table", {"file_id": "f1", "file": "f1"}, {"file": "f1"}),
        ("search_files", {"query": "x", "topK": 500}, {"query": "x", "limit": 40}),
        ("query_tables", '{"query": "SELECT 1"}', {"sql": "SELECT 1"}),
        (
            "create_document",
            {"documentType": "Meeting_Summary", "title": "t"},
            {"document_type": "meeting-summary", "title": "t"},
        ),
    ],
)
def test_usual_shapes_are_taken_as_they_are_meant(
    tool: str, given: Any, meant: dict[str, Any]
) -> None:
    assert accepted(TOOLS[tool], given) == meant


def test_a_call_is_kept_under_the_tools_own_names_and_goes_back_as_it_was_sent() -> None:
    result, server = ask([Turn.call(("add_numbers", {"Numbers": [1, 2]})), Turn.say("3.")])
    assert tool_parts(result)[0]["input"] == {"numbers": [1, 2]}
    assert not results_of(server)[0].get("is_error")
    assert [b["input"] for b in result.outcome.raw[0]["content"] if b["type"] == "tool_use"] == [
        {"Numbers": [1, 2]}
    ]


def test_two_values_for_one_parameter_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="twice"):
        accepted(TOOLS["describe_table"], {"file": "f1", "file_id": "f2"})


def test_a_parameter_that_is_missing_is_named_with_those_there_are() -> None:
    with pytest.raises(InvalidInputError, match=r"sql: field required\..*parameters are: sql"):
        check_input(TOOLS["query_tables"], {})

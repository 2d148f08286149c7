"""All tools by name, and the one way to run one: find it, check its input, call it."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from leaf.errors import InvalidInputError, not_found
from leaf.tools import charts, documents, drive, files, pictures, python, tables
from leaf.tools.base import Json, Tool, ToolContext, ToolOutput


def all_tools() -> list[Tool]:
    """Every tool, always in the same order: the list is part of the cached prompt."""
    both = (*files.TOOLS, *pictures.TOOLS, *tables.TOOLS, *charts.TOOLS, *python.tools())
    return [*both, *drive.TOOLS, *documents.TOOLS]


def schemas() -> list[Json]:
    """The tools as the Messages API takes them: name, description, input_schema."""
    return [{"name": t.name, "description": t.description, "input_schema": _schema(t)} for t in all_tools()]


def find(name: str) -> Tool:
    """Raises NotFoundError with the nearest names."""
    tools = {tool.name: tool for tool in all_tools()}
    if name not in tools:
        raise not_found("tool", name, tools)
    return tools[name]


def run(name: str, given: str | Json, context: ToolContext) -> ToolOutput:
    """Run a tool on an input that came as an object or as JSON text.

    Raises NotFoundError for an unknown tool, InvalidInputError for a wrong input, and what the tool raises.
    """
    tool = find(name)
    return drive.with_changes(context, tool.run(context, check_input(tool, given)))


def check_input(tool: Tool, given: str | Json) -> Any:
    """The tool's input model. Raises InvalidInputError that names each wrong field."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError as e:
            raise InvalidInputError(f"The input of {tool.name} is not valid JSON: {e}.", "Send one JSON object.") from e
    if not isinstance(given, dict):
        raise InvalidInputError(f"The input of {tool.name} is not a JSON object.", 'Send an object such as {"file": "f1"}.')
    if broken := _broken_text(given):
        raise InvalidInputError(f"{broken} holds half of a character.", "Write the character itself, such as 📱 or ü.")
    try:
        return tool.input_model.model_validate(given)
    except ValidationError as e:
        problems = "; ".join(_problem(error) for error in e.errors()[:5])
        names = ", ".join(tool.input_model.model_fields) or "none"
        raise InvalidInputError(f"The input of {tool.name} is wrong: {problems}.", f"Its parameters are: {names}.") from e


def _broken_text(value: Any, name: str = "The input") -> str:
    """Which parameter holds half of a surrogate pair, which no file, query or database takes; empty for none."""
    if isinstance(value, str):
        return name if any("\ud800" <= c <= "\udfff" for c in value) else ""
    if isinstance(value, dict):
        return next((b for key, v in value.items() if (b := _broken_text(v, str(key)) or _broken_text(key, name))), "")
    return next((b for v in value if (b := _broken_text(v, name))), "") if isinstance(value, list) else ""


def _problem(error: Any) -> str:
    field = ".".join(str(part) for part in error["loc"]) or "input"
    return f"{field}: {str(error['msg']).lower()}"


def _schema(tool: Tool) -> Json:
    """The input's JSON schema without the titles that pydantic adds: they cost tokens and say nothing."""
    schema: Json = _without_titles(tool.input_model.model_json_schema())
    schema.pop("description", None)
    schema.setdefault("properties", {})
    return schema


def _without_titles(value: Any, inside_properties: bool = False) -> Any:
    if isinstance(value, dict):
        return {
            k: _without_titles(v, k == "properties")
            for k, v in value.items()
            if inside_properties or k != "title" or not isinstance(v, str)
        }
    if isinstance(value, list):
        return [_without_titles(v) for v in value]
    return value

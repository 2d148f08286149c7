"""All tools by name, and the one way to run one: find it, check its input, call it."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from leaf.errors import InvalidInputError, not_found
from leaf.shapes.raw import ToolInput, ToolSchema
from leaf.tools import charts, documents, drive, files, pictures, python, tables
from leaf.tools.base import Tool, ToolContext, ToolOutput
from leaf.tools.inputs import check_input, schema_of

FAMILIES: Sequence[Sequence[Tool]] = (
    files.TOOLS,
    pictures.TOOLS,
    tables.TOOLS,
    charts.TOOLS,
    python.TOOLS,
    drive.TOOLS,
    documents.TOOLS,
)
"""Everything that is declared. The order is part of the cached prompt."""


def all_tools() -> list[Tool]:
    """Every tool that this machine offers, always in the same order."""
    return [tool for family in FAMILIES for tool in family if tool.offered()]


def declared(name: str) -> Tool:
    """What is declared of the tool of a call that was made: also of one that this machine does not
    offer, and of one that another version had, which then reads and is not replayed.
    """
    for family in FAMILIES:
        for tool in family:
            if tool.name == name:
                return tool
    return Tool(name, "", _Unknown, _unknown, name.replace("_", " ").capitalize())


class _Unknown(BaseModel):
    """Parameters of a tool that is not here."""


def _unknown(_context: ToolContext, _given: _Unknown) -> ToolOutput:
    raise InvalidInputError("This version of Leaf has no such tool.")


def schemas() -> list[ToolSchema]:
    """The tools as the Messages API takes them: name, description, input_schema."""
    return [
        {"name": t.name, "description": t.description, "input_schema": schema_of(t.input_model)}
        for t in all_tools()
    ]


def find(name: str) -> Tool:
    """Raises NotFoundError with the nearest names."""
    tools = {tool.name: tool for tool in all_tools()}
    if name not in tools:
        raise not_found("tool", name, tools)
    return tools[name]


def run(name: str, given: str | ToolInput, context: ToolContext) -> ToolOutput:
    """Run a tool on an input that came as an object or as JSON text.

    Raises NotFoundError for an unknown tool, InvalidInputError for a wrong input, and what the tool
    raises.
    """
    tool = find(name)
    return drive.with_changes(context, tool.run(context, check_input(tool, given)))

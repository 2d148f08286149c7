"""All tools by name, and the one way to run one: find it, check its input, call it."""

from __future__ import annotations

from leaf.errors import not_found
from leaf.tools import charts, documents, drive, files, pictures, python, tables
from leaf.tools.base import Json, Tool, ToolContext, ToolOutput
from leaf.tools.inputs import check_input, schema_of


def all_tools() -> list[Tool]:
    """Every tool, always in the same order: the list is part of the cached prompt."""
    both = (*files.TOOLS, *pictures.TOOLS, *tables.TOOLS, *charts.TOOLS, *python.tools())
    return [*both, *drive.TOOLS, *documents.TOOLS]


def schemas() -> list[Json]:
    """The tools as the Messages API takes them: name, description, input_schema."""
    return [{"name": t.name, "description": t.description, "input_schema": schema_of(t.input_model)} for t in all_tools()]


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

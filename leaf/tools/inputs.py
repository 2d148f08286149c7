"""What a model sends to a tool, made into the tool's input model.

Usual other spellings of a parameter are taken for it, an unknown one is refused with the nearest
name. The schemas that are sent name none of the other spellings.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError

from leaf.errors import InvalidInputError
from leaf.readers.binary import encoded_in
from leaf.shapes import json_text
from leaf.shapes.raw import ToolInput, ToolSchema
from leaf.tools.base import Tool

_FILE = (
    "file",
    "file_id",
    "file_name",
    "file_path",
    "file_handle",
    "filename",
    "path",
    "handle",
    "id",
    "name",
    "document",
)
_FILES = (
    "files",
    "file",
    "file_ids",
    "file_names",
    "file_paths",
    "file_handles",
    "paths",
    "handles",
    "documents",
    "sources",
)
_FOLDER = (
    "folder",
    "folder_id",
    "folder_url",
    "folder_name",
    "folder_path",
    "parent",
    "parent_id",
    "directory",
    "path",
)
OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "file": (*_FILE, "document_id", "table", "table_name", "url", "file_url", "drive_id"),
    "pattern": ("glob", "query", "filter", "search", "name", "name_pattern", "match", "q"),
    "path": (*_FILE, "document_id", "title"),
    "file_path": (*_FILE, "document_id"),
    "files": (*_FILES, "file_id", "file_name", "document_ids", "input_files"),
    "folder": (*_FOLDER, "id", "url"),
    "sheet": ("sheet_name", "table", "table_name", "tab", "worksheet"),
    "where": (
        "range",
        "location",
        "locator",
        "part",
        "section",
        "place",
        "pages",
        "page",
        "lines",
        "position",
    ),
    "pages": ("page", "page_range", "page_numbers", "where", "range"),
    "cursor": ("page_token", "next_cursor", "next", "continuation"),
    "max_tokens": ("tokens", "token_limit", "limit", "max_length"),
    "line_numbers": ("number_lines", "with_line_numbers", "numbered"),
    "limit": ("max_results", "top_k", "k", "n", "count", "max", "num_results"),
    "query": ("q", "search", "search_query", "text", "terms", "keywords", "words", "phrase"),
    "sql": ("query", "statement", "sql_query", "select", "q"),
    "result_id": ("result", "id", "query_id", "result_name"),
    "spec": ("vega_lite", "vega_lite_spec", "vega", "chart", "chart_spec"),
    "code": ("python", "python_code", "script", "source", "cell"),
    "timeout": ("seconds", "timeout_seconds", "time_limit", "max_seconds"),
    "name": ("package", "package_name"),
    "version": ("package_version",),
    "title": ("name", "document_title", "heading"),
    "kind": ("document_kind", "format", "output_type"),
    "document_type": ("type", "doc_type", "template"),
    "content": ("text", "body", "contents", "file_content", "markdown"),
    "instructions": ("instruction", "wishes", "prompt", "requirements"),
    "metadata": ("meta",),
    "kinds": ("kind", "types", "type", "file_types"),
    "modified_after": ("after", "since", "changed_after"),
    "search_replace_block": (
        "search_replace",
        "search_replace_blocks",
        "block",
        "blocks",
        "edit",
        "edits",
        "diff",
        "patch",
    ),
}
"""Parameter -> other names by which models call it, in any spelling (`fileId`, `file-id`). The
place to add one."""
_WRAPPERS = ("input", "arguments", "args", "parameters", "params")


def check_input(tool: Tool, given: str | ToolInput) -> Any:
    """The tool's input model. Raises InvalidInputError that names each wrong parameter."""
    try:
        return tool.input_model.model_validate(accepted(tool, given))
    except ValidationError as e:
        problems = "; ".join(_problem(error) for error in e.errors()[:5])
        raise InvalidInputError(
            f"The input of {tool.name} is wrong: {problems}.", _parameters(tool)
        ) from e


def accepted(tool: Tool, values: str | ToolInput) -> ToolInput:
    """The input under the tool's own names. Raises InvalidInputError for what is no object, names
    an unknown parameter, or holds half of a character or the content of a file as base64.
    """
    if isinstance(values, str):
        try:
            values = json_text.read(values)
        except ValueError as e:
            raise InvalidInputError(
                f"The input of {tool.name} is not valid JSON: {e}.", "Send one JSON object."
            ) from e
    if not isinstance(values, dict):
        raise InvalidInputError(
            f"The input of {tool.name} is not a JSON object.",
            'Send an object such as {"file": "f1"}.',
        )
    for name, text in _texts(values):
        if any("\ud800" <= c <= "\udfff" for c in text):
            raise InvalidInputError(
                f"{name} holds half of a character.", "Write the character itself, such as 📱 or ü."
            )
        if piece := encoded_in(text):
            raise InvalidInputError(
                f"{name} holds binary data (base64, {len(piece):,} characters): no file content "
                f"goes through parameters.",
                "Name the file by its handle; the user can attach what is not in the chat.",
            )
    return _under_own_names(tool, values)


def _under_own_names(tool: Tool, values: ToolInput) -> ToolInput:
    fields = tool.input_model.model_fields
    name, inside = next(iter(values.items()), ("", None))
    if len(values) == 1 and name in _WRAPPERS and name not in fields and isinstance(inside, dict):
        return _under_own_names(tool, inside)
    taken: ToolInput = {name: value for name, value in values.items() if name in fields}
    for name in values:
        if name in fields:
            continue
        own = _own_name(tool, name, taken)
        if own in taken and taken[own] != values[name]:
            raise InvalidInputError(
                f"{tool.name} got '{own}' twice: as '{own}' and as '{name}'.", "Send it once."
            )
        taken[own] = values[name]
    return {
        name: _within(fields[name].metadata, _of_kind(fields[name].annotation, value))
        for name, value in taken.items()
        if value is not None or fields[name].is_required()
    }


def _own_name(tool: Tool, name: str, taken: Mapping[str, Any]) -> str:
    """The parameter that is meant. One that was given under its own name already is not meant a
    second time."""
    fields = tool.input_model.model_fields
    plain = _plain(name)
    if same := [field for field in fields if _plain(field) == plain]:
        return same[0]
    meant = [field for field in fields if plain in map(_plain, OTHER_NAMES.get(field, ()))]
    free = [field for field in meant if field not in taken] or meant
    if free:
        return free[0]
    if not fields:
        raise InvalidInputError(
            f"{tool.name} takes no parameters, and there is no '{name}'.", "Send {}."
        )
    known = {
        _plain(other): field for field in fields for other in (*OTHER_NAMES.get(field, ()), field)
    }
    near = difflib.get_close_matches(plain, known, n=1, cutoff=0.6)
    hint = f"Did you mean '{known[near[0]]}'? " if near else ""
    raise InvalidInputError(f"{tool.name} has no parameter '{name}'.", f"{hint}{_parameters(tool)}")


def _plain(name: str) -> str:
    """`fileId`, `file-id` and `FILE_ID` are one."""
    return re.sub(r"[\W_]+", "", name).lower()


def _of_kind(kind: Any, value: Any) -> Any:
    """One text where a list belongs, as a list of it; a choice in another spelling as the
    choice."""
    if not isinstance(value, str):
        return value
    if get_origin(kind) is list:
        try:
            json_value = json_text.read(value)
        except ValueError:
            json_value = None
        return json_value if isinstance(json_value, list) else [value]
    if get_origin(kind) is Literal:
        return next(
            (choice for choice in get_args(kind) if _plain(str(choice)) == _plain(value)), value
        )
    return value


def _within(bounds: Sequence[Any], value: Any) -> Any:
    """A number that asks for more or less than there may be, as the most or least: what came back
    says how much it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    for bound in bounds:
        value = max(value, getattr(bound, "ge", value))
        value = min(value, getattr(bound, "le", value))
    return value


def _texts(value: Any, name: str = "The input") -> Iterator[tuple[str, str]]:
    """Every text of the input, names among them, with the parameter that it belongs to."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, held in value.items():
            yield name, str(key)
            yield from _texts(held, str(key) if name == "The input" else name)
    elif isinstance(value, list):
        for held in value:
            yield from _texts(held, name)


def _problem(error: Any) -> str:
    field = ".".join(str(part) for part in error["loc"]) or "input"
    return f"{field}: {str(error['msg']).lower()}"


def _parameters(tool: Tool) -> str:
    return f"Its parameters are: {', '.join(tool.input_model.model_fields) or 'none'}."


def schema_of(model: type[BaseModel]) -> ToolSchema:
    """The input's JSON schema without what costs tokens and says nothing: titles, empty defaults,
    that no text is empty."""
    schema: ToolSchema = _lean(model.model_json_schema())
    schema.pop("description", None)
    schema.setdefault("properties", {})
    return {**schema, "additionalProperties": False}


def _lean(value: Any, inside_properties: bool = False) -> Any:
    if isinstance(value, dict):
        return {
            k: _lean(v, k == "properties")
            for k, v in value.items()
            if inside_properties
            or not (
                (k == "title" and isinstance(v, str))
                or (k == "default" and v in ("", False))
                or k == "minLength"
            )
        }
    return [_lean(v) for v in value] if isinstance(value, list) else value

"""One condition on a column, from what a person chose and typed to SQL. Pure; what it makes runs in
the confined child."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from leaf.errors import InvalidInputError
from leaf.tables.sql import is_number

OPERATIONS = ("contains", "=", "≥", "≤")
LONGEST = 500
"""Characters of a value."""
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d{1,30})(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?\Z")
_MOMENT = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2}(?:[ T]\d{2}(?::\d{2}(?::\d{2}(?:\.\d+)?)?)?)?)?)?\Z")


def condition(wanted: Mapping[str, str], columns: Mapping[str, str]) -> str:
    """SQL for {"column", "operation", "value"} over `columns` (name -> DuckDB type); the column
    must be one of them.

    Numbers are compared as numbers. Dates and times may be given in part: `= 2025-03` is that
    month, `≤ 2025` the end of that year. Everything else is compared as text. Raises
    InvalidInputError for a value that the column cannot hold.
    """
    column, operation, value = (
        wanted["column"],
        wanted["operation"],
        wanted["value"].strip()[:LONGEST],
    )
    if operation not in OPERATIONS:
        raise InvalidInputError(
            f"'{operation}' is no way to filter.", f"Choose one of {', '.join(OPERATIONS)}."
        )
    name, text = (
        '"' + column.replace('"', '""') + '"',
        f'CAST("{column.replace(chr(34), chr(34) * 2)}" AS VARCHAR)',
    )
    if operation == "contains":
        return f"contains(lower({text}), lower({_text(value)}))"
    kind, sign = columns[column], {"=": "=", "≥": ">=", "≤": "<="}[operation]
    if is_number(kind):
        return f"{name} {sign} {_number(column, value)}"
    if kind.startswith(("DATE", "TIMESTAMP")):
        return _of_moment(column, text, operation, value)
    return f"{text} {sign} {_text(value)}"


def _number(column: str, value: str) -> str:
    plain = value.replace("−", "-")
    if not _NUMBER.match(plain):
        raise InvalidInputError(
            f"'{column}' holds numbers, and '{value}' is none.", "Write it like 1234.5."
        )
    plain = plain.replace(",", "")
    return plain if re.fullmatch(r"[-+]?\d{1,30}", plain) else f"CAST({_text(plain)} AS DOUBLE)"


def _of_moment(column: str, text: str, operation: str, value: str) -> str:
    """ISO dates stand in the order of their text, so that the beginning of one is a period."""
    if not _MOMENT.match(value):
        raise InvalidInputError(
            f"'{column}' holds dates, and '{value}' is none.",
            "Write it like 2025-03-31, 2025-03 or 2025.",
        )
    value = value.replace("T", " ")
    if operation == "=":
        return f"starts_with({text}, {_text(value)})"
    return f"{text} >= {_text(value)}" if operation == "≥" else f"{text} <= {_text(value + '~')}"


def _text(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'"

"""What a mended statement is, and what mending it takes: names as people tell them apart, the name
that an error is about. Pure; used in the confined child."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True)
class Mended:
    """A statement that was refused, written as DuckDB takes it."""

    sql: str
    said: str
    """What was read, in one sentence."""


def key(name: str) -> str:
    """A name as people tell names apart."""
    return unicodedata.normalize("NFC", name).casefold()


def missing_column(error: str) -> str:
    """The name that DuckDB found no column for; empty where the error is another."""
    match = re.search(
        r'Referenced column "((?:[^"]|"")+)" (?:was )?not found|does not have a column named '
        r'"((?:[^"]|"")+)"'
        r'|Column "((?:[^"]|"")+)" referenced that exists in the SELECT clause',
        error,
    )
    return next(group for group in match.groups() if group).replace('""', '"') if match else ""


def replaced(sql: str, start: int, end: int, text: str) -> str:
    """The statement with `text` in place of its characters from `start` to `end`."""
    return sql[:start] + text + sql[end:]


def short(text: str) -> str:
    """A piece of a statement in one line, for a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:119]}…"

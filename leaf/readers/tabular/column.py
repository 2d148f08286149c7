"""A column on its way into a table, and the SQL by which its text is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from leaf.readers.tabular.cells import NO_VALUE
from leaf.readers.tabular.codes import BLANKS, PADDING
from leaf.readers.tabular.parse_plan import TEXT, ParsePlan
from leaf.readers.tabular.plans import ThousandsMarks
from leaf.readers.tabular.sql import identifier, literal


@dataclass
class Column:
    """A column on its way into a table."""

    source: str
    """Its name in the relation that is read."""
    name: str
    text: bool = True
    """False where the relation already holds typed values."""
    type: str = "VARCHAR"
    plan: ParsePlan = TEXT
    proposals: list[ParsePlan] = field(default_factory=list)
    marks: ThousandsMarks | None = None
    """Where thousands and fractions look alike."""
    proof: int = 0
    """How much it proves of the decimal mark of other columns."""
    contested: bool = False
    """Whether the file speaks for another reading of its marks too."""
    twins: tuple[str, str] | None = None
    """Two texts of the sample that are one number."""
    codes: str = ""
    """A text of the sample that shows that what looks like numbers is none."""
    either_end: str = ""
    """A date whose year may stand first or last, where nothing decides."""
    padded: bool = False
    """Whether most of its texts end in blanks that are left off."""
    even: bool = True
    """Whether those fill them to one length."""
    unmarked: bool = False
    """Whether the sample fits plans with either decimal mark though no value has one: `5 €`."""


@dataclass(frozen=True)
class Counts:
    values: int
    """Values that are not empty and no word for a missing one."""
    missing: int
    bad: tuple[int, ...]
    """By proposal."""


@cache
def _missing_pattern() -> str:
    return literal("|".join(re.escape(word) for word in sorted(NO_VALUE)))


def text_of(column: Column) -> str:
    """The trimmed text of a column, NULL if empty."""
    return identifier("t_" + column.source)


def known(column: Column) -> str:
    """The same, NULL also for words that stand for no value."""
    return identifier("x_" + column.source)


def trimmed(columns: Sequence[Column]) -> str:
    """Their trimmed texts, each behind a comma."""
    return "".join(
        f", nullif(trim({identifier(c.source)}, {literal(BLANKS)}), '') AS {text_of(c)}"
        for c in columns
    )


def ends_in_padding(source: str) -> str:
    """SQL: whether a text ends in what fills it up."""
    return " OR ".join(f"ends_with({source}, {literal(end)})" for end in PADDING)


def unpadded(source: str) -> str:
    """SQL for a text without blanks and tabs at its end."""
    return f"rtrim({source}, {literal(' ' + chr(9))})"


def without_missing(columns: Sequence[Column]) -> str:
    """In a layer of its own: DuckDB's time to plan grows with the length of an expression, and this
    one is used several times."""
    return "".join(
        f", CASE WHEN regexp_full_match(lower({text_of(c)}), {_missing_pattern()}) THEN NULL ELSE "
        f"{text_of(c)} END AS {known(c)}"
        for c in columns
    )


def layers_of(relation: str, columns: Sequence[Column], first: str = "") -> str:
    """The columns as `text_of` and `known` name them; `first`: what comes before them, as `n` and
    `raw`."""
    texts, words = trimmed(columns), without_missing(columns)
    names = ", ".join(text_of(c) for c in columns)
    inner = f"SELECT {first}{texts[2:]} FROM {relation}"
    prefix = "n, raw, " if first else ""
    return f"(SELECT {prefix}{names}{words} FROM ({inner}))"

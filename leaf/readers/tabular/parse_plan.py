"""One way to read a column of text: a pattern, and the SQL that gives the values. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from leaf.readers.tabular.sql import literal
from leaf.readers.tabular.units import Unit
from leaf.readers.tabular.wide import narrowed, narrowed_sql


@dataclass(frozen=True)
class ParsePlan:
    """One way to read a column's text. `{x}` stands for the trimmed text, NULL if empty."""

    kind: str
    """`text`, `integer`, `decimal`, `boolean`, `date`, `timestamp`."""
    type: str
    """DuckDB type."""
    pattern: str = ""
    """What each value has to match in full; the same in Python and in DuckDB."""
    value: str = "{x}"
    """SQL that gives the value; it may fail or be NULL for a value that matches the pattern but
    does not exist (31 February)."""
    style: str = ""
    """Decimal mark of numbers, order of dates."""
    percent: bool = False
    currency: bool = False
    units: tuple[Unit, ...] = ()
    """What stands beside the numbers, where that is known before all values are read."""
    missing: bool = True
    """Whether words such as N/A are taken for no value."""
    exact: str = ""
    """SQL for the same as the pattern, where it can be had without one: DuckDB takes some time to
    make ready each pattern."""
    wide: bool = False
    """Whether digits of full width and triangles are taken for usual ones and for a minus first."""

    @property
    def mark(self) -> str:
        """The decimal mark of numbers; empty for whole numbers without any."""
        return "." if self.style == "plain" else self.style[-1:]

    def sql(self, x: str) -> str:
        """SQL for the value of a trimmed text `x`."""
        return self.value.replace("{x}", narrowed_sql(x) if self.wide else x)

    def bad(self, x: str) -> str:
        """SQL that is true for a trimmed text `x` that this plan cannot read."""
        return (
            f"({x} IS NOT NULL AND NOT coalesce({self._fits_sql(x)} AND ({self.sql(x)}) IS "
            f"NOT NULL, false))"
        )

    def guarded(self, column: str) -> str:
        """The value in one pass; the query fails at the first value that does not fit."""
        x = f"nullif({column}, '')"
        if self.kind == "text":
            return x
        return (
            f"CASE WHEN {x} IS NULL THEN NULL WHEN {self._fits_sql(x)} THEN {self.sql(x)} "
            f"ELSE error('unexpected value') END"
        )

    def _fits_sql(self, x: str) -> str:
        x = narrowed_sql(x) if self.wide else x
        return (
            self.exact.replace("{x}", x)
            if self.exact
            else f"regexp_full_match({x}, {literal(self.pattern)})"
        )

    def fits(self, text: str) -> bool:
        text = narrowed(text) if self.wide else text
        return bool(_compiled(self.pattern).fullmatch(text))


TEXT = ParsePlan("text", "VARCHAR")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def times(date_pattern: str, formats: Sequence[str], style: str) -> list[ParsePlan]:
    """A date, and the same with a time of day behind it."""
    clocks = ("%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p", "%H:%M:%S.%g")
    full = [f"{f} {t}" for f in formats for t in clocks]
    lists = ", ".join(literal(f) for f in formats)
    all_lists = ", ".join(literal(f) for f in [*full, *formats])
    clock = r"(?: [0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?(?: [AaPp][Mm])?)?"
    return [
        ParsePlan(
            "date", "DATE", date_pattern, f"CAST(try_strptime({{x}}, [{lists}]) AS DATE)", style
        ),
        ParsePlan(
            "timestamp",
            "TIMESTAMP",
            date_pattern + clock,
            f"try_strptime({{x}}, [{all_lists}])",
            style,
        ),
    ]

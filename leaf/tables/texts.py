"""Columns of text that hold dates or numbers: how they are written, and the SQL that reads them.
For the confined child."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leaf.tables.sql import literal, quoted

if TYPE_CHECKING:
    import duckdb

LOOKED = 2_000
"""Different values of a column that are looked at."""
MOST = 0.8
"""Part of a column's values that has to be written in one way, for the column to be said to hold
such values."""
_DAYS = (
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
)
_WORDS = (
    "%d %b %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%b %d %Y",
    "%A, %B %d, %Y",
    "%a, %d %b %Y",
)
_TIMES = ("%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
FORMATS = (
    *_DAYS,
    *_WORDS,
    *(f"{day} {time}" for day in _DAYS for time in _TIMES),
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%SZ",
)
_NUMERIC = r"^[-+]?\d+(\.\d+)?([eE][-+]?\d+)?$"


def written_dates(
    con: duckdb.DuckDBPyConnection, table: str, column: str
) -> tuple[list[str], int, int]:
    """(formats by which the dates of a text column read, values so written, values looked at). No
    formats where it holds none.

    Two formats mean that each reads all the same values, as 03/04/2024 can be read in two ways.
    """
    values = (
        f"SELECT DISTINCT trim(CAST({quoted(column)} AS VARCHAR)) AS v FROM {quoted(table)} "
        f"WHERE {quoted(column)} IS NOT NULL AND trim(CAST({quoted(column)} AS VARCHAR)) <> '' "
        f"LIMIT {LOOKED}"
    )
    like = "regexp_matches(v, '\\d') AND len(v) BETWEEN 6 AND 40"
    looked, alike = con.sql(
        f"SELECT count(*), count(*) FILTER ({like}) FROM ({values})"
    ).fetchall()[0]
    if not looked or alike < MOST * looked:
        return [], 0, looked
    counts = ", ".join(f"count(try_strptime(v, {literal(form)}))" for form in FORMATS)
    hits = con.sql(f"SELECT {counts} FROM ({values})").fetchall()[0]
    most = max(hits)
    if most < MOST * looked:
        return [], 0, looked
    fitting = [form for form, count in zip(FORMATS, hits, strict=True) if count == most]
    # %Y takes 24 for the year 24, and %y takes nothing of four digits.
    return [form for form in fitting if "%y" in form] or fitting, most, looked


def cast_for(con: duckdb.DuckDBPyConnection, tables: Sequence[str], column: str) -> str:
    """The SQL that reads a text column as what it holds, with a word on what that leaves out; empty
    where it is text."""
    for table in tables:
        if column.casefold() not in (name.casefold() for name in con.table(table).columns):
            continue
        forms, most, looked = written_dates(con, table, column)
        if forms:
            return date_cast(column, forms, most, looked)
        numeric = f"regexp_matches(trim({quoted(column)}), '{_NUMERIC}')"
        counted = con.sql(
            f"SELECT count(*) FILTER ({numeric}), count({quoted(column)}) FROM {quoted(table)}"
        )
        numbers, filled = counted.fetchall()[0]
        if filled and numbers >= MOST * filled:
            left = (
                f" ({filled - numbers:,} of {filled:,} values are no numbers and become NULL)"
                if numbers < filled
                else ""
            )
            return f"TRY_CAST({quoted(column)} AS DOUBLE){left}"
    return ""


def dates_in(con: duckdb.DuckDBPyConnection, table: str, column: str) -> str:
    """The SQL that reads the dates of a text column; empty where it holds none."""
    forms, most, looked = written_dates(con, table, column)
    return date_cast(column, forms, most, looked) if forms and looked > 1 else ""


def date_cast(column: str, forms: Sequence[str], most: int, looked: int) -> str:
    """`try_strptime("day", '%d.%m.%Y')`, and what is not certain about it."""
    written = f"try_strptime({quoted(column)}, {literal(forms[0])})"
    doubt = [f"or {literal(forms[1])}: the values read both ways"] if len(forms) > 1 else []
    left = (
        [f"{looked - most:,} of {looked:,} different values are written otherwise and become NULL"]
        if most < looked
        else []
    )
    return written + (f" ({'; '.join([*doubt, *left])})" if doubt or left else "")

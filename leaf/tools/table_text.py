"""Tables in words for the model: what there is to say of one, and rows as lines of cells."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leaf.readers.notes import Effect, effect
from leaf.tables.profiles import ColumnProfile, Profile
from leaf.tables.table import Table
from leaf.tools import remarks
from leaf.tools.table_data import excluded_at, place_of

TEXT_CHARACTERS = 20_000
"""Longest table text for the model, about 8,000 tokens."""
TABLES_LISTED = 20
COLUMNS_DESCRIBED = 60
COLUMNS_SAMPLED = 25
CELL_CHARACTERS = 200
_DOUBTS = (Effect.DOUBT, Effect.CONTRADICTION)


def describe(table: Table, profile: Profile, others: Sequence[Table]) -> str:
    """What there is to say of a table, line by line."""
    place = place_of(table)
    hidden = ", hidden sheet" if table.hidden else ""
    lines = [
        f"Table {table.name} · {table.file_name} "
        f"({table.handle}){f', {place}' if place else ''}{hidden} · "
        f"{profile.rows:,} rows × {len(profile.columns)} columns; every row was scanned"
    ]
    if table.left_out:
        lines.append(
            f"Not counted: {excluded_at(table)}; {table.name}__all has them, with _row and _kind."
        )
    if table.doubtful_counts:
        lines += [
            f"Doubtful: {doubt['text']}." for doubt in remarks.doubts(remarks.ReadTable(table))
        ]
    notes = [n for n in table.findings if not (table.doubtful_counts and effect(n.kind) in _DOUBTS)]
    lines += [f"Notes: {remarks.sentences(table, notes, remarks.PLACE)}"] if notes else []
    lines += _estimates(profile)
    lines.append("Columns:")
    lines += [_describe_column(column, profile) for column in profile.columns[:COLUMNS_DESCRIBED]]
    left = profile.columns[COLUMNS_DESCRIBED:]
    if left:
        unnamed = ", ".join(f'"{c.name}"' for c in left[:200])
        lines.append(
            f"… and {len(left)} more columns, not described: "
            f"{unnamed}{' …' if len(left) > 200 else ''}"
        )
    names = [c.name for c in profile.columns][:COLUMNS_SAMPLED]
    cut = f", first {COLUMNS_SAMPLED} columns" if len(profile.columns) > COLUMNS_SAMPLED else ""
    lines.append(f"First {len(profile.sample)} rows{cut}:")
    lines.append(text_table(names, [list(row)[:COLUMNS_SAMPLED] for row in profile.sample]).text)
    if others:
        listed = ", ".join(
            f"{t.name} ({t.rows:,} rows{', hidden' if t.hidden else ''})"
            for t in others[:TABLES_LISTED]
        )
        more = f" and {len(others) - TABLES_LISTED} more" if len(others) > TABLES_LISTED else ""
        lines.append(f"Other tables of this file: {listed}{more}")
    return "\n".join(lines)


def _estimates(profile: Profile) -> list[str]:
    """What is not exact of a large table, and what is to be queried where it has to be."""
    if not profile.approximate:
        return []
    if profile.estimated:
        exact = "count(DISTINCT x) and quantile_cont(x, 0.5) in query_tables give exact ones"
        return [
            f"Note: numbers of distinct values and quartiles marked ≈ are estimates, a few "
            f"percent off at most times; {exact}."
        ]
    exact = "count(DISTINCT x) in query_tables gives the exact one"
    return [
        f"Note: numbers of distinct values marked ≈ are estimates, a few percent off at most "
        f"times; {exact}. All else is exact."
    ]


def _describe_column(column: ColumnProfile, profile: Profile) -> str:
    facts = [
        f"{column.nulls:,} nulls",
        f"{'≈' if profile.approximate else ''}{column.distinct:,} distinct",
    ]
    if column.top:
        facts.append(
            "top: " + ", ".join(f"{_cell(value)} ({count:,})" for value, count in column.top)
        )
    if column.min is not None:
        facts.append(f"min {_cell(column.min)}, max {_cell(column.max)}")
        if column.mean is not None:
            facts.append(f"mean {column.mean:,.6g}")
        if column.std is not None:
            facts.append(f"std {column.std:,.6g}")
        if column.quartiles:
            facts.append(
                f"quartiles {'≈' if profile.estimated else ''}{', '.join(map(_figure, column.quartiles))}"
            )
    if column.cast:
        facts.append(f"dates kept as text: {column.cast}")
    return f'- "{column.name}" {column.type} · ' + " · ".join(facts)


def _figure(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else _cell(value)


@dataclass(frozen=True)
class TableText:
    """Rows as lines of cells between bars."""

    text: str
    rows: int
    """How many fitted into the budget."""
    cut: int
    """Texts in these that are cut."""

    def remark(self, total: int) -> str:
        """What the model is to know of the rest of a result with so many rows; may be empty."""
        sentences = []
        if total > self.rows:
            sentences.append(
                "Of the other rows nothing can be said by reading: count, sum or filter them in SQL, or "
                "go on with LIMIT and OFFSET. The user is told how many you were shown."
            )
        if self.cut:
            count = f"{self.cut:,} text{'s' if self.cut != 1 else ''}"
            sentences.append(
                f"{count} end{'s' if self.cut == 1 else ''} with … after {CELL_CHARACTERS} characters: "
                f"substr(x, {CELL_CHARACTERS}) goes on."
            )
        return " ".join(sentences)


def text_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], limit: int = TEXT_CHARACTERS
) -> TableText:
    """As many rows as fit into the budget, one at least."""
    lines = [" | ".join(columns)]
    used, cut = len(lines[0]), 0
    for row in rows:
        line = " | ".join(_cell(value) for value in row)
        used += len(line) + 1
        if used > limit and len(lines) > 1:
            break
        lines.append(line)
        cut += sum(isinstance(value, str) and len(value) > CELL_CHARACTERS for value in row)
    return TableText("\n".join(lines), len(lines) - 1, cut)


def _cell(value: Any) -> str:
    """A value so that it can be copied into SQL: what blanks at its ends or lines would hide stands
    in quotes."""
    if value is None:
        return "NULL"
    text = str(value)
    if len(text) > CELL_CHARACTERS:
        return (
            re.sub(r"[\r\n\t\v\f\u2028\u2029\x85]", " ", text[: CELL_CHARACTERS - 1]).replace(
                "|", "\\|"
            )
            + "…"
        )
    if any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in text):
        return (
            "E'"
            + "".join(_ESCAPES.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text)
            + "'"
        )
    if not text or text != text.strip():
        return "'" + text.replace("'", "''") + "'"
    return text.replace("|", "\\|")


_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", "'": "\\'"}

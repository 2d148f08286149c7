"""What is said of columns whose text was read as something else, or was not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from leaf.readers.base import Note
from leaf.readers.notes import NO_VALUE_TAIL
from leaf.readers.tabular.cells import places
from leaf.readers.tabular.column import Column, Counts, known, layers_of, text_of
from leaf.readers.tabular.parse_plan import TEXT, ParsePlan
from leaf.readers.tabular.plans import CURRENCY, UTC, ThousandsMarks
from leaf.readers.tabular.sql import identifier, literal
from leaf.readers.tabular.units import are_one, said
from leaf.readers.tabular.wide import narrowed_sql

if TYPE_CHECKING:
    import duckdb


NAMED_ALONE = 40
"""Columns with words for no value that have a note of their own."""
_ORDERS = {"dmy": "day before month", "mdy": "month before day", "ymd": "year before month and day"}


def notes_of(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: list[Column],
    counts: dict[str, Counts],
    doubtful: list[Column],
) -> list[Note]:
    notes = []
    typed = [c for c in columns if c.plan.kind != "text"]
    empty = [c for c in typed if counts[c.source].missing]
    if empty:
        words = [
            (c.name, counts[c.source].missing, _words_for_nothing(connection, relation, c))
            for c in empty[:NAMED_ALONE]
        ]
        rest = [(c.name, counts[c.source].missing) for c in empty[NAMED_ALONE:]]
        notes += missing_notes(words, rest)
    signed = [c for c in typed if c.plan.percent]
    if signed:
        percent = [c.name for c in signed]
        text = f"Percent signs were taken off {_names(percent)}: 12.5% is 12.5."
        count = sum(counts[c.source].values for c in signed)
        notes.append(Note("percent", text, count, short=f"{_names(percent)}: percent."))
    notes += [_currency(connection, relation, c, counts) for c in typed if c.plan.currency]
    comma = [c for c in typed if c.plan.style in (",", " ,") and c.plan.kind == "decimal"]
    if comma:
        notes.append(comma_note([c.name for c in comma]))
    short = [c for c in typed if c.plan.style.endswith("2")]
    if short:
        notes.append(_two_digits(short))
    notes += [_triangles(connection, relation, c) for c in typed if c.plan.wide]
    notes += [_doubt(c) for c in doubtful if not (c.marks and c.plan.kind == "text")]
    notes += [_one_number(c.name, *c.twins) for c in typed if c.twins and c.plan.kind == "decimal"]
    return [n for n in notes if n.text]


def comma_note(columns: Sequence[str]) -> Note:
    """Of columns whose decimal mark is a comma."""
    names = _names(columns)
    text = f"The comma was read as the decimal mark in {names} (1.234,5 is 1234.5)."
    return Note("decimal-comma", text, len(columns), short=f"{names}: decimal comma.")


def mixed_note(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    column: Column,
    plan: ParsePlan,
    bad: int,
    values: int,
    row_number: Callable[[int], int],
) -> Note:
    layers = layers_of(
        relation, [column], f"row_number() OVER () AS n, {identifier(column.source)} AS raw, "
    )
    rows = connection.execute(
        f"SELECT n, raw FROM {layers} WHERE {plan.bad(known(column))} LIMIT 5"
    ).fetchall()
    examples = ", ".join(f"'{str(v)[:40]}'" for v in dict.fromkeys(v for _, v in rows))
    what = {"integer": "numbers", "decimal": "numbers", "boolean": "true or false"}.get(
        plan.kind, "dates"
    )
    text = f"'{column.name}' stays text: {bad:,} of {values:,} values are no {what} ({examples})."
    return Note("cells-unparsed", text, bad, places([row_number(n) for n, _ in rows]))


def missing_notes(
    columns: Iterable[tuple[str, int, Sequence[str]]], rest: Sequence[tuple[str, int]] = ()
) -> list[Note]:
    """For each column with words for no value how many there are, as a query needs it of its own
    columns alone, and which.

    `columns` are names, counts and words; `rest` are names and counts of those that share a note.
    """
    notes = []
    for name, count, words in columns:
        examples = such_as(words)
        text = f"{count:,} cells such as {examples} in '{name}' were read as empty."
        notes.append(
            Note(
                "missing-words",
                text,
                count,
                short=f"{count:,} {examples} in '{name}'{NO_VALUE_TAIL}",
            )
        )
    if rest:
        count = sum(n for _, n in rest)
        names = ", ".join(f"'{name}'" for name, _ in rest[:6]) + (
            f" and {len(rest) - 6} more columns" if len(rest) > 6 else ""
        )
        notes.append(
            Note("missing-words", f"{count:,} cells in {names} were read as empty.", count)
        )
    return notes


def such_as(words: Iterable[str]) -> str:
    """`'(NA)', '..'`: at most three of what was read as no value."""
    return ", ".join(f"'{word}'" for word in list(dict.fromkeys(words))[:3])


def _words_for_nothing(
    connection: duckdb.DuckDBPyConnection, relation: str, column: Column
) -> list[str]:
    absent = f"{text_of(column)} IS NOT NULL AND {known(column)} IS NULL"
    rows = connection.execute(
        f"SELECT {text_of(column)} FROM {layers_of(relation, [column])} WHERE {absent} LIMIT 50"
    ).fetchall()
    return list(dict.fromkeys(str(row[0]) for row in rows))[:3]


def _currency(
    connection: duckdb.DuckDBPyConnection, relation: str, column: Column, counts: dict[str, Counts]
) -> Note:
    """Says which sign was taken off; with two signs in a column the amounts do not add up, so that
    it stays text."""
    if column.plan.units:
        return _taken_off(column, list(map(said, column.plan.units)), counts[column.source].values)
    x = identifier(column.source)
    x = narrowed_sql(x) if column.plan.wide else x
    sign = f"regexp_extract({x}, {literal(CURRENCY)})"
    signs = [
        r[0]
        for r in connection.execute(
            f"SELECT DISTINCT {sign} FROM {relation} WHERE {sign} <> '' ORDER BY 1"
        ).fetchall()
    ]
    return _taken_off(column, signs, counts[column.source].values)


def _taken_off(column: Column, signs: Sequence[str], values: int) -> Note:
    if not are_one(signs):
        column.plan = TEXT
        text = f"'{column.name}' stays text: it mixes {', '.join(signs)}."
        return Note(
            "currency-mixed", text, values, short=f"'{column.name}' is text: {', '.join(signs)}."
        )
    return taken_off(column.name, signs, values)


def taken_off(name: str, signs: Sequence[str], values: int) -> Note:
    """Which signs of one currency were taken off the numbers of a column."""
    names = "' and '".join(signs)
    were = "was" if len(signs) == 1 else "were"
    text = f"'{names}' {were} taken off the numbers in '{name}'."
    sign = ", ".join(signs).rstrip(".")
    return Note("currency-stripped", text, values, short=f"'{name}' in {sign}.")


def _triangles(connection: duckdb.DuckDBPyConnection, relation: str, column: Column) -> Note:
    """Of triangles that were read as a minus; no text where there are none."""
    sign = f"regexp_extract({identifier(column.source)}, '[△▲]')"
    rows = connection.execute(
        f"SELECT {sign} AS sign, count(*) FROM {relation} GROUP BY 1 HAVING sign <> '' ORDER BY 1 DESC"
    ).fetchall()
    return triangles_note(column.name, dict(rows))


def triangles_note(name: str, counts: Mapping[str, int]) -> Note:
    """That triangles in front of numbers, each with how many it stands before, were read as a minus."""
    examples = " and ".join(counts)
    was = "were" if len(counts) > 1 else "was"
    text = f"{examples} before numbers in '{name}' {was} read as a minus." if examples else ""
    return Note("minus-signs", text, sum(counts.values()))


def codes_note(name: str, example: str) -> Note:
    """Of a column that stays text since its values look like numbers and are codes."""
    text = f"'{name}' stays text: {example} and its kin are rather codes or versions than numbers."
    return Note("codes-kept", text, 1, short=f"'{name}' is text: codes such as {example}.")


def padded_notes(columns: Sequence[Column]) -> list[Note]:
    """Of texts whose blanks at the end were left off."""
    even = [c.name for c in columns if c.even]
    others = [c.name for c in columns if not c.even]
    notes = []
    if even:
        text = f"Blanks that fill {_names(even)} to one length were left off."
        notes.append(Note("blanks-left-off", text, len(even)))
    if others:
        text = f"Blanks behind the values of {_names(others)} were left off."
        notes.append(Note("blanks-left-off", text, len(others)))
    return notes


def _two_digits(columns: Sequence[Column]) -> Note:
    """How years of two digits were read, and where they stand first, which is not usual."""
    names = _names([c.name for c in columns])
    text = f"Years have two digits in {names}; 69 to 99 were read as 19xx."
    first = [c.name for c in columns if c.plan.style.startswith("ymd")]
    if first:
        text += f" In {_names(first)} the year was read first, then month and day."
    return Note("two-digit-years", text, len(columns))


def _doubt(column: Column) -> Note:
    plan = column.plan
    if column.marks and plan.kind in ("integer", "decimal"):
        return marks_note(
            column.name,
            column.marks,
            thousands=plan.kind == "integer",
            contested=column.contested,
        )
    if plan.kind == "text":
        what = (
            f"in dates such as {column.either_end} the year may stand first or last"
            if column.either_end
            else "its dates can be read as day/month or as month/day"
        )
        return Note("dates-ambiguous", f"'{column.name}' stays text: {what}.", 1)
    order = _ORDERS[plan.style[:3]]
    return Note(
        "dates-ambiguous",
        f"Dates in '{column.name}' were read with the {order}, as another column of this "
        f"table shows.",
        1,
    )


def _one_number(name: str, first: str, second: str) -> Note:
    text = (
        f"'{name}' was read as numbers, so {first} and {second} are one value; where they are codes, "
        f"they are not told apart."
    )
    return Note("codes-as-numbers", text, 1)


def marks_note(
    name: str, marks: ThousandsMarks, *, thousands: bool, contested: bool = False
) -> Note:
    """That numbers such as 1.234 may be a thousand or a fraction, and as what they were read."""
    sign = "comma" if marks.mark == "," else "dot"
    reading = "a mark of thousands" if thousands else "the decimal mark"
    why = "other signs in this file speak against it" if contested else "nothing else shows it"
    text = (
        f"In '{name}' the {sign} of numbers such as {marks.example} was read as {reading}; {why}."
    )
    return Note("numbers-ambiguous", text, 1)


def zone_note(name: str, offsets: Sequence[str], *, in_utc: bool) -> Note | None:
    """How times with offsets were read; nothing of those that were written in UTC."""
    if UTC.issuperset(offsets):
        return None
    named = ", ".join(offsets[:4])
    if in_utc:
        text = f"Times in '{name}' have different offsets ({named}); they were read in UTC."
    else:
        text = f"Times in '{name}' are local, as written with {named}."
    return Note("times-zoned", text, len(offsets))


def _names(columns: Sequence[str]) -> str:
    names = ", ".join(f"'{name}'" for name in columns[:6])
    return names + (f" and {len(columns) - 6} more columns" if len(columns) > 6 else "")

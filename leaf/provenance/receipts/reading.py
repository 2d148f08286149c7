"""What one tool call gave, read into a book of values, tables, dates and texts. Pure.

A tool that gives numbers in a shape of its own is taught to `read` here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from leaf.provenance.receipts.evidence import (
    ALL_TEXT,
    TIME_NAME,
    Evidence,
    EvidenceBook,
    ResultNumbers,
    Value,
    number_of,
)
from leaf.provenance.receipts.figures import MONTHS, Figure, figures
from leaf.provenance.receipts.names import names_a_row
from leaf.provenance.receipts.printed import rows_of
from leaf.provenance.receipts.total_rows import total_rows
from leaf.provenance.receipts.words import YEAR, counted, tokens
from leaf.shapes.results import Data, Output, ProfileShown, TableShown, tables_of

CELLS = 10_000
"""Cells of one result that are looked at: 200 rows of 50 columns."""
TEXT = 60_000
"""Characters of one text that are searched for figures."""
NEARBY = 60
"""Characters before and after a figure in a text whose words say what it is of."""


def read(one: Evidence, characters: int = ALL_TEXT) -> EvidenceBook:
    """What one call gave, with so many characters of its texts at most."""
    book = EvidenceBook(characters_left=characters)
    data = one.output.get("data") or {}
    for source in one.output.get("sources") or ():
        book.names.update(_endings_of(str(source["name"])))
    for table in tables_of(data):
        _add_table(book, one, table)
    if (chart := data.get("chart")) and "columns" in chart:
        drawn = TableShown(columns=chart["columns"], rows=chart["rows"], total=len(chart["rows"]))
        _add_table(book, one, {**drawn, "result_id": chart.get("result_id", "")})
    if profile := data.get("profile"):
        _add_profile(book, one, profile)
    _add_counts(book, one, data)
    for cover in one.output.get("coverage") or ():
        of = f"{cover['unit']} of {cover['name']}"
        for number in (cover["seen"], cover["total"]):
            book.values.append(_counted(number, one, of))
    if not data.get("table"):
        _add_texts(book, one, data)
    for text in _strings(one.input):
        _add_text(book, text, Value(0.0, "", "condition", one, how="stands in the query"))
    return book


def _counted(number: float, one: Evidence, of: str, result_id: str = "", more: str = "") -> Value:
    return Value(
        float(number),
        f"{number:,}",
        "counted",
        one,
        result_id,
        how=of,
        labels=counted(of.partition(" of ")[0]) | tokens(f"{of} {more}"),
    )


def _add_counts(book: EvidenceBook, one: Evidence, data: Data) -> None:
    """How many files and tables a list has, how many passages were found."""
    if files := data.get("files"):
        tables = sum(len(file["tables"]) for file in files)
        texts = sum(not file["tables"] for file in files)
        book.values += [
            _counted(len(files), one, "files of the list"),
            _counted(len(files) - texts, one, "files of the list that hold tables"),
            _counted(texts, one, "files of the list that hold none"),
            _counted(tables, one, "tables of the list"),
        ]
    if (passages := data.get("passages")) and not data.get("table"):
        book.values.append(_counted(len(passages), one, "passages of the search"))
    if profile := data.get("profile"):
        tables = 1 + len(data.get("others") or ())
        book.values.append(_counted(tables, one, f"tables of {profile.get('file') or 'the file'}"))


_FIRST_ROWS = re.compile(r"(?i)\blimit\s+(\d+)(?!\s*%)|\bfetch\s+(?:first|next)\s+(\d+)")
_SAMPLE = re.compile(r"(?i)\blimit\s+[\d.]+\s*%|\b(?:using|table)\s*sample\b")


def _add_table(book: EvidenceBook, one: Evidence, table: TableShown) -> None:
    columns = [str(column) for column in table["columns"]]
    rows = (table.get("rows") or [])[: max(1, CELLS // max(1, len(columns)))]
    book.names.update(columns)
    for column in columns:
        named = Value(0.0, column, "condition", one, column=column, how="name of a column")
        _add_text(book, column, named)
        book.dates += [(year, named) for year in YEAR.findall(column)]
    result_id = str(table.get("result_id") or "")
    total = int(table.get("total") or len(rows))
    texts = [
        c
        for j, c in enumerate(columns)
        if not any(isinstance(row[j], int | float) for row in rows if j < len(row))
    ]
    sql = str(table.get("sql") or one.input.get("sql") or "")
    part, counted_at = _is_part(sql, total), len(book.values)
    scans = table.get("scanned") or ()
    book.values.append(_counted(len(scans), one, "tables that were read"))
    for scanned in scans:
        book.values.append(_counted(scanned["rows"], one, f"rows of {scanned['name']}"))
    labels = [_labels(row, columns) for row in rows]
    numbers = _add_cells(book, one, columns, rows, labels, result_id)
    of, sums = f"rows of {result_id or 'the result'}", 0
    if rows:
        shared = labels[0].intersection(*labels[1:]) if len(labels) > 1 else frozenset()
        own = [label - shared for label in labels]
        book.tables.append(
            ResultNumbers(
                one,
                result_id,
                columns,
                numbers,
                own,
                _names(rows),
                total == len(rows),
                shared,
                rows,
                sql,
                part,
            )
        )
        sums = len(total_rows(book.tables[-1])) if total == len(rows) else 0
    if not part:
        of += " without totals" if sums else ""
        count = _counted(total - sums, one, of, result_id, " ".join(texts))
        book.values.insert(counted_at, count)


def _is_part(sql: str, total: int) -> bool:
    """Whether a query asked for no more rows than it gave: there may be others."""
    asked = [int(number) for groups in _FIRST_ROWS.findall(sql) for number in groups if number]
    return total in asked or bool(_SAMPLE.search(sql))


def _add_cells(
    book: EvidenceBook,
    one: Evidence,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    labels: Sequence[frozenset[str]],
    result_id: str,
) -> Any:
    """Each cell as a value; the numbers among them as an array of rows and columns, NaN elsewhere."""
    numbers = np.full((len(rows), len(columns)), math.nan)
    of_columns = [tokens(column) for column in columns]
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if cell is None or isinstance(cell, bool):
                continue
            number = number_of(cell)
            value = Value(
                number or 0.0,
                str(cell),
                "exact",
                one,
                result_id,
                i,
                columns[j],
                labels=labels[i] | of_columns[j],
            )
            if number is not None:
                numbers[i, j] = number
                book.values.append(value)
            elif isinstance(cell, str):
                _add_text(book, cell[:2_000], value)
                if names_a_row(cell):
                    book.names.add(cell)
    return numbers


def _labels(row: Sequence[Any], columns: Sequence[str]) -> frozenset[str]:
    """The words of a row, its dates as they may be written, its years and months, and the number
    that it begins with."""
    labels: set[str] = set()
    for i, cell in enumerate(row):
        if isinstance(cell, str) and number_of(cell) is None:
            labels |= tokens(cell[:200])
            for figure in figures(cell[:40]) if any(c.isdigit() for c in cell[:40]) else ():
                labels |= {date[:end] for date in figure.dates for end in (4, 7, 10)}
                labels |= {
                    name
                    for date in figure.dates
                    for name, number in MONTHS.items()
                    if date[5:7] == f"{number:02}"
                }
        elif (
            isinstance(cell, int)
            and not isinstance(cell, bool)
            and (i == 0 or TIME_NAME.search(columns[i : i + 1][0]))
        ):
            labels.add(str(cell))
    return frozenset(labels)


def _endings_of(name: str) -> list[str]:
    """A file's name, as it may be written: with all of its folders, with some, or without them."""
    parts = name.split("/")
    return ["/".join(parts[at:]) for at in range(len(parts))]


def _names(rows: Sequence[Sequence[Any]]) -> list[str]:
    words = [[cell for cell in row if isinstance(cell, str)] for row in rows]
    return [texts[0][:60] if texts else f"row {i}" for i, texts in enumerate(words, 1)]


def _add_profile(book: EvidenceBook, one: Evidence, profile: ProfileShown) -> None:
    name = str(profile.get("name") or "the table")
    columns = profile.get("columns") or ()
    book.values.append(_counted(int(profile.get("rows") or 0), one, f"rows of {name}"))
    book.values.append(_counted(len(columns), one, f"columns of {name}"))
    for column in columns:
        title = str(column["name"])
        book.names.add(title)
        facts = [
            ("min", column.get("min")),
            ("max", column.get("max")),
            ("mean", column.get("mean")),
            ("std", column.get("std")),
        ]
        quartiles = column.get("quartiles") or ()
        facts += list(zip(("first quartile", "median", "third quartile"), quartiles, strict=False))
        for fact, fact_value in facts:
            value = Value(
                0.0,
                str(fact_value),
                "exact",
                one,
                column=title,
                how=f"{fact} of {title}",
                labels=tokens(title),
            )
            _add_cell(book, fact_value, value)
        counts = [
            (f"nulls of {title}", column.get("nulls")),
            (f"distinct of {title}", column.get("distinct")),
        ]
        counts += [
            (f"rows with {title} = {value}", count) for value, count in column.get("top") or ()
        ]
        book.values += [_counted(count, one, of) for of, count in counts if count is not None]
        for value, _ in column.get("top") or ():
            _add_cell(
                book,
                value,
                Value(0.0, str(value), "exact", one, column=title, how=f"a value of {title}"),
            )
    sample = profile.get("sample") or ()
    titles = [str(column["name"]) for column in columns]
    of_rows = [_labels(row, titles) for row in sample]
    for row, labels in zip(sample, of_rows, strict=True):
        others = frozenset[str]().union(*of_rows) - labels
        for title, cell in zip(titles, row, strict=False):
            how = "a sample row"
            value = Value(
                0.0, str(cell), "exact", one, column=title, how=how, labels=labels, others=others
            )
            _add_cell(book, cell, value)


def _add_cell(book: EvidenceBook, cell: Any, value: Value) -> None:
    number = number_of(cell)
    if number is not None:
        book.values.append(replace(value, number=number))
    elif isinstance(cell, str):
        _add_text(book, cell[:2_000], value)


def _add_texts(book: EvidenceBook, one: Evidence, data: Data) -> None:
    passages = [
        (" ".join(filter(None, (p["name"], p["place"]))), p["text"])
        for p in data.get("passages") or ()
    ]
    if not passages:
        passages = [
            (sent["title"], "\n".join(sent["texts"]))
            for sent in one.output.get("passages") or ()
            if sent["texts"]
        ]
    for place, text in passages:
        _add_text(book, text, Value(0.0, "", "quoted", one, place=place))
    if python := data.get("python"):
        for words in (python.get("printed"), python.get("value")):
            _add_text(
                book, str(words or ""), Value(0.0, "", "printed", one, how="printed by the code")
            )
    elif not passages:
        _add_text(
            book,
            str(one.output.get("text") or ""),
            Value(0.0, "", "quoted", one, place=_place(one.output)),
        )


def _place(output: Output) -> str:
    sources = output.get("sources") or ()
    if len(sources) != 1:
        return ""
    return " ".join(filter(None, (sources[0]["name"], sources[0]["place"])))


def _add_text(book: EvidenceBook, text: str, value: Value) -> None:
    """Every figure that a text holds."""
    text = text[: min(TEXT, book.characters_left)]
    if not any(c.isdigit() for c in text):
        return
    book.characters_left -= len(text)
    book.texts.append((text, value))
    printed = value.kind == "printed"
    blocks = rows_of(text, figures(text), value.evidence) if printed else ()
    for figure, near, line in _figures_in(text):
        cells = (block.cell_at(figure.start) for block in blocks)
        figure_value = replace(
            value,
            shown=value.shown or figure.text,
            labels=value.labels | near,
            line=line,
            printed=next(filter(None, cells), None),
        )
        for reading in figure.readings:
            book.values.append(replace(figure_value, number=reading.value))
            if figure.unit == "percent":
                book.values.append(replace(figure_value, number=reading.value / 100))
        book.dates += [(date, figure_value) for date in figure.dates]


@lru_cache(maxsize=512)
def _figures_in(text: str) -> tuple[tuple[Figure, frozenset[str], frozenset[str]], ...]:
    """The figures of a text, each with the words around it and those of its line. Kept, since later
    answers of a chat look at the same results."""

    def around(
        figure: Figure, before: str, after: str
    ) -> tuple[Figure, frozenset[str], frozenset[str]]:
        line = before.rpartition("\n")[2] + " " + after.partition("\n")[0]
        return figure, tokens(f"{before} {after}"), tokens(line)

    every = figures(text)
    if any(re.search(r"\d \d", figure.text) for figure in every):
        # A row of a table that lost its lines looks like that as well.
        every += [figure for figure in figures(text, joined=False) if figure not in every]
    return tuple(
        around(f, text[max(0, f.start - NEARBY) : f.start], text[f.end : f.end + NEARBY])
        for f in every
    )


def _strings(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        for value in node.values():
            yield from _strings(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _strings(value)

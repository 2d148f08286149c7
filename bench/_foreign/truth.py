"""The corpora's own truth, as a class for each row of a file: data, derived, header, title, note or
group."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CLASSES = {
    "metadata": "title",
    "MetaTitle": "title",
    "notes": "note",
    "Notes": "note",
    "Header": "header",
    "GroupHead": "group",
}


@dataclass(frozen=True)
class Sheet:
    """A file and what its rows are, by number from 1; rows that are empty or that nobody annotated
    are left out."""

    path: Path
    rows: dict[int, str]
    cells: list[list[str]]
    tables: tuple[tuple[int, ...], ...] = ()
    """By annotated table, its rows that hold data or sums of it, by number from 1."""


def strudel(corpora: Path, which: str) -> Iterator[Sheet]:
    """Tables of the Statistical Abstract of the United States (`saus`) or of statistics offices
    (`troy`)."""
    with gzip.open(corpora / "strudel" / f"{which}.jl.gz", "rt") as file:
        for line in file:
            table = json.loads(line)
            path = (
                corpora
                / "strudel"
                / "csv"
                / f"{which}__{table['file_name']}__{table['table_id']}.csv"
            )
            if path.is_file():
                rows = {n: _class(kinds) for n, kinds in enumerate(table["annotations"], 1)}
                body = tuple(n for n, kind in rows.items() if kind in ("data", "derived"))
                yield Sheet(
                    path,
                    {n: kind for n, kind in rows.items() if kind},
                    _cells(table["table_array"]),
                    (body,),
                )


def fuste(corpora: Path) -> Iterator[Sheet]:
    """Spreadsheets of companies and offices, with the parts of each of their tables."""
    annotated = json.loads((corpora / "fuste" / "annotations_elements.json").read_text())
    for name, found in sorted(annotated.items()):
        path = corpora / "fuste" / "csv" / name
        if not path.is_file():
            continue
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            cells = list(csv.reader(file))
        kinds = [["" for _ in row] for row in cells]
        for element in sorted(
            (e for r in found["regions"] for e in r["elements"]),
            key=lambda e: e["type"] == "Derived",
        ):
            _paint(kinds, element)
        rows = {
            n: _class(_filled(line, row))
            for n, (line, row) in enumerate(zip(kinds, cells, strict=True), 1)
        }
        tables = tuple(
            _body(region, cells) for region in found["regions"] if region["region_type"] == "Table"
        )
        yield Sheet(path, {n: kind for n, kind in rows.items() if kind}, cells, tables)


def _body(region: dict[str, Any], cells: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """Rows in which an annotated table has a cell of data that is not empty."""
    rows = set()
    for element in region["elements"]:
        (left, top), (right, bottom) = element["top_lx"], element["bot_rx"]
        if element["type"] in ("Data", "Derived"):
            rows |= {
                n
                for n, row in enumerate(cells[top : bottom + 1], top + 1)
                if any(c.strip() for c in row[left : right + 1])
            }
    return tuple(sorted(rows))


def plain(path: Path, header_rows: int = 1) -> Sheet:
    """A file of one table of which every row below the header is data."""
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        cells = list(csv.reader(file))
    rows = {
        n: "header" if n <= header_rows else "data"
        for n, row in enumerate(cells, 1)
        if any(c.strip() for c in row)
    }
    return Sheet(path, rows, cells)


def _cells(table: Sequence[Sequence[Any]]) -> list[list[str]]:
    return [["" if cell is None else str(cell) for cell in row] for row in table]


def _paint(kinds: list[list[str]], element: dict[str, Any]) -> None:
    (left, top), (right, bottom) = element["top_lx"], element["bot_rx"]
    for row in kinds[top : bottom + 1]:
        for column in range(left, min(right + 1, len(row))):
            row[column] = element["type"]


def _filled(kinds: Sequence[str], cells: Sequence[str]) -> list[str]:
    return [kind for kind, cell in zip(kinds, cells, strict=True) if cell.strip()]


def _class(kinds: Sequence[str | None]) -> str:
    """A row is derived where more of its cells are than hold data, data where any cell is, else
    what most of its cells are."""
    count = Counter(kind for kind in kinds if kind and kind != "empty")
    if not count:
        return ""
    derived, data = count["derived"] + count["Derived"], count["data"] + count["Data"]
    if derived > data:
        return "derived"
    if data:
        return "data"
    most = count.most_common(1)[0][0]
    return _CLASSES.get(most, most)

"""Cells over several rows of a document's table: labels hold for each row, amounts stand once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import docx
import duckdb
import pytest

from leaf.readers.base import TableInfo
from leaf.readers.worker import reader_of
from tests.test_readers_docs import A, package, rels, slide
from tests.test_readers_office import cell, open_document
from tests.test_readers_office import row as open_row

ROWS = [
    ["Region", "Year", "City", "Order total", "Sales"],
    ["North", "2023", "Bergen", "1,500.50", "10"],
    ["", "", "Oslo", "", "20"],
    ["", "", "Tromsø", "", "30"],
    ["West", "2024", "Leeds", "70", "40"],
    ["", "", "York", "80", "50"],
    ["South", "2025", "Porto", "90", "60"],
]
SPANS = [(1, 0, 3), (4, 0, 2), (1, 1, 3), (4, 1, 2), (1, 3, 3)]
"""Row and column of a cell, and how many rows it reaches over."""
READ = [
    ("North", 2023, "Bergen", 1500.5, 10),
    ("North", 2023, "Oslo", None, 20),
    ("North", 2023, "Tromsø", None, 30),
    ("West", 2024, "Leeds", 70, 40),
    ("West", 2024, "York", 80, 50),
    ("South", 2025, "Porto", 90, 60),
]


def _load(path: Path) -> tuple[TableInfo, list[tuple[Any, ...]]]:
    reader: Any = reader_of(path.suffix[1:])
    out = path.with_suffix("")
    (info,) = reader.tables(path, out)
    return info, duckdb.connect().execute(f"FROM '{out / info.parquet}'").fetchall()


def _covered() -> set[tuple[int, int]]:
    return {(row + n, column) for row, column, height in SPANS for n in range(1, height)}


def _page(folder: Path) -> Path:
    heights = {(row, column): height for row, column, height in SPANS}
    lines = [
        "<tr>"
        + "".join(
            f"<td rowspan={heights.get((r, c), 1)}>{text}</td>"
            for c, text in enumerate(row)
            if (r, c) not in _covered()
        )
        for r, row in enumerate(ROWS)
    ]
    path = folder / "sales.html"
    path.write_text(f"<p>Sales of us</p><table>{''.join(lines)}</table>", encoding="utf-8")
    return path


def _word(folder: Path) -> Path:
    document = docx.Document()
    table = document.add_table(rows=len(ROWS), cols=5)
    for r, row in enumerate(ROWS):
        for c, text in enumerate(row):
            table.cell(r, c).text = text
    for row, column, height in SPANS:
        table.cell(row, column).merge(table.cell(row + height - 1, column))
        table.cell(row, column).text = ROWS[row][column]
    document.save(str(folder / "sales.docx"))
    return folder / "sales.docx"


def _slides(folder: Path) -> Path:
    heights = {(row, column): height for row, column, height in SPANS}
    lines = []
    for r, row in enumerate(ROWS):
        spans = [
            'vMerge="1"' if (r, c) in _covered() else f'rowSpan="{heights.get((r, c), 1)}"'
            for c in range(len(row))
        ]
        cells = [
            f"<a:tc {span}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"
            for span, text in zip(spans, row, strict=True)
        ]
        lines.append(f"<a:tr>{''.join(cells)}</a:tr>")
    table = f"<a:graphicData><a:tbl>{''.join(lines)}</a:tbl></a:graphicData>"
    listed = '<p:sldIdLst><p:sldId id="9" r:id="rId1"/></p:sldIdLst>'
    parts = {
        "_rels/.rels": rels(("officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"<p:presentation {A}>{listed}</p:presentation>",
        "ppt/_rels/presentation.xml.rels": rels(("slide", "slides/slide1.xml")),
        "ppt/slides/slide1.xml": slide(
            f"<p:graphicFrame><a:graphic>{table}</a:graphic></p:graphicFrame>"
        ),
    }
    return package(folder, "sales.pptx", parts)


def _open(folder: Path) -> Path:
    heights = {(row, column): height for row, column, height in SPANS}
    lines = [
        open_row(
            *(
                "<table:covered-table-cell/>"
                if (r, c) in _covered()
                else cell(text, f'table:number-rows-spanned="{heights.get((r, c), 1)}"')
                for c, text in enumerate(row)
            )
        )
        for r, row in enumerate(ROWS)
    ]
    table = f"<table:table>{''.join(lines)}</table:table>"
    return open_document(folder / "sales.odt", "text", table)


@pytest.mark.parametrize("make", [_page, _word, _slides, _open])
def test_labels_over_several_rows_stand_in_each_and_amounts_in_the_first(
    tmp_path: Path, make: Any
) -> None:
    info, rows = _load(make(tmp_path))
    assert rows == READ
    notes = {n.kind: (n.count, n.place) for n in info.notes if n.kind.startswith("merged-")}
    assert notes == {"merged-cells": (1, "rows 2-4"), "merged-labels": (4, "rows 2-6")}


def test_names_over_several_rows_and_columns_of_a_header_are_no_merged_cells(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.html"
    path.write_text(
        """<p>Sales</p><table><tr><td rowspan=2>Land</td><td colspan=2>2023</td><td rowspan=2>2024</td></tr>
        <tr><td>Sales</td><td>Cost</td></tr><tr><td>Oman</td><td>1</td><td>2</td><td>3</td></tr>
        <tr><td>Peru</td><td>4</td><td>5</td><td>6</td></tr></table>""",
        encoding="utf-8",
    )
    info, rows = _load(path)
    assert [name for name, _ in info.columns] == ["Land", "2023 / Sales", "2023 / Cost", "2024"]
    assert rows == [("Oman", 1, 2, 3), ("Peru", 4, 5, 6)]
    assert not [note for note in info.notes if note.kind.startswith("merged-")]

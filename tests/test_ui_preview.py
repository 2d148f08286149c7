"""Where a preview opens."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from leaf.tables.paging import ResultPage
from leaf.ui.markdown import marked
from leaf.ui.preview import aim, marks_in
from leaf.ui.tabular import QuotedCells

TABLES: list[Any] = [
    SimpleNamespace(sheet="Summary", place="A1:C9"),
    SimpleNamespace(sheet="Data", place="A4:F104"),
    SimpleNamespace(sheet="Data", place="A110:F900"),
]


LINES: Any = SimpleNamespace(
    sheet="", place="lines 3-102", columns=[("a", "VARCHAR"), ("b", "BIGINT")]
)
RECORDS: Any = SimpleNamespace(sheet="", place="rows 1-99", columns=[("a", "VARCHAR")])
DATA: Any = SimpleNamespace(sheet="Data", place="B4:F104", columns=[("a", "VARCHAR")] * 5)


def page(columns: int, *numbers: int) -> ResultPage:
    return ResultPage(
        ["c"] * columns,
        ["VARCHAR"] * columns,
        [[None] * columns] * len(numbers),
        99,
        0,
        numbers=numbers,
    )


FIRST = page(5, *range(5, 55))


@pytest.mark.parametrize(
    ("table", "place", "shown", "marks"),
    [
        (DATA, "sheet Data!C7:D8", FIRST, QuotedCells(range(2, 4), range(1, 3))),
        (DATA, "sheet Data!C57", page(5, *range(55, 105)), QuotedCells(range(2, 3), range(1, 2))),
        (DATA, "sheet Data!C7", page(5, *range(55, 105)), None),
        (DATA, "sheet Data!B4:C5", FIRST, QuotedCells(range(1), range(2))),
        (DATA, "sheet Other!C7", FIRST, None),
        pytest.param(
            DATA,
            "sheet Data!C9:C12",
            page(5, 5, 6, 9, 12, 13),
            QuotedCells(range(2, 4), range(1, 2)),
            id="gaps",
        ),
        pytest.param(
            DATA,
            "sheet Data!C6",
            page(7, 5, 6),
            QuotedCells(range(1, 2), range(3, 4)),
            id="row and kind before",
        ),
        pytest.param(DATA, "rows 7-8", page(5, 5, 6, 9), None, id="an empty row"),
        (LINES, "rows 4-5", page(2, *range(4, 54)), QuotedCells(range(2), range(2))),
        (RECORDS, "row 4", page(1, *range(1, 51)), QuotedCells(range(3, 4), range(1))),
        (LINES, "lines 4-5", page(2, *range(4, 54)), None),
        (LINES, "nowhere", page(2, *range(4, 54)), None),
    ],
)
def test_quoted_cells_are_marked_among_the_rows_that_are_shown(
    table: Any, place: str, shown: ResultPage, marks: QuotedCells | None
) -> None:
    assert marks_in(table, place, shown) == marks


def test_rows_of_a_csv_file_are_those_of_the_file() -> None:
    assert aim([LINES], "rows 4-5") == (0, 4)
    assert aim([RECORDS], "row 4") == (0, 4)
    assert aim([LINES, SimpleNamespace(sheet="", place="lines 110-120")], "row 112") == (1, 112)


def test_marked_words_stay_literal_and_are_marked_line_by_line() -> None:
    text = "a [link](https://x.example)\n*b* c"
    drawn = marked(text, [(2, len(text) - 2)])
    assert drawn.count(":orange-background[**") == 2
    assert "](https" not in drawn
    assert drawn.endswith("**]\u00a0c")


@pytest.mark.parametrize(
    ("place", "table", "row"),
    [
        ("sheet Summary!A3:C3", 0, 3),
        ("sheet Data!A4:F104", 1, 4),
        ("sheet Data!A50:F60", 1, 50),
        ("sheet Data!A200:F210", 2, 200),
        ("sheet Data", 1, 1),
        ("sheet Gone!A5:B6", 0, 0),
        ("rows 100-200", 0, 0),
        ("lines 1-4", 0, 0),
        ("nowhere at all", 0, 0),
        ("", 0, 0),
    ],
)
def test_a_place_leads_to_its_table_and_row(place: str, table: int, row: int) -> None:
    assert aim(TABLES, place) == (table, row)

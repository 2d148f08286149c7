"""Where a preview opens."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from leaf.ui.preview import aim

TABLES: list[Any] = [
    SimpleNamespace(sheet="Summary", place="A1:C9"),
    SimpleNamespace(sheet="Data", place="A4:F104"),
    SimpleNamespace(sheet="Data", place="A110:F900"),
]


@pytest.mark.parametrize(
    ("place", "table", "row"),
    [
        ("sheet Summary!A3:C3", 0, 1),
        ("sheet Data!A4:F104", 1, 0),
        ("sheet Data!A50:F60", 1, 45),
        ("sheet Data!A200:F210", 2, 89),
        ("sheet Data", 1, 0),
        ("sheet Gone!A5:B6", 0, 0),
        ("rows 100-200", 0, 99),
        ("lines 1-4", 0, 0),
        ("nowhere at all", 0, 0),
        ("", 0, 0),
    ],
)
def test_a_place_leads_to_its_table_and_row(place: str, table: int, row: int) -> None:
    assert aim(TABLES, place) == (table, row)

"""Tables side by side on a sheet are read as those that they are, and one table stays one."""

from __future__ import annotations

import pytest

from leaf.readers.tabular.blocks import find_tables
from leaf.readers.tabular.grid import TableBlock
from tests.test_readers_headers import grid_of

SALES = ["Item|Qty|Price", "Mug|21|12.5", "Soap|7|2.5", "Tea|9|3.5", "Jam|4|1.5"]


def _blocks(rows: list[str]) -> tuple[TableBlock, ...]:
    return find_tables(grid_of("\n".join(rows))).blocks


def _beside(left: list[str], right: list[str], between: str) -> list[str]:
    blank = "|" * left[0].count("|")
    rows = max(len(left), len(right))
    return [
        (left[n] if n < len(left) else blank) + between + (right[n] if n < len(right) else "")
        for n in range(rows)
    ]


def test_tables_with_a_key_of_the_same_name_are_parted_by_an_empty_column() -> None:
    right = ["Time|Item|Qty", "11:32|Soap|3", "12:54|Tea|1", "13:23|Jam|2"]
    left, back = _blocks(_beside(SALES, right, "||"))
    assert (left.names, back.names) == (("Item", "Qty", "Price"), ("Time", "Item", "Qty"))
    assert (len(left.body), len(back.body)) == (4, 3)


def test_tables_with_titles_of_their_own_are_parted_by_an_empty_column() -> None:
    left = ["SALES||", *SALES, "Bun|3|2.5", *(f"Cup {n}|{n}|1.5" for n in range(12))]
    right = ["HELPERS|", "Name|Hours", *(f"Helper {n}|{n}.5" for n in range(15))]
    blocks = _blocks(_beside(left, right, "||"))
    assert [block.names for block in blocks] == [("Item", "Qty", "Price"), ("Name", "Hours")]


def test_a_table_below_the_one_beside_another_is_a_table_of_its_own() -> None:
    right = ["Time|Item|Qty", "11:32|Soap|3", "12:54|Tea|1", "||", "Helpers||"]
    right += ["Name|Hours|", "Ute|4|", "Jens|6.5|"]
    left = [*SALES, *(f"Cup {n}|{n}|1.5" for n in range(4))]
    names = [block.names for block in _blocks(_beside(left, right, "||"))]
    assert names == [("Item", "Qty", "Price"), ("Time", "Item", "Qty"), ("Name", "Hours")]


@pytest.mark.parametrize(
    "right",
    [
        ["Day|Item|Cost", "2024-02-01|Ink|3.5", "2024-02-04|Pens|1.5"],
        ["Day|Item|Cost", *(f"2024-03-0{n}|Ink|{n}.5" for n in range(1, 5))],
    ],
    ids=["shorter", "of other days"],
)
def test_names_that_repeat_as_a_whole_are_tables_side_by_side(right: list[str]) -> None:
    left = ["Day|Item|Cost", *(f"2024-01-0{n}|Tea|{n}.5" for n in range(1, 5))]
    blocks = _blocks(_beside(left, right, "|"))
    assert [block.names for block in blocks] == [("Day", "Item", "Cost")] * 2
    assert [len(block.body) for block in blocks] == [4, len(right) - 1]


@pytest.mark.parametrize(
    "rows",
    [
        ["Team|Goals|Team|Goals", "Oslo|1|Moss|2", "Rome|3|Graz|0", "Bonn|2|York|2"],
        ["Min|Max|Min|Max", "1|5|2|6", "2|7|1|8", "|3|2|9", "1|4||"],
        ["Name|Q1|Q2||Q1|Q2", *(f"City {n}|1|2||3|4" for n in range(12)), "Graz|1|3||"],
        ["Item|Sales||Remark|Clerk", "Rye|3||good|Ada", "Oats|4||bad|Bo", "Hay|5||fine|Eve"],
    ],
    ids=["pairs", "numbers", "groups", "gap"],
)
def test_one_table_whose_names_repeat_or_stand_apart_stays_one(rows: list[str]) -> None:
    assert len(_blocks(rows)) == 1


def test_pairs_of_which_the_last_has_one_half_stay_one_table() -> None:
    rows = ["Team|Score|Team|Score", "Reds|1|Blues|2", "Greens|3|Blacks|0", "Whites|2||"]
    (block,) = _blocks(rows)
    assert (len(block.columns), len(block.body)) == (4, 3)


def test_loose_cells_beside_a_table_are_counted_without_its_own() -> None:
    rows = ["Item|Month|EUR||Item|Month|EUR", "Job|Jan|2000||Rent|Jan|800"]
    rows += ["Job|Feb|2000||Food|Feb|300", "||||Fuel|Feb|90", "Gift|Mar|50||||"]
    rows += ["||||||", "Total||4050||Total||1190"]
    content = find_tables(grid_of("\n".join(rows)))
    assert len(content.blocks) == 2
    assert {note.kind: note.count for note in content.notes}["loose-cells"] == 2

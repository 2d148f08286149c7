"""Tables below one another under the same numbers: plates of an instrument, measures by year."""

from __future__ import annotations

import pytest

from leaf.readers.tabular.blocks import find_tables
from leaf.readers.tabular.grid import TableBlock
from tests.test_readers_headers import grid_of

HEAD = "|1|2|3|4|5|6"
PLATE = "A|0.9|2.5|1.1|0.7|0.3|1.2\nB|0.1|2.2|1.4|0.5|0.8|1.9\nC|1.9|0.2|1.7|0.4|2.8|1.6"
OTHER = "A|90.5|25.1|11|7.2|30.1|12\nB|10|22.4|14|50.2|80|19\nC|19|20|17.5|40|28|16"


def _blocks(text: str) -> tuple[TableBlock, ...]:
    return find_tables(grid_of(text)).blocks


@pytest.mark.parametrize("between", ["", "Plate 2\n", "\n", "\nPlate 2\n", "\nPlate 2\n\n"])
def test_plates_below_one_another_are_tables_of_their_own(between: str) -> None:
    blocks = _blocks(f"Plate 1\n{HEAD}\n{PLATE}\n{between}{HEAD}\n{OTHER}")
    assert [len(block.body) for block in blocks] == [3, 3]
    assert [block.names for block in blocks] == [("column_1", "1", "2", "3", "4", "5", "6")] * 2


def test_plates_whose_corner_has_their_name_are_tables_of_their_own() -> None:
    blocks = _blocks(f"OD450{HEAD}\n{PLATE}\n\nOD570{HEAD}\n{OTHER}")
    assert [block.names[0] for block in blocks] == ["OD450", "OD570"]


def test_measures_of_the_same_regions_under_the_same_years_are_tables_of_their_own() -> None:
    rows = "North|10|20|30\nSouth|40|50|60"
    blocks = _blocks(f"Region|2021|2022|2023\n{rows}\nRegion|2021|2022|2023\n{rows}")
    assert [len(block.body) for block in blocks] == [2, 2]


def test_a_header_of_numbers_that_is_printed_again_above_more_rows_is_one_header() -> None:
    more = "D|0.4|0.2|1.1|0.7|0.3|1.2\nE|0.1|2.2|1.4|0.5|0.8|1.9\nF|1.9|0.2|1.7|0.4|2.8|1.6"
    (block,) = _blocks(f"{HEAD}\n{PLATE}\n{HEAD}\n{more}")
    assert len(block.body) == 6
    assert "header-repeated" in [note.kind for note in block.notes]


def test_words_above_the_same_rows_again_are_one_header() -> None:
    rows = "North|10|20|30\nSouth|40|50|60"
    (block,) = _blocks(f"Region|a|b|c\n{rows}\nRegion|a|b|c\n{rows}")
    assert len(block.body) == 4


def test_a_cell_that_is_no_number_before_names_is_read() -> None:
    rows = [[float("nan"), 1.0, 2.0, 3.0], ["A", 4.0, 5.0, 6.5], ["B", 7.0, 8.0, 9.5]]
    (block,) = find_tables([*rows, *rows]).blocks
    assert len(block.body) >= 4

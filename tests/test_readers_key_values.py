"""Labels with their values above a table are its titles, not its names."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaf.readers.tabular.blocks import find_tables
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.grid import TableBlock
from tests.test_readers_headers import grid_of

RUN = "Sample|A1\nMethod|X.met\nInjected|2024-01-05\nVolume|10\n"
PEAKS = "RT|Area|Height\n1.2|100|5.5\n2.3|200|6.5\n3.1|250|8.5\n4.2|300|7.5\n"
CURVE = "Time|Intensity\n0.1|140\n0.2|150\n0.3|170\n0.4|160\n"


def _blocks(text: str) -> tuple[TableBlock, ...]:
    return find_tables(grid_of(text)).blocks


def _place(block: TableBlock, kind: str) -> str:
    return next((note.place for note in block.notes if note.kind == kind), "")


@pytest.mark.parametrize(
    "above",
    [RUN, f"{RUN}\n", f"[Sample]\n{RUN}\n\n", "Sample|A1\nMethod|X.met\n", "Volume|10|ml\n"],
)
def test_labels_with_values_above_a_wider_table_are_its_titles(above: str) -> None:
    (block,) = _blocks(above + PEAKS)
    assert (block.names, len(block.body)) == (("RT", "Area", "Height"), 4)
    assert _place(block, "preamble").startswith("row")
    assert not _place(block, "header-two-rows")


def test_labels_with_values_right_above_two_columns_of_numbers_are_titles() -> None:
    (block,) = _blocks(f"[Curve]\nInterval|500\nUnit|mV\nFactor|0.001\n{CURVE}")
    assert (block.names, len(block.body)) == (("Time", "Intensity"), 4)
    assert _place(block, "preamble") == "rows 1-4"


def test_labels_with_values_between_tables_stand_with_the_one_below() -> None:
    first, second = _blocks(f"{RUN}\n{PEAKS}\n[Curve]\nInterval|500\nUnit|mV\n{CURVE}")
    assert (first.names, second.names) == (("RT", "Area", "Height"), ("Time", "Intensity"))
    assert (_place(first, "preamble"), _place(first, "footer")) == ("rows 1-4", "")
    assert _place(second, "preamble") == "rows 12-14"


def test_many_labels_with_values_are_no_rows_of_data() -> None:
    more = "".join(f"Setting {name}|{name}\nLimit {name}|{n}\n" for n, name in enumerate("abcdef"))
    more = f"Method|X.met\n{more}"
    (block,) = _blocks(f"{more}\n{PEAKS}")
    assert _place(block, "preamble") == "rows 1-13"
    assert not _place(block, "titles-doubtful")


@pytest.mark.parametrize(
    "small",
    [
        "City|People\nOslo|700000\nBergen|unknown\nMoss|50000\n",
        "Code|Meaning\nA|Apple\nB|Pear\nC|Plum\n",
        "Sales|120.5\nCosts|80.5\nProfit|40\nTax|8\n",
        "Name|Since\nAnna|2024-01-05\nBob|2023-02-01\nEve|2021-07-09\n",
    ],
)
def test_a_small_table_above_a_wider_one_stays_a_table(small: str) -> None:
    upper, lower = _blocks(f"{small}\n{PEAKS}")
    assert lower.names == ("RT", "Area", "Height")
    assert len(upper.body) >= 3


def test_a_group_above_names_is_part_of_them() -> None:
    (block,) = _blocks("Region|Sales\nName|North|South\n2021|5|6\n2022|7|8\n2023|9|4")
    assert block.names == ("Region / Name", "Sales / North", "Sales / South")


STATION = "Source|Station|City|Height|Zone\nNet|4711|-|210|-7\n"
HOURS = "".join(f"2020|1|{day}|{day - 4}.5|{day * 7}\n" for day in range(1, 9))


def test_names_with_one_row_of_values_above_other_names_are_titles() -> None:
    (block,) = _blocks(f"{STATION}Year|Month|Day|Temp|Flow\n{HOURS}")
    assert (block.names, len(block.body)) == (("Year", "Month", "Day", "Temp", "Flow"), 8)
    assert _place(block, "preamble") == "rows 1-2"
    assert not _place(block, "series-described")


def test_a_repeated_name_below_one_row_parts_no_titles() -> None:
    head = "Year|Month|Day|Temp|Flow\n"
    blocks = _blocks(f"{head}2019|1|1|3.5|7\n{head}{HOURS}")
    assert sum(len(block.body) for block in blocks) == 9


@pytest.mark.parametrize("gap", ["", "\n"])
def test_cells_that_are_labels_with_values_are_titles(gap: str) -> None:
    text = f"Bank: 1010|Branch: 7|From: 01/01/2024\nAccount: 99|Name: Reuter|\n{gap}\n"
    (block,) = _blocks(text + PEAKS)
    assert (block.names, len(block.body)) == (("RT", "Area", "Height"), 4)
    assert _place(block, "preamble") == "rows 1-2"


def test_labels_that_come_again_are_rows() -> None:
    rows = "".join(f"cpu: {n}|mem: {n + 2}|disk: {n * 3}\n" for n in range(4))
    upper, lower = _blocks(f"{rows}\n{PEAKS}")
    assert len(upper.body) >= 3
    assert lower.names == ("RT", "Area", "Height")


def test_names_below_a_list_and_a_gap_above_their_rows_are_no_part_of_the_list() -> None:
    text = f"{RUN}Unit|mm\n====\nTable\n |Area|People|Births\n\n"
    rows = "".join(f"Town {n}|{n * 7}.5|{n * 90}|{n + 4}\n" for n in range(1, 8))
    (block,) = _blocks(text + rows)
    assert (block.names[1:], len(block.body)) == (("Area", "People", "Births"), 7)


def test_many_lines_of_labels_above_a_table_are_its_titles(tmp_path: Path) -> None:
    lines = "".join(f"Setting {n}: {n * 3}\n" for n in range(14))
    rows = "".join(f"{n},{n * 2},{n}.5\n" for n in range(1, 6))
    path = tmp_path / "a.csv"
    path.write_text(f"{lines}\nStep,Count,Level\n{rows}")
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert (info.rows, [name for name, _ in info.columns]) == (5, ["Step", "Count", "Level"])

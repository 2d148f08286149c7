"""What is a header, a title or a heading: rows are left out on evidence, and what was left out or is doubtful is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from leaf.formats.base import TableInfo
from leaf.formats.blocks import find_tables
from leaf.formats.delimited import DelimitedReader
from leaf.formats.grid import Block
from leaf.formats.sheets import SheetsReader

CORPORA = Path(__file__).parents[2] / "shared" / "data" / "foreign"


def grid_of(text: str) -> list[list[Any]]:
    rows = [[_value(cell.strip()) for cell in line.split("|")] for line in text.strip("\n").split("\n")]
    width = max(map(len, rows))
    return [row + [""] * (width - len(row)) for row in rows]


def _value(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell


def blocks_of(text: str) -> tuple[Block, ...]:
    return find_tables(grid_of(text)).blocks


def kept(blocks: Sequence[Block]) -> list[int]:
    """Rows of all bodies, numbered from 1."""
    return sorted(i + 1 for block in blocks for i in block.body)


def notes_of(block: Block) -> dict[str, str]:
    return {note.kind: note.place for note in block.notes}


CODES = """
Code | Topic | Skill
IT01.01 | Speech | Listen to others.
 | | Ask when in doubt.

IT01.02 | Writing | Write letters.
 | | Answer at once.
 | | Keep copies.

IT01.03 | Writing | Keep a diary.
 | | Read it again.
 | | Burn it.
"""


def test_first_row_of_a_later_block_of_text_is_data_where_its_values_are_of_the_make_of_those_above() -> None:
    (block,) = blocks_of(CODES)
    assert block.names == ("Code", "Topic", "Skill")
    assert kept([block]) == [2, 3, 5, 6, 7, 9, 10, 11]


def test_later_block_of_text_with_nothing_in_common_keeps_its_first_row_and_takes_the_names_above() -> None:
    first, second = blocks_of("""
Name | Town
Ada | London
Grace | Arlington
Emmy | Erlangen

Hypatia | Alexandria
Sofia | Stockholm
Maryam | Tehran
Rosa | Zürich
""")
    assert second.names == first.names == ("Name", "Town")
    assert kept([first, second]) == [2, 3, 4, 6, 7, 8, 9]
    assert notes_of(second)["no-header"] == "row 6"


def test_header_that_each_printed_page_repeats_is_a_header_and_named() -> None:
    page = "Code | Topic | Skill\nA | Speech | Listen\nB | Writing | Letters\n"
    (block,) = blocks_of(page + page.replace("A |", "C |").replace("B |", "D |"))
    assert block.names == ("Code", "Topic", "Skill")
    assert kept([block]) == [2, 3, 5, 6]
    assert notes_of(block)["header-repeated"] == "row 4"


def test_sparse_sheet_of_texts_below_a_full_row_of_names_is_a_table() -> None:
    text = "Focus | Aim | Way | Who\nSchool | Growth | Visits\n" + "\n".join(f" | | Step {name}" for name in "ABCDEFGHIJ")
    (block,) = blocks_of(text)
    assert block.names == ("Focus", "Aim", "Way", "Who")
    assert kept([block]) == list(range(2, 13))


SECTIONS = """
Item | Unit | 2001 | 2002
Wheat | t | 10.5 | 11.5
Rye | t | 3.5 | 4.5

Animals:
Cows | head | 120.5 | 130.5
Sheep | head | 80.5 | 90.5

Average of sales | percent

Milk | l | 7.5 | 8.5
"""


def test_parts_below_headings_are_one_table_and_the_headings_are_kept_and_named() -> None:
    (block,) = blocks_of(SECTIONS)
    assert kept([block]) == [2, 3, 5, 6, 7, 9, 11]
    assert [i + 1 for i in block.doubtful] == [5, 9]
    assert notes_of(block)["titles-doubtful"] == "rows 5, 9"


@pytest.mark.parametrize(
    "below",
    [
        "Second table\nPlace | Kind | Miles | Feet\nOslo | a | 1.5 | 2.5\nRome | b | 3.5 | 4.5",
        "Second table\nItem | Unit | 2003 | 2004\nOslo | a | 1.5 | 2.5\nRome | b | 3.5 | 4.5",
    ],
    ids=["other names", "other years"],
)
def test_table_with_a_header_of_its_own_below_a_heading_stays_a_table(below: str) -> None:
    first, second = blocks_of(f"Item | Unit | 2001 | 2002\nWheat | t | 10.5 | 11.5\nRye | t | 3.5 | 4.5\n\n{below}")
    assert (first.doubtful, second.header_rows) == ((), 1)
    assert len(second.body) == 2


def test_remark_between_two_bands_does_not_join_them() -> None:
    above = "Item | 2001 | 2002\nWheat | 10.5 | 11.5\nRye | 3.5 | 4.5"
    below = "Oats | 1.5 | 2.5\nRice | 2.5 | 3.5"
    assert len(blocks_of(f"{above}\n\nSource: the office\nSecond part\n\n{below}")) == 2


def test_header_whose_rows_stand_apart_belongs_to_the_rows_below() -> None:
    (block,) = blocks_of("""
Worker | Own firm | | Wages |

 | Men | Women | Men | Women

All | 10.5 | 6.5 | 12.5 | 9.5

Young | 1.5 | 2.5 | 3.5 | 4.5
Old | 9.5 | 4.5 | 9.5 | 5.5
""")
    assert block.names == ("Worker", "Own firm / Men", "Own firm / Women", "Wages / Men", "Wages / Women")
    assert kept([block]) == [5, 7, 8]


def test_years_that_repeat_below_groups_that_stand_apart_are_names() -> None:
    (block,) = blocks_of("""
State | Total | | White |

 | 2010 | 2015 | 2010 | 2015

Ohio | 310.5 | 325.5 | 246.5 | 256.5
Iowa | 21.5 | 22.5 | 19.5 | 20.5
""")
    assert block.names[1:] == ("Total / 2010", "Total / 2015", "White / 2010", "White / 2015")
    assert kept([block]) == [5, 6]


def test_many_rows_above_a_header_are_suspect_and_named() -> None:
    titles = "\n".join(f"Remark {name} of the office" for name in "ABCDEFGHIJKL")
    (block,) = blocks_of(f"{titles}\nCity | Sales | Costs\nOslo | 1.5 | 2.5\nRome | 3.5 | 4.5\nGraz | 5.5 | 6.5")
    assert notes_of(block)["titles-doubtful"] == notes_of(block)["preamble"] == "rows 1-12"


def test_few_titles_are_no_doubt() -> None:
    (block,) = blocks_of("Sales of 2024\nCity | Sales | Costs\nOslo | 1.5 | 2.5\nRome | 3.5 | 4.5\nGraz | 5.5 | 6.5")
    assert notes_of(block) == {"preamble": "row 1"}


def test_later_header_that_says_in_part_what_the_first_says_is_named() -> None:
    _, second = blocks_of("""
People | Madison | Carolina
Population | 20.5 | 9.5
Children | 4.5 | 6.5

Land | Madison | Carolina
Area | 449.5 | 486.5
Density | 46.5 | 196.5
""")
    assert notes_of(second)["header-assumed"] == "row 5"


def test_headings_of_a_csv_are_doubtful_rows_of_its_table(tmp_path: Path) -> None:
    path = tmp_path / "sections.csv"
    path.write_text("\n".join(",".join(cell.strip() for cell in line.split("|")) for line in SECTIONS.strip("\n").split("\n")))
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert (info.doubtful, info.doubtful_counts) == ((("title", (5, 9)),), (("title", 2),))


def test_headings_of_a_sheet_are_doubtful_rows_of_its_table(tmp_path: Path) -> None:
    info = sheet_of(tmp_path, grid_of(SECTIONS))
    assert (info.doubtful, info.doubtful_counts) == ((("title", (5, 9)),), (("title", 2),))
    (names,) = duckdb.connect().execute(f"SELECT count(Item) FROM '{tmp_path / info.parquet}'").fetchone() or (0,)
    assert names == 7


def sheet_of(folder: Path, grid: list[list[Any]]) -> TableInfo:
    from openpyxl import Workbook

    book = Workbook()
    for row in grid:
        book.active.append([None if cell == "" else cell for cell in row])
    book.save(folder / "book.xlsx")
    (info,) = SheetsReader().tables(folder / "book.xlsx", folder)
    return info


def test_cells_of_a_sheet_without_a_table_are_named_with_their_sheet(tmp_path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "Cover"
    book.active["B2"] = "Made by the office"
    book.create_sheet("Data")
    for row in (["City", "Sales"], ["Oslo", 1.5], ["Rome", 2.5], ["Graz", 3.5]):
        book["Data"].append(row)
    book.save(tmp_path / "book.xlsx")
    (note,) = (n for n in SheetsReader().outline(tmp_path / "book.xlsx").notes if n.kind == "loose-cells")
    assert "sheet 'Cover'" in note.text


def test_rows_above_the_one_table_of_a_large_messy_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    rows = "".join(f"{n},{'long' * 150} {n},{n}.5{',' if n % 7 else ''}\n" for n in range(55_000))
    path.write_text("Office,Head\nOslo,Ada\nRome,Grace\n\nNumber,Text,Value\n" + rows)
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert info.rows == 55_000
    assert {n.kind: n.place for n in info.notes}["loose-cells"] == "rows 1-3"


@pytest.mark.skipif(not (CORPORA / "strudel").is_dir(), reason="the corpora are not here")
@pytest.mark.parametrize("name", ["saus__10s1160.xls__Data", "saus__10s0591.xls__Data", "saus__10s1350.xls__Data"])
def test_tables_of_the_statistical_abstract_are_whole(name: str, tmp_path: Path) -> None:
    (path,) = (CORPORA / "strudel" / "csv").glob(f"{name}.csv*")
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert "loose-cells" not in {n.kind for n in info.notes}

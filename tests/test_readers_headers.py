"""What is a header, a title or a heading: rows are left out on evidence, and what was left out or
is doubtful is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from openpyxl import Workbook

from leaf.language import problems
from leaf.language.text import speaking
from leaf.readers.base import TableInfo
from leaf.readers.tabular.blocks import find_tables
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.grid import TableBlock
from leaf.readers.tabular.sheets import SheetsReader


def grid_of(text: str) -> list[list[Any]]:
    rows = [
        [_value(cell.strip()) for cell in line.split("|")] for line in text.strip("\n").split("\n")
    ]
    width = max(map(len, rows))
    return [row + [""] * (width - len(row)) for row in rows]


def _value(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell


def blocks_of(text: str) -> tuple[TableBlock, ...]:
    return find_tables(grid_of(text)).blocks


def kept(blocks: Sequence[TableBlock]) -> list[int]:
    """Rows of all bodies, numbered from 1."""
    return sorted(i + 1 for block in blocks for i in block.body)


def notes_of(block: TableBlock) -> dict[str, str]:
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


def test_first_row_of_a_later_block_of_text_is_data_where_its_values_are_of_the_make_of_those_above() -> (
    None
):
    (block,) = blocks_of(CODES)
    assert block.names == ("Code", "Topic", "Skill")
    assert kept([block]) == [2, 3, 5, 6, 7, 9, 10, 11]


def test_later_block_of_text_with_nothing_in_common_keeps_its_first_row_and_takes_the_names_above() -> (
    None
):
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
    text = "Focus | Aim | Way | Who\nSchool | Growth | Visits\n" + "\n".join(
        f" | | Step {name}" for name in "ABCDEFGHIJ"
    )
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
    assert [i + 1 for i in block.headings] == [5]
    assert [i + 1 for i in block.doubtful] == [9]
    assert notes_of(block)["titles-doubtful"] == "row 9"


@pytest.mark.parametrize(
    "below",
    [
        "Second table\nPlace | Kind | Miles | Feet\nOslo | a | 1.5 | 2.5\nRome | b | 3.5 | 4.5",
        "Second table\nItem | Unit | 2003 | 2004\nOslo | a | 1.5 | 2.5\nRome | b | 3.5 | 4.5",
    ],
    ids=["other names", "other years"],
)
def test_table_with_a_header_of_its_own_below_a_heading_stays_a_table(below: str) -> None:
    first, second = blocks_of(
        f"Item | Unit | 2001 | 2002\nWheat | t | 10.5 | 11.5\nRye | t | 3.5 | 4.5\n\n{below}"
    )
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
    assert block.names == (
        "Worker",
        "Own firm / Men",
        "Own firm / Women",
        "Wages / Men",
        "Wages / Women",
    )
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


def test_header_of_many_rows_with_gaps_units_and_years_is_one_header() -> None:
    (block,) = blocks_of("""
Table 1. Jobs | | | |

See notes | | | |

Branch | Code | Jobs | | Wages |

 | | 2007 \\1 | 2008 | 2007 \\1 | 2008

Unit | | (1,000) | (1,000) | (mil. dol.) | (mil. dol.)
Mining | 21 | 810.5 | 815.5 | 64.5 | 66.5

Retail | 44 | 412.5 | 402.5 | 36.5 | (NA)
Hotels | 72 | 312.5 | 302.5 | 16.5 | 18.5
""")
    assert block.names[2:4] == ("Jobs / 2007 \\1 / (1,000)", "Jobs / 2008 / (1,000)")
    assert kept([block]) == [10, 12, 13]


def test_years_with_words_after_them_are_names_and_numbers_below_them_are_not() -> None:
    (block,) = blocks_of(
        "Item | 1982-Census | 1983 | 2006-07 | 2008*\nFarms | 2407 | 2379 | 2293 | 2\nLand | 1 "
        "| 2 | 3 | 4"
    )
    assert block.names == ("Item", "1982-Census", "1983", "2006-07", "2008*")
    assert kept([block]) == [2, 3]


def test_first_row_of_a_name_and_counts_that_look_like_years_is_data() -> None:
    (block,) = blocks_of(
        "Town | Flats | Houses\nGraz | 1950 | 2001\nLinz | 310 | 15\nWels | 96 | 12\nEnns | 85 | 11"
    )
    assert kept([block]) == [2, 3, 4, 5]


def test_lines_of_dashes_are_no_rows() -> None:
    (block,) = blocks_of(
        "Item | 2001 | 2002\n---- | ---- | ----\nWheat | 10.5 | 11.5\n==== | ==== | ====\nRye "
        "| 3.5 | 4.5"
    )
    assert block.names == ("Item", "2001", "2002")
    assert kept([block]) == [3, 5]


def test_empty_column_between_filled_rows_parts_no_table() -> None:
    (block,) = blocks_of(
        "Item | Sales | | Remark | Clerk\nWheat | 10.5 | | good | Ada\nRye | 3.5 | | bad | Bo"
    )
    assert block.names == ("Item", "Sales", "Remark", "Clerk")


def test_tables_side_by_side_of_different_heights_are_two() -> None:
    first, second = blocks_of(
        "Item | Sales | | Clerk | Age\nWheat | 10.5 | | Ada | 36\nRye | 3.5 | | Bo | 51\nOats | 2 "
        "| |\nHay | 5 | |"
    )
    assert (first.names, second.names) == (("Item", "Sales"), ("Clerk", "Age"))


def test_headings_are_proven_by_gaps_colons_and_capitals_alone() -> None:
    rows = (
        "Name | Age | Town\nAnn | 31 | Graz\nBob | |\nCid | 45 | Linz\nDora | 22 | Wels\nEva "
        "| 61 | Enns"
    )
    (block,) = blocks_of(rows)
    assert (block.headings, kept([block])) == ((), [2, 3, 4, 5, 6])
    (block,) = blocks_of(rows.replace("Bob", "GUESTS:"))
    assert [i + 1 for i in block.headings] == [3]


def test_heading_row_is_left_out_of_queries_and_said(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_text(
        "Group,2001,2002\n\nMEN\nYoung,10,11\nOld,12,14\n\nWOMEN\nYoung,9,8\nOld,13,15\n"
    )
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert (info.rows, info.left_out) == (4, (("heading", (3, 7)),))
    assert (
        next(n.text for n in info.notes if n.kind == "heading-rows")
        == "2 heading rows are left out of queries."
    )


@pytest.mark.parametrize(
    "first",
    ["North | " + word for word in ("#####", "TBD", "pending", "confidential", "<5", "*")],
)
def test_first_row_with_something_in_the_place_of_a_number_is_data(first: str) -> None:
    (block,) = blocks_of(f"region | revenue\n{first}\nSouth | 20\nEast | 30\nWest | 40")
    assert (block.names, kept([block])) == (("region", "revenue"), [2, 3, 4, 5])


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("Month | Plan | Actual\nJan | Open | Open\nFeb | 9 | 8\nMar | 7 | 8", "Month", [2, 3, 4]),
        (
            "month | plan\njan | open\nfeb | open\nmar | 7\napr | 8\nmay | 9",
            "month",
            [2, 3, 4, 5, 6],
        ),
        ("Shop | Plan | Actual\nName | EUR | EUR\nA | 9 | 8\nB | 7 | 8", "Shop / Name", [3, 4]),
        ("id | amount\nint | EUR\n1 | 100\n2 | 200", "id / int", [3, 4]),
        ("Shop | Heat | Flow\n | mean | mean\nA | 9 | 8\nB | 7 | 8", "Shop", [3, 4]),
        ("Owner | Anna\nMonth | Sales\nJan | TBD\nFeb | 20\nMar | 30", "Month", [3, 4, 5]),
        ("land | umsatz\nCountry | Sales\nOman | 10\nPeru | 20\nChad | 30", "Country", [3, 4, 5]),
    ],
    ids=["word twice", "word below", "units", "types", "second level", "title", "two languages"],
)
def test_second_row_of_words_is_data_or_header_by_what_it_says(
    text: str, names: str, rows: list[int]
) -> None:
    (block,) = blocks_of(text)
    assert (block.names[0], kept([block])) == (names, rows)


def test_many_rows_above_a_header_are_suspect_and_named() -> None:
    titles = "\n".join(f"Remark {name} of the office" for name in "ABCDEFGHIJKL")
    (block,) = blocks_of(
        f"{titles}\nCity | Sales | Costs\nOslo | 1.5 | 2.5\nRome | 3.5 | 4.5\nGraz | 5.5 | 6.5"
    )
    assert notes_of(block)["titles-doubtful"] == notes_of(block)["preamble"] == "rows 1-12"


def test_few_titles_are_no_doubt() -> None:
    (block,) = blocks_of(
        "Sales of 2024\nCity | Sales | Costs\nOslo | 1.5 | 2.5\nRome | 3.5 | 4.5\nGraz | 5.5 | 6.5"
    )
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


def test_headings_of_a_csv_are_left_out_or_doubtful(tmp_path: Path) -> None:
    path = tmp_path / "sections.csv"
    path.write_text(
        "\n".join(
            ",".join(cell.strip() for cell in line.split("|"))
            for line in SECTIONS.strip("\n").split("\n")
        )
    )
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert (info.left_out, info.doubtful) == ((("heading", (5,)),), (("title", (9,)),))


def test_headings_of_a_sheet_are_left_out_or_doubtful(tmp_path: Path) -> None:
    info = sheet_of(tmp_path, grid_of(SECTIONS))
    assert (info.left_out, info.doubtful) == ((("heading", (5,)),), (("title", (9,)),))
    (names,) = duckdb.connect().execute(
        f"SELECT count(Item) FROM '{tmp_path / info.parquet}'"
    ).fetchone() or (0,)
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
    (note,) = (
        n for n in SheetsReader().outline(tmp_path / "book.xlsx").notes if n.kind == "loose-cells"
    )
    assert "sheet 'Cover'" in note.text
    with speaking("de"):
        assert problems.said(note.text) == (
            "1 Zelle gehört zu keiner Tabelle und wurde in keine geladen; sie lässt sich als Text "
            "lesen. Das steht auf dem Blatt 'Cover'."
        )


def test_rows_above_the_one_table_of_a_large_messy_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    rows = "".join(f"{n},{'long' * 150} {n},{n}.5{',' if n % 7 else ''}\n" for n in range(55_000))
    path.write_text("Office,Head\nOslo,Ada\nRome,Grace\n\nNumber,Text,Value\n" + rows)
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert info.rows == 55_000
    assert {n.kind: n.place for n in info.notes}["loose-cells"] == "rows 1-3"


@pytest.mark.parametrize(
    "name", ["saus__10s1160.xls__Data", "saus__10s0591.xls__Data", "saus__10s1350.xls__Data"]
)
def test_tables_of_the_statistical_abstract_are_whole(
    name: str, foreign: Path, tmp_path: Path
) -> None:
    (path,) = (foreign / "strudel" / "csv").glob(f"{name}.csv*")
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert "loose-cells" not in {n.kind for n in info.notes}


@pytest.mark.parametrize(
    ("header", "merges", "names"),
    [
        (
            [["name", "a", "b", "Costs", None], [None, None, None, "q1", "q2"]],
            ["D1:E1", "A1:A2", "B1:B2", "C1:C2"],
            ["name", "a", "b", "Costs / q1", "Costs / q2"],
        ),
        (
            [["name", "a", "b", "Costs", None]],
            ["D1:E1"],
            ["name", "a", "b", "Costs", "Costs_2"],
        ),
    ],
    ids=["above others", "alone"],
)
def test_a_merged_head_over_the_last_columns_names_all_of_them(
    tmp_path: Path, header: list[list[str | None]], merges: list[str], names: list[str]
) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in [*header, *([f"N{n}", n, n + 1, n * 2, n * 3] for n in range(1, 6))]:
        sheet.append(row)
    for cells in merges:
        sheet.merge_cells(cells)
    path = tmp_path / "a.xlsx"
    book.save(path)
    (info,) = SheetsReader().tables(path, tmp_path / "out")
    assert [name for name, _ in info.columns] == names


def test_a_group_ends_where_a_group_above_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        ",Men,,Women,\n,Aged 20 to 30,,,\nYear,first,second,third,fourth\n"
        + "".join(f"{2000 + n},{n}.5,{n * 3}.25,{n * 7}.5,{n * 2}.75\n" for n in range(1, 8))
    )
    (info,) = DelimitedReader().tables(path, tmp_path / "out")
    assert [name for name, _ in info.columns] == [
        "Year",
        "Men / Aged 20 to 30 / first",
        "Men / Aged 20 to 30 / second",
        "Women / third",
        "Women / fourth",
    ]


def test_groups_go_on_below_words_that_stand_above_as_in_pivots(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        ",Year,Values,,\n,2005,,2006,\nCategory,Cost,Revenue,Cost,Revenue\n"
        + "".join(f"Kind {n},{n}889,{n * 3}140.5,{n * 7}25,{n * 2}32.75\n" for n in range(1, 8))
    )
    (info,) = DelimitedReader().tables(path, tmp_path / "out")
    assert [name for name, _ in info.columns] == [
        "Category",
        "Year / 2005 / Cost",
        "Values / 2005 / Revenue",
        "Values / 2006 / Cost",
        "Values / 2006 / Revenue",
    ]


@pytest.mark.parametrize(
    ("text", "first", "names"),
    [
        ("Country,2023\nChad,18.3\nMali,23.3\nPeru,34.4\n", 2, ("Country", "2023")),
        ("Name,Code,2020\nChad,TCD,18301\nMali,MLI,23301\nPeru,PER,34400\n", 2, ("Code", "2020")),
        ("Screw,2000\nBolt,15\nNut,12\nNail,9\n", 1, ("column_1", "column_2")),
        ("Elm,1950\nOak,1800\nFir,1650\nYew,1100\n", 1, ("column_1", "column_2")),
        ("Elm,2023\nOak,2021\nFir,12\nYew,8\n", 1, ("column_1", "column_2")),
    ],
)
def test_one_year_among_words_is_a_name_where_no_number_below_is_like_it(
    tmp_path: Path, text: str, first: int, names: tuple[str, ...]
) -> None:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    (info,) = DelimitedReader().tables(tmp_path / "a.csv", tmp_path / "out")
    assert tuple(name for name, _ in info.columns)[-2:] == names
    assert info.first_row == first
    assert ("header-assumed" in {note.kind for note in info.notes}) == (first == 2)


SURVEY = (
    "StartDate,Finished,Duration (in seconds),Q1,Q2_1,Q2_2\n"
    "Start Date,Finished,Duration (in seconds),How was it?,Your age?,Your town?\n"
)
IMPORTS = ",".join(f'"{{""ImportId"":""{name}""}}"' for name in "abcdef") + "\n"
ANSWERS = "".join(
    f"2024-01-0{n} 10:00:00,1,{9 * n},{n % 3},{30 + n},Town {n}\n" for n in range(1, 6)
)


@pytest.mark.parametrize("between", ["", IMPORTS])
def test_codes_above_the_words_for_them_are_names_as_well(tmp_path: Path, between: str) -> None:
    (tmp_path / "a.csv").write_text(SURVEY + between + ANSWERS, encoding="utf-8")
    (info,) = DelimitedReader().tables(tmp_path / "a.csv", tmp_path / "out")
    names = [name for name, _ in info.columns]
    assert names[2:5] == ["Duration (in seconds)", "Q1 / How was it?", "Q2_1 / Your age?"]
    assert info.rows == 5
    assert {note.kind for note in info.notes} == {"header-two-rows"}


def test_a_row_of_words_above_words_stays_a_title(tmp_path: Path) -> None:
    text = "Kanton,Einwohner,Fläche\nCanton,Population,Area\nZH,100,20\nBE,200,30\nGE,300,40\n"
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    (info,) = DelimitedReader().tables(tmp_path / "a.csv", tmp_path / "out")
    assert [name for name, _ in info.columns] == ["Canton", "Population", "Area"]
    assert "titles-doubtful" in {note.kind for note in info.notes}


def test_names_alone_among_full_rows_are_named_as_doubtful() -> None:
    rows = "A | 1 | 10\nB | 2 | 25\n"
    (block,) = blocks_of(f"Product | Units | Revenue\nNorth | | \n{rows}South | | \n{rows}")
    assert [i + 1 for i in block.doubtful] == [2, 5]
    assert notes_of(block)["titles-doubtful"] == "rows 2, 5"


def test_names_alone_among_rows_with_gaps_are_rows() -> None:
    rows = "A | 1 | \nB | | 25\nC | 3 | 7\nD | | 9\n"
    (block,) = blocks_of(f"Product | Units | Revenue\n{rows}E | | \n{rows}")
    assert block.doubtful == ()


def test_titles_above_each_repeat_of_the_header_are_headings() -> None:
    text = "Team A\nPlayer | Goals\nx | 1\ny | 2\nTeam B\nPlayer | Goals\nz | 3\nw | 4\n"
    (block,) = blocks_of(text)
    assert [i + 1 for i in block.headings] == [5]
    (block,) = blocks_of(text.removeprefix("Team A\n"))
    assert block.headings == ()


def test_years_above_flagged_numbers_are_names(tmp_path: Path) -> None:
    rows = "".join(f"A,PC,{code}\t{n}.1 \t{n}.2 p\t: \n" for n, code in enumerate("ABCDEF", 3))
    head = "freq,unit,geo\t2019 \t2020 \t2021 \n"
    (tmp_path / "a.tsv").write_text(head + rows)
    (info,) = DelimitedReader().tables(tmp_path / "a.tsv", tmp_path / "out")
    names = [name for name, _ in info.columns]
    assert names == ["freq,unit,geo", "2019", "2020", "2021"]


@pytest.mark.parametrize(
    ("first", "names"),
    [
        ("State", ["State", "Area (ha) / 2020", "Area (ha) / 2021", "Crop (t) / 2020"]),
        ("North", ["State", "Area (ha)", "Area (ha)_2", "Crop (t)"]),
    ],
    ids=["the name again", "a name of its own"],
)
def test_years_below_a_name_that_stands_in_each_row_are_names(
    tmp_path: Path, first: str, names: list[str]
) -> None:
    """As SIDRA of Brazil writes merged names."""
    head = "Table 1612\nState;Area (ha);Area (ha);Crop (t);Crop (t)\n{};2020;2021;2020;2021\n"
    rows = "".join(f"Region {n};{n}1075;{n}3789;{n}62951;{n}10758\n" for n in range(3, 9))
    path = tmp_path / "a.csv"
    path.write_text(head.format(first) + rows)
    (info,) = DelimitedReader().tables(path, tmp_path / "out")
    assert [name for name, _ in info.columns][:4] == names
    assert info.rows == 6 + (first != "State")


@pytest.mark.parametrize(
    ("label", "name", "rows"),
    [("GEO (Labels)", "GEO (Labels)", 6), ("Atlantis", "TIME", 7)],
    ids=["a dimension", "a member without values"],
)
def test_a_dimension_alone_below_periods_names_the_first_column(
    tmp_path: Path, label: str, name: str, rows: int
) -> None:
    """As Eurostat writes sheets."""
    text = f"TIME,2019,2020,2021\n{label},,,\n"
    text += "".join(f"Land {n},{n}.5,{n * 3}.25,{n * 7}.1\n" for n in range(3, 9))
    path = tmp_path / "a.csv"
    path.write_text(text)
    (info,) = DelimitedReader().tables(path, tmp_path / "out")
    assert ([n for n, _ in info.columns], info.rows) == ([name, "2019", "2020", "2021"], rows)


def test_a_record_of_the_file_above_the_names_is_no_part_of_them(tmp_path: Path) -> None:
    """As DATEV writes bookings."""
    record = '"EXTF";700;21;"Buchungsstapel";12;20240901120000000;"RE";"";1001;20001\n'
    names = ["Umsatz", "Soll/Haben", "Konto", "Gegenkonto", "Belegdatum", "Buchungstext"]
    head = ";".join(f'"{name}"' for name in names) + "\n"
    rows = "".join(f'1{n},50;"S";120{n};8400;010{n};"Rechnung {n}"\n' for n in range(1, 9))
    (tmp_path / "a.csv").write_text(record + head + rows)
    (info,) = DelimitedReader().tables(tmp_path / "a.csv", tmp_path / "out")
    assert [name for name, _ in info.columns] == names
    assert info.rows == 8


def test_lines_of_dashes_part_no_table(tmp_path: Path) -> None:
    """As SAP prints lists: a line below the names, and around each subtotal."""
    line = "-" * 31 + "\n"
    text = f"Line items\n\n{line}|Plant|Account|      Amount|\n{line}"
    for plant, amounts in ((1000, (250, 375, -125, 71, 933)), (2000, (610, 45, 30, 88, -402))):
        for n, amount in enumerate(amounts):
            sign = "-" if amount < 0 else " "
            text += f"|{plant} |{4000 + n}   |{abs(amount):>8},50{sign}|\n"
        total = sum(a + (0.5 if a > 0 else -0.5) for a in amounts)
        printed = f"{total:.2f}".replace(".", ",")
        text += f"{line}|*    |       |{printed:>11} |\n{line}"
    (tmp_path / "a.txt").write_text(text)
    (info,) = DelimitedReader().tables(tmp_path / "a.txt", tmp_path / "out")
    assert [name for name, _ in info.columns] == ["Plant", "Account", "Amount"]
    assert [kind for _, kind in info.columns] == ["BIGINT", "BIGINT", "DOUBLE"]
    named = (*info.left_out, *info.doubtful)
    assert {row for _, rows in named for row in rows} == {12, 20}
    assert info.rows + sum(count for _, count in info.left_out_counts) == 12


def test_levels_of_pandas_and_the_name_of_their_index(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        [[1, 2, 3], [4, 5, 6], [7, 8, 9]],
        index=pd.Index(["North", "South", "East"], name="region"),
        columns=pd.MultiIndex.from_tuples(
            [(2020, "A"), (2020, "B"), (2021, "A")], names=["year", "product"]
        ),
    )
    frame.to_csv(tmp_path / "a.csv")
    (info,) = DelimitedReader().tables(tmp_path / "a.csv", tmp_path / "out")
    assert [name for name, _ in info.columns] == ["region", "2020 / A", "2020 / B", "2021 / A"]
    assert info.rows == 3
    assert "titles-doubtful" not in {note.kind for note in info.notes}


PLATE = """
| Temperature: 24.6 °C
<> | 1 | 2 | 3 | 4 | 5 | 6
A | 1.25 | 0.75 | 0.5 | 3.5 | 3.75 | 2.25
B | 3.25 | 2.75 | 1.5 | 3.5 | 0.75 | 1.25
C | 1.5 | 1.25 | 0.25 | 3.5 | 0.5 | 1.75
"""


def test_plate_below_a_measured_line_has_its_numbers_for_names() -> None:
    (block,) = blocks_of(PLATE)
    assert block.names == ("<>", "1", "2", "3", "4", "5", "6")
    assert kept([block]) == [3, 4, 5]
    assert notes_of(block)["preamble"] == "row 1"


def test_record_that_counts_below_a_line_of_text_is_data() -> None:
    (block,) = blocks_of("| Scores |\nAnna | 1 | 2 | 3\nBob | 4 | 2 | 7\nEve | 5 | 2 | 6")
    assert 2 in kept([block])


def test_a_row_of_other_things_above_names_of_all_numbers_is_a_title() -> None:
    rows = "".join(f"{n}|{n * 2}.5|{n - 3}|{n % 4}|{n * 9}\n" for n in range(1, 9))
    text = f"0|Graz|-5|44.46|-73.2\nStep|Sun|Wind|Rain|Snow\n{rows}"
    (block,) = find_tables(grid_of(text)).blocks
    assert (block.names, len(block.body)) == (("Step", "Sun", "Wind", "Rain", "Snow"), 8)
    assert [note.place for note in block.notes if note.kind == "preamble"] == ["row 1"]


def test_a_line_drawn_from_a_later_column_is_no_row() -> None:
    plate = "".join(f"{row}|{n}.5|{n}|{n + 3}|4|{n * 2}\n" for n, row in enumerate("ABCDEFGH"))
    text = f"|1|2|3|4|5\n|{'_' * 40}\n\n{plate}|{'_' * 40}\n"
    (block,) = find_tables(grid_of(text)).blocks
    assert block.names[1:] == tuple("12345")
    assert len(block.body) == 8


def test_a_heading_that_is_padded_with_blanks_is_one(tmp_path: Path) -> None:
    pad = ',"   ","   ","   "'
    parts = "".join(
        f'"{name} ..."{pad}\n' + "".join(f"{name} {n},{n * 7},{n + 2},{n * n}\n" for n in (1, 2, 3))
        for name in ("Surgery", "Paediatrics", "Radiology")
    )
    path = tmp_path / "a.csv"
    path.write_text(f"Field,2005,2006,2007\n{parts}")
    (info,) = DelimitedReader().tables(path, tmp_path)
    named = {row for _, rows in (*info.left_out, *info.doubtful) for row in rows}
    assert named == {2, 6, 10}

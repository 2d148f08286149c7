"""Tables drawn with pipes and dashes in plain texts whose rows are not all alike: no row and no value of
them is lost or changed."""

from __future__ import annotations

import time
import unicodedata
from pathlib import Path
from typing import Any

import duckdb
import pytest

from leaf.readers.documents.text import TextReader
from leaf.readers.documents.texts.lines import is_drawn_rule, plain
from leaf.readers.documents.texts.tables import text_tables
from leaf.readers.encoding import Encoding


def _read(tmp_path: Path, text: str) -> list[tuple[Any, list[tuple[Any, ...]]]]:
    """Each table as it is described, with its rows."""
    path, out = tmp_path / "a.md", tmp_path / "out"
    path.write_text(text, encoding="utf-8")
    infos = TextReader().tables(path, out)
    return [(info, duckdb.execute(f"FROM '{out / info.parquet}'").fetchall()) for info in infos]


def _names(info: Any) -> list[str]:
    return [name for name, _ in info.columns]


def _notes(info: Any) -> set[str]:
    return {note.kind for note in info.notes}


UTF8 = Encoding("utf-8", 0, False, "\n")
HEAD = "| Item | Qty | Price |\n|------|-----|-------|\n"


@pytest.mark.parametrize("short", range(3))
def test_a_markdown_row_with_fewer_cells_is_a_row_wherever_it_stands(
    tmp_path: Path, short: int
) -> None:
    lines = ["| Nut | 5 | 1.20 |\n", "| Bolt | 7 | 2.40 |\n"]
    lines.insert(short, "| Washer | 9 |\n")
    [(info, rows)] = _read(tmp_path, HEAD + "".join(lines))
    assert len(rows) == 3
    assert rows[short][:3] == ("Washer", 9, None)
    assert "rows-ragged" in _notes(info)


@pytest.mark.parametrize("place", range(3))
def test_cells_beyond_the_last_name_of_a_markdown_table_stay(tmp_path: Path, place: int) -> None:
    lines = ["| A    | 5   |\n", "| C    | 9   |\n"]
    lines.insert(place, "| B    | 7   | 99 |\n")
    head = "| Item | Qty |\n|------|-----|\n"
    [(info, rows)] = _read(tmp_path, head + "".join(lines))
    assert rows[place] == ("B", 7, 99)
    assert sorted(row[:2] for row in rows) == [("A", 5), ("B", 7), ("C", 9)]
    assert "rows-long" in _notes(info)


def test_a_value_behind_the_border_of_a_box_stays(tmp_path: Path) -> None:
    rule = "+------+-----+\n"
    text = f"{rule}| Item | Qty |\n{rule}| A    |   5 |\n| B    |   7 | 99\n| C    |   9 |\n{rule}"
    [(_, rows)] = _read(tmp_path, text)
    assert rows == [("A", 5, None), ("B", 7, 99), ("C", 9, None)]


def test_a_last_row_of_a_box_whose_border_is_moved_stays(tmp_path: Path) -> None:
    rule = "+----+----+\n"
    text = f"{rule}| id | n  |\n{rule}|  1 |  2 |\n|  3 |  4 |\n| 12345 |  6 |\n{rule}"
    [(_, rows)] = _read(tmp_path, text)
    assert rows == [(1, 2), (3, 4), (12345, 6)]


def test_pipes_in_code_part_cells_unless_they_are_escaped(tmp_path: Path) -> None:
    head = "| Option | N | Meaning |\n|---|---|---|\n| `-a` | 1 | all |\n"
    [(_, rows)] = _read(tmp_path, head + "| `-b` | 2 | `x\\|y` |\n| `-c` | 3 | `x|y` |\n")
    assert rows[1][:3] == ("-b", 2, "x|y")
    assert rows[2][:2] == ("-c", 3)
    assert "".join(filter(None, rows[2][2:])).replace("`", "") == "xy"


def test_a_markdown_table_of_another_width_right_below_is_one_of_its_own(tmp_path: Path) -> None:
    first = "| Item | Qty |\n|---|---|\n| Nut | 5 |\n| Bolt | 7 |\n"
    second = "| City | Pop | Area |\n|---|---|---|\n| Wien | 9 | 4 |\n| Graz | 3 | 1 |\n"
    (one, rows), (two, others) = _read(tmp_path, first + second)
    assert (_names(one), rows) == (["Item", "Qty"], [("Nut", 5), ("Bolt", 7)])
    assert (_names(two), others) == (["City", "Pop", "Area"], [("Wien", 9, 4), ("Graz", 3, 1)])


def test_a_box_of_another_width_right_below_is_a_table_of_its_own(tmp_path: Path) -> None:
    rule, other = "+----+----+\n", "+----+-----+-----+\n"
    first = f"{rule}| id | n  |\n{rule}|  1 |  2 |\n|  3 |  4 |\n{rule}"
    second = f"{other}| id |   a |   b |\n{other}|  1 |   2 |   3 |\n|  2 |   2 |   4 |\n{other}"
    (_, rows), (_, others) = _read(tmp_path, first + second)
    assert rows == [(1, 2), (3, 4)]
    assert others == [(1, 2, 3), (2, 2, 4)]


def test_a_pipe_alone_is_an_empty_row(tmp_path: Path) -> None:
    [(_, rows)] = _read(tmp_path, HEAD + "| Nut | 5 | 1.20 |\n|\n| Bolt | 7 | 2.40 |\n|\n")
    assert [row[0] for row in rows if row[0]] == ["Nut", "Bolt"]


def test_a_first_cell_is_empty_where_no_pipe_stands_before_the_names(tmp_path: Path) -> None:
    text = "Item | Qty | Price\n--- | --- | ---\nNut | 5 | 1.20\n | 7 | 2.40\nBolt | 9 | 2.50\n"
    [(_, rows)] = _read(tmp_path, text)
    assert [row[:3] for row in rows] == [("Nut", 5, 1.2), (None, 7, 2.4), ("Bolt", 9, 2.5)]


def test_further_cells_keep_their_places_where_one_before_them_is_empty(tmp_path: Path) -> None:
    rule = "|------|-----|\n"
    text = f"| Item | Qty |\n{rule}| Nut  | 5   |\n| Bolt | 7   |     | 12 |\n| Ring | 9   |\n"
    [table] = text_tables(_written(tmp_path, text), UTF8)
    assert table.rows[2] == ["Bolt", "7", "", "12"]
    text = "Item | Qty\n-----|----\nNut  | 5\nBolt | 7   | 12\nRing | 9\n"
    [(_, rows)] = _read(tmp_path, text)
    assert rows == [("Nut", 5, None), ("Bolt", 7, 12), ("Ring", 9, None)]


@pytest.mark.parametrize(
    ("spans", "cells"),
    [
        ("| 4 and 5   | 6   |", ["4 and 5", "", "6"]),
        ("| 4   | 5 and 6   |", ["4", "5 and 6", ""]),
    ],
)
def test_a_cell_over_several_columns_of_a_box_moves_no_other(
    tmp_path: Path, spans: str, cells: list[str]
) -> None:
    rule = "+-----+-----+-----+\n"
    body = f"| 1   | 2   | 3   |\n{rule}{spans}\n{rule}| x   | y   | 9   |\n{rule}"
    text = f"{rule}| a   | b   | c   |\n{rule}{body}"
    [table] = text_tables(_written(tmp_path, text), UTF8)
    assert table.rows[2] == cells


def test_a_line_without_pipes_among_markdown_rows_is_a_row(tmp_path: Path) -> None:
    text = "| Item | Qty |\n|---|---|\n| Nut | 5 |\nBolt\n| Washer | 7 |\n\nText goes on.\n"
    [(_, rows)] = _read(tmp_path, text)
    assert [row[0] for row in rows] == ["Nut", "Bolt", "Washer"]
    assert [row[1] for row in rows] == [5, None, 7]


NAMES = (
    "हिन्दी",
    "นครสุขกำ",
    "Mu\u0308ller",
    "か\u3099き",
    "\u1112\u1161\u11ab",
    "☑\ufe0f \U0001f468\u200d\U0001f469",
    "1\ufe0f\u20e3",
    "\ue000 \U00100000 \U00100001\u0308",
    "a" + "\u0301" * 40,
)


@pytest.mark.parametrize("name", NAMES)
def test_signs_that_take_no_place_stay_with_their_letters(tmp_path: Path, name: str) -> None:
    boxed = f"| Name | Qty | {name} |\n|---|---|---|\n| {name} | 5 | 2 |\n| Ann | 7 | 3 |\n"
    columns = f"Name      Qty   {name}\n{name}\t    5     2\nAnn\t    7     3\nBert\t    8     4\n"
    for text in (boxed, columns):
        [(info, rows)] = _read(tmp_path, text)
        assert rows[0][:3] == (name, 5, 2)
        assert _names(info)[2] == unicodedata.normalize("NFC", name)


def test_accents_apart_from_their_letters_move_no_column(tmp_path: Path) -> None:
    names = ("Mu\u0308ller", "Zoe\u0308", "Jose\u0301 Lope\u0301z", "Ann")
    rows = []
    for n, name in enumerate(names, 1):
        accents = sum(sign in "\u0301\u0308" for sign in name)
        rows.append(f"{name:<{14 + accents}}{n:>3}{n * 1.5:>8.2f}\n")
    [(_, read)] = _read(tmp_path, "Name          Qty   Price\n" + "".join(rows))
    assert read == [(name, n, n * 1.5) for n, name in enumerate(names, 1)]


def test_long_lines_of_dashes_before_a_word_cost_no_time(tmp_path: Path) -> None:
    begin = time.perf_counter()
    assert not is_drawn_rule("=" * 3_900 + " FAILURES")
    assert _read(tmp_path, ("=" * 3_900 + " FAILURES\n" + "-" * 3_900 + " x " + "-" * 9) * 20) == []
    assert time.perf_counter() - begin < 5
    assert is_drawn_rule("+--- | ===+")
    assert not is_drawn_rule("+ - = |")
    assert not is_drawn_rule("   ")


def test_only_what_stands_around_a_whole_cell_of_markdown_is_taken_off(tmp_path: Path) -> None:
    cells = {
        "**Total sum**": "Total sum",
        "__Sum__": "Sum",
        "**`x`**": "x",
        "`a b`": "a b",
        "__init__": "__init__",
        "2**10**2": "2**10**2",
        "**** **** 1111": "**** **** 1111",
        "** a **": "** a **",
        "**a** and **b**": "**a** and **b**",
        "`a` `b`": "`a` `b`",
        "`**kwargs`": "**kwargs",
        "`": "`",
    }
    text = "| **Cell** | N |\n|---|---|\n" + "".join(f"| {cell} | 1 |\n" for cell in cells)
    [(info, rows)] = _read(tmp_path, text)
    assert _names(info)[0] == "Cell"
    assert [row[0] for row in rows] == [*cells.values()]


@pytest.mark.parametrize("rule", ["+--------------+---+", "|--------------+---|"])
def test_no_sign_is_taken_off_a_cell_of_a_box(tmp_path: Path, rule: str) -> None:
    cells = ("__init__", "**bold**", "`code`", "a\\b")
    body = "".join(f"| {cell:<12} | 1 |\n" for cell in cells)
    [(_, rows)] = _read(tmp_path, f"{rule}\n| name         | n |\n{rule}\n{body}{rule}\n")
    assert [row[0] for row in rows] == [*cells]


def test_no_sign_is_taken_off_a_cell_of_psql(tmp_path: Path) -> None:
    text = " name     | n\n----------+---\n __init__ | 1\n **a**    | 2\n a\\|b     | 3\n"
    [(_, rows)] = _read(tmp_path, text)
    assert [row[0] for row in rows] == ["__init__", "**a**", "a\\|b"]


def _parts(*between: str) -> str:
    """Parts of a list of pipes, with lines above each of them."""
    rule = "-" * 23 + "\n"
    return "".join(
        f"{line}\n\n{rule}|Item   |    Qty|Price|\n{rule}|A{n}     |      {n}| 1.50|\n"
        f"|B{n}     |      {n}| 2.50|\n{rule}\n"
        for n, line in enumerate(between, 1)
    )


def _written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("charges", [(12, 19, 7), (12, 12, 12), (12, 14, 16), (0, 0, 1)])
def test_a_charge_between_parts_of_a_table_is_no_number_of_a_page(
    tmp_path: Path, charges: tuple[int, ...]
) -> None:
    lines = [f"Carriage and packing of all goods        {n}" for n in charges]
    text = _parts("Price list", *lines)
    [table] = text_tables(_written(tmp_path, text), UTF8)
    assert [row[0] for row in table.rows if "Carriage" in row[0]] == [plain(x) for x in lines]
    assert "pages-joined" not in {note.kind for note in table.notes}


HEADS = (
    "List output                    {}",
    "LIST           PAGE    {}",
    "Liste der Artikel, Seite {} von 9",
    "Page: {}",
    "PAGE NO. {}",
    "{}. Seite",
    "第 {} 頁",
    "                    {}",
)


@pytest.mark.parametrize("pages", [(9, 10, 11), (1, 2, 2), (1, 2, 1)])
@pytest.mark.parametrize("head", HEADS)
def test_heads_that_count_the_pages_are_left_out(
    tmp_path: Path, head: str, pages: tuple[int, ...]
) -> None:
    text = _parts(*(head.format(n) for n in pages))
    [table] = text_tables(_written(tmp_path, text), UTF8)
    assert [row[0] for row in table.rows] == ["Item", "A1", "B1", "A2", "B2", "A3", "B3"]
    assert "pages-joined" in {note.kind for note in table.notes}


def test_another_number_beside_that_of_a_page_is_no_number_of_a_page(tmp_path: Path) -> None:
    text = _parts(*(f"Account {4700 + n}   Page {n}" for n in (1, 2, 3)))
    [table] = text_tables(_written(tmp_path, text), UTF8)
    assert [row[0] for row in table.rows if "Account" in row[0]] == [
        "Account 4702 Page 2",
        "Account 4703 Page 3",
    ]


def test_a_box_above_a_short_report_is_no_row_of_it(tmp_path: Path) -> None:
    rule, rows = "-" * 27 + "\n", "|  |1001|    1.250,00-|EUR |\n|  |1002|      310,50 |EUR |\n"
    report = f"{rule}|Company code 10           |\n{rule}|St|No  |       Amount|Curr|\n{rule}"
    [(info, table)] = _read(tmp_path, f"{report}{rows}{rule}|* |    |      939,50-|EUR |\n{rule}")
    assert _names(info)[:4] == ["St", "No", "Amount", "Curr"]
    assert [row[2] for row in table] == [-1250.0, 310.5, -939.5]

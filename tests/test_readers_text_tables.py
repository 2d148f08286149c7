"""Tables that are laid out for the eye in plain texts: in columns that blanks part, or drawn with pipes
and dashes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from leaf.readers.base import Where, holds_tables
from leaf.readers.documents.text import TextReader
from leaf.readers.worker import inspect, tables

ANOMALIES = """\
      Temperature index in 0.01 degrees   base period: 1951-1980

Year   Jan  Feb  Mar    J-D D-N
1941     41   48   99    -11****
1942    -28  -30   11     41 -15
1943     84   58  -10     69  90
{more}
Year   Jan  Feb  Mar    J-D D-N
1991      1    2    3      4   5
1992     16**********   ********
1993      7    8    9     10  11

Divide by 100 to get degrees.
"""


def _read(tmp_path: Path, text: str, name: str = "a.txt") -> list[tuple[dict[str, Any], Any]]:
    """Each table as it is described, with its rows."""
    path, out = tmp_path / name, tmp_path / "out"
    path.write_text(text, encoding="utf-8")
    seen = inspect(str(path), name)
    assert seen["kind"] == "text"
    if not seen["outline"]["tables"]:
        return []
    assert holds_tables("text", seen["outline"])
    infos = tables(str(path), "text", str(out))
    return [(info, duckdb.execute(f"FROM '{out / info['parquet']}'").fetchall()) for info in infos]


def _names(info: dict[str, Any]) -> list[str]:
    return [name for name, _ in info["columns"]]


def _types(info: dict[str, Any]) -> list[str]:
    return [kind for _, kind in info["columns"]]


def _notes(info: dict[str, Any]) -> set[str]:
    return {note["kind"] for note in info["notes"]}


def test_columns_that_blanks_part_are_a_table_and_the_file_stays_text(tmp_path: Path) -> None:
    text = (
        "Stock on hand\n\n"
        "item      qty     price  date\n"
        "eggs       12      3.50  2024-01-01\n"
        "ham pie   100  1,200.25  2024-01-02\n"
        "spam        1     10.00  2024-01-03\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert _names(info) == ["item", "qty", "price", "date"]
    assert _types(info) == ["VARCHAR", "BIGINT", "DOUBLE", "DATE"]
    assert info["place"] == "lines 3-6"
    assert info["first_row"] == 4
    assert rows[1][:3] == ("ham pie", 100, 1200.25)
    assert [n["text"] for n in info["notes"]] == ["Its caption: Stock on hand"]
    lines = [p.text for p in TextReader().passages(tmp_path / "a.txt", Where())]
    assert lines[3].startswith("eggs")


def test_asterisks_that_run_into_the_next_column_are_parted_where_other_rows_end(
    tmp_path: Path,
) -> None:
    more = "".join(
        f"{year}   {year % 90:4d} {year % 80:4d} {year % 70:4d}   {year % 60:4d} {year % 50:3d}\n"
        for year in range(1944, 1990)
    )
    [(info, rows)] = _read(tmp_path, ANOMALIES.replace("{more}\n", more + "\n"))
    assert _names(info) == ["Year", "Jan", "Feb", "Mar", "J-D", "D-N"]
    assert set(_types(info)) == {"BIGINT"}
    assert rows[0][:6] == (1941, 41, 48, 99, -11, None)
    assert rows[-2][:6] == (1992, 16, None, None, None, None)
    assert {"cells-parted", "header-repeated", "missing-words"} <= _notes(info)
    assert len(rows) == 3 + 46 + 3
    assert rows[-1][-2] == 57


def test_signs_behind_measured_values_are_columns_of_their_own(tmp_path: Path) -> None:
    marks = ["*", " ", "*", " "]
    body = "".join(
        f"0100{n}  {20 + n}.{n}{marks[n % 4]}  {n % 7}.4{'ADGI'[n % 4]}  {n:>5}k\n"
        for n in range(10, 22)
    )
    [(info, rows)] = _read(tmp_path, "STN      MAX    PRCP   LOAD\n" + body)
    assert _names(info) == ["STN", "MAX", "MAX mark", "PRCP", "PRCP mark", "LOAD"]
    assert rows[0][1:5] == (30.1, "*", 3.4, "G")
    assert rows[1][1:5] == (31.11, None, 4.4, "I")
    assert "marks-apart" in _notes(info)
    assert rows[0][-1] == "10k"  # a k changes the number, and stays with it


def test_a_digit_is_never_taken_for_a_mark_behind_a_value(tmp_path: Path) -> None:
    lines = [f"A{n:05d}  {n % 90:2}.4{'*' if n % 2 else ' '}   {n:>6}\n" for n in range(100, 1500)]
    lines[802] = f"A00902   1.47   {902:>6}\n"
    [(_, rows)] = _read(tmp_path, "ID      VALUE   COUNT\n" + "".join(lines))
    assert rows[802][1] == 1.47
    assert rows[803][1:3] == (3.4, "*")


def test_a_row_that_keeps_to_no_border_stands_whole_and_is_said(tmp_path: Path) -> None:
    rows = [f"{name:<10}{n:>5}{n * 1.5:>9.2f}\n" for n, name in enumerate(["Ann", "Bo", "Cy"] * 4)]
    rows[5] = "Somebody with a long name 77   115.50\n"
    [(info, read)] = _read(tmp_path, "Name      Count   Amount\n" + "".join(rows))
    assert len(read) == 12
    assert read[5][0] == "Somebody with a long name 77 115.50"
    assert _types(info)[1:] == ["BIGINT", "DOUBLE"]
    assert "table-doubtful" in _notes(info)


def test_names_of_two_words_stand_above_one_column(tmp_path: Path) -> None:
    text = (
        "Coefficients:\n"
        "            Estimate Std. Error t value Pr(>|t|)    \n"
        "(Intercept) 37.22727    1.59879  23.285  < 2e-16 ***\n"
        "wt          -3.87783    0.63273  -6.129 1.12e-06 ***\n"
        "hp          -0.03177    0.00903  -3.519  0.00145 ** \n"
        "---\n"
        "Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert _names(info)[1:5] == ["Estimate", "Std. Error", "t value", "Pr(>|t|)"]
    assert len(rows) == 3
    assert rows[1][:4] == ("wt", -3.87783, 0.63273, -6.129)


def test_rows_of_r_with_one_blank_between_them_are_a_table(tmp_path: Path) -> None:
    text = (
        "                   mpg cyl  disp  hp\n"
        "Mazda RX4         21.0   6 160.0 110\n"
        "Datsun 710        22.8   4 108.0  93\n"
        "Hornet Sportabout 18.7   8 360.0 175\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert _types(info) == ["VARCHAR", "DOUBLE", "BIGINT", "DOUBLE", "BIGINT"]
    assert rows[2] == ("Hornet Sportabout", 18.7, 8, 360.0, 175)


def test_frames_are_read_as_pandas_prints_them(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "region": ["North", "South East", "West", None],
            "sales": [1200.5, -3.25, None, 80.0],
            "day": pd.date_range("2024-01-01", periods=4),
        }
    )
    [(info, rows)] = _read(tmp_path, frame.to_string() + "\n")
    assert _names(info)[1:] == ["region", "sales", "day"]
    assert [row[2] for row in rows] == [1200.5, -3.25, None, 80.0]
    assert rows[1][1] == "South East"


def test_a_first_row_without_numbers_is_no_second_line_of_names(tmp_path: Path) -> None:
    text = "name    value  share\nfoo       NaN    NaN\n" + "".join(
        f"bar{n}     {n}.00   2.00\n" for n in range(1, 5)
    )
    [(info, rows)] = _read(tmp_path, text)
    assert _names(info) == ["name", "value", "share"]
    assert rows[0][:3] == ("foo", None, None)
    assert len(rows) == 5


def test_numbers_with_blanks_for_thousands_and_days_with_times_stay_whole(tmp_path: Path) -> None:
    rows = [
        ("Austria", "8 979 894", "83 882,6", "01.01.2022 10:00"),
        ("Malta", "520 971", "315,7", "01.01.2022 10:05"),
        ("Germany", "83 237 124", "357 592,1", "01.01.2022 12:30"),
        ("Monaco", "39 150", "2,1", "01.01.2022 10:00"),
    ]
    lines = [f"{a:<14}{b:>10}{c:>12}  {d}" for a, b, c, d in rows]
    text = "Country       Inhabitants     Area  As of\n" + "\n".join(lines) + "\n"
    [(info, read)] = _read(tmp_path, text)
    assert _types(info) == ["VARCHAR", "BIGINT", "DOUBLE", "TIMESTAMP"]
    assert [row[1] for row in read] == [8979894, 520971, 83237124, 39150]
    assert [row[2] for row in read] == [83882.6, 315.7, 357592.1, 2.1]


def test_other_names_in_the_same_columns_begin_another_table(tmp_path: Path) -> None:
    text = (
        "Table A\nName     Jan   Feb\nAnna      10    20\nBert      30    40\nCarl      50    60\n"
    )
    both = text + text.replace("Jan   Feb", "Mar   Apr").replace("A\n", "B\n", 1)
    (first, rows), (second, others) = _read(tmp_path, both)
    assert _names(first) == ["Name", "Jan", "Feb"]
    assert _names(second) == ["Name", "Mar", "Apr"]
    assert len(rows) == len(others) == 3


def test_a_header_that_comes_again_and_words_between_rows_are_no_numbers(tmp_path: Path) -> None:
    text = (
        "  ID  Item       Qty    Price\n   1  Apple       12     1.20\n   2  Pear         3     0.80\n"
        "Imported goods\n   3  Mango        5     2.50\n  ID  Item       Qty    Price\n"
        "   5  Plum         9     0.70\nTotal            29     5.20\n* without tax\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert _types(info)[2:] == ["BIGINT", "DOUBLE"]
    assert [row[2] for row in rows if row[-1] == "data"] == [12, 3, None, 5, 9]
    assert "header-repeated" in _notes(info)
    assert dict(info["left_out"])["total"] in ((8,), [8])


def test_pages_of_a_report_are_one_table(tmp_path: Path) -> None:
    lines = list[str]()
    for page in range(1, 4):
        lines += [f"ACME CORP        INVENTORY              PAGE {page:4}", "RUN 2024-03-01", ""]
        lines += ["PART NO   DESCRIPTION         ON HAND      VALUE"]
        lines += ["-------   -----------         -------      -----"]
        for n in range(page * 10, page * 10 + 6):
            name = ("BOLT M8", "HEX NUT 12 MM", "WASHER")[n % 3]
            lines.append(f"A{n:05d}    {name:<18}{n * 7:>9}{n * 1.25:>11.2f}")
        lines.append("\f")
    [(info, rows)] = _read(tmp_path, "\n".join(lines))
    assert _names(info) == ["PART NO", "DESCRIPTION", "ON HAND", "VALUE"]
    assert len(rows) == 18
    assert {row[1] for row in rows} == {"BOLT M8", "HEX NUT 12 MM", "WASHER"}
    assert {"header-repeated", "pages-joined"} <= _notes(info)
    assert lines[rows[6][-2] - 1].startswith(rows[6][0])  # its row is its line


LIST = """\
10.02.2025                 List output                                 1

Account      476100   Travel
Company      1000     Acme

------------------------------------------------
|St|Document |Date      |        Amount|Text   |
------------------------------------------------
|A |100217282|02.01.2025|     1.777,72 |Hotel  |
|B |100031819|05.01.2025|     3.060,36 |       |
|A |100031820|07.01.2025|       757,29-|Refund |
------------------------------------------------

10.02.2025                 List output                                 2

------------------------------------------------
|St|Document |Date      |        Amount|Text   |
------------------------------------------------
|A |100217290|09.01.2025|       500,00 |       |
|B |100217291|10.01.2025|       100,00 |       |
------------------------------------------------
|* |         |          |     4.680,79 |       |
------------------------------------------------

Account      476200   Meals
Company      1000     Acme

------------------------------------------------
|St|Document |Date      |        Amount|Text   |
------------------------------------------------
|A |100217300|11.01.2025|        20,00 |       |
|A |100217301|12.01.2025|        30,50 |       |
------------------------------------------------
|* |         |          |        50,50 |       |
------------------------------------------------


------------------------------------------------
|**|         |          |     4.731,29 |       |
------------------------------------------------
"""


def test_a_printed_list_of_pipes_is_one_table_with_its_headings_and_sums_apart(
    tmp_path: Path,
) -> None:
    [(info, rows)] = _read(tmp_path, LIST)
    assert info["rows"] == 7
    assert sum(row[3] for row in rows if row[-1] == "data") == pytest.approx(4731.29)
    left = dict(info["left_out"])
    assert set(left) == {"subtotal", "total", "heading"}
    lines = LIST.split("\n")
    assert [lines[at - 1].split()[1] for at in left["heading"]] == ["476200"]
    assert all(lines[at - 1].startswith("|*") for at in (*left["subtotal"], *left["total"]))


def test_results_of_databases_are_tables(tmp_path: Path) -> None:
    text = (
        "app=> select * from orders;\n"
        " id |   customer    | amount  \n"
        "----+---------------+---------\n"
        "  1 | Müller & Sohn | 1200.50\n"
        "  2 | 東京商事      |   80.00\n"
        "  3 |               |   12.25\n"
        "(3 rows)\n\n"
        "mysql> select * from t;\n"
        "+----+------+-------+\n"
        "| id | name | price |\n"
        "+----+------+-------+\n"
        "|  1 | a|b  | 12.50 |\n"
        "|  2 | pear |  3.20 |\n"
        "+----+------+-------+\n"
        "2 rows in set (0.00 sec)\n\n"
        "┌─────────┬────────┐\n"
        "│  name   │ amount │\n"
        "│ varchar │ int64  │\n"
        "├─────────┼────────┤\n"
        "│ a       │     12 │\n"
        "│ b       │     13 │\n"
        "└─────────┴────────┘\n"
    )
    first, second, third = _read(tmp_path, text)
    assert _types(first[0]) == ["BIGINT", "VARCHAR", "DOUBLE"]
    assert first[1][1][1] == "東京商事"
    assert first[0]["place"] == "lines 2-6"
    assert second[1][0] == (1, "a|b", 12.5)
    assert _names(third[0]) == ["name", "amount"]
    assert third[1] == [("a", 12), ("b", 13)]


def test_tables_of_markdown_stand_among_prose(tmp_path: Path) -> None:
    text = (
        "# Report\n\nWe sold more | less than `a | b`.\n\n## By region\n\n"
        "| Region | Q1 | Q2 |\n|:-------|---:|---:|\n| North | 10 | 12 |\n"
        "| **South** | 8 | `9` |\n| Total | 18 | 21 |\n\nText goes on.\n\n"
        "Name | Wert\n--- | ---\nAlpha | 1.234,50\nBeta | 2,75\n"
    )
    (first, rows), (second, others) = _read(tmp_path, text, "a.md")
    assert dict(first["left_out"]) == {"total": (11,)} or dict(first["left_out"]) == {"total": [11]}
    assert [row[:3] for row in rows][:2] == [("North", 10, 12), ("South", 8, 9)]
    assert "Its caption: By region" in [note["text"] for note in first["notes"]]
    assert others == [("Alpha", 1234.5), ("Beta", 2.75)]
    assert second["place"] == "lines 15-18"


def test_cells_that_go_over_several_lines_of_a_drawn_table_are_one(tmp_path: Path) -> None:
    text = (
        "+-------+---------+------------------+\n"
        "| Item  |   Price | Remark           |\n"
        "+=======+=========+==================+\n"
        "| Eggs  |   451.5 | long text that   |\n"
        "|       |         | goes on          |\n"
        "+-------+---------+------------------+\n"
        "| Spam  |   41999 | -                |\n"
        "+-------+---------+------------------+\n"
        "| Ham   |      12 | x                |\n"
        "+-------+---------+------------------+\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert next(row[:3] for row in rows) == ("Eggs", 451.5, "long text that goes on")
    assert info["rows"] == 3


NO_TABLES = {
    "prose": "We met 3 people in 2024 who\nhad seen 12 of the 40 items,\nand 7 of them in 2023 alone.\n"
    "The other 5 were lost in 1999.\n" * 20,
    "log": "".join(
        f"2024-01-0{n} 12:00:0{n} INFO  [main] app - handled {n} requests in {n}0 ms\n"
        for n in range(1, 9)
    ),
    "pipes": "".join(
        f"2024-01-01 12:00:0{n} | INFO     | main:run:5 - message {n}\n" for n in range(9)
    ),
    "contents": "Contents                        Section  Page\n"
    + "".join(f"Chapter {n} ...................  {n}.1 ....  {n}3\n" for n in range(1, 9)),
    "list": "1. Introduction        |intro|\n2. SQL Dialects        |dialects|\n"
    "2.1 Setting them       |set|\n2.2 Others of them     |others|\n2.3 Those of Vim       |vim|\n",
    "years": "(c) 2014, Red Hat, Inc\n(c) 2015 Andrew Lutomirski\n(c) 2015 Michael Kerrisk\n"
    "(c) 2016 Somebody Else\n",
    "picture": "+------+     +------+\n| Foo  |---->| Bar  |\n| one  |     | two  |\n+------+     +------+\n",
    "art": "   |\\_/|   12   \n   | @ @   Woof! 7\n   |   <>      3  _\n   |  _/\\------____ ((| |))\n",
    "mail": "From: a@example.com\n\nOn 3 May 2024, Ann wrote:\n> 1 2 3\n> 4 5 6\n\nSee you at 12:30.\n",
    "code": "const a = 1;         // 8\nconst bb = 2;        // 9\nlet c = 33;          // 10\n"
    "let dd = 44;         // 11\n",
    "settings": "# name    value   unit\nport      8080    # default\ntimeout   30      # seconds\n"
    "retries   5       # times\n",
    "tree": "|-- src\n|   |-- a.py\n|   |-- b.py\n|   `-- c.py\n`-- setup.py\n",
}


@pytest.mark.parametrize("what", NO_TABLES)
def test_what_is_no_table_stays_text_alone(tmp_path: Path, what: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(NO_TABLES[what])
    assert not TextReader().outline(path).tables
    assert TextReader().tables(path, tmp_path / "out") == []


def test_of_a_large_text_only_parts_are_looked_at_first(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    line = "2024-01-01 12:00:00 INFO  [main] app - handled a request\n"
    table = "item   qty   price\n" + "".join(f"a{n}      {n}    {n}.50\n" for n in range(1, 9))
    path.write_text(line * 20_000 + table + line * 60_000)
    outline = TextReader().outline(path)
    assert outline.tables == 0
    assert [note.kind for note in outline.notes] == ["tables-sampled"]
    path.write_text(table + "\n" + line * 20_000)
    outline = TextReader().outline(path)
    assert outline.tables == 1
    assert not outline.notes


def test_a_text_too_large_for_its_tables_to_be_queried_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leaf.readers.documents.texts import tables

    monkeypatch.setattr(tables, "MOST_BYTES", 100)
    path = tmp_path / "a.txt"
    path.write_text(
        "item   qty   price\n" + "".join(f"a{n}      {n}    {n}.50\n" for n in range(9))
    )
    outline = TextReader().outline(path)
    assert outline.tables == 0
    assert [note.kind for note in outline.notes] == ["tables-cut"]


def test_columns_in_a_program_are_no_table(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "# a\n\nTEXT = '''\nitem   qty   price\n"
        + "".join(f"a{n}      {n}    {n}.50\n" for n in range(9))
        + "'''\n"
    )
    seen = inspect(str(path), "a.py")
    assert seen["kind"] == "code"
    assert not holds_tables("code", seen["outline"])


def test_commas_within_numbers_of_columns_part_no_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    rows = [f"{name:<10}{n},5{n:>12},25\n" for n, name in enumerate(("Wien", "Graz", "Linz"), 10)]
    path.write_text("Ort       Wert       Anteil\n" + "".join(rows))
    assert inspect(str(path), "a.txt")["kind"] == "text"
    path.write_text("".join(f"{n},{n}{n},1\n" for n in range(9)))
    assert inspect(str(path), "a.txt")["kind"] == "csv"

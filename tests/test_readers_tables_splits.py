"""One column against every delimiter, and thousands against fractions: lines stay whole unless the
split is proven."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb
import pytest

from leaf.readers.base import TableInfo, Where
from leaf.readers.detect import detect
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.dialect import sniff

Rows = list[tuple[Any, ...]]


def one(tmp_path: Path, text: str) -> tuple[TableInfo, Rows, dict[str, str]]:
    """A file's only table, its rows without their numbers, and its notes (kind -> text)."""
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    (info,) = DelimitedReader().tables(path, tmp_path / "out")
    names = ", ".join(f'"{name}"' for name, _ in info.columns)
    rows = (
        duckdb.connect()
        .execute(f"SELECT {names} FROM read_parquet('{tmp_path / 'out' / info.parquet}')")
        .fetchall()
    )
    assert info.rows == len(rows)
    return info, rows, {note.kind: note.text for note in info.notes}


COLUMNS = {
    "Name": ["Jane Doe", "John Smith", "Ada King"],
    "Full name": ["Jane Doe", "John Smith", "Ada King"],
    "State": ["New York", "Ohio", "Texas", "North Dakota", "Utah", "New Mexico"],
    "Product": ["Desk Lamp", "iPhone 12", "Boeing 747", "USB Cable 2m"],
    "Model": ["iPhone 12", "Pixel 7", "Galaxy 20"],
    "Place": ["Springfield, IL", "Portland, OR", "Austin, TX"],
    "Address": ["12 Main St, Springfield, IL", "3 Elm Rd, Austin, TX", "7 Oak Ave, Reno, NV"],
    "Person": ["Doe,Jane", "Smith,John", "King,Ada"],
    "Comment": ["Well, I think so.", "Yes, it rained, and how.", "No; never.", "She said: \"go\"."],
    "URL": ["https://a.org/x?a=1,2", "http://b.org:80/y", "https://c.org/z"],
    "Start": ["10:20", "11:30", "12:45"],
    "At": ["2024-01-02 10:20", "2024-01-03 11:30", "2024-01-04 12:45"],
    "Day": ["January 5, 2024", "May 6, 2024", "June 7, 2024"],
    "E-mail": ["a.b@c.org", "d@e.org", "f_g@h.org"],
    "MAC": ["00:1a:2b:3c:4d:5e", "aa:1a:2b:3c:4d:5e", "00:1a:2b:3c:4d:99"],
    "Phone": ["+43 316 123456", "+43 463 654321", "+43 662 111222"],
    "genres": ["Comedy|Drama", "Comedy", "Action|Comedy|Drama", "Drama"],
    "tags": ["red,blue", "green", "red", "blue,green,red"],
    "Setting": ["name: Jane", "age: old", "city: Graz"],
    "姓名": ["王 小明", "李 大华", "张 三丰"],
    "الاسم": ["محمد علي", "فاطمة حسن", "زينب علي"],
}  # fmt: skip


@pytest.mark.parametrize("header", COLUMNS)
@pytest.mark.parametrize("gap", ["", "\n"])
def test_one_column_of_values_is_not_split_and_loses_no_line(
    tmp_path: Path, header: str, gap: str
) -> None:
    values = COLUMNS[header]
    info, rows, _ = one(tmp_path, f"{header}\n" + f"\n{gap}".join(values) + "\n")
    assert [name for name, _ in info.columns] == [header]
    assert len(rows) == len(values)
    if info.columns[0][1] == "VARCHAR":
        assert [row[0] for row in rows] == values


@pytest.mark.parametrize(
    "lines",
    [
        ["Jane Doe"],
        ["Jane Doe", "John Smith", "Ada King"],
        ["Springfield, IL", "Reno, NV", "Rome, NY"],
    ],
)
def test_lines_without_a_header_stay_whole(tmp_path: Path, lines: list[str]) -> None:
    info, rows, _ = one(tmp_path, "\n".join(lines) + "\n")
    kept = [row[0] for row in rows]
    assert kept == lines or (kept == lines[1:] and info.columns[0][0] == lines[0])


def test_a_list_of_many_lines_keeps_every_one(tmp_path: Path) -> None:
    values = [f"Given{n} Family{n % 97}" for n in range(50_000)]
    _, rows, _ = one(tmp_path, "Name\n" + "\n".join(values) + "\n")
    assert [row[0] for row in rows] == values


def test_quoted_lines_lose_their_quotes_and_nothing_else(tmp_path: Path) -> None:
    _, rows, _ = one(tmp_path, 'Place\n"Springfield, IL"\nReno\n"He said ""go"", then left"\n')
    assert [row[0] for row in rows] == ["Springfield, IL", "Reno", 'He said "go", then left']


def test_the_split_that_may_have_been_meant_is_named(tmp_path: Path) -> None:
    _, _, notes = one(tmp_path, "Place\nSpringfield, IL\nPortland, OR\nAustin, TX\n")
    assert "','" in notes["one-column"]
    _, _, notes = one(tmp_path, "Start\n10:20\n11:30\n12:45\n")
    assert "one-column" not in notes


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("x y z\n1.5 2 3\n4.5 5 6\n7.5 8 9\n", " "),
        ('"name" "n"\n"Jane Doe" 5\n"John Smith" 7\n"Ada" 9\n', " "),
        (
            "root:x:0:0:root:/root:/bin/sh\nbin:x:1:1:bin:/bin:/bin/sh\nsys:x:3:3:sys:/dev:/bin/sh\n",
            ":",
        ),
        ("1::1193::5::978300760\n1::661::3::978302109\n2::914::4::978301968\n", "::"),
        ("id, city, amount\n1, Graz, 2.5\n2, Oslo, 3.5\n3, Rome, 4.5\n", ","),
        ("city, state\nSpringfield, IL\nPortland, OR\nAustin, TX\n", ","),
        ("name,city\nJane Doe,Graz\nJohn Smith,Oslo\n", ","),
        ("a;b\n1,5;2,5\n3,5;4,5\n5,5;6,5\n", ";"),
        ("Year\tBirths\tPopulation\n2024\t64,897\t8,924,884\n2023\t65,101\t8,876,530\n", "\t"),
        ("2024\t64,897\t8,924,884\n2023\t65,101\t8,876,530\n", "\t"),
        ("name|note\nJane|well, yes: 5\nJohn|no, 7: 3\n", "|"),
        ("0,1\n0,2\n5,17\n", ","),
    ],
)
def test_a_proven_split_is_made(text: str, delimiter: str) -> None:
    assert sniff(text).delimiter == delimiter


def test_a_letter_is_no_separator_for_a_sep_line() -> None:
    assert sniff("sep=a\nbanana\ncabana\n").one_column


def test_tab_file_with_marked_thousands_keeps_header_and_whole_numbers(tmp_path: Path) -> None:
    info, rows, notes = one(
        tmp_path, "Year\tBirths\tPopulation\n2024\t64,897\t8,924,884\n2023\t65,101\t8,876,530\n"
    )
    assert info.columns == (("Year", "BIGINT"), ("Births", "BIGINT"), ("Population", "BIGINT"))
    assert rows == [(2024, 64_897, 8_924_884), (2023, 65_101, 8_876_530)]
    assert notes == {}


@pytest.mark.parametrize(
    ("values", "numbers", "kind"),
    [
        (["42,041", "64,897", "8,924,884"], [42_041, 64_897, 8_924_884], "BIGINT"),
        (["1,234", "42,041", "924,884"], [1_234, 42_041, 924_884], "BIGINT"),
        (["999", "1,234", "2,041", "7,500"], [999, 1_234, 2_041, 7_500], "BIGINT"),
        (["1.234.567", "12.345", "999"], [1_234_567, 12_345, 999], "BIGINT"),
        (["1'234'567", "12’345", "900"], [1_234_567, 12_345, 900], "BIGINT"),
        (["12,34,567", "1,23,456", "900"], [1_234_567, 123_456, 900], "BIGINT"),
        (["1\u202f234\u202f567", "12\u00a0345", "1 200"], [1_234_567, 12_345, 1_200], "BIGINT"),
        (["1.234,56", "12,5", "1.000.000"], [1_234.56, 12.5, 1_000_000], "DOUBLE"),
        (["1,234.5", "12", "7"], [1_234.5, 12, 7], "DOUBLE"),
        (["0.125", "1.234", "2.500"], [0.125, 1.234, 2.5], "DOUBLE"),
        (["$1,200", "$7", "($3)", "$12,500", "$3,000"], [1_200, 7, -3, 12_500, 3_000], "BIGINT"),
    ],
)
def test_marks_of_thousands_and_of_fractions_are_told_apart(
    tmp_path: Path, values: list[str], numbers: list[float], kind: str
) -> None:
    info, rows, notes = one(
        tmp_path, "city\tamount\n" + "".join(f"c{n}\t{v}\n" for n, v in enumerate(values))
    )
    assert info.columns[1] == ("amount", kind)
    assert [row[1] for row in rows] == numbers
    assert "numbers-ambiguous" not in notes


@pytest.mark.parametrize(
    ("other", "value"),
    [("2.5", 1_234), ("1,200,000", 1_234), ("2,5", 1.234), ("1.200.000,5", 1.234)],
)
def test_another_column_decides_what_a_mark_means(tmp_path: Path, other: str, value: float) -> None:
    _, rows, notes = one(tmp_path, f"amount\tother\n1,234\t{other}\n5,678\t{other}\n")
    assert rows[0][0] == value
    assert "numbers-ambiguous" not in notes


@pytest.mark.parametrize(
    ("text", "value", "reading"),
    [
        ("city\tamount\na\t1,234\nb\t5,678\n", 1_234, "thousands"),
        ("city;amount\na;1,234\nb;5,678\n", 1.234, "decimal"),
        ("city\tamount\na\t1.234\nb\t5.678\n", 1.234, "decimal"),
    ],
)
def test_a_mark_that_nothing_explains_is_read_as_usual_and_said(
    tmp_path: Path, text: str, value: float, reading: str
) -> None:
    _, rows, notes = one(tmp_path, text)
    assert rows[0][1] == value
    assert reading in notes["numbers-ambiguous"]


def test_a_late_fraction_ends_the_doubt(tmp_path: Path) -> None:
    lines = [f"c{n}\t{1 + n % 9},{100 + n % 900}" for n in range(3_000)]
    _, rows, notes = one(tmp_path, "city\tamount\n" + "\n".join(lines) + "\nlast\t2,5\n")
    assert rows[0][1] == 1.1
    assert rows[-1][1] == 2.5
    assert "numbers-ambiguous" not in notes


@pytest.mark.parametrize(
    ("lines", "name", "rows"),
    [
        (["Amount", "n.a.", "12", "15"], "Amount", [None, 12, 15]),
        (["12", "15", "18"], "column_1", [12, 15, 18]),
        (["Sales of 2024", "Amount", "12", "15"], "Amount", [12, 15]),
        (["Amount", "pending", "12", "15"], "Amount", ["pending", "12", "15"]),
        (["Amount", "unknown", "12", "15"], "Amount", [None, 12, 15]),
        (
            ["Note", "Source: own survey", "Total", "end"],
            "Note",
            ["Source: own survey", "Total", "end"],
        ),
    ],
)
def test_only_a_title_of_several_words_stands_above_a_single_column(
    tmp_path: Path, lines: list[str], name: str, rows: list[Any]
) -> None:
    info, found, _ = one(tmp_path, "\n".join(lines) + "\n")
    assert info.columns[0][0] == name
    assert [row[0] for row in found] == rows


def test_a_single_column_is_counted_and_read_like_any_table(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text(
        "Name\n" + "".join(f"Given{n} Family\n" + "\n" * (n % 4 == 0) for n in range(40))
    )
    outline = DelimitedReader().outline(path)
    assert (outline.rows, outline.columns) == (40, 1)
    passages = list(DelimitedReader().passages(path, Where("row", 1, 4)))
    assert [passage.text for passage in passages] == ["Name", "Given0 Family", "Given1 Family"]


@pytest.mark.parametrize("delimiter", ["\x1f", "\x01", "|~|", "~|~", "||"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_rare_delimiters_are_known_and_seen_whole(
    tmp_path: Path, delimiter: str, name: str
) -> None:
    lines = [["id", "name", "amount"], ["1", "Anna", "10"], ["2", "Bob", "20"], ["3", "Cid", "30"]]
    text = "\n".join(delimiter.join(line) for line in lines) + "\n"
    (tmp_path / "file").write_text(text)
    assert detect(tmp_path / "file", name)[0] == "csv"
    info, rows, _ = one(tmp_path, text)
    assert [column for column, _ in info.columns] == lines[0]
    assert rows[1] == (2, "Bob", 20)


def test_a_few_lists_below_one_word_are_one_column_and_many_equal_ones_are_not(
    tmp_path: Path,
) -> None:
    lists = ["red,green,blue,white", "old,new,used,rare", "a,b,c,d", "x,y,z,w"]
    info, rows, notes = one(tmp_path, "\n".join(["tags", *lists[:2]]) + "\n")
    assert [row[0] for row in rows] == lists[:2]
    assert "','" in notes["one-column"]
    info, _, _ = one(tmp_path, "\n".join(["tags", *lists]) + "\n")
    assert len(info.columns) == 4


def test_a_sign_that_ends_lines_elsewhere_stays_in_its_cell(tmp_path: Path) -> None:
    rows = [(str(n), f"one\u2028two\x0cthree{n}") for n in range(5)]
    _, found, notes = one(tmp_path, "id;text\n" + "".join(f'{a};"{b}"\n' for a, b in rows))
    assert [row[1] for row in found] == [b for _, b in rows]
    assert "repaired-quotes" not in notes


@pytest.mark.parametrize(
    "word",
    [
        "..",
        "(NA)",
        "…",
        "*",
        ":",
        "#DIV/0!",
        "unknown",
        "not reported",
        "k. A.",
        "нет данных",
        "不明",
        "\\N",
    ],
)
def test_words_for_no_value_leave_a_column_its_numbers_and_are_named(
    tmp_path: Path, word: str
) -> None:
    info, rows, notes = one(
        tmp_path,
        "place;count\n" + "".join(f"p{n};{word if n == 3 else 100 * n}\n" for n in range(9)),
    )
    assert dict(info.columns)["count"] == "BIGINT"
    assert [row[1] for row in rows][2:5] == [200, None, 400]
    assert f"'{word}'" in notes["missing-words"]


def test_a_letter_among_numbers_keeps_them_text_and_is_said(tmp_path: Path) -> None:
    info, _, notes = one(
        tmp_path,
        "place;count\n" + "".join(f"p{n};{'D' if n % 3 == 0 else 100 * n}\n" for n in range(30)),
    )
    assert dict(info.columns)["count"] == "VARCHAR"
    assert "10 of 30 values are no numbers" in notes["cells-unparsed"]


@pytest.mark.parametrize(
    "row",
    [
        "{day:02d}.03.2023;{name};{n},{cents:02d}",
        "2023-03-{day:02d};{name};-{n},{cents:02d}",
        "{day:02d}/03/2023|{name}|{n},{cents:02d}",
        "{day:02d}.03.2023 12:{day:02d};{name};{n}.482,{cents:02d} €",
        "12:{day:02d}:05\t{name}\t{n},{cents:02d}",
    ],
)
@pytest.mark.parametrize("rows", [3, 12, 90])
def test_what_follows_a_date_is_no_part_of_it(row: str, rows: int) -> None:
    """A comma in the last cell alone parts nothing: `01.03.2023;Rent;12,50`."""
    names = ["Rent", "Köln", "Bakery", "Shell"]
    lines = [
        row.format(day=i % 28 + 1, name=names[i % 4], n=i + 5, cents=i * 7 % 100)
        for i in range(rows)
    ]
    delimiter = next(sign for sign in ";|\t" if sign in row)
    head = delimiter.join(["Day", "What", "Amount"])
    assert sniff("\n".join([head, *lines, ""])).delimiter == delimiter


def test_quoted_cells_part_tables_of_whatever_widths() -> None:
    setup = "".join(f'"Setting {n}","{n}"\n' for n in range(12))
    wide = "".join(f'"{n}","A{n}","{n}.5","{n * 3}","x"\n' for n in range(9))
    three = "".join(f'"{n}","B{n}","{n + 1}"\n' for n in range(9))
    dialect = sniff(f'"Program","Plates","","Reader"\n{setup}\n{wide}\n"Results"\n{three}')
    assert dialect.delimiter == ","


def test_comments_above_a_table_part_no_cells() -> None:
    remarks = "".join(f"#{n}. Column {n}: what it holds, in words (unit)\n" for n in range(10, 60))
    rows = "".join(f"2020-06-01T12:{n}:00/PT1M;{n}.25;{n * 3};{n}.5\n" for n in range(10, 14))
    text = f"# Title: Sun, as measured\n#\n{remarks}# Time;Sun;Wind;Rain\n{rows}"
    assert sniff(text).delimiter == ";"


def test_a_line_of_blanks_alone_does_not_hold_up(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"92821 20200706 1200\n{' ' * 20_000}\0\n92821 20200706 1310\n")
    begun = perf_counter()
    detect(path, "a.txt")
    assert perf_counter() - begun < 2


def test_blanks_between_a_quote_and_a_delimiter_are_no_part_of_a_cell(tmp_path: Path) -> None:
    rows = "".join(
        f'0{n}/04/2025,"SHOP {n}, LTD","-1,0{n}9.14"\t\t,EUR,POSTED\n' for n in range(1, 8)
    )
    info, values, notes = one(tmp_path, f"Day,Text,Amount,Currency,State\n{rows}")
    assert dict(info.columns)["Amount"] == "DOUBLE"
    assert [row[2] for row in values] == pytest.approx([-1019.14 - 10 * n for n in range(7)])
    assert "repaired-quotes" not in notes


def test_blanks_and_tabs_behind_most_values_are_left_off(tmp_path: Path) -> None:
    rows = "".join(f"{n},{'x' * n} \t,{'' if n % 2 else ' '}\n" for n in range(1, 8))
    _, values, notes = one(tmp_path, f"No,Payee,Wind\n{rows}")
    assert [row[1] for row in values] == ["x" * n for n in range(1, 8)]
    assert {row[2] for row in values} == {None}
    assert notes["blanks-left-off"] == "Blanks behind the values of 'Payee' were left off."


def test_days_in_figures_are_named(tmp_path: Path) -> None:
    rows = "".join(f"202401{n:02},{n * 7}\n" for n in range(1, 29))
    for name in ("date", "交易日期"):
        _, _, notes = one(tmp_path, f"{name},amount\n{rows}")
        assert "days in figures, such as 20240101" in notes["date-serials"]
    _, _, notes = one(tmp_path, f"amount,n\n{rows}")
    assert "date-serials" not in notes

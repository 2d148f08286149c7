"""Numbers as text in columns of numbers, and numbers of full width."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from openpyxl import Workbook

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.sheets import SheetsReader

Column = tuple[str, list[Any], dict[str, str]]
"""Type, values and notes."""


def from_csv(tmp_path: Path, text: str) -> dict[str, Column]:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return columns(DelimitedReader().tables(path, tmp_path / "out"), tmp_path / "out")


def from_sheet(tmp_path: Path, *rows: list[Any]) -> dict[str, Column]:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "b.xlsx")
    return columns(SheetsReader().tables(tmp_path / "b.xlsx", tmp_path / "out"), tmp_path / "out")


def columns(infos: list[TableInfo], out: Path) -> dict[str, Column]:
    [info] = infos
    notes = {n.kind: f"{n.text} {n.place}" for n in info.notes}
    rows = duckdb.sql(f"SELECT * FROM '{out / info.parquet}'").fetchall()
    values = list(zip(*rows, strict=True))
    return {name: (kind, list(values[n]), notes) for n, (name, kind) in enumerate(info.columns)}


def beside(*texts: Any) -> list[list[Any]]:
    return [["id", "n"], *([n, text] for n, text in enumerate(texts, 1))]


def test_digits_of_full_width_are_numbers(tmp_path: Path) -> None:
    table = from_csv(
        tmp_path, '品目,数,率\n茶,"１，１３８",３５％\n器,"1,500",12％\n箸,"９１３",1.5%\n'
    )
    assert table["数"][:2] == ("BIGINT", [1138, 1500, 913])
    assert table["率"][:2] == ("DOUBLE", [35, 12, 1.5])
    assert "'率'" in table["率"][2]["percent"]


def test_digits_of_arabic_persian_and_hindi_are_numbers(tmp_path: Path) -> None:
    table = from_csv(
        tmp_path,
        "المدينة,السكان,النسبة,n\nأ,٧٬٦٧٦٬٦٥٤,٢١٫٣٪,१२\nب,٦٩٧٬٠٠٠,١٣٫٠٪,३\nج,۴٬۰۴۲٬۰۰۰,٥٫٧٪,४०५\n",
    )
    assert table["السكان"][:2] == ("BIGINT", [7676654, 697000, 4042000])
    assert table["النسبة"][:2] == ("DOUBLE", [21.3, 13.0, 5.7])
    assert table["n"][:2] == ("BIGINT", [12, 3, 405])


def test_a_triangle_is_a_minus_and_that_is_said(tmp_path: Path) -> None:
    kind, values, notes = from_csv(tmp_path, '品目,増減\n茶,"△1,035"\n器,20\n箸,▲５\n扇,7\n')[
        "増減"
    ]
    assert (kind, values) == ("BIGINT", [-1035, 20, -5, 7])
    assert "△ and ▲ before numbers in '増減' were read as a minus." in notes["minus-signs"]


@pytest.mark.parametrize("ranks", [["▲2", "▼1", "3", "4"], ["▲2", "▲1", "▲4", "3"]])
def test_a_triangle_that_may_say_that_a_number_went_up_is_no_minus(
    tmp_path: Path, ranks: list[str]
) -> None:
    text = "\n".join(["team,rank", *(f"t{n},{rank}" for n, rank in enumerate(ranks))])
    assert from_csv(tmp_path, text)["rank"][:2] == ("VARCHAR", ranks)


def test_two_signs_of_one_currency_are_taken_off(tmp_path: Path) -> None:
    table = from_csv(
        tmp_path, '品目,金額,額\n茶,"¥1,200","¥1,200"\n器,"￥300",300元\n箸,"5,000円",5円\n'
    )
    kind, values, notes = table["金額"]
    assert (kind, values) == ("BIGINT", [1200, 300, 5000])
    assert table["額"][0] == "VARCHAR"
    assert "'額' stays text: it mixes ¥, 元, 円." in notes["currency-mixed"]
    assert "dates-ambiguous" not in notes


def test_texts_of_full_width_among_the_numbers_of_a_sheet_are_numbers(tmp_path: Path) -> None:
    cells = beside(1185, 949, "１，１３８", 792, 2151, "△35", 594, 1211)
    kind, values, notes = from_sheet(tmp_path, *cells)["n"]
    assert (kind, values) == ("BIGINT", [1185, 949, 1138, 792, 2151, -35, 594, 1211])
    assert "'n'" in notes["numbers-as-text"]
    assert "△" in notes["minus-signs"]


def test_amounts_with_a_sign_among_the_numbers_of_a_sheet_are_numbers(tmp_path: Path) -> None:
    kind, values, notes = from_sheet(tmp_path, *beside(88000, "¥826,000", "518,000円", 666000))["n"]
    assert (kind, values) == ("BIGINT", [88000, 826000, 518000, 666000])
    assert "'円' and '¥' were taken off" in notes["currency-stripped"]


def test_texts_with_a_comma_among_fractions_are_numbers(tmp_path: Path) -> None:
    kind, values, notes = from_sheet(tmp_path, *beside(114.5, "62,2", 95, "103,2", 49.3))["n"]
    assert (kind, values) == ("DOUBLE", [114.5, 62.2, 95, 103.2, 49.3])
    assert "The comma was read as the decimal mark in 'n'" in notes["decimal-comma"]


def test_a_dot_is_one_of_thousands_where_another_text_has_a_decimal_comma(tmp_path: Path) -> None:
    kind, values, _ = from_sheet(tmp_path, *beside(12.5, "1.204", "1.234,50 €", 3))["n"]
    assert (kind, values) == ("DOUBLE", [12.5, 1204, 1234.5, 3])


def test_a_dot_is_one_of_thousands_where_other_columns_show_a_decimal_comma(tmp_path: Path) -> None:
    prices = ["0,04", "2.895,75", "3,50"]
    rows = [
        [n, cell, price]
        for (n, cell), price in zip(beside(3, "1.204", 900)[1:], prices, strict=True)
    ]
    kind, values, _ = from_sheet(tmp_path, ["id", "n", "price"], *rows)["n"]
    assert (kind, values) == ("BIGINT", [3, 1204, 900])


def test_the_size_of_the_numbers_beside_tells_a_thousand_from_a_fraction(tmp_path: Path) -> None:
    whole = from_sheet(tmp_path, *beside(980, 1500, "1.204", 2210, 850, 1310))["n"]
    parts = from_sheet(tmp_path, *beside(4.138, 4.289, "1.204", 4.298, 4.302, 4.104))["n"]
    assert (whole[0], whole[1][2]) == ("BIGINT", 1204)
    assert (parts[0], parts[1][2]) == ("DOUBLE", 1.204)


def test_a_percent_sign_beside_plain_numbers_is_another_number(tmp_path: Path) -> None:
    kind, values, _ = from_sheet(tmp_path, *beside(0.19, "19 %", 0.07, 0.19))["n"]
    assert (kind, values) == ("VARCHAR", ["0.19", "19 %", "0.07", "0.19"])


def test_words_that_count_thousands_beside_plain_numbers_are_other_numbers(tmp_path: Path) -> None:
    assert from_sheet(tmp_path, *beside(5, "5 Mio.", 7, "12 Mio."))["n"][0] == "VARCHAR"

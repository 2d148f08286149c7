"""Rows of totals, what is hidden or doubled, and the cells of each finding: detection, queries,
tools, coverage."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unicodedata import normalize

import duckdb
import pytest
from openpyxl import Workbook

from leaf.errors import QueryError
from leaf.provenance.coverage import in_words, line, merge_coverage
from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.labels import HINT, is_said, label_of
from leaf.readers.tabular.sheets import SheetsReader
from leaf.readers.tabular.sql import literal
from leaf.sandbox.pool import Pool
from leaf.settings import Settings
from leaf.store import open_store
from leaf.store.model import ChatFile, File, Scope
from leaf.tables.paging import RowsWanted
from leaf.tables.tables import Tables
from tests.leaf_kit import settle

SCOPE = Scope("workspace", "user")
SUBTOTALS = (
    "region,product,qty,amount\nNorth,A,1,10.5\nNorth,B,2,20\nNorth Total,,3,30.5\n"
    "South,A,4,7\nSouth,B,5,8\nSouth Total,,9,15\nGrand Total,,12,45.5\n"
)


def from_csv(folder: Path, text: str) -> TableInfo:
    path = folder / "a.csv"
    path.write_text(text, encoding="utf-8")
    return DelimitedReader().tables(path, folder)[0]


def from_rows(
    folder: Path, rows: list[list[Any]], change: Callable[[Any], None] = lambda sheet: None
) -> list[TableInfo]:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Data"
    for row in rows:
        sheet.append(row)
    change(sheet)
    book.save(folder / "a.xlsx")
    return SheetsReader().tables(folder / "a.xlsx", folder)


def kinds(folder: Path, info: TableInfo) -> list[str]:
    if not info.marked:
        return ["data"] * info.rows
    return [k for (k,) in duckdb.sql(f"SELECT _kind FROM '{folder / info.parquet}'").fetchall()]


def cells(info: TableInfo) -> dict[str, str]:
    return {note.kind: note.cells or note.place for note in info.notes}


# --- words


@pytest.mark.parametrize(
    ("text", "kind", "exact"),
    [
        ("Total", "total", True),
        (" GRAND TOTAL: ", "total", True),
        ("Summe", "total", True),
        ("Σ", "total", True),
        ("合計", "total", True),
        ("North Total", "total", False),
        ("Total North", "total", False),
        ("Sub-total", "subtotal", True),
        ("Zwischensumme Nord", "subtotal", False),
        ("Durchschnitt", "average", True),
    ],
)
def test_words_for_totals_are_known(text: str, kind: str, exact: bool) -> None:
    label = label_of(text)
    assert label is not None
    assert (label.kind, label.exact) == (kind, exact)


@pytest.mark.parametrize(
    "text",
    [
        "الاجمالي",
        "مجموع",
        "סה״כ",
        "סך הכל",
        "סהכ",
        "計",
        "総計",
        "総合計",
        "계",
        "총합",
        "合 计",
        "小 計",
        "Cộng",
        "Tổng cộng",
        "Jumlah",
        "รวม",
        "कुल",
        "Разом",
        "Усього",
        "Итог",
        "Общий итог",
        "Общо",
        "Вкупно",
        "Ukupno",
        "Sveukupno",
        "Skupaj",
        "Iš viso",
        "Kokku",
        "Kopā",
        "Celkový součet",
        "Eindtotaal",
        "Łącznie",
        "Mindösszesen",
        "Totalsumma",
        "Gesamtbetrag",
        "Teilergebnis",
        "Overall Result",
        "Tổng cộng",
    ],
)
def test_totals_are_known_in_many_languages_and_in_long_tables(text: str) -> None:
    label = label_of(text)
    assert label is not None
    assert (label.exact, label.sure) == (True, True)
    word = normalize("NFC", text.strip())
    assert duckdb.sql(f"SELECT regexp_matches({literal(word)}, {literal(HINT)})").fetchall() == [
        (True,)
    ]


@pytest.mark.parametrize(
    "text",
    ["Ensemble", "Zusammen", "TTL", "Tot", "Ergebnis", "North Result", "Cộng hòa", "Übertrag"],
)
def test_a_word_that_is_an_ordinary_value_as_well_is_not_sure(text: str) -> None:
    label = label_of(text)
    assert label is not None
    assert not label.sure


@pytest.mark.parametrize("word", ["Ensemble", "Tot", "Result"])
def test_an_ordinary_word_is_a_total_where_the_numbers_say_so_and_else_is_not_doubted(
    tmp_path: Path, word: str
) -> None:
    text = "who,paid\nA,851\nB,513\nC,917\n" + word
    assert dict(from_csv(tmp_path, f"{text},2281\n").left_out) == {"total": (5,)}
    info = from_csv(tmp_path, f"{text},703\n")
    assert (info.left_out, info.doubtful) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A B C",
        "Totally Spies",
        "Summer",
        "Counter",
        "Maxim",
        "The total is above. See the note",
        "x" * 80,
    ],
)
def test_other_words_are_not(text: str) -> None:
    assert label_of(text) is None


# --- rows


def test_subtotals_and_the_grand_total_are_marked_with_their_rows(tmp_path: Path) -> None:
    info = from_csv(tmp_path, SUBTOTALS)
    assert info.rows == 4
    assert dict(info.left_out) == {"subtotal": (4, 7), "total": (8,)}
    assert kinds(tmp_path, info) == [
        "data",
        "data",
        "subtotal",
        "data",
        "data",
        "subtotal",
        "total",
    ]
    assert cells(info)["subtotal-rows"] == "rows 4, 7"


@pytest.mark.parametrize("word", ["{} 計", "Cộng {}", "{} total"])
def test_groups_of_two_below_empty_keys_are_enough_to_find_their_totals(
    tmp_path: Path, word: str
) -> None:
    rows = [("N", 100, 250), ("S", 70, 30)]
    text = "".join(f"{k},A,{a}\n{k},B,{b}\n{word.format(k)},,{a + b}\n" for k, a, b in rows)
    info = from_csv(tmp_path, f"area,product,n\n{text}総計,,450\n")
    assert dict(info.left_out) == {"subtotal": (4, 7), "total": (8,)}


def test_a_sum_that_is_brought_forward_is_not_kept_without_a_word(tmp_path: Path) -> None:
    pages = "1.2.2024,4000,100\n2.2.2024,4001,250\n{0}3.2.2024,4000,75\n4.2.2024,4001,25\n"
    text = pages.format("Übertrag,,350\n" * 2)
    info = from_csv(tmp_path, f"day,account,n\n{text}Summe,,450\n")
    rows = {row for _, found in (*info.left_out, *info.doubtful) for row in found}
    assert rows >= {4, 5, 8}


def test_two_levels_are_subtotals_and_one_total(tmp_path: Path) -> None:
    rows = [["region", "city", "units"]]
    for region, cities in (("N", ("a", "b")), ("S", ("c", "d"))):
        whole = 0
        for c, city in enumerate(cities):
            values = [7 + 3 * c, 11 + c, 20 * len(region) + c]
            rows += [[region, city, v] for v in values]
            rows.append([region, f"{city} total", sum(values)])
            whole += sum(values)
        rows.append([f"{region} total", None, whole])
    rows.append(["Total", None, sum(r[2] for r in rows[1:] if str(r[1]) in "abcd")])
    (info,) = from_rows(tmp_path, rows)
    assert dict(info.left_out_counts) == {"subtotal": 6, "total": 1}
    assert info.rows == 12
    value = duckdb.sql(
        f"SELECT sum(units) FROM '{tmp_path / info.parquet}' WHERE _kind = 'data'"
    ).fetchall()[0][0]
    assert value == rows[-1][2]


def test_totals_above_their_rows(tmp_path: Path) -> None:
    info = from_csv(
        tmp_path, "what,units\nTotal,66\nA total,30\na1,10\na2,20\nB total,36\nb1,17\nb2,19\n"
    )
    assert dict(info.left_out) == {"total": (2,), "subtotal": (3, 6)}


def test_a_word_below_numbers_does_not_turn_their_column_into_text(tmp_path: Path) -> None:
    info = from_csv(tmp_path, "id,amount\n11,10.5\n12,20\n13,31\nTotal,61.5\nAverage,20.5\n")
    assert info.columns[0] == ("id", "BIGINT")
    assert dict(info.left_out) == {"total": (5,), "note": (6,)}


def test_a_total_in_the_middle_is_left_out_and_the_rows_after_it_are_not(tmp_path: Path) -> None:
    info = from_csv(
        tmp_path, "day,units\n1 May 2024,10\n2 May 2024,25\nTotal,35\n3 May 2024,7\n4 May 2024,9\n"
    )
    assert (info.rows, dict(info.left_out)) == (4, {"subtotal": (4,)})


def test_a_total_that_does_not_add_up_is_kept_as_doubtful_and_said_with_its_cell(
    tmp_path: Path,
) -> None:
    (info,) = from_rows(
        tmp_path, [["who", "paid"], ["Ann", 10], ["Bo", 25], ["Cy", 31], ["Total", 70]]
    )
    assert (info.rows, info.left_out, dict(info.doubtful)) == (4, (), {"total": (5,)})
    assert cells(info)["totals-doubtful"] == "A5:B5"
    (note,) = [n for n in info.notes if n.kind == "totals-differ"]
    assert note.cells == "B5"
    assert "70" in note.text
    assert "66" in note.text


def test_a_table_of_one_row_that_is_called_a_total_keeps_and_names_it(tmp_path: Path) -> None:
    info = from_csv(tmp_path, "what,units\nTotal,5\n")
    assert (info.rows, dict(info.doubtful)) == (1, {"total": (2,)})


def test_one_word_below_two_hundred_groups_is_a_total_in_each(tmp_path: Path) -> None:
    rows = [f"a,{31 + n % 17}\nb,{50 + n % 29}\nTotal,{81 + n % 17 + n % 29}" for n in range(201)]
    info = from_csv(tmp_path, "what,units\n" + "\n".join(rows))
    assert (info.rows, dict(info.left_out_counts)) == (402, {"subtotal": 201})


def test_what_a_total_gets_wrong_in_one_column_is_said(tmp_path: Path) -> None:
    text = "area,men,women\nTotal,70123,41400\nNorth,50111,30256\nSouth,20012,11121\n"
    info = from_csv(tmp_path, text)
    assert dict(info.left_out) == {"total": (2,)}
    (note,) = [n for n in info.notes if n.kind == "totals-differ"]
    assert "'women' in row 2 is 41,400, its rows give 41,377" in note.text


def test_numbers_that_tell_rows_apart_are_not_added_up(tmp_path: Path) -> None:
    text = (
        "what,order number,part number,qty,paid\nA,1001,301,412,1377\nB,1002,317,633,2011\n"
        "Total,1003,344,1045,3388\n"
    )
    info = from_csv(tmp_path, text)
    assert dict(info.left_out) == {"total": (4,)}
    assert "totals-differ" not in cells(info)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "year,x,y\n1990,512,871\n2000,777,1230\n2003,790,1300\nPercent change,54.3,49.3\n",
            "1 row is called a total or an average, which the numbers do not prove",
        ),
        (
            "area,m,f\nA,61387,29014\nB,29840,77131\nC,91227,106145\nD,50112,30778\n",
            "1 row equals the sum of rows nearby",
        ),
    ],
)
def test_a_row_is_doubtful_for_its_word_or_for_what_it_equals(
    tmp_path: Path, text: str, why: str
) -> None:
    (note,) = [n for n in from_csv(tmp_path, text).notes if n.kind == "totals-doubtful"]
    assert why in note.text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "who,paid\nAnn,10\nBo,25\nCy,35\nDee,4\n", id="a row that happens to be a sum"
        ),
        pytest.param(
            "who,qty,paid\nAnn,1,10\nBo,1,25\nCy,2,35\nDee,4,8\n", id="small numbers in two columns"
        ),
        pytest.param("day,sold,so_far\n1,10,10\n2,20,30\n3,30,60\n4,40,100\n", id="running totals"),
        pytest.param(
            "item,paid\nTotal Care,10\nSum Mug,25\nMaximum Grip,31\nTotal Wine,4\n",
            id="names with such words",
        ),
        pytest.param("a,b\n5,\n,\n7,2\n", id="blank cells"),
        pytest.param("y,x\n1,1\n1,1\n1,1\n1,1\n", id="equal rows"),
        pytest.param("y,x\nq,0\nr,0\ns,0\nt,0\n", id="nothing but zeros"),
    ],
)
def test_rows_of_data_stay_data(tmp_path: Path, text: str) -> None:
    info = from_csv(tmp_path, text)
    assert not info.left_out, cells(info)
    assert "total-rows" not in cells(info)


def test_a_table_of_subtotals_alone_keeps_them_as_data(tmp_path: Path) -> None:
    info = from_csv(
        tmp_path, "what,units\nSubtotal A,10\nSubtotal B,20\nSubtotal C,31\nGrand total,61\n"
    )
    assert (info.rows, dict(info.left_out)) == (3, {"total": (5,)})


def test_rates_and_percents_in_a_total_row_are_no_mistakes(tmp_path: Path) -> None:
    info = from_csv(
        tmp_path,
        "who,qty,price,share\nA,2,10.5,40%\nB,3,20.1,60%\nC,9,31,55%\nTotal,14,20.53,52%\n",
    )
    assert dict(info.left_out) == {"total": (5,)}
    assert "totals-differ" not in cells(info)


def test_rounded_figures_and_credits_add_up(tmp_path: Path) -> None:
    info = from_csv(tmp_path, "who,mio\nA,1.3\nB,2.3\nC,3.3\nD,-1.1\nTotal,5.9\n")
    assert "totals-differ" not in cells(info)
    assert dict(info.left_out) == {"total": (6,)}


def test_gaps_keep_the_numbers_of_the_rows(tmp_path: Path) -> None:
    rows = [["a", "b"], ["x", 1], ["y", 2], [None, None], ["z", 4]]
    (info,) = from_rows(tmp_path, rows)
    assert info.marked
    assert duckdb.sql(f"SELECT a, _row FROM '{tmp_path / info.parquet}'").fetchall() == [
        ("x", 2),
        ("y", 3),
        ("z", 5),
    ]


def test_a_column_named_row_is_kept_under_another_name(tmp_path: Path) -> None:
    info = from_csv(tmp_path, "_row,_kind,v\n7,a,1\n8,b,2\nTotal,,3\n")
    assert [name for name, _ in info.columns] == ["_row_2", "_kind_2", "v"]
    assert info.rows == 2


def test_the_outline_names_rows_that_are_called_totals(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(SUBTOTALS)
    (note,) = [
        n for n in DelimitedReader().outline(tmp_path / "a.csv").notes if n.kind == "totals-called"
    ]
    assert (note.count, note.place) == (3, "rows 4, 7-8")
    from_rows(tmp_path, [["who", "paid"], ["Ann", 10], ["Bo", 25], ["Total", 35]])
    (note,) = [
        n for n in SheetsReader().outline(tmp_path / "a.xlsx").notes if n.kind == "totals-called"
    ]
    assert note.cells == "A4:B4"
    (tmp_path / "a.csv").write_text("item,paid\nTotal Care,10\nSum Mug,25\n")
    assert not DelimitedReader().outline(tmp_path / "a.csv").notes


# --- what is hidden or doubled


def test_hidden_rows_and_columns_percent_and_merged_cells_are_said_with_their_cells(
    tmp_path: Path,
) -> None:
    def change(sheet: Any) -> None:
        sheet.row_dimensions[3].hidden = True
        sheet.column_dimensions["B"].hidden = True
        sheet.merge_cells("A4:A5")
        for row in range(2, 6):
            sheet.cell(row, 3).number_format = "0.0%"

    rows = [
        ["who", "note", "share"],
        ["Ann", "x", 0.1],
        ["Bo", "y", 0.25],
        ["Cy", "z", 0.2],
        [None, "w", 0.3],
    ]
    (info,) = from_rows(tmp_path, rows, change)
    said = cells(info)
    assert said["hidden-rows"] == "A3:C3"
    assert said["hidden-columns"] == "B:B"
    assert said["percent"] == "C:C"
    assert said["merged-labels"] == "A4:A5"
    assert info.rows == 4


@pytest.mark.parametrize(
    ("formats", "kind", "text"),
    [
        (
            ["$#,##0", "[$€-407]#,##0", '#,##0 "GBP"', "[$€-40C]0"],
            "currency-mixed",
            "Numbers in column B are shown in different currencies ($, £, €): they do not add up.",
        ),
        (
            ["0%", "0.0%", "General", "0.00"],
            "percent",
            "2 of 4 numbers in column B are shown as percent, where 0.125 stands for 12.5%; the others are not.",
        ),
        (
            ["$#,##0", "0", "General", "[$USD] 0"],
            "currency",
            "Numbers in column B are shown with a currency sign, which is no part of the number.",
        ),
        (["[$-409]d-mmm-yy", "General", "General", "0"], "", ""),
        (
            ["#,##0.0,", "#,##0,", "#,##0", "0,.0"],
            "scaled",
            "Numbers in column B are shown divided by 1,000; the numbers themselves are not.",
        ),
        (
            ['0.0,,"M"', '#,##0,,;(#,##0,,);"-"', "0", "0"],
            "scaled",
            "Numbers in column B are shown divided by 1,000,000; the numbers themselves are not.",
        ),
        (
            ["00000", "00000", "000", "0"],
            "zeros-in-front",
            "Numbers in column B are shown with zeros in front, as codes are; the numbers have none.",
        ),
        (["#,##0", '0", "', "0", "0.00"], "", ""),
    ],
    ids=[
        *("currencies", "percent of some", "one currency", "a language alone", "thousands"),
        *("millions", "zeros in front", "plain"),
    ],
)
def test_column_that_mixes_how_its_numbers_are_shown_is_said(
    tmp_path: Path, formats: list[str], kind: str, text: str
) -> None:
    def change(sheet: Any) -> None:
        for row, number_format in enumerate(formats, 2):
            sheet.cell(row, 2).number_format = number_format

    rows = [["land", 2024], ["Oman", 1.25], ["Peru", 2.5], ["Chad", 25], ["Togo", 30]]
    (info,) = from_rows(tmp_path, rows, change)
    kinds = ("percent", "currency", "currency-mixed", "scaled", "zeros-in-front")
    found = {n.kind: n.text for n in info.notes if n.kind in kinds}
    assert found == ({kind: text} if kind else {})


def test_filtered_rows_are_read_and_said(tmp_path: Path) -> None:
    def change(sheet: Any) -> None:
        sheet.auto_filter.ref = "A1:B4"
        sheet.auto_filter.add_filter_column(0, ["Ann"])
        sheet.row_dimensions[3].hidden = sheet.row_dimensions[4].hidden = True

    (info,) = from_rows(tmp_path, [["who", "n"], ["Ann", 1], ["Bo", 2], ["Cy", 5]], change)
    assert cells(info)["filtered-rows"] == "A3:B4"
    assert info.rows == 3


def test_columns_that_are_sums_serial_dates_and_repeats_are_found(tmp_path: Path) -> None:
    head = ["order_id", "web", "shop", "all", "ship_date"]
    rows = [[100 + n, 3 * n + 1, n * n, n * n + 3 * n + 1, 45_000 + n] for n in range(12)]
    rows.append(list(rows[4]))
    rows[9][0] = rows[2][0]
    (info,) = from_rows(tmp_path, [head, *rows])
    said = cells(info)
    assert said["sum-columns"] == "D2:D14"
    assert said["date-serials"] == "E2:E14"
    assert said["duplicate-rows"] == "A14:E14"
    assert said["duplicate-keys"] == "A11"


def test_dates_in_several_orders_are_counted(tmp_path: Path) -> None:
    (info,) = from_rows(
        tmp_path,
        [["due"], *[[d] for d in ("13/02/2024", "2024-02-14", "03/04/2024", "25/02/2024")]],
    )
    (note,) = [n for n in info.notes if n.kind == "dates-mixed"]
    assert note.cells == "A2:A5"
    assert (
        "1 with the year first, 2 with the day before the month, 1 that can be read both ways"
        in note.text
    )


# --- workbooks made to harm


def test_two_hundred_sheets(tmp_path: Path) -> None:
    book = Workbook()
    book.remove(book.worksheets[0])
    for n in range(200):
        sheet = book.create_sheet(f"S{n}")
        for row in (["who", "n"], ["a", n + 3], ["b", n + 4], ["Total", 2 * n + 7]):
            sheet.append(row)
    book.save(tmp_path / "many.xlsx")
    infos = SheetsReader().tables(tmp_path / "many.xlsx", tmp_path)
    assert [(i.rows, dict(i.left_out)) for i in infos] == [(2, {"total": (4,)})] * 200


def test_a_sheet_of_formatted_empty_rows_holds_its_few_values(tmp_path: Path) -> None:
    (info,) = from_rows(
        tmp_path, [["who", "n"], ["a", 1], ["b", 2]], lambda sheet: _format_empty(sheet, 20_000)
    )
    assert (info.rows, info.place) == (2, "A1:B3")


def test_hidden_rows_are_those_of_the_table(tmp_path: Path) -> None:
    def hide(sheet: Any) -> None:
        for row in (3, *range(8, 4_000)):
            sheet.row_dimensions[row].hidden = True

    rows = [["who", "n"], *[[f"p{r}", r] for r in range(2, 10)]]
    (info,) = from_rows(tmp_path, rows, hide)
    assert [(n.count, n.cells) for n in info.notes if n.kind == "hidden-rows"] == [
        (3, "A3:B3, A8:B9")
    ]
    (note,) = [
        n for n in SheetsReader().outline(tmp_path / "a.xlsx").notes if n.kind == "hidden-rows"
    ]
    assert note.text == "3 rows are hidden in the sheet and read like all others."


def test_many_places_are_cut_and_counted(tmp_path: Path) -> None:
    text = "what,units\n" + "".join(
        f"a{n},{n + 3}\nb{n},{2 * n + 5}\nSubtotal {n},{3 * n + 8}\n" for n in range(30)
    )
    info = from_csv(tmp_path, text)
    assert dict(info.left_out_counts) == {"subtotal": 30}
    assert next(n.place for n in info.notes if n.kind == "subtotal-rows").endswith(
        "and 22 more places"
    )


def _format_empty(sheet: Any, rows: int) -> None:
    for row in range(4, rows):
        sheet.cell(row, 1).number_format = "0.00"


def test_formulas_alone_give_no_figures_and_say_so(tmp_path: Path) -> None:
    (info,) = from_rows(
        tmp_path,
        [
            ["who", "n", "x"],
            *[[f"p{r}", r, f"=B{r}*2"] for r in range(2, 5)],
            ["Total", 9, "=SUM(C2:C4)"],
        ],
    )
    assert cells(info)["no-cached-values"] == "C2, C3, C4, C5"
    assert dict(info.left_out) == {"total": (5,)}
    assert from_rows(tmp_path, [["who", "n"], ["a", "=1+1"], ["b", "=2+1"]]) == []
    assert [
        n.cells
        for n in SheetsReader().outline(tmp_path / "a.xlsx").notes
        if n.kind == "no-cached-values"
    ]


def test_merged_cells_everywhere_lose_nothing(tmp_path: Path) -> None:
    def change(sheet: Any) -> None:
        for row in range(2, 40, 2):
            sheet.merge_cells(start_row=row, start_column=1, end_row=row + 1, end_column=1)

    rows = [["who", "n"], *[[f"p{r}" if r % 2 == 0 else None, 5 * r + r % 7] for r in range(2, 42)]]
    (info,) = from_rows(tmp_path, rows, change)
    assert info.rows == 40
    assert next(n.count for n in info.notes if n.kind == "merged-labels") == 19


# --- queries


Opened = tuple[Tables, Callable[[str, str], ChatFile]]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    home = tmp_path_factory.mktemp("home")
    store, pool = open_store(Settings(home=home)), Pool(home)
    settle(store, SCOPE, "chat")

    def attach(name: str, text: str) -> ChatFile:
        data = text.encode()
        store.blobs.put(SCOPE.workspace_id, io.BytesIO(data), 1 << 30)
        sha256 = hashlib.sha256(data).hexdigest()
        now = datetime.now(UTC)
        file = File(
            sha256[:8],
            SCOPE.workspace_id,
            "user",
            name,
            "",
            "csv",
            len(data),
            sha256,
            "upload",
            "",
            {},
            now,
        )
        return ChatFile("chat", "f1", name.split(".")[0], file)

    yield Tables(store, pool, home), attach
    pool.close()
    store.close()


def test_a_query_sees_rows_of_data_and_the_whole_by_name(opened: Opened) -> None:
    tables, attach = opened
    files = [attach("sales.csv", SUBTOTALS), attach("plain.csv", "a,b\n1,2\n3,4\n")]

    def ask(sql: str) -> Any:
        return tables.queries.query(SCOPE, "chat", files, sql)

    result = ask("SELECT sum(amount), count(*) FROM sales")
    assert result.rows == [[45.5, 4]]
    assert result.data_only == ("sales",)
    assert result.tables[0].excluded == "2 left out as subtotals, 1 as a total"
    assert ask("SELECT * FROM sales").columns == ["region", "product", "qty", "amount"]
    assert ask("SELECT *, _row FROM sales WHERE product = 'B'").rows == [
        ["North", "B", 2, 20.0, 3],
        ["South", "B", 5, 8.0, 6],
    ]
    whole = ask("SELECT _kind, count(*) AS n FROM sales__all GROUP BY 1 ORDER BY 2 DESC")
    assert whole.rows == [["data", 4], ["subtotal", 2], ["total", 1]]
    assert (whole.data_only, [t.name for t in whole.tables]) == ((), ["sales"])
    assert ask("SELECT b, _row FROM plain").rows == [[2, 2], [4, 3]]
    assert ask("SELECT * FROM plain__all").rows == [[1, 2, 2, "data"], [3, 4, 3, "data"]]
    with pytest.raises(QueryError, match="_kind"):
        ask("SELECT * FROM sales WHERE _kind = 'total'")


def test_a_profile_counts_data_and_a_page_shows_everything(opened: Opened) -> None:
    tables, attach = opened
    (table,) = tables.of(SCOPE, [attach("sales.csv", SUBTOTALS)]).tables
    profile = tables.profiles.describe(SCOPE, table)
    assert (profile.rows, [c.name for c in profile.columns]) == (
        4,
        ["region", "product", "qty", "amount"],
    )
    page = tables.pages.page(SCOPE, table)
    assert page.columns[:2] == ["_row", "_kind"]
    assert (page.total, page.rows[2][:3]) == (7, [4, "subtotal", "North Total"])


def test_rows_shown_know_their_numbers_and_a_number_leads_to_its_row(opened: Opened) -> None:
    tables, attach = opened
    gaps = "a,b\nx,1\ny,2\n\n\nz,4\n"
    for text, numbers in (
        (SUBTOTALS, [2, 3, 4, 5, 6, 7, 8]),
        ("a,b\n1,2\n3,4\n", [2, 3]),
        (gaps, [2, 3, 6]),
    ):
        (table,) = tables.of(SCOPE, [attach("t.csv", text)]).tables
        assert list(tables.pages.page(SCOPE, table).numbers) == numbers
        assert list(tables.pages.page(SCOPE, table, RowsWanted(1, 1)).numbers) == numbers[1:2]
        assert [tables.pages.position(SCOPE, table, n) for n in numbers] == list(
            range(len(numbers))
        )
        assert (
            tables.pages.position(SCOPE, table, 1),
            tables.pages.position(SCOPE, table, 99),
        ) == (0, len(numbers) - 1)
    (table,) = tables.of(SCOPE, [attach("sales.csv", SUBTOTALS)]).tables
    assert tables.pages.page(
        SCOPE, table, RowsWanted(order_by="amount", descending=True)
    ).numbers == [8, 4, 3, 7, 2, 6, 5]


def test_a_result_that_keeps_row_numbers_knows_its_places(opened: Opened) -> None:
    tables, attach = opened
    files = [attach("sales.csv", SUBTOTALS)]
    result = tables.queries.query(
        SCOPE, "chat", files, "SELECT product, _row FROM sales WHERE amount > 9"
    )
    assert result.places == ("row 2", "row 3")
    assert tables.queries.query(SCOPE, "chat", files, "SELECT product FROM sales").places == ()
    (table,) = tables.of(SCOPE, files).tables
    sheet = replace(table, sheet="Q3 data", place="B4:F90")
    assert replace(result, tables=(sheet,)).places == ("sheet Q3 data!B2:F2", "sheet Q3 data!B3:F3")


def test_the_coverage_line_counts_what_was_left_out_as_not_read() -> None:
    scan = {"file_id": "1", "name": "sales.csv", "unit": "rows", "total": 8, "ranges": []}
    data = {**scan, "seen": 6, "excluded": "2 left out as totals"}
    everything = {**scan, "seen": 8, "excluded": ""}
    [merged] = merge_coverage([{"coverage": [data]}, {"coverage": [data]}])
    assert line({"files": [merged]}) == "6 of 8 rows; 2 left out as totals"
    assert in_words(merged) == "6 of 8 rows of sales.csv; 2 left out as totals"
    assert (
        line({"files": merge_coverage([{"coverage": [everything]}, {"coverage": [data]}])})
        == "8 of 8 rows"
    )


def test_words_of_a_long_table_are_found_among_its_few_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaf.readers.tabular.table_file.WHOLE_ROWS", 20)
    rows = "".join(f"r{n % 3},{n + 7}\n" for n in range(40))
    total = sum(n + 7 for n in range(40))
    for few in (100, 1):
        monkeypatch.setattr("leaf.readers.tabular.total_rows._FEW", few)
        assert dict(from_csv(tmp_path, f"what,n\n{rows}Total,{total}\n").left_out) == {
            "total": (42,)
        }


# --- what is proven, and what is only doubtful


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "game,year,na,eu\nAda,2001,1.2,0.4\nTotal Overdose: A "
            "Tale,2005,0.02,0.01\nBo,2003,2.1,0.7\n",
            id="a title",
        ),
        pytest.param(
            "team,code,w,l\nBoston,BOS,9,4\nMinnesota,MIN,2,1\nOakland,OAK,7,8\n",
            id="a code that is the least",
        ),
        pytest.param(
            "firm,sector,staff\nA,Media,3\nB,Energy,4\nC,Media,7\nD,Media,9\nE,Retail,2\n",
            id="a value of its column",
        ),
        pytest.param("last,first,visits\nKim,Min,3\nLee,Ann,4\nHarned,Max,7\n", id="first names"),
        pytest.param(
            "n,v\na,1\nb,1\nc,2\nd,3\ne,5\nf,8\ng,13\nh,21\n", id="each the sum of the two before"
        ),
        pytest.param("skill,points\nspeed,3\nforce,4\nmind,2\nOverall,9\n", id="one small number"),
        pytest.param("what,a,b\nx,0,0\ny,0,0\nTotal,0,0\n", id="zeros prove nothing"),
    ],
)
def test_a_word_or_one_number_is_no_proof(tmp_path: Path, text: str) -> None:
    info = from_csv(tmp_path, text)
    assert (info.left_out, info.rows) == ((), text.count("\n") - 1)


def test_a_country_that_equals_its_regions_and_their_states_is_named_with_them(
    tmp_path: Path,
) -> None:
    states = [613_871, 298_407, 801_233, 455_019, 120_987, 999_103, 345_671, 702_559]
    regions = [sum(states[i] for i in picked) for picked in ((0, 5), (1, 6), (2, 4), (3, 7))]
    rows = [["Atlantis", sum(states)], *[[f"Region {n}", v] for n, v in enumerate(regions)]]
    rows += [[f"State {n}", v] for n, v in enumerate(states)]
    info = from_csv(tmp_path, "area,people\n" + "".join(f"{a},{b}\n" for a, b in rows))
    assert info.rows == 13
    assert dict(info.doubtful) == {"total": (2,), "subtotal": (3, 4, 5, 6)}
    assert cells(info)["totals-doubtful"] == "rows 2-6"


@pytest.mark.parametrize(
    "word", ["Total¹", "T O T A L", "United States", "Total farm receipts", "Total......", "I alt"]
)
def test_more_words_are_totals_where_the_numbers_prove_it(tmp_path: Path, word: str) -> None:
    text = f"area,a,b\nx,61387,2901\ny,29840,7713\nz,80123,555\n{word},171350,11169\n"
    assert dict(from_csv(tmp_path, text).left_out) == {"total": (5,)}


COUNTRIES = """country,people,area
Germany,83200000,357
France,67500000,551
Italy,59000000,302
Spain,47400000,506
Total Europe,742000000,10180
Japan,125700000,378
China,1412000000,9597
India,1408000000,3287
Total Asia,4700000000,44579
Brazil,214000000,8510
United States,331900000,9834
Nigeria,213000000,924
World,7900000000,148940
"""


def test_totals_of_which_the_table_has_not_all_rows_are_doubted(tmp_path: Path) -> None:
    assert _named(tmp_path, COUNTRIES) == ([], ["Total Europe", "Total Asia", "World"])
    coded = "".join(f"{line},x\n" for line in COUNTRIES.splitlines())
    assert _named(tmp_path, coded) == ([], ["Total Europe", "Total Asia", "World"])


def test_a_country_beside_others_is_no_total_and_the_same_name_among_states_is(
    tmp_path: Path,
) -> None:
    text = "area,rate,index\nOhio,4.1,3\nUtah,5.5,7\nIowa,3.2,2\nUnited States,4.4,5\n"
    assert _named(tmp_path, text) == ([], ["United States"])
    for others in (("Canada", "Ohio", "Mexico"), (" japan ", "CHINA", "Utah")):
        named = text
        for state, other in zip(("Ohio", "Utah", "Iowa"), others, strict=True):
            named = named.replace(state, other)
        assert _named(tmp_path, named) == ([], [])


def test_rows_below_a_full_row_of_names_are_data(tmp_path: Path) -> None:
    rows = (
        "".join(f"19{n},Not Available,Not Available\n" for n in range(50, 62))
        + "1962,3.5,4.1\n1963,3.7,4.0\n1964,3.9,4.4\n"
    )
    info = from_csv(tmp_path, "Prices\n\nDate,City,Farm\n" + rows)
    assert (info.rows, info.columns[1]) == (15, ("City", "DOUBLE"))


def test_remarks_at_the_end_are_left_out_with_the_lines_that_go_on(tmp_path: Path) -> None:
    below = "Notes:,\n- Data include overtime.,\nSource: office,\nLast modified: 2010-03-31.,\n"
    info = from_csv(tmp_path, "what,units\na,3\nb,4\nc,9\n" + below)
    assert info.rows == 3
    assert cells(info)["footer"] == "rows 5-8"


def _named(folder: Path, text: str) -> tuple[list[str], list[str]]:
    """First cells of the rows that are left out, and of those that are named as doubtful."""
    info, lines = from_csv(folder, text), text.splitlines()
    return tuple(  # type: ignore[return-value]
        [lines[row - 1].split(",")[0] for row in sorted(r for _, rows in found for r in rows)]
        for found in (info.left_out, info.doubtful)
    )


@pytest.mark.parametrize(
    ("text", "left_out", "doubtful"),
    [
        (
            "Item,Q1,Q2,Q3\nRevenue,81233,90417,77129\nCost of goods,40121,43309,39777\nGross profit,41112,47108,37352\n"
            "Salaries,12011,12777,13009\nRent,4003,4003,4100\nTotal expenses,16014,16780,17109\nNet income,25098,30328,20243\n",
            ["Total expenses"],
            ["Revenue", "Gross profit", "Net income"],
        ),
        (
            "age,m,f\n0-19,30117,29033\n20-39,27741,28112\n40-54,19033,19877\n55-64,9011,9455\n65-74,6113,7007\n75+,3122,5011\n"
            "55 and over,18246,21473\n65 and over,9235,12018\n",
            [],
            ["55 and over", "65 and over"],
        ),
        (
            "houses,y1,y2,y3,y4\nFloor area,100,100,100,100\nsmall,21,19,33,7\nmiddle,41,52,37,64\nlarge,39,29,31,29\n"
            "Bathrooms,100,100,100,100\none,11,17,23,9\ntwo,61,44,58,67\nthree,28,39,18,24\n",
            [],
            ["Floor area", "Bathrooms"],
        ),
        ("year,x,y\n1990,512,871\n2000,777,1230\n2003,790,1300\nPercent change,54.3,49.3\n", [], ["Percent change"]),
        ("Group,Yes,No\nAll respondents,513,487\nMen,250,231\nWomen,263,256\n", ["All respondents"], []),
        ("a,b,c\nx,33.3,20.1\ny,33.3,19.9\nz,33.4,60.0\nTotal,100,100\n", ["Total"], []),
        ("a,b,c\nx,-317,22\ny,412,-871\nz,-18,44\nTotal,77,-805\n", ["Total"], []),
        ("a,b,c\nx,0,0\ny,0,0\nTotal,0,0\n", [], ["Total"]),
        ("pupil,maths,art\nAnn,100,100\nBo,51,48\nCy,49,53\nDi,88,70\nEd,33,71\n", [], []),
        ("firm,staff,revenue\nShell,812,90233\nTotal SA,644,70231\nBP,701,83107\nTotal Energies,512,66001\n", [], []),
        # most rows that are called totals are none: lines of a statement, not a level above others
        (
            "Line,a,b,c\nCash,4431,5012,6120\nInventories,1207,1344,1502\nPrepaid,310,402,377\n"
            "Total current assets,5948,6758,7999\nPlant,8120,8333,8401\nGoodwill,5400,5400,5400\nTotal assets,19022,20133,21544\n"
            "Payables,1811,1902,2044\nTotal payables,2144,2291,2466\nLoans,4100,4000,3900\nLeases,777,754,731\n"
            "Total liabilities,9911,10022,10377\n",
            [],
            ["Total current assets", "Total assets", "Total payables", "Total liabilities"],
        ),
        (  # one column agrees, three lie among the parts and do not
            "Provider,Million,Central,Local,Fund\nTotal,175371,41.3,28.4,13.5\nHospitals,68926,96.7,0.4,0.2\nNursing,30446,3.2,81.4,0.3\n"
            "Physicians,23935,1.5,35.8,40.9\nOther,52064,67.4,0.2,23.6\n",
            [],
            ["Total"],
        ),
        ("Indicator,Ontario number,Quebec number\nTotal - Transport,70123,41377\nCar,50111,30256\nBus,20012,11121\n",
         ["Total - Transport"], []),
        # a word that may be a name: the greatest near it, or the sum of the two above
        ("item,paid\nMug,10\nCup,25\nTotal Wine,64\nPen,8\n", [], ["Total Wine"]),
        ("area,n\nHill,301\nDale,442\nAll mountains,743\nMoor,193\nFen,278\n", [], ["All mountains"]),
        # beside names, where one of two adds up
        ("who,what,n\nAnn,x,31\nBo,y,44\nCy,Total,75\nDi,x,13\nEd,y,29\nFy,Total,50\nGo,x,8\n", [], ["Cy"]),
        ("what,n\nA,3\nTotal,9\n", [], ["Total"]),
        # one column adds up, the other does not: with a name beside the word, or far from the sum
        ("area,a,b\nHill,61387,2901\nDale,29840,7713\nCountry total,91227,9999\n", [], ["Country total"]),
        ("area,a,b\nHill,61387,2901\nDale,29840,7713\nTotal,91227,99999\n", [], ["Total"]),
    ],
)  # fmt: skip
def test_statements_and_reports_leave_out_what_is_proven_and_name_the_rest(
    tmp_path: Path, text: str, left_out: list[str], doubtful: list[str]
) -> None:
    assert _named(tmp_path, text) == (left_out, doubtful)


_MONTHS = (
    "what,n\nJan,1091\nFeb,1160\nMar,955\nQ1,3206\nApr,1588\nMay,1255\nJun,1340\nQ2,4183\nJul,1008\nAug,942\nSep,918\n"
    "Q3,2868\nOct,870\nNov,1261\nDec,1412\nQ4,3543\n"
)
_PIVOT = "what,n\nEast,5091\nA,1957\nB,3134\nWest,2816\nA,1134\nB,1682\nSouth,2018\nA,797\nB,1221\n"


@pytest.mark.parametrize(
    ("text", "left_out", "doubtful"),
    [
        # a plain total that is right for their parts alone proves them
        (f"{_PIVOT}Grand Total,9925\n", ["East", "West", "South", "Grand Total"], []),
        ("what,n\nN,100\nN,250\nN Result,350\nS,70\nS,31\nS Result,101\nGesamtergebnis,451\n",
         ["N Result", "S Result", "Gesamtergebnis"], []),
        ("what,n\nGross,1000.40\nDiscount,-100.10\nNet,900.30\nVAT,171.06\nTotal,1071.36\n", ["Net", "Total"], []),
        # with a word that is not alone, and without one, they are named
        ("what,n\nAll regions,9925\n" + _PIVOT[7:], [], ["All regions", "East", "West", "South"]),
        (f"{_MONTHS}FY,13800\n", [], ["Q1", "Q2", "Q3", "Q4", "FY"]),
        (_MONTHS, [], ["Q1", "Q2", "Q3", "Q4"]),
        (_PIVOT, [], ["East", "West", "South"]),
        ("what,n\nLand,9925\n" + _PIVOT[7:], [], ["Land", "East", "West", "South"]),
        ("land,n\nLand,54269\nA,2117\nB,15760\nC,9789\nD,17602\nE,9001\n", [], ["Land"]),
        # a row that is left over, numbers that say little, and a running total
        (f"{_MONTHS}other,977\n", [], []),
        ("what,n\na,100\nb,200\nc,300\nd,300\ne,400\nf,700\n", [], []),
        ("what,n\na,1\nb,1\nc,2\nd,3\ne,5\nf,8\ng,13\n", [], []),
    ],
)  # fmt: skip
def test_sums_that_leave_no_row_over_prove_each_other(
    tmp_path: Path, text: str, left_out: list[str], doubtful: list[str]
) -> None:
    assert _named(tmp_path, text) == (left_out, doubtful)


def test_a_total_that_its_rows_give_twice_is_not_called_wrong(tmp_path: Path) -> None:
    text = "what,n\nA,3001\nB,4000\nA and C,5001\nC,2000\nB again,4000\nTotal,9001\n"
    said = cells(from_csv(tmp_path, text))
    assert "totals-differ" not in said
    assert "totals-doubtful" in said


@pytest.mark.parametrize(
    "text", ["Total holdings", "Total - place of birth", "Country mean", "Total: all"]
)
def test_labels_of_several_words_are_told_from_names(text: str) -> None:
    label = label_of(text)
    assert label is not None
    assert is_said(label)


@pytest.mark.parametrize(
    "text",
    ["Total Overdose", "Total Wine", "Average Joe", "Optical media", "Total number of firms"],
)
def test_names_are_told_from_labels(text: str) -> None:
    label = label_of(text)
    assert label is None or not is_said(label)


def test_sums_of_sums_among_their_own_columns_are_found(tmp_path: Path) -> None:
    rows = [["branch", "Q1", "Q2", "H1", "Q3", "Q4", "H2", "Year"]]
    for n in range(1, 7):
        quarters = [7 * n, n * n, 3 * n + 1, 40 - n]
        halves = quarters[0] + quarters[1], quarters[2] + quarters[3]
        rows.append([f"B{n}", *quarters[:2], halves[0], *quarters[2:], halves[1], sum(halves)])
    (info,) = from_rows(tmp_path, rows)
    texts = [note.text for note in info.notes if note.kind == "sum-columns"]
    assert texts == [
        "'H1' is the sum of Q1, Q2: adding them all counts twice.",
        "'H2' is the sum of Q3, Q4: adding them all counts twice.",
        "'Year' is the sum of H1, H2: adding them all counts twice.",
    ]


def test_a_row_of_shares_below_a_total_is_named_and_no_unit_is_called_a_total(
    tmp_path: Path,
) -> None:
    rows = "answer,men,women\nyes,10,20\nno,30,40\nTotal,40,60\n%,0.4,0.6\n"
    info = from_csv(tmp_path, rows)
    assert info.doubtful == (("summary", (5,)),)
    (tmp_path / "units.csv").write_text("unit,count\nkg,3\n%,5\nm,4\n", encoding="utf-8")
    assert not DelimitedReader().outline(tmp_path / "units.csv").notes


def test_a_unit_beside_names_is_no_word_for_shares(tmp_path: Path) -> None:
    rows = (
        "status,unit,men 1980,men 1990,women 1980,women 1990\n"
        "Total,Million,86.9,96.9,95.0,104.9\n"
        "Never married,Million,22.4,26.1,17.9,22.1\n"
        "Married,Million,55.8,59.6,56.7,60.4\n"
        "Widowed,Million,2.3,2.3,11.5,11.5\n"
        "Divorced,Million,6.3,8.5,8.8,11.3\n"
        ",,,,,\n"
        "Percent of total,Percent,100.0,100.0,100.0,100.0\n"
        "Never married,Percent,25.8,27.0,18.9,21.1\n"
        "Married,Percent,64.3,61.5,59.7,57.6\n"
        "Widowed,Percent,2.7,2.7,12.1,10.5\n"
        "Divorced,Percent,7.2,8.8,9.3,10.8\n"
    )
    assert from_csv(tmp_path, rows).left_out == (("subtotal", (8,)),)


def test_inner_labels_of_a_pivot_table_are_named_as_well(tmp_path: Path) -> None:
    rows = (
        "region,year,kind,shop,sales\nNorth,2022,A,N1,5\n,,,N2,7\n,2023,A,N1,6\n,,B,N2,9\n"
        "South,2022,A,S1,4\n,,,S2,8\n,2023,B,S1,3\n,,,S2,1\n"
    )
    texts = [n.text for n in from_csv(tmp_path, rows).notes if n.kind == "labels-once"]
    assert [text.partition(" ")[0] for text in texts] == ["'region'", "'year'", "'kind'"]
    assert texts[1].startswith("'year' is empty in 4 rows below one with a value")


def test_numbers_as_small_as_what_is_rounded_off_are_no_sums(tmp_path: Path) -> None:
    rows = [["hour", "rain", "fine", "coarse"]]
    rows += [[n, n % 50 == 0, (n % 7 + 1) / 1e5, (n % 5 + 2) / 1e5] for n in range(200)]
    (info,) = from_rows(tmp_path, [rows[0], *([a, int(b), c, d] for a, b, c, d in rows[1:])])
    assert [note.text for note in info.notes if note.kind == "sum-columns"] == []


def test_sums_of_zeros_alone_are_no_sums(tmp_path: Path) -> None:
    rows = [["id", "repair", "other", "total"]]
    rows += [[n, 0, 0, 0] for n in range(300)]
    rows += [[300 + n, n * 7, n + 3, n * 8 + 3] for n in range(1, 5)]
    (info,) = from_rows(tmp_path, rows)
    texts = [note.text for note in info.notes if note.kind == "sum-columns"]
    assert texts == ["'total' is the sum of repair, other: adding them all counts twice."]

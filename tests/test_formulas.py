"""Formulas of a workbook that add up cells of their own column: they prove a total that neither a
word nor the digits prove, and nothing else."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from xml.sax.saxutils import escape
from zipfile import ZipFile

import numpy as np
import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular import biff
from leaf.readers.tabular.cells import column_letter
from leaf.readers.tabular.formulas import (
    MOST,
    RowSum,
    SumFormula,
    confirmed,
    in_xml,
    of_spans,
    parse,
    within,
)
from leaf.readers.tabular.hidden import Formats
from leaf.readers.tabular.sheet_parts import SheetSearch
from leaf.readers.tabular.sheets import SheetsReader
from leaf.readers.tabular.spans import MOST_BITS, SumSpan
from tests.workbooks_kit import ods

Value = str | float | tuple[str, float] | None
"""A cell: its value, or a formula and the value that it was saved with."""
NUMBERS = [7, 12, 9, 31, 5, 18, 22, 4, 16, 11]
SALES: list[list[Value]] = [["product", "sold"], *([f"p{n}", n] for n in NUMBERS)]
POI = "foreign/poi/spreadsheet"


def sheet_xml(rows: Sequence[Sequence[Value]], prefix: str = "") -> str:
    def cell(address: str, value: Value) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            return (
                f'<{prefix}c r="{address}" t="inlineStr"><{prefix}is><{prefix}t>{escape(value)}'
                f"</{prefix}t></{prefix}is></{prefix}c>"
            )
        formula, number = value if isinstance(value, tuple) else ("", value)
        said = f"<{prefix}f>{escape(formula)}</{prefix}f>" if formula else ""
        return f'<{prefix}c r="{address}">{said}<{prefix}v>{number}</{prefix}v></{prefix}c>'

    body = "".join(
        f'<{prefix}row r="{n}">'
        + "".join(cell(f"{column_letter(c)}{n}", value) for c, value in enumerate(row))
        + f"</{prefix}row>"
        for n, row in enumerate(rows, 1)
    )
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    name = f"xmlns:{prefix[:-1]}" if prefix else "xmlns"
    return (
        f'<{prefix}worksheet {name}="{space}"><{prefix}sheetData>{body}</{prefix}sheetData>'
        f"</{prefix}worksheet>"
    )


def xlsx(path: Path, xml: str) -> Path:
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packed = "http://schemas.openxmlformats.org/package/2006"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    part = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    with ZipFile(path, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{packed}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{part}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{part}.worksheet+xml"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{packed}/relationships"><Relationship Id="r1" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{packed}/relationships"><Relationship Id="r1" '
            f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        archive.writestr("xl/worksheets/sheet1.xml", xml)
    return path


def table(folder: Path, rows: Sequence[Sequence[Value]], prefix: str = "") -> TableInfo:
    (info,) = SheetsReader().tables(xlsx(folder / "b.xlsx", sheet_xml(rows, prefix)), folder)
    return info


def judged(folder: Path, rows: Sequence[Sequence[Value]]) -> tuple[dict[str, tuple[int, ...]], ...]:
    """What is left out, and what is kept and named as doubtful."""
    info = table(folder, rows)
    return dict(info.left_out), dict(info.doubtful)


@pytest.mark.parametrize(
    "formula",
    [
        "SUM(B2:B11)",
        "SUM($B$2:$B$11)",
        "SUM(B1:B11)",
        "SUBTOTAL(9,B2:B11)",
        "SUBTOTAL(109,Table1[sold])",
        "SUBTOTAL(109, [sold])",
        "_xlfn.AGGREGATE(9,5,B2:B11)",
        "SUM(B2:B6,B7:B11)",
        "SUM(B2:B6,B7,B8:B11)",
        "+".join(f"B{n}" for n in range(2, 12)),
    ],
)
@pytest.mark.parametrize("prefix", ["", "x:"])
def test_a_sum_without_a_name_is_left_out_where_its_formula_says_so(
    tmp_path: Path, formula: str, prefix: str
) -> None:
    info = table(tmp_path, [*SALES, [None, (formula, sum(NUMBERS))]], prefix)
    assert (dict(info.left_out), dict(info.doubtful)) == ({"total": (12,)}, {})


def test_without_a_formula_the_same_row_is_named_at_least(tmp_path: Path) -> None:
    assert judged(tmp_path, [*SALES, [None, sum(NUMBERS)]])[1] == {"subtotal": (12,)}


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("SUBTOTAL(1,B2:B11)", 13.5),
        ("AVERAGE(B2:B11)", 13.5),
        ("SUM(B2:B11)/10", 13.5),
        ("SUM(B2:B11)", 40.0),  # of what its cells were before
        ("SUM(C2:C11)", 13.5),
        ("SUM(Other!B2:B11)", 13.5),
        ("SUM(B2:C2)", 7.0),
        ("SUM(B11)", 11.0),
        ("B11", 11.0),
        ("SUM(B40:B50)", 13.5),
        ("SUM(B2:B11", 135.5),
        ("SUM(Table1[[#This Row],[sold]])", 13.5),
    ],
)
def test_a_formula_that_is_no_sum_of_these_rows_proves_nothing(
    tmp_path: Path, formula: str, value: float
) -> None:
    assert judged(tmp_path, [*SALES, [None, (formula, value)]]) == ({}, {})


def test_sums_across_and_running_sums_are_no_totals(tmp_path: Path) -> None:
    rows: list[list[Value]] = [["product", "may", "june", "both", "so far"]]
    total = 0
    for at, n in enumerate(NUMBERS, 2):
        total += 3 * n
        rows.append([f"p{n}", n, 2 * n, (f"SUM(B{at}:C{at})", 3 * n), (f"SUM($D$2:D{at})", total)])
    assert judged(tmp_path, rows) == ({}, {})


def test_groups_and_their_total_are_all_left_out(tmp_path: Path) -> None:
    rows: list[list[Value]] = [
        ["product", "sold"],
        ["a", 3],
        ["b", 4],
        [None, ("SUBTOTAL(9,B2:B3)", 7)],
        ["c", 1],
        ["d", 2],
        [None, ("SUBTOTAL(9,B5:B6)", 3)],
        [None, ("SUBTOTAL(9,B2:B7)", 10)],
    ]
    assert judged(tmp_path, rows) == ({"subtotal": (4, 7), "total": (8,)}, {})
    rows[-1] = [None, ("B4+B7", 10)]
    assert judged(tmp_path, rows) == ({"subtotal": (4, 7), "total": (8,)}, {})
    rows[-1] = [
        None,
        ("SUM(B2:B7)", 20),
    ]  # the file counts twice; it is no row of data all the same
    assert judged(tmp_path, rows)[0] == {"subtotal": (4, 7), "total": (8,)}


def test_a_word_is_proven_where_other_rows_stand_between(tmp_path: Path) -> None:
    """The digits prove nothing: a row that is no part of it stands below the parts."""
    rows = [*SALES, ["p99", 50], ["Total", ("SUM(B2:B11)", sum(NUMBERS))]]
    assert judged(tmp_path, rows) == ({"total": (13,)}, {})
    rows[-1] = ["Total", sum(NUMBERS)]
    assert judged(tmp_path, rows) == ({}, {"total": (13,)})


def test_a_row_with_a_name_of_its_own_is_kept_and_said(tmp_path: Path) -> None:
    rows: list[list[Value]] = [
        ["place", "n"],
        ["Europe", ("SUM(B3:B4)", 5)],
        ["France", 2],
        ["Spain", 3],
        ["Asia", ("SUM(B6:B7)", 9)],
        ["India", 4],
        ["Japan", 5],
    ]
    assert judged(tmp_path, rows) == ({}, {"subtotal": (2, 5)})


def test_a_name_is_no_row_of_data_where_the_total_counts_it_in_place_of_its_rows(
    tmp_path: Path,
) -> None:
    rows: list[list[Value]] = [
        ["place", "n"],
        ["Europe", ("SUM(B3:B4)", 5)],
        ["France", 2],
        ["Spain", 3],
        ["Peru", 4],
        ["Total", ("B2+B5", 9)],
    ]
    assert judged(tmp_path, rows) == ({"subtotal": (2,), "total": (6,)}, {})
    rows[-1] = ["Total", ("SUM(B2:B5)", 14)]  # it counts twice itself, so it says nothing of them
    assert judged(tmp_path, rows) == ({"total": (6,)}, {"subtotal": (2,)})
    rows[-1:] = [["Chile", 4], ["Total", ("B2+B5", 9)]]  # a row is left over
    assert judged(tmp_path, rows) == ({"total": (7,)}, {"subtotal": (2,)})


def test_a_number_beside_a_sum_that_its_rows_do_not_give_is_said(tmp_path: Path) -> None:
    rows: list[list[Value]] = [["place", "n", "paid"]]
    rows += [[f"p{n}", n, 10 * n] for n in NUMBERS]
    info = table(tmp_path, [*rows, ["Total", ("SUM(B2:B11)", sum(NUMBERS)), 1400]])
    assert dict(info.left_out) == {"total": (12,)}
    (said,) = [note for note in info.notes if note.kind == "totals-differ"]
    assert said.cells == "C12"
    assert "1,400" in said.text
    assert "1,350" in said.text


def test_many_sums_of_many_rows_take_no_longer_than_they_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [*SALES, [None, ("SUM(B2:B11)", sum(NUMBERS))]]
    monkeypatch.setattr("leaf.readers.tabular.formulas._MOST_ADDED", 10)
    assert judged(tmp_path, rows) == ({"total": (12,)}, {})
    monkeypatch.setattr("leaf.readers.tabular.formulas._MOST_ADDED", 9)
    assert judged(tmp_path, rows) == ({}, {"subtotal": (12,)})


def test_sums_of_nothing_prove_nothing(tmp_path: Path) -> None:
    rows: list[list[Value]] = [["product", "sold"], ["a", 0], ["b", 0], ["c", 0]]
    assert judged(tmp_path, [*rows, [None, ("SUM(B2:B4)", 0)]]) == ({}, {})


def test_a_table_of_numbers_alone_ends_with_its_sum(tmp_path: Path) -> None:
    rows: list[list[Value]] = [["may", "june"], [3, 4], [5, 1], [2, 2]]
    assert judged(tmp_path, [*rows, [("SUM(A2:A4)", 10), ("SUM(B2:B4)", 7)]]) == (
        {"total": (5,)},
        {},
    )


def test_a_sheet_in_pieces_gives_the_same_sums(tmp_path: Path) -> None:
    xml = sheet_xml([*SALES, [None, ("SUM(B2:B11)", sum(NUMBERS))]]).encode()
    for size in (300, 301, 350, len(xml)):
        search = SheetSearch(tmp_path / "b.xlsx", "S", Formats(), whole=True)
        for at in range(0, len(xml), size):
            search.add(xml[at : at + size])
        assert search.found().sums == {12: [SumFormula(1, ((2, 11),))]}


def test_more_sums_than_a_table_has_totals_are_none(tmp_path: Path) -> None:
    cell = '<c r="B{0}"><f>SUM(B{1}:B{2})</f><v>1</v></c>'
    xml = "".join(cell.format(n, n + 1, n + 2) for n in range(1, MOST + 5_000))
    search = SheetSearch(tmp_path / "b.xlsx", "S", Formats(), whole=False)
    for at in range(0, len(xml), 50_000):
        search.add(xml[at : at + 50_000].encode())
    assert len(search.found().sums) < MOST + 5_000


def test_an_endless_tag_is_gone_through_once(tmp_path: Path) -> None:
    search = SheetSearch(tmp_path / "b.xlsx", "S", Formats(), whole=False)
    search.add(b"<worksheet><f>" + b"<c r=" * 200_000)
    search.add(b"<f>SUM(A1:A2)</f>" * 50_000)
    assert search.found().sums == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SUM(B2:B3)", SumFormula(1, ((2, 3),))),
        ("SUBTOTAL(9;B2:B3)", SumFormula(1, ((2, 3),), skips=True)),
        ("SUM(C4+C9)", None),
        ("+B2+B3", SumFormula(1, ((2, 2), (3, 3)))),
        ("SUM(B2+B3)", SumFormula(1, ((2, 2), (3, 3)))),
        ("SUM(B2:B5,7)", None),
        ("SUM(B9:B11)", None),  # of itself
        ("SUM(C2:B3)", None),
        ("SUM(B2:C3)", None),
        ("SUM(Table1[sold])", SumFormula(1, ())),
        ("SUM(Table1[sold],B2:B3)", None),
        ("SUM(Table1[sold],Table1[left])", None),
        ("SUBTOTAL(109,[sold])", SumFormula(1, (), skips=True)),
        ("SUBTOTAL(9,B2:B3,B5)", SumFormula(1, ((2, 3), (5, 5)), skips=True)),
        ("SUBTOTAL(4,B2:B3)", None),
        ("SUBTOTAL(9)", None),
        ("AGGREGATE(9,5,B2:B3,B5)", SumFormula(1, ((2, 3), (5, 5)), skips=True)),
        ("AGGREGATE(109,5,B2:B3)", None),
        ("AGGREGATE(9,5)", None),
        ("SUM()", None),
        ("", None),
    ],
)
def test_what_a_formula_adds_up(text: str, found: SumFormula | None) -> None:
    assert parse(text, 10, 1) == found


@pytest.mark.parametrize(
    ("spans", "sums"),
    [
        ([(2, 3)], True),
        ([(2, 2), (5, 5)], True),
        ([(11, 12)], True),
        ([(2, 2)], False),  # one cell
        ([], False),
        ([(8, 10)], False),  # its own is among them
        ([(10, 12)], False),
        ([(2, 3), (9, 11)], False),
    ],
)
def test_a_sum_is_of_two_other_cells_at_least(spans: list[tuple[int, int]], sums: bool) -> None:
    assert of_spans(spans, 10, 1) == (SumFormula(1, tuple(spans)) if sums else None)


@pytest.mark.parametrize("prefix", [b"<", b"<x:"])
def test_the_cell_of_a_formula_is_looked_for_a_thousand_bytes_before_it(prefix: bytes) -> None:
    def cell(before: int, away: int) -> bytes:
        begin = prefix + b'c r="B9"'
        filled = b" " * before + begin + b" " * (away - len(begin) - 1) + b">"
        return filled + prefix + b"f>SUM(B2:B3)</"

    found = [(9, SumFormula(1, ((2, 3),)))]
    assert list(in_xml(cell(0, 50), prefix)) == found
    assert list(in_xml(cell(7, 1_000), prefix)) == found
    assert list(in_xml(cell(7, 1_001), prefix)) == []
    assert list(in_xml(prefix + b"f>SUM(B2:B3)</" + cell(0, 50), prefix)) == found


BODY = [4, 5, 6, 8, 9, 12]
"""Rows of a sheet, 0-based, that a table's rows stand in."""


@pytest.mark.parametrize(
    ("row", "formula", "found"),
    [
        (13, SumFormula(3, ((5, 7),)), (5, RowSum(1, range(3), False))),
        (13, SumFormula(3, ((6, 10),), skips=True), (5, RowSum(1, range(1, 5), True))),
        (13, SumFormula(3, ((5, 5), (9, 9))), (5, RowSum(1, (0, 3), False))),
        (5, SumFormula(2, ((6, 20),)), (0, RowSum(0, range(1, 6), False))),
        (9, SumFormula(2, (), skips=True), (3, RowSum(0, range(3), True))),  # all above it
        (13, SumFormula(3, ((6, 7), (20, 21))), None),  # some stand outside of the table
        (13, SumFormula(3, ((1, 5),)), None),  # one row of it
        (6, SumFormula(3, ()), None),
        (7, SumFormula(3, ()), (2, RowSum(1, range(2), False))),
        (13, SumFormula(4, ((5, 7),)), None),  # no column of it
        (8, SumFormula(3, ((5, 7),)), None),  # no row of it: between, above, below
        (4, SumFormula(3, ((5, 7),)), None),
        (14, SumFormula(3, ((5, 7),)), None),
    ],
)
def test_a_sum_of_a_sheet_is_one_of_a_table_where_all_of_it_stands_there(
    row: int, formula: SumFormula, found: tuple[int, RowSum] | None
) -> None:
    assert within({row: [formula]}, BODY, [2, 3]) == ({found[0]: [found[1]]} if found else {})


def test_sums_of_a_row_stay_together_and_too_many_are_none() -> None:
    one, other = SumFormula(2, ((5, 7),)), SumFormula(3, ((5, 7),))
    both = [RowSum(0, range(3), False), RowSum(1, range(3), False)]
    assert within({13: [one, other]}, BODY, [2, 3]) == {5: both}
    assert within({}, BODY, [2, 3]) == {}
    elsewhere = {row: [one] for row in range(1_000, 1_000 + MOST - 1)}
    assert within({**elsewhere, 13: [one]}, BODY, [2, 3]) == {5: both[:1]}
    assert within({**elsewhere, 13: [one], 14: [one]}, BODY, [2, 3]) == {}


def confirmed_sum(row: int, parts: range | tuple[int, ...], agree: tuple[int, ...]) -> SumSpan:
    first, last = min(row, parts[0]), max(row, parts[-1])
    return SumSpan(row, first, last, parts, agree, (), 0, MOST_BITS, near=True, whole=False)


VALUES = np.array([[3, 10], [4, 20], [7, 30], [5, np.nan], [12, 41], [24, 90], [0, 0.0]])


@pytest.mark.parametrize(
    ("sums", "found"),
    [
        ({2: [RowSum(7, (0, 1), False)]}, {2: confirmed_sum(2, range(2), (0,))}),
        (
            {2: [RowSum(7, range(2), False), RowSum(9, range(2), False)]},
            {2: confirmed_sum(2, range(2), (0, 1))},
        ),
        ({4: [RowSum(7, (3, 2), False)]}, {4: confirmed_sum(4, range(2, 4), (0,))}),
        ({0: [RowSum(7, (1, 2), False)]}, {}),
        ({4: [RowSum(9, (0, 2), False)]}, {}),  # off by one in forty
        ({6: [RowSum(7, range(4), False)]}, {}),
        ({6: [RowSum(9, range(4), False), RowSum(7, (3, 4), False)]}, {}),  # zeros say nothing
        ({3: [RowSum(9, range(2), False)]}, {}),  # an empty cell
        ({2: [RowSum(8, range(2), False)]}, {}),  # of a column that is not looked at
        # the column that has most parts says which they are, and one part is no sum
        (
            {5: [RowSum(7, (4, 2, 3), False), RowSum(9, (0, 1, 2, 3), False)]},
            {5: confirmed_sum(5, range(2, 5), (0,))},
        ),
        ({4: [RowSum(7, (0, 1, 3), False)]}, {4: confirmed_sum(4, (0, 1, 3), (0,))}),
        # sums that such a sum leaves out
        (
            {2: [RowSum(7, range(2), True)], 4: [RowSum(7, range(4), True)]},
            {
                2: confirmed_sum(2, range(2), (0,)),
                4: confirmed_sum(4, (0, 1, 3), (0,)),
            },
        ),
        (
            {2: [RowSum(7, range(2), False)], 4: [RowSum(7, range(4), True)]},
            {2: confirmed_sum(2, range(2), (0,))},
        ),
        ({2: [RowSum(7, (2, 3, 4), True)], 4: [RowSum(7, (4, 2), True)]}, {}),
    ],
)
def test_a_formula_is_believed_where_its_rows_give_its_number(
    sums: dict[int, list[RowSum]], found: dict[int, SumSpan]
) -> None:
    assert confirmed(sums, VALUES, [7, 9]) == found


def test_a_sum_that_leaves_out_all_but_one_row_is_none() -> None:
    sums = {2: [RowSum(0, range(2), True)], 3: [RowSum(0, (1, 2), True)]}
    values = np.array([[3.0], [4], [7], [4]])
    assert confirmed(sums, values, [0]) == {2: confirmed_sum(2, range(2), (0,))}


def test_sums_of_more_cells_than_are_looked_at_are_none() -> None:
    many = RowSum(7, range(30_000_001), False)
    assert confirmed({2: [many]}, VALUES, [7, 9]) == {}


def test_sums_of_an_ods_are_known_by_their_formulas(tmp_path: Path) -> None:
    def row(name: str, number: int, formula: str = "") -> str:
        said = f' table:formula="of:={formula}"' if formula else ""
        text = (
            f'<table:table-cell office:value-type="string"><text:p>{name}</text:p></table:table-cell>'
            if name
            else "<table:table-cell/>"
        )
        return (
            f'<table:table-row>{text}<table:table-cell office:value-type="float"{said} '
            f'office:value="{number}"><text:p>{number}</text:p></table:table-cell></table:table-row>'
        )

    names = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{name}</text:p></table:table-cell>'
        for name in ("product", "sold")
    )
    for formula in ("SUM([.B2:.B11])", "SUBTOTAL(9;[.B2:.B11])", "SUM([.B2:.B6];[.B7:.B11])"):
        rows = "".join(row(f"p{n}", n) for n in NUMBERS) + row("", sum(NUMBERS), formula)
        path = ods(tmp_path / "a.ods", f"<table:table-row>{names}</table:table-row>{rows}")
        (info,) = SheetsReader().tables(path, tmp_path)
        assert (dict(info.left_out), dict(info.doubtful)) == ({"total": (12,)}, {})


# --- files that nobody here made


def test_totals_of_real_workbooks_are_proven_by_their_formulas(
    real_data: Path, tmp_path: Path
) -> None:
    """`Grand Total` of Pareto stands below a blank row, and beside rates; row 6 of the gas report is
    the sum of all below, under a name that says something else."""
    tables = SheetsReader().tables(real_data / POI / "34775.xls", tmp_path)
    assert [dict(info.left_out) for info in tables if info.sheet.startswith("Pareto")] == [
        {"total": (14,)},
        {"subtotal": (14,)},
    ]
    tables = SheetsReader().tables(real_data / "mixed_gas_report.xls", tmp_path)
    (report,) = [info for info in tables if info.sheet == "December 2013"]
    assert (dict(report.left_out), dict(report.doubtful)) == ({}, {"subtotal": (6,)})


def test_a_workbook_is_judged_alike_in_both_formats(real_data: Path, tmp_path: Path) -> None:
    old, new = (
        [
            (info.sheet, info.left_out, info.doubtful)
            for info in SheetsReader().tables(real_data / POI / name, tmp_path)
        ]
        for name in ("45538_classic_Footer.xls", "45540_classic_Footer.xlsx")
    )
    assert old == new
    assert any(left for _, left, _ in old)


def test_of_formulas_that_very_many_cells_are_said_to_share_some_are_gone_through() -> None:
    tokens = b"\x25" + struct.pack("<HHHH", 1, 2, 0, 0) + b"\x05"  # B2:B3 * …
    shared = struct.pack("<HHBBHH", 0, 4_999, 0, 0, 0, len(tokens)) + tokens
    record = struct.pack("<HH", 0x4BC, len(shared)) + shared
    calls = 0

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_name == "_summed"

    sys.setprofile(count)
    try:
        assert biff._sheet_sums(record * 50 + struct.pack("<HH", 0x0A, 0), 0) == {}
    finally:
        sys.setprofile(None)
    assert 0 < calls <= MOST

"""Tables out of spreadsheets: workbooks made here, and third-party ones whose truth was looked up
by hand."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from openpyxl import Workbook

from leaf.errors import EncryptedFileError, FileTooLargeError, NotFoundError, UnreadableFileError
from leaf.readers.base import TableInfo, Where
from leaf.readers.tabular.sheets import SheetsReader


def make(path: Path, fill: Callable[[Any], None]) -> Path:
    book = Workbook()
    fill(book)
    book.save(path)
    return path


def load(path: Path, out: Path) -> list[tuple[TableInfo, list[tuple[Any, ...]]]]:
    infos = SheetsReader().tables(path, out)
    return [
        (i, duckdb.connect().execute(f"SELECT * FROM read_parquet('{out / i.parquet}')").fetchall())
        for i in infos
    ]


def notes_of(info: TableInfo) -> dict[str, str]:
    return {n.kind: f"{n.text} {n.place}" for n in info.notes}


def grid(*rows: list[Any]) -> Callable[[Any], None]:
    def fill(book: Any) -> None:
        for row in rows:
            book.active.append(row)

    return fill


def test_cells_keep_their_types(tmp_path: Path) -> None:
    rows = [[1, "007", 2.5, date(2024, 1, 31), True], [2, "012", 3.0, date(2023, 12, 5), False]]
    path = make(tmp_path / "b.xlsx", grid(["id", "code", "amount", "day", "paid"], *rows))
    ((info, stored),) = load(path, tmp_path / "out")
    assert [kind for _, kind in info.columns] == ["BIGINT", "VARCHAR", "DOUBLE", "DATE", "BOOLEAN"]
    assert stored == [tuple(row) for row in rows]
    assert (info.place, info.sheet, info.notes) == ("A1:E3", "Sheet", ())


def test_table_below_title_rows_and_away_from_the_corner_is_found(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        book.active["B2"] = "Sales by city"
        for n, row in enumerate(
            [["city", "units", "amount"], ["Graz", 5, 2.5], ["Oslo", 6, 3.5], ["Rome", 7, 4.5]]
        ):
            for m, value in enumerate(row):
                book.active.cell(5 + n, 3 + m, value)
        book.active["C10"] = "Source: own survey"

    ((info, rows),) = load(make(tmp_path / "b.xlsx", fill), tmp_path / "out")
    assert info.place == "C5:E8"
    assert rows == [("Graz", 5, 2.5), ("Oslo", 6, 3.5), ("Rome", 7, 4.5)]
    assert {"preamble", "footer"} <= set(notes_of(info))


def test_merged_header_gives_joined_names(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        grid(
            [None, "Sales 2023", None, "Sales 2024"],
            ["Region", "Q1", "Q2", "Q1"],
            ["North", 1, 2, 3],
            ["South", 4, 5, 6],
        )(book)
        book.active.merge_cells("B1:C1")

    ((info, rows),) = load(make(tmp_path / "b.xlsx", fill), tmp_path / "out")
    assert [n for n, _ in info.columns] == [
        "Region",
        "Sales 2023 / Q1",
        "Sales 2023 / Q2",
        "Sales 2024 / Q1",
    ]
    assert rows == [("North", 1, 2, 3), ("South", 4, 5, 6)]


def test_tables_side_by_side_and_below_each_other_are_parted(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        sheet = book.active
        for n, row in enumerate([["city", "units"], ["Graz", 5], ["Oslo", 6], ["Rome", 7]]):
            for m, value in enumerate(row):
                sheet.cell(1 + n, 1 + m, value)
        for n, row in enumerate(
            [["name", "day"], ["Eva", date(2024, 1, 2)], ["Olaf", date(2024, 1, 3)]]
        ):
            for m, value in enumerate(row):
                sheet.cell(1 + n, 4 + m, value)
                sheet.cell(8 + n, 1 + m, value)

    found = load(make(tmp_path / "b.xlsx", fill), tmp_path / "out")
    assert [i.place for i, _ in found] == ["A1:B4", "D1:E3", "A8:B10"]
    assert found[1][1] == [("Eva", date(2024, 1, 2)), ("Olaf", date(2024, 1, 3))]


def test_hidden_sheet_is_loaded_and_named(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        grid(["a", "b"], [1, 2], [3, 4])(book)
        other = book.create_sheet("Archive")
        other.append(["x", "y"])
        other.append([5, 6])
        other.append([7, 8])
        other.sheet_state = "hidden"

    path = make(tmp_path / "b.xlsx", fill)
    (shown, _), (hidden, rows) = load(path, tmp_path / "out")
    assert (shown.hidden, hidden.hidden, hidden.sheet) == (False, True, "Archive")
    assert rows == [(5, 6), (7, 8)]
    assert [n.place for n in SheetsReader().outline(path).notes if n.kind == "hidden-sheet"] == [
        "sheet Archive"
    ]


def test_error_cells_are_null_and_named_with_their_address(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        grid(["id", "amount"], [1, 2.5], [2, "#REF!"], [3, 4.5])(book)
        book.active["B3"].data_type = "e"

    ((info, rows),) = load(make(tmp_path / "b.xlsx", fill), tmp_path / "out")
    assert rows == [(1, 2.5), (2, None), (3, 4.5)]
    assert "#REF!" in notes_of(info)["error-cells"]
    assert notes_of(info)["error-cells"].endswith("sheet Sheet!B3")


def test_formulas_without_stored_results_are_null_and_named(tmp_path: Path) -> None:
    path = make(
        tmp_path / "b.xlsx", grid(["id", "amount", "twice"], [1, 2.5, "=B2*2"], [2, 3.5, "=B3*2"])
    )
    ((info, rows),) = load(path, tmp_path / "out")
    assert rows == [(1, 2.5, None), (2, 3.5, None)]
    assert notes_of(info)["no-cached-values"].endswith("sheet Sheet!C2, C3")


def test_numbers_stored_as_text_are_numbers_and_said(tmp_path: Path) -> None:
    ((info, rows),) = load(
        make(tmp_path / "b.xlsx", grid(["id", "units"], [1, "5"], [2, 6], [3, "n/a"])),
        tmp_path / "out",
    )
    assert rows == [(1, 5), (2, 6), (3, None)]
    assert "'units'" in notes_of(info)["numbers-as-text"]
    assert notes_of(info)["missing-words"].startswith("1 cells")


@pytest.mark.parametrize(
    ("others", "text", "doubt"),
    [((1500, 980), "1.234", True), ((1500.5, 980), "1.234", True), ((1500, 980), "12.5", False)],
)
def test_a_text_that_may_be_a_thousand_or_a_fraction_among_numbers_stays_text_and_is_named(
    tmp_path: Path, others: tuple[float, float], text: str, doubt: bool
) -> None:
    cells = grid(["id", "units"], [1, others[0]], [2, text], [3, others[1]], [4, "n.a."])
    ((info, rows),) = load(make(tmp_path / "b.xlsx", cells), tmp_path / "out")
    remark = notes_of(info).get("numbers-ambiguous", "")
    assert ("'units' stays text: in '1.234' the mark may be" in remark) == doubt
    assert remark.endswith("sheet Sheet!A3:B3" if doubt else "")
    assert rows[1][1] == (text if doubt else float(text))


def test_a_column_whose_texts_are_numbers_too_is_not_called_text(tmp_path: Path) -> None:
    cells = grid(["id", "units"], [1, 100], [2, "1,234.50"], [3, 200])
    ((info, rows),) = load(make(tmp_path / "b.xlsx", cells), tmp_path / "out")
    assert [row[1] for row in rows] == [100, 1234.5, 200]
    assert set(notes_of(info)) == {"numbers-as-text"}


def test_numbers_too_long_for_a_sheet_are_said(tmp_path: Path) -> None:
    long = 12_345_678_901_234_567
    cells = grid(["id", "units"], [long, 1], [long + 1, 2], [long + 7, 3])
    ((info, _),) = load(make(tmp_path / "b.xlsx", cells), tmp_path / "out")
    assert "'id' are not exact" in notes_of(info)["numbers-long"]


def test_column_of_numbers_and_words_stays_text_and_is_said(tmp_path: Path) -> None:
    path = make(tmp_path / "b.xlsx", grid(["id", "post"], [1, 5021], [2, "S-958 22"], [3, 67000]))
    ((info, rows),) = load(path, tmp_path / "out")
    assert [r[1] for r in rows] == ["5021", "S-958 22", "67000"]
    assert "types-mixed" in notes_of(info)


def test_years_as_numbers_in_the_header_are_names(tmp_path: Path) -> None:
    path = make(
        tmp_path / "b.xlsx", grid(["Region", 2021, 2022], ["North", 10, 20], ["South", 30, 40])
    )
    ((info, rows),) = load(path, tmp_path / "out")
    assert [n for n, _ in info.columns] == ["Region", "2021", "2022"]
    assert rows == [("North", 10, 20), ("South", 30, 40)]


def test_total_under_a_column_of_dates_does_not_turn_it_into_text(tmp_path: Path) -> None:
    days = [[date(2024, 1, n), n] for n in range(1, 6)]
    ((info, rows),) = load(
        make(tmp_path / "b.xlsx", grid(["day", "units"], *days, ["Total", 15])), tmp_path / "out"
    )
    assert info.columns[0] == ("day", "DATE")
    assert (info.rows, len(rows)) == (5, 6)
    assert rows[-1] == (None, 15, 7, "total")
    assert notes_of(info)["total-rows"].endswith("sheet Sheet!A7:B7")


def test_two_far_cells_are_refused_before_they_take_the_memory(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        book.active["A1"] = 1
        book.active["XFD1048576"] = 2

    with pytest.raises(FileTooLargeError, match="1,048,576 rows and 16,384 columns"):
        SheetsReader().tables(make(tmp_path / "b.xlsx", fill), tmp_path / "out")


def test_truncated_workbook_is_one_clear_error(tmp_path: Path) -> None:
    path = make(tmp_path / "b.xlsx", grid(["a", "b"], [1, 2]))
    path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(UnreadableFileError, match=r"This workbook is damaged"):
        SheetsReader().tables(path, tmp_path / "out")


def test_damaged_sheet_inside_a_whole_archive_is_one_clear_error(tmp_path: Path) -> None:
    path = make(tmp_path / "b.xlsx", grid(["a", "b"], [1, 2]))
    broken = tmp_path / "broken.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(broken, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data[: len(data) // 2] if name.endswith("sheet1.xml") else data)
    with pytest.raises(UnreadableFileError, match="damaged"):
        SheetsReader().tables(broken, tmp_path / "out")


def test_rows_are_read_with_column_letters_from_a_range_of_a_sheet(tmp_path: Path) -> None:
    path = make(
        tmp_path / "b.xlsx",
        grid(["city", "units", "amount"], ["Graz", 5, 2.5], ["Oslo", None, 3.5]),
    )
    passages = list(SheetsReader().passages(path, Where("cell", 2, 3, "sheet", (2, 3))))
    assert [(p.number, p.sheet, p.text) for p in passages] == [
        (2, "Sheet", "B: 5 | C: 2.5"),
        (3, "Sheet", "C: 3.5"),
    ]


def test_unknown_sheet_names_those_there_are(tmp_path: Path) -> None:
    path = make(tmp_path / "b.xlsx", grid(["a"], [1]))
    with pytest.raises(NotFoundError, match="Sheet"):
        list(SheetsReader().passages(path, Where("row", 1, 2, "Shet")))


def test_workbook_with_a_password_says_so(tmp_path: Path, real_data: Path) -> None:
    data = bytearray((real_data / "florida_counties.xls").read_bytes())
    at = data.index(
        b"\x09\x08\x10\x00"
    )  # the BOF record; a FILEPASS record takes the place of what follows
    data[at + 20 : at + 26] = b"\x2f\x00\x36\x00\x01\x00"
    path = tmp_path / "secret.xls"
    path.write_bytes(data)
    with pytest.raises((EncryptedFileError, UnreadableFileError)):
        SheetsReader().tables(path, tmp_path / "out")


@pytest.mark.parametrize("name", ["autofilter.ods", "autofilter.xlsb"])
def test_every_sheet_of_a_real_workbook_becomes_a_table(
    real_data: Path, tmp_path: Path, name: str
) -> None:
    found = load(real_data / name, tmp_path)
    assert len(found) == 11
    for info, rows in found:
        assert info.place == "A1:E22"
        assert [n for n, _ in info.columns] == ["Code", "Format", "Library", "Notes", "Importance"]
        assert len(rows) == 21
        assert rows[1][:3] == (5, "XLSM (2007+ Macros)", "js-xlsx")


def test_real_attendance_sheet_keeps_dates_and_booleans(real_data: Path, tmp_path: Path) -> None:
    ((info, rows),) = load(real_data / "attendance.xlsx", tmp_path)
    assert info.columns[:2] == (("Date", "DATE"), ("Ben Ashley", "BOOLEAN"))
    assert len(rows) == 23
    assert rows[0][:3] == (date(2020, 10, 1), False, True)
    assert [(n.kind, n.place) for n in info.notes] == [
        ("total-rows", "sheet Attendance - Attendance!A26:I26")
    ]


def test_real_workbook_of_many_empty_merges_holds_no_table(real_data: Path, tmp_path: Path) -> None:
    assert load(real_data / "many_merges.xlsx", tmp_path) == []


def test_real_workbook_of_eighteen_sheets(real_data: Path, tmp_path: Path) -> None:
    found = {
        info.sheet: (info, rows)
        for info, rows in load(real_data / "conditional_formatting.xlsx", tmp_path)
    }
    assert len(found) == 18
    products, rows = found["Products1"]
    assert products.columns == (
        ("Date", "DATE"),
        ("Product", "VARCHAR"),
        ("Region", "VARCHAR"),
        ("Amount", "DOUBLE"),
    )
    assert (products.rows, dict(products.left_out)) == (18, {"subtotal": (6, 10, 19, 24)})
    assert len(rows) == 22
    assert rows[0] == (date(2007, 4, 9), "Dairy", "Denmark", 1148.0, 3, "data")
    banded, _ = found["Banded rows"]
    assert [n for n, _ in banded.columns][1:4] == [
        "Widgets / Actuals",
        "Widgets / Budget",
        "Widgets / Variance",
    ]


def test_real_election_results_have_a_header_in_two_rows(real_data: Path, tmp_path: Path) -> None:
    found = load(real_data / "upper_austria_statistics.xls", tmp_path)
    info, rows = found[0]
    assert (info.sheet, info.place, len(rows)) == ("Stimmen", "A3:Y496", 492)
    names = [n for n, _ in info.columns]
    assert names[:7] == [
        "Nr.", "Name", "Wahlbe- / rechtigte", "abgegeb. / Stimmen", "Wahlbet. / in %", "ungültige / Stimmen", "ungültige / in %",
    ]  # fmt: skip
    assert rows[0][2:4] == (1092760, 618531)
    assert rows[2][0] == "4A000"
    hidden = next(i for i, _ in found if i.sheet == "WAHLDAT")
    assert (hidden.hidden, hidden.rows) == (True, 492)


def test_real_school_data_keeps_leading_zeros_below_titles(real_data: Path, tmp_path: Path) -> None:
    found = load(real_data / "florida_counties.xls", tmp_path)
    info, rows = found[0]
    assert info.sheet == "AllStateCharterData07"
    assert rows[0][:5] == ("01", "Alachua", "0950", "010950", "THE ONE ROOM SCHOOL HOUSE PROJ")
    local = next((i, r) for i, r in found if i.sheet == "0607LocalCalcbyDistrict")
    assert (local[0].rows, local[0].columns[0][0]) == (67, "District")
    assert local[1][0][:2] == ("Alachua", 5451950)


def test_real_survey_tables_have_years_as_names(real_data: Path, tmp_path: Path) -> None:
    found = load(real_data / "nsse_benchmark.xls", tmp_path)
    info, rows = next((i, r) for i, r in found if i.sheet == "FYtable")
    names = [n for n, _ in info.columns]
    assert names[2:] == [str(year) for year in range(2001, 2012)]
    assert rows[0][1:4] == ("LAC", 45.61911, 49.567751)
    assert len(rows) == 36


def test_error_cells_of_a_real_xls_are_counted(real_data: Path, tmp_path: Path) -> None:
    info = next(
        i for i, _ in load(real_data / "nsse_benchmark.xls", tmp_path) if i.sheet == "FYchart"
    )
    assert [(n.count, n.place[:20]) for n in info.notes if n.kind == "error-cells"] == [
        (36, "sheet FYchart!T6, V6")
    ]


def test_real_report_has_units_below_its_names(real_data: Path, tmp_path: Path) -> None:
    found = load(real_data / "mixed_gas_report.xls", tmp_path)
    info, rows = next((i, r) for i, r in found if i.sheet == "Coefficient Table")
    assert [n.rsplit(" / ", 1)[-1] for n, _ in info.columns][1:4] == [
        "MWH",
        "1000 tonnes",
        "1000 tonnes",
    ]
    assert rows[1][:4] == ("Alabama", 140895441, 458, 122.0)
    assert "total-rows" in notes_of(info)
    assert {i.sheet for i, _ in found if i.hidden} == {"MASTER", "Translations"}


def test_outline_of_a_real_workbook_names_its_sheets(real_data: Path) -> None:
    outline = SheetsReader().outline(real_data / "upper_austria_statistics.xls")
    assert outline.sheets == ("Stimmen", "WAHLEN", "WAHLDAT")
    assert (outline.rows, outline.columns) == (492, 25)
    assert sum(n.kind == "hidden-sheet" for n in outline.notes) == 2


def test_timestamps_keep_their_time(tmp_path: Path) -> None:
    path = make(
        tmp_path / "b.xlsx",
        grid(["id", "at"], [1, datetime(2024, 1, 2, 3, 4, 5)], [2, datetime(2024, 1, 3)]),
    )
    ((info, rows),) = load(path, tmp_path / "out")
    assert info.columns[1] == ("at", "TIMESTAMP")
    assert rows == [(1, datetime(2024, 1, 2, 3, 4, 5)), (2, datetime(2024, 1, 3))]


_NAMESPACES = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def large(path: Path, before: str, rows: int = 40_000) -> Path:
    """A sheet of over 5 MB of XML: merged names, an error, a bare formula, a hidden row, and
    `before` before its cells."""
    text = (
        '<c r="A{n}" t="inlineStr"><is><t>name {n}, some words of it</t></is></c><c '
        'r="B{n}"><v>{n}.5</v></c>'
    )
    cells = [
        f'<row r="{n}">{text.format(n=n)}<c r="C{n}"><v>{n % 7}</v></c></row>'
        for n in range(3, rows)
    ]
    cells[100] = (
        f'<row r="103" hidden="1">{text.format(n=103)}<c r="C103" t="e"><v>#N/A</v></c></row>'
    )
    cells[-1] = (
        f'<row r="{rows - 1}">{text.format(n=rows - 1)}<c '
        f'r="C{rows - 1}"><f>SUM(B3:B9)</f></c></row>'
    )
    inline = '<c r="{}" t="inlineStr"><is><t>{}</t></is></c>'
    names = "".join(inline.format(at, name) for at, name in (("B2", "first"), ("C2", "second")))
    head = f'<row r="1">{inline.format("A1", "Person")}{inline.format("B1", "Measured")}</row><row r="2">{names}</row>'
    sheet = f"<worksheet {_NAMESPACES}>{before}<sheetData>{head}{''.join(cells)}</sheetData>"
    make(path, grid(["empty"]))
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/worksheets/sheet1.xml"] = (
        f'{sheet}<mergeCells><mergeCell ref="A1:A2"/><mergeCell '
        f'ref="B1:C1"/></mergeCells></worksheet>'.encode()
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "before", ["", '<dimension ref="A1:C39999"/>', "<!-- <sheetData> is below -->"]
)
def test_large_sheet_has_the_merges_errors_and_hidden_rows_of_a_small_one(
    tmp_path: Path, before: str
) -> None:
    path = large(tmp_path / "large.xlsx", before)
    ((info, stored),) = load(path, tmp_path / "out")
    assert [name for name, _ in info.columns] == ["Person", "Measured / first", "Measured / second"]
    assert (info.place, len(stored)) == ("A1:C39999", 39_997)
    assert stored[0][:3] == ("name 3, some words of it", 3.5, 3)
    assert stored[100][2] is None
    assert stored[-1][2] is None
    places = {n.kind: (n.count, n.cells) for n in info.notes}
    assert places["merged-cells"] == (2, "A1:A2, B1:C1")
    assert places["error-cells"] == (1, "C103")
    assert places["no-cached-values"] == (1, "C39999")
    assert places["hidden-rows"] == (1, "A103:C103")


def test_large_sheet_that_is_damaged_at_its_end_is_one_clear_error(tmp_path: Path) -> None:
    path = large(tmp_path / "large.xlsx", "")
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("xl/worksheets/sheet1.xml")
    content[entry.header_offset + entry.compress_size - 2_000] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(UnreadableFileError, match=r"This workbook is damaged or cut short"):
        SheetsReader().tables(path, tmp_path / "out")

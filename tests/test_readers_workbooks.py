"""Workbooks of odd makes: XML, pages and protected ones under the name of a spreadsheet."""

from __future__ import annotations

import struct
from pathlib import Path
from zipfile import ZipFile

import pytest

from leaf.errors import EncryptedFileError, UnreadableFileError
from leaf.readers.detect import detect
from leaf.readers.tabular.sheets import SheetsReader
from leaf.readers.worker import inspect, tables
from tests.workbooks_kit import ods

WORKBOOK = """<?xml version="1.0"?>
<?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<Worksheet ss:Name="Data"><Table>
<Row><Cell ss:MergeAcross="1"><Data ss:Type="String">Sales of 2024</Data></Cell></Row>
<Row ss:Index="3"><Cell><Data ss:Type="String">Region</Data></Cell><Cell><Data ss:Type="String">Day</Data></Cell>
  <Cell ss:Index="4"><Data ss:Type="String">Sales</Data></Cell></Row>
<Row><Cell><Data ss:Type="String">North</Data></Cell><Cell><Data ss:Type="DateTime">2024-05-01T00:00:00.000</Data></Cell>
  <Cell ss:Index="4"><Data ss:Type="Number">10.5</Data></Cell></Row>
<Row><Cell><Data ss:Type="String">South</Data></Cell><Cell><Data ss:Type="DateTime">2024-05-02T00:00:00.000</Data></Cell>
  <Cell ss:Index="4" ss:Formula="=1/0"><Data ss:Type="Error">#DIV/0!</Data></Cell></Row>
<Row><Cell><Data ss:Type="String">East</Data></Cell><Cell><Data ss:Type="DateTime">2024-05-02T00:00:00.000</Data></Cell>
  <Cell ss:Index="4"><Data ss:Type="Number">7</Data></Cell></Row>
</Table></Worksheet>
<Worksheet ss:Name="Old"><Table/><WorksheetOptions xmlns="urn:schemas-microsoft-com:office:excel">
<Visible>SheetHidden</Visible></WorksheetOptions></Worksheet></Workbook>"""


@pytest.mark.parametrize("name", ["sales.xml", "sales.xls"])
def test_xml_workbook_opens_as_tables_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "blob"
    path.write_text(WORKBOOK)
    found = inspect(str(path), name)
    assert (found["kind"], found["outline"]["sheets"]) == ("excel", ("Data", "Old"))
    (table,) = tables(str(path), "excel", str(tmp_path))
    assert table["place"] == "A3:D6"
    assert table["columns"] == (("Region", "VARCHAR"), ("Day", "DATE"), ("Sales", "DOUBLE"))
    notes = {note["kind"]: note["cells"] for note in table["notes"]}
    assert notes["error-cells"] == "D5"


@pytest.mark.parametrize(
    "broken", [WORKBOOK[:-200], WORKBOOK.replace('ss:Index="3"', 'ss:Index="1"')]
)
def test_broken_xml_workbook_is_refused_in_words(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "sales.xls"
    path.write_text(broken)
    with pytest.raises(UnreadableFileError, match=r"This file is no whole XML workbook. Open it"):
        tables(str(path), "excel", str(tmp_path))


def test_page_saved_as_xls_opens_as_tables(tmp_path: Path) -> None:
    path = tmp_path / "blob"
    row = "<tr><td>{}</td><td>{}</td></tr>"
    rows = "".join(
        row.format(*cells) for cells in (("Region", "Sales"), ("North", 10.5), ("South", 11))
    )
    path.write_text(
        f'<html xmlns:x="urn:schemas-microsoft-com:office:excel"><body><table>{rows}</table></body></html>'
    )
    assert inspect(str(path), "report.xls")["kind"] == "html"
    (table,) = tables(str(path), "html", str(tmp_path))
    assert (table["rows"], table["columns"]) == (2, (("Region", "VARCHAR"), ("Sales", "DOUBLE")))


def test_protected_xls_is_called_so_whatever_its_name_on_disk(
    foreign: Path, tmp_path: Path
) -> None:
    path = tmp_path / "blob"
    path.write_bytes((foreign / "poi" / "spreadsheet" / "60284.xls").read_bytes())
    with pytest.raises(
        EncryptedFileError,
        match=r"'pay.xls' is a workbook protected by a password. Open it, save a copy without",
    ):
        detect(path, "pay.xls")


@pytest.mark.parametrize("version", [0x0009, 0x0209, 0x0409])
def test_workbook_of_the_first_excels_is_refused_by_its_name(tmp_path: Path, version: int) -> None:
    path = tmp_path / "blob"
    path.write_bytes(struct.pack("<HH", version, 4 if version == 9 else 6) + bytes(range(1, 200)))
    with pytest.raises(UnreadableFileError, match=r"'old.xls' is a workbook of Excel 2, 3 or 4"):
        detect(path, "old.xls")


def test_what_an_ods_hides_and_how_it_shows_numbers_is_said(tmp_path: Path) -> None:
    def cells(*values: str) -> str:
        return "".join(f'<table:table-cell office:value-type={value}"/>' for value in values)

    def money(code: str) -> str:
        return f'"currency" office:currency="{code}" office:value="10'

    number, share = '"float" office:value="5', '"percentage" office:value="0.25'
    names = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{name}</text:p></table:table-cell>'
        for name in ("paid", "share", "fee")
    )
    empty = '<table:table-cell table:number-columns-repeated="9"/>'
    rows = [
        f"<table:table-row>{names}</table:table-row>",
        f"<table:table-row>{cells(money('EUR'), share, money('EUR'))}</table:table-row>",
        '<table:table-row table:visibility="collapse" table:number-rows-repeated="2">'
        f"{cells(money('USD'), number, number)}</table:table-row>",
        f'<table:table-row table:visibility="filter">{cells(money("EUR"), share, money("EUR"))}</table:table-row>',
        f'<table:table-row table:visibility="collapse" table:number-rows-repeated="1000000">{empty}</table:table-row>',
    ]
    columns = (
        '<table:table-column table:number-columns-repeated="2"/>'
        '<table:table-column table:visibility="collapse" table:number-columns-repeated="99"/>'
    )
    path = ods(tmp_path / "a.ods", columns + "".join(rows))
    (info,) = SheetsReader().tables(path, tmp_path)
    assert info.rows == 4
    kinds = (
        "hidden-rows",
        "filtered-rows",
        "hidden-columns",
        "percent",
        "currency",
        "currency-mixed",
    )
    assert {n.kind: (n.count, n.place) for n in info.notes if n.kind in kinds} == {
        "hidden-rows": (2, "sheet S!A3:C4"),
        "filtered-rows": (1, "sheet S!A5:C5"),
        "hidden-columns": (1, "sheet S!C:C"),
        "percent": (2, "sheet S!B:B"),
        "currency": (2, "sheet S!C:C"),
        "currency-mixed": (4, "sheet S!A:A"),
    }


def test_workbook_whose_elements_never_end_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "open.ods"
    with ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml",
            '<o:document-content xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
            'xmlns:t="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><o:body><o:spreadsheet>'
            '<t:table t:name="A"><t:table-row/></x:table></o:spreadsheet></o:body>'
            "</o:document-content>",
        )
    with pytest.raises(UnreadableFileError, match="damaged"):
        tables(str(path), "excel", str(tmp_path))

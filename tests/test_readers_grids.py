"""Tables inside web pages, Word documents, presentations, Rich Text and mails."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path
from typing import Any

import docx
import duckdb
import pytest

from leaf.readers.base import TableInfo, Where
from leaf.readers.documents.msg import message_of
from leaf.readers.documents.msg_parts import MsgPart
from leaf.readers.tabular.grids import MAX_SPAN, GridCell, expanded
from leaf.readers.worker import inspect, reader_of
from tests.test_readers_msg import attached, part

Loaded = tuple[TableInfo, list[tuple[Any, ...]]]


def load(path: Path, kind: str) -> list[Loaded]:
    reader: Any = reader_of(kind)
    out = path.parent / "out"
    infos = reader.tables(path, out)
    assert inspect(str(path), path.name)["outline"]["tables"] is not None
    assert {p.name for p in out.iterdir()} == {i.parquet for i in infos}
    return [
        (i, duckdb.connect().execute(f"SELECT * FROM read_parquet('{out / i.parquet}')").fetchall())
        for i in infos
    ]


def page(tmp_path: Path, body: str) -> Path:
    path = tmp_path / "a.html"
    path.write_text(f"<!doctype html><html><body><p>Some words.</p>{body}</body></html>")
    return path


def test_tables_of_a_page_have_types_and_those_of_its_layout_are_left_aside(tmp_path: Path) -> None:
    body = """
      <table><tr><td><table><caption>Sales <b>2024</b></caption>
        <tr><th>Region</th><th>Units</th><th>Share</th></tr>
        <tr><td>North</td><td>1,204</td><td>12.5</td></tr>
        <tr><td>South, inner</td><td>3,001</td><td>87.5</td></tr></table></td></tr></table>
      <table><tr><td>menu</td></tr><tr><td>more</td></tr></table>
      <table><tr><th>Day</th><th>Note</th></tr><tr><td>2024-01-02</td><td>x<script>evil()</script></td></tr></table>"""
    sales, days = load(page(tmp_path, body), "html")
    assert sales[0].columns == (("Region", "VARCHAR"), ("Units", "BIGINT"), ("Share", "DOUBLE"))
    assert sales[1] == [("North", 1204, 12.5), ("South, inner", 3001, 87.5)]
    assert "Sales 2024" in sales[0].notes[0].text
    assert (sales[0].sheet, days[0].sheet) == ("table 1", "table 2")
    assert days[1][0][1] == "x"


@pytest.mark.parametrize(
    "head",
    [
        "<thead><tr><td>Land</td><td>Sales</td></tr></thead>",
        "<tr><th>Land</th><th>Sales</th></tr>",
        "<tr><th colspan=2>Sales of 2024</th></tr><tr><th>Land</th><th>Sales</th></tr>",
    ],
    ids=["head", "cells of names", "with a title"],
)
def test_what_a_page_calls_the_header_of_a_table_is_its_header(tmp_path: Path, head: str) -> None:
    body = "<tr><td>Oman</td><td>Secret</td></tr><tr><td>Peru</td><td>2</td></tr>"
    ((info, rows),) = load(page(tmp_path, f"<table>{head}{body}</table>"), "html")
    assert ([name for name, _ in info.columns], len(rows)) == (["Land", "Sales"], 2)


def test_names_of_rows_and_heads_with_nothing_below_say_nothing_of_a_header(tmp_path: Path) -> None:
    rows = "<tr><th>Land</th><td>Sales</td></tr><tr><th>Oman</th><td>10</td></tr>"
    found = load(
        page(tmp_path, f"<table>{rows}</table><table><thead>{rows}</thead></table>"), "html"
    )
    assert [[name for name, _ in info.columns] for info, _ in found] == [["Land", "Sales"]] * 2


def test_table_with_names_keeps_its_rows_though_a_cell_holds_a_table(tmp_path: Path) -> None:
    inner = "<table><tr><th>p</th><th>n</th></tr><tr><td>a</td><td>4</td></tr></table>"
    body = f"""<table><tr><th>Region</th><th>Sales</th><th>Detail</th></tr>
      <tr><td>North</td><td>10</td><td>new {inner}</td></tr><tr><td>South</td><td>20</td><td></td></tr></table>
      <table><tr><th>x {inner}</th><th>y</th></tr><tr><td>3</td><td>4</td></tr></table>"""
    found = load(page(tmp_path, body), "html")
    assert [rows for _, rows in found] == [
        [("North", 10, "new"), ("South", 20, None)],
        [("a", 4)],
        [("a", 4)],
    ]


def test_rows_that_a_page_hides_are_read_and_said(tmp_path: Path) -> None:
    body = """<table><tr><th>Land</th><th>Sales</th></tr><tr><td>Oman</td><td>1</td></tr>
      <tr style="color: red; display:none"><td>Peru</td><td>2</td></tr>
      <tbody hidden><tr><td>Chad</td><td>3</td></tr></tbody></table>"""
    ((info, rows),) = load(page(tmp_path, body), "html")
    assert [(n.text, n.place) for n in info.notes if n.kind == "hidden-rows"] == [
        ("2 rows are hidden in the page and read like all others.", "rows 3-4")
    ]
    assert len(rows) == 3


def test_a_cell_over_several_rows_holds_for_each(tmp_path: Path) -> None:
    body = """<table><tr><th>Land</th><th>City</th><th>People</th></tr>
      <tr><td rowspan="2">Ö</td><td>Wien</td><td>1900000</td></tr><tr><td>Graz</td><td>290000</td></tr>
      <tr><td>D</td><td>Bonn</td><td>330000</td></tr></table>"""
    ((_, rows),) = load(page(tmp_path, body), "html")
    assert rows == [("Ö", "Wien", 1_900_000), ("Ö", "Graz", 290_000), ("D", "Bonn", 330_000)]


def test_a_page_without_tables_has_none(tmp_path: Path) -> None:
    assert load_none(page(tmp_path, "<p>Nothing here.</p>")) == 0


def load_none(path: Path) -> int:
    reader: Any = reader_of("html")
    assert reader.tables(path, path.parent / "out") == []
    return int(inspect(str(path), path.name)["outline"]["tables"])


def test_spans_without_end_are_bounded() -> None:
    rows = expanded([[GridCell("a", columns=10**9, rows=10**9)], [GridCell("b")]])
    assert [len(row) for row in rows] == [MAX_SPAN + 1, MAX_SPAN + 1]


def test_tables_of_a_word_document_with_merged_cells(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Report")
    table = document.add_table(rows=4, cols=3)
    for r, row in enumerate(
        [
            ("Land", "City", "People"),
            ("A", "Wien", "1900000"),
            ("A", "Graz", "290000"),
            ("D", "Bonn", "330000"),
        ]
    ):
        for c, text in enumerate(row):
            table.cell(r, c).text = text
    table.cell(2, 0).text = ""
    table.cell(1, 0).merge(table.cell(2, 0))
    path = tmp_path / "a.docx"
    document.save(str(path))
    ((info, rows),) = load(path, "docx")
    assert [name for name, _ in info.columns] == ["Land", "City", "People"]
    assert rows == [("A", "Wien", 1_900_000), ("A", "Graz", 290_000), ("D", "Bonn", 330_000)]


@pytest.mark.parametrize(
    "name",
    [
        "how_we_refactor.pptx",
        "electronics_german.pptx",
        "page.html",
        "headings.docx",
        "long_document.docx",
    ],
)
def test_real_documents_give_as_many_tables_as_their_outline_says(
    tmp_path: Path, real_data: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes((real_data / name).read_bytes())
    found = load(path, path.suffix[1:])
    assert len({info.sheet for info, _ in found}) <= inspect(str(path), name)["outline"]["tables"]
    assert all(
        len(rows) == info.rows + sum(n for _, n in info.left_out_counts) for info, rows in found
    )


RICH = r"""{\rtf1\ansi Intro\par
\trowd\cellx1\cellx2\intbl Region\cell Sales\cell\row
\trowd\cellx1\cellx2\intbl North\par East\cell 1204\cell\row
\trowd\cellx1\cellx2\intbl S|x\cell 10\b 2\b0\cell\row
\pard Between\par
{\trowd\cellx1\cellx2\pard\intbl A\cell B\cell\trowd\cellx1\cellx2\row}
{\trowd\cellx1\cellx2\pard\intbl 1\cell 2\cell\trowd\cellx1\cellx2\row}
{\trowd\cellx1\cellx2\pard\intbl 3\cell \cell\trowd\cellx1\cellx2\row}
\pard \trowd\cellx1\intbl never\cell ended\par}"""


def test_tables_of_rich_text_can_be_queried(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    path.write_text(RICH)
    sales, other = load(path, "rtf")
    assert sales[0].columns == (("Region", "VARCHAR"), ("Sales", "BIGINT"))
    assert sales[1] == [("North East", 1204), ("S|x", 102)]
    assert other[1] == [(1, 2), (3, None)]
    assert [p.text for p in reader_of("rtf").passages(path, Where())] == [
        "Intro",
        "Region | Sales",
        "North East | 1204",
        "S|x | 102",
        "Between",
        "A | B",
        "1 | 2",
        "3 |",
        "never | ended",
    ]


SENT = (
    "<p>Dear all,</p><table><tr><th>Region<th>Units<tr><td>North<td>1204<tr><td>South<td>17</table>"
)


def test_tables_of_a_mail_can_be_queried_though_its_plain_form_is_read(tmp_path: Path) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "ann@example.org", "Figures"
    message.set_content("Dear all,\nRegion Units North 1204 South 17\n")
    message.add_alternative(f"<html><body>{SENT}</body></html>", subtype="html")
    message.add_attachment(
        "<table><tr><td>a<td>b<tr><td>1<td>2</table>", subtype="html", filename="a.html"
    )
    path = tmp_path / "a.eml"
    path.write_bytes(bytes(message))
    (table,) = load(path, "email")
    assert table[0].columns == (("Region", "VARCHAR"), ("Units", "BIGINT"))
    assert table[1] == [("North", 1204), ("South", 17)]
    assert inspect(str(path), path.name)["outline"]["members"] == 1


def test_tables_of_an_outlook_message_are_those_of_all_messages_in_it(tmp_path: Path) -> None:
    inner = part("__substg1.0_3701000D", {0x0037: "Inner", 0x1013: SENT.encode()})
    outer = part("", {0x0037: "Outer", 0x1013: SENT.encode()}, attached(0, {0x3705: 5}, inner))
    assert [grid.rows[1] for grid in message_of(MsgPart(outer), 0).grids] == [["North", "1204"]] * 2

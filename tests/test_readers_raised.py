"""Raised and lowered text of documents: a footnote mark is no digit of its figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaf.readers.documents.html import HtmlReader, paragraphs_of
from leaf.readers.documents.raised import lowered, raised
from leaf.readers.tabular.grids import Grid, write_grids
from tests.test_readers_docs import A, docx, package, rels, shape, slide
from tests.test_readers_office import rows, texts

M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def run(text: str, how: str = "") -> str:
    inner = f'<w:rPr><w:vertAlign w:val="{how}"/></w:rPr>' if how else ""
    return f"<w:r>{inner}<w:t>{text}</w:t></w:r>"


def line(*runs: str) -> str:
    return f"<w:p>{''.join(runs)}</w:p>"


def word_row(*cells: str) -> str:
    return f"<w:tr>{''.join(f'<w:tc>{line(cell)}</w:tc>' for cell in cells)}</w:tr>"


@pytest.mark.parametrize(
    ("text", "high", "low"),
    [
        ("1", "¹", "₁"),
        ("-6", "⁻⁶", "₋₆"),
        ("1,2", "¹,²", "₁,₂"),
        ("(3)", "⁽³⁾", "₍₃₎"),
        ("٣", "³", "₃"),
        ("1a", "¹a", "₁a"),
        ("st", "st", "st"),
        ("[1]", "[1]", "[1]"),
    ],
)
def test_raised_digits_are_written_as_such(text: str, high: str, low: str) -> None:
    assert (raised(text), lowered(text)) == (high, low)


def test_a_footnote_mark_in_word_is_no_digit_of_its_figure(tmp_path: Path) -> None:
    sup = "superscript"
    table = word_row(run("Year"), run("Rate")) + word_row(run("2020"), run("12.5") + run("1", sup))
    table += word_row(run("2021"), run("13.0") + run("2", sup)) + word_row(run("2022"), run("14.1"))
    half = "<m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    body = line(run("About 10"), run("6", sup), run(" of CO"), run("2", "subscript"))
    body += line(run("all raised 7", sup)) + f"<w:tbl>{table}</w:tbl>"
    body += line(run("2"), f"<m:oMath {M}>{half}</m:oMath>")
    path = docx(tmp_path, body)
    said = texts(path)
    assert said[:2] == ["About 10⁶ of CO2", "all raised 7"]
    assert said[3] == "2020 | 12.5¹"
    assert said[-1] == "2 1/2"
    assert rows(path) == [(2020, 12.5), (2021, 13.0), (2022, 14.1)]


def test_a_footnote_mark_on_a_page_is_no_digit_of_its_figure(tmp_path: Path) -> None:
    page = (
        '<p>10<sup>6</sup> people, 12.5<sup><a href="#n">1</a></sup> per cent, H<sub>2</sub>O, '
        '7<span style="vertical-align: super">(2)</span>, the 1<sup>st</sup></p>'
        "<p><sup>12</sup></p><table><tr><th>Year<th>Rate<tr><td>2020<td>12.5<sup>1</sup>"
        "<tr><td>2021<td>13<tr><td>2022<td><sup>14</sup></table>"
    )
    assert paragraphs_of(page)[1][:2] == [
        "10⁶ people, 12.5¹ per cent, H2O, 7⁽²⁾, the 1st",
        "12",
    ]
    path = tmp_path / "a.html"
    path.write_text(page)
    (info,) = HtmlReader().tables(path, tmp_path / "tables")
    assert [(n.kind, n.count) for n in info.notes] == [("footnote-marks", 1)]
    assert rows(path) == [(2020, 12.5), (2021, 13.0), (2022, 14.0)]


def test_a_mark_that_is_never_closed_takes_nothing_with_it() -> None:
    said = paragraphs_of("<p>a<sup>1<div>b</div><table><tr><td>c<td>3<tr><td>d<td>4</table>")[1]
    assert said[-2:] == ["c | 3", "d | 4"]


def test_a_raised_figure_of_a_slide_is_written_as_such(tmp_path: Path) -> None:
    mark = '</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>1'
    path = package(
        tmp_path,
        "a.pptx",
        {
            "_rels/.rels": rels(("officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f'<p:presentation {A}><p:sldIdLst><p:sldId id="9" '
            'r:id="rId1"/></p:sldIdLst></p:presentation>',
            "ppt/_rels/presentation.xml.rels": rels(("slide", "slides/slide1.xml")),
            "ppt/slides/slide1.xml": slide(shape("Rate 12.5" + mark)),
        },
    )
    assert texts(path) == ["Rate 12.5¹"]


@pytest.mark.parametrize(
    "cells",
    [
        ["10⁶", "10³", "7"],
        ["12.5¹", "13.0²", "14.1³"],
        ["12.5¹", "about 13", "14"],
        ["12.5¹", "10⁻³", "14"],
    ],
)
def test_what_may_be_a_power_stays_as_it_is(tmp_path: Path, cells: list[str]) -> None:
    grid = Grid("", [["Year", "Rate"], *([str(2020 + n), c] for n, c in enumerate(cells))])
    (info,) = write_grids([grid], tmp_path)
    assert not [n for n in info.notes if n.kind == "footnote-marks"]
    assert info.columns[-1][1] == "VARCHAR"

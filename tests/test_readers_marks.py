"""Formulas, footnotes, deleted and raised text of web pages, Rich Text, OpenDocument and mails."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaf.readers.documents.html import HtmlReader, page_of
from leaf.readers.documents.mail_forms import of_both_forms
from tests.test_readers_office import open_document, rows, texts

STYLE = (
    '<office:automatic-styles><s:style s:name="T1" xmlns:s="urn:oasis:names:tc:opendocument:xmlns:'
    'style:1.0"><s:text-properties s:text-position="{where}"/></s:style></office:automatic-styles>'
)


@pytest.mark.parametrize(
    ("markup", "said"),
    [
        ("<msup><mi>x</mi><mn>2</mn></msup>", "x²"),
        ("<msubsup><mi>a</mi><mn>1</mn><mi>n</mi></msubsup>", "a₁^n"),
        ("<mfrac><mn>1</mn><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></mfrac>", "1/(a+b)"),
        ("<msqrt><mn>2</mn></msqrt><mo>=</mo><mroot><mn>8</mn><mn>3</mn></mroot>", "√2=³√8"),
        ("<mn>2</mn><mo>\u2062</mo><mi>x</mi>", "2x"),
        ("<mn>2</mn><mfrac><mn>1</mn><mn>2</mn></mfrac>", "2 1/2"),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", "x¯"),
        (
            "<semantics><msup><mn>10</mn><mn>6</mn></msup><annotation>10^6</annotation></semantics>",
            "10⁶",
        ),
    ],
)
def test_a_formula_of_a_page_is_a_line_of_text(markup: str, said: str) -> None:
    page = page_of(f"<p>So <math>{markup}</math> it is.</p>", whole=True)
    assert page.paragraphs == [f"So {said} it is."]


def test_a_formula_in_a_cell_of_a_page_is_what_it_says(tmp_path: Path) -> None:
    power = "<m:math><m:msup><m:mn>10</m:mn><m:mn>6</m:mn></m:msup></m:math>"
    path = tmp_path / "a.html"
    path.write_text(
        f"<table><tr><th>what<th>size<tr><td>a<td>{power}<tr><td>b<td>10<sup>3</sup></table>"
    )
    HtmlReader().tables(path, tmp_path / "out")
    assert rows(path) == [("a", "10⁶"), ("b", "10³")]


def test_rich_text_has_no_deleted_text_and_names_its_footnotes(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    path.write_text(
        r"{\rtf1\ansi{\fonttbl{\f0 Arial;}}Area 10{\super 2} and 12.5\super 1\nosupersub  per cent,"
        r" H{\sub 2}O, the 1{\super st}.\par Price {\deleted 100}{\revised 200} euros"
        r"{\super\chftn}{\footnote\pard\plain{\super\chftn} For members.\par Two lines.} today.\par"
        r"{\deleted gone \'e4 all\par}kept \deleted not\deleted0  this\par}"
    )
    assert texts(path) == [
        "Area 10² and 12.5¹ per cent, H2O, the 1st.",
        "Price 200 euros [footnote: For members. Two lines.] today.",
        "kept  this",
    ]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("super 58%", "10⁶ people"),
        ("33% 58%", "10⁶ people"),
        ("-33% 58%", "10₆ people"),
        ("0% 100%", "106 people"),
    ],
)
def test_raised_text_of_an_open_document_is_written_as_such(
    tmp_path: Path, where: str, said: str
) -> None:
    span = '<text:span text:style-name="T1">{}</text:span>'
    body = f"<text:p>10{span.format(6)} people</text:p><text:p>{span.format(12)}</text:p>"
    path = open_document(tmp_path / "a.odt", "text", body, style=STYLE.format(where=where))
    assert texts(path) == [said, "12"]


@pytest.mark.parametrize(
    ("plain", "page", "said"),
    [
        ("All is well.\n\nBye", "<p>All is well.</p><p>Bye</p>", ["All is well.", "Bye"]),
        ("See the page.", "<p>See the page.</p><p>Rent: 1200</p>", ["See the page.", "Rent: 1200"]),
        ("Your app shows no pages", "<p>Rent: 1200</p>", ["Your app shows no pages", "Rent: 1200"]),
        ("", "<p>Rent: 1200</p>", ["Rent: 1200"]),
        ("Only this", "", ["Only this"]),
    ],
)
def test_of_a_message_in_two_forms_no_words_are_lost(
    plain: str, page: str, said: list[str]
) -> None:
    assert of_both_forms(plain, page) == said

"""Numbers that Word counts before paragraphs."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaf.readers.base import Where
from leaf.readers.documents.word_numbers import FORMATS
from leaf.readers.worker import reader_of
from tests.test_readers_docs import RELATIONS, W, package, rels


def level(at: int, text: str, form: str = "decimal", more: str = "", start: int = 1) -> str:
    return (
        f'<w:lvl w:ilvl="{at}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{text}"/>{more}</w:lvl>'
    )


LEGAL = level(0, "Article %1.", "upperRoman") + level(1, "%1.%2", more="<w:isLgl/>")
NUMBERING = f"""<w:numbering xmlns:w="{W}">
<w:abstractNum w:abstractNumId="0">{level(0, "%1.", more="<w:pStyle w:val='Heading1'/>")}
{level(1, "%1.%2", more="<w:pStyle w:val='Heading2'/>")}{level(2, "%3)", "lowerLetter")}</w:abstractNum>
<w:abstractNum w:abstractNumId="1">{level(0, "•", "bullet")}</w:abstractNum>
<w:abstractNum w:abstractNumId="2">{level(0, "%1.", "thaiCounting")}</w:abstractNum>
<w:abstractNum w:abstractNumId="3">{LEGAL}</w:abstractNum>
<w:abstractNum w:abstractNumId="4">{level(0, "(%1)")}
{level(1, "%2:", more="<w:lvlRestart w:val='0'/>")}</w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="3"/></w:num>
<w:num w:numId="5"><w:abstractNumId w:val="4"/></w:num>
<w:num w:numId="6"><w:abstractNumId w:val="4"/><w:lvlOverride w:ilvl="0">
<w:startOverride w:val="7"/></w:lvlOverride></w:num>
<w:num w:numId="7"><w:abstractNumId w:val="4"/><w:lvlOverride w:ilvl="0">
{level(0, "No. %1")}</w:lvlOverride></w:num>
</w:numbering>"""
STYLES = f"""<w:styles xmlns:w="{W}">
<w:style w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/>
</w:numPr></w:pPr></w:style>
<w:style w:styleId="Heading2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:numId w:val="1"/>
</w:numPr></w:pPr></w:style>
<w:style w:styleId="Base"><w:name w:val="base"/><w:pPr><w:numPr><w:ilvl w:val="2"/>
<w:numId w:val="1"/></w:numPr></w:pPr></w:style>
<w:style w:styleId="Clause"><w:name w:val="clause"/><w:basedOn w:val="Base"/></w:style>
</w:styles>"""


def par(text: str, number: int | None = None, at: int = 0, style: str = "", more: str = "") -> str:
    own = f'<w:numPr><w:ilvl w:val="{at}"/><w:numId w:val="{number}"/></w:numPr>'
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    inner = f"{named}{own if number is not None else ''}{more}"
    return f"<w:p><w:pPr>{inner}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def read(folder: Path, body: str) -> list[str]:
    path = package(
        folder,
        "a.docx",
        {
            "_rels/.rels": rels(("officeDocument", "word/document.xml")),
            "word/_rels/document.xml.rels": rels(
                ("numbering", "numbering.xml"), ("styles", "styles.xml")
            ),
            "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:r="{RELATIONS}"><w:body>'
            f"{body}</w:body></w:document>",
            "word/numbering.xml": NUMBERING,
            "word/styles.xml": STYLES,
        },
    )
    return [passage.text for passage in reader_of("docx").passages(path, Where())]


def test_clauses_and_headings_have_the_numbers_of_their_styles(tmp_path: Path) -> None:
    body = (
        par("Scope", style="Heading1")
        + par("Term", style="Heading1")
        + par("Notice", style="Heading2")
        + par("in writing", style="Clause")
        + par("at once", style="Clause")
        + par("Renewal", style="Heading2")
        + par("by both", style="Clause")
        + par("Signatures", style="Heading1", number=0)
    )
    assert read(tmp_path, body) == [
        *("# 1. Scope", "# 2. Term", "## 2.1 Notice", "a) in writing", "b) at once"),
        *("## 2.2 Renewal", "a) by both", "# Signatures"),
    ]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (par("a", 2) + par("b", 2), ["- a", "- b"]),
        (par("a", 3), ["- a"]),
        (par("a", 99), ["- a"]),
        (par("a", 1, 1) + par("b", 1, 2), ["  - a", "    a) b"]),
        (par("a", 4) + par("b", 4, 1), ["Article I. a", "  1.1 b"]),
        (par("a", 5) + par("b", 5, 1) + par("c", 5) + par("d", 5, 1),
         ["(1) a", "  1: b", "(2) c", "  2: d"]),
        (par("a", 5) + par("b", 6) + par("c", 6) + par("d", 5), ["(1) a", "(7) b", "(8) c", "(9) d"]),
        (par("a", 5) + par("b", 7), ["(1) a", "No. 2 b"]),
        (par("a", 5) + par("", 5, more="<w:rPr><w:del/></w:rPr>") + par("b", 5), ["(1) a", "(2) b"]),
    ],
)  # fmt: skip
def test_items_are_counted_as_word_counts_them_or_not_at_all(
    tmp_path: Path, body: str, lines: list[str]
) -> None:
    assert read(tmp_path, body) == lines


def test_rows_that_word_numbers_have_their_numbers(tmp_path: Path) -> None:
    rows = "".join(
        f"<w:tr><w:tc>{par('', 5)}</w:tc><w:tc>{par(name)}</w:tc></w:tr>"
        for name in ("North", "South")
    )
    assert read(tmp_path, f"<w:tbl>{rows}</w:tbl>") == ["(1) | North", "(2) | South"]


def test_numbers_are_written_in_the_formats_that_are_known() -> None:
    written = {name: [form(n) for n in (1, 4, 27, 5_000)] for name, form in FORMATS.items()}
    assert written["decimal"] == ["1", "4", "27", "5000"]
    assert written["decimalZero"] == ["01", "04", "27", "5000"]
    assert written["upperRoman"] == ["I", "IV", "XXVII", "5000"]
    assert written["lowerLetter"] == ["a", "d", "aa", "5000"]
    assert written["none"] == ["", "", "", ""]

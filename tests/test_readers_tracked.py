"""What a text processor shows otherwise than it is read: tracked changes, hidden text, and what
comments are about."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from leaf.readers.documents.commented import LONGEST, commented
from leaf.readers.worker import inspect, read
from tests.test_readers_docs import RELATIONS, W, p, package, rels, saved
from tests.test_readers_office import open_document

INSERTED = "<w:p><w:ins><w:r><w:t>35 days</w:t></w:r></w:ins></w:p>"
DELETED = "<w:p><w:del><w:r><w:delText>60 days</w:delText></w:r></w:del></w:p>"
MARK = "<w:p><w:pPr><w:rPr><w:ins/></w:rPr></w:pPr></w:p>"
HIDDEN = "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r></w:p>"
STRUCK = "<w:p><w:r><w:rPr><w:strike/></w:rPr><w:t>100</w:t></w:r></w:p>"
SHOWN = '<w:p><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>open</w:t></w:r></w:p>'


def word(folder: Path, body: str, footnotes: str = "") -> Path:
    return package(
        folder,
        "a.docx",
        {
            "_rels/.rels": rels(("officeDocument", "word/document.xml")),
            "word/_rels/document.xml.rels": rels(("footnotes", "footnotes.xml")),
            "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:r="{RELATIONS}"><w:body>'
            f"{p('Notice period')}{body}</w:body></w:document>",
            "word/footnotes.xml": f'<w:footnotes xmlns:w="{W}">'
            f'<w:footnote w:id="2">{p("as agreed")}{footnotes}</w:footnote></w:footnotes>',
        },
    )


def noted(path: Path, kind: str) -> list[tuple[str, int]]:
    """The notes of a file, which stand with what is read of it as well."""
    notes = inspect(str(path), path.name)["outline"]["notes"]
    assert [n["text"] for n in read(str(path), kind)["notes"]] == [n["text"] for n in notes]
    return [(note["kind"], note["count"]) for note in notes]


@pytest.mark.parametrize(
    ("body", "notes"),
    [
        (MARK + SHOWN, []),
        (INSERTED, [("tracked-insertions", 1)]),
        (INSERTED + DELETED * 2, [("tracked-insertions", 1), ("tracked-deletions", 2)]),
        (HIDDEN, [("hidden-text", 1)]),
        (STRUCK, [("struck-text", 1)]),
    ],
)
def test_tracked_changes_and_hidden_text_of_word_are_said(
    tmp_path: Path, body: str, notes: list[tuple[str, int]]
) -> None:
    path = word(tmp_path, body)
    assert noted(path, "docx") == notes
    assert "60 days" not in read(str(path), "docx")["text"]


def test_a_tracked_change_in_a_footnote_is_said(tmp_path: Path) -> None:
    assert noted(word(tmp_path, "", DELETED), "docx") == [("tracked-deletions", 1)]


def test_tracked_changes_of_an_opendocument_text_are_said(tmp_path: Path) -> None:
    region = "<text:changed-region><text:{0}/></text:changed-region>"
    changes = region.format("deletion") + region.format("insertion") * 2
    content = (
        '<office:document-content xmlns:office="urn:o" xmlns:text="urn:t"><office:body>'
        f"<office:text><text:tracked-changes>{changes}</text:tracked-changes>"
        "<text:p>30 days</text:p></office:text></office:body></office:document-content>"
    )
    parts = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content}
    path = package(tmp_path, "a.odt", parts)
    assert noted(path, "odt") == [("tracked-insertions", 2), ("tracked-deletions", 1)]


def test_tracked_changes_of_rich_text_are_said(tmp_path: Path) -> None:
    source = r"{\rtf1 Notice of {\revised 30}{\deleted\revauth1 60} {\deleted0 \revised0 days}\par}"
    path = saved(tmp_path, "a.rtf", source)
    assert noted(path, "rtf") == [("tracked-insertions", 1), ("tracked-deletions", 1)]
    assert "30 days" in read(str(path), "rtf")["text"]


OPEN_STYLES = (
    '<office:automatic-styles><style:style style:name="H" style:family="text"><style:text-properties '
    'text:display="none"/></style:style><style:style style:name="I" style:family="text" '
    'style:parent-style-name="H"/><style:style style:name="S" style:family="paragraph"><style:text-properties '
    'style:text-line-through-style="solid"/></style:style><style:style style:name="N" style:family="text">'
    '<style:text-properties style:text-line-through-style="none"/></style:style></office:automatic-styles>'
)


def test_hidden_and_struck_out_text_of_an_opendocument_text_is_said(tmp_path: Path) -> None:
    body = (
        '<text:p>a<text:span text:style-name="I">b<text:span text:style-name="H">c</text:span></text:span></text:p>'
        '<text:p text:style-name="S">100<text:span text:style-name="N">200</text:span></text:p>'
        '<text:section text:display="none"><text:p>d</text:p></text:section>'
        '<text:p><text:hidden-paragraph text:is-hidden="true"/>e</text:p><text:p text:style-name="S"/>'
    )
    path = open_document(tmp_path / "a.odt", "text", body, style=OPEN_STYLES)
    assert noted(path, "odt") == [("hidden-text", 3), ("struck-text", 1)]


def test_hidden_slides_of_an_opendocument_presentation_are_said(tmp_path: Path) -> None:
    style = (
        '<office:automatic-styles><style:style style:name="dp2" style:family="drawing-page">'
        '<style:drawing-page-properties presentation:visibility="hidden"/></style:style></office:automatic-styles>'
    )
    pages = "".join(
        f'<draw:page draw:style-name="dp{number}"><draw:frame><draw:text-box><text:p>{number}</text:p>'
        "</draw:text-box></draw:frame></draw:page>"
        for number in (1, 2, 3)
    )
    path = open_document(tmp_path / "a.odp", "presentation", pages, style=style)
    assert noted(path, "odp") == [("hidden-slide", 1)]
    assert inspect(str(path), path.name)["outline"]["notes"][0]["place"] == "slide 2"


def test_hidden_and_struck_out_text_of_rich_text_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    path.write_text(
        r"{\rtf1\ansi{\stylesheet{\s1\v\strike Gone;}}Was {\strike 100\b  or 90} now 80 \v secret\v0  shown"
        r"{\striked1 5}{\v }\par}"
    )
    assert noted(path, "rtf") == [("hidden-text", 1), ("struck-text", 2)]


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (r"{\listtext\pard\plain\f0 4.2\tab}", "4.2 Fees"),
        (r"{\pntext\f0 (a)\tab}{\*\pn\pnlvlbody{\pntxtb (}{\pntxta )}}", "(a) Fees"),
        (r"{\listtext\pard\plain\f3 \'b7\tab}", "- Fees"),
        (r"{\listtext\pard\plain\f2 o\tab}", "- Fees"),
        (r"{\listtext\pard\plain \u9658?\tab}", "- Fees"),
        (r"{\listtext\pard\plain \u19968?\u12289?\tab}", "一、 Fees"),
        (r"{\*\listtext\pard\plain\f0 1.\tab}", "1. Fees"),
    ],
)
def test_items_of_rich_text_have_their_numbers(tmp_path: Path, number: str, line: str) -> None:
    path = tmp_path / "a.rtf"
    path.write_text(rf"{{\rtf1\ansi{{\fonttbl{{\f0 Arial;}}}}\pard {number}\ls1 Fees\par}}")
    assert read(str(path), "rtf")["text"].endswith(line)
    assert read(str(path), "rtf")["text"].splitlines()[-1].endswith(line)


def test_comments_are_told_with_the_words_that_they_are_about() -> None:
    begin, end = '<w:commentRangeStart w:id="{0}"/>', '<w:commentRangeEnd w:id="{0}"/>'
    body = (
        f"{begin.format(1)}{p('thirty days')}{begin.format(2)}{p('after receipt')}{end.format(1)}"
        f"{DELETED}{end.format(2)}{begin.format(3)}{end.format(3)}"
        f"{begin.format(4)}{p('word ' * 100)}{end.format(4)}{begin.format(5)}{p('open')}"
    )
    words = commented(etree.fromstring(f'<w:body xmlns:w="{W}">{body}</w:body>'))
    assert words["1"] == "thirty days after receipt"
    assert (words["2"], words.keys() & {"3", "5"}) == ("after receipt", set())
    assert words["4"].startswith("word word")
    assert len(words["4"]) <= LONGEST

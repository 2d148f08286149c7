"""What Word documents show in their text and keep in parts of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaf.readers.base import Where
from leaf.readers.documents.drawings import UNREAD
from leaf.readers.documents.word_parts import UNREAD_CHUNK
from leaf.readers.worker import inspect, reader_of
from tests.test_readers_docs import RELATIONS, W, p, package, rels

CHART = (
    '<chartSpace xmlns:a="urn:a"><chart><title><a:p><a:r><a:t>Sales</a:t></a:r></a:p></title>'
    '<ser><tx><pt idx="0"><v>2024</v></pt></tx><cat><pt idx="0"><v>North</v></pt></cat>'
    '<val><pt idx="0"><v>77</v></pt></val></ser></chart></chartSpace>'
)
DIAGRAM = (
    '<dataModel xmlns:a="urn:a"><t><a:p><a:r><a:t>Plan, then act</a:t></a:r></a:p></t></dataModel>'
)


def drawing(inner: str) -> str:
    return f"<w:p><w:r><w:drawing><graphicData>{inner}</graphicData></w:drawing></w:r></w:p>"


def said(folder: Path, body: str, kind: str, name: str, content: str) -> list[str]:
    """The paragraphs of a document that has one part beside its text, as rId1."""
    path = package(
        folder,
        "a.docx",
        {
            "_rels/.rels": rels(("officeDocument", "word/document.xml")),
            "word/_rels/document.xml.rels": rels((kind, name)),
            "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:r="{RELATIONS}"><w:body>'
            f"{p('before')}{body}{p('after')}</w:body></w:document>",
            f"word/{name}": content,
        },
    )
    assert inspect(str(path), "a.docx")["outline"]["lines"]
    texts = [passage.text for passage in reader_of("docx").passages(path, Where())]
    assert (texts[0], texts[-1]) == ("before", "after")
    return texts[1:-1]


@pytest.mark.parametrize(
    ("item", "kind", "content", "lines"),
    [
        ('<chart r:id="rId1"/>', "chart", CHART, ["Chart: Sales", "| 2024", "North | 77"]),
        ('<chart r:id="rId1"/>', "chartEx", "<chartSpace/>", [UNREAD]),
        ('<chart r:id="rId1"/>', "chart", "<chartSpace>", [UNREAD]),
        ('<relIds r:dm="rId1"/>', "diagramData", DIAGRAM, ["Plan, then act"]),
    ],
)
def test_charts_and_diagrams_of_a_text_are_read_in_their_places(
    tmp_path: Path, item: str, kind: str, content: str, lines: list[str]
) -> None:
    assert said(tmp_path, drawing(item), kind, "part.xml", content) == lines


SAVED = (
    "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x\n"
    "Content-Type: text/html; charset=utf-8\nContent-Location: a.html\n\n<p>Saved</p>\n--x--\n"
)


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("<html><h1>Report</h1><p>All of it.</p></html>", ["# Report", "All of it."]),
        (SAVED, ["Saved"]),
        ("one\ntwo < three", ["one", "two < three"]),
        ("{\\rtf1 x}", [UNREAD_CHUNK]),
    ],
)
def test_a_piece_in_another_format_is_read_or_said_to_be_unread(
    tmp_path: Path, content: str, lines: list[str]
) -> None:
    """Programs leave it to Word to take them over when it opens the document."""
    assert said(tmp_path, '<w:altChunk r:id="rId1"/>', "aFChunk", "chunk.txt", content) == lines

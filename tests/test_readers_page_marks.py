"""What a browser or reading program shows of pages and books otherwise than their text has it: numbers
of lists, hidden and struck-out text, cells over several rows; and what of a book cannot be read."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from leaf.errors import EncryptedFileError, UnreadableFileError
from leaf.readers.documents.email import parse
from leaf.readers.documents.html import page_of
from leaf.readers.worker import inspect, read, reader_of
from tests.test_readers_office import rows, texts


def paragraphs(page: str) -> list[str]:
    return page_of(page).paragraphs


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("<ol start=3><li>a<li><p>b</p><p>more</p></ol>", ["3. a", "4. b", "more"]),
        ("<ol><li>a<li value=10>b<li>c</ol>", ["1. a", "10. b", "11. c"]),
        ("<ol reversed><li>a<li>b</ol>", ["2. a", "1. b"]),
        ("<ol type=a><li>x<ol type=I><li>y<li>z</ol><li>w</ol>", ["a. x", "I. y", "II. z", "b. w"]),
        ("<ol style='list-style: upper-alpha inside'><li>a</ol>", ["A. a"]),
        ("<ol style='list-style-type:none'><li>a</ol><ul><li>b</ul>", ["- a", "- b"]),
        ("<ol><li><h3>Scope</h3>All.</ol>", ["### 1. Scope", "All."]),
        ("<ul><li><div></div><p>a</p></ul>", ["- a"]),
    ],
)
def test_items_have_the_numbers_that_are_shown(page: str, lines: list[str]) -> None:
    assert paragraphs(f"<html><body>{page}</body></html>") == lines


def test_items_of_an_article_have_their_numbers() -> None:
    prose = "".join(
        f"<p>{'The board looked at the figures of all regions again. ' * 4}</p>" for _ in range(9)
    )
    page = (
        '<html><head><meta property="og:type" content="article"></head><body><nav><a href="/">Home</a></nav>'
        f"<article><h1>Report</h1>{prose}<ol start=4><li>North is first.<li><p>South is last.</p></ol>{prose}"
        "</article></body></html>"
    )
    lines = paragraphs(page)
    assert {"4. North is first.", "5. South is last."} <= set(lines)
    assert "Home" not in " ".join(lines)


@pytest.mark.parametrize(
    ("page", "notes"),
    [
        ("<p hidden>secret</p><p>shown</p>", [("hidden-text", 1)]),
        ("<div style='DISPLAY: none'>a<p style='display:none'>b</p></div>", [("hidden-text", 1)]),
        ("<p style='visibility:hidden'>a</p><p style='display:none'>b</p>", [("hidden-text", 2)]),
        ("<p style='display:none'></p><div hidden><script>x()</script></div><p>a</p>", []),
        ("<p>Was <del>100</del> <s>90</s>, now 80</p>", [("struck-text", 2)]),
        ("<p><span style='text-decoration: line-through'>100</span> 80</p>", [("struck-text", 1)]),
        ("<p style='display:block'>a</p>", []),
    ],
)
def test_text_that_is_hidden_or_struck_out_is_said(
    tmp_path: Path, page: str, notes: list[tuple[str, int]]
) -> None:
    path = tmp_path / "a.html"
    path.write_text(f"<html><body>{page}</body></html>")
    outline = inspect(str(path), path.name)["outline"]
    assert [(note["kind"], note["count"]) for note in outline["notes"]] == notes
    assert read(str(path), "html")["notes"] == outline["notes"]
    head = "From: a@example.org\r\nSubject: x\r\nDate: x\r\nContent-Type: text/html\r\n\r\n"
    message = parse((head + path.read_text()).encode())
    assert [(note.kind, note.count) for note in message.notes] == notes


def test_hidden_text_that_an_article_leaves_out_is_not_said_to_be_read() -> None:
    prose = "".join(
        f"<p>{'The board looked at the figures of all regions again. ' * 4}</p>" for _ in range(9)
    )
    page = (
        '<html><head><meta property="og:type" content="article"></head><body>'
        f"<div style='display:none'><a href='/'>Take our cookies</a></div><article>{prose}</article></body></html>"
    )
    assert "hidden-text" not in {note.kind for note in page_of(page).notes}


def test_cells_over_several_rows_and_columns_stand_in_each_row(tmp_path: Path) -> None:
    page = (
        "<html><body><table><tr><th rowspan=2>Region<th colspan=2>Units<th>All"
        "<tr><th>Q1<th>Q2<th>Q1-Q2<tr><td rowspan=2>North<td>1<td>2<td>3<tr><td>4<td>5<td>9"
        "<tr><td>South<td colspan=2>6<td>6</table></body></html>"
    )
    assert paragraphs(page) == [
        "Region | Units | | All",
        "Region | Q1 | Q2 | Q1-Q2",
        "North | 1 | 2 | 3",
        "North | 4 | 5 | 9",
        "South | 6 | | 6",
    ]


def test_the_foot_of_a_table_is_below_its_rows_wherever_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    regions = "".join(f"<tr><td>R{number}<td>{number * 7}" for number in range(1, 7))
    path.write_text(
        "<html><body><table><thead><tr><th>Region<th>Units</thead><tfoot><tr><td>Total<td>147</tfoot>"
        f"<tbody>{regions}</tbody></table></body></html>"
    )
    reader: Any = reader_of("html")
    (info,) = reader.tables(path, tmp_path / "out")
    assert info.left_out == (("total", (8,)),)
    assert rows(path)[0][:2] == ("R1", 7)


PAGE = '<html xmlns="http://www.w3.org/1999/xhtml"><body>{}</body></html>'
COVER = PAGE.format('<img src="c.png" alt="Cover"/>')
ENCRYPTED = (
    '<enc:EncryptedData xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptionMethod Algorithm="{}"/>'
    '<enc:CipherData><enc:CipherReference URI="{}"/></enc:CipherData></enc:EncryptedData>'
)
AES = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"


def book(
    path: Path, chapters: dict[str, bytes], encrypted: tuple[tuple[str, str], ...] = ()
) -> Path:
    """An e-book of these parts in order; those that are no pages are pictures."""
    items = "".join(
        f'<item id="i{at}" href="{name}" media-type="{"image/jpeg" if name.endswith("jpg") else "text/html"}"/>'
        for at, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="i{at}"/>' for at in range(len(chapters)))
    locked = "".join(ENCRYPTED.format(*one) for one in encrypted)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml", '<container><rootfile full-path="text/book.opf"/></container>'
        )
        archive.writestr(
            "text/book.opf",
            f"<package><metadata><title>B</title></metadata><manifest>{items}</manifest>"
            f"<spine>{order}</spine></package>",
        )
        if locked:
            archive.writestr("META-INF/encryption.xml", f"<encryption>{locked}</encryption>")
        for name, text in chapters.items():
            archive.writestr(f"text/{name}", text)
    return path


def noted(path: Path) -> list[tuple[str, int]]:
    outline = inspect(str(path), path.name)["outline"]
    return [(note["kind"], note["count"]) for note in outline["notes"]]


def test_a_book_that_its_shop_protects_says_so(tmp_path: Path) -> None:
    chapters = {f"{name}.xhtml": PAGE.format(f"<p>{name}</p>").encode() for name in "ab"}
    path = book(tmp_path / "a.epub", chapters, tuple((AES, f"text/{name}") for name in chapters))
    with pytest.raises(EncryptedFileError, match="DRM"):
        inspect(str(path), path.name)
    path = book(tmp_path / "b.epub", chapters, ((AES, "text/a.xhtml"),))
    assert (texts(path), noted(path)) == (["b"], [("chapters-unread", 1)])
    path = book(
        tmp_path / "c.epub", chapters, (("http://www.idpf.org/2008/embedding", "text/f.otf"),)
    )
    assert (texts(path), noted(path)) == (["a", "b"], [])


def test_chapters_that_are_pictures_are_counted_but_the_cover(tmp_path: Path) -> None:
    drawn = PAGE.format('<svg viewBox="0 0 9 9"><image href="1.png"/></svg>').encode()
    page = PAGE.format("<p>Words.</p>").encode()
    path = book(tmp_path / "a.epub", {"c.xhtml": COVER.encode(), "1.xhtml": page})
    assert noted(path) == []
    comic = {
        "c.xhtml": COVER.encode(),
        "1.xhtml": drawn,
        "2.xhtml": drawn,
        "3.jpg": b"\xff\xd8\xff\xe0" * 9,
    }
    path = book(tmp_path / "b.epub", comic)
    assert noted(path) == [("chapters-unread", 1), ("pictures-unread", 2)]
    assert texts(path) == ["[picture: Cover]"]


def test_a_book_without_chapters_is_refused(tmp_path: Path) -> None:
    path = book(tmp_path / "a.epub", {})
    with pytest.raises(UnreadableFileError, match="list of chapters"):
        inspect(str(path), path.name)


def test_chapters_are_read_as_their_first_line_says(tmp_path: Path) -> None:
    page = '<?xml version="1.0" encoding="iso-8859-5"?>' + PAGE.format(
        "<p hidden='hidden'>Итого 5</p>"
    )
    path = book(tmp_path / "a.epub", {"1.xhtml": page.encode("iso8859-5")})
    assert (texts(path), noted(path)) == (["Итого 5"], [("hidden-text", 1)])

"""OpenDocument texts and presentations, Rich Text, e-books, Outlook messages."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pytest

from leaf.errors import EncryptedFileError, FileError
from leaf.readers.base import Where
from leaf.readers.detect import detect
from leaf.readers.documents.epub import EpubReader
from leaf.readers.worker import inspect, reader_of

SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "draw", "presentation", "style", "svg-compatible")
)
TABLE = """<table:table>
  <table:table-row><table:table-cell><text:p>Region</text:p></table:table-cell>
    <table:table-cell><text:p>Units</text:p></table:table-cell></table:table-row>
  <table:table-row><table:table-cell><text:p>North</text:p></table:table-cell>
    <table:table-cell><text:p>1204</text:p></table:table-cell></table:table-row>
  <table:table-row><table:table-cell><text:p>Süd</text:p></table:table-cell>
    <table:table-cell><text:p>3001</text:p></table:table-cell></table:table-row></table:table>"""


def zipped(path: Path, parts: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


def open_document(path: Path, kind: str, body: str, manifest: str = "", *, style: str = "") -> Path:
    whole = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    content = f"<office:document-content {SPACES}>{style}{whole}</office:document-content>"
    media = f"application/vnd.oasis.opendocument.{kind}"
    return zipped(
        path, {"mimetype": media, "content.xml": content, "META-INF/manifest.xml": manifest}
    )


def texts(path: Path) -> list[str]:
    kind = detect(path, path.name)[0]
    return [p.text for p in reader_of(kind).passages(path, Where())]


def rows(path: Path) -> list[tuple[Any, ...]]:
    reader: Any = reader_of(detect(path, path.name)[0])
    (info,) = reader.tables(path, path.parent / "out")
    return (
        duckdb.connect()
        .execute(f"SELECT * FROM read_parquet('{path.parent / 'out' / info.parquet}')")
        .fetchall()
    )


def test_a_text_document_is_read_in_order_and_its_tables_are_tables(tmp_path: Path) -> None:
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:h "
        'text:outline-level="2">Über uns</text:h>'
        '<text:p>A<text:s text:c="2"/>b<text:tab/>c'
        "<text:note><text:note-body><text:p>see there</text:p></text:note-body></text:note>"
        "</text:p><text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
        + TABLE
    )
    path = open_document(tmp_path / "a.odt", "text", body)
    found = texts(path)
    assert found[0] == "## Über uns"
    assert "[footnote: see there]" in found[1]
    assert found[2:] == ["- one", "Region | Units", "North | 1204", "Süd | 3001"]
    assert rows(path) == [("North", 1204), ("Süd", 3001)]
    assert inspect(str(path), "a.odt")["outline"]["tables"] == 1


def row(*cells: str) -> str:
    return f"<table:table-row>{''.join(cells)}</table:table-row>"


def cell(text: str, more: str = "") -> str:
    return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"


def test_cells_over_several_rows_are_said_in_each_and_tables_in_cells_are_apart(
    tmp_path: Path,
) -> None:
    covered = "<table:covered-table-cell/>"
    spanned = 'table:number-rows-spanned="2"'
    inner = f"<table:table-cell><table:table>{row(cell('a'), cell('b'))}</table:table></table:table-cell>"
    head = f"<table:table-header-rows>{row(cell('Region'), cell('Day'), cell('Units'))}</table:table-header-rows>"
    body = (
        row(cell("North", spanned), cell("Mon"), cell("1204"))
        + row(covered, cell("Tue"), cell("3001"))
        + row(cell("South", 'table:number-columns-spanned="2"'), covered, cell("17"))
        + row(cell("West"), inner, cell("5"))
    )
    path = open_document(tmp_path / "a.odt", "text", f"<table:table>{head}{body}</table:table>")
    assert texts(path) == [
        "Region | Day | Units",
        "North | Mon | 1204",
        "North | Tue | 3001",
        "South |  | 17",
        "West | a | b | 5",
    ]
    assert rows(path) == [
        ("North", "Mon", 1204),
        ("North", "Tue", 3001),
        ("South", None, 17),
        ("West", "a | b", 5),
    ]


def test_words_of_a_text_box_are_not_part_of_the_words_around_it(tmp_path: Path) -> None:
    box = "<draw:text-box><text:p>Alpha one</text:p><text:p>Beta two</text:p></draw:text-box>"
    title = "<svg-compatible:title>A chart</svg-compatible:title>"
    body = (
        f"<text:p>See<draw:frame>{box}{title}</draw:frame>the box</text:p>"
        f"<text:p><text:span>and<draw:frame><draw:image/>{title}</draw:frame>this</text:span></text:p>"
        f"<text:p><draw:frame><draw:text-box>{TABLE}</draw:text-box></draw:frame></text:p>"
        "<text:p><text:ruby><text:ruby-base>漢字</text:ruby-base>"
        "<text:ruby-text>かんじ</text:ruby-text></text:ruby></text:p>"
    )
    assert texts(open_document(tmp_path / "a.odt", "text", body)) == [
        *(
            "Seethe box",
            "Alpha one",
            "Beta two",
            "[picture: A chart]",
            "and [picture: A chart] this",
        ),
        *("Region | Units", "North | 1204", "Süd | 3001", "漢字"),
    ]


def test_headers_and_footers_of_a_text_are_read_once_each(tmp_path: Path) -> None:
    path = open_document(tmp_path / "a.odt", "text", "<text:p>the text</text:p>")
    page = (
        "<style:master-page><style:header><text:p>Draft of May</text:p></style:header>"
        "<style:header-left style:display='false'><text:p>old</text:p></style:header-left>"
        "<style:footer><text:p>File 17/4</text:p></style:footer></style:master-page>"
    )
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(
            "styles.xml",
            f"<office:document-styles {SPACES}><office:master-styles>{page * 2}"
            "</office:master-styles></office:document-styles>",
        )
    assert texts(path) == ["the text", "[header] Draft of May", "[footer] File 17/4"]
    assert inspect(str(path), "a.odt")["outline"]["lines"] == 3


def test_a_presentation_is_read_by_slides_with_its_notes(tmp_path: Path) -> None:
    frame = "<draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    notes = f"<presentation:notes>{frame.format('say hello')}</presentation:notes>"
    body = f"<draw:page>{frame.format('Plan')}{notes}</draw:page><draw:page><draw:frame>{TABLE}</draw:frame></draw:page>"
    path = open_document(tmp_path / "a.odp", "presentation", body)
    assert texts(path) == ["Plan\n[notes] say hello", "Region | Units\nNorth | 1204\nSüd | 3001"]
    assert rows(path) == [("North", 1204), ("Süd", 3001)]
    assert inspect(str(path), "a.odp")["outline"]["pages"] == 2


def test_a_protected_text_document_says_so(tmp_path: Path) -> None:
    path = open_document(tmp_path / "a.odt", "text", "<text:p/>", "<manifest:encryption-data/>")
    with pytest.raises(EncryptedFileError, match="text document protected by a password"):
        detect(path, "a.odt")


def test_an_e_book_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    page = (
        "<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>{}</h1><p>Text of "
        "it.</p></body></html>"
    )
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": "<container><rootfiles><rootfile "
        "full-path='OPS/book.opf'/></rootfiles></container>",
        "OPS/book.opf": "<package><metadata><title>Ein "
        "Buch</title></metadata><manifest><item id='b' "
        "href='two%20b.xhtml'/>"
        "<item id='a' href='one.xhtml'/></manifest><spine><itemref idref='a'/><itemref "
        "idref='b'/></spine></package>",
        "OPS/one.xhtml": page.format("Eins"),
        "OPS/two b.xhtml": page.format("Zwei"),
    }
    path = zipped(tmp_path / "a.epub", parts)
    assert texts(path) == ["# Eins", "Text of it.", "# Zwei", "Text of it."]
    assert inspect(str(path), "a.epub")["outline"]["title"] == "Ein Buch"
    assert EpubReader().outline(path).notes == ()
    del parts["OPS/two b.xhtml"]
    parts["OPS/book.opf"] = parts["OPS/book.opf"].replace(
        "<itemref", "<itemref idref='x'/><itemref", 1
    )
    path = zipped(tmp_path / "b.epub", parts)
    assert texts(path) == ["# Eins", "Text of it."]
    assert [(n.kind, n.count) for n in EpubReader().outline(path).notes] == [("chapters-unread", 2)]


def test_rich_text_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    path.write_bytes(
        rb"{\rtf1\ansi\ansicpg1252 Gr\'fc\'dfe \b aus\b0  Wien\par Second \u20013?\par}"
    )
    assert texts(path) == ["Grüße aus Wien", "Second 中"]


def test_what_stands_beside_a_rich_text_is_read(tmp_path: Path) -> None:
    box = r"{\shp{\*\shpinst\shpleft1{\sp{\sn x}{\sv 1}}{\shptxt In \b the\b0  box\par Two\par}}{\shprslt old}}"
    path = tmp_path / "a.rtf"
    path.write_bytes(
        (
            r"{\rtf1\ansi\ansicpg1252{\header\pard Draft of \'fc\par}{\footerl Page 1\par}\pard One"
            + box
            + r" word{\*\atnid A}{\*\atnauthor Ann}\chatn{\*\annotation{\*\atndate 1}\pard "
            r"really?\par} here{\footnote a note}.\par "
            r"{\shp{\*\shpinst{\shpgrp{\shp{\*\shpinst{\shptxt Last}}}}}}Then\par}"
        ).encode()
    )
    assert texts(path) == [
        *(
            "[header] Draft of ü",
            "[footer] Page 1",
            "One word [comment: really? ] here [footnote: a note].",
        ),
        *("In the box", "Two", "Then", "Last"),
    ]


def test_an_empty_first_cell_of_rich_text_keeps_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    path.write_bytes(
        rb"{\rtf1\ansi\trowd\intbl \cell Q1\cell Q2\cell\row\trowd\intbl North\cell 1\cell 2"
        rb"\cell\row\trowd\intbl South\cell 3\cell \cell\row\trowd\intbl \cell\cell\row}"
    )
    assert texts(path) == [" | Q1 | Q2", "North | 1 | 2", "South | 3 |"]


def test_outlook_messages_are_read_with_their_attachments_named(foreign: Path) -> None:
    folder = foreign / "poi" / "hsmf"
    found = texts(folder / "example_received_unicode.msg")
    assert "From: " in found[0]
    assert "Subject: This is a test message please ignore" in found[0]
    assert "alfresco.gif (image/gif" in found[-1]
    assert "öäü" in texts(folder / "HTMLBodyBinary_UTF-8.msg")[0]


def test_every_foreign_message_is_read_or_refused_in_words(foreign: Path) -> None:
    refused = []
    for path in (foreign / "poi" / "hsmf").glob("*.msg"):
        try:
            inspect(str(path), path.name)
        except FileError:
            refused.append(path.name)
    assert len(refused) <= 1


@pytest.mark.parametrize("name", ["a.odt", "a.epub"])
def test_a_document_without_its_content_is_refused_in_words(tmp_path: Path, name: str) -> None:
    media = (
        "application/epub+zip" if name == "a.epub" else "application/vnd.oasis.opendocument.text"
    )
    path = zipped(tmp_path / name, {"mimetype": media})
    with pytest.raises(FileError, match="has no"):
        inspect(str(path), name)

"""E-books (EPUB): the chapters in reading order, each as the web page that it is."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from leaf.errors import EncryptedFileError, FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.charsets import decode_as
from leaf.readers.detect_zip import check_zip
from leaf.readers.documents.html import WebPage, declared_in, numbered, page_of
from leaf.readers.documents.ooxml import attribute, child, local, open_package
from leaf.readers.documents.tracked import hidden_note, struck_note
from leaf.readers.packed import BROKEN_ZIP
from leaf.readers.tabular.grids import Grid, write_grids
from leaf.readers.window import CHARS_PER_TOKEN, Extent

MEDIA_TYPE = "application/epub+zip"
MAX_CHAPTER = 30_000_000
MAX_BOOK = 60_000_000
"""Bytes of all chapters; the longest novels have 10 MB."""
MAX_TAGS = 1_000_000
"""Tags of all chapters."""
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_NO_TEXT = (
    "image/jpeg",
    "image/png",
    "image/gif",
    "image/webp",
    "audio/",
    "video/",
    "application/pdf",
)
"""Types of items that a chapter may not be, and is in some books all the same."""
_PICTURE = re.compile(r"<(?:\w+:)?(?:img|image|svg)\b", re.I)


class EpubReader:
    """Paragraphs of all chapters."""

    def outline(self, path: Path) -> Outline:
        book = _read(path)
        paragraphs = book.paragraphs
        tokens = int(sum(len(p) + 1 for p in paragraphs) / CHARS_PER_TOKEN)
        lines = len(paragraphs)
        return Outline(
            "epub",
            MEDIA_TYPE,
            lines=lines,
            tables=len(book.grids),
            tokens=tokens,
            title=book.title,
            notes=book.notes,
        )

    def extent(self, path: Path, where: Where) -> Extent:
        book = _read(path)
        return Extent(len(book.paragraphs), notes=book.notes)

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        yield from numbered(_read(path).paragraphs, where)

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table of every chapter."""
        return write_grids(_read(path).grids, out)


@dataclass(frozen=True)
class EpubBook:
    """What a book holds, unpacked and parsed once."""

    title: str
    paragraphs: list[str]
    grids: list[Grid]
    notes: tuple[Note, ...]
    """What is not in it, and what it shows otherwise."""


def _read(path: Path) -> EpubBook:
    title, chapters = _chapters(path)
    pages = [None if text is None else _page(text) for text in chapters]
    read = [page for page in pages if page is not None]
    return EpubBook(
        title,
        [paragraph for page in read for paragraph in page.paragraphs],
        [grid for page in read for grid in page.grids],
        tuple(_notes(chapters, pages)),
    )


def _notes(chapters: list[str | None], pages: list[WebPage | None]) -> Iterator[Note]:
    if unread := pages.count(None):
        yield Note("chapters-unread", f"{unread} chapters cannot be read.", unread)
    # The first is the cover.
    pictures = sum(
        _is_picture(text, page) for text, page in zip(chapters[1:], pages[1:], strict=True)
    )
    if pictures:
        text = f"{pictures} of {len(pages)} chapters are pictures, and what they show is not read."
        yield Note("pictures-unread", text, pictures)
    notes = [note for page in pages if page is not None for note in page.notes]
    for kind, note in (("hidden-text", hidden_note), ("struck-text", struck_note)):
        yield from note(sum(one.count for one in notes if one.kind == kind))


def _is_picture(text: str | None, page: WebPage | None) -> bool:
    """Whether a chapter shows a picture and says nothing but what that is called."""
    return (
        text is not None
        and page is not None
        and all(paragraph.startswith("[picture:") for paragraph in page.paragraphs)
        and bool(_PICTURE.search(text))
    )


def _page(text: str) -> WebPage | None:
    try:
        return page_of(text, whole=True)
    except UnreadableFileError:
        return None


def _chapters(path: Path) -> tuple[str, list[str | None]]:
    """Title, and the pages of the book in the order of its spine; None for one that is not there,
    too large or encrypted. Raises UnreadableFileError, and EncryptedFileError where all are."""
    with open_package(path) as package:
        container = package.xml("META-INF/container.xml")
        files = (
            [e for e in container.iter() if local(e) == "rootfile"] if container is not None else []
        )
        book = attribute(files[0], "full-path") if files else ""
        root = package.xml(book) if book else None
        locked = _locked(package.xml("META-INF/encryption.xml"))
    spine = root.iter() if root is not None else ()
    order = [attribute(e, "idref") for e in spine if local(e) == "itemref"]
    if root is None or not order:
        raise UnreadableFileError(
            "This e-book has no list of chapters.", "Convert it to PDF or HTML, and add that."
        )
    named = child(root, "metadata", "title")
    items = {
        attribute(e, "id"): unquote(attribute(e, "href"))
        for e in root.iter()
        if local(e) == "item" and not attribute(e, "media-type").startswith(_NO_TEXT)
    }
    folder = posixpath.dirname(book)
    parts = [
        posixpath.normpath(posixpath.join(folder, items[i])) if i in items else "" for i in order
    ]
    if locked.issuperset(parts):
        raise EncryptedFileError(
            "This e-book is protected by its shop (DRM).",
            "Add a copy without protection, or a PDF of it.",
        )
    title = " ".join((named.text or "").split()) if named is not None else ""
    return title[:300], _pages(path, ["" if part in locked else part for part in parts])


def _locked(encryption: Any) -> set[str]:
    """The parts that are encrypted; fonts that are only made useless elsewhere are not."""
    locked = set()
    for data in encryption.iter() if encryption is not None else ():
        if local(data) != "EncryptedData":
            continue
        methods = [attribute(e, "Algorithm") for e in data.iter() if local(e) == "EncryptionMethod"]
        if not any(method in _FONTS for method in methods):
            locked |= {
                posixpath.normpath(unquote(attribute(e, "URI")))
                for e in data.iter()
                if local(e) == "CipherReference"
            }
    return locked


def _pages(path: Path, parts: list[str]) -> list[str | None]:
    check_zip(path)
    pages: list[str | None] = []
    try:
        with ZipFile(path) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
            if sum(sizes.get(part, 0) for part in parts) > MAX_BOOK:
                raise _too_large(f"are over {MAX_BOOK // 1_000_000} MB")
            tags = 0
            for part in parts:
                if sizes.get(part, MAX_CHAPTER + 1) > MAX_CHAPTER:
                    pages.append(None)
                    continue
                data = archive.read(part)
                text = decode_as(data, declared_in(data))[0]
                pages.append(text)
                tags += text.count("<")
            if tags > MAX_TAGS:
                raise _too_large(f"hold over {MAX_TAGS // 1_000_000} million tags")
    except BROKEN_ZIP as e:
        raise UnreadableFileError(
            "This e-book is damaged.", "Download it again, or convert it to PDF."
        ) from e
    return pages


def _too_large(why: str) -> FileTooLargeError:
    return FileTooLargeError(
        f"The chapters of this e-book {why}.", "Split it, or convert it to PDF, and add that."
    )

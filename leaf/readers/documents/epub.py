"""E-books (EPUB): the chapters in reading order, each as the web page that it is."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote
from zipfile import ZipFile

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.detect_zip import check_zip
from leaf.readers.documents.html import WebPage, numbered, page_of
from leaf.readers.documents.ooxml import attribute, child, local, open_package
from leaf.readers.encoding import decode
from leaf.readers.packed import BROKEN_ZIP
from leaf.readers.tabular.grids import Grid, write_grids
from leaf.readers.window import CHARS_PER_TOKEN, Extent

MEDIA_TYPE = "application/epub+zip"
MAX_CHAPTER = 30_000_000
MAX_BOOK = 60_000_000
"""Bytes of all chapters; the longest novels have 10 MB."""
MAX_TAGS = 1_000_000
"""Tags of all chapters."""


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
    unread: int
    """Chapters that cannot be read, those included that the book names and does not hold."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What is not in it."""
        unread = self.unread
        text = f"{unread} chapters cannot be read."
        return (Note("chapters-unread", text, unread),) if unread else ()


def _read(path: Path) -> EpubBook:
    title, chapters = _chapters(path)
    pages = [None if text is None else _page(text) for text in chapters]
    read = [page for page in pages if page is not None]
    paragraphs = [paragraph for page in read for paragraph in page.paragraphs]
    return EpubBook(
        title, paragraphs, [grid for page in read for grid in page.grids], len(pages) - len(read)
    )


def _page(text: str) -> WebPage | None:
    try:
        return page_of(text, whole=True)
    except UnreadableFileError:
        return None


def _chapters(path: Path) -> tuple[str, list[str | None]]:
    """Title, and the pages of the book in the order of its spine; None for one that is not there or
    too large."""
    with open_package(path) as package:
        container = package.xml("META-INF/container.xml")
        files = (
            [e for e in container.iter() if local(e) == "rootfile"] if container is not None else []
        )
        book = attribute(files[0], "full-path") if files else ""
        root = package.xml(book) if book else None
    if root is None:
        raise UnreadableFileError(
            "This e-book has no list of chapters.", "Convert it to PDF or HTML, and add that."
        )
    named = child(root, "metadata", "title")
    items = {
        attribute(e, "id"): unquote(attribute(e, "href")) for e in root.iter() if local(e) == "item"
    }
    order = [attribute(e, "idref") for e in root.iter() if local(e) == "itemref"]
    folder = posixpath.dirname(book)
    parts = [
        posixpath.normpath(posixpath.join(folder, items[i])) if i in items else "" for i in order
    ]
    title = " ".join((named.text or "").split()) if named is not None else ""
    return title[:300], _pages(path, parts)


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
                text = decode(archive.read(part))[0]
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

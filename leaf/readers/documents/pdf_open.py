"""A PDF opened by pdfium, with pypdf at its side; by pypdf alone where pdfium refuses it.

pdfium may not be entered by two threads at once, so every call of it is made under one lock.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from leaf.errors import FileError, FileTooLargeError, UnreadableFileError
from leaf.readers.base import FEW_WORDS
from leaf.readers.documents.pdf_fields import Pypdf, damaged_page, locked
from leaf.readers.documents.pdf_tables import PageTable, tables_on
from leaf.readers.documents.pdf_text import better, is_picture, page_text, remarks
from leaf.readers.documents.pdf_words import drawing_of

if TYPE_CHECKING:
    import pypdfium2

PDFIUM = threading.Lock()
MOST_PAGES = 100_000
LATEST = 65_536
"""Bytes within which a document begins that has something else before it: headers of a mail or of a
web server."""
SEEN_BY_PDFIUM = 1_000
"""Bytes within which pdfium finds the beginning itself."""


class PdfDocument(Protocol):
    @property
    def pages(self) -> int: ...

    @property
    def title(self) -> str: ...

    @property
    def attached(self) -> int: ...

    def text(self, number: int) -> str: ...

    def tables(self, number: int) -> list[PageTable]: ...

    def close(self) -> None: ...


@contextmanager
def open_pdf(path: Path) -> Iterator[PdfDocument]:
    document = _opened(path)
    try:
        yield document
    finally:
        document.close()


def _opened(path: Path) -> PdfDocument:
    import pypdfium2

    if _is_cut_off(path):
        raise UnreadableFileError(
            "This PDF is cut off before its end.", "Download or export it again, and add it again."
        )
    try:
        with PDFIUM:
            return Pdfium(path, open_pdfium(path))
    except pypdfium2.PdfiumError as e:
        try:
            return Pypdf(path)
        except UnreadableFileError as second:
            raise refused(path, e.err_code) from second


def open_pdfium(path: Path) -> pypdfium2.PdfDocument:
    """The document, to be called under the lock. Raises PdfiumError."""
    import pypdfium2

    with path.open("rb") as file:
        begin = file.read(LATEST).find(b"%PDF-")
        if 0 <= begin <= SEEN_BY_PDFIUM:
            return pypdfium2.PdfDocument(path)
        file.seek(max(0, begin))
        return pypdfium2.PdfDocument((b"%PDF-1.4\n" if begin < 0 else b"") + file.read())


@contextmanager
def in_pdfium(path: Path) -> Iterator[pypdfium2.PdfDocument]:
    """The document under the lock, closed with the context. Raises FileError."""
    import pypdfium2

    with PDFIUM:
        try:
            document = open_pdfium(path)
        except pypdfium2.PdfiumError as e:
            raise refused(path, e.err_code) from e
        try:
            yield document
        finally:
            document.close()


def attached(path: Path) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of the files that are attached in a document; no bytes of one that is
    damaged. Raises FileError."""
    import pypdfium2

    with in_pdfium(path) as document:
        for number in range(document.count_attachments()):
            one = document.get_attachment(number)
            try:
                data = bytes(one.get_data())
            except pypdfium2.PdfiumError:
                data = b""
            yield one.get_name(), data


def refused(path: Path, code: int | None) -> FileError:
    """What it means that pdfium does not open a file (its error codes: 4 password, 5 unknown
    encryption)."""
    if code in (4, 5):
        return locked()
    return UnreadableFileError(
        "This PDF is damaged: its pages cannot be found.",
        "Download or export it again, and add it again.",
    )


def _is_cut_off(path: Path) -> bool:
    """Whether an object begins after the last end mark and no trailer follows. Junk after the end
    has no objects."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = data.rfind(b"%%EOF")
        last_object = data.rfind(b" obj", end if end >= 0 else 0)
        return (
            last_object >= 0
            and data.rfind(b"startxref", last_object) < 0
            and data.rfind(b"trailer", last_object) < 0
        )


class Pdfium:
    """A document opened by pdfium, with pypdf at its side for what pdfium does not tell."""

    def __init__(self, path: Path, document: pypdfium2.PdfDocument) -> None:
        self._path, self._document = path, document
        self.pages = len(document)
        if self.pages > MOST_PAGES:
            document.close()
            raise FileTooLargeError(
                f"This PDF says that it has {self.pages:,} pages; the limit is {MOST_PAGES:,}.",
                "Split it, and add the pieces.",
            )

    @property
    def title(self) -> str:
        with PDFIUM:
            return " ".join(self._document.get_metadata_value("Title").split())

    @property
    def attached(self) -> int:
        """Files that are attached in it, such as the data of an invoice."""
        with PDFIUM:
            return int(self._document.count_attachments())

    @cached_property
    def _beside(self) -> Pypdf | None:
        try:
            return Pypdf(self._path)
        except FileError:
            return None

    def text(self, number: int) -> str:
        """The page's text, form values and annotations; empty where there is none."""
        from pypdfium2 import PdfiumError

        with PDFIUM:
            try:
                page = self._document[number - 1]
            except PdfiumError as e:
                raise damaged_page(number) from e
            try:
                text, odd = page_text(page)
                comments, has_fields = remarks(page)
                seen = is_picture(page, text)
            finally:
                page.close()
        if odd and self._beside:
            text = better(text, self._beside.text(number))
        fields = self._beside.fields(number) if has_fields and self._beside else []
        parts = [part for part in (text, *fields, *comments) if part]
        return "\n".join([FEW_WORDS, *parts] if parts and seen else parts)

    def tables(self, number: int) -> list[PageTable]:
        """The tables of a page; none where it is damaged."""
        from pypdfium2 import PdfiumError

        with PDFIUM:
            try:
                page = self._document[number - 1]
            except PdfiumError:
                return []
            try:
                drawing = drawing_of(page)
            finally:
                page.close()
        return tables_on(drawing)

    def close(self) -> None:
        with PDFIUM:
            self._document.close()
        if "_beside" in self.__dict__ and self._beside:
            self._beside.close()

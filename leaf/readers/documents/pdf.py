"""PDF, page by page: text by pdfium, which is fast; form values, odd fonts and files that pdfium
refuses by pypdf."""

from __future__ import annotations

import io
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leaf.errors import InvalidInputError, UnreadableFileError
from leaf.readers.base import (
    DAMAGED,
    FEW_WORDS,
    GARBLED,
    NO_TEXT,
    PAGES_LOOKED_AT,
    Note,
    Outline,
    Passage,
    TableInfo,
    Where,
)
from leaf.readers.documents.pdf_fields import damaged_page
from leaf.readers.documents.pdf_open import PdfDocument, in_pdfium, open_pdf
from leaf.readers.documents.pdf_tables import PageTable, grid_of, join
from leaf.readers.documents.pdf_text import is_garbled, may_hold_table
from leaf.readers.locate.where import span
from leaf.readers.media.picture import QUALITY, Drawn
from leaf.readers.tabular.grids import Grid, write_grids
from leaf.readers.window import CHARS_PER_TOKEN, Extent

SEARCHED_FOR_OUTLINE = 40
"""Pages that may hold tables which are looked at for them when a file is added; a fifth of a
second."""
SCANNED = "are pictures without a text layer"
PICTURE_TOKENS = 2_400
"""What a page takes that is seen, not read: A4 at 1,600 pixels."""


class PdfReader:
    """Pages in reading order, with the values of form fields and the words of annotations at the
    end of their page."""

    def outline(self, path: Path) -> Outline:
        with open_pdf(path) as document:
            seen = min(document.pages, PAGES_LOOKED_AT)
            looked = _look(document, seen)
            tables, more = _count_tables(document, looked.candidates)
            title, total, members = document.title, document.pages, document.attached
        shown = (len(looked.empty) + len(looked.pictures)) * PICTURE_TOKENS
        tokens = int((looked.length / CHARS_PER_TOKEN + shown) / max(1, seen) * total)
        notes = (*_notes(looked, seen, total), *_more_tables(tables, more, seen, total))
        return Outline(
            "pdf",
            "application/pdf",
            pages=total,
            tables=tables,
            members=members or None,
            tokens=tokens,
            title=title,
            notes=notes,
        )

    def extent(self, path: Path, where: Where) -> Extent:
        """Number of pages; costs no page."""
        with open_pdf(path) as document:
            return Extent(document.pages)

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        """Pages; one that is damaged, or whose text is no text, says so and hides no other."""
        with open_pdf(path) as document:
            last = document.pages if where.last is None else min(int(where.last), document.pages)
            for number in range(int(where.first), last + 1):
                yield Passage(_said(document, number), "page", number)

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table of the pages, those that go on over a page's end put together."""
        return write_grids(document_grids(path), out)


def _said(document: PdfDocument, number: int) -> str:
    """What a page gives: its text, or why there is none."""
    try:
        text = document.text(number)
    except UnreadableFileError:
        return DAMAGED
    if not text:
        return NO_TEXT
    return f"{GARBLED}\n{text}" if is_garbled(text) else text


@dataclass
class _Looked:
    """What the pages of a file are like, as far as they were looked at."""

    length: int = 0
    empty: list[int] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)
    """Pages that a picture fills, with a few words."""
    damaged: list[int] = field(default_factory=list)
    garbled: list[int] = field(default_factory=list)
    candidates: list[int] = field(default_factory=list)
    """Pages whose text may be that of a table."""


def _look(document: PdfDocument, pages: int) -> _Looked:
    """The first pages. Raises UnreadableFileError if all of them are damaged."""
    looked = _Looked()
    for number in range(1, pages + 1):
        try:
            text = document.text(number)
        except UnreadableFileError:
            looked.damaged.append(number)
            continue
        looked.length += len(text)
        if not text:
            looked.empty.append(number)
        elif text.startswith(FEW_WORDS):
            looked.pictures.append(number)
        elif is_garbled(text):
            looked.garbled.append(number)
        elif may_hold_table(text):
            looked.candidates.append(number)
    if len(looked.damaged) == pages:
        raise UnreadableFileError(
            "Every page of this PDF is damaged.", "Download or export it again, and add it again."
        )
    return looked


def _count_tables(document: PdfDocument, candidates: Sequence[int]) -> tuple[int, int]:
    """Tables on the pages that may hold one, parts over several pages as one, and how many such
    pages were not looked at."""
    pages = [(number, document.tables(number)) for number in candidates[:SEARCHED_FOR_OUTLINE]]
    more = max(0, len(candidates) - SEARCHED_FOR_OUTLINE)
    return sum(1 for _ in join(pages)), more


def _more_tables(tables: int, more: int, seen: int, total: int) -> tuple[Note, ...]:
    if not tables or not (more or seen < total):
        return ()
    text = (
        f"Its first {tables:,} tables were counted; what the other pages hold is known when "
        f"its tables are first asked for."
    )
    return (Note("tables-counted", text, tables),)


def document_grids(path: Path) -> Iterator[Grid]:
    """The tables of a document with their pages. Raises FileError."""
    return (grid_of(parts) for parts in join(page_tables(path)))


def page_tables(path: Path) -> Iterator[tuple[int, list[PageTable]]]:
    """Page numbers and the tables on each page; a page that is damaged has none. Raises
    FileError."""
    with open_pdf(path) as document:
        for number in range(1, document.pages + 1):
            yield number, document.tables(number)


def render_page(path: Path, page: int, max_edge: int = 1600) -> bytes:
    """A page as JPEG; see `draw_pages`."""
    with closing(draw_pages(path, [page], max_edge)) as drawn:
        return next(drawn).data


def draw_pages(path: Path, pages: Sequence[int], max_edge: int = 1600) -> Generator[Drawn]:
    """Pages as JPEG, one by one, their longer edge `max_edge` pixels. By dots an inch, a poster
    would take a gigabyte.

    Costs the pages that are drawn and no others. Raises FileError, InvalidInputError for a page
    that is not there.
    """
    import pypdfium2

    with in_pdfium(path) as document:
        for page in pages:
            if not 1 <= page <= len(document):
                raise InvalidInputError(
                    f"Page {page} is outside this file.",
                    f"It has {span('page', 1, len(document))}.",
                )
            try:
                yield _draw(document[page - 1], max_edge)
            except (pypdfium2.PdfiumError, ValueError) as e:
                raise damaged_page(page) from e


def _draw(sheet: Any, max_edge: int) -> Drawn:
    width, height = sheet.get_size()
    picture = (
        sheet.render(scale=min(4.0, max_edge / max(width, height, 1.0))).to_pil().convert("RGB")
    )
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=QUALITY)
    sheet.close()
    return Drawn(out.getvalue(), "image/jpeg", *picture.size)


def _notes(looked: _Looked, seen: int, total: int) -> Iterator[Note]:
    of = f"{total:,} pages" if seen == total else f"the first {seen:,} pages"
    if looked.empty:
        text = f"{len(looked.empty):,} of {of} {SCANNED} and cannot be searched."
        yield Note("no-text-layer", text, len(looked.empty), _pages(looked.empty))
    if looked.pictures:
        text = (
            f"{len(looked.pictures):,} of {of} are pictures with only a few words of text, such as "
            f"a stamp or a page number; what else they show cannot be searched."
        )
        yield Note("few-words", text, len(looked.pictures), _pages(looked.pictures))
    if looked.damaged:
        text = (
            f"{len(looked.damaged):,} of {of} are damaged and cannot be read: "
            f"{_pages(looked.damaged)}. The others are read."
        )
        yield Note("pages-damaged", text, len(looked.damaged), _pages(looked.damaged))
    if looked.garbled:
        places = _pages(looked.garbled)
        text = (
            f"The text of {places} can't be trusted: its fonts do not say which letters they "
            f"draw. view_file shows it."
        )
        yield Note("text-garbled", text, len(looked.garbled), places)


def _pages(numbers: Sequence[int]) -> str:
    """`pages 3, 17, 40`."""
    shown = ", ".join(map(str, numbers[:12])) + (" …" if len(numbers) > 12 else "")
    return f"page{'s' if len(numbers) > 1 else ''} {shown}"

"""PDF, page by page: text by pdfium, which is fast; form values, odd fonts and files that pdfium refuses by pypdf.

pdfium may not be entered by two threads at once, so every call of it is made under one lock.
"""

from __future__ import annotations

import ctypes
import io
import logging
import mmap
import re
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from leaf.errors import EncryptedFileError, FileError, InvalidInputError, UnreadableFileError
from leaf.formats.base import NO_TEXT, Note, Outline, Passage, TableInfo, Where
from leaf.formats.grids import Grid, write_grids
from leaf.formats.pdf_rows import looks_tabular, text_by_rows
from leaf.formats.pdf_tables import Found, grid_of, join, tables_on
from leaf.formats.pdf_words import drawing_of
from leaf.formats.picture import QUALITY, Drawn
from leaf.formats.where import span
from leaf.formats.window import CHARS_PER_TOKEN, Extent

if TYPE_CHECKING:
    import pypdf
    import pypdfium2

PDFIUM = threading.Lock()

LIGATURES = {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
REPLACED = LIGATURES | {"\x00": "", "\ufffe": "-\n", "\x02": "-\n"}
"""Characters -> what stands in the text; pdfium puts the last two where a word is divided at a line's end."""
REPLACE = re.compile("[\ufb00-\ufb06\x00\x02\ufffe]")
BLANK_ENDS = re.compile(r"[ \t]+$", re.M)
ODD = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08\x0b-\x1f]")
READ_FOR_OUTLINE = 1_000
"""Pages whose text is looked at when a file is added; some two seconds."""
SCANNED = "are pictures without a text layer"
PICTURE_TOKENS = 2_400
"""What a page takes that is seen, not read: A4 at 1,600 pixels."""


class PdfReader:
    """Pages in reading order, with the values of form fields and the words of annotations at the end of their page."""

    def outline(self, path: Path) -> Outline:
        with _open(path) as document:
            seen = min(document.pages, READ_FOR_OUTLINE)
            lengths = [len(document.text(number)) for number in range(1, seen + 1)]
            title = document.title
            total = document.pages
        empty = [number for number, length in enumerate(lengths, 1) if not length]
        tokens = int((sum(lengths) / CHARS_PER_TOKEN + len(empty) * PICTURE_TOKENS) / max(1, seen) * total)
        return Outline("pdf", "application/pdf", pages=total, tokens=tokens, title=title, notes=_no_text(empty, seen, total))

    def extent(self, path: Path, where: Where) -> Extent:
        """Number of pages; costs no page."""
        with _open(path) as document:
            return Extent(document.pages)

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        with _open(path) as document:
            last = document.pages if where.last is None else min(int(where.last), document.pages)
            for number in range(int(where.first), last + 1):
                yield Passage(document.text(number) or NO_TEXT, "page", number)


    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table of the pages, those that go on over a page's end put together."""
        return write_grids(document_grids(path), out)


def document_grids(path: Path) -> Iterator[Grid]:
    """The tables of a document with their pages. Raises FileError."""
    return (grid_of(parts) for parts in join(page_tables(path)))


def page_tables(path: Path) -> Iterator[tuple[int, list[Found]]]:
    """Page numbers and the tables on each page; a page that is damaged has none. Raises FileError."""
    with _open(path) as document:
        for number in range(1, document.pages + 1):
            yield number, document.tables(number)


def render_page(path: Path, page: int, max_edge: int = 1600) -> bytes:
    """A page as JPEG; see `draw_pages`."""
    with closing(draw_pages(path, [page], max_edge)) as drawn:
        return next(drawn).data


def draw_pages(path: Path, pages: Sequence[int], max_edge: int = 1600) -> Generator[Drawn]:
    """Pages as JPEG, one by one, their longer edge `max_edge` pixels. By dots an inch, a poster would take a gigabyte.

    Costs the pages that are drawn and no others. Raises FileError, InvalidInputError for a page that is not there.
    """
    import pypdfium2

    with PDFIUM:
        try:
            document = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as e:
            raise refused(path, e.err_code) from e
        try:
            for page in pages:
                if not 1 <= page <= len(document):
                    raise InvalidInputError(f"Page {page} is outside this file.", f"It has {span('page', 1, len(document))}.")
                try:
                    yield _draw(document[page - 1], max_edge)
                except pypdfium2.PdfiumError as e:
                    raise _damaged_page(page) from e
        finally:
            document.close()


def _draw(sheet: Any, max_edge: int) -> Drawn:
    width, height = sheet.get_size()
    picture = sheet.render(scale=min(4.0, max_edge / max(width, height, 1.0))).to_pil().convert("RGB")
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=QUALITY)
    sheet.close()
    return Drawn(out.getvalue(), "image/jpeg", *picture.size)


def _damaged_page(number: int) -> UnreadableFileError:
    return UnreadableFileError(f"Page {number} of this PDF is damaged.", "Read the other pages, or export it again.")


def _no_text(empty: list[int], seen: int, total: int) -> tuple[Note, ...]:
    if not empty:
        return ()
    place = ", ".join(f"{number}" for number in empty[:12]) + (" …" if len(empty) > 12 else "")
    of = f"{total:,} pages" if seen == total else f"the first {seen:,} pages"
    return (
        Note(
            "no-text-layer",
            f"{len(empty):,} of {of} {SCANNED} and cannot be searched.",
            len(empty),
            f"page{'s' if len(empty) > 1 else ''} {place}",
        ),
    )


class _Document(Protocol):
    @property
    def pages(self) -> int: ...

    @property
    def title(self) -> str: ...

    def text(self, number: int) -> str: ...

    def tables(self, number: int) -> list[Found]: ...

    def close(self) -> None: ...


@contextmanager
def _open(path: Path) -> Iterator[_Document]:
    document = _open_document(path)
    try:
        yield document
    finally:
        document.close()


def _open_document(path: Path) -> _Document:
    import pypdfium2

    if _is_cut_off(path):
        raise UnreadableFileError("This PDF is cut off before its end.", "Download or export it again, and add it again.")
    try:
        with PDFIUM:
            return _Pdfium(path, pypdfium2.PdfDocument(path))
    except pypdfium2.PdfiumError as e:
        try:
            return _Pypdf(path)
        except UnreadableFileError as second:
            raise refused(path, e.err_code) from second


def refused(path: Path, code: int | None) -> FileError:
    """What it means that pdfium does not open a file (its error codes: 4 password, 5 unknown encryption)."""
    if code in (4, 5):
        return _locked()
    return UnreadableFileError(
        "This PDF is damaged: its pages cannot be found.", "Download or export it again, and add it again."
    )


def _locked() -> EncryptedFileError:
    return EncryptedFileError("This PDF is protected by a password.", "Save a copy without the password, and add that copy.")


def _is_cut_off(path: Path) -> bool:
    """Whether an object begins after the last end mark and no trailer follows. Junk after the end has no objects."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = data.rfind(b"%%EOF")
        last_object = data.rfind(b" obj", end if end >= 0 else 0)
        return last_object >= 0 and data.rfind(b"startxref", last_object) < 0 and data.rfind(b"trailer", last_object) < 0


class _Pdfium:
    """A document opened by pdfium, with pypdf at its side for what pdfium does not tell."""

    def __init__(self, path: Path, document: pypdfium2.PdfDocument) -> None:
        self._path, self._document = path, document
        self.pages = len(document)

    @property
    def title(self) -> str:
        with PDFIUM:
            return " ".join(self._document.get_metadata_value("Title").split())

    @cached_property
    def _beside(self) -> _Pypdf | None:
        try:
            return _Pypdf(self._path)
        except FileError:
            return None

    def text(self, number: int) -> str:
        """The page's text, form values and annotations; empty where there is none."""
        from pypdfium2 import PdfiumError

        with PDFIUM:
            try:
                page = self._document[number - 1]
            except PdfiumError as e:
                raise _damaged_page(number) from e
            try:
                text, odd = _page_text(page)
                remarks, has_fields = _remarks(page)
            finally:
                page.close()
        if odd and self._beside:
            text = _better(text, self._beside.text(number))
        fields = self._beside.fields(number) if has_fields and self._beside else []
        return "\n".join(part for part in (text, *fields, *remarks) if part)

    def tables(self, number: int) -> list[Found]:
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


def _page_text(page: Any) -> tuple[str, bool]:
    """The text, and whether pdfium could not make sense of the page's fonts."""
    lines = page.get_textpage()
    try:
        raw = lines.get_text_bounded()
        text = _clean(raw)
        if looks_tabular(text):
            text = _clean(text_by_rows(lines) or raw)
    finally:
        lines.close()
    return text, _oddness(text) > 0.2 if text else _draws_text(page)


def _clean(text: str) -> str:
    text = REPLACE.sub(lambda match: REPLACED[match[0]], text.replace("\r\n", "\n").replace("\r", "\n"))
    return BLANK_ENDS.sub("", text).strip("\n")


def _oddness(text: str) -> float:
    """Share of characters that are no characters: private use, replacement, control."""
    return len(ODD.findall(text)) / max(1, len(text))


def _better(first: str, second: str) -> str:
    return second if second.strip() and (not first or _oddness(second) < _oddness(first)) else first


def _draws_text(page: Any) -> bool:
    """Whether a page without text draws text all the same; looks at a few objects only, as a scan has few."""
    import pypdfium2.raw as raw

    count = min(raw.FPDFPage_CountObjects(page), 50)
    kinds = {raw.FPDFPageObj_GetType(raw.FPDFPage_GetObject(page, i)) for i in range(count)}
    return raw.FPDF_PAGEOBJ_TEXT in kinds


def _remarks(page: Any) -> tuple[list[str], bool]:
    """What annotations say, and whether the page has form fields."""
    import pypdfium2.raw as raw

    found: list[str] = []
    has_fields = False
    silent = (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP, raw.FPDF_ANNOT_UNKNOWN)
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        if kind == raw.FPDF_ANNOT_WIDGET:
            has_fields = True
        elif kind not in silent and (words := _contents(annotation)):
            found.append(f"[annotation] {words}")
        raw.FPDFPage_CloseAnnot(annotation)
    return found, has_fields


def _contents(annotation: Any) -> str:
    import pypdfium2.raw as raw

    size = raw.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0)
    if size <= 2:
        return ""
    buffer = (ctypes.c_ushort * ((size + 1) // 2))()
    raw.FPDFAnnot_GetStringValue(annotation, b"Contents", buffer, size)
    return _clean(bytes(buffer).decode("utf-16-le", "replace").rstrip("\x00"))


class _Pypdf:
    """A document opened by pypdf: slower, but it tells form values and opens some files that pdfium does not."""

    def __init__(self, path: Path) -> None:
        import pypdf

        logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # a warning for each odd font would fill the log
        self._file = path.open("rb")
        try:
            self._reader = _unlocked(pypdf.PdfReader(self._file))
            self.pages = len(self._reader.pages)
        except _pypdf_errors() as e:
            self._file.close()
            raise UnreadableFileError("This PDF is damaged.", "Download or export it again, and add it again.") from e
        if not self.pages:
            raise UnreadableFileError("This PDF has no pages.", "Download or export it again, and add it again.")

    @property
    def title(self) -> str:
        try:
            return " ".join(str(self._reader.metadata.title if self._reader.metadata else "").split())
        except _pypdf_errors():
            return ""

    def text(self, number: int) -> str:
        try:
            return _clean(self._reader.pages[number - 1].extract_text())
        except _pypdf_errors() as e:
            raise _damaged_page(number) from e

    def tables(self, number: int) -> list[Found]:
        """None: pypdf tells no places."""
        return []

    def fields(self, number: int) -> list[str]:
        """`[form] Name: value` for each field on the page that has a value."""
        found: dict[str, None] = {}
        try:
            for item in self._reader.pages[number - 1].get("/Annots") or ():
                widget = item.get_object()
                if widget.get("/Subtype") == "/Widget" and (line := _field(widget)):
                    found[line] = None
        except _pypdf_errors():
            return [*found, "[form] (the other fields of this page are damaged)"]
        return list(found)

    def close(self) -> None:
        self._file.close()


def _unlocked(reader: pypdf.PdfReader) -> pypdf.PdfReader:
    if reader.is_encrypted and not reader.decrypt(""):
        raise _locked()
    return reader


def _pypdf_errors() -> tuple[type[Exception], ...]:
    """What pypdf raises on broken files; it does not wrap them all in its own errors."""
    from pypdf.errors import PyPdfError

    return (PyPdfError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError, OSError, NotImplementedError)


def _field(widget: Any) -> str:
    """One field as a line; empty for buttons, signatures and fields without a value."""
    kind, value = _inherited(widget, "/FT"), _inherited(widget, "/V")
    if kind == "/Btn":
        state = widget.get("/AS") or value
        value = None if state in (None, "/Off") else str(state).lstrip("/")
    if kind == "/Sig" or value is None:
        return ""
    values = value if isinstance(value, list) else [value]
    words = " ".join(", ".join(_words(v) for v in values).split())
    return f"[form] {_field_name(widget)}: {words}" if words else ""


def _words(value: Any) -> str:
    value = value.get_object() if hasattr(value, "get_object") else value
    data = value.get_data() if hasattr(value, "get_data") else value
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data).lstrip("/")


def _inherited(widget: Any, key: str) -> Any:
    node = widget
    for _ in range(32):
        if key in node:
            return node[key]
        if "/Parent" not in node:
            return None
        node = node["/Parent"]
    return None


def _field_name(widget: Any) -> str:
    names: list[str] = []
    node = widget
    for _ in range(32):
        if "/T" in node:
            names.append(str(node["/T"]))
        if "/Parent" not in node:
            break
        node = node["/Parent"]
    return ".".join(reversed(names)) or "field"

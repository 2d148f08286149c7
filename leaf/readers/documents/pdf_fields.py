"""A PDF by pypdf: slower than pdfium, but it tells form values, reads odd fonts and opens some
files that pdfium does not."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.errors import EncryptedFileError, UnreadableFileError
from leaf.readers.documents.pdf_tables import PageTable
from leaf.readers.documents.pdf_text import clean

if TYPE_CHECKING:
    import pypdf


def locked() -> EncryptedFileError:
    return EncryptedFileError(
        "This PDF is protected by a password.",
        "Save a copy without the password, and add that copy.",
    )


def damaged_page(number: int) -> UnreadableFileError:
    return UnreadableFileError(
        f"Page {number} of this PDF is damaged.", "Read the other pages, or export it again."
    )


class Pypdf:
    """A document opened by pypdf: slower, but it tells form values and opens some files that pdfium
    does not."""

    def __init__(self, path: Path) -> None:
        import pypdf

        logging.getLogger("pypdf").setLevel(
            logging.CRITICAL
        )  # a warning for each odd font would fill the log
        self._file = path.open("rb")
        try:
            self._reader = _unlocked(pypdf.PdfReader(self._file))
            self.pages = len(self._reader.pages)
        except _pypdf_errors() as e:
            self._file.close()
            raise UnreadableFileError(
                "This PDF is damaged.", "Download or export it again, and add it again."
            ) from e
        if not self.pages:
            raise UnreadableFileError(
                "This PDF has no pages.", "Download or export it again, and add it again."
            )

    attached = 0
    """It opens what pdfium does not; what is attached there is not looked for."""

    @property
    def title(self) -> str:
        try:
            return " ".join(
                str(self._reader.metadata.title if self._reader.metadata else "").split()
            )
        except _pypdf_errors():
            return ""

    def text(self, number: int) -> str:
        try:
            return clean(self._reader.pages[number - 1].extract_text())
        except _pypdf_errors() as e:
            raise damaged_page(number) from e

    def tables(self, number: int) -> list[PageTable]:
        """None: pypdf tells no places."""
        return []

    def fields(self, number: int) -> list[str]:
        """`[form] Name: value` for each field on the page that has a value."""
        lines: dict[str, None] = {}
        try:
            for item in self._reader.pages[number - 1].get("/Annots") or ():
                widget = item.get_object()
                if widget.get("/Subtype") == "/Widget" and (line := _field(widget)):
                    lines[line] = None
        except _pypdf_errors():
            return [*lines, "[form] (the other fields of this page are damaged)"]
        return list(lines)

    def close(self) -> None:
        self._file.close()


def _unlocked(reader: pypdf.PdfReader) -> pypdf.PdfReader:
    if reader.is_encrypted and not reader.decrypt(""):
        raise locked()
    return reader


def _pypdf_errors() -> tuple[type[Exception], ...]:
    """What pypdf raises on broken files; it does not wrap them all in its own errors."""
    from pypdf.errors import PyPdfError

    return (
        PyPdfError,
        ValueError,
        KeyError,
        IndexError,
        TypeError,
        AttributeError,
        RecursionError,
        OSError,
        NotImplementedError,
    )


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

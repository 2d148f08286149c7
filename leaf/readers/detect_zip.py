"""What kind of file a ZIP archive is, by its parts: an office file, an e-book or an archive.

It is looked at before anything is unpacked: number of entries, unpacked size and ratio.
"""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile, ZipInfo

from leaf.errors import FileTooLargeError
from leaf.readers.packed import BROKEN_ZIP, too_much
from leaf.readers.unread import damaged, encrypted, unsupported

MAX_ENTRIES = 20_000
"""Parts in one archive; a workbook of hundreds of sheets has some thousand."""
MAX_UNPACKED = 4_000_000_000
"""Bytes, all parts together."""

OFFICE = "application/vnd.openxmlformats-officedocument."
MEDIA = {
    "xlsx": OFFICE + "spreadsheetml.sheet",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "docx": OFFICE + "wordprocessingml.document",
    "pptx": OFFICE + "presentationml.presentation",
}


def check_zip(path: Path, name: str = "The file") -> list[ZipInfo]:
    """The entries of an archive, once its size, ratio and count are known to be harmless. Nothing
    is unpacked."""
    try:
        with ZipFile(path) as archive:
            entries = archive.infolist()
    except BROKEN_ZIP as e:
        raise damaged(name, "ZIP-based document") from e
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > MAX_ENTRIES:
        message = f"'{name}' holds {len(entries):,} parts; the limit is {MAX_ENTRIES:,}."
        raise FileTooLargeError(message, "Split it, and add the pieces.")
    packed = path.stat().st_size
    if unpacked > MAX_UNPACKED or too_much(unpacked, packed):
        raise FileTooLargeError(
            f"'{name}' would unpack to {unpacked / 1e6:,.0f} MB from {packed / 1e6:,.1f} MB, "
            f"which is over the limit.",
            "Save it again from its application, or export its data as CSV.",
        )
    return entries


def zip_kind(path: Path, name: str) -> tuple[str, str]:
    """Kind and media type. Raises UnreadableFileError, EncryptedFileError or FileTooLargeError."""
    entries = check_zip(path, name)
    names = {entry.filename.replace("\\", "/").lstrip("/") for entry in entries}
    if "mimetype" in names:
        return _open_document(path, name, entries)
    lowered = {n.lower() for n in names}
    for part, kind, short in (
        ("xl/workbook.bin", "excel", "xlsb"),
        ("xl/workbook.xml", "excel", "xlsx"),
        ("word/document.xml", "docx", "docx"),
        ("ppt/presentation.xml", "pptx", "pptx"),
    ):
        if part in lowered:
            return kind, MEDIA[short]
    if "[content_types].xml" in lowered:
        for folder, kind in (("xl/", "excel"), ("word/", "docx"), ("ppt/", "pptx")):
            if any(n.startswith(folder) for n in lowered):
                return kind, MEDIA["xlsx" if kind == "excel" else kind]
    if "visio/document.xml" in lowered:
        raise unsupported(name, "a Visio drawing")
    if "fixeddocumentsequence.fdseq" in lowered or "fixeddocseq.fdseq" in lowered:
        raise unsupported(name, "an XPS document")
    if any(n.startswith("Index/") and n.endswith(".iwa") for n in names) or "Index.zip" in names:
        raise unsupported(name, "a Pages, Numbers or Keynote file")
    return "archive", "application/zip"


OPEN_DOCUMENTS = (
    (MEDIA["ods"], "excel", "spreadsheet"),
    ("application/vnd.oasis.opendocument.text", "odt", "text document"),
    ("application/vnd.oasis.opendocument.presentation", "odp", "presentation"),
    ("application/epub+zip", "epub", "e-book"),
)
"""Media type that an archive's `mimetype` begins with, kind, word for it."""


def _open_document(path: Path, name: str, entries: list[ZipInfo]) -> tuple[str, str]:
    try:
        with ZipFile(path) as archive, archive.open("mimetype") as file:
            media = file.read(200).decode("ascii", "replace").strip()
            manifest = b""
            if any(entry.filename == "META-INF/manifest.xml" for entry in entries):
                with archive.open("META-INF/manifest.xml") as file:
                    manifest = file.read(1_000_000)
    except BROKEN_ZIP as e:
        raise damaged(name, "OpenDocument file") from e
    for known, kind, what in OPEN_DOCUMENTS:
        if media.startswith(known):
            if b"encryption-data" in manifest:
                raise encrypted(name, what)
            return kind, known
    return "archive", "application/zip"

"""What kind of file this is, by its content: the marks in its first bytes, then what lies behind
them. The name's ending only decides between kinds that are all plain text.

ZIP archives are told apart in `detect_zip`, compound files in `detect_ole`, text in `detect_text`.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from leaf.errors import UnreadableFileError
from leaf.readers.base import KINDS, ending
from leaf.readers.detect_ole import XLS, compound_kind
from leaf.readers.detect_text import is_binary, text_kind
from leaf.readers.detect_zip import zip_kind
from leaf.readers.encoding import FALLBACK, register_fallback, sniff_encoding
from leaf.readers.media.audio import container_of, kind_of
from leaf.readers.packed import is_packed
from leaf.readers.tabular.spreadsheetml import is_spreadsheetml
from leaf.readers.unread import SIGNATURES, damaged, encrypted, unsupported

HEAD_BYTES = 65_536

OLD_WORKBOOKS = (b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00")
"""First record of a workbook of Excel 2, 3 and 4."""
TYPED = (
    (0, b"SQLite format 3\x00", "database", "application/vnd.sqlite3"),
    (8, b"DUCK", "database", "application/vnd.duckdb"),
    (0, b"ARROW1\x00\x00", "arrow", "application/vnd.apache.arrow.file"),
    (0, b"FEA1", "arrow", "application/vnd.apache.arrow.file"),
    (0, b"\xff\xff\xff\xff", "arrow", "application/vnd.apache.arrow.stream"),
    (0, b"ORC", "arrow", "application/vnd.apache.orc"),
    (0, b"$FL2", "stats", "application/x-spss-sav"),
    (0, b"$FL3", "stats", "application/x-spss-sav"),
    (0, b"<stata_dta>", "stats", "application/x-stata-dta"),
    (0, b"HEADER RECORD*******LIB", "stats", "application/x-sas-xport"),
    (0, b"{\\rtf", "rtf", "application/rtf"),
    (12, b"\xc2\xea\x81\x60\xb3\x14\x11\xcf", "stats", "application/x-sas-data"),
)
"""Where a file says what it is: offset, bytes, kind, media type."""
PICTURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"II+\x00", "image/tiff"),
    (b"MM\x00+", "image/tiff"),
)
HEIF_BRANDS = frozenset(
    [
        b"heic",
        b"heix",
        b"hevc",
        b"hevx",
        b"heim",
        b"heis",
        b"hevm",
        b"hevs",
        b"mif1",
        b"msf1",
        b"heif",
    ]
)
RAW_ENDINGS = ("dng", "cr2", "nef", "nrw", "arw", "orf", "rw2", "pef", "srw", "raf", "3fr", "iiq")
"""Files of cameras that look like TIFF, in which another program would find but a small preview."""
PDF_OBJECT = re.compile(rb"(?:^|[\r\n])\d+ 0 obj\s*<<")
OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def detect(path: Path, name: str) -> tuple[str, str]:
    """Kind (a key of `KINDS`) and media type; of what is compressed as one file, `packed.unpacked`
    gives what is to be looked at.

    Raises UnreadableFileError, EncryptedFileError or FileTooLargeError.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head.strip(b"\x00 \t\r\n"):
        what = "is empty" if not head else "holds nothing but blanks"
        raise UnreadableFileError(
            f"'{name}' {what}.", "Check it where it came from, and add it again."
        )
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return zip_kind(path, name)
    if head.startswith(OLE2):
        return compound_kind(path, name)
    if head.startswith((b"PAR1", b"PARE")):
        return _parquet(path, name)
    if b"%PDF-" in head[:1024] or _is_late_pdf(path, head):
        return "pdf", "application/pdf"
    if container_of(head):
        return kind_of(path, name)
    if marked := _marked(head, name):
        return marked
    return _text_or_refused(path, name, head)


def _marked(head: bytes, name: str) -> tuple[str, str] | None:
    """Of what carries a mark in its first bytes; None for what does not. Raises
    UnreadableFileError."""
    if is_packed(head):
        raise unsupported(name, "compressed twice")
    if _is_tar(head):
        return "archive", "application/x-tar"
    if media_type := _picture(head):
        if media_type == "image/tiff" and ending(name) in RAW_ENDINGS:
            raise unsupported(name, "a camera's raw picture")
        return "picture", media_type
    if typed := _typed(head, name):
        return typed
    return ("excel", XLS) if is_spreadsheetml(head) else None


def _text_or_refused(path: Path, name: str, head: bytes) -> tuple[str, str]:
    """Of what is text; what is not is refused by the name of what it is. Raises
    UnreadableFileError."""
    if head.startswith(OLD_WORKBOOKS):
        raise unsupported(name, "a workbook of Excel 2, 3 or 4 (.xls)")
    if head[60:68] in (b"BOOKMOBI", b"TPZ3"):
        raise unsupported(name, "a Kindle book")
    for signature, what in SIGNATURES:
        if head.startswith(signature):
            raise unsupported(name, what)
    encoding = sniff_encoding(path, HEAD_BYTES)
    register_fallback()
    sample = head[encoding.bom :].decode(encoding.name, FALLBACK)
    if is_binary(head, sample, encoding):
        raise unsupported(name, _known_as(path))
    kind, media_type = text_kind(sample, ending(name), cut=path.stat().st_size > HEAD_BYTES)
    if kind == "email" and head.startswith(b"From ") and _is_mailbox(path, name):
        return "mailbox", "application/mbox"
    return kind, media_type


def _is_tar(head: bytes) -> bool:
    """By the check sum of the first header: old archives have no other mark."""
    if len(head) < 512 or not head[:1].strip(b"\x00"):
        return False
    try:
        checksum = int(head[148:156].strip(b"\x00 ") or b"-", 8)
    except ValueError:
        return False
    return checksum == sum(head[:148]) + 8 * 32 + sum(head[156:512])


def _is_late_pdf(path: Path, head: bytes) -> bool:
    """Whether a PDF begins after something else, such as the headers of a mail, or has lost its
    first line."""
    if b"%PDF-" not in head and not PDF_OBJECT.search(head[:4_096]):
        return False
    with path.open("rb") as file:
        file.seek(-min(2_048, path.stat().st_size), 2)
        return b"%%EOF" in file.read()


def _is_mailbox(path: Path, name: str) -> bool:
    """Whether more than one message is in it."""
    from leaf.readers.documents.mailbox import split

    return (
        ending(name) in KINDS["mailbox"].endings
        or next(islice(split(path), 1, 2), None) is not None
    )


def _typed(head: bytes, name: str) -> tuple[str, str] | None:
    """Kind and media type of a file of typed tables; old Stata and portable SPSS files say little,
    so their name helps."""
    for at, signature, kind, media_type in TYPED:
        if head.startswith(signature, at):
            return kind, media_type
    if (
        head[2:4] == b"\x01\x00"
        and head[0] in range(102, 116)
        and head[1] in (1, 2)
        and ending(name) == "dta"
    ):
        return "stats", "application/x-stata-dta"
    if b"SPSSPORT" in head[:1_000]:
        return "stats", "application/x-spss-por"
    return None


def _picture(head: bytes) -> str:
    """The media type of a picture by its first bytes; empty for anything else."""
    for signature, media_type in PICTURES:
        if head.startswith(signature):
            return media_type
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] != b"ftyp":
        return ""
    length = min(max(int.from_bytes(head[:4], "big"), 16), 256)
    brands = {head[8:12], *(head[at : at + 4] for at in range(16, length, 4))}
    if head[8:12] in (b"avif", b"avis") or (head[8:12] in (b"mif1", b"msf1") and b"avif" in brands):
        return "image/avif"
    return "image/heic" if head[8:12] in HEIF_BRANDS else ""


def _parquet(path: Path, name: str) -> tuple[str, str]:
    with path.open("rb") as file:
        file.seek(-min(4, path.stat().st_size), 2)
        tail = file.read()
    if tail == b"PARE":
        raise encrypted(name, "Parquet file")
    if tail != b"PAR1" or path.stat().st_size < 12:
        raise damaged(name, "Parquet file")
    return "parquet", "application/vnd.apache.parquet"


def _known_as(path: Path) -> str:
    """What puremagic takes the bytes for, in words: `a PNG image`."""
    import puremagic

    try:
        best = puremagic.magic_file(path)[0]
    except (puremagic.PureError, ValueError, IndexError, OSError):
        return "a binary file of a kind that is not known"
    family, _, short = best.mime_type.partition("/")
    short = best.extension.lstrip(".").upper() or short.upper()
    noun = {"image": "image", "audio": "sound file", "video": "video", "font": "font"}.get(family)
    if noun is None:
        return f"a binary file ({best.name or short})"
    return f"{'an' if short[:1] in 'AEFHILMNORSX' else 'a'} {short} {noun}"

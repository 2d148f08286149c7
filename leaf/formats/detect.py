"""What kind of file this is, by its content. The name's ending only decides between kinds that are all plain text.

Archives are looked at before anything is unpacked: number of entries, unpacked size and ratio.
"""

from __future__ import annotations

import csv
import json
import re
import struct
from collections import Counter
from itertools import islice
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from leaf.errors import EncryptedFileError, FileTooLargeError, UnreadableFileError
from leaf.formats.base import KINDS
from leaf.formats.biff import is_protected
from leaf.formats.encoding import FALLBACK, Encoding, register_fallback, sniff_encoding
from leaf.formats.packed import is_packed, too_much
from leaf.formats.sound import container_of, kind_of
from leaf.formats.spreadsheetml import is_spreadsheetml
from leaf.formats.unread import READS, RESAVE, SIGNATURES
from leaf.formats.webarchive import is_archive

HEAD_BYTES = 65_536

MAX_ENTRIES = 20_000
"""Parts in one archive; a workbook of hundreds of sheets has some thousand."""
MAX_UNPACKED = 4_000_000_000
"""Bytes, all parts together."""

OFFICE = "application/vnd.openxmlformats-officedocument."
MEDIA = {
    "xlsx": OFFICE + "spreadsheetml.sheet",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
    "xls": "application/vnd.ms-excel",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "docx": OFFICE + "wordprocessingml.document",
    "pptx": OFFICE + "presentationml.presentation",
}
TEXT_MEDIA = {"md": "text/markdown", "csv": "text/csv", "tsv": "text/tab-separated-values", "tab": "text/tab-separated-values"}

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
HEIF_BRANDS = frozenset([b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"hevm", b"hevs", b"mif1", b"msf1", b"heif"])
RAW_ENDINGS = ("dng", "cr2", "nef", "nrw", "arw", "orf", "rw2", "pef", "srw", "raf", "3fr", "iiq")
"""Files of cameras that look like TIFF, in which another program would find but a small preview."""
PDF_OBJECT = re.compile(rb"(?:^|[\r\n])\d+ 0 obj\s*<<")
OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def detect(path: Path, name: str) -> tuple[str, str]:
    """Kind (a key of `KINDS`) and media type; of what is compressed as one file, `packed.unpacked` gives what is to be looked at.

    Raises UnreadableFileError, EncryptedFileError or FileTooLargeError.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head.strip(b"\x00 \t\r\n"):
        what = "is empty" if not head else "holds nothing but blanks"
        raise UnreadableFileError(f"'{name}' {what}.", "Check it where it came from, and add it again.")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _office(path, name)
    if head.startswith(OLE2):
        return _compound(path, name)
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
    """Of what carries a mark in its first bytes; None for what does not. Raises UnreadableFileError."""
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
    return ("excel", MEDIA["xls"]) if is_spreadsheetml(head) else None


def _text_or_refused(path: Path, name: str, head: bytes) -> tuple[str, str]:
    """Of what is text; what is not is refused by the name of what it is. Raises UnreadableFileError."""
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
    if _is_binary(head, sample, encoding):
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
        said = int(head[148:156].strip(b"\x00 ") or b"-", 8)
    except ValueError:
        return False
    return said == sum(head[:148]) + 8 * 32 + sum(head[156:512])


def _is_late_pdf(path: Path, head: bytes) -> bool:
    """Whether a PDF begins after something else, such as the headers of a mail, or has lost its first line."""
    if b"%PDF-" not in head and not PDF_OBJECT.search(head[:4_096]):
        return False
    with path.open("rb") as file:
        file.seek(-min(2_048, path.stat().st_size), 2)
        return b"%%EOF" in file.read()


def _is_mailbox(path: Path, name: str) -> bool:
    """Whether more than one message is in it."""
    from leaf.formats.mailbox import split

    return ending(name) in KINDS["mailbox"].endings or next(islice(split(path), 1, 2), None) is not None


def _typed(head: bytes, name: str) -> tuple[str, str] | None:
    """Kind and media type of a file of typed tables; old Stata and portable SPSS files say little, so their name helps."""
    for at, signature, kind, media_type in TYPED:
        if head.startswith(signature, at):
            return kind, media_type
    if head[2:4] == b"\x01\x00" and head[0] in range(102, 116) and head[1] in (1, 2) and ending(name) == "dta":
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


def ending(name: str) -> str:
    """The name's ending in lower case, without the dot; of a path, that of its last part."""
    last = name.rpartition("/")[2]
    return last.rpartition(".")[2].lower() if "." in last else ""


def unsupported(name: str, what: str) -> UnreadableFileError:
    """The error for a file that is whole, but not of a kind that Leaf reads."""
    return UnreadableFileError(f"'{name}' is {what}, which Leaf does not read.", RESAVE.get(what, READS))


def damaged(name: str, what: str) -> UnreadableFileError:
    """The error for a file that is cut off or broken."""
    return UnreadableFileError(f"'{name}' is a damaged or incomplete {what}.", "Download or export it again, and add it again.")


def check_zip(path: Path, name: str = "The file") -> list[ZipInfo]:
    """The entries of an archive, once its size, ratio and count are known to be harmless. Nothing is unpacked."""
    try:
        with ZipFile(path) as archive:
            entries = archive.infolist()
    except (BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as e:
        raise damaged(name, "ZIP-based document") from e
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > MAX_ENTRIES:
        message = f"'{name}' holds {len(entries):,} parts; the limit is {MAX_ENTRIES:,}."
        raise FileTooLargeError(message, "Split it, and add the pieces.")
    packed = path.stat().st_size
    if unpacked > MAX_UNPACKED or too_much(unpacked, packed):
        raise FileTooLargeError(
            f"'{name}' would unpack to {unpacked / 1e6:,.0f} MB from {packed / 1e6:,.1f} MB, which is over the limit.",
            "Save it again from its application, or export its data as CSV.",
        )
    return entries


def _office(path: Path, name: str) -> tuple[str, str]:
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
    except (BadZipFile, OSError, RuntimeError, KeyError) as e:
        raise damaged(name, "OpenDocument file") from e
    for known, kind, what in OPEN_DOCUMENTS:
        if media.startswith(known):
            if b"encryption-data" in manifest:
                raise _encrypted(name, what)
            return kind, known
    return "archive", "application/zip"


def _encrypted(name: str, what: str) -> EncryptedFileError:
    return EncryptedFileError(
        f"'{name}' is a {what} protected by a password.", "Open it, save a copy without the password, and add that copy."
    )


def _compound(path: Path, name: str) -> tuple[str, str]:
    names = _stream_names(path)
    if "EncryptedPackage" in names:
        raise _encrypted(name, "Office document")
    if names & {"Workbook", "Book", "WORKBOOK", "BOOK"}:
        if is_protected(path):
            raise _encrypted(name, "workbook")
        return "excel", MEDIA["xls"]
    if "WordDocument" in names:
        raise unsupported(name, "a Word 97-2003 document (.doc)")
    if "PowerPoint Document" in names:
        raise unsupported(name, "a PowerPoint 97-2003 presentation (.ppt)")
    if "VisioDocument" in names:
        raise unsupported(name, "a Visio drawing")
    if any(n.startswith(("__substg1.0", "__properties_version")) for n in names):
        return "msg", "application/vnd.ms-outlook"
    if not names:
        raise damaged(name, "Office 97-2003 document")
    raise unsupported(name, "an OLE compound file")


def _stream_names(path: Path) -> set[str]:
    """Names in the directory of a compound file (MS-CFB); read by its sector chain, at most 4,000 sectors."""
    names: set[str] = set()
    with path.open("rb") as file:
        header = file.read(512)
        if len(header) < 512:
            return names
        shift = struct.unpack_from("<H", header, 30)[0]
        if shift not in (9, 12):
            return names
        size = 1 << shift
        table = struct.unpack_from("<109I", header, 76)
        sector = struct.unpack_from("<I", header, 48)[0]
        for _ in range(4000):
            if sector >= 0xFFFFFFFA:
                break
            file.seek((sector + 1) * size)
            block = file.read(size)
            names.update(_entry_names(block))
            which, at = divmod(sector, size // 4)
            if which >= len(table) or table[which] >= 0xFFFFFFFA:
                break
            file.seek((table[which] + 1) * size + at * 4)
            following = file.read(4)
            sector = struct.unpack("<I", following)[0] if len(following) == 4 else 0xFFFFFFFE
    return names


def _entry_names(block: bytes) -> set[str]:
    found = set()
    for at in range(0, len(block) - 127, 128):
        length = struct.unpack_from("<H", block, at + 64)[0]
        if 2 < length <= 64:
            found.add(block[at : at + length - 2].decode("utf-16-le", "replace"))
    return found


def _parquet(path: Path, name: str) -> tuple[str, str]:
    with path.open("rb") as file:
        file.seek(-min(4, path.stat().st_size), 2)
        tail = file.read()
    if tail == b"PARE":
        raise _encrypted(name, "Parquet file")
    if tail != b"PAR1" or path.stat().st_size < 12:
        raise damaged(name, "Parquet file")
    return "parquet", "application/vnd.apache.parquet"


_CONTROL_DELIMITERS = "\x1f\x01"
"""Control characters that part cells, as Hive and others write them."""


def _is_binary(head: bytes, sample: str, encoding: Encoding) -> bool:
    """Control characters that no text holds, in more than one of a hundred places."""
    usual = "\t\n\r\f\b\x1a\x1b" + "".join(sign for sign in _CONTROL_DELIMITERS if _columns_agree(_whole_lines(sample), sign))
    control = sum(sample.count(chr(c)) for c in range(32) if chr(c) not in usual) + sample.count("\ufffd")
    if encoding.guessed and encoding.bom == 0 and not encoding.name.startswith(("utf-16", "utf-32")):
        return control > len(sample) * 0.002 or b"\x00" in head
    return control > len(sample) * 0.01


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


HTML_START = re.compile(r"\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])", re.I | re.S)
HTML_TAG = re.compile(r"<(?:div|p|table|tr|td|ul|li|span|h[1-6]|a\s+href|br|img|script|style|title|meta)\b[^>]*>", re.I)
SRT_START = re.compile(r"\s*\d+\s*\n\s*\d{1,2}:\d{2}:\d{2}[,.]\d{1,3}\s*-->\s*\d{1,2}:\d{2}:\d{2}[,.]\d{1,3}")
HEADER = re.compile(r"([!-9;-~]+)[ \t]*:")
MAIL_HEADERS = frozenset(
    ["from", "to", "subject", "date", "received", "mime-version", "message-id", "return-path", "delivered-to", "content-type"]
)
JSON_START = re.compile(r'\s*(?:\{\s*(?:"|\})|\[\s*(?:[\[{"\]]|-?\d|true|false|null))')


def text_kind(sample: str, suffix: str, *, cut: bool) -> tuple[str, str]:
    """Kind and media type of plain text, from its beginning; `cut` says that the text goes on after the sample."""
    text = sample.replace("\r\n", "\n").replace("\r", "\n")
    if text.startswith("WEBVTT"):
        return "captions", "text/vtt"
    if SRT_START.match(text):
        return "captions", "application/x-subrip"
    if HTML_START.match(text[:20_000]):
        return "html", "text/html"
    if HEADER.match(text) and is_archive(text, suffix):
        return "html", "multipart/related"
    if _is_mail(text, suffix):
        return "email", "message/rfc822"
    if _is_json(text, suffix, cut):
        return "json", "application/json"
    if suffix in KINDS["html"].endings or (len(HTML_TAG.findall(text[:20_000])) >= 5 and text.lstrip().startswith("<")):
        return "html", "text/html"
    if _is_delimited(text, suffix, cut):
        return "csv", TEXT_MEDIA.get(suffix, "text/csv")
    if suffix in KINDS["code"].endings or text.startswith("#!"):
        return "code", "text/plain"
    return "text", "application/xml" if text.lstrip().startswith("<?xml") else TEXT_MEDIA.get(suffix, "text/plain")


def _is_mail(text: str, suffix: str) -> bool:
    """Whether headers of a mail come first. A line that is none may stand among them; a mail's ending asks for less."""
    lines = text.split("\n")
    begins = lines[0].startswith("From ")
    seen: set[str] = set()
    wrong = 0
    for line in lines[begins : begins + 400]:
        if not line.strip():
            break
        if line[0] in " \t" and seen:
            continue
        match = HEADER.match(line)
        if match:
            seen.add(match[1].lower())
        else:
            wrong += 1
    known = seen & MAIL_HEADERS
    named = suffix in KINDS["email"].endings + KINDS["mailbox"].endings
    strong = len(known) >= 2 and bool(known & {"from", "received", "mime-version", "message-id"})
    return wrong <= (len(seen) // 4 if len(known) >= 3 else 0) and (len(known) >= 3 or strong or bool(known and named))


def _is_json(text: str, suffix: str, cut: bool) -> bool:
    if not JSON_START.match(text):
        return False
    if suffix in KINDS["json"].endings:
        return True
    start = len(text) - len(text.lstrip())
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
    except RecursionError:
        return True
    except json.JSONDecodeError as e:
        return cut and (e.pos >= len(text) - 200 or e.msg.startswith("Unterminated string"))
    rest = text[end:].lstrip()
    return not rest or bool(JSON_START.match(rest)) or (cut and len(rest) < 20)


LOG_LINE = re.compile(
    r"\W{0,2}(?:\w{3} [ \d]\d|\d{4}[-/]\d\d[-/]\d\d)[T ]\d\d:\d\d(?::\d\d)?(?:[,.]\d+)?\W+\S*\s*(?:\[|[A-Za-z]+)"
)
RULE_LINE = re.compile(r"\s*\|?[\s:|+-]{3,}\|?\s*$")
CODE_LINE = re.compile(
    r"\s*(?:(?:def|class|import|from|return|if|for|while|function|const|let|var|select|public|private)\b|#include|//|/\*|--)",
    re.I,
)


def _is_delimited(text: str, suffix: str, cut: bool) -> bool:
    """Whether most lines fall into equally many cells. A table's ending asks for less, an ending of prose or code for more."""
    lines = [line for line in text.split("\n")[: -1 if cut else None] if line.strip()][:400]
    named = suffix in KINDS["csv"].endings
    if not lines or (named and len(lines) == 1):
        return named
    if named:
        return True
    if len(lines) < 2 or sum(bool(LOG_LINE.match(line)) for line in lines) > len(lines) * 0.5:
        return False
    if suffix in KINDS["code"].endings and sum(bool(CODE_LINE.match(line)) for line in lines) > len(lines) * 0.1:
        return False
    if any(RULE_LINE.match(line) and "|" in line for line in lines[:5]) or suffix in ("md", "rst"):
        return False
    return any(_columns_agree(lines, delimiter) for delimiter in ("\t", ";", "|", ",", "^", "~", *_CONTROL_DELIMITERS))


def _whole_lines(sample: str) -> list[str]:
    """Lines of a sample that are not empty; what follows the last line ending may be cut."""
    lines = sample.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:400]
    return [line for line in (lines[:-1] or lines) if line.strip()]


def _columns_agree(lines: list[str], delimiter: str) -> bool:
    if sum(delimiter in line for line in lines) < max(2, len(lines) * 0.6):
        return False
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return False
    width, count = Counter(len(row) for row in rows).most_common(1)[0]
    if width < 2 or count < max(2, len(rows) * 0.8):
        return False
    cells = [cell for row in rows if len(row) == width for cell in row]
    if delimiter != "," or width > 6:
        return True
    prose = sum(cell.startswith(" ") and cell[1:2].isalpha() for cell in cells) + sum(len(cell.split()) > 8 for cell in cells)
    return prose <= len(cells) * 0.25

"""Changes that know the format: what they give gets past the outermost layer of a reader, the check
sums of a ZIP, the packing of a stream, the marks of XML."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import re
import struct
import tarfile
import zlib
from warnings import catch_warnings
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from bench._fuzzing.raw import BYTES, Around, Change
from bench._fuzzing.tokens import NUMBERS, TEXTS

UNFIT = (
    *(BadZipFile, zlib.error, lzma.LZMAError, tarfile.TarError, struct.error, UnicodeError),
    *(OSError, EOFError, ValueError, IndexError, KeyError, NotImplementedError, RuntimeError),
)
"""What the changes raise for bytes that are not of their format any more."""
DATE = (1980, 1, 1, 0, 0, 0)
MOST = 4_000_000
"""Bytes of a member that is opened to be changed."""
_TEXT = bytes({*range(32, 127), 7, 8, 9, 10, 12, 13, 27, *range(0x80, 0x100)})


def change_of(data: bytes) -> Change | None:
    """The change that knows what these bytes are."""
    for mark, change in _MARKS:
        if data.startswith(mark):
            return change
    if b"%PDF-" in data[:1024]:
        return pdf_objects
    if data[257:262] == b"ustar":
        return tar_members
    head = data[:2_000]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or not head.translate(None, _TEXT):
        return markup if head.count(b"<") > 5 and head.count(b">") > 5 else text
    return None


# Containers


def zip_members(dice: random.Random, data: bytes, around: Around) -> bytes:
    """A member of a ZIP is changed, and packed again with the right check sum."""
    with ZipFile(io.BytesIO(data)) as archive:
        parts = [(e.filename, archive.read(e)) for e in archive.infolist() if e.file_size < MOST]
    at = dice.randrange(len(parts))
    if dice.random() < 0.6:  # most of what is said stands in the longest of them
        at = max(range(len(parts)), key=lambda i: len(parts[i][1]) * dice.random())
    name, content = parts[at]
    way = dice.randrange(12)
    if way == 0:
        del parts[at]
    elif way == 1:
        parts.append((name, content[: len(content) // 2]))
    elif way == 2:
        parts[at] = (parts[dice.randrange(len(parts))][0], content)
    elif way == 3:
        parts[at] = (name, parts[dice.randrange(len(parts))][1])
    else:
        parts[at] = (name, _deeper(dice, content, around))
    out = io.BytesIO()
    with catch_warnings(action="ignore"), ZipFile(out, "w") as archive:  # of a name given twice
        for name, content in parts:
            stored = name == "mimetype" or dice.random() < 0.1
            archive.writestr(ZipInfo(name, DATE), content, ZIP_STORED if stored else ZIP_DEFLATED)
    return out.getvalue()


def _deeper(dice: random.Random, content: bytes, around: Around) -> bytes:
    """What is inside, changed as it would be outside."""
    known = change_of(content)
    if known is not None and dice.random() < 0.8:
        return known(dice, content, around)
    return dice.choice(BYTES)(dice, content or b"\0", around)


def gzip_content(dice: random.Random, data: bytes, around: Around) -> bytes:
    return gzip.compress(_deeper(dice, gzip.decompress(data)[:MOST], around), mtime=0)


def bzip2_content(dice: random.Random, data: bytes, around: Around) -> bytes:
    return bz2.compress(_deeper(dice, bz2.decompress(data)[:MOST], around))


def xz_content(dice: random.Random, data: bytes, around: Around) -> bytes:
    return lzma.compress(_deeper(dice, lzma.decompress(data)[:MOST], around))


def tar_members(dice: random.Random, data: bytes, around: Around) -> bytes:
    """A header of a TAR is changed with its sum put right, or a member."""
    out = bytearray(data)
    heads = [i for i in range(0, len(data) - 511, 512) if data[i + 257 : i + 262] == b"ustar"]
    at = dice.choice(heads)
    if dice.random() < 0.4:
        begin = at + 512
        return data[:begin] + _deeper(dice, data[begin : begin + 512], around) + data[begin + 512 :]
    field, length = dice.choice(((0, 100), (100, 8), (124, 12), (136, 12), (156, 1), (157, 100)))
    new = dice.choice(
        (b"\0", b"/", b"..", b"7" * 11, b"\x80\xff\xff", b"L", b"x", b"S", b"5", b"\xff")
    )
    out[at + field : at + field + length] = new[:length].ljust(length, b"\0")
    out[at + 148 : at + 156] = b" " * 8
    out[at + 148 : at + 156] = b"%06o\0 " % sum(out[at : at + 512])
    return bytes(out)


# Text


def text(dice: random.Random, data: bytes, _: Around) -> bytes:
    """Lines and words are changed, or in which bytes they are written."""
    said, codec = _decoded(data)
    if dice.random() < 0.15:
        return _encoded(dice, said)
    lines = re.split(r"(?<=\n)", said)
    at = dice.randrange(len(lines))
    way = dice.randrange(8)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines[at] = lines[at] * dice.choice((2, 3, 400))
    elif way == 2:
        to = dice.randrange(len(lines))
        lines[at], lines[to] = lines[to], lines[at]
    elif way == 3:
        lines[at] = lines[at].rstrip("\r\n") + dice.choice(("", "\r", "\r\n", "\n\n\n", "\x85"))
    else:
        lines[at] = _words(dice, lines[at])
    return "".join(lines).encode(codec, "replace")


def _words(dice: random.Random, line: str) -> str:
    """A line with a word or a mark in it changed."""
    words = re.split(r"(\W)", line)
    at = dice.randrange(len(words))
    number = dice.choice(NUMBERS).decode()
    marks = (",", ";", "\t", '"', "'", "|", "{", "}", "[", "]", "(", ")", ":", "\\")
    words[at] = dice.choice((dice.choice(TEXTS), number, dice.choice(marks), words[at] * 3, ""))
    return "".join(words)


def _decoded(data: bytes) -> tuple[str, str]:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace"), "utf-16"
    try:
        return data.decode(), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def _encoded(dice: random.Random, said: str) -> bytes:
    """A text in other bytes, with a mark that fits or does not."""
    codecs = (
        "utf-16-le",
        "utf-16-be",
        "utf-32-le",
        "cp1252",
        "shift_jis",
        "cp1251",
        "utf-7",
        "cp037",
    )
    marks = (b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\x2b\x2f\x76\x38")
    return dice.choice(marks) + said.encode(dice.choice(codecs), "replace")


def markup(dice: random.Random, data: bytes, _: Around) -> bytes:
    """A tag, an attribute or a text of XML or HTML is changed."""
    said, codec = _decoded(data)
    pieces = re.split(r"(<[^>]*>)", said)
    tags = list(range(1, len(pieces), 2))
    at = dice.choice(tags)
    way = dice.randrange(10)
    if way == 0:
        pieces[at] = ""
    elif way == 1:
        pieces[at] *= dice.choice((2, 20, 2_000))
    elif way == 2:
        to = dice.choice(tags)
        pieces[at], pieces[to] = pieces[to], pieces[at]
    elif way == 3:
        begin, end = sorted((at, dice.choice(tags)))
        pieces[end] += "".join(pieces[begin : end + 1]) * dice.choice((1, 1, 30))
    elif way == 4:
        begin, end = sorted((at, dice.choice(tags)))
        del pieces[begin:end]
    elif way <= 7:
        pieces[at] = _attribute(dice, pieces[at])
    else:
        to = dice.randrange(0, len(pieces), 2)
        new = dice.choice((*TEXTS, *(n.decode() for n in NUMBERS), "&#0;", "&x;", "]]>", "&lt;"))
        pieces[to] = new
    return "".join(pieces).encode(codec, "replace")


def _attribute(dice: random.Random, tag: str) -> str:
    """A tag with the value of an attribute, its name or its own name changed."""
    values = list(re.finditer(r"""=\s*("[^"]*"|'[^']*')""", tag))
    if not values:
        return tag.replace(re.sub(r"\W", "", tag)[:3], dice.choice(("x", "x:y", "", "1")), 1)
    one = dice.choice(values)
    cells = ("A1048577", "XFD1", "A0", "ZZZZ9", "A1:", "1:1", "Sheet!A1", "$A$1", "a/../../b.xml")
    ways = (*cells, *TEXTS, *(number.decode() for number in NUMBERS))
    new = dice.choice(ways).replace('"', "")
    return f'{tag[: one.start()]}="{new}"{tag[one.end() :]}'


# PDF, PNG

_OBJECT = re.compile(rb"\d+ \d+ obj\b.*?endobj", re.S)
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.S)


def pdf_objects(dice: random.Random, data: bytes, around: Around) -> bytes:
    """An object of a PDF is changed, left out or repeated, its stream unpacked for that. The table
    of objects is left as it was, which readers forgive, or goes."""
    found = list(_OBJECT.finditer(data))
    one = dice.choice(found)
    body = one[0]
    way = dice.randrange(10)
    if way == 0:
        body = b""
    elif way == 1:
        body = body + b"\n" + dice.choice(found)[0]
    elif way == 2:
        body = body.split(b"obj", 1)[0] + b"obj" + dice.choice(found)[0].split(b"obj", 1)[1]
    elif way <= 6 or b"stream" not in body:
        body = _pdf_words(dice, body)
    else:
        body = _pdf_stream(dice, body, around)
    out = data[: one.start()] + body + data[one.end() :]
    return out if dice.random() < 0.5 else out.replace(b"startxref", b"startxrex")


def _pdf_words(dice: random.Random, body: bytes) -> bytes:
    """A name, number or reference of a dictionary is changed."""
    head, mark, rest = body.partition(b"stream")
    words = re.split(rb"(\d+ 0 R|/[A-Za-z0-9]+|-?[\d.]+)", head)
    at = dice.randrange(1, len(words), 2) if len(words) > 1 else 0
    names = (
        b"/Kids",
        b"/Parent",
        b"/Length",
        b"/FlateDecode",
        b"/LZWDecode",
        b"/ASCII85Decode",
        b"/Crypt",
    )
    own = list(words[1::2])
    words[at] = dice.choice(
        (*NUMBERS, *names, *own, b"1 0 R", b"999 0 R", b"[[[[", b"<<", b"null", b"()")
    )
    return b"".join(words) + mark + rest


def _pdf_stream(dice: random.Random, body: bytes, around: Around) -> bytes:
    found = _STREAM.search(body)
    if found is None:
        return body[:-20]
    content, packed = found[1], b"FlateDecode" in body[: found.start()]
    if packed and b"ASCII85" not in body[: found.start()]:
        content = zlib.compress(_operators(dice, zlib.decompress(content), around))
    else:
        content = _operators(dice, content, around)
    head = re.sub(rb"/Length \d+", b"/Length %d" % len(content), body[: found.start()])
    return head + b"stream\n" + content + b"\nendstream" + body[found.end() :]


def _operators(dice: random.Random, content: bytes, around: Around) -> bytes:
    """What is drawn, with numbers and operators changed."""
    if dice.random() < 0.3:
        return dice.choice(BYTES)(dice, content or b"\0", around)
    words = content.split(b" ")
    marks = (
        b"Tj",
        b"TJ",
        b"Td",
        b"Tm",
        b"BT",
        b"ET",
        b"q",
        b"Q",
        b"cm",
        b"re",
        b"l",
        b"S",
        b"Do",
        b"(",
        b"[",
    )
    for _ in range(dice.choice((1, 3, 30))):
        words[dice.randrange(len(words))] = dice.choice((*marks, *NUMBERS))
    return b" ".join(words)


def png_chunks(dice: random.Random, data: bytes, around: Around) -> bytes:
    """A chunk of a PNG is changed, with its check sum put right."""
    chunks, at = [], 8
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        chunks.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    number = dice.randrange(len(chunks))
    kind, content = chunks[number]
    if kind == b"IDAT" and dice.random() < 0.5:
        content = zlib.compress(_deeper(dice, zlib.decompress(content), around))
    else:
        content = _deeper(dice, content, around)
    chunks[number] = (kind, content)
    if dice.random() < 0.2:
        chunks.insert(dice.randrange(len(chunks)), dice.choice(chunks))
    return data[:8] + b"".join(
        struct.pack(">I", len(c)) + k + c + struct.pack(">I", zlib.crc32(k + c)) for k, c in chunks
    )


_MARKS: tuple[tuple[bytes, Change], ...] = (
    (b"PK\x03\x04", zip_members),
    (b"\x1f\x8b\x08", gzip_content),
    (b"BZh", bzip2_content),
    (b"\xfd7zXZ\x00", xz_content),
    (b"\x89PNG", png_chunks),
)

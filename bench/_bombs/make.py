"""Makes them: each a function that writes one file, named in `BOMBS`."""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

MB = 1 << 20
_SPREAD = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_LAUGHS = '<!DOCTYPE l [<!ENTITY a "lol lol ">' + "".join(
    f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(10)
)

Write = Callable[[Path], None]


def bomb_zip(
    parts: Mapping[str, bytes],
    member: str,
    head: bytes,
    fill: bytes,
    tail: bytes,
    size: int,
    *,
    lie: bool = False,
) -> Write:
    """An archive with a member of `size` bytes that packs into a thousandth; with `lie` its size is
    said to be 1 MB."""

    def write(path: Path) -> None:
        made = io.BytesIO()
        with ZipFile(made, "w", ZIP_DEFLATED) as archive:
            for name, content in parts.items():
                archive.writestr(name, content)
            archive.writestr(member, b"")
        _fill(
            path,
            made.getvalue(),
            member.encode(),
            _deflated(head, fill, tail, size),
            MB if lie else size,
        )

    return write


def _deflated(head: bytes, fill: bytes, tail: bytes, size: int) -> bytes:
    """Raw deflate of head + fill… + tail: blocks that end at a full flush can be repeated."""
    begin = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = begin.compress(head) + begin.flush(zlib.Z_FULL_FLUSH)
    middle = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = fill * (16 * MB // len(fill))
    packed = middle.compress(block) + middle.flush(zlib.Z_FULL_FLUSH)
    end = zlib.compressobj(9, zlib.DEFLATED, -15)
    return first + packed * max(1, size // len(block)) + end.compress(tail) + end.flush()


def _fill(path: Path, archive: bytes, member: bytes, packed: bytes, size: int) -> None:
    """The archive with that member's empty content, which is its last, in place of which stands
    what was packed."""
    local = archive.rindex(b"PK\x03\x04")
    start = local + 30 + len(member)
    directory = archive.index(b"PK\x01\x02")
    entry = archive.rindex(b"PK\x01\x02")
    sizes = struct.pack("<II", len(packed), min(size, 0xFFFFFFF0))
    head = archive[: local + 18] + sizes + archive[local + 26 : start]
    entries = (
        archive[directory : entry + 20]
        + sizes
        + archive[entry + 28 : archive.rindex(b"PK\x05\x06")]
    )
    place = len(head) + len(packed)
    tail = archive[archive.rindex(b"PK\x05\x06") :]
    end = tail[:12] + struct.pack("<II", len(entries), place) + tail[20:]
    path.write_bytes(head + packed + entries + end)


def line(head: bytes, fill: bytes, tail: bytes, size: int) -> Write:
    """A file of `size` bytes without a break."""

    def write(path: Path) -> None:
        block = fill * (MB // len(fill))
        with path.open("wb") as stream:
            stream.write(head)
            for _ in range(size // MB):
                stream.write(block)
            stream.write(tail)

    return write


def content(data: Callable[[], bytes]) -> Write:
    def write(path: Path) -> None:
        path.write_bytes(data())

    return write


def pdf(*objects: bytes) -> bytes:
    """A PDF whose first object is its catalogue."""
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    return out + b"xref\n0 %d\n0000000000 65535 f \n%btrailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        count, table, count, len(out),
    )  # fmt: skip


def _page(drawn: bytes, times: int, before: bytes = b"", after: bytes = b"") -> bytes:
    packed = zlib.compress(before + drawn * times + after, 9)
    font = b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R" + font + b">>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream" % (len(packed), packed),
    )


def _pages(count: int) -> bytes:
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[" + b"3 0 R " * count + b"]/Count %d>>" % count,
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]>>",
    )


def _png(side: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    packed = zlib.compressobj(9)
    rows = (
        b"".join(packed.compress(bytes((side + 1) * 100)) for _ in range(side // 100))
        + packed.flush()
    )
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


def _workbook() -> dict[str, bytes]:
    from openpyxl import Workbook

    made, book = io.BytesIO(), Workbook()
    assert book.active is not None
    book.active.append(["a", 1])
    book.save(made)
    with ZipFile(made) as archive:
        return {name: archive.read(name) for name in archive.namelist() if "sheet1" not in name}


def _word(body: bytes) -> Write:
    def write(path: Path) -> None:
        from docx import Document

        made = io.BytesIO()
        Document().save(made)
        with ZipFile(made) as archive, ZipFile(path, "w", ZIP_DEFLATED) as out:
            for name in archive.namelist():
                out.writestr(name, body if name == "word/document.xml" else archive.read(name))

    return write


def _sheet(head: str, fill: str, *, size: int, lie: bool = False) -> Write:
    start = f'<?xml version="1.0"?><worksheet xmlns="{_SPREAD}"><sheetData>{head}'.encode()
    tail = b"</sheetData></worksheet>"
    return bomb_zip(
        _workbook(), "xl/worksheets/sheet1.xml", start, fill.encode(), tail, size, lie=lie
    )


def _mail(parts: int, deep: bool) -> bytes:
    head = b"From: a@example.org\nSubject: x\nContent-Type: multipart/mixed; boundary=b0\n\n"
    if deep:
        return head + b"".join(
            b"--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n" % (i, i + 1)
            for i in range(parts)
        )
    return head + b"--b0\nContent-Type: text/plain\n\nhi\n" * parts + b"--b0--"


def _nested(path: Path) -> None:
    inner = path.with_suffix(".inner")
    bomb_zip({}, "a.csv", b"a,b\n", b"1,2\n", b"", 1024 * MB)(inner)
    with ZipFile(path, "w") as archive:
        for number in range(50):
            archive.write(inner, f"{number}.zip")
    inner.unlink()


def _many(path: Path) -> None:
    with ZipFile(path, "w") as archive:
        for number in range(100_000):
            archive.writestr(f"d/{number}.txt", "")


def _gzip(path: Path) -> None:
    packed = _deflated(b"a,b\n", b"1,2\n", b"", 4096 * MB)
    path.write_bytes(
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + packed + struct.pack("<II", 0, 0)
    )


_ROW = '<row><c t="n"><v>1</v></c></row>'
BOMBS: dict[str, Write] = {
    "blanks.xlsx": _sheet("", " ", size=4096 * MB - 64),
    "blanks, said to be small.xlsx": _sheet("", " ", size=4096 * MB, lie=True),
    "rows.xlsx": _sheet("", _ROW, size=2048 * MB),
    "rows, said to be small.xlsx": _sheet("", _ROW, size=2048 * MB, lie=True),
    "text.docx": bomb_zip({"[Content_Types].xml": b"<Types/>", "word/styles.xml": b"<x/>"}, "word/document.xml",
                          f'<w:document xmlns:w="{_WORD}"><w:body><w:p><w:r><w:t>'.encode(), b"A", b"</w:t>", 4096 * MB - 64),
    "deep.docx": _word(f'<w:document xmlns:w="{_WORD}"><w:body>'.encode() + b"<w:tbl><w:tr><w:tc>" * 100_000),
    "laughs.docx": _word(f'{_LAUGHS}]><w:document xmlns:w="{_WORD}"><w:body>&k;</w:body></w:document>'.encode()),
    "text.odt": bomb_zip({"mimetype": b"application/vnd.oasis.opendocument.text"}, "content.xml",
                         b"<office:text>", b"A", b"</office:text>", 4096 * MB - 64),
    "laughs.xml": content(lambda: f'<?xml version="1.0"?>{_LAUGHS}]><r>&k;</r>'.encode()),
    "laughs.html": content(lambda: f"{_LAUGHS}]><html><body>&k;</body></html>".encode()),
    "lines drawn.pdf": content(lambda: _page(b"0 0 m 1 1 l S ", 75_000 * 400)),
    "words.pdf": content(lambda: _page(b"(" + b"A" * 50 + b") Tj ", 4_000_000, b"BT /F1 12 Tf 0 0 Td ", b"ET")),
    "pages.pdf": content(lambda: _pages(1_000_000)),
    "loop.pdf": content(lambda: pdf(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 1000000>>")),
    "large.png": content(lambda: _png(50_000)),
    **{f"one line.{end}": line(head, b"x", tail, 500 * MB) for end, head, tail in (
        ("csv", b'a,b\n1,"', b'"\n'), ("txt", b"", b""), ("json", b'{"a":"', b'"}'), ("jsonl", b'{"a":"', b'"}\n'),
        ("html", b"<p>", b"</p>"), ("xml", b"<a>", b"</a>"), ("md", b"# ", b""),
        ("vtt", b"WEBVTT\n\n00:00.000 --> 00:01.000\n", b""),
        ("eml", b"From: a@example.org\nSubject: s\n\n", b""), ("rtf", b"{\\rtf1 ", b"}"),
    )},
    "commas.csv": line(b"a,b\n", b",", b"\n", 500 * MB),
    "newlines.csv": line(b"", b"\n", b"", 500 * MB),
    "numbers.json": line(b"[", b"1,", b"1]", 250 * MB),
    "zeros.bin": line(b"", b"\0", b"", 500 * MB),
    "columns.csv": content(lambda: b"\n".join(b",".join(b"%b%d" % (w, i) for i in range(200_000)) for w in (b"c", b""))),
    "keys.jsonl": content(lambda: "\n".join(json.dumps({f"k{i}_{j}": 1 for j in range(20)}) for i in range(20_000)).encode()),
    "deep.json": content(lambda: b"[" * 2_000_000 + b"]" * 2_000_000),
    "deep.xml": content(lambda: b"<a>" * 2_000_000 + b"</a>" * 2_000_000),
    "deep.html": content(lambda: b"<div>" * 2_000_000),
    "tables in tables.html": content(lambda: b"<table><tr><td>" * 200_000),
    "spans.html": content(lambda: b"<table>" + b"<tr><td colspan=1000 rowspan=65534>x</td></tr>" * 2_000 + b"</table>"),
    "groups.rtf": content(lambda: b"{\\rtf1 " + b"{" * 5_000_000 + b"}" * 5_000_001),
    "deep.eml": content(lambda: _mail(20_000, True)),
    "parts.eml": content(lambda: _mail(500_000, False)),
    "bomb.zip": bomb_zip({}, "a.csv", b"a,b\n", b"1,2\n", b"", 4096 * MB - 64),
    "nested.zip": _nested,
    "many.zip": _many,
    "bomb.csv.gz": _gzip,
}  # fmt: skip

"""Encodings, kinds by content, places, windows and plain text."""

from __future__ import annotations

import gzip
import json
import random
import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaf.errors import (
    EncryptedFileError,
    FileTooLargeError,
    InvalidInputError,
    LeafError,
    NotFoundError,
    UnreadableFileError,
)
from leaf.readers import worker
from leaf.readers.base import KINDS, Note, Outline, Passage, Where
from leaf.readers.detect import detect
from leaf.readers.encoding import decode, guess_note, sniff_encoding
from leaf.readers.locate.where import merged, parse
from leaf.readers.window import Extent, decode_cursor, fill, read_window

GERMAN = "Müller über Straße, Größe €5 – „gut“ für Österreich\n"
FRENCH = "L'été à la forêt, où naît l'œuvre: ça coûte cher\n"
POLISH = "Zażółć gęślą jaźń, łódź śmiałą ścieżką\n"
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy\n"
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю\n"
JAPANESE = "これは日本語の文章です。東京は晴れています。\n"
CHINESE = "这是一个中文句子，北京天气很好，我们去公园。\n"


def saved(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def read_all(path: Path, kind: str, max_tokens: int, where: str = "") -> list[dict]:
    windows = [worker.read(str(path), kind, where, max_tokens)]
    while windows[-1]["cursor"]:
        windows.append(worker.read(str(path), kind, where, max_tokens, windows[-1]["cursor"]))
    return windows


@pytest.mark.parametrize("times", [1, 40])
@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (GERMAN, "cp1252"),
        (FRENCH, "cp1252"),
        (POLISH, "cp1250"),
        (POLISH, "iso8859-2"),
        (CZECH, "cp1250"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "shift_jis"),
        (CHINESE, "gb18030"),
        (GERMAN, "utf-16-be"),
        (GERMAN, "utf-32-le"),
        (RUSSIAN, "utf-16-le"),
    ],
)
def test_text_without_a_mark_is_read_right_and_called_a_guess(
    tmp_path: Path, text: str, codec: str, times: int
) -> None:
    read, encoding = decode((text * times).encode(codec))
    assert read == text * times
    assert encoding.guessed
    note = guess_note(encoding)
    assert note is not None
    assert note.kind == "encoding-guessed"


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("rows", [3, 60])
@pytest.mark.parametrize(
    ("words", "codec"),
    [
        ("Müller Straße Größe Köln", "cp1252"),
        ("Þór Guðrún Ísland Akureyri Ægir", "cp1252"),
        ("Müller Köln Straße Größe", "mac-roman"),
        ("Köln Größe Übersicht München", "cp850"),
        ("Příbram Šumava Plzeň Žďár Kroměříž", "cp1250"),
        ("Łódź Gdańsk Częstochowa żółw źle", "iso8859-2"),
        ("Győr Székesfehérvár erdő hűtő", "cp1250"),
        ("Ahmet Yılmaz Ayşe Öztürk Çağlar Işık", "cp1254"),
        ("Vilnius Šiauliai Panevėžys Žemaitija ąžuolas", "cp1257"),
        ("Иван Мария Москва Казань", "cp1251"),
        ("ИВАНОВ ПЕТРОВА МОСКВА СУММА", "cp1251"),
        ("Київ Їжак Львів Євген", "cp1251"),
        ("ИВАНОВ ПЕТРОВА МОСКВА СУММА", "koi8-r"),
        ("выручка регион месяц продажи", "cp866"),
        ("Αθήνα Γιώργος Πάτρα Θεσσαλονίκη", "cp1253"),
        ("ירושלים אביב חיפה סכום", "cp1255"),
        ("القاهرة دمشق الرياض المبلغ", "cp1256"),
        ("กรุงเทพ เชียงใหม่ ยอดขาย ภูเก็ต", "cp874"),
        ("東京都 大阪府 カテゴリ ひらがな", "cp932"),
        ("東京都 大阪府 カテゴリ ひらがな", "euc_jp"),
        ("北京市 上海 张三 广东省", "gb18030"),
        ("臺北市 高雄 張三 廣東省", "big5"),
        ("서울 부산 김철수 이영희", "cp949"),
    ],
)
def test_words_of_a_table_tell_their_code_page(
    words: str, codec: str, rows: int, delimiter: str
) -> None:
    names = words.split()
    lines = [
        delimiter.join([str(n), names[n % len(names)], names[(n + 1) % len(names)], str(7 * n)])
        for n in range(rows)
    ]
    text = "\r\n".join([delimiter.join(["nr", "name", "city", "sum"]), *lines])
    assert decode(text.encode(codec))[0] == text


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marked_text_and_utf8_are_no_guess(codec: str) -> None:
    read, encoding = decode(GERMAN.encode(codec))
    assert (read, encoding.guessed) == (GERMAN, False)
    assert guess_note(encoding) is None


def test_a_late_line_of_other_bytes_changes_the_encoding(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.txt", b"plain line\n" * 200_000 + "Größe und Maß\n".encode("cp1252"))
    assert sniff_encoding(path).name == "cp1252"
    assert worker.read(str(path), "text", "lines 200001-")["text"].endswith("Größe und Maß")


MIXED = "Grüße aus Köln, Straße {}\n"


@pytest.mark.parametrize(
    ("text", "odd", "lines"),
    [
        ("".join(MIXED.format(n) for n in range(30)), "Größe\n".encode("cp1252"), 1),
        ("Привет, сумма\n" * 30, "naïve\n1 €\n".encode("cp1252"), 2),
        ("東京都 大阪府\n" * 30, "café\n".encode("cp1252"), 1),
        ("Straße;München\r" * 30, "Größe\r".encode("cp1252") * 3, 3),
        ('["Köln", ' + '"Köln", ' * 300, '"Größe"]'.encode("cp1252"), 1),
    ],
)
@pytest.mark.parametrize("first", [False, True])
def test_some_lines_of_other_bytes_leave_a_text_utf8(
    text: str, odd: bytes, lines: int, *, first: bool
) -> None:
    parts = (odd, text.encode()) if first and odd.endswith(b"\n") else (text.encode(), odd)
    read, encoding = decode(b"".join(parts))
    assert text in read
    assert odd.decode("cp1252") in read
    assert (encoding.name, encoding.odd_lines) == ("utf-8", lines)
    note = guess_note(encoding)
    assert note is not None
    assert (note.kind, note.count) == ("encoding-guessed", lines)


def test_odd_lines_are_found_far_from_the_others(tmp_path: Path) -> None:
    plain, word = b"plain line\n" * 200_000, "Größe\n"
    for name, first, last in (("a", "utf-8", "cp1252"), ("b", "cp1252", "utf-8")):
        several = [word.encode(c) * (9 if c == "utf-8" else 1) for c in (first, last)]
        path = saved(tmp_path, f"{name}.txt", plain.join(several))
        assert worker.read(str(path), "text", "lines 1")["text"].endswith("Größe")
        assert (encoding := sniff_encoding(path)).name == "utf-8"
        assert (encoding.odd_lines, encoding.sampled) == (1, False)
    path = saved(tmp_path, "c.txt", (word * 4_000_000).encode() + (word * 9).encode("cp1252"))
    note = guess_note(sniff_encoding(path))
    assert note is not None
    assert note.text.startswith("At least 9 lines")


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("CAFÉ»\nÖl für Müller\n", "cp1252"),
        ("价格\n" + "10元\n" * 60, "gb18030"),
        ("ﾄｳｷｮｳ ｶﾅ\nｵｵｻｶ\n" * 60, "cp932"),
        ("привет сам ран стол ручка сумма\n" * 60, "cp866"),
    ],
)
def test_characters_that_are_utf8_by_chance_prove_nothing(text: str, codec: str) -> None:
    assert decode(text.encode(codec))[0] == text


def test_a_large_file_of_one_line_stays_utf8(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.json", "[" + "日本語 " * 3_400_000 + "]")
    assert sniff_encoding(path).name == "utf-8"


@pytest.mark.parametrize(
    ("data", "newline", "mixed"),
    [
        (b"a\nb\n", "\n", False),
        (b"a\r\nb\r\n", "\r\n", False),
        (b"a\rb\rc", "\r", False),
        (b"a\nb\r\nc\n", "\n", True),
    ],
)
def test_line_endings_are_told(data: bytes, newline: str, mixed: bool) -> None:
    encoding = decode(data)[1]
    assert (encoding.newline, encoding.mixed_newlines) == (newline, mixed)


JSON_TEXT = json.dumps([{"a": i, "b": "x" * 40} for i in range(2_000)])
TEXTS = {
    "csv": "name,age\nAnn,5\nBob,6\nEve,7\n",
    "csv;": "Stadt;Einwohner;Größe\nKöln;1,1;405,2\nBonn;0,3;141,1\n",
    "csv\t": "a\tb\n1\t2\n3\t4\n",
    "json": '{"a": [1, 2, {"b": null}]}',
    "json lines": '{"a": 1}\n{"a": 2}\n',
    "json long": JSON_TEXT,
    "html": "<!-- x -->\n<!DOCTYPE html><html><body><p>Hi, there</p></body></html>",
    "email": "Received: by a\nFrom: ann@example.org\nTo: bob@example.org\nSubject: Hi\n\nHello\n",
    "captions vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n",
    "captions srt": "1\n00:00:01,000 --> 00:00:02,000\nHi\n",
    "text prose": "Dear all, be well. We met, talked, left.\nThen, later, it rained. "
    "Nobody, not one, "
    "stayed.\nThe end.\n",
    "text log": "".join(
        f"2024-01-01 10:00:{i:02},123 INFO worker started, ok\n" for i in range(20)
    ),
    "text bracketed log": "[2024-01-01 10:00:00] INFO start\n[2024-01-01 10:00:01] INFO stop\n",
    "text markdown": "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
}


@pytest.mark.parametrize("ending", ["txt", "dat", "pdf", "xlsx", ""])
@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
@pytest.mark.parametrize("name", TEXTS)
def test_the_kind_of_a_text_is_found_whatever_its_ending(
    tmp_path: Path, name: str, ending: str, codec: str
) -> None:
    path = saved(tmp_path, "file", TEXTS[name].encode(codec))
    assert detect(path, f"file.{ending}" if ending else "file")[0] == name.split()[0].rstrip(";\t")


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.py", "import os, sys\nprint(1, 2)\n", "code"),
        ("a.csv", "one column\nx\ny\n", "csv"),
        ("a.md", "a, b\nc, d\n", "text"),
    ],
)
def test_the_ending_decides_between_kinds_of_text(
    tmp_path: Path, name: str, text: str, kind: str
) -> None:
    assert detect(saved(tmp_path, name, text), name)[0] == kind


def compound(*streams: str) -> bytes:
    """A compound file (MS-CFB) with a directory of these names and no content."""
    header = bytearray(512)
    header[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    struct.pack_into("<H", header, 30, 9)
    struct.pack_into("<I", header, 48, 1)
    struct.pack_into("<109I", header, 76, 0, *[0xFFFFFFFF] * 108)
    table = struct.pack("<128I", 0xFFFFFFFD, 0xFFFFFFFE, *[0xFFFFFFFF] * 126)
    entries = b""
    for name in ("Root Entry", *streams):
        raw = name.encode("utf-16-le") + b"\x00\x00"
        entries += raw.ljust(64, b"\x00") + struct.pack("<H", len(raw)) + bytes(62)
    return bytes(header) + table + entries.ljust(512, b"\x00")


def zipped(parts: dict[str, bytes]) -> bytes:
    import io

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"8BPS\x00\x01" + bytes(600), "which Leaf does not read"),
        (gzip.compress(b"hello", mtime=0), "compressed twice"),
        (b"Rar!\x1a\x07\x01\x00" + bytes(60), "a RAR archive"),
        (b"7z\xbc\xaf\x27\x1c\x00\x04" + bytes(60), "a 7-Zip archive"),
        (compound("WordDocument"), ".doc"),
        (compound("PowerPoint Document"), ".ppt"),
        (b"PAR1" + bytes(50), "damaged or incomplete Parquet"),
        (b"PK\x03\x04" + bytes(40), "damaged or incomplete"),
        (b"", "is empty"),
        (b"  \n\n", "nothing but blanks"),
        (random.Random(1).randbytes(5000), "which Leaf does not read"),
    ],
)
def test_what_cannot_be_read_is_named_with_what_to_do(
    tmp_path: Path, data: bytes, words: str
) -> None:
    with pytest.raises(UnreadableFileError) as error:
        detect(saved(tmp_path, "sales.csv", data), "sales.csv")
    assert words in error.value.message
    assert "'sales.csv'" in error.value.message
    assert error.value.hint


def test_an_office_file_with_a_password_says_so(tmp_path: Path) -> None:
    with pytest.raises(EncryptedFileError, match="password"):
        detect(saved(tmp_path, "a.xlsx", compound("EncryptionInfo", "EncryptedPackage")), "a.xlsx")


def test_office_kinds_are_told_apart_by_their_parts(tmp_path: Path) -> None:
    for part, kind in (
        ("xl/workbook.xml", "excel"),
        ("word/document.xml", "docx"),
        ("ppt/presentation.xml", "pptx"),
    ):
        data = zipped({"[Content_Types].xml": b"<x/>", part: b"<x/>"})
        assert detect(saved(tmp_path, "a", data), "a.txt")[0] == kind
    assert detect(saved(tmp_path, "b", compound("Workbook")), "b.csv")[0] == "excel"


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("word/document.xml", "w") as part,
    ):
        for _ in range(120):
            part.write(bytes(1_000_000))
    with pytest.raises(FileTooLargeError, match="120 MB"):
        detect(path, "a.docx")


def test_an_archive_of_too_many_parts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(20_001):
            archive.writestr(str(i), b"")
    with pytest.raises(FileTooLargeError, match="20,001 parts"):
        detect(path, "a.xlsx")


def test_real_files_are_recognised_without_their_names(real_data: Path) -> None:
    wrong = []
    for path in filter(Path.is_file, real_data.iterdir()):
        expected = next(
            (kind for kind, about in KINDS.items() if path.suffix[1:] in about.endings), ""
        )
        if path.suffix not in (".md",) and detect(path, "file")[0] != expected:
            wrong.append(path.name)
    assert wrong == []


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("", Where()),
        ("pages 3-5", Where("page", 3, 5)),
        ("page 7", Where("page", 7, 7)),
        ("pages 3-", Where("page", 3, None)),
        ("Lines 10 – 80", Where("line", 10, 80)),
        ("rows 1,000-2,000", Where("row", 1000, 2000)),
        ("slide 2", Where("slide", 2, 2)),
        ("paragraphs 4 to 9", Where("paragraph", 4, 9)),
        ("sheet Summary", Where(sheet="Summary")),
        ("sheet Summary!A1:F40", Where("cell", 1, 40, "Summary", (1, 6))),
        ("'My sheet'!A1:F40", Where("cell", 1, 40, "My sheet", (1, 6))),
        ("sheet 'It''s'!AA7", Where("cell", 7, 7, "It's", (27, 27))),
        ("Summary!B:C", Where("cell", 1, None, "Summary", (2, 3))),
        ("sheet Q3 sales rows 10-20", Where("row", 10, 20, "Q3 sales")),
        ("B2:C3", Where("cell", 2, 3, "", (2, 3))),
        ("00:10:00-00:20:00", Where("cue", 600, 1200)),
        ("5:30-", Where("cue", 330, None)),
    ],
)
def test_places_are_understood(words: str, where: Where) -> None:
    assert parse(words) == where


@pytest.mark.parametrize(
    ("words", "kind", "hint"),
    [
        ("banana", "pdf", "'pages 3-5'"),
        ("pages 3-5", "text", "'lines 10-80'"),
        ("lines 3", "excel", "sheet Summary!A1:F40"),
        ("pages 5-3", "pdf", "smaller number first"),
        ("page 0", "pdf", "begins at 1"),
        ("rows 3", "captions", "00:10:00-00:20:00"),
    ],
)
def test_a_place_that_does_not_fit_shows_the_forms_that_do(
    words: str, kind: str, hint: str
) -> None:
    with pytest.raises(InvalidInputError) as error:
        parse(words, kind)
    assert hint in error.value.hint


def test_a_page_of_a_presentation_is_a_slide() -> None:
    assert parse("pages 2-3", "pptx") == Where("slide", 2, 3)


def test_locators_of_neighbours_are_drawn_together_and_understood_again() -> None:
    pages = [Passage("", "page", n) for n in (3, 4, 5, 9)]
    assert merged(pages) == ("pages 3-5", "page 9")
    rows = [Passage("", "row", n, "Q 3") for n in (2, 3, 7)]
    assert merged(rows) == ("sheet Q 3 rows 2-7",)
    assert merged(rows, (1, 6)) == ("sheet Q 3!A2:F7",)
    for locator in (
        *merged(pages),
        *merged(rows),
        *merged(rows, (1, 6)),
        *merged([Passage("", "row", 2, "a'!b")]),
    ):
        assert parse(locator).first in (2, 3, 9)


class Listed:
    """A reader of passages at hand."""

    def __init__(self, passages: list[Passage]) -> None:
        self._passages = passages

    def outline(self, path: Path) -> Outline:
        return Outline("text", "text/plain", lines=len(self._passages))

    def extent(self, path: Path, where: Where) -> Extent:
        return Extent(len(self._passages), notes=(Note("x", "said"),))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        for passage in self._passages:
            if where.unit in ("", "cell") or passage.number >= where.first:
                yield passage


def random_passages(seed: int) -> list[Passage]:
    dice = random.Random(seed)
    unit, sheets = dice.choice(
        [("page", [""]), ("line", [""]), ("row", ["A", "B b"]), ("paragraph", [""])]
    )
    found = []
    for sheet in sheets:
        number = 0
        for _ in range(dice.randint(1, 30)):
            number += dice.choice([1, 1, 1, 0 if number else 1, 2 if unit == "row" else 1])
            length = dice.choice([0, 3, 30, 300, 3000])
            text = "".join(
                dice.choice("abc  é\n" if unit == "page" else "abc  é") for _ in range(length)
            )
            found.append(Passage(text, unit, number, sheet))
    return found


@pytest.mark.parametrize("seed", range(150))
def test_reading_from_cursor_to_cursor_gives_each_passage_exactly_once(
    tmp_path: Path, seed: int
) -> None:
    passages = random_passages(seed)
    dice = random.Random(seed)
    position, given, steps = None, [], 0
    while True:
        start = position
        rest = passages
        if start is not None:
            same = [i for i, p in enumerate(passages) if start.leads_to(p)]
            rest = passages[same[start.nth] :]
        pieces, position = fill(rest, dice.choice([1, 20, 200, 2000]), start)
        assert pieces
        given.extend(pieces)
        steps += 1
        if position is None:
            break
    texts: list[str] = []
    for piece in given:
        if piece.begin == 0:
            texts.append("")
        texts[-1] += piece.text
    assert texts == [passage.text for passage in passages]


@pytest.mark.parametrize("seed", range(60))
def test_windows_hold_the_budget_and_cover_every_number_once(tmp_path: Path, seed: int) -> None:
    passages = random_passages(seed)
    path = saved(tmp_path, "file", "x")
    tokens = random.Random(seed).choice([40, 200, 1000])
    kind = {"page": "pdf", "line": "text", "row": "excel", "paragraph": "docx"}[passages[0].unit]
    cursor, numbers = "", []
    while True:
        window = read_window(Listed(passages), path, kind, "", tokens, cursor, False)
        assert len(window.text) <= tokens * 2.5 + 60
        assert window.notes
        numbers.extend(n for first, last in window.ranges for n in range(first, last + 1))
        cursor = window.cursor
        if not cursor:
            break
    assert set(numbers) >= {passage.number for passage in passages}


def test_a_cursor_is_checked(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.txt", "some words in a line\n" * 500)
    cursor = worker.read(str(path), "text", "lines 5-", 100)["cursor"]
    assert decode_cursor(cursor, path)[0] == "lines 5-"
    other = saved(tmp_path, "b.txt", "x\n")
    for bad in ("abc", cursor[:-4], cursor[:10] + "AAAA" + cursor[14:], "é", "!!!"):
        with pytest.raises(InvalidInputError, match="cursor"):
            worker.read(str(path), "text", "", 100, bad)
    with pytest.raises(InvalidInputError, match="another file"):
        worker.read(str(other), "text", "", 100, cursor)
    with pytest.raises(InvalidInputError, match="goes on with"):
        worker.read(str(path), "text", "lines 7-", 100, cursor)


def test_a_window_says_where_it_is_and_what_it_covers(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.txt", "".join(f"line {i}\n" for i in range(1, 1201)))
    window = worker.read(str(path), "text", "lines 10-12", line_numbers=True)
    assert window["text"] == "[lines 10-12]\n    10\tline 10\n    11\tline 11\n    12\tline 12"
    assert window["coverage"] == "lines 10-12 of 1,200"
    assert (window["places"], window["ranges"], window["total"]) == (
        ("lines 10-12",),
        ((10, 12),),
        1200,
    )
    with pytest.raises(InvalidInputError, match="outside") as error:
        worker.read(str(path), "text", "lines 5000-")
    assert "lines 1-1,200" in error.value.hint


def test_the_size_of_a_window_is_checked(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.txt", "x\n")
    for size in (0, -1, 10_000_000):
        with pytest.raises(InvalidInputError, match="max_tokens"):
            worker.read(str(path), "text", "", size)


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("ended", [True, False])
def test_lines_have_the_same_numbers_in_every_encoding(
    tmp_path: Path, codec: str, newline: str, ended: bool
) -> None:
    lines = [f"Größe {i}" if i % 3 else "" for i in range(1, 300)] + ["Ende"]
    path = saved(tmp_path, "a.txt", (newline.join(lines) + newline * ended).encode(codec))
    windows = read_all(path, "text", 300)
    got = [line for window in windows for line in window["text"].split("\n")[1:]]
    assert [line for line in got if line] == [line for line in lines if line]
    assert windows[0]["total"] == 300
    assert worker.read(str(path), "text", "lines 299-")["text"].split("\n")[1] == lines[298]


def test_a_very_long_line_is_read_in_pieces(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.txt", "first\n" + "abcdefghi " * 350_000 + "\nlast\n")
    windows = read_all(path, "text", 50_000)
    joined = "".join(w["text"].partition("]\n")[2] for w in windows)
    assert joined.count("abcdefghi") == 350_000
    assert windows[-1]["places"][-1].endswith("3")


def test_the_index_gets_groups_of_lines_with_the_place_of_the_first(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.txt", "".join(f"this is line number {i}\n" for i in range(1, 101)))
    result = worker.extract(str(path), "text", str(tmp_path))
    passages = [json.loads(line) for line in (tmp_path / "passages.jsonl").read_text().splitlines()]
    assert result == {"count": len(passages), "notes": []}
    assert 2 < len(passages) < 20
    assert all(f"number {p['number']}\n" in p["text"] for p in passages)
    assert sum(p["text"].count("this is") for p in passages) == 100


def test_the_index_stops_at_its_limit_and_says_so(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.txt", "some words of a long log\n" * 900_000)
    result = worker.extract(str(path), "text", str(tmp_path))
    assert result["notes"][0]["kind"] == "index-cut"
    assert (tmp_path / "passages.jsonl").stat().st_size < 30_000_000


def test_inspect_says_kind_counts_and_guesses(tmp_path: Path) -> None:
    result = worker.inspect(str(saved(tmp_path, "a.txt", (GERMAN * 9).encode("cp1252"))), "a.txt")
    assert (result["kind"], result["outline"]["lines"]) == ("text", 9)
    assert result["outline"]["notes"][0]["text"] == "Encoding guessed: Windows-1252."
    assert json.loads(json.dumps(result))["outline"]["tokens"] > 100


def test_what_has_no_tables_says_so(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.txt", "x\n")
    assert worker.tables(str(path), "text", str(tmp_path)) == []
    with pytest.raises(InvalidInputError, match="no tables"):
        worker.tables(str(path), "code", str(tmp_path))
    with pytest.raises(NotFoundError):
        worker.read(str(path), "nonsense")


@pytest.mark.parametrize("seed", range(40))
def test_random_bytes_end_in_text_or_in_one_clear_error(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    starts = [
        b"",
        b"PK\x03\x04",
        b"%PDF-1.4\n",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        b"PAR1",
        b"WEBVTT\n\n",
        b"<html>",
        b"\xff\xfe",
        b"From: a\nTo: b\nDate: c\n\n",
    ]
    path = saved(tmp_path, "x.bin", dice.choice(starts) + dice.randbytes(dice.choice([10, 3000])))
    assert outcome(path) in ("read", "refused.")


def outcome(path: Path) -> str:
    """`read`, or the end of the error's message."""
    try:
        kind = detect(path, path.name)[0]
        if kind in ("pdf", "captions", "html", "email", "text"):
            worker.read(str(path), kind)
    except LeafError as error:
        return "refused" + error.message[-1]
    return "read"


@pytest.mark.parametrize(
    ("head", "what", "program"),
    [
        (b"Obj\x01\x04\x16avro.schema", "an Avro file", "DuckDB"),
        (b"\x89HDF\r\n\x1a\n\x00", "an HDF5 file", "pandas"),
        (b"MATLAB 5.0 MAT-file", "a MATLAB file", "writetable"),
        (b"\x00\x01\x00\x00Standard ACE DB\x00", "an Access database", "Access"),
        (b"!BDN\x00\x00", "an Outlook data file (.pst)", "Outlook"),
        (b"AT&TFORM\x00\x00", "a DjVu file", "PDF"),
        (b"\xffWPC\x10\x00", "a WordPerfect document", "LibreOffice"),
        (bytes(60) + b"BOOKMOBI", "a Kindle book", "Calibre"),
    ],
)
def test_a_file_that_cannot_be_read_says_what_it_is_and_which_program_saves_it(
    tmp_path: Path, head: bytes, what: str, program: str
) -> None:
    path = saved(tmp_path, "file", head + bytes(range(256)) * 4)
    with pytest.raises(UnreadableFileError, match=re.escape(what)) as refused:
        detect(path, "file")
    assert program in str(refused.value)


@pytest.mark.parametrize(
    "text", ['// settings\n{"a": 1}', "{'a': 1}", 'call({"a": 1});', '{"a": 1', "42"]
)
def test_a_file_called_json_that_holds_none_is_a_text_and_says_so(
    tmp_path: Path, text: str
) -> None:
    found = worker.inspect(str(saved(tmp_path, "a.json", text)), "a.json")
    assert found["kind"] == "text"
    assert [note["kind"] for note in found["outline"]["notes"]] == ["not-json"]
    assert found["outline"]["notes"][0]["text"].endswith("It is read as text.")


@pytest.mark.parametrize("name", ["dump.sql", "statements.txt"])
def test_lines_that_end_with_a_semicolon_are_no_table(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(
        "CREATE TABLE t (a int, b text);\nINSERT INTO t VALUES (1,'x'),(2,'y');\nUPDATE t "
        "SET a = 3;\n"
    )
    assert detect(path, name)[0] in ("code", "text")

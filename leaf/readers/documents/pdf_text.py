"""The text of a page of a PDF as pdfium gives it, cleaned; and whether it can be trusted."""

from __future__ import annotations

import ctypes
import re
from typing import Any

from leaf.readers.documents.pdf_rows import looks_tabular, text_by_rows

LIGATURES = {
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb03": "ffi",
    "\ufb04": "ffl",
    "\ufb05": "st",
    "\ufb06": "st",
}
REPLACED = LIGATURES | {"\x00": "", "\ufffe": "-\n", "\x02": "-\n"}
"""Characters -> what stands in the text; pdfium puts the last two where a word is divided at a
line's end."""
REPLACE = re.compile("[\ufb00-\ufb06\x00\x02\ufffe]")
BLANK_ENDS = re.compile(r"[ \t]+$", re.M)
GLYPH_NAMES = re.compile(
    r"/?\(cid:\d+\)|/[gGcCaA]\d{1,5}\b|/uni[0-9A-Fa-f]{4}\b|/(?:glyph|cid|index)\d+"
)
VOWELS = b"aeiouyAEIOUY"
LOWER = bytes(range(97, 123))
LETTERS = bytes(range(65, 91)) + LOWER
LEAST_LETTERS = 120
SIGNS = bytes(range(0x7F, 0xC0))
"""Signs of Latin-1: a text has few."""
CONTROL = bytes((*range(9), *range(0x0B, 0x20)))
NUMBERS = re.compile(r"\d[\d.,]*")
WORD_GAP = 0.18
"""Least blank between words, in heights of a line."""
FEW = 100
"""Letters and digits of a stamp, a page number or a running title."""
FILLED = 0.6
"""Share of a page that pictures fill where it is scanned; a margin may be cut off."""
MOST_OBJECTS = 200
SHORT_LINE = 60
LEAST_SHORT = 3
ODD = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08\x0b-\x1f]")


def page_text(page: Any) -> tuple[str, bool]:
    """The text, and whether pdfium could not make sense of the page's fonts."""
    lines = page.get_textpage()
    try:
        raw = lines.get_text_bounded()
        text = clean(raw)
        if is_spaced_out(text):
            text = clean(respaced(lines))
        elif looks_tabular(text):
            text = clean(text_by_rows(lines) or raw)
    finally:
        lines.close()
    return text, oddness(text) > 0.2 if text else _draws_text(page)


def clean(text: str) -> str:
    text = REPLACE.sub(
        lambda match: REPLACED[match[0]], text.replace("\r\n", "\n").replace("\r", "\n")
    )
    return BLANK_ENDS.sub("", text).strip("\n")


def oddness(text: str) -> float:
    """Share of characters that are no characters: private use, replacement, control."""
    odd = _count(text.encode("ascii"), CONTROL) if text.isascii() else len(ODD.findall(text))
    return odd / max(1, len(text))


def better(first: str, second: str) -> str:
    return second if second.strip() and (not first or oddness(second) < oddness(first)) else first


def _draws_text(page: Any) -> bool:
    """Whether a page without text draws text all the same; looks at a few objects only, as a scan
    has few."""
    import pypdfium2.raw as raw

    count = min(raw.FPDFPage_CountObjects(page), 50)
    kinds = {raw.FPDFPageObj_GetType(raw.FPDFPage_GetObject(page, i)) for i in range(count)}
    return raw.FPDF_PAGEOBJ_TEXT in kinds


def is_picture(page: Any, text: str) -> bool:
    """Whether pictures fill a page that has few words, as of a scan that was stamped or numbered
    since: what it says is in the picture."""
    import pypdfium2.raw as raw

    if sum(map(str.isalnum, text)) > FEW:
        return False
    left, bottom, right, top = page.get_bbox()
    filled = 0.0
    for index in range(min(raw.FPDFPage_CountObjects(page), MOST_OBJECTS)):
        item = raw.FPDFPage_GetObject(page, index)
        if _holds_picture(item):
            x1, y1, x2, y2 = _bounds(item)
            across, up = min(right, x2) - max(left, x1), min(top, y2) - max(bottom, y1)
            filled += max(0.0, across) * max(0.0, up)
    return bool(filled > FILLED * (right - left) * (top - bottom))


def _holds_picture(item: Any) -> bool:
    """Whether an object is a picture, or a drawing within the page that holds one: programs that
    stamp pages wrap what was there."""
    import pypdfium2.raw as raw

    if raw.FPDFPageObj_GetType(item) != raw.FPDF_PAGEOBJ_FORM:
        return bool(raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_IMAGE)
    inner = range(min(raw.FPDFFormObj_CountObjects(item), MOST_OBJECTS))
    kinds = {raw.FPDFPageObj_GetType(raw.FPDFFormObj_GetObject(item, i)) for i in inner}
    return raw.FPDF_PAGEOBJ_IMAGE in kinds


def _bounds(item: Any) -> tuple[float, float, float, float]:
    import pypdfium2.raw as raw

    edges = [ctypes.c_float() for _ in range(4)]
    raw.FPDFPageObj_GetBounds(item, *edges)
    left, bottom, right, top = (edge.value for edge in edges)
    return left, bottom, right, top


def is_spaced_out(text: str) -> bool:
    """Whether blanks stand between the letters of words, as where a font lies about their
    widths."""
    head = text[:600]
    blanks = head.count(" ")
    return (
        3 * blanks > len(head)
        and blanks >= 20
        and sum(len(word) == 1 for word in head.split()) > 0.4 * blanks
    )


def respaced(textpage: Any) -> str:
    """The text of a page without the blanks that pdfium put where no gap is to be seen."""
    import pypdfium2.raw as raw

    box = raw.FS_RECTF()
    letters: list[str] = []
    right = height = 0.0
    blank = False
    for index in range(textpage.count_chars()):
        letter = chr(raw.FPDFText_GetUnicode(textpage, index) or 0x20)
        if letter == " " and raw.FPDFText_IsGenerated(textpage, index) == 1:
            blank = True
            continue
        raw.FPDFText_GetLooseCharBox(textpage, index, box)
        if blank and box.left - right > WORD_GAP * max(height, box.top - box.bottom):
            letters.append(" ")
        letters.append(letter)
        right, height, blank = box.right, box.top - box.bottom, False
    return "".join(letters)


def is_garbled(text: str) -> bool:
    """Whether a text layer is no text: names of glyphs, characters of private use, or letters of
    another code.

    Languages written in Latin letters have 30 to 50 vowels in a hundred letters; a code that is
    shifted has few.
    """
    if oddness(text) > 0.15 or _glyph_names(text) > 0.2 * len(text):
        return True
    head = text[:2_000].encode("latin-1", "replace")
    letters = _count(head, LETTERS)
    if (
        letters >= LEAST_LETTERS
        and letters > 0.3 * len(head)
        and _count(head, VOWELS) < 0.1 * letters
    ):
        return True
    if letters >= LEAST_LETTERS and _is_shifted(head, letters):
        return True
    signs = _count(head, SIGNS)
    return signs >= 40 and signs > 0.5 * (len(head) - _count(head, b" \n"))


def _is_shifted(head: bytes, letters: int) -> bool:
    """Whether numbers of glyphs were taken for letters: 29 places before, so that `a` is D, and A,
    B, C never occur."""
    return _count(head, LOWER) < 0.02 * letters and _count(head, b"ABC") < 0.02 * letters


def _glyph_names(text: str) -> int:
    """Characters of a text that are names of glyphs."""
    if 4 * (text.count("/") + text.count("(cid:")) < 0.1 * len(text):
        return 0
    return sum(len(name) for name in GLYPH_NAMES.findall(text))


def _count(data: bytes, some: bytes) -> int:
    """How many bytes are among some."""
    return len(data) - len(data.translate(None, some))


def may_hold_table(text: str) -> bool:
    """Whether a page's text may be that of a table: several lines that are short, or hold two
    numbers or more."""
    count = 0
    for line in text.split("\n"):
        count += 0 < len(line) <= SHORT_LINE or len(NUMBERS.findall(line)) > 1
        if count >= LEAST_SHORT:
            return True
    return False


def remarks(page: Any) -> tuple[list[str], bool]:
    """What annotations say, and whether the page has form fields."""
    import pypdfium2.raw as raw

    comments: list[str] = []
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
            comments.append(f"[annotation] {words}")
        raw.FPDFPage_CloseAnnot(annotation)
    return comments, has_fields


def _contents(annotation: Any) -> str:
    import pypdfium2.raw as raw

    size = raw.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0)
    if size <= 2:
        return ""
    buffer = (ctypes.c_ushort * ((size + 1) // 2))()
    raw.FPDFAnnot_GetStringValue(annotation, b"Contents", buffer, size)
    return clean(bytes(buffer).decode("utf-16-le", "replace").rstrip("\x00"))

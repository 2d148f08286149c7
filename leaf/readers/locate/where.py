"""Places in a file, in words: parsing what a model or a person asks for, and naming what was read
in the same words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from leaf.errors import InvalidInputError
from leaf.readers.base import Passage, Where

UNITS = {
    "page": "page",
    "p": "page",
    "line": "line",
    "paragraph": "paragraph",
    "para": "paragraph",
    "slide": "slide",
    "row": "row",
}
"""Word (without its plural s) -> unit."""

TAKES: dict[str, tuple[str, ...]] = {
    "csv": ("row",),
    "excel": ("cell", "sheet", "row"),
    "parquet": ("row",),
    "json": ("row", "line", "sheet"),
    "arrow": ("row",),
    "stats": ("row", "sheet"),
    "database": ("row", "sheet"),
    "pdf": ("page",),
    "docx": ("paragraph",),
    "pptx": ("slide",),
    "odt": ("paragraph",),
    "odp": ("slide",),
    "rtf": ("paragraph",),
    "epub": ("paragraph",),
    "html": ("paragraph",),
    "email": ("paragraph",),
    "msg": ("paragraph",),
    "mailbox": ("paragraph",),
    "archive": ("line",),
    "captions": ("cue",),
    "audio": ("cue",),
    "video": ("cue",),
    "picture": ("page",),
    "text": ("line",),
    "code": ("line",),
}
"""Kind -> the units in which its parts can be asked for. Every kind is here."""

FORMS = {
    "page": "'pages 3-5', 'page 7' or 'pages 3-'",
    "line": "'lines 10-80', 'line 12' or 'lines 10-'",
    "paragraph": "'paragraphs 4-9', 'paragraph 12' or 'paragraphs 4-'",
    "slide": "'slides 2-4', 'slide 2' or 'slides 2-'",
    "row": "'rows 100-200', 'row 12' or 'rows 100-'",
    "cell": "'sheet Summary!A1:F40' or 'sheet Summary rows 10-80'",
    "sheet": "'sheet Summary'",
    "cue": "'00:10:00-00:20:00', '5:30-6:00' or '5:30-'",
}
"""Unit -> examples, for errors."""

DASH = r"\s*(?:-|–|—|\.\.|to)\s*"
RANGE = re.compile(rf"(\d[\d,']*)(?:({DASH})(\d[\d,']*)?)?", re.I)
COUNTED = re.compile(rf"([a-z]+)\.?\s*({RANGE.pattern})", re.I)
TIME = r"(?:\d+:)?\d{1,3}:\d{2}(?:[.,]\d{1,3})?"
TIMES = re.compile(rf"(?:time\s+)?({TIME})(?:({DASH})({TIME})?)?", re.I)
CELLS = re.compile(r"\$?([A-Z]{1,3})?\$?(\d{1,7})?(?::\$?([A-Z]{1,3})?\$?(\d{1,7})?)?", re.I)
NAME = r"'((?:[^']|'')+)'|\"([^\"]+)\""
QUOTED = re.compile(rf"(?:sheet\s+)?(?:{NAME})\s*(!?)\s*(.*)", re.I)
PLAIN = re.compile(r"(?:sheet\s+)?([^!]+)!\s*(.+)", re.I)
SHEET = re.compile(rf"sheet\s+(.+?)(?:\s*[,;]?\s+(rows?\s*{RANGE.pattern}))?", re.I)
LAST_CELL = (16_384, 1_048_576)
"""Columns and rows of the largest sheet there is."""


def parse(text: str, kind: str = "") -> Where:
    """`pages 3-5` and the like as a Where; with a kind, only what such a file takes. Raises
    InvalidInputError."""
    text = " ".join(text.split())
    if not text:
        return Where()
    where = _times(text) or _counted(text) or _sheet(text) or _bare_cells(text)
    if where is None:
        raise InvalidInputError(f"'{text}' is not a place in a file.", _forms(kind))
    return where if not kind else _fitting(where, text, kind)


def _fitting(where: Where, text: str, kind: str) -> Where:
    units = TAKES.get(kind, ())
    if where.unit == "page" and "slide" in units:
        return Where("slide", where.first, where.last)
    if (where.unit or "sheet") not in units or (where.sheet and "sheet" not in units):
        raise InvalidInputError(f"'{text}' does not fit this file.", _forms(kind))
    return where


def _forms(kind: str) -> str:
    units = TAKES.get(kind) or tuple(FORMS)
    return (
        "Use "
        + ", or ".join(FORMS[unit] for unit in units)
        + "; or leave it out to read from the beginning."
    )


def _times(text: str) -> Where | None:
    match = TIMES.fullmatch(text)
    if not match:
        return None
    first = seconds(match[1])
    last = seconds(match[3]) if match[3] else None if match[2] else first
    return _ordered(Where("cue", first, last), text)


def _counted(text: str) -> Where | None:
    match = COUNTED.fullmatch(text)
    unit = UNITS.get(match[1].lower().removesuffix("s")) if match else None
    if match is None or unit is None:
        return None
    first, last = _numbers(match[3], match[4], match[5])
    return _ordered(Where(unit, first, last), text)


def _numbers(first: str, dash: str | None, last: str | None) -> tuple[int, int | None]:
    begin = _whole(first)
    return begin, _whole(last) if last else None if dash else begin


def _whole(digits: str) -> int:
    return int(digits.replace(",", "").replace("'", "")[:15])


def _sheet(text: str) -> Where | None:
    if match := QUOTED.fullmatch(text):
        sheet, rest = (match[1] or match[2]).replace("''", "'"), match[4].strip(" ,;")
        return _part_of_sheet(sheet, rest, text) if bool(rest) or not match[3] else None
    if match := PLAIN.fullmatch(text):
        return _part_of_sheet(match[1].strip(), match[2].strip(), text)
    if match := SHEET.fullmatch(text):
        return _part_of_sheet(match[1].strip(), match[2] or "", text)
    return None


def _part_of_sheet(sheet: str, rest: str, text: str) -> Where | None:
    if not rest:
        return Where(sheet=sheet)
    part = _counted(rest) or _cells(rest, text)
    if part is None or part.unit not in ("row", "cell"):
        return None
    return Where(part.unit, part.first, part.last, sheet, part.columns)


def _bare_cells(text: str) -> Where | None:
    return (
        _cells(text, text)
        if re.fullmatch(r"\$?[A-Z]{1,3}\$?\d+(:\$?[A-Z]{1,3}\$?\d+)?", text, re.I)
        else None
    )


def _cells(cells: str, text: str) -> Where | None:
    match = CELLS.fullmatch(cells)
    if not match or not (match[1] or match[2]):
        return None
    single = ":" not in cells
    left = column_number(match[1]) if match[1] else None
    right = column_number(match[3]) if match[3] else left if single else None
    columns = (left or 1, right or LAST_CELL[0]) if left or right else None
    first = int(match[2]) if match[2] else 1
    last = int(match[4]) if match[4] else (first if single and match[2] else None)
    return _ordered(Where("cell", first, last, "", columns), text)


def _ordered(where: Where, text: str) -> Where:
    columns = where.columns
    if (where.last is not None and where.last < where.first) or (
        columns and columns[1] < columns[0]
    ):
        raise InvalidInputError(
            f"'{text}' ends before it begins.", "Give the smaller number first."
        )
    if where.unit != "cue" and where.first < 1:
        raise InvalidInputError(
            f"'{text}' begins before the first {where.unit}.", "Counting begins at 1."
        )
    return where


def around(text: str) -> str:
    """The place with a little before and after it, for somebody who looks at it: `paragraphs 10-14`
    for `paragraph 12`.

    Pages, slides and sheets stay what they are, and so does what is no place.
    """
    try:
        where = parse(text)
    except InvalidInputError:
        return text
    before, after = CONTEXT.get(where.unit, (0, 0))
    if not before or where.sheet:
        return text
    last = where.first if where.last is None else where.last
    if where.unit == "cue":
        return f"{timestamp(max(0.0, where.first - before))}-{timestamp(last + after)}"
    return span(where.unit, max(1, int(where.first) - before), int(last) + after)


CONTEXT = {"paragraph": (2, 4), "line": (6, 12), "cue": (15, 30), "row": (2, 8)}
"""Unit -> how many of them (seconds, for cues) are shown before and after a place."""


def column_number(letters: str) -> int:
    """`A` -> 1, `AA` -> 27."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def column_letters(number: int) -> str:
    """1 -> `A`, 27 -> `AA`."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def seconds(text: str) -> float:
    """`01:02:03.5`, `62:03` -> seconds."""
    total = 0.0
    for part in text.replace(",", ".").split(":"):
        total = total * 60 + float(part)
    return total


def timestamp(value: float) -> str:
    """Seconds -> `01:02:03`, begun seconds not counted."""
    whole = math.floor(value)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def span(unit: str, first: int, last: int) -> str:
    """`page 7`, `pages 3-5`, `lines 1-12,031`."""
    return f"{unit} {first:,}" if first == last else f"{unit}s {first:,}-{last:,}"


def sheet_span(sheet: str, first: int, last: int, columns: tuple[int, int] | None = None) -> str:
    """`sheet Summary rows 3-40`, or with columns `sheet Summary!A3:F40`."""
    if not re.fullmatch(r"[\w .\-]+", sheet):
        sheet = "'" + sheet.replace("'", "''") + "'"
    if columns is None:
        return f"sheet {sheet} {span('row', first, last)}"
    return f"sheet {sheet}!{column_letters(columns[0])}{first}:{column_letters(columns[1])}{last}"


def place(passage: Passage) -> str:
    """The locator of one passage."""
    return merged([passage])[0]


def merged(passages: Iterable[Passage], columns: tuple[int, int] | None = None) -> tuple[str, ...]:
    """Locators of passages in order, neighbours drawn together: `("pages 3-5", "page 9")`."""
    groups: list[list[Passage]] = []
    for passage in passages:
        last = groups[-1][-1] if groups else None
        if (
            last
            and last.unit == passage.unit
            and last.sheet == passage.sheet
            and _next_to(last, passage)
        ):
            groups[-1][1:] = [passage]
        else:
            groups.append([passage])
    return tuple(_locator(group[0], group[-1], columns) for group in groups)


def _next_to(last: Passage, passage: Passage) -> bool:
    """Rows count as neighbours across gaps: readers leave blank rows out."""
    return passage.unit in ("row", "cue") or passage.number <= last.number + 1


def _locator(first: Passage, last: Passage, columns: tuple[int, int] | None) -> str:
    if first.start is not None:
        end = (
            last.end
            if last.end is not None
            else last.start
            if last.start is not None
            else first.start
        )
        return f"{timestamp(first.start)}-{timestamp(max(first.start, end))}"
    if first.sheet:
        return sheet_span(first.sheet, first.number, last.number, columns)
    return span(first.unit, first.number, last.number)

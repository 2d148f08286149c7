"""Places in files, which are kept in English, said in the language of whoever reads them: `rows 4, 7`,
`sheet Data!A7:F7`. The names of sheets and what readers ask for stay as they are.
"""

from __future__ import annotations

import re

from leaf.language.text import ENGLISH, current, mark, separated, t

LONGEST = 400
"""Characters; a longer text is no place."""
UNITS = {
    "row": (mark("row {at}"), mark("rows {at}")),
    "line": (mark("line {at}"), mark("lines {at}")),
    "page": (mark("page {at}"), mark("pages {at}")),
    "slide": (mark("slide {at}"), mark("slides {at}")),
    "paragraph": (mark("paragraph {at}"), mark("paragraphs {at}")),
}
"""In the singular -> how one and several are named."""
SHEET = mark("sheet {name}")
ROWS_OF_SHEET = mark("sheet {name}, {rows}")
IN = mark(" in {where}")
WHERE = (
    mark("this chat"),
    mark("this file"),
    mark("this workbook"),
    mark("the list of packages that may be installed"),
    mark("those that this chat has installed"),
)
"""Where a thing of that name was looked for (`errors.not_found`), beside names."""
MORE = mark("{places} and {n} more places")
OF = mark("{places} of {total}")
IN_PART = mark("{place} (in part)")
_UNIT = "|".join(UNITS)
_NUMBERS = r"\d[\d,]*(?:-\d[\d,]*)?"
_COUNTED = re.compile(rf"({_UNIT})(s?) ({_NUMBERS}(?:, {_NUMBERS})*)( …)?")
_MORE = re.compile(r"(.+) and (\d+) more places")
_OF = re.compile(r"((?!sheet [^!]*$).+) of (\d[\d,]*|\d\d:\d\d:\d\d)")
"""What was read of a file, as `window.coverage` says it."""
_CELL = r"[A-Z]{1,3}\d+(?::[A-Z]{1,3}\d+)?"
_CELLS = re.compile(rf"(?:.+!)?{_CELL}(?:, {_CELL})*")
_TIME = re.compile(r"\d\d:\d\d:\d\d(?:-\d\d:\d\d:\d\d)?")
_ROWS = re.compile(rf"(.+) (rows? {_NUMBERS})")
_NEXT = re.compile(rf", (?=(?:{_UNIT})s? \d|sheet )")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")


def place(text: str) -> str:
    """A place, or several, or ` in this chat`; what is none is said as it is."""
    if current() == ENGLISH or not text or len(text) > LONGEST:
        return text
    if text.startswith(" in "):
        where = text.removeprefix(" in ")
        return t(IN, where=t(where) if where in WHERE else where)
    places = [_place(one) for one in _NEXT.split(text)]
    return ", ".join(places) if all(places) else text


def _place(text: str) -> str:
    """Empty for what is none."""
    if match := _MORE.fullmatch(text):
        places = _place(match[1])
        return t(MORE, places=places, n=match[2]) if places else ""
    if match := _OF.fullmatch(text):
        places = _place(match[1])
        return t(OF, places=places, total=_figure(match[2])) if places else ""
    if text.endswith(" (in part)"):
        known = _place(text.removesuffix(" (in part)"))
        return t(IN_PART, place=known) if known else ""
    if text.startswith("sheet "):
        name = text.removeprefix("sheet ")
        if rows := _ROWS.fullmatch(name):
            return t(ROWS_OF_SHEET, name=rows[1], rows=_place(rows[2]))
        return t(SHEET, name=name)
    if match := _COUNTED.fullmatch(text):
        at = _figure(match[3]) + (match[4] or "")
        return t(UNITS[match[1]][bool(match[2])], at=at)
    return text if _CELLS.fullmatch(text) or _TIME.fullmatch(text) else ""


def _figure(text: str) -> str:
    return _THOUSANDS.sub(lambda figure: separated(figure[0]), text)

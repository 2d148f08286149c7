"""What a sheet of an XLSX keeps from sight, and how its numbers are shown: hidden rows and columns,
filters, percent, currency.

Read from the sheet's XML piece by piece, as calamine tells none of it. A value that is hidden is
data all the same: it is said, not left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from zipfile import ZipFile

from leaf.readers.base import Note
from leaf.readers.packed import BROKEN_ZIP
from leaf.readers.tabular.cells import column_letter, column_number, places
from leaf.readers.tabular.grid import Merge

_ROW = re.compile(rb"<(?:\w+:)?row\b([^>]*\bhidden=[\"'](?:1|true)[\"'][^>]*)>")
_NUMBER = re.compile(rb"\br=[\"'](\d+)[\"']")
_COLUMN = re.compile(rb"<(?:\w+:)?col\b([^>]*\bhidden=[\"'](?:1|true)[\"'][^>]*)>")
_FILTER = re.compile(rb"<(?:\w+:)?autoFilter\b[^>]*\bref=[\"']([A-Z$]+\d+:[A-Z$]+\d+)[\"'][^>]*>")
_CRITERION = re.compile(rb"<(?:\w+:)?filterColumn\b")
_STYLED = re.compile(
    rb"<(?:\w+:)?c\b(?=[^>]*\br=[\"']([A-Z]{1,3})\d+[\"'])(?=[^>]*\bs=[\"'](\d+)[\"'])(?![^>]*\bt=[\"'][sbie])[^>]*>"
)
_MERGED = re.compile(
    rb"<(?:\w+:)?mergeCell\b[^>]*\bref=[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']"
)
_STYLED_BYTES = 2_000_000
"""Of the beginning of a sheet; formats go by column."""
_RUNS = 5_000
"""Runs of hidden rows that are told apart in a sheet."""
_PERCENT_IDS = (9, 10)
_CURRENCY_IDS = (5, 6, 7, 8, 42, 44)
_CURRENCY = re.compile(
    r"[$€£¥₹₽₩₺]|\b(?:USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|INR|CNY|BRL)\b"
)


@dataclass(frozen=True)
class Formats:
    """Cell styles of a workbook by what their numbers are."""

    percent: frozenset[int] = frozenset()
    currency: frozenset[int] = frozenset()


@dataclass
class Sight:
    """Takes a sheet's XML in pieces that begin and end between cells, and gives notes."""

    formats: Formats
    rows: list[int] = field(default_factory=list)
    columns: list[tuple[int, int]] = field(default_factory=list)
    filters: list[str] = field(default_factory=list)
    filtered: bool = False
    merges: list[Merge] = field(default_factory=list)
    percent: Counter[str] = field(default_factory=Counter)
    currency: Counter[str] = field(default_factory=Counter)
    _seen: int = 0

    def add(self, data: bytes) -> None:
        """The next piece."""
        if holds(data, b"hidden=", b"n="):
            for attributes in _ROW.findall(data):
                number = _NUMBER.search(attributes)
                if number:
                    self.rows.append(int(number[1]))
            for attributes in _COLUMN.findall(data):
                first, last = (
                    re.search(rb"min=[\"'](\d+)", attributes),
                    re.search(rb"max=[\"'](\d+)", attributes),
                )
                if first and last:
                    self.columns.append((int(first[1]), min(int(last[1]), 16_384)))
        if holds(data, b"autoFilter", b"oF"):
            self.filters += [ref.decode().replace("$", "") for ref in _FILTER.findall(data)]
            self.filtered |= bool(_CRITERION.search(data))
        if holds(data, b"mergeCell", b"eC"):
            for left, top, right, bottom in _MERGED.findall(data):
                corners = ((int(top), left), (int(bottom), right))
                one, other = ((row - 1, column_number(letters) - 1) for row, letters in corners)
                self.merges.append((one, other))
        if self._seen < _STYLED_BYTES and (self.formats.percent or self.formats.currency):
            for letters, style in _STYLED.findall(data[: _STYLED_BYTES - self._seen]):
                if int(style) in self.formats.percent:
                    self.percent[letters.decode()] += 1
                elif int(style) in self.formats.currency:
                    self.currency[letters.decode()] += 1
        self._seen += len(data)

    def notes(self, sheet: str) -> list[Note]:
        """What a person must know of the sheet."""
        found = []
        if self.rows:
            kind = "filtered-rows" if self.filtered else "hidden-rows"
            found.append(Note(kind, "", len(self.rows), places(sorted(self.rows), shown=_RUNS)))
        if self.columns:
            spans = ", ".join(
                f"{column_letter(a - 1)}:{column_letter(b - 1)}" for a, b in self.columns[:12]
            )
            count = sum(b - a + 1 for a, b in self.columns)
            one = count == 1
            text = (
                f"{count:,} column{'' if one else 's'} {'is' if one else 'are'} hidden in the "
                f"sheet and read like all others."
            )
            found.append(Note("hidden-columns", text, count, f"sheet {sheet}!{spans}", spans))
        for kind, columns, what in (
            ("percent", self.percent, "shown as percent: 0.125 stands for 12.5%"),
            (
                "currency",
                self.currency,
                "shown with a currency sign, which is no part of the number",
            ),
        ):
            if columns:
                letters = sorted(columns, key=lambda x: (len(x), x))
                spans = ", ".join(f"{x}:{x}" for x in letters[:12])
                names = ", ".join(letters[:12])
                text = f"Numbers in column{'' if len(letters) == 1 else 's'} {names} are {what}."
                found.append(
                    Note(kind, text, sum(columns.values()), f"sheet {sheet}!{spans}", spans)
                )
        return found


def holds(data: bytes, word: bytes, pair: bytes) -> bool:
    """Whether a word is in a piece of XML; two of its letters that are rare there are looked for
    first, eight times as fast."""
    import numpy as np

    codes = np.frombuffer(data, dtype=np.uint8)
    return bool(((codes[:-1] == pair[0]) & (codes[1:] == pair[1])).any()) and word in data


def within(notes: Sequence[Note], top: int, bottom: int) -> list[Note]:
    """A sheet's notes as one of its tables needs them: of hidden rows, those between two rows,
    1-based and inclusive."""
    return [n for note in notes if (n := _within(note, top, bottom))]


def _within(note: Note, top: int, bottom: int) -> Note | None:
    if note.kind not in ("hidden-rows", "filtered-rows"):
        return note
    shown, _, more = note.place.partition(" and ")
    runs = [(int(a), int(b or a)) for a, b in re.findall(r"\b(\d+)(?:-(\d+))?", shown)]
    rows = [n for a, b in runs for n in range(max(a, top), min(b, bottom) + 1)]
    if not rows:
        return None
    why = "by a filter" if note.kind == "filtered-rows" else "in the sheet"
    least = "at least " if more else ""
    one = len(rows) == 1
    text = (
        f"{least}{len(rows):,} row{'' if one else 's'} {'is' if one else 'are'} hidden {why} "
        f"and read like all others."
    )
    return Note(note.kind, text[0].upper() + text[1:], len(rows), places(rows))


def read_formats(archive: ZipFile) -> Formats:
    """The styles of percent and of money. None where the styles cannot be read: calamine will say
    what is wrong with the file."""
    from lxml import etree

    name = next((n for n in archive.namelist() if n.lower() == "xl/styles.xml"), "")
    if not name or archive.getinfo(name).file_size > 20_000_000:
        return Formats()
    try:
        root = etree.fromstring(
            archive.read(name), etree.XMLParser(resolve_entities=False, no_network=True)
        )
    except (etree.XMLSyntaxError, *BROKEN_ZIP):
        return Formats()
    codes = {int(e.get("numFmtId", "0")): e.get("formatCode", "") for e in root.iter("{*}numFmt")}
    percent, currency = set(), set()
    for cells in root.iter("{*}cellXfs"):
        for index, style in enumerate(cells):
            number = int(style.get("numFmtId", "0"))
            code = codes.get(number, "")
            if number in _PERCENT_IDS or "%" in code:
                percent.add(index)
            elif number in _CURRENCY_IDS or _CURRENCY.search(code):
                currency.add(index)
    return Formats(frozenset(percent), frozenset(currency))


def merged_note(
    sheet: str, merges: Sequence[Merge], top: int, bottom: int, left: int, right: int
) -> list[Note]:
    """Merged cells of a table, header and body: only the first cell of each holds the value. Places
    are 0-based."""
    inside = []
    for (r1, c1), (r2, c2) in merges:
        if top <= r1 <= bottom and left <= c1 <= right and (r1, c1) != (r2, c2):
            inside.append(f"{column_letter(c1)}{r1 + 1}:{column_letter(c2)}{r2 + 1}")
    if not inside:
        return []
    more = f" and {len(inside) - 12} more" if len(inside) > 12 else ""
    cells = ", ".join(inside[:12]) + more
    one = len(inside) == 1
    count = f"{len(inside):,} merged cell{'' if one else 's'}"
    text = f"{count} in the table: the first cell of each holds the value, the others are empty."
    return [Note("merged-cells", text, len(inside), f"sheet {sheet}!{cells}", cells)]

"""What a sheet keeps from sight, and how its numbers are shown: hidden rows and columns,
filters, percent, currency.

Of an XLSX it is read from the sheet's XML piece by piece, as calamine tells none of it. A value
that is hidden is data all the same: it is said, not left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
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
_VALUE = re.compile(
    rb"<(?:\w+:)?c\b(?![^>]*\bt=[\"'][sbied])([^>]*[^/>])>\s*"
    rb"(?:<(?:\w+:)?f\b[^>]*(?:/>|>[^<]*</(?:\w+:)?f>)\s*)?<(?:\w+:)?v>([^<]+)<"
)
"""The attributes and the value of a cell that holds a number."""
_LETTERS = re.compile(rb"\br=[\"']([A-Z]{1,3})\d")
_STYLE = re.compile(rb"\bs=[\"'](\d+)[\"']")
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
_LOCALE = re.compile(r"\[\$([^\]-]*)[^\]]*\]")
"""`[$€-407]`: the sign, and the language it is written in; `[$-407]` is no sign."""
_PLAIN_IDS = (*range(5), 11, *range(37, 41), 48)
_NOT_CODE = re.compile(r"\"[^\"]*\"|\[[^\]]*\]|\\.")
PERCENT, PLAIN, SOME_CURRENCY = "%", "", "¤"
"""How a number is shown where that is no sign of a currency; the last is a currency that the
program chooses."""


_SCALED = re.compile(r"[0#?](,+)(?=\.|[^0#?,]*$)")
"""Commas behind the last digit of a format: each hides three digits of the number."""

Shown = dict[str, Counter[str]]
"""By a column's letters, how many of its numbers are shown in which way."""


@dataclass(frozen=True)
class Formats:
    """Cell styles of a workbook by how they show a number: as percent, with the sign of a currency,
    or plainly. Dates have none of these."""

    shown: Mapping[int, str] = field(default_factory=dict)
    scaled: Mapping[int, int] = field(default_factory=dict)
    """Those that show numbers in thousands, millions or more: what they divide by."""
    digits: Mapping[int, int] = field(default_factory=dict)
    """Those that show whole numbers with zeros in front, up to so many digits."""

    @property
    def tell(self) -> bool:
        """Whether any shows more than the number."""
        return any(self.shown.values()) or bool(self.scaled or self.digits)


@dataclass
class Sight:
    """Takes a sheet's XML in pieces that begin and end between cells, and gives notes."""

    formats: Formats
    rows: list[int] = field(default_factory=list)
    columns: list[tuple[int, int]] = field(default_factory=list)
    filters: list[str] = field(default_factory=list)
    filtered: bool = False
    merges: list[Merge] = field(default_factory=list)
    shown: Shown = field(default_factory=lambda: defaultdict(Counter))
    scaled: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By what numbers are divided by, how many of which columns are."""
    padded: Counter[str] = field(default_factory=Counter)
    """How many numbers of which columns are shown with zeros in front."""
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
        if self._seen < _STYLED_BYTES and self.formats.tell:
            for attributes, value in _VALUE.findall(data[: _STYLED_BYTES - self._seen]):
                self._count(attributes, value)
        self._seen += len(data)

    def _count(self, attributes: bytes, value: bytes) -> None:
        letters, styled = _LETTERS.search(attributes), _STYLE.search(attributes)
        style = int(styled[1]) if styled else 0
        if letters and value != b"0" and (factor := self.formats.scaled.get(style)):
            self.scaled[factor][letters[1].decode()] += 1
        if letters and value.isdigit() and len(value) < self.formats.digits.get(style, 0):
            self.padded[letters[1].decode()] += 1
        how = self.formats.shown.get(style)
        if letters and how is not None:
            of_column = self.shown[letters[1].decode()]
            if of_column or how or not re.fullmatch(rb"(?:19|20)\d\d", value):
                of_column[how] += 1  # a year above is a name

    def notes(self, sheet: str) -> list[Note]:
        """What a person must know of the sheet."""
        rows = hidden_rows("filtered-rows" if self.filtered else "hidden-rows", self.rows)
        columns = hidden_columns(sheet, self.columns)
        shown = shown_notes(sheet, self.shown)
        return [*rows, *columns, *shown, *_other_notes(sheet, self.scaled, self.padded)]


def hidden_rows(kind: str, rows: Sequence[int]) -> list[Note]:
    """A note on rows by their numbers; `within` gives it words for each table."""
    return [Note(kind, "", len(rows), places(sorted(rows), shown=_RUNS))] if rows else []


def hidden_columns(sheet: str, columns: Sequence[tuple[int, int]]) -> list[Note]:
    """A note on runs of columns, 1-based and inclusive."""
    if not columns:
        return []
    spans = ", ".join(f"{column_letter(a - 1)}:{column_letter(b - 1)}" for a, b in columns[:12])
    count = sum(b - a + 1 for a, b in columns)
    one = count == 1
    text = (
        f"{count:,} column{'' if one else 's'} {'is' if one else 'are'} hidden in the sheet and "
        f"read like all others."
    )
    return [Note("hidden-columns", text, count, f"sheet {sheet}!{spans}", spans)]


def shown_notes(sheet: str, shown: Shown) -> list[Note]:
    """What the numbers of a sheet's columns are shown as, and which columns mix that."""
    percent = {x: how for x, how in shown.items() if how[PERCENT]}
    money = {x: how for x, how in shown.items() if _signs(how) or how[SOME_CURRENCY]}
    some = {x: how for x, how in percent.items() if how[PERCENT] < how.total()}
    several = {x: how for x, how in money.items() if len(_signs(how)) > 1}
    notes = []
    if whole := percent.keys() - some.keys():
        names = _names(whole)
        text = (
            f"Numbers in column{'' if len(whole) == 1 else 's'} {names} are shown as percent: "
            f"0.125 stands for 12.5%."
        )
        count = sum(percent[x][PERCENT] for x in whole)
        notes.append(_of_columns("percent", text, whole, count, sheet))
    if some:
        count = sum(how[PERCENT] for how in some.values())
        of, names = sum(how.total() for how in some.values()), _names(some)
        text = (
            f"{count:,} of {of:,} numbers in column{'' if len(some) == 1 else 's'} {names} are "
            f"shown as percent, where 0.125 stands for 12.5%; the others are not."
        )
        notes.append(_of_columns("percent", text, some, count, sheet))
    if one := money.keys() - several.keys():
        names = _names(one)
        text = (
            f"Numbers in column{'' if len(one) == 1 else 's'} {names} are shown with a currency "
            f"sign, which is no part of the number."
        )
        count = sum(how.total() - how[PERCENT] - how[PLAIN] for how in (money[x] for x in one))
        notes.append(_of_columns("currency", text, one, count, sheet))
    if several:
        names = _names(several)
        signs = ", ".join(sorted({sign for how in several.values() for sign in _signs(how)}))
        text = (
            f"Numbers in column{'' if len(several) == 1 else 's'} {names} are shown in different "
            f"currencies ({signs}): they do not add up."
        )
        count = sum(how[sign] for how in several.values() for sign in _signs(how))
        notes.append(_of_columns("currency-mixed", text, several, count, sheet))
    return notes


def _other_notes(
    sheet: str, scaled: Mapping[int, Counter[str]], padded: Counter[str]
) -> list[Note]:
    """Numbers of which a sheet shows less than there is, and those that it shows with zeros in
    front."""
    notes = []
    for factor, columns in sorted(scaled.items()):
        text = (
            f"Numbers in column{'' if len(columns) == 1 else 's'} {_names(columns)} are shown "
            f"divided by {factor:,}; the numbers themselves are not."
        )
        notes.append(_of_columns("scaled", text, columns, columns.total(), sheet))
    if padded:
        text = (
            f"Numbers in column{'' if len(padded) == 1 else 's'} {_names(padded)} are shown with "
            f"zeros in front, as codes are; the numbers have none."
        )
        notes.append(_of_columns("zeros-in-front", text, padded, padded.total(), sheet))
    return notes


def _signs(how: Counter[str]) -> list[str]:
    """The signs of known currencies among the ways in which a column's numbers are shown."""
    return [sign for sign in how if sign not in (PERCENT, PLAIN, SOME_CURRENCY)]


def _names(columns: Collection[str]) -> str:
    return ", ".join(sorted(columns, key=_place)[:12])


def _of_columns(kind: str, text: str, columns: Collection[str], count: int, sheet: str) -> Note:
    spans = ", ".join(f"{x}:{x}" for x in sorted(columns, key=_place)[:12])
    return Note(kind, text, count, f"sheet {sheet}!{spans}", spans)


def _place(letters: str) -> tuple[int, str]:
    return len(letters), letters


def sign_of(words: str) -> str:
    """The sign of a currency in a format or in a code of three letters; empty where there is
    none."""
    match = _CURRENCY.search(words)
    return {"USD": "$", "EUR": "€", "GBP": "£"}.get(match[0], match[0]) if match else ""


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
    styles = {
        index: int(style.get("numFmtId", "0"))
        for cells in root.iter("{*}cellXfs")
        for index, style in enumerate(cells)
    }
    shown = {index: _shown(number, codes.get(number, "")) for index, number in styles.items()}
    scaled = {index: _scale(codes.get(number, "")) for index, number in styles.items()}
    digits = {index: _digits(codes.get(number, "")) for index, number in styles.items()}
    return Formats(
        {index: how for index, how in shown.items() if how is not None},
        {index: factor for index, factor in scaled.items() if factor > 1},
        {index: count for index, count in digits.items() if count},
    )


def _scale(code: str) -> int:
    """What a format divides numbers by."""
    match = _SCALED.search(_NOT_CODE.sub("", code).partition(";")[0])
    return 1000 ** len(match[1]) if match else 1


def _digits(code: str) -> int:
    """As how many digits a format shows a whole number, with zeros in front; 0 for no more than it
    has."""
    zeros = _NOT_CODE.sub("", code).partition(";")[0].strip()
    return len(zeros) if len(zeros) > 1 and not zeros.strip("0") else 0


def _shown(number: int, code: str) -> str | None:
    """How a format shows a number; None for dates, text and what is not known."""
    if number in _PERCENT_IDS or "%" in code:
        return PERCENT
    if sign := sign_of(_LOCALE.sub(r"\1", code)):
        return sign
    if number in _CURRENCY_IDS:
        return SOME_CURRENCY
    plain = number in _PLAIN_IDS or (
        code and not re.search(r"(?i)[ymdhs@]", _NOT_CODE.sub("", code))
    )
    return PLAIN if plain else None

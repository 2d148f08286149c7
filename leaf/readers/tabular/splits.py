"""Whether lines are split at a sign for good reason. One column of whole values is weighed against
every split. Pure.

Some signs stand in no value (a tab, a bar): they part cells. Others stand in names, sentences,
times, addresses and numbers (a blank, a colon, a comma with a blank behind it): for them the split
has to be proven by quotes beside the sign, or by a header and columns whose types or makes only the
split shows. What is not proven stays one column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

HARD = frozenset({"\t", "|", "\x1f", "\x01", "||", "|~|", "~|~", "^|^", "\t\t"})
"""Signs that stand in no value of their own accord."""
_SOFT = frozenset({" ", ":", "::", ", "})
_RARE = frozenset({"^", "~", "##", "@@", "<>", ";;"})
_CLOCK = (
    r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)?(?: ?(?:Z|UTC|[-+]\d{2}:?\d{2}))?"
)
_DAY = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{4}年\d{1,2}月\d{1,2}日"
    r"|(?:[^\W\d]+\.?,? )?\d{1,2}(?:\.|st|nd|rd|th)?[ -](?:de )?[^\W\d]{3,10}\.?,?[ "
    r"-](?:de )?\d{2,4}"
    r"|(?:[^\W\d]+, )?[^\W\d]{3,10}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4})"
)
_SIGN = r"[-+−(]?\s?(?:[$€£¥₹]|[A-Z]{2,3}\$?)?\s?[-−]?"
_UNIT = r"\s?(?:%|[$€£¥₹]|[A-Z]{3})?\)?"
GROUPED = (
    rf"{_SIGN}\d{{1,3}}(?:[,.'’ \u00a0\u202f\u2009]\d{{2,3}})*[,.'’ "
    rf"\u00a0\u202f\u2009]\d{{3}}(?:[.,]\d+)?{_UNIT}"
)
"""A number whose thousands are marked."""
_WHOLE_VALUE = re.compile(
    rf"{GROUPED}|{_SIGN}\d+[.,]\d+{_UNIT}|\d+|{_CLOCK}|{_DAY}(?:[T ,]+{_CLOCK})?"
    r"|[A-Za-z][A-Za-z0-9+.-]*://\S+|(?:mailto:)?[\w.+-]+@[\w-]+\.[\w.-]+"
    r"|(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?:/\d+)?"
    r"|\+?[(\d][\d ()/.-]{5,}\d"  # a telephone or card number
)
_DECIMAL_COMMA = re.compile(rf"{_SIGN}\d+,\d+{_UNIT}")
_GROUP = re.compile(rf"{_SIGN}[1-9]\d{{0,2}},\d{{3}}{_UNIT}")
_CENTS = re.compile(rf"{_SIGN}\d+,\d{{2}}{_UNIT}")
_TYPED = re.compile(
    rf"{_SIGN}(?:\d[\d.,'’]*|\.\d+)(?:[eE][-+]?\d+)?{_UNIT}|{_DAY}(?:[T "
    rf"]{_CLOCK})?|{_CLOCK}|true|false",
    re.IGNORECASE,
)
_ABSENT = frozenset({"", "-", "--", "?", ".", "na", "n/a", "nan", "null", "none"})
_NEARLY = 0.95
_MOSTLY = 0.8
_FEW = 3
"""Lines that may have equally many words without being rows."""


@dataclass(frozen=True)
class Split:
    """Lines as one delimiter parts them."""

    delimiter: str
    width: int
    """Cells in most rows; more than one."""
    rows: Sequence[Sequence[str]]
    """Rows that are not empty, from the first."""
    lines: Sequence[str]
    """Lines that are not empty, as they stand."""
    quoted: float
    """Share of the lines that have a quoted cell beside the delimiter."""
    twice: float
    """Share of the lines that have several."""

    @cached_property
    def core(self) -> Sequence[Sequence[str]]:
        """From the first to the last row of the usual width: without titles above and remarks
        below."""
        fitting = [n for n, row in enumerate(self.rows) if len(row) == self.width]
        return self.rows[fitting[0] : fitting[-1] + 1] if fitting else []

    @cached_property
    def body(self) -> list[Sequence[str]]:
        """The same without its first row, which may be the header; only rows of the usual width."""
        return [row for row in self.core[1:] if len(row) == self.width]

    @cached_property
    def regular(self) -> float:
        """Share of the rows of the core that have the usual width."""
        return (
            sum(len(row) == self.width for row in self.core) / len(self.core) if self.core else 0.0
        )

    @cached_property
    def wide(self) -> float:
        """Share of all rows that have more than one cell."""
        return sum(len(row) > 1 for row in self.rows) / len(self.rows)

    @cached_property
    def spaced(self) -> bool:
        """Whether blanks stand behind most delimiters, as they do in sentences and addresses."""
        cells = [c for row in self.rows for c in row[1:] if c]
        return bool(cells) and sum(c[0] == " " for c in cells) >= 0.7 * len(cells)

    @cached_property
    def typed(self) -> list[int]:
        """Columns of the body that hold numbers, dates or the like throughout."""
        return [c for c in range(self.width) if _is_typed([row[c].strip() for row in self.body])]

    @cached_property
    def headed(self) -> bool:
        """Whether the core's first row has words where columns below have values."""
        head = self.core[0] if self.core else []
        named = [c for c in self.typed if head[c].strip() and not _TYPED.fullmatch(head[c].strip())]
        return bool(named) and len(named) >= 0.5 * len(self.typed)

    @cached_property
    def untitled(self) -> bool:
        """Whether the file's first row has one cell, where there are more rows than a title would
        have above a table of two."""
        return len(self.rows[0]) == 1

    @cached_property
    def differs(self) -> bool:
        """Whether some column's values are all of one make and the first row's cell there is of
        another."""
        head = self.core[0]
        for c in range(self.width):
            makes = [_make(row[c]) for row in self.body if row[c].strip()]
            if len(makes) > 2 and head[c].strip():
                most = max(set(makes), key=makes.count)
                if makes.count(most) >= _NEARLY * len(makes) and _make(head[c]) != most:
                    return True
        return False

    @property
    def proven(self) -> bool:
        """Whether the lines are rather rows of cells than whole values."""
        soft = self.delimiter in _SOFT or self.spaced
        if not soft and self.twice >= _MOSTLY:
            return True  # of whatever widths the tables are
        if self._cells_quoted() if soft else self.quoted >= 0.3 and self.regular >= 0.8:
            return True
        if self.delimiter in HARD:
            return self._parts()
        if self._whole_values():
            return False
        if soft:
            return self._proven_soft()
        if self.delimiter in _RARE and self.regular < 0.9:
            return False
        return self._parts()

    @property
    def plausible(self) -> bool:
        """Whether somebody may have meant the split all the same, so that it is named."""
        soft = self.delimiter in _SOFT or self.untitled
        return self.regular >= 0.9 and len(self.core) > 1 and not (soft and self._whole_values())

    def _cells_quoted(self) -> bool:
        """Whether quotes stand where cells need them, and not around words of a text."""
        if self.quoted < 0.3 or len(self.core) < 0.8 * len(self.rows):
            return False
        within = any(
            self.delimiter.strip() in c if self.delimiter.strip() else " " in c.strip()
            for row in self.body
            for c in row
        )
        return not self.untitled and (
            self.twice >= 0.9 or (self.regular >= _NEARLY and (within or bool(self.typed)))
        )

    def _parts(self) -> bool:
        """Most lines have the sign, or a block of equal width below a long preamble; lists within
        one column do not count."""
        if (
            self.delimiter != "\t"
            and self.untitled
            and not self.typed
            and not self.differs
            and self._by_chance()
        ):
            return False
        if self.wide < 0.5:
            return self.regular >= 0.9 and len(self.core) >= 3 and self.headed
        even = sum(len(row) == self.width for row in self.rows) / len(self.rows)
        lists = even < 0.6 if self.untitled else even <= 0.5
        return self.delimiter == "\t" or not lists or self.headed or len(self.typed) > 1

    def _by_chance(self) -> bool:
        """Whether lists below the name of their column may be equally long by chance: pairs, or a
        few below a single word."""
        return self.width == 2 or (len(self.core) <= _FEW and len(self.rows[0][0].split()) == 1)

    def _whole_values(self) -> bool:
        """Whether each line is by itself a number, date, time, address of the web … that holds the
        sign."""
        lines = [line.strip().strip('"') for line in self.lines]
        below = lines[1:] or lines
        if sum(bool(_WHOLE_VALUE.fullmatch(line)) for line in below) < 0.9 * len(below):
            return False
        if (
            self.delimiter == " "
            and self.width > 2
            and not all(re.fullmatch(rf"{GROUPED}|{_DAY}.*", x) for x in below)
        ):
            return _same_digits(self.core)
        if self.delimiter not in (",", ";") or not all(
            _DECIMAL_COMMA.fullmatch(x) or x.isdigit() for x in below
        ):
            return self.delimiter not in (",", ";") or not self.headed
        if _WHOLE_VALUE.fullmatch(lines[0]):
            return all(_GROUP.fullmatch(x) or x.isdigit() for x in lines) or all(
                _CENTS.fullmatch(x) for x in lines
            )
        return len(self.rows[0]) == 1

    def _proven_soft(self) -> bool:
        if self.regular < _NEARLY or not self.body:
            return False
        rows, typed, comma = len(self.body), len(self.typed), self.delimiter not in (" ", ":", "::")
        if self.headed:
            if comma:
                return rows >= 2 or self.width > 2
            return rows >= 8 if self.width == 2 and typed < 2 else rows >= (2 if typed >= 2 else 5)
        if comma and self.differs and rows >= 3:
            return True
        if rows < 2 or self.untitled:
            return False
        if typed == self.width:
            decimals = any("." in row[c] for row in self.body for c in range(self.width))
            return decimals or (self.width > 2 and not _same_digits(self.core))
        return (typed >= 2 and self.width > 2) or (
            comma and typed >= 1 and self.width >= 5 and rows >= 5
        )


def _is_typed(cells: Sequence[str]) -> bool:
    values = [c for c in cells if c.lower() not in _ABSENT]
    return bool(values) and sum(bool(_TYPED.fullmatch(c)) for c in values) >= _NEARLY * len(values)


def _make(cell: str) -> str:
    """The outline of a text: its capitals, small letters and digits, without their number or
    repeated words."""
    text = re.sub(r"\d+", "9", cell.strip()[:60])
    text = re.sub(
        r"[^\W\d_]+", lambda m: "A" if m[0].isupper() else "a" if m[0].islower() else "Aa", text
    )
    return re.sub(r"(\S+)(?: \1)+", r"\1", text)


def _same_digits(rows: Sequence[Sequence[str]]) -> bool:
    """Whether each column holds digits of one length: card, account and telephone numbers written
    in groups."""
    columns = [[c.lstrip("+") for c in column] for column in zip(*rows, strict=False)]
    return all(
        all(c.isdigit() for c in column) and len({len(c) for c in column}) == 1
        for column in columns
    )

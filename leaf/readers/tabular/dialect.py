"""How the cells of delimited text are parted and quoted, and reading its records so that a stray
quote cannot swallow rows.

The dialect is the one that gives rows of one width, with cells that look like values, and whose
split is proven (`splits.py`); else each line is one value. Nothing is taken from a file's name.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from itertools import islice

from leaf.readers.detect_rows import holds_rows
from leaf.readers.tabular.splits import Split

ONE_COLUMN = "\x1e"
"""Stands for a delimiter where nothing parts the lines: a sign that no text holds."""
_FIRMER = ("\t", "|", ";", ",")
"""Of two delimiters that both give rows of one width, the one that is the rarer sign within
values."""
_SINGLE = (",", ";", "\t", "|", ":", "^", "~", " ", "\x1f", "\x01")
_LONG = ("||", "::", "|~|", ";;", "~|~", "^|^", "##", "<>", "@@", "\t\t", ", ")
_MOMENT = r"""\d{1,4}[-/.:]\d{1,2}(?:[-/.:T ]\d[^,;|\t"]*)?"""
"""A date or a time, or both. No sign that parts cells stands in one: `01.03.2023;Rent;12` is no
date."""
_VALUE = re.compile(
    r"[ \u00a0$€£¥+\-(]*\d[\d.,' \u00a0\u202f]*%?\)?(?:e[+-]?\d+)?|"
    rf"{_MOMENT}|true|false|n/?a|null",
    re.IGNORECASE | re.ASCII,
)
_TEXT_FORMULA = re.compile(r'="([^"]*)"')
"""How zeros in front are saved from a spreadsheet that opens the file."""
_LOOKED_AT = 4_000
"""Characters of a line that tell whether it is one value or cells with quotes."""
_JOINED_LINES = 400
"""Most lines that one quoted cell may go over; more are taken for a quote gone astray."""
csv.field_size_limit(1 << 30)


@dataclass(frozen=True)
class Dialect:
    """How a delimited text is to be read."""

    delimiter: str = ","
    quote: str = '"'
    """Empty where nothing is quoted."""
    escape: str = ""
    """Sign that takes the meaning from a quote, where quotes are not doubled."""
    skip_space: bool = False
    """Blanks after a delimiter are no part of the value; where a blank is the delimiter, any number
    of them is one."""
    sep_line: bool = False
    """The first line is Excel's `sep=;` and no data."""
    width: int = 1
    """Cells in most rows."""
    doubt: str = ""
    """Where the lines stay one column: the delimiter that might have been meant, for people."""

    @property
    def one_column(self) -> bool:
        """Whether every line is one value."""
        return self.delimiter == ONE_COLUMN

    @property
    def runs(self) -> bool:
        """Whether runs of blanks part the cells, as in aligned tables of numbers."""
        return self.delimiter == " " and self.skip_space

    @property
    def label(self) -> str:
        """For people."""
        if self.runs:
            return "runs of blanks"
        return {"\t": "tabs", " ": "blanks", "\x1f": "unit separator", "\x01": "^A"}.get(
            self.delimiter, f"'{self.delimiter}'"
        )


def sniff(sample: str) -> Dialect:
    """The dialect of a text from its beginning, in which every line ending is `\\n`."""
    head, _, rest = sample.partition("\n")
    declared = re.fullmatch(r'"?sep=(.{1,3}?)"?', head.strip("\ufeff\r "), re.IGNORECASE) or (
        re.fullmatch(r"sep=(\t)", head.strip("\ufeff\r"), re.IGNORECASE)
    )
    if declared and not declared[1].isalnum():
        width, _, skip, _ = _measure(rest, declared[1], '"', "")
        return Dialect(declared[1], '"', "", skip, True, width)
    if uncommented := _without(_COMMENTS_ABOVE, sample):
        return uncommented
    readings = sorted(_readings(sample), key=lambda reading: reading.score, reverse=True)
    best = (
        next((r for r in readings[:_TRIED] if r.split and r.split.proven), None)
        if readings and readings[0].split
        else None
    )
    if best:
        return _longest(sample, _firmest(best, readings), readings).dialect
    tabs = next((r.dialect for r in readings if r.dialect.delimiter == "\t" and r.split), None)
    if tabs and holds_rows(sample.split("\n", _ROWS)[:_ROWS]):
        return tabs
    if uncommented := _without(_COMMENT_LINE, sample):
        return uncommented
    doubted = next((r.dialect.label for r in readings if r.split and r.split.plausible), "")
    if len(re.findall(r"^.*\S {2,}\S", sample, re.M)) > 0.6 * sum(
        not line.isspace() for line in sample.splitlines()
    ):
        doubted = "runs of blanks"
    return Dialect(ONE_COLUMN, '"', doubt=doubted)


def _without(comments: re.Pattern[str], sample: str) -> Dialect | None:
    """The dialect of a text without its comments, if it has some and the rest has columns."""
    bare = comments.sub("", sample)
    if not bare.strip() or len(bare) == len(sample):
        return None
    dialect = sniff(bare)
    return None if dialect.one_column or dialect.sep_line else dialect


@dataclass(frozen=True)
class _ScoredDialect:
    """A dialect and what speaks for it."""

    dialect: Dialect
    score: float
    split: Split | None
    """None where it leaves most lines whole."""


_COMMENT_LINE = re.compile(r"^#+(?:[ \t\-=*_#].*)?(?:\n|\Z)", re.MULTILINE)
_COMMENTS_ABOVE = re.compile(r"\A#+(?:[ \t\-=*_#].*)?\n(?:#.*\n)*")
"""Comments at the beginning, with lines such as `#12. Temperature` that follow one: words that hold
signs which part cells below."""
_ROWS = 400
"""Lines that tell whether rows of tabs stand among remarks."""
_TRIED = 8
"""Readings, the best first, whose split is looked at."""


def _readings(sample: str) -> Iterator[_ScoredDialect]:
    lines = sample.count("\n") + 1
    for delimiter in (*_SINGLE, *_LONG):
        often = sample.count(delimiter)
        if not often or (len(delimiter) > 1 and often < 0.8 * lines):
            continue
        for quote in ('"', "'"):
            if quote == "'" and not _quotes_cells(sample, delimiter):
                continue
            for escape in ("", "\\") if "\\" + quote in sample else ("",):
                for runs in (False, True) if delimiter == " " and "  " in sample else (False,):
                    width, score, skip, split = _measure(sample, delimiter, quote, escape, runs)
                    if score > 0:
                        dialect = Dialect(delimiter, quote, escape, skip, False, width)
                        yield _ScoredDialect(dialect, score * _prior(delimiter, quote), split)


def _firmest(best: _ScoredDialect, readings: list[_ScoredDialect]) -> _ScoredDialect:
    """The best reading, or one as regular whose delimiter stands in the best one's cells:
    `64,897⇥1` is no cell."""
    for sign in (
        _FIRMER[: _FIRMER.index(best.dialect.delimiter)]
        if best.dialect.delimiter in _FIRMER
        else ()
    ):
        for reading in readings:
            if reading.dialect.delimiter == sign and _parts_better(sign, reading.split, best.split):
                return reading
    return best


def _longest(sample: str, best: _ScoredDialect, readings: list[_ScoredDialect]) -> _ScoredDialect:
    """The best reading, or one whose longer delimiter holds every sign of the best one's:
    `1|~|Anna` has no cell `~`."""
    sign = best.dialect.delimiter
    for reading in readings:
        longer = reading.dialect.delimiter
        whole = sign in longer and sign != longer and longer.strip() == longer
        if (
            whole
            and sample.count(longer) * longer.count(sign) == sample.count(sign)
            and _covers(reading.split)
        ):
            return reading
    return best


def _parts_better(sign: str, split: Split | None, best: Split | None) -> bool:
    """Whether a split gives all rows one width and more values, where the best one leaves its sign
    within cells."""
    return (
        _within(sign, best)
        and _covers(split)
        and _plain(split) > _plain(best)
        and split is not None
        and split.proven
    )


def _within(sign: str, split: Split | None) -> bool:
    """Whether nearly every row of a split has a cell with the sign inside."""
    rows = split.rows if split else []
    return sum(any(sign in cell for cell in row) for row in rows) >= 0.9 * len(rows)


def _plain(split: Split | None) -> float:
    """Share of the cells that are numbers, dates and the like."""
    cells = [cell.strip() for row in (split.rows if split else []) for cell in row]
    return sum(bool(_VALUE.fullmatch(cell)) for cell in cells) / len(cells)


def _covers(split: Split | None) -> bool:
    """Whether a split gives all rows, the first among them, one width."""
    return split is not None and len(split.core) >= 0.9 * len(split.rows) and split.regular >= 0.9


def _quotes_cells(sample: str, delimiter: str) -> bool:
    """Whether single quotes stand around cells and not as apostrophes."""
    mark = re.escape(delimiter)
    opening = len(re.findall(rf"(?:^|{mark})\s?'", sample, re.M))
    closing = len(re.findall(rf"'(?:{mark}|$)", sample, re.M))
    return (
        opening >= 3
        and abs(opening - closing) <= 0.1 * opening
        and opening >= 0.8 * sample.count("'") / 2
    )


def _prior(delimiter: str, quote: str) -> float:
    weight = {":": 0.7, " ": 0.6, ", ": 0.99}.get(delimiter, 1.0) * (
        1.02 if len(delimiter) > 1 and delimiter != ", " else 1
    )
    return weight * (0.97 if quote == "'" else 1)


def _measure(
    sample: str, delimiter: str, quote: str, escape: str, runs: bool = False
) -> tuple[int, float, bool, Split | None]:
    """Width of most rows, score, whether blanks follow the delimiters, and the rows if most have
    several cells."""
    probe = Dialect(delimiter, quote, escape, runs)
    reader = Records(islice(StringIO(sample, newline="\n"), 600), probe)
    rows = [row for row, _ in zip(reader, range(400), strict=False) if any(c.strip() for c in row)]
    if len(rows) > 20 and not sample.endswith("\n"):
        rows.pop()
    if not rows:
        return 1, 0.0, runs, None
    widths = Counter(len(r) for r in rows)
    width, count = max(
        widths.items(), key=lambda w: w[1] * (1 + min(w[0], 8) / 8) if w[0] > 1 else w[1] * 0.45
    )
    if width == 1:
        return 1, 0.45 * count / len(rows), runs, None
    body = [r for r in rows if len(r) == width]
    cells = [c for r in body for c in r]
    skip = runs or (
        sum(all(c[:1] == " " for c in r[1:] if c) for r in body) > 0.9 * len(body)
        and delimiter != " "
        and any(any(r[1:]) for r in body)
    )
    values = sum(bool(_VALUE.fullmatch(c.strip())) or not c.strip() for c in cells) / len(cells)
    blank = sum(not c.strip() for c in cells) / len(cells)
    dirty = sum(
        c.strip()[:1] in ('"', "'") or c.strip()[-1:] in ('"', "'") for c in cells if c.strip()
    ) / len(cells)
    ragged = sum(n for w, n in widths.items() if w != width and w > 1)
    consistent = count / len(rows) * (1 - 0.3 * ragged / len(rows))
    score = (
        consistent
        * (1 + min(width, 10) / 20)
        * (1 + 0.35 * values)
        * (1 - 0.6 * dirty)
        * (1 - 0.5 * blank)
    )
    lines = [line[:_LOOKED_AT].strip(" ") for line in sample.split("\n", 400)[:400] if line.strip()]
    split = Split(delimiter, width, rows, lines, *_beside(lines, delimiter, quote))
    return width, score * (1 - 0.5 * len(reader.repaired) / len(rows)), skip, split


def _beside(lines: list[str], delimiter: str, quote: str) -> tuple[float, float]:
    """Share of the lines with a quoted cell that has a delimiter beside it, and with several of
    them."""
    mark, sign = re.escape(delimiter), re.escape(quote)
    cell = re.compile(rf"(?:^|{mark}) ?{sign}(?:[^{sign}]|{sign}{sign})*{sign}(?={mark}|$)")
    counts = [
        sum(m.end() - m.start() < len(line) for m in cell.finditer(line)) if quote in line else 0
        for line in lines
    ]
    return (
        (sum(n > 0 for n in counts) / len(lines), sum(n > 1 for n in counts) / len(lines))
        if lines
        else (0.0, 0.0)
    )


@dataclass
class Records:
    """The records of delimited text, one list of cells each; an empty line is `[""]`. Says what it
    had to mend."""

    lines: Iterable[str]
    """With their line ending, which is `\\n`."""
    dialect: Dialect
    repaired: list[int] = field(default_factory=list)
    """Numbers of the records (from 1) whose quotes did not close."""
    controls: int = 0
    """Lines whose control characters whoever gives the lines replaced."""
    nuls: int = 0
    """NUL characters left out."""
    formulas: int = 0
    """Cells that were written as formulas of a text."""
    lines_read: int = 0
    record: int = 0

    def __iter__(self) -> Iterator[list[str]]:
        self._ahead: deque[str] = deque()
        self._source = iter(self.lines)
        delimiter, quote = self.dialect.delimiter, self.dialect.quote
        plain = not self.dialect.skip_space and not self.dialect.escape
        if self.dialect.sep_line:
            self._next_line()
        while (line := self._next_line()) is not None:
            self.record += 1
            if self.dialect.runs:
                line = line.strip(" \n") + "\n"
            simple = not quote or (quote not in line and plain)
            cells = line.rstrip("\n").split(delimiter) if simple else self._quoted(line)
            if '="' in line:
                cells = self._without_formulas(cells)
            yield [c.strip(" ") for c in cells] if self.dialect.skip_space else cells

    def _without_formulas(self, cells: list[str]) -> list[str]:
        """Cells with `="01234"` as the 01234 that a spreadsheet shows for it."""
        matches = [_TEXT_FORMULA.fullmatch(cell) for cell in cells]
        self.formulas += sum(match is not None for match in matches)
        return [m[1] if m else cell for m, cell in zip(matches, cells, strict=True)]

    def _next_line(self) -> str | None:
        line = self._ahead.popleft() if self._ahead else next(self._source, None)
        if line is not None:
            self.lines_read += 1
            line = line.removeprefix("\ufeff")  # where one file was put behind another
            if "\0" in line:
                self.nuls += line.count("\0")
                line = line.replace("\0", "")
        return line

    def _quoted(self, line: str) -> list[str]:
        cells = self._parse(line)
        if cells is None:
            cells = self._parse(_behind_quotes(self.dialect).sub(self.dialect.quote, line))
        if cells is not None:
            return cells
        text = line
        taken: list[str] = []
        odd = self._is_open(line)
        while odd and len(taken) < _JOINED_LINES and (following := self._next_line()) is not None:
            taken.append(following)
            text += following
            if following.count(self.dialect.quote) % 2 == 0 and not self.dialect.escape:
                continue
            cells = self._parse(text)
            if cells is not None and self._plausible(cells, line, taken):
                return cells
        self._ahead.extendleft(reversed(taken))
        self.lines_read -= len(taken)
        self.repaired.append(self.record)
        return tolerant(line.rstrip("\n"), self.dialect)

    def _is_open(self, line: str) -> bool:
        return bool(self.dialect.escape) or line.count(self.dialect.quote) % 2 == 1

    def _plausible(self, cells: list[str], line: str, taken: list[str]) -> bool:
        """A cell over several lines is believed unless the lines look like rows on their own."""
        width = self.dialect.width
        if width < 2 or len(cells) == width:
            alone = [tolerant(part.rstrip("\n"), self.dialect) for part in (line, *taken[:20])]
            return width < 2 or not all(len(part) == width for part in alone)
        return len(tolerant(line.rstrip("\n"), self.dialect)) != width

    def _parse(self, text: str) -> list[str] | None:
        """Cells of a whole record as the rules have it, or None."""
        dialect = self.dialect
        if len(dialect.delimiter) > 1:
            return _split_long(text, dialect)
        try:
            rows = list(
                csv.reader(
                    StringIO(text, newline="\n") if "\n" in text[:-1] else [text],
                    delimiter=dialect.delimiter,
                    quotechar=dialect.quote or None,
                    quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
                    escapechar=dialect.escape or None,
                    skipinitialspace=dialect.skip_space,
                    strict=True,
                )
            )
        except csv.Error:
            return None
        if len(rows) > 1:
            return None
        return (rows[0] or [""]) if rows else [""]


@cache
def _behind_quotes(dialect: Dialect) -> re.Pattern[str]:
    """A quote with blanks or tabs between it and a delimiter: `"-1,099.14"⇥,` is a quoted cell."""
    blanks = "".join({" ", "\t"} - set(dialect.delimiter))
    mark, sign = re.escape(dialect.quote), re.escape(dialect.delimiter)
    return re.compile(rf"{mark}[{blanks}]+(?={sign}|\n|$)")


def _split_long(text: str, dialect: Dialect) -> list[str] | None:
    """The same for a delimiter of several characters, which the csv module does not take."""
    quote, delimiter, text = dialect.quote, dialect.delimiter, text.removesuffix("\n")
    if not quote or quote not in text:
        return text.split(delimiter)
    cells, at = [], 0
    while True:
        if text.startswith(quote, at):
            end = at + 1
            while (end := text.find(quote, end)) >= 0 and text.startswith(quote * 2, end):
                end += 2
            if end < 0 or not (end + 1 == len(text) or text.startswith(delimiter, end + 1)):
                return None
            cells.append(text[at + 1 : end].replace(quote * 2, quote))
            at = end + 1
        else:
            end = text.find(delimiter, at)
            end = len(text) if end < 0 else end
            cells.append(text[at:end])
            at = end
        if at >= len(text):
            return cells
        at += len(delimiter)
        if at > len(text) or (at == len(text)):
            return [*cells, ""]


def tolerant(line: str, dialect: Dialect) -> list[str]:
    """Cells of one line in which quotes went astray.

    A quote opens only at the start of a cell and closes only before a delimiter; one that does not
    close is a character. Of several readings the first that has the usual width is taken.
    """
    delimiter, quote, width = dialect.delimiter, dialect.quote, dialect.width
    step = len(delimiter)
    tried = 0

    @cache
    def read(at: int, left: int) -> tuple[str, ...] | None:
        nonlocal tried
        tried += 1
        if tried > 2_000 or left < 1:
            return None
        for value, end in _cells_at(line, at, delimiter, quote):
            if end >= len(line):
                if left == 1:
                    return (value,)
                continue
            rest = read(end + step, left - 1)
            if rest is not None:
                return (value, *rest)
        return None

    if 1 < width <= 300:
        row = read(0, width)
        if row is not None:
            return list(row)
    cells, at = [], 0
    while True:
        value, end = next(iter(_cells_at(line, at, delimiter, quote)))
        cells.append(value)
        if end >= len(line):
            return cells
        at = end + step


def _cells_at(line: str, at: int, delimiter: str, quote: str) -> Iterator[tuple[str, int]]:
    """Readings of the cell that begins at a place: its value and where it ends."""
    if quote and line.startswith(quote, at):
        end = at
        while (end := line.find(quote, end + 1)) > 0:
            after = end + 1
            if after == len(line) or line.startswith(delimiter, after):
                yield line[at + 1 : end].replace(quote * 2, quote), after
    end = line.find(delimiter, at)
    yield (line[at:], len(line)) if end < 0 else (line[at:end], end)

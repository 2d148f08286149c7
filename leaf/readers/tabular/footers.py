"""Lines of text at the end of a table: remarks are left out where a second sign proves them, stay and
are named where a word alone says so, and a name without values is a row as any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from leaf.readers.base import Note
from leaf.readers.tabular.cells import FOOTER, is_empty, kind_of, places
from leaf.readers.tabular.grid import SAMPLE, GridView, first_text
from leaf.readers.tabular.table_file import counted

_LONG = 60
"""Characters beyond which a text is rather a sentence than a name."""
_LAST = 60
"""Rows from the end that are looked at."""
_WORDED = re.compile(
    r"(?i)(?:(?:source|note|remark|footnote|quelle|anmerkung|hinweis|fuente|fonte|nota|bron|kilde|kilder"
    r"|källa|źródło|zdroj|legend|symbol|abbreviation|inquirie|disclaimer|copyright|contact|stand"
    r"|(?:last )?(?:updated?|modified)|generated|created|exported|data as of|rows?|records?)(?:s|n|en|e)?"
    r"|nb|n\.b\.|источник\w*|примечани[ея]|джерел[оа]|примітк[аи]|出典|出所|注|注記|备注|備註"
    r"|(?:资料|資料|数据)?[来來]源|출처|자료|주)(?: ?\(?\d\)?)?\s?[:：]"
)
"""`Source: own survey`, `Anmerkungen:`, `Note 1: …`: a word and a colon, as offices write them."""
_MARKED = re.compile(
    r"(?:[*†‡§]+|\(?[*†‡§]+\)|[¹²³⁴⁵])\s+\S|[¹²³⁴⁵©]\s?\S|\(?\d{1,2}\)\s*[^\W\d]|\[\d{1,2}\]\s|\\\d"
    r"|\((?:c|C)\)\s|[^\W\d_]\)\s|\S{1,2}\s*=\s|(?:[a-z]|[^\w\s]{1,3})\s?:\s"
)
"""`* provisional`, `1) without islands`, `(c) the office`, `p = estimate`: a mark that cells of the
table may bear, and what it means."""
_DATED = re.compile(
    r"(?i)(?:report |file |list |data )?(?:generated|created|exported|printed|extracted|updated"
    r"|last updated?|last modified|data as of|stand|erstellt|copyright)\b.*"
    r"(?:\b\d{4}\b|\d{1,2}[./-]\d{1,2}\b|\d:\d\d)"
    r"|page \d+(?: ?(?:of|/|von) ?\d+)?$|end of (?:report|file|data|table|list|records?)\b"
    r"|(?:total )?(?:rows|records):? \d"
)
"""`Exported on 2024-03-01`, `Page 1 of 3`, `End of report`: what programs print below a table."""
_LINE = re.compile(r"([-=_–—*])(?: ?\1){2,}")
"""`__________`, `- - - -`: what parts a table from what is said of it."""
_LISTED = re.compile(r"[-–—•·▪]\s+\S")
_ADDRESS = re.compile(r"(?i)https?://|www\.\w|\w@\w+\.\w")


@dataclass(frozen=True)
class Tail:
    """What the end of a table is made of."""

    rows: list[int]
    """The rows that stay, those in doubt among them."""
    remarks: tuple[int, ...] = ()
    """Rows that are left out."""
    doubtful: tuple[int, ...] = ()
    """Rows that stay and may be remarks."""


def cut_remarks(view: GridView, rows: list[int], columns: Sequence[int]) -> Tail:
    """Parts the remarks at the end of a table from its rows; a row is no remark because one stands
    above or below it."""
    if len(columns) < 2 or len(rows) < 3:
        return Tail(rows)
    fills = [view.fill(i, columns) for i in rows[:SAMPLE]]
    if sum(f >= 2 for f in fills) < max(2, 0.3 * len(fills)):
        return Tail(rows)
    start = len(rows)
    while start > 2 and len(rows) - start < _LAST and _may_end(view, rows, start - 1, columns):
        start -= 1
    end = _End(view, rows, columns, start)
    sure: list[int] = []
    doubtful: list[int] = []
    for at in range(start, len(rows)):
        if end.is_remark(at) or (sure and (end.goes_on(at, sure[-1]) or end.explains(at))):
            sure.append(at)
        elif sure or FOOTER.match(first_text(view, rows[at])):
            doubtful.append(at)
    gone = set(sure)
    return Tail(
        [row for at, row in enumerate(rows) if at not in gone] if gone else rows,
        tuple(rows[at] for at in sure),
        tuple(rows[at] for at in doubtful),
    )


def remarks_below(
    rows: Sequence[Sequence[str]], numbers: Sequence[int], width: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers of the remarks at the end of delimited text, and of rows that may be some; `rows` are
    its last ones, as wide as they are written."""
    if not rows:
        return (), ()
    first = numbers[0]
    grid: list[Sequence[str]] = [()] * (numbers[-1] - first + 1)
    for number, cells in zip(numbers, rows, strict=True):
        grid[number - first] = cells
    filled = [sum(not is_empty(cell) for cell in cells) for cells in grid]
    view = GridView(grid, filled, [len(cells) for cells in grid], (), str)
    tail = cut_remarks(view, [number - first for number in numbers], range(width))
    return (
        tuple(first + row for row in tail.remarks),
        tuple(first + row for row in tail.doubtful),
    )


def _rows(count: int) -> str:
    return counted(count)


def footer_notes(numbers: Sequence[int]) -> list[Note]:
    """Of remarks that are left out, by the numbers of their rows."""
    if not numbers:
        return []
    are = "is" if len(numbers) == 1 else "are"
    text = f"{_rows(len(numbers))} below the table {are} notes and not part of it."
    return [Note("footer", text, len(numbers), places(numbers))]


def remark_doubts(numbers: Sequence[int]) -> list[Note]:
    """Of rows that stay and may be remarks, by their numbers."""
    if not numbers:
        return []
    text = f"{_rows(len(numbers))} at the end of the table may be remarks; kept as data."
    return [Note("notes-doubtful", text, len(numbers), places(numbers))]


def _may_end(view: GridView, rows: list[int], at: int, columns: Sequence[int]) -> bool:
    """Whether a row may be a remark: words in its first column and nothing else, or in one of
    numbers, or a remark that a delimiter inside it cut up."""
    row = rows[at]
    if view.filled[row] != 1:
        begins = FOOTER.match(first_text(view, row)) or _is_explained(view, row)
        return bool(begins) and _is_cut_up(view, row, columns)
    if not is_empty(view.cell(row, columns[0])):
        return kind_of(view.cell(row, columns[0])) == "t"
    return _is_below_numbers(view, rows, at, columns)


def _is_cut_up(view: GridView, row: int, columns: Sequence[int]) -> bool:
    """Whether a record has a few cells where the others have many."""
    return (
        view.widths is not None
        and view.widths[row] < len(columns)
        and view.filled[row] <= 3
        and len(columns) > 3
    )


def _is_explained(view: GridView, row: int) -> bool:
    """Whether a row is a sign or a word and what it means: words in each cell but the first."""
    return all(kind_of(cell) in "te" for cell in view.grid[row][1:])


def _is_below_numbers(view: GridView, rows: list[int], at: int, columns: Sequence[int]) -> bool:
    """Whether a row's one cell holds words, and those above it in its column numbers or dates."""
    row = rows[at]
    if kind_of(first_text(view, row)) != "t":
        return False
    column = next((c for c in columns if not is_empty(view.cell(row, c))), None)
    if column is None:
        return False
    above = [kind_of(view.cell(i, column)) for i in rows[max(0, at - 5) : at]]
    return "t" not in above and any(k in "nyd" for k in above)


@dataclass(frozen=True)
class _End:
    """The last rows of a table, from position `start` on, held against those above them."""

    view: GridView
    rows: list[int]
    columns: Sequence[int]
    start: int

    def is_remark(self, at: int) -> bool:
        """Whether a row is proven to be a remark by more than a word that may begin a name: below a
        drawn line all are."""
        row, text = self.rows[at], first_text(self.view, self.rows[at])
        if self.view.filled[row] != 1:
            begins = self._pads and FOOTER.match(text) is not None
            return begins and (self._is_worded(text) or self._holds_words(row))
        if is_empty(self.view.cell(row, self.columns[0])):
            return True
        word = bool(FOOTER.match(text))
        short = self._pads and self.view.widths is not None and self.view.widths[row] == 1
        return (
            self._is_apart(at)
            or self._line <= at
            or (short and (word or len(self.columns) > 2))
            or (word and self._is_merged(row))
            or self._is_long(text, word)
            or self._is_worded(text)
        )

    def goes_on(self, at: int, before: int) -> bool:
        """Whether a row is the next line of the sentence, or of the list, that the remark above it
        began."""
        text = first_text(self.view, self.rows[at])
        return before == at - 1 and (text[:1].islower() or bool(_LISTED.match(text)))

    def explains(self, at: int) -> bool:
        """Whether a row below remarks is one of a legend."""
        row = self.rows[at]
        return self.view.filled[row] > 1 and self._pads and _is_explained(self.view, row)

    def _is_apart(self, at: int) -> bool:
        """Whether a gap parts a row from the last one with values."""
        return self.rows[at] - self.rows[self.start - 1] > at - self.start + 1

    def _is_merged(self, row: int) -> bool:
        """Whether the row's cell reaches over others, as no cell of data does."""
        return any(r1 <= row <= r2 and c2 > c1 for (r1, c1), (r2, c2) in self.view.merges)

    def _holds_words(self, row: int) -> bool:
        """Whether no cell of a row is a number or a date, as one of a record that broke off may
        be."""
        return all(kind_of(cell) in "te" for cell in self.view.grid[row])

    def _is_long(self, text: str, word: bool) -> bool:
        """Whether a text is a sentence beside the names above it."""
        longest = max(map(len, self._labels), default=0)
        if len(text) <= max(_LONG, longest):
            return False
        return word or len(text) > 2 * longest or text.endswith((".", "。", "!"))

    def _is_worded(self, text: str) -> bool:
        """Whether a text is written as remarks are, and no name above it is."""
        if _ADDRESS.search(text) and FOOTER.match(text):
            return not any(map(_ADDRESS.search, self._labels))
        if _is_sentence(text) and FOOTER.match(text):
            return not any(map(_is_sentence, self._labels))
        kind = next((kind for kind in (_WORDED, _MARKED, _DATED) if kind.match(text)), None)
        return kind is not None and not any(map(kind.match, self._labels))

    @cached_property
    def _line(self) -> int:
        """Position of the first row that is a drawn line; the end where there is none."""
        texts = (first_text(self.view, row) for row in self.rows[self.start :])
        lines = (at for at, text in enumerate(texts, self.start) if _LINE.fullmatch(text))
        return next(lines, len(self.rows))

    @cached_property
    def _labels(self) -> list[str]:
        """What the first column holds where other columns hold something too."""
        near = self.rows[max(0, self.start - SAMPLE) : self.start]
        return [
            str(cell).strip()
            for i in near
            if self.view.filled[i] > 1 and not is_empty(cell := self.view.cell(i, self.columns[0]))
        ]

    @cached_property
    def _pads(self) -> bool:
        """Whether the records of delimited text keep their delimiters where the last cells are
        empty, so that a short one is none of them."""
        widths = self.view.widths
        if widths is None:
            return False
        near = self.rows[max(0, self.start - SAMPLE) : self.start]
        full = max(self.columns) + 1
        short = sum(widths[i] < full and self.view.filled[i] > 1 for i in near)
        padded = sum(
            widths[i] >= full and is_empty(self.view.cell(i, self.columns[-1])) for i in near
        )
        return short <= padded


def _is_sentence(text: str) -> bool:
    """Whether a text is of five words or more, most of them in small letters, and ends as a sentence
    does."""
    words = text.split()
    small = sum(not word[:1].isupper() for word in words[1:])
    return len(words) > 4 and 2 * small >= len(words) and text.endswith((".", "!", "。"))

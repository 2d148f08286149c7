"""Tables in a grid of cells: blocks, title rows, header rows, body, notes below. Found by the cells' types, never assumed.

Shared by delimited text and spreadsheets. A grid is a list of rows; a cell is text or a plain Python value, empty is `""`. Only
a sample of the rows is looked at cell by cell, so a long table costs one cheap pass.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from statistics import median
from typing import Any

from leaf.formats.base import KIND, ROW, Note, TableInfo

Row = Sequence[Any]
Grid = Sequence[Row]
Merge = tuple[tuple[int, int], tuple[int, int]]
"""First and last cell, 0-based (row, column), inclusive."""

MISSING = frozenset(
    {"na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "–", "—", "..", "...", ".", "missing", "k.a.", "n.a."}
    | {"(na)", "(n/a)", "(n.a.)", "(x)", "(d)", "(s)", "(b)", "(z)", "not available", "not applicable", "n.d.", "x x"}
)
"""Words for "no value", in lower case. They count as missing only in columns that hold something other than text."""

_NUMBER = re.compile(
    r"\(?[+\-−–]?\s?(?:[$€£¥₹]|[A-Z]{2,3}\$?\s)?\s?(?:\d[\d.,'’\u00a0\u202f]*|\d{1,3}(?: \d{3})+(?:[.,]\d+)?|[.,]\d+)"
    r"(?:[eE][+-]?\d+)?\s?(?:%|[$€£¥₹]|[A-Z]{3})?\)?",
    re.ASCII,
)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?: .*)?|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
    r"|\d{1,2}[- ][A-Za-z]{3,9}\.?[- ]\d{2,4}|[A-Z][a-z]{2,8} \d{1,2}, \d{4}",
    re.ASCII,
)
_CODE = re.compile(r"\(?[A-Z]{1,2}\)?|\([A-Z]+\)")
"""`D`, `(NA)`: letters that offices print where a number is withheld."""
_YEAR = re.compile(r"(?:19|20)\d\d(?:\.0)?", re.ASCII)
_FOOTER = re.compile(
    r"(?i)(?:source|note|notes|nb|remark|quelle|anmerkung|hinweis|fuente|fonte|stand|generated|created|exported|report|copyright|"
    r"end of|last (?:update|modified)|updated|legend|see|data as of|disclaimer|confidential|rows?:|records?:|total rows|"
    r"total records|page |sources|notes?|footnotes?|inquiries|contact|symbols?|abbreviations?)\b"
    r"|[*†‡©¹²³]|\(?\d{1,2}\)\s|\d{1,2}\.?\s+[^\W\d]|\\\d|\S{1,2}\s*[:=]\s|--|==|#"
)
_SAMPLE = 240
"""Rows looked at from each end."""


@dataclass(frozen=True)
class Block:
    """One table in a grid. All places are 0-based and inclusive."""

    top: int
    """First row of the header, or of the body if there is no header."""
    bottom: int
    left: int
    right: int
    names: tuple[str, ...]
    """Unique column names, for the columns `columns`."""
    columns: tuple[int, ...]
    """Grid columns that hold the table; empty spacer columns are left out."""
    body: Sequence[int]
    """Rows of data, in order."""
    header_rows: int = 0
    notes: tuple[Note, ...] = ()
    doubtful: tuple[int, ...] = ()
    """Rows of the body that may be headings: words alone between its parts."""


@dataclass(frozen=True)
class Found:
    """What a grid holds."""

    blocks: tuple[Block, ...]
    notes: tuple[Note, ...] = ()
    """About what belongs to no table."""


@dataclass
class _Region:
    """Rows and columns that may become a table, with rows around it that are text."""

    rows: list[int]
    left: int
    right: int
    titles: list[int] = field(default_factory=list)
    footers: list[int] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    """Of the rows, those of words alone that stand between parts of the table."""
    names_end: int = -1
    """The last row of a header whose rows stand apart; -1 where nothing is known of one."""
    _kinds: tuple[int, int, int, list[str]] = (0, 0, 0, [])

    def profile(self, view: _View) -> list[str]:
        """`_profile` of its rows; found again when they are a tenth more, as many bands may be held against it."""
        rows, left, right, kinds = self._kinds
        if (left, right) != (self.left, self.right) or not rows <= len(self.rows) <= 1.1 * rows:
            kinds = _profile(view, self.rows, range(self.left, self.right + 1))
            self._kinds = len(self.rows), self.left, self.right, kinds
        return kinds


@dataclass(frozen=True)
class _View:
    """The grid as the search sees it."""

    grid: Grid
    filled: Sequence[int]
    """Cells that are not empty, by row."""
    widths: Sequence[int] | None
    """Cells as written by row, where that says something (delimited text)."""
    merges: Sequence[Merge]
    label: Callable[[int], str]
    """A row's number for notes."""

    def cell(self, row: int, column: int) -> Any:
        cells = self.grid[row]
        return cells[column] if column < len(cells) else ""

    def kinds(self, row: int, columns: Sequence[int]) -> list[str]:
        return [kind_of(self.cell(row, c)) for c in columns]

    def fill(self, row: int, columns: Sequence[int]) -> int:
        return sum(not is_empty(self.cell(row, c)) for c in columns)

    def lone(self, row: int) -> bool:
        """A line of text rather than a row of cells."""
        return self.filled[row] <= 1


def is_empty(cell: Any) -> bool:
    """Nothing, or only white space."""
    return cell is None or (isinstance(cell, str) and (not cell or cell.isspace()))


def kind_of(cell: Any) -> str:
    """One letter: e(mpty), m(issing word), y(ear), n(umber), d(ate), b(oolean), t(ext)."""
    if isinstance(cell, bool):
        return "b"
    if isinstance(cell, int | float):
        return "y" if 1900 <= cell <= 2100 and cell == int(cell) else "n"
    if isinstance(cell, date | datetime | time | timedelta):
        return "d"
    if is_empty(cell):
        return "e"
    text = str(cell).strip()
    if text.lower() in MISSING:
        return "m"
    if _YEAR.fullmatch(text):
        return "y"
    if _DATE.fullmatch(text):
        return "d"
    if _NUMBER.fullmatch(text):
        return "n"
    return "b" if text.lower() in ("true", "false") else "t"


def shape_of(cell: Any) -> str:
    """The outline of a text: runs of capitals, small letters and digits folded, so that codes of one make look alike."""
    text = re.sub(r"[0-9]+", "9", str(cell).strip()[:40])
    text = re.sub(r"[^\W\d_a-zà-öø-ÿß]+", "A", text)
    return re.sub(r"[^\W\d_A-ZÀ-ÖØ-Þ]+", "a", text)


def unique_names(raw: Iterable[Any]) -> tuple[tuple[str, ...], int, int]:
    """Readable unique names, how many were empty, how many were repeated (compared without case, as SQL does)."""
    texts = [_name(cell) for cell in raw]
    taken = {t.lower() for t in texts if t}
    seen: set[str] = {ROW, KIND}
    names: list[str] = []
    empty = repeated = 0
    for position, text in enumerate(texts, 1):
        name = text or f"column_{position}"
        if not text:
            empty += 1
        if name.lower() in seen or (not text and name.lower() in taken):
            repeated += bool(text)
            number = 2
            while f"{name}_{number}".lower() in seen | taken:
                number += 1
            name = f"{name}_{number}"
        seen.add(name.lower())
        names.append(name)
    return tuple(names), empty, repeated


def _name(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float) and cell == int(cell):
        cell = int(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        cell = cell.date()
    text = re.sub(r"\s+", " ", unicodedata.normalize("NFC", str(cell))).strip().strip("\ufeff")
    return text[:200]


def places(numbers: Sequence[int], what: str = "rows", shown: int = 8) -> str:
    """`rows 17, 40, 81 and 5 more`, of 1-based numbers; runs are joined."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    parts = [str(a) if a == b else f"{a}-{b}" for a, b in runs[:shown]]
    more = len(runs) - shown
    return f"{what if len(numbers) != 1 else what.rstrip('s')} {', '.join(parts)}" + (
        f" and {more} more places" if more > 0 else ""
    )


def column_letter(column: int) -> str:
    """`A` for 0, `AA` for 26."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def cell_range(top: int, left: int, bottom: int, right: int) -> str:
    """`A4:F1204`, from 0-based places."""
    return f"{column_letter(left)}{top + 1}:{column_letter(right)}{bottom + 1}"


def with_doubts(info: TableInfo, block: Block) -> TableInfo:
    """A table with the rows of its block that are kept though they may be headings."""
    if not block.doubtful:
        return info
    rows = tuple(i + 1 for i in block.doubtful)
    return replace(info, doubtful=(("title", rows[:1_000]),), doubtful_counts=(("title", len(rows)),))


def hard_columns(grid: Grid, body: Sequence[int], columns: Sequence[int]) -> list[int]:
    """Columns that hold numbers, dates or booleans in most of their cells, told from a sample."""
    sample = body[:: max(1, len(body) // _SAMPLE)]
    hard = []
    for c in columns:
        count = Counter(kind_of(grid[i][c]) for i in sample if c < len(grid[i]))
        if 2 * sum(count[k] for k in "nydb") > count["t"] + sum(count[k] for k in "nydb"):
            hard.append(c)
    return hard


def find_tables(
    grid: Grid, *, widths: Sequence[int] | None = None, merges: Sequence[Merge] = (), row_numbers: Sequence[int] | None = None
) -> Found:
    """Every table of a grid, from the top, left before right. `row_numbers` are the rows' 1-based numbers for notes."""
    numbers = row_numbers or range(1, len(grid) + 1)
    filled = [len(row) - row.count("") for row in grid]
    for i, count in enumerate(filled):
        if 0 < count <= 3 and all(is_empty(c) for c in grid[i]):
            filled[i] = 0
    view = _View(grid, filled, widths, merges, lambda i: str(numbers[i]))
    regions = [part for region in _regions(view) for part in _split_columns(view, region)]
    blocks: list[Block] = []
    loose: list[int] = []
    for region in regions:
        if _is_table(view, region, alone=len(regions) == 1):
            blocks.append(_analyse(view, region, numbers, blocks))
        else:
            loose += [*region.titles, *region.rows, *region.footers]
    notes: list[Note] = []
    blocks = _naming_repeats(blocks, numbers)
    if loose:
        rows = sorted({numbers[i] for i in loose})
        cells = sum(filled[i] for i in set(loose))
        text = f"{cells} cells in {len(rows)} rows belong to no table and were not loaded into one; they can be read as text."
        notes.append(Note("loose-cells", text, cells, places(rows)))
    if len(blocks) > 1:
        text = f"{len(blocks)} separate tables were found here; each was loaded on its own."
        notes.append(Note("several-blocks", text, len(blocks)))
    return Found(tuple(blocks), tuple(notes))


def _naming_repeats(blocks: list[Block], numbers: Sequence[int]) -> list[Block]:
    """Blocks whose header says in part what that of a block above says: it may be a row of one table for both."""
    said = []
    for at, block in enumerate(blocks):
        above = next((b for b in reversed(blocks[max(0, at - 20) : at]) if _names_in_part(b, block)), None)
        if above:
            row = numbers[block.top]
            text = f"Row {row} names columns in part as row {numbers[above.top]} does; it was taken for a header of its own."
            block = replace(block, notes=(*block.notes, Note("header-assumed", text, 0, places([row]))))
        said.append(block)
    return said


def _names_in_part(above: Block, block: Block) -> bool:
    """Whether two tables with headers stand in the same columns, and most but not all of their names are the same."""
    if above.columns != block.columns or not above.header_rows or not block.header_rows:
        return False
    same = sum(a == b for a, b in zip(above.names, block.names, strict=True))
    return 0.5 * len(block.names) <= same < len(block.names)


def _regions(view: _View) -> list[_Region]:
    """Bands between empty rows, joined where one goes on after a gap, with lines of text given to the table above or below."""
    bands: list[list[int]] = []
    for i, count in enumerate(view.filled):
        if not count:
            continue
        if bands and bands[-1][-1] == i - 1 and not _breaks(view, bands[-1], i):
            bands[-1].append(i)
        else:
            bands.append([i])
    regions: list[_Region] = []
    text: list[int] = []
    for rows, following in pairwise([*bands, []]):
        if len(bands) > 1 and (_is_text(view, rows) or (not regions and _is_heading_list(view, rows))):
            text += rows
            continue
        left, right = _extent(view, rows)
        previous = regions[-1] if regions else None
        if previous and following and _is_label(view, previous, text, rows, following):
            text += rows
            continue
        if previous and not text and _completes_names(view, previous, rows, following, (left, right)):
            previous.left, previous.right = min(left, previous.left), max(right, previous.right)
            previous.rows += rows
            previous.names_end = rows[-1]
            continue
        headings = _goes_on(view, previous, text, rows, (left, right)) if previous else None
        if previous and headings is not None:
            previous.headings += headings
            previous.rows += [*text, *rows]
            text = []
            continue
        region = _Region(list(rows), left, right)
        if previous and text:
            below, above = _share(view, previous, text, rows[0])
            previous.footers += below
            region.titles += above
        elif text:
            region.titles += text
        text = []
        regions.append(region)
    if text and regions:
        regions[-1].footers += text
    elif text:
        left, right = _extent(view, text)
        regions.append(_Region(text, left, right))
    return regions


def _is_text(view: _View, rows: list[int]) -> bool:
    return len(rows) <= 8 and all(view.lone(i) for i in rows)


def _is_heading_list(view: _View, rows: list[int]) -> bool:
    """A few lines above the first table such as `Period:, 2023`, or sentences that happen to hold a delimiter."""
    if len(rows) > 8 or any(view.filled[i] > 2 for i in rows):
        return False
    labels = sum(_first_text(view, i).endswith(":") for i in rows)
    kinds = {kind_of(c) for i in rows for c in view.grid[i]} - {"e"}
    return labels >= 0.5 * len(rows) or (any(view.lone(i) for i in rows) and kinds == {"t"})


def _breaks(view: _View, band: list[int], row: int) -> bool:
    """In delimited text a lasting change of width starts another table without an empty line."""
    if view.widths is None or len(band) < 3:
        return False
    before, now = view.widths[band[-1]], view.widths[row]
    if before == now or min(before, now) < 2 or view.widths[band[-2]] != before:
        return False
    ahead = view.widths[row : row + 3]
    if len(ahead) < 3 or any(w != now for w in ahead):
        return False
    columns = range(now)
    first = view.kinds(row, columns)
    below = view.kinds(row + 1, columns)
    return "n" not in first and "d" not in first and any(k in "nd" for k in below)


def _extent(view: _View, rows: Sequence[int]) -> tuple[int, int]:
    if len(rows) > 4 * _SAMPLE:
        rows = [*rows[:_SAMPLE], *rows[:: max(1, len(rows) // _SAMPLE)], *rows[-_SAMPLE:]]
    left, right = 10**9, 0
    for i in rows:
        cells = view.grid[i]
        first = next((c for c, cell in enumerate(cells) if not is_empty(cell)), None)
        if first is None:
            continue
        left = min(left, first)
        last = len(cells) - 1
        while last > right and is_empty(cells[last]):
            last -= 1
        right = max(right, last)
    return min(left, right), right


def _is_heading(view: _View, text: list[int]) -> bool:
    """A line between two bands that names what follows, so that the second is a table of its own."""
    return bool(text) and any(not _FOOTER.match(_first_text(view, i)) for i in text)


def _first_text(view: _View, row: int) -> str:
    return next((str(c).strip() for c in view.grid[row] if not is_empty(c)), "")


def _share(view: _View, above: _Region, text: list[int], below: int) -> tuple[list[int], list[int]]:
    """Notes of the table above, titles of the one below: by wording, else by which table is nearer."""
    for at, row in enumerate(text):
        if not _FOOTER.match(_first_text(view, row)) and below - row <= row - above.rows[-1] + 1:
            return text[:at], text[at:]
    return text, []


def _profile(view: _View, rows: Sequence[int], columns: Sequence[int]) -> list[str]:
    """The kind of each column over the denser rows of the lower two thirds: n, d, b, t, or e for nothing to go by."""
    sample = list(rows) if len(rows) <= 2 * _SAMPLE else [*rows[:_SAMPLE], *rows[-_SAMPLE:]]
    fills = {i: view.fill(i, columns) for i in sample}
    typical = median([f for f in fills.values() if f]) if any(fills.values()) else 0
    dense = [i for i in sample if fills[i] >= 0.6 * typical] or sample
    lower = dense[min(len(dense) // 3, len(dense) - 1) :] if len(dense) > 3 else dense[1:] or dense
    table = [view.kinds(i, columns) for i in lower]
    result = []
    for position in range(len(columns)):
        count = Counter(kinds[position] for kinds in table)
        numbers = count["n"] + count["y"]
        best, most = max((("n", numbers), ("d", count["d"]), ("b", count["b"]), ("t", count["t"])), key=lambda x: x[1])
        result.append(best if most else "e")
    return result


def _goes_on(view: _View, region: _Region, text: list[int], rows: list[int], extent: tuple[int, int]) -> list[int] | None:
    """Where rows after a gap, and after lines of text if there are some, belong to the table above: its headings in between."""
    if not _is_heading(view, text) and _continues(view, region, rows, *extent):
        return text
    if len(region.rows) < 2 or not _has_names(view, region):
        return None
    labels = _labels(view, region, rows)
    headings, rest = [*text, *labels], rows[len(labels) :]
    return headings if headings and rest and _goes_on_below(view, region, headings, rest, extent) else None


def _is_label(view: _View, region: _Region, text: list[int], rows: list[int], following: list[int]) -> bool:
    """Whether a band is a row of words alone (`Sales, in percent`) above a band that belongs to the table above both."""
    if len(rows) > 1 or len(region.rows) < 2 or not _has_names(view, region) or not _is_words(view, region, rows[0]):
        return False
    return _goes_on(view, region, [*text, *rows], following, _extent(view, following)) is not None


def _is_words(view: _View, region: _Region, row: int) -> bool:
    """Whether a row holds nothing where the columns of a region have numbers."""
    return all(is_empty(view.cell(row, region.left + p)) for p in _hard(view, region))


def _has_names(view: _View, region: _Region) -> bool:
    """Whether a region's first row holds no number where its columns do."""
    columns = range(region.left, region.right + 1)
    hard = _hard(view, region)
    return bool(hard) and not any(kind_of(view.cell(region.rows[0], columns[p])) in "nd" for p in hard)


def _hard(view: _View, region: _Region) -> list[int]:
    """Positions of a region's columns that hold something other than text."""
    return [p for p, kind in enumerate(region.profile(view)) if kind in "ndb"]


def _labels(view: _View, region: _Region, rows: list[int]) -> list[int]:
    """Rows at the beginning of a band, two at most, that hold nothing where the table above has numbers."""
    hard = _hard(view, region)
    for at, row in enumerate(rows[:3]):
        if any(not is_empty(view.cell(row, region.left + p)) for p in hard):
            return rows[:at]
    return []


def _completes_names(view: _View, region: _Region, rows: list[int], following: list[int], extent: tuple[int, int]) -> bool:
    """Whether a region is the upper half of a header, a row after a gap its lower half, and numbers stand after the next gap."""
    columns = range(min(region.left, extent[0]), max(region.right, extent[1]) + 1)
    if len(region.rows) != 1 or len(rows) != 1 or not following:
        return False
    upper, lower, below = (view.kinds(i, columns) for i in (region.rows[0], rows[0], following[0]))
    if not set(upper) <= set("te") or not set(lower) <= set("tye") or set(upper) == set("e"):
        return False
    only_above = any(a == "t" and b == "e" for a, b in zip(upper, lower, strict=True))
    only_below = any(a == "e" and b != "e" for a, b in zip(upper, lower, strict=True))
    named = [k for k, name in zip(below, lower, strict=True) if name != "e"]
    return only_above and only_below and len(named) > 1 and sum(k in "nym" for k in named) >= 0.6 * len(named)


def _goes_on_below(view: _View, region: _Region, text: list[int], rows: list[int], extent: tuple[int, int]) -> bool:
    """Whether rows below a heading are more of the table above: no header of their own, and numbers where it has some."""
    if any(_FOOTER.match(_first_text(view, i)) for i in text) or not _continues(view, region, rows, *extent):
        return False
    columns = range(region.left, region.right + 1)
    profile, hard = region.profile(view), _hard(view, region)
    if any(not is_empty(view.cell(i, columns[p])) for i in text for p in hard):
        return False
    given = [(profile[p], k) for p in hard if (k := view.kinds(rows[0], columns)[p]) != "e"]
    known = [k for _, k in given if k != "m"]
    if len(given) < 0.5 * len(hard) or not all(_fits(p, k) for p, k in given):
        return False
    return not known or any(k != "y" for k in known) or all(profile[p] == "d" for p in hard)


def _continues(view: _View, region: _Region, rows: list[int], left: int, right: int) -> bool:
    """Whether rows after a gap are more of the same table: same columns, and their first row looks like its data."""
    if left > region.right or right > region.right or left < region.left:
        return False
    columns = range(region.left, region.right + 1)
    first = ["m" if _CODE.fullmatch(str(view.cell(rows[0], c)).strip()) else kind_of(view.cell(rows[0], c)) for c in columns]
    if _awaits_data(view, region, columns, first):
        return True
    if len(region.rows) < 2:
        return False
    profile = region.profile(view)
    head = view.kinds(region.rows[0], columns)
    if sum(p in "nd" and k == "m" for p, k in zip(profile, first, strict=True)) >= max(2, 0.5 * sum(p in "ndb" for p in profile)):
        return True
    hard = [(p, k) for p, k in zip(profile, first, strict=True) if p in "ndb" and k not in "em"]
    if any(p in "ndb" for p in profile):
        fits = sum(_fits(p, k) for p, k in hard)
        return bool(hard) and fits >= 0.6 * len(hard) and len(hard) >= 0.3 * sum(p in "ndb" for p in profile)
    if any(k in "nd" for k in first) or any(k in "nd" for i in rows[1:4] for k in view.kinds(i, columns)):
        return False
    same_fill = view.fill(rows[0], columns) == view.fill(region.rows[-1], columns)
    if _shares_values(view, region, rows[0], columns):
        return True
    return same_fill and head != first if len(rows) == 1 else same_fill and len(rows) < 3


def _shares_values(view: _View, region: _Region, row: int, columns: Sequence[int]) -> bool:
    """Whether a row of text repeats values of the rows above it in their columns, or codes of their make, as no header does."""
    if view.fill(row, columns) < 2:
        return False
    above = region.rows[1:][-_SAMPLE:]
    for c in columns:
        cell = str(view.cell(row, c)).strip()
        if not cell:
            continue
        values = {str(view.cell(i, c)).strip() for i in above}
        if cell in values or ("9" in shape_of(cell) and shape_of(cell) in {shape_of(value) for value in values}):
            return True
    return False


def _awaits_data(view: _View, region: _Region, columns: Sequence[int], first: Sequence[str]) -> bool:
    """Whether a region is a header alone, and the row after the gap is the first one below it."""
    if len(region.rows) > 4 or any(k in "ndb" for i in region.rows for k in view.kinds(i, columns)):
        return False
    names = [sum(not is_empty(view.cell(i, c)) for i in region.rows) for c in columns]
    given = [k for k in first if k != "e"]
    return (
        sum(n > 0 for n in names) >= 0.6 * len(columns) and len(given) > 2 and sum(k in "ndym" for k in given) >= 0.5 * len(given)
    )


def _fits(profile: str, kind: str) -> bool:
    return kind == profile or (profile == "n" and kind == "y") or kind == "m"


def _split_columns(view: _View, region: _Region) -> list[_Region]:
    """Tables side by side: parted by an empty column, and each one something by itself."""
    gaps = [c for c in range(region.left, region.right + 1) if not any(not is_empty(view.cell(i, c)) for i in region.rows)]
    if not gaps:
        return [region]
    parts: list[tuple[int, int]] = []
    start = region.left
    for c in [*gaps, region.right + 1]:
        if c > start:
            parts.append((start, c - 1))
        start = c + 1
    joined = [parts[0]]
    for part in parts[1:]:
        if _stands_alone(view, region, joined[-1], part):
            joined.append(part)
        else:
            joined[-1] = (joined[-1][0], part[1])
    if len(joined) == 1:
        return [region]
    result = []
    for left, right in joined:
        rows = [i for i in region.rows if any(not is_empty(view.cell(i, c)) for c in range(left, right + 1))]
        for run in _runs(view, rows, left, right):
            inside = [i for i in region.headings if i in run]
            result.append(_Region(run, left, right, headings=inside, names_end=region.names_end))
    result[0].titles, result[-1].footers = region.titles, region.footers
    return result


def _runs(view: _View, rows: list[int], left: int, right: int) -> list[list[int]]:
    """Rows of one part, cut where two or more of its rows in a row are empty."""
    runs: list[list[int]] = [[]]
    for i in rows:
        if runs[-1] and i - runs[-1][-1] > 2:
            runs.append([])
        runs[-1].append(i)
    return runs


def _stands_alone(view: _View, region: _Region, left: tuple[int, int], right: tuple[int, int]) -> bool:
    """Whether the right part has a height, a header or a key column of its own, and not just an empty column before it."""
    if right[0] == right[1]:
        return False
    left_columns, right_columns = range(left[0], left[1] + 1), range(right[0], right[1] + 1)
    left_rows = [i for i in region.rows if view.fill(i, left_columns)]
    right_rows = [i for i in region.rows if view.fill(i, right_columns)]
    if len(left_rows) < 2 or len(right_rows) < 2:
        return bool(left_rows) and bool(right_rows) and abs(left_rows[-1] - right_rows[-1]) > 1
    if left_rows[0] != right_rows[0] or left_rows[-1] != right_rows[-1]:
        return True
    heads = [str(view.cell(region.rows[0], c)).strip().lower() for c in (*left_columns, *right_columns)]
    if heads[0] and heads[0] in heads[len(left_columns) :]:
        return True
    return _profile(view, right_rows, right_columns)[0] in "td"


def _is_table(view: _View, region: _Region, *, alone: bool) -> bool:
    """Whether a region is a table and not loose cells: two columns and two rows, or a list that is all there is."""
    columns = range(region.left, region.right + 1)
    if len(columns) == 1:
        texts = [str(view.cell(i, region.left)) for i in region.rows[:_SAMPLE]]
        wordy = sum(len(t) > 60 for t in texts) > 0.2 * len(texts)
        return (alone or view.widths is not None) and len(region.rows) >= (1 if view.widths is not None else 3) and not wordy
    wide = [i for i in region.rows[:_SAMPLE] if view.fill(i, columns) >= 2]
    if len(region.rows) == 1 or not wide:
        return bool(wide) and alone
    if view.widths is not None:
        return True
    if _are_names(view, wide[0], list(columns)) and len(columns) > 2 and len(region.rows) - region.rows.index(wide[0]) > 2:
        return True
    if len(wide) < 2 or (len(wide) < 0.34 * min(len(region.rows), _SAMPLE) and len(wide) < 4):
        return False
    return alone or len(columns) > 2 or len(region.rows) > 3 or _is_small_table(view, region.rows, columns)


def _is_small_table(view: _View, rows: list[int], columns: Sequence[int]) -> bool:
    """Two columns and two or three rows: a table if names stand above numbers or dates; else likely labels with their values."""
    head, *below = (view.kinds(i, columns) for i in rows)
    if any(kind != "t" for kind in head) or _first_text(view, rows[0]).endswith((":", "=")):
        return False
    return any(all(kinds[p] in "nyd" for kinds in below) for p in range(len(columns)))


def _analyse(view: _View, region: _Region, numbers: Sequence[int], earlier: Sequence[Block]) -> Block:
    """Titles, header, body and notes of one region."""
    columns = _columns_in_use(view, region)
    rows = region.rows
    rows, below = _cut_footers(view, rows, columns)
    profile = _profile(view, rows, columns)
    data, sure = _first_data(view, rows, columns, profile)
    lender = None if sure or region.titles else _lender(earlier, columns)
    data -= lender is not None
    data = _below_names(view, rows, columns, profile, data)
    if region.names_end in rows:
        data = max(rows.index(region.names_end) + 1, data if data < len(rows) else 0)
    header, above = _header_rows(view, rows[:data], columns)
    late = [i for i in rows[:data] if header and i > header[-1]]
    body_rows = [*late, *rows[data:]]
    raw = _header_names(view, header, columns)
    names, empty, repeated = (lender.names, 0, 0) if lender and not header else unique_names(raw)
    body, again = _without_repeats(view, header, body_rows, columns)
    notes: list[Note] = []
    titles = [numbers[i] for i in (*region.titles, *above)]
    if titles:
        text = f"{_rows(len(titles))} above the header {_are(len(titles))} titles or remarks and not part of the table."
        notes.append(Note("preamble", text, len(titles), places(titles)))
        notes += _title_doubts(view, titles, above, columns, numbers)
    footers = [numbers[i] for i in (*below, *region.footers)]
    if footers:
        text = f"{_rows(len(footers))} below the table {_are(len(footers))} notes and not part of it."
        notes.append(Note("footer", text, len(footers), places(footers)))
    if lender and not header and body:
        text = f"No header row was found: the columns have the names of the table above, of row {numbers[lender.top]}."
        notes.append(Note("no-header", text, 0, places([numbers[body[0]]])))
    else:
        notes += _header_notes(header, body, sure, names, empty, repeated, numbers)
    if again:
        text = f"The header is repeated in {_rows(len(again))}, which {_are(len(again))} left out."
        notes.append(Note("header-repeated", text, len(again), places([numbers[i] for i in again])))
    notes += _gap_notes(view, body, columns, numbers)
    lines = _headings(view, region, body)
    if lines:
        text = f"{_rows(len(lines))} between parts of the table may be headings or remarks; kept as data."
        notes.append(Note("titles-doubtful", text, len(lines), places([numbers[i] for i in lines])))
    edge = [*header, *body] or rows
    extent = edge[0], edge[-1], columns[0], columns[-1]
    return Block(*extent, names, tuple(columns), body, len(header), tuple(notes), tuple(lines))


def _lender(earlier: Sequence[Block], columns: Sequence[int]) -> Block | None:
    """The nearest table above in the same columns that has a header."""
    return next((b for b in reversed(earlier[-20:]) if b.header_rows and b.columns == tuple(columns)), None)


_MANY_TITLES = 10
"""Rows above a header; a report's head is shorter."""


def _title_doubts(
    view: _View, titles: Sequence[int], above: Sequence[int], columns: Sequence[int], numbers: Sequence[int]
) -> list[Note]:
    """Rows above the header that were left out and may be rows of data: many of them, or filled as rows of a table are."""
    rows = [numbers[i] for i in above if view.fill(i, columns) >= max(3, 0.5 * len(columns))]
    if len(titles) > _MANY_TITLES:
        rows = list(titles)
    if not rows:
        return []
    text = f"{_rows(len(rows))} above the header {_are(len(rows))} left out as titles, but may be rows of data."
    return [Note("titles-doubtful", text, len(rows), places(rows))]


def _headings(view: _View, region: _Region, body: Sequence[int]) -> list[int]:
    """Lines of text between the parts of a table that are rows of its body."""
    if not region.headings:
        return []
    lines = set(region.headings)
    return [i for i in body if i in lines]


def _rows(count: int) -> str:
    return f"{count:,} row{'s' if count != 1 else ''}"


def _are(count: int) -> str:
    return "are" if count != 1 else "is"


def _columns_in_use(view: _View, region: _Region) -> list[int]:
    columns = []
    for c in range(region.left, region.right + 1):
        if any(not is_empty(view.cell(i, c)) for i in region.rows):
            columns.append(c)
    return columns


def _header_notes(
    header: list[int], body: Sequence[int], sure: bool, names: tuple[str, ...], empty: int, repeated: int, numbers: Sequence[int]
) -> list[Note]:
    notes = []
    if not header:
        text = f"No header row was found: the columns are named {names[0]} to {names[-1]}."
        notes.append(Note("no-header", text, 0, places([numbers[body[0]]]) if body else ""))
        return notes
    place = places([numbers[i] for i in header])
    if len(header) > 1:
        text = f"The header takes {len(header)} rows; names are joined from top to bottom, as in '{max(names, key=len)[:80]}'."
        notes.append(Note("header-two-rows", text, len(header), place))
    if not sure:
        text = "Header and values look alike (all text), so that the first row was taken for the header by its place."
        notes.append(Note("header-assumed", text, 0, place))
    if empty:
        unnamed = [n for n in names if n.startswith("column_")][:6]
        notes.append(Note("names-empty", f"{empty} columns have no name; they are called {', '.join(unnamed)}.", empty, place))
    if repeated:
        notes.append(
            Note("names-repeated", f"{repeated} column names are repeated; a number was added to each.", repeated, place)
        )
    return notes


def _gap_notes(view: _View, body: Sequence[int], columns: Sequence[int], numbers: Sequence[int]) -> list[Note]:
    notes = []
    gaps = [numbers[b] - 1 for a, b in pairwise(body) if b - a > 1 and not view.filled[b - 1]]
    if gaps:
        notes.append(
            Note("rows-empty", f"Empty rows inside the table were left out in {len(gaps)} places.", len(gaps), places(gaps))
        )
    return notes


def _cut_footers(view: _View, rows: list[int], columns: Sequence[int]) -> tuple[list[int], list[int]]:
    """Lines of text at the end of a table: one cell only, where rows have more, and worded or written as a remark."""
    if len(columns) < 2 or len(rows) < 3:
        return rows, []
    fills = [view.fill(i, columns) for i in rows[:_SAMPLE]]
    if sum(f >= 2 for f in fills) < max(2, 0.3 * len(fills)):
        return rows, []
    end = start = len(rows)
    # What stands among remarks or below one, alone in its row, is one too: a remark goes on in the next line.
    while start > 2 and len(rows) - start < 60:
        if _is_remark(view, rows, start - 1, columns):
            end = start - 1
        elif not _stands_alone_in(view, rows[start - 1], columns):
            break
        start -= 1
    return rows[:end], rows[end:]


def _stands_alone_in(view: _View, row: int, columns: Sequence[int]) -> bool:
    """Whether a row holds words in its first column and nothing else."""
    return view.filled[row] == 1 and kind_of(view.cell(row, columns[0])) == "t"


def _is_remark(view: _View, rows: list[int], at: int, columns: Sequence[int]) -> bool:
    row = rows[at]
    if view.filled[row] != 1:
        few = view.widths is not None and view.widths[row] < len(columns) and view.filled[row] <= 3 and len(columns) > 3
        return few and bool(_FOOTER.match(_first_text(view, row)))
    text = _first_text(view, row)
    if kind_of(text) != "t":
        return False
    if is_empty(view.cell(row, columns[0])):
        column = next(c for c in columns if not is_empty(view.cell(row, c)))
        above = [kind_of(view.cell(i, column)) for i in rows[max(0, at - 5) : at]]
        return "t" not in above and any(k in "nyd" for k in above)
    after_gap = at > 0 and row - rows[at - 1] > 1
    short = view.widths is not None and view.widths[row] == 1 and len(columns) > 2
    return after_gap or short or bool(_FOOTER.match(text)) or len(text) > 60


def _first_data(view: _View, rows: list[int], columns: list[int], profile: list[str]) -> tuple[int, bool]:
    """Position in `rows` of the first row of data, and whether the types (not just the place) say so."""
    sample = rows[:_SAMPLE]
    typical = median([view.fill(i, columns) for i in rows[: 2 * _SAMPLE]])
    hard = [p for p, kind in enumerate(profile) if kind in "ndb"]
    if hard:
        named = False
        for at, row in enumerate(sample):
            if not named and view.fill(row, columns) < max(1, 0.34 * typical):
                continue
            if _is_data(view, rows, at, columns, profile, hard, sparse=named):
                return at, True
            texts = sum(kind == "t" for p, kind in enumerate(view.kinds(row, columns)) if p in hard)
            named = texts >= 2 and texts >= 0.5 * len(hard)
        return min(1, len(rows)), True
    return _first_text_row(view, rows, columns, typical)


def _below_names(view: _View, rows: list[int], columns: list[int], profile: list[str], data: int) -> int:
    """Where data begins if a full row of names stands further up: what comes below it is data, whatever its types.

    At most two more rows of words may belong to the header (units, a second level); a row with a number in a column of numbers,
    or with words for "no value", does not.
    """
    at = next((n for n in range(data) if _are_names(view, rows[n], columns)), None)
    if at is None or at + 1 >= data:
        return data
    between = rows[at + 1 : data]
    if len(between) > 2:
        return at + 1
    hard = [p for p, kind in enumerate(profile) if kind in "ndb"]
    below = [[str(view.cell(i, c)).strip() for c in columns] for i in rows[data : data + 60]]
    for n, row in enumerate(between, at + 1):
        kinds = view.kinds(row, columns)
        cells = [str(view.cell(row, c)).strip() for c in columns]
        if any(cell and sum(line[p] == cell for line in below) >= 2 for p, cell in enumerate(cells)):
            return n
        if "m" in kinds or any(kinds[p] in "nd" for p in hard):
            return n
    return data


def _are_names(view: _View, row: int, columns: list[int]) -> bool:
    """Whether a row is full of different words (or years), as one that names columns is."""
    cells = [view.cell(row, c) for c in columns]
    given = [str(cell).strip().lower() for cell in cells if not is_empty(cell)]
    if len(given) < 2 or len(given) < 0.7 * len(columns) or len(set(given)) < len(given):
        return False
    kinds = [kind_of(cell) for cell in cells if not is_empty(cell)]
    return "t" in kinds and all(kind in "ty" for kind in kinds) and max(map(len, given)) <= 120


def _is_data(
    view: _View, rows: list[int], at: int, columns: list[int], profile: list[str], hard: list[int], *, sparse: bool
) -> bool:
    """Whether a row holds what its columns hold; below a row of names few cells suffice (`sparse`)."""
    kinds = view.kinds(rows[at], columns)
    given = [(profile[p], kinds[p]) for p in hard if kinds[p] != "e"]
    if not given or (len(given) < 0.3 * len(hard) and not sparse):
        return False
    if sum(_fits(p, k) for p, k in given) < 0.6 * len(given):
        return False
    if all(k == "m" for _, k in given):
        return at > 0 and any(k == "t" for k in kinds)
    return not _is_year_header(view, rows, at, columns, kinds, hard)


def _is_year_header(view: _View, rows: list[int], at: int, columns: list[int], kinds: list[str], hard: list[int]) -> bool:
    """`Region, 2019, 2020`, or a row that numbers the columns: numbers that are names, as those below are of another make."""
    cells = [view.cell(rows[at], columns[p]) for p in hard if kinds[p] in "yn"]
    if len(cells) < 2 or at + 1 >= len(rows) or any(kinds[p] not in "yne" for p in hard):
        return False
    try:
        values = [float(str(c).replace(",", ".")) for c in cells]
    except ValueError:
        return False
    steps = {b - a for a, b in pairwise(values)}
    below = [view.kinds(i, columns) for i in rows[at + 1 : at + 6]]
    if all(kinds[p] in "ye" for p in hard):
        years_below = sum(k[p] == "y" for k in below for p in hard)
        return len(set(values)) == len(values) and years_below < 0.5 * len(below) * len(hard)
    counted = len(steps) == 1 and abs(next(iter(steps))) == 1 and values[0] in (0, 1, 5) and len(values) >= 3
    texts_above = at > 0 and "t" in view.kinds(rows[at - 1], columns)
    others_text = all(kinds[p] in "te" for p in range(len(columns)) if p not in hard)
    return counted and others_text and not texts_above and at == 0 and len(hard) < len(columns)


def _first_text_row(view: _View, rows: list[int], columns: list[int], typical: float) -> tuple[int, bool]:
    """Where all is text: the shapes of the values (codes, addresses) and repetition tell header from data."""
    at = next((n for n, i in enumerate(rows[:_SAMPLE]) if view.fill(i, columns) >= max(1, 0.6 * typical)), 0)
    head_row = view.grid[rows[at]]
    below = [i for i in rows[at + 1 : at + 1 + _SAMPLE] if view.grid[i] != head_row]
    if not below:
        unlike = len({str(view.cell(rows[at], c)) for c in columns}) == len(columns)
        return (at + 1, False) if unlike else (at, True)
    same = different = repeated = 0
    for c in columns:
        values = [str(view.cell(i, c)).strip() for i in below if not is_empty(view.cell(i, c))]
        head = str(view.cell(rows[at], c)).strip()
        if not values or not head:
            continue
        shape, count = Counter(shape_of(v) for v in values).most_common(1)[0]
        if count >= 0.8 * len(values) and len(values) > 1:
            same += shape_of(head) == shape and not re.fullmatch(r"A?a?|Aa( Aa)*", shape)
            different += shape_of(head) != shape
        repeated += head in values
    if repeated >= max(1, 0.3 * len(columns)) or same > different:
        return at, True
    return at + 1, different > 0


def _header_rows(view: _View, rows: list[int], columns: list[int]) -> tuple[list[int], list[int]]:
    """Of the rows above the data: those that make the header, and those above it that are titles."""
    if not rows:
        return [], []
    fills = [view.fill(i, columns) for i in rows]
    best = max(fills[-4:])
    at = max(n for n in range(max(0, len(rows) - 4), len(rows)) if fills[n] >= 0.6 * best)
    if fills[at] < 0.34 * len(columns) and len(columns) > 3 and not _has_merge(view, rows[at], columns):
        return [], rows[: at + 1]
    header = [rows[at]]
    while at > 0 and len(header) < 3 and _is_upper(view, rows[at - 1], rows[at], columns):
        at -= 1
        header.insert(0, rows[at])
    return header, rows[:at]


def _is_near(view: _View, row: int, lower: int, columns: Sequence[int]) -> bool:
    """Whether two rows may make one header: with nothing between them, or each with names where the other has none."""
    if row == lower - 1:
        return True
    upper_only = any(not is_empty(view.cell(row, c)) and is_empty(view.cell(lower, c)) for c in columns)
    return upper_only and view.fill(row, columns) > 1 and not any(view.filled[row + 1 : lower])


def _has_merge(view: _View, row: int, columns: Sequence[int]) -> bool:
    return any(r1 <= row <= r2 and columns[0] <= c1 <= columns[-1] and c2 > c1 for (r1, c1), (r2, c2) in view.merges)


def _is_upper(view: _View, row: int, lower: int, columns: list[int]) -> bool:
    """Whether a row above a header row belongs to it: groups over several columns, and not a title or `key, value` remark."""
    at = [p for p, c in enumerate(columns) if not is_empty(view.cell(row, c))]
    if not at or not _is_near(view, row, lower, columns) or (view.widths is not None and view.widths[row] == 1):
        return False
    if len(at) == 1:
        spans = [c2 - c1 + 1 for (r1, c1), (_, c2) in view.merges if r1 == row and c1 == columns[at[0]]]
        if spans:
            return 1 < spans[0] < 0.6 * (columns[-1] - columns[0] + 1)
        return at[0] > 0 and len(columns) > 2
    if any(kind_of(view.cell(row, columns[p])) not in "tyn" for p in at):
        return False
    if at == list(range(len(at))) and len(at) <= 2 and len(columns) > 3:
        return False
    if at == list(range(len(columns))):
        texts = [str(view.cell(row, c)).strip() for c in columns]
        return len(set(texts)) < len(texts) or _completes(view, row, lower, columns)
    return True


def _completes(view: _View, row: int, lower: int, columns: list[int]) -> bool:
    """A full row above another: a header only if the lower one is no full set of names of its own."""
    names = [str(view.cell(lower, c)).strip() for c in columns]
    return "" in names or len(set(names)) < len(names)


def _header_names(view: _View, header: list[int], columns: list[int]) -> list[Any]:
    """Names from top to bottom; groups are carried to the right over the columns they stand above."""
    if not header:
        return ["" for _ in columns]
    levels = [[view.cell(i, c) for c in columns] for i in header]
    for depth, row in enumerate(header[:-1]):
        levels[depth] = _carry(view, row, header[-1], columns, levels[depth])
    names = []
    for position in range(len(columns)):
        parts: list[str] = []
        for level in levels:
            part = _name(level[position]) if not is_empty(level[position]) else ""
            if part and part not in parts:
                parts.append(part)
        names.append(" / ".join(parts))
    return names


def _carry(view: _View, row: int, last: int, columns: list[int], cells: list[Any]) -> list[Any]:
    given = [p for p, cell in enumerate(cells) if not is_empty(cell)]
    if len(given) > 2 and given[-1] - given[0] == len(given) - 1:
        return cells
    merged = {c: c1 for (r1, c1), (r2, c2) in view.merges if r1 <= row <= r2 and c2 > c1 for c in range(c1, c2 + 1)}
    out = list(cells)
    for position, c in enumerate(columns):
        if not is_empty(out[position]):
            continue
        if c in merged:
            out[position] = view.cell(row, merged[c])
        elif not merged and position and not is_empty(out[position - 1]) and not is_empty(view.cell(last, c)):
            out[position] = out[position - 1]
    return out


def _without_repeats(view: _View, header: list[int], body: Sequence[int], columns: list[int]) -> tuple[Sequence[int], list[int]]:
    """Rows that repeat the header (files put one after the other, printed pages) are no data."""
    if len(header) != 1 or len(columns) < 2:
        return body, []
    head = view.grid[header[0]]
    if sum(not is_empty(c) for c in head) < 2:
        return body, []
    again = [i for i in body if view.grid[i] == head]
    if not again:
        return body, []
    drop = set(again)
    return [i for i in body if i not in drop], again

"""Series whose columns are described by rows of their own above the first period: `Title`, `Unit`,
`Series ID`, as statistics offices, central banks and data vendors write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from leaf.readers.base import Note
from leaf.readers.tabular.cells import is_empty, is_measure, kind_of, name_of, places
from leaf.readers.tabular.grid import SAMPLE, GridView, extent_of
from leaf.readers.tabular.header import are_codes
from leaf.readers.tabular.periods import TIME_NAME, is_period, period_of

_MOST = 40
"""Rows above the first period."""
_GAP = 6
"""How far a row may be below the one above it."""
_FEWEST = 4
"""Periods in a row that are no chance."""
_SHOWN, _VALUES, _LONGEST = 8, 3, 40
"""Rows that the note quotes, values of each, and characters of a value."""
_NAMING = re.compile(
    r"(?i)(?:series|data|variable|indicator|item)?[ _]?"
    r"(?:title|name|series|description|label|indicator|variable|item|code|id)s?"
    r"|titel|bezeichnung|(?:zeit)?reihe|indikator|titre|libell[ée]|s[ée]rie|intitul[ée]|nom|t[íi]tulo|nombre|indicador"
)
"""What a row that names columns is called."""


def description(view: GridView, bands: Sequence[list[int]], at: int) -> tuple[list[int], int]:
    """The rows that describe the columns of a table that begins with a band, and which band holds
    its first period; no rows where there are none."""
    if all(view.lone(i) for i in bands[at]):
        return [], at
    left = extent_of(view, bands[at][:_MOST])[0]
    above: list[int] = []
    for end, row in _rows_from(bands, at):
        if len(above) > _MOST or (above and row - above[-1] > _GAP):
            break
        if _is_dated(view.cell(row, left)):
            band = bands[end]
            data = band[band.index(row) : band.index(row) + SAMPLE]
            rows = _from_first_full(view, above)
            return (rows, end) if _describes(view, rows, data, left) else ([], at)
        above.append(row)
    return [], at


def _is_dated(cell: object) -> bool:
    """Whether a cell says which period it is of: `Year` alone names a column."""
    period = period_of(cell)
    return period is not None and bool(period.year or period.number)


def _rows_from(bands: Sequence[list[int]], at: int) -> Iterator[tuple[int, int]]:
    """Bands and rows, from a band on."""
    for number in range(at, len(bands)):
        for row in bands[number]:
            yield number, row


def _from_first_full(view: GridView, rows: Sequence[int]) -> list[int]:
    """Rows without lines of text above them, which are titles."""
    first = next((n for n, row in enumerate(rows) if not view.lone(row)), len(rows))
    return list(rows[first:])


def _describes(view: GridView, rows: Sequence[int], data: Sequence[int], left: int) -> bool:
    if len(rows) < 2 or len(data) < _FEWEST:
        return False
    right = extent_of(view, [*rows, *data])[1]
    others = range(left + 1, right + 1)
    labels = [_text(view.cell(row, left)) for row in rows]
    named = next((n for n, label in enumerate(labels) if label), 0)
    if not all(labels[named:]) or any(kind_of(label) != "t" for label in labels[named:]):
        return False
    if len({label.lower() for label in labels[named:]}) < len(labels[named:]):
        return False
    series = _series(view, data, left, others)
    full = [row for row in rows[named:] if series and view.fill(row, series) >= 0.6 * len(series)]
    return len(full) > 1 and not _is_ordinary(view, rows, left, others)


def _series(view: GridView, data: Sequence[int], left: int, others: Sequence[int]) -> list[int]:
    """The columns of numbers, where rows are numbers by periods."""
    periods = sum(is_period(view.cell(row, left)) for row in data)
    if periods < max(_FEWEST, 0.9 * len(data)):
        return []
    numeric, used = list[int](), 0
    for column in others:
        kinds = [kind_of(view.cell(row, column)) for row in data]
        values = sum(kind in "nytdb" for kind in kinds)
        numbers = sum(kind in "ny" for kind in kinds)
        used += values > 0
        if 0 < values <= 1.25 * numbers:
            numeric.append(column)
    return numeric if 2 * len(numeric) >= used else []


def _is_ordinary(view: GridView, rows: Sequence[int], left: int, others: Sequence[int]) -> bool:
    """Whether the last row with values names the columns (`Date, Price`), below lines of a name and a
    value."""
    full = [row for row in rows if view.fill(row, others)]
    first, last = (_text(view.cell(row, left)) for row in (full[0], full[-1]))
    words = [view.cell(full[-1], column) for column in others]
    if TIME_NAME.fullmatch(first):
        # Codes above the words for them, as surveys have: both name the column of days.
        codes = [name_of(view.cell(full[0], column)) for column in others]
        return are_codes(codes) and TIME_NAME.fullmatch(_text(view.cell(full[1], left))) is not None
    if TIME_NAME.fullmatch(last) and all(kind_of(cell) in "te" for cell in words):
        return True
    return len(others) == 1 and bool(first) and not _NAMING.fullmatch(first)


def described_names(
    view: GridView, rows: Sequence[int], columns: Sequence[int]
) -> tuple[list[str], list[int]]:
    """The names that rows of a description give the columns, and which rows they are from: the first
    that tells all columns apart, with words where it holds codes; else as many as it takes."""
    others = columns[1:]
    cells = {row: [name_of(view.cell(row, c)) for c in others] for row in rows}
    full = [row for row in rows if any(cells[row])]
    apart = next((row for row in full if _tell_apart([cells[row]])), None)
    used = [full[0]] if apart is None else [apart]
    for row in full[full.index(used[0]) + 1 :]:
        levels = [cells[one] for one in used]
        if not _tell_apart(levels):
            more = len(_joined([*levels, cells[row]])) > len(_joined(levels))
        else:
            more = len(used) == 1 and are_codes(levels[0]) and _are_words(cells[row])
        if more:
            used.append(row)
    names = [
        " / ".join(dict.fromkeys(filter(None, parts)))
        for parts in zip(*map(cells.__getitem__, used), strict=True)
    ]
    return [_name_of_periods(view, rows, used[0], columns[0]), *names], used


def _tell_apart(levels: Sequence[Sequence[str]]) -> bool:
    return len(_joined(levels)) == len(levels[0]) and all(
        any(parts) for parts in zip(*levels, strict=True)
    )


def _joined(levels: Sequence[Sequence[str]]) -> set[tuple[str, ...]]:
    return set(zip(*levels, strict=True))


def _are_words(cells: Sequence[str]) -> bool:
    """Whether some cells are names in words, not codes, units or one value again and again."""
    texts = [cell for cell in cells if cell]
    if not texts or are_codes(texts) or len(set(texts)) < len(texts):
        return False
    return all(kind_of(text) == "t" and not is_measure(text) for text in texts)


def _name_of_periods(view: GridView, rows: Sequence[int], names: int, left: int) -> str:
    """`Date`, where the row of names says so, or a last one that says nothing else."""
    label, last = (name_of(view.cell(row, left)) for row in (names, rows[-1]))
    if TIME_NAME.fullmatch(label):
        return label
    return last if view.lone(rows[-1]) and TIME_NAME.fullmatch(last) else ""


def description_notes(
    view: GridView,
    rows: Sequence[int],
    used: Sequence[int],
    columns: Sequence[int],
    numbers: Sequence[int],
) -> list[Note]:
    """What rows of a header say that gave no names. `numbers` are rows' numbers in the file."""
    rest = [row for row in rows if row not in used and view.fill(row, columns[1:])]
    if not rest:
        return []
    quotes = []
    for row in rest[:_SHOWN]:
        values = list(
            dict.fromkeys(filter(None, (name_of(view.cell(row, c)) for c in columns[1:])))
        )
        more = "…" if len(values) > _VALUES else ""
        shown = ", ".join([_short(value) for value in values[:_VALUES]] + [more] * bool(more))
        quotes.append(f"{_short(name_of(view.cell(row, columns[0])))}: {shown}")
    more = "; …" if len(rest) > _SHOWN else ""
    text = f"{len(rest):,} rows above the first period describe the columns: {'; '.join(quotes)}{more}."
    if len(rest) == 1:
        text = f"1 row above the first period describes the columns: {quotes[0]}."
    return [Note("series-described", text, len(rest), places([numbers[row] for row in rest]))]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _text(cell: object) -> str:
    return "" if is_empty(cell) else str(cell).strip()

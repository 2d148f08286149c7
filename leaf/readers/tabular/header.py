"""Within the rows of one table: where data begins, which rows above it are its header, and the
names that they give."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from leaf.readers.tabular.beside_names import comes_again, is_labels, is_record, is_section_title
from leaf.readers.tabular.cells import (
    is_empty,
    is_measure,
    is_placeholder,
    is_rule,
    is_unit,
    is_year_name,
    kind_of,
    name_of,
    shape_of,
    size_of,
)
from leaf.readers.tabular.grid import SAMPLE, GridView, first_text, fits_in
from leaf.readers.tabular.options import RECORD, names_options, row_of_records


def first_data(
    view: GridView, rows: list[int], columns: list[int], profile: list[str]
) -> tuple[int, bool]:
    """Position in `rows` of the first row of data, and whether the types (not just the place) say
    so."""
    if records := row_of_records(view, rows, columns):
        return records + 1, True
    sample = rows[:SAMPLE]
    typical = median([view.fill(i, columns) for i in rows[: 2 * SAMPLE]])
    hard = [p for p, kind in enumerate(profile) if kind in "ndb"]
    if hard:
        named = False
        for at, row in enumerate(sample):
            if not named and view.fill(row, columns) < max(1, 0.34 * typical):
                continue
            if _is_data(view, rows, at, columns, profile, hard, sparse=named):
                if at or not _names_all(view, rows, columns, profile, hard):
                    return at, True
                continue
            texts = sum(kind == "t" for p, kind in enumerate(view.kinds(row, columns)) if p in hard)
            named = texts >= 2 and texts >= 0.5 * len(hard)
        return min(1, len(rows)), True
    return _first_text_row(view, rows, columns, typical)


def _names_all(
    view: GridView, rows: list[int], columns: list[int], profile: list[str], hard: list[int]
) -> bool:
    """Whether the second of some rows names all columns of numbers, so that the first, whatever it is
    like, stands above the names and is none of the rows below."""
    if len(hard) < 3 or len(rows) < 3 or not are_names(view, rows[1], columns):
        return False
    kinds = view.kinds(rows[1], columns)
    return all(kinds[p] == "t" for p in hard) and _is_data(
        view, rows, 2, columns, profile, hard, sparse=False
    )


def below_names(
    view: GridView, rows: list[int], columns: list[int], profile: list[str], data: int
) -> int:
    """Where data begins if a full row of names stands further up: what comes below it is data,
    whatever its types.

    At most two more rows of words may belong to the header (units, a second level); a row with a
    number in a column of numbers, with words for "no value", or with what else stands in the place
    of a value, does not.
    """
    at = next((n for n in range(data) if are_names(view, rows[n], columns)), None)
    if at is None or at + 1 >= data:
        return data
    between = rows[at + 1 : data]
    if len(between) > 2:
        return at + 1
    hard = [p for p, kind in enumerate(profile) if kind in "ndb"]
    below = [[str(view.cell(i, c)).strip() for c in columns] for i in rows[data : data + 60]]
    for n, row in enumerate(between, at + 1):
        if is_unit_row(view, row, columns) or _names_years(view, rows, n, columns, hard):
            continue
        if names_options(view, rows[at], row, rows[n + 1 :], columns):
            continue
        kinds = view.kinds(row, columns)
        cells = [str(view.cell(row, c)).strip() for c in columns]
        if any(
            cell and sum(line[p] == cell for line in below) >= 2 for p, cell in enumerate(cells)
        ):
            return n
        if "m" in kinds or any(kinds[p] in "nd" for p in hard):
            return n
        if _stands_for_values(view, row, rows[n + 1 :], columns, hard):
            return n
    return data


def _stands_for_values(
    view: GridView, row: int, following: list[int], columns: list[int], hard: list[int]
) -> bool:
    """Whether a row of words below one of names is the first of the data: `North, TBD`, with signs
    or words where its columns have numbers.

    No sign is needed where the words repeat, or where the row's name is of the make of those below
    it and the words are of another: `North, pending`.
    """
    cells = {
        p: str(cell).strip()
        for p, c in enumerate(columns)
        if not is_empty(cell := view.cell(row, c))
    }
    words = [cell for p, cell in cells.items() if p in hard]
    keys = [p for p in cells if p not in hard]
    if not words or (not keys and len(hard) < len(columns)):
        return False
    if all(map(is_placeholder, words)):
        return True
    if not keys or any(map(is_measure, words)):
        return False
    if (len(words) > 1 and len(set(words)) == 1) or any(
        cells.get(p) == str(view.cell(i, columns[p])).strip() for i in following[:1] for p in hard
    ):
        return True
    makes = {_make(word) for word in words}
    return all(
        _make(cells[p]) not in makes and _is_made_as(view, following, columns[p], cells[p])
        for p in keys
    )


def _is_made_as(view: GridView, rows: list[int], column: int, text: str) -> bool:
    """Whether a text begins as nearly all do in some rows of a column."""
    below = [view.cell(i, column) for i in rows[:SAMPLE]]
    makes = [_make(str(cell)) for cell in below if not is_empty(cell)]
    return len(makes) > 1 and makes.count(_make(text)) >= 0.9 * len(makes)


def _make(text: str) -> str:
    """How a text is written: in capitals, with one first, in small letters; with digits or not."""
    text = text.strip()
    letters = "A" if text.isupper() else "Aa" if text[:1].isupper() else "a"
    return letters + "9" * any(map(str.isdigit, text))


def are_names(view: GridView, row: int, columns: list[int]) -> bool:
    """Whether a row is full of different words (or years), as one that names columns is."""
    cells = [view.cell(row, c) for c in columns]
    texts = [str(cell).strip().lower() for cell in cells if not is_empty(cell)]
    if len(texts) < 2 or len(texts) < 0.7 * len(columns) or len(set(texts)) < len(texts):
        return False
    kinds = [kind_of(cell) for cell in cells if not is_empty(cell)]
    return "t" in kinds and all(kind in "ty" for kind in kinds) and max(map(len, texts)) <= 120


def _is_data(
    view: GridView,
    rows: list[int],
    at: int,
    columns: list[int],
    profile: list[str],
    hard: list[int],
    *,
    sparse: bool,
) -> bool:
    """Whether a row holds what its columns hold; below a row of names few cells suffice
    (`sparse`)."""
    if is_unit_row(view, rows[at], columns):
        return False
    kinds = view.kinds(rows[at], columns)
    pairs = [(profile[p], kinds[p]) for p in hard if kinds[p] != "e"]
    if not pairs or (len(pairs) < 0.3 * len(hard) and not sparse):
        return False
    if sum(fits_in(p, k) for p, k in pairs) < 0.6 * len(pairs):
        return False
    if all(k == "m" for _, k in pairs):
        return at > 0 and any(k == "t" for k in kinds)
    return not _is_year_header(view, rows, at, columns, kinds, hard)


def _is_year_header(
    view: GridView, rows: list[int], at: int, columns: list[int], kinds: list[str], hard: list[int]
) -> bool:
    """`Region, 2019, 2020`, or a row that numbers the columns: numbers that are names, as those
    below are of another make."""
    # Years stand above flagged numbers too, which are text: `4.5 p`.
    dated = [p for p, kind in enumerate(kinds) if kind == "y" or p in hard]
    if _names_years(view, rows, at, columns, dated) or names_a_year(view, rows[at:], columns, hard):
        return True
    cells = [view.cell(rows[at], columns[p]) for p in hard if kinds[p] in "yn"]
    if len(cells) < 3 or at + 1 >= len(rows) or any(kinds[p] not in "yne" for p in hard):
        return False
    try:
        values = [float(str(c).replace(",", ".")) for c in cells]
    except ValueError:
        return False
    steps = {b - a for a, b in pairwise(values)}
    counted = len(steps) == 1 and abs(next(iter(steps))) == 1 and values[0] in (0, 1, 5)
    # Lines of text above are no names; a few numbers below one may be a record.
    first = at == 0 or (len(cells) > 5 and all(view.lone(i) for i in rows[:at]))
    others_text = all(kinds[p] in "te" for p in range(len(columns)) if p not in hard)
    return counted and others_text and first and len(hard) < len(columns)


def _names_years(
    view: GridView, rows: list[int], at: int, columns: list[int], hard: list[int]
) -> bool:
    """Whether a row has years and words where the rows below have other numbers, and is no row of a
    name and its counts."""
    cells = {
        p: cell
        for p in hard
        if not is_empty(cell := view.cell(rows[at], columns[p])) and not is_rule(cell)
    }
    years = [p for p, cell in cells.items() if is_year_name(cell)]
    if len(years) < 2 or any(kind_of(cell) != "t" for p, cell in cells.items() if p not in years):
        return False
    values = [str(cells[p]).strip() for p in years]
    if len(cells) < 3 and len(set(values)) < len(values):
        return False
    below = [view.kinds(i, columns) for i in rows[at + 1 : at + 6]]
    kinds_below = [kinds[p] for kinds in below for p in years if kinds[p] != "e"]
    if not kinds_below or kinds_below.count("y") >= 0.5 * len(kinds_below):
        return False
    named = at > 0 and all(kind_of(view.cell(rows[at - 1], columns[p])) == "t" for p in years)
    first = view.cell(rows[at], columns[0])
    # A merged name may stand in each row of a header.
    return not named or is_empty(first) or first == view.cell(rows[at - 1], columns[0])


def names_a_year(
    view: GridView, rows: Sequence[int], columns: Sequence[int], hard: Sequence[int]
) -> bool:
    """Whether the first of some rows is `Country, 2023`: words, and one year where the numbers below
    are of other sizes. A round one such as 2000 may be a number as well."""
    kinds = view.kinds(rows[0], columns)
    years = [p for p in hard if kinds[p] != "e"]
    others = {kinds[p] for p in range(len(columns)) if p not in hard}
    if len(years) != 1 or kinds[years[0]] != "y" or not {"t"} <= others <= {"t", "e"}:
        return False
    column = columns[years[0]]
    values = [size_of(view.cell(i, column)) for i in rows[1 : 1 + SAMPLE]]
    sizes = [value for value in values if value is not None]
    near = [value for value in sizes if 1000 <= value <= 4000]
    round_one = (size_of(view.cell(rows[0], column)) or 0) % 100 == 0
    return (
        len(sizes) > 1
        and not round_one
        and not any(1900 <= value <= 2100 for value in near)
        and len(near) <= 0.2 * len(sizes)
    )


def _first_text_row(
    view: GridView, rows: list[int], columns: list[int], typical: float
) -> tuple[int, bool]:
    """Where all is text: the shapes of the values (codes, addresses) and repetition tell header
    from data."""
    at = next(
        (n for n, i in enumerate(rows[:SAMPLE]) if view.fill(i, columns) >= max(1, 0.6 * typical)),
        0,
    )
    head_row = view.grid[rows[at]]
    below = [i for i in rows[at + 1 : at + 1 + SAMPLE] if view.grid[i] != head_row]
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


def may_name(view: GridView, row: int) -> bool:
    """Whether a row holds nothing but what names columns: words, years, units, dates, and lines
    between them."""
    cells = [cell for cell in view.grid[row] if not is_empty(cell)]
    if len(cells) <= 2 and first_text(view, row).endswith(":"):
        return False
    return all(
        kind_of(cell) in "tyd" or is_year_name(cell) or is_unit(cell) or is_rule(cell)
        for cell in cells
    ) and (max((len(str(cell)) for cell in cells), default=0) <= 120)


def is_unit_row(view: GridView, row: int, columns: Sequence[int]) -> bool:
    """Whether a row says what its columns are counted in, and nothing else but a name for that."""
    cells = [view.cell(row, c) for c in columns[1:]]
    filled_cells = [cell for cell in cells if not is_empty(cell)]
    return len(filled_cells) > 1 and all(is_unit(cell) for cell in filled_cells)


def lower_names(
    view: GridView,
    late: Sequence[int],
    header: Sequence[int],
    columns: Sequence[int],
    hard: Sequence[int],
    below: Sequence[int],
) -> list[int]:
    """Of the rows between the fullest row of a header and the data, those that are lower rows of
    the header."""
    if late and names_options(view, header[-1], late[0], below, columns):
        return [late[0]]
    lower_rows: list[int] = []
    texts = [c for p, c in enumerate(columns) if p not in hard]
    for row in late:
        above = not all(is_empty(view.cell(row, c)) for c in texts)
        named = any(not is_empty(view.cell(row, columns[p])) for p in hard)
        if not named or not may_name(view, row) or (above and not is_unit_row(view, row, columns)):
            break
        if is_section_title(view, row, columns) or comes_again(view, row, below, columns):
            break
        lower_rows.append(row)
    return lower_rows


def header_rows(view: GridView, rows: list[int], columns: list[int]) -> tuple[list[int], list[int]]:
    """Of the rows above the data: those that make the header, and those above it that are
    titles."""
    if not rows:
        return [], []
    fills = [view.fill(i, columns) for i in rows]
    best = max(fills[-4:])
    at = max(n for n in range(max(0, len(rows) - 4), len(rows)) if fills[n] >= 0.6 * best)
    if (
        fills[at] < 0.34 * len(columns)
        and len(columns) > 3
        and not _has_merge(view, rows[at], columns)
    ):
        return [], rows[: at + 1]
    header = [rows[at]]
    while at > 0 and len(header) < 5 and _is_upper(view, rows[at - 1], rows[at], columns):
        at -= 1
        header.insert(0, rows[at])
    return header, rows[:at]


def _is_near(view: GridView, row: int, lower: int, columns: Sequence[int]) -> bool:
    """Whether two rows may make one header: with nothing between them, or each with names where the
    other has none."""
    if row == lower - 1:
        return True
    upper_only = any(
        not is_empty(view.cell(row, c)) and is_empty(view.cell(lower, c)) for c in columns
    )
    return upper_only and view.fill(row, columns) > 1 and not any(view.filled[row + 1 : lower])


def _has_merge(view: GridView, row: int, columns: Sequence[int]) -> bool:
    return any(
        r1 <= row <= r2 and columns[0] <= c1 <= columns[-1] and c2 > c1
        for (r1, c1), (r2, c2) in view.merges
    )


def _is_upper(view: GridView, row: int, lower: int, columns: list[int]) -> bool:
    """Whether a row above a header row belongs to it: groups over several columns, and not a title
    or `key, value` remark."""
    at = [p for p, c in enumerate(columns) if not is_empty(view.cell(row, c))]
    if (
        not at
        or not _is_near(view, row, lower, columns)
        or (view.widths is not None and view.widths[row] == 1)
    ):
        return False
    if len(at) == 1:
        spans = [
            c2 - c1 + 1 for (r1, c1), (_, c2) in view.merges if r1 == row and c1 == columns[at[0]]
        ]
        if spans:
            return 1 < spans[0] < 0.6 * (columns[-1] - columns[0] + 1)
        if _MEASURED.match(first_text(view, row)):
            return False
        return at[0] > 0 and len(columns) > 2
    if any(kind_of(view.cell(row, columns[p])) not in "tyn" for p in at):
        return False
    if is_record(view, row, [columns[p] for p in at]):
        return False
    if len(at) == 2 and first_text(view, row).endswith(":"):
        return False
    if is_labels(view, row, columns):
        return False
    if at == list(range(len(at))) and len(at) <= 2 and len(columns) > 3:
        return False
    if at == list(range(len(columns))):
        texts = [str(view.cell(row, c)).strip() for c in columns]
        if texts == [str(view.cell(lower, c)).strip() for c in columns]:
            return True
        return len(set(texts)) < len(texts) or _completes(view, row, lower, columns)
    return True


_MEASURED = re.compile(r"[^\d:]{2,40}:\s*[-+]?\d+[.,]\d")
"""`Temperature: 24.6 °C`: what programs of instruments write above a table, and no name of columns."""
_CODE_NAME = re.compile(r"[A-Za-z][\w.:#-]*", re.ASCII)
_CODED = re.compile(r"[\d_]|[a-z][A-Z]|[A-Z]{2}", re.ASCII)


def are_codes(names: Sequence[str]) -> bool:
    """Whether names are nearly all written as programs call columns: `B01001_001E`, `StartDate`."""
    codes = [name for name in names if _CODE_NAME.fullmatch(name)]
    coded = sum(_CODED.search(name) is not None for name in codes)
    return len(codes) >= 0.8 * len(names) and 2 * coded >= len(names)


def _completes(view: GridView, row: int, lower: int, columns: list[int]) -> bool:
    """A full row above another: a header only if the lower one is no full set of names of its own,
    says units and types, or one of the two has codes for the words of the other."""
    upper, names = ([str(view.cell(i, c)).strip() for c in columns] for i in (row, lower))
    if "" in names or len(set(names)) < len(names) or all(map(is_measure, names)):
        return True
    records = all(map(RECORD.fullmatch, names))
    return len(columns) > 2 and (records or are_codes(upper) != are_codes(names))


def header_names(view: GridView, header: list[int], columns: list[int]) -> list[Any]:
    """Names from top to bottom; groups are carried to the right over the columns they stand
    above."""
    if not header:
        return ["" for _ in columns]
    levels = [[view.cell(i, c) for c in columns] for i in header]
    last = len(header) if _has_merge(view, header[-1], columns) else len(header) - 1
    above: list[list[Any]] = []
    for depth, row in enumerate(header[:last]):
        begins = {p for upper in above for p, cell in enumerate(upper) if not is_empty(cell)}
        above.append(levels[depth])
        levels[depth] = _carry(view, row, header[depth + 1 :], columns, levels[depth], begins)
    names = []
    for position in range(len(columns)):
        parts: list[str] = []
        for level in levels:
            part = name_of(level[position]) if not is_empty(level[position]) else ""
            if part and part not in parts and not (parts and RECORD.fullmatch(part)):
                parts.append(part)
        names.append(" / ".join(parts))
    return names


def _carry(
    view: GridView,
    row: int,
    lower: Sequence[int],
    columns: list[int],
    cells: list[Any],
    begins: Collection[int],
) -> list[Any]:
    """The cells of an upper row of a header, each group over the columns below it. `begins` are positions
    at which a row above begins a group: the last one of this row does not go on over these."""
    positions = [p for p, cell in enumerate(cells) if not is_empty(cell)]
    merged = {
        c: c1
        for (r1, c1), (r2, c2) in view.merges
        if r1 <= row <= r2 and c2 > c1
        for c in range(c1, c2 + 1)
    }
    unnamed = all(is_empty(view.cell(i, columns[0])) for i in lower)
    whole = len(positions) > 2 and positions[-1] - positions[0] == len(positions) - 1
    if whole and not merged and not (unnamed and _has_names_below(view, lower, columns, positions)):
        return cells
    out = list(cells)
    first = 1 + unnamed  # what names the first column alone is no group
    for position, c in enumerate(columns):
        if not is_empty(out[position]):
            continue
        if c in merged:
            out[position] = view.cell(row, merged[c])
        elif position < first or merged or (position in begins and position > positions[-1]):
            continue
        elif any(not is_empty(view.cell(i, c)) for i in lower):
            out[position] = out[position - 1]
    return out


def _has_names_below(
    view: GridView, lower: Sequence[int], columns: Sequence[int], positions: Sequence[int]
) -> bool:
    """Whether lower rows go on to the right of an upper one that names the first columns by itself, from
    below its last name on."""
    rest = columns[positions[-1] :]
    return len(rest) > 1 and all(any(not is_empty(view.cell(i, c)) for i in lower) for c in rest)

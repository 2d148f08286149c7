"""Lines of a plain text that look like rows of a table and are in none: no row may be lost without
a word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from leaf.readers.base import Note
from leaf.readers.documents.texts.lines import LaidOut, is_drawn_rule, plain
from leaf.readers.tabular.cells import kind_of, places

_APART = re.compile(r" {2,}")
_SENTENCE = re.compile(r"(?<=[.!?:]) {2,}(?=[^\W\d_])")
"""Blanks behind a sentence or a label, before more words."""
_LABEL = re.compile(r"[^:]*[^\W\d_][^:]*:$")
_LOGGED = re.compile(r"\W{0,2}(?:\w{3} [ \d]\d|\d{4}[-/]\d\d[-/]\d\d)[T ]\d\d:\d\d")
_DIGITS = re.compile(r"\d+")
_FEWEST = 3
"""Pieces of a line that is like a row wherever it stands."""


def loose_lines(
    lines: Sequence[str], long: frozenset[int], tables: Sequence[LaidOut], titles: Sequence[str]
) -> list[list[Note]]:
    """What is said below each table (and above the first one) of lines that are like rows; `long` are
    lines too long to be laid out, `titles` what the tables are called."""
    if not tables:
        return []
    spans = [(table.parts[0].first, table.parts[-1].last) for table in tables]
    known = _printed(lines, tables)
    loose: list[list[int]] = [[] for _ in tables]
    for number, title in enumerate(titles):
        below = spans[number][1] + 1
        following = spans[number + 1] if number + 1 < len(spans) else (len(lines), len(lines))
        after = titles[number + 1] if number + 1 < len(titles) else ""
        if number == 0:
            loose[0] += _loose(lines, long, (0, spans[0][0]), (False, True), title)
        inner = range(spans[number][0], spans[number][1] + 1)
        loose[number] += [at for at in inner if at in long]
        near = (True, following[0] < len(lines))
        loose[number] += _loose(lines, long, (below, following[0]), near, after)
    return [
        _notes(
            [at + 1 for at in sorted(set(rows)) if at in long or _folded(lines[at]) not in known]
        )
        for rows in loose
    ]


def _printed(lines: Sequence[str], tables: Sequence[LaidOut]) -> set[str]:
    """The names of columns, and what stands between the parts of a table, as the head of each page."""
    known = set[str]()
    for table in tables:
        known |= {_folded(lines[at]) for part in table.parts for at in part.header}
        for above, below in pairwise(table.parts):
            known |= {_folded(lines[at]) for at in range(above.last + 1, below.first)}
    return known


def _folded(line: str) -> str:
    """A line without the number of its page, or its day."""
    return _DIGITS.sub("#", plain(line))


def _loose(
    lines: Sequence[str],
    long: frozenset[int],
    span: tuple[int, int],
    near: tuple[bool, bool],
    title: str,
) -> Iterator[int]:
    """Of the lines in a span those like rows; `near` says whether a table ends right before it and
    whether one begins right after it, which `title` names."""
    first, end = span
    above, below = first, end
    while near[0] and above < end and (above in long or _says(lines[above])):
        above += 1
    while near[1] and below > first and (below - 1 in long or _says(lines[below - 1])):
        below -= 1
    for at in range(first, end):
        line = lines[at]
        touching = at < above or at >= below
        if at in long:
            if touching:
                yield at
            continue
        named = bool(title) and plain(line).strip("#*` ") in title
        if not named and not is_drawn_rule(line) and _is_like_row(line, touching=touching):
            yield at


def _says(line: str) -> bool:
    return bool(line) and not line.isspace()


def _is_like_row(line: str, *, touching: bool) -> bool:
    """Whether words or numbers stand apart in a line: beside a table any, elsewhere numbers among
    them."""
    if touching and line.count("|") > 1:
        return True
    if "  " not in line:
        return False
    line = _SENTENCE.sub(" ", line.strip())
    pieces = [piece for piece in _APART.split(line) if piece]
    if len(pieces) < 2:
        return False
    labelled = bool(_LABEL.match(pieces[0]))
    if touching and not labelled:
        return True
    if labelled and len(pieces) == 2 and not touching:
        return False
    logged = bool(_LOGGED.match(line))
    if any(kind_of(piece) in "nyd" for piece in pieces[logged:]):
        return True
    return len(pieces) >= _FEWEST and not logged and any(map(str.isdigit, line))


def _notes(numbers: Sequence[int]) -> list[Note]:
    if not numbers:
        return []
    text = (
        f"{len(numbers):,} lines that may be rows belong to no table and were not loaded into one; "
        f"they can be read as text."
    )
    if len(numbers) == 1:
        text = (
            "1 line that may be a row belongs to no table and was not loaded into one; it can be "
            "read as text."
        )
    return [Note("loose-cells", text, len(numbers), places(numbers, "lines"))]

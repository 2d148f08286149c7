"""Tables in a plain text whose columns stand below each other and are parted by blanks alone, as
statistical programs, databases and printed reports write them.

A column's border is where (nearly) every line is blank. That happens in prose too, so that a table
needs three columns, names that stand above them without crossing a border, and numbers or dates in
one of them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from leaf.readers.base import Note
from leaf.readers.documents.texts.extracts import MORE
from leaf.readers.documents.texts.layout import Layout, layout_of, phrases
from leaf.readers.documents.texts.lines import (
    MOST_BETWEEN,
    LaidOut,
    TableStretch,
    between,
    is_drawn_rule,
    plain,
)
from leaf.readers.documents.texts.pages import page_heads
from leaf.readers.tabular.cells import FOOTER, kind_of, places
from leaf.readers.tabular.grids import MAX_TABLES

_VALUE = re.compile(
    r"(?<!\S)(?:[-+(<]?[$€£¥]?\d[\d.,:/-]*\d(?:[eE][-+]?\d+)?[%)*A-Z-]?|[-+]?\d[%*]?|[-+]?\.\d+)(?!\S)"
)
_DOTTED = re.compile(r"\.{4,}|(?:\. ){4,}")
_COMMENTED = re.compile(r"(?:^|\s)(?:#|//)(?:\s|$)")
_COUNTED = re.compile(r"\d+[.),](?!\S)")
"""What stands before an item of a list, or in a sentence."""
_FEWEST_ROWS = 3
_FEWEST_COLUMNS = 3
_MOST_NAMES = 4
"""Lines of a header."""
_SAMPLE = 400
"""Rows by which a layout is told."""


@dataclass
class _Paragraph:
    """Lines without an empty one among them."""

    first: int
    end: int
    rows: list[int] = field(default_factory=list)
    """Those that hold a number or a date, and something beside it."""


@dataclass
class _Group:
    """Paragraphs, or parts of them, that are laid out alike."""

    layout: Layout
    header: list[int]
    parts: list[TableStretch]


def column_tables(lines: Sequence[str], taken: Sequence[bool]) -> list[LaidOut]:
    """All tables in columns, of the lines that are not taken."""
    groups = list[_Group]()
    heads = page_heads(lines)
    lines = ["" if at in heads else line for at, line in enumerate(lines)]
    paragraphs = (part for whole in _paragraphs(lines, taken) for part in _parted(lines, whole))
    for paragraph in paragraphs:
        if len(groups) >= MAX_TABLES:
            break
        last = groups[-1] if groups else None
        if last and (part := _continued(lines, last, paragraph)):
            last.parts.append(part)
            continue
        more = list(_of_paragraph(lines, taken, paragraph))
        if last and not more and (part := _few_more(lines, last, paragraph)):
            last.parts.append(part)
        groups += more
    return [_drawn(lines, group) for group in groups]


def _paragraphs(lines: Sequence[str], taken: Sequence[bool]) -> Iterator[_Paragraph]:
    """Those with a row that may be one of a table."""
    first = 0
    for at in range(len(lines) + 1):
        if at < len(lines) and lines[at] and not lines[at].isspace() and not taken[at]:
            continue
        if at > first:
            rows = [i for i in range(first, at) if _may_be_row(lines[i])]
            if rows:
                yield _Paragraph(first, at, rows)
        first = at + 1


def _parted(lines: Sequence[str], paragraph: _Paragraph) -> Iterator[_Paragraph]:
    """A paragraph in pieces that begin with other names above a line of dashes each, as results of
    databases follow each other, so that the time for many is not that for each of them with all below."""
    first, before = paragraph.first, 0
    names = list[str]()
    for at in range(paragraph.first, paragraph.end - 1):
        if not lines[at + 1].startswith(("-", "=", " ")) or not is_drawn_rule(lines[at + 1]):
            continue
        words, pieces = phrases(lines[at]), lines[at + 1].split()
        if _VALUE.search(lines[at]) or not _FEWEST_COLUMNS <= len(words) <= len(pieces):
            continue
        more = bisect_left(paragraph.rows, at)
        below = len(paragraph.rows) - more
        if names and words != names and min(more - before, below) >= _FEWEST_ROWS:
            yield _Paragraph(first, at, paragraph.rows[before:more])
            first, before = at, more
        names = words
    yield _Paragraph(first, paragraph.end, paragraph.rows[before:])


def _may_be_row(line: str) -> bool:
    return bool(_VALUE.search(line)) and len(line.split(None, 2)) > 1 and not MORE.search(line)


def _of_paragraph(
    lines: Sequence[str], taken: Sequence[bool], paragraph: _Paragraph
) -> Iterator[_Group]:
    """The tables of a paragraph: of all its rows, else of each run of them."""
    group = _group(lines, taken, paragraph, paragraph.rows)
    while group:
        names = _other_names(lines, group)
        if names is None or names <= paragraph.first:
            yield group
            return
        rows = [at for at in paragraph.rows if at < names]
        first = _group(lines, taken, _Paragraph(paragraph.first, names, rows), rows)
        rest = _Paragraph(names, paragraph.end, [at for at in paragraph.rows if at > names])
        other = _group(lines, taken, rest, rest.rows)
        if first is None or other is None:
            yield group
            return
        yield first
        paragraph, group = rest, other
    runs: list[list[int]] = []
    for at in paragraph.rows:
        if runs and runs[-1][-1] == at - 1:
            runs[-1].append(at)
        else:
            runs.append([at])
    if len(runs) < 2:
        return
    end = -1
    for run, following in zip(runs, [*runs[1:], [paragraph.end]], strict=True):
        part = _Paragraph(max(paragraph.first, end), following[0], run)
        if group := _group(lines, taken, part, run):
            end = group.parts[-1].last + 1
            yield group


def _other_names(lines: Sequence[str], group: _Group) -> int | None:
    """The first line among the rows of a table that names its columns in another way: another table
    begins there."""
    names = {" ".join(lines[at].split()) for at in group.header}
    for at in group.parts[0].rows:
        numbers = _may_be_row(lines[at]) and not _are_numbered_names(lines[at])
        if numbers or " ".join(lines[at].split()) in names:
            continue
        if group.layout.names_others(lines[at]):
            return at
    return None


def _group(
    lines: Sequence[str], taken: Sequence[bool], paragraph: _Paragraph, rows: Sequence[int]
) -> _Group | None:
    """The table whose rows begin with the first of some, or the second where that names the columns;
    None where nothing proves that it is one."""
    for head in (0, 1):
        body = rows[head:]
        if len(body) < _FEWEST_ROWS:
            return None
        if head and not _are_numbered_names(lines[rows[0]]):
            return None
        sample = body[:: max(1, len(body) // _SAMPLE)]
        if any(
            sum(bool(pattern.search(lines[at])) for at in sample) > 0.3 * len(sample)
            for pattern in (_DOTTED, _COMMENTED)
        ):
            return None
        top = [*_header_above(lines, taken, body[0])]
        rule = _rule_above(lines, body[0])
        layout = layout_of([lines[at] for at in sample], [lines[at] for at in top], rule)
        if layout is None or len(layout) < _FEWEST_COLUMNS:
            continue
        body = [at for at in body if layout.fits(lines[at])]
        header = _header(lines, layout, top, body)
        if _is_proven(lines, layout, header, body):
            return _Group(layout, header, [_part(lines, layout, header, body, paragraph)])
    return None


def _are_numbered_names(line: str) -> bool:
    """Whether the numbers of a line may be names: years, or 0, 1, 2 as of a frame without names."""
    values = [word for word in line.split() if kind_of(word) in "ny"]
    counted = values in ([str(n + k) for n in range(len(values))] for k in (0, 1))
    return len(values) > 1 and (counted or all(kind_of(value) == "y" for value in values))


def _header_above(lines: Sequence[str], taken: Sequence[bool], first: int) -> list[int]:
    """Lines of words right above the first row, from above; one gap may be between."""
    at, header = first - 1, list[int]()
    gaps = 0
    while at >= 0 and not taken[at] and len(header) < _MOST_NAMES:
        if not lines[at].strip():
            gaps += 1
            if header or gaps > 1:
                break
        elif not is_drawn_rule(lines[at]):
            header.insert(0, at)
        at -= 1
    return header


def _rule_above(lines: Sequence[str], first: int) -> str:
    """A line of dashes in pieces right above the first row."""
    return next((line for line in lines[max(0, first - 1) : first] if is_drawn_rule(line)), "")


def _header(
    lines: Sequence[str], layout: Layout, above: Sequence[int], body: Sequence[int]
) -> list[int]:
    """Of the lines above the first row with numbers, those that name columns; rows without any may be
    between."""
    header = list[int]()
    for at in reversed(above):
        if not header and (layout.is_row_of_words(lines[at]) or layout.names_rows(lines[at])):
            continue
        numbers = _may_be_row(lines[at]) and not _are_numbered_names(lines[at])
        if numbers or not layout.names(lines[at]) or not layout.names_values(lines[at]):
            break
        if header and not layout.names_singly(lines[at]):
            break
        header.insert(0, at)
    return header


def _is_proven(
    lines: Sequence[str], layout: Layout, header: Sequence[int], body: Sequence[int]
) -> bool:
    """Whether enough columns have names, and one with a name has numbers or dates below it."""
    if len(body) < _FEWEST_ROWS or not header:
        return False
    names = [
        " ".join(cells).strip()
        for cells in zip(*(layout.named(lines[at]) for at in header), strict=True)
    ]
    if sum(map(bool, names)) < max(2, len(layout) / 2):
        return False
    if _COUNTED.match(names[0]):
        return False
    rows = [at for at in range(header[-1] + 1, body[-1] + 1) if lines[at].strip()]
    rows = [at for at in rows[:: max(1, len(rows) // _SAMPLE)] if layout.fits(lines[at])]
    cells = [layout.cells(lines[at]) for at in rows if not is_drawn_rule(lines[at])]
    if len(phrases(lines[header[-1]])) < 2 and not layout.stands_right(lines[header[-1]]):
        return False
    full = sum(sum(map(bool, row)) >= _FEWEST_COLUMNS for row in cells)
    apart = sum(len(phrases(lines[at])) > 1 for at in body)
    if full < max(_FEWEST_ROWS, 0.5 * len(cells)) or apart < 0.5 * len(body):
        return False
    if any(_names_its_rows(layout.named(lines[at]), cells) for at in header):
        return False
    return any(name and _is_hard([row[c] for row in cells]) for c, name in enumerate(names))


def _names_its_rows(names: Sequence[str], cells: Sequence[Sequence[str]]) -> bool:
    """Whether a name comes again in many rows below it, as in a list without names."""
    columns = zip(names, zip(*cells, strict=True), strict=True)
    return any(name and 3 * column.count(name) > len(column) for name, column in columns)


def _is_hard(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers or dates, and little else."""
    kinds = [kind_of(cell) for cell in cells if cell and not _COUNTED.fullmatch(cell)]
    hard = sum(kind in "nyd" for kind in kinds)
    return hard >= max(_FEWEST_ROWS, 0.5 * len(cells)) and hard + kinds.count("m") >= 0.8 * len(
        kinds
    )


def _part(
    lines: Sequence[str],
    layout: Layout,
    header: list[int],
    body: Sequence[int],
    paragraph: _Paragraph,
) -> TableStretch:
    """The lines from the header to the last row, and those below that are cut as rows are, or are rows
    that keep to no border."""
    last = body[-1]
    below = lines[paragraph.end : paragraph.end + 2]
    whole = not below or not below[0].strip() or is_drawn_rule(below[-1])
    for at in range(last + 1, paragraph.end):
        line = lines[at]
        if layout.is_row(line) or (whole and _is_rest(layout, line)):
            last = at
        elif not is_drawn_rule(line):
            break
    first = header[0] if header else body[0]
    between_rows = range(header[-1] + 1 if header else body[0], last + 1)
    rows = [at for at in between_rows if lines[at].strip() and not is_drawn_rule(lines[at])]
    return TableStretch(first, last, header, rows)


def _is_rest(layout: Layout, line: str) -> bool:
    """Whether a line below the last row is one too: its phrases stand in the columns, or a number stands
    apart in it behind other words. A remark has a label, or a sign."""
    pieces = [piece for piece in re.split(r" {2,}", line.strip()) if piece]
    if not pieces or pieces[0].endswith(":") or FOOTER.match(pieces[0]):
        return False
    return layout.stands_as_row(line) or any(kind_of(piece) in "nd" for piece in pieces[1:])


def _continued(lines: Sequence[str], group: _Group, paragraph: _Paragraph) -> TableStretch | None:
    """A paragraph as a part of the table above it: below the same names, or the same columns without
    any."""
    above, layout = group.parts[-1], group.layout
    names = [lines[at].split() for at in group.header]
    at = paragraph.first
    while at < paragraph.end and lines[at].split() != names[0]:
        at += 1
    header = [*range(at, at + len(names))] if at < paragraph.end else []
    header = header if [lines[i].split() for i in header if i < paragraph.end] == names else []
    first = header[-1] + 1 if header else paragraph.first
    rows = [i for i in paragraph.rows if i >= first]
    fitting = sum(layout.fits(lines[i]) for i in rows[:_SAMPLE])
    if not rows or fitting < 0.9 * len(rows[:_SAMPLE]):
        return None
    if not header:
        words = [lines[i] for i in range(first, rows[0]) if not is_drawn_rule(lines[i])]
        named = any(layout.names(line) and len(phrases(line)) > 1 for line in words)
        sample = [lines[i] for i in rows[:_SAMPLE]]
        few = len(rows) < _FEWEST_ROWS and all(map(layout.is_row, sample))
        if named or not (few or layout.alike(sample)):
            return None
    begin = header[0] if header else rows[0]
    if between(lines, above.last + 1, begin) > MOST_BETWEEN:
        return None
    return _part(lines, layout, header, rows, paragraph)


def _is_straight(layout: Layout, line: str) -> bool:
    fits = layout.is_row(line) or layout.stands_as_row(line)
    return fits and layout.is_straight(line)


def _few_more(lines: Sequence[str], group: _Group, paragraph: _Paragraph) -> TableStretch | None:
    """The lines right below an empty one as a part of the table above it, if all are laid out as its
    rows, and half of them keep to its borders or have a value for each column."""
    layout, above = group.layout, group.parts[-1].last
    rows = [at for at in range(paragraph.first, paragraph.end) if not is_drawn_rule(lines[at])]
    if any(lines[at].strip() and not is_drawn_rule(lines[at]) for at in range(above + 1, rows[0])):
        return None
    sure = [at for at in rows if layout.has_each(lines[at]) or _is_straight(layout, lines[at])]
    if 2 * len(sure) < len(rows) or _are_numbered_names(lines[rows[0]]):
        return None
    if not all(layout.is_row(lines[at]) or _is_rest(layout, lines[at]) for at in rows):
        return None
    return TableStretch(rows[0], rows[-1], [], rows)


def _drawn(lines: Sequence[str], group: _Group) -> LaidOut:
    """The table, laid out by the rows of all its parts."""
    layout = group.layout
    rows = [at for part in group.parts for at in part.rows]
    if len(group.parts) > 1:
        sample = [at for at in rows[:: max(1, len(rows) // _SAMPLE)] if layout.fits(lines[at])]
        rule = _rule_above(lines, group.parts[0].rows[0])
        wider = layout_of([lines[at] for at in sample], [lines[at] for at in group.header], rule)
        if wider and len(wider) >= len(layout):
            layout = wider
    heads = {at for part in group.parts for at in part.header}
    names = {" ".join(lines[at].split()) for at in group.header}
    again = {at for at in rows if " ".join(lines[at].split()) in names}
    for part in group.parts:
        part.rows = [at for at in part.rows if at not in again]

    def cells(at: int) -> list[str]:
        line = lines[at]
        if at in heads:
            return layout.named(line)
        return layout.cells(line) if layout.fits(line) else [plain(line)]

    def notes() -> list[Note]:
        fitting = [layout.fits(lines[at]) for at in rows]
        pairs = list(zip(rows, fitting, strict=True))
        cut = [at + 1 for at, fits in pairs if fits and layout.is_run_together(lines[at])]
        whole = [at + 1 for at, fits in pairs if not fits and _may_be_row(lines[at])]
        return [
            *layout.notes([lines[at] for at in group.header]),
            *_cut_notes(cut),
            *_whole_notes(whole),
        ]

    return LaidOut(group.parts, cells, notes, tuple(again))


def _cut_notes(rows: Sequence[int]) -> list[Note]:
    if not rows:
        return []
    count = f"{len(rows):,} row{'s' if len(rows) != 1 else ''}"
    text = f"In {count} values touch each other; they were parted where the columns of the other rows end."
    return [Note("cells-parted", text, len(rows), places(rows))]


def _whole_notes(rows: Sequence[int]) -> list[Note]:
    if not rows:
        return []
    text = (
        f"{len(rows):,} lines with numbers among its rows keep to no border; each stands whole in the "
        f"first column."
    )
    if len(rows) == 1:
        text = "A line with numbers among its rows keeps to no border; it stands whole in the first column."
    return [Note("table-doubtful", text, len(rows), places(rows))]

"""Rows of a grid that belong together: bands between empty rows, joined or parted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise

from leaf.readers.tabular.cells import CODE, FOOTER, is_empty, is_rule, kind_of, shape_of
from leaf.readers.tabular.continued import headings_of_part, stands_first
from leaf.readers.tabular.grid import SAMPLE, GridView, Region, extent_of, first_text, fits_in
from leaf.readers.tabular.header import are_names
from leaf.readers.tabular.key_values import lists_above
from leaf.readers.tabular.names import with_names
from leaf.readers.tabular.repeats import names_again, parted


def find_regions(view: GridView) -> list[Region]:
    """Bands between empty rows, joined where one goes on after a gap, with lines of text given to
    the table above or below."""
    bands, names, described, lists = _named_bands(view)
    ends = {row: band[-1] for band in bands if band[0] in lists for row in band}
    regions: list[Region] = []
    text: list[int] = []
    for rows, following in pairwise([*bands, []]):
        if len(bands) > 1 and (
            rows[0] in view.comments
            or _is_text(view, rows)
            or (not regions and _is_heading_list(view, rows))
        ):
            text += rows
            continue
        left, right = extent_of(view, rows)
        previous = regions[-1] if regions else None
        if previous and following and _is_label(view, previous, text, rows, following):
            text += rows
            continue
        headings = None
        if previous and view.comments.isdisjoint(text):
            headings = _goes_on(view, previous, text, rows, (left, right))
        if previous and headings is not None:
            previous.headings += headings
            previous.rows += [*text, *rows]
            text = []
            continue
        if rows[0] in lists:
            text += rows
            continue
        header, is_described = names.get(rows[0], ()), rows[0] in described
        region = Region(list(rows), left, right, names=header, described=is_described)
        if previous and text:
            below, above = _share(view, previous, text, rows[0], ends)
            previous.footers += below
            region.titles += above
        elif text:
            region.titles += text
        region.values = [i for i in region.titles if i in ends]
        text = []
        regions.append(region)
    if text and regions:
        regions[-1].footers += text
    elif text:
        left, right = extent_of(view, text)
        regions.append(Region(text, left, right))
    return regions


def _named_bands(
    view: GridView,
) -> tuple[list[list[int]], dict[int, list[int]], set[int], set[int]]:
    """Bands, those of a header with the one below it, as `with_names` gives them; and the first rows of
    those that are labels with their values above a table."""
    whole = [part for band in _bands(view) for part in parted(view, band)]
    split, lists = lists_above(view, whole)
    bands: list[list[int]] = []
    names: dict[int, list[int]] = {}
    described: set[int] = set()
    for is_list, run in groupby(split, lambda band: band[0] in lists):
        if is_list:
            bands += run
            continue
        joined, more, series = with_names(view, list(run))
        bands += joined
        names |= more
        described |= series
    return bands, names, described, lists


def _bands(view: GridView) -> list[list[int]]:
    """Rows between empty ones; in delimited text also between changes of width."""
    bands: list[list[int]] = []
    if view.widths is None:
        edges = [
            i
            for i, (above, here) in enumerate(pairwise([0, *view.filled, 0]))
            if bool(above) != bool(here)
        ]
        return [list(range(first, end)) for first, end in zip(edges[::2], edges[1::2], strict=True)]
    end = -1
    for i, count in enumerate(view.filled):
        if i in view.drawn:
            end += end == i - 1
            continue
        if not count:
            continue
        parted = (i in view.comments) != (i - 1 in view.comments)
        if bands and end == i - 1 and not parted and not _breaks(view, bands[-1], i):
            bands[-1].append(i)
        else:
            bands.append([i])
        end = i
    return bands


def _is_text(view: GridView, rows: list[int]) -> bool:
    if not all(view.lone(i) for i in rows):
        return False
    return len(rows) <= 8 or _are_remarks(view, rows)


def _are_remarks(view: GridView, rows: list[int]) -> bool:
    """Whether most of some lines that hold no delimiter are a label with a value, or drawn."""
    if view.widths is None or any(view.widths[i] > 1 for i in rows):
        return False
    cells = [first_text(view, i) for i in rows]
    return 2 * sum(":" in cell or "：" in cell or is_rule(cell) for cell in cells) >= len(cells)


def _is_heading_list(view: GridView, rows: list[int]) -> bool:
    """A few lines above the first table such as `Period:, 2023`, or sentences that happen to hold a
    delimiter."""
    if len(rows) > 8 or any(view.filled[i] > 2 for i in rows):
        return False
    labels = sum(first_text(view, i).endswith(":") for i in rows)
    kinds = {kind_of(c) for i in rows for c in view.grid[i]} - {"e"}
    return labels >= 0.5 * len(rows) or (any(view.lone(i) for i in rows) and kinds == {"t"})


def _breaks(view: GridView, band: list[int], row: int) -> bool:
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


def _is_heading(view: GridView, text: list[int]) -> bool:
    """A line between two bands that names what follows, so that the second is a table of its
    own."""
    return bool(text) and any(not FOOTER.match(first_text(view, i)) for i in text)


def _share(
    view: GridView, above: Region, text: list[int], below: int, ends: Mapping[int, int]
) -> tuple[list[int], list[int]]:
    """Notes of the table above, titles of the one below: by wording, else by which table is
    nearer. Comments that part two tables speak of the one below. `ends` are where lists of labels
    with their values end, which are near as a whole."""
    if view.comments >= set(text):
        return [], text
    for at, row in enumerate(text):
        worded = FOOTER.match(first_text(view, row)) and row not in ends
        if not worded and below - ends.get(row, row) <= row - above.rows[-1] + 1:
            return text[:at], text[at:]
    return text, []


def _goes_on(
    view: GridView, region: Region, text: list[int], rows: list[int], extent: tuple[int, int]
) -> list[int] | None:
    """Where rows after a gap, and after lines of text if there are some, belong to the table above:
    its headings in between."""
    if names_again(view, region.rows, rows):
        return None
    if not _is_heading(view, text) and _continues(view, region, rows, *extent):
        return text
    if len(region.rows) < 2 or not _has_names(view, region):
        return None
    labels = _labels(view, region, rows)
    headings, rest = [*text, *labels], rows[len(labels) :]
    if headings and rest and _goes_on_below(view, region, headings, rest, extent):
        return headings
    inside = region.left <= extent[0] and extent[1] <= region.right
    return headings_of_part(view, region, text, rows) if inside else None


def _is_label(
    view: GridView, region: Region, text: list[int], rows: list[int], following: list[int]
) -> bool:
    """Whether a band is a row of words alone (`Sales, in percent`) above a band that belongs to the
    table above both."""
    if (
        len(rows) > 1
        or len(region.rows) < 2
        or not _has_names(view, region)
        or not _is_words(view, region, rows[0])
    ):
        return False
    return _goes_on(view, region, [*text, *rows], following, extent_of(view, following)) is not None


def _is_words(view: GridView, region: Region, row: int) -> bool:
    """Whether a row holds nothing where the columns of a region have numbers."""
    return all(is_empty(view.cell(row, region.left + p)) for p in _hard(view, region))


def _has_names(view: GridView, region: Region) -> bool:
    """Whether a region's first row holds no number where its columns do."""
    columns = range(region.left, region.right + 1)
    hard = _hard(view, region)
    return bool(hard) and not any(
        kind_of(view.cell(region.rows[0], columns[p])) in "nd" for p in hard
    )


def _hard(view: GridView, region: Region) -> list[int]:
    """Positions of a region's columns that hold something other than text."""
    return [p for p, kind in enumerate(region.profile(view)) if kind in "ndb"]


def _labels(view: GridView, region: Region, rows: list[int]) -> list[int]:
    """Rows at the beginning of a band, two at most, that hold nothing where the table above has
    numbers."""
    hard = _hard(view, region)
    for at, row in enumerate(rows[:3]):
        if stands_first(view, region, row):
            continue
        if any(not is_empty(view.cell(row, region.left + p)) for p in hard):
            return rows[:at]
    return []


def _goes_on_below(
    view: GridView, region: Region, text: list[int], rows: list[int], extent: tuple[int, int]
) -> bool:
    """Whether rows below a heading are more of the table above: no header of their own, and numbers
    where it has some."""
    if any(FOOTER.match(first_text(view, i)) for i in text) or not _continues(
        view, region, rows, *extent
    ):
        return False
    columns = range(region.left, region.right + 1)
    profile, hard = region.profile(view), _hard(view, region)
    if any(
        not is_empty(view.cell(i, columns[p]))
        for i in text
        for p in hard
        if not stands_first(view, region, i)
    ):
        return False
    pairs = [(profile[p], k) for p in hard if (k := view.kinds(rows[0], columns)[p]) != "e"]
    known = [k for _, k in pairs if k != "m"]
    if len(pairs) < 0.5 * len(hard) or sum(fits_in(p, k) for p, k in pairs) < 0.8 * len(pairs):
        return False
    return not known or any(k != "y" for k in known) or all(profile[p] == "d" for p in hard)


def _continues(view: GridView, region: Region, rows: list[int], left: int, right: int) -> bool:
    """Whether rows after a gap are more of the same table: same columns, and their first row looks
    like its data."""
    if left > region.right or right > region.right or left < region.left:
        return False
    columns = range(region.left, region.right + 1)
    first = [
        "m"
        if CODE.fullmatch(str(view.cell(rows[0], c)).strip())
        else kind_of(view.cell(rows[0], c))
        for c in columns
    ]
    if _awaits_data(view, region, columns, first):
        return True
    if len(region.rows) < 2:
        return False
    profile = region.profile(view)
    head = view.kinds(region.rows[0], columns)
    if sum(p in "nd" and k == "m" for p, k in zip(profile, first, strict=True)) >= max(
        2, 0.5 * sum(p in "ndb" for p in profile)
    ):
        return True
    hard = [(p, k) for p, k in zip(profile, first, strict=True) if p in "ndb" and k not in "em"]
    if any(p in "ndb" for p in profile):
        fits = sum(fits_in(p, k) for p, k in hard)
        return (
            bool(hard)
            and fits >= 0.6 * len(hard)
            and len(hard) >= 0.3 * sum(p in "ndb" for p in profile)
        )
    if any(k in "nd" for k in first) or any(
        k in "nd" for i in rows[1:4] for k in view.kinds(i, columns)
    ):
        return False
    same_fill = view.fill(rows[0], columns) == view.fill(region.rows[-1], columns)
    if _shares_values(view, region, rows[0], columns):
        return True
    return same_fill and head != first if len(rows) == 1 else same_fill and len(rows) < 3


def _shares_values(view: GridView, region: Region, row: int, columns: Sequence[int]) -> bool:
    """Whether a row of text repeats values of the rows above it in their columns, or codes of their
    make, as no header does."""
    if view.fill(row, columns) < 2:
        return False
    above = region.rows[1:][-SAMPLE:]
    for c in columns:
        cell = str(view.cell(row, c)).strip()
        if not cell:
            continue
        values = {str(view.cell(i, c)).strip() for i in above}
        if cell in values or (
            "9" in shape_of(cell) and shape_of(cell) in {shape_of(value) for value in values}
        ):
            return True
    return False


def _awaits_data(
    view: GridView, region: Region, columns: Sequence[int], first: Sequence[str]
) -> bool:
    """Whether a region is a header alone, and the row after the gap is the first one below it."""
    if len(region.rows) > 4 or any(k in "ndb" for i in region.rows for k in view.kinds(i, columns)):
        return False
    names = [sum(not is_empty(view.cell(i, c)) for i in region.rows) for c in columns]
    kinds = [k for k in first if k != "e"]
    return (
        sum(n > 0 for n in names) >= 0.6 * len(columns)
        and len(kinds) > 2
        and sum(k in "ndym" for k in kinds) >= 0.5 * len(kinds)
    )


def is_table(view: GridView, region: Region, *, alone: bool) -> bool:
    """Whether a region is a table and not loose cells: two columns and two rows, or a list that is
    all there is."""
    columns = range(region.left, region.right + 1)
    if len(columns) == 1:
        texts = [str(view.cell(i, region.left)) for i in region.rows[:SAMPLE]]
        wordy = sum(len(t) > 60 for t in texts) > 0.2 * len(texts)
        return (
            (alone or view.widths is not None)
            and len(region.rows) >= (1 if view.widths is not None else 3)
            and not wordy
        )
    wide = [i for i in region.rows[:SAMPLE] if view.fill(i, columns) >= 2]
    if len(region.rows) == 1 or not wide:
        return bool(wide) and alone
    if view.widths is not None:
        return True
    if (
        are_names(view, wide[0], list(columns))
        and len(columns) > 2
        and len(region.rows) - region.rows.index(wide[0]) > 2
    ):
        return True
    if len(wide) < 2 or (len(wide) < 0.34 * min(len(region.rows), SAMPLE) and len(wide) < 4):
        return False
    return (
        alone
        or len(columns) > 2
        or len(region.rows) > 3
        or _is_small_table(view, region.rows, columns)
    )


def _is_small_table(view: GridView, rows: list[int], columns: Sequence[int]) -> bool:
    """Two columns and two or three rows: a table if names stand above numbers or dates; else likely
    labels with their values."""
    head, *below = (view.kinds(i, columns) for i in rows)
    if any(kind != "t" for kind in head) or first_text(view, rows[0]).endswith((":", "=")):
        return False
    return any(all(kinds[p] in "nyd" for kinds in below) for p in range(len(columns)))

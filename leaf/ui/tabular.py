"""Rows as a table, and charts. Data comes in as plain lists; nothing is fetched from anywhere."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import streamlit as st

from leaf.agent.column_kinds import is_grouped
from leaf.language.text import in_digits, separated, t
from leaf.readers.base import KIND, ROW
from leaf.shapes.results import ChartShown
from leaf.tables.chart_look import readable
from leaf.tables.chart_rows import placed

if TYPE_CHECKING:
    import pandas as pd

ROW_HEIGHT = 32
ROWS_TALL = 12
"""Rows seen at once; the rest scrolls."""
LEVEL_LABELS = 10
"""Up to so many rows, names along the axis are written level."""
DECIMALS, MOST_DECIMALS, DIGITS = 4, 6, 3
"""Decimals of a figure that has no end, of the smallest that is written out, and digits that the
smallest keeps."""
NUMBER = re.compile(r"INT|DOUBLE|FLOAT|REAL|DECIMAL|NUMERIC", re.IGNORECASE)
REFUSED_KEYS = frozenset({"url", "data", "datasets", "href", "usermeta", "loader"})


@dataclass(frozen=True)
class QuotedCells:
    """Cells that an answer quotes, among those that are drawn."""

    rows: range
    """From 0."""
    columns: range
    """From 0."""


def draw(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    types: Sequence[str],
    key: str,
    tall: int = ROWS_TALL,
    marks: QuotedCells | None = None,
) -> None:
    """A table that scrolls, its numbers to the right and written as the reader's language does; the
    menu of a column shows them plain. Never a link and never a picture: cells are somebody else's
    text.

    Rows that `_kind` calls no data are drawn apart.
    """
    import pandas as pd

    frame = _frame(columns, rows, types)
    names = list(frame.columns)
    numbers = {
        name: cells.tolist()
        for name, cells in frame.items()
        if pd.api.types.is_numeric_dtype(cells)
    }
    words = st.column_config.TextColumn()
    config: dict[str, Any] = {name: words for name in names if name not in numbers}
    decimals = {
        name: _decimals(numbers[name])
        for name, kind in zip(names, types, strict=False)
        if name in numbers and name != ROW and is_grouped(name, kind, numbers[name])
    }
    for name, count in decimals.items():
        if count is not None:
            config[name] = st.column_config.NumberColumn(format="localized", step=10.0**-count)
    if ROW in names:
        config[ROW] = st.column_config.NumberColumn(
            t("Row"), width=70, pinned=True, help=t("The row's number in the file"), format="%d"
        )
    summed: frozenset[int] = frozenset()
    if KIND in names:
        config[KIND] = st.column_config.TextColumn(
            t("Kind"), width=80, help=t("Queries see rows of data only")
        )
        summed = frozenset(i for i, kind in enumerate(frame[KIND]) if kind != "data")
    height = ROW_HEIGHT * (min(len(rows), tall) + 1) + 4
    if marks:
        config[MARKER] = st.column_config.TextColumn(t("Here"), width=60, pinned=True)
        frame.insert(0, MARKER, ["▶" if i in marks.rows else "" for i in range(len(frame))])
    if marks or summed:
        frame = _coloured(frame, marks, summed).format(
            {name: _writer(decimals.get(name)) for name in frame.columns}
        )
    st.dataframe(
        frame, key=key, hide_index=True, height=height, row_height=ROW_HEIGHT, column_config=config
    )


def _frame(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], types: Sequence[str]
) -> pd.DataFrame:
    """The rows under names that differ: numbers where a column has nothing else, else words."""
    import pandas as pd

    frame = pd.DataFrame([list(row) for row in rows], columns=unique(columns))
    cells_of = {}  # put together once: to put a column into a frame takes long where it has thousands
    kinds = [*types, *[""] * len(frame.columns)]
    for (name, cells), kind in zip(frame.items(), kinds, strict=False):
        if NUMBER.search(kind):
            cells = pd.to_numeric(cells, errors="coerce") if _numeric(cells) else cells.astype(str)
        if cells.dtype == object:
            cells = cells.map(
                lambda value: value if value is None or isinstance(value, str) else str(value)
            )
        cells_of[name] = cells
    return pd.DataFrame(cells_of, index=frame.index, columns=frame.columns)


MARKER = "\u2060quoted"
"""Name of the column that points at quoted rows; no file has a column of this name."""


def rows_shown(offset: int, count: int, total: int) -> str:
    """`Rows 101–200 of 5,000`."""
    if not total:
        return t("No rows")
    return t(
        "Rows {offset}–{last} of {total}",
        offset=in_digits(offset + 1),
        last=in_digits(min(offset + count, total)),
        total=in_digits(total),
    )


def label(column: str) -> str:
    """What a column is called on the page."""
    return {ROW: t("Row"), KIND: t("Kind")}.get(column, column)


def _coloured(frame: Any, marks: QuotedCells | None, summed: frozenset[int]) -> Any:
    """Cells that are quoted, and rows that are totals of others, in colours of their own."""
    dark = st.context.theme.type == "dark"
    colours = (
        "background-color: #5A4310; color: #F6E3B4"
        if dark
        else "background-color: #FFE9A8; color: #1D2420"
    )
    apart = (
        "background-color: #222A27; color: #AEB7B1"
        if dark
        else "background-color: #EFECE5; color: #5A615B"
    )

    def colour(row: Any) -> list[str]:
        plain = apart if row.name in summed else ""
        if marks is None or row.name not in marks.rows:
            return [plain] * len(row)
        return [colours if i - 1 in marks.columns else plain for i in range(len(row))]

    return frame.style.apply(colour, axis=1)


def _decimals(values: Sequence[float]) -> int | None:
    """How many decimals a column has: as many as its figures, or enough to tell the smallest apart
    from nothing; none where that takes too many."""
    numbers = [value for value in values if math.isfinite(value) and value]
    ends = (Decimal(repr(value)).normalize().as_tuple().exponent for value in numbers)
    longest = max((-end for end in ends if isinstance(end, int)), default=0)
    if longest <= DECIMALS:
        return max(0, longest)
    smallest = min(map(abs, numbers))
    needed = max(DECIMALS, DIGITS - 1 - math.floor(math.log10(smallest)))
    return min(longest, needed) if needed <= MOST_DECIMALS else None


def _writer(decimals: int | None) -> Callable[[Any], str]:
    """How the cells of a column are written where the table does not do so by itself."""

    def write(value: Any) -> str:
        if value is None or value != value:
            return ""
        if isinstance(value, str) or decimals is None:
            plain = f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
            return str(plain)
        return separated(f"{value:,.{decimals}f}")

    return write


def chart(part: ChartShown, key: str, alt: str = "") -> None:
    """A Vega-Lite chart over rows that came with it. `alt` says what it shows where its title does
    not."""
    import pandas as pd

    placed_spec, rows = placed(without_sources(part["spec"]), part["columns"], part["rows"])
    frame = pd.DataFrame([list(row) for row in rows], columns=unique(part["columns"]))
    spec = readable(placed_spec, part["columns"], rows)
    if len(frame) <= LEVEL_LABELS:
        spec["config"] = {"axisX": {"labelAngle": 0}, **spec["config"]}
    title = spec.get("title")
    alt = alt or (
        title
        if isinstance(title, str)
        else (title or {}).get("text", "")
        if isinstance(title, dict)
        else ""
    )
    st.vega_lite_chart(
        frame,
        spec,
        width="stretch",
        key=key,
        alt=str(alt) or t("Chart made from the query's result"),
    )


def without_sources(spec: Any) -> Any:
    """The spec without anything that names data or an address: what a chart shows are the rows that
    came with it."""
    if isinstance(spec, Mapping):
        return {
            key: without_sources(value)
            for key, value in spec.items()
            if key not in REFUSED_KEYS and value != "image"
        }
    if isinstance(spec, list):
        return [without_sources(value) for value in spec]
    return spec


def unique(columns: Sequence[str]) -> list[str]:
    """Column names of which none is empty or there twice."""
    names: dict[str, None] = {}
    for column in columns:
        name, number = str(column) or "column", 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names[name] = None
    return list(names)


def _numeric(values: Any) -> bool:
    return all(value is None or isinstance(value, int | float) for value in values)

"""A chart as a picture or a file, as a function for the confined child: nothing is loaded from
anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from leaf.errors import InvalidInputError
from leaf.tables import chart_look, fonts
from leaf.tables.chart_rows import placed

Json = dict[str, Any]

FORMS = {"png": "image/png", "svg": "image/svg+xml", "json": "application/json"}
SCALE = 2.0
"""Pixels for each unit of a PNG: sharp in print and on dense screens."""
WIDTH, HEIGHT = 720, 360
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
COLOURS = [
    "#1F6F4A",
    "#C97B12",
    "#2C6A8F",
    "#A8483A",
    "#7A6AA8",
    "#7FAE8F",
    "#E0B25C",
    "#7FA9C2",
    "#8A8F6A",
    "#5B5F5C",
]
"""Those of the light theme."""


def whole(spec: Mapping[str, Any], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Json:
    """A spec with its rows, size and colours in it, which any reader of Vega-Lite draws."""
    placed_spec, rows = placed(spec, columns, rows)
    shown = chart_look.readable(placed_spec, columns, rows)
    sized = {"height": max(HEIGHT, chart_look.least_height(spec, columns, rows)), **shown}
    if sized.get("width") == "container":
        sized["width"] = WIDTH
    look = {
        "background": "white",
        "range": {"category": COLOURS},
        "view": {"stroke": None},
        "mark": {"color": COLOURS[0]},
    }
    values = [dict(zip(columns, row, strict=True)) for row in rows]
    return {
        "$schema": SCHEMA,
        **sized,
        "config": {**look, **sized.get("config", {})},
        "data": {"values": values},
    }


def _with_font(chart: Json) -> Json:
    """The chart in a font that has its letters; where this machine has none, the picture itself
    says which are missing."""
    letters = fonts.beyond("".join(_texts(chart)))
    if not letters:
        return chart
    family, missing = fonts.best(letters)
    if missing:
        codes = ", ".join(f"U+{ord(c):04X}" for c in sorted(missing)[:6]) + (
            " …" if len(missing) > 6 else ""
        )
        chart = _with_remark(
            chart,
            f"This machine has no font for {codes}: boxes stand for them. The SVG keeps the text.",
        )
    return {**chart, "config": {"font": family, **chart["config"]}} if family else chart


def _with_remark(chart: Json, remark: str) -> Json:
    title = chart.get("title")
    whole: Json = dict(title) if isinstance(title, Mapping) else {"text": title or ""}
    subtitle = whole.get("subtitle") or []
    return {
        **chart,
        "title": {
            **whole,
            "subtitle": [*([subtitle] if isinstance(subtitle, str) else subtitle), remark],
        },
    }


def _texts(value: Any) -> Iterator[str]:
    """Every text in a chart, names of columns among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def draw(chart: Json, form: str, out: str) -> None:
    """Write `out`/chart.<form> of a whole spec. Raises InvalidInputError for what cannot be
    drawn."""
    target = Path(out) / f"chart.{form}"
    if form == "json":
        target.write_text(json.dumps(chart, ensure_ascii=False, indent=1), encoding="utf-8")
        return
    import vl_convert

    if form == "png":
        chart = _with_font(chart)
    try:
        if form == "svg":
            target.write_text(
                vl_convert.vegalite_to_svg(chart, vl_version="6.4", allowed_base_urls=[]),
                encoding="utf-8",
            )
        else:
            target.write_bytes(
                vl_convert.vegalite_to_png(
                    chart, vl_version="6.4", allowed_base_urls=[], scale=SCALE
                )
            )
    except ValueError as e:
        reason = next((line for line in str(e).splitlines() if "rror" in line), "").rpartition(
            "rror: "
        )[2][:200]
        raise InvalidInputError(
            f"The chart cannot be drawn as a picture. {reason}".strip(),
            "Change it, or take its spec.",
        ) from e

"""Vega-Lite specs: what is drawn, what is refused, and how a mistake is named."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leaf.errors import InvalidInputError, LeafError, NotFoundError
from leaf.language.text import speaking
from leaf.tables import drawing
from leaf.tables.chart_bounds import check_rows
from leaf.tables.chart_look import readable
from leaf.tables.chart_rows import placed, undated
from leaf.tables.charts import check, walk, with_types

COLUMNS = ["region", "revenue", "order.date", "a b", "items[0]"]
ENCODING = {
    "x": {"field": "region", "type": "nominal"},
    "y": {"field": "revenue", "type": "quantitative", "aggregate": "sum"},
}
BAR: dict[str, Any] = {"mark": "bar", "encoding": ENCODING}


def with_filter(expression: str) -> dict[str, Any]:
    return {**BAR, "transform": [{"filter": expression}]}


def test_a_spec_gets_its_width_and_tooltips_and_stays_as_it_was() -> None:
    spec = copy.deepcopy(BAR)
    checked = check(spec, COLUMNS)
    assert checked == {
        "mark": {"type": "bar", "tooltip": True},
        "encoding": ENCODING,
        "width": "container",
    }
    assert spec == BAR


@pytest.mark.parametrize(
    "spec",
    [
        {
            "layer": [
                BAR,
                {"mark": {"type": "rule", "color": "red"}, "encoding": {"y": {"datum": 5}}},
            ]
        },
        {"hconcat": [BAR, {"mark": "line", "encoding": ENCODING}]},
        {"facet": {"field": "region"}, "spec": BAR},
        {
            "repeat": ["revenue", "a b"],
            "spec": {"mark": "bar", "encoding": {"x": {"field": {"repeat": "repeat"}}}},
        },
        {
            "mark": "bar",
            "transform": [{"fold": ["revenue", "a b"]}],
            "encoding": {"x": {"field": "key"}, "y": {"field": "value"}},
        },
        {
            "mark": "bar",
            "transform": [{"calculate": "datum['a b'] * 2", "as": "d"}],
            "encoding": {"x": {"field": "d"}},
        },
        {"mark": "boxplot", "encoding": {"y": {"field": "revenue", "type": "quantitative"}}},
        {"mark": "arc", "encoding": {"theta": {"field": "revenue"}, "color": {"field": "region"}}},
        {**BAR, "params": [{"name": "zoom", "select": "interval", "bind": "scales"}]},
        {**BAR, "title": "After https://example.org, 2024"},
        {**BAR, "$schema": "https://vega.github.io/schema/vega-lite/v5.json"},
        with_filter("datum.revenue > 5 && indexof(['north', 'south'], datum.region) >= 0"),
        {
            **BAR,
            "transform": [
                {"filter": {"and": [{"field": "region", "equal": "x"}, "datum.revenue > 1"]}}
            ],
        },
        {
            "mark": "bar",
            "encoding": {"x": {"field": "region", "axis": {"labelExpr": "upper(datum.label)"}}},
        },
        {
            "mark": "bar",
            "encoding": {"x": {"field": "region", "sort": "-y"}, "y": {"aggregate": "count"}},
        },
    ],
)
def test_usual_specs_are_drawn(spec: dict[str, Any]) -> None:
    check(spec, COLUMNS)


@pytest.mark.parametrize(
    ("name", "escaped"),
    [("order.date", "order\\.date"), ("items[0]", "items\\[0\\]"), ("a b", "a b")],
)
def test_column_names_that_vega_would_take_for_paths_are_escaped(name: str, escaped: str) -> None:
    spec = {"mark": "bar", "encoding": {"x": {"field": name}}}
    checked = check(spec, COLUMNS)
    assert checked["encoding"]["x"]["field"] == escaped
    assert check(checked, COLUMNS)["encoding"]["x"]["field"] == escaped


@pytest.mark.parametrize(
    "spec",
    [
        {**BAR, "data": {"url": "https://x.org/?d=secret"}},
        {**BAR, "data": {"values": [{"a": 1}]}},
        {**BAR, "datasets": {"d": [1]}},
        {"layer": [{**BAR, "data": {"url": "x.csv"}}]},
        {"hconcat": [{"vconcat": [{**BAR, "data": {"values": []}}]}]},
        {"mark": "image", "encoding": {"url": {"value": "https://x.org"}}},
        {"layer": [{"mark": {"type": "image"}}]},
        {"mark": "geoshape"},
        {"mark": {"type": "bar", "href": "https://x.org"}, "encoding": ENCODING},
        {"mark": {"type": "point", "url": "https://x.org"}, "encoding": ENCODING},
        {"mark": "bar", "encoding": {**ENCODING, "href": {"field": "region"}}},
        {"mark": "bar", "encoding": {**ENCODING, "url": {"field": "region"}}},
        {"mark": {"type": "bar", "fill": "url(https://x.org/a.svg#p)"}, "encoding": ENCODING},
        {**BAR, "config": {"background": "url(//x.org)"}},
        {**BAR, "config": {"font": "//x.org/font"}},
        {**BAR, "config": {"customFormatTypes": True}},
        {**BAR, "usermeta": {"embedOptions": {"loader": {"target": "_top"}}}},
        {**BAR, "params": [{"name": "p", "expr": "1"}]},
        {
            **BAR,
            "params": [
                {"name": "p", "value": 1, "bind": {"input": "range", "element": "#password"}}
            ],
        },
        {**BAR, "width": {"signal": "x"}},
        {
            **BAR,
            "transform": [
                {"lookup": "region", "from": {"data": {"url": "https://x.org"}, "key": "a"}}
            ],
        },
        {
            "mark": "bar",
            "encoding": {"x": {"field": "region", "scale": {"scheme": {"signal": "y"}}}},
        },
        with_filter("window.alert(1)"),
        with_filter("data('x')"),
        with_filter("datum['constructor']['constructor']('return 1')()"),
        with_filter("datum[datum.region]"),
        with_filter("datum['constr' + 'uctor']"),
        with_filter("event.view.document"),
        with_filter("x = 1"),
        {
            "mark": "bar",
            "encoding": {"x": {"field": "region", "axis": {"labelExpr": "open(datum.label)"}}},
        },
        {
            "mark": "bar",
            "encoding": {
                "color": {"condition": {"test": "alert(1)", "value": "red"}, "value": "blue"}
            },
        },
        {**BAR, "title": "x" * 30_000},
        [BAR],
        {"mark": float("nan")},
    ],
)
def test_a_spec_that_loads_links_or_computes_is_refused(spec: Any) -> None:
    with pytest.raises(InvalidInputError):
        check(spec, COLUMNS)


AMOUNT = ENCODING["y"]
ENDLESS: list[dict[str, Any]] = [
    {"mark": "bar", "encoding": {"y": {**AMOUNT, "axis": {"tickCount": 1e8}}}},
    {"mark": "bar", "encoding": {"x": {"field": "revenue", "bin": {"maxbins": 1e9}}}},
    {"mark": "bar", "encoding": {"x": {**AMOUNT, "scale": {"bins": {"step": 1e-9}}}}},
    {"mark": "bar", "encoding": ENCODING, "width": 1e9},
    {"mark": "bar", "encoding": ENCODING, "height": {"step": 1e8}},
    {**BAR, "transform": [{"density": "revenue", "steps": 1e9}]},
    {**BAR, "transform": [{"quantile": "revenue", "step": 1e-10}]},
    {**BAR, "transform": [{"impute": "revenue", "key": "region", "keyvals": {"stop": 1e9}}]},
    with_filter("test(/(a+)+$/, datum.region)"),
    with_filter("test(regexp('(a|aa)+$'), datum.region)"),
    with_filter("test(datum.region, 'a')"),
    with_filter("length(pad('a', 2e9)) > 3"),
]


@pytest.mark.parametrize("spec", ENDLESS)
def test_a_chart_may_not_keep_its_viewer_waiting_for_ever(spec: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=r"too much|not possible"):
        check(spec, COLUMNS)


def test_bins_and_small_charts_are_counted_with_the_rows() -> None:
    rows = [[f"Region {i}", 2000 + i % 25] for i in range(300)]
    names = ["region", "revenue"]

    def bounded(encoding: dict[str, Any]) -> None:
        check_rows(walk(check({"mark": "bar", "encoding": encoding}, names)), names, rows)

    bounded({"x": {"field": "revenue", "bin": {"step": 1}}, "row": {"field": "revenue"}})
    with pytest.raises(InvalidInputError, match=r"encoding\.x'"):
        bounded({"x": {"field": "revenue", "bin": {"step": 1e-8}}})
    with pytest.raises(InvalidInputError, match=r"encoding\.row'"):
        bounded({"y": {"field": "revenue"}, "row": {"field": "region"}})


def test_patterns_that_are_tried_in_one_way_are_possible() -> None:
    for expression in (
        "test(regexp('^No(rth)?$'), datum.region)",
        "test('^North', datum.region)",
        "pad(datum.region, 8) != ''",
    ):
        assert check(with_filter(expression), COLUMNS)


def test_a_spec_nested_too_deep_is_refused() -> None:
    spec: dict[str, Any] = BAR
    for _ in range(5_000):
        spec = {"hconcat": [spec]}
    with pytest.raises(InvalidInputError, match="levels deep"):
        check(spec, COLUMNS)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"mark": "bar", "encoding": {"x": {"field": "regoin"}}}, "Did you mean 'region'?"),
        (
            {"layer": [{"mark": "bar", "encoding": {"x": {"field": "regoin"}}}]},
            "layer[0].encoding.x.field",
        ),
        ({"repeat": ["revenu"], "spec": BAR}, "Did you mean 'revenue'"),
        (
            {**BAR, "transform": [{"aggregate": [{"op": "sum", "field": "revenu", "as": "s"}]}]},
            "Did you mean 'revenue'",
        ),
        (
            {**BAR, "transform": [{"regression": "revenu", "on": "region"}]},
            "Did you mean 'revenue'",
        ),
        (with_filter("datum.revenu > 1"), "Did you mean 'revenue'"),
        ({"mark": "bar", "encoding": {"tooltip": [{"field": "regoin"}]}}, "Did you mean 'region'?"),
        (
            {"mark": "bar", "encoding": {"y": {"field": "revenue", "sort": {"field": "regoin"}}}},
            "Did you mean 'region'?",
        ),
    ],
)
def test_an_unknown_field_answers_with_the_nearest(spec: dict[str, Any], says: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        check(spec, COLUMNS)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (
            {"mark": "bra", "encoding": ENCODING},
            "'bra' is not possible in mark. Did you mean 'bar'",
        ),
        (
            {"mark": "bar", "encoding": {"x": {"feild": "region"}}},
            "no 'feild' in encoding.x. Did you mean 'field'?",
        ),
        (
            {"mark": "bar", "encodin": ENCODING},
            "no 'encodin' in the spec. Did you mean 'encoding'?",
        ),
        (
            {"mark": "bar", "encoding": {"x": {"field": "region", "type": "nominl"}}},
            "Did you mean 'nominal'",
        ),
        ({"mark": "bar", "encoding": {"x": {"aggregate": "cnt"}}}, "Did you mean 'count'"),
        ({"mark": {"type": "bar", "foo": 1}, "encoding": ENCODING}, "no 'foo' in mark"),
        ({"encoding": ENCODING}, "'mark' is a required property"),
    ],
)
def test_a_mistake_is_told_by_its_place_and_the_nearest_name(
    spec: dict[str, Any], says: str
) -> None:
    with pytest.raises(LeafError) as caught:
        check(spec, COLUMNS)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("encoding", "types"),
    [
        ({"x": {"field": "region"}, "y": {"field": "revenue"}}, {"y": "quantitative"}),
        ({"x": {"field": "revenue"}, "y": {"field": "region"}}, {"x": "quantitative"}),
        (
            {"x": {"field": "day"}, "y": {"field": "revenue"}},
            {"x": "temporal", "y": "quantitative"},
        ),
        ({"x": {"field": "year"}, "y": {"field": "revenue"}}, {"y": "quantitative"}),
        ({"theta": {"field": "revenue"}, "color": {"field": "year"}}, {"theta": "quantitative"}),
        ({"y": {"field": "revenue", "type": "ordinal"}}, {"y": "ordinal"}),
        ({"x": {"field": "revenue", "bin": True}, "y": {"aggregate": "count"}}, {}),
        ({"x": {"field": "day", "timeUnit": "month"}}, {}),
        ({"y": {"field": "year", "sort": "-x"}}, {}),
        ({"x": {"field": "days"}}, {}),
    ],
)
def test_amounts_and_dates_are_drawn_as_such_where_a_spec_does_not_say(
    encoding: dict[str, dict[str, object]], types: dict[str, str]
) -> None:
    columns = {
        "region": "VARCHAR",
        "revenue": "DOUBLE",
        "year": "BIGINT",
        "day": "DATE",
        "days": "DATE[]",
    }
    given = check({"mark": "bar", "encoding": encoding}, list(columns))
    found = with_types(given, columns)["encoding"]
    assert {channel: at["type"] for channel, at in found.items() if "type" in at} == types


MANY = [[f"Region number {i}", 1234.5 * i] for i in range(1, 31)]
ACROSS: dict[str, Any] = {
    "mark": "bar",
    "height": 150,
    "encoding": {
        "x": {"field": "revenue", "type": "quantitative"},
        "y": {"field": "region", "type": "nominal"},
    },
}


def test_bars_that_lie_have_room_for_their_labels_wherever_they_are_drawn() -> None:
    names = ["region", "revenue"]
    assert "height" not in readable(ACROSS, names, MANY)
    assert readable(ACROSS, names, MANY[:5])["height"] == 150
    assert drawing.whole(ACROSS, names, MANY)["height"] >= 30 * 18
    assert readable(ACROSS, names, MANY)["config"]["axisDiscrete"] == {"labelFlush": False}


@pytest.mark.parametrize(
    ("language", "figure", "month"),
    [("en", "40,000", "March"), ("de", "40.000", "März"), ("fr", "40\u202f000", "mars")],
)
def test_charts_count_and_date_as_their_reader_does(
    language: str, figure: str, month: str, tmp_path: Path
) -> None:
    rows = [["2025-03-01", 40_000], ["2025-04-01", 8_000]]
    spec = {
        "mark": "line",
        "encoding": {
            "x": {"field": "day", "type": "temporal", "axis": {"format": "%B"}},
            "y": {"field": "revenue", "type": "quantitative"},
        },
    }
    with speaking(language):
        drawing.draw(drawing.whole(spec, ["day", "revenue"], rows), "svg", str(tmp_path))
    drawn = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert figure in drawn
    assert month in drawn


def test_what_a_chart_says_of_its_own_look_holds() -> None:
    spec = {**ACROSS, "config": {"locale": {"number": {"decimal": "x"}}}}
    with speaking("de"):
        assert readable(spec, ["region"], [])["config"]["locale"] == spec["config"]["locale"]


DAYS: list[list[Any]] = [["2024-01-01", 1], ["2024-02-01", 2], ["2024-03-01", 4], [None, 9]]
MONTHS: dict[str, Any] = {
    "x": {"field": "day", "timeUnit": "yearmonth", "type": "ordinal"},
    "y": {"field": "n", "type": "quantitative"},
}
DRAWS = """
import json, sys
from leaf.tables import drawing
spec, rows, out = json.loads(sys.argv[1])
drawing.draw(drawing.whole(spec, ["day", "n"], rows), "svg", out)
"""


def seen_in(zone: str, spec: dict[str, Any], rows: list[list[Any]], folder: Path) -> str:
    """What whoever lives there sees."""
    arguments = json.dumps([check(spec, ["day", "n"]), rows, str(folder)])
    environment = {**os.environ, "TZ": zone}
    subprocess.run([sys.executable, "-c", DRAWS, arguments], env=environment, check=True)
    return (folder / "chart.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_a_day_is_that_day_wherever_the_chart_is_looked_at(zone: str, tmp_path: Path) -> None:
    names = {"x": {"field": "year", "type": "nominal"}, "y": MONTHS["y"]}
    year = [{"calculate": "year(datum.day)", "as": "year"}]
    zoned = [[f"{day}T00:00:00+00:00", n] for day, n in DAYS[:3]]
    short = [[day[:7], n] for day, n in DAYS[:3]]
    for rows in (DAYS[:3], zoned, short):
        drawn = seen_in(zone, {"mark": "bar", "encoding": MONTHS}, rows, tmp_path)
        assert re.findall(r">(\w{3} 2024)<", drawn) == ["Jan 2024", "Feb 2024", "Mar 2024"]
    drawn = seen_in(zone, {"mark": "bar", "encoding": names, "transform": year}, DAYS[:3], tmp_path)
    assert set(re.findall(r">(20\d\d)<", drawn)) == {"2024"}


def test_what_has_no_date_is_not_drawn_at_1970_and_is_counted(tmp_path: Path) -> None:
    drawn = seen_in("UTC", {"mark": "bar", "encoding": MONTHS}, DAYS, tmp_path)
    assert re.findall(r">(\w{3} \d{4})<", drawn) == ["Jan 2024", "Feb 2024", "Mar 2024"]
    assert undated({"mark": "bar", "encoding": MONTHS}, ["day", "n"], DAYS) == 1
    assert undated(BAR, ["region", "revenue"], DAYS) == 0


@pytest.mark.parametrize(
    "condition",
    [
        "datum.day <= '2024-02-01'",
        {"field": "day", "lte": "2024-02-01"},
        {"field": "day", "oneOf": ["2024-01-01", "2024-02-01"]},
    ],
)
def test_a_chart_compares_days_with_days(condition: Any, tmp_path: Path) -> None:
    spec = {"mark": "bar", "encoding": MONTHS, "transform": [{"filter": condition}]}
    drawn = seen_in("America/New_York", spec, DAYS, tmp_path)
    assert re.findall(r">(\w{3} 2024)<", drawn) == ["Jan 2024", "Feb 2024"]


def test_a_line_at_a_day_stands_there(tmp_path: Path) -> None:
    rule = {"mark": "rule", "encoding": {"x": {"datum": "2024-02-01", "type": "temporal"}}}
    points = {"mark": "line", "encoding": {"y": MONTHS["y"]}}
    spec = {
        "layer": [points, rule],
        "encoding": {"x": {"field": "day", "type": "temporal"}},
        "width": 600,
    }
    at = re.search(r"<line aria[^>]*translate\((\d+)", seen_in("UTC", spec, DAYS[:3], tmp_path))
    assert at is not None
    assert 300 < int(at[1]) < 330


def test_long_numbers_that_name_something_stay_apart() -> None:
    ids = [120201234567890123, 120201234567890125]
    columns, rows = ["ad", "n"], [[ids[0], 1], [ids[1], 2]]
    named = {"x": {"field": "ad"}, "y": {"field": "n", "type": "quantitative"}}
    spec = {
        "mark": "bar",
        "encoding": named,
        "transform": [{"filter": {"field": "ad", "equal": ids[0]}}],
    }
    drawn, as_drawn = placed(check(spec, columns), columns, rows)
    assert as_drawn == [[str(ids[0]), 1], [str(ids[1]), 2]]
    assert drawn["transform"][0]["filter"]["equal"] == str(ids[0])
    amounts = {**named, "x": {"field": "ad", "type": "quantitative"}}
    assert placed(check({"mark": "bar", "encoding": amounts}, columns), columns, rows)[1] == rows


def test_an_amount_whose_column_has_a_dot_is_drawn_as_one() -> None:
    spec = check({"mark": "bar", "encoding": {"y": {"field": "order.date"}}}, COLUMNS)
    assert with_types(spec, {"order.date": "DOUBLE"})["encoding"]["y"]["type"] == "quantitative"


def test_the_page_says_which_rows_a_chart_leaves_out() -> None:
    def page() -> None:
        from leaf.ui import charts
        from tests.test_charts import DAYS, MONTHS

        spec = {"mark": "bar", "encoding": MONTHS}
        charts.draw(
            {"spec": spec, "columns": ["day", "n"], "rows": DAYS, "total": 12_000}, "c", "", ()
        )
        charts.draw({"spec": spec, "columns": ["day", "n"], "rows": DAYS[:3]}, "d", "", ())

    shown = AppTest.from_function(page, default_timeout=60).run()
    assert not shown.exception
    assert [caption.value for caption in shown.caption] == [
        "The first 4 of 12,000 rows · Not drawn, for want of a date: 1 row"
    ]

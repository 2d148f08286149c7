"""From what was understood to SQL, a chart, and the words that say how it was understood."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from leaf.agent.rules.grammar import Filter, Query
from leaf.agent.rules.tables import Table, quoted

Json = dict[str, Any]

NAMES = {
    "sum": "total",
    "avg": "average",
    "median": "median",
    "min": "lowest",
    "max": "highest",
    "stddev": "standard deviation of",
}
_STEPS = {"month": "%Y-%m", "day": "%Y-%m-%d"}
_BOUNDS = {"=": "is", ">": ">", "<": "<", ">=": "at least", "<=": "at most"}


def named(figure: tuple[str, str]) -> str:
    """The name of a figure in results and sentences: `total revenue`."""
    function, column = figure
    if function in ("count", "distinct"):
        return f"different {column}" if column else "rows"
    return f"{NAMES[function]} {column}" if function in NAMES else column


def sql_of(query: Query, table: Table) -> str:
    """One SELECT."""
    source = f"{table.source}{_where(query.filters, table)}"
    keys = [_key(table, column, grain) for column, grain in query.groups]
    figures = [f"{_figure(f, table)} AS {_alias(named(f))}" for f in query.figures]
    if query.kind == "correlation":
        a, b = (quoted(column) for _, column in query.figures)
        return f'SELECT corr({a}, {b}) AS "correlation", count(*) FILTER ({a} IS NOT NULL AND {b} IS NOT NULL) AS "rows" FROM {source}'
    if query.kind == "gaps":
        gaps = f"count(*) - count({quoted(query.figures[0][1])})"
        return f'SELECT {gaps} AS "empty cells", 100.0 * ({gaps}) / count(*) AS "share in %", count(*) AS "rows" FROM {source}'
    if query.kind == "share":
        return _share(query, table, keys)
    if query.kind == "rows":
        order = f"{quoted(query.figures[0][1])} {'DESC' if query.rank == 'max' else 'ASC'}" if query.rank else ""
        first = (
            f" QUALIFY rank() OVER (ORDER BY {order} NULLS LAST) <= {query.limit} ORDER BY {order} NULLS LAST" if order else ""
        )
        return f"SELECT * FROM {source}{first}"
    if not keys:
        return f"SELECT {', '.join(figures)} FROM {source}"
    names = [_alias(column if not grain else grain) for column, grain in query.groups]
    listed = ", ".join([*(f"{key} AS {name}" for key, name in zip(keys, names, strict=True)), *figures])
    grouped = f"SELECT {listed} FROM {source} GROUP BY {', '.join(map(str, range(1, len(keys) + 1)))}"
    if query.kind == "top":
        order = f"{_alias(named(query.figures[0]))} {'DESC' if query.rank == 'max' else 'ASC'}"
        kept = f"SELECT * FROM ({grouped}) WHERE {names[0]} IS NOT NULL AND {_alias(named(query.figures[0]))} IS NOT NULL"
        return f"{kept} QUALIFY rank() OVER (ORDER BY {order}) <= {query.limit} ORDER BY {order}, 1"
    timed = query.groups[0][1] or table.column(query.groups[0][0]).kind in ("date", "number")
    return f"{grouped} ORDER BY {'1' if timed else f'{len(keys) + 1} DESC NULLS LAST, 1'}"


def _share(query: Query, table: Table, keys: Sequence[str]) -> str:
    figure = _figure(query.figures[0], table)
    if query.filters:
        met = f"count(*) FILTER ({_where(query.filters, table).removeprefix(' WHERE ')})"
        return f'SELECT 100.0 * {met} / count(*) AS "share in %", {met} AS "rows that do", count(*) AS "rows" FROM {table.source}'
    name = _alias(named(query.figures[0]))
    shares = f'100.0 * {figure} / sum({figure}) OVER () AS "share in %"'
    return f"SELECT {keys[0]} AS {_alias(query.groups[0][0])}, {shares}, {figure} AS {name} FROM {table.source} GROUP BY 1 ORDER BY 2 DESC, 1"


def _figure(figure: tuple[str, str], table: Table) -> str:
    function, column = figure
    if function in ("count", "distinct"):
        return f"count(DISTINCT {quoted(column)})" if column else "count(*)"
    return f"{function}({table.column(column).sql})"


def _key(table: Table, column: str, grain: str) -> str:
    sql = table.column(column).sql
    if grain == "year":
        return f"year({sql})"
    if grain == "quarter":
        return f"strftime({sql}, '%Y') || '-Q' || quarter({sql})"
    if grain == "week":
        return f"strftime(date_trunc('week', {sql}), '%Y-%m-%d')"
    return f"strftime({sql}, '{_STEPS[grain]}')" if grain else sql


def _where(filters: Sequence[Filter], table: Table) -> str:
    return " WHERE " + " AND ".join(_condition(f, table) for f in filters) if filters else ""


def _condition(f: Filter, table: Table) -> str:
    column = table.column(f.column)
    if f.test == "in":
        return f"{column.sql} IN ({', '.join(chr(39) + v.replace(chr(39), chr(39) * 2) + chr(39) for v in f.values)})"
    if f.test == "true":
        return column.sql
    if f.test == "between":
        return f"{column.sql} BETWEEN {f.values[0]} AND {f.values[1]}"
    if f.test == "period":
        bounds = [value[:4] if column.is_year else f"DATE '{value}'" for value in f.values if value]
        tests = [sign for sign, value in zip((">=", "<"), f.values, strict=True) if value]
        return " AND ".join(f"{column.sql} {test} {bound}" for test, bound in zip(tests, bounds, strict=True))
    return f"{column.sql} {f.test} {f.values[0]}"


def with_time(query: Query, table: Table) -> Query:
    """With a step of time in place of “over time”: years where the dates span more than five, else months."""

    def step(column: str) -> str:
        first, last = (str(value)[:4] for value in (table.column(column).min, table.column(column).max))
        return "year" if first.isdigit() and last.isdigit() and int(last) - int(first) > 5 else "month"

    return replace(query, groups=tuple((c, step(c) if grain == "time" else grain) for c, grain in query.groups))


def in_words(query: Query) -> str:
    """How a question was understood; in the words of a question, so that it can be asked again."""
    figures = " and ".join(_asked(f) for f in query.figures)
    groups = " and ".join(f"{grain} of `{c}`" if grain else f"`{c}`" for c, grain in query.groups)
    filters = "".join(f" {'and' if i else 'where'} {_filter(f)}" for i, f in enumerate(query.filters))
    if query.kind == "top":
        return f"{'top' if query.rank == 'max' else 'bottom'} {query.limit} {groups} by {figures}{filters}"
    if query.kind == "rows":
        ranked = (
            f"{'top' if query.rank == 'max' else 'bottom'} {query.limit} rows by `{query.figures[0][1]}`"
            if query.rank
            else "list rows"
        )
        return f"{ranked}{filters}"
    if query.kind == "gaps":
        return f"missing values in `{query.figures[0][1]}`" if query.figures else "missing values"
    if query.kind == "correlation":
        return f"correlation between {' and '.join(f'`{c}`' for _, c in query.figures)}{filters}"
    share = "share of " if query.kind == "share" else ""
    figures = "rows" if share and query.figures == (("count", ""),) else figures
    return f"{share}{figures}{f' by {groups}' if groups else ''}{filters}"


def _asked(figure: tuple[str, str]) -> str:
    function, column = figure
    if function in ("count", "distinct"):
        return f"number of different `{column}`" if column else "number of rows"
    return f"{NAMES.get(function, function)} `{column}`"


def _filter(f: Filter) -> str:
    if f.test == "in":
        return f"`{f.column}` is " + " or ".join(f"“{v}”" for v in f.values)
    if f.test == "true":
        return f"`{f.column}`"
    if f.test == "between":
        return f"`{f.column}` between {f.values[0]} and {f.values[1]}"
    if f.test == "period":
        return f"`{f.column}` {_period(*f.values)}"
    return f"`{f.column}` {_BOUNDS[f.test]} {f.values[0]}"


def _period(first: str, after: str) -> str:
    """`in 2023`, `since 2023-04`, `before 2024`, `between 2022 and 2023-06`."""

    def short(day: str) -> str:
        return day[:4] if day.endswith("-01-01") else day[:7]

    if not first or not after:
        return f"since {short(first)}" if first else f"before {short(after)}"
    year, month = int(after[:4]), int(after[5:7])
    last = f"{year - (month == 1)}-{(month - 2) % 12 + 1:02}"
    if first[:7] == last:
        return f"in {last}"
    if first.endswith("-01-01") and month == 1:
        return f"in {first[:4]}" if int(first[:4]) == year - 1 else f"between {first[:4]} and {year - 1}"
    return f"between {first[:7]} and {last}"


def chart_of(query: Query, columns: Sequence[str]) -> Json:
    """A Vega-Lite spec without data for a grouped result."""
    x, y = (re.sub(r"[.\[\]\\]", "_", columns[i]) for i in (0, len(query.groups)))
    title = f"{columns[len(query.groups)]} by {columns[0]}"
    if query.chart == "arc":
        channels = {"theta": {"field": y, "type": "quantitative"}, "color": {"field": x, "type": "nominal"}}
        return {"mark": "arc", "title": title, "encoding": channels}
    timed = bool(query.groups[0][1])
    encoding: Json = {"x": {"field": x, "type": "ordinal" if timed else "nominal"}, "y": {"field": y, "type": "quantitative"}}
    if not timed:
        encoding["x"]["sort"] = "-y"
    if len(query.groups) > 1:
        encoding["color"] = {"field": re.sub(r"[.\[\]\\]", "_", columns[1]), "type": "nominal"}
    line = query.chart == "line" or timed
    return {"mark": {"type": "line", "point": True} if line else "bar", "title": title, "encoding": encoding}


def _alias(name: str) -> str:
    return '"' + re.sub(r"[.\[\]\\]", "_", name).replace('"', "'") + '"'

"""From what was understood to SQL, and to the words that say how it was understood."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from leaf.agent.rules.grammar import Filter, Query
from leaf.agent.rules.tables import Table, literal, quoted

NAMES = {
    "sum": "total",
    "avg": "average",
    "median": "median",
    "min": "lowest",
    "max": "highest",
    "stddev": "standard deviation of",
}
_TESTS = {"=": "is", ">=": "at least", "<=": "at most"}


def named(figure: tuple[str, str]) -> str:
    """The name of a figure in results and sentences: `total revenue`."""
    function, column = figure
    return f"{NAMES.get(function, 'different')} {column}" if column else "rows"


def sql_of(query: Query, table: Table) -> str:
    """One SELECT. Of those that share a rank all are in it."""
    met = " AND ".join(_condition(f, table) for f in query.filters)
    source = f"{table.source} WHERE {met}" if met else table.source
    if query.kind == "correlation":
        a, b = (quoted(column) for _, column in query.figures)
        return f'SELECT corr({a}, {b}) AS "correlation", count(*) FILTER ({a} + {b} IS NOT NULL) AS "rows" FROM {source}'
    if query.kind == "share" and met:
        count = f"count(*) FILTER ({met})"
        return f'SELECT 100.0 * {count} / count(*) AS "share in %", {count} AS "rows that do", count(*) AS "rows" FROM {table.source}'
    figures = [f"{_figure(f, table)} AS {_alias(named(f))}" for f in query.figures]
    keys = [f"{_key(table, column, grain)} AS {_alias(grain or column)}" for column, grain in query.groups]
    if query.kind == "share":
        figures.insert(
            0, f'100.0 * {_figure(query.figures[0], table)} / sum({_figure(query.figures[0], table)}) OVER () AS "share in %"'
        )
    sql = f"SELECT {', '.join([*keys, *figures])} FROM {source}"
    if not keys:
        return sql
    sql += f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}"
    if query.kind == "top":
        figure, key = _alias(named(query.figures[0])), _alias(query.groups[0][1] or query.groups[0][0])
        order = f"{figure} {'DESC' if query.rank == 'max' else 'ASC'}"
        kept = f"SELECT * FROM ({sql}) WHERE {key} IS NOT NULL AND {figure} IS NOT NULL"
        return f"{kept} QUALIFY rank() OVER (ORDER BY {order}) <= {query.limit} ORDER BY {order}, 1"
    along = query.groups[0][1] or table.column(query.groups[0][0]).kind not in ("text", "bool")
    return f"{sql} ORDER BY {'1' if along else f'{len(keys) + 1} DESC NULLS LAST, 1'}"


def _figure(figure: tuple[str, str], table: Table) -> str:
    function, column = figure
    if function == "distinct":
        return f"count(DISTINCT {quoted(column)})"
    return f"{function}({table.column(column).sql})" if column else "count(*)"


def _key(table: Table, column: str, grain: str) -> str:
    sql = table.column(column).sql
    steps = {
        "year": f"year({sql})",
        "quarter": f"strftime({sql}, '%Y') || '-Q' || quarter({sql})",
        "month": f"strftime({sql}, '%Y-%m')",
    }
    return steps.get(grain, sql)


def _condition(f: Filter, table: Table) -> str:
    column = table.column(f.column)
    if f.test == "in":
        return f"{column.sql} IN ({', '.join(map(literal, f.values))})"
    if f.test == "between":
        return f"{column.sql} BETWEEN {f.values[0]} AND {f.values[1]}"
    if f.test == "period":
        bounds = [
            (test, value[:4] if column.kind == "year" else f"DATE '{value}'")
            for test, value in zip((">=", "<"), f.values, strict=True)
            if value
        ]
        return " AND ".join(f"{column.sql} {test} {bound}" for test, bound in bounds)
    return f"{column.sql} {f.test} {f.values[0]}" if f.values else column.sql


def _alias(name: str) -> str:
    return '"' + name.replace('"', "'") + '"'


def with_time(query: Query, table: Table) -> Query:
    """With a step of time in place of “over time”: years where the dates span more than five, else months."""

    def step(column: str) -> str:
        first, last = (str(value)[:4] for value in (table.column(column).min, table.column(column).max))
        return "year" if first.isdigit() and last.isdigit() and int(last) - int(first) > 5 else "month"

    return replace(query, groups=tuple((c, step(c) if grain == "time" else grain) for c, grain in query.groups))


def in_words(query: Query) -> str:
    """How a question was understood, in words that are understood themselves."""
    figures = " and ".join(_asked(f) for f in query.figures)
    groups = " and ".join(f"{grain} of `{c}`" if grain else f"`{c}`" for c, grain in query.groups)
    filters = "".join(f" {'and' if i else 'where'} `{f.column}`{_filter(f)}" for i, f in enumerate(query.filters))
    if query.kind == "top":
        return f"{'top' if query.rank == 'max' else 'bottom'} {query.limit} {groups} by {figures}{filters}"
    if query.kind == "correlation":
        return f"correlation between {' and '.join(f'`{c}`' for _, c in query.figures)}{filters}"
    share = f"share of {'rows' if query.figures == (('count', ''),) else figures}" if query.kind == "share" else figures
    return f"{share}{f' by {groups}' if groups else ''}{filters}"


def _asked(figure: tuple[str, str]) -> str:
    function, column = figure
    if function in ("count", "distinct"):
        return f"number of different `{column}`" if column else "number of rows"
    return f"{NAMES.get(function, function)} `{column}`"


def _filter(f: Filter) -> str:
    if f.test == "in":
        return " is " + " or ".join(f"“{v}”" for v in f.values)
    if f.test == "between":
        return f" between {f.values[0]} and {f.values[1]}"
    if f.test == "period":
        return f" {_period(*f.values)}"
    return f" {_TESTS.get(f.test, f.test)} {f.values[0]}" if f.values else ""


def _period(first: str, after: str) -> str:
    """`in 2023`, `since 2023-04`, `before 2024`, `between 2022-01 and 2023-06`."""
    start, stop = (re.sub("-01$", "", day[:7]) for day in (first, after))
    if not start or not stop:
        return f"since {start}" if start else f"before {stop}"
    year, month = int(after[:4]), int(after[5:7])
    last = f"{year - (month == 1)}-{(month - 2) % 12 + 1:02}"
    if first[5:7] == "01" and month == 1:
        return f"in {start}" if int(start) == year - 1 else f"between {start} and {year - 1}"
    return f"in {last}" if first[:7] == last else f"between {first[:7]} and {last}"

"""What was understood as SQL, and results of tools as Markdown. Every figure and quotation stands in a result; how much was read
is said beneath, by what draws the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from leaf.agent.rules.grammar import Filter, Query
from leaf.agent.rules.tables import Table, is_number, split_words
from leaf.formats.locate import unmarked
from leaf.tables.sql import literal, quoted

Json = dict[str, Any]

NAMES = {"sum": "total", "avg": "average", "min": "lowest", "max": "highest", "distinct": "number of different"}
_TESTS = {"=": "is", ">=": "at least", "<=": "at most"}
_SQL_TESTS = {"in": "=", "since": ">=", "after": ">", "before": "<"}


def named(figure: tuple[str, str], mark: str = "") -> str:
    """The name of a figure in results and sentences: `total revenue`."""
    function, column = figure
    return f"{NAMES.get(function, function)} {mark}{column}{mark}" if column else "number of rows"


def sql_of(query: Query, table: Table) -> str:
    """One SELECT. Of those that share a rank all are in it."""
    met = " AND ".join(_condition(f, table) for f in query.filters)
    source = f"{table.source} WHERE {met}" if met else table.source
    if query.kind == "correlation":
        a, b = (quoted(column) for _, column in query.figures)
        return f'SELECT corr({a}, {b}) AS "correlation", count(*) FILTER ({a} + {b} IS NOT NULL) AS "rows" FROM {source}'
    if query.kind == "share" and met:
        count = f"count(*) FILTER ({met})"
        shares = f'100.0 * {count} / count(*) AS "share in %", {count} AS "rows that do"'
        return f'SELECT {shares}, count(*) AS "rows" FROM {table.source}'
    figures = [f"{_figure(f, table)} AS {_alias(named(f))}" for f in query.figures]
    keys = [f"{_key(table, column, grain)} AS {_alias(grain or column)}" for column, grain in query.groups]
    if query.kind == "share":
        whole = _figure(query.figures[0], table)
        figures.insert(0, f'100.0 * {whole} / sum({whole}) OVER () AS "share in %"')
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
    quarter, month = f"strftime({sql}, '%Y') || '-Q' || quarter({sql})", f"strftime({sql}, '%Y-%m')"
    return {"year": f"year({sql})", "quarter": quarter, "month": month}.get(grain, sql)


def _condition(f: Filter, table: Table) -> str:
    column = table.column(f.column)
    if f.test == "true":
        return column.sql
    if f.test == "one of":
        return f"{column.sql} IN ({', '.join(map(literal, f.values))})"
    tests = (">=", "<=") if f.test in ("between", "from") else (_SQL_TESTS.get(f.test, f.test),)
    sides = ((_key(table, f.column, _grain(v)), literal(v)) if column.kind == "date" else (column.sql, v) for v in f.values)
    return " AND ".join(f"{left} {test} {right}" for (left, right), test in zip(sides, tests, strict=True))


def _grain(period: str) -> str:
    return "quarter" if "Q" in period else "month" if "-" in period else "year"


def _alias(name: str) -> str:
    return '"' + name.replace('"', "'") + '"'


def in_words(query: Query) -> str:
    """How a question was understood, in words that are understood themselves."""
    figures = " and ".join(named(f, "`") for f in query.figures)
    groups = " and ".join(f"{grain} of `{c}`" if grain else f"`{c}`" for c, grain in query.groups)
    filters = "".join(f" {'and' if i else 'where'} `{f.column}`{_filter(f)}" for i, f in enumerate(query.filters))
    if query.kind == "top":
        return f"{'top' if query.rank == 'max' else 'bottom'} {query.limit} {groups} by {figures}{filters}"
    if query.kind == "correlation":
        return f"correlation between {' and '.join(f'`{c}`' for _, c in query.figures)}{filters}"
    share = f"share of {'rows' if query.figures == (('count', ''),) else figures}" if query.kind == "share" else figures
    return f"{share}{f' by {groups}' if groups else ''}{filters}"


def _filter(f: Filter) -> str:
    if f.test == "one of":
        return " is " + " or ".join(f"“{v}”" for v in f.values)
    if f.test in ("between", "from"):
        return f" between {f.values[0]} and {f.values[1]}"
    return f" {_TESTS.get(f.test, f.test)} {f.values[0]}" if f.values else ""


# Markdown

ROWS_SHOWN, COLUMNS_SHOWN = 15, 12
CELL, QUOTES, QUOTE, CITED = 80, 4, 700, 240
"""Characters of a cell; quotations, characters of one, and how many of them are looked up and marked in the file."""
CONNECT = "*No model is connected, so fixed rules answered. Set ANTHROPIC_API_KEY or LEAF_MODEL_URL to ask freely.*"


def cell(value: Any, sql_type: str = "", *, plain: bool = False) -> str:
    """A cell or figure for reading: thousands set apart, no more decimals than say something; years and ids stay `plain`."""
    value = float(value) if isinstance(value, str) and sql_type.startswith("DECIMAL") else value
    if isinstance(value, float) and abs(value) < 1e15 and value == int(value):
        value = int(value)
    if isinstance(value, bool) or value is None:
        text = {True: "yes", False: "no", None: "(empty)"}[value]
    elif isinstance(value, int | float) and not plain:
        text = f"{value:,}" if isinstance(value, int) else f"{value:,.2f}" if abs(value) >= 1 else f"{value:.4g}"
    else:
        text = " ".join(str(value).split())
    text = text if len(text) <= CELL else text[: CELL - 1] + "…"
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("`", "'").replace("<", "&lt;").replace("![", "[")


def _grid(result: Json, plain: Sequence[str] = ()) -> str:
    """The first rows and columns of a result, and what is not shown."""
    names, types = result["columns"][:COLUMNS_SHOWN], result["types"]
    ruler = ["---:" if is_number(types[i]) else "---" for i in range(len(names))]
    shown = [row[: len(names)] for row in result["rows"][:ROWS_SHOWN]]
    rows = [[cell(value, types[i], plain=names[i] in plain) for i, value in enumerate(row)] for row in shown]
    lines = ["| " + " | ".join(line) + " |" for line in ([cell(name) for name in names], ruler, *rows)]
    hidden = [f"first of {result['total']:,} rows"] if result["total"] > ROWS_SHOWN else []
    hidden += [f"first of {len(result['columns'])} columns"] if len(result["columns"]) > COLUMNS_SHOWN else []
    more = [f"\nThe {' and the '.join(hidden)} are shown here; the whole result opens with the step above."] if hidden else []
    return "\n".join([*lines, *more])


def chart_of(query: Query) -> Json | None:
    """A line, where one figure is asked for by steps of time."""
    if query.kind != "figures" or len(query.figures) != 1 or len(query.groups) != 1 or not query.groups[0][1]:
        return None
    step, figure = query.groups[0][1], named(query.figures[0])
    encoding = {"x": {"field": step, "type": "ordinal"}, "y": {"field": figure, "type": "quantitative"}}
    return {"mark": {"type": "line", "point": True}, "encoding": encoding, "title": f"{_upper(figure)} by {step}"}


def of_query(query: Query, table: Table, output: Json) -> str:
    """The answer to a question that was understood. How its words were taken stands before any figure."""
    result = output["data"]["table"]
    plain = [*(c.name for c in table.columns if c.kind in ("year", "id")), "year"]
    parts = [*sorted(query.said), _headline(query, result, plain)]
    if result["rows"] and query.groups and not (query.kind == "top" and query.limit == 1):
        parts.append(_grid(result, plain))
    empty = [c for c in table.columns if c.nulls and query.kind != "share" and c.name in [name for _, name in query.figures]]
    parts += [f"`{c.name}` is empty in {c.nulls:,} of {table.rows:,} rows; these do not count." for c in empty]
    where = f"{len(table.united)} tables of one shape" if table.united else f"`{table.name}`"
    return "\n\n".join([*parts, f"Read as: {in_words(query)}, in {where}."])


def _headline(query: Query, result: Json, plain: Sequence[str]) -> str:
    rows, types, names = result["rows"], result["types"], result["columns"]
    if not rows or (not query.groups and rows[0][0] is None):
        return "There is no value for this: no row meets the conditions, or all cells are empty."
    if query.kind == "top" and query.limit == 1:
        first = " and ".join(f"**{cell(row[0], plain=names[0] in plain)}**" for row in rows[:ROWS_SHOWN])
        return f"{first}: {names[-1]} **{cell(rows[0][-1], types[-1])}**{' each' if len(rows) > 1 else ''}."
    if query.groups:
        tie = " Ties are shown all." if query.kind == "top" and len(rows) > query.limit else ""
        by = len(query.groups)
        return f"{_upper(', '.join(names[by:]))} by {' and '.join(names[:by])}, {result['total']:,} rows.{tie}"
    values = [cell(v, types[i], plain=query.figures[0][1] in plain) for i, v in enumerate(rows[0])]
    if query.kind == "share":
        return f"Share: **{values[0]} %** ({values[1]} of {values[2]} rows)"
    if query.kind == "correlation":
        return f"Correlation (Pearson): **{values[0]}**, over {values[1]} rows with both."
    said = [_upper(named(figure)) for figure in query.figures]
    return "\n\n".join(f"{name}: **{value}**" for name, value in zip(said, values, strict=True))


def of_sql(output: Json) -> str:
    """The result of SQL that the user typed."""
    result = output["data"]["table"]
    count = f"{result['total']:,} row{'s' if result['total'] != 1 else ''}" if result["rows"] else "no rows"
    return "\n\n".join([f"The query gave {count}.", *([_grid(result)] if result["rows"] else [])])


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def of_profile(table: Table, limit: int) -> str:
    """What a table holds: so many of its columns."""
    lines = ["| column | type | empty | different | values |", "| --- | --- | ---: | ---: | --- |"]
    for c in table.columns[:limit]:
        low, high = (cell(value, plain=c.kind != "figure") for value in (c.min, c.max))
        values = cell(", ".join(c.values[:4])) if c.values else f"{low} to {high}" if c.min is not None else ""
        lines.append(f"| {cell(c.name)} | {c.type.lower()} | {c.nulls:,} | {c.distinct:,} | {values} |")
    cut = [f"The first of {len(table.columns)} columns are shown here."] if len(table.columns) > limit else []
    head = f"**{table.file_name}** (table `{table.name}`): {table.rows:,} rows, {len(table.columns)} columns."
    return "\n\n".join([head, "\n".join(lines), *cut])


def of_passages(head: str, passages: Sequence[Json], wanted: set[str], notes: Sequence[str] = ()) -> str:
    """The best passages, quoted with their places."""
    quotes = [
        f"{_quote(p['text'], wanted)}\n\n— {cell(p['name'])}, {p['place']} {_citation(p)}".rstrip() for p in passages[:QUOTES]
    ]
    more = [f"{len(passages) - QUOTES} more places were found; they open with the step above."] if len(passages) > QUOTES else []
    return "\n\n".join((head, *quotes, *more, *notes))


def _quote(text: str, wanted: set[str]) -> str:
    """A passage as a quotation; a long one begins just before the sentence that says most of what was asked for."""
    flat = "\n".join(line.strip() for line in unmarked(text).splitlines() if line.strip())
    if len(flat) > QUOTE:
        sentences = re.split(r"(?<=[.!?])\s+|\n", flat)
        overlap = [len(wanted & {word.key for word in split_words(sentence)}) for sentence in sentences]
        first = max(0, overlap.index(max(overlap)) - 1)
        flat = ("… " if first else "") + " ".join(sentences[first:])
    flat = flat if len(flat) <= QUOTE else flat[:QUOTE].rsplit(" ", 1)[0] + " …"
    return "\n".join(f"> {line}  " for line in flat.replace("<", "&lt;").replace("![", "[").splitlines())


def _citation(passage: Json) -> str:
    """What makes a quotation a mark in the page: its locator and the beginning of its words."""
    words = " ".join(unmarked(passage["text"]).replace('"', "'").replace("[", "(").replace("]", ")").strip("… \n").split())
    cut = words if len(words) <= CITED else words[:CITED].rsplit(" ", 1)[0] + " …"
    return f'[{passage["handle"]}#{passage["place"]} "{cut}"]' if passage.get("handle") and len(words) >= 12 else ""

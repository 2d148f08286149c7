"""What was understood as SQL, and results of tools as Markdown, in the language of the question.
Every figure and quotation stands in a result; how much was read is said beneath, by what draws the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from leaf.agent.column_kinds import is_grouped
from leaf.agent.export import markdown_table
from leaf.agent.rules.kinds import Query, grain
from leaf.agent.rules.tables import AskedColumn, AskedTable
from leaf.language.dates import weekdays
from leaf.language.text import current, in_digits, mark, n_, separated, t
from leaf.readers.locate.locate import unmarked
from leaf.shapes.results import PassageShown, TableShown
from leaf.tables.sql import literal, quoted
from leaf.tools.base import quoted as shortened

Say = Callable[[AskedColumn], str]
"""How a column is called."""
_NAMES = {
    "sum": mark("total"),
    "avg": mark("average"),
    "median": mark("median"),
    "min": mark("lowest"),
    "max": mark("highest"),
}
"""As the rules understand them, in each language."""
_STEPS = {
    "day": mark("day"),
    "weekday": mark("day of the week"),
    "week": mark("week"),
    "month": mark("month"),
    "quarter": mark("quarter"),
    "year": mark("year"),
}
_TIMES = {
    "in": mark("in"),
    "since": mark("since"),
    "after": mark("after"),
    "before": mark("before"),
    "between": mark("between"),
}
_TESTS = {"in": "=", "since": ">=", "after": ">", "before": "<"}


def plain_name(column: AskedColumn) -> str:
    return column.name


def _named(figure: tuple[str, AskedColumn], say: Say = plain_name) -> str:
    """The name of a figure in results and sentences: `total revenue`."""
    function, column = figure
    if not column.name:
        return t("number of rows")
    if function == "distinct":
        return t("number of different {column}", column=say(column))
    return t("{figure} {column}", figure=t(_NAMES.get(function, function)), column=say(column))


def _step(step: str) -> str:
    return t(_STEPS.get(step, step))


def sql_of(query: Query, table: AskedTable) -> str:
    """One SELECT. Of those that share a rank all are in it."""
    met = " AND ".join(condition(*one) for one in query.filters)
    source = f"{table.source} WHERE {met}" if met else table.source
    if query.kind == "rows":
        return f"SELECT * FROM {source}"
    if query.kind == "share" and met:
        count = f"count(*) FILTER ({met})"
        shares = (
            f"100.0 * {count} / count(*) AS {quoted(t('share in %'))}, {count} AS "
            f"{quoted(t('rows that do'))}"
        )
        return f"SELECT {shares}, count(*) AS {quoted(t('rows'))} FROM {table.source}"
    figures = [f"{_figure(*figure)} AS {quoted(_named(figure))}" for figure in query.figures]
    keys = [
        f"{key_of(column, step)} AS {quoted(_step(step) or column.name)}"
        for column, step in query.groups
    ]
    if query.kind == "share":
        whole = _figure(*query.figures[0])
        share = quoted(t("share in %"))
        figures.insert(0, f"100.0 * {whole} / sum({whole}) OVER () AS {share}")
    sql = f"SELECT {', '.join([*keys, *figures])} FROM {source}"
    if not keys:
        return sql
    sql += f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}"
    if query.kind == "top":
        figure, key = _figure(*query.figures[0]), key_of(*query.groups[0])
        order = f"{figure} {'DESC' if query.rank == 'max' else 'ASC'}"
        known = f"HAVING {key} IS NOT NULL AND {figure} IS NOT NULL"
        return (
            f"{sql} {known} QUALIFY rank() OVER (ORDER BY {order}) <= {query.limit} ORDER BY "
            f"{order}, 1"
        )
    column, step = query.groups[0]
    if step == "weekday":
        return f"{sql} ORDER BY min(isodow({column.sql}))"
    along = step or column.kind not in ("text", "bool")
    return f"{sql} ORDER BY {'1' if along else f'{len(keys) + 1} DESC NULLS LAST, 1'}"


def joined_sql(one: tuple[AskedTable, Query], other: tuple[AskedTable, Query]) -> str:
    """One figure of each of two tables side by side, for each group that either has."""
    (left, first), (right, second) = one, other
    names = [
        quoted(t("{figure} in {table}", figure=_named(query.figures[0]), table=table.title))
        for table, query in (one, other)
    ]
    column, step = first.groups[0]
    return (
        f"SELECT coalesce(a.k, b.k) AS {quoted(_step(step) or column.name)}, a.v AS {names[0]}, "
        f"b.v AS {names[1]} FROM ({sql_of(first, left)}) AS a(k, v) FULL JOIN "
        f"({sql_of(second, right)}) AS b(k, v) ON a.k IS NOT DISTINCT FROM b.k ORDER BY 1"
    )


def of_comparison(
    one: tuple[AskedTable, Query],
    other: tuple[AskedTable, Query],
    result: TableShown,
    doubts: Sequence[str] = (),
    marked: Collection[str] = frozenset(),
) -> str:
    """Both figures in one table, and how they were read."""
    figures = [
        t("{figure} in {table}", figure=in_words(query), table=f"`{table.name}`")
        for table, query in (one, other)
    ]
    if not result["rows"]:
        return t("There is no value for this: both tables are empty.")
    notes = sorted(one[1].said | other[1].said)
    read = t("Read as: {one}, beside {other}.", one=figures[0], other=figures[1])
    return "\n\n".join([*notes, _grid(result, result["columns"][:1], marked), *doubts, read])


def _figure(function: str, column: AskedColumn) -> str:
    special = {"distinct": f"count(DISTINCT {column.sql})", "count": "count(*)"}
    return special.get(function, f"{function}({column.sql})")


def key_of(column: AskedColumn, step: str) -> str:
    names = ", ".join(map(literal, weekdays(current())))
    return {
        "year": f"year({column.sql})",
        "quarter": f"strftime({column.sql}, '%Y') || '-Q' || quarter({column.sql})",
        "month": f"strftime({column.sql}, '%Y-%m')",
        "week": f"strftime({column.sql}, '%G-W%V')",
        "day": f"strftime({column.sql}, '%Y-%m-%d')",
        "weekday": f"[{names}][isodow({column.sql})]",
    }.get(step, column.sql)


def condition(column: AskedColumn, test: str, values: Sequence[str]) -> str:
    """SQL: whether a row meets it."""
    if test == "empty":
        return f"{quoted(column.name)} IS NULL"
    if test == "one of":
        return f"{column.sql} IN ({', '.join(map(literal, values))})"
    sides, texts = [column.sql] * len(values), values
    if column.kind == "date":
        sides = [key_of(column, grain(value)) for value in values]
        texts = [literal(value) for value in values]
    if test == "in" and len(values) > 1:
        each = zip(sides, texts, strict=True)
        return f"({' OR '.join(f'{side} = {text}' for side, text in each)})"
    tests = (">=", "<=") if test == "between" else (_TESTS.get(test, test),)
    return (
        " AND ".join(f"{a} {sign} {b}" for a, sign, b in zip(sides, tests, texts, strict=False))
        or column.sql
    )


def marked_name(column: AskedColumn) -> str:
    return f"`{column.name}`"


def in_words(query: Query, say: Say = marked_name, *, exact: bool = True) -> str:
    """How a question was understood, in words that are understood themselves. `say` names a
    column; without `exact` a step of time is named without the column that says when."""
    figures = t("show all rows") if query.kind == "rows" else _figures_in_words(query, say)
    groups = [
        t("{step} of {column}", step=_step(step), column=say(c))
        if step and c.name and exact
        else _step(step) or say(c)
        for c, step in query.groups
    ]
    filters = "".join(
        (t(" and ") if i else f" {t('where')} ") + _met(*condition, say)
        for i, condition in enumerate(query.filters)
    )
    if query.kind == "top":
        first = mark("top {n} {groups} by {figures}")
        ranked = first if query.rank == "max" else mark("bottom {n} {groups} by {figures}")
        return t(ranked, n=query.limit, groups=groups[0], figures=figures) + filters
    if query.kind == "share":
        shared = figures if query.figures[0][1].name else t("rows")
        figures = t("share of {figures}", figures=shared)
    if not any(step for _, step in query.groups):
        groups = [t(" and ").join(groups)] if groups else []
    for group in groups:
        figures = t("{figures} by {groups}", figures=figures, groups=group)
    return figures + filters


def _figures_in_words(query: Query, say: Say) -> str:
    """`lowest and highest price`: each function of each column."""
    functions = list(dict.fromkeys(function for function, _ in query.figures))
    columns = list(dict.fromkeys(column for _, column in query.figures))
    if len(functions) == 1 or "count" in functions or "distinct" in functions:
        return t(" and ").join(_named(figure, say) for figure in query.figures)
    names = t(" and ").join(t(_NAMES.get(function, function)) for function in functions)
    each = t(" and ").join(map(say, columns))
    return t("{figure} {column}", figure=names, column=each)


def _met(column: AskedColumn, test: str, values: Sequence[str], say: Say) -> str:
    name = say(column)
    if test == "empty":
        return t("{column} is empty", column=name)
    if test == "one of":
        among = t(" or ").join(f"“{value}”" for value in values)
        return t("{column} is {values}", column=name, values=among)
    if test == "in" and grain(values[0]) == "day":
        return f"{name} = {t(' or ').join(values)}"
    among = t(" or ") if test == "in" else t(" and ")
    return f"{name} {t(_TIMES.get(test, test))} {among.join(values)}" if values else name


ROWS_SHOWN, COLUMNS_SHOWN = 15, 12
CELL, QUOTES = 80, 4
"""Characters of a cell; quotations."""


def cell(value: Any, sql_type: str = "", *, plain: bool = False) -> str:
    """A cell or figure for reading: thousands set apart, no more decimals than say something; years
    and ids stay `plain`."""
    value = float(value) if isinstance(value, str) and sql_type.startswith("DECIMAL") else value
    if isinstance(value, float) and abs(value) < 1e15 and value == int(value):
        value = int(value)
    if isinstance(value, bool) or value is None:
        text = {True: t("yes"), False: t("no"), None: t("(empty)")}[value]
    elif isinstance(value, int | float) and not plain:
        small = "" if isinstance(value, int) else ".2f" if abs(value) >= 1 else ".4g"
        text = separated(format(value, small if small == ".4g" else f",{small}"))
    else:
        text = shortened(str(value), CELL)
    return _defused(text.replace("\\", "\\\\").replace("`", "'"))


def _grid(
    result: TableShown, plain: Sequence[str] = (), marked: Collection[str] = frozenset()
) -> str:
    """The first rows and columns of a result, and what is not shown; `marked` are names of rows
    that a sentence speaks of."""
    names, types = result["columns"][:COLUMNS_SHOWN], result["types"][:COLUMNS_SHOWN]
    shown = [zip(names, types, row, strict=False) for row in result["rows"][:ROWS_SHOWN]]
    rows = [
        [
            cell(value, kind, plain=name in plain) + " ⚠" * (value in marked)
            for name, kind, value in row
        ]
        for row in shown
    ]
    hidden = []
    if result["total"] > ROWS_SHOWN:
        hidden.append(n_("first of {n} row", "first of {n} rows", result["total"]))
    if len(result["columns"]) > COLUMNS_SHOWN:
        columns = len(result["columns"])
        hidden.append(n_("first of {n} column", "first of {n} columns", columns))
    more = t(
        "The {parts} are shown here; the whole result opens with the step above.",
        parts=t(" and the ").join(hidden),
    )
    more = f"\n\n{more}" if hidden else ""
    return markdown_table([cell(name) for name in names], rows, types) + more


def chart_of(query: Query, *, drawn: bool = False, shape: str = "") -> dict[str, Any] | None:
    """A line, where one figure is asked for by steps of time; where a chart is asked for, bars for
    all else, the longest first, or the `shape` that is asked for."""
    single = len(query.figures) == 1 and len(query.groups) == 1
    if query.kind != "figures" or not single:
        return None
    column, step = query.groups[0]
    timely = bool(step) or column.is_time
    if not (timely or drawn):
        return None
    spec = chart_spec(_named(query.figures[0]), _step(step) or column.name, timely=timely)
    if timely and (shape == "bar" or step == "weekday"):
        spec["mark"] = "bar"
    if step == "weekday":  # in the order of the week, as the rows are, and not of their names
        spec["encoding"]["x"]["sort"] = None
    return spec


def of_chart(spec: dict[str, Any] | None, *, drawn: bool, shape: str) -> list[str]:
    """What is drawn otherwise than a question asks."""
    if drawn and not spec:
        return [t("No chart is drawn: it shows one figure, for three or more groups of one kind.")]
    if spec and shape == "line" and spec["mark"] == "bar":
        return [t("Bars are drawn, as a line is one along a time.")]
    return []


def chart_spec(figure: str, group: str, *, timely: bool) -> dict[str, Any]:
    """A line along a column of times, bars along one of names."""
    number = {"field": figure, "type": "quantitative"}
    along: dict[str, object] = {"field": group, "type": "ordinal" if timely else "nominal"}
    mark: object = {"type": "line", "point": True}
    encoding = {"x": along, "y": number}
    if not timely:
        mark, encoding = "bar", {"x": number, "y": {**along, "sort": "-x"}}
    return {
        "mark": mark,
        "encoding": encoding,
        "title": t("{figures} by {groups}", figures=figure, groups=group),
    }


def of_query(
    query: Query,
    table: AskedTable,
    result: TableShown,
    doubts: Sequence[str] = (),
    marked: Collection[str] = frozenset(),
) -> str:
    """The answer to a question that was understood. How its words were taken stands before any
    figure, what is doubtful of it right behind."""
    body = _body(query, table, result, marked)
    counted = [c for _, c in query.figures]
    told = [(c, test) for c, test, _ in query.filters if test != "empty"]
    counted += [c for c, test in told if c.kind == "date" or test == "<>"]
    gaps = dict.fromkeys(c for c in counted if c.nulls and query.kind != "share")
    empty = [
        t(
            "{column} is empty in {empty} of {rows} rows; these do not count.",
            column=f"`{c.name}`",
            empty=in_digits(c.nulls),
            rows=in_digits(table.rows),
        )
        for c in gaps
    ]
    united = n_("{n} table of one shape", "{n} tables of one shape", len(table.united))
    where = united if table.united else f"`{table.name}`"
    read = t("Read as: {query}, in {where}.", query=in_words(query), where=where)
    return "\n\n".join([*sorted(query.said), body, *doubts, *empty, read])


def _body(query: Query, table: AskedTable, result: TableShown, marked: Collection[str]) -> str:
    if query.kind == "rows":
        some = n_("{n} row meets this.", "{n} rows meet this.", result["total"])
        count = some if query.filters else n_("{n} row", "{n} rows", result["total"])
        plain = [c.name for c in table.columns if c.kind in ("year", "id")]
        return f"{count}\n\n{_grid(result, plain)}" if result["rows"] else count
    plain = _plain(query, result)
    if not result["rows"] or (not query.groups and result["rows"][0][0] is None):
        return t("There is no value for this: no row meets the conditions, or all cells are empty.")
    grouped = query.groups and not (query.kind == "top" and query.limit == 1)
    return _grid(result, plain, marked) if grouped else _sentence(query, result, plain)


def _plain(query: Query, result: TableShown) -> list[str]:
    """Columns whose numbers are names: groups, and years."""
    years = [
        _named(figure)
        for figure in query.figures
        if figure[1].kind == "year" and figure[0] != "distinct"
    ]
    return [*result["columns"][: len(query.groups)], *years]


def in_one_line(query: Query, result: TableShown) -> str:
    """A result of one row within a sentence: `total revenue **360**`."""
    if query.kind == "top":
        return _sentence(query, result, _plain(query, result)).removesuffix(".")
    names, types, plain = result["columns"], result["types"], _plain(query, result)
    return ", ".join(
        f"{name} **{cell(value, kind, plain=name in plain)}**"
        for name, kind, value in zip(names, types, result["rows"][0], strict=True)
    )


def _sentence(query: Query, result: TableShown, plain: Sequence[str]) -> str:
    rows, types, names = result["rows"], result["types"], result["columns"]
    values = [
        cell(value, kind, plain=name in plain)
        for name, kind, value in zip(names, types, rows[0], strict=True)
    ]
    if query.kind == "top":
        first = t(" and ").join(f"**{cell(row[0], plain=True)}**" for row in rows[:ROWS_SHOWN])
        each = t(" each") if len(rows) > 1 else ""
        if (more := result["total"] - ROWS_SHOWN) > 0:
            first += n_(" and {n} other", " and {n} others", more)
        return f"{first}: {names[-1]} **{values[-1]}**{each}."
    asked = len(names) if query.kind == "figures" else 1
    figures = [
        f"{name[:1].upper()}{name[1:]}: **{value}**"
        for name, value in zip(names[:asked], values, strict=False)
    ]
    return "\n\n".join(figures) + "".join(
        f", {name}: {value}" for name, value in zip(names[asked:], values[asked:], strict=True)
    )


def of_sql(result: TableShown) -> str:
    """The result of SQL that the user typed."""
    if not result["rows"]:
        return t("The query gave no rows.")
    count = n_("The query gave {n} row.", "The query gave {n} rows.", result["total"])
    plain = [
        name
        for number, (name, kind) in enumerate(zip(result["columns"], result["types"], strict=True))
        if not is_grouped(name, kind, [row[number] for row in result["rows"]])
    ]
    return f"{count}\n\n{_grid(result, plain)}"


def of_profile(table: AskedTable, limit: int) -> str:
    """What a table holds: so many of its columns."""
    rows = []
    for c in table.columns[:limit]:
        ends = t(" to ").join(
            cell(end, plain=c.kind != "figure") for end in (c.min, c.max) if end is not None
        )
        values = cell(", ".join(c.values[:4])) or ends
        counts = [in_digits(c.nulls), in_digits(c.distinct)]
        rows.append([cell(c.name), c.type.lower(), *counts, values])
    heads = [t("column"), t("type"), t("empty"), t("different"), t("values")]
    columns = markdown_table(heads, rows, ["", "", "BIGINT", "BIGINT", ""])
    several = in_digits(len(table.columns))
    cut = [t("The first of {n} columns are shown here.", n=several)]
    size = [
        n_("{n} row", "{n} rows", table.rows),
        n_("{n} column", "{n} columns", len(table.columns)),
    ]
    head = t(
        "**{file}** (table {table}): {size}.",
        file=table.file_name,
        table=f"`{table.name}`",
        size=", ".join(size),
    )
    return "\n\n".join([head, columns, *(cut if len(table.columns) > limit else [])])


def of_passages(head: str, passages: Sequence[PassageShown], notes: Sequence[str] = ()) -> str:
    """The best passages, quoted with their places."""
    quotes = [
        f"{_quote(p['text'])}\n\n— {cell(p['name'])}, {p['place']} {_citation(p)}".rstrip()
        for p in passages[:QUOTES]
    ]
    remark = n_(
        "The first of {n} place are shown; all of them open with the step above.",
        "The first of {n} places are shown; all of them open with the step above.",
        len(passages),
    )
    more = [remark] if len(passages) > QUOTES else []
    return "\n\n".join((head, *quotes, *more, *notes))


def _quote(text: str) -> str:
    lines = [line.strip() for line in unmarked(text).splitlines() if line.strip()]
    return "\n".join(f"> {_defused(line)}  " for line in lines)


def _citation(passage: PassageShown) -> str:
    """What makes a quotation a mark in the page: its locator and its words."""
    words = " ".join(
        unmarked(passage["text"]).translate(str.maketrans('"[]', "'()")).strip("… \n").split()
    )
    return (
        f'[{passage["handle"]}#{passage["place"]} "{words}"]'
        if passage.get("handle") and len(words) >= 12
        else ""
    )


def _defused(text: str) -> str:
    """Without what a page would draw as HTML or fetch as a picture."""
    return text.replace("<", "&lt;").replace("![", "[")

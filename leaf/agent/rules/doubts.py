"""What is doubtful of a figure: texts that are no dates where a column is taken for dates, amounts of
several currencies, and rows that are called a total, or have no name where others have one, and that
nothing proves to be totals. They stay in the data, and an answer that counts them says so, with what
it would be without them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from leaf.agent.column_kinds import is_currency, is_money
from leaf.agent.rules import answers
from leaf.agent.rules.kinds import Query
from leaf.agent.rules.tables import AskedColumn, AskedTable
from leaf.language.text import in_digits, n_, t
from leaf.readers.tabular.labels import label_of
from leaf.shapes.raw import ToolInput
from leaf.shapes.results import Output, TableShown
from leaf.tables.sql import literal, quoted

TEXTS = 8
"""Columns of text, from the left, in which a row is called a total."""
NAMED = 3
"""Rows that a sentence names."""


@dataclass(frozen=True)
class CalledTotal:
    """A row of data that a word calls a total, or that has no name and is the sum of others."""

    table: str
    row: int
    """Its number in the file."""
    label: str
    """Empty for one without a name."""
    column: str
    """Where the word stands; empty without one."""
    value: str = ""
    """The figure that was asked for, as it stands in the row."""

    @property
    def shown(self) -> str:
        name = f"“{answers.cell(self.label)}”" if self.label else str(self.row)
        return name + (f" ({self.value})" if self.value else "")


Looking = Generator[
    list[tuple[str, ToolInput]], Sequence[Output], "tuple[list[str], frozenset[str]]"
]
"""Calls of tools, and what is to be said of their results, with the names to mark."""


def looked_at(table: AskedTable, query: Query, grid: TableShown) -> Looking:
    """What to say of cells that are no dates, of currencies, and of rows that are counted and called
    a total."""
    sentences = list[str]()
    if sql := undated_sql(query, table):
        [result] = yield [("query_tables", {"sql": sql})]
        sentences = said_of_undated(result["data"].get("table"))
    if sql := mixed_sql(query, table):
        [result] = yield [("query_tables", {"sql": sql})]
        sentences += said_of_mixed(result["data"].get("table"))
    more, marked = yield from _totals(table, query, grid)
    return [*sentences, *more], marked


def _totals(table: AskedTable, query: Query, grid: TableShown) -> Looking:
    """What to say of rows that are counted and called a total, and the names to mark."""
    if query.kind == "rows" or not (sql := rows_sql(query, table)):
        return [], frozenset()
    [result] = yield [("query_tables", {"sql": sql})]
    if not (shown := result["data"].get("table")):
        return [], frozenset()
    called = called_totals(query, table, shown)
    # What no word calls a total is one where the figure is a multiple of what it is without.
    if by_sum := not called and is_total(query):
        called = called_totals(query, table, shown, all_of_them=True)
    if not called:
        return [], frozenset()
    if not is_single(query):
        return said_of_groups(query, called, grid)
    [rest] = yield [("query_tables", {"sql": rest_sql(query, table, called)})]
    without = rest["data"].get("table")
    if without and by_sum and not is_multiple(grid, without):
        return [], frozenset()
    return said_of_single(query, called, grid, without) if without else [], frozenset()


def undated_sql(query: Query, table: AskedTable) -> str:
    """Of each column of texts that a query takes for dates: its name, how many of its cells are
    none, one of these, and the number of rows. Empty where there is no such column."""
    every = [
        c for part in (query.figures, query.groups, query.filters) for one in part for c in one
    ]
    columns = dict.fromkeys(
        c for c in every if isinstance(c, AskedColumn) and (c.kind, c.type) == ("date", "VARCHAR")
    )
    return " UNION ALL ".join(
        f'SELECT {literal(c.name)} AS "column", count({quoted(c.name)}) - count({c.sql}) AS '
        f'"no date", min({quoted(c.name)}) FILTER ({c.sql} IS NULL) AS "value", count(*) AS "rows" '
        f"FROM {table.source}"
        for c in columns
    )


def said_of_undated(grid: TableShown | None) -> list[str]:
    return [
        t(
            "⚠ {column} holds no date in {n} of {rows} rows, as in “{value}”: these are read as empty.",
            column=f"`{name}`",
            n=in_digits(count),
            rows=in_digits(rows),
            value=answers.cell(value),
        )
        for name, count, value, rows in (grid["rows"] if grid else ())
        if count
    ]


def mixed_sql(query: Query, table: AskedTable) -> str:
    """The column of currencies, and how many of them and which one figure of money puts together;
    empty where it is asked by currency, or there is none."""
    money = any(f not in ("count", "distinct") and is_money(c.words) for f, c in query.figures)
    column = next((c for c in table.columns if c.kind == "text" and is_currency(c.words)), None)
    if column is None or not money or any(c == column for c, _ in query.groups):
        return ""
    name, met = quoted(column.name), " AND ".join(answers.condition(*one) for one in _limits(query))
    groups = ", ".join(answers.key_of(*group) for group in query.groups)
    return (
        f'SELECT {literal(column.name)} AS "column", count(DISTINCT {name}) AS "currencies", '
        f"string_agg(DISTINCT {name}, ', ' ORDER BY {name}) AS \"which\" FROM {table.source}"
        f"{f' WHERE {met}' if met else ''}{f' GROUP BY {groups}' if groups else ''} "
        "ORDER BY 2 DESC LIMIT 1"
    )


def said_of_mixed(grid: TableShown | None) -> list[str]:
    return [
        t(
            "⚠ This puts amounts of {n} currencies together ({values} in {column}).",
            n=in_digits(count),
            values=answers.cell(which),
            column=f"`{name}`",
        )
        for name, count, which in (grid["rows"] if grid else ())
        if count > 1
    ]


def rows_sql(query: Query, table: AskedTable) -> str:
    """Those of the doubtful rows that a query counts; empty for a table without any."""
    texts = [c for c in table.columns if c.type == "VARCHAR"][:TEXTS]
    if not texts or not table.doubtful:
        return ""
    figure = next((c for _, c in query.figures if c.name), None)
    cells = [quoted(c.name) for c in [*texts, *([figure] if figure else [])]]
    met = "".join(f" AND {answers.condition(*condition)}" for condition in _limits(query))
    return " UNION ALL ".join(
        f'SELECT {literal(name)} AS "table", _row AS "row", {", ".join(cells)} '
        f"FROM {quoted(name)} WHERE _row IN ({_listed(rows)}){met}"
        for name, rows in table.doubtful
    )


def _limits(query: Query) -> Sequence[tuple[AskedColumn, str, tuple[str, ...]]]:
    """What rows must meet to be counted; a share is of all of them."""
    return () if query.kind == "share" else query.filters


def called_totals(
    query: Query, table: AskedTable, found: TableShown, *, all_of_them: bool = False
) -> list[CalledTotal]:
    """The rows of `rows_sql` that a word calls a total, or whose texts are all empty; or all of
    them, whatever they are called."""
    texts = [c.name for c in table.columns if c.type == "VARCHAR"][:TEXTS]
    figure = next((c for _, c in query.figures if c.name), None)
    called = []
    for name, number, *cells in found["rows"]:
        words = [
            (c, x) for c, x in zip(texts, cells, strict=False) if isinstance(x, str) and x.strip()
        ]
        at = next(((c, x) for c, x in words if all_of_them or label_of(x)), None)
        at = at or (None if words else ("", ""))
        if at is None:
            continue
        value = cells[-1] if figure and cells[-1] is not None else ""
        amount = answers.cell(value, found["types"][-1]) if value != "" else ""
        called.append(CalledTotal(str(name), int(number), at[1], at[0], amount))
    return called


def is_total(query: Query) -> bool:
    """Whether a query adds up rows to one figure."""
    return not query.groups and {function for function, _ in query.figures} == {"sum"}


def is_multiple(found: TableShown, rest: TableShown) -> bool:
    """Whether a total is two or more times what it is without the doubtful rows: then they are sums
    that leave no row over."""
    cells = [
        (one, other)
        for one, other in zip(found["rows"][0], rest["rows"][0], strict=True)
        if isinstance(one, int | float | Decimal) and isinstance(other, int | float | Decimal)
    ]
    times = [float(one) / float(other) if other else 0.0 for one, other in cells]
    return bool(times) and all(t > 1.5 and abs(t - round(t)) < 1e-9 for t in times)


def rest_sql(query: Query, table: AskedTable, called: Sequence[CalledTotal]) -> str:
    """The same query without these rows."""
    rows: dict[str, list[int]] = {}
    for one in called:
        rows.setdefault(one.table, []).append(one.row)
    return answers.sql_of(query, replace(table, without=tuple(_frozen(rows))))


def _frozen(rows: Mapping[str, list[int]]) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield from ((name, tuple(numbers)) for name, numbers in rows.items())


def _listed(rows: Sequence[int]) -> str:
    return ", ".join(map(str, rows))


def is_single(query: Query) -> bool:
    """Whether a query gives one row, which can be told beside another in a sentence."""
    return not query.groups or (query.kind == "top" and query.limit == 1)


def apart(query: Query, called: Sequence[CalledTotal]) -> list[CalledTotal]:
    """Those that make a group of their own, under the word that calls them a total."""
    keys = {column.name for column, step in query.groups if not step}
    return [one for one in called if one.column in keys]


def said_of_groups(
    query: Query, called: Sequence[CalledTotal], shown: TableShown
) -> tuple[list[str], frozenset[str]]:
    """Sentences on the rows that a result of several rows counts, and the names under which some
    of them are shown."""
    alone = apart(query, called)
    names = {str(cell) for row in shown["rows"] for cell in row[: len(query.groups)]}
    marked = [one for one in alone if one.label in names]
    shared = query.kind == "share"
    inside = [one for one in called if one not in alone or (shared and one not in marked)]
    notes = [_marked(marked, shared=shared)] if marked else []
    return notes + ([_counted(inside)] if inside else []), frozenset(one.label for one in marked)


def _marked(called: Sequence[CalledTotal], *, shared: bool) -> str:
    sentence = n_(
        "⚠ {rows} may be a total of the other rows. Nothing proves it, so it is kept as data.",
        "⚠ {rows} may be totals of other rows. Nothing proves it, so they are kept as data.",
        len(called),
        rows=_names(called),
    )
    return f"{sentence} {t('The shares count it too.')}" if shared else sentence


def _counted(called: Sequence[CalledTotal]) -> str:
    if not any(one.label for one in called):
        return n_(
            "⚠ This counts row {rows}, which has no name and may be a total of other rows.",
            "⚠ This counts {n} rows without a name that may be totals of other rows: {rows}.",
            len(called),
            rows=_names(called),
        )
    return n_(
        "⚠ This counts the row {rows}, which may be a total of other rows.",
        "⚠ This counts {n} rows that may be totals of other rows: {rows}.",
        len(called),
        rows=_names(called),
    )


def _names(called: Sequence[CalledTotal]) -> str:
    names = list(dict.fromkeys(one.shown for one in called))
    if len(names) > NAMED:
        names = [*names[:NAMED], "…"]
    return ", ".join(names)


def said_of_single(
    query: Query, called: Sequence[CalledTotal], found: TableShown, rest: TableShown
) -> list[str]:
    """That a figure counts these rows, and what it is without them; nothing where it is the same."""
    if found["rows"] == rest["rows"]:
        return []
    without = n_(
        "Without it: {figures}.",
        "Without them: {figures}.",
        len(called),
        figures=answers.in_one_line(query, rest),
    )
    return [f"{_counted(called)} {without}"]

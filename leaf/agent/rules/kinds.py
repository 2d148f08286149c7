"""The kinds of questions: what is asked of a table, and which letters ask for it (`grammar.py` makes
letters of words). A question is one of `HEADS`, then any of `TAILS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from leaf.agent.column_kinds import is_id, is_rate, name_words
from leaf.agent.rules.tables import NO_COLUMN, AskedColumn, AskedTable
from leaf.language.text import t

Item = tuple[str, Any]
"""A letter and what it stands for."""


@dataclass(frozen=True)
class Query:
    """What a question asks of a table."""

    kind: str = "figures"
    """`figures` (grouped or not), `top`, `share`, `rows` (those that meet all filters)."""
    figures: tuple[tuple[str, AskedColumn], ...] = ()
    """Function and column: `sum` of price, `distinct` of city; `count` of no column counts rows."""
    groups: tuple[tuple[AskedColumn, str], ...] = ()
    """Column and step of time: region by itself, day by `month`."""
    filters: tuple[tuple[AskedColumn, str, tuple[str, ...]], ...] = ()
    """Column, test and what with: `one of` texts; `true`; `between`, `=`, `<>`, `<`, `<=`, `>`,
    `>=` numbers as text; `empty`; `in` (one of them), `since`, `after`, `before`, `between`
    periods: `2023`, `2023-04`, `2023-Q2`. No column for a period: the one that says when.
    """
    rank: str = ""
    """`max` or `min`, for `top`."""
    limit: int = 1
    said: frozenset[str] = field(default=frozenset(), compare=False)
    """What the reader should know of how words were taken."""


ROWS = ("count", NO_COLUMN)
OVER_TIME = (NO_COLUMN, "time")
"""Steps that nothing tells, along the column that says when."""


def allowed(query: Query) -> bool:
    """Whether the parts go together."""
    columns, groups = [column for column, *_ in query.filters], len(query.groups)
    twice = len(set(columns)) < len(columns) or len(set(query.groups)) < groups
    share = groups + len(columns) == 1 and (groups == 1 or query.figures == (ROWS,))
    # `is the most common region North`: what is ranked is not picked out.
    named = {column for column, test, _ in query.filters if test == "one of"}
    ranked = groups == 1 and query.groups[0][0] not in named
    fits = {"share": share, "top": ranked, "rows": not groups}.get(query.kind, groups <= 2)
    return fits and not twice


def is_told_by(column: AskedColumn, query: Query) -> bool:
    """Whether a column may say when what a query picks out was so: `closed_at` of closed ones."""
    picked = [
        word
        for c, test, values in query.filters
        for text in (values if test == "one of" else (c.name,) if test == "true" else ())
        for word in name_words(text)
    ]
    return column.kind == "date" and any(_akin(a, b) for a in column.words for b in picked)


def _akin(one: str, other: str) -> bool:
    """Whether two words begin alike: `ship` and `shipped`, `delivery` and `delivered`."""
    alike = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    return alike >= 4 and alike >= min(len(one), len(other)) - 1


def _of(items: Sequence[Item], roles: str) -> list[Any]:
    return [meaning for role, meaning in items if role in roles]


def _figures(_table: AskedTable, items: Sequence[Item]) -> Query | None:
    """`average price`, `mean and median of a and b`, `prix moyen`, `monthly total units`, `total US
    revenue`, and a bare `revenue`."""
    functions, columns, notes = _of(items, "f"), _of(items, "K"), frozenset[str]()
    if any(one[0] == two[0] == "f" and not _pair(one, two) for one, two in pairwise(items)):
        return None
    functions = list(dict.fromkeys(functions))
    ends = all(f in ("max", "min") for f in functions)
    if not functions and all(c.is_added_up for c in columns):
        functions, notes = ["sum"], frozenset(map(_added_up, columns))
    kinds = {c.kind for c in columns} - {"figure", *(("date", "year") if ends else ())}
    if not functions or kinds or ("sum" in functions and any(is_rate(c.words) for c in columns)):
        return None
    steps = _told((), [(NO_COLUMN, grain) for grain in _of(items, "go")])
    filters = tuple((column, "one of", values) for column, values in _of(items, "V"))
    figures = tuple((f, c) for c in columns for f in functions)
    return Query(figures=figures, groups=steps, filters=filters, said=notes)


def _pair(one: Item, other: Item) -> bool:
    """Whether two functions without a word between them are asked for beside one another: not the
    `highest average`, which is one of the averages."""
    return one[1] == other[1] or {one[1], other[1]} == {"max", "min"}


def _added_up(column: AskedColumn) -> str:
    return t("{column} is added up, as nothing else was said.", column=f"`{column.name}`")


def _count(table: AskedTable, items: Sequence[Item]) -> Query | None:
    """`how many cancelled orders`, `number of different cities`, `how many open …`, `how many high
    priority goals`."""
    filters = tuple((column, "one of", values) for column, values in _of(items, "V"))
    rows, distinct, plural, figure = _of(items, "r"), _of(items, "d"), _of(items, "P"), ROWS
    for column in _of(items, "KP"):
        if rows and filters:
            if column != filters[0][0]:
                return None
        elif column.flag and not distinct:
            filters = (*filters, (column, *column.flag))
        elif (
            rows
            or column.kind == "date"
            or not (distinct or (plural and column.kind in ("text", "id")))
        ):
            return None
        else:
            figure = ROWS if table.is_key(column) else ("distinct", column)
    return Query(figures=(figure,), filters=filters)


def _rows(table: AskedTable, items: Sequence[Item]) -> Query | None:
    """The number of rows, but not where their name is that of a figure: `most revenue`. `open
    orders by region`, `daily orders`, `total orders`; the number of different ones where their name
    is that of ids: `customers by region`."""
    rows, functions = _of(items, "r"), _of(items, "f")
    names = rows or [c for c in _of(items, "P") if is_id(c.words)]
    if not names or "figure" in rows or functions not in ([], ["sum"]):
        return None
    query = _count(table, items)
    steps = _told((), [(NO_COLUMN, grain) for grain in _of(items, "go")])
    return replace(query, groups=steps) if query else None


def _listed(table: AskedTable, items: Sequence[Item]) -> Query | None:
    """`show all orders`, `list open orders`, `which orders` meet a condition."""
    query = None if "figure" in _of(items, "r") else _count(table, items)
    return Query("rows", filters=query.filters) if query else None


def _common(_table: AskedTable, items: Sequence[Item]) -> Query | None:
    """`the most common category`, `the 3 most common categories`."""
    [column] = _of(items, "K")
    limit = next(iter(_of(items, "N")), "5" if column.plural else "1")
    return _ranked(Query(figures=(ROWS,)), ("K", column), _of(items, "l")[0], limit)


def _missing(_table: AskedTable, items: Sequence[Item]) -> Query | None:
    """`how many missing values in age`, `which percentage of ages is empty`."""
    kind = "share" if items[0][0] == "p" else "figures"
    filters = tuple((column, "empty", ()) for column in _of(items, "KP"))
    return Query(kind, figures=(ROWS,), filters=filters)


def _share(table: AskedTable, items: Sequence[Item]) -> Query | None:
    """`share of revenue by region`, `what percentage of orders are cancelled`."""
    rows = _of(items, "r")
    query = _rows(table, items) if rows else _figures(table, items)
    return (
        replace(query, kind="share")
        if query
        and query.figures[0][0] in ("sum", "count")
        and not query.groups
        and "repeated" not in rows
        else None
    )


def _top(table: AskedTable, items: Sequence[Item]) -> Query | None:
    """`top 5 products by total revenue`."""
    at = next(i for i, (role, _) in enumerate(items) if role == "b")
    query = _figures(table, _ranking(table, items[at - 1], items[at:], "max"))
    return _ranked(query, items[at - 1], items[0][1], next(iter(_of(items, "N")), "5"))


def _which(table: AskedTable, items: Sequence[Item], limit: str = "1") -> Query | None:
    """`which region has the highest total revenue`, `which month had the most open orders`."""
    items = items[1:] if items[0][0] == "i" else items
    at = 2 if items[2][0] in "mf" and items[2][1] in ("max", "min") else len(items) - 1
    key, rank = items[1], str(items[at][1])
    others = [item for i, item in enumerate(items[2:], 2) if i != at]
    rest = _ranking(table, key, others, rank, most=items[at][0] == "m")
    query = _rows(table, rest) if _of(rest, "rP") else _figures(table, rest)
    return _ranked(query, key, rank, limit) if rank in ("max", "min") else None


def _best(table: AskedTable, items: Sequence[Item]) -> Query | None:
    """`the five products with the highest total revenue`, `which 3 months had the most orders`."""
    at = next(at for at, (role, _) in enumerate(items) if role == "N")
    rest = [item for i, item in enumerate(items[at:]) if i != 2 or item[0] != "i"]
    return _which(table, rest, limit=items[at][1])


def _ranking(
    table: AskedTable, key: Item, items: Sequence[Item], rank: str, *, most: bool = True
) -> Sequence[Item]:
    """The words of a figure, with the function that nothing else says: the highest price or
    population is that of a row, but not `the most points`; so is the highest revenue where each row
    is a product of its own."""
    columns = [] if _of(items, "f") else _of(items, "K")
    single = key[0] == "K" and key[1].distinct == table.rows
    of_row = columns and (
        single or is_rate(columns[0].words) or not (most or columns[0].is_added_up)
    )
    return [("f", rank), *items] if of_row else items


def _ranked(query: Query | None, key: Item, rank: str, limit: str) -> Query | None:
    group = (key[1], "") if key[0] == "K" else (NO_COLUMN, key[1])
    if (
        query is None
        or query.groups
        or len(query.figures) != 1
        or not group[0].is_group
        or group[0].kind == "date"
        or not re.fullmatch(r"[1-9]\d{0,2}", limit)
    ):
        return None
    return replace(query, kind="top", groups=(group,), rank=rank, limit=int(limit))


def _by(query: Query, items: Sequence[Item]) -> Query | None:
    """`by region`, `by month of day`, `per month and region`, `over time`. `revenue per unit` is a
    ratio, not a group."""
    columns, steps = _of(items, "K"), _of(items, "go")
    if steps and {"a", "n"}.isdisjoint(role for role, _ in items):
        groups = [(columns[0] if columns else NO_COLUMN, step) for step in steps]
        fits = all(c.kind == "date" for c in columns)
    else:
        groups = [(NO_COLUMN, m) if role in "go" else (m, "") for role, m in items if role in "Kgo"]
        fits = all(
            c.is_group and (c.kind != "figure" or items[0][1] == "by" or not c.is_added_up)
            for c in columns
        )
    return replace(query, groups=_told(query.groups, groups)) if fits else None


_Groups = Sequence[tuple[AskedColumn, str]]


def _told(groups: _Groups, more: _Groups) -> tuple[tuple[AskedColumn, str], ...]:
    """`developed by month` is by month: a step that is told takes the place of one that is not."""
    every = [*groups, *more]
    told = [group for group in every if group != OVER_TIME]
    timely = any(step or column.is_time for column, step in told)
    return tuple(told if timely else dict.fromkeys(every))


def _each(query: Query, items: Sequence[Item]) -> Query | None:
    """`in 2022 and 2023`, `of men versus women`: each by itself."""
    values, periods = _of(items, "V"), _of(items, "Y")
    columns = dict.fromkeys(column for column, _ in values) or {NO_COLUMN: None}
    steps = dict.fromkeys(map(grain, periods)) or {"": None}
    if query.kind != "figures" or len(columns) > 1 or len(steps) > 1:
        return None
    [column], [step] = columns, steps
    operands = tuple(dict.fromkeys([*periods, *(text for _, texts in values for text in texts)]))
    condition = (column, "in" if periods else "one of", operands)
    groups = _told(query.groups, [(column, step)])
    return replace(query, groups=groups, filters=(*query.filters, condition))


def grain(period: str) -> str:
    """The step of time that a period is one of."""
    if "Q" in period:
        return "quarter"
    return ("year", "month", "day")[period.count("-")]


def _where(query: Query, items: Sequence[Item]) -> Query | None:
    """`in North or South`, `region is North`; `in 2023`, `since March 2023`; `price above 5`,
    `class 3`; `returned`."""
    if _of(items, "z"):
        [column] = _of(items, "K")
        return replace(query, filters=(*query.filters, (column, "empty", ())))
    values, periods, numbers = (_of(items, role) for role in "VYN")
    if _of(items, "w"):  # `between 60 and 30` as well
        periods, numbers = sorted(periods), sorted(numbers, key=float)
    columns = list(dict.fromkeys([*_of(items, "K"), *(column for column, _ in values)])) or [
        NO_COLUMN
    ]
    test = "between" if _of(items, "w") else next(iter(_of(items, "hs")), "in" if periods else "=")
    if values:
        fits, test = len(columns) == 1, "one of"
    elif periods:
        fits = columns[0] == NO_COLUMN or columns[0].tells(periods)
    elif numbers:
        fits = {
            "figure": True,
            "id": not columns[0].asked,
            "year": test not in ("between", "="),
        }.get(columns[0].kind, False)
    else:
        test, values_meant = columns[0].condition
        fits = bool(test and not (query.groups and items[0][0] == "a"))
        values = [(columns[0], values_meant)]
    spelt = [*dict.fromkeys(text for _, texts in values for text in texts), *periods, *numbers]
    return (
        replace(query, filters=(*query.filters, (columns[0], test, tuple(spelt)))) if fits else None
    )


_FIGURE = "(?:g?f(?:af|f)*i?V?K(?:[an]K)*|g?Kf|g?K(?:[an]K)*)"
_ROWS = "(?:VK|[VK])?r"
_RANKED = f"[mf]{_FIGURE}|m(?:{_ROWS}|P)|{_FIGURE}f"
HEADS: dict[Callable[[AskedTable, Sequence[Item]], Query | None], tuple[str, ...]] = {
    _figures: (f"e?o?{_FIGURE}",),
    _count: (f"c(?:{_ROWS}|P|dK|K|V(?:P|dK))", "c(?!i?[Trbo]|$)", "cV"),
    _missing: ("[cp]?i?zi?K", "[cp]i?[KP]q?z"),
    _rows: (
        f"(?:{_ROWS}|P)(?=[bo])",
        f"[og](?:{_ROWS}|P)",
        f"e(?:{_ROWS}|P)(?=[biw])",
        f"f{_ROWS}",
    ),
    _listed: (f"v{_ROWS}", f"k{_ROWS}(?=.)"),
    _common: ("k?N?lK", "k?N?Kl"),
    _share: (f"pi?(?:r|{_FIGURE})",),
    _top: (f"tN?Kb{_FIGURE}",),
    _which: (f"i?k[Kg](?:{_RANKED})",),
    _best: (f"k?N[Kg]i?(?:{_RANKED})",),
}
"""What can be asked for, and its letters: a pattern for each place at which it can end."""
TAILS: dict[Callable[[Query, Sequence[Item]], Query | None], tuple[str, ...]] = {
    _by: ("bK|bg|o", "b[Kg][an][Kg]|bgiK"),
    _where: (
        "a?i?(?:Kq?)?V(?:[au]V)*|a?i?(?:KhN|KwNaN|Kq?N|h?NK|K[iq]?Y(?:uY)*|K?sY|K?i?wYaY)",
        "a?i?V(?:[au]V)*K",
        "a?i?(?:zK|Kq?z)",
        "a?i?K",
        "a?iY(?:uY)*",
    ),
    _each: ("iY(?:[an]i?Y)+", "[iw]?V(?:ni?V)+", "wYnY"),
    lambda query, _items: query: ("i?T|ir",),
}
"""What it is asked of."""

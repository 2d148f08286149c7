"""Which columns of a table are measures, times, categories and names: from names, types and counts of
values alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from leaf.agent.column_kinds import is_rate
from leaf.agent.rules.tables import AskedColumn, AskedTable

CATEGORIES = 25
"""Most different values of a column that is a breakdown; of more, only the first ones are asked for."""
EACH = 3
"""Rows that a value has at least on average: what nearly every row has to itself makes no groups."""
LONGEST = 40
"""Characters of a value that names something; longer ones are sentences."""
_CODES = frozenset(
    (
        *(
            "id",
            "ids",
            "key",
            "code",
            "codes",
            "zip",
            "zipcode",
            "postcode",
            "plz",
            "serial",
            "sku",
        ),
        *("phone", "fax", "tel", "telephone", "isbn", "issn", "ssn", "iban", "ean", "uuid", "guid"),
        *("index", "idx", "row", "rownum", "unnamed", "hash", "lat", "latitude", "lon", "lng"),
        "longitude",
    )
)
"""Words of a name whose numbers are never computed with, wherever they stand in it."""
_MONEY = frozenset(
    (
        *("revenue", "sales", "sale", "turnover", "profit", "amount", "income", "umsatz", "betrag"),
        *("gewinn", "ventes", "montant", "ventas", "ingresos"),
    )
)
"""Of what is added up, what is asked for first."""
_MADE = frozenset(
    [
        "avg",
        "average",
        "mean",
        "median",
        "std",
        "stddev",
        "variance",
        "cum",
        "cumulative",
        "running",
        "rank",
        "min",
        "max",
    ]
)
"""Words of figures that were made of others: an average of averages says nothing."""
_COUNTS = frozenset(("num", "number", "count", "counts", "total", "anzahl", "nombre", "numero"))
"""Words of whole numbers that are no classes, however few there are."""
FEW = 8
"""Most different whole numbers that are taken for classes; each has ten rows at least."""
_NUMBERED = re.compile(
    r"(?:col|column|spalte|colonne|columna|field|feld|unnamed|var)?[\W_]*\d+", re.IGNORECASE
)
"""Names of columns that have none: those that a reader or another program numbered."""
_DIGITS = re.compile(r"[\d\s.,:/+-]*")
DAYS, MONTHS, QUARTERS = 45, 1100, 3700
"""Days up to which single days, months and quarters are the step of time that fits."""


@dataclass(frozen=True)
class Roles:
    """Columns by what a person would do with them, the likeliest first."""

    measures: tuple[AskedColumn, ...] = ()
    times: tuple[AskedColumn, ...] = ()
    categories: tuple[AskedColumn, ...] = ()
    """A breakdown by these is short enough to read."""
    names: tuple[AskedColumn, ...] = ()
    """More values than one reads, several rows each: the largest of them are asked for."""
    keys: tuple[AskedColumn, ...] = ()
    """A name of its own in each row: rows are ranked by them, and never added up by them."""


def roles_of(table: AskedTable) -> Roles:
    columns = [c for c in table.columns if _is_named(c)]
    measures = [c for c in columns if _is_measure(table, c)]
    measures.sort(
        key=lambda c: (not c.is_added_up, not {*c.words} & _MONEY, is_rate(c.words), not c.words)
    )
    times = [c for c in columns if c.is_time and _varies(table, c) and c.min != c.max]
    times.sort(key=lambda c: c.kind != "date")
    categories = [c for c in columns if _is_category(table, c)]
    categories.sort(key=lambda c: (c.kind not in ("text",), c.distinct < 3, c.distinct > 12))
    texts = [c for c in columns if c.kind == "text" and _names_things(table, c)]
    names = [c for c in texts if CATEGORIES < c.distinct <= (table.rows - c.nulls) / EACH]
    keys = [c for c in texts if c.distinct == table.rows > 5 and c.nulls == 0]
    return Roles(*map(tuple, (measures, times, categories, names, keys)))


def _is_named(c: AskedColumn) -> bool:
    """Whether a person would know it by its name; a year above its figures is one."""
    name = c.name.strip()
    numbered = _NUMBERED.fullmatch(name) and not re.fullmatch(r"(?:19|20)\d\d", name)
    return bool(name) and not numbered and len(name) <= 60


def _varies(table: AskedTable, c: AskedColumn) -> bool:
    """Whether it says something of at least half of the rows, and not of all the same."""
    return c.distinct > 1 and c.nulls * 2 <= table.rows


def _is_measure(table: AskedTable, c: AskedColumn) -> bool:
    if c.kind != "figure" or not _varies(table, c) or {*c.words} & (_CODES | _MADE):
        return False
    low, high = _number(c.min), _number(c.max)
    if low is None or high is None:
        return False
    return c.is_added_up or not _is_code(table, c, low, high)


def _is_code(table: AskedTable, c: AskedColumn, low: float, high: float) -> bool:
    """Whether whole numbers are likely to name things: a few classes, years, row numbers, numbers of
    one length that come once each."""
    if "INT" not in c.type:
        return False
    alone = c.distinct == table.rows - c.nulls
    counted = alone and high - low + 1 == c.distinct
    numbered = alone and c.distinct > 20 and len(str(int(low))) == len(str(int(high))) >= 4
    years = low >= 1500 and high <= 2100 and high - low < 400
    few = c.distinct <= 12 and high - low <= 20 and not {*c.words} & _COUNTS
    return counted or numbered or years or few


def _is_category(table: AskedTable, c: AskedColumn) -> bool:
    filled = table.rows - c.nulls
    if not 2 <= c.distinct <= CATEGORIES or c.distinct * EACH > filled or not _varies(table, c):
        return False
    if c.kind == "text":
        return _names_things(table, c)
    few = "INT" in c.type and c.distinct <= FEW and c.distinct * 10 <= filled
    classes = few and not c.is_added_up and not {*c.words} & (_CODES | _COUNTS)
    return c.kind == "bool" or (c.kind == "figure" and classes)


def _names_things(table: AskedTable, c: AskedColumn) -> bool:
    """Whether its values are words, and short."""
    if {*c.words} & _CODES or not _varies(table, c):
        return False
    values = c.values
    wordy = sum(not _DIGITS.fullmatch(value) for value in values)
    return bool(values) and 2 * wordy > len(values) and max(map(len, values)) <= LONGEST


def _number(value: object) -> float | None:
    try:
        return float(str(value))
    except ValueError:
        return None


def day_of(value: object) -> date | None:
    """The day that the end of a column of dates names."""
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


def steps_of(c: AskedColumn) -> Sequence[str]:
    """The steps of time that fit its range, the best first: empty for each of its own values."""
    if c.kind == "year":
        return ("",)
    first, last = day_of(c.min), day_of(c.max)
    if first is None or last is None:
        return ()
    days = (last - first).days
    fits = [
        ("", 1 < c.distinct <= 2 * DAYS and days <= 2 * DAYS),
        ("month", 32 <= days <= MONTHS),
        ("quarter", 200 <= days <= QUARTERS),
        ("year", days >= 400),
    ]
    best = 0 if days <= DAYS else 1 if days <= MONTHS else 2 if days <= QUARTERS else 3
    ranking = sorted((abs(number - best), step) for number, (step, fit) in enumerate(fits) if fit)
    return tuple(step for _, step in ranking)

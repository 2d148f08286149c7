"""What is wrong or doubled in the rows of data: duplicates, repeated keys, columns that are sums,
dates that are none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leaf.readers.tabular.periods import covering, is_period, period_of
from leaf.readers.tabular.second_lines import continuations
from leaf.readers.tabular.sentinels import sentinels
from leaf.readers.tabular.sql import literal
from leaf.readers.tabular.table_file import KEY, TableFile

if TYPE_CHECKING:
    from leaf.readers.tabular.table_file import Bools, Floats

_DAY = re.compile(
    r"(?i)(?:^|[\W_])(?:date|datum|day|tag|fecha|data|dato|am|on|at|dt|period|month|monat)(?:$|[\W_])"
    r"|日期|日付|날짜|дата"
)
_HEAD = 1_000
"""Rows that are added up before all others are."""
_FEW_PERIODS, _MOST_PERIODS = 4, 5_000
"""Rows of a column of periods at least, and different periods at most."""
_SERIAL = (20_000, 60_000)
"""Spreadsheet days between 1954 and 2064."""


@dataclass(frozen=True)
class Defect:
    """What is wrong, at positions of rows or in a column; -1 where it is in none."""

    kind: str
    text: str
    count: int
    rows: tuple[int, ...] = ()
    column: int = -1
    short: str = ""
    """For a model."""


def defects(table: TableFile, marked: Iterable[int]) -> list[Defect]:
    """Of the rows of data: duplicates, repeated keys, columns that are sums, dates as numbers or in
    several orders."""
    import numpy as np

    data = np.ones(table.rows, dtype=bool)
    data[list(marked)] = False
    return [
        *_duplicates(table, data),
        *_labels_once(table, data),
        *_sum_columns(table, data),
        *_serials(table, data),
        *_mixed_dates(table),
        *_mixed_periods(table, data),
        *_no_values(table),
        *_continued(table, data),
    ]


def _continued(table: TableFile, data: Bools) -> list[Defect]:
    text, rows, column = continuations(table, data)
    return [Defect("rows-continued", text, len(rows), rows, column)] if rows else []


def _duplicates(table: TableFile, data: Bools) -> list[Defect]:
    findings = []
    again: set[int] = set()
    if table.rows > 2 and 1 < len(table.names) <= 200:
        again = set(_repeated(table.hashes(range(len(table.names))), data))
        if 0 < len(again) <= 0.5 * table.rows and len(table.names) > 1:
            text = f"{len(again):,} rows are copies of others."
            if len(again) == 1:
                text = "1 row is a copy of another."
            short = f"{len(again):,} repeated row{'s' if len(again) != 1 else ''}."
            findings.append(
                Defect("duplicate-rows", text, len(again), tuple(sorted(again)), short=short)
            )
    left = data.copy()
    left[list(again)] = False
    for index in [i for i, name in enumerate(table.names[:50]) if KEY.search(name)]:
        kind = table.types[index]
        if not kind.startswith(("VARCHAR", "BIGINT", "INTEGER", "UUID")) or left.sum() < 8:
            continue
        filled = table.filled(index) & left
        repeated = _repeated(table.hashes([index]), filled)
        if repeated and len(repeated) <= 0.1 * filled.sum():
            name, count = table.names[index], len(repeated)
            text = f"'{name}' looks like a key, but {count:,} rows hold a value that came before."
            if count == 1:
                text = f"'{name}' looks like a key, but 1 row holds a value that came before."
            findings.append(Defect("duplicate-keys", text, len(repeated), tuple(repeated), index))
    return findings


def _labels_once(table: TableFile, data: Bools) -> list[Defect]:
    """A first column whose labels stand once each, above rows in which it is empty and all else that
    names them is not: as pivot tables and reports are printed."""
    texts = table.texts
    if texts[:1] != [0] or table.rows < 4 or len(texts) < 2:
        return []
    filled = table.filled(0)[data]
    empty = ~filled
    labels = int(filled.sum())
    if labels < 2 or not filled[0] or empty.sum() < max(2, 0.3 * len(filled)):
        return []
    column = table.column(0)
    counts = table.asked(f"count(DISTINCT {column})", "WHERE " + _WORDY.format(x=column))
    name = next((i for i in texts[1:4] if table.filled(i)[data][empty].all()), None)
    if int(counts[0][0]) < labels or name is None:
        return []
    text = (
        f"'{table.names[0]}' has a value in {labels:,} rows alone, each another one: it may hold for "
        f"the rows below it as well, as in a pivot table."
    )
    first = Defect("labels-once", text, int(empty.sum()), (), 0)
    return [first, *_inner_labels(table, data, filled, range(1, name))]


def _inner_labels(
    table: TableFile, data: Bools, outer: Bools, columns: Iterable[int]
) -> list[Defect]:
    """Columns between such labels and the names of the rows that are printed alike: filled where a
    label of the first column is, and empty below."""
    findings = []
    for index in columns:
        filled = table.filled(index)[data]
        empty = int((~filled).sum())
        if empty > 1 and filled[outer].all():
            text = (
                f"'{table.names[index]}' is empty in {empty:,} rows below one with a value: that may "
                f"hold for them as well, as in a pivot table."
            )
            findings.append(Defect("labels-once", text, empty, (), index))
    return findings


def _sum_columns(table: TableFile, data: Bools) -> list[Defect]:
    """Columns that are, in each row, the sum of two or more columns beside them; or of sums that
    stand among their own columns, as quarters do among months."""
    import numpy as np

    columns = table.numeric[:60]
    if len(columns) < 3 or data.sum() < 2:
        return []
    sample = np.flatnonzero(data)[:20_000]
    values = table.numbers(columns, int(sample[-1]) + 1)[sample]
    sums: dict[int, list[int]] = {}
    left = list(range(len(columns)))
    while fresh := _sums_beside(values, left, sums):
        sums |= fresh
        summed = {m for members in fresh.values() for m in members}
        left = [at for at in left if at not in summed]
    return [_sum_column(table, columns, at, sums[at]) for at in sorted(sums)]


def _sums_beside(
    values: Floats, columns: Sequence[int], known: Mapping[int, Sequence[int]]
) -> dict[int, list[int]]:
    """Of some columns, those that are the sum of others of them beside them -> which these are."""
    import numpy as np

    sums: dict[int, list[int]] = {}
    for at, column in enumerate(columns):
        has_value = ~np.isnan(values[:, column])
        if column in known or has_value.sum() < 2:
            continue
        if len(np.unique(values[has_value, column])) < 2:
            continue
        near = values[has_value][:, list(columns)]
        members = _summed(near, at, -1) or _summed(near, at, 1)
        if members:
            sums[column] = sorted(columns[m] for m in members)
    return sums


def _sum_column(
    table: TableFile, columns: Sequence[int], at: int, members: Sequence[int]
) -> Defect:
    names = ", ".join(table.names[columns[m]] for m in members[:6])
    more = f" and {len(members) - 6} more" if len(members) > 6 else ""
    name = table.names[columns[at]]
    text = f"'{name}' is the sum of {names}{more}: adding them all counts twice."
    return Defect("sum-columns", text, len(members), (), columns[at])


def _serials(table: TableFile, data: Bools) -> list[Defect]:
    import numpy as np

    findings = []
    for index in table.numeric:
        if not _DAY.search(table.names[index]):
            continue
        values = table.numbers([index])[:, 0][data]
        values = values[~np.isnan(values)]
        if (
            len(values) > 1
            and ((values >= _SERIAL[0]) & (values <= _SERIAL[1])).all()
            and len(np.unique(values)) > 1
        ):
            text = (
                f"'{table.names[index]}' holds days as a spreadsheet counts them: "
                f"DATE '1899-12-30' + CAST(\"{table.names[index]}\" AS INTEGER) gives the date."
            )
            findings.append(Defect("date-serials", text, len(values), (), index))
        elif _are_days_in_figures(values):
            name = table.names[index]
            text = (
                f"'{name}' holds days in figures, such as {int(values[0])}: "
                f"strptime(CAST(\"{name}\" AS VARCHAR), '%Y%m%d') gives the date."
            )
            findings.append(Defect("date-serials", text, len(values), (), index))
    return findings


def _are_days_in_figures(values: Floats) -> bool:
    """Whether numbers are year, month and day in eight figures: 20240131."""
    import numpy as np

    if len(np.unique(values)) < 2 or (values % 1 != 0).any():
        return False
    months, days = values // 100 % 100, values % 100
    years = (values >= 1500_01_01) & (values <= 2199_12_31)
    return bool((years & (months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)).all())


def _mixed_dates(table: TableFile) -> list[Defect]:
    findings = []
    for index in table.texts[:50]:
        column = table.column(index)
        if not any(
            _LIKE_DATE.search(str(value))
            for (value,) in table.asked(column, f"WHERE {column} IS NOT NULL LIMIT 20")
        ):
            continue
        orders = _orders(table, column)
        dates = sum(orders.values())
        kinds = [k for k in orders if k != "either" and orders[k]]
        if dates < 2 or dates < 0.8 * int(table.asked(f"count({column})")[0][0]) or len(kinds) < 2:
            continue
        counts = ", ".join(f"{orders[k]:,} {_ORDERS[k]}" for k in orders if orders[k])
        text = f"'{table.names[index]}' holds dates in several orders ({counts}) and stays text."
        findings.append(Defect("dates-mixed", text, dates, (), index))
    return findings


def _no_values(table: TableFile) -> list[Defect]:
    import numpy as np

    findings = []
    for index, value, count in sentinels(table):
        rows = np.flatnonzero(table.numbers([index])[:, 0] == value)
        name, printed = table.names[index], f"{value:.15g}"
        text = (
            f"{count:,} values of '{name}' are {printed}, far from all others: it may stand for no "
            f"value. They are kept as numbers."
        )
        if count == 1:
            text = (
                f"1 value of '{name}' is {printed}, far from all others: it may stand for no value. "
                f"It is kept as a number."
            )
        findings.append(Defect("sentinels", text, count, tuple(map(int, rows)), index))
    return findings


def _mixed_periods(table: TableFile, data: Bools) -> list[Defect]:
    """Columns in which rows of years or quarters stand among those of the months that they cover."""
    findings = []
    for index in table.texts[:50]:
        column = table.column(index)
        some = [v for (v,) in table.asked(column, f"WHERE {column} IS NOT NULL LIMIT 20")]
        if sum(map(is_period, some)) < 0.8 * len(some) or len(some) < _FEW_PERIODS:
            continue
        if int(table.asked(f"approx_count_distinct({column})")[0][0]) > _MOST_PERIODS:
            continue
        values = [value for (value,) in table.asked(column)]
        periods = [period_of(value) if data[row] else None for row, value in enumerate(values)]
        known = [period for period in periods if period]
        longer = covering(known)
        rows = [row for row, period in enumerate(periods) if period in longer]
        if rows and len(known) >= 0.8 * data.sum():
            written = {
                period.length: str(value)
                for period, value in zip(reversed(periods), reversed(values), strict=True)
                if period
            }
            examples = ", ".join(written[length] for length in sorted(written, reverse=True))
            text = (
                f"'{table.names[index]}' holds periods of different lengths ({examples}): {len(rows):,} "
                f"rows cover others, so that a sum or a count over all rows counts the same time again."
            )
            if len(rows) == 1:
                text = (
                    f"'{table.names[index]}' holds periods of different lengths ({examples}): 1 row "
                    f"covers others, so that a sum or a count over all rows counts the same time again."
                )
            findings.append(Defect("periods-mixed", text, len(rows), tuple(rows), index))
    return findings


def _orders(table: TableFile, column: str) -> dict[str, int]:
    """How many dates are written in which order."""
    x = f"trim({column})"
    slash = r"^(\d{1,2})[/-](\d{1,2})[/-](\d{2}|\d{4})$"
    a = f"TRY_CAST(regexp_extract({x}, {literal(slash)}, 1) AS INTEGER)"
    b = f"TRY_CAST(regexp_extract({x}, {literal(slash)}, 2) AS INTEGER)"
    tests = {
        "iso": rf"regexp_full_match({x}, '\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}')",
        "dots": rf"regexp_full_match({x}, '\d{{1,2}}\.\d{{1,2}}\.(\d{{2}}|\d{{4}})')",
        "words": rf"regexp_full_match({x}, '(\d{{1,2}}[ -][A-Za-z]{{3,9}}[ "
        rf"-]\d{{2,4}}|[A-Za-z]{{3,9}} \d{{1,2}}, \d{{4}})')",
        "dmy": f"({a} > 12 AND {a} <= 31 AND {b} <= 12)",
        "mdy": f"({b} > 12 AND {b} <= 31 AND {a} <= 12)",
        "either": f"({a} <= 12 AND {b} <= 12)",
    }
    select = ", ".join(f"count(*) FILTER (WHERE {test})" for test in tests.values())
    return {name: int(n) for name, n in zip(tests, table.asked(select)[0], strict=True)}


_WORDY = "regexp_matches({x}, '[^0-9\\W]{{2}}')"
"""SQL for a text with a word in it, which numbers of things have not."""
_LIKE_DATE = re.compile(r"\w+[-/. ]+\w+[-/., ]+\d")
_ORDERS = {
    "iso": "with the year first",
    "dots": "with dots, day first",
    "words": "with the month as a word",
    "dmy": "with the day before the month",
    "mdy": "with the month before the day",
    "either": "that can be read both ways, as 03/04",
}


_ROUNDED_OFF = 0.05
"""Part of a number that rounding may change."""


def _summed(values: Floats, at: int, step: int) -> list[int]:
    """The neighbours to one side that add up to a column in (nearly) every row."""
    import numpy as np

    total = np.zeros(len(values))
    members: list[int] = []
    other = at + step
    while 0 <= other < values.shape[1] and len(members) < 40:
        total = total + np.nan_to_num(values[:, other])
        members.append(other)
        other += step
        if len(members) < 2:
            continue
        head = slice(_HEAD)
        if (~_close(total[head], values[head, at], 0.0051)).sum() > 0.02 * len(total) + 1:
            continue  # these alone are too many
        close = _close(total, values[:, at], 0.0051 * bool((total % 1).any()))
        telling = close[(total != 0) | (values[:, at] != 0)]  # zeros are the sum of zeros
        if len(telling) > 1 and telling.mean() >= 0.98:
            used = [m for m in members if np.nan_to_num(values[:, m]).any()]
            return used if len(used) > 1 else []
    return []


def _close(total: Floats, printed: Floats, loose: float) -> Bools:
    """Where sums are what is printed, but for rounding. Of numbers as small as what is rounded off,
    all would be near all."""
    import numpy as np

    sizes = (float(np.median(np.abs(some[some != 0]))) for some in (total, printed) if some.any())
    size = min([1.0, *sizes])
    near = 1e-6 * np.maximum(size, np.abs(total)) + min(loose, _ROUNDED_OFF * size)
    return np.asarray(np.abs(total - printed) <= near)


def _repeated(hashes: Any, data: Any) -> list[int]:
    """Positions of rows whose hash came before."""
    import numpy as np

    rows = np.flatnonzero(data)
    known = np.sort(hashes[rows])
    if not (known[1:] == known[:-1]).any():
        return []
    order = rows[np.argsort(hashes[rows], kind="stable")]
    same = hashes[order][1:] == hashes[order][:-1]
    return [int(r) for r in np.sort(order[1:][same])]

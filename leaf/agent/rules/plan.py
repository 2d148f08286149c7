"""From a reading to one SQL query, a chart if one was asked for, and the words that say how the question was understood."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from leaf.agent.rules.profiles import Column, TableProfile
from leaf.agent.rules.reading import GROUP_WORDS, Condition, Named, Reading, in_words, where
from leaf.agent.rules.words import word_set

Json = dict[str, Any]

ROWS_LISTED = 20
BINS = 20
POINTS = 2_000

_AGGREGATES = (
    ("median", ("median",)),
    ("avg", ("average", "mean", "avg", "durchschnitt", "mittelwert", "typical")),
    ("stddev", ("standard deviation", "stddev", "std")),
    ("sum", ("total", "sum", "overall", "summe", "gesamt", "insgesamt", "combined", "add up")),
    ("min", ("minimum", "min", "minimal")),
    ("max", ("maximum", "max", "maximal")),
)
_COUNT = ("how many", "number of", "count", "anzahl", "wie viele", "how often")
_DESCENDING = word_set(
    """
    highest largest biggest greatest most top best longest oldest latest newest expensive hochst meist
    grosst teuerst
    """
)
_ASCENDING = word_set(
    """
    lowest smallest least bottom worst fewest shortest youngest earliest cheapest niedrigst kleinst wenigsten
    """
)
_SUPERLATIVES = frozenset((*_DESCENDING, *_ASCENDING)) - {"top", "bottom", "best", "worst"}
_IMPLIED = {
    "expensive": ("price", "cost", "preis"),
    "cheapest": ("price", "cost", "preis"),
    "teuerst": ("preis", "price"),
    "oldest": ("age", "alter"),
    "youngest": ("age", "alter"),
    "longest": ("duration", "length", "dauer"),
    "shortest": ("duration", "length", "dauer"),
}
_GRAINS = {
    "month": "month",
    "monthly": "month",
    "monat": "month",
    "monatlich": "month",
    "year": "year",
    "yearly": "year",
    "annual": "year",
    "annually": "year",
    "jahr": "year",
    "quarter": "quarter",
    "quarterly": "quarter",
    "quartal": "quarter",
    "week": "week",
    "weekly": "week",
    "woche": "week",
    "day": "day",
    "daily": "day",
    "tag": "day",
    "weekday": "weekday",
    "hour": "hour",
}
_CHARTS = word_set("chart plot graph visualise visualize draw diagram histogram pie scatter diagramm")
_TREND = ("over time", "trend", "timeline", "development", "verlauf", "over the year", "over the month")
_WORDS = {
    "sum": "total",
    "avg": "average",
    "median": "median",
    "min": "lowest",
    "max": "highest",
    "stddev": "standard deviation of",
}
_ROWS = word_set("row record entry line datensatz zeile")


class UnclearError(Exception):
    """The question cannot be carried out as it stands; says why, for a person."""


@dataclass(frozen=True)
class Measure:
    """A figure that is asked for."""

    sql: str
    name: str
    """Name of the result's column, and of the figure in words."""
    read_as: str
    """How the question was understood: sum of `revenue`."""


@dataclass(frozen=True)
class Plan:
    """A query and what its result will be."""

    sql: str
    shape: str
    """`value`, `groups`, `series`, `rows` or `share`."""
    read_as: str
    table: TableProfile
    measures: tuple[Measure, ...] = ()
    groups: tuple[str, ...] = ()
    """Names of the result's columns that are groups."""
    rank: str = ""
    """`highest` or `lowest`, where one end was asked for."""
    chart: Json | None = None
    """Vega-Lite spec without data."""
    notes: tuple[str, ...] = ()
    plain: frozenset[str] = field(default_factory=frozenset)
    """Result columns whose numbers are years or ids, to be written without separators."""


def make_plan(reading: Reading) -> Plan:
    """The query for a reading. Raises UnclearError."""
    return _Planner(reading).plan()


class _Planner:
    """Decides step by step; each step takes what it needs of the reading."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.table = reading.table
        self.notes = list(reading.notes)
        self.named = _without_functions([n for n in reading.named if not self._is_row(n)])
        self.rows_named = reading.table_named or any(self._is_row(n) for n in reading.named)
        claimed = reading.claimed - {
            i for n in reading.named if n not in self.named and not self._is_row(n) for i in range(n.first, n.end)
        }
        self.free = ["·" if i in claimed else stem for i, stem in enumerate(reading.stems)]
        """The words that are no part of a column's name, a value or a condition: only these ask for something."""
        self.conditions: list[Condition] = list(reading.conditions)
        self.descending = any(w in self.free for w in _DESCENDING)
        self.ascending = not self.descending and any(w in self.free for w in _ASCENDING)
        self.superlative = any(w in _SUPERLATIVES for w in self.free)
        self.limit = self._limit()
        self.counting = self.says(*_COUNT)
        self.distinct = self.says("distinct", "unique", "different", "verschiedene")
        self.share = self.says("share", "percentage", "percent", "proportion", "%", "anteil")
        self.wants_chart = any(w in self.free for w in _CHARTS)

    def says(self, *phrases: str) -> bool:
        """Whether one of the phrases, in stems, stands among the free words."""
        text = f" {' '.join(self.free)} "
        return any(f" {phrase} " in text for phrase in phrases)

    def _is_row(self, named: Named) -> bool:
        """`goals` over a table with one row for each goal_id: the rows themselves are meant, unless they are grouped by."""
        column = named.column
        return column.is_id and column.nulls == 0 and column.distinct >= self.table.rows > 1 and not self._marker(named)

    @property
    def ranking(self) -> bool:
        return self.descending or self.ascending

    def plan(self) -> Plan:
        for special in (self._correlation, self._duplicates, self._histogram, self._scatter):
            if found := special():
                return found
        group_named = self._groups()
        grain = self._grain(group_named)
        measures_named = [
            n for n in self.named if n not in group_named and (n.column.kind == "number" or self._is_date_measure(n))
        ]
        self._refuse_rivals([*group_named, *measures_named])
        if found := self._entity_ranking(group_named, measures_named, grain):
            return found
        groups = [self._group(n.column) for n in group_named]
        if grain:
            groups = [grain, *groups]
        measures = self._measures(measures_named, group_named, bool(groups))
        if self.reading.years and not groups and measures:
            groups = [self._time("year")]
        if not measures:
            return self._rows(measures_named)
        if self.share:
            return self._share(groups, measures[0])
        return self._aggregate(groups, measures, series=bool(grain))

    # Special questions

    def _correlation(self) -> Plan | None:
        if not self.says("correlation", "correlate", "correlated", "relationship", "korrelation"):
            return None
        two = [n.column for n in self.named if n.column.kind == "number"]
        if len(two) != 2:
            raise UnclearError("A correlation needs two columns of figures.")
        a, b = two
        measure = Measure(f"corr({a.sql}, {b.sql})", "correlation", f"correlation of `{a.name}` and `{b.name}`")
        return self._aggregate([], [measure])

    def _duplicates(self) -> Plan | None:
        if not self.says("duplicate", "duplicated", "doppelt", "doppelte"):
            return None
        named = [n.column for n in self.named if n.column.kind != "number" or n.column.is_id] or [n.column for n in self.named]
        if not named:
            distinct = f"SELECT DISTINCT * FROM {self._from()}"
            sql = f'SELECT (SELECT count(*) FROM {self._from()}) - (SELECT count(*) FROM ({distinct})) AS "duplicate rows"'
            return self._result(sql, "value", [Measure("", "duplicate rows", "rows that stand there more than once")], [])
        column = named[0]
        sql = (
            f'SELECT {column.sql} AS {_alias(column.name)}, count(*) AS "rows" FROM {self._from()} '
            f"GROUP BY 1 HAVING count(*) > 1 ORDER BY 2 DESC, 1"
        )
        return self._result(
            sql, "groups", [Measure("count(*)", "rows", f"values of `{column.name}` that occur more than once")], [column.name]
        )

    def _histogram(self) -> Plan | None:
        """`distribution of price`: how many rows fall into each of twenty steps."""
        numbers = [n.column for n in self.named if n.column.kind == "number"]
        if not self.says("histogram", "distribution", "verteilung") or not numbers:
            return None
        column = numbers[0]
        try:
            low, high = float(column.min), float(column.max)
        except (TypeError, ValueError):
            return None
        width = (high - low) / BINS or 1.0
        whole = column.type.endswith("INT") or column.type == "INTEGER"
        width = max(1.0, float(round(width))) if whole else width
        start = f"{column.name} from"
        sql = (
            f"SELECT {low:.15g} + {width:.15g} * floor(({column.sql} - {low:.15g}) / {width:.15g}) AS {_alias(start)}, "
            f'count(*) AS "rows" FROM {self._from([f"{column.sql} IS NOT NULL"])} GROUP BY 1 ORDER BY 1'
        )
        measure = Measure("count(*)", "rows", f"rows by `{column.name}`, in steps of {width:g}")
        plan = self._result(sql, "series", [measure], [start])
        return replace(plan, chart=_bar(_field(start), "rows", f"Distribution of {column.name}", ordinal=True))

    def _scatter(self) -> Plan | None:
        two = [n.column for n in self.named if n.column.kind == "number"]
        if len(two) != 2 or not self.says("scatter", "against", "versus", "vs") or not self.wants_chart:
            return None
        y, x = two
        sql = f"SELECT {x.sql} AS {_alias(x.name)}, {y.sql} AS {_alias(y.name)} FROM {self._from()} LIMIT {POINTS}"
        spec = {
            "mark": "point",
            "title": f"{y.name} against {x.name}",
            "encoding": {
                "x": {"field": _field(x.name), "type": "quantitative", "title": x.name},
                "y": {"field": _field(y.name), "type": "quantitative", "title": y.name},
            },
        }
        plan = self._result(sql, "rows", [], [], read_as=f"`{y.name}` against `{x.name}`, at most {POINTS:,} rows")
        return replace(plan, chart=spec)

    # Groups

    def _groups(self) -> list[Named]:
        """Columns after `by`, `per`, `for each` …, what joins them, and what is asked for by `which`."""
        chosen: list[Named] = []
        for named in self.named:
            marker = self._marker(named)
            joined = (
                bool(chosen)
                and chosen[-1].end in (named.first, named.first - 1)
                and self.reading.before(named.first) in ("and", "und")
            )
            joined = joined or (bool(chosen) and chosen[-1].end == named.first)
            if self._is_sort_key(named, marker, chosen) or self._is_ratio(named, marker):
                continue
            if (marker or (joined and chosen)) and not (joined and not marker and named.column.is_measure):
                chosen.append(named)
        if chosen:
            return chosen
        return [n for n in self.named if self._is_asked_for(n)][:2]

    def _marker(self, named: Named) -> bool:
        before = self.reading.before(named.first)
        return before in GROUP_WORDS or (before == "between" and named.column.kind in ("text", "bool")) or before == "within"

    def _is_sort_key(self, named: Named, marker: bool, chosen: Sequence[Named]) -> bool:
        """`top 5 products by revenue`: a figure after `by` orders what stands before it."""
        before = self.reading.before(named.first)
        if not marker or before not in ("by", "nach") or not named.column.is_measure:
            return False
        others = [n for n in self.named if n is not named and n.first < named.first]
        sorting = self.ranking or self.limit > 0 or self.says("sort", "sorted", "rank", "ranked", "ordered")
        return sorting and (bool(others) or self.rows_named or bool(chosen))

    def _is_ratio(self, named: Named, marker: bool) -> bool:
        return marker and self.reading.before(named.first) in ("per", "pro") and named.column.is_measure and named.column.summed

    def _is_asked_for(self, named: Named) -> bool:
        """`which region has …`, `compare A across …`, `top 5 products`, `breakdown of orders by …`."""
        if named.column.kind not in ("text", "bool") and not (named.column.is_id or named.column.is_year):
            return False
        before = self.reading.before(named.first)
        asked = before in ("which", "what", "welche", "welcher", "welches") or self.ranking
        if asked or self.says(
            "most common", "most frequent", "how often", "distribution", "breakdown", "split", "compare", "frequency"
        ):
            return True
        if any(c.column is named.column for c in self.conditions):
            return False
        return self.wants_chart or (before not in ("of", "for", "in", "from", "with", "have", "many", "number", "count"))

    def _grain(self, group_named: list[Named]) -> tuple[str, str] | None:
        """The step of time that is grouped by: (SQL, name)."""
        reading = self.reading
        dates = [n for n in self.named if n.column.kind == "date" or n.column.is_year]
        for named in list(group_named):
            if named.column.kind == "date":
                group_named.remove(named)
                step = next((_GRAINS[w] for w in reading.stems if w in _GRAINS and w not in named.column.words), "")
                return self._time(step or ("day" if named.column.distinct <= 62 else self._step(named.column)), named.column)
        if any(n.column.is_year for n in group_named):
            return None
        for i, word in enumerate(reading.stems):
            if word not in _GRAINS or any(n.first <= i < n.end for n in self.named):
                continue
            before = reading.before(i)
            adverb = word.endswith("ly") or word in ("annual", "monatlich")
            asked = before in GROUP_WORDS or adverb or before in ("which", "what", "welcher", "welches") or i == 0
            if asked and self._has_time():
                return self._time(_GRAINS[word], dates[0].column if dates else None)
        if self.says(*_TREND) and self._has_time():
            column = dates[0].column if dates else self._time_column()
            if not any(n.column is column for n in group_named):
                return self._time("year" if column.is_year else self._step(column), column)
        return None

    def _has_time(self) -> bool:
        return bool(self.table.of_kind("date")) or any(c.is_year for c in self.table.columns)

    def _time_column(self) -> Column:
        """Raises UnclearError where there is no column of dates."""
        dates = self.table.of_kind("date") or [c for c in self.table.columns if c.is_year]
        if not dates:
            raise UnclearError("There is no column of dates.")
        if len(dates) > 1 and not any("Dates were taken" in note for note in self.notes):
            others = ", ".join(f"`{c.name}`" for c in dates[1:])
            self.notes.append(f"Dates were taken from `{dates[0].name}`; there is also {others}.")
        return dates[0]

    def _step(self, column: Column) -> str:
        """Months, or years and days where the dates span very much or little."""
        years = [int(m.group()) for m in (re.match(r"\d{4}", str(v)) for v in (column.min, column.max)) if m]
        if len(years) == 2 and years[1] - years[0] > 5:
            return "year"
        same_month = str(column.min)[:7] == str(column.max)[:7]
        return "day" if same_month and column.min is not None else "month"

    def _time(self, step: str, column: Column | None = None) -> tuple[str, str]:
        column = column or self._time_column()
        if column.is_year:
            return column.sql, column.name
        sql = column.sql
        by_step = {
            "year": f"year({sql})",
            "quarter": f"year({sql}) || '-Q' || quarter({sql})",
            "month": f"strftime({sql}, '%Y-%m')",
            "week": f"strftime(date_trunc('week', {sql}), '%Y-%m-%d')",
            "day": f"strftime({sql}, '%Y-%m-%d')",
            "weekday": f"dayname({sql})",
            "hour": f"hour({sql})",
        }
        return by_step[step], step

    def _group(self, column: Column) -> tuple[str, str]:
        return column.sql, column.name

    # Measures

    def _is_date_measure(self, named: Named) -> bool:
        return named.column.kind == "date" and (
            self.superlative or self.says("min", "max", "minimum", "maximum", "first", "last")
        )

    def _refuse_rivals(self, named: Sequence[Named]) -> None:
        for n in named:
            rivals = [c for c in n.rivals if c.kind == n.column.kind]
            if rivals and n.score < 1:
                asked = " ".join(w.text for w in self.reading.words[n.first : n.end])
                names = " or ".join(f"`{c.name}`" for c in (n.column, *rivals))
                raise UnclearError(f"“{asked}” could be {names}. Ask again with the exact name.")
            if n.score < 0.88:
                asked = " ".join(w.text for w in self.reading.words[n.first : n.end])
                self.notes.append(f"“{asked}” was read as the column `{n.column.name}`.")

    def _aggregate_word(self) -> str:
        """The function asked for; a word that is rather the name of a column asks for nothing."""
        return next((name for name, phrases in _AGGREGATES if self.says(*phrases)), "")

    def _measures(self, named: Sequence[Named], group_named: Sequence[Named], grouped: bool) -> list[Measure]:
        columns = list(dict.fromkeys(n.column for n in named))
        function = self._aggregate_word()
        if self.distinct and not function:
            return self._distinct_count(columns, group_named)
        if self.counting and not function:
            if columns and columns[0].is_measure and columns[0].summed:
                self.notes.append(
                    f"`{columns[0].name}` holds amounts, so it was summed; ask for the “number of rows” to count rows."
                )
                return [self._figure("sum", c) for c in columns]
            return self._row_count(group_named)
        ratio = next(
            (n for n in self.named if self._is_ratio(n, self._marker(n)) and len(columns) == 2 and n.column in columns), None
        )
        if ratio:
            top = next(c for c in columns if c is not ratio.column)
            sql = f"sum({top.sql}) / nullif(sum({ratio.column.sql}), 0)"
            return [
                Measure(
                    sql, f"{top.name} per {ratio.column.name}", f"sum of `{top.name}` divided by sum of `{ratio.column.name}`"
                )
            ]
        if not columns:
            return self._without_column(function, group_named, grouped)
        if not function and self.superlative and not self._which():
            function = "max" if self.descending else "min"
        if not function and not grouped and not self.share and (self._listing() or (self.conditions and not columns[0].summed)):
            return []
        return [self._figure(function or self._default(c), c) for c in columns]

    def _default(self, column: Column) -> str:
        if column.kind == "date":
            return "max" if self.descending else "min"
        return "sum" if column.summed else "avg"

    def _which(self) -> bool:
        """Whether one of several things is asked for, and not a figure."""
        return any(self._is_asked_for(n) and not self._marker(n) for n in self.named) or self.says(
            "which", "who", "welche", "welcher"
        )

    def _listing(self) -> bool:
        return self.says("list", "show row", "show record", "show me the row") or any(
            w in _ROWS and self.reading.before(i) not in ("many", "of", "number") for i, w in enumerate(self.reading.stems)
        )

    def _figure(self, function: str, column: Column) -> Measure:
        if function not in ("min", "max") and column.kind != "number":
            raise UnclearError(f"`{column.name}` holds {column.kind}, so it has no {_WORDS[function]}.")
        called = {"min": "earliest", "max": "latest"} if column.kind == "date" else _WORDS
        spoken = {"sum": "sum", "min": "smallest", "max": "largest"}.get(function, called.get(function, function))
        name = f"{called.get(function, function)} {column.name}"
        return Measure(
            f"{function}({column.sql})", name, f"{spoken} of `{column.name}`" if column.kind == "number" else f"{name}"
        )

    def _without_column(self, function: str, group_named: Sequence[Named], grouped: bool) -> list[Measure]:
        if function in ("", "count") or (function in ("min", "max") and not self.table.measures):
            if grouped or self.share or self.says("most common", "most frequent", "frequency", "how often", "occur", "popular"):
                return self._row_count(group_named)
            if function == "" and not self.superlative:
                return []
        if function == "sum" and (self.rows_named or any(w in _ROWS for w in self.reading.stems)):
            return self._row_count(group_named)
        measures = self.table.measures
        if len(measures) == 1:
            self.notes.append(f"`{measures[0].name}` was taken, the only column of figures.")
            return [self._figure(function or self._default(measures[0]), measures[0])]
        if not measures:
            raise UnclearError("There is no column of figures.")
        names = ", ".join(f"`{c.name}`" for c in measures[:12]) + (" …" if len(measures) > 12 else "")
        raise UnclearError(f"Which figure is meant? The columns of figures are {names}.")

    def _row_count(self, group_named: Sequence[Named]) -> list[Measure]:
        """Rows; or different values of a column that is counted by its name and is not what the table's rows are."""
        counted = [n for n in self.named if n not in group_named and self._is_counted(n)]
        if counted and not self._names_rows(counted[0]):
            return self._distinct_count([counted[0].column], group_named)
        return [Measure("count(*)", "rows", "number of rows")]

    def _is_counted(self, named: Named) -> bool:
        """`how many customers`, `number of customers`, `most customers`."""
        before = self.reading.before(named.first)
        counted = before in ("many", "viele", "anzahl", "count", "most", "fewest") or (
            before == "of" and self.says("number of", "count of")
        )
        return counted and (named.column.kind == "text" or named.column.is_id)

    def _names_rows(self, named: Named) -> bool:
        """`how many orders` over a table with one row for each order id."""
        return named.column.distinct == self.table.rows and named.column.nulls == 0

    def _distinct_count(self, columns: Sequence[Column], group_named: Sequence[Named]) -> list[Measure]:
        named = [n.column for n in self.named if n not in group_named] or list(columns)
        if not named:
            return [Measure("count(*)", "rows", "number of rows")]
        column = named[0]
        return [
            Measure(f"count(DISTINCT {column.sql})", f"different {column.name}", f"number of different values of `{column.name}`")
        ]

    # Queries

    def _entity_ranking(
        self, group_named: Sequence[Named], measures: Sequence[Named], grain: tuple[str, str] | None
    ) -> Plan | None:
        """`the 5 most expensive products`, `largest orders`: rows in order, where each row is one of them."""
        if grain or self.counting or self._aggregate_word() or not (self.ranking or self.limit):
            return None
        columns = [n.column for n in measures] or self._implied()
        if not columns or any(self._marker(n) for n in group_named):
            return None
        order, entities = columns[0], [n.column for n in group_named]
        unique = all(c.distinct >= self.table.rows for c in entities) if entities else False
        of_rows = not entities and (self.limit > 0 or self.rows_named or any(w in _ROWS for w in self.reading.stems))
        if not (unique or of_rows) or (of_rows and self.limit == 0 and self.superlative and not self.rows_named):
            return None
        picked = "*" if not entities else ", ".join(f"{c.sql} AS {_alias(c.name)}" for c in dict.fromkeys([*entities, *columns]))
        way = "ASC" if self.ascending else "DESC"
        limit = self.limit or (1 if entities else 5)
        sql = f"SELECT {picked} FROM {self._from()} ORDER BY {order.sql} {way} NULLS LAST LIMIT {limit}"
        what = ", ".join(f"`{c.name}`" for c in entities) or "rows"
        return self._result(
            sql, "rows", [], [], read_as=f"{what} with the {'lowest' if self.ascending else 'highest'} `{order.name}`"
        )

    def _implied(self) -> list[Column]:
        for word, names in _IMPLIED.items():
            if word in self.reading.stems:
                found = [c for name in names for c in self.table.columns if c.kind == "number" and name in c.words]
                if found:
                    self.notes.append(f"“{word}” was read as the column `{found[0].name}`.")
                    return found[:1]
        return []

    def _aggregate(self, groups: Sequence[tuple[str, str]], measures: Sequence[Measure], *, series: bool = False) -> Plan:
        if not groups:
            sql = f"SELECT {', '.join(f'{m.sql} AS {_alias(m.name)}' for m in measures)} FROM {self._from()}"
            return self._result(sql, "value", measures, [])
        if self.ranking and self._implied_rank(measures):
            measures = self._implied_rank(measures)
        numbers = ", ".join(str(i + 1) for i in range(len(groups)))
        picked = [f"{sql} AS {_alias(name)}" for sql, name in groups] + [f"{m.sql} AS {_alias(m.name)}" for m in measures]
        ranked = self.ranking and self._rank_asked()
        timed = series and not ranked
        first = f"{len(groups) + 1} {'ASC' if self.ascending else 'DESC'} NULLS LAST"
        order = numbers if timed else f"{first}, {numbers}"
        limit = self.limit or (1 if ranked and self._which_one() else 0)
        sql = f"SELECT {', '.join(picked)} FROM {self._from()} GROUP BY {numbers} ORDER BY {order}" + (
            f" LIMIT {limit}" if limit else ""
        )
        names = [name for _, name in groups]
        rank = ("lowest" if self.ascending else "highest") if ranked else ""
        plan = self._result(sql, "series" if timed else "groups", measures, names)
        return replace(plan, rank=rank, chart=self._chart(names, measures, timed))

    def _implied_rank(self, measures: Sequence[Measure]) -> list[Measure]:
        """`which region has the highest price`: a price is not added up but compared."""
        ranked = []
        for m in measures:
            column = next((c for c in self.table.measures if m.sql in (f"avg({c.sql})", f"sum({c.sql})") and not c.summed), None)
            if column is None or self._aggregate_word():
                ranked.append(m)
            else:
                ranked.append(self._figure("max" if self.descending else "min", column))
        return ranked

    def _rank_asked(self) -> bool:
        return not (self.superlative and any(self._marker(n) for n in self.named) and not self.limit and not self._which())

    def _which_one(self) -> bool:
        return self.limit == 0 and self.says("which", "what", "who", "welche", "welcher", "welches") and not self.says("top")

    def _share(self, groups: Sequence[tuple[str, str]], measure: Measure) -> Plan:
        """Parts of a whole: of each group, or of the rows that meet the conditions."""
        share = Measure("", "share in %", f"share of the {measure.read_as}")
        if groups:
            numbers = ", ".join(str(i + 1) for i in range(len(groups)))
            picked = ", ".join(f"{sql} AS {_alias(name)}" for sql, name in groups)
            sql = (
                f"SELECT {picked}, {measure.sql} AS {_alias(measure.name)}, "
                f"100.0 * {measure.sql} / sum({measure.sql}) OVER () AS {_alias(share.name)} "
                f"FROM {self._from()} GROUP BY {numbers} ORDER BY {len(groups) + 1} DESC NULLS LAST, {numbers}"
            )
            return self._result(sql, "groups", [measure, share], [name for _, name in groups])
        if not self.conditions:
            raise UnclearError("A share of what? Name a column to split by, or a value.")
        condition = where(self.conditions)
        part = f"{measure.sql} FILTER (WHERE {condition})"
        sql = (
            f"SELECT 100.0 * {part} / nullif({measure.sql}, 0) AS {_alias(share.name)}, "
            f"{part} AS {_alias('part: ' + measure.name)}, {measure.sql} AS {_alias('whole: ' + measure.name)} "
            f"FROM {self.table.sql}"
        )
        return self._result(sql, "value", [share], [])

    def _rows(self, measures: Sequence[Named]) -> Plan:
        """Rows as they are, or the different values of a column with how often each occurs."""
        columns = [n.column for n in self.named]
        texts = [c for c in columns if c.kind in ("text", "bool") or c.is_year]
        if len(columns) == 1 and texts and not self.limit:
            column = texts[0]
            measure = Measure("count(*)", "rows", f"values of `{column.name}` with their number of rows")
            plan = self._aggregate([self._group(column)], [measure])
            return replace(plan, read_as=self._read_as(measure.read_as, []))
        if not (self.conditions or columns or self._listing() or self.limit):
            raise UnclearError("It is not clear which columns are meant.")
        picked = "*"
        if columns and not self._listing():
            shown = dict.fromkeys([*(c.column for c in self.conditions), *columns])
            picked = ", ".join(f"{c.sql} AS {_alias(c.name)}" for c in shown)
        sort = next((n.column for n in measures if self._marker(n)), None)
        order = f" ORDER BY {sort.sql} {'ASC' if self.ascending else 'DESC'} NULLS LAST" if sort else ""
        sql = f"SELECT {picked} FROM {self._from()}{order} LIMIT {self.limit or ROWS_LISTED}"
        what = ", ".join(f"`{c.name}`" for c in columns) if columns and picked != "*" else "rows"
        return self._result(sql, "rows", [], [], read_as=self._read_as(what, []))

    def _from(self, more: Sequence[str] = ()) -> str:
        condition = " AND ".join(part for part in (where(self.conditions), *more) if part)
        return f"{self.table.sql} WHERE {condition}" if condition else self.table.sql

    def _result(self, sql: str, shape: str, measures: Sequence[Measure], groups: Sequence[str], *, read_as: str = "") -> Plan:
        text = read_as or self._read_as(" and ".join(m.read_as for m in measures), groups)
        if read_as and self.conditions and "where" not in read_as:
            text += f", where {in_words(self.conditions)}"
        if left := self.reading.unplaced():
            self.notes.append(
                "Not used, because it names nothing here: " + ", ".join(f"“{word}”" for word in dict.fromkeys(left)) + "."
            )
        plain = frozenset(c.name for c in self.table.columns if c.is_id or c.is_year) | {"year"}
        return Plan(
            sql, shape, text, self.table, tuple(measures), tuple(groups), notes=tuple(dict.fromkeys(self.notes)), plain=plain
        )

    def _read_as(self, what: str, groups: Sequence[str]) -> str:
        by = " by " + " and ".join(f"`{g}`" if g not in _GRAINS.values() else g for g in groups) if groups else ""
        condition = f", where {in_words(self.conditions)}" if self.conditions else ""
        return f"{what}{by}{condition}"

    def _limit(self) -> int:
        """`top 5`, `the 5 largest`, `first 10 rows`."""
        words = self.reading.words
        leading = (
            "top",
            "bottom",
            "first",
            "last",
            "best",
            "worst",
            "largest",
            "highest",
            "lowest",
            "smallest",
            "show",
            "list",
            "cheapest",
        )
        for i, word in enumerate(words):
            if word.kind != "number" or i in self.reading.used or "." in word.text:
                continue
            after = words[i + 1].stem if i + 1 < len(words) else ""
            if (i and words[i - 1].stem in leading) or after in (*_DESCENDING, *_ASCENDING, *_ROWS):
                self.reading.used.add(i)
                return max(1, min(int(word.number), 1_000))
        return 0

    def _chart(self, groups: Sequence[str], measures: Sequence[Measure], timed: bool) -> Json | None:
        if not (self.wants_chart or self.says(*_TREND)):
            return None
        measure, title = measures[0].name, f"{measures[0].name} by {' and '.join(groups)}".capitalize()
        if self.says("pie"):
            return {
                "mark": "arc",
                "title": title,
                "encoding": {
                    "theta": {"field": _field(measure), "type": "quantitative"},
                    "color": {"field": _field(groups[0]), "type": "nominal"},
                },
            }
        line = (timed or self.says("line")) and not self.says("bar")
        spec = _bar(_field(groups[0]), _field(measure), title, ordinal=timed)
        if line:
            spec["mark"] = {"type": "line", "point": True}
        if len(groups) > 1:
            spec["encoding"]["color"] = {"field": _field(groups[1]), "type": "nominal"}
        return spec


def _without_functions(named: Sequence[Named]) -> list[Named]:
    """`total 2023 by team` in a table with a column `total`: the word is the function, since a figure is named besides."""
    functions = {phrase for _, phrases in _AGGREGATES for phrase in phrases}
    rest = [n for n in named if n.column.words not in {(f,) for f in functions}]
    return rest if any(n.column.kind == "number" for n in rest) else list(named)


def _bar(x: str, y: str, title: str, *, ordinal: bool) -> Json:
    encoding: Json = {"x": {"field": x, "type": "ordinal" if ordinal else "nominal"}, "y": {"field": y, "type": "quantitative"}}
    if not ordinal:
        encoding["x"]["sort"] = "-y"
    return {"mark": "bar", "title": title, "encoding": encoding}


def _alias(name: str) -> str:
    return '"' + _field(name).replace('"', "'") + '"'


def _field(name: str) -> str:
    """A result column's name without what Vega-Lite would take for a path."""
    return re.sub(r"[.\[\]\\]", "_", name)

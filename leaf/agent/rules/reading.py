"""What a question names: columns, values, comparisons and periods of one table. Every word that is understood is marked as used,
so that what was not understood can be said.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from leaf.agent.rules.profiles import Column, TableProfile, find_value
from leaf.agent.rules.words import Word, bare, fold, nearness, split_words, word_set

FUNCTION_WORDS = word_set(
    """
    a an the of in on at by for from to and or is are was were be been do does did has have had it its this that these
    those there what which who whom whose when where why how i me my we our you your us can could would should will
    shall may please with than as about into over per each every all any some not no give show tell list find get let
    much many more most only just also if then der die das den dem des ein eine einen und oder ist sind war wie viele
    viel im in pro je nach fur von mit zeig zeige gib mir so out up me s say said mention talk discuss think explain
    mean matter goes go data dataset table file column row record entry value result number figure
    """
)
"""Words that name nothing by themselves."""
ASKING_WORDS = word_set(
    """
    total sum overall average mean avg median count min max minimum maximum lowest highest smallest largest biggest
    top bottom best worst least fewest cheapest greatest longest shortest oldest youngest newest latest earliest first
    last common frequent often distinct unique different various share percentage percent proportion correlation
    correlate relationship between across versus vs compare comparison chart plot graph trend visualise visualize draw
    diagram histogram bar line pie scatter time month monthly year yearly annual annually quarter quarterly week
    weekly day daily weekday missing null empty blank duplicate sort sorted order ordered rank ranking ranked group
    grouped break broken down breakdown distribution above below under greater less larger smaller bigger higher lower
    least equal equals exceed exceeding contain containing excluding except without after before since until during
    durchschnitt summe gesamt anzahl insgesamt mittelwert maximal minimal hochst niedrigst meist grosst kleinst teuerst
    verteilung verlauf standard deviation std stddev variance range combined together calculate compute sold made
    amount add expensive cheap happen occur exist appear contains starts ends high low great good
    """
)
"""Words that ask for something done; they name a column only when they are exactly its name."""

_MONTHS = {name.lower(): i for i, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): i for i, name in enumerate(calendar.month_abbr) if name}
_MONTHS |= {"januar": 1, "februar": 2, "marz": 3, "mai": 5, "juni": 6, "juli": 7, "oktober": 10, "dezember": 12, "sept": 9}
del _MONTHS["may"]
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}

_BEFORE_YEAR = word_set(
    "in for during since after before from until till through to and of year between vs compare bis seit ab vor nach jahr or by"
) | {""}

_COMPARISONS: tuple[tuple[str, str], ...] = (
    ("is greater than or equal to", ">="),
    ("is less than or equal to", "<="),
    ("greater than or equal to", ">="),
    ("less than or equal to", "<="),
    ("not more than", "<="),
    ("no more than", "<="),
    ("not less than", ">="),
    ("greater than", ">"),
    ("more than", ">"),
    ("higher than", ">"),
    ("larger than", ">"),
    ("bigger than", ">"),
    ("older than", ">"),
    ("longer than", ">"),
    ("less than", "<"),
    ("fewer than", "<"),
    ("lower than", "<"),
    ("smaller than", "<"),
    ("younger than", "<"),
    ("shorter than", "<"),
    ("cheaper than", "<"),
    ("at least", ">="),
    ("at most", "<="),
    ("not equal to", "<>"),
    ("equal to", "="),
    ("exceeding", ">"),
    ("exceed", ">"),
    ("above", ">"),
    ("over", ">"),
    ("below", "<"),
    ("under", "<"),
    ("equal", "="),
    (">=", ">="),
    ("<=", "<="),
    ("!=", "<>"),
    ("<>", "<>"),
    ("==", "="),
    ("=", "="),
    (">", ">"),
    ("<", "<"),
    ("is not", "<>"),
    ("are not", "<>"),
    ("is", "="),
    ("are", "="),
    ("was", "="),
    ("of", "="),
)


_IMPLIED = {
    "older than": ("age", "alter"),
    "younger than": ("age", "alter"),
    "longer than": ("duration", "length", "dauer"),
    "shorter than": ("duration", "length", "dauer"),
    "cheaper than": ("price", "preis", "cost"),
}


@dataclass(frozen=True)
class Named:
    """A stretch of the question that names a column."""

    first: int
    end: int
    column: Column
    score: float
    rivals: tuple[Column, ...] = ()
    """Other columns that it names just as well."""


@dataclass(frozen=True)
class Condition:
    """A part of the WHERE clause, and the same in words."""

    column: Column
    sql: str
    words: str
    value: str = ""
    """For an equality with a text value: values of one column are alternatives."""


@dataclass
class Reading:
    """A question against one table."""

    table: TableProfile
    words: list[Word]
    used: set[int] = field(default_factory=set)
    """Words that were understood."""
    claimed: set[int] = field(default_factory=set)
    """Of these, the words that belong to a column's name, a value or a condition, and so ask for nothing by themselves."""
    named: list[Named] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    years: list[int] = field(default_factory=list)
    """Years that are compared with each other."""
    table_named: bool = False

    @property
    def stems(self) -> list[str]:
        return [word.stem for word in self.words]

    @property
    def score(self) -> float:
        """How much of the question this table explains."""
        found = sum(n.score * (1 + 0.1 * (n.end - n.first)) for n in self.named)
        return found + len(self.conditions) + 1.5 * self.table_named - 0.3 * len(self.unplaced())

    def unplaced(self) -> list[str]:
        """Words that should mean something here and were not understood."""
        known = FUNCTION_WORDS | ASKING_WORDS
        return [
            word.text
            for i, word in enumerate(self.words)
            if i not in self.used
            and word.kind != "operator"
            and word.stem not in known
            and (len(word.stem) > 1 or word.kind == "number")
        ]

    def before(self, index: int) -> str:
        """The last word before `index` that is not an article."""
        while index > 0 and self.words[index - 1].stem in ("the", "a", "an", "different", "all", "der", "die", "das"):
            index -= 1
        return self.words[index - 1].stem if index > 0 else ""

    def says(self, *phrases: str) -> bool:
        """Whether one of the phrases, in stems, stands in the question."""
        text = f" {' '.join(self.stems)} "
        return any(f" {phrase} " in text for phrase in phrases)

    def use(self, first: int, end: int) -> None:
        self.used.update(range(first, end))
        self.claimed.update(range(first, end))


def read(question: str, table: TableProfile, values: dict[str, list[str]] | None = None) -> Reading:
    """Find what the question names in this table. `values`: column name -> values that a look into the table found."""
    reading = Reading(table, split_words(question))
    _find_table(reading)
    _find_columns(reading)
    _find_values(reading, values or {})
    _find_comparisons(reading)
    _find_empty(reading)
    _find_flags(reading)
    _find_periods(reading)
    return reading


def _find_table(reading: Reading) -> None:
    """Mark words that name the table or its file; they are no columns then, unless a column has just that name."""
    stems = reading.stems
    names = [reading.table.words, tuple(w for w in re.split(r"_+", fold(reading.table.name)) if w)]
    columns = {column.words for column in reading.table.columns}
    for first in range(len(stems)):
        for end in range(len(stems), first, -1):
            asked = tuple(stems[first:end])
            if asked in columns or all(word in FUNCTION_WORDS for word in asked) or _in_longer_name(stems, first, end, columns):
                continue
            if any(asked in (name, name[-1:], name[:1]) or nearness(asked, name) >= 0.95 for name in names if name):
                reading.table_named = True
                if not _is_figure(reading, first, asked):
                    reading.used.update(range(first, end))
    for i in range(1, len(stems)):
        if stems[i] in ("csv", "xlsx", "xl", "parquet", "json", "tsv", "ods") and i - 1 in reading.used:
            reading.used.add(i)


def _is_figure(reading: Reading, first: int, asked: Sequence[str]) -> bool:
    """Whether words that name the table are rather its figures: `total sales` in sales.csv, but not `how many sales`."""
    counted = reading.before(first) in ("many", "viele", "anzahl", "count") or _stems_before(reading, first, 2) == [
        "number",
        "of",
    ]
    return not counted and any(nearness(asked, column.words) >= 0.42 for column in reading.table.measures)


def _in_longer_name(stems: Sequence[str], first: int, end: int, columns: Collection[tuple[str, ...]]) -> bool:
    """Whether the words are rather a part of a column's name: `order date` over a table of orders."""
    spans = ((a, b) for a in range(max(0, first - 3), first + 1) for b in range(end, end + 4) if b - a > end - first)
    return any(tuple(stems[a:b]) in columns for a, b in spans)


def _find_columns(reading: Reading) -> None:
    """The best names first; no word names two columns."""
    found: list[Named] = []
    stems = reading.stems
    for first in range(len(stems)):
        for end in range(first + 1, min(len(stems), first + 6) + 1):
            if any(reading.words[i].kind == "operator" for i in range(first, end)):
                break
            scored = [(nearness(_asked(reading, first, end), c.words), c) for c in reading.table.columns]
            best = max((s for s, _ in scored), default=0.0)
            if best <= 0 or not _may_name(reading, first, end, best):
                continue
            same = [c for s, c in scored if s == best]
            found.append(Named(first, end, same[0], best, tuple(same[1:])))
    for named in sorted(found, key=lambda n: (-n.score - 0.12 * (n.end - n.first), n.first)):
        if not any(i in reading.used for i in range(named.first, named.end)):
            reading.named.append(named)
            reading.use(named.first, named.end)
    reading.named.sort(key=lambda n: n.first)


def _asked(reading: Reading, first: int, end: int) -> list[str]:
    if end - first == 1 and reading.words[first].kind == "quoted":
        return [word.stem for word in split_words(reading.words[first].text)]
    return reading.stems[first:end]


def _may_name(reading: Reading, first: int, end: int, score: float) -> bool:
    """Small words never name a column, asking words and numbers only exactly."""
    stems = reading.stems[first:end]
    exact = score >= 0.97
    if stems[0] in FUNCTION_WORDS or stems[-1] in FUNCTION_WORDS:
        return exact and end - first > 1
    if any(word.kind == "number" for word in reading.words[first:end]):
        return exact
    return exact or not (stems[0] in ASKING_WORDS or stems[-1] in ASKING_WORDS)


# Values


def _find_values(reading: Reading, values: dict[str, list[str]]) -> None:
    """Words that are values of a text column: `for North`, `region = North`, `status shipped`."""
    for first in range(len(reading.words)):
        for end in range(min(len(reading.words), first + 6), first, -1):
            used = [i for i in range(first, end) if i in reading.used]
            if len(used) == end - first or not _may_be_value(reading, first, end):
                continue
            text = " ".join(word.text for word in reading.words[first:end])
            hits = _columns_with(reading, text, values, whole=bool(used))
            if hits:
                reading.named = [n for n in reading.named if n.end <= first or n.first >= end]
                _add_value(reading, first, end, text, hits)
                break


def _may_be_value(reading: Reading, first: int, end: int) -> bool:
    words = reading.words[first:end]
    if words[0].kind in ("number", "operator", "date") and end - first == 1:
        return False
    if end - first == 1 and words[0].kind == "word":
        word = words[0]
        adjacent = any(n.end in (first, first - 1) for n in reading.named if n.column.kind == "text")
        if len(word.text) == 1 or word.stem in FUNCTION_WORDS or word.stem in ASKING_WORDS:
            shouted = word.text.isupper() and not all(w.text.isupper() for w in reading.words if w.kind == "word")
            return (shouted and (adjacent or len(word.text) > 1)) or _is_value_beside(reading, first, end)
    return True


def _is_value_beside(reading: Reading, first: int, end: int) -> bool:
    """`high priority`, `priority high`: the column beside has just this value."""
    beside = [n.column for n in reading.named if n.end == first or n.first == end]
    return any(find_value(column, reading.words[first].text) is not None for column in beside)


def _columns_with(reading: Reading, text: str, values: dict[str, list[str]], *, whole: bool) -> list[tuple[Column, list[str]]]:
    """Text columns with the value, or with few values that hold it as a part, unless only the `whole` will do."""
    hits: list[tuple[Column, list[str]]] = []
    for column in reading.table.of_kind("text"):
        value = find_value(column, text)
        if value is not None:
            hits.append((column, [value]))
        elif found := [v for v in values.get(column.name, []) if bare(text) == bare(v)]:
            hits.append((column, found))
    if not hits and not whole:
        wanted = bare(text)
        for column in reading.table.of_kind("text"):
            inside = [v for v in values.get(column.name, []) if len(wanted) > 3 and wanted in bare(v)]
            if 0 < len(inside) <= 5:
                hits.append((column, inside))
    return hits


def _add_value(reading: Reading, first: int, end: int, text: str, hits: list[tuple[Column, list[str]]]) -> None:
    """The condition; the column named beside the value wins over others that hold it too."""
    beside = [n for n in reading.named if n.end in (first, first - 1, first - 2) or n.first in (end, end + 1)]
    chosen = next((hit for n in beside for hit in hits if hit[0] is n.column), hits[0])
    column, found = chosen
    if len(hits) > 1 and not any(n.column is column for n in beside):
        others = ", ".join(f"`{c.name}`" for c, _ in hits if c is not column)
        reading.notes.append(f"“{text}” was looked for in `{column.name}`; it also stands in {others}.")
    if bare(found[0]) != bare(text):
        reading.notes.append(f"“{text}” was read as {', '.join(f'“{v}”' for v in found)} in `{column.name}`.")
    _drop_beside(reading, first, end, column)
    negated = any(
        word in ("not", "excluding", "except", "without", "nicht", "ohne", "<>", "!=")
        for word in _stems_before(reading, first, 2)
    )
    for value in found:
        literal = "'" + value.replace("'", "''") + "'"
        if negated:
            sql = f"{column.sql} IS DISTINCT FROM {literal}"
            reading.conditions.append(Condition(column, sql, f"`{column.name}` is not “{value}”"))
        else:
            sql = f"{column.sql} = {literal}"
            reading.conditions.append(Condition(column, sql, f"`{column.name}` is “{value}”", value))
    reading.use(first, end)


def _stems_before(reading: Reading, index: int, count: int) -> list[str]:
    return reading.stems[max(0, index - count) : index]


def _drop_beside(reading: Reading, first: int, end: int, column: Column) -> None:
    """A column named just before or after its value (`region is North`, `high priority`) is not asked for by itself."""
    between = {"is", "=", "==", "are", "was", "equal", "not", "<>", "!=", "of", "in", "named", "called"}
    for named in list(reading.named):
        gap = reading.stems[named.end : first]
        grouped = reading.before(named.first) in GROUP_WORDS
        beside = named.first == end or (named.end <= first and len(gap) <= 2 and set(gap) <= between)
        if named.column is column and beside and not grouped:
            reading.named.remove(named)


GROUP_WORDS = word_set("by per each every across je pro nach grouped")


# Comparisons


def _find_comparisons(reading: Reading) -> None:
    """`price > 100`, `with more than 20 units`, `between 10 and 20`, `name contains "x"`."""
    text_contains(reading)
    stems = reading.stems
    for i in range(len(stems)):
        if i in reading.used:
            continue
        if (
            stems[i] == "between"
            and _number_at(reading, i + 1)
            and stems[i + 2 : i + 3] == ["and"]
            and _number_at(reading, i + 3)
        ):
            column = _compared_column(reading, i, i + 4)
            if column and not _are_years(reading, column, i + 1, i + 3):
                low, high = reading.words[i + 1].number, reading.words[i + 3].number
                sql = f"{column.sql} BETWEEN {low:g} AND {high:g}"
                _compare(reading, column, sql, f"`{column.name}` from {low:g} to {high:g}", i, i + 4)
            continue
        for phrase, operator in _COMPARISONS:
            parts = phrase.split()
            at = i + len(parts)
            if stems[i:at] == parts and _number_at(reading, at) and not any(j in reading.used for j in range(i, at + 1)):
                _compare_number(reading, operator, phrase, i, at)
                break
    for i in range(len(stems)):
        _bare_number(reading, i)


def text_contains(reading: Reading) -> None:
    """`name contains "x"`: a part of a text value."""
    for i, word in enumerate(reading.words[:-1]):
        if word.stem not in ("contain", "contains", "containing", "like") or i in reading.used:
            continue
        column = next((n.column for n in reading.named if n.end in (i, i - 1) and n.column.kind == "text"), None)
        if column is None:
            continue
        part = reading.words[i + 1].text
        literal = part.replace("'", "''")
        sql = f"{column.sql} ILIKE '%{literal}%'"
        _compare(reading, column, sql, f"`{column.name}` contains “{part}”", i, i + 2)


def _number_at(reading: Reading, index: int) -> bool:
    return index < len(reading.words) and reading.words[index].kind == "number" and index not in reading.used


def _compare_number(reading: Reading, operator: str, phrase: str, first: int, at: int) -> None:
    number = reading.words[at].number
    weak = phrase in ("is", "are", "was", "of")
    column = _implied_column(reading, phrase) or _compared_column(reading, first, at + 1, loose=not weak)
    if column is None or (weak and _are_years(reading, column, at)):
        return
    value = f"{number:.15g}"
    _compare(reading, column, f"{column.sql} {operator} {value}", f"`{column.name}` {operator} {value}", first, at + 1)


def _bare_number(reading: Reading, index: int) -> None:
    """`store 5`: a number right after a whole-number column that is no measure."""
    if not _number_at(reading, index):
        return
    named = next((n for n in reading.named if n.end == index and n.column.kind == "number"), None)
    if named and (named.column.is_id or named.column.is_year or named.score >= 0.97):
        value = f"{reading.words[index].number:.15g}"
        _compare(reading, named.column, f"{named.column.sql} = {value}", f"`{named.column.name}` = {value}", index, index + 1)


def _compared_column(reading: Reading, first: int, end: int, *, loose: bool = True) -> Column | None:
    """The number column just before, else just after, else the only measure there is."""
    before = [n for n in reading.named if 0 <= first - n.end <= 2 and n.column.kind == "number"]
    if before:
        return before[-1].column
    after = [n for n in reading.named if n.first in (end, end + 1) and n.column.kind == "number"]
    if after:
        return after[0].column
    measures = reading.table.measures
    if loose and len(measures) == 1 and not any(n.column.kind == "number" for n in reading.named):
        reading.notes.append(f"The comparison was made with `{measures[0].name}`, the only column of figures.")
        return measures[0]
    return None


def _implied_column(reading: Reading, phrase: str) -> Column | None:
    """`older than 40` is about an age."""
    names = _IMPLIED.get(phrase, ())
    return next((c for name in names for c in reading.table.of_kind("number") if name in c.words), None)


def _are_years(reading: Reading, column: Column, *indexes: int) -> bool:
    """Whether the numbers are rather years of the table's dates than values of this column."""
    numbers = [reading.words[i].number for i in indexes]
    return (
        not column.is_year and all(map(_is_year, numbers)) and any(_covers(c, n) for c in reading.table.columns for n in numbers)
    )


def _covers(column: Column, year: float) -> bool:
    """Whether the column's dates or years include this year."""
    if column.kind != "date" and not column.is_year:
        return False
    found = [re.match(r"\d{4}", str(v)) for v in (column.min, column.max)]
    ends = [int(m.group()) for m in found if m]
    return len(ends) == 2 and ends[0] <= year <= ends[1]


def _compare(reading: Reading, column: Column, sql: str, words: str, first: int, end: int) -> None:
    reading.conditions.append(Condition(column, sql, words))
    reading.use(first, end)
    for named in list(reading.named):
        near = 0 <= first - named.end <= 2 or named.first in (end, end + 1)
        if named.column is column and near and reading.before(named.first) not in (*GROUP_WORDS, "average", "total", "mean"):
            reading.named.remove(named)
            return


# Flags and gaps


def _find_flags(reading: Reading) -> None:
    """`active customers`, `not active`: a yes-or-no column that is not grouped by."""
    for named in list(reading.named):
        if named.column.kind != "bool" or reading.before(named.first) in GROUP_WORDS:
            continue
        negated = any(word in ("not", "non", "without", "no", "nicht") for word in _stems_before(reading, named.first, 2))
        sql = f"NOT {named.column.sql}" if negated else named.column.sql
        words = f"`{named.column.name}` is {'false' if negated else 'true'}"
        reading.conditions.append(Condition(named.column, sql, words))
        reading.named.remove(named)


def _find_empty(reading: Reading) -> None:
    """`where email is missing`, `without a phone`."""
    empty = ("missing", "null", "empty", "blank", "fehlend")
    for i, word in enumerate(reading.words):
        if word.stem not in empty or i in reading.used:
            continue
        named = next((n for n in reading.named if 0 <= i - n.end <= 2 or 0 <= n.first - i - 1 <= 1), None)
        if named is None:
            continue
        negated = "not" in _stems_before(reading, i, 2)
        sql = f"{named.column.sql} IS {'NOT ' if negated else ''}NULL"
        reading.conditions.append(Condition(named.column, sql, f"`{named.column.name}` is {'not ' if negated else ''}empty"))
        reading.named.remove(named)
        reading.used.add(i)


# Periods


@dataclass(frozen=True)
class _Period:
    """From the first day on, up to but not including the second; with a mark how it was said."""

    start: str
    end: str
    words: str
    first: int
    last: int


def _is_year(number: float) -> bool:
    return number == int(number) and 1900 <= number <= 2100


def _find_periods(reading: Reading) -> None:
    """`in 2024`, `since March 2023`, `Q1 2024`, `between 2019 and 2021`, `on 2024-03-05`."""
    periods = list(_periods(reading))
    if not periods:
        return
    column = _date_column(reading)
    if column is None:
        return
    for p in periods:
        reading.use(p.first, p.last)
    if len(periods) == 2 and reading.says("between", "from", "to", "until") and not reading.says("compare", "vs", "versus"):
        _add_period(reading, column, periods[0].start, periods[1].end, f"from {periods[0].words} to {periods[1].words}")
        return
    if len(periods) > 1:
        parts = [_range(column, p.start, p.end) for p in periods]
        words = f"`{column.name}` in " + " or ".join(p.words for p in periods)
        reading.conditions.append(Condition(column, "(" + " OR ".join(parts) + ")", words))
        reading.years = [int(p.start[:4]) for p in periods if p.words.isdigit()]
        return
    p = periods[0]
    said = reading.before(p.first)
    if said in ("since", "from", "starting", "seit", "ab"):
        _add_period(reading, column, p.start, "", f"since {p.words}")
    elif said in ("after", "nach") or _stems_before(reading, p.first, 2) == ["later", "than"]:
        _add_period(reading, column, p.end, "", f"after {p.words}")
    elif said in ("before", "vor"):
        _add_period(reading, column, "", p.start, f"before {p.words}")
    elif said in ("until", "till", "through", "bis"):
        _add_period(reading, column, "", p.end, f"until {p.words}")
    else:
        _add_period(reading, column, p.start, p.end, f"in {p.words}")


def _periods(reading: Reading) -> Iterator[_Period]:
    i = 0
    while i < len(reading.words):
        found = None if i in reading.used else _period_at(reading, i)
        if found:
            yield found
        i = found.last if found else i + 1


def _period_at(reading: Reading, i: int) -> _Period | None:
    word, stems = reading.words[i], reading.stems
    quarter = re.fullmatch(r"q([1-4])", word.stem)
    after = i + 2 if stems[i + 1 : i + 2] == ["of"] else i + 1
    if quarter and _year_at(reading, after):
        return _months(
            int(reading.words[after].text), int(quarter[1]) * 3 - 2, 3, f"Q{quarter[1]} {reading.words[after].text}", i, after + 1
        )
    if word.stem in _ORDINALS and stems[i + 1 : i + 2] == ["quarter"]:
        after = i + 3 if stems[i + 2 : i + 3] == ["of"] else i + 2
        if _year_at(reading, after):
            number = _ORDINALS[word.stem]
            return _months(
                int(reading.words[after].text), number * 3 - 2, 3, f"Q{number} {reading.words[after].text}", i, after + 1
            )
    month = 5 if word.text == "May" else _MONTHS.get(word.stem, 0)
    if month and _year_at(reading, after):
        return _months(
            int(reading.words[after].text), month, 1, f"{calendar.month_name[month]} {reading.words[after].text}", i, after + 1
        )
    if word.kind == "date" and len(word.text) == 10:
        return _Period(word.text, f"{word.text}+1", word.text, i, i + 1)
    if word.kind == "date" and 1 <= int(word.text[5:]) <= 12:
        return _months(int(word.text[:4]), int(word.text[5:]), 1, word.text, i, i + 1)
    if _year_at(reading, i) and reading.before(i) in _BEFORE_YEAR:
        year = int(word.text)
        return _Period(f"{year}-01-01", f"{year + 1}-01-01", str(year), i, i + 1)
    return None


def _year_at(reading: Reading, i: int) -> bool:
    return _number_at(reading, i) and len(reading.words[i].text) == 4 and _is_year(reading.words[i].number)


def _months(year: int, month: int, count: int, words: str, first: int, last: int) -> _Period:
    end = year * 12 + month - 1 + count
    return _Period(f"{year}-{month:02d}-01", f"{end // 12}-{end % 12 + 1:02d}-01", words, first, last)


def _date_column(reading: Reading) -> Column | None:
    dates = reading.table.of_kind("date")
    named = [n.column for n in reading.named if n.column.kind == "date" or n.column.is_year]
    if named:
        return named[0]
    if len(dates) > 1:
        others = ", ".join(f"`{c.name}`" for c in dates[1:])
        reading.notes.append(f"Dates were taken from `{dates[0].name}`; there is also {others}.")
    years = [c for c in reading.table.columns if c.is_year]
    return dates[0] if dates else years[0] if years else None


def _add_period(reading: Reading, column: Column, start: str, end: str, words: str) -> None:
    reading.conditions.append(Condition(column, _range(column, start, end), f"`{column.name}` {words}"))
    for named in list(reading.named):
        if named.column is column and reading.before(named.first) not in GROUP_WORDS and not _asked_for(reading, named):
            reading.named.remove(named)


def _asked_for(reading: Reading, named: Named) -> bool:
    return reading.before(named.first) in ("latest", "earliest", "which", "what", "maximum", "minimum", "first", "last")


def _range(column: Column, start: str, end: str) -> str:
    if column.is_year:
        bounds = [f"{column.sql} >= {start[:4]}"] if start else []
        return " AND ".join([*bounds, *([f"{column.sql} < {end[:4]}"] if end else [])])
    bounds = [f"{column.sql} >= {_moment(start)}"] if start else []
    return " AND ".join([*bounds, *([f"{column.sql} < {_moment(end)}"] if end else [])])


def _moment(day: str) -> str:
    return f"DATE '{day[:-2]}' + INTERVAL 1 DAY" if day.endswith("+1") else f"DATE '{day}'"


def where(conditions: Sequence[Condition]) -> str:
    """The WHERE clause; several values of one column are alternatives, everything else must hold together."""
    parts: list[str] = []
    for column in dict.fromkeys(c.column.name for c in conditions):
        own = [c for c in conditions if c.column.name == column]
        values = [c for c in own if c.value]
        if len(values) > 1:
            literals = ", ".join("'" + c.value.replace("'", "''") + "'" for c in values)
            parts.append(f"{values[0].column.sql} IN ({literals})")
            own = [c for c in own if not c.value]
        parts.extend(c.sql for c in own)
    return " AND ".join(parts)


def in_words(conditions: Sequence[Condition]) -> str:
    """`region` is “North” or “South” and `price` > 5."""
    parts: list[str] = []
    for column in dict.fromkeys(c.column.name for c in conditions):
        own = [c for c in conditions if c.column.name == column]
        values = [c for c in own if c.value]
        if values:
            parts.append(f"`{column}` is " + " or ".join(f"“{c.value}”" for c in values))
        parts.extend(c.words for c in own if not c.value)
    return " and ".join(parts)


def unknown_values(reading: Reading) -> list[str]:
    """Words that may be values which the profile does not list: what is left over, in stretches."""
    stretches: list[list[str]] = [[]]
    known = FUNCTION_WORDS | ASKING_WORDS
    texts = {n.end: n for n in reading.named if n.column.kind == "text"}
    for i, word in enumerate(reading.words):
        left = i not in reading.used and word.kind != "operator" and (word.stem not in known or word.kind == "quoted")
        if left:
            if not stretches[-1] and i in texts:
                stretches[-1] += [w.text for w in reading.words[texts[i].first : i]]
            stretches[-1].append(word.text)
        elif stretches[-1]:
            stretches.append([])
    whole = [stretch for stretch in stretches if stretch]
    candidates = [" ".join(stretch) for stretch in whole]
    candidates += [" ".join(s[a:b]) for s in whole for a in range(len(s)) for b in range(a + 1, len(s) + 1)]
    return list(dict.fromkeys(c for c in candidates if len(c) > 1))[:20]


def lookup_sql(reading: Reading, candidates: Sequence[str]) -> str:
    """Which text columns hold these words, empty when there is none whose values are not all known."""
    columns = [c for c in reading.table.of_kind("text") if c.distinct > len(c.values) and not c.is_prose][:12]
    if not columns or not candidates:
        return ""
    parts = []
    for column in columns:
        tests = []
        cell = f"trim(regexp_replace(strip_accents(lower({column.sql})), '[[:punct:][:space:]]+', ' ', 'g'))"
        for candidate in dict.fromkeys(bare(c) for c in candidates):
            tests.append(f"{cell} LIKE '%{candidate}%'" if len(candidate) > 3 else f"{cell} = '{candidate}'")
        name = column.name.replace("'", "''")
        hits = " + ".join(f"({test})::INTEGER" for test in tests)
        parts.append(
            f'(SELECT \'{name}\' AS "column", {column.sql} AS "value" FROM {reading.table.sql} WHERE {" OR ".join(tests)} '
            f"GROUP BY 2 ORDER BY max({hits}) DESC, length({column.sql}), 2 LIMIT 20)"
        )
    return " UNION ALL ".join(parts)


def looked_up(rows: Sequence[Sequence[Any]]) -> dict[str, list[str]]:
    """Rows of `lookup_sql` as column -> values."""
    values: dict[str, list[str]] = {}
    for column, value in rows:
        values.setdefault(str(column), []).append(str(value))
    return values

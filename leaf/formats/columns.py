"""The types of columns: proposed from a sample, proven over every value, and written as Parquet by DuckDB.

All or nothing: a column becomes a number, date, time or boolean only if every value in it is one or is a word for "no value".
Otherwise it stays text, and how many values stood in the way is said. So nothing is lost, and nothing is read as something that
it may not be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.formats.base import Note
from leaf.formats.cells import NO_VALUE, places

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import pyarrow as pa

MAX_COLUMNS = 16_384
"""As many as a spreadsheet has."""
_BATCH = 100
"""Columns proven in one query."""
_WIDE = 150
"""Above this number of columns they are converted in slices."""
_GROUP = 122_880
"""Rows of a part of a file that is read at a time, as DuckDB writes them."""
_SAMPLE = 1_000

_CURRENCY = r"(?:[$€£¥₹₽₩₺]|US\$|R\$|USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|INR|CNY|BRL)"
_SIGN = "[-+−]?"
_SPACE = "[ \u00a0\u202f\u2009'’]"
_BLANKS = " \t\n\u00a0"
_WHOLE = {
    ".": r"(?:0|[1-9][0-9]{0,14}|[1-9][0-9]{0,2}(?:,[0-9]{3})+)",
    ",": r"(?:0|[1-9][0-9]{0,14}|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)",
    " .": rf"(?:0|[1-9][0-9]{{0,14}}|[1-9][0-9]{{0,2}}(?:{_SPACE}[0-9]{{3}})+)",
    " ,": rf"(?:0|[1-9][0-9]{{0,14}}|[1-9][0-9]{{0,2}}(?:{_SPACE}[0-9]{{3}})+)",
    "in.": r"(?:0|[1-9][0-9]{0,14}|[1-9][0-9]?(?:,[0-9]{2})*,[0-9]{3})",
}
"""Integer part by style: `.` is 1,234.5, `,` is 1.234,5, ` .` and ` ,` are 1 234.5 and 1 234,5, `in.` is 12,34,567.5."""


@dataclass(frozen=True)
class Plan:
    """One way to read a column's text. `{x}` stands for the trimmed text, NULL if empty."""

    kind: str
    """`text`, `integer`, `decimal`, `boolean`, `date`, `timestamp`."""
    type: str
    """DuckDB type."""
    pattern: str = ""
    """What each value has to match in full; the same in Python and in DuckDB."""
    value: str = "{x}"
    """SQL that gives the value; it may fail or be NULL for a value that matches the pattern but does not exist (31 February)."""
    style: str = ""
    """Decimal mark of numbers, order of dates."""
    percent: bool = False
    currency: bool = False
    missing: bool = True
    """Whether words such as N/A are taken for no value."""
    exact: str = ""
    """SQL for the same as the pattern, where it can be had without one: DuckDB takes some time to make ready each pattern."""

    def sql(self, x: str) -> str:
        """SQL for the value of a trimmed text `x`."""
        return self.value.replace("{x}", x)

    def bad(self, x: str) -> str:
        """SQL that is true for a trimmed text `x` that this plan cannot read."""
        return f"({x} IS NOT NULL AND NOT coalesce({self._fits_sql(x)} AND ({self.sql(x)}) IS NOT NULL, false))"

    def guarded(self, column: str) -> str:
        """The value in one pass; the query fails at the first value that does not fit."""
        x = f"nullif({column}, '')"
        if self.kind == "text":
            return x
        return f"CASE WHEN {x} IS NULL THEN NULL WHEN {self._fits_sql(x)} THEN {self.sql(x)} ELSE error('unexpected value') END"

    def _fits_sql(self, x: str) -> str:
        return self.exact.replace("{x}", x) if self.exact else f"regexp_full_match({x}, {literal(self.pattern)})"

    def fits(self, text: str) -> bool:
        return bool(_compiled(self.pattern).fullmatch(text))


TEXT = Plan("text", "VARCHAR")


def literal(text: str) -> str:
    """A text as SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A name as SQL."""
    return '"' + name.replace('"', '""') + '"'


@cache
def _missing_pattern() -> str:
    return literal("|".join(re.escape(word) for word in sorted(NO_VALUE)))


def _trimmed(columns: Sequence[Column]) -> str:
    return "".join(f", nullif(trim({identifier(c.source)}, {literal(_BLANKS)}), '') AS {_t(c)}" for c in columns)


def _without_missing(columns: Sequence[Column]) -> str:
    """In a layer of its own: DuckDB's time to plan grows with the length of an expression, and this one is used several times."""
    return "".join(
        f", CASE WHEN regexp_full_match(lower({_t(c)}), {_missing_pattern()}) THEN NULL ELSE {_t(c)} END AS {_x(c)}"
        for c in columns
    )


def _t(column: Column) -> str:
    """The trimmed text of a column, NULL if empty."""
    return identifier("t_" + column.source)


def _x(column: Column) -> str:
    """The same, NULL also for words that stand for no value."""
    return identifier("x_" + column.source)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _number(style: str, *, percent: bool = False, currency: bool = False, whole: bool = False) -> Plan:
    """Numbers with marked thousands; `whole` ones have no fraction and become integers."""
    mark = style[-1]
    core = f"(?:{_WHOLE[style]})" if whole else rf"(?:{_WHOLE[style]}(?:[{mark}][0-9]*)?|[{mark}][0-9]+)"
    if style == "." and not whole:
        core += "(?:[eE][-+]?[0-9]{1,3})?"
    money = f"(?:{_CURRENCY}\\s?)?" if currency else ""
    tail = (r"\s?%" if percent else "") + (f"(?:\\s?{_CURRENCY})?" if currency else "")
    bare = rf"{_SIGN}{money}{_SIGN}{core}{tail}"
    pattern = rf"{bare}|\({money}{core}{tail}\)" if currency or style == "." else bare
    x = "replace({x}, '−', '-')"
    strip = [_SPACE] + ([_CURRENCY, "%"] if currency or percent else [])
    x = f"regexp_replace({x}, {literal('|'.join(strip))}, '', 'g')"
    x = f"replace(replace({x}, '.', ''), ',', '.')" if mark == "," else f"replace({x}, ',', '')"
    if "\\(" in pattern:
        x = f"regexp_replace({x}, '^\\((.*)\\)$', '-\\1')"
    kind, sql_type = ("integer", "BIGINT") if whole else ("decimal", "DOUBLE")
    return Plan(kind, sql_type, pattern, f"TRY_CAST({x} AS {sql_type})", style, percent, currency)


def _times(date_pattern: str, formats: Sequence[str], style: str) -> list[Plan]:
    """A date, and the same with a time of day behind it."""
    full = [f"{f} {t}" for f in formats for t in ("%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p", "%H:%M:%S.%g")]
    lists = ", ".join(literal(f) for f in formats)
    all_lists = ", ".join(literal(f) for f in [*full, *formats])
    clock = r"(?: [0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?(?: [AaPp][Mm])?)?"
    return [
        Plan("date", "DATE", date_pattern, f"CAST(try_strptime({{x}}, [{lists}]) AS DATE)", style),
        Plan("timestamp", "TIMESTAMP", date_pattern + clock, f"try_strptime({{x}}, [{all_lists}])", style),
    ]


@cache
def _plans() -> tuple[Plan, ...]:
    """Every way to read a column, the narrower first."""
    day, month = "[0-9]{1,2}", "[A-Za-z]{3}"
    clock = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
    iso = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
    whole, day_iso = "TRY_CAST({x} AS BIGINT)", "TRY_CAST({x} AS DATE)"
    zone = r"(?:Z|[-+][0-9]{2}:?[0-9]{2})"
    zoned = "TRY_CAST(regexp_replace({x}, '([-+][0-9][0-9])([0-9][0-9])$', '\\1:\\2') AS TIMESTAMPTZ)"
    plans = [
        Plan("integer", "BIGINT", "0|-?[1-9][0-9]{0,17}", whole, exact=f"coalesce(CAST({whole} AS VARCHAR) = {{x}}, false)"),
        *(_number(style, whole=True) for style in (".", " .")),
        Plan(
            "boolean", "BOOLEAN", "(?i)true|false", "(lower({x}) = 'true')", exact="(lower({x}) = 'true' OR lower({x}) = 'false')"
        ),
        Plan("date", "DATE", iso, day_iso, "iso", exact=f"coalesce(CAST({day_iso} AS VARCHAR) = {{x}}, false)"),
        Plan("timestamp", "TIMESTAMP", rf"{iso}(?:[ T]{clock})?", "TRY_CAST({x} AS TIMESTAMP)", "iso"),
        Plan("timestamp", "TIMESTAMPTZ", rf"{iso}[ T]{clock} ?{zone}", zoned, "iso"),
        Plan(
            "decimal",
            "DOUBLE",
            r"[-+]?(?:(?:0|[1-9][0-9]{0,14})(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?",
            "TRY_CAST({x} AS DOUBLE)",
            "plain",
        ),
        *_times(f"[0-9]{{4}}/{day}/{day}", ["%Y/%m/%d"], "ymd"),
        *_times(f"[0-9]{{4}}-{day}-{day}", ["%Y-%m-%d"], "ymd"),
        *_times(rf"{day}\.{day}\.[0-9]{{4}}", ["%d.%m.%Y"], "dmy."),
        *_times(rf"{day}\.{day}\.[0-9]{{2}}", ["%d.%m.%y"], "dmy.2"),
    ]
    for sep in "/-":
        for year, code, two in (("[0-9]{4}", "%Y", ""), ("[0-9]{2}", "%y", "2")):
            plans += _times(f"{day}{sep}{day}{sep}{year}", [f"%d{sep}%m{sep}{code}"], "dmy" + two)
            plans += _times(f"{day}{sep}{day}{sep}{year}", [f"%m{sep}%d{sep}{code}"], "mdy" + two)
    plans += _times(f"{day}[ -]{month}[ -][0-9]{{4}}", ["%d-%b-%Y", "%d %b %Y"], "text")
    plans += _times(f"{day} [A-Za-z]{{3,9}} [0-9]{{4}}", ["%d %B %Y"], "text")
    plans += _times(f"[A-Za-z]{{3,9}} {day}, [0-9]{{4}}", ["%B %d, %Y", "%b %d, %Y"], "text")
    for percent, currency in ((False, False), (True, False), (False, True)):
        for style in (".", ",", " .", " ,", "in."):
            plans += [_number(style, percent=percent, currency=currency, whole=whole) for whole in (True, False)]
    return tuple(plans)


def propose(sample: Sequence[str], comma_first: bool = False) -> list[Plan]:
    """The plans that may fit a column, likelier first: those that read at least four fifths of the sample's values."""
    values = [v for v in (s.strip(_BLANKS) for s in sample) if v and v.lower() not in NO_VALUE]
    if not values:
        return []
    distinct = list(dict.fromkeys(values))[:_SAMPLE]
    if not any(c.isdigit() for v in distinct[:20] for c in v) and not all(v.lower() in ("true", "false") for v in distinct[:20]):
        return []
    found = []
    for plan in _plans():
        allowed = len(distinct) - max(1 if len(distinct) > 2 else 0, len(distinct) // 5)
        misses = 0
        for seen, v in enumerate(distinct, 1):
            misses += not plan.fits(v)
            if misses > len(distinct) - allowed or (misses > 3 and misses > seen // 2):
                break
        else:
            found.append((misses, plan))
    perfect = [plan for misses, plan in found if not misses]
    plain = [plan for plan in perfect if not plan.percent and not plan.currency]
    plans = plain or perfect or [plan for _, plan in found]
    if comma_first:
        plans.sort(key=lambda plan: plan.style in ("plain", ".", " ."))
        plans.sort(key=lambda plan: plan.kind == "decimal")
    return plans


@dataclass(frozen=True)
class Marks:
    """What a column of numbers such as 1,234 says by itself: each has one mark, with three digits behind it."""

    mark: str
    """`,` or `.`."""
    example: str
    thousands: bool
    """Whether the values speak for a mark of thousands: its numbers differ in length, and none is as long without one."""


def marks_of(values: Sequence[str]) -> Marks | None:
    """The column's only mark where it may be one of thousands or of a fraction for all that the values prove; else None."""
    bare = [s.strip().lstrip("-+−$€£¥ (").rstrip("%$€£¥ )") for s in values]
    marked = [v for v in dict.fromkeys(bare) if "," in v or "." in v]
    if not marked or not all(re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", v, re.ASCII) for v in marked):
        return None
    if len({"," in v for v in marked}) > 1:
        return None
    mark = "," if "," in marked[0] else "."
    lengths = {v.index(mark) for v in marked}
    plain = [v for v in bare if v.isdigit()]
    short = bool(plain) and all(len(v) <= 3 for v in plain)
    long = any(len(v) > 3 for v in plain)
    shown = len(marked) >= 3 and (short or (mark == "," and len(lengths) > 1)) and not long
    return Marks(mark, marked[0], shown)


@dataclass
class Column:
    """A column on its way into a table."""

    source: str
    """Its name in the relation that is read."""
    name: str
    text: bool = True
    """False where the relation already holds typed values."""
    type: str = "VARCHAR"
    plan: Plan = TEXT
    proposals: list[Plan] = field(default_factory=list)
    marks: Marks | None = None
    """Where thousands and fractions look alike."""


@dataclass(frozen=True)
class Written:
    """A table that stands on disk."""

    rows: int
    columns: tuple[tuple[str, str], ...]
    notes: tuple[Note, ...]


@contextmanager
def connect(scratch: Path, *, memory: str = "1000MB") -> Iterator[duckdb.DuckDBPyConnection]:
    """A private in-memory DuckDB that spills into `scratch`, which is removed afterwards, and loads nothing from outside."""
    import shutil

    import duckdb

    folder = scratch / ".duckdb"
    folder.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect(":memory:")
    try:
        for setting in (
            f"SET temp_directory = {literal(str(folder))}",
            f"SET memory_limit = '{memory}'",
            "SET threads = 2",
            "SET autoinstall_known_extensions = false",
            "SET autoload_known_extensions = false",
            "SET python_enable_replacements = false",
            "SET enable_progress_bar = false",
            "SET TimeZone = 'UTC'",
        ):
            connection.execute(setting)
        yield connection
    finally:
        connection.close()
        shutil.rmtree(folder, ignore_errors=True)


def write(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: Sequence[Column],
    target: Path,
    *,
    comma_first: bool = False,
    row_number: Callable[[int], int] = lambda n: n,
) -> Written:
    """Decide each text column's type over all rows of `relation` (SQL) and write the table.

    `row_number` maps the n-th row to its number in the file.
    """
    notes = _decide(connection, relation, [c for c in columns if c.text], comma_first, row_number)
    rows = copy(connection, _select(relation, columns), target)
    return Written(rows, _types(columns), tuple(notes))


def write_table(
    connection: duckdb.DuckDBPyConnection,
    table: pa.Table,
    columns: Sequence[Column],
    target: Path,
    *,
    comma_first: bool = False,
    row_number: Callable[[int], int] = lambda n: n,
) -> Written:
    """The same for a table in memory. A wide one goes by in slices: DuckDB's planning grows faster than the number of columns."""
    from pyarrow import table as arrow_table

    arrays, notes = [], []
    size = max(1, len(columns)) if len(columns) <= _WIDE else _BATCH
    for start in range(0, len(columns), size):
        batch = columns[start : start + size]
        connection.register("block", table.select([c.source for c in batch]))
        try:
            notes += _decide(connection, "block", [c for c in batch if c.text], comma_first, row_number)
            connection.complete()
            arrays += connection.sql(_select("block", batch)).to_arrow_table().columns
        finally:
            connection.unregister("block")
    written = arrow_table(arrays, names=[c.name for c in columns])
    _write_arrow(written, target)
    return Written(int(written.num_rows), _types(columns), tuple(notes))


def _write_arrow(table: pa.Table, target: Path) -> None:
    """As Parquet: texts by dictionary, numbers without, which takes half of DuckDB's time for them and no more room."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = [f.name for f in table.schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
    target.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, target, compression="zstd", use_dictionary=texts, row_group_size=_GROUP)


def _types(columns: Sequence[Column]) -> tuple[tuple[str, str], ...]:
    return tuple((c.name, c.plan.type if c.text else c.type) for c in columns)


def _select(relation: str, columns: Sequence[Column]) -> str:
    """The query that gives the columns their names, types and values."""
    typed = [c for c in columns if c.text and c.plan.kind != "text"]
    wordy = [c for c in typed if c.plan.missing]
    values = []
    for c in columns:
        source = identifier(c.source)
        if c.text:
            source = f"nullif({source}, '')" if c.plan.kind == "text" else c.plan.sql(_x(c) if c.plan.missing else _t(c))
        values.append(f"{source} AS {identifier(c.name)}")
    sources = ", ".join(identifier(c.source) for c in columns)
    layers = f"(SELECT {sources}{_trimmed(typed)} FROM {relation})"
    if wordy:
        layers = f"(SELECT *{_without_missing(wordy)} FROM {layers})"
    return f"SELECT {', '.join(values)} FROM {layers}"


def copy(connection: duckdb.DuckDBPyConnection, select: str, target: Path, *, compression: str = "zstd") -> int:
    """Write a query's rows as Parquet and return how many there were."""
    target.parent.mkdir(parents=True, exist_ok=True)
    row = connection.execute(f"COPY ({select}) TO {literal(str(target))} (FORMAT parquet, COMPRESSION {compression})").fetchone()
    return int(row[0]) if row else 0


def _decide(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: list[Column],
    comma_first: bool,
    row_number: Callable[[int], int],
) -> list[Note]:
    _propose_all(connection, relation, columns, comma_first)
    unproven = [c for c in columns if c.proposals]
    counts = _proof(connection, relation, unproven)
    choices = {c.source: _fitting(c, counts[c.source]) for c in unproven}
    order = {p.style[:3] for fitting in choices.values() for p in _settled(fitting)}
    decimals = _decimal_marks(unproven, choices)
    doubtful: list[Column] = []
    mixed: list[tuple[Column, Plan, int]] = []
    for column in unproven:
        fitting = choices[column.source]
        if fitting:
            _choose(column, fitting, order, decimals, comma_first, doubtful)
            if not counts[column.source].missing:
                column.plan = replace(column.plan, missing=False)
        else:
            plan, bad = min(zip(column.proposals, counts[column.source].bad, strict=True), key=lambda item: item[1])
            if bad < 0.5 * counts[column.source].values:
                mixed.append((column, plan, bad))
    notes = [_mixed_note(connection, relation, *item, counts[item[0].source].values, row_number) for item in mixed[:20]]
    return notes + _notes(connection, relation, unproven, counts, doubtful)


@dataclass(frozen=True)
class _Counts:
    values: int
    """Values that are not empty and no word for a missing one."""
    missing: int
    bad: tuple[int, ...]
    """By proposal."""


def _propose_all(connection: duckdb.DuckDBPyConnection, relation: str, columns: list[Column], comma_first: bool) -> None:
    for start in range(0, len(columns), 500):
        batch = columns[start : start + 500]
        select = ", ".join(identifier(c.source) for c in batch)
        rows = connection.execute(f"SELECT {select} FROM {relation} LIMIT {_SAMPLE}").fetchall()
        for position, column in enumerate(batch):
            sample = [r[position] for r in rows if r[position]]
            if len(rows) == _SAMPLE and not any(s.strip() and s.strip().lower() not in NO_VALUE for s in sample):
                late = f"SELECT {_x(column)} FROM {_layers(relation, [column])} WHERE {_x(column)} IS NOT NULL LIMIT {_SAMPLE}"
                sample = [r[0] for r in connection.execute(late).fetchall()]
            column.proposals = propose(sample, comma_first)
            column.marks = marks_of(sample) if column.proposals else None


def _proof(connection: duckdb.DuckDBPyConnection, relation: str, columns: list[Column]) -> dict[str, _Counts]:
    """Count what does not fit: first against what is likeliest, then, where that fails, against the other proposals."""
    rest = {}
    for column in columns:
        if column.marks or column.proposals[0].style[:3] in ("dmy", "mdy"):
            continue
        rest[column.source] = column.proposals[1:]
        column.proposals = column.proposals[:1]
    counts = _prove(connection, relation, columns)
    again = [c for c in columns if all(counts[c.source].bad) and rest.get(c.source)]
    for column in again:
        column.proposals = [*column.proposals, *rest[column.source]]
    return counts | _prove(connection, relation, again)


def _prove(connection: duckdb.DuckDBPyConnection, relation: str, columns: list[Column]) -> dict[str, _Counts]:
    result = {}
    for start in range(0, len(columns), _BATCH):
        batch = columns[start : start + _BATCH]
        select = []
        for column in batch:
            select += [f"count({_x(column)})", f"count({_t(column)})"]
            select += [f"count(*) FILTER {plan.bad(_x(column))}" for plan in column.proposals]
        row = connection.execute(f"SELECT {', '.join(select)} FROM {_layers(relation, batch)}").fetchone() or ()
        at = 0
        for column in batch:
            values, given = int(row[at]), int(row[at + 1])
            end = at + 2 + len(column.proposals)
            result[column.source] = _Counts(values, given - values, tuple(int(n) for n in row[at + 2 : end]))
            at = end
    return result


def _layers(relation: str, columns: Sequence[Column], first: str = "") -> str:
    trimmed, words = _trimmed(columns), _without_missing(columns)
    names = ", ".join(_t(c) for c in columns)
    inner = f"SELECT {first}{trimmed[2:]} FROM {relation}"
    kept = "n, raw, " if first else ""
    return f"(SELECT {kept}{names}{words} FROM ({inner}))"


def _fitting(column: Column, counts: _Counts) -> list[Plan]:
    return [plan for plan, bad in zip(column.proposals, counts.bad, strict=True) if not bad]


def _settled(fitting: list[Plan]) -> list[Plan]:
    """Date plans whose order of day and month the values themselves decide."""
    orders = {p.style[:3] for p in fitting if p.style[:3] in ("dmy", "mdy") and "." not in p.style}
    return [p for p in fitting if p.style[:3] in orders] if len(orders) == 1 else []


def _decimal_marks(columns: list[Column], choices: dict[str, list[Plan]]) -> set[str]:
    """The decimal marks that columns show beyond doubt: by a fraction, or by thousands marked more than once."""
    found = set()
    for column in columns:
        plans = choices[column.source][:1]
        if plans and not (column.marks and _readings(choices[column.source])):
            plan = plans[0]
            if plan.kind == "decimal" or (plan.kind == "integer" and plan.style in (".", ",", "in.")):
                found.add("." if plan.style == "plain" else plan.style[-1:])
    return found


def _readings(fitting: list[Plan]) -> bool:
    """Whether plans with either decimal mark fit."""
    return len({"." if p.style == "plain" else p.style[-1:] for p in fitting if p.kind in ("integer", "decimal")}) > 1


def _choose(
    column: Column, fitting: list[Plan], order: set[str], decimals: set[str], comma_first: bool, doubtful: list[Column]
) -> None:
    first = fitting[0]
    orders = {p.style[:3] for p in fitting if "." not in p.style and p.style[:3] in ("dmy", "mdy")}
    if len(orders) == 2 and first.style[:3] in orders:
        if len(order) != 1:
            doubtful.append(column)
            return
        first = next(p for p in fitting if p.style[:3] in order)
        doubtful.append(column)
    elif column.marks and _readings(fitting):
        first, sure = _by_marks(column.marks, fitting, decimals, comma_first)
        if not sure:
            doubtful.append(column)
    column.plan = first


def _by_marks(marks: Marks, fitting: list[Plan], decimals: set[str], comma_first: bool) -> tuple[Plan, bool]:
    """The reading of numbers such as 1,234, and whether the file or the column shows it rather than habit."""
    if len(decimals) == 1:
        decimal, sure = next(iter(decimals)), True
    elif comma_first:
        decimal, sure = ",", marks.thousands and marks.mark == "."
    else:
        thousands = marks.thousands or marks.mark == ","
        decimal, sure = (".," if marks.mark == "," else ",.")[0 if thousands else 1], marks.thousands
    fits = (p for p in fitting if ("." if p.style == "plain" else p.style[-1:]) == decimal)
    return next(fits, fitting[0]), sure


def _mixed_note(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    column: Column,
    plan: Plan,
    bad: int,
    values: int,
    row_number: Callable[[int], int],
) -> Note:
    layers = _layers(relation, [column], f"row_number() OVER () AS n, {identifier(column.source)} AS raw, ")
    found = connection.execute(f"SELECT n, raw FROM {layers} WHERE {plan.bad(_x(column))} LIMIT 5").fetchall()
    examples = ", ".join(f"'{str(v)[:40]}'" for v in dict.fromkeys(v for _, v in found))
    what = {"integer": "numbers", "decimal": "numbers", "boolean": "true or false"}.get(plan.kind, "dates")
    text = f"'{column.name}' stays text: {bad:,} of {values:,} values are no {what} ({examples})."
    return Note("cells-unparsed", text, bad, places([row_number(n) for n, _ in found]))


def _notes(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: list[Column],
    counts: dict[str, _Counts],
    doubtful: list[Column],
) -> list[Note]:
    notes = []
    typed = [c for c in columns if c.plan.kind != "text"]
    empty = [c for c in typed if counts[c.source].missing]
    if empty:
        total = sum(counts[c.source].missing for c in empty)
        words = such_as(word for c in empty[:6] for word in _words_for_nothing(connection, relation, c))
        notes.append(Note("missing-words", f"{total:,} cells such as {words} in {_names(empty)} were read as empty.", total))
    percent = [c for c in typed if c.plan.percent]
    if percent:
        text = f"Percent signs were taken off {_names(percent)}: 12.5% is 12.5."
        notes.append(Note("percent", text, sum(counts[c.source].values for c in percent)))
    notes += [_currency(connection, relation, c, counts) for c in typed if c.plan.currency]
    comma = [c for c in typed if c.plan.style in (",", " ,") and c.plan.kind == "decimal"]
    if comma:
        text = f"The comma was read as the decimal mark in {_names(comma)} (1.234,5 is 1234.5)."
        notes.append(Note("decimal-comma", text, len(comma)))
    short = [c for c in typed if c.plan.style.endswith("2")]
    if short:
        notes.append(
            Note("two-digit-years", f"Years have two digits in {_names(short)}; 69 to 99 were read as 19xx.", len(short))
        )
    notes += [_doubt(c) for c in doubtful]
    return [n for n in notes if n.text]


def such_as(words: Iterable[str]) -> str:
    """`'(NA)', '..'`: at most three of what was read as no value."""
    return ", ".join(f"'{word}'" for word in list(dict.fromkeys(words))[:3])


def _words_for_nothing(connection: duckdb.DuckDBPyConnection, relation: str, column: Column) -> list[str]:
    absent = f"{_t(column)} IS NOT NULL AND {_x(column)} IS NULL"
    found = connection.execute(f"SELECT {_t(column)} FROM {_layers(relation, [column])} WHERE {absent} LIMIT 50").fetchall()
    return list(dict.fromkeys(str(row[0]) for row in found))[:3]


def _currency(connection: duckdb.DuckDBPyConnection, relation: str, column: Column, counts: dict[str, _Counts]) -> Note:
    """Says which sign was taken off; with two signs in a column the amounts do not add up, so that it stays text."""
    x = identifier(column.source)
    sign = f"regexp_extract({x}, {literal(_CURRENCY)})"
    signs = [r[0] for r in connection.execute(f"SELECT DISTINCT {sign} FROM {relation} WHERE {sign} <> '' ORDER BY 1").fetchall()]
    values = counts[column.source].values
    if len(signs) > 1:
        column.plan = TEXT
        return Note("currency-mixed", f"'{column.name}' stays text: it mixes {', '.join(signs)}.", values)
    return Note("currency-stripped", f"'{''.join(signs)}' was taken off the numbers in '{column.name}'.", values)


def _doubt(column: Column) -> Note:
    plan = column.plan
    if column.marks and plan.kind in ("integer", "decimal"):
        sign = "comma" if column.marks.mark == "," else "dot"
        reading = "a mark of thousands" if plan.kind == "integer" else "the decimal mark"
        example = column.marks.example
        text = f"In '{column.name}' the {sign} of numbers such as {example} was read as {reading}; nothing else shows it."
        return Note("numbers-ambiguous", text, 1)
    if plan.kind == "text":
        text = f"'{column.name}' stays text: its dates can be read as day/month or as month/day."
        return Note("dates-ambiguous", text, 1)
    order = "day before month" if plan.style.startswith("dmy") else "month before day"
    return Note(
        "dates-ambiguous", f"Dates in '{column.name}' were read with the {order}, as another column of this table shows.", 1
    )


def _names(columns: Sequence[Column]) -> str:
    names = ", ".join(f"'{c.name}'" for c in columns[:6])
    return names + (f" and {len(columns) - 6} more columns" if len(columns) > 6 else "")


def guarded_plans(samples: Sequence[Sequence[str]]) -> list[Plan] | None:
    """Plans for columns so plain that one pass may convert them and stop at the first surprise; None if a column is not."""
    plans = []
    for sample in samples:
        values = [s for s in sample if s]
        proposals = propose(values)
        if not proposals:
            plans.append(TEXT)
            continue
        first = next((p for p in proposals if all(p.fits(v) for v in values)), None)
        if first is None or first.style not in ("", "iso", "plain") or (first.style == "plain" and marks_of(values)):
            return None
        plans.append(replace(first, missing=False))
    return plans


def warm() -> None:
    """Load what the first table would have to wait for, in a process that waits."""
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet

    with duckdb.connect(":memory:") as connection:
        connection.register("block", pyarrow.table([pa.array(["a"])], names=["a"]))
        connection.execute("SELECT regexp_full_match(trim(a), 'a') FROM block").fetchall()

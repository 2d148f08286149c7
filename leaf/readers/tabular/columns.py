"""The types of columns: proposed from a sample, proven over every value, and written as Parquet by
DuckDB.

All or nothing: a column becomes a number, date, time or boolean only if every value in it is one or
is a word for "no value". Otherwise it stays text, and how many values stood in the way is said. So
nothing is lost, and nothing is read as something that it may not be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.readers.base import Note
from leaf.readers.tabular.cells import NO_VALUE
from leaf.readers.tabular.codes import BLANKS, SAMPLE, codes_in
from leaf.readers.tabular.column import (
    Column,
    Counts,
    ends_in_padding,
    known,
    layers_of,
    text_of,
    trimmed,
    unpadded,
    without_missing,
)
from leaf.readers.tabular.column_notes import (
    codes_note,
    mixed_note,
    notes_of,
    padded_notes,
    zone_note,
)
from leaf.readers.tabular.parse_plan import ParsePlan
from leaf.readers.tabular.plans import (
    GROUPED,
    OFFSET,
    ZONED,
    ThousandsMarks,
    as_written,
    is_padded,
    marks_of,
    proof_of,
    propose,
    twins_of,
)
from leaf.readers.tabular.sql import copy, identifier, literal
from leaf.readers.tabular.units import numeral_of
from leaf.readers.tabular.wide import narrowed
from leaf.readers.tabular.years import DAY, place_of_year

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


MAX_COLUMNS = 16_384
"""As many as a spreadsheet has."""
BATCH = 50
"""Columns proven in one query."""
_WIDE = 150
"""Above this number of columns they are converted in slices."""
_FEW = 20_000
"""Rows up to which planning takes longer than reading."""
_GROUP = 122_880
"""Rows of a part of a file that is read at a time, as DuckDB writes them."""
_ORDERS = ("dmy", "mdy", "ymd")
"""What the style of a plan for dates in figures begins with."""


@dataclass(frozen=True)
class WrittenTable:
    """A table that stands on disk."""

    rows: int
    columns: tuple[tuple[str, str], ...]
    notes: tuple[Note, ...]


def write(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: Sequence[Column],
    target: Path,
    *,
    comma_first: bool = False,
    row_number: Callable[[int], int] = lambda n: n,
) -> WrittenTable:
    """Decide each text column's type over all rows of `relation` (SQL) and write the table.

    `row_number` maps the n-th row to its number in the file.
    """
    text = [c for c in columns if c.text]
    notes = _decide(connection, relation, text, comma_first, row_number, together=False)
    rows = copy(connection, _select(relation, columns), target)
    return WrittenTable(rows, _types(columns), tuple(notes))


def write_table(
    connection: duckdb.DuckDBPyConnection,
    table: pa.Table,
    columns: Sequence[Column],
    target: Path,
    *,
    comma_first: bool = False,
    row_number: Callable[[int], int] = lambda n: n,
) -> WrittenTable:
    """The same for a table in memory. A wide one goes by in slices: DuckDB's planning grows faster
    than the number of columns."""
    from pyarrow import table as arrow_table

    arrays, notes = [], []
    size = max(1, len(columns)) if len(columns) <= _WIDE else BATCH
    for start in range(0, len(columns), size):
        batch = columns[start : start + size]
        connection.register("block", table.select([c.source for c in batch]))
        try:
            text, few = [c for c in batch if c.text], table.num_rows <= _FEW
            notes += _decide(connection, "block", text, comma_first, row_number, together=few)
            connection.complete()
            arrays += connection.sql(_select("block", batch)).to_arrow_table().columns
        finally:
            connection.unregister("block")
    written = arrow_table(arrays, names=[c.name for c in columns])
    _write_arrow(written, target)
    return WrittenTable(int(written.num_rows), _types(columns), tuple(notes))


def _write_arrow(table: pa.Table, target: Path) -> None:
    """As Parquet: texts by dictionary, numbers without, which takes half of DuckDB's time for them
    and no more room."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = [
        f.name
        for f in table.schema
        if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)
    ]
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
            source = unpadded(source) if c.padded else source
            source = (
                f"CASE WHEN trim({source}, {literal(BLANKS)}) <> '' THEN {source} END"
                if c.plan.kind == "text"
                else c.plan.sql(known(c) if c.plan.missing else text_of(c))
            )
        values.append(f"{source} AS {identifier(c.name)}")
    sources = ", ".join(identifier(c.source) for c in columns)
    layers = f"(SELECT {sources}{trimmed(typed)} FROM {relation})"
    if wordy:
        layers = f"(SELECT *{without_missing(wordy)} FROM {layers})"
    return f"SELECT {', '.join(values)} FROM {layers}"


def _decide(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: list[Column],
    comma_first: bool,
    row_number: Callable[[int], int],
    *,
    together: bool,
) -> list[Note]:
    """`together`: columns with the same proposals are proven as one, which is planned once and
    copies each value."""
    _propose_all(connection, relation, columns, comma_first)
    unproven = [c for c in columns if c.proposals]
    counts = _proof(connection, relation, unproven, together)
    choices = {c.source: _fitting(c, counts[c.source]) for c in unproven}
    for column in unproven:
        fitting = choices[column.source]
        if not column.marks and _readings(fitting):
            column.marks = marks_of(_marked(connection, relation, column))
        choices[column.source] = _with_year_placed(connection, relation, column, fitting)
    settled = [orders for fitting in choices.values() if len(orders := _orders(fitting)) == 1]
    order = {order for orders in settled for order in orders}
    decimals = _decimal_marks(unproven, choices)
    doubtful: list[Column] = []
    mixed: list[tuple[Column, ParsePlan, int]] = []
    for column in unproven:
        fitting = choices[column.source]
        if fitting:
            _choose(column, fitting, order, decimals, comma_first, doubtful)
            if not counts[column.source].missing:
                column.plan = replace(column.plan, missing=False)
        else:
            plan, bad = min(
                zip(column.proposals, counts[column.source].bad, strict=True),
                key=lambda item: item[1],
            )
            if bad < 0.5 * counts[column.source].values:
                mixed.append((column, plan, bad))
    zoned = [_local(connection, relation, c) for c in unproven if c.plan.type == ZONED]
    notes = [
        mixed_note(connection, relation, *item, counts[item[0].source].values, row_number)
        for item in mixed[:20]
    ]
    notes += [note for note in zoned if note]
    notes += [codes_note(c.name, c.codes) for c in columns if c.codes]
    notes += padded_notes(_padded(connection, relation, columns))
    return notes + notes_of(connection, relation, unproven, counts, doubtful)


def _propose_all(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: list[Column], comma_first: bool
) -> None:
    for start in range(0, len(columns), 500):
        batch = columns[start : start + 500]
        select = ", ".join(identifier(c.source) for c in batch)
        rows = connection.execute(f"SELECT {select} FROM {relation} LIMIT {SAMPLE}").fetchall()
        for position, column in enumerate(batch):
            sample = [r[position] for r in rows if r[position]]
            if len(rows) == SAMPLE and not any(
                s.strip() and s.strip().lower() not in NO_VALUE for s in sample
            ):
                value, layers = known(column), layers_of(relation, [column])
                late = f"SELECT {value} FROM {layers} WHERE {value} IS NOT NULL LIMIT {SAMPLE}"
                sample = [r[0] for r in connection.execute(late).fetchall()]
            column.proposals = propose(sample, comma_first)
            if column.proposals and column.proposals[0].wide:
                sample = list(map(narrowed, sample))
            if column.proposals and column.proposals[0].units:
                sample = list(map(numeral_of, sample))
            column.codes = "" if column.proposals else codes_in(sample)
            column.marks = marks_of(sample) if column.proposals else None
            column.padded = is_padded(sample)
            column.proof = proof_of(sample) if column.proposals else 0
            column.twins = twins_of(sample) if column.proposals else None
            column.unmarked = not column.marks and _readings(column.proposals)


def _padded(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: list[Column]
) -> list[Column]:
    """Columns of text of which not the sample alone ends in blanks."""
    for column in columns:
        column.padded &= column.plan.kind == "text"
    padded = [c for c in columns if c.padded]
    if not padded:
        return []
    asked = ", ".join(
        f"count(DISTINCT length({x})), count({x}), count(*) FILTER (WHERE {ends_in_padding(x)})"
        for x in (f"nullif({identifier(c.source)}, '')" for c in padded)
    )
    counts = connection.execute(f"SELECT {asked} FROM {relation}").fetchone() or ()
    for column, lengths, values, ending in zip(
        padded, counts[::3], counts[1::3], counts[2::3], strict=True
    ):
        column.even = lengths == 1
        column.padded = column.even or 2 * ending >= values
    return [c for c in padded if c.padded]


def _proof(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: list[Column], together: bool
) -> dict[str, Counts]:
    """Count what does not fit: first against what is likeliest, then, where that fails, against the
    other proposals."""
    rest = {}
    for column in columns:
        if column.marks or column.proposals[0].style[:3] in _ORDERS:
            continue
        rest[column.source] = column.proposals[1:]
        column.proposals = column.proposals[:1]
    prove = _prove_together if together else _prove
    counts = prove(connection, relation, columns)
    again = [c for c in columns if all(counts[c.source].bad) and rest.get(c.source)]
    for column in again:
        column.proposals = [*column.proposals, *rest[column.source]]
    return counts | prove(connection, relation, again)


def _prove(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: list[Column]
) -> dict[str, Counts]:
    result = {}
    for start in range(0, len(columns), BATCH):
        batch = columns[start : start + BATCH]
        select = []
        for column in batch:
            select += [f"count({known(column)})", f"count({text_of(column)})"]
            select += [f"count(*) FILTER {plan.bad(known(column))}" for plan in column.proposals]
        row = (
            connection.execute(
                f"SELECT {', '.join(select)} FROM {layers_of(relation, batch)}"
            ).fetchone()
            or ()
        )
        at = 0
        for column in batch:
            values, total = int(row[at]), int(row[at + 1])
            end = at + 2 + len(column.proposals)
            result[column.source] = Counts(
                values, total - values, tuple(int(n) for n in row[at + 2 : end])
            )
            at = end
    return result


def _prove_together(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: list[Column]
) -> dict[str, Counts]:
    """The same, by one query for all columns that have the same proposals: their values stand in
    one column `v`, beside the number `part` of the column that each is from."""
    alike: dict[tuple[ParsePlan, ...], list[Column]] = {}
    for column in columns:
        alike.setdefault(tuple(column.proposals), []).append(column)
    alone = [same[0] for same in alike.values() if len(same) == 1]
    result = _prove(connection, relation, alone)
    one = Column("v", "v")
    for plans, same in alike.items():
        if len(same) == 1:
            continue
        values = ", ".join(identifier(c.source) for c in same)
        parts = (
            f"SELECT unnest(range({len(same)})) AS part, unnest([{values}]) AS v FROM {relation}"
        )
        texts = f"SELECT part{trimmed([one])} FROM ({parts})"
        layers = f"SELECT part, {text_of(one)}{without_missing([one])} FROM ({texts})"
        bad = [f"count(*) FILTER {plan.bad(known(one))}" for plan in plans]
        counted = ", ".join([f"count({known(one)})", f"count({text_of(one)})", *bad])
        rows = connection.execute(
            f"SELECT part, {counted} FROM ({layers}) GROUP BY part"
        ).fetchall()
        by_part = {int(part): [int(n) for n in counts] for part, *counts in rows}
        for part, column in enumerate(same):
            known_values, total, *wrong = by_part.get(part) or [0] * (2 + len(plans))
            result[column.source] = Counts(known_values, total - known_values, tuple(wrong))
    return result


def _fitting(column: Column, counts: Counts) -> list[ParsePlan]:
    return [plan for plan, bad in zip(column.proposals, counts.bad, strict=True) if not bad]


def _marked(connection: duckdb.DuckDBPyConnection, relation: str, column: Column) -> list[str]:
    """Values with a mark, where those of the sample have none."""
    value = known(column)
    rows = connection.execute(
        f"SELECT DISTINCT {value} FROM {layers_of(relation, [column])} "
        f"WHERE regexp_matches({value}, '[.,．，]') LIMIT {SAMPLE}"
    ).fetchall()
    return [numeral_of(narrowed(str(row[0]))) for row in rows]


def _local(connection: duckdb.DuckDBPyConnection, relation: str, column: Column) -> Note | None:
    """Read times with offsets as the clocks of their place showed them, where they are of one."""
    value = known(column)
    rows = connection.execute(
        f"SELECT DISTINCT regexp_extract({value}, {literal(f'{OFFSET}$')}) AS zone "
        f"FROM {layers_of(relation, [column])} WHERE {value} IS NOT NULL ORDER BY zone"
    ).fetchall()
    offsets = [str(row[0]) for row in rows]
    missing = column.plan.missing
    column.plan = replace(as_written(column.plan, offsets), missing=missing)
    return zone_note(column.name, offsets, in_utc=column.plan.type == ZONED)


def _orders(fitting: list[ParsePlan]) -> set[str]:
    """The orders of day, month and year in which dates can be read; those with dots for
    themselves, as other countries write so."""
    return {p.style.rstrip("2") for p in fitting if p.style[:3] in _ORDERS}


def _with_year_placed(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    column: Column,
    fitting: list[ParsePlan],
) -> list[ParsePlan]:
    """The plans that remain when it is known whether a year of two digits stands first or last."""
    first = [p for p in fitting if p.style in ("ymd2", "ymd.2")]
    last = [p for p in fitting if p.style[:3] in ("dmy", "mdy")]
    if not first or not last:
        return fitting
    numbered = f"row_number() OVER () AS n, {identifier(column.source)} AS raw, "
    rows = connection.execute(
        f"SELECT regexp_extract({known(column)}, {literal(DAY)}) AS day "
        f"FROM {layers_of(relation, [column], numbered)} WHERE {known(column)} IS NOT NULL "
        f"GROUP BY day ORDER BY min(n)"
    ).fetchall()
    texts = [str(row[0]) for row in rows]
    place = place_of_year(texts, {p.style[:3] for p in last})
    if not place:
        column.either_end = texts[0]
        return fitting
    return first if place == "first" else last


def _decimal_marks(columns: list[Column], choices: dict[str, list[ParsePlan]]) -> dict[str, int]:
    """The decimal marks that columns show, by a fraction or by thousands marked more than once, and
    how much they prove together."""
    by_mark: dict[str, int] = {}
    for column in columns:
        plans = choices[column.source][:1]
        alone = column.unmarked and len(column.proposals) == 1  # and so has no mark to show
        if plans and not alone and not _readings(choices[column.source]):
            plan = plans[0]
            if plan.kind == "decimal" or (
                plan.kind == "integer" and plan.style in (".", ",", "in.")
            ):
                mark = plan.mark
                by_mark[mark] = by_mark.get(mark, 0) + column.proof
    return by_mark


def _readings(fitting: Sequence[ParsePlan]) -> bool:
    """Whether plans with either decimal mark fit."""
    return len({p.mark for p in fitting if p.kind in ("integer", "decimal")}) > 1


def _choose(
    column: Column,
    fitting: list[ParsePlan],
    order: set[str],
    decimals: dict[str, int],
    comma_first: bool,
    doubtful: list[Column],
) -> None:
    first = fitting[0]
    orders = _orders(fitting)
    if len(orders) > 1:
        doubtful.append(column)
        if len(order & orders) != 1:
            return
        first = next(p for p in fitting if p.style.rstrip("2") in order)
    elif column.marks and _readings(fitting):
        first, sure = _by_marks(column, column.marks, fitting, decimals, comma_first)
        if not sure:
            doubtful.append(column)
    column.plan = first


def _by_marks(
    column: Column,
    marks: ThousandsMarks,
    fitting: list[ParsePlan],
    decimals: dict[str, int],
    comma_first: bool,
) -> tuple[ParsePlan, bool]:
    """The reading of numbers such as 1,234, and whether the file or the column shows it rather than
    habit."""
    if len(decimals) == 1:
        ((shown, proof),) = decimals.items()
        decimal = _borrowed(marks, shown, proof, comma_first)
        column.contested = decimal != shown or _expected(marks, comma_first) not in ("", shown)
        sure = not column.contested
    elif comma_first:
        decimal, sure = ",", marks.thousands and marks.mark == "."
    else:
        thousands = marks.thousands or marks.mark == ","
        decimal, sure = (
            (".," if marks.mark == "," else ",.")[0 if thousands else 1],
            marks.thousands,
        )
    return next((p for p in fitting if p.mark == decimal), fitting[0]), sure


def _expected(marks: ThousandsMarks, comma_first: bool) -> str:
    """The decimal mark that goes with the delimiter, or else with the column's own values."""
    if comma_first:
        return ","
    return _without_thousands(marks) if marks.thousands else ""


def _without_thousands(marks: ThousandsMarks) -> str:
    """The decimal mark if the column's mark is one of thousands."""
    return "," if marks.mark == "." else "."


def _borrowed(marks: ThousandsMarks, shown: str, proof: int, comma_first: bool) -> str:
    """The decimal mark where other columns show one: theirs, unless the delimiter or the column's
    own values speak against it and they prove too little."""
    expected = _expected(marks, comma_first)
    own = marks.thousands and _without_thousands(marks) != shown
    enough = proof >= (GROUPED if own else 2)
    return shown if enough or not expected else expected

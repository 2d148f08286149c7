"""Columns of plain Python values (cells of a spreadsheet, members of JSON records) as typed columns
of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.readers.base import Note
from leaf.readers.tabular.cells import NO_VALUE
from leaf.readers.tabular.codes import SAMPLE, different
from leaf.readers.tabular.column import Column
from leaf.readers.tabular.column_notes import NAMED_ALONE, missing_notes
from leaf.readers.tabular.columns import WrittenTable, write_table
from leaf.readers.tabular.mixed import Numbers, TextsAmong

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_DAY = 86_400_000_000
"""Microseconds."""

Problems = dict[str, list[tuple[str, int]]]
"""Kind of note -> columns with the number of their values."""
_PLAIN = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d+)?(?<!\d\.\d{3})", re.ASCII)
"""Numbers that can be read in one way alone; 1.234 can be in two."""
_WORDS = "words of "
"""With a column's name after it no kind of note, but which words were read as no value there."""


def write_values(
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    values: Sequence[Sequence[Any] | pa.ChunkedArray],
    target: Path,
    *,
    row_number: Callable[[int], int] = lambda n: n,
    kinds: Sequence[Set[type] | None] = (),
) -> WrittenTable:
    """Write columns of values as Parquet; texts are typed as in a CSV, where all of them allow it.

    A column is a sequence of Python values or an array of texts, numbers or days; `kinds` are the
    types of Python in each column, where they are known already.
    """
    import pyarrow as pa

    arrays, columns = [], []
    problems: Problems = {}
    texts = TextsAmong(connection, lambda: _text_samples(values, kinds), row_number)
    for n, name in enumerate(names):
        column, known = values[n], kinds[n] if n < len(kinds) else None
        if isinstance(column, pa.ChunkedArray):
            array, kind = _of_one_type(column, name, problems)
        else:
            array, kind = typed(
                column,
                set(map(type, column)) if known is None else set(known),
                name,
                problems,
                texts,
            )
        arrays.append(array)
        columns.append(Column(f"c{n}", name, text=kind == "text", type=kind))
    table = pa.Table.from_arrays(arrays, names=[c.source for c in columns])
    written = write_table(connection, table, columns, target, row_number=row_number)
    problems.setdefault("numbers-as-text", []).extend(
        (c.name, written.rows) for c in columns if c.text and c.plan.kind in ("integer", "decimal")
    )
    still = {c.name for c in columns if c.plan.kind == "text"}
    problems["types-mixed"] = [one for one in problems.get("types-mixed", ()) if one[0] in still]
    return replace(written, notes=(*problem_notes(problems), *texts.notes(), *written.notes))


def _text_samples(
    values: Sequence[Sequence[Any] | pa.ChunkedArray], kinds: Sequence[Set[type] | None]
) -> Iterator[list[str]]:
    """The first texts of each column that holds nothing else."""
    import pyarrow as pa

    for n, column in enumerate(values):
        if isinstance(column, pa.ChunkedArray):
            some = column.slice(0, SAMPLE).to_pylist() if pa.types.is_string(column.type) else []
        else:
            known = kinds[n] if n < len(kinds) else None
            some = column[:SAMPLE] if known is None or known <= {str, type(None)} else []
        if some and all(v is None or type(v) is str for v in some):
            yield different([v for v in some if v])


_PROBLEMS = {
    "numbers-as-text": "Numbers stored as text in {names} were read as numbers.",
    "types-mixed": "{names} mix{es} values of several kinds (numbers, dates, text); kept as text.",
    "durations": "Durations in {names} were read as seconds.",
    "numbers-long": "Whole numbers of more than 15 digits in {names} are not exact: the file keeps no more.",
}


def problem_notes(problems: Problems) -> tuple[Note, ...]:
    """What is said of columns with problems."""
    notes = []
    for kind, counts in problems.items():
        if not counts or kind.startswith(_WORDS):
            continue
        if kind == "missing-words":
            each = [
                (name, n, [word for word, _ in problems[_WORDS + name]])
                for name, n in counts[:NAMED_ALONE]
            ]
            notes += missing_notes(each, counts[NAMED_ALONE:])
            continue
        names = ", ".join(f"'{n}'" for n, _ in counts[:6]) + (
            f" and {len(counts) - 6} more columns" if len(counts) > 6 else ""
        )
        count = sum(n for _, n in counts)
        text = _PROBLEMS[kind].format(names=names, es="es" if len(counts) == 1 else "")
        notes.append(Note(kind, text, count))
    return tuple(notes)


def typed(
    values: Sequence[Any],
    kinds: set[type],
    name: str,
    problems: Problems,
    texts: TextsAmong,
) -> tuple[pa.Array, str]:
    """A column as Arrow values and its DuckDB type, or as text (`text`) for which a type is still
    to be found."""
    import pyarrow as pa

    kinds.discard(type(None))
    if kinds == {str}:
        return pa.array(values, pa.string()), "text"
    if str in kinds:
        words = {v for v in values if type(v) is str and v and not v.isspace()}
        readable = _readable(words, kinds, lambda some: texts.read(name, some, values))
        if readable is None or (words and not readable):
            problems.setdefault("types-mixed", []).append(
                (name, sum(type(v) is str and v in words for v in values))
            )
            described = pa.array([describe(v) or None for v in values], pa.string())
            return described, "text" if readable is None else "VARCHAR"
        missing = (
            sum(type(v) is str and v in words and readable[v] is None for v in values)
            if words
            else 0
        )
        if missing:
            problems.setdefault("missing-words", []).append((name, missing))
            problems.setdefault(_WORDS + name, []).extend(
                (word.strip(), 0) for word in sorted(words) if readable[word] is None
            )
        if any(v is not None for v in readable.values()):
            problems.setdefault("numbers-as-text", []).append(
                (name, sum(type(v) is str and v in words for v in values) - missing)
            )
        values = [readable.get(v) if type(v) is str else v for v in values]
        kinds |= {type(v) for v in readable.values() if v is not None}
        kinds.discard(str)
    return _native(values, kinds, name, problems)


def _of_one_type(
    column: pa.ChunkedArray, name: str, problems: Problems
) -> tuple[pa.ChunkedArray, str]:
    """A column that was an array from the beginning, and its DuckDB type, or `text`."""
    import pyarrow as pa

    if pa.types.is_string(column.type):
        return column, "text"
    if pa.types.is_date(column.type):
        return column, "DATE"
    if all(_whole(chunk.to_numpy()) for chunk in column.chunks):
        return column.cast(pa.int64()), "BIGINT"
    _say_long(column.to_numpy(), name, problems)
    return column, "DOUBLE"


def _readable(
    words: set[str], kinds: set[type], read: Callable[[set[str]], Numbers | None]
) -> Mapping[str, float | None] | None:
    """What the texts among other values mean: nothing, or a number among numbers. None if one means
    something else, and nothing at all where one can be read in two ways."""
    readable: dict[str, float | None] = {
        word: None for word in words if word.strip().lower() in NO_VALUE
    }
    told = words - readable.keys()
    if not told:
        return readable
    if not kinds <= {str, int, float}:
        return None
    if all(map(_PLAIN.fullmatch, map(str.strip, told))):
        return readable | {word: float(word) for word in told}
    numbers = read(told)
    return readable | numbers if numbers else numbers


def _native(
    values: Sequence[Any], kinds: set[type], name: str, problems: Problems
) -> tuple[pa.Array, str]:
    import pyarrow as pa

    if not kinds:
        return pa.array([None] * len(values), pa.string()), "VARCHAR"
    if kinds <= {int, float}:
        return _numbers(values, float in kinds, name, problems)
    if kinds == {bool}:
        return pa.array(values, pa.bool_()), "BOOLEAN"
    if kinds == {date}:
        return pa.array(values, pa.date32()), "DATE"
    if kinds <= {date, datetime}:
        full = (
            [datetime.combine(v, time()) if type(v) is date else v for v in values]
            if date in kinds
            else values
        )
        moments = pa.array(full, pa.timestamp("us"))
        whole = not (moments.drop_null().cast(pa.int64()).to_numpy() % _DAY).any()
        return (moments.cast(pa.date32()), "DATE") if whole else (moments, "TIMESTAMP")
    if kinds == {time}:
        return pa.array(values, pa.time64("us")), "TIME"
    if kinds == {timedelta}:
        problems.setdefault("durations", []).append((name, len(values)))
        return pa.array(
            [None if v is None else v.total_seconds() for v in values], pa.float64()
        ), "DOUBLE"
    problems.setdefault("types-mixed", []).append((name, len(values)))
    return pa.array([describe(v) or None for v in values], pa.string()), "text"


def _numbers(
    values: Sequence[Any], floats: bool, name: str, problems: Problems
) -> tuple[pa.Array, str]:
    import pyarrow as pa

    try:
        array = pa.array(values, pa.float64() if floats else pa.int64())
    except (OverflowError, pa.ArrowInvalid):  # integers that neither type can hold exactly
        return pa.array([None if v is None else str(v) for v in values], pa.string()), "VARCHAR"
    if not floats:
        return array, "BIGINT"
    array = _without_nan(array, name, problems)
    numbers = array.drop_null().to_numpy()
    if _whole(numbers):
        return array.cast(pa.int64()), "BIGINT"
    _say_long(numbers, name, problems)
    return array, "DOUBLE"


def _without_nan(array: pa.Array, name: str, problems: Problems) -> pa.Array:
    """Numbers without NaN, which JSON of some programs holds: see `nans`."""
    import pyarrow.compute as pc

    nan = pc.fill_null(pc.is_nan(array), False)
    if not (count := pc.sum(nan).as_py()):
        return array
    problems.setdefault("missing-words", []).append((name, count))
    problems.setdefault(_WORDS + name, []).append(("NaN", 0))
    return pc.if_else(nan, None, array)


def _say_long(numbers: Any, name: str, problems: Problems) -> None:
    """Whole numbers such as identifiers that a number of 53 bits does not hold."""
    size = abs(numbers)
    large = size >= 2**53
    if large.any() and (long := int((large & (size < 1e19) & (numbers % 1 == 0)).sum())):
        problems.setdefault("numbers-long", []).append((name, long))


def _whole(numbers: Any) -> bool:
    """Whether all are whole; most columns with a fraction show one at once."""
    some = (numbers[:1_000] % 1 == 0).all()
    return bool(some and ((numbers % 1 == 0) & (abs(numbers) < 2**53)).all())


def describe(value: Any) -> str:
    """A cell as text, as a person would write it."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)

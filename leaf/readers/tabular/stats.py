"""Files of statistics programs: SPSS (.sav, .zsav, .por), Stata (.dta), SAS (.sas7bdat, .xpt),
through pyreadstat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.readers.base import Note
from leaf.readers.tabular.typed import TypedReader, TypedSource, damaged

if TYPE_CHECKING:
    import pyarrow as pa

_CELLS = 5_000_000
"""Values held at a time."""
_SHOWN = 5
"""Columns whose labels a note gives as examples."""

Values = dict[str, Any]


class StatsReader(TypedReader):
    """One table a file. Codes that all have a label become their labels, as the program itself
    shows them."""

    kind = "stats"
    media_type = "application/x-spss-sav"

    def sources(self, path: Path) -> list[TypedSource]:
        columns, meta = _read(path, metadataonly=True)
        del columns
        names = tuple(meta.column_names)
        rows = (
            meta.number_rows
            if meta.number_rows is not None and meta.number_rows >= 0
            else _count(path)
        )
        table = _Table(path, names, _labels(meta))
        labelled = table.labelled if table.labels else {}
        return [TypedSource("", names, rows, table.batches, _notes(meta, labelled))]


def _reader(path: Path) -> Any:
    """The function of pyreadstat for a file, by its first bytes."""
    import pyreadstat

    with path.open("rb") as file:
        head = file.read(1_000)
    if head.startswith((b"$FL2", b"$FL3")):
        return pyreadstat.read_sav
    if b"SPSSPORT" in head:
        return pyreadstat.read_por
    if head.startswith(b"HEADER RECORD"):
        return pyreadstat.read_xport
    if head.startswith(b"\x00" * 12):
        return pyreadstat.read_sas7bdat
    return pyreadstat.read_dta


def _read(path: Path, **options: Any) -> tuple[Values, Any]:
    """Columns as lists of Python values, and what the file says of them. Raises
    UnreadableFileError."""
    import pyreadstat

    try:
        columns, meta = _reader(path)(str(path), output_format="dict", **options)
        return columns, meta
    except pyreadstat.ReadstatError as e:
        raise damaged("file of SPSS, Stata or SAS") from e
    except (pyreadstat.PyreadstatError, OverflowError, UnicodeDecodeError, ValueError) as e:
        if options.get("disable_datetime_conversion"):
            raise damaged("file of SPSS, Stata or SAS") from e
        return _read(path, **options, disable_datetime_conversion=True)


def _count(path: Path) -> int:
    """Rows of a file that does not say how many it has."""
    _, meta = _read(path, usecols=[])
    if meta.number_rows and meta.number_rows > 0:
        return int(meta.number_rows)
    columns, _ = _read(path)
    return max((len(values) for values in columns.values()), default=0)


def _labels(meta: Any) -> dict[str, dict[Any, str]]:
    """Columns of the file whose codes have labels."""
    return {
        name: labels
        for name, labels in meta.variable_value_labels.items()
        if labels and name in meta.column_names
    }


@dataclass
class _Table:
    """The columns of a file, read once if they fit into memory, else once for their types and once
    for their values."""

    path: Path
    names: tuple[str, ...]
    labels: dict[str, dict[Any, str]]
    _whole: Values | None = None
    """All columns, where they fit."""

    def pieces(self) -> Iterator[Values]:
        """The file's columns, some rows at a time."""
        if self._whole is not None:
            yield self._whole
            return
        rows = max(20_000, _CELLS // max(1, len(self.names)))
        offset = 0
        while True:
            piece, _ = _read(self.path, row_offset=offset, row_limit=rows)
            count = max((len(values) for values in piece.values()), default=0)
            if count < rows and offset == 0:
                self._whole = piece
            if count:
                yield piece
            if count < rows:
                return
            offset += rows

    @cached_property
    def _seen(self) -> tuple[dict[str, set[str]], dict[str, set[Any]]]:
        """Kinds of values of each column, and the values of those with labels."""
        kinds: dict[str, set[str]] = {name: set() for name in self.names}
        values: dict[str, set[Any]] = {name: set() for name in self.labels}
        for piece in self.pieces():
            for name in self.names:
                kinds[name] |= _kinds(piece[name])
            for name, column_values in values.items():
                column_values.update(piece[name])
        return kinds, values

    @cached_property
    def labelled(self) -> dict[str, dict[Any, str]]:
        """Columns of codes of which every one that occurs has a label: an age with a name for 99
        alone stays a number."""
        _, values = self._seen
        return {
            name: labels
            for name, labels in self.labels.items()
            if (values[name] - {None, ""}) <= set(labels)
        }

    def batches(self) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        kinds, _ = self._seen
        labelled = self.labelled if self.labels else {}
        types = {
            name: _arrow_type({"label"} if name in labelled else column_kinds)
            for name, column_kinds in kinds.items()
        }
        for piece in self.pieces():
            arrays = [
                pa.array(_values(piece[n], types[n], labelled.get(n)), types[n]) for n in self.names
            ]
            yield pa.record_batch(arrays, names=list(self.names))


def _kinds(values: list[Any]) -> set[str]:
    kinds: set[str] = set()
    for kind in set(map(type, values)) - {type(None)}:
        if kind is float:
            whole = all(v.is_integer() and abs(v) < 2**53 for v in values if type(v) is float)
            kinds.add("whole" if whole else "float")
        else:
            kinds.add(kind.__name__)
    return kinds


def _arrow_type(kinds: set[str]) -> pa.DataType:
    import pyarrow as pa

    if kinds <= {"whole", "int"} and kinds:
        return pa.int64()
    if kinds <= {"whole", "int", "float"} and kinds:
        return pa.float64()
    single = {
        "date": pa.date32(),
        "datetime": pa.timestamp("us"),
        "time": pa.time64("us"),
        "bool": pa.bool_(),
    }
    return single.get(next(iter(kinds)), pa.string()) if len(kinds) == 1 else pa.string()


def _values(values: list[Any], kind: pa.DataType, labels: dict[Any, str] | None) -> list[Any]:
    import pyarrow as pa

    if labels is not None:
        return [labels.get(v, v) if v not in (None, "") else None for v in values]
    if pa.types.is_string(kind):
        return [None if v is None or v == "" else str(v) for v in values]
    if pa.types.is_integer(kind):
        return [None if v is None else int(v) for v in values]
    return values


def _notes(meta: Any, labelled: dict[str, dict[Any, str]]) -> tuple[Note, ...]:
    notes = []
    if labelled:
        shown = "; ".join(
            f"'{n}': {_some(labels)}" for n, labels in list(labelled.items())[:_SHOWN]
        )
        text = f"Codes of {len(labelled)} columns were replaced by their labels: {shown}."
        notes.append(Note("codes-labelled", text, len(labelled)))
    partly = {
        n: v
        for n, v in meta.variable_value_labels.items()
        if n not in labelled and v and n in meta.column_names
    }
    if partly:
        shown = "; ".join(f"'{n}': {_some(labels)}" for n, labels in list(partly.items())[:_SHOWN])
        text = (
            f"{len(partly)} columns hold codes with labels among other values, and stay as "
            f"they are: {shown}."
        )
        notes.append(Note("codes-kept", text, len(partly)))
    descriptions = [
        (n, label)
        for n, label in zip(meta.column_names, meta.column_labels or (), strict=False)
        if label and label != n
    ]
    if descriptions:
        shown = "; ".join(f"'{n}' is \"{label}\"" for n, label in descriptions[:40])
        more = f"; and {len(descriptions) - 40} more" if len(descriptions) > 40 else ""
        notes.append(
            Note(
                "columns-described",
                f"The file describes its columns: {shown}{more}.",
                len(descriptions),
            )
        )
    return tuple(notes)


def _some(labels: dict[Any, str]) -> str:
    shown = ", ".join(f"{_code(code)} = {label}" for code, label in list(labels.items())[:4])
    return shown + (", …" if len(labels) > 4 else "")


def _code(code: Any) -> str:
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)

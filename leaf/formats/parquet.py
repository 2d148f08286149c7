"""Parquet files: already tables, so that they are copied as they are unless their columns hold lists or records."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.errors import UnreadableFileError
from leaf.formats.base import Note, Outline, Passage, TableInfo, Where
from leaf.formats.columns import connect, copy, identifier, literal
from leaf.formats.header import unique_names
from leaf.formats.values import describe

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_NESTED = ("STRUCT", "MAP", "UNION")


class ParquetReader:
    """Apache Parquet."""

    def outline(self, path: Path) -> Outline:
        """From the file's own metadata; no data is read."""
        with _opened(path) as file:
            meta = file.metadata
            size = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
            return Outline(
                "parquet",
                "application/vnd.apache.parquet",
                rows=meta.num_rows,
                columns=len(file.schema_arrow.names),
                tokens=int(size / 2.5),
            )

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        """One passage a row; row groups before the first one asked for are not read."""
        with _opened(path) as file:
            names = file.schema_arrow.names
            left, right = where.columns or (1, len(names))
            header = f"[columns: {' | '.join(names[left - 1 : right])}]\n"
            number, group = 0, 0
            while group < file.num_row_groups and number + file.metadata.row_group(group).num_rows < where.first:
                number += file.metadata.row_group(group).num_rows
                group += 1
            for batch in file.iter_batches(1_000, row_groups=list(range(group, file.num_row_groups))):
                if number + batch.num_rows < where.first:
                    number += batch.num_rows
                    continue
                columns = [batch.column(i).to_pylist() for i in range(left - 1, min(right, len(names)))]
                for cells in zip(*columns, strict=True):
                    number += 1
                    if where.last is not None and number > where.last:
                        return
                    if number >= where.first:
                        yield Passage(header + " | ".join(describe(c) for c in cells), "row", number)
                        header = ""

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """The file itself, or a copy with nested values as JSON text and column names made unique."""
        import duckdb

        target = out / "0.parquet"
        source = f"read_parquet({literal(str(path))})"
        with _opened(path) as file:
            given, count = list(file.schema_arrow.names), int(file.metadata.num_rows)
        with connect(out) as connection:
            try:
                described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
                names, _, repeated = unique_names(given)
                nested = {name for name, kind, *_ in described if kind.endswith("[]") or kind.startswith(_NESTED) or "]" in kind}
                plain = not nested and list(names) == given == [d[0] for d in described]
                if plain:
                    out.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, target)
                else:
                    parts = [
                        f"{_as_text(d[0]) if d[0] in nested else identifier(d[0])} AS {identifier(n)}"
                        for d, n in zip(described, names, strict=True)
                    ]
                    count = copy(connection, f"SELECT {', '.join(parts)} FROM {source}", target)
                columns = tuple((n, "VARCHAR" if d[0] in nested else str(d[1])) for d, n in zip(described, names, strict=True))
            except duckdb.Error as e:
                raise _damaged(path) from e
        notes = []
        if nested:
            notes.append(Note("nested", f"Lists and records in {len(nested)} columns were turned into JSON text.", len(nested)))
        if repeated:
            notes.append(Note("names-repeated", f"{repeated} column names are repeated; a number was added to each.", repeated))
        return [TableInfo(target.name, "", f"rows 1-{count}", count, columns, notes=tuple(notes))]


def _as_text(column: str) -> str:
    return f"CAST(to_json({identifier(column)}) AS VARCHAR)"


def _damaged(path: Path) -> UnreadableFileError:
    return UnreadableFileError(f"{path.name} is no readable Parquet file.", "It may be cut short or encrypted: export it again.")


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as e:
        raise _damaged(path) from e
    with file:
        yield file

"""Arrow and ORC files: Feather 1 and 2, IPC files and streams, Apache ORC."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.readers.tabular.typed import TypedReader, TypedSource, damaged

if TYPE_CHECKING:
    import pyarrow as pa

_WHAT = "Arrow or ORC file"


class ArrowReader(TypedReader):
    """One table a file, its batches read as they are asked for."""

    kind = "arrow"
    media_type = "application/vnd.apache.arrow.file"

    def sources(self, path: Path) -> list[TypedSource]:
        with _translated():
            names, rows = _described(path)
        return [TypedSource("", names, rows, lambda: _batches(path))]


def _described(path: Path) -> tuple[tuple[str, ...], int]:
    import pyarrow as pa
    from pyarrow import feather, orc

    form = _form(path)
    if form == "orc":
        file = orc.ORCFile(path)
        return tuple(file.schema.names), int(file.nrows)
    if form == "feather":
        table = feather.read_table(path, memory_map=True)
        return tuple(table.column_names), int(table.num_rows)
    with pa.memory_map(str(path)) as data:
        if form == "stream":
            reader = pa.ipc.open_stream(data)
            return tuple(reader.schema.names), sum(batch.num_rows for batch in reader)
        file = pa.ipc.open_file(data)
        rows = sum(file.get_batch(i).num_rows for i in range(file.num_record_batches))
        return tuple(file.schema.names), rows


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    """All rows. What Arrow hands over of a file is as it stands there: texts that begin outside of
    it would be read from other memory."""
    with _translated():
        for batch in _unchecked(path):
            batch.validate(full=True)
            yield batch


def _unchecked(path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    from pyarrow import feather, orc

    form = _form(path)
    if form == "orc":
        file = orc.ORCFile(path)
        for stripe in range(file.nstripes):
            yield file.read_stripe(stripe)
    elif form == "feather":
        yield from feather.read_table(path, memory_map=True).to_batches()
    else:
        with pa.memory_map(str(path)) as data:
            if form == "stream":
                yield from pa.ipc.open_stream(data)
            else:
                held = pa.ipc.open_file(data)
                for number in range(held.num_record_batches):
                    yield held.get_batch(number)


def _form(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(b"ORC"):
        return "orc"
    if head.startswith(b"FEA1"):
        return "feather"
    return "file" if head.startswith(b"ARROW1") else "stream"


@contextmanager
def _translated() -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as e:
        raise damaged(_WHAT) from e

"""A copy of a large XLSX in which calamine reads a sheet once, where it else inflates and parses it
twice: for its cells, and then, to the end, for its merged cells.

The parts stand in the copy as they are, not packed, and each large sheet begins with an empty list
of merged cells, at which the second reading ends. The true ones, and all that calamine does not
tell, are found in passing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO
from zipfile import ZipFile, ZipInfo

from leaf.readers.packed import BROKEN_ZIP
from leaf.readers.tabular.sheet_parts import PIECE, SheetSearch

MAX_COPY = 400_000_000
"""Bytes of the parts together: of larger workbooks no copy is made, as a child may write hardly
more to disk."""
_DATA = b"<sheetData"
_NO_MERGES = b"<mergeCells></mergeCells>"


def copy_plain(
    path: Path, target: Path, searches: Mapping[str, SheetSearch]
) -> frozenset[str] | None:
    """Write the copy while the sheets are searched, by their parts; gives those whose merged cells
    the search alone knows.

    None where no copy can be made: nothing is wrong with the file for that.
    """
    try:
        with ZipFile(path) as source:
            entries = [
                e for e in source.infolist() if e.filename.lower().endswith((".xml", ".rels"))
            ]
            twice = len({e.filename.lower() for e in entries}) < len(entries)
            if twice or sum(e.file_size for e in entries) > MAX_COPY:
                return None
            with ZipFile(target, "w") as copy:
                return frozenset(
                    e.filename
                    for e in entries
                    if _copied(source, e, copy, searches.get(e.filename))
                )
    except BROKEN_ZIP:
        return None


def _copied(source: ZipFile, entry: ZipInfo, copy: ZipFile, search: SheetSearch | None) -> bool:
    """Copy one part; whether its merged cells stand no longer where calamine looks for them."""
    with source.open(entry) as file, copy.open(ZipInfo(entry.filename), "w") as out:
        head = file.read(PIECE)
        moved = search is not None and _is_plain(head)
        out.write(head.replace(_DATA, _NO_MERGES + _DATA, 1) if moved else head)
        if search is not None:
            search.add(head)
        _rest(file, out, search)
    return moved


def _is_plain(head: bytes) -> bool:
    """Whether a sheet's cells begin here, and nothing before them could be taken for something
    else."""
    before, marker, _ = head.partition(_DATA)
    return (
        bool(marker)
        and b"<!--" not in before
        and b"<![" not in before
        and b"mergeCell" not in before
    )


def _rest(file: IO[bytes], out: IO[bytes], search: SheetSearch | None) -> None:
    while piece := file.read(PIECE):
        if search is not None:
            search.add(piece)
        out.write(piece)

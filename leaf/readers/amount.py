"""How much a model would get if it read a whole file: measured on a sample of what `read_file`
gives, and carried on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from leaf.errors import FileError, InvalidInputError
from leaf.readers.base import Outline, Passage, Reader, Where
from leaf.readers.tokens import Weight, weigh
from leaf.readers.window import CHARS_PER_TOKEN, WindowPiece, render

SAMPLE = 100_000
"""Characters that are read from the beginning; files that end within them are measured whole."""
LATER = 40_000
"""Characters that are read from the middle of a longer file, which is often unlike its
beginning."""
COUNTED = frozenset({"page", "slide", "line", "row", "paragraph"})
"""Units whose total an outline may know, and from which a reader starts without reading what comes
before."""


@dataclass(frozen=True)
class _Sample:
    """Passages from one place on, as the model would get them."""

    weight: Weight
    characters: int
    """Of the passages alone."""
    units: int
    """0 where a passage was too long to be read whole."""
    unit: str
    ended: bool
    """Whether the file ended with them."""


def weigh_file(reader: Reader, path: Path, outline: Outline) -> Weight:
    """The weight of all that reading the file from end to end would give. Zero for a file without
    text."""
    try:
        first = _sample(reader.passages(path, Where()), SAMPLE)
        if first.ended or not first.characters:
            return first.weight
        total = _total(outline, first.unit)
        if total is None or not 0 < first.units < total:
            return first.weight.times(max(1.0, outline.tokens * CHARS_PER_TOKEN / first.characters))
        later = _sample(
            reader.passages(
                path, Where(first.unit, first=first.units + (total - first.units) // 2)
            ),
            LATER,
        )
    except (FileError, InvalidInputError):  # read_file will say what is wrong with it
        return Weight(outline.tokens)
    if not later.units:
        return first.weight.times(total / first.units)
    return first.weight + later.weight.times((total - first.units) / later.units)


def _total(outline: Outline, unit: str) -> int | None:
    """The file's size in units of its passages, where the outline counts those."""
    if unit not in COUNTED or len(outline.sheets) > 1:
        return None
    if unit in ("page", "slide"):
        return outline.pages
    return outline.rows if unit == "row" else outline.lines


def _sample(passages: Iterator[Passage], characters: int) -> _Sample:
    pieces: list[WindowPiece] = []
    read = 0
    for passage in passages:
        pieces.append(WindowPiece(passage, 0, min(len(passage.text), characters)))
        read += len(pieces[-1].text) + 1
        if read >= characters:
            break
    ended = not pieces or (not pieces[-1].cut and next(passages, None) is None)
    if not pieces:
        return _Sample(Weight(), 0, 0, "", ended)
    units = pieces[-1].passage.number - pieces[0].passage.number + 1
    whole = not pieces[-1].cut and units > 0
    return _Sample(
        weigh(render(pieces, False)), read, units if whole else 0, pieces[0].passage.unit, ended
    )

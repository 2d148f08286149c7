"""What came of a cell of Python, as the child says it: no word and no file of it is believed before
it was looked at here."""

from __future__ import annotations

import os
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from leaf import errors
from leaf.sandbox import answers
from leaf.sandbox.cells import FIGURES, FRAMES, PRINTED, VALUE
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.written import WrittenFile

OUTPUT_MB = 1024
"""What a cell may write."""
FIGURE_BYTES = 30 * 1024 * 1024
NOTE = 500
"""Characters of a note that are kept."""


@dataclass(frozen=True)
class FailureSaid:
    """Why a cell did not run to its end, in the code's own words."""

    type: str = ""
    message: str = ""
    line: int = 0
    text: str = ""


@dataclass(frozen=True)
class FrameSaid:
    """A table that the code wrote, as it names it."""

    file: str
    name: str = ""


class CellLine:
    """What a child that runs cells says."""


@dataclass(frozen=True)
class CellAnswer(CellLine):
    """What the child says of a cell: of the right types and no more than that."""

    id: str
    printed: str = ""
    characters: int = 0
    value: str = ""
    frames: tuple[FrameSaid, ...] = ()
    figures: tuple[str, ...] = ()
    error: FailureSaid | None = None
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Need(CellLine):
    """A table or file that a running cell asks for."""

    need: Literal["table", "result", "file"]
    name: str


@dataclass(frozen=True)
class CellFailure:
    """Why a cell did not run to its end."""

    type: str
    message: str
    line: int
    """In the cell, from 1; 0 where it has none."""
    text: str
    """The traceback from the cell on."""


@dataclass(frozen=True)
class Ran:
    """What came of a cell. The texts are the code's own words; the files are as the code wrote
    them, unchecked."""

    printed: str
    characters: int
    """All that was printed; `printed` is the beginning."""
    value: str
    frames: tuple[tuple[Path, str], ...]
    """Parquet file and the variable's name, which may be empty."""
    figures: tuple[Path, ...]
    failure: CellFailure | None
    notes: tuple[str, ...]
    seconds: float
    """Of the cell alone, by the child's clock."""
    rebuilt: int = 0
    """Earlier cells that were run again first."""
    lost: tuple[str, ...] = ()
    """What could not be rebuilt, in words."""
    written: tuple[WrittenFile, ...] = ()
    """Copies of the files that it wrote into its working folder."""


def said(line: bytes, limits: CallLimits) -> CellLine:
    """A line of the child, parsed. Raises SandboxError."""
    message = answers.loaded(line, limits)
    if isinstance(message, dict) and "need" in message:
        return answers.checked(message, Need)
    return answers.checked(message, CellAnswer)


def checked(answer: CellAnswer, box: Path, out: Path) -> Ran:
    """What the child says, each text cut and each number one that can be, and its files copied: the
    child could still write to its own."""
    printed = text(answer.printed, PRINTED)
    frames = [
        (_copied(box / one.file, out / f"frame{number}.parquet", 1 << 40), _variable(one.name))
        for number, one in enumerate(answer.frames[:FRAMES])
        if re.fullmatch(r"frame\d{1,3}\.parquet", one.file)
    ]
    figures = [
        _copied(box / file, out / f"figure{number}.png", FIGURE_BYTES)
        for number, file in enumerate(answer.figures[:FIGURES])
        if re.fullmatch(r"figure\d{1,3}\.png", file)
    ]
    return Ran(
        printed=printed,
        characters=max(len(printed), answer.characters)
        if answer.characters < 1 << 60
        else len(printed),
        value=text(answer.value, VALUE + 100),
        frames=tuple(frames),
        figures=tuple(figures),
        failure=_failure(answer.error) if answer.error else None,
        notes=tuple(text(note, NOTE) for note in answer.notes[:20]),
        seconds=answer.seconds if 0 <= answer.seconds < 1e6 else 0.0,
    )


def _failure(failure: FailureSaid) -> CellFailure:
    return CellFailure(
        text(failure.type, 80) or "Error",
        text(failure.message, 2_000),
        failure.line if 0 < failure.line < 1_000_000 else 0,
        text(failure.text, 6_000),
    )


def _variable(name: str) -> str:
    name = text(name, 60)
    return name if name.isidentifier() else ""


def text(value: str, limit: int = NOTE) -> str:
    """Text of at most that length without what a terminal or database cannot take. What would be
    written over at a terminal stands in a line of its own."""
    value = re.sub("\r+\n?", "\n", value[:limit])
    return re.sub("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", "", value)


def _copied(source: Path, target: Path, limit: int) -> Path:
    """A copy of a plain file that the child wrote. It may have put anything there: a link, a pipe,
    a terabyte of holes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as e:
        raise errors.SandboxError("The Python process named a file that it did not write.") from e
    about = os.fstat(descriptor)
    plain = stat.S_ISREG(about.st_mode) and about.st_nlink == 1
    if not plain or about.st_size > min(limit, OUTPUT_MB * 1024**2):
        os.close(descriptor)
        raise errors.SandboxError(
            "The Python process left something that is not a file of a fitting size."
        )
    with os.fdopen(descriptor, "rb") as file, target.open("wb") as copy:
        shutil.copyfileobj(file, copy, 1 << 20)
    return target

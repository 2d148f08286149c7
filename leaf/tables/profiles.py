"""What tables hold, without their rows: found once, kept beside their Parquet."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaf.errors import SandboxError
from leaf.sandbox.answers import checked, plain
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import Pool
from leaf.store.model import Scope
from leaf.tables.convert import write_whole
from leaf.tables.table import Table

PROFILE_LIMITS = CallLimits(seconds=120, memory_mb=2048, output_mb=4096)
PROFILED = 3
"""Raised when a profile is made in another way; those that were kept are then made anew."""


@dataclass(frozen=True)
class ColumnProfile:
    name: str
    type: str
    nulls: int
    distinct: int
    """Exact up to a million rows, estimated above: see `Profile.approximate`."""
    min: Any = None
    max: Any = None
    mean: float | None = None
    std: float | None = None
    """Of a sample (n - 1)."""
    quartiles: tuple[Any, ...] = ()
    """Of numbers, dates and times: at a quarter, a half and three quarters; estimated where
    `Profile.estimated`."""
    cast: str = ""
    """Of dates that stayed text: the SQL that reads them."""
    top: tuple[tuple[Any, int], ...] = ()
    """(value, count), most frequent first; empty for numbers and for columns of mostly different
    values."""


@dataclass(frozen=True)
class Profile:
    """What a table holds, without its rows."""

    table: str
    """SQL name."""
    rows: int
    columns: tuple[ColumnProfile, ...]
    sample: tuple[tuple[Any, ...], ...]
    """The first five rows."""
    approximate: bool
    """Whether `distinct` is an estimate."""
    estimated: bool = False
    """Whether the quartiles are estimates."""
    omitted: int = 0
    """Columns after the first 200, which are not profiled."""


@dataclass(frozen=True)
class ProfileFound:
    """A profile as the child gives it, and as it is kept."""

    rows: int
    columns: tuple[ColumnProfile, ...]
    sample: tuple[tuple[Any, ...], ...]
    approximate: bool
    estimated: bool
    omitted: int


class Profiles:
    """Profiles of tables."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._profiling: dict[Path, threading.Lock] = {}
        self._guard = threading.Lock()

    def describe(self, _scope: Scope, table: Table, stop: threading.Event | None = None) -> Profile:
        """Profile every column of a table, once: what was found stands beside its Parquet. Raises
        SandboxError."""
        path = table.parquet.with_suffix(f".profile-{PROFILED}.json")
        profile = _kept_profile(path)
        if profile is None:
            with self._guard:
                alone = self._profiling.setdefault(path, threading.Lock())
            # what is asked while a new file is looked at waits for that, and does not begin anew
            with alone:
                profile = _kept_profile(path)
                if profile is None:
                    profile = self._profile(table, stop)
                    write_whole(path, json.dumps(plain(profile)))
            self._profiling.pop(path, None)
        return Profile(
            table.name,
            profile.rows,
            profile.columns,
            profile.sample,
            profile.approximate,
            profile.estimated,
            profile.omitted,
        )

    def _profile(self, table: Table, stop: threading.Event | None) -> ProfileFound:
        arguments = {
            "parquet": "in:t.parquet",
            "seconds": PROFILE_LIMITS.seconds,
            "memory_mb": PROFILE_LIMITS.memory_mb,
            "mark": table.mark,
        }
        inputs = {"t.parquet": table.parquet}
        return self._pool.call(
            "leaf.tables.profiling:profile",
            arguments,
            returns=ProfileFound,
            inputs=inputs,
            limits=PROFILE_LIMITS,
            stop=stop,
        )


def _kept_profile(path: Path) -> ProfileFound | None:
    try:
        return checked(json.loads(path.read_text()), ProfileFound)
    except (OSError, ValueError, SandboxError):
        return None

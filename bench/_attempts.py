"""What the parts of `bench.sandbox` share: what became of an attempt, the limits that attempts are
given, and how much the app grew meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from leaf.sandbox.limits import CallLimits

LIMITS = CallLimits(seconds=3, memory_mb=400, output_mb=64)
OVER = 1.0
"""Seconds beyond a limit after which an attempt counts as too slow."""
DONE = "ESCAPED"
SECRET = "secret-of-the-bench"
"""What stands in the file that nobody may read."""
CLEAR = Path("/proc/self/clear_refs")
GROWN_MB = 400
"""By which the app may grow at most while it listens to a lie."""


@dataclass(frozen=True)
class Outcome:
    """What became of one attempt."""

    name: str
    held: bool
    seconds: float
    said: str
    plain: bool | None = None
    """Whether it succeeds in a plain process; None where that was not tried."""
    limit: float = LIMITS.seconds
    """Seconds that it may take."""
    repeated: bool = False
    """Whether it is one that counts already, under other circumstances, or no attempt but a look
    at whether all still works."""
    growth: float | None = None
    """Of a long text, by how much it takes longer than a tenth of it; 0 where both are too quick
    to tell."""
    times: float = 0.0
    """Of a long text, by how much it takes longer than an ordinary one of its length."""

    @property
    def late(self) -> bool:
        return self.seconds > self.limit + OVER


@contextmanager
def grown() -> Iterator[list[float]]:
    """The MB by which this process grew at most, filled in at the end."""
    CLEAR.write_text("5")
    before, found = peak_mb(), [0.0]
    yield found
    found[0] = peak_mb() - before


def peak_mb() -> float:
    """The most memory that this process had since `CLEAR` was written."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def tells(folder: Path) -> bool:
    """Whether any plain file in a folder holds the secret."""
    return any(
        SECRET.encode() in path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    )

"""How much memory this machine, or the container around Leaf, has, and what children may take of
it."""

from __future__ import annotations

import contextlib
import functools
import os
from dataclasses import dataclass
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
LIMIT_FILES = ("memory.max", "memory/memory.limit_in_bytes")
"""Where the limit of a container stands, in cgroups of version 2 and 1."""
OWN_MB = 400
"""What Leaf itself takes with the children that wait, and some tabs."""
ENOUGH_MB = 5 * 1024
"""From here on children get what they ask for."""
LEAST_MB = 256


@dataclass(frozen=True)
class Capacity:
    """What there is for children."""

    total_mb: int
    """Memory of the machine or container; 0 where the system does not say."""

    @property
    def tight(self) -> bool:
        return 0 < self.total_mb < ENOUGH_MB

    @property
    def child_mb(self) -> int:
        """The most that one may hold: half of what Leaf leaves, so that the system ends a child's
        work and never Leaf itself."""
        return max(LEAST_MB, (self.total_mb - OWN_MB) // 2) if self.tight else 1_000_000

    @property
    def running(self) -> int:
        """How many may work at once."""
        return 2 if self.tight else 4


def limit_files(cgroup: Path = CGROUP, own: Path = Path("/proc/self/cgroup")) -> list[Path]:
    """The files that say what this process's container may use of processors and memory. DuckDB
    looks for them in every process, and ends one that finds a file which it may not open."""
    try:
        groups = {line.split(":", 2)[2].strip("/") for line in own.read_text().splitlines()}
    except (OSError, IndexError):
        return []
    kinds = (
        *(("", name) for name in ("cpu.max", "memory.max")),
        *(("cpu", f"cpu.cfs_{name}_us") for name in ("quota", "period")),
        ("memory", "memory.limit_in_bytes"),
    )
    return [
        path
        for group in sorted(groups)
        for kind, name in kinds
        if (path := cgroup / kind / group / name).is_file()
    ]


@functools.cache
def room() -> Capacity:
    """Of this machine; looked at once."""
    return Capacity(memory_mb())


def memory_mb(cgroup: Path = CGROUP) -> int:
    """The smallest of what the machine has and what the container may use; 0 where the system says
    neither."""
    known = [limit for name in LIMIT_FILES if (limit := _read(cgroup / name))]
    with contextlib.suppress(AttributeError, ValueError, OSError):
        known.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min((size for size in known if size > 0), default=0) // 1024**2


def _read(path: Path) -> int:
    """Bytes; 0 for `max`, and where there is no such file."""
    try:
        return int(path.read_text().strip())
    except (OSError, ValueError):
        return 0

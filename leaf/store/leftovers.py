"""What killed processes left half written in the data folder."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path

DAY = 86_400.0
"""Seconds after which nobody writes there any more."""


def remove(folder: Path, pattern: str) -> None:
    """Remove files and folders of that pattern that nobody has written to for a day. Raises OSError
    where none can be listed."""
    for old in folder.glob(pattern):
        with suppress(OSError):
            if time.time() - _written_at(old) < DAY:
                continue
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
            else:
                old.unlink(missing_ok=True)


def _written_at(path: Path) -> float:
    """When it was written to last, or anything below it. Raises OSError for what goes meanwhile."""
    below = [*path.rglob("*")] if path.is_dir() else []
    return max(one.stat().st_mtime for one in (path, *below))

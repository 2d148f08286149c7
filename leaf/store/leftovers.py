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
            if time.time() - old.stat().st_mtime < DAY:
                continue
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
            else:
                old.unlink(missing_ok=True)

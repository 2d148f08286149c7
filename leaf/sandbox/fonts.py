"""The list of fonts that matplotlib makes at its first use: made once, given to every child."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path


def list_fonts(fonts: Path) -> None:
    """Have matplotlib look for fonts once, in a process of its own; a child would have to do it
    anew each time."""
    if any(fonts.glob("fontlist-*.json")):
        return
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        fonts.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "MPLCONFIGDIR": str(fonts)}
        command = [sys.executable, "-c", "import matplotlib.font_manager"]
        subprocess.run(command, env=environment, timeout=120, check=False, capture_output=True)


def copy_fonts(fonts: Path, home: Path) -> None:
    """Give a child the list of fonts that another process has made: matplotlib needs a second for
    it."""
    target = home / ".cache" / "matplotlib"
    with contextlib.suppress(OSError):
        for path in fonts.glob("fontlist-*.json"):
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / path.name)

"""An environment for each of the others, with the packages that are pinned in `requirements`,
outside of the repository."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).parent / "requirements"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "") or Path.home() / ".cache") / "leaf-peers"
PATIENCE = 900.0
"""Seconds for one installation."""


def environment(name: str, cache: Path) -> Path:
    """The folder of programs of an environment, made where it is not there. Raises
    CalledProcessError where it can't be made."""
    pinned = REQUIREMENTS / f"{name}.txt"
    digest = hashlib.sha256(pinned.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = cache / f"{name}-{digest}"
    programs = folder / "bin"
    if not (folder / "complete").exists():
        print(f"{name}: its packages are installed below {folder}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=PATIENCE)
        install = [
            str(programs / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        subprocess.run([*install, "--no-deps", "-r", str(pinned)], check=True, timeout=PATIENCE)
        (folder / "complete").touch()
    return programs


def version(name: str) -> str:
    """What is measured: `Chainlit 2.12.0`."""
    pinned = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    number = next(line.partition("==")[2] for line in pinned if line.startswith(f"{name}=="))
    return f"{name.capitalize()} {number}"

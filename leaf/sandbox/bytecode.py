"""Compiled modules for the children. A confined child may not write what it compiles, so each would
compile everything anew."""

from __future__ import annotations

import compileall
import importlib.util
import logging
import os
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

log = logging.getLogger(__name__)

COMPILING_SECONDS = 120.0


def compile_ahead(package: Path, preload: Iterable[str]) -> None:
    """Compile Leaf's modules, and those of libraries that were installed without (as some
    installers do), once for all children.

    Where the folders cannot be written nothing happens: the children then compile for themselves,
    which only costs time.
    """
    _compile(package, tuple(preload))


@cache
def _compile(package: Path, preload: tuple[str, ...]) -> None:
    """Once in this process: its own modules are those of its start, too."""
    compileall.compile_dir(package, quiet=2)
    modules = [name.partition(":")[0] for name in preload]
    missing = [
        name
        for name in modules
        if not name.startswith(f"{package.name}.") and not _is_compiled(name)
    ]
    if missing:
        _import_once(missing)


def _is_compiled(module: str) -> bool:
    spec = importlib.util.find_spec(module.partition(".")[0])
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return True
    return os.path.exists(importlib.util.cache_from_source(spec.origin))


def _import_once(modules: list[str]) -> None:
    """Python keeps what it compiles as it imports. These are the libraries of this process too, so
    nothing is confined."""
    try:
        subprocess.run(
            [sys.executable, "-c", "import " + ", ".join(modules)],
            timeout=COMPILING_SECONDS,
            check=False,
            capture_output=True,
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        log.debug("libraries were not compiled ahead: %s", type(e).__name__)

"""Pythons and SQLites for trying the start: found here, or made from packages; a reason where
neither can be had."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUBSECONDS = (3, 42)
"""From here on SQLite counts milliseconds by itself."""
SOURCES = {"new": "11.8.1", "old": "7.5.0", "oldest": "7.1.2"}
"""Versions of the npm package better-sqlite3 that carry the sources of SQLite 3.48, 3.37 (Ubuntu
22.04) and 3.34 (Debian 11)."""
FLAGS = (
    "ENABLE_FTS5",
    "ENABLE_JSON1",
    "ENABLE_DESERIALIZE",
    "ENABLE_COLUMN_METADATA",
    "ENABLE_MATH_FUNCTIONS",
)


class CannotBeHadError(Exception):
    """Why a combination cannot be tried here."""


@dataclass(frozen=True)
class Machine:
    """A Python with Leaf's packages, and the SQLite that it gets."""

    python: Path
    library: str
    """Folder of a libsqlite3 that goes before the system's; empty: the system's."""
    sqlite: str
    """Its version."""

    @property
    def environ(self) -> dict[str, str]:
        return {"LD_LIBRARY_PATH": self.library} if self.library else {}


def machine(version: str, age: str, folder: Path) -> Machine:
    """A clean environment from requirements.lock for this Python, with a SQLite of this age. Raises
    CannotBeHadError."""
    base = _python(version)
    own = _sqlite(base)
    if age != "oldest" and (_number(own) >= SUBSECONDS) == (age == "new"):
        return Machine(_environment(base, version, folder), "", own)
    if age == "oldest" and platform.machine() != "x86_64":
        raise CannotBeHadError("the package pysqlite3 has a wheel for x86_64 only")
    library = _library(age, folder)
    given = _sqlite(base, library)
    if given == own:
        raise CannotBeHadError(f"SQLite {own} is built into this Python")
    return Machine(_environment(base, version, folder), library, given)


@functools.cache
def _python(version: str) -> Path:
    """One that runs: on the PATH, of pyenv, or uv's own."""
    found = [
        shutil.which(f"python{version}"),
        *sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))),
    ]
    for candidate in filter(None, [*found, shutil.which(f"/usr/bin/python{version}")]):
        if (
            _says(candidate, "import sqlite3, ssl, sys; print('%d.%d' % sys.version_info[:2])")
            == version
        ):
            return Path(candidate)
    done = _run(_uv(), "python", "install", version, timeout=180, UV_HTTP_TIMEOUT="20")
    if done.returncode:
        raise CannotBeHadError(f"no Python {version} is here, and uv could not install it")
    return Path(_run(_uv(), "python", "find", "--managed-python", version).stdout.strip())


@functools.cache
def _environment(base: Path, version: str, folder: Path) -> Path:
    """What `make run` installs, by uv from its cache: seconds, and hard links in place of
    copies."""
    made = folder / f"python{version}"
    for arguments in (
        ("venv", "--quiet", "--python", str(base), str(made)),
        (
            "pip",
            "install",
            "--quiet",
            "--python",
            str(made / "bin" / "python"),
            "-r",
            str(ROOT / "requirements.lock"),
        ),
    ):
        done = _run(_uv(), *arguments, timeout=900)
        if done.returncode:
            raise RuntimeError(
                f"Leaf's packages cannot be installed on Python {version}:\n{done.stderr}"
            )
    return made / "bin" / "python"


@functools.cache
def _library(age: str, folder: Path) -> str:
    """Compile libsqlite3 from the sources in a package."""
    npm, compiler = shutil.which("npm"), shutil.which("cc") or shutil.which("gcc")
    if not (npm and compiler):
        raise CannotBeHadError(
            f"{'a C compiler' if npm else 'npm'}, which it takes to make this SQLite, is "
            f"not installed"
        )
    made = folder / f"sqlite-{age}"
    made.mkdir()
    if _run(
        npm, "pack", "--silent", f"better-sqlite3@{SOURCES[age]}", cwd=made, timeout=120
    ).returncode:
        raise CannotBeHadError("the npm registry with the sources of SQLite cannot be reached")
    for pattern in ("*.tgz", "package/deps/sqlite3.tar.gz"):
        for archive in made.glob(pattern):
            _run("tar", "xzf", str(archive), cwd=made)
    source = next(made.rglob("sqlite3.c"))
    flags = [f"-DSQLITE_{flag}" for flag in FLAGS]
    done = _run(
        compiler,
        "-O0",
        "-shared",
        "-fPIC",
        *flags,
        "-o",
        "libsqlite3.so.0",
        str(source),
        "-lpthread",
        "-ldl",
        "-lm",
        cwd=made,
    )
    if done.returncode:
        raise CannotBeHadError("this SQLite does not compile here")
    return str(made)


def _sqlite(python: Path, library: str = "") -> str:
    found = _says(
        str(python), "import sqlite3; print(sqlite3.sqlite_version)", LD_LIBRARY_PATH=library
    )
    if not found:
        raise CannotBeHadError("this Python does not run with this SQLite")
    return found


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _uv() -> str:
    found = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if found is None:
        raise CannotBeHadError("uv is not installed")
    return found


def _says(python: str, code: str, **variables: str) -> str:
    done = _run(python, "-c", code, **variables)
    return done.stdout.strip() if done.returncode == 0 else ""


def _run(
    *command: str, cwd: Path | None = None, timeout: float = 300, **variables: str
) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, **{name: value for name, value in variables.items() if value}}
    return subprocess.run(
        command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=timeout, check=False
    )

"""A disk of a fixed size for a test, in namespaces of its own, where anybody may mount one."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MOUNT = 'mount -t tmpfs -o "$1",mode=0700 tmpfs "$2" || exit 77; shift 2; exec "$@"'


def on_small_disk(
    folder: Path, script: str, *arguments: object, options: str = "size=40m", seconds: float = 120
) -> str:
    """What a script prints, run by this Python while `folder` is a disk of its own. The test is
    skipped where none can be mounted."""
    apart = [shutil.which("unshare") or "unshare", "--user", "--map-root-user", "--mount"]
    command = ["sh", "-c", MOUNT, "sh", options, str(folder)]
    python = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    try:
        done = subprocess.run(
            [*apart, *command, *python],
            cwd=ROOT,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("there is no unshare")
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"no file system can be mounted here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def filled(folder: Path, left: int = 0) -> Iterator[None]:
    """Its disk has `left` bytes meanwhile."""
    ballast = folder / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:  # others write meanwhile
        for _ in range((shutil.disk_usage(folder).free - left) // 4096):
            file.write(bytes(4096))
    try:
        yield
    finally:
        ballast.unlink()

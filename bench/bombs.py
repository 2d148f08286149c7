"""Files that ask for too much: each is added, its tables are opened, it is read and searched, as a
person would.

    python -m bench.bombs [--only NAME …]

Each step must end within 20 s, with no confined child above 1 GB, and what fails must say so in a
sentence. Each is compared with a copy of the same bytes. Exit code 1 if one takes longer, holds
more, or fails without a word.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench._bombs.make import BOMBS
from bench._figures import Figure, Report, changed
from leaf.app import Leaf
from leaf.errors import LeafError
from leaf.settings import Settings
from leaf.store.model import File
from leaf.wiring import build

SECONDS, MEMORY_MB = 20.0, 1_024


def main() -> int:
    """Print a line a file; 1 if a target is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    chosen = given.only or list(BOMBS)
    report = Report("bombs", ("leaf/readers", "leaf/sandbox"), changed(parser, given))
    good = 0
    with tempfile.TemporaryDirectory(prefix="leaf-bombs-") as folder:
        leaf = build(Settings(home=Path(folder) / "home"))
        try:
            for name in chosen:
                good += _try(leaf, Path(folder) / name)
        finally:
            leaf.close()
    what = (
        f"{len(chosen)} files that ask for too much: end within {SECONDS:.0f} s with no child "
        f"above 1 GB, and say why"
    )
    return report.end([Figure("", what, good, len(chosen), shown="{:.0f}")])


@dataclass
class _Steps:
    """What each step took and said."""

    lines: list[str] = field(default_factory=list)
    bad: bool = False

    def run(self, name: str, work: Callable[[], Any]) -> Any:
        found, said = None, ""
        with _Watch() as watch:
            start = time.perf_counter()
            try:
                found = work()
            except LeafError as e:
                said = str(e)
            except Exception as e:  # noqa: BLE001 - what a person must never see is what this looks for
                said, self.bad = f"RAW {type(e).__name__}: {e}", True
            seconds = time.perf_counter() - start
        over = seconds > SECONDS or watch.peak > MEMORY_MB
        self.bad |= over
        self.lines.append(
            f"{name} {seconds:.1f} s, {watch.peak:,} "
            f"MB{' OVER' if over else ''}{': ' + said[:160] if said else ''}"
        )
        return found


def _try(leaf: Leaf, path: Path) -> bool:
    scope, steps = leaf.local_scope(), _Steps()
    BOMBS[path.name](path)
    start = time.perf_counter()
    shutil.copyfile(path, path.with_suffix(".copy"))
    copied = time.perf_counter() - start
    path.with_suffix(".copy").unlink()
    added = steps.run("add", lambda: leaf.session(scope).files.add_path(path))
    path.unlink()
    if added is not None:
        error = str(added.file.outline.get("error", ""))
        steps.lines.append(f"kept as {added.file.kind}{': ' + error if error else ''}")
        if not error:
            _open(leaf, added.file, steps)
    print(
        f"{'ok  ' if not steps.bad else 'BAD '} {path.name} (copied in {copied:.1f} s)\n     "
        + "\n     ".join(steps.lines),
        flush=True,
    )
    return not steps.bad


def _open(leaf: Leaf, file: File, steps: _Steps) -> None:
    scope = leaf.local_scope()
    found = steps.run(
        "tables", lambda: leaf._house.tables.of(scope, leaf._house.library.as_chat_files([file]))
    )
    steps.lines += [f"     {why}" for why in (found.failures.values() if found else ())]
    steps.run("read", lambda: leaf._house.library.texts.read(scope, file, max_tokens=2_000))
    found = steps.run("search", lambda: leaf._house.library.search(scope, [file], "market share"))


class _Watch:
    """The most memory that any child of this process holds meanwhile, in MB; file mappings not
    counted."""

    def __init__(self) -> None:
        self.peak = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.05):
            self.peak = max([self.peak, *map(_held, _below(os.getpid()))])


def _below(process: int) -> set[int]:
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int(
                (folder / "stat").read_text().rpartition(")")[2].split()[1]
            )
        except OSError:
            continue
    found, front = set[int](), {process}
    while front:
        front = {child for child, parent in parents.items() if parent in front} - found
        found |= front
    return found


def _held(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("RssAnon")), 0)


if __name__ == "__main__":
    sys.exit(main())

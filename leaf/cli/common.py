"""What every command needs: exit codes, the way to Leaf or to the app, paths, JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from leaf.errors import LeafError

if TYPE_CHECKING:
    from leaf.remote.contract import Commands, SessionCommands
    from leaf.store.model import File

    class Parsers(Protocol):
        """Where a family adds its commands."""

        def add_parser(self, name: str, *, help: str) -> argparse.ArgumentParser: ...


OK, FAILED, USAGE = 0, 1, 2


class UsageError(LeafError):
    """The command was not given what it needs."""


@contextmanager
def opened() -> Iterator[Commands]:
    leaf, _ = reached()
    with closing(leaf):
        yield leaf


def reached() -> tuple[Commands, str]:
    from leaf.settings import load
    from leaf.wiring import reach

    return reach(load())


def add_files_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-f", "--file", metavar="FILE", action="append", default=[], type=Path, dest="files", help="attach a file (repeatable)"
    )


def check_paths(paths: Iterable[Path], *, folders: bool = False) -> None:
    for path in paths:
        if not path.exists():
            raise UsageError(f"No file '{path}'.", "Check the path.")
        if path.is_dir() and not folders:
            raise UsageError(f"'{path}' is a folder.", "Name files, or add the folder with: python -m leaf files add FOLDER")


def add_path(session: SessionCommands, path: Path, context: str) -> File:
    added = session.files.add_path(path, context)
    problem = added.file.outline.get("error")
    if problem:
        print(f"leaf: {problem}", file=sys.stderr)
    return added.file


def print_json(value: object, indent: int | None = None) -> None:
    print(json.dumps(value, ensure_ascii=False, default=_plain, indent=indent))


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)

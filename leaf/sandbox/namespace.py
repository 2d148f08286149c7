"""The namespace that a chat's cells share, in its child, and one cell on its way through it."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leaf import errors
from leaf.sandbox.boxes import put_input
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.process import Child
from leaf.sandbox.ran import CellAnswer, Need, said, text

NEEDS = 500
"""Tables and files that one cell may ask for."""


@dataclass(frozen=True)
class Given:
    """A file that code may read."""

    path: Path
    view: str = ""
    """Of a table: SQL for its rows, in which `'{path}'` stands for the path. Empty: the file as it
    is."""
    numbered: str = ""
    """The same with `_row`, for a query that names it; empty: as `view`."""


Supply = Callable[[str, str], Mapping[str, Given]]
"""`table`, `result` or `file`, and its name -> the names it is known by and what they stand for.
Raises LeafError."""


@dataclass(frozen=True)
class PythonCell:
    """One piece of Python of a chat."""

    key: str
    """Names it for ever."""
    code: str
    number: int = 1
    """Its place in the chat, from 1."""
    files: tuple[str, ...] = ()
    """Handles of files that it opens."""


@dataclass(frozen=True)
class RowNames:
    """Names by which code reaches the chat's rows."""

    slugs: tuple[str, ...]
    """Of files; their tables' names begin with them."""
    results: tuple[str, ...]


@dataclass
class Namespace:
    """A child that keeps the variables of one chat."""

    child: Child
    executed: tuple[str, ...] = ()
    """Keys of the cells whose effects the namespace has, in order."""
    paths: dict[Path, str] = field(default_factory=dict)
    """What was put into `in/`: where it came from -> its path there."""
    packages: tuple[str, ...] = ()
    used: float = field(default_factory=time.monotonic)
    memory: int = 0

    def give_packages(self, packages: Path | None) -> None:
        """Link the chat's own packages into its `in/`."""
        if packages is None or not packages.is_dir():
            return
        target = self.child.box / "in" / f"packages-{packages.name}"
        if not target.exists():
            shutil.copytree(packages, target, copy_function=_link, symlinks=False)
        if str(target) not in self.packages:
            self.packages = (*self.packages, str(target))


@dataclass
class CellCall:
    """One cell on its way through a child."""

    session: Namespace
    supply: Supply
    names: RowNames
    limits: CallLimits
    stop: threading.Event | None

    def run(self, cell: PythonCell, *, replay: bool) -> CellAnswer:
        """The child's answer, of which only its types and its id are checked. Raises SandboxError and its kinds,
        RunError."""
        child = self.session.child
        request_id = secrets.token_hex(8)
        try:
            _empty(child.box / "out")
            for handle in cell.files:
                self._put("file", handle)
            request = {
                "id": request_id,
                "code": cell.code,
                "number": cell.number,
                "replay": replay,
                "slugs": list(self.names.slugs),
                "results": list(self.names.results),
                "paths": list(self.session.packages),
                "out": str(child.box / "out"),
            }
            child.send(request)
            return self._answer(request_id)
        except errors.SandboxTimeoutError as e:
            message = f"The code took more than {self.limits.seconds:g} seconds and was ended."
            raise errors.SandboxTimeoutError(message, _GONE) from e
        except errors.SandboxMemoryError as e:
            message = (
                f"The code needed more than {self.limits.memory_mb:,} MB of memory and was ended."
            )
            raise errors.SandboxMemoryError(message, _GONE) from e
        except errors.SandboxError as e:
            message = (
                "The Python process ended before the cell did."
                if "crashed" in e.message
                else e.message
            )
            raise errors.SandboxError(message.replace("The work", "The code"), _GONE) from e
        except OSError as e:
            raise errors.StoreError(f"The disk failed: {e.strerror or 'no reason given'}.") from e

    def _answer(self, request_id: str) -> CellAnswer:
        """Wait for the end of the cell, and give it the tables and files that it asks for. That
        takes none of its time."""
        child, spent = self.session.child, 0.0
        for _ in range(NEEDS):
            began = time.monotonic()
            reply = child.answer(
                lambda line: said(line, self.limits), self.limits, self.stop, spent
            )
            spent += time.monotonic() - began
            if isinstance(reply, CellAnswer):
                if reply.id != request_id:
                    raise errors.SandboxError(
                        "The Python process gave an answer to another question."
                    )
                child.check_disk(self.limits)  # a cell may be over before anybody has looked
                return reply
            if isinstance(reply, Need):
                child.send(self._provided(reply))
        raise errors.SandboxError(f"The code asked for more than {NEEDS} tables.")

    def _provided(self, asked: Need) -> dict[str, Any]:
        try:
            return {"paths": self._put(asked.need, text(asked.name, 300)), "error": ""}
        except errors.RunError:
            raise
        except errors.LeafError as e:
            return {"paths": {}, "error": str(e)}

    def _put(self, kind: str, name: str) -> dict[str, dict[str, str]]:
        """Link what is known by that name into `in/`; name -> its path there and its views."""
        placed: dict[str, dict[str, str]] = {}
        for known_as, item in self.supply(kind, name).items():
            if item.path not in self.session.paths:
                plain = re.sub(r"[^\w.-]+", "_", known_as)[-80:].lstrip(".")
                target = self.session.child.box / "in" / f"{len(self.session.paths) + 1}-{plain}"
                put_input(item.path, target, link=True)
                self.session.paths[item.path] = str(target)
            placed[known_as] = {
                "path": self.session.paths[item.path],
                "view": item.view,
                "numbered": item.numbered,
            }
        return placed


_GONE = (
    "The variables are rebuilt at the next call by running the chat's earlier cells again. "
    "Ask for less at once."
)


def _empty(folder: Path) -> None:
    """Remove what the last cell left; a folder in it stays, and counts as written."""
    for entry in list(os.scandir(folder)):
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)


def _link(source: str, target: str) -> str:
    put_input(Path(source), Path(target), link=True)
    return target

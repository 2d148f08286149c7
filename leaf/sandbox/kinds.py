"""What the children of one pool have in common: what they load, whom they serve, what they may
use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import leaf
from leaf.sandbox import confine

PACKAGE = Path(leaf.__file__).resolve().parent
SCRIPT = PACKAGE / "sandbox" / "child.py"


@dataclass(frozen=True)
class ChildKind:
    """The children of one pool."""

    confined: bool
    preload: tuple[str, ...]
    """Modules that a waiting child has imported, and `module:function`s that it has called."""
    paths: tuple[Path, ...] = ()
    """Further folders to import from."""
    serve: str = ""
    """`module:function` that answers in them where they are asked more than once."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """Resource limits for their whole life, by name."""
    without: tuple[str, ...] = ()
    """Protections of `confine.YOUNG` that are left out, as on an older kernel."""

    def imported(self) -> list[Path]:
        """Folders that they import from."""
        return [PACKAGE, *confine.library_folders(), *(p.resolve() for p in self.paths)]

    def child_limits(self) -> dict[str, int]:
        """Resource limits of a child from its start on. Signals that wait, timers among them, are
        counted for all processes of the user together, so one could take all that there are."""
        return {
            "RLIMIT_CORE": 0,
            "RLIMIT_NOFILE": 512,
            "RLIMIT_SIGPENDING": 1024,
            **self.limits,
        }

    def config(self) -> dict[str, Any]:
        """What `child.py` is told of the kind."""
        return {
            "package": str(PACKAGE),
            "paths": [str(p) for p in self.imported()[1:]],
            "preload": self.preload,
            "serve": self.serve,
            "confined": self.confined,
        }

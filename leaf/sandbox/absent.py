"""Libraries that a waiting child does without, since nothing that it calls uses them and others
would load them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

ABSENT = frozenset({"pandas"})
"""pyarrow loads it at its first array where it finds it: 0.25 s and 40 MB."""


def hide() -> None:
    """Have imports find none of them. A None in `sys.modules` would not do: pyarrow takes that for
    pandas itself."""
    sys.meta_path[:] = [_Finder if finder is PathFinder else finder for finder in sys.meta_path]


class _Finder(PathFinder):
    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return None if fullname in ABSENT else super().find_spec(fullname, path, target)

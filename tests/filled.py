"""A data folder and its database that are filled once for the tests of a file, each of which has a copy.

made = at(request, "duckdb", folder)               # once, in a fixture of the module
with made.first(…) as leaf: …
with made.copied(tmp_path / "home", …) as leaf: …  # for each test
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from tests import postgres
from tests.leaf_kit import opened


@dataclass(frozen=True)
class Filled:
    """What a Leaf left that was closed again."""

    home: Path
    database_url: str
    """Empty for DuckDB, which lies in the folder."""

    @contextmanager
    def first(self, **settings: Any) -> Iterator[Leaf]:
        """The Leaf that fills it."""
        with opened(self.home, database_url=self.database_url, **settings) as leaf:
            yield leaf

    @contextmanager
    def copied(self, home: Path, **settings: Any) -> Iterator[Leaf]:
        """A Leaf over a copy of it."""
        shutil.copytree(self.home, home, symlinks=True)
        url = postgres.copied(self.database_url) if self.database_url else ""
        with opened(home, database_url=url, **settings) as leaf:
            yield leaf


def at(request: pytest.FixtureRequest, engine: str, home: Path) -> Filled:
    """An empty one on DuckDB or PostgreSQL, to be filled."""
    url = ""
    if engine == "postgres":
        url = postgres.fresh(request.getfixturevalue("postgres_server"))
    return Filled(home, url)

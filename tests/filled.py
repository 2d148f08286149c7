"""A data folder and its database that are filled once for the tests of a file, each of which has a copy.

with to_fill(request, folder, script) as made:         # once, in a fixture of the module
    with made.first() as leaf: …
    yield made
with made.copied(tmp_path / "home", …) as leaf: …      # for each test
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from tests import postgres
from tests.leaf_kit import opened
from tests.messages_server import MessagesServer


@dataclass(frozen=True)
class Filled:
    """What a Leaf left that was closed again."""

    home: Path
    database_url: str
    """Empty for DuckDB, which lies in the folder."""
    model: MessagesServer
    """Answers while the file's tests run."""

    def first(self, **settings: Any) -> AbstractContextManager[Leaf]:
        """The Leaf that fills it."""
        return self._opened(self.home, self.database_url, settings)

    @contextmanager
    def copied(self, home: Path, **settings: Any) -> Iterator[Leaf]:
        """A Leaf over a copy of it."""
        shutil.copytree(self.home, home, symlinks=True)
        url = postgres.copied(self.database_url) if self.database_url else ""
        with self._opened(home, url, settings) as leaf:
            yield leaf
        if url:
            postgres.drop(url)

    def _opened(
        self, home: Path, url: str, settings: dict[str, Any]
    ) -> AbstractContextManager[Leaf]:
        given = {"api_key": "k", "model_url": self.model.url, "database_url": url}
        return opened(home, **given, **settings)


@contextmanager
def to_fill(request: pytest.FixtureRequest, home: Path, script: Any) -> Iterator[Filled]:
    """An empty one, on DuckDB or PostgreSQL as the fixture's parameter says; `script` is the model's."""
    url = ""
    if request.param == "postgres":
        url = postgres.of_test(request)
    with MessagesServer(script) as model:
        yield Filled(home, url, model)

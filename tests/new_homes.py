"""A data folder that a test begins gets copies of the two databases that an empty one has. To make them,
migration by migration, takes a fifth of a second of a core, which thousands of tests would spend. How
they are made is tested where Leaf runs in a process of its own, and in modules that say
`OWN_DATABASES = True`.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from leaf.runs import engine
from leaf.runs.sqlite import Driver, prepare_file
from leaf.store.duckdb import DuckDatabase
from leaf.store.migrate import migrate, migrations

HISTORY, RUNS = "leaf.duckdb", "runs.sqlite"


class NewHomes:
    """Of this test process; `folder` holds what is copied."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, patch: pytest.MonkeyPatch) -> None:
        """From here on."""
        open_history = DuckDatabase.__init__

        def opened(database: DuckDatabase, path: Path) -> None:
            if path.name == HISTORY:
                self._put(path)
            open_history(database, path)

        def prepared(path: Path, by: Driver | None = None) -> str:
            self._put(path)
            return prepare_file(path, by)

        self._make()
        patch.setattr(DuckDatabase, "__init__", opened)
        patch.setattr(engine, "prepare_file", prepared)

    def _make(self) -> None:
        from dbos import DBOS

        history, runs = self._folder / HISTORY, self._folder / RUNS
        if not history.exists():
            with closing(DuckDatabase(history)) as db:
                migrate(db, migrations())
        if not runs.exists():
            prepare_file(runs)
            DBOS.migrate(f"sqlite:///{runs}")

    def _put(self, path: Path) -> None:
        """Where a new file would be made; what else is there stays as it is."""
        if not path.exists() and path.parent.is_dir():
            shutil.copy(self._folder / path.name, path)

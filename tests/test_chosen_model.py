"""The model that is chosen in the page for everybody: kept in the history, known to all processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from leaf.agent.models.chosen import FILE
from leaf.app import Leaf
from leaf.errors import InvalidInputError
from leaf.keeping.restore import restore
from leaf.sessions.models import Models
from leaf.settings import Settings
from leaf.ui import watcher
from tests import forked_programs
from tests.app_process import ROOT
from tests.leaf_kit import opened
from tests.live_kit import wait_until

SERVER = {"model_url": "http://127.0.0.1:9", "api_key": "k", "model": "of-the-settings"}
OTHER = """
import sys
from pathlib import Path
from leaf.settings import Settings
from leaf.wiring import build
home, url = sys.argv[1:]
leaf = build(Settings(home=Path(home), database_url=url, model_url="http://127.0.0.1:9", api_key="k",
    model="of-the-settings"))
leaf.launch()
models = leaf.session(leaf.local_scope()).models
for line in sys.stdin:
    if line.strip():
        models.set_default(line.strip())
    print(models.default(), flush=True)
leaf.close()
"""


def models(leaf: Leaf) -> Models:
    return leaf.session(leaf.local_scope()).models


def test_a_choice_outlives_the_disk(settings: Settings, tmp_path: Path) -> None:
    """Where the history does: on PostgreSQL in another folder, on DuckDB in its own."""
    with opened(settings.home, database_url=settings.database_url, **SERVER) as leaf:
        assert models(leaf).default() == "of-the-settings"
        models(leaf).set_default("chosen")
        assert models(leaf).default() == "chosen"
        assert not (settings.home / FILE).exists()
    home = tmp_path / "another" if settings.database_url else settings.home
    with opened(home, database_url=settings.database_url, **SERVER) as leaf:
        assert models(leaf).default() == "chosen"


@pytest.mark.postgres
def test_two_processes_know_it_at_once(postgres_url: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", OTHER, str(tmp_path / "other"), postgres_url]
    with opened(tmp_path / "one", database_url=postgres_url, **SERVER) as leaf:
        leaf.launch()
        other = forked_programs.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert other.stdin is not None
        assert other.stdout is not None

        def say(line: str) -> str:
            print(line, file=other.stdin, flush=True)
            return other.stdout.readline().strip()  # type: ignore[union-attr]

        try:
            assert say("") == models(leaf).default() == "of-the-settings"
            before = leaf.changes.newest("*", watcher.TOPICS["settings"])
            assert say("chosen-there") == "chosen-there"
            wait_until(lambda: models(leaf).default() == "chosen-there")
            for page in ("", "settings"):
                assert leaf.changes.newest("*", watcher.TOPICS[page]) > before
            models(leaf).set_default("chosen-here")
            wait_until(lambda: say("") == "chosen-here")
        finally:
            other.stdin.close()
            other.wait(30)
            other.stdout.close()


def test_the_file_of_an_earlier_version_is_taken_over_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / FILE).write_text("of-the-file\n")
    with opened(home, **SERVER) as leaf:
        assert models(leaf).default() == "of-the-file"
        models(leaf).set_default("chosen")
    (home / FILE).write_text("of-another-machine\n")
    with opened(home, **SERVER) as leaf:
        assert models(leaf).default() == "chosen"
    assert not (home / FILE).exists()


def test_a_backup_takes_it_along(tmp_path: Path) -> None:
    with opened(tmp_path / "home", **SERVER) as leaf:
        models(leaf).set_default("chosen")
        leaf.backup(tmp_path / "saved")
    restore(Settings(home=tmp_path / "other"), tmp_path / "saved")
    with opened(tmp_path / "other", **SERVER) as leaf:
        assert models(leaf).default() == "chosen"


def test_without_a_model_there_is_none_to_choose(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf, pytest.raises(InvalidInputError, match="No model is connected"):
        models(leaf).set_default("chosen")

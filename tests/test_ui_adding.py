"""The Files page while files are added, and after it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaf.app import Leaf
from leaf.settings import Settings
from leaf.ui import state
from leaf.wiring import build
from tests.test_ui_pages import open_page, words_of


@pytest.fixture
def leaf(tmp_path: Path) -> Iterator[Leaf]:
    app = build(Settings(home=tmp_path / "home"))
    setattr(sys, state.REGISTRY, state.Registry(leaf=app))
    yield app
    state.close()


def test_the_files_page_shows_progress_then_what_could_not_be_read(
    leaf: Leaf, tmp_path: Path
) -> None:
    session = leaf.session(leaf.local_scope())
    good, bad = tmp_path / "a.csv", tmp_path / "damaged.xlsx"
    good.write_text("a,b\n1,2\n")
    bad.write_bytes(b"PK\x03\x04 nothing")
    job = session.jobs.begin(2, origin="files")
    session.jobs.take_paths(job.id, [good, bad])
    page = open_page("files")
    assert not page.exception
    assert [button.label for button in page.button if button.key == f"adding-stop-{job.id}"] == [
        "Stop"
    ]
    session.jobs.all_arrived(job.id)
    session.jobs.wait(job.id, 60)
    page = open_page("files")
    assert not page.exception
    said = words_of(page).replace("\\", "")
    assert "are in your library" in said
    assert "1 of them cannot be read" in said
    page.button(key=f"icon-added-close-{job.id}").click().run()
    assert session.jobs.list() == []

"""A few hundred files are added in the browser: the page shows how far that is, and stays usable meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.app_process import App

COUNT = 300


@pytest.fixture
def many(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(COUNT):
        (folder / f"part-{number:03d}.csv").write_text(f"id,value\n{number},{number * 2}\n" + "1,2\n" * 200)
    (folder / "damaged.xlsx").write_bytes(b"PK\x03\x04 nothing")
    return sorted(folder.iterdir())


def test_files_are_added_while_the_page_stays_usable(
    new_app: Callable[..., App], browser: Browser, many: list[Path], tmp_path: Path
) -> None:
    app = new_app()
    shots = Path(os.environ.get("LEAF_SHOTS", str(tmp_path)))
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(f"{app.url}/files")
    page.locator("[data-testid=stFileUploader] input[type=file]").first.set_input_files(many)
    progress = page.get_by_text("Adding ", exact=False).first
    expect(progress).to_be_visible(timeout=60_000)
    page.screenshot(path=str(shots / "adding-wide-light.png"))
    page.get_by_label("Search files").fill("part-00")
    expect(page.get_by_label("Search files")).to_have_value("part-00")
    page.set_viewport_size({"width": 420, "height": 900})
    page.screenshot(path=str(shots / "adding-narrow-light.png"))
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="dark")
    done = page.get_by_text("are in your library.")
    expect(done).to_be_visible(timeout=120_000)
    expect(page.get_by_text("1 of them cannot be read.")).to_be_visible()
    expect(page.get_by_label("Search files")).to_have_value("part-00")
    page.screenshot(path=str(shots / "added-wide-dark.png"))
    page.get_by_text("What was not added or cannot be read", exact=False).click()
    expect(page.get_by_text("damaged.xlsx").first).to_be_visible()
    page.set_viewport_size({"width": 420, "height": 900})
    page.screenshot(path=str(shots / "added-narrow-dark.png"))
    context.close()

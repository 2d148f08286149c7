"""A few hundred files are added in the browser: the page shows how far that is, and stays usable
meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.app_process import App
from tests.browser.conftest import OpenPage
from tests.browser.test_journeys import file_field

COUNT = 300


@pytest.fixture
def many(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(COUNT):
        (folder / f"part-{number:03d}.csv").write_text(
            f"id,value\n{number},{number * 2}\n" + "1,2\n" * 200
        )
    (folder / "damaged.xlsx").write_bytes(b"PK\x03\x04 nothing")
    return sorted(folder.iterdir())


def test_files_are_added_while_the_page_stays_usable(
    new_app: Callable[..., App], open_page: OpenPage, many: list[Path], tmp_path: Path
) -> None:
    app = new_app()
    shots = Path(os.environ.get("LEAF_SHOTS", str(tmp_path)))
    page = open_page(1280)
    page.goto(f"{app.url}/files")
    file_field(page).set_input_files(many)
    line = page.locator(".leaf-job-line")
    expect(line).to_contain_text(f"of {COUNT + 1} files ready", timeout=60_000)
    page.screenshot(path=str(shots / "adding-wide-light.png"))
    page.get_by_label("Search files").fill("part-00")
    expect(page.get_by_label("Search files")).to_have_value("part-00")
    page.set_viewport_size({"width": 420, "height": 900})
    page.screenshot(path=str(shots / "adding-narrow-light.png"))
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="dark")
    expect(line).to_have_text(f"{COUNT} of {COUNT + 1} files ready · 1 failed", timeout=120_000)
    expect(page.get_by_role("button", name="Ask about them")).to_be_visible()
    expect(page.get_by_label("Search files")).to_have_value("part-00")
    page.screenshot(path=str(shots / "added-wide-dark.png"))
    page.locator(".leaf-job-toggle").click()
    damaged = page.locator(".leaf-row").filter(has_text="damaged.xlsx")
    expect(damaged).to_contain_text("cannot be read")
    page.set_viewport_size({"width": 420, "height": 900})
    page.screenshot(path=str(shots / "added-narrow-dark.png"))

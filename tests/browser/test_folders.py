"""Archives and folders on the Files page and beside a question."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.app_process import App
from tests.browser.test_journeys import file_field

SHOTS = os.environ.get("LEAF_SHOTS", "")
"""Folder for pictures of the page, for somebody who wants to look at it."""


def _shoot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"), full_page=True)


def test_equal_names_of_two_folders_are_told_apart(app: App, page: Page, tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("2024/sales.csv", "region,amount\nNorth,10\n")
        archive.writestr("2023/sales.csv", "region,amount\nNorth,1\n")
        archive.writestr("2023/tool.bin", bytes(range(256)) * 8)
    (tmp_path / "years.zip").write_bytes(out.getvalue())
    page.goto(f"{app.url}/files")
    file_field(page).set_input_files(tmp_path / "years.zip")
    for name in ("years.zip/2024/sales.csv", "years.zip/2023/sales.csv", "years.zip"):
        expect(page.get_by_role("button", name=name, exact=False).first).to_be_visible()
    _shoot(page, "files-wide")
    folder = tmp_path / "2022"
    (folder / "north").mkdir(parents=True)
    (folder / "north" / "sales.csv").write_text("region,amount\nNorth,7\n")
    page.locator("input[type=file][webkitdirectory]").set_input_files(folder)
    expect(
        page.locator(".st-key-file-rows").get_by_role("button", name="2022/north/sales.csv")
    ).to_be_visible()
    page.set_viewport_size({"width": 400, "height": 850})
    _shoot(page, "files-narrow")
    page.set_viewport_size({"width": 1280, "height": 900})
    row = page.locator("[class*=st-key-file-row-]").filter(has_text="3 files inside")
    row.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("button", name="years.zip", exact=False).first).to_be_visible()
    expect(page.locator("[class*=st-key-chip-]")).to_have_count(1)
    _shoot(page, "chat-wide")


def test_hundreds_of_files_stand_in_their_folders_until_they_are_searched_for(
    new_app: Callable[..., App], page: Page, tmp_path: Path
) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(90):
            year, month = 2020 + number % 3, number % 2 + 1
            archive.writestr(f"{year}/q{month}/part-{number:03d}.csv", f"id,value\n{number},1\n")
        archive.writestr("read me.txt", "Hello.")
    (tmp_path / "all.zip").write_bytes(out.getvalue())
    (tmp_path / "alone.txt").write_text("alone")
    app = new_app()
    page.goto(f"{app.url}/files")
    file_field(page).set_input_files([tmp_path / "all.zip", tmp_path / "alone.txt"])
    rows = page.locator(".st-key-file-rows")
    top = rows.locator("[class*=st-key-files-in-]").first
    expect(top).to_contain_text("all.zip · 91 files", timeout=60_000)
    expect(rows.get_by_role("button", name="alone.txt")).to_be_visible()
    expect(rows.get_by_text("part-001.csv")).to_have_count(0)
    top.locator("summary").first.click()
    year = rows.locator("[class*=st-key-files-in-]").filter(has_text="2021 · 30 files").last
    expect(year).to_be_visible()
    year.locator("summary").first.click()
    quarter = rows.locator("[class*=st-key-files-in-]").filter(has_text="q2 · 15 files").last
    quarter.locator("summary").first.click()
    expect(rows.get_by_role("button", name="part-001.csv", exact=False).first).to_be_visible()
    _shoot(page, "folders-wide")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 400, "height": 850})
    page.wait_for_timeout(500)
    _shoot(page, "folders-narrow-dark")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_placeholder("Name or the words it came with").fill("part-044")
    expect(rows.get_by_role("button", name="all.zip/2022/q1/part-044.csv")).to_be_visible()
    expect(rows.locator("[class*=st-key-files-in-]")).to_have_count(0)
    _shoot(page, "folders-found")

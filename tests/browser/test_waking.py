"""An idle page is drawn again when something that it shows was changed elsewhere, and not when
something else was."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import App
from tests.browser.test_journeys import ask, file_field, finished

pytestmark = pytest.mark.browser

SOON = 10_000
"""Milliseconds, on a busy machine; the look that a page takes by itself comes after a minute."""
COUNT_RUNS = """
window.leafRuns = 0
new MutationObserver(() => {
  const app = document.querySelector('[data-testid="stApp"]')
  if (app && app.dataset.testScriptState === "running" && window.leafState !== "running") window.leafRuns++
  window.leafState = app && app.dataset.testScriptState
}).observe(document, { subtree: true, attributes: true, childList: true })
"""


@pytest.fixture
def context(own_context: BrowserContext) -> BrowserContext:
    own_context.add_init_script(COUNT_RUNS)
    return own_context


def idle(page: Page) -> int:
    """Wait until the page is quiet; how often its script has run."""
    expect(
        page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
    ).to_be_visible()
    page.wait_for_timeout(1500)
    return int(page.evaluate("window.leafRuns"))


def rename(page: Page, name: str) -> None:
    """Rename the only chat from its menu."""
    page.get_by_role("button", name="Rename, export or delete this chat").first.click(force=True)
    page.get_by_text("Rename", exact=True).click()
    page.get_by_role("textbox", name="Name", exact=True).fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()


def test_another_tab_shows_at_once_what_was_changed_and_keeps_what_is_typed_in_it(
    app: App, context: BrowserContext, page: Page, sales: Path
) -> None:
    page.goto(app.url)
    ask(page, "A question to rename")
    expect(finished(page)).to_be_visible()
    other = context.new_page()
    other.goto(f"{app.url}/files")
    other.get_by_role("textbox", name="Search files").fill("sales")
    other.get_by_role("textbox", name="Search files").press("Enter")
    idle(other)
    rename(page, "Harvest of the year")
    expect(other.get_by_role("button", name="Harvest of the year")).to_be_visible(timeout=SOON)
    expect(other.get_by_role("textbox", name="Search files")).to_have_value("sales")
    page.get_by_role("link", name=re.compile("Files")).click()
    expect(page.get_by_role("heading", name="Files", exact=True)).to_be_visible()
    file_field(page).set_input_files(str(sales))
    expect(other.get_by_role("textbox", name="Search files")).to_have_value("sales")
    expect(other.get_by_text(re.compile(r"sales\.csv")).first).to_be_visible(timeout=SOON)


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("", "What do you want to know?"),
        ("files", "Files"),
        ("documents", "Documents"),
        ("usage", "Usage"),
        ("settings", "Settings"),
        ("operations", "Data"),
    ],
)
def test_a_page_that_nothing_concerns_is_not_drawn_again(
    app: App, page: Page, path: str, heading: str
) -> None:
    page.goto(f"{app.url}/{path}")
    expect(
        page.get_by_role("heading", name=re.compile(heading, re.IGNORECASE)).first
    ).to_be_visible()
    for _ in range(3):  # what a test before this one added may still be looked at
        runs = idle(page)
        page.wait_for_timeout(4000)
        if idle(page) == runs:
            return
    raise AssertionError("it is drawn again and again")


def test_a_dialog_and_what_is_typed_in_it_stay_while_the_page_under_it_changes(
    app: App, context: BrowserContext, page: Page
) -> None:
    page.goto(app.url)
    ask(page, "A question to save")
    expect(finished(page)).to_be_visible()
    idle(page)
    page.get_by_role("button", name="Save as prompt").filter(visible=True).click(force=True)
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").press_sequentially("Half a na")
    other = context.new_page()
    other.goto(page.url)
    expect(finished(other)).to_be_visible()
    ask(other, "One more")
    expect(finished(other)).to_have_count(2)
    runs = idle(page)
    assert idle(page) == runs
    page.keyboard.type("me")
    expect(dialog.get_by_role("textbox", name="Name")).to_have_value("Half a name")
    expect(finished(page)).to_have_count(1)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(finished(page)).to_have_count(2, timeout=SOON)


def test_what_changed_under_a_dialog_is_shown_when_that_is_left(
    app: App, context: BrowserContext, page: Page
) -> None:
    page.goto(app.url)
    ask(page, "A question to export")
    expect(finished(page)).to_be_visible()
    page.get_by_role("button", name="Rename, export or delete this chat").first.click(force=True)
    page.get_by_role("menuitem", name="Export").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    other = context.new_page()
    other.goto(page.url)
    expect(finished(other)).to_be_visible()
    ask(other, "One more")
    expect(finished(other)).to_have_count(2)
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(finished(page)).to_have_count(2, timeout=SOON)
    idle(page)
    expect(page.get_by_role("dialog")).to_have_count(0)

"""The list of chats: words that a search found, titles that are read from the right, the focus, chats
whose first question is yet to come."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import App
from tests.browser.test_edits import shot
from tests.browser.test_journeys import add_by_composer, ask, finished
from tests.messages_server import MessagesServer, Turn

pytestmark = pytest.mark.browser

TITLE = "(2025) تقرير المبيعات الشهري لكل المناطق والفروع"
# How far the box reaches beyond its beginning: what stands left of its left edge, of the right one
CUT = """(p) => {
  const range = document.createRange()
  range.selectNodeContents(p)
  const text = range.getBoundingClientRect(), box = p.parentElement.getBoundingClientRect()
  return { beginning: text.right - box.right, end: box.left - text.left }
}"""


def test_words_that_are_found_stand_under_the_title_and_a_title_keeps_its_beginning(
    new_app: Callable[..., App], page: Page
) -> None:
    with MessagesServer(lambda _: Turn.say("The Harvest of <b>Łódź</b> was poor. " * 3)) as server:
        app = new_app(model_url=server.url)
        page.set_viewport_size({"width": 1440, "height": 900})
        page.goto(app.url)
        ask(page, TITLE)
        expect(finished(page)).to_be_visible()
        title = page.locator("[class*=st-key-chat-row-] p").filter(has_text="2025").first
        cut = title.evaluate(CUT)
        assert cut["end"] > 2
        assert cut["beginning"] < 2
        page.goto(f"{app.url}/project")
        page.get_by_role("button", name="New project").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("textbox").first.fill(TITLE)
        dialog.get_by_role("button", name="Create").click()
        title = page.locator(".st-key-projects p").filter(has_text="2025").first
        cut = title.evaluate(CUT)
        assert cut["end"] > 2
        assert cut["beginning"] < 2
        search = page.get_by_role("textbox", name="Search chats")
        search.fill("harvest")
        passage = page.locator("[class*=st-key-found-]").filter(visible=True)
        expect(passage).to_contain_text("The Harvest of <b>Łódź</b> was poor.")
        expect(passage.locator("strong").first).to_have_text("Harvest")
        search.press("Tab")
        page.keyboard.press("Tab")
        shot(page, "found")
        focused = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(focused) == "solid"


def test_a_chat_that_was_left_with_a_file_is_known_by_it(
    new_app: Callable[..., App], page: Page, sales: Path
) -> None:
    app = new_app(model_url="")
    page.goto(app.url)
    add_by_composer(page, sales)
    page.goto(f"{app.url}/files")
    row = page.get_by_test_id("stSidebar").get_by_role("button", name="sales.csv, not asked yet")
    row.click()
    expect(
        page.get_by_role("button", name="Leave out sales.csv").filter(visible=True)
    ).to_be_visible()
    ask(page, "What is the total by region?")
    expect(finished(page)).to_be_visible()
    expect(row).to_have_count(0)

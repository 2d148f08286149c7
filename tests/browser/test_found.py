"""The list of chats: words that a search found, titles that are read from the right, the focus."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import App
from tests.browser.test_edits import shot
from tests.browser.test_journeys import ask, finished
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
        page.screenshot(
            path="/tmp/pg/rtl.png", clip={"x": 0, "y": 350, "width": 300, "height": 200}
        )
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

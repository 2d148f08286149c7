"""A journey without a mouse, on the three sizes of a window, light and dark: a file is added, a question
asked, its rows looked at, a chart pinned, the board and the settings visited. Whatever has the focus
shows it and stands within the window, and nothing is wider than it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from bench.page import quiet
from bench.visits import SPEC, SQL
from tests.browser.conftest import App, MessagesServer, OpenPage
from tests.browser.test_journeys import composer, finished
from tests.browser.test_python import shot
from tests.live_kit import wait_until
from tests.messages_server import Turn

pytestmark = pytest.mark.browser

TURNS = (
    Turn.call(("query_tables", {"sql": SQL})),
    Turn.call(("make_chart", {"sql": SQL, "spec": SPEC})),
    Turn.say("**North** leads with 300."),
)
MOST = 60
"""How often one presses Tab before one gives up."""
SHOWN = """() => {
  const one = document.activeElement
  const own = (element) => {
    const { outlineStyle, boxShadow, borderColor } = getComputedStyle(element)
    return [outlineStyle !== "none", boxShadow, borderColor].join(" ")
  }
  const around = [one, one.parentElement, one.parentElement?.parentElement].filter(Boolean)
  const focused = around.map(own).join("; ")
  const { top, bottom, left, right } = one.getBoundingClientRect()
  const within = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth
  one.blur()
  const without = around.map(own).join("; ")
  one.focus({ focusVisible: true, preventScroll: true })
  return { shows: focused !== without, within, wide: document.documentElement.scrollWidth - innerWidth }
}"""


def reach(page: Page, target: Locator, key: str = "Tab") -> None:
    """Press Tab until it has the focus; it then shows that, and stands in the window."""
    expect(target).to_be_attached()
    for _ in range(MOST):
        page.keyboard.press(key)
        if target.evaluate("one => one.contains(document.activeElement)"):
            break
    else:
        pytest.fail(f"{MOST} times {key}, and never at {target}")
    page.wait_for_timeout(300)  # it comes into view
    found = page.evaluate(SHOWN)
    assert found["shows"], f"nobody sees that {target} has the focus"
    assert found["within"], f"{target} has the focus outside of the window"
    assert found["wide"] <= 0


def test_from_a_file_to_a_board_by_keyboard_alone(
    new_app: Callable[..., App],
    open_page: OpenPage,
    sales: Path,
) -> None:
    page = open_page(1920, 1080, "dark")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    # Playwright takes windows that choose files over from the first listener on, and waits for
    # nothing then: with one that is set as the key is pressed, Chromium may open its own, unseen.
    page.on("filechooser", lambda _: None)
    with MessagesServer(list(TURNS)) as server:
        page.goto(new_app(model_url=server.url).url)
        _add(page, sales)
        composer(page).focus()
        page.keyboard.type("Which region leads?")
        page.keyboard.press("Enter")
        expect(finished(page)).to_be_visible()
        expect(page.locator("[class*=st-key-answer-] svg.marks, canvas").first).to_be_visible()
        _look_at_rows(page)
        shot(page, "keyboard-answer")
        composer(page).focus()
        reach(page, page.get_by_role("button", name="Pin to board").first, "Shift+Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Pinned to “Board”.")).to_be_visible()
        _go(page, "Board")
        expect(page.locator("[class*=st-key-pin-card-]").filter(visible=True)).to_have_count(1)
        shot(page, "keyboard-board")
        # Never so short that the place of the page before is lost by itself
        page.add_style_tag(content="#stMain::after { content: ''; flex: none; height: 5000px }")
        page.locator("#stMain").evaluate("(main) => main.scrollTo(0, 2000)")
        _go(page, "Settings")
        wait_until(lambda: page.locator("#stMain").evaluate("(main) => main.scrollTop") == 0)
    assert errors == []


def _add(page: Page, path: Path) -> None:
    expect(composer(page)).to_be_focused()
    reach(page, page.get_by_role("button", name="Attach", exact=True))
    page.keyboard.press("Enter")
    field = page.get_by_role("button", name="Files from this computer").filter(visible=True)
    expect(field).to_be_visible()
    quiet(page)
    reach(page, field)
    with page.expect_file_chooser() as chosen:
        page.keyboard.press("Enter")
    chosen.value.set_files(path)
    page.keyboard.press("Escape")
    beside = page.get_by_role("button", name="Leave out sales.csv").filter(visible=True)
    expect(beside).to_be_visible()


def _look_at_rows(page: Page) -> None:
    composer(page).focus()
    line = page.locator("[class*=st-key-actions-] a").filter(has_text=re.compile("source"))
    reach(page, line, "Shift+Tab")
    page.keyboard.press("Enter")
    panel = page.locator(".st-key-preview")
    source = panel.get_by_role("button", name="sales.csv")
    expect(source).to_be_visible()
    reach(page, source)
    page.keyboard.press("Enter")
    expect(panel.get_by_text("Rows 1–3 of 3")).to_be_visible()
    reach(page, panel.get_by_role("button", name="Close the preview"))
    page.keyboard.press("Enter")
    expect(panel).to_have_count(0)
    expect(line).to_be_focused()
    edit = page.get_by_role("button", name="Edit this question and ask again").filter(visible=True)
    edit.press("Enter")
    expect(page.get_by_label("Edit the question")).to_be_focused()
    page.get_by_role("button", name="Cancel").press("Enter")
    expect(edit).to_be_focused()


def _go(page: Page, place: str) -> None:
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search and commands")
    expect(palette).to_be_visible()
    page.keyboard.type(place.lower())
    expect(palette.get_by_role("option").first).to_contain_text(place)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=place, exact=True)).to_be_visible()

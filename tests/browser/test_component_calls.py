"""The scripts of components as Streamlit calls them: it may end an earlier call for an element that
stays, and that after a later one for the same element."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from leaf.ui.live import component as live
from leaf.ui.spoken import ASSETS, PRELUDE

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><meta charset="utf-8">
<div id="stMain"><div id="place"><div class="leaf-live"></div><div class="leaf-palette-root"></div></div></div>"""
BEGIN = """async ([script, data]) => {
  window.sockets = []
  window.WebSocket = class { constructor() { sockets.push(this); this.open = true } close() { this.open = false } }
  const module = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })))
  const place = document.querySelector("#place")
  window.call = () => module.default({ data, parentElement: place, setTriggerValue: () => {} })
  window.later = () => new Promise((then) => setTimeout(then, 50))
}"""
ENDED_LATE = "async () => { const first = call(); window.second = call(); first(); await later() }"
GONE = "async () => { document.querySelector('#place').remove(); second(); await later() }"


def begin(page: Page, script: str, data: dict[str, object]) -> None:
    page.route(
        "http://leaf.test/", lambda route: route.fulfill(body=PAGE, content_type="text/html")
    )
    page.goto("http://leaf.test/")
    page.evaluate(BEGIN, [script, data])
    page.evaluate(ENDED_LATE)


def test_a_live_answer_stays_connected_until_its_element_is_gone(page: Page) -> None:
    """Else no word comes until the whole answer does."""
    data: dict[str, object] = {"message": "m1", "ticket": "words", "position": 0, "over": False}
    begin(page, PRELUDE + live.SCRIPT, data)
    assert page.evaluate("sockets.map((one) => one.open)") == [True]
    page.evaluate(GONE)
    assert page.evaluate("sockets.map((one) => one.open)") == [False]


def test_the_palette_hears_its_keys_until_its_element_is_gone(page: Page) -> None:
    script = PRELUDE + (ASSETS / "palette.js").read_text()
    begin(page, script, {"pages": [], "items": [], "number": 0, "chat": "", "commands": []})
    dialog = page.locator("dialog.leaf-palette")
    page.keyboard.press("Control+k")
    assert dialog.evaluate("one => one.open")
    page.evaluate("() => { window.kept = document.querySelector('dialog.leaf-palette') }")
    page.evaluate("async () => { window.second = call(); await later() }")
    assert dialog.evaluate("one => one.open && one === kept"), "what is open stays open"
    page.evaluate("kept.close()")
    page.evaluate(GONE)
    page.keyboard.press("Control+k")
    assert not page.evaluate("kept.open")

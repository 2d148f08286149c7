"""A person without a key finds the way to a model, connects one, and is answered by it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import App
from tests.browser.test_journeys import ask, finished
from tests.messages_server import MessagesServer, Turn

pytestmark = pytest.mark.browser

KEY = "sk-marker-8Ka1-never-shown-QRST"


def shot(page: Page, name: str) -> None:
    """Pictures of the page, wide and narrow, light and dark, for whoever wants to look: LEAF_SHOTS
    names the folder."""
    folder = os.environ.get("LEAF_SHOTS")
    if not folder:
        return
    before = page.viewport_size
    for width, height in ((1440, 900), (390, 844)):
        for scheme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.wait_for_timeout(700)
            page.screenshot(path=str(Path(folder) / f"{name}-{width}-{scheme}.png"))
    page.emulate_media(color_scheme="light")
    if before:
        page.set_viewport_size(before)
    page.wait_for_timeout(300)


def open_settings(page: Page) -> None:
    page.get_by_test_id("stSidebar").get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()


def test_from_no_model_to_one_of_ones_own_and_back(new_app: Callable[..., App], page: Page) -> None:
    app = new_app()
    with MessagesServer(lambda _: Turn.say("A model says so."), key=KEY) as server:
        page.goto(app.url)
        expect(page.get_by_text("A model adds", exact=False)).to_be_visible()
        shot(page, "start")
        ask(page, "hello")
        expect(page.get_by_text("No model is connected.").filter(visible=True)).to_be_visible()
        expect(finished(page)).to_be_visible()
        shot(page, "keyless")
        address = page.url
        page.get_by_role("button", name="Connect a model").filter(visible=True).click()
        expect(page.get_by_role("heading", name="Settings")).to_be_visible()
        expect(page.get_by_label("Key", exact=True)).to_be_visible()
        shot(page, "form")

        page.get_by_text("A server of your own", exact=True).click()
        page.get_by_label("Address").fill(server.url)
        key = page.locator("input[type=password]").filter(visible=True)
        key.fill("a-wrong-key")
        page.get_by_role("button", name="Test").click()
        expect(page.get_by_text("refused the key (401)")).to_be_visible()
        shot(page, "wrong-key")
        key.fill(KEY)
        page.get_by_role("button", name="Test").click()
        expect(page.get_by_text("The server offers 3 models.")).to_be_visible()
        choice = page.get_by_role("combobox", name="Model").filter(visible=True)
        choice.click()
        page.get_by_role("option", name="Claude Haiku 5 5").click()
        shot(page, "tested")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("ends in QRST").filter(visible=True).first).to_be_visible()
        shot(page, "saved")
        expect(page.locator(f'[value="{KEY}"]')).to_have_count(0)  # the form, until it is away
        assert KEY not in page.content()

        page.goto(address)
        ask(page, "and now?")
        expect(page.get_by_text("A model says so.")).to_be_visible()
        expect(finished(page).last).to_be_visible()
        assert server.requests[-1].key == KEY
        assert server.requests[-1].body["model"] == "claude-haiku-5-5"
        page.reload()
        expect(page.get_by_text("A model says so.")).to_be_visible()
        expect(page.get_by_role("button", name="Connect a model")).to_have_count(0)
        assert KEY not in page.content()

        open_settings(page)
        page.get_by_text("Change the connection").filter(visible=True).click()
        expect(page.get_by_label("Address")).to_have_value(server.url)
        expect(key).to_have_value("")
        assert KEY not in page.content()
        page.get_by_role("button", name="Remove", exact=True).filter(visible=True).click()
        shot(page, "remove")
        page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        expect(page.get_by_text("No model is connected.").filter(visible=True)).to_be_visible()
        asked = len(server.requests)
        page.goto(address)
        ask(page, "hello again")
        expect(page.get_by_text("I answer questions about your files").last).to_be_visible()
        assert len(server.requests) == asked
    app.stop()
    assert KEY not in app.log.read_text()
    for path in app.home.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


def test_a_connection_of_the_environment_is_said_to_be_in_use(
    new_app: Callable[..., App], page: Page
) -> None:
    with MessagesServer(lambda _: Turn.say("Yes.")) as server:
        page.goto(f"{new_app(model_url=server.url).url}/settings")
        expect(page.get_by_text("The connection is set where Leaf runs")).to_be_visible()
        expect(page.get_by_text("A connection that you save here answers you")).to_be_visible()
        page.get_by_text("Connect another model").filter(visible=True).click()
        expect(page.get_by_label("Key", exact=True)).to_be_visible()
        shot(page, "environment")
        assert "test-key" not in page.content()

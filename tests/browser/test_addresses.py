"""Addresses and the browser's history: Back goes to the view before, and a link leads where it says."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import LARGE, PHONE, App, OpenPage, expect_fits
from tests.browser.test_journeys import ask, finished
from tests.browser.test_python import shot
from tests.live_kit import wait_until

pytestmark = pytest.mark.browser


def here(page: Page) -> str:
    return str(page.evaluate("location.pathname + location.search"))


def back(page: Page, to: str) -> None:
    page.go_back()
    wait_until(lambda: here(page) == to)


def test_back_leads_through_the_views_and_links_to_what_they_name(
    app: App, open_page: OpenPage
) -> None:
    page = open_page(*LARGE)
    page.goto(app.url)
    for number, words in enumerate(("Apples please", "Something long", "Cherries please"), 1):
        ask(page, words)
        expect(finished(page)).to_have_count(number)
    chat = here(page)
    wait_until(lambda: page.title() not in ("Leaf", ""))
    named = page.title()
    for name in ("files", "settings"):
        page.evaluate(
            "name => document.querySelector(`.st-key-places a[href$='${name}']`).click()", name
        )
        wait_until(lambda name=name: here(page) == f"/{name}")
        expect(page.get_by_role("heading", name=name.capitalize(), exact=True)).to_be_visible()
        wait_until(lambda name=name: page.title() == f"{name.capitalize()} · Leaf")
    back(page, "/files")
    expect(page.get_by_role("heading", name="Files", exact=True)).to_be_visible()
    back(page, chat)
    expect(page.get_by_text("You asked: Cherries please")).to_be_visible()
    wait_until(lambda: page.title() == named)
    back(page, "/")

    page.goto(f"{app.url}/files?{chat.partition('?')[2]}")
    expect(page.get_by_role("heading", name="Files", exact=True)).to_be_visible()
    wait_until(lambda: here(page) == "/files")
    back(page, "/")
    page.goto(f"{app.url}/?chat=nonsense")
    said = page.get_by_text("This link leads to a chat that was deleted")
    expect(said).to_have_count(1)
    wait_until(lambda: here(page) == "/")
    back(page, "/")

    question = page.goto(f"{app.url}{chat}") and page.locator("[class*=st-key-question-]").nth(1)
    assert question is not None
    expect(finished(page)).to_have_count(3)
    key = str(question.get_attribute("class"))
    message = key.split("st-key-question-")[1].split()[0]
    page.goto(f"{app.url}{chat}&message={message}")
    expect(question).to_be_visible()
    wait_until(lambda: 0 <= (question.bounding_box() or {"y": -1})["y"] <= 90)
    shot(page, "address-message-large")
    expect_fits(page, PHONE)
    shot(page, "address-message-phone")

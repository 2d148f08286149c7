"""Light and dark, as a person chooses it once for all pages of their browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import App
from tests.browser.test_python import shot
from tests.live_kit import wait_until

pytestmark = pytest.mark.browser

DARK, LIGHT = "rgb(17, 22, 20)", "rgb(251, 250, 247)"
"""The background of the page, of `.streamlit/config.toml`."""


@pytest.fixture(scope="module")
def home(module_app: Callable[..., App]) -> App:
    return module_app(model_url="")


def looks(page: Page, colour: str) -> None:
    expect(page.get_by_test_id("stSidebar")).to_be_attached()
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", colour)


def test_a_chosen_look_is_that_of_every_page_and_tab_and_goes_back_to_the_systems(
    home: App, context: BrowserContext, page: Page
) -> None:
    page.goto(f"{home.url}/settings")
    group = page.get_by_role("group", name="Light or dark")
    expect(group.get_by_role("button", name="As the system")).to_have_attribute(
        "aria-pressed", "true"
    )
    looks(page, LIGHT)
    group.get_by_role("button", name="Dark").press("Enter")
    looks(page, DARK)
    expect(group.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    shot(page, "look-dark")
    page.get_by_role("link", name="Files").filter(visible=True).click()
    expect(page.get_by_role("heading", name="Files")).to_be_visible()
    looks(page, DARK)
    other = context.new_page()
    scheme = "getComputedStyle(document.documentElement).colorScheme"
    for path in ("/documents", "/", "/files?x=1", "/board"):
        other.goto(home.url + path)
        looks(other, DARK)
        wait_until(lambda: other.evaluate(scheme) == "dark")
    page.goto(f"{home.url}/settings")
    group.get_by_role("button", name="As the system").click()
    looks(page, LIGHT)
    other.goto(f"{home.url}/documents")
    looks(other, LIGHT)
    page.emulate_media(color_scheme="dark")
    page.goto(f"{home.url}/settings")
    looks(page, DARK)
    group.get_by_role("button", name="Light", exact=True).click()
    looks(page, LIGHT)


def test_a_browser_that_keeps_nothing_says_so(home: App, page: Page) -> None:
    page.goto(f"{home.url}/settings")
    group = page.get_by_role("group", name="Light or dark")
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new DOMException('full') } }")
    group.get_by_role("button", name="Dark").click()
    expect(page.get_by_role("alert")).to_contain_text("This browser keeps nothing")
    looks(page, LIGHT)

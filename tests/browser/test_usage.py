"""What a person sees of what was used: the page, a warning, and a question that is held back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import App
from tests.browser.test_journeys import ask, composer, finished
from tests.messages_server import MessagesServer

pytestmark = pytest.mark.browser


def set_tokens(page: Page, app: App, tokens: str) -> None:
    page.goto(f"{app.url}/usage")
    page.get_by_text("Set budgets").click()
    field = page.get_by_label("Tokens a day")
    field.fill(tokens)
    field.press("Tab")
    page.get_by_role("button", name="Save").click()


def test_a_question_beyond_the_budget_is_given_back_with_a_sentence_and_sent_once_it_is_raised(
    new_app: Callable[..., App], model_server: MessagesServer, page: Page
) -> None:
    app = new_app(model_url=model_server.url)
    page.goto(app.url)
    ask(page, "First question")
    expect(finished(page)).to_be_visible()
    page.get_by_role("link", name="Usage").click()
    expect(page.get_by_role("heading", name="By chat")).to_be_visible()
    expect(page.get_by_role("link", name="First question").filter(visible=True)).to_be_visible()
    expect(page.get_by_text("claude-sonnet-5-5").first).to_be_visible()
    expect(page.locator("[data-testid=stVegaLiteChart]")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    assert "claude-sonnet-5-5,1," in download.value.path().read_text()

    set_tokens(page, app, "5")
    expect(page.get_by_text("used up").first).to_be_visible()
    page.get_by_role("link", name="First question").filter(visible=True).click()
    expect(finished(page)).to_be_visible()
    expect(page.get_by_text("Your budget of 5 tokens for today is used up")).to_be_visible()
    ask(page, "Second question, not to be lost")
    expect(page.get_by_test_id("stAlert").get_by_text("is used up")).to_be_visible()
    expect(composer(page)).to_have_value("Second question, not to be lost")
    expect(page.get_by_text("You asked: Second question")).to_have_count(0)

    set_tokens(page, app, "9000000")
    expect(page.get_by_text("of 9,000,000 tokens").filter(visible=True)).to_be_visible()
    page.get_by_role("link", name="First question").filter(visible=True).click()
    ask(page, "Second question, not to be lost")
    expect(page.get_by_text("You asked: Second question, not to be lost")).to_be_visible()


def test_without_a_model_the_page_says_that_rules_cost_nothing(
    new_app: Callable[..., App], page: Page
) -> None:
    app = new_app()
    page.goto(f"{app.url}/usage")
    expect(page.get_by_text("answers cost nothing")).to_be_visible()
    expect(page.get_by_text("Nothing was used in this time")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)

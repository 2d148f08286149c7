"""An answer arrives, and is shown whole and once, whatever happens to the tab, the network or the
process."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import ENDLESS, LONG, App
from tests.browser.test_journeys import ask, composer, finished
from tests.messages_server import Failure, MessagesServer, Turn
from tests.tcp_proxy import TcpProxy

pytestmark = pytest.mark.browser

PARAGRAPHS = LONG.split("\n\n")
ARRIVES = 60_000
"""Milliseconds that a long answer may take on a busy machine."""
WATCH_FOR_DOUBLES = """
window.leafDoubles = []
new MutationObserver(() => requestAnimationFrame(() => {
  const texts = [...document.querySelectorAll('[class*="st-key-answer-"] p')].map((p) => p.innerText)
  const begun = texts.filter((text) => /^Paragraph \\d+ of/.test(text))
  if (new Set(begun).size !== begun.length) window.leafDoubles.push(begun.join(" | "))
})).observe(document, { subtree: true, childList: true, characterData: true })
"""
"""Notes whatever a person would see twice, at any moment."""


@pytest.fixture
def context(own_context: BrowserContext) -> BrowserContext:
    own_context.add_init_script(WATCH_FOR_DOUBLES)
    return own_context


def stop_button(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile("^Stop( |$)")).filter(visible=True)


def begin(app_url: str, page: Page, question: str = "Something long") -> None:
    """Ask for a long answer, and wait until some of it is there."""
    page.goto(app_url)
    ask(page, question)
    expect(page.get_by_text("Paragraph 3 of")).to_be_visible()
    expect(page).to_have_url(re.compile(r"chat="))


def paragraphs(page: Page) -> list[str]:
    texts = page.locator("[class*=st-key-answer-] p").all_inner_texts()
    return [text for text in texts if text.startswith("Paragraph ")]


def expect_whole_and_once(page: Page) -> None:
    expect(finished(page)).to_be_visible(timeout=ARRIVES)
    assert paragraphs(page) == PARAGRAPHS
    assert page.evaluate("window.leafDoubles") == []


def test_reload_second_tab_and_a_look_elsewhere_leave_the_answer_whole(
    app: App, context: BrowserContext, page: Page
) -> None:
    begin(app.url, page)
    address = page.url
    page.reload()
    expect(page.get_by_text("Paragraph 4 of")).to_be_visible()
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_text(re.compile("1 answer is being written"))).to_be_visible()
    other = context.new_page()
    other.goto(address)
    expect(other.get_by_text("Paragraph 4 of")).to_be_visible()
    page.locator(".st-key-chats").get_by_role("button", name="Something long").first.click()
    expect(page.get_by_text("Paragraph 5 of")).to_be_visible()
    for tab in (page, other):
        expect_whole_and_once(tab)


def test_what_is_half_written_stays_with_its_chat(app: App, page: Page) -> None:
    page.goto(app.url)
    ask(page, "Apples")
    expect(finished(page)).to_be_visible()
    expect(composer(page)).to_have_value("")
    composer(page).fill("Half written\nin two lines")
    page.reload()
    expect(composer(page)).to_have_value("Half written\nin two lines")
    page.get_by_role("link", name="Files").first.click()
    expect(composer(page)).to_have_count(0)
    page.locator(".st-key-chats").get_by_role("button", name="Apples").first.click()
    expect(composer(page)).to_have_value("Half written\nin two lines")
    page.get_by_role("button", name="New chat").first.click()
    expect(composer(page)).to_have_value("")
    composer(page).fill("For a new one")
    page.locator(".st-key-chats").get_by_role("button", name="Apples").first.click()
    expect(composer(page)).to_have_value("Half written\nin two lines")
    composer(page).press("Enter")
    expect(page.get_by_text("You asked: Half written")).to_be_visible()
    page.reload()
    expect(finished(page).nth(1)).to_be_visible()
    expect(composer(page)).to_have_value("")
    page.get_by_role("button", name="New chat").first.click()
    expect(composer(page)).to_have_value("For a new one")
    page.locator('input[type="file"]').first.set_input_files(
        {"name": "a.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n"}
    )
    page.wait_for_url(re.compile("chat="))
    expect(page.get_by_text("a.csv").filter(visible=True).first).to_be_visible()
    page.wait_for_timeout(1000)
    expect(composer(page)).to_have_value("For a new one")
    page.reload()
    expect(composer(page)).to_have_value("For a new one")


def test_what_is_written_as_soon_as_a_chat_has_begun_stays_with_it(app: App, page: Page) -> None:
    page.goto(app.url)
    ask(page, "Pears")
    page.wait_for_url(re.compile("chat="))
    composer(page).fill("Written at once")
    expect(finished(page)).to_be_visible()
    page.wait_for_timeout(1000)
    page.get_by_role("link", name="Files").first.click()
    expect(composer(page)).to_have_count(0)
    page.locator(".st-key-chats").get_by_role("button", name="Pears").first.click()
    expect(composer(page)).to_have_value("Written at once")
    page.get_by_role("button", name="New chat").first.click()
    expect(composer(page)).to_have_value("")


def test_a_lost_network_is_outlived(app: App, page: Page) -> None:
    with TcpProxy(app.port) as proxy:
        begin(proxy.url, page)
        proxy.cut()
        proxy.wait_for_refusals(3)
        proxy.heal()
        expect_whole_and_once(page)


def test_stop_in_one_tab_ends_the_answer_in_the_other(
    app: App, context: BrowserContext, page: Page
) -> None:
    begin(app.url, page, "Something endless to be stopped elsewhere")
    other = context.new_page()
    other.goto(page.url)
    expect(other.get_by_text("Paragraph 3 of")).to_be_visible()
    stop_button(other).click()
    for tab in (page, other):
        expect(tab.get_by_text("Stopped. What was found so far is kept.")).to_be_visible()
        expect(tab.get_by_role("button", name="Retry").filter(visible=True)).to_be_visible()
    kept = paragraphs(page)
    assert ENDLESS.replace("\n\n", "\n").startswith("\n".join(kept))
    assert paragraphs(other) == kept


def test_a_killed_server_comes_back_under_the_open_page(
    new_app: Callable[..., App], model_server: MessagesServer, page: Page
) -> None:
    running = new_app(model_url=model_server.url)
    begin(running.url, page, "Something thorough")
    asked = len(model_server.requests)
    running.stop(signal.SIGKILL)
    running.start()
    expect_whole_and_once(page)
    expect(page.get_by_text("I look at the files first.")).to_have_count(1)
    assert len(model_server.requests) == asked + 1


def test_questions_wait_visibly_are_withdrawn_and_answered_in_order(app: App, page: Page) -> None:
    begin(app.url, page, "Something long before others")
    ask(page, "The second question")
    expect(page.get_by_text("Waiting for the answer before it")).to_be_visible()
    ask(page, "The third question")
    expect(page.get_by_text("Waiting for the 2 answers before it")).to_be_visible()
    withdraw = page.get_by_role("button", name="Withdraw").filter(visible=True)
    withdraw.last.click()
    expect(composer(page)).to_have_value("The third question")
    expect(withdraw).to_have_count(1)
    expect(page.get_by_text("You asked: The second question")).to_be_visible(timeout=ARRIVES)
    expect(withdraw).to_have_count(0)
    expect(finished(page)).to_have_count(2)
    assert paragraphs(page) == PARAGRAPHS
    assert page.get_by_text("The third question").filter(visible=True).count() == 1


def test_a_withdrawn_question_does_not_overwrite_what_is_being_written(
    app: App, page: Page
) -> None:
    begin(app.url, page, "Something endless behind which others wait")
    ask(page, "A question that was too hasty")
    composer(page).fill("Half a")
    page.get_by_role("button", name="Withdraw").filter(visible=True).click()
    expect(page.get_by_text("Withdrawn: “A question that was too hasty”")).to_be_visible()
    expect(composer(page)).to_have_value("Half a")
    stop_button(page).click()
    expect(page.get_by_text("Stopped. What was found so far is kept.")).to_be_visible()


def test_a_question_beyond_the_limit_says_that_it_waits_for_a_free_place(
    new_app: Callable[..., App], model_server: MessagesServer, context: BrowserContext, page: Page
) -> None:
    small = new_app(model_url=model_server.url, LEAF_RUNS_PER_USER="1")
    begin(small.url, page, "Something endless")
    other = context.new_page()
    other.goto(small.url)
    ask(other, "Me too")
    expect(
        other.get_by_text("Waiting for a free place: 1 answer is being written for you already")
    ).to_be_visible()
    stop_button(page).click()
    expect(other.get_by_text("You asked: Me too")).to_be_visible()


def test_a_busy_model_is_waited_for_and_a_failed_answer_goes_on_from_its_last_good_step(
    new_app: Callable[..., App], page: Page
) -> None:
    script = [
        Failure.overloaded(60),
        Turn.call("list_files", text="First the files."),
        Failure.overloaded(3),
        Failure(400, "invalid_request_error", "no"),
        Turn.say("There are none."),
    ]
    with MessagesServer(script) as server:
        page.goto(new_app(model_url=server.url, LEAF_MODEL_PATIENCE="120").url)
        waits = page.get_by_text(re.compile(r"Trying again in \d+ s \(attempt 2\)"))
        ask(page, "To be stopped while it waits")
        expect(waits).to_be_visible()
        stop_button(page).click()
        expect(page.get_by_text("Stopped. What was found so far is kept.")).to_be_visible()
        expect(waits).to_have_count(0)
        ask(page, "Which files are there?")
        expect(page.get_by_text("First the files.")).to_be_visible()
        expect(waits).to_be_visible()
        expect(page.get_by_test_id("stAlert")).to_contain_text("This was step 2.")
        expect(waits).to_have_count(0)
        page.get_by_role("button", name="Go on from the last good step").filter(
            visible=True
        ).click()
        expect(page.get_by_text("There are none.")).to_be_visible()
        expect(page.get_by_text("First the files.")).to_have_count(1)
        expect(page.get_by_text("2/2")).to_be_visible()
        assert len(server.requests) == 2

"""A server that went away: the page says so in Leaf's words and stays readable, and what is typed
meanwhile is asked when it is back, once."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from bench.page import quiet
from tests.axe_kit import Inspection, Look
from tests.browser.conftest import LARGE, PATIENCE, PHONE, App, MessagesServer, look_at
from tests.browser.test_journeys import ask, composer, finished
from tests.browser.test_python import shot
from tests.live_kit import wait_until
from tests.tcp_proxy import TcpProxy

pytestmark = pytest.mark.browser

SAYS = "Leaf cannot be reached. What you type is kept and sent when it is back."


def banner(page: Page) -> Locator:
    return page.locator(".leaf-lost").get_by_role("alert")


def field(page: Page) -> Locator:
    return page.locator(".leaf-lost").get_by_role("textbox")


def asked(page: Page, question: str) -> Locator:
    return page.locator('[class*="st-key-bubble-"]', has_text=question)


def keep(page: Page, question: str) -> None:
    field(page).fill(question)
    field(page).press("Enter")
    expect(page.locator(".leaf-lost li", has_text=question)).to_be_visible()


def test_questions_typed_while_the_server_is_dead_are_asked_once_when_it_is_back(
    new_app: Callable[..., App], model_server: MessagesServer, page: Page
) -> None:
    running = new_app(model_url=model_server.url)
    page.goto(running.url)
    ask(page, "Something long")
    expect(finished(page)).to_be_visible()
    composer(page).fill("Half written")
    requests = len(model_server.requests)
    running.stop(signal.SIGKILL)
    expect(banner(page)).to_have_text(SAYS)
    expect(field(page)).to_have_value("Half written")
    expect(field(page)).to_be_focused()
    keep(page, "While it was dead")
    keep(page, "And one too many")
    page.get_by_role("button", name="Take back").last.click()
    expect(field(page)).to_have_value("And one too many")
    page.mouse.move(600, 300)
    page.mouse.wheel(0, -100_000)
    expect(page.get_by_text("Paragraph 1 of")).to_be_in_viewport()
    page.wait_for_timeout(3000)  # by now Streamlit has told of it, too
    expect(page.get_by_test_id("stDialog")).to_have_count(0)
    shot(page, "lost")
    running.start()
    expect(page.get_by_text("You asked: While it was dead")).to_be_visible()
    expect(banner(page)).to_have_count(0)
    expect(composer(page)).to_have_value("And one too many")
    assert len(model_server.requests) == requests + 1
    expect(asked(page, "While it was dead")).to_have_count(1)
    assert page.evaluate("Object.keys(sessionStorage).filter((key) => key.includes('kept'))") == []


def test_a_kept_question_outlives_a_reload_and_is_not_asked_by_a_copy_of_its_tab(
    new_app: Callable[..., App], model_server: MessagesServer, context: BrowserContext, page: Page
) -> None:
    running = new_app(model_url=model_server.url)
    page.goto(running.url)
    ask(page, "Apples")
    expect(finished(page)).to_be_visible()
    address = page.url
    running.stop(signal.SIGKILL)
    expect(banner(page)).to_be_visible()
    keep(page, "Pears, by both")
    keep(page, "Plums, by both")
    store = page.evaluate("({ ...sessionStorage })")
    page.goto("about:blank")  # a reload shows the browser's own page, which no script reaches
    copy = context.new_page()
    copy.add_init_script(
        f"if (!sessionStorage.copied) Object.assign(sessionStorage, {store!r}, {{ copied: '1' }})"
    )
    running.start()
    for tab in (page, copy):
        tab.goto(address)
    for tab in (page, copy):
        expect(tab.get_by_text("You asked: Plums, by both")).to_be_visible()
        expect(finished(tab)).to_have_count(3)
    texts = page.locator('[class*="st-key-bubble-"]').all_inner_texts()
    assert sorted(texts) == ["Apples", "Pears, by both", "Plums, by both"]


def test_a_question_that_arrived_before_the_line_was_cut_once_more_is_not_asked_again(
    app: App, page: Page
) -> None:
    """However its blanks, tabs, line breaks and control characters are drawn."""
    question = "Sum  it up\tfor me:\n\n\n  **North**\t1 \n  South\t2\x07"
    page.goto(app.url)
    ask(page, "Apples first")
    expect(finished(page)).to_be_visible()
    last = page.evaluate(
        "[...document.querySelector('[class*=st-key-question-]').classList]"
        ".find((name) => name.startsWith('st-key-question-'))"
    )
    ask(page, question)
    expect(finished(page)).to_have_count(2)
    page.evaluate(
        "([chat, one]) => sessionStorage.setItem('leaf-kept-' + chat,"
        " JSON.stringify({ waiting: [one], draft: '', before: '' }))",
        [
            page.url.split("chat=")[1].split("&")[0],
            {"id": "1-1", "text": question, "sent": True, "last": last},
        ],
    )
    page.reload()
    kept = "Object.keys(sessionStorage).filter((key) => key.includes('kept'))"
    wait_until(lambda: page.evaluate(kept) == [])
    page.wait_for_timeout(1000)
    expect(page.locator('[class*="st-key-bubble-"]')).to_have_count(2)


def test_a_question_for_a_chat_that_is_not_begun_begins_it_and_the_next_follows_there(
    app: App, page: Page
) -> None:
    with TcpProxy(app.port) as proxy:
        page.goto(proxy.url)
        expect(composer(page)).to_be_visible()
        proxy.cut()
        expect(banner(page)).to_be_visible()
        keep(page, "The first of a new chat")
        keep(page, "The second of it")
        proxy.heal()
        expect(page.get_by_text("You asked: The second of it")).to_be_visible()
        expect(asked(page, "The first of a new chat")).to_have_count(1)
        expect(asked(page, "The second of it")).to_have_count(1)


def test_a_lost_page_speaks_the_readers_language_and_can_be_used_by_everybody(
    app: App, browser: Browser
) -> None:
    context = browser.new_context(locale="de-CH")
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    look_at(page, *PHONE)
    inspected = Inspection(page)
    with TcpProxy(app.port) as proxy:
        page.goto(proxy.url)
        ask(page, "Etwas long")
        expect(page.get_by_text("Paragraph 40 of")).to_be_attached()
        expect(page.get_by_role("button", name="Noch einmal antworten")).to_be_visible()
        quiet(page)  # one that is cut while it is drawn stays pale
        proxy.cut()
        expect(banner(page)).to_have_text(
            "Leaf ist nicht erreichbar. Was Sie schreiben, wird aufgehoben und gesendet, sobald es "
            "wieder da ist."
        )
        keep(page, "Eine Frage für später, mit vielen Worten " * 3)
        shot(page, "lost-phone")
        inspected.look("lost", (Look("phone", *PHONE), Look("large", *LARGE)))
        assert not [one for one in inspected.findings if "leaf-lost" in one.html + one.selector]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="Zurücknehmen").click()
        proxy.heal()
        expect(banner(page)).to_have_count(0)
    context.close()


def test_a_dialog_and_what_is_typed_in_it_are_there_when_the_server_is_back(
    app: App, page: Page
) -> None:
    with TcpProxy(app.port) as proxy:
        page.goto(proxy.url)
        ask(page, "A question to save")
        expect(finished(page)).to_be_visible()
        page.get_by_role("button", name="Save as prompt").filter(visible=True).click(force=True)
        field = page.get_by_role("dialog").get_by_role("textbox", name="Name")
        field.press_sequentially("Half")
        proxy.cut()
        expect(banner(page)).to_be_visible()
        proxy.heal()
        expect(banner(page)).to_be_hidden()
        page.wait_for_timeout(3000)  # the page is drawn anew, and the dialog with it
        expect(field).to_have_value("Half")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_role("dialog")).to_have_count(0)

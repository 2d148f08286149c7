"""A long chat: its end is drawn, and what is read stays where it is when earlier messages come."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from bench._long_chat import fill
from bench.page import quiet
from tests.browser.conftest import App, OpenPage
from tests.browser.test_python import shot
from tests.live_kit import wait_until

pytestmark = pytest.mark.browser

TITLE = "A long one"


@pytest.fixture(scope="module")
def running(module_app: Callable[..., App], tmp_path_factory: pytest.TempPathFactory) -> App:
    home = tmp_path_factory.mktemp("long") / "home"
    fill(home, {TITLE: 60})
    return module_app(home)


def questions(page: Page) -> list[str]:
    """Numbers of the questions that are drawn, from top to bottom."""
    texts = page.locator('[class*="st-key-bubble-"]').all_inner_texts()
    return [text.partition("N")[2][:4] for text in texts if "Question N" in text]


def opened(running: App, open_page: OpenPage, scheme: str, width: int) -> Page:
    """The long chat, in a tab of its own."""
    page = open_page(width, scheme=scheme)
    page.goto(running.url)
    if width < 500:
        page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("button", name=TITLE).first.click()
    expect(page.get_by_text("Question N0059").first).to_be_visible()
    if width < 500:
        page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    quiet(page)
    return page


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_earlier_messages_come_above_what_is_read_and_leave_it_in_its_place(
    running: App, open_page: OpenPage, scheme: str, width: int
) -> None:
    page = opened(running, open_page, scheme, width)
    drawn = questions(page)
    assert drawn[-1] == "0059"
    assert len(drawn) < 20
    more = page.locator(".st-key-load-earlier button")
    page.mouse.move(width / 2, 400)
    page.mouse.wheel(0, -100_000)
    wait_until(lambda: page.evaluate("document.querySelector('#stMain').scrollTop") < 50)
    expect(more).to_contain_text("Earlier messages (")
    first = page.locator('[class*="st-key-bubble-"]', has_text=f"Question N{drawn[0]}")
    quiet(page)
    before = first.bounding_box()
    assert before is not None
    assert before["y"] > 0, "who scrolls up is not carried back"
    more.click()
    expect(page.get_by_text(f"Question N{int(drawn[0]) - 5:04}").first).to_be_attached()
    wait_until(lambda: abs((first.bounding_box() or {"y": 1e9})["y"] - before["y"]) < 40)
    shot(page, f"earlier-{scheme}-{width}")
    assert len(questions(page)) > len(drawn)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


WATCH = """text => {
    window.leafPlaces = []
    const look = () => {
        const shown = (b) => b.checkVisibility() && b.innerText.includes(text)
        const echo = [...document.querySelectorAll('.leaf-echo')].some(shown)
        const drawn = [...document.querySelectorAll('[class*="st-key-bubble-"]')].some(shown)
        const now = (echo ? 'echo' : '') + (drawn ? 'drawn' : '')
        if (window.leafPlaces.at(-1) !== now) window.leafPlaces.push(now)
        requestAnimationFrame(look)
    }
    look()
}"""


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_a_question_stands_there_at_once_and_until_it_is_drawn(
    running: App, open_page: OpenPage, scheme: str, width: int
) -> None:
    page = opened(running, open_page, scheme, width)
    box = page.get_by_test_id("stChatInputTextArea")
    question = f"What of {width}?"
    box.fill(question)
    page.evaluate(WATCH, question)
    box.press("Enter")
    drawn = page.locator('[class*="st-key-bubble-"]', has_text=question)
    expect(drawn).to_be_visible()
    expect(page.locator(".leaf-echo")).to_be_hidden()
    expect(page.locator(".leaf-echo")).to_have_text("")
    places = [place for place in page.evaluate("window.leafPlaces") if place != "echodrawn"]
    assert places[:3] == ["", "echo", "drawn"]  # both within a frame are not painted
    box.fill("Another\n" + 60 * "of many words " + 90 * "x")
    page.evaluate(
        "window.dispatchEvent(new CustomEvent('leaf-sent', {detail: "
        "document.querySelector('[data-testid=stChatInputTextArea]').value}))"
    )
    shot(page, f"echo-{scheme}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.locator(".leaf-echo")).to_be_hidden()  # nobody asked that


def test_a_question_on_a_slow_line_stays_until_the_server_has_begun(
    running: App, open_page: OpenPage
) -> None:
    page = opened(running, open_page, "light", 1280)
    box, echo = page.get_by_test_id("stChatInputTextArea"), page.locator(".leaf-echo")
    expect(box).to_have_value("")
    page.evaluate("window.dispatchEvent(new CustomEvent('leaf-sent', {detail: 'On its way'}))")
    page.wait_for_timeout(3_000)
    expect(echo).to_contain_text("On its way")
    expect(echo).to_be_visible()
    expect(echo).to_be_hidden()  # a line that is gone has its own sentence

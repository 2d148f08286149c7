"""The place that one reads: it is there again after a look elsewhere, and whatever scrolls there, not
only wheel, finger and key, is taken for the reader's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from bench._long_chat import fill
from bench.page import quiet
from bench.visits import SHIFTED, SPEC, SQL
from tests.browser.conftest import App, MessagesServer, OpenPage
from tests.browser.test_addresses import back, here
from tests.browser.test_journeys import add_by_composer, ask, finished
from tests.browser.test_long_chats import TITLE, opened
from tests.browser.test_python import shot
from tests.live_kit import wait_until
from tests.messages_server import Turn

pytestmark = pytest.mark.browser

OTHER = "Another one"
TOP = "document.querySelector('#stMain').scrollTop"


@pytest.fixture(scope="module")
def running(
    module_app: Callable[..., App],
    model_server: MessagesServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> App:
    home = tmp_path_factory.mktemp("place") / "home"
    fill(home, {TITLE: 60, OTHER: 4})
    return module_app(home, model_server.url)


def read(page: Page, number: str) -> Locator:
    """Scroll by the wheel until this question stands in the window; its bubble."""
    bubble = page.locator('[class*="st-key-bubble-"]', has_text=f"Question N{number}")
    page.mouse.move(page.viewport_size["width"] / 2, 400)  # type: ignore[index]
    for _ in range(8):
        page.mouse.wheel(0, y_of(bubble) - 300)
        page.wait_for_timeout(600)  # the browser glides for a while after the wheel
        if abs(y_of(bubble) - 300) < 5:
            return bubble
        quiet(page)  # what was still drawn has moved it
    raise AssertionError(f"question {number} stands at {y_of(bubble)}")


def y_of(element: Locator) -> float:
    return float((element.bounding_box() or {"y": -1e9})["y"])


def places_at_rest(elements: list[Locator]) -> list[float]:
    """Where they stand once they stand still for a moment."""
    before: list[float] = []
    for _ in range(50):
        places = [y_of(one) for one in elements]
        if places == before:
            return places
        before = places
        elements[0].page.wait_for_timeout(200)
    raise AssertionError(f"they do not stand still: {before}")


def stays_at(element: Locator, y: float) -> None:
    """It comes to stand there, and is still there when all is drawn."""
    wait_until(lambda: abs(y_of(element) - y) <= 3)
    quiet(element.page)
    assert abs(y_of(element) - y) <= 3


def visit_files(page: Page) -> None:
    page.evaluate("document.querySelector(`.st-key-places a[href$='files']`).click()")
    expect(page.get_by_role("heading", name="Files", exact=True)).to_be_visible()
    wait_until(lambda: here(page) == "/files")
    quiet(page)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_back_forward_and_a_reload_lead_to_the_place_that_was_read(
    running: App, open_page: OpenPage, scheme: str, width: int
) -> None:
    page = opened(running, open_page, scheme, width)
    chat = here(page)
    bubble = read(page, "0056")
    place = y_of(bubble)
    visit_files(page)
    back(page, chat)
    stays_at(bubble, place)
    page.go_back()
    quiet(page)
    page.go_forward()
    stays_at(bubble, place)
    page.reload()
    stays_at(bubble, place)


def test_the_same_chat_opened_again_is_read_on_and_its_end_is_not_left(
    running: App, open_page: OpenPage
) -> None:
    page = opened(running, open_page, "light", 1280)
    chats = page.locator(".st-key-chats")
    bubble = read(page, "0057")
    place = y_of(bubble)
    chats.get_by_role("button", name=OTHER).first.click()
    expect(page.get_by_text("Question N0003").first).to_be_attached()
    quiet(page)
    chats.get_by_role("button", name=TITLE).first.click()
    stays_at(bubble, place)
    page.get_by_role("button", name="To the end of the chat").click()
    wait_until(lambda: y_of(bubble) < -100)
    visit_files(page)
    page.go_back()
    end = page.get_by_role("button", name="To the end of the chat")
    expect(page.get_by_text("Question N0059").first).to_be_attached()
    quiet(page)
    expect(end).to_be_hidden()
    assert y_of(bubble) < -100


def test_a_link_to_a_message_and_a_new_answer_win_over_the_place_that_was_read(
    running: App, open_page: OpenPage
) -> None:
    page = opened(running, open_page, "light", 1280)
    chat = here(page)
    read(page, "0056")
    aim = page.locator("[class*=st-key-question-]", has_text="Question N0058")
    message = str(aim.get_attribute("class")).split("st-key-question-")[1].split()[0]
    page.goto(f"{running.url}{chat}&message={message}")
    wait_until(lambda: 0 <= y_of(aim) <= 90)
    page.goto(f"{running.url}{chat}")
    expect(page.get_by_text("Question N0059").first).to_be_attached()
    expect(finished(page)).not_to_have_count(0)
    quiet(page)
    count = finished(page).count()
    read(page, "0057")
    visit_files(page)
    other = page.context.new_page()
    other.goto(f"{running.url}{chat}")
    ask(other, "Anything new?")
    expect(finished(other)).to_have_count(count + 1)
    page.bring_to_front()
    page.go_back()
    expect(page.get_by_text("You asked: Anything new?")).to_be_in_viewport()


GROW = """heights => {
  const answers = document.querySelectorAll('[class*="st-key-answer-"]')
  const last = answers[answers.length - 1]
  const room = last.querySelector(".tests-room") ?? last.appendChild(document.createElement("div"))
  room.className = "tests-room"
  for (const height of heights) {
    room.style.height = `${height}px`
    document.querySelector("#stMain").scrollTop // laid out before anybody is told of it
  }
}"""


def test_who_is_at_the_end_stays_there_while_what_is_drawn_grows_and_shrinks(
    running: App, open_page: OpenPage
) -> None:
    page = opened(running, open_page, "light", 1280)
    end = page.get_by_role("button", name="To the end of the chat")
    for heights in ([400], [0], [900], [0, 600]):
        page.wait_for_timeout(600)
        page.evaluate(GROW, heights)
    page.wait_for_timeout(600)
    expect(end).to_be_hidden()
    assert (
        page.evaluate(
            "(m => m.scrollHeight - m.clientHeight - m.scrollTop)(document.querySelector('#stMain'))"
        )
        <= 1
    )


@pytest.mark.parametrize("script", ["scrollIntoView({ block: 'center' })", "focus()"])
def test_what_scrolls_without_wheel_finger_or_key_is_the_readers_own(
    running: App, open_page: OpenPage, script: str
) -> None:
    page = opened(running, open_page, "light", 1280)
    page.wait_for_timeout(500)
    bubble = page.locator('[class*="st-key-bubble-"]', has_text="Question N0057")
    bubble.evaluate(f"one => {{ one.tabIndex = -1; one.{script} }}")
    expect(bubble).to_be_in_viewport()
    where = y_of(bubble)
    page.wait_for_timeout(500)
    assert y_of(bubble) == where
    expect(page.get_by_role("button", name="To the end of the chat")).to_be_visible()


TURNS = [
    Turn.call(("query_tables", {"sql": SQL})),
    Turn.call(("make_chart", {"sql": SQL, "spec": SPEC})),
    Turn.call(("query_tables", {"sql": SQL})),
    Turn.say("The text behind it.\n\nAnd its end" + 12 * ", at length" + ".", pieces=60, delay=0.1),
]


# What is closed with a motion, and how far.
GLIDES = """
window.glides = []
const animate = Element.prototype.animate
Element.prototype.animate = function (frames, options) {
  if (frames[0]?.marginTop) window.glides.push(parseFloat(frames[0].marginTop))
  return animate.call(this, frames, options)
}
"""
BETWEEN = """answer => {
  const line = answer.querySelector("[class*=st-key-steps-]").getBoundingClientRect()
  const pieces = [...answer.querySelectorAll('[class*="st-key-said-"] > *')]
  const next = pieces.map(one => one.getBoundingClientRect()).filter(one => one.height && one.top >= line.bottom)
  return Math.min(...next.map(one => one.top)) - line.bottom
}"""


def closed(answer: Locator) -> bool:
    """Whether what is said stands below the line of the steps, and no room between them."""
    return bool(answer.evaluate(BETWEEN) < 40)


@pytest.mark.parametrize(
    ("size", "motion"),
    [((1920, 1080), "no-preference"), ((390, 844), "no-preference"), ((1280, 900), "reduce")],
)
def test_nothing_jumps_when_steps_become_one_line_and_no_hole_stays_below_it(
    new_app: Callable[..., App],
    page: Page,
    sales: Path,
    size: tuple[int, int],
    motion: Literal["no-preference", "reduce"],
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(reduced_motion=motion)
    page.add_init_script(GLIDES)
    with MessagesServer([*TURNS, *TURNS]) as server:
        page.goto(new_app(model_url=server.url).url)
        add_by_composer(page, sales)
        for number in range(2):
            ask(page, f"The figures ({number})")
            page.evaluate(SHIFTED if not number else "window.shifted = 0")
            answer = page.locator("[class*=st-key-answer-]").nth(number)
            bubble = page.locator('[class*="st-key-bubble-"]').nth(number)
            seen = [
                answer.locator("canvas, .vega-embed svg").first,
                answer.get_by_text("The text behind it."),
            ]
            expect(answer.get_by_text("And its")).to_be_visible()
            expect(seen[0]).to_be_visible()
            asked, *places = places_at_rest([bubble, *seen])
            assert min(asked, *places) > 0
            expect(finished(page)).to_have_count(number + 1)
            expect(answer.locator("[class*=st-key-steps-]").first).to_be_visible()
            wait_until(partial(closed, answer))
            quiet(page)
            assert y_of(bubble) == pytest.approx(asked, abs=2)
            held, *_ = {places[0] - y_of(seen[0]), places[1] - y_of(seen[1])}
            assert 0 < held <= 80, "what is read moves up to the line, and all of it alike"
            assert page.evaluate("shifted") < 0.1
            glides = page.evaluate("window.glides.splice(0)")
            assert sum(glides) == pytest.approx(held if motion == "no-preference" else 0, abs=2)
            shot(page, f"place-steps-{number}")


def test_a_growing_answer_that_is_taken_out_of_the_page_says_no_error(
    running: App, page: Page
) -> None:
    errors = list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(running.url)
    ask(page, "Something thorough")
    expect(page.get_by_text("Paragraph 3 of")).to_be_visible()
    expect(page.locator('[class*="st-key-said-"]').first).to_be_attached()
    page.evaluate(
        """() => {
          document.querySelector('[class*="st-key-said-"]').remove()
          window.leafTaken = document.querySelector(".leaf-live")
          leafTaken.closest('[data-testid="stElementContainer"]').remove()
        }"""
    )
    wait_until(lambda: "Paragraph 6 of" in page.evaluate("leafTaken.textContent"))
    assert not [error for error in errors if "observe" in error]

"""An answer as a person sees it grow: at once, in order, whole, in any tab, in the page's look,
without a jump at its end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, WebSocketRoute, expect
from websockets import InvalidStatus, Subprotocol
from websockets.sync.client import connect

from tests.browser.conftest import App, OpenPage
from tests.browser.test_journeys import add_by_composer, ask, finished
from tests.browser.test_python import shot
from tests.messages_server import Json, MessagesServer, Turn
from tests.tcp_proxy import TcpProxy

pytestmark = pytest.mark.browser

RICH = """Here is **what I found**, with `code` and a [link](https://example.org/x).

## Regions

- North leads
- South **follows**

| region | revenue |
|---|---:|
| North | 300 |
| South | 120 |

```sql
SELECT region, sum(revenue) AS revenue
FROM sales
GROUP BY region
```

"""
PROSE = "\n\n".join(
    f"Paragraph {i} says something about a region, and then something more about another one."
    for i in range(1, 31)
)
SPEC = {
    "mark": "bar",
    "title": "Revenue",
    "encoding": {
        "x": {"field": "region", "type": "nominal"},
        "y": {"field": "revenue", "type": "quantitative"},
    },
}
SQL = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY region"
SHIFTS = """() => {
  window.leafShifts = []
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (!entry.hadRecentInput) leafShifts.push([entry.value, [...entry.sources].map((s) => s.node?.className ?? "")])
  }).observe({ type: "layout-shift" })
}"""


def brain(body: Json) -> Turn:
    """What the model of these tests answers, by the words of the first question."""
    question = str(body["messages"][0])
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    if "letters" in question:
        return Turn.say(RICH + "The end of it.", pieces=len(RICH), delay=0.03)
    if "open code" in question:
        return Turn.say(
            "Look:\n\n```python\n" + "".join(f"x{i} = {i}\n" for i in range(60)),
            pieces=60,
            delay=0.3,
        )
    if "Hebrew" in question:
        return Turn.say(
            "שלום עולם, זו תשובה.\n\n- פריט ראשון\n\nAnd English.\n\n" + PROSE,
            pieces=120,
            delay=0.15,
        )
    if "in colour" in question:
        return Turn.say(RICH + PROSE.split("Paragraph 9")[0], pieces=80, delay=0.12)
    if "figures" in question and turn % 3 == 0:
        return Turn.call(
            ("query_tables", {"sql": SQL}),
            text="I add it up first.",
            thinking="By region.",
            delay=0.02,
        )
    if "figures" in question and turn % 3 == 1:
        return Turn.call(
            ("make_chart", {"sql": SQL, "spec": SPEC}), text="Now a chart.", delay=0.02
        )
    if "wait" in question and turn == 0:
        return Turn.call(
            ("run_python", {"code": "import time\nwaited = 12\ntime.sleep(waited)\nprint(waited)"})
        )
    return Turn.say(RICH + PROSE, pieces=200, delay=0.12 if "slowly" in question else 0.06)


@pytest.fixture(scope="module")
def running(module_app: Callable[..., App]) -> Iterator[App]:
    with MessagesServer(brain) as server:
        yield module_app(model_url=server.url)


def answer(page: Page) -> Locator:
    return page.locator("[class*=st-key-answer-]").last


def growing(page: Page) -> Locator:
    return page.locator(".leaf-live-body")


def words(page: Page) -> str:
    return answer(page).inner_text()


def whole(page: Page, text: str = PROSE) -> None:
    """The answer is there, once, in order."""
    expect(finished(page)).to_be_visible()
    shown = [line for line in words(page).splitlines() if line.startswith("Paragraph ")]
    assert shown == text.split("\n\n")


def test_words_are_pushed_and_the_script_draws_the_whole_in_their_place_without_a_jump(
    running: App, page: Page
) -> None:
    page.goto(running.url)
    ask(page, "Tell me all")
    expect(growing(page).get_by_text("what I found")).to_be_visible()
    page.evaluate(SHIFTS)
    expect(growing(page).locator("td").get_by_text("North")).to_be_visible()
    expect(growing(page).locator("strong", has_text="follows")).to_be_visible()
    expect(growing(page).locator("code").get_by_text("SELECT region")).to_be_visible()
    expect(growing(page).get_by_text("Paragraph 20 says")).to_be_visible()
    shot(page, "live-growing")
    whole(page)
    expect(page.locator(".leaf-live-body > *")).to_have_count(0)
    shifts = page.evaluate("leafShifts")
    assert sum(value for value, _ in shifts) <= 0.1, shifts
    assert page.locator("[data-testid=stMarkdownContainer] td").get_by_text("North").is_visible()


def test_a_reload_and_a_second_tab_show_the_same(
    running: App, context: BrowserContext, page: Page
) -> None:
    page.goto(running.url)
    ask(page, "Tell me all slowly")
    expect(growing(page).get_by_text("Paragraph 2 says")).to_be_visible()
    page.reload()
    expect(growing(page).get_by_text("Paragraph 4 says")).to_be_visible()
    other = context.new_page()
    other.goto(page.url)
    expect(growing(other).get_by_text("Paragraph 6 says")).to_be_visible()
    for tab in (page, other):
        whole(tab)


def test_a_connection_that_ends_again_and_again_loses_and_doubles_nothing(
    running: App, page: Page
) -> None:
    cut: list[str] = []

    def sometimes_cut(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        heard = [0]

        def pass_on(message: str | bytes) -> None:
            heard[0] += 1
            if heard[0] > 12 and len(cut) < 4:
                cut.append(socket.url)
                server.close()
                socket.close(code=1011)
                return
            socket.send(message)

        server.on_message(pass_on)

    page.route_web_socket(re.compile("/_leaf/live"), sometimes_cut)
    page.goto(running.url)
    ask(page, "Tell me all slowly through a bad wire")
    expect(growing(page).get_by_text("Paragraph 12 says")).to_be_visible()
    whole(page)
    assert len(cut) == 4
    assert sum("seen=" in url for url in cut) >= 3


def test_without_websockets_answers_are_polled_and_the_settings_say_so(
    running: App, page: Page
) -> None:
    with TcpProxy(running.port, refusing=b"GET /_leaf/live") as proxy:
        page.goto(proxy.url)
        ask(page, "Tell me all by polling")
        expect(answer(page).get_by_text("Paragraph 1 says")).to_be_visible()
        expect(growing(page)).to_have_count(0)
        whole(page)
        page.get_by_role("link", name="Settings").click()
        expect(page.get_by_text("this tab cannot connect to /_leaf/live")).to_be_visible()


SAYS_OF = """() => {
  window.leafSaid = []
  const look = () => leafSaid.push(...[...document.querySelectorAll('[data-testid="stAlert"]')].map((one) => one.textContent))
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true })
}"""


@pytest.mark.parametrize("how", ["pushed", "polled"])
def test_a_chat_that_is_deleted_elsewhere_while_its_answer_grows_says_so_and_no_more(
    how: str, running: App, page: Page, context: BrowserContext
) -> None:
    refused = b"GET /_leaf/live" if how == "polled" else b"nothing"
    with TcpProxy(running.port, refusing=refused) as proxy:
        page.goto(proxy.url)
        ask(page, f"Tell me all slowly, {how}")
        expect(answer(page).get_by_text("Paragraph 1 says")).to_be_visible()
        page.evaluate(SAYS_OF)
        other = context.new_page()
        other.goto(page.url.replace(proxy.url, running.url))
        expect(answer(other).get_by_text("Paragraph 1 says")).to_be_visible()
        other.get_by_role("button", name="Rename, export or delete this chat").filter(
            visible=True
        ).first.click()
        other.get_by_role("menuitem", name="Delete").click()
        expect(page.get_by_text("a chat that was deleted")).to_be_visible()
        page.wait_for_timeout(1500)
        said = page.evaluate("leafSaid.filter((one) => !one.includes('a chat that was deleted'))")
        assert said == []


def test_strangers_and_foreign_pages_are_refused(running: App) -> None:
    address = running.url.replace("http", "ws") + "/_leaf/live"
    for headers in ({}, {"origin": "https://evil.example"}):
        with (
            pytest.raises(InvalidStatus) as refused,
            connect(
                address,
                subprotocols=[Subprotocol("leaf.live"), Subprotocol("guessed")],
                additional_headers=headers,
            ),
        ):
            pass
        assert refused.value.response.status_code == 403


def test_one_letter_at_a_time_is_drawn_as_it_comes(running: App, page: Page) -> None:
    page.goto(running.url)
    ask(page, "One of letters")
    expect(growing(page).locator("strong", has_text="what I found")).to_be_visible()
    expect(answer(page).get_by_text("The end of it.")).to_be_visible()
    expect(finished(page)).to_be_visible()
    assert page.locator("td").all_inner_texts() == ["North", "300", "South", "120"]


def test_a_code_block_that_is_never_closed_grows_and_stays(running: App, page: Page) -> None:
    page.goto(running.url)
    ask(page, "Write open code")
    expect(growing(page).locator("code").get_by_text("x20 = 20")).to_be_visible()
    expect(finished(page)).to_be_visible()
    assert "x0 = 0\nx1 = 1" in answer(page).get_by_test_id("stCode").inner_text()
    expect(answer(page).get_by_text("x59 = 59")).to_be_visible()


def test_hebrew_is_written_from_the_right_while_it_grows_and_afterwards(
    running: App, page: Page
) -> None:
    side = (
        "e => { const r = document.createRange(); r.selectNodeContents(e); const b = "
        "e.getBoundingClientRect(); "
    )
    side += (
        "const t = r.getBoundingClientRect(); return t.left - b.left > b.right - t.right ? "
        "'right' : 'left' }"
    )
    page.goto(running.url)
    ask(page, "In Hebrew")
    live = growing(page).locator("p", has_text="זו תשובה")
    expect(live).to_be_visible()
    assert live.evaluate(side) == "right"
    expect(finished(page)).to_be_visible()
    assert answer(page).locator("p", has_text="שלום").evaluate(side) == "right"
    assert answer(page).locator("p", has_text="And English").evaluate(side) == "left"


def test_steps_tables_and_charts_come_with_it_and_can_be_used_before_its_end(
    running: App, page: Page, sales: Path
) -> None:
    page.goto(running.url)
    add_by_composer(page, sales)
    ask(page, "All the figures, slowly")
    expect(
        page.locator("[class*=st-key-chart-] canvas, [class*=st-key-chart-] svg.marks").first
    ).to_be_visible()
    expect(growing(page).get_by_text("Paragraph 1 says")).to_be_visible()
    page.get_by_text("Summed revenue by region").click()
    expect(page.get_by_text("GROUP BY region").first).to_be_visible()
    expect(page.get_by_text("2 rows", exact=True)).to_be_visible()
    shot(page, "live-steps")
    whole(page)
    assert [
        text for text in words(page).splitlines() if text in ("I add it up first.", "Now a chart.")
    ] == [
        "I add it up first.",
        "Now a chart.",
    ]


def test_a_step_can_be_looked_into_while_it_runs(running: App, page: Page, sales: Path) -> None:
    page.goto(running.url)
    add_by_composer(page, sales)
    ask(page, "Please wait")
    page.get_by_role("button", name="Running Python").click()
    expect(page.get_by_text("waited = 12")).to_be_visible()
    expect(page.get_by_test_id("stExpander").get_by_text("Running Python …")).to_be_visible()
    whole(page)


def test_a_question_stands_above_and_its_answer_grows_below_without_a_jump(
    running: App, page: Page
) -> None:
    page.goto(running.url)
    ask(page, "Tell me all slowly, I scroll")
    question = page.locator('[class*="st-key-bubble-"]').last
    expect(growing(page).get_by_text("Paragraph 2 says")).to_be_visible()
    place = question.bounding_box()
    assert place is not None
    assert place["y"] < 120
    back = page.get_by_role("button", name="To the end of the chat")
    expect(growing(page).get_by_text("Paragraph 12 says")).to_be_attached()
    expect(back).to_contain_text("New answer")
    shot(page, "live-new-answer")
    assert question.bounding_box() == place

    page.mouse.move(700, 400)
    page.mouse.wheel(0, 300)
    page.mouse.wheel(0, -100)
    read = growing(page).get_by_text("Paragraph 4 says")
    expect(read).to_be_in_viewport()
    page.wait_for_timeout(800)  # the browser glides for a while after the wheel
    where = read.bounding_box()
    expect(growing(page).get_by_text("Paragraph 20 says")).to_be_attached()
    assert read.bounding_box() == where

    back.click()
    expect(back).to_be_hidden()
    last = growing(page).get_by_text("Paragraph 24 says")
    expect(last).to_be_in_viewport()
    whole(page)
    expect(page.get_by_text("Paragraph 24 says")).to_be_in_viewport()
    expect(page.locator(".leaf-live:not([data-over])")).to_have_count(0)

    page.mouse.wheel(0, -400)
    expect(back).to_be_visible()
    page.set_viewport_size({"width": 900, "height": 700})  # taller text is no new answer
    page.wait_for_timeout(800)
    page.mouse.wheel(0, -100)
    expect(back).to_be_visible()
    expect(back).not_to_contain_text("New answer")


def test_a_chart_does_not_carry_the_next_question_out_of_sight(
    running: App, page: Page, sales: Path
) -> None:
    page.goto(running.url)
    add_by_composer(page, sales)
    for number in range(3):
        ask(page, f"The figures, please ({number})")
        question = page.locator('[class*="st-key-bubble-"]').last
        expect(question).to_contain_text(f"({number})")
        expect(finished(page)).to_have_count(number + 1, timeout=90_000)
        # Its steps become one line when it is whole: what is read stays, so the question may move.
        expect(question).to_be_in_viewport()
        place = question.bounding_box()
        assert place is not None
        assert 0 < place["y"] < 450, number


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_it_has_the_look_of_the_page(
    running: App, open_page: OpenPage, scheme: str, width: int
) -> None:
    page = open_page(width, scheme=scheme)
    page.goto(running.url)
    ask(page, "Tell me some, in colour")
    expect(growing(page).get_by_text("Paragraph 1 says")).to_be_visible()
    look = (
        "e => { const s = getComputedStyle(e); return [s.color, s.fontFamily, s.fontSize, "
        "s.lineHeight] }"
    )
    cell = (
        "e => { const s = getComputedStyle(e); return [s.paddingLeft, s.borderTopColor, s.height] }"
    )
    while_growing = [
        growing(page).locator("p").first.evaluate(look),
        growing(page).locator("td").first.evaluate(cell),
    ]
    heading = growing(page).locator("h2").evaluate(look)
    shot(page, f"live-{scheme}-{width}")
    expect(finished(page)).to_be_visible()
    paragraph = answer(page).locator("[data-testid=stMarkdownContainer] p").first
    assert [
        paragraph.evaluate(look),
        answer(page).locator("td").first.evaluate(cell),
    ] == while_growing
    assert answer(page).locator("h2").first.evaluate(look) == heading
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shot(page, f"live-{scheme}-{width}-whole")

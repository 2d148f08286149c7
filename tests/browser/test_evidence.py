"""One line under an answer, which opens its details beside the page or below, and one for its
steps; what is read stays where it is when they become one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import App, OpenPage
from tests.browser.test_journeys import add_by_composer, ask, finished
from tests.browser.test_python import shot
from tests.live_kit import wait_until
from tests.messages_server import Json, MessagesServer, Turn

pytestmark = pytest.mark.browser

SALES = "region,revenue\nNorth,100\nSouth,120\nNorth,200\nTotal,420\n"
SQL = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY region ORDER BY 2 DESC"
TEXT = "**North** leads with **300**; next year it will be 9,999.\n\n" + "\n\n".join(
    f"Then there is more to say about region {name}." for name in "ABCDEFGHIJKLMNOP"
)


def steps_then_text(body: Json) -> Turn:
    if not body.get("tools"):
        return Turn.say("Regions")
    turn = 0
    for message in reversed(body["messages"]):
        if message["role"] == "assistant":
            turn += 1
        elif not any(block.get("type") == "tool_result" for block in message["content"]):
            break
    calls: list[tuple[str, Json]] = [
        ("list_files", {}),
        ("query_tables", {"sql": SQL}),
        ("read_file", {"file": "f9"}),
    ]
    if turn < len(calls):
        return Turn.call(calls[turn], thinking="I look further.")
    return Turn.say(TEXT, pieces=60, delay=0.05)


def link(section: str) -> str:
    return f'a[href^="#leaf-evidence-"][href$=".{section}"]'


@pytest.mark.parametrize(
    ("scheme", "width", "height"),
    [("light", 1440, 900), ("dark", 390, 844)],
)
def test_the_line_opens_its_details_and_the_steps_stand_in_one(
    module_app: Callable[..., App],
    open_page: OpenPage,
    tmp_path: Path,
    scheme: str,
    width: int,
    height: int,
) -> None:
    sales = tmp_path / "sales.csv"
    sales.write_text(SALES, encoding="utf-8")
    page = open_page(width, height, scheme)
    with MessagesServer(steps_then_text) as server:
        page.goto(module_app(tmp_path / "home", server.url).url)
        add_by_composer(page, sales)
        ask(page, "Hello to begin with")
        expect(finished(page)).to_be_visible()
        ask(page, "Who leads?")
        expect(page.locator("[class*=st-key-answer-]")).to_have_count(2)
        answer = page.locator("[class*=st-key-answer-]").last
        first = answer.get_by_text("leads with")
        expect(answer.get_by_text("region C")).to_be_visible()
        before = first.bounding_box()
        expect(finished(page)).to_have_count(2)
        steps = answer.locator("[class*=st-key-steps-of-] summary").first
        expect(steps).to_contain_text("3 steps · 1 query · Reading a file did not work")
        after = first.bounding_box()
        assert before
        assert after
        assert abs(after["y"] - before["y"]) <= 2
        shot(page, f"evidence-{scheme}-{width}")

        steps.press("Enter")
        expect(answer.get_by_text("Summed revenue by region")).to_be_visible()
        expect(answer.get_by_text("Reading a file · did not work")).to_be_visible()
        shot(page, f"evidence-steps-{scheme}-{width}")
        steps.press("Enter")

        row = answer.locator("[class*=st-key-actions-]")
        row.scroll_into_view_if_needed()
        expect(row.get_by_role("link")).to_contain_text(["3 of 4 rows", "figures traced"])
        box = row.bounding_box()
        assert box
        assert box["height"] < (40 if width > 800 else 80)
        doubts = answer.get_by_role("link", name="1 figure without a receipt")
        doubts.focus()
        page.keyboard.press("Enter")
        panel = page.locator(".st-key-preview")
        expect(panel.get_by_role("button", name="9,999 · no receipt")).to_be_visible()
        where = panel.bounding_box()
        assert where
        assert (where["x"] > width / 2) if width > 800 else (where["y"] > height / 4)
        row.locator(link("data")).evaluate("link => link.click()")
        expect(panel.get_by_text("3 of 4 rows of sales.csv; 1 left out as a total")).to_be_visible()
        row.locator(link("all")).evaluate("link => link.click()")
        expect(panel.get_by_role("heading", name="Time and cost")).to_be_visible()
        shot(page, f"evidence-all-{scheme}-{width}")
        panel.get_by_role("button", name="Close the preview").click()
        expect(panel).to_have_count(0)
        wait_until(
            lambda: page.evaluate("document.querySelectorAll('.leaf-live-body > *').length") == 0
        )

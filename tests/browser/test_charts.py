"""Charts of an answer as they stand on the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import App
from tests.browser.test_edits import shot
from tests.browser.test_journeys import add_by_composer, ask, finished
from tests.live_kit import wait_until
from tests.messages_server import Json, MessagesServer, Turn

pytestmark = pytest.mark.browser

SQL = "SELECT 'Region number ' || i AS region, 1234.5 * (i + 1) AS revenue FROM range(30) t(i)"
ACROSS = {
    "mark": "bar",
    "title": "Across",
    "encoding": {
        "x": {"field": "revenue", "type": "quantitative"},
        "y": {"field": "region", "type": "nominal", "sort": "-x"},
    },
}
LABELLED = {
    "title": "Labelled",
    "encoding": ACROSS["encoding"],
    "layer": [
        {"mark": "bar"},
        {
            "mark": {"type": "text", "align": "left", "dx": 3},
            "encoding": {"text": {"field": "revenue", "format": ",.1f"}},
        },
    ],
}
UPRIGHT = {
    "mark": "bar",
    "title": "Upright",
    "encoding": {
        "x": {"field": "region", "type": "nominal"},
        "y": {"field": "revenue", "type": "quantitative"},
    },
}
CHARTS = "[class*=st-key-chart-]"


def brain(body: Json) -> Turn:
    said = str(body["messages"][-1]["content"])
    if "tool_result" in said:
        return Turn.say("There they are.")
    specs = (LABELLED, ACROSS, UPRIGHT) if "three" in said else (UPRIGHT,)
    return Turn.call(*(("make_chart", {"spec": spec, "sql": SQL}) for spec in specs))


def places(page: Page) -> list[dict[str, float]]:
    """Where the charts stand, once they are drawn."""
    found = page.locator(CHARTS).filter(has=page.locator("canvas, svg.marks"), visible=True)
    return [box for i in range(found.count()) if (box := found.nth(i).bounding_box())]


def two_a_row(page: Page) -> bool:
    boxes = places(page)
    if len(boxes) != 3:
        return False
    first, second, third = boxes
    return (
        abs(first["y"] - second["y"]) < 2
        and second["x"] > first["x"] + first["width"] - 2
        and third["y"] >= first["y"] + first["height"] - 2
        and first["width"] > 350
        and third["width"] > 700
    )


def one_a_row(page: Page) -> bool:
    ys = [box["y"] for box in places(page)]
    return len(ys) == 3 and ys == sorted(set(ys))


def test_charts_of_an_answer_stand_two_a_row_where_there_is_room(
    new_app: Callable[..., App], page: Page, sales: Path
) -> None:
    with MessagesServer(brain) as server:
        app = new_app(model_url=server.url)
        page.set_viewport_size({"width": 1440, "height": 1700})
        page.goto(app.url)
        add_by_composer(page, sales)
        ask(page, "Draw three")
        expect(finished(page)).to_be_visible()
        expect(page.locator(f"{CHARTS} :is(canvas, svg.marks)")).to_have_count(3)
        for again in (False, True):
            if again:
                page.reload()
                expect(page.locator(f"{CHARTS} :is(canvas, svg.marks)")).to_have_count(3)
            wait_until(lambda: two_a_row(page))
            shot(page, f"charts-wide-{again}")
        page.set_viewport_size({"width": 390, "height": 844})
        wait_until(lambda: one_a_row(page))
        shot(page, "charts-narrow")


def test_a_chart_is_taken_along_in_the_readers_language(
    new_app: Callable[..., App], browser: Browser, sales: Path
) -> None:
    with MessagesServer(brain) as server:
        app = new_app(model_url=server.url)
        page = browser.new_context(locale="de-DE", accept_downloads=True).new_page()
        page.goto(app.url)
        page.get_by_test_id("stChatInputTextArea").fill("Zeichne eines")
        page.get_by_test_id("stChatInputTextArea").press("Enter")
        expect(page.locator(f"{CHARTS} :is(canvas, svg.marks)")).to_have_count(1)
        page.wait_for_timeout(1_500)
        shot(page, "charts-german")
        page.locator("[class*=st-key-download-vega-] button").filter(visible=True).first.click()
        with page.expect_download() as taken:
            page.get_by_role("link", name="SVG").or_(page.get_by_role("button", name="SVG")).click()
        drawn = Path(taken.value.path()).read_text(encoding="utf-8")
        assert "40.000" in drawn
        assert "40,000" not in drawn

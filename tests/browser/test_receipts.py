"""Receipts in the page: figures lead to their query and cell, those without one are marked, and a
result is computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LARGE, PHONE, App, OpenPage, expect_fits, look_at
from tests.browser.test_journeys import add_by_composer, ask, finished
from tests.messages_server import Json, MessagesServer, Turn

pytestmark = pytest.mark.browser

SALES = "region,revenue\n" + "\n".join(
    f"{name},{amount}" for name, amount in [("North", 1200.5), ("South", 800.25), ("East", 450)]
)


REPORT = "# Report\n\nNorth made 1,200.50 and South 800.25. Next year it will be 9,999.00.\n"
YEARS = "year,revenue\n2023,1204\n2024,1060\n"


def turns_it_round(body: Json) -> Turn:
    if not body.get("tools"):
        return Turn.say(REPORT)
    if body["messages"][-1]["content"][0]["type"] == "tool_result":
        return Turn.say("Revenue rose by **12.0 %** in 2024.")
    return Turn.call(
        ("query_tables", {"sql": "SELECT year, revenue FROM years ORDER BY year"}),
        (
            "create_document",
            {
                "title": "Report",
                "content": REPORT.replace("1,200.50", "1,204").replace("800.25", "1,060"),
            },
        ),
    )


def reports(body: Json) -> Turn:
    if body["messages"][-1]["content"][0]["type"] != "tool_result":
        return Turn.call(
            ("query_tables", {"sql": "SELECT region, revenue FROM sales ORDER BY revenue DESC"})
        )
    return Turn.say(
        "**North** leads with **$1,200.50**, which is 49.0 % of the total of 2,450.75.\n\n"
        "| region | revenue |\n|---|---:|\n| North | 1,200.50 |\n| South | 800.25 |\n\nNext year "
        "it will be 9,999.00."
    )


@pytest.fixture(scope="module")
def server() -> Iterator[MessagesServer]:
    with MessagesServer(reports) as running:
        yield running


@pytest.fixture(scope="module")
def app(module_app: Callable[..., App], server: MessagesServer) -> App:
    return module_app(model_url=server.url)


def test_a_figure_leads_to_its_query_and_cell_and_is_computed_again(
    app: App, open_page: OpenPage, tmp_path: Path
) -> None:
    sales = tmp_path / "sales.csv"
    sales.write_text(SALES, encoding="utf-8")
    page = open_page(*LARGE)
    page.goto(app.url)
    add_by_composer(page, sales)
    ask(page, "Who leads?")
    expect(finished(page)).to_be_visible()
    figures = page.locator('a[href^="#leaf-figure-"]').filter(visible=True)
    expect(figures).to_have_text(["$1,200.50", "49.0 %", "2,450.75", "1,200.50", "800.25"])
    missing = page.locator('a[href^="#leaf-unreceipted-"]').filter(visible=True)
    expect(missing).to_have_text(["9,999.00"])
    expect(missing).to_have_attribute(
        "aria-label", "9,999.00: no receipt was found for this figure"
    )
    page.screenshot(path=tmp_path / "answer.png")

    figures.nth(4).click()
    panel = page.locator(".st-key-preview")
    expect(panel.get_by_text("As it stands in the result")).to_be_visible()
    expect(panel.get_by_text("Cell: row 2, column revenue of result r1")).to_be_visible()
    expect(panel.get_by_text("ORDER BY revenue DESC")).to_be_visible()
    panel.get_by_role("button", name="Recompute").click()
    expect(panel.get_by_text("all 3 rows are the same")).to_be_visible()
    page.screenshot(path=tmp_path / "panel.png")
    panel.get_by_role("button", name="Close the preview").click()

    page.get_by_role("link", name="1 figure without a receipt").click()
    page.get_by_role("button", name="9,999.00 · no receipt").click()
    expect(panel.get_by_text("was not found in what the tools of this chat gave")).to_be_visible()
    page.screenshot(path=tmp_path / "missing.png")
    expect_fits(page, PHONE)
    page.screenshot(path=tmp_path / "missing-phone.png")
    page.reload()
    expect(missing).to_have_text(["9,999.00"])


def test_a_direction_turned_round_and_the_figures_of_a_document_are_marked(
    new_app: Callable[..., App],
    open_page: OpenPage,
    tmp_path: Path,
) -> None:
    years = tmp_path / "years.csv"
    years.write_text(YEARS, encoding="utf-8")
    page = open_page(*PHONE)
    with MessagesServer(turns_it_round) as running:
        app = new_app(model_url=running.url)
        page.goto(app.url)
        add_by_composer(page, years)
        ask(page, "How did it go?")
        expect(finished(page)).to_be_visible()
        against = page.locator('a[href^="#leaf-against-"]').filter(visible=True)
        expect(against).to_have_text(["12.0 %"])
        expect(
            page.get_by_role("link", name="1 figure says the opposite of the results")
        ).to_be_visible()
        page.screenshot(path=tmp_path / "against.png")
        against.first.click()
        expect(
            page.locator(".st-key-preview").get_by_text("the results say it fell: 1,204 → 1,060")
        ).to_be_visible()
        page.screenshot(path=tmp_path / "against-panel.png")
        expect_fits(page, LARGE)
        page.screenshot(path=tmp_path / "against-large.png")
        look_at(page, *PHONE)
        expect(page.get_by_text("figures traced").first).to_be_visible()
        page.goto(f"{app.url}/documents")
        page.get_by_role("button", name="Report").first.click()
        figures = page.locator('a[href^="#leaf-figure-document"]').filter(visible=True)
        expect(figures.first).to_have_text("1,204")
        expect(
            page.locator('a[href^="#leaf-unreceipted-document"]').filter(visible=True)
        ).to_have_text(["9,999.00"])
        page.screenshot(path=tmp_path / "document.png")
        figures.first.click()
        expect(page.locator(".st-key-preview").get_by_text("ORDER BY year")).to_be_visible()
        page.screenshot(path=tmp_path / "document-panel.png")

"""Taken out of the page: a full table as Excel, a chart changed by hand, and a chat as a folder
that can be computed again."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import openpyxl
import pytest
from playwright.sync_api import Download, Locator, Page, expect

from tests.browser.conftest import LARGE, PATIENCE, PHONE, App, OpenPage, expect_fits
from tests.browser.test_journeys import add_by_composer, ask, finished, open_steps
from tests.messages_server import Json, MessagesServer, Turn

pytestmark = pytest.mark.browser

ROWS = 260
SALES = "id,region,revenue\n" + "\n".join(
    f"{i},{('North', 'South', 'East')[i % 3]},{1000 + (i * 37) % 500}.5" for i in range(1, ROWS + 1)
)
CHART = {
    "title": "Revenue by region",
    "mark": "bar",
    "encoding": {
        "x": {"field": "region", "type": "nominal"},
        "y": {"field": "total", "type": "quantitative"},
    },
}


SLOWLY = Turn.say("word after word " * 300, pieces=600, delay=0.05)


def reports(body: Json) -> Turn:
    if body["messages"][-1]["content"][0]["type"] != "tool_result":
        by_region = (
            "SELECT region, count(*) AS orders, sum(revenue) AS total FROM sales GROUP BY "
            "region ORDER BY region"
        )
        return Turn.call(
            ("query_tables", {"sql": "SELECT id, region, revenue FROM sales ORDER BY id"}),
            ("make_chart", {"spec": CHART, "sql": by_region}),
        )
    return Turn.say("There are **260** orders; the first brought 1,037.50.")


@pytest.fixture(scope="module")
def server() -> Iterator[MessagesServer]:
    with MessagesServer(reports) as running:
        yield running


@pytest.fixture(scope="module")
def app(module_app: Callable[..., App], server: MessagesServer) -> App:
    return module_app(model_url=server.url)


def choose(page: Page, box: Locator, option: str) -> None:
    box.click()
    page.get_by_role("option", name=option, exact=True).click()


def taken(page: Page, press: Callable[[], None]) -> Download:
    """What a button gives, pressed once, whatever the page does meanwhile."""
    with page.expect_download() as waiting:
        press()
    return waiting.value


def test_a_download_that_is_pressed_while_the_page_is_drawn_anew_comes(
    new_app: Callable[..., App], page: Page
) -> None:
    with MessagesServer([Turn.say("It is there."), SLOWLY]) as model:
        page.goto(new_app(model_url=model.url).url)
        ask(page, "What can you do?")
        expect(finished(page)).to_be_visible()
        ask(page, "And slowly?")
        for _ in range(3):
            expect(page.get_by_text("word after word").first).to_be_visible()
            button = page.get_by_role("link", name="Download as Markdown").first
            address = button.get_attribute("href")
            came = taken(page, button.click)
            assert "It is there." in came.path().read_text()
            page.reload()
            assert (
                page.get_by_role("link", name="Download as Markdown").first.get_attribute("href")
                == address
            )
        button.focus()
        came = taken(page, lambda: page.keyboard.press("Enter"))
        assert came.suggested_filename == "answer.md"


def test_what_cannot_be_downloaded_is_said_beside_the_page(
    new_app: Callable[..., App], page: Page
) -> None:
    with MessagesServer([Turn.say("It is there.")]) as model:
        page.goto(new_app(model_url=model.url).url)
        ask(page, "What can you do?")
        expect(finished(page)).to_be_visible()
        button = page.get_by_role("link", name="Download as Markdown").first
        button.evaluate("one => { one.href = one.href.slice(0, -4) + 'none' }")
        with page.expect_popup() as opened:
            button.click()
        expect(opened.value.get_by_role("heading", name="Nothing is here for you")).to_be_visible()
        expect(page.get_by_text("It is there.")).to_be_visible()


@pytest.mark.timeout(400)
def test_result_chart_and_chat_are_taken_along(
    app: App, open_page: OpenPage, tmp_path: Path
) -> None:
    sales = tmp_path / "sales.csv"
    sales.write_text(SALES, encoding="utf-8")
    page = open_page(*PHONE)
    page.set_default_timeout(4 * PATIENCE)
    page.goto(app.url)
    add_by_composer(page, sales)
    ask(page, "How many orders?")
    expect(finished(page)).to_be_visible(timeout=90_000)

    # A chart, changed by hand
    chart = page.locator("[class*=st-key-chart-]").filter(visible=True).first
    expect(chart.locator("canvas, svg.marks").first).to_be_visible()
    page.get_by_role("button", name="Change", exact=True).filter(visible=True).click()
    choose(page, page.get_by_role("combobox", name="Vertical").filter(visible=True), "orders")
    choose(page, page.get_by_role("combobox", name="Type").filter(visible=True), "Pie")
    expect(page.get_by_role("combobox", name="Slices").filter(visible=True)).to_be_visible()
    expect(page.get_by_role("button", name="Reset").filter(visible=True)).to_be_visible()
    page.screenshot(path=tmp_path / "changed.png")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Download", exact=True).filter(visible=True).click()
    came = taken(page, page.get_by_role("link", name="Vega-Lite (JSON)").filter(visible=True).click)
    spec = json.loads(came.path().read_text())
    assert (spec["mark"]["type"], spec["encoding"]["theta"]["field"]) == ("arc", "orders")
    assert len(spec["data"]["values"]) == 3
    came = taken(page, page.get_by_role("link", name="PNG", exact=True).filter(visible=True).click)
    assert came.suggested_filename == "Revenue by region.png"
    assert came.path().read_bytes().startswith(b"\x89PNG")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Change", exact=True).filter(visible=True).click()
    page.get_by_role("button", name="Reset").filter(visible=True).click()
    expect(page.get_by_role("combobox", name="Vertical").filter(visible=True)).to_be_visible()
    page.keyboard.press("Escape")

    # All rows of a result
    open_steps(page)
    page.get_by_text("Queried sales: 260 rows").click()
    page.get_by_role("button", name="Open all 260 rows").filter(visible=True).click()
    panel = page.locator(".st-key-preview")
    expect(panel.get_by_text("Rows 1–100 of 260")).to_be_visible()
    choose(page, panel.get_by_role("combobox", name="Sort by"), "revenue")
    choose(page, panel.get_by_role("combobox", name="Direction"), "Descending")
    choose(page, panel.get_by_role("combobox", name="Filter"), "region")
    panel.get_by_role("textbox", name="Value").fill("north")
    panel.get_by_role("textbox", name="Value").press("Enter")
    expect(panel.get_by_text("Rows 1–86 of 86 that meet the filter, of 260 in all")).to_be_visible()
    page.screenshot(path=tmp_path / "table.png")
    expect_fits(page, LARGE)
    page.screenshot(path=tmp_path / "table-large.png")
    came = taken(page, panel.get_by_role("link", name="Excel").click)
    book = openpyxl.load_workbook(io.BytesIO(came.path().read_bytes()))
    assert (book.sheetnames, book["Result"].max_row) == (["Result", "Query"], ROWS + 1)
    panel.get_by_role("button", name="Close the preview").click()

    # The chat, on the large screen
    page.get_by_role("button", name="Export chat").filter(visible=True).click()
    expect(page.get_by_role("link", name="Notebook").filter(visible=True)).to_be_visible()
    page.screenshot(path=tmp_path / "export.png")
    came = taken(page, page.get_by_role("link", name="PDF", exact=True).filter(visible=True).click)
    assert came.suggested_filename == "How many orders.pdf"
    assert came.path().read_bytes().startswith(b"%PDF")
    came = taken(page, page.get_by_role("link", name="Folder (ZIP)").filter(visible=True).click)
    assert came.suggested_filename == "How many orders.zip"
    with zipfile.ZipFile(came.path()) as archive:
        assert {"README.md", "chat.ipynb", "manifest.json", "queries/01.sql"} <= set(
            archive.namelist()
        )

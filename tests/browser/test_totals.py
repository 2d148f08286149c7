"""Totals in the page: what a step left out, the way from a result to its rows, kinds of rows and
findings in the preview."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from openpyxl import Workbook
from playwright.sync_api import expect

from tests.browser.conftest import LARGE, PHONE, App, OpenPage, expect_fits, look_at
from tests.browser.test_journeys import add_by_composer, ask, finished, open_steps
from tests.messages_server import Json, MessagesServer, Turn

pytestmark = pytest.mark.browser

SQL = "SELECT region, amount, _row FROM q3 WHERE amount > 25"


def queries(body: Json) -> Turn:
    """A brain that looks at the table, then queries it, then speaks."""
    said = str(body["messages"][-1]["content"])
    if "tool_result" not in said:
        return Turn.call(("describe_table", {"file": "f1"}))
    return (
        Turn.call(("query_tables", {"sql": SQL}))
        if "First 5 rows" in said
        else Turn.say("Two rows are above 25.")
    )


@pytest.fixture(scope="module")
def server() -> Iterator[MessagesServer]:
    with MessagesServer(queries) as running:
        yield running


@pytest.fixture(scope="module")
def app(module_app: Callable[..., App], server: MessagesServer) -> App:
    return module_app(model_url=server.url)


@pytest.fixture(scope="module")
def workbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Data"
    rows = [
        ["North", 10.5],
        ["North", 20],
        ["North Total", 30.5],
        ["South", 27],
        ["South", 38],
        ["South Total", 65],
        ["Total", 97],
    ]
    for row in (["region", "amount"], *rows):
        sheet.append(row)
    sheet.row_dimensions[5].hidden = True
    path = tmp_path_factory.mktemp("workbook") / "q3.xlsx"
    book.save(path)
    return path


def test_totals_are_named_where_figures_stand(
    app: App,
    open_page: OpenPage,
    workbook: Path,
    tmp_path: Path,
) -> None:
    page = open_page(*PHONE)
    page.goto(app.url)
    add_by_composer(page, workbook)
    ask(page, "Which are above 25?")
    expect(finished(page)).to_be_visible()
    expect(page.get_by_role("link", name="5 of 7 rows")).to_be_visible()
    said = "1 printed total does not add up: 'amount' in row 8 is 97, its rows give 95.5 (B8)"
    expect(page.get_by_role("link", name=said)).to_be_visible()
    expect(page.get_by_role("link", name="3 more")).to_be_visible()
    open_steps(page)
    page.get_by_text("Looked at the columns of q3").click()
    expect(
        page.get_by_text(
            "1 printed total does not add up: 'amount' in row 8 is 97, its rows give 95.5. (B8)"
        )
    ).to_be_visible()
    expect(
        page.get_by_text("2 subtotal rows are left out of queries. (A4:B4, A7:B7)")
    ).to_be_visible()
    expect(
        page.get_by_text("1 row is hidden in the sheet and read like all others. (A5:B5)")
    ).to_be_visible()
    page.screenshot(path=tmp_path / "described.png", full_page=True)
    page.get_by_text(re.compile("^Queried.* q3")).click()
    left = page.get_by_text("q3: 2 left out as subtotals (rows 4, 7 of q3.xlsx, sheet Data)")
    expect(left).to_be_visible()
    page.screenshot(path=tmp_path / "queried.png", full_page=True)
    expect_fits(page, LARGE)
    page.screenshot(path=tmp_path / "queried-large.png", full_page=True)
    look_at(page, *PHONE)
    page.get_by_role("button", name="Open sheet Data!A5:B5").click()
    preview = page.locator(".st-key-preview")
    expect(
        preview.get_by_text("Rows 1–7 of 7 · in queries 2 left out as subtotals")
    ).to_be_visible()
    expect(preview.get_by_text("1 printed total does not add up")).to_be_visible()
    page.screenshot(path=tmp_path / "preview.png")

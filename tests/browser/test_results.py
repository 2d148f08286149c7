"""Results whose rows are gone say so and are computed again; a question waits for the files beside
it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import App, OpenPage
from tests.browser.test_journeys import add_by_composer, ask, composer, file_field, finished
from tests.messages_server import Json, MessagesServer, Turn

pytestmark = pytest.mark.browser

SALES = "region,revenue\nNorth,1200.5\nSouth,800.25\n"
SQL = "SELECT region, revenue, random() AS chance FROM sales"


def reports(body: Json) -> Turn:
    if body["messages"][-1]["content"][0]["type"] == "tool_result":
        return Turn.say("There are two regions.")
    return Turn.call(("query_tables", {"sql": SQL}))


@pytest.fixture(scope="module")
def app(module_app: Callable[..., App]) -> Iterator[App]:
    with MessagesServer(reports) as server:
        yield module_app(model_url=server.url, LEAF_MAX_UPLOAD_MB="1")


@pytest.fixture
def page(open_page: OpenPage, app: App) -> Page:
    opened = open_page(1280)
    opened.goto(app.url)
    return opened


def shot(page: Page, name: str, tmp_path: Path) -> None:
    page.screenshot(path=str(Path(os.environ.get("LEAF_SHOTS", str(tmp_path))) / f"{name}.png"))


def test_a_result_whose_rows_are_gone_says_so_and_is_computed_again(
    app: App, page: Page, tmp_path: Path
) -> None:
    sales = tmp_path / "sales.csv"
    sales.write_text(SALES, encoding="utf-8")
    add_by_composer(page, sales)
    ask(page, "Which regions?")
    expect(finished(page)).to_be_visible()
    for blob in (app.home / "blobs").glob("*/*/*"):
        if blob.read_bytes()[:4] == b"PAR1":
            blob.unlink()
    page.locator("[class*=st-key-step-] summary").filter(visible=True).first.click()
    gone = page.get_by_text("The rows of r1 are gone: their file is missing").filter(visible=True)
    expect(gone).to_be_visible()
    expect(page.get_by_role("link", name="All rows as CSV")).to_have_count(0)
    shot(page, "result-gone", tmp_path)
    page.get_by_role("button", name="Recompute").filter(visible=True).click()
    panel = page.locator(".st-key-preview")
    expect(
        panel.get_by_text("They are the new result r2; the rows of r1 stay gone.")
    ).to_be_visible()
    expect(panel.get_by_role("heading", name="Result r2")).to_be_visible()
    expect(panel.get_by_text("Rows 1–2 of 2")).to_be_visible()
    shot(page, "result-recomputed", tmp_path)
    panel.get_by_role("button", name="Pin to board").click()
    expect(page.get_by_text("Pinned to “Board”.")).to_be_visible()


def test_a_question_is_kept_back_while_a_file_beside_it_did_not_get_here(
    page: Page, tmp_path: Path
) -> None:
    large = tmp_path / "large.csv"
    large.write_bytes(b"a,b\n" + b"1,2\n" * 400_000)
    file_field(page).set_input_files(large)
    failed = page.locator(".leaf-row[data-state=failed]")
    expect(failed).to_be_visible()
    expect(failed).to_contain_text("is larger than")
    ask(page, "What is in it?")
    said = page.get_by_text("Not sent: large.csv", exact=False)
    expect(said).to_be_visible()
    expect(composer(page)).to_have_value("What is in it?")
    page.get_by_test_id("stChatInputSubmitButton").click()
    expect(composer(page)).to_have_value("What is in it?")
    expect(finished(page)).to_have_count(0)
    shot(page, "upload-failed", tmp_path)
    failed.get_by_role("button", name="Remove large.csv").click()
    expect(said).to_be_hidden()
    composer(page).press("Enter")
    expect(finished(page)).to_be_visible()

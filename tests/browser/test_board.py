"""A board from the first pin to what is handed over."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import App
from tests.browser.test_edits import shot
from tests.browser.test_journeys import add_by_composer, ask, file_field, finished, open_steps
from tests.messages_server import MessagesServer, Turn

pytestmark = pytest.mark.browser

SQL = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY region ORDER BY region"
SPEC = {
    "mark": "bar",
    "title": "Revenue by region, as a chart",
    "encoding": {
        "x": {"field": "region", "type": "nominal"},
        "y": {"field": "revenue", "type": "quantitative"},
    },
}
TURNS = (
    Turn.call(("query_tables", {"sql": SQL}), ("make_chart", {"spec": SPEC, "sql": SQL})),
    Turn.say("The North leads with 300."),
)


def shots(page: Page, name: str) -> None:
    """Wide and narrow, light and dark."""
    if not os.environ.get("LEAF_SHOTS"):
        return
    size = page.viewport_size
    assert size is not None
    for look in ("light", "dark"):
        page.emulate_media(color_scheme=look)
        for kind, width, height in (("wide", 1440, 900), ("narrow", 390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            shot(page, f"{name}-{kind}-{look}")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(size)


def button(within: Page | Locator, name: str) -> Locator:
    return within.get_by_role("button", name=name, exact=True).filter(visible=True)


def cards(page: Page) -> Locator:
    return page.locator("[class*=st-key-pin-card-]").filter(visible=True)


def pinned_answer(page: Page, app: App, sales: Path) -> None:
    """A question whose answer has a table and a chart, both pinned."""
    page.goto(app.url)
    add_by_composer(page, sales)
    ask(page, "Revenue by region?")
    expect(finished(page)).to_be_visible()
    button(page, "Pin to board").first.click()
    expect(page.get_by_text("Pinned to “Board”.")).to_be_visible()
    open_steps(page)
    page.locator("[class*=st-key-step-] summary").filter(visible=True).first.click()
    table = page.locator("[class*=st-key-step-]").filter(has_text="All rows as CSV")
    shot(page, "board-pin")
    button(table, "Pin to board").last.click()
    expect(page.get_by_text("Pinned to “Board”.")).to_be_visible()


def test_results_are_pinned_named_ordered_computed_again_and_exported(
    new_app: Callable[..., App], page: Page, sales: Path, tmp_path: Path
) -> None:
    with MessagesServer(list(TURNS)) as server:
        page.set_viewport_size({"width": 1440, "height": 900})
        app = new_app(model_url=server.url)
        page.goto(f"{app.url}/board")
        expect(page.get_by_text("Nothing is pinned yet.")).to_be_visible()
        shots(page, "board-empty")
        pinned_answer(page, app, sales)
        page.get_by_role("link", name="Board").click()
        expect(page.get_by_role("heading", name="Board", exact=True)).to_be_visible()
        expect(cards(page)).to_have_count(2)
        expect(cards(page).nth(0)).to_contain_text("as a chart")
        expect(cards(page).nth(1).get_by_text("rows of sales.csv")).to_be_visible()
        shots(page, "board")
        _rename(page)
        button(page, "Move “Regions” up").click()
        expect(cards(page).nth(0)).to_contain_text("Regions")
        _recompute(page, sales)
        page.reload()
        expect(cards(page).nth(0)).to_contain_text("Regions")
        expect(cards(page).nth(0)).to_contain_text("rows in place of")
        _export(page)
        _remove(page)
        button(cards(page).first, "Open the answer").click()
        expect(page.get_by_text("The North leads with 300.")).to_be_visible()


def _rename(page: Page) -> None:
    card = cards(page).nth(1)
    card.get_by_role("button", name="Rename or remove").click()
    page.get_by_role("menuitem", name="Rename").click()
    field = page.get_by_role("textbox", name="Title")
    field.fill("Regions")
    field.press("Enter")
    expect(cards(page).nth(1).get_by_role("heading", name="Regions")).to_be_visible()


def _recompute(page: Page, sales: Path) -> None:
    card = cards(page).nth(0)
    button(card, "Recompute").click()
    expect(card.get_by_text("rows are the same")).to_be_visible()
    newer = sales.parent / "newer" / sales.name
    newer.parent.mkdir()
    newer.write_text(sales.read_text() + "Far West,5000\n")
    page.get_by_role("link", name="Files").click()
    file_field(page).set_input_files(newer)
    expect(page.get_by_role("button", name="sales (2).csv").first).to_be_visible()
    page.get_by_role("link", name="Board").click()
    expect(card.get_by_text("A newer sales.csv was added")).to_be_visible()
    shots(page, "board-stale")
    button(card, "Recompute").click()
    expect(card.get_by_text("rows in place of")).to_be_visible()
    card.get_by_text("What was here before").click()
    expect(card.get_by_test_id("stDataFrame")).to_have_count(2)
    card.get_by_text("Query and files").click()
    expect(card.get_by_text("GROUP BY region")).to_be_visible()
    shots(page, "board-recomputed")


def _export(page: Page) -> None:
    button(page, "Export").click()
    for label, ending, start in (("Web page", "html", b"<!doctype"), ("PDF", "pdf", b"%PDF")):
        with page.expect_download() as caught:
            page.get_by_role("link", name=label, exact=True).click()
        assert caught.value.suggested_filename == f"Board.{ending}"
        assert Path(caught.value.path()).read_bytes().startswith(start)
        if folder := os.environ.get("LEAF_SHOTS"):
            caught.value.save_as(Path(folder) / f"board.{ending}")
    page.keyboard.press("Escape")


def _remove(page: Page) -> None:
    cards(page).nth(0).get_by_role("button", name="Rename or remove").click()
    page.get_by_role("menuitem", name="Remove").click()
    expect(cards(page)).to_have_count(1)
    expect(page.get_by_text("Removed “Regions”.")).to_be_visible()
    shot(page, "board-removed")
    button(page, "Undo").click()
    expect(cards(page)).to_have_count(2)


def test_a_board_that_was_deleted_elsewhere_says_so(
    new_app: Callable[..., App], page: Page, sales: Path
) -> None:
    with MessagesServer(list(TURNS)) as server:
        app = new_app(model_url=server.url)
        pinned_answer(page, app, sales)
        page.get_by_role("link", name="Board").click()
        expect(cards(page)).to_have_count(2)
        button(page, "New board, rename or delete").click()
        page.get_by_role("menuitem", name="New board").click()
        page.get_by_role("textbox", name="Name").fill("Second")
        page.get_by_role("textbox", name="Name").press("Enter")
        expect(page.get_by_role("heading", name="Second")).to_be_visible()
        address = page.url
        other = page.context.new_page()
        other.goto(address)
        expect(other.get_by_role("heading", name="Second")).to_be_visible()
        button(other, "New board, rename or delete").click()
        other.get_by_role("menuitem", name="Delete").click()
        button(other, "Delete for good").click()
        expect(other.get_by_role("heading", name="Board", exact=True)).to_be_visible()
        expect(page.get_by_text("This board was deleted")).to_be_visible()
        expect(cards(page)).to_have_count(2)


def test_whoever_has_several_boards_chooses_one_to_pin_to(
    new_app: Callable[..., App], page: Page, sales: Path
) -> None:
    with MessagesServer(list(TURNS)) as server:
        app = new_app(model_url=server.url)
        for number, name in enumerate(("Weekly", "Monthly", "Weekly")):
            page.goto(f"{app.url}/board")
            if not number:
                button(page, "New board").click()
            else:
                button(page, "New board, rename or delete").click()
                page.get_by_role("menuitem", name="New board").click()
            page.get_by_role("textbox", name="Name").fill(name)
            page.get_by_role("textbox", name="Name").press("Enter")
            # the board of the same name stands behind the dialog already
            expect(page.get_by_role("dialog")).to_have_count(0)
            expect(page.get_by_role("heading", name=name)).to_be_visible()
        page.goto(app.url)
        add_by_composer(page, sales)
        ask(page, "Revenue by region?")
        expect(finished(page)).to_be_visible()
        button(page, "Pin to board").first.click()
        shot(page, "board-choose")
        expect(page.get_by_role("menuitem", name="Weekly (2)")).to_be_visible()
        page.get_by_role("menuitem", name="Monthly").click()
        expect(page.get_by_text("Pinned to “Monthly”.")).to_be_visible()
        page.get_by_role("link", name="Board").click()
        page.get_by_role("combobox", name="Board").click()
        page.get_by_role("option", name="Monthly").click()
        expect(page.get_by_role("heading", name="Monthly")).to_be_visible()
        expect(cards(page)).to_have_count(1)
        shots(page, "board-several")

"""What a person does to delete for good, and where an owner reads what was done."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import App
from tests.browser.test_journeys import ask, finished

pytestmark = pytest.mark.browser


def test_a_chat_is_deleted_for_good_after_a_question_and_stands_in_the_log(
    new_app: Callable[..., App], page: Page
) -> None:
    app = new_app()
    page.goto(app.url)
    ask(page, "Something to be rid of")
    expect(finished(page)).to_be_visible()
    page.get_by_role("button", name="Rename, export or delete this chat").filter(
        visible=True
    ).first.click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_role("button", name="Undo").filter(visible=True)).to_be_visible()
    page.goto(f"{app.url}/settings")
    page.get_by_role("button", name="Delete Something to be rid of for good").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("This cannot be undone")).to_be_visible()
    dialog.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("The chat is deleted for good.").first).to_be_visible()
    expect(
        page.get_by_text("are kept in this list until they are deleted for good")
    ).to_be_visible()
    page.get_by_role("link", name="Audit log, under Operations").click()
    expect(page.get_by_role("cell", name="chat deleted for good")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="as CSV").click()
    assert "chat deleted for good" in download.value.path().read_text()
    assert b"Something to be rid of" not in (app.home / "leaf.duckdb").read_bytes()

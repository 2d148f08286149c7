"""Google Drive as a person meets it: consent, browse, search, add, ask; and what is said when it
goes wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import App
from tests.browser.test_journeys import ask, finished
from tests.drive_server import ANA, DOC, DOCX, DriveServer, docx
from tests.messages_server import MessagesServer

pytestmark = pytest.mark.browser


@dataclass
class Google:
    """A Google on loopback, and what lies in Ana's Drive."""

    server: DriveServer
    reports: str
    sales: str


@pytest.fixture
def google() -> Iterator[Google]:
    with DriveServer() as server:
        root = server.root(ANA)
        reports = server.folder("Reports 2026", root)
        sales = server.add(
            "sales.csv", "text/csv", reports, b"region,revenue\nNorth,100\nSouth,120\nNorth,200\n"
        )
        words = "The budget for 2027 was raised."
        server.doc("Minutes", DOC, {DOCX: docx(words)}, reports, words=words)
        server.add("holiday.mp4", "video/mp4", reports, b"", size=5_000_000_000)
        server.add(
            "odd \x07\u202e![x](https://evil.example/a.png).csv", "text/csv", root, b"a,b\n1,2\n"
        )
        archive = server.folder("Archive", root)
        for number in range(60):
            server.add(f"invoice-{number:02}.txt", "text/plain", archive, b"paid")
        yield Google(server, reports, sales)


@pytest.fixture
def drive_app(new_app: Callable[..., App], model_server: MessagesServer, google: Google) -> App:
    set_up = google.server.settings()
    more = {
        "OAUTHLIB_INSECURE_TRANSPORT": "1",
        "LEAF_GOOGLE_CLIENT_ID": set_up.client_id,
        "LEAF_GOOGLE_CLIENT_SECRET": set_up.client_secret,
        "LEAF_GOOGLE_API_URL": set_up.api_url,
        "LEAF_GOOGLE_AUTH_URL": set_up.auth_url,
        "LEAF_GOOGLE_TOKEN_URL": set_up.token_url,
        "LEAF_GOOGLE_REVOKE_URL": set_up.revoke_url,
    }
    return new_app(model_url=model_server.url, **more)


def button(page: Page, name: str | re.Pattern[str], exact: bool = False) -> Locator:
    return page.get_by_role("button", name=name, exact=exact).filter(visible=True).first


def connect(page: Page, name: str = "Connect Google Drive") -> None:
    """To Google's page and back, in the same tab."""
    button(page, name).click()
    page.get_by_role("link", name=f"Allow as {ANA}").click()
    expect(page).to_have_url(re.compile(r"/drive$"))
    expect(page.get_by_text("read only")).to_be_visible()


def test_connect_browse_search_and_look_into_a_file(
    drive_app: App, own_context: BrowserContext
) -> None:
    asked_for: list[str] = []
    page = own_context.new_page()
    own_context.on("request", lambda request: asked_for.append(request.url))
    page.goto(f"{drive_app.url}/drive")
    expect(page.get_by_text("cannot change, share or delete")).to_be_visible()
    connect(page)
    assert len(own_context.pages) == 1
    expect(button(page, re.compile("odd .*evil"))).to_be_visible()
    button(page, "Reports 2026").click()
    expect(button(page, "sales.csv")).to_be_visible()
    expect(page.get_by_text(re.compile("Video · .*5.0 GB"))).to_be_visible()
    expect(page).to_have_url(re.compile(r"folder="))
    page.reload()
    expect(button(page, "sales.csv")).to_be_visible()
    button(page, "sales.csv").click()
    expect(page.locator(".st-key-preview").get_by_text("South")).to_be_visible()
    button(page, "Close the preview").click()
    button(page, "My Drive").click()
    expect(button(page, "Archive")).to_be_visible()
    search = page.get_by_placeholder("Search names and content")
    search.fill("budget")
    search.press("Enter")
    expect(button(page, "Minutes")).to_be_visible()
    expect(page.get_by_text("Found by “budget”")).to_be_visible()
    assert page.locator("img[src*='evil.example']").count() == 0
    assert [
        url for url in asked_for if not re.match(r"(https?|ws)://127\.0\.0\.1[:/]|data:|blob:", url)
    ] == []


def test_a_large_folder_has_pages(drive_app: App, page: Page) -> None:
    page.goto(f"{drive_app.url}/drive")
    connect(page)
    button(page, "Archive").click()
    expect(page.get_by_text("1–50")).to_be_visible()
    button(page, "Next").click()
    expect(page.get_by_text("51–60")).to_be_visible()
    expect(button(page, "invoice-59.txt")).to_be_visible()
    button(page, "Back").click()
    expect(button(page, "invoice-00.txt")).to_be_visible()


def test_a_pasted_address_opens_its_folder(drive_app: App, page: Page, google: Google) -> None:
    page.goto(f"{drive_app.url}/drive")
    connect(page)
    search = page.get_by_placeholder("Search names and content")
    search.fill(f"https://drive.google.com/drive/folders/{google.reports}?usp=sharing")
    search.press("Enter")
    expect(button(page, "sales.csv")).to_be_visible()
    expect(search).to_have_value("")


def test_a_folder_is_added_with_a_count_of_what_was_skipped_and_why(
    drive_app: App, page: Page
) -> None:
    page.goto(f"{drive_app.url}/drive")
    connect(page)
    page.get_by_text("Choose Reports 2026").locator("xpath=ancestor::label").click()
    expect(page.get_by_text("1 folder chosen")).to_be_visible()
    button(page, "Add to Files").click()
    expect(page.get_by_text("2 files are in your library. 1 file was skipped.")).to_be_visible()
    page.get_by_text("What was not added or cannot be read, and why (1)").click()
    expect(page.get_by_text("holiday.mp4")).to_be_visible()
    page.goto(f"{drive_app.url}/files")
    expect(button(page, "sales.csv")).to_be_visible()
    expect(page.get_by_text("From Drive")).to_have_count(2)


def test_a_folder_goes_with_a_question_and_a_lost_permission_is_offered_to_be_renewed(
    drive_app: App, page: Page, google: Google
) -> None:
    page.goto(f"{drive_app.url}/drive")
    connect(page)
    row = page.locator("[class*=st-key-drive-row-]").filter(has_text="Reports 2026")
    row.get_by_role("button", name="Ask").filter(visible=True).first.click()
    expect(page).to_have_url(re.compile("chat="))
    expect(
        page.locator(".st-key-waiting").get_by_role("button", name="Reports 2026").first
    ).to_be_visible()
    ask(page, "What does my Drive say?")
    expect(finished(page)).to_be_visible()
    expect(
        page.locator("[class*=st-key-came-]").get_by_role("button", name="Reports 2026").first
    ).to_be_visible()
    google.server.revoke(ANA)
    ask(page, "And what does Drive say now?")
    expect(page.get_by_text("the connection does not work").first).to_be_visible()
    expect(page.get_by_text("Its folders cannot be opened")).to_be_visible()
    button(page, "Connect again").click()
    expect(
        page.get_by_text(f"The connection to {ANA.replace('@', '@⁠')} does not work.")
    ).to_be_visible()
    connect(page, "Connect again")
    expect(button(page, "Reports 2026")).to_be_visible()


def test_a_denied_consent_and_a_replayed_address_are_one_sentence_each(
    drive_app: App, page: Page
) -> None:
    page.goto(f"{drive_app.url}/settings")
    with page.expect_request(lambda request: "/drive?error=" in request.url) as came:
        button(page, "Connect Google Drive").click()
        page.get_by_role("link", name="Deny").click()
    expect(page.get_by_test_id("stAlert")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/drive$"))
    first = page.get_by_test_id("stAlert").inner_text()
    page.goto(came.value.url)
    expect(page.get_by_test_id("stAlert")).to_contain_text("used already")
    assert "used already" not in first
    expect(button(page, "Connect Google Drive")).to_be_visible()


def test_disconnecting_asks_first_and_keeps_what_came(
    drive_app: App, page: Page, google: Google
) -> None:
    page.goto(f"{drive_app.url}/drive")
    connect(page)
    page.goto(f"{drive_app.url}/settings")
    button(page, "Disconnect").click()
    page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    expect(page.get_by_text("Not connected.")).to_be_visible()
    assert google.server.refresh == {}

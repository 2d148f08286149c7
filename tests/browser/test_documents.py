"""A document beside the chat: it grows while it is written, opens again from its card, is edited,
restored and downloaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app_process import App
from tests.browser.conftest import OpenPage
from tests.browser.test_journeys import add_by_composer
from tests.messages_server import Failure, Json, MessagesServer, Turn

pytestmark = pytest.mark.browser

TRANSCRIPT = (
    "WEBVTT\n\n00:00:01.000 --> 00:00:09.000\n<v Anna>We go with plan B.\n\n00:12:30.000 --> "
    "00:12:40.000\n<v Ben>I send it.\n"
)
MINUTES = (
    "# Plan call\n\nA short call.\n\n## Decisions\n\n- Plan B [00:00:01]\n\n## Topics\n\n"
    + "\n\n".join(f"Topic {i} was discussed at some length." for i in range(1, 40))
    + "\n\nThe very end.\n"
)
EDIT = "<<<<<<< SEARCH\nA short call.\n=======\nA short and friendly call.\n>>>>>>> REPLACE"


def brain(body: Json) -> Turn | Failure:
    """The analyst with tools; without them, the writer of a document."""
    if not body.get("tools"):
        return Turn.say(MINUTES, pieces=60, delay=0.08)
    newest = body["messages"][-1]["content"]
    if isinstance(newest, list) and any(block["type"] == "tool_result" for block in newest):
        return Turn.say("It is done.")
    words = (
        newest if isinstance(newest, str) else " ".join(block.get("text", "") for block in newest)
    )
    if "friendly" in words:
        return Turn.call(("edit_file", {"file_path": "Plan call", "search_replace_block": EDIT}))
    given = {"title": "Plan call", "document_type": "meeting-summary", "files": ["f1"]}
    return Turn.call(("create_document", given))


@pytest.fixture(scope="module")
def server() -> Iterator[MessagesServer]:
    with MessagesServer(brain) as running:
        yield running


def begin(page: Page, app: App, tmp_path: Path) -> None:
    path = tmp_path / "call.vtt"
    path.write_text(TRANSCRIPT)
    page.goto(app.url)
    add_by_composer(page, path)
    ask(page, "Summarise this meeting")


PANELS = """
window.panels = 0;
new MutationObserver(() => {
  window.panels = Math.max(window.panels, document.querySelectorAll(".st-key-preview").length);
}).observe(document, {subtree: true, childList: true});
"""
"""Counts how many panels there ever were at once."""


def ask(page: Page, question: str) -> None:
    field = page.get_by_test_id("stChatInputTextArea")
    field.fill(question)
    field.press("Enter")


def test_a_document_grows_beside_the_chat_and_is_edited_and_restored(
    page: Page, new_app: Callable[..., App], server: MessagesServer, tmp_path: Path
) -> None:
    app = new_app(model_url=server.url)
    page.add_init_script(PANELS)
    begin(page, app, tmp_path)
    growing = page.locator('[class*="st-key-writing-"]').first
    expect(growing).to_contain_text("Topic 3 was discussed")
    assert growing.bounding_box()["x"] > 600  # type: ignore[index]  # beside, not in the chat
    assert "The very end" not in growing.inner_text()
    shot(page, tmp_path, "growing")
    expect(page.get_by_text("It is done.")).to_be_visible()
    panel = page.locator(".st-key-preview")
    expect(panel).to_contain_text("The very end.")
    expect(page.locator('[class*="st-key-writing-"]')).to_have_count(0)
    shot(page, tmp_path, "written")

    ask(page, "Make it more friendly")
    expect(page.get_by_text("Version 2 · 1 line added, 1 line removed").first).to_be_visible()
    panel.get_by_text("Last change").click()
    expect(panel).to_contain_text("+ A short and friendly call.")
    expect(panel).to_contain_text("- A short call.")
    shot(page, tmp_path, "change")
    with page.expect_download() as download:
        panel.get_by_role("link", name="Word (DOCX)").click()
    assert download.value.suggested_filename == "Plan call.docx"
    assert Path(download.value.path()).read_bytes()[:2] == b"PK"

    assert page.evaluate("window.panels") == 1
    panel.get_by_role("button", name="Edit", exact=True).click()
    expect(page.get_by_role("button", name="Back to all documents")).to_be_visible()
    expect(panel).to_have_count(0)
    page.get_by_role("radio", name="Edit").or_(
        page.get_by_role("button", name="Edit", exact=True)
    ).first.click()
    shot(page, tmp_path, "edit")
    text = page.get_by_label("Text (Markdown)")
    text.fill("# Plan call\n\nBy hand.\n")
    text.blur()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("version 3").first).to_be_visible()
    page.get_by_text("Versions", exact=True).first.click()
    expect(page.get_by_text("edited by hand").first).to_be_visible()
    page.get_by_text("Version 1 · created").click()
    shot(page, tmp_path, "versions")
    page.get_by_role("button", name="Restore this version").click()
    expect(page.get_by_text("restored version 1").first).to_be_visible()
    page.goto(f"{app.url}/documents")
    expect(page.get_by_text("version 4").first).to_be_visible()
    shot(page, tmp_path, "list")
    page.locator('[class*="st-key-icon-document-menu-"] button').first.click()
    page.get_by_text("Delete", exact=True).click()
    expect(page.get_by_text("Deleted “Plan call”")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("version 4").first).to_be_visible()


def test_on_a_phone_it_grows_in_the_chat_and_covers_nothing(
    open_page: OpenPage, new_app: Callable[..., App], server: MessagesServer, tmp_path: Path
) -> None:
    page = open_page(390, 844, "dark")
    begin(page, new_app(model_url=server.url), tmp_path)
    growing = page.locator('[class*="st-key-writing-"]').first
    expect(growing).to_contain_text("Topic 3 was discussed")
    assert growing.bounding_box()["height"] < 844 / 2  # type: ignore[index]
    shot(page, tmp_path, "phone-growing")
    expect(page.get_by_text("It is done.")).to_be_visible()
    expect(page.locator(".st-key-preview")).not_to_be_visible()
    shot(page, tmp_path, "phone-written")
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator(".st-key-preview").filter(visible=True)).to_be_visible()
    shot(page, tmp_path, "phone-open")


def shot(page: Page, folder: Path, name: str) -> None:
    """For whoever wants to look at what was seen."""
    page.screenshot(path=str(folder / f"{name}.png"))

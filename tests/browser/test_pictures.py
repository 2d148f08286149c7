"""Pictures: attached to a question and seen by the model, and pages of a scan that it looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bench._pdfs import pdf
from tests import pictures_kit as kit
from tests.app_process import App
from tests.browser.test_journeys import add_by_composer, ask, finished
from tests.files_server import images_of, opened
from tests.messages_server import Json, MessagesServer, Turn

pytestmark = pytest.mark.browser


def brain(body: Json) -> Turn:
    """Answers by what it was shown, and looks at page 2 of a scan."""
    newest = body["messages"][-1]["content"]
    question = " ".join(block["text"] for block in newest if block["type"] == "text")
    if "scan" in question:
        return Turn.call(("view_file", {"file": "f1", "pages": "2"}))
    seen = len(list(images_of({"messages": body["messages"][-1:]})))
    return Turn.say(f"I see {seen} picture.")


@pytest.fixture(scope="module")
def seeing() -> Iterator[MessagesServer]:
    with MessagesServer(brain) as server:
        yield server


def test_a_picture_question(
    new_app: Callable[..., App], seeing: MessagesServer, page: Page, tmp_path: Path
) -> None:
    app = new_app(tmp_path / "home", seeing.url, LEAF_FILES_API="on")
    photo = tmp_path / "flag.png"
    photo.write_bytes(kit.png(640, 480))
    page.goto(app.url)
    add_by_composer(page, photo)
    ask(page, "What is on this picture?")
    expect(page.get_by_text("I see 1 picture.")).to_be_visible()
    expect(finished(page)).to_be_visible()
    sent = [
        seeing.resolver.picture(image["source"]) for image in images_of(seeing.requests[-1].body)
    ]
    assert [opened(data).size for data in sent] == [(640, 480)]
    assert kit.is_like(opened(sent[0]), (10, 10), kit.BLUE)
    thumbnail = page.get_by_role("img", name="flag.png").first
    expect(thumbnail).to_be_visible()
    page.get_by_role("button", name="Open flag.png").filter(visible=True).click()
    preview = page.locator(".st-key-preview")
    expect(preview.get_by_role("img", name="flag.png")).to_be_visible()
    expect(preview.get_by_text("640 × 480 pixels")).to_be_visible()
    page.screenshot(path=tmp_path / "question.png")


def test_a_scanned_page_is_looked_at(
    new_app: Callable[..., App], seeing: MessagesServer, page: Page, tmp_path: Path
) -> None:
    app = new_app(tmp_path / "home", seeing.url)
    scan = tmp_path / "scan.pdf"
    scan.write_bytes(pdf(["1 0 0 rg 40 40 200 300 re f", "0 0 1 rg 300 40 200 700 re f"]))
    page.goto(app.url)
    add_by_composer(page, scan)
    ask(page, "What is on page 2 of the scan?")
    expect(page.get_by_text("I see 1 picture.")).to_be_visible()
    expect(finished(page)).to_be_visible()
    expect(page.get_by_text("1 of 2 pages", exact=True)).to_be_visible()
    sent = [
        seeing.resolver.picture(image["source"]) for image in images_of(seeing.requests[-1].body)
    ]
    assert kit.is_like(opened(sent[0]), (750, 800), (0, 0, 255))
    page.get_by_text("Looked at page 2 of scan.pdf").first.click()
    expect(page.get_by_role("img", name="page 2 of scan.pdf")).to_be_visible()
    page.get_by_role("button", name="Open page 2 of scan.pdf").filter(visible=True).click()
    expect(
        page.locator(".st-key-preview").get_by_role("img", name="Page 2 of scan.pdf")
    ).to_be_visible()

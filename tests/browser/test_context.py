"""What a person sees of how much goes to the model: before sending, under an answer, and where a
long chat was folded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app_process import App
from tests.browser.test_journeys import ask, file_field, finished
from tests.messages_server import Json, MessagesServer, Turn

pytestmark = pytest.mark.browser

WINDOW = 24_000
LINES = "".join(
    f"Line {n}: the delivery of region {n % 7} was accepted by the customer without delay.\n"
    for n in range(1, 4_001)
)


def brain(body: Json) -> Turn:
    """Reads another part of the file for each question."""
    asked = sum(m["role"] == "user" and m["content"][0]["type"] == "text" for m in body["messages"])
    if body["messages"][-1]["content"][0]["type"] == "text":
        return Turn.call(
            ("read_file", {"file": "f1", "where": f"lines {asked * 100}-{asked * 100 + 99}"}),
            thinking="I look.",
        )
    return Turn.say(f"Answer {asked}: all of it was accepted.")


@pytest.fixture(scope="module")
def small_window() -> Iterator[MessagesServer]:
    with MessagesServer(brain, window=WINDOW) as server:
        yield server


def started(new_app: Callable[..., App], server: MessagesServer, home: Path) -> App:
    sizes = {
        "LEAF_MODEL_WINDOW": str(WINDOW),
        "LEAF_MAX_OUTPUT_TOKENS": "1000",
        "LEAF_FILE_TOKENS": "9000",
    }
    return new_app(home, server.url, **sizes)


def test_what_is_attached_what_was_read_and_what_was_folded_are_said(
    new_app: Callable[..., App], small_window: MessagesServer, page: Page, tmp_path: Path
) -> None:
    app = started(new_app, small_window, tmp_path / "home")
    path = tmp_path / "deliveries.txt"
    path.write_text(LINES)
    page.goto(app.url)
    file_field(page).set_input_files(path)
    estimate = page.locator(".st-key-attached-estimate").filter(visible=True)
    expect(estimate).to_contain_text(
        re.compile(
            r"About [\d,]+ tokens · \$\d.* if all of it is read; the question itself sends up to 60"
        )
    )
    expect(estimate).to_contain_text(
        re.compile(
            r"deliveries\.txt is about [\d,]+ tokens: more than the 9,000 that one answer reads"
        )
    )
    page.screenshot(path=tmp_path / "estimate.png")

    ask(page, "What of the first hundred?")
    expect(page.get_by_text("Answer 1: all of it was accepted.")).to_be_visible()
    expect(finished(page)).to_be_visible()
    expect(estimate).to_have_count(0)
    read = page.get_by_text(re.compile(r"Read [\d,]+ of 9,000 tokens of file content")).filter(
        visible=True
    )
    page.get_by_role("link", name="All details of this answer").filter(visible=True).last.click()
    expect(read.first).to_be_visible()
    expect(
        page.get_by_text(
            re.compile(
                r"deliveries\.txt · opened by the model · [\d,]+ tokens, the whole has about"
            )
        )
    ).to_be_visible()
    page.screenshot(path=tmp_path / "budget.png")

    compacted = page.get_by_text("Earlier results were folded").filter(visible=True)
    for number in range(2, 8):
        ask(page, f"And part {number}?")
        expect(page.get_by_text(f"Answer {number}: all of it was accepted.")).to_be_visible()
        expect(finished(page).last).to_be_enabled()
        if compacted.count():
            break
    expect(compacted).to_be_visible()
    expect(compacted).to_contain_text("everything stays readable here")
    assert not small_window.refused
    page.reload()
    expect(finished(page).last).to_be_enabled()
    expect(compacted).to_be_visible()
    expect(page.get_by_text("Answer 1: all of it was accepted.")).to_be_visible()
    page.screenshot(path=tmp_path / "folded.png")

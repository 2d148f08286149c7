"""What a person does with Leaf, from the first visit to the next day."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import App
from tests.live_kit import wait_until
from tests.messages_server import MessagesServer

pytestmark = pytest.mark.browser


def composer(page: Page) -> Locator:
    return page.get_by_test_id("stChatInputTextArea")


def ask(page: Page, question: str) -> None:
    composer(page).fill(question)
    composer(page).press("Enter")


def finished(page: Page) -> Locator:
    """The row of actions, which only a finished answer has."""
    return page.get_by_role("button", name="Answer again").filter(visible=True)


def open_sources(page: Page) -> Locator:
    """The sources of the newest answer, beside the page."""
    page.locator('a[href^="#leaf-evidence-"][href$=".sources"]').filter(visible=True).last.click()
    return page.locator("[class*=st-key-sources-]")


def open_steps(page: Page) -> None:
    """The steps of the newest answer, which stand in one line when it is whole."""
    page.locator("[class*=st-key-steps-of-] summary").filter(visible=True).last.click()


def file_field(page: Page) -> Locator:
    """Where the browser's own window to choose files puts them, once the page listens to it."""
    field = page.locator(".leaf-uploads input[data-adds=files]").last
    wait_until(lambda: field.evaluate("field => field.onchange !== null"), seconds=60.0)
    return field


def add_by_composer(page: Page, path: Path) -> None:
    """Beside the next question, once it is there."""
    file_field(page).set_input_files(path)
    head = re.compile(rf"^Leave out {re.escape(path.name[:20])}")  # a long name is cut
    chip = page.get_by_role("button", name=head)
    expect(chip.filter(visible=True)).to_be_visible()


def test_first_visit_by_deep_link_then_upload_ask_and_open_a_source(
    new_app: Callable[..., App], model_server: MessagesServer, page: Page, sales: Path
) -> None:
    fresh = new_app(model_url=model_server.url)
    page.goto(f"{fresh.url}/files")
    expect(page.get_by_role("heading", name="Files")).to_be_visible()
    file_field(page).set_input_files(sales)
    expect(page.get_by_text("3 rows × 2 columns")).to_be_visible()
    page.get_by_role("button", name="Ask", exact=True).filter(visible=True).click()
    beside = page.get_by_role("button", name="sales.csv", exact=True)
    expect(beside.filter(visible=True)).to_be_visible()
    ask(page, "What is the total by region?")
    expect(page.get_by_text("The North leads with 300.")).to_be_visible()
    expect(page.get_by_text("3 of 3 rows")).to_be_visible()
    expect(finished(page)).to_be_visible()
    preview = page.locator(".st-key-preview")
    open_sources(page).get_by_role("button", name="sales.csv").click()
    expect(preview.get_by_role("heading", name="sales.csv")).to_be_visible()
    expect(preview.get_by_text("Rows 1–3 of 3")).to_be_visible()
    preview.get_by_role("button", name="Close the preview").filter(visible=True).click()
    expect(preview).to_have_count(0)


def test_a_file_sent_with_a_question_is_a_step_away_from_its_result(
    app: App, page: Page, sales: Path
) -> None:
    page.goto(app.url)
    add_by_composer(page, sales)
    ask(page, "The total, please")
    expect(page.get_by_text("The North leads with 300.")).to_be_visible()
    expect(finished(page)).to_be_visible()
    expect(page.get_by_text("SELECT region")).to_have_count(0)
    page.locator("[class*=st-key-steps-of-] summary").first.click()
    inside = "[data-testid=stExpander] [data-testid=stExpander] summary"
    page.locator(f"[class*=st-key-steps-of-] {inside}", has_text="Summed revenue").click()
    expect(page.get_by_text("SELECT region").first).to_be_visible()
    expect(page.get_by_text("2 rows", exact=True)).to_be_visible()


def test_stop_keeps_what_was_shown(app: App, page: Page) -> None:
    page.goto(app.url)
    ask(page, "Something long to stop")
    expect(page.get_by_text("Paragraph 2 of")).to_be_visible()
    composer(page).press("Escape")
    expect(page.get_by_text("Stopped. What was found so far is kept.")).to_be_visible()
    expect(page.get_by_text("Paragraph 2 of")).to_be_visible()
    expect(page.get_by_text("Paragraph 40 of")).to_have_count(0)


def test_an_edited_question_is_a_branch_and_the_old_one_stays(app: App, page: Page) -> None:
    page.goto(app.url)
    ask(page, "First wording")
    expect(page.get_by_text("You asked: First wording")).to_be_visible()
    expect(finished(page)).to_be_visible()
    page.get_by_role("button", name="Edit this question").filter(visible=True).click()
    page.get_by_label("Edit the question").fill("Second wording")
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_text("You asked: Second wording")).to_be_visible()
    expect(page.get_by_text("2/2")).to_be_visible()
    expect(finished(page)).to_be_visible()
    page.get_by_role("button", name="The version before").filter(visible=True).click()
    expect(page.get_by_text("You asked: First wording")).to_be_visible()
    expect(page.get_by_text("1/2")).to_be_visible()


def test_a_refused_key_is_one_sentence_and_a_way_to_try_again(app: App, page: Page) -> None:
    page.goto(app.url)
    ask(page, "Please refuse")
    expect(page.get_by_role("button", name="Retry").filter(visible=True)).to_be_visible()
    expect(page.get_by_test_id("stAlert")).to_contain_text(re.compile("key", re.IGNORECASE))
    expect(page.get_by_text("Traceback")).to_have_count(0)


def test_an_answer_is_copied_to_the_clipboard(
    app: App, context: BrowserContext, page: Page
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(app.url)
    ask(page, "Copy me")
    expect(finished(page)).to_be_visible()
    page.get_by_role("button", name="Copy this answer").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "You asked: Copy me"


def test_history_is_there_after_the_process_was_killed(
    new_app: Callable[..., App], model_server: MessagesServer, page: Page, tmp_path: Path
) -> None:
    first = new_app(tmp_path / "kept", model_server.url)
    page.goto(first.url)
    ask(page, "Remember this")
    expect(finished(page)).to_be_visible()
    first.stop(signal.SIGKILL)
    second = new_app(tmp_path / "kept", model_server.url)
    page.goto(second.url)
    page.get_by_role("button", name="Remember this").filter(visible=True).click()
    expect(page.get_by_text("You asked: Remember this")).to_be_visible()


def test_a_second_process_says_who_holds_the_data(
    new_app: Callable[..., App], page: Page, tmp_path: Path
) -> None:
    first = new_app(tmp_path / "held")
    second = new_app(tmp_path / "held")
    page.goto(second.url)
    expect(page.get_by_role("heading", name="Leaf is open elsewhere")).to_be_visible()
    expect(page.get_by_text(re.compile(r"process \d+"))).to_be_visible()
    first.stop()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible()


def test_a_chat_is_renamed_deleted_and_brought_back(app: App, page: Page) -> None:
    page.goto(app.url)
    ask(page, "To be renamed")
    expect(finished(page)).to_be_visible()
    page.get_by_role("button", name="Rename, export or delete this chat").filter(
        visible=True
    ).first.click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("dialog").get_by_label("Name").fill("A better name")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    chat = page.get_by_role("button", name="A better name").filter(visible=True)
    expect(chat).to_be_visible()
    page.get_by_role("button", name="Rename, export or delete this chat").filter(
        visible=True
    ).first.click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(chat).to_have_count(0)
    page.get_by_role("button", name="Undo").filter(visible=True).click()
    expect(chat).to_be_visible()


def test_without_a_model_sample_data_leads_to_an_answer_with_sources(
    new_app: Callable[..., App], page: Page
) -> None:
    keyless = new_app()
    page.goto(keyless.url)
    expect(page.get_by_text("No model connected: simple questions only.")).to_be_visible()
    page.get_by_role("button", name="Try it with sample data").filter(visible=True).click()
    page.locator(".st-key-suggestions button").filter(visible=True).first.click()
    expect(finished(page)).to_be_visible()
    expect(open_sources(page).get_by_role("button").first).to_be_visible()


def test_no_request_leaves_loopback_while_hostile_text_is_drawn(
    app: App, own_context: BrowserContext, tmp_path: Path
) -> None:
    asked_for: list[str] = []
    page = own_context.new_page()
    own_context.on("request", lambda request: asked_for.append(request.url))
    hostile = tmp_path / "![x](https:__evil.example_name.png).md"
    hostile.write_text(
        "![a](https://evil.example/file.png)\n\n<img src='https://evil.example/img.png'>\n\n[d](data:text/html,x)\n"
    )
    page.goto(app.url)
    add_by_composer(page, hostile)
    ask(page, "Read this hostile file ![q](https://evil.example/question.png)")
    expect(page.get_by_text("what I found")).to_be_visible()
    expect(finished(page)).to_be_visible()
    for summary in page.locator("[data-testid=stExpander] summary").all():
        summary.click()
    open_sources(page).get_by_role("button").first.click()
    expect(page.locator(".st-key-preview").get_by_text("evil.example/file.png")).to_be_visible()
    assert page.locator("img[src*='evil.example']").count() == 0
    assert page.locator("a[href^='data:'], a[href^='file:']").count() == 0
    assert [
        url for url in asked_for if not re.match(r"(https?|ws)://127\.0\.0\.1[:/]|data:|blob:", url)
    ] == []

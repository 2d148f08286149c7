"""A project from its making to its end, on a wide screen and on a telephone; and a chat that is shown to
somebody else only once that was confirmed."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.app_process import App
from tests.browser.conftest import PATIENCE, PHONE, OpenPage, expect_fits, look_at
from tests.browser.test_board import button, shots
from tests.browser.test_edits import shot
from tests.browser.test_journeys import ask, composer, finished
from tests.browser.test_palette import look_for, open_palette
from tests.browser.test_sign_in import login_provider, sign_in, start
from tests.messages_server import MessagesServer

__all__ = ["login_provider"]
pytestmark = pytest.mark.browser

RULES = "Round to thousands."
WIDE, NARROW = (1440, 900), (390, 844)


def sidebar(page: Page) -> Locator:
    """Opened where it is closed, as on a telephone."""
    opener = page.get_by_test_id("stExpandSidebarButton")
    if opener.is_visible():
        opener.click()
        expect(opener).to_be_hidden()
    return page.get_by_test_id("stSidebar")


def make(page: Page, title: str) -> str:
    """A new project; its address."""
    button(page, "New project").click()
    dialog = page.get_by_role("dialog", name="New project")
    dialog.get_by_role("textbox", name="Title").fill(title)
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"/project\?id="))
    expect(page).to_have_title(f"{title} · Leaf")
    return page.url


def instruct(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Instructions for the model").fill(text)
    button(page, "Save instructions").click()
    expect(page.get_by_text("They hold from the next question on.").first).to_be_visible()


def ask_move(page: Page, title: str) -> Locator:
    """The dialog that moves a chat, from its menu in the sidebar."""
    row = sidebar(page).locator("[class*=st-key-chat-row-]").filter(has_text=title).first
    row.hover()
    row.get_by_role("button", name="Rename, export or delete this chat").click()
    page.get_by_role("menuitem", name="Move to project").click()
    dialog = page.get_by_role("dialog", name="Move to project")
    expect(dialog).to_be_visible()
    return dialog


def choose(page: Page, dialog: Locator, name: str) -> None:
    dialog.get_by_role("combobox").click()
    page.get_by_role("option", name=name, exact=True).click()


def test_a_project_from_its_making_to_its_end(
    new_app: Callable[..., App],
    model_server: MessagesServer,
    open_page: OpenPage,
    sales: Path,
) -> None:
    app = new_app(model_url=model_server.url)
    page = open_page(*WIDE)
    page.goto(f"{app.url}/files")
    page.locator('input[data-adds="files"]').set_input_files(sales)
    row = page.locator("[class*=st-key-file-row-]").filter(has_text="sales.csv")
    expect(row.first).to_be_visible()  # what is sent stands in a list before
    sidebar(page).get_by_role("link", name="Projects").click()
    expect(page.get_by_role("heading", name="Projects", exact=True)).to_be_visible()
    address = make(page, "Quarter")
    shots(page, "project-empty")
    instruct(page, RULES)
    _add_file(page)
    _ask_in_it(page)
    _find_again(page, address)
    expect_fits(page, PHONE)
    look_at(page, *WIDE, "light")
    _move_out_and_back(page)
    _delete(page, address)


def _add_file(page: Page) -> None:
    button(page, "Add files").click()
    dialog = page.get_by_role("dialog", name="Add files")
    dialog.get_by_role("combobox", name="From your files").click()
    page.get_by_role("option", name=re.compile("sales.csv")).click()
    shot(page, "project-add-files")
    page.keyboard.press("Escape")  # ends the list alone
    dialog.get_by_role("button", name="Add", exact=True).click()
    row = page.locator("[class*=st-key-project-file-]").filter(has_text="sales.csv")
    expect(row.first).to_be_visible()


def _ask_in_it(page: Page) -> None:
    button(page, "New chat in this project").click()
    expect(composer(page)).to_be_visible()
    expect(
        page.locator(".st-key-waiting").get_by_role("button", name="sales.csv").first
    ).to_be_visible()
    expect(
        page.locator(".st-key-chat-project").get_by_role("button", name="Quarter")
    ).to_be_visible()
    ask(page, "What of the harvest?")
    expect(finished(page)).to_be_visible()
    answer = page.locator("[class*=st-key-said-]").filter(visible=True).last
    expect(answer).to_contain_text(RULES)
    button(page, "Project instructions").click()
    expect(page.get_by_test_id("stPopoverBody").get_by_text(RULES)).to_be_visible()
    shots(page, "project-chat")
    page.keyboard.press("Escape")


def _find_again(page: Page, address: str) -> None:
    page.locator(".st-key-chat-project").get_by_role("button", name="Quarter").click()
    expect(page).to_have_url(address)
    row = page.locator(".st-key-project-chat-rows").get_by_role(
        "button", name="What of the harvest?", exact=True
    )
    expect(row).to_be_visible()
    row.click()
    expect(page).to_have_url(re.compile(r"\?chat="))
    sidebar(page).get_by_role("link", name="All projects").click()
    expect(page.get_by_role("heading", name="Projects", exact=True)).to_be_visible()
    open_palette(page)
    look_for(page, "quart", "Quarter")
    page.keyboard.press("Enter")
    expect(page).to_have_url(address)
    sidebar(page).get_by_role("link", name="All projects").click()
    expect(page.get_by_role("heading", name="Projects", exact=True)).to_be_visible()
    expect(page).not_to_have_url(re.compile("id="))
    page.reload()
    expect(page.get_by_role("heading", name="Projects", exact=True)).to_be_visible()
    page.goto(address)
    expect(page.get_by_role("heading", name="Quarter", exact=True)).to_be_visible()


def _move_out_and_back(page: Page) -> None:
    dialog = ask_move(page, "What of the harvest?")
    choose(page, dialog, "No project")
    dialog.get_by_role("button", name="Move", exact=True).click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_text("Nothing was asked in this project yet.")).to_be_visible()
    dialog = ask_move(page, "What of the harvest?")
    choose(page, dialog, "Quarter")
    dialog.get_by_role("button", name="Move", exact=True).click()
    expect(dialog).to_have_count(0)
    expect(page.locator(".st-key-project-chat-rows").get_by_role("button").first).to_be_attached()


def _delete(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("button", name="Rename or delete this project").filter(visible=True).click()
    page.get_by_role("menuitem", name="Delete").click()
    dialog = page.get_by_role("dialog", name="Delete project")
    expect(dialog.get_by_text("Its chats and files stay: they only leave it.")).to_be_visible()
    dialog.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("heading", name="Projects", exact=True)).to_be_visible()
    page.goto(address)
    expect(page.get_by_text("This project was deleted, or you are not in it.")).to_be_visible()
    expect(
        sidebar(page).get_by_role("button", name="What of the harvest?", exact=True)
    ).to_be_visible()


def test_a_chat_is_shown_to_another_only_once_that_was_confirmed(
    new_app: Callable[..., App],
    model_server: MessagesServer,
    browser: Browser,
    login_provider: str,
    tmp_path: Path,
) -> None:
    app = start(partial(new_app, model_url=model_server.url), login_provider, tmp_path)
    ann = _tab(browser, app, "Ann")
    ann.goto(f"{app.url}/settings")
    ann.get_by_label("Invite by e-mail").fill("bob@example.org")
    button(ann, "Invite").click()
    expect(ann.get_by_text("joins at the next sign-in")).to_be_visible()
    bob = _tab(browser, app, "Bob")
    ann.goto(app.url)
    ask(ann, "What is secret?")
    expect(finished(ann)).to_be_visible()
    ann.goto(f"{app.url}/project")
    address = make(ann, "Shared plans")
    _bring_in(ann)
    shots(ann, "project-people")
    dialog = ask_move(ann, "What is secret?")
    choose(ann, dialog, "Shared plans")
    expect(dialog.get_by_text("will see this whole chat and can ask in it.")).to_be_visible()
    shot(ann, "project-move-shown")
    chats = bob.get_by_test_id("stSidebar").locator(".st-key-chats")
    expect(
        bob.get_by_test_id("stSidebar").get_by_role("button", name="Shared plans")
    ).to_be_visible()
    expect(chats.get_by_role("button", name="What is secret?", exact=True)).to_have_count(0)
    dialog.get_by_role("button", name="Move and show it").click()
    expect(chats.get_by_role("button", name="What is secret?", exact=True)).to_be_visible()
    bob.goto(address)
    expect(bob.get_by_text("Ann Example · host")).to_be_visible()
    expect(button(bob, "Save instructions")).to_have_count(0)


def _tab(browser: Browser, app: App, name: str) -> Page:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(app.url)
    sign_in(page, name)
    expect(composer(page)).to_be_visible()
    return page


def _bring_in(page: Page) -> None:
    page.get_by_role("combobox", name="Bring somebody in").click()
    page.get_by_role("option", name=re.compile("bob@example.org")).click()
    button(page, "Bring in").click()
    expect(page.get_by_text("· host")).to_be_visible()

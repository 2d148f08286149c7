"""The palette and saved prompts, by keyboard alone, and by hand on a telephone; titles of chats as they
come."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from bench.page import quiet
from leaf.agent import titling
from tests import axe_kit
from tests.app_process import App
from tests.browser.conftest import PATIENCE, brain
from tests.browser.test_journeys import ask, composer, finished
from tests.live_kit import wait_until
from tests.messages_server import Failure, Json, MessagesServer, Turn

OWN_PROCESSES = True


def titled(body: Json) -> Turn | Failure:
    """A model that gives titles, too."""
    return Turn.say("A title of its own") if body["system"] == titling.SYSTEM else brain(body)


@pytest.fixture(scope="module")
def home(module_app: Callable[..., App], tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with MessagesServer(titled) as server:
        yield module_app(tmp_path_factory.mktemp("palette") / "home", server.url, LEAF_TITLES="on")


def palette(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Search and commands")


def options(page: Page) -> Locator:
    return palette(page).get_by_role("option")


def open_palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    expect(palette(page)).to_be_visible()
    expect(page.get_by_role("combobox", name="Search or run a command")).to_be_focused()


def look_for(page: Page, words: str, name: str | re.Pattern[str]) -> None:
    """Type, and wait until the first line is this one."""
    page.keyboard.type(words)
    expect(options(page).first).to_contain_text(name)
    expect(options(page).first).to_have_attribute("aria-selected", "true")


def save(page: Page, prompt: str, name: str) -> None:
    """Write a prompt where the focus is, and save it by the palette."""
    page.keyboard.type(prompt)
    open_palette(page)
    look_for(page, "save what", "Save what is written as a prompt")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Save as prompt")
    expect(dialog.get_by_label("Prompt", exact=True)).to_have_value(prompt)
    dialog.get_by_label("Name").focus()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    expect(page.get_by_text("The prompt is saved.").first).to_be_visible()
    expect(dialog).to_have_count(0)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at what a process has loaded")
def test_a_page_and_its_palette_load_no_pandas(home: App, page: Page) -> None:
    """It stands first: Python and tables of later tests may. Streamlit loads it, 70 MB, to see whether a
    list that a component is given is a table."""
    page.goto(home.url)
    expect(composer(page)).to_be_focused()
    open_palette(page)
    expect(options(page).first).to_be_visible()
    assert home._process is not None
    assert "/pandas/" not in Path(f"/proc/{home._process.pid}/maps").read_text()


def test_a_chat_is_titled_by_the_model_after_its_first_answer(home: App, page: Page) -> None:
    page.goto(home.url)
    ask(page, "Something that has no title of its own yet")
    expect(finished(page)).to_be_visible()
    expect(
        page.get_by_test_id("stSidebar").get_by_role("button", name="A title of its own")
    ).to_be_visible()
    expect(page).to_have_title("A title of its own · Leaf")


def test_by_keyboard_alone_a_question_is_saved_found_and_asked_again(home: App, page: Page) -> None:
    page.goto(home.url)
    expect(composer(page)).to_be_focused()
    save(page, "Revenue of {month} by region?", "Monthly revenue")

    open_palette(page)
    look_for(page, "settings", "Settings")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    expect(page.get_by_text("Monthly revenue", exact=True)).to_be_visible()

    open_palette(page)
    look_for(page, "monthly", "Monthly revenue")
    page.keyboard.press("Enter")
    expect(composer(page)).to_have_value("Revenue of {month} by region?")
    expect(composer(page)).to_be_focused()
    chosen = composer(page).evaluate("f => f.value.slice(f.selectionStart, f.selectionEnd)")
    assert chosen == "{month}"
    page.keyboard.type("May")
    page.keyboard.press("Enter")
    expect(finished(page)).to_be_visible()
    expect(page.get_by_text("You asked: Revenue of May by region?")).to_be_visible()
    expect(composer(page)).to_have_value("")


def test_what_is_chosen_in_a_hurry_is_done_once(home: App, page: Page) -> None:
    """A choice is said again until it was heard: also when a later one was heard first."""
    page.goto(home.url)
    expect(composer(page)).to_be_focused()
    save(page, "Revenue of {month} by product?", "Product revenue")
    composer(page).fill("")
    page.keyboard.type("Hurry in {year}")
    open_palette(page)
    look_for(page, "save what", "Save what is written as a prompt")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Save as prompt")
    expect(dialog.get_by_label("Prompt", exact=True)).to_have_value("Hurry in {year}")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("Control+k")
    look_for(page, "product rev", "Product revenue")
    page.keyboard.press("Enter")
    inserted = "Hurry in {year}\nRevenue of {month} by product?"
    expect(composer(page)).to_have_value(inserted)
    page.wait_for_timeout(3_500)  # twice the time after which a choice is said again
    assert composer(page).input_value() == inserted


def test_arrows_go_round_escape_closes_and_the_focus_returns(home: App, page: Page) -> None:
    page.goto(home.url)
    expect(composer(page)).to_be_focused()
    open_palette(page)
    field = page.get_by_role("combobox", name="Search or run a command")
    expect(page.get_by_role("option", name="Files", exact=True)).to_be_visible()
    expect(palette(page).get_by_role("status")).to_contain_text("found")
    count = options(page).count()
    page.keyboard.press("ArrowUp")
    expect(options(page).nth(count - 1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(options(page).first).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", "leaf-palette-option-0")
    page.keyboard.type("nothing has these words")
    expect(palette(page).get_by_text("Nothing has these words.")).to_be_visible()
    page.keyboard.press("Enter")
    expect(palette(page)).to_be_visible()
    page.keyboard.press("Escape")
    expect(palette(page)).to_have_count(0)
    expect(composer(page)).to_be_focused()
    page.keyboard.press("Control+k")
    expect(palette(page)).to_be_visible()
    page.keyboard.press("Control+k")
    expect(palette(page)).to_have_count(0)


def test_escape_in_the_palette_stops_no_answer_and_the_command_does(home: App, page: Page) -> None:
    page.goto(home.url)
    ask(page, "Something long to stop")
    stop = page.get_by_role("button", name=re.compile("^Stop"))
    expect(stop).to_be_visible()
    open_palette(page)
    expect(options(page).first).to_contain_text("Stop the answer")
    page.keyboard.press("Escape")
    expect(palette(page)).to_have_count(0)
    expect(page.get_by_text("Paragraph 3 of")).to_be_visible()
    expect(stop).to_be_visible()
    open_palette(page)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Stopped. What was found so far is kept.")).to_be_visible()


def test_chats_and_files_are_found_and_opened(home: App, page: Page, sales: Path) -> None:
    page.goto(f"{home.url}/files")
    page.locator('input[data-adds="files"]').set_input_files(sales)
    row = page.locator("[class*=st-key-file-row-]").filter(has_text="sales.csv")
    expect(row.first).to_be_visible()  # it is there, and not only on its way
    page.goto(home.url)
    ask(page, "Where is the walrus of this chat?")
    expect(finished(page)).to_be_visible()
    address = page.url
    page.get_by_role("button", name="New chat").click()
    expect(page).not_to_have_url(address)
    open_palette(page)
    look_for(page, "walrus", re.compile("title of its own|walrus"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(address)
    open_palette(page)
    look_for(page, "sales.csv", "sales.csv")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-preview").get_by_text("sales.csv").first).to_be_visible()


def test_the_palette_opens_for_who_pressed_before_it_had_come(home: App, page: Page) -> None:
    page.goto(home.url, wait_until="domcontentloaded")
    assert page.locator(".leaf-palette-open").count() == 0
    page.keyboard.press("Control+k")
    page.keyboard.type("usagg")
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    page.keyboard.type("e")
    expect(palette(page)).to_be_visible()
    expect(page.get_by_role("combobox", name="Search or run a command")).to_have_value("usage")
    expect(options(page).first).to_contain_text("Usage")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/usage"))
    page.reload(wait_until="domcontentloaded")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.press("Tab")
    expect(page.get_by_role("heading", name="Usage")).to_be_visible()
    quiet(page)
    expect(palette(page)).to_be_hidden()


@pytest.mark.parametrize("start", ["/", "/files", "/settings"])
def test_what_is_typed_in_the_palette_stays_while_the_page_below_it_becomes_another(
    home: App, page: Page, start: str
) -> None:
    """Streamlit draws all elements of another page anew, the palette among them."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(home.url + start)
    quiet(page)
    for name in ("Usage", "Files", "New chat"):
        quiet(page)
        open_palette(page)
        look_for(page, name, name)
        page.keyboard.press("Enter")
        expect(palette(page)).to_be_hidden()
        page.keyboard.press("Control+k")
        page.keyboard.type("a keyboard", delay=80)
        page.keyboard.press("ArrowLeft")
        quiet(page)
        field = page.get_by_role("combobox", name="Search or run a command")
        expect(field).to_be_focused()
        expect(field).to_have_value("a keyboard")
        page.keyboard.type("r")
        expect(field).to_have_value("a keyboarrd")
        page.keyboard.press("Escape")
        expect(palette(page)).to_be_hidden()
    assert errors == []


def test_the_list_of_shortcuts_is_not_opened_where_something_is_written(
    home: App, page: Page
) -> None:
    page.goto(home.url)
    expect(composer(page)).to_be_focused()
    shortcuts = page.get_by_role("dialog", name="Keyboard shortcuts")
    page.keyboard.type("Why?")
    expect(composer(page)).to_have_value("Why?")
    expect(shortcuts).to_have_count(0)
    composer(page).blur()
    page.keyboard.press("?")
    expect(shortcuts).to_be_visible()
    expect(shortcuts.get_by_text("Send the question")).to_be_visible()
    page.keyboard.press("Escape")
    expect(shortcuts).to_have_count(0)


def test_a_sent_question_is_saved_changed_shared_with_nobody_and_deleted_with_undo(
    home: App, page: Page
) -> None:
    page.goto(home.url)
    ask(page, "A question to keep")
    expect(finished(page)).to_be_visible()
    page.get_by_role("button", name="Save as prompt").first.click()
    dialog = page.get_by_role("dialog", name="Save as prompt")
    expect(dialog.get_by_label("Prompt", exact=True)).to_have_value("A question to keep")
    expect(dialog.get_by_text("Share with everybody")).to_have_count(0)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    page.goto(f"{home.url}/settings")
    page.get_by_role("button", name="Change the prompt A question to keep").click()
    page.get_by_role("menuitem", name="Edit").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Kept under another name")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("Kept under another name", exact=True)).to_be_visible()
    page.get_by_role("button", name="Change the prompt Kept under another name").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_text("Deleted “Kept under another name”")).to_be_visible()
    page.locator("#stMain").get_by_role("button", name="Undo").click()
    expect(
        page.get_by_role("button", name="Change the prompt Kept under another name")
    ).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_telephone_a_button_opens_it_and_axe_finds_nothing_grave(
    home: App, browser: Browser, theme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, color_scheme=theme, has_touch=True
    )
    context.set_default_timeout(PATIENCE)
    try:
        page = context.new_page()
        page.goto(home.url)
        expect(composer(page)).to_be_visible()
        page.locator(".leaf-palette-open").tap()
        expect(options(page).first).to_be_visible()
        wait_until(lambda: options(page).count() > 3)
        assert grave(page) == []
        options(page).filter(has_text="Keyboard shortcuts").tap()
        expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
        assert grave(page) == []
        page.get_by_role("button", name="Close", exact=True).filter(visible=True).tap()
        page.get_by_role("button", name="Prompts").tap()
        expect(page.get_by_role("combobox", name="Search prompts")).to_be_focused()
        expect(options(page).filter(has_text="New prompt")).to_be_visible()
        assert grave(page) == []
    finally:
        context.close()


def grave(page: Page) -> list[str]:
    """What axe-core finds on the page as it stands."""
    page.add_style_tag(content=axe_kit.STILL)
    page.evaluate(axe_kit.SCRIPT)
    found = page.evaluate(axe_kit.RUN, {"only": [], "known": []})
    return [f"{one['rule']}: {one['html']}" for one in found if one["impact"] in axe_kit.GRAVE]

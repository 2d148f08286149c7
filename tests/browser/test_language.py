"""The language of the page, in a real browser: that of the browser, the one that was chosen, and text
that is written from right to left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.app_process import App
from tests.browser.conftest import PATIENCE
from tests.browser.test_journeys import ask, composer, finished
from tests.browser.test_sign_in import guarded, login_provider, sign_in
from tests.messages_server import MessagesServer

__all__ = ["guarded", "login_provider"]
pytestmark = pytest.mark.browser

ARABIC = "أريد مجموع المبيعات لكل منطقة."


@pytest.fixture(scope="module")
def home(
    module_app: Callable[..., App],
    model_server: MessagesServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> App:
    return module_app(tmp_path_factory.mktemp("language") / "home", model_server.url)


@pytest.fixture
def speaking(browser: Browser) -> Iterator[Callable[[str], Page]]:
    """Opens browsers that ask for a language."""
    opened: list[BrowserContext] = []

    def open_page(locale: str) -> Page:
        opened.append(browser.new_context(locale=locale, viewport={"width": 1280, "height": 900}))
        opened[-1].set_default_timeout(PATIENCE)
        return opened[-1].new_page()

    yield open_page
    for one in opened:
        one.close()


def choose(page: Page, url: str, label: str, name: str, heading: str) -> None:
    page.goto(f"{url}/settings")
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=name).click()
    expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()


def direction(said: Locator) -> str:
    """On which side of a paragraph's first letter its last mark, a full stop, stands."""
    found: str = said.evaluate(
        """(element) => {
          const found = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
          const texts = []
          while (found.nextNode()) if (found.currentNode.data.trim()) texts.push(found.currentNode)
          const at = (node, place) => {
            const range = document.createRange()
            range.setStart(node, place)
            range.setEnd(node, place + 1)
            return range.getBoundingClientRect().left
          }
          const end = texts.at(-1)
          return at(end, end.data.trimEnd().length - 1) < at(texts[0], 0) ? "right to left" : "left to right"
        }"""
    )
    return found


@pytest.mark.parametrize(
    ("locale", "title", "field", "files"),
    [
        ("de-CH", "Was möchten Sie wissen?", "Fragen Sie Ihre Dateien", "Dateien"),
        ("fr-FR", "Que voulez-vous savoir ?", "Interrogez vos fichiers", "Fichiers"),
        ("es-MX", "¿Qué quiere saber?", "Pregunte a sus archivos", "Archivos"),
        ("ja-JP", "What do you want to know?", "Ask about your files", "Files"),
    ],
)
def test_the_page_speaks_as_the_browser_asks(
    home: App, speaking: Callable[[str], Page], locale: str, title: str, field: str, files: str
) -> None:
    page = speaking(locale)
    page.goto(home.url)
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(page.get_by_placeholder(field)).to_be_visible()
    expect(page.get_by_test_id("stSidebar").get_by_text(files, exact=True)).to_be_visible()


def test_a_question_is_asked_and_found_in_german(
    home: App, speaking: Callable[[str], Page]
) -> None:
    """Live answer, evidence, menus and the palette's scripts."""
    page = speaking("de-DE")
    page.goto(home.url)
    page.get_by_placeholder("Fragen Sie Ihre Dateien").fill("hello there")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Noch einmal antworten")).to_be_visible()
    expect(page.get_by_role("button", name="Diese Antwort kopieren")).to_be_visible()
    expect(page.get_by_text("Heute")).to_be_visible()
    page.get_by_role(
        "button", name="Diesen Chat umbenennen, exportieren oder löschen"
    ).first.click()
    page.get_by_role("menuitem", name="Umbenennen").click()
    dialog = page.get_by_role("dialog", name="Chat umbenennen")
    dialog.get_by_label("Name").fill("Grüße")
    dialog.get_by_role("button", name="Umbenennen").click()
    expect(page.get_by_test_id("stSidebar").get_by_text("Grüße")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Suche und Befehle")).to_be_visible()
    expect(page.get_by_role("option", name="Neuer Chat")).to_be_visible()


def test_files_on_their_way_are_told_in_german(
    home: App, speaking: Callable[[str], Page], sales: Path
) -> None:
    page = speaking("de-DE")
    page.goto(f"{home.url}/files")
    page.get_by_label("Hinzuzufügende Dateien").set_input_files(sales)
    expect(page.get_by_role("button", name="1 von 1 Datei fertig")).to_be_visible()
    expect(page.get_by_text("Tabelle (CSV) · 3 Zeilen × 2 Spalten")).to_be_visible()


def test_a_chosen_language_stays_and_is_ones_own(
    guarded: App, page: Page, speaking: Callable[[str], Page]
) -> None:
    """Also in another browser, which asks for English; another person's page stays as it was."""
    page.goto(guarded.url)
    sign_in(page, "Ann")
    expect(composer(page)).to_be_visible()
    choose(page, guarded.url, "Language of the page", "Deutsch", "Einstellungen")
    page.reload()
    expect(page.get_by_role("heading", name="Einstellungen", exact=True)).to_be_visible()
    again = speaking("en-US")
    again.goto(guarded.url)
    sign_in(again, "Ann")
    expect(again.get_by_role("heading", name="Was möchten Sie wissen?")).to_be_visible()
    other = speaking("en-US")
    other.goto(guarded.url)
    sign_in(other, "Bob")
    expect(other.get_by_role("heading", name="What do you want to know?")).to_be_visible()
    choose(page, guarded.url, "Sprache der Seite", "Wie der Browser", "Settings")


def test_who_is_not_let_in_yet_is_told_so_in_their_language(
    guarded: App, speaking: Callable[[str], Page]
) -> None:
    page = speaking("fr-FR")
    page.goto(guarded.url)
    expect(page.get_by_role("heading", name="Interrogez vos fichiers")).to_be_visible()
    expect(page.get_by_role("button", name="Se connecter avec Firm")).to_be_visible()


def test_arabic_is_written_from_right_to_left_and_english_beside_it_is_not(
    home: App, page: Page
) -> None:
    """The question, its answer, the chat's name, and what is being typed."""
    page.goto(home.url)
    ask(page, ARABIC)
    expect(finished(page)).to_be_visible()
    composer(page).fill(ARABIC)
    assert composer(page).evaluate("(field) => getComputedStyle(field).unicodeBidi") == "plaintext"
    row = page.get_by_test_id("stSidebar").locator('[class*="st-key-chat-row-"] p').first
    assert direction(row) == "right to left"
    page.reload()
    expect(finished(page)).to_be_visible()
    question = page.locator('[class*="st-key-bubble-"] p').first
    expect(question).to_have_text(ARABIC)
    assert direction(question) == "right to left"
    answer = page.locator('[class*="st-key-said-"] p').first
    expect(answer).to_contain_text(ARABIC)
    assert direction(answer) == "left to right"  # its first word is English

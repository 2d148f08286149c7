"""What is far out of the ordinary: a chat that is deleted under its reader, a figure of two hundred
digits beside a table of twelve columns, a title in Arabic with emoji, a table of five thousand
columns, an answer of a hundred thousand words. The page stays as wide as its window, says what it shows, and goes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from bench.page import quiet
from tests.browser.conftest import PATIENCE, App, OpenPage, fits, look_at
from tests.browser.test_edits import shot
from tests.browser.test_journeys import add_by_composer, ask, composer, finished
from tests.messages_server import Json, MessagesServer, Turn

pytestmark = pytest.mark.browser

SIZES = [("light", 1440, 900), ("dark", 390, 844)]
NARROW = pytest.mark.parametrize("shown", SIZES[1:], indirect=True)
"""For what takes long: begun on a phone, and looked at wide at its end."""
FIGURE = "".join(str(n % 10) for n in range(1, 201))
TABLE = "".join(
    "| " + " | ".join(row) + " |\n" for row in (["a long head"] * 12, ["---"] * 12, [FIGURE] * 12)
)
TITLE = "ما هو مجموع المبيعات في كل منطقة؟ 🌿📈👩🏽‍💻"
COLUMNS = 5_000
WORDS = 100_000
PARAGRAPH = " ".join(["leaf"] * 99)
LONG = "\n\n".join(f"{PARAGRAPH} {n}." for n in range(1, WORDS // 100 + 1))
"""A thousand paragraphs of a hundred words, the last of each its number."""


def brain(body: Json) -> Turn:
    """What the model of these tests answers, by the words of the newest question."""
    asked = str([m for m in body["messages"] if m["role"] == "user"][-1])
    if "tool_result" in asked:
        return Turn.say(f"It is **{FIGURE}**, of one row.\n\n{TABLE}")
    if "figure" in asked:
        return Turn.call(("query_tables", {"sql": "SELECT figure, name FROM figures"}))
    if "many words" in asked:
        return Turn.say(LONG, pieces=1_000)
    if "columns" in asked:
        return Turn.say(f"There are {COLUMNS:,} columns.")
    return Turn.say("So it is.")


@pytest.fixture(scope="module")
def running(module_app: Callable[..., App]) -> Iterator[App]:
    with MessagesServer(brain) as server:
        yield module_app(model_url=server.url)


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}-{size[1]}")
def shown(request: pytest.FixtureRequest, open_page: OpenPage, running: App) -> Iterator[Page]:
    """A page of a size and a look, which says no error in its console."""
    scheme, width, height = request.param
    page = open_page(width, height, scheme)
    page.emulate_media(reduced_motion="reduce")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.goto(running.url)
    yield page
    assert errors == []


def answer(page: Page) -> Locator:
    return page.locator("[class*=st-key-answer-]").filter(visible=True).last


def widen(page: Page) -> None:
    scheme, width, height = SIZES[0]
    look_at(page, width, height, scheme)


@NARROW
def test_a_chat_that_is_deleted_in_another_tab_says_so_and_keeps_what_is_written(
    shown: Page,
) -> None:
    ask(shown, "To be deleted elsewhere")
    expect(finished(shown)).to_be_visible()
    composer(shown).fill("Half a question")
    other = shown.context.new_page()
    other.set_viewport_size({"width": 1440, "height": 900})
    other.goto(shown.url)
    expect(finished(other)).to_be_visible()
    other.get_by_role("button", name="Rename, export or delete this chat").filter(
        visible=True
    ).first.click()
    other.get_by_role("menuitem", name="Delete").click()
    expect(shown.get_by_text(re.compile("a chat that was deleted"))).to_be_visible()
    shot(shown, f"deleted-elsewhere-{shown.viewport_size['width']}")  # type: ignore[index]
    expect(composer(shown)).to_have_value("Half a question")
    ask(other, "What draws every page anew")
    expect(finished(other)).to_be_visible()
    expect(shown.get_by_text("What draws every page anew")).to_have_count(1)
    quiet(shown)
    expect(composer(shown)).to_have_value("Half a question")
    composer(shown).press("Enter")
    expect(finished(shown)).to_be_visible()
    expect(shown.get_by_text("So it is.").filter(visible=True)).to_have_count(1)


@NARROW
def test_a_figure_of_two_hundred_digits_stays_within_the_page(shown: Page, tmp_path: Path) -> None:
    file = tmp_path / "figures.csv"
    file.write_text(f"figure,name\n{FIGURE},long\n")
    add_by_composer(shown, file)
    ask(shown, f"What is the figure? {PARAGRAPH}")
    expect(finished(shown)).to_be_visible()
    said = answer(shown).get_by_text(FIGURE).first
    expect(said).to_be_visible()
    shot(shown, f"figure-{shown.viewport_size['width']}")  # type: ignore[index]
    assert fits(shown)
    box, window = said.bounding_box(), shown.viewport_size
    assert box is not None
    assert window is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= window["width"] + 1
    answer(shown).get_by_text("Queried figures: 1 row").click()
    shown.get_by_role("button", name="Open this table").filter(visible=True).click()
    panel = shown.locator(".st-key-preview")
    expect(panel.get_by_text("Rows 1–1 of 1")).to_be_visible()
    shot(shown, f"figure-rows-{window['width']}")
    assert fits(shown)
    widen(shown)
    shot(shown, "figure-rows-wide")
    assert fits(shown)
    row = shown.locator("[class*=st-key-asked-]").filter(visible=True).last
    assert row.evaluate("(row) => row.scrollWidth <= row.clientWidth + 1")  # with its buttons


@NARROW
def test_a_title_in_arabic_with_emoji_is_whole_where_it_stands(shown: Page) -> None:
    ask(shown, TITLE)
    expect(finished(shown)).to_be_visible()
    expect(shown).to_have_title(re.compile("ما هو مجموع المبيعات.*· Leaf"))
    shot(shown, f"arabic-{shown.viewport_size['width']}")  # type: ignore[index]
    assert fits(shown)
    widen(shown)
    shot(shown, "arabic-wide")
    assert fits(shown)
    shown.keyboard.press("Control+k")
    shown.keyboard.type("المبيعات")
    found = shown.get_by_role("dialog", name="Search and commands").get_by_role("option").first
    expect(found).to_contain_text("🌿📈👩🏽‍💻")
    shown.keyboard.press("Escape")
    shown.get_by_role("button", name="Export chat").filter(visible=True).click()
    with shown.expect_download() as waiting:
        shown.get_by_role("link", name="Markdown", exact=True).filter(visible=True).click()
    assert "مجموع المبيعات" in waiting.value.suggested_filename
    assert TITLE in waiting.value.path().read_text(encoding="utf-8")


@NARROW
def test_a_table_of_five_thousand_columns_is_told_asked_and_looked_at(
    shown: Page, tmp_path: Path
) -> None:
    file = tmp_path / "wide.csv"
    rows = [[f"column {n}" for n in range(COLUMNS)]]
    rows += [[str(row * n % 97) for n in range(COLUMNS)] for row in range(1, 6)]
    file.write_text("\n".join(",".join(row) for row in rows) + "\n")
    add_by_composer(shown, file)
    expect(shown.get_by_text("5 rows × 5,000 columns").first).to_be_visible()
    ask(shown, "How many columns?")
    expect(finished(shown)).to_be_visible()
    expect(answer(shown).get_by_text("There are 5,000 columns.")).to_be_visible()
    assert fits(shown)
    shown.get_by_role("button", name="wide.csv").filter(visible=True).first.click()
    panel = shown.locator(".st-key-preview")
    expect(panel.get_by_role("heading", name="wide.csv")).to_be_visible()  # while it is still read
    table = panel.locator("[data-testid=stDataFrame] canvas").first
    expect(table).to_be_visible(timeout=4 * PATIENCE)
    shot(shown, "columns-narrow")
    assert fits(shown)
    widen(shown)
    expect(table).to_be_visible()
    shot(shown, "columns-wide")
    assert fits(shown)


@NARROW
def test_an_answer_of_a_hundred_thousand_words_is_whole_and_the_next_question_is_answered(
    shown: Page,
) -> None:
    ask(shown, "Say many words")
    expect(finished(shown)).to_be_visible(timeout=4 * PATIENCE)
    said = answer(shown)
    expect(said.get_by_text(f"{WORDS // 100}.", exact=False).last).to_be_attached()
    assert said.inner_text().count("leaf") >= WORDS - WORDS // 100
    assert fits(shown)
    ask(shown, "And now?")
    expect(shown.get_by_text("So it is.").filter(visible=True)).to_be_visible()
    expect(finished(shown).last).to_be_visible()
    shot(shown, "words-narrow")
    widen(shown)
    shot(shown, "words-wide")
    assert fits(shown)
    shown.reload()
    expect(shown.get_by_text("So it is.").filter(visible=True)).to_be_visible()

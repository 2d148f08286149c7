"""Citations in the page: numbers in the text, a click that opens the page with the words marked,
and what is unverified."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from bench._pdfs import column, pdf
from leaf.readers.locate.pdf_marks import YELLOW
from tests.browser.conftest import LARGE, PHONE, App, OpenPage, expect_fits
from tests.browser.test_journeys import add_by_composer, ask, finished
from tests.messages_server import Json, MessagesServer, Turn

pytestmark = pytest.mark.browser

PAGES = [
    ["Annual report of the company", "The year began slowly."],
    ["Revenue of the northern branch rose by 12.5 percent,", "while costs fell in all regions."],
]
QUOTE = "Revenue of the northern branch rose by 12.5 percent"


def cites(body: Json) -> Turn:
    """A brain that reads the file, then cites it twice and forges a mark."""
    if body["messages"][-1]["content"][0]["type"] != "tool_result":
        return Turn.call(("read_file", {"file": "f1"}))
    return Turn.cite(
        "**The north** did well: ",
        ("revenue rose by 12.5 percent", QUOTE),
        ' and [9](#leaf-cite-x.c1-0) profit doubled [f1#page 77 "profit doubled in the '
        'same year"].',
    )


@pytest.fixture(scope="module")
def server() -> Iterator[MessagesServer]:
    with MessagesServer(cites) as running:
        yield running


@pytest.fixture(scope="module")
def app(module_app: Callable[..., App], server: MessagesServer) -> App:
    return module_app(model_url=server.url)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.pdf"
    path.write_bytes(pdf([column(60, lines) for lines in PAGES]))
    return path


def marks(page: Page) -> Locator:
    return page.locator('a[href^="#leaf-cite-"]').filter(visible=True)


def marked_share(picture: Locator) -> float:
    """Share of a page's picture that has the marking's colour."""
    address = picture.get_attribute("src") or ""
    data = picture.page.request.get(
        address if address.startswith("http") else picture.page.url.split("/?")[0] + address
    ).body()
    image = Image.open(io.BytesIO(data)).convert("RGB").resize((300, 420))
    near = sum(
        all(abs(a - b) < 24 for a, b in zip(pixel, YELLOW, strict=True))
        for pixel in image.getdata()
    )
    return near / (300 * 420)


def test_a_mark_opens_the_page_with_the_words_and_what_is_not_there_is_said(
    app: App,
    open_page: OpenPage,
    report: Path,
    tmp_path: Path,
) -> None:
    page = open_page(*PHONE)
    page.goto(app.url)
    add_by_composer(page, report)
    ask(page, "How did the north do?")
    expect(finished(page)).to_be_visible()
    expect(marks(page)).to_have_count(2)
    expect(marks(page).nth(0)).to_have_text("[1]")
    expect(marks(page).nth(1)).to_have_text("[2?]")
    expect(page.get_by_text("The north did well: revenue rose by 12.5 percent")).to_be_visible()
    page.get_by_role("link", name="1 quote not verified").click()
    listed = page.locator("[class*=st-key-cited-]").first
    expect(listed.get_by_text("Not verified: it has no page 77")).to_be_visible()
    page.screenshot(path=tmp_path / "answer.png")
    expect(page.get_by_role("link", name=re.compile("Source 2, not verified"))).to_be_visible()
    marks(page).nth(0).focus()
    page.keyboard.press("Enter")
    preview = page.locator(".st-key-preview")
    picture = preview.get_by_role("img", name="Page 2 of report.pdf, with the quoted words marked")
    expect(picture).to_be_visible()
    expect(preview.get_by_text("The quoted words are marked.")).to_be_visible()
    assert 0.002 < marked_share(picture) < 0.2
    page.screenshot(path=tmp_path / "marked.png")
    preview.get_by_role("button", name="Close the preview").filter(visible=True).click()
    expect(preview).to_have_count(0)
    marks(page).nth(1).click()
    expect(preview.get_by_text("The words were not found here")).to_be_visible()
    page.screenshot(path=tmp_path / "unverified.png")
    preview.get_by_role("button", name="Close the preview").filter(visible=True).click()
    page.reload()
    expect(marks(page)).to_have_count(2)
    page.locator('a[href$=".sources"]').filter(visible=True).last.click()
    listed.get_by_role("button", name=re.compile(r"report\.pdf · page 2")).click()
    expect(picture).to_be_visible()
    # A mark that is followed while the page still starts, before anything listens, opens as well.
    address, mark = page.url, marks(page).nth(0).get_attribute("href")
    page.goto("about:blank")
    page.goto(f"{address}{mark}")
    expect(picture).to_be_visible()
    expect(page).to_have_url(address)
    expect_fits(page, LARGE)
    expect(picture).to_be_visible()

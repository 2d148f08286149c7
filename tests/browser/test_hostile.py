"""Names, cells, texts and exports that would act: in a real browser nothing of them runs, and nothing
is asked of anybody outside."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pypdf
import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import BrowserContext, Download, Locator, Page, expect

from tests.browser.conftest import HOSTILE, App
from tests.browser.test_journeys import add_by_composer, ask, finished
from tests.messages_server import MODELS, Json, MessagesServer, Turn

pytestmark = pytest.mark.browser

IMG = '<img src="https://evil.example/cell.png" onerror="window.acted=1">'
PICTURE = "![p](https://evil.example/picture.png)"
NAMES = (*MODELS, PICTURE, IMG, "[m](javascript:window.acted=1)", "https://evil.example/model")
"""What the server calls its models."""
FILE = "sales <img src=x onerror=window.acted=1> ![x](http:evil.example&sol;a.png).csv"
ROWS = [[IMG, 3], [PICTURE, 2], ["https://evil.example/link", 1]]
CHART = {
    "title": f"{IMG} {PICTURE}",
    "mark": "bar",
    "encoding": {
        "x": {"field": "kind", "type": "nominal"},
        "y": {"field": "n", "type": "quantitative"},
    },
}
SAID = f"{HOSTILE}\n[web](https://good.example/page) [run](javascript:window.acted=1) {IMG}\n"
OUTSIDE = re.compile(r"(?!(?:https?|ws)://127\.0\.0\.1[:/]|data:|blob:|file:|about:)")
ALLOWED = ("https://", "http://", "mailto:")


def brain(body: Json) -> Turn:
    if body["messages"][-1]["content"][0]["type"] == "tool_result":
        return Turn.say(SAID)
    rows = ", ".join(f"('{kind}', {n})" for kind, n in ROWS)
    sql = f"SELECT * FROM (VALUES {rows}) AS t(kind, n)"
    return Turn.call(
        ("make_chart", {"spec": CHART, "sql": sql}),
        ("create_document", {"title": f"Live {PICTURE}", "content": SAID}),
    )


class Watch:
    """What a browser asked for, and whether anything ran."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.asked: list[str] = []
        self.dialogs: list[str] = []
        context.on("request", lambda request: self.asked.append(request.url))
        context.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def check(self, *pages: Page) -> None:
        assert [url for url in self.asked if OUTSIDE.match(url)] == []
        assert self.dialogs == []
        for page in pages:
            assert page.evaluate("window.acted") is None
            acting = "img[src*='evil'], a[href^='javascript:'], a[href^='data:'], a[href^='file:']"
            assert page.locator(acting).evaluate_all("all => all.map(one => one.outerHTML)") == []

    def open(self, path: Path) -> Page:
        """A file as whoever got it opens it."""
        page = self.context.new_page()
        page.goto(path.as_uri(), wait_until="load")
        return page


@pytest.fixture(scope="module")
def app(module_app: Callable[..., App]) -> Iterator[App]:
    with MessagesServer(brain, models=NAMES) as server:
        yield module_app(model_url=server.url)


@pytest.fixture
def context(own_context: BrowserContext) -> BrowserContext:
    return own_context  # to be watched


@pytest.fixture
def asked(app: App, page: Page, tmp_path: Path) -> Page:
    """A chat whose file, chart, document and answer are hostile."""
    path = tmp_path / FILE
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["kind", "n"], *ROWS])
    page.goto(app.url)
    add_by_composer(page, path)
    return page


def test_names_cells_and_exports_of_others_do_nothing(
    asked: Page, context: BrowserContext, tmp_path: Path
) -> None:
    watch = Watch(context)
    _open_models(asked)
    _hover_names(asked)
    ask(asked, "Show all of it")
    expect(asked.get_by_text("what I found").first).to_be_visible()
    expect(finished(asked)).to_be_visible()
    _hover_chart(asked)
    watch.check(asked)
    for path in _taken(asked, tmp_path):
        for opened in _rendered(path, tmp_path):
            watch.check(watch.open(opened))
    watch.check(asked)


def _open_models(page: Page) -> None:
    page.locator(".st-key-model button").filter(visible=True).first.click()
    choices = page.get_by_role("radiogroup")
    expect(choices.get_by_text("Evil", exact=False).first).to_be_visible()
    assert choices.get_by_role("radio").count() == len(NAMES)
    assert choices.locator("a, img").count() == 0
    page.keyboard.press("Escape")


def _hover_names(page: Page) -> None:
    """What a button says of itself when it is pointed at."""
    button = page.get_by_role("button", name=re.compile("^Leave out sales")).filter(visible=True)
    button.hover()
    tip = page.get_by_test_id("stTooltipContent").or_(page.get_by_role("tooltip")).first
    expect(tip).to_contain_text("<img")
    assert tip.locator("a, img").count() == 0
    page.mouse.move(0, 0)


def _hover_chart(page: Page) -> None:
    chart = page.locator("[class*=st-key-chart-]").locator("canvas, svg.marks").first
    expect(chart).to_be_visible()
    chart.scroll_into_view_if_needed()
    tip = page.locator("#vg-tooltip-element")
    texts = [_tooltip(page, chart, tip, share) for share in (0.3, 0.5, 0.8)]
    assert any("<img" in text for text in texts), texts
    assert tip.locator("a, img").count() == 0
    page.mouse.move(0, 0)


def _tooltip(page: Page, chart: Locator, tip: Locator, share: float) -> str:
    box = chart.bounding_box()
    assert box is not None
    for height in range(95, 40, -5):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] * height / 100)
        page.wait_for_timeout(60)
        if tip.count() and "visible" in str(tip.get_attribute("class")):
            return tip.inner_text()
    return ""


def _taken(page: Page, folder: Path) -> Iterator[Path]:
    """The answer, the chat and the document, as a person downloads them."""
    yield _kept(page, page.get_by_role("link", name="Download as Markdown"), folder / "answer.md")
    panel = page.locator(".st-key-preview")
    yield _kept(page, panel.get_by_role("link", name="MD", exact=True), folder / "document.md")
    yield _kept(page, panel.get_by_role("link", name="PDF", exact=True), folder / "document.pdf")
    panel.get_by_role("button", name="Close the preview").click()
    page.get_by_role("button", name="Export chat").filter(visible=True).click()
    for label, name in (("Markdown", "chat.md"), ("Notebook", "chat.ipynb"), ("PDF", "chat.pdf")):
        yield _kept(page, page.get_by_role("link", name=label, exact=True), folder / name)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Pin", exact=False).filter(visible=True).first.click()
    page.get_by_role("link", name="Board").filter(visible=True).first.click()
    page.get_by_role("button", name="Export", exact=True).filter(visible=True).click()
    yield _kept(page, page.get_by_role("link", name="Web page"), folder / "board.html")


def _kept(page: Page, button: Locator, path: Path) -> Path:
    with page.expect_download() as waiting:
        button.filter(visible=True).first.click()
    came: Download = waiting.value
    came.save_as(path)
    return path


def _rendered(path: Path, folder: Path) -> Iterator[Path]:
    """Pages that show a file as programs do that draw HTML within Markdown. Of a PDF the links are
    looked at."""
    if path.suffix == ".html":
        yield path
    elif path.suffix == ".pdf":
        links = list(_links(path.read_bytes()))
        assert "https://good.example/page" in links
        assert all(link.startswith(ALLOWED) for link in links), links
    else:
        text = path.read_text(encoding="utf-8")
        cells = [text]
        if path.suffix == ".ipynb":
            found = [c for c in json.loads(text)["cells"] if c["cell_type"] == "markdown"]
            cells = ["".join(cell["source"]) for cell in found]
        drawn = "\n".join(
            MarkdownIt("commonmark", {"html": True}).enable("table").render(c) for c in cells
        )
        assert "good.example/page" in html.unescape(drawn)
        page = folder / f"{path.name}.html"
        page.write_text(f"<!doctype html><meta charset=utf-8>{drawn}", encoding="utf-8")
        yield page


def _links(pdf: bytes) -> Iterator[str]:
    for page in pypdf.PdfReader(io.BytesIO(pdf)).pages:
        for note in page.get("/Annots") or ():
            action = note.get_object().get("/A") or {}
            assert set(action) <= {"/S", "/URI", "/Type", "/D"}, action
            if action.get("/URI"):
                yield str(action["/URI"])

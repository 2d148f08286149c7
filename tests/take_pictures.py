"""The pictures of the README and of docs/use.md: the app over files made here with a scripted model,
in light and in dark. `make pictures`."""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.app_process import ROOT, App
from tests.browser.conftest import CHROMIUM_FLAGS, find_chromium
from tests.browser.test_journeys import add_by_composer, ask, file_field, finished
from tests.drive_server import ANA, DriveServer, fill
from tests.messages_server import MessagesServer
from tests.pictures_analyst import (
    CONTRACT,
    LEADS,
    MINUTES,
    SPREAD,
    TOTALS,
    Analyst,
    write_files,
)

FOLDER = ROOT / "docs" / "pictures"
MOST_BYTES = 120_000
"""Of one picture; tests/test_docs.py says how large they may be together."""
PATIENCE = 120_000
"""Milliseconds."""
WIDTH, HEIGHT = 1280, 820


def main() -> int:
    expect.set_options(timeout=PATIENCE)
    with (
        tempfile.TemporaryDirectory(prefix="leaf-pictures-") as folder,
        MessagesServer(Analyst()) as server,
        DriveServer() as google,
    ):
        write_files(Path(folder))
        fill(google)
        drive = google.settings()
        app = App(
            Path(folder) / "home",
            server.url,
            LEAF_MODEL="claude-sonnet-5-5",
            LEAF_PUBLIC_LINKS="on",
            OAUTHLIB_INSECURE_TRANSPORT="1",
            LEAF_GOOGLE_CLIENT_ID=drive.client_id,
            LEAF_GOOGLE_CLIENT_SECRET=drive.client_secret,
            LEAF_GOOGLE_API_URL=drive.api_url,
            LEAF_GOOGLE_AUTH_URL=drive.auth_url,
            LEAF_GOOGLE_TOKEN_URL=drive.token_url,
            LEAF_GOOGLE_REVOKE_URL=drive.revoke_url,
        ).start()
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=find_chromium(), args=CHROMIUM_FLAGS
                )
                for take in (
                    _sample,
                    _board,
                    _words,
                    _workbook,
                    _contract,
                    _document,
                    _python,
                    _places,
                ):
                    take(browser, app, Path(folder))
                browser.close()
        finally:
            app.stop()
    return 0


def _sample(browser: Browser, app: App, _folder: Path) -> None:
    """The first minute, an answer, what it rests on, all its rows, and the ways out."""
    page = _page(browser, "light")
    page.goto(app.url)
    page.get_by_role("button", name="Try it with sample data").click()
    expect(page.get_by_role("button", name="Leave out sample_orders.csv")).to_be_visible()
    expect(page.locator(".st-key-suggestions button").first).to_be_visible()
    page.locator(".st-key-overviews summary").first.click()
    expect(page.locator(".st-key-overviews").locator("canvas, svg.marks").first).to_be_visible()
    _take(page, "begin")
    ask(page, LEADS)
    _whole(page)
    page.set_viewport_size({"width": WIDTH, "height": 1240})
    page.reload()
    _whole(page)
    _take(page, "answer")
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.get_by_role("button", name="Export chat").click()
    expect(page.get_by_role("link", name="Folder (ZIP)")).to_be_visible()
    _take(page, "export")
    page.keyboard.press("Escape")
    dark = _page(browser, "dark")
    dark.goto(page.url)
    _whole(dark)
    dark.locator('a[href^="#leaf-figure-"]').filter(visible=True).first.click()
    panel = dark.locator(".st-key-preview")
    expect(panel.get_by_text("Cell: row 1, column revenue")).to_be_visible()
    expect(panel.locator("[data-testid=stDataFrame] canvas").first).to_be_visible()
    _take(dark, "receipt")
    panel.get_by_role("button", name="Open all", exact=False).first.click()
    expect(panel.get_by_role("combobox", name="Sort by")).to_be_visible()
    expect(panel.locator("[data-testid=stDataFrame] canvas").first).to_be_visible()
    _take(dark, "rows")


def _board(browser: Browser, app: App, _folder: Path) -> None:
    """A chart and its rows on a board, and the board as anyone sees it who has its link."""
    page = _page(browser, "light")
    page.goto(app.url)
    page.locator(".st-key-chats button").filter(has_text="Which region leads").first.click()
    _whole(page)
    page.get_by_role("button", name="Pin to board").filter(visible=True).first.click()
    expect(page.get_by_text("Pinned to “Board”.")).to_be_visible()
    page.goto(f"{app.url}/board")
    card = page.locator("[class*=st-key-pin-card-]").filter(visible=True).first
    expect(card.locator("canvas, svg.marks").first).to_be_visible()
    card.get_by_text("Query and files").click()
    expect(card.get_by_text("GROUP BY region")).to_be_visible()
    _take(page, "board")
    page.get_by_role("button", name="Share by link").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Create link").click()
    expect(dialog.get_by_text("Copy it now")).to_be_visible()
    _take(page, "link")


def _words(browser: Browser, app: App, _folder: Path) -> None:
    """A saved prompt in Settings, and the palette with what it finds."""
    page = _page(browser, "light")
    page.goto(f"{app.url}/settings")
    page.get_by_role("button", name="New prompt").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Revenue of a month")
    dialog.get_by_label("Prompt", exact=True).fill("What was the revenue of {month} by region?")
    _take(page, "prompt")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Change the prompt Revenue of a month")).to_be_visible()
    dark = _page(browser, "dark")
    dark.goto(app.url)
    expect(dark.locator("[data-testid=stChatInputTextArea]")).to_be_visible()
    dark.keyboard.press("Control+k")
    palette = dark.get_by_role("dialog", name="Search and commands")
    expect(palette).to_be_visible()
    dark.keyboard.type("re")
    expect(palette.get_by_role("option").filter(has_text="Revenue of a month")).to_be_visible()
    expect(palette.get_by_role("option").filter(has_text="Which region leads")).to_be_visible()
    _take(dark, "palette")


def _workbook(browser: Browser, app: App, folder: Path) -> None:
    page = _asked(browser, app, "light", folder / "Q3 sales.xlsx", TOTALS)
    page.locator("[class*=st-key-came-]").get_by_role("button", name="Q3 sales.xlsx").click()
    expect(page.locator(".st-key-preview").get_by_text("Rows 1–8 of 8")).to_be_visible()
    expect(page.locator(".st-key-preview [data-testid=stDataFrame] canvas").first).to_be_visible()
    _take(page, "workbook")


def _contract(browser: Browser, app: App, folder: Path) -> None:
    page = _asked(browser, app, "light", folder / "contract.pdf", CONTRACT)
    page.locator('a[href^="#leaf-cite-"]').filter(visible=True).first.click()
    expect(
        page.locator(".st-key-preview").get_by_text("The quoted words are marked.")
    ).to_be_visible()
    _take(page, "quote")


def _document(browser: Browser, app: App, folder: Path) -> None:
    page = _asked(browser, app, "dark", folder / "planning call.vtt", MINUTES)
    expect(page.locator(".st-key-preview").get_by_text("Open questions")).to_be_visible()
    _take(page, "document")


def _python(browser: Browser, app: App, _folder: Path) -> None:
    page = _page(browser, "dark")
    page.goto(f"{app.url}/files")
    row = page.locator("[class*=st-key-file-row-]").filter(has_text="sample_orders.csv")
    row.get_by_role("button", name="Ask").filter(visible=True).click()
    expect(page.get_by_role("button", name="Leave out sample_orders.csv")).to_be_visible()
    page.set_viewport_size({"width": WIDTH, "height": 1400})
    ask(page, SPREAD)
    _whole(page)
    expect(page.locator("[class*=st-key-figures-] img")).to_be_visible()
    page.locator("[class*=st-key-step-] summary").filter(visible=True).last.click()
    expect(page.get_by_text("import matplotlib")).to_be_visible()
    page.get_by_text(SPREAD).last.scroll_into_view_if_needed()
    _take(page, "python")


def _places(browser: Browser, app: App, folder: Path) -> None:
    """Files, Drive and Usage."""
    page = _page(browser, "light")
    page.goto(f"{app.url}/files")
    file_field(page)
    page.locator("input[type=file][webkitdirectory]").set_input_files(folder / "shops")
    rows = page.locator(".st-key-file-rows")
    expect(rows.get_by_role("button", name="sales-q4.csv", exact=False)).to_have_count(2)
    expect(page.get_by_text("8 of 8 files ready").first).to_be_visible()
    _take(page, "folder")
    page.goto(f"{app.url}/usage")
    expect(page.get_by_role("heading", name="By chat")).to_be_visible()
    expect(page.locator("[data-testid=stVegaLiteChart] :is(canvas, svg)").first).to_be_visible()
    _take(page, "usage")
    dark = _page(browser, "dark")
    dark.goto(f"{app.url}/drive")
    dark.get_by_role("button", name="Connect Google Drive").filter(visible=True).first.click()
    dark.get_by_role("link", name=f"Allow as {ANA}").click()
    dark.get_by_role("button", name="Reports 2026").filter(visible=True).first.click()
    expect(dark.get_by_role("button", name="sales.csv").filter(visible=True).first).to_be_visible()
    _take(dark, "drive")


def _asked(browser: Browser, app: App, scheme: str, file: Path, question: str) -> Page:
    """A page with the whole answer to a question about a file."""
    page = _page(browser, scheme)
    page.goto(app.url)
    add_by_composer(page, file)
    ask(page, question)
    _whole(page)
    return page


def _whole(page: Page) -> None:
    """Until the newest answer is finished and its chart, if it has one, is drawn."""
    expect(finished(page)).to_be_visible()
    charts = page.locator("[data-testid=stVegaLiteChart]").filter(visible=True)
    if charts.count():
        expect(charts.first.locator("canvas, svg").first).to_be_visible()
    page.wait_for_load_state("networkidle")


def _page(browser: Browser, scheme: str) -> Page:
    context = browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    context.set_default_timeout(PATIENCE)
    return context.new_page()


def _take(page: Page, name: str) -> None:
    """256 colours are enough for a page, and make it small without blurring its words."""
    page.mouse.move(0, 0)
    expect(page.get_by_role("tooltip")).to_have_count(0)
    page.wait_for_load_state("networkidle")
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    picture = (
        Image.open(io.BytesIO(page.screenshot(animations="disabled")))
        .convert("RGB")
        .quantize(256, dither=Image.Dither.NONE)
        .convert("RGB")
    )
    path = FOLDER / f"{name}.webp"
    picture.save(path, "WEBP", lossless=True, method=4)
    size = path.stat().st_size
    print(f"{path.name}: {size:,} bytes")
    assert size < MOST_BYTES, f"{path.name} is too large"


if __name__ == "__main__":
    sys.exit(main())

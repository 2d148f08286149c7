"""The pictures of the README: the app over its own sample data with a scripted model, in light and
in dark. `make pictures`."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path

import duckdb
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from leaf.files.sample import sample_files
from tests.app_process import ROOT, App
from tests.browser.conftest import CHROMIUM_FLAGS
from tests.messages_server import Json, MessagesServer, Turn

FOLDER = ROOT / "docs" / "pictures"
MOST_BYTES = 200_000
PATIENCE = 120_000
"""Milliseconds."""
QUESTION = "Which region leads, and who approves returns there?"
BY_REGION = (
    "SELECT region, round(sum(revenue), 2) AS revenue, count(*) AS orders FROM sample_orders "
    "GROUP BY region ORDER BY revenue DESC"
)
CHART = {
    "mark": "bar",
    "title": "Revenue by region, 2025",
    "encoding": {
        "x": {"field": "revenue", "type": "quantitative"},
        "y": {"field": "region", "type": "nominal", "sort": "-x"},
    },
}


def main() -> int:
    expect.set_options(timeout=PATIENCE)
    with (
        tempfile.TemporaryDirectory(prefix="leaf-pictures-") as folder,
        MessagesServer(Analyst()) as server,
    ):
        app = App(Path(folder) / "home", server.url, LEAF_MODEL="claude-sonnet-5-5").start()
        try:
            with sync_playwright() as playwright:
                chromium = shutil.which("chromium") or shutil.which("chromium-browser")
                browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
                chat = _answer(browser, app)
                _receipt(browser, chat)
                browser.close()
        finally:
            app.stop()
    return 0


class Analyst:
    """A model that has read the sample: its figures are counted here, so that they have
    receipts."""

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "orders.csv"
            path.write_bytes(sample_files()["sample_orders.csv"])
            self._rows = duckdb.sql(
                BY_REGION.replace("sample_orders", f"read_csv('{path}')")
            ).fetchall()

    def __call__(self, body: Json) -> Turn:
        if not body.get("tools"):
            return Turn.say("Leading region")
        if body["messages"][-1]["content"][0]["type"] == "tool_result":
            return Turn.say(self._answer())
        return Turn.call(
            ("make_chart", {"sql": BY_REGION, "spec": CHART}),
            ("read_file", {"file": "f2"}),
            thinking="I add up the revenue by region and read the policy.",
        )

    def _answer(self) -> str:
        (first, most, _), (second, next_most, _) = self._rows[:2]
        share = most / sum(revenue for _, revenue, _ in self._rows)
        rows = "\n".join(
            f"| {region} | {revenue:,.2f} | {orders:,} |" for region, revenue, orders in self._rows
        )
        return (
            f"**{first}** leads with a revenue of **{most:,.2f}**, {share:.1%} of the year's "
            f"total; {second} follows with "
            f"{next_most:,.2f}.\n\n| region | revenue | orders |\n|---|---:|---:|\n{rows}\n\n"
            f"In {first}, returns above 800 euros are approved by the region itself; elsewhere "
            f"the regional manager "
            "approves those above 500."
        )


def _answer(browser: Browser, app: App) -> str:
    """The answer with its chart, in light. Returns the address of the chat."""
    page = _page(browser, "light", 1310)
    page.goto(app.url)
    page.get_by_role("button", name="Try it with sample data").click()
    expect(page.get_by_role("button", name="Leave out sample_orders.csv")).to_be_visible()
    page.get_by_test_id("stChatInputTextArea").fill(QUESTION)
    page.get_by_test_id("stChatInputTextArea").press("Enter")
    expect(page.get_by_role("button", name="Answer again").filter(visible=True)).to_be_visible()
    expect(
        page.locator(
            "[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg"
        ).first
    ).to_be_visible()
    page.get_by_text(QUESTION).last.scroll_into_view_if_needed()
    _take(page, "answer-light.png")
    return page.url


def _receipt(browser: Browser, chat: str) -> None:
    """What a figure rests on, in dark."""
    page = _page(browser, "dark", 900)
    page.goto(chat)
    expect(page.get_by_role("button", name="Answer again").filter(visible=True)).to_be_visible()
    page.wait_for_load_state("networkidle")
    page.locator('a[href^="#leaf-figure-"]').filter(visible=True).first.click()
    expect(
        page.locator(".st-key-preview").get_by_text("Cell: row 1, column revenue")
    ).to_be_visible()
    _take(page, "receipt-dark.png")


def _page(browser: Browser, scheme: str, height: int) -> Page:
    context = browser.new_context(viewport={"width": 1280, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    return context.new_page()


def _take(page: Page, name: str) -> None:
    """256 colours are enough for a page, and a third of the bytes."""
    page.mouse.move(0, 0)
    page.wait_for_load_state("networkidle")
    picture = (
        Image.open(io.BytesIO(page.screenshot(animations="disabled")))
        .convert("RGB")
        .quantize(256, dither=Image.Dither.NONE)
    )
    picture.save(FOLDER / name, optimize=True)
    size = (FOLDER / name).stat().st_size
    print(f"{name}: {size:,} bytes")
    assert size < MOST_BYTES, f"{name} is too large for the README"


if __name__ == "__main__":
    sys.exit(main())

"""What a file holds before anybody asks, the questions that can be pressed, and that those which come
under an answer move nothing that is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import App, OpenPage
from tests.browser.test_journeys import ask, file_field, finished
from tests.browser.test_python import shot
from tests.live_kit import wait_until

pytestmark = pytest.mark.browser

ROWS = "day,region,product,revenue\n" + "".join(
    f"2024-{1 + i // 28:02d}-{1 + i % 28:02d},{('North', 'South', 'East')[i % 3]},"
    f"{('Desk', 'Lamp')[i % 2]},{100 + i * 7 % 90 + (i % 3) * 40}\n"
    for i in range(28 * 9)
    if not 60 <= i < 64
)


def top_of(page: Page, words: str) -> float:
    box = page.get_by_text(words).filter(visible=True).first.bounding_box()
    assert box
    return box["y"]


@pytest.mark.parametrize(
    ("scheme", "width", "height"),
    [("light", 1440, 900), ("dark", 390, 844)],
)
def test_a_file_is_told_in_short_and_questions_follow_without_a_jump(
    module_app: Callable[..., App],
    open_page: OpenPage,
    tmp_path: Path,
    scheme: str,
    width: int,
    height: int,
) -> None:
    sales = tmp_path / "sales.csv"
    sales.write_text(ROWS, encoding="utf-8")
    page = open_page(width, height, scheme)
    page.goto(module_app(tmp_path / "home").url)
    file_field(page).set_input_files(sales)
    told = page.locator(".st-key-overviews")
    expect(told.get_by_text("2024-01-01 to 2024-09-28")).to_be_visible()
    expect(told.get_by_text("248 rows × 4 columns")).to_be_visible()
    expect(told.locator("canvas, svg.marks").first).to_be_visible()
    questions = page.locator(".st-key-suggestions button")
    expect(questions).to_have_count(3)
    shot(page, f"overview-{scheme}-{width}")

    questions.first.click()
    expect(finished(page)).to_be_visible()
    follow = page.locator(".st-key-follow-ups button")
    expect(follow).to_have_count(3)
    for button in follow.all():
        box = button.bounding_box()
        assert box
        assert box["height"] >= 24
        assert box["x"] + box["width"] <= width
    shot(page, f"follow-ups-{scheme}-{width}")

    ask(page, "total revenue by region")
    expect(finished(page)).to_have_count(2)
    answer = page.locator("[class*=st-key-answer-]").last
    before = answer.bounding_box()
    expect(page.locator(".st-key-follow-ups button").filter(visible=True)).to_have_count(3)
    page.wait_for_timeout(1500)
    after = answer.bounding_box()
    assert before
    assert after
    assert abs(after["y"] - before["y"]) <= 2
    expect(page.locator(".st-key-follow-ups")).to_have_count(1)

    first = page.locator(".st-key-follow-ups button").first
    wanted = first.inner_text().removeprefix("north_east").strip()
    first.focus()
    page.keyboard.press("Enter")
    expect(finished(page)).to_have_count(3)
    expect(page.locator("[class*=st-key-bubble-]").last).to_contain_text(wanted)
    expect(page.get_by_text("I did not understand")).to_have_count(0)
    shot(page, f"followed-{scheme}-{width}")

    ask(page, "profit by region")
    expect(finished(page)).to_have_count(4)
    page.get_by_text("total revenue by region").last.click()
    expect(finished(page)).to_have_count(5)
    asked = page.locator("[class*=st-key-bubble-]").last
    expect(asked).to_contain_text("total revenue by region")
    wait_until(lambda: (asked.bounding_box() or {"y": height})["y"] < height / 4)
    shot(page, f"pressed-{scheme}-{width}")

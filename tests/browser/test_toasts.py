"""A toast given in a callback, before the script has drawn anything, leaves the page's styles where
they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leaf.ui import frame
from tests.browser.conftest import App
from tests.browser.test_python import shot
from tests.live_kit import wait_until

pytestmark = pytest.mark.browser

SCRIPT = f"""
import time
from pathlib import Path
import streamlit as st
from leaf.ui import frame

def say(words):
    st.toast(words)

@st.fragment
def part():
    st.button("In a part", on_click=say, args=("Said in a part.",))

time.sleep(0.4)
frame.style(Path({str(Path(frame.__file__).with_name("assets") / "leaf.css")!r}))
st.title("Page")
st.button("In the page", on_click=say, args=("Said in the page.",))
part()
"""
"""What comes before the styles takes its time, as where a session is looked up: so a page without
them would be seen."""
WATCH = """() => {
    window.bare = 0; window.frames_seen = 0;
    const look = () => {
        window.frames_seen += 1;
        if (!getComputedStyle(document.documentElement).getPropertyValue('--leaf-paper')) window.bare += 1;
        requestAnimationFrame(look);
    };
    look();
}"""


@pytest.mark.parametrize(
    ("button", "said"), [("In the page", "Said in the page."), ("In a part", "Said in a part.")]
)
def test_a_toast_of_a_callback_leaves_the_styles(
    new_app: Callable[..., App], page: Page, tmp_path: Path, button: str, said: str
) -> None:
    script = tmp_path / "toasts.py"
    script.write_text(SCRIPT)
    page.goto(new_app(script=str(script), PYTHONPATH=str(Path(frame.__file__).parents[2])).url)
    expect(page.get_by_role("button", name=button)).to_be_visible()
    paper = "getComputedStyle(document.documentElement).getPropertyValue('--leaf-paper')"
    wait_until(lambda: page.evaluate(paper))
    top = page.get_by_role("heading", name="Page").bounding_box()
    page.evaluate(WATCH)
    page.get_by_role("button", name=button).click()
    expect(page.get_by_text(said)).to_be_visible()
    shot(page, f"toast-{button}")
    expect(
        page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
    ).to_have_count(1)
    assert page.evaluate("[window.bare, window.frames_seen > 3]") == [0, True]
    assert page.get_by_role("heading", name="Page").bounding_box() == top


def test_the_styles_take_no_room(new_app: Callable[..., App], page: Page) -> None:
    page.goto(new_app().url)
    expect(page.get_by_placeholder("Ask").or_(page.get_by_role("textbox")).first).to_be_visible()
    holder = page.locator('[data-testid="stElementContainer"]:has(> .stHtml > style)')
    expect(holder).to_have_count(1)
    assert not holder.is_visible()

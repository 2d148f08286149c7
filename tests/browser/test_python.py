"""Python in the page: code, output, tables, figures and errors in their steps, and the question
before a package is installed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leaf.sandbox.confine import confinement
from tests.browser.conftest import App
from tests.browser.test_journeys import add_by_composer, ask, finished, open_steps
from tests.messages_server import MessagesServer, Turn

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        confinement().kind != "landlock", reason="this machine cannot confine Python"
    ),
]
PLOT = """# Plotted revenue by region
import matplotlib.pyplot as plt
totals = sales.groupby('region').revenue.sum()
totals.plot(kind='bar', title='Revenue')
print('the largest is', totals.idxmax())
totals"""


def shot(page: Page, name: str) -> None:
    """A picture of the page for whoever wants to look: LEAF_SHOTS names the folder."""
    if folder := os.environ.get("LEAF_SHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def test_steps_show_code_output_tables_figures_and_errors(
    new_app: Callable[..., App], page: Page, sales: Path
) -> None:
    turns = [
        Turn.call(("run_python", {"code": PLOT})),
        Turn.call(("run_python", {"code": "half = totals / 2\nhalf['Nowhere']"})),
        Turn.say("The **North** has 300."),
    ]
    with MessagesServer(turns) as server:
        page.goto(new_app(model_url=server.url).url)
        add_by_composer(page, sales)
        ask(page, "Plot revenue by region")
        expect(page.get_by_text("The North has 300.")).to_be_visible(timeout=60_000)
        expect(finished(page)).to_be_visible()
        figure = page.locator("[class*=st-key-figures-] img")
        expect(figure).to_be_visible()
        assert figure.evaluate("i => i.naturalWidth") == 704
        shot(page, "python-closed")
        open_steps(page)
        page.get_by_text("Plotted revenue by region: 2 rows, 1 figure").click()
        expect(page.get_by_text("the largest is North")).to_be_visible()
        expect(page.get_by_text("2 rows", exact=True)).to_be_visible()
        shot(page, "python-open")
        page.get_by_text("Running Python · did not work: KeyError on line 2").click()
        expect(page.get_by_text("<cell 2>, line 2")).to_be_visible()
        expect(page.get_by_text("KeyError on line 2: 'Nowhere'")).to_have_count(
            3
        )  # two lines, and here
        shot(page, "python-error")
        page.set_viewport_size({"width": 390, "height": 800})
        shot(page, "python-narrow")


WRITES = """# Wrote the totals
sales.groupby("region", as_index=False).revenue.sum().to_csv("by region.csv", index=False)
open("large.bin", "wb").truncate(30 * 1024**2)"""


def test_files_that_code_writes_are_downloaded_and_added_to_the_chat(
    new_app: Callable[..., App], page: Page, sales: Path
) -> None:
    turns = [
        Turn.call(("run_python", {"code": WRITES})),
        Turn.say("The file is there."),
        Turn.say("I see it."),
    ]
    with MessagesServer(turns) as server:
        page.goto(new_app(model_url=server.url).url)
        add_by_composer(page, sales)
        ask(page, "Write the totals to a file")
        expect(page.get_by_text("The file is there.")).to_be_visible(timeout=60_000)
        expect(finished(page)).to_be_visible()
        shot(page, "written")
        with page.expect_download() as caught:
            page.get_by_role("link", name="by region.csv").click()
        assert caught.value.suggested_filename == "by region.csv"
        assert Path(caught.value.path()).read_text().splitlines()[0] == "region,revenue"
        page.get_by_role("button", name="Add to files").click()
        expect(page.get_by_text("is among the files of this chat")).to_be_visible()
        shot(page, "written-added")
        page.mouse.move(0, 0)  # away from the button, whose tooltip lies above the step
        page.get_by_text("Wrote the totals: wrote by region.csv").click()
        expect(page.get_by_text("Not kept: large.bin (30 MB)")).to_be_visible()
        shot(page, "written-open")
        page.reload()
        ask(page, "What is in it?")
        expect(page.get_by_text("I see it.")).to_be_visible(timeout=60_000)
        assert "by region.csv" in str(server.requests[-1].body["messages"])
        page.set_viewport_size({"width": 390, "height": 800})
        shot(page, "written-narrow")


@pytest.mark.parametrize(
    ("button", "said"), [("Allow", "there already"), ("Refuse", "did not work")]
)
def test_a_package_is_installed_only_when_the_person_allows_it(
    new_app: Callable[..., App], page: Page, button: str, said: str
) -> None:
    turns = [Turn.call(("add_package", {"name": "tabulate"})), Turn.say("That was it.")]
    with MessagesServer(turns) as server:
        page.goto(new_app(model_url=server.url).url)
        ask(page, "Install tabulate")
        question = page.get_by_text("for this chat?")
        expect(question.or_(page.get_by_text("That was it."))).to_be_visible(timeout=60_000)
        if not question.is_visible():
            pytest.skip("no package index can be reached")
        shot(page, f"consent-{button}")
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.get_by_text("That was it.")).to_be_visible(timeout=60_000)
        expect(question).to_have_count(0)
        expected = "Installed tabulate" if button == "Allow" else said
        expect(page.get_by_text(expected)).to_be_visible()

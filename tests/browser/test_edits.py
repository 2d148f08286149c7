"""SQL and Python of a step, edited and run by a person in the place where the step is read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from leaf.sandbox.confine import confinement
from tests.browser.conftest import App
from tests.browser.test_journeys import add_by_composer, ask, finished, open_sources, open_steps
from tests.messages_server import MessagesServer, Turn

pytestmark = pytest.mark.browser

SQL = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY region ORDER BY region"
EDITED = "SELECT region, max(revenue) AS most\nFROM sales\nGROUP BY region\nORDER BY region"


def shot(page: Page, name: str) -> None:
    """A picture of the page for whoever wants to look: LEAF_SHOTS names the folder."""
    if folder := os.environ.get("LEAF_SHOTS"):
        page.wait_for_timeout(400)
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def shots(page: Page, name: str) -> None:
    """The same wide and narrow."""
    shot(page, name)
    if os.environ.get("LEAF_SHOTS"):
        size = page.viewport_size
        assert size is not None
        page.set_viewport_size({"width": 390, "height": 844})
        shot(page, f"{name}-narrow")
        page.set_viewport_size(size)


def seen(found: Locator) -> Locator:
    return found.filter(visible=True)


def button(page: Page, name: str) -> Locator:
    return seen(page.get_by_role("button", name=name, exact=True))


def run(page: Page, language: str, code: str) -> None:
    """Write it into the field that is open, and run it."""
    field = seen(page.get_by_role("textbox", name=f"{language} to run"))
    expect(field).to_be_visible()
    field.fill(code)
    button(page, "Run").click()


def test_sql_of_a_step_is_edited_run_and_kept_beside_it(
    new_app: Callable[..., App], page: Page, sales: Path
) -> None:
    turns = [Turn.call(("query_tables", {"sql": SQL})), Turn.say("The North has 400.")]
    with MessagesServer(turns) as server:
        page.set_viewport_size({"width": 1440, "height": 1000})
        page.goto(new_app(model_url=server.url).url)
        add_by_composer(page, sales)
        ask(page, "Revenue by region")
        expect(finished(page)).to_be_visible()
        step = seen(page.locator("[class*=st-key-step-] summary")).first
        step.click()
        button(page, "Edit and run").click()
        field = seen(page.get_by_role("textbox", name="SQL to run"))
        expect(field).to_have_value(SQL)
        shots(page, "edit-field")
        wrong = "SELECT revenu FROM sales"
        run(page, "SQL", wrong)
        error = page.locator("[class*=st-key-edit-error-]")
        expect(error).to_contain_text("revenu")
        expect(error).to_contain_text("revenue")
        expect(field).to_have_value(wrong)
        shots(page, "edit-error")
        page.reload()
        step.click()
        expect(field).to_have_value(wrong)
        expect(error).to_contain_text("revenu")
        run(page, "SQL", EDITED)
        beside = page.locator("[class*=st-key-edited-step-]")
        expect(beside).to_contain_text("Edited by you")
        expect(beside).to_contain_text("result r2")
        expect(beside).to_contain_text("max(revenue)")
        expect(beside).to_contain_text("rows of sales.csv")
        expect(field).to_have_count(0)
        expect(seen(page.get_by_text("sum(revenue)"))).to_have_count(1)
        shots(page, "edit-result")
        page.reload()
        step.click()
        expect(beside).to_contain_text("Edited by you")
        expect(beside).to_contain_text("result r2")
        with page.expect_download() as caught:
            seen(beside.get_by_role("link", name="All rows as CSV")).click()
        assert Path(caught.value.path()).read_text().splitlines()[0] == "region,most"
        seen(beside.get_by_role("button", name="Open all")).click()
        panel = page.locator(".st-key-preview")
        expect(panel.get_by_role("heading", name="Result r2")).to_be_visible()
        expect(panel).to_contain_text("Edited by you")
        shot(page, "edit-panel")
        panel.get_by_role("button", name="Close the preview").click()
        sources = open_sources(page)
        seen(sources.get_by_role("button", name="Edit and run")).first.click()
        run(page, "SQL", "SELECT count(*) AS n FROM r2")
        expect(sources).to_contain_text("result r3")
        expect(sources).to_contain_text("r2 comes from a step that a person edited and ran.")
        shots(page, "edit-sources")


@pytest.mark.skipif(confinement().kind != "landlock", reason="this machine cannot confine Python")
def test_python_of_a_step_is_edited_and_a_long_run_is_stopped(
    new_app: Callable[..., App], page: Page, sales: Path
) -> None:
    turns = [
        Turn.call(("run_python", {"code": "factor = 2"})),
        Turn.call(("run_python", {"code": "print(factor * 3)"})),
        Turn.say("It is 6."),
    ]
    with MessagesServer(turns) as server:
        page.goto(new_app(model_url=server.url).url)
        add_by_composer(page, sales)
        ask(page, "Six?")
        expect(finished(page)).to_be_visible()
        open_steps(page)
        steps = seen(page.locator("[class*=st-key-step-] summary"))
        expect(steps).to_have_count(2)
        steps.last.click()
        button(page, "Edit and run").click()
        run(page, "Python", "import time\ntime.sleep(50)")
        beside = page.locator("[class*=st-key-edited-step-]")
        expect(beside).to_contain_text("Running")
        shots(page, "edit-running")
        button(page, "Stop").last.click()
        field = seen(page.get_by_role("textbox", name="Python to run"))
        expect(field).to_have_value("import time\ntime.sleep(50)")
        expect(page.locator("[class*=st-key-edit-error-]")).to_contain_text("Stopped.")
        plot = "import matplotlib.pyplot as plt\nplt.plot([factor, 5])\nsales.groupby('region', as_index=False).revenue.sum()"
        run(page, "Python", plot)
        expect(beside).to_contain_text("Edited by you")
        expect(beside.locator("img")).to_be_visible()
        shots(page, "edit-python")
        button(page, "Edit and run").last.click()
        expect(field).to_have_value(plot)
        button(page, "Cancel").click()
        expect(field).to_have_count(0)

"""Every page in its main states, wide and narrow, light and dark, as axe-core judges it: nothing
that keeps somebody from reading or using it, and no error in the browser's console."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from bench.page import quiet
from leaf.ui import door_page, entrance
from tests.axe_kit import Inspection, Known
from tests.browser.conftest import PATIENCE, App
from tests.browser.test_journeys import (
    add_by_composer,
    ask,
    composer,
    finished,
    open_steps,
)
from tests.browser.test_sign_in import login_provider, sign_in, sign_in_secrets
from tests.drive_server import ANA, DriveServer, fill
from tests.messages_server import Json, MessagesServer, Turn

__all__ = ["login_provider"]
pytestmark = pytest.mark.browser

KNOWN = (
    Known(
        "scrollable-region-focusable",
        "[data-testid=stCode] > pre",
        "A tall block of code scrolls within itself. Streamlit gives it no place among the tab "
        "stops; Chromium from version 130 on and Firefox reach what scrolls by themselves.",
    ),
    Known(
        "aria-dialog-name",
        "[data-testid=stToast]",
        "A short notice refers to a title for its name, and Streamlit gives its notices no title; "
        "their words are read out, and nothing has to be answered.",
    ),
)
"""What axe-core finds within Streamlit's own widgets and nothing of Leaf reaches."""
KNOWN_ERRORS = {
    r"status of 404 .*/[a-z]+/_stcore/(health|host-config)": "A page below the root asks for its "
    "server in two places, and the browser tells of the one where it is not.",
}
"""What Streamlit's own page says in the console, and why."""

SALES = "region,revenue,day\n" + "".join(
    f"{('North', 'South', 'East')[i % 3]},{100 + i * 7 % 90},2025-{1 + i // 28:02}-{1 + i % 28:02}\n"
    for i in range(28 * 6)
)
SQL = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY region ORDER BY 2 DESC"
CHART = {
    "mark": "bar",
    "title": "Revenue by region",
    "encoding": {
        "x": {"field": "revenue", "type": "quantitative"},
        "y": {"field": "region", "type": "nominal"},
    },
}
ANSWER = """**North** leads with **300**; next year it will be 9,999 [1] [f1#rows 1-2 "quite another thing"].

| region | revenue |
|---|---:|
| North | 300 |
| South | 120 |

> As the table says, `North` is first.

```sql
SELECT region FROM sales
```"""
LONG = "\n\n".join(f"Paragraph {i} of **an answer** that takes its time." for i in range(1, 41))
CODE = "print(sales.revenue.sum())\nsales.groupby('region').revenue.sum()"


def brain(body: Json) -> Turn:
    """The model of this file, by the words of the newest question."""
    if not body.get("tools"):
        return Turn.say("# Minutes\n\nA short document with a [link](https://example.org).\n")
    newest = body["messages"][-1]["content"]
    said = " ".join(block.get("text", "") for block in newest if isinstance(block, dict))
    if newest[0]["type"] == "tool_result":
        return Turn.say(ANSWER if len(newest) > 1 else "It is written.")
    if "slowly" in said:
        return Turn.say(LONG, thinking="I think about it.", pieces=400, delay=0.1)
    if "document" in said:
        given = {"title": "Minutes", "document_type": "report", "files": ["f1"]}
        return Turn.call(("create_document", given))
    return Turn.call(
        ("make_chart", {"sql": SQL, "spec": CHART}),
        ("query_tables", {"sql": SQL}),
        ("run_python", {"code": CODE}),
        ("read_file", {"file": "f9"}),
        ("read_file", {"file": "f1"}),
        thinking="I add up the revenue by region.",
    )


@pytest.fixture(scope="module")
def guarded(
    module_app: Callable[..., App], login_provider: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[App]:
    """One Leaf with sign-in, a model and Google Drive."""
    folder = tmp_path_factory.mktemp("guarded")
    secrets = sign_in_secrets(folder, login_provider)
    with MessagesServer(brain) as model, DriveServer() as google:
        fill(google)
        drive = google.settings()
        yield module_app(
            folder / "home",
            model.url,
            secrets=secrets,
            LEAF_ALLOWED_DOMAINS="example.org",
            LEAF_OPERATORS="ann@example.org",
            LEAF_PUBLIC_LINKS="on",
            OAUTHLIB_INSECURE_TRANSPORT="1",
            LEAF_GOOGLE_CLIENT_ID=drive.client_id,
            LEAF_GOOGLE_CLIENT_SECRET=drive.client_secret,
            LEAF_GOOGLE_API_URL=drive.api_url,
            LEAF_GOOGLE_AUTH_URL=drive.auth_url,
            LEAF_GOOGLE_TOKEN_URL=drive.token_url,
            LEAF_GOOGLE_REVOKE_URL=drive.revoke_url,
        )


@pytest.fixture(scope="module")
def inspection(
    guarded: App, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Inspection]:
    """The walk through Leaf, once for the tests of this file."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")
    context.set_default_timeout(PATIENCE)
    walked = Inspection(context.new_page(), KNOWN, guarded.url)
    _walk(walked, guarded, tmp_path_factory.mktemp("files") / "sales.csv")
    yield walked
    context.close()


def _walk(walked: Inspection, app: App, sales: Path) -> None:
    page = walked.page
    sales.write_text(SALES, encoding="utf-8")
    page.goto(app.url)
    expect(page.get_by_role("button", name="Sign in with Firm")).to_be_visible()
    walked.look("sign-in")
    sign_in(page, "Ann")
    expect(composer(page)).to_be_visible()
    walked.look("empty chat")
    _walk_chat(walked, sales)
    _walk_files(walked, app)
    _walk_drive(walked, app)
    _walk_board(walked, app)
    shown = [page.request.get(address).text() for address in _walk_links(walked, app)]
    _walk_projects(walked, app)
    _walk_rest(walked, app)
    # As their words, since no script, of a test neither, runs in what a link shows.
    for where, content in zip(("a shared chat", "a shared board"), shown, strict=True):
        page.goto("about:blank")
        page.set_content(content)
        walked.look(where)
    page.goto("about:blank")
    page.set_content(door_page.page(entrance.TITLE, entrance.MESSAGE, entrance.HINT))
    walked.look("the page before Leaf")


def _walk_chat(walked: Inspection, sales: Path) -> None:
    page = walked.page
    add_by_composer(page, sales)
    expect(page.locator(".st-key-overviews").locator("canvas, svg.marks").first).to_be_visible()
    walked.look("a file beside an empty chat")
    ask(page, "Which region leads?")
    expect(finished(page)).to_be_visible()
    expect(page.locator("[data-testid=stVegaLiteChart]").filter(visible=True).last).to_be_visible()
    expect(page.locator(".st-key-follow-ups button").first).to_be_visible()
    page.get_by_role("button", name="Pin to board").filter(visible=True).first.click()
    expect(page.get_by_text("Pinned to “Board”.")).to_be_visible()
    walked.look("a finished answer")
    open_steps(page)
    inside = "[class*=st-key-steps-of-] [data-testid=stExpander] [data-testid=stExpander]"
    expect(page.locator(inside)).to_have_count(6)
    for step in page.locator(inside).all():
        step.locator("summary").click()
        expect(step.locator("[data-testid=stExpanderDetails] *").first).to_be_visible()
        quiet(page)  # what is still drawn moves those below, and a press misses them
    expect(page.get_by_text("Opening …").filter(visible=True)).to_have_count(0)
    walked.look("steps opened")
    page.locator('a[href^="#leaf-evidence-"][href$=".all"]').filter(visible=True).last.click()
    panel = page.locator(".st-key-preview")
    expect(panel.get_by_role("heading", name="Time and cost")).to_be_visible()
    walked.look("evidence opened")
    page.get_by_role("button", name=re.compile("^Open all")).filter(visible=True).first.click()
    expect(panel.get_by_role("heading", name=re.compile("^Result"))).to_be_visible()
    walked.look("a result opened")
    panel.get_by_role("button", name="Close the preview").filter(visible=True).click()
    ask(page, "Answer slowly")
    expect(page.get_by_text("Paragraph 2 of")).to_be_visible()
    walked.look("an answer is written")
    page.keyboard.press("Escape")
    composer(page).press("Escape")
    expect(page.get_by_text("Stopped. What was found so far is kept.")).to_be_visible()
    ask(page, "Write a document")
    expect(page.get_by_text("It is written.")).to_be_visible()
    expect(finished(page)).to_have_count(2)  # one was stopped
    page.locator("[class*=st-key-open-document-] button").filter(visible=True).last.click()
    expect(panel.get_by_text("A short document")).to_be_visible()
    walked.look("a document")


def _walk_files(walked: Inspection, app: App) -> None:
    page = walked.page
    page.goto(f"{app.url}/files")
    row = page.get_by_role("button", name="sales.csv", exact=True).filter(visible=True)
    row.click()
    expect(page.locator(".st-key-preview").get_by_text("of 168")).to_be_visible()
    walked.look("files, with a preview")


def _walk_drive(walked: Inspection, app: App) -> None:
    page = walked.page
    page.goto(f"{app.url}/drive")
    expect(page.get_by_text("cannot change, share or delete")).to_be_visible()
    walked.look("drive, not connected")
    page.get_by_role("button", name="Connect Google Drive").filter(visible=True).first.click()
    page.get_by_role("link", name=f"Allow as {ANA}").click()
    expect(page.get_by_text("read only")).to_be_visible()
    page.get_by_test_id("stToast").first.hover()  # while it is pointed at, it stays
    walked.look("drive, with a short notice")
    page.mouse.move(0, 0)


def _walk_board(walked: Inspection, app: App) -> None:
    page = walked.page
    page.goto(f"{app.url}/board")
    card = page.locator("[class*=st-key-pin-card-]").filter(visible=True).first
    expect(card.locator("canvas, svg.marks").first).to_be_visible()
    card.get_by_text("Query and files").click()
    expect(card.get_by_text("GROUP BY region")).to_be_visible()
    card.get_by_role("button", name="Recompute").click()
    expect(card.get_by_text("rows are the same")).to_be_visible()
    walked.look("a board")
    page.get_by_role("button", name="New board, rename or delete").filter(visible=True).click()
    page.get_by_role("menuitem", name="New board").click()
    page.get_by_role("textbox", name="Name").fill("Later")
    page.get_by_role("textbox", name="Name").press("Enter")
    expect(page.get_by_text("Nothing is pinned yet.")).to_be_visible()
    walked.look("an empty board")


def _walk_projects(walked: Inspection, app: App) -> None:
    page = walked.page
    page.goto(f"{app.url}/project")
    page.get_by_role("button", name="New project").click()
    dialog = page.get_by_role("dialog", name="New project")
    dialog.get_by_role("textbox", name="Title").fill("Quarterly figures")
    walked.look("a new project")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Quarterly figures")).to_be_visible()
    page.get_by_role("textbox", name="Instructions for the model").fill("Name regions in capitals.")
    page.get_by_role("button", name="Save instructions").click()
    expect(page.get_by_text("Saved. They hold from the next question on.").first).to_be_visible()
    address = page.url
    page.get_by_role("button", name="New chat in this project").click()
    ask(page, "Which region leads here?")
    expect(finished(page)).to_be_visible()
    told = page.get_by_role("button", name="Project instructions").filter(visible=True)
    told.click()
    expect(page.get_by_text("The model was told this with the question")).to_be_visible()
    walked.look("what a question told of a project")
    page.keyboard.press("Escape")
    page.goto(address)
    row = page.locator("[class*=st-key-project-chat-rows]").get_by_role("button").first
    expect(row).to_be_visible()
    walked.look("a project")
    page.get_by_role("button", name=re.compile("^Move ")).filter(visible=True).first.click()
    expect(page.get_by_role("dialog", name="Move to project")).to_be_visible()
    walked.look("a chat that is moved")
    page.goto(f"{app.url}/project")
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    walked.look("all projects")


def _walk_rest(walked: Inspection, app: App) -> None:
    page = walked.page
    page.goto(f"{app.url}/documents")
    expect(page.get_by_text("version 1").first).to_be_visible()
    walked.look("documents")
    page.goto(f"{app.url}/usage")
    expect(page.get_by_role("heading", name="By chat")).to_be_visible()
    walked.look("usage")
    page.get_by_role("button", name="Rename, export or delete this chat").filter(
        visible=True
    ).first.click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_role("button", name="Undo").filter(visible=True)).to_be_visible()
    page.goto(f"{app.url}/settings")
    expect(page.get_by_role("heading", name="Deleted")).to_be_visible()
    expect(page.get_by_role("heading", name="Audit log")).to_be_visible()
    page.get_by_role("button", name="New prompt").click()
    page.get_by_role("dialog").get_by_label("Prompt", exact=True).fill("What of {month}?")
    walked.look("a prompt that is written")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Change the prompt What of {month}?")).to_be_visible()
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search and commands")
    expect(palette.get_by_role("option").filter(has_text="What of {month}?")).to_be_visible()
    walked.look("the palette")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    walked.look("the list of shortcuts")
    page.keyboard.press("Escape")
    page.goto(f"{app.url}/operations")
    expect(page.get_by_role("heading", name="Your data")).to_be_visible()
    page.get_by_text("All limits").click()
    expect(page.get_by_role("cell", name="LEAF_RUNS_PER_USER")).to_be_visible()
    walked.look("the operator's page")
    page.goto(f"{app.url}/settings")
    expect(page.get_by_role("heading", name="Audit log")).to_be_visible()
    walked.look("settings, with the audit log and what was deleted")
    page.get_by_role("button", name=re.compile("^Delete .* for good")).first.click()
    expect(page.get_by_role("dialog").get_by_text("This cannot be undone")).to_be_visible()
    walked.look("a question before something is deleted")


def _walk_links(walked: Inspection, app: App) -> list[str]:
    """The addresses of a chat and of a board."""
    page, found = walked.page, []
    page.goto(app.url)
    page.locator(".st-key-chats button").filter(has_text="Which region leads").first.click()
    expect(finished(page).first).to_be_visible()
    for where in ("chat", "board"):
        if where == "board":
            page.goto(f"{app.url}/board")
            page.get_by_role("combobox", name="Board").click()
            page.get_by_role("option", name="Board", exact=True).click()
            expect(page.get_by_role("heading", name="Board", exact=True)).to_be_visible()
        page.get_by_role("button", name="Share by link").filter(visible=True).first.click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Create link").click()
        expect(dialog.get_by_text("Copy it now")).to_be_visible()
        walked.look(f"a {where} that is shared by a link")
        code = dialog.locator("[class*=st-key-public-link-] code").filter(visible=True).first
        found.append((code.text_content() or "").strip())
    page.goto(f"{app.url}/settings")
    expect(page.get_by_role("heading", name="Public links")).to_be_visible()
    walked.look("settings, with public links")
    return found


def test_no_page_has_a_grave_violation(inspection: Inspection) -> None:
    found = inspection.grave()
    assert not found, f"{len(found)} violations:\n\n" + "\n\n".join(map(str, found))


def test_what_is_known_of_widgets_still_occurs(inspection: Inspection) -> None:
    gone = [one for number, one in enumerate(KNOWN) if number not in inspection.met]
    assert not gone, f"mended elsewhere, take them out of the list: {gone}"


def test_no_page_says_an_error_in_the_console(inspection: Inspection) -> None:
    known = {error: [k for k in KNOWN_ERRORS if re.search(k, error)] for error in inspection.errors}
    assert [error for error, matched in known.items() if not matched] == []
    assert {k for matched in known.values() for k in matched} == set(KNOWN_ERRORS)

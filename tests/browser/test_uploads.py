"""Files that are dropped, chosen or pasted: one list says how far each is, whatever page is open."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_process import App
from tests.browser.conftest import PATIENCE, OpenPage
from tests.browser.test_journeys import ask, composer, file_field, finished
from tests.live_kit import wait_until
from tests.messages_server import MessagesServer, Turn
from tests.tcp_proxy import TcpProxy

COUNT = 60
DROP = """(files) => {
  const transfer = new DataTransfer()
  for (const [name, text] of files) transfer.items.add(new File([text], name))
  const target = document.querySelector('[data-testid="stMain"]')
  const fire = (kind) => target.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }))
  fire("dragenter")
  const drags = setInterval(() => fire("dragover"), 100)
  window.leafDrop = () => {
    clearInterval(drags)
    fire("drop")
  }
}"""
NAMES = [["שלום 📈 דוח.csv", "a,b\n1,2\n"], ["n" * 290 + ".csv", "a,b\n3,4\n"]]
PASTE = """(text) => {
  const transfer = new DataTransfer()
  transfer.setData("text/plain", text)
  const field = document.querySelector('[data-testid="stChatInputTextArea"]')
  field.focus()
  const event = new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true })
  return field.dispatchEvent(event)
}"""


@pytest.fixture(scope="module")
def app(module_app: Callable[..., App]) -> Iterator[App]:
    with MessagesServer(lambda _body: Turn.say("Seen.")) as server:
        yield module_app(model_url=server.url)


@pytest.fixture
def page(open_page: OpenPage, app: App) -> Page:
    opened = open_page(1280)
    opened.goto(app.url)
    expect(composer(opened)).to_be_visible()
    return opened


def shot(page: Page, name: str, tmp_path: Path) -> None:
    page.screenshot(path=str(Path(os.environ.get("LEAF_SHOTS", str(tmp_path))) / f"{name}.png"))


def line(page: Page) -> Locator:
    return page.locator(".leaf-job-line").filter(visible=True).first


def slow(page: Page, bytes_a_second: int) -> Any:
    """A line that takes its time."""
    wire = page.context.new_cdp_session(page)
    wire.send("Network.enable")
    conditions = {"offline": False, "latency": 20, "downloadThroughput": -1}
    wire.send(
        "Network.emulateNetworkConditions", {**conditions, "uploadThroughput": bytes_a_second}
    )
    return wire


def test_sixty_files_come_while_the_page_is_used_and_another_is_open(
    page: Page, tmp_path: Path
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(COUNT - 2):
        (folder / f"part-{number:02d}.csv").write_text(f"id,v\n{number},1\n" + "1,2\n" * 3_000)
    (folder / "broken.xlsx").write_bytes(b"PK\x03\x04 nothing")
    (folder / "empty.csv").write_bytes(b"")
    slow(page, 60_000)
    file_field(page).set_input_files(sorted(folder.iterdir()))
    expect(line(page)).to_have_text(re.compile(rf"^\d+ of {COUNT} files ready.* \d+ %"))
    expect(page).to_have_url(re.compile("chat="))
    chat = page.url
    page.locator(".leaf-job-toggle").filter(visible=True).click()
    expect(page.locator(".leaf-row[data-state=sending]").first).to_contain_text(
        re.compile(r"sending \d+ %|sent")
    )
    composer(page).fill("What is in them?")
    shot(page, "uploads-sixty-light", tmp_path)
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".leaf-row").filter(visible=True).first).to_be_visible()
    shot(page, "uploads-sixty-phone-dark", tmp_path)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    page.get_by_role("link", name=re.compile("Files")).click()
    expect(page.get_by_role("heading", name="Files", exact=True)).to_be_visible()
    expect(line(page)).to_have_text(re.compile(rf"of {COUNT} files ready"))
    shot(page, "uploads-on-files", tmp_path)
    slow(page, -1)
    page.go_back()
    expect(page).to_have_url(chat)
    expect(line(page)).to_have_text(
        f"{COUNT - 2} of {COUNT} files ready · 2 failed", timeout=120_000
    )
    broken = page.locator(".leaf-row").filter(has_text="broken.xlsx")
    if not broken.is_visible():
        page.locator(".leaf-job-toggle").filter(visible=True).click()
    expect(broken).to_contain_text("cannot be read")
    expect(page.locator(".leaf-row").filter(has_text="empty.csv")).to_contain_text("is empty")
    shot(page, "uploads-sixty-over", tmp_path)
    other = page.context.new_page()
    other.goto(chat)
    expect(line(other)).to_have_text(f"{COUNT - 2} of {COUNT} files ready · 2 failed")
    other.close()
    ask(page, "What is in them?")
    expect(finished(page)).to_be_visible()
    expect(page.locator(".leaf-job").filter(visible=True)).to_have_count(0)


def test_a_folder_keeps_its_tree_and_a_drop_goes_to_the_open_chat(
    page: Page, tmp_path: Path
) -> None:
    top = tmp_path / "2024"
    for place in ("north", "south"):
        (top / place).mkdir(parents=True)
        (top / place / "sales.csv").write_text(f"region,amount\n{place},7\n")
        (top / place / ".DS_Store").write_text("x")
    page.locator(".leaf-uploads input[data-adds=folder]").last.set_input_files(top)
    for place in ("north", "south"):
        chip = page.get_by_role("button", name=f"Leave out 2024/{place}/sales.csv")
        expect(chip.filter(visible=True)).to_be_visible()
    expect(page.get_by_text("2 files that systems put into folders").first).to_be_visible()
    page.evaluate(DROP, NAMES)
    zone = page.locator(".leaf-uploads-zone")
    expect(zone).to_be_visible()
    expect(zone).to_have_text("Drop to add to this chat")
    shot(page, "uploads-drop", tmp_path)
    page.evaluate("() => window.leafDrop()")
    expect(zone).to_be_hidden()
    expect(page.locator("[class*=st-key-chip-]")).to_have_count(4)
    expect(page.get_by_text("דוח", exact=False).first).to_be_visible()
    shot(page, "uploads-dropped", tmp_path)
    page.locator(".leaf-uploads input[data-adds=files]").last.set_input_files(
        {"name": "again.csv", "mimeType": "text/csv", "buffer": b"a,b\n9,9\n"}
    )
    expect(page.locator("[class*=st-key-chip-]")).to_have_count(5)
    page.locator(".leaf-uploads input[data-adds=files]").last.set_input_files(
        {"name": "again.csv", "mimeType": "text/csv", "buffer": b"a,b\n9,9\n"}
    )
    expect(page.get_by_text("It was there already with the same content.")).to_be_visible()
    expect(page.locator("[class*=st-key-chip-]")).to_have_count(5)
    shot(page, "uploads-known", tmp_path)


def test_a_long_pasted_table_becomes_a_file_and_text_again(page: Page, tmp_path: Path) -> None:
    assert page.evaluate(PASTE, "just\ttwo\nshort\tlines"), "a short paste stays text"
    table = "region\tamount\n" + "".join(f"Place {n}\t{n}\n" for n in range(40))
    assert not page.evaluate(PASTE, table)
    said = page.get_by_text("The pasted table (41 lines) is beside the question as the file")
    expect(said.first).to_be_visible()
    chip = page.get_by_role("button", name="Leave out pasted table 1.tsv").filter(visible=True)
    expect(chip).to_be_visible()
    shot(page, "uploads-pasted", tmp_path)
    composer(page).fill("Look: ")
    page.get_by_role("button", name="Put it in as text").click()
    expect(chip).to_have_count(0)
    expect(composer(page)).to_have_value(re.compile(r"^Look: region\tamount\n"))
    composer(page).fill("")
    prose = "A sentence, with a comma. " * 1_000
    assert not page.evaluate(PASTE, prose)
    chip = page.get_by_role("button", name="Leave out pasted text 2.txt").filter(visible=True)
    expect(chip).to_be_visible()
    code = "\n".join(f"value_{n} = compute({n}" + ", other" * (n % 4) + ")" for n in range(30))
    expect(composer(page)).to_be_enabled()  # the page is drawn with the file
    assert page.evaluate(PASTE, code), "code is no table"


def test_a_cut_line_is_said_and_the_file_comes_when_it_is_tried_again(
    open_page: OpenPage, app: App, tmp_path: Path
) -> None:
    large = tmp_path / "large.csv"
    large.write_bytes(b"id,value\n" + b"1234,5678\n" * 400_000)
    with TcpProxy(app.port) as proxy:
        page = open_page(1280)
        page.goto(proxy.url)
        expect(composer(page)).to_be_visible()
        slow(page, 400_000)
        file_field(page).set_input_files(large)
        row = page.locator(".leaf-row").filter(visible=True)
        expect(row).to_contain_text(re.compile(r"sending [1-9]\d? %"))
        composer(page).fill("What is in it?")
        composer(page).press("Enter")
        hint = page.get_by_text("Your question goes out as soon as its files are ready.")
        expect(hint.filter(visible=True)).to_be_visible()
        shot(page, "uploads-held", tmp_path)
        proxy.cut()
        expect(row).to_contain_text("The connection broke", timeout=PATIENCE)
        expect(page.get_by_text("Not sent: large.csv").filter(visible=True)).to_be_visible()
        shot(page, "uploads-cut", tmp_path)
        slow(page, -1)
        proxy.heal()
        retry = page.get_by_role("button", name="Try large.csv again")
        if retry.is_visible():
            retry.click()
        chip = page.get_by_role("button", name="Leave out large.csv").filter(visible=True)
        expect(chip).to_be_visible()
        expect(composer(page)).to_have_value("What is in it?")


def test_a_tab_that_is_closed_leaves_no_file_of_a_large_folder_waiting(
    open_page: OpenPage, page: Page
) -> None:
    """Of what a page says as it goes a browser takes 64 kB, less than the numbers of these files."""
    files = [[f"{number}.csv", f"a,b\n{number},2\n"] for number in range(15_000)]
    page.evaluate("XMLHttpRequest.prototype.send = () => {}")  # none of them gets there
    page.evaluate(DROP, files)
    page.evaluate("leafDrop()")
    expect(line(page)).to_contain_text("0 of 15,000 files ready", timeout=120_000)
    expect(page).to_have_url(re.compile("chat="))
    address = page.url
    page.goto("about:blank")
    again = open_page(1280)
    again.goto(address)
    expect(line(again)).to_contain_text("15,000 failed")


def test_files_that_another_tab_has_put_away_hold_no_question_back(
    page: Page, open_page: OpenPage, tmp_path: Path
) -> None:
    """As where the line is so slow that this tab hears of them only when they are ready."""
    table = tmp_path / "soon.csv"
    table.write_text("a,b\n1,2\n")
    ask(page, "First")
    expect(finished(page)).to_be_visible()
    other = open_page(1280)
    other.goto(page.url)
    expect(finished(other)).to_be_visible()
    asks: list[Any] = []
    listing = re.compile(r"uploads\?here=")
    page.route(listing, lambda late: asks.append(late))
    file_field(page).set_input_files(table)
    expect(line(other)).to_contain_text("1 of 1 file ready")
    expect(other.locator(".leaf-job-line").filter(visible=True)).to_have_count(0)
    assert asks
    page.unroute(listing)  # which lets those through that wait
    ask(page, "Second")
    expect(finished(page)).to_have_count(2)


def test_files_whose_chat_was_deleted_meanwhile_come_to_it_once_it_is_restored(
    page: Page, open_page: OpenPage, tmp_path: Path
) -> None:
    table = tmp_path / "late.csv"
    table.write_text("a,b\n1,2\n")
    ask(page, "Deleted and restored")
    expect(finished(page)).to_be_visible()
    chat = page.url
    other = open_page(1280)
    other.goto(chat)
    expect(finished(other)).to_be_visible()
    coming: list[Any] = []
    sends = re.compile(r"uploads/[^/]+/\d+$")
    page.route(sends, lambda late: coming.append(late))
    file_field(page).set_input_files(table)
    expect(line(page)).to_contain_text("0 of 1 file ready")
    wait_until(lambda: page.evaluate("1") and coming)
    other.get_by_role("button", name="Rename, export or delete this chat").filter(
        visible=True
    ).first.click()
    other.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_text("a chat that was deleted")).to_be_visible()
    with page.expect_response(sends):  # else leaving the page would end what is on its way
        page.unroute(sends)  # which lets the file through
    address = other.url
    page.goto(f"{address.partition('?')[0]}files")
    expect(line(page)).to_contain_text("1 of 1 file ready")
    other.goto(f"{address.partition('?')[0]}settings")
    deleted = other.locator('[class*="st-key-deleted-"]', has_text="Deleted and restored")
    deleted.get_by_role("button", name="Restore").first.click()
    expect(deleted).to_have_count(0)
    other.goto(chat)
    go_on = other.get_by_role("button", name="Go on with what is left").filter(visible=True)
    go_on.click()
    chip = other.get_by_role("button", name="Leave out late.csv").filter(visible=True)
    expect(chip).to_be_visible()


def test_a_suggestion_pressed_while_a_file_has_failed_is_kept_until_that_is_put_right(
    page: Page, tmp_path: Path
) -> None:
    good, bad = tmp_path / "sales.csv", tmp_path / "other.csv"
    good.write_text("region,revenue\n" + "North,10\nSouth,20\n" * 20)
    bad.write_text("a,b\n1,2\n")
    refused = {"error": "It was refused."}
    page.route(re.compile("uploads/[^/]+/1$"), lambda r: r.fulfill(status=422, json=refused))
    file_field(page).set_input_files([good, bad])
    expect(page.get_by_text("It was refused.").filter(visible=True)).to_be_visible(timeout=120_000)
    suggestion = page.locator(".st-key-suggestion-0 button").filter(visible=True)
    # questions about what is there are made beside the page, and may come after it
    expect(suggestion).to_contain_text("revenue")
    asked = suggestion.inner_text().splitlines()[-1]
    suggestion.click()
    warning = page.get_by_test_id("stAlert").filter(visible=True)
    expect(warning).to_contain_text("Not sent yet: other.csv is not here yet")
    expect(composer(page)).to_have_value(asked)
    expect(page.get_by_test_id("stChatMessage")).to_have_count(0)
    shot(page, "uploads-suggestion-kept", tmp_path)
    composer(page).press("Enter")
    page.get_by_role("button", name="Send without").filter(visible=True).click()
    expect(finished(page)).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("Seen.").filter(visible=True).first).to_be_visible()

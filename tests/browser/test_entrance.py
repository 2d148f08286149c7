"""The address with a token in a browser: what it opens, what stays shut, and what other pages of the
machine can do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.app_process import App
from tests.browser.test_journeys import composer
from tests.tcp_proxy import TcpProxy

pytestmark = pytest.mark.browser


@pytest.fixture
def elsewhere() -> Iterator[Callable[[str], str]]:
    """Serves one page of somebody else's; gives its address under another name and port."""
    shown: dict[str, str] = {}

    class Theirs(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = shown["page"].encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Theirs)
    Thread(target=server.serve_forever, daemon=True).start()

    def show(page: str) -> str:
        shown["page"] = page
        return f"http://localhost:{server.server_address[1]}/"

    yield show
    server.shutdown()
    server.server_close()


ATTACK = """<body><script>
const said = document.createElement("p"); document.body.append(said);
const tell = word => { said.textContent += word + " "; };
const socket = new WebSocket("ws://LEAF/_stcore/stream", ["streamlit"]);
socket.onopen = () => tell("socket-open"); socket.onerror = () => tell("socket-shut");
fetch("http://LEAF/_stcore/host-config", {credentials: "include"})
  .then(() => tell("fetch-open")).catch(() => tell("fetch-shut"));
</script>"""


def test_the_printed_address_opens_leaf_in_this_browser_and_nothing_else_does(
    new_app: Callable[..., App],
    context: BrowserContext,
    page: Page,
    elsewhere: Callable[[str], str],
) -> None:
    app = new_app(token=True)
    page.goto(app.url)
    expect(page.get_by_role("heading", name="Open Leaf from the terminal")).to_be_visible()
    page.goto(app.opened_url)
    composer = page.get_by_test_id("stChatInputTextArea").first
    expect(composer).to_be_visible()
    assert page.url == f"{app.url}/"
    assert page.evaluate("document.cookie").count("leaf_") == 0

    theirs = context.new_page()
    host = app.url.removeprefix("http://")
    for name in ("localhost", "127.0.0.1"):  # another site, and another port of the same site
        theirs.goto(elsewhere(ATTACK.replace("LEAF", host)).replace("localhost", name))
        expect(theirs.locator("p")).to_contain_text("socket-shut")
        expect(theirs.locator("p")).to_contain_text("fetch-shut")
    theirs.goto(elsewhere(f'<a href="{app.url}/files">Leaf</a>'))
    theirs.get_by_role("link").click()
    expect(theirs.get_by_role("heading", name="Files")).to_be_visible()

    app.stop()
    app.start()
    page.reload()
    expect(composer).to_be_visible()
    composer.fill("hello")
    composer.press("Enter")
    expect(page.get_by_text("I answer questions about your files")).to_be_visible()
    assert re.fullmatch(rf"{app.url}/\?chat=\S+", page.url)


def test_a_page_whose_websocket_is_stripped_says_so_and_takes_it_back(
    new_app: Callable[..., App], page: Page
) -> None:
    running = new_app()
    with TcpProxy(running.port, refusing=b"GET /_stcore/stream") as proxy:
        page.goto(proxy.url)
        said = page.get_by_role("alert").filter(has_text="a proxy in between lets no websockets")
        expect(said).to_be_visible()
        proxy._refusing = b""
        expect(composer(page)).to_be_visible()
        expect(said).to_have_count(0)

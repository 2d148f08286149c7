"""Whoever watches an answer sees it come to its end, whole and once, though the Leaf that writes it is
killed: at another Leaf, and behind a balancer at the one that was killed."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from cryptography.fernet import Fernet
from playwright.sync_api import BrowserContext, Page, expect

from tests import balancers, postgres
from tests.app_process import App
from tests.browser.test_durable import ARRIVES, PARAGRAPHS, WATCH_FOR_DOUBLES, begin, paragraphs
from tests.browser.test_journeys import finished
from tests.messages_server import MessagesServer
from tests.test_health import get, values

pytestmark = [pytest.mark.browser, pytest.mark.postgres]
TOKEN = "a-token-of-collectors"


@pytest.fixture(scope="module")
def leafs(
    model_server: MessagesServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[App, App]]:
    """Two on one database. Nobody signs in: all who come are one user."""
    folder = tmp_path_factory.mktemp("leafs")
    with postgres.server(connections=150) as address:
        settings = {
            "LEAF_DATABASE_URL": f"postgresql:///postgres{address}",
            "LEAF_SECRET_KEY": Fernet.generate_key().decode(),
            "LEAF_ALLOW_OPEN": "1",
            "LEAF_METRICS_TOKEN": TOKEN,
        }
        pair = tuple(App(folder / name, model_server.url, **settings) for name in ("one", "two"))
        try:
            yield pair[0].start(), pair[1].start()
        finally:
            for app in pair:
                app.stop()


@pytest.fixture
def context(own_context: BrowserContext) -> BrowserContext:
    own_context.add_init_script(WATCH_FOR_DOUBLES)
    return own_context


def expect_whole_and_once(page: Page) -> None:
    expect(finished(page)).to_be_visible(timeout=ARRIVES)
    assert paragraphs(page) == PARAGRAPHS
    expect(page.get_by_text("I look at the files first.")).to_have_count(1)
    assert page.evaluate("window.leafDoubles") == []


def running(app: App) -> float:
    return values(get(f"{app.url}/metrics", TOKEN)[1]).get("leaf_answers_running", 0)


def test_who_watches_at_another_leaf_sees_the_answer_go_on_when_its_writer_is_killed(
    leafs: tuple[App, App], model_server: MessagesServer, context: BrowserContext, page: Page
) -> None:
    writer, other = leafs
    begin(writer.url, page, "Something thorough")
    watching = context.new_page()
    watching.goto(page.url.replace(writer.url, other.url))
    expect(watching.get_by_text("Paragraph 4 of")).to_be_visible()
    asked = len(model_server.requests)
    writer.stop(signal.SIGKILL)
    try:
        expect_whole_and_once(watching)
        assert len(model_server.requests) == asked + 1
    finally:
        writer.start()


def test_behind_a_balancer_the_page_of_a_killed_leaf_goes_on_at_another(
    leafs: tuple[App, App], page: Page
) -> None:
    with balancers.nginx([app.port for app in leafs]) as port:
        begin(f"http://127.0.0.1:{port}", page, "Something thorough behind a balancer")
        (here,) = [app for app in leafs if running(app)]
        here.stop(signal.SIGKILL)
        try:
            expect_whole_and_once(page)
        finally:
            here.start()

"""Two Leafs on one PostgreSQL behind a real balancer: everything that a browser asks for reaches the
Leaf that holds its page, and without sticky sessions it is said what does not."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from playwright.sync_api import Browser, BrowserContext, Page, Response, expect

from tests import balancers, pictures_kit, postgres, sounds
from tests.app_process import App, free_port
from tests.browser.conftest import PATIENCE
from tests.browser.test_exports import taken
from tests.browser.test_journeys import add_by_composer, ask, file_field, finished
from tests.browser.test_sign_in import (  # noqa: F401 - a fixture
    login_provider,
    sign_in,
    sign_in_secrets,
)
from tests.live_kit import wait_until
from tests.messages_server import MessagesServer
from tests.test_health import get, values

pytestmark = [pytest.mark.browser, pytest.mark.postgres]
TOKEN = "a-token-of-collectors"


def metrics(app: App) -> dict[str, float]:
    return values(get(f"{app.url}/metrics", TOKEN)[1])


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class Pair:
    """Two Leafs on one database, for browsers that come by the address at `port`."""

    leafs: tuple[App, App]
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def ports(self) -> list[int]:
        return [app.port for app in self.leafs]

    def counted(self, name: str) -> list[float]:
        return [metrics(app).get(name, 0) for app in self.leafs]


@pytest.fixture(scope="module")
def pair(
    model_server: MessagesServer,
    login_provider: str,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Pair]:
    folder, port = tmp_path_factory.mktemp("pair"), free_port()
    secrets = sign_in_secrets(folder, login_provider, port)
    with postgres.server(connections=150) as address:
        settings = {
            "LEAF_DATABASE_URL": f"postgresql:///postgres{address}",
            "LEAF_SECRET_KEY": Fernet.generate_key().decode(),
            "LEAF_ALLOWED_DOMAINS": "example.org",
            "LEAF_METRICS_TOKEN": TOKEN,
            "LEAF_LOG": "json",
        }
        one, two = (
            App(folder / name, model_server.url, secrets=secrets, **settings)
            for name in ("one", "two")
        )
        try:
            yield Pair((one.start(), two.start()), port)
        finally:
            one.stop()
            two.stop()


Balancer = Callable[[Pair], AbstractContextManager[int]]
BALANCERS: dict[str, Balancer] = {
    "nginx": lambda pair: balancers.nginx(pair.ports, port=pair.port),
    "haproxy": lambda pair: balancers.haproxy(pair.ports, port=pair.port),
}


def _refused(got: Response) -> list[str]:
    """An upload that reached a Leaf which does not know the page."""
    return [got.url] if got.status >= 400 and "/_leaf/uploads" in got.url else []


def _began(got: Response) -> bool:
    """The page has said which files will come."""
    return got.request.method == "POST" and "/_leaf/uploads" in got.url


@pytest.mark.parametrize("name", BALANCERS)
def test_with_sticky_sessions_everything_reaches_the_leaf_of_the_page(
    pair: Pair, name: str, page: Page, sales: Path, tmp_path: Path
) -> None:
    photo = tmp_path / "flag.png"
    photo.write_bytes(pictures_kit.png(640, 480))
    with BALANCERS[name](pair):
        refused: list[str] = []
        page.on("response", lambda got: refused.extend(_refused(got)))
        page.goto(pair.url)
        sign_in(page, "Ann")
        add_by_composer(page, sales)
        add_by_composer(page, photo)
        ask(page, "What is the total by region?")
        expect(page.get_by_text("The North leads with 300.")).to_be_visible()
        expect(finished(page)).to_be_visible()
        thumbnail = page.get_by_role("img", name="flag.png").first
        expect(thumbnail).to_be_visible()
        wait_until(lambda: thumbnail.evaluate("one => one.complete && one.naturalWidth > 0"))
        ask(page, "Something long to push")
        expect(page.get_by_text("Paragraph 2 of")).to_be_visible()
        assert sum(pair.counted("leaf_viewers_connected")) == 1
        expect(page.get_by_text("Paragraph 40 of")).to_be_visible()
        page.goto(f"{pair.url}/usage")
        got = taken(page, lambda: page.get_by_role("link", name="Download as CSV").click())
        assert len(got.path().read_text().splitlines()) >= 2
        page.goto(f"{pair.url}/settings")
        expect(page.get_by_text(re.compile("words are pushed"))).to_be_visible()
        assert refused == []
    assert pair.counted("leaf_viewers_refused") == [0, 0]


def test_browsers_are_at_both_leafs_and_see_one_another(
    pair: Pair, browser: Browser, context: BrowserContext
) -> None:
    """As many browsers as it takes until both have some: who is where is the balancer's choice."""
    with balancers.nginx(pair.ports, port=pair.port):
        first = context.new_page()
        first.goto(pair.url)
        sign_in(first, "Ann")
        ask(first, "Something long for two")
        expect(first.get_by_text("Paragraph 2 of")).to_be_visible()
        cookies = [c for c in context.cookies() if c["name"] != "leaf_at"]
        for _ in range(12):
            others = browser.new_context()
            others.set_default_timeout(PATIENCE)
            others.add_cookies(cookies)  # type: ignore[arg-type] # read and set have own types
            second = others.new_page()
            second.goto(first.url)
            expect(second.get_by_text("Paragraph 1 of")).to_be_visible()
            if all(pair.counted("leaf_tabs_open")):
                break
            others.close()
        assert all(pair.counted("leaf_tabs_open")), "all browsers were sent to one Leaf"
        expect(second.get_by_text("Paragraph 40 of")).to_be_visible()
        expect(finished(first)).to_be_visible()
        others.close()  # else it comes back to the balancers of the tests below


APART: dict[str, Balancer] = {
    "nginx": lambda pair: balancers.nginx(
        [pair.leafs[1].port], port=pair.port, apart=pair.leafs[0].port
    ),
    "haproxy": lambda pair: balancers.haproxy(
        [pair.leafs[1].port], port=pair.port, apart=pair.leafs[0].port
    ),
}
"""The sessions of pages in the first Leaf, and all else at the second."""


@pytest.mark.parametrize("name", APART)
def test_without_sticky_sessions_files_are_taken_along_and_played_from_the_other_leaf(
    pair: Pair, name: str, page: Page, tmp_path: Path
) -> None:
    beep = tmp_path / "beep.wav"
    beep.write_bytes(sounds.wav([(2.0, 400)]))
    with balancers.nginx(pair.ports, port=pair.port):
        page.goto(pair.url)
        sign_in(page, "Ann")
        ask(page, "hello")
        expect(finished(page)).to_be_visible()
        chat = page.url
        add_by_composer(page, beep)
    with APART[name](pair):
        page.goto(chat)
        expect(finished(page)).to_be_visible()
        button = page.get_by_role("link", name="Download as Markdown").first
        got = taken(page, button.click)
        assert "hello" in got.path().read_text()
        page.goto(f"{pair.url}/files")
        page.get_by_role("button", name="beep.wav").first.click()
        player = page.locator(".st-key-preview audio")
        expect(player).to_be_visible()
        wait_until(lambda: player.evaluate("one => one.duration > 1.9"))


def test_without_sticky_sessions_answers_come_and_it_is_said_what_does_not(
    pair: Pair, page: Page, sales: Path
) -> None:
    one, two = pair.leafs
    refused = pair.counted("leaf_viewers_elsewhere")[1]
    with balancers.nginx([two.port], port=pair.port, apart=one.port):
        page.goto(pair.url)
        sign_in(page, "Ann")
        ask(page, "Something long all the same")
        expect(page.get_by_text("Paragraph 40 of")).to_be_visible()
        expect(finished(page)).to_be_visible()
        with page.expect_response(_began) as sent:
            file_field(page).set_input_files(sales)
        assert sent.value.status == 403
        assert "balancer" in sent.value.json()["error"]
        page.get_by_role("link", name="Settings").click()
        expect(page.get_by_text(re.compile("keep a browser at one Leaf"))).to_be_visible()
    assert pair.counted("leaf_viewers_elsewhere")[1] >= refused + 3
    assert "sticky sessions" in two.log.read_text()


def test_a_leaf_that_goes_down_leaves_its_browsers_to_the_other(
    pair: Pair, page: Page, sales: Path
) -> None:
    with balancers.nginx(pair.ports, port=pair.port):
        wait_until(lambda: not any(pair.counted("leaf_tabs_open")), seconds=60.0)
        page.goto(pair.url)
        sign_in(page, "Ann")
        ask(page, "hello")
        expect(finished(page)).to_be_visible()
        (here,) = [app for app in pair.leafs if metrics(app)["leaf_tabs_open"]]
        here.stop()
        try:
            page.reload()
            expect(finished(page)).to_be_visible()
            add_by_composer(page, sales)
            ask(page, "What is the total by region?")
            expect(page.get_by_text("The North leads with 300.")).to_be_visible()
        finally:
            here.start()


# All of it by one command


def test_the_demo_cluster_answers_through_its_balancer_and_leaves_nothing(page: Page) -> None:
    if any(found is None for found in (postgres.programs(), balancers.program("nginx"))):
        pytest.skip("PostgreSQL or nginx is not installed")
    port = free_port()
    command = [sys.executable, "-m", "tests.demo_cluster", "--port", str(port)]
    with subprocess.Popen(
        command, cwd=balancers.DEPLOY.parent, stdout=subprocess.PIPE, text=True
    ) as cluster:
        assert cluster.stdout is not None
        said: list[str] = []
        for line in cluster.stdout:
            said.append(line)
            if "Ctrl+C" in line:
                break
        try:
            page.goto(f"http://127.0.0.1:{port}")
            ask(page, "What can you do?")
            expect(finished(page)).to_be_visible()
        finally:
            cluster.send_signal(signal.SIGINT)
            said.append(cluster.stdout.read())
            assert cluster.wait(60) == 0
    listening = [int(found) for found in re.findall(r"http://127\.0\.0\.1:(\d+)", "".join(said))]
    assert len(listening) == 5, said
    assert not any(answers(one) for one in listening)
    (log,) = {Path(found).parent for found in re.findall(r"its log in (\S+)", "".join(said))}
    assert not log.exists()

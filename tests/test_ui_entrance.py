"""The address with a token, where nobody signs in: a real app on loopback, asked as browsers and
other programs ask."""

from __future__ import annotations

import http.client
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaf.ui.entrance import HINT, kept_token
from tests import forked_programs
from tests.app_process import ROOT, App
from tests.test_ui_visitors import HTML, get, shake

OWN = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    running = App(tmp_path_factory.mktemp("entrance") / "home", token=True).start()
    yield running
    running.stop()


def ask(app: App, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    wire = http.client.HTTPConnection("127.0.0.1", app.port, timeout=20)
    wire.request(method, path, headers={**HTML, **headers})
    return wire.getresponse()


def cookie(app: App) -> str:
    """As the printed address gives it."""
    answer = ask(app, app.opened_url.removeprefix(app.url))
    return answer.headers["set-cookie"].partition(";")[0]


def test_the_printed_address_lets_a_browser_in_and_leaves_its_address_without_the_token(
    app: App,
) -> None:
    token = app.opened_url.partition("token=")[2]
    assert len(token) >= 32
    answer = ask(app, f"/files?chat=a%20b&token={token}")
    assert (answer.status, answer.headers["location"]) == (303, "/files?chat=a+b")
    said = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(said.split("; "))
    assert token not in said
    assert get(app, **HTML, Cookie=cookie(app))[0] == 200
    leads_on = ask(app, f"//evil.example/?token={token}").headers["location"]
    assert leads_on == "/evil.example/"


def test_without_the_cookie_every_route_says_where_the_address_is_found(app: App) -> None:
    for path in ("/", "/files", "/media/x", "/_stcore/host-config", "/static/x.js", "/_leaf/live"):
        status, page = get(app, path, **HTML)
        assert (status, HINT in page) == (403, True), path
    status, page = get(app, "/", **HTML, **{"Accept-Language": "de-DE,de;q=0.9"})
    assert (status, 'lang="de"' in page) == (403, True)
    assert "Öffnen Sie Leaf aus dem Terminal" in page
    assert "dieser Browser wurde noch nicht eingelassen" in page
    for given in ("", "token", "0" * 43):
        assert ask(app, f"/?token={given}").status == 403
    for name in ("", "leaf_x=1", cookie(app)[:-1] + "x", cookie(app).replace("=", "=0")):
        host = {"Host": f"127.0.0.1:{app.port}", "Origin": app.url, "Cookie": name}
        assert shake(app, host)[0] == 403
    own = {"Host": f"127.0.0.1:{app.port}", "Origin": app.url, "Cookie": cookie(app)}
    assert shake(app, own)[0] == 101
    assert ask(app, "/_stcore/upload_file/x/healthz", "PUT").status == 403


def test_health_and_commands_need_no_cookie(app: App) -> None:
    assert get(app, "/_stcore/health") == (200, "ok")
    done = forked_programs.run(
        [sys.executable, "-m", "leaf", "doctor", "--json"],
        cwd=ROOT,
        env={**os.environ, "LEAF_HOME": str(app.home)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = {check["name"]: check["text"] for check in json.loads(done.stdout)}
    assert "commands go through it" in said["App"]


def test_a_page_on_another_port_can_ask_for_nothing(app: App) -> None:
    """Cookies know no ports, so the browser sends Leaf's along."""
    held = {"Cookie": cookie(app)}
    elsewhere = f"http://127.0.0.1:{app.port + 1}"
    for headers in (
        {"Origin": elsewhere},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
    ):
        assert ask(app, "/_stcore/host-config", **held, **headers).status == 403, headers
        assert ask(app, "/_stcore/upload_file/a/b", "PUT", **held, **headers).status == 403
    host = {"Host": f"127.0.0.1:{app.port}", **held}
    assert shake(app, {**host, "Origin": elsewhere})[0] == 403
    link = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"}
    assert ask(app, "/", **held, **link).status == 200
    assert ask(app, "/", "POST", **held, **link).status == 403


def test_the_token_is_the_owners_alone_and_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    token = kept_token(home)
    assert (home / "page-token").stat().st_mode & 0o777 == 0o600
    assert kept_token(home) == token
    (home / "page-token").chmod(0o644)
    assert kept_token(home) != token
    kept = kept_token(home)
    (home / "page-token").unlink()
    (home / "page-token").symlink_to(tmp_path / "theirs")
    (tmp_path / "theirs").write_text("x" * 43)
    assert kept_token(home) not in ("x" * 43, kept)

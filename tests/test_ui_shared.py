"""The route of public links: one page for the right token, one answer for every other, whatever stands
before it: sign-in, a token of the machine, a base path, a proxy."""

from __future__ import annotations

import http.client
import random
import string
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from leaf.errors import StoreError
from leaf.store.links import hashed
from leaf.ui.shared import A_MINUTE, GONE, MISSES, PATH, POLICY, RequestRate, shared_routes
from leaf.ui.sign_out import SignOut
from tests.app_process import App
from tests.leaf_kit import SALES, add, finished, opened
from tests.test_ui_visitors import AUTH, HTML

TOKEN = "t" * 43
PAGE = b"<!doctype html><title>shown</title>"


def client(pace: RequestRate | None = None) -> TestClient:
    def find(token: str) -> bytes | None:
        if token == "e" * 43:
            raise StoreError("The database is away.")
        return PAGE if token == TOKEN else None

    return TestClient(Starlette(routes=shared_routes(PATH, find, pace)))


def test_the_right_token_gives_the_page_and_nothing_of_it_is_kept_or_run() -> None:
    answer = client().get(PATH + TOKEN)
    assert (answer.status_code, answer.content) == (200, PAGE)
    assert answer.headers["content-security-policy"] == POLICY
    assert "script" not in POLICY
    assert answer.headers["cache-control"] == "no-store"
    assert "noindex" in answer.headers["x-robots-tag"]
    assert client().get(PATH + "e" * 43).status_code == 503


def test_every_other_token_gets_the_same_page() -> None:
    draw = random.Random(7)
    letters = string.printable.strip() + " \tü日\u202e\ud7ff"
    odd = ["", "/", "../../app.json", TOKEN[:-1], TOKEN + "t", TOKEN + "/", TOKEN.upper()]
    odd += ["%00", "' OR 1=1 --", hashed(TOKEN), "t" * 5_000, f"{TOKEN}?", "%2e%2e%2f"]
    odd += ["".join(draw.choices(letters, k=draw.randrange(1, 90))) for _ in range(150)]
    bodies = set()
    for one in odd:
        answer = client(RequestRate(lambda: 0.0)).get(PATH + quote(one, safe=""))
        assert answer.status_code == 404, one
        bodies.add(answer.text)
    assert len(bodies) == 1
    assert GONE[1] in bodies.pop()


def test_what_opens_nothing_says_so_in_the_language_of_the_browser() -> None:
    french = {"Accept-Language": "fr-FR,fr;q=0.9,en;q=0.5"}
    gone = client().get(PATH + "x" * 43, headers=french)
    away = client().get(PATH + "e" * 43, headers=french)
    assert (gone.status_code, away.status_code) == (404, 503)
    assert '<html lang="fr">' in gone.text
    assert "Il n’y a rien ici" in gone.text
    assert "Pas maintenant" in away.text
    assert client().get(PATH + TOKEN, headers=french).content == PAGE


def test_signing_out_is_asked_for_in_the_language_of_the_browser() -> None:
    asked = TestClient(SignOut(Starlette(), lambda path: path))
    page = asked.get("/auth/logout", headers={"Accept-Language": "es"}).text
    assert "<h1>Cerrar la sesión de Leaf</h1>" in page
    assert "<h1>Sign out of Leaf</h1>" in asked.get("/auth/logout").text


def test_whoever_guesses_is_slowed_down_and_nobody_else_is() -> None:
    clock = [0.0]
    asked = client(RequestRate(lambda: clock[0]))
    guess = [asked.get(PATH + "x" * 43).status_code for _ in range(MISSES + 3)]
    assert guess == [404] * MISSES + [429] * 3
    assert asked.get(PATH + TOKEN).status_code == 429
    other = asked.get(PATH + TOKEN, headers={"X-Forwarded-For": "1.2.3.4, 5.6.7.8"})
    assert other.status_code == 200
    clock[0] = 60.0
    assert asked.get(PATH + TOKEN).status_code == 200
    read = [asked.get(PATH + TOKEN).status_code for _ in range(A_MINUTE)]
    assert read == [200] * (A_MINUTE - 1) + [429]


# The whole app


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A data folder, and the token of a chat in it."""
    home = tmp_path_factory.mktemp("shared") / "home"
    with opened(home, public_links=True) as leaf:
        own = leaf.session(leaf.local_scope())
        chat = own.chats.create()
        file = add(own, "sales.csv", SALES)
        asked = own.messages.send(chat.id, "What is the total of revenue by region?", [file.id])
        assert finished(own, asked.id).status == "completed"
        return home, own.links.share_chat(chat.id).token


def ask(
    app: App, path: str, method: str = "GET", **headers: str
) -> tuple[int, str, dict[str, str]]:
    with closing(http.client.HTTPConnection("127.0.0.1", app.port, timeout=20)) as wire:
        wire.request(method, path, headers={**HTML, **headers})
        answer = wire.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, answer.read().decode(), found


@pytest.fixture(params=["sign-in", "token", "base path", "off"])
def running(
    request: pytest.FixtureRequest, shared: tuple[Path, str], tmp_path: Path
) -> Iterator[tuple[str, App, str]]:
    home, token = shared
    secrets, base = None, ""
    options: dict[str, Any] = {"LEAF_PUBLIC_LINKS": "on"}
    if request.param == "sign-in":
        secrets = tmp_path / "secrets.toml"
        secrets.write_text(AUTH)
        options["LEAF_ALLOWED_HOSTS"] = "app.example.org"
    if request.param == "base path":
        base = "/leaf"
    if request.param == "off":
        options = {}
    app = App(
        home,
        log=tmp_path / "log",
        secrets=secrets,
        token=request.param == "token",
        base=base,
        **options,
    ).start()
    yield request.param, app, f"{base}{PATH}{token}"
    app.stop()


def test_the_app_shows_it_to_whoever_has_the_address(running: tuple[str, App, str]) -> None:
    how, app, path = running
    host = {"Host": "app.example.org"} if how == "sign-in" else {}
    by_link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    status, page, headers = ask(app, path, **host, **by_link)
    if how == "off":
        assert (status, GONE[1] in page) == (404, True)
        return
    assert status == 200, page[:300]
    assert "by region?" in page
    assert "unconnected.js" not in page
    assert headers["content-security-policy"] == POLICY
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["x-frame-options"] == "DENY"
    assert "set-cookie" not in headers
    assert ask(app, path, "HEAD", **host)[0] == 200
    status, page, _ = ask(app, path[:-1], **host)
    assert (status, GONE[1] in page) == (404, True)
    framed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
    assert ask(app, path, **host, **framed, Origin="https://evil.example")[0] == 403
    if how == "sign-in":
        assert ask(app, path, Host="other.example")[0] == 403
        proxied = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "9.9.9.9"}
        assert ask(app, path, **host, **proxied)[0] == 200
    if how == "token":
        for elsewhere in ("/files", f"{PATH}../../files", f"{PATH}a%0ab", f"{PATH}a/b"):
            assert ask(app, elsewhere)[0] == 403, elsewhere
        assert ask(app, path, **{"X-Forwarded-For": "9.9.9.9"})[0] == 403

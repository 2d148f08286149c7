"""Cookies, signing out, and what is asked for beside the page, where people sign in: a real app on
loopback, with cookies as Streamlit signs them."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.datastructures import MutableHeaders
from streamlit.web.server.starlette.starlette_app_utils import (
    create_signed_value,
    generate_xsrf_token_string,
)

from leaf.ui.cookies import GRACE, _change
from tests.app_process import App
from tests.test_ui_visitors import AUTH, HTML

SECRET = "not-a-secret-not-a-secret-not-a-secret"
SAME = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("signed")
    (folder / "secrets.toml").write_text(AUTH)
    running = App(folder / "home", secrets=folder / "secrets.toml").start()
    yield running
    running.stop()


def cookie_of(who: str, *, key: str = SECRET, **changed: Any) -> str:
    claims = {
        "iss": "https://login.example.org",
        "sub": who,
        "iat": int(time.time()),
        "exp": int(time.time()) + 600,
        "nonce": f"nonce-of-{who}",
        "email": f"{who}@example.org",
        "email_verified": True,
        "name": who,
        "is_logged_in": True,
        "origin": "https://app.example.org",
    } | changed
    return f"_streamlit_user={create_signed_value(key, '_streamlit_user', json.dumps(claims)).decode()}"


def ask(
    app: App, method: str, path: str, body: bytes = b"", **headers: str
) -> http.client.HTTPResponse:
    wire = http.client.HTTPConnection("127.0.0.1", app.port, timeout=20)
    wire.request(method, path, body, headers)
    return wire.getresponse()


def test_signing_out_takes_a_post_of_a_page_of_this_leaf(app: App) -> None:
    held = {"Cookie": cookie_of("ann")}
    for site, at_once in (("cross-site", False), ("same-origin", True)):
        led = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
        page = ask(app, "GET", "/auth/logout", **HTML, **held, **led)
        assert (page.status, page.headers["set-cookie"]) == (200, None)
        assert (b"data-now" in page.read()) == at_once
    assert ask(app, "POST", "/auth/logout", **held, Origin="https://evil.example").status == 403
    from_a_form = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert ask(app, "POST", "/auth/logout", **held, **from_a_form).status == 403
    done = ask(app, "POST", "/auth/logout", **held, **SAME)
    assert (done.status, done.headers["x-leaf-location"]) == (200, "/")
    assert '_streamlit_user="";' in done.headers["set-cookie"]
    script = ask(app, "GET", "/_leaf/sign-out.js")
    assert script.headers["content-type"].startswith("text/javascript")


def test_cookies_go_over_https_where_browsers_come_by_it(app: App) -> None:
    answer = ask(app, "POST", "/auth/logout", Cookie=cookie_of("ann"), **SAME)
    assert all("; Secure" in line for line in answer.headers.get_all("set-cookie"))
    assert answer.headers["strict-transport-security"].startswith("max-age=")


@pytest.mark.parametrize(("proto", "secure"), [("https", True), ("http", False)])
def test_a_proxy_on_this_machine_says_whether_it_is_https(
    tmp_path_factory: pytest.TempPathFactory, app: App, proto: str, secure: bool
) -> None:
    headers = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": proto}
    plain = tmp_path_factory.mktemp("plain")
    (plain / "secrets.toml").write_text(AUTH.replace("https://app", "http://app"))
    running = App(plain / "home", secrets=plain / "secrets.toml").start()
    try:
        answer = ask(running, "POST", "/auth/logout", Cookie=cookie_of("ann"), **SAME, **headers)
    finally:
        running.stop()
    assert ("; Secure" in answer.headers["set-cookie"]) == secure
    assert ("strict-transport-security" in answer.headers) == secure


def test_the_cookies_of_a_sign_in_last_as_long_as_it_does() -> None:
    lines = (
        "_streamlit_user=x; HttpOnly; Max-Age=2592000; Path=/; SameSite=lax",
        "_streamlit_user_tokens=x; HttpOnly; Max-Age=2592000; Path=/; SameSite=lax",
        "_streamlit_user_1=; Max-Age=0; Path=/",
        "_streamlit_xsrf=y; Path=/",
    )

    def changed(ends: float | None) -> list[str]:
        headers = MutableHeaders(raw=[(b"set-cookie", line.encode()) for line in lines])
        _change(headers, lambda _claims: ends, secure=False)
        return headers.getlist("set-cookie")

    user, tokens, cleared, xsrf = changed(time.time() + 600.5)
    assert user.endswith(f"Max-Age={600 + GRACE}")
    assert tokens.endswith("Max-Age=600")
    assert (cleared, xsrf) == lines[2:]
    assert not any("Max-Age" in line for line in changed(None)[:2])


def test_pictures_and_downloads_are_for_those_who_are_signed_in(app: App) -> None:
    for cookie in (
        "",
        cookie_of("ann", exp=1),
        cookie_of("ann")[:-4] + "AAAA",
        cookie_of("ann", is_logged_in=False),
    ):
        assert ask(app, "GET", "/media/0123.png", Cookie=cookie).status == 403
    assert ask(app, "GET", "/media/0123.png", Cookie=cookie_of("ann")).status == 404


def test_nothing_is_uploaded_before_a_sign_in_or_to_the_session_of_somebody_else(app: App) -> None:
    xsrf = generate_xsrf_token_string(None, None)
    path = "/_stcore/upload_file/0c0ffee0/file"
    for cookie, method, status, said in (
        (f"_streamlit_xsrf={xsrf}", "PUT", 403, "Sign in"),
        (f"_streamlit_xsrf={xsrf}; {cookie_of('ann')}", "PUT", 400, "keep a browser at one"),
        (f"_streamlit_xsrf={xsrf}; {cookie_of('ann')}", "DELETE", 403, "Sign in"),
    ):
        answer = ask(app, method, path, b"x" * 1000, **{"X-Xsrftoken": xsrf, "Cookie": cookie})
        assert answer.status == status
        assert said in json.loads(answer.read())["error"]

"""Who may reach the app under which name: real handshakes on loopback, with the headers that
browsers and proxies send."""

from __future__ import annotations

import base64
import html
import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from leaf import settings
from leaf.errors import SettingsError
from leaf.ui.visitors import CLOSED, Rules, host_name, is_local, refusal, trusted_host
from tests.app_process import App

AUTH = """
[auth]
redirect_uri = "https://app.example.org/oauth2callback"
cookie_secret = "not-a-secret-not-a-secret-not-a-secret"
client_id = "leaf"
client_secret = "x"
server_metadata_url = "http://127.0.0.1:1/.well-known/openid-configuration"
"""
PROXIED = {
    "Host": "app.example.org",
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "app.example.org",
}
HTML = {"Accept": "text/html,application/xhtml+xml"}


def _raw(app: App, path: str, headers: dict[str, str]) -> tuple[int, str]:
    """Status and body of one request with exactly these headers."""
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    with socket.create_connection(("127.0.0.1", app.port), timeout=20) as wire:
        wire.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        answer = b""
        while b"\r\n\r\n" not in answer and (piece := wire.recv(65_536)):
            answer += piece
        status = int(answer.split()[1])
        while status != 101 and (piece := wire.recv(65_536)):
            answer += piece
    return status, answer.partition(b"\r\n\r\n")[2].decode("utf-8", "replace")


def get(app: App, path: str = "/", **headers: str) -> tuple[int, str]:
    return _raw(app, path, {"Host": f"127.0.0.1:{app.port}", **headers, "Connection": "close"})


def shake(app: App, headers: dict[str, str]) -> tuple[int, str]:
    """A websocket handshake for Streamlit's stream."""
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Sec-WebSocket-Protocol": "streamlit",
    }
    return _raw(app, "/_stcore/stream", {**headers, **upgrade})


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., App]]:
    """Starts an app with these settings, once."""
    running: dict[str, App] = {}

    def start(auth: bool = False, **variables: str) -> App:
        key = json.dumps([auth, variables])
        if key not in running:
            folder = tmp_path_factory.mktemp("app")
            secrets = folder / "secrets.toml"
            secrets.write_text(AUTH if auth else "")
            running[key] = App(folder / "home", secrets=secrets, **variables).start()
        return running[key]

    yield start
    for app in running.values():
        app.stop()


def test_without_sign_in_other_names_get_a_sentence_in_place_of_a_page(
    serve: Callable[..., App],
) -> None:
    app = serve()
    for headers in (
        {"Host": "app.example.org"},
        PROXIED,
        {"X-Forwarded-For": "203.0.113.9"},
        {"Host": "127.0.0.1.evil.example"},
    ):
        status, page = get(app, **HTML, **headers)
        assert status == 403
        assert CLOSED[0] in page
        assert "LEAF_ALLOW_OPEN=1" in page
        assert "<script" not in page
        status, said = shake(app, {"Host": f"127.0.0.1:{app.port}", **headers})
        assert (status, json.loads(said)["error"]) == (403, " ".join(CLOSED))


def test_without_sign_in_this_machine_has_several_names(serve: Callable[..., App]) -> None:
    app = serve()
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "localhost.", "[::1]", "127.0.0.2"):
        host = f"{name}:{app.port}"
        assert get(app, **HTML, Host=host)[0] == 200
        assert shake(app, {"Host": host, "Origin": f"http://{host}"})[0] == 101
        assert shake(app, {"Host": host, "Origin": f"http://{host.lower()}"})[0] == 101


def test_health_is_told_under_every_name(serve: Callable[..., App]) -> None:
    assert get(serve(), "/_stcore/health", Host="10.0.0.7:8501") == (200, "ok")


@pytest.mark.parametrize("settings_of_app", [{"auth": True}, {"LEAF_ALLOW_OPEN": "1"}])
def test_an_open_app_is_served_under_the_name_that_a_proxy_passes_on(
    serve: Callable[..., App], settings_of_app: dict[str, str]
) -> None:
    app = serve(**settings_of_app)
    assert get(app, **HTML, **PROXIED)[0] == 200
    assert shake(app, {**PROXIED, "Origin": "https://app.example.org"})[0] == 101
    assert (
        shake(app, {**PROXIED, "Host": "APP.example.org:443", "Origin": "https://app.example.org"})[
            0
        ]
        == 101
    )
    inner = f"127.0.0.1:{app.port}"
    assert shake(app, {**PROXIED, "Host": inner, "Origin": "https://app.example.org"})[0] == 101
    for origin in ("https://evil.example", "null", "https://app.example.org:8443"):
        status, said = shake(app, {**PROXIED, "Origin": origin})
        assert status == 403
        assert "LEAF_ALLOWED_HOSTS" in said


def test_the_address_of_the_sign_in_is_known_where_a_proxy_hides_it(
    serve: Callable[..., App],
) -> None:
    def reached(app: App) -> int:
        return shake(app, {"Host": f"127.0.0.1:{app.port}", "Origin": "https://app.example.org"})[0]

    assert reached(serve(auth=True)) == 101
    assert reached(serve(LEAF_ALLOW_OPEN="1")) == 403


def test_only_the_named_hosts_lead_to_an_app_that_names_some(serve: Callable[..., App]) -> None:
    app = serve(LEAF_ALLOW_OPEN="1", LEAF_ALLOWED_HOSTS="App.example.org, *.example.com")
    for host, status in (
        ("app.example.org", 200),
        ("APP.EXAMPLE.ORG.:8501", 200),
        ("leaf.example.com", 200),
        ("example.com", 403),
        ("evil.example", 403),
        ("app.example.org.evil.example", 403),
        ("localhost", 200),
    ):
        answered, page = get(app, **HTML, Host=host)
        assert answered == status, host
        assert ("LEAF_ALLOWED_HOSTS" in page) == (status == 403)
    assert get(app, **HTML, **{"Host": "inner", "X-Forwarded-Host": "leaf.example.com"})[0] == 200
    assert "as 'inner'" in html.unescape(get(app, **HTML, Host="inner")[1])
    assert shake(app, {"Host": "inner:8501", "Origin": "https://leaf.example.com"})[0] == 403
    assert shake(app, {"Host": "localhost:8501", "Origin": "https://leaf.example.com"})[0] == 101


def test_settings_that_cannot_be_read_are_named_to_whom_they_keep_out(
    serve: Callable[..., App],
) -> None:
    app = serve(LEAF_MODEL_URL="not an address", LEAF_ALLOW_OPEN="1")
    status, page = get(app, **HTML, **PROXIED)
    assert status == 403
    assert "LEAF_MODEL_URL" in page


@pytest.mark.parametrize(
    ("host", "address", "forwarded", "local"),
    [
        ("localhost:8501", "", False, True),
        ("[::1]:8501", "::1", False, True),
        ("127.0.0.1:8501", "127.0.0.1", False, True),
        ("127.0.0.1:8501", "::ffff:127.0.0.1", False, True),
        ("localhost:8501", "::ffff:192.168.1.5", False, False),
        ("leaf.example.org", "", False, False),
        ("localhost.example.org:8501", "", False, False),
        ("localhost:8501", "203.0.113.9", False, False),
        ("localhost:8501", "", True, False),
        ("", "127.0.0.1", False, False),
    ],
)
def test_a_visitor_from_elsewhere_is_not_taken_for_a_local_one(
    host: str, address: str, forwarded: bool, local: bool
) -> None:
    assert is_local(host, address, forwarded) is local


@pytest.mark.parametrize(
    "host",
    [
        "a b",
        "user@localhost",
        "localhost/x",
        "localhost?x",
        "localhost:x",
        "localhost:99999",
        "[::1",
        "",
    ],
)
def test_what_is_no_host_is_nobodys_name(host: str) -> None:
    assert host_name(host) in ("", "a b")
    assert refusal(Rules(), Headers({"host": host}), "127.0.0.1") == CLOSED


def test_a_page_of_another_port_or_scheme_is_another_page() -> None:
    open_to_all = Rules(is_open=True)
    here = {"host": "leaf.example.org:8501"}
    assert trusted_host(open_to_all, Headers(here)) == "leaf.example.org:8501"
    for origin, host in (
        ("http://leaf.example.org:8501", "leaf.example.org:8501"),
        ("http://leaf.example.org:8600", None),
        ("https://leaf.example.org", None),
        ("http://leaf.example.org:x", None),
        ("null", None),
    ):
        assert trusted_host(open_to_all, Headers({**here, "origin": origin})) == host


@pytest.mark.parametrize(
    ("given", "hosts"),
    [
        ("", ()),
        ("Leaf.example.org.", ("leaf.example.org",)),
        ("a.b, *.c.d 10.0.0.7", ("a.b", "*.c.d", "10.0.0.7")),
    ],
)
def test_names_of_hosts_are_read(given: str, hosts: tuple[str, ...]) -> None:
    assert settings.load({"LEAF_ALLOWED_HOSTS": given}).allowed_hosts == hosts


@pytest.mark.parametrize(
    "given", ["https://leaf.example.org", "leaf.example.org:8501", "*", "leaf.example.org/x"]
)
def test_what_is_no_name_of_a_host_is_refused(given: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="LEAF_ALLOWED_HOSTS"):
        settings.load({"LEAF_ALLOWED_HOSTS": given, "LEAF_HOME": str(tmp_path)})

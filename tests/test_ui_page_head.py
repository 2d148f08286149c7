"""The page comes with the look that was chosen and a script that says when it cannot connect, and
nothing else is changed."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from leaf.ui.page_head import ASSET, CHOSEN_LOOK, LOOK, SCRIPT, PageHead

PAGE = "<html><head><title>Leaf</title></head><body>" + "x" * 5_000 + "</body></html>"


@pytest.fixture
def client() -> TestClient:
    def page(request: object) -> Response:
        return HTMLResponse(PAGE)

    def missing(request: object) -> Response:
        return HTMLResponse(PAGE, 404)

    def text(request: object) -> Response:
        return PlainTextResponse("</head>")

    app = Starlette(
        routes=[Route("/", page), Route("/files", page), Route("/no", missing), Route("/t", text)],
        middleware=[Middleware(PageHead, based=str), Middleware(GZipMiddleware)],
    )
    return TestClient(app)


@pytest.mark.parametrize("path", ["/", "/files"])
def test_a_page_has_the_scripts_once_and_keeps_all_else(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"accept": "text/html,*/*", "accept-encoding": "gzip"})
    tags = f'<script src=".{LOOK}"></script><script src=".{SCRIPT}" defer></script>'
    assert answer.text == PAGE.replace("</head>", f"{tags}</head>")
    assert int(answer.headers["content-length"]) == len(answer.content)


@pytest.mark.parametrize(
    ("path", "accept"), [("/no", "text/html"), ("/t", "text/html"), ("/", "*/*")]
)
def test_other_answers_are_as_they_were(client: TestClient, path: str, accept: str) -> None:
    assert "/_leaf/" not in client.get(path, headers={"accept": accept}).text


def test_the_script_is_served(client: TestClient) -> None:
    answer = client.get(SCRIPT)
    assert ASSET.read_text() in answer.text
    assert "Leaf antwortet" not in answer.text
    german = client.get(SCRIPT, headers={"accept-language": "de-DE,en;q=0.5"})
    assert "Leaf antwortet" in german.text
    assert answer.headers["content-type"].startswith("text/javascript")


def test_the_script_of_the_look_is_served(client: TestClient) -> None:
    answer = client.get(LOOK)
    assert answer.text == CHOSEN_LOOK.read_text()
    assert answer.headers["content-type"].startswith("text/javascript")

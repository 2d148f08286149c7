"""How often the page of whoever asks is drawn for a question and its answer: twice. Each drawing
costs more than the query."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from bench._visitor import Heard, Tab
from tests.app_process import App
from tests.messages_server import MessagesServer, Turn
from tests.test_ui_cookies import cookie_of
from tests.test_ui_visitors import AUTH

SETTLES = 4.5
"""Seconds: two drawings of a page that others change are three seconds apart."""


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    (tmp_path / "secrets.toml").write_text(AUTH)
    turns = [Turn.say(f"t{1_000_000_000_000 + n} is the answer.") for n in range(8)]
    with MessagesServer(turns) as model:
        running = App(tmp_path / "home", model.url, secrets=tmp_path / "secrets.toml").start()
        yield running
        running.stop()


def test_the_page_is_drawn_once_for_a_question_and_once_for_its_answer(app: App) -> None:
    async def drawings() -> list[int]:
        xsrf = generate_xsrf_token_string(None, None)
        tab = Tab(app.port, cookie_of("ann"), xsrf, Heard())
        await tab.connect()
        await tab.ask("What is there?")
        await asyncio.sleep(SETTLES)  # its chat gets a title, which the sidebar shows
        found = []
        for number in range(3):
            before = tab._drawn
            await tab.ask(f"What is there, once more ({number})?")
            await asyncio.sleep(SETTLES)
            found.append(tab._drawn - before)
        await tab.close()
        assert not tab.heard.errors
        return found

    assert asyncio.run(drawings()) == [2, 2, 2]


def test_another_tab_of_the_same_person_shows_the_question_and_the_answer(app: App) -> None:
    async def drawings() -> int:
        xsrf = generate_xsrf_token_string(None, None)
        tabs = [Tab(app.port, cookie_of("ben"), xsrf, Heard()) for _ in range(2)]
        for tab in tabs:
            await tab.connect()
        await tabs[0].ask("What is there?")
        await asyncio.sleep(SETTLES)
        before = tabs[1]._drawn
        await tabs[0].ask("What is there, once more?")
        await asyncio.sleep(SETTLES)
        for tab in tabs:
            await tab.close()
        return tabs[1]._drawn - before

    # Where the answer is there within the three seconds, one drawing shows both.
    assert 1 <= asyncio.run(drawings()) <= 2

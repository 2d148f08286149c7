"""The form by which a person connects a model, and what pages say of who answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leaf import settings
from leaf.agent.connections import ModelDraft
from leaf.ui import state
from leaf.wiring import build
from tests.messages_server import MessagesServer, Turn
from tests.models_kit import MARKER
from tests.test_ui_pages import Leaf, leaf, open_page, words_of

__all__ = ["leaf"]


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer(lambda _: Turn.say("ok"), key=MARKER) as running:
        yield running


def field(page: AppTest, label: str) -> Any:
    return next(one for one in page.text_input if one.label.startswith(label))


def press(page: AppTest, label: str) -> AppTest:
    next(button for button in page.button if button.label == label).click()
    page.run()
    assert not page.exception
    return page


def said(page: AppTest) -> str:
    return words_of(page) + "".join(one.value for one in page.success)


def test_the_form_tests_and_saves_and_shows_no_key_again(
    leaf: Leaf, server: MessagesServer
) -> None:
    page = open_page("settings")
    assert "A model adds" in words_of(page)
    page.segmented_control[0].set_value("server")
    page.run()
    field(page, "Address").set_value(server.url)
    field(page, "Key").set_value("wrong-key")
    assert "refused the key" in said(press(page, "Test"))
    field(page, "Key").set_value(MARKER)
    assert "The server offers 3 models" in said(press(page, "Test")).replace("\\", "")
    models = leaf.session(leaf.local_scope()).models
    assert models.connection().source == "none", "a test keeps nothing"
    choice = next(one for one in page.selectbox if one.label == "Model")
    choice.select("claude-haiku-5-5")
    press(page, "Save")
    assert models.connection().source == "own"
    assert models.default() == "claude-haiku-5-5"
    assert "its key ends in `WXYZ`" in said(page)
    assert MARKER not in str(page.main) + repr(page.session_state)
    assert not field(page, "Key").value


def test_what_is_missing_is_said_and_nothing_is_kept(leaf: Leaf) -> None:
    page = open_page("settings")
    assert "A key is needed" in said(press(page, "Save"))
    assert leaf.session(leaf.local_scope()).models.keyless()


def test_a_chat_leads_to_the_form_until_a_model_is_connected(
    leaf: Leaf, server: MessagesServer
) -> None:
    assert any(button.label == "Connect a model" for button in open_page().button)
    models = leaf.session(leaf.local_scope()).models
    models.save(ModelDraft("server", server.url, MARKER, "claude-sonnet-5-5"))
    page = open_page()
    assert not any(button.label == "Connect a model" for button in page.button)
    assert "Without a model" not in words_of(page)


def test_where_own_models_are_switched_off_there_is_no_form(tmp_path: Path) -> None:
    app = build(settings.load({"LEAF_HOME": str(tmp_path), "LEAF_OWN_MODELS": "off"}))
    setattr(sys, state.REGISTRY, state.Registry(leaf=app))
    try:
        page = open_page("settings")
        assert not any(button.label == "Test" for button in page.button)
        assert "Whoever runs this Leaf can connect one" in words_of(page)
        assert not any(button.label == "Connect a model" for button in open_page().button)
    finally:
        state.close()

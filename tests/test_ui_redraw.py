"""A page that is drawn anew from within carries out all the same what was pressed meanwhile."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from streamlit.proto.ChatInput_pb2 import ChatInput
from streamlit.proto.Common_pb2 import ChatInputValue
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import Runtime, RuntimeConfig
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner_utils import script_requests
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.scriptrunner_utils.shared_run_state import SharedRunState
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.state.common import user_key_from_element_id
from streamlit.runtime.state.session_state import WStates
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

PAGE = """
    import streamlit as st
    from leaf.ui.redraw import CARRIED_OUT, keep_address, redraw

    state = st.session_state
    state.setdefault("log", []).append("page")
    state.address = st.query_params.get("chat")
    keep_address()
    state[CARRIED_OUT] = frozenset()
    if state.get("at once") and (sent := state.get("ask")):
        state.log.append(f"asked: {sent.text}")
        state[CARRIED_OUT] = frozenset({"ask"})

    @st.fragment(key="looks")
    def looks():
        state.log.append("looks")
        if state.pop("news", False):
            redraw()
        if state.pop("its own news", False):
            redraw("fragment")
        if to := state.pop("go", ""):
            st.query_params["chat"] = to
            redraw()

    @st.fragment(key="first")
    def first():
        if st.button("First", on_click=lambda: state.log.append("called")):
            state.log.append("first")
            redraw()

    @st.fragment(key="itself")
    def itself():
        if st.button("Itself"):
            state.log.append("itself")
            redraw("fragment")

    @st.fragment(key="second")
    def second():
        if st.button("Second"):
            state.log.append("second")
            redraw()

    looks()
    if state.address == "door":
        st.stop()
    first()
    itself()
    second()
    said = st.chat_input("Ask", accept_file=True, key="ask")
    if said and not state[CARRIED_OUT]:
        state.log.append(said.text)
    if begun := state.pop("begin", ""):
        st.query_params["chat"] = begun
    keep_address()
"""


class Tab:
    """What Streamlit keeps of a tab, and its runs of one script, without a browser."""

    def __init__(self, script: Path) -> None:
        self.script = str(script)
        self.state = SafeSessionState(SessionState(), lambda: None)
        self.fragments = MemoryFragmentStorage()
        self.pages = PagesManager(self.script)
        self.ids: dict[str, str] = {}
        """Label of a widget -> its id."""
        self.run()

    def run(self, query: str = "chat=abc", **asked: Any) -> list[str]:
        """What the script has logged since the last time; `query` is that of the browser's
        address."""
        runner = LocalScriptRunner(
            self.script, self.state, self.pages, fragment_storage=self.fragments
        )
        runner._requests = script_requests.ScriptRequests()  # it begins with one for the page
        assert runner.request_rerun(RerunData(query_string=query, **asked))
        runner.start()
        runner.join()
        for sent in runner.forward_msgs():
            element = sent.delta.new_element
            drawn: Any = element.button if element.HasField("button") else element.chat_input
            if isinstance(drawn, ChatInput):
                self.ids["Ask"] = drawn.id or self.ids.get("Ask", "")
            else:
                self.ids[drawn.label] = drawn.id
        log = list(self.state["log"])
        self.state["log"] = []
        return log

    def press(self, *labels: str, parts: tuple[str, ...] = (), said: str = "") -> list[str]:
        """Presses that came while the page was drawn, with the parts of it that are asked for."""
        widgets = [WidgetState(id=self.ids[label], trigger_value=True) for label in labels]
        if said:
            value = ChatInputValue(data=said)
            widgets.append(WidgetState(id=self.ids["Ask"], chat_input_value=value))
        queue = [part for name in parts for part in self.fragments.resolve_target(name)]
        return self.run(widget_states=WidgetStates(widgets=widgets), fragment_id_queue=queue)


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[Tab]:
    script = tmp_path / "page.py"
    script.write_text(dedent(PAGE))
    media, files = MemoryMediaFileStorage("/media"), MemoryUploadedFileManager("/upload")
    Runtime(RuntimeConfig(str(script), media, files))
    yield Tab(script)
    Runtime._instance = None


def test_a_press_behind_a_part_that_has_news_is_carried_out(tab: Tab) -> None:
    tab.state["news"] = True
    log = tab.press("Second", parts=("looks", "second"))
    assert log == ["looks", "page", "looks", "second", "page", "looks"]


def test_a_press_behind_a_part_that_draws_itself_again_is_carried_out(tab: Tab) -> None:
    tab.state["its own news"] = True
    log = tab.press("Second", parts=("looks", "second"))
    assert log == ["looks", "looks", "second", "page", "looks"]


def test_two_presses_are_both_carried_out_each_once_and_their_callbacks_too(tab: Tab) -> None:
    log = tab.press("First", "Second", parts=("first", "second"))
    assert log == ["called", "first", "page", "looks", "second", "page", "looks"]
    tab.state["news"] = True
    log = tab.press("First", parts=("looks", "first"))
    assert log == ["called", "looks", "page", "looks", "first", "page", "looks"]


def test_a_part_that_draws_itself_again_has_the_page_drawn_where_it_is_drawn_with_it(
    tab: Tab,
) -> None:
    tab.state["news"] = True
    log = tab.press("Itself", parts=("looks", "itself"))
    assert log == ["looks", "page", "looks", "itself", "page", "looks"]
    tab.state["news"] = True
    log = tab.press("Itself", "Second", parts=("looks", "itself", "second"))
    drawn = ["page", "looks"]
    assert log == ["looks", *drawn, "itself", *drawn, "second", *drawn]
    assert tab.state["address"] == "abc"


def test_a_message_is_not_lost_where_the_page_ends_above_the_composer(tab: Tab) -> None:
    tab.state["news"] = True
    assert tab.press(said="How many?") == ["page", "looks", "page", "looks", "How many?"]
    assert tab.press() == ["page", "looks"]


def test_a_message_that_was_asked_before_the_composer_is_drawn_is_asked_once(tab: Tab) -> None:
    tab.state["at once"] = tab.state["news"] = True
    assert tab.press(said="How many?") == ["page", "asked: How many?", "looks", "page", "looks"]


def test_news_of_a_part_lead_to_no_earlier_address(tab: Tab) -> None:
    """The browser asks for a part while it does not know yet where the page has gone."""
    tab.state["begin"] = "new"
    tab.run(query="")
    tab.state["news"] = True
    looks = list(tab.fragments.resolve_target("looks"))
    assert tab.run(query="", fragment_id_queue=looks) == ["looks", "page", "looks"]
    assert tab.state["address"] == "new"
    tab.run(query="")  # back, by the person's own doing
    assert tab.state["address"] is None


def test_news_of_a_part_of_a_page_that_ended_early_lead_to_no_other(tab: Tab) -> None:
    tab.run(query="chat=door")
    tab.state["news"] = True
    looks = list(tab.fragments.resolve_target("looks"))
    assert tab.run(query="chat=door", fragment_id_queue=looks) == ["looks", "page", "looks"]
    assert tab.state["address"] == "door"


def test_a_part_may_give_the_page_another_address(tab: Tab) -> None:
    tab.state["go"] = "other"
    looks = list(tab.fragments.resolve_target("looks"))
    tab.run(query="chat=abc", fragment_id_queue=looks)
    assert tab.state["address"] == "other"


def test_no_page_is_drawn_anew_in_another_way() -> None:
    """`st.rerun` would lose what was pressed."""
    house = Path(__file__).resolve().parents[1] / "leaf"
    files = {file: file.read_text(encoding="utf-8") for file in house.rglob("*.py")}
    found = [
        str(file.relative_to(house))
        for file, text in files.items()
        if "st.rerun(" in text or "import rerun" in text
    ]
    assert found == ["ui/redraw.py"]


def test_what_is_not_public_of_streamlit_is_there() -> None:
    assert "replay_trigger_states" in inspect.signature(RerunData).parameters
    assert "is_fragment_scoped_rerun" in inspect.signature(RerunData).parameters
    assert callable(script_requests._has_active_trigger_value)
    assert callable(SessionState._capture_replay_trigger_values)
    assert callable(WStates.get_serialized)
    assert SessionState()._new_widget_state.states == {}
    with SafeSessionState(SessionState(), lambda: None).query_params() as query:
        query.set_initial_query_params("chat=abc")
        query.populate_from_query_string("chat=abc")
        assert query._query_params == {"chat": "abc"}
        assert query._initial_query_params == {"chat": ["abc"]}
    assert callable(PagesManager.set_current_page_script_hash)
    assert SafeSessionState(SessionState(), lambda: None)._state is not None
    assert user_key_from_element_id("$$ID-0123-a-key") == "a-key"
    assert SharedRunState().widget_ids_this_run.snapshot() == frozenset()

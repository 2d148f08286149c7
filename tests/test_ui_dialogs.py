"""A dialog stays while the page under it is drawn anew, until it is answered, left, or its place is
left. What is new waits for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime import Runtime, RuntimeConfig
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner_utils.script_run_context import (
    FragmentThreadState,
    ScriptRunContext,
    ThreadState,
)
from streamlit.testing.v1 import AppTest

from leaf.app import Leaf
from leaf.store.changes import Change, Hub
from leaf.ui import dialogs
from leaf.ui.redraw import PageAddress
from leaf.ui.wake import Waker
from tests.test_ui_pages import add, leaf, open_page  # noqa: F401


def with_dialog(leaf: Leaf) -> tuple[AppTest, str]:  # noqa: F811
    """A chat's page with a dialog open, and the file that it asks about."""
    session, file_id = leaf.session(leaf.local_scope()), add(leaf, "harvest.csv", b"apples\n3\n")
    chat = session.chats.create()
    session.attached.add(chat.id, [file_id])
    page = open_page(chat=chat.id)
    page.button(key=f"icon-about-{file_id}").click().run()
    assert [area.label for area in page.text_area] == ["Your words"]
    return page, file_id


def test_a_dialog_stays_while_the_page_is_drawn_anew_and_goes_when_it_is_answered(
    leaf: Leaf,  # noqa: F811
) -> None:
    page, file_id = with_dialog(leaf)
    first = page.text_area(key="about-words").proto.id
    page.run().run()
    assert page.text_area(key="about-words").proto.id == first, "its fields are others, and empty"
    page.text_area(key="about-words").set_value("Counted by hand")
    next(button for button in page.button if button.label == "Keep").click().run()
    assert not page.exception
    assert list(page.text_area) == []
    assert leaf.session(leaf.local_scope()).files.words(file_id)[0] == "Counted by hand"
    assert list(page.run().text_area) == []


def test_a_dialog_goes_with_the_page_that_it_stood_on(leaf: Leaf) -> None:  # noqa: F811
    page, _ = with_dialog(leaf)
    page.switch_page(str(Path(dialogs.__file__).parents[1] / "pages" / "settings.py")).run()
    assert list(page.text_area) == []
    assert dialogs.OPEN not in page.session_state


def test_dialogs_that_lead_to_another_project_go(leaf: Leaf) -> None:  # noqa: F811
    projects = leaf.session(leaf.local_scope()).projects
    page = open_page("project")
    page.button(key="new-project").click().run()
    next(field for field in page.text_input if field.label == "Title").set_value("Gamma")
    next(button for button in page.button if button.label == "Create").click().run()
    assert not page.exception
    assert [project.title for project in projects.list()] == ["Gamma"]
    assert "Create" not in [button.label for button in page.run().button]
    assert dialogs.OPEN not in page.session_state


@pytest.mark.usefixtures("leaf")
def test_a_dialog_about_what_has_gone_says_so() -> None:
    def page() -> None:
        from leaf.errors import NotFoundError
        from leaf.ui.dialogs import dialog, keep_open

        @dialog("Rename")
        def ask() -> None:
            raise NotFoundError("There is no file of that name.")

        ask()
        keep_open()

    drawn = AppTest.from_function(page, default_timeout=60).run()
    assert not drawn.exception
    assert [one.value for one in drawn.warning] == ["There is no file of that name\\."]


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    media, files = MemoryMediaFileStorage("/media"), MemoryUploadedFileManager("/upload")
    yield Runtime(RuntimeConfig(str(tmp_path / "none.py"), media, files))
    Runtime._instance = None


class Rings(Waker):
    """Says how often a page would be drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[str] = []
        self.serve(self)  # type: ignore[arg-type]

    def call_soon_threadsafe(self, call: Any, *given: Any) -> None:
        call(*given)

    def call_later(self, _wait: float, call: Any, *given: Any) -> None:
        call(*given)
        if call == self._draw:
            self.drawn.append(str(given[0]))


@pytest.mark.usefixtures("runtime")
def test_a_page_that_is_held_is_drawn_when_it_is_released_if_anything_changed() -> None:
    hub, waker = Hub(), Rings()
    waker.follow(hub)
    waker.wait("tab", "w", {"files"}, hub.position, PageAddress())
    waker.hold("tab")
    waker.release("tab")
    assert waker.drawn == []
    waker.hold("tab")
    hub.publish([Change("w", "files")])
    assert waker.drawn == []
    waker.release("tab")
    assert waker.drawn == ["tab"]


@pytest.mark.usefixtures("runtime")
def test_a_sign_in_that_ends_draws_a_held_page() -> None:
    hub, waker = Hub(), Rings()
    waker.follow(hub)
    waker.wait("tab", "w", {"files"}, hub.position, PageAddress())
    waker.hold("tab")
    waker.ring_at("tab", time.time())
    assert waker.drawn == ["tab"]


class Session:
    """Streamlit's of a tab, of which a part was drawn last, at an address that the browser had
    before."""

    _scriptrunner = None
    _client_state = ClientState(query_string="", page_script_hash="before", page_name="kept")

    def __init__(self) -> None:
        self.asked: list[ClientState] = []

    def request_rerun(self, state: ClientState) -> None:
        self.asked.append(state)


@pytest.mark.usefixtures("runtime")
def test_news_draw_a_page_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    monkeypatch.setattr(Runtime, "get_app_session", lambda *_: session)
    hub, waker = Hub(), Rings()
    waker.follow(hub)
    waker.wait("tab", "w", {"chats"}, hub.position, PageAddress("chat=new", "now"))
    hub.publish([Change("w", "chats")])
    (asked,) = session.asked
    assert (asked.query_string, asked.page_script_hash) == ("chat=new", "now")
    assert asked.page_name == "kept"
    assert session._client_state.query_string == ""


def test_what_is_not_public_of_streamlit_is_there() -> None:
    assert "has_dialog_opened" in ScriptRunContext.__dataclass_fields__
    assert "active_script_hash" in FragmentThreadState.__dataclass_fields__
    assert callable(ThreadState.get)
    assert callable(ScriptRunContext.run_with_active_hash)

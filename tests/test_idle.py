"""Nothing polls while nobody does anything, and what Leaf takes of libraries beneath their public
names for that is there."""

from __future__ import annotations

import inspect
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine as DatabaseEngine

from leaf.runs import board
from leaf.runs.dispatch import DAMAGED
from leaf.runs.engine import MOST_ATTEMPTS, _OneLook
from leaf.store import leases, messages
from tests.messages_server import MessagesServer, Turn
from tests.runs_kit import Desk, run_database, wait_until

SLOW = Turn.say("A long answer in many small pieces, word by word.", pieces=40, delay=0.1)


@pytest.fixture
def statements() -> Iterator[Counter[str]]:
    """Statements that went to the run database."""
    sent: Counter[str] = Counter()

    def count(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        sent[statement] += 1

    event.listen(DatabaseEngine, "before_cursor_execute", count)
    yield sent
    event.remove(DatabaseEngine, "before_cursor_execute", count)


@pytest.fixture(params=["duckdb", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("postgres_url")) if request.param == "postgres" else ""


def polling() -> set[str]:
    """Threads of DBOS that look again and again."""
    marks = ("queue", "notif", "background-jobs", "scheduler")
    return {
        thread.name
        for thread in threading.enumerate()
        if any(mark in thread.name for mark in marks)
    }


def test_an_idle_process_asks_its_databases_nothing(
    tmp_path: Path, database_url: str, statements: Counter[str]
) -> None:
    with (
        MessagesServer([Turn.say("Done.")]) as server,
        Desk(tmp_path, server.url, database_url=database_url) as resolver,
    ):
        asked = resolver.ask("Anything")
        wait_until(lambda: bool((record := resolver.engine.record(asked.id)) and record.over))
        wait_until(lambda: not polling() and not resolver.runs.board.load().running)
        statements.clear()
        time.sleep(2.5)
        assert not polling()
        assert statements == Counter()


def test_an_answer_is_begun_without_a_queue_and_gone_on_with_through_one(
    tmp_path: Path, statements: Counter[str]
) -> None:
    with MessagesServer([SLOW, Turn.say("The whole answer.")]) as server:
        with Desk(tmp_path, server.url) as resolver:
            asked = resolver.ask("Anything")
            wait_until(lambda: len(resolver.shown(asked.id, "text-delta")) > 2)
            assert not any(
                "queue_name = ?" in statement and "ENQUEUED" in statement
                for statement in statements
            )
            assert resolver.engine.record(asked.id).attempts == 1  # type: ignore[union-attr]
        with Desk(tmp_path, server.url) as resolver:
            resolver.runs.launch()
            assert resolver.end(asked.id).status == "completed"
            assert resolver.engine.record(asked.id).attempts == 2  # type: ignore[union-attr]


def test_an_answer_that_took_the_process_with_it_too_often_is_given_up_at_the_next_start(
    tmp_path: Path,
) -> None:
    with MessagesServer([SLOW, SLOW]) as server:
        with Desk(tmp_path, server.url) as resolver:
            asked = resolver.ask("Anything")
            wait_until(lambda: len(resolver.shown(asked.id, "text-delta")) > 2)
        run_database(
            tmp_path,
            f"UPDATE workflow_status SET attributes = '{json.dumps({'attempts': MOST_ATTEMPTS})}'",
        )
        with Desk(tmp_path, server.url) as resolver:
            resolver.runs.launch()
            answer = resolver.end(asked.id)
    assert (answer.status, answer.error) == ("error", DAMAGED)


def test_a_question_in_a_chat_that_another_process_answers_is_begun_when_that_one_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board, "BUSY_SECONDS", 600.0)
    with (
        MessagesServer([Turn.say("The second answer.")]) as server,
        Desk(tmp_path, server.url) as resolver,
    ):
        resolver.runs.launch()
        chat = resolver.chat()
        elsewhere = resolver.save("The first question", chat)
        leases.claim(resolver.db, resolver.scope, elsewhere.id)
        asked = resolver.ask("The second question", chat)
        wait_until(lambda: bool(resolver.runs.board.busy_until))
        messages.finish(
            resolver.db,
            resolver.scope,
            elsewhere.id,
            parts=[],
            raw=[],
            usage={},
            status="completed",
        )
        assert resolver.end(asked.id).status == "completed"


def test_an_event_in_the_place_of_a_queue_workers_lets_it_look_once() -> None:
    look = _OneLook()
    assert not look.is_set()
    assert [look.wait(0.1), look.wait(0.1)] == [False, True]


def test_dbos_still_has_what_is_taken_from_beneath_its_public_names() -> None:
    """Where one of these is gone, read `leaf/runs/engine.py` anew before that version of DBOS is
    taken."""
    from dbos import DBOS, _core, _dbos, _error, _sys_db
    from dbos._migration import sqlite_migrations
    from dbos._queue import queue_worker_thread

    assert list(inspect.signature(queue_worker_thread).parameters) == [
        "stop_event",
        "dbos",
        "queue",
    ]
    worker = inspect.getsource(queue_worker_thread)
    assert worker.count("stop_event.wait(") == 1  # `_OneLook` counts on it
    launch = inspect.getsource(_dbos.DBOS._launch)
    assert "self.background_thread_stop_events.append(evt)" in launch
    assert "self._background_jobs_stop_event" in launch
    assert "while self._run_background_processes" in inspect.getsource(
        _sys_db.SystemDatabase._notification_listener_polling
    )
    assert isinstance(sqlite_migrations, list)
    read = inspect.getsource(_core.read_stream)
    assert "sys_db.register_stream_listener(" in read
    assert "event.wait(timeout=wait_for)" in read
    assert callable(_sys_db.KeySignal.set)
    assert "self.streams_map = ThreadSafeEventDict()" in inspect.getsource(_sys_db.SystemDatabase)
    assert issubclass(_error.DBOSStreamTimeoutError, Exception)
    assert {"offset", "timeout_seconds"} <= set(inspect.signature(DBOS.read_stream).parameters)
    assert issubclass(_error.DBOSWorkflowConflictIDError, BaseException)
    assert not issubclass(_error.DBOSWorkflowConflictIDError, Exception)
    kept = inspect.getsource(_sys_db.SystemDatabase._record_operation_result_txn)
    assert "self._check_owner_txn(" in kept  # a step of a run that another has is not kept
    assert callable(DBOS.start_workflow)


def test_streamlit_still_has_what_is_taken_from_beneath_its_public_names() -> None:
    """Where one of these is gone, read `leaf/ui/wake.py`, `live/polled.py` and `browser.py` anew
    before that version is taken."""
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from streamlit.runtime import Runtime
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.scriptrunner_utils.script_requests import (
        ScriptRequests,
        ScriptRequestType,
    )
    from streamlit.runtime.scriptrunner_utils.script_run_context import (
        ScriptRunContext,
        get_script_run_ctx,
    )
    from streamlit.watcher.polling_path_watcher import PollingPathWatcher

    assert list(inspect.signature(Runtime.get_app_session).parameters) == ["self", "session_id"]
    assert list(inspect.signature(Runtime.is_active_session).parameters) == ["self", "session_id"]
    assert list(inspect.signature(AppSession.request_rerun).parameters) == ["self", "client_state"]
    assert "self.request_rerun(self._client_state)" in inspect.getsource(
        AppSession._on_source_file_changed
    )
    assert "self._client_state = client_state" in inspect.getsource(
        AppSession._handle_scriptrunner_event_on_event_loop
    )
    assert "self._scriptrunner.request_stop()" in inspect.getsource(AppSession.request_rerun)
    assert "PollingPathWatcher._executor.submit(task)" in inspect.getsource(
        PollingPathWatcher._schedule
    )
    assert "self._schedule()" in inspect.getsource(PollingPathWatcher._check_if_path_changed)
    assert ScriptRequests()._state is ScriptRequestType.CONTINUE
    assert {"session_id", "script_requests"} <= set(ScriptRunContext.__dataclass_fields__)
    assert hasattr(ScriptRunContext, "enqueue")
    assert get_script_run_ctx(suppress_warning=True) is None
    assert "auth_redirect" in ForwardMsg.DESCRIPTOR.fields_by_name


def test_the_theme_is_read_once_and_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, read `leaf/ui/standing.py` anew."""
    from streamlit import config
    from streamlit.proto.NewSession_pb2 import CustomThemeConfig
    from streamlit.runtime import app_session

    from leaf.ui.standing import keep_theme

    plain = app_session._populate_theme_msg
    monkeypatch.setattr(app_session, "_populate_theme_msg", plain)  # as it was, at the end
    assert list(inspect.signature(plain).parameters) == ["msg", "section"]
    assert "_populate_theme_msg(msg.new_session.custom_theme)" in inspect.getsource(app_session)

    def theme() -> CustomThemeConfig:
        made, populate = CustomThemeConfig(), app_session._populate_theme_msg
        populate(made)
        populate(made.light, "theme.light")
        populate(made.dark.sidebar, "theme.dark.sidebar")
        return made

    sections, ask = list[str](), config.get_options_for_section

    def noted(section: str) -> dict[str, object]:
        sections.append(section)
        return ask(section)

    monkeypatch.setattr(config, "get_options_for_section", noted)
    before = theme()
    assert before.light.primary_color
    sections.clear()
    for _ in range(2):
        keep_theme()
    assert [theme(), theme()] == [before, before]
    assert sorted(sections) == ["theme", "theme.dark.sidebar", "theme.light"]


def test_the_marks_are_read_once_and_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, read `leaf/ui/standing.py` anew."""
    from streamlit.commands import logo, page_config
    from streamlit.elements.lib.layout_utils import LayoutConfig

    from leaf.ui.page_head import ASSETS
    from leaf.ui.standing import keep_marks

    plain = logo.image_to_url
    assert next(iter(inspect.signature(plain).parameters)) == "image"
    for module in (logo, page_config):
        assert "image_to_url(" in inspect.getsource(module)
        monkeypatch.setattr(module, "image_to_url", plain)  # as it was, at the end
    options = {"clamp": False, "channels": "RGB", "output_format": "auto", "image_id": "mark"}
    layout = LayoutConfig(width="content")
    keep_marks()
    keep_marks()
    for path in sorted(ASSETS.glob("*.svg")):
        ours = logo.image_to_url(str(path), layout_config=layout, **options)
        assert ours == plain(str(path), layout_config=layout, **options)
    # What is no drawing in a file is Streamlit's to look at.
    address = "https://example.org/mark.svg"
    assert logo.image_to_url(address, layout_config=layout, **options) == address


def test_packages_are_not_gone_through_for_components_that_nobody_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where this fails, read `leaf/ui/standing.py` anew."""
    from streamlit.components.v2 import manifest_scanner
    from streamlit.components.v2.component_manager import BidiComponentManager

    from leaf.ui.standing import look_for_no_components

    scan = manifest_scanner.scan_component_manifests
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", scan)  # as it was, at the end
    assert scan() == [], "a package of Leaf's brings components: does a page draw them?"
    gone_through = list[str]()

    def noted(dist: object) -> bool:
        gone_through.append(str(dist))
        return False

    monkeypatch.setattr(manifest_scanner, "_is_likely_streamlit_component_package", noted)
    BidiComponentManager().discover_and_register_components()
    assert gone_through
    gone_through.clear()
    look_for_no_components()
    BidiComponentManager().discover_and_register_components()
    assert gone_through == []


def test_streamlit_still_has_what_requests_beside_the_page_are_judged_by() -> None:
    """Where one of these is gone, read `leaf/ui/admitted.py`, `cookies.py` and `receiving.py`
    anew."""
    from streamlit.auth_util import get_cookie_with_chunks
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.media_file_manager import MediaFileManager
    from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
    from streamlit.runtime.runtime import Runtime
    from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
    from streamlit.runtime.uploaded_file_manager import UploadedFileRec
    from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
    from streamlit.web.server.starlette import starlette_auth_routes, starlette_server_config
    from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

    media = vars(MediaFileManager(MemoryMediaFileStorage("/media")))
    assert {"_lock", "_files_by_session_and_coord"} <= set(media)
    assert "self._session_mgr = " in inspect.getsource(Runtime.__init__)
    assert "self._user_info = user_info" in inspect.getsource(AppSession.__init__)
    assert hasattr(WebsocketSessionManager, "get_session_info")
    assert starlette_server_config.USER_COOKIE_NAME == "_streamlit_user"
    assert starlette_server_config.TOKENS_COOKIE_NAME == "_streamlit_user_tokens"
    assert starlette_auth_routes._ROUTE_AUTH_LOGOUT == "auth/logout"
    assert list(UploadedFileRec._fields) == ["file_id", "name", "type", "data"]
    assert hasattr(MemoryUploadedFileManager, "add_file")
    assert {"session_id", "uploaded_file_mgr"} <= set(ScriptRunContext.__dataclass_fields__)
    assert callable(get_cookie_with_chunks)
    assert callable(decode_signed_value)


def test_streamlits_page_still_tells_of_its_connection_what_lost_js_reads() -> None:
    """Where one of these is gone, read `leaf/ui/assets/lost.js` anew: how it knows that the
    connection is lost, Streamlit's dialog of it, and the composer."""
    import streamlit

    folder = Path(streamlit.__file__).parent / "static" / "static" / "js"
    page = "".join(one.read_text(encoding="utf-8") for one in folder.glob("index.*.js"))
    assert '"data-test-connection-state":' in page
    assert '"data-test-script-state":' in page
    assert "this.state.connectionErrorDismissed||this.showError(`Connection error`," in page
    assert "this.setState({dialog:void 0,connectionErrorDismissed:!0})" in page  # closed is closed
    assert '"data-testid":`stDialog`' in page
    assert '"aria-label":`Close`' in page
    composer = next(folder.glob("ChatInput.*.js")).read_text(encoding="utf-8")
    assert "`stChatInputTextArea`" in composer
    assert "`stChatInputSubmitButton`" in composer

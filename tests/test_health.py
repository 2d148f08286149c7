"""What programs that watch over Leaf are told: the log's lines, whether it lives and can work, and what
it does. Over HTTP, of the app in a process of its own."""

from __future__ import annotations

import inspect
import json
import logging
import os
import re
import sys
import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.runtime import Runtime
from streamlit.runtime.session_manager import SessionManager

from leaf import logs, settings
from leaf.app import ROOM
from leaf.errors import SettingsError
from leaf.ui.health import health_routes
from leaf.ui.metrics import Metrics
from leaf.wiring import build
from tests import forked_programs
from tests.app_process import App
from tests.live_kit import wait_until
from tests.log_kit import taken_down
from tests.messages_server import MessagesServer, Turn

TOKEN = "a-token-of-collectors"
PLANTED = "Zebrafish"


@pytest.fixture(autouse=True)
def _no_writer() -> Iterator[None]:
    yield
    taken_down()


def get(url: str, token: str = "", host: str = "") -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if host:
        headers["Host"] = host
    try:
        with urlopen(Request(url, headers=headers), timeout=20) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as e:
        return e.code, e.read().decode()


def values(text: str) -> dict[str, float]:
    """`name{label}` -> value."""
    return {
        "/".join([sample.name, *sample.labels.values()]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_an_app_tells_that_it_lives_and_what_it_does_and_no_content(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    with MessagesServer([Turn.say(f"{PLANTED} is the answer.")]) as server:
        app = App(
            tmp_path / "home",
            model_url=server.url,
            log=log,
            LEAF_LOG="json",
            LEAF_METRICS_TOKEN=TOKEN,
        )
        app.start()
        try:
            assert get(f"{app.url}/healthz") == (200, "ok")
            assert get(f"{app.url}/healthz", host="some.where.example") == (200, "ok")
            wait_until(lambda: get(f"{app.url}/readyz")[0] == 200)
            assert json.loads(get(f"{app.url}/readyz")[1]) == {"ready": True, "not_well": []}
            assert get(f"{app.url}/metrics")[0] == 401
            assert get(f"{app.url}/metrics", "a-token-of-strangers")[0] == 401
            before = values(get(f"{app.url}/metrics", TOKEN)[1])
            assert "leaf_answers_total/completed" not in before
            command = [sys.executable, "-m", "leaf", "ask", f"Is it a {PLANTED}?"]
            known = {**os.environ, "LEAF_HOME": str(app.home), "LEAF_MODEL_URL": server.url}
            asked = forked_programs.run(
                command, env=known, capture_output=True, text=True, timeout=120
            )
            assert PLANTED in asked.stdout, asked.stderr
            wait_until(
                lambda: (
                    values(get(f"{app.url}/metrics", TOKEN)[1]).get("leaf_answers_total/completed")
                    == 1
                )
            )
            status, text = get(f"{app.url}/metrics", TOKEN)
        finally:
            app.stop()
    found = values(text)
    assert status == 200
    assert found["leaf_steps_total/model/ok"] == 1
    assert found["leaf_tokens_total/output"] > 0
    assert found["leaf_answers_running"] == 0
    assert found["process_resident_memory_bytes"] > 1e7
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    events = {line["event"]: line for line in lines if "event" in line}
    assert {"run-begins", "step", "run-ends"} <= set(events)
    assert events["step"]["outcome"] == "ok"
    assert events["run-ends"]["status"] == "completed"
    assert events["run-ends"]["run"] == events["step"]["run"]
    assert PLANTED not in text + log.read_text()


def test_without_a_token_there_are_no_metrics(tmp_path: Path) -> None:
    app = App(tmp_path / "home")
    app.start()
    try:
        assert get(f"{app.url}/metrics", TOKEN)[0] == 404
    finally:
        app.stop()
    with pytest.raises(SettingsError, match="LEAF_METRICS_TOKEN"):
        settings.load({"LEAF_METRICS_TOKEN": "short"})


def test_an_app_that_cannot_start_lives_and_is_not_ready(tmp_path: Path) -> None:
    url = "postgresql://nobody:wrong@127.0.0.1:9/none"
    app = App(tmp_path / "home", LEAF_DATABASE_URL=url)
    app.start()
    try:
        assert get(f"{app.url}/healthz") == (200, "ok")
        status, body = get(f"{app.url}/readyz")
    finally:
        app.stop()
    assert status == 503
    assert json.loads(body) == {
        "ready": False,
        "not_well": ["start"],
        "why": {"start": "nothing listens there."},
    }


def test_which_part_is_not_well_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leaf = build(settings.load({"LEAF_HOME": str(tmp_path / "home")}))
    leaf.launch()
    try:
        with TestClient(Starlette(routes=health_routes("/below", leaf.parts))) as client:
            assert client.get("/below/readyz").json() == {"ready": True, "not_well": []}
        monkeypatch.setattr("leaf.app.ROOM", -1)
        with TestClient(Starlette(routes=health_routes(answer=leaf.parts))) as client:
            answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["not_well"]) == (503, ["disk"])
    finally:
        leaf.close()
    assert ROOM > 0
    parts = leaf.parts()
    assert parts["database"]


def test_a_part_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaf.ui.health.PATIENCE", 0.2)
    going_on, asked = threading.Event(), []

    def hang() -> dict[str, str]:
        asked.append(1)
        going_on.wait(20)
        return {"database": ""}

    with TestClient(Starlette(routes=health_routes(answer=hang))) as client:
        for _ in range(3):
            assert client.get("/readyz").json()["not_well"] == ["answers in time"]
        assert len(asked) == 1, "a second look is not begun before the first has ended"
        going_on.set()
        wait_until(lambda: client.get("/readyz").status_code == 200)


@pytest.mark.parametrize("form", ["", "json", "quiet"])
def test_an_event_is_one_line(form: str) -> None:
    out, log = StringIO(), logging.getLogger("leaf.test")
    logs.set_up(form, out)
    heard: list[tuple[str, dict[str, Any]]] = []
    end = logs.watch(lambda name, fields: heard.append((name, dict(fields))))
    logs.event(log, "step", step="model-2", seconds=1.25, outcome="on request")
    end()
    logs.event(log, "step", step="model-3")
    log.warning("Something\nis wrong")
    lines = out.getvalue()
    assert heard == [("step", {"step": "model-2", "seconds": 1.25, "outcome": "on request"})]
    if form == "json":
        first, second, third = map(json.loads, lines.splitlines())
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", first.pop("at"))
        assert first == {
            "level": "info",
            "logger": "leaf.test",
            "event": "step",
            "step": "model-2",
            "seconds": 1.25,
            "outcome": "on request",
        }
        assert (second["step"], third["message"]) == ("model-3", "Something\nis wrong")
    else:
        told = "INFO step step=model-2 seconds=1.250 outcome=on-request"
        assert (told in lines) is (form != "quiet")
        assert "WARNING Something" in lines


def test_a_fault_is_logged_with_its_traceback_in_one_line() -> None:
    out = StringIO()
    logs.set_up("json", out)
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger("leaf").exception("It failed")
    (line,) = out.getvalue().splitlines()
    told = json.loads(line)["exception"].splitlines()
    assert told[0] == "ValueError"
    assert re.fullmatch(r"  \S+/test_health\.py:\d+ in test_a_fault_\w+", told[1])


def test_metrics_that_are_ended_count_no_more() -> None:
    metrics = Metrics()
    logs.event(logging.getLogger("leaf"), "compaction", run="m")
    metrics.end()
    logs.event(logging.getLogger("leaf"), "compaction", run="m")
    assert values(metrics.text({}).decode())["leaf_compactions_total"] == 1


def test_what_is_not_public_is_there() -> None:
    assert "self._session_mgr" in inspect.getsource(Runtime)
    assert callable(SessionManager.num_active_sessions)

"""Errors say what, which and what next."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from leaf.agent.calls import Calls
from leaf.errors import FAULT, InvalidInputError, SandboxError, not_found
from leaf.runs.execute import Executor
from leaf.sandbox.pool import Pool
from leaf.ui.freshness import ChatFreshness
from tests.leaf_kit import finished, opened
from tests.log_kit import written
from tests.messages_server import MessagesServer, Turn


@pytest.mark.parametrize(
    ("name", "candidates", "hint"),
    [
        ("reveneu", ["region", "revenue"], "Did you mean 'revenue'?"),
        ("REVENUE", ["region", "revenue"], "Did you mean 'revenue'?"),
        ("zzz", ["region", "revenue"], "There is 'region', 'revenue'."),
        ("zzz", [], "There is none."),
        ("zzz", [f"c{i}" for i in range(14)], "and 2 more."),
    ],
)
def test_not_found_names_what_is_near(name: str, candidates: list[str], hint: str) -> None:
    error = not_found("column", name, candidates, "sales.csv")
    assert error.message == f"No column '{name}' in sales.csv."
    assert hint in error.hint
    assert str(error) == f"{error.message} {error.hint}"


UNEXPECTED = re.compile(r"\b[A-Z]\w*(Error|Exception|Warning)\b|Traceback|0x[0-9a-f]{6}")
"""What is for developers alone."""


def test_an_unexpected_failure_in_a_child_blames_no_file_and_names_no_exception(
    tmp_path: Path,
) -> None:
    pool = Pool(tmp_path, size=1, paths=[Path(__file__).parent])
    try:
        for function in (
            "sandbox_functions:missing_key",
            "sandbox_functions:no_such_function",
            "no.such:module",
        ):
            with pytest.raises(SandboxError) as caught:
                pool.call(function, {}, returns=object)
            assert not UNEXPECTED.search(str(caught.value))
            assert "file" not in str(caught.value)
            assert "did not expect" in str(caught.value)
    finally:
        pool.close()


def test_a_command_that_fails_unexpectedly_says_so_and_keeps_the_details_aside(
    tmp_path: Path,
) -> None:
    # A method of Leaf is missing, as after an update that was installed by half.
    code = (
        "import sys, leaf.app, leaf.__main__; del leaf.app.Leaf.local_scope; "
        "sys.exit(leaf.__main__.main(['files', 'list', '--json']))"
    )
    environ = {**os.environ, "LEAF_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Leaf failed at this in a way that it did not expect." in done.stderr
    assert not UNEXPECTED.search(done.stderr + done.stdout)
    kept = Path(re.search(r"report it with (\S+)\. What", done.stderr)[1])  # type: ignore[index]
    assert "AttributeError" in kept.read_text()
    kept.unlink()


def test_a_page_that_fails_unexpectedly_is_one_sentence() -> None:
    def page() -> None:
        from leaf.ui.server import explain

        try:
            {}["secret column"]
        except KeyError as e:
            explain(e)

    shown = AppTest.from_function(page, default_timeout=60).run()
    assert [w.value for w in shown.warning] == [
        "This page could not be drawn. Reload it; the log says why."
    ]
    assert not shown.exception


def test_an_unexpected_failure_beside_the_page_is_told_and_logged_without_its_words() -> None:
    class Broken:
        def changes(self, _: str) -> None:
            raise KeyError("secret column")

    look = ChatFreshness("chat")
    with written() as log:
        look.ask(SimpleNamespace(drive=Broken()), lambda: None)  # type: ignore[arg-type]
    assert look.problem == FAULT
    assert "KeyError" in log.getvalue()
    assert "in changes" in log.getvalue()
    assert "secret column" not in log.getvalue()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("a fault of ours"), "Leaf failed in a way that it did not expect. Ask again"),
        (InvalidInputError("The question is odd.", "Ask another."), "The question is odd."),
    ],
)
def test_an_answer_that_cannot_go_on_says_why_and_a_fault_of_leaf_is_called_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Executor, "_task_settings", fail)
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        answer = finished(session, session.messages.send(session.chats.create().id, "What?").id)
    assert answer.status == "error"
    assert answer.error.startswith(said)
    assert "a fault of ours" not in answer.error


def test_an_answer_that_fails_amid_its_steps_keeps_them_and_leaves_none_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Calls, "run", fail)
    turn = Turn.call(("list_files", {}), text="I look at what is there.")
    with (
        MessagesServer([turn]) as server,
        opened(tmp_path, api_key="k", model_url=server.url) as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        answer = finished(session, session.messages.send(session.chats.create().id, "What?").id)
    assert answer.status == "error"
    assert "I look at what is there." in str(answer.parts)
    (call,) = [part for part in answer.parts if part["type"].startswith("tool-")]
    assert (call["state"], call["errorText"]) == ("output-error", "Not finished.")

"""The log holds no word of a question, an answer or a file, also where something fails."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from streamlit.error_util import handle_uncaught_app_exception
from streamlit.testing.v1 import AppTest

from leaf import logs
from leaf.agent.models.claude import ClaudeModel
from leaf.errors import NotFoundError, SandboxError, StorageError, StoreError
from leaf.sandbox.pool import Pool
from leaf.settings import Settings
from leaf.ui.server import _tell
from tests.agent_kit import agent_for, answer
from tests.log_kit import written
from tests.messages_server import MessagesServer, Turn

PLANTED = "salary of Ann Example"


def of_a_person() -> None:
    raise KeyError(PLANTED)


@pytest.mark.parametrize("form", ["", "json", "quiet"])
def test_a_tool_that_fails_logs_no_word_of_what_it_read(form: str) -> None:
    def tool(*_: Any) -> Any:
        try:
            of_a_person()
        except KeyError as e:
            raise ValueError(f"no {PLANTED}") from e

    with written(form) as log, MessagesServer([Turn.call("crash"), Turn.say("No.")]) as server:
        answer(agent_for(ClaudeModel("key", server.url, retries=0)), "Who?", tool=tool)
    told = log.getvalue()
    assert "tool crash failed" in told
    assert all(word in told for word in ("ValueError", "behind it: KeyError", "in of_a_person"))
    assert "Ann" not in told


def test_a_reader_that_fails_logs_no_word_of_its_file(tmp_path: Path) -> None:
    pool = Pool(tmp_path, size=1, paths=[Path(__file__).parent])
    try:
        with written() as log, pytest.raises(SandboxError):
            pool.call("sandbox_functions:missing_key", {}, returns=object)
        with written("full") as whole, pytest.raises(SandboxError):
            pool.call("sandbox_functions:missing_key", {}, returns=object)
    finally:
        pool.close()
    (line,) = [json.loads(line) for line in log.getvalue().splitlines() if "failed" in line]
    assert "KeyError" in line["message"]
    assert "sandbox_functions.py:" in line["message"]
    assert "secret column" not in log.getvalue()
    assert "KeyError: 'secret column'" in whole.getvalue(), "for whoever asked for it"


def test_a_page_that_fails_logs_no_word_of_it() -> None:
    def page() -> None:
        from leaf.ui.server import explain

        try:
            {}["salary of Ann Example"]
        except KeyError as e:
            explain(e)

    _tell(Settings())
    with written() as log:
        AppTest.from_function(page, default_timeout=60).run()
        handle_uncaught_app_exception(NotFoundError(f"No column '{PLANTED}'."))
        logging.getLogger("dbos").error("Exception in workflow", exc_info=KeyError(PLANTED))
    assert "A page failed" in log.getvalue()
    assert "Uncaught app execution" in log.getvalue()
    assert "NotFoundError" in log.getvalue()
    assert "Ann" not in log.getvalue()


def test_of_an_error_the_number_of_its_system_is_told() -> None:
    assert logs.trace(OSError(28, PLANTED)) == "OSError (ENOSPC)"
    assert logs.reason(StoreError("The database is away.")) == "The database is away."
    assert logs.reason(StorageError(f"'{PLANTED}' cannot be read.")) == "StorageError"
    assert logs.reason(NotFoundError(f"No column '{PLANTED}'.")) == "NotFoundError"


def test_what_a_child_claims_to_be_a_trace_is_none() -> None:
    try:
        of_a_person()
    except KeyError as e:
        told = logs.trace(e)
    assert logs.plain(told) == told
    assert logs.plain(f"{PLANTED}\n{told}\nKeyError: '{PLANTED}'\n  {PLANTED}:3 in f") == told


def test_whoever_asks_for_words_gets_them() -> None:
    with written("full") as log:
        try:
            of_a_person()
        except KeyError:
            logging.getLogger("leaf").exception("It failed")
    assert f"KeyError: '{PLANTED}'" in log.getvalue()


def test_an_error_within_a_message_is_told_without_its_words() -> None:
    with written() as log:
        logging.getLogger("leaf").warning("not kept: %s", NotFoundError(f"No column '{PLANTED}'."))
        logging.getLogger("leaf").warning("waits: %s", StoreError("The database is away."))
        logging.getLogger("leaf").warning("%d of %s", 3, "it")
    assert PLANTED not in log.getvalue()
    for told in ("not kept: NotFoundError", "waits: The database is away.", "3 of it"):
        assert told in log.getvalue()

"""PostgreSQL falls over and comes back while answers are written: they go on, and nobody is told of it
whom it does not concern."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaf.errors import StoreAwayError
from leaf.settings import Settings
from leaf.store import open_store
from tests import postgres
from tests.leaf_kit import opened
from tests.messages_server import MessagesServer, Turn
from tests.runs_kit import Desk, text_of, wait_until
from tests.test_jobs import made
from tests.test_processes import SlowModel, text_for

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a server that nobody else uses, since it is restarted."""
    with postgres.server() as started:
        yield started


def test_a_server_that_fell_over_is_met_once_by_whoever_asks(address: str, tmp_path: Path) -> None:
    store = open_store(Settings(home=tmp_path, database_url=postgres.fresh(address)))
    with store.db.transaction(), store.db.transaction(), store.db.transaction():
        pass  # three connections, which are kept for the next who ask
    postgres.restart(address)
    with pytest.raises(StoreAwayError, match="connection to the database was lost"):
        store.db.read("SELECT 1 AS one")
    assert store.db.read("SELECT 1 AS one") == [{"one": 1}]
    store.close()


def test_a_call_is_made_again_when_the_database_falls_over_under_it(
    address: str, tmp_path: Path
) -> None:
    """The model is not told: it could not help it, and would do twice what is done already."""
    slow = "import time\ntime.sleep(4)\nopen('at.txt', 'w').write(str(time.time_ns()))"
    turns = [Turn.call(("run_python", {"code": slow})), Turn.say("Written down.")]
    with (
        MessagesServer(turns) as server,
        opened(
            tmp_path, database_url=postgres.fresh(address), model_url=server.url, api_key="k"
        ) as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        asked = session.messages.send(session.chats.create().id, "Write it down.").id
        run = session.messages.watch(asked)
        assert run is not None
        wait_until(lambda: any(c["type"] == "tool-input-available" for c in run.read().chunks))
        postgres.restart(address)
        wait_until(lambda: asked not in leaf._house.runs.board.live)
        answer = session.messages.get(asked)
        assert answer.status == "completed"
        (call,) = [part for part in answer.parts if part["type"] == "tool-run_python"]
        assert call["state"] == "output-available", call
        assert len(server.requests) == 2
        db = leaf._house.store.db
        for table in ("cells", "made_files"):
            assert len(db.read(f"SELECT message_id FROM {table}")) == 1


def test_an_answer_goes_on_though_the_database_is_away_again_when_it_is_its_turn(
    address: str, tmp_path: Path
) -> None:
    with (
        MessagesServer(SlowModel()) as server,
        Desk(tmp_path, server.url, database_url=postgres.fresh(address)) as desk,
    ):
        asked = desk.ask("question-1")
        wait_until(lambda: len(desk.shown(asked.id, "text-delta")) > 2)
        run = desk.runs.board.runs[asked.id]
        postgres.restart(address, away=4)
        wait_until(lambda: "goes on by itself" in str(run.read().chunks))
        postgres.restart(address, away=8)
        wait_until(lambda: asked.id not in desk.runs.board.live)
        assert text_of(desk.message(asked.id)) == text_for("question-1")


def test_a_job_goes_on_when_the_database_is_back(address: str, tmp_path: Path) -> None:
    """It would be under way for ever else: nobody could keep how it ended."""
    paths = made(tmp_path / "given", 100)
    with opened(tmp_path / "home", database_url=postgres.fresh(address)) as leaf:
        session = leaf.session(leaf.local_scope())
        job = session.jobs.begin(len(paths), target="new")
        session.jobs.take_paths(job.id, paths)
        session.jobs.all_arrived(job.id)
        wait_until(lambda: session.jobs.get(job.id).done > 0)
        restarting = threading.Thread(target=postgres.restart, args=(address,), kwargs={"away": 1})
        restarting.start()
        ended = session.jobs.wait(job.id, 60)  # asks while nobody answers, too
        restarting.join()
        assert (ended.state, ended.done, ended.failed) == ("done", 100, 0)
        assert len(session.files.list()) == 100
        assert len(session.attached.list(str(ended.outcome["chat"]))) == 100

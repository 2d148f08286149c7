"""What is watched at another process than the one that writes it comes to an end there, whatever becomes of
its writer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from leaf.runs import engine
from leaf.runs.run import Run
from leaf.store import messages
from leaf.store.postgres import PostgresDatabase
from tests.leaf_kit import finished, opened
from tests.messages_server import MessagesServer, Turn
from tests.runs_kit import Desk, wait_until
from tests.test_processes import PATIENT, Place, SlowModel


@pytest.fixture
def place(tmp_path: Path, postgres_url: str) -> Iterator[Place]:
    started = Place(tmp_path, postgres_url)
    yield started
    for process in started.processes:
        process.close()


def test_an_answer_that_wrote_a_document_ends_as_any_other(
    postgres_url: str, tmp_path: Path
) -> None:
    """Its figures are traced after it was saved, when nobody holds it any more."""
    turns = [
        Turn.call(("create_document", {"title": "Notes", "content": "There are 12 of them."})),
        Turn.say("Written down."),
    ]
    with (
        MessagesServer(turns) as server,
        opened(tmp_path, database_url=postgres_url, model_url=server.url, api_key="k") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        asked = session.messages.send(chat.id, "Write it down.").id
        run = session.messages.watch(asked)
        assert run is not None
        assert finished(session, asked).status == "completed"
        wait_until(lambda: run.read().done)
        assert run.read().chunks[-1]["type"] == "finish"
        assert leaf.run_steps(asked)[-1].name == "save"
        house = leaf._house
        wait_until(lambda: asked not in house.runs.board.live)
        assert len(house.store.db.read("SELECT document_id FROM document_receipts")) == 1


def test_who_watches_is_told_of_the_end_though_the_writer_was_gone_before_it_said_so(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SILENT_SECONDS", 0.2)  # a word now and then comes more rarely
    with MessagesServer(SlowModel(seconds=30)) as server:
        (writer,) = place.start(1, server.url, PATIENT)
        asked = writer.say("ask question-1")
        wait_until(lambda: place.writing() > 3)
        with Desk(tmp_path / "here", server.url, database_url=place.url, times=PATIENT) as desk:
            desk.runs.launch()
            heard: list[str] = []
            desk.db.changes.hear(heard.append)
            run = desk.runs.watch(asked)
            assert run is not None
            assert run.elsewhere
            wait_until(lambda: len(run.read().chunks) > 3)
            wait_until(lambda: any(line.startswith(asked) and "word" in line for line in heard))
            assert not run.read().done
            writer.process.kill()
            saved = {"parts": [], "raw": [], "usage": {}, "status": "completed"}
            messages.finish(desk.db, desk.scope, asked, **saved)  # type: ignore[arg-type]
            wait_until(lambda: run.read().done)
            assert run.read().chunks[-1]["type"] == "finish"


def test_a_process_that_is_alone_tells_nobody_what_its_answer_grows_by(
    postgres_url: str, tmp_path: Path
) -> None:
    heard: list[str] = []
    listener = PostgresDatabase(postgres_url)
    try:
        with (
            MessagesServer([Turn.say("a b c d e f g h", pieces=8, delay=0.2)]) as server,
            Desk(tmp_path, server.url, database_url=postgres_url) as desk,
        ):
            desk.runs.launch()
            listener.changes.hear(heard.append)
            listener.listen()
            wait_until(lambda: desk.runs.board.alone)
            asked = desk.ask("Count.")
            assert desk.end(asked.id).status == "completed"
            desk.db.tell(["the end"])
            wait_until(lambda: "the end" in heard)
        assert not [line for line in heard if line.startswith(asked.id)]
    finally:
        listener.close()


def test_a_position_in_a_run_that_was_taken_over_is_none_in_the_next_one(tmp_path: Path) -> None:
    """A command asks for what is new by its position alone."""
    with (
        MessagesServer([Turn.say("a b c d e f g h", pieces=8, delay=0.3)]) as server,
        opened(tmp_path, model_url=server.url, api_key="k") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        asked = session.messages.send(session.chats.create().id, "Count.").id
        seen = session.messages.wait(asked, 0, 5)
        later = session.messages.wait(asked, seen.position, 5)
        assert seen.chunks
        assert not later.done
        board = leaf._house.runs.board
        before = board.runs[asked]
        board.runs[asked] = Run(asked)  # as where this process takes it over while it reads along
        moved = session.messages.wait(asked, later.position, 0)
        assert [c["type"] for c in moved.chunks] == ["abort"]
        assert moved.done
        board.runs[asked] = before
        assert session.messages.wait(asked, 0, 0).chunks[: len(seen.chunks)] == seen.chunks
        finished(session, asked)

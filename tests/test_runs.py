"""Runs outlive tabs, kills and deploys. Real databases, a real model server on loopback, processes
that are really killed."""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bench import faults
from leaf.agent.events import chunk, reduce
from leaf.errors import InvalidInputError, NotFoundError, RunError, StoreBusyError, StoreError
from leaf.runs import board, engine
from leaf.runs.board import ELSEWHERE, KEPT_SECONDS, QueueLimits, RunBoard, status_chunk
from leaf.runs.engine import Engine
from leaf.runs.run import Run
from leaf.runs.sqlite import prepare_file
from leaf.runs.waiting import QueueEntry, QueuePlace, Waiting
from leaf.store import cells, chats, leases, messages
from leaf.store.changes import Hub
from leaf.store.model import Scope
from tests.messages_server import Failure, MessagesServer, Turn
from tests.removal_kit import purge_chat
from tests.runs_kit import Desk, run_database, text_of, wait_until

ADD = ("add_numbers", {"numbers": [1, 2, 3]})
SLOW = Turn.say("A long answer in many small pieces, word by word.", pieces=40, delay=0.1)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


# Kills


def test_answers_survive_kills_at_random_instants_exact_and_once(home: Path) -> None:
    report = faults.random_kills(home, runs=8, seed=3, kills=4)
    assert report.good, report
    assert report.kills >= 3
    assert report.views >= 8


@pytest.mark.parametrize(
    "scenario", [faults.killed_after_save, faults.full_disk, faults.jumping_clock]
)
def test_answers_survive(scenario: Callable[[Path, int, int], faults.Report], home: Path) -> None:
    report = scenario(home, 2, 1)
    assert report.good, report


def test_a_closed_process_leaves_its_run_to_the_next_which_goes_on_at_the_unfinished_step(
    home: Path,
    kept: dict[str, Any],
) -> None:
    with MessagesServer(
        [Turn.call(ADD, ADD, text="First."), SLOW, Turn.say("The whole second turn.")]
    ) as server:
        with Desk(home, server.url, **kept) as resolver:
            asked = resolver.ask("Add")
            wait_until(lambda: len(resolver.shown(asked.id, "text-delta")) > 12)
        assert server.left.wait(10)
        with Desk(home, server.url, **kept) as resolver:
            assert resolver.message(asked.id).status == "streaming"
            resolver.runs.launch()
            chunks = resolver.watch(asked.id)
            answer = resolver.message(asked.id)
            assert resolver.tools_run == []
            streamed = [c for batch in resolver.engine.read_stream(asked.id) for c in batch]
        assert len(server.requests) == 3
    assert answer.status == "completed"
    assert text_of(answer) == "First.\nThe whole second turn."
    assert json.loads(json.dumps(reduce(chunks))) == answer.parts
    assert reduce(streamed) == answer.parts
    assert [c["attempt"] for c in streamed if c["type"] == "begin" and c["step"] == "model-2"] == [
        1,
        2,
    ]


@pytest.mark.parametrize("status", ["pending", "streaming"])
def test_a_question_that_was_only_saved_is_answered_at_the_next_start(
    home: Path, status: str
) -> None:
    with MessagesServer([Turn.say("Here it is.")]) as server:
        with Desk(home, server.url) as resolver:
            asked = resolver.save("What?")
            if status == "streaming":
                assert leases.claim(resolver.db, resolver.scope, asked.id) == "claimed"
        with Desk(home, server.url) as resolver:
            resolver.runs.launch()
            assert text_of(resolver.end(asked.id)) == "Here it is."


def test_a_run_of_another_version_begins_anew(home: Path, kept: dict[str, Any]) -> None:
    with MessagesServer([SLOW, Turn.say("From the beginning.")]) as server:
        with Desk(home, server.url, **kept) as resolver:
            asked = resolver.ask("What?")
            wait_until(lambda: bool(resolver.shown(asked.id, "text-delta")))
        run_database(home, "UPDATE workflow_status SET application_version = 'leaf-0'", **kept)
        with Desk(home, server.url, **kept) as resolver:
            resolver.runs.launch()
            assert text_of(resolver.end(asked.id)) == "From the beginning."


def test_a_run_without_its_message_ends_quietly(home: Path, kept: dict[str, Any]) -> None:
    with MessagesServer([SLOW, Turn.say("Another.")]) as server:
        with Desk(home, server.url, **kept) as resolver:
            chat = resolver.chat()
            asked = resolver.ask("What?", chat)
            wait_until(lambda: bool(resolver.shown(asked.id, "text-delta")))
        with Desk(home, server.url, **kept) as resolver:
            chats.delete(resolver.db, resolver.scope, chat.id)
            purge_chat(resolver.db, resolver.scope, chat.id)
            resolver.runs.launch()
            # Once it is over its record may be pruned at any moment, since nothing names it any more.
            wait_until(lambda: (record := resolver.engine.record(asked.id)) is None or record.over)
            assert text_of(resolver.end(resolver.ask("And now?").id)) == "Another."
        assert len(server.requests) == 2


def test_a_run_whose_chat_was_put_away_stops_and_keeps_what_it_had(
    home: Path, kept: dict[str, Any]
) -> None:
    with MessagesServer([Turn.call(ADD, text="First."), SLOW]) as server:
        with Desk(home, server.url, **kept) as resolver:
            chat = resolver.chat()
            asked = resolver.ask("What?", chat)
            wait_until(lambda: len(server.requests) == 2)
        with Desk(home, server.url, **kept) as resolver:
            chats.delete(resolver.db, resolver.scope, chat.id)
            resolver.runs.launch()
            wait_until(lambda: bool((record := resolver.engine.record(asked.id)) and record.over))
            chats.restore(resolver.db, resolver.scope, chat.id)
            answer = resolver.message(asked.id)
        assert len(server.requests) == 2
    assert (answer.status, text_of(answer)) == ("stopped", "First.")


# Stop


def test_stop_ends_a_running_tool_and_keeps_what_was_shown(
    home: Path, kept: dict[str, Any]
) -> None:
    with (
        MessagesServer([Turn.call("hang", ADD, text="I wait.")]) as server,
        Desk(home, server.url, **kept) as resolver,
    ):
        asked = resolver.ask("Hang")
        wait_until(lambda: bool(resolver.shown(asked.id, "tool-output-available")))
        resolver.runs.stop(asked.id)
        answer = resolver.end(asked.id)
        last = resolver.watch(asked.id)[-1]
    assert (answer.status, text_of(answer)) == ("stopped", "I wait.")
    assert last["type"] == "abort"
    assert [p["state"] for p in answer.parts if p["type"].startswith("tool-")] == [
        "output-error",
        "output-available",
    ]


def test_a_stop_that_cannot_be_kept_stops_all_the_same(home: Path, kept: dict[str, Any]) -> None:
    with (
        MessagesServer([Turn.call("hang", ADD, text="I wait.")]) as server,
        Desk(home, server.url, **kept) as resolver,
    ):
        asked = resolver.ask("Hang")
        wait_until(lambda: bool(resolver.shown(asked.id, "tool-output-available")))
        run_database(home, "ALTER TABLE workflow_status RENAME COLUMN attributes TO away", **kept)
        resolver.runs.stop(asked.id)
        run_database(home, "ALTER TABLE workflow_status RENAME COLUMN away TO attributes", **kept)
        assert resolver.end(asked.id).status == "stopped"


def test_a_stop_outlives_a_kill(home: Path) -> None:
    with MessagesServer(
        [Turn.call(ADD, text="First."), SLOW, Turn.say("Never asked for.")]
    ) as server:
        with Desk(home, server.url) as resolver:
            asked = resolver.ask("Add")
            wait_until(lambda: len(server.requests) == 2)
        run_database(home, "UPDATE workflow_status SET attributes = '{\"stop\": true}'")
        with Desk(home, server.url) as resolver:
            resolver.runs.launch()
            answer = resolver.end(asked.id)
        assert len(server.requests) == 2
    assert (answer.status, text_of(answer)) == ("stopped", "First.")


# Retry


def test_retry_goes_on_from_the_last_good_step_and_the_failed_answer_stays(
    home: Path, kept: dict[str, Any]
) -> None:
    script = [
        Turn.call(ADD, text="First."),
        Failure(400, "invalid_request_error", "no"),
        Turn.say("Six."),
    ]
    with MessagesServer(script) as server, Desk(home, server.url, **kept) as resolver:
        asked = resolver.ask("Add")
        failed = resolver.end(asked.id)
        assert resolver.runs.goes_on(asked.id)
        of = (resolver.db, resolver.scope, asked.chat_id)
        cells.add(*of, asked.id, f"{asked.id}/1", "factor = 2", ())
        again = messages.add_answer(
            resolver.db, resolver.scope, failed.parent_id, model=failed.model
        )
        resolver.runs.start(resolver.scope, again)
        answer = resolver.end(again.id)
        assert resolver.message(asked.id).status == "error"
        steps = [(step.name, step.outcome) for step in resolver.runs.steps(asked.id)]
        (cell,) = cells.of_messages(*of, [again.id])
        took = [step.seconds for step in resolver.runs.steps(asked.id)]
        calls = server.connections
    assert failed.error.endswith("This was step 2.")
    assert all(0 <= seconds < 60 for seconds in took)
    assert (cell.key, cell.code) == (f"{again.id}/1", "factor = 2")
    assert steps == [
        ("task", "ok"),
        ("model-1", "ok"),
        ("tool-1-1-add_numbers", "ok"),
        ("model-2", "error"),
        ("save", "ok"),
    ]
    assert (answer.status, text_of(answer)) == ("completed", "First.\nSix.")
    assert resolver.tools_run == ["add_numbers"]
    assert calls == 3
    assert answer.usage["input"] == server.requests[1].tokens


def test_retry_with_another_model_asks_from_the_beginning(home: Path, kept: dict[str, Any]) -> None:
    script = [
        Turn.call(ADD, text="First."),
        Failure(400, "invalid_request_error", "no"),
        Turn.say("Anew."),
    ]
    with MessagesServer(script) as server, Desk(home, server.url, **kept) as resolver:
        failed = resolver.end(resolver.ask("Add").id)
        again = messages.add_answer(
            resolver.db, resolver.scope, failed.parent_id, model="claude-opus-5-5"
        )
        resolver.runs.start(resolver.scope, again)
        assert text_of(resolver.end(again.id)) == "Anew."


# A model server that is down


def test_a_busy_model_server_is_asked_again_and_the_viewer_is_told(
    home: Path, kept: dict[str, Any]
) -> None:
    script = [Failure.overloaded(0), Failure.rate_limited(0), Turn.say("At last.")]
    with MessagesServer(script) as server, Desk(home, server.url, **kept) as resolver:
        asked = resolver.ask("What?")
        chunks = resolver.watch(asked.id)
        answer = resolver.message(asked.id)
    said = [c["data"]["text"] for c in chunks if c["type"] == "data-status"]
    assert said == [
        "The model is overloaded (529). Trying again in 1 s (attempt 2).",
        "",
        "The model server takes no more requests for now (429). Trying again in 2 s (attempt 3).",
        "",
    ]
    assert (answer.status, text_of(answer)) == ("completed", "At last.")
    assert not [part for part in answer.parts if part["type"] == "data-status"]


def test_a_model_server_that_stays_away_is_an_error_after_the_patience(
    home: Path, kept: dict[str, Any]
) -> None:
    with MessagesServer() as server:
        nobody = server.url
    with Desk(home, nobody, **kept, patience=1.5) as resolver:
        answer = resolver.end(resolver.ask("What?").id)
    assert answer.status == "error"
    assert answer.error.startswith(f"The model server at {nobody} cannot be reached.")


def test_stop_works_while_waiting_for_the_model_server(home: Path, kept: dict[str, Any]) -> None:
    with MessagesServer() as server:
        nobody = server.url
    with Desk(home, nobody, **kept, patience=600) as resolver:
        asked = resolver.ask("What?")
        wait_until(lambda: bool(resolver.shown(asked.id, "data-status")))
        resolver.runs.stop(asked.id)
        assert resolver.end(asked.id).status == "stopped"


# The queue


def test_a_chat_answers_one_question_at_a_time_and_the_next_knows_the_answer_before(
    home: Path,
    kept: dict[str, Any],
) -> None:
    script = [Turn.say("The first answer.", pieces=10, delay=0.05), Turn.say("The second answer.")]
    with MessagesServer(script) as server, Desk(home, server.url, **kept) as resolver:
        chat = resolver.chat()
        first, second = resolver.ask("One?", chat), resolver.ask("Two?", chat)
        wait_until(lambda: bool(resolver.shown(first.id, "text-delta")))
        assert resolver.message(second.id).status == "pending"
        resolver.end(second.id)
        said = [
            block["text"]
            for message in server.requests[1].body["messages"]
            for block in message["content"]
        ]
    assert said == ["One?", "The first answer.", "Two?"]


def test_a_waiting_question_can_be_withdrawn_and_the_next_follows_what_stood_before(
    home: Path,
    kept: dict[str, Any],
) -> None:
    slow, after = Turn.say("First.", pieces=10, delay=0.05), Turn.say("Third.")
    with MessagesServer([slow, after]) as server, Desk(home, server.url, **kept) as resolver:
        chat = resolver.chat()
        first, second, third = (resolver.ask(text, chat) for text in ("One?", "Two?", "Three?"))
        question = resolver.runs.withdraw(resolver.scope, second.id)
        assert question.parts[0]["text"] == "Two?"
        assert text_of(resolver.end(third.id)) == "Third."
        thread = messages.thread(resolver.db, resolver.scope, chat.id).messages
        with pytest.raises(NotFoundError):
            resolver.message(second.id)
        with pytest.raises(InvalidInputError, match="not waiting any more"):
            resolver.runs.withdraw(resolver.scope, first.id)
    assert [text_of(message) for message in thread] == ["One?", "First.", "Three?", "Third."]


def test_a_waiting_question_can_be_stopped_before_it_is_begun(
    home: Path, kept: dict[str, Any]
) -> None:
    with (
        MessagesServer([Turn.say("First.", pieces=10, delay=0.05)]) as server,
        Desk(home, server.url, **kept) as resolver,
    ):
        chat = resolver.chat()
        first, second = resolver.ask("One?", chat), resolver.ask("Two?", chat)
        resolver.runs.stop(second.id)
        assert resolver.watch(second.id)[-1]["type"] == "abort"
        assert resolver.message(second.id).status == "stopped"
        assert resolver.end(first.id).status == "completed"
        assert len(server.requests) == 1


def test_no_more_answers_are_written_at_once_than_the_limits_allow(
    home: Path, kept: dict[str, Any]
) -> None:
    at_once, most = [0], [0]
    lock = threading.Lock()

    def brain(body: object) -> Turn:
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        threading.Timer(0.15, lambda: at_once.__setitem__(0, at_once[0] - 1)).start()
        return Turn.say("Done.", pieces=4, delay=0.05)

    limits = QueueLimits(per_user=2, total=20)
    with MessagesServer(brain) as server, Desk(home, server.url, **kept, limits=limits) as resolver:
        asked = [resolver.ask(f"Question {i}") for i in range(6)]
        assert {resolver.end(message.id).status for message in asked} == {"completed"}
    assert most[0] <= 2


def test_what_waits_for_room_is_counted(home: Path, kept: dict[str, Any]) -> None:
    limits = QueueLimits(per_user=3, total=1)
    with (
        MessagesServer([SLOW] * 3) as server,
        Desk(home, server.url, **kept, limits=limits) as resolver,
    ):
        first = resolver.ask("First?")
        wait_until(lambda: bool(resolver.shown(first.id, "text-delta")))
        assert resolver.runs.for_room() == 0
        others = [resolver.ask("Second?"), resolver.ask("Third?")]
        assert resolver.runs.for_room() == 2
        for message in (*others, first):
            resolver.runs.stop(message.id)
        resolver.end(first.id)
        assert resolver.runs.for_room() == 0


def test_a_question_that_cannot_be_begun_now_is_begun_by_itself_and_the_viewer_is_told(
    home: Path, kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board, "AGAIN_SECONDS", 0.1)
    begin, refused = Engine.begin, []

    def refuse_once(engine: Engine, message_id: str) -> None:
        if not refused:
            refused.append(message_id)
            raise sqlite3.OperationalError("database is locked")
        begin(engine, message_id)

    monkeypatch.setattr(Engine, "begin", refuse_once)
    with MessagesServer([Turn.say("Begun.")]) as server, Desk(home, server.url, **kept) as resolver:
        asked = resolver.ask("What?")
        said = [c["data"]["text"] for c in resolver.watch(asked.id) if c["type"] == "data-status"]
        assert resolver.end(asked.id).status == "completed"
    assert refused == [asked.id]
    assert "This answer goes on by itself when that is over." in said[0]


def test_who_listens_to_a_run_hears_each_chunk_until_they_leave() -> None:
    run, heard = Run("m"), Counter[str]()
    one = run.listen(lambda: heard.update(["one"]))
    two = run.listen(lambda: heard.update(["two"]))
    run.emit(status_chunk("Begun."))
    one()
    run.emit(status_chunk("Going on."))
    two()
    run.emit(status_chunk("Nearly there."))
    assert heard == {"one": 1, "two": 2}


def test_what_ended_a_while_ago_is_read_from_the_history(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = RunBoard(Hub(), QueueLimits())
    one, two, three = entries("ann", 3)
    for entry in (one, two):
        runs.remember(entry)
        runs.release(entry.message_id)
    runs.runs[one.message_id].emit(chunk("finish", finishReason="stop"))
    now = time.monotonic()
    runs.wait(three)
    assert {*runs.runs} == {one.message_id, two.message_id, three.message_id}
    monkeypatch.setattr(time, "monotonic", lambda: now + KEPT_SECONDS + 1)
    runs.wait(three)
    assert {*runs.runs} == {two.message_id, three.message_id}, "what has not ended is kept"


def test_what_another_process_took_is_let_go_and_who_watches_turns_there() -> None:
    runs = RunBoard(Hub(), QueueLimits())
    one, two = entries("ann", 2)
    runs.remember(one)
    run = runs.runs[one.message_id]
    runs.let_go(one.message_id)
    assert not runs.live
    assert not runs.runs
    assert run.read().chunks[-1] == chunk("abort", reason=ELSEWHERE)
    runs.wait(two)
    runs.let_go(two.message_id)
    assert runs.load().waiting == 0
    runs.remember(one)
    runs.lose(one.message_id)  # it is being written here: that ends first
    assert runs.runs[one.message_id].stop.is_set()
    assert runs.live[one.message_id].lost
    runs.let_go(one.message_id, again=True)
    assert runs.live[one.message_id].again_at is not None
    assert not runs.runs[one.message_id].read().done
    runs.lose(one.message_id)  # it only waits to be begun again
    assert not runs.live
    runs.lose("nobody's")


def entries(user: str, count: int, chat: str = "") -> Iterator[QueueEntry]:
    for i in range(count):
        yield QueueEntry(f"{user}-{i}", chat or f"{user}-chat-{i}", Scope("w", user))


def drain(waiting: Waiting, **limits: int) -> list[str]:
    order = []
    while entry := waiting.next([], (), **{"per_user": 3, "total": 20, **limits}):
        waiting.remove(entry.message_id)
        order.append(entry.message_id)
    return order


def test_a_thousand_questions_of_one_person_do_not_delay_anothers() -> None:
    waiting = Waiting()
    for entry in [*entries("ann", 1_000), *entries("ben", 2)]:
        waiting.add(entry)
    order = drain(waiting)
    assert order[:5] == ["ann-0", "ben-0", "ann-1", "ben-1", "ann-2"]
    assert len(order) == 1_002


def test_within_a_chat_the_order_is_that_of_asking_whoever_asks() -> None:
    waiting = Waiting()
    ann, ben = list(entries("ann", 2, "shared")), list(entries("ben", 1, "shared"))
    for entry in (ann[0], ben[0], ann[1]):
        waiting.add(entry)
    assert drain(waiting) == ["ann-0", "ben-0", "ann-1"]


@pytest.mark.parametrize(
    ("running", "busy", "expected"),
    [
        ([], (), "ann-0"),
        (list(entries("ann", 3, "x")), (), "ben-0"),
        (list(entries("zoe", 20, "x")), (), None),
        ([], ("ann-chat-0",), "ben-0"),
    ],
)
def test_whose_turn_it_is(
    running: list[QueueEntry], busy: tuple[str, ...], expected: str | None
) -> None:
    waiting = Waiting()
    for entry in [*entries("ann", 1), *entries("ben", 1)]:
        waiting.add(entry)
    found = waiting.next(running, busy, per_user=3, total=20)
    assert (found.message_id if found else None) == expected


@pytest.mark.parametrize(
    ("running", "place"),
    [
        ([], QueuePlace(2)),
        (list(entries("ben", 1, "shared")), QueuePlace(3)),
        (list(entries("ann", 3, "x")), QueuePlace(2, "person")),
        (list(entries("zoe", 20, "x")), QueuePlace(2, "process")),
    ],
)
def test_where_a_question_stands_that_waits(running: list[QueueEntry], place: QueuePlace) -> None:
    waiting = Waiting()
    for entry in entries("ann", 3, "shared"):
        waiting.add(entry)
    assert waiting.place("ann-2", running, per_user=3, total=20) == place
    assert waiting.place("ben-0", running, per_user=3, total=20) is None


# The run database


def test_a_damaged_run_database_is_put_aside_and_every_question_is_answered(home: Path) -> None:
    with MessagesServer([SLOW, Turn.say("Again.")]) as server:
        with Desk(home, server.url) as resolver:
            asked = resolver.ask("What?")
            wait_until(lambda: bool(resolver.shown(asked.id, "text-delta")))
        for path in home.glob("runs.sqlite*"):
            path.write_bytes(b"not a database at all" * 1_000)
        with Desk(home, server.url) as resolver:
            resolver.runs.launch()
            chunks = resolver.watch(asked.id)
            answer = resolver.message(asked.id)
    assert text_of(answer) == "Again."
    assert list(home.glob("runs.damaged-*.sqlite"))
    assert "The run database was damaged" in next(
        c["data"]["text"] for c in chunks if c["type"] == "data-status"
    )


@pytest.mark.parametrize("readers", ["none", "others"])
def test_a_locked_run_database_is_named(tmp_path: Path, readers: str) -> None:
    """Whether others may read it beside the writer or not."""
    path = tmp_path / "runs.sqlite"
    prepare_file(path)
    with closing(sqlite3.connect(path)) as other:
        if readers == "none":
            other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("CREATE TABLE t (x)")
        with pytest.raises(StoreBusyError, match="locked by another program"):
            prepare_file(path)


def test_a_run_database_of_a_newer_version_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE dbos_migrations (version INTEGER)")
        db.execute("INSERT INTO dbos_migrations VALUES (100000)")
        db.commit()
    with pytest.raises(StoreError, match="newer version of Leaf"):
        prepare_file(path)


def test_a_start_that_failed_is_let_go_and_the_next_one_succeeds(
    home: Path, kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with MessagesServer([Turn.say("Here.")]) as server, Desk(home, server.url, **kept) as resolver:
        with monkeypatch.context() as broken:
            broken.setattr(engine, "still", fail)
            with pytest.raises(StoreError):
                resolver.runs.launch()
        assert resolver.end(resolver.ask("Again?").id).status == "completed"


def test_one_process_writes_answers_for_one_folder(home: Path, tmp_path: Path) -> None:
    with (
        MessagesServer() as server,
        Desk(home, server.url) as resolver,
        Desk(tmp_path / "other", server.url) as other,
    ):
        resolver.runs.launch()
        with pytest.raises(RunError, match="another data folder"):
            other.runs.launch()


def test_nothing_in_the_run_database_is_more_than_json(home: Path, kept: dict[str, Any]) -> None:
    with MessagesServer([Turn.call(ADD, "crash"), Turn.say("Half.\ud800")]) as server:
        with Desk(home, server.url, **kept) as resolver:
            resolver.end(resolver.ask("Add").id)
        sql = "SELECT output FROM operation_outputs UNION ALL SELECT value FROM streams"
        values = [value for (value,) in run_database(home, sql, **kept)]
    assert len(values) > 8
    for value in values:
        json.loads(value)


def test_records_of_finished_runs_are_pruned_and_the_history_is_not(
    home: Path, kept: dict[str, Any]
) -> None:
    with (
        MessagesServer([Turn.say("Kept."), SLOW]) as server,
        Desk(home, server.url, **kept) as resolver,
    ):
        asked = resolver.ask("What?")
        resolver.end(asked.id)
        wait_until(lambda: bool((record := resolver.engine.record(asked.id)) and record.over))
        running = resolver.ask("And?")
        wait_until(lambda: bool(resolver.shown(running.id, "text-delta")))
        assert resolver.engine.prune(timedelta(hours=1)) == 0
        assert resolver.engine.prune(timedelta(seconds=-5)) == 1
        assert resolver.engine.record(asked.id) is None
        assert resolver.engine.record(running.id) is not None
        assert text_of(resolver.message(asked.id)) == "Kept."
        resolver.runs.stop(running.id)


def test_records_whose_answers_are_gone_are_forgotten_and_what_is_due_each_hour_is_done(
    home: Path, kept: dict[str, Any]
) -> None:
    done: list[str] = []

    def fail() -> None:
        done.append("failed")
        raise StoreError("The history is away.")

    hourly = [fail, lambda: done.append("done")]
    with MessagesServer([Turn.say("Gone."), Turn.say("Kept.")]) as server:
        with Desk(home, server.url, **kept) as resolver:
            gone, stays = resolver.ask("First?"), resolver.ask("Second?")
            resolver.end(gone.id)
            resolver.end(stays.id)
            for one in (gone, stays):
                wait_until(lambda one=one: bool((r := resolver.engine.record(one.id)) and r.over))
            purge_chat(resolver.db, resolver.scope, gone.chat_id)
        with Desk(home, server.url, **kept, hourly=hourly) as resolver:
            resolver.runs.launch()
            wait_until(lambda: resolver.engine.record(gone.id) is None)
            assert resolver.engine.record(stays.id) is not None
            wait_until(lambda: "done" in done)
    assert done == ["failed", "done"]


def test_the_operator_sees_runs_and_steps_and_resumes_what_nobody_writes(
    home: Path, kept: dict[str, Any]
) -> None:
    with (
        MessagesServer([Turn.call(ADD), Turn.say("Six."), Turn.say("Resumed.")]) as server,
        Desk(home, server.url, **kept) as resolver,
    ):
        done = resolver.ask("Add")
        resolver.end(done.id)
        left = resolver.save("Left behind")
        assert [(r.message_id, r.status, r.attempts) for r in resolver.runs.records()] == [
            (left.id, "pending", 0),
            (done.id, "completed", 1),
        ]
        assert [r.message_id for r in resolver.runs.records("pending")] == [left.id]
        with pytest.raises(RunError, match=r"over \(completed\)"):
            resolver.runs.resume(done.id)
        with pytest.raises(NotFoundError):
            resolver.runs.steps("nothing")
        resolver.runs.resume(left.id)
        assert text_of(resolver.end(left.id)) == "Resumed."


def test_the_log_has_a_line_a_step_and_not_a_word_of_the_answer(
    home: Path, kept: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="leaf")
    with (
        MessagesServer(
            [Turn.call(ADD, text="Secret thought"), Turn.say("Secret answer")]
        ) as server,
        Desk(home, server.url, **kept) as resolver,
    ):
        asked = resolver.ask("Secret question")
        resolver.end(asked.id)
        wait_until(lambda: not resolver.runs.board.running(asked.id))
    lines = [
        record.getMessage() for record in caplog.records if record.getMessage().startswith("step ")
    ]
    names = ["task", "model-1", "tool-1-1-add_numbers", "model-2", "save"]
    assert [line.split()[2] for line in lines] == [f"step={name}" for name in names]
    assert all(line.endswith("outcome=ok") and f"run={asked.id}" in line for line in lines)
    assert "Secret" not in caplog.text


# Several processes


def test_processes_on_one_folder_have_names_of_their_own_and_take_over_from_the_gone(
    tmp_path: Path,
) -> None:
    from leaf.runs.seats import claim_executors

    first, held = claim_executors(tmp_path, shared=True)
    second, also_held = claim_executors(tmp_path, shared=True)
    assert set(first).isdisjoint(second)
    for lock_file in [*held, *also_held]:
        lock_file.close()
    assert claim_executors(tmp_path, shared=True)[0] == (*first, *second)


def test_runs_work_on_postgresql_and_are_followed_from_their_stream(
    home: Path, postgres_url: str
) -> None:
    with (
        MessagesServer([Turn.call(ADD, text="First."), SLOW]) as server,
        Desk(home, server.url, database_url=postgres_url) as resolver,
    ):
        asked = resolver.ask("Add")
        wait_until(lambda: bool(resolver.shown(asked.id, "tool-output-available")))
        del resolver.runs.board.runs[asked.id]  # as in a process that does not write this answer
        followed = resolver.runs._elsewhere.watch(asked.id)
        resolver.runs.board.runs[asked.id] = followed or resolver.runs.board.runs[asked.id]
        chunks = resolver.watch(asked.id)
        answer = resolver.end(asked.id)
    assert reduce(chunks) == answer.parts
    assert text_of(answer).startswith("First.\nA long answer")


def test_an_engine_that_was_never_launched_can_be_closed(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    engine.close()
    assert engine.executors == ()


def test_an_engine_that_is_closed_lets_go_of_its_seats(tmp_path: Path) -> None:
    from leaf.runs.seats import claim_executors

    engine = Engine(tmp_path, "postgresql:///nowhere")
    engine.executors, engine._executor_locks = claim_executors(tmp_path, shared=True)
    engine.close()
    names, locks = claim_executors(tmp_path, shared=True)
    assert names == engine.executors
    for file in locks:
        file.close()

"""What the run database is asked: records, steps and streams of runs, kept as plain JSON."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from dbos import DBOS

from leaf.errors import RunError, StoreBusyError, StoreError
from leaf.runs import engine
from leaf.runs.batches import Batch
from leaf.runs.engine import (
    MOST_ATTEMPTS,
    STREAM,
    VERSION,
    Engine,
    KeptStep,
    Record,
    _kept,
    _moment,
    _record,
    _serializer,
)
from leaf.shapes.chunks import Chunk, chunk
from tests.runs_kit import wait_until

AT = datetime(2026, 1, 2, 3, 4, 5, 500_000, UTC)
MILLISECONDS = round(AT.timestamp() * 1000)
WORDS: list[Chunk] = [chunk("text-delta", id="1", delta=str(n)) for n in range(3)]
END = chunk("finish", finishReason="stop")


@dataclass
class Book:
    """An engine, and what its runs do."""

    engine: Engine
    home: Path
    act: Callable[[str], None] = lambda _: None
    begun: list[str] = field(default_factory=list)

    def answer(self, message_id: str) -> None:
        self.begun.append(message_id)
        self.act(message_id)

    def record(self, message_id: str) -> Record:
        found = self.engine.record(message_id)
        assert found is not None
        return found

    def over(self, *message_ids: str) -> None:
        for one in message_ids:
            self.engine.begin(one)
        wait_until(lambda: all(self.record(one).over for one in message_ids))

    def sql(self, statement: str) -> None:
        with closing(sqlite3.connect(self.home / "runs.sqlite", timeout=10)) as db:
            db.execute(statement)
            db.commit()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Book]:
    home = tmp_path_factory.mktemp("home")
    book = Book(Engine(home), home)
    book.engine.launch(book.answer)
    yield book
    book.engine.close()


@pytest.fixture
def book(opened: Book) -> Iterator[Book]:
    opened.act = lambda _: None
    opened.begun.clear()
    yield opened
    wait_until(lambda: not opened.engine.left())
    opened.engine.forget(opened.engine.over())


def status(**given: Any) -> Any:
    usual: dict[str, Any] = {
        "workflow_id": "m",
        "status": "SUCCESS",
        "attributes": None,
        "executor_id": "seat-1.start",
        "app_version": VERSION,
        "created_at": MILLISECONDS,
        "completed_at": None,
    }
    return SimpleNamespace(**(usual | given))


@pytest.mark.parametrize(
    ("said", "over", "gave_up"),
    [
        ("PENDING", False, False),
        ("ENQUEUED", False, False),
        ("SUCCESS", True, False),
        ("ERROR", True, True),
        ("CANCELLED", True, True),
        ("MAX_RECOVERY_ATTEMPTS_EXCEEDED", True, True),
    ],
)
def test_a_record_says_whether_a_run_is_over_and_how(said: str, over: bool, gave_up: bool) -> None:
    found = _record(status(status=said))
    assert (found.over, found.gave_up) == (over, gave_up)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, (1, "seat-1", VERSION, False)),
        ({"attributes": {}}, (1, "seat-1", VERSION, False)),
        ({"attributes": {"attempts": 3, "stop": True}}, (3, "seat-1", VERSION, True)),
        ({"executor_id": None, "app_version": None}, (1, "", "", False)),
        ({"executor_id": "seat-2", "app_version": "leaf-0"}, (1, "seat-2", "leaf-0", False)),
    ],
)
def test_a_record_says_who_began_it_and_how_often(
    given: dict[str, Any], expected: tuple[int, str, str, bool]
) -> None:
    found = _record(status(**given))
    assert (found.attempts, found.executor, found.version, found.stop_wanted) == expected
    assert (found.message_id, found.begun_at, found.ended_at) == ("m", AT, None)
    assert _record(status(completed_at=MILLISECONDS + 500)).ended_at == AT + timedelta(seconds=0.5)
    assert _moment(0) is None


@pytest.mark.parametrize(
    ("begun", "ended", "seconds"),
    [
        (1_000, 2_500, 1.5),
        (2_500, 1_000, 0.0),
        (None, None, 0.0),
        (1_000, None, 0.0),
        (500, 500, 0),
    ],
)
def test_a_step_took_no_less_than_no_time(
    begun: int | None, ended: int | None, seconds: float
) -> None:
    info: Any = {
        "function_id": 3,
        "function_name": "model-1",
        "output": {"turn": None},
        "error": None,
        "started_at_epoch_ms": begun,
        "completed_at_epoch_ms": ended,
    }
    assert _kept(info) == KeptStep(3, "model-1", {"turn": None}, False, seconds)
    assert _kept(info | {"error": RunError("no")}).failed


def test_what_is_kept_is_json_and_an_error_of_ours_keeps_its_words() -> None:
    kept = _serializer()
    assert kept.serialize({"a": [1, None, "é"]}) == '{"a":[1,null,"\\u00e9"]}'
    assert kept.deserialize(kept.serialize({"a": [1, None]})) == {"a": [1, None]}
    assert kept.deserialize("[1]") == [1]
    told = kept.deserialize(kept.serialize(StoreError("The disk is full.", "Free some.")))
    assert isinstance(told, RunError)
    assert str(told) == "The disk is full. Free some."
    fault = kept.serialize(ValueError("a secret"))
    assert "secret" not in fault
    assert "fault of Leaf" in str(kept.deserialize(fault))


def test_any_number_of_records_is_asked_for_and_forgotten(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BATCH", 2)
    names = [f"m{n}" for n in range(5)]
    book.over(*names)
    assert {*book.engine.records([*names, "nobody's"])} == {*names}
    assert book.engine.records([]) == {}
    assert sorted(book.engine.over()) == names
    assert book.engine.prune(timedelta(minutes=1)) == 0
    book.engine.forget(names[:3])
    assert sorted(book.engine.over()) == names[3:]
    book.engine.forget([])
    book.over("m0", "m1", "m2")
    assert book.engine.prune(timedelta(seconds=-60)) == 5
    assert book.engine.over() == []


def test_a_run_is_begun_once_and_gone_on_with_where_it_has_a_record(book: Book) -> None:
    go_on = threading.Event()
    book.act = lambda _: cast(None, go_on.wait(30))
    book.engine.begin("m")
    wait_until(lambda: book.begun == ["m"])
    record = book.record("m")
    assert (record.over, record.attempts, record.stop_wanted) == (False, 1, False)
    assert record.executor == book.engine.executors[0]
    assert book.engine.process_id.startswith(f"{record.executor}.")
    assert [one.message_id for one in book.engine.left()] == ["m"]
    assert book.engine.again(record)
    assert book.record("m").attempts == 2
    book.engine.want_stop("m")
    after = book.record("m")
    assert (after.attempts, after.stop_wanted, after.over) == (2, True, False)
    go_on.set()
    wait_until(lambda: book.record("m").over)
    assert book.engine.left() == []


@pytest.mark.parametrize(
    ("changed", "left"),
    [
        ("executor_id = 'elsewhere-1.x'", False),
        ("application_version = 'leaf-0'", False),
        ("executor_id = substr(executor_id, 1, 14) || '.before'", True),
    ],
)
def test_only_what_was_begun_in_this_place_is_left_for_it(
    book: Book, changed: str, left: bool
) -> None:
    go_on = threading.Event()
    book.act = lambda _: cast(None, go_on.wait(30))
    book.engine.begin("m")
    wait_until(lambda: book.begun == ["m"])
    assert len(book.engine.executors[0]) == 14
    book.sql(f"UPDATE workflow_status SET {changed}")
    assert [one.message_id for one in book.engine.left()] == (["m"] if left else [])
    go_on.set()
    wait_until(lambda: book.record("m").over)


@pytest.mark.parametrize(("attempts", "again"), [(MOST_ATTEMPTS - 1, True), (MOST_ATTEMPTS, False)])
def test_a_run_that_was_begun_too_often_is_given_up(book: Book, attempts: int, again: bool) -> None:
    go_on = threading.Event()
    book.act = lambda _: cast(None, go_on.wait(30))
    book.engine.begin("m")
    wait_until(lambda: book.begun == ["m"])
    book.engine._note("m", {"attempts": attempts})
    assert book.engine.again(book.record("m")) == again
    found = book.record("m")
    assert (found.over, found.gave_up) == (not again, not again)
    assert found.attempts == attempts + again
    go_on.set()
    wait_until(lambda: book.record("m").over)


def test_steps_are_in_their_order_and_what_dbos_does_is_none(book: Book) -> None:
    def work(_: str) -> None:
        DBOS.write_stream(STREAM, [])
        for name in ("task", "model-1"):
            DBOS.run_step({"name": name}, lambda name=name: {"of": name})

    book.act = work
    book.over("m")
    steps = book.engine.kept_steps("m")
    assert [(s.name, s.value, s.failed) for s in steps] == [
        ("task", {"of": "task"}, False),
        ("model-1", {"of": "model-1"}, False),
    ]
    assert book.engine.kept_steps("nobody's") == []


def test_a_stream_is_read_to_its_end_and_what_it_showed_is_what_is_kept(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SILENT_SECONDS", 0.1)
    monkeypatch.setattr(engine, "POLL_SECONDS", 0.05)
    go_on = threading.Event()
    pieces = [
        [chunk("begin", step="model-1", attempt=1), *Batch("w", 0, 1, WORDS[:1]).kept()],
        [*WORDS[1:], END],
    ]

    def work(_: str) -> None:
        DBOS.write_stream(STREAM, pieces[0])
        assert go_on.wait(30)
        DBOS.write_stream(STREAM, pieces[1])

    book.act = work
    book.engine.begin("m")
    wait_until(lambda: book.begun == ["m"])
    reading = book.engine.read_stream("m")
    found = next(reading)
    assert found == pieces[0]
    assert next(reading) == [], "so that one can look why nothing comes"
    go_on.set()
    rest = [piece for piece in reading if piece]
    assert rest == pieces[1:]
    wait_until(lambda: book.record("m").over)
    assert book.engine.streamed("m") == WORDS
    assert [piece for piece in book.engine.read_stream("m") if piece] == pieces, (
        "from its beginning"
    )


def test_the_log_is_emptied_unless_somebody_reads_without_a_pause(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "LOCK_SECONDS", 0.1)
    book.over("m")
    log = book.home / "runs.sqlite-wal"
    with closing(sqlite3.connect(book.home / "runs.sqlite")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM workflow_status").fetchone()
        book.over("n")
        with pytest.raises(StoreBusyError, match="read without a pause"):
            book.engine.scrub()
        assert log.stat().st_size
    book.engine.scrub()
    assert log.stat().st_size == 0
    Engine(book.home / "never launched").scrub()


def test_records_stand_in_the_data_folder_or_where_processes_share_them(tmp_path: Path) -> None:
    alone, one_of_many = Engine(tmp_path), Engine(tmp_path, "postgresql:///nowhere")
    assert (alone.shared, one_of_many.shared) == (False, True)
    assert (alone.note, alone.process_id, alone.executors) == ("", "", ())
    assert alone._config()["system_database_url"] == f"sqlite:///{tmp_path / 'runs.sqlite'}"
    assert one_of_many._config()["system_database_url"] == "postgresql:///nowhere"

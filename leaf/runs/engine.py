"""DBOS behind a small door: one workflow per answer, whose id is the message's id.

Here lives what this app asks of DBOS: a fixed version, a name for this process that survives
restarts, plain JSON, no network, no polling. Whose turn it is, is decided before (`waiting.py`), so
an answer is begun at once and without a queue. Only one that was begun before goes through DBOS's
queue, which alone can hand a run to another process; that is looked at in that moment. What an
answer does stands in `execute.py`, what a step is in `steps.py`, the file in `sqlite.py`; no other
module imports dbos.
Everything here may be called from inside a run without becoming one of its steps.
"""

from __future__ import annotations

import contextvars
import json
import logging
import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ParamSpec, TypeVar

from leaf.errors import LeafError, RunError, StoreBusyError
from leaf.runs import failures
from leaf.runs.seats import claim_executors
from leaf.runs.sqlite import LOCK_SECONDS, Driver, address, driver, prepare_file
from leaf.shapes.chunks import TERMINAL, Chunk, parse_chunks
from leaf.store.postgres import FROZEN

if TYPE_CHECKING:
    from dbos import DBOS as Dbos
    from dbos import DBOSConfig, Serializer, StepInfo, WorkflowStatus

P = ParamSpec("P")
R = TypeVar("R")

VERSION = "leaf-1"
"""Version of the order of the steps. Raise it when that order changes; see docs/runs.md."""
STREAM = "chunks"
"""Key of the stream that a run writes: each value a list of chunks, with marks between them."""
MARKS = frozenset({"begin", "batch"})
"""What stands in it for those who read it, and is shown to nobody."""
POLL_SECONDS = 1.0
"""How often the stream of an answer that another process writes is looked at although nothing was
told, while somebody here watches it."""
SILENT_SECONDS = 5.0
"""Without anything new in such a stream after which one looks whether its writer is gone."""
QUIET_SECONDS = 3600.0
"""Given to DBOS for what is not used here and cannot be turned off before it starts."""
MOST_ATTEMPTS = 50
"""Starts after which an answer that each time took the process with it is given up."""
OVER = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
BATCH = 500

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Record:
    """What the run database says about one run."""

    message_id: str
    over: bool
    gave_up: bool
    """Over without having come to its end: it failed, was cancelled or took the process with it too
    often."""
    attempts: int
    """How often it was begun; 1 for a run that was never interrupted."""
    executor: str
    """The process that has it."""
    version: str
    stop_wanted: bool
    begun_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True)
class KeptStep:
    """A step that has finished, with its value."""

    number: int
    name: str
    value: Any
    failed: bool
    seconds: float


class Engine:
    """The run database of one data folder. There can be one launched engine in a process."""

    def __init__(self, home: Path, database_url: str = "") -> None:
        self._path = home / "runs.sqlite"
        self._home = home
        self._url = database_url
        self._driver: Driver | None = None
        self._executor_locks: list[IO[str]] = []
        self.executors: tuple[str, ...] = ()
        """Names of the processes whose unfinished work is this one's: its own, and those that are
        gone from this folder."""
        self.process_id = ""
        """Of this start alone."""
        self.note = ""
        """What people should know about the run database, such as that a damaged one was put
        aside."""

    @property
    def shared(self) -> bool:
        """Whether other processes may work on the same runs."""
        return bool(self._url)

    def launch(self, answer: Callable[[str], None]) -> None:
        """Open or make the run database and go on with what this process had begun; `answer` is
        called with a message's id, in a thread of its own. Raises StoreError, StoreBusyError,
        RunError.
        """
        from dbos import DBOS

        if not self.shared:
            self._driver = driver()
            self.note = prepare_file(self._path, self._driver)
        self.executors, self._executor_locks = claim_executors(self._home, shared=self.shared)
        # Of this start alone: DBOS then finds nothing of its own to go on with, which is done here
        # and counted.
        self.process_id = f"{self.executors[0]}.{uuid.uuid4().hex[:8]}"
        self._dbos = DBOS(config=self._config())
        try:
            DBOS.listen_queues([self._queue])
        except Exception as e:
            raise RunError(
                "This process writes answers for another data folder already.",
                "Use a process for each.",
            ) from e

        def run() -> None:
            answer(str(DBOS.workflow_id))

        DBOS.workflow(name="answer", max_recovery_attempts=MOST_ATTEMPTS)(run)
        self._run = run
        try:
            DBOS.launch()
            self._claims = DBOS.register_queue(
                self._queue, polling_interval_sec=QUIET_SECONDS, on_conflict="always_update"
            )
            still(self._dbos)
        except Exception as e:
            self.close()
            raise failures.explain(e, shared=self.shared) from e

    def close(self) -> None:
        """Let go of the run database. What runs is left as it is, for the next start."""
        from dbos import DBOS

        DBOS.destroy(destroy_registry=True)
        for lock_file in self._executor_locks:
            lock_file.close()

    def begin(self, message_id: str) -> None:
        """Run an answer, or go on with it, in a thread of its own. Beginning it twice is one run.
        Raises RunError."""
        from dbos import DBOS, SetWorkflowID

        if self.record(message_id) is not None:
            _outside(DBOS.resume_workflow, message_id, queue_name=self._queue)
            self._claim(message_id)
            return

        def start() -> None:
            with SetWorkflowID(message_id):
                DBOS.start_workflow(self._run)

        _outside(start)

    def left(self) -> list[Record]:
        """Unfinished runs that processes had begun whose place this one has, and which nobody works
        on now: for the start."""
        from dbos import DBOS

        unfinished = _outside(
            DBOS.list_workflows, status=["PENDING", "ENQUEUED"], load_input=False, load_output=False
        )
        return [
            record
            for record in map(_record, unfinished)
            if record.executor in self.executors and record.version == VERSION
        ]

    def again(self, record: Record) -> bool:
        """Count one more beginning of a run. False for one that took the process with it too often:
        it is given up, and its record says so."""
        if record.attempts >= MOST_ATTEMPTS:
            self.cancel(record.message_id)
            return False
        self._note(record.message_id, {"attempts": record.attempts + 1})
        return True

    def cancel(self, message_id: str) -> None:
        """End a run in its record, whoever works on it."""
        from dbos import DBOS

        _outside(DBOS.cancel_workflow, message_id)

    def forget(self, message_ids: Sequence[str]) -> None:
        """Delete the records of runs, with their steps and streams."""
        from dbos import DBOS

        for batch in _batches(message_ids):
            _outside(DBOS.delete_workflows, batch)

    def scrub(self) -> None:
        """Empty the log of the run database, which holds pages as they were before something was
        deleted in them. On PostgreSQL that is the server's. Raises StoreBusyError while another
        thread reads without a pause."""
        if self._driver is None:
            return
        with closing(self._open_file()) as db:
            busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise StoreBusyError(
                f"The run database {self._path} is being read without a pause.",
                "What was deleted leaves its log at the next start.",
            )

    def _open_file(self) -> sqlite3.Connection:
        by = self._driver or driver()
        db: sqlite3.Connection = by.module.connect(
            self._path, timeout=LOCK_SECONDS, factory=by.connection
        )
        return db

    def record(self, message_id: str) -> Record | None:
        return self.records([message_id]).get(message_id)

    def records(self, message_ids: Sequence[str]) -> dict[str, Record]:
        """The records of those of the messages that have one."""
        from dbos import DBOS

        statuses: list[WorkflowStatus] = []
        for batch in _batches(message_ids):
            statuses += _outside(
                DBOS.list_workflows, workflow_ids=batch, load_input=False, load_output=False
            )
        return {status.workflow_id: _record(status) for status in statuses}

    def kept_steps(self, message_id: str) -> list[KeptStep]:
        """The finished steps of a run, in their order."""
        from dbos import DBOS

        return [
            _kept(info)
            for info in _outside(DBOS.list_workflow_steps, message_id)
            if not info["function_name"].startswith("DBOS.")
        ]

    def want_stop(self, message_id: str) -> None:
        """Keep the wish to stop a run, so that it outlives this process and is seen by the one that
        writes the answer. Where the run database cannot be written it is not kept: what runs here ends
        all the same."""
        from sqlalchemy.exc import SQLAlchemyError

        try:
            self._note(message_id, {"stop": True})
        except SQLAlchemyError as e:
            logger.warning("the stop of %s was not kept: %s", message_id, type(e).__name__)

    def read_stream(self, message_id: str) -> Iterator[list[Chunk]]:
        """What a run has streamed so far and what it goes on to stream, wherever it runs, until it
        ends; nothing now and then while nothing comes, so that one can look why."""
        from dbos import DBOS
        from dbos._error import DBOSStreamTimeoutError

        read = 0
        while True:
            pieces = DBOS.read_stream(
                message_id,
                STREAM,
                offset=read,
                polling_interval_sec=POLL_SECONDS,
                timeout_seconds=SILENT_SECONDS,
            )
            try:
                for chunks in pieces:
                    read += 1
                    yield parse_chunks(chunks, f"answer {message_id}")
            except DBOSStreamTimeoutError:
                yield []
            else:
                return

    def wake_readers(self, message_id: str) -> None:
        """Have those that wait in `read_stream` for this answer look now."""
        waiting = self._dbos._sys_db.streams_map.snapshot()  # noqa: SLF001
        for _, (workflow_id, *_), signal in waiting:
            if workflow_id == message_id:
                signal.set()

    def streamed(self, message_id: str) -> list[Chunk]:
        """What a run has shown that is not to go on, as it was streamed; its record is cancelled."""
        self.cancel(message_id)
        pieces = _outside(lambda: list(self.read_stream(message_id)))
        return [c for piece in pieces for c in piece if c["type"] not in {*MARKS, *TERMINAL}]

    def over(self) -> list[str]:
        """The answers whose runs are over and have records still."""
        from dbos import DBOS

        statuses = _outside(
            DBOS.list_workflows, status=list(OVER), load_input=False, load_output=False
        )
        return [status.workflow_id for status in statuses]

    def prune(self, older_than: timedelta) -> int:
        """Delete the records of runs that ended so long ago. Returns how many. The history keeps
        their answers."""
        from dbos import DBOS

        horizon = (datetime.now(UTC) - older_than).isoformat()
        gone = 0
        while True:
            old = _outside(
                DBOS.list_workflows,
                status=list(OVER),
                completed_before=horizon,
                limit=BATCH,
                load_input=False,
                load_output=False,
            )
            self.forget([status.workflow_id for status in old])
            gone += len(old)
            if len(old) < BATCH:
                return gone

    @property
    def _queue(self) -> str:
        return f"answers-{self.executors[0]}"

    def _config(self) -> DBOSConfig:
        return {
            "name": "leaf",
            "system_database_url": self._url or address(self._path),
            "application_version": VERSION,
            "executor_id": self.process_id,
            "log_level": "ERROR",
            "serializer": _serializer(),
            "db_engine_kwargs": {
                "hide_parameters": True,
                **(self._driver.engine_arguments if self._driver else _server_arguments()),
            },
            "use_listen_notify": False,
            "notification_listener_polling_interval_sec": 0.5,
            "scheduler_polling_interval_sec": QUIET_SECONDS,
        }

    def _claim(self, message_id: str) -> None:
        """Let DBOS's queue worker look once, in this thread: it takes what waits in this process's
        queue and begins it."""
        from dbos import DBOS
        from dbos._queue import queue_worker_thread

        _outside(queue_worker_thread, _OneLook(), self._dbos, self._claims)
        waits = _outside(
            DBOS.list_workflows,
            workflow_ids=[message_id],
            status="ENQUEUED",
            load_input=False,
            load_output=False,
        )
        if waits:
            raise RunError("The run database did not give this run out.", "It is tried again.")

    def _note(self, message_id: str, attributes: dict[str, Any]) -> None:
        from dbos import DBOS

        _outside(DBOS.update_workflow_attributes, message_id, attributes, merge=True)


class _OneLook(threading.Event):
    """In place of the event that ends a queue worker, between whose looks it waits on it: one look,
    then the end."""

    def __init__(self) -> None:
        super().__init__()
        self._looked = False

    def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002 - the signature of Event
        looked, self._looked = self._looked, True
        return looked


def still(dbos: Dbos) -> None:
    """End the threads with which DBOS looks into the run database every second: for queues that
    other programs make, for delayed and scheduled work, for messages between workflows. Nothing of
    that is used here. They end by themselves, within a second.
    """
    for event in dbos.background_thread_stop_events:
        event.set()
    dbos._background_jobs_stop_event.set()  # noqa: SLF001 - tests/test_idle.py names what is not public
    dbos._sys_db._run_background_processes = False  # noqa: SLF001


def _server_arguments() -> dict[str, Any]:
    """Of connections to PostgreSQL; see `store.postgres.FROZEN`."""
    return {"connect_args": {"application_name": "dbos_transact", "options": FROZEN}}


def _serializer() -> Serializer:
    """Plain JSON, so that a record can be read by people and by later versions, and nothing in it
    can run."""
    from dbos import Serializer

    class PlainJson(Serializer):
        def name(self) -> str:
            return "leaf_json"

        def serialize(self, data: Any) -> str:
            if isinstance(data, BaseException):
                message = (
                    str(data)
                    if isinstance(data, LeafError)
                    else "A step failed by a fault of Leaf; the log says why."
                )
                data = {"__error__": message}
            return json.dumps(data, separators=(",", ":"))

        def deserialize(self, serialized_data: str) -> Any:
            data = json.loads(serialized_data)
            return (
                RunError(data["__error__"])
                if isinstance(data, dict) and "__error__" in data
                else data
            )

    return PlainJson()


def _outside(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call DBOS as if from outside of any run: inside of one it would make the call a step, at a
    place in the order of steps that depends on the moment.
    """
    return contextvars.Context().run(function, *args, **kwargs)


def _record(status: WorkflowStatus) -> Record:
    return Record(
        message_id=status.workflow_id,
        over=status.status in OVER,
        gave_up=status.status in OVER[1:],
        attempts=int((status.attributes or {}).get("attempts") or 1),
        executor=(status.executor_id or "").partition(".")[0],
        version=status.app_version or "",
        stop_wanted=bool((status.attributes or {}).get("stop")),
        begun_at=_moment(status.created_at),
        ended_at=_moment(status.completed_at),
    )


def _kept(info: StepInfo) -> KeptStep:
    begun, ended = info["started_at_epoch_ms"] or 0, info["completed_at_epoch_ms"] or 0
    return KeptStep(
        info["function_id"],
        info["function_name"],
        info["output"],
        info["error"] is not None,
        max(0, ended - begun) / 1000,
    )


def _moment(milliseconds: int | None) -> datetime | None:
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None


def _batches(items: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(items), BATCH):
        yield list(items[start : start + BATCH])

"""What becomes of one run, whatever its answering does: real databases and the real run database, with a
function of the test in the place of the agent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from leaf.agent.ends import STOPPED
from leaf.agent.models.base import ModelTurn, TokenUsage
from leaf.agent.steps import ModelStep, StepRunner, ToolStep
from leaf.errors import NotFoundError, RunError, StoreBusyError
from leaf.runs import board, keeper
from leaf.runs.board import QueueLimits, ticket_of
from leaf.runs.engine import Engine, KeptStep
from leaf.runs.records import StepRecord
from leaf.runs.run import Run
from leaf.runs.runs import Runs, _step_record
from leaf.runs.steps import DurableSteps, LeaveError, Stream
from leaf.settings import Settings
from leaf.shapes.chunks import Chunk, chunk
from leaf.store import Store, chats, messages, open_store, users
from leaf.store.fence import FencedError
from leaf.store.model import Message, Scope, Unfinished
from tests.removal_kit import purge_chat
from tests.runs_kit import MODEL, wait_until

END = chunk("finish", finishReason="stop")
MILLISECOND = timedelta(milliseconds=1)
GOOD = ModelStep(
    turn=ModelTurn([], "end_turn"),
    chunks=(chunk("text-start", id="1"), chunk("text-delta", id="1", delta="Six.")),
    usage=TokenUsage(input=7, output=3),
)


@dataclass(frozen=True)
class Answering:
    """What a run is given."""

    scope: Scope
    message: Message
    run: Run
    steps: Any
    stream: Callable[[Chunk], None]


@dataclass
class Desk:
    store: Store
    engine: Engine
    scope: Scope
    acts: list[Callable[[Answering], None]] = field(default_factory=list)
    """What the next runs do, one each; the last of them all that come."""
    runs: Runs = field(init=False)

    def __post_init__(self) -> None:
        self.runs = Runs(self.execute, self.store, self.engine, QueueLimits(99, 99))

    def execute(
        self,
        scope: Scope,
        message: Message,
        run: Run,
        steps: StepRunner,
        stream: Callable[[Chunk], None],
    ) -> None:
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        act(Answering(scope, message, run, steps, stream))

    def saved(self, beside: Message | None = None, **given: Any) -> Message:
        """A question that nobody was asked yet, or another answer to one."""
        db, scope = self.store.db, self.scope
        if beside is not None:
            return messages.add_answer(db, scope, beside.parent_id, **({"model": MODEL} | given))
        chat = chats.create(db, scope, model=MODEL)
        return messages.add_exchange(db, scope, chat.id, [], model=MODEL).answer

    def ask(self, *acts: Callable[[Answering], None], beside: Message | None = None) -> Message:
        """A question, begun."""
        self.acts[:] = acts or [self.answer]
        message = self.saved(beside)
        self.runs.start(self.scope, message)
        return message

    def finish(self, message: Message, status: Any = "completed") -> None:
        messages.finish(
            self.store.db, self.scope, message.id, parts=[], raw=[], usage={}, status=status
        )

    def answer(self, given: Answering, status: str = "completed") -> None:
        self.finish(given.message, status)
        given.run.emit(END)

    def over(self, *asked: Message) -> None:
        """Once this process has nothing more of them."""
        for one in asked:
            wait_until(lambda one=one: self.status(one) not in ("pending", "streaming"))
            wait_until(lambda one=one: bool((r := self.engine.record(one.id)) and r.over))
            wait_until(lambda one=one: not self.runs.board.running(one.id))

    def found(self, message: Message) -> Unfinished:
        found = messages.unscoped_get(self.store.db, message.id)
        assert found is not None
        return found

    def status(self, message: Message) -> str:
        return self.found(message).message.status

    def says(self, message: Message) -> list[str]:
        """What who watches is told of how it stands."""
        run = self.runs.watch(message.id)
        assert run is not None
        return [c["data"]["text"] for c in run.read().chunks if c["type"] == "data-status"]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    home = tmp_path_factory.mktemp("home")
    store = open_store(Settings(home=home))
    desk = Desk(store, Engine(home), users.ensure_local_user(store.db))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keeper, "LOOK_SECONDS", 0.05)
        desk.runs.launch()
        yield desk
        desk.runs.close()
    store.close()


@pytest.fixture
def desk(opened: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setattr(board, "AGAIN_SECONDS", 0.05)
    yield opened
    for found in messages.unscoped_unfinished(opened.store.db):
        opened.finish(found.message, "stopped")
        opened.runs.board.release(found.message.id)


def test_a_run_that_ends_is_over_everywhere(desk: Desk) -> None:
    given: list[Answering] = []

    def answer(it: Answering) -> None:
        given.append(it)
        assert desk.runs.board.running(it.message.id)
        desk.answer(it)

    asked = desk.ask(answer)
    desk.over(asked)
    run = desk.runs.watch(asked.id)
    assert run is given[0].run
    assert run.read().chunks == (END,)
    assert (given[0].scope, given[0].message.id) == (desk.scope, asked.id)
    [record] = desk.runs.records("completed", 1)
    assert (record.message_id, record.chat_id, record.user_id) == (
        asked.id,
        asked.chat_id,
        desk.scope.user_id,
    )
    assert (record.attempts, record.executor, record.here) == (1, desk.engine.executors[0], False)
    assert record.begun_at is not None
    assert record.ended_at is not None
    assert record.asked_at - MILLISECOND <= record.begun_at <= record.ended_at
    desk.runs.start(desk.scope, asked)
    wait_until(lambda: not desk.runs.board.load().waiting)
    assert len(given) == 1, "one that is over is not begun again"


@pytest.mark.parametrize("why", [LeaveError("No room."), StoreBusyError("No room.")])
def test_a_run_that_is_left_for_a_reason_says_it_and_is_begun_again(
    desk: Desk, why: BaseException
) -> None:
    def leave(_: Answering) -> None:
        raise why

    asked = desk.ask(leave, desk.answer)
    desk.over(asked)
    reason, *cleared = desk.says(asked)
    assert reason == "No room. This answer goes on by itself when that is over."
    assert cleared
    assert not any(cleared), "it waits no more"


def test_a_run_that_is_left_without_a_reason_is_left_to_the_next_start(desk: Desk) -> None:
    left = threading.Event()

    def leave(_: Answering) -> None:
        left.set()
        raise LeaveError

    asked = desk.ask(leave, desk.answer)
    assert left.wait(30)
    wait_until(lambda: not desk.runs.board.running(asked.id))
    assert desk.says(asked) == []
    assert desk.status(asked) == "streaming"
    desk.runs.resume(asked.id)
    desk.over(asked)
    record = desk.engine.record(asked.id)
    assert record is not None
    assert not record.gave_up


def test_a_fault_ends_the_run_and_lets_it_go(desk: Desk) -> None:
    def fail(_: Answering) -> None:
        raise ValueError("a fault")

    asked = desk.ask(fail)
    wait_until(lambda: bool((r := desk.engine.record(asked.id)) and r.gave_up))
    wait_until(lambda: not desk.runs.board.running(asked.id))
    assert desk.says(asked) == []


def test_a_run_that_another_process_took_is_let_go_and_begun_again_where_it_is_this_ones_after_all(
    desk: Desk,
) -> None:
    runs: list[Run] = []

    def lost(given: Answering) -> None:
        runs.append(given.run)
        given.run.emit(chunk("text-start", id="1"))
        raise FencedError(given.message.id)

    asked = desk.ask(lost, desk.answer)
    desk.over(asked)
    (run,) = runs
    assert run.stop.is_set()
    assert run.read().chunks[-1]["type"] == "abort"
    again = desk.runs.watch(asked.id)
    assert again is not run


def test_what_should_be_known_of_the_run_database_is_said_at_the_first_attempt_alone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.engine, "note", "It was put aside.")
    asked = desk.ask()
    desk.over(asked)
    assert desk.says(asked) == ["It was put aside."]
    left = threading.Event()

    def leave(given: Answering) -> None:
        record = desk.engine.record(given.message.id)
        assert record is not None
        desk.engine.again(record)
        left.set()
        raise LeaveError("No room.")

    again = desk.ask(leave, desk.answer)
    desk.over(again)
    note, reason, *cleared = desk.says(again)
    assert note == "It was put aside."
    assert reason.startswith("No room.")
    assert cleared
    assert not any(cleared), "neither is said again"


def test_a_wish_to_stop_is_kept_and_found_by_the_next_attempt(desk: Desk) -> None:
    stopped: list[tuple[bool, bool]] = []

    def leave(given: Answering) -> None:
        desk.engine.want_stop(given.message.id)
        raise LeaveError("No room.")

    def look(given: Answering) -> None:
        stopped.append((given.run.stop.is_set(), given.run.stop_wanted))
        desk.answer(given, "stopped")

    desk.over(desk.ask(leave, look))
    desk.over(desk.ask(look))
    assert stopped == [(True, True), (False, False)]


# Steps


def steps(run: Run, stream: Stream, leaving: bool = False, **earlier: Any) -> DurableSteps:
    return DurableSteps(run, stream, attempt=1, earlier=earlier, leaving=lambda: leaving)


def untold(stream: Stream) -> list[str]:
    return [line.split(" ", 4)[4] for line in stream.untold("m")]


def within_a_run(desk: Desk, act: Callable[[], None]) -> None:
    """Have something done where streams can be written."""
    failed: list[BaseException] = []

    def done(given: Answering) -> None:
        try:
            act()
        except BaseException as e:  # noqa: BLE001 - the test raises it
            failed.append(e)
        desk.answer(given)

    desk.over(desk.ask(done))
    for e in failed:
        raise e


def test_steps_are_taken_over_or_run_and_end_with_their_process(desk: Desk) -> None:
    within_a_run(desk, taken_over_where_it_is_of_its_kind)
    within_a_run(desk, what_it_had_at_the_end_of_its_process_is_not_kept)


def taken_over_where_it_is_of_its_kind() -> None:
    run, stream, ran = Run("m"), Stream(), list[str]()

    def work() -> ModelStep:
        ran.append("ran")
        return ModelStep(error="no")

    made = steps(run, stream, model1=GOOD, model2=ToolStep("t"))
    assert made._work("model1", ModelStep, work) == GOOD
    assert ran == []
    assert run.read().chunks == GOOD.chunks
    assert "Six." in untold(stream)[0], "others are told of it, too"
    assert made._work("model2", ModelStep, work).error == "no"
    assert made._work("model3", ModelStep, work).error == "no"
    assert ran == ["ran"] * 2
    assert run.read().chunks == GOOD.chunks, "a step shows itself while it runs"


def what_it_had_at_the_end_of_its_process_is_not_kept() -> None:
    run, stream = Run("m"), Stream()

    def stopped() -> ModelStep:
        return ModelStep(stopped=True)

    def busy() -> ModelStep:
        raise StoreBusyError("It is locked.", "Close it.")

    assert steps(run, stream)._work("model-1", ModelStep, stopped).stopped, "the person's wish"
    leaving = [False, True]
    ending = DurableSteps(run, stream, attempt=1, earlier={}, leaving=lambda: leaving.pop(0))
    with pytest.raises(LeaveError):
        ending._work("model-1", ModelStep, stopped)
    with pytest.raises(LeaveError) as left:
        steps(run, stream, leaving=True)._work("model-1", ModelStep, lambda: GOOD)
    assert left.value.reason == ""
    with pytest.raises(LeaveError) as left:
        steps(run, stream)._work("model-1", ModelStep, busy)
    assert left.value.reason == "It is locked."
    leaving[:] = [False, True]
    assert ending._work("model-1", ModelStep, lambda: GOOD) == GOOD, "it came to its end"


def test_steps_of_one_turn_keep_their_order_however_they_race(desk: Desk) -> None:
    found: list[Any] = []
    last = threading.Event()

    def slow() -> ToolStep:
        assert last.wait(30), "they run beside each other"
        return ToolStep("slow")

    def quick() -> ToolStep:
        last.set()
        return ToolStep("quick", error="no")

    def turn(given: Answering) -> None:
        jobs = [("tool-1-1-a", slow), ("tool-1-2-b", quick)]
        found.append(given.steps.parallel(ToolStep, jobs))
        found.append(given.steps.parallel(ToolStep, [("tool-2-1-a", lambda: ToolStep("alone"))]))
        found.append(given.steps.parallel(ToolStep, []))
        found.append(given.steps("model-3", ModelStep, lambda: GOOD))
        desk.answer(given)

    asked = desk.ask(turn)
    desk.over(asked)
    assert [[step.id for step in steps] for steps in found[:3]] == [
        ["slow", "quick"],
        ["alone"],
        [],
    ]
    assert found[3] == GOOD
    kept = desk.runs.steps(asked.id)
    assert [(s.name, s.outcome, s.tokens) for s in kept] == [
        ("tool-1-1-a", "ok", 0),
        ("tool-1-2-b", "error", 0),
        ("tool-2-1-a", "ok", 0),
        ("model-3", "ok", 10),
    ]
    assert [s.number for s in kept] == sorted({s.number for s in kept})
    assert all(0 <= s.seconds < 30 for s in kept)


def test_an_attempt_shows_again_what_is_kept_and_runs_what_is_not(desk: Desk) -> None:
    ran: list[str] = []

    def first(given: Answering) -> None:
        given.steps("model-1", ModelStep, lambda: ran.append("first") or GOOD)
        raise LeaveError("No room.")

    def second(given: Answering) -> None:
        assert given.steps("model-1", ModelStep, lambda: ran.append("again") or GOOD) == GOOD
        given.steps("tool-1-1-a", ToolStep, lambda: ran.append("second") or ToolStep("t"))
        desk.answer(given)

    asked = desk.ask(first, second)
    desk.over(asked)
    assert ran == ["first", "second"]
    run = desk.runs.watch(asked.id)
    assert run is not None
    assert [c for c in run.read().chunks if c["type"] != "data-status"] == [*GOOD.chunks, END]


@pytest.mark.parametrize(
    ("before", "model", "taken"),
    [
        (["error"], MODEL, True),
        (["error"], "claude-opus-5-5", False),
        (["completed"], MODEL, False),
        (["stopped"], MODEL, False),
        (["error", "completed"], MODEL, False),
        (["completed", "error"], MODEL, True),
    ],
)
def test_an_answer_goes_on_from_the_failed_one_just_before_it(
    desk: Desk, before: list[str], model: str, taken: bool
) -> None:
    ran: list[str] = []

    def step(name: str) -> Callable[[], ModelStep]:
        return lambda: ran.append(name) or GOOD  # type: ignore[func-returns-value]

    first: Message | None = None
    for status in before:

        def fail(given: Answering, status: str = status) -> None:
            given.steps("model-1", ModelStep, step(status))
            given.steps("model-2", ModelStep, lambda: ModelStep(error="no"))
            desk.answer(given, status)

        last = desk.ask(fail, beside=first)
        desk.over(last)
        first = first or last
    assert desk.runs.goes_on(last.id)
    ran.clear()

    def again(given: Answering) -> None:
        found = given.steps("model-1", ModelStep, step("anew"))
        assert (found.usage == TokenUsage()) == taken, "what was paid for is not counted twice"
        given.steps("model-2", ModelStep, step("anew"))
        desk.answer(given)

    desk.acts[:] = [again]
    answer = desk.saved(first, model=model)
    desk.runs.start(desk.scope, answer)
    desk.over(answer)
    assert ran == (["anew"] if taken else ["anew", "anew"]), "a step that failed runs again"


def test_nothing_goes_on_from_an_answer_without_a_good_step(desk: Desk) -> None:
    def fail(given: Answering) -> None:
        given.steps("model-1", ModelStep, lambda: ModelStep(error="no"))
        desk.answer(given, "error")

    asked = desk.ask(fail)
    desk.over(asked)
    assert not desk.runs.goes_on(asked.id)
    assert not desk.runs.goes_on("nobody's")


@pytest.mark.parametrize(
    ("name", "value", "failed", "outcome", "tokens"),
    [
        ("model-1", GOOD.to_json(), False, "ok", 10),
        ("model-1", ModelStep(error="no").to_json(), False, "error", 0),
        ("model-1", ModelStep(stopped=True).to_json(), False, "stopped", 0),
        ("model-1", GOOD.to_json(), True, "error", 0),
        ("model-1", "no step at all", False, "ok", 0),
        ("save", {"status": "completed"}, False, "ok", 0),
    ],
)
def test_what_the_operator_is_told_of_a_step(
    name: str, value: Any, failed: bool, outcome: str, tokens: int
) -> None:
    kept = KeptStep(4, name, value, failed, 1.5)
    assert _step_record(kept) == StepRecord(4, name, 1.5, tokens, outcome)


# Who stops, withdraws, deletes and resumes


def hold(desk: Desk, status: str = "stopped") -> tuple[Message, threading.Event]:
    """An answer that is being written until it is stopped; and what tells that it began."""
    began = threading.Event()

    def write(given: Answering) -> None:
        began.set()
        assert given.run.stop.wait(30)
        desk.answer(given, status)

    asked = desk.ask(write)
    assert began.wait(30)
    return asked, began


def test_stop_ends_what_is_written_and_what_waits_and_nothing_that_is_over(desk: Desk) -> None:
    written, _ = hold(desk)
    waits = messages.add_exchange(
        desk.store.db, desk.scope, written.chat_id, [], model=MODEL
    ).answer
    desk.runs.start(desk.scope, waits)
    [record] = [r for r in desk.runs.records("streaming") if r.message_id == written.id]
    assert record.here
    with pytest.raises(RunError, match="under way in this process"):
        desk.runs.resume(written.id)
    with pytest.raises(RunError, match="under way in this process"):
        desk.runs.resume(waits.id)
    desk.runs.stop(waits.id)
    assert desk.status(waits) == "stopped"
    run = desk.runs.watch(waits.id)
    assert run is not None
    assert run.read().chunks == (chunk("abort", reason=STOPPED),)
    assert desk.status(written) == "streaming"
    desk.runs.end([written.id])
    assert not desk.runs.board.running(written.id), "one waits for it"
    assert desk.status(written) == "stopped"
    record_of = desk.engine.record(written.id)
    assert record_of is not None
    assert record_of.stop_wanted
    done = desk.ask()
    desk.over(done)
    desk.runs.stop(done.id)
    desk.runs.stop("nobody's")
    assert desk.status(done) == "completed"


def test_a_question_that_is_withdrawn_waits_no_more(desk: Desk) -> None:
    written, _ = hold(desk)
    waits = messages.add_exchange(
        desk.store.db, desk.scope, written.chat_id, [], model=MODEL
    ).answer
    desk.runs.start(desk.scope, waits)
    question = desk.runs.withdraw(desk.scope, waits.id)
    assert question.id == waits.parent_id
    run = desk.runs.watch(waits.id)
    assert run is not None
    assert run.read().chunks == (chunk("abort", reason="Withdrawn."),)
    assert desk.runs.board.load().waiting == 0
    desk.runs.end([written.id])


def test_nothing_is_left_of_answers_that_are_forgotten(desk: Desk) -> None:
    done, stays = desk.ask(), desk.ask()
    desk.over(done, stays)
    written, _ = hold(desk)
    desk.runs.forget([done.id, written.id, "nobody's"])
    assert desk.status(written) == "stopped"
    assert [desk.engine.record(m.id) is None for m in (done, written, stays)] == [True, True, False]
    assert [desk.runs.watch(m.id) is None for m in (done, written, stays)] == [True, True, False]


def test_a_run_without_its_message_is_over_without_a_word(desk: Desk) -> None:
    begun: list[str] = []
    asked = desk.saved()
    desk.acts[:] = [lambda given: begun.append(given.message.id)]
    desk.finish(asked)
    desk.engine.begin(asked.id)
    purged = desk.saved()
    purge_chat(desk.store.db, desk.scope, purged.chat_id)
    desk.engine.begin(purged.id)
    for one in (asked, purged):
        wait_until(lambda one=one: bool((r := desk.engine.record(one.id)) and r.over))
        assert not desk.engine.record(one.id).gave_up  # type: ignore[union-attr]
    assert begun == []


def test_only_what_is_neither_over_nor_under_way_is_resumed(desk: Desk) -> None:
    done, left = desk.ask(), desk.saved()
    desk.over(done)
    with pytest.raises(NotFoundError):
        desk.runs.resume("nobody's")
    with pytest.raises(NotFoundError):
        desk.runs.steps("nobody's")
    with pytest.raises(RunError, match=r"over \(completed\)"):
        desk.runs.resume(done.id)
    assert desk.runs.records("pending")[0].attempts == 0
    desk.runs.resume(left.id)
    desk.over(left)
    assert desk.status(left) == "completed"


def test_a_put_away_chats_answer_ends_with_what_its_good_steps_had_shown(desk: Desk) -> None:
    def first(given: Answering) -> None:
        given.steps("model-1", ModelStep, lambda: GOOD)
        chats.delete(desk.store.db, desk.scope, given.message.chat_id)
        raise LeaveError("No room.")

    asked = desk.ask(first, desk.answer)
    desk.over(asked)
    chats.restore(desk.store.db, desk.scope, asked.chat_id)
    message = desk.found(asked).message
    assert message.status == "stopped"
    assert message.usage == {"model": MODEL}
    assert [(p["type"], p.get("text")) for p in message.parts] == [("text", "Six.")]
    run = desk.runs.watch(asked.id)
    assert run is not None
    assert run.read().chunks[-1] == chunk("abort", reason=STOPPED)


@pytest.fixture
def still(tmp_path: Path) -> Iterator[Desk]:
    """A process that nobody has asked anything: its runs are not launched."""
    store = open_store(Settings(home=tmp_path))
    yield Desk(store, Engine(tmp_path), users.ensure_local_user(store.db))
    store.close()


def test_a_question_that_ended_with_what_else_its_asker_had_waits_no_more(still: Desk) -> None:
    asked, other = still.saved(), still.saved()
    for one in (asked, other):
        still.runs.board.wait(ticket_of(still.found(one)))
    still.finish(asked, "stopped")
    still.runs.stop(asked.id)
    assert still.runs.board.place(asked.id) is None
    run = still.runs.watch(asked.id)
    assert run is not None
    assert run.read().chunks == (chunk("abort", reason=STOPPED),)
    assert still.runs.board.place(other.id) is not None
    still.runs.stop(other.id)
    assert (still.status(other), still.runs.board.load().waiting) == ("stopped", 0)
    assert still.runs.watch("nobody's") is None


def test_a_process_that_ends_lets_go_of_its_answers_and_takes_no_more(still: Desk) -> None:
    asked = still.saved()
    assert not still.runs.goes_on(asked.id), "nothing is launched for that"
    still.runs.board.remember(ticket_of(still.found(asked)))
    began = time.monotonic()
    still.runs.close()
    assert time.monotonic() - began < 4, "nothing was launched that would have to end"
    run = still.runs.watch(asked.id)
    assert run is not None
    assert (run.stop.is_set(), run.stop_wanted) == (True, False), "others may go on with it"
    told = still.runs.board.told
    still.saved()
    assert still.runs.board.told == told, "it hears of nothing any more"
    for act in (still.runs.launch, lambda: still.runs.start(still.scope, asked)):
        with pytest.raises(RunError, match="shutting down"):
            act()

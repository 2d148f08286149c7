"""What one process of several does with a question or an answer: begin it, leave it for a while, go on
with it, end it, or follow it where another writes it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from leaf.agent.ends import STOPPED
from leaf.errors import RunError, StoreBusyError
from leaf.runs import dispatch, engine, keeper
from leaf.runs.batches import Batch
from leaf.runs.board import BUSY_SECONDS, ELSEWHERE, QueueLimits, ticket_of
from leaf.runs.dispatch import DAMAGED, FAILED_SECONDS
from leaf.runs.engine import MOST_ATTEMPTS, VERSION, Engine, Record
from leaf.runs.run import Run
from leaf.runs.steps import Stream
from leaf.shapes.chunks import chunk
from leaf.store import chats, leases, messages
from leaf.store.changes import LIVE, Change
from leaf.store.fence import Fence, FencedError
from leaf.store.leases import Holder
from leaf.store.model import Unfinished
from tests import postgres, process_kit
from tests.process_kit import Here, Place
from tests.runs_kit import wait_until

OTHER = Holder("other-1.x", VERSION, 99)
WORDS = tuple(chunk("text-delta", id="1", delta=str(n)) for n in range(3))


@pytest.fixture(scope="module")
def databases(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Place]:
    url = postgres.of_test(request)
    with process_kit.opened(tmp_path_factory.mktemp("here"), url) as opened:
        yield opened


@pytest.fixture
def place(databases: Place) -> Iterator[Place]:
    databases.empty()
    databases.held.set()
    yield databases
    databases.held.set()


@pytest.fixture
def here(place: Place) -> Here:
    return Here(place)


def begun(place: Place, *those: Unfinished) -> bool:
    """Whether these were begun and no other, each once."""
    ids = sorted(found.message.id for found in those)
    wait_until(lambda: len(place.begun) >= len(ids))
    return sorted(place.begun) == ids


def away(*_: object, **__: object) -> Any:
    raise StoreBusyError("The database is away.", "Wait.")


# A claim


def claims(here: Here, found: Unfinished) -> float:
    """Have a question's answer claimed that waits here; when that was."""
    here.board.wait(ticket_of(found), asked=True)
    began = time.monotonic()
    here.dispatcher._claim(ticket_of(found))
    return began


def test_a_question_whose_turn_it_is_is_claimed_and_begun(here: Here) -> None:
    found = here.place.asked()
    here.dispatcher.unsure.add(found.message.id)
    claims(here, found)
    assert begun(here.place, found)
    assert (here.waits(), {*here.board.live}) == ([], {found.message.id})
    assert here.place.holder(found) == here.id
    assert here.dispatcher.unsure == set()


@pytest.mark.parametrize("why", ["its chat", "its asker"])
def test_a_question_that_is_held_up_elsewhere_waits_for_a_while(here: Here, why: str) -> None:
    place = here.place
    chat = place.chat()
    first = place.asked(chat)
    leases.claim(place.db, first.scope, first.message.id, OTHER)
    found = place.asked(chat if why == "its chat" else None)
    here.dispatcher.holder = Holder(here.id, VERSION, 1 if why == "its asker" else 99)
    began = claims(here, found)
    one = chat.id if why == "its chat" else place.scope.user_id
    assert [*here.board.busy_until] == [one]
    assert BUSY_SECONDS <= here.board.busy_until[one] - began < BUSY_SECONDS + 10
    assert here.waits() == [found.message.id]
    assert place.begun == []


def test_what_was_told_while_one_tried_is_tried_again_at_once(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> str:
        here.board.heard([Change("w", "messages")])
        return "busy"

    monkeypatch.setattr(leases, "claim", busy)
    claims(here, here.place.asked())
    assert here.board.busy_until == {}


@pytest.mark.parametrize(
    ("unsure", "mine", "goes_on"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_a_question_that_was_begun_already_is_let_go_unless_that_was_here(
    here: Here, unsure: bool, mine: bool, goes_on: bool
) -> None:
    found = here.place.written(here.id if mine else OTHER.id)
    if unsure:
        here.dispatcher.unsure.add(found.message.id)
    claims(here, found)
    assert here.waits() == []
    assert here.dispatcher.unsure == set()
    assert begun(here.place, *([found] if goes_on else []))
    assert {*here.board.live} == {*here.board.runs} == ({found.message.id} if goes_on else set())


def test_a_question_that_is_stopped_while_it_is_claimed_is_not_begun(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, found = here.place, here.place.asked()

    def stop(*_: object) -> bool:
        args = (place.db, found.scope, found.message.id)
        stopping = threading.Thread(target=messages.stop_pending, args=args)
        stopping.start()
        stopping.join(10)
        return False

    monkeypatch.setattr(leases, "_comes_later", stop)
    claims(here, found)
    assert (place.status(found), place.holder(found)) == ("stopped", None)
    assert (here.waits(), {*here.board.live}, place.begun) == ([], set(), [])


def test_a_process_that_has_its_history_alone_forgets_a_question_that_is_gone(here: Here) -> None:
    found = here.place.written(here.id)
    here.dispatcher.holder = None
    here.dispatcher.unsure.add(found.message.id)
    claims(here, found)
    assert (here.waits(), here.place.begun) == ([], [])
    assert not here.board.runs[found.message.id].read().done, "how it ended stands in the history"
    assert here.dispatcher.is_mine(found.message.id), "there is nobody else"


def faulty(*_: object, **__: object) -> Any:
    raise RuntimeError("A fault of Leaf, or of a library.")


@pytest.mark.parametrize("failing", [away, faulty])
def test_a_question_that_could_not_be_claimed_is_left_for_moments(
    here: Here, monkeypatch: pytest.MonkeyPatch, failing: Callable[..., Any]
) -> None:
    found = here.place.asked()
    monkeypatch.setattr(leases, "claim", failing)
    monkeypatch.setattr(dispatch, "FAILED_SECONDS", FAILED_SECONDS + 100)
    thread = threading.Thread(target=here.dispatcher.dispatch)
    began = time.monotonic()
    here.board.wait(ticket_of(found), asked=True)
    thread.start()
    wait_until(lambda: bool(here.board.busy_until))
    assert here.dispatcher.unsure == {found.message.id}
    assert here.board.busy_until[found.message.chat_id] - began > 100
    assert here.waits() == [found.message.id]
    monkeypatch.undo()
    here.board.heard([Change("w", "messages")])
    wait_until(lambda: here.place.begun == [found.message.id])
    with here.board.news:
        here.board.closed = True
        here.board.news.notify_all()
    thread.join(10)
    assert not thread.is_alive()


def test_what_others_have_begun_waits_here_no_more_but_what_was_perhaps_claimed_here_does(
    here: Here,
) -> None:
    place = here.place
    waits, theirs, unsure = place.asked(), place.asked(), place.asked()
    for one in (waits, theirs, unsure):
        here.board.wait(ticket_of(one))
    run = here.board.runs[theirs.message.id]
    leases.claim(place.db, theirs.scope, theirs.message.id, OTHER)
    leases.claim(place.db, unsure.scope, unsure.message.id, here.presence.holder)
    here.dispatcher.unsure.add(unsure.message.id)
    here.board.heard([Change(place.scope.workspace_id, LIVE)])
    here.dispatcher._let_go_of_begun(here.board.doubtful())
    assert here.waits() == [waits.message.id, unsure.message.id]
    assert run.read().chunks == (chunk("abort", reason=ELSEWHERE),)
    assert here.board.doubtful() == set(), "they were looked at"
    here.board.heard([Change("another workspace", LIVE)])
    assert here.board.doubtful() == set()


@pytest.mark.parametrize("failing", ["unscoped_offer", "unscoped_waiting"])
def test_a_fault_in_what_others_are_told_or_asked_ends_no_thread(
    here: Here, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    tried = threading.Event()

    def fails(*_: object) -> Any:
        tried.set()
        return faulty()

    monkeypatch.setattr(leases, failing, fails)
    here.board.alone = False
    here.board.limits = QueueLimits(total=0)
    found = here.place.asked()
    here.board.wait(ticket_of(found), asked=True)
    thread = threading.Thread(target=here.dispatcher.dispatch)
    thread.start()
    here.board.heard([Change(found.scope.workspace_id, "messages")])
    assert tried.wait(20)
    with here.board.news:
        here.board.limits = QueueLimits()
        here.board.news.notify_all()
    wait_until(lambda: here.place.begun == [found.message.id])
    with here.board.news:
        here.board.closed = True
        here.board.news.notify_all()
    thread.join(10)


# Going on


@pytest.mark.parametrize("what", ["mine", "theirs", "away"])
def test_what_was_left_for_a_while_is_begun_again_where_it_is_still_this_ones(
    here: Here, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, later = here.writes(), here.writes()
    run = here.board.runs[now.message.id]
    for one in (now, later):
        here.board.park(one.message.id, "No room.")
    here.board.live[now.message.id].again_at = 0.0
    if what == "theirs":
        leases.unscoped_seize(here.place.db, now, OTHER)
    if what == "away":
        monkeypatch.setattr(leases, "unscoped_token", away)
    here.keeper._begin_parked()
    assert begun(here.place, *([now] if what == "mine" else []))
    said = [c["data"]["text"] for c in run.read().chunks if c["type"] == "data-status"]
    assert said[1] == "", "what was said is over"
    if what == "theirs":
        assert run.read().chunks[-1] == chunk("abort", reason=ELSEWHERE)
        assert {*here.board.live} == {later.message.id}
    if what == "away":
        assert said[2].startswith("The database is away.")
    assert (here.board.live[later.message.id].again_at is None) is False
    if now.message.id in here.board.live:
        assert (here.board.live[now.message.id].again_at is None) == (what == "mine")


def test_what_cannot_be_begun_is_left_for_a_while_and_says_why(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("could not connect to server")

    found = here.writes()
    monkeypatch.setattr(Engine, "begin", refuse)
    here.dispatcher.begin(found.message.id)
    assert here.board.live[found.message.id].again_at is not None
    [told] = here.board.runs[found.message.id].read().chunks
    assert told["type"] == "data-status"
    assert told["data"]["text"].startswith("The PostgreSQL server cannot be reached.")


def record(found: Unfinished, **given: Any) -> Record:
    """As of a run that another process had begun here."""
    usual: dict[str, Any] = {
        "over": False,
        "gave_up": False,
        "attempts": 1,
        "executor": "other-1",
        "version": VERSION,
        "stop_wanted": False,
        "begun_at": None,
        "ended_at": None,
    }
    return Record(found.message.id, **(usual | given))


@pytest.mark.parametrize(
    ("status", "given", "alone", "becomes"),
    [
        ("pending", None, True, "waits"),
        ("streaming", None, True, "taken"),
        ("pending", {"executor": "mine"}, True, "taken"),
        ("streaming", {"executor": "mine"}, True, "taken"),
        ("streaming", {}, True, "left"),
        ("streaming", {}, False, "taken"),
        ("streaming", {"over": True}, True, "anew"),
        ("streaming", {"version": "leaf-0"}, True, "anew"),
        ("streaming", {"over": True, "gave_up": True}, True, ("error", DAMAGED)),
        ("streaming", {"gave_up": True, "stop_wanted": True}, True, ("stopped", "")),
    ],
)
def test_what_a_start_does_with_each_answer_that_is_not_over(
    here: Here, status: str, given: dict[str, Any] | None, alone: bool, becomes: object
) -> None:
    place = here.place
    found = place.asked() if status == "pending" else place.written(here.id)
    if alone:
        here.dispatcher.holder = None
    known = None if given is None else record(found, **given)
    if given == {"executor": "mine"}:
        known = record(found, executor=place.engine.executors[0])
    if becomes == "anew":  # its record is there, and would keep it from beginning
        place.engine.begin(found.message.id)
        wait_until(lambda: (r := place.engine.record(found.message.id)) is not None and r.over)
        place.begun.clear()
    here.dispatcher._recover_one(found, known)
    now = place.found(found.message.id).message
    assert here.waits() == ([found.message.id] if becomes == "waits" else [])
    assert begun(place, *([found] if becomes in ("taken", "anew") else []))
    assert {*here.board.live} == ({found.message.id} if becomes in ("taken", "anew") else set())
    assert (now.status, now.error) == (becomes if isinstance(becomes, tuple) else (status, ""))


@pytest.mark.parametrize("over", [False, True])
def test_what_ended_while_one_looked_is_not_begun_anew(here: Here, over: bool) -> None:
    found = here.place.written(here.id)
    if over:
        here.place.rows("UPDATE messages SET status = 'completed'")
    else:
        here.place.rows("DELETE FROM messages")
    here.dispatcher._recover_one(found, record(found, over=True))
    assert here.place.begun == []
    assert not here.board.live


@pytest.mark.parametrize(
    ("attempts", "stop", "kept_stop", "becomes"),
    [
        (1, False, False, "streaming"),
        (MOST_ATTEMPTS - 1, False, False, "streaming"),
        (MOST_ATTEMPTS, False, False, "error"),
        (1, True, False, "stopped"),
        (1, False, True, "stopped"),
        (MOST_ATTEMPTS, False, True, "stopped"),
    ],
)
def test_going_on_with_what_was_anothers_is_counted_and_ends_what_was_to_stop(
    here: Here, attempts: int, stop: bool, kept_stop: bool, becomes: str
) -> None:
    place = here.place
    found = place.written(here.id)
    place.held.clear()
    place.engine.begin(found.message.id)
    wait_until(lambda: place.begun == [found.message.id])
    place.engine._note(found.message.id, {"attempts": attempts, "stop": kept_stop})
    run = here.board.remember(ticket_of(found))
    here.dispatcher.go_on(found, stop=stop)
    now = place.found(found.message.id).message
    assert now.status == becomes
    assert now.error == (DAMAGED if becomes == "error" else "")
    assert now.usage == ({} if becomes == "streaming" else {"model": now.model})
    after = place.engine.record(found.message.id)
    assert after is not None
    assert after.attempts == attempts + (becomes == "streaming")
    ends = {"streaming": [], "error": ["error"], "stopped": ["abort"]}
    assert [c["type"] for c in run.read().chunks] == ends[becomes]


def test_of_records_alone_those_are_ended_whose_answers_are_over(here: Here) -> None:
    place = here.place
    place.held.clear()
    goes_on, over = place.written(here.id), place.written(here.id)
    for one in (goes_on, over):
        place.engine.begin(one.message.id)
    wait_until(lambda: len(place.begun) == 2)
    messages.finish(
        place.db, over.scope, over.message.id, parts=[], raw=[], usage={}, status="completed"
    )
    tried: list[str] = []
    here.dispatcher.begin = tried.append  # type: ignore[method-assign]
    here.dispatcher.finish_records()
    assert tried == [over.message.id]


# Again and again


def test_what_is_due_is_done_again_and_again_until_the_end(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, written, hourly = list[str](), list[Stream](), list[str]()
    for name in ("LOOK_SECONDS", "WRITE_SECONDS", "ADOPT_SECONDS"):
        monkeypatch.setattr(keeper, name, 0.02)
    monkeypatch.setattr(Stream, "flush", lambda stream: written.append(stream))

    def fail() -> None:
        hourly.append("failed")
        raise StoreBusyError("The database is away.")

    here = Here(
        place,
        others_changed=lambda: looked.append("looked"),
        hourly=[fail, lambda: hourly.append("done")],
    )
    thread = threading.Thread(target=here.keeper.keep, daemon=True)
    thread.start()
    wait_until(lambda: len(looked) > 2)
    assert (hourly, written) == (["failed", "done"], []), "nothing is written that would be told"
    found = here.writes()
    wait_until(lambda: len(written) > 2)
    assert {*written} == {here.board.live[found.message.id].stream}
    here.board.park(found.message.id, "No room.")
    with here.board.news:
        here.board.live[found.message.id].again_at = 0.0
        here.board.news.notify_all()
    wait_until(lambda: place.begun == [found.message.id])
    with here.board.news:
        here.board.closed = True
        here.board.news.notify_all()
    thread.join(10)
    assert not thread.is_alive()
    assert hourly == ["failed", "done"]


def test_records_are_kept_for_a_while_and_as_long_as_their_answers(here: Here) -> None:
    place = here.place
    stays, gone, old = (place.written(here.id) for _ in range(3))
    for one in (stays, gone, old):
        place.engine.begin(one.message.id)
    wait_until(lambda: len(place.engine.over()) == 3)
    place.rows(f"DELETE FROM messages WHERE id = '{gone.message.id}'")
    place.rows(f"UPDATE messages SET status = 'completed' WHERE id = '{old.message.id}'")
    place.rows(
        "UPDATE dbos.workflow_status SET completed_at = completed_at - 25 * 3600 * 1000 "
        f"WHERE workflow_uuid = '{old.message.id}'"
    )
    place.rows(
        "UPDATE dbos.workflow_status SET completed_at = completed_at - 23 * 3600 * 1000 "
        f"WHERE workflow_uuid = '{stays.message.id}'"
    )
    here.keeper._prune()
    assert place.engine.over() == [stays.message.id]
    assert [place.holder(f) for f in (stays, gone, old)] == [here.id, None, None]


# What a person or the operator wants of an answer, wherever it is


@pytest.mark.parametrize(
    ("by", "becomes"), [("here", True), ("other", False), ("silent", True), ("nobody", True)]
)
def test_an_answer_is_resumed_here_unless_another_process_that_is_there_writes_it(
    here: Here, by: str, becomes: bool
) -> None:
    place = here.place
    waits, found = place.asked(), place.written(here.id if by == "here" else OTHER.id)
    if by == "silent":
        place.rows("UPDATE processes SET beat_at = now() - interval '31 seconds'")
    if by == "nobody":
        place.rows("DELETE FROM processes")
    if becomes and by != "here":
        here.runs.resume(found.message.id)
        assert begun(place, found)
        assert place.holder(found) == here.id
    else:
        with pytest.raises(RunError, match="Another process writes this run"):
            here.runs.resume(found.message.id)
        assert place.begun == []
    here.runs.resume(waits.message.id)
    assert here.waits() == [waits.message.id]


@pytest.mark.parametrize("by", ["here", "other", "silent", "nobody"])
def test_a_stop_is_left_to_who_writes_an_answer_if_they_are_there(here: Here, by: str) -> None:
    place = here.place
    found = here.writes() if by == "here" else place.written(OTHER.id)
    if by == "silent":  # more than two beats
        place.rows("UPDATE processes SET beat_at = now() - interval '6.5 seconds'")
    if by == "nobody":
        leases.unscoped_leave(place.db, OTHER.id)
    here.runs.stop(found.message.id)
    ended = by in ("silent", "nobody")
    assert place.status(found) == ("stopped" if ended else "streaming")
    wanted = place.rows("SELECT stop FROM run_leases")
    assert wanted == ([] if ended else [(by == "other",)])
    if by == "here":
        assert here.board.runs[found.message.id].stop_wanted
    if by == "other":
        here.runs._end_elsewhere(found.message.id)  # as when they took too long
        assert place.status(found) == "stopped"
        assert place.holder(found) is None


@pytest.mark.parametrize("why", ["ended", "deleted", "closing", "waiting"])
def test_what_ended_by_itself_is_not_ended_once_more(here: Here, why: str) -> None:
    place = here.place
    found = place.asked() if why == "waiting" else place.written(OTHER.id)
    if why == "ended":
        place.rows("UPDATE messages SET status = 'completed' WHERE role = 'assistant'")
    if why == "deleted":
        place.rows("DELETE FROM messages")
    here.board.closed = why == "closing"
    here.runs._end_elsewhere(found.message.id)
    expected = {"ended": "completed", "deleted": None, "closing": "streaming", "waiting": "pending"}
    rows = place.rows("SELECT status FROM messages WHERE role = 'assistant'")
    assert rows == ([(expected[why],)] if expected[why] else [])
    assert place.holder(found) == (None if why == "waiting" else OTHER.id)


def test_an_answer_that_is_saved_while_it_is_taken_away_stays_whole(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, found = here.place, here.place.written(OTHER.id)
    parts: Any = [{"type": "text", "text": "Whole.", "state": "done"}]
    messages.finish(
        place.db, found.scope, found.message.id, parts=parts, raw=[], usage={}, status="completed"
    )
    monkeypatch.setattr(messages, "unscoped_get", lambda *_: found)  # as it was a moment before
    here.runs._end_elsewhere(found.message.id)
    monkeypatch.undo()
    assert place.found(found.message.id).message.parts == parts
    assert (place.status(found), place.holder(found)) == ("completed", None)


def test_room_is_counted_over_all_processes(place: Place) -> None:
    here = Here(place, QueueLimits(per_user=3, total=1))
    here.board.alone = False
    for found in (place.asked(), place.asked(), place.asked()):
        here.board.wait(ticket_of(found), asked=True)
    assert here.runs.for_room() == 0
    here.writes()
    assert here.runs.for_room() == 2
    place.written(OTHER.id)
    assert here.runs.for_room() == 1


@pytest.mark.parametrize("why", ["theirs", "mine", "away", "closing"])
def test_an_answer_that_was_lost_is_begun_again_only_where_it_is_this_ones_after_all(
    here: Here, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = here.place
    found = here.writes()
    message_id = found.message.id
    run = here.board.runs[message_id]
    here.board.lose(message_id)
    here.board.closed = why == "closing"
    if why == "theirs":
        leases.unscoped_seize(place.db, found, OTHER)
    if why == "away":
        monkeypatch.setattr(leases, "unscoped_token", away)
    here.runs._leave(message_id, "No room.")
    assert run.read().chunks == (chunk("abort", reason=ELSEWHERE),)
    assert {*here.board.live} == ({message_id} if why == "mine" else set())


@pytest.mark.parametrize(
    ("reason", "closing", "parked"),
    [("No room.", False, True), ("", False, False), ("No room.", True, False)],
)
def test_an_answer_is_left_for_a_while_where_there_is_a_reason_and_time(
    here: Here, reason: str, closing: bool, parked: bool
) -> None:
    found = here.writes()
    here.board.closed = closing
    here.runs._leave(found.message.id, reason)
    assert {*here.board.live} == ({found.message.id} if parked else set())
    assert not here.board.runs[found.message.id].read().done


def test_a_run_writes_under_its_lease_alone(here: Here) -> None:
    place = here.place
    mine, theirs = here.writes(), place.written(OTHER.id)
    assert here.runs._fence(mine.message.id) == Fence(mine.message.id, 1)
    with pytest.raises(FencedError):
        here.runs._fence(theirs.message.id)
    here.dispatcher.holder = None
    assert here.runs._fence(theirs.message.id) is None


def test_what_the_end_of_an_answer_was_is_told_before_it_is_read(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(here.place.db, "tell", told.extend)
    found = here.writes()

    def execute(_scope: object, _message: object, run: Run, _steps: object, stream: Any) -> None:
        stream(chunk("finish", finishReason="stop"))

    here.runs._execute = execute
    here.runs._presence = here.presence
    here.runs._answer(found.message.id)
    assert len(told) == 1
    assert told[0].startswith(f"{found.message.id} ")
    assert '"finish"' in told[0]
    assert not here.board.live


# Following what another process writes


@pytest.mark.parametrize(
    ("status", "ends"),
    [
        ("completed", ("finish", "stop")),
        ("stopped", ("abort", STOPPED)),
        ("error", ("error", "It went wrong.")),
        ("streaming", ("abort", ELSEWHERE)),
        ("pending", ("abort", ELSEWHERE)),
        ("deleted", ("error", "The chat of this answer was deleted.")),
        ("away", ("abort", ELSEWHERE)),
    ],
)
def test_who_follows_an_answer_is_told_how_it_ended(
    here: Here, status: str, ends: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = here.place
    found = place.written(OTHER.id)
    place.engine.begin(found.message.id)
    wait_until(lambda: (r := place.engine.record(found.message.id)) is not None and r.over)
    run = here.board.remember(ticket_of(found))
    here.board.release(found.message.id)
    run.elsewhere = True
    if status == "deleted":
        place.rows("DELETE FROM messages")
    elif status == "away":
        monkeypatch.setattr(messages, "unscoped_get", away)
    else:
        place.rows(f"UPDATE messages SET status = '{status}', error = 'It went wrong.'")
    last = here.elsewhere._last_of(found.message.id)
    monkeypatch.undo()
    assert tuple(last.values()) == ends
    goes_on = status in ("streaming", "pending", "away")
    assert (found.message.id in here.board.runs) != goes_on, "another run is followed next"
    assert here.elsewhere._goes_on(found.message.id) == goes_on


def test_a_run_that_is_this_processs_by_now_is_not_taken_from_it(here: Here) -> None:
    found = here.writes()
    assert here.elsewhere._last_of(found.message.id) == chunk("abort", reason=ELSEWHERE)
    assert found.message.id in here.board.runs


def test_only_what_is_being_written_and_has_a_record_is_followed(here: Here) -> None:
    place = here.place
    place.held.clear()
    watch: Callable[[str], Any] = here.elsewhere.watch
    waits, bare, written, over = (
        place.asked(), place.written(OTHER.id), place.written(OTHER.id), place.written(OTHER.id),
    )  # fmt: skip
    for one in (written, over, waits):
        place.engine.begin(one.message.id)
    wait_until(lambda: len(place.begun) == 3)
    place.rows(f"UPDATE messages SET status = 'completed' WHERE id = '{over.message.id}'")
    assert [watch(f.message.id) for f in (waits, bare, over)] == [None, None, None]
    assert watch("nobody's") is None
    run = watch(written.message.id)
    assert run is watch(written.message.id)
    assert run.elsewhere
    assert here.board.runs == {written.message.id: run}
    place.db.changes.told("nobody-follows-this w 0 1 []")
    place.db.changes.told(f"{written.message.id} no part of an answer")
    assert not run.read().done
    chats.delete(place.db, place.scope, written.message.chat_id)
    place.held.set()  # its run ends, and nobody has said how
    wait_until(lambda: run.read().done)
    assert run.read().chunks == (chunk("abort", reason=ELSEWHERE),)
    wait_until(lambda: not here.elsewhere._followers)


def followed(here: Here) -> tuple[Unfinished, Run]:
    """An answer of another process, of which one word was streamed, and its run here."""
    place = here.place
    place.held.clear()
    begins = chunk("begin", step="model-1", attempt=1)
    place.streams.append([begins, *Batch("w", 0, 1, [WORDS[0]]).kept()])
    found = place.written(OTHER.id)
    place.engine.begin(found.message.id)
    wait_until(lambda: place.begun == [found.message.id])
    run = here.elsewhere.watch(found.message.id)
    assert run is not None
    wait_until(lambda: run.read().chunks == (WORDS[0],))
    return found, run


def test_what_another_process_writes_is_shown_as_it_is_told_without_its_marks(here: Here) -> None:
    found, run = followed(here)
    told = here.place.db.changes.told
    told(Batch("w", 2, 3, [WORDS[2]]).line(found.message.id))
    assert run.read().chunks == (WORDS[0],), "one before it is missing"
    told(Batch("w", 1, 2, [WORDS[1]]).line(found.message.id))
    assert run.read().chunks == WORDS
    here.place.rows("UPDATE messages SET status = 'completed'")
    here.place.held.set()
    wait_until(lambda: run.read().done)
    assert run.read().chunks == (*WORDS, chunk("finish", finishReason="stop"))
    wait_until(lambda: not here.elsewhere._followers)


def test_what_is_followed_ends_where_its_answer_is_over_or_this_processs_by_now(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SILENT_SECONDS", 0.1)
    monkeypatch.setattr(engine, "POLL_SECONDS", 0.05)
    _, run = followed(here)
    assert not run.read(1, timeout=0.4).done, "its writer is only slow"
    here.place.rows("UPDATE messages SET status = 'completed'")
    wait_until(lambda: run.read().done)
    assert run.read().chunks[-1] == chunk("finish", finishReason="stop")
    here.place.empty()
    found, run = followed(here)
    own = here.board.remember(ticket_of(found))
    wait_until(lambda: not here.elsewhere._followers)
    assert run.read().chunks == (WORDS[0], chunk("abort", reason=ELSEWHERE))
    assert here.board.runs[found.message.id] is own
    assert not own.read().done

"""What a run is given to do, how it is saved however it ends, whose citations it looks up, and which
edited steps are run: a real history, without a model and without reading a file."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from leaf.agent.budget import FileInChat
from leaf.agent.cited import Citation, Verdict
from leaf.agent.models.base import TokenUsage
from leaf.agent.task import Outcome
from leaf.errors import InvalidInputError, LeafError, NotFoundError, StoreBusyError
from leaf.readers.locate.locate import Located, Sought
from leaf.runs.citing import MOST, FileCitationResolver
from leaf.runs.edited import LONGEST_CODE, _edited, part_of
from leaf.runs.execute import Executor, SaveStep, TaskStep
from leaf.runs.run import Run
from leaf.runs.steps import LeaveError
from leaf.runs.titles import SavedAnswer
from leaf.settings import RunLimits
from leaf.shapes.chunks import Chunk, chunk
from leaf.store import chat_files, files, messages
from leaf.store.database import now
from leaf.store.edited_steps import EditedStep
from leaf.store.files import NewFile
from leaf.store.model import File, Message
from tests.runs_kit import MODEL, Desk

TEXT: list[Chunk] = [
    chunk("text-start", id="1"),
    chunk("text-delta", id="1", delta="Half"),
]
SHOWN = [("text", "Half", "done")]
END = chunk("finish", finishReason="stop")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with Desk(tmp_path_factory.mktemp("home"), "http://127.0.0.1:1") as opened:
        yield opened


@pytest.fixture
def executor(desk: Desk) -> Executor:
    found = desk.runs._execute
    assert isinstance(found, Executor)
    return found


def added(desk: Desk, name: str, tokens: int | None = None) -> File:
    outline = {} if tokens is None else {"tokens": tokens}
    digest = hashlib.sha256(name.encode()).hexdigest()
    new = NewFile(name, "text/csv", "table", 4, digest, "", "", outline)
    return files.add(desk.db, desk.scope, new)[0]


# The task


def test_a_task_rests_on_the_files_of_its_chat_and_knows_which_came_with_the_question(
    desk: Desk, executor: Executor
) -> None:
    chat = desk.chat()
    chat_files.attach(desk.db, desk.scope, chat.id, [added(desk, "first.csv", 30).id])
    desk.save("One?", chat)
    chat_files.attach(
        desk.db, desk.scope, chat.id, [added(desk, "a.csv", 7).id, added(desk, "b.csv").id]
    )
    answer = desk.save("Two?", chat)
    settings = executor._task_settings(desk.scope, answer)
    told = (
        FileInChat("f1", "first.csv", 30, False),
        FileInChat("f2", "a.csv", 7, True),
        FileInChat("f3", "b.csv", 0, True),
    )
    assert settings == TaskStep(RunLimits(), 37, told, 100_000, None)
    assert TaskStep.from_json(settings.to_json()) == settings


@pytest.mark.parametrize(("kept", "given"), [(None, 100_000), (0, 0), (5, 5)])
def test_an_attempt_is_given_what_the_first_one_had(
    desk: Desk, executor: Executor, kept: int | None, given: int
) -> None:
    answer = desk.save("What?")
    first = TaskStep(RunLimits(), 12, (FileInChat("f1", "gone.csv", 12),), kept)
    asked: list[tuple[str, object]] = []

    def steps(name: str, shape: object, _function: object) -> TaskStep:
        asked.append((name, shape))
        return first

    agent, task = executor._task(desk.scope, answer, steps, threading.Event())  # type: ignore[arg-type]
    assert asked == [("task", TaskStep)]
    assert agent is executor._agent
    assert (task.message_id, task.model, task.scope) == (answer.id, MODEL, desk.scope)
    assert (task.limits, task.inline_tokens, task.files) == (first.limits, 12, first.files)
    assert task.file_tokens == given
    assert [m.parts[0]["text"] for m in task.history if m.parts[0]["type"] == "text"] == ["What?"]
    assert task.budget_reached() == ""
    task.spent("model-1", TokenUsage(input=5, cached=3, output=2), 0.5)
    rows = desk.db.read(
        "SELECT step, chat_id, model, input_tokens, cached_tokens, output_tokens, cost FROM "
        "usage_steps WHERE message_id = :id",
        {"id": answer.id},
    )
    assert [tuple(row.values()) for row in rows] == [
        ("model-1", answer.chat_id, MODEL, 5, 3, 2, 0.5)
    ]


# The end


def inline(_name: str, _shape: object, function: Callable[[], Any]) -> Any:
    return function()


def answers(
    executor: Executor, monkeypatch: pytest.MonkeyPatch, outcome: Outcome | BaseException
) -> list[SavedAnswer]:
    """Have the agent end this way, once it has shown some text; what titles are asked of."""
    titled: list[SavedAnswer] = []

    class Titles:
        answered = staticmethod(titled.append)

    def answer(_task: object, emit: Callable[[Chunk], None], _steps: object, _stop: object) -> Any:
        for c in TEXT:
            emit(c)
        if isinstance(outcome, BaseException):
            raise outcome
        emit(END if outcome.status == "completed" else chunk("abort", reason="Stopped."))
        return outcome

    monkeypatch.setattr(executor._agent, "answer", answer)
    monkeypatch.setattr(executor, "_titles", Titles)
    return titled


def shown(message: Message) -> list[tuple[Any, ...]]:
    return [(p["type"], p.get("text"), p.get("state")) for p in message.parts]


@pytest.mark.parametrize("status", ["completed", "stopped"])
def test_an_answer_is_saved_before_its_stream_ends(
    desk: Desk, executor: Executor, monkeypatch: pytest.MonkeyPatch, status: Any
) -> None:
    answer, run = desk.save("What?"), Run("m")
    parts: Any = [{"type": "text", "id": "1", "text": "Half", "state": "done"}]
    raw: Any = [{"role": "assistant", "content": []}]
    titled = answers(executor, monkeypatch, Outcome(status, parts, raw, {"input": 4}))
    found: list[tuple[str, str]] = []

    def stream(c: Chunk) -> None:
        found.append((c["type"], desk.message(answer.id).status))
        assert not run.read().done

    executor(desk.scope, answer, run, inline, stream)  # type: ignore[arg-type]
    last = "finish" if status == "completed" else "abort"
    assert found == [("text-start", "pending"), ("text-delta", "pending"), (last, status)]
    assert [c["type"] for c in run.read().chunks] == ["text-start", "text-delta", last]
    now_ = desk.message(answer.id)
    assert (now_.parts, now_.raw, now_.usage, now_.error) == (parts, raw, {"input": 4}, "")
    if status == "stopped":
        assert titled == []
        return
    (title,) = titled
    assert (title.scope, title.message.id, title.parts) == (desk.scope, answer.id, parts)
    assert title.question == "What?"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (LeafError("The model is away.", "Wait."), "The model is away. Wait."),
        (ValueError("a secret"), "Leaf failed in a way that it did not expect. Ask again;"),
    ],
)
def test_an_answer_that_cannot_go_on_keeps_what_it_has_shown_and_says_why(
    desk: Desk,
    executor: Executor,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    said: str,
) -> None:
    answer, run, streamed = desk.save("What?"), Run("m"), list[Chunk]()
    titled = answers(executor, monkeypatch, error)
    executor(desk.scope, answer, run, inline, streamed.append)  # type: ignore[arg-type]
    after = desk.message(answer.id)
    assert (after.status, after.usage, titled) == ("error", {"model": MODEL}, [])
    assert after.error.startswith(said)
    assert "secret" not in after.error
    assert shown(after) == SHOWN, "nothing in it looks as if it went on"
    assert streamed == TEXT
    assert run.read().chunks == (*TEXT, chunk("error", errorText=after.error))


@pytest.mark.parametrize("where", ["answering", "saving the error"])
def test_where_the_history_is_away_the_run_is_left_and_begun_again(
    desk: Desk, executor: Executor, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def away(*_: object, **__: object) -> None:
        raise StoreBusyError("It is locked.", "Close it.")

    answer, run = desk.save("What?"), Run("m")
    error = StoreBusyError("It is locked.") if where == "answering" else ValueError("a fault")
    answers(executor, monkeypatch, error)
    monkeypatch.setattr(messages, "finish", away)
    with pytest.raises(LeaveError) as left:
        executor(desk.scope, answer, run, inline, lambda _: None)  # type: ignore[arg-type]
    assert left.value.reason == "It is locked."
    assert not run.read().done
    assert desk.message(answer.id).status == "pending"


def test_what_was_shown_to_others_stays_when_its_asker_was_taken_out_of_the_chat(
    desk: Desk, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = desk.save("What?")
    run = Run(answer.id)
    answers(executor, monkeypatch, NotFoundError("No such chat."))

    def gone(*_: object, **__: object) -> None:
        raise NotFoundError("No such chat.")

    kept: list[Any] = []
    monkeypatch.setattr(messages, "finish", gone)
    monkeypatch.setattr(
        messages, "unscoped_keep_shown", lambda _db, one, parts: kept.append((one, parts))
    )
    executor(desk.scope, answer, run, inline, lambda _: None)  # type: ignore[arg-type]
    assert [(one, parts[0]["text"]) for one, parts in kept] == [(answer.id, "Half")]
    assert run.read().done


def test_saving_says_how_it_ended(desk: Desk, executor: Executor) -> None:
    answer, streamed = desk.save("What?"), list[Chunk]()
    outcome = Outcome("completed", [], [], {})
    first = chunk("abort", reason="First.")
    step = executor._finish(desk.scope, answer, outcome, streamed.append, [first, END])
    assert step == SaveStep("completed")
    assert streamed == [END]


# Citations


def test_each_citation_gets_its_own_verdict_whatever_their_order(
    desk: Desk, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = desk.chat()
    there, broken, gone = (added(desk, f"{n}.csv") for n in ("there", "broken", "gone"))
    chat_files.attach(desk.db, desk.scope, chat.id, [there.id, broken.id, gone.id])
    desk.save("What?", chat)
    files.delete(desk.db, desk.scope, gone.id)
    library = executor._library

    def locate_all(_scope: object, file: File, asked: list[Any], _stop: object) -> list[Sought]:
        if file.id == broken.id:
            raise LeafError("It is broken.")
        return [
            Sought(Located("page 2", moved=place == "page 1"))
            if quote == "there"
            else Sought(None, "the words are not in it")
            for place, quote in asked
        ]

    monkeypatch.setattr(library.texts, "locate_all", locate_all)
    resolver = FileCitationResolver(library, desk.scope, chat.id, threading.Event())
    names = [resolver.name(handle) for handle in ("f1", "f3", "f9")]
    assert names == [(there.id, "there.csv"), (gone.id, "gone.csv"), None]
    cited = ["f1#page 2", "f9", "f1#page 1", "f2", "f3", "f1"]
    quotes = ["there", "there", "there", "there", "there", "elsewhere"]
    assert resolver.check([Citation(*one) for one in zip(cited, quotes, strict=True)]) == [
        Verdict(True, "page 2"),
        Verdict(False, problem="there is no file f9 in this chat"),
        Verdict(True, "page 2", moved=True),
        Verdict(False, problem="the file could not be searched"),
        Verdict(False, problem="the file was deleted"),
        Verdict(False, problem="the words are not in it"),
    ]
    many = resolver.check([Citation("f1", "there")] * (MOST + 2))
    assert many[:MOST] == [Verdict(True, "page 2")] * MOST
    assert [v.problem for v in many[MOST:]] == ["more citations than are looked up"] * 2
    assert resolver.check([]) == []


# Edited steps


def call(tool: str, given: Any) -> dict[str, Any]:
    part = {"type": f"tool-{tool}", "toolCallId": "t", "state": "output-available", "input": given}
    return {key: value for key, value in part.items() if value is not None}


def answered(tool: str, given: Any) -> Message:
    parts: Any = [call("list_files", {}) | {"toolCallId": "other"}, call(tool, given)]
    return Message("m", "c", "q", "assistant", "completed", parts, [])


SQL = {"sql": "SELECT 1"}


@pytest.mark.parametrize(
    ("tool", "given", "code", "said"),
    [
        ("list_files", {}, "SELECT 2", "no SQL and no Python"),
        ("query_tables", None, "SELECT 2", "no SQL and no Python"),
        ("query_tables", "SELECT 1", "SELECT 2", "no SQL and no Python"),
        ("query_tables", {"sql": ""}, "SELECT 2", "no SQL and no Python"),
        ("query_tables", {}, "SELECT 2", "no SQL and no Python"),
        ("query_tables", SQL, " \n\t", "nothing to run"),
        ("query_tables", SQL, "x" * (LONGEST_CODE + 1), "longer than 100,000"),
        ("query_tables", SQL, "x" * LONGEST_CODE, ""),
        ("query_tables", SQL, " SELECT 2", ""),
    ],
)
def test_a_step_is_run_with_other_code_where_it_has_any(
    tool: str, given: Any, code: str, said: str
) -> None:
    message = answered(tool, given)
    if said:
        with pytest.raises(InvalidInputError, match=said):
            _edited(message, "t", code)
    else:
        assert _edited(message, "t", code) == (tool, {"sql": code})
        assert message.parts[1] == call(tool, given), "the step stays as it is"
    with pytest.raises(NotFoundError):
        _edited(message, "nothing", "SELECT 2")


@pytest.mark.parametrize(
    ("state", "output", "error", "becomes", "more"),
    [
        ("running", None, "", "input-available", {}),
        ("done", {"text": "1"}, "", "output-available", {"output": {"text": "1"}}),
        ("done", {}, "", "output-available", {"output": {}}),
        ("failed", None, "No such table.", "output-error", {"errorText": "No such table."}),
        ("stopped", None, "Stopped.", "output-error", {"errorText": "Stopped."}),
    ],
)
def test_an_edited_step_is_drawn_as_a_part_of_an_answer(
    state: Any, output: Any, error: str, becomes: str, more: dict[str, Any]
) -> None:
    step = EditedStep(
        "e1", "c", "m", "t", "u", "Ann", "query_tables", SQL, state, now(), output, error
    )
    assert part_of(step) == {
        "type": "tool-query_tables",
        "toolCallId": "e1",
        "state": becomes,
        "input": SQL,
        **more,
    }

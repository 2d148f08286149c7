"""A chat's title: the cut question at first, then the model's own, made beside the answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from leaf.agent import titling
from leaf.agent.endpoint import Endpoint
from leaf.app import Leaf
from leaf.runs.titles import AT_ONCE, SavedAnswer, Titles
from leaf.sessions.session import Session
from leaf.settings import Allowance
from leaf.store import chats
from leaf.store.model import Message, Scope
from tests import postgres
from tests.leaf_kit import SALES, add, finished, opened, text_of
from tests.live_kit import wait_until
from tests.messages_server import Failure, Json, MessagesServer, Turn

QUESTION = "Which region sold most in the first two months of the year, and by how much exactly?"
CUT = "Which region sold most in the first two months of the year, …"
MODEL = "claude-sonnet-5-5"


def wants_title(body: Json) -> bool:
    return bool(body["system"] == titling.SYSTEM)


class Writer:
    """A model that answers, and gives a title when it is asked for one."""

    def __init__(self, title: Turn | Failure | None = None) -> None:
        self.title = title or Turn.say("Best region early this year")
        self.asked = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()

    def __call__(self, body: Json) -> Turn | Failure:
        if wants_title(body):
            self.asked.set()
            if isinstance(self.title, Turn):
                return replace(self.title, held=self.go_on)
            return self.title
        sent = str(body["messages"])
        if "tool_result" not in sent and "f1" in sent:
            return Turn.call(("query_tables", {"sql": "SELECT 'XQ-7' AS hidden FROM sales"}))
        return Turn.say("North, by 99.5.")


@contextmanager
def desk(home: Path, brain: Writer, **settings: Any) -> Iterator[tuple[Leaf, Session, Any]]:
    with MessagesServer(brain) as server:
        given = {"api_key": "k", "model_url": server.url, "model": MODEL, "titles": True}
        with opened(home, **(given | settings)) as leaf:
            try:
                yield leaf, leaf.session(leaf.local_scope()), server
            finally:
                brain.go_on.set()


def asked_for(server: Any) -> list[Json]:
    return [r.body for r in server.requests if wants_title(r.body)]


def ask(own: Session, text: str = QUESTION, chat_id: str = "", **given: Any) -> tuple[str, str]:
    """Ids of the chat and of its finished answer."""
    chat_id = chat_id or own.chats.create().id
    sent = own.messages.send(chat_id, text, **given)
    assert finished(own, sent.id).status == "completed"
    return chat_id, sent.id


def title(own: Session, chat_id: str) -> str:
    return own.chats.get(chat_id).title


def titles_idle() -> bool:
    """Whether no title is being made."""
    return not any(thread.name == "titles" for thread in threading.enumerate())


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_the_first_answer_gives_the_chat_a_title_and_no_other_does(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = ""
    if engine == "postgres":
        url = postgres.of_test(request)
    brain = Writer()
    brain.go_on.clear()
    with desk(tmp_path, brain, database_url=url) as (_leaf, own, server):
        chat_id, _ = ask(own)
        assert title(own, chat_id) == CUT
        before = own.newest_change(["chats"])
        brain.go_on.set()
        wait_until(lambda: title(own, chat_id) == "Best region early this year")
        wait_until(lambda: own.newest_change(["chats"]) > before)  # open pages hear of it, then
        ask(own, "And in March?", chat_id)
        wait_until(titles_idle)
        assert len(asked_for(server)) == 1
        assert title(own, chat_id) == "Best region early this year"
        assert own.chats.list("early")[0].id == chat_id


def test_what_the_person_called_the_chat_meanwhile_stays(tmp_path: Path) -> None:
    brain = Writer()
    brain.go_on.clear()
    with desk(tmp_path, brain) as (leaf, own, _):
        chat_id, _ = ask(own)
        assert brain.asked.wait(60)
        own.chats.rename(chat_id, "Mine")
        brain.go_on.set()
        wait_until(titles_idle)
        assert title(own, chat_id) == "Mine"
        named, _ = ask(own, chat_id=own.chats.create().id)
        scope = leaf.local_scope()
        assert not chats.retitle(leaf._house.store.db, scope, chat_id, CUT, "Another")
        wait_until(lambda: title(own, named) != CUT)


def test_neither_the_answer_nor_the_next_question_waits_for_a_title(tmp_path: Path) -> None:
    brain = Writer()
    brain.go_on.clear()
    with desk(tmp_path, brain) as (_, own, server):
        chat_id, _ = ask(own)
        assert brain.asked.wait(60)
        ask(own, "And in March?", chat_id)
        assert title(own, chat_id) == CUT
        assert len(asked_for(server)) == 1


def test_a_title_counts_as_a_step_of_its_answer(tmp_path: Path) -> None:
    brain = Writer()
    with desk(tmp_path, brain) as (leaf, own, _server):
        chat_id, answer_id = ask(own)
        wait_until(lambda: title(own, chat_id) != CUT)
        rows = leaf._house.store.db.read(
            "SELECT step, cost, input_tokens FROM usage_steps WHERE message_id = :id",
            {"id": answer_id},
        )
        steps = {str(row["step"]): row for row in rows}
        assert set(steps) == {"model-1", "title"}
        assert steps["title"]["cost"] > 0
        report = own.usage.report("all")
        assert report.total.answers == 1
        assert report.total.input_tokens == sum(row["input_tokens"] for row in rows)


def test_where_the_budget_is_used_up_no_title_is_asked_for(tmp_path: Path) -> None:
    brain = Writer()
    with desk(tmp_path, brain, budget_user=Allowance(day_tokens=1)) as (_, own, server):
        chat_id, _ = ask(own)
        wait_until(titles_idle)
        assert not asked_for(server)
        assert title(own, chat_id) == CUT


def test_the_model_reads_question_and_answer_and_nothing_of_files(tmp_path: Path) -> None:
    brain = Writer()
    with desk(tmp_path, brain) as (_, own, server):
        file = add(own, "sales.csv", SALES)
        chat_id, answer_id = ask(own, file_ids=[file.id])
        assert "XQ-7" in str(own.messages.get(answer_id).parts)
        wait_until(lambda: title(own, chat_id) != CUT)
        (body,) = asked_for(server)
        sent = str(body["messages"])
        assert QUESTION in sent
        assert "North, by 99.5." in sent
        assert "XQ-7" not in sent
        assert "sales.csv" not in sent
        assert not body.get("tools")
        assert body["max_tokens"] == titling.MOST_TOKENS
        assert len(sent) < 2 * titling.READ_CHARACTERS


@pytest.mark.parametrize(
    "failing",
    [
        Failure.unauthorized(),
        Failure(500),
        Turn.say("A title that breaks off", cut_after=3),
        Turn.say("Sure! Here are some ideas:\n1. Regions\n2. Sales"),
        Turn.say("Best region", stop_reason="max_tokens"),
        Turn.say("…"),
    ],
    ids=["no right", "server fails", "cut", "no title", "too long", "nothing"],
)
def test_a_title_that_fails_leaves_the_question_and_says_nothing(
    failing: Turn | Failure, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    brain = Writer(failing)
    caplog.set_level("INFO", "leaf")
    with desk(tmp_path, brain) as (_, own, _server):
        chat_id, answer_id = ask(own)
        wait_until(lambda: "no title" in caplog.text)
        assert title(own, chat_id) == CUT
        answer = own.messages.get(answer_id)
        assert (answer.status, answer.error, text_of(answer)) == (
            "completed",
            "",
            "North, by 99.5.",
        )
    assert "Best region" not in caplog.text
    assert QUESTION not in caplog.text


def test_after_a_failed_answer_the_next_one_gives_the_title(tmp_path: Path) -> None:
    turns: list[Turn | Failure] = [Failure.unauthorized(), Turn.say("It is North.")]

    def brain(body: Json) -> Turn | Failure:
        return Turn.say("Best region") if wants_title(body) else turns.pop(0)

    with (
        MessagesServer(brain) as server,
        opened(tmp_path, api_key="k", model_url=server.url, titles=True) as leaf,
    ):
        own = leaf.session(leaf.local_scope())
        chat = own.chats.create()
        assert finished(own, own.messages.send(chat.id, QUESTION).id).status == "error"
        wait_until(titles_idle)
        assert title(own, chat.id) == CUT
        ask(own, "Once more", chat.id)
        wait_until(lambda: title(own, chat.id) == "Best region")


def test_a_process_that_ends_meanwhile_leaves_the_question(tmp_path: Path) -> None:
    brain = Writer()
    brain.go_on.clear()
    with MessagesServer(brain) as server:
        given = {"api_key": "k", "model_url": server.url, "titles": True}
        with opened(tmp_path, **given) as leaf:
            chat_id, _ = ask(leaf.session(leaf.local_scope()))
            assert brain.asked.wait(60)
            began = time.monotonic()
        assert titles_idle(), f"not after {time.monotonic() - began} s"
        brain.go_on.set()
        with opened(tmp_path, **given) as leaf:
            leaf.launch()
            assert title(leaf.session(leaf.local_scope()), chat_id) == CUT
        assert len(asked_for(server)) == 1


@pytest.mark.parametrize("how", ["off", "keyless"])
def test_without_a_model_or_with_the_setting_off_nobody_is_asked(how: str, tmp_path: Path) -> None:
    brain = Writer()
    given: dict[str, Any] = {"titles": False} if how == "off" else {"api_key": "", "model_url": ""}
    with desk(tmp_path, brain, **given) as (_, own, server):
        chat_id, _ = ask(own)
        wait_until(titles_idle)
        assert not asked_for(server)
        assert title(own, chat_id) == CUT


@pytest.mark.parametrize("gone", ["deleted", "purged"])
def test_a_chat_that_goes_meanwhile_is_left_alone(gone: str, tmp_path: Path) -> None:
    brain = Writer()
    brain.go_on.clear()
    with desk(tmp_path, brain) as (leaf, own, _):
        chat_id, _answer_id = ask(own)
        assert brain.asked.wait(60)
        act: Callable[[str], object] = own.chats.purge if gone == "purged" else own.chats.delete
        act(chat_id)
        brain.go_on.set()
        wait_until(titles_idle)
        rows = leaf._house.store.db.read("SELECT title FROM chats")
        assert rows == ([] if gone == "purged" else [{"title": CUT}])
        assert own.usage.report("all").total.answers == 1, "what was used stays counted"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Best region early this year", "Best region early this year"),
        ('  "Umsatz nach Region 2025."\n', "Umsatz nach Region 2025"),
        ("**Title: Sales by region**", "Sales by region"),
        ("Titre : Ventes par région", "Ventes par région"),
        ("<think>Hm, a title.\nOr two.</think>\n\nSales by region", "Sales by region"),
        ("地域別の売上比較", "地域別の売上比較"),
        ("مقایسه‌ی فروش", "مقایسه‌ی فروش"),
        ("Sales\u202egnp.exe\x00 by region", "Sales gnp.exe by region"),
        ("First line\nSecond line", ""),
        ("I cannot give this conversation a title because it says nothing about it", ""),
        ("x" * 200, ""),
        ("…", ""),
        ("", ""),
        ("<think>without an end", ""),
    ],
)
def test_only_a_title_is_taken_for_one(said: str, shown: str) -> None:
    assert titling.cleaned(said) == shown


def message(role: Any, status: Any = "completed", text: str = "") -> Message:
    return Message("m", "c", "", role, status, [{"type": "text", "text": text}], [])


@pytest.mark.parametrize(
    ("history", "first"),
    [
        ([message("user")], True),
        ([message("user"), message("assistant"), message("user")], False),
        ([message("user"), message("assistant", "error"), message("user")], True),
        ([message("user"), message("assistant", "stopped"), message("user")], True),
    ],
)
def test_an_answer_is_the_first_where_no_other_is_whole(
    history: list[Message], first: bool
) -> None:
    endpoint = cast(Endpoint, SimpleNamespace(can_write=True))
    answer = SavedAnswer(Scope("w", "u"), message("assistant"), history, [], endpoint)
    assert answer.first == first


def test_the_question_of_a_chat_is_its_first_one() -> None:
    history = [message("user", text=" One? "), message("assistant"), message("user", text="Two?")]
    endpoint = cast(Endpoint, SimpleNamespace(can_write=True))
    assert (
        SavedAnswer(Scope("w", "u"), message("assistant"), history, [], endpoint).question == "One?"
    )


@pytest.mark.parametrize(
    ("can_write", "history", "first", "made"),
    [
        (True, ["one"], True, True),
        (False, ["one"], True, False),
        (True, [], True, False),
        (True, ["one"], False, False),
    ],
)
def test_a_title_is_made_of_a_first_answer_that_a_model_gave(
    monkeypatch: pytest.MonkeyPatch, can_write: bool, history: list[str], first: bool, made: bool
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(Titles, "_make", lambda _titles, answer, _stop: asked.append(answer))
    endpoint = SimpleNamespace(can_write=can_write)
    answer: Any = SimpleNamespace(endpoint=endpoint, history=history, first=first)
    titles = Titles(cast(Any, None), cast(Any, None))
    titles.answered(answer)
    wait_until(lambda: not titles._workers)
    assert asked == ([answer] if made else [])
    titles.answered(answer)
    wait_until(lambda: not titles._workers)
    assert len(asked) == 2 * made, "a thread that is done makes room for the next"


def test_what_fails_or_takes_too_long_ends_that_title_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on, stops = threading.Event(), list[bool]()

    def make(_titles: Titles, number: Any, stop: threading.Event) -> None:
        assert go_on.wait(10)
        stops.append(stop.is_set())
        stop.set()
        if number.history == ["fails"]:
            raise ValueError("a fault")

    monkeypatch.setattr(Titles, "_make", make)
    monkeypatch.setattr("leaf.runs.titles.AT_ONCE", 1)
    titles = Titles(cast(Any, None), cast(Any, None))
    for name in ("fails", "works", "works"):
        endpoint = SimpleNamespace(can_write=True)
        given = SimpleNamespace(
            endpoint=endpoint, history=[name], first=True, message=SimpleNamespace(id="m")
        )
        titles.answered(cast(SavedAnswer, given))
    go_on.set()
    wait_until(lambda: not titles._workers)
    assert stops == [False, False, False]


def test_no_more_titles_are_made_at_once_than_may_be_and_all_end_with_the_app(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Semaphore(0), threading.Event()

    def make(_titles: Titles, _answer: object, stop: threading.Event) -> None:
        begun.release()
        while not (stop.is_set() or go_on.is_set()):
            time.sleep(0.01)
        time.sleep(0.2)  # what ends a call takes a while

    monkeypatch.setattr(Titles, "_make", make)
    answered = cast(
        SavedAnswer,
        SimpleNamespace(endpoint=SimpleNamespace(can_write=True), history=["one"], first=True),
    )
    with opened(tmp_path) as leaf:
        titles = Titles(leaf._house.store.db, leaf._house.budgets)
        for _ in range(AT_ONCE + 2):
            titles.answered(answered)
        for _ in range(AT_ONCE):
            assert begun.acquire(timeout=10)
        assert not begun.acquire(timeout=0.3), "the others wait for one that is done"
        threads = [one for one in threading.enumerate() if one.name == "titles"]
        assert len(threads) == AT_ONCE
        titles.close()
        assert not any(one.is_alive() for one in threads)
        titles.answered(answered)
        assert not begun.acquire(timeout=0.3), "nothing begins after the end"

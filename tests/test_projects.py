"""Projects, on both databases: who is in one and sees its chats, what its files and instructions do
to them, and what is left of one that is gone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import pytest

from leaf.agent.amounts import Sizes
from leaf.agent.compaction import (
    BranchPosition,
    Compaction,
    entries_of,
    instructions_before,
    render,
)
from leaf.agent.compaction_plan import Planner, WindowLimits
from leaf.agent.instructions import NO_MORE, instructions_text, newest_instructions
from leaf.app import Leaf
from leaf.errors import InvalidInputError, NotFoundError
from leaf.keeping.restore import restore
from leaf.readers.tokens import Rates
from leaf.sessions.session import Session
from leaf.settings import Settings
from leaf.shapes.part_values import newest
from leaf.store import project_chats
from leaf.store.model import Message
from leaf.store.projects import INSTRUCTIONS_LENGTH, MOST_FILES
from tests import postgres
from tests.agent_kit import question
from tests.leaf_kit import CLAIMS, SALES, add, finished, opened, text_of
from tests.live_kit import wait_until
from tests.messages_server import Json, MessagesServer, Turn

RULES = "Revenue is net of returns."
LATER = "Revenue is gross."


@dataclass
class Team:
    """A workspace with three people, and somebody of another one."""

    leaf: Leaf
    server: MessagesServer
    script: list[Turn]
    """What the model says next, and then again."""
    ann: Session
    ben: Session
    cy: Session
    eve: Session

    def asked(self, who: Session, chat_id: str, text: str = "What?") -> Message:
        return finished(who, who.messages.send(chat_id, text).id)

    def told(self) -> str:
        """All text of the newest request."""
        return told_in(self.server.requests[-1].body)


def told_in(body: Json) -> str:
    return "\n".join(
        block["text"]
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "text"
    )


@pytest.fixture(params=["duckdb", "postgres"])
def team(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Team]:
    url = ""
    if request.param == "postgres":
        url = postgres.of_test(request)
    script = [Turn.say("So it is.")]
    with (
        MessagesServer(lambda _: script[-1]) as server,
        opened(tmp_path / "home", database_url=url, model_url=server.url, api_key="k") as leaf,
    ):
        ann = signed_in(leaf, "ann")
        for name in ("ben", "cy"):
            ann.team.invite(f"{name}@example.org")
        others = [signed_in(leaf, name) for name in ("ben", "cy", "eve")]
        yield Team(leaf, server, script, ann, *others)


def signed_in(leaf: Leaf, name: str, **more: Any) -> Session:
    claims = {**CLAIMS, "sub": name, "name": name.title(), "email": f"{name}@example.org", **more}
    return leaf.session(leaf.sign_in(claims).scope)


def titles(session: Session) -> list[str]:
    return [project.title for project in session.projects.list()]


def seen(session: Session) -> set[str]:
    return {chat.id for chat in session.chats.list()}


def people(session: Session, chat_id: str) -> list[str]:
    return [one.name for one in session.chats.participants(chat_id)]


def shared(team: Team) -> str:
    """A project of Ann's in which Ben is."""
    made = team.ann.projects.create("Quarter")
    team.ann.projects.add_member(made.id, "ben@example.org")
    return made.id


@contextmanager
def before_its_end(team: Team, act: Callable[[], object]) -> Iterator[Callable[..., Future[Any]]]:
    """Have something happen that is done, but not at its end: what is called within meets it so, and
    goes on once it can. The audit log is what all of it waits for."""
    url = team.leaf.settings.database_url
    with ThreadPoolExecutor(8) as pool, psycopg.connect(url) as gate:
        gate.execute("LOCK TABLE audit IN SHARE MODE")
        calls = [pool.submit(act)]

        def waiting() -> int:
            gate.execute("SELECT pg_stat_clear_snapshot()")
            (row,) = gate.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                "AND datname = current_database()"
            ).fetchall()
            return int(row[0]) + sum(call.done() for call in calls)

        def call(*args: Any) -> Future[Any]:
            calls.append(pool.submit(*args))
            wait_until(lambda: waiting() == len(calls))
            return calls[-1]

        try:
            wait_until(lambda: waiting() == 1)
            yield call
        finally:
            gate.rollback()
            for one in calls:
                one.exception(30)


# Who is in it


def test_a_project_is_its_makers_alone_until_others_are_brought_in(team: Team) -> None:
    made = team.ann.projects.create("  Quarter   one ")
    assert (made.title, made.own, made.shared) == ("Quarter one", True, False)
    for other in (team.ben, team.eve):
        assert titles(other) == []
        with pytest.raises(NotFoundError):
            other.projects.get(made.id)
        with pytest.raises(NotFoundError):
            other.projects.new_chat(made.id)
    team.ann.projects.add_member(made.id, "Ben@example.org")
    theirs = team.ben.projects.get(made.id)
    assert (theirs.own, theirs.shared, theirs.people) == (False, True, 2)
    assert [(p.name, p.host) for p in team.ben.projects.members(made.id)] == [
        ("Ann", True),
        ("Ben", False),
    ]
    with pytest.raises(NotFoundError, match="not a member of this workspace"):
        team.ann.projects.add_member(made.id, "eve@example.org")
    assert titles(team.cy) == titles(team.eve) == []


def test_only_the_host_changes_it(team: Team) -> None:
    project, file = shared(team), add(team.ben, "sales.csv", SALES)
    own = team.ben.projects
    for act in (
        lambda: own.rename(project, "Mine"),
        lambda: own.instruct(project, "Obey Ben."),
        lambda: own.add_files(project, [file.id]),
        lambda: own.remove_file(project, file.id),
        lambda: own.add_member(project, "cy@example.org"),
        lambda: own.remove_member(project, team.ann.scope.user_id),
        lambda: own.delete(project),
    ):
        with pytest.raises(InvalidInputError, match="Ann's; only they can"):
            act()
    own.remove_member(project, team.ben.scope.user_id)
    assert titles(team.ben) == []
    with pytest.raises(InvalidInputError, match="Delete it instead"):
        team.ann.projects.remove_member(project, team.ann.scope.user_id)


def test_the_host_who_leaves_hands_it_on(team: Team) -> None:
    project = shared(team)
    team.ann.projects.remove_member(project, team.ann.scope.user_id)
    assert titles(team.ann) == []
    assert team.ben.projects.get(project).own


def test_a_clock_that_was_set_back_makes_no_guest_the_host(team: Team) -> None:
    made = team.ann.projects.create("Quarter")
    chat = team.ann.projects.new_chat(made.id)
    team.asked(team.ann, chat.id)
    with team.leaf._house.store.db.transaction(team.ann.scope) as tx:
        for table in ("project_members", "chat_participants"):
            tx.execute(f"UPDATE {table} SET created_at = created_at + INTERVAL '1 day'")
    team.ann.projects.add_member(made.id, "ben@example.org")
    assert [p.name for p in team.ben.projects.members(made.id)] == ["Ann", "Ben"]
    assert not team.ben.projects.get(made.id).own
    assert people(team.ben, chat.id) == ["Ann", "Ben"]


def test_titles_and_instructions_are_bounded(team: Team) -> None:
    made = team.ann.projects.create("Quarter")
    with pytest.raises(InvalidInputError, match="needs a title"):
        team.ann.projects.create("  ")
    with pytest.raises(InvalidInputError, match="4,001 characters; 4,000"):
        team.ann.projects.instruct(made.id, "x" * (INSTRUCTIONS_LENGTH + 1))
    with pytest.raises(InvalidInputError, match="binary"):
        team.ann.projects.instruct(made.id, "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0" * 60)
    team.ann.projects.instruct(made.id, f"  {RULES} ")
    assert team.ann.projects.get(made.id).instructions == RULES


def test_the_one_used_last_stands_first_and_is_found_by_its_words(team: Team) -> None:
    first, second = (team.ann.projects.create(title) for title in ("Orchard 100%", "Vineyard"))
    assert titles(team.ann) == ["Vineyard", "Orchard 100%"]
    team.asked(team.ann, team.ann.projects.new_chat(first.id).id)
    assert titles(team.ann) == ["Orchard 100%", "Vineyard"]
    assert [p.id for p in team.ann.projects.list("yard vine")] == [second.id]
    assert [p.id for p in team.ann.projects.list("0%")] == [first.id]
    assert len(team.ann.projects.list(limit=1)) == 1


# Chats


def test_a_chat_is_seen_by_its_people_from_its_first_question_on(team: Team) -> None:
    project = shared(team)
    chat = team.ann.projects.new_chat(project)
    assert team.ann.projects.new_chat(project).id == chat.id  # while nothing is asked in it
    assert team.ben.projects.new_chat(project).id != chat.id
    assert chat.id not in seen(team.ben)
    team.asked(team.ann, chat.id)
    assert chat.id in seen(team.ben)
    assert people(team.ben, chat.id) == ["Ann", "Ben"]
    assert team.ann.chats.participants(chat.id)[0].host
    assert [one.id for one in team.ben.projects.chats(project)] == [chat.id]
    assert team.ann.projects.new_chat(project).id != chat.id
    for other in (team.cy, team.eve):
        assert chat.id not in seen(other)
        assert other.projects.chats(project) == []
        assert other.projects.of(chat.id) is None
    with pytest.raises(InvalidInputError, match="not in"):
        team.ann.chats.add_participant(chat.id, "cy@example.org")


def test_who_comes_later_sees_what_was_asked_and_who_leaves_sees_it_no_more(team: Team) -> None:
    project = shared(team)
    hers, his = team.ann.projects.new_chat(project).id, team.ben.projects.new_chat(project).id
    empty = ""
    for who, chat_id in ((team.ann, hers), (team.ben, his)):
        team.asked(who, chat_id)
    empty = team.ann.projects.new_chat(project).id
    team.ann.projects.add_member(project, "cy@example.org")
    assert {hers, his} <= seen(team.cy)
    assert empty not in seen(team.cy)
    team.ann.projects.remove_member(project, team.ben.scope.user_id)
    assert hers not in seen(team.ben)
    assert his in seen(team.ben)
    assert team.ben.projects.of(his) is None
    assert people(team.ben, his) == ["Ben"]
    assert [one.id for one in team.ann.projects.chats(project)] == [hers]
    assert seen(team.cy) == {hers}


def test_a_chat_is_shown_to_others_only_once_that_was_confirmed(team: Team) -> None:
    project = shared(team)
    chat = team.ann.chats.create()
    team.asked(team.ann, chat.id)
    assert team.ann.projects.newcomers(chat.id, project) == ["Ben"]
    with pytest.raises(InvalidInputError, match="would see this chat"):
        team.ann.projects.move(chat.id, project)
    assert seen(team.ben) == set()
    team.ann.projects.move(chat.id, project, shown=True)
    assert chat.id in seen(team.ben)
    found = team.ann.projects.of(chat.id)
    assert found is not None
    assert found.id == project
    with pytest.raises(InvalidInputError, match="only they can move it"):
        team.ben.projects.move(chat.id, "")
    team.ann.projects.move(chat.id, "")
    assert seen(team.ben) == set()
    assert people(team.ann, chat.id) == ["Ann"]


def test_nobody_joins_a_chat_of_a_project_by_its_address(team: Team) -> None:
    project = shared(team)
    chat = team.ann.chats.create()
    team.asked(team.ann, chat.id)
    team.ann.links.set_open(chat.id, True)
    assert team.cy.links.host_of(chat.id) == "Ann"
    team.ann.projects.move(chat.id, project, shown=True)
    assert team.cy.links.host_of(chat.id) == ""
    with pytest.raises(NotFoundError):
        team.cy.links.join(chat.id)
    assert not team.ann.links.is_open(chat.id)
    with pytest.raises(InvalidInputError, match="in a project"):
        team.ann.links.set_open(chat.id, True)
    team.ann.projects.move(chat.id, "")
    assert team.cy.links.host_of(chat.id) == ""
    actions = [line.action for line in team.ann.team.audit(kind="people")]
    assert actions.count("chat closed to members") == 1


@pytest.mark.parametrize("team", ["postgres"], indirect=True)
def test_who_is_taken_out_comes_into_no_chat_in_this_moment(team: Team) -> None:
    project, ben = shared(team), team.ben.scope.user_id
    left, other = team.ann.chats.create(), team.ann.chats.create()
    for chat in (left, other):
        team.asked(team.ann, chat.id)
    team.ann.projects.move(left.id, project, True)
    team.ben.chats.remove_participant(left.id, ben)
    new = team.ann.projects.new_chat(project).id
    with before_its_end(team, lambda: team.ann.projects.remove_member(project, ben)) as call:
        asked = call(project_chats.show, team.leaf._house.store.db, team.ann.scope, new)
        moved = call(team.ann.projects.move, other.id, project, True)
        brought = call(team.ann.chats.add_participant, left.id, "ben@example.org")
        begun = call(team.ben.projects.new_chat, project)
    assert not asked.exception()
    assert not moved.exception()
    assert isinstance(brought.exception(), InvalidInputError)
    assert isinstance(begun.exception(), NotFoundError)
    assert [people(team.ann, one) for one in (left.id, other.id, new)] == [["Ann"]] * 3


@pytest.mark.parametrize("team", ["postgres"], indirect=True)
def test_nobody_joins_a_chat_while_it_is_moved_into_a_project(team: Team) -> None:
    project, chat = shared(team), team.ann.chats.create().id
    team.asked(team.ann, chat)
    team.ann.links.set_open(chat, True)
    with before_its_end(team, lambda: team.ann.projects.move(chat, project, True)) as call:
        joined = call(team.cy.links.join, chat)
    assert isinstance(joined.exception(), NotFoundError)
    assert people(team.ann, chat) == ["Ann", "Ben"]


def test_who_took_part_before_stays_when_the_chat_leaves(team: Team) -> None:
    project = shared(team)
    team.ann.projects.add_member(project, "cy@example.org")
    chat = team.ann.chats.create()
    team.asked(team.ann, chat.id)
    team.ann.chats.add_participant(chat.id, "cy@example.org")
    team.ann.projects.move(chat.id, project, shown=True)
    assert people(team.ann, chat.id) == ["Ann", "Cy", "Ben"]
    other = team.ann.projects.create("Another")
    with pytest.raises(InvalidInputError, match="not in the project"):
        team.ann.projects.move(chat.id, other.id, shown=True)
    team.ann.projects.move(chat.id, "")
    assert people(team.ann, chat.id) == ["Ann", "Cy"]


def test_who_was_taken_out_of_a_chat_is_in_it_by_its_project_alone(team: Team) -> None:
    project, ben = shared(team), team.ben.scope.user_id
    chat = team.ann.chats.create()
    team.asked(team.ann, chat.id)
    team.ann.chats.add_participant(chat.id, "ben@example.org")
    team.ann.projects.move(chat.id, project)
    team.ann.chats.remove_participant(chat.id, ben)
    team.ann.projects.remove_member(project, ben)
    team.ann.projects.add_member(project, "ben@example.org")
    assert people(team.ann, chat.id) == ["Ann", "Ben"]
    team.ann.projects.move(chat.id, "")
    assert people(team.ann, chat.id) == ["Ann"]


def test_a_chat_goes_from_one_project_to_another(team: Team) -> None:
    first, second = shared(team), team.ann.projects.create("Second").id
    team.ann.projects.add_member(second, "ben@example.org")
    team.ann.projects.add_member(second, "cy@example.org")
    chat = team.ann.projects.new_chat(first).id
    team.asked(team.ann, chat)
    team.ann.projects.move(chat, second, shown=True)
    assert people(team.ann, chat) == ["Ann", "Ben", "Cy"]
    assert team.ann.projects.chats(first) == []
    team.ann.projects.move(chat, "")
    assert people(team.ann, chat) == ["Ann"]


def test_answers_for_who_sees_the_chat_no_more_end(team: Team) -> None:
    project = shared(team)
    chat = team.ann.projects.new_chat(project).id
    team.asked(team.ann, chat)
    held = Event()
    team.script.append(Turn.say("Late.", held=held))
    asked = team.ben.messages.send(chat, "And now?")
    wait_until(lambda: team.ann.messages.get(asked.id).status == "streaming")
    team.ann.projects.delete(project)
    assert team.ann.messages.get(asked.id).status == "stopped"
    held.set()
    with pytest.raises(NotFoundError):
        team.ben.chats.get(chat)
    assert titles(team.ann) == titles(team.ben) == []
    assert chat in seen(team.ann)


def test_what_an_answer_had_shown_stays_when_its_asker_is_taken_out(team: Team) -> None:
    chat = team.ann.chats.create().id
    team.ann.chats.add_participant(chat, "ben@example.org")
    team.script.append(
        Turn.say("Half of the answer. " + "And the rest. " * 60, delay=0.3, pieces=60)
    )
    asked = team.ben.messages.send(chat, "What?")
    run = team.ann.messages.watch
    wait_until(lambda: (one := run(asked.id)) is not None and "Half" in str(one.read().chunks))
    team.ann.chats.remove_participant(chat, team.ben.scope.user_id)
    wait_until(lambda: "Half" in text_of(team.ann.messages.get(asked.id)))
    assert team.ann.messages.get(asked.id).status == "stopped"


# Files


def test_each_new_chat_has_the_files_from_the_start_and_none_is_read(team: Team) -> None:
    made = team.ann.projects.create("Quarter")
    sales, notes = add(team.ann, "sales.csv", SALES), add(team.ann, "notes.txt", b"A note.\n")
    team.ann.projects.add_files(made.id, [sales.id, notes.id, sales.id])
    assert [f.name for f in team.ann.projects.files(made.id)] == ["sales.csv", "notes.txt"]
    chat = team.ann.projects.new_chat(made.id).id
    assert [c.file.name for c in team.ann.attached.list(chat)] == ["sales.csv", "notes.txt"]
    team.asked(team.ann, chat)
    assert "[Attached: sales.csv" in team.told()
    assert "North" not in json.dumps(team.server.requests[-1].body["messages"])
    team.ann.projects.remove_file(made.id, notes.id)
    team.ann.files.delete(sales.id)
    assert team.ann.projects.files(made.id) == []
    assert team.ann.attached.list(team.ann.projects.new_chat(made.id).id) == []
    team.ann.files.restore(sales.id)
    assert [f.id for f in team.ann.projects.files(made.id)] == [sales.id]
    team.ann.files.purge(sales.id)
    assert team.ann.projects.files(made.id) == []


def test_a_project_takes_so_many_files_and_none_of_another_workspace(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_FILES == 100
    monkeypatch.setattr("leaf.store.projects.MOST_FILES", 5)
    made = team.ann.projects.create("Quarter")
    foreign = add(team.eve, "hers.csv", SALES)
    with pytest.raises(NotFoundError):
        team.ann.projects.add_files(made.id, [foreign.id])
    ids = [add(team.ann, f"{n}.txt", f"{n}\n".encode()).id for n in range(6)]
    with pytest.raises(InvalidInputError, match="takes 5 files"):
        team.ann.projects.add_files(made.id, ids)
    team.ann.projects.add_files(made.id, ids[:5])
    with pytest.raises(InvalidInputError, match="takes 5 files"):
        team.ann.projects.add_files(made.id, ids[5:])


# Instructions


def test_the_model_is_told_once_and_again_when_they_change(team: Team) -> None:
    made = team.ann.projects.create("Quarter")
    team.ann.projects.instruct(made.id, RULES)
    chat = team.ann.projects.new_chat(made.id).id
    first = team.asked(team.ann, chat, "Revenue?")
    assert team.told() == f"{instructions_text(RULES)}\nRevenue?"
    before = team.server.requests[-1].body
    team.asked(team.ann, chat, "And costs?")
    body = team.server.requests[-1].body
    assert told_in(body).count(RULES) == 1
    assert body["system"] == before["system"]
    assert body["tools"] == before["tools"]
    assert [m["content"][0]["text"] for m in body["messages"]][:1] == [instructions_text(RULES)]
    question_told = team.ann.messages.get(first.parent_id)
    assert newest(question_told.parts, "instructions") == {"text": RULES}
    assert text_of(question_told) == "Revenue?"
    assert f"Project instructions:\n\n> {RULES}" in team.ann.chats.markdown(chat)
    team.ann.projects.instruct(made.id, LATER)
    third = team.asked(team.ann, chat, "And now?")
    assert team.told().endswith(f"{instructions_text(LATER)}\nAnd now?")
    team.ann.projects.move(chat, "")
    team.asked(team.ann, chat, "Without?")
    assert team.told().endswith(f"{NO_MORE}\nWithout?")
    team.asked(team.ann, chat, "Still?")
    assert team.told().count(NO_MORE) == 1
    again = finished(team.ann, team.ann.messages.edit(third.parent_id, "And then?").id)
    assert again.status == "completed"
    assert team.told().endswith(f"{NO_MORE}\nAnd then?")
    assert LATER not in team.told()


def test_an_answer_that_is_made_again_has_the_instructions_of_its_question(team: Team) -> None:
    made = team.ann.projects.create("Quarter")
    team.ann.projects.instruct(made.id, RULES)
    answer = team.asked(team.ann, team.ann.projects.new_chat(made.id).id)
    told = team.server.requests[-1].body["messages"]
    team.ann.projects.instruct(made.id, LATER)
    finished(team.ann, team.ann.messages.retry(answer.id).id)
    assert team.server.requests[-1].body["messages"] == told


def test_a_question_that_is_taken_back_takes_its_instructions_along(team: Team) -> None:
    made = team.ann.projects.create("Quarter")
    chat = team.ann.projects.new_chat(made.id).id
    team.asked(team.ann, chat)
    held = Event()
    team.script.append(Turn.say("Late.", held=held))
    running = team.ann.messages.send(chat, "One?")
    wait_until(lambda: team.ann.messages.get(running.id).status == "streaming")
    team.ann.projects.instruct(made.id, RULES)
    waiting = team.ann.messages.send(chat, "Two?")
    last = team.ann.messages.send(chat, "Three?")
    team.ann.messages.withdraw(waiting.id)
    held.set()
    assert finished(team.ann, last.id).status == "completed"
    assert team.told().count(RULES) == 1


def test_a_run_that_was_interrupted_goes_on_with_those_it_began_with(tmp_path: Path) -> None:
    held = Event()
    with MessagesServer(lambda _: Turn.say("Late.", held=held)) as server:
        settings: dict[str, Any] = {"model_url": server.url, "api_key": "k"}
        with opened(tmp_path, **settings) as leaf:
            leaf.launch()
            ann = leaf.session(leaf.local_scope())
            made = ann.projects.create("Quarter")
            ann.projects.instruct(made.id, RULES)
            asked = ann.messages.send(ann.projects.new_chat(made.id).id, "Revenue?")
            wait_until(lambda: server.requests)
            ann.projects.instruct(made.id, LATER)
        held.set()
        with opened(tmp_path, **settings) as leaf:
            leaf.launch()
            ann = leaf.session(leaf.local_scope())
            assert finished(ann, asked.id).status == "completed"
        assert len(server.requests) > 1
        assert {told_in(request.body) for request in server.requests} == {
            f"{instructions_text(RULES)}\nRevenue?"
        }


def test_without_a_model_the_rules_hear_the_question_alone(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        ann = leaf.session(leaf.local_scope())
        made = ann.projects.create("Quarter")
        ann.projects.instruct(made.id, "Always show the number of rows.")
        ann.projects.add_files(made.id, [add(ann, "sales.csv", SALES).id])
        chat = ann.projects.new_chat(made.id).id
        answer = finished(ann, ann.messages.send(chat, "revenue by region").id)
        assert "North" in text_of(answer)


def test_a_compaction_carries_the_newest_instructions_on() -> None:
    def told(text: str, words: str, message_id: str) -> Message:
        asked = question(words, message_id)
        block = {"type": "text", "text": text}
        content = [block, *asked.raw[0]["content"]]
        return replace(asked, raw=[{"role": "user", "content": content}])

    filler = " ".join(["revenue"] * 2_000)
    history = [
        told(instructions_text(RULES), filler, "u0"),
        told(instructions_text(LATER), filler, "u1"),
        question(filler, "u2"),
        question("Now?", "u3"),
    ]
    entries = entries_of(history)
    limits = WindowLimits(3_000, 3_000)
    made = Planner(entries, None, Sizes(), Rates(), fixed=0, scale=1.0).plan(
        BranchPosition("u3", 1), "u3", 9_000, limits
    )
    assert made is not None
    kept = Compaction.from_json(json.loads(json.dumps(made.compaction.to_json())))
    assert kept == made.compaction
    sent = render(entries, kept, model="m", profile="claude")
    assert newest_instructions(sent) == instructions_text(LATER)
    assert sum(RULES in json.dumps(message) for message in sent) == 0
    assert instructions_before(entries[2:], kept) == instructions_text(LATER)
    left = [*history[:2], told(NO_MORE, "Left.", "u2"), history[3]]
    assert instructions_before(entries_of(left), kept) == ""


# What is left


def test_a_deleted_project_leaves_chats_files_and_no_byte_of_itself(team: Team) -> None:
    made = team.ann.projects.create("Xylograph title")
    team.ann.projects.instruct(made.id, "Xylograph instructions.")
    team.ann.projects.instruct(made.id, "")
    file = add(team.ann, "sales.csv", SALES)
    team.ann.projects.add_files(made.id, [file.id])
    chat = team.ann.projects.new_chat(made.id).id
    team.asked(team.ann, chat)
    team.ann.projects.delete(made.id)
    assert chat in seen(team.ann)
    assert [f.id for f in team.ann.files.list()] == [file.id]
    db = team.leaf._house.store.db
    for table in ("projects", "project_members", "project_chats", "project_files"):
        assert db.read(f"SELECT * FROM {table}") == []
    team.ann.chats.purge(chat)
    assert db.read("SELECT * FROM told_instructions") == []


def test_whoever_leaves_the_workspace_leaves_its_projects(team: Team) -> None:
    project = shared(team)
    hers = team.ann.projects.new_chat(project).id
    team.asked(team.ann, hers)
    alone = team.ben.projects.create("Ben's own").id
    empty = team.ben.projects.new_chat(project).id
    team.ann.team.remove(team.ben.scope.user_id)
    assert titles(team.ben) == []
    assert [p.name for p in team.ann.projects.members(project)] == ["Ann"]
    team.ann.team.invite("ben@example.org")
    back = team.leaf.session(
        replace(signed_in(team.leaf, "ben", iat=2).scope, workspace_id=team.ann.scope.workspace_id)
    )
    assert [p.id for p in back.projects.list()] == [alone]
    assert back.projects.of(empty) is None
    assert hers not in seen(back)


def test_an_account_that_is_purged_hands_projects_on_or_takes_them_along(team: Team) -> None:
    project = shared(team)
    alone = team.ben.projects.create("Ben's own").id
    his = team.ben.projects.new_chat(project).id
    team.asked(team.ben, his)
    team.ann.projects.remove_member(project, team.ann.scope.user_id)
    team.ben.projects.add_member(project, "cy@example.org")
    team.leaf.purge_account("ben@example.org")
    assert [(p.title, p.own) for p in team.cy.projects.list()] == [("Quarter", True)]
    db = team.leaf._house.store.db
    assert [str(r["id"]) for r in db.read("SELECT id FROM projects")] == [project]
    assert alone not in str(db.read("SELECT * FROM project_members"))


def test_projects_are_in_a_backup_and_come_back(team: Team, tmp_path: Path) -> None:
    project = shared(team)
    team.ann.projects.instruct(project, RULES)
    team.ann.projects.add_files(project, [add(team.ann, "sales.csv", SALES).id])
    chat = team.ann.projects.new_chat(project).id
    team.asked(team.ann, chat)
    team.leaf.backup(tmp_path / "backup")
    other = Settings(home=tmp_path / "other")
    restore(other, tmp_path / "backup")
    with opened(other.home) as leaf:
        ben = signed_in(leaf, "ben")
        (found,) = ben.projects.list()
        assert (found.instructions, found.people) == (RULES, 2)
        assert [f.name for f in ben.projects.files(project)] == ["sales.csv"]
        assert [c.id for c in ben.projects.chats(project)] == [chat]


def test_the_audit_log_says_who_came_and_went_and_no_title(team: Team) -> None:
    project = shared(team)
    chat = team.ann.chats.create()
    team.asked(team.ann, chat.id)
    team.ann.projects.move(chat.id, project, shown=True)
    team.ann.projects.remove_member(project, team.ben.scope.user_id)
    team.ann.projects.delete(project)
    lines = team.ann.team.audit()
    assert [line.action for line in lines][:4] == [
        "project deleted",
        "taken out of project",
        "chat shown to project",
        "brought into project",
    ]
    assert "Quarter" not in str(lines)

"""Asking: a question becomes an answer in the history, whatever people do meanwhile."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from leaf.errors import FileTooLargeError, InvalidInputError, NotFoundError
from leaf.sessions.preview import PreviewTarget
from leaf.sessions.session import Session
from leaf.store import chats, leases, messages
from leaf.store.model import Scope
from leaf.tables.paging import RowsWanted
from tests.leaf_kit import SALES, add, finished, opened, text_of
from tests.messages_server import Failure, MessagesServer, Turn, analyst

QUESTION = "total revenue by region"


@pytest.fixture
def leaf(tmp_path: Path) -> Iterator[Leaf]:
    with opened(tmp_path / "home") as opened_leaf:
        yield opened_leaf


@pytest.fixture
def scope(leaf: Leaf) -> Scope:
    return leaf.local_scope()


@pytest.fixture
def session(leaf: Leaf, scope: Scope) -> Session:
    return leaf.session(scope)


def ask(session: Session, chat_id: str, text: str = QUESTION, **options: object) -> str:
    return session.messages.send(chat_id, text, **options).id  # type: ignore[arg-type] # file_ids and model as they come


def test_a_question_is_answered_titled_and_kept(session: Session) -> None:
    chat = session.chats.create()
    file = add(session, "Q3 Sales.csv", SALES)
    answer = finished(session, ask(session, chat.id, file_ids=[file.id]))
    assert answer.status == "completed"
    assert "400" in text_of(answer)
    assert session.chats.get(chat.id).title == QUESTION
    question, _ = session.chats.thread(chat.id).messages
    assert question.parts[1]["data"][0]["name"] == "Q3 Sales.csv"
    assert "[Attached: Q3 Sales.csv" in question.raw[0]["content"][0]["text"]
    coverage = next(p for p in answer.parts if p["type"] == "data-coverage")
    assert coverage["data"]["files"][0]["seen"] == 4


def test_every_viewer_reads_the_same_from_the_beginning(session: Session) -> None:
    message_id = ask(session, session.chats.create().id)
    run = session.messages.watch(message_id)
    assert run is not None
    seen: list[list[object]] = []

    def view() -> None:
        position, chunks = 0, []
        while True:
            piece = run.read(position, timeout=5)
            position = piece.position
            chunks += piece.chunks
            if piece.done:
                seen.append(chunks)
                return

    viewers = [threading.Thread(target=view) for _ in range(5)]
    for viewer in viewers:
        viewer.start()
    for viewer in viewers:
        viewer.join(30)
    assert len(seen) == 5
    assert all(chunks == seen[0] for chunks in seen)
    assert seen[0][-1]["type"] == "finish"  # type: ignore[index] # chunks are JSON objects


def test_editing_a_question_makes_a_branch_and_keeps_the_old_one(session: Session) -> None:
    chat = session.chats.create()
    file = add(session, "sales.csv", SALES)
    first = finished(session, ask(session, chat.id, file_ids=[file.id]))
    second = finished(
        session, session.messages.edit(first.parent_id, "average revenue by region").id
    )
    shown = session.chats.thread(chat.id)
    assert [m.id for m in shown.messages] == [second.parent_id, second.id]
    assert shown.branches[second.parent_id] == (first.parent_id, second.parent_id)
    assert "200" in text_of(second)
    session.messages.show_branch(first.parent_id)
    assert [m.id for m in session.chats.thread(chat.id).messages] == [first.parent_id, first.id]


def test_what_waits_beside_the_next_question_does_not_go_with_one_that_is_asked_anew(
    session: Session,
) -> None:
    chat = session.chats.create()
    file = add(session, "sales.csv", SALES)
    first = finished(session, ask(session, chat.id, file_ids=[file.id]))
    later = add(session, "later.csv", b"a,b\n1,2\n")
    session.attached.add(chat.id, [later.id])
    finished(session, session.messages.edit(first.parent_id, "average revenue by region").id)
    waiting = [c.file.name for c in session.attached.list(chat.id) if not c.message_id]
    assert waiting == ["later.csv"]
    answer = finished(session, ask(session, chat.id, "rows of later"))
    question = session.messages.get(answer.parent_id)
    assert "[Attached: later.csv" in question.raw[0]["content"][0]["text"]


def test_a_file_that_comes_while_a_question_is_sent_goes_with_the_next(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = session.chats.create()
    late = add(session, "late.csv", b"a,b\n1,2\n")
    add_exchange = messages.add_exchange

    def after_another_tab(*given: Any, **more: Any) -> Any:
        session.attached.add(chat.id, [late.id])
        return add_exchange(*given, **more)

    monkeypatch.setattr(messages, "add_exchange", after_another_tab)
    finished(session, ask(session, chat.id, "hello"))
    assert [c.message_id for c in session.attached.list(chat.id)] == [""]


def test_a_retry_answers_beside_the_old_answer(session: Session) -> None:
    chat = session.chats.create()
    first = finished(session, ask(session, chat.id))
    again = finished(session, session.messages.retry(first.id).id)
    assert session.chats.thread(chat.id).branches[again.id] == (first.id, again.id)


def test_an_empty_question_is_refused(session: Session) -> None:
    with pytest.raises(InvalidInputError):
        session.messages.send(session.chats.create().id, "  \n ")


def test_the_same_content_under_one_name_is_one_file_and_every_other_name_is_another(
    session: Session,
) -> None:
    first = add(session, "a.csv", SALES)
    assert add(session, "a.csv", SALES).id == first.id
    assert add(session, "b.csv", SALES).id != first.id
    assert add(session, "a.csv", SALES + b"West,2025-03,1\n").name == "a (2).csv"


def test_a_file_over_the_limit_is_refused_with_the_limit(tmp_path: Path) -> None:
    with opened(tmp_path / "home", max_upload_bytes=100) as leaf:
        with pytest.raises(FileTooLargeError, match="100"):
            add(leaf.session(leaf.local_scope()), "big.csv", b"x" * 101)
        assert leaf.session(leaf.local_scope()).files.list() == []


def test_stop_keeps_what_was_shown(tmp_path: Path) -> None:
    slow = Turn.say("One two three four five six seven eight.", pieces=40, delay=0.1)
    with (
        MessagesServer([slow]) as server,
        opened(tmp_path / "home", model_url=server.url, model="claude-sonnet-5-5") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        message_id = ask(session, session.chats.create().id, "count")
        run = session.messages.watch(message_id)
        assert run is not None
        position, text = 0, ""
        while len(text) < 5:
            piece = run.read(position, timeout=10)
            position = piece.position
            text += "".join(c["delta"] for c in piece.chunks if c["type"] == "text-delta")
        session.messages.stop(message_id)
        message = finished(session, message_id, seconds=5)
    assert message.status == "stopped"
    assert text_of(message).startswith(text)
    assert not text_of(message).endswith("eight.")


def test_a_failed_answer_says_why_and_can_be_asked_again(tmp_path: Path) -> None:
    script = [Failure(401, "authentication_error", "invalid x-api-key"), Turn.say("Now it works.")]
    with (
        MessagesServer(script) as server,
        opened(tmp_path / "home", model_url=server.url, model="claude-sonnet-5-5") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        failed = finished(session, ask(session, session.chats.create().id, "hello"))
        assert failed.status == "error"
        assert "key" in failed.error
        assert text_of(finished(session, session.messages.retry(failed.id).id)) == "Now it works."


def test_a_chat_goes_on_after_a_restart_with_the_same_prefix(tmp_path: Path) -> None:
    with MessagesServer(analyst) as server:
        for question in ("What is there?", "And how many rows?"):
            with opened(tmp_path / "home", model_url=server.url, model="claude-sonnet-5-5") as leaf:
                session = leaf.session(leaf.local_scope())
                chat = next(iter(session.chats.list()), None) or session.chats.create()
                file = add(session, "sales.csv", SALES)
                answer = finished(session, ask(session, chat.id, question, file_ids=[file.id]))
                assert answer.status == "completed", answer.error
    assert server.refused == []


def test_an_answer_that_a_killed_process_left_is_written_after_the_next_start(
    tmp_path: Path,
) -> None:
    with opened(tmp_path / "home") as leaf:
        scope = leaf.local_scope()
        db = leaf._house.store.db
        left = messages.add_exchange(
            db,
            scope,
            leaf.session(scope).chats.create().id,
            [{"type": "text", "text": "hello"}],
            model="keyless",
        ).answer
        leases.claim(db, scope, left.id)
    with opened(tmp_path / "home") as leaf:
        leaf.launch()
        assert finished(leaf.session(scope), left.id).status == "completed"


def test_deleting_a_chat_can_be_undone(leaf: Leaf, scope: Scope) -> None:
    session = leaf.session(scope)
    chat = session.chats.create()
    finished(session, ask(session, chat.id))
    session.chats.delete(chat.id)
    assert session.chats.list() == []
    session.chats.restore(chat.id)
    assert [c.id for c in session.chats.list()] == [chat.id]
    assert replace(chats.get(leaf._house.store.db, scope, chat.id), deleted_at=None).id == chat.id


def test_markdown_of_a_chat_holds_question_query_and_sources(session: Session) -> None:
    chat = session.chats.create()
    file = add(session, "sales.csv", SALES)
    answer = finished(session, ask(session, chat.id, file_ids=[file.id]))
    for text in (session.chats.markdown(chat.id), session.messages.markdown(answer.id)):
        assert QUESTION in text
        assert "```sql" in text
        assert "sales.csv" in text
        assert "4 of 4 rows" in text


def test_suggestions_come_from_the_files_at_hand(session: Session) -> None:
    files = session.files.add_sample()
    suggested = [one.question for one in session.files.suggestions(files)]
    assert len(suggested) == 3
    assert any("revenue" in s for s in suggested)
    assert any("sample_returns_policy.md" in s for s in suggested)


def test_a_preview_shows_rows_pages_or_text(session: Session) -> None:
    table = session.files.preview(
        add(session, "sales.csv", SALES).id,
        PreviewTarget(rows=RowsWanted(limit=2, order_by="revenue", descending=True)),
    )
    assert table.kind == "table"
    assert table.rows is not None
    assert [row[2] for row in table.rows.rows] == [300.0, 250.5]
    text = session.files.preview(
        add(session, "note.txt", b"one\ntwo\nthree\n").id, PreviewTarget("lines 2-3")
    )
    assert text.kind == "text"
    assert text.window is not None
    assert text.window.places == ("lines 2-3",)


CLAIMS = {
    "is_logged_in": True,
    "iss": "https://login.example.org",
    "iat": 1,
    "exp": 4_000_000_000,
    "email_verified": True,
}


def signed_in(leaf: Leaf, name: str) -> Scope:
    return leaf.sign_in(
        {
            **CLAIMS,
            "sub": name,
            "name": name,
            "email": f"{name}@example.org",
            "nonce": os.urandom(8).hex(),
        }
    ).scope


def test_removing_a_member_stops_the_answer_that_is_being_written_for_them(tmp_path: Path) -> None:
    held = threading.Event()

    def slow(_: object) -> Turn:
        held.set()
        return Turn.say("word " * 400, pieces=400, delay=0.05)

    with MessagesServer(slow) as server, opened(tmp_path / "home", model_url=server.url) as leaf:
        ann = signed_in(leaf, "ann")
        leaf.session(ann).team.invite("bob@example.org")
        bob = signed_in(leaf, "bob")
        chat = leaf.session(ann).chats.create()
        leaf.session(ann).chats.add_participant(chat.id, "bob@example.org")
        answer = leaf.session(bob).messages.send(chat.id, "go on")
        assert held.wait(30)
        run = leaf.session(bob).messages.watch(answer.id)
        assert run is not None
        leaf.session(ann).team.remove(bob.user_id)
        with pytest.raises(NotFoundError):
            leaf.session(bob).messages.wait(answer.id, 0, 0)
        assert leaf.session(ann).messages.get(answer.id).status == "stopped"
        position = 0
        while not (piece := run.read(position, 10)).done:
            position = piece.position
        assert leaf.session(ann).messages.get(answer.id).status == "stopped"
        assert finished(leaf.session(ann), ask(leaf.session(ann), chat.id)).status in (
            "completed",
            "error",
        )


def test_people_of_another_workspace_reach_no_member_invitation_or_participant(leaf: Leaf) -> None:
    ann, eve = signed_in(leaf, "ann"), signed_in(leaf, "eve")
    leaf.session(ann).team.invite("bob@example.org")
    (invitation,) = leaf.session(ann).team.invitations()
    chat = leaf.session(ann).chats.create()
    for call in (
        lambda: leaf.session(eve).chats.participants(chat.id),
        lambda: leaf.session(eve).chats.authors(chat.id),
        lambda: leaf.session(eve).chats.add_participant(chat.id, "eve@example.org"),
        lambda: leaf.session(eve).chats.remove_participant(chat.id, ann.user_id),
        lambda: leaf.session(eve).team.withdraw(invitation.id),
        lambda: leaf.session(eve).team.remove(ann.user_id),
        lambda: leaf.session(eve).team.set_role(ann.user_id, "member"),
        lambda: leaf.session(Scope(ann.workspace_id, eve.user_id)).team.rename("mine"),
        lambda: leaf.session(Scope(ann.workspace_id, eve.user_id)).team.invite("eve@example.org"),
    ):
        with pytest.raises(NotFoundError):
            call()
    assert leaf.session(eve).team.workspace_of(chat.id) == ""
    assert leaf.session(ann).team.workspace_of(chat.id) == ann.workspace_id
    assert leaf.session(Scope(ann.workspace_id, eve.user_id)).team.members() == []
    assert leaf.session(Scope(ann.workspace_id, eve.user_id)).team.invitations() == []

"""The store over real databases: DuckDB, and a PostgreSQL server of the tests' own."""

from __future__ import annotations

import hashlib
import io
import os
import signal
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar, get_args

import pytest

from leaf.errors import (
    FileTooLargeError,
    InvalidInputError,
    NotFoundError,
    SettingsError,
    StoreAwayError,
    StoreBusyError,
    StoreError,
)
from leaf.settings import Allowance, Settings
from leaf.store import (
    Store,
    branch,
    budgets,
    cells,
    chat_files,
    chats,
    consents,
    documents,
    drive_files,
    edited_steps,
    files,
    integrations,
    leases,
    members,
    messages,
    oauth_states,
    open_store,
    projects,
    usage,
    users,
)
from leaf.store.blobs import Blobs
from leaf.store.edited_steps import EditedStep
from leaf.store.migrate import Migration, migrate, migrations
from leaf.store.model import File, Message, Scope, UsageTotal
from leaf.store.slugs import slug as slug_of
from leaf.store.space import Space
from tests import forked_programs, postgres
from tests.removal_kit import purge_chat, purge_file

T = TypeVar("T")
OWN_DATABASES = True
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def scope(store: Store) -> Scope:
    return users.ensure_local_user(store.db)


def text(words: str) -> list[dict[str, object]]:
    return [{"type": "text", "text": words}]


def add_file(
    store: Store, scope: Scope, name: str, content: bytes = b"", context: str = "", size: int = 1
) -> File:
    sha256 = hashlib.sha256(content or name.encode()).hexdigest()
    new = files.NewFile(name, "text/csv", "csv", size, sha256, "upload", context, {"rows": 3})
    return files.add(store.db, scope, new)[0]


LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def joined(store: Store, scope: Scope) -> Scope:
    """Somebody else who is a member of the workspace."""
    colleague = Scope(
        scope.workspace_id, users.ensure_user(store.db, "bob@example.org", "Bob").user_id
    )
    with store.db.transaction() as tx:
        tx.execute(
            "INSERT INTO workspace_members (workspace_id, user_id, role, created_at) VALUES "
            "(:workspace, :user, 'member', :at)",
            {
                "workspace": colleague.workspace_id,
                "user": colleague.user_id,
                "at": datetime.now(UTC),
            },
        )
    return colleague


def used(
    store: Store,
    scope: Scope,
    answer: Message,
    step: str = "model-1",
    *,
    model: str = "m",
    tokens: int = 100,
    cost: float | None = 0.1,
    at: datetime | None = None,
) -> None:
    """Count a step of an answer: `tokens` in, ten of them cached, and five out."""
    usage.unscoped_record(
        store.db,
        scope,
        answer.id,
        step,
        chat_id=answer.chat_id,
        model=model,
        input_tokens=tokens,
        cached_tokens=10,
        output_tokens=5,
        cost=cost,
        at=at,
    )


def open_store_at(settings: Settings, number: int) -> Store:
    """A store as the migrations up to a number left it."""
    db = open_store(settings).db
    with db.transaction() as tx:
        for row in db.read(
            "SELECT table_name FROM information_schema.tables WHERE table_schema IN "
            "('main', 'public')"
        ):
            tx.execute(f"DROP TABLE {row['table_name']}")
    migrate(db, [m for m in migrations() if m.number <= number])
    return Store(db, Blobs(settings.home), Space(settings.home))


# Users


def test_local_user_is_made_once_with_a_workspace(store: Store) -> None:
    scope = users.ensure_local_user(store.db)
    assert users.ensure_local_user(store.db) == scope
    assert [w.name for w in members.memberships(store.db, scope)] == ["Workspace"]
    assert users.get_user(store.db, scope).created_at.tzinfo is UTC


def test_two_first_visits_at_once_make_one_user(store: Store) -> None:
    found = in_threads(8, lambda _: users.ensure_user(store.db, "Ann@example.org", "Ann"))
    assert len(set(found)) == 1
    assert users.ensure_user(store.db, "ann@example.org ", "Ann") == found[0]


# Chats


def test_chats_are_listed_by_newest_activity_and_found_by_title_or_words(
    store: Store, scope: Scope
) -> None:
    first = chats.create(store.db, scope, title="Quarterly  Übersicht")
    second = chats.create(store.db, scope)
    messages.add_exchange(
        store.db, scope, second.id, text("Which region sold 100% more?"), title="Regions"
    )
    assert [c.title for c in chats.list_chats(store.db, scope)] == [
        "Regions",
        "Quarterly Übersicht",
    ]
    messages.add_exchange(
        store.db, scope, first.id, text("And now?"), title="not taken, there is a title"
    )
    assert [c.title for c in chats.list_chats(store.db, scope)] == [
        "Quarterly Übersicht",
        "Regions",
    ]
    assert [c.id for c in chats.list_chats(store.db, scope, query="übersicht NOW")] == [first.id]
    assert [c.id for c in chats.list_chats(store.db, scope, query="100% sold")] == [second.id]
    assert chats.list_chats(store.db, scope, query="100_") == []
    assert [c.id for c in chats.list_chats(store.db, scope, limit=1, offset=1)] == [second.id]


def test_a_search_asks_for_ten_words_and_leaves_out_the_rest(store: Store, scope: Scope) -> None:
    """Of a whole sentence that is pasted the first words tell enough."""
    found = chats.create(store.db, scope, title="one two three four five six seven eight nine ten")
    chats.create(store.db, scope, title="one two three four five six seven eight nine")
    query = "one two three four five six seven eight nine ten eleven"
    assert [c.id for c in chats.list_chats(store.db, scope, query=query)] == [found.id]


def test_of_chats_those_are_known_in_which_an_answer_is_written_and_that_one_may_see(
    store: Store, scope: Scope
) -> None:
    ours, done, empty = (chats.create(store.db, scope) for _ in range(3))
    theirs_scope = users.ensure_user(store.db, "else@example.org", "Else")
    theirs = chats.create(store.db, theirs_scope)
    messages.add_exchange(store.db, scope, ours.id, text("What?"))
    messages.add_exchange(store.db, theirs_scope, theirs.id, text("What?"))
    answer = messages.add_exchange(store.db, scope, done.id, text("What?")).answer
    messages.finish(store.db, scope, answer.id, parts=[], raw=[], usage={}, status="completed")
    every = [ours.id, done.id, empty.id, theirs.id]
    assert chats.unfinished_among(store.db, scope, every) == {ours.id}
    assert chats.unfinished_among(store.db, scope, [done.id, empty.id]) == frozenset()


def test_a_branch_is_named_by_its_end_and_a_question_that_is_withdrawn_leaves_no_end_behind(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    first = messages.add_exchange(store.db, scope, chat.id, text("One?"))
    second = messages.add_exchange(store.db, scope, chat.id, text("Two?"))
    whole = (first.question.id, first.answer.id, second.question.id, second.answer.id)
    assert messages.branch_ids(store.db, scope, chat.id, second.answer.id) == whole
    assert messages.branch_ids(store.db, scope, chat.id, first.answer.id) == whole[:2]
    assert messages.branch_ids(store.db, scope, chat.id, "nowhere") == ()
    assert messages.withdraw(store.db, scope, second.answer.id).id == second.question.id
    assert chats.get(store.db, scope, chat.id).head_id == first.answer.id
    assert messages.branch_ids(store.db, scope, chat.id, first.answer.id) == whole[:2]
    assert messages.branch_ids(store.db, scope, chat.id, second.answer.id) == ()


def test_chat_can_be_renamed_deleted_and_brought_back(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    assert chats.rename(store.db, scope, chat.id, " New\ttitle ").title == "New title"
    assert chats.set_model(store.db, scope, chat.id, "claude-x").model == "claude-x"
    with pytest.raises(InvalidInputError):
        chats.rename(store.db, scope, chat.id, " \n ")
    chats.delete(store.db, scope, chat.id)
    assert chats.list_chats(store.db, scope) == []
    assert [c.id for c in chats.list_chats(store.db, scope, deleted=True)] == [chat.id]
    with pytest.raises(NotFoundError, match="The chat 'New title' was deleted"):
        chats.get(store.db, scope, chat.id)
    assert chats.restore(store.db, scope, chat.id).deleted_at is None
    assert [c.id for c in chats.list_chats(store.db, scope)] == [chat.id]


def test_purged_chat_leaves_files_and_usage_but_nothing_else(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    file = add_file(store, scope, "sales.csv")
    chat_files.attach(store.db, scope, chat.id, [file.id])
    answer = messages.add_exchange(store.db, scope, chat.id, text("How much?")).answer
    used(store, scope, answer, cost=0.1)
    purge_chat(store.db, scope, chat.id)
    with pytest.raises(NotFoundError):
        messages.get(store.db, scope, answer.id)
    for table in ("messages", "chat_files", "chat_participants", "chats"):
        assert store.db.read(f"SELECT count(*) AS n FROM {table}") == [{"n": 0}]
    assert files.get(store.db, scope, file.id) == file
    assert usage.total(store.db, scope).answers == 1


# Messages


def test_a_chat_that_was_left_before_its_first_question_is_known_by_its_first_file(
    store: Store, scope: Scope
) -> None:
    named, empty, asked = (chats.create(store.db, scope).id for _ in range(3))
    first = add_file(store, scope, "2024/a.csv")
    for chat_id in (named, asked):
        chat_files.attach(store.db, scope, chat_id, [first.id])
    chat_files.attach(store.db, scope, named, [add_file(store, scope, "b.csv").id])
    messages.add_exchange(store.db, scope, asked, text("Why?"))
    those = [named, empty, asked]
    assert chat_files.waiting_names(store.db, scope, those) == {named: "a.csv"}
    for other in (joined(store, scope), users.ensure_user(store.db, "eve@example.org", "Eve")):
        assert chat_files.waiting_names(store.db, other, those) == {}
    assert chat_files.waiting_names(store.db, scope, []) == {}
    files.delete(store.db, scope, first.id)
    assert chat_files.waiting_names(store.db, scope, those) == {named: "b.csv"}
    chat_files.detach(store.db, scope, named, "f2")
    assert chat_files.waiting_names(store.db, scope, those) == {}


def test_exchange_is_saved_with_its_files_and_becomes_the_end_of_the_chat(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    chat_files.attach(store.db, scope, chat.id, [add_file(store, scope, "a.csv").id])
    raw = [{"role": "user", "content": [{"type": "text", "text": "x"}]}]
    exchange = messages.add_exchange(
        store.db, scope, chat.id, text("Why?"), raw=raw, model="m", title="Why?"
    )
    assert [k.message_id for k in chat_files.list_chat_files(store.db, scope, chat.id)] == [
        exchange.question.id
    ]
    assert chats.get(store.db, scope, chat.id).head_id == exchange.answer.id
    assert messages.thread(store.db, scope, chat.id).messages == (
        exchange.question,
        exchange.answer,
    )
    assert (exchange.answer.status, exchange.answer.model, exchange.question.raw) == (
        "pending",
        "m",
        raw,
    )


def test_answer_comes_back_byte_equal_with_its_keys_in_order(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    answer = messages.add_exchange(store.db, scope, chat.id, text("?")).answer
    raw = [
        {
            "z": 1,
            "a": [1.0, 1e-9, 12345678901234567890, True, None],
            "text": 'é "\\ \u0000 \u2028 🌿',
            "": {},
        }
    ]
    messages.finish(
        store.db,
        scope,
        answer.id,
        parts=[{"type": "data-x", "data": float("nan")}],
        raw=raw,
        usage={"input": 3},
        status="completed",
    )
    found = messages.get(store.db, scope, answer.id)
    assert (found.raw, list(found.raw[0])) == (raw, list(raw[0]))
    assert found.parts == [{"type": "data-x", "data": None}]
    assert (found.usage, found.status) == ({"input": 3}, "completed")


def test_finishing_twice_changes_nothing(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    answer = messages.add_exchange(store.db, scope, chat.id, text("?")).answer
    for _ in range(2):
        messages.finish(
            store.db,
            scope,
            answer.id,
            parts=text("No."),
            raw=[{"a": 1}],
            usage={},
            status="error",
            error="It broke.",
        )
    found = messages.thread(store.db, scope, chat.id).messages
    assert [(m.status, m.error, m.parts) for m in found[1:]] == [
        ("error", "It broke.", text("No."))
    ]
    assert [c.id for c in chats.list_chats(store.db, scope, query="no.")] == [chat.id]


def test_a_waiting_answer_is_stopped_once_and_by_its_own_workspace_alone(
    store: Store, scope: Scope
) -> None:
    answer = messages.add_exchange(
        store.db, scope, chats.create(store.db, scope).id, text("Why?")
    ).answer
    stranger = users.ensure_user(store.db, "eve@example.org", "Eve")
    assert not messages.stop_pending(store.db, stranger, answer.id)
    assert messages.get(store.db, scope, answer.id).status == "pending"
    assert messages.stop_pending(store.db, scope, answer.id)
    assert messages.get(store.db, scope, answer.id).status == "stopped"
    assert not messages.stop_pending(store.db, scope, answer.id)


def test_answer_of_a_chat_put_away_meanwhile_is_kept(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    answer = messages.add_exchange(store.db, scope, chat.id, text("?")).answer
    assert leases.claim(store.db, scope, answer.id) == "claimed"
    chats.delete(store.db, scope, chat.id)
    messages.finish(
        store.db, scope, answer.id, parts=text("42"), raw=[], usage={}, status="completed"
    )
    chats.restore(store.db, scope, chat.id)
    assert messages.get(store.db, scope, answer.id).parts == text("42")


def test_branches_are_shown_one_at_a_time_and_known_to_each_other(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    first = messages.add_exchange(store.db, scope, chat.id, text("one"))
    second = messages.add_exchange(store.db, scope, chat.id, text("two"))
    edited = messages.add_exchange(
        store.db, scope, chat.id, text("two, better"), parent_id=first.answer.id
    )
    retried = messages.add_answer(store.db, scope, edited.question.id)
    ids = [m.id for m in messages.thread(store.db, scope, chat.id).messages]
    assert ids == [first.question.id, first.answer.id, edited.question.id, retried.id]
    assert messages.thread(store.db, scope, chat.id).branches == {
        edited.question.id: (second.question.id, edited.question.id),
        retried.id: (edited.answer.id, retried.id),
    }
    assert messages.siblings(store.db, scope, second.question.id) == (
        second.question.id,
        edited.question.id,
    )
    end = messages.newest_below(store.db, scope, second.question.id)
    shown = chats.set_head(store.db, scope, chat.id, end)
    assert (shown.id, shown.head_id) == (chat.id, end)
    assert [m.id for m in messages.thread(store.db, scope, chat.id).messages][2:] == [
        second.question.id,
        second.answer.id,
    ]
    anew = messages.add_exchange(store.db, scope, chat.id, text("from the beginning"), parent_id="")
    assert messages.thread(store.db, scope, chat.id).messages == (anew.question, anew.answer)
    with pytest.raises(InvalidInputError):
        messages.add_answer(store.db, scope, first.answer.id)


def test_the_models_that_a_person_chose_for_chats_are_forgotten_for_their_own_alone(
    store: Store, scope: Scope
) -> None:
    colleague = joined(store, scope)
    mine = [chats.create(store.db, scope) for _ in range(2)]
    theirs = chats.create(store.db, colleague)
    for owner, chat in ((scope, mine[0]), (colleague, theirs)):
        chats.set_model(store.db, owner, chat.id, "some-model")
    chats.forget_models(store.db, scope)
    assert [chats.get(store.db, scope, chat.id).model for chat in mine] == ["", ""]
    assert chats.get(store.db, colleague, theirs.id).model == "some-model"


def test_the_files_of_an_archive_are_renamed_with_it(store: Store, scope: Scope) -> None:
    archive = add_file(store, scope, "given.zip")
    inside = files.NewFile(
        "given.zip/in/a.csv", "text/csv", "csv", 1, "0" * 64, "upload", "", {}, parent_id=archive.id
    )
    member = files.add(store.db, scope, inside)[0]
    files.rename(store.db, scope, archive.id, "A longer name.zip")
    assert files.get(store.db, scope, member.id).name == "A longer name.zip/in/a.csv"


def test_a_long_chat_is_loaded_from_its_end(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    assert messages.thread(store.db, scope, chat.id, last=30).messages == ()
    ids = []
    for i in range(10):
        exchange = messages.add_exchange(store.db, scope, chat.id, text(f"question {i}"))
        ids += [exchange.question.id, exchange.answer.id]
    newest = messages.thread(store.db, scope, chat.id, last=6)
    assert ([m.id for m in newest.messages], newest.earlier) == (ids[-6:], 14)
    earlier = messages.thread(store.db, scope, chat.id, last=6, before=newest.messages[0].id)
    assert ([m.id for m in earlier.messages], earlier.earlier) == (ids[-12:-6], 8)
    whole = messages.thread(store.db, scope, chat.id, last=100)
    assert ([m.id for m in whole.messages], whole.earlier) == (ids, 0)
    start = messages.thread(store.db, scope, chat.id, before=ids[2])
    assert ([m.id for m in start.messages], start.earlier) == (ids[:2], 0)


def test_a_long_chat_is_loaded_from_a_message_on_that_was_drawn_before(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    ids = []
    for i in range(6):
        exchange = messages.add_exchange(store.db, scope, chat.id, text(f"question {i}"))
        ids += [exchange.question.id, exchange.answer.id]
    anchored = messages.thread(store.db, scope, chat.id, last=4, first=ids[2])
    assert ([m.id for m in anchored.messages], anchored.earlier) == (ids[2:], 2)
    later = messages.thread(store.db, scope, chat.id, last=4, first=ids[-1])
    assert [m.id for m in later.messages] == ids[-4:]
    elsewhere = messages.thread(store.db, scope, chat.id, last=4, first="no such message")
    assert [m.id for m in elsewhere.messages] == ids[-4:]


def test_the_history_of_a_chat_is_read_from_its_end_and_only_as_far_as_somebody_looks(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    ids = []
    for i in range(60):
        exchange = messages.add_exchange(store.db, scope, chat.id, text(f"question {i}"))
        ids += [exchange.question.id, exchange.answer.id]
    history = messages.history(store.db, scope, chat.id, ids[-2])
    assert (len(history), history.read, set(history.roles[::2])) == (119, 0, {"user"})
    assert history[-1].parts == text("question 59")
    assert history.read == branch.PIECE
    assert [m.id for m in history[-3:]] == ids[-4:-1]
    assert history.read == branch.PIECE
    assert [m.id for m in reversed(history)] == ids[-2::-1]
    assert history.read == 119
    assert tuple(history) == messages.thread(store.db, scope, chat.id, head=ids[-2]).messages
    with pytest.raises(NotFoundError):
        messages.history(store.db, scope, chat.id, "no such message")


def test_the_history_of_a_chat_is_gone_through_in_few_pieces(
    store: Store, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = chats.create(store.db, scope)
    ids = []
    for i in range(20):
        exchange = messages.add_exchange(store.db, scope, chat.id, text(f"question {i}"))
        ids += [exchange.question.id, exchange.answer.id]
    history, pieces = messages.history(store.db, scope, chat.id, ids[-1]), list[int]()
    read = branch.read

    def noted(*given: Any) -> Any:
        pieces.append(len(given[-1]))
        return read(*given)

    monkeypatch.setattr(branch, "read", noted)
    assert [m.id for m in history] == ids
    assert pieces == [branch.PIECE, len(ids) - branch.PIECE]


def test_a_question_that_waits_is_taken_out_and_what_follows_moves_up(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    one, two, three = (
        messages.add_exchange(store.db, scope, chat.id, text(words)) for words in "123"
    )
    assert messages.withdraw(store.db, scope, two.answer.id).id == two.question.id
    there = [m.id for m in messages.thread(store.db, scope, chat.id).messages]
    assert there == [m.id for m in (one.question, one.answer, three.question, three.answer)]
    with pytest.raises(NotFoundError):
        messages.get(store.db, scope, two.question.id)
    with pytest.raises(InvalidInputError):
        messages.withdraw(store.db, scope, one.question.id)


def test_a_large_library_is_listed_whole(store: Store, scope: Scope) -> None:
    file = add_file(store, scope, "0.csv")
    same = "workspace_id, user_id, media_type, kind, size, sha256, source, upload_context, outline, created_at, parent_id"
    with store.db.transaction(scope) as tx:
        tx.execute(
            f"INSERT INTO files (id, name, given_name, {same}) SELECT CAST(n AS TEXT), "
            f"CAST(n AS TEXT), CAST(n AS TEXT), {same} FROM files, generate_series(1, 12000) "
            "AS t(n) WHERE id = :id",
            {"id": file.id},
        )
    assert len(files.list_files(store.db, scope)) == 12_001


def test_files_and_folders_of_a_question_that_is_taken_back_wait_again(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    file = add_file(store, scope, "a.csv")
    chat_files.attach(store.db, scope, chat.id, [file.id])
    folder = drive_files.AttachedFolder(
        chat.id, "d0", "d0", "Plans", "", 2, "", [], "", datetime.now(UTC)
    )
    drive_files.attach_folder(store.db, scope, folder)
    asked = messages.add_exchange(store.db, scope, chat.id, text("1"))
    drive_files.send_folders(store.db, scope, chat.id, asked.question.id, ["d0"])
    messages.withdraw(store.db, scope, asked.answer.id)
    assert [c.message_id for c in chat_files.list_chat_files(store.db, scope, chat.id)] == [""]
    assert [f.message_id for f in drive_files.folders(store.db, scope, chat.id)] == [""]
    drive_files.detach_folder(store.db, scope, chat.id, "d0")


def test_of_the_branch_that_is_shown_the_newest_message_with_most_words_is_found(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    first = messages.add_exchange(store.db, scope, chat.id, text("The harvest of apples"))
    second = messages.add_exchange(store.db, scope, chat.id, text("And the harvest of pears?"))
    messages.add_exchange(
        store.db, scope, chat.id, text("Apples, harvest 2023"), parent_id=first.answer.id
    )
    chats.set_head(store.db, scope, chat.id, second.answer.id)

    def find(query: str) -> str:
        return messages.find(store.db, scope, chat.id, query)

    assert find("Apples harvest") == first.question.id
    assert find("harvest") == second.question.id
    assert find("plums") == ""


def test_feedback_is_up_down_or_nothing(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    answer = messages.add_exchange(store.db, scope, chat.id, text("?")).answer
    messages.set_feedback(store.db, scope, answer.id, -1)
    assert messages.get(store.db, scope, answer.id).feedback == -1
    with pytest.raises(InvalidInputError):
        messages.set_feedback(store.db, scope, answer.id, 5)


def test_another_answer_brings_its_chat_to_the_top(store: Store, scope: Scope) -> None:
    first, second = (chats.create(store.db, scope, title=title) for title in ("first", "second"))
    asked = messages.add_exchange(store.db, scope, first.id, text("?")).question
    messages.add_exchange(store.db, scope, second.id, text("?"))
    messages.add_answer(store.db, scope, asked.id)
    assert [c.id for c in chats.list_chats(store.db, scope)] == [first.id, second.id]


def test_unfinished_answers_of_everybody_are_found_at_boot(store: Store, scope: Scope) -> None:
    assert messages.unscoped_unfinished(store.db) == []
    other = users.ensure_user(store.db, "bob@example.org", "Bob")
    answers = []
    for owner in (scope, other, scope):
        chat = chats.create(store.db, owner)
        answers.append(
            (owner, messages.add_exchange(store.db, owner, chat.id, text("?")).answer.id)
        )
    assert leases.claim(store.db, other, answers[1][1]) == "claimed"
    messages.finish(store.db, scope, answers[2][1], parts=[], raw=[], usage={}, status="stopped")
    assert [(u.scope, u.message.id) for u in messages.unscoped_unfinished(store.db)] == answers[:2]


def test_twenty_threads_write_one_chat_and_nothing_is_lost(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    ids = [add_file(store, scope, f"{i % 4}/report.csv", b"%d" % i).id for i in range(20)]

    def write(i: int) -> str:
        chat_files.attach(store.db, scope, chat.id, [ids[i]])
        exchange = messages.add_exchange(store.db, scope, chat.id, text(f"from thread {i}"))
        leases.claim(store.db, scope, exchange.answer.id)
        messages.finish(
            store.db,
            scope,
            exchange.answer.id,
            parts=text(f"answer {i}"),
            raw=[],
            usage={},
            status="completed",
        )
        return exchange.answer.id

    answers = in_threads(20, write)
    thread = messages.thread(store.db, scope, chat.id)
    assert len(thread.messages) == 40
    assert {
        m.id for m in thread.messages if m.status == "completed" and m.role == "assistant"
    } == set(answers)
    attached = chat_files.list_chat_files(store.db, scope, chat.id)
    assert [k.handle for k in attached] == [f"f{i}" for i in range(1, 21)]
    assert len({k.slug for k in attached}) == 20


# Files


def test_the_same_bytes_have_a_row_a_name_and_another_file_of_that_name_gets_a_number(
    store: Store, scope: Scope
) -> None:
    first = add_file(store, scope, "report.csv", b"1")
    assert add_file(store, scope, "Report.CSV", b"1") == first
    copy = add_file(store, scope, "copy of report.csv", b"1")
    assert (copy.name, copy.sha256) == ("copy of report.csv", first.sha256)
    second = add_file(store, scope, "Report.csv", b"2")
    assert second.name == "Report (2).csv"
    assert add_file(store, scope, "report.csv", b"2") == second
    assert add_file(store, scope, "report.csv", b"3").name == "report (3).csv"
    assert add_file(store, scope, "README", b"4").name == "README"
    assert add_file(store, scope, "README", b"5").name == "README (2)"
    assert files.with_bytes(store.db, scope, first.sha256) == [first, copy]
    assert files.other_names(store.db, scope, first) == ["copy of report.csv"]


def test_a_file_that_was_renamed_is_another_one_than_what_comes_under_its_first_name(
    store: Store, scope: Scope
) -> None:
    file = add_file(store, scope, "report.csv", b"1")
    files.rename(store.db, scope, file.id, "final.csv")
    assert add_file(store, scope, "final.csv", b"1").id == file.id
    again = add_file(store, scope, "report.csv", b"1")
    assert (again.id != file.id, again.name) == (True, "report.csv")


def test_two_uploads_of_the_same_bytes_at_once_make_a_row_a_name(
    store: Store, scope: Scope
) -> None:
    found = in_threads(8, lambda i: add_file(store, scope, f"{i % 2}.csv", b"same").id)
    assert len(set(found)) == 2
    assert {f.name for f in files.list_files(store.db, scope)} == {"0.csv", "1.csv"}


def test_of_edited_steps_that_one_person_begins_at_once_one_runs(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    answer = messages.add_exchange(store.db, scope, chat.id, []).answer
    messages.stop_pending(store.db, scope, answer.id)
    step = EditedStep(
        "", "", answer.id, "c", "", "", "query_tables", {}, "running", datetime.now(UTC)
    )

    def begin(_: int) -> bool:
        try:
            edited_steps.begin(store.db, scope, step)
        except InvalidInputError:
            return False
        return True

    assert sum(in_threads(8, begin)) == 1


def test_files_kept_by_an_earlier_version_get_further_names(settings: Settings) -> None:
    store = open_store_at(settings, 8)
    scope = users.ensure_local_user(store.db)
    with store.db.transaction() as tx:
        tx.execute(
            "INSERT INTO files (id, workspace_id, user_id, name, media_type, kind, size, sha256, "
            "source, upload_context, "
            "outline, created_at) VALUES ('a', :w, :u, 'old.csv', '', 'csv', 1, :sha, 'upload', "
            "'words', :outline, :at)",
            {
                "w": scope.workspace_id,
                "u": scope.user_id,
                "sha": hashlib.sha256(b"1").hexdigest(),
                "outline": {"rows": 1},
                "at": datetime.now(UTC),
            },
        )
    store.close()
    for _ in range(2):  # as the migration left it, and as the database is opened again
        store = open_store(settings)
        try:
            old = add_file(store, scope, "old.csv", b"1")
            assert (old.id, old.upload_context, old.outline) == ("a", "words", {"rows": 1})
            assert add_file(store, scope, "new.csv", b"1").name == "new.csv"
            assert [f.name for f in files.with_bytes(store.db, scope, old.sha256)] == [
                "old.csv",
                "new.csv",
            ]
        finally:
            store.close()


def test_whether_there_is_any_file_is_known_of_all_workspaces_together(
    store: Store, scope: Scope
) -> None:
    assert files.unscoped_any(store.db) is False
    add_file(store, scope, "a.csv")
    assert files.unscoped_any(store.db) is True


def test_several_files_are_given_in_their_order_and_one_that_is_put_away_says_so(
    store: Store, scope: Scope
) -> None:
    first, second = (
        files.add(
            store.db, scope, files.NewFile(name, "text/csv", "csv", 1, mark * 64, "upload", "", {})
        )[0]
        for name, mark in (("a.csv", "0"), ("b.csv", "1"))
    )
    order = [second.id, first.id, second.id]
    assert [file.id for file in files.get_all(store.db, scope, order)] == order
    gone = files.delete(store.db, scope, second.id)
    assert (gone.id, gone.name) == (second.id, "b.csv")
    assert gone.deleted_at is not None
    with pytest.raises(NotFoundError, match=r"b\.csv was deleted"):
        files.get_all(store.db, scope, order)
    with pytest.raises(NotFoundError, match=r"b\.csv was deleted"):
        files.delete(store.db, scope, second.id)
    assert files.get(store.db, scope, second.id, deleted=True).deleted_at == gone.deleted_at


def test_files_are_searched_and_sorted(store: Store, scope: Scope) -> None:
    add_file(store, scope, "beta.csv", size=30)
    add_file(store, scope, "Alpha.csv", context="from the Leeds office", size=10)
    add_file(store, scope, "gamma_100%.csv", size=20)

    def names(**options: str) -> list[str]:
        return [f.name for f in files.list_files(store.db, scope, **options)]

    assert names() == ["gamma_100%.csv", "Alpha.csv", "beta.csv"]
    assert names(sort="name") == ["Alpha.csv", "beta.csv", "gamma_100%.csv"]
    assert names(sort="size") == ["beta.csv", "gamma_100%.csv", "Alpha.csv"]
    assert names(query="leeds ALPHA") == ["Alpha.csv"]
    assert names(query="0%") == ["gamma_100%.csv"]
    with pytest.raises(InvalidInputError, match="Sort by newest, oldest"):
        names(sort="colour")


def test_file_is_renamed_deleted_restored_and_purged(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    file = add_file(store, scope, "sales.csv", context="for Q3")
    attached = chat_files.attach(store.db, scope, chat.id, [file.id])[0]
    assert files.rename(store.db, scope, file.id, "turnover.csv").name == "turnover.csv"
    assert files.rename(store.db, scope, file.id, "turnover.csv").name == "turnover.csv"
    assert files.add_context(store.db, scope, file.id, "and Q4").upload_context == "for Q3\nand Q4"
    assert files.add_context(store.db, scope, file.id, "for Q3").upload_context == "for Q3\nand Q4"
    assert chat_files.list_chat_files(store.db, scope, chat.id)[0].slug == attached.slug == "sales"
    files.delete(store.db, scope, file.id)
    with pytest.raises(
        NotFoundError,
        match=r"^turnover\.csv was deleted on \d+ \w+ \d{4}\. Restore it on the Files page\.$",
    ):
        files.get(store.db, scope, file.id)
    assert files.list_files(store.db, scope) == []
    assert chat_files.list_chat_files(store.db, scope, chat.id) == []
    assert [
        k.handle for k in chat_files.list_chat_files(store.db, scope, chat.id, deleted=True)
    ] == ["f1"]
    assert files.restore(store.db, scope, file.id).deleted_at is None
    assert [c.id for c in files.references(store.db, scope, file.id)] == [chat.id]
    updated = files.set_outline(
        store.db, scope, file.id, kind="text", media_type="text/plain", outline={"lines": 2}
    )
    assert (updated.kind, updated.outline) == ("text", {"lines": 2})
    assert file.sha256 in purge_file(store.db, scope, file.id).hashes
    assert files.list_files(store.db, scope, deleted=True) == []
    later = chat_files.attach(
        store.db, scope, chat.id, [add_file(store, scope, "sales.csv", b"new").id]
    )[0]
    assert (later.handle, later.slug) == ("f2", "sales_2")


def test_an_archive_comes_back_with_what_was_put_away_with_it_and_not_before(
    store: Store, scope: Scope
) -> None:
    def member(name: str) -> File:
        sha256 = hashlib.sha256(name.encode()).hexdigest()
        new = files.NewFile(
            name, "text/csv", "csv", 1, sha256, "archive", "", {}, parent_id=archive.id
        )
        return files.add(store.db, scope, new)[0]

    archive = add_file(store, scope, "all.zip")
    kept, thrown_out = member("a.csv"), member("b.csv")
    files.delete(store.db, scope, thrown_out.id)
    files.delete(store.db, scope, archive.id)
    assert files.list_files(store.db, scope) == []
    files.restore(store.db, scope, archive.id)
    assert [m.id for m in files.members(store.db, scope, archive.id)] == [kept.id]
    assert [m.id for m in files.members(store.db, scope, archive.id, deleted=True)] == [
        thrown_out.id
    ]


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Q3 Sales.xlsx", "q3_sales"),
        ("Übersicht – Straße.csv", "ubersicht_strasse"),
        ("2024 budget.csv", "t_2024_budget"),
        ("select.csv", "t_select"),
        ("数据.csv", "数据"),
        ("Продажи 2024.csv", "продажи_2024"),
        ("المبيعات.csv", "المبيعات"),
        ("नमस्ते.csv", "नमस्ते"),
        ("Größe.csv", "grosse"),
        (unicodedata.normalize("NFD", "Übersicht й.csv"), "ubersicht_й"),
        (unicodedata.normalize("NFD", "ガス.csv"), "ガス"),
        ("İstanbul ﬁles.csv", "istanbul_files"),
        ("🎉.csv", "file"),
        ("sales.csv.gz", "sales"),
        ("2024.zip/2023/sales.csv", "sales"),
        (".csv", "csv"),
        ("a.b.c.csv", "a_b_c"),
        ("x" * 90 + ".csv", "x" * 40),
        ('"; DROP TABLE users; --.csv', "drop_table_users"),
    ],
)
def test_slug_is_a_name_that_sql_takes_without_quotes(name: str, slug: str) -> None:
    import duckdb

    assert slug_of(name) == slug
    assert slug_of(name, {slug}) in (f"{slug}_2", f"{slug}_2023")
    duckdb.connect().execute(f"CREATE TABLE {slug} (a INTEGER)")


def test_handles_and_slugs_belong_to_a_file_for_good_once_a_question_has_gone_out(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    one, two, three = (add_file(store, scope, f"data.{ending}") for ending in ("csv", "tsv", "txt"))
    attached = chat_files.attach(store.db, scope, chat.id, [one.id, two.id, one.id])
    assert [(k.handle, k.slug) for k in attached] == [("f1", "data"), ("f2", "data_2")]
    chat_files.detach(store.db, scope, chat.id, "f2")
    assert [k.handle for k in chat_files.attach(store.db, scope, chat.id, [one.id, three.id])] == [
        "f1",
        "f2",
    ]
    question = messages.add_exchange(store.db, scope, chat.id, text("?")).question
    chat_files.detach(store.db, scope, chat.id, "f2")
    assert [k.handle for k in chat_files.list_chat_files(store.db, scope, chat.id)] == ["f1"]
    assert [k.handle for k in chat_files.attach(store.db, scope, chat.id, [two.id, three.id])] == [
        "f3",
        "f2",
    ]
    again = {k.handle: k.message_id for k in chat_files.list_chat_files(store.db, scope, chat.id)}
    assert again == {"f1": question.id, "f2": "", "f3": ""}
    with pytest.raises(NotFoundError, match=r"No file 'f9' in this chat\."):
        chat_files.detach(store.db, scope, chat.id, "f9")


# Usage


def test_usage_is_kept_once_per_step_and_summed_by_answer(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope, title="Sums")
    assert usage.total(store.db, scope).cost == 0
    for model, cost in (("small", 0.25), ("large", 2.0)):
        answer = messages.add_exchange(store.db, scope, chat.id, text("?")).answer
        for step in ("model-1", "model-2", "model-1", "model-2"):
            used(store, scope, answer, step, model=model, tokens=3_000_000_000, cost=cost)
    total = usage.total(store.db, scope)
    assert total == UsageTotal(2, 12_000_000_000, 40, 20, 4.5)
    assert [(m.id, m.total.cost) for m in usage.by_model(store.db, scope, "mine")] == [
        ("large", 4.0),
        ("small", 0.5),
    ]
    assert [(c.id, c.name, c.total) for c in usage.by_chat(store.db, scope, "mine")] == [
        (chat.id, "Sums", total)
    ]
    assert [(u.id, u.name, u.total) for u in usage.by_user(store.db, scope, "everyone")] == [
        (scope.user_id, "You", total)
    ]
    assert usage.total(store.db, scope, since=datetime.now(UTC) + timedelta(days=1)).answers == 0


def test_chats_that_are_not_seen_are_one_entry_however_dear_they_are(
    store: Store, scope: Scope
) -> None:
    colleague = joined(store, scope)
    for number in range(25):  # more, and dearer, than those that are shown
        hidden = chats.create(store.db, colleague)
        answer = messages.add_exchange(store.db, colleague, hidden.id, text("?")).answer
        used(store, colleague, answer, cost=100.0 + number)
    costs = {"a": 1.0, "b": 3.0, "c": 2.0, "gone": 50.0}
    own = {name: chats.create(store.db, scope, title=name) for name in costs}
    for name, cost in costs.items():
        answer = messages.add_exchange(store.db, scope, own[name].id, text("?")).answer
        used(store, scope, answer, cost=cost)
    chats.delete(store.db, scope, own["gone"].id)
    for since in (None, LONG_AGO):
        found = usage.by_chat(store.db, scope, "everyone", since=since, limit=3)
        assert [(one.name, one.total.cost, one.total.answers) for one in found] == [
            ("", 25 * 100.0 + sum(range(25)) + 50.0, 26),
            ("b", 3.0, 1),
            ("c", 2.0, 1),
        ]
        mine = usage.by_chat(store.db, scope, "mine", since=since)
        assert [(one.name, one.total.cost) for one in mine] == [
            ("", 50.0),
            ("b", 3.0),
            ("c", 2.0),
            ("a", 1.0),
        ]


def test_usage_of_a_model_without_a_price_counts_its_tokens_apart(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    for model, cost in (("priced", 0.5), ("local", None)):
        used(
            store,
            scope,
            messages.add_exchange(store.db, scope, chat.id, text("?")).answer,
            model=model,
            cost=cost,
        )
    total = usage.total(store.db, scope)
    assert (total.cost, total.unpriced_tokens, total.input_tokens) == (0.5, 105, 200)


def test_days_of_usage_are_those_of_the_time_zone(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    for hour in (22, 23):  # 23:00 and 24:00 in Berlin
        answer = messages.add_exchange(store.db, scope, chat.id, text("?")).answer
        used(store, scope, answer, at=datetime(2026, 11, 30, hour, tzinfo=UTC))
    days = {
        zone: [d.day for d in usage.by_day(store.db, scope, "mine", zone)]
        for zone in ("UTC", "Europe/Berlin")
    }
    assert days == {
        "UTC": [date(2026, 11, 30)],
        "Europe/Berlin": [date(2026, 11, 30), date(2026, 12, 1)],
    }


def test_usage_kept_by_an_earlier_version_is_taken_over(settings: Settings) -> None:
    store = open_store_at(settings, 6)
    try:
        scope = users.ensure_local_user(store.db)
        with store.db.transaction() as tx:
            for number, cost in ((1, 0.5), (2, 0.0)):
                tx.execute(
                    "INSERT INTO usage VALUES (:id, :w, :u, 'c', 'm', 100, 10, 5, :cost, :at)",
                    {
                        "id": f"m{number}",
                        "w": scope.workspace_id,
                        "u": scope.user_id,
                        "cost": cost,
                        "at": datetime.now(UTC),
                    },
                )
        migrate(store.db, migrations())
        assert usage.total(store.db, scope) == UsageTotal(2, 200, 20, 10, 0.5, unpriced_tokens=105)
    finally:
        store.close()


# Scopes


def test_nothing_of_another_workspace_is_found_by_any_call(store: Store, scope: Scope) -> None:
    db = store.db
    chat = chats.create(db, scope, title="secret")
    file = add_file(store, scope, "secret.csv")
    chat_files.attach(db, scope, chat.id, [file.id])
    exchange = messages.add_exchange(db, scope, chat.id, text("secret"))
    answer = exchange.answer.id
    used(store, scope, exchange.answer, cost=1.0)
    budgets.set_budget(db, scope, "members", Allowance(day_usd=1.0))
    stranger = users.ensure_user(db, "eve@example.org", "Eve")
    own_chat = chats.create(db, stranger)
    new = files.NewFile("x.csv", "text/csv", "csv", 1, "0" * 64, "upload", "", {})
    calls: list[Callable[[Scope], object]] = [
        lambda s: chats.get(db, s, chat.id),
        lambda s: chats.rename(db, s, chat.id, "mine"),
        lambda s: chats.set_model(db, s, chat.id, "m"),
        lambda s: chats.set_head(db, s, chat.id, answer),
        lambda s: chats.delete(db, s, chat.id),
        lambda s: chats.restore(db, s, chat.id),
        lambda s: purge_chat(db, s, chat.id),
        lambda s: messages.add_exchange(db, s, chat.id, text("?")),
        lambda s: messages.add_answer(db, s, exchange.question.id),
        lambda s: messages.get(db, s, answer),
        lambda s: messages.thread(db, s, chat.id),
        lambda s: messages.siblings(db, s, answer),
        lambda s: messages.branch_ids(db, s, chat.id, answer),
        lambda s: cells.add(db, s, chat.id, answer, "k", "1", ()),
        lambda s: cells.of_messages(db, s, chat.id, [answer]),
        lambda s: consents.ask(db, s, chat.id, "k", "?"),
        lambda s: consents.decide(db, s, chat.id, "k", "allowed"),
        lambda s: messages.newest_below(db, s, answer),
        lambda s: messages.finish(db, s, answer, parts=[], raw=[], usage={}, status="stopped"),
        lambda s: messages.set_feedback(db, s, answer, 1),
        lambda s: files.get(db, s, file.id, deleted=True),
        lambda s: files.rename(db, s, file.id, "mine.csv"),
        lambda s: files.add_context(db, s, file.id, "mine"),
        lambda s: files.set_outline(db, s, file.id, kind="text", media_type="", outline={}),
        lambda s: files.delete(db, s, file.id),
        lambda s: files.restore(db, s, file.id),
        lambda s: purge_file(db, s, file.id),
        lambda s: files.references(db, s, file.id),
        lambda s: chat_files.attach(db, s, chat.id, [file.id]),
        lambda s: chat_files.detach(db, s, chat.id, "f1"),
        lambda s: chat_files.list_chat_files(db, s, chat.id),
    ]
    member_only: list[Callable[[Scope], object]] = [
        lambda s: users.get_user(db, s),
        lambda s: chats.create(db, s),
        lambda s: files.add(db, s, new),
    ]
    before = snapshot(store)
    for call in calls:
        with pytest.raises(NotFoundError) as caught:
            call(stranger)
        assert "secret" not in str(caught.value)
    forged = Scope(scope.workspace_id, stranger.user_id)
    for call in calls + member_only:
        with pytest.raises(NotFoundError):
            call(forged)
    for s in (stranger, forged):
        assert [c.id for c in chats.list_chats(db, s)] == ([own_chat.id] if s is stranger else [])
        assert files.list_files(db, s) == []
        assert files.with_bytes(db, s, file.sha256) == []
        assert usage.total(db, s).answers == 0
        assert usage.total(db, s, whole=True).answers == 0
        for whose in get_args(usage.Whose):
            assert usage.by_model(db, s, whose) == []
            assert usage.by_chat(db, s, whose) == []
            assert usage.by_user(db, s, whose) == []
            assert usage.by_day(db, s, whose, "UTC") == []
        assert usage.used(db, s, day=LONG_AGO, month=LONG_AGO) == (usage.Used(0, 0, 0, 0),) * 2
        assert budgets.list_budgets(db, s) == {}
    with pytest.raises(InvalidInputError, match="Only an owner"):
        budgets.set_budget(db, forged, "members", Allowance())
    with pytest.raises(NotFoundError):
        chat_files.attach(db, stranger, own_chat.id, [file.id])
    with pytest.raises(NotFoundError):
        messages.add_exchange(db, stranger, own_chat.id, text("?"), parent_id=answer)
    with pytest.raises(NotFoundError):
        chats.set_head(db, stranger, own_chat.id, answer)
    with pytest.raises(NotFoundError):
        messages.thread(db, stranger, own_chat.id, head=answer)
    assert snapshot(store) == before


def test_a_colleague_sees_the_files_but_not_a_chat_without_taking_part(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    file = add_file(store, scope, "shared.csv")
    chat_files.attach(store.db, scope, chat.id, [file.id])
    colleague = joined(store, scope)
    assert files.get(store.db, colleague, file.id) == file
    assert files.references(store.db, colleague, file.id) == []
    assert chats.list_chats(store.db, colleague) == []
    with pytest.raises(NotFoundError):
        messages.thread(store.db, colleague, chat.id)


# Opening, migrating, failing


def test_migrations_run_once_and_in_order(settings: Settings) -> None:
    for _ in range(2):
        store = open_store(settings)
        rows = store.db.read("SELECT number FROM leaf_migrations ORDER BY number")
        assert [r["number"] for r in rows] == [m.number for m in migrations()]
        store.close()
    store = open_store(settings)
    second = Migration(9001, "more", "CREATE TABLE more (a INTEGER); INSERT INTO more VALUES (1);")
    assert migrate(store.db, [*migrations(), second]) == [9001]
    assert migrate(store.db, [*migrations(), second]) == []
    assert store.db.read("SELECT a FROM more") == [{"a": 1}]
    store.close()


def test_a_failing_migration_leaves_the_database_as_it_was(store: Store) -> None:
    good = Migration(9001, "good", "CREATE TABLE good (a INTEGER)")
    bad = Migration(9002, "bad", "CREATE TABLE users (a INTEGER)")
    with pytest.raises(StoreError):
        migrate(store.db, [*migrations(), good, bad])
    assert store.db.read("SELECT count(*) AS n FROM leaf_migrations") == [{"n": len(migrations())}]
    assert migrate(store.db, [*migrations(), good]) == [9001]


def test_a_database_of_a_newer_version_is_refused(settings: Settings) -> None:
    store = open_store(settings)
    migrate(store.db, [*migrations(), Migration(9001, "later", "CREATE TABLE later (a INTEGER)")])
    store.close()
    with pytest.raises(StoreError, match="written by a newer version of Leaf") as caught:
        open_store(settings)
    assert "Update Leaf" in caught.value.hint


def test_a_time_zone_that_only_this_machine_has_is_refused(settings: Settings) -> None:
    open_store(replace(settings, time_zone="Europe/Berlin")).close()
    with pytest.raises(SettingsError, match="LEAF_TIME_ZONE is 'Mars/Olympus'"):
        open_store(replace(settings, time_zone="Mars/Olympus"))
    open_store(settings).close()


def test_a_migration_that_was_changed_afterwards_is_refused(store: Store) -> None:
    first, *later = migrations()
    with pytest.raises(StoreError, match="0001_initial is not the one that made this database"):
        migrate(store.db, [Migration(first.number, first.name, first.sql + "\n-- edited"), *later])


def test_a_failed_transaction_leaves_nothing_and_the_next_one_works(
    store: Store, scope: Scope
) -> None:
    before = snapshot(store)
    for second, error in (("SELECT * FROM nowhere", StoreError), (":missing", KeyError)):
        with pytest.raises(error):
            run_together(store, "DELETE FROM users", second)
    assert snapshot(store) == before
    assert chats.create(store.db, scope).title == ""


def test_start_up_imports_no_database_library() -> None:
    code = """
        import sys
        import leaf.store, leaf.store.chat_files, leaf.store.messages
        print([m for m in ("duckdb", "psycopg") if m in sys.modules])
        """
    done = subprocess.run(command(code), capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_a_second_process_is_told_which_process_holds_the_data(tmp_path: Path) -> None:
    store = open_store(Settings(home=tmp_path))
    code = """
        from pathlib import Path
        from leaf.errors import StoreBusyError
        from leaf.settings import Allowance, Settings
        from leaf.store import open_store
        try:
            open_store(Settings(home=Path(HOME)))
        except StoreBusyError as e:
            print(e.pid, e)
        """
    said = python(code, HOME=str(tmp_path)).stdout
    store.close()
    assert said.startswith(
        f"{os.getpid()} The data in {tmp_path} is in use by process {os.getpid()}."
    )
    open_store(Settings(home=tmp_path)).close()


def test_a_damaged_database_is_left_alone_and_named(tmp_path: Path) -> None:
    path = tmp_path / "leaf.duckdb"
    path.write_bytes(b"not a database " * 1000)
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        open_store(Settings(home=tmp_path))
    assert str(path) in str(caught.value)
    assert "leaf.duckdb.damaged" in caught.value.hint
    assert path.read_bytes() == b"not a database " * 1000


def test_a_damaged_log_is_kept_together_with_its_database(tmp_path: Path) -> None:
    code = """
        import os
        from pathlib import Path
        from leaf.settings import Settings
        from leaf.store import chats, open_store, users
        store = open_store(Settings(home=Path(HOME)))
        chats.create(store.db, users.ensure_local_user(store.db), title="t" * 5000)
        os._exit(0)
        """
    with forked_programs.Popen(command(code, HOME=str(tmp_path)), cwd=ROOT) as process:
        process.wait(60)
    log = tmp_path / "leaf.duckdb.wal"
    changed = bytearray(log.read_bytes())
    changed[len(changed) // 2] ^= 0xFF
    log.write_bytes(changed)
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        open_store(Settings(home=tmp_path))
    assert "renaming leaf.duckdb and leaf.duckdb.wal together" in caught.value.hint
    assert log.read_bytes() == changed


def test_a_database_with_a_damaged_block_is_not_said_to_be_in_use(tmp_path: Path) -> None:
    path = tmp_path / "leaf.duckdb"
    open_store(Settings(home=tmp_path)).close()
    kept = bytearray(path.read_bytes())
    kept[8192:24576] = b"\xff" * 16384
    path.write_bytes(kept)
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        open_store(Settings(home=tmp_path))
    assert not isinstance(caught.value, StoreBusyError)
    assert "leaf.duckdb.damaged" in caught.value.hint


def test_a_database_that_was_cut_off_or_altered_is_called_damaged_once_it_is_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "leaf.duckdb"
    with closing(open_store(Settings(home=tmp_path))) as store:
        scope = users.ensure_local_user(store.db)
        for _ in range(40):
            chats.create(store.db, scope, title=os.urandom(60_000).hex())
    whole = path.read_bytes()
    altered = bytearray(whole)
    altered[16384::100_000] = bytes(255 - byte for byte in altered[16384::100_000])
    for damaged in (whole[: len(whole) * 2 // 3], bytes(altered)):
        path.write_bytes(damaged)
        with (
            pytest.raises(StoreError, match=r"is damaged|cannot be opened") as caught,
            closing(open_store(Settings(home=tmp_path))) as store,
        ):
            chats.list_chats(store.db, scope)
        assert "leaf.duckdb.damaged" in caught.value.hint
        assert "What was saved before is kept" not in caught.value.hint


def test_a_history_that_may_not_be_opened_is_not_called_damaged(tmp_path: Path) -> None:
    (tmp_path / "leaf.duckdb").mkdir()
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        open_store(Settings(home=tmp_path))
    assert "who may write there" in caught.value.hint
    assert "Error" not in str(caught.value)


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be made"):
        open_store(Settings(home=tmp_path / "file" / "home"))


@pytest.mark.parametrize(
    ("url", "error", "said"),
    [
        (
            "postgresql://ann:hunter2@127.0.0.1:1/leaf",
            StoreError,
            "The PostgreSQL database at 127.0.0.1:1/leaf cannot be reached: nothing listens there",
        ),
        (
            "postgresql:///leaf?nonsense=1&password=hunter2",
            SettingsError,
            "LEAF_DATABASE_URL is not an address",
        ),
    ],
)
def test_a_wrong_database_address_is_told_without_the_password(
    tmp_path: Path, url: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said) as caught:
        open_store(Settings(home=tmp_path, database_url=url))
    assert "hunter2" not in str(caught.value)


def test_connections_cut_by_the_server_are_replaced(postgres_url: str, tmp_path: Path) -> None:
    store = open_store(Settings(home=tmp_path, database_url=postgres_url))
    scope = users.ensure_local_user(store.db)
    cut = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
    )
    with pytest.raises(StoreAwayError, match="connection to the database was lost"):
        store.db.read(cut)
    assert users.ensure_local_user(store.db) == scope
    store.close()


@pytest.mark.postgres
def test_letters_are_made_small_in_a_database_that_was_made_without_a_locale(
    postgres_server: str, tmp_path: Path
) -> None:
    """Its own `lower` knows a to z alone."""
    url = postgres.fresh(postgres_server, "template0", "LC_COLLATE 'C' LC_CTYPE 'C'")
    with closing(open_store(Settings(home=tmp_path, database_url=url))) as store:
        db, scope = store.db, users.ensure_local_user(store.db)
        assert db.read("SELECT lower('\u00c4(') || lower('I') AS small") == [{"small": "\u00e4(i"}]
        chat = chats.create(db, scope, title="Überblick, ÄRGER")
        assert [c.id for c in chats.list_chats(db, scope, query="ärger über")] == [chat.id]
        for number, name in enumerate(("Äpfel.csv", "Zebra.csv", "ähnlich.csv", "b.csv")):
            files.add(
                db,
                scope,
                files.NewFile(name, "text/csv", "csv", 1, f"{number}" * 64, "upload", "", {}),
            )
        in_order = [file.name for file in files.list_files(db, scope, sort="name")]
        assert in_order == ["b.csv", "Zebra.csv", "ähnlich.csv", "Äpfel.csv"]  # as in DuckDB
        assert [f.name for f in files.list_files(db, scope, query="äpfel")] == ["Äpfel.csv"]
        project = projects.create(db, scope, "Öl und Gas")
        assert [p.id for p in projects.list_projects(db, scope, query="öl")] == [project.id]
        assert documents.list_documents(db, scope, query="ä") == []


@pytest.mark.postgres
@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_every_text_is_refused(
    postgres_server: str, tmp_path: Path, encoding: str
) -> None:
    made_so = f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'"
    url = postgres.fresh(postgres_server, "template0", made_so)
    with pytest.raises(SettingsError, match=f"keeps its texts as {encoding}"):
        open_store(Settings(home=tmp_path, database_url=url))


def test_a_killed_process_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    code = """
        from pathlib import Path
        from leaf.settings import Allowance, Settings
        from leaf.store import chats, messages, open_store, users
        store = open_store(Settings(home=Path(HOME)))
        scope = users.ensure_local_user(store.db)
        chat = chats.create(store.db, scope)
        while True:
            question = [{"type": "text", "text": "q" * 5000}]
            parts = [{"type": "text", "text": "a" * 50000}]
            answer = messages.add_exchange(store.db, scope, chat.id, question).answer
            messages.finish(store.db, scope, answer.id, parts=parts, raw=[], usage={}, status="completed")
            print(chat.id, answer.id, flush=True)
        """
    committed: list[tuple[str, str]] = []
    for lines in (3, 40, 7):
        with forked_programs.Popen(
            command(code, HOME=str(tmp_path)), stdout=subprocess.PIPE, text=True, cwd=ROOT
        ) as process:
            assert process.stdout is not None
            for _ in range(lines):
                chat_id, answer_id = process.stdout.readline().split()
                committed.append((chat_id, answer_id))
            process.send_signal(signal.SIGKILL)
    store = open_store(Settings(home=tmp_path))
    scope = users.ensure_local_user(store.db)
    for chat_id, answer_id in committed:
        found = messages.get(store.db, scope, answer_id)
        assert (found.chat_id, found.status, len(found.parts[0]["text"])) == (
            chat_id,
            "completed",
            50000,
        )
    halves = "SELECT count(*) AS n FROM messages WHERE role = '{}'"
    assert store.db.read(halves.format("user")) == store.db.read(halves.format("assistant"))
    store.close()


def test_a_full_disk_is_said_and_the_store_goes_on_once_there_is_space(tmp_path: Path) -> None:
    """A limit on file size stands for the disk: first too small for the log, then for a checkpoint,
    which is fatal to DuckDB."""
    code = """
        import resource, signal
        from pathlib import Path
        from leaf.errors import StoreBusyError, StoreError
        from leaf.settings import Allowance, Settings
        from leaf.store import chats, messages, open_store, users
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        store = open_store(Settings(home=Path(HOME)))
        scope = users.ensure_local_user(store.db)
        chat = chats.create(store.db, scope)
        saved, said = [], []
        import random
        for limit in (2_000_000, 17_500_000):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            try:
                for i in range(100):
                    words = random.Random(i).randbytes(400_000).hex()
                    saved.append(messages.add_exchange(store.db, scope, chat.id, [{"type": "text", "text": words}]).answer.id)
            except StoreError as e:
                said.append(str(e))
            assert len(messages.thread(store.db, scope, chat.id).messages) >= 2 * len(saved)
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            saved.append(messages.add_exchange(store.db, scope, chat.id, [{"type": "text", "text": "space again"}]).answer.id)
        store.close()
        store = open_store(Settings(home=Path(HOME)))
        found = {m.id for m in messages.thread(store.db, scope, chat.id).messages}
        print(len(said), all("is full, so this was not saved" in s for s in said), set(saved) <= found, len(saved) > 10)
        """
    assert python(code, HOME=str(tmp_path)).stdout.split() == ["2", "True", "True", "True"]


# Blobs


def test_blob_is_kept_once_read_only_and_whole(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    content = os.urandom(3 * 1024 * 1024 + 17)
    seen: list[int] = []
    kept = blobs.put("w1", io.BytesIO(content), len(content), on_progress=seen.append)
    assert kept == (hashlib.sha256(content).hexdigest(), len(content))
    assert seen == sorted(seen)
    assert seen[-1] == len(content)
    path = blobs.local("w1", kept.sha256)
    assert path == tmp_path / "blobs" / "w1" / kept.sha256[:2] / kept.sha256
    assert path.stat().st_mode & 0o777 == 0o444
    assert blobs.put("w1", io.BytesIO(content), len(content)) == kept
    assert blobs.put("w2", io.BytesIO(content), len(content)) == kept
    with blobs.open("w1", kept.sha256) as stream:
        assert stream.read() == content
    assert leftovers(tmp_path) == []
    blobs.delete("w1", kept.sha256)
    assert not blobs.exists("w1", kept.sha256)
    assert blobs.exists("w2", kept.sha256)
    with pytest.raises(NotFoundError, match="Upload the file again"):
        blobs.open("w1", kept.sha256)


def test_a_file_over_the_limit_leaves_nothing_behind(tmp_path: Path) -> None:
    limit = 3 * 1024 * 1024
    with pytest.raises(FileTooLargeError, match="larger than 3 MB"):
        Blobs(tmp_path).put("w", io.BytesIO(b"x" * (limit + 1)), limit)
    assert leftovers(tmp_path) == []


def test_a_stream_that_breaks_leaves_nothing_behind(tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise ConnectionResetError("gone")

    with pytest.raises(StoreError):
        Blobs(tmp_path).put("w", Broken(), 100)
    assert leftovers(tmp_path) == []


def test_a_full_disk_keeps_no_half_blob(tmp_path: Path) -> None:
    code = """
        import io, resource, signal
        from pathlib import Path
        from leaf.errors import StoreBusyError, StoreError
        from leaf.store.blobs import Blobs
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))
        try:
            Blobs(Path(HOME)).put("w", io.BytesIO(bytes(5_000_000)), 10_000_000)
        except StoreError as e:
            print(e)
        """
    assert "is full, so the file was not kept" in python(code, HOME=str(tmp_path)).stdout
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(
    ("workspace", "sha256"),
    [("..", "a" * 64), ("w", "../../etc/passwd"), ("a/b", "a" * 64), ("", "a" * 64)],
)
def test_no_path_leads_out_of_the_blobs(tmp_path: Path, workspace: str, sha256: str) -> None:
    with pytest.raises(NotFoundError):
        Blobs(tmp_path).local(workspace, sha256)


# Helpers


def in_threads(count: int, work: Callable[[int], T]) -> list[T]:
    """Run it that many times at once; an error of any is raised here."""
    start = threading.Barrier(count)

    def one(i: int) -> T:
        start.wait()
        return work(i)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def run_together(store: Store, *statements: str) -> None:
    with store.db.transaction() as tx:
        for statement in statements:
            tx.execute(statement)


def snapshot(store: Store) -> list[object]:
    """All rows of all tables that the tests fill."""
    members = ("users", "workspaces", "workspace_members", "identities", "invitations")
    tables = (
        *members,
        "chats",
        "chat_participants",
        "messages",
        "files",
        "chat_files",
        "usage_steps",
        "budgets",
    )
    return [sorted(map(str, store.db.read(f"SELECT * FROM {table}"))) for table in tables]


def leftovers(home: Path) -> list[Path]:
    return list(home.rglob(".incoming-*")) + [
        p for p in home.rglob("*") if p.is_file() and len(p.name) != 64
    ]


def command(code: str, **names: str) -> list[str]:
    import textwrap

    given = "".join(f"{name} = {value!r}\n" for name, value in names.items())
    return [sys.executable, "-c", given + textwrap.dedent(code)]


def python(code: str, **names: str) -> subprocess.CompletedProcess[str]:
    """Run it in a process of its own, which must succeed."""
    done = forked_programs.run(command(code, **names), capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done


# Drive


def test_what_is_kept_of_drive_is_kept_alike_on_both_databases(store: Store, scope: Scope) -> None:
    stranger = users.ensure_user(store.db, "eve@example.com", "Eve")
    for secret in ("first", "second"):
        integrations.put(store.db, scope, "google-drive", "ana@example.com", secret, {"a": [1]})
    kept = integrations.get(store.db, scope, "google-drive")
    assert kept is not None
    assert (kept.secret, kept.state) == ("second", {"a": [1]})
    integrations.set_secret(store.db, stranger, kept.id, "stolen")
    integrations.set_state(store.db, stranger, kept.id, {})
    integrations.delete(store.db, stranger, "google-drive")
    assert integrations.get(store.db, scope, "google-drive") == kept
    oauth_states.add(store.db, scope, "drive", "s", "v", timedelta(minutes=10))
    assert oauth_states.take(store.db, stranger, "drive", "s") is None
    assert [oauth_states.take(store.db, scope, "drive", "s") for _ in range(2)] == ["v", None]

    chat, file = chats.create(store.db, scope), add_file(store, scope, "a.csv")
    drive_files.keep(store.db, scope, "d1", "r1", file.id, {"name": "a"})
    folder = drive_files.AttachedFolder(
        chat.id, "d0", "d0", "Plans", "", 2, "", ["d2"], "", datetime.now(UTC)
    )
    assert drive_files.attach_folder(store.db, scope, folder).inside == ["d2"]
    drive_files.set_inside(store.db, scope, replace(folder, inside=["d2", "d3"]))
    assert [f.inside for f in drive_files.all_folders(store.db, scope)] == [["d2", "d3"]]
    changes = [
        drive_files.StoredDriveChange(i, "changed", i, "r2", "d2", datetime.now(UTC))
        for i in ("d1", "d9")
    ]
    drive_files.save_changes(store.db, scope, "", "t1", changes)
    drive_files.save_changes(store.db, scope, "", "t2", changes[:1])
    assert drive_files.tokens(store.db, scope)[""][0] == "t2"
    assert {c.drive_id for c in drive_files.changes(store.db, scope, ["d1"], ["d2"])} == {
        "d1",
        "d9",
    }
    drive_files.keep(store.db, scope, "d1", "r2", file.id, {"name": "a"})
    assert drive_files.changes(store.db, scope, ["d1"]) == []
    assert drive_files.newest(store.db, scope, ["d1"])["d1"].revision == "r2"
    assert [r.revision for r in drive_files.revisions(store.db, scope, "d1")] == ["r2", "r1"]
    assert drive_files.known(store.db, stranger, ["d1"]) == {}
    drive_files.send_folders(store.db, scope, chat.id, "m1", ["d0"])
    assert [f.message_id for f in drive_files.folders(store.db, scope, chat.id)] == ["m1"]
    drive_files.forget(store.db, scope)
    assert drive_files.tokens(store.db, scope) == {}
    chats.delete(store.db, scope, chat.id)
    purge_chat(store.db, scope, chat.id)
    assert drive_files.all_folders(store.db, scope) == []


# Python


def test_cells_stand_in_the_order_of_their_answers_and_go_with_their_chat(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    first = messages.add_exchange(store.db, scope, chat.id, text("a")).answer
    second = messages.add_exchange(store.db, scope, chat.id, text("b")).answer
    for answer, key, code in (
        (second, "2a", "c"),
        (first, "1a", "a"),
        (first, "1b", "b"),
        (first, "1a", "again"),
    ):
        cells.add(store.db, scope, chat.id, answer.id, f"{answer.id}/{key}", code, ["f1"])
    kept = cells.of_messages(store.db, scope, chat.id, [first.id, second.id])
    assert [(c.code, c.files) for c in kept] == [("a", ("f1",)), ("b", ("f1",)), ("c", ("f1",))]
    for _ in range(2):
        cells.adopt(store.db, first.id, "new")
    assert [c.key for c in cells.of_messages(store.db, scope, chat.id, ["new"])] == [
        "new/1a",
        "new/1b",
    ]
    stranger = Scope(scope.workspace_id, "nobody")
    with pytest.raises(NotFoundError):
        cells.of_messages(store.db, stranger, chat.id, [first.id])
    purge_chat(store.db, scope, chat.id)
    assert store.db.read("SELECT key FROM cells") == []


def test_the_first_answer_to_a_question_of_a_step_holds(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    for _ in range(2):
        consents.ask(store.db, scope, chat.id, "k", "Install it?")
    assert consents.decision(store.db, scope, chat.id, "k") == ""
    assert consents.decide(store.db, scope, chat.id, "k", "refused") == "refused"
    assert consents.decide(store.db, scope, chat.id, "k", "allowed") == "refused"
    consents.ask(store.db, scope, chat.id, "k", "Install it?")
    assert consents.decision(store.db, scope, chat.id, "k") == "refused"
    with pytest.raises(NotFoundError):
        consents.decide(store.db, scope, chat.id, "other", "allowed")
    purge_chat(store.db, scope, chat.id)
    assert store.db.read("SELECT key FROM consents") == []

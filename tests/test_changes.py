"""Changes announce themselves: over real DuckDB and PostgreSQL, in one process and between two."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import psycopg
import pytest

from leaf.errors import InvalidInputError, NotFoundError
from leaf.settings import Settings
from leaf.store import (
    Store,
    chats,
    files,
    jobs,
    listener,
    members,
    messages,
    open_store,
    usage,
    users,
)
from leaf.store.changes import ALL, EVERYWHERE, RUNS, TOPICS, Change, Hub, topics_of
from leaf.store.listener import Listener
from leaf.store.model import Scope
from tests import forked_programs
from tests.leaf_kit import opened

ROOT = Path(__file__).resolve().parents[1]
SOON = 5.0
"""Seconds in which what is told must have arrived on a busy machine; nothing is measured by it."""


@pytest.fixture
def other(store: Store) -> Scope:
    """Somebody in another workspace."""
    return users.ensure_user(store.db, "other@example.org", "Other")


def told(store: Store, scope: Scope, since: int) -> set[str]:
    """The topics of which a workspace was told after a position."""
    return {topic for topic in ALL if store.db.changes.newest(scope.workspace_id, [topic]) > since}


def write_and_fail(store: Store, scope: Scope) -> None:
    with store.db.transaction(scope) as tx:
        tx.execute("UPDATE workspaces SET name = 'Gone' WHERE id = :id", {"id": scope.workspace_id})
        raise InvalidInputError("No.")


# What is told


def test_a_rename_is_told_in_its_own_workspace_only(
    store: Store, scope: Scope, other: Scope
) -> None:
    before = store.db.changes.position
    members.rename(store.db, scope, "Harvest")
    assert told(store, scope, before) == {"team"}
    assert told(store, other, before) == set()


def test_a_transaction_that_is_rolled_back_tells_nothing(store: Store, scope: Scope) -> None:
    before = store.db.changes.position
    with pytest.raises(InvalidInputError):
        write_and_fail(store, scope)
    with pytest.raises(NotFoundError):
        chats.rename(store.db, scope, "no such chat", "Name")
    assert store.db.changes.position == before


def test_what_only_holds_a_row_or_beats_is_no_change(store: Store, scope: Scope) -> None:
    assert topics_of("UPDATE workspaces SET name = name WHERE id = :id") == frozenset()
    assert topics_of("UPDATE documents AS d SET title = d.title WHERE d.id = :id") == frozenset()
    assert topics_of("UPDATE messages SET status = 'streaming' WHERE id = :id") == frozenset()
    assert topics_of("UPDATE chats SET title = :title WHERE id = :id") == {"chats"}
    assert topics_of("UPDATE chats SET model = '' WHERE id = :id") == {"chats"}
    assert topics_of("UPDATE jobs SET state = 'working' WHERE id = :id") == {"jobs"}
    assert topics_of("UPDATE jobs SET total = (SELECT 1) WHERE id = :id") == {"jobs"}
    job = jobs.begin(store.db, scope, "files", "arriving", 2, {}, "here")
    before = store.db.changes.position
    jobs.append(store.db, scope, job.id, [("a.csv", {}, "")])
    assert store.db.changes.position == before
    for write in (
        lambda: jobs.set_outcome(store.db, job.id, {"listed": True}),
        lambda: jobs.end(store.db, job.id, "stopped"),
    ):
        before = store.db.changes.position
        write()
        assert told(store, scope, before) == {"jobs"}


def test_an_answer_and_what_it_used_are_told_under_their_topics(
    store: Store, scope: Scope, other: Scope
) -> None:
    chat = chats.create(store.db, scope)
    answer = messages.add_exchange(store.db, scope, chat.id, [{"type": "text", "text": "?"}]).answer
    before = store.db.changes.position
    usage.unscoped_record(
        store.db,
        scope,
        answer.id,
        "1",
        chat_id=chat.id,
        model="m",
        input_tokens=1,
        cached_tokens=0,
        output_tokens=1,
        cost=0.1,
    )
    assert told(store, scope, before) == {"usage"}
    messages.finish(store.db, scope, answer.id, parts=[], raw=[], usage={}, status="completed")
    assert told(store, scope, before) == {"usage", "messages", "chats"}
    assert told(store, other, before) == set()


def test_a_question_that_is_stopped_before_it_is_begun_is_told(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    answer = messages.add_exchange(store.db, scope, chat.id, [{"type": "text", "text": "?"}]).answer
    before = store.db.changes.position
    assert messages.stop_pending(store.db, scope, answer.id)
    assert told(store, scope, before) == {"messages"}


def test_a_job_whose_files_are_all_there_or_that_goes_on_is_told(
    store: Store, scope: Scope
) -> None:
    job = jobs.begin(store.db, scope, "files", "arriving", 0, {}, "here")
    before = store.db.changes.position
    jobs.all_there(store.db, scope, job.id)
    assert told(store, scope, before) == {"jobs"}
    jobs.end(store.db, job.id, "stopped")
    before = store.db.changes.position
    assert jobs.go_on(store.db, scope, job.id, "here")
    assert told(store, scope, before) == {"jobs"}


def test_answers_that_are_ended_for_somebody_are_told_to_whoever_writes_them(
    store: Store, scope: Scope, other: Scope
) -> None:
    before = store.db.changes.position
    with store.db.transaction(scope) as tx:
        messages.stop_unfinished(tx, scope, scope.user_id)
    assert store.db.changes.newest(scope.workspace_id, [RUNS]) > before
    assert store.db.changes.newest(other.workspace_id, [RUNS]) <= before


def test_every_table_has_a_topic_or_is_known_to_be_shown_by_none(store: Store) -> None:
    rows = store.db.read(
        "SELECT table_name FROM information_schema.tables WHERE table_schema IN ('main', 'public')"
    )
    elsewhere = {"blobs", "blob_pieces"} if store.db.engine == "duckdb" else set()
    there = {str(row["table_name"]) for row in rows} - {"leaf_migrations"}
    assert there == set(TOPICS) - elsewhere


def test_no_write_of_the_store_forgets_to_say_whose_it_is() -> None:
    """Without a scope a transaction names the workspaces itself, or writes what no page shows."""
    silent = {"ensure_user", "mark", "adopt", "remember_workspace"}
    silent |= {"unscoped_refused", "unscoped_sweep"}  # of the audit log, which no page waits for
    silent.add("unscoped_hand_on")  # by which name a process holds a job, which no page shows
    silent.add("unscoped_open")  # a public link: no stranger wakes a member's pages
    silent.add("_keep_signatures")  # made of messages, and shown by no page
    forgotten = []
    for path in sorted((ROOT / "leaf" / "store").glob("*.py")):
        for function in re.split(r"\n(?=(?:    )?def )", path.read_text()):
            name = re.match(r"\s*def (\w+)", function)
            if (
                name
                and "with db.transaction()" in function
                and "oncerns(" not in function
                and name[1] not in silent
            ):
                forgotten.append(f"{path.name}: {name[1]}")
    assert forgotten == []


# Who hears it


def test_a_thread_waits_for_its_own_workspace_without_asking() -> None:
    hub, woken = Hub(), threading.Event()
    since = hub.position
    thread = threading.Thread(
        target=lambda: hub.wait("mine", since, 60.0, ["files"]) and woken.set()
    )
    thread.start()
    hub.publish([Change("theirs", "files")])
    hub.publish([Change("mine", "usage")])
    assert not woken.wait(0.2)
    hub.publish([Change("mine", "files")])
    assert woken.wait(SOON)
    thread.join()
    assert not hub.wait("mine", hub.position, 0.0)


def test_what_was_told_before_a_process_could_listen_is_looked_for(postgres_url: str) -> None:
    refused: list[str] = []

    def connect() -> psycopg.Connection[Any]:
        if not refused:
            refused.append("once")
            raise psycopg.OperationalError("too many clients")
        return psycopg.connect(postgres_url, autocommit=True)

    hub = Hub()
    listener = Listener(hub, connect, lambda *_: None)
    listener.start()
    try:
        assert hub.wait(EVERYWHERE, 0, 20, [RUNS])
    finally:
        listener.close()


def test_where_something_may_have_been_missed_everybody_looks() -> None:
    hub = Hub()
    since = hub.position
    hub.publish_everything()
    assert all(hub.newest("mine", [topic]) > since for topic in (*ALL, RUNS))


def test_what_another_process_tells_reaches_all_who_listen() -> None:
    hub = Hub()
    first: list[str] = []
    second: list[str] = []
    hub.hear(first.append)
    hub.hear(second.append)
    assert hub.position == 0
    hub.told("m1 w 0 1 []")
    assert first == second == ["m1 w 0 1 []"]
    assert hub.position == 0  # it is no change of the store


def test_an_upload_and_every_other_write_of_the_facade_are_told(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as leaf:
        scope = leaf.local_scope()
        session = leaf.session(scope)
        before = leaf.changes.position
        file = session.files.add("sales.csv", BytesIO(b"a,b\n1,2\n")).file
        assert leaf.changes.newest(scope.workspace_id, ["files"]) > before
        before = leaf.changes.position
        session.files.rename(file.id, "more.csv")
        assert leaf.changes.newest(scope.workspace_id, ["files"]) > before
        assert session.newest_change() > before


# Between processes


WRITER = """
import sys
from pathlib import Path
from leaf.settings import Settings
from leaf.store import members, open_store
from leaf.store.model import Scope
store = open_store(Settings(home=Path(sys.argv[1]), database_url=sys.argv[2]))
members.rename(store.db, Scope(sys.argv[3], sys.argv[4]), sys.argv[5])
store.close()
"""


@pytest.fixture
def shared(postgres_url: str, tmp_path: Path) -> Iterator[Store]:
    """A store on PostgreSQL that listens."""
    store = open_store(Settings(home=tmp_path / "one", database_url=postgres_url))
    store.db.listen()
    wait_for(lambda: listening(postgres_url) == 1)
    yield store
    store.close()


def listening(url: str, ended: bool = False) -> int:
    """How many connections listen; with `ended`, cut them."""
    what = "pg_terminate_backend(pid)" if ended else "1"
    with psycopg.connect(url, autocommit=True) as connection:
        return len(
            connection.execute(
                f"SELECT {what} FROM pg_stat_activity WHERE query LIKE 'LISTEN %'"
            ).fetchall()
        )


def wait_for(is_so: object) -> None:
    deadline = time.monotonic() + 30
    while not is_so():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.02)


def test_another_process_is_heard_within_a_second_and_in_its_workspace_only(
    shared: Store, postgres_url: str, tmp_path: Path
) -> None:
    scope, other = (
        users.ensure_local_user(shared.db),
        users.ensure_user(shared.db, "other@example.org", "Other"),
    )
    before = shared.db.changes.position
    heard: list[float] = []
    shared.db.changes.listen(lambda _: heard.append(time.time()))
    arguments = [
        str(tmp_path / "two"),
        postgres_url,
        scope.workspace_id,
        scope.user_id,
        "Elsewhere",
    ]
    forked_programs.run([sys.executable, "-c", WRITER, *arguments], check=True, cwd=ROOT)
    assert shared.db.changes.wait(scope.workspace_id, before, SOON, ["team"])
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute(
            "SELECT name FROM workspaces WHERE id = %s", [scope.workspace_id]
        ).fetchone() == ("Elsewhere",)
    assert told(shared, scope, before) == {"team"}
    assert told(shared, other, before) == set()
    assert len(heard) == 1


def test_two_stores_hear_each_other_at_once_and_themselves_once(
    shared: Store, postgres_url: str, tmp_path: Path
) -> None:
    scope = users.ensure_local_user(shared.db)
    with listens_too(postgres_url, tmp_path / "two") as second:
        counts = {"first": 0, "second": 0}
        for name, store in (("first", shared), ("second", second)):
            store.db.changes.listen(lambda _, name=name: counts.__setitem__(name, counts[name] + 1))
        at = second.db.changes.position
        began = time.monotonic()
        members.rename(shared.db, scope, "Both")
        assert second.db.changes.wait(scope.workspace_id, at, SOON)
        assert time.monotonic() - began < 1.0
        at = shared.db.changes.position
        members.rename(second.db, scope, "Back")
        assert shared.db.changes.wait(scope.workspace_id, at, SOON)
        wait_for(lambda: counts == {"first": 2, "second": 2})


def test_a_listener_that_was_cut_comes_back_and_has_everybody_look(
    shared: Store, postgres_url: str, tmp_path: Path
) -> None:
    scope = users.ensure_local_user(shared.db)
    before = shared.db.changes.position
    assert listening(postgres_url, ended=True) == 1
    assert shared.db.changes.wait(
        scope.workspace_id, before, SOON
    )  # what was missed is not known, so all look
    wait_for(lambda: listening(postgres_url) == 1)
    with listens_too(postgres_url, tmp_path / "two") as second:
        before = shared.db.changes.position
        members.rename(second.db, scope, "After the cut")
        assert shared.db.changes.wait(scope.workspace_id, before, SOON)
        assert told(shared, scope, before) == {"team"}


def test_a_listener_that_hears_nothing_makes_sure_and_does_not_trust_silence(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(listener, "ECHO_SECONDS", 0.5)
    with listens_too(postgres_url, tmp_path / "home") as store:
        scope, before = users.ensure_local_user(store.db), store.db.changes.position
        assert not store.db.changes.wait(scope.workspace_id, before, 1.5), (
            "its own notice comes back, so nothing was missed"
        )
        monkeypatch.setattr(
            listener, "NOTIFY", "SELECT 1 WHERE %(channel)s = '' AND %(lines)s IS NULL"
        )
        assert store.db.changes.wait(scope.workspace_id, before, SOON)


def test_a_rolled_back_transaction_is_not_heard_elsewhere(
    shared: Store, postgres_url: str, tmp_path: Path
) -> None:
    scope = users.ensure_local_user(shared.db)
    with listens_too(postgres_url, tmp_path / "two") as second:
        before = shared.db.changes.position
        with pytest.raises(InvalidInputError):
            write_and_fail(second, scope)
        files.add(
            second.db,
            scope,
            files.NewFile("a.csv", "text/csv", "csv", 1, "0" * 64, "upload", "", {}),
        )
        assert shared.db.changes.wait(scope.workspace_id, before, SOON)
        assert told(shared, scope, before) == {"files"}


@contextmanager
def listens_too(url: str, home: Path) -> Iterator[Store]:
    store = open_store(Settings(home=home, database_url=url))
    try:
        here = listening(url)
        store.db.listen()
        wait_for(lambda: listening(url) == here + 1)
        yield store
    finally:
        store.close()

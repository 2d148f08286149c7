"""Deleting for good: a word that was planted everywhere is nowhere afterwards, in no file of the
data folder, in no column of a database and in no object of a bucket."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
import pytest

from leaf.app import Leaf
from leaf.errors import (
    InvalidInputError,
    LeafError,
    NotFoundError,
    StoreAwayError,
    StoreError,
)
from leaf.sessions.session import Session
from leaf.settings.storage import Storage
from leaf.store import removal, rows
from leaf.store.changes import TOPICS
from leaf.store.duckdb import DuckDatabase
from leaf.store.model import Message, Scope
from leaf.tables import lasting
from tests.leaf_kit import CLAIMS, add, finished, opened
from tests.messages_server import MessagesServer, Turn

MARK = "Quetzalcoatlus"
"""Short enough that no compression of a page would split it, and nobody else's word."""
CSV = f"region,note,revenue\nNorth,{MARK} one,100\nSouth,{MARK} two,250.5\n".encode()
CODE = f"""
import matplotlib.pyplot as plt
{MARK.lower()} = 1
plt.plot([1, 2, 3])
plt.title("{MARK}")
plt.show()
open("{MARK}.txt", "w").write("{MARK} was written")
print("{MARK} printed")
"""
TURNS = [
    Turn.call(
        ("query_tables", {"sql": f"SELECT region, note FROM sales WHERE note LIKE '{MARK}%'"}),
        text=f"{MARK}, first.",
    ),
    Turn.call(("run_python", {"code": CODE})),
    Turn.call(("search_files", {"query": f"{MARK} paper"})),
    Turn.call(("create_document", {"title": f"{MARK} report", "content": f"# {MARK}\n\nAll."})),
    Turn.say(f"There are two rows of {MARK}."),
]


@dataclass
class Planted:
    """A Leaf in which the word stands in everything of one chat and its files."""

    leaf: Leaf
    session: Session
    home: Path
    kept: dict[str, Any]
    chat_id: str
    answer: Message
    files: list[str]

    def found(self) -> list[str]:
        """Where the word is. DuckDB's file is read after it was closed as well: see `places`."""
        return places(self.home, self.kept)


@contextmanager
def planted(home: Path, kept: dict[str, Any]) -> Iterator[Planted]:
    """`kept` are the settings of where history and files last."""
    with (
        MessagesServer(TURNS) as server,
        opened(home, model_url=server.url, api_key="k", public_links=True, **kept) as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        session.chats.rename(chat.id, f"About {MARK}")
        sales = add(session, "sales.csv", CSV)
        session.files.set_words(sales.id, f"{MARK} said so", chat_id=chat.id)
        job = session.jobs.begin(1, context=f"{MARK} of a job", target=chat.id, origin="test")
        paper = f"{MARK} paper\n\nThe {MARK} is described here.\n".encode()
        session.jobs.take(job.id, [(f"{MARK} paper.txt", BytesIO(paper))])
        session.jobs.all_arrived(job.id)
        assert session.jobs.wait(job.id, 60).state == "done"
        (text,) = [f for f in session.files.list() if f.name.endswith("paper.txt")]
        project = session.projects.create(f"{MARK} project")
        session.projects.instruct(project.id, f"Always say {MARK}.")
        session.projects.add_files(project.id, [sales.id])
        session.projects.move(chat.id, project.id)
        asked = session.messages.send(chat.id, f"What of {MARK}?", [sales.id, text.id])
        answer = finished(session, asked.id)
        assert answer.status == "completed", answer.error
        session.files.preview(sales.id)
        call = next(p for p in answer.parts if p["type"] == "tool-query_tables")
        step = session.edits.run(
            answer.id, str(call.get("toolCallId")), f"SELECT '{MARK} edited' AS note FROM sales"
        )
        assert session.edits.wait(step.id, 60).state == "done"
        pinned, _, _ = session.boards.pin(chat.id, "r1")
        session.boards.rename_pin(pinned.id, f"{MARK} pinned")
        shown = [session.links.share_chat(chat.id), session.links.share_board(pinned.board_id)]
        for link in shown:
            assert MARK.encode() in (leaf.shared_page(link.token) or b"")
        leaf._house.tables.settle()
        yield Planted(leaf, session, home, kept, chat.id, answer, [sales.id, text.id])


def places(home: Path, kept: dict[str, Any]) -> list[str]:
    """Every file of a folder with the word in its bytes or its name, every column of a database with
    it, as it is and in lower case, and every object of a bucket."""
    found = []
    for path in (p for p in home.rglob("*") if p.is_file()):
        content = path.read_bytes().lower() + str(path.relative_to(home)).encode().lower()
        if MARK.lower().encode() in content:
            found.append(str(path.relative_to(home)))
        if path.suffix == ".sqlite":
            found += [f"{path.name}: {column}" for column in _sqlite_columns(path)]
    if url := kept.get("database_url"):
        found += _postgres_columns(url)
    if "storage" in kept:
        found += _objects(kept["storage"])
    return found


def _objects(storage: Storage) -> list[str]:
    from leaf.store.objects.bucket import BucketObjects

    bucket = BucketObjects(storage)
    found = {e.key: b"".join(bucket.pieces(e.key)).lower() for e in bucket.entries()}
    return [f"bucket: {key.place}" for key, held in found.items() if MARK.lower().encode() in held]


def objects(kept: dict[str, Any]) -> int:
    """How many there are, with the word or without."""
    from leaf.store.objects.bucket import BucketObjects

    return len(list(BucketObjects(kept["storage"]).entries()))


def _sqlite_columns(path: Path) -> list[str]:
    found = []
    with closing(sqlite3.connect(path)) as db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            for row in db.execute(f'SELECT * FROM "{table}"'):
                if MARK.lower() in repr(row).lower():
                    found.append(table)
    return found


def _postgres_columns(url: str) -> list[str]:
    import psycopg

    with psycopg.connect(url) as db:
        tables = db.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        return [
            f"{schema}.{table}"
            for schema, table in tables
            if db.execute(
                f'SELECT 1 FROM "{schema}"."{table}" t WHERE t::text ILIKE %s LIMIT 1',
                [f"%{MARK}%"],
            ).fetchone()
        ]


def rows_with_the_word(leaf: Leaf) -> list[str]:
    """The tables with the word in any column, as Leaf itself reads them."""
    with leaf._house.store.db.transaction() as tx:
        there = rows.schema(tx)
        return [
            table
            for table in sorted(TOPICS)
            if table in there and MARK.lower() in repr(tx.read(f"SELECT * FROM {table}")).lower()
        ]


def test_nothing_is_left_of_a_chat_and_its_files(
    tmp_path: Path, kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lasting, "LEAST_SAVED", -1_000.0)  # tables are in the store, however small
    with planted(tmp_path, kept) as it:
        before = rows_with_the_word(it.leaf)
        planted_in = {"chats", "messages", "files", "cells", "documents", "results", "made_files"}
        planted_in |= {
            "projects",
            "edited_steps",
            "board_pins",
            "file_contexts",
            "jobs",
            "job_items",
        }
        assert planted_in <= set(before)
        found = " ".join(it.found())
        expected = (
            ("cache", "tables", "search") if kept else ("blobs", "runs.sqlite", "leaf.duckdb")
        )
        for kind in (*expected, *(["bucket"] if "storage" in kept else [])):
            assert kind in found, found
        if kept:
            tables = "SELECT count(*) AS n FROM converted_tables"
            assert it.leaf._house.store.db.read(tables)[0]["n"] > 0
            assert "dbos.streams" in found
            assert "dbos.operation_outputs" in found
        it.session.chats.delete(it.chat_id)
        assert it.session.chats.purge(it.chat_id)
        assert all(it.session.files.purge(file_id) for file_id in it.files)
        assert rows_with_the_word(it.leaf) == ["projects"]
        assert all(it.session.projects.delete(one.id) for one in it.session.projects.list())
        assert rows_with_the_word(it.leaf) == []
        assert it.found() == []
        there = [p for n in ("blobs", "tables", "packages") for p in (tmp_path / n).rglob("*")]
        assert [p for p in there if p.is_file()] == []  # pictures, too, which hold no word
        assert "storage" not in kept or not objects(kept)
        with pytest.raises(NotFoundError):
            it.session.chats.get(it.chat_id)
        assert not list((tmp_path / "removing").iterdir())
    assert places(tmp_path, kept) == []


def test_a_file_alone_leaves_what_chats_said_of_it_and_nothing_else(tmp_path: Path) -> None:
    with planted(tmp_path, {}) as it:
        scope = it.session.scope
        outside = it.session.tools.run(
            "query_tables", {"sql": "SELECT * FROM sales"}, file_ids=it.files[:1]
        )
        assert MARK in outside.text
        for file_id in it.files:
            it.session.files.purge(file_id)
        assert set(rows_with_the_word(it.leaf)) <= {
            *("chats", "messages", "cells", "documents", "document_versions", "files", "results"),
            *("made_files", "chat_files", "jobs", "file_contexts", "edited_steps", "board_pins"),
            "projects",
        }
        house = it.leaf._house
        assert not list((tmp_path / "tables" / scope.workspace_id).rglob("*.parquet"))
        index = tmp_path / "search" / f"{scope.workspace_id}.sqlite"
        assert MARK.lower().encode() not in index.read_bytes().lower()
        assert [row.source for row in house.library.list(scope)] == ["generated"]
        assert it.session.results.page(it.chat_id, "r1").rows
        assert it.session.chats.thread(it.chat_id).messages


def test_what_others_rest_on_stays(tmp_path: Path) -> None:
    with planted(tmp_path, {}) as it:
        session = it.session
        other = session.chats.create()
        again = add(session, "again.csv", CSV)
        session.attached.add(other.id, [again.id])
        session.tools.run("query_tables", {"sql": "SELECT * FROM again"}, chat_id=other.id)
        written = session.documents.list()[0]
        session.chats.purge(it.chat_id)
        session.files.purge(it.files[0])
        assert session.files.path(again.id).read_bytes() == CSV
        assert session.results.page(other.id, "r1").rows[0][0] == "North"
        assert session.files.preview(again.id).tables
        with pytest.raises(NotFoundError):
            session.documents.get(written.id)


def test_bytes_that_come_again_while_their_file_is_deleted_for_good_stay(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        old = add(session, "orders.csv", CSV)
        looked_at, may_end = threading.Event(), threading.Event()
        arrivals = leaf._house.library._arrivals
        look = arrivals._look

        def waits(*arguments: Any, **more: Any) -> Any:
            looked_at.set()
            may_end.wait(60)
            return look(*arguments, **more)

        arrivals._look = waits  # type: ignore[method-assign]
        job = session.jobs.announce([("orders again.csv", len(CSV)), ("other.csv", 8)])
        for position, content in enumerate((b"a,b\n1,2\n", CSV)):
            session.jobs.expect(job.id, position)
            session.jobs.receive(job.id, position, BytesIO(content))
            assert looked_at.wait(60)
        session.files.purge(old.id)
        may_end.set()
        ended = session.jobs.wait(job.id, 60)
        assert (ended.state, ended.done, ended.failed) == ("done", 2, 0)
        (again,) = [file for file in session.files.list() if file.size == len(CSV)]
        assert session.files.path(again.id).read_bytes() == CSV


@pytest.mark.parametrize("what", ["workspace", "account"])
def test_nothing_is_left_of_a_workspace_or_an_account(
    tmp_path: Path, kept: dict[str, Any], what: str
) -> None:
    with planted(tmp_path, kept) as it:
        workspace_id = it.session.scope.workspace_id
        bob = signed_in(it.leaf, "Bob")
        keeps = add(it.leaf.session(bob), "bobs.csv", b"a,b\n1,2\n")
        if what == "workspace":
            assert it.leaf.purge_workspace(workspace_id)
        else:
            assert it.leaf.purge_account("local")
        assert rows_with_the_word(it.leaf) == []
        assert it.found() == []
        assert workspace_id not in {w.id for w in it.leaf.workspaces()}
        left = [p for p in tmp_path.rglob("*") if p.is_file() and workspace_id in str(p)]
        assert left == []
        assert it.leaf.session(bob).files.path(keeps.id).exists()
        assert "storage" not in kept or objects(kept) == 1
    assert places(tmp_path, kept) == []


def signed_in(leaf: Leaf, name: str) -> Scope:
    mail = f"{name.split()[0].lower()}@example.org"
    claims = {**CLAIMS, "sub": name, "name": name, "email": mail, "nonce": os.urandom(8).hex()}
    return leaf.sign_in(claims).scope


def test_an_account_leaves_the_workspaces_of_others_and_takes_its_own_chats(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        ann = signed_in(leaf, "Ann Example")
        leaf.session(ann).team.invite("bob@example.org")
        bob = Scope(ann.workspace_id, signed_in(leaf, f"Bob {MARK}").user_id)
        own, joint = leaf.session(bob).chats.create(), leaf.session(ann).chats.create()
        leaf.session(bob).chats.rename(own.id, f"{MARK} alone")
        leaf.session(ann).chats.add_participant(joint.id, "bob@example.org")
        with pytest.raises(InvalidInputError, match="only owner"):
            leaf.purge_account("ann@example.org")
        assert leaf.purge_account("bob@example.org")
        assert rows_with_the_word(leaf) == []
        assert [a.email for a in leaf.accounts()] == ["ann@example.org"]
        assert [p.email for p in leaf.session(ann).chats.participants(joint.id)] == [
            "ann@example.org"
        ]
        with pytest.raises(NotFoundError, match=r"nobody@example\.org"):
            leaf.purge_account("nobody@example.org")


def test_an_account_takes_its_chats_along_from_a_workspace_that_it_was_removed_from(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as leaf:
        ann, bob = removed_from_the_team(leaf)
        leaf.purge_account("bob@example.org")
        assert rows_with_the_word(leaf) == []
        assert [a.email for a in leaf.accounts()] == ["ann@example.org"]
        assert len(leaf.session(ann).chats.list()) == 1
        assert bob.user_id not in str(leaf.session(ann).chats.list())


def test_chats_of_an_account_that_an_earlier_version_left_behind_go_at_the_next_start(
    tmp_path: Path, kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StoreError("The database takes nothing.", "Wait.")

    with opened(tmp_path, **kept) as leaf:
        ann, bob = removed_from_the_team(leaf)
        with leaf._house.store.db.transaction() as tx:
            tx.concerns([ann.workspace_id])
            for table in ("chat_participants", "workspace_members", "identities"):
                tx.execute(f"DELETE FROM {table} WHERE user_id = :user", {"user": bob.user_id})
            tx.execute("DELETE FROM users WHERE id = :user", {"user": bob.user_id})
    with opened(tmp_path, **kept) as leaf:
        with monkeypatch.context() as failing:
            failing.setattr(removal, "remove_chat", refuse)
            leaf.launch()  # a database that takes nothing does not keep Leaf from starting
        leaf._house.remover.finish()
        assert rows_with_the_word(leaf) == []
        assert len(leaf.session(ann).chats.list()) == 1


def removed_from_the_team(leaf: Leaf) -> tuple[Scope, Scope]:
    """Ann with a chat of her own, and Bob in her workspace, whom she removed after he had written in
    one that was his alone."""
    ann = signed_in(leaf, "Ann Example")
    leaf.session(ann).chats.create()
    leaf.session(ann).team.invite("bob@example.org")
    bob = Scope(ann.workspace_id, signed_in(leaf, f"Bob {MARK}").user_id)
    own = leaf.session(bob).chats.create()
    leaf.session(bob).chats.rename(own.id, f"{MARK} alone")
    leaf.session(ann).team.remove(bob.user_id)
    return ann, bob


def test_who_may_not_delete_a_file_for_good_is_told_who_may(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        ann = signed_in(leaf, "Ann Example")
        leaf.session(ann).team.invite("bob@example.org")
        bob = Scope(ann.workspace_id, signed_in(leaf, "Bob Example").user_id)
        anns, bobs = (
            add(leaf.session(who), f"{who.user_id}.csv", f"a\n{who.user_id}\n".encode()).id
            for who in (ann, bob)
        )
        with pytest.raises(InvalidInputError, match="added by somebody else"):
            leaf.session(bob).files.purge(anns)
        leaf.session(bob).files.purge(bobs)
        leaf.session(ann).files.purge(anns)
        assert leaf.session(ann).files.list() == []


def test_a_killed_removal_is_finished_by_the_next_start(tmp_path: Path) -> None:
    """What a process leaves that dies once the rows are gone: the note, and all the bytes."""
    with planted(tmp_path, {}) as it:
        remover = it.leaf._house.remover
        remover._carry_out = lambda *_, **__: False  # type: ignore[method-assign]
        it.session.chats.purge(it.chat_id)
        for file_id in it.files:
            it.session.files.purge(file_id)
        for project in it.session.projects.list():
            it.session.projects.delete(project.id)
        assert it.found() != []
    notes = [path.read_text() for path in (tmp_path / "removing").iterdir()]
    assert len(notes) == 4
    assert not any(MARK in note for note in notes)
    with opened(tmp_path) as leaf:
        leaf.launch()
    assert places(tmp_path, {}) == []


def test_a_deletion_that_is_not_known_to_be_kept_is_finished_once_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line to the database broke while it committed."""
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        file = add(session, "sales.csv", CSV)
        assert session.files.preview(file.id).tables
        db, path = leaf._house.store.db, session.files.path(file.id)
        begin = db.transaction

        @contextmanager
        def lost(scope: Scope | None = None) -> Iterator[Any]:
            with begin(scope) as tx:
                yield tx
            raise StoreAwayError("The connection to the database was lost.")

        with monkeypatch.context() as patch:
            patch.setattr(db, "transaction", lost)
            with pytest.raises(StoreAwayError):
                session.files.purge(file.id)
        leaf._house.remover.finish()
        assert not path.exists()
        assert not list((tmp_path / "tables").rglob("*.parquet"))
        assert not list((tmp_path / "removing").iterdir())


def test_a_note_whose_transaction_never_ended_removes_nothing(tmp_path: Path) -> None:
    with planted(tmp_path, {}) as it:
        store, scope = it.leaf._house.store, it.session.scope
        before = {p for p in tmp_path.rglob("*") if p.is_file() and "blobs" in p.parts}
        hashes = tuple(f.sha256 for f in it.session.files.list())
        noted = [
            removal.Gone(scope.workspace_id, (it.chat_id,), (it.answer.id,), hashes),
            removal.Gone(scope.workspace_id, hashes=hashes, whole=True),
        ]
        folder = tmp_path / "removing"
        folder.mkdir()
        (folder / "x.json").write_text(json.dumps([one.to_json() for one in noted]))
        it.leaf._house.remover.finish()
        assert not list(folder.iterdir())
        assert {p for p in tmp_path.rglob("*") if p.is_file() and "blobs" in p.parts} == before
        assert it.leaf._house.runs.steps(it.answer.id)
        assert list((tmp_path / "tables").rglob("*.parquet"))
        assert store.db.read("SELECT count(*) AS n FROM chats") == [{"n": 1}]


def test_every_table_that_names_its_workspace_is_emptied_with_it(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        rows = leaf._house.store.db.read(
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE column_name IN ('workspace_id', 'chat_id', 'user_id')"
        )
    columns: dict[str, set[str]] = {}
    for row in rows:
        columns.setdefault(str(row["table_name"]), set()).add(str(row["column_name"]))
    with_chat = {t for t, c in columns.items() if c & {"workspace_id", "chat_id"}}
    of_chats = {"messages", "chat_files", "chat_participants", "file_contexts", "chats"}
    of_chats |= {"told_instructions", "chat_signatures"}
    of_users = {"logins"}  # which remember the workspace that was open last
    assert with_chat - of_users == {*removal.WORKSPACE_TABLES, *of_chats}


# The file of DuckDB


def test_a_database_is_the_same_after_it_was_rewritten(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        session.chats.rename(session.chats.create().id, "Stays")
        db = leaf._house.store.db
        told = "SELECT sql FROM duckdb_tables() UNION ALL SELECT sql FROM duckdb_indexes()"
        before = db.read(f"SELECT * FROM ({told}) ORDER BY 1"), db.read("SELECT * FROM chats")
        db.scrub()
        assert before == (
            db.read(f"SELECT * FROM ({told}) ORDER BY 1"),
            db.read("SELECT * FROM chats"),
        )
        session.chats.create()
    with opened(tmp_path) as leaf:
        assert len(leaf.session(leaf.local_scope()).chats.list()) == 2
    assert {p.name for p in tmp_path.glob("leaf.duckdb*")} == {"leaf.duckdb"}


def test_readers_and_writers_go_on_while_the_file_is_exchanged(tmp_path: Path) -> None:
    db = DuckDatabase(tmp_path / "x.duckdb")
    with db.transaction() as tx:
        tx.execute("CREATE TABLE t (n INTEGER PRIMARY KEY)")
    over, failed, read = threading.Event(), [], [0]

    def look() -> None:
        while not over.is_set():
            try:
                rows = db.read("SELECT count(*) AS n, max(n) AS top FROM t")
                if rows[0]["n"]:
                    assert rows[0]["n"] == rows[0]["top"] + 1
                read[0] += 1
            except (LeafError, duckdb.Error, AssertionError) as e:
                failed.append(e)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(60):
        with db.transaction() as tx:
            tx.execute("INSERT INTO t VALUES (:n)", {"n": number})
        if number % 6 == 0:
            db.scrub()
    over.set()
    for thread in threads:
        thread.join()
    assert failed == []
    assert read[0]
    assert db.read("SELECT count(*) AS n FROM t") == [{"n": 60}]
    db.close()


def asked_together(leaf: Leaf, server: MessagesServer) -> tuple[Session, Scope, str, list[str]]:
    """Ann's session, Bob, their chat, and two answers for Bob: one is written, and one waits."""
    ann = leaf.session(signed_in(leaf, "Ann Example"))
    ann.team.invite("bob@example.org")
    bob = Scope(ann.scope.workspace_id, signed_in(leaf, "Bob Example").user_id)
    chat = ann.chats.create()
    ann.chats.add_participant(chat.id, "bob@example.org")
    asked = [leaf.session(bob).messages.send(chat.id, "And?").id for _ in range(2)]
    for _ in range(600):
        if server.requests and ann.messages.get(asked[0]).status == "streaming":
            break
        time.sleep(0.05)
    return ann, bob, chat.id, asked


def slowly_first(body: dict[str, Any]) -> Turn:
    if "Now I" in json.dumps(body["messages"][-1]):
        return Turn.say("It goes on.")
    return Turn.say("word " * 60, pieces=120, delay=0.1)


def test_a_chat_goes_on_after_somebody_who_asked_in_it_was_purged(tmp_path: Path) -> None:
    with (
        MessagesServer(slowly_first) as server,
        opened(tmp_path, model_url=server.url, api_key="k") as leaf,
    ):
        ann, _, chat_id, asked = asked_together(leaf, server)
        leaf.purge_account("bob@example.org")
        assert [ann.messages.get(one).status for one in asked] == ["stopped", "stopped"]
        assert finished(ann, ann.messages.send(chat_id, "Now I").id).status == "completed"


def test_a_question_of_somebody_who_was_taken_out_waits_no_more(tmp_path: Path) -> None:
    with (
        MessagesServer(slowly_first) as server,
        opened(tmp_path, model_url=server.url, api_key="k") as leaf,
    ):
        ann, bob, chat_id, _ = asked_together(leaf, server)
        ahead = ann.messages.send(chat_id, "And mine?")
        waits = leaf.session(bob).messages.send(chat_id, "And then?")
        board = leaf._house.runs.board
        assert [board.place(one.id) is None for one in (ahead, waits)] == [False, False]
        ann.chats.remove_participant(chat_id, bob.user_id)
        assert board.place(waits.id) is None


def test_a_chat_that_was_blocked_by_a_purged_account_goes_on_at_the_next_start(
    tmp_path: Path,
) -> None:
    """As earlier versions left it: the account is gone, and its answers wait."""
    with MessagesServer(slowly_first) as server:
        with opened(tmp_path, model_url=server.url, api_key="k") as leaf:
            ann, bob, chat_id, asked = asked_together(leaf, server)
        with closing(duckdb.connect(str(tmp_path / "leaf.duckdb"))) as db:
            for table in ("chat_participants", "workspace_members"):
                db.execute(f"DELETE FROM {table} WHERE user_id = ?", [bob.user_id])
            db.execute("DELETE FROM users WHERE id = ?", [bob.user_id])
        with opened(tmp_path, model_url=server.url, api_key="k") as leaf:
            ann = leaf.session(ann.scope)
            answer = ann.messages.send(chat_id, "Now I")
            assert finished(ann, answer.id).status == "completed"
            assert [ann.messages.get(one).status for one in asked] == ["stopped", "stopped"]

"""What people write about files: who reads it, who finds it, and what of it a model gets; on both
databases."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest

from leaf.errors import NotFoundError
from leaf.files.line import attached_lines
from leaf.settings import Settings
from leaf.store import (
    Store,
    chat_files,
    chats,
    file_contexts,
    files,
    messages,
    participants,
    users,
)
from leaf.store.migrate import migrate, migrations
from leaf.store.model import ChatFile, File, Scope
from tests.leaf_kit import SALES, opened
from tests.removal_kit import purge_file
from tests.test_members import join, sign_in
from tests.test_store import add_file, open_store_at, text

SECRET = "redundancies in Leeds"


@pytest.fixture
def ann(store: Store) -> Scope:
    return sign_in(store).scope


@pytest.fixture
def bob(store: Store, ann: Scope) -> Scope:
    return join(store, ann, "Bob")


def read_by(store: Store, scope: Scope, file: File) -> str:
    """What somebody reads about a file, by whatever call; the search must agree."""
    said = files.get(store.db, scope, file.id).upload_context
    [listed] = [f for f in files.list_files(store.db, scope) if f.id == file.id]
    assert listed.upload_context == said
    found = {f.id for f in files.list_files(store.db, scope, query="redundancies")}
    assert (file.id in found) == ("redundancies" in said)
    return said


def in_chat(store: Store, scope: Scope, chat_id: str) -> list[str]:
    return [c.file.upload_context for c in chat_files.list_chat_files(store.db, scope, chat_id)]


def test_words_about_a_file_are_the_writers_alone_until_they_are_shared(
    store: Store, ann: Scope, bob: Scope
) -> None:
    file = add_file(store, ann, "staff.csv", context=SECRET)
    assert read_by(store, ann, file) == SECRET
    assert read_by(store, bob, file) == ""
    assert file_contexts.own(store.db, bob, file.id) == ("", False)
    files.set_context(store.db, ann, file.id, SECRET, shared=True)
    assert read_by(store, bob, file) == SECRET
    files.set_context(store.db, ann, file.id, SECRET)
    assert read_by(store, bob, file) == ""
    files.set_context(store.db, ann, file.id, " ")
    assert read_by(store, ann, file) == ""


def test_words_written_in_a_chat_are_for_those_who_take_part_in_it(
    store: Store, ann: Scope, bob: Scope
) -> None:
    chat, others = chats.create(store.db, ann), chats.create(store.db, bob)
    file = add_file(store, ann, "staff.csv")
    for scope, place in ((ann, chat), (bob, others)):
        chat_files.attach(store.db, scope, place.id, [file.id])
    files.set_context(store.db, ann, file.id, SECRET, chat_id=chat.id)
    assert (read_by(store, ann, file), read_by(store, bob, file)) == (SECRET, "")
    assert (in_chat(store, ann, chat.id), in_chat(store, bob, others.id)) == ([SECRET], [""])
    participants.add(store.db, ann, chat.id, "bob@example.org")
    assert read_by(store, bob, file) == SECRET
    assert in_chat(store, bob, chat.id) == [SECRET]
    participants.remove(store.db, ann, chat.id, bob.user_id)
    assert read_by(store, bob, file) == ""
    with pytest.raises(NotFoundError):
        files.set_context(store.db, bob, file.id, "mine", chat_id=chat.id)


def test_a_chat_with_others_gets_no_words_of_ones_own_from_elsewhere(
    store: Store, ann: Scope, bob: Scope
) -> None:
    chat = chats.create(store.db, ann)
    file = add_file(store, ann, "staff.csv", context=SECRET)
    [attached] = chat_files.attach(store.db, ann, chat.id, [file.id])
    assert (attached.file.upload_context, in_chat(store, ann, chat.id)) == (SECRET, [SECRET])
    participants.add(store.db, ann, chat.id, "bob@example.org")
    [attached] = chat_files.attach(store.db, ann, chat.id, [file.id])
    assert (
        attached.file.upload_context,
        in_chat(store, ann, chat.id),
        in_chat(store, bob, chat.id),
    ) == ("", [""], [""])


def test_each_writes_their_own_words_and_none_changes_anothers(
    store: Store, ann: Scope, bob: Scope
) -> None:
    file = add_file(store, ann, "staff.csv", context=SECRET)
    files.add_context(store.db, bob, file.id, "Bob's copy")
    files.add_context(store.db, bob, file.id, "of May")
    assert (read_by(store, ann, file), read_by(store, bob, file)) == (SECRET, "Bob's copy\nof May")
    files.set_context(store.db, bob, file.id, "Checked", shared=True)
    assert read_by(store, ann, file) == f"{SECRET}\nChecked"
    files.delete(store.db, ann, file.id)
    purge_file(store.db, ann, file.id)
    assert store.db.read("SELECT count(*) AS n FROM file_contexts") == [{"n": 0}]


def test_questions_that_an_earlier_version_kept_with_files_are_nobodys_words_any_more(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store_at(settings, 8)
    monkeypatch.setattr("leaf.store.audit.add", lambda *_: None)  # there was no audit log then
    try:
        ann = sign_in(store).scope
        bob, alone = join(store, ann, "Bob"), users.ensure_local_user(store.db)
        chat = chats.create(store.db, ann)
        messages.add_exchange(store.db, ann, chat.id, text("Who leaves? Redundancies in LEEDS"))
        old = {
            "question": (ann, "upload", "Who leaves? Redundancies in LEEDS"),
            "note": (ann, "upload", "Redundancies, final"),
            "several": (ann, "upload", "From Ann\nredundancies asked for by Bob"),
            "sample": (ann, "sample", "Sample data"),
            "alone": (alone, "upload", "One line\nand redundancies"),
        }
        with store.db.transaction() as tx:
            for name, (scope, source, words) in old.items():
                tx.execute(
                    "INSERT INTO files (id, workspace_id, user_id, name, media_type, kind, size, "
                    "sha256, source, upload_context, "
                    "outline, created_at) VALUES (:id, :w, :u, :id, 'text/csv', 'csv', 1, :id, "
                    ":source, :words, '{}', :at)",
                    {
                        "id": name,
                        "w": scope.workspace_id,
                        "u": scope.user_id,
                        "source": source,
                        "words": words,
                        "at": datetime.now(UTC),
                    },
                )
        migrate(store.db, migrations())
        assert {f.name: f.upload_context for f in files.list_files(store.db, ann)} == {
            "question": "",
            "note": "Redundancies, final",
            "several": "",
            "sample": "Sample data",
        }
        assert {f.upload_context for f in files.list_files(store.db, bob)} == {"", "Sample data"}
        assert files.list_files(store.db, bob, query="redundancies") == []
        assert files.get(store.db, alone, "alone").upload_context == "One line\nand redundancies"
    finally:
        store.close()


def test_neither_commands_nor_tools_tell_a_colleague_what_stands_in_a_private_chat(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as leaf:
        ann = sign_in(leaf._house.store).scope
        bob = join(leaf._house.store, ann, "Bob")
        file = leaf.session(ann).files.add("staff.csv", BytesIO(SALES), context=SECRET).file
        private = leaf.session(ann).chats.create()
        leaf.session(ann).attached.add(private.id, [file.id])
        leaf.session(ann).messages.send(private.id, f"What of the {SECRET}?")
        theirs = leaf.session(bob).chats.create()
        told = [
            leaf.session(bob).tools.run("list_files", {}).text,
            leaf.session(bob).tools.run("list_files", {}, file_ids=[file.id]).text,
        ]
        told.append(
            leaf.session(bob)
            .tools.run("list_files", {}, chat_id=theirs.id, file_ids=[file.id])
            .text
        )
        told.append(
            str(
                leaf.session(bob)
                .tools.run("search_files", {"query": "redundancies"}, file_ids=[file.id])
                .to_json()
            )
        )
        told += [str(f) for f in leaf.session(bob).files.list()]
        assert leaf.session(bob).files.list(query="Leeds") == []
        assert not any("Leeds" in one or "redundancies in" in one for one in told)
        assert SECRET in leaf.session(ann).tools.run("list_files", {}, file_ids=[file.id]).text
        with pytest.raises(NotFoundError):
            leaf.session(bob).tools.run("list_files", {}, chat_id=private.id)


def chat_file(number: int, words: str) -> ChatFile:
    outline = {"rows": 5_000, "columns": 8}
    row = (
        "u",
        f"report_{number}.csv",
        "text/csv",
        "csv",
        10_000,
        f"s{number}",
        "upload",
        words,
        outline,
        datetime.now(UTC),
    )
    return ChatFile("c", f"f{number}", f"report_{number}", File(f"id{number}", "w", *row))


def test_words_that_many_files_share_are_said_once(tmp_path: Path) -> None:
    words = (
        "Monthly returns of the branches, as sent by the regional offices; amounts are in "
        "thousands of euros, not audited. " * 4
    )
    many = [chat_file(n, words) for n in range(1, 133)]
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        ids = [
            session.files.add(f"r{n}.csv", BytesIO(SALES + b"%d" % n), context=words).file.id
            for n in range(4)
        ]
        listed = session.tools.run("list_files", {}, file_ids=ids).text
    assert listed.count("About f") == 1
    assert "About f1, f2, f3, f4: Monthly returns" in listed
    assert len(attached_lines(many)) < 150
    assert attached_lines(many[:20]).count("[Attached: ") == 20

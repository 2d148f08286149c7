"""Backups of a Leaf that runs, and what comes back of them: rows and bytes, all of them, or
nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from leaf.errors import InvalidInputError, LeafError, StoreError
from leaf.keeping import archive
from leaf.keeping.backup import BYTES, MADE_AGAIN, OF_NOW
from leaf.keeping.restore import restore
from leaf.sessions.session import Session
from leaf.settings import Settings
from leaf.store import leftovers, rows
from leaf.store.blob_names import unscoped_named
from leaf.store.changes import TOPICS
from leaf.store.database import now
from leaf.store.migrate import migrations
from leaf.store.prompts import PromptDraft
from tests.leaf_kit import SALES, add, finished, opened, text_of
from tests.test_cli import Cli, new_cli  # noqa: F401 - a fixture

SECRET = "refresh-token-of-ann"


def filled(leaf: Leaf) -> None:
    """A chat with an answer, files, a result, a document, a connection, awkward texts."""
    session = leaf.session(leaf.local_scope())
    sales, notes = (
        add(session, "sales.csv", SALES),
        add(session, "Größe 'x'.txt", "ß\t€\n".encode()),
    )
    chat = session.chats.create()
    session.chats.rename(chat.id, "Quote \"' \\ ; -- :name %s ☃")
    asked = session.messages.send(chat.id, "total revenue by region", [sales.id, notes.id])
    assert "400" in text_of(finished(session, asked.id))
    with leaf._house.store.db.transaction() as tx:
        given = {"w": session.scope.workspace_id, "u": session.scope.user_id, "at": now()}
        tx.execute(
            "INSERT INTO integrations (id, workspace_id, user_id, provider, account, secret, state, "
            f"created_at, updated_at) VALUES ('i', :w, :u, 'google', 'ann', '{SECRET}', "
            """'{"b": 1,  "a": [1.50, null]}', :at, :at)""",
            given,
        )


def all_rows(leaf: Leaf, without: tuple[str, ...] = ()) -> dict[str, list[str]]:
    with leaf._house.store.db.snapshot() as snapshot:
        tables = rows.schema(snapshot)
        return {
            table: sorted(line.decode() for line in rows.lines(snapshot, tables, table))
            for table in TOPICS
            if table not in (*without, *BYTES, *OF_NOW, *MADE_AGAIN)
        }


def assert_same(there: dict[str, list[str]], before: dict[str, list[str]]) -> None:
    """All rows, and one line more in the audit log."""
    log = set(there["audit"]) - set(before["audit"])
    assert ["backup restored" in line for line in log] == [True]
    assert {**there, "audit": before["audit"]} == before
    assert set(before["audit"]) <= set(there["audit"])


def all_bytes(leaf: Leaf) -> dict[str, str]:
    """Every blob that rows name and a backup takes, wherever it stands, and the hash of what is in
    it."""
    store = leaf._house.store
    made = {str(row["sha256"]) for row in store.db.read("SELECT sha256 FROM converted_tables")}
    found = {}
    for key in unscoped_named(store.db):
        if key.sha256 in made:
            continue
        with store.blobs.open(key.workspace_id, key.sha256) as stream:
            found[key.place] = hashlib.sha256(stream.read()).hexdigest()
    return found


@pytest.mark.parametrize("form", ["folder", "saved.zip"])
def test_everything_comes_back(kept: dict[str, Any], tmp_path: Path, form: str) -> None:
    target = tmp_path / form
    with opened(tmp_path / "home", **kept) as leaf:
        filled(leaf)
        before, made = all_rows(leaf), leaf.backup(target, secrets=True)
        assert made.rows == sum(len(lines) - 1 for lines in before.values())
        taken = all_bytes(leaf)
        assert (made.blobs, made.missing) == (len(taken), 0)
    empty = Settings(home=tmp_path / "other")
    back = restore(empty, target)
    assert (back.rows, back.blobs, back.missing) == (made.rows, made.blobs, 0)
    with opened(empty.home) as leaf:
        assert_same(all_rows(leaf), before)
        assert all_bytes(leaf) == taken
        session = leaf.session(leaf.local_scope())
        (chat,) = session.chats.list()
        again = finished(session, session.messages.send(chat.id, "average revenue by month").id)
        assert again.status == "completed"
        assert session.results.page(chat.id, "r1").rows


def test_what_one_database_saved_the_other_takes(tmp_path: Path, kept: dict[str, Any]) -> None:
    """Into DuckDB as into PostgreSQL, and its bytes into a bucket."""
    with opened(tmp_path / "home") as leaf:
        filled(leaf)
        before, taken = all_rows(leaf), all_bytes(leaf)
        leaf.backup(tmp_path / "saved", secrets=True)
    restore(Settings(home=tmp_path / "other", **kept), tmp_path / "saved")
    with opened(tmp_path / "other", **kept) as leaf:
        assert_same(all_rows(leaf), before)
        assert all_bytes(leaf) == taken


def test_no_secret_is_in_a_backup_unless_asked_for(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with opened(home) as leaf:
        filled(leaf)
        (home / "secret.key").write_text("the key")
        before = all_rows(leaf)
        leaf.backup(tmp_path / "plain")
        leaf.backup(tmp_path / "whole", secrets=True)

    def said(folder: str) -> bytes:
        return b"".join(p.read_bytes() for p in (tmp_path / folder).rglob("*") if p.is_file())

    assert SECRET.encode() in said("whole")
    assert b"the key" in said("whole")
    assert SECRET.encode() not in said("plain")
    assert b"the key" not in said("plain")
    empty = Settings(home=tmp_path / "other")
    assert not restore(empty, tmp_path / "plain").secrets
    with opened(empty.home) as leaf:
        without = ("integrations", "oauth_states", "drive_tokens")
        assert_same(all_rows(leaf, without), {t: r for t, r in before.items() if t not in without})
        assert len(all_rows(leaf)["integrations"]) == 1


def test_no_rows_come_back_where_the_key_that_they_need_does_not(tmp_path: Path) -> None:
    home, other = tmp_path / "home", Settings(home=tmp_path / "other")
    with opened(home) as leaf:
        filled(leaf)
        (home / "secret.key").write_text("the key")
        leaf.backup(tmp_path / "whole", secrets=True)
    (other.home / "secret.key").mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot be written: Is a directory"):
        restore(other, tmp_path / "whole")
    (other.home / "secret.key").rmdir()
    assert restore(other, tmp_path / "whole").secrets, "nothing was restored before"
    assert (other.home / "secret.key").read_text() == "the key"
    assert (other.home / "secret.key").stat().st_mode & 0o777 == 0o600


def test_the_rows_are_those_of_one_moment(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        over = threading.Event()

        def write() -> None:
            while not over.is_set():
                session.chats.rename(session.chats.create().id, "x")

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(5):
                leaf.backup(tmp_path / f"saved{number}")
        finally:
            over.set()
            writer.join()
    for number in range(5):
        folder = tmp_path / f"saved{number}" / "rows"
        chats, people = (
            [json.loads(line)[0] for line in (folder / f"{t}.jsonl").read_text().splitlines()[1:]]
            for t in ("chats", "chat_participants")
        )
        assert sorted(chats) == sorted(people)


def saved(tmp_path: Path, form: str = "saved") -> Path:
    with opened(tmp_path / "home") as leaf:
        filled(leaf)
        leaf.backup(tmp_path / form)
    return tmp_path / form


def spoil_blob(folder: Path) -> None:
    path = next(p for p in (folder / "blobs").rglob("*") if p.is_file())
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-1] + b"!")


def spoil_rows(folder: Path) -> None:
    path = folder / "rows" / "chats.jsonl"
    path.write_text(path.read_text().replace("Quote", "Quota"))


def spoil_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")


def lose_blob(folder: Path) -> None:
    next(p for p in (folder / "blobs").rglob("*") if p.is_file()).unlink()


def change(**values: Any) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / "manifest.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **values}))

    return spoil


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (spoil_blob, "damaged: blobs/"),
        (lose_blob, "cannot be read"),
        (spoil_rows, "damaged: rows/chats.jsonl is not what it was"),
        (spoil_manifest, "its manifest cannot be read"),
        (change(format=2), "newer version"),
        (change(schema=9_999), "newer version"),
        (change(blobs=99), "parts of it are missing"),
        (change(parts={"../x": {"sha256": "", "size": 0}}), "a part is called"),
        (lambda folder: (folder / "manifest.json").unlink(), "not a backup of Leaf"),
        (shutil.rmtree, "There is no backup"),
    ],
)
def test_a_bad_backup_is_refused_and_nothing_is_changed(
    tmp_path: Path, spoil: Callable[[Path], None], said: str
) -> None:
    folder = saved(tmp_path)
    spoil(folder)
    empty = Settings(home=tmp_path / "other")
    with pytest.raises(LeafError, match=said) as caught:
        restore(empty, folder)
    assert not empty.home.exists()
    assert "Error" not in str(caught.value)


def test_half_a_zip_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, "saved.zip")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidInputError, match="no whole ZIP"):
        restore(Settings(home=tmp_path / "other"), path)


def spoil_text(whole: bytearray, at: zipfile.ZipInfo) -> None:
    """The first bits of what was compressed say what cannot be."""
    extra = int.from_bytes(whole[at.header_offset + 28 : at.header_offset + 30], "little")
    whole[at.header_offset + 30 + len(at.filename) + extra] = 0xFF


def spoil_method(whole: bytearray, at: zipfile.ZipInfo) -> None:
    """As if it were packed in a way that nobody knows."""
    whole[entry_of(whole, at) + 10] = 77


def spoil_flags(whole: bytearray, at: zipfile.ZipInfo) -> None:
    """As if it had a password."""
    whole[entry_of(whole, at) + 8] |= 1


def entry_of(whole: bytearray, at: zipfile.ZipInfo) -> int:
    """Where the list at the end of the ZIP has it."""
    return whole.rindex(at.filename.encode()) - 46


@pytest.mark.parametrize("name", ["manifest.json", "rows/messages.jsonl"])
@pytest.mark.parametrize("spoil", [spoil_text, spoil_method, spoil_flags])
def test_a_zip_with_some_bits_changed_is_called_damaged(
    tmp_path: Path, spoil: Callable[[bytearray, zipfile.ZipInfo], None], name: str
) -> None:
    path = saved(tmp_path, "saved.zip")
    whole = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as found:
        spoil(whole, found.getinfo(name))
    path.write_bytes(whole)
    empty = Settings(home=tmp_path / "other")
    with pytest.raises(InvalidInputError, match="damaged"):
        restore(empty, path)
    assert not empty.home.exists()


def test_a_place_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    folder = saved(tmp_path)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError, match="cannot be made"):
        restore(Settings(home=tmp_path / "file"), folder)


def test_only_an_empty_place_is_restored_into_unless_told(tmp_path: Path) -> None:
    folder = saved(tmp_path)
    other = Settings(home=tmp_path / "other")
    with opened(other.home) as leaf:
        session = leaf.session(leaf.local_scope())
        session.chats.rename(session.chats.create().id, "Already here")
    with pytest.raises(InvalidInputError, match="nothing was restored"):
        restore(other, folder)
    with opened(other.home) as leaf:
        assert [c.title for c in leaf.session(leaf.local_scope()).chats.list()] == ["Already here"]
    restore(other, folder, replace=True)
    with opened(other.home) as leaf:
        assert ["Quote" in c.title for c in leaf.session(leaf.local_scope()).chats.list()] == [True]
    assert b"Already here" not in (other.home / "leaf.duckdb").read_bytes()


@pytest.mark.parametrize(
    "keep",
    [
        lambda session: session.prompts.save(PromptDraft("Monday", "What changed since Monday?")),
        lambda session: session.projects.create("Budget of 2027"),
        lambda session: session.boards.create("Sales"),
        lambda session: session.team.invite("bob@example.org"),
    ],
    ids=["prompt", "project", "board", "invitation"],
)
def test_what_is_kept_without_a_chat_is_not_taken_for_nothing(
    tmp_path: Path, keep: Callable[[Session], object]
) -> None:
    folder = saved(tmp_path)
    other = Settings(home=tmp_path / "other")
    with opened(other.home) as leaf:
        keep(leaf.session(leaf.local_scope()))
    with pytest.raises(InvalidInputError, match="nothing was restored"):
        restore(other, folder)


def test_an_app_that_was_only_looked_at_counts_as_empty(tmp_path: Path) -> None:
    folder = saved(tmp_path)
    other = Settings(home=tmp_path / "other")
    with opened(other.home) as leaf:
        at = now().timestamp()
        claims = {"iss": "https://login", "sub": "1", "email": "ann@example.org", "exp": at + 999}
        leaf.sign_in({"is_logged_in": True, "name": "Ann", **claims})
        leaf.session(leaf.local_scope()).usage.report()
    assert restore(other, folder).rows > 0


@pytest.mark.parametrize("place", ["the same", "another"])
def test_what_was_replaced_leaves_no_byte_beside_the_rows(
    kept: dict[str, Any], tmp_path: Path, place: str
) -> None:
    """Neither where nothing of it is in the backup, nor where the chat itself comes back."""
    saved_home = tmp_path / ("home" if place == "the same" else "first")
    with opened(saved_home, **(kept if place == "the same" else {})) as leaf:
        told(leaf, "Blackbird")
        leaf.backup(tmp_path / "saved")
    with opened(tmp_path / "home", **kept) as leaf:
        told(leaf, "Woodpecker", new_chat=place == "another")
    assert {Path(name).parts[0] for name in on_disk(tmp_path / "home", "Woodpecker")} > {"tables"}
    restore(replace(Settings(home=tmp_path / "home"), **kept), tmp_path / "saved", replace=True)
    with opened(tmp_path / "home", **kept) as leaf:
        leaf.launch()
        store, session = leaf._house.store, leaf.session(leaf.local_scope())
        assert on_disk(tmp_path / "home", "Woodpecker") == []
        assert {e.key for e in store.blobs.place.entries()} == {*unscoped_named(store.db)}
        (chat,) = session.chats.list()
        assert session.results.page(chat.id, "r1").rows == [["Blackbird", 400]]
        told(leaf, "Blackbird", new_chat=False)


def told(leaf: Leaf, word: str, *, new_chat: bool = True) -> None:
    """A question about a file with this word, in a new chat or the one that is there."""
    session = leaf.session(leaf.local_scope())
    chat = session.chats.create() if new_chat else session.chats.list()[0]
    file = add(session, f"{word}.csv", f"bird,revenue\n{word},100\n{word},300\n".encode())
    finished(session, session.messages.send(chat.id, "total revenue by bird", [file.id]).id)


def on_disk(home: Path, word: str) -> list[str]:
    """Files of the data folder with these bytes, Parquet's included."""
    return sorted(
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file() and word.encode() in path.read_bytes()
    )


def test_a_backup_of_an_earlier_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    """As one of version 15 would be: without the tables that came later."""
    folder = saved(tmp_path)
    path = folder / "manifest.json"
    given = json.loads(path.read_text())
    later = {"results", "result_numbers", "usage_days", "usage_chats", "usage_zone", "audit"}
    later |= {
        "edited_steps",
        "boards",
        "board_pins",
        "shared_links",
        "shared_link_chats",
        "open_chats",
        "prompts",
        "projects",
        "project_members",
        "project_chats",
        "project_files",
        "told_instructions",
        "preferences",
        "installation",
        "transcripts",
        "chat_packages",
        "consents",
        "made_files",
    }  # the last two have a column more since
    given["schema"] = 15
    given["rows"] = {t: n for t, n in given["rows"].items() if t not in later}
    path.write_text(json.dumps(given))
    other = Settings(home=tmp_path / "other")
    restore(other, folder)
    with opened(other.home) as leaf:
        session = leaf.session(leaf.local_scope())
        assert len(session.chats.list()) == 1
        applied = leaf._house.store.db.read("SELECT max(number) AS n FROM leaf_migrations")
        assert applied == [{"n": max(m.number for m in migrations())}]


def test_a_failed_backup_leaves_nothing_and_a_name_is_never_taken_over(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as leaf:
        filled(leaf)
        (tmp_path / "there").mkdir()
        with pytest.raises(InvalidInputError, match="is there already"):
            leaf.backup(tmp_path / "there")
        with pytest.raises(InvalidInputError, match="no folder"):
            leaf.backup(tmp_path / "nowhere" / "x")
        before = sorted(tmp_path.iterdir())
        for name in ("x", "x.zip"):
            with pytest.raises(StoreError, match="is full"):
                fill_the_disk(tmp_path / name)
            assert sorted(tmp_path.iterdir()) == before


def test_what_a_killed_backup_left_goes_with_the_next_one_there(tmp_path: Path) -> None:
    long_ago = time.time() - 2 * leftovers.DAY
    names = (".a.zip.0123abcd.unfinished", ".b.0123abce.unfinished", ".c.0123abcf.unfinished")
    old, folder, busy, own = (tmp_path / name for name in (*names, ".mine.unfinished"))
    for path in (folder / "blobs", busy / "blobs"):
        path.mkdir(parents=True)
    for path in (old, own, folder / "blobs" / "x", busy / "blobs" / "x"):
        path.write_bytes(b"x")
    for path in tmp_path.rglob("*"):
        os.utime(path, (long_ago, long_ago))
    os.utime(busy / "blobs" / "x")  # which is being written, however long that takes
    with archive.making(tmp_path / "new.zip") as writer:
        writer.add("part", [b"x"])
    assert {path.name for path in tmp_path.iterdir()} == {busy.name, own.name, "new.zip"}


def fill_the_disk(target: Path) -> None:
    with archive.making(target) as it:
        it.add("rows/a.jsonl", [b"half"])
        raise OSError(28, "No space left on device")


def test_lost_and_damaged_files_are_counted_and_the_rest_is_saved(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with opened(home) as leaf:
        filled(leaf)
        session = leaf.session(leaf.local_scope())
        first, second = sorted(session.files.list(), key=lambda f: f.size)
        store = leaf._house.store
        store.blobs.local(session.scope.workspace_id, first.sha256).unlink()
        made = leaf.backup(tmp_path / "saved.zip")
    assert made.missing == 1
    with zipfile.ZipFile(tmp_path / "saved.zip") as found:
        assert json.loads(found.read("manifest.json"))["missing"][0][1] == first.sha256
    back = restore(replace(Settings(), home=tmp_path / "other"), tmp_path / "saved.zip")
    assert back.missing == 1
    with opened(tmp_path / "other") as leaf:
        assert leaf.session(leaf.local_scope()).files.path(second.id).read_bytes() == SALES


def test_a_file_that_its_disk_does_not_give_any_more_is_counted_and_the_rest_is_saved(
    tmp_path: Path,
) -> None:
    with opened(tmp_path / "home") as leaf:
        filled(leaf)
        session = leaf.session(leaf.local_scope())
        first = min(session.files.list(), key=lambda f: f.size)
        path = leaf._house.store.blobs.local(session.scope.workspace_id, first.sha256)
        path.unlink()
        path.symlink_to("/proc/self/mem")  # gives EIO, as a disk that dies
        with pytest.raises(OSError, match="Input/output error"):
            path.read_bytes()
        made = leaf.backup(tmp_path / "saved")
    assert made.missing == 1
    back = restore(Settings(home=tmp_path / "other"), tmp_path / "saved")
    assert (back.missing, back.blobs) == (1, made.blobs)


def test_pieces_of_transcripts_that_go_meanwhile_spoil_no_backup(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as leaf:
        folder = tmp_path / "home" / "transcripts" / "w"
        over = threading.Event()

        def transcribe() -> None:
            while not over.is_set():
                for number in range(30):
                    piece = folder / f"{number % 3}" / f"{number}.json"
                    piece.parent.mkdir(parents=True, exist_ok=True)
                    piece.write_text("x")
                shutil.rmtree(folder)

        transcriber = threading.Thread(target=transcribe)
        transcriber.start()
        try:
            for number in range(25):
                leaf.backup(tmp_path / f"saved{number}")
        finally:
            over.set()
            transcriber.join()


def test_the_commands_save_delete_and_restore(
    new_cli: Callable[..., Cli],  # noqa: F811
    tmp_path: Path,
) -> None:
    cli = new_cli()
    (tmp_path / "sales.csv").write_bytes(SALES)
    assert cli("ask", "total revenue by region", "-f", str(tmp_path / "sales.csv")).returncode == 0
    made = cli("backup", str(tmp_path / "saved.zip"))
    assert made.returncode == 0, made.stderr
    assert "Without connections" in made.stdout
    chat = json.loads(cli("chats", "list", "--json").stdout)[0]["id"]
    assert "--yes" in cli("chats", "purge", chat).stderr
    assert "deleted for good" in cli("chats", "purge", chat, "--yes").stdout
    assert json.loads(cli("chats", "list", "--json").stdout) == []
    file = json.loads(cli("files", "list", "--json").stdout)[0]["id"]
    assert "deleted for good" in cli("files", "purge", file, "--yes").stdout
    assert "local" in cli("users", "list").stdout
    assert "Workspace" in cli("workspaces", "list").stdout
    other = Cli(tmp_path / "other")
    assert "as of" in other("restore", str(tmp_path / "saved.zip")).stdout
    assert [c["id"] for c in json.loads(other("chats", "list", "--json").stdout)] == [chat]
    assert "nothing was restored" in other("restore", str(tmp_path / "saved.zip")).stderr
    gone = other("users", "purge", "local", "--yes")
    assert "deleted for good" in gone.stdout, gone.stderr


def test_what_a_killed_restore_left_goes_with_the_next_start(tmp_path: Path) -> None:
    left = tmp_path / ".restored" / "secret.key"
    left.parent.mkdir()
    left.write_text("the key")
    with opened(tmp_path) as leaf:
        leaf.launch()
    assert not left.parent.exists()

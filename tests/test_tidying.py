"""What is done once an hour without anybody asking: what nothing is made of is swept, what deletions have
left is removed by whoever is there, and never what somebody is just putting."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from leaf.app import Leaf
from leaf.errors import BlobGoneError
from leaf.keeping import notes
from leaf.keeping.leftovers import Leftovers
from leaf.keeping.tidying import NAME, Tidying
from leaf.sessions.session import Session
from leaf.store import care, duties, rounds
from leaf.store.objects.base import key_of
from leaf.store.rounds import Round
from tests.leaf_kit import SALES, add, opened
from tests.runs_kit import wait_until
from tests.storage_kit import kept_at
from tests.test_removal import signed_in

ELSEWHERE = ["postgres", "postgres-s3"]
AT_ONCE = timedelta(0)


@dataclass(frozen=True)
class House:
    leaf: Leaf
    session: Session
    home: Path
    settings: dict[str, Any]

    @property
    def blobs(self) -> Any:
        return self.leaf._house.store.blobs

    def put(self, content: bytes, workspace_id: str = "") -> str:
        """Bytes that nothing is made of."""
        workspace = workspace_id or self.session.scope.workspace_id
        return str(self.blobs.put(workspace, BytesIO(content), 1_000).sha256)

    def has(self, sha256: str, workspace_id: str = "") -> bool:
        workspace = workspace_id or self.session.scope.workspace_id
        return self.blobs.place.find(key_of(workspace, sha256)) is not None

    def round(self, position: str = "") -> rounds.RoundDone:
        return Round(self.leaf._house.store).go(position)


@pytest.fixture
def house(kept: dict[str, Any], tmp_path: Path) -> Iterator[House]:
    home = tmp_path / "home"
    with opened(home, **kept) as leaf:
        yield House(leaf, leaf.session(leaf.local_scope()), home, kept)


@pytest.fixture
def all_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(care, "FRESH", timedelta(seconds=-5))


def test_a_round_deletes_what_is_nobodys_and_old_and_nothing_else(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, orphan = add(house.session, "sales.csv", SALES), house.put(b"nobody's")
    theirs = house.put(b"theirs", "another-installation")
    assert house.round().swept == 0
    assert house.has(orphan)
    monkeypatch.setattr(care, "FRESH", timedelta(seconds=-5))
    assert house.round().swept == 1
    assert not house.has(orphan)
    assert house.has(theirs, "another-installation")
    assert house.session.files.path(file.id).read_bytes() == SALES
    assert house.round().swept == 0


@pytest.mark.usefixtures("all_is_old")
def test_bytes_that_are_put_just_before_they_would_be_deleted_stay(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once more, since the old ones may go after the new ones have come."""
    orphan = hashlib.sha256(SALES).hexdigest()
    house.put(SALES)
    begin = care.BlobStates.begin_sweep

    def put_meanwhile(self: Any, keys: Any) -> None:
        begin(self, keys)
        monkeypatch.setattr(care, "FRESH", timedelta(days=1))
        add(house.session, "sales.csv", SALES)

    monkeypatch.setattr(care.BlobStates, "begin_sweep", put_meanwhile)
    assert house.round().swept == 0
    assert house.has(orphan)


@pytest.mark.usefixtures("all_is_old")
def test_bytes_that_are_put_while_the_same_old_ones_are_deleted_are_there_afterwards(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    orphan, place = house.put(SALES), house.blobs.place
    delete, put, came = place.delete, place.put, threading.Event()
    adding = threading.Thread(target=lambda: add(house.session, "sales.csv", SALES))

    def delete_late(key: Any) -> None:
        """It was found old; new ones come before it is gone."""
        if not adding.ident:
            adding.start()
            came.wait(2)
        delete(key)

    def arrived(*given: Any) -> None:
        put(*given)
        came.set()

    monkeypatch.setattr(place, "delete", delete_late)
    monkeypatch.setattr(place, "put", arrived)
    assert house.round().swept == 1
    adding.join(30)
    assert house.has(orphan)
    (file,) = house.session.files.list()
    assert b"".join(place.pieces(key_of(file.workspace_id, file.sha256))) == SALES


def test_a_round_ends_where_it_has_listed_enough_and_the_next_goes_on(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in(house.leaf, "Bob")
    monkeypatch.setattr(rounds, "LISTED", 1)
    for workspace in (w.id for w in house.leaf.workspaces()):
        house.put(b"something", workspace)
    first = house.round()
    assert first.listed == 1
    assert first.position
    assert house.round(first.position).position not in ("", first.position)


def test_of_several_processes_one_tidies_in_an_hour(kept: dict[str, Any], tmp_path: Path) -> None:
    with opened(tmp_path, **kept) as leaf:
        db = leaf._house.store.db
        hour = timedelta(hours=1)
        assert duties.unscoped_take(db, NAME, AT_ONCE) is None
        taken: list[str | None] = []
        threads = [
            threading.Thread(target=lambda: taken.append(duties.unscoped_take(db, NAME, hour)))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(taken, key=str) == ["", None, None, None]
        duties.unscoped_leave(db, NAME, "w1")
        with db.transaction() as tx:
            tx.execute("UPDATE duties SET due_at = :at", {"at": care.now()})
        assert duties.unscoped_take(db, NAME, hour) == "w1"
        with db.transaction() as tx:  # by a clock that was years ahead and is set right again
            tx.execute("UPDATE duties SET due_at = :at", {"at": care.now() + timedelta(days=900)})
        assert duties.unscoped_take(db, NAME, hour) == "w1"
        assert duties.unscoped_take(db, NAME, hour) is None


def running() -> bool:
    return any(t.name == "tidying" and t.is_alive() for t in threading.enumerate())


@pytest.mark.usefixtures("all_is_old")
def test_it_is_done_in_the_background_and_ends_with_the_house(house: House) -> None:
    orphan, finished = house.put(b"nobody's"), threading.Event()
    tidying = Tidying(house.leaf._house.store, finished.set, AT_ONCE)
    tidying.begin()
    wait_until(lambda: not running())
    assert not finished.is_set()  # the first process there is begins the hour
    tidying.begin()
    wait_until(lambda: finished.is_set() and not house.has(orphan))
    tidying.close()
    tidying.begin()
    assert not running()


# What deletions have left


@pytest.mark.parametrize("where", ELSEWHERE)
def test_a_killed_removal_is_finished_by_another_machine(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
) -> None:
    settings = kept_at(request, where)
    with opened(tmp_path / "home", **settings) as leaf:
        house = House(leaf, leaf.session(leaf.local_scope()), tmp_path / "home", settings)
        file = add(house.session, "sales.csv", SALES)
        leaf._house.remover._carry_out = lambda *_, **__: False  # type: ignore[method-assign]
        house.session.files.purge(file.id)
        assert house.has(file.sha256)
    shutil.rmtree(tmp_path / "home")
    with opened(tmp_path / "other", **settings) as other:
        house = House(other, other.session(other.local_scope()), tmp_path / "other", settings)
        other._house.remover.finish()
        assert house.has(file.sha256)  # somebody may be at it
        monkeypatch.setattr(notes, "OTHERS", AT_ONCE)
        other._house.remover.finish()
        assert not house.has(file.sha256)
        rows = other._house.store.db.read("SELECT count(*) AS n FROM removal_notes")
        assert rows == [{"n": 0}]


def holding(folder: Path, word: bytes) -> list[str]:
    """Files below a folder in which the word stands, Parquet unpacked."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            rows = str(pq.read_table(path).to_pylist()) if path.suffix == ".parquet" else ""
            if word in path.read_bytes() or word.decode() in rows:
                found.append(path.relative_to(folder).as_posix())
    return found


@pytest.mark.parametrize("where", ELSEWHERE)
def test_what_one_leaf_deletes_is_gone_from_the_disk_of_another(
    request: pytest.FixtureRequest, tmp_path: Path, where: str
) -> None:
    settings = kept_at(request, where)
    with (
        opened(tmp_path / "one", **settings) as one,
        opened(tmp_path / "two", **settings) as two,
    ):
        mine, yours = (leaf.session(leaf.local_scope()) for leaf in (one, two))
        table = add(mine, "sales.csv", b"region,revenue\nwalrustown,100\nNorth,200\n")
        text = add(mine, "notes.txt", b"The walrustown report.\n")
        stays = add(mine, "stays.txt", b"The walrus stays.\n")
        chat = yours.chats.create()
        yours.attached.add(chat.id, [table.id, text.id, stays.id])
        found = yours.tools.run("search_files", {"query": "walrustown"}, chat_id=chat.id)
        assert "walrustown" in found.text
        rows = yours.tools.run("query_tables", {"sql": "SELECT * FROM sales"}, chat_id=chat.id)
        assert "walrustown" in rows.text
        kinds = {name.partition("/")[0] for name in holding(tmp_path / "two", b"walrustown")}
        assert kinds >= {"cache", "search", "tables"}
        for file in (table, text):
            assert mine.files.purge(file.id)
        mine.chats.delete(chat.id)
        assert mine.chats.purge(chat.id)
        unnamed = two._house.store.blobs.put(text.workspace_id, BytesIO(b"walrus to be"), 100)
        held = two._house.store.blobs.local(text.workspace_id, unnamed.sha256)
        leftovers = Leftovers(two._house.store, two._house.tables, tmp_path / "two")
        leftovers.look()
        assert held.read_bytes() == b"walrus to be", "somebody is about to enter it"
        assert holding(tmp_path / "two", b"walrustown") == []
        assert yours.files.path(stays.id).read_bytes() == b"The walrus stays.\n"
        leftovers.begin()
        leftovers.close()


def test_a_workspace_that_is_deleted_leaves_no_bytes_not_even_later_ones(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = house.leaf.session(signed_in(house.leaf, "Bob")).scope.workspace_id
    file = add(house.leaf.session(signed_in(house.leaf, "Bob")), "sales.csv", SALES)
    orphan, theirs = house.put(b"nobody's", bob), house.put(b"theirs", "another-installation")
    assert house.leaf.purge_workspace(bob)
    assert not house.has(file.sha256, bob)
    assert not house.has(orphan, bob)
    if not house.settings:
        return  # one process alone, which has ended what was going on there
    late = house.put(b"late", bob)
    monkeypatch.setattr(notes, "OTHERS", AT_ONCE)
    house.leaf._house.remover.finish()
    assert not house.has(late, bob)
    assert house.has(theirs, "another-installation")
    noted = "SELECT count(*) AS n FROM removal_notes"
    assert house.leaf._house.store.db.read(noted) == [{"n": 1}]
    monkeypatch.setattr(notes, "LATE", AT_ONCE)
    house.leaf._house.remover.finish()
    assert house.leaf._house.store.db.read(noted) == [{"n": 0}]
    with pytest.raises(BlobGoneError):
        house.blobs.local(bob, late)


def test_a_result_that_a_killed_process_left_half_written_goes_whatever_its_chat_does(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as leaf:
        chat = tmp_path / "results" / "workspace" / "chat"
        for name in (".new-old", ".new-fresh"):
            (chat / name).mkdir(parents=True)
            (chat / name / "result.parquet").write_bytes(b"half")
        two_days_ago = time.time() - 2 * 86_400
        for path in (chat / ".new-old", chat / ".new-old" / "result.parquet"):
            os.utime(path, (two_days_ago, two_days_ago))
        Leftovers(leaf._house.store, leaf._house.tables, tmp_path).look()
        assert [path.name for path in chat.iterdir()] == [".new-fresh"]

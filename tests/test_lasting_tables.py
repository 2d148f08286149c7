"""Tables as Parquet in the store: put where making them took longer than fetching them would, fetched
on another machine and after a lost disk, made anew where they cannot be used, gone with their file."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from leaf.errors import FileTooLargeError, LeafError, StorageError
from leaf.keeping.restore import restore
from leaf.sessions.session import Session
from leaf.settings import Settings
from leaf.settings.storage import Storage
from leaf.store import blob_names, converted
from leaf.store.model import File
from leaf.store.objects.base import BlobKey, key_of
from leaf.store.objects.pace import BYTES_A_SECOND, DELAY, BucketPace
from leaf.tables import convert, lasting
from tests.leaf_kit import add, opened
from tests.storage_kit import kept_at

CSV = b"region,revenue\n" + b"".join(b"r%d,%d\n" % (i % 7, i) for i in range(20_000))
SUM = "SELECT sum(revenue) AS n FROM sales"
TOTAL = [[sum(range(20_000))]]


@dataclass(frozen=True)
class House:
    """A house in which every table is worth keeping, and what was converted in it."""

    leaf: Leaf
    session: Session
    file: File
    chat_id: str
    home: Path
    settings: dict[str, Any]
    made: list[str]

    def ask(self) -> object:
        ran = self.session.tools.run("query_tables", {"sql": SUM}, chat_id=self.chat_id)
        self.leaf._house.tables.settle()
        return ran.data.to_json()["table"]["rows"]

    def parquet(self) -> list[BlobKey]:
        """Of the file, in the store."""
        db = self.leaf._house.store.db
        found = converted.find(db, self.file.workspace_id, [self.file.sha256], lasting.VERSION)
        place = self.leaf._house.store.blobs.place
        keys = [key_of(self.file.workspace_id, t.sha256) for f in found.values() for t in f]
        return [key for key in keys if place.find(key) is not None]

    def lose_tables(self) -> None:
        shutil.rmtree(self.home / "tables")
        self.made.clear()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that are converted; that pays for each, however small."""
    names: list[str] = []
    convert_one = convert.Converter._convert

    def told(self: convert.Converter, file: File, *given: Any) -> Any:
        names.append(file.name)
        return convert_one(self, file, *given)

    monkeypatch.setattr(convert.Converter, "_convert", told)
    monkeypatch.setattr(lasting, "LEAST_SAVED", -1_000.0)
    return names


@pytest.fixture(params=["postgres", "postgres-s3"])
def house(request: pytest.FixtureRequest, tmp_path: Path, made: list[str]) -> Iterator[House]:
    settings, home = kept_at(request, request.param), tmp_path / "home"
    with opened(home, **settings) as leaf:
        session = leaf.session(leaf.local_scope())
        file, chat = add(session, "sales.csv", CSV), session.chats.create()
        session.attached.add(chat.id, [file.id])
        yield House(leaf, session, file, chat.id, home, settings, made)


def test_a_table_is_fetched_after_a_lost_disk_and_on_another_machine(
    house: House, tmp_path: Path
) -> None:
    assert house.ask() == TOTAL
    assert house.made == ["sales.csv"]
    assert len(house.parquet()) == 1
    house.lose_tables()
    house.leaf._house.store.blobs.place.delete(
        key_of(house.file.workspace_id, house.file.sha256)
    )  # what the table was made of is not needed
    assert house.ask() == TOTAL
    with opened(tmp_path / "other", **house.settings) as other:
        session = other.session(other.local_scope())
        ran = session.tools.run("query_tables", {"sql": SUM}, chat_id=house.chat_id)
        assert ran.data.to_json()["table"]["rows"] == TOTAL
    assert house.made == []


@pytest.mark.parametrize("how", ["gone", "altered", "cut", "of other readers"])
def test_a_table_that_cannot_be_used_is_made_anew_and_put_again(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    house.ask()
    (key,) = house.parquet()
    place = house.leaf._house.store.blobs.place
    house.lose_tables()
    if how == "gone":
        place.delete(key)
    elif how == "of other readers":
        for module in (convert, lasting):
            monkeypatch.setattr(module, "VERSION", lasting.VERSION + 1)
    else:
        whole = b"".join(place.pieces(key))
        bad = tmp_path / "bad"
        bad.write_bytes(whole[:-9] if how == "cut" else b"X" + whole[1:])
        place.put(key, bad, bad.stat().st_size)
    assert house.ask() == TOTAL
    assert house.made == ["sales.csv"]
    assert len(house.parquet()) == 1
    house.lose_tables()
    assert house.ask() == TOTAL
    assert house.made == []


def test_an_older_version_that_still_runs_takes_nothing_from_a_newer_one(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.ask()
    there = house.parquet()
    house.lose_tables()
    with monkeypatch.context() as older:
        for module in (convert, lasting):
            older.setattr(module, "VERSION", convert.VERSION - 1)
        assert house.ask() == TOTAL
    assert house.parquet() == there


def test_tables_go_with_their_file_and_nothing_else_of_them_stays(house: House) -> None:
    house.ask()
    (key,) = house.parquet()
    twin = add(house.session, "twin.csv", CSV)
    house.session.files.purge(house.file.id)
    blobs = house.leaf._house.store.blobs
    assert blobs.place.find(key) is not None  # the other file has the same bytes
    house.session.files.purge(twin.id)
    assert blobs.place.find(key) is None
    db = house.leaf._house.store.db
    assert db.read("SELECT count(*) AS n FROM converted_tables") == [{"n": 0}]


def test_a_file_that_is_deleted_for_good_while_its_table_is_put_leaves_none(house: House) -> None:
    store = house.leaf._house.store
    put_spare = store.blobs.put_spare

    def deleted_meanwhile(*given: Any) -> Any:
        kept = put_spare(*given)
        house.session.files.purge(house.file.id)
        return kept

    store.blobs.put_spare = deleted_meanwhile  # type: ignore[method-assign]
    with suppress(LeafError):  # the question may find its table gone
        house.ask()
    house.leaf._house.tables.settle()
    assert [e for e in store.blobs.place.entries() if e.size > 10_000] == []
    assert store.db.read("SELECT count(*) AS n FROM converted_tables") == [{"n": 0}]


def test_a_backup_leaves_out_what_is_made_again(house: House, tmp_path: Path) -> None:
    house.ask()
    (key,) = house.parquet()
    assert blob_names.unscoped_named(house.leaf._house.store.db)[key] == "table as Parquet"
    saved = house.leaf.backup(tmp_path / "saved")
    assert saved.missing == 0
    assert not list((tmp_path / "saved").rglob(f"*{key.sha256}*"))
    restore(Settings(home=tmp_path / "back"), tmp_path / "saved")
    with opened(tmp_path / "back") as back:
        session = back.session(back.local_scope())
        ran = session.tools.run("query_tables", {"sql": SUM}, chat_id=house.chat_id)
        assert ran.data.to_json()["table"]["rows"] == TOTAL


def test_where_files_last_in_the_folder_nothing_is_kept_twice(
    tmp_path: Path, made: list[str]
) -> None:
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        file, chat = add(session, "sales.csv", CSV), session.chats.create()
        session.attached.add(chat.id, [file.id])
        session.tools.run("query_tables", {"sql": SUM}, chat_id=chat.id)
        leaf._house.tables.settle()
        store = leaf._house.store
        assert made == ["sales.csv"]
        assert store.db.read("SELECT count(*) AS n FROM converted_tables") == [{"n": 0}]


def test_tables_never_take_room_of_what_cannot_be_made_again(
    postgres_url: str, tmp_path: Path, made: list[str]
) -> None:
    quota = len(CSV) * 3
    given = {"database_url": postgres_url, "storage": Storage(database_bytes=quota)}
    with opened(tmp_path, **given) as leaf:
        session, store = leaf.session(leaf.local_scope()), leaf._house.store
        file, chat = add(session, "sales.csv", CSV), session.chats.create()
        session.attached.add(chat.id, [file.id])
        house = House(leaf, session, file, chat.id, tmp_path, given, made)
        house.ask()
        assert len(house.parquet()) == 1
        with pytest.raises((StorageError, FileTooLargeError)):
            add(session, "too large.bin", b"x" * quota)
        assert len(house.parquet()) == 1  # it would not have helped
        used = sum(entry.size for entry in store.blobs.place.entries())
        add(session, "large.bin", bytes(range(256)) * ((quota - used) // 256 + 4))
        assert house.parquet() == []
        house.lose_tables()
        assert house.ask() == TOTAL
        assert house.parquet() == []  # more than half of the quota is used


def test_only_what_takes_longer_to_make_than_to_fetch_is_put(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lasting, "LEAST_SAVED", 60.0)
    house.ask()
    assert house.parquet() == []


def test_the_pace_of_a_store_is_what_was_seen_of_it() -> None:
    pace = BucketPace()
    assert pace.seconds(20_000_000) == pytest.approx(DELAY + 20_000_000 / BYTES_A_SECOND)
    pace.note(500, 3.0)  # says nothing of the rate
    assert pace.rate == BYTES_A_SECOND
    for _ in range(30):
        pace.note(100_000_000, 1.0)
    assert pace.rate == pytest.approx(100_000_000)
    for _ in range(200):
        pace.note(100_000_000, 10.0)
    assert pace.rate == pytest.approx(10_000_000, rel=0.01)

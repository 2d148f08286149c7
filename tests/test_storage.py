"""Where bytes last: each kind of place for itself, what is fetched from it, and what it says when it
fails. The whole house on them is in test_storage_house.py."""

from __future__ import annotations

import gc
import hashlib
import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from leaf.errors import (
    BlobGoneError,
    FileTooLargeError,
    NotFoundError,
    SettingsError,
    StorageError,
    StoreError,
)
from leaf.settings import Settings
from leaf.settings.storage import Storage
from leaf.store import open_store
from leaf.store.blob_states import BlobStates
from leaf.store.blobs import Blobs
from leaf.store.objects import database
from leaf.store.objects.base import BlobKey, key_of
from leaf.store.objects.bucket import BucketObjects
from leaf.store.objects.cache import BlobCache
from tests.runs_kit import wait_until
from tests.storage_kit import PLACES, choose, files_under, fresh_bucket, refusing_server, storage_at
from tests.tcp_proxy import TcpProxy

MOST = 1 << 30


@pytest.fixture(params=PLACES)
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Blobs]:
    url, storage = choose(request, request.param)
    store = open_store(Settings(home=tmp_path / "home", database_url=url, storage=storage))
    yield store.blobs
    store.close()


@pytest.fixture
def bucket(s3_port: int) -> BucketObjects:
    return BucketObjects(storage_at(s3_port, fresh_bucket(s3_port)))


@pytest.fixture
def states(tmp_path: Path) -> Iterator[BlobStates]:
    store = open_store(Settings(home=tmp_path / "states"))
    yield BlobStates(store.db)
    store.close()


def put(blobs: Blobs, content: bytes, workspace: str = "w") -> str:
    return blobs.put(workspace, io.BytesIO(content), MOST).sha256


def forget_cache(blobs: Blobs) -> None:
    if blobs.cache is not None:
        for path in files_under(blobs.cache.files.root):
            path.unlink()


# Every place


def test_what_was_put_is_there_with_an_empty_cache(blobs: Blobs) -> None:
    for content in (b"", b"one", os.urandom(3 * 1024 * 1024 + 17)):
        kept = blobs.put("w", io.BytesIO(content), MOST)
        assert (kept.sha256, kept.size) == (hashlib.sha256(content).hexdigest(), len(content))
        assert blobs.put("w", io.BytesIO(content), MOST) == kept
        forget_cache(blobs)
        assert blobs.exists("w", kept.sha256)
        assert blobs.local("w", kept.sha256).read_bytes() == content
        assert blobs.is_intact("w", kept.sha256)
        with blobs.open("w", kept.sha256) as stream:
            assert stream.read() == content


def test_workspaces_are_apart_and_deletion_deletes(blobs: Blobs) -> None:
    sha256 = put(blobs, b"same")
    assert not blobs.exists("v", sha256)
    put(blobs, b"same", "v")
    blobs.delete("w", sha256)
    blobs.delete("w", sha256)
    assert not blobs.exists("w", sha256)
    assert blobs.place.find(key_of("w", sha256)) is None
    with pytest.raises(BlobGoneError, match="Upload the file again"):
        blobs.local("w", sha256)
    assert not blobs.is_intact("w", sha256)
    assert sha256 in blobs.lost("w", [sha256])
    assert blobs.local("v", sha256).read_bytes() == b"same"
    assert [entry.key for entry in blobs.place.entries()] == [key_of("v", sha256)]
    assert list(blobs.place.entries("w")) == []


def test_a_large_blob_goes_up_and_down_whole(blobs: Blobs) -> None:
    content = os.urandom(20 * 1024 * 1024 + 3)
    sha256 = put(blobs, content)
    forget_cache(blobs)
    assert blobs.local("w", sha256).read_bytes() == content
    assert [(e.key.sha256, e.size) for e in blobs.place.entries()] == [(sha256, len(content))]


def test_many_who_put_and_fetch_the_same_agree(blobs: Blobs) -> None:
    content = os.urandom(1_500_000)

    def once(_: int) -> bytes:
        sha256 = put(blobs, content)
        return blobs.local("w", sha256).read_bytes()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(once, range(16))) == {content}


def test_a_stream_that_breaks_or_is_too_long_leaves_nothing(blobs: Blobs, tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise ConnectionResetError("gone")

    with pytest.raises(StoreError):
        blobs.put("w", Broken(), 100)
    with pytest.raises(FileTooLargeError):
        blobs.put("w", io.BytesIO(bytes(101)), 100)
    assert list(blobs.place.entries()) == []
    assert [p for p in files_under(tmp_path) if ".incoming-" in p.name] == []


@pytest.mark.parametrize(
    ("workspace", "sha256"),
    [("..", "a" * 64), ("w", "../../etc/passwd"), ("a/b", "a" * 64), ("", "a" * 64)],
)
def test_no_key_leads_out(blobs: Blobs, workspace: str, sha256: str) -> None:
    for act in (blobs.local, blobs.open, blobs.exists, blobs.delete, blobs.is_intact):
        with pytest.raises(NotFoundError):
            act(workspace, sha256)


def test_the_folder_itself_costs_no_copy(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    sha256 = put(blobs, b"content")
    assert blobs.local("w", sha256) == tmp_path / "blobs" / "w" / sha256[:2] / sha256
    assert len(files_under(tmp_path)) == 1


# A disk of earlier times beside a store


@pytest.mark.parametrize("blobs", ["database", "bucket"], indirect=True)
def test_what_is_in_the_folder_alone_is_used_and_put_into_the_store(
    blobs: Blobs, tmp_path: Path
) -> None:
    earlier = Blobs(tmp_path / "home")
    sha256 = put(earlier, b"of earlier times")
    key = key_of("w", sha256)
    assert blobs.place.find(key) is None
    assert blobs.exists("w", sha256)
    assert blobs.local("w", sha256) == earlier.local("w", sha256)
    assert blobs.place.find(key) is not None
    earlier.delete("w", sha256)
    assert blobs.local("w", sha256).read_bytes() == b"of earlier times"


@pytest.mark.parametrize("blobs", ["database", "bucket"], indirect=True)
def test_altered_bytes_in_the_folder_never_reach_the_store(blobs: Blobs, tmp_path: Path) -> None:
    earlier = Blobs(tmp_path / "home")
    sha256 = put(earlier, b"of earlier times")
    path = earlier.local("w", sha256)
    path.chmod(0o600)
    path.write_bytes(b"altered")
    with pytest.raises(BlobGoneError):
        blobs.local("w", sha256)
    assert list(blobs.place.entries()) == []


# The cache


@pytest.mark.parametrize("blobs", ["database", "bucket"], indirect=True)
def test_what_is_altered_in_the_cache_is_fetched_anew(blobs: Blobs) -> None:
    sha256 = put(blobs, b"right")
    path = blobs.local("w", sha256)
    assert blobs.is_intact("w", sha256)
    path.chmod(0o600)
    path.write_bytes(b"wrong")
    assert blobs.is_intact("w", sha256)
    assert blobs.local("w", sha256).read_bytes() == b"right"


def test_the_cache_keeps_its_bound_and_what_is_in_use(
    bucket: BucketObjects, tmp_path: Path
) -> None:
    blobs = Blobs(tmp_path, bucket, cache_bytes=1_000_000)
    first = put(blobs, os.urandom(300_000))
    held = blobs.local("w", first)
    others = [put(blobs, os.urandom(300_000)) for _ in range(8)]
    assert held.is_file()
    assert sum(path.stat().st_size for path in files_under(tmp_path)) <= 1_000_000
    assert blobs.cache is not None
    newest, oldest = (blobs.cache.find(key_of("w", sha)) for sha in (others[-1], others[0]))
    assert newest is not None
    assert oldest is None
    del held, newest
    gc.collect()
    for _ in range(3):
        put(blobs, os.urandom(300_000))
    assert blobs.cache.find(key_of("w", first)) is None
    assert blobs.local("w", first).stat().st_size == 300_000


def test_a_blob_larger_than_the_cache_is_there_while_it_is_used(
    bucket: BucketObjects, tmp_path: Path
) -> None:
    blobs = Blobs(tmp_path, bucket, cache_bytes=1_000)
    content = os.urandom(50_000)
    sha256 = put(blobs, content)
    held = blobs.local("w", sha256)
    put(blobs, os.urandom(50_000))
    assert held.read_bytes() == content


def test_another_process_does_not_take_what_is_in_use_here(
    bucket: BucketObjects, tmp_path: Path
) -> None:
    blobs = Blobs(tmp_path, bucket, cache_bytes=MOST)
    held_sha, free_sha = put(blobs, b"held" * 1000), put(blobs, b"free" * 1000)
    held = blobs.local("w", held_sha)
    code = (
        "import sys; from pathlib import Path; from leaf.store.objects.cache import BlobCache; "
        "BlobCache(Path(sys.argv[1]), 10).trim()"
    )
    subprocess.run([sys.executable, "-c", code, str(held.parents[2])], check=True)
    assert held.is_file()
    assert blobs.cache is not None
    assert blobs.cache.find(key_of("w", free_sha)) is None


def test_a_held_path_lets_go_with_its_last_user(bucket: BucketObjects, tmp_path: Path) -> None:
    blobs = Blobs(tmp_path, bucket, cache_bytes=1)
    sha256 = put(blobs, b"content")
    held = blobs.local("w", sha256)
    plain = held.parent / held.name
    assert blobs.cache is not None
    blobs.cache.trim()
    assert plain.exists()
    del held
    gc.collect()
    blobs.cache.trim()
    assert not plain.exists()


def test_many_who_read_from_a_cache_that_is_too_small_get_what_they_ask_for(
    bucket: BucketObjects, tmp_path: Path
) -> None:
    blobs = Blobs(tmp_path, bucket, cache_bytes=100_000)
    contents = {put(blobs, content): content for content in (os.urandom(40_000) for _ in range(8))}

    def once(number: int) -> bool:
        sha256 = list(contents)[number % 8]
        path = blobs.local("w", sha256)
        gate.wait()
        return path.read_bytes() == contents[sha256]

    gate = threading.Barrier(8)
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(once, range(32)))


def test_what_was_just_fetched_is_held_however_often_room_is_made(
    bucket: BucketObjects, tmp_path: Path
) -> None:
    blobs = Blobs(tmp_path, bucket, cache_bytes=1)
    contents = {put(blobs, content): content for content in (os.urandom(100) for _ in range(8))}
    over = threading.Event()

    def make_room() -> None:
        while not over.is_set():
            BlobCache(tmp_path / "cache" / "blobs", 1).trim()

    with ThreadPoolExecutor(2) as pool:
        workers = [pool.submit(make_room) for _ in range(2)]
        try:
            for sha256, content in list(contents.items()) * 10:
                assert blobs.local("w", sha256).read_bytes() == content
        finally:
            over.set()
    for worker in workers:
        worker.result()


def test_what_is_in_use_stays_where_it_is_when_it_is_put_or_fetched_once_more(
    bucket: BucketObjects, tmp_path: Path
) -> None:
    blobs = Blobs(tmp_path, bucket, cache_bytes=1)
    sha256 = put(blobs, b"content")
    held = blobs.local("w", sha256)
    put(blobs, b"content")
    other = BlobCache(tmp_path / "cache" / "blobs", 1)
    assert other.fill(key_of("w", sha256), [b"content"]) is not None
    other.trim()
    assert held.read_bytes() == b"content"


def test_of_many_who_fetch_the_same_at_once_none_takes_it_from_another(tmp_path: Path) -> None:
    sha256 = hashlib.sha256(b"content").hexdigest()
    gate = threading.Barrier(4)

    def fetch(_number: int) -> bool:
        cache = BlobCache(tmp_path, 1)  # as another process has it
        gate.wait()
        held = cache.fill(key_of("w", sha256), [b"content"])
        cache.trim()
        gate.wait()
        there = held is not None and held.is_file()
        gate.wait()
        return there

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(fetch, range(80)))


# A bucket that fails


def test_an_altered_or_cut_object_is_refused(
    bucket: BucketObjects, states: BlobStates, tmp_path: Path
) -> None:
    for wrong in (b"something else", b"cont", b""):
        blobs = Blobs(tmp_path / hashlib.md5(wrong).hexdigest(), bucket, states=states)
        sha256 = put(blobs, b"content")
        forget_cache(blobs)
        bad = tmp_path / "bad"
        bad.write_bytes(wrong)
        bucket.put(key_of("w", sha256), bad, len(wrong))
        with pytest.raises(BlobGoneError, match="altered or cut, so it is not used") as caught:
            blobs.local("w", sha256)
        assert caught.value.altered
        assert not blobs.is_intact("w", sha256)
        assert files_under(tmp_path / hashlib.md5(wrong).hexdigest()) == []
        assert blobs.lost("w", [sha256])[sha256].altered
        put(blobs, b"content")
        assert not blobs.lost("w", [sha256])
        forget_cache(blobs)
        assert blobs.local("w", sha256).read_bytes() == b"content"


def test_while_the_bucket_is_away_the_cache_works_and_nothing_is_half_made(
    s3_port: int, tmp_path: Path
) -> None:
    name = fresh_bucket(s3_port)
    with TcpProxy(s3_port) as proxy:
        blobs = Blobs(tmp_path, BucketObjects(storage_at(proxy.port, name)))
        cached, fetched = put(blobs, b"cached"), put(blobs, b"fetched")
        blobs.local("w", fetched).unlink()
        proxy.cut()
        assert blobs.local("w", cached).read_bytes() == b"cached"
        away = rf"The bucket {name} does not answer as it should, so .*this file.*Try again"
        with pytest.raises(StorageError, match=away):
            blobs.local("w", fetched)
        with pytest.raises(StorageError, match="this file was not kept"):
            put(blobs, b"new")
        with pytest.raises(StorageError, match="is still there"):
            blobs.delete("w", cached)
        assert not blobs.lost("w", [cached, fetched])
        proxy.heal()
        assert blobs.local("w", fetched).read_bytes() == b"fetched"
        new = hashlib.sha256(b"new").hexdigest()
        assert not blobs.exists("w", new)
        assert put(blobs, b"new") == new


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (403, "AccessDenied", "the key may not do in the bucket"),
        (403, "SignatureDoesNotMatch", "does not know the key"),
        (403, "InvalidAccessKeyId", "does not know the key"),
        (403, "RequestTimeTooSkewed", "the clock of this machine differs"),
        (400, "AuthorizationHeaderMalformed", "is in another region"),
        (301, "PermanentRedirect", "is in another region"),
        (404, "NoSuchBucket", "does not exist"),
    ],
)
def test_what_is_set_wrongly_is_said_at_the_start(
    tmp_path: Path, status: int, code: str, said: str
) -> None:
    with refusing_server(status, code) as port:
        settings = Settings(home=tmp_path, storage=storage_at(port, "shelf"))
        with pytest.raises(SettingsError, match=f"(?i){said}") as caught:
            open_store(settings)
        assert "shelf" in caught.value.message
        assert code not in str(caught.value)
        assert "secret" not in str(caught.value)
        blobs = Blobs(tmp_path, BucketObjects(settings.storage))
        with pytest.raises(StorageError, match=f"(?i){said}"):
            put(blobs, b"new")


def test_a_missing_bucket_is_not_taken_for_missing_files(s3_port: int, tmp_path: Path) -> None:
    blobs = Blobs(tmp_path, BucketObjects(storage_at(s3_port, "nowhere")))
    sha256 = hashlib.sha256(b"x").hexdigest()
    with pytest.raises(StorageError, match="The bucket nowhere does not exist"):
        blobs.local("w", sha256)
    assert not blobs.lost("w", [sha256])


def test_a_bucket_that_is_away_at_the_start_is_found_later(s3_port: int, tmp_path: Path) -> None:
    name = fresh_bucket(s3_port)
    with TcpProxy(s3_port) as proxy:
        proxy.cut()
        store = open_store(Settings(home=tmp_path, storage=storage_at(proxy.port, name)))
        with pytest.raises(StorageError):
            store.blobs.place.check()
        proxy.heal()
        store.blobs.place.check(writing=True)
        store.close()


def test_a_bucket_of_a_newer_leaf_is_left_alone(s3_port: int, tmp_path: Path) -> None:
    storage = storage_at(s3_port, fresh_bucket(s3_port))
    import obstore

    found = BucketObjects(storage)
    found.check()
    obstore.put(found._store, "leaf.json", b'{"layout": 99}')
    with pytest.raises(SettingsError, match="newer version of Leaf"):
        open_store(Settings(home=tmp_path, storage=storage))


def test_what_can_be_made_again_heals_an_altered_object_and_waits_for_one_that_is_away(
    s3_port: int, tmp_path: Path
) -> None:
    name = fresh_bucket(s3_port)
    with TcpProxy(s3_port) as proxy:
        blobs = Blobs(tmp_path, BucketObjects(storage_at(proxy.port, name)))
        sha256 = blobs.put("w", io.BytesIO(b"content"), 100, lasting=False).sha256
        (tmp_path / "bad").write_bytes(b"CONTENT")
        blobs.place.put(key_of("w", sha256), tmp_path / "bad", 7)
        blobs.put("w", io.BytesIO(b"content"), 100, lasting=False)
        forget_cache(blobs)
        assert blobs.local("w", sha256).read_bytes() == b"content"
        proxy.cut()
        waiting = blobs.put("w", io.BytesIO(b"waiting"), 100, lasting=False).sha256
        assert blobs.local("w", waiting).is_relative_to(tmp_path / "blobs")
        proxy.heal()
        blobs._not_before = 0.0
        assert blobs.local("w", waiting).read_bytes() == b"waiting"
        assert blobs.place.find(key_of("w", waiting)) is not None


def test_what_stayed_in_the_folder_reaches_the_bucket_by_itself(
    s3_port: int, tmp_path: Path
) -> None:
    """Nobody opens it here: another machine wants it, which has only the bucket."""
    name, named = fresh_bucket(s3_port), {"kept", "later"}
    content = {one: hashlib.sha256(one.encode()).hexdigest() for one in ("kept", "gone", "later")}

    def is_named(key: BlobKey) -> bool:
        return key.sha256 in {content[one] for one in named}

    def machine(folder: str) -> Blobs:
        storage = BucketObjects(storage_at(proxy.port, name))
        return Blobs(tmp_path / folder, storage, is_named=is_named, pause=0.2)

    def make(blobs: Blobs, *ones: str) -> None:
        for one in ones:
            blobs.put("w", io.BytesIO(one.encode()), 100, lasting=False)

    def arrives(one: str) -> None:
        wait_until(lambda: machine("two").exists("w", content[one]))
        assert machine("two").local("w", content[one]).read_bytes() == one.encode()

    with TcpProxy(s3_port) as proxy:
        first = machine("one")
        proxy.cut()
        make(first, "kept", "gone")
        proxy.heal()
        arrives("kept")
        wait_until(lambda: not files_under(tmp_path / "one" / "behind"))
        assert not machine("two").exists("w", content["gone"])  # nothing names it any more
        proxy.cut()
        make(first, "later")
        first.close()
        proxy.heal()
        again = machine("one")
        arrives("later")
        again.close()


# The database


def test_the_database_keeps_to_its_quota_and_its_largest_file(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(database_bytes=3_000_000)
    store = open_store(Settings(home=tmp_path, database_url=postgres_url, storage=storage))
    first = put(store.blobs, os.urandom(2_000_000))
    with pytest.raises(
        StorageError, match=r"hold 2 MB of 3 MB, so this file \(2 MB\) was not kept"
    ):
        put(store.blobs, os.urandom(2_000_000))
    assert put(store.blobs, store.blobs.local("w", first).read_bytes()) == first
    store.blobs.delete("w", first)
    assert store.db.read("SELECT number FROM blob_pieces") == []
    put(store.blobs, os.urandom(2_000_000))
    monkeypatch.setattr(database.DatabaseObjects, "largest", 1_000_000)
    with pytest.raises(FileTooLargeError, match="the most that the database takes"):
        put(store.blobs, os.urandom(1_000_001))
    store.close()


def test_two_who_reach_the_quota_at_once_do_not_pass_it(postgres_url: str, tmp_path: Path) -> None:
    storage = Storage(database_bytes=3_000_000)
    stores = [
        open_store(Settings(home=tmp_path / str(i), database_url=postgres_url, storage=storage))
        for i in range(4)
    ]

    def once(number: int) -> bool:
        try:
            put(stores[number].blobs, os.urandom(1_200_000))
        except StorageError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(once, range(4))) == 2
    assert sum(entry.size for entry in stores[0].blobs.place.entries()) == 2_400_000
    for store in stores:
        store.close()


def test_a_kill_while_a_blob_is_written_leaves_none_of_it(
    postgres_url: str, tmp_path: Path
) -> None:
    store = open_store(Settings(home=tmp_path, database_url=postgres_url))

    class Dying(type(tmp_path)):  # type: ignore[misc]
        def open(self, *args: object, **more: object) -> io.BytesIO:
            class Half(io.BytesIO):
                reads = 0

                def read(self, size: int | None = -1, /) -> bytes:
                    self.reads += 1
                    if self.reads > 2:
                        raise KeyboardInterrupt
                    return bytes(size or 0)

            return Half()

    sha256 = "a" * 64
    with pytest.raises(KeyboardInterrupt):
        store.blobs.place.put(key_of("w", sha256), Dying(tmp_path), 5_000_000)
    assert store.blobs.place.find(key_of("w", sha256)) is None
    assert store.db.read("SELECT number FROM blob_pieces") == []
    store.close()


def test_file_forces_the_folder_beside_postgresql(postgres_url: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, database_url=postgres_url, storage=Storage(url="file"))
    store = open_store(settings)
    assert store.blobs.store is None
    sha256 = put(store.blobs, b"content")
    assert store.blobs.local("w", sha256).is_relative_to(tmp_path / "blobs")
    store.close()

"""What is said, and what is kept, where a disk takes no more; and that all works again once it does."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leaf.errors import StoreError
from leaf.runs.seats import claim_executors
from leaf.sandbox.confine import confinement
from tests.leaf_kit import add, opened
from tests.small_disk import on_small_disk

NO_SPACE = "There is no space left on the disk. Free some space and try again."
RESTORED = """
    import sys
    from pathlib import Path
    from leaf.errors import StoreError
    from leaf.keeping.restore import restore
    from leaf.settings import Settings
    from tests.leaf_kit import opened
    from tests.small_disk import filled

    disk, source = map(Path, sys.argv[1:])
    settings = Settings(home=disk / "home")
    with filled(disk, left=3_000_000):
        try:
            restore(settings, source)
        except StoreError as e:
            print(e.message.replace(str(disk), "DISK"))
    print(*sorted(path.name for path in settings.home.iterdir()))
    restore(settings, source)
    restore(settings, source, replace=True)
    print(*sorted(path.name for path in settings.home.iterdir()))
    with opened(settings.home) as leaf:
        session = leaf.session(leaf.local_scope())
        print(*(len(session.files.path(file.id).read_bytes()) for file in session.files.list()))
"""
ASKED = """
    import sys
    from contextlib import ExitStack, suppress
    from pathlib import Path
    from leaf.errors import StoreError
    from leaf.shapes.part_values import data_in
    from tests.leaf_kit import finished, opened
    from tests.small_disk import filled

    (disk,) = map(Path, sys.argv[1:])

    def told(message, enough):
        "What was said of how it stands, once there is enough."
        texts, position = [], 0
        while not enough(texts):
            piece = session.messages.watch(message.id).read(position, timeout=60)
            texts += [found["text"] for c in piece.chunks if (found := data_in(c, "status"))]
            if piece.done or piece.position == position:
                break
            position = piece.position
        return texts

    with opened(disk / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        finished(session, session.messages.send(chat.id, "hello").id)
        with ExitStack() as full:
            with leaf._house.runs.board.news:  # nothing is begun meanwhile
                message = session.messages.send(chat.id, "hello again")
                full.enter_context(filled(disk))
                with suppress(StoreError):  # until not a byte of its log is left
                    while True:
                        session.chats.rename(chat.id, "hello")
            print(told(message, bool)[0].replace(str(disk), "DISK"))
        print(finished(session, message.id).status)
        print(repr(told(message, lambda texts: False)[-1]))
"""
DONE = """
    import sys
    from contextlib import suppress
    from pathlib import Path
    from leaf.errors import StoreError
    from tests.leaf_kit import add, opened
    from tests.small_disk import filled

    disk, elsewhere = map(Path, sys.argv[1:])
    home = disk / "home"
    with opened(home) as leaf:
        session = leaf.session(leaf.local_scope())
        file, chat = add(session, "a.txt", b"a"), session.chats.create()
        with filled(disk):
            with suppress(StoreError):  # until not a byte of its log is left
                while True:
                    session.chats.rename(chat.id, "hello")
            print("saved", leaf.backup(elsewhere / "saved.zip").blobs)
        (home / "removing").write_text("in the way")
        try:
            session.files.purge(file.id)
        except StoreError as e:
            print(e.message)
        (home / "removing").unlink()
        print("kept" if session.files.path(file.id).is_file() else "lost")
        session.files.purge(file.id)
        print("gone" if not session.files.list() else "kept")
"""
TEMPORARY = """
    import io, json, sys, tempfile, zipfile
    from pathlib import Path
    from leaf.errors import LeafError
    from tests.leaf_kit import opened
    from tests.small_disk import filled

    disk, home = map(Path, sys.argv[1:])
    tempfile.tempdir = str(disk)

    def said(act):
        try:
            return act()
        except LeafError as e:
            return str(e)

    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.txt", "a")
        file.writestr("b.txt", "b" * 100_000)
    with opened(home) as leaf:
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        run = lambda name, **given: session.tools.run(name, json.dumps(given), chat_id=chat.id).text
        run("create_document", title="T", content="# Words")
        (document,) = session.documents.list()
        acts = [
            lambda: session.documents.export(document.id, "docx").name,
            lambda: run("run_python", code="import pandas as pd; pd.DataFrame({'a': [1]})")[:10],
            lambda: len(session.files.add("all.zip", io.BytesIO(archive.getvalue())).inside),
        ]
        with filled(disk):
            for act in acts:
                print(said(act))
        for act in acts:
            print(said(act))
"""
LOOKED_AT = """
    import sys
    from pathlib import Path
    from leaf.doctor import check
    from leaf.settings import Settings
    from tests.small_disk import filled

    (disk,) = map(Path, sys.argv[1:])
    settings = Settings(home=disk / "home")
    settings.home.mkdir(mode=0o700)
    with filled(disk):
        line = next(line for line in check(settings) if line.name == "Data folder")
        print(line.ok, line.needed, line.text.replace(str(disk), "DISK"))
"""
STARTED = """
    import sys
    from pathlib import Path
    from leaf.errors import StoreError
    from tests.leaf_kit import opened
    from tests.small_disk import filled

    (disk,) = map(Path, sys.argv[1:])
    with filled(disk):
        try:
            with opened(disk):
                print("opened")
        except StoreError as e:
            print(e.hint)
    with opened(disk) as leaf:
        print(len(leaf.session(leaf.local_scope()).chats.list()))
"""
READ = """
    import json, sys
    from pathlib import Path
    from leaf.errors import LeafError
    from tests.leaf_kit import add, opened
    from tests.small_disk import filled

    disk, source = map(Path, sys.argv[1:])

    def said(act):
        try:
            return str(act()).partition(":")[0]
        except LeafError as e:
            return str(e)

    with opened(disk / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        file, chat = add(session, "numbers.parquet", source.read_bytes()), session.chats.create()
        small = add(session, "small.csv", b"n\\n1\\n")
        session.attached.add(chat.id, [file.id, small.id])
        sql = lambda text: session.tools.run("query_tables", json.dumps({"sql": text}), chat_id=chat.id).text
        sql("SELECT * FROM small")
        with filled(disk, left=100_000):
            print(said(lambda: sql("SELECT count(*) FROM numbers")))
        print(said(lambda: sql("SELECT count(*) FROM numbers")))
        with filled(disk, left=100_000):
            print(said(lambda: sql("SELECT n, h || '!' FROM numbers")))
        with filled(disk):
            print(said(lambda: session.results.recompute(chat.id, "r1")))
"""


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of some megabytes."""
    path, chance = tmp_path_factory.mktemp("numbers") / "numbers.parquet", random.Random(1)
    columns = {"n": range(60_000), "h": [chance.randbytes(16).hex() for _ in range(60_000)]}
    pq.write_table(pa.table({**columns, "s": [{"a": n} for n in range(60_000)]}), path)
    return path


@pytest.mark.skipif(confinement().kind != "landlock", reason="children share the machine's disk")
def test_a_file_that_there_was_no_room_to_read_is_not_called_damaged(
    tmp_path: Path, numbers: Path
) -> None:
    """Neither at once nor once there is room again; a query says what it lacks, too."""
    lines = on_small_disk(tmp_path, READ, tmp_path, numbers).splitlines()
    assert lines == [NO_SPACE, "Result r2", NO_SPACE, NO_SPACE]


def test_a_backup_for_which_there_is_no_room_changes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        add(session, "large.bin", random.Random(1).randbytes(4_000_000))
        (tmp_path / "home" / "rates.json").write_text("{}")
        leaf.backup(tmp_path / "saved.zip")
    (tmp_path / "disk").mkdir()
    lines = on_small_disk(
        tmp_path / "disk", RESTORED, tmp_path / "disk", tmp_path / "saved.zip"
    ).splitlines()
    needed, free = "The backup takes about 3.8 MB, ", "and the disk of DISK/home has 2."
    assert lines[0].startswith(needed + free)
    assert lines[1] == "leaf.duckdb"
    assert "rates.json" in lines[2]
    assert ".restored" not in lines[2]
    assert lines[3] == "4000000"


def test_an_answer_that_waits_for_room_says_so_and_comes(tmp_path: Path) -> None:
    waits, status, last = on_small_disk(tmp_path, ASKED, tmp_path).splitlines()
    assert waits.endswith(
        "is full, so this was not saved. This answer goes on by itself when that is over."
    ), waits
    assert (status, last) == ("completed", "''")


def test_a_full_disk_is_saved_and_what_cannot_be_deleted_stays(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    lines = on_small_disk(tmp_path / "disk", DONE, tmp_path / "disk", tmp_path).splitlines()
    assert lines == ["saved 1", "The data folder cannot be written: File exists.", "kept", "gone"]


def test_a_full_disk_for_temporary_files_is_named_and_none_of_the_work_is_lost(
    tmp_path: Path,
) -> None:
    (tmp_path / "disk").mkdir()
    lines = on_small_disk(
        tmp_path / "disk", TEMPORARY, tmp_path / "disk", tmp_path / "home"
    ).splitlines()
    full = "The disk that holds temporary files is full. Free some space there and try again."
    assert lines[:3] == [full, full, NO_SPACE]
    assert lines[3:] == ["T.docx", "Cell 1 ran", "2"]


def test_doctor_says_that_a_disk_takes_nothing(tmp_path: Path) -> None:
    """Leaf cannot do its work there, whatever is free of the disk for others."""
    said = on_small_disk(tmp_path, LOOKED_AT, tmp_path)
    assert said.startswith("False True DISK/home cannot be used: No space left on device.")


def test_a_data_folder_whose_name_a_full_disk_left_empty_is_given_one(tmp_path: Path) -> None:
    (tmp_path / "executor").touch()
    (name,), _ = claim_executors(tmp_path, shared=False)
    assert len(name) > len("-1")
    assert claim_executors(tmp_path, shared=False)[0] == (name,)
    (tmp_path / "executor").unlink()
    (tmp_path / "executor").mkdir()
    with pytest.raises(StoreError, match="data folder cannot be written"):
        claim_executors(tmp_path, shared=False)


def test_a_first_start_on_a_full_disk_does_not_keep_the_next_one_from_starting(
    tmp_path: Path,
) -> None:
    lines = on_small_disk(tmp_path, STARTED, tmp_path).splitlines()
    assert lines == ["Free some space, then start again.", "0"]

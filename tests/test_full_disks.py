"""What is said, and what is kept, where a disk takes no more; and that all works again once it does."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leaf.sandbox.confine import confinement
from tests.small_disk import on_small_disk

NO_SPACE = "There is no space left on the disk. Free some space and try again."
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

"""What the first question costs after a lost disk, as when Community Cloud has put an app to sleep, against
one on a warm disk and the fetch alone; and whether a part of a table would come quicker than all of it.

    python -m bench.lost_disk [--runs N] [--rows N] [--wide-rows N]

Files last in moto's S3 server and in PostgreSQL, both on this machine. The question is one of `query_tables`
in a session. `cache/` and `tables/` of the data folder are deleted before each that counts as first.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from bench._figures import Figure, Report, changed
from leaf.app import Leaf
from leaf.readers.base import VERSION
from leaf.sessions.session import Session
from leaf.settings import Settings
from leaf.settings.storage import Storage
from leaf.store import converted
from leaf.store.model import File
from leaf.store.objects.base import PIECE, BlobKey
from leaf.store.objects.bucket import BucketObjects, _at
from leaf.wiring import build
from tests import postgres, s3_server
from tests.storage_kit import fresh_bucket, storage_at

TARGET = 1.5
"""Times the warm question and the fetch: that of issue 14."""
COLUMNS = "id, 'region ' || (id % 12) AS region, 'product ' || (hash(id) % 500) AS product, {more}"
SQL = "SELECT region, count(*) AS n, sum(amount) AS total FROM {table} GROUP BY region ORDER BY 1"
WIDE, WANTED = 30, ("c3", "c17")
"""Columns of the wide table, and those that a question reads."""
MOST = 2 << 30
"""Bytes that the database may hold here."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5, help="first questions of each file")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the CSV of 50 MB")
    parser.add_argument("--wide-rows", type=int, default=900_000, help="of the table of 200 MB")
    given = parser.parse_args()
    measured = ("leaf/store", "leaf/tables", "leaf/readers")
    report = Report("lost_disk", measured, changed(parser, given))
    if postgres.programs() is None or s3_server.uv() is None:
        print("Missing on this machine: PostgreSQL, or uv.")
        return 1
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="leaf-lost-") as folder:
        files = made(Path(folder), given.rows)
        wide = [
            written_wide(Path(folder) / "wide.parquet", given.wide_rows),
            # a database takes no more than 100 MB of one
            written_wide(Path(folder) / "half.parquet", given.wide_rows * 9 // 20),
        ]
        for (name, settings), table in zip(places(), wide, strict=True):
            home = Path(folder) / name.replace(" ", "-")
            with running(home, settings) as leaf:
                for path in files:
                    figures += first_question(leaf, home, path, name, given.runs)
                figures += by_ranges(leaf, table, name, given.runs)
    return report.end(figures)


def places() -> Iterator[tuple[str, dict[str, Any]]]:
    """Where files last, each while it is asked for."""
    with postgres.server() as address:
        with s3_server.server() as port:
            storage = storage_at(port, fresh_bucket(port))
            yield "S3 server", {"database_url": postgres.fresh(address), "storage": storage}
        within = Storage(database_bytes=MOST)
        yield "PostgreSQL", {"database_url": postgres.fresh(address), "storage": within}


@contextmanager
def running(home: Path, settings: dict[str, Any]) -> Iterator[Leaf]:
    leaf = build(replace(Settings(home=home, titles=False), **settings))
    try:
        yield leaf
    finally:
        leaf.close()


# --- the first question


@dataclass
class Asked:
    """A file in a chat, and what is asked of it."""

    leaf: Leaf
    session: Session
    home: Path
    file: File
    chat_id: str
    sql: str

    def ask(self) -> None:
        self.session.tools.run("query_tables", {"sql": self.sql}, chat_id=self.chat_id)

    def lose_disk(self) -> None:
        for name in ("cache", "tables"):
            shutil.rmtree(self.home / name, ignore_errors=True)

    def kept(self) -> list[str]:
        """What a first question needs of the store: the tables, where they are there, else the file
        itself."""
        db, file = self.leaf._house.store.db, self.file
        found = converted.find(db, file.workspace_id, [file.sha256], VERSION)
        tables = [one.sha256 for every in found.values() for one in every]
        return tables or [file.sha256]

    def fetch(self) -> None:
        with tempfile.TemporaryDirectory(dir=self.home) as folder:
            for number, sha256 in enumerate(self.kept()):
                self.leaf._house.store.blobs.fetch_spare(
                    self.file.workspace_id, sha256, Path(folder) / str(number)
                )


def first_question(leaf: Leaf, home: Path, path: Path, where: str, runs: int) -> list[Figure]:
    session = leaf.session(leaf.local_scope())
    with path.open("rb") as stream:
        file = session.files.add(path.name, stream).file
    chat = session.chats.create()
    session.attached.add(chat.id, [file.id])
    asked = Asked(leaf, session, home, file, chat.id, SQL.format(table=path.stem))
    began = timed(asked.ask)
    leaf._house.tables.settle()
    warm = median(asked.ask, runs)
    fetch = median(asked.fetch, runs)
    after = median(asked.ask, runs, before=asked.lose_disk)
    kept = asked.kept() != [file.sha256]
    print(f"{where}, {path.name}: the very first {began:.2f} s, table in the store: {kept}")
    subject = f"{where}: {described(path)}"
    return [
        Figure(
            subject,
            "first question after a lost disk, times a warm one and the fetch",
            after / (warm + fetch),
            TARGET,
            False,
            "{:.2f}",
            {"the very first, which made the table": began / (warm + fetch)},
        ),
        Figure(
            subject,
            "first question after a lost disk",
            after * 1000,
            shown="{:,.0f} ms",
            beside={"warm disk": warm * 1000, "the fetch alone": fetch * 1000},
        ),
    ]


def described(path: Path) -> str:
    return f"{path.suffix[1:].upper()} of {path.stat().st_size / 1_000_000:,.2g} MB"


# --- a part of a table, or all of it


def by_ranges(leaf: Leaf, path: Path, where: str, runs: int) -> list[Figure]:
    """Of a Parquet file in the store: all of it, against the bytes of two columns."""
    store = leaf._house.store
    workspace_id = leaf.local_scope().workspace_id
    kept = store.blobs.put_spare(workspace_id, path)
    if kept is None:
        raise RuntimeError("The wide table was not put.")
    key = BlobKey(workspace_id, kept.sha256)
    ranges = wanted_ranges(path)

    def whole() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store.blobs.fetch_spare(*key, Path(folder) / "all")

    size = sum(end - start for start, end in ranges)
    all_of_it = median(whole, runs)
    part = median(lambda: read_ranges(store, key, ranges), runs)
    return [
        Figure(
            f"{where}: table of {kept.size / 1_000_000:,.0f} MB, {WIDE} columns",
            f"two columns ({size / 1_000_000:,.0f} MB in {len(ranges)} ranges), not built",
            part * 1000,
            shown="{:,.0f} ms",
            beside={"all of it, with its hash": all_of_it * 1000},
        )
    ]


def wanted_ranges(path: Path) -> list[tuple[int, int]]:
    """Where the wanted columns stand, and the end of the file, which says where columns stand;
    neighbours are one."""
    names = ", ".join(f"'{name}'" for name in WANTED)
    found = duckdb.execute(
        "SELECT coalesce(dictionary_page_offset, data_page_offset) AS start, "
        f"total_compressed_size FROM parquet_metadata('{path}') WHERE path_in_schema IN ({names}) "
        "ORDER BY 1"
    ).fetchall()
    size = path.stat().st_size
    return [(start, start + length) for start, length in found] + [(size - 256 * 1024, size)]


def read_ranges(store: Any, key: BlobKey, ranges: Sequence[tuple[int, int]]) -> int:
    """As it could be done: in one call of a bucket, by the pieces that hold them of a database."""
    if isinstance(store.blobs.place, BucketObjects):
        import obstore

        parts = obstore.get_ranges(
            store.blobs.place._store,
            _at(key),
            starts=[start for start, _ in ranges],
            ends=[end for _, end in ranges],
        )
        return sum(len(bytes(part)) for part in parts)
    pieces = {n for start, end in ranges for n in range(start // PIECE, (end - 1) // PIECE + 1)}
    read = 0
    for number in sorted(pieces):
        rows = store.db.read(
            "SELECT bytes FROM blob_pieces WHERE workspace_id = :w AND sha256 = :s AND number = :n",
            {"w": key.workspace_id, "s": key.sha256, "n": number},
        )
        read += len(rows[0]["bytes"])
    return read


# --- files, and time


def made(folder: Path, rows: int) -> list[Path]:
    """A small CSV, one of some 50 MB, and a spreadsheet."""
    small, large = folder / "small.csv", folder / "large.csv"
    duckdb.execute(f"COPY ({sales(1_000)}) TO '{small}' (HEADER)")
    duckdb.execute(f"COPY ({sales(rows)}) TO '{large}' (HEADER)")
    return [small, large, written_sheet(folder / "sheet.xlsx", max(1, rows // 10))]


def sales(rows: int) -> str:
    more = (
        "(hash(id + 1) % 100000) / 100.0 AS amount, DATE '2020-01-01' + (id % 1500)::INTEGER AS day"
    )
    return f"SELECT {COLUMNS.format(more=more)} FROM (SELECT range AS id FROM range({rows}))"


def written_sheet(path: Path, rows: int) -> Path:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet("sales")
    found = duckdb.execute(sales(rows))
    sheet.append([column[0] for column in found.description])
    while some := found.fetchmany(10_000):
        for row in some:
            sheet.append([float(v) if i == 3 else v for i, v in enumerate(row)])
    book.save(path)
    return path


def written_wide(path: Path, rows: int) -> Path:
    """Random numbers, which do not compress: eight bytes a cell."""
    columns = ", ".join(f"random() AS c{number}" for number in range(WIDE))
    duckdb.execute(
        f"COPY (SELECT {columns} FROM range({rows})) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"
    )
    return path


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def median(
    work: Callable[[], object], runs: int, before: Callable[[], None] = lambda: None
) -> float:
    """Seconds; what comes before is not counted, and a child has the time to be ready again."""
    found = []
    for _ in range(runs):
        before()
        time.sleep(1)
        found.append(timed(work))
    return statistics.median(found)


if __name__ == "__main__":
    sys.exit(main())

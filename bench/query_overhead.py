"""What the confined child costs a query, against bare DuckDB on the same Parquet file.

    python -m bench.query_overhead [--rows N] [--runs N]

Exits with 1 when a target is missed: 100 ms at the median over small queries; 1.3 times bare DuckDB
plus 60 ms for a big group-by. Each query begins when a child waits, as it does after the seconds in
which a person or a model thinks. `back to back` shows what it costs when none does.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import duckdb

from bench._figures import Figure, Report, changed
from leaf.sandbox.pool import Pool
from leaf.settings import Settings
from leaf.store import open_store, users
from leaf.store.model import ChatFile, File, Scope
from leaf.store.results import OUTSIDE
from leaf.tables.tables import Tables

SMALL_TARGET = 0.100
BIG_FACTOR, BIG_SLACK = 1.3, 0.060
SETTLE = 1.0
"""Seconds between queries in which the pool refills."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the big table")
    parser.add_argument("--runs", type=int, default=9)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = Report("query_overhead", ("leaf/sandbox", "leaf/tables"), changed(parser, given))
        return report.end(measure(Path(folder), given.rows, given.runs))


def measure(home: Path, rows: int, runs: int) -> list[Figure]:
    """Small queries, with a child that waits and without, and a big one."""
    store = open_store(Settings(home=home))
    scope = users.ensure_local_user(store.db)
    pool = Pool(home)
    tables = Tables(store, pool, home)
    small_file, big_file = (
        write_parquet(home / "small.parquet", 50_000),
        write_parquet(home / "big.parquet", rows),
    )
    files = {}
    for path in (small_file, big_file):
        with path.open("rb") as stream:
            store.blobs.put(scope.workspace_id, stream, 1 << 40)
        files[path.stem] = chat_file(path, scope)
        tables.of(scope, [files[path.stem]])
    small = compare(tables, scope, files["small"], small_queries("small"), runs, SETTLE)
    crowded = compare(tables, scope, files["small"], small_queries("small"), runs, 0)
    big = compare(tables, scope, files["big"], [big_query("big")], runs, SETTLE)
    pool.close()
    store.close()

    leaf_big, bare_big = (statistics.median(side) for side in zip(*big, strict=True))
    allowed = (BIG_FACTOR * bare_big + BIG_SLACK) * 1000
    over = "small query through the confined child, over bare DuckDB, median"
    return [
        Figure("", over, overhead(small), SMALL_TARGET * 1000, False, "{:.0f} ms"),
        Figure("", "the same, back to back", overhead(crowded), shown="{:.0f} ms"),
        Figure(
            "",
            f"group-by over {rows:,} rows",
            leaf_big * 1000,
            allowed,
            False,
            "{:.0f} ms",
            {"bare DuckDB": bare_big * 1000},
        ),
    ]


def overhead(pairs: Sequence[tuple[float, float]]) -> float:
    """Milliseconds of Leaf beyond bare DuckDB, at the median."""
    return statistics.median(leaf - bare for leaf, bare in pairs) * 1000


def compare(
    tables: Tables, scope: Scope, file: ChatFile, queries: Sequence[str], runs: int, settle: float
) -> list[tuple[float, float]]:
    """(Leaf's seconds, bare DuckDB's) of each query and run, in turn so that both meet the same
    machine; the first is dropped."""
    (table,) = tables.of(scope, [file]).tables
    pairs = []
    for _ in range(runs + 1):
        for sql in queries:
            time.sleep(settle)
            leaf = timed(partial(tables.queries.query, scope, OUTSIDE, [file], sql))
            con = duckdb.connect()
            con.execute(f"CREATE VIEW {table.name} AS FROM read_parquet('{table.parquet}')")
            bare = timed(partial(fetched, con, sql))
            con.close()
            pairs.append((leaf, bare))
    return pairs[len(queries) :]


def fetched(con: duckdb.DuckDBPyConnection, sql: str) -> object:
    return con.execute(sql).fetchmany(200)


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def small_queries(table: str) -> list[str]:
    return [
        f"SELECT count(*) FROM {table}",
        f"SELECT region, sum(amount) AS total FROM {table} GROUP BY region ORDER BY total DESC",
        f"SELECT * FROM {table} WHERE amount > 990 ORDER BY day LIMIT 200",
    ]


def big_query(table: str) -> str:
    measures = "count(*) AS n, sum(amount) AS total, avg(amount) AS mean"
    return f"SELECT region, product, {measures} FROM {table} GROUP BY ALL ORDER BY total DESC"


def write_parquet(path: Path, rows: int) -> Path:
    """Rows that look like sales, as Parquet with zstd."""
    duckdb.execute(
        f"""COPY (SELECT range AS id, 'region ' || (hash(range) % 12) AS region, 'product ' || (hash(range + 1) % 500) AS product,
            (hash(range + 2) % 100000) / 100.0 AS amount, DATE '2020-01-01' + (hash(range + 3) % 1500)::INTEGER AS day
        FROM range({rows})) TO '{path}' (COMPRESSION zstd)"""
    )
    return path


def chat_file(path: Path, scope: Scope) -> ChatFile:
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    now = datetime.now(UTC)
    file = File(
        path.stem,
        scope.workspace_id,
        "bench",
        path.name,
        "",
        "parquet",
        path.stat().st_size,
        sha256,
        "upload",
        "",
        {},
        now,
    )
    return ChatFile("chat", "f1", path.stem, file)


if __name__ == "__main__":
    sys.exit(main())

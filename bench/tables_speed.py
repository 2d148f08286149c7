"""Speed and memory of conversion to Parquet, each measured in a process of its own.

    python -m bench.tables_speed [--rows 10000000] [--sheet-rows 100000]

CSV: Leaf's conversion against bare DuckDB `COPY (FROM read_csv(...)) TO parquet`, at most twice
as long and under 1.5 GB. XLSX of 20 columns: Leaf's conversion against going through every row with
bare python-calamine, at most 1.5 times its CPU, and at most a fifth of what going through it with
openpyxl in read-only mode takes: CPU of all threads, so that what else the machine does counts
less. Best of three; exit code 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench._figures import Figure, Report, changed

CSV_FACTOR = 2.0
"""Target: beside writing them, all lines are counted, and looked through for control characters and
words of totals."""
CSV_SQL = """
COPY (SELECT i AS id, DATE '2020-01-01' + (i % 1500)::INT AS day, ['North', 'South', 'East', 'West'][1 + i % 4] AS region,
             'Product ' || (i % 937) AS product, (i * 7919) % 500 AS quantity, round(random() * 1000, 2) AS price,
             round(random(), 4) AS discount, 'C' || lpad(((i * 31) % 99991)::VARCHAR, 6, '0') AS customer, i % 97 AS store,
             round(random() * 90000, 2) AS revenue
      FROM range({rows}) t(i)) TO '{path}' (HEADER)
"""


def leaf_csv(path: Path, out: Path) -> int:
    from leaf.readers.tabular.delimited import DelimitedReader

    return DelimitedReader().tables(path, out)[0].rows


def duckdb_csv(path: Path, out: Path) -> int:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    row = connection.execute(
        f"COPY (FROM read_csv('{path}')) TO '{out}/bare.parquet' (FORMAT parquet, COMPRESSION zstd)"
    ).fetchone()
    return int(row[0]) if row else 0


def leaf_xlsx(path: Path, out: Path) -> int:
    from leaf.readers.tabular.sheets import SheetsReader

    return SheetsReader().tables(path, out)[0].rows


def calamine_xlsx(path: Path, out: Path) -> int:
    from python_calamine import CalamineWorkbook

    return sum(1 for _ in CalamineWorkbook.from_path(path).get_sheet_by_index(0).iter_rows()) - 1


def openpyxl_xlsx(path: Path, out: Path) -> int:
    from openpyxl import load_workbook

    return (
        sum(
            1 for _ in load_workbook(path, read_only=True).worksheets[0].iter_rows(values_only=True)
        )
        - 1
    )


WAYS: dict[str, Callable[[Path, Path], int]] = {
    f.__name__: f for f in (leaf_csv, duckdb_csv, leaf_xlsx, calamine_xlsx, openpyxl_xlsx)
}


def child(way: str, path: str) -> None:
    """Run one way once; print its seconds, its peak memory in MB, its rows and its seconds of CPU.

    Libraries are loaded before the clock starts, as they are in a waiting sandbox child.
    """
    import resource
    import time

    from leaf.readers.tabular.sql import warm

    warm()
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as out:
        start, worked = time.perf_counter(), time.process_time()
        rows = WAYS[way](Path(path), Path(out))
        seconds, worked = time.perf_counter() - start, time.process_time() - worked
    print(
        json.dumps(
            [seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, rows, worked]
        )
    )


def measure(way: str, path: Path, times: int, by: int = 0) -> tuple[float, float, int, float]:
    """Seconds, memory, rows and seconds of CPU of the best time: `by` is the place of what is
    compared."""
    results = []
    for _ in range(times):
        run = subprocess.run(
            [sys.executable, "-m", "bench.tables_speed", "--child", way, str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        results.append(json.loads(run.stdout))
    best = min(results, key=lambda r: r[by])
    return best[0], max(r[1] for r in results), best[2], best[3]


def make_xlsx(path: Path, rows: int) -> None:
    import datetime
    import random

    from openpyxl import Workbook

    r = random.Random(5)
    book = Workbook(write_only=True)
    sheet = book.create_sheet("data")
    sheet.append([f"column {n}" for n in range(20)])
    first = datetime.date(2020, 1, 1)
    for n in range(rows):
        numbers = [round(r.uniform(0, 10_000), 2) for _ in range(8)]
        counts = [r.randrange(100_000) for _ in range(5)]
        texts = [f"name {r.randrange(5000)}" for _ in range(5)]
        sheet.append([n, first + datetime.timedelta(days=n % 2000), *texts, *counts, *numbers])
    book.save(path)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--sheet-rows", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return 0
    report = Report("tables_speed", ("leaf/readers/tabular",), changed(parser, options))
    with tempfile.TemporaryDirectory(prefix="tables-speed-") as name:
        folder = Path(name)
        figures = csv_part(folder, options.rows, options.times)
        return report.end([*figures, *xlsx_part(folder, options.sheet_rows, options.times)])


def csv_part(folder: Path, rows: int, times: int) -> list[Figure]:
    import duckdb

    path = folder / "big.csv"
    duckdb.sql(CSV_SQL.format(rows=rows, path=path))
    name = f"CSV of {rows:,} rows ({path.stat().st_size / 1e6:,.0f} MB) to Parquet"
    print(name)
    bare = measure("duckdb_csv", path, times)
    ours = measure("leaf_csv", path, times)
    path.unlink()
    for label, (seconds, memory, count, _) in (("bare DuckDB", bare), ("Leaf", ours)):
        print(f"  {label:14} {seconds:7.2f} s {memory:8,.0f} MB {count:12,} rows")
    return [
        Figure(name, "time, against bare DuckDB", ours[0] / bare[0], CSV_FACTOR, False, "{:.2f} ×"),
        Figure(name, "most memory", ours[1], 1_500, False, "{:,.0f} MB", {"bare DuckDB": bare[1]}),
        Figure(name, "rows that come out", ours[2], rows, shown="{:,.0f}"),
    ]


def xlsx_part(folder: Path, rows: int, times: int) -> list[Figure]:
    path = folder / "big.xlsx"
    make_xlsx(path, rows)
    name = f"XLSX of {rows:,} × 20 to Parquet"
    print(f"{name}, {path.stat().st_size / 1e6:,.0f} MB")
    results = {
        way: measure(way, path, 1 if way.startswith("openpyxl") else times, by=3)
        for way in ("calamine_xlsx", "leaf_xlsx", "openpyxl_xlsx")
    }
    for way, (seconds, memory, count, worked) in results.items():
        print(
            f"  {way:14} {worked:7.2f} s of CPU in {seconds:.2f} s {memory:8,.0f} MB "
            f"{count:12,} rows"
        )
    slower = results["leaf_xlsx"][3] / results["calamine_xlsx"][3]
    faster = results["openpyxl_xlsx"][3] / results["leaf_xlsx"][3]
    return [
        Figure(
            name,
            "CPU, against reading it with bare python-calamine",
            slower,
            1.5,
            False,
            "{:.2f} ×",
        ),
        Figure(
            name, "times as fast as reading it with openpyxl read-only", faster, 5, True, "{:.1f} ×"
        ),
        Figure(name, "rows that come out", results["leaf_xlsx"][2], rows, shown="{:,.0f}"),
    ]


if __name__ == "__main__":
    sys.exit(main())

# The first cell of a notebook from a bundle: its source is copied there, so nothing here may need
# Leaf. It finds the data files by their SHA-256, runs the queries, and compares what comes out with
# what the chat had. The chat's own Python shares these names, so they are none that it may take.
import glob
import hashlib
import math
import re
import struct
import unicodedata
from collections.abc import Iterable
from datetime import datetime as _Moment
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd


def files_by_hash(files: list[dict[str, Any]], folder: Path) -> dict[str, Path]:
    """Which of the chat's files are in a folder, under whatever name."""
    sizes = {file["size"] for file in files}
    by_hash: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.stat().st_size in sizes:
            digest = hashlib.sha256()
            with path.open("rb") as content:
                while piece := content.read(1 << 20):
                    digest.update(piece)
            by_hash.setdefault(digest.hexdigest(), path)
    return {file["sha256"]: by_hash[file["sha256"]] for file in files if file["sha256"] in by_hash}


def frame_of(value: Any) -> pd.DataFrame | None:
    """A result of Python as the chat keeps it: a Series as a table, an index that says something as
    columns, each name once. None for what is neither."""
    if isinstance(value, pd.Series):
        value = value.to_frame(value.name if value.name is not None else "value")
    if not isinstance(value, pd.DataFrame):
        return None
    index = value.index
    if not (isinstance(index, pd.RangeIndex) and index.name is None):
        unnamed = ["index"] if index.nlevels == 1 else [f"level_{i}" for i in range(index.nlevels)]
        names = [
            n if name is None else str(name) for name, n in zip(index.names, unnamed, strict=True)
        ]
        taken = {column_name(column) for column in value.columns}
        names = [f"{name}_index" if name in taken else name for name in names]
        value = value.reset_index(names=names, allow_duplicates=True)
    columns: list[str] = []
    for name in map(column_name, value.columns):
        again = sum(one.lower() == name.lower() for one in columns)
        columns.append(f"{name}_{again + 1}" if again else name)
    return value.set_axis(columns, axis=1)


def column_name(column: Any) -> str:
    """In one word, of a name with several levels too."""
    parts = column if isinstance(column, tuple) else (column,)
    return "_".join(str(part) for part in parts if str(part)) or "column"


def file_named(files: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The file of that handle, name or end of a name, as the chat's `open_file` takes them."""
    key = file_key(name)
    for file in files:
        if name.strip() == file["handle"]:
            return file
    named = [file for file in files if key in (file_key(file["name"]), file["slug"].lower())]
    named = named or [file for file in files if file_key(file["name"]).endswith(f"/{key}")]
    if len(named) != 1:
        raise FileNotFoundError(f"{'several files are' if named else 'no file is'} called {name}")
    return named[0]


def file_key(name: str) -> str:
    return unicodedata.normalize("NFC", " ".join(name.split()).casefold())


def named_in(sql: str, names: Iterable[str]) -> list[str]:
    """Those that SQL has as whole words."""
    words = set(re.findall(r"\w+", sql))
    return [name for name in names if name in words]


def query_frames(sql: str, frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Rows of a query over frames by their names."""
    import duckdb

    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        con.execute(f"SET pandas_analyze_sample = {2**40}")  # or 2.5 behind a 1 is read as 2
        for name, frame in frames.items():
            con.register(name, frame)
        return rows_of(con.sql(sql.strip().rstrip(";")))


CELL_SHOWN = 500
"""Characters of a cell that the chat shows; of longer ones the manifest has the beginning."""


def plain_cell(value: Any) -> Any:
    """A cell as the manifest writes it: times as text, numbers as numbers, nothing as None, bytes as
    their count, lists and records as they are, long text cut."""
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, str):
        return cut_cell(value)
    if isinstance(value, (bytes, bytearray)):
        return f"<{len(value)} bytes>"
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, pd.Timedelta):
        return str(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "mask"):  # numbers of which some are missing
        value = value.tolist()
    if getattr(value, "ndim", 0) or isinstance(value, (list, tuple)):
        return short_cell([plain_cell(one) for one in value])
    if isinstance(value, dict):
        return short_cell({str(key): plain_cell(one) for key, one in value.items()})
    return value.item() if hasattr(value, "item") else value


def short_cell(value: Any) -> Any:
    return value if len(str(value)) <= CELL_SHOWN else cut_cell(str(value))


def cut_cell(text: str) -> str:
    return text if len(text) <= CELL_SHOWN else text[: CELL_SHOWN - 1] + "…"


def cell_moment(value: Any) -> _Moment | None:
    """A time that says its distance from UTC, which may be another one on another machine."""
    try:
        moment = _Moment.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None


def cell_time_text(value: Any) -> str:
    """A cell as text, days without the hour 0, hours with their seconds."""
    return re.sub(r"^\d\d:\d\d$", r"\g<0>:00", re.sub(r"T00:00:00$", "", str(value)))


def cell_number(value: Any) -> int | float | None:
    """A cell as a number; nothing for digits that begin with a zero, which are a name: 01067."""
    if not isinstance(value, str):
        return value if isinstance(value, int | float) else None
    if re.match(r"[-+]?0\d", value):
        return None
    try:
        return int(value) if re.fullmatch(r"[-+]?\d+", value) else float(value)
    except ValueError:
        return None


def same_cell(kept: Any, again: Any) -> bool:
    """Whether two cells are the same: fractions to 9 digits, whole numbers to the last one, times
    with or without the hour 0."""
    again = plain_cell(again)
    if isinstance(kept, bool) or isinstance(again, bool) or kept is None or again is None:
        return kept is again or kept == again
    if kept == again:
        return True
    if isinstance(kept, list) and isinstance(again, dict):  # pairs of a MAP
        again = [list(pair) for pair in again.items()]
    if isinstance(kept, list) and isinstance(again, list):
        return len(kept) == len(again) and all(map(same_cell, kept, again))
    if isinstance(kept, dict) and isinstance(again, dict):
        return list(kept) == list(again) and all(same_cell(kept[key], again[key]) for key in kept)
    a, b = cell_number(kept), cell_number(again)
    if a is None or b is None:
        was, now = cell_moment(kept), cell_moment(again)
        if was is not None and now is not None:
            return was == now
        return cell_time_text(kept) == cell_time_text(again)
    whole = all(isinstance(n, int) or (abs(n) < 1e15 and n == int(n)) for n in (a, b))
    near = math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    return a == b or (not whole and (near or same_of_32_bits(a, b)))


def same_of_32_bits(a: float, b: float) -> bool:
    """Whether one is a number of 32 bits and the other its own digits: 0.10000000149011612 is what
    0.1 becomes where it is computed with."""
    short, long = sorted((float(a), float(b)), key=lambda number: len(repr(number)))
    try:
        return bool(struct.unpack("f", struct.pack("f", short))[0] == long)
    except OverflowError:
        return False


IN_NO_ORDER = 10_000
"""Rows of a result in which the kept ones are looked for wherever they stand."""
MOST_COMPARED = 400_000
"""Pairs of rows that are looked at for it, in some seconds."""


def rows_in_any_order(kept: list[list[Any]], again: list[list[Any]]) -> bool:
    """Whether each kept row has one like it, and no two the same one: a query that sorts nothing
    may give its rows in any order."""
    left: dict[tuple[str, ...], list[list[Any]]] = {}
    for row in again:
        plain = [plain_cell(cell) for cell in row]
        left.setdefault(row_key(plain), []).append(plain)
    if sum(len(left.get(row_key(row), [])) for row in kept) > MOST_COMPARED:
        return False
    for row in kept:
        alike = left.get(row_key(row), [])
        at = next((i for i, other in enumerate(alike) if all(map(same_cell, row, other))), None)
        if at is None:
            return False
        del alike[at]
    return True


def row_key(row: list[Any]) -> tuple[str, ...]:
    """Equal for rows that are the same: words alone, since a number or a time is written in several
    ways."""
    return tuple(
        cell
        if isinstance(cell, str) and not cell[:1].isdigit() and cell_number(cell) is None
        else ""
        for cell in row
    )


def result_differences(result: dict[str, Any], frame: pd.DataFrame) -> str:
    """What is different between a result of the chat and a frame, in words; nothing where they
    agree."""
    if len(frame) != result["total"]:
        return f"{len(frame):,} rows in place of {result['total']:,}"
    if list(frame.columns) != result["columns"]:
        return "the columns are others"
    rows = frame.head(len(result["rows"])).astype(object).values.tolist()
    cells = [
        (number, column, was, plain_cell(now))
        for number, (row, again) in enumerate(zip(result["rows"], rows, strict=True), 1)
        for column, was, now in zip(result["columns"], row, again, strict=True)
        if not same_cell(was, now)
    ]
    if not cells:
        return ""
    if len(frame) <= IN_NO_ORDER and rows_in_any_order(
        result["rows"], frame.astype(object).values.tolist()
    ):
        return ""
    first = "; ".join(
        f"row {number}, {column}: {was} was, {now} is" for number, column, was, now in cells[:3]
    )
    return f"{len(cells):,} of the first cells are different: {first}"


TEXT_IN_RESULTS = re.compile(
    r"\b(?:INTERVAL|BIT|BIGNUM|VARINT|TIME WITH TIME ZONE|TIMETZ|TIME_NS|UHUGEINT|UNION|VARIANT"
    r"|GEOMETRY)\b"
)
"""Types that are text in results of the chat, and so is what is made of them."""
NAMES_IN_TYPES = re.compile(r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'")
"""Names within a type."""


def as_kept(number: int, kind: Any) -> str:
    """SQL for a column as results of the chat have it."""
    is_text = TEXT_IN_RESULTS.search(NAMES_IN_TYPES.sub("", str(kind)))
    return f"CAST(#{number} AS VARCHAR)" if is_text else f"#{number}"


def rows_of(relation: Any) -> pd.DataFrame:
    columns = ", ".join(map(as_kept, range(1, 1 + len(relation.types)), relation.types))
    return relation.project(columns).df().set_axis(relation.columns, axis=1)


class DuckTables:
    """The tables without Leaf: CSV and Parquet files by DuckDB's own reader."""

    def __init__(self, files: list[dict[str, Any]], folder: Path) -> None:
        import duckdb

        self.con = duckdb.connect()
        self.con.execute("SET TimeZone = 'UTC'")  # as in the chat, wherever this runs
        self.kept: set[str] = set()
        there = files_by_hash(files, folder)
        for file in files:
            path, tables = there.get(file["sha256"]), [table["name"] for table in file["tables"]]
            reader = {"csv": "read_csv", "tsv": "read_csv", "parquet": "read_parquet"}.get(
                file["kind"]
            )
            if path is None:
                print(f"Missing: {file['name']} (sha256 {file['sha256'][:12]}…)")
            elif (
                reader is None
                or len(tables) > 1
                or not self._has_read(reader, path, tables[0] if tables else file["slug"])
            ):
                print(
                    f"{file['name']} cannot be read without Leaf; the first lines of this "
                    f"notebook say how to have it."
                )

    def _has_read(self, reader: str, path: Path, name: str) -> bool:
        """Make a file a table, and say whether DuckDB can read its beginning."""
        import duckdb

        quoted = glob.escape(str(path)).replace("'", "''")  # [1] in a name is no pattern
        source = f"{reader}('{quoted}', hive_partitioning = false)"
        try:
            self.con.execute(f'CREATE VIEW "{name}" AS FROM {source}')
        except duckdb.Error:  # other files are read all the same
            return False
        return True

    def query(self, sql: str, name: str = "") -> pd.DataFrame:
        """`name` is that of the result in the chat: later queries may read from it."""
        result = rows_of(self.con.sql(sql.strip().rstrip(";")))
        self.keep(name, result)
        return result

    def keep(self, name: str, frame: pd.DataFrame) -> None:
        """A result under its name, unless a table of the chat has that name."""
        tables = {
            table
            for (table,) in self.con.execute(
                "SELECT view_name FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
        }
        if name and name not in tables - self.kept:
            self.con.register(name, frame)
            self.kept.add(name)

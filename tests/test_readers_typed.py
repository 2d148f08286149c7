"""Tables out of Arrow, ORC, SQLite, DuckDB, SPSS, Stata and SAS files, and odd Parquet and JSON."""

from __future__ import annotations

import json
import math
import sqlite3
import struct
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pyreadstat
import pytest
from pyarrow import orc

from leaf.errors import FileError, UnreadableFileError
from leaf.readers.base import TableInfo, Where
from leaf.readers.detect import detect
from leaf.readers.tabular import columns
from leaf.readers.worker import extract, inspect, read, reader_of, tables

TABLE = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "name": pa.array(["Jürgen", "中", None]),
        "day": pa.array([date(2024, 1, 2), None, date(9999, 12, 31)], pa.date32()),
        "price": pa.array([1.5, None, 2.0]),
    }
)
ROWS = [
    (1, "Jürgen", date(2024, 1, 2), 1.5),
    (2, "中", None, None),
    (3, None, date(9999, 12, 31), 2.0),
]


def load(path: Path, kind: str) -> list[tuple[TableInfo, list[tuple[Any, ...]]]]:
    assert detect(path, path.name)[0] == kind
    reader: Any = reader_of(kind)
    outline = reader.outline(path)
    out = path.parent / "out"
    infos = reader.tables(path, out)
    assert outline.rows == max(i.rows for i in infos)
    return [
        (i, duckdb.connect().execute(f"SELECT * FROM read_parquet('{out / i.parquet}')").fetchall())
        for i in infos
    ]


def write_stream(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


def write_ipc(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.feather", lambda t, p: feather.write_feather(t, p)),
        ("b.arrow", write_ipc),
        ("c.arrows", write_stream),
        ("d.orc", lambda t, p: orc.write_table(t, p)),
    ],
)
def test_arrow_and_orc_files_are_tables(
    tmp_path: Path, name: str, write: Callable[[pa.Table, Path], None]
) -> None:
    write(TABLE, tmp_path / name)
    ((info, rows),) = load(tmp_path / name, "arrow")
    assert rows == ROWS
    assert info.columns == (
        ("id", "BIGINT"),
        ("name", "VARCHAR"),
        ("day", "DATE"),
        ("price", "DOUBLE"),
    )
    assert [
        p.text for p in reader_of("arrow").passages(tmp_path / name, Where(first=2, last=2))
    ] == ["[columns: id | name | day | price]\n2 | 中 |  | "]


def test_arrow_types_without_a_like_become_the_nearest_or_text(tmp_path: Path) -> None:
    table = pa.table(
        {
            "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
            "tags": pa.array([["x", "y"], [], None]),
            "half": pa.array([0.5, 1.0, None], pa.float16()),
            "took": pa.array([1, 2, None], pa.duration("s")),
            "nothing": pa.nulls(3),
            "at": pa.array([1_700_000_000_123_456_789, None, 0], pa.timestamp("ns")),
        }
    )
    feather.write_feather(table, tmp_path / "odd.feather")
    ((info, rows),) = load(tmp_path / "odd.feather", "arrow")
    assert [r[0] for r in rows] == ["a", "b", "a"]
    assert [r[1] for r in rows] == ['["x","y"]', "[]", None]
    assert [r[2] for r in rows] == [0.5, 1.0, None]
    assert [r[3] for r in rows] == [1.0, 2.0, None]
    assert [n.kind for n in info.notes] == ["durations", "nested"]
    assert len(list(reader_of("arrow").passages(tmp_path / "odd.feather", Where()))) == 3


def test_each_table_of_a_sqlite_file_stands_under_its_name(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """CREATE TABLE "Bestellungen ä" (id INTEGER PRIMARY KEY, amount, note TEXT);
               INSERT INTO "Bestellungen ä" VALUES (1, 2, 'x'), (2, 2.5, NULL), (3, NULL, 'y');
               CREATE TABLE mixed (v); INSERT INTO mixed VALUES (1), ('two'), (3.5);
               CREATE TABLE empty (a INTEGER, b TEXT);
               CREATE VIEW seen AS SELECT * FROM mixed;"""
        )
    connection.close()
    orders, mixed, empty = load(path, "database")
    assert orders[0].sheet == "Bestellungen ä"
    assert orders[1] == [(1, 2.0, "x"), (2, 2.5, None), (3, None, "y")]
    assert mixed[1] == [("1",), ("two",), ("3.5",)]
    assert "types-mixed" in [n.kind for n in mixed[0].notes]
    assert (empty[0].rows, [c for c, _ in empty[0].columns]) == (0, ["a", "b"])
    assert [n.text for n in orders[0].notes] == ["Views and virtual tables are not read: seen."]


def test_a_view_of_a_hostile_database_is_never_run(tmp_path: Path) -> None:
    path = tmp_path / "trap.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE t (a); INSERT INTO t VALUES (1);"
            "CREATE VIEW forever AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM "
            "c) SELECT x FROM c;"
        )
    connection.close()
    assert [rows for _, rows in load(path, "database")] == [[(1,)]]


def test_a_schema_whose_names_are_no_text_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "odd.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE quarters (a)")
    connection.close()
    data = path.read_bytes()
    for old, new in (
        (b"tablequarters", b"tablequarte\xff\xfe"),
        (b"CREATE TABLE", b"CREATE TABXX"),
    ):
        assert data.count(old) == 1
        data = data.replace(old, new)
    path.write_bytes(data)
    with pytest.raises(UnreadableFileError, match="SQLite database"):
        reader_of("database").outline(path)


def test_tables_of_a_duckdb_file_keep_their_types(tmp_path: Path) -> None:
    path = tmp_path / "lake.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE a AS SELECT 1 AS id, DATE '2024-01-02' AS day, [1, 2] AS list"
        )
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.b AS SELECT 'x' AS t FROM range(30000)")
        connection.execute("CREATE VIEW v AS SELECT * FROM read_csv('/etc/passwd')")
    first, second = load(path, "database")
    assert (first[0].sheet, first[1]) == ("a", [(1, date(2024, 1, 2), "[1,2]")])
    assert (second[0].sheet, second[0].rows) == ("s.b", 30_000)


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "ID": [1, 2, 3],
            "SEX": [1.0, 2.0, None],
            "AGE": [30.0, 99.0, 41.0],
            "NAME": ["Jürgen", "Ana", ""],
            "DAY": [date(2024, 1, 2), None, date(2000, 2, 29)],
        }
    )


LABELS = {"SEX": {1: "Male", 2: "Female"}, "AGE": {99: "unknown"}}


@pytest.mark.parametrize("name", ["a.sav", "a.zsav", "a.dta", "a.por"])
def test_codes_that_all_have_a_label_become_it_and_others_stay(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    options: dict[str, Any] = {"variable_value_labels": LABELS}
    if name.endswith("sav"):
        pyreadstat.write_sav(
            frame(),
            path,
            compress=name == "a.zsav",
            column_labels={"SEX": "Sex of the person"},
            **options,
        )
    elif name == "a.dta":
        pyreadstat.write_dta(frame().drop(columns="DAY"), path, **options)
    else:
        pyreadstat.write_por(frame().drop(columns="DAY").replace("Jürgen", "Juergen"), path)
    ((info, rows),) = load(path, "stats")
    assert [r[0] for r in rows] == [1, 2, 3]
    assert [r[3] for r in rows] == ["Jürgen", "Ana", None] or name == "a.por"
    if name != "a.por":
        assert [r[1] for r in rows] == ["Male", "Female", None]
        assert [r[2] for r in rows] == [30, 99, 41]
        assert {"codes-labelled", "codes-kept"} <= {n.kind for n in info.notes}
    if name.endswith("sav"):
        assert [r[4] for r in rows] == [date(2024, 1, 2), None, date(2000, 2, 29)]
        assert any("Sex of the person" in n.text for n in info.notes)


def test_sas_transport_files_are_tables(tmp_path: Path) -> None:
    pyreadstat.write_xport(frame().drop(columns="DAY"), tmp_path / "a.xpt")
    ((_, rows),) = load(tmp_path / "a.xpt", "stats")
    assert [(r[0], r[2]) for r in rows] == [(1, 30), (2, 99), (3, 41)]


def test_a_column_whose_first_rows_are_empty_keeps_its_type(tmp_path: Path) -> None:
    days = [None] * 60_000 + [datetime(2024, 1, 2, 3, 4, 5)]
    pyreadstat.write_sav(
        pd.DataFrame({"at": pd.to_datetime(pd.Series(days)), "n": range(60_001)}),
        tmp_path / "long.sav",
    )
    ((info, rows),) = load(tmp_path / "long.sav", "stats")
    assert info.columns == (("at", "TIMESTAMP"), ("n", "BIGINT"))
    assert rows[-1] == (datetime(2024, 1, 2, 3, 4, 5), 60_000)


@pytest.mark.parametrize(
    "name", ["a.feather", "a.orc", "a.db", "a.duckdb", "a.sav", "a.dta", "a.xpt"]
)
def test_a_cut_file_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    whole = tmp_path / f"whole-{name}"
    if name == "a.feather":
        feather.write_feather(TABLE, whole, compression="uncompressed")
    elif name == "a.orc":
        orc.write_table(TABLE, whole)
    elif name == "a.db":
        with sqlite3.connect(whole) as connection:
            connection.execute("CREATE TABLE t (a)")
            connection.executemany("INSERT INTO t VALUES (?)", [("x" * 500,)] * 500)
        connection.close()
    elif name == "a.duckdb":
        with duckdb.connect(str(whole)) as connection:
            connection.execute("CREATE TABLE t AS SELECT range AS a FROM range(100000)")
    else:
        writers: dict[str, Callable[..., None]] = {
            "a.sav": pyreadstat.write_sav, "a.dta": pyreadstat.write_dta, "a.xpt": pyreadstat.write_xport,
        }  # fmt: skip
        writers[name](pd.DataFrame({"A": ["abc"] * 400}), whole)
    data = whole.read_bytes()
    path = tmp_path / name
    path.write_bytes(data[: len(data) // 3])
    kind, _ = detect(path, name)
    reader: Any = reader_of(kind)
    with pytest.raises(FileError) as caught:
        reader.tables(path, tmp_path / "out")
    assert caught.value.message.startswith("This file is no readable ")


def test_a_parquet_file_that_one_library_cannot_read_is_read_by_the_other(
    tmp_path: Path, foreign: Path
) -> None:
    path = foreign / "parquet" / "data" / "map_no_value.parquet"
    reader: Any = reader_of("parquet")
    (info,) = reader.tables(path, tmp_path)
    assert info.rows == 3
    assert len(list(reader.passages(path, Where()))) == 3


@pytest.mark.parametrize(
    ("name", "kind"), [("a.parquet", "parquet"), ("a.feather", "arrow"), ("a.jsonl", "json")]
)
def test_nan_is_no_value_and_is_said(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / name
    table = pa.table({"region": ["N", "S", "E"], "x": [10.5, math.nan, 5.0], "y": [1.0, 2.0, 3.5]})
    if kind == "parquet":
        pq.write_table(table, path)
    elif kind == "arrow":
        feather.write_feather(table, path)
    else:
        path.write_text("\n".join(json.dumps(row) for row in table.to_pylist()))
    ((info, rows),) = load(path, kind)
    assert rows == [("N", 10.5, 1.0), ("S", None, 2.0), ("E", 5.0, 3.5)]
    (note,) = info.notes
    assert (note.kind, "'NaN' in 'x' were read as empty" in note.text) == ("missing-words", True)


def test_dates_beyond_pythons_are_shown_as_text(tmp_path: Path) -> None:
    path = tmp_path / "far.parquet"
    far = pa.array([3_000_000_000_000_000, 0], pa.timestamp("ms"))
    pq.write_table(
        pa.table(
            {
                "at": far,
                "rec": pa.array([{"d": 5_000_000}, {"d": 0}], pa.struct([("d", pa.date32())])),
            }
        ),
        path,
    )
    texts = [p.text for p in reader_of("parquet").passages(path, Where())]
    assert len(texts) == 2
    assert "1970-01-01" in texts[1]


def test_every_foreign_parquet_file_is_read_or_refused_in_words(
    tmp_path: Path, foreign: Path
) -> None:
    refused = []
    for path in sorted((foreign / "parquet").rglob("*.parquet")):
        try:
            looked = inspect(str(path), path.name)
            read(str(path), looked["kind"])
            (tmp_path / path.stem).mkdir()
            tables(str(path), looked["kind"], str(tmp_path / path.stem))
        except FileError as e:
            refused.append((path.name, e.message.startswith("This file is no readable ")))
    assert set(refused) <= {("ARROW-GH-41321.parquet", True), ("ARROW-GH-45185.parquet", True)}


@pytest.mark.parametrize("depth", [400, 990, 5_000, 200_000])
@pytest.mark.parametrize(
    "form", ["[{}]", '[{{"x": 1, "a": {}}}, {{"x": 2}}]', '{{"x": 1, "a": {}}}\n' * 3]
)
def test_json_nested_beyond_tables_is_read_as_text(tmp_path: Path, depth: int, form: str) -> None:
    path = tmp_path / "deep.json"
    path.write_text(form.format("[" * depth + "]" * depth, *["[" * depth + "]" * depth] * 2))
    looked = inspect(str(path), path.name)
    assert looked["kind"] == "text"
    assert [n["kind"] for n in looked["outline"]["notes"]][-1] == "not-json"


def test_a_file_that_only_looks_like_json_is_read_as_text(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": 1, oops}\n// comment\n')
    looked = inspect(str(path), path.name)
    assert looked["kind"] == "text"
    assert "no valid JSON" in looked["outline"]["notes"][-1]["text"]


def test_half_characters_in_json_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"a": "x\\ud800y"}, {"a": "\\ud83d\\ude00"}]')
    assert extract(str(path), "json", str(tmp_path))["count"] == 2
    ((_, rows),) = load(path, "json")
    assert rows == [("x\ufffdy",), ("😀",)]


def test_durations_are_seconds_and_views_are_text_in_every_typed_format(tmp_path: Path) -> None:
    words = pa.array(["x", "y", "x"], pa.string_view()).cast(pa.string()).dictionary_encode()
    names = pa.DictionaryArray.from_arrays(words.indices, words.dictionary.cast(pa.string_view()))
    table = pa.table(
        {
            "lasts": pa.array([1_500, None, -2_000], pa.duration("ms")),
            "name": names,
            "none": pa.nulls(3),
        }
    )
    feather.write_feather(table, tmp_path / "a.feather")
    pq.write_table(table.drop(["name"]), tmp_path / "a.parquet")
    for name, kind in (("a.feather", "arrow"), ("a.parquet", "parquet")):
        out = tmp_path / kind
        out.mkdir()
        (info,) = reader_of(kind).tables(tmp_path / name, out)
        types = dict(info.columns)
        assert (types["lasts"], types["none"]) == ("DOUBLE", "VARCHAR")
        assert [n.text for n in info.notes] == ["Durations in 'lasts' were read as seconds."]
        assert pq.read_table(out / info.parquet)["lasts"].to_pylist() == [1.5, None, -2.0]
    assert pq.read_table(tmp_path / "arrow" / "0.parquet")["name"].to_pylist() == ["x", "y", "x"]


def test_intervals_of_a_database_read_as_people_write_them(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT INTERVAL 1 DAY AS i UNION ALL SELECT NULL")
    (tmp_path / "out").mkdir()
    (info,) = reader_of("database").tables(tmp_path / "d.duckdb", tmp_path / "out")
    assert pq.read_table(tmp_path / "out" / info.parquet)["i"].to_pylist() == ["1 day", None]


def _with_smaller_bounds(path: Path, said: int, instead: int) -> None:
    """Changes what the end of a Parquet file says of its largest value."""
    data = path.read_bytes()
    end = len(data) - 8 - struct.unpack("<I", data[-8:-4])[0]
    changed = data[end:].replace(struct.pack("<q", said), struct.pack("<q", instead))
    assert changed != data[end:]
    path.write_bytes(data[:end] + changed)


def test_a_parquet_file_that_is_wrong_about_its_values_loses_no_rows(tmp_path: Path) -> None:
    path, out = tmp_path / "amounts.parquet", tmp_path / "out"
    pq.write_table(pa.table({"amount": list(range(1, 1_001))}), path)
    _with_smaller_bounds(path, 1_000, 500)
    asked = "SELECT count(*) FROM '{}' WHERE amount > 900"
    assert duckdb.sql(asked.format(path)).fetchall() == [(0,)]  # what would be answered otherwise
    out.mkdir()
    reader: Any = reader_of("parquet")
    (info,) = reader.tables(path, out)
    assert info.rows == 1_000
    assert duckdb.sql(asked.format(out / info.parquet)).fetchall() == [(100,)]


def test_a_parquet_file_that_is_right_about_its_values_stays_as_it_is(tmp_path: Path) -> None:
    columns = {
        "small": pa.array([1, None, 3], pa.int8()),
        "unsigned": pa.array([1, 2, 2**64 - 1], pa.uint64()),
        "fraction": pa.array([1.5, float("inf"), None]),
        "half": pa.array([1, 2, 3], pa.float16()),
        "text": pa.array(["a", "ü", "z" * 500]),
        "bytes": pa.array([b"a", b"\xff", None]),
        "flag": pa.array([True, False, None]),
        "moment": pa.array([1, 2, 3], pa.timestamp("ns")),
        "in_zone": pa.array([1, 2, None], pa.timestamp("us", "Europe/Berlin")),
        "day": pa.array([date(2020, 1, 1), None, date(1, 1, 1)]),
        "time": pa.array([1, 2, 3], pa.time64("us")),
        "money": pa.array([Decimal("1.25"), None, Decimal("-3.00")]),
        "word": pa.array(["a", "b", "a"]).dictionary_encode(),
    }
    path, out = tmp_path / "kinds.parquet", tmp_path / "out"
    pq.write_table(pa.table(columns), path)
    out.mkdir()
    reader: Any = reader_of("parquet")
    (info,) = reader.tables(path, out)
    assert (out / info.parquet).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["assets.csv", "incidents.csv", "nls_raw.csv"])
def test_columns_are_read_alike_whether_proven_together_or_each_by_itself(
    real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    mixed = tmp_path / "mixed.csv"
    mixed.write_text(
        "a,b,c,d,e,f\n1,2.5,N/A,2024-01-02,x,1\n,3.25,7,2024-02-03,3,-\n4,n/a,,31.12.2024,,oops\n"
    )
    for source in (real_data / name, mixed):
        read_so: list[Any] = []
        for few in (columns._FEW, -1):
            monkeypatch.setattr(columns, "_FEW", few)
            out = tmp_path / f"{source.stem}{few}"
            out.mkdir()
            found = tables(str(source), "csv", str(out))
            held = [pq.read_table(path).to_pylist() for path in sorted(out.glob("*.parquet"))]
            assert held
            read_so.append((found, held))
        assert read_so[0] == read_so[1]
        monkeypatch.undo()


def _to_sqlite(frame: pd.DataFrame, path: Path) -> None:
    with sqlite3.connect(path) as connection:
        frame.to_sql("sales", connection, index=False)


def _to_duckdb(frame: pd.DataFrame, path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.register("given", frame)
        connection.execute("CREATE TABLE sales AS FROM given")


WRITERS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "a.json": lambda frame, path: frame.to_json(path, orient="records"),
    "a.jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "a.parquet": lambda frame, path: frame.to_parquet(path),
    "a.feather": lambda frame, path: frame.to_feather(path),
    "a.dta": lambda frame, path: frame.to_stata(path, write_index=False),
    "a.sqlite": _to_sqlite,
    "a.duckdb": _to_duckdb,
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("kind", ["int64", "uint16", "float64"])
def test_totals_of_any_format_do_not_count_twice(tmp_path: Path, name: str, kind: str) -> None:
    values = [4_839, 7_721, 1_550, 2_011]
    if name.endswith((".dta", ".sqlite")) and kind == "uint16":
        kind = "int32"  # neither has others
    frame = pd.DataFrame(
        {
            "region": ["North", "South", "East", "West", "Total"],
            "sales": pd.array([*values, sum(values)], dtype=kind),
            "units": pd.array([121, 339, 81, 95, 636], dtype=kind),
        }
    )
    path = tmp_path / name
    WRITERS[name](frame, path)
    reader: Any = reader_of(detect(path, name)[0])
    [info] = reader.tables(path, tmp_path / "out")
    assert (info.rows, dict(info.left_out)) == (4, {"total": (5,)})
    assert "total-rows" in {note.kind for note in info.notes}
    data = f"FROM read_parquet('{tmp_path / 'out' / info.parquet}') WHERE _kind = 'data'"
    assert duckdb.sql(f"SELECT sum(sales) {data}").fetchall() == [(sum(values),)]


@pytest.mark.parametrize("name", WRITERS)
def test_records_without_totals_are_as_they_were(tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame({"region": ["North", "South", "Total Care"], "sales": [48, 77, 91]})
    path = tmp_path / name
    WRITERS[name](frame, path)
    reader: Any = reader_of(detect(path, name)[0])
    [info] = reader.tables(path, tmp_path / "out")
    assert (info.rows, info.left_out, info.marked) == (3, (), False)


def test_records_of_which_a_third_are_called_total_are_named_and_soon_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    duckdb.sql(
        "COPY (SELECT 'R' || (i // 300) AS region, 1990 + (i // 3) % 33 AS year, "
        "['Male', 'Female', 'Total'][1 + i % 3] AS sex, i * 7919 % 5000 AS people "
        f"FROM range(60000) t(i)) TO '{path}'"
    )
    reader: Any = reader_of("parquet")
    [info] = reader.tables(path, tmp_path / "out")
    assert (info.rows, info.left_out) == (60_000, ())
    assert dict(info.doubtful_counts) == {"total": 20_000}


def test_a_table_of_very_many_records_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    duckdb.sql(
        "COPY (SELECT CASE WHEN i = 2000000 THEN 'Total' ELSE 'k' || i % 9 END AS k, i AS v "
        f"FROM range(2000001) t(i)) TO '{path}'"
    )
    reader: Any = reader_of("parquet")
    [info] = reader.tables(path, tmp_path / "out")
    assert (info.rows, info.notes) == (2_000_001, ())

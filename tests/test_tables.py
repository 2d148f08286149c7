"""Tables of files: converted once, named, described, queried in confined children; what SQL may not
do."""

from __future__ import annotations

import hashlib
import io
import json
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from leaf.errors import (
    FileError,
    LeafError,
    NotFoundError,
    QueryError,
    RunError,
    SandboxError,
    SandboxMemoryError,
)
from leaf.sandbox.confine import confinement
from leaf.sandbox.pool import Pool
from leaf.settings import Settings
from leaf.store import Store, open_store
from leaf.store.model import ChatFile, File, Scope
from leaf.tables import profiling
from leaf.tables.names import slug_of, table_names
from leaf.tables.paging import RowsWanted
from leaf.tables.sql import tokens, words
from leaf.tables.tables import Tables
from tests.leaf_kit import settle

SCOPE = Scope("workspace", "user")
CHAT = "chat"
SALES = "region,revenue,day\nnorth,10.5,2024-01-01\nsouth,20,2024-01-02\nnorth,,2024-01-03\neast,5,2024-01-04\n"
Attach = Callable[..., ChatFile]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, module_kept: dict[str, Any]) -> Path:
    """One for each place where files last."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def store(home: Path, module_kept: dict[str, Any]) -> Iterator[Store]:
    store = open_store(Settings(home=home, **module_kept))
    settle(store, SCOPE, CHAT, "chat-a", "chat-b", "numbered")
    yield store
    store.close()


@pytest.fixture(scope="module")
def pool(home: Path) -> Iterator[Pool]:
    pool = Pool(home)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def tables(store: Store, pool: Pool, home: Path) -> Tables:
    return Tables(store, pool, home)


@pytest.fixture(scope="module")
def attach(store: Store) -> Attach:
    """Keep bytes as a file of a chat."""

    def attach(
        name: str,
        content: bytes | str,
        kind: str = "csv",
        slug: str = "",
        workspace: str = SCOPE.workspace_id,
    ) -> ChatFile:
        data = content.encode() if isinstance(content, str) else content
        store.blobs.put(workspace, io.BytesIO(data), 1 << 30)
        sha256 = hashlib.sha256(data).hexdigest()
        now = datetime.now(UTC)
        file = File(
            f"id-{sha256[:8]}-{name}",
            workspace,
            "user",
            name,
            "",
            kind,
            len(data),
            sha256,
            "upload",
            "",
            {},
            now,
        )
        return ChatFile(CHAT, "f1", slug or slug_of(Path(name).stem), file)

    return attach


@pytest.fixture(scope="module")
def sales(attach: Attach) -> ChatFile:
    return attach("Q3 sales.csv", SALES)


# --- conversion


def test_a_file_becomes_a_table_with_its_columns(tables: Tables, sales: ChatFile) -> None:
    found = tables.of(SCOPE, [sales])
    (table,) = found.tables
    assert (table.name, table.rows, table.file_name) == ("q3_sales", 4, "Q3 sales.csv")
    assert [name for name, _ in table.columns] == ["region", "revenue", "day"]
    assert table.parquet.is_file()
    assert not found.failures


def test_a_file_is_converted_once_however_many_ask(
    store: Store, pool: Pool, tmp_path: Path, attach: Attach
) -> None:
    file = attach("many.csv", "a,b\n" + "1,2\n" * 5000)
    fresh = Tables(store, pool, tmp_path)
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda _: fresh.of(SCOPE, [file]).tables[0].parquet, range(6)))
    assert len(set(found)) == 1
    inode = found[0].stat().st_ino
    assert Tables(store, pool, tmp_path).of(SCOPE, [file]).tables[0].parquet.stat().st_ino == inode


def test_tables_that_another_process_has_made_meanwhile_stay_under_who_reads_them(
    store: Store, pool: Pool, tmp_path: Path, attach: Attach
) -> None:
    file = attach("both.csv", "a,b\n1,2\n")
    first, second = (Tables(store, pool, tmp_path)._converter for _ in range(2))
    (table,) = first.tables(file.file, None)
    path = first.folder(file.file) / table.parquet
    inode = path.stat().st_ino
    second._convert(file.file, None, None)  # which had looked before the first was done
    assert path.stat().st_ino == inode
    assert [one.name for one in path.parent.parent.glob(".new-*")] == []


def test_what_a_killed_conversion_left_is_not_taken_for_tables(
    store: Store, pool: Pool, tmp_path: Path, attach: Attach
) -> None:
    file = attach("half.csv", "a,b\n1,2\n")
    half = tmp_path / "tables" / SCOPE.workspace_id / file.file.sha256
    half.mkdir(parents=True)
    (half / "0.parquet").write_bytes(b"PAR1 cut in the middle")
    (table,) = Tables(store, pool, tmp_path).of(SCOPE, [file]).tables
    assert table.rows == 1
    assert duckdb.sql(f"FROM '{table.parquet}'").fetchall() == [(1, 2)]


def test_a_bad_file_is_named_and_hides_no_other(
    tables: Tables, sales: ChatFile, attach: Attach
) -> None:
    bad = attach("broken.parquet", b"PAR1 this is no parquet PAR1", kind="parquet")
    found = tables.of(SCOPE, [bad, sales])
    assert [t.name for t in found.tables] == ["q3_sales"]
    assert "broken.parquet" in found.failures[bad.file.id]
    assert tables.queries.query(
        SCOPE, CHAT, [bad, sales], "SELECT count(*) FROM q3_sales"
    ).rows == [[4]]
    with pytest.raises(FileError, match=r"broken\.parquet"):
        tables.queries.query(SCOPE, CHAT, [bad], "SELECT 1")


def test_files_without_tables_are_left_out(tables: Tables, attach: Attach) -> None:
    assert tables.of(SCOPE, [attach("notes.txt", "hello", kind="text")]).tables == ()


def test_a_file_of_another_workspace_is_not_opened(tables: Tables, attach: Attach) -> None:
    foreign = attach("theirs.csv", "a\n1\n", workspace="other")
    found = tables.of(SCOPE, [foreign])
    assert found.tables == ()
    assert foreign.file.id in found.failures


def test_a_stopped_conversion_says_so_and_can_begin_again(
    store: Store, pool: Pool, tmp_path: Path, attach: Attach
) -> None:
    file = attach("stopped.csv", "a,b\n" + "1,2\n" * 50)
    stop = threading.Event()
    stop.set()
    fresh = Tables(store, pool, tmp_path)
    with pytest.raises(RunError):
        fresh.of(SCOPE, [file], stop)
    assert fresh.of(SCOPE, [file]).tables[0].rows == 50


@pytest.mark.parametrize(
    ("sheets", "names"),
    [
        ([""], ["s"]),
        (["Summary"], ["s"]),
        (["Summary", "Data 2024"], ["s__summary", "s__data_2024"]),
        (["A", "A", "B"], ["s__a", "s__a__2", "s__b"]),
        (["", ""], ["s", "s__2"]),
        (["A!", "A?"], ["s__a", "s__a_2"]),
        (["Größe", "数据"], ["s__grosse", "s__数据"]),
    ],
)
def test_table_names_are_readable_and_each_once(sheets: list[str], names: list[str]) -> None:
    assert table_names("s", sheets, set()) == names


def test_a_name_that_is_taken_gets_a_number() -> None:
    taken = {"s", "s__a"}
    assert table_names("s", [""], taken) == ["s_2"]
    assert table_names("s", ["A", "B"], taken) == ["s__a_2", "s__b"]


# --- queries


def test_a_query_gives_rows_totals_and_the_tables_it_read(
    tables: Tables, sales: ChatFile, attach: Attach
) -> None:
    other = attach("other.csv", "a\n1\n")
    sql = "SELECT region, sum(revenue) AS total FROM q3_sales GROUP BY region ORDER BY total DESC"
    result = tables.queries.query(SCOPE, CHAT, [sales, other], sql)
    assert result.rows == [["south", 20], ["north", 10.5], ["east", 5]]
    assert (result.columns, result.total, result.scanned) == (["region", "total"], 3, 4)
    assert [t.name for t in result.tables] == ["q3_sales"]


@pytest.mark.any_store
@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("FROM q3_sales", 4),
        ("WITH x AS (FROM q3_sales) SELECT * FROM x WHERE revenue > 5", 2),
        ("VALUES (1), (2)", 2),
        ("DESCRIBE q3_sales", 3),
        ("SUMMARIZE q3_sales", 3),
        ("SHOW TABLES", 1),
        ("PIVOT q3_sales ON region USING sum(revenue) GROUP BY day", 4),
        ("SELECT * FROM q3_sales; -- that is all", 4),
        ("SELECT ';' AS a FROM q3_sales /* ; */ ;;", 4),
        ("SELECT 1 -- ; no end", 1),
    ],
)
def test_every_form_of_reading_works(tables: Tables, sales: ChatFile, sql: str, count: int) -> None:
    assert tables.queries.query(SCOPE, CHAT, [sales], sql).total == count


@pytest.mark.any_store
@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("1.50::DECIMAL(8, 2)", 1.5),
        (
            "170141183460469231731687303715884105727::HUGEINT",
            170141183460469231731687303715884105727,
        ),
        ("'nan'::DOUBLE", None),
        ("'-inf'::DOUBLE", "-inf"),
        ("DATE '2024-02-29'", "2024-02-29"),
        ("DATE 'infinity'", "infinity"),
        ("DATE '12000-01-01'", "12000-01-01"),
        ("DATE '0044-03-15 (BC)'", "-0043-03-15"),
        ("DATE '5000000-01-01'", "1825492972 days from 1970-01-01"),
        ("[DATE '12000-01-01', DATE '2024-01-01']", ["12000-01-01", "2024-01-01"]),
        ("{'a': TIMESTAMP '-infinity', 'b': 1}", {"a": "-infinity", "b": 1}),
        ("TIMESTAMP '2024-02-29 10:00:00'", "2024-02-29T10:00:00"),
        ("TIME '10:00'", "10:00:00"),
        ("INTERVAL 3 DAY", "3 days"),
        ("'abc'::BLOB", "<3 bytes>"),
        ("[1, 2]", [1, 2]),
        ("{'a': 1.5, 'b': NULL}", {"a": 1.5, "b": None}),
        ("NULL", None),
        ("'x' = 'x'", True),
        ("union_value(k := 1)", "1"),
        ("0.1::FLOAT", 0.1),
        ("round(2.68::FLOAT, 1)", 2.7),
        ("'-inf'::FLOAT", "-inf"),
        ("{'i': INTERVAL 1 DAY, 'n': 1}", "{'i': 1 day, 'n': 1}"),
        ("MAP {INTERVAL 1 DAY: [TIMETZ '12:00:00+05']}", "{1 day=['12:00:00+05']}"),
        ("{'BIT': 'a \"INTERVAL\"', 'interval': 1}", {"BIT": 'a "INTERVAL"', "interval": 1}),
        ("(2::UHUGEINT ** 127)::UHUGEINT + 1", "170141183460469231731687303715884105729"),
    ],
)
def test_values_become_plain_json(tables: Tables, sales: ChatFile, sql: str, value: object) -> None:
    result = tables.queries.query(SCOPE, CHAT, [sales], f"SELECT {sql} AS v")
    assert result.rows == [[value]]
    json.dumps(result.rows, allow_nan=False)
    assert tables.results.page(SCOPE, CHAT, result.result_id).rows == [[value]]


@pytest.mark.any_store
def test_long_cells_are_cut_and_counted(tables: Tables, sales: ChatFile) -> None:
    result = tables.queries.query(
        SCOPE, CHAT, [sales], "SELECT repeat('x', 600) AS long, 'short' AS short"
    )
    assert len(result.rows[0][0]) == 500
    assert result.rows[0][0].endswith("…")
    assert result.clipped == 1


@pytest.mark.any_store
def test_repeated_column_names_are_numbered(tables: Tables, sales: ChatFile) -> None:
    assert tables.queries.query(SCOPE, CHAT, [sales], "SELECT 1 AS a, 2 AS a, 3 AS A").columns == [
        "a",
        "a_2",
        "A_3",
    ]


def test_only_200_rows_come_back_and_all_are_kept(tables: Tables, sales: ChatFile) -> None:
    result = tables.queries.query(SCOPE, CHAT, [sales], "SELECT range AS n FROM range(300000)")
    assert (len(result.rows), result.total) == (200, 300_000)
    page = tables.results.page(
        SCOPE, CHAT, result.result_id, RowsWanted(10, 3, "n", descending=True)
    )
    assert (page.rows, page.total) == ([[299_989], [299_988], [299_987]], 300_000)


def test_among_many_tables_one_is_found_by_its_files_name_handle_or_sheet(
    tables: Tables, attach: Attach
) -> None:
    """Of more than 16 tables a query is given those that it may name alone."""
    files = [
        replace(attach(f"Sales {number}.csv", f"n\n{number}\n"), handle=f"f{number}")
        for number in range(1, 21)
    ]
    for named in ('"Sales 7.csv"', "'sales 7.CSV'", "f7", "sales_7", "Sales 7"):
        found = tables.queries.query(SCOPE, CHAT, files, f"SELECT n FROM {named}")
        assert (found.rows, [t.name for t in found.tables]) == ([[7]], ["sales_7"])


def test_results_have_ids_of_their_own_across_threads_and_restarts(
    store: Store, pool: Pool, tmp_path: Path, sales: ChatFile
) -> None:
    first = Tables(store, pool, tmp_path)
    with ThreadPoolExecutor(4) as threads:
        ids = list(
            threads.map(
                lambda n: (
                    first.queries.query(SCOPE, "numbered", [sales], f"SELECT {n} AS n").result_id
                ),
                range(6),
            )
        )
    assert sorted(ids) == ["r1", "r2", "r3", "r4", "r5", "r6"]
    second = Tables(store, pool, tmp_path)
    assert second.queries.query(SCOPE, "numbered", [sales], "SELECT 7").result_id == "r7"
    assert [second.results.page(SCOPE, "numbered", i).rows[0][0] for i in ids] == [0, 1, 2, 3, 4, 5]
    about = second.results.about(SCOPE, "numbered", "r7")
    assert (about["sql"], about["total"]) == ("SELECT 7", 1)


def test_a_result_is_found_in_its_chat_only(tables: Tables, sales: ChatFile) -> None:
    result = tables.queries.query(SCOPE, "chat-a", [sales], "SELECT 1")
    with pytest.raises(NotFoundError, match="No result 'r1'"):
        tables.results.page(SCOPE, "chat-b", result.result_id)
    with pytest.raises(NotFoundError):
        tables.results.page(Scope("other", "user"), "chat-a", result.result_id)
    with pytest.raises(NotFoundError):
        tables.results.page(SCOPE, "chat-a", "../chat-a/r1")
    with pytest.raises(NotFoundError):
        tables.results.page(SCOPE, "../chat-a", "r1")


def test_a_result_is_exported_as_csv(tables: Tables, sales: ChatFile, tmp_path: Path) -> None:
    result = tables.queries.query(
        SCOPE,
        CHAT,
        [sales],
        "SELECT region, revenue FROM q3_sales ORDER BY region, revenue LIMIT 2",
    )
    path = tables.results.export(SCOPE, CHAT, result.result_id, into=tmp_path)
    assert path.read_text() == "region,revenue\neast,5.0\nnorth,10.5\n"


@pytest.mark.parametrize("first", ["90", "x"])
def test_a_column_with_the_name_of_row_numbers_hides_none(
    tables: Tables, attach: Attach, first: str
) -> None:
    file = attach(f"numbered {first}.csv", f"File_Row_Number,a\n{first},1\n{first}0,2\n")
    (table,) = tables.of(SCOPE, [file]).tables
    sql = f"SELECT _row, a FROM {table.name} WHERE a = 2"
    result = tables.queries.query(SCOPE, CHAT, [file], sql)
    assert (result.rows, result.places) == ([[3, 2]], ("row 3",))
    page = tables.pages.page(SCOPE, table, RowsWanted(order_by="a", descending=True))
    assert list(page.numbers) == [3, 2]


@pytest.mark.any_store
def test_a_table_is_paged_and_sorted(tables: Tables, sales: ChatFile) -> None:
    (table,) = tables.of(SCOPE, [sales]).tables
    page = tables.pages.page(SCOPE, table, RowsWanted(limit=2, order_by="revenue", descending=True))
    assert [row[1] for row in page.rows] == [20, 10.5]
    with pytest.raises(NotFoundError, match="Did you mean 'revenue'"):
        tables.pages.page(SCOPE, table, RowsWanted(order_by="revnue"))


@pytest.mark.any_store
def test_a_profile_says_what_each_column_holds(tables: Tables, sales: ChatFile) -> None:
    (table,) = tables.of(SCOPE, [sales]).tables
    profile = tables.profiles.describe(SCOPE, table)
    region, revenue, day = profile.columns
    assert (profile.rows, len(profile.sample), profile.approximate) == (4, 4, False)
    assert (region.distinct, region.top[0]) == (3, ("north", 2))
    assert (revenue.nulls, revenue.min, revenue.max, revenue.mean) == (
        1,
        5,
        20,
        pytest.approx(35.5 / 3),
    )
    assert (day.min, day.max) == ("2024-01-01", "2024-01-04")


@pytest.mark.any_store
def test_a_table_of_texts_without_a_row_is_profiled(tables: Tables, attach: Attach) -> None:
    (table,) = tables.of(SCOPE, [attach("empty.csv", "name,city,note\n")]).tables
    profile = tables.profiles.describe(SCOPE, table)
    assert (profile.rows, profile.sample) == (0, ())
    assert [(c.name, c.distinct, c.quartiles) for c in profile.columns] == [
        ("name", 0, ()), ("city", 0, ()), ("note", 0, ()),
    ]  # fmt: skip


@pytest.mark.any_store
def test_a_table_of_many_hundred_columns_is_profiled_in_part(
    tables: Tables, attach: Attach
) -> None:
    wide = attach(
        "wide.csv",
        ",".join(f"c{i}" for i in range(700)) + "\n" + ",".join("1" for _ in range(700)) + "\n",
    )
    (table,) = tables.of(SCOPE, [wide]).tables
    profile = tables.profiles.describe(SCOPE, table)
    assert (len(table.columns), len(profile.columns), profile.omitted) == (700, 200, 500)


def test_quartiles_of_more_than_a_million_rows_are_exact_and_distinct_values_are_marked_as_estimates(
    tmp_path: Path,
) -> None:
    rows, path = 1_200_001, tmp_path / "large.parquet"
    duckdb.sql(
        f"COPY (SELECT range AS n, DATE '2000-01-01' + CAST(range % 5001 AS INTEGER) AS day FROM "
        f"range({rows})) TO '{path}'"
    )
    found = profiling.profile(str(path), 100, 1024)
    number, day = found["columns"]
    assert (found["rows"], found["approximate"], found["estimated"]) == (rows, True, False)
    assert number["quartiles"] == [300_000, 600_000, 900_000]
    assert day["quartiles"][1] == "2006-11-05"


@pytest.mark.parametrize("kind", ["BIGINT", "DOUBLE", "DATE", "TIMESTAMP", "TIME", "VARCHAR"])
def test_quartiles_of_the_largest_tables_are_estimated_where_they_can_be(kind: str) -> None:
    value = {
        "DATE": "DATE '2000-01-01' + CAST(range AS INTEGER)",
        "TIMESTAMP": "make_timestamp(range)",
        "TIME": "TIME '10:00:00'",
    }
    con = duckdb.connect()
    con.execute(
        f"CREATE TABLE t AS SELECT CAST({value.get(kind, 'range')} AS {kind}) AS x FROM range(101)"
    )
    found = con.sql(
        f"SELECT {profiling._quartiles('x', kind, 'approx_quantile')} FROM t"
    ).fetchall()[0][0]
    assert (found is None) == (kind in ("TIME", "VARCHAR"))
    assert found is None or len(found) == 3


# --- errors of queries


@pytest.mark.any_store
@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT revnue FROM q3_sales", "No column 'revnue' in q3_sales. Did you mean 'revenue'"),
        ("SELECT s.revnue FROM q3_sales s", "Did you mean 'revenue'"),
        ("SELECT * FROM q3_sale", "No table 'q3_sale' in this chat. Did you mean 'q3_sales'"),
        ("SELECT nosuch(region) FROM q3_sales", "nosuch"),
        (
            'SELECT "Q3 sales.csv".revenue FROM q3_sales',
            "its table is q3_sales. Write FROM q3_sales.",
        ),
        (
            'SELECT * FROM q3_sales WHERE region="regions"',
            "If it is a text, write 'regions': double quotes are for names of columns.",
        ),
        (
            "FROM read_csv('q3 sales.csv', header = false)",
            "its table is q3_sales. Write FROM q3_sales.",
        ),
        ("SELECT CAST(region AS INTEGER) FROM q3_sales", "Could not convert"),
        ("SELEC 1", "syntax error"),
        ("", "empty"),
    ],
)
def test_errors_name_what_is_wrong(tables: Tables, sales: ChatFile, sql: str, says: str) -> None:
    with pytest.raises((QueryError, NotFoundError)) as caught:
        tables.queries.query(SCOPE, CHAT, [sales], sql)
    assert says in str(caught.value)
    assert "boxes" not in str(caught.value)


# --- what SQL may not do


WRITING = [
    "INSERT INTO q3_sales VALUES ('x', 1, NULL)",
    "DELETE FROM q3_sales",
    "UPDATE q3_sales SET revenue = 0",
    "DROP VIEW q3_sales",
    "CREATE TABLE t AS SELECT 1",
    "COPY q3_sales TO '{outside}'",
    "COPY (SELECT 1) TO '{input}'",
    "WITH x AS (COPY q3_sales TO '{outside}') SELECT 1",
    "WITH x AS (COPY (SELECT 1 AS a) TO '{input}') SELECT * FROM q3_sales",
    "WITH y AS (WITH x AS (COPY (SELECT 1 AS a) TO '{input}') SELECT 1) SELECT * FROM y",
    "WITH x AS (COPY q3_sales TO '{outside}') PIVOT q3_sales ON region USING count(*)",
    "WITH x AS (INSERT INTO q3_sales VALUES ('x', 1, NULL) RETURNING *) FROM x",
    "SELECT 1; SELECT 2",
    "ATTACH '{outside}.db'",
    "EXPORT DATABASE '{outside}'",
    "IMPORT DATABASE '{outside}'",
    "SET threads = 64",
    "RESET memory_limit",
    "PRAGMA enable_profiling",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CALL pragma_version()",
    "CREATE SECRET s (TYPE http)",
    "CHECKPOINT",
    "PREPARE p AS SELECT 1",
    "EXPLAIN ANALYZE SELECT 1",
]
READING = [
    "SELECT * FROM '{secret}'",
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM read_blob('/proc/self/environ')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/**')",
    "SELECT * FROM sniff_csv('{secret}')",
    "SELECT * FROM read_parquet('{secret}')",
    "SELECT * FROM read_json('http://127.0.0.1:{port}/x')",
    "SELECT * FROM 'https://127.0.0.1:{port}/x.parquet'",
    "SELECT * FROM query('COPY (SELECT 1) TO ''{outside}''')",
    "SELECT * FROM tables",
    "SELECT * FROM sql",
]


@pytest.mark.any_store
@pytest.mark.parametrize("sql", WRITING + READING)
def test_sql_reads_the_tables_and_nothing_else(
    tables: Tables, sales: ChatFile, tmp_path: Path, sql: str
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\nsecret,1\n")
    (table,) = tables.of(SCOPE, [sales]).tables
    before = table.parquet.read_bytes()
    places = {"outside": tmp_path / "outside", "secret": secret, "input": table.parquet, "port": 9}
    with pytest.raises(LeafError) as caught:
        tables.queries.query(SCOPE, CHAT, [sales], sql.format(**places))
    assert isinstance(caught.value, QueryError | NotFoundError)
    assert not (tmp_path / "outside").exists()
    assert table.parquet.read_bytes() == before


@pytest.mark.skipif(confinement().kind != "landlock", reason="this kernel cannot confine a process")
def test_the_process_holds_where_duckdb_would_let_sql_write(pool: Pool, tmp_path: Path) -> None:
    """DuckDB allows COPY to an allowed path; without our check of the statement only the
    confinement is left."""
    functions = tmp_path / "functions"
    functions.mkdir()
    (functions / "unchecked.py").write_text(
        "def copy(path):\n"
        "    from leaf.tables.connection import connect\n"
        "    con = connect([path], 5, 512)\n"
        "    return con.sql(f\"WITH x AS (COPY (SELECT 1 AS a) TO '{path}' (USE_TMP_FILE false)) "
        'SELECT 1").fetchall()\n'
    )
    data = tmp_path / "data.parquet"
    duckdb.sql(f"COPY (SELECT 42 AS a) TO '{data}'")
    own = Pool(tmp_path / "home", paths=[functions], preload=())
    try:
        with pytest.raises(SandboxError):
            own.call(
                "unchecked:copy",
                {"path": "in:data.parquet"},
                returns=list,
                inputs={"data.parquet": data},
            )
    finally:
        own.close()
    assert duckdb.sql(f"FROM '{data}'").fetchall() == [(42,)]


@pytest.mark.any_store
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT length(repeat('x', 4000000000)) AS n",
        "SELECT string_agg(repeat('y', 100000), '') AS s FROM range(40000)",
    ],
)
def test_a_memory_bomb_ends_its_child_and_not_the_app(
    tables: Tables, sales: ChatFile, sql: str
) -> None:
    with pytest.raises((SandboxMemoryError, QueryError)) as caught:
        tables.queries.query(SCOPE, CHAT, [sales], sql)
    assert isinstance(caught.value, SandboxMemoryError)
    assert tables.queries.query(SCOPE, CHAT, [sales], "SELECT 1").rows == [[1]]


@pytest.mark.any_store
def test_an_endless_query_can_be_stopped(tables: Tables, sales: ChatFile) -> None:
    tables.of(SCOPE, [sales])
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    with pytest.raises(RunError):
        tables.queries.query(
            SCOPE,
            CHAT,
            [sales],
            "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b",
            stop,
        )


# --- real files


@pytest.mark.any_store
@pytest.mark.parametrize("kind", ["csv", "excel"])
def test_real_files_are_queried(
    tables: Tables, store: Store, attach: Attach, real_data: Path, kind: str
) -> None:
    endings = {"csv": ".csv", "excel": ".xlsx"}[kind]
    paths = sorted(p for p in real_data.glob(f"*{endings}") if 1_000 < p.stat().st_size < 500_000)[
        :8
    ]
    files = [
        attach(p.name, p.read_bytes(), kind=kind, slug=f"file_{n}") for n, p in enumerate(paths)
    ]
    found = tables.of(SCOPE, files)
    assert found.tables
    for table in found.tables[:8]:
        assert tables.queries.query(
            SCOPE, CHAT, files, f'SELECT count(*) FROM "{table.name}"'
        ).rows == [[table.rows]]


# --- text beyond ASCII

BEYOND = ("ä", "中", "ع", "📱", "e\u0301", "👩\u200d💻", "\u200fש", "İ", "\x00", "\ufdd0")
"""Letters of one to four bytes, combining, joined and right-to-left ones, and what is no letter at
all."""


@pytest.mark.any_store
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT '手机手机手机手机' AS x",
        "SELECT '手机手机手机手机' AS x;",
        'SELECT region AS "total Stück" FROM q3_sales LIMIT 1;',
        "SELECT '📱' AS x /* 手机 ; ع */ ; -- zum Schluß;",
        "SELECT '👩\u200d💻' AS \"e\u0301\";\u3000\u00a0;\n",
        "SELECT $$ü;$$ AS x;;",
        'WITH "ع" AS (SELECT 1 AS "中") SELECT "中" FROM "ع";',
        "PIVOT (SELECT '中' AS 键, 1 AS n) ON 键 USING sum(n); -- 删除 delete",
    ],
)
def test_sql_may_hold_text_of_every_script(tables: Tables, sales: ChatFile, sql: str) -> None:
    assert tables.queries.query(SCOPE, CHAT, [sales], sql).total == 1


@pytest.mark.any_store
def test_letters_of_every_length_are_values_names_aliases_and_comments(
    tables: Tables, attach: Attach
) -> None:
    rows = "".join(f'"{sign * 3}",{number}\n' for number, sign in enumerate(BEYOND[:-2]))
    file = attach("beyond.csv", f"Größe 中 ع 📱,n\n{rows}", slug="beyond")
    for number, sign in enumerate(BEYOND[:-2]):
        sql = (
            f'SELECT "Größe 中 ع 📱" AS "{sign}" FROM beyond AS "{sign}t" WHERE "Größe 中 ع 📱" = '
            f"'{sign * 3}'; -- {sign};"
        )
        result = tables.queries.query(SCOPE, CHAT, [file], sql)
        assert (result.columns, result.rows) == ([sign], [[sign * 3]]), number


def test_words_of_a_query_are_not_those_of_its_strings_names_and_comments() -> None:
    sql = "PIVOT t ON '手机 copy' /* 中 copy */; INSERT INTO \"update\" -- löschen: delete"
    assert words(sql) == ["pivot", "t", "on", "insert", "into"]


def test_tokens_stand_where_they_are_in_the_text() -> None:
    chosen = random.Random(10)
    for _ in range(300):
        signs = "".join(chosen.choices([*BEYOND[:-2], "a", " "], k=chosen.randint(1, 9)))
        pieces = [
            f"'{signs}'",
            f'"{signs}"',
            f"/* {signs} */",
            "x",
            "+",
            "1",
            f"-- {signs}\n",
            f"$${signs}$$",
        ]
        sql = " ".join(chosen.choices(pieces, k=chosen.randint(1, 12)))
        found = tokens(sql)
        assert [t.text for t in found] == [sql[t.start : t.start + len(t.text)] for t in found]
        assert "".join(t.text for t in found).replace(" ", "") == "".join(sql.split()).replace(
            " ", ""
        )


@pytest.mark.any_store
def test_half_a_character_in_sql_is_told_in_words(tables: Tables, sales: ChatFile) -> None:
    with pytest.raises(QueryError, match="half of a character"):
        tables.queries.query(SCOPE, CHAT, [sales], "SELECT '\ud83d' FROM q3_sales")


@pytest.mark.any_store
def test_a_place_in_an_error_is_the_place_in_the_text(tables: Tables, sales: ChatFile) -> None:
    with pytest.raises(QueryError) as failure:
        tables.queries.query(SCOPE, CHAT, [sales], "SELECT '手机手机', region FRUM q3_sales")
    assert "手机手机" in str(failure.value)


# --- several names for the same bytes


def test_two_names_of_the_same_bytes_are_two_tables_converted_once(
    tables: Tables, attach: Attach
) -> None:
    first, second = (
        attach("sales of May.csv", SALES + "west,1,2024-01-05\n"),
        attach("umsatz.csv", SALES + "west,1,2024-01-05\n"),
    )
    found = tables.of(SCOPE, [first, second]).tables
    assert [t.name for t in found] == ["sales_of_may", "umsatz"]
    assert found[0].parquet == found[1].parquet
    sql = "SELECT (SELECT count(*) FROM sales_of_may) AS a, (SELECT count(*) FROM umsatz) AS b"
    result = tables.queries.query(SCOPE, CHAT, [first, second], sql)
    assert result.rows == [[5, 5]]
    assert [t.file_name for t in result.tables] == ["sales of May.csv", "umsatz.csv"]


def test_the_same_bytes_read_in_two_ways_keep_both_tables(tables: Tables, attach: Attach) -> None:
    text = '[{"a": 1, "b": 2},\n{"a": 3, "b": 4}]\n'
    as_json, as_csv = (
        attach("rows.json", text, kind="json"),
        attach("rows.csv", text, kind="csv", slug="rows_2"),
    )
    first = tables.of(SCOPE, [as_json]).tables[0].parquet
    both = tables.of(SCOPE, [as_csv, as_json]).tables
    assert {t.name for t in both} >= {"rows", "rows_2"}
    assert [t.parquet for t in both if t.name == "rows"] == [first]
    assert first.is_file()

"""Which columns of its tables a query or a cell of Python reads: all that it may, however they are
named."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import duckdb
import pytest

from leaf.app import Leaf
from leaf.sandbox.confine import confinement
from leaf.store.model import Scope
from leaf.tables.frames import read_by
from leaf.tables.touched import key, read_columns
from tests.leaf_kit import opened

COLUMNS = {
    "region": "'N'",
    "amount": "range",
    "price": "range * 2.5",
    "手机": "range",
    "Straße": "'x'",
    'a "b"': "1",
    "O'Brien": "2",
}


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """Views `t` and `u` over Parquet; `u` has rows that are no data."""
    folder = tmp_path_factory.mktemp("touched")
    con = duckdb.connect()
    made = ", ".join(
        f'{value} AS "{name.replace(chr(34), chr(34) * 2)}"' for name, value in COLUMNS.items()
    )
    con.execute(f"COPY (SELECT {made} FROM range(50)) TO '{folder}/t.parquet'")
    con.execute(
        f"COPY (SELECT 'N' AS region, 7 AS cost, range AS _row, 'data' AS _kind FROM range(9)) TO "
        f"'{folder}/u.parquet'"
    )
    con.execute(f"CREATE VIEW t AS FROM read_parquet('{folder}/t.parquet')")
    con.execute(
        f"CREATE VIEW u AS SELECT * EXCLUDE (_row, _kind) FROM read_parquet('{folder}/u.parquet') "
        f"WHERE _kind = 'data'"
    )
    return con


ALL = {key(name) for name in COLUMNS}


@pytest.mark.parametrize(
    ("sql", "least", "none_of"),
    [
        ("SELECT sum(amount) FROM t", {"amount"}, {"price", "region"}),
        ("SELECT count(*) FROM t", set(), {"price", "amount"}),
        ('SELECT max(x."Price") FROM t AS x', {"price"}, {"amount"}),
        ("SELECT * FROM t", ALL, set()),
        ("SELECT DISTINCT t.* FROM t", ALL, set()),
        ("FROM t", ALL, set()),
        ("FROM t LIMIT 0", ALL, set()),
        ("SELECT t FROM t", ALL, set()),
        ("SUMMARIZE t", ALL, set()),
        ("SELECT max(COLUMNS(*)) FROM t", ALL, set()),
        ("SELECT max(COLUMNS('am.*')) FROM t", {"amount"}, set()),
        (
            "WITH base AS (SELECT region, amount FROM t) SELECT * FROM base",
            {"region", "amount"},
            {"price"},
        ),
        (
            "SELECT * FROM (SELECT region, sum(amount) AS s FROM t GROUP BY 1) ORDER BY 2",
            {"region", "amount"},
            {"price"},
        ),
        ("SELECT * FROM (SELECT region FROM t) NATURAL JOIN u", {"region", "cost"}, {"price"}),
        ("SELECT * EXCLUDE (price) FROM t", {"amount", "region"}, set()),
        ("SELECT * FROM t WHERE amount < 0", ALL, set()),
        ("SELECT region FROM t WHERE amount >= 0", {"region", "amount"}, {"price"}),
        (
            "SELECT u.cost FROM u WHERE EXISTS (SELECT 1 FROM t WHERE t.price = u.cost)",
            {"cost", "price"},
            {"amount"},
        ),
        ("PIVOT t ON region USING sum(amount)", {"region", "amount"}, set()),
        ("SELECT sum(手机) FROM t", {"手机"}, {"amount"}),
        ('SELECT "STRASSE" FROM (SELECT straße AS "STRASSE" FROM t)', {key("Straße")}, {"amount"}),
        ('SELECT max("a ""b""") FROM t', {'a "b"'}, {"amount"}),
        ('SELECT max("O\'Brien") FROM t', {"o'brien"}, {"amount"}),
        ("SELECT max(amounts) FROM (SELECT price AS amounts FROM t)", {"price"}, {"amount"}),
    ],
)
def test_a_statement_reads_what_it_names_and_what_its_stars_stand_for(
    con: duckdb.DuckDBPyConnection, sql: str, least: set[str], none_of: set[str]
) -> None:
    found = read_columns(con, sql, [*COLUMNS, "cost"])
    read = {*ALL, "cost"} if found is None else set(found)
    assert {key(name) for name in least} <= read
    assert not none_of & read


def test_columns_of_a_wide_table_are_all_read_by_a_star(con: duckdb.DuckDBPyConnection) -> None:
    many = [f"c{n}" for n in range(400)]
    assert read_columns(con, "SELECT * FROM t", many) is None
    assert read_columns(con, "SELECT c7 FROM t", many) == ["c7"]


TABLES = {"t": ["region", "amount", "price", "手机", "Straße", "O'Brien"], "u": ["region", "cost"]}


@pytest.mark.parametrize(
    ("code", "read"),
    [
        ("t['amount'].sum()", {"amount"}),
        ("t.groupby('region')['amount'].sum()", {"amount", "region"}),
        ("t.groupby('region').amount.mean().plot()", {"amount", "region"}),
        ("t.groupby('region').agg(total=('amount', 'sum'))", {"amount", "region"}),
        ("t.groupby('region').agg({'amount': 'sum'})", {"amount", "region"}),
        ("t.groupby('region').size()", {"region"}),
        (
            "df = t.copy()\nlarge = df[df.amount > 5]\nprint(len(large), large['price'].max())",
            {"amount", "price"},
        ),
        ("t.loc[t['amount'] > 3, ['price']].head()", {"amount", "price"}),
        ("t.merge(u, on='region')[['cost', 'amount']]", {"region", "cost", "amount"}),
        ("query('SELECT sum(price) FROM t')", {"price"}),
        ("t.merge(u, on='region')['price_x'].sum()", {"region", "price"}),
        ("len(t), t.shape", set()),
        ("t['手机'].max() + t['Straße'].size", {"手机", "strasse"}),
        ('t["O\\u0027Brien"].max()', {"o'brien"}),
        ("t.pivot_table(index='region', values='price')", {"region", "price"}),
    ],
)
def test_code_that_picks_columns_by_name_reads_those(code: str, read: set[str]) -> None:
    assert read_by([code], TABLES) == read


@pytest.mark.parametrize(
    "code",
    [
        *(
            "t",
            "t.head()",
            "t.describe()",
            "display(t)",
            "print(t)",
            "t.sum(numeric_only=True)",
            "t.groupby('region').sum()",
        ),
        *(
            "t[cols]",
            "t[[c for c in names]]",
            "for c in t.columns:\n    t[c].sum()",
            "f(t)",
            "[x.amount for x in (t, u)]",
        ),
        *(
            "query('SELECT * FROM t')",
            "query(f'SELECT * FROM {\"t\"}')",
            "t.merge(u)['cost']",
            "t.merge(u, on='region', suffixes=('1', '2'))['price1']",
            "t.assign(x=lambda d: d.sum())",
        ),
        *(
            "t.iloc[:, 2]",
            "(x := t).describe()",
            "t.agg('sum')",
            "t.drop_duplicates().amount",
            "t.to_csv('x.csv')",
            "a, b = t, u",
            "df = t.copy()\ndf.columns = names\ndf['a'].sum()",
        ),
        *(
            "t['amount'",
            "df = t[t.amount > 1]\ndf",
            "return_all = lambda: t",
            "t.groupby('region').agg(**how)",
            "t.pivot_table(index='region')",
        ),
    ],
)
def test_any_other_use_of_a_table_may_read_all_of_it(code: str) -> None:
    assert read_by([code], TABLES) is None


def test_what_an_earlier_cell_read_counts_for_its_variables() -> None:
    assert read_by(["totals = t.groupby('region')['amount'].sum()", "totals.max()"], TABLES) == {
        "region",
        "amount",
    }
    assert read_by(["kept = t.describe()", "kept"], TABLES) is None
    assert read_by(["df = t", "df"], TABLES) is None
    assert read_by(["df = t", "df['price'].max()"], TABLES) == {"price"}


# In a chat

SALES = "region;手机;Straße;share\n" + "".join(
    f"{'Nord' if n % 2 else 'Süd'};{n}.000,50 €;{n} %;{n if n != 17 else 'pending'}\n"
    for n in range(1, 31)
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Leaf, Scope, list[str]]]:
    """Leaf with a table of which three columns have a note each."""
    with opened(tmp_path_factory.mktemp("home")) as leaf:
        scope = leaf.local_scope()
        yield (
            leaf,
            scope,
            [leaf.session(scope).files.add("sales.csv", BytesIO(SALES.encode())).file.id],
        )


OF = {
    "手机": "was taken off the numbers in '手机'",
    "Straße": "taken off 'Straße'",
    "share": "'share' stays text",
}
"""Column -> words of its note, as a page has them."""
TOLD = {"手机": "'手机' in €", "Straße": "'Straße': percent", "share": "'share' stays text"}
"""The same as a model is told them."""


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT sum(手机) FROM sales", ["手机"]),
        ('SELECT max("Straße") FROM sales', ["Straße"]),
        ("SELECT count(*) FROM sales", []),
        ("SELECT x.region, x.share FROM sales x", ["share"]),
        ("WITH a AS (SELECT region, 手机 AS amount FROM sales) SELECT * FROM a", ["手机"]),
        ("SELECT * FROM sales", [*OF]),
        ("SELECT a.* FROM sales a JOIN sales b USING (region)", [*OF]),
    ],
)
def test_a_query_brings_the_notes_of_the_columns_that_it_reads(
    shop: tuple[Leaf, Scope, list[str]], sql: str, told: list[str]
) -> None:
    leaf, scope, ids = shop
    output = leaf.session(scope).tools.run("query_tables", {"sql": sql}, file_ids=ids)
    assert [column for column, words in TOLD.items() if words in output.text] == told
    assert {
        column
        for column, words in OF.items()
        if any(words in n["text"] for n in output.coverage[0].notes)
    } == set(told)


def test_a_result_of_results_brings_the_notes_of_what_it_rests_on(
    shop: tuple[Leaf, Scope, list[str]],
) -> None:
    leaf, scope, ids = shop
    session = leaf.session(scope)
    chat = session.chats.create()
    first = session.tools.run(
        "query_tables",
        {"sql": "SELECT region, 手机 AS amount FROM sales"},
        chat_id=chat.id,
        file_ids=ids,
    )
    name = first.data.table["result_id"]
    again = session.tools.run(
        "query_tables", {"sql": f"SELECT * FROM {name}"}, chat_id=chat.id, file_ids=ids
    )
    assert [column for column, words in TOLD.items() if words in again.text] == ["手机"]


@pytest.mark.skipif(confinement().kind != "landlock", reason="this machine cannot confine Python")
@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("sales['手机'].sum()", ["手机"]),
        ("sales.groupby('region')['Straße'].max()", ["Straße"]),
        ("query('SELECT max(手机) AS m FROM sales')", ["手机"]),
        ("sales.describe()", [*OF]),
        ("len(sales)", []),
    ],
)
def test_python_brings_the_notes_of_the_columns_that_its_code_names(
    shop: tuple[Leaf, Scope, list[str]], code: str, told: list[str]
) -> None:
    leaf, scope, ids = shop
    output = leaf.session(scope).tools.run("run_python", {"code": code}, file_ids=ids)
    assert [column for column, words in TOLD.items() if words in output.text] == told

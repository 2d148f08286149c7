"""Statements that run and give something else than their writer may think, as the rows show."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from leaf.tables.pitfalls import pitfalls
from tests.leaf_kit import add, opened


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute(
        "CREATE VIEW orders AS SELECT * FROM (VALUES (1, 'North', 'Ann'), (2, 'north ', 'Bob'), "
        "(3, 'NORTH', 'Bob'), (4, NULL, 'Cem'), (5, 'South', 'José')) AS v(id, region, name)"
    )
    con.execute(
        "CREATE VIEW older AS SELECT * FROM (VALUES ('Jose', 1, 'x'), (NULL, 2, 'y')) "
        "AS v(name, id, region)"
    )
    return con


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT * FROM orders WHERE region = 'North'", "also holds 'NORTH', 'north '"),
        ("SELECT * FROM orders WHERE Region IN ('north ', 'South')", "also holds 'NORTH', 'North'"),
        ("SELECT count(*) FILTER (region = 'south') FROM orders", "also holds 'South'"),
        ("SELECT * FROM orders WHERE name = 'Jose'", "also holds 'José'"),
        ("WITH o AS (SELECT * FROM orders WHERE name = 'ann') FROM o", "also holds 'Ann'"),
        ("SELECT * FROM orders WHERE region <> 'South'", "is NULL in 1 of the rows"),
        ("SELECT * FROM orders WHERE region NOT IN ('South')", "is NULL in 1 of the rows"),
        ("SELECT * FROM orders WHERE name NOT IN (SELECT name FROM older)", "NOT IN holds NULL"),
        ("SELECT * FROM orders UNION ALL SELECT * FROM older", '"id" with "name"'),
        ("SELECT id, name FROM orders UNION SELECT name, id FROM older", '"name" with "id"'),
    ],
)
def test_what_the_rows_show_is_said(con: duckdb.DuckDBPyConnection, sql: str, words: str) -> None:
    (sentence,) = pitfalls(con, sql, ["orders", "older"])
    assert words in sentence


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM orders WHERE lower(trim(region)) = 'north'",
        "SELECT * FROM orders WHERE region = 'South'",
        "SELECT * FROM orders WHERE region = 'nothing'",
        "SELECT * FROM orders WHERE region IN ('North', 'north ', 'NORTH')",
        "SELECT * FROM orders WHERE region <> 'South' OR region IS NULL",
        "SELECT * FROM orders WHERE region IS DISTINCT FROM 'South'",
        "SELECT * FROM orders WHERE name NOT IN (SELECT name FROM older WHERE name IS NOT NULL)",
        "SELECT * FROM orders WHERE NOT EXISTS (FROM older WHERE older.name = orders.name)",
        "SELECT * FROM orders UNION ALL BY NAME SELECT * FROM older",
        "SELECT id, name FROM orders UNION ALL SELECT id, name FROM older",
        "SELECT 'old' AS kind, id FROM older UNION ALL SELECT 'new', id FROM orders",
        "SELECT * FROM orders WHERE id = '3'",
        "PIVOT orders ON region USING count(*)",
        "DESCRIBE orders",
    ],
)
def test_nothing_is_said_of_others(con: duckdb.DuckDBPyConnection, sql: str) -> None:
    assert pitfalls(con, sql, ["orders", "older"]) == []


def test_the_model_and_the_page_are_told(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        content = b"region,revenue\nNorth,1\nnorth,2\nSouth,3\n"
        ids = [add(session, "sales.csv", content).id]
        sql = "SELECT sum(revenue) FROM sales WHERE region = 'North'"
        output = session.tools.run("query_tables", {"sql": sql}, file_ids=ids)
        assert "\"region\" also holds 'north', not equal to 'North'" in output.text
        assert len(output.data.table["said"]) == 1


@pytest.fixture(scope="module")
def shop() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute(
        "CREATE VIEW orders AS SELECT * FROM (VALUES (1, 'Ann', 10.0), (2, 'Bob', 20.0), (3, 'bob ', 5.0), "
        "(4, NULL, 7.0)) AS v(id, customer, total)"
    )
    con.execute(
        "CREATE VIEW items AS SELECT * FROM (VALUES (1, 'pen', 2.0), (1, 'ink', 8.0), (2, 'pad', 20.0), "
        "(3, 'cup', 5.0), (4, 'mug', 7.0)) AS v(order_id, item, price)"
    )
    con.execute(
        "CREATE VIEW customers AS SELECT * FROM (VALUES ('Ann', 'North'), ('Bob', 'South')) "
        "AS v(customer, region)"
    )
    return con


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (
            "SELECT sum(o.total) FROM orders o JOIN items i ON o.id = i.order_id",
            'repeats rows of "orders": 1 row matches up to 2 rows of "items", so that "total" is',
        ),
        (
            "SELECT item, avg(total * 2) FROM items LEFT JOIN orders ON order_id = id GROUP BY 1",
            'so that "total" is added up as often',
        ),
        (
            "SELECT region, sum(total) FROM orders JOIN customers USING (customer) GROUP BY 1",
            'leaves out 2 of 4 rows of "orders", whose "customer" is not in "customers". 1 of them',
        ),
        (
            "WITH x AS (SELECT * FROM orders JOIN customers USING (customer)) SELECT count(*) FROM x",
            'leaves out 2 of 4 rows of "orders"',
        ),
    ],
)
def test_what_a_join_does_to_rows_is_said(
    shop: duckdb.DuckDBPyConnection, sql: str, words: str
) -> None:
    (sentence,) = pitfalls(shop, sql, ["orders", "items", "customers"])
    assert words in sentence


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(price) FROM orders JOIN items ON id = order_id",
        "SELECT count(*), max(total) FROM orders JOIN items ON id = order_id",
        "SELECT region, sum(total) FROM orders LEFT JOIN customers USING (customer) GROUP BY 1",
        "SELECT sum(total) FROM orders WHERE id IN (SELECT order_id FROM items)",
        "SELECT sum(total) FROM orders o JOIN items i ON o.id < i.order_id",
        "SELECT sum(a.total) FROM orders a JOIN orders b ON a.id = b.id",
    ],
)
def test_of_a_join_that_does_nothing_to_them_nothing_is_said(
    shop: duckdb.DuckDBPyConnection, sql: str
) -> None:
    assert pitfalls(shop, sql, ["orders", "items", "customers"]) == []

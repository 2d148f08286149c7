"""The tools as the agent and the command line use them, over real files."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from leaf.app import Leaf
from leaf.errors import InvalidInputError, LeafError, NotFoundError
from leaf.provenance.coverage import merge_coverage
from leaf.readers.base import VERSION
from leaf.sessions.session import Session
from leaf.store import files
from leaf.store.model import Scope
from leaf.tools import registry
from leaf.tools.base import ToolOutput
from tests.leaf_kit import SALES, add, opened

REGOIN = {"mark": "bar", "encoding": {"x": {"field": "regoin"}}}
NOTES = b"# Meeting\n\nWe met on Monday.\n\nAnna will send the budget by Friday.\n"


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Leaf]:
    with opened(tmp_path_factory.mktemp("home")) as opened_leaf:
        yield opened_leaf


@pytest.fixture(scope="module")
def scope(leaf: Leaf) -> Scope:
    return leaf.local_scope()


@pytest.fixture
def session(leaf: Leaf, scope: Scope) -> Session:
    return leaf.session(scope)


@pytest.fixture(scope="module")
def file_ids(leaf: Leaf, scope: Scope, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """f1 a CSV, f2 a text, f3 a workbook of three sheets, one of them hidden, f4 an empty file."""
    path = tmp_path_factory.mktemp("files") / "budget.xlsx"
    book = openpyxl.Workbook()
    first = book.active
    assert first is not None
    first.title = "Plan"
    for row in (["Budget 2025"], [], ["team", "amount"], ["Sales", 10], ["Tech", 20]):
        first.append(row)
    second = book.create_sheet("Actual")
    for row in (
        ["team", "amount", "day"],
        ["Sales", 11, "2025-03-01"],
        ["Tech", 19, "2025-03-02"],
        ["HR", 5, "2025-03-03"],
    ):
        second.append(row)
    hidden = book.create_sheet("Secret")
    hidden.append(["a", "b"])
    hidden.append([1, 2])
    hidden.sheet_state = "hidden"
    book.save(path)
    contents = {
        "Q3 Sales.csv": SALES,
        "notes.md": NOTES,
        "budget.xlsx": path.read_bytes(),
        "empty.csv": b"",
    }
    return [add(leaf.session(scope), name, content).id for name, content in contents.items()]


@pytest.fixture
def run(leaf: Leaf, scope: Scope, file_ids: list[str]) -> Any:
    def run_tool(tool_name: str, **given: Any) -> ToolOutput:
        return leaf.session(scope).tools.run(tool_name, given, file_ids=file_ids)

    return run_tool


def test_list_files_names_files_and_their_sql_names_without_content(run: Any) -> None:
    output = run("list_files")
    lines = output.text.splitlines()
    assert lines[0].startswith("f1 · Q3 Sales.csv · Table (CSV) · 4 rows × 3 columns")
    assert "SQL: q3_sales" in lines[0]
    named = (
        "SQL: budget__actual (3 rows × 3 columns), budget__plan (2 × 2), budget__secret (1 × "
        "2, hidden)"
    )
    assert (
        lines[2] == f"f3 · budget.xlsx · Spreadsheet · 3 sheets, "
        f"{lines[2].split('sheets, ')[1].split(' · ')[0]} · {named}"
    )
    assert "empty" in lines[3]
    assert "Anna" not in output.text


def test_read_file_gives_a_place_a_coverage_and_a_source(run: Any) -> None:
    output = run("read_file", file="notes.md", where="lines 3-5")
    assert "We met on Monday." in output.text
    assert "lines 3-5 of 5" in output.text
    assert output.sources[0].place == "lines 3-5"
    assert (output.coverage[0].unit, output.coverage[0].seen, output.coverage[0].total) == (
        "lines",
        3,
        5,
    )


def test_reading_on_with_the_cursor_covers_the_whole_file(session: Session) -> None:
    text = "\n".join(f"This is line {i} of a long text that does not fit." for i in range(1, 201))
    file = add(session, "long.txt", text.encode())
    cursor, seen = "", ""
    for _ in range(100):
        output = session.tools.run(
            "read_file", {"file": "f1", "max_tokens": 400, "cursor": cursor}, file_ids=[file.id]
        )
        seen += output.data.passages[0]["text"]
        cursor = output.data.cursor
        if not cursor:
            break
    for i in range(1, 201):
        assert seen.count(f"This is line {i} of") == 1


def test_search_finds_the_passage_and_its_place(run: Any) -> None:
    output = run("search_files", query="budget friday")
    assert output.data.passages[0]["name"] == "notes.md"
    assert "line" in output.data.passages[0]["place"]
    assert output.sources[0].query == "budget friday"


def test_describe_table_says_types_gaps_and_values(run: Any) -> None:
    output = run("describe_table", file="f1")
    assert "Table q3_sales" in output.text
    assert '"revenue" DOUBLE' in output.text
    assert "North (2)" in output.text
    assert output.data.profile["rows"] == 4
    assert output.coverage[0].seen == output.coverage[0].total == 4


def test_describe_table_gives_exact_spread_and_offers_the_cast_of_dates_kept_as_text(
    session: Session,
) -> None:
    rows = [
        (i, f"2024-01-{i:02}", "pending" if i == 7 else f"{i:02}/02/24", f"{i}.2.24")
        for i in range(1, 21)
    ]
    content = "n,day,due,kind\n" + "".join(f"{n},{day},{due},x\n" for n, day, due, _ in rows)
    ids = [add(session, "spread.csv", content.encode()).id]
    output = session.tools.run("describe_table", {"file": "f1"}, file_ids=ids)
    columns = {column["name"]: column for column in output.data.profile["columns"]}
    assert columns["n"]["std"] == pytest.approx(5.916079783)
    assert columns["n"]["quartiles"] == [5.75, 10.5, 15.25]
    assert columns["day"]["quartiles"] == ["2024-01-05", "2024-01-10", "2024-01-15"]
    assert "std 5.91608 · quartiles 5.75, 10.5, 15.25" in output.text
    assert "quartiles 2024-01-05, 2024-01-10, 2024-01-15" in output.text
    cast = "try_strptime(\"due\", '%d/%m/%y')"
    assert (
        f"dates kept as text: {cast} (1 of 20 different values are written otherwise and "
        f"become NULL)" in output.text
    )
    found = session.tools.run(
        "query_tables",
        {"sql": f"SELECT max({cast})::DATE::VARCHAR, count({cast}) FROM spread"},
        file_ids=ids,
    )
    assert found.data.table["rows"] == [["2024-02-20", 19]]
    assert columns["kind"]["quartiles"] == []


@pytest.mark.parametrize(
    "given",
    [
        {"file": "f3", "sheet": "Actual"},
        {"file": "budget__actual"},
        {"file": "f3", "sheet": "budget__actual"},
    ],
)
def test_a_table_is_found_by_sheet_or_by_sql_name(run: Any, given: dict[str, str]) -> None:
    output = run("describe_table", **given)
    assert output.data.profile["name"] == "budget__actual"
    assert output.data.profile["rows"] == 3
    assert "budget__plan" in output.data.others


def test_the_largest_visible_table_is_described_where_none_is_named(run: Any) -> None:
    assert run("describe_table", file="f3").data.profile["name"] == "budget__actual"


def test_a_table_below_a_title_row_is_found(run: Any) -> None:
    output = run("query_tables", sql="SELECT sum(amount) FROM budget__plan")
    assert output.data.table["rows"] == [[30]]
    assert output.sources[0].place == "sheet Plan!A3:B5"


def test_query_keeps_the_result_and_says_what_was_scanned(run: Any) -> None:
    output = run(
        "query_tables",
        sql="SELECT region, sum(revenue) AS total FROM q3_sales GROUP BY region ORDER BY 2 DESC",
    )
    assert output.data.table["rows"] == [["North", 400.0], ["South", 250.5], ["East", 49.5]]
    assert output.summary == "Summed revenue by region in q3_sales: 3 rows"
    assert "Scanned q3_sales (4 rows)" in output.text
    assert output.coverage[0].name == "Q3 Sales.csv"
    regions = run("query_tables", sql="SELECT region FROM q3_sales GROUP BY region")
    assert regions.summary == "Queried q3_sales by region: 3 rows"


def test_two_sheets_of_one_workbook_count_as_two(run: Any) -> None:
    output = run(
        "query_tables",
        sql="SELECT count(*) FROM budget__plan UNION ALL SELECT count(*) FROM budget__actual",
    )
    seen = [(c.name, c.seen, c.total, c.excluded) for c in output.coverage]
    assert seen == [
        ("budget.xlsx · Plan", 2, 3, "1 left out as a title"),
        ("budget.xlsx · Actual", 3, 3, ""),
    ]
    assert [t["table"] for t in output.data.beside] == ["budget__secret"]


def test_more_rows_than_the_model_gets_are_counted(run: Any) -> None:
    output = run("query_tables", sql="SELECT * FROM range(1000)")
    assert len(output.data.table["rows"]) == 200
    assert output.data.table["total"] == 1000
    assert "1,000 rows; 200 shown" in output.text


def test_a_chart_is_drawn_from_a_result(run: Any) -> None:
    spec = {
        "mark": "bar",
        "encoding": {
            "x": {"field": "region", "type": "nominal"},
            "y": {"field": "total", "type": "quantitative"},
        },
    }
    output = run(
        "make_chart", sql="SELECT region, sum(revenue) AS total FROM q3_sales GROUP BY 1", spec=spec
    )
    assert len(output.data.chart["rows"]) == 3
    again = run("make_chart", result_id=output.data.chart["result_id"], spec=spec)
    assert again.data.chart["rows"] == output.data.chart["rows"]


@pytest.mark.parametrize(
    ("name", "given", "error", "said"),
    [
        ("read_file", {"file": "note.md"}, NotFoundError, "notes.md"),
        ("read_file", {"file": "f2", "where": "lines 90-99"}, InvalidInputError, "5"),
        ("read_file", {"file": "f2", "where": "chapter two"}, InvalidInputError, "lines"),
        ("read_file", {"file": "f4"}, LeafError, "empty"),
        ("describe_table", {"file": "notes.md"}, InvalidInputError, "read_file"),
        ("describe_table", {"file": "f3", "sheet": "Actuals"}, NotFoundError, "Actual"),
        ("query_tables", {"sql": "SELECT revenu FROM q3_sales"}, NotFoundError, "revenue"),
        ("query_tables", {"sql": "SELECT * FROM q3_sale"}, NotFoundError, "q3_sales"),
        ("query_tables", {"sql": "COPY q3_sales TO 'x.csv'"}, LeafError, "read"),
        ("query_tables", {}, InvalidInputError, "sql"),
        ("make_chart", {"spec": {"mark": "bar"}}, InvalidInputError, "result_id or sql"),
        ("make_chart", {"spec": REGOIN, "sql": "FROM q3_sales"}, LeafError, "region"),
        ("make_chart", {"spec": "{broken", "sql": "FROM q3_sales"}, InvalidInputError, "spec"),
        ("make_chart", {"spec": {"mark": "bar"}, "result_id": "r999"}, NotFoundError, "r999"),
        ("summarise", {}, NotFoundError, "There is"),
    ],
)  # fmt: skip
def test_a_wrong_call_says_what_is_wrong(
    run: Any, name: str, given: dict[str, Any], error: type[LeafError], said: str
) -> None:
    with pytest.raises(error, match=said):
        run(name, **given)


def test_a_file_deleted_meanwhile_is_said_to_be(session: Session) -> None:
    chat = session.chats.create()
    file = add(session, "gone.txt", b"Here today.")
    session.attached.add(chat.id, [file.id])
    session.files.delete(file.id)
    with pytest.raises(NotFoundError, match="deleted"):
        session.tools.run("read_file", {"file": "gone.txt"}, chat_id=chat.id)
    assert "was deleted" in session.tools.run("list_files", {}, chat_id=chat.id).text
    session.files.restore(file.id)
    assert "Here today." in session.tools.run("read_file", {"file": "f1"}, chat_id=chat.id).text


def test_schemas_hold_no_titles_and_all_descriptions() -> None:
    for schema in registry.schemas():
        assert schema["description"]
        assert "title" not in schema["input_schema"]


def test_a_file_is_found_by_each_name_of_its_bytes(session: Session) -> None:
    content = SALES + b"West,2025-03,7\n"
    names = ("quarter.csv", "Umsatz Mai.csv")
    ids = [add(session, name, content).id for name in names]
    listed = session.tools.run("list_files", {}, file_ids=ids).text.splitlines()
    assert "same content as f1" in listed[1]
    assert "same content" not in listed[0]
    for name, table in zip(names, ("quarter", "umsatz_mai"), strict=True):
        assert (
            f"Table {table} · {name}"
            in session.tools.run("describe_table", {"file": name}, file_ids=ids).text
        )
        counted = session.tools.run(
            "query_tables", {"sql": f"SELECT count(*) FROM {table}"}, file_ids=ids
        )
        assert (counted.data.table["rows"], counted.sources[0].name) == ([[5]], name)
    found = session.tools.run("search_files", {"query": "umsatz west"}, file_ids=ids)
    assert [p["name"] for p in found.data.passages] == ["Umsatz Mai.csv"]
    assert "These files have the same content: quarter.csv, Umsatz Mai.csv." in found.text
    assert "searched 2 of 2 files" in found.text


@pytest.mark.parametrize(
    "name", ["Übersicht é.csv", "📱 中 ع.csv", "שלום.csv", "İstanbul.csv", "👩\u200d💻.csv"]
)
def test_a_file_is_found_however_its_name_is_composed(session: Session, name: str) -> None:
    ids = [add(session, unicodedata.normalize("NFD", name), f"Größe,n\n{name},1\n".encode()).id]
    for asked in (name, unicodedata.normalize("NFD", name), name.upper(), f"\u200f{name}\u200e"):
        described = session.tools.run("describe_table", {"file": asked}, file_ids=ids)
        assert described.sources[0].name == name


def test_a_column_is_found_however_its_name_is_composed(session: Session) -> None:
    ids = [
        add(
            session, "composed.csv", unicodedata.normalize("NFD", "Größe,Übertrag\n1,2\n").encode()
        ).id
    ]
    found = session.tools.run(
        "query_tables", {"sql": 'SELECT "Größe" + "Übertrag" AS x FROM composed'}, file_ids=ids
    )
    assert found.data.table["rows"] == [[3]]


@pytest.mark.parametrize("tool", ["query_tables", "search_files", "read_file", "describe_table"])
def test_half_a_character_in_an_input_is_told_in_words(
    session: Session, file_ids: list[str], tool: str
) -> None:
    given = {"sql": "SELECT '\ud83d'", "query": "\ud83d", "file": "\udc00.csv"}
    with pytest.raises(InvalidInputError, match="holds half of a character"):
        session.tools.run(tool, given, file_ids=file_ids)


def test_a_query_may_ask_which_tables_there_are(run: Any) -> None:
    shown = {row[0] for row in run("query_tables", sql="SHOW TABLES").data.table["rows"]}
    assert {"q3_sales", "budget__plan", "budget__actual", "budget__secret"} <= shown


def test_a_file_named_in_sql_is_answered_with_its_tables(run: Any) -> None:
    with pytest.raises(
        NotFoundError,
        match=r"its tables are budget__plan, budget__actual, budget__secret\. Write FROM budget__",
    ):
        run("query_tables", sql='SELECT * FROM "budget.xlsx"')


def test_a_shown_cell_can_be_copied_into_a_query(session: Session) -> None:
    values = [
        "two  blanks",
        " before",
        "after ",
        "a\ttab",
        "it's\nlines",
        "back\\slash\nline",
        "no\u00a0break",
        "plain",
    ]
    ids = [
        add(
            session,
            "cells.json",
            json.dumps([{"v": value, "n": i} for i, value in enumerate(values)]).encode(),
        ).id
    ]
    shown = session.tools.run(
        "query_tables", {"sql": "SELECT v FROM cells ORDER BY n"}, file_ids=ids
    ).text.splitlines()[2:]
    assert len(shown) == len(values)
    for number, cell in enumerate(shown):
        literal = cell if cell.startswith(("'", "E'")) else "'" + cell + "'"
        found = session.tools.run(
            "query_tables", {"sql": f"SELECT n FROM cells WHERE v = {literal}"}, file_ids=ids
        )
        assert found.data.table["rows"] == [[number]], cell


def test_tables_inside_a_document_are_named_described_and_queried(session: Session) -> None:
    page = """<!doctype html><html><body><h1>Report</h1><p>Words about it.</p>
      <table><tr><th>Region</th><th>Units</th></tr><tr><td>North</td><td>1204</td></tr><tr><td>South</td><td>3001</td></tr></table>
      <table><tr><th>Day</th><th>Visits</th></tr><tr><td>2024-01-02</td><td>7</td></tr><tr><td>2024-01-03</td><td>9</td></tr></table>
      </body></html>"""
    page_id = add(session, "report.html", page.encode()).id
    listed = session.tools.run("list_files", {}, file_ids=[page_id])
    assert "SQL: report__table_1 (2 rows × 2 columns), report__table_2 (2 × 2)" in listed.text
    described = session.tools.run(
        "describe_table", {"file": "f1", "sheet": "table 2"}, file_ids=[page_id]
    )
    assert "Visits" in described.text
    found = session.tools.run(
        "query_tables", {"sql": "SELECT sum(Units) AS n FROM report__table_1"}, file_ids=[page_id]
    )
    assert "4205" in found.text
    assert found.coverage[0].seen == 2


def test_a_document_without_tables_says_so(session: Session) -> None:
    page_id = add(
        session, "plain.html", b"<!doctype html><html><body><p>Only words here.</p></body></html>"
    ).id
    with pytest.raises(InvalidInputError, match="is no table"):
        session.tools.run("describe_table", {"file": "f1"}, file_ids=[page_id])


def test_a_document_that_earlier_readers_looked_at_is_asked_for_its_tables_again(
    leaf: Leaf, scope: Scope
) -> None:
    session = leaf.session(scope)
    rows = [["Region", "Units"], *([f"Place {i}", str(1000 + i)] for i in range(9))]
    page = (
        "<html><body><table>"
        + "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in rows)
        + "</table></body></html>"
    )
    file = add(session, "old.html", page.encode())
    assert file.outline["version"] == VERSION
    old = {**file.outline, "tables": None, "version": 0}
    files.set_outline(
        leaf._house.store.db,
        scope,
        file.id,
        kind=file.kind,
        media_type=file.media_type,
        outline=old,
    )
    counted = session.tools.run(
        "query_tables", {"sql": "SELECT count(*) AS n FROM old"}, file_ids=[file.id]
    )
    assert counted.data.table["rows"] == [[9]]
    assert "SQL: old" in session.tools.run("list_files", {}, file_ids=[file.id]).text
    assert (
        "9 rows"
        in session.tools.run("describe_table", {"file": "old.html"}, file_ids=[file.id]).text
    )


@pytest.mark.parametrize("name", ["amount=7", "year=2026"])
@pytest.mark.parametrize("rows", [3, 200_000])
def test_a_folder_on_the_way_that_looks_like_a_partition_is_no_column(
    tmp_path: Path, name: str, rows: int
) -> None:
    lines = "".join(f"{number},x\n" for number in range(rows))
    with opened(tmp_path / name / "leaf") as own:
        session = own.session(own.local_scope())
        file = add(session, "sales.csv", f"amount,sort\n{lines}".encode())
        sql = "SELECT *, sum(amount) OVER () AS total FROM sales ORDER BY amount LIMIT 2"
        output = session.tools.run("query_tables", {"sql": sql}, file_ids=[file.id])
    table = output.to_json()["data"]["table"]
    assert table["columns"] == ["amount", "sort", "total"]
    total = rows * (rows - 1) // 2
    assert [[int(row[0]), int(row[2])] for row in table["rows"]] == [[0, total], [1, total]]


def test_the_first_rows_are_not_counted_as_all(leaf: Leaf, session: Session) -> None:
    """`LIMIT 5` without an order, or a sample, has read so many rows, and so has what is made of
    it."""
    content = "region,amount\n" + "".join(f"{'NS'[n % 2]},{n}\n" for n in range(159))
    ids = [add(session, "orders.csv", content.encode()).id]
    chat = session.chats.create()

    def seen(sql: str, tool: str = "query_tables", name: str = "sql") -> tuple[int, int]:
        output = session.tools.run(tool, {name: sql}, chat_id=chat.id, file_ids=ids)
        cover = output.coverage[0]
        whole = cover.seen == cover.total
        assert (
            whole
            or tool != "query_tables"
            or f"Only {cover.seen} of 159 rows of orders" in output.text
        )
        assert not whole or "Only" not in output.text
        return cover.seen, cover.total

    assert seen("SELECT * FROM orders LIMIT 5") == (5, 159)
    assert seen("SELECT avg(amount) FROM r1") == (5, 159)
    assert seen("SELECT avg(amount) FROM r2 JOIN r1 ON true") == (5, 159)
    assert seen("SELECT avg(amount) FROM r1 UNION ALL SELECT avg(amount) FROM orders") == (159, 159)
    assert seen("SELECT avg(amount) FROM (SELECT * FROM orders LIMIT 50)") == (50, 159)
    assert seen("SELECT avg(amount) FROM orders USING SAMPLE 20") == (20, 159)
    assert seen("SELECT * FROM orders WHERE region = 'N' LIMIT 7") == (7, 159)
    assert seen("SELECT * FROM orders ORDER BY random() LIMIT 20") == (20, 159)
    assert seen("SELECT * FROM orders ORDER BY hash(amount), md5(region) LIMIT 21") == (21, 159)
    assert seen("SELECT * FROM orders__all ORDER BY _row LIMIT 8") == (8, 159)
    assert seen("SELECT * FROM orders__all LIMIT 9") == (9, 159)
    for sql in (
        "SELECT * FROM orders LIMIT 500",
        "SELECT * FROM orders WHERE region = 'N' LIMIT 100",
        "SELECT * FROM orders WHERE amount = 7 LIMIT 1",
        "SELECT * FROM orders ORDER BY amount DESC LIMIT 5",
        "SELECT * FROM orders ORDER BY amount, random() LIMIT 5",
        "SELECT a.* FROM orders__all a JOIN orders b ON a.amount = b.amount LIMIT 5",
        "SELECT region, sum(amount) FROM orders GROUP BY ALL LIMIT 1",
        "SELECT DISTINCT region FROM orders LIMIT 1",
        "SELECT count(*) FROM orders LIMIT 1",
        "SELECT amount, sum(amount) OVER () FROM orders LIMIT 3",
        "SELECT * FROM orders WHERE amount > (SELECT avg(amount) FROM orders) LIMIT 3",
    ):
        assert seen(sql) == (159, 159), sql


def test_pages_of_a_table_add_up_and_a_limit_says_what_it_left_out(session: Session) -> None:
    """A `LIMIT` of what no value sorts has left rows out, whatever it is the limit of; the first by
    a value are what was asked for."""
    content = "region,amount\n" + "".join(f"{'NS'[n % 2]},{n}\n" for n in range(159))
    ids = [add(session, "orders.csv", content.encode()).id]
    chat = session.chats.create()

    def ask(sql: str) -> Any:
        return session.tools.run("query_tables", {"sql": sql}, chat_id=chat.id, file_ids=ids)

    def cut(sql: str) -> tuple[int, int]:
        table = ask(sql).data.table
        return table.get("offset", 0), 0 if table.get("ranked") else table.get("of", 0)

    pages = [
        "SELECT * FROM orders LIMIT 60",
        "SELECT * FROM orders ORDER BY _row LIMIT 60 OFFSET 60",
        "SELECT * FROM orders OFFSET 120",
    ]
    covers = [ask(sql).coverage[0] for sql in pages]
    assert [cover.ranges for cover in covers] == [((1, 60),), ((61, 120),), ((121, 159),)]
    assert merge_coverage({"coverage": [vars(c)]} for c in covers)[0]["seen"] == 159  # type: ignore[typeddict-item]
    assert ask("SELECT * FROM orders LIMIT 5 + 5").coverage[0].seen == 10
    assert ask("SELECT * FROM orders ORDER BY random() LIMIT 5").coverage[0].ranges == ()
    assert cut("SELECT * FROM (SELECT * FROM orders) LIMIT 5") == (0, 159)
    assert cut("WITH o AS (SELECT * FROM orders) SELECT * FROM o LIMIT 5 OFFSET 9") == (9, 159)
    assert cut("SELECT a.* FROM orders a JOIN orders b USING (region) LIMIT 5") == (0, 12_641)
    assert cut("SELECT 1 FROM orders UNION ALL SELECT 2 FROM orders LIMIT 5") == (0, 318)
    assert cut("SELECT DISTINCT region FROM orders LIMIT 1") == (0, 2)
    assert cut("SELECT * FROM orders ORDER BY amount LIMIT 5 OFFSET 5") == (5, 159)
    assert cut("SELECT * FROM orders WHERE region = 'N' LIMIT 100") == (0, 80)
    for sql in (
        "SELECT * FROM orders ORDER BY amount DESC LIMIT 5",
        "SELECT * FROM orders ORDER BY amount DESC LIMIT 50",
        "SELECT * FROM (SELECT * FROM orders ORDER BY amount DESC) LIMIT 5",
        "SELECT * FROM r1 LIMIT 5",
        "SELECT * FROM orders",
    ):
        assert cut(sql) == (0, 0), sql

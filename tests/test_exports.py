"""Results as whole tables and as files, chats as bundles and notebooks, charts as pictures."""

from __future__ import annotations

import csv
import datetime
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from python_calamine import CalamineWorkbook

from leaf.app import Leaf
from leaf.errors import InvalidInputError, NotFoundError
from leaf.sessions.session import Session
from leaf.shapes.excel import cell_text, sheet_name
from leaf.tables import charts, child, drawing, export, fonts
from leaf.tables.paging import RowsWanted
from leaf.tables.reshape import Choice, choice_of, reshaped
from tests.leaf_kit import add, opened

Json = dict[str, Any]

ORDERS = (
    "id,customer,amount,day,note\n1,Ada,10.5,2025-01-31,=1+1\n2,Bob,1200,2025-02-01,+49\n"
    "3,ada lovelace,-7.25,2025-02-28,-x\n4,,30,2025-03-01,@home\n5,O'Neil %,99.99,2026-01-01,\n"
)


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Leaf]:
    with opened(tmp_path_factory.mktemp("home")) as running:
        yield running


def asked(session: Session, chat_id: str, file_id: str, sql: str) -> str:
    """The id of a query's result."""
    output = session.tools.run(
        "query_tables", json.dumps({"sql": sql}), chat_id=chat_id, file_ids=[file_id]
    )
    return str(output.data.table["result_id"])


def drawn(leaf: Leaf, *given: Any) -> bytes:
    """A chart as it is downloaded from a chat."""
    session = leaf.session(leaf.local_scope())
    return session.results.draw(session.chats.create().id, *given)


# Whole results


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Parquet file, for what the child does with one."""
    folder = tmp_path_factory.mktemp("orders")
    (folder / "orders.csv").write_text(ORDERS)
    duckdb.sql(f"FROM read_csv('{folder}/orders.csv')").write_parquet(
        str(folder / "orders.parquet")
    )
    return str(folder / "orders.parquet")


def ids(parquet: str, column: str, operation: str, value: str) -> list[int]:
    where = {"column": column, "operation": operation, "value": value}
    return [row[0] for row in child.page(parquet, 0, 100, "", False, 512, where=where)["rows"]]


def test_a_result_is_sorted_filtered_and_paged(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    file, chat = add(session, "orders.csv", ORDERS.encode()), session.chats.create()
    result = asked(session, chat.id, file.id, "FROM orders")
    page = session.results.page(chat.id, result, RowsWanted(1, 2, "amount", descending=True))
    assert ([row[0] for row in page.rows], page.total, page.whole, page.offset) == ([5, 4], 5, 5, 1)
    where = {"column": "amount", "operation": "≥", "value": "30"}
    page = session.results.page(chat.id, result, RowsWanted(limit=1, order_by="id", where=where))
    assert ([row[0] for row in page.rows], page.total, page.whole) == ([2], 3, 5)
    with pytest.raises(InvalidInputError, match="holds numbers, and 'much' is none"):
        session.results.page(chat.id, result, RowsWanted(where={**where, "value": "much"}))


def test_sorted_pages_have_each_row_once(tmp_path: Path) -> None:
    """Rows of one value stand in their own order, on every page in the same one."""
    parquet = str(tmp_path / "t.parquet")
    made = "SELECT range AS id, range % 3 AS class, 'x' AS file_row_number FROM range(3000)"
    duckdb.sql(made).write_parquet(parquet)
    for descending in (False, True):
        pages = [
            child.page(parquet, first, 200, "class", descending, 512)
            for first in range(0, 3000, 200)
        ]
        assert {tuple(page["columns"]) for page in pages} == {("id", "class", "file_row_number")}
        found = [row[0] for page in pages for row in page["rows"]]
        assert len(found) == len(set(found)) == 3000


@pytest.mark.parametrize(
    ("column", "operation", "value", "found"),
    [
        ("customer", "contains", "ADA", [1, 3]),
        ("customer", "contains", "%", [5]),
        ("customer", "contains", "O'N", [5]),
        ("customer", "=", "Ada", [1]),
        ("amount", "≥", "30", [2, 4, 5]),
        ("amount", "≤", "-7.25", [3]),
        ("amount", "≤", "−7.25", [3]),
        ("amount", "=", "1,200", [2]),
        ("amount", "≥", "1e3", [2]),
        ("amount", "contains", "99", [5]),
        ("day", "=", "2025-02", [2, 3]),
        ("day", "≤", "2025-02", [1, 2, 3]),
        ("day", "≥", "2025-03-01", [4, 5]),
        ("note", "contains", "=1", [1]),
        ("customer", "=", "') OR true --", []),
    ],
)
def test_a_filter_compares_numbers_dates_and_text(
    orders: str, column: str, operation: str, value: str, found: list[int]
) -> None:
    assert ids(orders, column, operation, value) == found


@pytest.mark.parametrize(
    ("column", "operation", "value", "error"),
    [
        ("amount", "=", "much", "holds numbers, and 'much' is none"),
        ("amount", "=", "1 OR 1=1", "holds numbers"),
        ("amount", "≥", "nan", "holds numbers"),
        ("amount", "≥", "9" * 400, "holds numbers"),
        ("day", "≥", "yesterday", "holds dates"),
        ("day", "≥", "2025' OR '1'='1", "holds dates"),
        ("day", "LIKE", "2025", "no way to filter"),
        ("amout", "=", "1", "Did you mean 'amount'"),
    ],
)
def test_a_filter_that_cannot_be_is_refused_in_a_sentence(
    orders: str, column: str, operation: str, value: str, error: str
) -> None:
    with pytest.raises((InvalidInputError, NotFoundError), match=error):
        ids(orders, column, operation, value)


def test_odd_names_of_columns_can_be_filtered(tmp_path: Path) -> None:
    odd = 'a"b; DROP'
    pq.write_table(pa.table({odd: ["x", "') OR true --"], "n": [1, 2]}), tmp_path / "t.parquet")
    for operation, value, rows in (("=", "x", 1), ("contains", "') OR", 1), ("≥", "y", 0)):
        where = {"column": odd, "operation": operation, "value": value}
        assert (
            child.page(str(tmp_path / "t.parquet"), 0, 9, odd, False, 512, where=where)["total"]
            == rows
        )


# Results as files


def test_a_result_becomes_an_excel_file_with_types_and_what_it_rests_on(
    leaf: Leaf, tmp_path: Path
) -> None:
    session = leaf.session(leaf.local_scope())
    file, chat = add(session, "orders.csv", ORDERS.encode()), session.chats.create()
    sql = (
        "SELECT *, amount > 20 AS large, 12345678901234567890::HUGEINT AS big FROM orders "
        "ORDER BY id"
    )
    result = asked(session, chat.id, file.id, sql)
    book = openpyxl.load_workbook(session.results.export(chat.id, result, "xlsx", into=tmp_path))
    assert book.sheetnames == ["Result", "Query"]
    sheet = book["Result"]
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0] == ("id", "customer", "amount", "day", "note", "large", "big")
    assert rows[1] == (
        1,
        "Ada",
        10.5,
        datetime.datetime(2025, 1, 31),
        "=1+1",
        False,
        "12345678901234567890",
    )
    assert [row[4] for row in rows[1:]] == ["=1+1", "+49", "-x", "@home", None]
    assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
    assert sheet["D2"].is_date
    assert sheet["A1"].font.bold
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == "A1:G6"
    assert 8 <= sheet.column_dimensions["G"].width <= 60
    told = list(book["Query"].iter_rows(values_only=True))
    assert told[0][1] == sql
    assert told[1][:2] == ("Rows", 5)
    assert ("Note", "5 numbers have more digits than Excel keeps, and were written as text.") in [
        r[:2] for r in told
    ]
    assert told[-1] == ("orders", "orders.csv", told[-1][2], 5, file.sha256)

    csv = session.results.export(chat.id, result, "csv", into=tmp_path).read_text()
    assert csv.splitlines()[0] == "id,customer,amount,day,note,large,big"
    assert (
        pq.read_table(session.results.export(chat.id, result, "parquet", into=tmp_path)).num_rows
        == 5
    )
    with pytest.raises(InvalidInputError, match="csv, xlsx or parquet"):
        session.results.export(chat.id, result, "exe", into=tmp_path)  # type: ignore[arg-type]


def test_an_excel_file_says_what_its_rows_rest_on_and_what_is_not_in_them(
    leaf: Leaf, tmp_path: Path
) -> None:
    session = leaf.session(leaf.local_scope())
    rows = "".join(f"{name},{n}\n" for n, name in enumerate(("North", "South", "East", "West"), 1))
    file = add(session, "summed.csv", f"region,revenue\n{rows}Total,10\n".encode())
    chat = session.chats.create()
    result = asked(session, chat.id, file.id, "SELECT * FROM summed LIMIT 2")

    def told() -> list[tuple[Any, ...]]:
        path = session.results.export(chat.id, result, "xlsx", into=tmp_path)
        book = openpyxl.load_workbook(path)
        return [row[:2] for row in book["Query"].iter_rows(values_only=True)]

    assert ("Rests on", "2 of 5 rows of summed.csv; 1 left out as a total") in told()
    assert ("Doubtful", f"{result} ends at its own LIMIT (2 rows): it is not the whole.") in told()
    session.files.delete(file.id)
    gone = f"summed.csv, which {result} was made from, was deleted since."
    assert ("Doubtful", gone) in told()


def test_strange_values_are_written_as_excel_can_hold_them(tmp_path: Path) -> None:
    utc = datetime.datetime(2025, 1, 1, 12, tzinfo=datetime.UTC)
    table = pa.table(
        {
            "float": [float("nan"), float("inf"), 0.1],
            "old": [datetime.date(1850, 1, 1), datetime.date(1900, 3, 1), None],
            "moment": [utc, utc, utc],
            "text": ["x" * 40_000, "a\x00b\x0bc", '=HYPERLINK("http://x")'],
            "list": [[1, 2], [], None],
            "bytes": [b"123", b"", None],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    export.xlsx(str(tmp_path / "t.parquet"), {"query": "=1+1", "rows": 3}, str(tmp_path), 512)
    book = openpyxl.load_workbook(tmp_path / "export.xlsx")
    _, first, second, third = book["Result"].iter_rows(values_only=True)
    assert first[:3] == (None, "1850-01-01", "2025-01-01 12:00:00+00:00")
    assert len(first[3]) == 32_767
    assert second[0] == "inf"
    assert second[3] == "abc"
    assert (first[4], first[5]) == ("[1, 2]", "<3 bytes>")
    assert third[3] == '=HYPERLINK("http://x")'
    assert all(cell.data_type != "f" for sheet in book for row in sheet.iter_rows() for cell in row)
    assert book["Query"]["B1"].value == "=1+1"


def test_excel_has_what_csv_has_of_lists_records_and_short_numbers(tmp_path: Path) -> None:
    """And text that looks like a character by its number stays as it is: calamine reads it as Excel
    does."""
    sql = (
        "SELECT {'day': DATE '2024-01-31', 'n': 1.50::DECIMAL(5, 2), 'none': NULL} AS record, "
        "[DATE '2024-01-31', NULL] AS days, MAP {'k': 'nan'::DOUBLE} AS map, 0.1::FLOAT AS short, "
        "'inf'::FLOAT AS long, NULL::FLOAT AS no, 'Order_x0020_ID' AS \"_x0041_\""
    )
    source = str(tmp_path / "t.parquet")
    duckdb.sql(sql).write_parquet(source)
    child.export_csv(source, str(tmp_path), 512, raw=True)
    with (tmp_path / "export.csv").open(newline="") as file:
        expected = list(csv.reader(file))
    export.xlsx(source, {}, str(tmp_path), 512)
    book = CalamineWorkbook.from_path(str(tmp_path / "export.xlsx"))
    assert [
        [str(cell) for cell in row] for row in book.get_sheet_by_name("Result").to_python()
    ] == expected
    assert expected[1][:2] == ["{'day': 2024-01-31, 'n': 1.50, 'none': NULL}", "[2024-01-31, NULL]"]
    assert expected[1][3:] == ["0.1", "inf", "", "Order_x0020_ID"]


@pytest.mark.parametrize(
    ("text", "length", "cut"),
    [("x" * 32_767, 32_767, False), ("🙂" * 20_000, 16_383, True), ("🙂" * 16_383, 16_383, False)],
)
def test_a_cell_is_as_long_as_excel_counts(text: str, length: int, cut: bool) -> None:
    written, was_cut = cell_text(text)
    assert (len(written), was_cut) == (length, cut)
    assert len(written.encode("utf-16-le")) <= 2 * 32_767


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Q1/Q2: [all]", "Q1 Q2 all"),
        ("History", "History_"),
        ("'", "Sheet"),
        ("🙂" * 20, "🙂" * 15),
        ("x" * 40, "x" * 31),
    ],
)
def test_a_sheet_has_a_name_that_excel_takes(title: str, name: str) -> None:
    assert sheet_name(title) == name


def test_zeros_that_fill_a_decimal_up_make_no_text_of_it_in_excel(tmp_path: Path) -> None:
    wide = ["12.5", "1234567.89", "-0.000001", "0", "1234567890.0123456789", "1000000000000000"]
    table = pa.table({"n": pa.array(map(Decimal, wide), pa.decimal128(38, 18))})
    pq.write_table(table, tmp_path / "t.parquet")
    export.xlsx(str(tmp_path / "t.parquet"), {}, str(tmp_path), 512)
    sheet = openpyxl.load_workbook(tmp_path / "export.xlsx")["Result"]
    cells = [cell for (cell,) in sheet.iter_rows(min_row=2)]
    assert [cell.value for cell in cells[:4]] == [12.5, 1234567.89, -0.000001, 0]
    assert [cell.data_type for cell in cells] == ["n", "n", "n", "n", "s", "s"]
    assert cells[4].value == "1234567890.012345678900000000"


def test_a_query_that_excel_has_no_room_for_says_so(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1]}), tmp_path / "t.parquet")
    query = f"SELECT 1 AS n -- {'x' * 40_000}"
    export.xlsx(str(tmp_path / "t.parquet"), {"query": query}, str(tmp_path), 512)
    told = openpyxl.load_workbook(tmp_path / "export.xlsx")["Query"].iter_rows(values_only=True)
    notes = [row[1] for row in told if row[0] == "Note"]
    assert notes == ["The query has 40,017 characters; the first 32,767 are here."]


def test_result_with_more_rows_than_excel_takes_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": pa.array(range(export.MOST_ROWS + 1))}), tmp_path / "t.parquet")
    with pytest.raises(
        InvalidInputError, match=r"1,048,575 rows.* this result has 1,048,576.* CSV or Parquet"
    ):
        export.xlsx(str(tmp_path / "t.parquet"), {}, str(tmp_path), 512)
    assert not (tmp_path / "export.xlsx").exists()


def test_empty_result_becomes_a_header(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": pa.array([], pa.int64())}), tmp_path / "t.parquet")
    export.xlsx(str(tmp_path / "t.parquet"), {}, str(tmp_path), 512)
    book = openpyxl.load_workbook(io.BytesIO((tmp_path / "export.xlsx").read_bytes()))
    assert list(book["Result"].iter_rows(values_only=True)) == [("n",)]


# Charts

CHART = {
    "mark": "bar",
    "encoding": {
        "x": {"field": "region", "title": "Region"},
        "y": {"field": "sum.a", "type": "quantitative"},
    },
}
COLUMNS, TYPES = ["region", "sum.a", "day", "year"], ["VARCHAR", "DOUBLE", "DATE", "BIGINT"]
CHART_ROWS = [["North <b>", 1.5, "2025-01-01", 2024], ["Süd & Ost", 2.5, "2025-01-02", 2025]]


@pytest.mark.parametrize("title", ["销售", "عدد", "שלום", "𞤀", "📱 👩\u200d💻"])
def test_a_picture_is_drawn_in_a_font_that_has_its_letters_or_says_which_are_missing(
    leaf: Leaf, title: str
) -> None:
    family, missing = fonts.best(fonts.beyond(title))
    told = drawing._with_font(drawing.whole({**CHART, "title": title}, COLUMNS, CHART_ROWS))
    assert told["config"].get("font", "") == family
    assert all(
        (f"U+{ord(c):04X}" in str(told["title"])) == (c in missing) for c in fonts.beyond(title)
    )
    assert (
        drawn(leaf, charts.check({**CHART, "title": title}, COLUMNS), COLUMNS, CHART_ROWS, "png")[
            :4
        ]
        == b"\x89PNG"
    )


def test_a_picture_of_usual_letters_keeps_its_font() -> None:
    usual = drawing.whole(
        {**CHART, "title": "Größe – “µ” in €, Привет, Ωμέγα ≥ 3"}, COLUMNS, CHART_ROWS
    )
    assert drawing._with_font(usual) == usual


def test_chart_becomes_a_picture_and_a_spec_with_its_rows(leaf: Leaf) -> None:
    spec = charts.check({**CHART, "title": "Who leads?"}, COLUMNS)
    png = drawn(leaf, spec, COLUMNS, CHART_ROWS, "png")
    with Image.open(io.BytesIO(png)) as picture:
        assert picture.format == "PNG"
        assert picture.width > 1_400
        colours = {colour for _, colour in picture.convert("RGB").getcolors(100_000) or ()}
    assert {(255, 255, 255), (31, 111, 74)} <= colours
    svg = drawn(leaf, spec, COLUMNS, CHART_ROWS, "svg").decode()
    assert "Who leads?" in svg
    assert "Süd &amp; Ost" in svg
    assert "<b>" not in svg
    assert "http" not in svg.replace("http://www.w3.org/", "")
    told = json.loads(drawn(leaf, spec, COLUMNS, CHART_ROWS, "json"))
    assert told["$schema"] == "https://vega.github.io/schema/vega-lite/v6.json"
    assert told["data"]["values"][1]["region"] == "Süd & Ost"
    with pytest.raises(InvalidInputError, match="png, svg or json"):
        drawn(leaf, spec, COLUMNS, CHART_ROWS, "pdf")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="may not load"):
        drawn(leaf, {**CHART, "mark": {"type": "image"}}, COLUMNS, CHART_ROWS, "png")


def test_what_a_chart_shows_is_read_from_its_spec() -> None:
    assert choice_of(charts.check(CHART, COLUMNS), COLUMNS) == Choice("bar", "region", "sum.a", "")
    pie = {
        "mark": {"type": "arc"},
        "encoding": {"theta": {"field": "sum.a"}, "color": {"field": "region"}},
    }
    assert choice_of(pie, COLUMNS) == Choice("pie", "region", "sum.a")
    assert choice_of({"layer": [CHART, CHART]}, COLUMNS) == Choice()
    assert choice_of({"mark": "bar"}, COLUMNS) == Choice()


@pytest.mark.parametrize(
    ("wanted", "mark", "encoding"),
    [
        (
            Choice("line", "region", "sum.a"),
            "line",
            {"x": ("region", None), "y": ("sum\\.a", "quantitative")},
        ),
        (
            Choice("bar", "year", "sum.a"),
            "bar",
            {"x": ("year", "ordinal"), "y": ("sum\\.a", "quantitative")},
        ),
        (
            Choice("point", "year", "sum.a"),
            "point",
            {"x": ("year", "quantitative"), "y": ("sum\\.a", "quantitative")},
        ),
        (
            Choice("area", "day", "sum.a", "region"),
            "area",
            {
                "x": ("day", "temporal"),
                "y": ("sum\\.a", "quantitative"),
                "color": ("region", "nominal"),
            },
        ),
        (
            Choice("pie", "region", "sum.a"),
            "arc",
            {"color": ("region", "nominal"), "theta": ("sum\\.a", "quantitative")},
        ),
    ],
)
def test_chart_is_changed_by_hand(
    leaf: Leaf, wanted: Choice, mark: str, encoding: dict[str, tuple[str, str]]
) -> None:
    for before in (charts.check(CHART, COLUMNS), charts.check({"layer": [CHART, CHART]}, COLUMNS)):
        changed = reshaped(before, COLUMNS, TYPES, wanted)
        assert changed["mark"]["type"] == mark
        assert {name: value["field"] for name, value in changed["encoding"].items()} == {
            n: f for n, (f, _) in encoding.items()
        }
        for name, (_, kind) in encoding.items():
            assert kind is None or changed["encoding"][name]["type"] == kind
        assert charts.check(changed, COLUMNS) == changed
    back = reshaped(charts.check(CHART, COLUMNS), COLUMNS, TYPES, Choice("bar", "region", "sum.a"))
    assert back == charts.check(CHART, COLUMNS)
    assert drawn(
        leaf,
        reshaped(charts.check(CHART, COLUMNS), COLUMNS, TYPES, wanted),
        COLUMNS,
        CHART_ROWS,
        "svg",
    )


def test_chart_without_an_axis_is_refused() -> None:
    spec = charts.check(CHART, COLUMNS)
    with pytest.raises(InvalidInputError, match="for the slices"):
        reshaped(spec, COLUMNS, TYPES, Choice("pie", "region", ""))
    with pytest.raises(InvalidInputError, match="for each axis"):
        reshaped({"layer": [spec]}, COLUMNS, TYPES, Choice("bar", "region", ""))
    counted = charts.check(
        {"mark": "bar", "encoding": {"x": {"field": "region"}, "y": {"aggregate": "count"}}},
        COLUMNS,
    )
    assert reshaped(counted, COLUMNS, TYPES, Choice("bar", "year", ""))["encoding"]["y"] == {
        "aggregate": "count"
    }


def test_rows_that_a_chart_leaves_out_stay_out_when_it_is_changed() -> None:
    """Its title says so: it would stand above the figures of all."""
    north, mean = {"filter": "datum.region == 'North'"}, {"field": "sum.a", "aggregate": "mean"}
    encoding = {"x": {"field": "year"}, "y": mean, "column": {"field": "day"}}
    spec = charts.check({"mark": "bar", "encoding": encoding, "transform": [north]}, COLUMNS)
    changed = reshaped(spec, COLUMNS, TYPES, Choice("line", "year", "sum.a"))
    assert changed["transform"] == [north]
    assert changed["encoding"]["y"]["aggregate"] == "mean"
    assert changed["encoding"]["column"] == {"field": "day"}
    other = reshaped(spec, COLUMNS, TYPES, Choice("pie", "region", "sum.a"))
    assert other["transform"] == [north]
    sums = {"aggregate": [{"op": "sum", "field": "sum.a", "as": "all"}], "groupby": ["region"]}
    made = {**spec, "transform": [sums, {"filter": "datum.all > 3"}]}
    with pytest.raises(InvalidInputError, match="makes itself"):
        reshaped(made, COLUMNS, TYPES, Choice("line", "region", "sum.a"))


def test_title_of_an_axis_stays_with_its_column() -> None:
    spec = charts.check(CHART, COLUMNS)
    assert (
        reshaped(spec, COLUMNS, TYPES, Choice("line", "region", "year"))["encoding"]["x"]["title"]
        == "Region"
    )
    assert (
        "title"
        not in reshaped(spec, COLUMNS, TYPES, Choice("bar", "day", "sum.a"))["encoding"]["x"]
    )

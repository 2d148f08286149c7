"""Receipts: figures found in text, matched to what tools gave, marked in the page, and computed again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leaf.agent.receipts.answer import kept_receipts, of_answer
from leaf.agent.receipts.evidence import Evidence
from leaf.agent.receipts.figures import figures
from leaf.agent.receipts.match import Receipt, match
from leaf.errors import NotFoundError
from leaf.ui import markdown, marks
from leaf.ui.items import items
from tests.leaf_kit import add, finished, opened
from tests.messages_server import MessagesServer, Turn

Json = dict[str, Any]


# Figures in a text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It made 1,234.50 in all", [("1,234.50", 1234.5)]),
        ("Umsatz 1.234,50 €", [("1.234,50", 1234.5)]),
        ("about 1'250 or 1 250 pieces", [("1'250", 1250.0), ("1", 1.0), ("250", 250.0)]),
        ("rose 12.5 % to $1.2M", [("12.5 %", 12.5), ("$1.2M", 1_200_000.0)]),
        ("3.4 billion and 12k, 5 Mio.", [("3.4 billion", 3.4e9), ("12k", 12_000.0), ("5 Mio.", 5e6)]),
        ("-4.2 and −7 and 10–12", [("-4.2", -4.2), ("−7", -7.0), ("10", 10.0), ("12", 12.0)]),
        ("1.5x as much, 3 of 5", [("1.5", 1.5), ("3", 3.0), ("5", 5.0)]),
        ("in 2024", [("2024", 2024.0)]),
    ],
)
def test_figures_are_read_as_they_are_written(text: str, expected: list[tuple[str, float]]) -> None:
    found = [(figure.text, figure.readings[0].value) for figure in figures(text)]
    assert [written for written, _ in found] == [written for written, _ in expected]
    assert [value for _, value in found] == pytest.approx([value for _, value in expected])
    assert all(text[figure.start : figure.end] == figure.text for figure in figures(text))


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("on 2024-03-05", [("2024-03-05",)]),
        ("on 5 March 2024, and March 6, 2024", [("2024-03-05",), ("2024-03-06",)]),
        ("in Mar 2024", [("2024-03",)]),
        ("am 05.03.2024", [("2024-03-05", "2024-05-03")]),
        ("on 13/04/2024", [("2024-04-13",)]),
    ],
)
def test_dates_are_read_and_the_ambiguous_ones_both_ways(text: str, dates: list[tuple[str, ...]]) -> None:
    assert [figure.dates for figure in figures(text)] == dates


@pytest.mark.parametrize(
    "text",
    [
        "`SELECT 12` and ``5``",
        "```\n1 2 3\n```",
        "See https://example.com/2024/12 and [here](https://x.org/7)",
        "f1, r22, Q3, H1, COVID-19, B2B and ISO-9001 are names",
        "1. First\n2) Second",
        "# 2.1 Heading",
        "It is so[1].",
        "the 3rd time",
    ],
)
def test_what_only_looks_like_a_figure_is_passed_over(text: str) -> None:
    assert figures(text) == []


def test_names_of_columns_and_files_are_no_figures() -> None:
    assert [f.text for f in figures("revenue 2024 in sales_7.csv is 5", ["revenue 2024", "sales_7.csv"])] == ["5"]


# Matching


def query(columns: list[str], rows: list[list[Any]], total: int = 0, sql: str = "SELECT 1", number: int = 1) -> Evidence:
    table = {"columns": columns, "types": [], "rows": rows, "total": total or len(rows), "result_id": f"r{number}"}
    return Evidence(f"c{number}", "query_tables", {"sql": sql}, {"text": "", "data": {"table": table}})


REGIONS = query(
    ["region", "revenue", "orders"], [["North", 1234567.891, 412], ["South", 987654.32, 388], ["East", 455000.0, 129]]
)


def receipt(text: str, *evidence: Evidence, question: str = "") -> Receipt:
    """That of the last figure of a text."""
    return match([text], evidence or (REGIONS,), question)[-1]


@pytest.mark.parametrize(
    ("text", "kind", "how"),
    [
        ("North made 1,234,567.891", "exact", ""),
        ("North made 1,234,568", "rounded", ""),
        ("North made 1.23 million", "rounded", ""),
        ("North made nearly 1.3 million", "rounded", ""),
        ("North made over 1.2 million", "rounded", ""),
        ("Nord: 1.234.567,89", "rounded", ""),
        ("North is ahead of South by 246,913.57", "derived", "North − South"),
        ("North made 25.0 % more than South", "derived", "(North − South) ÷ South"),
        ("North has 46.1 % of all revenue", "derived", "North ÷ sum of revenue"),
        ("An order of North brings 2,996.52", "derived", "revenue ÷ orders"),
        ("The total is 2,677,222", "derived", "sum of revenue"),
        ("The average region made 892,407", "derived", "average of revenue"),
        ("There are 3 regions", "counted", "rows of r1"),
    ],
)
def test_figure_with_a_receipt(text: str, kind: str, how: str) -> None:
    found = receipt(text)
    assert (found.kind, found.call_id) == (kind, "c1")
    assert how in found.how


@pytest.mark.parametrize(
    "text",
    [
        "North made 1,234,576",  # two digits swapped
        "North made 1.24 million",  # rounded the wrong way
        "North made over 1.3 million",
        "North has 48.1 % of all revenue",
        "North made 27.4 % more than South",
        "The total is 3,911,790",  # one region counted twice
        "There are 7 regions",
        "South had 129 orders",  # East's
        "It was on 3 March 2024",
        "In 2019 it was less",
    ],
)
def test_figure_without_a_receipt(text: str) -> None:
    assert receipt(text).kind == "none"


def test_figures_of_the_question_the_query_and_the_words_that_were_read() -> None:
    assert receipt("Those above 750 are", question="Which are above 750?").kind == "asked"
    assert receipt("Those above 750 are", query(["n"], [[1]], sql="SELECT n FROM t WHERE x > 750")).kind == "condition"
    output = {"text": "", "data": {"passages": [{"name": "a.pdf", "place": "page 2", "text": "The fee is 4.5 % a year."}]}}
    read = Evidence("c9", "read_file", {"file": "f1"}, output)
    found = receipt("The yearly fee is 4.5 %", read)
    assert (found.kind, found.place) == ("quoted", "a.pdf page 2")


def test_dates_match_however_they_are_written() -> None:
    days = query(["first", "last"], [["2024-03-05", "2025-11-30"]])
    for text in ("from 5 March 2024", "from 2024-03-05", "from March 2024", "from 05.03.2024", "until November 2025", "in 2025"):
        assert receipt(text, days).kind == "exact", text
    assert receipt("from 6 March 2024", days).kind == "none"


def test_result_of_which_only_the_head_is_here_gives_no_totals() -> None:
    head = query(["region", "revenue"], [["North", 1234.5], ["South", 987.25]], total=5_000)
    assert receipt("The total is 2,221.75", head).kind == "none"
    assert receipt("There are 5,000 rows", head).kind == "counted"


@pytest.mark.parametrize("cell", [None, True, float("nan"), float("inf"), "", "x" * 5_000, "9" * 400, "00123", 10**400])
def test_strange_cells_do_no_harm(cell: Any) -> None:
    assert receipt("It is 41.5 or so", query(["a", "b"], [[cell, 1.5], [cell, 2.5]])).kind == "none"


def test_long_answer_over_a_wide_result_is_matched() -> None:
    wide = query([f"c{i}" for i in range(80)], [[i * 7.31 + j for j in range(80)] for i in range(200)])
    text = "\n".join(f"It has {i * 7.31 + 3:,.2f} and {i * 7.31 + 4:,.2f}." for i in range(200))
    assert len(match([text], [wide])) == 400


def test_calls_of_a_long_chat_are_searched_as_far_as_the_limits_say() -> None:
    def read(number: int, text: str) -> Evidence:
        return Evidence(f"c{number}", "read_file", {"file": "f1"}, {"text": text, "data": {}})

    long = [read(number, f"The fee is {number}.125 euros. " + "Nothing more. " * 4_000) for number in range(200, 212)]
    texts = ["The fee is 200.125", "The fee is 211.125"]
    assert [found.kind for found in match(texts, long)] == ["quoted", "none"]
    results = [query(["region", "sum"], [["North", 1000.25 * n], ["South", 7.5]], number=n) for n in range(1, 13)]
    assert receipt("North is ahead of South by 9,995.00", *results).how.startswith("North")
    assert receipt("North is ahead of South by 11,995.5", *results).kind == "none"
    assert receipt("North made 12,003.00", *results).kind == "exact"


# In an answer


def test_answer_keeps_its_receipts_and_marks_its_figures(tmp_path: Path) -> None:
    csv = b"region,revenue\nNorth,1200.5\nSouth,800.25\n"
    said = "North made **1,200.50** and South 800.25; together $2,000.75. The forecast is 9,999."
    turns = [Turn.call(("query_tables", {"sql": "SELECT region, revenue FROM sales"})), Turn.say(said)]
    with MessagesServer(turns) as server, opened(tmp_path, api_key="k", model_url=server.url, model="claude-sonnet-5-5") as leaf:
        scope = leaf.local_scope()
        file = add(leaf, scope, "sales.csv", csv)
        chat = leaf.new_chat(scope)
        message = finished(leaf, scope, leaf.send(scope, chat.id, "Who made what?", [file.id]).id)
        kinds = [(r["text"], r["kind"]) for r in kept_receipts(message.parts)]
        assert kinds == [("1,200.50", "exact"), ("800.25", "exact"), ("$2,000.75", "derived"), ("9,999", "none")]
        text = "".join(marks.drawn(markdown.safe(i.text), "m1") for i in items(message.parts) if i.kind == "text")
        assert "**[1,200.50](#leaf-figure-m1.0)**" in text
        assert r"[\$2,000.75](#leaf-figure-m1.2)" in text
        assert "[9,999](#leaf-unreceipted-m1.3)" in text
        assert "Without a receipt: 9,999" in leaf.answer_markdown(scope, message.id)

        [scanned] = next(p for p in message.parts if p["type"] == "tool-query_tables")["output"]["data"]["table"]["scanned"]
        assert (scanned["file"], scanned["sha256"], scanned["rows"], scanned["total"]) == ("sales.csv", file.sha256, 2, 2)
        same = leaf.recompute(scope, chat.id, "r1")
        assert (same.outcome, same.cells) == ("same", ())
        with pytest.raises(NotFoundError, match="r9"):
            leaf.recompute(scope, chat.id, "r9")
        leaf.delete_file(scope, file.id)
        gone = leaf.recompute(scope, chat.id, "r1")
        assert (gone.outcome, gone.text) == ("gone", "sales.csv was deleted, so this cannot be computed again.")


def test_result_that_comes_out_otherwise_is_told_cell_by_cell(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        scope = leaf.local_scope()
        file = add(leaf, scope, "n.csv", b"n\n1\n2\n3\n")
        chat = leaf.new_chat(scope)
        tool = '{"sql": "SELECT n, random() AS x FROM n"}'
        leaf.run_tool(scope, "query_tables", tool, chat_id=chat.id, file_ids=[file.id])
        found = leaf.recompute(scope, chat.id, "r1")
        assert found.outcome == "different"
        assert "3 cells are different" in found.text
        assert [(row, column) for row, column, _, _ in found.cells] == [(1, "x"), (2, "x"), (3, "x")]


def test_order_of_rows_and_last_digits_do_not_make_a_difference(tmp_path: Path) -> None:
    import duckdb

    from leaf.tables.compare import compare

    def written(name: str, sql: str) -> str:
        path = str(tmp_path / name)
        duckdb.sql(sql).write_parquet(path)
        return path

    kept = written("a.parquet", "SELECT * FROM (VALUES ('a', 0.1 + 0.2::DOUBLE), ('b', 2), (NULL, NULL)) t(k, v)")
    again = written("b.parquet", "SELECT * FROM (VALUES (NULL, NULL), ('b', 2), ('a', 0.3::DOUBLE)) t(k, v)")
    assert compare(kept, again, 512)["cells"] == 0
    other = written("c.parquet", "SELECT * FROM (VALUES (NULL, NULL), ('b', 2), ('a', 0.31::DOUBLE)) t(k, v)")
    assert compare(kept, other, 512)["cells"] == 1
    short = written("d.parquet", "SELECT 'a' AS k, 1.0 AS v")
    assert (compare(kept, short, 512)["rows_kept"], compare(kept, short, 512)["rows_again"]) == (3, 1)


def test_text_of_a_model_cannot_pose_as_a_figure_with_a_receipt() -> None:
    forged = "\ue0c30\ue0c4 9,999\ue0c5 and [1](#leaf-figure-m1.0) and <a href='#leaf-figure-m1.0'>1</a>"
    parts = [{"type": "text", "id": "text-1-0", "text": forged}]
    parts.append({"type": "data-receipts", "id": "receipts", "data": of_answer(parts, []) or {}})
    [item] = items(parts)
    text = marks.drawn(markdown.safe(item.text), "m1")
    assert "](#leaf-figure" not in text
    assert "[9,999](#leaf-unreceipted-m1.1)" in text

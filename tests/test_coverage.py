"""What an answer rests on: which of its steps count, how much they read, and what is said of it
once."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from leaf.agent.export import answer_markdown
from leaf.agent.stubs import receipt
from leaf.language.text import speaking
from leaf.provenance import basis
from leaf.provenance.coverage import (
    amount,
    covered_of,
    doubts,
    line,
    lines,
    missing,
    notes,
    sentence,
    short,
    shown_alone,
)
from leaf.provenance.receipts import answer as receipts
from leaf.readers.base import Note
from leaf.readers.notes import EFFECTS, OUTSIDE, Effect
from leaf.store.model import Message
from leaf.tables.table import Table
from leaf.tools import remarks
from tests.leaf_kit import add, finished, opened
from tests.messages_server import MessagesServer, Turn

Json = dict[str, Any]


# Which steps an answer used


def source(name: str, action: str = "queried", place: str = "") -> Json:
    return {
        "handle": name[0],
        "file_id": name,
        "name": name,
        "place": place,
        "action": action,
        "query": "",
        "quote": "",
    }


def rows(name: str, seen: int = 8, **more: Any) -> Json:
    found = {
        "file_id": name,
        "name": name,
        "unit": "rows",
        "seen": seen,
        "total": 8,
        "ranges": [],
        "table": name[0],
    }
    return {**found, "excluded": "", "doubtful": [], "notes": [], **more}


def part(tool: str, call: str, output: Json | None, **given: Any) -> Json:
    state = "output-available" if output else "output-error"
    return {
        "type": f"tool-{tool}",
        "toolCallId": call,
        "state": state,
        "input": given,
        "output": output,
    }


def query(
    call: str, name: str, cells: Sequence[Sequence[Any]], result: str = "r1", **more: Any
) -> Json:
    columns = [f"c{i}" for i in range(len(cells[0]))]
    table = {
        "columns": columns,
        "rows": [list(row) for row in cells],
        "total": more.pop("made", len(cells)),
        "result_id": result,
    }
    data = {"table": table, "beside": more.pop("beside", [])}
    output = {"text": "", "sources": [source(name)], "coverage": [rows(name, **more)], "data": data}
    return part("query_tables", call, output, sql=f"SELECT * FROM {name}")


def describe(call: str, name: str) -> Json:
    data = {"profile": {"name": name, "rows": 8, "columns": []}}
    return part(
        "describe_table",
        call,
        {"sources": [source(name, "described")], "coverage": [rows(name)], "data": data},
    )


def read(call: str, name: str, text: str, first: int, last: int) -> Json:
    cover = {
        "file_id": name,
        "name": name,
        "unit": "pages",
        "seen": last - first + 1,
        "total": 40,
        "ranges": [[first, last]],
    }
    data = {"passages": [{"text": text, "name": name, "place": f"pages {first}-{last}"}]}
    return part(
        "read_file", call, {"sources": [source(name, "read")], "coverage": [cover], "data": data}
    )


def say(text: str) -> Json:
    return {"type": "text", "id": "text-9-0", "text": text}


def asked(text: str, *earlier: Message) -> list[Message]:
    return [
        *earlier,
        Message("q", "chat", "", "user", "completed", [{"type": "text", "text": text}], []),
    ]


def covered(
    parts: Sequence[Json], history: Sequence[Message] = (), files: Sequence[str] = ()
) -> Json:
    found = receipts.of_answer(parts, history) or {"receipts": []}
    return basis.of_answer(
        parts, history, found["receipts"], {name[0]: name for name in files}
    ).covered


def names(parts: Sequence[Json], history: Sequence[Message] = ()) -> list[str]:
    found = receipts.of_answer(parts, history) or {"receipts": []}
    outputs = basis.of_answer(parts, history, found["receipts"], {}).outputs
    return [one["name"] for output in outputs for one in output["sources"]]


def test_a_described_table_is_no_table_that_was_read() -> None:
    parts = [
        describe("1", "a.csv"),
        describe("2", "b.csv"),
        query("3", "a.csv", [[40_125.5]]),
        say("The sum is 40,125.5."),
    ]
    said = covered(parts, files=["a.csv", "b.csv", "c.csv"])
    assert line(said) == "8 of 8 rows · only the columns of b.csv · not touched: c.csv"
    assert names(parts) == ["a.csv"]


def test_a_query_that_the_answer_does_not_show_was_looked_at_only() -> None:
    parts = [
        query("1", "a.csv", [[71_223]]),
        query("2", "b.csv", [[40_125.5]]),
        say("The sum is 40,125.5."),
    ]
    assert line(covered(parts)) == "8 of 8 rows · looked at 8 of 8 rows of a.csv"


def test_a_failed_query_and_one_that_was_asked_again_count_once_and_for_the_later_one() -> None:
    parts = [
        part("query_tables", "1", None),
        query("2", "a.csv", [[71_223]]),
        query("3", "a.csv", [[40_125.5]]),
        say("The sum is 40,125.5."),
    ]
    assert line(covered(parts, files=["a.csv", "b.csv"])) == "8 of 8 rows · not touched: b.csv"


def test_where_nobody_can_tell_which_table_was_used_none_is_said_to_have_been_read() -> None:
    parts = [
        query("1", "a.csv", [[71_223]]),
        query("2", "b.csv", [[40_125.5]]),
        say("Both look fine."),
    ]
    said = covered(parts)
    assert "files" not in said
    assert sentence(said) == "Looked at 8 of 8 rows of a.csv · looked at 8 of 8 rows of b.csv"
    assert line(covered([parts[0], say("It looks fine.")])) == "8 of 8 rows"


def test_words_of_rows_show_the_query_unless_the_question_or_a_used_step_holds_them() -> None:
    history = asked("How much is it in Hamburg?")
    parts = [
        query("1", "a.csv", [["Hamburg"], ["Bremen"]]),
        query("2", "b.csv", [["Bremen", 40_125.5]], "r2"),
        query("3", "d.csv", [["Lübeck"]], "r3"),
        say("Bremen leads Hamburg with 40,125.5; only Lübeck is missing."),
    ]
    said = covered(parts, history)
    assert [cover["name"] for cover in said["files"]] == ["b.csv", "d.csv"]
    assert [cover["name"] for cover in said["looked"]] == ["a.csv"]


def test_a_chart_rests_on_the_query_that_it_was_drawn_from_also_of_an_earlier_answer() -> None:
    chart = part(
        "make_chart",
        "9",
        {
            "sources": [],
            "coverage": [],
            "data": {"chart": {"result_id": "r7", "columns": [], "rows": []}},
        },
    )
    parts = [
        query("1", "a.csv", [[1]], "r7"),
        query("2", "b.csv", [[2]], "r8"),
        chart,
        say("The chart is above."),
    ]
    assert [cover["name"] for cover in covered(parts)["files"]] == ["a.csv"]
    before = Message("m", "chat", "", "assistant", "completed", parts[:1], [])
    assert [
        cover["name"]
        for cover in covered([chart, say("Here.")], asked("A chart?", before))["files"]
    ] == ["a.csv"]


def test_a_figure_of_an_earlier_answer_brings_its_table_with_it() -> None:
    before = Message(
        "m", "chat", "", "assistant", "completed", [query("1", "a.csv", [["North", 40_125.5]])], []
    )
    said = covered(
        [say("As said, North made 40,125.5.")], asked("Again?", before), ["a.csv", "b.csv"]
    )
    assert line(said) == "8 of 8 rows · not touched: b.csv"


def test_a_read_counts_where_its_words_stand_and_else_only_if_nothing_else_was_read() -> None:
    words = "The contract ends on the last day of the month in which notice is given."
    text = "It says that the contract ends on the last day of the month."
    parts = [
        read("1", "a.pdf", "Nothing of the sort.", 1, 5),
        read("2", "b.pdf", words, 3, 4),
        say(text),
    ]
    assert line(covered(parts)) == "2 of 40 pages · looked at 5 of 40 pages of a.pdf"
    assert (
        line(covered([parts[0], read("2", "a.pdf", "More.", 9, 10), say("No.")])) == "7 of 40 pages"
    )


def test_a_search_counts_the_passages_that_the_answer_shows() -> None:
    hits = [
        ("a.pdf", "page 1", "One two three four five six seven."),
        ("b.pdf", "page 2", "Entirely other words stand here in this file."),
    ]
    data = {"passages": [{"name": n, "place": p, "text": t} for n, p, t in hits]}
    found = {"sources": [source(n, "found", p) for n, p, _ in hits], "coverage": [], "data": data}
    parts = [part("search_files", "1", found), say("Entirely other words stand here in this one.")]
    assert line(covered(parts)) == "1 passage"
    assert names(parts) == ["b.pdf"]
    assert (
        line(covered([parts[0], say("Yes.")]))
        == "Looked at 1 passage of a.pdf · looked at 1 passage of b.pdf"
    )


@pytest.mark.parametrize("place", ["page 2", "p. 2", "Page 2", "pages 2-2", "page 2 "])
def test_a_citation_names_its_passage_however_the_place_is_written(place: str) -> None:
    hits = [("a.pdf", "page 1"), ("b.pdf", "page 2")]
    data = {"passages": [{"name": n, "place": p, "text": "Words."} for n, p in hits]}
    found = {"sources": [source(n, "found", p) for n, p in hits], "coverage": [], "data": data}
    sent = [{"source": f"{n[0]}#{p}", "title": n, "texts": ["Words."]} for n, p in hits]
    cited = {**source("b.pdf", "cited", place), "source": f"b#{place}", "citation": 1}
    named = {"type": "source-document", "sourceId": "s", "providerMetadata": {"leaf": cited}}
    parts = [part("search_files", "1", {**found, "passages": sent}), say("It is so."), named]
    assert names(parts) == ["b.pdf"]


def test_tables_beside_and_files_that_were_not_touched_are_named_and_many_are_counted() -> None:
    beside = [{"file_id": "w.xlsx", "name": "w.xlsx · Plan", "table": "w__plan"}]
    parts = [query("1", "w.xlsx", [[40_125.5]], beside=beside), say("40,125.5")]
    files = {"w": "w.xlsx"} | {f"f{n}": f"{n}.csv" for n in range(40)}
    said = basis.of_answer(parts, (), (), files).covered
    assert line(said) == "8 of 8 rows · not touched: w.xlsx · Plan, 0.csv, 1.csv and 38 more"
    assert len(said["untouched"]) == basis.UNTOUCHED_NAMED
    assert basis.of_answer([say("Hello.")], (), (), files).covered == {}


def test_an_answer_from_columns_alone_has_its_source_and_claims_no_rows() -> None:
    parts = [describe("1", "a.csv"), say("It has 2 columns.")]
    assert line(covered(parts)) == "Only the columns of a.csv"
    assert names(parts) == ["a.csv"]


def test_answers_of_earlier_versions_are_still_drawn() -> None:
    old = {
        "file_id": "1",
        "name": "sales.csv",
        "unit": "rows",
        "seen": 4,
        "total": 4,
        "ranges": [],
        "excluded": "2 total rows excluded",
    }
    message = Message(
        "m",
        "c",
        "",
        "assistant",
        "completed",
        [say("Four."), {"type": "data-coverage", "data": [old]}],
        [],
    )
    assert line(covered_of(message.parts)) == "4 of 4 rows; 2 total rows excluded"
    assert "Read: 4 of 4 rows of sales.csv; 2 total rows excluded" in answer_markdown(message, None)
    assert line(covered_of([])) == ""


# Notes


def _kinds(path: Path) -> set[str]:
    """The kinds of notes that a module makes: the first argument of `Note`, or the words that the
    name there can hold."""
    tree = ast.parse(path.read_text())
    found: set[str] = set()
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        named = call.func.id if isinstance(call.func, ast.Name) else ""
        if named not in ("Note", "_Found") or not call.args:
            continue
        kind = call.args[0]
        if isinstance(kind, ast.Constant):
            found.add(str(kind.value))
        else:
            around = [f for f in functions if f.lineno <= call.lineno <= (f.end_lineno or 0)]
            words = [
                node.value for f in around for node in ast.walk(f) if isinstance(node, ast.Constant)
            ]
            found |= {
                w for w in words if isinstance(w, str) and re.fullmatch(r"[a-z]+(?:-[a-z]+)+", w)
            }
    return found


def test_every_kind_of_note_says_whether_it_changes_figures() -> None:
    modules = Path(remarks.__file__).parents[1]
    kinds = {kind for path in (modules / "readers").rglob("*.py") for kind in _kinds(path)}
    kinds |= _kinds(modules / "files" / "texts.py")
    values = (modules / "readers" / "tabular" / "values.py").read_text()
    kinds |= set(re.findall(r'^    "([a-z-]+)": ".*[.]",$', values, re.MULTILINE))
    assert len(kinds) > 40
    assert kinds - set(EFFECTS) == set()
    assert {kind for kind in OUTSIDE if EFFECTS[kind] is not Effect.COUNTED} == set()


def table(*findings: Note, **more: Any) -> Table:
    columns = (("region", "VARCHAR"), ("amount", "DOUBLE"), ("price", "DOUBLE"))
    kept: Json = {"rows": 6, "columns": columns, "findings": findings, "sha256": "ab", **more}
    return Table("t", "id", "t.xlsx", "f1", "Data", "A3:C10", Path("0.parquet"), **kept)


def reading(found: Table, *columns: str) -> remarks.ReadTable:
    return remarks.ReadTable(found, columns=frozenset(columns))


def test_doubtful_rows_are_named_with_their_cells_and_stay_counted_as_data() -> None:
    found = table(
        doubtful={"total": (7, 14), "summary": (9,)}, doubtful_counts={"total": 2, "summary": 1}
    )
    cover = remarks.coverage(remarks.ReadTable(found))
    assert (cover.seen, cover.total, cover.excluded) == (6, 6, "")
    said = {"files": [{**vars(cover)}]}
    assert doubts(said) == [
        "2 rows that may be totals are counted as data (Data!A7:C7, A14:C14)",
        "1 row that may be an average or another summary is counted as data (Data!A9:C9)",
    ]
    told = remarks.new([remarks.ReadTable(found)], frozenset())
    assert told.lines[0].startswith(
        "On t: 2 rows that may be totals are counted as data (Data!A7:C7, A14:C14): a sum may "
        "count twice."
    )


def test_titles_that_are_suspect_are_named_beside_doubtful_totals() -> None:
    titles = Note(
        "titles-doubtful", "12 rows above the header may be data.", 12, "rows 1-12", "A1:C12"
    )
    totals = Note("totals-doubtful", "1 row may be a total.", 1, "row 20", "A20:C20")
    found = remarks.coverage(
        remarks.ReadTable(
            table(titles, totals, doubtful={"total": (20,)}, doubtful_counts={"total": 1})
        )
    )
    assert [doubt["kind"] for doubt in found.doubtful] == ["total", "titles-doubtful"]
    assert "A1:C12" in found.doubtful[1]["text"]


def test_rows_thrown_away_as_titles_and_remarks_are_not_read() -> None:
    found = table(
        Note("preamble", "3 rows above the header …", 3),
        Note("footer", "1 row below …", 1),
        left_out={"total": (9, 10)},
        left_out_counts={"total": 2},
    )
    cover = remarks.coverage(remarks.ReadTable(found))
    assert (cover.seen, cover.total) == (6, 12)
    assert cover.excluded == "2 left out as totals, 3 as titles, 1 as a remark"
    everything = remarks.coverage(remarks.ReadTable(found, data_only=False))
    assert (everything.seen, everything.total, everything.excluded) == (
        8,
        12,
        "3 left out as titles, 1 as a remark",
    )


def test_a_note_on_a_column_comes_only_with_queries_that_touch_the_column() -> None:
    found = table(
        Note("currency-stripped", "'€' was taken off the numbers in 'price'.", 5),
        Note("several-blocks", "2 separate tables were found here.", 2),
        Note("names-repeated", "1 column name is repeated.", 1),
    )

    def said(*columns: str) -> str:
        return " ".join(remarks.new([reading(found, *columns)], frozenset()).lines)

    assert "€" not in said("amount")
    assert "2 separate tables" in said("amount")
    assert "€" in said("region", "price")
    assert "€" in " ".join(remarks.new([remarks.ReadTable(found)], frozenset()).lines)
    assert "repeated" not in said("price")


def test_what_was_told_is_not_told_again_but_another_column_of_it_is() -> None:
    found = table(
        Note("currency-stripped", "'€' was taken off the numbers in 'price'.", 5),
        Note("several-blocks", "2 separate tables were found here.", 2),
    )
    first = remarks.new([reading(found, "amount")], frozenset())
    told = remarks.told_in([{"data": first.to_json()}])
    assert remarks.new([reading(found, "amount")], told).lines == ()
    again = remarks.new([reading(found, "price")], told)
    assert again.lines == ("On t: '€' was taken off the numbers in 'price'.",)
    assert remarks.told_in([{"data": {}}, {}]) == frozenset()


def test_notes_come_shortest_first_within_a_bound_and_the_others_are_counted() -> None:
    notes_of = [Note("currency-stripped", f"{'x' * (60 * i)} in 'price'.", 5) for i in range(1, 9)]
    found = table(*notes_of, left_out={"total": (7,)}, left_out_counts={"total": 1})
    first = remarks.new([reading(found, "price")], frozenset())
    lengths = [len(said.text) for said in first.sentences[1:]]
    assert first.lines[0].startswith("On t: 1 left out as a total")
    assert lengths == sorted(lengths)
    assert sum(map(len, first.lines)) < remarks.ROOM * 1.2
    assert (
        first.more
        == f"{9 - len(first.keys)} more notes on how t was read: describe_table tells them."
    )
    told, calls = set(first.keys), 1
    while (later := remarks.new([reading(found, "price")], frozenset(told))).lines:
        assert not told & set(later.keys)
        told, calls = told | set(later.keys), calls + 1
    assert len(told) == 9
    assert calls < 9


def test_equal_notes_of_several_tables_are_said_once_with_their_counts_and_a_cell() -> None:
    stripped = Note(
        "currency-stripped", "'€' was taken off the numbers in 'price'.", 5, "", "C4:C10"
    )
    found = [
        table(
            Note(
                "missing-words",
                f"{n} cells such as NA in 'price' were read as empty.",
                n,
                "rows 7, 9",
                f"C{n}",
            ),
            stripped,
        )
        for n in (3, 4, 5, 6, 1_200)
    ]
    named = [replace(one, name=f"sales_{2020 + n}", sha256=f"{n}") for n, one in enumerate(found)]
    two = remarks.new([reading(one, "price") for one in named[:2]], frozenset())
    assert two.lines == (
        "On sales_2020 and sales_2021: '€' was taken off the numbers in 'price'. "
        "3 and 4 cells such as NA in 'price' were read as empty (C3 of sales_2020).",
    )
    assert len(two.keys) == len(set(two.keys)) == 4
    many = remarks.new([reading(one, "price") for one in named], frozenset())
    assert many.lines[0].startswith(
        "On sales_2020, sales_2021, sales_2022, sales_2023 and 1 more: '€' was taken off"
    )
    assert "In all 1,218 cells such as NA in 'price'" in many.lines[0]
    assert len(many.keys) == 10
    rest = remarks.new([reading(one, "price") for one in named], frozenset(two.keys))
    assert "sales_2020" not in " ".join(rest.lines)
    assert "In all" not in rest.lines[0]


def test_cells_that_are_a_whole_column_are_left_out_and_others_are_one_for_an_example() -> None:
    found = table(
        Note("currency-stripped", "'€' was taken off the numbers in 'price'.", 6, "", "C5:C10"),
        Note(
            "error-cells",
            "3 cells of sheet 'Data' hold an error and were read as empty.",
            3,
            "",
            "B5, B7:B8",
        ),
        Note(
            "cells-unparsed",
            "'amount' stays text: 2 of 6 values are no numbers ('x').",
            2,
            "rows 5, 9",
        ),
    )
    said = remarks.new([reading(found, "amount", "price")], frozenset()).lines[0]
    assert "in 'price'. " in said
    assert "read as empty (B5)." in said
    assert "no numbers ('x') (row 5)." in said


def test_a_guess_of_the_encoding_comes_with_texts_alone() -> None:
    found = table(Note("encoding-guessed", "Encoding guessed: Windows-1252.", 1))
    assert remarks.new([reading(found, "amount")], frozenset()).lines == ()
    assert len(remarks.new([reading(found, "region", "amount")], frozenset()).lines) == 1


def test_the_page_keeps_notes_whole_that_a_model_is_told_in_short() -> None:
    place = "rows 5, 6, 9"
    found = table(
        Note("cells-unparsed", "'amount' stays text: 3 of 6 values are no numbers ('x').", 3, place)
    )
    told = remarks.new([reading(found, "amount")], frozenset())
    assert place not in told.lines[0]
    cover = {**vars(remarks.coverage(reading(found, "amount")))}
    assert notes({"files": [cover]}) == [
        f"'amount' stays text: 3 of 6 values are no numbers ('x') ({place})"
    ]
    again = remarks.new([reading(found, "amount")], frozenset(told.keys))
    assert again.lines == ()
    assert remarks.coverage(reading(found, "amount")).notes, "the page shows it with every answer"


def test_an_output_told_beside_another_keeps_only_what_that_one_did_not_tell() -> None:
    first, second = (
        table(Note("duplicate-rows", f"{n} rows are copies of others.", n, "row 5"), sha256=str(n))
        for n in (2, 3)
    )
    second = replace(second, name="u")
    one, both = (
        remarks.new([reading(first)], frozenset()),
        remarks.new([reading(first), reading(second)], frozenset()),
    )
    told: set[str] = set()
    remarks.once(
        {"text": "\n".join(["Result r1", *one.spoken, "rows"]), "data": one.to_json()}, told
    )
    kept = remarks.once(
        {"text": "\n".join(["Result r2", *both.spoken, "rows"]), "data": both.to_json()}, told
    )
    assert kept["text"] == "Result r2\nOn u: 3 rows are copies of others (row 5).\nrows"
    assert told == {*one.keys, *both.keys}


def test_two_queries_of_one_turn_tell_a_note_once(tmp_path: Path, workbook: bytes) -> None:
    twice = Turn.call(
        ("query_tables", {"sql": "SELECT sum(amount) FROM q3__data"}),
        ("query_tables", {"sql": "SELECT max(amount) FROM q3__data"}),
    )
    with (
        MessagesServer([twice, Turn.say("Done.")]) as server,
        opened(tmp_path / "home", model_url=server.url, api_key="k") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        ids = [add(session, "q3.xlsx", workbook).id]
        answer = finished(session, session.messages.send(chat.id, "Totals?", file_ids=ids).id)
        sent = [
            block
            for block in server.requests[-1].body["messages"][-1]["content"]
            if block["type"] == "tool_result"
        ]
    assert ["left out as subtotals" in str(block["content"]) for block in sent] == [True, False]
    assert all("4 of 8 rows" in str(block["content"]) for block in sent)
    assert len([p for p in answer.parts if p["type"] == "tool-query_tables"]) == 2


def test_a_folded_result_keeps_what_it_told_of_its_table() -> None:
    output = {
        "summary": "Queried t",
        "data": {"remarks": ["On t: 3 left out as titles."], "told": ["k"]},
    }
    assert "On t: 3 left out as titles." in receipt(
        {"name": "query_tables", "input": {}}, output, "x" * 900
    )


# In a chat

SHEET = (
    *(
        ["Sales of the year", None],
        ["region", "amount"],
        ["North", 10.5],
        ["North", 20],
        ["North Total", 30.5],
    ),
    *(["South", 7], ["South", 8], ["South Total", 15], ["Grand Total", 45.5]),
)


@pytest.fixture
def workbook(tmp_path: Path) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Data"
    for row in SHEET:
        sheet.append(row)
    book.create_sheet("Other").append(["a", "b"])
    book["Other"].append([1, 2])
    book.save(tmp_path / "made.xlsx")
    return (tmp_path / "made.xlsx").read_bytes()


def test_an_answer_says_what_it_read_and_the_model_is_told_once(
    tmp_path: Path, workbook: bytes
) -> None:
    sql = "SELECT region, sum(amount) AS total FROM q3__data GROUP BY 1 ORDER BY 1"
    turns = [
        Turn.call(("describe_table", {"file": "f1"})),
        Turn.call(("query_tables", {"sql": sql})),
        Turn.call(("query_tables", {"sql": "SELECT sum(amount) FROM q3__data"})),
        Turn.say("North made 30.5 and South 15."),
        Turn.call(("query_tables", {"sql": "SELECT avg(amount) FROM q3__data"})),
        Turn.say("On average 11.375."),
    ]
    with (
        MessagesServer(turns) as server,
        opened(tmp_path / "home", model_url=server.url, api_key="k") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        files = [add(session, "q3.xlsx", workbook).id, add(session, "costs.csv", b"a,b\n1,2\n").id]
        first = finished(session, session.messages.send(chat.id, "Totals?", file_ids=files).id)
        second = finished(session, session.messages.send(chat.id, "And the average?").id)
        assert server.refused == []
        outputs = [
            p["output"]
            for m in (first, second)
            for p in m.parts
            if p["type"] == "tool-query_tables"
        ]
    assert "On q3__data: 2 left out as subtotals, 1 as a total (rows 5, 8-9)" in outputs[0]["text"]
    assert "1 left out as a title." in outputs[0]["text"]
    assert [output["text"].count("left out") for output in outputs[1:]] == [0, 0]
    assert all("Scanned q3__data (4 of 8 rows)" in output["text"] for output in outputs)
    expected = (
        "4 of 8 rows; 2 left out as subtotals, 1 as a total, 1 as a title · not touched: "
        "q3.xlsx · Other, costs.csv"
    )
    assert [line(covered_of(m.parts)) for m in (first, second)] == [expected, expected]
    said = covered_of(second.parts)
    assert short(said) == "4 of 8 rows"
    assert missing(said) == [
        "2 rows left out as subtotals, 1 as a total, 1 as a title",
        "not read: q3.xlsx · Other, costs.csv",
    ]
    assert lines(said)[0].startswith("4 of 8 rows of q3.xlsx · Data; 2 left out")
    assert "Read: 4 of 8 rows of q3.xlsx · Data; 2 left out as subtotals" in answer_markdown(
        second, first
    )


def test_an_answer_written_from_a_part_of_the_rows_of_a_result_says_so(tmp_path: Path) -> None:
    comments = "".join(f"{n},{'Fine. ' * (50 if n < 3 else 1)}\n" for n in range(1_590))
    turns = [
        Turn.call(("query_tables", {"sql": "SELECT comment FROM survey ORDER BY n"})),
        Turn.say("The comments are mostly positive."),
        Turn.call(("query_tables", {"sql": "SELECT count(*) AS all_of_them FROM survey"})),
        Turn.say("There are 1,590 comments."),
    ]
    with (
        MessagesServer(turns) as server,
        opened(tmp_path / "home", model_url=server.url, api_key="k") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        files = [add(session, "survey.csv", f"n,comment\n{comments}".encode()).id]
        first = finished(session, session.messages.send(chat.id, "Mood?", file_ids=files).id)
        second = finished(session, session.messages.send(chat.id, "How many?").id)
        assert server.refused == []
        sent = next(p for p in first.parts if p["type"] == "tool-query_tables")["output"]["text"]
        markdown = answer_markdown(first, first)
    assert "1,590 rows; 200 shown below" in sent
    assert "Of the other rows nothing can be said by reading" in sent
    assert "3 texts end with … after 200 characters: substr(x, 200) goes on." in sent
    told = covered_of(first.parts)
    rows_unseen = "written from the first 200 of 1,590 rows of a result"
    assert missing(told) == [rows_unseen]
    assert line(told) == (
        f"1,590 of 1,590 rows · {rows_unseen} · written from the beginnings of 3 long texts"
    )
    assert lines(told)[-1] == "Written from the beginnings of 3 long texts"
    assert rows_unseen in markdown
    counted = covered_of(second.parts)
    assert (missing(counted), counted.get("results")) == ([], None)


def test_results_that_were_shown_in_part_are_named_where_they_come_from_several_files() -> None:
    def seen(name: str, rows: int, *, looked: bool = False) -> Json:
        return {"name": name, "seen": 200, "total": rows, "cut": 0, "looked": looked}

    one = rows("a.csv", 300)
    both: Any = {"files": [one], "results": [seen("a.csv", 300), seen("a.csv", 300)]}
    assert missing(both) == ["written from the first 200 of 300 rows of a result"]
    both["results"].append(seen("b.csv", 1_204, looked=True))
    assert missing(both) == [
        "written from the first 200 of 300 rows of a result from a.csv",
        "looked at the first 200 of 1,204 rows of a result from b.csv",
    ]
    assert missing(shown_alone(both)) == ["written from the first 200 of 300 rows of a result"]
    with speaking("de"):
        assert missing(both)[0] == (
            "dafür gelesen: die ersten 200 von 300 Zeilen eines Ergebnisses aus a.csv"
        )


def test_a_chart_draws_all_rows_and_earlier_answers_kept_no_number_of_those_shown() -> None:
    long = query("1", "a.csv", [["Bremen", 5.5]], "r1", made=300)
    chart = part("draw_chart", "2", {"sources": [], "data": {"chart": {"result_id": "r1"}}})
    assert covered([long, say("Bremen leads.")])["results"] == [
        {"name": "", "seen": 1, "total": 300, "cut": 0, "looked": False}
    ]
    assert "results" not in covered([long, chart, say("See there.")])


def test_the_first_table_that_the_list_names_is_the_one_that_is_described(tmp_path: Path) -> None:
    blocks = (
        b"team,head\nA,Ann\nB,Bob\n\n\n"
        + b"day,amount,region\n"
        + b"".join(b"2024-01-%02d,%d,N\n" % (d, d) for d in range(1, 20))
    )
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        session.attached.add(chat.id, [add(session, "two.csv", blocks).id])

        def run(name: str, **given: Any) -> Any:
            return session.tools.run(name, given, chat_id=chat.id)

        assert "SQL: two__2 (19 rows × 3 columns), two (2 × 2)" in run("list_files").text
        assert run("list_files").data.files[0]["tables"] == ["two__2", "two"]
        for asked_for, name, count in (
            ("f1", "two__2", 19),
            ("two.csv", "two__2", 19),
            ("two", "two", 2),
            ("two__2", "two__2", 19),
        ):
            described = run("describe_table", file=asked_for)
            assert (described.data.profile["name"], described.data.profile["rows"]) == (name, count)
            assert described.data.others == [{"two__2": "two", "two": "two__2"}[name]]
            queried = run("query_tables", sql=f"SELECT count(*) FROM {name}")
            assert queried.data.table["rows"] == [[count]]
        both = run(
            "query_tables", sql="SELECT (SELECT count(*) FROM two) + (SELECT count(*) FROM two__2)"
        )
        assert [cover.seen for cover in both.coverage] == [2, 19]
        assert len({cover.name for cover in both.coverage}) == 2


def test_names_of_foreign_files_stand_for_the_same_table_everywhere(
    tmp_path: Path, real_data: Path
) -> None:
    several = [
        path
        for pattern in ("*.xlsx", "*.xls", "foreign/poi/*.xls*", "foreign/fuste/csv/*.csv")
        for path in sorted(real_data.glob(pattern))[:12]
        if path.stat().st_size < 200_000
    ]
    checked = 0
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        for path in several:
            chat = session.chats.create()
            session.attached.add(chat.id, [add(session, path.name, path.read_bytes()).id])
            listed = session.tools.run("list_files", {}, chat_id=chat.id).data.files[0]["tables"]
            if len(listed) < 2:
                continue
            if checked == 6:
                break
            checked += 1
            first = session.tools.run("describe_table", {"file": "f1"}, chat_id=chat.id).data
            assert first.profile["name"] == listed[0], path.name
            assert [listed[0], *first.others] == listed, path.name
            last = session.tools.run(
                "describe_table", {"file": listed[-1]}, chat_id=chat.id
            ).data.profile
            assert last["name"] == listed[-1], path.name
            counted = session.tools.run(
                "query_tables", {"sql": f"SELECT count(*) FROM {listed[-1]}"}, chat_id=chat.id
            )
            assert counted.data.table["rows"] == [[last["rows"]]], path.name
    assert checked >= 5


def test_notes_of_a_table_are_part_of_every_answer_that_rests_on_it() -> None:
    note = {
        "kind": "several-blocks",
        "text": "2 separate tables were found here.",
        "cells": "A1:B9",
    }
    doubtful = {
        "kind": "total",
        "count": 1,
        "cells": "A7",
        "text": "1 row that may be a total is counted as data (A7)",
    }
    parts = [query("1", "a.csv", [[40_125.5]], notes=[note], doubtful=[doubtful]), say("40,125.5")]
    said = covered(parts)
    assert notes(said) == ["2 separate tables were found here (A1:B9)"]
    assert doubts(said) == ["1 row that may be a total is counted as data (A7)"]
    message = Message(
        "m",
        "c",
        "",
        "assistant",
        "completed",
        [*parts, {"type": "data-coverage", "data": said}],
        [],
    )
    text = answer_markdown(message, None)
    assert "- Doubtful: 1 row that may be a total is counted as data (A7)." in text
    assert "- Note: 2 separate tables were found here (A1:B9)." in text


def test_the_short_form_adds_up_a_unit_and_hides_nothing_that_was_not_read() -> None:
    def part(name: str, unit: str, seen: int, total: int, excluded: str = "") -> Any:
        return {
            "file_id": name,
            "name": name,
            "unit": unit,
            "seen": seen,
            "total": total,
            "ranges": [],
            "excluded": excluded,
        }

    one = part("a.csv", "rows", 7, 8, "1 left out as a total")
    both: Any = {"files": [one, part("b.pdf", "pages", 12, 340), part("c.csv", "rows", 4, 4)]}
    assert short(both) == "11 of 12 rows, 12 of 340 pages"
    assert missing(both) == [
        "1 row left out as a total of a.csv",
        "328 of 340 pages of b.pdf not read",
    ]
    assert short({"files": [part("d.md", "passages", 1, 9)]}) == "1 passage"
    assert short({"looked": [one]}) == "Looked at 7 of 8 rows"
    assert short({"described": ["a.csv"]}) == "Only the columns were looked at"
    assert (short({}), missing({})) == ("", [])


@pytest.mark.parametrize(
    ("language", "one", "two"),
    [
        ("en", "1 of 1 page", "1 of 2 pages"),
        ("de", "1 von 1 Seite", "1 von 2 Seiten"),
        ("fr", "1 page sur 1", "1 pages sur 2"),
        ("es", "1 de 1 página", "1 de 2 páginas"),
    ],
)
def test_one_page_is_no_pages(language: str, one: str, two: str) -> None:
    page: Any = {"file_id": "f", "name": "a.pdf", "unit": "pages", "seen": 1}
    with speaking(language):
        assert [amount({**page, "total": total}) for total in (1, 2)] == [one, two]


@pytest.mark.parametrize(
    ("language", "few", "left"),
    [
        ("en", "5,000 of 36,000 rows", "31,000 of 36,000 rows not read"),
        ("de", "5.000 von 36.000 Zeilen", "31.000 von 36.000 Zeilen nicht gelesen"),
        ("fr", "5\u202f000 lignes sur 36\u202f000", "31\u202f000 lignes sur 36\u202f000 : non lu"),
        ("es", "5.000 de 36.000 filas", "31.000 de 36.000 filas sin leer"),
    ],
)
def test_the_page_says_it_in_its_language_and_what_leaves_it_in_english(
    language: str, few: str, left: str
) -> None:
    table = {"file_id": "f", "name": "sales", "unit": "rows", "seen": 5000, "total": 36000}
    covered: Any = {"files": [{**table, "ranges": [[1, 5000]]}], "untouched": ["costs.csv"]}
    with speaking(language):
        assert short(covered) == few
        assert missing(covered)[0] == left
        assert sentence(covered) == "Read: 5,000 of 36,000 rows of sales · not touched: costs.csv"


def test_rows_that_were_not_read_are_missing_beside_those_that_were_left_out() -> None:
    one = rows("a.csv", 5, total=1_162, excluded="1,002 left out as totals, 1 as a title")
    assert missing({"files": [one]}) == [
        "1,002 rows left out as totals, 1 as a title",
        "154 of 1,162 rows not read",
    ]
    assert len(missing({"files": [one | {"seen": 159}]})) == 1

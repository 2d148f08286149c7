"""What an answer rests on and what is kept of its receipts: each way in which a step can show that
it was used, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from leaf.provenance import basis
from leaf.provenance.receipts import answer
from leaf.shapes.results import PassageShown
from leaf.store.model import Message
from tests.test_coverage import (
    asked,
    covered,
    describe,
    names,
    part,
    query,
    read,
    rows,
    say,
    source,
)

Json = dict[str, Any]


def message(parts: Sequence[Json], message_id: str = "m", role: str = "assistant") -> Message:
    return Message(message_id, "chat", "", role, "completed", list(parts), [])


def files(parts: Sequence[Json], history: Sequence[Message] = ()) -> dict[str, list[str]]:
    """Names of what was read, what was looked at and what is not touched."""
    said = covered(parts, history)
    return {
        key: [one["name"] if isinstance(one, dict) else one for one in said[key]]
        for key in ("files", "looked", "described", "untouched")
        if key in said
    }


OTHER = query("9", "z.csv", [[71_223.5]], "r9")
"""A query of which the answer says nothing."""


def test_a_step_with_a_chart_a_picture_or_a_document_was_used() -> None:
    plain = part("run_python", "1", {"sources": [source("a.csv")], "coverage": [rows("a.csv")]})
    assert files([plain, OTHER, say("Here it is.")])["looked"] == ["a.csv", "z.csv"]
    for tool, data in (
        ("run_python", {"figures": ["x"]}),
        ("run_python", {"chart": {"result_id": "r7"}}),
        ("create_document", {}),
    ):
        output = {**plain["output"], "data": data}
        found = files([part(tool, "1", output), OTHER, say("Here it is.")])
        assert found == {"files": ["a.csv"], "looked": ["z.csv"]}, tool


def test_the_query_of_a_chart_was_used_and_that_of_an_earlier_chart_too() -> None:
    chart = part("draw_chart", "2", {"sources": [], "data": {"chart": {"result_id": "r1"}}})
    drawn = query("1", "a.csv", [[5.5]], "r1")
    assert files([drawn, chart, OTHER, say("See there.")])["files"] == ["a.csv"]
    before = [message([drawn], "m1"), message([query("3", "b.csv", [[6.5]], "r5")], "m2")]
    assert files([chart, OTHER, say("See there.")], before)["files"] == ["a.csv"]
    newer = [message([drawn], "m1"), message([query("3", "b.csv", [[6.5]], "r1")], "m2")]
    assert files([chart, OTHER, say("See there.")], newer)["files"] == ["b.csv"]


def test_earlier_steps_come_in_their_order_and_only_those_that_figures_come_from() -> None:
    a = query("1", "a.csv", [["North", 40_125.5]], "r1")
    b = query("2", "b.csv", [["South", 71_223.5]], "r2")
    c = query("3", "c.csv", [["East", 5.5]], "r3")
    text = say("As said, the c1 of North is 40,125.5. As said, the c1 of South is 71,223.5.")
    assert names([text], asked("Again?", message([a, b, c], "m1"))) == ["a.csv", "b.csv"]
    apart = asked("Again?", message([a], "m1"), message([c], "m2"), message([b], "m3"))
    assert names([text], apart) == ["a.csv", "b.csv"]
    assert names([say("Nothing.")], apart) == []
    mine = query("4", "d.csv", [["West", 99_887.5]], "r4")
    both = [mine, say(f"{text['text']} West has 99,887.5.")]
    assert names(both, apart) == ["a.csv", "b.csv", "d.csv"]


@pytest.mark.parametrize(
    ("cell", "text", "used"),
    [
        ("Bremen", "Bremen leads.", True),
        ("Bremen", "bremen leads.", True),
        ("Bremen", "Bremens leads.", False),
        ("Ulm", "Ulm leads.", True),
        ("Au", "Au leads.", False),
        ("x" * 200, f"It is {'x' * 200}.", True),
        ("x" * 201, f"It is {'x' * 201}.", False),
        ("123.45", "The code `123.45`.", False),
    ],
)
def test_words_of_a_cell_show_the_query_if_they_are_words(cell: str, text: str, used: bool) -> None:
    found = files([query("1", "a.csv", [[cell]]), OTHER, say(text)])
    assert ("files" in found) is used


def test_words_that_the_question_holds_show_nothing() -> None:
    parts = [query("1", "a.csv", [["Bremen"]]), OTHER, say("Bremen leads.")]
    assert "files" not in files(parts, asked("And Bremen?"))
    assert files(parts, asked("And Hamburg?"))["files"] == ["a.csv"]


def test_words_are_those_of_the_newest_step_that_has_them() -> None:
    parts = [
        query("1", "a.csv", [["Bremen"]]),
        query("2", "b.csv", [["Bremen"]], "r2"),
        say("Bremen leads."),
    ]
    assert files(parts) == {"files": ["b.csv"], "looked": ["a.csv"]}


def test_only_so_many_texts_of_a_result_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(basis, "CELLS", 2)
    cells = [["Bremen", 1], ["Hamburg", 2], ["Leipzig", 3]]
    assert "files" in files([query("1", "a.csv", cells), OTHER, say("Hamburg leads.")])
    assert "files" not in files([query("1", "a.csv", cells), OTHER, say("Leipzig leads.")])


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("one two three four five six.", True),
        ("One, two, three; four FIVE six!", True),
        ("one two three four five.", False),
        ("one two three and four five six.", False),
    ],
)
def test_six_words_in_a_row_quote_a_passage(text: str, used: bool) -> None:
    parts = [
        read("1", "a.pdf", "Well: one two three four five six seven.", 1, 2),
        read("2", "b.pdf", "Nothing of the sort.", 3, 4),
        say(text),
    ]
    assert ("files" in files(parts)) is used


def cited(name: str, place: str) -> Json:
    given = {**source(name, "cited", place), "source": f"{name[0]}#{place}", "citation": 1}
    return {"type": "source-document", "sourceId": "s", "providerMetadata": {"leaf": given}}


def test_a_citation_shows_its_file_where_nothing_has_a_passage() -> None:
    parts = [
        query("1", "a.csv", [[5.5]]),
        query("2", "b.csv", [[6.5]], "r2"),
        say("It is so."),
        cited("b.csv", "row 2"),
    ]
    assert files(parts) == {"files": ["b.csv"], "looked": ["a.csv"]}
    assert "files" not in files([*parts[:3], cited("c.csv", "row 2")])


def test_a_citation_of_another_passage_of_the_file_shows_nothing() -> None:
    sent = [{"source": "a#page 1", "title": "a.pdf p. 1", "texts": ["Words."]}]
    output = {"sources": [source("a.pdf", "read")], "coverage": [rows("a.pdf")], "passages": sent}
    step = part("read_file", "1", output)
    for place, used in (("page 1", True), ("page 2", False), ("somewhere", False)):
        found = files([step, OTHER, say("It is so."), cited("a.pdf", place)])
        assert ("files" in found) is used, place
    odd = {**output, "passages": [{**sent[0], "source": "a# Somewhere "}]}
    found = files([part("read_file", "1", odd), OTHER, say("It is."), cited("a.pdf", "somewhere")])
    assert found["files"] == ["a.pdf"]


def test_what_alone_was_read_is_what_an_answer_rests_on() -> None:
    one = query("1", "a.csv", [[5.5]])
    again = query("2", "a.csv", [[6.5]], "r2")
    assert files([one, again, say("Fine.")]) == {"files": ["a.csv"]}
    assert "files" not in files([one, OTHER, say("Fine.")])
    shown = [one, query("3", "b.csv", [[40_125.5]], "r3"), say("It is 40,125.5.")]
    assert files(shown) == {"files": ["b.csv"], "looked": ["a.csv"]}
    bare = part("search_web", "4", {"sources": [source("w.html", "read")], "coverage": []})
    assert names([bare, say("Fine.")]) == ["w.html"]
    assert "files" not in files([bare, one, say("Fine.")])


def test_what_was_read_is_neither_looked_at_nor_described_as_well() -> None:
    parts = [
        describe("1", "a.csv"),
        query("2", "a.csv", [[5.5]]),
        query("3", "a.csv", [[40_125.5]], "r3"),
        describe("4", "b.csv"),
        say("It is 40,125.5."),
    ]
    assert files(parts) == {"files": ["a.csv"], "described": ["b.csv"]}
    assert names(parts) == ["a.csv"]


def test_a_search_of_which_nothing_stands_in_the_answer_counts_all_that_it_found() -> None:
    hits = [("a.pdf", "page 1"), ("a.pdf", "page 2"), ("b.pdf", "page 3")]
    data = {"passages": [{"name": n, "place": p, "text": f"Fee {p}: 45.75"} for n, p in hits]}
    found = {"sources": [source(n, "found", p) for n, p in hits], "coverage": [], "data": data}
    step = part("search_files", "1", found)
    said = covered([step, OTHER, say("Fine.")])
    assert [(c["name"], c["seen"], c["total"], c["unit"]) for c in said["looked"][:2]] == [
        ("a.pdf", 2, 2, "passages"),
        ("b.pdf", 1, 1, "passages"),
    ]
    figure = covered([step, OTHER, say("The fee of page 3 is 45.75.")])
    assert [(c["name"], c["seen"]) for c in figure["files"]] == [("b.pdf", 1)]
    fewer = {**found, "sources": found["sources"][:2]}
    kept = covered([part("search_files", "1", {**fewer, "coverage": [rows("q.pdf")]}), say("So.")])
    assert [c["name"] for c in kept["files"]] == ["q.pdf"]


def test_archives_that_are_unpacked_and_files_that_were_opened_are_not_untouched() -> None:
    there = {"a": "a.csv", "z": "pack.zip", "i": "pack.zip/in.csv", "l": "lone.zip", "d": "x/y.csv"}
    said = basis.of_answer([query("1", "a.csv", [[5.5]]), say("5.5")], (), (), there).covered
    assert said["untouched"] == ["pack.zip/in.csv", "lone.zip", "x/y.csv"]
    assert "more" not in said
    folder = {**there, "x": "x"}
    said = basis.of_answer([query("1", "a.csv", [[5.5]]), say("5.5")], (), (), folder).covered
    assert "x" in said["untouched"], "no archive by its name"


def test_a_table_beside_is_untouched_until_a_step_reads_it() -> None:
    beside = [
        {"file_id": "w.xlsx", "name": "w · Plan", "table": "plan"},
        {"file_id": "a.csv", "name": "a · own", "table": "a"},
    ]
    parts = [query("1", "a.csv", [[5.5]], beside=beside), say("5.5")]
    assert files(parts)["untouched"] == ["w · Plan"]


# What is kept of receipts


def test_figures_with_a_receipt_are_counted_and_the_asked_ones_left_out() -> None:
    parts = [
        say("Above 750 there are"),
        query("1", "a.csv", [["North", 40_125.5]]),
        say("North with 40,125.5 and 99,999."),
    ]
    kept = answer.of_answer(parts, asked("Which are above 750?"))
    assert kept is not None
    assert (kept["figures"], kept["with"], kept["against"]) == (2, 1, 0)
    assert [(r["part"], r["text"], r["kind"]) for r in kept["receipts"]] == [
        (2, "40,125.5", "exact"),
        (2, "99,999", "none"),
    ]
    assert answer.of_answer([say("Above 750.")], asked("Above 750?")) is None
    assert answer.of_answer([say("No figure.")], []) is None


def test_the_last_receipts_of_an_answer_are_its_own() -> None:
    def data(text: str) -> Json:
        return {"type": "data-receipts", "id": "r", "data": {"receipts": [{"text": text}]}}

    assert answer.kept_receipts([data("1"), say("x"), data("2")]) == [{"text": "2"}]
    assert answer.kept_receipts([say("x")]) == ()


def test_what_a_model_wrote_is_no_evidence_and_what_it_was_written_from_is() -> None:
    passages = [{"name": "a.pdf", "place": "page 1", "text": "The fee is 45.75"}]
    data = {"passages": passages, "table": {"columns": ["x"], "rows": [[48.5]], "total": 1}}
    wrote = part("create_document", "1", {"text": "71.25", "sources": [], "data": data})
    kept = answer.of_answer([wrote, say("The fee is 45.75, x is 48.5 and 71.25.")], [])
    assert kept is not None
    assert [(r["text"], r["kind"]) for r in kept["receipts"]] == [
        ("45.75", "quoted"),
        ("48.5", "none"),
        ("71.25", "none"),
    ]
    nothing = part("create_document", "1", {"text": "71.25", "data": {}})
    kept = answer.of_answer([nothing, say("The fee is 71.25.")], [])
    assert kept is not None
    assert kept["with"] == 0


def test_so_many_earlier_calls_are_looked_at_the_newest_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answer, "EARLIER", 2)
    calls = [query(f"{n}", "a.csv", [["North", 1000.5 + n]], f"r{n}") for n in range(4)]
    text = say("As said, the c1 of North is {}.")

    def having(number: float, history: Sequence[Message]) -> bool:
        parts = [{**text, "text": text["text"].format(f"{number:,}")}]
        kept = answer.of_answer(parts, history)
        assert kept is not None
        return bool(kept["with"])

    one = [message(calls, "m1")]
    assert [having(1000.5 + n, one) for n in range(4)] == [False, False, True, True]
    apart = [message(calls[:2], "m1"), message([], "q", "user"), message(calls[2:], "m2")]
    assert [having(1000.5 + n, apart) for n in range(4)] == [False, False, True, True]
    fewer = [message(calls[:1], "m1"), message(calls[1:2], "m2")]
    assert [having(1000.5 + n, fewer) for n in range(2)] == [True, True]
    asked_ = [message(calls[:1], "m1", "user"), message(calls[1:2], "m2")]
    assert [having(1000.5 + n, asked_) for n in range(2)] == [False, True]


def test_each_figure_of_a_document_says_whose_call_it_rests_on() -> None:
    made = message([query("1", "a.csv", [["North", 40_125.5]])], "m1")
    before = message([query("2", "b.csv", [["South", 71_223.5]], "r2")], "m0")
    text = "North has 40,125.5 and West 5,555.5. As said, the c1 of South is 71,223.5."
    kept = answer.of_document(text, [made], [before, made])
    assert kept is not None
    assert [(r["text"], r.get("message_id"), r["part"]) for r in kept["receipts"]] == [
        ("40,125.5", "m1", 0),
        ("5,555.5", None, 0),
        ("71,223.5", "m0", 0),
    ]
    assert answer.of_document("No figure.", [made], []) is None


def passage(text: str, place: str = "page 1") -> PassageShown:
    return PassageShown(name="a.pdf", place=place, text=text)


def test_the_lines_behind_a_text_are_kept_once_and_only_those() -> None:
    read_ = [passage("The fee is 45.75 a year."), passage("The rent is 99.25.", "page 2")]
    found = answer.passages_behind("The fee: 45.75\nand the fee: 45.75\nand 12,345", read_)
    assert [(one["place"], one["text"]) for one in found] == [
        ("page 1", "The fee is 45.75 a year.")
    ]
    assert answer.passages_behind("No figure.", read_) == []


def test_of_a_long_passage_the_surroundings_of_the_number_are_kept() -> None:
    text = "x" * 1_000 + " fee 45.75 " + "y" * 1_000
    [one] = answer.passages_behind("The fee is 45.75", [passage(text)])
    at = text.index("45.75")
    assert one["text"] == text[at - 200 : at + 200]
    longer = "rent 145.75 " + "x" * 600 + " fee 45.75 " + "y" * 600 + " rent 45.751"
    [one] = answer.passages_behind("The rent or fee is 45.75", [passage(longer)])
    assert " fee 45.75 " in one["text"]


def test_not_more_passages_are_kept_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answer, "PASSAGES", 2)
    read_ = [passage(f"The fee is {n}45.75", f"page {n}") for n in (1, 2, 3)]
    text = "\n".join(f"The fee is {n}45.75" for n in (1, 2, 3))
    found = answer.passages_behind(text, read_)
    assert [one["place"] for one in found] == ["page 1", "page 2"]

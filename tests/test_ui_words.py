"""Numbers, dates and counts as a person reads them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import streamlit as st

from leaf.language.text import speaking
from leaf.runs.records import Load
from leaf.runs.waiting import QueuePlace
from leaf.store.edited_steps import EditedStep
from leaf.ui import clock, steps, tabular, words
from leaf.ui.controls import distinct
from leaf.ui.usage import chart_of
from leaf.ui.worked import worked


@pytest.mark.parametrize(
    ("bytes_", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_500, "1.5 kB"),
        (48_200_000, "48.2 MB"),
        (2_000_000_000, "2.0 GB"),
        (5_000_000_000_000, "5000 GB"),
    ],
)
def test_sizes(bytes_: int, text: str) -> None:
    assert words.size(bytes_) == text


@pytest.mark.parametrize(
    ("dollars", "text"),
    [(0, "$0.00"), (1.2, "$1.20"), (0.00412, "$0.0041"), (0.000001, "less than $0.0001")],
)
def test_money(dollars: float, text: str) -> None:
    assert words.money(dollars) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.21, "0.2 s"), (0.96, "1 s"), (3.2, "3 s"), (59.7, "1 min 0 s"), (125, "2 min 5 s")],
)
def test_seconds(value: float, text: str) -> None:
    assert words.seconds(value) == text


@pytest.mark.parametrize(
    ("author", "said"),
    [("Ann", "Ann"), ("You", "you"), ("", "somebody whose account is gone")],
)
def test_an_edited_step_says_who_edited_it(author: str, said: str) -> None:
    made = datetime(2025, 3, 3, 12, tzinfo=UTC)
    step = EditedStep("e", "c", "m", "t", "u", author, "query_tables", {}, "done", made)
    assert words.edited_by(step, date(2026, 1, 1)) == f"Edited by {said} · 3 Mar 2025"


def test_days_are_grouped_as_people_speak_of_them() -> None:
    now = datetime.now(UTC)
    today = now.astimezone().date()
    assert [words.day(now - timedelta(days=days), today) for days in (0, 1, 2, 400)] == [
        "Today",
        "Yesterday",
        "Earlier",
        "Earlier",
    ]


def test_times_and_days_are_those_of_the_browser_and_not_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = datetime(2026, 3, 3, 23, 30, tzinfo=UTC)
    monkeypatch.setattr(clock, "zone", lambda: ZoneInfo("Asia/Tokyo"))
    assert words.when(late, date(2026, 3, 4)) == "08:30"
    assert words.day(late, date(2026, 3, 4)) == "Today"
    assert clock.today() == datetime.now(ZoneInfo("Asia/Tokyo")).date()
    monkeypatch.setattr(clock, "zone", lambda: ZoneInfo("America/New_York"))
    assert words.when(late, date(2026, 3, 3)) == "18:30"


@pytest.mark.parametrize("name", [None, "", "Atlantis/City", "../etc/passwd"])
def test_a_browser_without_a_zone_that_is_known_reads_the_servers_time(
    name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "context", SimpleNamespace(timezone=name))
    assert clock.zone() is None
    assert clock.local(datetime(2026, 3, 3, tzinfo=UTC)).utcoffset() is not None


@pytest.mark.parametrize(
    ("outline", "text"),
    [
        ({"kind": "pdf", "pages": 1}, "1 page"),
        ({"kind": "pptx", "pages": 12}, "12 slides"),
        ({"kind": "csv", "rows": 48210, "columns": 14}, "48,210 rows × 14 columns"),
        (
            {"kind": "excel", "sheets": ["A", "B"], "rows": 1, "columns": 1},
            "2 sheets · 1 row × 1 column",
        ),
        ({"kind": "text", "lines": 12031}, "12,031 lines"),
        ({"kind": "captions", "duration": 75.2}, "1:15"),
        ({"error": "Empty."}, ""),
    ],
)
def test_counts(outline: dict[str, object], text: str) -> None:
    assert words.counts(outline) == text


def test_usage_says_what_inlining_would_have_cost() -> None:
    data = {
        "input": 1240,
        "cached": 900,
        "output": 310,
        "cost": 0.0041,
        "seconds": 3.2,
        "inline_tokens": 50_000,
        "inline_cost": 0.1,
    }
    said = words.usage(data)
    assert said == [
        "3 s",
        "$0.0041 at list price",
        "1,240 tokens in (900 cached), 310 tokens out",
        "Inlining these files would have cost 50,000 tokens ($0.10)",
    ]
    assert words.usage({}) == []
    assert words.taken(data) == "3 s · $0.0041"
    assert words.taken({}) == ""


def test_money_is_written_as_the_language_writes_figures() -> None:
    with speaking("de"):
        assert [words.money(sum_) for sum_ in (1234.5, 0, 0.0041)] == [
            "$1.234,50",
            "$0,00",
            "$0,0041",
        ]


def step(name: str, state: str = "output-available") -> Any:
    return {"type": f"tool-{name}", "toolCallId": name, "state": state, "input": {}}


def test_steps_are_counted_in_one_line_and_those_that_failed_are_named() -> None:
    done = [step("list_files"), step("query_tables"), step("query_tables"), step("make_chart")]
    assert worked(done) == "4 steps · 2 queries · 1 chart"
    failed = [step("read_file", "output-error")]
    assert worked([*done, *failed]).endswith("1 chart · Reading a file did not work")
    assert worked(2 * failed) == "2 steps · Reading a file did not work 2 times"
    assert worked([step("made_up", "output-error")]) == "1 step · Made up did not work"


@pytest.mark.parametrize(
    ("error", "why"),
    [
        ("No column 'reveneu' in sales.csv. Did you mean 'revenue'?", "No column 'reveneu' in sales.csv"),
        ("No file \"a. B.csv\" here. List them.", 'No file "a. B.csv" here'),
        ("Use e.g. a bar for 3.5 % of it. Not a pie.", "Use e.g. a bar for 3.5 % of it"),
        ("ValueError on line 2: no such date\n  cell 1\nTraceback", "ValueError on line 2: no such date"),
        ("It's gone. Ask again.", "It's gone"),
        ("word " * 200, "word " * 21 + "word…"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_failed_step_says_why_in_its_line_and_in_the_line_of_all(error: str, why: str) -> None:
    failed = {**step("make_chart", "output-error"), "errorText": error}
    said = f": {why}" if why else ""
    assert worked([failed]) == f"1 step · Drawing a chart did not work{said}"
    assert steps.said_of(failed) == f"Drawing a chart · did not work{said}"


def test_a_hostile_reason_is_drawn_as_it_stands() -> None:
    bad = "![x](https://evil.example/a.png) <img src=x> :red[no] $5$ `a`"
    caption = steps.caption({**step("make_chart", "output-error"), "errorText": bad})
    said = caption.partition("did not work")[2]
    assert "evil" in said
    assert "://evil" not in said
    assert not re.search(r"(?<!\\)[!<\[\]()$`]", said)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (QueuePlace(1), "Waiting for the answer before it"),
        (QueuePlace(2, "person"), "Waiting for the 2 answers before it"),
        (
            QueuePlace(0, "person"),
            "Waiting for a free place: 3 answers are being written for you already",
        ),
    ],
)
def test_what_a_question_waits_for(place: QueuePlace, text: str) -> None:
    assert words.waiting(place, 3) == text


def test_how_much_there_is_to_do() -> None:
    assert (
        words.load(Load(0, 0), 3, 20)
        == "No answer is being written, nothing waits. At once: 20 in all, 3 for one person."
    )
    assert words.load(Load(2, 1), 3, 20).startswith(
        "2 answers are being written, 1 question waits."
    )


def test_a_chart_keeps_nothing_that_names_an_address_or_data() -> None:
    spec = {
        "mark": {"type": "image", "url": "https://evil.example/x.png"},
        "data": {"url": "https://evil.example/d.csv"},
        "layer": [
            {
                "data": {"values": [1]},
                "mark": "bar",
                "encoding": {"href": {"field": "a"}, "x": {"field": "a"}},
            }
        ],
        "usermeta": {"embedOptions": {"loader": {}}},
    }
    assert tabular.without_sources(spec) == {
        "mark": {},
        "layer": [{"mark": "bar", "encoding": {"x": {"field": "a"}}}],
    }


def test_columns_are_told_apart() -> None:
    assert tabular.unique(["a", "a", "", "a_2", "a"]) == ["a", "a_2", "column", "a_2_2", "a_3"]


def test_two_of_one_name_are_told_apart_in_a_menu() -> None:
    names = {"a": "Board", "b": "Board", "c": "Board (2)", "d": "Board", "e": "Sales"}
    told = distinct(names)
    assert list(told.values()) == ["Board", "Board (2)", "Board (2) (2)", "Board (3)", "Sales"]


def test_the_bars_of_usage_have_figures_as_the_language_writes_them() -> None:
    rows = [("1 Mar", "claude", 0.02)]
    with speaking("de"):
        locale = chart_of(["1 Mar"], rows, "money")["config"]["locale"]
    assert (locale["number"]["decimal"], locale["number"]["thousands"]) == (",", ".")
    assert "locale" not in chart_of(["1 Mar"], rows, "money")["config"]

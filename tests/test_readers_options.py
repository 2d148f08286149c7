"""A second row of names below questions, as survey programs write it, and first rows of data that look
alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader

NAMES = "Id,Start,How are you?,Which do you use?,,,Score,Any comments?"
OPTIONS = ",,Response,Lamps,Desks,Other (specify),Response,Open answer"
ANSWERS = """
118996102525,2025-02-03,,Lamps,,,N/A,Fine.
118928898923,2025-02-04,Well,,Desks,Chairs,6,
118994566031,2025-02-05,Well,Lamps,Desks,,2,Nice
118994566077,2025-02-05,Badly,Lamps,,Beds,9,Dear
"""


def read(folder: Path, text: str) -> TableInfo:
    path = folder / "file.csv"
    path.write_text(text)
    (info,) = DelimitedReader().tables(path, folder)
    return info


def test_options_below_the_gaps_of_a_question_are_names(tmp_path: Path) -> None:
    info = read(tmp_path, f"{NAMES}\n{OPTIONS}{ANSWERS}")
    assert [name for name, _ in info.columns] == [
        "Id",
        "Start",
        "How are you? / Response",
        "Which do you use? / Lamps",
        "Which do you use? / Desks",
        "Which do you use? / Other (specify)",
        "Score / Response",
        "Any comments? / Open answer",
    ]
    assert info.rows == 4
    assert dict(info.columns)["Score / Response"] == "BIGINT"
    assert [n.place for n in info.notes if n.kind == "header-two-rows"] == ["rows 1-2"]


def test_a_word_above_numbers_alone_is_a_name_where_others_have_none(tmp_path: Path) -> None:
    """`Response` stands above ages that everybody told."""
    rows = "1,2025-02-03,,Lamps,,,34\n2,2025-02-04,,,Desks,,41\n3,2025-02-05,,Lamps,,Beds,29\n"
    info = read(tmp_path, f"Id,Start,Mail,Which?,,,Age\n,,,Lamps,Desks,Other,Response\n{rows}")
    assert (info.rows, info.columns[-1]) == (3, ("Age / Response", "BIGINT"))


def test_options_of_the_last_question_are_names_too(tmp_path: Path) -> None:
    rows = "1,2025-02-03,Well,Lamps,,\n2,2025-02-04,,,Desks,Beds\n3,2025-02-05,Well,Lamps,Desks,\n"
    info = read(tmp_path, f"Id,Start,How?,Which?,,\n,,Response,Lamps,Desks,Other\n{rows}")
    assert [name for name, _ in info.columns][3:] == [
        "Which? / Lamps",
        "Which? / Desks",
        "Which? / Other",
    ]
    assert info.rows == 3


@pytest.mark.parametrize(
    "first",
    [
        "118,2025-02-02,Well,Lamps,Desks,Beds,,Fine.",
        ",,Well,Lamps,Desks,Beds,,Open answer",
        ",,Response,Lamps,,Other (specify),Response,Open answer",
        ",,Response,Lamps,Desks,Beds,5,Open answer",
    ],
    ids=["with its id", "a value of its column", "not all gaps", "a number"],
)
def test_row_of_answers_below_names_with_gaps_is_data(tmp_path: Path, first: str) -> None:
    info = read(tmp_path, f"{NAMES}\n{first}{ANSWERS}")
    assert info.rows == 5


def test_records_below_the_names_end_the_header_whatever_follows(tmp_path: Path) -> None:
    records = ",".join(f'"{{""ImportId"":""Q{n}""}}"' for n in range(4))
    text = f"StartDate,Status,Q1,Q2\nStart,Kind of answer,How are you?,Why?\n{records}\n"
    info = read(tmp_path, f"{text}2024-05-01 08:30:00,0,2,Because\n")
    assert [name for name, _ in info.columns] == [
        "StartDate / Start",
        "Status / Kind of answer",
        "Q1 / How are you?",
        "Q2 / Why?",
    ]
    assert (info.rows, info.first_row) == (1, 4)


def test_records_in_several_rows_are_data(tmp_path: Path) -> None:
    record = '"{""id"":1}","{""id"":2}"'
    info = read(tmp_path, f"old,new\n{record}\n{record}\n")
    assert info.rows == 2

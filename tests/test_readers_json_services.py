"""JSON as services answer: cubes of statistics offices, lists beside each other, pages of more."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.json import JsonReader
from leaf.readers.tabular.json_stat import cube_records

ROWS = [{"id": n, "name": f"n{n}"} for n in range(3)]


def read(tmp_path: Path, value: Any) -> list[TableInfo]:
    (tmp_path / "a.json").write_text(json.dumps(value))
    return JsonReader().tables(tmp_path / "a.json", tmp_path / "out")


def rows_of(tmp_path: Path, info: TableInfo) -> list[tuple[Any, ...]]:
    return duckdb.sql(f"FROM read_parquet('{tmp_path / 'out' / info.parquet}')").fetchall()


def dimension(codes: list[str], labels: dict[str, str] | None = None, *, counted: bool) -> Any:
    index = {code: n for n, code in enumerate(codes)} if counted else codes
    return {"category": {"index": index, "label": labels or {}}}


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("counted", [False, True])
def test_a_cube_has_a_row_for_each_value(
    tmp_path: Path, *, old: bool, sparse: bool, counted: bool
) -> None:
    geo, years = ["FR", "DE", "AT"], ["2020", "2021"]
    values: list[float | None] = [1.5, 2.5, None, 4.5, 5.5, 6.5]
    names = {"FR": "France", "DE": "Germany", "AT": "Austria"}
    dimensions = {
        "geo": dimension(geo, names, counted=counted),
        "time": dimension(years, counted=counted),
    }
    shape = {"id": ["geo", "time"], "size": [3, 2]}
    written = {str(n): v for n, v in enumerate(values) if v is not None} if sparse else values
    cube = {"dimension": dimensions | (shape if old else {}), "value": written}
    cube |= {"status": {"4": "p"}} | ({} if old else {"class": "dataset"} | shape)
    (info,) = read(tmp_path, {"dataset": cube} if old else cube)
    assert [name for name, _ in info.columns] == ["geo", "geo label", "time", "value", "status"]
    truth = [
        (place, names[place], int(year), value, "p" if n == 4 else None)
        for n, ((place, year), value) in enumerate(zip(product(geo, years), values, strict=True))
        if value is not None or not sparse
    ]
    assert rows_of(tmp_path, info) == truth


@pytest.mark.parametrize("index", [{"A": 0, "B": 1}, {"A": {}, "B": {}}, [["A"], ["B"]], "AB"])
def test_what_is_no_whole_cube_is_none(index: Any) -> None:
    cube = {"id": ["geo"], "size": [2], "dimension": {"geo": {"category": {"index": index}}}}
    assert cube_records(cube | {"value": [1, 2, 3]}) == []


def test_lists_of_one_length_inside_an_answer_are_columns(tmp_path: Path) -> None:
    hours = {"time": ["2024-01-01T00:00", "2024-01-01T01:00", "2024-01-01T02:00"]}
    days = {"time": ["2024-01-01", "2024-01-02", "2024-01-03"], "high": [5.5, 6.5, None]}
    answer = {"latitude": 52.5, "box": {"low": [1, 2], "high": [3, 4]}}
    answer |= {"hourly": hours | {"temperature": [1.5, 2.5, 3.5]}, "daily": days}
    hourly, daily = read(tmp_path, answer)
    assert (hourly.sheet, daily.sheet) == ("hourly", "daily")
    assert [kind for _, kind in hourly.columns] == ["TIMESTAMP", "DOUBLE"]
    assert [row[1] for row in rows_of(tmp_path, daily)] == [5.5, 6.5, None]
    (left,) = [note.text for note in hourly.notes if note.kind == "members-left"]
    assert left.endswith(": latitude, box.")


@pytest.mark.parametrize(
    "more",
    [
        {"has_more": True},
        {"nextPageToken": "abc"},
        {"@odata.nextLink": "https://example.org/next"},
        {"links": {"self": "/a", "next": "/a?page=2"}},
        {"link": [{"relation": "self", "url": "/a"}, {"relation": "next", "url": "/b"}]},
        {"response_metadata": {"next_cursor": "dXNlcg=="}},
        {"LastEvaluatedKey": "k"},
    ],
)
def test_that_more_records_follow_is_said(tmp_path: Path, more: dict[str, Any]) -> None:
    info, *_ = read(tmp_path, {"data": ROWS, **more})
    assert "more records follow" in " ".join(note.text for note in info.notes)


@pytest.mark.parametrize(
    "last",
    [
        {"has_more": False},
        {"nextPageToken": ""},
        {"next": None},
        {"next": "step 2"},
        {"links": {"self": "/a", "next": None}},
        {"response_metadata": {"next_cursor": ""}},
    ],
)
def test_of_the_last_page_nothing_is_said(tmp_path: Path, last: dict[str, Any]) -> None:
    (info,) = read(tmp_path, {"data": ROWS, **last})
    assert "records-elsewhere" not in {note.kind for note in info.notes}

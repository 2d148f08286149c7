"""How rows are drawn: figures as the reader's language writes them, and none of them cut to nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leaf.ui.tabular import QuotedCells


def draw(columns, rows, types, language, marks):  # type: ignore[no-untyped-def]
    """A script of its own: only what stands in it is known there."""
    from leaf.language.text import speaking
    from leaf.ui import tabular

    with speaking(language):
        tabular.draw(columns, rows, types, "rows", marks=marks)


def table(
    columns: list[str],
    rows: list[list[Any]],
    types: list[str],
    language: str = "en",
    marks: QuotedCells | None = None,
) -> Any:
    app = AppTest.from_function(draw, args=(columns, rows, types, language, marks))
    app.run()
    assert not app.exception
    return app.dataframe[0].proto


def config(values: list[Any], kind: str, name: str = "revenue") -> Any:
    columns = json.loads(table([name], [[value] for value in values], [kind]).columns)
    return columns.get(name, {}).get("type_config", {})


@pytest.mark.parametrize(
    ("name", "kind", "values", "step"),
    [
        ("revenue", "BIGINT", [1204, 36_000_000, None], 1),
        ("price", "DOUBLE", [1.5, 2.25, 1000.0, None], 0.01),
        ("share", "DOUBLE", [1 / 3, 2 / 3], 0.0001),
        ("share", "DOUBLE", [0.000123456, 0.5], 0.000001),
        ("empty", "DOUBLE", [None, None], 1),
        ("endless", "DOUBLE", [float("inf"), 1.5], 0.1),
    ],
)
def test_figures_are_written_as_the_reader_does_with_the_decimals_they_need(
    name: str, kind: str, values: list[Any], step: float
) -> None:
    found = config(values, kind, name)
    assert found["format"] == "localized"
    assert found["step"] == pytest.approx(step)


@pytest.mark.parametrize(
    ("name", "kind", "values"),
    [
        ("year", "BIGINT", [2024, 2025]),
        ("fiscal", "BIGINT", [1999, 2025, None]),
        ("customer_id", "BIGINT", [104_233, 104_234]),
        ("zip", "INTEGER", [94_103, 10_001]),
        ("tiny", "DOUBLE", [1e-9, 0.5]),
    ],
)
def test_years_numbers_of_things_and_what_would_be_cut_to_nothing_stay_as_they_are(
    name: str, kind: str, values: list[Any]
) -> None:
    assert config(values, kind, name).get("format") is None


@pytest.mark.parametrize(("language", "written"), [("en", "1,204.50"), ("de", "1.204,50")])
def test_rows_with_quoted_cells_are_written_the_same_way(language: str, written: str) -> None:
    marks = QuotedCells(range(1), range(1))
    rows = [[1204.5, 2024, 7.0, "x"], [0.25, 2025, 1e-9, "y"]]
    types = ["DOUBLE", "BIGINT", "DOUBLE", "VARCHAR"]
    proto = table(["revenue", "year", "tiny", "name"], rows, types, language, marks)
    shown = arrow(proto.arrow_data.styler.display_values)
    assert written in shown
    assert "2024" in shown
    assert "x" in shown


def arrow(content: bytes) -> list[str]:
    import pyarrow as pa

    read = pa.ipc.open_stream(content).read_all()
    return [str(value) for column in read.to_pydict().values() for value in column]

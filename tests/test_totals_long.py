"""Totals in long tables: what is held in memory while they are looked for is bounded."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.labels import Label
from leaf.readers.tabular.sums import Sign
from leaf.readers.tabular.totals import find

ROWS, COLUMNS = 400_000, 3


def test_a_total_of_a_long_table_is_found_with_little_beside_its_numbers() -> None:
    values = np.asfortranarray(np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) % 1013.0)
    values = np.asfortranarray(np.vstack([values, values.sum(axis=0)]))
    sign = Sign(Label("total", True, "Total", word="total"), 0, keys=1)
    tracemalloc.start()
    try:
        marks, _ = find(values, np.ones(COLUMNS), np.zeros(COLUMNS, dtype=bool), {ROWS: sign}, _no)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert marks[ROWS].kind == "total"
    assert peak < 3 * values.nbytes


def _no(*_: object) -> bool:
    return False


def test_a_table_too_long_to_be_added_up_keeps_its_total_and_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaf.readers.tabular.total_rows.SUMMED_ROWS", 1_000)
    lines = [f"Client {n},{n % 7}\n" for n in range(1_200)]
    total = sum(n % 7 for n in range(1_200))
    path = tmp_path / "a.csv"
    path.write_text("client,amount\n" + "".join(lines) + f"Total,{total}\n")
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert (info.rows, info.doubtful) == (1_201, (("total", (1_202,)),))
    assert "totals-doubtful" in [note.kind for note in info.notes]

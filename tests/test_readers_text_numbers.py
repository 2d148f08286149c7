"""Tables without names in plain texts: lines of equally many numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.test_readers_text_tables import _read

Line = Callable[[int], str]


def aligned(n: int) -> str:
    return f" 2024 {n // 24 + 1:3d} {n % 24:3d} {n * 37 % 900 / 7:8.2f}  -9999.9"


@pytest.mark.parametrize(
    ("above", "line", "rows", "types"),
    [
        ("", aligned, 48, ["BIGINT", "BIGINT", "BIGINT", "DOUBLE", "DOUBLE"]),
        ("Station 17\n 40.05  -88.37  213  m version 1\n", aligned, 10, None),
        ("Data:   y    x\n", lambda n: f"   {n * 1.37:.4f}E+00    {n % 7}", 20, None),
        ("", lambda n: f"  {n // 60 + 10}:{n % 60:02d}   {n}   {n / 8:.3f}", 30, None),
        ("", lambda n: f"{n:4d}   {n * n:5d}   {'nan' if n % 5 else n}", 30, None),
        ("", lambda n: f" {n / 3:.4f}D+02 {n / 9:.5f}d-01", 20, ["DOUBLE", "DOUBLE"]),
    ],
)
def test_lines_of_equally_many_numbers_are_a_table_without_names(
    tmp_path: Path, above: str, line: Line, rows: int, types: list[str] | None
) -> None:
    text = above + "".join(f"{line(n)}\n" for n in range(rows)) + "\nThe end of it all.\n"
    [(table, cells)] = _read(tmp_path, text, "a.dat")
    first = above.count("\n") + 1
    assert (len(cells), table["first_row"]) == (rows, first)
    assert table["columns"][0][0] == "column_1"
    assert "no-header" in [note["kind"] for note in table["notes"]]
    if types:
        assert [type_ for _, type_ in table["columns"]] == types
    if line is aligned:
        assert sum(row[3] for row in cells) == pytest.approx(
            sum(float(aligned(n).split()[3]) for n in range(rows))
        )


def test_other_words_part_tables_and_empty_lines_do_not(tmp_path: Path) -> None:
    def lines(first: int) -> str:
        return "".join(f"{aligned(n)}\n" for n in range(first, first + 12))

    text = f"{lines(0)}\n{lines(12)}Second run of the day\n{lines(24)}"
    read = _read(tmp_path, text)
    assert [len(cells) for _, cells in read] == [24, 12]


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        (aligned, 9),
        (lambda n: f"   {n * 1.37:.4f}    {n % 7}", 19),
        (lambda n: f"   {4000 + n}  {n * 7919 % 9000 + 1000}  {n * 104729 % 9000 + 1000}", 40),
        (lambda n: f" {n + 5}  {n * 3}" + "  8" * (n % 3), 40),
        (lambda n: f"{n}. of {n + 1}  lines of a  poem", 40),
    ],
    ids=["few", "few pairs", "numbers in groups", "ragged", "words"],
)
def test_other_lines_are_none(tmp_path: Path, line: Line, rows: int) -> None:
    assert _read(tmp_path, "".join(f"{line(n)}\n" for n in range(rows))) == []

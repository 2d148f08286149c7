"""Rows that go on with the description of the row above."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader

HEAD = "Pos,Description,Qty,Unit,Amount\n"


def read(folder: Path, text: str) -> TableInfo:
    path = folder / "file.csv"
    path.write_text(text)
    (info,) = DelimitedReader().tables(path, folder)
    return info


def test_a_description_that_takes_a_second_line_is_said(tmp_path: Path) -> None:
    lines = (
        "1,Cards,100,pcs,85.5\n,matt foil,,,\n2,Sign,1,pc,415\n,with brackets,,,\n,no mounting,,,\n"
    )
    info = read(
        tmp_path, f"{HEAD}{lines}3,Mounting,3,h,203\n4,Artwork,2,h,144\n5,Delivery,1,x,15\n"
    )
    [note] = [note for note in info.notes if note.kind == "rows-continued"]
    assert (info.rows, note.count, note.place) == (8, 3, "rows 3, 5-6")
    assert "nothing but text in 'Description' and may go on with the row above" in note.text


@pytest.mark.parametrize(
    "lines",
    [
        "1,Cards,100,pcs,85.5\n2,foil,,,\n3,Sign,1,pc,415\n4,Bolt,2,pc,5\n",
        "1,Cards,100,pcs,85.5\n,foil,,,2.5\n3,Sign,1,pc,415\n4,Bolt,2,pc,5\n",
        "A,Cards,100,pcs,85.5\n,foil,,,\n,Sign,1,pc,415\n,Bolt,2,pc,5\nB,Nut,,,\n,Cap,4,pc,3\n",
    ],
    ids=["with a number", "with an amount", "below a label"],
)
def test_rows_of_their_own_are_no_second_lines(tmp_path: Path, lines: str) -> None:
    info = read(tmp_path, HEAD + lines)
    assert "rows-continued" not in [note.kind for note in info.notes]

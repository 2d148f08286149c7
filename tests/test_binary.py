"""Bytes written out as text are left out where files are read and searched, with a count in their
place."""

from __future__ import annotations

import base64
import random
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaf.agent.blocks import refuse_binary
from leaf.readers.base import Passage
from leaf.readers.binary import spans, without_binary
from leaf.readers.documents.text import TextReader
from leaf.readers.window import read_window

BYTES = random.Random(3).randbytes(6_000)
BLOCK = "\n".join(textwrap.wrap(base64.b64encode(BYTES).decode(), 76))
DUMP = "\n".join(
    f"{at:08x}: {BYTES[at : at + 16].hex(' ', 2)}  ................" for at in range(0, 1_600, 16)
)
RUN = base64.b64encode(BYTES).decode()
HASHES = "\n".join(random.Random(i).randbytes(32).hex() for i in range(40))
YEARS = "\n".join(f"{2000 + i} {i:04} 1234 5678 9012 3456" for i in range(40))
WORDS = "\n".join(
    "wordswithoutanyblankbetweenthemthatareverylongindeedandgoonandonandon"[:70] for _ in range(20)
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.txt"


def whole(path: Path, text: str, tokens: int = 4_000) -> Iterator[str]:
    """Windows to the end of the file."""
    path.write_text(text)
    cursor = ""
    while True:
        window = read_window(TextReader(), path, "text", "", tokens, cursor, line_numbers=False)
        yield window.text
        if not (cursor := window.cursor):
            return


@pytest.mark.parametrize(
    ("blob", "make"),
    [(BLOCK, "base64"), (DUMP, "hexadecimal"), (RUN, "base64"), (BYTES.hex(), "hexadecimal")],
)
def test_a_run_of_bytes_is_left_out_and_counted_and_the_rest_is_read(
    path: Path, blob: str, make: str
) -> None:
    path.write_text(f"before\n{blob}\nafter it all\n")
    window = read_window(TextReader(), path, "text", "", 4_000, "", line_numbers=False)
    assert refuse_binary(window.text) == window.text
    lines = window.text.split("\n")
    assert ("before" in lines, "after it all" in lines, len(lines)) == (True, True, 4)
    (note,) = window.notes
    assert note.kind == "binary-left-out"
    size = sum(len(line) for line in blob.split("\n"))
    assert f"{size:,} characters of {make} left out" in note.text
    assert f"… {size:,} characters of {make} left out …" in window.text


@pytest.mark.parametrize(
    "text", [HASHES, YEARS, WORDS, "ACGT" * 400, "\n".join(BLOCK.split("\n")[:5])]
)
def test_what_is_not_proven_to_be_bytes_stays(path: Path, text: str) -> None:
    (shown,) = whole(path, f"before\n{text}\nafter\n")
    assert shown.split("\n")[1:] == ["before", *text.split("\n"), "after"]


def test_windows_go_on_behind_what_is_left_out(path: Path) -> None:
    text = "".join(f"line {i}\n{BLOCK}\nsecond {i}\n" for i in range(30))
    shown = list(whole(path, text, 120))
    assert len(shown) > 3
    lines = [
        line for window in shown for line in window.split("\n") if not line.startswith(("[", "…"))
    ]
    assert lines == [f"{word} {i}" for i in range(30) for word in ("line", "second")]


def test_runs_in_the_midst_of_a_page_are_left_out() -> None:
    page = Passage(f"See data:image/png;base64,{RUN} here.\n{BLOCK}\nEnd.", "page", 4)
    (found,) = without_binary([page])
    assert (found.number, found.text.startswith("See … "), found.text.endswith("End.")) == (
        4,
        True,
        True,
    )
    assert len(found.text) < 200
    assert [make for *_, make in spans(page.text)] == ["base64", "base64"]


def test_a_huge_block_is_not_read_to_its_end_at_once() -> None:
    def endless() -> Iterator[Passage]:
        number = 0
        while True:
            number += 1
            yield Passage(BLOCK[:76], "line", number)

    assert next(without_binary(endless())).text.endswith("characters of base64 left out …")

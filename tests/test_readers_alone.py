"""A copy of the readers and of the errors, and nothing else of Leaf, reads files as the readers do
in Leaf."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import openpyxl

import leaf
from leaf.readers import worker

PROGRAM = """
import json, sys
from leaf.readers.worker import inspect, read, tables
path, out = sys.argv[1:]
seen = inspect(path, path)
json.dump([seen, read(path, seen["kind"]), tables(path, seen["kind"], out)], sys.stdout)
"""


def test_readers_and_errors_alone_read_a_workbook(tmp_path: Path) -> None:
    home = Path(leaf.__file__).parent
    alone = tmp_path / "alone" / "leaf"
    shutil.copytree(
        home / "readers", alone / "readers", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(home / "errors.py", alone)
    book = openpyxl.Workbook()
    for row in (("region", "amount"), ("north", 3), ("south", 4), ("Total", 7)):
        book.active.append(row)
    book.save(tmp_path / "sales.xlsx")
    (tmp_path / "out").mkdir()
    (tmp_path / "here").mkdir()
    there = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "sales.xlsx"), str(tmp_path / "out")],
        cwd=tmp_path / "alone", capture_output=True, text=True, check=True,
    )  # fmt: skip
    seen, text, tables = json.loads(there.stdout)
    path = str(tmp_path / "sales.xlsx")
    assert seen == json.loads(json.dumps(worker.inspect(path, path)))
    assert "south" in text["text"]
    assert text["text"] == worker.read(path, seen["kind"])["text"]
    assert tables == json.loads(
        json.dumps(worker.tables(path, seen["kind"], str(tmp_path / "here")))
    )
    assert [(table["rows"], table["left_out_counts"]) for table in tables] == [(2, [["total", 1]])]

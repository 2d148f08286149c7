"""Files as a tree of their folders."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from leaf.store import leftovers
from leaf.store.model import File
from leaf.ui.folders import FolderNode, entries


def file(name: str) -> File:
    return File(
        name,
        "w",
        "u",
        name,
        "text/csv",
        "csv",
        10,
        "0" * 64,
        "upload",
        "",
        {},
        datetime(2026, 5, 1, tzinfo=UTC),
    )


def shown(names: list[str], above: str = "") -> list[str]:
    found = entries([file(name) for name in names], above)
    return [
        f"{one.name}/ {len(one.files)}" if isinstance(one, FolderNode) else one.name
        for one in found
    ]


def test_files_of_a_folder_are_one_entry_where_the_first_of_them_stands() -> None:
    names = ["z.csv", "2024/b.csv", "a.csv", "2024/a.csv", "2023/only.csv"]
    assert shown(names) == ["z.csv", "2024/ 2", "a.csv", "2023/only.csv"]


def test_folders_with_nothing_else_in_them_stand_in_one_row() -> None:
    names = ["in/2024/may/a.csv", "in/2024/may/b.csv", "in/2024/june/c.csv"]
    assert shown(names) == ["in/2024/ 3"]
    assert shown(names, "in/2024") == ["may/ 2", "in/2024/june/c.csv"]
    assert shown(names[:2], "in/2024/may") == names[:2]


def test_a_file_and_a_folder_of_one_name_are_two_entries() -> None:
    assert shown(["a.zip", "a.zip/x.csv", "a.zip/y.csv"]) == ["a.zip", "a.zip/ 2"]


def test_what_killed_processes_left_is_removed_after_a_day_and_not_before(tmp_path: Path) -> None:
    old, new = tmp_path / ".drive-old", tmp_path / ".drive-new"
    for folder in (old, new):
        folder.mkdir()
        (folder / "content").write_text("half")
    (tmp_path / "kept").write_text("x")
    os.utime(old / "content", (0, 0))
    os.utime(old, (0, 0))
    leftovers.remove(tmp_path, ".drive-*")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".drive-new", "kept"]

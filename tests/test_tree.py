"""How the code of the app is laid out, as far as no linter looks at it."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

LEAF = Path(__file__).parents[1] / "leaf"
MOST_LINES = 500
SOURCES = {path: path.read_text() for path in sorted(LEAF.rglob("*.py"))}


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, text in SOURCES.items():
        for name in re.findall(r"^class (\w+)", text, re.MULTILINE):
            places[name].append(path.relative_to(LEAF).as_posix())
    assert len(places) > 500
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_files_stay_short_enough_to_be_read() -> None:
    lines = {path.name: text.count("\n") for path, text in SOURCES.items()}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}

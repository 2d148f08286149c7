"""How the code of the app is laid out, as far as no linter looks at it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

LEAF = Path(__file__).parents[1] / "leaf"
MOST_LINES = 500
NO_NOUNS = {"found", "given", "said", "kept", "made"}
"""They say how a value came about, and not what it is."""
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


def stored_in(scope: ast.AST) -> Iterator[ast.Name]:
    """Variables of a function or module; fields of a class are read with what they belong to."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node
        if isinstance(node, ast.ClassDef):
            for function in node.body:
                yield from stored_in(function) if isinstance(function, ast.FunctionDef) else ()
        else:
            yield from stored_in(node)


def test_variables_are_called_by_what_they_are() -> None:
    bound = [
        f"{path.relative_to(LEAF)}:{name.lineno} {name.id}"
        for path, text in SOURCES.items()
        for name in stored_in(ast.parse(text))
        if name.id in NO_NOUNS
    ]
    assert bound == []

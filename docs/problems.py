"""The sentences that Leaf keeps in English, as templates: what its errors and the notes of its
readers say, found where they are made. `docs/catalogs.py` puts them into the catalog of problems.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from docs.sources import LEAF, Module, called, module
from docs.wordings import Field, Reader, Wording
from leaf.language.problems import skeleton

APART = ("cli/", "remote/", "keeping/", "doctor", "replay", "__main__", "exports/manifest",
         "exports/reading")  # fmt: skip
"""Speak on the command line alone."""
CONSTANTS = (
    ("errors.py", "FAULT"),
    ("agent/ends.py", "STOPPED"),
    ("jobs/announced.py", "NOT_HERE"),
    ("readers/tabular/integrity.py", "TWICE"),
    ("jobs/announced.py", "CLOSED"),
    ("runs/board.py", "ELSEWHERE"),
    ("runs/dispatch.py", "DAMAGED"),
    ("store/edited_steps.py", "LOST"),
    ("ui/visitors.py", "CLOSED"),
    ("ui/visitors.py", "FOREIGN"),
    ("ui/upload_routes.py", "LOST"),
    ("ui/upload_routes.py", "LEFT"),
    ("ui/upload_routes.py", "NO_KEY"),
    ("ui/upload_routes.py", "BUSY"),
)
"""What is told of an answer or a file without an error that says it."""
LOCALS = (
    ("drive/drive.py", "look", "incomplete"),
    ("drive/drive.py", "attach_folder", "incomplete"),
    ("drive/listing.py", "_page", "incomplete"),
    ("files/line.py", "lost_file", "error"),
    ("readers/tabular/block_notes.py", "_loose", "text"),
    ("readers/tabular/integrity.py", "_adding_up", "text"),
    ("readers/tabular/integrity.py", "_called", "text"),
    ("readers/tabular/second_lines.py", "continuations", "text"),
    ("readers/tabular/sheets.py", "_on", "where"),
    ("sessions/pinning.py", "stale", "text"),
    ("ui/upload_routes.py", "_receive", "problem"),
)
"""The same, where it is put together: module, function, name."""
POSITIONS = {"Note": 1, "Defect": 1, "Recomputed": 1, "Sought": 1, "DriveSkipped": 1}
"""Which argument of what is made is a sentence, beside those of errors."""
KEYWORDS = ("errorText", "problem")
"""Names of arguments that are told as errors are."""
TOLD = {"DriveConnection": ("why", "hint"), "replace": ("why",), "Overview": ("said",),
        "Standing": ("warning",)}  # fmt: skip
"""The same of what is made under this name alone."""
LETTERS = 4
"""Of its own, that a template needs at least."""
_LEADING = re.compile(r"^\{(?:message|hint|refused)\} (?=[A-Z])")


def problems() -> dict[str, list[str]]:
    """Each template with the files that say it; of those that differ in the names of their values
    alone, one."""
    found: dict[str, tuple[str, list[str]]] = {}
    for path, template in _templates():
        known = found.setdefault(skeleton(template), (template, []))
        name = path.relative_to(LEAF.parent).as_posix()
        if name not in known[1]:
            known[1].append(name)
    return dict(sorted(found.values()))


def _templates() -> Iterator[tuple[Path, str]]:
    modules = [module(path) for path in sorted(LEAF.rglob("*.py"))]
    errors = frozenset(_errors(modules))
    for one in modules:
        name = one.path.relative_to(LEAF).as_posix()
        if name.startswith(APART):
            continue
        for node in one.nodes:
            if isinstance(node, ast.Call):
                yield from ((one.path, said) for said in _of_call(one, node, errors))
        yield from ((one.path, said) for said in _named(one, name))


def _named(of: Module, path: str) -> Iterator[str]:
    for where, constant in CONSTANTS:
        if where == path:
            value = of.constants[constant]
            for each in value.elts if isinstance(value, ast.Tuple) else [value]:
                yield from _said(Reader(of).read(each))
    for where, function, local in LOCALS:
        if where == path:
            yield from _said(Reader(of, of.functions[function]).read(ast.Name(local)))


def _errors(modules: list[Module]) -> Iterator[str]:
    for one in modules:
        for node in one.nodes:
            if isinstance(node, ast.ClassDef) and node.name.endswith("Error"):
                yield node.name


def _of_call(of: Module, call: ast.Call, errors: frozenset[str]) -> Iterator[str]:
    name = called(call)
    told = ("message", "hint") if name in errors else TOLD.get(name, ())
    given = [word.value for word in call.keywords if word.arg in (*KEYWORDS, *told)]
    if name in errors:
        given += call.args[:2]
    elif (at := POSITIONS.get(name)) is not None:
        given += call.args[at : at + 1]
    reader = Reader(of, of.function_of(call))
    for each in given:
        if isinstance(each, ast.Tuple):
            yield from (said for one in each.elts for said in _said(reader.read(one)))
        elif isinstance(each, ast.Starred):
            for found in reader.tuples(each.value):
                yield from (said for text in found for said in _said(text))
        else:
            yield from _said(reader.read(each))


def _said(found: tuple[Wording, ...]) -> Iterator[str]:
    for wording in found:
        template = _LEADING.sub("", _template(wording)).strip()
        if sum(map(str.isalpha, re.sub(r"\{\w*\}", "", template))) >= LETTERS:
            yield template


def _template(wording: Wording) -> str:
    """With a name for each value; `n` is a figure."""
    names: Counter[str] = Counter()
    pieces = []
    for piece in wording:
        if isinstance(piece, Field):
            name = "n" if piece.figure else piece.name if piece.name != "n" else "value"
            names[name] += 1
            again = str(names[name]) if names[name] > 1 else ""
            pieces.append(f"{{{name}{again}}}")
        else:
            pieces.append(piece.replace("{", "{{").replace("}", "}}"))
    return "".join(pieces)

"""Of which of its tables code reads the first rows alone, or some that chance picks: each use of the
table is `head`, `tail`, `sample` or a slice, right behind it or behind a choice of columns.

Found by reading the code, like `lineage`. A use that is not known to take so many rows counts as a
use of all.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaf.tables.frames import SIZES, picks

_TAKES = {"head": 5, "tail": 5, "sample": 1}
"""Method -> how many rows it gives if it is not told."""
_KEEPS = frozenset(("tolist", "to_list", "to_numpy", "astype", "fillna", "copy", "reset_index"))
"""Methods that give the same rows, which may be sliced then."""
_SLICED = frozenset(("iloc", "values"))


@dataclass(frozen=True)
class TableSize:
    """What is there of a table."""

    rows: int
    columns: frozenset[str]


def first_by(cells: Sequence[str], tables: Mapping[str, TableSize]) -> dict[str, int]:
    """Table -> how many of its rows the cells read at most, of those of which they read no more."""
    try:
        trees = [ast.parse(code) for code in cells]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    nodes = [node for tree in trees for node in ast.walk(tree)]
    above = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and type(n.value) is str]
    most: dict[str, int] = {}
    for name, extent in tables.items():
        uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
        amounts = [_amount(use, extent, above) for use in uses]
        rows = [amount for amount in amounts if amount is not None]
        if sum(rows) and len(rows) == len(uses) and not any(_asks(text, name) for text in texts):
            most[name] = min(sum(rows), extent.rows)
    return most


def _asks(text: str, name: str) -> bool:
    """Whether a text is SQL that reads a table."""
    return bool(re.search(rf"\b(?:from|join)\s+\"?{re.escape(name)}(?!\w)", text, re.IGNORECASE))


def _amount(use: ast.Name, extent: TableSize, above: Mapping[ast.AST, ast.AST]) -> int | None:
    """How many rows one use takes; none for its size or the names of its columns."""
    at: ast.AST = use
    while True:
        outer = above.get(at)
        if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name):
            return 0 if outer.func.id == "len" else None
        if isinstance(outer, ast.Subscript) and outer.value is at:
            if not picks(outer.slice):
                return _sliced(outer.slice, extent.rows)
            at = outer
            continue
        if not isinstance(outer, ast.Attribute) or not isinstance(outer.ctx, ast.Load):
            return None
        call = above.get(outer)
        if isinstance(call, ast.Call) and call.func is outer:
            if outer.attr in _TAKES:
                return _taken(outer.attr, call, extent.rows)
            if outer.attr not in _KEEPS:
                return None
            at = call
        elif outer.attr in extent.columns or outer.attr in _SLICED:
            at = outer
        else:
            return 0 if outer.attr in SIZES or outer.attr == "dtypes" else None


def _taken(method: str, call: ast.Call, rows: int) -> int | None:
    """How many rows `head`, `tail` or `sample` gives."""
    values = {word.arg: word.value for word in call.keywords}
    if call.args:
        values["n"] = call.args[0]
    if method == "sample" and "frac" in values:
        part = _number(values["frac"])
        return math.ceil(part * rows) if part is not None and 0 <= part < 1 else None
    if "n" not in values:
        return _TAKES[method]
    number = _number(values["n"])
    return int(number) if number is not None and number >= 0 else None


def _sliced(index: ast.expr, rows: int) -> int | None:
    """How many rows `[:5]`, `[10:20]` or `[-5:]` takes, or a number one."""
    index = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
    if not isinstance(index, ast.Slice):
        return 1 if _number(index) is not None else None
    first, last = (_number(end) if end else None for end in (index.lower, index.upper))
    if (index.lower and first is None) or (index.upper and last is None) or index.step:
        return None
    return len(range(rows)[int(first) if first else None : None if last is None else int(last)])


def _number(value: ast.expr) -> float | None:
    """A number that stands in the code."""
    negative = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub)
    literal = value.operand if isinstance(value, ast.UnaryOp) and negative else value
    if not isinstance(literal, ast.Constant) or type(literal.value) not in (int, float):
        return None
    number = float(literal.value)  # type: ignore[arg-type]  # checked in the line above
    return -number if negative else number

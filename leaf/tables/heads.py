"""Of which of its tables code reads the first rows alone, or some that chance picks: each use of the
table, or of a variable that holds it, is `head`, `tail`, `sample`, a slice or a number of a range,
right behind it or behind a choice of columns, or SQL with a `LIMIT` alone.

Found by reading the code, like `lineage`. A use that is not known to take so many rows counts as a
use of all.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from leaf.tables.frames import SIZES, picks

_TAKES = {"head": 5, "tail": 5, "sample": 1}
"""Method -> how many rows it gives if it is not told."""
_KEEPS = frozenset(
    (
        "tolist",
        "to_list",
        "to_numpy",
        "astype",
        "fillna",
        "dropna",
        "copy",
        "reset_index",
        "itertuples",
        "iterrows",
        "to_dict",
    )
)
"""Methods that give the same rows, or those that are not empty, which may be sliced then."""
_SLICED = frozenset(("iloc", "values", "iat"))
_LABELS = frozenset(("loc", "at"))
_LISTS = frozenset(("list", "tuple"))
_LIMITED = (
    r"\s*select\s+(?!distinct\b)[^();]+?\s+from\s+\"?{name}\"?\s+"
    r"(?:(?:order\s+by\s+random\(\)\s+)?limit|using\s+sample)\s+(\d+)"
    r"(?:\s+rows)?(?:\s+offset\s+\d+)?\s*;?\s*"
)
"""SQL that takes rows of a table as they come, or by chance."""


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
        amounts = [*_TableUses(nodes, above, extent).amounts(name), *_asked(texts, name)]
        rows = [amount for amount in amounts if amount is not None]
        if sum(rows) and len(rows) == len(amounts):
            most[name] = min(sum(rows), extent.rows)
    return most


def _asked(texts: Sequence[str], name: str) -> Iterator[int | None]:
    """How many rows each SQL takes that reads a table."""
    table = re.escape(name)
    for text in texts:
        if re.search(rf"\b(?:from|join)\s+\"?{table}(?!\w)", text, re.IGNORECASE):
            limited = re.fullmatch(_LIMITED.format(name=table), text, re.IGNORECASE)
            yield int(limited.group(1)) if limited else None


@dataclass
class _TableUses:
    """The uses of a table, and of variables that hold its rows and nothing else."""

    nodes: Sequence[ast.AST]
    above: Mapping[ast.AST, ast.AST]
    extent: TableSize

    def amounts(self, name: str) -> Iterator[int | None]:
        """How many rows each use takes; None for one that may take all."""
        waiting, known = [name], {name}
        while waiting:
            variable = waiting.pop()
            for use in self._named(variable):
                if variable != name and not isinstance(use.ctx, ast.Load):
                    continue
                amount = self._amount(use)
                if isinstance(amount, str):  # one more name for the same rows
                    if len([n for n in self._named(amount) if isinstance(n.ctx, ast.Store)]) > 1:
                        yield None
                    elif amount not in known:
                        known.add(amount)
                        waiting.append(amount)
                else:
                    yield amount

    def _named(self, variable: str) -> list[ast.Name]:
        return [n for n in self.nodes if isinstance(n, ast.Name) and n.id == variable]

    def _amount(self, use: ast.Name) -> int | str | None:
        """How many rows one use takes, none for its size or the names of its columns; or the
        variable that holds them all."""
        at: ast.AST = use
        while True:
            outer = self.above.get(at)
            if isinstance(outer, ast.Call) and at in outer.args:
                if _is_named(outer, _LISTS):
                    at = outer
                    continue
                return self._of_call(outer, at)
            if isinstance(outer, ast.Assign) and outer.value is at:
                names = [t.id for t in outer.targets if isinstance(t, ast.Name)]
                return names[0] if len(names) == len(outer.targets) == 1 else None
            if isinstance(outer, ast.Subscript) and outer.value is at:
                if not picks(outer.slice):
                    return self._sliced(outer)
                at = outer
                continue
            if not isinstance(outer, ast.Attribute) or not isinstance(outer.ctx, ast.Load):
                return None
            step = self._of_attribute(outer)
            if not isinstance(step, ast.AST):
                return step
            at = step

    def _of_call(self, call: ast.Call, at: ast.AST) -> int | None:
        """What `len(sales)` and `islice(sales.itertuples(), 10)` take."""
        if _is_named(call, frozenset(("len",))):
            return 0
        if not _is_named(call, frozenset(("islice",))) or call.args[0] is not at:
            return None
        ends = [_number(end) for end in call.args[1:3]]
        if not ends or ends[-1] is None or ends[0] is None:
            return None
        return int(ends[-1] - (ends[0] if len(ends) > 1 else 0))

    def _of_attribute(self, outer: ast.Attribute) -> ast.AST | int | None:
        """How many rows a method takes, or what it gives where that has as many rows as the
        table."""
        call = self.above.get(outer)
        if isinstance(call, ast.Call) and call.func is outer:
            if outer.attr in _TAKES:
                return _taken(outer.attr, call, self.extent.rows)
            by_column = outer.attr == "to_dict" and not call.args
            return call if outer.attr in _KEEPS and not by_column else None
        if outer.attr in self.extent.columns or outer.attr in _SLICED | _LABELS:
            return outer
        return 0 if outer.attr in SIZES or outer.attr == "dtypes" else None

    def _sliced(self, taken: ast.Subscript) -> int | None:
        """How many rows `[:5]`, `[10:20]` or `[-5:]` takes, a number one, and `i` of a loop over a
        range each of that."""
        index = taken.slice
        index = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
        if isinstance(index, ast.Name):
            return self._looped(taken, index.id)
        if not isinstance(index, ast.Slice):
            return 1 if _number(index) is not None else None
        first, last = (_number(end) if end else None for end in (index.lower, index.upper))
        if (index.lower and first is None) or (index.upper and last is None) or index.step:
            return None
        if isinstance(taken.value, ast.Attribute) and taken.value.attr in _LABELS:
            if (first or 0) < 0 or (last or 0) < 0:
                return None
            last = None if last is None else last + 1  # the last label is taken, too
        rows = range(self.extent.rows)
        return len(rows[int(first) if first else None : None if last is None else int(last)])

    def _looped(self, at: ast.AST, variable: str) -> int | None:
        """How many numbers of a range a variable stands for, in a loop around."""
        around: ast.AST | None = at
        while around is not None:
            loops = getattr(around, "generators", ())
            for loop in (around, *loops) if isinstance(around, ast.For) else loops:
                if isinstance(loop.target, ast.Name) and loop.target.id == variable:
                    return _numbers(loop.iter)
            around = self.above.get(around)
        return None


def _is_named(call: ast.Call, names: frozenset[str]) -> bool:
    func = call.func
    name = func.id if isinstance(func, ast.Name) else getattr(func, "attr", "")
    return name in names


def _numbers(loop: ast.expr) -> int | None:
    """How many numbers `range(10)` gives."""
    if not isinstance(loop, ast.Call) or not _is_named(loop, frozenset(("range",))):
        return None
    ends = [_number(end) for end in loop.args]
    if not ends or None in ends:
        return None
    try:
        return len(range(*(int(end) for end in ends if end is not None)))
    except (TypeError, ValueError):
        return None


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


def _number(value: ast.expr) -> float | None:
    """A number that stands in the code."""
    negative = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub)
    literal = value.operand if isinstance(value, ast.UnaryOp) and negative else value
    if not isinstance(literal, ast.Constant) or type(literal.value) not in (int, float):
        return None
    number = float(literal.value)  # type: ignore[arg-type]  # checked in the line above
    return -number if negative else number

"""What a cell of Python rests on: the tables and files that it names, and those behind variables of
earlier cells that it uses.

Found by reading the code, not by running it. A variable rests on all that the cell rested on which
set it, so rather too much is named than too little; what code hides on purpose (`globals()`,
`eval`) is not seen.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

FILE = re.compile(r"\bopen_file\(\s*(?:handle\s*=\s*)?['\"]([^'\"]{1,300})['\"]")


def rests_on(
    cells: Sequence[tuple[str, Sequence[str]]], tables: Collection[str]
) -> tuple[set[str], set[str]]:
    """(names of tables, handles or names of files) behind the last of `cells`, each its code and
    the handles given with it."""
    behind: dict[str, set[tuple[str, str]]] = {}
    origins: set[tuple[str, str]] = set()
    for code, handles in cells:
        try:
            nodes = list(ast.walk(ast.parse(code)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            nodes = []
        words = set(re.findall(r"\w+", code))
        origins = {("table", name) for name in tables if name in words}
        origins |= {("file", name) for name in (*handles, *FILE.findall(code))}
        for name in _loaded(nodes):
            origins |= behind.get(name, set())
        behind.update(dict.fromkeys(_changed(nodes), origins))
    return {name for kind, name in origins if kind == "table"}, {
        name for kind, name in origins if kind == "file"
    }


def _loaded(nodes: Iterable[ast.AST]) -> set[str]:
    return {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _changed(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names that are set, defined or changed in place."""
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            yield from _base(node)
        elif (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Attribute)
        ):
            yield from _base(node.value.func)


def _base(node: ast.expr) -> Iterator[str]:
    """`rows` of `rows[0].name`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id

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

NAME = 300
"""Characters of the longest name of a file that is looked for."""
FILE = re.compile(r"\bopen_file\(\s*(?:handle\s*=\s*)?['\"]([^'\"]{1,300})['\"]")


def rests_on(
    cells: Sequence[tuple[str, Sequence[str]]], tables: Collection[str]
) -> tuple[set[str], set[str]]:
    """(names of tables, handles or names of files) behind the last of `cells`, each its code and
    the handles given with it."""
    behind: dict[str, set[tuple[str, str]]] = {}
    texts: set[str] = set()
    origins: set[tuple[str, str]] = set()
    for code, handles in cells:
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = ast.Module([], [])
        nodes = list(ast.walk(tree))
        texts |= {n.value for n in nodes if isinstance(n, ast.Constant) and type(n.value) is str}
        origins = {("table", name) for name in tables if _is_named(name, code)}
        origins |= {("file", name) for name in (*handles, *FILE.findall(code))}
        if _opens_by_variable(nodes):
            origins |= {("file", text) for text in texts if len(text) <= NAME}
        for name in _loaded(nodes):
            origins |= behind.get(name, set())
        anew = set(_set_anew(tree))
        for name in set(_changed(nodes)):
            behind[name] = origins if name in anew else origins | behind.get(name, set())
    return {name for kind, name in origins if kind == "table"}, {
        name for kind, name in origins if kind == "file"
    }


def cells_behind(cells: Sequence[str], tables: Collection[str]) -> list[str]:
    """The last of some cells, and those before it that set, define or change what it uses."""
    behind, needed = list[str](), set[str]()
    for code in reversed(cells):
        try:
            nodes = list(ast.walk(ast.parse(code)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            nodes = []
        looked_at = set(_looked_at(nodes)) & set(tables)
        if not behind or (set(_changed(nodes)) - looked_at) & needed:
            behind.insert(0, code)
            needed |= set(_loaded(nodes))
    return behind


def _looked_at(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Names of frames that nothing changes but methods that give a new one: `sales.describe()`."""
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    set_anew = (
        *(n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)),
        *(
            name
            for n in nodes
            if isinstance(n, ast.Attribute | ast.Subscript) and not isinstance(n.ctx, ast.Load)
            for name in _base(n)
        ),
        *(
            name
            for n in nodes
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and _in_place(n)
            for name in _base(n.func)
        ),
    )
    yield from names.difference(set_anew)


def _in_place(call: ast.Call) -> bool:
    """Whether a method may change its frame."""
    assert isinstance(call.func, ast.Attribute)
    inplace = any(keyword.arg in ("inplace", None) for keyword in call.keywords)
    return inplace or call.func.attr in ("insert", "update", "pop")


def _is_named(table: str, code: str) -> bool:
    """Whether code holds the name of a table, which SQL takes in any case."""
    return re.search(rf"(?<!\w){re.escape(table)}(?!\w)", code, re.IGNORECASE) is not None


def _opens_by_variable(nodes: Iterable[ast.AST]) -> bool:
    """Whether it opens files whose names stand elsewhere in the code."""
    calls = (node for node in nodes if isinstance(node, ast.Call))
    opened = (c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "open_file")
    return any(
        not isinstance(name, ast.Constant)
        for call in opened
        for name in (*call.args, *(keyword.value for keyword in call.keywords))
    )


def _loaded(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names whose values are used: of `n += 1` the one before, too."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def _set_anew(tree: ast.Module) -> Iterator[str]:
    """Names that a cell sets whatever happens in it; others may still hold what they held."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            inner = (name for target in targets for name in ast.walk(target))
            yield from (
                n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            )


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

"""Which columns of its tables code may read: those that it names, as long as every use of a table
picks columns by name.

Found by reading the code, like `lineage`. A use that is not known to pick columns counts as a use
of all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from leaf.tables.touched import named, names_all

_ROWS = frozenset(
    (
        "query",
        "head",
        "tail",
        "sort_values",
        "copy",
        "reset_index",
        "nlargest",
        "nsmallest",
        "set_index",
        "sample",
        "groupby",
    )
)
"""Methods that give the same columns of other rows, and take the columns that they look at by
name."""
SIZES = frozenset(("shape", "index", "empty", "columns", "size", "ngroups"))
_PICKED_BY = {
    "pivot_table": ("values",),
    "pivot": ("values",),
    "plot": ("y",),
    "drop_duplicates": ("subset",),
    "dropna": ("subset",),
}
"""Methods that look at all columns unless they are given some by name."""
_AGGREGATES = frozenset(("agg", "aggregate"))


def read_by(cells: Sequence[str], tables: Mapping[str, Collection[str]]) -> frozenset[str] | None:
    """The columns, by `touched.key`, that the last of `cells` may read of the tables (name -> its
    columns); None for any.

    What earlier cells read counts too: a variable of theirs may hold it.
    """
    try:
        trees = [ast.parse(code) for code in cells]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    every = {name for columns in tables.values() for name in columns}
    uses = _Uses(trees, tables, every)
    if not uses.are_narrow():
        return None
    texts = [
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and type(node.value) is str
    ]
    # What stands in two tables that are joined is called `amount_x` and `amount_y` then.
    told_apart = [re.sub(r"_[xy]\b", "", text) for text in (*cells, *texts)]
    return frozenset(named("\n".join([*cells, *texts, *told_apart]), every))


class _Uses:
    """The places where cells use tables, or variables that hold one whole."""

    def __init__(
        self, trees: Sequence[ast.Module], tables: Collection[str], columns: Collection[str]
    ) -> None:
        self._columns = columns
        self._tables = tables
        self._nodes = [node for tree in trees for node in ast.walk(tree)]
        self._parents = {
            child: node for node in self._nodes for child in ast.iter_child_nodes(node)
        }
        self._frames = set(tables)

    def are_narrow(self) -> bool:
        """Whether each use picks columns by name."""
        while True:
            known = len(self._frames)
            used = [
                n
                for n in self._nodes
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in self._frames
            ]
            if not all(self._is_narrow(name) for name in used):
                return False
            if len(self._frames) == known:
                return all(self._is_harmless(text) for text in self._texts())

    def _texts(self) -> Iterator[str]:
        return (
            n.value for n in self._nodes if isinstance(n, ast.Constant) and type(n.value) is str
        )

    def _is_harmless(self, text: str) -> bool:
        """Whether a text names no table, or is SQL that names the columns which it reads."""
        if not any(
            re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
            for name in self._tables
        ):
            return True
        return bool(re.search(r"\bfrom\b", text, re.IGNORECASE)) and not names_all(text)

    def _is_narrow(self, node: ast.expr) -> bool:
        """Whether what is made of a whole table picks columns by name; a variable that holds it
        whole is looked at in turn."""
        at: ast.AST = node
        while True:
            above = self._parents.get(at)
            if isinstance(above, ast.Subscript) and above.value is at:
                if picks(above.slice):
                    return True
                if not _filters(above.slice):
                    return False
                at = above
            elif isinstance(above, ast.Attribute):
                answer = self._of_attribute(above)
                if isinstance(answer, bool):
                    return answer
                at = answer
            elif isinstance(above, ast.Call | ast.keyword | ast.List | ast.Tuple):
                call = self._call_around(above)
                if call is None:
                    return False
                if isinstance(call.func, ast.Name) and call.func.id == "len":
                    return True
                at = call
            else:
                return self._holds(above)

    def _of_attribute(self, above: ast.Attribute) -> bool | ast.AST:
        """Whether an attribute picks columns; what it gives where that is the whole table again."""
        outer = self._parents.get(above)
        if above.attr in ("loc", "iloc") and isinstance(outer, ast.Subscript):
            picked = outer.slice.elts[1:] if isinstance(outer.slice, ast.Tuple) else []
            if above.attr == "loc" and picked:
                return picks(picked[0])
            return outer if above.attr == "loc" and _filters(outer.slice) else False
        called = isinstance(outer, ast.Call) and outer.func is above
        if not called:
            # Who sets `columns` gives them other names.
            return (
                above.attr in SIZES and isinstance(above.ctx, ast.Load)
            ) or above.attr in self._columns
        assert isinstance(outer, ast.Call)
        arguments = [*outer.args, *(keyword.value for keyword in outer.keywords)]
        if above.attr in _AGGREGATES:
            return bool(arguments) and all(_names_columns(value) for value in arguments)
        if above.attr in _PICKED_BY:
            picked = [k.value for k in outer.keywords if k.arg in _PICKED_BY[above.attr]]
            whole = above.attr in ("drop_duplicates", "dropna")
            return False if not picked or not all(map(picks, picked)) else outer if whole else True
        if above.attr in _ROWS and not any(
            isinstance(n, ast.Lambda) for value in arguments for n in ast.walk(value)
        ):
            return outer
        return outer if _joins(outer) else above.attr == "size" and not arguments

    def _call_around(self, node: ast.AST) -> ast.Call | None:
        """The call that a table is given to, where it is `len` or joins tables."""
        around: ast.AST | None = node
        while isinstance(around, ast.keyword | ast.List | ast.Tuple):
            around = self._parents.get(around)
        if not isinstance(around, ast.Call):
            return None
        counts = isinstance(around.func, ast.Name) and around.func.id == "len"
        return around if counts or _joins(around) else None

    def _holds(self, above: ast.AST | None) -> bool:
        """Whether the table goes into a variable, which is then one more name of it."""
        targets = above.targets if isinstance(above, ast.Assign) else []
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        self._frames.update(names)
        return bool(targets) and len(names) == len(targets)


def picks(index: ast.expr) -> bool:
    """Whether an index is the name of a column, or a list of such names."""
    if isinstance(index, ast.List | ast.Tuple):
        return bool(index.elts) and all(map(picks, index.elts))
    return isinstance(index, ast.Constant) and type(index.value) is str


def _filters(index: ast.expr) -> bool:
    """Whether an index is a condition on rows."""
    if isinstance(index, ast.UnaryOp):
        return isinstance(index.op, ast.Invert) and (
            _filters(index.operand) or isinstance(index.operand, ast.Call)
        )
    if isinstance(index, ast.BinOp):
        return isinstance(index.op, ast.BitAnd | ast.BitOr)
    if isinstance(index, ast.Call) and isinstance(index.func, ast.Attribute):
        return index.func.attr in (
            "isin",
            "notna",
            "isna",
            "between",
            "eq",
            "ne",
            "gt",
            "lt",
            "ge",
            "le",
            "contains",
            "startswith",
        )
    return isinstance(index, ast.Compare)


def _joins(call: ast.Call) -> bool:
    """Whether a call puts tables one beside the other by columns that it names, or one below the
    other."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    keywords = {k.arg for k in call.keywords}
    return name == "concat" or (
        name == "merge"
        and bool(keywords & {"on", "left_on", "right_on"})
        and "suffixes" not in keywords
    )


def _names_columns(value: ast.expr) -> bool:
    """Whether an argument of `agg` names its columns: `{"a": "sum"}`, `total=("a", "sum")`."""
    if isinstance(value, ast.Dict):
        return bool(value.keys) and all(key is not None and picks(key) for key in value.keys)
    return isinstance(value, ast.Tuple) and len(value.elts) == 2 and picks(value.elts[0])

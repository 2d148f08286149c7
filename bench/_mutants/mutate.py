"""Mutants of a Python file: each a small change after which some test should fail. Nothing is run
here."""

from __future__ import annotations

import ast
from dataclasses import dataclass

COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
COMPUTED: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
}
UNSEEN = ("logger", "log", "_log", "logs", "logging")
"""What is only logged is left out: no test has to see it."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: str
    line: int
    """From 1."""
    function: str
    """`Class.method` that holds it; empty for what stands outside of all."""
    kind: str
    before: str
    after: str
    span: tuple[int, int]
    """Bytes of the file that `after` takes the place of."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.kind}: {_short(self.before)} → {_short(self.after)}"

    def applied(self, source: bytes) -> bytes:
        """The file with the change."""
        begin, end = self.span
        return source[:begin] + self.after.encode() + source[end:]


def mutants(path: str, source: str) -> list[Mutant]:
    """Every mutant of a file, in the order of its lines."""
    found = _Finder(path, source)
    found.visit(ast.parse(source))
    return sorted(found.mutants, key=lambda m: (m.span, m.kind))


class _Finder(ast.NodeVisitor):
    """Walks over code that runs: no annotations, decorators, docstrings and type aliases."""

    def __init__(self, path: str, source: str) -> None:
        self.path = path
        self.source = source.encode()
        self.starts = [0]
        for text in self.source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(text))
        self.names: list[str] = []
        self.depth = 0
        self.mutants: list[Mutant] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.names.append(node.name)
        self.depth += 1
        self._body(node.body)
        self.depth -= 1
        self.names.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.append(node.name)
        self._body(node.body)
        self.names.pop()

    def visit_Module(self, node: ast.Module) -> None:
        self._body(node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return
        self._negate(node.test, "condition")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test, "condition")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            left, right = self._text(node.left), self._text(node.comparators[0])
            self._add(node, "compared", f"{left} {COMPARED[type(node.ops[0])]} {right}")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = " or " if isinstance(node.op, ast.And) else " and "
        self._add(
            node, "and/or", f"({other.join(f'({self._text(value)})' for value in node.values)})"
        )
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add(node, "not", f"({self._text(node.operand)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if (other := COMPUTED.get(type(node.op))) is not None:
            self._add(
                node, "computed", f"({self._text(node.left)}) {other} ({self._text(node.right)})"
            )
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(node, "constant", str(not node.value))
        elif isinstance(node.value, int | float):
            self._add(node, "constant", str(node.value + 1))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """What a text is made of is left as it is: positions in it are not those of the file."""

    def visit_Return(self, node: ast.Return) -> None:
        # Callers ask most of what is returned only whether it holds: of `False` and `""` they would
        # never see that it is None.
        if node.value is not None and not (
            isinstance(node.value, ast.Constant) and not node.value.value
        ):
            self._add(node.value, "returned", "None")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if (
            isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func).split(".")[0] in UNSEEN
        ):
            return
        if isinstance(node.value, ast.Call):
            self._add(node, "removed", "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if self.names and any(
            isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets
        ):
            self._add(node, "removed", "pass")
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._add(node, "removed", "pass")
        self.visit(node.value)

    def _body(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.visit(statement)

    def _negate(self, test: ast.expr, kind: str) -> None:
        # What is compared, or has a `not`, has that mutant already.
        if not isinstance(test, ast.Compare | ast.UnaryOp) or (
            isinstance(test, ast.Compare) and len(test.ops) > 1
        ):
            self._add(test, kind, f"(not ({self._text(test)}))")

    def _add(self, node: ast.expr | ast.stmt, kind: str, after: str) -> None:
        if self.names and not self.depth:
            return  # fields of classes and defaults are made once, when the file is loaded
        span = self._span(node)
        before = self.source[span[0] : span[1]].decode()
        self.mutants.append(
            Mutant(self.path, node.lineno, ".".join(self.names), kind, before, after, span)
        )

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        begin = self.starts[node.lineno - 1] + node.col_offset
        return begin, self.starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def _text(self, node: ast.expr) -> str:
        begin, end = self._span(node)
        return self.source[begin:end].decode()


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 70 else f"{plain[:69]}…"


def sound(mutant: Mutant, source: bytes) -> bool:
    """Whether the changed file can still be parsed; a test of what cannot would say nothing."""
    try:
        ast.parse(mutant.applied(source))
    except SyntaxError:
        return False
    return True

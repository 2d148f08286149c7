"""The code of Leaf as it is written: its modules, and where a name or a call in one leads."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

LEAF = Path(__file__).resolve().parents[1] / "leaf"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(eq=False)
class Module:
    """A file of the code."""

    path: Path
    tree: ast.Module

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> dict[str, Function]:
        return {node.name: node for node in self.nodes if isinstance(node, Function)}

    @cached_property
    def constants(self) -> dict[str, ast.expr]:
        found: dict[str, ast.expr] = {}
        for node in self.nodes:
            if isinstance(node, ast.ClassDef | ast.Module):
                for name, value in _assigned(node.body):
                    found.setdefault(name, value)
        return found

    @cached_property
    def imported(self) -> dict[str, tuple[str, str]]:
        """Name -> the module that it comes from, and its name there."""
        return {
            name.asname or name.name: (node.module, name.name)
            for node in self.nodes
            if isinstance(node, ast.ImportFrom) and node.module
            for name in node.names
        }

    def function_of(self, sought: ast.AST) -> Function | None:
        """The innermost function that an expression stands in."""
        return self._around.get(id(sought))

    @cached_property
    def _around(self) -> dict[int, Function]:
        around: dict[int, Function] = {}
        for node in self.nodes:  # outer ones come first
            if isinstance(node, Function):
                around.update((id(inner), node) for inner in ast.walk(node) if inner is not node)
        return around


def _assigned(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
            yield node.target.id, node.value


@cache
def module(path: Path) -> Module:
    return Module(path, ast.parse(path.read_text(encoding="utf-8")))


def named(dotted: str) -> Module | None:
    path = LEAF.parent.joinpath(*dotted.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return module(file)
    return None


@cache
def calls() -> dict[str, list[tuple[Module, ast.Call]]]:
    """All calls of the code by the name of what is called."""
    found: dict[str, list[tuple[Module, ast.Call]]] = {}
    for one in map(module, sorted(LEAF.rglob("*.py"))):
        for node in one.nodes:
            if isinstance(node, ast.Call):
                found.setdefault(called(node), []).append((one, node))
    return found


@cache
def within(function: Function) -> list[ast.AST]:
    return list(ast.walk(function))


def called(call: ast.Call) -> str:
    """The name of what is called, without what it belongs to."""
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def constant(of: Module, node: ast.expr) -> tuple[Module, ast.expr] | None:
    match node:
        case ast.Name(id=name) if name in of.constants:
            return of, of.constants[name]
        case ast.Name(id=name) if name in of.imported:
            where = named(of.imported[name][0])
            known = where.constants.get(of.imported[name][1]) if where else None
            return (where, known) if where and known is not None else None
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name) if name in of.constants:
            return of, of.constants[name]
        case ast.Attribute(value=ast.Name(id=module_name), attr=name):
            if module_name in of.imported:
                where = named(".".join(of.imported[module_name]))
                known = where.constants.get(name) if where else None
                return (where, known) if where and known is not None else None
    return None


def argument(call: ast.Call, names: list[str], name: str) -> ast.expr | None:
    for word in call.keywords:
        if word.arg == name:
            return word.value
    positional = [one for one in names if one not in ("self", "cls")]
    if name in positional and positional.index(name) < len(call.args):
        given = call.args[positional.index(name)]
        return None if isinstance(given, ast.Starred) else given
    return None


def default(function: Function, name: str) -> ast.expr | None:
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    later = function.args.defaults
    known = dict(zip(names[len(names) - len(later) :], later, strict=True))
    for one, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if value is not None:
            known[one.arg] = value
    return known.get(name)

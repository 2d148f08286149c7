"""What an expression of the code may say, as templates: `f"No {what} '{name}'."` gives
`No {what} '{name}'.`, and a choice gives one for each of its branches.

Names lead to what is put in them: in the same function, in the module or in the one that it is
imported from; a parameter leads to those who call. What cannot be known is a field.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from string import Formatter

from docs.sources import Function, Module, argument, called, calls, constant, default, named, within

MOST = 96
"""Templates of one expression; where there are more, its choices count as fields."""
DEPTH = 9
"""Names that lead to names."""
UNIT = 10
"""Letters beside a value, up to which what a function gives is a figure with its unit."""


@dataclass(frozen=True)
class Field:
    """A value that is known only when it is said."""

    name: str
    figure: bool = False
    """Whether it is written with separators."""


Wording = tuple[str | Field, ...]
Bound = tuple[tuple[str, tuple[Wording, ...]], ...]
"""What the parameters of a function are known to be."""


@dataclass(frozen=True)
class Reader:
    """Reads the expressions of one module, inside of one function."""

    module: Module
    inside: Function | None = None
    bound: Bound = ()
    depth: int = 0
    seen: frozenset[str] = field(default_factory=frozenset)

    def read(self, node: ast.expr) -> tuple[Wording, ...]:
        """All that it may say; a single field where nothing is known."""
        found = tuple(dict.fromkeys(self._read(node)))
        return found if 0 < len(found) <= MOST else (_field(node),)

    def _read(self, node: ast.expr) -> Iterable[Wording]:
        match node:
            case ast.Constant(value=str(text)):
                return [(text,) if text else ()]
            case ast.JoinedStr(values=values):
                return [
                    one
                    for chosen in _branches(values)
                    for one in self._joined(self._piece(each) for each in chosen)
                ]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                if (capital := _capitalised(node)) is not None:
                    return [_capital(one) for one in self.read(capital)]
                return self._joined((self.read(left), self.read(right)))
            case ast.IfExp(body=body, orelse=other):
                return (*self.read(body), *self.read(other))
            case ast.BoolOp(op=ast.Or(), values=values):
                return [one for value in values for one in self.read(value)]
            case ast.Subscript(value=ast.Name() | ast.Attribute() as name):
                return self._held(name) or (_field(node),)
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.Attribute():
                return self._constant(node) or (_field(node),)
            case ast.Call():
                return self._call(node)
        return [_field(node)]

    def _joined(self, pieces: Iterable[tuple[Wording, ...]]) -> list[Wording]:
        found: list[Wording] = [()]
        for choices in pieces:
            if len(found) * len(choices) > MOST:
                choices = ((Field("value"),),)
            found = [(*one, *other) for one, other in product(found, choices)]
        return found

    def _piece(self, node: ast.expr) -> tuple[Wording, ...]:
        if not isinstance(node, ast.FormattedValue):
            return self.read(node)
        spec = ast.unparse(node.format_spec) if node.format_spec else ""
        if spec or node.conversion != -1:
            ((name,),) = (_field(node.value),)
            return ((Field(name.name, figure="," in spec),),)
        found = self.read(node.value)
        if len(found) > 1 and any(_bare(one) for one in found):  # a choice among names is a value
            found = tuple(one for one in found if _bare(one) or " " in _words(one).strip())
        most = UNIT if isinstance(node.value, ast.Call) else 0
        if any(map(_has_field, found)) and all(_letters(one) <= most for one in found):
            return (_field(node.value),)
        return found

    def _name(self, node: ast.Name, name: str) -> Iterable[Wording]:
        if (known := dict(self.bound).get(name)) is not None:
            return known
        if name in self.seen or self.depth > DEPTH:
            return [_field(node)]
        inner = Reader(self.module, self.inside, self.bound, self.depth + 1, self.seen | {name})
        return inner._local(name) or self._constant(node) or [_field(node)]

    def _local(self, name: str) -> list[Wording]:
        """What is put in a name within the function; through a parameter, what callers give."""
        if self.inside is None:
            return []
        found: list[Wording] = []
        added: list[tuple[Wording, ...]] = []
        for node in within(self.inside):
            match node:
                case ast.Assign(targets=[*targets], value=value):
                    for target in targets:
                        found += self._taken(target, value, name)
                case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value):
                    found += self.read(value) if target == name else ()
                case ast.NamedExpr(target=ast.Name(id=target), value=value):
                    found += self.read(value) if target == name else ()
                case ast.AugAssign(target=ast.Name(id=target), op=ast.Add(), value=value):
                    added += [self.read(value)] if target == name else []
                case ast.For(target=target, iter=values):
                    found += self._among(target, values, name)
        for more in added:
            found += [(*one, *other) for one, other in product(found, more)]
        return found or self._given(name)

    def _taken(self, target: ast.expr, value: ast.expr, name: str) -> Iterable[Wording]:
        if isinstance(target, ast.Name):
            return self.read(value) if target.id == name else ()
        if isinstance(target, ast.Tuple):
            at = next((n for n, one in enumerate(target.elts) if _is(one, name)), None)
            if at is None:
                return ()
            return [one for each in self.tuples(value) for one in _at(each, at, name)]
        return ()

    def tuples(self, value: ast.expr) -> Iterable[tuple[tuple[Wording, ...], ...]]:
        """Each tuple that an expression may be."""
        if isinstance(value, ast.Tuple):
            yield tuple(self.read(one) for one in value.elts)
        elif isinstance(value, ast.IfExp):
            yield from (*self.tuples(value.body), *self.tuples(value.orelse))
        elif isinstance(value, ast.Call):
            for reader, results in self._results(value):
                for result in results:
                    yield from reader.tuples(result)
        elif isinstance(value, ast.Name | ast.Attribute | ast.Subscript):
            inner = value.value if isinstance(value, ast.Subscript) else value
            at = constant(self.module, inner)
            if at is not None:
                of, held = at
                for one in held.values if isinstance(held, ast.Dict) else [held]:
                    if isinstance(one, ast.Tuple):
                        yield from Reader(of, depth=self.depth + 1).tuples(one)

    def _among(self, target: ast.expr, values: ast.expr, name: str) -> Iterable[Wording]:
        """What a name is in a loop over what is written out there."""
        if not isinstance(values, ast.Tuple | ast.List):
            return ()
        return [one for value in values.elts for one in self._taken(target, value, name)]

    def _given(self, name: str) -> list[Wording]:
        inside = self.inside
        if inside is None or self.depth > DEPTH:
            return []
        names = [one.arg for one in (*inside.args.posonlyargs, *inside.args.args)]
        keywords = [one.arg for one in inside.args.kwonlyargs]
        if name not in names + keywords:
            return []
        found: list[Wording] = []
        for where, call in calls().get(inside.name, ()):
            if Reader(where).function(call, inside.name) != (self.module, inside):
                continue
            given = argument(call, names, name)
            if given is not None:
                reader = Reader(where, where.function_of(call), (), self.depth + 1)
                found += reader.read(given)
        return found if len(found) <= MOST else []

    def _constant(self, node: ast.expr) -> list[Wording]:
        found = constant(self.module, node)
        if found is None or isinstance(found[1], ast.Dict):
            return []
        where, value = found
        return [*Reader(where, depth=self.depth + 1).read(value)] if self.depth < DEPTH else []

    def _held(self, node: ast.expr) -> list[Wording]:
        """The values of a dict that is written out."""
        found = constant(self.module, node)
        if found is None or not isinstance(found[1], ast.Dict):
            return []
        reader = Reader(found[0], depth=self.depth + 1)
        return [one for value in found[1].values for one in reader.read(value)]

    def _call(self, call: ast.Call) -> Iterable[Wording]:
        match call.func:
            case ast.Attribute(value=of, attr="strip" | "rstrip" | "removesuffix" as way):
                return [_stripped(one, way, call) for one in self.read(of)]
            case ast.Attribute(value=of, attr="format"):
                return [_formatted(one) for one in self.read(of)]
            case ast.Attribute(value=of, attr="replace"):
                return [_replaced(one, call) for one in self.read(of)]
            case ast.Attribute(value=ast.Constant(value=" "), attr="join"):
                return self._sentences(call)
            case ast.Attribute(value=ast.Dict(values=values), attr="get"):
                return [one for each in (*values, *call.args[1:]) for one in self.read(each)]
            case ast.Attribute(value=ast.Name() | ast.Attribute() as of, attr="get"):
                held = self._held(of)
                if held:
                    return [*held, *(one for each in call.args[1:] for one in self.read(each))]
        if self.depth > DEPTH:
            return [_field(call)]
        found = [
            one
            for reader, results in self._results(call)
            for r in results
            for one in reader.read(r)
        ]
        return found or [_field(call)]

    def _sentences(self, call: ast.Call) -> list[Wording]:
        """Texts that are joined by a blank; each that stands there alone is one."""
        given = call.args[0]
        if not isinstance(given, ast.List | ast.Tuple):
            return [_field(call)]
        return [
            one
            for each in given.elts
            if not isinstance(each, ast.Starred)
            for one in self.read(each)
        ]

    def _results(self, call: ast.Call) -> Iterator[tuple[Reader, list[ast.expr]]]:
        """What a function of the code gives back for these arguments."""
        name = called(call)
        where, function = self.function(call, name)
        if where is None or function is None or self.depth > DEPTH or name in self.seen:
            return
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        bound = {}
        for one in (*names, *(one.arg for one in function.args.kwonlyargs)):
            given = argument(call, names, one)
            if given is None:
                given = default(function, one)
                bound[one] = Reader(where).read(given) if given is not None else ((Field(one),),)
            else:
                bound[one] = self.read(given)
        results = [
            node.value
            for node in within(function)
            if isinstance(node, ast.Return)
            and node.value is not None
            and where.function_of(node) is function
        ]
        seen = self.seen | {name}
        yield Reader(where, function, tuple(bound.items()), self.depth + 1, seen), results

    def function(self, call: ast.Call, name: str) -> tuple[Module | None, Function | None]:
        match call.func:
            case ast.Name() if name in self.module.functions:
                return self.module, self.module.functions[name]
            case ast.Name() if name in self.module.imported:
                where = named(self.module.imported[name][0])
                return where, where.functions.get(name) if where else None
            case ast.Attribute(value=ast.Name(id="self")):
                return self.module, self.module.functions.get(name)
            case ast.Attribute(value=ast.Name(id=of)) if of in self.module.imported:
                where = named(".".join(self.module.imported[of]))
                return where, where.functions.get(name) if where else None
        return None, None


def _branches(values: list[ast.expr]) -> Iterator[list[ast.expr]]:
    """A text with each choice made: where two ask the same, both go the same way."""
    tests = {_test(value.value)[0] for value in map(_chosen, values) if value is not None}
    for ways in product((True, False), repeat=len(tests)):
        made = dict(zip(sorted(tests), ways, strict=True))
        yield [_taken_branch(value, made) for value in values]


def _chosen(value: ast.expr) -> ast.FormattedValue | None:
    if isinstance(value, ast.FormattedValue) and isinstance(value.value, ast.IfExp):
        return None if value.format_spec else value
    return None


def _test(node: ast.expr) -> tuple[str, bool]:
    """What a choice asks, and whether it asks for the opposite."""
    assert isinstance(node, ast.IfExp)
    test = ast.unparse(node.test)
    return (test.replace(" != ", " == "), True) if " != " in test else (test, False)


def _taken_branch(value: ast.expr, made: dict[str, bool]) -> ast.expr:
    chosen = _chosen(value)
    if chosen is None or not isinstance(chosen.value, ast.IfExp):
        return value
    test, opposite = _test(chosen.value)
    taken = chosen.value.body if made[test] is not opposite else chosen.value.orelse
    return ast.FormattedValue(value=taken, conversion=-1, format_spec=None)


def _bare(wording: Wording) -> bool:
    return len(wording) == 1 and isinstance(wording[0], Field)


def _words(wording: Wording) -> str:
    return "".join(piece for piece in wording if isinstance(piece, str))


def _has_field(wording: Wording) -> bool:
    return any(isinstance(piece, Field) for piece in wording)


def _letters(wording: Wording) -> int:
    return sum(map(str.isalpha, _words(wording)))


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _at(found: tuple[tuple[Wording, ...], ...], at: int, name: str) -> tuple[Wording, ...]:
    return found[at] if at < len(found) else ((Field(name),),)


def _capitalised(node: ast.BinOp) -> ast.expr | None:
    """The text of `text[0].upper() + text[1:]`."""
    match node:
        case ast.BinOp(
            left=ast.Call(func=ast.Attribute(value=ast.Subscript(value=text), attr="upper")),
            right=ast.Subscript(),
        ):
            return text
    return None


def _capital(wording: Wording) -> Wording:
    if wording and isinstance(wording[0], str):
        return (wording[0][0].upper() + wording[0][1:], *wording[1:])
    return wording


def _stripped(wording: Wording, way: str, call: ast.Call) -> Wording:
    last = wording[-1] if wording else ""
    given = call.args[0] if call.args else None
    what = given.value if isinstance(given, ast.Constant) else None
    if not isinstance(last, str):
        return wording
    if way == "removesuffix":
        return (*wording[:-1], last.removesuffix(str(what)))
    return (*wording[:-1], last.rstrip(what if isinstance(what, str) else None))


def _formatted(wording: Wording) -> Wording:
    found: list[str | Field] = []
    for piece in wording:
        if isinstance(piece, Field):
            found.append(piece)
            continue
        for words, name, spec, _ in Formatter().parse(piece):
            found.append(words)
            if name is not None:
                found.append(Field(name.split(".")[0] or "value", "," in (spec or "")))
    return tuple(found)


def _replaced(wording: Wording, call: ast.Call) -> Wording:
    match call.args:
        case [ast.Constant(value=str(old)), ast.Constant(value=str(new))]:
            return tuple(p if isinstance(p, Field) else p.replace(old, new) for p in wording)
        case [ast.Constant(value=str(old)), ast.JoinedStr(values=values)]:
            new = "".join(str(v.value) if isinstance(v, ast.Constant) else "\0" for v in values)
            found: list[str | Field] = []
            for piece in wording:
                if isinstance(piece, Field) or old not in piece:
                    found.append(piece)
                    continue
                for n, words in enumerate(piece.replace(old, new).split("\0")):
                    found += [Field("name"), words] if n else [words]
            return tuple(found)
    return wording


def _field(node: ast.expr) -> tuple[Field]:
    return (Field(_name_of(node)),)


def _name_of(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_").lower() or "value"
        case ast.Call(func=ast.Attribute(attr="join")):
            return "names"
        case ast.Call(func=ast.Name(id="str" | "repr" | "len" | "int" | "round"), args=[first, *_]):
            return _name_of(first)
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name.strip("_").lower() or "value"
        case ast.Subscript(slice=ast.Constant(value=str(name))) if name.isidentifier():
            return name.strip("_").lower() or "value"
        case ast.Subscript(value=of):
            return _name_of(of)
        case ast.BinOp(left=left):
            return _name_of(left)
    return "value"

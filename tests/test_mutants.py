"""Mutants: which changes are made of code, how one takes the place of what is loaded, and which
tests it is tried with."""

from __future__ import annotations

import ast
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bench import mutants as bench
from bench._mutants.mutate import Mutant, mutants, sound
from bench._mutants.trials import Tracer, chosen, put_in_place

SOURCE = '''"""Two steps."""
from functools import lru_cache
LIMIT = 4
WORDS = "one two"
WORDS += " three"
COUNT = len(WORDS.split())
LAST = COUNT - 1


class Counter:
    start: int = 7

    def __init__(self) -> None:
        self.count = 0

    @property
    def full(self) -> bool:
        """Whether it is over 2."""
        return self.count >= LIMIT and not self.start == 9

    def add(self, more: int = 1) -> int:
        def double(number: int) -> int:
            return number + number

        self.count += double(more)
        if self.full:
            self.reset()
        return self.count

    def reset(self) -> None:
        self.count = 0


@lru_cache
def half(number: int) -> float:
    if not number:
        return 0.0
    return number / 2  # größer
'''
PATH = "leaf/counted_for_tests.py"


@pytest.fixture
def module() -> Iterator[ModuleType]:
    made = ModuleType("leaf.counted_for_tests")
    exec(compile(SOURCE, PATH, "exec", dont_inherit=True), vars(made))  # noqa: S102 - the source above
    sys.modules[made.__name__] = made
    yield made
    del sys.modules[made.__name__]


def mutant(after: str) -> Mutant:
    return next(m for m in mutants(PATH, SOURCE) if m.after == after)


def test_every_kind_of_change_is_made_where_code_runs() -> None:
    found = mutants(PATH, SOURCE)
    assert {m.kind for m in found} == {
        "compared",
        "and/or",
        "not",
        "computed",
        "constant",
        "returned",
        "removed",
        "condition",
    }
    assert all(sound(m, SOURCE.encode()) for m in found)
    assert len({m.applied(SOURCE.encode()) for m in found}) == len(found)
    assert {m.function for m in found} == {
        "",
        "Counter.__init__",
        "Counter.full",
        "Counter.add",
        "Counter.add.double",
        "Counter.reset",
        "half",
    }
    assert "7" not in {m.before for m in found}  # a field is made once, when the class is
    assert not any("Whether" in m.before for m in found)
    # of what is empty or false nobody would see that it is None
    assert [m.before for m in found if m.kind == "returned" and m.function == "half"] == [
        "number / 2"
    ]


@pytest.mark.parametrize(
    "after",
    [
        "(number) - (number)",
        "5",
        "((self.count >= LIMIT) or (not self.start == 9))",
        "(not (self.full))",
    ],
)
def test_a_mutant_takes_the_place_of_loaded_code(module: ModuleType, after: str) -> None:
    whole = module.Counter()
    assert [whole.add(), whole.add()] == [2, 0]
    put_in_place(mutant(after), SOURCE.encode())
    changed = module.Counter()
    assert [changed.add(), changed.add()] != [2, 0]


def test_what_is_made_of_a_changed_constant_is_made_again(module: ModuleType) -> None:
    assert (module.COUNT, module.LAST) == (3, 2)
    removed = next(m for m in mutants(PATH, SOURCE) if m.before.startswith("WORDS +="))
    put_in_place(removed, SOURCE.encode())
    assert (module.COUNT, module.LAST, module.LIMIT) == (2, 1, 4)


def test_what_is_decorated_is_changed_beneath(module: ModuleType) -> None:
    put_in_place(mutant("(number) * (2)"), SOURCE.encode())
    assert module.half(3) == 6


def test_a_mutant_is_tried_with_the_tests_that_run_its_lines_the_shortest_first() -> None:
    file = PATH.removeprefix("leaf/")
    add = f"{file}:Counter.add"
    tests: dict[str, dict[str, Any]] = {
        "slow": {"seconds": 5.0, "ran": [add], "lines": {}},
        "quick": {"seconds": 0.1, "ran": [add, f"{add}.double"], "lines": {file: []}},
        "other": {
            "seconds": 0.1,
            "ran": [f"{file}:half", "agent/loop.py:Counter.add"],
            "lines": {"agent/loop.py": [26]},
        },
        "endless": {"seconds": 900.0, "ran": [add], "lines": {}},
    }
    reset = mutant("(not (self.full))")
    assert chosen(reset, tests) == ["quick", "slow"]
    tests["slow"]["lines"] = {file: [reset.line]}
    tests["endless"]["lines"] = {file: [reset.line - 1]}
    assert chosen(reset, tests) == ["slow"]
    assert chosen(mutant("(number) - (number)"), tests) == ["quick"]
    assert chosen(mutant("(number) * (2)"), tests) == ["other"]
    assert chosen(mutant("5"), tests) == ["quick", "other", "slow"]
    assert Path(PATH).name in str(mutant("5"))


def test_lines_are_noted_of_the_files_that_are_changed_alone(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / f"{name}.py").write_text(
            "def run(x):\n    if x:\n        return 1\n    return 2\n"
        )
    tracer = Tracer(f"{tmp_path}{os.sep}", {str(tmp_path / "one.py")})
    found: dict[str, Any] = {}
    for name in ("one", "other"):
        source = (tmp_path / f"{name}.py").read_text()
        exec(compile(source, tmp_path / f"{name}.py", "exec"), found)  # noqa: S102 - the lines above
        with tracer:
            found["run"](0)
            other = threading.Thread(target=found["run"], args=(0,))
            other.start()
            other.join()
        assert tracer.ran() == [f"{name}.py:run"]
        assert tracer.lines() == ({"one.py": [2, 4]} if name == "one" else {})


@pytest.mark.parametrize("name", sorted(bench.PARTS.keys() - {"store"}))
def test_a_part_is_tried_with_every_file_of_tests_that_calls_it(name: str) -> None:
    """But for the store, by which half of all tests prepare what they are about."""
    part = bench.PARTS[name]
    files = [path for pattern in part.files for path in bench.ROOT.glob(pattern)]
    modules = {path.relative_to(bench.ROOT).with_suffix("").as_posix() for path in files}
    called = {
        path.stem
        for path in bench.ROOT.glob("tests/test_*.py")
        if modules & _imported(ast.parse(path.read_text()))
    }
    assert called <= set(part.tests)


def _imported(tree: ast.Module) -> set[str]:
    """Modules, as paths without their ending, and what may be one."""
    named: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            named += [f"{node.module}.{alias.name}" for alias in node.names]
            named.append(str(node.module))
    return {name.replace(".", "/") for name in named}

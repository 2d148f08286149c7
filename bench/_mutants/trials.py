"""Mutants tried by tests that are loaded once: a plugin of pytest that forks for each mutant and
changes the code in the fork.

The file on the disk is changed as well, for the processes that tests start.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest

from bench._mutants.mutate import Mutant

ONCE = 1_500.0
"""Seconds that the tests of a part may take when they are run once as they are."""
PATIENCE = 60.0
"""Seconds of tests that one mutant is tried with, as long as none fails; the shortest tests go
first."""
SLOWER = 4.0
"""How much longer than before they may take, beside half a minute: what takes longer hangs."""
PASSED, FAILED, UNFIT = 0, 1, 3
"""How a fork ends; unfit is a mutant that cannot be put in the place of the code."""

TraceFunction = Callable[[FrameType, str, Any], Any]
Tests = Mapping[str, Mapping[str, Any]]
"""Test -> `seconds`; `ran`: `path:Class.method` of what it runs; `lines`: by path, those that it runs
of the files that are changed."""


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant."""

    mutant: Mutant
    end: str
    """`noticed`, `hangs`, `lives`, `untested` (no test runs its function) or `unfit`."""

    @property
    def lives(self) -> bool:
        """Whether no test noticed."""
        return self.end in ("lives", "untested")


class Trials:
    """Runs in place of pytest's own loop over tests."""

    def __init__(
        self,
        folder: Path,
        sample: Sequence[Mutant],
        told: Callable[[str], None],
        tidy: Callable[[], None] = lambda: None,
    ) -> None:
        """`tidy` is done after each fork, whose tests may have been killed before they could."""
        self.outcomes: list[Outcome] = []
        self._folder = folder
        self._sample = sample
        self._told = told
        self._tidy = tidy
        self._items: dict[str, pytest.Item] = {}
        self._failed: set[str] = set()
        self._writes = 0

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Trace the tests, load what they have loaded, time them, and try each mutant: in a process
        that has its modules already."""
        self._items = {item.nodeid: item for item in session.items}
        traced = self._once("trace.json", self._trace)
        _load(traced["modules"])
        seconds = self._once("seconds.json", self._time)
        tests = {
            name: {**test, "seconds": seconds[name]}
            for name, test in traced["tests"].items()
            if name in seconds
        }
        self._told(f"{len(self._sample)} mutants, {len(tests)} tests")
        for mutant in self._sample:
            outcome = Outcome(mutant, self._tried(mutant, chosen(mutant, tests), tests))
            self.outcomes.append(outcome)
            if outcome.lives:
                self._told(f"  {outcome.end}: {mutant}")
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """What is skipped cannot tell a mutant either."""
        if not report.passed:
            self._failed.add(report.nodeid)

    def _once(self, name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What `work` finds in a fork that runs all tests. Raises SystemExit."""
        into = self._folder / name

        def run() -> int:
            into.write_text(json.dumps(work()))
            return PASSED

        self._forked(run, ONCE)
        if not into.is_file():
            said = (self._folder / "tests.log").read_text()[-2_000:]
            raise SystemExit(f"The tests cannot run as they are:\n{said}")
        found: dict[str, Any] = json.loads(into.read_text())
        return found

    def _trace(self) -> dict[str, Any]:
        changed = {str(self._folder / mutant.path) for mutant in self._sample}
        tracer = Tracer(f"{self._folder / 'leaf'}{os.sep}", changed)
        tests = {}
        for item, after in _with_next(list(self._items.values())):
            with tracer:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            tests[item.nodeid] = {"ran": tracer.ran(), "lines": tracer.lines()}
        return {"tests": tests, "modules": list(sys.modules)}

    def _time(self) -> dict[str, Any]:
        """Seconds of each test that passes."""
        seconds = {}
        for item, after in _with_next(list(self._items.values())):
            began = time.monotonic()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            seconds[item.nodeid] = time.monotonic() - began
        return {name: took for name, took in seconds.items() if name not in self._failed}

    def _tried(self, mutant: Mutant, names: Sequence[str], tests: Tests) -> str:
        if not names:
            return "untested"
        limit = 30 + SLOWER * sum(float(tests[name]["seconds"]) for name in names)
        path = self._folder / mutant.path
        source = path.read_bytes()
        self._write(path, mutant.applied(source))
        try:
            status = self._forked(functools.partial(self._run, mutant, source, names), limit)
        finally:
            self._write(path, source)
        return (
            "hangs" if status is None else {PASSED: "lives", UNFIT: "unfit"}.get(status, "noticed")
        )

    def _run(self, mutant: Mutant, source: bytes, names: Sequence[str]) -> int:
        try:
            put_in_place(mutant, source)
        except (LookupError, ValueError):
            return UNFIT
        for item, after in _with_next([self._items[name] for name in names]):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self._failed:
                return FAILED
        return PASSED

    def _forked(self, work: Callable[[], int], limit: float) -> int | None:
        """The exit status of a fork with a session of its own, which ends with all that it started;
        None after the limit."""
        pid = os.fork()
        if pid == 0:
            status = FAILED
            try:
                os.setsid()
                output = os.open(self._folder / "tests.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(output, 1)
                os.dup2(output, 2)
                status = work()
            finally:
                os._exit(status)
        try:
            return _waited(pid, limit)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            self._tidy()

    def _write(self, path: Path, source: bytes) -> None:
        # Compiled files are known by the second in which their source was changed, and several
        # mutants fit into one.
        self._writes += 1
        path.write_bytes(source)
        os.utime(path, (time.time(), 1_600_000_000 + self._writes))


def _load(modules: Sequence[str]) -> None:
    """Import what tests have imported; what can't be is left to whoever needs it."""
    for name in modules:
        if name not in sys.modules and name.partition(".")[0] not in ("tests", "__main__"):
            with contextlib.suppress(Exception):
                importlib.import_module(name)


class Tracer:
    """Notes which functions of a folder are called, and which lines of some of its files run, in
    all threads that begin meanwhile."""

    def __init__(self, folder: str, files: Collection[str]) -> None:
        self._folder = folder
        self._files = files
        self._called: set[tuple[str, str]] = set()
        self._lines: set[tuple[str, int]] = set()

    def __enter__(self) -> None:
        self._called.clear()
        self._lines.clear()
        threading.settrace(self._note)
        sys.settrace(self._note)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def ran(self) -> list[str]:
        """`agent/loop.py:Agent.run`."""
        called = self._called.copy()
        return sorted(
            {
                f"{path.removeprefix(self._folder)}:{name.replace('.<locals>', '')}"
                for path, name in called
            }
        )

    def lines(self) -> dict[str, list[int]]:
        """By `agent/loop.py`, the lines that ran."""
        found: dict[str, list[int]] = {}
        for path, line in sorted(self._lines.copy()):
            found.setdefault(path.removeprefix(self._folder), []).append(line)
        return found

    def _note(self, frame: FrameType, _event: str, _argument: object) -> TraceFunction | None:
        path = frame.f_code.co_filename
        if path.startswith(self._folder):
            self._called.add((path, frame.f_code.co_qualname))
        return self._note_line if path in self._files else None

    def _note_line(self, frame: FrameType, event: str, _argument: object) -> TraceFunction:
        if event == "line":
            self._lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._note_line


def chosen(mutant: Mutant, tests: Tests) -> list[str]:
    """The tests that run the lines, the shortest first, for as long as patience lasts; where none
    is seen to, those that run the function, and of a constant those of its file."""
    path = mutant.path.removeprefix("leaf/")
    name = f"{path}:{mutant.function}"
    lines = set(range(mutant.line, mutant.line + mutant.before.count("\n") + 1))
    found = [
        test
        for test, seen in tests.items()
        if mutant.function and not lines.isdisjoint(seen["lines"].get(path, ()))
    ] or [
        test
        for test, seen in tests.items()
        if any(
            ran == name or ran.startswith(f"{name}." if mutant.function else name)
            for ran in seen["ran"]
        )
    ]
    names: list[str] = []
    seconds = 0.0
    for test in sorted(found, key=lambda test: float(tests[test]["seconds"])):
        seconds += float(tests[test]["seconds"])
        if names and seconds > PATIENCE:
            break
        names.append(test)
    return names


def put_in_place(mutant: Mutant, source: bytes) -> None:
    """Give the loaded function its changed code, or the module its changed constant. A module that
    is not loaded yet is read from the disk later. Raises LookupError, ValueError where that cannot
    be.
    """
    module = sys.modules.get(mutant.path.removesuffix(".py").replace("/", "."))
    if module is None:
        return
    changed = mutant.applied(source)
    if not mutant.function:
        statements = _made_again(mutant.line, ast.parse(source), ast.parse(changed))
        exec(compile(ast.Module(statements, []), mutant.path, "exec"), vars(module))  # noqa: S102 - our own code
        return
    owner: Any = module
    names = mutant.function.split(".")
    for depth, name in enumerate(names, 1):
        owner = _plain(vars(owner)[name])
        if isinstance(owner, FunctionType):
            code = _code(
                compile(changed, owner.__code__.co_filename, "exec", dont_inherit=True),
                names[:depth],
            )
            owner.__code__ = code
            return
    raise LookupError(mutant.function)


def _made_again(line: int, before: ast.Module, after: ast.Module) -> list[ast.stmt]:
    """The changed statement of a module, and those that give its names a value or are made of them:
    a list of words goes into patterns further down."""

    def is_at(statement: ast.stmt) -> bool:
        return statement.lineno <= line <= (statement.end_lineno or statement.lineno)

    names = {name for statement in before.body if is_at(statement) for name in _named(statement)}
    again: list[ast.stmt] = []
    for statement in after.body:
        is_made = isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign)
        if is_at(statement) or (is_made and not names.isdisjoint(_named(statement, used=True))):
            names |= _named(statement)
            again.append(statement)
    return again


def _named(statement: ast.stmt, used: bool = False) -> set[str]:
    """Names that a statement gives a value, or all that stand in it."""
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and (used or isinstance(node.ctx, ast.Store))
    }


def _plain(found: Any) -> Any:
    """The function under what it was decorated with."""
    for inner in ("__func__", "fget", "func", "__wrapped__"):
        if not isinstance(found, FunctionType) or inner == "__wrapped__":
            found = getattr(found, inner, None) or found
    return found


def _code(code: CodeType, names: Sequence[str]) -> CodeType:
    for name in names:
        # Of several with one name the last one stands, as in a class.
        code = [
            const
            for const in code.co_consts
            if isinstance(const, CodeType) and const.co_name == name
        ][-1]
    return code


def _with_next(items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    yield from zip(items, [*items[1:], None], strict=True)


def _waited(pid: int, limit: float) -> int | None:
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None

"""Calls of functions in confined children; each answers one call, or several of one workspace, and
ends.

    call → a waiting child → link inputs into its in/ → one line of JSON in, one out → end it → move its out/ → remove its box

Children are made ready in `children`, talked to in `process`; their folders are a matter of
`boxes`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from leaf import errors, logs
from leaf.sandbox.answers import Breakdown, CallEnd, CallValue, OnProgress, Parser, RaisedError
from leaf.sandbox.boxes import is_full, move_outputs, own_space, put_input, real_paths
from leaf.sandbox.capacity import Capacity, room
from leaf.sandbox.children import Children
from leaf.sandbox.limits import (
    CallLimits,
    disk_error,
    memory_error,
    output_error,
    resource_limits,
    space_error,
)
from leaf.sandbox.process import Child
from leaf.sandbox.slots import Slots

T = TypeVar("T")
log = logging.getLogger(__name__)

PRELOAD = (
    "leaf.sandbox.absent:hide",
    "leaf.tables.child:warm_up",
    "leaf.tables.profiling",
    "leaf.readers.tabular.sql:warm",
    "leaf.readers.worker:warm_up",
    "pypdfium2",
    "python_calamine",
    "orjson",
    "lxml.etree",
)
"""What a waiting child has done already: half a second of imports and first uses for about 65 MB of
memory a child."""
USUAL = CallLimits()
PROGRESS = "leaf.readers.progress:tell_to"
"""What a child gives the way by which a function says how far it is."""


@dataclass(frozen=True)
class BatchItem:
    """One of several calls of a function in the same child."""

    arguments: Mapping[str, Any]
    """As for a single call, where `in:file` stands for `path` and `out:` for a folder of this item
    alone."""
    path: Path | Callable[[], Path]
    """Where its bytes are, or what fetches them once a child is ready for them."""
    out: Path | None = None
    """Where what the function writes is moved to."""
    limits: CallLimits | None = None
    """Its own, where they are not those of all items."""
    size: int | None = None
    """Its bytes, where it is yet to be fetched."""

    def source(self) -> Path:
        """Raises what fetching it raises."""
        return self.path if isinstance(self.path, Path) else self.path()


class Pool:
    """Calls functions in confined children. Any number of threads may call at once; `running` of
    them are served at a time."""

    def __init__(
        self,
        home: Path,
        *,
        size: int = 2,
        running: int | None = None,
        preload: Sequence[str] = PRELOAD,
        paths: Sequence[Path] = (),
        confined: bool | None = None,
        space: Capacity | None = None,
    ) -> None:
        """Nothing is started before the first call or `warm`; `preload`, `paths` and `confined` are
        those of `Children`.

        `space` is the memory that calls share; as many run at once, and each may hold as much, as
        it allows.
        """
        self._children = Children(home, size=size, preload=preload, paths=paths, confined=confined)
        self._room = space or room()
        running = running or self._room.running
        self._slots = Slots(running)
        self.together = max(1, min(_cores(), running - 1))
        """Children that may work on batches at one time: as many as there are cores, and one fewer
        than may run."""
        self.batches = Slots(self.together)

    def call(
        self,
        function: str,
        arguments: Mapping[str, Any],
        *,
        returns: type[T],
        inputs: Mapping[str, Path] | None = None,
        limits: CallLimits = USUAL,
        out: Path | None = None,
        takes: str = "",
        stop: threading.Event | None = None,
        on_progress: OnProgress | None = None,
    ) -> T:
        """Run `module:name` in a child and return its value, which must be of the type `returns`;
        `on_progress` is told (done, total) where the function says it.

        Each input is put into the child's `in/` under its key, a plain file name; an argument
        `in:KEY`, at any depth, becomes its path, and `out:` becomes the child's output folder,
        whose files are moved to `out` after success if `takes`, a regular expression, knows their
        names. LeafErrors of the function arrive as the same class. Raises SandboxError (or its
        kinds for time and memory) where no answer came or one of another type, RunError after
        `stop`.
        """
        for key in inputs or {}:
            if not re.fullmatch(r"[\w.-]{1,100}", key) or key.startswith("."):
                raise ValueError(f"input key {key!r} is not a plain file name")
        limits, arguments = self._within(limits, arguments)

        def prepare(child: Child) -> Mapping[str, Any]:
            real = _prepared(child, inputs or {}, arguments)
            return _request(function, [real], resource_limits(limits))

        with self._asked(prepare, stop) as child:
            parser = Parser(returns, limits, on_progress)
            answer: CallEnd[T] = child.answer(parser, limits, stop)
            child.stop()
            child.check_disk(limits)
            value = _value(answer, limits, child.box)
            if out is not None:
                move_outputs(child.box / "out", out, takes)
            return value

    def call_several(
        self,
        function: str,
        items: Sequence[BatchItem],
        *,
        returns: type[T],
        limits: CallLimits = USUAL,
        takes: str = "",
        stop: threading.Event | None = None,
        on_answer: Callable[[], None] = lambda: None,
    ) -> list[T | errors.LeafError]:
        """Call `module:name` for one item after another in the same child, which sees the files of
        them all.

        Their answers in order, a LeafError where the function raised one; fewer than there are
        items where the child failed at the next one: by its fault or by what an item before it had
        done to the child. `limits` are an item's. The items must be of one workspace. Raises
        StoreError, RunError after `stop`, SandboxError where no child can be started.
        """
        limits = replace(limits, memory_mb=min(self._room.child_mb, limits.memory_mb))

        def prepare(child: Child) -> Mapping[str, Any]:
            real = [_prepared_item(child, str(number), item) for number, item in enumerate(items)]
            cpu = {"RLIMIT_CPU": len(items) * resource_limits(limits)["RLIMIT_CPU"]}
            return _request(function, real, {**resource_limits(limits), **cpu})

        parser = Parser(returns, limits)
        with self._asked(prepare, stop) as child:
            answers: list[T | errors.LeafError] = []
            for _ in items:
                try:
                    answer: CallEnd[T] = child.answer(parser, limits, stop)
                    child.check_disk(limits)
                except errors.SandboxError:
                    break
                if isinstance(answer, CallValue):
                    answers.append(answer.value)
                elif isinstance(answer, RaisedError):
                    answers.append(answer.error)
                else:
                    break
                on_answer()
            child.stop()
            for number, (item, value) in enumerate(zip(items, answers, strict=False)):
                if item.out is None or isinstance(value, errors.LeafError):
                    continue
                try:
                    move_outputs(child.box / "out" / str(number), item.out, takes)
                except errors.SandboxError:
                    return answers[:number]
            return answers

    @contextlib.contextmanager
    def _asked(
        self, prepare: Callable[[Child], Mapping[str, Any]], stop: threading.Event | None
    ) -> Iterator[Child]:
        """A child that was handed the request that `prepare` makes for it; it ends with the
        context."""
        with self._slots.taken(stop):
            child = self._children.take(stop)
            try:
                while not child.send(prepare(child)):  # it died while it waited
                    self._children.give_back(child)
                    child = self._children.take(stop)
                yield child
            except OSError as e:
                raise disk_error(e) from e
            finally:
                self._children.give_back(child)

    def _within(
        self, limits: CallLimits, arguments: Mapping[str, Any]
    ) -> tuple[CallLimits, Mapping[str, Any]]:
        """No call may hold more than there is room for. A function that keeps to a limit by itself
        is told the lower one."""
        most = self._room.child_mb
        told = (
            {"memory_mb": min(most, arguments["memory_mb"])}
            if isinstance(arguments.get("memory_mb"), int)
            else {}
        )
        return replace(limits, memory_mb=min(most, limits.memory_mb)), {**arguments, **told}

    def warm(self) -> None:
        """Begin to prepare the waiting children, without waiting for them."""
        self._children.warm()

    def close(self) -> None:
        """End every child, also those that work for someone, and remove the boxes."""
        self._children.close()


def _value(answer: CallEnd[T], limits: CallLimits, box: Path) -> T:
    """The value of the call, or the error that it stands for."""
    if isinstance(answer, CallValue):
        value: T = answer.value
        return value
    if isinstance(answer, RaisedError):
        raise answer.error
    breakdown = answer if isinstance(answer, Breakdown) else Breakdown()
    if breakdown.memory:
        raise memory_error(limits)
    if breakdown.disk_full and (most := own_space(box.parents[2])):
        raise space_error(most)
    if breakdown.disk_full and is_full(box):
        raise errors.StoreError(
            "There is no space left on the disk.", "Free some space and try again."
        )
    if breakdown.disk_full:  # by its own words alone: the disk has room now
        raise errors.SandboxSpaceError(
            "There was no space left on the disk for a moment.", "Try again."
        )
    if breakdown.too_big:
        raise output_error(limits)
    # Its name would tell a person nothing, and whether Leaf or the file is to blame nobody knows
    # here.
    told = logs.plain(breakdown.trace) or "no answer"
    log.warning("sandbox child failed: %s", told, extra={"words": breakdown.details[-8_000:]})
    hint = "Nothing else was affected; Leaf's log says more."
    raise errors.SandboxError(
        "The work failed in its own process, in a way that Leaf did not expect.", hint
    ) from RuntimeError(breakdown.details[-8_000:])


def _prepared(child: Child, inputs: Mapping[str, Path], arguments: Mapping[str, Any]) -> Any:
    """Put inputs into the child's box; the arguments with real paths."""
    for key, path in inputs.items():
        put_input(path, child.box / "in" / key, link=child.confined)
    return real_paths(arguments, child.box / "in", child.box / "out")


def _prepared_item(child: Child, name: str, item: BatchItem) -> Any:
    """The same for one of several, in folders of its own."""
    into, out = child.box / "in" / name, child.box / "out" / name
    into.mkdir(mode=0o700)
    out.mkdir(mode=0o700)
    put_input(item.source(), into / "file", link=child.confined)
    return real_paths(item.arguments, into, out)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _request(function: str, arguments: list[Any], limits: Mapping[str, int]) -> dict[str, Any]:
    return {"function": function, "arguments": arguments, "limits": limits, "progress": PROGRESS}

"""The steps of an answer: functions whose plain-JSON value a durable executor keeps, and what such a value says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any, Protocol

from leaf.agent.events import Chunk, chunk
from leaf.agent.models.base import Usage

Json = dict[str, Any]


class StepRunner(Protocol):
    """Runs steps. A durable one gives back the kept value of a step that has finished before, and shows it again (`shown`)."""

    def __call__(self, name: str, /, function: Callable[[], Json]) -> Json: ...

    def parallel(self, jobs: Sequence[tuple[str, Callable[[], Json]]]) -> list[Json]:
        """The values of independent steps, in the order of the jobs."""


class InlineSteps:
    """Steps that nothing keeps: each runs at once, independent ones in threads."""

    def __init__(self, workers: int = 8) -> None:
        self._workers = workers

    def __call__(self, _name: str, /, function: Callable[[], Json]) -> Json:
        return function()

    def parallel(self, jobs: Sequence[tuple[str, Callable[[], Json]]]) -> list[Json]:
        if len(jobs) < 2:
            return [function() for _, function in jobs]
        with ThreadPoolExecutor(min(self._workers, len(jobs)), thread_name_prefix="tool") as pool:
            return list(pool.map(lambda job: job[1](), jobs))


def shown(value: Json) -> list[Chunk]:
    """The chunks of a step's value: what a viewer is shown again when the step is not run again."""
    if "output" not in value:
        return list(value.get("chunks", ()))
    if value["output"] is not None:
        kept = [chunk(f"data-{s['name']}", id=s["id"], data=s["data"]) for s in value["output"].get("shows", ())]
        return [chunk("tool-output-available", toolCallId=value["id"], output=value["output"]), *kept]
    if value["stopped"]:
        return []
    return [chunk("tool-output-error", toolCallId=value["id"], errorText=value["error"])]


def reused(value: Json) -> Json:
    """A step's value taken over from another answer, which has paid for it."""
    paid = {"usage": asdict(Usage()), "money": 0.0} if "usage" in value else {}
    return {**value, **paid, "seconds": 0.0}


def good(value: Any) -> bool:
    """Whether a step's value is one to go on from: neither a turn that failed nor anything that was stopped."""
    return isinstance(value, dict) and not value.get("stopped") and value.get("turn", value) is not None

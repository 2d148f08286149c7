"""How much this process does, for Prometheus: counted from the events of the log, so that there is no
content in it and nothing is counted that is not told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from leaf import __version__, logs

SECONDS = (0.1, 0.3, 1, 3, 10, 30, 100, 300)
"""Bounds of the histograms."""
GAUGES = {
    "answers_running": "Answers that this process writes.",
    "answers_waiting": "Questions that wait for theirs, those that wait at another Leaf as well included.",
    "answers_for_room": "Of them, those asked here that wait for nothing but LEAF_RUNS.",
    "viewers_connected": "Connections on which answers are pushed.",
    "viewers_polling": "Browser tabs that fell back to asking, since the start.",
    "viewers_refused": "Connections that were refused, since the start.",
    "viewers_elsewhere": "Of those refused: meant for another Leaf, since the start.",
    "tabs_open": "Browser tabs.",
}


class Metrics:
    """Counts from the moment at which it is made."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        Gauge("leaf_info", "The version.", ["version"], registry=registry).labels(__version__).set(
            1
        )
        self._answers = Counter("leaf_answers", "Finished answers.", ["status"], registry=registry)
        self._answer_seconds = Histogram(
            "leaf_answer_seconds", "From question to answer.", buckets=SECONDS, registry=registry
        )
        self._steps = Counter(
            "leaf_steps", "Steps of answers.", ["kind", "outcome"], registry=registry
        )
        self._step_seconds = Histogram(
            "leaf_step_seconds", "One step.", ["kind"], buckets=SECONDS, registry=registry
        )
        self._tokens = Counter("leaf_tokens", "Tokens of models.", ["direction"], registry=registry)
        self._compactions = Counter(
            "leaf_compactions", "Times that older results were compacted.", registry=registry
        )
        self._gauges = {
            name: Gauge(f"leaf_{name}", told, registry=registry) for name, told in GAUGES.items()
        }
        self.end = logs.watch(self._count)
        """Count no more."""

    def text(self, now: Mapping[str, float]) -> bytes:
        """All of it in Prometheus' text format; `now` has the values of `GAUGES`."""
        for name, gauge in self._gauges.items():
            gauge.set(now.get(name, 0))
        return generate_latest(self._registry)

    def _count(self, name: str, fields: Mapping[str, Any]) -> None:
        if name == "run-ends":
            self._answers.labels(fields["status"]).inc()
            self._answer_seconds.observe(fields["seconds"])
            for direction in ("input", "output"):
                self._tokens.labels(direction).inc(fields[direction])
        elif name == "step":
            kind = str(fields["step"]).partition("-")[0]
            self._steps.labels(kind, fields["outcome"]).inc()
            self._step_seconds.labels(kind).observe(fields["seconds"])
        elif name == "compaction":
            self._compactions.inc()

"""Leaf, Chainlit, Gradio and plain Streamlit, one after another, over the same model server: the
same measurements of each.

    python -m bench.peers [--only leaf,chainlit] [--viewers 40,80] [--settle 75] [--seconds 30] [--cache FOLDER]

docs/bench.md says what is measured and which limits are not at their defaults. Exit code 1 if a
target is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench._figures import Figure, Report, changed
from bench.page import _p95, model_server
from bench.peers.apps import App, apps
from bench.peers.environments import CACHE
from bench.peers.viewers import browser, seconds_of

WORDS_A_SECOND = 25
VIEWERS = [40, 80]
ONE, ONE_P95 = 20.0, 40.0
"""Targets: milliseconds from the model server to the screen, one viewer: median, 95th
percentile."""
MANY = {40: 60.0, 80: 100.0, 200: 250.0}
"""Viewers -> milliseconds, 95th percentile."""
IDLE = 0.005
"""Of a core."""
STARTS = 1.2
"""Times the start of Chainlit."""


@dataclass
class Found:
    """What was measured of one app."""

    start: float = 0.0
    idle: float = 0.0
    one: list[float] = field(default_factory=list)
    many: dict[int, list[float]] = field(default_factory=dict)
    """Viewers -> how late each word was."""
    cores: dict[int, float] = field(default_factory=dict)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        type=lambda names: names.casefold().split(","),
        default=[],
        help="leaf, chainlit, gradio, streamlit",
    )
    parser.add_argument(
        "--viewers", type=lambda counts: [int(n) for n in counts.split(",")], default=VIEWERS
    )
    parser.add_argument(
        "--settle", type=float, default=75.0, help="seconds before idleness is measured"
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="for which it is measured")
    parser.add_argument(
        "--cache", type=Path, default=CACHE, help="where the environments of the others lie"
    )
    given = parser.parse_args()
    measured = ("leaf/ui", "leaf/runs", "leaf/agent/models")
    report = Report("peers", measured, changed(parser, given, ("cache",)))
    found: dict[str, Found] = {}
    with model_server("bench._stamps", WORDS_A_SECOND) as model_url:
        for app in apps(given.only, given.cache, max(given.viewers)):
            found[app.name] = measure(app, model_url, given.viewers, given.settle, given.seconds)
            print(f"{app.name}: {_line(found[app.name])}", flush=True)
    return report.end(figures(found, given.viewers)) if "Leaf" in found else 0


def measure(
    app: App, model_url: str, viewers: Sequence[int], settle: float, seconds: float
) -> Found:
    """Each number of viewers meets an app that has just been started: what one has left undone does
    not weigh on the next."""
    found = Found()
    with app.serve(model_url):
        pass  # so that all is compiled and in the page cache
    with ExitStack() as stack:
        with browser() as chromium:
            page = chromium.new_page()
            began = time.perf_counter()
            url, process = stack.enter_context(app.serve(model_url))
            page.goto(url, wait_until="commit")
            app.ready(page)
            found.start = time.perf_counter() - began
            time.sleep(settle)
            before = seconds_of(process)
            time.sleep(seconds)
            found.idle = (seconds_of(process) - before) / seconds
        found.one = app.one(url)
    for count in viewers:
        with app.serve(model_url) as (url, process):
            found.many[count], found.cores[count] = app.many(url, count, process)
    return found


def _line(found: Found) -> str:
    late = "; ".join(
        f"{n} viewers p95 {_p95(w) * 1000:,.0f} ms over {len(w):,} words, "
        f"{found.cores[n]:.0%} of a core"
        for n, w in found.many.items()
    )
    one = (
        f"one viewer {statistics.median(found.one) * 1000:.0f} ms, p95 "
        f"{_p95(found.one) * 1000:.0f} ms"
    )
    return f"start {found.start:.2f} s; idle {found.idle:.2%}; {one}; {late}"


def figures(found: dict[str, Found], viewers: Sequence[int]) -> list[Figure]:
    """Leaf's, with those of the others beside each."""
    leaf = found["Leaf"]
    others = {name: other for name, other in found.items() if name != "Leaf"}
    chainlit = next((other for name, other in others.items() if name.startswith("Chainlit")), None)

    def line(subject: str, what: str, value: Any, target: float | None, shown: str) -> Figure:
        beside = {name: value(other) for name, other in others.items()}
        return Figure(subject, what, value(leaf), target, False, shown, beside)

    made = [
        line(
            "one viewer",
            "word to screen, median",
            lambda f: statistics.median(f.one) * 1000,
            ONE,
            "{:.0f} ms",
        ),
        line(
            "one viewer",
            "word to screen, 95th percentile",
            lambda f: _p95(f.one) * 1000,
            ONE_P95,
            "{:.0f} ms",
        ),
    ]
    for n in viewers:
        made += [
            line(
                f"{n} viewers",
                "word to viewer, median",
                lambda f, n=n: statistics.median(f.many[n]) * 1000,
                None,
                "{:,.0f} ms",
            ),
            line(
                f"{n} viewers",
                "word to viewer, 95th percentile",
                lambda f, n=n: _p95(f.many[n]) * 1000,
                MANY.get(n),
                "{:,.0f} ms",
            ),
            line(f"{n} viewers", "of a core", lambda f, n=n: f.cores[n], 1.0, "{:.0%}"),
        ]
    start = STARTS * chainlit.start if chainlit else None
    return [
        *made,
        line("a page open and nothing asked", "of a core", lambda f: f.idle, IDLE, "{:.2%}"),
        line(
            "start",
            "to a page in which a question can be typed",
            lambda f: f.start,
            start,
            "{:.1f} s",
        ),
    ]


if __name__ == "__main__":
    sys.exit(main())

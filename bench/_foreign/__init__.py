"""Sections of `bench.foreign`, one a file: each measures what Leaf does with files that nobody here chose.

A section is a module with `measure(corpora: Path, show: bool) -> list[Figure]`; `bench/foreign.py` runs them and prints a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

CORPORA = Path(__file__).parents[3] / "shared" / "data" / "foreign"
"""Where the corpora lie beside the checkout; a section whose corpus is absent says so and is skipped."""


@dataclass(frozen=True)
class Figure:
    """One measured figure."""

    corpus: str
    """`Strudel SAUS`, `DABench tables`."""
    what: str
    """What is counted, of how many: `rows left out that are data, of 24,812`."""
    value: float
    target: float | None = None
    """None where a figure only informs."""
    at_least: bool = True
    """Whether `target` is the least (else the most) that counts as met."""

    @property
    def met(self) -> bool:
        """Whether the target is reached; always, where there is none."""
        if self.target is None:
            return True
        return self.value >= self.target if self.at_least else self.value <= self.target

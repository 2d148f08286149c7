"""Sections of `bench.foreign`, one a file: each measures what Leaf does with files that nobody here
chose.

A section is a module with `measure(corpora: Path, show: bool) -> list[Figure]`; `bench/foreign.py`
runs them and prints a table.
"""

from __future__ import annotations

from pathlib import Path

from bench._figures import Figure as Figure

CORPORA = Path(__file__).parents[3] / "shared" / "data" / "foreign"
"""Where the corpora lie beside the checkout; a section whose corpus is absent says so and is
skipped."""

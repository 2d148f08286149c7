"""Leaf's side of the comparison, by what `bench.page` has: its app, its page and its viewers."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import page


@contextmanager
def serve(model_url: str) -> Iterator[tuple[str, int]]:
    """The app with an empty data folder: its address and its process."""
    with tempfile.TemporaryDirectory() as home, page._app(Path(home), model_url) as served:
        yield served


def ready(shown: Any) -> None:
    """Waits until a question can be typed."""
    shown.get_by_role("heading", name="What do you want to know?").wait_for()


def one(url: str) -> list[float]:
    """How late each word stood in the page, in seconds."""
    return page._one_viewer(url)


def many(url: str, count: int, process: int) -> tuple[list[float], float]:
    """How late each word reached each of `count` viewers, and what share of a core the app took
    meanwhile."""
    return asyncio.run(page._many_viewers(url, count, process))

"""JSON that a model wrote."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

DEPTH = 100
"""How deep it may go. A model that repeats a bracket goes deeper than what handles the value later can
follow."""


def read(text: str | bytes) -> Any:
    """Its value. Raises ValueError for what is no JSON, or goes deeper than `DEPTH`."""
    try:
        value = json.loads(text)
    except RecursionError as e:
        raise ValueError(_TOO_DEEP) from e
    level = [value]
    for _ in range(DEPTH):
        level = list(chain.from_iterable(map(_inner, level)))
        if not level:
            return value
    raise ValueError(_TOO_DEEP)


def _inner(value: Any) -> list[Any]:
    values = value.values() if isinstance(value, dict) else value
    return list(values) if isinstance(value, dict | list) else []


_TOO_DEEP = f"it goes deeper than {DEPTH} brackets"

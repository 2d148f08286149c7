"""JSON-stat, in which statistics offices answer (Eurostat, Norway, Ireland, Catalonia): a cube whose
values stand in one list, in the order of its dimensions. Source: https://json-stat.org/format/."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import Any

_MOST = 5_000_000
"""Combinations of a cube that is made a table of."""


def cube_records(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A record for each value of a dataset: the codes of its dimensions, their labels where these say
    more, the value, and its status where there is one. Empty for anything else."""
    dataset = value.get("dataset")
    cube = dataset if isinstance(dataset, dict) else value
    dimensions, values = cube.get("dimension"), cube.get("value")
    if not isinstance(dimensions, dict) or not isinstance(values, list | dict):
        return []
    names, sizes = (cube.get(key, dimensions.get(key)) for key in ("id", "size"))
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        return []
    members = [_members(dimensions.get(name)) for name in names]
    if [len(some) for some in members] != sizes or not 0 < prod(sizes) <= _MOST:
        return []
    if isinstance(values, list) and len(values) != prod(sizes):
        return []
    status = cube.get("status")
    labelled = [any(label not in ("", code) for code, label in some.items()) for some in members]
    records = []
    for at, codes in enumerate(product(*members)):
        number, flag = _at(values, at), status if isinstance(status, str) else _at(status, at)
        if isinstance(values, dict) and number is None and flag is None:
            continue
        record: dict[str, Any] = {}
        for name, some, code, has_labels in zip(names, members, codes, labelled, strict=True):
            record[name] = code
            if has_labels:
                record[f"{name} label"] = some[code]
        record["value"] = number
        if status:
            record["status"] = flag
        records.append(record)
    return records


def _members(dimension: object) -> dict[str, str]:
    """Code -> label, in the order of the values; empty where it is no dimension."""
    category = dimension.get("category") if isinstance(dimension, dict) else None
    if not isinstance(category, dict):
        return {}
    index, labels = category.get("index"), category.get("label")
    labels = labels if isinstance(labels, dict) else {}
    codes = index if isinstance(index, list) else list(labels)
    if isinstance(index, dict):
        if not all(isinstance(position, int) for position in index.values()):
            return {}
        codes = sorted(index, key=index.__getitem__)
    if not all(isinstance(code, str) for code in codes):
        return {}
    return {code: str(labels.get(code, "")) for code in codes}


def _at(values: object, position: int) -> Any:
    """Of a list, or of an object whose names are positions."""
    if isinstance(values, dict):
        return values.get(str(position))
    return values[position] if isinstance(values, list) and position < len(values) else None

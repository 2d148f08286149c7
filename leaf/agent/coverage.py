"""How much of each file an answer saw, added up over its tool calls so that nothing counts twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Json = dict[str, Any]
_Key = tuple[str, str, str]


def merge_coverage(outputs: Iterable[Json]) -> list[Json]:
    """One entry a file (with its sheet, where it has several) and unit, in the order of first use:
    {"file_id", "name", "unit", "seen", "total", "ranges", "excluded"}.

    Ranges are united. A scan without ranges may overlap any of them, so it counts by itself and the larger figure stands.
    """
    merged: dict[_Key, Json] = {}
    scanned: dict[_Key, int] = {}
    for output in outputs:
        for cover in output["coverage"]:
            key = (cover["file_id"], cover["name"], cover["unit"])
            entry = merged.setdefault(key, {**cover, "seen": 0, "ranges": []})
            entry["excluded"] = entry.get("excluded") or cover.get("excluded", "")
            entry["total"] = max(entry["total"], cover["total"])
            entry["ranges"] = unite([*entry["ranges"], *cover["ranges"]])
            if not cover["ranges"]:
                scanned[key] = max(scanned.get(key, 0), cover["seen"])
    for key, entry in merged.items():
        united = sum(last - first + 1 for first, last in entry["ranges"])
        entry["seen"] = min(max(united, scanned.get(key, 0)), entry["total"])
    return list(merged.values())


def in_words(cover: Mapping[str, Any]) -> str:
    """`4 of 4 rows of sales.csv, 2 total rows excluded`."""
    left = f", {cover['excluded']}" if cover.get("excluded") else ""
    return f"{cover['seen']:,} of {cover['total']:,} {cover['unit']} of {cover['name']}{left}"


def unite(ranges: Iterable[Iterable[int]]) -> list[list[int]]:
    """Inclusive ranges in order, those that touch or overlap joined."""
    united: list[list[int]] = []
    for first, last in sorted(tuple(r) for r in ranges):
        if united and first <= united[-1][1] + 1:
            united[-1][1] = max(united[-1][1], last)
        else:
            united.append([first, last])
    return united

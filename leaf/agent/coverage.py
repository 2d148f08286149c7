"""How much of each file an answer rests on, added up over its steps so that nothing counts twice, and said in words.

The part `data-coverage` is made once, by `basis.of_answer`; page, command line and exports draw what `covered_of` gives:
- files: entries of `merge_coverage`, what the answer rests on;
- looked: the same of what was read while nobody can tell whether the answer rests on it;
- described: names of tables of which only the columns were looked at;
- untouched: names of files and tables that were there and were not opened; more: how many there are beyond those.
Answers of earlier versions hold a list, which is `files`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Json = dict[str, Any]
_Key = tuple[str, str, str, str]

NAMED = 3
"""Names of files that one line holds."""


def merge_coverage(outputs: Iterable[Json]) -> list[Json]:
    """One entry a table, or a file, and unit, in the order of first use: `tools.base.Coverage` as JSON.

    Ranges are united. A scan without ranges may overlap any of them, so it counts by itself and the larger figure stands.
    """
    merged: dict[_Key, Json] = {}
    scanned: dict[_Key, Json] = {}
    for output in outputs:
        for cover in output["coverage"]:
            key = key_of(cover)
            entry = merged.setdefault(key, {**cover, "seen": 0, "ranges": []})
            entry["total"] = max(entry["total"], cover["total"])
            entry["ranges"] = unite([*entry["ranges"], *cover["ranges"]])
            for field in ("doubtful", "notes"):
                known = list(entry.get(field) or ())
                entry[field] = known + [said for said in cover.get(field) or () if said not in known]
            if not cover["ranges"] and cover["seen"] >= scanned.get(key, cover)["seen"]:
                scanned[key] = cover
    for key, entry in merged.items():
        scan = scanned.get(key, {})
        united = sum(last - first + 1 for first, last in entry["ranges"])
        entry["seen"] = min(max(united, scan.get("seen", 0)), entry["total"])
        entry["excluded"] = scan.get("excluded", "")
    return list(merged.values())


def key_of(cover: Mapping[str, Any]) -> _Key:
    """What two entries are the same by."""
    return str(cover["file_id"]), str(cover["name"]), str(cover["unit"]), str(cover.get("table") or "")


def covered_of(parts: Iterable[Mapping[str, Any]]) -> Json:
    """The coverage that is kept with an answer, in the form of today; empty where none is."""
    kept = next((part["data"] for part in parts if part["type"] == "data-coverage"), None)
    return as_today(kept)


def as_today(kept: Any) -> Json:
    """The data of a part, of this or an earlier version."""
    if isinstance(kept, Mapping):
        return dict(kept)
    return {"files": list(kept)} if kept else {}


def amount(cover: Mapping[str, Any], name: str = "") -> str:
    """`6 of 8 rows of sales.csv; 2 left out as totals`, `3 passages of report.pdf`."""
    of = f" of {name}" if name else ""
    if cover["unit"] == "passages":
        return f"{cover['seen']:,} passage{'s' if cover['seen'] != 1 else ''}{of}"
    left = f"; {cover['excluded']}" if cover.get("excluded") else ""
    return f"{cover['seen']:,} of {cover['total']:,} {cover['unit']}{of}{left}"


def in_words(cover: Mapping[str, Any]) -> str:
    """The same with its name."""
    return amount(cover, str(cover["name"]))


def line(covered: Mapping[str, Any], *, named: bool = False) -> str:
    """`6 of 8 rows; 2 left out as totals · 12 of 340 pages · not touched: costs.csv`; empty for an answer that touched nothing.

    Files are named where several have the same unit, or always.
    """
    files: Sequence[Json] = covered.get("files") or ()
    units = [item["unit"] for item in files]
    said = [amount(item, str(item["name"]) if named or units.count(item["unit"]) > 1 else "") for item in files]
    said += [f"looked at {in_words(item)}" for item in covered.get("looked") or ()]
    said += _listed("only the columns of ", covered.get("described") or ())
    said += _listed("not touched: ", covered.get("untouched") or (), int(covered.get("more") or 0))
    text = " · ".join(said)
    return text[:1].upper() + text[1:]


def sentence(covered: Mapping[str, Any]) -> str:
    """The line for a text: `Read: 6 of 8 rows of sales.csv; 2 left out as totals`."""
    said = line(covered, named=True)
    return f"Read: {said}" if covered.get("files") and said else said


def _listed(before: str, names: Sequence[str], more: int = 0) -> list[str]:
    if not names:
        return []
    beyond = len(names) - NAMED + more if len(names) > NAMED else more
    return [before + ", ".join(names[:NAMED]) + (f" and {beyond:,} more" if beyond else "")]


def doubts(covered: Mapping[str, Any]) -> list[str]:
    """What stays doubtful of the rows that were read: `2 rows that may be totals are counted as data (S!A7:F7, A14:F14)`."""
    return _said(covered, "doubtful")


def notes(covered: Mapping[str, Any]) -> list[str]:
    """How the tables were read, as far as it changes the figures of the answer."""
    return _said(covered, "notes")


def _said(covered: Mapping[str, Any], field: str) -> list[str]:
    """Each sentence once; with the name of its table where the answer rests on several."""
    entries: list[Json] = [*(covered.get("files") or ()), *(covered.get("looked") or ())]
    several = len({entry["name"] for entry in entries}) > 1
    said = []
    for entry in entries:
        for one in entry.get(field) or ():
            cells = f" ({one['cells']})" if one.get("cells") and one["cells"] not in one["text"] else ""
            said.append((f"{entry['name']}: " if several else "") + str(one["text"]).rstrip(".") + cells)
    return list(dict.fromkeys(said))


def unite(ranges: Iterable[Iterable[int]]) -> list[list[int]]:
    """Inclusive ranges in order, those that touch or overlap joined."""
    united: list[list[int]] = []
    for first, last in sorted(tuple(r) for r in ranges):
        if united and first <= united[-1][1] + 1:
            united[-1][1] = max(united[-1][1], last)
        else:
            united.append([first, last])
    return united

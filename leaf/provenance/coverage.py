"""How much of each file an answer rests on, added up over its steps so that nothing counts twice,
and said in words: in the language of the page, in exports in English.

The part `data-coverage` is made once, by `basis.of_answer`; page, command line and exports draw
what `covered_of` gives:
- files: entries of `merge_coverage`, what the answer rests on;
- looked: the same of what was read while nobody can tell whether the answer rests on it;
- described: names of tables of which only the columns were looked at;
- opened: names of files that Python opened itself, of which nobody knows how much it read;
- untouched: names of files and tables that were there and were not opened; more: how many there are
  beyond those;
- results: those of which the model was shown a part of the rows, or of their texts, or a chart draws
  a part, and tables that a step read in part; printed: what cells of Python printed and it was not
  shown.
Answers of earlier versions hold a list, which is `files`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from leaf.language import kept, places, problems
from leaf.language.text import ENGLISH, in_digits, mark, n_, speaking, t
from leaf.readers.notes import Effect, effect
from leaf.shapes.part_values import data_in
from leaf.shapes.parts import CoverageData, Part, PrintedSeen, ResultSeen
from leaf.shapes.results import Covered, Doubt, NoteOnTable, Output

_Key = tuple[str, str, str, str]

_COUNT = re.compile(r"\d[\d,]*(?= (?:left out )?as )")
NAMED = 3
"""Names of files that one line holds."""
_OPENED = mark("how much of {names} Python read is not known")


def merge_coverage(outputs: Iterable[Output]) -> list[Covered]:
    """One entry a table, or a file, and unit, in the order of first use: `tools.base.Coverage` as
    JSON.

    Ranges are united. A scan without ranges may overlap any of them, so it counts by itself and the
    larger figure stands.
    """
    merged: dict[_Key, _Sum] = {}
    for output in outputs:
        for cover in output["coverage"]:
            merged.setdefault(key_of(cover), _Sum(cover)).add(cover)
    return [summed.whole() for summed in merged.values()]


@dataclass
class _Sum:
    """What several calls saw of one table or file."""

    first: Covered
    total: int = 0
    ranges: list[list[int]] = field(default_factory=list)
    doubtful: list[Doubt] = field(default_factory=list)
    notes: list[NoteOnTable] = field(default_factory=list)
    scan: Covered | None = None
    """The largest of those that saw all, without ranges."""

    def add(self, cover: Covered) -> None:
        self.total = max(self.total, cover["total"])
        self.ranges = unite([*self.ranges, *cover["ranges"]])
        self.doubtful += [note for note in cover.get("doubtful") or () if note not in self.doubtful]
        self.notes += [note for note in cover.get("notes") or () if note not in self.notes]
        if not cover["ranges"] and cover["seen"] >= (self.scan or cover)["seen"]:
            self.scan = cover

    def whole(self) -> Covered:
        united = sum(last - first + 1 for first, last in self.ranges)
        scanned = self.scan["seen"] if self.scan else 0
        return {
            **self.first,
            "seen": min(max(united, scanned), self.total),
            "total": self.total,
            "ranges": self.ranges,
            "doubtful": self.doubtful,
            "notes": self.notes,
            "excluded": (self.scan or self.first).get("excluded", ""),
        }


def key_of(cover: Covered) -> _Key:
    """What two entries are the same by."""
    return (
        str(cover["file_id"]),
        str(cover["name"]),
        str(cover["unit"]),
        str(cover.get("table") or ""),
    )


def covered_of(parts: Iterable[Part]) -> CoverageData:
    """The coverage that is kept with an answer, in the form of today; empty where none is."""
    coverage = next(
        (data for part in parts if (data := data_in(part, "coverage")) is not None), None
    )
    return as_today(coverage)


def as_today(kept: CoverageData | Sequence[Covered] | None) -> CoverageData:
    """The data of a part, of this or an earlier version."""
    if isinstance(kept, Sequence):
        return {"files": list(kept)} if kept else {}
    return kept or {}


def amount(cover: Covered, name: str = "") -> str:
    """`6 of 8 rows of sales.csv; 2 left out as totals`, `3 passages of report.pdf`."""
    text = _of(_amount(cover["unit"], cover["seen"], cover["total"]), name)
    return f"{text}; {kept.part(cover['excluded'])}" if cover.get("excluded") else text


def _amount(unit: str, seen: int, total: int) -> str:
    if unit == "passages":
        return n_("{n} passage", "{n} passages", seen)
    wordings = _pairs().get(unit)
    if wordings is None:
        return f"{in_digits(seen)} of {in_digits(total)} {unit}"
    return n_(*wordings, total, seen=in_digits(seen))


def _pairs() -> dict[str, tuple[str, str]]:
    """Unit -> how much of one and of several has been read."""
    return {
        "rows": ("{seen} of {n} row", "{seen} of {n} rows"),
        "rows of the sheet": (
            "{seen} of {n} row of the sheet",
            "{seen} of {n} rows of the sheet",
        ),
        "rows of the file": ("{seen} of {n} row of the file", "{seen} of {n} rows of the file"),
        "pages": ("{seen} of {n} page", "{seen} of {n} pages"),
        "slides": ("{seen} of {n} slide", "{seen} of {n} slides"),
        "lines": ("{seen} of {n} line", "{seen} of {n} lines"),
        "paragraphs": ("{seen} of {n} paragraph", "{seen} of {n} paragraphs"),
        "cues": ("{seen} of {n} cue", "{seen} of {n} cues"),
    }


def _of(amount: str, name: str) -> str:
    return t("{amount} of {name}", amount=amount, name=name) if name else amount


def in_words(cover: Covered) -> str:
    """The same with its name."""
    return amount(cover, str(cover["name"]))


def line(covered: CoverageData, *, named: bool = False) -> str:
    """`6 of 8 rows; 2 left out as totals · 12 of 340 pages · not touched: costs.csv`; empty for an
    answer that touched nothing.

    Files are named where several have the same unit, or always.
    """
    files = covered.get("files") or ()
    units = [item["unit"] for item in files]
    pieces = [
        amount(item, str(item["name"]) if named or units.count(item["unit"]) > 1 else "")
        for item in files
    ]
    pieces += [t("looked at {what}", what=in_words(item)) for item in covered.get("looked") or ()]
    pieces += _listed(mark("only the columns of {names}"), covered.get("described") or ())
    pieces += _listed(_OPENED, covered.get("opened") or ())
    untouched, more = covered.get("untouched") or (), int(covered.get("more") or 0)
    pieces += _listed(mark("not touched: {names}"), untouched, more)
    pieces += [*_unseen(covered), *_texts_unseen(covered)]
    return _begun(" · ".join(pieces))


def short(covered: CoverageData) -> str:
    """The same in few words, what has the same unit added up: `5,012 of 5,012 rows, 3 passages`."""
    files, described = covered.get("files") or (), covered.get("described") or ()
    sums: dict[str, list[int]] = {}
    for item in files or covered.get("looked") or ():
        summed = sums.setdefault(item["unit"], [0, 0])
        summed[0] += item["seen"]
        summed[1] += item["total"]
    text = ", ".join(_amount(unit, *summed) for unit, summed in sums.items())
    if not text:
        opened = "".join(_listed(_OPENED, covered.get("opened") or ()))
        return t("Only the columns were looked at") if described else _begun(opened)
    return text if files else t("Looked at {what}", what=text)


def missing(covered: CoverageData) -> list[str]:
    """What of the files the answer does not rest on: `2 rows left out as totals`, `328 of 340 pages
    not read`, `not read: costs.csv`."""
    files = covered.get("files") or ()
    several = len({item["name"] for item in files}) > 1
    gathered = [one for one in covered.get("results") or () if one.get("gathered")]
    gaps = [*_unseen(covered), *_texts_unseen({"results": gathered})]
    for item in files:
        name = item["name"] if several else ""
        if excluded := item.get("excluded"):
            number, _, why = excluded.partition(" ")
            unit = item["unit"].removesuffix("s") if number == "1" else item["unit"]
            gaps.append(_of(kept.part(f"{number} {unit} {why}"), name))
        unread = item["total"] - item["seen"] - left_out(item.get("excluded", ""))
        if item["unit"] != "passages" and unread > 0:
            left = _amount(item["unit"], unread, item["total"])
            gaps.append(t("{amount} not read", amount=_of(left, name)))
    untouched, more = covered.get("untouched") or (), int(covered.get("more") or 0)
    return gaps + _listed(mark("not read: {names}"), untouched, more)


def _unseen(covered: CoverageData) -> list[str]:
    """`written from the first 200 of 1,590 rows of a result`, the same words once."""
    partly = [one for one in covered.get("results") or () if _is_part(one)]
    several = len({one["name"] for one in partly}) > 1
    texts = [
        _drawn_from(one)
        if one.get("drawn")
        else _written_from(_first_rows(one, several=several), looked=one["looked"])
        for one in partly
    ]
    texts += [
        _written_from(
            t(
                "the first {seen} of {n} characters that Python printed",
                seen=in_digits(one["seen"]),
                n=in_digits(one["total"]),
            ),
            looked=one["looked"],
        )
        for one in covered.get("printed") or ()
    ]
    return list(dict.fromkeys(texts))


def _is_part(result: ResultSeen) -> bool:
    return result["seen"] < result["total"] or bool(result.get("more"))


def _first_rows(result: ResultSeen, *, several: bool) -> str:
    if result.get("more"):
        return n_(
            "{n} row of a result that has more",
            "{n} rows of a result that has more",
            result["seen"],
        )
    if result.get("apart"):
        rows = _amount("rows", result["seen"], result["total"])
        return _of(rows, result["name"] if several else "")
    seen, rows = in_digits(result["seen"]), in_digits(result["total"])
    if several:
        name = result["name"]
        return t(
            "the first {seen} of {n} rows of a result from {name}", seen=seen, n=rows, name=name
        )
    return t("the first {seen} of {n} rows of a result", seen=seen, n=rows)


def _drawn_from(result: ResultSeen) -> str:
    return t(
        "drawn from the first {seen} of {n} rows of a result",
        seen=in_digits(result["seen"]),
        n=in_digits(result["total"]),
    )


def _texts_unseen(covered: CoverageData) -> list[str]:
    cut = [one for one in covered.get("results") or () if one["cut"]]
    texts = [
        _written_from(
            n_("the beginning of {n} long text", "the beginnings of {n} long texts", one["cut"]),
            looked=one["looked"],
        )
        for one in cut
    ]
    return list(dict.fromkeys(texts))


def _written_from(what: str, *, looked: bool) -> str:
    return t("looked at {what}" if looked else "written from {what}", what=what)


def left_out(excluded: str) -> int:
    """How many rows were left out: 3 of `2 left out as totals, 1 as a title`."""
    return sum(int(count.replace(",", "")) for count in _COUNT.findall(excluded))


def lines(covered: CoverageData) -> list[str]:
    """Each file by itself: `6 of 8 rows of sales.csv; 2 left out as totals`."""
    entries = [in_words(item) for item in covered.get("files") or ()]
    entries += [t("Looked at {what}", what=in_words(item)) for item in covered.get("looked") or ()]
    entries += _listed(mark("Only the columns of {names}"), covered.get("described") or ())
    entries += map(_begun, _listed(_OPENED, covered.get("opened") or ()))
    return entries + [_begun(text) for text in _texts_unseen(covered)]


def _begun(text: str) -> str:
    """With a capital letter."""
    return text[:1].upper() + text[1:]


def sentence(covered: CoverageData) -> str:
    """The line for a text that leaves the page, in English as the rest of it: `Read: 6 of 8 rows of
    sales.csv; 2 left out as totals`."""
    with speaking(ENGLISH):
        text = line(covered, named=True)
    return f"Read: {text}" if covered.get("files") and text else text


def _listed(wording: str, names: Sequence[str], more: int = 0) -> list[str]:
    if not names:
        return []
    beyond = len(names) - NAMED + more if len(names) > NAMED else more
    text = ", ".join(names[:NAMED])
    if beyond:
        text = t("{names} and {n} more", names=text, n=in_digits(beyond))
    return [t(wording, names=text)]


def shown_alone(covered: CoverageData) -> CoverageData:
    """Without what was only looked at, where the answer shows what it rests on: for an answer of
    which each figure has its receipt, nothing about another table can change it. Texts of the same
    one stay: what an answer says of them has no receipt."""
    if not covered.get("files"):
        return covered
    return {
        **covered,
        "looked": [],
        "results": [one for one in covered.get("results") or () if _stays(one)],
        "printed": [one for one in covered.get("printed") or () if _stays(one)],
    }


def _stays(one: ResultSeen | PrintedSeen) -> bool:
    return not one["looked"] or bool(one.get("texts"))


def contradictions(covered: CoverageData) -> list[str]:
    """What the files say against themselves: `1 printed total does not add up: …`. Earlier versions
    kept it among the notes."""
    sentences = (*_said(covered, "doubtful", against=True), *_said(covered, "notes", against=True))
    return list(dict.fromkeys(sentences))


def doubts(covered: CoverageData) -> list[str]:
    """What stays doubtful of the rows that were read: `2 rows that may be totals are counted as
    data (S!A7:F7, A14:F14)`; before these, what contradicts itself."""
    return [*contradictions(covered), *_said(covered, "doubtful")]


def notes(covered: CoverageData) -> list[str]:
    """How the tables were read, as far as it changes the figures of the answer."""
    return _said(covered, "notes")


def _said(
    covered: CoverageData, name: Literal["doubtful", "notes"], *, against: bool = False
) -> list[str]:
    """Each sentence once, those of contradictions or all others; with the name of its table where
    the answer rests on several."""
    entries = [*(covered.get("files") or ()), *(covered.get("looked") or ())]
    several = len({entry["name"] for entry in entries}) > 1
    sentences = []
    for entry in entries:
        for one in entry.get(name) or ():
            if (effect(str(one["kind"])) is Effect.CONTRADICTION) is not against:
                continue
            of = f"{entry['name']}: " if several else ""
            sentences.append(of + _with_cells(str(one["text"]), str(one.get("cells") or "")))
    return list(dict.fromkeys(sentences))


def _with_cells(text: str, cells: str) -> str:
    """A sentence that may name its cells already, with them, and without a full stop."""
    text, named = text.rstrip("."), f" ({cells})" if cells else ""
    if cells in text and not text.endswith(named):
        named = ""
    bare, where = text.removesuffix(named), f" ({places.place(cells)})" if named else ""
    if (known := kept.part(bare)) != bare:
        return known + where
    for ending in (".", ""):
        if (known := problems.said(text + ending)) != text + ending:
            known = known.rstrip(".")
            there = cells in known or places.place(cells) in known
            return known if not named or there else known + where
    return bare + named


def unite(ranges: Iterable[Iterable[int]]) -> list[list[int]]:
    """Inclusive ranges in order, those that touch or overlap joined."""
    united: list[list[int]] = []
    for first, last in sorted(tuple(r) for r in ranges):
        if united and first <= united[-1][1] + 1:
            united[-1][1] = max(united[-1][1], last)
        else:
            united.append([first, last])
    return united

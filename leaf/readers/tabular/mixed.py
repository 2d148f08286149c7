"""Texts among the numbers of a column, as in a sheet into which somebody pasted `1.204` or `62,2`: read as
numbers where all of them are some and nothing speaks for a second reading."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from leaf.readers.base import Note
from leaf.readers.tabular.cells import places
from leaf.readers.tabular.codes import SAMPLE
from leaf.readers.tabular.column_notes import comma_note, taken_off, triangles_note
from leaf.readers.tabular.parse_plan import ParsePlan
from leaf.readers.tabular.plans import CURRENCY, GROUPED, proof_of, propose
from leaf.readers.tabular.units import are_money, are_one, numeral_of, said
from leaf.readers.tabular.wide import narrowed, triangle_in

if TYPE_CHECKING:
    import duckdb

Numbers = dict[str, int | float]
"""Text -> the number that it is."""

_FEWEST = 5
"""Numbers of a column that tell how large those are that its texts mean."""
_WITHIN = 10
"""How many times larger than all of them, or smaller, it may be."""
_ENOUGH = 2
"""What other columns have to prove of the decimal mark: see `proof_of`."""
_WITHOUT_CENTS = frozenset(["¥", "円", "圓", "JPY", "₩", "원", "KRW"])
"""Currencies whose amounts have no fractions: a comma in them is one of thousands."""
_MARK = re.compile(r"[.,]")


@dataclass
class TextsAmong:
    """Reads the texts among numbers, for all columns of a table."""

    connection: duckdb.DuckDBPyConnection
    texts: Callable[[], Iterable[Sequence[str]]]
    """Samples of the columns of texts, which may show the decimal mark."""
    row_number: Callable[[int], int] = lambda n: n
    _notes: list[Note] = field(default_factory=list)
    _commas: list[str] = field(default_factory=list)

    def notes(self) -> list[Note]:
        """What is said of all columns that were read."""
        return [*self._notes, comma_note(self._commas)] if self._commas else self._notes

    def read(self, name: str, words: set[str], values: Sequence[Any]) -> Numbers | None:
        """What the texts mean, which are no words for no value: empty where they can be read in two
        ways and nothing tells which; None where one of them is no number."""
        told = sorted(words)
        plans = _plans(told)
        if not plans:
            return None
        readings: list[tuple[ParsePlan, Numbers]] = []
        for plan in {plan.mark: plan for plan in reversed(plans)}.values():
            numbers = self._parsed(plan, told)
            if numbers is None:
                return None
            if all(numbers != other for _, other in readings):
                readings.append((plan, numbers))
        if len(readings) > 1:
            likely = self._proven(readings, [v for v in values if type(v) in (int, float)])
            if likely is None:
                self._say_doubt(name, readings, values)
                return {}
            readings = [likely]
        [(plan, numbers)] = readings
        self._say(name, plan, [v for v in values if type(v) is str and v in words])
        return numbers

    def _parsed(self, plan: ParsePlan, texts: Sequence[str]) -> Numbers | None:
        rows = self.connection.execute(
            f"SELECT {plan.sql('x')} FROM (SELECT unnest(?) AS x)", [[t.strip() for t in texts]]
        ).fetchall()
        numbers = [row[0] for row in rows]
        return None if None in numbers else dict(zip(texts, numbers, strict=True))

    @cached_property
    def _shown(self) -> dict[str, int]:
        """The decimal marks that columns of texts show, and how much they prove."""
        shown: dict[str, int] = {}
        for sample in self.texts():
            if not any(map(_MARK.search, sample)):
                continue
            marks = {plan.mark for plan in _plans(sample, percent=True)}
            if len(marks) == 1:
                [mark] = marks
                bare = [numeral_of(narrowed(text.strip())) for text in sample]
                shown[mark] = shown.get(mark, 0) + min(GROUPED, proof_of(bare))
        return shown

    def _proven(
        self, readings: Sequence[tuple[ParsePlan, Numbers]], among: Sequence[float]
    ) -> tuple[ParsePlan, Numbers] | None:
        """The reading that other columns and the size of the numbers speak for; None where neither
        does, or one speaks against the other."""
        by_mark = {plan.mark: (plan, numbers) for plan, numbers in readings}
        votes = {mark for mark in by_mark if self._shown.get(mark, 0) >= _ENOUGH}
        alike = readings[0][1].items() & readings[1][1].items()
        size = [*among, *(number for _, number in alike)]
        likely = {mark for mark in by_mark if _are_of_one_size(by_mark[mark][1].values(), size)}
        if len(likely) == 1 and len(size) >= _FEWEST:
            votes |= likely
        plan, numbers = readings[0]
        if plan.currency and _WITHOUT_CENTS.issuperset(_signs(plan, numbers)):
            votes.add(".")
        return by_mark[votes.pop()] if len(votes) == 1 else None

    def _say(self, name: str, plan: ParsePlan, texts: Sequence[str]) -> None:
        if plan.currency and (signs := _signs(plan, texts)):
            self._notes.append(taken_off(name, signs, len(texts)))
        if plan.kind == "decimal" and plan.mark == ",":
            self._commas.append(name)
        triangles = Counter(sorted(filter(None, map(triangle_in, texts)), reverse=True))
        if plan.wide and triangles:
            self._notes.append(triangles_note(name, triangles))

    def _say_doubt(
        self, name: str, readings: Sequence[tuple[ParsePlan, Numbers]], values: Sequence[Any]
    ) -> None:
        (_, first), (_, second) = readings[:2]
        either = [
            (n, v)
            for n, v in enumerate(values, 1)
            if type(v) is str and first.get(v) != second.get(v)
        ]
        examples = ", ".join(f"'{v}'" for v in list(dict.fromkeys(v for _, v in either))[:3])
        text = (
            f"'{name}' stays text: in {examples} the mark may be one of thousands or of a fraction, and "
            f"nothing shows which."
        )
        at = places([self.row_number(n) for n, _ in either])
        self._notes.append(Note("numbers-ambiguous", text, len(either), at))


def _plans(texts: Sequence[str], *, percent: bool = False) -> list[ParsePlan]:
    """The ways to read all of some texts as numbers. Of several that take off signs, all have to be of
    one currency; `19 %` beside 0.19 is another number."""
    told = [text.strip() for text in texts[:SAMPLE]]
    return [
        plan
        for plan in propose(told)
        if plan.kind in ("integer", "decimal")
        and (percent or not plan.percent)
        and all(map(plan.fits, told))
        and are_money(plan.units)
        and (not plan.currency or are_one(_signs(plan, told)))
    ]


def _signs(plan: ParsePlan, texts: Iterable[str]) -> list[str]:
    """The currencies that a plan takes off."""
    if plan.units:
        return list(map(said, plan.units))
    usual = map(narrowed, texts)
    return sorted({match[0] for text in usual if (match := re.search(CURRENCY, text))})


def _are_of_one_size(numbers: Iterable[float], among: Sequence[float]) -> bool:
    """Whether numbers are about as large as those beside them, and whole where all of those are."""
    sizes = [abs(number) for number in among if number]
    if not sizes:
        return False
    least, most = min(sizes) / _WITHIN, max(sizes) * _WITHIN
    whole = all(float(number).is_integer() for number in sizes)
    return all(
        least <= abs(number) <= most and (not whole or float(number).is_integer())
        for number in numbers
        if number
    )

"""What a call gave then against what it gives now. Pure."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

from leaf.exports.bundle import kept_results
from leaf.exports.manifest import KeptResult
from leaf.shapes.results import Output

NEAR = 1e-9
"""Sums of fractions differ in their last digits from run to run, as their parts are added in
another order."""
WHOLE = 1e15
"""Below it a fraction still has digits behind the point."""
MOST = 10_000
"""Rows of a result that are looked through where a query does not say in which order they come."""
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_NAME = re.compile(r"[-+]?0\d")


def different_results(
    kept: Sequence[KeptResult], output: Output, rows: Callable[[str, int], list[list[Any]]]
) -> str:
    """The first difference in words, nothing where there is none. `rows` gives the first of a
    result that was made now."""
    again = kept_results(output)
    if len(kept) != len(again):
        return f"{len(again)} results in place of {len(kept)}"
    for was, now in zip(kept, again, strict=True):
        if different := _different(was, now, rows):
            return different
    return ""


def _different(
    was: KeptResult, now: KeptResult, rows: Callable[[str, int], list[list[Any]]]
) -> str:
    if was.columns != now.columns:
        return (
            f"the columns are {', '.join(now.columns)[:120]} in place of "
            f"{', '.join(was.columns)[:120]}"
        )
    if was.total != now.total:
        return f"{now.total:,} rows in place of {was.total:,}"
    cells = [
        (number, column, a, b)
        for number, (row, other) in enumerate(zip_longest(was.rows, now.rows, fillvalue=()), 1)
        for column, a, b in zip_longest(was.columns, row, other)
        if not same(a, b)
    ]
    if not cells:
        return ""
    whole = (
        now.rows
        if now.total <= len(now.rows)
        else rows(now.result_id, MOST)
        if now.total <= MOST
        else []
    )
    if whole and _in_any_order(was.rows, whole):
        return ""
    number, column, a, b = cells[0]
    more = f", and {len(cells) - 1:,} more cells" if len(cells) > 1 else ""
    return f"row {number}, {column}: {str(a)[:60]} was, {str(b)[:60]} is{more}"


def different_words(was: tuple[str, str], now: tuple[str, str]) -> str:
    """The first line that a cell printed otherwise."""
    for what, before, after in (("printed", was[0], now[0]), ("value", was[1], now[1])):
        for a, b in zip_longest(before.splitlines(), after.splitlines(), fillvalue=""):
            if not _same_words(a, b):
                return f"{what}: {a[:60]!r} was, {b[:60]!r} is"
    return ""


def same(a: Any, b: Any) -> bool:
    """Whether two cells are the same, fractions to 9 digits and whole numbers to the last one."""
    if (
        isinstance(a, bool)
        or isinstance(b, bool)
        or not (isinstance(a, int | float) and isinstance(b, int | float))
    ):
        return bool(a == b)
    return a == b or (
        not (_is_whole(a) and _is_whole(b))
        and (math.isclose(a, b, rel_tol=NEAR, abs_tol=1e-12) or same_of_32_bits(a, b))
    )


def same_of_32_bits(a: float, b: float) -> bool:
    """Whether one is a number of 32 bits and the other its own digits: 0.10000000149011612 is what
    0.1 becomes where it is computed with."""
    short, long = sorted((float(a), float(b)), key=lambda number: len(repr(number)))
    try:
        return bool(struct.unpack("f", struct.pack("f", short))[0] == long)
    except OverflowError:
        return False


def _is_whole(number: float) -> bool:
    """Whether a number may be one that names something, such as 12345678901; of the largest
    fractions nothing is left behind the point."""
    return isinstance(number, int) or (abs(number) < WHOLE and number == int(number))


def same_value(a: str, b: str) -> bool:
    """The same of two values as receipts write them: `1,234.5`."""
    return a == b or _same_words(a.replace(",", ""), b.replace(",", ""))


def same_trace(figure: str, was: str, now: str) -> bool:
    """Whether a figure has the same origin in both values. A month or a year may stand in several
    days of a table, any of which is its origin: `2024-02` in 2024-02-02 as in 2024-02-15.
    """
    part_of_a_date = re.fullmatch(r"\d{4}(-\d\d)?", figure) is not None
    return same_value(was, now) or (
        part_of_a_date and all(value.startswith(f"{figure}-") for value in (was, now))
    )


def _same_words(a: str, b: str) -> bool:
    """Whether two lines differ in nothing but the last digits of numbers."""
    if a == b:
        return True
    if _NUMBER.sub("#", a) != _NUMBER.sub("#", b):
        return False
    return all(
        _same_number(x, y) for x, y in zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True)
    )


def _same_number(a: str, b: str) -> bool:
    """The same of two numbers in words; one that begins with a zero is a name: `01067`."""
    return a == b or (
        not (_NAME.match(a) or _NAME.match(b)) and same(*(_number_of(text) for text in (a, b)))
    )


def _number_of(text: str) -> int | float:
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def _in_any_order(rows: Sequence[Sequence[Any]], whole: Sequence[Sequence[Any]]) -> bool:
    """Whether each of some rows has one like it, and no two the same one."""
    left: dict[tuple[str, ...], list[Sequence[Any]]] = {}
    for row in whole:
        left.setdefault(_key(row), []).append(row)
    for row in rows:
        candidates = left.get(_key(row), [])
        like = next((i for i, other in enumerate(candidates) if all(map(same, row, other))), None)
        if like is None:
            return False
        del candidates[like]
    return True


def _key(row: Sequence[Any]) -> tuple[str, ...]:
    """Equal for rows that are the same: what in them is no number. Numbers may differ in their last
    digits, or be 2 or 2.0."""
    return tuple(
        "" if isinstance(cell, int | float) and not isinstance(cell, bool) else repr(cell)
        for cell in row
    )

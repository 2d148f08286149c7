"""Numbers that are not written with the usual signs: digits of full width and a triangle for a minus
(Japan, China, Korea), digits and marks of Arabic, Persian and Hindi. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leaf.readers.tabular.sql import literal

_WIDE = "0123456789,.-+()%$"
_OTHER = "".join(chr(zero + n) for zero in (0x660, 0x6F0, 0x966) for n in range(10)) + "٬٫٪"
WIDE = "".join(chr(ord(sign) + 0xFEE0) for sign in _WIDE) + "￥￡￦△▲" + _OTHER
NARROW = _WIDE + "¥£₩--" + 3 * "0123456789" + ",.%"
_TABLE = str.maketrans(WIDE, NARROW)
_WORTH = re.compile(r"[０-９٠-٩۰-۹०-९￥]|\d\s?％|^[¥$]?[△▲][¥$]?\d", re.ASCII)
_TRIANGLE = re.compile(r"[△▲]")
_FULL = "▲"


def narrowed(text: str) -> str:
    """A text with digits and signs of the usual width, and a minus for a triangle."""
    return text if text.isascii() else text.translate(_TABLE)


def narrowed_sql(x: str) -> str:
    """SQL: the same."""
    return f"translate({x}, {literal(WIDE)}, {literal(NARROW)})"


def are_wide(values: Sequence[str]) -> bool:
    """Whether numbers among some values have to be made narrow before they are read. A full triangle
    says elsewhere that a number went up: it is a minus where most numbers have none."""
    wide = [value for value in values if not value.isascii() and _WORTH.search(value)]
    full = sum(value.startswith(_FULL) for value in wide)
    return bool(wide) and (not full or 2 * full <= len(values))


def triangle_in(value: str) -> str:
    """The triangle that stands for a minus in a value; empty where none does."""
    match = _TRIANGLE.search(value)
    return match[0] if match else ""

"""What a file for Excel takes as text. Pure."""

from __future__ import annotations

import re

CELL = 32_767
"""Characters of a cell, of which those beyond 16 bits count twice."""
SHEET = 31
"""The same of a sheet's name."""
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CODE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
"""Before a character that is written by its number: Excel reads `Order_x0020_ID` as `Order ID`."""
_NO_NAME = re.compile(r"[\[\]:*?/\\'\x00-\x1f]")


def cell_text(text: str) -> tuple[str, bool]:
    """The text as it is written so that Excel shows it as it stands, and whether it had to be cut."""
    plain = _UNWRITABLE.sub("", text)
    short = _first(plain, CELL)
    return _CODE.sub("_x005F_", short), len(short) < len(plain)


def sheet_name(title: str) -> str:
    """A name that Excel takes for a sheet; it keeps one for itself."""
    name = _first(" ".join(_NO_NAME.sub(" ", _UNWRITABLE.sub("", title)).split()), SHEET).strip()
    return f"{name}_" if name.lower() == "history" else name or "Sheet"


def _first(text: str, characters: int) -> str:
    if 2 * len(text) <= characters:
        return text
    return text.encode("utf-16-le")[: 2 * characters].decode("utf-16-le", "ignore")

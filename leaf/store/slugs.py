"""Names for SQL made of what files and sheets are called: every script keeps its letters, since
DuckDB takes them unquoted."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence

SLUG_LENGTH = 40
_LATIN = str.maketrans(
    {
        "ß": "ss",
        "æ": "ae",
        "Æ": "ae",
        "ø": "o",
        "Ø": "o",
        "œ": "oe",
        "Œ": "oe",
        "ł": "l",
        "Ł": "l",
        "đ": "d",
        "ı": "i",
    }
)
_PACKED = ("gz", "bz2", "xz")
_RESERVED_WORDS = """
    all analyse analyze and anti any array as asc asof asymmetric at authorization binary both by case cast check collate
    collation column concurrently constraint create cross default deferrable desc describe distinct do else end except false
    fetch for foreign freeze from full glob group having ilike in initially inner intersect into is isnull join lambda
    lateral leading left like limit natural not notnull null offset on only or order outer overlaps pivot pivot_longer
    pivot_wider placing positional primary qualify references returning right select semi show similar some summarize
    symmetric table tablesample then to trailing true union unique unpack unpivot using variadic verbose when where window
    with
"""
"""Words that DuckDB 2.0 does not take as the name of a table without quotes (found by trying its
keywords)."""


def fold(text: str) -> str:
    """`Größe & Preis (2024)` → `grosse_preis_2024`, `销售 2024` → `销售_2024`: letters, marks and
    digits, `_` between.

    Latin letters lose their accents, which SQL would have to repeat; all other scripts stay as they
    are.
    """
    letters: list[str] = []
    for character in unicodedata.normalize("NFC", text.translate(_LATIN)):
        for letter in _latin(character) or character.lower():
            marks = bool(letters) and letters[-1] != "_" and unicodedata.category(letter)[0] == "M"
            if letter.isalnum() or marks:
                letters.append(letter)
            elif letters and letters[-1] != "_":
                letters.append("_")
    return unicodedata.normalize("NFC", "".join(letters))[:SLUG_LENGTH].strip("_")


def _latin(character: str) -> str:
    """The ASCII letters and digits that a character is made of, in lower case; empty for one of
    another script."""
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode().lower()
    return plain if plain.isalnum() else ""


def slug(name: str, taken: Collection[str] = ()) -> str:
    """A name for SQL made from a file's name: `Q3 Übersicht.xlsx` → `q3_ubersicht`, `销售.csv` →
    `销售`. It begins with a letter.

    Where it is taken, the file's folders tell it apart, `sales_2024`, and a number where they do
    not.
    """
    *folders, last = name.split("/")
    plain = _begun(fold(_stem(last)) or "file")
    candidates = [plain]
    for folder in reversed(folders):
        more = fold(folder)
        if more:
            candidates.append(f"{candidates[-1]}_{more}"[:80].rstrip("_"))
    for candidate in candidates:
        if candidate not in taken:
            return candidate
    number = 2
    while f"{candidates[-1]}_{number}" in taken:
        number += 1
    return f"{candidates[-1]}_{number}"


def slugs(names: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """A name for each of several files that come together. Those that are called alike all carry
    their folders, none is first."""
    plain = [slug(name) for name in names]
    counts = Counter(plain)
    used = set(taken)
    file_slugs = []
    for name, one in zip(names, plain, strict=True):
        chosen = slug(name, {*used, one} if counts[one] > 1 and "/" in name else used)
        used.add(chosen)
        file_slugs.append(chosen)
    return file_slugs


def _stem(name: str) -> str:
    stem = name.rpartition(".")[0] or name
    return (
        stem.rpartition(".")[0] or stem
        if name.rpartition(".")[2].lower() in _PACKED and "." in stem
        else stem
    )


def _begun(plain: str) -> str:
    return plain if plain[0].isalpha() and plain not in _RESERVED_WORDS.split() else f"t_{plain}"

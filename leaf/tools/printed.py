"""What a cell printed, as far as the model gets it."""

from __future__ import annotations

import re

TEXT_CHARACTERS = 12_000
"""Of what was printed, and of the last expression, that goes to the model; the page shows more."""


def size_in_words(characters: int) -> str:
    """`1.2 GB`, `34,000 characters`."""
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if characters >= size:
            return f"{characters / size:.1f} {unit}"
    return f"{characters:,} characters"


def size_in_bytes(size: int) -> str:
    """`2 MB`, `1,204 bytes`."""
    return f"{size / 1024**2:,.0f} MB" if size >= 1024**2 else f"{size:,} bytes"


def fit(text: str) -> str:
    """Its beginning, if it is long."""
    text = without_encoded(text)
    return (
        text
        if len(text) <= TEXT_CHARACTERS
        else f"{text[:TEXT_CHARACTERS]}\n… cut here for you; the user sees more"
    )


def unseen(printed: str, characters: int) -> int:
    """How many of the characters that were printed the model is not sent, encoded bytes aside."""
    text = printed.rstrip()
    over = len(without_encoded(text)) - TEXT_CHARACTERS
    return characters - len(printed) + (over + len(printed) - len(text) if over > 0 else 0)


def without_encoded(text: str) -> str:
    """`text` without long runs of encoded bytes, which no model is sent."""
    text = re.sub(
        r"(?:^[A-Za-z0-9+/]{60,76}\r?\n){4,}",
        lambda m: f"[{len(m[0]):,} characters of encoded data]\n",
        text,
        flags=re.M,
    )
    return re.sub(
        r"[A-Za-z0-9+/_-]{300,}={0,2}",
        lambda m: f"[{len(m[0]):,} characters without a space]",
        text,
    )

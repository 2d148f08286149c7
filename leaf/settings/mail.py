"""E-mail addresses, as they are kept and compared."""

from __future__ import annotations

import unicodedata


def one_form(address: str) -> str:
    """In lower case and composed: what one keyboard writes as one letter and another as a letter
    with an accent behind it is one address."""
    lower = unicodedata.normalize("NFC", address.strip()).lower()
    return unicodedata.normalize("NFC", lower)


def is_plain(address: str) -> bool:
    """Whether all of it is seen, and none of it becomes another letter in that form: the Kelvin sign
    would become a k, and so its owner somebody else."""
    return address.isprintable() and not any(
        one_form(letter).isascii() for letter in address if not letter.isascii()
    )

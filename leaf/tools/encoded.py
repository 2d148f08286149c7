"""Binary data that was written out as text: how it is known. Neither a request nor a tool's input takes it."""

from __future__ import annotations

import re

_RUN = re.compile(r"[A-Za-z0-9+/_-]{400,}={0,2}")
_LINES = re.compile(r"(?:^[A-Za-z0-9+/]{60,76}\r?\n){8,}", re.MULTILINE)
_DATA_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/]{100,}")


def encoded_in(text: str) -> str:
    """The first piece of `text` that is base64; empty where there is none."""
    if found := _DATA_URL.search(text):
        return found.group()
    return next((m.group() for pattern in (_LINES, _RUN) for m in pattern.finditer(text) if _mixed(m.group())), "")


def _mixed(run: str) -> bool:
    """Whether a run has capitals, small letters and digits in quantity, as encoded bytes have; words, DNA and hex have not."""
    counts = [sum(map(test, run)) for test in (str.isupper, str.islower, str.isdigit)]
    return all(count * 20 > len(run) for count in counts)

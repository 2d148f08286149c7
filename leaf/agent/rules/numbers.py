"""Numbers as questions write them, in the ways of four languages (`1,000.5`, `1.000,5`, `1 000,5`,
`1'000`), and periods: years, quarters, months."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from leaf.agent.rules.tables import PHRASES
from leaf.language.text import ENGLISH

MINUS = "-−–"
"""Signs that stand before a number below zero, as keyboards and text programs write them."""
WRITTEN = re.compile(
    rf"(?<![\w.,{MINUS}])(?:[{MINUS}])?"
    r"(?:[1-9]\d{0,2}(?:[ \u00a0\u202f'’]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)+)(?![\w]|[.,]\d)"
)


def written(text: str, language: str) -> Iterator[tuple[int, int]]:
    """First character and end of each number that signs part: what is none in this language, as a
    list `3,4,5`, is not among them."""
    for match in WRITTEN.finditer(text):
        if (language != ENGLISH or " " not in match.group()) and meanings(match.group(), language):
            yield match.span()


def meanings(text: str, language: str) -> tuple[str, ...]:
    """What a number may be, as SQL writes it; several where its language leaves that open: `1.000`
    is a thousand in German, and in English it may be one. None for what is no number."""
    minus = "-" if text[:1] in MINUS else ""
    digits = re.sub(r"[ \u00a0\u202f'’]", "", text.lstrip(MINUS))
    return tuple(minus + one for one in _meanings(digits, language))


def _meanings(digits: str, language: str) -> tuple[str, ...]:
    if digits.isdecimal():
        return (digits,)
    if not re.fullmatch(r"\d+(?:[.,]\d+)+", digits):
        return ()
    signs = re.findall("[.,]", digits)
    last = signs[-1]
    whole, _, part = digits.rpartition(last)
    if len(set(signs)) == 2 and signs.count(last) == 1:
        thousands = _grouped(whole)
        return (_plain(f"{thousands}.{part}"),) if thousands else ()
    thousands = _grouped(digits)
    if len(signs) > 1:
        return (thousands,) if thousands else ()
    english = language == ENGLISH
    if thousands and last == ("," if english else "."):
        return (thousands,)
    if last == "," and english:  # `classes 3,4` is a list
        return ()
    fraction = _plain(f"{whole}.{part}")
    return (thousands, fraction) if thousands else (fraction,)


def _plain(number: str) -> str:
    """Without zeros at its end: where several are offered, `2.500` would say nothing."""
    return number.rstrip("0").rstrip(".")


def _grouped(digits: str) -> str:
    """A whole number whose thousands one sign parts, without it; empty for another."""
    match = re.fullmatch(r"[1-9]\d{0,2}(?:([.,])\d{3})(?:\1\d{3})*", digits)
    return re.sub("[.,]", "", digits) if match else ""


_YEAR = r"((?:1[5-9]|2[01])\d\d)"
_DAY = re.compile(
    rf"(\d\d?)(?: ?(?:st|nd|rd|th|er))?(?: (?:of|de))? ([a-z]+)(?: (?:de|del))? {_YEAR}"
    rf"|([a-z]+) (\d\d?)(?: ?(?:st|nd|rd|th))?(?: ,)? {_YEAR}"
)


def _day_of(text: str) -> str:
    """`2023-03-15`, `15 march 2023`, `march 15th, 2023` as results have it; empty for other words
    and for a day that there is not."""
    match = _DAY.fullmatch(text)
    if match:
        day, month, year = match.group(1, 2, 3) if match[1] else match.group(5, 4, 6)
        text = f"{year}-{dict(PHRASES.get((month,), ())).get('+part')}-{day:0>2}"
    try:
        return datetime.strptime(text, "%Y-%m-%d").date().isoformat()
    except ValueError:
        return ""


def period_of(keys: Sequence[str]) -> str:
    """`2023`, `march 2023`, `q2 2023`, `2023-03`, `15 march 2023` as results have them: 2023,
    2023-03, 2023-Q2, 2023-03-15; empty for other words."""
    if day := _day_of(" ".join(keys)):
        return day
    match = re.fullmatch(
        r"(?:(\w+) )?((?:1[5-9]|2[01])\d\d)(-(?:0[1-9]|1[0-2]|q[1-4])|)", " ".join(keys)
    )
    if not match or not match[1]:
        return (match[2] + match[3]).upper() if match else ""
    roles = dict(PHRASES.get((match[1],), ()))
    part = f"-{roles['+part']}" if "+part" in roles else ""
    return "" if match[3] or not (part or roles.get("g") == "year") else match[2] + part

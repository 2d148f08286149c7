"""Bytes that somebody wrote out as text: base64, data URLs, hexadecimal. They say nothing to a
reader and cost a model dearly, so they are left out where text is read, with a count in their
place.

Only what is proven by its make is left out: words, codes, DNA, minified programs and lists of
checksums stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from leaf.readers.base import Note, Passage

_RUN = re.compile(r"[A-Za-z0-9+/_-]{400,}={0,2}")
_LINES = re.compile(
    r"(?:^[A-Za-z0-9+/]{60,76}\r?\n){8,}(?:[A-Za-z0-9+/]{1,76}={0,2}$)?", re.MULTILINE
)
_DATA_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/]{100,}={0,2}")
_HEX = re.compile(r"\b(?:0x)?(?:[0-9a-f]{400,}|[0-9A-F]{400,})\b")
_BASE64_LINE = re.compile(r"[A-Za-z0-9+/]{60,76}={0,2}")
_LAST_LINE = re.compile(
    r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
)
_DUMPED_LINE = re.compile(r"[0-9A-Fa-f]{4,16}:?\s+(?:\|?[0-9A-Fa-f]{2,8}\|?\s+){4,}.*")
_LEFT_OUT = re.compile(r"… ([\d,]+) characters of (base64|hexadecimal) left out …")
LEAST = 8
"""Lines of one make that follow each other before they count as a block."""
MOST = 20_000
"""Lines that are left out as one block, so that a huge one is not read to its end at once."""


def spans(text: str) -> list[tuple[int, int, str]]:
    """Begin, end and make of each run in the text, in order and without overlaps."""
    candidates = (
        [(m.start(), m.end(), "base64") for m in _DATA_URL.finditer(text)]
        if ";base64," in text
        else []
    )
    candidates += [
        (m.start(), m.end(), "base64")
        for pattern in (_LINES, _RUN)
        for m in pattern.finditer(text)
        if is_mixed(m[0])
    ]
    candidates += [
        (m.start(), m.end(), "hexadecimal") for m in _HEX.finditer(text) if re.search(r"\d", m[0])
    ]
    runs: list[tuple[int, int, str]] = []
    for span in sorted(candidates):
        if not runs or span[0] >= runs[-1][1]:
            runs.append(span)
    return runs


def encoded_in(text: str) -> str:
    """The first piece of `text` that is base64; empty where there is none. Neither a request nor a
    tool's input takes it."""
    return next((text[begin:end] for begin, end, make in spans(text) if make == "base64"), "")


def is_mixed(run: str) -> bool:
    """Whether a run has capitals, small letters and digits in quantity, as encoded bytes have;
    words, DNA and hex have not."""
    counts = [sum(map(test, run)) for test in (str.isupper, str.islower, str.isdigit)]
    return all(count * 20 > len(run) for count in counts)


def without_binary(passages: Iterable[Passage]) -> Iterator[Passage]:
    """The passages with a count in the place of each run. A block of lines is one passage, which
    stands where it begins."""
    block: list[Passage] = []
    size, make = 0, ""
    for passage in passages:
        own_make = _make(passage, make if size else "")
        if size and (own_make != make or size >= MOST * 76):
            yield replace(block[0], text=_count(size, make))
            block, size = [], 0
        if size:
            size += len(passage.text)
            continue
        if block and own_make != make:
            yield from map(_shortened, block)
            block = []
        make = own_make
        if not own_make:
            yield _shortened(passage)
            continue
        block.append(passage)
        if len(block) == LEAST and _is_proven(block, make):
            size = sum(len(one.text) for one in block)
        elif len(block) == LEAST:
            yield _shortened(block.pop(0))
    if size:
        yield replace(block[0], text=_count(size, make))
    else:
        yield from map(_shortened, block)


def left_out(texts: Iterable[str]) -> tuple[Note, ...]:
    """What must be said beside texts in which something is left out."""
    runs = [(int(m[1].replace(",", "")), m[2]) for text in texts for m in _LEFT_OUT.finditer(text)]
    if not runs:
        return ()
    makes = " and ".join(dict.fromkeys(make for _, make in runs))
    message = (
        f"{sum(size for size, _ in runs):,} characters of {makes} left out: bytes written as text."
    )
    return (Note("binary-left-out", message, len(runs)),)


def _make(passage: Passage, before: str) -> str:
    """The make of a line that may belong to a block; empty for every other passage."""
    if passage.unit != "line":
        return ""
    text = passage.text.strip()
    if _BASE64_LINE.fullmatch(text):
        return "base64"
    if before == "base64" and _LAST_LINE.fullmatch(text) and (text.endswith("=") or is_mixed(text)):
        return "base64"
    return "hexadecimal" if _DUMPED_LINE.fullmatch(text[:200]) else ""


def _is_proven(block: list[Passage], make: str) -> bool:
    """Whether such lines are bytes: encoded ones are mixed; dumped ones are counted in equal steps
    and have letters."""
    if make == "base64":
        return is_mixed("".join(passage.text for passage in block))
    fields = [passage.text.split() for passage in block]
    at = [int(row[0].rstrip(":"), 16) for row in fields]
    steps = {b - a for a, b in pairwise(at)}
    return (
        len(steps) == 1
        and steps.pop() in (8, 16, 32, 64)
        and any(c in "abcdefABCDEF" for f in fields for c in "".join(f[1:5]))
    )


def shortened(text: str) -> str:
    """The text with a count in the place of each run."""
    while runs := spans(text):
        pieces, end = list[str](), 0
        for begin, stop, make in runs:
            pieces += [text[end:begin], _count(stop - begin, make)]
            end = stop
        text = "".join([*pieces, text[end:]])
    return text


def _shortened(passage: Passage) -> Passage:
    text = shortened(passage.text)
    return replace(passage, text=text) if text != passage.text else passage


def _count(size: int, make: str) -> str:
    return f"… {size:,} characters of {make} left out …"

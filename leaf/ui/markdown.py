"""Text from a model, a file or a person, made safe to draw as Markdown. Pure functions; nothing is
drawn here.

What keeps pictures and links from acting is `shapes/harmless.py`, as in everything that leaves Leaf.
Code fences are cut out before, by `blocks`, and drawn as code.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from leaf.shapes.harmless import JOINER, parted
from leaf.ui.words import cut

_TICKS = re.compile(r"`+")
_BLANK_LINE = re.compile(r"\n\s*\n")
_CURRENCY = re.compile(r"(?<![\\$])\$(?=\s?\d)")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&=])")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, marks that turn the direction of writing around, and halves of characters,
which cannot be sent."""
_ADDRESS = re.compile(r"https?:(?=//)|www(?=\.)|@", re.IGNORECASE)
"""Where text that is drawn would become a link by itself, escaped or not."""
_LINE_START = re.compile(r"^[ \t]+", re.MULTILINE)


def safe(text: str) -> str:
    """Markdown in which pictures are links and links lead only to the web or to mail."""
    return _outside_code(parted(text))


def literal(text: str) -> str:
    """The text as it stands, for places that draw Markdown: file names, titles, a person's own
    words."""
    text = _SPECIAL.sub(r"\\\1", seen(text.replace("\r\n", "\n")))
    return _LINE_START.sub(lambda m: "\u00a0" * len(m.group().expandtabs(4)), text)


def seen(text: str) -> str:
    """The text with a mark in the place of each character that would act instead of being seen."""
    return _UNSEEN.sub("\ufffd", text)


def paragraph(text: str) -> str:
    """`literal`, with line breaks kept."""
    return re.sub(r"(?<!\n)\n(?!\n)", "  \n", literal(text.strip("\n")))


def marked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """`paragraph` with some of its characters marked, by a colour and by weight, line by line."""
    pieces: list[str] = []
    at = 0
    for begin, end in sorted(spans):
        begin = max(begin, at)
        pieces.append(literal(text[at:begin]))
        for line in re.split(r"(\n+)", text[begin:end]):
            pieces.append(
                f":orange-background[**{literal(line.strip())}**]" if line.strip() else line
            )
        at = max(end, begin)
    pieces.append(literal(text[at:]))
    return re.sub(r"(?<!\n)\n(?!\n)", "  \n", "".join(pieces).strip("\n"))


def label(text: str, longest: int = 80) -> str:
    """`literal` on one line and not too long, for buttons and headings. An address in it does not
    become a link."""
    return literal(_ADDRESS.sub(r"\g<0>" + JOINER, cut(text, longest)))


def found(text: str, words: Sequence[str]) -> str:
    """A passage on one line, with the words that were searched for marked. An address in it does
    not become a link."""
    line = _ADDRESS.sub(r"\g<0>" + JOINER, " ".join(text.split()))
    wanted = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    spans = [hit.span() for hit in re.finditer(wanted, line, re.IGNORECASE)] if wanted else []
    return marked(line, spans)


def right_to_left(text: str) -> bool:
    """Whether a text is read from the right: its first letter says so, as browsers have it."""
    turns = (unicodedata.bidirectional(one) for one in text)
    return next((turn for turn in turns if turn in ("L", "R", "AL")), "L") != "L"


def turned(title: str) -> str:
    """Part of the key of a button with this title, by which the style sheet has it begin on the right."""
    return "rtl-" if right_to_left(title) else ""


def _outside_code(text: str) -> str:
    """`$5` is money, not the beginning of a formula. In code spans it stays as it is."""
    pieces, at = [], 0
    for begin, end in _code_spans(text):
        pieces += [_CURRENCY.sub(r"\\$", text[at:begin]), text[begin:end]]
        at = end
    pieces.append(_CURRENCY.sub(r"\\$", text[at:]))
    return "".join(pieces)


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """From one run of backticks to the next one as long, in the same paragraph. Each run is looked
    at once, so that no text takes longer than its length.
    """
    runs = [match.span() for match in _TICKS.finditer(text)]
    if len(runs) < 2:
        return
    breaks = [match.start() for match in _BLANK_LINE.finditer(text)]
    closing: dict[int, int] = {}
    newest: dict[tuple[int, int], int] = {}
    for at in range(len(runs) - 1, -1, -1):
        begin, end = runs[at]
        key = (end - begin, bisect_left(breaks, begin))
        if key in newest:
            closing[at] = newest[key]
        newest[key] = at
    at = 0
    while at < len(runs):
        if at in closing:
            yield runs[at][0], runs[closing[at]][1]
            at = closing[at]
        at += 1

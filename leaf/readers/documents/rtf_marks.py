"""Rich Text before it is read as text: what was deleted is left out, footnotes, comments, headers and
footers are named as such, text boxes stand after the paragraph that holds them, raised digits are
written as raised ones, and the numbers of items stand before them. Hidden and struck-out text is
counted."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import chain

from leaf.readers.documents.raised import lowered, raised

_NEEDED = re.compile(
    r"\\(?:footnote|deleted|super|sub|up|dn|annotation|shptxt|listtext|pntext|(?:header|footer)[lrf]?|"
    r"v|striked?)(?![a-z])"
)
_APART = {
    "footnote": (r"\plain  [footnote: ", "]"),
    "annotation": (r"\plain  [comment: ", "]"),
    **{f"header{side}": (r"\par\plain  [header] ", r"\par ") for side in ("", "l", "r", "f")},
    **{f"footer{side}": (r"\par\plain  [footer] ", r"\par ") for side in ("", "l", "r", "f")},
}
"""What begins a text that stands beside the text -> how it is begun and ended in it."""
_TOKEN = re.compile(
    r"\\bin(?P<raw>\d+) ?|\\(?P<word>[a-z]{1,32})(?P<number>-?\d{1,10})? ?|\\'[0-9a-fA-F]{2}|\\[^a-z]|"
    r"(?P<open>\{)|(?P<close>\})|[\r\n]+|(?P<text>[^\\{}\r\n]+)",
    re.DOTALL,
)
_ASIDE = frozenset(("fonttbl", "stylesheet", "colortbl", "info", "listtable", "pict", "fldinst"))
"""Groups that hold no text."""
_BULLETS = ("o", "v", "n", "l", "u", "q")
"""Letters that are bullets in the fonts of lists."""
_LEVELS = {"super": 1, "sub": -1, "nosupersub": 0, "up": 1, "dn": -1}
_BYTE = re.compile(r"\\'[0-9a-fA-F]{2}")
_SIGN = re.compile(r"\\u(-?\d{1,5}) ?\??")
_NUMBERS = ("listtext", "pntext")
"""Groups that hold the number of an item as it was shown where the document was saved."""
_SIGNS = frozenset(("u", "tab", "line", "emdash", "endash", "lquote", "rquote", "ldblquote")) | {
    *("rdblquote", "bullet", "emspace", "enspace", "cell", "row", "par", "chftn", "uc"),
}
"""Control words that are text, or part it."""


@dataclass(frozen=True)
class _State:
    """How what follows in a group is written."""

    deleted: bool = False
    level: int = 0
    end: str = ""
    """What is written at the end of the group: that of a footnote, and not of one in it."""
    inside: bool = False
    """Whether it is in one."""
    box: bool = False
    """Whether the group is the text of a box."""
    shape: bool = False
    """Whether it is in a drawing."""
    aside: bool = False
    """Whether the group is no text."""
    number: bool = False
    """Whether it is the number of an item, as it was shown where the document was saved."""
    hidden: bool = False
    struck: bool = False


def prepared(text: str) -> tuple[str, int, int]:
    """The same document without what was deleted in it, with its footnotes as `[footnote: …]` and
    what else stands beside the text; and how many pieces of it are hidden and struck out."""
    if not _NEEDED.search(text):
        return text, 0, 0
    marks = _Marks()
    written = marks.written(text)
    return written, marks.hidden, marks.struck


class _Marks:
    """One way through a document."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._states: list[_State] = []
        self._state = _State()
        self._before = ""
        """The last character that was written as text."""
        self._around: list[list[str]] = []
        """What was written around the boxes that are open."""
        self._boxes: list[str] = []
        """Texts of boxes that wait for the end of their paragraph."""
        self._number: list[str] = []
        """What the number of an item is written with."""
        self.hidden = self.struck = 0
        """Pieces of text, one after the other, that are shown otherwise than they are read."""
        self._last = (False, False)

    def written(self, text: str) -> str:
        at = 0
        while token := _TOKEN.match(text, at):
            at = token.end()
            if token["raw"]:
                at += int(token["raw"])  # bytes of a picture, which are no words
            elif token["open"]:
                self._states.append(self._state)
                self._state = replace(self._state, end="", box=False)
                self._out.append("{")
            elif token["close"]:
                self._close()
            elif token["word"]:
                self._control(token["word"], token["number"], token[0])
            elif token["text"]:
                self._text(token["text"])
            elif self._state.number:
                self._number.append(token[0])
            elif not (self._state.deleted and token[0].startswith("\\'")):
                self._out.append(token[0])
        return "".join(chain(*self._around, self._out)) + text[at:]

    def _close(self) -> None:
        before = self._states[-1] if self._states else _State()
        if self._state.number and not before.number:
            self._out.append(_shown("".join(self._number)))
            self._number = []
        self._out.append(self._state.end)
        if self._state.box:
            self._boxes.append("".join(self._out))
            self._out = self._around.pop()
        if len(self._states) == 1:
            self._write_boxes()
        self._out.append("}")
        self._state = self._states.pop() if self._states else _State()

    def _write_boxes(self) -> None:
        """As paragraphs of their own, outside of the shapes that no reader looks into."""
        if not self._around:
            self._out += [rf"{{\par\plain {box}\par}}" for box in self._boxes]
            self._boxes = []

    def _control(self, word: str, number: str | None, token: str) -> None:
        off = number is not None and int(number) == 0
        if self._state.number:
            if word in _SIGNS and word != "tab":
                self._number.append(token)
        elif word in _NUMBERS:
            self._without_mark()
            self._state = replace(self._state, number=True)
        elif word in _APART:
            self._begin_apart(*_APART[word])
        elif word == "shptxt":
            self._around.append(self._out)
            self._out, self._state = [], replace(self._state, box=True)
        elif word == "par":
            self._end_paragraph(token)
        elif word in _LEVELS:
            self._state = replace(self._state, level=0 if off else _LEVELS[word])
        else:
            self._state = _changed(self._state, word, off)
            if word != "deleted" and not (self._state.deleted and word in _SIGNS):
                self._out.append(token)

    def _end_paragraph(self, token: str) -> None:
        self._out.append(" " if self._state.inside else token)
        if not self._state.inside and self._boxes and not self._state.shape:
            self._write_boxes()

    def _without_mark(self) -> None:
        """Without what says that who does not know the next word leaves its group out."""
        if self._out[-1:] == [r"\*"]:
            self._out.pop()

    def _begin_apart(self, begin: str, end: str) -> None:
        self._without_mark()
        self._state = replace(self._state, end=end, inside=True, level=0)
        self._out.append(begin)

    def _text(self, text: str) -> None:
        if self._state.deleted:
            return
        if self._state.number:
            self._number.append(text)
            return
        self._count(text)
        moved = text
        if self._state.level > 0:
            moved = raised(text)
        elif self._state.level < 0 and self._before[-1:].isdigit():
            moved = lowered(text)
        self._before = text[-1:]
        self._out.append("".join(map(_as_rtf, moved)) if moved != text else text)

    def _count(self, text: str) -> None:
        if text.strip() and not self._state.aside:
            hidden, struck = self._state.hidden, self._state.struck
            self.hidden += hidden and not self._last[0]
            self.struck += struck and not self._last[1]
            self._last = (hidden, struck)


def _changed(state: _State, word: str, off: bool) -> _State:
    """How text is written after a control word."""
    if word == "plain":
        return replace(state, deleted=False, level=0, hidden=False, struck=False)
    if word == "deleted":
        return replace(state, deleted=not off)
    if word == "v":
        return replace(state, hidden=not off)
    if word in ("strike", "striked"):
        return replace(state, struck=not off)
    if word == "shp":
        return replace(state, shape=True)
    return replace(state, aside=True) if word in _ASIDE else state


def _shown(number: str) -> str:
    """What stands before an item: a dash for a bullet, whatever sign of a font that is."""
    if len(_BYTE.findall(number)) > 1:
        return rf"\plain {number.strip()} "  # a character of several bytes
    plain = _BYTE.sub("", _SIGN.sub(lambda sign: chr(int(sign[1]) % 65_536), number)).strip()
    if not any(sign.isalnum() for sign in plain) or plain in _BULLETS:
        return r"\plain - "
    return rf"\plain {''.join(map(_as_rtf, plain))} "


def _as_rtf(character: str) -> str:
    return character if ord(character) < 128 else rf"\u{ord(character)}?"

"""Rich Text before it is read as text: what was deleted is left out, footnotes, comments, headers and
footers are named as such, text boxes stand after the paragraph that holds them, and raised digits are
written as raised ones."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import chain

from leaf.readers.documents.raised import lowered, raised

_NEEDED = re.compile(
    r"\\(?:footnote|deleted|super|sub|up|dn|annotation|shptxt|(?:header|footer)[lrf]?)(?![a-z])"
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
_LEVELS = {"super": 1, "sub": -1, "nosupersub": 0, "up": 1, "dn": -1}
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


def prepared(text: str) -> str:
    """The same document without what was deleted in it, with its footnotes as `[footnote: …]` and
    what else stands beside the text."""
    return _Marks().written(text) if _NEEDED.search(text) else text


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
            elif not (self._state.deleted and token[0].startswith("\\'")):
                self._out.append(token[0])
        return "".join(chain(*self._around, self._out)) + text[at:]

    def _close(self) -> None:
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
        if word == "deleted":
            self._state = replace(self._state, deleted=not off)
        elif word in _LEVELS:
            self._state = replace(self._state, level=0 if off else _LEVELS[word])
        elif word == "plain":
            self._state = replace(self._state, deleted=False, level=0)
            self._out.append(token)
        elif word == "shp":
            self._state = replace(self._state, shape=True)
            self._out.append(token)
        elif word in _APART:
            self._begin_apart(*_APART[word])
        elif word == "shptxt":
            self._around.append(self._out)
            self._out, self._state = [], replace(self._state, box=True)
        elif word == "par" and self._state.inside:
            self._out.append(" ")
        elif word == "par":
            self._out.append(token)
            if self._boxes and not self._state.shape:
                self._write_boxes()
        elif not (self._state.deleted and word in _SIGNS):
            self._out.append(token)

    def _begin_apart(self, begin: str, end: str) -> None:
        if self._out[-1:] == [r"\*"]:
            self._out.pop()  # says that who does not know the word leaves the group out
        self._state = replace(self._state, end=end, inside=True, level=0)
        self._out.append(begin)

    def _text(self, text: str) -> None:
        if self._state.deleted:
            return
        moved = text
        if self._state.level > 0:
            moved = raised(text)
        elif self._state.level < 0 and self._before[-1:].isdigit():
            moved = lowered(text)
        self._before = text[-1:]
        self._out.append("".join(map(_as_rtf, moved)) if moved != text else text)


def _as_rtf(character: str) -> str:
    return character if ord(character) < 128 else rf"\u{ord(character)}?"

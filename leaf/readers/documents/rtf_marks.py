"""Rich Text before it is read as text: what was deleted is left out, footnotes are named as such, and
raised digits are written as raised ones."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from leaf.readers.documents.raised import lowered, raised

_NEEDED = re.compile(r"\\(?:footnote|deleted|super|sub|up|dn)(?![a-z])")
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
    note: bool = False
    """Whether the group is a footnote, and not only in one."""
    inside: bool = False
    """Whether it is in one."""


def prepared(text: str) -> str:
    """The same document without what was deleted in it, with its footnotes as `[footnote: …]`."""
    return _Marks().written(text) if _NEEDED.search(text) else text


class _Marks:
    """One way through a document."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._states: list[_State] = []
        self._state = _State()
        self._before = ""
        """The last character that was written as text."""

    def written(self, text: str) -> str:
        at = 0
        while token := _TOKEN.match(text, at):
            at = token.end()
            if token["raw"]:
                at += int(token["raw"])  # bytes of a picture, which are no words
            elif token["open"]:
                self._states.append(self._state)
                self._state = replace(self._state, note=False)
                self._out.append("{")
            elif token["close"]:
                self._close()
            elif token["word"]:
                self._control(token["word"], token["number"], token[0])
            elif token["text"]:
                self._text(token["text"])
            elif not (self._state.deleted and token[0].startswith("\\'")):
                self._out.append(token[0])
        return "".join(self._out) + text[at:]

    def _close(self) -> None:
        if self._state.note:
            self._out.append("]")
        self._out.append("}")
        self._state = self._states.pop() if self._states else _State()

    def _control(self, word: str, number: str | None, token: str) -> None:
        off = number is not None and int(number) == 0
        if word == "deleted":
            self._state = replace(self._state, deleted=not off)
        elif word in _LEVELS:
            self._state = replace(self._state, level=0 if off else _LEVELS[word])
        elif word == "plain":
            self._state = replace(self._state, deleted=False, level=0)
            self._out.append(token)
        elif word == "footnote":
            self._state = replace(self._state, note=True, inside=True, level=0)
            self._out.append(r"\plain  [footnote: ")
        elif word == "par" and self._state.inside:
            self._out.append(" ")
        elif not (self._state.deleted and word in _SIGNS):
            self._out.append(token)

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

"""A text that grows: cut into blocks, each a node, the same ones as a finished answer has.

Words are shown as they come. Where they are more than words (a list, a link, a table) the open
block is made into HTML anew, some thirty times a second at most, and less often where that takes
long, so that no text, however long its blocks, takes more than a small part of the time. Closed
blocks are never looked at again, and code is only ever added to.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from leaf.ui import markdown, marks
from leaf.ui.blocks import Cutter
from leaf.ui.live.document import LiveDocument, Node
from leaf.ui.live.html import is_table, pieces

PATCH = 1 / 30
"""Seconds between two drawings of an open block."""
SHARE = 50
"""How many times as long as a drawing takes it is left alone afterwards."""
_PLAIN = re.compile(r"(?:[^\W_]|[ ,;.:?!'’“”„%–—…/-])*+")
"""Words that are drawn as what they are, in the middle of a line."""
_LINE_HEAD = 5
"""Characters at the beginning of a line that may make it a heading, an item or a row."""
_MAYBE_FENCE = re.compile(r"\s*(?:`{3}|~{3}|`{1,2}$|~{1,2}$)")
_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"

Clock = Callable[[], float]


class GrowingText:
    """One text. `draw` puts what is there into the document."""

    def __init__(
        self,
        document: LiveDocument,
        message_id: str,
        parent: Node | None = None,
        clock: Clock = time.perf_counter,
    ) -> None:
        self._document = document
        self._message_id = message_id
        self._parent = parent
        self._clock = clock
        self._cutter = Cutter()
        self._node: Node | None = None
        self._lines: list[str] = []
        """Complete lines of the open block, while that is text."""
        self._rest: list[str] = []
        """The line that is not complete."""
        self._rest_size = 0
        self._rest_said = 0
        """Characters of that line that were said, or are to be, while the open block is code."""
        self._held = ""
        """Blanks at the end, which a citation would come before, as it does before the bar that
        ends a table's row."""
        self._unsaid: list[str] = []
        self._breaks = 0
        """Line breaks at the end of code, shown with what follows them."""
        self._beside: list[str] = []
        """Citations that stood in the open block of code."""
        self._stale = False
        """Whether the open block has to be made into HTML anew."""
        self._due = 0.0
        self._took = 0.0
        """Seconds that the last drawing took."""

    def feed(self, words: str) -> None:
        """Take in what comes next."""
        text = self._held + marks.without(words)
        body = text.rstrip().removesuffix("|").rstrip()
        self._held = text[len(body) :]
        self._take(body)

    def cite(self, mark: str) -> None:
        """Put a mark behind the last word."""
        behind, bar, _ = self._held.partition("|")
        if bar and ("\n" in behind or not "".join(self._rest).lstrip().startswith("|")):
            self._take(behind + bar)
            self._held = self._held[len(behind) + 1 :]
        self._take(mark)

    def end(self) -> None:
        """Nothing comes any more: show all of it."""
        self._take(self._held.rstrip())
        self._held = ""
        rest = "".join(self._rest)
        if self._cutter.fence:
            if not self._cutter.closes(rest):
                self._code(rest[self._rest_said :])
            self._say_code()
            self._cite_beside()
        else:
            self._lines.append(rest)
            self._draw_block()
        self._rest, self._lines, self._stale = [], [], False

    def draw(self) -> float | None:
        """Show what there is to show now. Returns when to draw again, by the clock; None: when
        something comes."""
        if self._cutter.fence:
            self._say_code()
            return None
        if self._stale and self._clock() >= self._due:
            self._draw_block(self._shown_rest())
        elif self._unsaid and self._node is not None and self._takes_words():
            self._document.say(self._node, "".join(self._unsaid))
            self._unsaid.clear()
        return self._due if self._stale else None

    def _take(self, text: str) -> None:
        for line in text.splitlines(keepends=True):
            if line[-1] in _BREAKS:
                self._complete("".join([*self._rest, line]))
            else:
                self._add(line)

    def _add(self, words: str) -> None:
        """Words within a line."""
        head = self._rest_size < _LINE_HEAD
        unsaid = head or self._rest_said < self._rest_size
        self._rest.append(words)
        self._rest_size += len(words)
        if self._cutter.fence:
            if not unsaid or not self._maybe_closes():
                self._code("".join(self._rest)[self._rest_said :] if unsaid else words)
                self._rest_said = self._rest_size
            return
        self._unsaid.append(words)
        if head or self._node is None or not _PLAIN.fullmatch(words):
            self._stale = True

    def _maybe_closes(self) -> bool:
        bare = "".join(self._rest).strip()
        return not bare.strip(self._cutter.fence[0])

    def _complete(self, line: str) -> None:
        in_code, offset = bool(self._cutter.fence), self._rest_said
        cut = self._cutter.cut(line)
        self._rest, self._rest_size, self._rest_said = [], 0, 0
        if in_code:
            if cut.kind == "add":
                self._code(line.rstrip(_BREAKS)[offset:])
                self._breaks += 1
            else:
                self._end_code()
        elif cut.kind == "add":
            self._lines.append(line)
            self._stale = True
        else:
            self._draw_block()
            self._begin(cut.kind, cut.language, cut.line)

    def _begin(self, kind: str, language: str = "", line: str = "") -> None:
        self._node, self._unsaid, self._breaks = None, [], 0
        self._lines, self._stale, self._due = [line], bool(line), 0.0
        if kind == "code":
            self._node = self._document.add("code", {"language": language}, parent=self._parent)

    # Text

    def _shown_rest(self) -> str:
        """The line that is not complete, if it can be told what it is."""
        rest = "".join(self._rest)
        in_table = bool(self._node and self._node.pieces and is_table(self._node.pieces[-1][1]))
        if _MAYBE_FENCE.match(rest) or (in_table and self._lines and self._lines[-1].strip()):
            return ""
        return rest

    def _takes_words(self) -> bool:
        if self._node is None or not self._node.pieces or is_table(self._node.pieces[-1][1]):
            return False
        return not _MAYBE_FENCE.match("".join(self._rest[:3]))

    def _draw_block(self, rest: str = "") -> None:
        """Make the open block into HTML."""
        source = "".join([*self._lines, rest])
        self._unsaid, self._stale = [], False
        if not source.strip():
            return
        if self._node is None:
            self._node = self._document.add("text", parent=self._parent)
        began = self._clock()
        self._document.place(
            self._node, pieces(marks.drawn(markdown.safe(source), self._message_id))
        )
        now = self._clock()
        # One slow drawing says nothing: it was the first of a process, or the machine was busy.
        took, self._took = min(self._took, now - began), now - began
        self._due = now + max(PATCH, SHARE * took)

    # Code

    def _code(self, text: str) -> None:
        code, beside = marks.taken_out(text)
        if beside:
            self._beside.append(beside)
        if code:
            self._unsaid += ["\n" * self._breaks, code]
            self._breaks = 0

    def _say_code(self) -> None:
        if self._unsaid and self._node is not None:
            self._document.say(self._node, "".join(self._unsaid))
            self._unsaid = []

    def _end_code(self) -> None:
        self._say_code()
        self._cite_beside()
        self._begin("text")

    def _cite_beside(self) -> None:
        if self._beside:
            node = self._document.add("text", parent=self._parent)
            self._document.place(
                node, pieces(marks.drawn(markdown.safe("".join(self._beside)), self._message_id))
            )
            self._beside = []

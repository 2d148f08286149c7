"""Texts of answers and documents as pages draw them, made once for a text and not once for a
rerun."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cache

from leaf.ui import markdown, marks

MOST = 8_000_000
"""Characters that are kept in all, of texts and of what was made of them: some hundred chats."""


def text_of(text: str, message_id: str = "") -> str:
    """Markdown that was made safe, its marks as links of this message."""
    return shared()(text, message_id)


def growing(text: str, message_id: str = "") -> str:
    """The same of a text that is another one in a moment, which is not worth keeping."""
    return marks.drawn(markdown.safe(text), message_id)


class DrawnTexts:
    """What was made of texts, those drawn last. It depends on nothing but the text and the message
    whose marks are in it. Safe to use from any number of threads."""

    def __init__(self, make: Callable[[str, str], str], most: int = MOST) -> None:
        self._make = make
        self._most = most
        self._kept: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._guard = threading.Lock()
        self.size = 0
        """Characters that are kept."""
        self.made = 0
        """How often something was made."""

    def __call__(self, text: str, message_id: str = "") -> str:
        key = (text, message_id)
        with self._guard:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        rendering = self._make(text, message_id)
        with self._guard:
            self.made += 1
            self._keep(key, rendering)
        return rendering

    def _keep(self, key: tuple[str, str], rendering: str) -> None:
        weight = _weight(key, rendering)
        if key in self._kept or weight > self._most // 4:
            return  # one that is very long would drive out all others
        self._kept[key] = rendering
        self.size += weight
        while self.size > self._most:
            self.size -= _weight(*self._kept.popitem(last=False))


def _weight(key: tuple[str, str], rendering: str) -> int:
    return len(key[0]) + len(key[1]) + len(rendering)


@cache
def shared() -> DrawnTexts:
    """Those of this process."""
    return DrawnTexts(growing)

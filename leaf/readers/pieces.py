"""Where a text that is too long for one piece is cut, so that no word is in two of them."""

from __future__ import annotations

ENDS = ("\n", ". ", "。", " ", "\t", "，", "、")
"""After which a piece may end, the best first. Chinese and Japanese have no blanks."""
HYPHENS = ("-", "\u00ad", "\u2010", "\u2011")


def end_of_piece(text: str, begin: int, longest: int) -> int:
    """Where the piece ends that begins there: in the second half of what it may hold, if a line, a
    sentence or a word ends there."""
    if begin + longest >= len(text):
        return len(text)
    for mark in ENDS:
        index = text.rfind(mark, begin + longest // 2, begin + longest)
        while index >= 0 and goes_on(text[begin:index]):
            index = text.rfind(mark, begin + longest // 2, index)
        if index >= 0:
            return index + len(mark)
    return begin + longest


def goes_on(line: str) -> bool:
    """Whether the last word of a line is divided and ends on the next."""
    return line.rstrip(" \t\r").endswith(HYPHENS)

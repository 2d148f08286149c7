"""Which files of a chat a list shows: those that match a pattern, a page at a time, told apart
where they are called alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from leaf.errors import InvalidInputError
from leaf.files.line import counted, label
from leaf.files.names import fold, name_key
from leaf.store.model import ChatFile

PAGE = 50


@dataclass(frozen=True)
class ListPage:
    """Some of the files that match."""

    files: tuple[ChatFile, ...]
    first: int
    """Number of the first, from 1."""
    total: int
    """How many match."""
    head: str
    """What stands above them; empty where they are all files, on one page."""
    cursor: str
    """Where the next page begins; empty on the last."""


def page_of(files: Sequence[ChatFile], pattern: str, cursor: str) -> ListPage:
    """A page of the files that match. Raises InvalidInputError for a cursor that no page gave."""
    matches = (
        [file for file in files if _matches(file, pattern)] if pattern.strip() else list(files)
    )
    if not re.fullmatch(r"\d{0,6}", cursor.strip()) or int(cursor or 0) > len(matches):
        raise InvalidInputError(
            f"'{cursor[:40]}' is no cursor of this list.",
            "Give the one that came with the page before.",
        )
    begin = int(cursor or 0)
    shown = matches[begin : begin + PAGE]
    end = begin + len(shown)
    return ListPage(
        tuple(shown),
        begin + 1,
        len(matches),
        _head(matches, len(files), pattern, begin, end),
        str(end) * (end < len(matches)),
    )


def titles(files: Sequence[ChatFile]) -> dict[str, str]:
    """Handle -> the words above a file's table, for files that are called like another one of
    these."""
    called = Counter(_plain_name(file) for file in files)
    told = {
        f.handle: str(f.file.outline.get("title") or "")
        for f in files
        if called[_plain_name(f)] > 1
    }
    return {handle: title for handle, title in told.items() if title}


def _head(matches: Sequence[ChatFile], there: int, pattern: str, begin: int, end: int) -> str:
    verb = "matches" if len(matches) == 1 else "match"
    of = (
        f" that {verb} '{pattern.strip()[:80]}', of {there:,} in this chat"
        if pattern.strip()
        else ""
    )
    if not matches:
        return (
            f"No file matches '{pattern.strip()[:80]}'; {_number(there)} in this chat. Try "
            f"fewer words, or none."
        )
    if len(matches) <= PAGE:
        return f"{_number(len(matches))}{of}:" if of else ""
    return f"{begin + 1:,}-{end:,} of {_number(len(matches))}{of}. All of them: {counted(matches)}."


def _number(count: int) -> str:
    return f"{count:,} file{'s' if count != 1 else ''}"


def _matches(chat_file: ChatFile, pattern: str) -> bool:
    """By a glob over the name with its folders, or over the name alone; words without wildcards
    must all be in it."""
    path, wanted = name_key(chat_file.file.name), name_key(pattern)
    if any(c in wanted for c in "*?["):
        return fnmatchcase(path, wanted) or (
            "/" not in wanted and fnmatchcase(path.rpartition("/")[2], wanted)
        )
    words = (
        f"{path} {label(chat_file.file)} {chat_file.slug} "
        f"{chat_file.file.outline.get('title') or ''}"
    )
    return all(word in fold(words) for word in fold(wanted).split())


def _plain_name(chat_file: ChatFile) -> str:
    return re.sub(r" \(\d+\)(?=\.[^.]*$|$)", "", name_key(chat_file.file.base))

"""Lines of a plain text as tables are drawn in them: what stands between the parts of one table, and
the rows of all of them with the numbers of their lines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leaf.readers.base import Note
from leaf.readers.tabular.block_notes import repeat_notes
from leaf.readers.tabular.cells import places

FILLER = "\ue000"
"""Stands behind a sign that is two columns wide on a screen, so that places in a line are columns."""
_RULE = re.compile(r"[-=_+|:*~ ]*[-=_]{2,}[-=_+|:*~ ]*")
_PAGE = re.compile(r"(?i)\b(?:page|seite|página|pagina|pág\.?|blatt|стр\.?|頁)\b|\s{8,}\d+\s*$")
_LONGEST_CAPTION = 120
_DIGITS = re.compile(r"\d+")
_GAP = 3
"""Lines without words between a table and its title."""
MOST_BETWEEN = 6
"""Lines of text that may stand between two parts of one table."""


@dataclass(frozen=True)
class TextTable:
    """A table in a plain text: its rows with the numbers of their lines."""

    rows: list[list[str]]
    numbers: list[int]
    header: int
    """Rows at the top that name the columns."""
    title: str = ""
    notes: tuple[Note, ...] = ()


@dataclass
class TableStretch:
    """A part of a table between other lines. All lines are 0-based."""

    first: int
    last: int
    header: list[int]
    rows: list[int]
    """Lines below the header, those of text among them."""


@dataclass
class LaidOut:
    """Parts of one table, and how a line of it is cut into cells."""

    parts: list[TableStretch]
    cells: Callable[[int], list[str]]
    notes: Callable[[], list[Note]] = list
    """What is said of its lines, once that is asked for."""
    again: tuple[int, ...] = ()
    """Lines within its parts that repeat the header."""


def spread(line: str) -> str:
    """A line with a place for each column of the screen."""
    line = line.rstrip().replace("\f", "").replace("\v", "")
    if "\t" in line:
        line = line.expandtabs(8)
    if line.isascii():
        return line
    signs = list[str]()
    for sign in line:
        if unicodedata.combining(sign) and signs:
            continue
        signs.append(sign)
        if unicodedata.east_asian_width(sign) in "WF":
            signs.append(FILLER)
    return "".join(signs)


def plain(text: str) -> str:
    """What stands in a piece of a line."""
    return " ".join(text.replace(FILLER, "").split())


def is_drawn_rule(line: str) -> bool:
    """Whether a line is drawn, and says nothing."""
    return bool(_RULE.fullmatch(line))


def assemble(lines: Sequence[str], drawn: LaidOut, above: int = 0) -> TextTable:
    """The rows of all parts below one header. What is printed again with each page is left out, and
    other words between the parts stay as rows of their own. No line before `above` says anything of
    it."""
    first = drawn.parts[0]
    rows = [drawn.cells(at) for at in first.header]
    numbers = [at + 1 for at in first.header]
    width = len(drawn.cells(first.rows[0]))
    title = _above(lines, first.first, above)
    running = _PageHeads([lines[at] for at in title])
    running.knows_pages(lines[max(above, first.first - 2 * MOST_BETWEEN) : first.first])
    again, pages = list(drawn.again), list[int]()
    for number, part in enumerate(drawn.parts):
        if number:
            again += part.header[:1]
            words = _words(lines, drawn.parts[number - 1].last + 1, part.first)
            printed = running.printed_again([lines[at] for at in words])
            pages += [at for at, is_again in zip(words, printed, strict=True) if is_again]
            headings = [at for at, is_again in zip(words, printed, strict=True) if not is_again]
            rows += [_alone("", width) for _ in headings[:1]] + [
                _alone(lines[at], width) for at in headings
            ]
            numbers += headings[:1] + [at + 1 for at in headings]
        cells = map(drawn.cells, part.rows)
        rows += [row if len(row) > 1 else _alone(row[0], width) for row in cells]
        numbers += [at + 1 for at in part.rows]
    notes = [*drawn.notes(), *repeat_notes([at + 1 for at in sorted(again)]), *_page_notes(pages)]
    return TextTable(rows, numbers, len(first.header), _caption(lines, title), tuple(notes))


def _alone(text: str, width: int) -> list[str]:
    """A row of words that are no cells."""
    return [plain(text), *[""] * (width - 1)]


class _PageHeads:
    """What is printed above each part of a table, part after part."""

    def __init__(self, title: Sequence[str]) -> None:
        self._always: set[str] | None = None
        self._paged = set[str]()
        self.printed_again(title)

    def knows_pages(self, lines: Sequence[str]) -> None:
        """Take lines for printed above the first page if they have the number of one."""
        self._paged |= {_DIGITS.sub("#", plain(line)) for line in lines if _PAGE.search(line)}

    def printed_again(self, words: Sequence[str]) -> list[bool]:
        """By line, whether it stood above each part before this one, or differs from one above by the
        number of its page."""
        texts = [plain(line) for line in words]
        folded = [
            _DIGITS.sub("#", text) if _PAGE.search(line) else ""
            for text, line in zip(texts, words, strict=True)
        ]
        always = self._always or set()
        again = [
            text in always or fold in self._paged for text, fold in zip(texts, folded, strict=True)
        ]
        self._paged |= set(folded) - {""}
        own = {text for text, fold in zip(texts, folded, strict=True) if not fold}
        if own:
            self._always = own if self._always is None else always & own
        return again


def _words(lines: Sequence[str], first: int, end: int) -> list[int]:
    """Lines that say something."""
    return [at for at in range(first, end) if lines[at].strip() and not is_drawn_rule(lines[at])]


def between(lines: Sequence[str], first: int, end: int) -> int:
    """How many lines of words stand between two places; more than may be where they are far apart."""
    return len(_words(lines, first, end)) if end - first <= 4 * MOST_BETWEEN else 2 * MOST_BETWEEN


def _page_notes(pages: Sequence[int]) -> list[Note]:
    if not pages:
        return []
    text = f"{len(pages):,} lines between its parts, printed again with each page, are left out."
    if len(pages) == 1:
        text = "A line between its parts, printed again with each page, is left out."
    return [Note("pages-joined", text, len(pages), places([at + 1 for at in pages]))]


def _above(lines: Sequence[str], top: int, least: int) -> list[int]:
    """The lines of words above a table, without a gap among them; one may be below them."""
    at = top - 1
    while at >= least and top - at <= _GAP and (not lines[at].strip() or is_drawn_rule(lines[at])):
        at -= 1
    words = list[int]()
    while at >= least and top - at <= _GAP + MOST_BETWEEN and lines[at].strip():
        if not is_drawn_rule(lines[at]):
            words.insert(0, at)
        at -= 1
    return words


def _caption(lines: Sequence[str], above: Sequence[int]) -> str:
    """The words right above a table, if they are few."""
    text = " / ".join(plain(lines[at]) for at in above).strip("#*` ").strip()
    return text if len(text) <= _LONGEST_CAPTION else ""

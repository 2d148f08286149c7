"""Lines of a plain text as tables are drawn in them: what stands between the parts of one table, and
the rows of all of them with the numbers of their lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leaf.readers.base import Note
from leaf.readers.documents.texts.signs import as_written, in_columns
from leaf.readers.tabular.block_notes import repeat_notes
from leaf.readers.tabular.cells import places

_RULE = re.compile(r"[-=_+|:*~ ]*")
_STROKE = re.compile(r"[-=_]{2}")
_PAGE = re.compile(
    r"(?i)(?:\b(?:page|seite|página|pagina|pág|blatt|стр)\b|[頁页])[.:]?\s*(?:n[or°º][.:]?\s*)?\d+"
    r"(?:\s*(?:/|of|von|de|di|sur|из)\s*\d+)?"
    r"|(?<!\d)\d+\.?\s*(?:[頁页]|(?:seite|página|pagina)\b)"
)
"""The number of a page with a word for it."""
_LONE = re.compile(r"(?:^|(?<=\S)) {8,}(\d{1,9})$")
"""One without, far behind all else."""
_LONGEST_CAPTION = 120
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
    line = in_columns(line.rstrip().replace("\f", "").replace("\v", ""))
    return line.expandtabs(8) if "\t" in line else line


def plain(text: str) -> str:
    """What stands in a piece of a line."""
    return " ".join(as_written(text).split())


def is_drawn_rule(line: str) -> bool:
    """Whether a line is drawn, and says nothing."""
    return bool(_RULE.fullmatch(line) and _STROKE.search(line))


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
        self._counted = dict[str, int]()
        """Line without its last number -> that number, of those that may count the pages."""
        self._heads = set[str]()
        """Those of them that stand above the first part."""
        self._part = 0
        self.printed_again(title)
        self.knows_pages(title)

    def knows_pages(self, lines: Sequence[str]) -> None:
        """Take lines for printed above the first page if they have the number of one."""
        for line in lines:
            words, number = _folded(line)
            if number is None and words:
                self._paged.add(words)
            elif number is not None:
                self._counted[words] = number
                self._heads.add(words)

    def printed_again(self, words: Sequence[str]) -> list[bool]:
        """By line, whether it stood above each part before this one, or differs from one above by the
        number of its page. A number without a word for it is one of a page if it counts them."""
        always, again, own = self._always or set(), list[bool](), set[str]()
        for line in words:
            text, (fold, number) = plain(line), _folded(line)
            if number is not None:
                again.append(self._counts(fold, number))
                if again[-1] or self._part == number == 1:
                    self._counted[fold] = number
                continue
            again.append(text in always or fold in self._paged)
            self._paged |= {fold} - {""}
            own |= set() if fold else {text}
        self._part += 1
        if own:
            self._always = own if self._always is None else always & own
        return again

    def _counts(self, fold: str, number: int) -> bool:
        """Whether a number is that of the page after the last one; a head may come again with the same,
        or begin anew."""
        last = self._counted.get(fold)
        again = fold in self._heads and number in (1, last)
        return again or (last is not None and number == last + 1)


def _folded(line: str) -> tuple[str, int | None]:
    """A line without the number of its page, "" where it has none; with that number where no word says
    that it is one."""
    text = plain(line)
    if _PAGE.search(text):
        return _PAGE.sub("#", text), None
    lone = _LONE.search(line)
    return (plain(line[: lone.start()]), int(lone[1])) if lone else ("", None)


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

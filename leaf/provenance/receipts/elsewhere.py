"""Whether a number is of another row, column or year than the ones that a sentence names: South's
in *North made 15,100*. Pure.

A sentence may speak of a second row without its name (*the next one*, *from 12,400 to 15,100*), so
nothing is refused where it says that it does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from leaf.provenance.receipts.direction_words import directions, speaks_of_a_change
from leaf.provenance.receipts.evidence import ResultNumbers, Value, bounds
from leaf.provenance.receipts.figures import figures
from leaf.provenance.receipts.moments import columns_before, in_time
from leaf.provenance.receipts.words import YEAR, tokens, years
from leaf.readers.tabular.labels import label_of

_ANOTHER = re.compile(
    r"(?i)\b(?:others?|another|else(?:where)?|next|second|third|fourth|following|followed|rest|"
    r"remaining|runner-up|"
    r"andere[nrms]?|übrige[nrms]?|nächste[nrms]?|zweite[nrms]?|dritte[nrms]?|folgende[nrms]?|gefolgt|"
    r"restliche[nrms]?|autres?|suivie?s?|suivante?s?|prochaine?s?|deuxième|seconde?|troisième|reste|"
    r"restante?s?|otr[oa]s?|siguientes?|seguid[oa]s?|segund[oa]|tercer[oa]?|resto|demás)\b"
)
"""Words for a row that has no name in the sentence."""
_EARLIER = re.compile(
    r"(?i)\b(?:previous|prior|preceding|before|earlier|after|ago|last|compared|against|versus|vs|"
    r"until|"
    r"vorjahr\w*|vormonat\w*|vorquartal\w*|vorher\w*|zuvor|nach|letzte[nrms]?|gegenüber|"
    r"vergl\w+|bis|davor|"
    r"précédent\w*|avant|après|contre|dernière?|comparé\w*|rapport|jusqu\w*|"
    r"anterior\w*|antes|tras|después|pasad[oa]|frente|respecto|comparación|hasta)\b"
)
"""Words that lead to what came before the time that is named."""
_SINCE = re.compile(
    r"(?i)\b(?:since|from|starting|began|started|compared|against|versus|vs|unlike|"
    r"seit|von|ab|gegenüber|vergl\w+|anders|begann\w*|"
    r"depuis|partir|rapport|comparé\w*|contre|"
    r"desde|respecto|frente|comparación|partir de)\b|(?<=% )(?:on|over|above)\b"
)
"""Words that lead from the time that is named to a later one."""
_COMPARED = re.compile(
    r"(?i)\b(?:than|ahead|behind|beat\w*|overt\w+|outs\w+|surpass\w*|exceed\w*|top(?:s|ped)|above|below|over|"
    r"unlike|like|trail\w*|lead\w*|pass\w*|"
    r"vor|hinter|anders|über|unter|schläg\w*|übertr\w+|überhol\w*|"
    r"devant|derrière|dépass\w*|devanc\w*|au-dess\w+|"
    r"super\w+|detrás|delante|encima|debajo|aventaj\w*)\b"
)
"""Words by which a piece of a sentence speaks of one thing beside another."""
_JOINT = re.compile(
    r"(?i)[*_]*(?:\s?[(:]|\s[–—-]|,\s(?:which|who|das|die|der|welche[rs]?|qui|que|el cual|la cual)"
    r"(?:\s[^\W\d_]+){1,3}|['’]s(?:\s[^\W\d_]+){0,2})?\s[*_]*[$€£¥]?\Z|\s\([$€£¥]?\Z"
)
"""What stands between a name and its number: nothing, a bracket, a colon, `, which has`."""
_OPENED = re.compile(r"\s?[%€$£]?\s?\(([^\d()]{2,60})\)")
_SEVERAL = re.compile(
    r"(?i)\s?(?:[^\W\d_]+|[%€$£¥])?\W*(?:(?:vs|versus|against|to|and|zu|gegen|gegenüber|und|bis|"
    r"à|contre|et|frente a|contra|a|y|compared (?:to|with))\b\W*)?[$€£¥]?\d"
)
"""What goes on with another number: `(300 vs 200)`."""
_LEADS = re.compile(rf"(?<!\w)({YEAR.pattern}):")
"""A year that leads what comes behind it: `2024: North 300, South 200`."""
NAME_WORDS = 6
"""Words of a name at most."""


@dataclass(frozen=True)
class SentencePiece:
    """What the piece of a sentence says in which a figure stands."""

    text: str = ""
    words: frozenset[str] = frozenset()
    """Its words, and its dates as results write them."""
    beside: frozenset[str] = frozenset()
    """Those of the pieces around it that tell no number."""
    before: str = ""
    """The sentence up to the figure."""
    after: str = ""
    """The sentence behind it."""


WHOLE = SentencePiece()


def is_of_another_piece(
    hit: Value, table: ResultNumbers, said: frozenset[str], piece: SentencePiece
) -> bool:
    """Whether a sentence that names several rows or years tells a cell of one of them, or of none,
    where it names another: South's in *North made 15,100 and West 9,400*."""
    of_one = bool(table.with_all(said))
    joined = frozenset[int]() if of_one else _joined_to(table, piece)
    if joined and hit.row not in joined:
        words = frozenset[str]().union(*(table.labels[row] for row in joined))
        return not _holds_them(table, hit.row, words, "")
    times = years(piece.text) & piece.words or frozenset(_LEADS.findall(piece.before)[-1:])
    several = len({word for word in said if YEAR.fullmatch(word)}) > 1
    columns = _columns(hit, table, times) if several else frozenset[int]()
    words = piece.words - times if len(times) > 1 else piece.words | times
    rows = frozenset[int]() if of_one else _rows(hit, table, words, times, piece.text)
    names = table.telling.intersection(times.union(*(table.labels[row] for row in rows)))
    if not (rows or columns) or _ANOTHER.search(piece.text) or _compares(piece.text, names):
        return False
    own = table.labels[hit.row] & table.telling | frozenset(YEAR.findall(hit.column))
    if piece.beside & own.difference(*(table.labels[row] for row in rows)):
        return False
    earlier = _is_in_time(hit, table, rows, -1) or _is_column_before(hit, table, columns)
    if earlier and (speaks_of_a_change(piece.text) or _EARLIER.search(piece.text)):
        return False
    later = _is_in_time(hit, table, rows, 1) or _is_column_after(hit, table, columns)
    if later and _SINCE.search(piece.text):
        return False
    return not _is_told(hit, table, rows, columns, piece.text)


def _compares(text: str, names: frozenset[str]) -> bool:
    """Whether a piece may speak of one thing beside that which it names: *it beat North by 300*."""
    beside = _COMPARED.search(text)
    return (beside is not None and not tokens(text[: beside.start()]) & names) or any(
        word.compares for word in directions(text)
    )


def _joined_to(table: ResultNumbers, piece: SentencePiece) -> frozenset[int]:
    """Rows whose very names stand right beside a figure: `ahead of North (200)`, `200 (North)`."""
    if opened := _OPENED.match(piece.after):
        rows = table.called(opened[1])
    elif (joint := _JOINT.search(piece.before)) and not _SEVERAL.match(piece.after):
        words = piece.before[: joint.start()].split(" ")[-NAME_WORDS:]
        names = (" ".join(words[at:]) for at in range(len(words)))
        rows = next(filter(None, map(table.called, names)), frozenset())
    else:
        rows = frozenset()
    return rows


def is_elsewhere(
    hit: Value,
    table: ResultNumbers,
    said: frozenset[str],
    times: frozenset[str],
    sentence: str,
    called: frozenset[int] = frozenset(),
) -> bool:
    """Whether a cell lies outside of all that a sentence names, and nothing in it leads there.

    `said`: its words; `times`: those of them that are years; `called`: rows whose very names stand
    beside the figure, in a table of the text.
    """
    rows = called if hit.row not in called else frozenset()
    rows = rows or _rows(hit, table, said, times, sentence)
    columns = _columns(hit, table, times)
    if not (rows or columns) or _ANOTHER.search(sentence):
        return False
    earlier = _is_in_time(hit, table, rows, -1) or _is_column_before(hit, table, columns)
    if earlier and (speaks_of_a_change(sentence) or _EARLIER.search(sentence)):
        return False
    later = _is_in_time(hit, table, rows, 1) or _is_column_after(hit, table, columns)
    if later and _SINCE.search(sentence):
        return False
    return not _is_told(hit, table, rows, columns, sentence)


def _rows(
    hit: Value, table: ResultNumbers, words: frozenset[str], times: frozenset[str], sentence: str
) -> frozenset[int]:
    """The rows of which it speaks, if the cell is in none of them; else those of the one year that
    it names, if the cell is of another."""
    named = table.with_all(words)
    if named and hit.row not in named and not _holds_them(table, hit.row, words, sentence):
        return named
    # Of it, the year says something else.
    if not named and hit.row in table.with_all(words - times):
        return frozenset()
    of_year = table.with_all(times) if len(times) == 1 else frozenset[int]()
    dated = any(map(YEAR.fullmatch, table.labels[hit.row]))
    return of_year if dated and hit.row not in of_year else frozenset()


def _holds_them(table: ResultNumbers, row: int, words: frozenset[str], sentence: str) -> bool:
    """Whether a row says nothing but its year that the sentence does not: the total of all, or of
    those that it names."""
    texts = [cell for cell in table.rows[row] if isinstance(cell, str) and cell.strip()]
    totals = [text for text in texts if (label := label_of(text)) and label.exact]
    # `Z` and `3DS` hold no word that could be said
    wordless = [text for text in texts if all(word.isdigit() for word in tokens(text))]
    if not all(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", sentence) for text in wordless):
        return False
    own = (table.labels[row] & table.telling).difference(*map(tokens, totals))
    return all(word in words or word.isdigit() for word in own)


def _columns(hit: Value, table: ResultNumbers, times: frozenset[str]) -> frozenset[int]:
    """The columns of the one year that it names, if the cell is in a column of another."""
    own = frozenset(YEAR.findall(hit.column))
    if len(times) != 1 or not own or own & times:
        return frozenset()
    return frozenset(j for j, name in enumerate(table.columns) if times <= {*YEAR.findall(name)})


def _is_in_time(hit: Value, table: ResultNumbers, rows: frozenset[int], way: int) -> bool:
    """Whether a cell is of the same as one of these rows, before (-1) or after (1) it."""
    return any(in_time(table, hit.row, row) == way for row in rows)


def _is_column_before(hit: Value, table: ResultNumbers, columns: frozenset[int]) -> bool:
    past = columns_before(table)
    return table.columns.index(hit.column) in {past.get(column) for column in columns}


def _is_column_after(hit: Value, table: ResultNumbers, columns: frozenset[int]) -> bool:
    column, past = table.columns.index(hit.column), columns_before(table)
    while (before := past.get(column)) is not None and before not in columns:
        column = before
    return before is not None


def _is_told(
    hit: Value,
    table: ResultNumbers,
    rows: frozenset[int],
    columns: frozenset[int],
    sentence: str,
) -> bool:
    """Whether the sentence also tells the number of what it names: the other one is of something
    beside it, which may have no name here or another than in its row (*Süden*, *the French*)."""
    own = table.columns.index(hit.column)
    numbers = [
        abs(float(table.numbers[i, j])) for i in rows or (hit.row,) for j in columns or (own,)
    ]
    return tells(sentence, numbers)


def tells(sentence: str, numbers: Iterable[float]) -> bool:
    """Whether one of these numbers stands in a sentence, as it is or rounded."""
    sizes = _sizes(sentence)
    return any(low <= abs(n) <= high for n in numbers for low, high in sizes)


@lru_cache(maxsize=64)
def _sizes(sentence: str) -> tuple[tuple[float, float], ...]:
    return tuple(bounds(reading) for figure in figures(sentence) for reading in figure.readings)

"""Whether a value that would be written like a figure is the one that is meant, or is met by
chance. Pure.

Numbers that are met easily, the small and the roughly rounded ones, need words in common with what
they are matched to. Results of earlier answers become more with every question, so they count only
where the sentence speaks of them: of their row and their column, of no other row, year or
condition, and with so many digits that hardly any other of them could be meant.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cached_property

from leaf.provenance.receipts.derive import RECALLED, chance
from leaf.provenance.receipts.direction_words import speaks_of_a_change, speaks_of_changes
from leaf.provenance.receipts.elsewhere import (
    WHOLE,
    SentencePiece,
    is_elsewhere,
    is_of_another_piece,
    tells,
)
from leaf.provenance.receipts.evidence import SMALL, EvidenceBook, ResultNumbers, Value
from leaf.provenance.receipts.figures import Figure, NumberRange, figures
from leaf.provenance.receipts.moments import before, moment
from leaf.provenance.receipts.words import YEAR, tokens, years

COMMON = 1_000
"""Smaller numbers are not taken from a row of which the sentence does not speak, if it speaks of
others."""
BY_CHANCE = 0.05
"""Expected hits by chance, this one counted, up to which a value is taken without a row or a word
in common."""
DIGITS = 3
"""Digits that a figure has at least if it comes from a result of an earlier answer."""
_PERCENT = re.compile(
    r"%|pct|bps|basis|percent|prozent|share|rate|ratio|growth|margin|change|anteil|quote|marge|wachstum|portion|proportion|taux|part|tasa|"
    r"cuota|crec|crois|pourcent|porcent|variaci|évolution|participaci|änderung",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'((?:[^']|'')*)'")
_RECALLS = re.compile(
    r"(?i)\b(?:earlier|previous(?:ly)?|above|before|already|again|as "
    r"(?:said|shown|found)|recall|vorhin|zuvor|oben|bereits|"
    r"wie gesagt|précédemment|déjà|ci-dessus|plus tôt|antes|anterior(?:mente)?|ya|arriba)\b"
)
_CUES = {
    "above": r"above|over|more than|greater than|larger than|higher than|at "
    r"least|exceed(?:s|ed|ing)?|>=?|≥|from|since|after|"
    r"older than|ab|über|mehr als|mindestens|größer als|seit|nach|plus de|au moins|supérieure?s? "
    r"à|depuis|après|más de|al menos|"
    r"mayor(?:es)? (?:que|de)|superior(?:es)? a|desde|después de",
    "below": r"below|under|less than|fewer than|smaller than|lower than|at most|up "
    r"to|until|before|<=?|≤|younger than|unter|"
    r"weniger als|höchstens|kleiner als|bis|vor|moins de|au plus|inférieure?s? "
    r"à|jusqu'à|avant|menos de|como máximo|"
    r"menor(?:es)? (?:que|de)|hasta|antes de",
    "between": r"between|zwischen|entre|(?:between|zwischen|entre)\s\S+\s(?:and|und|et|y)",
    "limit": r"top|first|last|limit(?:ed "
    r"to)?|ersten|letzten|premiers|premières|derniers|primeros|últimos",
    "equal": r"=|equals?|exactly|genau|exactement|exactamente",
}
_ROLES = [
    (name, re.compile(rf"(?i)(?<!\w)(?:{words})\s*[$€£¥]?\s*$")) for name, words in _CUES.items()
]
_OR_MORE = re.compile(
    r"(?i)\s*(?:[\w%]+\s)?(?:or (?:more|over|above)|or (?P<less>less|fewer)|oder mehr|ou "
    r"plus|o más)\b"
)
_NOUN = re.compile(r"\s*[%€$£]?\s*([^\W\d_]{3,})")
_OF = re.compile(
    r"(?i)([^\W\d_]{3,})\s*(?:of|is|was|were|are|:|=|\||von|ist|war|waren|beträgt|betrug|est|était|de|es|fue|eran)?\s*[*_]*[$€£]?$"
)

_OF_ALL = re.compile(
    r"(?i)\b(?:best|worst|top|most|least|highest|lowest|largest|biggest|smallest|lead(?:er|ing|s)?|"
    r"maxim\w+|minim\w+|overall|totals?|all|every|"
    r"beste[nrs]?|schlechteste[nrs]?|höchste[nrs]?|niedrigste[nrs]?|größte[nrs]?|kleinste[nrs]?|"
    r"meiste[nrs]?|spitze\w*|insgesamt|gesamt\w*|alle[nrs]?|"
    r"meilleure?s?|pires?|plus|moins|tête|totale?s?|toute?s?|tous|ensemble|"
    r"mejor(?:es)?|peor(?:es)?|mayor(?:es)?|menor(?:es)?|líder|tod[oa]s?|conjunto)\b"
)
"""Words for another row, or all of them, beside the one under whose name a sentence stands."""
_LOSS = re.compile(
    r"(?i)\([$€£¥]?\s?\d|\b(?:loss(?:es)?|lost|deficits?|shortfalls?|negatives?|minus|debits?|"
    r"verlust\w*|verloren|fehlbetr\w+|defizit\w*|negativ\w*|soll|"
    r"pertes?|perdu\w*|déficits?|négatif\w*|négative\w*|débits?|"
    r"pérdidas?|perdid\w+|negativ[oa]s?|débitos?)\b"
)
"""What says in a table that a number is below zero: a bracket around it, or a word."""

Role = tuple[str, float]


@dataclass(frozen=True)
class FigureClaim:
    """What a sentence says about one of its figures."""

    words: frozenset[str]
    """Its words, and its dates as results write them; without those of the figure itself."""
    before: str
    after: str
    sentence: str
    at: int = 0
    """Where in the sentence the figure ends."""
    head: str = ""
    """What stands above it, in a table of the text."""
    first: str = ""
    """There: the first cell of its row."""
    cell: str = ""
    """There: both of these and its own cell."""
    under: tuple[str, ...] = ()
    """Elsewhere: what its line begins with, and the headings above it, the nearest first."""
    piece: SentencePiece = WHOLE
    """What the piece of the sentence says in which it stands."""

    @cached_property
    def near(self) -> frozenset[str]:
        return tokens(f"{self.before} {self.after}")

    @cached_property
    def years(self) -> frozenset[str]:
        return years(self.sentence) | years(self.head)

    @cached_property
    def recalls(self) -> bool:
        """Whether it says that it speaks of what was found before."""
        return bool(_RECALLS.search(self.sentence))

    @cached_property
    def beside(self) -> frozenset[str]:
        """The words that a number stands directly beside: `12 orders`, `orders: 12`."""
        after, before = _NOUN.match(self.after), _OF.search(self.before)
        return tokens(" ".join(match[1] for match in (after, before) if match))


def roles(question: str) -> frozenset[Role]:
    """The numbers of a question, each with the role that it has there."""
    all_roles: set[Role] = set()
    for figure in figures(question):
        before, after = (
            question[max(0, figure.start - 40) : figure.start],
            question[figure.end : figure.end + 40],
        )
        all_roles |= role_of(figure, before, after)
    return frozenset(all_roles)


def role_of(figure: Figure, before: str, after: str) -> frozenset[Role]:
    """As what a number is used that sets a limit or a time; nothing for one that is told as a
    fact."""
    if figure.unit in ("date", "year"):
        return frozenset((f"time {date}", 0.0) for date in figure.dates)
    cue = cue_of(before, after)
    return (
        frozenset((f"{cue} {figure.unit}", reading.value) for reading in figure.readings)
        if cue
        else frozenset()
    )


def cue_of(before: str, after: str) -> str:
    """The word before or after a number that makes it a limit."""
    if behind := _OR_MORE.match(after):
        return "below" if behind["less"] else "above"
    return next((name for name, pattern in _ROLES if pattern.search(before)), "")


def dated(figure: Figure, hit: Value, said: FigureClaim, book: EvidenceBook) -> bool:
    """Whether a date that stands somewhere is the one that is meant."""
    if hit.own:
        return (
            hit.kind != "condition"
            or figure.unit == "year"
            or bool(cue_of(said.before, said.after))
        )
    if hit.kind == "condition":
        return False
    table = book.table_of(hit)
    if table is None:
        return len(said.words & hit.labels) >= 2
    spoken = bool(tokens(hit.column) & said.words) or (
        len(table.labels) > 1 and bool(table.labels[hit.row] & said.words)
    )
    return spoken and referred(table, said, book, dated=True)


def believed(
    figure: Figure,
    reading: NumberRange,
    hit: Value,
    exact: bool,
    as_ratio: bool,
    said: FigureClaim,
    book: EvidenceBook,
) -> bool:
    """Whether a value that would be written like the figure is the one that is meant."""
    if hit.kind == "condition":
        return hit.own and exact and bool(cue_of(said.before, said.after))
    shares = figure.unit in ("percent", "points")
    if shares and not as_ratio and not _PERCENT.search(f"{hit.column} {hit.how} {hit.shown}"):
        plain = (
            hit.own
            and bool(said.words & (tokens(hit.column) or hit.labels))
            and hit.kind == "exact"
        )
        return plain and exact and reading.value != int(reading.value)
    if shares and not as_ratio and _is_ratio(hit, book):
        return False
    if not hit.own:
        return _recalled(figure, reading, hit, said, book)
    small = (
        abs(reading.value) < SMALL and reading.high - reading.low >= 1 and figure.unit == "number"
    )
    if hit.row >= 0:
        year = figure.unit == "year"
        of_cell = _of_cell(figure, reading, hit, small, said, book)
        return of_cell and (year or not _is_elsewhere(hit, said, book))
    common = said.words & hit.labels
    if (said.words & hit.others and not common) or _is_elsewhere(hit, said, book):
        return False
    if hit.kind == "counted" and small:
        return bool(said.near & hit.labels)
    if hit.kind in ("quoted", "printed") and small:
        return len(common) >= 2 or (hit.kind == "printed" and bool(common & hit.line))
    by_chance = chance(book.around(reading.value), reading)
    return (
        len(common) >= 2
        or by_chance <= BY_CHANCE
        or (bool(common) and (hit.kind not in ("quoted",) or by_chance <= 0.3))
    )


def _of_cell(
    figure: Figure,
    reading: NumberRange,
    hit: Value,
    small: bool,
    claim: FigureClaim,
    book: EvidenceBook,
) -> bool:
    """The same for a cell of the answer's own results."""
    table, year = book.table_of(hit), figure.unit == "year"
    if table is None:
        return bool(claim.words & hit.labels)
    if table.is_time(table.columns.index(hit.column)) and not year:
        return False
    if year:
        return bool(moment(int(reading.value), hit.column)) or bool(tokens(hit.column) & claim.near)
    named, column = table.named(claim.words), tokens(hit.column)
    beside = [
        j
        for j, name in enumerate(table.columns)
        if table.is_measure(j) and tokens(name) & claim.beside
    ]
    if beside and hit.column not in {table.columns[j] for j in beside}:
        return False
    if not _is_set_down(figure, hit, table, claim):
        return False
    if (
        named
        and hit.row not in named
        and abs(reading.value) < COMMON
        and not _is_before(hit, named, table, claim)
    ):
        return False
    in_row = hit.row in named or len(table.labels) == 1
    spoken = bool(column & claim.words)
    if in_row and small:
        return spoken or not _NOUN.match(claim.after) or claim.sentence.lstrip().startswith("|")
    if in_row and (spoken or len(table.labels) > 1):
        return True
    if chance(book.around(reading.value), reading) <= BY_CHANCE and not small:
        return True
    return spoken and (
        _is_end(table, hit) or chance(_in_column(table, hit, reading.value), reading) <= BY_CHANCE
    )


def _is_ratio(hit: Value, book: EvidenceBook) -> bool:
    """Whether a cell is a part of one: 0.05 is 5 %, and never 0.05 %."""
    table = book.table_of(hit)
    return table is not None and table.is_ratio(table.columns.index(hit.column))


def _is_set_down(figure: Figure, hit: Value, table: ResultNumbers, claim: FigureClaim) -> bool:
    """Whether a cell is written as what it is: under its column's name, and with its sign."""
    return _stands_under(figure, hit, table, claim) and _has_sign(figure, hit, table, claim)


def _stands_under(figure: Figure, hit: Value, table: ResultNumbers, claim: FigureClaim) -> bool:
    """Whether a cell is of the column whose very name stands above the figure, or at the beginning
    of its row or line, where there is such a column. A line may add the number of another one."""
    for label in filter(None, map(tokens, (claim.head, claim.first))):
        meant = {name for name in table.columns if tokens(name) == label}
        if meant and hit.column not in meant:
            return False
    if figure.unit != "number" or tokens(hit.column) & claim.words:
        return True
    labels = [*filter(None, map(tokens, claim.under))]
    others = [j for j, name in enumerate(table.columns) if tokens(name) in labels]
    numbers = [float(table.numbers[hit.row, j]) for j in others]
    return (
        not numbers
        or hit.column in {table.columns[j] for j in others}
        or tells(claim.sentence, numbers)
    )


def _has_sign(figure: Figure, hit: Value, table: ResultNumbers, claim: FigureClaim) -> bool:
    """Whether a figure leaves a cell's sign as it is, where that tells gains from losses. A sentence
    may say *lost 45*, a table copies what it is given; of changes `direction` speaks."""
    sign = math.copysign(1, hit.number) if hit.number else 0
    if sign in (0, figure.sign) or speaks_of_changes(hit.column):
        return True
    if not figure.sign and (sign > 0 or not claim.head or _LOSS.search(claim.cell)):
        return True
    return not table.has_both_signs(table.columns.index(hit.column))


def _is_elsewhere(hit: Value, claim: FigureClaim, book: EvidenceBook) -> bool:
    """Whether a cell is of another row or year than the ones that a sentence names. The other cells
    of a row of a table are no part of what it says of one of them."""
    table, named = book.table_of(hit), claim.years & claim.words
    if table is None and hit.printed is not None:
        table = hit.printed.table
        hit = replace(hit, row=hit.printed.row, column=hit.printed.column)
    if table is None:
        return False
    sentence = claim.cell or claim.sentence
    return is_elsewhere(hit, table, claim.words, named, sentence, _called(hit, table, claim)) or (
        not claim.cell and is_of_another_piece(hit, table, claim.words, claim.piece)
    )


def _called(hit: Value, table: ResultNumbers, claim: FigureClaim) -> frozenset[int]:
    """Rows whose very names stand beside a figure, or above it where its sentence names no other."""
    if claim.cell:
        return table.called(claim.first) or table.called(claim.head)
    rows = next(filter(None, map(table.called, claim.under)), frozenset[int]())
    if _OF_ALL.search(claim.sentence):
        return frozenset()
    own = table.labels[hit.row] & table.telling
    if rows and claim.words & own.difference(*(table.labels[row] for row in rows)):
        return frozenset()
    return frozenset() if rows and table.calls(hit.row, claim.sentence, rows) else rows


def _is_before(hit: Value, named: frozenset[int], table: ResultNumbers, claim: FigureClaim) -> bool:
    """Whether a cell comes just before one that is named, in a sentence about a change."""
    return speaks_of_a_change(claim.sentence) and hit.row in {
        before(table).get(row) for row in named
    }


def _is_end(table: ResultNumbers, hit: Value) -> bool:
    """Whether a cell is the first, last, largest or smallest of its column, of which texts speak
    without naming a row."""
    numbers = table.numbers[:, table.columns.index(hit.column)]
    filled = [i for i, number in enumerate(numbers) if number == number]
    if not filled:
        return False
    ends = {
        filled[0],
        filled[-1],
        int(max(filled, key=lambda i: numbers[i])),
        int(min(filled, key=lambda i: numbers[i])),
    }
    return hit.row in ends


def _in_column(table: ResultNumbers, hit: Value, value: float) -> int:
    """Different numbers of about this size in the column of a cell."""
    numbers = table.numbers[:, table.columns.index(hit.column)]
    return len({float(n) for n in numbers if abs(value) / 1.5 <= abs(n) <= abs(value) * 1.5})


def _recalled(
    figure: Figure, reading: NumberRange, hit: Value, claim: FigureClaim, book: EvidenceBook
) -> bool:
    """The same for what an earlier answer's calls gave."""
    if figure.digits < DIGITS:
        return False
    table = book.table_of(hit)
    if table is None:
        if len(claim.words & hit.labels) < 2 or claim.years - hit.labels:
            return False
    elif (
        (hit.row not in table.named(claim.words) and len(table.labels) > 1)
        or not (tokens(hit.column) & claim.words or claim.recalls)
        or not referred(table, claim, book)
        or not _is_set_down(figure, hit, table, claim)
        or _is_elsewhere(hit, claim, book)
    ):
        return False
    own = claim.words & hit.labels
    alike = {
        abs(v.number)
        for v in book.alike(reading.value)
        if not v.own and len(v.labels & claim.words) >= len(own)
    }
    return chance(max(1, len(alike)), reading) <= RECALLED


def referred(
    table: ResultNumbers, said: FigureClaim, book: EvidenceBook, dated: bool = False
) -> bool:
    """Whether a sentence speaks of this earlier result: of all that it was limited to, and of
    nothing that is not in it."""
    if (said.words & book.row_words) - table.words or said.years - table.words:
        return False
    kept_to = [tokens(text) for text in _QUOTED.findall(table.sql) if "%" not in text]
    if any(words and not words & said.words for words in kept_to):
        return False
    if not dated and frozenset(YEAR.findall(table.sql)) - said.years:
        return False
    if _proper(said.sentence) - table.words:
        return False
    return said.recalls or not any(
        t.evidence.message_id == ""
        and t.named(said.words)
        and frozenset().union(*map(tokens, t.columns)) & said.words
        for t in book.tables
    )


def _proper(sentence: str) -> frozenset[str]:
    """Names in a sentence, as far as capitals tell: not its first word, and not in German, where
    every noun has one."""
    if re.search(r"\b(?:der|die|das|und|ist|war|hatte|von|mit)\b", sentence):
        return frozenset()
    return tokens(" ".join(re.findall(r"(?<=[a-zà-ÿ,;] )[A-Z][a-zà-ÿ]{2,}", sentence)))

"""Which steps a sentence leaves possible: the share of a row that it names beside the figure, and a
growth of the right one of two numbers, as a decline from 1,204 to 1,060 is 12 % of the earlier one,
never 13.6 % of the later. Pure.

Only what is sure is refused: where the sentence says with what it compares (`25 % more than
South`), that is the base; else, where the order in time is known, the earlier one.
"""

from __future__ import annotations

import re

from leaf.provenance.receipts.belief import FigureClaim
from leaf.provenance.receipts.derive import GROWTH, OF_ALL, DerivationStep
from leaf.provenance.receipts.direction import over_time, runs_back, told_apart
from leaf.provenance.receipts.direction_words import directions, without_hedges
from leaf.provenance.receipts.elsewhere import is_of_another_piece
from leaf.provenance.receipts.evidence import EvidenceBook
from leaf.provenance.receipts.moments import later
from leaf.provenance.receipts.words import tokens

_THAN = re.compile(r"(?i)\b(?:than|als|que|qu['’])(?=\s|\b)")
_COMPARED = re.compile(
    r"(?i)\b(?:compared (?:to|with)|versus|vs\b\.?|relative to|above|below|ahead of|behind|"
    r"verglichen mit|im vergleich (?:zu[mr]?|mit)|gegenüber|par rapport (?:à|aux?)|"
    r"(?:su|in)p?[ée]rieure?s? (?:à|aux?)|frente al?|respecto (?:al?|del?)|"
    r"en comparación con|comparé[es]* (?:à|aux?|avec)|por (?:encima|debajo) del?)(?=\s)"
)
_PIECE = re.compile(r",(?=\s)|[;—(]|\s[–-]\s|\.(?=\s|$)")


def fits(step: DerivationStep, said: FigureClaim, book: EvidenceBook) -> bool:
    """Whether a sentence leaves a step possible: what follows from one row, such as its share or its
    growth, is told where that row is named, and a growth is of the number that it compares with."""
    return not _is_of_another_row(step, said, book) and right_base(step, said, book)


def _is_of_another_row(step: DerivationStep, said: FigureClaim, book: EvidenceBook) -> bool:
    table, other = book.table_of(step.value), step.other
    if table is None or said.cell or (other is None and step.operation != OF_ALL):
        return False
    if other is not None:
        same = book.table_of(other) is table and other.row == step.value.row
        if not same and later(step.value, other, book) == 0:
            return False
    return is_of_another_piece(step.value, table, said.words, said.piece)


def right_base(step: DerivationStep, said: FigureClaim, book: EvidenceBook) -> bool:
    """Whether a growth is one of the number that the sentence compares with."""
    if step.operation != GROWTH or step.other is None:
        return True
    names = told_apart(step.value, step.other, book)
    own, base = names or (frozenset[str](), frozenset[str]())
    if names and (meant := _compared_with(said, own, base)):
        return meant > 0 or _turned_round(step.value.number - step.other.number, said)
    order = later(step.value, step.other, book)
    if order >= 0 or runs_back(said.sentence):
        return True
    return _left_out(said, own, base)


def _compared_with(claim: FigureClaim, own: frozenset[str], base: frozenset[str]) -> int:
    """1 where the sentence compares with the base, -1 where with the other number, 0 where it does
    not say; the first that it says after the figure counts, or else the last before."""
    text = without_hedges(claim.sentence)
    candidates: list[tuple[bool, int, int]] = []
    for cue in (*_COMPARED.finditer(text), *_than(text)):
        right = tokens(_PIECE.split(text[cue.end() :], maxsplit=1)[0])
        if bool(right & own) != bool(right & base):
            candidates.append(
                (cue.end() <= claim.at, abs(cue.end() - claim.at), 1 if right & base else -1)
            )
    return min(candidates)[2] if candidates else 0


def _turned_round(change: float, claim: FigureClaim) -> bool:
    """Whether it takes the smaller of the two for the larger one, which `direction` says of the
    step."""
    signs = {word.sign for word in directions(claim.sentence) if word.compares}
    return len(signs) == 1 and (change > 0) == (signs == {1})


def _than(text: str) -> list[re.Match[str]]:
    """`than` and its like, behind a word that compares."""
    words = [word for word in directions(text) if word.compares]
    return [
        cue
        for cue in _THAN.finditer(text)
        if any(word.end <= cue.start() <= word.end + 40 for word in words)
    ]


def _left_out(claim: FigureClaim, earlier: frozenset[str], base: frozenset[str]) -> bool:
    """Whether it compares with the later one without a word of it: `2023 was 13.6 % higher`."""
    compares = any(
        w.compares and not over_time(claim.sentence, w) for w in directions(claim.sentence)
    )
    return compares and bool(claim.words & earlier) and not claim.words & base

"""A receipt for each figure of an answer: the value that it is, or that it is made from. Pure, and
without a model.

A figure has a receipt if it equals a value that a tool gave, as it stands or rounded as it is
written; if it stands in words that were read, or as a condition in a query; or if it follows from
such values by one step (`derive`). `belief` says when such a hit is more than chance, `direction`
whether the words beside a change say the opposite of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import cast

from leaf.provenance.receipts.bases import fits
from leaf.provenance.receipts.belief import (
    DIGITS,
    FigureClaim,
    Role,
    believed,
    dated,
    referred,
    role_of,
    roles,
)
from leaf.provenance.receipts.derive import (
    ANYWHERE,
    CHANGES,
    LABELLED,
    PARAGRAPH,
    RECALLED,
    SENTENCE,
    Derivation,
    Steps,
    derive,
    of_before,
    of_best,
    of_cells,
    of_figures,
    of_first,
    of_named,
    of_totals,
)
from leaf.provenance.receipts.direction import contradictions
from leaf.provenance.receipts.direction_words import speaks_of_a_change, speaks_of_changes
from leaf.provenance.receipts.elsewhere import WHOLE, SentencePiece
from leaf.provenance.receipts.evidence import (
    NO_CALL,
    Evidence,
    EvidenceBook,
    Kind,
    ResultNumbers,
    Value,
)
from leaf.provenance.receipts.figures import Figure, NumberRange, figures
from leaf.provenance.receipts.grids import TextCell, cell_at, cells_of
from leaf.provenance.receipts.kept import book_of
from leaf.provenance.receipts.outline import labels_at, outline_of
from leaf.provenance.receipts.pieces import Piece, cut_names, pieces_of
from leaf.provenance.receipts.swaps import swapped
from leaf.provenance.receipts.words import spoken, tokens
from leaf.shapes.parts import ReceiptKept

DERIVED_FROM = 10
"""Results that figures may follow from: those of this answer, then the newest of earlier ones."""
_WEAKER = {"quoted": 1, "condition": 2}
_SENTENCE_END = re.compile(r"(?<=[.!?:])(?<!\d\d\d\d:)\s+(?=[A-ZÄÖÜÉÀÊ¿¡(*\"“«])|\n+")
"""What `2024: ` stands before is of that year."""
NEAR = 40
"""Characters before and after a figure that say in which role it is used."""


@dataclass(frozen=True)
class Receipt:
    """One figure and where it comes from."""

    text_index: int
    """Which of the answer's texts it stands in, from 0."""
    start: int
    end: int
    text: str
    kind: Kind
    call_id: str = ""
    message_id: str = ""
    """The earlier answer whose call it is; empty for this one."""
    result_id: str = ""
    row: int = -1
    """Index into the shown rows of the result, -1 where it is no cell."""
    column: str = ""
    value: str = ""
    """The value behind it, unrounded."""
    how: str = ""
    """In words: `North − South`, `rows of r2`."""
    place: str = ""
    """File and place of the words that it stands in."""
    other_call_id: str = ""
    """Of the second number that it is made from, where another call gave that."""
    against: str = ""
    """What the results say where the text says the opposite: `The text says “rose”; the results say
    it fell: 1,204 → 1,060.`"""

    def kept(self, part: int) -> ReceiptKept:
        """As it is kept, without what is empty. `part`: the index of the part at which its text
        begins."""
        told = {
            k: v for k, v in asdict(self).items() if v not in ("", -1) or k in ("start", "kind")
        }
        del told["text_index"]
        return cast("ReceiptKept", {**told, "part": part})


def match(texts: Sequence[str], evidence: Sequence[Evidence], question: str = "") -> list[Receipt]:
    """A receipt for each figure of an answer's texts, in their order; of kind `none` where there is
    none.

    `evidence`: the calls of this answer first, then those of earlier ones, newest first.
    `question`: the one that is answered.
    """
    book = book_of(evidence)
    asked = roles(question)
    return [
        receipt
        for index, text in enumerate(texts)
        for receipt in _of_text(index, text, book, asked)
    ]


def _of_text(index: int, text: str, book: EvidenceBook, asked: frozenset[Role]) -> list[Receipt]:
    all_figures = figures(text, book.names)
    sentences = [_around(text, figure) for figure in all_figures]
    claims = _claims(text, all_figures, sentences, book)
    repeated = {
        i
        for i, f in enumerate(all_figures)
        if not f.dates and role_of(f, claims[i].before, claims[i].after) & asked
    }
    direct = {
        i: (figure, *hit)
        for i, figure in enumerate(all_figures)
        if i not in repeated and (hit := _direct(figure, book, claims[i]))
    }
    _leave_out_swapped(direct, text, all_figures, sentences, claims, book)
    derivations = {
        i: change
        for i in direct
        if (change := _change(all_figures[i], claims[i], direct[i][1], book))
    }
    receipts: list[Receipt] = []
    for i, figure in enumerate(all_figures):
        if i in repeated:
            receipts.append(_receipt(index, figure, "asked", Value(0.0, "", "asked", NO_CALL)))
        elif i in derivations:
            del direct[i]
            receipts.append(_of_step(index, figure, derivations[i]))
        elif i in direct:
            _, value, kind = direct[i]
            receipts.append(_receipt(index, figure, kind, value))
        elif derived := derive(
            figure,
            claims[i].words,
            claims[i].after,
            _pools(text, figure, sentences[i], claims[i], direct, derivations.values(), book),
            partial(fits, said=claims[i], book=book),
        ):
            derivations[i] = derived
            receipts.append(_of_step(index, figure, derived))
        else:
            kind = "asked" if role_of(figure, claims[i].before, claims[i].after) & asked else "none"
            receipts.append(_receipt(index, figure, kind, Value(0.0, "", kind, NO_CALL)))
    values = {
        i: value
        for i, (_, value, kind) in direct.items()
        if kind in ("exact", "rounded", "printed", "quoted")
    }
    for i, against in contradictions(
        text, all_figures, sentences, values, derivations, book
    ).items():
        receipts[i] = replace(receipts[i], against=against)
    return receipts


def _claims(
    text: str,
    all_figures: Sequence[Figure],
    sentences: Sequence[tuple[int, int]],
    book: EvidenceBook,
) -> list[FigureClaim]:
    """What the text says of each figure, by the words of its sentence and of its piece of it, or by its
    table."""
    whole = {bounds: _said(text, bounds, all_figures) for bounds in {*sentences}}
    grid, outline = cells_of(text), outline_of(text)
    names = frozenset[str]().union(*map(_cut_names, book.tables[:DERIVED_FROM]))
    pieces = {
        start: piece
        for bounds in whole
        for start, piece in pieces_of(text, bounds, all_figures, names).items()
    }
    claims = []
    for figure, at in zip(all_figures, sentences, strict=True):
        claim, cell = _speaks(text, figure, at, whole[at]), cell_at(grid, figure.start)
        if cell is not None:
            claims.append(_under_its_head(claim, cell, text, all_figures))
            continue
        piece = _piece(text, figure, at, pieces.get(figure.start), all_figures)
        claims.append(replace(claim, under=labels_at(outline, figure.start), piece=piece))
    return claims


def _leave_out_swapped(
    direct: dict[int, tuple[Figure, Value, Kind]],
    text: str,
    all_figures: Sequence[Figure],
    sentences: Sequence[tuple[int, int]],
    claims: Sequence[FigureClaim],
    book: EvidenceBook,
) -> None:
    """Take away the cells of figures that stand beside each other's names."""
    for at in dict.fromkeys(sentences):
        cells = {
            i: value
            for i, (_, value, kind) in direct.items()
            if sentences[i] == at and not claims[i].cell and kind in ("exact", "rounded")
        }
        for i in swapped(text, at, all_figures, cells, book):
            del direct[i]


def _change(
    figure: Figure, claim: FigureClaim, hit: Value, book: EvidenceBook
) -> Derivation | None:
    """The change that a percentage is, where the sentence speaks of one, though it also equals some
    cell."""
    if (
        figure.unit != "percent"
        or hit.row < 0
        or speaks_of_changes(hit.column)
        or not speaks_of_a_change(claim.sentence)
    ):
        return None
    tables = [table for table in book.tables[:DERIVED_FROM] if not table.evidence.message_id]
    pools = [
        (make(table, claim.words), LABELLED) for table in tables for make in (of_best, of_before)
    ]
    possible = partial(fits, said=claim, book=book)
    derived = derive(figure, claim.words, claim.after, pools, possible)
    return derived if derived and derived.step.operation in CHANGES else None


def _speaks(text: str, figure: Figure, at: tuple[int, int], words: frozenset[str]) -> FigureClaim:
    """What is said about a figure; the figure itself says nothing about what it is of."""
    before, after = (
        text[max(at[0], figure.start - NEAR) : figure.start],
        text[figure.end : min(at[1], figure.end + NEAR)],
    )
    own = tokens(figure.text) | {*figure.dates}
    return FigureClaim(words - own, before, after, text[at[0] : at[1]], figure.end - at[0])


def _cut_names(table: ResultNumbers) -> frozenset[str]:
    return table.kept("cut names", lambda: cut_names(table.callings))


def _piece(
    text: str,
    figure: Figure,
    at: tuple[int, int],
    piece: Piece | None,
    all_figures: Sequence[Figure],
) -> SentencePiece:
    """What the piece of its sentence says."""
    if piece is None:
        return WHOLE
    own = tokens(figure.text)
    beside = (_said(text, span, all_figures) for span in piece.around)
    return SentencePiece(
        text[slice(*piece.own)],
        _said(text, piece.own, all_figures) - own,
        frozenset().union(*beside),
        text[at[0] : figure.start],
        text[figure.end : at[1]],
    )


def _under_its_head(
    claim: FigureClaim, cell: TextCell, text: str, all_figures: Sequence[Figure]
) -> FigureClaim:
    """The same with what stands above the figure, in a table of the text."""
    words = claim.words | _said(text, cell.head, all_figures)
    head, first = (text[slice(*span)].strip() for span in (cell.head, cell.first))
    return replace(claim, words=words, head=head, first=first, cell=cell.words(text))


def _pools(
    text: str,
    figure: Figure,
    sentence: tuple[int, int],
    claim: FigureClaim,
    direct: Mapping[int, tuple[Figure, Value, Kind]],
    derivations: Collection[Derivation],
    book: EvidenceBook,
) -> Iterator[tuple[Steps, float]]:
    """What the figure may follow from, the nearest first, with the limit of chance for each; made
    only as far as it is needed."""
    paragraph = _paragraph(text, figure.start)
    near = [(f, v) for f, v, _ in direct.values() if sentence[0] <= f.start < sentence[1]]
    about = [(f, v) for f, v, _ in direct.values() if paragraph[0] <= f.start < paragraph[1]]
    yield of_figures(near), SENTENCE
    newest, words = book.tables[:DERIVED_FROM], claim.words
    tables = [table for table in newest if not table.evidence.message_id]
    of_made = {derived.step.value.column for derived in list(derivations)[-1:]}
    also = words.union(
        *map(tokens, of_made)
    )  # the change that goes with a difference is of the same column
    yield from (
        (of_named(table, also, spoken=True), LABELLED)
        for table in tables
        if of_made and table.named(words)
    )
    yield from ((of_best(table, words), LABELLED) for table in tables)
    yield from ((of_before(table, words), LABELLED) for table in tables)
    yield from ((of_named(table, words, spoken=True), LABELLED) for table in tables)
    yield from ((of_named(table, words), LABELLED) for table in tables)
    yield from ((of_first(table, words), LABELLED) for table in tables)
    if len(about) > len(near):
        yield of_figures(about), PARAGRAPH
    yield from ((of_totals(table, words), PARAGRAPH) for table in tables)
    yield from ((of_cells(table), ANYWHERE) for table in tables if not table.named(words))
    if figure.digits >= DIGITS:
        earlier = [
            t
            for t in newest
            if t.evidence.message_id
            and (len(t.labels) == 1 or t.named(words))
            and referred(t, claim, book)
        ]
        yield from ((of_named(table, words, spoken=True), RECALLED) for table in earlier)


def _direct(figure: Figure, book: EvidenceBook, claim: FigureClaim) -> tuple[Value, Kind] | None:
    """The value that a figure is, as it stands or rounded, and how it is that."""
    if figure.unit == "time":
        hit = next(
            (
                value
                for text, value in book.texts
                if value.own and value.kind != "condition" and figure.text in text
            ),
            None,
        )
        return (hit, hit.kind) if hit else None
    if figure.dates:
        days = (
            value for date, value in book.dates if any(_same_day(date, d) for d in figure.dates)
        )
        hit = next((value for value in days if dated(figure, value, claim, book)), None)
        if hit is not None or figure.unit == "date":
            return (hit, hit.kind) if hit else None
    best: tuple[tuple[bool | int, ...], Value, Kind] | None = None
    for reading, as_ratio in _targets(figure):
        for at, hit in enumerate(book.near(reading)):
            exact = abs(abs(hit.number) - abs(reading.value)) <= 1e-11 * max(
                1e-6, abs(reading.value)
            )
            common = len(claim.words & hit.labels)
            cell = hit.kind == "exact"
            rank = (
                not hit.own,
                not (cell and common),
                not exact,
                not cell,
                _WEAKER.get(hit.kind, 0),
                -len(claim.piece.words & hit.labels),
                -common,
                at,
            )
            if (best is None or rank < best[0]) and believed(
                figure, reading, hit, exact, as_ratio, claim, book
            ):
                best = (rank, hit, hit.kind if exact or not cell else "rounded")
    return (best[1], best[2]) if best else None


def _same_day(date: str, wanted: str) -> bool:
    return date[4:10] == wanted if wanted.startswith("-") else date.startswith(wanted)


def _targets(figure: Figure) -> list[tuple[NumberRange, bool]]:
    """What a value may be to be written like this: `12.3 %` is 12.3, or as a ratio 0.123."""
    targets = [(reading, False) for reading in figure.readings]
    return (
        targets + [(r.scaled(0.01), True) for r in figure.readings]
        if figure.unit in ("percent", "points")
        else targets
    )


def _of_step(index: int, figure: Figure, derived: Derivation) -> Receipt:
    step = derived.step
    receipt = _receipt(index, figure, "derived", step.value, f"{derived.number:,.10g}", step.how)
    other = step.other.evidence.call_id if step.other and step.other.own else ""
    return replace(receipt, other_call_id=other if other != receipt.call_id else "")


def _receipt(
    index: int, figure: Figure, kind: Kind, value: Value, number: str = "", how: str = ""
) -> Receipt:
    return Receipt(
        index,
        figure.start,
        figure.end,
        figure.text,
        kind,
        value.evidence.call_id,
        value.evidence.message_id,
        value.result_id,
        value.row,
        value.column,
        (number or value.shown)[:200],
        how or value.how,
        value.place,
    )


def _said(text: str, bounds: tuple[int, int], all_figures: Sequence[Figure]) -> frozenset[str]:
    """The words of a sentence, and its dates as results write them."""
    dates = {date for f in all_figures if bounds[0] <= f.start < bounds[1] for date in f.dates}
    return spoken(text[bounds[0] : bounds[1]]) | dates


def _around(text: str, figure: Figure) -> tuple[int, int]:
    """The sentence or line that a figure stands in. A line of a list or a table is not cut at its
    points."""
    first = last = 0
    for end in _SENTENCE_END.finditer(text):
        if end.end() > figure.start:
            last = end.start()
            break
        first = end.end()
    return first, last or len(text) + 1


def _paragraph(text: str, at: int) -> tuple[int, int]:
    first, last = text.rfind("\n\n", 0, at), text.find("\n\n", at)
    return max(0, first), len(text) + 1 if last < 0 else last

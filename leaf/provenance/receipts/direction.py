"""Whether the words beside a change say the opposite of it: "rose" where the results fell. Pure,
and without a model.

Only what is sure is said. A clause must hold one word of direction, no negation, no condition and
no forecast; and the change must follow from two known numbers whose order in time is known, or that
the clause itself names in order or compares, or from a column that holds changes with their sign.
In English, German, French and Spanish. Everything else is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from leaf.provenance.receipts.clauses import Clause, clauses
from leaf.provenance.receipts.derive import CHANGES, Derivation, DerivationStep
from leaf.provenance.receipts.direction_words import DirectionWord, directions, speaks_of_changes
from leaf.provenance.receipts.evidence import EvidenceBook, ResultNumbers, Value, bounds
from leaf.provenance.receipts.figures import Figure
from leaf.provenance.receipts.moments import in_time, later
from leaf.provenance.receipts.words import YEAR, spoken, tokens

_DOUBTS = (
    r"not|never|no|nor|neither|without|hardly|barely|instead|rather|cannot|would|could|should|might|may|if|unless|whether|expect\w*",
    r"forecast\w*|target\w*|goal|plan|plans|planned|project(?:ed|s|ion)|aim\w*|assum\w*|suppos\w*|hypothe\w*|claim\w*|alleg\w*",
    r"wrong\w*|say|says|said|saying|believ\w*|think\w*|thought|rumou?r\w*|going "
    r"back|slow\w*|narrow\w*|decelerat\w*|accelerat\w*",
    r"flatten\w*|rank\w*|position|place|backwards?|reverse\w*|correct\w*|despite|except",
    r"nicht|kein\w*|nie|niemals|ohne|kaum|statt|würde\w*|könnte\w*|sollte\w*|wenn|falls|ob|erwart\w*|prognos\w*|ziel\w*|geplant\w*",
    r"soll|langsamer|verlangsam\w*|rang|platz|umgekehrt|trotz|angeblich\w*|heißt|behaupt\w*",
    r"ne|pas|jamais|sans|si|serait|pourrait|devrait|aurait|prévu\w*|prévision\w*|objectif|ralenti\w*|malgré|plutôt|disent",
    r"nunca|sin|sería|podría|debería|habría|previst\w*|pronóstic\w*|objetivo|desaceler\w*|puesto|posición|pese|ni|tampoco|dicen",
)
_UNSURE = re.compile(rf"(?i)\b(?:{'|'.join(_DOUBTS)})\b|\bn['’]|n['’]t\b|\?|[\"“”„«»]")
_PLAN = re.compile(r"(?i)\b(?:will|wird|werden|va|vont|will be|to be)\b")
_FROM = re.compile(
    r"(?i)(?:\bfrom|\bvon|\bde|\bdes|\bdu|\bdesde|\bfrom about|\bfrom around)\s*[*_]*[$€£]?\s?$"
)
_TO = re.compile(r"(?i)(?:\bto|\bauf|\bà|\ba|\bhasta|\bto about|→|->)\s*[*_]*[$€£]?\s?$")
_THAN = re.compile(
    r"(?i)\b(?:than|als|que|qu['’]|of|to|à|au|a|al|de la|del?|behind|above|below)(?=\s|\b)"
)
_PREVIOUS = re.compile(
    r"(?i)\b(?:year before|previous|prior|preceding|last (?:year|month|quarter|week)|a year "
    r"earlier|vorjahr\w*|"
    r"vormonat\w*|vorquartal\w*|précédent\w*|dernier|anterior\w*|pasado|year[- ]on[- ]year|year[- "
    r"]over[- ]year|yoy)\b"
)
_SIGNED = re.compile(r"[+−-]")


def contradictions(
    text: str,
    all_figures: Sequence[Figure],
    sentences: Sequence[tuple[int, int]],
    values: Mapping[int, Value],
    made: Mapping[int, Derivation],
    book: EvidenceBook,
) -> dict[int, str]:
    """For figures whose direction the text turns round, what the results say. `values`: of figures
    that are values themselves; `made`: of those that follow from two."""
    verdicts: dict[int, str] = {}
    for sentence in dict.fromkeys(sentences):
        within = [i for i, at in enumerate(sentences) if at == sentence]
        if not any(i in values or i in made for i in within):
            continue
        for clause in clauses(text, sentence):
            inside = [i for i in within if clause.holds(all_figures[i])]
            verdicts.update(_of_clause(clause, inside, all_figures, values, made, book))
    return verdicts


def _of_clause(
    clause: Clause,
    inside: Sequence[int],
    all_figures: Sequence[Figure],
    values: Mapping[int, Value],
    derivations: Mapping[int, Derivation],
    book: EvidenceBook,
) -> Iterator[tuple[int, str]]:
    if _UNSURE.search(clause.text) or _PLAN.search(clause.text) or not inside:
        return
    words = list(directions(clause.text))
    if len(words) > 1 or (words and tokens(words[0].word) & _names(book)):
        return
    told = words[0] if words else None
    changes = [i for i in inside if i in derivations]
    for i in changes:
        if text := _of_change(clause, told, all_figures[i], derivations[i], book):
            yield i, text
    for i in inside:
        if i in values and (text := _of_column(clause, told, all_figures[i], values[i], book)):
            yield i, text
    pair = [i for i in inside if i in values and all_figures[i].unit == "number"]
    pair = pair or [i for i in inside if i in values and all_figures[i].unit == "percent"]
    if told is None or len(pair) != 2:
        return
    if text := _of_pair(
        clause, told, [all_figures[i] for i in pair], [values[i] for i in pair], book
    ):
        yield pair[1], text


def _of_change(
    clause: Clause,
    told: DirectionWord | None,
    figure: Figure,
    derived: Derivation,
    book: EvidenceBook,
) -> str:
    """A change that follows from two numbers."""
    steps = [
        step
        for step in (derived.step, *derived.rest)
        if step.operation in CHANGES and step.other is not None
    ]
    sign = _sign_of(figure, told)
    if any(v.number < 0 for step in steps for v in (step.value, step.other or step.value)):
        return ""
    if told and sign and told.compares and not over_time(clause.text, told):
        return next((text for step in steps if (text := _compared(clause, told, step, book))), "")
    ordered = [pair for step in steps if (pair := _in_order(step, clause, book))]
    if not ordered or any((last.number - first.number) * sign >= 0 for first, last in ordered):
        return ""
    if runs_back(clause.sentence):
        return ""
    return _said(told.word if told else figure.text, *ordered[0])


def _of_column(
    clause: Clause, told: DirectionWord | None, figure: Figure, value: Value, book: EvidenceBook
) -> str:
    """A cell of a column that holds changes with their sign."""
    table = book.table_of(value)
    if table is None or not speaks_of_changes(value.column) or value.number == 0:
        return ""
    if (
        told
        and told.compares
        and not over_time(clause.text, told)
        and max(len(clause.years), len(clause.times - clause.years)) < 2
    ):
        return ""
    change = _change_meant(clause, figure, value, table)
    if change * _sign_of(figure, told) >= 0 or runs_back(clause.sentence):
        return ""
    word = told.word if told else figure.text
    return f"The text says “{word}”; the results say {change:+,.10g} ({value.column}).".replace(
        "-", "−", 1
    )


def _change_meant(clause: Clause, figure: Figure, value: Value, table: ResultNumbers) -> float:
    """Of the changes that would be written like the figure, that of the latest row that a sentence
    names; 0 if they differ."""
    column = table.numbers[:, table.columns.index(value.column)]
    within = [bounds(reading) for reading in figure.readings]
    named = table.named(spoken(clause.sentence) - tokens(figure.text))
    rows = [
        i
        for i, n in enumerate(column)
        if any(low <= abs(n) <= high for low, high in within) and (not named or i in named)
    ]
    last = [i for i in rows if all(i == other or in_time(table, i, other) > 0 for other in rows)]
    changes = [float(column[i]) for i in last or rows]
    return changes[0] if changes and all((n > 0) == (changes[0] > 0) for n in changes) else 0.0


def _of_pair(
    clause: Clause,
    told: DirectionWord,
    pair: Sequence[Figure],
    of: Sequence[Value],
    book: EvidenceBook,
) -> str:
    """Two numbers that the clause names in order, or whose order in time is known."""
    a, b = of
    if (
        a.number < 0
        or b.number < 0
        or a.number == b.number
        or pair[0].text == pair[1].text
        or pair[0].unit != pair[1].unit
    ):
        return ""
    before = [clause.text[: figure.start - clause.start] for figure in pair]
    words = spoken(clause.sentence)
    order = later(b, a, book) if _is_alone(a, words, book) and _is_alone(b, words, book) else 0
    if told.compares and not over_time(clause.text, told):
        return ""
    between = clause.text[pair[0].end - clause.start : pair[1].start - clause.start]
    named = bool(_FROM.search(before[0]) and _TO.search(before[1])) or bool(
        re.fullmatch(r"[*_\s]*(?:→|->)[*_\s$€£]*", between)
    )
    if named and (b.number > a.number) != told.up:
        return _said(told.word, a, b)
    if (
        order == 0
        or runs_back(clause.sentence)
        or (named and order < 0 and _says_back(clause.text))
    ):
        return ""
    first, last = (a, b) if order > 0 else (b, a)
    if (last.number > first.number) == told.up:
        return ""
    return _said(told.word, first, last)


def _says_back(text: str) -> bool:
    """Whether the clause itself names the later year first."""
    years = YEAR.findall(text)
    return len(set(years)) > 1 and years == sorted(years, reverse=True)


def _compared(clause: Clause, told: DirectionWord, step: DerivationStep, book: EvidenceBook) -> str:
    """`X is 12 % higher than Y`, where it is clear which of the two numbers is of X and which of
    Y."""
    a, b = step.value, step.other
    names = told_apart(a, b, book) if b is not None and a.number != b.number else None
    if b is None or names is None:
        return ""
    before = clause.sentence[: clause.start - clause.begins]
    for than in _THAN.finditer(clause.text, told.end):
        left, right = (
            tokens(before + clause.text[: than.start()]),
            tokens(clause.text[than.end() :]),
        )
        for x, y, own, others in ((a, b, names[0], names[1]), (b, a, names[1], names[0])):
            if own & left and others & right and not own & right and not others & left:
                if (x.number > y.number) == told.up:
                    return ""
                return (
                    f"The text says “{told.word}”; the results say the opposite: "
                    f"{x.number:,.10g} and {y.number:,.10g}."
                )
    return ""


def told_apart(
    a: Value, b: Value, book: EvidenceBook
) -> tuple[frozenset[str], frozenset[str]] | None:
    """The words that only one of two cells has: of its row, or of its column."""
    table = book.table_of(a)
    if table is None or table is not book.table_of(b):
        return None
    if a.column == b.column:
        one, other = table.labels[a.row], table.labels[b.row]
    elif a.row == b.row:
        one, other = tokens(a.column), tokens(b.column)
    else:
        return None
    return (one - other, other - one) if one - other and other - one else None


def _in_order(
    step: DerivationStep, clause: Clause, book: EvidenceBook
) -> tuple[Value, Value] | None:
    """The two numbers of a change, the earlier first; None where that is not known."""
    if step.other is None:
        return None
    order = later(step.value, step.other, book)
    if order == 0 or not _speaks_of(step.value, step.other, clause, book):
        return None
    return (step.other, step.value) if order > 0 else (step.value, step.other)


def _speaks_of(a: Value, b: Value, clause: Clause, book: EvidenceBook) -> bool:
    """Whether the years that a sentence names, if any, are those of a change."""
    names = told_apart(a, b, book)
    both = {year for words in names or () for year in words if YEAR.fullmatch(year)}
    named = clause.years
    if not named or not both:
        return True
    return both <= named if len(named) == 2 else bool(both & named)


def over_time(text: str, told: DirectionWord) -> bool:
    """Whether a comparison is one with the time before: `12 % higher than in the previous year`."""
    return bool(_PREVIOUS.search(text, told.end))


def _is_alone(value: Value, words: frozenset[str], book: EvidenceBook) -> bool:
    """Whether no other cell of its column, among the rows that the sentence names, has the same
    number."""
    table = book.table_of(value)
    if table is None:
        return False
    rows = sorted(table.named(words) | {value.row})
    column = table.numbers[
        rows if value.row in table.named(words) else slice(None), table.columns.index(value.column)
    ]
    return int((abs(column - value.number) <= 1e-9 * max(1.0, abs(value.number))).sum()) == 1


def _sign_of(figure: Figure, told: DirectionWord | None) -> int:
    """The direction that the text tells of a figure: by its word, or else by its sign; 0 where the
    two do not agree."""
    sign = _SIGNED.match(figure.text)
    written = 0 if sign is None else 1 if sign[0] == "+" else -1
    if told is None:
        return written
    return told.sign if written in (0, told.sign) else 0


def runs_back(text: str) -> bool:
    """Whether it names a later year before an earlier one as the way: `from 2024 to 2023`."""
    match = re.search(
        r"(?i)\b(?:from|von|de|desde)\s(\d{4})\s(?:to|bis|nach|auf|back to|à|a|hasta)\s(\d{4})",
        text,
    )
    return bool(match) and int(match[1]) > int(match[2]) if match else False


def _names(book: EvidenceBook) -> frozenset[str]:
    """Words of direction in names of rows are no verbs."""
    return book.row_words


def _said(word: str, first: Value, last: Value) -> str:
    fell = "fell" if last.number < first.number else "rose"
    return (
        f"The text says “{word}”; the results say it {fell}: {first.number:,.10g} → "
        f"{last.number:,.10g}."
    )

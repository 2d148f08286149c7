"""Whether the words beside a change say the opposite of it: "rose" where the results fell. Pure, and without a model.

Only what is sure is said. A clause must hold one word of direction, no negation, no condition and no forecast; and the change
must follow from two known numbers whose order in time is known, or that the clause itself names in order or compares, or from a
column that holds changes with their sign. In English, German, French and Spanish. Everything else is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leaf.agent.receipts.derive import CHANGES, Derived, Step
from leaf.agent.receipts.evidence import Book, Table, Value, bounds, spoken, tokens
from leaf.agent.receipts.figures import Figure
from leaf.agent.receipts.moments import in_time, later

_UP = (
    r"rose|ris(?:en?|es|ing)|increas(?:e[sd]?|ing)|gr[eo]w(?:s|n|ing)?|growth|climb(?:s|ed|ing)?|gain(?:s|ed|ing)?|jump(?:s|ed|ing)?|"
    r"soar(?:s|ed|ing)?|surg(?:e[sd]?|ing)|doubl(?:es?|ed|ing)|tripl(?:es?|ed|ing)|quadrupl(?:es?|ed|ing)|expan(?:d(?:s|ed|ing)?|sion)|"
    r"rais(?:es?|ed|ing)|spik(?:es?|ed|ing)|skyrocket(?:s|ed|ing)?|rall(?:y|ied)|advanced|swell(?:ed)?|uptick|upturn|upswing|uplift|"
    r"stieg(?:en)?|steig(?:t|en|ert|erte|erten|end)|gestiegen|gesteigert|anstieg(?:e[ns]?|s)?|steigerung|zunahme|zugenommen|zugelegt|"
    r"gewann(?:en)?|gewonnen|wuchs(?:en)?|wächst|wachsen|gewachsen|wachstum|zuwachs|zuwächse|erhöh(?:t|te|ten|en|ung)|kletter(?:t|te|ten|n)|geklettert|"
    r"verdoppel(?:t|te|ten|ung)|verdreifach(?:t|te|ten)|plus von|"
    r"augment(?:é|ée|és|ées|e|ent|a|ait|ation|er)|hausse|progress(?:é|e|ent|ion|er|a)|crû|crois(?:sance|sent|sait)|croît|accru(?:e|s|es)?|"
    r"accroissement|grimp(?:é|e|ent|a)|bondi|gagn(?:é|e|ent)|doublé(?:e|s|es)?|triplé|"
    r"aument(?:ó|aron|o|a|an|ado|ando|ar)|sub(?:ió|ieron|e|en|ida|ido|iendo|ir)|creci(?:ó|eron|miento|do|endo)|crece[nr]?|"
    r"increment(?:ó|aron|o|a|ado)|alza|gan(?:ó|aron|ado)|duplic(?:ó|aron|ado)|triplic(?:ó|aron|ado)"
)
_DOWN = (
    r"fell|fallen|falling|fall(?=\s(?:of|in|by|to|from)\b)|falls(?=\s(?:by|to|from|\d))|decreas(?:e[sd]?|ing)|declin(?:e[sd]?|ing)|"
    r"drop(?:s|ped|ping)?|shr[aiu]nk(?:s|en|ing)?|s[aiu]nk(?:s|en|ing)?|los(?:t|es?|ing)|dip(?:s|ped|ping)?|slip(?:s|ped|ping)?|slid(?:es?)?|"
    r"plung(?:e[sd]?|ing)|tumbl(?:e[sd]?|ing)|contract(?:ed|s|ion)|reduc(?:e[sd]?|ing|tion)|halv(?:ed?|es|ing)|plummet(?:s|ed|ing)?|"
    r"slump(?:s|ed)?|crash(?:ed)?|diminish(?:ed|es)?|dwindl(?:ed|es)?|downturn|downtick|lower(?:ed|ing)|retreat(?:ed)?|collaps(?:ed?|es)|"
    r"fiel(?:en)?|fällt|gefallen|sinkt|gesunken|rückgang(?:s|es)?|rückgänge|zurückgegangen|zurückging|abnahme|abgenommen|"
    r"schrumpf(?:t|te|ten|en)|geschrumpft|verringer(?:t|te|ten|ung)|verminder(?:t|te|ten|ung)|verl(?:or|oren|iert|ieren)|eingebüßt|büß(?:t|te|ten)|"
    r"halbier(?:t|te|ten|ung)|reduzier(?:t|te|ten|ung)|eingebrochen|einbruch|absackte|sackte|minus von|"
    r"baiss(?:é|e|ent|a|ait|er)|diminu(?:é|ée|e|ent|a|tion|er)|chut(?:é|e|ent|a|er)|recul(?:é|e|ent|a|er)?|perdu|perd(?:ent)?|rédui(?:t|te|sent|re)|"
    r"réduction|tomb(?:é|ée|e|ent|a)|régress(?:é|e|ion)|rétréci|"
    r"cay(?:ó|eron|endo)|cae[nr]?|caíd[ao]|baj(?:ó|aron|a|an|ada|ado|ar)|disminu(?:yó|yeron|ye|yen|ción|ido|ir)|descendi(?:ó|eron|do)|"
    r"descenso|desciende[n]?|retroce(?:dió|so|de)|perdi(?:ó|eron|do)|reduj(?:o|eron)|reducción|reducido|merm(?:a|ó)"
)
_MORE = (
    r"higher|more|greater|larger|bigger|above|ahead of|höher(?:e[nrs]?)?|größer(?:e[nrs]?)?|mehr|"
    r"plus (?:élevée?s?|grande?s?|hauts?|important(?:e|s|es)?)|de plus|supérieure?s?|más alt[oa]s?|mayor(?:es)?|más|"
    r"superior(?:es)?"
)
_LESS = (
    r"lower|less|fewer|smaller|below|behind|niedriger(?:e[nrs]?)?|geringer(?:e[nrs]?)?|kleiner(?:e[nrs]?)?|weniger|tiefer|"
    r"(?:plus (?:bas(?:se)?s?|faibles?|petite?s?)|de moins|moins (?:élevée?s?|grande?s?))|inférieure?s?|"
    r"más baj[oa]s?|menor(?:es)?|menos|inferior(?:es)?"
)
_UP_DOWN = (
    r"(?:(?<=\bwas )|(?<=\bwere )|(?<=\bis )|(?<=\bare )|(?<=\bticked )|(?<=\bedged )|(?<=% ))(?:up|down)\b(?! to\b)|"
    r"\b(?:up|down)(?=\s(?:by\s|from\s|nearly\s|about\s|almost\s|around\s|over\s|some\s)?[$€£+−-]?\d)|"
    r"\b(?:went|moved) (?:up|down)\b"
)
_WORD = re.compile(
    rf"(?i)(?<![\w-])(?:(?P<less>{_LESS})|(?P<more>{_MORE})|(?P<up>{_UP})|(?P<down>{_DOWN})|(?P<updown>{_UP_DOWN}))(?![\w-])"
)
_APART = re.compile(
    r"(?i)\b(?:n(?:ahm|immt|ahmen|ehmen)|leg(?:te|ten|t|en))\b(?:[^.;,]|(?<=\d)[.,](?=\d))*?\b(?P<up>zu)\b(?=\s*(?:[.;,)]|$))|"
    r"\b(?:n(?:ahm|immt|ahmen|ehmen)|g(?:ing|ingen|eht|ehen))\b(?:[^.;,]|(?<=\d)[.,](?=\d))*?\b(?P<down>ab|zurück)\b(?=\s*(?:[.;,)]|$))"
)
"""German verbs in two pieces: `nahm um 12 % zu`."""
_HEDGE = re.compile(
    r"(?i)(?:by |um |de |en |d')?\b(?:more than|less than|fewer than|no more than|mehr als|weniger als|plus de|moins de|más de|"
    r"menos de|above|below)(?=\s*[~≈]?[$€£+−-]?\s?\d)"
)
_DOUBTS = (
    r"not|never|no|nor|neither|without|hardly|barely|instead|rather|cannot|would|could|should|might|may|if|unless|whether|expect\w*",
    r"forecast\w*|target\w*|goal|plan|plans|planned|project(?:ed|s|ion)|aim\w*|assum\w*|suppos\w*|hypothe\w*|claim\w*|alleg\w*",
    r"wrong\w*|say|says|said|saying|believ\w*|think\w*|thought|rumou?r\w*|going back|slow\w*|narrow\w*|decelerat\w*|accelerat\w*",
    r"flatten\w*|rank\w*|position|place|backwards?|reverse\w*|correct\w*|despite|except",
    r"nicht|kein\w*|nie|niemals|ohne|kaum|statt|würde\w*|könnte\w*|sollte\w*|wenn|falls|ob|erwart\w*|prognos\w*|ziel\w*|geplant\w*",
    r"soll|langsamer|verlangsam\w*|rang|platz|umgekehrt|trotz|angeblich\w*|heißt|behaupt\w*",
    r"ne|pas|jamais|sans|si|serait|pourrait|devrait|aurait|prévu\w*|prévision\w*|objectif|ralenti\w*|malgré|plutôt|disent",
    r"nunca|sin|sería|podría|debería|habría|previst\w*|pronóstic\w*|objetivo|desaceler\w*|puesto|posición|pese|ni|tampoco|dicen",
)
_UNSURE = re.compile(rf"(?i)\b(?:{'|'.join(_DOUBTS)})\b|\bn['’]|n['’]t\b|\?|[\"“”„«»]")
_PLAN = re.compile(r"(?i)\b(?:will|wird|werden|va|vont|will be|to be)\b")
_SPLIT = re.compile(
    r",(?=\s)|[;—]|\s[–-]\s|(?<=\w):\s|\s(?:while|whereas|but|although|though|and|während|wohingegen|aber|und|doch|et|mais|"
    r"tandis que|alors que|y|pero|mientras(?: que)?)\s",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?i)\s*(?:from|to|by|or|namely|i\.e\.|von|auf|um|also|oder|bzw\.|de|à|soit|ou|contre|desde|hasta|a|o|es decir|"
    r"frente a|compared|against|verglichen|gegenüber|nach|after|versus|vs\.?|in|im|en|[(]|[$€£]?\d[\d.,\s]*(?:→|->))\b"
)
_RELATIVE = re.compile(r"(?i)\s*(?:which|that is|this is|was|ce qui|soit|lo que|das (?:ist|sind|waren|entspricht)|was)\b")
_FROM = re.compile(r"(?i)(?:\bfrom|\bvon|\bde|\bdes|\bdu|\bdesde|\bfrom about|\bfrom around)\s*[*_]*[$€£]?\s?$")
_TO = re.compile(r"(?i)(?:\bto|\bauf|\bà|\ba|\bhasta|\bto about|→|->)\s*[*_]*[$€£]?\s?$")
_THAN = re.compile(r"(?i)\b(?:than|als|que|qu['’]|of|to|à|au|a|al|de la|del?|behind|above|below)(?=\s|\b)")
_PREVIOUS = re.compile(
    r"(?i)\b(?:year before|previous|prior|preceding|last (?:year|month|quarter|week)|a year earlier|vorjahr\w*|"
    r"vormonat\w*|vorquartal\w*|précédent\w*|dernier|anterior\w*|pasado|year[- ]on[- ]year|year[- ]over[- ]year|yoy)\b"
)
_CHANGE_NAMES = tokens(
    "growth change delta variation veränderung wachstum zuwachs croissance évolution evolution cambio crecimiento variación "
    "variacion yoy mom"
)
_SIGNED = re.compile(r"[+−-]")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d(?!\d)")


_MONTH = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d-\d\d(?!\d)")


@dataclass(frozen=True)
class Told:
    """The one word of direction in a clause."""

    sign: int
    word: str
    start: int
    end: int
    compares: bool
    """`higher`, `less`: between two things, not over time."""


@dataclass(frozen=True)
class Clause:
    """A piece of a sentence that says one thing."""

    start: int
    end: int
    text: str
    sentence: str
    begins: int
    """Where the sentence begins."""

    @property
    def years(self) -> set[str]:
        return set(_YEAR.findall(self.sentence))

    @property
    def times(self) -> set[str]:
        """Its years and months."""
        return self.years | set(_MONTH.findall(self.sentence))

    def holds(self, figure: Figure) -> bool:
        return self.start <= figure.start < self.end


def speaks_of_a_change(text: str) -> bool:
    """Whether a text holds a word of direction."""
    return any(True for _ in _directions(text))


def speaks_of_changes(column: str) -> bool:
    """Whether a column holds changes, by its name."""
    return bool(tokens(column) & _CHANGE_NAMES)


def contradictions(
    text: str,
    all_figures: Sequence[Figure],
    sentences: Sequence[tuple[int, int]],
    values: Mapping[int, Value],
    made: Mapping[int, Derived],
    book: Book,
) -> dict[int, str]:
    """For figures whose direction the text turns round, what the results say. `values`: of figures that are values themselves;
    `made`: of those that follow from two."""
    found: dict[int, str] = {}
    for sentence in dict.fromkeys(sentences):
        within = [i for i, at in enumerate(sentences) if at == sentence]
        if not any(i in values or i in made for i in within):
            continue
        for clause in _clauses(text, sentence):
            inside = [i for i in within if clause.holds(all_figures[i])]
            found.update(_of_clause(clause, inside, all_figures, values, made, book))
    return found


def _of_clause(
    clause: Clause,
    inside: Sequence[int],
    all_figures: Sequence[Figure],
    values: Mapping[int, Value],
    made: Mapping[int, Derived],
    book: Book,
) -> Iterator[tuple[int, str]]:
    if _UNSURE.search(clause.text) or _PLAN.search(clause.text) or not inside:
        return
    words = list(_directions(clause.text))
    if len(words) > 1 or (words and tokens(words[0].word) & _names(book)):
        return
    told = words[0] if words else None
    changes = [i for i in inside if i in made]
    for i in changes:
        if said := _of_change(clause, told, all_figures[i], made[i], book):
            yield i, said
    for i in inside:
        if i in values and (said := _of_column(clause, told, all_figures[i], values[i], book)):
            yield i, said
    pair = [i for i in inside if i in values and all_figures[i].unit == "number"]
    pair = pair or [i for i in inside if i in values and all_figures[i].unit == "percent"]
    if told is None or len(pair) != 2:
        return
    if said := _of_pair(clause, told, [all_figures[i] for i in pair], [values[i] for i in pair], book):
        yield pair[1], said


def _of_change(clause: Clause, told: Told | None, figure: Figure, derived: Derived, book: Book) -> str:
    """A change that follows from two numbers."""
    steps = [step for step in (derived.step, *derived.rest) if step.operation in CHANGES and step.other is not None]
    sign = _sign_of(figure, told)
    if sign == 0 or any(v is not None and v.number < 0 for step in steps for v in (step.value, step.other)):
        return ""
    if told and told.compares and not _over_time(clause, told):
        return next((said for step in steps if (said := _compared(clause, told, step, book))), "")
    ordered = [pair for step in steps if (pair := _in_order(step, clause, book))]
    if not ordered or any((last.number > first.number) == (sign > 0) or last.number == first.number for first, last in ordered):
        return ""
    if _runs_back(clause.sentence):
        return ""
    return _said(told.word if told else figure.text, *ordered[0])


def _of_column(clause: Clause, told: Told | None, figure: Figure, value: Value, book: Book) -> str:
    """A cell of a column that holds changes with their sign."""
    table = book.table_of(value)
    if table is None or not speaks_of_changes(value.column) or value.number == 0:
        return ""
    if told and told.compares and not _over_time(clause, told) and max(len(clause.years), len(clause.times - clause.years)) < 2:
        return ""
    sign, change = _sign_of(figure, told), _change_meant(clause, figure, value, table)
    if sign == 0 or change == 0 or (change > 0) == (sign > 0) or _runs_back(clause.sentence):
        return ""
    word = told.word if told else figure.text
    return f"The text says “{word}”; the results say {change:+,.10g} ({value.column}).".replace("-", "−", 1)


def _change_meant(clause: Clause, figure: Figure, value: Value, table: Table) -> float:
    """Of the changes that would be written like the figure, that of the latest row that a sentence names; 0 if they differ."""
    column = table.numbers[:, table.columns.index(value.column)]
    within = [bounds(reading) for reading in figure.readings]
    named = table.named(spoken(clause.sentence) - tokens(figure.text))
    rows = [i for i, n in enumerate(column) if any(low <= abs(n) <= high for low, high in within) and (not named or i in named)]
    last = [i for i in rows if all(i == other or in_time(table, i, other) > 0 for other in rows)]
    found = [float(column[i]) for i in last or rows]
    return found[0] if found and all((n > 0) == (found[0] > 0) for n in found) else 0.0


def _of_pair(clause: Clause, told: Told, pair: Sequence[Figure], of: Sequence[Value], book: Book) -> str:
    """Two numbers that the clause names in order, or whose order in time is known."""
    a, b = of
    if a.number < 0 or b.number < 0 or a.number == b.number or pair[0].text == pair[1].text or pair[0].unit != pair[1].unit:
        return ""
    before = [clause.text[: figure.start - clause.start] for figure in pair]
    words = spoken(clause.sentence)
    order = later(b, a, book) if _is_alone(a, words, book) and _is_alone(b, words, book) else 0
    if told.compares and not _over_time(clause, told):
        return ""
    between = clause.text[pair[0].end - clause.start : pair[1].start - clause.start]
    named = bool(_FROM.search(before[0]) and _TO.search(before[1])) or bool(re.fullmatch(r"[*_\s]*(?:→|->)[*_\s$€£]*", between))
    if named and (b.number > a.number) != (told.sign > 0):
        return _said(told.word, a, b)
    if order == 0 or _runs_back(clause.sentence) or (named and order < 0 and _says_back(clause.text)):
        return ""
    first, last = (a, b) if order > 0 else (b, a)
    if (last.number > first.number) == (told.sign > 0):
        return ""
    return _said(told.word, first, last)


def _says_back(text: str) -> bool:
    """Whether the clause itself names the later year first."""
    years = _YEAR.findall(text)
    return len(set(years)) > 1 and years == sorted(years, reverse=True)


def _compared(clause: Clause, told: Told, step: Step, book: Book) -> str:
    """`X is 12 % higher than Y`, where it is clear which of the two numbers is of X and which of Y."""
    a, b = step.value, step.other
    names = _told_apart(a, b, book) if b is not None and a.number != b.number else None
    if b is None or names is None:
        return ""
    before = clause.sentence[: clause.start - clause.begins]
    for than in _THAN.finditer(clause.text, told.end):
        left, right = tokens(before + clause.text[: than.start()]), tokens(clause.text[than.end() :])
        for x, y, own, others in ((a, b, names[0], names[1]), (b, a, names[1], names[0])):
            if own & left and others & right and not own & right and not others & left:
                if (x.number > y.number) == (told.sign > 0):
                    return ""
                return f"The text says “{told.word}”; the results say the opposite: {x.number:,.10g} and {y.number:,.10g}."
    return ""


def _told_apart(a: Value, b: Value, book: Book) -> tuple[frozenset[str], frozenset[str]] | None:
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


def _in_order(step: Step, clause: Clause, book: Book) -> tuple[Value, Value] | None:
    """The two numbers of a change, the earlier first; None where that is not known."""
    if step.other is None:
        return None
    order = later(step.value, step.other, book)
    if order == 0 or not _speaks_of(step.value, step.other, clause, book):
        return None
    return (step.other, step.value) if order > 0 else (step.value, step.other)


def _speaks_of(a: Value, b: Value, clause: Clause, book: Book) -> bool:
    """Whether the years that a sentence names, if any, are those of a change."""
    names = _told_apart(a, b, book)
    both = {year for words in names or () for year in words if _YEAR.fullmatch(year)}
    named = clause.years
    if not named or not both:
        return True
    return both <= named if len(named) == 2 else bool(both & named)


def _over_time(clause: Clause, told: Told) -> bool:
    """Whether a comparison is one with the time before: `12 % higher than in the previous year`."""
    return bool(_PREVIOUS.search(clause.text, told.end))


def _is_alone(value: Value, words: frozenset[str], book: Book) -> bool:
    """Whether no other cell of its column, among the rows that the sentence names, has the same number."""
    table = book.table_of(value)
    if table is None:
        return False
    rows = sorted(table.named(words) | {value.row})
    column = table.numbers[rows if value.row in table.named(words) else slice(None), table.columns.index(value.column)]
    return int((abs(column - value.number) <= 1e-9 * max(1.0, abs(value.number))).sum()) == 1


def _sign_of(figure: Figure, told: Told | None) -> int:
    """The direction that the text tells of a figure: by its word, or else by its sign; 0 where the two do not agree."""
    sign = _SIGNED.match(figure.text)
    written = 0 if sign is None else 1 if sign[0] == "+" else -1
    if told is None:
        return written
    return told.sign if written in (0, told.sign) else 0


def _runs_back(text: str) -> bool:
    """Whether it names a later year before an earlier one as the way: `from 2024 to 2023`."""
    found = re.search(r"(?i)\b(?:from|von|de|desde)\s(\d{4})\s(?:to|bis|nach|auf|back to|à|a|hasta)\s(\d{4})", text)
    return bool(found) and int(found[1]) > int(found[2]) if found else False


def _names(book: Book) -> frozenset[str]:
    """Words of direction in names of rows are no verbs."""
    return book.row_words


def _said(word: str, first: Value, last: Value) -> str:
    fell = "fell" if last.number < first.number else "rose"
    return f"The text says “{word}”; the results say it {fell}: {first.number:,.10g} → {last.number:,.10g}."


def _directions(text: str) -> Iterator[Told]:
    """The words of direction in a clause; `more than 12 %` is none."""
    plain = _HEDGE.sub(lambda m: " " * len(m.group()), text)
    for found in _WORD.finditer(plain):
        group, word = str(found.lastgroup), found.group()
        up = word.casefold().endswith("up") if group == "updown" else group in ("up", "more")
        yield Told(1 if up else -1, word, found.start(), found.end(), group in ("more", "less"))
    for found in _APART.finditer(plain):
        up = found["up"] is not None
        at = found.span("up" if up else "down")
        yield Told(1 if up else -1, plain[found.start() :].split()[0] + " … " + plain[at[0] : at[1]], *at, False)


def _clauses(text: str, bounds: tuple[int, int]) -> list[Clause]:
    """A sentence cut where another statement begins; what only goes on with the one before stays with it."""
    start, end = bounds[0], min(bounds[1], len(text))
    cuts = [start, *(found.end() + start for found in _SPLIT.finditer(text[start:end])), end]
    pieces = [[a, b] for a, b in pairwise(cuts) if text[a:b].strip()]
    joined: list[list[int]] = []
    for a, b in pieces:
        words = list(_directions(text[a:b]))
        leads = (
            bool(words) and words[0].start <= 12 and bool(joined) and not list(_directions(text[joined[-1][0] : joined[-1][1]]))
        )
        goes_on = bool(_GOES_ON.match(text[a:b])) and not words
        opens = len(joined) == 1 and bool(_GOES_ON.match(text[joined[0][0] : joined[0][1]])) and joined[0][0] == start
        if joined and (leads or goes_on or (opens and not list(_directions(text[joined[0][0] : joined[0][1]])))):
            joined[-1][1] = b
        else:
            joined.append([a, b])
    return [Clause(a, b, text[a:b], text[start:end], start) for a, b in joined]

"""Words that say which way something went, or which of two things is more, in English, German,
French and Spanish. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from leaf.provenance.receipts.words import tokens

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
    r"plus (?:élevée?s?|grande?s?|hauts?|important(?:e|s|es)?)|de plus|supérieure?s?|más "
    r"alt[oa]s?|mayor(?:es)?|más|"
    r"superior(?:es)?"
)
_LESS = (
    r"lower|less|fewer|smaller|below|behind|niedriger(?:e[nrs]?)?|geringer(?:e[nrs]?)?|kleiner(?:e[nrs]?)?|weniger|tiefer|"
    r"(?:plus (?:bas(?:se)?s?|faibles?|petite?s?)|de moins|moins "
    r"(?:élevée?s?|grande?s?))|inférieure?s?|"
    r"más baj[oa]s?|menor(?:es)?|menos|inferior(?:es)?"
)
_UP_DOWN = (
    r"(?:(?<=\bwas )|(?<=\bwere )|(?<=\bis )|(?<=\bare )|(?<=\bticked )|(?<=\bedged )|(?<=% "
    r"))(?:up|down)\b(?! to\b)|"
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
    r"(?i)(?:by |um |de |en |d')?\b(?:more than|less than|fewer than|no more than|mehr "
    r"als|weniger als|plus de|moins de|más de|"
    r"menos de|above|below)(?=\s*[~≈]?[$€£+−-]?\s?\d)"
)
_CHANGE_NAMES = tokens(
    "growth change delta variation veränderung wachstum zuwachs croissance évolution evolution "
    "cambio crecimiento variación "
    "variacion yoy mom"
)


@dataclass(frozen=True)
class DirectionWord:
    """The one word of direction in a clause."""

    sign: int
    word: str
    start: int
    end: int
    compares: bool
    """`higher`, `less`: between two things, not over time."""

    @property
    def up(self) -> bool:
        return self.sign > 0


def without_hedges(text: str) -> str:
    """A text with spaces in place of `more than` before a number, which compares nothing."""
    return _HEDGE.sub(lambda m: " " * len(m.group()), text)


def directions(text: str) -> Iterator[DirectionWord]:
    """The words of direction in a clause; `more than 12 %` is none."""
    plain = without_hedges(text)
    for match in _WORD.finditer(plain):
        group, word = str(match.lastgroup), match.group()
        up = word.casefold().endswith("up") if group == "updown" else group in ("up", "more")
        yield DirectionWord(
            1 if up else -1, word, match.start(), match.end(), group in ("more", "less")
        )
    for match in _APART.finditer(plain):
        up = match["up"] is not None
        at = match.span("up" if up else "down")
        yield DirectionWord(
            1 if up else -1,
            plain[match.start() :].split()[0] + " … " + plain[at[0] : at[1]],
            *at,
            False,
        )


def speaks_of_a_change(text: str) -> bool:
    """Whether a text holds a word of direction."""
    return any(True for _ in directions(text))


def speaks_of_changes(column: str) -> bool:
    """Whether a column holds changes, by its name."""
    return bool(tokens(column) & _CHANGE_NAMES)

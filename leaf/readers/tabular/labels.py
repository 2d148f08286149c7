"""Words by which people mark rows of totals, subtotals and averages. A word is a hint only;
structure and arithmetic decide in `totals`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

LONGEST = 80
"""Characters of a label; longer texts are sentences."""
_SUB = (
    r"sub[ -]?tot(?:al|ale|aal|aux|ales)?s?|zwischensummen?|teilsumme|zwischentotal|sous[ "
    r"-]total|delsumma?|delsum|mezisoučet|"
    r"suma częściowa|ara toplam|välisumma|részösszeg|промежуточный итог|小計|小计|소계"
)
_TOTAL = (
    r"totals?|totale|totaux|totales|totaal|totalt|totali|totais|tot\.|summe|summen|sums?|gesamt|gesamtsumme|gesamtergebnis|"
    r"insgesamt|endsumme|suma|somme|soma|summa|razem|ogółem|celkem|spolu|összesen|végösszeg|toplam|yhteensä|i alt|ialt|итого|"
    r"всего|σύνολο|合計|合计|总计|總計|总和|總和|总数|합계|총계|Σ|σ|∑|المجموع|الإجمالي|סה\"כ"
)
_GRAND = r"grand|overall|general|général|générale|geral|genel|net|gross|total"
_WHOLE = (
    r"overall|all|alle|alles|tous|toutes|todos|todas|tutti|wszystkie|все|united "
    r"states|u\.?s\.?(?:a\.?)?|world|worldwide|"
    r"national|nationwide|nation|everyone|everything|全国|全体|全部"
)
_MEAN = (
    r"averages?|avg\.?|mean|durchschnitt|mittelwert|ø|moyenne|promedio|media|média|gemiddelde|średnia|среднее|平均|평균|ortalama|"
    r"keskiarvo|medelvärde"
)
_OTHER = r"medel|median|min\.?|minimum|max\.?|maximum|count|anzahl|std\.?|stdev"
_AVERAGE = f"{_MEAN}|{_OTHER}"
_RATE = (
    r"per ?cent(?:age)? (?:change|of total|distribution)|% (?:change|of total)|(?:average "
    r")?annual (?:average )?(?:growth rate|"
    r"per ?cent(?:age)? change)|average annual growth(?: rate)?|growth rate|veränderung(?: in "
    r"(?:%|prozent))?|variation(?: en %)?"
)
_DOUBLE = frozenset({"sum", "sums", "σ", "suma", "soma", "tot.", "media", "média", "mean", "medel"})
"""Words that are names and codes as well."""
_EDGE = r"[\W_\d]"
HINT = (
    rf"(?i)(?:^|{_EDGE})(?:{_SUB}|{_TOTAL}|{_AVERAGE})(?:$|{_EDGE})|^\W*(?:{_RATE})(?:$|{_EDGE})|^\W*(?:{_WHOLE})(?:$|{_EDGE})"
    r"|^\W*(?:\S[ \x{a0}]){3,}\S\W*$"
)
"""SQL: whether it is worth looking at a text at all."""
_MARKS = re.compile(r"(?:\s*(?:\\\d+|[¹²³⁴⁵⁶⁷⁸⁹⁰†‡*]+|[(\[]\d{1,2}[)\]]))+[\s,]*$")
"""Marks of footnotes behind a label."""
_SAID = re.compile(r"\s*[-–—:(]\s*\w|[\s,]+(?=[^\W\d_]{2})(?!number |[A-ZÀ-Þ])")
"""Behind a word for a total: a dash, a colon, or a word that is no name's; `Total number of firms`
is an ordinary measure."""
_LEADERS = re.compile(r"[.…·_]{2,}\s*$")


REST = re.compile(
    r"\b(?:net|gross|profit|loss|balance|surplus|deficit|margin|ebitda?|difference|change|rohertrag|rohgewinn|ergebnis|"
    r"überschuss|jahresüberschuss|gewinn|saldo|differenz|bénéfice|résultat|marge|solde|net(?:te|to)|beneficio|resultado|margen)\b"
)
"""In lower case: words for what is left of one row after another is taken away."""


@dataclass(frozen=True)
class Label:
    """What a cell says of its row."""

    kind: str
    """`subtotal`, `total` or `average`."""
    exact: bool
    """The cell holds the word alone (`Total`, `Grand total:`), not beside a name (`North
    total`)."""
    text: str
    sure: bool = True
    """False for words that are as often names or ordinary values: `All`, `Overall`, `United
    States`, `Max`."""
    name: str = ""
    """What stands beside the word, in lower case: `north`."""
    word: str = ""
    """The word itself, in lower case: `total`, `max`."""


def label_of(text: str) -> Label | None:
    """`North Total` is a total with a name, `Totally Spies` and a sentence are nothing."""
    if len(text) > LONGEST:
        return None
    plain = _plain(text)
    if not plain or re.search(r"[^\W\d_]{2}\. \w", plain):
        return None
    for kind, sure, alone, named in _patterns():
        if alone is not None and alone.fullmatch(plain):
            return Label(kind, True, text.strip(), sure and plain not in _DOUBLE, word=plain)
        if named is not None and (found := named.fullmatch(plain)):
            parts = found.groupdict()
            name = (parts.get("before") or parts.get("behind") or "").strip(" ,:()–-")
            word = parts.get("first") or parts.get("last") or ""
            return Label(kind, False, text.strip(), sure and word not in _DOUBLE, name, word)
    return None


def is_rate(label: Label) -> bool:
    """Whether a label is of a row of changes or shares: `Percent change, 1990-2003`."""
    return _rates().fullmatch(label.word) is not None


def is_said(label: Label) -> bool:
    """Whether a label of several words reads like a total's, not like a name: `Total holdings`,
    `Total - all`, `Country mean`."""
    text = label.text.strip(" *\u00a0")
    if not label.word or not text.lower().startswith(label.word):
        return bool(label.word) and label.word not in ("media", "média")
    return text[0].isupper() and _SAID.match(text[len(label.word) :]) is not None


@cache
def _rates() -> re.Pattern[str]:
    return re.compile(_RATE)


def _plain(text: str) -> str:
    """In lower case, without the marks of footnotes, dots that lead to the numbers, and blanks
    between letters."""
    plain = " ".join(text.split())
    for _ in range(3):
        plain = _LEADERS.sub("", _MARKS.sub("", plain)).strip(" :=*-–—_()[]")
    plain = (
        plain.rstrip(".")
        if not plain.lower().endswith(("tot.", "avg.", "min.", "max.", "std."))
        else plain
    )
    if len(plain) > 6 and all(len(part) == 1 for part in plain.split(" ")):
        plain = plain.replace(" ", "")
    return plain.lower()


@cache
def _patterns() -> tuple[tuple[str, bool, re.Pattern[str] | None, re.Pattern[str] | None], ...]:
    """Kind, whether the word is sure, the word alone, the word before or behind a name."""

    def named(word: str) -> re.Pattern[str]:
        name = r"[^!?;]{1,60}"
        return re.compile(
            rf"(?P<first>{word})[ ,:(–-]+(?P<behind>{name})|(?P<before>{name})[ "
            rf",:(–-]+(?P<last>{word})(?:, \d{{4}})?"
        )

    sub = rf"(?:{_SUB})"
    total = rf"(?:(?:{_GRAND})[ -])?(?:{_TOTAL})(?: (?:{_GRAND}))?"
    alone = re.compile(rf"{total}|{total} \d{{4}}")
    whole = re.compile(rf"(?P<first>{_WHOLE})[ ,:(–-]+(?P<behind>[^!?;]{{1,60}})")
    return (
        ("subtotal", True, re.compile(sub), named(sub)),
        ("total", True, alone, named(total)),
        ("average", True, re.compile(_MEAN), None),
        ("average", False, re.compile(_OTHER), None),
        ("average", False, None, re.compile(rf"(?P<first>{_RATE})(?:[ ,:(–-]+[^!?;]{{0,40}})?")),
        ("total", False, re.compile(_WHOLE), whole),
        ("average", False, None, named(_MEAN)),
    )

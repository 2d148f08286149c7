"""Words by which people mark rows of totals, subtotals and averages. A word is a hint only; arithmetic decides in `totals`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

LONGEST = 60
"""Characters of a label; longer texts are sentences."""
_SUB = (
    r"sub[ -]?tot(?:al|ale|aal|aux|ales)?s?|zwischensumme|teilsumme|zwischentotal|sous[ -]total|delsumma?|delsum|mezisoučet|"
    r"suma częściowa|ara toplam|välisumma|részösszeg|промежуточный итог|小計|小计|소계"
)
_TOTAL = (
    r"totals?|totale|totaux|totales|totaal|totalt|tot\.|summe|summen|sums?|gesamt|gesamtsumme|gesamtergebnis|insgesamt|endsumme|"
    r"suma|somme|soma|summa|razem|ogółem|celkem|spolu|összesen|végösszeg|toplam|yhteensä|i alt|итого|всего|σύνολο|"
    r"合計|合计|总计|總計|总和|합계|총계|Σ|σ|∑|المجموع|סה\"כ"
)
_GRAND = r"grand|overall|general|général|générale|geral|genel|net|total"
_AVERAGE = (
    r"averages?|avg\.?|mean|durchschnitt|mittelwert|ø|moyenne|promedio|media|média|gemiddelde|średnia|среднее|平均|평균|ortalama|"
    r"keskiarvo|medelvärde|medel|median|min\.?|minimum|max\.?|maximum|count|anzahl|std\.?|stdev"
)
HINT = rf"(?i)(?:^|[\W_])(?:{_SUB}|{_TOTAL}|{_AVERAGE})(?:$|[\W_])"
"""SQL and Python: whether it is worth looking at a text at all."""


@dataclass(frozen=True)
class Label:
    """What a cell says of its row."""

    kind: str
    """`subtotal`, `total` or `average`."""
    exact: bool
    """The cell holds the word alone (`Total`, `Grand total:`), not beside a name (`North total`)."""
    text: str


def label_of(text: str) -> Label | None:
    """`North Total` is a total with a name, `Totally Spies` and a sentence are nothing."""
    if len(text) > LONGEST:
        return None
    plain = " ".join(text.split()).strip(" :=*.-–—_()[]").lower()
    if not plain:
        return None
    for kind, alone, named in _patterns():
        if alone.fullmatch(plain):
            return Label(kind, True, text.strip())
        if named is not None and named.fullmatch(plain):
            return Label(kind, False, text.strip())
    return None


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str] | None], ...]:
    """Kind, the word alone, the word before or behind a name."""
    name = r"[^.!?;]{1,45}"
    sub = rf"(?:{_SUB})"
    total = rf"(?:(?:{_GRAND})[ -])?(?:{_TOTAL})(?: (?:{_GRAND}))?"
    return (
        ("subtotal", re.compile(sub), re.compile(rf"{sub}[ :(–-]+{name}|{name}[ :(–-]+{sub}")),
        ("total", re.compile(total), re.compile(rf"{total}[ :(–-]+{name}|{name}[ :(–-]+{total}")),
        ("average", re.compile(_AVERAGE), None),
    )

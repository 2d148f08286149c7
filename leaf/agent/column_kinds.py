"""What the columns of a table are for, told from names, types and values: to compute with, to name
things, to say when.

Names are read as words in English, German, French and Spanish.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from leaf.files.names import fold
from leaf.tables.sql import is_number


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ADDED_UP = _words(
    "revenue sales sale amount quantity qty units cost costs expense expenses profit turnover "
    "votes umsatz betrag menge kosten "
    "gewinn stuck absatz montant quantite ventes couts importe cantidad ventas ingresos "
    "unidades costes"
)
_MONEY = _words(
    "amount revenue sales sale price cost costs expense expenses profit turnover value balance "
    "salary income fee payment budget betrag umsatz preis kosten gewinn saldo gehalt wert montant "
    "prix ventes cout couts solde salaire valeur importe precio ventas ingresos coste costes "
    "salario valor gasto gastos"
)
_CURRENCIES = _words("currency ccy wahrung devise monnaie moneda divisa")
GENERIC = _words("id name number num no nr of code eur usd gbp kg km total amount")
"""Words that a name can do without."""
CHANGES = _words(
    "max min maximum minimum avg average mean median std pct percent percentage per rate ratio "
    "growth prev previous last first "
    "target expected planned budget forecast change diff delta difference not non no other lost "
    "running cum cumulative"
)
"""Words that make another figure of one: `previous revenue` is no revenue."""
_IDS = _words(
    "id key code zip zipcode postcode plz index nr no nummer number phone lat lon lng long "
    "latitude longitude fips"
)
YEARS = (1500, 2100)
"""Whole numbers between these may be years."""
_YEARS = _words("year yr jahr annee ano")
_RATIOS = _words("per pct percent percentage rate ratio avg average mean median")
_RATES = tuple(
    _words("class rank rating grade score level age percent percentage pct rate ratio temperature")
)
_OTHER_TIMES = _words(
    "birth born hire hired start end due expiry updated modified closed ship shipped delivery "
    "geburt naissance nacimiento"
)
_YEAR = re.compile(r"(1[5-9]|2[01])\d\d(\.0*)?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}([ T].*)?")
_PARTS = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-Z])|(?<=^gesamt)(?=\w{4})|(?<=^Gesamt)(?=\w{4})")


def kind_of(name: str, sql_type: str, ends: Sequence[Any] = (), texts: Collection[str] = ()) -> str:
    """`figure`, `id`, `year` (numbers that nothing is computed from), `date`, `bool` or `text`.

    `ends` are its least and greatest value, `texts` some of its values, where they are known: dates
    may be stored as text.
    """
    if is_number(sql_type):
        words = name_words(name)
        years = _YEARS & set(words) and all(
            _YEAR.fullmatch(str(end)) for end in ends if end is not None
        )
        return "id" if is_id(words) else "year" if years else "figure"
    if sql_type == "BOOLEAN":
        return "bool"
    days = sql_type.startswith(("DATE", "TIMESTAMP")) or (texts and all(map(_DAY.fullmatch, texts)))
    return "date" if days else "text"


def is_grouped(name: str, sql_type: str, values: Sequence[Any]) -> bool:
    """Whether the numbers of a column are written with separators: years, and numbers that name
    something, are not. Whole numbers that may all be years count as such, whatever they are called.
    """
    if not is_number(sql_type):
        return False
    numbers = [value for value in values if isinstance(value, int | float) and value == value]
    if not numbers:
        return not is_id(name_words(name))
    low, high = min(numbers), max(numbers)
    if YEARS[0] <= low and high <= YEARS[1] and all(value == int(value) for value in numbers):
        return False
    return kind_of(name, sql_type, (low, high)) == "figure"


def name_words(name: str) -> tuple[str, ...]:
    """`Net_Revenue (EUR)` -> net, revenue, eur."""
    return tuple(fold(part) for word in re.findall(r"[^\W_]+", name) for part in word_parts(word))


def word_parts(word: str) -> list[str]:
    """`unitPrice` -> unit, Price."""
    return _PARTS.split(word)


def is_id(words: Sequence[str]) -> bool:
    """Whether a name of these words is that of numbers that name things."""
    return bool(_IDS & set(words[-1:])) or "".join(words).endswith(("nummer", "numero"))


def says_when(kind: str, words: Sequence[str]) -> bool:
    """Whether a column of this kind and name tells when something was: a birthday or a day of hire
    does not."""
    return (kind == "date" and not _OTHER_TIMES & set(words)) or (
        kind == "year" and set(words) <= _YEARS
    )


def is_added_up(words: Sequence[str]) -> bool:
    """Whether adding is what people mean by a figure of this name where they do not say what to
    do."""
    core = [word for word in words if word not in GENERIC] or words
    return bool(_ADDED_UP & set(core[-1:])) and not {"unit", *CHANGES} & set(words)


def is_money(words: Sequence[str]) -> bool:
    """Whether figures of this name have a currency."""
    return bool(_MONEY & set(words)) and not is_rate(words)


def is_currency(words: Sequence[str]) -> bool:
    """Whether a column of this name says in which currency others are."""
    return bool(_CURRENCIES & set(words))


def is_rate(words: Sequence[str]) -> bool:
    """Whether the sum of such figures says nothing."""
    return bool(_RATIOS & set(words)) or "".join(words[-1:]).endswith(_RATES)

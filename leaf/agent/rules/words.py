"""A question as words, and how near words are to a name. Knows nothing of tables."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<quoted>"[^"]+"|`[^`]+`|“[^”]+”|„[^“”]+[“”]|(?<!\w)'[^']+'(?!\w))
    |(?P<date>\d{4}-\d{2}(?:-\d{2})?(?!\d))
    |(?P<number>\d+(?:,\d{3})+(?:\.\d+)?(?!\w)|\d+(?:\.\d+)?(?!\w)|\d+(?:\.\d+)?(?=[%€$]))
    |(?P<word>[^\W_]+)
    |(?P<operator><=|>=|!=|<>|==|=|<|>|%)""",
    re.VERBOSE,
)
_GERMAN = re.compile(r"^(durchschnitt|gesamt|hochst|niedrigst|kleinst|grosst|meist|teuerst)(?:lich)?e?[nrsm]?$")
_CAMEL = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-Z])")


def word_set(words: str) -> frozenset[str]:
    """A vocabulary, written as words between blanks."""
    return frozenset(words.split())


SYNONYMS = [
    word_set(group)
    for group in (
        "revenue sale turnover umsatz income earning",
        "cost expense spend spending expenditure kosten ausgabe",
        "customer client kunde buyer",
        "employee staff worker mitarbeiter",
        "price preis",
        "quantity qty unit menge stuck",
        "country land nation",
        "city town stadt ort",
        "region area gebiet territory",
        "date datum day tag",
        "product item article produkt artikel",
        "category kategorie type kind",
        "salary wage pay gehalt",
        "department dept abteilung team",
        "amount betrag value sum",
        "year jahr",
        "month monat",
        "score rating grade",
        "profit gewinn margin",
        "duration time dauer",
        "branch filiale store shop",
    )
]
GENERIC = word_set("id name code number no nr key type date amount value eur usd gbp total count category")
"""Words at the end of a column name that people leave out."""


@dataclass(frozen=True)
class Word:
    """One word, number, date, quotation or operator of a question."""

    text: str
    stem: str
    kind: str
    """`word`, `number`, `date`, `quoted` or `operator`."""

    @property
    def number(self) -> float:
        return float(self.text.replace(",", ""))


def split_words(question: str) -> list[Word]:
    """`Total unitPrice in "New York"` -> Total · unit · Price · in · New York."""
    words: list[Word] = []
    for found in _TOKEN.finditer(question):
        kind, text = str(found.lastgroup), found.group()
        if kind == "quoted":
            words.append(Word(text[1:-1], fold(text[1:-1]), kind))
        elif kind == "word":
            words.extend(Word(piece, stem(piece), kind) for piece in _CAMEL.split(text))
        else:
            words.append(Word(text, text, kind))
    return words


def name_words(name: str) -> tuple[str, ...]:
    """Stems of a column's or file's name: `Net_Revenue (EUR)` -> net, revenue, eur."""
    return tuple(stem(word) for word in re.findall(r"[^\W_]+", _CAMEL.sub(" ", name)))


def fold(text: str) -> str:
    """Small letters without accents, spaces made single: what counts as the same when people type."""
    flat = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(c for c in flat if not unicodedata.combining(c)).split())


def bare(text: str) -> str:
    """Folded letters and digits only, words set apart: `O'Hara & Co.` -> o hara co."""
    return " ".join(re.findall(r"[^\W_]+", fold(text)))


def stem(word: str) -> str:
    """Folded, and the English plural taken off."""
    word = _GERMAN.sub(r"\1", fold(word))
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def nearness(asked: Sequence[str], name: Sequence[str]) -> float:
    """How well stems of a question name something called `name`: 1 exactly, 0 not at all."""
    q, n = tuple(asked), tuple(name)
    if not q or not n:
        return 0.0
    if q == n or "".join(q) == "".join(n):
        return 1.0
    if sorted(w for w in q if w not in ("of", "the")) == sorted(n):
        return 0.9 if len(q) > 1 else 0.0
    rest = n[len(q) :]
    if n[: len(q)] == q and all(word in GENERIC for word in rest):
        return 0.88
    if len(q) < len(n) and (n[: len(q)] == q or n[-len(q) :] == q):
        return 0.6 + 0.2 * len(q) / len(n)
    return max(_alike(q, n), _synonymous(q, n))


def _alike(q: tuple[str, ...], n: tuple[str, ...]) -> float:
    """Beginnings, German endings and slips of the finger; single words only."""
    if len(q) != 1 or len(q[0]) < 4:
        return 0.0
    word, core = q[0], tuple(w for w in n if w not in GENERIC) or n
    if len(core) != 1 or len(core[0]) < 3:
        return 0.0
    target = core[0]
    if word.startswith(target) and len(word) - len(target) <= 2 and len(target) >= 4:
        return 0.75
    if target.startswith(word):
        return 0.7
    return 0.62 if len(word) >= 5 and difflib.SequenceMatcher(None, word, target).ratio() >= 0.84 else 0.0


def _synonymous(q: tuple[str, ...], n: tuple[str, ...]) -> float:
    if len(q) != 1:
        return 0.0
    core = tuple(w for w in n if w not in GENERIC) or n
    for group in SYNONYMS:
        if q[0] in group:
            if len(core) == 1 and core[0] in group:
                return 0.5
            if len(core) == 2 and (core[0] in group or core[1] in group):
                return 0.42
    return 0.0

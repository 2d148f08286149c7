"""The words by which two texts are held to speak of the same thing. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]{3,}")
_CODE = re.compile(r"\b(?:[A-Z]{2}|[A-Z]{1,4}\d{1,12})\b")
"""Short names and numbers of things: `EU`, `Q3`, `ASN00086071`."""
_FUNCTION_WORDS = (
    "the and for are was were has have had not but that this these those than then with from into "
    "its it's their there they them "
    "his her our your you who whom which what when where how why will would can could should may "
    "might must been being did does "
    "also more most less all any some such only just very about over under per one two "
    "der die das den dem des ein eine einen einem einer eines und oder aber nicht mit von vom zum "
    "zur bei für auf aus ist sind "
    "war waren hat haben hatte hatten wird werden wurde wurden als wie auch nur noch nach über "
    "unter durch sich dass dies diese "
    "dieser les une est sont été était étaient avec pour dans par sur aux ont avait que qui ses "
    "son leur plus pas mais "
    "los las una uno unos unas del con para fue fueron era eran han había como sus más pero entre "
    "desde hasta"
)
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
"""Words that two texts share whatever they speak of."""
_COUNTED = (
    "row rows zeile zeilen datensätze ligne lignes fila filas",
    "column columns spalte spalten colonne colonnes columna columnas",
    "table tables tabelle tabellen tableau tableaux tabla tablas",
    "file files datei dateien fichier fichiers archivo archivos",
    "page pages seite seiten página páginas",
    "line lines zeile zeilen ligne lignes línea líneas",
    "slide slides folie folien diapositive diapositives diapositiva diapositivas",
    "paragraph paragraphs absatz absätze paragraphe paragraphes párrafo párrafos",
    "passage passages place places stelle stellen textstelle textstellen endroit endroits pasaje "
    "pasajes lugar lugares",
)
"""What tools count, as texts in the four languages call it."""
_NUMBER = re.compile(r"\d+")
_AMOUNT = re.compile(r"\d+(?:[.,]\d+)+")
YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d(?!\d)")
"""A year, wherever it stands in a text."""
_THINGS = re.compile(
    r"(?i)\s(?:units?|pieces?|pcs|items?|copies|boxes|tons?|tonnes?|kg|km|miles|hours|days|minutes|people|persons|customers|orders|"
    r"stück|einheiten|exemplare|tonnen|stunden|tage|personen|kunden|bestellungen|aufträge|unités?|pièces?|exemplaires|heures|jours|"
    r"personnes|clients|commandes|unidades|piezas|ejemplares|toneladas|horas|días|personas|clientes|pedidos|"
    r"(?P<sure>of (?:them|which|these|those)|von (?:ihnen|denen)|d'entre|de (?:ellos|ellas)|euros?|dollars?|dólares))\b"
    r"|\s?(?P<sign>[€£$¥])(?!\s?\d)"
)
_WHEN = re.compile(
    r"(?i)(?:^|[.!?:;|(]|\b(?:in|since|during|until|before|after|the|year|fy|q[1-4]|im|seit|während|bis|vor|nach|jahr|"
    r"jahre|der|die|das|en|depuis|avant|après|année|le|la|les|desde|hasta|antes|después|año|el|los|las)|['’]s|"
    r"\d{4}\s*(?:,|/|[-–]|and|or|und|oder|et|ou|y|o|vs\.?))[\s*_]*$"
)
"""What stands before a year, and the beginning of a sentence: `2024 orders rose`."""


def counts_things(text: str, start: int, end: int) -> bool:
    """Whether a number that looks like a year says how many: `sold 1950 units`, `1950 of them`."""
    things = _THINGS.match(text, end)
    if things is None:
        return False
    begins = not text[:start].strip()
    sure = bool(things["sure"] or things["sign"])
    return (sure and begins) or not _WHEN.search(text[max(0, start - 16) : start])


@lru_cache(maxsize=512)
def years(text: str) -> frozenset[str]:
    """The years of a text, without the numbers that count something."""
    return frozenset(
        match[0] for match in YEAR.finditer(text) if not counts_things(text, *match.span())
    )


@lru_cache(maxsize=8_192)
def tokens(text: str) -> frozenset[str]:
    """Words and numbers by which two texts are held to speak of the same thing. A plural is its
    singular."""
    text = text.replace("_", " ")
    words = (word for word in map(str.casefold, _WORD.findall(text)) if word not in _FUNCTION)
    codes = (code.casefold() for code in _CODE.findall(text))
    return frozenset(
        (
            *(word.rstrip("s") if len(word) > 4 else word for word in words),
            *codes,
            *_NUMBER.findall(text),
        )
    )


@lru_cache(maxsize=2_048)
def counted(of: str) -> frozenset[str]:
    """The words of what was counted, and those that other languages have for it: `rows of r2`."""
    own = tokens(of)
    return own.union(*(known for known in map(tokens, _COUNTED) if known & own))


def spoken(text: str) -> frozenset[str]:
    """The same of a sentence: the digits of its amounts name nothing."""
    return tokens(_AMOUNT.sub(" ", text))

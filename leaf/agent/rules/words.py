"""A question as words, and the closed list of words that mean something by themselves. What is not on it and names nothing in a
table is not understood.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

_TOKEN = re.compile(
    r"""(?P<quoted>"[^"]+"|`[^`]+`|“[^”]+”|„[^“”]+[“”]|«[^»]+»|(?<!\w)'[^']+'(?!\w))
    |(?P<date>\d{4}-\d{2}(?:-\d{2})?(?![\d-]))
    |(?P<number>-?\d+(?:,\d{3})+(?:\.\d+)?(?!\w)|-?\d+(?:\.\d+)?(?!\w))
    |(?P<word>[^\W_]+)
    |(?P<sign><=|>=|!=|<>|==|=|<|>|[%,&+*/-])""",
    re.VERBOSE,
)
_CAMEL = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-Z])|(?<=^gesamt)(?=\w{4})|(?<=^Gesamt)(?=\w{4})")


@dataclass(frozen=True)
class Word:
    """One word, number, date, quotation or sign of a question."""

    text: str
    key: str
    """Small letters without accents."""
    kind: str
    """`word`, `number`, `date`, `quoted`, `column` (in backticks) or `sign`."""
    first: int
    end: int


def split_words(text: str) -> list[Word]:
    """`Total unitPrice in "New York"` -> total · unit · price · in · New York."""
    words: list[Word] = []
    for found in _TOKEN.finditer(text):
        kind, piece, first, end = str(found.lastgroup), found.group(), found.start(), found.end()
        if kind == "quoted":
            words.append(Word(piece[1:-1], fold(piece[1:-1]), "column" if piece[0] == "`" else kind, first, end))
        else:
            words += [Word(part, fold(part), kind, first, end) for part in _CAMEL.split(piece)]
    return words


def fold(text: str) -> str:
    """Small letters without accents, blanks made single: what counts as the same when people type."""
    flat = unicodedata.normalize("NFKD", text.lower())
    return " ".join("".join(c for c in flat if not unicodedata.combining(c)).split())


def forms(key: str) -> frozenset[str]:
    """A word, and what it may be the plural of, or another ending of."""
    endings = ("s", "es", "e", "n", "en", "r") if len(key) > 4 else ("s",) if len(key) > 3 else ()
    return frozenset({key, *(key.removesuffix(ending) for ending in endings), re.sub("ies$", "y", key)})


def same_word(a: str, b: str) -> bool:
    """Whether two words are forms of each other."""
    return a == b or b in forms(a) or a in forms(b)


PHRASES: dict[tuple[str, ...], list[tuple[str, str]]] = {}
"""Words of a phrase -> its roles, each with what it stands for; from words.txt."""
for _line in Path(__file__).with_name("words.txt").read_text("utf-8").replace("\n ", " ").splitlines():
    _role, _, _meaning = _line.partition(": ")[0].partition(" ")
    for _phrase in _line.partition(": ")[2].replace('","', "COMMA").split(",") if _role != "#" else ():
        PHRASES.setdefault(tuple(_phrase.replace("COMMA", ",").split()), []).append((_role, _meaning))
MONTHS = """january januar janvier enero|february februar fevrier febrero|march marz mars marzo|april avril abril|may mai mayo
june juni juin junio|july juli juillet julio|august aout agosto|september septembre septiembre|october oktober octobre octubre
november novembre noviembre|december dezember decembre diciembre""".replace("\n", "|").split("|")


def _named(role: str) -> frozenset[str]:
    return frozenset(" ".join(phrase) for phrase, roles in PHRASES.items() if (role, "") in roles)


ADDED_UP, GENERIC, CHANGES, IDS, YEARS = (_named(role) for role in ("+added", "+generic", "+changes", "+ids", "+years"))
RATES, OTHER_TIMES = _named("+rates"), _named("+times")

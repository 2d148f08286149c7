"""The language of a question, in which it is answered: by its words that carry grammar and by those
that the rules know, never by the names of files and columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from leaf.agent.rules.tables import (
    LEANING,
    PHRASES,
    SAID_IN,
    SEEMING,
    SPOKEN,
    forms,
    split_words,
)
from leaf.files.stopwords import STOPWORDS
from leaf.language.text import ENGLISH, mark, speaking, t

_STOPWORDS = {"en": "english", "de": "german", "fr": "french", "es": "spanish"}


def language_of(question: str) -> str:
    """English where nothing speaks for one language more than for the others."""
    tied = _most(words_of(question))
    if len(tied) > 1:
        leaning = _leaning(question)
        tied = _most({language: leaning[language] for language in tied})
    return tied[0] if len(tied) == 1 else ENGLISH


def _most(counts: Mapping[str, int]) -> list[str]:
    most = max(counts.values())
    return [language for language, count in counts.items() if count == most]


def _leaning(question: str) -> dict[str, int]:
    """Language -> how much besides its own words speaks for it: other endings of these, words for
    figures, and the signs before a question in Spanish."""
    words = [w.key for w in split_words(question) if w.kind == "word"]
    signs = {"es": len(set("¿¡") & set(question))}
    return {
        language: signs.get(language, 0)
        + sum(
            not LEANING[language].isdisjoint(forms(word))
            or (len(word) > 5 and not known.isdisjoint(forms(word) - {word}))
            for word in words
        )
        for language, known in SPOKEN.items()
    }


def words_of(question: str) -> dict[str, int]:
    """Language -> how many words of a question are its own."""
    words = [word.key for word in split_words(question) if word.kind == "word"]
    return {
        language: sum(word in known or word in STOPWORDS[_STOPWORDS[language]] for word in words)
        for language, known in SPOKEN.items()
    }


_DECIDING = "_fmpt"
"""Roles by which a question asks for another figure."""
_UNBENT = "iauqbohsw"
"""Roles of words that have no plural and no endings."""
_GERMAN = ("n", "r")
"""What only German words end in."""


def roles_of_phrase(keys: tuple[str, ...], counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """The roles of these words in a question with so many words of each language, and what they
    stand for. An ending makes another word of a short one: `loss` is no `los`, `mines` no `min`."""
    roles = [(keys, role) for role in PHRASES.get(keys, ())]
    if not roles and len(keys) == 1:
        roles = [
            ((form,), role)
            for form in sorted(forms(keys[0]))
            for role in (PHRASES.get((form,), ()) if len(form) > 3 else ())
            if role[0] not in _UNBENT
            and not (keys[0].endswith(_GERMAN) and SAID_IN[(form,), role] in ("fr", "es"))
        ]
    yield from dict.fromkeys(role for phrase, role in roles if _is_meant(phrase, role, counts))


def _is_meant(keys: tuple[str, ...], role: tuple[str, str], counts: Mapping[str, int]) -> bool:
    """Whether a phrase is one where the question has words of other languages. It is also theirs if
    their place in words.txt is behind its own."""
    own = SAID_IN[keys, role]
    before = [*SPOKEN][: [*SPOKEN].index(own)]
    others = max((counts[language] for language in before), default=0)
    if keys in SEEMING:
        return counts[own] > others
    return role[0] not in _DECIDING or counts[own] >= others


@cache
def in_all(text: str) -> tuple[str, ...]:
    """What is said for it in each language, by which it is known again."""
    translations = []
    for language in SPOKEN:
        with speaking(language):
            translations.append(t(text))
    return tuple(translations)


LONGEST = 1_000
"""Characters of a question that is looked at whole: its patterns take a time that grows with the
square of its length."""
SAYS_ABOUT = mark("What does {file} say about {heading}?")


@cache
def _pattern_of(text: str, greedy: str = "") -> re.Pattern[str]:
    """Of a question that is said so in any language: what stands in the place of its names, once
    for each, is a group; `greedy` is the one that takes all it can."""
    ways = []
    for wording in dict.fromkeys(in_all(text)):
        parts = re.split(r"\{(\w+)\}", wording.removesuffix("?").rstrip())
        for at, part in enumerate(parts):
            if at % 2 == 0:
                parts[at] = re.escape(part)
            else:
                parts[at] = r"(\d+)" if part == "n" else "(.+)" if part == greedy else "(.+?)"
        ways.append("".join(parts))
    return re.compile(rf"(?:{'|'.join(ways)})[ .?!]*", re.I)


def asked_as(text: str, question: str, greedy: str = "") -> list[str] | None:
    """What stands in the places of a question's names, in their order in English; None for one that
    is another question."""
    plain = " ".join(question.split())
    match = _pattern_of(text, greedy).fullmatch(plain) if len(plain) <= LONGEST else None
    return [group for group in match.groups() if group is not None] if match else None

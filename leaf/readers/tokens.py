"""How many tokens a text is, estimated without a tokenizer.

The tokenizers of today's models are not published, so this is a formula whose shape was fitted to
one that was (that of the Claude models of 2023, MIT) on 339 texts: prose in 34 languages, code,
JSON, logs and tables. A model's own level is not known in advance: `PRIOR` is assumed until the
usage that comes back has said it (`agent/calibration.py`). `python -m bench.estimates` measures how
far it is right.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

PRIOR = 1.3
"""Tokens of today's models for one of the fitted tokenizer: they cut finer. On the safe side until
usage says better."""

_BIGRAMS = (
    "sJQRme:zSpeDOJbVnLMA[V_CKiZjcbRhuWeIWBXlXbhUNHK}PQQTXj[fIlfN`n<B_gKlAOW@QdXqLq`gi[Kj9k[<fPnn[YTaN_chcfKl"
    "XhWH[Z[sxz}][YgTLTKXq[UFZ}WlifUXU_Sl[[kbRnZQWOY`V]GTvhomZu^Kbn{][SdsYUaZ_n]cxMYmp`K_bYYrb`KfR]WX`G[qeKNK"
    "Z>IJI@FvozeMMC=?QPME}KvH}<fko}VkKKlKn{zP_Y{rUjh_WQKb}ukOOQNin}tx|Z}]`}Zo{wTKa3^]hPPRhf^ulV}nXVL`UW^^Lk;f"
    "WN]`Dih[bgbaMnXRMgRb[o[aRjdvQVU]Eikf]aXQ[dprLMjXhMglSRTT^PBcYU[SPJFQpKZQNVLHNzZXd[IodLfXcC^gTPgOZF[mdnIo"
    "QKKZYPQbMbK3KTc[lYb^VKvb_KUgZRIJL|_zObVIOSQVNQe^}eE}ix[uOQaMa|[ol]]WmgPR[iKk?o_xVVPXmJ[wa`Wq[U]VP`b}UeJm"
    "RGK`HRP|[}yFAMxDQGNLd}}G}v^TQbH]?QVKRipmbchj|Up_XZfa^lYeNLhQYKWG}?UkKKMWaZS[iua}d}W}WIcM^`C[jaciiW}KWXQp"
    "v}}}i|}}`yvbob^dKs[kc|`Rm[qnqxWOrhwVsq}eltK]_ft}jKen"
)
"""What each pair of letters (aa, ab … zz) inside a word adds to its tokens: hundredths are (code -
75) * 2. Pairs that are frequent in some language add next to nothing."""
_FIRST = 0.75
_WORD, _LETTERS, _CAPITALS = 0.92, 1.38, 0.13
_ENGLISH = 0.92
"""In place of `_LETTERS` in English prose, whose words are cut least."""
_COMMON = frozenset(
    [
        *(
            "the",
            "of",
            "and",
            "to",
            "in",
            "is",
            "for",
            "that",
            "it",
            "with",
            "as",
            "on",
            "be",
            "are",
            "this",
            "by",
            "from",
            "or",
            "an",
        ),
        *(
            "at",
            "not",
            "you",
            "have",
            "if",
            "can",
            "which",
            "will",
            "was",
            "all",
            "has",
            "when",
            "we",
            "but",
            "they",
            "one",
            "use",
        ),
        *("may", "its", "any", "other", "no"),
    ]
)
_COMMON_SHARE = 0.3
"""Part of the words that are among these in English prose."""
_DIGITS, _DIGIT, _TRIPLE = 0.24, 0.18, 0.55
_SIGNS, _SIGN, _SIGN_AFTER_BLANK = 0.66, 0.09, 0.41
_BLANKS, _LINES = 0.55, 0.55
_SCRIPTS = (
    ("[\u00c0-\u024f\u1e00-\u1eff]", 1.08),
    ("[\u0400-\u052f]", 0.38),
    ("[\u0400-\u052f]+", 1.43),
    ("[\u0370-\u03ff]", 1.31),
    ("[\u0590-\u07ff]", 1.15),
    ("[\u0900-\u109f]", 1.34),
    ("[\u0e00-\u0e7f]", 0.47),
    ("[\u1e00-\u1eff]", 0.97),
    ("[\u3400-\u9fff\uf900-\ufaff]", 1.0),
    ("[\u3000-\u30ff\uff00-\uffef]", 1.0),
    ("[\uac00-\ud7a3\u1100-\u11ff]", 1.36),
    ("[\u1200-\u1dff\u2000-\u2bff\U00010000-\U0010ffff]", 0.66),
)
"""Letters outside of ASCII -> tokens for each; for Cyrillic also for each word."""
_LETTER_RUN = re.compile("[A-Za-z]+")
_DIGIT_RUN = re.compile("[0-9]+")
_SIGN_RUN = re.compile("[!-/:-@\\[-`{-~]+")
_AFTER_BLANK = re.compile("\\s[!-/:-@\\[-`{-~]")
_BLANK_RUN = re.compile(" {2,}|\\t+")
_LINE_RUN = re.compile("\\n+")
_COMPILED = tuple((re.compile(pattern), weight) for pattern, weight in _SCRIPTS)


@dataclass(frozen=True)
class Weight:
    """A text in tokens of the fitted tokenizer. Models differ most in how they cut other scripts,
    so these are kept apart."""

    latin: float = 0.0
    """Latin letters, digits, signs and blanks."""
    other: float = 0.0
    """Everything else."""

    def __add__(self, more: Weight) -> Weight:
        return Weight(self.latin + more.latin, self.other + more.other)

    def times(self, factor: float) -> Weight:
        return Weight(self.latin * factor, self.other * factor)


@dataclass(frozen=True)
class Rates:
    """What a model makes of a `Weight`."""

    latin: float = PRIOR
    other: float = PRIOR

    def tokens(self, weight: Weight) -> int:
        return round(weight.latin * self.latin + weight.other * self.other)


def weigh(text: str) -> Weight:
    """The weight of a text, at some megabytes a second."""
    words = Counter(_LETTER_RUN.findall(text))
    common = sum(words[word] for word in words.keys() & _COMMON)
    english = min(1.0, common / max(1, words.total()) / _COMMON_SHARE)
    letters = _LETTERS + (_ENGLISH - _LETTERS) * english
    latin = 0.0
    for word, count in words.items():
        latin += count * (_WORD + letters * _cuts(word))
        if len(word) > 2 and word.isupper():
            latin += count * _CAPITALS * len(word)
    for digits in _DIGIT_RUN.findall(text):
        latin += _DIGITS + _DIGIT * len(digits) + _TRIPLE * ((len(digits) + 2) // 3)
    for signs in _SIGN_RUN.findall(text):
        latin += _SIGNS + _SIGN * len(signs)
    latin += _SIGN_AFTER_BLANK * len(_AFTER_BLANK.findall(text))
    latin += _BLANKS * len(_BLANK_RUN.findall(text)) + _LINES * len(_LINE_RUN.findall(text))
    if text.isascii():
        return Weight(latin)
    pattern, weight = _COMPILED[0]
    latin += weight * len(pattern.findall(text))
    return Weight(
        latin, sum(weight * len(pattern.findall(text)) for pattern, weight in _COMPILED[1:])
    )


@lru_cache(20_000)
def _cuts(word: str) -> float:
    """How often a word is cut inside, as its pairs of letters tell."""
    letters = word[:200].lower()
    pairs = sum(
        (ord(_BIGRAMS[(ord(a) - 97) * 26 + ord(b) - 97]) - 75) * 0.02 for a, b in pairwise(letters)
    )
    return max(0.0, _FIRST + pairs - 1.0) * len(word) / len(letters)


def estimate(text: str, rates: Rates = Rates()) -> int:
    """Tokens of a text."""
    return rates.tokens(weigh(text))

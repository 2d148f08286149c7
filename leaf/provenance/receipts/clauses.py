"""Sentences in the pieces that say one thing each. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from leaf.provenance.receipts.direction_words import directions
from leaf.provenance.receipts.figures import Figure
from leaf.provenance.receipts.words import years

_SPLIT = re.compile(
    r",(?=\s)|[;—]|\s[–-]\s|(?<=\w):\s|\s(?:while|whereas|but|although|though|and|während|wohingegen|aber|und|doch|et|mais|"
    r"tandis que|alors que|y|pero|mientras(?: que)?)\s",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?i)\s*(?:(?:from|to|by|or|namely|i\.e\.|von|auf|um|also|oder|bzw\.|de|à|soit|ou|contre|desde|hasta|a|o|es decir|"
    r"frente a|compared|against|verglichen|gegenüber|nach|after|versus|vs\.?|in|im|en)\b|[(]|[$€£]?\d[\d.,\s]*(?:→|->))"
)
_MONTH = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d-\d\d(?!\d)")


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
        return set(years(self.sentence))

    @property
    def times(self) -> set[str]:
        """Its years and months."""
        return self.years | set(_MONTH.findall(self.sentence))

    def holds(self, figure: Figure) -> bool:
        return self.start <= figure.start < self.end


def clauses(text: str, bounds: tuple[int, int]) -> list[Clause]:
    """A sentence cut where another statement begins; what only goes on with the one before stays
    with it."""
    start, end = bounds[0], min(bounds[1], len(text))
    cuts = [start, *(match.end() + start for match in _SPLIT.finditer(text[start:end])), end]
    pieces = [[a, b] for a, b in pairwise(cuts) if text[a:b].strip()]
    joined: list[list[int]] = []
    for a, b in pieces:
        words = list(directions(text[a:b]))
        leads = (
            bool(words)
            and words[0].start <= 12
            and bool(joined)
            and not list(directions(text[joined[-1][0] : joined[-1][1]]))
        )
        goes_on = bool(_GOES_ON.match(text[a:b])) and not words
        opens = (
            len(joined) == 1
            and bool(_GOES_ON.match(text[joined[0][0] : joined[0][1]]))
            and joined[0][0] == start
        )
        if joined and (
            leads or goes_on or (opens and not list(directions(text[joined[0][0] : joined[0][1]])))
        ):
            joined[-1][1] = b
        else:
            joined.append([a, b])
    return [Clause(a, b, text[a:b], text[start:end], start) for a, b in joined]

"""What each model makes of a text: learned from the usage that comes back, kept, and used for the
next estimates.

Two rates a model, for Latin text with figures and for other scripts, by least squares over the
requests that were counted, drawn to the prior while there are few. Each request counts by its
share, so that long ones do not outweigh all others.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from leaf.readers.tokens import PRIOR, Rates, Weight

TRUST = 0.05
"""How much the prior counts, in requests: a single counted one outweighs it."""
FADE = 0.98
"""What an earlier request counts for with each later one."""
LEAST, MOST = 0.4, 4.0
"""Bounds of a rate: a server that counts in its own way shall not make estimates absurd."""
_log = logging.getLogger(__name__)
SMALLEST = 100.0
"""Requests of less weight say little about text."""


@dataclass(frozen=True)
class Sums:
    """Of the counted requests of one model, each divided by its weight: the products that least
    squares needs."""

    ll: float = 0.0
    lo: float = 0.0
    oo: float = 0.0
    lt: float = 0.0
    ot: float = 0.0
    requests: int = 0

    def add(self, weight: Weight, tokens: int) -> Sums:
        """With one more request: what was sent, and how many tokens it was counted as, pictures and
        tools taken off."""
        whole = weight.latin + weight.other
        if whole < SMALLEST or tokens <= 0:
            return self
        latin, other, counted = weight.latin / whole, weight.other / whole, tokens / whole
        return Sums(
            self.ll * FADE + latin * latin,
            self.lo * FADE + latin * other,
            self.oo * FADE + other * other,
            self.lt * FADE + latin * counted,
            self.ot * FADE + other * counted,
            self.requests + 1,
        )

    def rates(self) -> Rates:
        """The rates that fit best. Where one script was never sent, its rate follows the
        other's."""
        if not self.requests:
            return Rates()
        level = _bounded(
            (self.lt + self.ot + TRUST * PRIOR) / (self.ll + 2 * self.lo + self.oo + TRUST)
        )
        ll, oo = self.ll + TRUST, self.oo + TRUST
        lt, ot = self.lt + TRUST * level, self.ot + TRUST * level
        determinant = ll * oo - self.lo * self.lo
        return Rates(
            _bounded((lt * oo - ot * self.lo) / determinant),
            _bounded((ot * ll - lt * self.lo) / determinant),
        )


class Calibration:
    """The rates of all models, kept in a file of the data folder. Safe to use from any number of
    threads."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        """None keeps them for the life of the process."""
        self._lock = threading.Lock()
        self._sums = _load(path) if path else {}

    def rates(self, model: str) -> Rates:
        """The prior for a model that has not answered yet."""
        return self._sums.get(model, Sums()).rates()

    def requests(self, model: str) -> int:
        """How many counted requests the rates rest on."""
        return self._sums.get(model, Sums()).requests

    def learn(self, model: str, weight: Weight, tokens: int) -> None:
        """A request was counted. What cannot be kept is not worth failing an answer for."""
        with self._lock:
            self._sums = {**self._sums, model: self._sums.get(model, Sums()).add(weight, tokens)}
            if self._path is None:
                return
            try:
                beside = self._path.with_suffix(".new")
                beside.write_text(
                    json.dumps({name: asdict(sums) for name, sums in self._sums.items()}),
                    encoding="utf-8",
                )
                os.replace(beside, self._path)
            except OSError as e:
                _log.warning("the rates of models were not kept: %s", e.strerror)


def _load(path: Path) -> dict[str, Sums]:
    try:
        return {
            str(name): Sums(**sums)
            for name, sums in json.loads(path.read_text(encoding="utf-8")).items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}  # learned again within an answer


def _bounded(rate: float) -> float:
    return min(MOST, max(LEAST, rate))

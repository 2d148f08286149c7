"""The context of one answer: which messages go into its next request, how many tokens they are, and when they are folded.

Decisions are made inside steps and stand in their values, so that a run that is taken up again sends the same.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leaf.agent.amounts import Amount, Sizes
from leaf.agent.calibration import Calibration
from leaf.agent.context import repair, system_prompt
from leaf.agent.events import Chunk, Part, chunk
from leaf.agent.fold_plan import Limits, Planned, Planner
from leaf.agent.folding import FOLDED, Entry, Fold, Mark, entries_of, newest_fold, position, render
from leaf.agent.models.base import TooLongError
from leaf.errors import ModelError
from leaf.store.model import Message
from leaf.tools.remarks import told_in

Json = dict[str, Any]

HARDER = 0.6
"""After a refusal a chat is folded to below this part of what was refused."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Counted:
    """The last request of which the server said how long it was."""

    entries: int
    """It held these first entries, under the fold that holds."""
    tokens: int


class Context:
    """What one answer sends. Not shared between answers."""

    def __init__(
        self,
        message: Message,
        history: Sequence[Message],
        schemas: Sequence[Json],
        limits: Limits,
        sizes: Sizes,
        calibration: Calibration,
        profile: str,
    ) -> None:
        self._message = message
        self._history = list(history)
        self._limits = limits
        self._sizes = sizes
        self._calibration = calibration
        self._profile = profile
        self._before = entries_of(self._history)
        self._fixed = Amount(sizes.text(system_prompt(profile) + json.dumps(schemas)))
        self.fold = newest_fold(self._history)
        self._counted = self._counted_before()

    def messages(self, raw: Sequence[Json], parts: Sequence[Part], fold: Fold | None) -> list[Json]:
        """The messages of the next request, oldest first, fit for the API."""
        return repair(render(self._entries(raw, parts), fold, model=self._message.model, profile=self._profile))

    def plan(self, raw: Sequence[Json], parts: Sequence[Part]) -> Planned | None:
        """The fold that is due before the next request."""
        entries = self._entries(raw, parts)
        size, scale = self._size(entries)
        return self._planner(entries, self.fold, scale).plan(self._mark(raw), self._asked, size, self._limits)

    def plan_harder(
        self, raw: Sequence[Json], parts: Sequence[Part], fold: Fold | None, error: ModelError | None
    ) -> Planned | None:
        """The fold after a refusal for length, by the server's own figures where it gave them. None if nothing is left."""
        entries = self._entries(raw, parts)
        estimated = self._amount(render(entries, fold, model=self._message.model, profile=self._profile))
        size, most = estimated, self._limits.window
        if isinstance(error, TooLongError) and error.tokens:
            size, most = error.tokens, int(error.most * 0.95)
        limits = self._limits.smaller(min(most, max(1, int(size * HARDER))))
        planner = self._planner(entries, fold, max(0.5, size / max(1, estimated)))
        return planner.plan(self._mark(raw), self._asked, max(size, limits.cheap + 1), limits)

    def folded_handles(self, raw: Sequence[Json], parts: Sequence[Part]) -> set[str]:
        """Handles of the files whose results are receipts now."""
        if self.fold is None:
            return set()
        entries = self._entries(raw, parts)
        outputs = [output for entry in entries[: position(entries, self.fold.receipts)] for output in entry.outputs.values()]
        return {str(source["handle"]) for output in outputs for source in output.get("sources") or ()}

    def told(self, parts: Sequence[Part]) -> frozenset[str]:
        """Keys of what tools have said of tables and the model can still see: as it came, or in a receipt."""
        gone = {self.fold.short.message, self.fold.gone.message} if self.fold else set()
        last = max((i for i, message in enumerate(self._history) if message.id in gone), default=-1)
        own = () if self._message.id in gone else parts
        seen = [*(part for message in self._history[last + 1 :] for part in message.parts), *own]
        return told_in([output for part in seen if isinstance(output := part.get("output"), Mapping)])

    def amount(self, messages: Sequence[Json]) -> Amount:
        """What a request with these messages holds, system and tools included."""
        return self._fixed + self._sizes.of(messages)

    def took(self, value: Json, entries: int) -> None:
        """Take over a turn's fold and what the server counted; `entries` are the raw messages that this answer had then."""
        if value.get("fold"):
            self.fold = Fold.from_json(value["fold"])
        used = (value["turn"] or {}).get("usage") or {}
        if used.get("input"):
            self._counted = Counted(len(self._before) + entries, int(used["input"]))

    def learn(self, messages: Sequence[Json], tokens: int) -> None:
        """The server counted a request."""
        amount = self.amount(messages)
        self._calibration.learn(self._message.model, amount.weight, tokens - amount.exact)

    @property
    def _asked(self) -> str:
        return self._history[-1].id if self._history else ""

    def _mark(self, raw: Sequence[Json]) -> Mark:
        return Mark(self._message.id, len(raw)) if raw else Mark(self._asked, len(self._history[-1].raw) if self._history else 0)

    def _entries(self, raw: Sequence[Json], parts: Sequence[Part]) -> list[Entry]:
        return [*self._before, *entries_of([replace(self._message, raw=list(raw), parts=list(parts))])]

    def _planner(self, entries: Sequence[Entry], fold: Fold | None, scale: float) -> Planner:
        rates = self._calibration.rates(self._message.model)
        return Planner(entries, fold, self._sizes, rates, fixed=round(self._fixed.tokens(rates) * scale), scale=scale)

    def _amount(self, messages: Sequence[Json]) -> int:
        return self.amount(messages).tokens(self._calibration.rates(self._message.model))

    def _size(self, entries: Sequence[Entry]) -> tuple[int, float]:
        """Tokens of the next request, and how much the last counted one was above its estimate."""
        whole = self._amount(render(entries, self.fold, model=self._message.model, profile=self._profile))
        known = self._counted
        if known is None or known.entries > len(entries):
            return whole, 1.0
        rendered = render(entries[: known.entries], self.fold, model=self._message.model, profile=self._profile)
        estimated = self._amount(rendered)
        scale = min(2.0, max(0.5, known.tokens / max(1, estimated)))
        return known.tokens + round((whole - estimated) * scale), scale

    def _counted_before(self) -> Counted | None:
        """What the server said at the end of the last answer, if the same model gave it."""
        if len(self._history) < 2:
            return None
        last = self._history[-2]
        tokens = int(last.usage.get("context") or 0)
        if not tokens or last.model != self._message.model:
            return None
        return Counted(len(self._before) - len(self._history[-1].raw), tokens)


def folded_chunk(number: int, planned: Planned, window: int) -> Chunk:
    """The part that keeps a fold and tells of it."""
    data = {
        "fold": planned.fold.to_json(),
        "results": planned.results,
        "before": planned.before,
        "after": planned.after,
        "window": window,
    }
    return chunk(f"data-{FOLDED}", id=f"{FOLDED}-{number}", data=data)


def log_fold(message_id: str, planned: Planned) -> None:
    """One line a fold, without a word of the chat."""
    _log.info(
        "fold run=%s before=%d after=%d results=%d short=%s gone=%s cap=%d",
        message_id,
        planned.before,
        planned.after,
        planned.results,
        bool(planned.fold.short.message),
        bool(planned.fold.gone.message),
        planned.fold.cap,
    )

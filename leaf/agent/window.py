"""The context of one answer: which messages go into its next request, how many tokens they are, and
when they are compacted.

Decisions are made inside steps and stand in their values, so that a run that is taken up again
sends the same.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from leaf import logs
from leaf.agent.amounts import Amount, Sizes
from leaf.agent.calibration import Calibration
from leaf.agent.compaction import (
    COMPACTED,
    BranchEntry,
    BranchPosition,
    Compaction,
    entries_of,
    first_sent,
    newest_compaction,
    position,
    render,
)
from leaf.agent.compaction_plan import Planned, Planner, WindowLimits
from leaf.agent.context import repair, system_prompt
from leaf.agent.models.base import TooLongError
from leaf.errors import ModelError
from leaf.shapes.chunks import Chunk, chunk
from leaf.shapes.part_values import output_of
from leaf.shapes.parts import FoldedData, Part
from leaf.shapes.raw import RawMessage, ToolSchema
from leaf.store.branch import Branch
from leaf.store.model import Message
from leaf.tools.remarks import told_in

HARDER = 0.6
"""After a refusal a chat is compacted to below this part of what was refused."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Counted:
    """The last request of which the server said how long it was."""

    entries: int
    """It held these first entries, under the compaction that holds."""
    tokens: int


class _Rendering(TypedDict):
    """What `render` is told of the chat beside its entries."""

    model: str
    profile: str
    before: int


class Context:
    """What one answer sends. Not shared between answers."""

    def __init__(
        self,
        message: Message,
        history: Sequence[Message],
        schemas: Sequence[ToolSchema],
        limits: WindowLimits,
        sizes: Sizes,
        calibration: Calibration,
        profile: str,
    ) -> None:
        self._message = message
        self.compaction = newest_compaction(history)
        start = first_sent(history, self.compaction)
        self._history = list(history[start:])
        """From the first message of which anything is sent: what a compaction has left out is not
        even read."""
        self._left_out = sum(role == "user" for role in _roles(history)[:start])
        self._limits = limits
        self._sizes = sizes
        self._calibration = calibration
        self._profile = profile
        self._before = entries_of(self._history)
        self._fixed = Amount(sizes.text(system_prompt(profile) + json.dumps(schemas)))
        self._counted = self._counted_before()

    def messages(
        self, raw: Sequence[RawMessage], parts: Sequence[Part], compaction: Compaction | None
    ) -> list[RawMessage]:
        """The messages of the next request, oldest first, fit for the API."""
        return repair(render(self._entries(raw, parts), compaction, **self._as))

    def plan(self, raw: Sequence[RawMessage], parts: Sequence[Part]) -> Planned | None:
        """The compaction that is due before the next request."""
        entries = self._entries(raw, parts)
        size, scale = self._size(entries)
        return self._planner(entries, self.compaction, scale).plan(
            self._mark(raw), self._asked, size, self._limits
        )

    def plan_harder(
        self,
        raw: Sequence[RawMessage],
        parts: Sequence[Part],
        compaction: Compaction | None,
        error: ModelError | None,
    ) -> Planned | None:
        """The compaction after a refusal for length, by the server's own figures where it gave
        them. None if nothing is left."""
        entries = self._entries(raw, parts)
        estimated = self.tokens(render(entries, compaction, **self._as))
        size, most = estimated, self._limits.window
        if isinstance(error, TooLongError) and error.tokens:
            size, most = error.tokens, int(error.most * 0.95)
        limits = self._limits.smaller(min(most, max(1, int(size * HARDER))))
        planner = self._planner(entries, compaction, max(0.5, size / max(1, estimated)))
        return planner.plan(self._mark(raw), self._asked, max(size, limits.cheap + 1), limits)

    def compacted_handles(self, raw: Sequence[RawMessage], parts: Sequence[Part]) -> set[str]:
        """Handles of the files whose results are receipts now."""
        if self.compaction is None:
            return set()
        entries = self._entries(raw, parts)
        outputs = [
            output
            for entry in entries[: position(entries, self.compaction.receipts)]
            for output in entry.outputs.values()
        ]
        return {
            str(source["handle"]) for output in outputs for source in output.get("sources") or ()
        }

    def told(self, parts: Sequence[Part]) -> frozenset[str]:
        """Keys of what tools have said of tables and the model can still see: as it came, or in a
        receipt."""
        gone = (
            {self.compaction.short.message, self.compaction.gone.message}
            if self.compaction
            else set()
        )
        last = max((i for i, message in enumerate(self._history) if message.id in gone), default=-1)
        own = () if self._message.id in gone else parts
        seen = [*(part for message in self._history[last + 1 :] for part in message.parts), *own]
        return told_in([output for part in seen if (output := output_of(part))])

    def amount(self, messages: Sequence[RawMessage]) -> Amount:
        """What a request with these messages holds, system and tools included."""
        return self._fixed + self._sizes.of(messages)

    def tokens(self, messages: Sequence[RawMessage]) -> int:
        """How long a request with these messages is, by what the model's server has counted."""
        return self.amount(messages).tokens(self._calibration.rates(self._message.model))

    def took(self, compaction: Compaction | None, counted: int, entries: int) -> None:
        """Take over a turn's compaction and the tokens that the server counted; `entries` are the
        raw messages that this answer had then.
        """
        if compaction:
            self.compaction = compaction
        if counted:
            self._counted = Counted(len(self._before) + entries, counted)

    def learn(self, messages: Sequence[RawMessage], tokens: int) -> None:
        """The server counted a request."""
        amount = self.amount(messages)
        self._calibration.learn(self._message.model, amount.weight, tokens - amount.exact)

    @property
    def _as(self) -> _Rendering:
        return {"model": self._message.model, "profile": self._profile, "before": self._left_out}

    @property
    def _asked(self) -> str:
        return self._history[-1].id if self._history else ""

    def _mark(self, raw: Sequence[RawMessage]) -> BranchPosition:
        return (
            BranchPosition(self._message.id, len(raw))
            if raw
            else BranchPosition(self._asked, len(self._history[-1].raw) if self._history else 0)
        )

    def _entries(self, raw: Sequence[RawMessage], parts: Sequence[Part]) -> list[BranchEntry]:
        return [
            *self._before,
            *entries_of([replace(self._message, raw=list(raw), parts=list(parts))]),
        ]

    def _planner(
        self, entries: Sequence[BranchEntry], compaction: Compaction | None, scale: float
    ) -> Planner:
        rates = self._calibration.rates(self._message.model)
        return Planner(
            entries,
            compaction,
            self._sizes,
            rates,
            fixed=round(self._fixed.tokens(rates) * scale),
            scale=scale,
        )

    def _size(self, entries: Sequence[BranchEntry]) -> tuple[int, float]:
        """Tokens of the next request, and how much the last counted one was above its estimate."""
        whole = self.tokens(render(entries, self.compaction, **self._as))
        known = self._counted
        if known is None or known.entries > len(entries):
            return whole, 1.0
        rendered = render(entries[: known.entries], self.compaction, **self._as)
        estimated = self.tokens(rendered)
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


def _roles(history: Sequence[Message]) -> Sequence[str]:
    """Who said what, without reading more of a branch than is read."""
    return history.roles if isinstance(history, Branch) else [message.role for message in history]


def folded_chunk(number: int, planned: Planned, window: int) -> Chunk:
    """The part that keeps a compaction and tells of it."""
    data: FoldedData = {
        "fold": planned.compaction.to_json(),
        "results": planned.results,
        "before": planned.before,
        "after": planned.after,
        "window": window,
    }
    return chunk("data-folded", id=f"{COMPACTED}-{number}", data=data)


def log_compaction(message_id: str, planned: Planned) -> None:
    """One line a compaction, without a word of the chat."""
    logs.event(
        _log,
        "compaction",
        run=message_id,
        before=planned.before,
        after=planned.after,
        results=planned.results,
        short=bool(planned.compaction.short.message),
        gone=bool(planned.compaction.gone.message),
        cap=planned.compaction.cap,
    )

"""When a chat is compacted, and how far: the least that brings it well below its limit, so that
compacts are rare. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate

from leaf.agent.amounts import Sizes
from leaf.agent.compaction import (
    BranchEntry,
    BranchPosition,
    Compaction,
    capped,
    gone_message,
    in_receipts,
    instructions_before,
    instructions_message,
    position,
    shortened,
    unbound,
)
from leaf.agent.models.prices import price
from leaf.readers.tokens import Rates
from leaf.shapes.raw import RawMessage

ROOM = 2_000
"""Tokens kept free beside the longest answer: what the estimate may be wrong by in a small
window."""
AFTER = 0.5
"""Part of the limit to which a compaction brings a chat."""
NEAR = 0.75
"""Where receipts leave more than this part of the limit, old answers are shortened too: else the
next compaction would come soon."""
TIER = 0.95
"""Part of the cheaper price tier at which a chat is compacted to stay in it."""
WORTH = 0.25
"""A compaction for the price alone has to save this part of the request: it costs writing the cache
anew."""
CAP_LEAST = 2_000
"""Characters that are left of a result, however little room there is."""


@dataclass(frozen=True)
class WindowLimits:
    """Tokens of a request, system and tools included."""

    window: int
    """Above this the model would refuse it, or have no room to answer."""
    cheap: int
    """Above this it costs more a token; the same as `window` where there is no such tier."""

    @staticmethod
    def of(model: str, window: int, max_output: int, share: float) -> WindowLimits:
        """`share` is the part of the window that a request may take; the rest, and at least a whole
        answer, stays free."""
        most = min(int(window * share), window - max_output - ROOM)
        most = max(most, window // 3)
        known = price(model)
        tier = int(known.long_prompt * TIER) if known and known.long_prompt else most
        return WindowLimits(most, min(most, tier))

    def smaller(self, tokens: int) -> WindowLimits:
        """For a request that was refused: so many tokens were too many."""
        return WindowLimits(min(self.window, tokens), min(self.cheap, tokens))


@dataclass(frozen=True)
class Planned:
    """A compaction and what it does, in tokens as estimated."""

    compaction: Compaction
    before: int
    after: int
    results: int
    """Tool results that are receipts now and were not before."""


class Planner:
    """Finds compactions for one state of a chat."""

    def __init__(
        self,
        entries: Sequence[BranchEntry],
        compaction: Compaction | None,
        sizes: Sizes,
        rates: Rates,
        *,
        fixed: int,
        scale: float,
    ) -> None:
        """`fixed` are the tokens of system and tools; `scale` is how much the last counted request
        was above its estimate."""
        self.entries = entries
        self.compaction = compaction
        self._sizes = sizes
        self._rates = rates
        self._fixed = fixed
        self._scale = scale

    def plan(
        self, made: BranchPosition, asked: str, size: int, limits: WindowLimits
    ) -> Planned | None:
        """The compaction to make before a request of that size, or None where it may go out as it
        is."""
        if size <= limits.cheap:
            return None
        draft = self._receipts(made, asked, int(limits.cheap * AFTER))
        after = self._size(draft)
        if size <= limits.window and after > size * (1 - WORTH):
            # the price alone would have it compacted: that would save little and cost the cache
            return None
        if after > limits.window * NEAR:
            draft = self._shorter(draft, int(limits.window * AFTER))
            after = self._size(draft)
        if after > limits.window:
            draft = self._cut(draft, limits.window)
            after = self._size(draft)
        if after >= size or draft == replace(
            self.compaction or Compaction(made, asked), made=made, asked=asked
        ):
            return None  # there is nothing left to compact
        draft = replace(draft, instructions=self._told(draft))
        return Planned(draft, size, after, self._results(draft))

    def _told(self, compaction: Compaction) -> str:
        """Instructions that were told in what a compaction shortens or leaves out."""
        marks = (compaction.short, compaction.gone)
        short = max(position(self.entries, mark) for mark in marks)
        return instructions_before(self.entries[:short], self.compaction)

    def _tokens(self, messages: Sequence[RawMessage]) -> int:
        return round(self._sizes.of(messages).tokens(self._rates) * self._scale)

    def _receipts(self, tip: BranchPosition, asked: str, target: int) -> Compaction:
        """Results as receipts, the oldest first, until the target is met; those of the newest turn
        stay."""
        old = self.compaction
        draft = Compaction(
            tip,
            asked,
            *((old.receipts, old.short, old.gone, old.cap, old.instructions) if old else ()),
        )
        entries = self.entries
        full = [
            self._tokens([capped(unbound(e.raw), draft.cap) if draft.cap else unbound(e.raw)])
            for e in entries
        ]
        small = [self._tokens([unbound(in_receipts(e, asked))]) for e in entries]
        begin = max(position(entries, draft.short), position(entries, draft.gone))
        first = max(begin, position(entries, draft.receipts))
        head = self._size(replace(draft, receipts=_mark(entries, first))) - sum(full[first:])
        last = self._newest_turn(tip)
        saved = list(accumulate((full[i] - small[i] for i in range(first, last)), initial=0))
        whole = head + sum(full[first:])
        for i in range(first, last + 1):
            if whole - saved[i - first] <= target and _may_end(entries, i):
                return replace(draft, receipts=_mark(entries, i))
        return replace(draft, receipts=_mark(entries, last))

    def _newest_turn(self, tip: BranchPosition) -> int:
        """Entries before the results that the model has not answered yet, or before the question
        where there are none."""
        entries = self.entries
        own = [i for i, e in enumerate(entries) if e.message.id == tip.message]
        if len(own) >= 2:
            return own[-2] if entries[own[-1]].raw["role"] == "user" else own[-1]
        return max(0, len(entries) - len(own) - 1)

    def _shorter(self, draft: Compaction, target: int) -> Compaction:
        """Answers shortened, and where that is not enough left out, the oldest first; the question
        stays whole."""
        starts = [
            i
            for i, e in enumerate(self.entries)
            if e.number == 0 and e.message.role == "user" and e.message.id != draft.asked
        ]
        starts.append(
            next(
                (i for i, e in enumerate(self.entries) if e.message.id == draft.asked),
                len(self.entries),
            )
        )
        for name in ("short", "gone"):
            now = position(self.entries, getattr(draft, name))
            later = [i for i in starts if i > now]
            if not later:
                continue
            sizes = _Lazy(len(later), partial(self._fits, draft, name, later, target))
            draft = self._moved(draft, name, later[min(bisect_left(sizes, True), len(later) - 1)])
            if self._size(draft) <= target * NEAR / AFTER:
                return draft
        return draft

    def _fits(
        self, draft: Compaction, name: str, starts: Sequence[int], target: int, nth: int
    ) -> bool:
        return self._size(self._moved(draft, name, starts[nth])) <= target

    def _moved(self, draft: Compaction, name: str, at: int) -> Compaction:
        """The draft with its mark `short` or `gone` before entry `at`, and those above it not
        before that."""
        mark = _mark(self.entries, at)
        moved = replace(
            draft,
            short=_later(self.entries, draft.short, mark),
            receipts=_later(self.entries, draft.receipts, mark),
        )
        return replace(moved, gone=mark) if name == "gone" else moved

    def _cut(self, draft: Compaction, window: int) -> Compaction:
        """The results that are still whole cut to what there is room for."""
        receipts = position(self.entries, draft.receipts)
        results = [
            block
            for entry in self.entries[receipts:]
            if not isinstance(entry.raw["content"], str)
            for block in entry.raw["content"]
            if block["type"] == "tool_result"
        ]
        if not results:
            return draft
        bare = self._size(replace(draft, cap=1))
        lengths = sum(len(str(block["content"])) for block in results)
        tokens = self._size(replace(draft, cap=0)) - bare
        a_token = lengths / max(1, tokens)
        cap = int(max(0, window * 0.9 - bare) * a_token / len(results))
        return replace(draft, cap=max(CAP_LEAST, cap if not draft.cap else min(cap, draft.cap)))

    def _size(self, compaction: Compaction) -> int:
        """Tokens of the request under a compaction, by parts that are weighed once."""
        entries = self.entries
        receipts, short, gone = (
            position(entries, mark)
            for mark in (compaction.receipts, compaction.short, compaction.gone)
        )
        total = self._tokens([gone_message(gone)]) if gone else 0
        if told := self._told(compaction):
            total += self._tokens([instructions_message(told)])
        at = gone
        while at < short:
            group = [e for e in entries[at:short] if e.message.id == entries[at].message.id]
            total += self._tokens([shortened(group)])
            at += len(group)
        for i in range(max(at, short), len(entries)):
            raw = entries[i].raw
            raw = (
                in_receipts(entries[i], compaction.asked)
                if i < receipts
                else capped(raw, compaction.cap)
                if compaction.cap
                else raw
            )
            total += self._tokens([unbound(raw)])
        return self._fixed + total

    def _results(self, compaction: Compaction) -> int:
        before = position(self.entries, self.compaction.receipts) if self.compaction else 0
        return sum(
            block["type"] == "tool_result"
            for entry in self.entries[before : position(self.entries, compaction.receipts)]
            if not isinstance(entry.raw["content"], str)
            for block in entry.raw["content"]
        )


@dataclass(frozen=True)
class _Lazy:
    """A sequence for `bisect` whose members are found when they are asked for."""

    length: int
    member: Callable[[int], bool]

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, nth: int) -> bool:
        return self.member(nth)


def _mark(entries: Sequence[BranchEntry], at: int) -> BranchPosition:
    """The mark before entry `at`."""
    if at == 0:
        return BranchPosition()
    before = entries[at - 1]
    return BranchPosition(before.message.id, before.number + 1)


def _later(
    entries: Sequence[BranchEntry], one: BranchPosition, other: BranchPosition
) -> BranchPosition:
    return one if position(entries, one) >= position(entries, other) else other


def _may_end(entries: Sequence[BranchEntry], at: int) -> bool:
    """Whether receipts may end before this entry: not between calls and their results."""
    return at == len(entries) or entries[at].raw["role"] == "assistant" or entries[at].number == 0

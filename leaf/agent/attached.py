"""What the files beside a question would take, before it is sent. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaf.agent.budget import FileInChat, at_once
from leaf.agent.models.prices import inline_cost
from leaf.readers.tokens import Rates, Weight
from leaf.store.model import ChatFile, File

LINE_TOKENS = 60
"""What a file's line in the question takes at most, beside which nothing of it is sent by
itself."""


@dataclass(frozen=True)
class AttachedEstimate:
    """Estimated tokens and money of what is attached."""

    tokens: int
    """If all of it is read."""
    cost: float | None
    """US dollars of `tokens` at list price, read once; None where the model has no known price."""
    sent: int
    """What goes out with the question itself: a line for each file, and the pictures that are shown
    at once."""
    limit: int
    """What one answer reads of files, LEAF_FILE_TOKENS or a part of the model's window."""
    too_big: tuple[tuple[str, int], ...] = ()
    """Names and tokens of files that are larger than that, the largest first. Tables are queried,
    and never too big."""
    counted: int = 0
    """How many answers of this model the estimate rests on; 0 for an assumption."""


def file_tokens(file: File, rates: Rates) -> int:
    """Tokens of the whole content of a file: text as read_file gives it, pictures as they are
    seen."""
    latin, other = file.outline.get("weight") or (0, 0)
    if latin or other:
        return rates.tokens(Weight(latin, other))
    return int(file.outline.get("tokens") or 0)


def estimate_attached(
    waiting: Sequence[ChatFile],
    tables: frozenset[str],
    model: str,
    rates: Rates,
    limit: int,
    counted: int,
    seen: int = 0,
) -> AttachedEstimate:
    """The estimate for these files; `tables` are the ids of those that SQL answers from without
    reading them, `seen` the tokens up to which pictures are shown with the question.
    """
    sizes = {c.file.id: file_tokens(c.file, rates) for c in waiting}
    total = sum(sizes.values())
    big = [
        (c.file.name, sizes[c.file.id])
        for c in waiting
        if sizes[c.file.id] > limit and c.file.id not in tables
    ]
    big.sort(key=lambda named: -named[1])
    pictures = [
        FileInChat(c.handle, c.file.name, sizes[c.file.id], newest=True)
        for c in waiting
        if c.file.kind == "picture"
    ]
    sent = LINE_TOKENS * len(waiting) + sum(
        decision.read for decision in at_once(pictures, min(seen, limit))
    )
    return AttachedEstimate(total, inline_cost(total, model), sent, limit, tuple(big), counted)

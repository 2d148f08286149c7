"""A model server as an answer uses it: what its models take, and how long to try when it does not
answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from leaf.agent.blocks import alternating, plain, unseen
from leaf.agent.calibration import Calibration
from leaf.agent.models.base import Model, TokenUsage, TurnCutError
from leaf.agent.models.prices import context_window
from leaf.errors import ModelError
from leaf.retries import Waits, doubling
from leaf.shapes.raw import RawMessage

LEAST_ANSWER = 1_000
"""Tokens of a turn that is asked for, however little room there seems to be."""
SPARE = 16
"""Part of the window that is left free, since the length of a request is an estimate."""
LONGEST_BACKOFF = 30.0
"""Seconds between two attempts to reach a model server, unless the server asks for more."""


@dataclass(frozen=True)
class Endpoint:
    """A model server, or the rules that answer without one."""

    model: Model
    profile_for: Callable[[str], str]
    """Model -> which blocks its server takes; see docs/deploy.md."""
    sees_for: Callable[[str], bool] = lambda _model: True
    """Whether a model sees pictures."""
    window_for: Callable[[str], int] = context_window
    """Tokens that request and answer may have together."""
    can_write: bool = True
    """Whether the model can write a text when a tool asks it to; rules cannot."""
    calibration: Calibration = field(default_factory=Calibration)
    context_share: float = 0.8
    """Part of the model's window at which a chat is compacted."""
    max_output_tokens: int = 16_000
    retry_waits: Sequence[float] = (1.0, 4.0)
    """Seconds before each new attempt of a turn whose stream was cut."""
    patience: float = 120.0
    """Seconds for which a turn is tried again while the model server cannot be reached or takes no
    requests."""

    def sendable(self, messages: list[RawMessage], model: str) -> list[RawMessage]:
        """The messages as this model takes them."""
        sees = self.sees_for(model)
        if self.profile_for(model) == "basic":
            return alternating([plain(message, sees=sees) for message in messages])
        return messages if sees else [unseen(message) for message in messages]

    def answer_tokens(self, model: str, request: int = 0) -> int:
        """The longest turn that is asked for, beside a request of so many tokens: some servers refuse
        what might become longer than their window."""
        window = self.window_for(model)
        room = window - request - window // SPARE
        return min(self.max_output_tokens, window // 2, max(LEAST_ANSWER, room))


@dataclass(frozen=True)
class Money:
    """A sum that is unknown as soon as one summand is."""

    total: float | None = 0.0

    def add(self, dollars: float | None) -> Money:
        return Money(None if self.total is None or dollars is None else self.total + dollars)


class Attempts:
    """The attempts of one turn: how many there were, what they took, and how long to wait before
    the next."""

    def __init__(self, cut_waits: Sequence[float], patience: float) -> None:
        self.made = 0
        self.spent = TokenUsage()
        self.dollars = Money()
        self.began = time.monotonic()
        self._cuts = Waits(cut_waits)
        self._refusals = Waits(doubling(1.0, LONGEST_BACKOFF), patience=patience)

    def next_wait(self, error: ModelError) -> float | None:
        """Seconds to wait after this error; None when it will not pass, or not within the
        patience."""
        if isinstance(error, TurnCutError):
            return self._cuts.next()
        return self._refusals.next(least=error.wait) if error.retryable else None

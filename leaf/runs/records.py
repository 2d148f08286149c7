"""What is told of runs: to the operator, and on the settings page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from leaf.store.model import Status


@dataclass(frozen=True)
class Load:
    """How much one process has to do."""

    running: int
    """Answers that it writes."""
    waiting: int
    """Questions that wait for theirs."""


@dataclass(frozen=True)
class RunRecord:
    """One answer, as the history and the run database know it."""

    message_id: str
    chat_id: str
    user_id: str
    status: Status
    model: str
    asked_at: datetime | None
    begun_at: datetime | None
    """None while it waits, and once its record was pruned."""
    ended_at: datetime | None
    attempts: int
    """How often it was begun; 0 where there is no record."""
    executor: str
    """The process that has it, as the run database names it."""
    here: bool
    """Whether this process writes it now."""
    error: str


@dataclass(frozen=True)
class StepRecord:
    """One finished step of a run."""

    number: int
    name: str
    seconds: float
    tokens: int
    outcome: str
    """`ok`, `error` or `stopped`."""

"""What is to be answered, and what came of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leaf.agent.budget import FileInChat
from leaf.agent.cited import CitationResolver
from leaf.agent.models.base import TokenUsage
from leaf.settings import RunLimits
from leaf.shapes.parts import Part, UsageData
from leaf.shapes.raw import RawMessage, ToolInput
from leaf.store.model import Message, Scope, Status
from leaf.tools.base import Hooks

if TYPE_CHECKING:
    from leaf.tools.base import ToolOutput

RunTool = Callable[[str, ToolInput, threading.Event, Hooks], "ToolOutput"]
"""Runs one tool by name with a checked input, until the event is set. Raises LeafError, whose text
goes to the model."""


@dataclass(frozen=True)
class AnswerTask:
    """One question to be answered."""

    message_id: str
    """The assistant message that is being made."""
    model: str
    history: Sequence[Message]
    """The branch up to and including the question, oldest first."""
    run_tool: RunTool
    limits: RunLimits = field(default_factory=RunLimits)
    inline_tokens: int = 0
    """Estimated tokens of the chat's files, had they been put into the prompt."""
    files: Sequence[FileInChat] = ()
    """The chat's files, in the order in which they came."""
    file_tokens: int = 100_000
    """Tokens of file content that the answer takes in."""
    budget_reached: Callable[[], str] = lambda: ""
    """Asked inside each step that would ask the model: the sentence for a budget that is used up,
    or nothing."""
    spent: Callable[[str, TokenUsage, float | None], None] = lambda _step, _usage, _money: None
    """Told what each step took, by its name; a step that is replayed is told again."""
    scope: Scope | None = None
    """On whose behalf; None only where no picture is kept."""
    resolver: CitationResolver | None = None
    """Looks up what is cited; without one nothing is checked."""


@dataclass(frozen=True)
class Outcome:
    """What became of a question."""

    status: Status
    """`completed`, `stopped` or `error`."""
    parts: list[Part]
    """The same as the reduced stream of chunks, and complete also where finished steps were not run
    again."""
    raw: list[RawMessage]
    """Messages API messages of this answer, fit to be sent back."""
    usage: UsageData
    """The data of the `data-usage` part."""
    finish_reason: str = "stop"
    """`stop`; `length` for a limit (of the run, a turn or the context); `content-filter` for a
    refusal; else the status."""
    error: str = ""
    """One sentence for a person, with status `error`."""

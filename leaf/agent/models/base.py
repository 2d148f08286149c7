"""What a model is to the loop: it takes a request, says what it streams, and ends with one turn. No
model lives here.

Everything in a turn is plain JSON, so that a durable run can store a finished turn and never ask
for it again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, Protocol

from leaf.errors import ModelError
from leaf.shapes.raw import RawBlock, RawMessage, ToolSchema
from leaf.shapes.results import Output
from leaf.store.model import Scope


class TurnCutError(ModelError):
    """The stream had begun and broke: the same turn may be asked for again at once."""


class TooLongError(ModelError):
    """The request is longer than the model takes. The same request will be refused again; a shorter
    one may pass."""

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        status: int | None = None,
        tokens: int = 0,
        most: int = 0,
    ) -> None:
        super().__init__(message, hint, status=status)
        self.tokens = tokens
        """What the server counted; 0 where it does not say."""
        self.most = most
        """What it takes."""


@dataclass(frozen=True)
class TokenUsage:
    """Tokens of one turn, or of several added up."""

    input: int = 0
    """All input tokens: fresh, written to the cache and read from it."""
    cached: int = 0
    """Of `input`: read from the cache."""
    cache_creation: int = 0
    """Of `input`: written to the cache."""
    output: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input + other.input,
            self.cached + other.cached,
            self.cache_creation + other.cache_creation,
            self.output + other.output,
        )


@dataclass(frozen=True)
class ModelEvent:
    """Something that a turn shows while it is made."""

    kind: Literal["text", "reasoning", "tool-input", "citation", "usage", "questions"]
    phase: Literal["start", "delta", "end"] = "delta"
    index: int = 0
    """Place of the content block in the turn."""
    delta: str = ""
    """The new characters; for `tool-input` a piece of the input's JSON text."""
    call_id: str = ""
    """With a tool input's `start`: the call's id."""
    name: str = ""
    """With a tool input's `start`: the tool's name."""
    citation: RawBlock = field(default_factory=dict)
    """With `citation`: what the text of this block rests on, as the server named it."""
    questions: tuple[str, ...] = ()
    """With `questions`: what the user may ask next with a press."""
    usage: TokenUsage = TokenUsage()
    """With `usage`: what the turn has taken so far, so that an interrupted turn is counted too."""


@dataclass(frozen=True)
class ModelRequest:
    """One call of a model. Earlier messages, system and tools never change within a chat, so that
    the prompt cache holds."""

    model: str
    system: str
    tools: Sequence[ToolSchema]
    """`{"name", "description", "input_schema"}`, always in the same order."""
    messages: Sequence[RawMessage]
    """Messages API messages, oldest first."""
    max_tokens: int = 16_000
    profile: str = "claude"
    """`claude` (thinking, caching) or `basic` (neither)."""
    scope: Scope | None = None
    """On whose behalf, for pictures that are kept in the workspace."""
    outputs: Mapping[str, Output] = field(default_factory=dict)
    """Tool call id -> `ToolOutput.to_json()` of the calls of this run. Only the rules read it: a
    model reads the messages."""


ENDED_WHOLE = frozenset({"tool_use", "end_turn", "stop_sequence"})
"""Stop reasons of a turn that is complete. Whether its calls are to be run says that it has some: servers
that speak for another's model give one reason for the other."""


@dataclass(frozen=True)
class ModelTurn:
    """What a model said in one call."""

    content: list[RawBlock]
    """Raw content blocks, to be sent back byte-equal."""
    stop_reason: str
    """`end_turn`, `tool_use`, `pause_turn`, `refusal`, `max_tokens`,
    `model_context_window_exceeded`, `stop_sequence`."""
    usage: TokenUsage = TokenUsage()
    model: str = ""
    """The model that answered, as the server names it."""
    seconds: float = 0.0
    broken: dict[str, str] = field(default_factory=dict)
    """Tool call id -> the input as it came, where that is not JSON; the block in `content` then
    holds an empty input."""

    def to_json(self) -> dict[str, object]:
        return asdict(self)


Emit = Callable[[ModelEvent], None]


class Model(Protocol):
    """Something that answers. Holds no state between turns."""

    def turn(self, request: ModelRequest, emit: Emit, stop: threading.Event) -> ModelTurn:
        """Answer once. Raises ModelError, and RunError within a second once `stop` is set."""

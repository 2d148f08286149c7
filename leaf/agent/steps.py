"""The steps of an answer: functions whose value a durable executor keeps as plain JSON, and what
such values are.

A value is made as one of the classes here and is one again when it comes back from a run database:
`from_json` checks it, once. It takes what earlier versions kept (no `version`, the same fields) and
passes over fields that later ones add.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from typing import Annotated, Any, ClassVar, Protocol, Self, TypeVar, cast

from pydantic import Field, TypeAdapter, ValidationError

from leaf.agent.compaction import Compaction, moved
from leaf.agent.models.base import ModelTurn, TokenUsage
from leaf.errors import RunError
from leaf.shapes.chunks import Chunk, Chunks, chunk, shown_chunk
from leaf.shapes.results import KeptOutput

VERSION = 1
"""Of the values below, kept with each. Values that have none are of before, and read as version
1."""
KEPT_COMPACTION = "fold"
"""The name by which a compaction is kept, which earlier versions gave it."""
KeptValue = dict[str, Any]
"""A step's value as a run database keeps it: plain JSON."""


@dataclass(frozen=True)
class Step:
    """What all steps have."""

    kind: ClassVar[str]
    """What the names of such steps begin with: `model-3`, `tool-3-1-query_tables`."""

    @property
    def shown(self) -> Sequence[Chunk]:
        """What a viewer is shown again when the step is not run again."""
        return ()

    @property
    def outcome(self) -> str:
        """`ok`, `error` or `stopped`."""
        return "ok"

    @property
    def tokens(self) -> int:
        """Tokens of a model that it took."""
        return 0

    def to_json(self) -> KeptValue:
        return {"version": VERSION, **{one.name: getattr(self, one.name) for one in fields(self)}}

    @classmethod
    def from_json(cls, kept: object) -> Self:
        """Raises RunError for a value that is none of this step, or of a later version that this
        one does not know."""
        version = kept.get("version", VERSION) if isinstance(kept, Mapping) else VERSION
        try:
            if not isinstance(version, int) or version > VERSION:
                raise RunError(
                    "A later version of Leaf began this answer.",
                    "Start that version, or ask again.",
                )
            step: Self = _adapter(cast("type", cls)).validate_python(kept)
        except ValidationError as e:
            place = ".".join(
                str(key) for key in e.errors(include_url=False, include_input=False)[0]["loc"]
            )
            raise RunError(
                f"A step of this answer was kept in a form that cannot be read ({place}).",
                "Ask again.",
            ) from e
        return step


@dataclass(frozen=True)
class TurnCall:
    """One tool call of a turn."""

    raw_id: str
    id: str
    """`raw_id`, made different where a server uses one id twice."""
    name: str
    input: Any
    problem: str = ""
    """Why it cannot be run as it came."""

    def chunk(self) -> Chunk:
        """Shows the call with its whole input."""
        if self.problem:
            return chunk(
                "tool-input-error",
                toolCallId=self.id,
                toolName=self.name,
                input=self.input,
                errorText=self.problem,
            )
        return chunk(
            "tool-input-available", toolCallId=self.id, toolName=self.name, input=self.input
        )


@dataclass(frozen=True)
class ModelStep(Step):
    """A turn of the model, with its attempts."""

    kind = "model-"
    turn: ModelTurn | None = None
    """None where there was an error, where it was stopped, or where no model was asked."""
    compaction: Annotated[Compaction | None, Field(validation_alias=KEPT_COMPACTION)] = None
    """The compaction that was decided before it."""
    calls: tuple[TurnCall, ...] = ()
    """The tool calls of the turn, with what is wrong about each."""
    error: str = ""
    stopped: bool = False
    chunks: Chunks = ()
    usage: TokenUsage = field(default_factory=TokenUsage)
    money: float | None = 0.0
    """US dollars; None where a price is not known."""
    seconds: float = 0.0
    used_up: str = ""
    """The sentence for a budget that let no model be asked."""

    @property
    def shown(self) -> Sequence[Chunk]:
        return self.chunks

    @property
    def outcome(self) -> str:
        return "stopped" if self.stopped else "error" if self.error else "ok"

    @property
    def tokens(self) -> int:
        return self.usage.input + self.usage.output

    @property
    def good(self) -> bool:
        """Whether an answer can go on from it: neither a turn that failed nor one that was
        stopped."""
        return not self.stopped and self.turn is not None

    def taken_over(self, answer: str, by: str) -> Self:
        """The same in the answer `by`; `answer` has paid for it."""
        return replace(
            self,
            compaction=self.compaction and self.compaction.moved(answer, by),
            chunks=tuple(moved(c, answer, by) for c in self.chunks),
            usage=TokenUsage(),
            money=0.0,
            seconds=0.0,
        )

    def to_json(self) -> KeptValue:
        record = super().to_json() | {
            "turn": self.turn.to_json() if self.turn else None,
            KEPT_COMPACTION: self.compaction.to_json() if self.compaction else None,
            "calls": [asdict(call) for call in self.calls],
            "chunks": list(self.chunks),
            "usage": asdict(self.usage),
        }
        del record["compaction"]
        return record


@dataclass(frozen=True)
class ToolStep(Step):
    """A tool call."""

    kind = "tool-"
    id: str
    """Of the call."""
    output: KeptOutput | None = None
    """None where it failed or was stopped."""
    error: str = ""
    """Why it failed, for the model."""
    stopped: bool = False
    seconds: float = 0.0
    content: Mapping[str, int] | None = None
    """Tokens of file content that it brought in, by handle."""
    usage: TokenUsage | None = None
    """What it took of a model; None where it asked none."""
    money: float | None = 0.0

    @property
    def shown(self) -> Sequence[Chunk]:
        if self.output is not None:
            chunks = [
                shown_chunk(s["name"], s["id"], s["data"]) for s in self.output.get("shows", ())
            ]
            return [chunk("tool-output-available", toolCallId=self.id, output=self.output), *chunks]
        return (
            []
            if self.stopped
            else [chunk("tool-output-error", toolCallId=self.id, errorText=self.error)]
        )

    @property
    def outcome(self) -> str:
        return "stopped" if self.stopped else "error" if self.error else "ok"

    @property
    def tokens(self) -> int:
        return self.usage.input + self.usage.output if self.usage else 0

    @property
    def good(self) -> bool:
        """Whether an answer can go on from it."""
        return not self.stopped

    def taken_over(self, _answer: str, _by: str) -> Self:
        """The same in another answer; this one has paid for it."""
        return replace(self, usage=TokenUsage() if self.usage else None, money=0.0, seconds=0.0)

    def to_json(self) -> KeptValue:
        return super().to_json() | {"usage": asdict(self.usage) if self.usage else None}


@dataclass(frozen=True)
class CitationStep(Step):
    """A look at what an answer cites."""

    kind = "citations-"
    chunks: Chunks
    """The parts of the citations again, each with what was found."""
    seconds: float

    @property
    def shown(self) -> Sequence[Chunk]:
        return self.chunks

    def to_json(self) -> KeptValue:
        return super().to_json() | {"chunks": list(self.chunks)}


S = TypeVar("S", bound=Step)


class StepRunner(Protocol):
    """Runs steps. A durable one gives back the kept value of a step that has finished before, and
    shows it again (`shown`)."""

    def __call__(self, name: str, shape: type[S], function: Callable[[], S], /) -> S: ...

    def parallel(self, shape: type[S], jobs: Sequence[tuple[str, Callable[[], S]]], /) -> list[S]:
        """The values of independent steps, in the order of the jobs."""


class InlineSteps:
    """Steps that nothing keeps: each runs at once, independent ones in threads."""

    def __init__(self, workers: int = 8) -> None:
        self._workers = workers

    def __call__(self, _name: str, _shape: type[S], function: Callable[[], S], /) -> S:
        return function()

    def parallel(self, _shape: type[S], jobs: Sequence[tuple[str, Callable[[], S]]], /) -> list[S]:
        if len(jobs) < 2:
            return [function() for _, function in jobs]
        with ThreadPoolExecutor(min(self._workers, len(jobs)), thread_name_prefix="tool") as pool:
            return list(pool.map(lambda job: job[1](), jobs))


def parse_step(name: str, kept: object) -> ModelStep | ToolStep | CitationStep | None:
    """A kept value by the name of its step; None for a step that shows nothing and asks no model.
    Raises RunError."""
    shapes: tuple[type[ModelStep | ToolStep | CitationStep], ...] = (
        ModelStep,
        ToolStep,
        CitationStep,
    )
    shape = next((one for one in shapes if name.startswith(one.kind)), None)
    return shape.from_json(kept) if shape else None


@cache
def _adapter(shape: type) -> TypeAdapter[Any]:
    return TypeAdapter(shape)

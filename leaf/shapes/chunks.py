"""What a run streams, by the names of the AI SDK's UI-message stream. `agent.events` makes parts of
it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, get_args, get_type_hints, overload

from pydantic import PlainValidator, TypeAdapter, ValidationError
from typing_extensions import TypedDict, TypeIs

from leaf.errors import RunError
from leaf.shapes.part_parser import KINDS
from leaf.shapes.parts import (
    BudgetData,
    BudgetPart,
    ConsentPart,
    CoverageData,
    CoveragePart,
    DocumentPart,
    FilePart,
    FoldedData,
    FoldedPart,
    LeafMetadata,
    ProgressPart,
    QuestionsPart,
    ReceiptsData,
    ReceiptsPart,
    SourcePart,
    StatusPart,
    TextData,
    UsageData,
    UsagePart,
)
from leaf.shapes.results import Output


class Start(TypedDict):
    type: Literal["start"]
    messageId: str


class Finish(TypedDict):
    type: Literal["finish"]
    finishReason: str


class Abort(TypedDict):
    type: Literal["abort"]
    reason: str


class Error(TypedDict):
    type: Literal["error"]
    errorText: str


class Begin(TypedDict):
    """Kept in the run database alone: an attempt of a step begins."""

    type: Literal["begin"]
    step: str
    attempt: int


class Numbered(TypedDict):
    """Kept in the run database alone: the chunks from here to the next of its kind are those from
    `start` to `end` of what one writer showed; there may be fewer, because deltas are joined."""

    type: Literal["batch"]
    writer: str
    start: int
    end: int


class StepStarts(TypedDict):
    type: Literal["start-step"]
    step: NotRequired[int]


class StepEnds(TypedDict):
    type: Literal["finish-step"]


class StepNumber(TypedDict):
    step: int


class StepReset(TypedDict):
    """Takes back what an interrupted attempt had shown."""

    type: Literal["data-reset-step"]
    data: StepNumber
    transient: NotRequired[bool]


class OldStepReset(TypedDict):
    """The same as earlier versions said it."""

    type: Literal["reset-step"]
    step: NotRequired[int]


class BlockStarts(TypedDict):
    type: Literal["text-start", "reasoning-start"]
    id: str


class BlockGrows(TypedDict):
    type: Literal["text-delta", "reasoning-delta"]
    id: str
    delta: str


class BlockEnds(TypedDict):
    type: Literal["text-end", "reasoning-end"]
    id: str


class InputStarts(TypedDict):
    type: Literal["tool-input-start"]
    toolCallId: str
    toolName: str


class InputGrows(TypedDict):
    type: Literal["tool-input-delta"]
    toolCallId: str
    inputTextDelta: str


class InputThere(TypedDict):
    type: Literal["tool-input-available"]
    toolCallId: str
    toolName: NotRequired[str]
    input: Any


class InputWrong(TypedDict):
    type: Literal["tool-input-error"]
    toolCallId: str
    toolName: NotRequired[str]
    input: NotRequired[Any]
    errorText: str


class OutputThere(TypedDict):
    type: Literal["tool-output-available"]
    toolCallId: str
    output: Output


class OutputWrong(TypedDict):
    type: Literal["tool-output-error"]
    toolCallId: str
    errorText: str


class Grown(TypedDict):
    delta: str


class DocumentGrows(TypedDict):
    """More text of a document that is being written; shown, never kept."""

    type: Literal["data-document-delta"]
    id: str
    data: Grown


class OtherChunk(TypedDict):
    """A kind that this version does not know, and whatever a tool shows under a name of its own."""

    type: str


Chunk = (
    Start
    | Finish
    | Abort
    | Error
    | Begin
    | Numbered
    | StepStarts
    | StepEnds
    | StepReset
    | OldStepReset
    | BlockStarts
    | BlockGrows
    | BlockEnds
    | InputStarts
    | InputGrows
    | InputThere
    | InputWrong
    | OutputThere
    | OutputWrong
    | DocumentGrows
    | SourcePart
    | FilePart
    | UsagePart
    | CoveragePart
    | ReceiptsPart
    | BudgetPart
    | FoldedPart
    | DocumentPart
    | QuestionsPart
    | ConsentPart
    | StatusPart
    | ProgressPart
    | OtherChunk
)
LastChunk = Finish | Abort | Error

TERMINAL = frozenset({"finish", "abort", "error"})
"""A stream ends with exactly one of these."""
RESET = ("data-reset-step", "reset-step")
"""What takes back what a step had shown: as a client of the AI SDK takes it, and as it was called
before."""


def is_last(c: Chunk) -> TypeIs[LastChunk]:
    return c["type"] in TERMINAL


def is_block_starting(c: Chunk) -> TypeIs[BlockStarts]:
    return c["type"] in ("text-start", "reasoning-start")


def is_block_growing(c: Chunk) -> TypeIs[BlockGrows]:
    return c["type"] in ("text-delta", "reasoning-delta")


def is_input_growing(c: Chunk) -> TypeIs[InputGrows]:
    return c["type"] == "tool-input-delta"


def is_output(c: Chunk) -> TypeIs[OutputThere]:
    return c["type"] == "tool-output-available"


def is_problem(c: Chunk) -> TypeIs[OutputWrong | InputWrong]:
    """Of a tool call."""
    return c["type"] in ("tool-output-error", "tool-input-error")


def is_numbered(c: Chunk) -> TypeIs[Numbered]:
    return c["type"] == "batch"


def is_document_growing(c: Chunk) -> TypeIs[DocumentGrows]:
    return c["type"] == "data-document-delta"


# Made


@overload
def chunk(kind: Literal["start"], *, messageId: str) -> Start: ...
@overload
def chunk(kind: Literal["finish"], *, finishReason: str) -> Finish: ...
@overload
def chunk(kind: Literal["abort"], *, reason: str) -> Abort: ...
@overload
def chunk(kind: Literal["error"], *, errorText: str) -> Error: ...
@overload
def chunk(kind: Literal["batch"], *, writer: str, start: int, end: int) -> Numbered: ...
@overload
def chunk(kind: Literal["begin"], *, step: str, attempt: int) -> Begin: ...
@overload
def chunk(kind: Literal["start-step"], *, step: int) -> StepStarts: ...
@overload
def chunk(kind: Literal["finish-step"]) -> StepEnds: ...
@overload
def chunk(
    kind: Literal["data-reset-step"], *, data: StepNumber, transient: bool = ...
) -> StepReset: ...
@overload
def chunk(kind: Literal["text-start", "reasoning-start"], *, id: str) -> BlockStarts: ...
@overload
def chunk(kind: Literal["text-delta", "reasoning-delta"], *, id: str, delta: str) -> BlockGrows: ...
@overload
def chunk(kind: Literal["text-end", "reasoning-end"], *, id: str) -> BlockEnds: ...
@overload
def chunk(kind: Literal["tool-input-start"], *, toolCallId: str, toolName: str) -> InputStarts: ...
@overload
def chunk(
    kind: Literal["tool-input-delta"], *, toolCallId: str, inputTextDelta: str
) -> InputGrows: ...
@overload
def chunk(
    kind: Literal["tool-input-available"], *, toolCallId: str, toolName: str, input: Any
) -> InputThere: ...
@overload
def chunk(
    kind: Literal["tool-input-error"], *, toolCallId: str, toolName: str, input: Any, errorText: str
) -> InputWrong: ...
@overload
def chunk(
    kind: Literal["tool-output-available"], *, toolCallId: str, output: Output
) -> OutputThere: ...
@overload
def chunk(
    kind: Literal["tool-output-error"], *, toolCallId: str, errorText: str
) -> OutputWrong: ...
@overload
def chunk(
    kind: Literal["source-document"],
    *,
    sourceId: str,
    mediaType: str,
    title: str,
    filename: str,
    providerMetadata: LeafMetadata = ...,
) -> SourcePart: ...
@overload
def chunk(kind: Literal["data-usage"], *, id: str, data: UsageData) -> UsagePart: ...
@overload
def chunk(kind: Literal["data-coverage"], *, id: str, data: CoverageData) -> CoveragePart: ...
@overload
def chunk(kind: Literal["data-receipts"], *, id: str, data: ReceiptsData) -> ReceiptsPart: ...
@overload
def chunk(kind: Literal["data-budget"], *, id: str, data: BudgetData) -> BudgetPart: ...
@overload
def chunk(kind: Literal["data-folded"], *, id: str, data: FoldedData) -> FoldedPart: ...
@overload
def chunk(kind: Literal["data-questions"], *, id: str, data: Sequence[str]) -> QuestionsPart: ...
@overload
def chunk(kind: Literal["data-status"], *, id: str, data: TextData) -> StatusPart: ...
@overload
def chunk(kind: Literal["data-progress"], *, id: str, data: TextData) -> ProgressPart: ...


def chunk(kind: str, **fields: Any) -> Any:
    """A chunk of that type: `chunk("text-delta", id="t1", delta="Hel")`."""
    return {"type": kind, **fields}


def shown_chunk(name: str, data_id: str, data: Any) -> Chunk:
    """The chunk of what a tool shows: `data-<name>`."""
    data_chunk: OtherChunk = {"type": f"data-{name}", "id": data_id, "data": data}  # type: ignore[typeddict-unknown-key]
    return data_chunk


# From outside

_OWN = (
    *(
        Start,
        Finish,
        Abort,
        Error,
        Begin,
        Numbered,
        StepStarts,
        StepEnds,
        StepReset,
        OldStepReset,
        BlockStarts,
        BlockGrows,
        BlockEnds,
    ),
    *(InputStarts, InputGrows, InputThere, InputWrong, OutputThere, OutputWrong, DocumentGrows),
)
_HINT = "Ask again; if it happens twice, look whether all processes run the same version of Leaf."


@cache
def _kinds() -> Mapping[str, TypeAdapter[Any]]:
    own = {kind: shape for shape in _OWN for kind in get_args(get_type_hints(shape)["type"])}
    return {kind: TypeAdapter(shape) for kind, shape in {**KINDS, **own}.items()}


def parse_chunks(given: object, where: str = "an answer") -> list[Chunk]:
    """What stands in the stream of a run, checked: the very same objects, kinds that this version
    does not know as they came.

    Raises RunError for what is no chunk, or not what its type says.
    """
    if not isinstance(given, list | tuple):
        raise RunError(f"The stream of {where} is no list of chunks.", _HINT)
    for one in given:
        kind = one.get("type") if isinstance(one, dict) else None
        if not isinstance(kind, str):
            raise RunError(f"The stream of {where} holds something that is no chunk.", _HINT)
        if adapter := _kinds().get(kind):
            try:
                adapter.validate_python(one)
            except ValidationError as e:
                raise RunError(
                    f"The stream of {where} holds a chunk '{kind}' that cannot be read.", _HINT
                ) from e
    return list(given)


def _as_tuple(value: object) -> tuple[Chunk, ...]:
    return tuple(parse_chunks(value))


Chunks = Annotated[tuple[Chunk, ...], PlainValidator(_as_tuple)]
"""Chunks in a value that comes from another process."""

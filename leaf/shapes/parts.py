"""What a message keeps: a part for each thing that is seen of it, by the names of the AI SDK's UI
messages.

A kind is one TypedDict. What stands here as required is what every version has written; the rest
may be absent in older answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, Required

from typing_extensions import TypedDict

from leaf.shapes.results import Covered, Output, SourceUsed

# Text


class TextPart(TypedDict):
    type: Literal["text"]
    text: str
    id: NotRequired[str]
    """Questions have none."""
    state: NotRequired[Literal["streaming", "done"]]


class ReasoningPart(TypedDict):
    type: Literal["reasoning"]
    text: str
    id: NotRequired[str]
    state: NotRequired[Literal["streaming", "done"]]


class StepStart(TypedDict):
    """A turn of the model begins."""

    type: Literal["step-start"]


# Tools

ToolState = Literal["input-streaming", "input-available", "output-available", "output-error"]


class ToolPart(TypedDict):
    """A tool call."""

    type: str
    """`tool-<name>`."""
    toolCallId: str
    state: ToolState
    inputText: NotRequired[str]
    """Of an input that is being written: its JSON so far."""
    input: NotRequired[Any]
    """As the model gave it: an object, or whatever else where it could not be run."""
    output: NotRequired[Output]
    errorText: NotRequired[str]


# Sources


class Cited(SourceUsed, total=False):
    """What Leaf knows of a place: of one that is cited also what a look at it has shown."""

    source: str
    """Locator: `f1#page 3`."""
    citation: int
    """Its number: one for each place."""
    verified: bool | None
    """None while nobody has looked."""
    problem: str
    """One clause, where it is false."""
    cited_place: str
    """Where the words were said to stand, if that was elsewhere."""


class LeafMetadata(TypedDict):
    leaf: Cited


class SourcePart(TypedDict, total=False):
    type: Required[Literal["source-document"]]
    sourceId: Required[str]
    mediaType: str
    title: str
    filename: str
    providerMetadata: LeafMetadata
    place: str
    """Of answers of earlier versions."""


class FilePart(TypedDict):
    type: Literal["file"]
    url: str
    mediaType: NotRequired[str]


# What is Leaf's own


class UsageData(TypedDict, total=False):
    """What an answer took."""

    input: int
    """Tokens, as the next three."""
    cached: int
    cache_creation: int
    output: int
    cost: float | None
    """US dollars; null where a price is not known."""
    model: str
    seconds: float
    context: int
    """Tokens that the last turn had in its context at its end, as the server counted them."""
    inline_tokens: int
    inline_cost: float | None


class ResultSeen(TypedDict):
    """How much of a result the model was shown, where that is not all of it."""

    name: str
    """Of the files that it comes from."""
    seen: int
    total: int
    """Rows."""
    cut: int
    """Texts of which the beginning was shown."""
    looked: bool
    """Whether nobody can tell if the answer rests on it."""
    apart: NotRequired[bool]
    """Whether these are not its first rows, or rows of a table and not of a result."""
    more: NotRequired[bool]
    """Whether `total` are not all: nobody knows how many there are."""
    gathered: NotRequired[bool]
    """Whether the texts that were cut may be those of many rows in one cell."""
    drawn: NotRequired[bool]
    """Whether a chart shows so many."""
    texts: NotRequired[bool]
    """Whether it was looked at for its texts, of a table of which another step read all."""


class PrintedSeen(TypedDict):
    """How much of what a cell of Python printed the model was shown, where that is not all of it."""

    seen: int
    total: int
    """Characters."""
    looked: bool
    texts: NotRequired[bool]


class CoverageData(TypedDict, total=False):
    """How much of each file an answer rests on; see `provenance.coverage`."""

    files: Sequence[Covered]
    looked: Sequence[Covered]
    described: Sequence[str]
    untouched: Sequence[str]
    more: int
    opened: Sequence[str]
    results: Sequence[ResultSeen]
    printed: Sequence[PrintedSeen]


class ReceiptKept(TypedDict, total=False):
    """`provenance.receipts.match.Receipt` as JSON, without what is empty, and with the part at which its
    text begins."""

    part: Required[int]
    start: Required[int]
    end: Required[int]
    text: Required[str]
    kind: Required[
        Literal[
            "exact",
            "rounded",
            "derived",
            "counted",
            "printed",
            "quoted",
            "condition",
            "asked",
            "none",
        ]
    ]
    call_id: str
    message_id: str
    result_id: str
    row: int
    column: str
    value: str
    how: str
    place: str
    other_call_id: str
    against: str


ReceiptsData = TypedDict(
    "ReceiptsData",
    {"figures": int, "with": int, "against": NotRequired[int], "receipts": Sequence[ReceiptKept]},
)
"""The figures of an answer, or of a document: how many there are, how many have a receipt, how many
the results contradict."""


class DecisionKept(TypedDict):
    """`agent.budget.Decision` as JSON: what became of one file in one answer."""

    handle: str
    name: str
    tokens: int
    read: int
    choice: str
    why: str


class BudgetData(TypedDict):
    limit: int
    used: int
    files: Sequence[DecisionKept]
    more: NotRequired[int]


class MarkKept(TypedDict):
    message: str
    raw: int


class FoldKept(TypedDict):
    """`agent.folding.Fold` as JSON."""

    made: MarkKept
    asked: str
    receipts: MarkKept
    short: MarkKept
    gone: MarkKept
    cap: int
    instructions: NotRequired[str]


class FoldedData(TypedDict):
    fold: FoldKept
    results: int
    before: int
    after: int
    window: int


class DocumentData(TypedDict, total=False):
    """A document that an answer writes or wrote: where it is, not what stands in it."""

    state: str
    """`writing`, `done`, `failed`, `deleted`."""
    title: str
    kind: str
    text: str
    """While it is written."""
    documentId: str
    version: int
    summary: str


class ConsentData(TypedDict):
    """Something that a person is asked to allow."""

    key: str
    question: str
    state: str
    """`waiting`, `allowed`, `refused` or `unanswered`."""
    detail: NotRequired[str]
    of_user: NotRequired[str]
    """Who alone may answer; empty: anybody in the chat."""
    icon: NotRequired[str]


class TextData(TypedDict):
    """One line: what a run waits for, or how far a tool is."""

    text: str


class FileCame(TypedDict):
    """A file that came with a question."""

    fileId: str
    handle: str
    name: str
    kind: str


class FolderCame(TypedDict):
    """A folder of Drive that came with a question."""

    ref: str
    name: str
    files: int


class InstructionsData(TypedDict):
    """What the model is told of a project's instructions with a question."""

    text: str
    """As the person wrote them; empty where none hold any more."""


class UsagePart(TypedDict):
    type: Literal["data-usage"]
    id: NotRequired[str]
    data: UsageData


class CoveragePart(TypedDict):
    type: Literal["data-coverage"]
    id: NotRequired[str]
    data: CoverageData | Sequence[Covered]
    """A list in answers of earlier versions."""


class ReceiptsPart(TypedDict):
    type: Literal["data-receipts"]
    id: NotRequired[str]
    data: ReceiptsData


class BudgetPart(TypedDict):
    type: Literal["data-budget"]
    id: NotRequired[str]
    data: BudgetData


class FoldedPart(TypedDict):
    type: Literal["data-folded"]
    id: NotRequired[str]
    data: FoldedData


class DocumentPart(TypedDict):
    type: Literal["data-document"]
    id: str
    data: DocumentData


class QuestionsPart(TypedDict):
    type: Literal["data-questions"]
    id: NotRequired[str]
    data: Sequence[str]
    """Questions that can be asked with a press."""


class ConsentPart(TypedDict):
    type: Literal["data-consent"]
    id: str
    data: ConsentData


class StatusPart(TypedDict):
    type: Literal["data-status"]
    id: str
    data: TextData


class ProgressPart(TypedDict):
    type: Literal["data-progress"]
    id: str
    data: TextData


class FilesPart(TypedDict):
    type: Literal["data-files"]
    data: Sequence[FileCame]


class FoldersPart(TypedDict):
    type: Literal["data-drive-folders"]
    data: Sequence[FolderCame]


class InstructionsPart(TypedDict):
    type: Literal["data-instructions"]
    data: InstructionsData


class OtherPart(TypedDict):
    """A kind that this version does not know: kept as it came, with whatever else it has, and not
    drawn."""

    type: str


class UnreadablePart(TypedDict):
    """A part of a known kind that is not what it should be; see `parse_parts`."""

    type: Literal["unreadable"]
    was: Any


UNREADABLE = "A piece of this answer cannot be read by this version of Leaf and is not shown."
"""What stands in its place, on the page and in what is exported."""


DataPart = (
    UsagePart
    | CoveragePart
    | ReceiptsPart
    | BudgetPart
    | FoldedPart
    | DocumentPart
    | QuestionsPart
    | ConsentPart
    | StatusPart
    | ProgressPart
    | FilesPart
    | FoldersPart
    | InstructionsPart
)
Part = (
    TextPart
    | ReasoningPart
    | StepStart
    | ToolPart
    | SourcePart
    | FilePart
    | DataPart
    | UnreadablePart
    | OtherPart
)

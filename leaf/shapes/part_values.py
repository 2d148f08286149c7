"""Which kind a part of a message is, as mypy sees it, and what is in it: a call's output, data,
texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, overload

from typing_extensions import TypeIs

from leaf.shapes.parts import (
    BudgetData,
    ConsentPart,
    CoverageData,
    DocumentData,
    DocumentPart,
    FileCame,
    FoldedData,
    FolderCame,
    InstructionsData,
    Part,
    ProgressPart,
    ReasoningPart,
    ReceiptsData,
    SourcePart,
    TextData,
    TextPart,
    ToolPart,
    UsageData,
)
from leaf.shapes.results import Covered, Data, Output

# Which kind a part is


def is_text(part: Part) -> TypeIs[TextPart]:
    return part["type"] == "text"


def is_reasoning(part: Part) -> TypeIs[ReasoningPart]:
    return part["type"] == "reasoning"


def is_tool(part: Part) -> TypeIs[ToolPart]:
    return part["type"].startswith("tool-")


def is_source(part: Mapping[str, object]) -> TypeIs[SourcePart]:
    return part["type"] == "source-document"


def is_document(part: Part) -> TypeIs[DocumentPart]:
    return part["type"] == "data-document"


def is_consent(part: Part) -> TypeIs[ConsentPart]:
    return part["type"] == "data-consent"


def is_progress(part: Part) -> TypeIs[ProgressPart]:
    return part["type"] == "data-progress"


def tool_name(part: ToolPart) -> str:
    return part["type"].removeprefix("tool-")


def call_in(parts: Iterable[Part], call_id: str) -> ToolPart | None:
    """The tool call with that id."""
    return next((part for part in parts if is_tool(part) and part["toolCallId"] == call_id), None)


def succeeded(part: Part) -> Output | None:
    """What a call gave that came to its end; None for one that did not, and for every other
    part."""
    return part.get("output") if is_tool(part) and part["state"] == "output-available" else None


def output_of(part: Part) -> Output | None:
    """What a tool call gave; None for one that gave nothing, and for every other part."""
    return part.get("output") if is_tool(part) else None


def data_of(part: Part) -> Data:
    """What a tool call gave for the page; empty for every other part."""
    output = output_of(part)
    return (output.get("data") if output else None) or {}


@overload
def data_in(part: Mapping[str, object], name: Literal["usage"]) -> UsageData | None: ...
@overload
def data_in(
    part: Mapping[str, object], name: Literal["coverage"]
) -> CoverageData | Sequence[Covered] | None: ...
@overload
def data_in(part: Mapping[str, object], name: Literal["receipts"]) -> ReceiptsData | None: ...
@overload
def data_in(part: Mapping[str, object], name: Literal["budget"]) -> BudgetData | None: ...
@overload
def data_in(part: Mapping[str, object], name: Literal["folded"]) -> FoldedData | None: ...
@overload
def data_in(part: Mapping[str, object], name: Literal["document"]) -> DocumentData | None: ...
@overload
def data_in(part: Mapping[str, object], name: Literal["questions"]) -> Sequence[str] | None: ...
@overload
def data_in(part: Mapping[str, object], name: Literal["status", "progress"]) -> TextData | None: ...
@overload
def data_in(part: Mapping[str, object], name: Literal["files"]) -> Sequence[FileCame] | None: ...
@overload
def data_in(
    part: Mapping[str, object], name: Literal["drive-folders"]
) -> Sequence[FolderCame] | None: ...
@overload
def data_in(
    part: Mapping[str, object], name: Literal["instructions"]
) -> InstructionsData | None: ...


def data_in(part: Mapping[str, object], name: str) -> Any:
    """The data of a part `data-<name>`; None for every other part."""
    return part["data"] if part["type"] == f"data-{name}" else None


@overload
def newest(parts: Iterable[Part], name: Literal["usage"]) -> UsageData | None: ...
@overload
def newest(
    parts: Iterable[Part], name: Literal["coverage"]
) -> CoverageData | Sequence[Covered] | None: ...
@overload
def newest(parts: Iterable[Part], name: Literal["receipts"]) -> ReceiptsData | None: ...
@overload
def newest(parts: Iterable[Part], name: Literal["budget"]) -> BudgetData | None: ...
@overload
def newest(parts: Iterable[Part], name: Literal["folded"]) -> FoldedData | None: ...
@overload
def newest(parts: Iterable[Part], name: Literal["document"]) -> DocumentData | None: ...
@overload
def newest(parts: Iterable[Part], name: Literal["questions"]) -> Sequence[str] | None: ...
@overload
def newest(parts: Iterable[Part], name: Literal["status", "progress"]) -> TextData | None: ...
@overload
def newest(parts: Iterable[Part], name: Literal["files"]) -> Sequence[FileCame] | None: ...
@overload
def newest(
    parts: Iterable[Part], name: Literal["drive-folders"]
) -> Sequence[FolderCame] | None: ...
@overload
def newest(parts: Iterable[Part], name: Literal["instructions"]) -> InstructionsData | None: ...


def newest(parts: Iterable[Part], name: Any) -> Any:
    """The data of the last part `data-<name>` of a message, or None."""
    last_data = None
    for part in parts:
        data: Any = data_in(part, name)
        last_data = data if data is not None else last_data
    return last_data


def texts_of(parts: Iterable[Part]) -> list[str]:
    """The text of each part that is one."""
    return [part["text"] for part in parts if is_text(part)]

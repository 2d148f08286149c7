"""Parts that come from a history or from another process: checked once, by the type of each kind."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, cast

from pydantic import PlainValidator, TypeAdapter, ValidationError

from leaf.errors import StoreError
from leaf.shapes.parts import (
    BudgetPart,
    ConsentPart,
    CoveragePart,
    DocumentPart,
    FilePart,
    FilesPart,
    FoldedPart,
    FoldersPart,
    InstructionsPart,
    OtherPart,
    Part,
    ProgressPart,
    QuestionsPart,
    ReasoningPart,
    ReceiptsData,
    ReceiptsPart,
    SourcePart,
    StatusPart,
    StepStart,
    TextPart,
    ToolPart,
    UsagePart,
)

_HINT = (
    "A newer version of Leaf may have written it; start that one, or restore a copy of the "
    "data folder."
)
_log = logging.getLogger(__name__)

KINDS: Mapping[str, type] = {
    "text": TextPart,
    "reasoning": ReasoningPart,
    "step-start": StepStart,
    "source-document": SourcePart,
    "file": FilePart,
    "data-usage": UsagePart,
    "data-coverage": CoveragePart,
    "data-receipts": ReceiptsPart,
    "data-budget": BudgetPart,
    "data-folded": FoldedPart,
    "data-document": DocumentPart,
    "data-questions": QuestionsPart,
    "data-consent": ConsentPart,
    "data-status": StatusPart,
    "data-progress": ProgressPart,
    "data-files": FilesPart,
    "data-drive-folders": FoldersPart,
    "data-instructions": InstructionsPart,
}
"""Type -> its shape; a tool's part begins with `tool-`."""


def parse_parts(given: object, where: str = "a message") -> list[Part]:
    """What stands in a history, checked: keys and kinds that this version does not know stay as
    they came.

    A part of a known kind that is not what it should be becomes an `UnreadablePart`, so that the
    rest can be seen and that this cannot is said. Raises StoreError where these are no parts at
    all; `where` is for people.
    """
    if not isinstance(given, list):
        raise StoreError(
            f"What is kept of {where} is no list of parts.",
            _HINT,
        )
    return [_parsed(part) for part in given]


def parse_receipts(given: object, where: str) -> ReceiptsData:
    """The receipts of a document's version. Raises StoreError for what is none."""
    try:
        _adapter(ReceiptsData).validate_python(given)
    except ValidationError as e:
        raise StoreError(f"What is kept of the figures of {where} cannot be read.", _HINT) from e
    return cast("ReceiptsData", given)


def _parsed(part: Any) -> Part:
    try:
        _adapter(_shape_of(part)).validate_python(part)
    except ValidationError as e:
        place = ".".join(
            str(step) for step in e.errors(include_url=False, include_input=False)[0]["loc"]
        )
        _log.warning(
            "a part of a history is not what it should be: type=%r at %s", _type_of(part), place
        )
        return {"type": "unreadable", "was": part}
    return cast("Part", part)


def _type_of(part: object) -> str | None:
    kind = part.get("type") if isinstance(part, Mapping) else None
    return kind if isinstance(kind, str) else None


def _shape_of(part: object) -> Any:
    kind = _type_of(part) or ""
    return ToolPart if kind.startswith("tool-") else KINDS.get(kind, OtherPart)


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


Parts = Annotated[list[Part], PlainValidator(parse_parts)]
"""Parts in a value that comes from another process."""

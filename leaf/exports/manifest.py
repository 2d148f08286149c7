"""manifest.json of a bundle: what was asked, which calls were made, what they gave, and what the
figures rest on.

A bundle may come from anybody, so it is taken in strictly: known fields only, names that are plain,
sizes that are bounded.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leaf.errors import UnreadableFileError
from leaf.provenance.receipts.evidence import Kind

Json = dict[str, Any]

VERSION: Final = 3
"""Raised when a reader of the version before could not make sense of it."""
ROWS = 200
"""Rows of each result that a bundle holds."""
CELLS = 200_000
"""Cells of each result that a bundle holds: of a very wide one, fewer rows."""
TEXT = 20_000
"""Characters of what a cell printed that a bundle holds."""
LONGEST = 100_000
"""Characters of one text."""
DIGITS = 40
"""Of a number."""
FILES = 100_000
"""Of a chat; a folder that is added in one go may have 20,000."""

Handle = Field(pattern=r"^f\d{1,5}$")
Slug = Field(pattern=r"^\p{L}[\p{L}\p{M}\p{N}_]{0,100}$")
Sha256 = Field(pattern=r"^[0-9a-f]{64}$")
ResultId = Field(default="", pattern=r"^(r\d{1,7})?$")
CallId = Field(pattern=r"^[\w.:-]{1,120}$")
AnswerId = Field(pattern=r"^a\d{1,5}$")


class ManifestModel(BaseModel):
    """What all parts of a manifest are: closed and unchanging."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class KeptTable(ManifestModel):
    """A table of a file under its SQL name."""

    name: str = Field(max_length=200)
    sheet: str = Field(default="", max_length=300)
    place: str = Field(default="", max_length=300)
    rows: int = Field(ge=0, lt=10**12)
    columns: list[str] = Field(default_factory=list, max_length=20_000)


class KeptFile(ManifestModel):
    """A file of the chat. Its bytes are not in the bundle."""

    handle: str = Handle
    slug: str = Slug
    name: str = Field(min_length=1, max_length=400)
    kind: str = Field(default="", max_length=40)
    size: int = Field(ge=0, lt=10**13)
    sha256: str = Sha256
    deleted: bool = False
    """Whether it was deleted from the library before the bundle was made."""
    tables: list[KeptTable] = Field(default_factory=list, max_length=5_000)


class KeptResult(ManifestModel):
    """The head of a result."""

    result_id: str = ResultId
    name: str = Field(default="", max_length=300)
    columns: list[str] = Field(max_length=20_000)
    rows: list[list[Any]] = Field(max_length=ROWS)
    total: int = Field(ge=0, lt=10**12)


class KeptCall(ManifestModel):
    """A call of a tool that succeeded."""

    id: str = CallId
    tool: str = Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")
    input: Json
    file: str = Field(default="", pattern=r"^((queries|cells)/\d{2,5}\.(sql|py))?$")
    """Where in the bundle its SQL or Python stands too."""
    results: list[KeptResult] = Field(default_factory=list, max_length=100)
    printed: str = Field(default="", max_length=TEXT)
    value: str = Field(default="", max_length=TEXT)

    @property
    def sql(self) -> str:
        return str(self.input.get("sql") or "")

    @property
    def code(self) -> str:
        return str(self.input.get("code") or "")


class KeptReceipt(ManifestModel):
    """What a figure rests on: `provenance.receipts.match.Receipt`, but for names that mean something
    outside of a chat."""

    text: int = Field(ge=0, lt=100_000)
    """Which of the answer's texts, from 0."""
    start: int = Field(ge=0, lt=10**8)
    end: int = Field(ge=0, lt=10**8)
    figure: str = Field(max_length=300)
    kind: Kind
    call: str = Field(default="", max_length=120)
    answer: str = Field(default="", pattern=r"^(a\d{1,5})?$")
    """The earlier answer whose call it is; empty for its own."""
    result_id: str = ResultId
    row: int = Field(default=-1, ge=-1, lt=10**9)
    column: str = Field(default="", max_length=1_000)
    value: str = Field(default="", max_length=400)
    how: str = Field(default="", max_length=2_000)
    place: str = Field(default="", max_length=2_000)
    against: str = Field(default="", max_length=400)
    """What the results say where the text says the opposite."""


class AnswerPiece(ManifestModel):
    """A piece of an answer: words, or a call by its id."""

    text: str = Field(default="", max_length=LONGEST * 10)
    call: str = Field(default="", max_length=120)


class KeptAnswer(ManifestModel):
    """A question with its answer."""

    id: str = AnswerId
    question: str = Field(max_length=LONGEST * 10)
    status: str = Field("completed", max_length=20)
    model: str = Field(default="", max_length=200)
    calls: list[KeptCall] = Field(default_factory=list, max_length=2_000)
    """In the order in which they ran."""
    said: list[AnswerPiece] = Field(default_factory=list, max_length=10_000)
    """In the order of the page."""
    receipts: list[KeptReceipt] = Field(default_factory=list, max_length=50_000)
    cited: list[str] = Field(default_factory=list, max_length=10_000)
    """The citations of the answer, each with its number, as its footnotes have them."""
    rests: list[str] = Field(default_factory=list, max_length=2 * FILES)
    """What the answer rests on in words: how much was read, what is doubtful, the sources."""


class Manifest(ManifestModel):
    """A whole bundle."""

    format: Literal["leaf-chat"]
    version: Literal[1, 2, 3]
    """1: without what answers cite. 2: without what they rest on."""
    leaf: str = Field(default="", max_length=40)
    title: str = Field(default="", max_length=1_000)
    exported: str = Field(default="", max_length=60)
    packages: list[str] = Field(default_factory=list, max_length=500)
    """Python packages that were installed for the chat: `name version`."""
    files: list[KeptFile] = Field(default_factory=list, max_length=FILES)
    answers: list[KeptAnswer] = Field(default_factory=list, max_length=10_000)

    def calls(self) -> list[KeptCall]:
        """Of all answers, in the order in which they ran."""
        return [call for answer in self.answers for call in answer.calls]


def to_json(manifest: Manifest) -> str:
    """As it stands in a bundle."""
    return json.dumps(
        manifest.model_dump(exclude_defaults=False), ensure_ascii=False, indent=1, allow_nan=False
    )


def plain_json(text: str) -> Any:
    """JSON in which every number is one that can be computed with. Raises ValueError,
    RecursionError."""
    return json.loads(text, parse_float=_number, parse_int=_whole, parse_constant=_refuse)


def parse(value: Any) -> Manifest:
    """Raises UnreadableFileError that names the first thing that is wrong."""
    if (
        isinstance(value, dict)
        and value.get("format") == "leaf-chat"
        and isinstance(value.get("version"), int)
    ):
        if value["version"] > VERSION:
            raise UnreadableFileError(
                "This bundle was made by a newer Leaf.", "Use that version, or a newer one."
            )
    else:
        raise UnreadableFileError(
            "This is not a bundle of a Leaf chat: its manifest.json says something else."
        )
    try:
        manifest = Manifest.model_validate(value)
    except ValidationError as e:
        first = e.errors()[0]
        where = ".".join(str(part) for part in first["loc"])[:120]
        raise UnreadableFileError(
            f"manifest.json of the bundle is wrong at '{where}': {str(first['msg']).lower()[:200]}."
        ) from e
    _check_names(manifest)
    return manifest


def _check_names(manifest: Manifest) -> None:
    """Whatever is named once must be there once. Raises UnreadableFileError."""
    for what, names in (
        ("handle", [file.handle for file in manifest.files]),
        ("table name", [file.slug for file in manifest.files]),
        ("answer", [answer.id for answer in manifest.answers]),
    ):
        twice = (
            next((name for name in names if names.count(name) > 1), "")
            if len(set(names)) < len(names)
            else ""
        )
        if twice:
            raise UnreadableFileError(
                f"manifest.json of the bundle has the {what} '{twice}' twice."
            )
    for answer in manifest.answers:
        ids = {call.id for call in answer.calls}
        if len(ids) < len(answer.calls) or any(
            piece.call and piece.call not in ids for piece in answer.said
        ):
            raise UnreadableFileError(
                f"manifest.json of the bundle names a call of {answer.id} that is not "
                f"there, or twice."
            )
        for call in answer.calls:
            for result in call.results:
                if (
                    any(len(row) != len(result.columns) for row in result.rows)
                    or len(result.rows) > result.total
                ):
                    raise UnreadableFileError(
                        f"manifest.json of the bundle has a crooked result in call '{call.id}'."
                    )


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:20]}… is too large")
    return number


def _whole(text: str) -> int:
    if len(text) > DIGITS:
        raise ValueError(f"the number {text[:20]}… has {len(text):,} digits")
    return int(text)


def _refuse(text: str) -> None:
    raise ValueError(f"{text} is no number in JSON")

"""What a tool call gave, as history, stream and page have it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Required, cast

from pydantic import BaseModel, ConfigDict, PlainValidator, TypeAdapter
from typing_extensions import TypedDict

Rows = Sequence[Sequence[Any]]
"""Cells as JSON: numbers, texts, booleans, null."""


class SourceUsed(TypedDict, total=False):
    """`tools.base.Source` as JSON: a place that an answer rests on."""

    handle: str
    file_id: Required[str]
    name: Required[str]
    place: str
    action: str
    query: str
    quote: str


class Doubt(TypedDict):
    """Rows that are counted as data and may be none."""

    kind: str
    count: int
    cells: str
    text: str


class NoteOnTable(TypedDict):
    """How a table was read, as far as it changes the figures that were asked for."""

    kind: str
    text: str
    cells: str


class Covered(TypedDict):
    """`tools.base.Coverage` as JSON: how much of a file, or of a table, was seen. Answers of
    earlier versions have less."""

    file_id: str
    name: str
    unit: str
    seen: int
    total: int
    ranges: Sequence[Sequence[int]]
    excluded: NotRequired[str]
    table: NotRequired[str]
    doubtful: NotRequired[Sequence[Doubt]]
    notes: NotRequired[Sequence[NoteOnTable]]


class PassageSent(TypedDict):
    """`tools.base.Passage` as JSON: what can be cited."""

    source: str
    title: str
    texts: Sequence[str]


class PictureSent(TypedDict):
    """`tools.base.Picture` as JSON: a blob of the workspace, scaled to what a model can use."""

    sha256: str
    media_type: str
    width: int
    height: int
    label: str


# What `data` may hold


class TableRead(TypedDict):
    """Where a result's rows come from: table, file as it was then, place in it, and how many rows
    were read of how many."""

    name: str
    rows: int
    file: NotRequired[str]
    file_id: NotRequired[str]
    sha256: NotRequired[str]
    sheet: NotRequired[str]
    place: NotRequired[str]
    total: NotRequired[int]


class TableShown(TypedDict, total=False):
    """The first rows of a result, which is kept whole under its id."""

    columns: Required[Sequence[str]]
    rows: Required[Rows]
    types: Sequence[str]
    total: int
    result_id: str
    seconds: float
    sql: str
    clipped: int
    scanned: Sequence[TableRead]
    left_out: Sequence[str]
    places: Sequence[str]
    said: Sequence[str]
    shown: int
    """How many of its rows the model was shown; earlier versions do not keep it."""
    cut: int
    """Texts in these rows of which it was shown the beginning."""
    offset: int
    of: int
    """Rows that a limit left out before the first, and all that there were without it; missing where
    none did."""
    ranked: bool
    """Whether these are the first of them by what they hold."""
    name: str
    """Of a cell that gave several: the variable."""


class ChartShown(TypedDict, total=False):
    """A checked Vega-Lite spec without data, and the rows that it draws."""

    spec: Required[dict[str, Any]]
    columns: Required[Sequence[str]]
    rows: Required[Rows]
    types: Sequence[str]
    result_id: str
    total: int


class PassageShown(TypedDict, total=False):
    """Words of a file."""

    handle: str
    file_id: str
    name: Required[str]
    place: Required[str]
    text: Required[str]
    more: int
    """Other passages of the file that match."""


class ColumnShown(TypedDict, total=False):
    """What a profile says of a column."""

    name: Required[str]
    type: str
    nulls: int
    distinct: int
    min: Any
    max: Any
    mean: float | None
    std: float | None
    quartiles: Sequence[Any]
    top: Sequence[Sequence[Any]]


class ProfileShown(TypedDict, total=False):
    """A table's columns, and rows of it as a sample."""

    name: str
    file: str
    handle: str
    file_id: str
    place: str
    rows: int
    columns: Required[Sequence[ColumnShown]]
    sample: Rows
    doubtful: Sequence[int]
    """Rows of the file that are data and may be totals; none where they are too many to name."""


class Finding(TypedDict, total=False):
    """`readers.base.Note` as JSON."""

    kind: str
    count: int
    place: str
    text: Required[str]
    cells: str


class UnreadTable(TypedDict):
    """A table of the same files that a call did not read."""

    file_id: str
    name: str
    table: str


class FileListed(TypedDict):
    """A file of the chat."""

    handle: str
    file_id: str
    name: str
    kind: str
    tables: Sequence[str]


class PictureShown(TypedDict):
    """A picture that the model saw."""

    file_id: str
    sha256: str
    page: int
    label: str
    width: int
    height: int
    tokens: int


class Printed(TypedDict, total=False):
    """What a cell of Python said."""

    cell: int
    printed: str
    characters: int
    unseen: int
    """Of these, how many the model was not shown."""
    value: str
    notes: Sequence[str]
    rebuilt: int
    lost: Sequence[str]
    seconds: float


class FigureDrawn(TypedDict):
    """A figure of Python's, as a blob of the workspace."""

    sha256: str
    width: int
    height: int
    label: str


class FileWritten(TypedDict):
    """A file that Python wrote, kept unopened."""

    sha256: str
    name: str
    size: int


class DriveItemShown(TypedDict):
    """Something in Google Drive."""

    ref: str
    name: str
    kind: str
    link: str
    modified: str
    file_id: str


class Brought(TypedDict):
    """Where a file that was fetched stands in Drive."""

    id: str
    link: str
    downloaded: bool


class Arrived(TypedDict):
    """A file that a call brought into the chat."""

    handle: str
    name: str
    tokens: int


class ChangedSince(TypedDict):
    """A file that changed in Drive after it was fetched."""

    file_id: str
    id: str
    what: str


class ReadingNotes(TypedDict, total=False):
    """What a call told of how tables were read."""

    told: Sequence[str]
    """Keys; see `tools.remarks`."""
    said_of: Sequence[Sequence[str]]
    """Of each its table, its text and its example."""
    remarks: Sequence[str]


class Data(ReadingNotes, total=False):
    """Whatever tools give for the page and for what looks at results, by its name. A tool declares
    which of these it gives (`tools.base.Tool.result`); who reads them asks for one by its name and
    need not know the tool."""

    table: TableShown
    tables: Sequence[TableShown]
    chart: ChartShown
    passages: Sequence[PassageShown]
    profile: ProfileShown
    others: Sequence[str]
    """SQL names of the file's other tables."""
    findings: Sequence[Finding]
    beside: Sequence[UnreadTable]
    files: Sequence[FileListed]
    pictures: Sequence[PictureShown]
    python: Printed
    figures: Sequence[FigureDrawn]
    written: Sequence[FileWritten]
    packages: dict[str, str]
    drive_items: Sequence[DriveItemShown]
    drive: Brought | Literal["not-connected"]
    """Where a fetched file stands; `not-connected` with `why` and `hint`."""
    why: str
    hint: str
    arrived: Arrived
    changed_since: Sequence[ChangedSince]
    document: str
    coverage: str
    cursor: str
    notes: Sequence[str]


def tables_of(data: Data) -> list[TableShown]:
    """The tables that a call gave: of a query one, of a cell any number."""
    table = data.get("table")
    return [*([table] if table else []), *(data.get("tables") or ())]


class Shown(TypedDict):
    """A part `data-<name>` that the answer keeps."""

    name: str
    id: str
    data: Any


class Output(TypedDict, total=False):
    """`tools.base.ToolOutput` as JSON, with the seconds that the call took."""

    text: str
    summary: str
    sources: Sequence[SourceUsed]
    coverage: Sequence[Covered]
    data: Data
    passages: Sequence[PassageSent]
    head: str
    pictures: Sequence[PictureSent]
    shows: Sequence[Shown]
    seconds: float


def parse_output(given: object) -> Output:
    """The very same object, checked; further keys stay as they came. Raises pydantic's
    ValidationError."""
    _output().validate_python(given)
    return cast("Output", given)


KeptOutput = Annotated[Output, PlainValidator(parse_output)]
"""An output in a value that comes from a run database."""


@cache
def _output() -> TypeAdapter[Output]:
    return TypeAdapter(Output)


class ToolResult(BaseModel):
    """What the results of all tools are: a tool's own class names those of `Data` that it gives.
    Nothing else gets into them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    changed_since: Sequence[ChangedSince] = ()

    def to_json(self) -> Data:
        """Only what was given, in the order of the fields."""
        names = [
            *(name for name in type(self).model_fields if name != "changed_since"),
            "changed_since",
        ]
        return cast(
            "Data", {name: getattr(self, name) for name in names if name in self.model_fields_set}
        )


class ToldResult(ToolResult):
    """Of a tool that reads tables: what it told the model of how they were read; see
    `tools.remarks`."""

    told: Sequence[str] = ()
    said_of: Sequence[Sequence[str]] = ()
    remarks: Sequence[str] = ()


class AnyResult(ToolResult):
    """The result of a tool that runs in another process."""

    model_config = ConfigDict(extra="allow")

    def to_json(self) -> Data:
        return cast("Data", {**(self.model_extra or {}), **super().to_json()})


NOTHING = ToolResult()


def parse_result(given: object) -> ToolResult:
    """A result as it was made here, or its JSON from another process, checked. Raises pydantic's
    ValidationError."""
    if isinstance(given, ToolResult):
        return given
    TypeAdapter(Data).validate_python(given)
    return AnyResult.model_validate(given)


CarriedResult = Annotated[ToolResult, PlainValidator(parse_result)]
"""A result in a value that may come from another process."""

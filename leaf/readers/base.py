"""The small interface that every reader of a format meets, and the values that cross from the
confined child to the app.

Readers run inside the sandbox: they import nothing of Leaf but this package, `settings` and
`errors`, touch no path but the one they are given and the folder they are told to write to, and may
die without harm. All values turn into plain JSON by `dataclasses.asdict`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class Passage:
    """A unit of text and its place: one page, line, paragraph, slide, row or cue."""

    text: str
    unit: str
    """`page`, `line`, `paragraph`, `slide`, `row` or `cue`."""
    number: int
    """1-based place in its unit (for a sheet: the row as the spreadsheet numbers it)."""
    sheet: str = ""
    """Sheet name; empty outside spreadsheets."""
    start: float | None = None
    """Seconds from the beginning, for cues."""
    end: float | None = None


@dataclass(frozen=True)
class Note:
    """Something a person must know about how a file was read: counted and said, never swallowed."""

    kind: str
    """Short slug: `encoding-guessed`, `rows-ragged`, `rows-skipped`, `cells-unparsed`, `preamble`,
    `header-two-rows`, `hidden-sheet`, `no-text-layer`, `no-cached-values`, `error-cells`,
    `several-blocks`, `footer`, `repaired-quotes`, `subtotal-rows`, `total-rows`, `totals-differ`,
    `totals-doubtful`, `titles-doubtful`, `notes-doubtful`, `hidden-rows`, `duplicate-rows`,
    `sum-columns` …"""
    text: str
    """One sentence for a person, with its count: `3 of 1,204 rows had fewer cells than the header;
    filled with nulls.`"""
    count: int = 0
    place: str = ""
    """Where, as a locator: `rows 17, 40, 81`, `sheet Summary!B7`."""
    cells: str = ""
    """The same as cells of the sheet: `A1:F3, B7`; empty where a file has none."""
    short: str = ""
    """The same in few words, for a model that is told it with a query: `3 repeated rows.`; empty
    where `text` is short."""


@dataclass(frozen=True)
class Outline:
    """What can be said of a file without reading it all: for the library row and the one line that
    the model sees."""

    kind: str
    """One of the keys of `KINDS`."""
    media_type: str
    pages: int | None = None
    """PDF pages or slides."""
    sheets: tuple[str, ...] = ()
    """Sheet names, hidden ones included (a note names those)."""
    rows: int | None = None
    """Data rows of the (largest) table, header not counted; lines of a text are in `lines`."""
    columns: int | None = None
    lines: int | None = None
    tables: int | None = None
    """Tables inside a document, which can be queried; None for kinds that are tables themselves or
    hold none."""
    members: int | None = None
    """Files that an archive or a mail holds, as it names them."""
    duration: float | None = None
    """Seconds."""
    sound: str = ""
    """Codec of the sound track, for audio and video: `aac`; empty where there is none."""
    width: int | None = None
    """Pixels of a picture, turned as its camera was held."""
    height: int | None = None
    tokens: int = 0
    """Estimated tokens of the whole, as read_file gives it, and what pictures take that are
    seen."""
    weight: tuple[float, float] = (0.0, 0.0)
    """`tokens.Weight` of the text: what `tokens` is made of before a model's own rates are known.
    None for what is only seen."""
    title: str = ""
    notes: tuple[Note, ...] = ()
    version: int = 0
    """`VERSION` of the readers that looked at the file; 0 of those before it was kept."""


@dataclass(frozen=True)
class Inspected:
    """What a file is, as the child says that looked at it."""

    kind: str
    media_type: str
    outline: Outline


@dataclass(frozen=True)
class Extracted:
    """What was written for the search index."""

    count: int
    """Passages."""
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Where:
    """A part of a file, parsed from words such as `pages 3-5`, `rows 100-200`, `sheet
    Summary!A1:F40`, `00:10:00-00:20:00`."""

    unit: str = ""
    """`page`, `line`, `paragraph`, `slide`, `row`, `cue` or `cell`; empty means from the
    beginning."""
    first: float = 1
    last: float | None = None
    """Inclusive; None means to the end. Seconds for cues, else whole numbers."""
    sheet: str = ""
    columns: tuple[int, int] | None = None
    """1-based first and last column of a cell range."""


@dataclass(frozen=True)
class Section:
    """A part of a window that an answer can cite: a page, a slide, a section, a range of rows or a
    stretch of time."""

    place: str
    """Locator."""
    texts: tuple[str, ...]
    """What it says, in pieces of a paragraph or a few rows; without locators but the numbers of
    rows and the times of cues."""


@dataclass(frozen=True)
class SheetRead:
    """What a window holds of one sheet."""

    sheet: str
    read: tuple[tuple[int, int], ...]
    total: int
    """Its rows."""


@dataclass(frozen=True)
class Window:
    """One piece of a file as the model gets it."""

    text: str
    """Passages with their locators; ready for the model."""
    places: tuple[str, ...]
    """Locators of what is in `text`, merged: `("pages 3-5",)`."""
    coverage: str
    """`pages 3-5 of 340`, `lines 1-200 of 12,031`; made by the code that read it."""
    cursor: str = ""
    """Where the next window begins; empty at the end."""
    notes: tuple[Note, ...] = ()
    unit: str = ""
    """Unit of `ranges` and `total`: `page`, `line`, `row` … as in `Passage`."""
    ranges: tuple[tuple[int, int], ...] = ()
    """What is in `text`, 1-based and inclusive."""
    read: tuple[tuple[int, int], ...] = ()
    """The same without pages that gave no text, so that several windows add up without counting
    twice."""
    total: int | None = None
    """How many units the file (or the sheet) has; None when unknown without reading it all."""
    sections: tuple[Section, ...] = ()
    """The same text in pieces that can be cited."""
    sheets: tuple[SheetRead, ...] = ()
    """Of a spreadsheet, what was read of each sheet; `read` and `total` are those of one."""


@dataclass(frozen=True)
class TableInfo:
    """One table found in a file and written as Parquet."""

    parquet: str
    """File name inside the output folder: `0.parquet`."""
    sheet: str
    """Sheet name; empty for single-table formats."""
    place: str
    """Cell range or lines it was found at, header included: `A4:F1204`, `lines 3-1204`."""
    rows: int
    """Rows of data: totals, subtotals and notes among them are in `left_out`."""
    columns: tuple[tuple[str, str], ...]
    """(name, DuckDB type) in order, without `_row` and `_kind`."""
    hidden: bool = False
    notes: tuple[Note, ...] = ()
    first_row: int = 1
    """Row of the file that the Parquet's first row stands in, where the rows follow one another
    without a gap."""
    marked: bool = False
    """Whether the Parquet holds `_row` and `_kind` itself: rows are missing in between, or some are
    no data."""
    left_out: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Kind (`subtotal`, `total`, `note`, `heading`) -> rows of the file that are of that kind, at
    most 1,000 named for each."""
    left_out_counts: tuple[tuple[str, int], ...] = ()
    """Kind -> how many rows are of that kind."""
    doubtful: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Kind (`total`, `subtotal`, `summary`, `title`, `note`) -> rows of the file that may be of
    that kind but are not proven to be: they are kept as data. At most 1,000 named for each."""
    doubtful_counts: tuple[tuple[str, int], ...] = ()
    """Kind -> how many rows are kept although they may be of that kind."""


ROW, KIND = "_row", "_kind"
"""Columns that a table may be asked for by name: a row's number in its file, and whether it is
data, subtotal, total, note or heading."""


class Reader(Protocol):
    """One format. Stateless; everything is opened and closed within the call."""

    def outline(self, path: Path) -> Outline:
        """Counts and notes, as cheaply as the format allows. Raises FileError."""

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        """Passages in order, beginning at `where.first`, lazily: a late page of a long file costs
        that page. Raises FileError."""


class TableReader(Reader, Protocol):
    """A format that holds tables."""

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Write every table as Parquet (zstd) into `out`, and say what was found, skipped and
        repaired. Raises FileError."""


@dataclass(frozen=True)
class Kind:
    """A family of files that one reader serves."""

    label: str
    """For people: `Spreadsheet`."""
    reader: str
    """`module:Class`, imported only when needed: `leaf.readers.documents.pdf:PdfReader`."""
    tabular: bool = False
    icon: str = ":material/description:"
    endings: tuple[str, ...] = field(default=())
    """Usual name endings, without the dot; a hint only, the content decides."""


VERSION = 19
"""Raised when readers change so that tables that were read before should be read again."""
CONTAINERS = frozenset({"archive", "email", "mailbox", "msg", "pdf"})
"""Kinds that may hold files which become files of their own: see `holds_files`."""


def holds_tables(kind: str, outline: Mapping[str, Any]) -> bool:
    """Whether a file of this kind and outline can be queried."""
    return kind in KINDS and (KINDS[kind].tabular or bool(outline.get("tables")))


def holds_files(kind: str, outline: Mapping[str, Any]) -> bool:
    """Whether files come out of a file of this kind and outline (`archives.unpack`)."""
    return kind in CONTAINERS and bool(outline.get("members"))


WITH_TABLES = frozenset(
    {"pdf", "docx", "pptx", "odt", "odp", "rtf", "epub", "html", "email", "msg", "text"}
)
"""Kinds of documents whose tables become tables."""


def may_hold_tables(kind: str, outline: Mapping[str, Any]) -> bool:
    """Whether a file can be queried, or is a document that was looked at by readers that did not
    yet find what these find."""
    old = int(outline.get("version") or 0) < VERSION
    return holds_tables(kind, outline) or (kind in WITH_TABLES and old and not outline.get("error"))


NO_TEXT = "(no text layer on this page)"
"""What a page gives that is a picture only."""
FEW_WORDS = "(a picture fills this page; of its text only these words can be read)"
"""What stands before the text of a page that is scanned and was stamped or numbered since."""
SEEN = frozenset({"no-text-layer", "few-words"})
"""Kinds of notes on pages that can be looked at and not read."""
DAMAGED = "(this page is damaged and cannot be read)"
TEXTLESS = frozenset({NO_TEXT, DAMAGED})
"""What stands for a page of which nothing was read."""
PAGES_LOOKED_AT = 1_000
"""Pages of a PDF whose text is looked at when the file is added; some two seconds."""
GARBLED = "(the text of this page can't be trusted: its fonts do not say which letters they draw)"
"""What stands above the text of such a page."""

KINDS: dict[str, Kind] = {
    "csv": Kind(
        "Table (CSV)",
        "leaf.readers.tabular.delimited:DelimitedReader",
        True,
        ":material/table:",
        ("csv", "tsv", "tab", "psv"),
    ),
    "excel": Kind(
        "Spreadsheet",
        "leaf.readers.tabular.sheets:SheetsReader",
        True,
        ":material/grid_on:",
        ("xlsx", "xlsm", "xls", "xlsb", "ods"),
    ),
    "parquet": Kind(
        "Table (Parquet)",
        "leaf.readers.tabular.parquet:ParquetReader",
        True,
        ":material/table:",
        ("parquet", "pq"),
    ),
    "json": Kind(
        "JSON",
        "leaf.readers.tabular.json:JsonReader",
        True,
        ":material/data_object:",
        ("json", "jsonl", "ndjson", "geojson"),
    ),
    "arrow": Kind(
        "Table (Arrow)",
        "leaf.readers.tabular.arrow:ArrowReader",
        True,
        ":material/table:",
        ("arrow", "feather", "ipc", "arrows", "orc"),
    ),
    "stats": Kind(
        "Table (SPSS, Stata, SAS)",
        "leaf.readers.tabular.stats:StatsReader",
        True,
        ":material/table:",
        ("sav", "zsav", "por", "dta", "sas7bdat", "xpt"),
    ),
    "database": Kind(
        "Database",
        "leaf.readers.tabular.databases:DatabaseReader",
        True,
        ":material/database:",
        ("sqlite", "sqlite3", "db", "db3", "gpkg", "duckdb", "ddb"),
    ),
    "pdf": Kind(
        "PDF", "leaf.readers.documents.pdf:PdfReader", False, ":material/picture_as_pdf:", ("pdf",)
    ),
    "docx": Kind(
        "Word document",
        "leaf.readers.documents.docx:DocxReader",
        False,
        ":material/article:",
        ("docx", "docm"),
    ),
    "pptx": Kind(
        "Presentation",
        "leaf.readers.documents.pptx:PptxReader",
        False,
        ":material/slideshow:",
        ("pptx", "pptm"),
    ),
    "odt": Kind(
        "Text document",
        "leaf.readers.documents.opendocument:OdtReader",
        False,
        ":material/article:",
        ("odt", "ott"),
    ),
    "odp": Kind(
        "Presentation (OpenDocument)",
        "leaf.readers.documents.opendocument:OdpReader",
        False,
        ":material/slideshow:",
        ("odp",),
    ),
    "rtf": Kind(
        "Rich Text document",
        "leaf.readers.documents.rtf:RtfReader",
        False,
        ":material/article:",
        ("rtf",),
    ),
    "epub": Kind(
        "E-book", "leaf.readers.documents.epub:EpubReader", False, ":material/menu_book:", ("epub",)
    ),
    "html": Kind(
        "Web page",
        "leaf.readers.documents.html:HtmlReader",
        False,
        ":material/language:",
        ("html", "htm", "xhtml", "mht", "mhtml"),
    ),
    "email": Kind(
        "E-mail",
        "leaf.readers.documents.email:EmailReader",
        False,
        ":material/mail:",
        ("eml", "emlx"),
    ),
    "msg": Kind(
        "Outlook message",
        "leaf.readers.documents.msg:MsgReader",
        False,
        ":material/mail:",
        ("msg",),
    ),
    "mailbox": Kind(
        "Mailbox",
        "leaf.readers.documents.mailbox:MailboxReader",
        True,
        ":material/all_inbox:",
        ("mbox", "mbx"),
    ),
    "archive": Kind(
        "Archive",
        "leaf.readers.archives:ArchiveReader",
        False,
        ":material/folder_zip:",
        ("zip", "tar", "tgz", "tbz2", "txz"),
    ),
    "captions": Kind(
        "Transcript",
        "leaf.readers.documents.captions:CaptionsReader",
        False,
        ":material/closed_caption:",
        ("vtt", "srt"),
    ),
    "audio": Kind(
        "Audio",
        "leaf.readers.media.audio:SoundReader",
        False,
        ":material/graphic_eq:",
        (
            "mp3",
            "m4a",
            "aac",
            "wav",
            "flac",
            "ogg",
            "oga",
            "opus",
            "weba",
            "aiff",
            "wma",
            "amr",
            "caf",
        ),
    ),
    "video": Kind(
        "Video",
        "leaf.readers.media.audio:SoundReader",
        False,
        ":material/movie:",
        ("mp4", "m4v", "mov", "webm", "mkv", "avi", "mpg", "ts", "ogv", "wmv", "flv"),
    ),
    "picture": Kind(
        "Picture",
        "leaf.readers.media.picture:PictureReader",
        False,
        ":material/image:",
        ("png", "jpg", "jpeg", "webp", "gif", "heic", "heif", "tif", "tiff", "avif"),
    ),
    "text": Kind(
        "Text",
        "leaf.readers.documents.text:TextReader",
        False,
        ":material/description:",
        ("txt", "md", "log", "rst"),
    ),
    "code": Kind(
        "Code",
        "leaf.readers.documents.text:CodeReader",
        False,
        ":material/code:",
        ("py", "sql", "js", "ts", "r", "java", "c", "go", "sh"),
    ),
}
"""Kind -> its reader. The place to add a format."""


def ending(name: str) -> str:
    """The name's ending in lower case, without the dot; of a path, that of its last part."""
    last = name.rpartition("/")[2]
    return last.rpartition(".")[2].lower() if "." in last else ""

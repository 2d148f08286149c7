"""A look into a file, for a person: rows, a page beside its text, a picture, text, or sound beside
its transcript."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from leaf.errors import InvalidInputError, LeafError
from leaf.files.transcripts import KINDS as SOUND
from leaf.files.transcripts import Transcript
from leaf.readers.base import KINDS, Window
from leaf.readers.locate.locate import Sought
from leaf.readers.locate.where import around
from leaf.sessions.house import House
from leaf.store.model import ChatFile, File, Scope
from leaf.tables.paging import ResultPage, RowsWanted
from leaf.tables.table import Table
from leaf.transcription.base import Cue

TOKENS = 4_000
"""Text of one look."""


@dataclass(frozen=True)
class Preview:
    """A look into a file."""

    file: File
    kind: Literal["table", "page", "picture", "text", "sound"]
    """`page` is a picture beside its text; `sound` is played beside its transcript."""
    window: Window | None = None
    """For `text` and `page`."""
    picture: bytes = b""
    """The page drawn, for `page`, or the picture itself."""
    tables: tuple[Table, ...] = ()
    """For `table`: what can be chosen."""
    rows: ResultPage | None = None
    """For `table`: rows of the chosen one."""
    pages: int = 0
    page: int = 0
    cues: tuple[Cue, ...] = ()
    """For `sound`: what is known so far of what is said."""
    transcript: Transcript | None = None
    """For `sound`."""
    sought: Sought | None = None
    """With a quote: where it stands, or why it was not found."""
    marks: int = 0
    """For `page`: how often the quote is marked in the picture, once a line."""


FIFTY = RowsWanted(limit=50)


@dataclass(frozen=True)
class PreviewTarget:
    """Where somebody looks."""

    where: str = ""
    table: int = 0
    """Which of the file's tables, from 0."""
    rows: RowsWanted = FIFTY
    """Which of its rows."""
    cursor: str = ""
    quote: str = ""
    """Where it stands is looked at instead of `where`."""


BEGINNING = PreviewTarget()


def preview(house: House, scope: Scope, file: File, look: PreviewTarget) -> Preview:
    """Raises FileError, NotFoundError, InvalidInputError for a place that the file does not
    have."""
    if file.outline.get("error"):
        raise LeafError(str(file.outline["error"]), str(file.outline.get("hint", "")))
    library = house.library
    sought = (
        library.texts.locate_all(scope, file, [(look.where, look.quote)])[0] if look.quote else None
    )
    where = sought.found.place if sought is not None and sought.found else look.where
    if file.kind in KINDS and KINDS[file.kind].tabular and (tables := _tables(house, scope, file)):
        return _rows(house, scope, file, tables, look, sought)
    if file.kind in SOUND:
        cues, transcript = library.cues(scope, file), library.transcript(scope, file)
        return Preview(file, "sound", cues=cues, transcript=transcript, sought=sought)
    if file.kind == "picture":
        seen = library.pictures.view(scope, file, where or "1")
        picture, _ = library.pictures.seen(scope, seen.pictures[0].sha256)
        return Preview(
            file, "picture", picture=picture, pages=seen.total, page=seen.pictures[0].page
        )
    window = _shown(
        house,
        scope,
        file,
        where if file.kind == "pdf" or not sought else around(where),
        look.cursor,
        sought,
    )
    if file.kind == "pdf" and window.ranges:
        return _page(house, scope, file, window, look.quote, sought)
    return Preview(file, "text", window=window, sought=sought)


def _rows(
    house: House,
    scope: Scope,
    file: File,
    tables: list[Table],
    look: PreviewTarget,
    sought: Sought | None,
) -> Preview:
    rows = house.tables.pages.page(scope, tables[min(look.table, len(tables) - 1)], look.rows)
    return Preview(file, "table", tables=tuple(tables), rows=rows, sought=sought)


def _page(
    house: House, scope: Scope, file: File, window: Window, quote: str, sought: Sought | None
) -> Preview:
    page, marks = window.ranges[0][0], 0
    if sought and sought.found:
        picture, marks = house.library.pictures.marked_page(scope, file, page, quote)
    else:
        picture = house.library.pictures.page(scope, file, page)
    return Preview(
        file,
        "page",
        window=window,
        picture=picture,
        pages=window.total or 0,
        page=page,
        sought=sought,
        marks=marks,
    )


def _shown(
    house: House, scope: Scope, file: File, where: str, cursor: str, sought: Sought | None
) -> Window:
    """The window at a place; from the beginning where a citation names one that the file does not
    have."""
    try:
        return house.library.texts.read(scope, file, where, cursor=cursor, max_tokens=TOKENS)
    except InvalidInputError:
        if sought is None or sought.found:
            raise
        return house.library.texts.read(scope, file, "", max_tokens=TOKENS)


def _tables(house: House, scope: Scope, file: File) -> list[Table]:
    alone = ChatFile(chat_id="", handle="f1", slug="table", file=file)
    table_set = house.tables.of(scope, [alone])
    if file.id in table_set.failures and not table_set.tables:
        raise LeafError(table_set.failures[file.id])
    return list(table_set.tables)

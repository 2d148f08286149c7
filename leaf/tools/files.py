"""Tools that look into files: list_files, read_file, search_files."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from leaf.files.library import SearchResult
from leaf.files.line import describe_counts, may_hold_several, same_content
from leaf.readers.base import KINDS, Window, holds_tables, may_hold_tables
from leaf.shapes.results import FileListed, PassageShown, ToolResult, UnreadTable
from leaf.store.model import ChatFile, File
from leaf.tables.table import Table, in_order
from leaf.tools.base import (
    LEAST_READ,
    CitablePassage,
    Coverage,
    Source,
    Tool,
    ToolContext,
    ToolOutput,
    find_file,
    gone,
    quoted,
    within_budget,
)
from leaf.tools.listing import ListPage, page_of, titles

PLURAL = {
    "page": "pages",
    "line": "lines",
    "paragraph": "paragraphs",
    "slide": "slides",
    "row": "rows",
    "cue": "cues",
    "cell": "rows",
}
READ_TOKENS = 8_000
READ_TOKENS_MOST = 30_000
FILES_OPENED = 12
"""Files that are opened to be listed, because they may hold several tables."""
OPENED_BYTES = 5_000_000
TABLES_NAMED = 8
"""Tables of one file that are named."""
TITLE_SHOWN = 100
WORDS_SHOWN = 160
"""Characters of what people wrote about a file."""
ABOUT_LISTED = 20
"""Different such words in one list."""


class ListFilesInput(BaseModel):
    pattern: str = Field("", title="Names", description="Glob ('2024/*.csv') or words of names.")
    cursor: str = ""


class FilesListed(ToolResult):
    files: list[FileListed]


def list_files(context: ToolContext, given: ListFilesInput) -> ToolOutput:
    """One line a file, with the tables under whose names SQL reaches it. Only files that may hold
    several are opened for that, and only where they are small and few: the others wait for the
    first query.
    """
    if not context.files and not context.deleted:
        return ToolOutput(
            "No files in this chat. The user can attach some.", "Looked for files: none here"
        )
    page = page_of(context.files, given.pattern, given.cursor)
    tables = _known_tables(context, page.files)
    twins, titled = same_content(context.files), titles(context.files)
    lines = [page.head] if page.head else []
    lines += [
        _file_line(c, tables.get(c.handle, ()), twins.get(c.handle, ""), titled.get(c.handle, ""))
        for c in page.files
    ]
    if not given.pattern and not page.cursor:
        lines += [f"{c.handle} · {gone(c)}" for c in context.deleted]
    lines += _words_about(page.files)
    if page.cursor:
        lines.append(f"[There are more. Go on with cursor={page.cursor!r}]")
    rows: list[FileListed] = [
        {
            "handle": c.handle,
            "file_id": c.file.id,
            "name": c.file.name,
            "kind": c.file.kind,
            "tables": ([t.name for t in tables.get(c.handle, ())] or [c.slug])
            if is_table(c)
            else [],
        }
        for c in page.files
    ]
    return ToolOutput("\n".join(lines), _listed(page), data=FilesListed(files=rows))


def _listed(page: ListPage) -> str:
    """`Listed 3 files`, `Listed files 51-100 of 1,400`."""
    if page.total > len(page.files) and page.files:
        return f"Listed files {page.first:,}-{page.first + len(page.files) - 1:,} of {page.total:,}"
    return f"Listed {page.total:,} file{'s' if page.total != 1 else ''}"


def _words_about(files: Sequence[ChatFile]) -> list[str]:
    """What people wrote about the files, once for all those of which they say the same."""
    about: dict[str, list[str]] = {}
    for chat_file in files:
        if chat_file.file.upload_context:
            about.setdefault(quoted(chat_file.file.upload_context, WORDS_SHOWN), []).append(
                chat_file.handle
            )
    lines = [
        f"About {_handles(handles)}: {words}"
        for words, handles in list(about.items())[:ABOUT_LISTED]
    ]
    more = len(about) - ABOUT_LISTED
    return [*lines, f"… and words about {more} more files."] if more > 0 else lines


def _handles(handles: Sequence[str]) -> str:
    return (
        ", ".join(handles)
        if len(handles) <= 6
        else f"{', '.join(handles[:3])} … {handles[-1]} ({len(handles)} files)"
    )


def _known_tables(context: ToolContext, files: Sequence[ChatFile]) -> dict[str, list[Table]]:
    """Handle -> the file's tables in the order in which they are described, for files that may hold
    several or were looked at before documents were asked for tables."""
    asked = [
        c
        for c in files
        if (
            may_hold_several(c.file)
            if _is_queried(c)
            else may_hold_tables(c.file.kind, c.file.outline)
        )
    ]
    several = [c for c in asked if c.file.size <= OPENED_BYTES]
    table_set = context.tables.of(context.scope, several[:FILES_OPENED], context.stop)
    by_handle: dict[str, list[Table]] = {}
    for table in table_set.tables:
        by_handle.setdefault(table.handle, []).append(table)
    return {handle: in_order(tables) for handle, tables in by_handle.items()}


def _file_line(chat_file: ChatFile, tables: Sequence[Table], same_as: str, title: str) -> str:
    file = chat_file.file
    label = KINDS[file.kind].label if file.kind in KINDS else "Unreadable"
    counts = describe_counts(file, rows=len(tables) < 2)
    line = f"{chat_file.handle} · {file.name} · {label} · {counts}"
    if title:
        line += f" · titled {quoted(title, TITLE_SHOWN)!r}"
    if _is_queried(chat_file) or tables:
        line += f" · SQL: {_names(chat_file, tables)}"
    if same_as:
        line += f" · same content as {same_as}"
    if file.outline.get("error"):
        line += f" · cannot be read: {file.outline['error']}"
    return line


def _names(chat_file: ChatFile, tables: Sequence[Table]) -> str:
    """`q3__data (1,204 rows × 6 columns), q3__notes (12 × 2, hidden) and 3 more`; of a table that
    is alone its name."""
    if tables:
        sizes = (
            f"{t.rows:,}{' rows' if not i else ''} × {len(t.columns)}{' columns' if not i else ''}"
            for i, t in enumerate(tables)
        )
        entries = [
            f"{t.name} ({size}{', hidden' if t.hidden else ''})"
            for t, size in zip(tables, sizes, strict=True)
        ]
        more = (
            f" and {len(entries) - TABLES_NAMED} more: describe_table names them"
            if len(entries) > TABLES_NAMED
            else ""
        )
        return tables[0].name if len(tables) == 1 else ", ".join(entries[:TABLES_NAMED]) + more
    sheets = [str(name) for name in chat_file.file.outline.get("sheets") or ()]
    if len(sheets) > 1:
        listed = f"{', '.join(sheets[:TABLES_NAMED])}{' …' if len(sheets) > TABLES_NAMED else ''}"
        return f"{chat_file.slug}__… (sheets: {listed}; describe_table names them)"
    return (
        f"{chat_file.slug}… (several tables; describe_table names them)"
        if may_hold_several(chat_file.file)
        else chat_file.slug
    )


def _is_queried(chat_file: ChatFile) -> bool:
    """Whether SQL can reach something in the file: it is a table, or a document that holds some."""
    file = chat_file.file
    return holds_tables(file.kind, file.outline) and not file.outline.get("error")


def is_table(chat_file: ChatFile) -> bool:
    """Whether the file is made of tables, as a spreadsheet is and a document with some is not."""
    kind = KINDS.get(chat_file.file.kind)
    return kind is not None and kind.tabular and not chat_file.file.outline.get("error")


class ReadFileInput(BaseModel):
    file: str = Field(title="File", description="Handle (f1) or name of the file.")
    where: str = Field(
        "",
        title="Part",
        description="Part to read: 'pages 3-5', 'lines 10-80', 'rows 100-200', 'slides 2-4', "
        "'paragraphs 1-40', "
        "'sheet Summary!A1:F40', '00:10:00-00:20:00'.",
    )
    line_numbers: bool = Field(False, description="Number the lines of a text.")
    max_tokens: int = Field(READ_TOKENS, ge=100, le=READ_TOKENS_MOST, description="Longest piece.")
    cursor: str = Field("", description="Of the previous piece.")


class WindowRead(ToolResult):
    passages: list[PassageShown]
    coverage: str
    cursor: str
    notes: list[str]
    beside: list[UnreadTable]


def read_file(context: ToolContext, given: ReadFileInput) -> ToolOutput:
    """A window of the file's text with its locators, coverage and the cursor for the next
    window."""
    chat_file = find_file(context, given.file)
    file = chat_file.file
    most = within_budget(context, given.max_tokens)
    window = context.library.texts.read(
        context.scope,
        file,
        given.where,
        max_tokens=most,
        cursor=given.cursor,
        line_numbers=given.line_numbers,
        stop=context.stop,
        on_progress=context.progress,
    )
    place = ", ".join(window.places)
    head = f"{file.name} ({chat_file.handle}) · {window.coverage}"
    notes = "".join(f"\nNote: {note.text}" for note in window.notes)
    if most < given.max_tokens and window.cursor:
        notes += (
            f"\nNote: cut to {most:,} tokens, all that this answer may still read "
            f"(LEAF_FILE_TOKENS)."
        )
    more = f"\n\n[There is more. Go on with cursor={window.cursor!r}]" if window.cursor else ""
    passages = tuple(
        CitablePassage(
            f"{chat_file.handle}#{section.place}", f"{file.name}, {section.place}", section.texts
        )
        for section in window.sections
    )
    return ToolOutput(
        f"{head}{notes}\n\n{window.text}{more}",
        f"Read {place or 'nothing'} of {file.name}",
        sources=(
            Source(chat_file.handle, file.id, file.name, place, "read", quote=quoted(window.text)),
        ),
        coverage=coverage_of(file, window),
        data=WindowRead(
            passages=[
                {
                    "handle": chat_file.handle,
                    "file_id": file.id,
                    "name": file.name,
                    "place": place,
                    "text": window.text,
                }
            ],
            coverage=window.coverage,
            cursor=window.cursor,
            notes=[note.text for note in window.notes],
            beside=_other_sheets(file, window),
        ),
        passages=passages,
        head=f"{head}{notes}{more}" if passages else "",
    )


def coverage_of(file: File, window: Window) -> tuple[Coverage, ...]:
    """What was seen of a file, or of its sheets, by one look into it."""
    if not window.unit:
        return ()
    unit = PLURAL.get(window.unit, window.unit)
    # rows of the file with its titles and header, which must not be added to the data rows of
    # queries
    if unit == "rows" and window.sheets:
        return tuple(
            Coverage(
                file.id,
                f"{file.name} · {one.sheet}",
                "rows of the sheet",
                _size(one.read),
                one.total,
                one.read,
            )
            for one in window.sheets
        )
    if unit == "rows":
        unit = "rows of the sheet" if file.kind == "excel" else "rows of the file"
    seen = _size(window.read)
    total = window.total if window.total is not None else seen
    return (Coverage(file.id, file.name, unit, seen, total, window.read),)


def _size(ranges: Sequence[tuple[int, int]]) -> int:
    return sum(last - first + 1 for first, last in ranges)


def _other_sheets(file: File, window: Window) -> list[UnreadTable]:
    """The sheets of a spreadsheet of which nothing was read."""
    read = {one.sheet for one in window.sheets}
    names = [str(name) for name in file.outline.get("sheets") or ()] if read else []
    return [
        {"file_id": file.id, "name": f"{file.name} · {name}", "table": f"sheet {name}"}
        for name in names
        if name not in read
    ]


class SearchFilesInput(BaseModel):
    query: str = Field(
        title="Words", description='Words to find; "quoted words" as a phrase.', min_length=1
    )
    files: list[str] = Field(
        title="Files", default_factory=list, description="Handles or names; empty: all."
    )
    limit: int = Field(10, title="At most", ge=1, le=40)


class PassagesFound(ToolResult):
    passages: list[PassageShown]
    notes: list[str]


def search_files(context: ToolContext, given: SearchFilesInput) -> ToolOutput:
    """Best passages by BM25 with their places, one of each file unless files are named; says which
    could not be searched."""
    chosen = [find_file(context, name) for name in given.files] or list(context.files)
    within_budget(context, LEAST_READ)
    one_each = not given.files and len(chosen) > 1
    result = context.library.search(
        context.scope,
        [c.file for c in chosen],
        given.query,
        given.limit,
        context.stop,
        context.progress,
        one_each=one_each,
    )
    handles = {c.file.id: c for c in chosen}
    passages: list[PassageShown] = []
    sources = []
    for hit in result.hits:
        chat_file = handles[hit.file_id]
        passage: PassageShown = {
            "handle": chat_file.handle,
            "file_id": hit.file_id,
            "name": chat_file.file.name,
            "place": hit.place,
            "text": hit.text,
        }
        if one_each and hit.more:
            passage["more"] = hit.more
        passages.append(passage)
        sources.append(
            Source(
                chat_file.handle,
                hit.file_id,
                chat_file.file.name,
                hit.place,
                "found",
                query=given.query,
                quote=quoted(hit.text),
            )
        )
    cited = tuple(
        CitablePassage(f"{p['handle']}#{p['place']}", f"{p['name']}, {p['place']}", (p["text"],))
        for p in passages
    )
    count = f"{len(passages)} passage{'s' if len(passages) != 1 else ''}"
    searched = f"{len(chosen)} file{'s' if len(chosen) != 1 else ''}"
    return ToolOutput(
        _search_text(given.query, passages, result, len(chosen)),
        f"Searched {searched} for {quoted(given.query, 60)}: {count}",
        sources=tuple(sources),
        data=PassagesFound(passages=passages, notes=list(result.notes)),
        passages=cited,
        head=_search_head(given.query, passages, result, len(chosen)) if cited else "",
    )


def _search_head(query: str, passages: list[PassageShown], result: SearchResult, asked: int) -> str:
    head = (
        f"{len(passages)} passages for {query!r}; searched {result.searched} of {asked} files "
        f"by full text, best first."
    )
    more = [f"{p['handle']} ({p['more']:,})" for p in passages if p.get("more")]
    beside = (
        [
            f"Note: one passage of each file; more in {', '.join(more)}: name a file to get "
            f"all of its."
        ]
        if more
        else []
    )
    return "\n".join([head, *(f"Note: {note}" for note in result.notes), *beside])


def _search_text(query: str, passages: list[PassageShown], result: SearchResult, asked: int) -> str:
    lines = [_search_head(query, passages, result, asked)]
    lines += [f"\n{p['name']} ({p['handle']}) · {p['place']}\n{p['text']}" for p in passages]
    if not passages:
        lines.append("Nothing matches. Try other words, or read the file.")
    return "\n".join(lines)


TOOLS = (
    Tool(
        "list_files",
        "List the chat's files, 50 a page: handle, folder/name, type, counts, SQL names.",
        ListFilesInput,
        list_files,
        "Listing files",
        icon="folder_open",
        result=FilesListed,
        replay="step",
    ),
    Tool(
        "read_file",
        "Read a part of a file as text, with locators and coverage. Returns a window and a cursor "
        "for the next one.",
        ReadFileInput,
        read_file,
        "Reading a file",
        icon="menu_book",
        result=WindowRead,
        replay="step",
    ),
    Tool(
        "search_files",
        "Full-text search (BM25) over the chat's files: the best passage of each with its place, "
        "all of files that you name. "
        "Use it to find where something is said before reading. Synonyms do not match.",
        SearchFilesInput,
        search_files,
        "Searching the files",
        icon="search",
        counted=("search", "searches"),
        result=PassagesFound,
        replay="step",
    ),
)

"""Tools that look into Google Drive: list_drive_folder, search_drive, read_drive_file. Always
offered, connected or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, Field

from leaf.drive import query
from leaf.drive.model import BroughtFile, DriveChange, DriveItem, DriveListing
from leaf.errors import DriveNotConnectedError, InvalidInputError, NotFoundError, not_found
from leaf.files.line import attached_line
from leaf.shapes.results import Arrived, ChangedSince, DriveItemShown, PassageShown, ToolResult
from leaf.shapes.results import Brought as BroughtShown
from leaf.store.model import ChatFile
from leaf.tools import files
from leaf.tools.base import NO_CHAT, Tool, ToolContext, ToolOutput, quoted
from leaf.tools.permissions import Permission, in_words

PAGE = 100
READ_TOKENS = 4_000


class ListDriveFolderInput(BaseModel):
    folder: str = Field(
        "root",
        title="Folder",
        description="Folder id, Drive URL, 'root', 'shared-with-me' or 'drives'.",
    )
    cursor: str = Field("", description="Cursor of the previous page.")


def list_drive_folder(context: ToolContext, given: ListDriveFolderInput) -> ToolOutput:
    """A page of a folder: one line for each item."""
    _permit_names(context)
    listing = context.drive.list(context.scope, given.folder, cursor=given.cursor, page_size=PAGE)
    name = listing.folder.name if listing.folder else "Drive"
    path = " / ".join(crumb.name for crumb in listing.breadcrumbs)
    return _listed(
        listing,
        f"{path or name}: {_count(listing)}.",
        f"Listed the Drive folder {quoted(name, 60)}: {_count(listing)}",
    )


class SearchDriveInput(BaseModel):
    query: str = Field(title="Words", description="Words in the name or content.", min_length=1)
    folder: str = Field(
        "", title="Folder", description="Folder id or URL: search it and all below it."
    )
    kinds: list[str] = Field(
        title="Kinds",
        default_factory=list,
        description="Only these: folder, document, spreadsheet, presentation, pdf, text, image, "
        "audio, video.",
    )
    modified_after: str = Field("", title="Modified after", description="Day: 2026-05-01.")
    cursor: str = Field("", description="Cursor of the previous page.")


def search_drive(context: ToolContext, given: SearchDriveInput) -> ToolOutput:
    """Files by name and content."""
    _permit_names(context)
    listing = context.drive.search(
        context.scope,
        given.query,
        folder=given.folder,
        kinds=given.kinds,
        modified_after=given.modified_after,
        cursor=given.cursor,
        page_size=PAGE // 2,
    )
    where = f" in {listing.folder.name}" if listing.folder else ""
    head = f"{_count(listing)} for {given.query!r}{where}."
    return _listed(
        listing, head, f"Searched Drive{where} for {quoted(given.query, 60)}: {_count(listing)}"
    )


class DriveResult(ToolResult):
    """Of a folder and of a search the items; of a file what was read of it and where it stands.
    Without a connection, why."""

    drive_items: Sequence[DriveItemShown] = ()
    passages: Sequence[PassageShown] = ()
    coverage: str = ""
    cursor: str = ""
    notes: Sequence[str] = ()
    drive: BroughtShown | Literal["not-connected"] = "not-connected"
    arrived: Arrived | None = None
    why: str = ""
    hint: str = ""


def _count(listing: DriveListing) -> str:
    more = " on this page" if listing.cursor else ""
    return f"{len(listing.items)} item{'' if len(listing.items) == 1 else 's'}{more}"


def _listed(listing: DriveListing, head: str, summary: str) -> ToolOutput:
    lines = [head, *map(_line, listing.items)]
    if listing.incomplete:
        lines.append(f"Note: {listing.incomplete}")
    if listing.cursor:
        lines.append(f"[There is more. Go on with cursor={listing.cursor!r}]")
    rows: list[DriveItemShown] = [
        {
            "ref": item.ref,
            "name": item.name,
            "kind": item.kind,
            "link": item.link,
            "modified": item.modified.isoformat() if item.modified else "",
            "file_id": item.file_id,
        }
        for item in listing.items
    ]
    data = DriveResult(
        drive_items=rows,
        cursor=listing.cursor,
        notes=[listing.incomplete] if listing.incomplete else [],
    )
    return ToolOutput("\n".join(lines), summary, data=data)


def _line(item: DriveItem) -> str:
    facts = [item.kind]
    if item.size is not None:
        facts.append(f"{item.size:,} bytes")
    if item.modified:
        facts.append(f"modified {item.modified:%Y-%m-%d}")
    if not item.can_download:
        facts.append("no download allowed")
    return f"{quoted(item.name, 120)} · id={item.ref} · {' · '.join(facts)}"


class ReadDriveFileInput(BaseModel):
    file: str = Field(title="File", description="Id, Drive URL, or exact name of a file in Drive.")
    where: str = Field("", title="Part", description="As in read_file.")
    max_tokens: int = Field(READ_TOKENS, ge=100, le=files.READ_TOKENS_MOST)


def read_drive_file(context: ToolContext, given: ReadDriveFileInput) -> ToolOutput:
    """Bring a file into the chat under a handle, and read its beginning or the part asked for."""
    brought = _brought(context, given.file.strip())
    chat_file = _attached(context, brought)
    notes = _notes(context, brought, chat_file)
    head = "\n".join(
        [
            f"{attached_line(chat_file)} now in this chat: use its handle with the other tools.",
            *notes,
        ]
    )
    arrived: Arrived = {
        "handle": chat_file.handle,
        "name": chat_file.file.name,
        "tokens": int(chat_file.file.outline.get("tokens") or 0),
    }
    drive: BroughtShown = {
        "id": brought.item.id,
        "link": brought.item.link,
        "downloaded": brought.downloaded,
    }
    if chat_file.file.outline.get("error"):
        reason = (
            f"{chat_file.file.outline['error']} {chat_file.file.outline.get('hint', '')}".strip()
        )
        return ToolOutput(
            f"{head}\n{reason}",
            f"Fetched {brought.item.name} from Drive: it cannot be read",
            data=DriveResult(drive=drive, arrived=arrived),
        )
    there = (*(c for c in context.files if c.file.id != chat_file.file.id), chat_file)
    wanted = files.ReadFileInput(
        file=chat_file.handle,
        where=given.where,
        line_numbers=False,
        max_tokens=given.max_tokens,
        cursor="",
    )
    read = files.read_file(replace(context, files=there), wanted)
    window = read.data
    assert isinstance(window, files.WindowRead)
    data = DriveResult(
        passages=window.passages,
        coverage=window.coverage,
        cursor=window.cursor,
        notes=[*window.notes, *notes],
        drive=drive,
        arrived=arrived,
    )
    return replace(
        read,
        text=f"{head}\n\n{read.text}",
        head=f"{head}\n\n{read.head}" if read.passages else "",
        summary=f"{read.summary} in Drive",
        data=data,
    )


# In a chat with others, what comes from the Drive of one is seen by all. A model may ask for it because a file told it to.


def _readers(context: ToolContext) -> Sequence[str]:
    """Who else sees what comes from the Drive of the one who asked. The Drive of the app itself is
    everybody's. A connection that failed may work again with this very call."""
    connection = context.drive.connection(context.scope)
    works = connection.state in ("connected", "error") and not connection.ended
    return context.others() if works and connection.kind == "user" else ()


def _permit_names(context: ToolContext) -> None:
    """Once an answer. Raises InvalidInputError where it is not allowed."""
    if others := _readers(context):
        context.permit(
            Permission(
                f"Look through your Google Drive in this chat, which {in_words(others)} can read?",
                "They see the names of what is found there, no content. Without an answer nothing "
                "is listed.",
                "Nothing was listed; go on without Drive.",
                key=f"{context.message_id}/drive-names",
                of_user=context.scope.user_id,
                icon="add_to_drive",
            )
        )


def _permit_content(context: ToolContext, ref: str) -> None:
    """For each file that is not in the chat yet. Raises InvalidInputError where it is not
    allowed."""
    others = _readers(context)
    if not others:
        return
    item = context.drive.item(context.scope, ref)
    if item.file_id and any(c.file.id == item.file_id for c in context.files):
        return
    name = quoted(item.name, 120)  # in the question alone: others see the rest
    context.permit(
        Permission(
            f"Bring “{name}” from your Google Drive into this chat, which {in_words(others)} "
            "can read?",
            "They can then open the whole file here. Without an answer it stays in your Drive.",
            "Nothing was read; go on without this file.",
            of_user=context.scope.user_id,
            icon="add_to_drive",
        )
    )


def _brought(context: ToolContext, named: str) -> BroughtFile:
    """What was named by its id, its URL or its name, which may look like an id."""
    ref = _ref(context, named)
    try:
        return _brought_by(context, ref)
    except NotFoundError as e:
        if ref != named or query.is_address(named):
            raise
        try:
            ref = _ref_of_name(context, named)
        except NotFoundError:
            raise e from None
        return _brought_by(context, ref)


def _brought_by(context: ToolContext, ref: str) -> BroughtFile:
    _permit_content(context, ref)
    return context.drive.bring(context.scope, ref, stop=context.stop)


def _ref(context: ToolContext, name: str) -> str:
    """The id, URL or `id/key` itself; of a name, the id of the only file that has it."""
    if query.is_address(name):
        return name
    chat_ids = {c.handle: c.file.id for c in context.files}
    if name in chat_ids:
        raise InvalidInputError(f"{name} is in this chat already.", "Read it with read_file.")
    return name if _looks_like_id(name) else _ref_of_name(context, name)


def _ref_of_name(context: ToolContext, name: str) -> str:
    """Raises NotFoundError, InvalidInputError where several have it."""
    _permit_names(context)
    matches = context.drive.named(context.scope, name)
    if len(matches) > 1:
        which = "; ".join(
            f"id={item.ref}, modified {item.modified:%Y-%m-%d}" if item.modified else item.ref
            for item in matches
        )
        raise InvalidInputError(
            f"{len(matches)} files in Drive are named '{quoted(name, 80)}'.", f"Use an id: {which}."
        )
    if not matches:
        raise not_found("file", quoted(name, 80), (), "Google Drive")
    return matches[0].ref


def _looks_like_id(text: str) -> bool:
    """Drive's ids are long and without spaces or dots."""
    plain = text.partition("/")[0]
    return len(plain) >= 15 and plain.replace("-", "").replace("_", "").isalnum()


def _attached(context: ToolContext, brought: BroughtFile) -> ChatFile:
    """The file in the chat: under the handle that it has there, or the next one."""
    if known := next((c for c in context.files if c.file.id == brought.file.id), None):
        return known
    if context.chat_id == NO_CHAT:
        return context.library.as_chat_files([*(c.file for c in context.files), brought.file])[-1]
    return context.library.attach(
        context.scope, context.chat_id, [brought.file.id], context.message_id
    )[0]


def _notes(context: ToolContext, brought: BroughtFile, chat_file: ChatFile) -> list[str]:
    notes = [brought.note] if brought.note else []
    older = [c.handle for c in context.files if c.file.id in brought.older]
    if older:
        notes.append(
            f"{brought.item.name} changed in Drive since {', '.join(older)} was read: "
            f"{chat_file.handle} is the newer version. "
            f"Answers that rest on {', '.join(older)} rest on an older version; say so."
        )
    return notes


def _since(change: DriveChange) -> str:
    """What became of a file in Drive; a file that cannot be reached any more need not be deleted."""
    if change.what == "changed":
        return (
            f"was changed in Drive on {change.at:%Y-%m-%d}; this rests on the older version. "
            "Call read_drive_file to read it anew."
        )
    return (
        f"is gone from Drive, or not shared with the connected account any more (seen on "
        f"{change.at:%Y-%m-%d}); this rests on the copy in the library."
    )


def with_changes(context: ToolContext, output: ToolOutput) -> ToolOutput:
    """The output, with a note if it rests on a file that has changed in Drive since it was brought
    in. Asks nothing of Google."""
    used = {source.file_id: source.name for source in output.sources}
    from_drive = [
        c.file.id for c in context.files if c.file.id in used and c.file.source == "drive"
    ]
    if not from_drive:
        return output
    outdated = context.drive.outdated(context.scope, from_drive)
    if not outdated:
        return output
    notes = [f"Note: {used[file_id]} {_since(change)}" for file_id, change in outdated.items()]
    changed: list[ChangedSince] = [
        {"file_id": i, "id": c.id, "what": c.what} for i, c in outdated.items()
    ]
    data = output.data.model_copy(update={"changed_since": changed})
    head = "\n".join([output.head, *notes]) if output.passages else output.head
    return replace(output, text="\n".join([output.text, *notes]), head=head, data=data)


def _or_not_connected(
    run: Callable[[ToolContext, Any], ToolOutput],
) -> Callable[[ToolContext, Any], ToolOutput]:
    """Without a connection the answer says so, in a shape by which the page can offer to
    connect."""

    def checked(context: ToolContext, given: Any) -> ToolOutput:
        try:
            return run(context, given)
        except DriveNotConnectedError as e:
            text = (
                f"Error: {e} Tell the user; the page offers to connect. Nothing was read "
                f"from Drive."
            )
            return ToolOutput(
                text,
                "Google Drive is not connected",
                data=DriveResult(drive="not-connected", why=e.message, hint=e.hint),
            )

    return checked


TOOLS = (
    Tool(
        "list_drive_folder",
        "List a Google Drive folder: names, ids, kinds, dates; 100 at a time with a cursor.",
        ListDriveFolderInput,
        _or_not_connected(list_drive_folder),
        "Listing a Drive folder",
        icon="folder_open",
        result=DriveResult,
    ),
    Tool(
        "search_drive",
        "Search the user's Google Drive by name and content. Returns ids for read_drive_file.",
        SearchDriveInput,
        _or_not_connected(search_drive),
        "Searching Drive",
        icon="manage_search",
        counted=("search", "searches"),
        result=DriveResult,
    ),
    Tool(
        "read_drive_file",
        "Bring a Google Drive file into this chat and read a part of it. It gets a handle (f3) "
        "for read_file, search_files, "
        "describe_table and query_tables. Google Docs, Sheets and Slides come as DOCX, "
        "XLSX and PPTX.",
        ReadDriveFileInput,
        _or_not_connected(read_drive_file),
        "Reading a Drive file",
        icon="menu_book",
        result=DriveResult,
    ),
)

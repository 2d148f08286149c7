"""Tools that look into Google Drive: list_drive_folder, search_drive, read_drive_file. Always offered, connected or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, Field

from leaf.drive import query
from leaf.drive.model import Brought, DriveItem, DriveListing
from leaf.errors import DriveNotConnectedError, InvalidInputError, not_found
from leaf.files.line import attached_line
from leaf.store.model import ChatFile
from leaf.tools import files
from leaf.tools.base import NO_CHAT, Json, Tool, ToolContext, ToolOutput, quoted

PAGE = 100
READ_TOKENS = 4_000


class ListDriveFolderInput(BaseModel):
    folder: str = Field("root", title="Folder", description="Folder id, Drive URL, 'root', 'shared-with-me' or 'drives'.")
    cursor: str = Field("", description="Cursor of the previous page.")


def list_drive_folder(context: ToolContext, given: ListDriveFolderInput) -> ToolOutput:
    """A page of a folder: one line for each item."""
    found = context.drive.list(context.scope, given.folder, cursor=given.cursor, page_size=PAGE)
    name = found.folder.name if found.folder else "Drive"
    path = " / ".join(crumb.name for crumb in found.breadcrumbs)
    return _listed(found, f"{path or name}: {_count(found)}.", f"Listed the Drive folder {quoted(name, 60)}: {_count(found)}")


class SearchDriveInput(BaseModel):
    query: str = Field(title="Words", description="Words in the name or content.", min_length=1)
    folder: str = Field("", title="Folder", description="Folder id or URL: search it and all below it.")
    kinds: list[str] = Field(
        title="Kinds",
        default_factory=list,
        description="Only these: folder, document, spreadsheet, presentation, pdf, text, image, audio, video.",
    )
    modified_after: str = Field("", title="Modified after", description="Day: 2026-05-01.")
    cursor: str = Field("", description="Cursor of the previous page.")


def search_drive(context: ToolContext, given: SearchDriveInput) -> ToolOutput:
    """Files by name and content."""
    found = context.drive.search(
        context.scope,
        given.query,
        folder=given.folder,
        kinds=given.kinds,
        modified_after=given.modified_after,
        cursor=given.cursor,
        page_size=PAGE // 2,
    )
    where = f" in {found.folder.name}" if found.folder else ""
    head = f"{_count(found)} for {given.query!r}{where}."
    return _listed(found, head, f"Searched Drive{where} for {quoted(given.query, 60)}: {_count(found)}")


def _count(found: DriveListing) -> str:
    more = " on this page" if found.cursor else ""
    return f"{len(found.items)} item{'' if len(found.items) == 1 else 's'}{more}"


def _listed(found: DriveListing, head: str, summary: str) -> ToolOutput:
    lines = [head, *map(_line, found.items)]
    if found.incomplete:
        lines.append(f"Note: {found.incomplete}")
    if found.cursor:
        lines.append(f"[There is more. Go on with cursor={found.cursor!r}]")
    rows: list[Json] = [
        {
            "ref": item.ref,
            "name": item.name,
            "kind": item.kind,
            "link": item.link,
            "modified": item.modified.isoformat() if item.modified else "",
            "file_id": item.file_id,
        }
        for item in found.items
    ]
    data: Json = {"drive_items": rows, "cursor": found.cursor, "notes": [found.incomplete] if found.incomplete else []}
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
    brought = context.drive.bring(context.scope, _ref(context, given.file), stop=context.stop)
    chat_file = _attached(context, brought)
    notes = _notes(context, brought, chat_file)
    head = "\n".join([f"{attached_line(chat_file)} now in this chat: use its handle with the other tools.", *notes])
    arrived = {"handle": chat_file.handle, "name": chat_file.file.name, "tokens": int(chat_file.file.outline.get("tokens") or 0)}
    data: Json = {
        "drive": {"id": brought.item.id, "link": brought.item.link, "downloaded": brought.downloaded},
        "arrived": arrived,
    }
    if chat_file.file.outline.get("error"):
        reason = f"{chat_file.file.outline['error']} {chat_file.file.outline.get('hint', '')}".strip()
        return ToolOutput(f"{head}\n{reason}", f"Fetched {brought.item.name} from Drive: it cannot be read", data=data)
    there = (*(c for c in context.files if c.file.id != chat_file.file.id), chat_file)
    wanted = files.ReadFileInput(
        file=chat_file.handle, where=given.where, line_numbers=False, max_tokens=given.max_tokens, cursor=""
    )
    read = files.read_file(replace(context, files=there), wanted)
    data = {**read.data, **data, "notes": [*read.data["notes"], *notes]}
    return replace(
        read,
        text=f"{head}\n\n{read.text}",
        head=f"{head}\n\n{read.head}" if read.passages else "",
        summary=f"{read.summary} in Drive",
        data=data,
    )


def _ref(context: ToolContext, given: str) -> str:
    """The id, URL or `id/key` itself; of a name, the id of the only file that has it."""
    name = given.strip()
    if query.is_address(name):
        return name
    chat_ids = {c.handle: c.file.id for c in context.files}
    if name in chat_ids:
        raise InvalidInputError(f"{name} is in this chat already.", "Read it with read_file.")
    if _looks_like_id(name):
        return name
    found = context.drive.named(context.scope, name)
    if len(found) > 1:
        which = "; ".join(f"id={item.ref}, modified {item.modified:%Y-%m-%d}" if item.modified else item.ref for item in found)
        raise InvalidInputError(f"{len(found)} files in Drive are named '{quoted(name, 80)}'.", f"Use an id: {which}.")
    if not found:
        raise not_found("file", quoted(name, 80), (), "Google Drive")
    return found[0].ref


def _looks_like_id(text: str) -> bool:
    """Drive's ids are long and without spaces or dots."""
    plain = text.partition("/")[0]
    return len(plain) >= 15 and plain.replace("-", "").replace("_", "").isalnum()


def _attached(context: ToolContext, brought: Brought) -> ChatFile:
    """The file in the chat: under the handle that it has there, or the next one."""
    if known := next((c for c in context.files if c.file.id == brought.file.id), None):
        return known
    if context.chat_id == NO_CHAT:
        return context.library.as_chat_files([*(c.file for c in context.files), brought.file])[-1]
    return context.library.attach(context.scope, context.chat_id, [brought.file.id], context.message_id)[0]


def _notes(context: ToolContext, brought: Brought, chat_file: ChatFile) -> list[str]:
    notes = [brought.note] if brought.note else []
    older = [c.handle for c in context.files if c.file.id in brought.older]
    if older:
        notes.append(
            f"{brought.item.name} changed in Drive since {', '.join(older)} was read: {chat_file.handle} is the newer version. "
            f"Answers that rest on {', '.join(older)} rest on an older version; say so."
        )
    return notes


def with_changes(context: ToolContext, output: ToolOutput) -> ToolOutput:
    """The output, with a note if it rests on a file that has changed in Drive since it was brought in. Asks nothing of Google."""
    used = {source.file_id: source.name for source in output.sources}
    from_drive = [c.file.id for c in context.files if c.file.id in used and c.file.source == "drive"]
    if not from_drive:
        return output
    outdated = context.drive.outdated(context.scope, from_drive)
    if not outdated:
        return output
    notes = [
        f"Note: {used[file_id]} was {change.what} in Drive on {change.at:%Y-%m-%d}; this rests on the older version. "
        + ("Call read_drive_file to read it anew." if change.what == "changed" else "")
        for file_id, change in outdated.items()
    ]
    data = {**output.data, "changed_since": [{"file_id": i, "id": c.id, "what": c.what} for i, c in outdated.items()]}
    head = "\n".join([output.head, *notes]) if output.passages else output.head
    return replace(output, text="\n".join([output.text, *notes]), head=head, data=data)


def _or_not_connected(run: Callable[[ToolContext, Any], ToolOutput]) -> Callable[[ToolContext, Any], ToolOutput]:
    """Without a connection the answer says so, in a shape by which the page can offer to connect."""

    def checked(context: ToolContext, given: Any) -> ToolOutput:
        try:
            return run(context, given)
        except DriveNotConnectedError as e:
            text = f"Error: {e} Tell the user; the page offers to connect. Nothing was read from Drive."
            return ToolOutput(
                text, "Google Drive is not connected", data={"drive": "not-connected", "why": e.message, "hint": e.hint}
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
    ),
    Tool(
        "search_drive",
        "Search the user's Google Drive by name and content. Returns ids for read_drive_file.",
        SearchDriveInput,
        _or_not_connected(search_drive),
        "Searching Drive",
        icon="manage_search",
    ),
    Tool(
        "read_drive_file",
        "Bring a Google Drive file into this chat and read a part of it. It gets a handle (f3) for read_file, search_files, "
        "describe_table and query_tables. Google Docs, Sheets and Slides come as DOCX, XLSX and PPTX.",
        ReadDriveFileInput,
        _or_not_connected(read_drive_file),
        "Reading a Drive file",
        icon="menu_book",
    ),
)

"""Tools that write: create_document, write_file, edit_file, delete_file. They change the chat's
documents only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from leaf.documents import naming
from leaf.documents.documents import DocumentDraft
from leaf.errors import InvalidInputError, LeafError, NotFoundError, not_found
from leaf.readers.window import CHARS_PER_TOKEN
from leaf.shapes.parts import DocumentData
from leaf.shapes.results import PassageShown, ToolResult
from leaf.store.documents import VersionChange, gone
from leaf.store.ids import new_id
from leaf.store.model import ChatFile, Document
from leaf.tools import writing
from leaf.tools.base import NO_CHAT, Ask, Tool, ToolContext, ToolOutput, find_file, quoted

OUTLINE = 20
"""Headings that a receipt names."""
HEADING = 60
DIFF_SHOWN = 1_200
"""Characters of a difference in a receipt."""


class CreateDocumentInput(BaseModel):
    title: str
    kind: Literal["text", "code", "sheet"] = "text"
    document_type: Literal["general", "meeting-summary", "report", "action-items"] = "general"
    files: list[str] = Field(
        title="Files", default_factory=list, description="Sources, by handle or name."
    )
    content: str = Field("", description="Its text, or source of other types than general.")
    instructions: str = Field("", description="The user's wishes.")
    metadata: dict[str, str | list[str]] = Field(
        default_factory=dict, description="meeting_date, participants"
    )


def create_document(context: ToolContext, given: CreateDocumentInput) -> ToolOutput:
    """A new document: `content` as it stands, or written by the model in the shape of its type from
    files that the tool reads itself and from `content`.
    """
    _check_chat(context)
    title = naming.clean_title(given.title)
    if known := context.documents.made_by(context.scope, context.key):
        return _receipt(context, known, "Wrote", "")
    shaped = given.kind == "text" and given.document_type != "general"
    if given.content.strip() and not (context.ask is not None and (shaped or given.files)):
        draft = DocumentDraft(title, given.kind, given.content, given.document_type)
        document = context.documents.create(
            context.scope, context.chat_id, draft, _change(context, "created")
        )
        return _receipt(context, document, "Wrote", "")
    if context.ask is None:
        raise InvalidInputError(
            f"No model is connected that could write '{title}'.",
            "Give its text as content, or connect a model (see Settings).",
        )
    if not (given.files or given.content.strip()):
        raise InvalidInputError(
            "There is nothing to write it from.", "Name files, or give the content."
        )
    return _write_from_sources(context, context.ask, given, title)


class DocumentKept(ToolResult):
    document: str
    """Its id."""
    passages: Sequence[PassageShown] = ()
    """What its figures were read from."""


def _write_from_sources(
    context: ToolContext, ask: Ask, spec: CreateDocumentInput, title: str
) -> ToolOutput:
    chosen = list({c.handle: c for c in (find_file(context, name) for name in spec.files)}.values())
    pieces = [
        *writing.given_pieces(spec.content, ask),
        *writing.read_sources(context, chosen, ask),
    ]
    order = writing.Order(title, spec.kind, spec.document_type, _wishes(spec))
    part_id = context.key or new_id()
    shown: list[str] = []

    def begin() -> None:
        shown.clear()
        context.show(
            "document",
            part_id,
            {"state": "writing", "title": title, "kind": spec.kind, "text": ""},
        )

    def grow(text: str) -> None:
        shown.append(text)
        context.show("document-delta", part_id, {"delta": text})

    begin()
    try:
        written = writing.write(context, ask, order, pieces, grow, begin)
        document = _keep(
            context, spec, title, _with_remark(written, spec.kind), _change(context, "created")
        )
    except LeafError as e:
        context.show("document", part_id, {"state": "failed", "title": title, "kind": spec.kind})
        raise _kept_in_part(context, spec, title, "".join(shown), e) from e
    text_given = [writing.GIVEN] if spec.content.strip() else []
    read = "; ".join([*text_given, *(f"{c.file.name} ({c.handle})" for c in chosen)])
    receipt = _receipt(context, document, "Wrote", _facts(read, written), part_id)
    return ToolOutput(
        receipt.text,
        f"{receipt.summary} from {_from(chosen, text_given)}",
        sources=writing.sources(pieces),
        coverage=writing.coverage(pieces),
        data=DocumentKept(
            document=document.id,
            passages=context.hooks.passages_behind(written.text, writing.passages(pieces)),
        ),
        shows=receipt.shows,
    )


def _facts(read: str, written: writing.WrittenText) -> str:
    """What the model is told of how the document came to be."""
    facts = [f"From {read}, about {written.source_tokens:,} tokens read."]
    if written.parts > 1:
        facts.append(
            f"They are longer than the model's window, so they were read in {written.parts} parts "
            "and notes on them combined; the document says so."
        )
    if written.cut:
        facts.append(
            "It ends early: the longest answer was reached. Tell the user; ask for a shorter "
            "document or for parts."
        )
    return " ".join(facts)


def _from(chosen: Sequence[ChatFile], text_given: Sequence[str]) -> str:
    """`2 files and the text given`."""
    files = [f"{len(chosen)} file{'s' if len(chosen) != 1 else ''}"] if chosen else []
    return " and ".join([*files, *text_given])


def _keep(
    context: ToolContext, spec: CreateDocumentInput, title: str, text: str, change: VersionChange
) -> Document:
    """A new document, or the rest of one that an interrupted attempt of this call has left
    behind."""
    begun = context.documents.made_by(context.scope, _part_key(context))
    if begun is not None and begun.deleted_at is None:
        return context.documents.write(context.scope, begun.id, text, change)
    draft = DocumentDraft(title, spec.kind, text, spec.document_type)
    return context.documents.create(context.scope, context.chat_id, draft, change)


def _kept_in_part(
    context: ToolContext, spec: CreateDocumentInput, title: str, text: str, error: LeafError
) -> LeafError:
    """The error, after what was written so far was kept as a version of its own."""
    if not text.strip():
        return error
    try:
        change = VersionChange("not finished", context.message_id, _part_key(context))
        draft = _keep(context, spec, title, text, change)
    except LeafError:
        return error
    return type(error)(
        f"{error.message} What was written so far is kept as '{draft.title}' ({draft.handle}).",
        error.hint,
    )


def _part_key(context: ToolContext) -> str:
    return f"{context.key}/part" if context.key else ""


def _wishes(spec: CreateDocumentInput) -> str:
    lines = [spec.instructions.strip()]
    for name, value in spec.metadata.items():
        lines.append(
            f"{name.replace('_', ' ').capitalize()}: "
            f"{value if isinstance(value, str) else ', '.join(value)}"
        )
    return "\n".join(line for line in lines if line)


def _with_remark(written: writing.WrittenText, kind: str) -> str:
    """The text, with a last line where the reader must know how it came about."""
    remarks = []
    if written.parts > 1:
        remarks.append(
            f"The sources (about {written.source_tokens:,} tokens) are longer than what the model "
            f"reads at once. "
            f"This was written from notes on {written.parts} parts."
        )
    if written.cut:
        remarks.append("The text ends here because the longest answer was reached.")
    if kind != "text" or not remarks:
        return written.text
    return f"{written.text.rstrip()}\n\n---\n\n*{' '.join(remarks)}*"


class WriteFileInput(BaseModel):
    path: str = Field(description="Handle, name or new name (.md, .csv, .py).")
    content: str


def write_file(context: ToolContext, given: WriteFileInput) -> ToolOutput:
    """Replace a document's whole text, or make one under a new name."""
    _check_chat(context)
    if known := context.documents.made_by(context.scope, context.key):
        return _receipt(context, known, "Wrote", "")
    document = _lookup(context, given.path)
    if document is None:
        _refuse_uploaded(context, given.path)
        kind = naming.kind_of(given.path)
        name = re.split(r"[/\\]", given.path.strip())[-1]
        draft = DocumentDraft(naming.title_of(given.path), kind, given.content, file_name=name)
        revision = context.documents.create(
            context.scope, context.chat_id, draft, _change(context, "created")
        )
        return _receipt(context, revision, "Wrote", "")
    newest = context.documents.versions(context.scope, document.id)[0]
    revision = context.documents.write(
        context.scope,
        document.id,
        given.content,
        _change(context, "write_file"),
        base=document.version,
    )
    if revision.version == document.version:
        return ToolOutput(
            f"'{revision.title}' ({revision.handle}) has this text already; nothing was changed.",
            f"Left {revision.title} as it is",
        )
    facts = (
        ""
        if newest.message_id
        else f"Version {newest.number}, which it replaces, was {newest.note}; it can be restored."
    )
    return _changed(context, revision, facts)


class EditFileInput(BaseModel):
    file_path: str
    search_replace_block: str = Field(
        description="Blocks:\n<<<<<<< SEARCH\nold lines, in the document once\n=======\nnew "
        "lines\n>>>>>>> REPLACE"
    )


def edit_file(context: ToolContext, given: EditFileInput) -> ToolOutput:
    """Apply edit blocks to a document, all or none."""
    _check_chat(context)
    if known := context.documents.made_by(context.scope, context.key):
        return _changed(context, known, "")
    document = _find(context, given.file_path)
    revision = context.documents.edit(
        context.scope, document.id, given.search_replace_block, _change(context, "edit_file")
    )
    if revision.version == document.version:
        return ToolOutput(
            f"The blocks change nothing in '{revision.title}'.", f"Left {revision.title} as it is"
        )
    return _changed(context, revision, "")


class DeleteFileInput(BaseModel):
    path: str


def delete_file(context: ToolContext, given: DeleteFileInput) -> ToolOutput:
    """Put a document away. Doing it again changes nothing."""
    _check_chat(context)
    document = _find(context, given.path, deleted=bool(context.key))
    if document.deleted_at is None:
        document = context.documents.delete(context.scope, document.id)
    card = _card(document, "deleted", "")
    return ToolOutput(
        f"Deleted '{document.title}' ({document.handle}). The user can undo it.",
        f"Deleted {quoted(document.title, 80)}",
        shows=({"name": "document", "id": f"{document.id}-deleted", "data": card},),
    )


def _check_chat(context: ToolContext) -> None:
    if context.chat_id == NO_CHAT:
        raise InvalidInputError("Documents belong to a chat.", "Name one: --chat ID.")


def _change(context: ToolContext, note: str) -> VersionChange:
    return VersionChange(note, context.message_id, context.key)


def _find(context: ToolContext, path: str, *, deleted: bool = False) -> Document:
    """The chat's document with that handle or name. Raises NotFoundError, and InvalidInputError for
    an uploaded file."""
    document = _lookup(context, path, deleted=deleted)
    if document is None:
        _refuse_uploaded(context, path)
        there = context.documents.list(context.scope, chat_id=context.chat_id)
        raise not_found(
            "document",
            path.strip(),
            [n for d in there for n in (d.handle, d.file_name)],
            "this chat",
        )
    return document


def _lookup(context: ToolContext, path: str, *, deleted: bool = False) -> Document | None:
    """Raises InvalidInputError where several documents have the name, NotFoundError for a deleted
    one unless it may be found."""
    wanted = path.strip()
    names = {c.handle: c.file.name.lower() for c in context.files}
    low = re.split(r"[/\\]", wanted)[-1].lower()
    for away in (False, True):
        there = context.documents.list(context.scope, chat_id=context.chat_id, deleted=away)
        matches = [d for d in there if wanted in (d.handle, d.id)]
        matches = matches or [
            d for d in there if low in (d.file_name.lower(), names.get(d.handle, ""))
        ]
        matches = matches or [d for d in there if wanted.lower() == d.title.lower()]
        if len(matches) > 1 and not away:
            raise InvalidInputError(
                f"Several documents are named '{wanted}'.",
                f"Use a handle: {', '.join(d.handle for d in matches)}.",
            )
        if matches and away and not deleted:
            raise gone(matches[0])
        if matches:
            return matches[0]
    return None


def _refuse_uploaded(context: ToolContext, path: str) -> None:
    try:
        chat_file = find_file(context, path)
    except NotFoundError:
        return
    raise InvalidInputError(
        f"{chat_file.file.name} is a file of the user and is never changed.",
        "Write a changed copy as a new document.",
    )


def _receipt(
    context: ToolContext, document: Document, verb: str, facts: str, part_id: str = ""
) -> ToolOutput:
    """What the model is told of a whole document: never its text."""
    text = context.documents.content(context.scope, document)
    tokens = int(len(text) / CHARS_PER_TOKEN)
    lines = [
        f"{verb} '{quoted(document.title, 120)}', version {document.version}: {document.handle}, "
        f"file {document.file_name}, "
        f"{len(text.split()):,} words, about {tokens:,} tokens.",
        facts,
    ]
    if document.kind == "text" and (headings := outline(text)):
        lines.append("Outline: " + " · ".join(headings))
    if document.kind == "sheet":
        rows = text.count("\n") - 1
        lines.append(
            f"{rows:,} rows. Columns: {quoted(text.partition(chr(10))[0], 300)}. "
            f"{_table_name(context, document)}"
        )
    lines.append(
        "The user sees it beside the chat: say in a sentence or two what it is, do not repeat it."
    )
    return ToolOutput(
        "\n".join(line for line in lines if line),
        f"{verb} {quoted(document.title, 80)}",
        data=DocumentKept(document=document.id),
        shows=(
            {
                "name": "document",
                "id": part_id or context.key or document.id,
                "data": _card(document, "done", ""),
            },
        ),
    )


def _changed(context: ToolContext, document: Document, facts: str) -> ToolOutput:
    """What the model is told of a change: the difference, cut where it is long."""
    diff = context.documents.compare(
        context.scope, document, document.version - 1, document.version
    )
    text = diff.text()
    cut = f"{text[:DIFF_SHOWN]}\n…" if len(text) > DIFF_SHOWN else text
    head = (
        f"Changed '{quoted(document.title, 120)}' ({document.handle}), now version "
        f"{document.version}: {diff.summary}."
    )
    card = _card(document, "done", diff.summary)
    return ToolOutput(
        "\n".join(line for line in (head, facts, cut) if line),
        f"Changed {quoted(document.title, 80)}: {diff.summary}",
        data=DocumentKept(document=document.id),
        shows=(
            {
                "name": "document",
                "id": context.key or f"{document.id}-{document.version}",
                "data": card,
            },
        ),
    )


def _card(document: Document, state: str, summary: str) -> DocumentData:
    """What an answer keeps of a document: where it is, not what stands in it."""
    return {
        "state": state,
        "documentId": document.id,
        "title": document.title,
        "kind": document.kind,
        "version": document.version,
        "summary": summary,
    }


def _table_name(context: ToolContext, document: Document) -> str:
    there = context.library.chat_files(context.scope, context.chat_id)
    slug = next((c.slug for c in there if c.handle == document.handle), "")
    return f"SQL: {slug}" if slug else ""


def outline(text: str) -> list[str]:
    """Headings of a Markdown text outside of code, the first ones."""
    headings: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and re.match(r"#{1,6} \S", line):
            headings.append(quoted(line, HEADING))
    more = len(headings) - OUTLINE
    return headings[:OUTLINE] + ([f"and {more} more headings"] if more > 0 else [])


TOOLS = (
    Tool(
        "create_document",
        "Write a document that the user keeps. Name the source files: the tool reads them whole "
        "and writes it beside the chat, "
        "so do not read them first. Returns a receipt with the outline.",
        CreateDocumentInput,
        create_document,
        "Writing a document",
        icon="edit_document",
        result=DocumentKept,
        effect="write",
        repeatable=False,
    ),
    Tool(
        "write_file",
        "Replace a document's whole text, or make one. Small changes: edit_file.",
        WriteFileInput,
        write_file,
        "Writing a document",
        icon="edit_document",
        result=DocumentKept,
        effect="write",
        repeatable=False,
    ),
    Tool(
        "edit_file",
        "Change a document by search and replace, all blocks or none.",
        EditFileInput,
        edit_file,
        "Editing a document",
        icon="edit_note",
        result=DocumentKept,
        effect="write",
        repeatable=False,
    ),
    Tool(
        "delete_file",
        "Delete a document; the user can undo it.",
        DeleteFileInput,
        delete_file,
        "Deleting a document",
        icon="delete",
        result=DocumentKept,
        effect="write",
        repeatable=False,
    ),
)

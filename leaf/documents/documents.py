"""class Documents: what tools and sessions do with documents. Every change is a version; nothing is
ever overwritten."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

from leaf.documents import diff, edits, naming
from leaf.documents.export import FORMATS, RAW_SHEET, Format, leaving
from leaf.errors import (
    BlobGoneError,
    ConflictError,
    InvalidInputError,
    LeafError,
    StorageError,
    about,
)
from leaf.sandbox.answers import unreadable
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import Pool
from leaf.settings.disk import scratch
from leaf.store import Store, documents
from leaf.store.documents import NewDocument, VersionChange
from leaf.store.model import Document, DocumentKind, DocumentVersion, File, Scope

EXPORT = CallLimits(seconds=60, memory_mb=1024, output_mb=200)
NOTES, NOTE = 50, 500
"""Of what a format could not take over: how many, and how long."""
Source = Literal["upload", "drive", "generated", "sample"]
DocumentList = list[Document]
VersionList = list[DocumentVersion]


class SavedFile(Protocol):
    """What the library gives back for a file that it was given."""

    @property
    def file(self) -> File: ...

    @property
    def duplicate(self) -> bool: ...


class DocumentLibrary(Protocol):
    """What documents need of the library, which is not below this package."""

    def add(
        self, scope: Scope, name: str, stream: BinaryIO, *, source: Source = ...
    ) -> SavedFile: ...


@dataclass(frozen=True)
class DocumentDraft:
    """A document that is to be made."""

    title: str
    kind: DocumentKind
    content: str
    document_type: str = "general"
    file_name: str = ""
    """Empty: made from the title."""


@dataclass(frozen=True)
class Export:
    """A document as it is downloaded."""

    name: str
    media_type: str
    data: bytes
    notes: tuple[str, ...] = ()
    """What this format could not take over."""


class DocumentService:
    """Documents of all chats. Safe to call from any number of threads."""

    def __init__(self, store: Store, pool: Pool, library: DocumentLibrary) -> None:
        self._db = store.db
        self._blobs = store.blobs
        self._pool = pool
        self._library = library

    # Writing

    def create(
        self, scope: Scope, chat_id: str, draft: DocumentDraft, change: VersionChange
    ) -> Document:
        """A new document in a chat. Raises InvalidInputError for an empty title or content,
        FileTooLargeError, NotFoundError."""
        if known := self.made_by(scope, change.key):
            return known
        title = naming.clean_title(draft.title)
        wanted = naming.file_name(
            draft.file_name or title, draft.kind, naming.language_of(draft.content)
        )
        content = naming.clean(draft.kind, draft.content)
        entry = self._keep(scope, wanted, content)
        name = wanted if entry.duplicate else entry.file.name
        new = NewDocument(
            chat_id, title, draft.kind, draft.document_type, name, naming.media_type(name)
        )
        return documents.create(self._db, scope, new, entry.file, change)

    def write(
        self, scope: Scope, document_id: str, content: str, change: VersionChange, *, base: int = 0
    ) -> Document:
        """A new version with this content; the same content changes nothing.

        `base` is the version it was made from. Raises ConflictError if that is not the newest any
        more, NotFoundError if the document was deleted meanwhile, InvalidInputError for an empty
        content.
        """
        if known := self.made_by(scope, change.key):
            return known
        document = self.get(scope, document_id)
        entry = self._keep(scope, document.file_name, naming.clean(document.kind, content))
        return documents.add_version(self._db, scope, document_id, entry.file, change, base=base)

    def edit(self, scope: Scope, document_id: str, blocks: str, change: VersionChange) -> Document:
        """Apply edit blocks, all or none. A change that comes in between is taken into account: the
        blocks must fit that text.

        Raises InvalidInputError for blocks that do not fit, NotFoundError.
        """
        if known := self.made_by(scope, change.key):
            return known
        parsed = edits.parse(blocks)
        for _ in range(3):
            document = self.get(scope, document_id)
            changed = edits.apply(self.content(scope, document), parsed)
            try:
                return self.write(scope, document_id, changed, change, base=document.version)
            except ConflictError as e:
                conflict = e
        raise conflict

    def made_by(self, scope: Scope, key: str) -> Document | None:
        """The document that the call with this key made or changed, if it did so before."""
        return documents.by_key(self._db, scope, key)

    # Finding and reading

    def list(
        self,
        scope: Scope,
        *,
        query: str = "",
        chat_id: str = "",
        deleted: bool = False,
        limit: int = 1_000,
    ) -> DocumentList:
        """Newest change first."""
        return documents.list_documents(
            self._db, scope, query=query, chat_id=chat_id, deleted=deleted, limit=limit
        )

    def get(self, scope: Scope, document_id: str, *, deleted: bool = False) -> Document:
        """Raises NotFoundError, which says so if the document was deleted."""
        return documents.get(self._db, scope, document_id, deleted=deleted)

    def of_file(self, scope: Scope, file_id: str, *, deleted: bool = False) -> DocumentList:
        """Documents whose newest version is this file."""
        return documents.of_file(self._db, scope, file_id, deleted=deleted)

    def content(self, scope: Scope, document: Document, number: int = 0) -> str:
        """The text of a version, or of the newest. Raises NotFoundError."""
        version = documents.version(self._db, scope, document.id, number or document.version)
        return self._local(document, version.sha256).read_text(encoding="utf-8")

    def versions(self, scope: Scope, document_id: str) -> VersionList:
        """Newest first. Raises NotFoundError."""
        return documents.versions(self._db, scope, document_id)

    def compare(self, scope: Scope, document: Document, older: int, newer: int) -> diff.Diff:
        """What differs between two versions; version 0 is the empty text before the first. Raises
        NotFoundError."""
        before = self.content(scope, document, older) if older else ""
        return diff.compare(before, self.content(scope, document, newer))

    # Versions, and away and back

    def restore_version(self, scope: Scope, document_id: str, number: int) -> Document:
        """Make an earlier version the newest again, as a version of its own. Raises
        NotFoundError."""
        document = self.get(scope, document_id)
        content = self.content(scope, document, number)
        return self.write(
            scope,
            document_id,
            content,
            VersionChange(f"restored version {number}"),
            base=document.version,
        )

    def delete(self, scope: Scope, document_id: str) -> Document:
        """Put it away; `restore` brings it back. Raises NotFoundError."""
        return documents.delete(self._db, scope, document_id)

    def restore(self, scope: Scope, document_id: str) -> Document:
        """Undo `delete`. Raises NotFoundError."""
        return documents.restore(self._db, scope, document_id)

    # Downloads

    def formats(self, document: Document) -> Sequence[Format]:
        """What it can be downloaded as, the usual one first."""
        ending = document.file_name.rpartition(".")[2]
        own = Format(ending, ending.upper(), document.media_type)
        return (own, *FORMATS[document.kind])

    def export(self, scope: Scope, document_id: str, ending: str, number: int = 0) -> Export:
        """A version as a file, in its own format without what would act where it is opened, or in
        another one, made on demand. Raises InvalidInputError for a format that its kind does not
        have."""
        document = self.get(scope, document_id, deleted=True)
        known = {format.ending: format for format in self.formats(document)}
        if ending not in known:
            raise InvalidInputError(
                f"'{document.title}' cannot be downloaded as '{ending}'.",
                f"Choose {', '.join(known)}.",
            )
        version = documents.version(self._db, scope, document_id, number or document.version)
        path = self._local(document, version.sha256)
        stem, _, own = document.file_name.rpartition(".")
        name = (
            f"{stem}{known[ending].tail}"
            if version.number == document.version
            else f"{stem}, version {version.number}{known[ending].tail}"
        )
        if ending == RAW_SHEET:
            return Export(name, known[ending].media_type, path.read_bytes())
        if ending == own:
            text = leaving(path.read_text(encoding="utf-8"), own)
            return Export(name, known[ending].media_type, text.encode())
        if own in naming.SHEET_ENDINGS:
            data, notes = self._converted(path, ending, document.title)
        else:
            text = path.read_text(encoding="utf-8")
            data, notes = self._typeset(text, document.title, ending)
        return Export(name, known[ending].media_type, data, notes)

    def typeset(self, text: str, title: str, ending: str, pictures: Sequence[bytes] = ()) -> bytes:
        """Markdown as `pdf` or `docx`, with PNGs for `picture:0` and on. What could not be shown is
        said at its end. Raises InvalidInputError, SandboxError."""
        return self._typeset(text, title, ending, pictures)[0]

    def _typeset(
        self, text: str, title: str, ending: str, pictures: Sequence[bytes] = ()
    ) -> tuple[bytes, tuple[str, ...]]:
        """The same, and what could not be shown."""
        with scratch("typeset") as folder:
            drawn = []
            for number, picture in enumerate(pictures):
                drawn.append(folder / f"{number}.png")
                drawn[-1].write_bytes(picture)
            source = folder / "text.md"
            source.write_text(text, encoding="utf-8")
            data, notes = self._converted(source, ending, title, drawn)
            if notes:
                footer = "".join(f"\n\n*{note}*" for note in notes)
                source.write_text(f"{text}\n\n---{footer}\n", encoding="utf-8")
                data, _ = self._converted(source, ending, title, drawn)
            return data, notes

    def _local(self, document: Document, sha256: str) -> Path:
        try:
            return self._blobs.local(document.workspace_id, sha256)
        except (BlobGoneError, StorageError) as e:
            raise about(e, f"'{document.title}'") from e

    def _converted(
        self, path: Path, ending: str, title: str, pictures: Sequence[Path] = ()
    ) -> tuple[bytes, tuple[str, ...]]:
        with scratch("export") as folder:
            drawn = {f"{number}.png": picture for number, picture in enumerate(pictures)}
            arguments = {
                "path": "in:text",
                "ending": ending,
                "title": title,
                "out": "out:",
                "pictures": [f"in:{name}" for name in drawn],
            }
            try:
                notes = self._pool.call(
                    "leaf.documents.child:convert",
                    arguments,
                    returns=tuple[str, ...],
                    inputs={"text": path, **drawn},
                    limits=EXPORT,
                    out=folder,
                    takes=rf"document\.{re.escape(ending)}",
                )
            except LeafError as e:
                raise type(e)(
                    f"The {ending.upper()} could not be made: {e.message}",
                    e.hint or "Download the text itself.",
                ) from e
            output = folder / f"document.{ending}"
            if not output.is_file():
                raise unreadable()
            return output.read_bytes(), tuple(note[:NOTE] for note in notes[:NOTES])

    def _keep(self, scope: Scope, name: str, content: str) -> SavedFile:
        return self._library.add(scope, name, BytesIO(content.encode()), source="generated")

"""Files: the library of a workspace. What is beside a question stands in `attached`, what is added
by jobs in `jobs`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from leaf.documents.export import leaving
from leaf.errors import NotFoundError
from leaf.files.library import Added, open_path
from leaf.files.members import OnMember
from leaf.files.sample import sample_files
from leaf.sessions.house import Part
from leaf.sessions.overviews import Overview, overview
from leaf.sessions.preview import BEGINNING, Preview, PreviewTarget, preview
from leaf.sessions.suggesting import Suggested, beginnings
from leaf.store import audit, file_contexts, files
from leaf.store.model import Chat, File
from leaf.tables.table import Table

FileList = list[File]
ChatList = list[Chat]
Suggestions = list[Suggested]


class Files(Part):
    """The library of the workspace."""

    def add(
        self,
        name: str,
        stream: BinaryIO,
        context: str = "",
        on_progress: Callable[[int], None] | None = None,
        *,
        folder: str = "",
        shared: bool = False,
        on_member: OnMember | None = None,
    ) -> Added:
        """Keep a file in the library, and what is in it, if it is an archive or a mail; the same
        content is kept once.

        `folder` is where it came from: it stands before its name. `context` is what the caller
        writes about it, for nobody else's eyes unless `shared`. Raises FileTooLargeError,
        StoreError.
        """
        return self._house.library.add(
            self._scope,
            name,
            stream,
            context=context,
            shared=shared,
            folder=folder,
            on_progress=on_progress,
            on_member=on_member,
        )

    def add_path(
        self, path: Path, context: str = "", folder: str = "", shared: bool = False
    ) -> Added:
        """`add` for a file on this machine."""
        with open_path(path) as stream:
            return self.add(path.name, stream, context, folder=folder, shared=shared)

    def add_sample(self) -> FileList:
        """Sample data to try Leaf with."""
        add = self._house.library.add
        return [
            add(
                self._scope,
                name,
                BytesIO(content),
                source="sample",
                context="Sample data",
                shared=True,
            ).file
            for name, content in sample_files().items()
        ]

    def list(self, query: str = "", sort: str = "newest") -> FileList:
        """The library. `sort`: newest, name, size or kind."""
        return self._house.library.list(self._scope, query=query, sort=sort)

    def get(self, file_id: str) -> File:
        """Raises NotFoundError."""
        return self._house.library.get(self._scope, file_id)

    def inside(self, file_id: str) -> FileList:
        """The files that came out of an archive or a mail, and out of those."""
        return self._house.library.inside(self._scope, file_id)

    def path(self, file_id: str) -> Path:
        """The content on disk, read-only."""
        return self._house.library.open(self._scope, file_id)

    def download(self, file_id: str, *, resumed: bool = False) -> Path:
        """The content as it came, for somebody who takes it along; `resumed` where that was written
        down when it began. Raises NotFoundError, for what Leaf has written, too: see `leaving`."""
        if self.get(file_id).source == "generated":
            raise NotFoundError("This file was not brought along.", "Download it as a document.")
        path = self.path(file_id)
        if not resumed:
            audit.note(self._db, self._scope, "file downloaded", file_id)
        return path

    def leaving(self, file_id: str) -> bytes:
        """What Leaf has written, for somebody who takes it along: as a document is downloaded.
        Raises NotFoundError for any other file."""
        file = self.get(file_id)
        if file.source != "generated":
            raise NotFoundError("This is nothing that was written here.", "Download it as a file.")
        text = self.path(file_id).read_text(encoding="utf-8")
        audit.note(self._db, self._scope, "file downloaded", file_id)
        return leaving(text, file.name.rpartition(".")[2].lower()).encode()

    def rename(self, file_id: str, name: str) -> File:
        """The chats that use it keep their table names."""
        return self._house.library.rename(self._scope, file_id, name)

    def words(self, file_id: str) -> tuple[str, bool]:
        """What the caller wrote about a file, and whether it is shared with the workspace."""
        return file_contexts.own(self._db, self._scope, file_id)

    def set_words(
        self, file_id: str, words: str, *, chat_id: str = "", shared: bool = False
    ) -> File:
        """Say something about a file, in place of what the caller said before.

        Others read it who take part in the chat, or if it is shared everybody in the workspace.
        Raises NotFoundError.
        """
        return files.set_context(
            self._db, self._scope, file_id, words, chat_id=chat_id, shared=shared
        )

    def delete(self, file_id: str) -> None:
        """`restore` undoes. Chats that use it say that it was deleted. What came out of it goes
        along."""
        documents = self._house.documents.of_file(self._scope, file_id)
        # The text of one may be that of another person's document as well, which keeps it.
        if not documents or self.get(file_id).source != "generated":
            self._house.library.delete(self._scope, file_id)
        for document in documents:
            self._house.documents.delete(self._scope, document.id)

    def restore(self, file_id: str) -> None:
        """Undo `delete`."""
        self._house.library.restore(self._scope, file_id)
        for document in self._house.documents.of_file(self._scope, file_id, deleted=True):
            self._house.documents.restore(self._scope, document.id)

    def deleted(self, limit: int = 50) -> FileList:
        """Files that were put away, newest first."""
        return files.list_files(self._db, self._scope, deleted=True, limit=limit)

    def purge(self, file_id: str) -> bool:
        """Delete a file for good, with what came out of it and all that was made of it. Chats keep
        what they said of it.

        Returns whether the last byte is gone now; else it goes at the next start. Raises
        NotFoundError, InvalidInputError for one who neither added it nor owns the workspace.
        """
        return self._house.remover.file(self._scope, file_id)

    def chats_using(self, file_id: str) -> ChatList:
        """Chats to which a file is attached."""
        return files.references(self._db, self._scope, file_id)

    def suggestions(self, files: Sequence[File]) -> Suggestions:
        """Three questions to begin with, each tried. Raises NotFoundError for a file of somebody
        else."""
        return beginnings(self._house, self._scope, [self.get(file.id) for file in files])

    # --- looking

    def overview(self, file_id: str) -> Overview:
        """What a file holds, in a few lines and one chart. Raises NotFoundError, StoreError."""
        return overview(self._house, self._scope, self.get(file_id))

    def preview(self, file_id: str, look: PreviewTarget = BEGINNING) -> Preview:
        """Rows of a table, a page with its picture, or text, at the place given, or where the quote
        stands.

        Raises FileError, NotFoundError, InvalidInputError for a place that the file does not have.
        """
        return preview(self._house, self._scope, self.get(file_id), look)

    def row_position(self, table: Table, row: int) -> int:
        """Where row `row` of a file stands among the rows that `preview` shows of one of its
        tables, from 0. Raises NotFoundError."""
        self.get(table.file_id)
        return self._house.tables.pages.position(self._scope, table, row)

    def thumbnail(self, file_id: str) -> tuple[bytes, int, int]:
        """A small picture of a picture or of a PDF's first page, its width and height in pixels.

        Raises NotFoundError, FileError, InvalidInputError for other files.
        """
        return self._house.library.pictures.thumbnail(self._scope, file_id)

    def seen_picture(self, sha256: str) -> bytes:
        """A picture that a model was shown of a file. Raises NotFoundError."""
        return self._house.library.pictures.seen(self._scope, sha256)[0]

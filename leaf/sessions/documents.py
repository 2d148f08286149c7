"""Documents: what is written in chats, looked up, edited by hand, downloaded. Idle pages notice
every change made here."""

from __future__ import annotations

from collections.abc import Sequence

from leaf.documents.diff import Diff
from leaf.documents.documents import Export
from leaf.documents.export import Format
from leaf.provenance.receipts.documents import of_version
from leaf.sessions.house import Part
from leaf.shapes.parts import ReceiptsData
from leaf.store import audit
from leaf.store.documents import VersionChange
from leaf.store.model import Document, DocumentVersion

DocumentList = list[Document]
VersionList = list[DocumentVersion]


class Documents(Part):
    """Documents of the user's chats."""

    def list(
        self, *, query: str = "", chat_id: str = "", deleted: bool = False, limit: int = 1_000
    ) -> DocumentList:
        """Newest change first."""
        return self._house.documents.list(
            self._scope, query=query, chat_id=chat_id, deleted=deleted, limit=limit
        )

    def get(self, document_id: str, *, deleted: bool = False) -> Document:
        """Raises NotFoundError, which says so if the document was deleted."""
        return self._house.documents.get(self._scope, document_id, deleted=deleted)

    def content(self, document: Document, number: int = 0) -> str:
        """The text of a version, or of the newest. Raises NotFoundError."""
        return self._house.documents.content(self._scope, document, number)

    def versions(self, document_id: str) -> VersionList:
        """Newest first. Raises NotFoundError."""
        return self._house.documents.versions(self._scope, document_id)

    def compare(self, document: Document, older: int, newer: int) -> Diff:
        """What differs between two versions; version 0 is the empty text before the first. Raises
        NotFoundError."""
        return self._house.documents.compare(self._scope, document, older, newer)

    def receipts(self, document_id: str, number: int = 0) -> ReceiptsData | None:
        """What the figures of a version (of the newest, for 0) rest on: {"figures", "with",
        "against", "receipts"}.

        None for code, and while the answer that writes it is not finished. Raises NotFoundError.
        """
        return of_version(
            self._house.store, self._house.documents, self._scope, document_id, number
        )

    def formats(self, document: Document) -> Sequence[Format]:
        """What it can be downloaded as, the usual one first."""
        return self._house.documents.formats(document)

    def export(self, document_id: str, ending: str, number: int = 0) -> Export:
        """A version in another format, made on demand. Raises InvalidInputError for a format that
        its kind does not have."""
        download = self._house.documents.export(self._scope, document_id, ending, number)
        audit.note(self._db, self._scope, "document downloaded", document_id)
        return download

    # --- changes

    def save(self, document_id: str, content: str, base: int) -> Document:
        """A version edited by hand, from version `base`. Raises ConflictError if that is not the
        newest any more."""
        saved = self._house.documents.write(
            self._scope, document_id, content, VersionChange("edited by hand"), base=base
        )
        return saved

    def restore_version(self, document_id: str, number: int) -> Document:
        """Make an earlier version the newest again; what was the newest stays as a version."""
        restored = self._house.documents.restore_version(self._scope, document_id, number)
        return restored

    def delete(self, document_id: str) -> None:
        """`restore` undoes."""
        self._house.documents.delete(self._scope, document_id)

    def restore(self, document_id: str) -> None:
        """Undo `delete`."""
        self._house.documents.restore(self._scope, document_id)

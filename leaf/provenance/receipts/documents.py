"""What the figures of a document rest on, kept with each of its versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from leaf.documents.documents import DocumentService
from leaf.errors import NotFoundError
from leaf.provenance.receipts.answer import of_document
from leaf.shapes.part_values import data_in
from leaf.shapes.parts import Part, ReceiptsData
from leaf.store import Store, messages
from leaf.store import documents as rows
from leaf.store.model import Message, Scope

Traced = Mapping[tuple[str, int], ReceiptsData]
"""Document and version -> what was found for its figures: `of_version`."""
NOTHING: ReceiptsData = {"figures": 0, "with": 0, "against": 0, "receipts": []}


def of_version(
    store: Store, documents: DocumentService, scope: Scope, document_id: str, number: int = 0
) -> ReceiptsData | None:
    """Each figure of a version (of the newest, for 0) with its receipt, as
    `receipts.answer.of_document` gives it.

    It is found once and kept: figures come from the answers that wrote this version and those
    before it, so what a person typed since then has none. None for code, and while the answer that
    writes it is not finished. Raises NotFoundError.
    """
    document = documents.get(scope, document_id, deleted=True)
    number = number or document.version
    if document.kind == "code":
        return None
    if record := rows.receipts(store.db, scope, document_id, number):
        return record
    made_by = _made_by(
        store,
        scope,
        [v.message_id for v in documents.versions(scope, document_id) if v.number <= number],
    )
    if made_by and made_by[0].status in ("pending", "streaming"):
        return None
    history: Sequence[Message] = ()
    if made_by:
        history = messages.history(store.db, scope, document.chat_id, made_by[0].parent_id)
    receipts = of_document(documents.content(scope, document, number), made_by, history) or NOTHING
    rows.keep_receipts(store.db, scope, document_id, number, receipts)
    return receipts


def of_messages(
    store: Store, documents: DocumentService, scope: Scope, told: Iterable[Message]
) -> Traced:
    """The same for every version that some answers wrote and that is still there."""
    by_version: dict[tuple[str, int], ReceiptsData] = {}
    for document_id, number in (
        version for message in told for version in written_by(message.parts)
    ):
        try:
            traced = of_version(store, documents, scope, document_id, number)
        except NotFoundError:
            continue
        if traced:
            by_version[document_id, number] = traced
    return by_version


def written_by(parts: Iterable[Part]) -> list[tuple[str, int]]:
    """The versions of documents that an answer wrote."""
    cards = [card for part in parts if (card := data_in(part, "document"))]
    return [(card["documentId"], card["version"]) for card in cards if card.get("state") == "done"]


def _made_by(store: Store, scope: Scope, ids: Sequence[str]) -> list[Message]:
    answers = []
    for message_id in dict.fromkeys(filter(None, ids)):
        try:
            answers.append(messages.get(store.db, scope, message_id))
        except NotFoundError:
            continue
    return answers

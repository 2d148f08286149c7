"""Chats: the list, one with its branch and its people, away and back, exports."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from leaf import __version__
from leaf.provenance.receipts.documents import of_messages
from leaf.sessions import drawing
from leaf.sessions.house import Part
from leaf.store import audit, chat_files, chats, found, messages, participants
from leaf.store.found import FoundPassage
from leaf.store.model import Chat, Participant, Thread

if TYPE_CHECKING:
    from leaf.exports.bundle import BundledChat

ChatForm = Literal["pdf", "docx", "markdown", "notebook", "folder"]
ChatList = list[Chat]
People = list[Participant]
MESSAGES_DRAWN = 30
WHOLE = 1_000_000
"""More messages than a chat has."""


class Chats(Part):
    """The user's chats, and those in which they take part."""

    def list(self, query: str = "", limit: int = 50) -> ChatList:
        """Newest first; with `query`, those whose title or messages hold it."""
        return chats.list_chats(self._db, self._scope, query=query, limit=limit)

    def passages(self, chat_ids: Sequence[str], query: str) -> dict[str, FoundPassage]:
        """Chat id -> what is said around the words of a search, in chats whose messages hold
        them."""
        return found.passages(self._db, self._scope, chat_ids, query)

    def drafts(self, chat_ids: Sequence[str]) -> dict[str, str]:
        """Chat id -> the name of the first file that waits there for a question, of those chats that
        have one."""
        return chat_files.waiting_names(self._db, self._scope, chat_ids) if chat_ids else {}

    def find(self, chat_id: str, query: str) -> str:
        """The newest message that is shown of a chat and holds most of these words; empty if none
        holds any. Raises NotFoundError."""
        return messages.find(self._db, self._scope, chat_id, query)

    def create(self, model: str = "") -> Chat:
        """An empty chat."""
        return chats.create(self._db, self._scope, model=model)

    def get(self, chat_id: str) -> Chat:
        """Raises NotFoundError, also for a chat of somebody else."""
        return chats.get(self._db, self._scope, chat_id)

    def rename(self, chat_id: str, title: str) -> None:
        """Raises InvalidInputError for an empty title."""
        chats.rename(self._db, self._scope, chat_id, title)

    def delete(self, chat_id: str) -> None:
        """Stops its running and waiting answers; `restore` undoes."""
        unfinished = messages.unfinished(self._db, self._scope, chat_id)
        chats.delete(self._db, self._scope, chat_id)
        self._house.stop_all(unfinished)

    def deleted(self, limit: int = 50) -> ChatList:
        """Chats that were put away, newest activity first."""
        return chats.list_chats(self._db, self._scope, deleted=True, limit=limit)

    def purge(self, chat_id: str) -> bool:
        """Delete a chat for good, with all that was written, made and drawn in it. Files stay in
        the library.

        Returns whether the last byte is gone now; else it goes at the next start. Raises
        NotFoundError, InvalidInputError for one who only takes part.
        """
        return self._house.remover.chat(self._scope, chat_id)

    def restore(self, chat_id: str) -> None:
        """Undo `delete`."""
        chats.restore(self._db, self._scope, chat_id)

    def set_model(self, chat_id: str, model: str) -> None:
        """Model for the chat's next questions; empty for the default."""
        chats.set_model(self._db, self._scope, chat_id, model)

    def thread(self, chat_id: str, last: int = MESSAGES_DRAWN, first: str = "") -> Thread:
        """The newest messages of the branch that is shown; more than `last` where it has the
        message `first` before them."""
        return messages.thread(self._db, self._scope, chat_id, last=last, first=first)

    def running(self) -> frozenset[str]:
        """Ids of the user's chats in which an answer is being written just now, or a question
        waits."""
        running = self._house.runs.running_chats(self._scope.workspace_id)
        return chats.unfinished_among(self._db, self._scope, running) if running else running

    # --- who takes part

    def participants(self, chat_id: str) -> People:
        """The host first."""
        return participants.list_participants(self._db, self._scope, chat_id)

    def authors(self, chat_id: str) -> dict[str, str]:
        """User id -> name of everybody who asked in a chat."""
        return participants.authors(self._db, self._scope, chat_id)

    def add_participant(self, chat_id: str, email: str) -> None:
        """Bring a member of the workspace into a chat. Raises NotFoundError."""
        participants.add(self._db, self._scope, chat_id, email)

    def remove_participant(self, chat_id: str, user_id: str) -> None:
        """Take somebody out (for the host), or leave. Raises InvalidInputError where nobody would
        be left."""
        self._house.stop_all(participants.remove(self._db, self._scope, chat_id, user_id))

    # --- exports

    def markdown(self, chat_id: str) -> str:
        """The shown branch of a chat, from its first question."""
        text = self._markdown(chat_id)
        audit.note(self._db, self._scope, "chat exported", chat_id)
        return text

    def _markdown(self, chat_id: str) -> str:
        from leaf.agent.export import chat_markdown

        thread = self.thread(chat_id, last=WHOLE)
        traced = of_messages(self._house.store, self._house.documents, self._scope, thread.messages)
        return chat_markdown(self.get(chat_id).title, thread.messages, traced)

    def export(self, chat_id: str, form: ChatForm, into: Path) -> Path:
        """The shown branch, as a file that is made in the folder `into`: as PDF or Word with its
        charts, as Markdown, as a notebook, or as a folder (ZIP) that `python -m leaf replay`
        computes again. Raises InvalidInputError for one that is too long for a form."""
        self.get(chat_id)
        audit.note(self._db, self._scope, "chat exported", chat_id)
        target = into / "chat"
        if form == "folder":
            self._pack(chat_id, target)
        elif form == "markdown":
            target.write_text(self._markdown(chat_id), encoding="utf-8")
        elif form == "notebook":
            from leaf.exports.bundle import manifest_of
            from leaf.exports.notebook import notebook

            target.write_text(notebook(manifest_of(self._told(chat_id))), encoding="utf-8")
        else:
            target.write_bytes(self._typeset(chat_id, form))
        return target

    def _pack(self, chat_id: str, target: Path) -> None:
        from leaf.exports.bundle import bundle

        written, told = self._house.library.written, self._told(chat_id)
        with target.open("wb") as file:
            bundle(told, file, lambda sha256, name: written(self._scope, chat_id, sha256, name))

    def _typeset(self, chat_id: str, ending: str) -> bytes:
        from leaf.agent.export import chat_document

        house, title = self._house, self.get(chat_id).title
        thread = self.thread(chat_id, last=WHOLE)
        traced = of_messages(house.store, house.documents, self._scope, thread.messages)
        draw = partial(drawing.picture, house, self._scope, chat_id)
        document = chat_document(title, thread.messages, draw, traced)
        return house.documents.typeset(document.text, title, ending, document.pictures)

    def _told(self, chat_id: str) -> BundledChat:
        """All that an export tells of a chat: what was said, the files and tables behind it, what
        figures rest on."""
        from leaf.exports.bundle import BundledChat, used_files

        house, chat, thread = self._house, self.get(chat_id), self.thread(chat_id, last=WHOLE)
        there = house.library.chat_files(self._scope, chat_id, deleted=True)
        used = used_files(thread.messages)
        named = house.tables.of(
            self._scope, [c for c in there if c.file.id in used and c.file.deleted_at is None]
        ).tables
        tables = {c.file.id: [t for t in named if t.file_id == c.file.id] for c in there}
        traced = of_messages(house.store, house.documents, self._scope, thread.messages)
        return BundledChat(
            chat.title, thread.messages, there, tables, __version__, datetime.now(UTC), traced
        )

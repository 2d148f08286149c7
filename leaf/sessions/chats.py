"""Chats: the list, one with its branch and its people, away and back, exports."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from leaf import __version__
from leaf.agent.export import chat_markdown
from leaf.agent.receipts.documents import of_messages
from leaf.exports.bundle import Told, bundle, manifest_of, used_files
from leaf.exports.notebook import notebook
from leaf.sessions.house import Part
from leaf.store import chats, messages, participants
from leaf.store.model import Chat, Participant, Thread

ChatForm = Literal["markdown", "notebook", "folder"]
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

    def restore(self, chat_id: str) -> None:
        """Undo `delete`."""
        chats.restore(self._db, self._scope, chat_id)

    def set_model(self, chat_id: str, model: str) -> None:
        """Model for the chat's next questions; empty for the default."""
        chats.set_model(self._db, self._scope, chat_id, model)

    def thread(self, chat_id: str, last: int = MESSAGES_DRAWN) -> Thread:
        """The newest messages of the branch that is shown."""
        return messages.thread(self._db, self._scope, chat_id, last=last)

    def running(self) -> frozenset[str]:
        """Ids of the workspace's chats in which an answer is being written just now. Reads no store."""
        return self._house.runs.running_chats(self._scope.workspace_id)

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
        """Take somebody out (for the host), or leave. Raises InvalidInputError where nobody would be left."""
        self._house.stop_all(participants.remove(self._db, self._scope, chat_id, user_id))

    # --- exports

    def markdown(self, chat_id: str) -> str:
        """The shown branch of a chat, from its first question."""
        thread = self.thread(chat_id, last=WHOLE)
        traced = of_messages(self._house.store, self._house.documents, self._scope, thread.messages)
        return chat_markdown(self.get(chat_id).title, thread.messages, traced)

    def export(self, chat_id: str, form: ChatForm) -> bytes:
        """The shown branch as Markdown, as a notebook, or as a folder (ZIP) that `python -m leaf replay` computes again."""
        if form == "markdown":
            return self.markdown(chat_id).encode()
        told = self._told(chat_id)
        if form == "notebook":
            return notebook(manifest_of(told)).encode()
        return bundle(told, lambda sha256, name: self._house.library.written(self._scope, chat_id, sha256, name))

    def _told(self, chat_id: str) -> Told:
        """All that an export tells of a chat: what was said, the files and tables behind it, what figures rest on."""
        house, chat, thread = self._house, self.get(chat_id), self.thread(chat_id, last=WHOLE)
        there = house.library.chat_files(self._scope, chat_id, deleted=True)
        used = used_files(thread.messages)
        named = house.tables.of(self._scope, [c for c in there if c.file.id in used and c.file.deleted_at is None]).tables
        tables = {c.file.id: [t for t in named if t.file_id == c.file.id] for c in there}
        traced = of_messages(house.store, house.documents, self._scope, thread.messages)
        return Told(chat.title, thread.messages, there, tables, __version__, datetime.now(UTC), traced)

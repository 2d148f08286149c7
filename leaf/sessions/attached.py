"""The files of a chat: those beside its next question, and those that came with earlier ones."""

from __future__ import annotations

from collections.abc import Sequence

from leaf.agent.attached import AttachedEstimate, estimate_attached
from leaf.readers.base import KINDS
from leaf.sessions.asking import PICTURE_TOKENS
from leaf.sessions.house import Part
from leaf.store import chats
from leaf.store.model import ChatFile

ChatFiles = list[ChatFile]


class Attached(Part):
    """Files in the user's chats."""

    def list(self, chat_id: str) -> ChatFiles:
        """Files of a chat, in the order in which they came."""
        return self._house.library.chat_files(self._scope, chat_id)

    def add(self, chat_id: str, file_ids: Sequence[str]) -> ChatFiles:
        """Put files of the library beside the next question of a chat."""
        return self._house.library.attach(self._scope, chat_id, file_ids)

    def add_as(self, chat_id: str, file_id: str, handle: str, slug: str) -> ChatFile:
        """Put a file into a chat under the handle and the table name that it has elsewhere. Raises
        InvalidInputError."""
        return self._house.library.attach_as(self._scope, chat_id, file_id, handle, slug)

    def remove(self, chat_id: str, file_id: str) -> None:
        """Take a waiting file away again; files that came with a question stay."""
        self._house.library.detach(self._scope, chat_id, file_id)

    def estimate(self, chat_id: str, model: str = "") -> AttachedEstimate:
        """Tokens and money of the files that wait beside the next question. Asks no server."""
        connected = self._house.connections.of(self._scope)
        settings, calibration = connected.settings, connected.endpoint.calibration
        waiting = [c for c in self.list(chat_id) if not c.message_id]
        model = model or connected.directory.meant(chats.get(self._db, self._scope, chat_id).model)
        tables = frozenset(
            c.file.id for c in waiting if c.file.kind in KINDS and KINDS[c.file.kind].tabular
        )
        window = connected.endpoint.window_for(model)
        limit = min(settings.file_tokens, int(window * settings.context_share))
        seen = PICTURE_TOKENS if settings.sees(model) else 0
        return estimate_attached(
            waiting,
            tables,
            model,
            calibration.rates(model),
            limit,
            calibration.requests(model),
            seen,
        )

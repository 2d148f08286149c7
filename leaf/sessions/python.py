"""What Python drew and wrote in a chat."""

from __future__ import annotations

from pathlib import Path

from leaf.sessions.house import Part
from leaf.store import audit, chats
from leaf.store.model import File


class Python(Part):
    """What code of the user's chats left behind."""

    def figure(self, chat_id: str, sha256: str) -> bytes:
        """A figure that Python drew in this chat, as PNG. Raises NotFoundError."""
        chats.get(self._db, self._scope, chat_id)
        return self._house.library.pictures.figure(self._scope, chat_id, sha256)

    def written(self, chat_id: str, sha256: str, name: str) -> Path:
        """Where the bytes of a file are that Python wrote in this chat. Raises NotFoundError."""
        return self._house.library.written(self._scope, chat_id, sha256, name)

    def download(self, chat_id: str, sha256: str, name: str, *, resumed: bool = False) -> Path:
        """The content of a file that Python wrote, for somebody who takes it along; `resumed` where
        that was written down when it began. Raises NotFoundError."""
        path = self.written(chat_id, sha256, name)
        if not resumed:
            audit.note(self._db, self._scope, "written file downloaded", f"{chat_id} {sha256}")
        return path

    def keep(self, chat_id: str, sha256: str, name: str) -> File:
        """Put a file that Python wrote into the library and into its chat.

        Raises NotFoundError, FileTooLargeError, StoreError.
        """
        library = self._house.library
        with self.written(chat_id, sha256, name).open("rb") as stream:
            file = library.add(self._scope, name, stream).file
        library.attach(self._scope, chat_id, [file.id])
        return file

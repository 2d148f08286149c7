"""Links: a chat's own address for members, and public links, by which anyone reads a snapshot."""

from __future__ import annotations

import io
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from leaf.errors import InvalidInputError, LeafError
from leaf.sessions import drawing
from leaf.sessions.boards import Boards
from leaf.sessions.house import Part
from leaf.store import chats, links, messages, participants, users
from leaf.store.links import LinkDraft, SharedLink

TOKEN_BYTES = 32
LARGEST = 12 * 1024**2
"""Bytes of a snapshot."""
WHOLE = 1_000_000
"""More messages than a chat has."""


@dataclass(frozen=True)
class LinkMade:
    """A public link in the one moment in which its address is known."""

    link: SharedLink
    token: str


class _Snapshot(NamedTuple):
    page: bytes
    chats: Sequence[str]
    """Those of which something stands in it."""


class Links(Part):
    """What the user shares by a link."""

    def allowed(self) -> bool:
        """Whether whoever runs Leaf allows public links."""
        return self._house.settings.public_links

    def of_chat(self, chat_id: str) -> list[SharedLink]:
        """The public links of a chat, newest first. Raises NotFoundError."""
        return links.of_chat(self._db, self._scope, chat_id)

    def of_board(self, board_id: str) -> list[SharedLink]:
        """Those of an own board. Raises NotFoundError."""
        return links.of_board(self._db, self._scope, board_id)

    def all(self) -> list[SharedLink]:
        """Those of the workspace. For owners. Raises InvalidInputError."""
        return links.of_workspace(self._db, self._scope)

    def share_chat(self, chat_id: str, days: int = 0) -> LinkMade:
        """Let anyone who has a link read the chat as it stands now, for so many days; 0 is without
        an end. For the chat's host. Raises NotFoundError, InvalidInputError where public links are
        not allowed, and for a chat that is too large."""
        snapshot = self._of_chat(chat_id)
        return self._make(snapshot, days, chat_id=chat_id)

    def share_board(self, board_id: str, days: int = 0) -> LinkMade:
        """The same for an own board."""
        snapshot = self._of_board(board_id)
        return self._make(snapshot, days, board_id=board_id)

    def update(self, link_id: str) -> SharedLink:
        """Have an own link show its chat or board as it stands now. Raises NotFoundError,
        InvalidInputError."""
        link = links.get(self._db, self._scope, link_id)
        links.check_may_renew(link)
        snapshot = self._of_chat(link.chat_id) if link.chat_id else self._of_board(link.board_id)
        sha256 = self._keep(snapshot.page)
        try:
            self._house.remover.renew_link(self._scope, link_id, sha256, snapshot.chats)
        except LeafError:
            self._house.remover.let_go_of(self._scope.workspace_id, sha256)
            raise
        return links.get(self._db, self._scope, link_id)

    def revoke(self, link_id: str) -> bool:
        """End a link at once: one's own, one of a chat in which one takes part, as an owner any of
        the workspace. Returns whether the last byte is gone now; else it goes at the next start.
        Raises NotFoundError."""
        return self._house.remover.link(self._scope, link_id)

    # --- members

    def is_open(self, chat_id: str) -> bool:
        """Whether members who open the chat's address may join. Raises NotFoundError."""
        return links.is_open(self._db, self._scope, chat_id)

    def set_open(self, chat_id: str, shared: bool) -> None:
        """Let them, or not any more. Raises NotFoundError."""
        links.set_open(self._db, self._scope, chat_id, shared)

    def host_of(self, chat_id: str) -> str:
        """Who shares a chat that the user may join; empty for every other chat."""
        return links.host_of_open(self._db, self._scope, chat_id)

    def join(self, chat_id: str) -> None:
        """Take part in a chat that is open to members. Raises NotFoundError."""
        links.join(self._db, self._scope, chat_id)

    # --- what is shown

    def _of_chat(self, chat_id: str) -> _Snapshot:
        from leaf.exports.shared import ChatShown, chat_page

        self._check_may(chat_id=chat_id)
        title = chats.get(self._db, self._scope, chat_id).title
        thread = messages.thread(self._db, self._scope, chat_id, last=WHOLE)
        if not thread.messages:
            raise InvalidInputError("Nothing was asked in this chat.", "Ask something first.")
        # The one user of a Leaf without sign-in is called “You”, which says nothing to a reader.
        alone = users.is_local(self._db, self._scope)
        askers = {} if alone else participants.authors(self._db, self._scope, chat_id)
        told = ChatShown(title, thread.messages, askers, datetime.now(UTC))
        drawn = partial(drawing.picture, self._house, self._scope, chat_id)
        return _Snapshot(_fitting(chat_page(told, drawn)), [chat_id])

    def _of_board(self, board_id: str) -> _Snapshot:
        from leaf.exports.boards import html_page
        from leaf.exports.shared import HEAD

        self._check_may(board_id=board_id)
        own = Boards(self._house, self._scope)
        board, shown = own.get(board_id), own.pins(board_id)
        told = drawing.pins_told(self._house, shown)
        page = html_page(board.name, told, datetime.now(UTC), HEAD)
        return _Snapshot(_fitting(page), [one.pin.chat_id for one in shown if one.pin.content])

    def _check_may(self, chat_id: str = "", board_id: str = "") -> None:
        """Raises NotFoundError, InvalidInputError."""
        with self._db.transaction(self._scope) as tx:
            links.check_may_share(tx, self._scope, chat_id, board_id)
        if not self.allowed():
            raise InvalidInputError(
                "Public links are not allowed here.",
                "Whoever runs Leaf can allow them with LEAF_PUBLIC_LINKS=on.",
            )

    def _make(
        self, snapshot: _Snapshot, days: int, chat_id: str = "", board_id: str = ""
    ) -> LinkMade:
        if days < 0:
            raise InvalidInputError("A link lasts for some days, or without an end.")
        token, sha256 = secrets.token_urlsafe(TOKEN_BYTES), self._keep(snapshot.page)
        lasts = timedelta(days=min(days, 3650)) if days else None
        draft = LinkDraft(token, sha256, snapshot.chats, chat_id, board_id, lasts)
        try:
            return LinkMade(links.add(self._db, self._scope, draft), token)
        except LeafError:
            self._house.remover.let_go_of(self._scope.workspace_id, sha256)
            raise

    def _keep(self, page: bytes) -> str:
        put = self._house.store.blobs.put
        return put(self._scope.workspace_id, io.BytesIO(page), LARGEST).sha256


def _fitting(page: str) -> bytes:
    body = page.encode("utf-8", "replace")
    if len(body) > LARGEST:
        raise InvalidInputError(
            f"This is more than {LARGEST // 1024**2} MB as one page, which is as much as a link shows.",
            "Share a shorter chat, or a board of what matters.",
        )
    return body

"""Boards: results and charts pinned beside one another, computed again when asked, exported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from leaf.errors import InvalidInputError, LeafError, NotFoundError, ResultGoneError
from leaf.sessions import drawing, pinning
from leaf.sessions.house import Part
from leaf.sessions.pinning import ResultPinned
from leaf.sessions.results import Results
from leaf.shapes.pins import PinOutcome
from leaf.store import audit, boards, chats, newer_files
from leaf.store.boards import MOST_PINS, Board, Pin
from leaf.tables.again import Recomputed

BoardForm = Literal["html", "pdf", "docx"]
BoardList = list[Board]


@dataclass(frozen=True)
class PinShown:
    """A pin, and how it stands with what it rests on."""

    pin: Pin
    stale: Sequence[str] = ()
    """What changed of its files since it was computed, a sentence each."""
    gone: str = ""
    """Why its rows are not there any more; asked for whose board it is."""


class Boards(Part):
    """The user's boards, and those that others share with the workspace."""

    def list(self) -> BoardList:
        """The user's own first, oldest first."""
        return boards.list_boards(self._db, self._scope)

    def get(self, board_id: str) -> Board:
        """Raises NotFoundError, also for a board of somebody else that is not shared."""
        return boards.get(self._db, self._scope, board_id)

    def pins(self, board_id: str, offset: int = 0, limit: int = MOST_PINS) -> Sequence[PinShown]:
        """From top to bottom. Raises NotFoundError."""
        self.get(board_id)
        board_pins = boards.pins(self._db, self._scope, board_id, offset=offset, limit=limit)
        used = pinning.file_ids(pin.content for pin in board_pins)
        files = boards.source_files(self._db, self._scope, used)
        newer = newer_files.newer(self._db, self._scope, used)
        return [
            PinShown(
                pin,
                pinning.stale(pin.content, files, newer) if pin.content else (),
                self._gone(pin),
            )
            for pin in board_pins
        ]

    def create(self, name: str) -> Board:
        """Raises InvalidInputError for an empty name."""
        return boards.create(self._db, self._scope, name)

    def rename(self, board_id: str, name: str) -> None:
        """Raises NotFoundError, InvalidInputError for an empty name."""
        boards.rename(self._db, self._scope, board_id, name)

    def share(self, board_id: str, shared: bool) -> None:
        """Let all members of the workspace see what is pinned, or nobody else. Raises
        NotFoundError."""
        boards.share(self._db, self._scope, board_id, shared)

    def delete(self, board_id: str) -> None:
        """With its pins and public links; what was pinned stays in its chats. Raises
        NotFoundError."""
        self._house.remover.board(self._scope, board_id)

    # --- pins

    def pin(
        self,
        chat_id: str,
        result_id: str,
        spec: Mapping[str, object] | None = None,
        board_id: str = "",
    ) -> tuple[Pin, Board, bool]:
        """Pin a result as a table, or as the chart of a spec, at the end of a board; without
        `board_id` of the oldest, which is made if there is none. Also the board, and whether it was
        not there already.

        Raises NotFoundError, ResultGoneError, InvalidInputError.
        """
        chats.get(self._db, self._scope, chat_id)
        draft = pinning.draft(self._house, self._scope, ResultPinned(chat_id, result_id, spec))
        new_pin, new = boards.add(self._db, self._scope, board_id, draft)
        return new_pin, self.get(new_pin.board_id), new

    def rename_pin(self, pin_id: str, title: str) -> None:
        """Raises NotFoundError, InvalidInputError for an empty title."""
        boards.rename_pin(self._db, self._scope, pin_id, title)

    def move(self, pin_id: str, steps: int) -> None:
        """So many places down, or up for a negative number. Raises NotFoundError."""
        boards.move(self._db, self._scope, pin_id, steps)

    def remove(self, pin_id: str) -> None:
        """Take it off its board; `restore` undoes. Raises NotFoundError."""
        boards.remove(self._db, self._scope, pin_id)

    def restore(self, pin_id: str) -> None:
        """Undo `remove`. Raises NotFoundError, InvalidInputError for a full board."""
        boards.restore(self._db, self._scope, pin_id)

    def recompute(self, pin_id: str) -> Pin:
        """Run what made a pinned result again, over the files as they are now; where that gives
        something else, the pin shows it and what was there before. What went wrong is its outcome,
        too. Raises NotFoundError."""
        pin = boards.own_pin(self._db, self._scope, pin_id)
        if pin.content is None:
            raise NotFoundError(
                "The chat of this pin is not there.", "Restore it, or remove the pin."
            )
        draft = None
        try:
            results = Results(self._house, self._scope)
            rerun = results.recompute_newest(pin.chat_id, pin.result)
            if rerun.outcome == "same" or rerun.kept_as:
                spec = pin.content.get("spec")
                asked = ResultPinned(pin.chat_id, rerun.kept_as or pin.result, spec)
                draft = pinning.draft(self._house, self._scope, asked, newest=True)
        except LeafError as e:
            rerun = Recomputed("gone", f"It could not be computed again. {e}")
        told = _outcome(rerun, failed=draft is None)
        earlier = pin.content if draft and rerun.outcome == "different" else None
        return boards.computed(self._db, self._scope, pin, told, draft, earlier)

    # --- exports

    def export(self, board_id: str, form: BoardForm) -> bytes:
        """The board with the receipt of each pin: as one HTML file that fetches nothing, as PDF, or
        as Word. Raises NotFoundError, InvalidInputError."""
        from leaf.exports import boards as telling

        board, shown = self.get(board_id), self.pins(board_id)
        audit.note(self._db, self._scope, "board exported", board_id)
        told = drawing.pins_told(self._house, shown)
        if form == "html":
            return telling.html_page(board.name, told, datetime.now(UTC)).encode()
        if form not in ("pdf", "docx"):
            raise InvalidInputError(
                f"A board cannot be exported as '{form}'.", "Choose html, pdf or docx."
            )
        document = telling.document(board.name, told, datetime.now(UTC))
        return self._house.documents.typeset(document.text, board.name, form, document.pictures)

    def _gone(self, pin: Pin) -> str:
        """Why the whole rows of an own pin are not there, or are not those that were pinned."""
        if not pin.own or pin.content is None:
            return ""
        scope, results = self._scope, self._house.tables.results
        try:
            one = results.get(scope, pin.chat_id, pin.result)
            results.rows_of(scope, one)
        except (ResultGoneError, NotFoundError) as gone:
            return gone.message
        if one.row.sha256 != pin.sha256:
            return f"The rows of {pin.result} are not those that were pinned."
        return ""


def _outcome(rerun: Recomputed, *, failed: bool) -> PinOutcome:
    return {
        "outcome": "failed" if failed else rerun.outcome,
        "text": rerun.text,
        "cells": [list(cell) for cell in rerun.cells],
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }

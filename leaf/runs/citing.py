"""The desk of a run: which files an answer's citations speak of, and whether the cited words stand
in them."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Sequence

from leaf.agent.cited import Citation, Verdict
from leaf.errors import LeafError
from leaf.files.library import Library
from leaf.readers.locate.locate import Sought
from leaf.store.model import ChatFile, Scope

MOST = 200
"""Citations of one answer that are looked up."""
_log = logging.getLogger(__name__)


class FileCitationResolver:
    """Meets `agent.cited.CitationResolver` for one chat; sees the files as they are when it is asked."""

    def __init__(self, library: Library, scope: Scope, chat_id: str, stop: threading.Event) -> None:
        self._library = library
        self._scope = scope
        self._chat_id = chat_id
        self._stop = stop

    def name(self, handle: str) -> tuple[str, str] | None:
        """Id and name of a file of the chat, also of one that was deleted meanwhile."""
        chat_file = self._files().get(handle)
        return (chat_file.file.id, chat_file.file.name) if chat_file else None

    def check(self, citations: Sequence[Citation]) -> list[Verdict]:
        """A verdict for each; one reading of a file serves all that cite it."""
        files = self._files()
        by_handle: defaultdict[str, list[int]] = defaultdict(list)
        for index, citation in enumerate(citations[:MOST]):
            by_handle[citation.handle].append(index)
        verdicts = [_not_verified("more citations than are looked up") for _ in citations]
        for handle, indexes in by_handle.items():
            asked = [(citations[i].place, citations[i].quote) for i in indexes]
            for i, verdict in zip(
                indexes, self._look(files.get(handle), handle, asked), strict=True
            ):
                verdicts[i] = verdict
        return verdicts

    def _look(
        self, chat_file: ChatFile | None, handle: str, asked: Sequence[tuple[str, str]]
    ) -> list[Verdict]:
        if chat_file is None:
            return [_not_verified(f"there is no file {handle} in this chat") for _ in asked]
        if chat_file.file.deleted_at is not None:
            return [_not_verified("the file was deleted") for _ in asked]
        try:
            return [
                _verdict(sought)
                for sought in self._library.texts.locate_all(
                    self._scope, chat_file.file, asked, self._stop
                )
            ]
        except LeafError as e:
            _log.info("citations of a file could not be checked: %s", type(e).__name__)
            return [_not_verified("the file could not be searched") for _ in asked]

    def _files(self) -> dict[str, ChatFile]:
        return {
            c.handle: c for c in self._library.chat_files(self._scope, self._chat_id, deleted=True)
        }


def _verdict(sought: Sought) -> Verdict:
    if sought.found is None:
        return _not_verified(sought.why)
    return Verdict(True, sought.found.place, moved=sought.found.moved)


def _not_verified(problem: str) -> Verdict:
    return Verdict(False, problem=problem)

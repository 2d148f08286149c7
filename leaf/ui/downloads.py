"""A download that is pressed in the moment in which its page is drawn anew.

Each drawing gives a button another number, and Streamlit forgets the number before it at once, and
a file that was made for a press as soon as two drawings have passed. Whoever pressed meanwhile, or
whose browser was on its way to the file, got nothing and no word about it. So both are kept for a
while after the page has let go of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from weakref import WeakKeyDictionary

from streamlit.runtime.media_file_manager import MediaFileManager, MediaFileMetadata
from streamlit.runtime.media_file_storage import MediaFileKind

KEPT = 60.0
"""Seconds: longer than a slow browser takes to ask for what was pressed, short enough for files of
hundreds of megabytes."""

Clock = Callable[[], float]
_let_go: WeakKeyDictionary[MediaFileManager, dict[str, float]] = WeakKeyDictionary()
"""Numbers of buttons -> when no page had them any more. Used under the manager's lock."""
_dropped: WeakKeyDictionary[MediaFileMetadata, float] = WeakKeyDictionary()
"""Made files -> when Streamlit would have deleted them."""


def keep_downloads(clock: Clock = time.monotonic) -> None:
    """From here on, in this process. tests/test_downloads.py names what is not public here."""
    delete = _plain_delete()

    def forget_buttons(self: MediaFileManager) -> None:
        _forget_buttons(self, clock())

    def delete_file(self: MediaFileManager, file_id: str) -> None:
        if _may_go(self._file_metadata[file_id], clock()):
            delete(self, file_id)

    delete_file.plain = delete  # type: ignore[attr-defined]
    MediaFileManager._remove_orphaned_deferred_callables = forget_buttons  # type: ignore[method-assign]  # noqa: SLF001
    MediaFileManager._delete_file = delete_file  # type: ignore[method-assign]  # noqa: SLF001


def _plain_delete() -> Callable[[MediaFileManager, str], None]:
    """Streamlit's own, also where ours stands in its place already."""
    found = MediaFileManager._delete_file  # noqa: SLF001
    return getattr(found, "plain", found)


def _forget_buttons(manager: MediaFileManager, now: float) -> None:
    shown = {
        file_id
        for files in manager._files_by_session_and_coord.values()  # noqa: SLF001
        for file_id in files.values()
    }
    since = _let_go.setdefault(manager, {})
    for file_id in list(manager._deferred_callables):  # noqa: SLF001
        if file_id not in shown and now - since.setdefault(file_id, now) >= KEPT:
            manager._drop_deferred_id(file_id)  # noqa: SLF001
    for file_id in since.keys() - manager._deferred_callables.keys():  # noqa: SLF001
        del since[file_id]


def _may_go(file: MediaFileMetadata, now: float) -> bool:
    """Pictures at once, downloads after a while."""
    return file.kind != MediaFileKind.DOWNLOADABLE or now - _dropped.setdefault(file, now) >= KEPT

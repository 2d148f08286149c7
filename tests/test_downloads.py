"""A download that was pressed while its page was drawn anew comes, and what nobody can press any
more is forgotten. What `leaf/ui/downloads.py` takes of Streamlit beneath its public names is
there."""

from __future__ import annotations

import inspect

import pytest
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from leaf.ui.downloads import KEPT, keep_downloads

NAMES = ("_remove_orphaned_deferred_callables", "_delete_file")


class Pages:
    """Streamlit's own manager, as a session uses it while its script is drawn again and again."""

    def __init__(self) -> None:
        self.manager = MediaFileManager(MemoryMediaFileStorage("/media"))
        self.now = 0.0

    def draw(self, *buttons: str) -> dict[str, str]:
        """One drawing with these buttons; what each stands for."""
        self.manager.clear_session_refs("one")
        numbers = {
            name: self.manager.add_deferred(name.encode, "text/plain", f"1.{at}", f"{name}.txt")
            for at, name in enumerate(buttons)
        }
        self.manager.remove_orphaned_files()
        return numbers

    def press(self, number: str) -> str:
        return self.manager.execute_deferred(number)

    def fetch(self, url: str) -> bytes:
        found = self.manager.read_file(url.rpartition("/")[2].partition(".")[0])
        return found.content if found else b""


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Pages:
    monkeypatch.setattr(media_file_manager, "_get_session_id", lambda: "one")
    for name in NAMES:
        monkeypatch.setattr(MediaFileManager, name, getattr(MediaFileManager, name))
    found = Pages()
    keep_downloads(lambda: found.now)
    return found


def test_a_press_is_answered_after_the_page_was_drawn_anew(pages: Pages) -> None:
    pressed = pages.draw("sales")["sales"]
    for _ in range(5):
        pages.draw("sales")
        pages.now += 1
    assert pages.fetch(pages.press(pressed)) == b"sales"


def test_a_file_that_was_made_waits_for_its_browser(pages: Pages) -> None:
    url = pages.press(pages.draw("sales")["sales"])
    for _ in range(5):
        pages.draw()
        pages.now += 1
    assert pages.fetch(url) == b"sales"


def test_what_is_on_no_page_any_more_is_forgotten_in_the_end(pages: Pages) -> None:
    old = pages.draw("sales")["sales"]
    url = pages.press(old)
    pages.draw("other")
    pages.draw("other")
    pages.now += KEPT
    shown = pages.draw("other")["other"]
    assert pages.fetch(url) == b""
    with pytest.raises(MediaFileStorageError):
        pages.press(old)
    assert pages.fetch(pages.press(shown)) == b"other"


def test_what_a_page_still_shows_is_kept_however_long(pages: Pages) -> None:
    shown = pages.draw("sales")["sales"]
    pages.now += 10 * KEPT
    pages.manager.remove_orphaned_files()
    assert pages.fetch(pages.press(shown)) == b"sales"


def test_a_file_that_is_made_anew_waits_anew(pages: Pages) -> None:
    pages.press(pages.draw("sales")["sales"])
    pages.draw()
    pages.draw()
    pages.now += KEPT - 1
    url = pages.press(pages.draw("sales")["sales"])
    pages.now += 2
    pages.draw()
    pages.draw()
    assert pages.fetch(url) == b"sales"


def test_it_can_be_asked_for_twice(pages: Pages) -> None:
    keep_downloads(lambda: pages.now)
    url = pages.press(pages.draw("sales")["sales"])
    pages.draw()
    pages.draw()
    pages.now += KEPT
    pages.draw()
    assert pages.fetch(url) == b""


def test_streamlit_still_has_what_downloads_are_kept_by() -> None:
    clean = inspect.getsource(MediaFileManager.remove_orphaned_files)
    assert "self._remove_orphaned_deferred_callables()" in clean
    assert "self._delete_file(file_id)" in clean
    assert list(inspect.signature(MediaFileManager._drop_deferred_id).parameters) == [
        "self",
        "file_id",
    ]
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    for name in ("_deferred_callables", "_files_by_session_and_coord", "_file_metadata"):
        assert isinstance(getattr(manager, name), dict)

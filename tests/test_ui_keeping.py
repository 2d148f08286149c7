"""What Settings and Operations have for keeping and deleting: what was put away, the audit log, the
disk."""

from __future__ import annotations

import re

from leaf.app import Leaf
from leaf.store import audit
from leaf.ui.audit import LINES
from tests.test_ui_pages import add, leaf, open_page, words_of  # noqa: F401 - a fixture


def press(page: object, key: str) -> object:
    button = next(b for b in page.button if b.key == key)  # type: ignore[attr-defined]
    return button.click().run()


def test_deleted_chats_and_files_come_back_or_go_for_good_after_a_question(leaf: Leaf) -> None:  # noqa: F811
    session = leaf.session(leaf.local_scope())
    chats = [session.chats.create().id for _ in range(2)]
    for number, chat_id in enumerate(chats):
        session.chats.rename(chat_id, f"Chat {number}")
        session.chats.delete(chat_id)
    file_id = add(leaf, "harvest.csv", b"a,b\n1,2\n")
    session.files.delete(file_id)
    page = open_page("settings")
    assert {"Chat 0", "Chat 1", r"harvest\.csv"} <= {
        m.value.partition(": ")[2] for m in page.markdown if m.value.startswith(":material/")
    }
    press(page, f"restore-{chats[0]}")
    assert [c.id for c in session.chats.list()] == [chats[0]]
    page = open_page("settings")
    press(page, f"icon-purge-{chats[1]}")
    assert "This cannot be undone" in words_of(page)
    assert [c.id for c in session.chats.deleted()] == [chats[1]]
    page = open_page("settings")
    press(page, f"icon-purge-{file_id}")
    assert "What chats answered from it stays" in words_of(page)
    session.chats.purge(chats[1])
    session.files.purge(file_id)
    assert "are kept in this list until" in words_of(open_page("settings"))


def test_the_log_is_shown_by_kind_a_few_lines_at_a_time(leaf: Leaf) -> None:  # noqa: F811
    session = leaf.session(leaf.local_scope())
    assert "Nothing of this was written down yet" in words_of(open_page("operations"))
    assert not [s for s in open_page("settings").selectbox if "audit" in str(s.key)]
    session.chats.delete(session.chats.create().id)
    for _ in range(51):
        audit.note(leaf._house.store.db, session.scope, "usage exported")
    page = open_page("operations")
    table = next(m.value for m in page.markdown if m.value.startswith("| When"))
    assert table.count("usage exported") == LINES
    assert "chat deleted" not in table
    next(s for s in page.selectbox if s.key == "all-audit-kind").select("deletion").run()
    table = next(m.value for m in page.markdown if m.value.startswith("| When"))
    assert table.count("chat deleted") == 1
    assert "usage exported" not in table


def test_operations_say_what_is_used_of_the_disk(leaf: Leaf) -> None:  # noqa: F811
    page = open_page("operations")
    assert "python -m leaf backup" in words_of(page)
    assert re.search(r"\*\*[\d.,]+ [kM]B\*\*", words_of(page))

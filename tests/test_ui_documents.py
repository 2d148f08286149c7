"""The page of a document: what somebody types outlives other views, and saves nothing over what they
have not seen."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from leaf.app import Leaf
from leaf.documents.documents import DocumentDraft
from leaf.sessions.session import Session
from leaf.store.documents import VersionChange
from leaf.store.model import Document
from tests.test_ui_pages import leaf, open_page, words_of  # noqa: F401


def written(leaf: Leaf, session: Session) -> Document:  # noqa: F811
    chat = session.chats.create()
    draft = DocumentDraft("Plan", "text", "first words\n")
    return leaf._house.documents.create(
        leaf.local_scope(), chat.id, draft, VersionChange("created")
    )


def look(page: AppTest, at: str) -> None:
    page.segmented_control[0].set_value(at).run()
    assert not page.exception


@pytest.fixture
def session(leaf: Leaf) -> Session:  # noqa: F811
    return leaf.session(leaf.local_scope())


def test_what_is_typed_outlives_a_look_at_the_text_as_it_is(leaf: Leaf, session: Session) -> None:  # noqa: F811
    document = written(leaf, session)
    page = open_page("documents", document=document.id)
    look(page, "Edit")
    page.text_area[0].set_value("an hour of work").run()
    for other in ("Read", "Versions"):
        look(page, other)
        look(page, "Edit")
        assert page.text_area[0].value == "an hour of work"
    page.text_area[0].set_value("an hour of work, and more").run()
    page.button(key="save-document").click().run()
    assert session.documents.content(session.documents.get(document.id)) == (
        "an hour of work, and more\n"
    )
    assert page.text_area[0].value == "an hour of work, and more\n"
    page.text_area[0].set_value("this not").run()
    page.button(key="discard-document").click().run()
    assert page.text_area[0].value == "an hour of work, and more\n"


def test_a_version_that_nobody_has_been_shown_is_not_replaced(
    leaf: Leaf,  # noqa: F811
    session: Session,
) -> None:
    document = written(leaf, session)
    page = open_page("documents", document=document.id)
    look(page, "Edit")
    page.text_area[0].set_value("mine").run()
    session.documents.save(document.id, "theirs", 1)  # in another tab
    page.button(key="save-document").click().run()
    now = session.documents.get(document.id)
    assert session.documents.content(now) == "theirs\n"
    assert "Version 2 was made meanwhile" in words_of(page)
    assert page.text_area[0].value == "mine"
    page.button(key="save-document").click().run()
    assert session.documents.content(session.documents.get(document.id)) == "mine\n"
    assert [v.number for v in session.documents.versions(document.id)] == [3, 2, 1]

"""A search over chats shows the words that it found, where they were said."""

from __future__ import annotations

import unicodedata
from functools import partial
from typing import Any, Literal

import pytest

from leaf.store import Store, chats, found, messages, projects
from leaf.store.model import Scope
from leaf.ui import markdown

Form = Literal["NFC", "NFD"]
LONG = "Nothing of interest stands here. " * 20


def said(store: Store, scope: Scope, chat_id: str, question: str, answer: str) -> str:
    """The id of the answer."""
    parts: Any = [{"type": "text", "text": question}]
    exchange = messages.add_exchange(store.db, scope, chat_id, parts, title="A title")
    parts = [{"type": "text", "text": answer}]
    messages.finish(
        store.db, scope, exchange.answer.id, parts=parts, raw=[], usage={}, status="completed"
    )
    return exchange.answer.id


def test_the_passage_around_the_words_is_of_the_newest_message_that_holds_most(
    store: Store, scope: Scope
) -> None:
    harvest, other = chats.create(store.db, scope), chats.create(store.db, scope)
    said(store, scope, harvest.id, "Wheat?", "The harvest was good.")
    answer = said(store, scope, harvest.id, "And?", LONG + "The Harvest of Łódź was poor. " + LONG)
    said(store, scope, harvest.id, "Thanks", "The harvest.")
    said(store, scope, other.id, "Rye?", "None.")
    passages = found.passages(store.db, scope, [harvest.id, other.id], "harvest łódź")
    assert set(passages) == {harvest.id}
    assert passages[harvest.id].message_id == answer
    assert answer == messages.find(store.db, scope, harvest.id, "harvest łódź")
    text = passages[harvest.id].text
    assert "The Harvest of Łódź was poor." in text
    assert text.startswith("…")
    assert text.endswith("…")
    assert len(text) <= found.LENGTH + 2


def test_many_chats_take_as_many_statements_as_one(store: Store, scope: Scope) -> None:
    made = [chats.create(store.db, scope) for _ in range(12)]
    for chat in made:
        said(store, scope, chat.id, "Wheat?", "The harvest was good.")
    asked: list[str] = []

    class Counting:
        engine = store.db.engine

        def read(self, sql: str, given: Any) -> Any:
            asked.append(sql)
            return store.db.read(sql, given)

    reads: Any = Counting()
    assert len(found.passages(reads, scope, [c.id for c in made], "harvest")) == len(made)
    assert len(asked) == 2
    assert found.passages(reads, scope, [c.id for c in made], "  ") == {}
    assert len(asked) == 2


def test_words_that_are_found_are_marked_and_the_rest_is_drawn_as_it_stands() -> None:
    drawn = markdown.found("![x](https://evil.example/harvest) <b>Harvest</b> 100%", ["harvest"])
    assert drawn.count(":orange-background[**") == 2
    assert ":orange-background[**Harvest**]" in drawn
    assert "![" not in drawn
    assert "https\\://" not in drawn
    assert markdown.found("plain", []) == "plain"


@pytest.mark.parametrize(
    ("title", "turned"),
    [
        ("(2025) تقرير المبيعات 📈", True),
        ("שלום", True),
        ("(2025) Sales", False),
        ("2025 …", False),
    ],
)
def test_a_title_that_is_read_from_the_right_is_known(title: str, turned: bool) -> None:
    assert markdown.right_to_left(title) is turned


@pytest.mark.parametrize(("one", "other"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_words_are_found_however_their_accents_are_written(
    store: Store, scope: Scope, one: Form, other: Form
) -> None:
    """A Mac names files with the accent behind its letter, and so they are pasted."""
    said_as, asked_as = (partial(unicodedata.normalize, form) for form in (one, other))
    chat = chats.create(store.db, scope)
    question = said_as("Übersicht März.xlsx?")
    answer = said(store, scope, chat.id, question, said_as("Ein Überblick: Köln."))
    query = asked_as("köln überblick")
    assert [c.id for c in chats.list_chats(store.db, scope, query=query)] == [chat.id]
    assert found.passages(store.db, scope, [chat.id], query)[chat.id].message_id == answer
    assert messages.find(store.db, scope, chat.id, query) == answer
    title = said_as("Umsätze Köln")
    assert chats.retitle(store.db, scope, chat.id, "A title", title)
    by_title = chats.list_chats(store.db, scope, query=asked_as("UMSÄTZE"))
    assert [c.id for c in by_title] == [chat.id]
    assert chats.retitle(store.db, scope, chat.id, title, "Another")
    project = projects.create(store.db, scope, said_as("Für Zoë"))
    assert [p.id for p in projects.list_projects(store.db, scope, query=asked_as("zoë"))] == [
        project.id
    ]

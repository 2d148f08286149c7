"""The line under an answer, what is said above it, and the notice that no model is connected."""

from __future__ import annotations

from leaf.provenance.receipts import answer as receipts
from leaf.store.model import Message
from leaf.ui import evidence
from tests.leaf_kit import finished, text_of
from tests.test_coverage import covered, query, say
from tests.test_ui_pages import Leaf, add, leaf, open_page, words_of

__all__ = ["leaf"]

SALES = b"region,revenue\nNorth,100\nSouth,120\nNorth,200\nTotal,420\n"


def test_one_line_stands_under_an_answer_and_what_is_left_out_above_it(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    files = [add(leaf, "sales.csv", SALES), add(leaf, "costs.csv", b"place,cost\nX,1\n")]
    chat = session.chats.create()
    question = "What is the total revenue by region in sales?"
    answer = finished(session, session.messages.send(chat.id, question, file_ids=files).id)
    page = open_page(chat=chat.id)
    doubts, line = [c.value for c in page.caption if "#leaf-evidence-" in c.value]
    assert "[1 row left out as a total](#leaf-evidence-" in doubts
    assert "not read\\: costs" in doubts
    assert line.startswith(f"[3 of 4 rows](#leaf-evidence-{answer.id}.data) · [")
    assert f"[1 source](#leaf-evidence-{answer.id}.sources)" in line
    assert line.endswith(f"[⋯](#leaf-evidence-{answer.id}.all)")
    assert " steps · 1 query" in page.expander[0].label


def test_each_part_opens_its_detail(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    chat = session.chats.create()
    asked = session.messages.send(
        chat.id, "total revenue by region", file_ids=[add(leaf, "sales.csv", SALES)]
    )
    finished(session, asked.id)
    page = open_page(chat=chat.id)
    seen = {}
    for section in ("data", "figures", "sources", "cost", "all"):
        page.session_state["preview"] = {"evidence": asked.id, "section": section}
        seen[section] = words_of(page.run())
        assert not page.exception
    assert "3 of 4 rows of sales\\.csv" in seen["data"]
    assert "figures traced" in seen["figures"].replace("#leaf-evidence", "")
    assert "Queried" in seen["sources"]
    for title in ("Data read", "Figures", "Sources", "Time and cost"):
        assert f"##### {title}" in seen["all"]


def test_a_receipt_is_read_and_computed_again_in_the_language(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    session.team.set_language("de")
    chat = session.chats.create()
    asked = session.messages.send(
        chat.id, "total revenue by region", file_ids=[add(leaf, "sales.csv", SALES)]
    )
    finished(session, asked.id)
    page = open_page(chat=chat.id)
    page.session_state["preview"] = {"receipt": asked.id, "number": 0}
    page.run()
    assert "sales.csv, Zeilen 1-5 · 3 von 4 Zeilen" in words_of(page).replace("\\", "")
    assert "Alle 2 Zeilen öffnen" in [button.label for button in page.button]
    page.button(key="preview-recompute").click().run()
    assert "neu berechnet" in page.success[0].value
    page.session_state["preview"] = {"result": "r1", "chat": chat.id}
    page.run().selectbox(key="preview-filter-column").select("region").run()
    assert page.selectbox(key="preview-filter-operation").options[0] == "enthält"


def test_that_no_model_is_connected_is_said_once_in_a_chat(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    chat = session.chats.create()
    said = [
        text_of(finished(session, session.messages.send(chat.id, question).id))
        for question in ("hello", "hello again", "SELECT 1")
    ]
    assert ["No model is connected" in text for text in said] == [True, False, False]
    other = session.chats.create()
    assert "No model is connected" in text_of(
        finished(session, session.messages.send(other.id, "hello").id)
    )


def test_a_table_that_was_only_looked_at_is_doubted_where_a_figure_may_come_from_it(
    leaf: Leaf,
) -> None:
    """Else the first line under an answer about one table would be about the rows of another."""
    doubt = {"kind": "total", "cells": "A7", "text": "1 row that may be a total is counted as data"}
    months = query("1", "months.csv", [[40_125.5]])
    countries = query("2", "countries.csv", [[1], [2]], doubtful=[doubt])
    chat = leaf.session(leaf.local_scope()).chats.create()

    def doubted(text: str) -> list[str]:
        parts = [months, countries, say(text)]
        added = [
            {"type": "data-receipts", "data": receipts.of_answer(parts, [])},
            {"type": "data-coverage", "data": covered(parts)},
        ]
        return [
            piece.text
            for piece in evidence.doubts(
                Message("m", chat.id, "", "assistant", "completed", [*parts, *added], [])
            )
        ]

    assert doubted("40,125.5 were sold.") == []
    assert doubted("40,125.5 were sold, 77 of them here.") == [
        "1 figure without a receipt",
        "countries.csv: 1 row that may be a total is counted as data (A7)",
    ]

"""Sentences that are kept in English and said in the reader's language."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from leaf.documents.diff import compare
from leaf.language import kept
from leaf.language.text import speaking
from leaf.provenance import coverage
from leaf.shapes.results import Covered
from leaf.tables.table import left_out_in_words
from leaf.tools.tables import in_words
from leaf.ui.documents import change_in_words

GERMAN = {
    "Queried sales: 1 row": "Abfrage von sales: 1 Zeile",
    "Queried sales by region: 2 rows": "Abfrage von sales nach region: 2 Zeilen",
    "Queried by region in sales: 2 rows": "Abfrage nach region in sales: 2 Zeilen",
    "Queried sales, costs: 12,345 rows": "Abfrage von sales, costs: 12.345 Zeilen",
    "Summed revenue by region in q3_sales: 4 rows": (
        "Summe von revenue nach region in q3_sales: 4 Zeilen"
    ),
    "Looked at the columns of sales: 1,204 rows × 9 columns": (
        "Spalten von sales angesehen: 1.204 Zeilen × 9 Spalten"
    ),
    "Searched 2 files for net profit: 3 passages": (
        "2 Dateien nach net profit durchsucht: 3 Textstellen"
    ),
    "Read pages 3-5 of report.pdf": "pages 3-5 von report.pdf gelesen",
    "Ran Python: 30 rows, 2 figures, wrote out.csv": (
        "Python ausgeführt: 30 Zeilen, 2 Bilder, out.csv geschrieben"
    ),
    "Changed Notes: 3 lines added, 1 line removed": (
        "Notes geändert: 3 Zeilen hinzugefügt, 1 Zeile entfernt"
    ),
    "Listed files 51-100 of 1,400": "Dateien 51-100 von 1.400 aufgelistet",
}


@pytest.mark.parametrize(("english", "german"), GERMAN.items())
def test_a_step_is_said_in_the_language(english: str, german: str) -> None:
    assert kept.said(english) == english
    with speaking("de"):
        assert kept.said(english) == german


def test_a_language_that_has_no_words_for_it_says_it_in_english() -> None:
    with speaking("xx"):
        assert kept.said("Queried sales: 1 row") == "Queried sales: 1 row"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM sales",
        "SELECT region FROM sales GROUP BY region",
        *(f"SELECT {of}(revenue) FROM sales" for of in ("sum", "avg", "median", "max", "min")),
        *(f"SELECT a, {of}(b) FROM sales GROUP BY a" for of in ("sum", "avg", "median", "max")),
        "SELECT a, count(*) FROM sales GROUP BY a",
        "SELECT count(*) FROM sales",
    ],
)
def test_every_line_of_a_query_has_its_pattern(sql: str) -> None:
    query: Any = SimpleNamespace(
        sql=sql, tables=[SimpleNamespace(name="sales")], columns=["a"], total=30
    )
    line = in_words(query)
    query.tables = []
    without = in_words(query)
    for language in ("de", "fr", "es"):
        with speaking(language):
            assert {line, without}.isdisjoint((kept.said(line), kept.said(without)))


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_every_sentence_is_found_by_its_own_pattern(language: str) -> None:
    values = {"n": "7", "m": "9", "total": "1,200", "rows": "1 row", "files": "2 files"}
    values |= {"passages": "3 passages", "items": "1 item", "lines": "1 line added"}
    values |= {"made": "wrote a.csv", "kinds": "totals", "columns": "3 columns", "row": "4"}
    values |= {"which": "'a' in row 7 is 8, its rows give 9; and 2 more"}
    others = dict.fromkeys(("tables", "key", "column", "table", "name", "result", "comment"), "xyz")
    others |= dict.fromkeys(("place", "query", "folder"), "xyz")
    with speaking(language):
        for sentence in (*kept.WHOLE, *kept.PARTS):
            text = sentence.format_map({**values, **others})
            if sentence not in ("{comment}: {made}", "notes", "a total"):  # the same in some
                said = kept.said(text) if sentence in kept.WHOLE else kept.part(text)
                assert said != text, sentence
                assert said.count("xyz") == text.count("xyz")


def test_words_of_people_are_never_translated() -> None:
    with speaking("de"):
        for comment in ("Files", "notes", "totals", "5 rows", "1 row, 2 rows"):
            assert kept.said(comment) == comment
        assert kept.said("Queried totals: 1 row") == "Abfrage von totals: 1 Zeile"
        assert kept.said("Looked at notes") == "notes angesehen"
        assert kept.said("Share of revenue: by region") == "Share of revenue: by region"
        assert kept.said("Share of revenue: 5 rows") == "Share of revenue: 5 Zeilen"
        assert kept.said("Queried {sales}: 1 row") == "Abfrage von {sales}: 1 Zeile"


def test_what_was_left_out_and_what_is_doubtful_is_said_in_the_language() -> None:
    entry: Covered = {
        "file_id": "1",
        "name": "s.csv",
        "unit": "rows",
        "seen": 6,
        "total": 9,
        "ranges": (),
        "excluded": left_out_in_words({"total": 2, "title": 1}),
        "doubtful": [
            {
                "kind": "subtotal",
                "count": 2,
                "cells": "rows 4, 7",
                "text": "2 rows that may be subtotals are counted as data (rows 4, 7)",
            }
        ],
    }
    covered: coverage.CoverageData = {"files": [entry]}
    assert coverage.missing(covered) == ["2 rows left out as totals, 1 as a title"]
    with speaking("de"):
        assert coverage.missing(covered) == ["2 Zeilen als Summen, 1 als Titel ausgelassen"]
        assert coverage.line(covered) == "6 von 9 Zeilen; 2 als Summen, 1 als Titel ausgelassen"
        assert coverage.doubts(covered) == [
            "2 Zeilen, vielleicht Zwischensummen, zählen als Daten (Zeilen 4, 7)"
        ]
        assert "totals" in coverage.sentence(covered)
    with speaking("fr"):
        assert coverage.missing(covered) == ["2 lignes non comptées (totaux, 1 comme titre)"]
    with speaking("es"):
        assert coverage.missing(covered) == ["2 filas excluidas como totales, 1 como título"]


def test_a_change_of_a_document_is_said_in_the_language() -> None:
    change = compare("a\nb\n", "a\nc\nd\n").summary
    assert change_in_words(change) == change == "2 lines added, 1 line removed"
    with speaking("de"):
        assert change_in_words(change) == "2 Zeilen hinzugefügt, 1 Zeile entfernt"
        assert change_in_words("Nothing changed") == "nichts geändert"
    with speaking("fr"):
        assert kept.part(change) == "2 lignes ajoutées, 1 ligne supprimée"


def test_what_a_line_may_cost_is_bounded() -> None:
    """A pattern tries each end of each value."""
    assert max(sentence.count("{") for sentence in (*kept.WHOLE, *kept.PARTS)) <= 4
    with speaking("de"):
        for text in (" by in : ", "Read  of", "a, ", "x: ", "1 as "):
            assert kept.said(text * 1_000) == kept.part(text * 1_000) == text * 1_000
            kept.said((text * 200)[: kept.LONGEST])
            kept.part((text * 200)[: kept.LONGEST])

"""Which way the text says that something went, which way it went, and where nothing is said of it."""

from __future__ import annotations

import pytest

from leaf.provenance.receipts.clauses import clauses
from leaf.provenance.receipts.derive import DerivationStep
from leaf.provenance.receipts.direction import over_time, told_apart
from leaf.provenance.receipts.direction_words import (
    directions,
    speaks_of_a_change,
    speaks_of_changes,
    without_hedges,
)
from leaf.provenance.receipts.evidence import Evidence
from leaf.provenance.receipts.figures import figures
from leaf.provenance.receipts.kept import book_of
from leaf.provenance.receipts.match import match
from tests.test_receipts import query

YEARS = query(["year", "revenue", "orders"], [[2023, 1204.0, 412], [2024, 1060.0, 455]])
THREE = query(["year", "revenue"], [[2022, 990.5], [2023, 1204.0], [2024, 1060.0]])
SHARES = query(["year", "share"], [[2023, 41.5], [2024, 38.5]])
WIDE = query(
    ["region", "revenue_2023", "revenue_2024"],
    [["North", 1204.0, 1060.0], ["South", 800.5, 913.25]],
)
GROWTH = query(
    ["region", "year", "growth_pct"],
    [["North", 2023, 3.2], ["North", 2024, -4.7], ["South", 2024, 8.1], ["West", 2024, -8.1]],
)
PAIR = query(["region", "price_before", "price_after"], [["North", 1204.0, 1060.0]])
PLACES = query(["what", "revenue_north", "revenue_south"], [["x", 1204.0, 1060.0]])
LOSSES = query(["year", "result"], [[2023, -1204.0], [2024, -1060.0]])


def against(text: str, *evidence: Evidence) -> list[str]:
    return [found.against for found in match([text], list(evidence)) if found.against]


# Words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("it rose", [("rose", 1, False)]),
        ("it fell", [("fell", -1, False)]),
        ("it is higher", [("higher", 1, True)]),
        ("it is lower", [("lower", -1, True)]),
        ("it was up 5 %", [("up", 1, False)]),
        ("it went down", [("went down", -1, False)]),
        ("up to 5", []),
        ("es nahm um 12,5 % zu", [("nahm … zu", 1, False)]),
        ("es ging um 12 % zurück.", [("ging … zurück", -1, False)]),
        ("it is more than 12", []),
        ("it is more than twelve", [("more", 1, True)]),
        ("a rosebush, a fall", []),
        ("rose, then fell", [("rose", 1, False), ("fell", -1, False)]),
        ("steuerliche Abnahme", [("Abnahme", -1, False)]),
    ],
)
def test_words_of_direction_are_known_where_they_stand(
    text: str, words: list[tuple[str, int, bool]]
) -> None:
    found = list(directions(text))
    assert [(one.word, one.sign, one.compares) for one in found] == words
    assert speaks_of_a_change(text) is bool(words)
    for one in found:
        assert one.up is (one.sign > 0)
        assert text[one.start : one.end] == one.word.rpartition(" … ")[2]


def test_a_hedge_is_blanked_and_nothing_moves() -> None:
    assert (
        without_hedges("by more than 12 %, less than that") == "             12 %, less than that"
    )


@pytest.mark.parametrize(
    ("column", "changes"),
    [("growth_pct", True), ("yoy", True), ("Veränderung", True), ("revenue", False)],
)
def test_columns_of_changes_are_known_by_their_names(column: str, changes: bool) -> None:
    assert speaks_of_changes(column) is changes


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("higher than in the previous year", True),
        ("previous: it is higher", False),
        ("higher than South", False),
        ("höher als im Vorjahr", True),
    ],
)
def test_a_comparison_with_the_time_before_is_one_over_time(text: str, over: bool) -> None:
    [word] = directions(text)
    assert over_time(text, word) is over


# Clauses


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("It rose, and it fell.", ["It rose,", " and ", "it fell."]),
        ("North rose; South fell.", ["North rose;", " South fell."]),
        ("North rose while South fell.", ["North rose while ", "South fell."]),
        ("It rose, from 5 to 7.", ["It rose, from 5 to 7."]),
        ("It rose, 5 → 7.", ["It rose, 5 → 7."]),
        ("North, which has 5, rose.", ["North,", " which has 5, rose."]),
        ("It rose, $5 -> $7.", ["It rose, $5 -> $7."]),
        ("From 5 in 2023, North rose.", ["From 5 in 2023, North rose."]),
        ("It had 1,204 lamps.", ["It had 1,204 lamps."]),
    ],
)
def test_a_sentence_is_cut_where_another_statement_begins(text: str, pieces: list[str]) -> None:
    found = clauses(text, (0, len(text) + 1))
    assert "".join(one.text for one in found) == text
    assert all(one.sentence == text and one.begins == 0 for one in found)
    assert [text[one.start : one.end] for one in found] == [one.text for one in found]
    statements = [one for one in pieces if one.strip() not in ("and", "")]
    assert len(found) == len(statements), [one.text for one in found]


def test_a_clause_holds_what_begins_in_it_and_knows_the_times_of_its_sentence() -> None:
    text = "Before. It made 5 in 2023 or 2024-03; then 7."
    first, second = clauses(text, (8, len(text)))
    five, seven = (one for one in figures(text) if one.text in ("5", "7"))
    assert (first.holds(five), first.holds(seven)) == (True, False)
    assert (second.holds(five), second.holds(seven)) == (False, True)
    assert first.years == {"2024", "2023"}
    assert first.times == {"2024", "2023", "2024-03"}
    assert (first.start, second.end, second.begins) == (8, len(text), 8)
    at = figures(text[first.start :])[0]
    assert not second.holds(at)


# Alarms


@pytest.mark.parametrize(
    ("text", "one", "said"),
    [
        ("Revenue rose by 12.0 % in 2024.", YEARS, "rose: it fell: 1,204 → 1,060"),
        ("Revenue: +12.0 % in 2024.", YEARS, "+12.0 %: it fell: 1,204 → 1,060"),
        ("Orders: -10.4 % in 2024.", YEARS, "-10.4 %: it rose: 412 → 455"),
        ("Revenue fell by 21.6 % in 2023.", THREE, "fell: it rose: 990.5 → 1,204"),
        ("Revenue rose from 1,204 to 1,060.", YEARS, "rose: it fell: 1,204 → 1,060"),
        ("Revenue fell from 1,060 to 1,204.", YEARS, "fell: it rose: 1,060 → 1,204"),
        ("Revenue rose from 1,060 to 1,204.", YEARS, "rose: it fell: 1,204 → 1,060"),
        ("All is well. It rose from 1,204 to 1,060.", PLACES, "rose: it fell: 1,204 → 1,060"),
        ("All is well. It rose: 1,204 → 1,060.", PLACES, "rose: it fell: 1,204 → 1,060"),
        ("Revenue rose: 1,204 → 1,060.", YEARS, "rose: it fell: 1,204 → 1,060"),
        ("The share rose from 41.5 % to 38.5 %.", SHARES, "rose: it fell: 41.5 → 38.5"),
        (
            "Revenue was 12.0 % higher than in the previous year.",
            YEARS,
            "higher: it fell: 1,204 → 1,060",
        ),
        ("North grew by 144.", WIDE, "grew: it fell: 1,204 → 1,060"),
        ("In 2024 North grew by 144.", WIDE, "grew: it fell: 1,204 → 1,060"),
        ("In 2024 it grew by 144.", PAIR, "grew: it fell: 1,204 → 1,060"),
        ("It rose from 1,204 to 1,060.", PLACES, "rose: it fell: 1,204 → 1,060"),
        ("Revenue grew by 144 and orders by 43 in 2024.", YEARS, "grew: it fell: 1,204 → 1,060"),
    ],
)
def test_a_change_that_is_turned_round_is_told_with_its_numbers(
    text: str, one: Evidence, said: str
) -> None:
    word, _, rest = said.partition(": ")
    assert against(text, one) == [f"The text says “{word}”; the results say {rest}."]


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("Revenue rose from 1,060 in 2024 to 1,204 in 2023.", YEARS),
        ("Revenue fell by 12.0 % in 2024, not more.", YEARS),
        ("Revenue will rise by 12.0 % in 2024.", YEARS),
        ("He wrote: “Revenue rose by 12.0 % in 2024”.", YEARS),
        ("Revenue rose and fell by 12.0 % in 2024.", YEARS),
        ("The losses rose by 12.0 % in 2024.", LOSSES),
        ("It rose from -1,204 to -1,060.", LOSSES),
        ("Revenue rose by 12.0 % from 2024 to 2023.", YEARS),
        ("Revenue, 1,204 and 1,060, is higher.", YEARS),
        ("Revenue rose: 1,204, 412 and 1,060.", YEARS),
        ("Revenue is 1,204 and 1,060.", YEARS),
        ("It rose by 1,204 to 1,060.", PLACES),
        ("It rose from 1,204 by 1,060.", PLACES),
        ("It rose: 1,060 → 1,204.", PLACES),
        ("North rose by 144 in 2024 and 2025.", WIDE),
    ],
)
def test_nothing_is_said_where_anything_is_in_doubt(text: str, one: Evidence) -> None:
    assert against(text, one) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("North fell by 3.2 % in 2023.", "fell: +3.2 (growth_pct)"),
        ("North rose by 4.7 % in 2024.", "rose: −4.7 (growth_pct)"),
        ("South fell by 8.1 %.", "fell: +8.1 (growth_pct)"),
        ("West rose by 8.1 %.", "rose: −8.1 (growth_pct)"),
        ("West: +8.1 %", "+8.1 %: −8.1 (growth_pct)"),
        ("South rose by 8.1 %.", ""),
        ("West fell by 8.1 %.", ""),
        ("South and West fell by 8.1 %.", ""),
        ("West rose by -8.1 %.", ""),
        ("West has 8.1 %.", ""),
        ("South is 8.1 % lower.", ""),
        ("South is 8.1 % lower than in the previous year.", "lower: +8.1 (growth_pct)"),
        ("North was 4.7 % higher in 2024 than in 2023.", "higher: −4.7 (growth_pct)"),
        ("South was 8.1 % lower in 2024.", ""),
    ],
)
def test_a_cell_of_a_column_of_changes_has_its_sign(text: str, said: str) -> None:
    word, _, rest = said.partition(": ")
    expected = [f"The text says “{word}”; the results say {rest}."] if said else []
    assert against(text, GROWTH) == expected


def test_a_year_in_which_nothing_changed_neither_rose_nor_fell() -> None:
    still = query(["year", "growth_pct"], [[2023, 0.0], [2024, 5.5]])
    assert against("In 2023 it rose by 0.0 %.", still) == []
    same = query(["year", "revenue"], [[2023, 1204.0], [2024, 1204.0]])
    assert against("Revenue fell by 0.0 % in 2024.", same) == []
    assert against("Revenue fell from 1,204 in 2023 to 1,204 in 2024.", same) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("South made 25 % more than North.", True),
        ("North made 25 % more than South.", False),
        ("North made 20 % less than South.", True),
        ("South made 20 % less than North.", False),
        ("Than South, North made 25 % more.", False),
        ("South made 25 % more than the others.", False),
        ("South and North made 25 % more than North.", False),
    ],
)
def test_two_rows_are_compared_where_it_is_clear_which_is_which(text: str, said: bool) -> None:
    two = query(["region", "revenue"], [["North", 1250.0], ["South", 1000.0]])
    expected = "more" if "more" in text else "less"
    found = against(text, two)
    assert bool(found) is said
    assert all(
        one.startswith(f"The text says “{expected}”; the results say the opposite: ")
        for one in found
    )
    if text == "South made 25 % more than North.":
        assert found[0].endswith("1,000 and 1,250.")


def test_the_same_number_in_two_rows_says_nothing_of_the_order() -> None:
    twice = query(["year", "revenue"], [[2022, 1204.0], [2023, 1060.0], [2024, 1204.0]])
    assert against("Revenue fell: 1,060, and 1,204.", twice) == []


def test_two_cells_are_told_apart_by_their_rows_or_their_columns() -> None:
    book = book_of([WIDE])
    (table,) = book.tables
    a, b, c, d = (table.cell(i, j) for i in (0, 1) for j in (1, 2))
    assert told_apart(a, c, book) == ({"north"}, {"south"})
    assert told_apart(a, b, book) == ({"2023"}, {"2024"})
    assert told_apart(a, d, book) is None
    assert told_apart(a, a, book) is None
    assert told_apart(DerivationStep("", a).value, c, book_of([YEARS])) is None


# The base of a growth


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("North made 25 % more than South", "derived"),
        ("North made 20 % more than South", "none"),
        ("South is 20 % behind North", "derived"),
        ("North is 25 % ahead of South", "derived"),
        ("Versus South, North made 25 % more", "derived"),
        ("Versus North, South made 20 % less", "derived"),
        ("Versus South, North made 20 % more", "none"),
    ],
)
def test_what_a_sentence_compares_with_is_the_base(text: str, kind: str) -> None:
    two = query(["region", "revenue"], [["North", 1250.0], ["South", 1000.0]])
    assert match([text], [two])[-1].kind == kind


@pytest.mark.parametrize(
    ("text", "share", "kind"),
    [
        ("Revenue fell by 12.0 % in 2024", "12.0 %", "derived"),
        ("Revenue fell by 13.6 % in 2024", "13.6 %", "none"),
        ("From 2024 to 2023 revenue rose by 13.6 %", "13.6 %", "derived"),
        ("Revenue of 2023 was 13.6 % higher than that of 2024", "13.6 %", "derived"),
        ("Revenue of 2024 was 13.6 % lower than that of 2023", "13.6 %", "none"),
    ],
)
def test_over_time_the_base_is_the_earlier_number(text: str, share: str, kind: str) -> None:
    assert {one.text: one.kind for one in match([text], [YEARS])}[share] == kind

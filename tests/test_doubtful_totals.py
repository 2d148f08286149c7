"""A row that is called a total and that nothing proves to be one: it is counted, and whoever reads the
figure is told so first, in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from leaf.app import Leaf
from leaf.language.text import speaking
from leaf.provenance import coverage
from leaf.sessions.session import Session
from leaf.shapes.part_values import newest
from leaf.store.model import Message
from tests.leaf_kit import add, finished, opened, text_of

SALES = b"region,revenue\nNorth,100\nSouth,120\nEast,80\nWest,60\nTotal,999\n"
PROVEN = SALES.replace(b"999", b"360")


@pytest.fixture
def leaf(tmp_path: Path) -> Iterator[Leaf]:
    with opened(tmp_path / "home") as opened_leaf:
        yield opened_leaf


@pytest.fixture
def session(leaf: Leaf) -> Session:
    return leaf.session(leaf.local_scope())


def ask(session: Session, question: str, content: bytes = SALES) -> Message:
    file = add(session, "sales.csv", content)
    return finished(
        session, session.messages.send(session.chats.create().id, question, [file.id]).id
    )


@pytest.mark.parametrize(
    ("question", "counted", "without"),
    [
        ("What is the total revenue?", "**1,359**", "Without it: total revenue **360**"),
        ("Wie hoch ist die Summe revenue?", "**1.359**", "Ohne sie: Summe revenue **360**"),
        ("somme de revenue", "**1\u202f359**", "Sans elle : somme de revenue **360**"),
        ("suma de revenue", "**1.359**", "Sin ella: suma de revenue **360**"),
        ("average revenue", "**271.80**", "Without it: average revenue **90**"),
        ("How many rows?", "**5**", "Without it: number of rows **4**"),
        ("Which region has the highest total revenue?", "**Total**", "Without it: **South**"),
    ],
)
def test_a_figure_that_counts_such_a_row_says_what_it_is_without_it(
    session: Session, question: str, counted: str, without: str
) -> None:
    answer = ask(session, question)
    text = text_of(answer)
    assert counted in text
    assert "“Total”" in text
    assert without in text
    receipts = newest(answer.parts, "receipts")
    assert receipts is not None
    assert receipts["figures"] == receipts["with"]


NAMELESS = b"product,sold\n" + b"".join(b"P%02d,%d\n" % (i, i * 7 % 23 + 1) for i in range(40))
UNNAMED = NAMELESS + b",486\n"


@pytest.mark.parametrize(
    ("question", "counted", "said", "without"),
    [
        (
            "total sold",
            "**972**",
            "counts row 42 (486), which has no name and may be a total",
            "Without it: total sold **486**",
        ),
        ("Summe sold", "**972**", "ist Zeile 42 (486), die keinen Namen hat", "Ohne sie: Summe sold **486**"),
        ("highest sold", "**486**", "row 42 (486)", "Without it: highest sold **23**"),
    ],
)  # fmt: skip
def test_a_sum_below_a_column_that_has_no_name_is_told_beside_the_figure(
    session: Session, question: str, counted: str, said: str, without: str
) -> None:
    answer = ask(session, question, UNNAMED)
    text = text_of(answer)
    assert counted in text
    assert said in text
    assert without in text
    receipts = newest(answer.parts, "receipts")
    assert receipts is not None
    assert receipts["figures"] == receipts["with"]


def test_several_sums_without_a_name_are_counted_and_named(session: Session) -> None:
    groups = [("N", 3, 4), ("S", 5, 2), ("W", 6, 9)]
    rows = [f"{k},A,{a}\n{k},B,{b}\n,,{a + b}\n" for k, a, b in groups]
    text = text_of(
        ask(session, "What is the total n?", f"area,product,n\n{''.join(rows)}".encode())
    )
    assert (
        "counts 3 rows without a name that may be totals of other rows: 4 (7), 7 (7), 10 (15)"
        in text
    )
    assert "Without them: total n **29**" in text


PIVOT = (
    b"what,sold\nEast,5091\nA,1957\nB,3134\nWest,2816\nC,1134\nD,1682\nSouth,2018\nE,797\nF,1221\n"
)


def test_sums_that_nothing_calls_so_are_told_where_they_double_the_figure(
    session: Session,
) -> None:
    text = text_of(ask(session, "What is the total sold?", PIVOT))
    assert "**19,850**" in text
    assert "counts 3 rows that may be totals of other rows: “East” (5,091), “West” (2,816)" in text
    assert "Without them: total sold **9,925**" in text


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("What is the average sold?", PIVOT),  # of those that are shown, each as it stands
        ("total sold in East", PIVOT),
        # some equal sums of others, and the figure is no multiple of the rest
        ("What is the total sold?", PIVOT + b"Rest,404\n"),
    ],
)
def test_sums_that_nothing_calls_so_are_left_to_the_line_below_elsewhere(
    session: Session, question: str, table: bytes
) -> None:
    assert "⚠" not in text_of(ask(session, question, table))


def test_a_row_without_a_name_that_is_no_sum_is_counted_without_a_word(session: Session) -> None:
    text = text_of(ask(session, "total sold", NAMELESS + b",77\n"))
    assert "**563**" in text
    assert "⚠" not in text


def test_among_groups_it_stays_and_is_marked_and_named(session: Session) -> None:
    text = text_of(ask(session, "total revenue by region"))
    assert "| Total ⚠ | 999 |" in text
    assert "“Total” (999) may be a total of the other rows" in text


@pytest.mark.parametrize("question", ["lowest revenue", "total revenue in North"])
def test_nothing_is_said_where_the_row_makes_no_difference(session: Session, question: str) -> None:
    assert "⚠" not in text_of(ask(session, question))


def test_a_total_that_is_proven_is_left_out_without_a_word_of_doubt(session: Session) -> None:
    text = text_of(ask(session, "total revenue", PROVEN))
    assert "**360**" in text
    assert "⚠" not in text


def test_a_total_that_does_not_add_up_comes_first_in_the_language_of_the_page(
    session: Session,
) -> None:
    covered = coverage.covered_of(ask(session, "total revenue").parts)
    said = "1 printed total does not add up: 'revenue' in row 6 is 999, its rows give 360"
    assert coverage.doubts(covered)[0] == said
    assert coverage.notes(covered) == []
    with speaking("de"):
        assert coverage.doubts(covered)[0] == (
            "1 gedruckte Summe geht nicht auf: „revenue“ in Zeile 6 ist 999, die Zeilen ergeben 360"
        )


def test_counts_that_an_answer_makes_itself_are_traced_in_each_language(session: Session) -> None:
    many = b"region,revenue\n" + b"".join(b"R%02d,%d\n" % (i, 100 + i) for i in range(27))
    for question in (
        "total revenue by region",
        "Summe revenue nach region",
        "somme de revenue par region",
        "suma de revenue por region",
    ):
        receipts = newest(ask(session, question, many).parts, "receipts")
        assert receipts is not None
        assert receipts["figures"] == receipts["with"] == 16, question


DAYS = b"day,amount\n" + b"".join(
    b"2023-%02d-%02d,1\n" % (i % 12 + 1, i % 28 + 1) for i in range(60)
)


def test_texts_that_are_no_dates_are_told_where_a_column_is_taken_for_dates(
    session: Session,
) -> None:
    """A date that no calendar has leaves the column text, and its row in no year."""
    content = DAYS + b"2023-02-30,1\n2023-04-31,1\n"
    said = "⚠ `day` holds no date in 2 of 62 rows, as in “2023-02-30”: these are read as empty."
    for question, figure in (("how many rows in 2023", "**60**"), ("total amount by year", "60")):
        text = text_of(ask(session, question, content))
        assert figure in text
        assert said in text
    assert "⚠" not in text_of(ask(session, "total amount", content)), "no day is asked for"
    assert "⚠" not in text_of(ask(session, "how many rows in 2023", DAYS))


def test_rows_without_a_day_are_told_beside_a_period(session: Session) -> None:
    text = text_of(ask(session, "how many rows in 2023", DAYS + b",1\n,2\n"))
    assert "**60**" in text
    assert "`day` is empty in 2 of 62 rows; these do not count." in text

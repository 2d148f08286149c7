"""Words and numbers of questions that mean another thing in another language or table: values that
are small words as well, numbers with stops and commas, signs of mathematics."""

from __future__ import annotations

from typing import Any

import pytest

from leaf.agent.rules.answers import in_words
from leaf.agent.rules.grammar import Grammar
from leaf.agent.rules.kinds import Query
from leaf.agent.rules.numbers import meanings, written
from leaf.agent.rules.tables import AskedTable, read_table

STAFF = read_table(
    {
        "name": "staff",
        "rows": 6,
        "columns": [
            {"name": "department", "type": "VARCHAR", "distinct": 3, "top": [["IT", 2], ["HR", 2]]},
            {"name": "country", "type": "VARCHAR", "distinct": 3, "top": [["US", 2], ["DE", 2]]},
            {"name": "item", "type": "VARCHAR", "distinct": 2, "top": [["table", 3], ["lamp", 3]]},
            {"name": "salary", "type": "BIGINT", "min": 1, "max": 5000},
            {"name": "hired", "type": "DATE", "min": "2021-01-01", "max": "2023-12-31"},
        ],
    },
    "f1",
    "staff.csv",
)


def filters(question: str, table: AskedTable = STAFF) -> list[list[tuple[str, str, Any]]]:
    """Of each way to read a question, what it is restricted to."""
    return [[(c.name, test, given) for c, test, given in r.filters] for r in read(question, table)]


def read(question: str, table: AskedTable = STAFF) -> list[Query]:
    return Grammar(question, table).readings()


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What is the average IT salary?", ("department", "one of", ("IT",))),
        ("highest US salary", ("country", "one of", ("US",))),
        ("What was total US salary", ("country", "one of", ("US",))),
        ("average DE salary by department", ("country", "one of", ("DE",))),
        ("average salary in IT", ("department", "one of", ("IT",))),
        ("how many rows in US", ("country", "one of", ("US",))),
    ],
)
def test_a_value_in_capitals_is_never_a_small_word(question: str, wanted: Any) -> None:
    assert filters(question) == [[wanted]]


def test_a_value_that_may_be_a_small_word_is_asked_back() -> None:
    assert filters("average table salary") == [[], [("item", "one of", ("table",))]]
    assert filters("What is the average it salary?") == [[], [("department", "one of", ("IT",))]]


def test_a_small_word_that_is_a_value_too_is_said_to_be_one() -> None:
    [reading] = read("give us the total salary")
    assert not reading.filters
    [said] = reading.said
    assert said == "“us” is read as a small word, not as the value US of `country`."
    assert not read("total salary")[0].said, "nothing is said where nothing was passed over"
    assert filters("AVERAGE SALARY IN US")[-1] == [("country", "one of", ("US",))]


@pytest.mark.parametrize("question", ["average salary this month", "total salary this year"])
def test_this_month_is_not_each_month(question: str) -> None:
    assert read(question) == []


@pytest.mark.parametrize(
    ("question", "tests"),
    [
        ("how many rows with salary below −5", [("<", "-5")]),
        ("how many rows with salary below –5", [("<", "-5")]),
        ("how many rows with salary ≥ 5", [(">=", "5")]),
        ("how many rows with salary ≤ 5", [("<=", "5")]),
        ("how many rows with salary > 1,000", [(">", "1000")]),
        ("how many rows with salary > 1,000.5", [(">", "1000.5")]),
        ("how many rows with salary > 1.000", [(">", "1000"), (">", "1")]),
        ("Wie viele Zeilen mit Salary über 1.000", [(">", "1000")]),
        ("Wie viele Zeilen mit Salary über 1.234,5", [(">", "1234.5")]),
        ("Wie viele Zeilen mit Salary über 2,5", [(">", "2.5")]),
        ("Wie viele Zeilen mit Salary über 2,500", [(">", "2500"), (">", "2.5")]),
        ("Wie viele Zeilen mit Salary unter −1.000", [("<", "-1000")]),
        ("combien de lignes avec Salary superieur a 1 000,5", [(">", "1000.5")]),
        ("cuantas filas con Salary mayor que 1.000.000", [(">", "1000000")]),
    ],
)
def test_numbers_are_those_of_the_language(question: str, tests: list[tuple[str, str]]) -> None:
    assert [(test, *given) for [(_, test, given)] in filters(question)] == tests


@pytest.mark.parametrize("sign", ["≈", "±", "~"])
def test_a_sign_that_is_not_known_is_not_passed_over(sign: str) -> None:
    question = f"how many rows with salary {sign} 5"
    assert read(question) == []
    assert Grammar(question, STAFF).unknown() == [sign]


@pytest.mark.parametrize(
    ("language", "text"), [("en", "3,4,5"), ("de", "3,4,5"), ("de", "01.03.2023"), ("en", "1.2.3")]
)
def test_lists_days_and_versions_are_no_numbers(language: str, text: str) -> None:
    assert meanings(text, language) == ()
    assert list(written(f"in {text} there", language)) == []


PLAYERS = read_table(
    {
        "name": "players",
        "rows": 9,
        "columns": [
            {"name": "team", "type": "VARCHAR", "distinct": 2, "top": [["Reds", 5], ["Blues", 4]]},
            {"name": "sal", "type": "BIGINT", "min": 1, "max": 5000},
            {"name": "cost", "type": "BIGINT", "min": 1, "max": 50},
            {"name": "Umsatz", "type": "BIGINT", "min": 1, "max": 50},
            {"name": "injured", "type": "VARCHAR", "distinct": 2, "top": [["No", 5], ["yes", 4]]},
            {"name": "captain", "type": "BOOLEAN", "distinct": 2},
            {"name": "insured", "type": "VARCHAR", "distinct": 1, "top": [["no", 9]]},
            {"name": "answer", "type": "VARCHAR", "distinct": 3, "top": [["yes", 5], ["No", 3]]},
            {"name": "day", "type": "DATE", "min": "2021-01-01", "max": "2023-12-31"},
        ],
    },
    "f1",
    "sales.csv",
)


def said(question: str, table: AskedTable = PLAYERS) -> list[str]:
    return [in_words(query) for query in read(question, table)]


@pytest.mark.parametrize(
    "question",
    [
        "what is the total media cost",
        "media cost by team",
        "mayor cost by team",
        "hay cost by team",
        "war cost by team",
        "mes cost",
        "how many rows die",
        "Sommer Umsatz",
    ],
)
def test_a_word_that_another_language_knows_is_not_that_of_the_question(question: str) -> None:
    assert not said(question)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("la media de cost por team", "average `cost` by `team`"),
        ("mayor cost", "highest `cost`"),
        ("cost por mes", "total `cost` by month of `day`"),
        ("wie hoch war die Summe von cost", "total `cost`"),
        ("average cost pro team", "average `cost` by `team`"),
        ("part de cost par team", "share of total `cost` by `team`"),
    ],
)
def test_languages_may_be_mixed(question: str, meant: str) -> None:
    assert said(question) == [meant]


@pytest.mark.parametrize(
    "question",
    [
        "total cost loss",
        "cost mines",
        "how many rows with cost less 5",
        "total sales",
        "how many rows are out of team Reds",
        "US cost by team",
        "data cost by team",
    ],
)
def test_what_makes_another_figure_is_not_passed_over(question: str) -> None:
    assert not said(question)


def test_a_column_of_yes_and_no_says_which_rows() -> None:
    assert said("how many injured") == ["number of rows where `injured` is “yes”"]
    assert said("wie viele sind injured") == said("how many injured")
    assert said("average cost of captains") == ["average `cost` where `captain`"]
    assert said("average cost of injured") == ["average `cost` where `injured` is “yes”"]
    assert said("how many insured") == ["number of rows where `insured` is “yes”"], "none is"
    assert said("how many different injured") == ["number of different `injured`"]
    assert said("how many answers") == ["number of different `answer`"], "it has a third one"
    assert said("average cost by team and injured") == ["average `cost` by `team` and `injured`"]
    assert said("how many rows with injured yes") == said("how many injured")
    both = "number of rows where `team` is “Reds” and `captain`"
    assert said("how many Reds captains") == [both], "both are conditions"


def test_a_word_for_rows_and_figures_counts_rows_only_where_it_is_asked_how_many() -> None:
    assert said("how many sales by team") == ["number of rows by `team`"]
    assert said("number of sales") == ["number of rows"]
    for question in (
        "share of sales by team",
        "which team has the most sales",
        "% of sales in Reds",
    ):
        assert not said(question)
    assert said("which team has the most rows") == ["top 1 `team` by number of rows"]

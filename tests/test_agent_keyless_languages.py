"""The analyst without a model in four languages: a question is answered in its own, in figures as
that language writes them, and what it offers is understood again.
"""

from __future__ import annotations

import re

import pandas as pd
import pytest

from leaf.agent.models.keyless import NOT_UNDERSTOOD, WHICH_IS_MEANT, tells
from leaf.agent.proposals.ideas import first_ideas
from leaf.agent.proposals.wording import worded
from leaf.agent.rules import answers
from leaf.agent.rules.grammar import Grammar
from leaf.agent.rules.kinds import ROWS, Query
from leaf.agent.rules.spoken import SAYS_ABOUT, asked_as, in_all, language_of
from leaf.agent.rules.tables import NO_COLUMN, AskedTable, read_table
from leaf.agent.rules.understanding import AS_CHART, COMPARED, compared, drawn_as
from leaf.language.text import NAMES, speaking, t
from leaf.shapes.results import ProfileShown
from tests.test_agent_keyless import DATA, TEXTS, World, is_read, questions_of

TABLE = read_table(
    World("orders").describe({"file": "f1"}).data.to_json()["profile"], "f1", "orders.csv"
)
COLUMN = {column.name: column for column in TABLE.columns}
REVENUE = (("sum", COLUMN["net_revenue"]),)
BY_REGION = ((COLUMN["region"], ""),)
QUERIES = {
    "total": Query(figures=REVENUE),
    "total by group": Query(figures=REVENUE, groups=BY_REGION),
    "average": Query(figures=(("avg", COLUMN["unit_price"]),), groups=BY_REGION),
    "two figures": Query(figures=(("min", COLUMN["units"]), ("max", COLUMN["units"]))),
    "median": Query(figures=(("median", COLUMN["units"]),)),
    "spread": Query(figures=(("stddev", COLUMN["units"]),)),
    "rows": Query(figures=(ROWS,), groups=BY_REGION),
    "different": Query(figures=(("distinct", COLUMN["customer_name"]),)),
    "top": Query("top", REVENUE, ((COLUMN["product"], ""),), rank="max", limit=3),
    "bottom": Query("top", REVENUE, ((COLUMN["product"], ""),), rank="min", limit=3),
    "share": Query("share", REVENUE, BY_REGION),
    "share of rows": Query("share", (ROWS,), BY_REGION),
    "month": Query(figures=REVENUE, groups=((COLUMN["order_date"], "month"),)),
    "quarter and group": Query(
        figures=REVENUE, groups=((COLUMN["order_date"], "quarter"), *BY_REGION)
    ),
    "one value": Query(
        figures=REVENUE, filters=((COLUMN["region"], "one of", ("North", "South")),)
    ),
    "number": Query(figures=REVENUE, filters=((COLUMN["units"], ">", ("5",)),)),
    "not a number": Query(figures=REVENUE, filters=((COLUMN["units"], "<>", ("5",)),)),
    "numbers": Query(figures=REVENUE, filters=((COLUMN["units"], "between", ("5", "9")),)),
    "in a year": Query(figures=REVENUE, filters=((COLUMN["order_date"], "in", ("2023",)),)),
    "in either year": Query(
        figures=REVENUE, filters=((COLUMN["order_date"], "in", ("2022", "2023")),)
    ),
    "on a day": Query(figures=REVENUE, filters=((COLUMN["order_date"], "in", ("2023-02-03",)),)),
    "by day": Query(figures=REVENUE, groups=((COLUMN["order_date"], "day"),)),
    "by week": Query(figures=REVENUE, groups=((COLUMN["order_date"], "week"),)),
    "by weekday": Query(figures=REVENUE, groups=((COLUMN["order_date"], "weekday"),)),
    "listed": Query("rows", filters=((COLUMN["region"], "one of", ("North",)),)),
    "since": Query(figures=REVENUE, filters=((COLUMN["order_date"], "since", ("2023",)),)),
    "after": Query(figures=REVENUE, filters=((COLUMN["order_date"], "after", ("2022",)),)),
    "before": Query(figures=REVENUE, filters=((COLUMN["order_date"], "before", ("2023",)),)),
    "true": Query(figures=(ROWS,), filters=((COLUMN["returned"], "true", ()),)),
    "two conditions": Query(
        figures=REVENUE,
        groups=BY_REGION,
        filters=(
            (COLUMN["status"], "one of", ("open",)),
            (COLUMN["order_date"], "in", ("2023",)),
        ),
    ),
    "empty": Query(figures=(ROWS,), filters=((COLUMN["discount"], "empty", ()),)),
    "figure of empty": Query(figures=REVENUE, filters=((COLUMN["discount"], "empty", ()),)),
}


ALIKE = {
    "How has the average unit price developed?": "en",
    "Wie hat sich der durchschnittliche unit price entwickelt?": "de",
    "Comment a évolué le moyen unit price ?": "fr",
    "¿Cómo ha evolucionado el promedio de unit price?": "es",
}


@pytest.mark.parametrize("asked", ALIKE)
def test_a_development_is_asked_for_in_each_language(asked: str) -> None:
    assert language_of(asked) == ALIKE[asked]
    [query] = Grammar(asked, TABLE).readings()
    assert query == Query(
        figures=(("avg", COLUMN["unit_price"]),), groups=((COLUMN["order_date"], "month"),)
    )


COMMON = [
    "the most common product",
    "das häufigste product",
    "le product le plus fréquent",
    "el product más frecuente",
]


@pytest.mark.parametrize("asked", COMMON)
def test_what_is_most_common_is_asked_for_in_each_language(asked: str) -> None:
    [query] = Grammar(asked, TABLE).readings()
    assert query == Query("top", (ROWS,), ((COLUMN["product"], ""),), rank="max")


@pytest.mark.parametrize("language", NAMES)
@pytest.mark.parametrize("name", QUERIES)
def test_what_was_understood_is_said_in_words_that_mean_this_alone(
    name: str, language: str
) -> None:
    with speaking(language):
        said = answers.in_words(QUERIES[name])
        assert Grammar(said, TABLE).readings() == [QUERIES[name]], said


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("total revenue by region", "en"),
        ("Umsatz nach Filiale", "de"),
        ("Wie viele Bestellungen gibt es?", "de"),
        ("Durchschnitt Preis pro Monat", "de"),
        ("Welche Region hat den höchsten Umsatz?", "de"),
        ("somme des ventes par région", "fr"),
        ("Combien de commandes y a-t-il par mois ?", "fr"),
        ("Quelle région a le plus de ventes ?", "fr"),
        ("¿Cuántos pedidos hay por mes?", "es"),
        ("promedio de precio por región", "es"),
        ("Hallo", "de"),
        ("Bonjour", "fr"),
        ("hola", "es"),
        ("hello", "en"),
        ("total `umsatz` by `filiale`", "en"),
        ("Summe `total` nach `the region of sale`", "de"),
        ("net_revenue", "en"),
        ("", "en"),
        ("12 34 %", "en"),
        ("合計", "en"),
        ("итого по региону", "en"),
        ("SELECT region, sum(net_revenue) FROM orders GROUP BY 1", "en"),
        ("x" * 100_000, "en"),
    ],
)
def test_the_language_of_a_question_is_that_of_its_words(question: str, language: str) -> None:
    assert language_of(question) == language


ASKED = {
    "en": ("total net revenue by region", "Read as: total `net_revenue` by `region`, in `orders`."),
    "de": (
        "Summe net revenue nach region",
        "Verstanden als: Summe `net_revenue` nach `region`, in `orders`.",
    ),
    "fr": (
        "somme de net revenue par region",
        "Compris comme : somme de `net_revenue` par `region`, dans `orders`.",
    ),
    "es": (
        "suma de net revenue por region",
        "Entendido como: suma de `net_revenue` por `region`, en `orders`.",
    ),
}
THOUSANDS = {"en": r"\d,\d{3}\.\d\d", "de": r"\d\.\d{3},\d\d", "fr": "\\d\u202f\\d{3},\\d\\d"}


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        (
            "What are the two products with the highest total units since 2023?",
            "top 2 `product` by total `units` where `order_date` since 2023",
        ),
        ("Which 3 regions had the most orders?", "top 3 `region` by number of rows"),
        ("two months with the lowest units", "bottom 2 month of `order_date` by total `units`"),
        ("Die drei Regionen mit den höchsten units", "Top 3 `region` nach Summe `units`"),
        ("les trois regions avec le plus de lignes", "top 3 `region` par nombre de lignes"),
        ("las dos region con mas filas", "top 2 `region` por número de filas"),
        ("how many orders where units above five", "number of rows where `units` > 5"),
        ("two regions and the highest units", ""),
        ("two regions total units", ""),
        ("0 regions with the highest units", ""),
    ],
)
def test_as_many_as_a_word_says_are_told_that_have_the_most(asked: str, read: str) -> None:
    text = World("orders").ask(asked).text
    assert (f": {read}, " in text) if read else ("`orders`): 240" in text)


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        ("Total net revenue by region as a bar chart", "Total net revenue by region"),
        ("Draw total net revenue by region as a chart", "total net revenue by region"),
        ("Summe net revenue nach region als Balkendiagramm", "Summe net revenue nach region"),
        (
            "somme de net revenue par region en diagramme en barres",
            "somme de net revenue par region",
        ),
        ("suma de net revenue por region en gráfico de barras", "suma de net revenue por region"),
        ("total net revenue by region", ""),
    ],
)
def test_a_chart_is_asked_for_before_or_behind_the_figure(asked: str, query: str) -> None:
    assert drawn_as(asked) == query
    world = World("orders")
    assert is_read(world.ask(asked).text)
    assert len(world.charts) == bool(query)


def test_a_total_of_no_column_is_asked_back_with_each_column_of_figures() -> None:
    offered = questions_of(World("orders").ask("What is the total by region?"))
    assert "total `net_revenue` by `region`" in offered
    assert "total `units` by `region`" in offered
    for each in offered:
        assert is_read(World("orders").ask(each).text)


@pytest.mark.parametrize("language", NAMES)
def test_a_question_is_answered_in_its_own_language(language: str) -> None:
    asked, read = ASKED[language]
    world = World("orders")
    text = world.ask(asked).text
    assert read in text
    assert re.search(THOUSANDS.get(language, THOUSANDS["de"]), text), text
    for other in set(NAMES) - {language}:
        assert ASKED[other][1].partition(":")[0] not in text
    east = next(row for row in world.results[-1] if row[0] == "East")
    with speaking(language):
        assert answers.cell(east[1]) in text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Umsatz ohne North", NOT_UNDERSTOOD),
        ("Wie viel Gewinn haben wir gemacht?", NOT_UNDERSTOOD),
        ("quel est le bénéfice sans North", NOT_UNDERSTOOD),
        ("ingresos sin North de la tabla", NOT_UNDERSTOOD),
    ],
)
def test_what_is_not_understood_is_said_in_its_language_with_questions_of_it(
    asked: str, said: str
) -> None:
    language = language_of(asked)
    assert language != "en"
    result = World("orders").ask(asked)
    with speaking(language):
        begin = in_all(said)[list(NAMES).index(language)].partition("{")[0]
    assert result.text.startswith(begin)
    offered = questions_of(result)
    assert offered
    for each in offered:
        assert language_of(each) == language, each
        assert is_read(World("orders").ask(each).text)


def test_tables_of_one_shape_are_united_in_the_language_of_the_question() -> None:
    for month in (1, 2, 3):
        DATA[f"kasse_{month}"] = pd.DataFrame({"filiale": ["a", "b"], "betrag": [month, 1_000]})
    names = ("kasse_1", "kasse_2", "kasse_3")
    for asked, language in (("Summe betrag für a", "de"), ("somme de betrag pour a", "fr")):
        offered = questions_of(World(*names).ask(asked))
        with speaking(language):
            assert "3" in offered[0]
            assert language_of(offered[0]) == language
        answer = World(*names).ask(offered[0])
        assert "**6**" in answer.text, answer.text


def test_greetings_lone_chats_and_texts_are_met_in_the_language() -> None:
    assert World().ask("Guten Tag").text.startswith("Hallo.")
    assert "noch keine Datei" in World().ask("Wie viele Zeilen gibt es?").text
    assert "ne correspond à" in World(texts=TEXTS).ask("Où est le zeppelin dans les textes ?").text
    missing = World("orders").ask("fehlende Werte").text
    assert "240 Zeilen, 11 Spalten" in missing
    assert "| Spalte | Typ | leer | verschiedene | Werte |" in missing


def test_gaps_and_yes_and_no_are_said_in_the_language() -> None:
    text = World("orders").ask("Durchschnitt discount nach returned").text
    assert "`discount` ist in 48 von 240 Zeilen leer; diese zählen nicht." in text
    assert "| ja |" in text
    assert "| nein |" in text


def test_a_chat_is_told_once_in_whichever_language_it_was_said() -> None:
    for language in NAMES:
        with speaking(language):
            assert tells(World("orders").ask(ASKED[language][0]).text)
    assert not tells("No model is connected to this port.")


@pytest.mark.parametrize("piece", [" ", "x ", "with ", "by ", "?", " as a chart", "über "])
def test_a_question_that_is_long_on_purpose_is_not_looked_at_whole(piece: str) -> None:
    """Its patterns would take hours for it; as it is they look at a thousand characters."""
    question = f"Compare {piece * 200_000}b"
    for text in (COMPARED, SAYS_ABOUT, AS_CHART, "{query} across the {n} tables of this shape"):
        assert asked_as(text, question) is None


def test_no_column_has_no_name_in_words() -> None:
    with speaking("de"):
        by_month = Query(figures=REVENUE, groups=((NO_COLUMN, "month"),))
        assert answers.in_words(by_month) == "Summe `net_revenue` nach Monat"
    assert WHICH_IS_MEANT in in_all(WHICH_IS_MEANT)


@pytest.mark.parametrize("language", NAMES)
def test_what_is_suggested_is_said_in_the_language_of_the_page_and_understood(
    language: str,
) -> None:
    with speaking(language):
        offered = [worded(query, TABLE, [TABLE]) for query in first_ideas(TABLE)]
        found = [proposal for proposal in offered if proposal is not None]
        drawn = worded(QUERIES["total by group"], TABLE, [TABLE], drawn=True)
    assert len(found) >= 3
    assert drawn is not None
    for proposal in [*found, drawn]:
        assert language_of(proposal.question) == language, proposal.question
        world = World("orders")
        assert is_read(world.ask(proposal.question).text)
        assert world.queries[-1] == proposal.sql
    assert len(world.charts) == 1


@pytest.mark.parametrize("language", NAMES)
def test_two_tables_are_compared_and_texts_asked_in_each_language(language: str) -> None:
    DATA["till"] = pd.DataFrame({"region": ["North", "South"] * 4, "amount": [10.5] * 8})
    tables = [read_table(profile_of(name), handle, f"{name}.csv") for name, handle in PAIR]
    with speaking(language):
        sides = [
            answers.in_words(Query(figures=(("sum", table.columns[at]),))) + in_table(table)
            for table, at in zip(tables, (7, 1), strict=True)
        ]
        asked = t(COMPARED, one=sides[0], other=sides[1], group="region")
        about = t(SAYS_ABOUT, file="a.pdf", heading="the end of days")
    assert compared(asked, tables) is not None, asked
    assert asked_as(SAYS_ABOUT, about) == ["a.pdf", "the end of days"]


PAIR = (("orders", "f1"), ("till", "f2"))


def profile_of(name: str) -> ProfileShown:
    return World(name).describe({"file": "f1"}).data.to_json()["profile"]


def in_table(table: AskedTable) -> str:
    return t("{figure} in {table}", figure="", table=table.title)


def test_rows_without_a_group_stand_beside_each_other_when_tables_are_compared() -> None:
    DATA["here"] = pd.DataFrame({"region": ["North", None], "amount": [1, 2]})
    DATA["there"] = pd.DataFrame({"region": ["North", None, "South"], "amount": [3, 4, 5]})
    world = World("here", "there")
    world.ask("Compare total amount in here.csv with total amount in there.csv by region")
    assert world.results[-1] == [["North", 1, 3], ["South", None, 5], [None, 2, 4]]

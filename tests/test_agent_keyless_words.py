"""The analyst without a model: words that are mostly passed over, where they ask for something else,
and figures that need a word of warning."""

from __future__ import annotations

import pandas as pd
import pytest

from leaf.agent.models.keyless import WHICH_IS_MEANT
from leaf.agent.rules.spoken import in_all, language_of
from leaf.language.text import NAMES
from tests.test_agent_keyless import DATA, ORDERS, World, is_read, questions_of

DATA["lines"] = pd.DataFrame(
    {
        "Order ID": [f"A-{i // 2}" for i in range(40)],
        "Customer ID": [f"C-{i % 4}" for i in range(40)],
        "region": [("West", "East", "South")[i % 3] for i in range(40)],
        "sales": [10.5 + i for i in range(40)],
        "currency": [("EUR", "USD", "GBP", "CHF")[i % 4] for i in range(40)],
        "country": [("Austria", "Kenya", "Wales", "Ticino")[i % 4] for i in range(40)],
        "units": [i % 5 for i in range(40)],
    }
)
DATA["flights"] = pd.DataFrame(
    {
        "flight": [100 + i for i in range(30)],
        "origin": [("JFK", "EWR")[i % 2] for i in range(30)],
        "dest": [("LAX", "ORD", "MIA")[i % 3] for i in range(30)],
        "distance": [200 + 10 * i for i in range(30)],
        "cancelled": [i % 5 == 0 for i in range(30)],
    }
)
DATA["pedidos"] = pd.DataFrame(
    {
        "ciudad": [("Madrid", "Sevilla")[i % 2] for i in range(20)],
        "importe": [10.5 * i for i in range(20)],
        "devuelto": [("sí", "no")[i % 4 != 0] for i in range(20)],
        "clase": [("Primera", "Otra")[i % 2] for i in range(20)],
    }
)
DATA["tiers"] = pd.DataFrame({"tier": ["First", "Second", "Third"] * 4, "n": range(12)})
LINES = DATA["lines"]


@pytest.mark.parametrize(
    ("table", "asked"),
    [
        ("orders", "what does unit_price mean?"),
        ("orders", "what do units mean"),
        ("orders", "what units means"),
        ("orders", "average list units"),
        ("orders", "what is the average display units"),
        ("orders", "total field units"),
        ("orders", "total units of those orders"),
        ("orders", "total units of these orders"),
        ("orders", "total units of this order"),
        ("orders", "total units of that order"),
        ("flights", "how many flights !cancelled"),
        ("flights", "how many rows from LAX"),
        ("pedidos", "cuántas filas no en Madrid"),
        ("pedidos", "importe total no en Madrid"),
        ("tiers", "total n of the first rows"),
        ("tiers", "how many rows without third"),
        ("pedidos", "¿Cuántas filas no son de Madrid?"),
    ],
)
def test_a_small_word_that_asks_for_something_else_is_not_passed_over(
    table: str, asked: str
) -> None:
    text = World(table).ask(asked).text
    assert not is_read(text), text


@pytest.mark.parametrize(
    ("table", "asked", "figure"),
    [
        ("orders", "mean units", ORDERS.units.mean()),
        ("orders", "units mean", ORDERS.units.mean()),
        ("orders", "please show me total units", ORDERS.units.sum()),
        ("orders", "show total units", ORDERS.units.sum()),
        ("flights", "how many flights that were cancelled", 6),
        ("flights", "total distance of flights that cancelled", 1950),
        ("flights", "how many rows from JFK", 15),
        ("pedidos", "cuántas filas devuelto no", 15),
        ("pedidos", "importe total de filas no devueltos", 10.5 * (190 - 40)),
        ("pedidos", "importe total de otra clase", 10.5 * 100),
        ("lines", "how many different customers", 4),
        ("tiers", "how many rows in third", 4),
        ("tiers", "how many rows are First", 4),
        ("tiers", "how many rows in first tier", 4),
    ],
)
def test_small_words_are_passed_over_where_they_add_nothing(
    table: str, asked: str, figure: float
) -> None:
    world = World(table)
    assert is_read(world.ask(asked).text)
    assert world.results[-1][0][-1] == pytest.approx(figure)


@pytest.mark.parametrize(
    ("asked", "same"),
    [
        ("how many rows with units between 9 and 3", "how many rows with units between 3 and 9"),
        ("units between 2023 and 2022", "units between 2022 and 2023"),
        ("units between -3 and -9", "units between -9 and -3"),
    ],
)
def test_the_ends_of_a_range_may_stand_in_either_order(asked: str, same: str) -> None:
    one, other = World("orders"), World("orders")
    one.ask(asked)
    other.ask(same)
    assert one.results[-1] == other.results[-1]


def test_from_a_day_is_asked_back_as_on_it_or_since() -> None:
    result = World("orders").ask("total units from 2023")
    assert questions_of(result) == [
        "total `units` where `order_date` in 2023",
        "total `units` where `order_date` since 2023",
    ]
    for each in questions_of(result):
        assert is_read(World("orders").ask(each).text)


@pytest.mark.parametrize(
    "asked", ["orders by region", "which region has the most orders?", "how many orders are there"]
)
def test_orders_of_several_lines_are_asked_back_as_lines_or_orders(asked: str) -> None:
    DATA["orders_lines"] = LINES
    world = World("orders_lines")
    world.files[0]["name"] = "orders.csv"
    result = world.ask(asked)
    assert result.text.startswith(in_all(WHICH_IS_MEANT)[0])
    assert any("number of different `Order ID`" in each for each in questions_of(result))
    assert not is_read(world.ask("what percentage of orders are in West").text)


def test_what_a_table_has_ids_of_is_counted_by_groups() -> None:
    world = World("lines")
    assert is_read(world.ask("customers by region").text)
    truth = LINES.groupby("region")["Customer ID"].nunique().to_dict()
    assert dict(world.results[-1]) == truth


def test_a_total_of_what_its_rows_are_may_be_their_number() -> None:
    result = World("flights").ask("total flights")
    assert questions_of(result) == ["number of rows", "total `flight`"]
    assert "**60**" in World("goals").ask("total goals").text


def test_of_many_who_share_a_rank_it_is_said_how_many_are_left_out() -> None:
    text = World("lines").ask("which Order ID has the most rows?").text
    assert "**A-21**" not in text
    assert " and 5 others: number of rows **2** each." in text


@pytest.mark.parametrize(
    ("asked", "n"),
    [
        ("total sales", 4),
        ("total sales by region", 4),
        ("highest sales in West", 4),
        ("total sales in USD", 0),
        ("total sales for USD and EUR", 2),
        ("total sales by currency", 0),
        ("total sales by country", 0),
        ("total units", 0),
        ("how many rows", 0),
    ],
)
def test_amounts_of_several_currencies_that_are_put_together_are_told(asked: str, n: int) -> None:
    text = World("lines").ask(asked).text
    assert is_read(text)
    assert ("currencies together" in text) == bool(n), text
    if n:
        assert f"⚠ This puts amounts of {n} currencies together (" in text
        assert "in `currency`)." in text


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        ("höchster Betrag", "de"),
        ("Menge Käse in München", "de"),
        ("Menge 2023", "de"),
        ("Median Gehalt je Geschlecht", "de"),
        ("letzter Saldo", "de"),
        ("Betrag außer REWE", "de"),
        ("Top 3 Warengruppen nach Menge", "de"),
        ("quantité en 2023", "fr"),
        ("montant sauf Bretagne", "fr"),
        ("importe en 2022", "es"),
        ("importe excepto Madrid", "es"),
        ("¿qué significa importe?", "es"),
        ("top 3 clientes por importe", "es"),
        ("units in Köln", "en"),
        ("total n for O'Hara", "en"),
        ("average Umsatz", "en"),
        ("sales in Île-de-France", "en"),
    ],
)
def test_few_words_tell_their_language_too(asked: str, language: str) -> None:
    assert language_of(asked) == language


@pytest.mark.parametrize("language", NAMES)
def test_currencies_are_told_in_each_language(language: str) -> None:
    asked = {
        "en": "total sales by region",
        "de": "Summe sales nach region",
        "fr": "somme de sales par region",
        "es": "suma de sales por region",
    }
    word = {"en": "currencies", "de": "Währungen", "fr": "devises", "es": "monedas"}[language]
    assert word in World("lines").ask(asked[language]).text


DATA["tickets"] = pd.DataFrame(
    {
        "opened_at": pd.date_range("2022-10-01", periods=60, freq="3D"),
        "closed_at": pd.date_range("2023-01-01", periods=60, freq="3D"),
        "ship_date": pd.date_range("2022-12-01", periods=60, freq="3D"),
        "status": [("open", "closed", "shipped")[i % 3] for i in range(60)],
        "plot": [f"P{i % 4}" for i in range(60)],
        "biomass": [i % 13 + 0.5 for i in range(60)],
        "No-show": [("Yes", "No")[i % 4 != 0] for i in range(60)],
    }
)


@pytest.mark.parametrize(
    ("asked", "column"),
    [
        ("how many tickets were closed in 2023", "closed_at"),
        ("how many tickets are shipped in 2023", "ship_date"),
        ("closed tickets by month", "closed_at"),
    ],
)
def test_when_something_was_closed_may_stand_in_a_column_of_its_own(
    asked: str, column: str
) -> None:
    offered = questions_of(World("tickets").ask(asked))
    assert len(offered) == 2
    assert all(any(f"`{name}`" in each for each in offered) for name in ("opened_at", column))
    for each in offered:
        assert is_read(World("tickets").ask(each).text)


def test_a_period_of_what_is_not_picked_out_is_of_the_column_that_says_when() -> None:
    assert is_read(World("tickets").ask("how many tickets in 2023").text)


@pytest.mark.parametrize(
    "asked",
    [
        "highest average biomass by plot",
        "highest total biomass by status",
        "average total biomass",
        "was the highest biomass in P1?",
        "are tickets closed?",
        "how many show",
        "how many rows have biomass above 1 million",
        "average biomass in a plot",
    ],
)
def test_what_asks_for_another_figure_is_not_answered_with_this_one(asked: str) -> None:
    text = World("tickets").ask(asked).text
    assert not is_read(text), text
    assert ("would ask" in text) == asked.startswith("was")


@pytest.mark.parametrize(
    ("asked", "figures"),
    [
        ("lowest and highest biomass", [0.5, 12.5]),
        ("min max biomass", [0.5, 12.5]),
        ("total sum of biomass", [DATA["tickets"].biomass.sum()]),
        ("how many no shows", [15]),
        ("is 5 the average biomass", []),
    ],
)
def test_functions_without_a_word_between_them_are_one_or_both_ends(
    asked: str, figures: list[float]
) -> None:
    world = World("tickets")
    assert is_read(world.ask(asked).text) == bool(figures)
    if figures:
        assert world.results[-1] == [pytest.approx(figures)]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("average biomass as a chart", "No chart is drawn"),
        ("average biomass by plot and status as a chart", "No chart is drawn"),
        ("average biomass by plot as a line chart", "Bars are drawn"),
        ("average biomass by plot as a chart", ""),
        ("average biomass by month of opened_at as a line chart", ""),
        ("average biomass by plot", ""),
    ],
)
def test_a_chart_that_is_not_drawn_as_asked_is_told(asked: str, said: str) -> None:
    text = World("tickets").ask(asked).text
    assert is_read(text)
    assert (said in text) if said else ("drawn" not in text)


@pytest.mark.parametrize("asked", ["Are there missing values?", "Is there an overview?"])
def test_whether_there_are_gaps_is_told_with_all_of_them(asked: str) -> None:
    assert World("tickets").ask(asked).text.startswith("**tickets.csv** (table `tickets`): 60 rows")

"""What columns are for: told from their names, types and values."""

from __future__ import annotations

from typing import Any

import pytest

from leaf.agent.column_kinds import is_added_up, is_rate, kind_of, name_words, says_when
from leaf.files.names import fold

KINDS: list[tuple[str, str, tuple[Any, ...], tuple[str, ...], str]] = [
    ("net_revenue", "DOUBLE", (1.5, 90.0), (), "figure"),
    ("order_id", "BIGINT", (1, 9), (), "id"),
    ("Kundennummer", "BIGINT", (1, 9), (), "id"),
    ("width", "BIGINT", (1, 9), (), "figure"),
    ("Year", "BIGINT", (1990, 2020), (), "year"),
    ("Year", "DOUBLE", (1990.0, 2020.0), (), "year"),
    ("Year", "BIGINT", (), (), "year"),
    ("years of service", "BIGINT", (0, 40), (), "figure"),
    ("day", "DATE", (), (), "date"),
    ("at", "TIMESTAMP WITH TIME ZONE", (), (), "date"),
    ("day", "VARCHAR", (), ("2024-01-01", "2024-01-02 10:00"), "date"),
    ("day", "VARCHAR", (), ("2024-01-01", "unknown"), "text"),
    ("day", "VARCHAR", (), (), "text"),
    ("returned", "BOOLEAN", (), (), "bool"),
    ("scores", "INTEGER[]", (), (), "text"),
]


@pytest.mark.parametrize(("name", "sql_type", "ends", "texts", "kind"), KINDS)
def test_kind_is_told_from_name_type_and_values(
    name: str, sql_type: str, ends: tuple[Any, ...], texts: tuple[str, ...], kind: str
) -> None:
    assert kind_of(name, sql_type, ends, texts) == kind


def test_names_are_words_without_case_accents_and_signs() -> None:
    assert name_words("Net_Revenue (EUR)") == ("net", "revenue", "eur")
    assert name_words("unitPrice2023") == ("unit", "price2023")
    assert name_words("Gesamtumsatz") == ("gesamt", "umsatz")
    assert name_words("Quantité") == ("quantite",)


def test_only_what_people_add_up_is_added_up() -> None:
    assert [
        name
        for name in ("net_revenue", "total units", "unit_cost", "previous_sales", "age")
        if is_added_up(name_words(name))
    ] == [
        "net_revenue",
        "total units",
    ]
    assert is_rate(name_words("price per unit"))
    assert not is_rate(name_words("net_revenue"))


def test_birthdays_and_days_of_hire_do_not_say_when_something_was() -> None:
    assert says_when("date", ("order", "date"))
    assert says_when("year", ("year",))
    assert not says_when("date", ("birth", "date"))
    assert not says_when("figure", ("year",))


@pytest.mark.parametrize(
    ("typed", "written"),
    [("STRASSE", "Straße"), ("uber", "Über"), ("cafe\u0301  bar", "Café bar"), ("ﬁne", "fine")],
)
def test_what_people_type_is_the_same_as_what_is_written(typed: str, written: str) -> None:
    assert fold(typed) == fold(written)
    assert name_words(written) == tuple(fold(written).split())

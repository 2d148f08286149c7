"""Sentences that name several rows: each figure is of the one that stands beside it."""

from __future__ import annotations

import pytest

from leaf.provenance.receipts.evidence import Evidence
from leaf.provenance.receipts.match import match
from tests.test_receipts import query
from tests.test_receipts_derived import printed

REGIONS = query(
    ["region", "revenue", "orders"],
    [["North", 15120, 812], ["South", 12430, 640], ["East", 9815, 555], ["West", 7345, 498]],
)
YEARS = query(
    ["region", "revenue_2023", "revenue_2024"],
    [["North", 15120, 18330], ["South", 12430, 11270], ["East", 9815, 9990]],
)
LONG = query(
    ["region", "year", "revenue"],
    [
        [region, year, number]
        for region, *numbers in (("North", 15120, 18330), ("South", 12430, 11270))
        for year, number in zip((2023, 2024), numbers, strict=True)
    ],
)
COUNTRIES = query(
    ["country", "gdp"],
    [
        ["Trinidad and Tobago", 15120],
        ["Bosnia and Herzegovina", 12430],
        ["Congo, Dem. Rep.", 9815],
        ["Congo, Rep.", 18330],
        ["Crimes against Persons", 7345],
    ],
)


def traced(text: str, evidence: Evidence = REGIONS) -> list[str]:
    """The numbers of a text that have a receipt; years aside."""
    return [
        one.text
        for one in match([text], [evidence])
        if one.kind != "none" and not one.text.startswith("20")
    ]


@pytest.mark.parametrize(
    "template",
    [
        "North made {x} and South made {y}.",
        "North {x}, South {y}.",
        "North: {x}; South: {y}",
        "North → {x}, South → {y}",
        "North leads with {x}, followed by South with {y}.",
        "North ({x}) is ahead of South ({y}).",
        "North and South have {x} and {y}, respectively.",
        "Revenue was {x} for North versus {y} for South.",
        "The highest is North at {x}; the lowest is South at {y}.",
        "It ranges from {x} (North) to {y} (South).",
        "Behind North with {x} comes South with {y}.",
        "{x} belongs to North and {y} to South.",
        "While North stands at {x}, South only comes to {y}.",
        "For South the revenue is {y}, but North made {x}.",
        "With {x} North leads, South has {y}.",
        "North kommt auf {x} und South auf {y}.",
        "Auf North entfallen {x}, auf South {y}.",
        "North hat {x}, gegenüber {y} bei South.",
        "North führt mit {x}, gefolgt von South mit {y}.",
        "North und South haben {x} bzw. {y}.",
        "North atteint {x} et South {y}.",
        "North affiche {x}, contre {y} pour South.",
        "North arrive en tête avec {x}, suivi de South avec {y}.",
        "Alors que North est à {x}, South n'est qu'à {y}.",
        "North alcanza {x} y South {y}.",
        "North registra {x}, frente a {y} de South.",
        "North lidera con {x}, seguido de South con {y}.",
        "El máximo es {x} (North) y el mínimo {y} (South).",
    ],
)
def test_of_two_names_each_number_is_that_of_its_own(template: str) -> None:
    assert len(traced(template.format(x="15,120", y="12,430"))) == 2
    assert traced(template.format(x="12,430", y="15,120")) == []


@pytest.mark.parametrize(
    "text",
    [
        "South comes first after North with 12,430, and East is third with 9,815.",
        "South did well: it beat East by making 12,430, and West made 7,345.",
        "With 12,430, behind North's 15,120, South is second.",
        "At 15,120, North leads; at 12,430, South trails.",
        "With 15,120, North is first, and with 12,430, South is second.",
        "North beats South: 15,120 vs 12,430.",
        "South trails North (15,120) with 12,430.",
        "North surpasses 12,430 (South) with 15,120.",
        "North beats the 12,430 of South by making 15,120.",
        "North beats South's 12,430 with 15,120.",
        "15,120 – North, 12,430 – South.",
        "The two best are North and South, with 15,120 and 12,430.",
        "North and South had 812 and 640 orders, and revenue of 15,120 and 12,430.",
        "North has 812 orders and 15,120 in revenue, South 640 orders and 12,430.",
        "North (15,120 from 812 orders) is ahead of South (12,430 from 640 orders).",
        "South made less than North, only 12,430, and East 9,815.",
        "Apart from North, the best is South with 12,430.",
        "North and South together made 27,550, and East 9,815.",
        "North does well, South less so (15,120 vs 12,430).",
        "South liegt hinter North mit 12.430, East mit 9.815 noch weiter.",
        "North hat mehr als South, nämlich 15.120 statt 12.430.",
        "South folgt North mit 12.430, East folgt South mit 9.815.",
    ],
)
def test_sentences_may_tell_the_number_of_a_name_that_stands_apart(text: str) -> None:
    assert all(one.kind != "none" for one in match([text], [REGIONS]))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("North made 15,120 and South made 9,815.", "9,815"),  # of East
        ("North made 15,120 and South made 15,120.", "15,120"),  # of North
        ("North (15,120), ahead of South (7,345), grew.", "7,345"),
        ("North made 15,120, or more than South, which made 9,815.", "9,815"),
    ],
)
def test_beside_two_names_no_number_of_a_third_has_a_receipt(text: str, wrong: str) -> None:
    last = match([text], [REGIONS])[-1]
    assert (last.text, last.kind) == (wrong, "none")
    assert traced(text)[0] == "15,120"


def test_names_that_take_turns_round_have_no_receipts() -> None:
    assert traced("North, South and East have 15,120, 12,430 and 9,815.") == [
        "15,120",
        "12,430",
        "9,815",
    ]
    assert traced("North, South and East have 12,430, 9,815 and 15,120.") == []


def test_a_name_that_begins_with_a_digit_tells_no_number() -> None:
    table = query(["console", "sales"], [["GG", 13527], ["3DS", 9160], ["PSV", 11458]])
    assert traced("GG, 3DS and PSV have 13,527, 9,160 and 11,458.", table)[-3:] == [
        "13,527",
        "9,160",
        "11,458",
    ]


@pytest.mark.parametrize("table", [YEARS, LONG])
def test_years_are_names_too(table: Evidence) -> None:
    right = "In 2023 North made 15,120, in 2024 it made 18,330."
    assert traced(right, table) == ["15,120", "18,330"]
    assert traced("In 2023 North made 18,330, in 2024 it made 15,120.", table) == []
    rise = "North rose from 15,120 in 2023 to 18,330 in 2024, South fell from 12,430 to 11,270."
    assert len(traced(rise, table)) == 4


def test_shares_and_growths_are_of_the_row_beside_them() -> None:
    assert traced("North has 33.8 % of revenue, South 27.8 %.") == ["33.8 %", "27.8 %"]
    assert traced("North has 27.8 % of revenue, South 33.8 %.") == []
    for table in (YEARS, LONG):
        grew = "From 2023 to 2024 North changed by {}, South by {}."
        assert traced(grew.format("21.2 %", "−9.3 %"), table) == ["21.2 %", "−9.3 %"]
        assert traced(grew.format("−9.3 %", "21.2 %"), table) == []


def test_a_name_is_not_cut() -> None:
    for text in (
        "Trinidad and Tobago has 15,120 and Bosnia and Herzegovina 12,430.",
        "Congo, Dem. Rep. has 9,815 and Congo, Rep. 18,330.",
        "It ranges from 7,345 (Crimes against Persons) to 18,330 (Congo, Rep.).",
    ):
        assert len(traced(text, COUNTRIES)) == 2
    assert (
        traced("It ranges from 18,330 (Crimes against Persons) to 7,345 (Congo, Rep.).", COUNTRIES)
        == []
    )


def test_of_rows_with_the_same_number_a_receipt_shows_the_one_beside_it() -> None:
    table = query(["region", "revenue"], [["North", 15120], ["South", 12430], ["East", 15120]])
    rows = [one.row for one in match(["North made 15,120, East 15,120, South 12,430."], [table])]
    assert rows == [0, 2, 1]


def test_a_number_less_next_to_nothing_is_no_step() -> None:
    table = query(["region", "revenue", "rate"], [["North", 15120, 0.01], ["South", 12430, 0.02]])
    assert traced("North made 12,430 and South made 15,120.", table) == []
    assert traced("North made 15,120 less 12,430, or 2,690.", table)[-1] == "2,690"


@pytest.mark.parametrize("table", [YEARS, LONG])
def test_a_year_with_a_colon_leads_what_comes_behind_it(table: Evidence) -> None:
    text = "2023: North 15,120, South 12,430; 2024: North 18,330, South 11,270."
    assert traced(text, table) == ["15,120", "12,430", "18,330", "11,270"]
    wrong = "2023: North 18,330, South 11,270; 2024: North 15,120, South 12,430."
    assert traced(wrong, table) == []


FRAME = """\
  region  revenue  orders
0  North    15120     812
1  South    12430     640
2   East     9815     555
"""
SERIES = """\
region
North    15120
South    12430
East      9815
Name: revenue, dtype: int64
"""
LINES = "North: 15,120 (812 orders)\nSouth: 12,430 (640 orders)\nEast: 9,815 (555 orders)\n"
LEVELS = """\
             revenue
region year
North  2023    15120
       2024    18330
South  2023    12430
       2024    11270
"""


@pytest.mark.parametrize("text", [FRAME, SERIES, LINES])
def test_printed_lines_are_rows(text: str) -> None:
    cell = printed(text)
    assert traced("North made 15,120, South 12,430.", cell) == ["15,120", "12,430"]
    assert traced("North made 12,430, South 15,120.", cell) == []
    assert traced("North made 12,430.", cell) == []
    assert traced("The three made 15,120, 12,430 and 9,815.", cell) == ["15,120", "12,430", "9,815"]
    assert traced("| region | revenue |\n|---|---|\n| North | 15,120 |", cell) == ["15,120"]
    assert traced("| region | revenue |\n|---|---|\n| North | 12,430 |", cell) == []


def test_printed_levels_are_rows_of_both() -> None:
    cell = printed(LEVELS)
    assert traced("In 2024 North made 18,330 and South 11,270.", cell) == ["18,330", "11,270"]
    assert traced("In 2024 North made 15,120 and South 18,330.", cell) == []


def test_printed_lines_of_other_kinds_are_texts_as_before() -> None:
    cell = printed("Read 4,812 lines\nepoch 1 loss 0.512\nepoch 2 loss 0.431\n\nbest: 0.431 at 2\n")
    assert traced("After 4,812 lines the loss is 0.431, down from 0.512.", cell) == [
        "4,812",
        "0.431",
        "0.512",
    ]

"""Receipts: figures found in text, matched to what tools gave, marked in the page, and computed
again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaf.errors import NotFoundError
from leaf.provenance.receipts.answer import (
    kept_receipts,
    of_answer,
    passages_behind,
)
from leaf.provenance.receipts.evidence import Evidence
from leaf.provenance.receipts.figures import figures
from leaf.provenance.receipts.match import Receipt, match
from leaf.provenance.receipts.moments import moment
from leaf.shapes.results import PassageShown
from leaf.ui import markdown, marks, words
from leaf.ui.items import items
from tests.leaf_kit import add, finished, opened
from tests.messages_server import MessagesServer, Turn

Json = dict[str, Any]


# Figures in a text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It made 1,234.50 in all", [("1,234.50", 1234.5)]),
        ("Umsatz 1.234,50 €", [("1.234,50", 1234.5)]),
        ("about 1'250 or 1 250 pieces", [("1'250", 1250.0), ("1", 1.0), ("250", 250.0)]),
        ("rose 12.5 % to $1.2M", [("12.5 %", 12.5), ("$1.2M", 1_200_000.0)]),
        (
            "3.4 billion and 12k, 5 Mio.",
            [("3.4 billion", 3.4e9), ("12k", 12_000.0), ("5 Mio.", 5e6)],
        ),
        ("Es stieg auf 412. Der Rest blieb, bis 31. Damit", [("412", 412.0), ("31", 31.0)]),
        (
            "EUR5.2m, CHF 12.50 and USD1,200",
            [("EUR5.2m", 5_200_000.0), ("CHF 12.50", 12.5), ("USD1,200", 1200.0)],
        ),
        (
            "3,4 Mds €, 12 milliers, 12 mil, 2 billones, 3 Bio. und 5 Tausend",
            [
                ("3,4 Mds", 3.4e9),
                ("12 milliers", 12_000.0),
                ("12 mil", 12_000.0),
                ("2 billones", 2e12),
                ("3 Bio.", 3e12),
                ("5 Tausend", 5_000.0),
            ],
        ),
        ("2 milliard, 3 millones", [("2 milliard", 2e9), ("3 millones", 3e6)]),
        ("-4.2 and −7 and 10–12", [("-4.2", -4.2), ("−7", -7.0), ("10", 10.0), ("12", 12.0)]),
        ("1.5x as much, 3 of 5", [("1.5", 1.5), ("3", 3.0), ("5", 5.0)]),
        ("in 2024", [("2024", 2024.0)]),
        (
            "0.03333 of 0.1333, or 12.3456",
            [("0.03333", 0.03333), ("0.1333", 0.1333), ("12.3456", 12.3456)],
        ),
        (
            "0,333333 sind 1,2345 und 3,5",
            [("0,333333", 0.333333), ("1,2345", 1.2345), ("3,5", 3.5)],
        ),
        ("1,234,567.8901 in all", [("1,234,567.8901", 1234567.8901)]),
    ],
)
def test_figures_are_read_as_they_are_written(text: str, expected: list[tuple[str, float]]) -> None:
    found = [(figure.text, figure.readings[0].value) for figure in figures(text)]
    assert [written for written, _ in found] == [written for written, _ in expected]
    assert [value for _, value in found] == pytest.approx([value for _, value in expected])
    assert all(text[figure.start : figure.end] == figure.text for figure in figures(text))


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("on 2024-03-05", [("2024-03-05",)]),
        ("on 5 March 2024, and March 6, 2024", [("2024-03-05",), ("2024-03-06",)]),
        ("in Mar 2024", [("2024-03",)]),
        ("am 05.03.2024", [("2024-03-05", "2024-05-03")]),
        ("on 13/04/2024", [("2024-04-13",)]),
        ("le 5 juillet 2024 et le 6 décembre 2024", [("2024-07-05",), ("2024-12-06",)]),
        ("el 3 de julio de 2024, el 4 octubre 2024", [("2024-07-03",), ("2024-10-04",)]),
    ],
)
def test_dates_are_read_and_the_ambiguous_ones_both_ways(
    text: str, dates: list[tuple[str, ...]]
) -> None:
    assert [figure.dates for figure in figures(text)] == dates


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("It sold 1950 units", "number"),
        ("1950 of them came back", "number"),
        ("Es waren 1950 Kunden", "number"),
        ("Cela coûte 1950 euros", "number"),
        ("Se vendieron 1950 unidades", "number"),
        ("In 2024 units rose", "year"),
        ("2024 orders rose", "year"),
        ("Between 2023 and 2024 orders rose", "year"),
        ("North's 2024 orders", "year"),
        ("The 1950 census", "year"),
        ("In 2024 €5m were spent", "year"),
    ],
)
def test_a_number_like_a_year_that_counts_things_is_none(text: str, unit: str) -> None:
    found = {one.text: one.unit for one in figures(text)}
    assert found["2024" if "2024" in text else "1950"] == unit


@pytest.mark.parametrize(
    "text", ["12 pour cent", "12 Prozent", "12 v. H.", "12 por cien", "12 por ciento", "12 pct"]
)
def test_percentages_are_known_as_four_languages_write_them(text: str) -> None:
    assert [(one.text, one.unit) for one in figures(text)] == [(text, "percent")]


def test_figures_behind_a_date_and_a_time_are_where_they_stand() -> None:
    text = "On 2024-03-05 at 14:30 it had sold 57 lamps"
    found = [text[figure.start : figure.end] for figure in figures(text)]
    assert found == ["2024-03-05", "14:30", "57"]


@pytest.mark.parametrize(
    "text",
    [
        "`SELECT 12` and ``5``",
        "```\n1 2 3\n```",
        "See https://example.com/2024/12 and [here](https://x.org/7)",
        "f1, r22, Q3, H1, COVID-19, B2B and ISO-9001 are names",
        "1. First\n2) Second",
        "# 2.1 Heading",
        "It is so[1].",
        "the 3rd time",
        "le 1er, le 2e et la 3ème",
        "el 1.º, la 2ª y el 3.er puesto",
        "im 3. Quartal, der 2. Platz, auf 12. Stelle und auf 2. Platz",
        "on page 12, in section 2.1, step 3 and rows 4 to 9",
        "auf Seite 3, S. 4, in Abschnitt 2.1 und Zeile 9",
        "à la page 3, l'étape 2, n° 5; en la página 4, el paso 2",
        "iPhone 15, Windows 11, Boeing 747 and Python 3.12.1",
        "version 2.0, 1.2.3 and 10.0.0.1",
        "call +49 30 1234567 or 555-123-4567",
        "the top 5 and the 3 largest",
    ],
)
def test_what_only_looks_like_a_figure_is_passed_over(text: str) -> None:
    assert figures(text) == []


def test_names_of_columns_and_files_are_no_figures() -> None:
    assert [
        f.text for f in figures("revenue 2024 in sales_7.csv is 5", ["revenue 2024", "sales_7.csv"])
    ] == ["5"]


# Matching


def query(
    columns: list[str],
    rows: list[list[Any]],
    total: int = 0,
    sql: str = "SELECT 1",
    number: int = 1,
) -> Evidence:
    table = {
        "columns": columns,
        "types": [],
        "rows": rows,
        "total": total or len(rows),
        "result_id": f"r{number}",
    }
    return Evidence(
        f"c{number}", "query_tables", {"sql": sql}, {"text": "", "data": {"table": table}}
    )


REGIONS = query(
    ["region", "revenue", "orders"],
    [["North", 1234567.891, 412], ["South", 987654.32, 388], ["East", 455000.0, 129]],
)


def receipt(text: str, *evidence: Evidence, question: str = "") -> Receipt:
    """That of the last figure of a text."""
    return match([text], evidence or (REGIONS,), question)[-1]


@pytest.mark.parametrize(
    ("text", "kind", "how"),
    [
        ("North made 1,234,567.891", "exact", ""),
        ("North made 1,234,568", "rounded", ""),
        ("North made 1.23 million", "rounded", ""),
        ("North made nearly 1.3 million", "rounded", ""),
        ("North made over 1.2 million", "rounded", ""),
        ("Nord: 1.234.567,89", "rounded", ""),
        ("North is ahead of South by 246,913.57", "derived", "North − South"),
        ("North made 25.0 % more than South", "derived", "(North − South) ÷ South"),
        ("North has 46.1 % of all revenue", "derived", "North ÷ sum of revenue"),
        ("An order of North brings 2,996.52", "derived", "revenue ÷ orders"),
        ("The total is 2,677,222", "derived", "sum of revenue"),
        ("The average region made 892,407", "derived", "average of revenue"),
        ("There are 3 regions", "counted", "rows of r1"),
        ("North and South together made 2,222,222.21", "derived", "North + South"),
        ("North made 125 % of what South did", "derived", "North ÷ South"),
    ],
)
def test_figure_with_a_receipt(text: str, kind: str, how: str) -> None:
    found = receipt(text)
    assert (found.kind, found.call_id) == (kind, "c1")
    assert how in found.how


@pytest.mark.parametrize(
    "text",
    [
        "North made 1,234,576",  # two digits swapped
        "North made 1.24 million",  # rounded the wrong way
        "North made over 1.3 million",
        "North has 48.1 % of all revenue",
        "North made 27.4 % more than South",
        "The total is 3,911,790",  # one region counted twice
        "There are 7 regions",
        "South had 129 orders",  # East's
        "North had 413 orders",  # a whole number is right to the last one
        "North had 411 orders",
        "There were 930 orders in all",
        "The average region had 311 orders",
        "It was on 3 March 2024",
        "In 2019 it was less",
    ],
)
def test_figure_without_a_receipt(text: str) -> None:
    assert receipt(text).kind == "none"


def test_figures_of_the_question_the_query_and_the_words_that_were_read() -> None:
    assert receipt("Those above 750 are", question="Which are above 750?").kind == "asked"
    assert receipt("There were 750 complaints", question="Which are above 750?").kind == "none"
    assert (
        receipt(
            "Those above 750 are", query(["n"], [[1]], sql="SELECT n FROM t WHERE x > 750")
        ).kind
        == "condition"
    )
    output = {
        "text": "",
        "data": {
            "passages": [{"name": "a.pdf", "place": "page 2", "text": "The fee is 4.5 % a year."}]
        },
    }
    read = Evidence("c9", "read_file", {"file": "f1"}, output)
    found = receipt("The yearly fee is 4.5 %", read)
    assert (found.kind, found.place) == ("quoted", "a.pdf page 2")
    lines = [{"name": "a.txt", "place": "lines 1-9"}]
    output = {"text": "The fee is 4.5 % a year.", "data": {}, "sources": lines}
    whole = Evidence("c9", "read_file", {"file": "f1"}, output)
    assert receipt("The yearly fee is 4.5 %", whole).place == "a.txt lines 1-9"


def test_of_a_passage_with_a_number_twice_the_place_that_a_line_speaks_of_is_kept() -> None:
    text = "South pays 45.50." + " Nothing more is said." * 200 + " North pays 45.50 a year."
    [kept] = passages_behind(
        "Fees.\nNorth: 45.50", [PassageShown(name="a.pdf", place="page 1", text=text)]
    )
    assert kept["text"].endswith("North pays 45.50 a year.")


def test_dates_match_however_they_are_written() -> None:
    days = query(["first", "last"], [["2024-03-05", "2025-11-30"]])
    for text in (
        "from 5 March 2024",
        "from 2024-03-05",
        "from March 2024",
        "from 05.03.2024",
        "until November 2025",
        "in 2025",
    ):
        assert receipt(text, days).kind == "exact", text
    assert receipt("from 6 March 2024", days).kind == "none"


def test_result_of_which_only_the_head_is_here_gives_no_totals() -> None:
    head = query(["region", "revenue"], [["North", 1234.5], ["South", 987.25]], total=5_000)
    assert receipt("The total is 2,221.75", head).kind == "none"
    assert receipt("There are 5,000 rows", head).kind == "counted"


@pytest.mark.parametrize(
    "end", ["LIMIT 10", "limit 10 offset 5;", "FETCH FIRST 10 ROWS ONLY", "USING SAMPLE 10"]
)
def test_the_first_rows_are_not_all(end: str) -> None:
    rows = [[f"Cust{chr(65 + i)}", 1000.5 + i * 17.25] for i in range(10)]
    first = query(["customer", "revenue"], rows, sql=f"SELECT customer, revenue FROM s {end}")
    for text in (
        "There are 10 customers.",
        "The total revenue is 10,781.25.",
        "The average customer brings 1,078.13.",
        "CustA has 9.3 % of all revenue.",
        "The first three make 28.3 % of the revenue.",
    ):
        assert receipt(text, first).kind == "none", text
    together = receipt("The top 10 customers together bring 10,781.25.", first)
    assert (together.kind, together.how) == ("derived", "sum of revenue")
    assert receipt("CustA and CustB together bring 2,018.25", first).kind == "derived"
    fewer = query(["customer", "revenue"], rows[:4], sql="SELECT customer, revenue FROM s LIMIT 10")
    assert receipt("There are 4 customers.", fewer).kind == "counted"
    assert receipt("The total revenue is 4,105.50.", fewer).kind == "derived"


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("En moyenne, une région a fait 2400,50", "average of revenue"),
        ("La médiane est de 2450,50", "median of revenue"),
        ("De media, cada región ingresó 2.400,50", "average of revenue"),
        ("La mediana es de 2.450,50", "median of revenue"),
        ("Der Mittelwert liegt bei 2.400,50", "average of revenue"),
        ("Les deux premières régions font ensemble 7100,75", "sum of the first 2 of revenue"),
        ("Las dos primeras suman juntas 7.100,75", "sum of the first 2 of revenue"),
    ],
)
def test_averages_and_first_rows_are_known_by_the_words_of_four_languages(
    text: str, how: str
) -> None:
    rows = [["North", 4100.5], ["South", 3000.25], ["East", 1900.75], ["West", 600.5]]
    assert receipt(text, query(["region", "revenue"], rows)).how == how


def test_a_count_like_a_year_is_looked_at() -> None:
    sold = query(
        ["region", "opened", "units"],
        [["North", "1950-03-01", 1950], ["South", "1987-01-02", 2011]],
    )
    assert receipt("North sold 1950 units", sold).column == "units"
    assert receipt("South sold 1950 units", sold).kind == "none"
    assert receipt("South sold 1987 units", sold).kind == "none"
    assert receipt("South opened in 1987", sold).kind == "exact"


def test_rows_that_add_up_the_others_are_not_added_up_with_them() -> None:
    sql = "SELECT region, sum(revenue) AS revenue FROM s GROUP BY ROLLUP (region)"
    for name in (None, "Total", "Gesamt"):
        rows = [["North", 12400.5], ["South", 15100.25], [name, 27500.75]]
        added = query(["region", "revenue"], rows, sql=sql)
        assert receipt("The total revenue is 27,500.75", added).kind == "exact", name
        for text in (
            "The total revenue is 55,001.50",
            "The average revenue is 18,333.83",
            "North has 22.5 % of all revenue",
        ):
            assert receipt(text, added).kind == "none", (name, text)
        assert receipt("North has 45.1 % of all revenue", added).how == "North ÷ sum of revenue"
        assert receipt("The average revenue is 13,750.38", added).how == "average of revenue"


def test_rows_that_add_up_others_are_not_counted_with_them() -> None:
    rows = [["North", 100.0], ["South", 250.0], ["Total", 350.0]]
    found = match(["There are 2 regions.", "There are 3 regions."], [query(["region", "t"], rows)])
    assert [(one.kind, one.how) for one in found] == [
        ("counted", "rows of r1 without totals"),
        ("none", ""),
    ]


def test_parts_of_a_rollup_are_left_out_and_a_row_without_a_name_that_is_no_sum_is_not() -> None:
    rows = [["North", "Lamp", 400.25], ["North", "Desk", 311.5], ["South", "Lamp", 207.0]]
    sums = [["North", None, 711.75], ["South", None, 207.0], [None, None, 918.75]]
    sql = "SELECT region, product, sum(n) AS n FROM s GROUP BY ROLLUP (region, product)"
    added = query(["region", "product", "tonnes"], rows + sums, sql=sql)
    assert receipt("The average is 306.25 tonnes", added).how == "average of tonnes"
    unnamed = query(["region", "tonnes"], [["North", 400.25], ["South", 311.5], [None, 207.0]])
    assert receipt("The total is 918.75 tonnes", unnamed).how == "sum of tonnes"


BY_YEAR = query(
    ["region", "year", "revenue"],
    [
        ["North", 2023, 12400.0],
        ["North", 2024, 15100.0],
        ["South", 2023, 11800.0],
        ["South", 2024, 17300.0],
        ["3DS", 2023, 9650.0],
        ["Total", 2024, 41000.0],
    ],
)
BY_COLUMN = query(
    ["region", "revenue_2023", "revenue_2024"],
    [["North", 12400.0, 15100.0], ["South", 11800.0, 17300.0]],
)


@pytest.mark.parametrize(
    ("text", "number", "kind"),
    [
        ("North made 17,300", "17,300", "none"),
        ("North leads with 17,300", "17,300", "none"),
        ("| North | 17,300 |", "17,300", "none"),
        ("North made about 9.65 thousand", "9.65 thousand", "none"),
        ("North made 15,100 in 2023", "15,100", "none"),
        ("In 2023 the revenue was 17,300", "17,300", "none"),
        ("In 2024 North rose to 17,300", "17,300", "none"),
        ("North made 15,100 in 2024", "15,100", "exact"),
        ("In 2024 North rose from 12,400 to 15,100", "12,400", "exact"),
        ("North made 15,100 in 2024; the year before, 12,400", "12,400", "exact"),
        ("In 2024 North made 15,100, below the largest, 17,300", "17,300", "exact"),
        ("After 2024's 15,100 in the North, the next one has 17,300", "17,300", "exact"),
        ("North made 15,100 of 41,000 in 2024", "41,000", "exact"),
        ("North (15,100) and 3DS (9,650) are small", "9,650", "exact"),
        ("The largest made 17,300", "17,300", "exact"),
        ("In 2023 South rose to 17,300", "17,300", "none"),
        ("Since 2023 North has gone up to 15,100", "15,100", "exact"),
        ("Seit 2023 ist North auf 15.100 gestiegen", "15.100", "exact"),
        ("Desde 2023 North ha subido a 15.100", "15.100", "exact"),
        ("Compared with 2023, North now stands at 15,100", "15,100", "exact"),
        ("North: 15,100 (+21.8 % since 2023)", "15,100", "exact"),
        ("Since 2023 North has gone up to 17,300", "17,300", "none"),
        ("North started at 12,400 in 2023 and ended at 15,100", "15,100", "exact"),
        ("North had 12,400 until 2024", "12,400", "exact"),
        ("North made 15,100 in 2024 instead of 12,400", "12,400", "exact"),
        ("North hat 2024 15.100, der Süden 17.300", "17.300", "exact"),
    ],
)
def test_a_number_of_another_row_or_year_than_a_sentence_names_has_no_receipt(
    text: str, number: str, kind: str
) -> None:
    found = {one.text: one.kind for one in match([text], [BY_YEAR])}
    assert found[number] == kind


@pytest.mark.parametrize(
    ("text", "number", "kind"),
    [
        ("In 2023 South made 17,300", "17,300", "none"),
        ("In 2024 South made 17,300", "17,300", "exact"),
        ("In 2024 South rose from 11,800 to 17,300", "11,800", "exact"),
        ("Since 2023 South has climbed to 17,300", "17,300", "exact"),
    ],
)
def test_a_number_of_a_column_of_another_year_has_no_receipt(
    text: str, number: str, kind: str
) -> None:
    assert {one.text: one.kind for one in match([text], [BY_COLUMN])}[number] == kind


def test_a_year_that_rows_have_for_something_else_names_none_of_them() -> None:
    rows = [["North", "2019-04-01", 12400.0], ["South", "2024-02-01", 15100.0]]
    opened_on = query(["region", "opened", "revenue"], rows)
    assert match(["In 2024 North made 12,400"], [opened_on])[-1].kind == "exact"


@pytest.mark.parametrize(
    "cell", [None, True, float("nan"), float("inf"), "", "x" * 5_000, "9" * 400, "00123", 10**400]
)
def test_strange_cells_do_no_harm(cell: Any) -> None:
    assert receipt("It is 41.5 or so", query(["a", "b"], [[cell, 1.5], [cell, 2.5]])).kind == "none"


def test_yes_and_no_are_no_numbers() -> None:
    done = query(["region", "done"], [["North", True], ["South", False]])
    assert receipt("| North | 1 |", done).kind == "none"


def test_long_answer_over_a_wide_result_is_matched() -> None:
    wide = query(
        [f"c{i}" for i in range(80)], [[i * 7.31 + j for j in range(80)] for i in range(200)]
    )
    text = "\n".join(f"It has {i * 7.31 + 3:,.2f} and {i * 7.31 + 4:,.2f}." for i in range(200))
    assert len(match([text], [wide])) == 400


def test_calls_of_a_long_chat_are_searched_as_far_as_the_limits_say() -> None:
    def read(number: int, text: str) -> Evidence:
        return Evidence(f"c{number}", "read_file", {"file": "f1"}, {"text": text, "data": {}})

    long = [
        read(number, f"The fee is {number}.125 euros. " + "Nothing more. " * 4_000)
        for number in range(200, 212)
    ]
    texts = ["The fee is 200.125", "The fee is 211.125"]
    assert [found.kind for found in match(texts, long)] == ["quoted", "none"]
    results = [
        query(["region", "sum"], [["North", 1000.25 * n], ["South", 7.5]], number=n)
        for n in range(1, 13)
    ]
    assert receipt("North is ahead of South by 9,995.00", *results).how.startswith("North")
    assert receipt("North is ahead of South by 11,995.5", *results).kind == "none"
    assert receipt("North made 12,003.00", *results).kind == "exact"


def test_number_of_a_query_is_a_receipt_only_for_the_condition_that_it_is() -> None:
    limited = query(["n"], [[1.5]], sql="SELECT n FROM t WHERE x > 750 LIMIT 7")
    assert receipt("Those over 750 are", limited).kind == "condition"
    assert receipt("750 of them lost money", limited).kind == "none"
    assert receipt("7 of them lost money", limited).kind == "none"


def earlier(one: Evidence, sql: str = "SELECT 1") -> Evidence:
    return replace(one, message_id="a1", input={"sql": sql})


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("As before, the revenue of North is 1,234,567.89", "rounded"),
        ("There were 412 complaints", "none"),  # orders of North, of which nothing is said
        ("North hired 412 people", "none"),
        ("The revenue of South is 1,234,567.89", "none"),
        ("The revenue of North in 2019 was 1,234,567.89", "none"),  # no year is known there
        ("It is 42 of them", "none"),
    ],
)
def test_result_of_an_earlier_answer_counts_only_where_it_is_spoken_of(
    text: str, kind: str
) -> None:
    assert receipt(text, query(["n"], [[7.5]], number=2), earlier(REGIONS)).kind == kind


def test_what_an_earlier_result_was_limited_to_must_be_said_again() -> None:
    sql = "SELECT sum(revenue) AS revenue FROM t WHERE region = 'North' AND year = 2023"
    one = earlier(query(["revenue"], [[81234.5]]), sql)
    assert receipt("The revenue of North in 2023 was 81,234.50", one).kind == "exact"
    assert receipt("The revenue of North in 2024 was 81,234.50", one).kind == "none"
    assert receipt("The revenue of South in 2023 was 81,234.50", one).kind == "none"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("North opened 12 stores", "none"),
        ("North had 12 returns", "exact"),
        ("North had 12 orders", "none"),
        ("There were 12 complaints", "none"),
        ("| North | 12 |", "exact"),
        ("Store 12 leads", ""),
    ],
)
def test_small_number_needs_its_row_and_its_column(text: str, kind: str) -> None:
    small = query(
        ["region", "orders", "returns"], [["North", 57, 12], ["South", 40, 9], ["Store 12", 31, 8]]
    )
    found = match([text], [small])
    assert (found[-1].kind if found else "") == kind


def test_growth_below_one_percent_and_percentage_points_are_derived() -> None:
    years = query(["year", "revenue", "share"], [[2023, 100_400.0, 12.0], [2024, 100_900.0, 14.5]])
    assert "row 2 − row 1" in receipt("In 2024 revenue grew by 0.5 %", years).how
    assert (
        receipt("From 2023 to 2024 the share rose by 2.5 percentage points", years).kind
        == "derived"
    )
    assert receipt("In 2024 revenue grew by 0.8 %", years).kind == "none"
    ahead = query(
        ["region", "revenue", "units"],
        [["North", 101_100.0, 1_013], ["South", 100_000.0, 1_000], ["East", 7.5, 3]],
    )
    assert receipt("North is ahead of South by 1,100, or 1.1 %", ahead).kind == "derived"


def test_shares_of_small_totals_and_of_the_first_rows_are_derived() -> None:
    tonnes = query(["region", "tonnes"], [["North", 0.21], ["South", 0.29], ["East", 0.1]])
    assert receipt("North has 35 % of all tonnes", tonnes).how == "North ÷ sum of tonnes"
    rates = query(["region", "rate"], [["North", 0.4], ["South", 1.0]])
    assert receipt("South is ahead of North by 60 percentage points", rates).kind == "derived"
    factors = query(["region", "factor"], [["North", 1.2], ["South", 1.9]])  # no shares of a whole
    assert receipt("South is ahead of North by 70 percentage points", factors).kind == "none"
    rows = [["North", 410.25], ["South", 307.5], ["East", 211.0], ["West", 96.5], ["Coast", 51.0]]
    ranked = query(["region", "revenue"], rows)
    assert (
        receipt("The first three make up 86.3 % of the revenue", ranked).how
        == "the first 3 ÷ sum of revenue"
    )
    assert receipt("The first three make up 81.3 % of the revenue", ranked).kind == "none"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("North's share is 12.3 %", "exact"),
        ("South's share is 45.6 percent", "exact"),
        ("North's share is 0.123", "exact"),
        ("North's share is 12.3", "none"),
    ],
)
def test_a_ratio_is_written_as_percent_and_not_as_a_hundred_times_itself(
    text: str, kind: str
) -> None:
    shares = query(["region", "share"], [["North", 0.123], ["South", 0.456]])
    assert receipt(text, shares).kind == kind


def test_growth_is_derived_from_the_year_before_in_whatever_order_they_come() -> None:
    rows = [[2025, 1300.0], [2023, 1204.0], [2024, 1060.0]]
    years = query(["year", "revenue"], rows)
    assert receipt("In 2025 revenue grew by 22.6 %", years).how == "(row 1 − row 3) ÷ row 3"
    assert receipt("In 2024 revenue fell by 12.0 %", years).how == "(row 3 − row 2) ÷ row 2"
    assert receipt("In 2025 revenue grew by 8.0 %", years).kind == "none"  # since 2023


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("South grew by 112.75 in 2024", "revenue_2024 − revenue_2023"),
        ("North fell by 144 from 2023 to 2024", "revenue_2023 − revenue_2024"),
        ("North was ahead of South by 403.5 in 2023", "North − South"),
    ],
)
def test_a_difference_is_computed_so_that_it_gives_the_number_as_it_is_written(
    text: str, how: str
) -> None:
    found = [one.how for one in match([text], [WIDE]) if one.kind == "derived"]
    assert found == [how]


def test_a_number_among_many_like_it_needs_more_than_one_word_beside_it() -> None:
    def read(numbers: range) -> Evidence:
        words = f"The fee: 881 euro. {' '.join(map(str, numbers))}"
        passages = [{"name": "a.pdf", "place": "page 2", "text": words}]
        return Evidence(
            "c9", "read_file", {"file": "f1"}, {"text": "", "data": {"passages": passages}}
        )

    assert receipt("The fee is 881", read(range(600, 1300, 2))).kind == "none"
    assert receipt("The fee is 881", read(range(0))).kind == "quoted"
    assert receipt("The fee of 881 euro", read(range(600, 1300, 2))).kind == "quoted"


def test_passages_of_a_search_are_counted_but_for_those_beside_a_table() -> None:
    def search(**more: Any) -> Evidence:
        found = [
            {"name": "a.pdf", "place": f"page {i}", "text": f"The fee of item {i}"} for i in "xyz"
        ]
        data = {"passages": found, **more}
        return Evidence("c9", "search_files", {"query": "fee"}, {"text": "", "data": data})

    table = {"columns": ["a"], "rows": [["x"]], "total": 1, "types": [], "result_id": "r1"}
    assert receipt("There are 3 passages", search()).how == "passages of the search"
    assert receipt("There are 4 passages", search()).kind == "none"
    assert receipt("There are 3 passages", search(table=table)).kind == "none"


def test_a_number_of_a_sample_row_is_that_rows_also_where_it_has_more_cells_than_columns() -> None:
    columns = [{"name": "region"}, {"name": "revenue", "max": 871.25}]
    sample = [["North", 412.75, "more"], ["South", 77.5]]
    profile = {"file": "a.csv", "name": "sales", "columns": columns, "sample": sample}
    one = Evidence("c8", "describe_table", {}, {"text": "", "data": {"profile": profile}})
    assert receipt("North made 412.75", one).how == "a sample row"
    assert receipt("South made 412.75", one).kind == "none"
    assert receipt("Unlike South, North made 412.75", one).how == "a sample row"
    assert receipt("One of them made 412.75", one).how == "a sample row"
    assert receipt("At most 871.25", one).how == "max of revenue"


def test_rows_of_the_tables_that_a_query_read_are_counted() -> None:
    one = query(["region", "revenue"], [["North", 5.25]])
    one.output["data"]["table"]["scanned"] = [
        {"name": "sales", "rows": 4_210},
        {"name": "costs", "rows": 977},
    ]
    found = receipt("That rests on 4,210 rows", one)
    assert (found.kind, found.how) == ("counted", "rows of sales")
    assert receipt("That rests on 2 tables", one).how == "tables that were read"
    assert receipt("That rests on 4,211 rows", one).kind == "none"


def test_figures_in_names_of_columns_in_days_and_in_lists_of_a_call_are_known() -> None:
    years = query(["region", "revenue 2019"], [["North", 5.25]])
    named, value = match(["In 2019 it was 5.25"], [years])
    assert (named.kind, named.column, value.kind) == ("condition", "revenue 2019", "exact")
    days = query(["day", "orders"], [["2023-03-05", 7], ["2024-03-05", 12]])
    assert [r.kind for r in match(["In 2024 there were 12 orders"], [days])] == ["exact", "exact"]
    assert [r.kind for r in match(["In 2023 there were 12 orders"], [days])] == ["exact", "none"]
    listed = replace(query(["n"], [[1]]), input={"sql": "SELECT n FROM t", "limits": ["x > 750"]})
    assert receipt("Those above 750 are", listed).kind == "condition"


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("South made 20 % more than North", True),
        ("North made 25 % less than South", True),
        ("South is 25 % higher than North", True),
        ("South is 20 % lower than North", False),
        ("North is 25 % higher than South", False),
    ],
)
def test_direction_of_a_comparison_is_told_whichever_comes_first(text: str, turned: bool) -> None:
    two = query(["region", "revenue"], [["North", 1250.0], ["South", 1000.0]])
    found = receipt(text, two)
    assert (found.kind, bool(found.against)) == ("derived", turned)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("South made 25 % less than North", "none"),
        ("North made 20 % more than South", "none"),
        ("North machte 20 % mehr als South", "none"),
        ("South a gagné 25 % de moins que North", "none"),
        ("South is 25 % below North", "none"),
        ("South made 20 % less than North", "derived"),
        ("North machte 25 % mehr als South", "derived"),
        ("Compared with South, North made 25 % more", "derived"),
    ],
)
def test_growth_is_of_what_a_sentence_compares_with(text: str, kind: str) -> None:
    two = query(["region", "revenue"], [["North", 1250.0], ["South", 1000.0]])
    assert receipt(text, two).kind == kind


@pytest.mark.parametrize(
    ("share", "text", "kind"),
    [
        ("13.6 %", "Revenue fell from 1,204 in 2023 to 1,060 in 2024, a decline of 13.6 %", "none"),
        ("13.6 %", "Revenue fell by 13.6 % in 2024", "none"),
        ("13,6 %", "Der Umsatz sank 2024 gegenüber dem Vorjahr um 13,6 %", "none"),
        ("12.0 %", "2023 was 12.0 % higher than 2024", "none"),
        ("12 %", "Revenue fell from 1,204 in 2023 to 1,060 in 2024, a decline of 12 %", "derived"),
        ("11.9 %", "Revenue fell by more than 11.9 % in 2024", "derived"),
        ("13.6 %", "2023 was 13.6 % higher than 2024", "derived"),
        ("13.6 %", "Compared with 2024, revenue in 2023 was 13.6 % higher", "derived"),
    ],
)
def test_growth_over_time_is_of_the_earlier_number(share: str, text: str, kind: str) -> None:
    years = query(["year", "revenue"], [[2023, 1204.0], [2024, 1060.0]])
    assert {found.text: found.kind for found in match([text], (years,))}[share] == kind


# Directions

YEARS = query(["year", "revenue", "orders"], [[2023, 1204.0, 412], [2024, 1060.0, 455]])
WIDE = query(
    ["region", "revenue_2023", "revenue_2024"],
    [["North", 1204.0, 1060.0], ["South", 800.5, 913.25]],
)
PAIR = query(["region", "price_before", "price_after"], [["North", 1204.0, 1060.0]])
MONTHS = query(["month", "year", "revenue"], [[12, 2023, 1204.0], [1, 2024, 1060.0]])
GROWTH = query(["month", "growth_pct"], [["2024-01", 3.2], ["2024-02", -4.7]])
PLACES = query(["what", "revenue_north", "revenue_south"], [["x", 1204.0, 1060.0]])
YEARLY = query(["year", "growth_pct"], [[2023, 3.2], [2024, -4.7]])
BOTH_WAYS = query(["region", "growth_pct"], [["North", 3.2], ["South", -3.2]])


def against(text: str, one: Evidence) -> list[str]:
    return [found.against for found in match([text], [one]) if found.against]


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("Revenue rose from 1,204 in 2023 to 1,060 in 2024.", YEARS),
        ("In 2024 revenue increased by 12.0 %.", YEARS),
        ("Revenue was 1,060 in 2024, up from 1,204 in 2023.", YEARS),
        ("In 2024 revenue was 12.0 % higher than in 2023.", YEARS),
        ("Orders halved from 412 to 455.", YEARS),
        ("North grew by 144.", WIDE),
        ("North: +12.0 %", WIDE),
        ("North was 50.4 % lower in 2023 than South.", WIDE),
        ("South nahm 2024 um 14,1 % ab.", WIDE),
        ("South ging 2024 um 14,1 % zurück.", WIDE),
        ("Les revenue de North ont augmenté de 12,0 % en 2024.", WIDE),
        ("North subió un 12,0 % en 2024.", WIDE),
        ("North grew by 144.", PAIR),
        ("Revenue rose from 1,204 to 1,060.", MONTHS),
        ("In January it fell by 3.2 %.", GROWTH),
        ("In February it rose by 4.7 %.", GROWTH),
        ("It was 4.7 % higher in 2024 than in 2023.", YEARLY),
        ("It rose from 1,204 to 1,060.", PLACES),  # what is named as the way is one
        ("North fell by 3.2 %.", BOTH_WAYS),
        ("South rose by 3.2 %.", BOTH_WAYS),
        ("South did well, while North grew 1,204 → 1,060.", WIDE),
        ("Costs are fine. In North it rose 1,204 -> 1,060, and that is all.", PAIR),
    ],
)
def test_direction_that_is_turned_round_is_told(text: str, one: Evidence) -> None:
    assert len(against(text, one)) == 1


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("Revenue fell from 1,204 in 2023 to 1,060 in 2024, a decline of 12.0 %.", YEARS),
        ("Revenue fell by -12.0 % in 2024.", YEARS),
        ("Revenue did not rise by 12.0 % in 2024.", YEARS),
        ("If revenue had risen by 12.0 % in 2024, all were well.", YEARS),
        ("Did revenue rise by 12.0 % in 2024?", YEARS),
        ("Going from 2024 to 2023, revenue rises from 1,060 to 1,204.", YEARS),
        ("North fell by 12.0 %, while South rose by 14.1 %.", WIDE),
        ("In diesem Fall stieg South von 800,50 auf 913,25.", WIDE),
        ("North 2023 was 50.4 % higher than South.", WIDE),
        ("North fell by 144.", PAIR),
        ("Revenue fell from 1,204 to 1,060.", MONTHS),
        ("The growth was 3.2 %, which is a rise.", BOTH_WAYS),
        ("Growth rose by 3.2 %.", BOTH_WAYS),
        ("In January it rose by 3.2 %.", GROWTH),
        ("In February it fell by 4.7 %.", GROWTH),
        ("It rose by 144.", PLACES),  # from which to which nobody knows
        ("It was 4.7 % higher in February.", GROWTH),  # than what is not said
        ("North rose by 3.2 %.", BOTH_WAYS),
        ("Revenue rose by -12.0 % in 2024.", YEARS),  # the word and the sign do not agree
        ("Revenue fell by +12.0 % in 2024.", YEARS),
    ],
)
def test_direction_that_is_right_or_not_claimed_is_left_alone(text: str, one: Evidence) -> None:
    assert against(text, one) == []


def test_direction_is_told_with_the_two_numbers_in_time_order() -> None:
    said = against("Revenue rose by 12.0 % in 2024.", YEARS)
    assert said == ["The text says “rose”; the results say it fell: 1,204 → 1,060."]
    both = against("In 2024 revenue rose by 12.0 %, and orders fell by 10.4 %.", YEARS)
    assert both == [*said, "The text says “fell”; the results say it rose: 412 → 455."]


@pytest.mark.parametrize(
    ("cell", "column", "when"),
    [
        ("2024-03-05", "day", (2024, 3, 5)),
        ("2024-03", "", (2024, 3)),
        ("Q3 2024", "", (2024, 3)),
        ("Mar 2024", "", (2024, 3)),
        ("FY24", "", (2024,)),
        ("FY2024", "", (2024,)),
        (2024, "year", (2024,)),
        (2024, "units", ()),
        ("North", "year", ()),
    ],
)
def test_cells_say_when_they_are(cell: Any, column: str, when: tuple[int, ...]) -> None:
    assert moment(cell, column) == when


# In an answer


def test_answer_keeps_its_receipts_and_marks_its_figures(tmp_path: Path) -> None:
    csv = b"region,revenue\nNorth,1200.5\nSouth,800.25\n"
    said = "North made **1,200.50** and South 800.25; together $2,000.75. The forecast is 9,999."
    turns = [
        Turn.call(("query_tables", {"sql": "SELECT region, revenue FROM sales"})),
        Turn.say(said),
    ]
    with (
        MessagesServer(turns) as server,
        opened(tmp_path, api_key="k", model_url=server.url, model="claude-sonnet-5-5") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        file = add(session, "sales.csv", csv)
        chat = session.chats.create()
        message = finished(session, session.messages.send(chat.id, "Who made what?", [file.id]).id)
        kinds = [(r["text"], r["kind"]) for r in kept_receipts(message.parts)]
        assert kinds == [
            ("1,200.50", "exact"),
            ("800.25", "exact"),
            ("$2,000.75", "derived"),
            ("9,999", "none"),
        ]
        text = "".join(
            marks.drawn(markdown.safe(i.text), "m1")
            for i in items(message.parts)
            if i.kind == "text"
        )
        assert "**[1,200.50](#leaf-figure-m1.0)**" in text
        assert r"[\$2,000.75](#leaf-figure-m1.2)" in text
        assert "[9,999](#leaf-unreceipted-m1.3)" in text
        assert "Without a receipt: 9,999" in session.messages.markdown(message.id)

        [scanned] = next(p for p in message.parts if p["type"] == "tool-query_tables")["output"][
            "data"
        ]["table"]["scanned"]
        assert (scanned["file"], scanned["sha256"], scanned["rows"], scanned["total"]) == (
            "sales.csv",
            file.sha256,
            2,
            2,
        )
        same = session.results.recompute(chat.id, "r1")
        assert (same.outcome, same.cells) == ("same", ())
        with pytest.raises(NotFoundError, match="r9"):
            session.results.recompute(chat.id, "r9")
        session.files.delete(file.id)
        gone = session.results.recompute(chat.id, "r1")
        assert (gone.outcome, gone.text) == (
            "gone",
            "sales.csv was deleted, so this cannot be computed again.",
        )


def test_direction_is_marked_counted_and_exported(tmp_path: Path) -> None:
    csv = b"year,revenue\n2023,1204\n2024,1060\n"
    turns = [
        Turn.call(("query_tables", {"sql": "SELECT year, revenue FROM sales ORDER BY year"})),
        Turn.say("Revenue rose by 12.0 % in 2024."),
    ]
    with (
        MessagesServer(turns) as server,
        opened(tmp_path, api_key="k", model_url=server.url, model="claude-sonnet-5-5") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        asked = session.messages.send(
            chat.id, "How did it go?", [add(session, "sales.csv", csv).id]
        )
        message = finished(session, asked.id)
        kept = next(p["data"] for p in message.parts if p["type"] == "data-receipts")
        assert (kept["figures"], kept["with"], kept["against"]) == (2, 1, 1)
        assert words.traced(kept) == "1 of 2 figures traced"
        assert words.opposite(kept) == ["1 figure says the opposite of the results"]
        assert words.untraced(kept) == []
        text = "".join(
            marks.drawn(markdown.safe(i.text), "m1")
            for i in items(message.parts)
            if i.kind == "text"
        )
        assert "[12.0 %](#leaf-against-m1.0)" in text
        assert "the results say it fell: 1,204 → 1,060" in session.messages.markdown(message.id)
        assert {r["call_id"] for r in kept["receipts"]} == {
            p["toolCallId"] for p in message.parts if p["type"] == "tool-query_tables"
        }


def test_figures_of_a_document_are_traced_and_kept_with_its_version(tmp_path: Path) -> None:
    notes = (
        b"Meeting of 5 March. The budget of the project is 48,250 euros. Anna asked for "
        b"37 chairs.\n"
    )
    report = (
        "# Report\n\nThe budget of the project is 48,250 euros. The next one will be "
        "99,999 euros.\n"
    )

    def answers(body: Json) -> Turn:
        if not body.get("tools"):
            return Turn.say(report)
        if body["messages"][-1]["content"][0]["type"] != "tool_result":
            return Turn.call(("create_document", {"title": "Report", "files": ["f1"]}))
        return Turn.say("The report is written.")

    with (
        MessagesServer(answers) as server,
        opened(tmp_path, api_key="k", model_url=server.url, model="claude-sonnet-5-5") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        chat = session.chats.create()
        asked = session.messages.send(
            chat.id, "Write a report", [add(session, "notes.txt", notes).id]
        )
        message = finished(session, asked.id)
        [document] = session.documents.list(chat_id=chat.id)
        found = session.documents.receipts(document.id)
        assert found is not None
        told = [(r["text"], r["kind"], r.get("message_id", "")) for r in found["receipts"]]
        assert told == [("48,250", "quoted", message.id), ("99,999", "none", "")]
        assert "notes.txt" in found["receipts"][0]["place"]
        assert words.traced(found) == "1 of 2 figures traced"
        for text in (session.chats.markdown(chat.id), session.messages.markdown(message.id)):
            assert (
                "“Report”, version 1: 1 of 2 figures are traced. Without a receipt: 99,999." in text
            )

        session.documents.save(
            document.id, report + "\nAnd 123,456 more, of 48,250 euros of budget.\n", 1
        )
        edited = session.documents.receipts(document.id)
        assert edited is not None
        assert [(r["text"], r["kind"]) for r in edited["receipts"][2:]] == [
            ("123,456", "none"),
            ("48,250", "quoted"),
        ]
        assert session.documents.receipts(document.id, 1) == found


def test_result_that_comes_out_otherwise_is_told_cell_by_cell(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        file = add(session, "n.csv", b"n\n1\n2\n3\n")
        chat = session.chats.create()
        tool = '{"sql": "SELECT n, random() AS x FROM n"}'
        session.tools.run("query_tables", tool, chat_id=chat.id, file_ids=[file.id])
        found = session.results.recompute(chat.id, "r1")
        assert found.outcome == "different"
        assert "3 cells are different" in found.text
        assert [(row, column) for row, column, _, _ in found.cells] == [
            (1, "x"),
            (2, "x"),
            (3, "x"),
        ]


def test_order_of_rows_and_last_digits_do_not_make_a_difference(tmp_path: Path) -> None:
    import duckdb

    from leaf.tables.compare import compare

    def written(name: str, sql: str) -> str:
        path = str(tmp_path / name)
        duckdb.sql(sql).write_parquet(path)
        return path

    kept = written(
        "a.parquet",
        "SELECT * FROM (VALUES ('a', 0.1 + 0.2::DOUBLE), ('b', 2), (NULL, NULL)) t(k, v)",
    )
    again = written(
        "b.parquet", "SELECT * FROM (VALUES (NULL, NULL), ('b', 2), ('a', 0.3::DOUBLE)) t(k, v)"
    )
    assert compare(kept, again, 512)["cells"] == 0
    other = written(
        "c.parquet", "SELECT * FROM (VALUES (NULL, NULL), ('b', 2), ('a', 0.31::DOUBLE)) t(k, v)"
    )
    assert compare(kept, other, 512)["cells"] == 1
    short = written("d.parquet", "SELECT 'a' AS k, 1.0 AS v")
    assert (compare(kept, short, 512)["rows_kept"], compare(kept, short, 512)["rows_again"]) == (
        3,
        1,
    )


def test_results_of_millions_of_cells_are_compared_in_little_room(tmp_path: Path) -> None:
    import duckdb

    from leaf.tables.compare import compare

    columns = ", ".join(f"(i * {n}) % 1009 / 7 AS c{n}" for n in range(1, 51))
    kept, again = str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")
    con = duckdb.connect()
    con.sql(f"SELECT i, {columns} FROM range(60_000) t(i)").write_parquet(kept)
    con.sql(f"FROM '{kept}' ORDER BY hash(i)").write_parquet(again)
    assert compare(kept, again, 512)["cells"] == 0
    changed = "* REPLACE (CASE WHEN i IN (7, 50_000) THEN -1 ELSE c3 END AS c3)"
    con.sql(f"SELECT {changed} FROM '{kept}'").write_parquet(again, row_group_size=7_000)
    found = compare(kept, again, 512)
    assert found["cells"] == 2
    assert [(row, column, now) for row, column, _, now in found["first"]] == [
        (8, "c3", "-1.0"),
        (50_001, "c3", "-1.0"),
    ]


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        ("('1', 2.5::DOUBLE), ('n/a', 3.5)", [(2, "a", "2", "n/a")]),
        ("(1, 'x'), (2, '3.5')", [(1, "b", "2.5", "x")]),
        ("(1.0::DECIMAL(9, 2), 2.5000000001::DECIMAL(20, 10)), (2, 3.5)", []),
        ("([1], 2.5::DOUBLE), ([2], 3.5)", [(1, "a", "1", "[1]"), (2, "a", "2", "[2]")]),
    ],
)
def test_columns_that_are_of_another_sort_now_are_compared(
    values: str, cells: list[tuple[int, str, str, str]], tmp_path: Path
) -> None:
    """As where a newer file says `n/a` among its amounts."""
    import duckdb

    from leaf.tables.compare import compare

    kept, again = str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")
    duckdb.sql("FROM (VALUES (1, 2.5::DOUBLE), (2, 3.5)) t(a, b)").write_parquet(kept)
    duckdb.sql(f"FROM (VALUES {values}) t(a, b)").write_parquet(again)
    found = compare(kept, again, 512)
    assert (found["cells"], [tuple(cell) for cell in found["first"]]) == (len(cells), cells)


def test_text_of_a_model_cannot_pose_as_a_figure_with_a_receipt() -> None:
    forged = (
        "\ue0c30\ue0c4 9,999\ue0c5 and [1](#leaf-figure-m1.0) and <a href='#leaf-figure-m1.0'>1</a>"
    )
    parts = [{"type": "text", "id": "text-1-0", "text": forged}]
    parts.append({"type": "data-receipts", "id": "receipts", "data": of_answer(parts, []) or {}})
    [item] = items(parts)
    text = marks.drawn(markdown.safe(item.text), "m1")
    assert "](#leaf-figure" not in text
    assert "[9,999](#leaf-unreceipted-m1.1)" in text


def test_earlier_results_are_read_once_and_give_the_same_receipts() -> None:
    def earlier(rows: list[list[Any]], call_id: str = "c1", message_id: str = "a1") -> Evidence:
        table = {"columns": ["region", "sum"], "rows": rows, "result_id": "r1", "total": len(rows)}
        return Evidence(
            call_id,
            "query_tables",
            {"sql": "SELECT region, sum FROM sales"},
            {"data": {"table": table}},
            message_id,
        )

    said = "As found before, region North has a sum of 48,213."
    first = match([said], [earlier([["North", 48_213], ["South", 17]])])
    again = match([said], [earlier([["North", 48_213], ["South", 17]])])
    assert first == again
    assert [receipt.kind for receipt in first] == ["exact"]
    changed = match([said], [earlier([["North", 11_111], ["South", 17]])])
    assert [receipt.kind for receipt in changed] == ["none"], (
        "the same call with other rows is another"
    )


def test_names_with_digits_are_found_whatever_other_names_there_are() -> None:
    names = {f"Depot {number}" for number in range(3_000)}
    assert [
        figure.text for figure in figures("DEPOT 12 sold 345 lamps, Depot 9999 sold 7.", names)
    ] == ["345", "9999", "7"]

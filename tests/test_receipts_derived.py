"""Figures that follow from others: which steps there are, which of them a figure is taken for, and
when one value among many is the one that is meant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from leaf.provenance.receipts.belief import FigureClaim, cue_of, referred, roles
from leaf.provenance.receipts.derive import (
    DIFFERENCE,
    GROWTH,
    Steps,
    chance,
    derive,
    of_before,
    of_best,
    of_cells,
    of_figures,
    of_first,
    of_named,
    of_totals,
)
from leaf.provenance.receipts.evidence import Evidence, ResultNumbers, Value
from leaf.provenance.receipts.figures import NumberRange, figures
from leaf.provenance.receipts.kept import book_of
from leaf.provenance.receipts.match import match
from leaf.provenance.receipts.words import spoken
from tests.test_receipts import query, receipt

REGIONS: list[list[Any]] = [["North", 120.0], ["South", 80.0], ["East", 50.0]]


def result(columns: list[str], rows: list[list[Any]], **more: Any) -> ResultNumbers:
    (table,) = book_of([query(columns, rows, **more)]).tables
    return table


def told(steps: Steps) -> dict[str, float]:
    """Every step in words, with its number."""
    found = [
        (steps.describe(i).how, float(n), int(steps.units[i])) for i, n in enumerate(steps.numbers)
    ]
    return {f"{how}{['', ' %', ' pp'][unit]}": round(n, 6) for how, n, unit in found}


def test_two_rows_give_their_differences_sum_ratios_shares_and_growths() -> None:
    found = of_named(result(["region", "x"], REGIONS, total=9), spoken("North and South"))
    assert told(found) == {
        "North − South": 40.0,
        "South − North": -40.0,
        "North + South": 200.0,
        "North ÷ South": 1.5,
        "South ÷ North": 0.666667,
        "North ÷ South %": 150.0,
        "South ÷ North %": 66.666667,
        "(North − South) ÷ South %": 50.0,
        "(South − North) ÷ North %": -33.333333,
        "North − South pp": 40.0,
        "South − North pp": -40.0,
    }
    steps = [found.describe(i) for i in range(len(found.numbers))]
    [growth] = [step for step in steps if step.how == "(North − South) ÷ South"]
    assert (growth.operation, growth.value.row, growth.other and growth.other.row) == (GROWTH, 0, 1)
    assert {s.operation for s in steps if "÷" not in s.how} > {DIFFERENCE}


def test_points_of_ratios_are_a_hundred_times_their_difference() -> None:
    shares = result(["region", "x"], [["North", 0.5], ["South", 1.0]], total=9)
    assert told(of_named(shares, spoken("North and South")))["South − North pp"] == 50.0
    more = result(["region", "x"], [["North", 0.5], ["South", 1.1]], total=9)
    assert told(of_named(more, spoken("North and South")))["South − North pp"] == 0.6
    equal = result(["region", "x"], [["North", 5.0], ["South", 5.0]], total=9)
    assert told(of_named(equal, spoken("North and South"))) == {
        "North + South": 10.0,
        "North ÷ South": 1.0,
        "South ÷ North": 1.0,
        "North ÷ South %": 100.0,
        "South ÷ North %": 100.0,
        "(North − South) ÷ South %": 0.0,
        "(South − North) ÷ North %": 0.0,
    }


def test_shares_of_a_total_are_of_one_row_and_of_two() -> None:
    found = told(of_named(result(["region", "x"], REGIONS), spoken("North and South")))
    assert found["North ÷ sum of x %"] == 48.0
    assert found["South ÷ sum of x %"] == 32.0
    assert found["(North + South) ÷ sum of x %"] == 80.0
    for rows in (
        [["North", 1.0], ["South", -1.0]],
        [["North", 5.0], ["South", -1.0]],
        [["North", 0.0], ["South", 0.0]],
    ):
        steps = told(of_named(result(["region", "x"], rows), spoken("North and South")))
        assert not any("sum of" in how for how in steps), rows
    with_gap = [["North", 1.0], ["South", None], ["East", 3.0]]
    found = told(of_named(result(["region", "x"], with_gap), spoken("North and South")))
    assert found == {"North ÷ sum of x %": 25.0}
    part = result(["region", "x"], REGIONS, sql="SELECT 1 LIMIT 3")
    assert not any("sum of" in how for how in told(of_named(part, spoken("North and South"))))


def test_a_row_gives_steps_between_its_columns_and_named_columns_come_alone() -> None:
    table = result(
        ["region", "x", "cost", "gain"], [["North", 9.0, 4.0, 2.0], ["South", 8.0, 3.0, 1.0]]
    )
    north = told(of_named(table, spoken("North")))
    assert {"cost − gain", "x ÷ gain"} <= {*north}
    assert north["cost + gain"] == 6.0
    named = told(of_named(table, spoken("North cost and gain"), spoken=True))
    assert {"cost − gain", "cost ÷ sum of cost"} & {how.removesuffix(" %") for how in named}
    assert not any("x" in how for how in named)
    assert told(of_named(table, spoken("North"), spoken=True)) == {}
    one = result(["region", "cost", "gain"], [["North", 4.0, 2.0]])
    assert told(of_named(one, spoken("it")))["cost − gain"] == 2.0


def test_totals_are_sums_and_only_where_the_text_says_so_averages_medians_and_spans() -> None:
    table = result(["region", "x"], REGIONS)
    assert told(of_totals(table, spoken("in all"))) == {"sum of x": 250.0}
    assert told(of_totals(table, spoken("on average"))) == {
        "sum of x": 250.0,
        "average of x": 83.333333,
        "median of x": 80.0,
        "largest − smallest x": 70.0,
    }
    assert told(of_totals(result(["region", "x"], REGIONS, total=9), spoken("average"))) == {}
    part = result(["region", "x"], REGIONS, sql="SELECT 1 LIMIT 3")
    assert told(of_totals(part, spoken("in all"))) == {}
    assert told(of_totals(part, spoken("all together"))) == {"sum of x": 250.0}
    gaps = result(["region", "x"], [["North", 1.0], ["South", None], ["East", 3.0]])
    assert told(of_totals(gaps, spoken("average")))["average of x"] == 2.0
    one = result(["region", "x"], [["North", 1.0], ["South", None]])
    assert told(of_totals(one, spoken("average"))) == {}


def test_the_first_rows_are_two_to_ten_and_never_all() -> None:
    rows = [[f"R{chr(65 + i)}x", 10.0] for i in range(13)]
    found = told(of_first(result(["region", "x"], rows), spoken("the first")))
    assert found == {
        **{f"sum of the first {n} of x": 10.0 * n for n in range(2, 11)},
        **{f"the first {n} ÷ sum of x %": round(1000 * n / 130, 6) for n in range(2, 11)},
    }
    three = result(["region", "x"], REGIONS)
    assert told(of_first(three, spoken("the first"))) == {
        "sum of the first 2 of x": 200.0,
        "the first 2 ÷ sum of x %": 80.0,
    }
    assert told(of_first(three, spoken("some"))) == {}
    assert told(of_first(result(["region", "x"], REGIONS, total=9), spoken("first"))) == {}
    part = result(["region", "x"], REGIONS, sql="SELECT 1 LIMIT 3")
    assert told(of_first(part, spoken("first"))) == {"sum of the first 2 of x": 200.0}
    gap = [["A", 5.0], ["B", 6.0], ["C", None], ["D", 7.0], ["E", 2.0]]
    assert {*told(of_first(result(["region", "x"], gap), spoken("first")))} == {
        "sum of the first 2 of x",
        "the first 2 ÷ sum of x %",
    }
    small = [["A", 0.1], ["B", 0.0], ["C", 0.3]]
    assert told(of_first(result(["region", "x"], small), spoken("first"))) == {
        "sum of the first 2 of x": 0.1,
        "the first 2 ÷ sum of x %": 25.0,
    }
    nothing = [["A", 0.0], ["B", 0.0], ["C", 0.0]]
    assert told(of_first(result(["region", "x"], nothing), spoken("first"))) == {
        "sum of the first 2 of x": 0.0
    }
    negative = [["A", 5.0], ["B", 6.0], ["C", -1.0]]
    assert told(of_first(result(["region", "x"], negative), spoken("first"))) == {
        "sum of the first 2 of x": 11.0
    }


def test_cells_that_nobody_names_are_paired_in_short_results_and_not_added_up() -> None:
    rows = [[f"R{i}", float(i * i + 1)] for i in range(60)]
    found = of_cells(result(["region", "x"], rows))
    assert len(found.numbers) > 10_000
    assert not any("+" in found.describe(i).how for i in range(0, len(found.numbers), 97))
    assert len(of_cells(result(["region", "x"], [*rows, ["R60", 7.5]])).numbers) == 0
    one = told(of_cells(result(["cost", "gain"], [[4.0, 2.0]])))
    assert (one["cost − gain"], one["cost + gain"]) == (2.0, 6.0)


YEARS = result(
    ["region", "year", "x", "cost"],
    [
        ["North", 2022, 5.0, 40.0],
        ["North", 2023, 8.0, 50.0],
        ["North", 2024, 9.0, 70.0],
        ["South", 2024, 6.0, 80.0],
    ],
)


def test_what_a_sentence_names_most_of_is_taken_before_all_that_it_names() -> None:
    best = of_best(YEARS, spoken("North in 2024 and its cost"))
    assert told(best) == {}, "one row and one column give nothing alone"
    both = told(of_best(YEARS, spoken("North in 2023 and 2024")))
    assert both["row 3 − row 2" if "row 3 − row 2" in both else "x − cost"] is not None
    north = spoken("North in 2024")
    assert {*told(of_best(YEARS, north))} >= {"x − cost", "cost ÷ x", "x + cost"}
    assert told(of_best(YEARS, spoken("South"))) == {}, "all that it names"
    assert told(of_best(YEARS, spoken("it"))) == {}


def test_steps_from_the_row_before_are_of_the_same_and_never_sums() -> None:
    found = of_before(YEARS, spoken("North's cost in 2024"))
    percent = {round(float(n), 6) for n in found.numbers[found.units == 1]}
    assert percent == {140.0, round(5000 / 70, 6), 40.0, round(-2000 / 70, 6)}
    assert 120.0 not in found.numbers
    assert told(of_before(YEARS, spoken("South's cost in 2024"))) == {}
    wide = result(
        ["region", "x_2023", "x_2024", "y"], [["North", 4.0, 6.0, 1.0], ["South", 5.0, 9.0, 2.0]]
    )
    steps = told(of_before(wide, spoken("North in 2024")))
    assert (steps["x_2023 − x_2024"], steps["(x_2024 − x_2023) ÷ x_2023 %"]) == (-2.0, 50.0)
    assert not any("y" in how for how in steps)


def value(number: float) -> Value:
    return Value(number, "", "exact", Evidence("c", "t", {}, {}))


def test_steps_of_figures_leave_years_and_dates_out() -> None:
    text = "In 2024 it was 12 and 8 on 2024-03-05"
    found = of_figures([(one, value(float(i))) for i, one in enumerate(figures(text), 2)])
    assert {*told(found)} >= {"12 − 8", "12 + 8"}
    assert not any("2024" in how for how in told(found))


def only(text: str) -> Any:
    return figures(text)[-1]


def derived(text: str, *numbers: float, limit: float = 0.5, **more: Any) -> str:
    """The step that gives the last figure of a text, from such numbers."""
    figure = only(text)
    pairs = [(only(f"It is {n}"), value(n)) for n in numbers]
    found = derive(figure, spoken(text), text[figure.end :], [(of_figures(pairs), limit)], **more)
    return found.step.how if found else ""


@pytest.mark.parametrize(
    ("text", "numbers", "how"),
    [
        ("It is 412.5 more", (900.5, 488.0), "900.5 − 488.0"),
        ("It is -412.5 more", (900.5, 488.0), "488.0 − 900.5"),
        ("It is 413.5 more", (900.5, 488.0), ""),
        ("It is 2.5x as much", (1000.0, 400.0), "1000.0 ÷ 400.0"),
        ("It is 2.5 times as much", (1000.0, 400.0), "1000.0 ÷ 400.0"),
        ("It is 600 times as much", (1000.0, 400.0), ""),  # a difference is no factor
        ("It is 3x as much", (1200.0, 400.0), "1200.0 ÷ 400.0"),
        ("It is 13 as much", (5200.0, 400.0), ""),  # small and no factor
        ("It is 13 on average", (5200.0, 400.0), "5200.0 ÷ 400.0"),
        ("It is 150 % more", (1000.0, 400.0), "(1000.0 − 400.0) ÷ 400.0"),
        ("It is 40 % of it", (1000.0, 400.0), "400.0 ÷ 1000.0"),
        ("It is 600 percentage points", (1000.0, 400.0), "1000.0 − 400.0"),
        ("It was in 2024", (1012.0, 1012.0), ""),
    ],
)
def test_a_figure_is_taken_for_a_step_of_its_unit(
    text: str, numbers: tuple[float, ...], how: str
) -> None:
    assert derived(text, *numbers) == how


def test_the_step_that_is_nearest_and_that_fits_is_taken() -> None:
    assert derived("It is 41.3 % more", 1000.0, 413.4) == "413.4 ÷ 1000.0"
    assert derived("It is 600 more", 1000.0, 400.0, fits=lambda step: False) == ""
    negative = derived(
        "It is 600 more", 1000.0, 400.0, fits=lambda step: step.how.startswith("400")
    )
    assert negative == "400.0 − 1000.0"


def test_a_small_whole_number_needs_a_likely_pool_and_few_others() -> None:
    assert derived("It is 13 more", 113.0, 100.0, limit=0.5) == "113.0 − 100.0"
    assert derived("It is 13 more", 113.0, 100.0, limit=0.3) == "113.0 − 100.0"
    assert derived("It is 13 more", 113.0, 100.0, limit=0.29) == ""
    assert derived("It is 13.0 more", 113.0, 100.0, limit=0.29) == "113.0 − 100.0"
    assert derived("It is 13 more", 113.0, 100.0, 88.5) == ""
    assert derived("It is 13 % more", 113.0, 100.0, 88.5) == "(113.0 − 100.0) ÷ 100.0"
    assert derived("It is 100 more", 213.0, 113.0, limit=0.29) == "213.0 − 113.0"


@pytest.mark.parametrize(
    ("others", "reading", "expected"),
    [
        (1, NumberRange(120, 119.5, 120.5), 0.01),
        (3, NumberRange(120, 119.5, 120.5), 0.03),
        (0, NumberRange(120, 119.5, 120.5), 0.0),
        (2, NumberRange(-120, -120.5, -119.5), 0.02),
        (2, NumberRange(0, -0.5, 0.5), 3.0),
    ],
)
def test_chance_is_the_width_of_a_figure_among_the_others_of_its_size(
    others: int, reading: NumberRange, expected: float
) -> None:
    assert chance(others, reading) == pytest.approx(expected, rel=1e-4)


# Belief


@pytest.mark.parametrize(
    ("before", "after", "cue"),
    [
        ("between ", "", "between"),
        ("between 3 and ", "", "between"),
        ("the top ", "", "limit"),
        ("exactly ", "", "equal"),
        ("above $", "", "above"),
        ("moreover ", "", ""),
        ("", " % or less", "below"),
        ("", " units or fewer", "below"),
        ("", " oder mehr", "above"),
        ("above it ", "", ""),
    ],
)
def test_a_cue_stands_directly_beside_its_number(before: str, after: str, cue: str) -> None:
    assert cue_of(before, after) == cue


def test_numbers_of_a_question_have_the_role_that_they_have_there() -> None:
    assert roles("Which are above 750 in 2024, or 3 of them?") == {
        ("above number", 750.0),
        ("time 2024", 0.0),
    }
    assert roles("5 or more?") == {("above number", 5.0)}
    far = "x" * 50
    assert roles(f"above {far} 750") == frozenset()


def claim(text: str, before: str = "", after: str = "") -> FigureClaim:
    return FigureClaim(spoken(text), before, after, text)


def test_words_directly_beside_a_number_are_what_it_counts() -> None:
    assert claim("", "sold ", " lamps").beside == {"sold", "lamp"}
    assert claim("", "lamps: ", ".").beside == {"lamp"}
    assert claim("", "lamps were **", " % of").beside == {"lamp"}
    assert claim("", "of lamps, ", ", chairs").beside == frozenset()
    assert claim("", "lamps: ", " chairs sold").near == {"lamp", "chair", "sold"}


@pytest.mark.parametrize(
    ("text", "recalls"),
    [("As shown above, it is", True), ("wie gesagt", True), ("It is so", False), ("déjà vu", True)],
)
def test_a_sentence_says_that_it_recalls(text: str, recalls: bool) -> None:
    assert claim(text).recalls is recalls


def kinds(text: str, *evidence: Evidence, question: str = "") -> list[str]:
    return [one.kind for one in match([text], list(evidence), question)]


TWO = query(
    ["region", "orders", "returns", "price"],
    [["North", 412, 57, 12.5], ["South", 388, 412, 3.25], ["East", 129, 31, 7.75]],
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("North had 412 orders", (0, "orders")),
        ("South had 412 returns", (1, "returns")),
        ("South had 412 orders", None),
        ("North had 412 returns", None),
        ("The most orders are 412", (0, "orders")),
        ("The fewest orders are 129", (2, "orders")),
        ("| North | 57 |", (0, "returns")),
        ("North: 57", (0, "returns")),
        ("North lost 57 lamps", None),
        ("North had 57 returns", (0, "returns")),
        ("South had 57 returns", None),
        ("The price of North is 12.5", (0, "price")),
        ("North is at 12.5 %", None),
        ("The price of North is 12.5 %", (0, "price")),
        ("The price of North is 13 %", None),
    ],
)
def test_a_cell_is_meant_where_its_row_and_its_column_are(
    text: str, expected: tuple[int, str] | None
) -> None:
    found = receipt(text, TWO)
    assert ((found.row, found.column) if found.kind != "none" else None) == expected


def test_a_whole_percentage_is_no_cell_of_something_else() -> None:
    lamps = query(["region", "lamps"], [["North", 40.0], ["South", 7.0]])
    assert receipt("The lamps of North are 40 %", lamps).kind != "exact"
    shares = query(["region", "share"], [["North", 40.0], ["South", 7.0]])
    assert receipt("The share of North is 40 %", shares).kind == "exact"


def test_only_the_first_last_largest_and_smallest_are_meant_without_their_row() -> None:
    rows = [[f"Shop{chr(65 + i)}", 500.0 + i * 13 % 70] for i in range(40)]
    rows[0][1], rows[-1][1], rows[7][1], rows[9][1] = 511.5, 522.5, 901.5, 401.5
    many = query(["shop", "sales"], rows)
    ends = ("511.5", "522.5", "901.5", "401.5")
    for number in ends:
        assert receipt(f"The sales were {number}", many).kind == "exact", number
    middle = int(rows[20][1])
    assert receipt(f"The sales were {middle}", many).kind == "none"
    assert receipt(f"{rows[20][0]} had sales of {middle}", many).kind == "exact"


def printed(text: str) -> Evidence:
    return Evidence("c1", "run_python", {}, {"text": "", "data": {"python": {"printed": text}}})


def quoted(text: str) -> Evidence:
    passages = [{"name": "a.pdf", "place": "page 1", "text": text}]
    return Evidence("c1", "read_file", {}, {"text": "", "data": {"passages": passages}})


@pytest.mark.parametrize(
    ("evidence", "text", "kind"),
    [
        (printed("lamps sold 12"), "There are 12 lamps", "printed"),
        (printed("lamps sold\n12"), "There are 12 lamps", "none"),
        (printed("lamps sold\n12"), "Of lamps they sold 12", "printed"),
        (quoted("lamps sold 12"), "There are 12 lamps", "none"),
        (quoted("lamps sold 12"), "Of lamps they sold 12", "quoted"),
        (quoted("lamps sold 1212.5"), "It is 1212.5", "quoted"),
        (printed("chairs 99.5"), "It is 99.5", "printed"),
    ],
)
def test_a_small_number_of_a_text_needs_two_words_or_its_line(
    evidence: Evidence, text: str, kind: str
) -> None:
    assert kinds(text, evidence) == [kind]


def test_a_count_that_is_small_needs_its_word_beside_it() -> None:
    three = query(["region", "x"], [["North", 1.5], ["South", 2.5], ["East", 9.5]])
    assert kinds("There are 3 regions", three) == ["counted"]
    assert kinds("There are 3 lamps", three) == ["none"]
    far = "of the many that there are everywhere in the whole country "
    assert kinds(f"The regions {far} had 3 lamps", three) == ["none"]


def earlier(one: Evidence, sql: str = "SELECT 1") -> Evidence:
    table = {**one.output["data"]["table"], "sql": sql}
    return replace(one, message_id="a1", output={**one.output, "data": {"table": table}})


def test_an_earlier_result_is_spoken_of_only_with_all_that_it_was_limited_to() -> None:
    one = earlier(TWO, "SELECT * FROM t WHERE kind = 'retail' AND year = 2023")
    book = book_of([one])
    (table,) = book.tables
    for text, yes in (
        ("orders of North in 2023 in retail", True),
        ("orders of North in 2023", False),
        ("orders of North in retail", False),
        ("orders of North in 2024 in retail", False),
        ("orders of North by Miller in 2023 in retail", False),
    ):
        assert referred(table, claim(text), book) is yes, text
    assert referred(table, claim("orders of North in retail"), book, dated=True)
    like = earlier(TWO, "SELECT * FROM t WHERE kind LIKE '%tail%'")
    book = book_of([like])
    assert referred(book.tables[0], claim("orders of North"), book)


def test_an_earlier_result_gives_way_to_one_of_this_answer_that_speaks_of_the_same() -> None:
    now = query(["region", "orders"], [["North", 99.5]], number=2)
    assert kinds("The orders of North are 412", earlier(TWO)) == ["exact"]
    assert kinds("The orders of North are 412", now, earlier(TWO)) == ["none"]
    assert kinds("As before, the orders of North are 412", now, earlier(TWO)) == ["exact"]
    assert kinds("The orders of North are 57", earlier(TWO)) == ["none"], "two digits"
    assert kinds("The revenue of North is 412", earlier(TWO)) == ["none"]


# Matching


def test_texts_are_numbered_and_figures_stand_where_they_stand() -> None:
    found = match(["North had 412 orders", "and", "South 388 orders"], [TWO])
    assert [(one.text_index, one.start, one.end, one.text) for one in found] == [
        (0, 10, 13, "412"),
        (2, 6, 9, "388"),
    ]


def test_a_cell_is_taken_before_words_and_the_exact_one_before_a_rounded_one() -> None:
    rows = query(["region", "x"], [["North", 412.25], ["North", 412.0]], number=1)
    assert receipt("The x of North is 412", rows).row == 1
    text = replace(quoted("North has 412 of x"), call_id="c9")
    assert receipt("The x of North is 412", text, rows).call_id == "c1"
    assert receipt("The x of North is 412.0", text, rows).kind == "exact"


def test_days_without_a_year_are_any_years() -> None:
    days = query(["day", "orders"], [["2024-03-05", 412], ["2023-04-06", 388]])
    assert kinds("On 5 March it was", days) == ["exact"]
    assert kinds("On 6 March it was", days) == ["none"]
    assert kinds("On 6 April it was", days) == ["exact"]
    assert kinds("On 6 April 2024 it was", days) == ["none"]


def test_a_time_is_looked_for_in_texts_of_this_answer_but_not_in_its_queries() -> None:
    assert kinds("At 14:30 it was", quoted("from 14:30 on")) == ["quoted"]
    assert kinds("At 14:31 it was", quoted("from 14:30 on")) == ["none"]
    assert kinds("At 14:30 it was", replace(quoted("from 14:30 on"), message_id="a")) == ["none"]
    asked = query(["x"], [["y"]], sql="SELECT x FROM t WHERE at = '14:30'")
    assert kinds("At 14:30 it was", asked) == ["none"]


def test_what_follows_from_two_calls_names_both() -> None:
    a = query(["region", "x"], [["North", 900.5]], number=1)
    b = query(["region", "x"], [["South", 488.0]], number=2)
    found = match(["North has 900.5, South 488.0, so 412.5 more"], [a, b])[-1]
    assert (found.kind, found.call_id, found.other_call_id) == ("derived", "c1", "c2")
    assert (found.value, found.how) == ("412.5", "900.5 − 488.0")
    both = query(["region", "x"], [["North", 900.5], ["South", 488.0]])
    assert receipt("North is ahead of South by 412.5", both).other_call_id == ""


def test_figures_of_the_paragraph_count_less_than_those_of_the_sentence() -> None:
    a = query(["region", "x"], [["North", 900.5]], number=1)
    b = query(["region", "x"], [["South", 488.0]], number=2)
    for text, kind in (
        ("North has 900.5. South has 488.0. That is 412.5 more", "derived"),
        ("North has 900.5.\nSouth has 488.0.\nThat is 412.5 more", "derived"),
        ("North has 900.5.\n\nSouth has 488.0.\n\nThat is 412.5 more", "none"),
        ("North has 900.5. South has 488.0. That is 414 more", "none"),
    ):
        assert kinds(text, a, b)[-1] == kind, text


def test_the_change_that_goes_with_a_difference_is_of_the_same_column() -> None:
    rows = [["North", 1250.0, 40.0], ["South", 1000.0, 32.0]]
    two = query(["region", "revenue", "cost"], rows)
    found = match(["North is ahead of South by 250, or 25.0 %"], [two])
    assert [(one.kind, one.column) for one in found] == [("derived", "revenue")] * 2

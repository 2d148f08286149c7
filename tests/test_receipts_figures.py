"""Figures as they are written: separators, signs, scales, ranges, dates and times in four languages,
and what only looks like one."""

from __future__ import annotations

import pytest

from leaf.provenance.receipts.evidence import Evidence
from leaf.provenance.receipts.figures import Figure, NumberRange, figures
from leaf.provenance.receipts.kept import book_of
from leaf.provenance.receipts.match import match
from leaf.provenance.receipts.names import blanked, names_a_row
from leaf.provenance.receipts.words import counted, spoken, tokens, years
from tests.test_receipts import query, receipt


def values(text: str) -> list[tuple[str, list[float]]]:
    return [(one.text, [reading.value for reading in one.readings]) for one in figures(text)]


def only(text: str) -> Figure:
    (one,) = figures(text)
    return one


@pytest.mark.parametrize(
    ("text", "written", "read"),
    [
        ("It made 1 234 567,89 € in all", "1 234 567,89", [1234567.89]),
        ("It made 1 234 567 in all", "1 234 567", [1234567.0]),
        ("It made 150 000 in all", "150 000", [150_000.0]),
        ("It made 1 250 € in all", "1 250", [1250.0]),
        ("It made 1 250 CHF in all", "1 250", [1250.0]),
        ("Le Nord a fait 12 400 ventes et reste le premier", "12 400", [12_400.0]),
        ("It made 1\u202f234,5 in all", "1\u202f234,5", [1234.5]),
        ("It made 1,23,456 in all", "1,23,456", [123_456.0]),
        ("It made 1,23,456.5 in all", "1,23,456.5", [123_456.5]),
        ("It made 1.5 lakh in all", "1.5 lakh", [150_000.0]),
        ("It made 12 crore in all", "12 crore", [120_000_000.0]),
        ("It was .5 in all", ".5", [0.5]),
        ("It was .125 in all", ".125", [0.125]),
        ("It was 0.125 in all", "0.125", [0.125]),
        ("It was 1.2e-05 in all", "1.2e-05", [1.2e-05]),
        ("It was 1.2×10⁻⁵ in all", "1.2×10⁻⁵", [1.2e-05]),
        ("It was 1.2 × 10^−5 in all", "1.2 × 10^−5", [1.2e-05]),
        ("It was 3.4 x 10^6 kg", "3.4 x 10^6", [3.4e6]),
        ("Es waren 3,4·10¹² kg", "3,4·10¹²", [3.4e12]),
        (r"It was 3.4 \times 10^{6} kg", r"3.4 \times 10^{6}", [3.4e6]),
        ("It was -7 * 10^2.", "-7 * 10^2", [-700.0]),
        ("It was 3E6 in all", "3E6", [3e6]),
        ("It was 2e-3 in all", "2e-3", [0.002]),
        ("It cost 12 T€ in all", "12 T", [12_000.0]),
        ("It cost 12 TEUR in all", "12 T", [12_000.0]),
        ("It cost 3.4 MEUR in all", "3.4 M", [3.4e6]),
        ("It weighs 12 t in all", "12", [12.0]),
        ("It is 45 m in all", "45 m", [45e6, 45.0]),
        ("It is 12.5 mm in all", "12.5 mm", [12.5e6, 12.5]),
        ("It is 45m in all", "45m", [45e6]),
        ("It is 45 m€ in all", "45 m", [45e6]),
        ("It is €45 m in all", "€45 m", [45e6]),
        ("It is 12kg in all", "12", [12.0]),
        ("It is -12 in all", "-12", [-12.0]),
        ("It is −12 in all", "−12", [-12.0]),
        ("It is +12 in all", "+12", [12.0]),
        ("It is (1,234.5) in all", "1,234.5", [1234.5]),
        ("It is 1,234 in all", "1,234", [1234.0, 1.234]),
        ("It is 1.234 in all", "1.234", [1.234, 1234.0]),
        ("It is 1234.567 in all", "1234.567", [1234.567]),
        ("It is 1.234.567 in all", "1.234.567", [1234567.0]),
        ("It is 2024 % in all", "2024 %", [2024.0]),
        ("It is $2024 in all", "$2024", [2024.0]),
        ("It is -2024 in all", "-2024", [-2024.0]),
        ("It is 2024 million in all", "2024 million", [2.024e9]),
        ("It is 2024 pp in all", "2024 pp", [2024.0]),
    ],
)
def test_a_number_is_read_as_one_however_it_is_written(
    text: str, written: str, read: list[float]
) -> None:
    ((found, number),) = values(text)
    assert found == written
    assert number == pytest.approx(read, rel=1e-12)
    assert only(text).unit in ("number", "percent", "points")
    assert only(text).dates == ()


@pytest.mark.parametrize(
    ("words", "factor"),
    [
        ("k thousand Tsd Tausend mil mille millier milliers", 1e3),
        ("lakh lakhs", 1e5),
        ("mn million millions Mio mln mill Millionen millones millón", 1e6),
        ("crore crores", 1e7),
        ("b bn billion billions Mrd Mia Md Mds Milliarde Milliarden milliard milliards", 1e9),
        ("Bio Billionen billón billones trillion tn", 1e12),
    ],
)
def test_every_word_for_a_scale_has_its_size(words: str, factor: float) -> None:
    for word in [*words.split(), *(["mil millones"] if factor == 1e9 else [])]:
        assert values(f"It is 2 {word} in all") == [(f"2 {word}", [2 * factor])], word


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("North 412 388 and more", ["412", "388"]),
        ("In 2023 250 came", ["2023", "250"]),
        ("They are 1.250 300", ["1.250", "300"]),
        ("It had 10 250 5", ["10", "250", "5"]),
        ("It ended.5 more", ["5"]),
        ("1.2e400 or so", ["1.2", "400"]),
    ],
)
def test_numbers_beside_each_other_stay_apart(text: str, written: list[str]) -> None:
    assert [one.text for one in figures(text)] == written


@pytest.mark.parametrize(
    ("text", "first", "unit"),
    [
        ("between 1.2 and 1.4 million", [1.2e6, 1.2], "number"),
        ("1.2–1.4 million", [1.2e6, 1.2], "number"),
        ("from 1.4 to 1.2 million", [1.4e6, 1.4], "number"),
        ("von 1,2 bis 1,4 Mio.", [1.2e6, 1.2], "number"),
        ("between 5 and 10 %", [5.0], "percent"),
        ("zwischen 5 und 10 %", [5.0], "percent"),
        ("5–10 %", [5.0], "percent"),
        ("5 to 10 percentage points", [5.0], "points"),
        ("de 5 à 10 %", [5.0], "percent"),
        ("5 and 10 %", [5.0], "number"),
        ("5 - 10 %", [5.0], "number"),
        ("between 5 and 10", [5.0], "number"),
        ("between 5 k and 10 %", [5000.0], "number"),
        ("between 5 % and 10 points", [5.0], "percent"),
    ],
)
def test_the_unit_behind_a_range_is_that_of_both_ends(
    text: str, first: list[float], unit: str
) -> None:
    found = figures(text)[0]
    assert [reading.value for reading in found.readings] == pytest.approx(first)
    assert found.unit == unit


@pytest.mark.parametrize(
    ("text", "written", "dates"),
    [
        ("on 12th of May 2024", "12th of May 2024", ("2024-05-12",)),
        ("on May 5th, 2024", "May 5th, 2024", ("2024-05-05",)),
        ("on July 4th", "July 4th", ("-07-04",)),
        ("on the 2nd of July", "2nd of July", ("-07-02",)),
        ("le 1er mars 2024", "1er mars 2024", ("2024-03-01",)),
        ("el 1.º de mayo de 2024", "1.º de mayo de 2024", ("2024-05-01",)),
        ("am 5. März 2024", "5. März 2024", ("2024-03-05",)),
        ("on 2024-03-05T14", "2024-03", ("2024-03",)),
        ("on 2024-12-31", "2024-12-31", ("2024-12-31",)),
        ("on 31/12/2024", "31/12/2024", ("2024-12-31",)),
        ("on 12/12/2024", "12/12/2024", ("2024-12-12",)),
        ("on 01.02.2024", "01.02.2024", ("2024-02-01", "2024-01-02")),
        ("in 2024-01", "2024-01", ("2024-01",)),
        ("in 2024-12", "2024-12", ("2024-12",)),
    ],
)
def test_a_day_beside_its_month_is_part_of_the_date(
    text: str, written: str, dates: tuple[str, ...]
) -> None:
    found = figures(text)[0]
    assert (found.text, found.unit, found.dates) == (written, "date", dates)


@pytest.mark.parametrize("text", ["2024-13-01", "2024-00-05", "32/01/2024", "13/13/2024"])
def test_what_no_calendar_has_is_no_date(text: str) -> None:
    assert all(one.unit != "date" for one in figures(f"on {text} it was"))


def test_a_moment_is_a_date_and_a_time() -> None:
    for text in ("2024-03-05T14:30:00Z", "2024-03-05 14:30:00", "2024-03-05T14:30:15.25"):
        day, time = figures(f"at {text} it")
        assert (day.text, day.dates, time.unit) == ("2024-03-05", ("2024-03-05",), "time")
        assert text.startswith(f"2024-03-05{text[10]}{time.text}")
        assert time.readings == ()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("in 2023/24 it was 5", ["2023", "5"]),
        ("in 2023–24 it was 5", ["2023", "5"]),
        ("in 2023-24 it was 5", ["2023", "5"]),
        ("in 2023–2024", ["2023", "2024"]),
        ("in 2023-12", ["2023-12"]),
    ],
)
def test_a_year_that_two_calendar_years_share_is_one(text: str, written: list[str]) -> None:
    assert [one.text for one in figures(text)] == written


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("1,230", 3),
        ("0.0123", 3),
        ("12.50", 4),
        ("12.5", 3),
        ("12.500", 3),
        ("$1.20M", 3),
        ("400", 1),
        ("1.2e-05", 2),
        ("0", 0),
    ],
)
def test_digits_that_say_something_are_counted(text: str, digits: int) -> None:
    assert only(f"It is {text} now").digits == digits


def test_a_number_longer_than_any_amount_is_a_key() -> None:
    assert only("It is " + "1" * 40).text == "1" * 40
    assert figures("It is " + "1" * 41) == []


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("It is 12.5", 12.45, 12.55),
        ("It is 12", 11.5, 12.5),
        ("It is 1.2M", 1.15e6, 1.25e6),
        ("It is -12", -12.5, -11.5),
        ("It is about -1200", -1250, -1150),
        ("It is over 12", 11.5, 13),
        ("It is nearly 12", 11, 12.5),
        ("It is exactly 1.5e3", 1450, 1550),
        ("over 1,200 of them", 1150, 1300),
        ("Über 1200 davon", 1150, 1300),
        ("casi 1200", 1100, 1250),
        ("presque 1200", 1100, 1250),
        ("over 1,200.5", 1200.45, 1200.6),
    ],
)
def test_bounds_are_as_wide_as_a_figure_is_rounded(text: str, low: float, high: float) -> None:
    reading = only(text).readings[0]
    assert (reading.low, reading.high) == pytest.approx((low, high))


def test_a_range_is_scaled_with_both_of_its_ends() -> None:
    assert NumberRange(2.0, 1.5, 2.5).scaled(10.0) == NumberRange(20.0, 15.0, 25.0)


def test_other_numbers_of_a_text_tell_which_mark_is_the_decimal_one() -> None:
    assert values("1.234 and 5,5")[0] == ("1.234", [1234.0])
    assert values("1.234 and 5.5")[0] == ("1.234", [1.234])
    assert values("1,234 and 5.5")[0] == ("1,234", [1234.0])
    assert values("1,234 and 5,5")[0] == ("1,234", [1.234])
    assert values("1.234 and 5,5 and 5.5")[0] == ("1.234", [1.234, 1234.0])


# What only looks like a figure


def test_blanking_keeps_every_character_at_its_place() -> None:
    text = "See `12 a`\n```\n1\n2\n```\nStore 12 made 57"
    blank = blanked(text, ["Store 12"])
    assert len(blank) == len(text)
    assert [i for i, c in enumerate(blank) if c == "\n"] == [
        i for i, c in enumerate(text) if c == "\n"
    ]
    assert blank.split() == ["See", "made", "57"]


@pytest.mark.parametrize(
    ("names", "written"),
    [
        (["plan 12"], ["412", "57"]),
        (["plan 12", "plan 12 of 57"], ["412"]),
        (["PLAN 12 of 57"], ["412"]),
        (["12"], ["412", "12", "57"]),
        (["plan 1"], ["412", "12", "57"]),
        (["of 5"], ["412", "12", "57"]),
        ([], ["412", "12", "57"]),
    ],
)
def test_names_are_taken_whole_and_the_longest_first(names: list[str], written: list[str]) -> None:
    assert [one.text for one in figures("It had 412 in plan 12 of 57", names)] == written


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("Store 12", True),
        ("Store", False),
        ("12 Store", False),
        ("", False),
        ("March 2024", False),
        ("a1" * 30, True),
        ("a1" * 30 + "b", False),
        ("the one in row 12", True),
        ("it is the one in 12", False),
        ("Plan 2024 A", True),
    ],
)
def test_a_cell_is_a_name_if_it_begins_with_a_letter_and_is_short(cell: str, name: bool) -> None:
    assert names_a_row(cell) is name


# Words


def test_words_are_the_same_in_singular_and_plural_and_whatever_their_case() -> None:
    assert tokens("Orders of the NORTH_region") == {"order", "north", "region"}
    assert tokens("gas bus lamps") == {"gas", "bus", "lamp"}
    assert tokens("EU Q3 12 x") == {"eu", "q3", "3", "12"}
    assert spoken("made 1,234.5 in 12 Q3") == {"made", "12", "q3", "3"}


def test_what_was_counted_is_known_in_four_languages() -> None:
    assert {"rows", "row", "zeilen", "ligne", "fila"} <= counted("rows of r2")
    assert "datei" not in counted("rows of r2")
    assert counted("lamps of r2") == {"lamp"} | tokens("r2")


def test_years_are_those_that_count_nothing() -> None:
    assert years("In 2024 it sold 1950 units, in 1999 none") == {"2024", "1999"}
    assert years("1950 of them, 12024 and 1499") == frozenset()
    assert years("2199 and 1500") == {"2199", "1500"}


# With their receipts

SALES = query(
    ["region", "revenue", "rain"],
    [["North", 1234567.89, 12.4], ["South", 987654.32, 5.25], ["East", 455000.5, 45.0]],
)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("North a fait 1 234 567,89 €", ["exact"]),
        ("North a fait 1 234 568 €", ["rounded"]),
        ("North a fait 1 234 569 €", ["none"]),
        ("Revenue is between 0.46 and 1.23 million", ["rounded", "rounded"]),
        ("Revenue is between 0.47 and 1.24 million", ["none", "none"]),
        ("North had 12.4 mm of rain", ["exact"]),
        ("North had 12.5 mm of rain", ["none"]),
        ("North made 1.23456789e6", ["exact"]),
        ("North made 12.3 lakh", ["rounded"]),
        ("North made 1'234'568 CHF", ["rounded"]),
        ("North made 1.235 T€", ["rounded"]),
        ("North: (1,234,567.89)", ["exact"]),
    ],
)
def test_a_figure_has_its_receipt_in_every_way_to_write_it(text: str, kinds: list[str]) -> None:
    assert [one.kind for one in match([text], [SALES])] == kinds


def test_both_ends_of_a_range_of_percentages_are_looked_for() -> None:
    shares = query(["region", "growth"], [["North", 0.051], ["South", 0.104]])
    for text in ("Growth is between 5.1 and 10.4 %", "Growth: 5.1–10.4 %"):
        assert [one.kind for one in match([text], [shares])] == ["exact", "exact"]
    assert [one.kind for one in match(["Growth: 5.2–10.4 %"], [shares])] == ["none", "exact"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("On March 5th, 2024 it opened", "exact"),
        ("On March 6th, 2024 it opened", "none"),
        ("On the 5th of March 2024 it opened", "exact"),
        ("On the 6th of March 2024 it opened", "none"),
        ("It opened at 14:30", "exact"),
        ("It opened at 14:31", "none"),
    ],
)
def test_the_day_of_a_moment_is_known_with_its_ordinal(text: str, kind: str) -> None:
    days = query(["opened", "orders"], [["2024-03-05T14:30:00", 412]])
    assert receipt(text, days).kind == kind


def test_a_row_of_numbers_in_a_text_is_read_as_one_and_as_several() -> None:
    passages = [{"name": "a.pdf", "place": "page 1", "text": "North lamps 412 388 129"}]
    one = Evidence("c1", "read_file", {}, {"text": "", "data": {"passages": passages}})
    numbers = {value.number for value in book_of([one]).values if value.kind == "quoted"}
    assert numbers == {412388129.0, 412.0, 388.0, 129.0}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("North dépasse South avec 15 120 contre 12 430.", [15120, 12430]),
        ("North hizo 15 120, frente a 12 430 en South.", [15120, 12430]),
        ("North a fait 1 235 k€ et 12 M€.", [1_235_000, 12e6]),
        ("North hizo 1.235 miles de euros.", [1_235_000]),
        ("North had 15 120 of them", [15, 120]),
    ],
)
def test_thousands_apart_in_french_and_spanish(text: str, expected: list[float]) -> None:
    read = [readings for _, readings in values(text)]
    assert len(read) == len(expected)
    assert all(value in readings for value, readings in zip(expected, read, strict=True))


@pytest.mark.parametrize(
    "unit", ["bps", "basis points", "Basispunkte", "points de base", "puntos básicos"]
)
def test_basis_points_are_hundredths_of_points_or_what_a_column_holds(unit: str) -> None:
    rates = query(["year", "rate"], [[2023, 3.5], [2024, 3.75]])
    first = match([f"The rate rose by 25 {unit} from 2023 to 2024"], [rates])[0]
    assert (first.text, first.kind, first.value) == (f"25 {unit}", "derived", "0.25")
    assert match([f"The rate rose by 35 {unit} from 2023 to 2024"], [rates])[0].kind == "none"
    spreads = query(["fund", "spread_bps"], [["Alpha", 25], ["Beta", 140]])
    assert receipt(f"The spread of Alpha is 25 {unit}", spreads).kind == "exact"
    assert receipt(f"The spread of Alpha is 140 {unit}", spreads).kind == "none"

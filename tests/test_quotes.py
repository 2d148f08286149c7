"""Finding quoted words in texts and in files, and marking them on a page."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from bench._pdfs import column, pdf, table
from leaf.readers.locate.locate import Located, Sought, find_in_window, locate, search
from leaf.readers.locate.pdf_marks import boxes_on, render_marked
from leaf.readers.locate.quotes import find, words
from leaf.readers.locate.where import around
from leaf.readers.worker import reader_of

FOUND = {
    "case": ("Profit Rose", "profit rose"),
    "line ends": ("the total\n  revenue grew", "the total revenue grew"),
    "hyphenation": ("our inter-\nnational busi-\nness", "our international business"),
    "soft hyphens": ("inter\u00adnational", "international"),
    "ligatures": ("the \ufb01nal o\ufb03ce", "the final office"),
    "quotation marks": ("“It’s done” — she said", '"It\'s done" - she said'),
    "accents apart": ("re\u0301sume\u0301", "résumé"),
    "markdown": ("**Net** sales of `10.5` rose", "net sales of 10.5 rose"),
    "an ellipsis": ("One two three four five six seven", "two three … six seven"),
    "a cut quote": ("One two three four five six seven", "… three four five …"),
    "script without blanks": ("今年的营业收入增长了百分之十二。", "营业收入增长"),
    "a dash for another": ("2019–2020 was good", "2019-2020 was good"),
    "a loss": ("Net result (1,234) in 2024", "net result (1,234)"),
    "a year in brackets": ("as said before (2020), and (12) others", "before 2020, and 12 others"),
    "bar of cells": ("North | 100 | 5 %", "North 100 5%"),
    "a loss behind it": ("North 100 -5", "North 100"),
    "a zone behind it": ("Date: 3 Feb 2009 10:00:00 -0400", "3 Feb 2009 10:00:00"),
}
NOT_FOUND = {
    "another word": ("profit rose by 10", "profit fell by 10"),
    "another figure": ("profit rose by 10.5 million", "profit rose by 105 million"),
    "a figure cut short": ("profit rose by 100 million", "profit rose by 10"),
    "decimals left out": ("rose by 10.5", "rose by 10"),
    "a range cut short": ("in 10-20 days", "in 10"),
    "a sign left out": ("a change of -5 percent", "5 percent"),
    "a loss as accounts write it": ("Net result (1,234)", "1,234"),
    "a loss between words": ("Net result (1,234)", "net result 1,234"),
    "a loss put in": ("Net result 1,234", "net result (1,234)"),
    "a loss in dollars": ("Net result ($500)", "$500"),
    "a percent sign put in": ("about 5 of them", "about 5% of them"),
    "a currency put in": ("sold for 12 each", "sold for $12 each"),
    "half a word": ("the partying crowd", "the party"),
    "cells drawn together": ("1 | 5 | 6", "56"),
    "a raised figure": ("10² units", "102 units"),
    "a left-out not": ("it was not approved", "it was approved"),
    "a turned sign": ("p < 0.05", "p > 0.05"),
    "parts in another order": ("one two three four", "three four … one two"),
    "parts far apart": ("one two " + "word " * 2_000 + "three four", "one two … three four"),
    "nothing": ("some words", "—"),
}


@pytest.mark.parametrize("case", FOUND)
def test_quote_is_found_however_it_is_set(case: str) -> None:
    text, quote = FOUND[case]
    assert find(words(text), quote)


@pytest.mark.parametrize("case", NOT_FOUND)
def test_quote_that_says_something_else_is_not_found(case: str) -> None:
    text, quote = NOT_FOUND[case]
    assert find(words(text), quote) == ()


def test_place_in_the_text_is_that_of_the_words() -> None:
    text = "Alpha. The inter-\nnational trade. Omega."
    [(begin, end)] = find(words(text), "THE INTERNATIONAL TRADE")
    assert text[begin:end] == "The inter-\nnational trade"


def test_ten_megabytes_of_one_page_and_a_quote_of_ten_thousand_characters_take_seconds() -> None:
    quote = " ".join(f"word{i}" for i in range(1_400))
    text = "Nothing of it stands here. " * 380_000 + quote
    assert len(text) > 10_000_000
    assert len(quote) > 10_000
    [(begin, _)] = find(words(text), quote)
    assert begin == len(text) - len(quote)


# Files


def look(path: Path, kind: str, place: str, quote: str) -> Sought:
    return search(reader_of(kind), path, kind, [(place, quote)])[0]


def found(path: Path, kind: str, place: str, quote: str) -> Located:
    located = look(path, kind, place, quote).found
    assert located is not None
    return located


@pytest.fixture
def report(tmp_path: Path) -> Path:
    left = ["The inter-", "national branch grew by 12.5 percent", "in the north."]
    pages = [
        column(60, ["Annual report", "Nothing else is said on this page."]),
        column(60, left) + column(330, ["A second column speaks of", "other things entirely."]),
        table(
            [["Region", "Sales"], ["North", "1,204"], ["South", "873"], ["East", "55"]] * 3,
            by_columns=True,
        ),
        column(60, ["A sentence begins here and"]),
        column(60, ["goes on upon the next page."]),
    ]
    path = tmp_path / "report.pdf"
    path.write_bytes(pdf(pages))
    return path


def test_quote_stands_at_the_page_that_was_named(report: Path) -> None:
    located = found(report, "pdf", "page 2", "The international branch grew by 12.5 percent")
    assert (located.place, located.moved) == ("page 2", False)


def test_wrong_page_is_corrected_and_said(report: Path) -> None:
    located = found(report, "pdf", "page 1", "A second column speaks of other things")
    assert (located.place, located.moved) == ("page 2", True)


def test_quote_over_a_page_break_is_found_on_both(report: Path) -> None:
    assert (
        found(report, "pdf", "page 4", "A sentence begins here and goes on upon").place
        == "pages 4-5"
    )


MISSED = [
    ("page 99", "words that nobody has written", "it has no page 99"),
    ("page 2", "words that nobody has written", "the words are not in it"),
    ("page 2", "x", "the quote is too short to be checked"),
    ("page 2", "—", "no words of it were quoted"),
    ("sheet Data!A1:B2", "words that nobody has written", "it has no 'sheet Data!A1:B2'"),
    ("page 1", "12.5", "the words are not there"),
]


@pytest.mark.parametrize(("place", "quote", "why"), MISSED)
def test_what_is_not_found_has_one_clause_that_says_why(
    report: Path, place: str, quote: str, why: str
) -> None:
    assert look(report, "pdf", place, quote) == Sought(None, why)


def test_good_quote_with_a_page_that_does_not_exist_is_shown_at_the_right_one(report: Path) -> None:
    located = found(report, "pdf", "page 99", "national branch grew by 12.5 percent")
    assert (located.place, located.moved) == ("page 2", True)


def test_boxes_stand_around_the_words_of_their_own_column(report: Path) -> None:
    [first, second, third] = boxes_on(
        report, 2, "The international branch grew by 12.5 percent in the north"
    )
    assert first[1] < second[1] < third[1]
    assert all(right < 0.55 for _, _, right, _ in (first, second, third))
    [other, _] = boxes_on(report, 2, "A second column speaks of other things entirely")
    assert other[0] > 0.5


def test_cells_of_a_row_drawn_by_columns_are_marked_on_one_line(report: Path) -> None:
    boxes = boxes_on(report, 3, "South 873")
    assert len(boxes) == 2
    assert abs(boxes[0][1] - boxes[1][1]) < 0.01


def test_picture_is_changed_where_the_words_are_and_nowhere_else(report: Path) -> None:
    from PIL import Image, ImageChops

    marked, count = render_marked(report, 2, "A second column speaks of", 800)
    plain, none = render_marked(report, 2, "words that are not there at all", 800)
    assert (count, none) == (1, 0)
    a, b = (Image.open(io.BytesIO(data)).convert("L") for data in (marked, plain))
    left, top, right, bottom = ImageChops.difference(a, b).point(
        lambda v: 255 if v > 24 else 0
    ).getbbox() or (0, 0, 0, 0)
    [box] = boxes_on(report, 2, "A second column speaks of")
    assert abs(left / a.width - box[0]) < 0.02
    assert abs(right / a.width - box[2]) < 0.02
    assert abs(top / a.height - box[1]) < 0.02
    assert abs(bottom / a.height - box[3]) < 0.02


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Data"
    for row in (
        ["Sales 2024"],
        ["Region", "Units", "Share"],
        ["North", 120, 0.5],
        ["South", 5, -0.25],
        ["East", 56, 0.75],
    ):
        sheet.append(row)
    sheet.merge_cells("A1:C1")
    other = book.create_sheet("Other")
    other.append(["Region", "Note"])
    other.append(["South", "closed since spring of that year"])
    book.save(tmp_path / "book.xlsx")
    return tmp_path / "book.xlsx"


CELLS = [
    ("sheet Data!A1:C5", "3: A: North | B: 120 | C: 0.5", "sheet Data!A3:C3"),
    ("sheet Data!A1:C5", "B: 5 | C: -0.25", "sheet Data!B4:C4"),
    ("sheet Data!A1:C5", "North | 120", "sheet Data!A3:B3"),
    ("sheet Data!A1:C5", "3: A: North | B: 120 | C: 0.5\n4: A: South | B: 5", "sheet Data!A3:C4"),
    ("sheet Data!B4", "5", "sheet Data!B4"),
    ("sheet Data rows 1-2", "Sales 2024", "sheet Data!A1"),
    ("sheet Data!A1:C5", "closed since spring", "sheet Other!B2"),
]


@pytest.mark.parametrize(("place", "quote", "cells"), CELLS)
def test_quote_of_a_sheet_stands_in_its_cells(
    workbook: Path, place: str, quote: str, cells: str
) -> None:
    located = found(workbook, "excel", place, quote)
    assert (located.place, located.moved) == (cells, cells.startswith("sheet Other"))


@pytest.mark.parametrize("quote", ["B: 5 | C: 0.25", "North | 12", "B: 120 | C: 5"])
def test_other_figure_in_a_cell_is_not_found(workbook: Path, quote: str) -> None:
    assert look(workbook, "excel", "sheet Data!A1:C5", quote).found is None


@pytest.mark.parametrize("quote", ["3", "4:", "A", "B:", "4 South", "3: A:"])
def test_numbers_and_letters_that_leaf_puts_before_rows_and_cells_are_no_words_of_a_file(
    workbook: Path, quote: str
) -> None:
    assert look(workbook, "excel", "sheet Data!A1:C5", quote).found is None


def test_number_of_a_row_is_not_quoted_from_a_csv(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("region,units\nNorth,120\nSouth,5\nEast,56\n")
    for quote, place in (("5", "row"), ("3: South", "row"), ("3", ""), ("3 South", "")):
        sought = look(tmp_path / "a.csv", "csv", "rows 1-3", quote)
        assert (sought.found.place.split()[0] if sought.found else "") == place, quote


TRANSCRIPT = "WEBVTT\n\n" + "\n".join(
    f"00:{i:02d}:00.000 --> 00:{i:02d}:50.000\n<v Ann>Point number {i} is agreed upon,\n"
    for i in range(1, 40)
)


def test_quote_of_a_transcript_stands_at_its_time(tmp_path: Path) -> None:
    path = tmp_path / "talk.vtt"
    path.write_text(TRANSCRIPT)
    assert (
        found(path, "captions", "00:05:00-00:06:00", "Ann: Point number 5 is agreed").place
        == "00:05:00-00:05:50"
    )
    moved = found(path, "captions", "00:05:00-00:06:00", "point number 31 is agreed upon")
    assert (moved.place, moved.moved) == ("00:31:00-00:31:50", True)
    shown = "[00:05:00] Ann: Point number 5 is agreed upon,\n[00:06:00] Ann: Point number 6 is"
    assert found(path, "captions", "00:05:00-00:07:00", shown).place == "00:05:00-00:06:50"
    [(begin, end)] = find_in_window(shown, "5 is agreed upon, Ann: Point number 6")
    assert shown[begin:end] == "5 is agreed upon,\n[00:06:00] Ann: Point number 6"


def test_one_line_of_ten_megabytes_is_searched(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("some words of no weight. " * 420_000 + "the needle is at the very end")
    assert found(path, "text", "lines 1-1", "the needle is at the very end").place == "line 1"


def test_what_crosses_to_the_app_is_plain_json(report: Path) -> None:
    result: list[Any] = locate(
        str(report),
        "pdf",
        [["page 2", "grew by 12.5 percent"], ["page 9", "no such words anywhere"]],
    )
    assert result[0]["found"]["place"] == "page 2"
    assert 0 < result[0]["found"]["boxes"][0]["left"] < 0.5
    assert result[1] == {"found": None, "why": "it has no page 9"}


AROUND = [
    ("paragraph 12", "paragraphs 10-16"),
    ("lines 3-4", "lines 1-16"),
    ("00:00:10-00:00:20", "00:00:00-00:00:50"),
    ("page 3", "page 3"),
    ("sheet Data!A1:B2", "sheet Data!A1:B2"),
    ("anywhere", "anywhere"),
]


@pytest.mark.parametrize(("place", "wider"), AROUND)
def test_place_is_shown_with_what_stands_around_it(place: str, wider: str) -> None:
    assert around(place) == wider

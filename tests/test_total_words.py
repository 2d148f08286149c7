"""Words for totals: in the languages of the world, and in a grid that is not written yet."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unicodedata import normalize

import duckdb
import pytest

from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.grid import TableBlock
from leaf.readers.tabular.labels import HINT, label_of
from leaf.readers.tabular.sql import literal
from leaf.readers.tabular.total_words import (
    called_totals,
    counts_of_true,
    softened,
    word_for_total,
)

SURE = """
somma · gjithsej · gjithsejt · össz. · yhteensä · kaikkiaan · razem · ogółem · w sumie · totaal
celkem · úhrnem · toplam · yekûn · cəmi · łącznie · итого · всего · загалом · усього · усяго
разам · свега · збир · всичко · вкупно · συνολο · άθροισμα · ընդամենը · სულ · ჯამი · барлығы · жиыны
жами · бардыгы · ҳамагӣ · нийт · guztira · iomlán · cyfanswm · tilsamans · til sammen · sammanlagt
seštevek · zbroj · totalul · bendra suma · kokku · kopā · giştî · ٹوٹل · مجموع · جمع کل · סה״כ
कुल · एकूण · जम्मा · মোট · সর্বমোট · ਕੁੱਲ · કુલ · ମୋଟ · மொத்தம் · మొత్తం · ಒಟ್ಟು · ആകെ · එකතුව
ລວມທັງໝົດ · សរុប · စုစုပေါင်း · kabuuan · jumlah · tổng cộng · wadar · jimla · àpapọ̀ · isamba · ድምር
合計 · 合计 · 合计金额 · 共计 · 합계
"""
OPEN = ["suma", "сума", "Jumla", "کل", "жалпы"]


@pytest.mark.parametrize(
    "word", [w.strip() for w in SURE.replace("\n", "·").split("·") if w.strip()]
)
def test_a_total_is_known_by_its_word(word: str) -> None:
    for text in (word, word.capitalize(), f"{word}:"):
        label = label_of(text)
        assert label is not None
        assert (label.kind, label.exact, label.sure) == ("total", True, True)
        hint = f"SELECT regexp_matches({literal(normalize('NFC', text))}, {literal(HINT)})"
        assert duckdb.sql(hint).fetchall() == [(True,)]


@pytest.mark.parametrize("word", OPEN)
def test_a_word_that_is_a_name_or_a_value_as_well_is_not_sure(word: str) -> None:
    label = label_of(word)
    assert label is not None
    assert not label.sure


@pytest.mark.parametrize(
    "text",
    [
        "SOM",
        "Jami",
        "Monte Somma",
        "Somma Vesuviana",
        "Кол сбор",
        "Общество всичко наред",
        "कुलदीप",
        "మొత్తము గ్రామం",
    ],
)
def test_such_a_word_in_a_name_says_nothing(text: str) -> None:
    assert label_of(text) is None


@pytest.mark.parametrize("word", ["Somma", "Gjithsej", "Össz.", "Yekûn"])
def test_the_sum_of_small_numbers_is_left_out_where_a_word_says_so(
    tmp_path: Path, word: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"name,pieces\nmeat,3\nbread,4\nmilk,2\nwine,6\n{word},15\n")
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert dict(info.left_out) == {"total": (6,)}


# --- in a grid


def block(grid: list[list[Any]], columns: tuple[int, ...] = (1, 2, 3)) -> TableBlock:
    """A table whose header is the grid's first row."""
    names = tuple(f"c{c}" for c in columns)
    body = range(1, len(grid))
    return TableBlock(0, len(grid) - 1, columns[0], columns[-1], names, columns, body, 1)


HEAD = ["", "what", "kind", "n"]


@pytest.mark.parametrize(
    ("rows", "called"),
    [
        ([["", "a", "x", 1], ["", "Total", "", 1]], "row 3"),
        ([["", "Σ", "", 1], ["", "b"], ["", None, "Total", 2], ["", "", "Mean", 1]], "rows 2, 4-5"),
        ([["", " \t", "Total", 1]], "row 2"),  # blanks are no name
        ([["", 1, "Total", 1], ["", "2020", "Total", 1], ["", "-", "Total", 1]], "rows 2-4"),
        # beside a plain Total a total with a name is one as well
        ([["", "North total", "", 1], ["", "Total", "", 1]], "rows 2-3"),
        ([["", "North total", "", 1]], ""),
        ([["", "Result", "", 1]], ""),  # an ordinary value as often
        ([["", "a", "Total", 1], ["", "b", "", 1]], ""),  # below a name of its own
        ([["Total", "a", "x", 1]], ""),  # outside of the table
        ([["", "1 Total", "", 1], [""], []], ""),
    ],
)
def test_the_first_text_of_a_row_says_whether_it_is_called_a_total(
    rows: list[list[Any]], called: str
) -> None:
    grid = [HEAD, *rows]
    found = called_totals(grid, block(grid))
    assert [note.place for note in found] == ([called] if called else [])


def test_rows_that_are_called_totals_are_counted_with_their_cells() -> None:
    grid = [HEAD, ["", "a", "", 1], ["", "Total", "", 1], ["", "Total", "", 1]]
    (one,) = called_totals(grid[:3], block(grid[:3]), "Q3")
    assert one.text == ("1 row is called a total or an average; queries leave it out if it is one.")
    assert (one.kind, one.count, one.place) == ("totals-called", 1, "sheet Q3!B3:D3")
    (two,) = called_totals(grid, block(grid), "Q3")
    assert two.text.startswith("2 rows are called a total")
    assert (two.count, two.place, two.cells) == (2, "sheet Q3!B3:D4", "B3:D4")
    assert called_totals(grid[:2], block(grid[:2])) == []


def test_a_word_is_looked_for_in_the_first_eight_columns() -> None:
    grid: list[list[Any]] = [["h"] * 9, [*[""] * 7, "Total", ""], [*[""] * 8, "Total"]]
    found = called_totals(grid, block(grid, tuple(range(9))))
    assert [note.place for note in found] == ["row 2"]


DONE: list[list[Any]] = [["a", True, False], ["b", True, True], ["c", False, True], ["d", True]]


@pytest.mark.parametrize(
    ("last", "counts"),
    [
        (["Total", 3, 2], True),
        (["Total", 3.0, None], True),
        (["Total", 3], True),
        (["", "Total", 2], True),
        (["Total", "", 2], True),
        (["Total", 2, 2], False),
        (["Total", 3, 1], False),
        (["Total"], False),
        (["e", 3, 2], False),
        ([None, 3, 2], False),
        ([True, 3, 2], False),
        ([7, 3, 2], False),
        (["Total", "Total", 2], False),
        (["Total", "x", 2], False),
        (["Total", True, 2], False),
    ],
)
def test_a_last_row_of_counts_has_one_word_and_is_right_in_each_column(
    last: list[Any], counts: bool
) -> None:
    assert counts_of_true([*DONE, last], range(5), range(3)) == counts


def test_what_is_counted_is_true_and_false_alone() -> None:
    assert counts_of_true([["a", None], ["b", True], ["c", ""], ["Total", 1]], range(4), [0, 1])
    assert not counts_of_true([["a", 1], ["b", 0], ["Total", 1]], range(3), [0, 1])
    assert not counts_of_true([["a", 1], ["b", True], ["Total", 2]], range(3), [0, 1])
    # the rows of the table alone count
    grid: list[list[Any]] = [["x", True], ["a", True], ["b", False], ["Total", 1]]
    assert counts_of_true(grid, [1, 2, 3], [0, 1])
    assert not counts_of_true(grid, range(4), [0, 1])


@pytest.mark.parametrize(
    ("cell", "word"),
    [
        ("Total", "Total"),
        (" Grand total: ", "Grand total:"),
        ("Σ", "Σ"),
        ("Mean", "Mean"),
        ("North total", ""),
        ("Result", ""),
        ("-Total", ""),
        ("n/a", ""),
        ("", ""),
        (None, ""),
        (7, ""),
    ],
)
def test_a_word_in_a_column_of_numbers_stands_for_itself(cell: Any, word: str) -> None:
    assert word_for_total(cell) == word


def test_words_are_taken_out_of_columns_of_numbers_by_row_and_column() -> None:
    grid: list[list[Any]] = [["x"], [1, 2, 3], [4, "Total"], ["Total", "n/a", "Mean"], ["Total"]]
    found = softened(grid, [1, 2, 3], [0, 1, 2])
    assert found == {1: {1: "Total"}, 2: {0: "Total", 2: "Mean"}}
    assert softened(grid, [1, 2, 3], [1]) == {1: {1: "Total"}}
    wide: list[list[Any]] = [[*[1] * 7, "Total", "Total"]]
    assert softened(wide, [0], range(9)) == {0: {7: "Total"}}

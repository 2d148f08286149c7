"""Rows of totals at the edges of what tells them: two words in a row, columns that are keys or
years, words that come once or again, sums that disagree, series and long tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaf.language import problems
from leaf.language.text import speaking
from tests.test_integrity import cells, from_csv, from_rows

FIBONACCI = [48_391, 77_213]
while len(FIBONACCI) < 12:
    FIBONACCI.append(FIBONACCI[-1] + FIBONACCI[-2])


Rows = dict[str, tuple[int, ...]]
"""Kind -> rows of the file."""


def judged(folder: Path, text: str) -> tuple[Rows, Rows]:
    """What is left out, and what is kept and named as doubtful."""
    info = from_csv(folder, text)
    return dict(info.left_out), dict(info.doubtful)


def said(folder: Path, text: str) -> dict[str, str]:
    return {note.kind: note.text for note in from_csv(folder, text).notes}


@pytest.mark.parametrize("last", ["Total of both,Total,35", "All of it,Total,35"])
def test_a_row_with_two_words_is_a_total_once(tmp_path: Path, last: str) -> None:
    info = from_csv(tmp_path, f"region,kind,n\nNorth,a,10\nSouth,b,25\n{last}\n")
    assert (info.rows, dict(info.left_out)) == (2, {"total": (4,)})


def test_names_some_of_which_are_numbers_still_link_totals_to_their_rows(tmp_path: Path) -> None:
    """`North total` below a single row is one because of the name alone."""
    text = (
        "area,product,n\nNorth,A,310\nNorth total,,310\n12,A,415\n12,B,17\n12 total,,432\n"
        "13,C,555\n13,D,1201\n13 total,,1756\nWest,A,77\nWest,C,800\nWest total,,877\nTotal,,3375\n"
    )
    assert dict(from_csv(tmp_path, text).left_out) == {"subtotal": (3, 6, 9, 12), "total": (13,)}


@pytest.mark.parametrize("stamp", [2024, 2100])
def test_three_years_are_no_numbers_to_add_up(tmp_path: Path, stamp: int) -> None:
    info = from_csv(tmp_path, f"what,built,n\nA,1950,412\nB,1960,300\nTotal,{stamp},712\n")
    assert dict(info.left_out) == {"total": (4,)}
    assert "totals-differ" not in cells(info)


def test_a_table_of_true_and_false_keeps_its_columns_above_a_row_of_counts(tmp_path: Path) -> None:
    rows = [["who", "in", "out"], ["a", True, False], ["b", True, True], ["c", False, False]]
    (info,) = from_rows(tmp_path, [*rows, ["Total", 2, 1]])
    assert [kind for _, kind in info.columns] == ["VARCHAR", "BOOLEAN", "BOOLEAN"]
    assert cells(info)["total-rows"] == "A5:C5"


@pytest.mark.parametrize("last", [["Total", 3, 1], ["Total", "Total", 2]])
def test_what_is_no_row_of_counts_stays_and_is_said(tmp_path: Path, last: list[object]) -> None:
    rows = [["who", "in", "out"], ["a", True, False], ["b", True, True], ["c", False, False]]
    (info,) = from_rows(tmp_path, [*rows, last])
    assert (info.rows, dict(info.left_out)) == (4, {})
    assert "types-mixed" in cells(info)


def test_a_row_shorter_than_its_table_is_looked_at_for_words(tmp_path: Path) -> None:
    from leaf.readers.tabular.sheets import SheetsReader

    rows = [["n", "what", "who"], [1, "a", "x"], [2], [3, "b", "y"], [6, "Total"]]
    from_rows(tmp_path, rows)
    notes = SheetsReader().outline(tmp_path / "a.xlsx").notes
    assert [n.cells for n in notes if n.kind == "totals-called"] == ["A5:C5"]


@pytest.mark.parametrize(
    ("text", "doubtful"),
    [
        ("name,n\nA,5\nB,7\nCountry mean,8\n", {"summary": (4,)}),
        # an ordinary value: it comes again, stands in another column, or beside filled keys
        ("name,n\nA,5\nCountry mean,7\nB,9\nCountry mean,8\n", {}),
        ("name,kind,n\nA,Country mean,5\nB,Land,7\nC,Land,9\n", {}),
        ("name,kind,n\nA,x,5\nB,y,7\nCountry mean,z,8\n", {}),
    ],
)
def test_a_mean_is_doubted_where_it_reads_like_one(
    tmp_path: Path, text: str, doubtful: Rows
) -> None:
    assert judged(tmp_path, text) == ({}, doubtful)


def test_a_few_words_among_numbers_hide_no_sum(tmp_path: Path) -> None:
    text = "name,n,m\nA,636,2\nB,pending,464\nC,235,292\nD,518,3\n,1389,761\n"
    info = from_csv(tmp_path, text)
    assert dict(info.columns)["n"] == "VARCHAR"
    assert (info.rows, dict(info.left_out)) == (4, {"total": (6,)})


@pytest.mark.parametrize("total", ["Total", ""])
def test_averages_are_those_of_the_rows_without_their_total(tmp_path: Path, total: str) -> None:
    text = (
        "name,n,m\nA,9,904\nB,1,419\nC,1759,1216\nD,297,837\nE,509,560\n"
        f"{total},2575,3936\nMean,515,787.2\n"
    )
    info = from_csv(tmp_path, text)
    assert (info.rows, dict(info.left_out)) == (5, {"total": (7,), "note": (8,)})


def test_zeros_say_nothing_of_what_is_greatest(tmp_path: Path) -> None:
    text = (
        "area,a,b,c\nHill,301,5,5\nDale,442,5,5\nAll mountains,800,0,0\nMoor,193,5,5\nFen,278,5,5\n"
    )
    assert dict(from_csv(tmp_path, text).doubtful) == {"subtotal": (4,)}


def test_two_totals_that_each_miss_in_one_column_are_both_said(tmp_path: Path) -> None:
    text = (
        "what,a,b\nx,50111,30256\ny,20012,11121\nTotal,70123,41400\n"
        "z,61387,2901\nw,29840,7713\nTotal,91227,10700\n"
    )
    info = from_csv(tmp_path, text)
    assert dict(info.left_out) == {"subtotal": (4, 7)}
    (note,) = [n for n in info.notes if n.kind == "totals-differ"]
    assert "'b' in row 4 is 41,400, its rows give 41,377" in note.text
    assert "'b' in row 7 is 10,700, its rows give 10,614" in note.text


def test_one_word_that_is_right_once_in_three_is_doubted_each_time(tmp_path: Path) -> None:
    rows = "a,31\nb,44\nTotal,75\nc,27\nd,63\nTotal,91\ne,5\nf,88\nTotal,40\n"
    assert judged(tmp_path, f"what,n\n{rows}") == ({}, {"total": (4, 7, 10)})


@pytest.mark.parametrize(
    ("parts", "differs"), [("Ann,10\nBo,25\n", True), ("Ann,10\n", False), ("", False)]
)
def test_a_total_at_the_end_is_held_against_two_rows_or_more(
    tmp_path: Path, parts: str, differs: bool
) -> None:
    info = from_csv(tmp_path, f"who,paid\n{parts}Total,50\n")
    assert dict(info.doubtful) == {"total": (2 + parts.count("\n"),)}
    assert ("totals-differ" in cells(info)) == differs


def test_what_no_word_calls_a_total_is_said_as_a_sum(tmp_path: Path) -> None:
    parts = [613_871, 298_407, 801_233, 455_019, 120_987, 999_103]
    groups = [parts[0] + parts[5], parts[1] + parts[4], parts[2] + parts[3]]
    rows = [("Land", sum(parts)), *[(f"Part {i}", v) for i, v in enumerate([*groups, *parts])]]
    info = from_csv(tmp_path, "area,people\n" + "".join(f"{a},{b}\n" for a, b in rows))
    assert dict(info.doubtful) == {"total": (2,), "subtotal": (3, 4, 5)}
    (note,) = [n for n in info.notes if n.kind == "totals-doubtful"]
    assert "4 rows equal the sum of rows nearby" in note.text
    assert "called a total" not in note.text
    with speaking("de"):
        assert "4 Zeilen sind die Summe von Zeilen in der Nähe" in problems.said(note.text)


def test_words_are_looked_for_in_the_first_eight_columns_of_text(tmp_path: Path) -> None:
    def table(columns: int, *last: str) -> str:
        head = [*(f"c{i}" for i in range(columns)), "n"]
        rows = [
            [*(f"x{r}{c}" for c in range(columns)), v] for r, v in enumerate(["101", "257", "310"])
        ]
        return "".join(",".join(row) + "\n" for row in [head, *rows, [*last, "668"]])

    eight, nine = table(8, *[""] * 7, "Total"), table(9, *["z"] * 8, "Total")
    assert dict(from_csv(tmp_path, eight).left_out) == {"total": (5,)}
    assert dict(from_csv(tmp_path, nine).left_out) == {}


GROUPS = "area,product,n\nN,A,{}\nN,B,{}\n,,{}\nS,A,{}\nS,B,{}\n,,{}\nW,A,{}\nW,B,{}\n,,{}\n"


@pytest.mark.parametrize(
    ("text", "left_out", "doubtful"),
    [
        # large numbers, and small ones that prove each other
        (GROUPS.format(1091, 1160, 2251, 588, 255, 843, 77, 13, 90), {"subtotal": (4, 7, 10)}, {}),
        (
            GROUPS.format(3, 4, 7, 5, 2, 7, 6, 9, 15) + ",,29\n",
            {"subtotal": (4, 7, 10), "total": (11,)},
            {},
        ),
        # what small numbers do not prove is named
        (GROUPS.format(3, 4, 7, 5, 2, 7, 6, 9, 15), {}, {"subtotal": (4, 7, 10)}),
        ("area,product,n\nN,A,31\nN,B,44\n,,75\nS,A,58\nS,B,55\n", {}, {"subtotal": (4,)}),
        ("product,n\nA,31\nB,44\nC,19\nD,12\n,106\n", {}, {"subtotal": (6,)}),
        (
            "product,n\n" + "".join(f"p{i},{i * 7 % 23 + 1}\n" for i in range(40)) + ",486\n",
            {},
            {"subtotal": (42,)},
        ),
        # no sum, or not of its columns alike
        ("area,product,n\nN,A,1091\nN,B,1160\n,,77\nS,A,1588\nS,B,1255\n", {}, {}),
        (GROUPS.format(3, 4, 8, 5, 2, 9, 6, 9, 1), {}, {}),
        (
            "area,product,n,m\nN,A,1091,3\nN,B,1160,4\n,,2251,9\nS,A,1588,5\nS,B,1255,6\n",
            {},
            {"subtotal": (4,)},
        ),
    ],
)
def test_a_row_without_a_name_that_is_the_sum_of_those_beside_it_is_never_silent(
    tmp_path: Path, text: str, left_out: Rows, doubtful: Rows
) -> None:
    assert judged(tmp_path, text) == (left_out, doubtful)


@pytest.mark.parametrize(
    ("rows", "left_out", "doubtful"),
    [
        # the greatest near it, or nothing that speaks for it
        ("x,1044\ny,2031\nAll,3075\nz,1013\nw,2029\nAll,9999\n", {"subtotal": (4,)}, {"total": (7,)}),
        ("All,31\nx,44\nAll,75\ny,13\nz,29\n", {}, {}),
        ("Total Wine,31\nx,44\nTotal Wine,75\ny,13\nz,29\n", {}, {}),
        # a plain Total is one or a mistake, however often it comes
        ("Total,31\nx,44\nTotal,75\ny,13\nz,29\n", {"subtotal": (4,)}, {"total": (2,)}),
        (
            "a,100\nb,250\nTotal,350\nTotal,350\nc,75\nd,25\nTotal,450\n",
            {"subtotal": (4,), "total": (8,)},
            {"total": (5,)},
        ),
    ],
)  # fmt: skip
def test_a_word_that_comes_again_is_an_ordinary_value_unless_it_can_be_none(
    tmp_path: Path, rows: str, left_out: Rows, doubtful: Rows
) -> None:
    assert judged(tmp_path, f"what,n\n{rows}") == (left_out, doubtful)


@pytest.mark.parametrize(
    ("rows", "left_out", "doubtful"),
    [
        ("Total,a,31\nx,b,44\nTotal,c,75\ny,d,13\n", {}, {"total": (2, 4)}),
        ("Total Wine,a,31\nx,b,44\nTotal Wine,c,75\ny,d,13\n", {}, {}),
        ("Ann,x,31\nBo,Total,44\nCy,y,75\nDi,Total,13\nEd,z,29\n", {}, {}),
        ("a,x,1091\nb,y,2502\nTotal,,3593\nTotal,z,777\nc,x,75\n", {"subtotal": (4,)}, {"total": (5,)}),
    ],
)  # fmt: skip
def test_a_word_beside_filled_keys_is_doubted_where_it_is_a_plain_total(
    tmp_path: Path, rows: str, left_out: Rows, doubtful: Rows
) -> None:
    assert judged(tmp_path, f"what,kind,n\n{rows}") == (left_out, doubtful)


LINES = "Cash,4431\nStock,1207\nTotal current,5638\nPlant,8120\nGoodwill,5400\nTotal fixed,{}\n"
REST = "Loans,4100\nTotal loans,4477\nLeases,777\nTotal leases,999\n"


@pytest.mark.parametrize(
    ("text", "left_out", "doubtful"),
    [
        (LINES.format(13_520) + REST, {"subtotal": (4, 7)}, {"subtotal": (9, 11)}),  # half of them
        (LINES.format(13_777) + REST, {}, {"subtotal": (4, 7, 9, 11)}),  # less than half
    ],
)
def test_lines_of_a_statement_stay_together_where_most_are_no_sums(
    tmp_path: Path, text: str, left_out: Rows, doubtful: Rows
) -> None:
    assert judged(tmp_path, f"line,n\n{text}") == (left_out, doubtful)


@pytest.mark.parametrize(
    ("last", "left_out"),
    [("Total,", True), ("All land total,", True), ("Total,z", False)],
)
def test_one_wrong_column_is_a_mistake_of_the_file_where_the_rest_says_total(
    tmp_path: Path, last: str, left_out: bool
) -> None:
    text = f"area,product,a,b\nHill,x,61387,2901\nDale,y,29840,7713\n{last},91227,10999\n"
    info = from_csv(tmp_path, text)
    assert dict(info.left_out if left_out else info.doubtful) == {"total": (4,)}
    assert "its rows give 10,614" in said(tmp_path, text)["totals-differ"]


PIVOT = "what,n\n{},5091\nA,1957\nB,3134\n{},2816\nC,1134\nD,1682\nSouth,2018\nE,797\nF,1221\n"


@pytest.mark.parametrize(
    ("names", "left_out", "doubtful"),
    [
        (("East", "West"), {}, {"subtotal": (2, 5, 8)}),
        (("East total", "West"), {"subtotal": (2,)}, {"subtotal": (5, 8)}),
        (("East total", "West total"), {"subtotal": (2, 5)}, {"subtotal": (8,)}),
    ],
)
def test_of_sums_above_their_rows_those_with_a_word_are_left_out_and_the_rest_is_named(
    tmp_path: Path, names: tuple[str, str], left_out: Rows, doubtful: Rows
) -> None:
    assert judged(tmp_path, PIVOT.format(*names)) == (left_out, doubtful)


def test_a_series_in_which_each_row_is_the_sum_of_the_two_before_is_named(tmp_path: Path) -> None:
    text = "month,n\n" + "".join(f"m{i},{v}\n" for i, v in enumerate(FIBONACCI))
    info = from_csv(tmp_path, text)
    assert info.rows == len(FIBONACCI)
    assert dict(info.left_out) == {}
    assert dict(info.doubtful) == {"subtotal": (4, 7, 10, 13)}
    assert "equal the sum of rows nearby" in said(tmp_path, text)["totals-doubtful"]


def test_a_few_numbers_in_a_long_table_are_held_against_one_another(tmp_path: Path) -> None:
    text = "what,a,b\n" + "".join(f"row {i},,\n" for i in range(20_001))
    text += "Sales,81233,90417\nCost,40121,43309\nGross profit,41112,47108\nRent,4003,4100\n"
    text += "Wages,12011,12777\n"
    info = from_csv(tmp_path, text)
    assert (info.rows, dict(info.doubtful)) == (20_006, {"subtotal": (20_003, 20_005)})


def test_a_total_of_some_of_the_rows_contradicts_nothing(tmp_path: Path) -> None:
    rows = "".join(
        f"{name},Total,{men + women}\n{name},Male,{men}\n{name},Female,{women}\n"
        for name, men, women in (("North", 9225, 5394), ("South", 1588, 1449), ("East", 6964, 8616))
    )
    text = f"region,sex,v\n{rows}Total,Total,33236\nTotal,Male,17777\nTotal,Female,15459\n"
    assert "totals-differ" not in said(tmp_path, text)


def test_amounts_that_cancel_each_other_out_have_a_total_that_is_doubted(tmp_path: Path) -> None:
    """A sum of zero says nothing, with a word for it or without one."""
    rows = "name,amount\na,-1250\nb,-310.5\nc,1560.5\n"
    assert judged(tmp_path, f"{rows}total,0\n") == ({}, {"total": (5,)})
    assert judged(tmp_path, f"{rows},0.00\n")[0] == {}

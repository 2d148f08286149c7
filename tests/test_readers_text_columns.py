"""Rows of texts that are laid out in columns: none is lost, and no number is cut."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb
import pytest

from leaf.readers.worker import inspect, tables


def _read(tmp_path: Path, text: str) -> list[tuple[dict[str, Any], list[Any]]]:
    """Each table of a text as it is described, with its rows."""
    path, out = tmp_path / "a.txt", tmp_path / "out"
    path.write_text(text, encoding="utf-8")
    seen = inspect(str(path), "a.txt")
    assert seen["kind"] == "text"
    infos = tables(str(path), "text", str(out)) if seen["outline"]["tables"] else []
    return [(info, duckdb.execute(f"FROM '{out / info['parquet']}'").fetchall()) for info in infos]


def _names(info: dict[str, Any]) -> list[str]:
    return [name for name, _ in info["columns"]]


def _places(info: dict[str, Any], kind: str) -> list[str]:
    return [note["place"] for note in info["notes"] if note["kind"] == kind]


TIMES = """\
Name        Points    Time
Anna            12    10.5
Ben             15    11.2
Cora             9    12.7
"""


def test_a_line_like_a_row_that_is_in_no_table_is_said(tmp_path: Path) -> None:
    text = f"{TIMES}\nSome words.  Here are more of them.\n\nTotals   36   in all   34.4 s\n"
    [(info, rows)] = _read(tmp_path, text)
    assert len(rows) == 3
    assert _places(info, "loose-cells") == ["line 8"]


def test_remarks_and_titles_are_no_rows_that_are_said(tmp_path: Path) -> None:
    text = (
        f"Run of 2024   part 3\n\n{TIMES}* ill:  did not run\n\nNote:  all were there in 2024\n\n"
    )
    text += "2024-01-01 12:00:00 INFO  [main] app  - handled 3 requests\n"
    [(info, _)] = _read(tmp_path, text)
    assert _places(info, "loose-cells") == []


def test_a_line_too_long_to_be_laid_out_is_said_with_the_rows_below_it(tmp_path: Path) -> None:
    text = (
        "| Item | Qty |\n|------|-----|\n| A    | 5   |\n| "
        + "B" * 4_100
        + " | 7   |\n| C    | 9   |\n| D    | 19  |\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert len(rows) + 3 == 4
    assert _places(info, "loose-cells") == ["lines 4-6"]


def test_commas_of_names_and_numbers_in_columns_part_no_cells(tmp_path: Path) -> None:
    text = (
        "Name                Betrag      Saldo\n"
        "Müller, Anna      1.200,50   1.200,50\n"
        "Huber, Max          -20,00   1.180,50\n"
        "Kurz, Eva          -180,50   1.000,00\n"
        "Lang, Udo            10,00   1.010,00\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert _names(info) == ["Name", "Betrag", "Saldo"]
    assert rows[1] == ("Huber, Max", -20.0, 1180.5)
    towns = [f"Town {n:<10}{n},000{n + 10:>9},000\n" for n in range(11, 22)]
    towns[5] = "Portland, OR   16,000       26,000\n"
    [(_, rows)] = _read(tmp_path, "City           Sales        Costs\n" + "".join(towns))
    assert rows[5] == ("Portland, OR", 16000, 26000)


def test_cells_of_a_csv_that_blanks_fill_up_are_still_parted_by_commas(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for text in (
        "".join(f"{n},{'Name' + str(n):<12},{n * 3:>6}\n" for n in range(7, 20)),
        "".join(f"{'Name' + str(n):<12}, {n:>6}, {n * 3:>6}\n" for n in range(7, 20)),
        "".join(f"Doe   Ann,{n},Rome   Italy\n" for n in range(10, 20)),
    ):
        path.write_text(text)
        assert inspect(str(path), "a.txt")["kind"] == "csv"


def test_digits_in_groups_are_one_number_though_the_header_has_a_blank_there(
    tmp_path: Path,
) -> None:
    text = (
        "Kunde          Umsatz EUR   Vorjahr EUR\n"
        "Maier              12 345        11 222\n"
        "Schulz              2 345         1 222\n"
        "Huber             112 345       100 999\n"
        "Wolf                5 000         4 000\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert _names(info) == ["Kunde", "Umsatz EUR", "Vorjahr EUR"]
    assert rows[1] == ("Schulz", 2345, 1222)


@pytest.mark.parametrize(
    ("other", "numbers"),
    [
        ("Ventes Juin", ("2 345", "  887", "1 111", "7 654")),  # one number is short, so all are
        ("Budget", ("2 045", "  887", "1 111", "7 654")),  # of another column it is known
    ],
)
def test_digits_in_groups_are_one_number_below_any_two_words_where_something_proves_it(
    tmp_path: Path, other: str, numbers: tuple[str, ...]
) -> None:
    sales = ("12 345", " 2 346", "   87" if other != "Budget" else "2 111", "1 999")
    text = f"Rayon          Ventes Mai   {other}\n" + "".join(
        f"Rayon {n}         {mine:>8}        {number}\n"
        for n, (mine, number) in enumerate(zip(sales, numbers, strict=True))
    )
    [(info, rows)] = _read(tmp_path, text)
    assert _names(info) == ["Rayon", "Ventes Mai", other]
    assert rows[0] == ("Rayon 0", 12345, int(numbers[0].replace(" ", "")))
    assert not info["notes"]


def test_columns_that_may_be_one_number_are_said(tmp_path: Path) -> None:
    text = (
        "Rayon       Ventes Mai     Part\n"
        "Fruits          12 345     12.1\n"
        "Boissons         2 346     13.2\n"
        "Pains            1 999     14.3\n"
    )
    [(info, _)] = _read(tmp_path, text)
    assert [note["kind"] for note in info["notes"]] == ["table-doubtful"]
    assert "“Ventes” and “Mai” may be one column" in info["notes"][0]["text"]
    for narrow in (
        "cyl mpg  hp\n  4  21 123\n  6  19 234\n  8  15 345\n",
        "cyl wt disp\n  4 21  123\n  6 19  234\n  8 15  345\n",
    ):
        [(info, rows)] = _read(tmp_path, narrow)
        assert (len(rows[0]), list(info["notes"])) == (3, [])


def test_a_number_in_groups_takes_no_code_beside_it_for_a_group(tmp_path: Path) -> None:
    text = (
        "Kunde          Umsatz EUR Abt      Anteil\n"
        "Maier              12 045 100        1.5\n"
        "Schulz              2 345 200        1.7\n"
        "Huber             112 345 300        1.9\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert rows[0] == ("Maier", 12045, 100, 1.5)
    assert any("may be one column" in note["text"] for note in info["notes"])


def test_numbers_of_three_digits_below_a_name_each_are_two_columns(tmp_path: Path) -> None:
    text = (
        "                  cyl disp  hp\n"
        "Mazda RX4           6  160 110\n"
        "Datsun 710          4  108 193\n"
        "Hornet Sportabout   8  360 175\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert _names(info)[1:] == ["cyl", "disp", "hp"]
    assert rows[0][1:] == (6, 160, 110)


def test_a_sign_apart_from_its_number_belongs_to_it(tmp_path: Path) -> None:
    before = (
        "Konto                Betrag      Saldo\n"
        "Miete            -   500,00   1.000,00\n"
        "Lohn               2.000,00   3.000,00\n"
        "Strom            -    50,00   2.950,00\n"
    )
    [(info, rows)] = _read(tmp_path, before)
    assert _names(info) == ["Konto", "Betrag", "Saldo"]
    assert [row[1] for row in rows] == [-500, 2000, -50]
    behind = (
        "Account              Amount      Balance\n"
        "Rent               500.00 -    1,000.00\n"
        "Wages            2,000.00      3,000.00\n"
        "Power            1,050.00 -    2,950.00\n"
    )
    [(_, rows)] = _read(tmp_path, behind)
    assert [row[1:] for row in rows] == [(-500, 1000), (2000, 3000), (-1050, 2950)]
    last = (
        "Account          Before     Amount\n"
        "Rent             500.00     20.00 -\n"
        "Wages          2,000.00     30.00\n"
        "Power          1,050.00     40.00 -\n"
    )
    [(_, rows)] = _read(tmp_path, last)
    assert [row[1:] for row in rows] == [(500, -20), (2000, 30), (1050, -40)]


def test_a_sign_of_few_rows_stays_with_its_number(tmp_path: Path) -> None:
    lines = [f"Shop {n}        {n * 10:>8}.00      {n * 7:>6}.00\n" for n in range(10, 70)]
    lines[30] = f"Shop 40        {400:>8}.00 -    {280:>6}.00\n"
    [(_, rows)] = _read(tmp_path, "Name              Amount         Share\n" + "".join(lines))
    assert rows[30][1:] == (-400, 280)
    assert rows[31][1:] == (410, 287)


def test_a_dash_below_a_name_of_its_own_is_no_sign(tmp_path: Path) -> None:
    text = (
        "Item     Discount   Price    Sum\n"
        "Nail         -       5.00   5.00\n"
        "Glue         -       7.00   7.00\n"
        "Wood                 9.00   9.00\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert [row[-2:] for row in rows] == [(5, 5), (7, 7), (9, 9)]
    assert _names(info)[1] == "Discount"


def test_words_of_one_text_are_not_cut_where_a_few_of_their_blanks_meet(tmp_path: Path) -> None:
    text = (
        "             city   pop  rank\n"
        "0          Berlin  3.60     3\n"
        "1     Los Angeles  3.90     2\n"
        "2  Rio de Janeiro  6.70     1\n"
        "3            Oslo  0.70     4\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert _names(info)[1:] == ["city", "pop", "rank"]
    assert [row[1] for row in rows] == ["Berlin", "Los Angeles", "Rio de Janeiro", "Oslo"]
    disks = (
        "Filesystem     Blocks     Used Use% Mounted on\n"
        "/dev/sda1    41152812 21152812  52% /\n"
        "/dev/sdb1    51152812  1152812   3% /home\n"
        "tmpfs         1024000        0   0% /mnt/my disk\n"
        "/dev/sdc1    61152812  1152812   2% /data\n"
    )
    [(info, rows)] = _read(tmp_path, disks)
    assert _names(info)[-1] == "Mounted on"
    assert rows[2][-1] == "/mnt/my disk"


def test_a_last_row_without_a_number_is_a_row(tmp_path: Path) -> None:
    [(_, rows)] = _read(tmp_path, f"{TIMES}Dora           ill\n")
    assert [row[:2] for row in rows][-1] == ("Dora", "ill")
    [(_, rows)] = _read(tmp_path, f"{TIMES}Dora         -       -\n* ill\n\nSource    of 2024\n")
    assert [row[0] for row in rows][3:] == ["Dora"]


def test_a_last_row_that_keeps_to_no_border_stands_whole_and_is_said(tmp_path: Path) -> None:
    body = "".join(
        f"{name:<12}{n:>6}{n * 1.5:>8.1f}\n" for n, name in enumerate(["Ann", "Bo"] * 20)
    )
    text = f"Name        Points    Time\n{body}Dora Lang-Meier-Schulz  14    11.9\n\nCounted by Emil.\n"
    [(info, rows)] = _read(tmp_path, text)
    assert len(rows) == 41
    assert rows[-1][0] == "Dora Lang-Meier-Schulz 14 11.9"
    assert _places(info, "table-doubtful") == ["row 42"]


def test_rows_below_an_empty_line_join_the_table_though_one_keeps_to_no_border(
    tmp_path: Path,
) -> None:
    text = f"{TIMES}\nEmil            14    11.9\nDora Lang-Meier-Schulz  14    11.9\n"
    [(info, rows)] = _read(tmp_path, text)
    assert rows[3][:3] == ("Emil", 14, 11.9)
    assert rows[4][0] == "Dora Lang-Meier-Schulz 14 11.9"
    assert _places(info, "table-doubtful") == ["row 7"]


def test_a_record_before_an_empty_line_is_no_heading(tmp_path: Path) -> None:
    text = (
        "No       Item                    unit  Price\n"
        "A101     Brush                    pcs   1.20\n"
        "A102     Nail                     pcs   2.20\n"
        "A103     Glue                     can   3.20\n"
        "A105     Paint                    can    POA\n"
        "\n"
        "A201     Brush                    pcs   1.20\n"
        "A202     Nail                     pcs   2.20\n"
        "A203     Glue                     can   3.20\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert rows[3][:4] == ("A105", "Paint", "can", "POA")
    assert not info["left_out"]


def _page(number: int, rows: int, more: str = "") -> str:
    body = "".join(f"Schraube {n:<3}{n + 10:>8}{n * 1.5 + number:>11.2f}\n" for n in range(rows))
    return (
        f"Muster GmbH                     Seite {number}\nArtikel        Menge      Preis\n"
        f"-------------  -----  ---------\n{body}{more}"
    )


def test_pages_without_an_empty_line_between_them_are_one_table(tmp_path: Path) -> None:
    for counts in ((3, 2, 2), (20, 20, 2)):
        text = "".join(_page(number, rows) for number, rows in enumerate(counts, 1))
        [(info, rows)] = _read(tmp_path, text)
        assert _names(info) == ["Artikel", "Menge", "Preis"]
        assert len(rows) == sum(counts)
        assert {"header-repeated", "pages-joined"} <= {note["kind"] for note in info["notes"]}
        assert _places(info, "loose-cells") == []
    mill = "Dora               -          -\n"
    [(_, rows)] = _read(tmp_path, _page(1, 5, mill) + _page(2, 4, mill) + _page(3, 4))
    assert [row[0] for row in rows].count("Dora") == 2
    assert {row[-1] for row in rows} == {"data"}


def test_rows_that_are_called_pages_are_no_heads_of_pages(tmp_path: Path) -> None:
    body = "".join(f"Page {n:<10}{n * 3:>6}{n * 1.5:>8.1f}\n" for n in range(1, 9))
    [(_, rows)] = _read(tmp_path, f"Where          Views    Time\n{body}")
    assert len(rows) == 8


def test_many_tables_below_one_another_are_read_each_in_its_own_time(tmp_path: Path) -> None:
    one = "id    name{k}   price{k}\n----  -------  -------\n{rows}7     none     -\n"
    rows = "".join(f"{n:<6}item{n:<5}{n * 3 + 0.5:<7}\n" for n in range(1, 6))
    text = "".join(one.format(k=k, rows=rows) for k in range(60))
    started = perf_counter()
    results = _read(tmp_path, text)
    assert perf_counter() - started < 20
    assert len(results) == 60
    assert _names(results[59][0]) == ["id", "name59", "price59"]
    assert {len(rows) for _, rows in results} == {6}


def test_a_table_that_shows_but_a_part_of_its_rows_is_said_to_be_an_extract(
    tmp_path: Path,
) -> None:
    frame = "\n".join(
        [
            "     item    qty  price",
            *(f"{n:<5}nut{n:<5}{n:>3}{n * 1.5:>7.1f}" for n in (0, 1, 2)),
            "..   ...     ...    ...",
            *(f"{n:<5}nut{n:<5}{n:>3}{n * 1.5:>7.1f}" for n in (97, 98, 99)),
        ]
    )
    [(info, rows)] = _read(tmp_path, f"{frame}\n\n[100 rows x 3 columns]\n")
    assert [row[2] for row in rows] == [0, 1, 2, 97, 98, 99]
    assert _places(info, "table-extract") == ["row 5"]
    tibble = f"{TIMES}# ℹ 53,936 more rows\n"
    [(info, rows)] = _read(tmp_path, tibble)
    assert len(rows) == 3
    assert _places(info, "table-extract") == [""]
    [(info, _)] = _read(tmp_path, f"{TIMES}\n[3 rows x 3 columns]\n")
    assert _places(info, "table-extract") == []


def test_other_lines_below_a_table_do_not_join_it(tmp_path: Path) -> None:
    text = (
        "finding             files  precision   recall\n"
        "currency               10      1.000    1.000\n"
        "date-serials           13      1.000    1.000\n"
        "totals-differ          23      1.000    0.910\n"
        "\n"
        "262 files with defects, alone and in pairs: least recall of 23 kinds       0.97  ok\n"
        "262 files with defects: grand totals from rows of data, of 169              169  ok\n"
        "  others over the whole          0\n"
    )
    [(info, rows)] = _read(tmp_path, text)
    assert len(rows) == 3
    assert _places(info, "loose-cells") == ["lines 6-8"]


def test_a_lone_row_beyond_the_borders_is_no_heading(tmp_path: Path) -> None:
    more = TIMES.split("\n", 1)[1]
    text = f"{TIMES}\nDora Lang-Meier-Schulz  14    11.9\n\n{more}"
    [(info, rows)] = _read(tmp_path, text)
    assert len(rows) == 7
    assert not info["left_out"]
    assert _places(info, "table-doubtful") == ["row 6"]


def test_columns_that_pandas_prints_below_are_said(tmp_path: Path) -> None:
    text = (
        "    name   mpg  cyl \\\n0  Mazda  21.0    6  \n1  Honda  22.8    4  \n2  Horne  21.4    6  \n\n"
        "   drat  \n0  3.90  \n1  3.85  \n2  3.08  \n"
    )
    [(info, _)] = _read(tmp_path, text)
    assert _names(info)[1:] == ["name", "mpg", "cyl"]
    assert _places(info, "loose-cells") == ["lines 7-9"]

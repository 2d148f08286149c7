"""Rows that are no records: weights and points, balances carried on, what is left of income."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader

PUPILS = "\n".join(
    f"00{40 + n},Pupil {n},{6 + n % 4}.5,{12 + n % 7},{50 + 3 * n}.5" for n in range(1, 11)
)
MOVES = "\n".join(
    f"2024-01-{n + 1:02},V{n},Order {n},,{n},{1000 - n * (n + 1) // 2}" for n in range(1, 11)
)
INCOME = "Income,Fees,1200.50,1100\nIncome,Grant,800,800.25\nIncome,Total income,2000.50,1900.25\n"
COSTS = "Costs,Rent,700.25,690\nCosts,Wages,900,810\nCosts,Total costs,1600.25,1500\n"


def read(folder: Path, text: str) -> TableInfo:
    path = folder / "file.csv"
    path.write_text(text)
    (info,) = DelimitedReader().tables(path, folder)
    return info


def texts_of(info: TableInfo) -> str:
    return " ".join(note.text for note in info.notes if note.kind == "rows-doubtful")


def test_weights_and_points_above_marks_are_doubtful(tmp_path: Path) -> None:
    rows = f",Weight,0.2,0.3,0.5\n,Max. points,10,20,100\n{PUPILS}"
    info = read(tmp_path, f"ID,Student,Quiz,Lab,Exam\n{rows}\n")
    assert (info.rows, info.doubtful) == (12, (("summary", (2, 3)),))
    assert "2 rows are called like the weights of columns or the points" in texts_of(info)


@pytest.mark.parametrize(
    "text",
    [
        "Property,Unit,Value,Source\nWeight,kg,12.5,scale\nLength,cm,40.5,\nWidth,cm,30.5,tape\n"
        "Depth,cm,20.5,tape\nVolume,l,24.5,sum\n",
        "Player,Points,Games\nMax Points,12,3\nAnn,20,4\nBob,11,5\nCid,15,2\nDee,9,1\n",
        "Month,Opening balance,Net\nJan,10.5,1\nFeb,11.5,2\nMar,13.5,3\nApr,16.5,1\n",
    ],
    ids=["an attribute", "a name", "names of columns"],
)
def test_ordinary_rows_that_are_called_so_are_data(tmp_path: Path, text: str) -> None:
    info = read(tmp_path, text)
    assert (info.left_out, info.doubtful) == ((), ())


@pytest.mark.parametrize(
    "name", ["Opening balance", "Balance b/f", "Saldovortrag", "Solde initial au 31/12/2023"]
)
def test_a_balance_that_is_carried_on_is_doubtful(tmp_path: Path, name: str) -> None:
    info = read(tmp_path, f"Date,No,Text,In,Out,Balance\n2024-01-01,,{name},,,1000\n{MOVES}\n")
    assert (info.rows, info.doubtful) == (11, (("summary", (2,)),))
    assert "a balance that is carried on" in texts_of(info)


def test_a_row_that_repeats_the_balance_above_is_doubtful(tmp_path: Path) -> None:
    info = read(tmp_path, f"Date,No,Text,In,Out,Balance\n{MOVES}\n,,Closing balance,0,77,945\n")
    assert (info.rows, info.doubtful) == (11, (("summary", (12,)),))


def test_a_transfer_is_a_movement(tmp_path: Path) -> None:
    info = read(
        tmp_path, f"Date,No,Text,In,Out,Balance\n{MOVES}\n2024-02-01,V11,Übertrag,,45,900\n"
    )
    assert (info.rows, info.doubtful) == (11, ())


def test_balances_at_both_ends_of_a_list_of_amounts_are_doubtful(tmp_path: Path) -> None:
    amounts = "\n".join(f"2024-01-{n + 1:02},Order {n},{-n}.25" for n in range(1, 9))
    ends = ("2024-01-01,Opening balance,500.5", "2024-01-31,Closing balance,462.5")
    info = read(tmp_path, f"Date,Text,Amount\n{ends[0]}\n{amounts}\n{ends[1]}\n")
    assert (info.rows, info.doubtful) == (10, (("summary", (2, 11)),))


def test_a_difference_of_two_sums_is_left_out_and_said(tmp_path: Path) -> None:
    info = read(
        tmp_path, f"Part,Item,2023,2022\n{INCOME}{COSTS},Result for the year,400.25,400.25\n"
    )
    assert (info.rows, info.left_out[-1]) == (4, ("total", (8,)))
    assert "1 row is the difference of two sums above" in " ".join(n.text for n in info.notes)


@pytest.mark.parametrize(
    "name", ["Result for the year", "Jahresergebnis", "Résultat net", "Resultado"]
)
def test_a_result_below_a_sum_that_nothing_proves_is_doubtful(tmp_path: Path, name: str) -> None:
    costs = "Rent,700.25,690\nWages,900,810\nPost,12,9.5\nTotal,1612.25,1509.5\n"
    info = read(tmp_path, f"Item,2023,2022\n{costs}{name},388.25,390.5\n")
    assert (info.rows, info.doubtful) == (4, (("summary", (6,)),))
    assert "called what is left of the sums above" in texts_of(info)


@pytest.mark.parametrize(
    "name",
    ["Balance at start of period", "Solde en début de période", "Saldo al inicio", "期初余额"],
)
def test_a_balance_without_what_each_record_has_is_doubtful(tmp_path: Path, name: str) -> None:
    moves = "".join(
        f"{n:02}/01/2024,OP {n},Order {n},{'' if n % 2 else -n},{n if n % 2 else ''}\n"
        for n in range(1, 7)
    )
    info = read(tmp_path, f"Date,Operation,Label,Debit,Credit\n{moves}{name},,,,500\n")
    assert (info.rows, info.doubtful) == (7, (("summary", (8,)),))
    assert "called a balance" in texts_of(info)


def test_a_balance_among_records_that_has_what_they_have_is_data(tmp_path: Path) -> None:
    rows = "".join(f"{n:02}/01/2024,OP {n},Order {n},{n},\n" for n in range(1, 7))
    info = read(
        tmp_path,
        f"Date,Operation,Label,Debit,Credit\n{rows}07/01/2024,OP 7,Opening balance,,500\n",
    )
    assert info.doubtful == ()

"""Text whose lines say of which section they are and what they are: a table for each header."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.delimited_source import open_source

STATEMENT = """\ufeffStatement,Header,Field Name,Field Value
Statement,Data,Title,Activity Statement
Statement,Data,Period,"January 1, 2024 - December 31, 2024"
Trades,Header,Kind,Symbol,Date/Time,Quantity,Price,Proceeds
Trades,Data,Order,ASML,"2024-02-14, 09:12:31",10,850.4,-8504
Trades,Data,Order,ASML,"2024-07-18, 15:40:02",-4,862.75,3451
Trades,SubTotal,,ASML,,6,,-5053
Trades,Data,Order,F,"2024-01-22, 11:15:12","1,000",11.21,-11210
Trades,SubTotal,,F,,"1,000",,-11210
Trades,Total,,,,,,-16263
Trades,Notes,Prices are those of the exchange.
Trades,Header,Kind,Symbol,Date/Time,Quantity,,Proceeds
Trades,Data,Forex,EUR.USD,"2024-01-08, 10:01:11","-5,000",,5475.5
Trades,SubTotal,,EUR.USD,,"-5,000",,5475.5
Interest,Header,Currency,Date,Amount
Fees,Header,Rate
Fees,Data,2.5
"""


def tables(folder: Path, text: str) -> list[TableInfo]:
    path = folder / "statement.csv"
    path.write_text(text, "utf-8")
    return DelimitedReader().tables(path, folder)


def test_each_header_begins_a_table_named_after_its_section(tmp_path: Path) -> None:
    infos = tables(tmp_path, STATEMENT)
    assert [(info.sheet, info.rows, info.place) for info in infos] == [
        ("Statement", 2, "lines 1-3"),
        ("Trades", 3, "lines 4-10"),
        ("Trades", 1, "lines 12-14"),
        ("Fees", 1, "lines 16-17"),
    ]
    names = [[name for name, _ in info.columns] for info in infos]
    assert names[1] == ["Kind", "Symbol", "Date/Time", "Quantity", "Price", "Proceeds"]
    assert names[2] == ["Kind", "Symbol", "Date/Time", "Quantity", "Proceeds"]
    assert (names[0], names[3]) == (["Field Name", "Field Value"], ["Rate"])


def test_what_the_file_calls_a_total_is_none_of_the_data(tmp_path: Path) -> None:
    trades = tables(tmp_path, STATEMENT)[1]
    assert dict(trades.left_out) == {"subtotal": (7, 9), "total": (10,)}
    query = f"SELECT sum(Quantity), sum(Proceeds) FROM '{tmp_path / trades.parquet}'"
    assert duckdb.sql(f"{query} WHERE _kind = 'data'").fetchall() == [(1006, -16263)]


def test_nothing_is_lost_without_a_word(tmp_path: Path) -> None:
    infos = tables(tmp_path, STATEMENT)
    loose = {note.place for info in infos for note in info.notes if note.kind == "loose-cells"}
    remarks = [note.place for note in infos[1].notes if note.kind == "footer"]
    assert (loose, remarks) == ({"row 15"}, ["row 11"])
    in_tables = sum(info.rows + sum(n for _, n in info.left_out_counts) for info in infos)
    headers, other = len(infos), 2
    assert in_tables + headers + other == STATEMENT.count("\n")


def test_data_above_any_header_of_its_section_has_a_table_without_names(tmp_path: Path) -> None:
    late = "".join(f"Trades,Data,Order,F,x,{n},1.5,{n}\n" for n in range(2_000))
    infos = tables(tmp_path, STATEMENT + late + "Late,Data,1,2\n")
    assert [(info.sheet, info.rows) for info in infos[-2:]] == [("Fees", 1), ("Late", 1)]
    assert infos[2].rows == 2_001
    assert "no-header" in {note.kind for note in infos[-1].notes}


OTHERS = {
    "a column called so": "Id,Header,Body\n1,Hello,Text\n2,Data,More\n3,Total,Less\n4,Data,None\n",
    "roles without a header": "Part,Role,Sum\nA,Header,1\nA,Data,2\nB,Header,3\nB,Data,4\n",
    "a section without its own": "A,Header,x\nA,Data,1\nB,Data,2\nB,Data,3\nB,Data,4\n",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_ordinary_tables_with_such_words_stay_one_table(tmp_path: Path, text: str) -> None:
    (info,) = tables(tmp_path, text)
    assert (info.sheet, info.rows) == ("", 4)
    assert not open_source(tmp_path / "statement.csv").sectioned

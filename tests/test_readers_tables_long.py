"""Long delimited files, which are read in one pass or row by row, never whole."""

from __future__ import annotations

from contextvars import copy_context
from pathlib import Path

import duckdb
import pytest

from leaf.readers.base import TableInfo
from leaf.readers.progress import tell_to
from leaf.readers.tabular.delimited import DelimitedReader


@pytest.mark.parametrize("quotes", [False, True], ids=["clean", "with quotes"])
def test_a_long_file_leaves_repeated_headers_out_and_says_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quotes: bool
) -> None:
    monkeypatch.setattr("leaf.readers.tabular.delimited.FAST_BYTES", 1_000)
    monkeypatch.setattr("leaf.readers.tabular.delimited.GRID_BYTES", 1_000)
    monkeypatch.setattr("leaf.readers.tabular.delimited_source.CHUNK_ROWS", 1_000)
    monkeypatch.setattr("leaf.readers.progress.EVERY", -1.0)
    header = "order id,client,amount\n"
    lines = [
        f'{n},"Client {n % 7}, ""Inc.""",{n / 4}\n' if quotes else f"{n},Client {n % 7},{n / 4}\n"
        for n in range(40_000)
    ]
    text = header + "".join(lines[:30_000]) + header + "".join(lines[30_000:])
    path = tmp_path / "orders.csv"
    path.write_text(text)
    told: list[tuple[int, int]] = []

    def convert() -> list[TableInfo]:
        tell_to(lambda done, total: told.append((done, total)))
        return DelimitedReader().tables(path, tmp_path / "out")

    (info,) = copy_context().run(convert)
    assert [kind for _, kind in info.columns] == ["BIGINT", "VARCHAR", "DOUBLE"]
    assert (info.rows, info.marked) == (40_000, True)
    assert {n.kind: n.place for n in info.notes}["header-repeated"] == "row 30002"
    rows = duckdb.sql(
        f"SELECT _row FROM '{tmp_path / 'out' / info.parquet}' WHERE \"order id\" IN (29999, 30000)"
    ).fetchall()
    assert rows == [(30_001,), (30_003,)]
    parts = [done / total for done, total in told]
    assert any(0 < part < 0.5 for part in parts)
    assert max(parts) == 1


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are read as large ones are."""
    monkeypatch.setattr("leaf.readers.tabular.delimited.FAST_BYTES", 1_000)
    monkeypatch.setattr("leaf.readers.tabular.delimited.GRID_BYTES", 1_000)


@pytest.mark.usefixtures("streamed")
@pytest.mark.parametrize(
    ("end", "rows", "kinds"),
    [
        ("4001\n", 4_001, {"rows-ragged": 2}),
        ("Zeta Ltd, London\n", 4_001, {"rows-ragged": 2}),
        ("\nSource: own survey\n* provisional\n", 4_000, {"rows-ragged": 1, "footer": 2}),
    ],
    ids=["broken off", "short", "remarks"],
)
def test_a_short_record_at_the_end_of_a_long_file_is_a_row_unless_more_says_it_is_a_remark(
    tmp_path: Path, end: str, rows: int, kinds: dict[str, int]
) -> None:
    lines = [f"{n},Client {n % 7},{n / 4},{n % 5}\n" for n in range(4_000)]
    lines[3] = "3,Client 3,0.75\n"
    path = tmp_path / "a.csv"
    path.write_text("id,client,amount,x\n" + "".join(lines) + end)
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert info.rows == rows
    said = {note.kind: note.count for note in info.notes}
    assert {kind: said.get(kind) for kind in kinds} == kinds
    assert ("footer" in said) == ("footer" in kinds)


@pytest.mark.usefixtures("streamed")
def test_a_long_file_leaves_headers_with_numbered_columns_out_where_they_come_again(
    tmp_path: Path,
) -> None:
    header, counting = "client,kind,amount,x\n", "1,2,3,4\n"
    parts = ["".join(f"C{n},k,{n / 4},{n}\n" for n in range(at, at + 1_500)) for at in (0, 1_500)]
    path = tmp_path / "a.csv"
    path.write_text(header + counting + header + parts[0] + header + counting + parts[1])
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert info.rows == 3_000
    assert [kind for _, kind in info.columns] == ["VARCHAR", "VARCHAR", "DOUBLE", "BIGINT"]
    places = [note.place for note in info.notes if note.kind == "header-repeated"]
    assert places == ["rows 3, 1504-1505"]


@pytest.mark.usefixtures("streamed")
def test_a_header_that_comes_again_among_columns_of_text_is_left_out_of_a_long_file(
    tmp_path: Path,
) -> None:
    lines = [f"word {n % 97},other {n % 89}\n" for n in range(60_000)]
    path = tmp_path / "a.csv"
    path.write_text("a name,b name\n" + "".join([*lines, "a name,b name\n", *lines]))
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert info.rows == 120_000
    assert [n.place for n in info.notes if n.kind == "header-repeated"] == ["row 60002"]


@pytest.mark.usefixtures("streamed")
@pytest.mark.parametrize(
    ("end", "kinds"),
    [
        ("Quelle: Amt für Statistik;;;", {"footer": 1}),
        ("* provisional;;;\nSource: own survey;;;", {"footer": 2}),
        ("Note Ltd;;;", {"notes-doubtful": 1}),
        ("Zeta Ltd;;;", {}),
    ],
    ids=["remark", "two", "doubtful", "a row"],
)
def test_a_remark_that_has_its_delimiters_is_none_of_the_rows_of_a_long_file(
    tmp_path: Path, end: str, kinds: dict[str, int]
) -> None:
    lines = [f"Client {n % 7};{n};{n / 4};{n % 5}\n" for n in range(4_000)]
    path = tmp_path / "a.csv"
    path.write_text("client;id;amount;x\n" + "".join(lines) + end + "\n", encoding="utf-8")
    (info,) = DelimitedReader().tables(path, tmp_path)
    said = {n.kind: n.count for n in info.notes if n.kind in ("footer", "notes-doubtful")}
    assert said == kinds
    assert info.rows == 4_000 + (0 if "footer" in kinds else 1)
    assert [kind for _, kind in info.columns][1:] == ["BIGINT", "DOUBLE", "BIGINT"]


@pytest.mark.usefixtures("streamed")
@pytest.mark.parametrize("empty", [",,,\n", '"","","",""\n', " ,\t, ,\n", "\n"])
def test_rows_that_are_nothing_but_delimiters_are_none_of_a_long_file(
    tmp_path: Path, empty: str
) -> None:
    lines = [f"{n},Client {n % 7},{n / 4},{n % 5}\n" for n in range(40_000)]
    path = tmp_path / "a.csv"
    parts = [lines[:30_000], [empty] * 2, lines[30_000:], [empty] * 7]
    path.write_text("id,client,amount,x\n" + "".join(line for part in parts for line in part))
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert info.rows == 40_000
    assert [kind for _, kind in info.columns] == ["BIGINT", "VARCHAR", "DOUBLE", "BIGINT"]
    said = [note.text for note in info.notes if note.kind == "rows-empty"]
    assert said == ["9 empty lines were left out."]
    table = duckdb.sql(f"FROM '{tmp_path / info.parquet}'")
    assert table.filter("client IS NULL").fetchall() == []
    assert table.filter("id IN (29999, 30000)").project("_row").fetchall() == [(30_001,), (30_004,)]


@pytest.mark.parametrize("end", ["", "* provisional,,,\n"], ids=["alone", "above a remark"])
@pytest.mark.parametrize("bytes_held", [1 << 40, 1_000], ids=["held", "streamed"])
def test_a_word_for_totals_in_a_column_of_dates_does_not_turn_them_into_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bytes_held: int, end: str
) -> None:
    monkeypatch.setattr("leaf.readers.tabular.delimited.FAST_BYTES", 1_000)
    monkeypatch.setattr("leaf.readers.tabular.delimited.GRID_BYTES", bytes_held)
    lines = [f"2024-01-{n % 28 + 1:02d},Client {n % 7},{n / 4},{n}\n" for n in range(40_000)]
    path = tmp_path / "a.csv"
    total = sum(n / 4 for n in range(40_000))
    path.write_text("day,client,amount,x\n" + "".join(lines) + f"Total,,{total},\n" + end)
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert [kind for _, kind in info.columns] == ["DATE", "VARCHAR", "DOUBLE", "BIGINT"]
    assert (info.rows, dict(info.left_out)) == (40_000, {"total": (40_002,)})
    assert "cells-unparsed" not in {note.kind for note in info.notes}


@pytest.mark.parametrize(
    ("last", "kind", "said"),
    [
        ("Z", "TIMESTAMPTZ", ""),
        ("+02:00", "TIMESTAMPTZ", "different offsets (+02:00, Z)"),
    ],
)
def test_times_of_a_long_file_that_have_other_offsets_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str, kind: str, said: str
) -> None:
    monkeypatch.setattr("leaf.readers.tabular.delimited.FAST_BYTES", 1_000)
    lines = [f"2024-01-02T10:00:{n % 60:02d}Z,{n}\n" for n in range(40_000)]
    lines[27_000] = lines[27_000].replace("Z", last)  # in none of the samples
    path = tmp_path / "a.csv"
    path.write_text("at,n\n" + "".join(lines))
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert dict(info.columns)["at"] == kind
    told = [note.text for note in info.notes if note.kind == "times-zoned"]
    assert len(told) == bool(said)
    assert said in "".join(told)


def test_local_times_of_a_long_file_are_said_to_be_local(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaf.readers.tabular.delimited.FAST_BYTES", 1_000)
    path = tmp_path / "a.csv"
    path.write_text("at,n\n" + "".join(f"2024-01-02 10:00+02:00,{n}\n" for n in range(40_000)))
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert dict(info.columns)["at"] == "TIMESTAMP"
    assert [note.kind for note in info.notes] == ["times-zoned"]


@pytest.mark.parametrize("held", [1 << 40, 1_000], ids=["held", "streamed"])
def test_names_of_rows_without_a_name_of_their_own_shift_no_other_in_a_long_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    """As R writes tables whose rows have names."""
    monkeypatch.setattr("leaf.readers.tabular.delimited.FAST_BYTES", 1_000)
    monkeypatch.setattr("leaf.readers.tabular.delimited.GRID_BYTES", held)
    path = tmp_path / "a.csv"
    path.write_text(
        '"city","sold"\n' + "".join(f'"{n}","Town {n % 7}",{n / 4}\n' for n in range(1, 40_001))
    )
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert info.columns == (("column_1", "BIGINT"), ("city", "VARCHAR"), ("sold", "DOUBLE"))
    assert "header-shifted" in {note.kind for note in info.notes}


@pytest.mark.usefixtures("streamed")
def test_delimiters_at_the_ends_of_lines_make_no_columns_of_a_long_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = [f"{n},Client {n % 7},{n / 4},,,,\n" for n in range(4_000)]
    lines[3_500] = lines[3_500].replace(",,,,", ",,seen,,")
    path.write_text("id,client,amount,,,,\n" + "".join(lines))
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert [name for name, _ in info.columns] == ["id", "client", "amount", "column_4"]
    assert info.rows == 4_000
    assert duckdb.sql(f"FROM '{tmp_path / info.parquet}'").filter(
        "column_4 IS NOT NULL"
    ).fetchall() == [(3_500, "Client 0", 875.0, "seen")]


@pytest.mark.usefixtures("streamed")
@pytest.mark.parametrize("late", [False, True])
def test_empty_columns_put_no_name_over_another_column_of_a_long_file(
    tmp_path: Path, late: bool
) -> None:
    path = tmp_path / "a.csv"
    lines = [f",Client {n % 7},,{n / 4},{n}\n" for n in range(4_000)]
    lines[7] = ",Client 0,,1.75\n"  # an odd one: not for the way in one pass
    if late:
        lines[3_500] = ",Client 0,new,875.0,3500\n"
    path.write_text(",client,,amount,number\n" + "".join(lines))
    (info,) = DelimitedReader().tables(path, tmp_path)
    added = (("column_2", "VARCHAR"),) if late else ()
    assert info.columns == (
        ("client", "VARCHAR"),
        *added,
        ("amount", "DOUBLE"),
        ("number", "BIGINT"),
    )
    row = duckdb.sql(f"FROM '{tmp_path / info.parquet}' WHERE number = 3500").fetchall()
    assert row == [("Client 0", *(("new",) if late else ()), 875.0, 3_500)]


@pytest.mark.parametrize("held", [1 << 40, 1_000], ids=["held", "streamed"])
def test_names_are_shifted_beside_a_column_that_is_empty_and_has_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    monkeypatch.setattr("leaf.readers.tabular.delimited.FAST_BYTES", 1_000)
    monkeypatch.setattr("leaf.readers.tabular.delimited.GRID_BYTES", held)
    path = tmp_path / "a.csv"
    rows = "".join(f"r{n},Town {n % 7},,{n / 4}\n" for n in range(4_000))
    path.write_text("city,,sold\n" + rows)
    (info,) = DelimitedReader().tables(path, tmp_path)
    found = {name: kind for name, kind in info.columns if name in ("city", "sold")}
    assert found == {"city": "VARCHAR", "sold": "DOUBLE"}
    row = duckdb.sql(f"SELECT city, sold FROM '{tmp_path / info.parquet}' LIMIT 1").fetchall()
    assert row == [("Town 0", 0.0)]

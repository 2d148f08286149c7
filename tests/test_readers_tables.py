"""Tables out of delimited text: small files whose truth is written beside them."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import TableInfo, Where
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.dialect import sniff


def load(path: Path, content: str | bytes) -> list[tuple[TableInfo, list[tuple[Any, ...]]]]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    out = path.parent / "out"
    return [(info, rows_of(out / info.parquet)) for info in DelimitedReader().tables(path, out)]


def rows_of(parquet: Path) -> list[tuple[Any, ...]]:
    return duckdb.connect().execute(f"SELECT * FROM read_parquet('{parquet}')").fetchall()


def one(
    tmp_path: Path, content: str | bytes
) -> tuple[list[str], list[tuple[Any, ...]], dict[str, str]]:
    """Names, rows and notes (kind -> text) of a file's only table."""
    ((info, rows),) = load(tmp_path / "table.csv", content)
    assert info.rows == len(rows)
    return (
        [name for name, _ in info.columns],
        rows,
        {note.kind: f"{note.text} {note.place}" for note in info.notes},
    )


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", ":", "^", "~", "||"])
def test_any_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    lines = ["id,city,amount", "1,Graz,2.5", "2,Oslo,3.5", "3,Rome,4.25"]
    names, rows, notes = one(tmp_path, "\n".join(line.replace(",", delimiter) for line in lines))
    assert names == ["id", "city", "amount"]
    assert rows == [(1, "Graz", 2.5), (2, "Oslo", 3.5), (3, "Rome", 4.25)]
    assert notes == {}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_any_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    text = "name;city\nJörg Müller;Zürich\nRené Groß;Köln\nJürgen Höß;Düsseldorf\n"
    _, rows, notes = one(tmp_path, text.encode(encoding))
    assert rows[0] == ("Jörg Müller", "Zürich")
    assert rows[2] == ("Jürgen Höß", "Düsseldorf")
    assert ("encoding-guessed" in notes) == (encoding == "cp1252")


def test_one_row_of_other_bytes_leaves_the_rest_as_it_is(tmp_path: Path) -> None:
    rows = "ort,n\n" + "".join(f"Köln,{n}\n" for n in range(3000))
    path = tmp_path / "a.csv"
    path.write_bytes(rows.encode() + "Größe,1\n".encode("latin-1"))
    (info,) = DelimitedReader().tables(path, tmp_path)
    sql = f"SELECT ort, count(*) FROM '{tmp_path / info.parquet}' GROUP BY 1 ORDER BY 1"
    assert duckdb.sql(sql).fetchall() == [("Größe", 1), ("Köln", 3000)]
    (note,) = [note for note in info.notes if note.kind == "encoding-guessed"]
    assert (note.count, note.text[:19]) == (1, "1 line of this UTF-")


def test_leading_zeros_stay_text_also_when_they_come_late(tmp_path: Path) -> None:
    lines = ["zip,units", *(f"{10000 + n},{n}" for n in range(3000)), "00007,5"]
    _, rows, _ = one(tmp_path, "\n".join(lines))
    assert rows[0] == ("10000", 0)
    assert rows[-1] == ("00007", 5)


def test_decimal_comma_and_thousands_are_numbers_and_said(tmp_path: Path) -> None:
    _, rows, notes = one(tmp_path, "city;amount\nGraz;1.234,56\nOslo;-12,5\nRome;1.000.000,00\n")
    assert [r[1] for r in rows] == [1234.56, -12.5, 1_000_000.0]
    assert "'amount'" in notes["decimal-comma"]


@pytest.mark.parametrize("beside", ["", "Rome;n.a.\n", "Rome;N/A\n"])
def test_number_that_may_be_a_thousand_or_a_fraction_is_said(tmp_path: Path, beside: str) -> None:
    _, _, notes = one(tmp_path, f"city;amount\nGraz;1.234\nOslo;2.500\n{beside}")
    assert "numbers-ambiguous" in notes


@pytest.mark.parametrize("beside", ["5 €", "27 %", "+5", "(300)", "1'000", "$ 5"])
@pytest.mark.parametrize("late", [0, 1_500])
def test_a_column_without_a_mark_does_not_show_what_the_mark_of_another_means(
    tmp_path: Path, beside: str, late: int
) -> None:
    plain = [f"Graz\t{n}\t{beside}" for n in range(100, 100 + late)]
    lines = ["city\tamount\tother", *plain, f"Graz\t1.234\t{beside}", f"Oslo\t2.500\t{beside}"]
    _, _, notes = one(tmp_path, "\n".join(lines))
    assert "'amount' the dot of numbers such as 1.234" in notes["numbers-ambiguous"]


@pytest.mark.parametrize(("shown", "read"), [("1.234.567 €", 1234), ("0.5 €", 1.234)])
def test_a_mark_that_another_column_shows_is_no_doubt(
    tmp_path: Path, shown: str, read: float
) -> None:
    _, rows, notes = one(tmp_path, f"city\tamount\tother\nGraz\t1.234\t{shown}\nOslo\t2.500\t7 €\n")
    assert rows[0][1] == read
    assert "numbers-ambiguous" not in notes


@pytest.mark.parametrize(
    ("written", "twins"),
    [
        (("1.1", "1.10", "1.2"), "1.1 and 1.10"),
        (("1e3", "1000", "1.5"), "1e3 and 1000"),
        (("5", "5.0", "5.5"), ""),
        (("1.25", "1.50", "2.75"), ""),
    ],
)
@pytest.mark.parametrize("rows", [1, 200_000])
def test_codes_that_are_one_number_are_said(
    tmp_path: Path, written: tuple[str, ...], twins: str, rows: int
) -> None:
    _, _, notes = one(tmp_path, "item,n\n" + "".join(f"{w},1\n" for w in written * rows)[: 10**6])
    assert twins in notes.get("codes-as-numbers", "")
    assert ("codes-as-numbers" in notes) == bool(twins)


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (("North", "", "South", "", ""), True),
        (("North", "", "North", "", ""), False),
        (("", "North", "", "South", ""), False),
        (("North", "South", "East", "", "West"), False),
        (("N1", "", "N2", "", ""), False),
    ],
)
def test_labels_that_stand_once_above_their_rows_are_said(
    tmp_path: Path, first: tuple[str, ...], said: bool
) -> None:
    lines = [f"{label},product {n},{n + 5}" for n, label in enumerate(first)]
    _, _, notes = one(tmp_path, "\n".join(["region,product,units", *lines]) + "\n")
    assert ("labels-once" in notes) == said
    assert not said or "'region' has a value in 2 rows alone" in notes["labels-once"]


def test_negatives_in_parentheses_have_any_marks(tmp_path: Path) -> None:
    _, rows, _ = one(tmp_path, "city;a;b\nGraz;(1.234,50);(1 200,5)\nOslo;7,25;3,5\n")
    assert [row[1:] for row in rows] == [(-1234.5, -1200.5), (7.25, 3.5)]


@pytest.mark.parametrize(
    ("offsets", "hours", "said"),
    [
        (("+01:00", "+01:00"), (0, 23), "are local, as written with +01:00"),
        (("+0100", "+0200"), (0, 23), "are local, as written with +0100, +0200"),
        (
            ("-05:00", "+01:00"),
            (5, 22),
            "different offsets (+01:00, -05:00); they were read in UTC",
        ),
        (("Z", "+00:00"), (0, 23), ""),
    ],
)
def test_times_of_one_place_are_read_as_its_clocks_showed_them(
    tmp_path: Path, offsets: tuple[str, str], hours: tuple[int, int], said: str
) -> None:
    first, second = offsets
    text = f"at,n\n2024-02-01T00:30:00{first},1\n2024-07-31T23:30:00{second},2\n"
    _, rows, notes = one(tmp_path, text)
    assert tuple(row[0].hour for row in rows) == hours
    assert said in notes.get("times-zoned", "")
    assert bool(said) == ("times-zoned" in notes)


def test_currency_and_percent_signs_are_taken_off_and_said(tmp_path: Path) -> None:
    _, rows, notes = one(
        tmp_path, 'city,price,share\nGraz,"$1,200.50",12.5%\nOslo,($3.00),3%\nRome,$7,0%\n'
    )
    assert [r[1:] for r in rows] == [(1200.5, 12.5), (-3.0, 3.0), (7.0, 0.0)]
    assert "'$'" in notes["currency-stripped"]
    assert "12.5% is 12.5" in notes["percent"]


def test_signs_before_and_behind_parentheses_belong_to_the_number(tmp_path: Path) -> None:
    text = 'a,x,y\nb,"$(1,200)",(7.2)%\nc,$ -  ,3.1%\nd,"$5,000",-%\ne,$(3),(0.4)%\n'
    _, rows, notes = one(tmp_path, text)
    assert [r[1:] for r in rows] == [(-1200, -7.2), (None, 3.1), (5000, None), (-3, -0.4)]
    assert "'-%' in 'y'" in notes["missing-words"]


def test_two_currencies_in_a_column_stay_text(tmp_path: Path) -> None:
    _, rows, notes = one(tmp_path, "city,price\nGraz,€ 5\nOslo,$ 7\nRome,€ 9\n")
    assert [r[1] for r in rows] == ["€ 5", "$ 7", "€ 9"]
    assert "currency-mixed" in notes


def test_titles_above_and_notes_below_are_left_out_and_counted(tmp_path: Path) -> None:
    text = "Quarterly export\nPeriod:,2023\n\nid,city,units\n1,Graz,5\n2,Oslo,6\n3,Rome,7\n\nSource: own survey\n"
    names, rows, notes = one(tmp_path, text)
    assert names == ["id", "city", "units"]
    assert rows == [(1, "Graz", 5), (2, "Oslo", 6), (3, "Rome", 7)]
    assert "rows 1-2" in notes["preamble"]
    assert "row 9" in notes["footer"]


def test_short_and_long_rows_are_kept_and_named(tmp_path: Path) -> None:
    text = "id,city,units\n1,Graz,5\n2,Oslo\n3,Rome,7,late\n4,Bonn,8\n5,Lyon,9\n"
    names, rows, notes = one(tmp_path, text)
    assert names == ["id", "city", "units", "column_4"]
    assert rows[1] == (2, "Oslo", None, None)
    assert rows[2] == (3, "Rome", 7, "late")
    assert "row 3" in notes["rows-ragged"]
    assert "row 4" in notes["rows-long"]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('2,5" pipe,7', '5" pipe'),
        ('2,"broken,7', '"broken'),
        ('2,"he said "now" twice",7', 'he said "now" twice'),
        ('2,end",7', 'end"'),
    ],
)
def test_stray_quote_swallows_no_row(tmp_path: Path, line: str, value: str) -> None:
    text = f'id,note,units\n1,"fine, here",5\n{line}\n3,"also ""quoted""",8\n4,plain,9\n'
    _, rows, _ = one(tmp_path, text)
    assert rows == [(1, "fine, here", 5), (2, value, 7), (3, 'also "quoted"', 8), (4, "plain", 9)]


def test_repaired_quotes_are_counted_with_their_row(tmp_path: Path) -> None:
    _, _, notes = one(tmp_path, 'id,note,units\n1,"open,5\n2,b,6\n3,c,7\n')
    assert "1 row." in notes["repaired-quotes"]
    assert notes["repaired-quotes"].endswith("row 2")


def test_line_breaks_inside_quotes_belong_to_the_cell(tmp_path: Path) -> None:
    _, rows, _ = one(tmp_path, 'id,note\n1,"first\nsecond, still\n\nfourth"\n2,short\n')
    assert rows == [(1, "first\nsecond, still\n\nfourth"), (2, "short")]


def test_file_without_header_gets_names_and_says_so(tmp_path: Path) -> None:
    names, rows, notes = one(tmp_path, "1,Graz,2.5\n2,Oslo,3.5\n3,Rome,4.5\n")
    assert names == ["column_1", "column_2", "column_3"]
    assert len(rows) == 3
    assert "no-header" in notes


def test_header_in_two_rows_is_joined(tmp_path: Path) -> None:
    names, rows, notes = one(
        tmp_path, ",2023,,2024,\nRegion,plan,actual,plan,actual\nNorth,1,2,3,4\nSouth,5,6,7,8\n"
    )
    assert names == ["Region", "2023 / plan", "2023 / actual", "2024 / plan", "2024 / actual"]
    assert rows == [("North", 1, 2, 3, 4), ("South", 5, 6, 7, 8)]
    assert "header-two-rows" in notes


def test_years_in_the_header_are_names(tmp_path: Path) -> None:
    names, rows, _ = one(tmp_path, "Region,2021,2022\nNorth,10,20\nSouth,30,40\n")
    assert names == ["Region", "2021", "2022"]
    assert rows == [("North", 10, 20), ("South", 30, 40)]


def test_repeated_and_empty_names_become_unique(tmp_path: Path) -> None:
    names, _, notes = one(tmp_path, "id,value,Value,\n1,2,3,4\n5,6,7,8\n")
    assert names == ["id", "value", "Value_2", "column_4"]
    assert {"names-empty", "names-repeated"} <= set(notes)


def test_two_blocks_become_two_tables(tmp_path: Path) -> None:
    text = "Visits\ncity,units\nGraz,5\nOslo,6\n\nPayments\nname,amount,day\nEva,1.5,2024-01-02\nOlaf,2.5,2024-01-03\n"
    (visits, visit_rows), (payments, payment_rows) = load(tmp_path / "t.csv", text)
    assert visit_rows == [("Graz", 5), ("Oslo", 6)]
    assert payment_rows == [("Eva", 1.5, date(2024, 1, 2)), ("Olaf", 2.5, date(2024, 1, 3))]
    assert any(n.kind == "several-blocks" for n in visits.notes)
    assert payments.place == "lines 7-9"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_read(tmp_path: Path, end: str) -> None:
    _, rows, _ = one(tmp_path, end.join(["id,city", "1,Graz", "2,Oslo", ""]))
    assert rows == [(1, "Graz"), (2, "Oslo")]


def test_sep_line_names_the_delimiter_and_is_no_data(tmp_path: Path) -> None:
    names, rows, _ = one(tmp_path, "sep=;\r\nid;city\r\n1;Graz\r\n2;Oslo\r\n")
    assert names == ["id", "city"]
    assert rows == [(1, "Graz"), (2, "Oslo")]


def test_missing_words_among_numbers_are_null_and_counted(tmp_path: Path) -> None:
    _, rows, notes = one(tmp_path, "id,amount\n1,2.5\n2,N/A\n3,-\n4,4.5\n")
    assert [r[1] for r in rows] == [2.5, None, None, 4.5]
    assert notes["missing-words"].startswith("2 cells")


def test_missing_words_among_texts_stay_as_written(tmp_path: Path) -> None:
    _, rows, _ = one(tmp_path, "id,country\n1,DE\n2,NA\n3,AT\n")
    assert [r[1] for r in rows] == ["DE", "NA", "AT"]


def test_one_word_among_numbers_keeps_the_column_as_text_and_is_named(tmp_path: Path) -> None:
    lines = ["id,amount", *(f"{n},{n}.5" for n in range(60)), "60,about 7"]
    _, rows, notes = one(tmp_path, "\n".join(lines))
    assert rows[-1] == (60, "about 7")
    assert rows[0] == (0, "0.5")
    assert "1 of 61 values" in notes["cells-unparsed"]
    assert notes["cells-unparsed"].endswith("row 62")


@pytest.mark.parametrize(
    ("values", "kind", "first"),
    [
        (["2024-01-31", "2023-12-05"], "DATE", date(2024, 1, 31)),
        (["31.01.2024", "05.12.2023"], "DATE", date(2024, 1, 31)),
        (["31/01/2024", "05/12/2023"], "DATE", date(2024, 1, 31)),
        (["01/31/2024", "12/05/2023"], "DATE", date(2024, 1, 31)),
        (["31-Jan-2024", "05-Dec-2023"], "DATE", date(2024, 1, 31)),
        (["31-Jan-24", "5-Dec-23"], "DATE", date(2024, 1, 31)),
        (["31 Jan 24", "05 Dec 23"], "DATE", date(2024, 1, 31)),
        (["31-Jan-24 14:30", "5-Dec-23 09:00"], "TIMESTAMP", datetime(2024, 1, 31, 14, 30)),
        (["31JAN2024", "05DEC2023"], "DATE", date(2024, 1, 31)),
        (["31-XYZ-24", "5-ABC-23"], "VARCHAR", "31-XYZ-24"),
        (
            ["2024-01-31 10:20:30", "2023-12-05 00:00:00"],
            "TIMESTAMP",
            datetime(2024, 1, 31, 10, 20, 30),
        ),
        (["true", "FALSE"], "BOOLEAN", True),
    ],
)
def test_type_is_decided_by_all_values(
    tmp_path: Path, values: list[str], kind: str, first: Any
) -> None:
    ((info, rows),) = load(
        tmp_path / "t.csv", "id,when\n" + "".join(f"{n},{v}\n" for n, v in enumerate(values))
    )
    assert info.columns[1] == ("when", kind)
    assert rows[0][1] == first


def test_dates_that_may_be_read_both_ways_stay_text_and_are_said(tmp_path: Path) -> None:
    _, rows, notes = one(tmp_path, "id,when\n1,01/02/2024\n2,03/04/2024\n")
    assert rows[0][1] == "01/02/2024"
    assert "dates-ambiguous" in notes


def test_doubtful_dates_follow_another_column_that_decides(tmp_path: Path) -> None:
    _, rows, notes = one(tmp_path, "sent,paid\n01/02/2024,20/02/2024\n03/04/2024,21/04/2024\n")
    assert rows[0] == (date(2024, 2, 1), date(2024, 2, 20))
    assert "'sent'" in notes["dates-ambiguous"]


def test_integer_of_more_than_eighteen_digits_loses_no_digit(tmp_path: Path) -> None:
    _, rows, _ = one(tmp_path, "id,units\n12345678901234567890,1\n12345678901234567891,2\n")
    assert [r[0] for r in rows] == ["12345678901234567890", "12345678901234567891"]


def test_nul_bytes_are_left_out_and_counted(tmp_path: Path) -> None:
    _, rows, notes = one(tmp_path, "id,city\n1,Gr\0az\n2,Oslo\n\0")
    assert rows == [(1, "Graz"), (2, "Oslo")]
    assert notes["nul-bytes"].startswith("2 NUL")


def test_empty_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match=r"This file is empty"):
        load(tmp_path / "t.csv", "")


def test_too_many_columns_are_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(FileTooLargeError, match="20,000 columns"):
        load(
            tmp_path / "t.csv",
            ",".join(f"c{n}" for n in range(20_000)) + "\n" + ",".join("1" * 20_000) + "\n",
        )


def test_header_without_a_name_for_the_row_names_is_shifted(tmp_path: Path) -> None:
    names, rows, notes = one(tmp_path, "mpg,cyl\nMazda,21.0,6\nDatsun,22.8,4\n")
    assert names == ["column_1", "mpg", "cyl"]
    assert rows == [("Mazda", 21.0, 6), ("Datsun", 22.8, 4)]
    assert "header-shifted" in notes


def big(path: Path, odd: str = "") -> Path:
    """A file large enough for the one-pass way, with one odd line in its middle."""
    lines = [
        f"{n},city {n % 50},{n % 700}.25,2024-01-{1 + n % 28:02d},note number {n} of many"
        for n in range(120_000)
    ]
    if odd:
        lines[61_234] = odd
    path.write_text("id,city,amount,day,note\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("odd", "value", "kinds"),
    [
        ("", (61_234, "city 34", 334.25, date(2024, 1, 27)), "BIGINT VARCHAR DOUBLE DATE"),
        (
            "61234,x,N/A,2024-01-02,y",
            (61_234, "x", None, date(2024, 1, 2)),
            "BIGINT VARCHAR DOUBLE DATE",
        ),
        (
            "0061234,x,1.5,2024-01-02,y",
            ("0061234", "x", 1.5, date(2024, 1, 2)),
            "VARCHAR VARCHAR DOUBLE DATE",
        ),
        (
            "61234,x,1.5,2024-01-02 10:00:00,y",
            (61_234, "x", 1.5, datetime(2024, 1, 2, 10)),
            "BIGINT VARCHAR DOUBLE TIMESTAMP",
        ),
        (
            "61234.5,x,1.5,2024-01-02,y",
            (61_234.5, "x", 1.5, date(2024, 1, 2)),
            "DOUBLE VARCHAR DOUBLE DATE",
        ),
        ("61234,x,1.5", (61_234, "x", 1.5, None), "BIGINT VARCHAR DOUBLE DATE"),
        (
            '61234,"x,1.5,2024-01-02,y',
            (61_234, '"x', 1.5, date(2024, 1, 2)),
            "BIGINT VARCHAR DOUBLE DATE",
        ),
        (
            '61234,"x\ny",1.5,2024-01-02,y',
            (61_234, "x\ny", 1.5, date(2024, 1, 2)),
            "BIGINT VARCHAR DOUBLE DATE",
        ),
    ],
)
def test_large_file_loses_nothing_to_one_odd_line(
    tmp_path: Path, odd: str, value: tuple[Any, ...], kinds: str
) -> None:
    path = big(tmp_path / "big.csv", odd)
    (info,) = DelimitedReader().tables(path, tmp_path / "out")
    rows = rows_of(tmp_path / "out" / info.parquet)
    assert len(rows) == info.rows == 120_000
    assert rows[61_234][:4] == value
    assert " ".join(kind for _, kind in info.columns[:4]) == kinds
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["0.parquet"]


def test_rows_are_read_from_where_they_are_asked_for_with_the_header(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Title\n\nid,city\n" + "".join(f"{n},c{n}\n" for n in range(4, 40)))
    passages = list(DelimitedReader().passages(path, Where("row", 10, 12)))
    assert [p.number for p in passages] == [10, 11, 12]
    assert passages[0].text == "[columns: id | city]\n10 | c10"
    assert passages[1].text == "11 | c11"


def test_outline_counts_data_rows_and_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Title\n\nid,city\n1,Graz\n2,Oslo\n")
    outline = DelimitedReader().outline(path)
    assert (outline.kind, outline.rows, outline.columns) == ("csv", 2, 2)


def test_apostrophes_are_no_quotes() -> None:
    dialect = sniff("id,name\n1,O'Neil\n2,D'Arcy\n3,it's\n4,plain\n")
    assert (dialect.delimiter, dialect.quote) == (",", '"')


REAL = {
    "archaeology_time_series.csv": (3601, 37, ("CE", "BIGINT"), (0, -4100, 6050)),
    "assets.csv": (
        1050,
        13,
        ("state", "VARCHAR"),
        ("254c6dd4-ab7b-44d1-989b-14087c68272a", "Closed", "Mary Smith"),
    ),
    "incidents.csv": (
        600,
        14,
        ("opened_at", "TIMESTAMP"),
        ("system", datetime(2023, 1, 2, 3, 32), "UK"),
    ),
    "nls_raw.csv": (12686, 61, ("Age of respondent, 1979", "BIGINT"), (1, 20, 413.0)),
    "survey_ml_requirements.csv": (276, 202, ("Status", "VARCHAR"), (31, "Completed (31)", 1317)),
}


@pytest.mark.parametrize("name", REAL)
def test_real_file_loads_as_it_is(real_data: Path, tmp_path: Path, name: str) -> None:
    rows, columns, second, first = REAL[name]
    (info,) = DelimitedReader().tables(real_data / name, tmp_path)
    stored = rows_of(tmp_path / info.parquet)
    assert (info.rows, len(stored), len(info.columns)) == (rows, rows, columns)
    assert info.columns[1] == second
    assert stored[0][:3] == first
    assert DelimitedReader().outline(real_data / name).rows == rows

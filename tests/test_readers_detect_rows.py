"""Text that is mainly rows of tabs is a table, whatever stands around it; prose, code, lists and logs
stay text."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from leaf.readers.detect import detect
from leaf.readers.tabular.delimited import DelimitedReader

RDB = (
    "# ------ WARNING ------\n"
    + "# Provisional data are released on condition.\n" * 20
    + "agency_cd\tsite_no\tdatetime\tflow\tflow_cd\n5s\t15s\t20d\t14n\t10s\n"
    + "".join(f"USGS\t04282500\t2023-01-{day:02}\t{day * 7}\tA\n" for day in range(1, 13))
)
QUERY = (
    '"Notes"\t"State"\t"Code"\tDeaths\n'
    + "".join(f'\t"State {n}"\t"{n:02}"\t{n * 3}\n' for n in range(1, 9))
    + '"---"\n"Dataset: Causes of Death"\n"Query Parameters:"\n'
    + "".join(f'"{n}. Data are kept back where they are few."\n' for n in range(1, 12))
)
PLATE = (
    "".join(f"* Setting {n} = {n}\n" for n in range(12))
    + "\n[Setup]\nWell\tSample\tTask\n"
    + "".join(f"{n}\tS{n}\tUNKNOWN\n" for n in range(1, 13))
    + "\n[Results]\nWell\tSample\tOmit\tCt\tMean\n"
    + "".join(f"{n}\tS{n}\tfalse\t{n}.5\t{n}.25\n" for n in range(1, 13))
    + "\nAnalysis Type = Singleplex\n"
)


def saved(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [("flow.rdb", RDB), ("deaths.txt", QUERY), ("run.txt", PLATE), ("run", PLATE)],
)
def test_rows_of_tabs_with_much_around_them_are_a_table(
    tmp_path: Path, name: str, text: str
) -> None:
    path = saved(tmp_path, name, text)
    assert detect(path, name)[0] == "csv"
    info = DelimitedReader().tables(path, tmp_path)[-1]
    assert (info.rows, len(info.columns)) in ((12, 5), (8, 4))


SENTENCE = "The river rose in the night, and nobody had thought of the boats that lay below.\n"
TEXTS = {
    "prose": SENTENCE * 30,
    "prose with a table": SENTENCE * 12 + "Day\tLevel\tFlow\n" + "1\t2\t3\n" * 14 + SENTENCE * 6,
    "poem": "Day breaks\n\tslowly\n\t\tnow\nand comes\n" * 6,
    "code with tabs": "def f(a):\n\tif a:\n\t\treturn 1\n\t\n\tfor b in a:\n\t\tprint(b)\n" * 6,
    "assembly": "start:\n\tmov\teax, 1\n\tint\t0x80\n\tmov\tebx, 2\n\tret\n" * 8,
    "contents": "Contents\n" + "1.\tThe river\t5\n2.\tThe boats\t17\n\nPart\n\nOther\n\nMore\n" * 4,
    "log": "".join(
        f"2024-01-{d:02} 10:00:00 INFO\tserver\tstarted\t{d}\nTraceback\nat line\n"
        for d in range(1, 20)
    ),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_prose_code_lists_and_logs_stay_text(tmp_path: Path, text: str) -> None:
    assert detect(saved(tmp_path, "notes.txt", text), "notes.txt")[0] == "text"


def test_a_mail_with_rows_of_tabs_stays_a_mail(tmp_path: Path) -> None:
    text = "From: a@b.org\nTo: c@d.org\nSubject: Rows\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n\n"
    assert detect(saved(tmp_path, "rows.txt", text + QUERY), "rows.txt")[0] == "email"


def test_the_row_of_widths_in_an_rdb_file_is_no_record_and_no_name(tmp_path: Path) -> None:
    (info,) = DelimitedReader().tables(saved(tmp_path, "flow.rdb", RDB), tmp_path)
    assert [name for name, _ in info.columns] == RDB.split("\n")[21].split("\t")
    total = duckdb.sql(f"SELECT count(*), sum(flow) FROM '{tmp_path / info.parquet}'").fetchall()
    assert total == [(12, sum(day * 7 for day in range(1, 13)))]
    (note,) = [note for note in info.notes if note.kind == "header-two-rows"]
    assert (note.place, "how wide" in note.text) == ("row 23", True)


def test_codes_of_that_make_in_several_rows_are_records(tmp_path: Path) -> None:
    text = "seat\tback\tside\n12s\t14n\t3d\n13s\t15n\t4d\n14s\t16n\t5d\n"
    (info,) = DelimitedReader().tables(saved(tmp_path, "seats.tsv", text), tmp_path)
    assert (info.rows, [name for name, _ in info.columns]) == (3, ["seat", "back", "side"])

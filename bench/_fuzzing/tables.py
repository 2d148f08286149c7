"""Small tables in every form that is read, the same bytes each time."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import re
import sqlite3
from pathlib import Path
from typing import Any

from bench._fuzzing.compound import xls
from bench._fuzzing.content import HEADER, LINES, ROWS, ods_cell, open_document, rezipped, written


def made() -> dict[str, dict[str, bytes]]:
    """Kind -> name -> bytes."""
    return {
        "csv": csv(),
        "excel": _excel(),
        "parquet": {"a.parquet": written("a.parquet", _parquet), "b.pq": written("b.pq", _flat)},
        "json": _json(),
        "arrow": {name: written(name, _arrow) for name in ("a.feather", "a.arrows", "a.orc")},
        "stats": {name: _undated(written(name, _stats)) for name in _STATS},
        "database": {"a.sqlite": written("a.sqlite", _sqlite)},
    }


def csv() -> dict[str, bytes]:
    def lines_of(mark: str, comma: str = ".") -> str:
        lines = []
        for row in LINES:
            cells = [str(c).replace(".", comma) if isinstance(c, float) else str(c) for c in row]
            lines.append(
                mark.join(
                    '"' + c.replace('"', '""') + '"' if mark in c or '"' in c else c for c in cells
                )
            )
        return "\n".join(lines) + "\n"

    plain = lines_of(",").encode()
    return {
        "a.csv": plain,
        "german.csv": ("Bericht 2025\n\n" + lines_of(";", ",")).encode("cp1252"),
        "a.tsv": lines_of("\t").replace("\n", "\r\n").encode("utf-16"),
        "long.csv": (",".join(HEADER) + "\n" + "North,2025-01-31,12,100.5,x\n" * 400).encode(),
        "a.csv.gz": gzip.compress(plain, mtime=0),
    }


def _excel() -> dict[str, bytes]:
    cells = "".join(
        "<table:table-row>" + "".join(map(ods_cell, row)) + "</table:table-row>" for row in LINES
    )
    sheet = f'<table:table table:name="Sales">{cells}</table:table>'
    return {
        "a.xlsx": _xlsx(),
        "a.xls": xls(LINES),
        "a.ods": open_document("spreadsheet", sheet),
        "b.xls": _spreadsheetml().encode(),
    }


def _xlsx() -> bytes:
    from datetime import date

    from openpyxl import Workbook
    from openpyxl.comments import Comment

    book = Workbook()
    sheet: Any = book.active
    sheet.title = "Sales"
    sheet.append(["Report 2025"])
    sheet.merge_cells("A1:E1")
    sheet.append([])
    for row in LINES:
        sheet.append(row)
    sheet["C8"] = "=SUM(C4:C7)"
    sheet["B4"] = date(2025, 1, 31)
    sheet["A4"].comment = Comment("checked", "Ann")
    sheet.auto_filter.ref = "A3:E8"
    sheet.row_dimensions[5].hidden = True
    hidden: Any = book.create_sheet("Hidden")
    hidden.sheet_state = "hidden"
    hidden.append(["a", 1])
    out = io.BytesIO()
    book.save(out)
    return rezipped(out.getvalue())


def _spreadsheetml() -> str:
    rows = "".join(
        "<Row>"
        + "".join(
            f'<Cell><Data ss:Type="{"String" if isinstance(c, str) else "Number"}">{c}</Data></Cell>'
            for c in row
        )
        + "</Row>"
        for row in LINES
    )
    return (
        '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n'
        '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" '
        'xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">'
        f'<Worksheet ss:Name="Sales"><Table>{rows}</Table></Worksheet></Workbook>'
    )


def _table() -> Any:
    import pyarrow as pa

    names = [str(row[0]) for row in ROWS]
    return pa.table(
        {
            "region": names * 20,
            "units": [float(row[2]) for row in ROWS] * 20,
            "n": list(range(100)),
            "day": pa.array([0, 1, None, 20_000, 19_000] * 20, pa.date32()),
            "at": pa.array([0, 1, None, 10**15, 5] * 20, pa.timestamp("us", "UTC")),
            "price": pa.array([None, 1, 2, 3, 4] * 20, pa.decimal128(9, 2)),
            "tags": [["a", "b"], [], None, ["c"], ["d"]] * 20,
            "part": [{"x": 1, "y": "z"}] * 100,
        }
    )


def _parquet(path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(_table(), path, row_group_size=40)


def _flat(path: Path) -> None:
    import pyarrow.parquet as pq

    table = _table().select(["region", "units", "n", "day"])
    pq.write_table(table, path, compression="none", use_dictionary=False)


def _arrow(path: Path) -> None:
    import pyarrow as pa
    from pyarrow import feather, orc

    table = _table()
    if path.suffix == ".feather":
        feather.write_feather(table, str(path), compression="uncompressed")
    elif path.suffix == ".orc":
        orc.write_table(table, str(path))
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table)


_STATS = ("a.sav", "a.zsav", "a.por", "a.dta", "a.xpt")


def _stats(path: Path) -> None:
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame(
        {
            "ID": [1.0, 2.0, 3.0, 4.0, 5.0] * 8,
            "SEX": [1.0, 2.0, None, 1.0, 2.0] * 8,
            "NAME": ["Ann", "Bob", "", "Eve", "Dan"] * 8,
        }
    )
    labels = {"SEX": {1: "Male", 2: "Female"}}
    if path.suffix in (".sav", ".zsav"):
        told = {"SEX": "Sex of the person"}
        pack = path.suffix == ".zsav"
        pyreadstat.write_sav(
            frame, path, compress=pack, column_labels=told, variable_value_labels=labels
        )
    elif path.suffix == ".dta":
        pyreadstat.write_dta(frame, path, variable_value_labels=labels)
    elif path.suffix == ".por":
        pyreadstat.write_por(frame, path)
    else:
        pyreadstat.write_xport(frame, path)


_DATES = (
    (rb"\d\d [A-Z][a-z]{2} \d\d\d\d:\d\d:\d\d", b"01 Jan 2500:00:00"),  # SPSS
    (rb"\d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d", b"01 Jan 2025 00:00"),  # Stata
    (rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d", b"01JAN25:00:00:00"),  # SAS
    (rb"8/20\d{6}6/\d{3}\r\n\d{3}", b"8/202501016/000\r\n000"),  # portable SPSS
)


def _undated(data: bytes) -> bytes:
    """A file of a statistics program without the time at which it was written."""
    for pattern, fixed in _DATES:
        data = re.sub(pattern, fixed, data)
    return data


def _sqlite(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA page_size = 1024")
    connection.execute("CREATE TABLE sales (region TEXT, day DATE, units INT, revenue, note TEXT)")
    connection.executemany("INSERT INTO sales VALUES (?, ?, ?, ?, ?)", ROWS * 20)
    connection.execute("CREATE INDEX by_day ON sales (day)")
    connection.execute("CREATE VIEW north AS SELECT * FROM sales WHERE region = 'North'")
    connection.commit()
    connection.close()


def _json() -> dict[str, bytes]:
    records = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
    point = {"type": "Point", "coordinates": [13.4, 52.5]}
    features = [{"type": "Feature", "geometry": point, "properties": r} for r in records]
    lines = "\n".join(json.dumps({**r, "tags": ["a"], "part": {"x": 1}}) for r in records)
    return {
        "a.json": json.dumps({"sales": records, "about": {"year": 2025}}, indent=1).encode(),
        "list.json": json.dumps(records * 5, ensure_ascii=False).encode(),
        "a.jsonl": lines.encode(),
        "a.geojson": json.dumps({"type": "FeatureCollection", "features": features}).encode(),
        "a.jsonl.xz": lzma.compress(lines.encode()),
    }

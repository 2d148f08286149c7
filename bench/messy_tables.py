"""Messy CSVs and sheets with known truth: how many load exactly, and how many load wrong without a
word.

    python -m bench.messy_tables [--seed 7] [--repeat 6] [--show]

Every file is made from a random table by a kind of mess that people and programs make. Exact means:
the same tables, names, rows and values (numbers as numbers, dates as dates, leading zeros kept).
"Said" means that the reader got it wrong but left a note or an error. DuckDB's and pandas's
defaults read the same files beside it. Exit code 1 if less than 97 % are exact or one is wrong
without a word.
"""

from __future__ import annotations

import argparse
import csv
import io
import operator
import random
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from bench._figures import Figure, Report, changed
from leaf.errors import LeafError
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.sheets import SheetsReader

FIRST = [
    "Anna", "Björn", "Chloé", "Dmitri", "Eva", "François", "Grace", "Hans", "Inés", "Jörg", "Kofi", "Lucía",
    "Małgorzata", "Noor", "Olaf", "Priya", "Quentin", "Rosa", "Søren", "Tomás",
]  # fmt: skip
LAST = [
    "Smith", "Müller", "Garcia", "Núñez", "Øster", "Kowalski", "Dubois", "Rossi", "Tanaka", "O'Neil", "Becker",
    "Lindqvist", "Costa", "Novák", "Haddad", "Meyer",
]  # fmt: skip
CITIES = [
    "Berlin", "Paris", "Malmö", "Zürich", "Kraków", "Lisbon", "Graz", "København", "Boston", "Nairobi", "Osaka",
    "Leeds", "Gdańsk", "Lyon",
]  # fmt: skip
GOODS = [
    "desk lamp",
    "office chair",
    "cable 2m",
    "USB hub",
    "monitor 27in",
    "notebook A5",
    "pen set",
    "coffee, ground",
    "tea; green",
]
WORDS = [
    "late",
    "early",
    "broken",
    "fine",
    "urgent",
    "customer",
    "called",
    "again",
    "waiting",
    "for",
    "parts",
    "shipped",
    "returned",
    "refund",
    "approved",
    "see",
    "ticket",
]


@dataclass
class Truth:
    """One table as it should load. `names` None means that any will do."""

    names: list[str] | None
    rows: list[list[Any]]


@dataclass
class Case:
    """One file to be made."""

    name: str
    write: Callable[[Path], None]
    truth: list[Truth]
    ending: str = "csv"


@dataclass
class Table:
    """A random table with the makers of its columns."""

    names: list[str]
    kinds: list[str]
    rows: list[list[Any]] = field(default_factory=list)

    @property
    def truth(self) -> Truth:
        return Truth(list(self.names), [list(r) for r in self.rows])


def value_of(kind: str, r: random.Random, n: int) -> Any:
    makers: dict[str, Callable[[], Any]] = {
        "id": lambda: 1000 + n,
        "code": lambda: f"{r.randrange(0, 99999):05d}",
        "zip": lambda: f"0{r.randrange(1000, 9999)}",
        "person": lambda: f"{r.choice(FIRST)} {r.choice(LAST)}",
        "city": lambda: r.choice(CITIES),
        "good": lambda: r.choice(GOODS),
        "amount": lambda: round(r.uniform(-500, 50_000), 2),
        "rate": lambda: round(r.uniform(0, 3), r.choice([1, 2, 4])),
        "count": lambda: r.randrange(0, 5000),
        "day": lambda: date(2019, 1, 1) + timedelta(days=r.randrange(0, 2200)),
        "time": lambda: datetime(2023, 1, 1) + timedelta(minutes=r.randrange(0, 600_000)),
        "flag": lambda: r.random() < 0.5,
        "note": lambda: " ".join(r.choice(WORDS) for _ in range(r.randrange(1, 7))),
    }
    return makers[kind]()


NAMES = {
    "id": ["id", "Order ID", "record"],
    "code": ["code", "Account code", "sku"],
    "zip": ["zip", "Postal code", "plz"],
    "person": ["name", "Customer", "Employee"],
    "city": ["city", "Location", "Stadt"],
    "good": ["product", "Item", "article"],
    "amount": ["amount", "Revenue EUR", "net value"],
    "rate": ["rate", "Score", "weight kg"],
    "count": ["units", "Quantity", "visits"],
    "day": ["date", "Order date", "delivered"],
    "time": ["created_at", "Timestamp", "last seen"],
    "flag": ["active", "Paid", "is_member"],
    "note": ["comment", "Remarks", "description"],
}


def table(r: random.Random, kinds: list[str] | None = None, rows: int | None = None) -> Table:
    if kinds is None:
        pool = list(NAMES)
        r.shuffle(pool)
        kinds = pool[: r.randrange(3, 9)]
        if not {"amount", "count", "day", "id", "rate"} & set(kinds):
            kinds.append("amount")
    t = Table([r.choice(NAMES[k]) for k in kinds], list(kinds))
    t.rows = [
        [value_of(k, r, n) for k in kinds] for n in range(rows or r.choice([4, 8, 25, 60, 200]))
    ]
    return t


def plain(v: Any) -> str:
    if v is None:
        return ""
    if isinstance(v, bool):
        return "true" if v else "false"
    return str(v)


def either(kind: type, make: Callable[[Any], str], value: object) -> str:
    """What is made of a value of that kind; others as they are."""
    return make(value) if isinstance(value, kind) else plain(value)


def cell_rows(t: Table, text: Callable[[Any], str] = plain) -> list[list[str]]:
    return [list(t.names), *([text(v) for v in row] for row in t.rows)]


def csv_text(rows: list[list[str]], delimiter: str = ",", end: str = "\n", **options: Any) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end, **options).writerows(rows)
    return out.getvalue()


def put(text: str, encoding: str = "utf-8") -> Callable[[Path], None]:
    data = text.encode(encoding, "replace" if encoding.startswith(("cp", "iso")) else "strict")
    return lambda path: (path.write_bytes(data), None)[1]


def latin(t: Table) -> Table:
    """Only characters that Windows-1252 has."""
    rows = [
        [v.encode("cp1252", "replace").decode("cp1252") if isinstance(v, str) else v for v in row]
        for row in t.rows
    ]
    return replace(t, rows=rows)


# Kinds of mess. Each takes a source of chance and gives a case.

Maker = Callable[[random.Random], Case]


def encodings(r: random.Random) -> Iterator[Case]:
    for encoding in ("utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "iso8859-1"):
        t = table(r, ["person", "city", "amount", "day", "count"], rows=r.choice([12, 40, 150]))
        t = latin(t) if encoding in ("cp1252", "iso8859-1") else t
        text = csv_text(cell_rows(t), r.choice(",;\t"))
        text = "\ufeff" + text if encoding == "utf-16-be" else text
        yield Case(f"encoding {encoding}", put(text, encoding), [t.truth])


def delimiters(r: random.Random) -> Iterator[Case]:
    for delimiter in (",", ";", "\t", "|", ":", "^", "~", "||"):
        t = table(r, ["id", "city", "amount", "day", "note", "code"])
        rows = cell_rows(t)
        text = (
            csv_text(rows, delimiter)
            if len(delimiter) == 1
            else "".join(delimiter.join(row) + "\n" for row in rows)
        )
        yield Case(f"delimiter {delimiter!r}", put(text), [t.truth])
    t = table(r, ["id", "city", "amount", "code"])
    t = replace(t, names=[n.replace(" ", "_") for n in t.names])
    yield Case("delimiter blank", put(csv_text(cell_rows(t), " ")), [t.truth])


def stray_quotes(r: random.Random) -> Iterator[Case]:
    for place in ("start", "middle", "end", "inner"):
        t = table(r, ["id", "person", "note", "amount", "city"], rows=r.choice([20, 60]))
        column = t.kinds.index("note")
        for row in r.sample(t.rows, max(1, len(t.rows) // 12)):
            words = row[column].split() or ["x"]
            quoted = {
                "start": '"' + " ".join(words),
                "middle": " ".join([*words, '5" wide', "ok"]),
                "end": " ".join(words) + '"',
                "inner": " ".join(['he said "now"', *words]),
            }[place]
            row[column] = quoted
        lines = []
        for row in cell_rows(t):
            cells = [
                f'"{c}"' if place == "inner" and i in (1, column) else c for i, c in enumerate(row)
            ]
            lines.append(",".join(cells))
        yield Case(f"stray quote at {place}", put("\n".join(lines) + "\n"), [t.truth])


def ragged(r: random.Random) -> Iterator[Case]:
    t = table(r, ["id", "city", "count", "amount", "note"], rows=40)
    rows = cell_rows(t)
    for i in r.sample(range(1, 41), 5):
        cut = r.randrange(1, 3)
        rows[i] = rows[i][:-cut]
        t.rows[i - 1][-cut:] = [None] * cut
    yield Case("rows too short", put("".join(",".join(c) + "\n" for c in rows)), [t.truth])
    t = table(r, ["id", "city", "count", "amount"], rows=30)
    yield Case(
        "delimiter at every end", put("".join(";".join(c) + ";\n" for c in cell_rows(t))), [t.truth]
    )
    t = table(r, ["id", "city", "count", "amount"], rows=30)
    rows = cell_rows(t)
    text = "".join(",".join(c) + (",,," if n % 2 else "") + "\n" for n, c in enumerate(rows))
    yield Case("empty cells at some ends", put(text), [t.truth])


def preambles(r: random.Random) -> Iterator[Case]:
    texts = [
        ["Quarterly export", "Generated by ACME Reporting 4.2 on 2024-05-06", ""],
        ["# exported 2024-01-31", "# do not edit"],
        ["Report:,Sales by city", "Period:,2023-01-01 to 2023-12-31", "User:,jdoe", ""],
        ["Sales 2023", ""],
        ["Company: Example Ltd", "All amounts in EUR, without VAT", "", ""],
        ["Statement of account"],
    ]
    for n, lines in enumerate(texts):
        t = table(r, rows=r.choice([5, 30, 120]))
        yield Case(
            f"preamble {n}", put("\n".join(lines) + "\n" + csv_text(cell_rows(t))), [t.truth]
        )


def footers(r: random.Random) -> Iterator[Case]:
    texts = [
        ["", "Source: national statistics office"],
        ["* provisional figures"],
        ["", "Note: figures may not add up due to rounding.", "Note: see annex B."],
        ["End of report"],
        ["", "", "Generated on 2024-02-02 by jdoe", "Confidential"],
    ]
    for n, lines in enumerate(texts):
        t = table(r, rows=r.choice([6, 40]))
        yield Case(f"footer {n}", put(csv_text(cell_rows(t)) + "\n".join(lines) + "\n"), [t.truth])


def numbers(r: random.Random) -> Iterator[Case]:
    def european(v: Any) -> str:
        return f"{v:,}".translate(str.maketrans(",.", ".,")) if isinstance(v, float) else plain(v)

    def spaced(v: Any) -> str:
        return (
            f"{v:,}".translate(str.maketrans(",.", "\u00a0,")) if isinstance(v, float) else plain(v)
        )

    def grouped(v: Any) -> str:
        return f"{v:,}" if isinstance(v, float) else plain(v)

    def comma(v: Any) -> str:
        return str(v).replace(".", ",") if isinstance(v, float) else plain(v)

    for name, text, delimiter in (
        ("1.234,56", european, ";"),
        ("1.234,56 quoted", european, ","),
        ("1 234,56", spaced, ";"),
        ("1,234.56", grouped, ","),
        ("1,234.56 tab", grouped, "\t"),
        ("12,5", comma, ";"),
        ("12,5 tab", comma, "\t"),
    ):
        t = table(r, ["city", "amount", "rate", "count", "day"])
        yield Case(f"numbers {name}", put(csv_text(cell_rows(t, text), delimiter)), [t.truth])
    for name, make in (
        ("$1,234.50", lambda v: f"${v:,.2f}" if v >= 0 else f"-${-v:,.2f}"),
        ("(1,234.50)", lambda v: f"${v:,.2f}" if v >= 0 else f"(${-v:,.2f})"),
        ("1.234,50 €", lambda v: f"{v:,.2f}".translate(str.maketrans(",.", ".,")) + " €"),
        ("12.5%", lambda v: f"{v}%"),
    ):
        t = table(r, ["city", "amount", "day", "count"])
        rows = cell_rows(t, partial(either, float, make))
        yield Case(f"numbers {name}", put(csv_text(rows, ";" if "€" in name else ",")), [t.truth])


def headers(r: random.Random) -> Iterator[Case]:
    for n in range(3):
        t = table(
            r, [*["id", "city", "amount", "day", "code"][n:], "count"], rows=r.choice([5, 30])
        )
        yield Case("no header", put(csv_text(cell_rows(t)[1:])), [Truth(None, t.rows)])
    t = table(r, ["code", "person", "city"], rows=30)
    yield Case("no header, text and codes", put(csv_text(cell_rows(t)[1:])), [Truth(None, t.rows)])
    t = table(r, ["city", "amount", "amount", "count", "count"], rows=20)
    top = ["", "2023", "", "2024", ""]
    under = ["Region", "plan", "actual", "plan", "actual"]
    names = ["Region", "2023 / plan", "2023 / actual", "2024 / plan", "2024 / actual"]
    yield Case(
        "header in two rows", put(csv_text([top, under, *cell_rows(t)[1:]])), [Truth(names, t.rows)]
    )
    t = table(r, ["city", "count", "count", "count"], rows=14)
    t.names = ["Region", "2021", "2022", "2023"]
    yield Case("years as header", put(csv_text(cell_rows(t))), [t.truth])
    t = table(r, ["id", "amount", "amount", "city"], rows=14)
    t.names = ["id", "value", "value", "city"]
    yield Case(
        "repeated names",
        put(csv_text(cell_rows(t))),
        [Truth(["id", "value", "value_2", "city"], t.rows)],
    )
    t = table(r, ["id", "amount", "city"], rows=14)
    t.names = ["", "amount", "city"]
    yield Case(
        "an empty name",
        put(csv_text(cell_rows(t))),
        [Truth(["column_1", "amount", "city"], t.rows)],
    )
    t = table(r, ["person", "city", "note"], rows=25)
    yield Case("all text", put(csv_text(cell_rows(t))), [t.truth])
    t = table(r, ["id", "amount", "city"], rows=20)
    t.names = ["  id ", " amount", "city  "]
    yield Case(
        "blanks around names",
        put(csv_text(cell_rows(t))),
        [Truth(["id", "amount", "city"], t.rows)],
    )
    t = table(r, ["city"], rows=20)
    yield Case("one column of text", put(csv_text(cell_rows(t))), [t.truth])
    t = table(r, ["count"], rows=20)
    yield Case("one column of numbers", put(csv_text(cell_rows(t))), [t.truth])
    t = table(r, ["id", "city", "amount"], rows=1)
    yield Case("one row", put(csv_text(cell_rows(t))), [t.truth])


def blocks(r: random.Random) -> Iterator[Case]:
    a, b = (
        table(r, ["id", "city", "amount"], rows=12),
        table(r, ["code", "count", "day", "note"], rows=8),
    )
    yield Case(
        "two blocks",
        put(csv_text(cell_rows(a)) + "\n" + csv_text(cell_rows(b))),
        [a.truth, b.truth],
    )
    a, b = table(r, ["city", "count"], rows=6), table(r, ["person", "amount", "day"], rows=9)
    text = "Visits\n" + csv_text(cell_rows(a)) + "\n\nPayments\n" + csv_text(cell_rows(b))
    yield Case("two blocks with titles", put(text), [a.truth, b.truth])
    a, b = table(r, ["id", "city", "count"], rows=10), table(r, ["id", "city", "count"], rows=7)
    b.names = list(a.names)
    text = csv_text(cell_rows(a)) + "\n" + csv_text(cell_rows(b))
    yield Case("two blocks of one make", put(text), [a.truth, b.truth])
    a = table(r, ["id", "city", "amount"], rows=24)
    lines = csv_text(cell_rows(a)).split("\n")
    text = "\n".join([*lines[:9], "", *lines[9:17], "", *lines[17:]])
    yield Case("empty lines inside", put(text), [a.truth])
    a = table(r, ["id", "city", "amount"], rows=24)
    lines = csv_text(cell_rows(a)).split("\n")
    yield Case("header repeated", put("\n".join([*lines[:10], lines[0], *lines[10:]])), [a.truth])


def odd_lines(r: random.Random) -> Iterator[Case]:
    t = table(r, rows=40)
    lines = csv_text(cell_rows(t)).split("\n")[:-1]
    yield Case(
        "mixed line ends", put("".join(ln + r.choice(["\n", "\r\n"]) for ln in lines)), [t.truth]
    )
    t = table(r, rows=40)
    yield Case("CR only", put(csv_text(cell_rows(t), end="\r")), [t.truth])
    t = table(r, rows=40)
    yield Case("CRLF", put(csv_text(cell_rows(t), end="\r\n")), [t.truth])
    t = table(r, rows=20)
    yield Case("no last line end", put(csv_text(cell_rows(t)).rstrip("\n")), [t.truth])
    t = table(r, ["id", "city", "amount", "day"], rows=20)
    yield Case("sep line", put("sep=;\r\n" + csv_text(cell_rows(t), ";", "\r\n")), [t.truth])
    t = table(r, ["id", "note", "amount"], rows=30)
    for row in r.sample(t.rows, 6):
        row[1] = f"{row[1]}\nsecond line, and more\n\nlast"
    yield Case("line breaks in cells", put(csv_text(cell_rows(t))), [t.truth])
    t = table(r, ["id", "note", "amount"], rows=30)
    text = csv_text(cell_rows(t))
    at = text.index("\n") + 4
    yield Case("NUL bytes", put(text[:at] + "\0" + text[at:] + "\0\0"), [t.truth])
    t = table(r, ["id", "note", "amount", "city"], rows=30)
    for row in t.rows[::3]:
        row[1] = f'say "{row[1]}", twice'
    yield Case("doubled quotes", put(csv_text(cell_rows(t))), [t.truth])
    t = table(r, ["id", "note", "amount", "city"], rows=30)
    for row in t.rows[::3]:
        row[1] = f'say "{row[1]}", twice'
    text = csv_text(cell_rows(t), doublequote=False, escapechar="\\")
    yield Case("backslash before quotes", put(text), [t.truth])
    t = table(r, ["id", "good", "amount", "city"], rows=30)
    yield Case("all quoted", put(csv_text(cell_rows(t), quoting=csv.QUOTE_ALL)), [t.truth])
    t = table(r, ["id", "good", "amount", "city"], rows=30)
    yield Case(
        "single quotes",
        put(csv_text(cell_rows(t), quotechar="'", quoting=csv.QUOTE_ALL)),
        [t.truth],
    )
    t = table(r, ["id", "city", "amount", "day"], rows=30)
    yield Case(
        "blank after delimiter", put("".join(", ".join(c) + "\n" for c in cell_rows(t))), [t.truth]
    )


def values(r: random.Random) -> Iterator[Case]:
    for word in ("NA", "N/A", "-", "null", ".."):
        t = table(r, ["id", "city", "amount", "day"], rows=120)
        rows = cell_rows(t)
        for i in (r.randrange(80, 120), 119):
            t.rows[i][2] = None
            rows[i + 1][2] = word
        yield Case(f"late {word}", put(csv_text(rows)), [t.truth])
    t = table(r, ["zip", "code", "city", "amount"], rows=40)
    yield Case("leading zeros", put(csv_text(cell_rows(t))), [t.truth])
    t = table(r, ["code", "count", "city"], rows=600)
    for n, row in enumerate(t.rows):
        row[0] = str(20_000 + n) if n < 500 else f"0{n}"
    yield Case("leading zeros late", put(csv_text(cell_rows(t))), [t.truth])
    t = table(r, ["id", "amount", "city"], rows=300)
    for row in t.rows[:290]:
        row[1] = float(int(row[1]))
    rows = cell_rows(t, lambda v: str(int(v)) if isinstance(v, float) and v == int(v) else plain(v))
    yield Case("fractions late", put(csv_text(rows)), [t.truth])
    for name, form in (
        ("d.m.Y", "%d.%m.%Y"),
        ("d/m/Y", "%d/%m/%Y"),
        ("m/d/Y", "%m/%d/%Y"),
        ("Y/m/d", "%Y/%m/%d"),
        ("d-b-Y", "%d-%b-%Y"),
    ):
        t = table(r, ["id", "day", "city"], rows=60)
        rows = cell_rows(t, partial(either, date, operator.methodcaller("strftime", form)))
        yield Case(f"dates {name}", put(csv_text(rows)), [t.truth])
    t = table(r, ["id", "time", "flag", "city"], rows=60)
    yield Case("times and flags", put(csv_text(cell_rows(t))), [t.truth])
    t = table(r, ["id", "city", "amount"], rows=400)
    rows = cell_rows(t)
    t.rows[399][0], rows[400][0] = "1399 (est.)", "1399 (est.)"
    truth = Truth(t.names, [[plain(row[0]), *row[1:]] for row in t.rows])
    yield Case("a word among numbers, late", put(csv_text(rows)), [truth])
    t = Table(["id"] + [f"m{n}" for n in range(4999)], ["id"] + ["count"] * 4999)
    t.rows = [[1000 + n, *(r.randrange(100) for _ in range(4999))] for n in range(4)]
    yield Case("5,000 columns", put(csv_text(cell_rows(t))), [t.truth])


def mixtures(r: random.Random) -> Iterator[Case]:
    """Several kinds of mess in one file."""
    for _ in range(8):
        t = latin(table(r, ["person", "city", "amount", "day", "count"], rows=r.choice([15, 70])))
        encoding = r.choice(["utf-8", "cp1252", "utf-16"])
        delimiter, end = r.choice(";\t|"), r.choice(["\n", "\r\n"])
        form = r.choice(["%d.%m.%Y", "%Y-%m-%d"])

        def text(v: Any, f: str = form) -> str:
            if isinstance(v, float):
                return f"{v:,.2f}".translate(str.maketrans(",.", ".,"))
            return v.strftime(f) if isinstance(v, date) else plain(v)

        before = r.choice(["", f"Umsätze 2023{end}{end}", f"Bericht{end}Stand: 2024{end}"])
        after = r.choice(["", f"{end}Quelle: eigene Erhebung{end}"])
        body = csv_text(cell_rows(t, text), delimiter, end)
        yield Case("mixture", put(before + body + after, encoding), [t.truth])
    for _ in range(4):
        t = table(r, ["id", "note", "city", "amount", "count"], rows=50)
        rows = cell_rows(t)
        for i in r.sample(range(1, 51), 4):
            rows[i] = rows[i][:-1]
            t.rows[i - 1][-1] = None
        j = r.randrange(1, 51)
        t.rows[j - 1][1] = rows[j][1] = f'12" {rows[j][1]}'
        text_ = (
            "Export of tickets\n\n"
            + "".join("|".join(c) + "\n" for c in rows)
            + "\nEnd of report\n"
        )
        yield Case("mixture with short rows", put(text_), [t.truth])


# Sheets


def workbook(fill: Callable[[Any], None]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        from openpyxl import Workbook

        book = Workbook()
        fill(book)
        book.save(path)

    return write


def lay(sheet: Any, t: Table, row: int = 1, column: int = 1, header: bool = True) -> None:
    for n, cells in enumerate([t.names, *t.rows] if header else t.rows):
        for m, v in enumerate(cells):
            sheet.cell(row + n, column + m, v)


def sheets(r: random.Random) -> Iterator[Case]:
    def case(name: str, fill: Callable[[Any], None], truth: list[Truth]) -> Case:
        return Case(f"sheet: {name}", workbook(fill), truth, "xlsx")

    t = table(r)
    yield case("plain", lambda b: lay(b.active, t), [t.truth])
    u = table(r, ["id", "city", "amount", "day"])

    def titled(b: Any) -> None:
        b.active["A1"] = "Sales by city"
        b.active["A2"] = "as of 2024-03-31"
        lay(b.active, u, 4)

    yield case("title rows", titled, [u.truth])
    v = table(r, ["city", "count", "amount", "code"], rows=20)
    yield case("begins at C5", lambda b: lay(b.active, v, 5, 3), [v.truth])
    w = table(r, ["city", "amount", "amount", "count", "count"], rows=16)

    def merged(b: Any) -> None:
        s = b.active
        s["B1"], s["D1"] = "Sales 2023", "Sales 2024"
        s.merge_cells("B1:C1")
        s.merge_cells("D1:E1")
        w.names = ["Region", "plan", "actual", "plan", "actual"]
        lay(s, w, 2)

    names = [
        "Region",
        "Sales 2023 / plan",
        "Sales 2023 / actual",
        "Sales 2024 / plan",
        "Sales 2024 / actual",
    ]
    yield case("merged header", merged, [Truth(names, w.rows)])
    a, c = (
        table(r, ["city", "count", "amount"], rows=10),
        table(r, ["code", "day", "rate"], rows=17),
    )

    def beside(b: Any) -> None:
        lay(b.active, a)
        lay(b.active, c, 1, 5)

    yield case("side by side", beside, [a.truth, c.truth])
    d, e = table(r, ["person", "count"], rows=7), table(r, ["id", "city", "amount", "day"], rows=11)

    def stacked(b: Any) -> None:
        lay(b.active, d)
        lay(b.active, e, 12)

    yield case("stacked", stacked, [d.truth, e.truth])
    f = table(r, ["id", "city", "amount"], rows=15)

    def noted(b: Any) -> None:
        lay(b.active, f)
        b.active["A18"] = "Source: own survey, 2023. Figures are provisional."

    yield case("note below", noted, [f.truth])
    g, h = table(r, rows=9), table(r, rows=13)

    def two(b: Any) -> None:
        lay(b.active, g)
        other = b.create_sheet("Archive")
        other.sheet_state = "hidden"
        lay(other, h)

    yield case("hidden sheet", two, [g.truth, h.truth])
    i = table(r, ["id", "count", "city"], rows=14)

    def as_text(b: Any) -> None:
        lay(b.active, i)
        for n, row in enumerate(i.rows):
            b.active.cell(2 + n, 2, str(row[1]))

    yield case("numbers as text", as_text, [i.truth])
    j = table(r, ["zip", "city", "amount", "flag"], rows=14)
    yield case("leading zeros", lambda b: lay(b.active, j), [j.truth])
    k = table(r, ["id", "city", "amount"], rows=14)

    def errors(b: Any) -> None:
        lay(b.active, k)
        b.active.cell(5, 3, "#REF!").data_type = "e"
        k.rows[3][2] = None

    case_k = case(
        "error cell",
        errors,
        [Truth(k.names, [[*row[:2], None if n == 3 else row[2]] for n, row in enumerate(k.rows)])],
    )
    yield case_k
    m = table(r, ["city", "count", "count", "count"], rows=9)
    m.names = ["Region", "2021", "2022", "2023"]

    def years(b: Any) -> None:
        lay(b.active, m)
        for n, year in enumerate((2021, 2022, 2023)):
            b.active.cell(1, 2 + n, year)

    yield case("years as numbers in the header", years, [m.truth])
    o = table(r, ["id", "amount", "city", "day"], rows=20)
    for n, row in enumerate(o.rows):
        if n % 6 == 2:
            row[1] = None
    yield case("gaps in values", lambda b: lay(b.active, o), [o.truth])
    p = table(r, ["id", "city", "amount"], rows=12)
    yield case("no header", lambda b: lay(b.active, p, header=False), [Truth(None, p.rows)])


KINDS_OF_MESS: list[Callable[[random.Random], Iterator[Case]]] = [
    encodings, delimiters, stray_quotes, ragged, preambles, footers, numbers,
    headers, blocks, odd_lines, values, mixtures, sheets,
]  # fmt: skip


# Judging


def same(truth: Any, got: Any) -> bool:
    if isinstance(truth, float) and isinstance(got, float) and truth != truth and got != got:
        return True
    if truth is None or truth == "":
        return got is None or got == "" or got != got
    if isinstance(truth, bool):
        return got is truth or str(got).lower() == str(truth).lower()
    if isinstance(truth, int | float):
        if isinstance(got, bool) or got is None:
            return False
        try:
            return abs(float(got) - truth) < 1e-9 * max(1.0, abs(truth))
        except (TypeError, ValueError):
            return False
    if isinstance(truth, datetime):
        return str(got).replace("T", " ")[:19] == str(truth)[:19]
    if isinstance(truth, date):
        return str(got)[:10] == truth.isoformat() and str(got)[10:] in (
            "",
            " 00:00:00",
            "T00:00:00",
        )
    return str(got).strip() == str(truth).strip()


def equal(truth: Truth, names: list[str], rows: list[tuple[Any, ...]]) -> str:
    """Why a table is not as it should be; empty if it is."""
    if len(rows) != len(truth.rows):
        return f"{len(rows)} rows for {len(truth.rows)}"
    if len(names) != len(truth.rows[0]):
        return f"{len(names)} columns for {len(truth.rows[0])}"
    if truth.names is not None:
        for name, given in zip(truth.names, names, strict=True):
            if name.strip() != str(given).strip() and not (
                " / " in name and all(p in str(given) for p in name.split(" / "))
            ):
                return f"name {given!r} for {name!r}"
    for n, (expected, got) in enumerate(zip(truth.rows, rows, strict=True)):
        for c, (x, y) in enumerate(zip(expected, got, strict=True)):
            if not same(x, y):
                return f"row {n + 1} column {c + 1}: {y!r} for {x!r}"
    return ""


@dataclass
class Verdict:
    state: str
    """`exact`, `said` or `silent`."""
    why: str = ""


def judge(
    truth: list[Truth], tables: list[tuple[list[str], list[tuple[Any, ...]]]], said: bool
) -> Verdict:
    why = f"{len(tables)} tables for {len(truth)}" if len(tables) != len(truth) else ""
    if not why:
        why = next(
            (
                w
                for t, (names, rows) in zip(truth, tables, strict=True)
                if (w := equal(t, names, rows))
            ),
            "",
        )
    return Verdict("exact") if not why else Verdict("said" if said else "silent", why)


def by_leaf(path: Path, truth: list[Truth], ending: str) -> Verdict:
    import duckdb

    out = Path(tempfile.mkdtemp(dir=path.parent))
    reader = DelimitedReader() if ending == "csv" else SheetsReader()
    try:
        infos = reader.tables(path, out)
    except LeafError as e:
        return Verdict("said", str(e))
    tables, said = [], False
    for info in infos:
        # All rows of the file, those of totals among them, in the file's own columns.
        columns = "* EXCLUDE (_row, _kind)" if info.marked else "*"
        relation = duckdb.sql(f"SELECT {columns} FROM read_parquet('{out / info.parquet}')")
        assert relation is not None
        tables.append((relation.columns, relation.fetchall()))
        said |= bool(info.notes)
    return judge(truth, tables, said)


def by_duckdb(path: Path, truth: list[Truth], ending: str) -> Verdict:
    import duckdb

    if ending != "csv":
        return Verdict("said", "no reader")
    try:
        relation = duckdb.sql(f"SELECT * FROM read_csv('{path}')")
        assert relation is not None
        return judge(truth, [(relation.columns, relation.fetchall())], False)
    except duckdb.Error as e:
        return Verdict("said", str(e)[:80])


def by_pandas(path: Path, truth: list[Truth], ending: str) -> Verdict:
    import pandas as pd

    try:
        frames = (
            [pd.read_csv(path)]
            if ending == "csv"
            else list(pd.read_excel(path, sheet_name=None, engine="openpyxl").values())
        )
    except (ValueError, pd.errors.ParserError, UnicodeError) as e:
        return Verdict("said", str(e)[:80])
    tables = [
        (
            [str(c) for c in f.columns],
            [
                tuple(None if v is pd.NaT else v for v in row)
                for row in f.itertuples(index=False, name=None)
            ],
        )
        for f in frames
    ]
    return judge(truth, tables, False)


READERS = {"Leaf": by_leaf, "DuckDB": by_duckdb, "pandas": by_pandas}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=3, help="files of each kind")
    parser.add_argument(
        "--show", action="store_true", help="name each file that did not load exactly"
    )
    options = parser.parse_args()
    report = Report("messy_tables", ("leaf/readers/tabular",), changed(parser, options))
    r = random.Random(options.seed)
    counts: dict[str, dict[str, int]] = {name: defaultdict(int) for name in READERS}
    by_kind: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    folder = Path(tempfile.mkdtemp(prefix="messy-"))
    total = 0
    try:
        for _ in range(options.repeat):
            for kind in KINDS_OF_MESS:
                for case in kind(r):
                    total += 1
                    path = folder / f"{total}.{case.ending}"
                    case.write(path)
                    for name, read in READERS.items():
                        verdict = read(path, case.truth, case.ending)
                        counts[name][verdict.state] += 1
                        if name == "Leaf":
                            by_kind[kind.__name__][0] += verdict.state == "exact"
                            by_kind[kind.__name__][1] += 1
                            if options.show and verdict.state != "exact":
                                print(
                                    f"  {verdict.state:6} {path.name:9} {case.name}: {verdict.why}"
                                )
    finally:
        if options.show:
            print(f"files: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{total} files, seed {options.seed}\n")
    print(f"{'reader':8} {'exact':>8} {'wrong, said':>12} {'wrong, silent':>14}")
    for name, states in counts.items():
        print(f"{name:8} {states['exact'] / total:8.1%} {states['said']:12} {states['silent']:14}")
    print("\nLeaf by kind of mess: " + ", ".join(f"{k} {a}/{b}" for k, (a, b) in by_kind.items()))
    leaf, name = counts["Leaf"], f"{total} made CSV files and sheets with known truth"
    others = {f"{other}'s defaults": states for other, states in counts.items() if other != "Leaf"}
    exact = {other: states["exact"] / sum(states.values()) for other, states in others.items()}
    silent: dict[str, float] = {other: states["silent"] for other, states in others.items()}
    return report.end(
        [
            Figure(name, "loaded exactly", leaf["exact"] / total, 0.97, True, "{:.1%}", exact),
            Figure(name, "loaded wrong without a word", leaf["silent"], 0, False, "{:.0f}", silent),
            Figure(name, "files, enough to tell", total, 150, shown="{:.0f}"),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())

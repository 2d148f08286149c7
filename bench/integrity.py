"""Workbooks and CSVs with known defects: which are found, in which cells, and whether totals come
out right.

    python -m bench.integrity [--seed 11] [--show]

Every defect stands alone and in pairs with others, beside clean tables with traps (running totals,
names such as Total Care, a row that happens to be a sum). For each kind of finding precision and
recall are printed; kinds that name rows must name exactly the right ones. The grand total of each
file is computed from its rows of data and compared with the printed one; pandas' sum of the whole
column stands beside it. Exit code 1 if a precision or recall is below 0.95 or a grand total
differs.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from bench._figures import Figure, Report, changed
from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.sheets import SheetsReader

TARGET = 0.95
COLUMNS = ["region", "product", "order_id", "day", "qty", "amount"]
QTY, AMOUNT = 4, 5
REGIONS = ["North", "South", "East", "West"]
PRODUCTS = ["desk lamp", "office chair", "monitor", "pen set", "cable"]
TOTALS = [
    "Total",
    "Grand Total",
    "Summe",
    "Gesamt",
    "Total général",
    "Итого",
    "合計",
    "Σ",
    "TOTAL:",
    "Suma",
]
SUBTOTALS = [
    "{} Total",
    "Subtotal {}",
    "Zwischensumme {}",
    "{} subtotal",
    "Sous-total {}",
    "Summe {}",
]
WATCHED = {
    "preamble", "header-two-rows", "merged-cells", "several-blocks", "subtotal-rows", "total-rows", "summary-rows",
    "totals-differ", "hidden-rows", "filtered-rows", "hidden-columns", "numbers-as-text", "currency", "percent", "mixed",
    "date-serials", "dates-mixed", "dates-ambiguous", "footer", "duplicate-rows", "duplicate-keys", "sum-columns",
    "no-cached-values",
}  # fmt: skip
SAME = {"currency-stripped": "currency", "cells-unparsed": "mixed", "types-mixed": "mixed"}
KINDS = {"subtotal-rows": "subtotal", "total-rows": "total", "summary-rows": "note"}


@dataclass
class Case:
    """A table being spoilt. Rows carry what they are."""

    random: random.Random
    excel: bool
    names: list[str] = field(default_factory=lambda: list(COLUMNS))
    rows: list[tuple[str, list[Any]]] = field(default_factory=list)
    above: list[list[Any]] = field(default_factory=list)
    header: list[list[Any]] = field(default_factory=list)
    below: list[list[Any]] = field(default_factory=list)
    expected: set[str] = field(default_factory=set)
    hidden: list[int] = field(default_factory=list)
    """Positions in `rows`."""
    hidden_columns: list[str] = field(default_factory=list)
    filtered: bool = False
    merge: str = ""
    formats: dict[int, str] = field(default_factory=dict)
    printed: float | None = None
    """The grand total that the file prints."""
    doubled: bool = False

    def data(self) -> list[list[Any]]:
        return [row for kind, row in self.rows if kind == "data"]

    @property
    def first(self) -> int:
        """The sheet's row of the first row of data."""
        return len(self.above) + len(self.header) + 1


def make(rng: random.Random, excel: bool) -> Case:
    case = Case(rng, excel)
    case.header = [case.names]
    number = rng.randint(10_000, 60_000)
    for region in rng.sample(REGIONS, 3):
        for product in sorted(rng.sample(PRODUCTS, rng.randint(2, 4))):
            for _ in range(rng.randint(2, 3)):
                number += rng.randint(1, 9)
                day = date(2024, 1, 1) + timedelta(days=rng.randint(0, 300))
                qty, amount = rng.randint(1, 60), round(rng.uniform(5, 900), 2)
                case.rows.append(("data", [region, product, number, day, qty, amount]))
    return case


def _summed(case: Case, rows: list[list[Any]], label: Any, at: int = 0) -> list[Any]:
    cells: list[Any] = [None] * len(case.names)
    cells[at] = label
    cells[QTY] = sum(row[QTY] for row in rows)
    cells[AMOUNT] = round(sum(row[AMOUNT] for row in rows), 2)
    return cells


def _groups(rows: list[tuple[str, list[Any]]], key: int) -> list[list[tuple[str, list[Any]]]]:
    return [list(group) for _, group in itertools.groupby(rows, key=lambda row: row[1][key])]


def total(case: Case) -> None:
    data = case.data()
    case.printed = round(sum(row[AMOUNT] for row in data), 2)
    case.rows.append(("total", _summed(case, data, case.random.choice(TOTALS))))
    case.expected.add("total-rows")
    case.doubled = True


def total_in_numbers(case: Case) -> None:
    """The word stands in the column of order numbers."""
    data = case.data()
    case.printed = round(sum(row[AMOUNT] for row in data), 2)
    case.rows.append(("total", _summed(case, data, case.random.choice(TOTALS), 2)))
    case.expected.add("total-rows")
    case.doubled = True


def total_above(case: Case) -> None:
    data = case.data()
    case.printed = round(sum(row[AMOUNT] for row in data), 2)
    case.rows.insert(0, ("total", _summed(case, data, "All regions total")))
    case.expected.add("total-rows")
    case.doubled = True


def subtotals(case: Case, *, above: bool = False, bare: bool = False) -> None:
    style = case.random.choice(SUBTOTALS)
    rows = []
    for group in _groups(case.rows, 0):
        sub = (
            "subtotal",
            _summed(case, [r for _, r in group], None if bare else style.format(group[0][1][0])),
        )
        rows += [sub, *group] if above else [*group, sub]
    case.rows = rows
    case.expected.add("subtotal-rows")
    case.doubled = True
    if not above:
        total(case)
    else:
        case.printed = round(sum(row[AMOUNT] for row in case.data()), 2)


def subtotals_above(case: Case) -> None:
    subtotals(case, above=True)


def subtotals_without_words(case: Case) -> None:
    subtotals(case, bare=True)


def subtotals_beside(case: Case) -> None:
    """`Subtotal` in the second column, the group's name kept in the first."""
    rows = []
    for group in _groups(case.rows, 0):
        sub = _summed(case, [r for _, r in group], "Subtotal", 1)
        sub[0] = group[0][1][0]
        rows += [*group, ("subtotal", sub)]
    case.rows = rows
    case.expected.add("subtotal-rows")
    total(case)


def two_levels(case: Case) -> None:
    rows = []
    for group in _groups(case.rows, 0):
        for part in _groups(group, 1):
            rows += [
                *part,
                ("subtotal", _summed(case, [r for _, r in part], f"{part[0][1][1]} Total", 1)),
            ]
        rows.append(("subtotal", _summed(case, [r for _, r in group], f"{group[0][1][0]} Total")))
    case.rows = rows
    case.expected.add("subtotal-rows")
    total(case)


def wrong_total(case: Case) -> None:
    total(case)
    row = case.rows[-1][1]
    row[AMOUNT] = round(row[AMOUNT] * 1.07 + 3, 2)
    case.printed = None
    case.expected.add("totals-differ")


def averages(case: Case) -> None:
    data = case.data()
    cells: list[Any] = [None] * len(case.names)
    cells[0] = case.random.choice(["Average", "Durchschnitt", "Mean"])
    cells[QTY] = round(sum(r[QTY] for r in data) / len(data), 2)
    cells[AMOUNT] = round(sum(r[AMOUNT] for r in data) / len(data), 2)
    case.rows.append(("note", cells))
    case.expected.add("summary-rows")


def credits(case: Case) -> None:
    """Negative rows, and a total all the same."""
    for n, (_, row) in enumerate(case.rows):
        if n % 4 == 1:
            row[AMOUNT] = -row[AMOUNT]
    total(case)


def titles(case: Case) -> None:
    case.above = [["Sales report 2024"], ["Finance department, internal"], []]
    case.expected.add("preamble")


def footnotes(case: Case) -> None:
    case.below = [
        [],
        ["Source: order system, exported on 3 January 2025"],
        ["Note: figures are provisional"],
    ]
    case.expected.add("footer")


def two_row_header(case: Case) -> None:
    case.header = [[None, None, "Order", "Order", "Sales", "Sales"], case.names]
    case.expected.add("header-two-rows")


def merged_header(case: Case) -> None:
    case.header = [["Place", None, "Order", None, "Sales", None], case.names]
    case.merge = "A{0}:B{0} C{0}:D{0} E{0}:F{0}"
    case.expected |= {"header-two-rows", "merged-cells"}


def second_table(case: Case) -> None:
    codes: list[list[Any]] = [
        ["code", "name", "budget"],
        ["N1", "Nora Berg", 4100],
        ["S7", "Sami Lund", 2950],
        ["W2", "Wim Kok", 3875],
    ]
    case.below = [*case.below, [], [], *codes]
    case.expected.add("several-blocks")


def hidden_rows(case: Case) -> None:
    case.hidden = [2, 3, 6]
    case.expected.add("hidden-rows")


def filtered_rows(case: Case) -> None:
    case.hidden, case.filtered = [1, 4, 5], True
    case.expected.add("filtered-rows")


def hidden_column(case: Case) -> None:
    case.hidden_columns = ["C"]
    case.expected.add("hidden-columns")


def text_numbers(case: Case) -> None:
    for n, (_, row) in enumerate(case.rows):
        if n % 3 == 0:
            row[2] = str(row[2])
    case.expected.add("numbers-as-text")


def rounded(case: Case) -> None:
    """Amounts printed without cents, the total made from those with cents."""
    exact = sum(row[AMOUNT] for row in case.data())
    total(case)
    for kind, row in case.rows:
        if kind == "data":
            row[AMOUNT] = float(round(row[AMOUNT]))
    case.rows[-1][1][AMOUNT] = float(round(exact))
    case.printed = None


def prices(case: Case) -> None:
    """A column that is not summed in the total row. Rows that repeat one another have the same
    price."""
    of_order = {row[2]: round(case.random.uniform(5, 90), 2) for row in case.data()}
    prices = [of_order[row[2]] for row in case.data()]
    _add_column(case, "unit_price", lambda n: prices[n])
    total(case)
    prices = [row[-1] for row in case.data()]
    case.rows[-1][1][-1] = round(sum(prices) / len(prices), 2)


def groups_of_one(case: Case) -> None:
    case.rows = [group[0] for group in _groups(case.rows, 0)] + case.rows[-3:]
    case.rows[2:] = case.rows[3:]
    subtotals(case)


def currency(case: Case) -> None:
    if case.excel:
        case.formats[AMOUNT] = '"$"#,##0.00'
    else:
        for _, row in case.rows:
            row[AMOUNT] = f"${row[AMOUNT]:,.2f}"
    case.expected.add("currency")


def percent(case: Case) -> None:
    _add_column(case, "margin", lambda _: round(case.random.uniform(0.05, 0.6), 3))
    if case.excel:
        case.formats[len(case.names) - 1] = "0.0%"
    else:
        for _, row in case.rows:
            row[-1] = None if row[-1] is None else f"{row[-1] * 100:.1f}%"
    case.expected.add("percent")


def mixed(case: Case) -> None:
    words = ["pending", "see invoice"]
    _add_column(
        case,
        "paid",
        lambda n: words[n % 2] if n % 8 == 5 else round(case.random.uniform(5, 900), 2),
    )
    case.expected.add("mixed")


def serials(case: Case) -> None:
    _add_column(case, "ship_date", lambda n: 45_300 + 3 * n)
    case.expected.add("date-serials")


def mixed_dates(case: Case) -> None:
    def day(n: int) -> str:
        d = date(2024, 2, 13) + timedelta(days=2 * n % 14)
        return d.isoformat() if n % 3 == 0 else f"{d.day:02d}/{d.month:02d}/{d.year}"

    _add_column(case, "due", day)
    case.expected.add("dates-mixed")


def ambiguous_dates(case: Case) -> None:
    _add_column(case, "due", lambda n: f"{n % 12 + 1:02d}/{(n * 5) % 12 + 1:02d}/2024")
    case.expected.add("dates-ambiguous")


def duplicate_rows(case: Case) -> None:
    data = case.data()
    case.rows += [("data", list(data[2])), ("data", list(data[5]))]
    case.expected.add("duplicate-rows")


def duplicate_keys(case: Case) -> None:
    data = case.data()
    data[6][2] = data[1][2]
    case.expected.add("duplicate-keys")


def sum_columns(case: Case) -> None:
    _add_column(case, "online", lambda _: round(case.random.uniform(5, 90), 2))
    _add_column(case, "shop", lambda _: round(case.random.uniform(5, 90), 2))
    _add_column(case, "phone", lambda _: round(case.random.uniform(5, 90), 2))
    case.names.append("all_channels")
    for _, row in case.rows:
        row.append(None if row[-1] is None else round(row[-1] + row[-2] + row[-3], 2))
    case.expected.add("sum-columns")


def formulas(case: Case) -> None:
    _add_column(case, "with_tax", lambda n: f"=F{n + 2}*1.19")
    case.expected.add("no-cached-values")


def _add_column(case: Case, name: str, value: Callable[[int], Any]) -> None:
    case.names.append(name)
    for n, (kind, row) in enumerate(case.rows):
        row.append(value(n) if kind == "data" else None)


def clean(case: Case) -> None:
    """Nothing is wrong here."""


def running(case: Case) -> None:
    so_far = itertools.accumulate(row[AMOUNT] for row in case.data())
    case.names.append("running_total")
    for (_, row), value in zip(case.rows, so_far, strict=True):
        row.append(round(value, 2))


def chance(case: Case) -> None:
    """A row of data whose amount happens to be the sum of the two above it."""
    data = case.data()
    data[6][AMOUNT] = round(data[4][AMOUNT] + data[5][AMOUNT], 2)
    data[2][QTY] = data[0][QTY] + data[1][QTY]


def names_with_words(case: Case) -> None:
    for n, (_, row) in enumerate(case.rows):
        if n % 5 == 2:
            row[1] = ["Total Care Shampoo", "Maximum strength", "Sum Mug", "Total Wine"][n // 5 % 4]


def blanks(case: Case) -> None:
    for n, (_, row) in enumerate(case.rows):
        row[AMOUNT if n % 4 else QTY] = None if n % 4 in (0, 3) else row[AMOUNT if n % 4 else QTY]
        row[1] = None if n % 7 == 3 else row[1]


ALONE = [
    total, total_in_numbers, total_above, subtotals, subtotals_above, subtotals_without_words, subtotals_beside, two_levels,
    wrong_total, averages, credits, rounded, prices, groups_of_one,
    titles, footnotes, two_row_header, second_table, mixed, serials, mixed_dates,
    ambiguous_dates, duplicate_rows, duplicate_keys, sum_columns, percent, currency, clean, running, chance,
    names_with_words, blanks,
]  # fmt: skip
IN_EXCEL = [merged_header, hidden_rows, filtered_rows, hidden_column, text_numbers, formulas]
FIRST = [
    mixed,
    serials,
    mixed_dates,
    ambiguous_dates,
    duplicate_rows,
    duplicate_keys,
    sum_columns,
    percent,
    text_numbers,
    running,
]
"""Changes to the rows of data, made before totals are."""
SUMS = [
    total,
    total_in_numbers,
    subtotals,
    subtotals_above,
    two_levels,
    subtotals_beside,
    prices,
    wrong_total,
]
LAST = [
    titles, footnotes, second_table, hidden_rows, filtered_rows, hidden_column, averages, two_row_header, merged_header, currency,
    formulas,
]  # fmt: skip


def plans() -> Iterator[tuple[bool, list[Callable[[Case], None]]]]:
    """Whether it is a workbook, and what is done to it."""
    for defect in ALONE:
        yield True, [defect]
        yield False, [defect]
    for defect in IN_EXCEL:
        yield True, [defect]
    pairs = [
        *itertools.product(FIRST, SUMS),
        *itertools.product(SUMS, LAST),
        *itertools.product(FIRST[:8], LAST[:3]),
    ]
    for n, pair in enumerate(pairs):
        yield n % 2 == 0 or any(p in IN_EXCEL for p in pair), list(pair)


def write(case: Case, path: Path) -> None:
    header = [[*row, *case.names[len(row) :]] if row is case.names else row for row in case.header]
    grid = [*case.above, *header, *(row for _, row in case.rows), *case.below]
    if not case.excel:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["" if c is None else c for c in row] for row in grid])
        return
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Data"
    for number, row in enumerate(grid, 1):
        for column, cell in enumerate(row, 1):
            if cell is not None:
                sheet.cell(number, column, cell)
    for at, code in case.formats.items():
        for n in range(len(case.rows)):
            sheet.cell(case.first + n, at + 1).number_format = code
    for position in case.hidden:
        sheet.row_dimensions[case.first + position].hidden = True
    for letter in case.hidden_columns:
        sheet.column_dimensions[letter].hidden = True
    if case.filtered:
        sheet.auto_filter.ref = f"A{case.first - 1}:F{case.first + len(case.rows) - 1}"
        sheet.auto_filter.add_filter_column(0, [case.rows[0][1][0]])
    for cells in case.merge.split():
        sheet.merge_cells(cells.format(case.first - 2))
    book.save(path)


@dataclass
class Score:
    right: int = 0
    false: int = 0
    missed: int = 0


def judge(
    case: Case, info: TableInfo, others: list[TableInfo], scores: dict[str, Score]
) -> list[str]:
    """What was found too much, too little or elsewhere."""
    found = {SAME.get(n.kind, n.kind): n for one in [info, *others] for n in one.notes}
    wrong = []
    for kind in sorted(WATCHED):
        wanted, given = kind in case.expected, kind in found
        score = scores.setdefault(kind, Score())
        exact = True
        if wanted and given and kind in KINDS:
            rows = {case.first + n for n, (what, _) in enumerate(case.rows) if what == KINDS[kind]}
            exact = set(dict(info.left_out).get(KINDS[kind], ())) == rows
        if wanted and given and exact:
            score.right += 1
        elif wanted or given:
            score.missed += wanted
            score.false += given
            wrong.append(
                f"{'missing' if not given else 'false' if not wanted else 'elsewhere'} {kind}"
            )
        if given and case.excel and not found[kind].cells and kind not in ("several-blocks",):
            wrong.append(f"no cells: {kind}")
    return wrong


def naive(case: Case, path: Path) -> float:
    """What pandas gives for the amounts, with the header's place known."""
    if case.excel:
        frame = pd.read_excel(path, engine="openpyxl", header=case.first - 2)
    else:
        frame = pd.read_csv(
            path, skiprows=case.first - 2, skip_blank_lines=False, names=case.names, header=0
        )
    values = frame[frame.columns[AMOUNT]].astype(str).str.replace(r"[$,]", "", regex=True)
    return float(pd.to_numeric(values, errors="coerce").sum())


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    kept = Report("integrity", ("leaf/readers/tabular",), changed(parser, given))
    scores: dict[str, Score] = {}
    totals: Counter[str] = Counter()
    files = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (excel, defects) in enumerate(plans()):
            case = make(random.Random(given.seed * 1000 + number), excel)
            for defect in defects:
                defect(case)
            path = Path(folder) / f"{number}.{'xlsx' if excel else 'csv'}"
            write(case, path)
            out = Path(folder) / f"out{number}"
            out.mkdir()
            reader = SheetsReader() if excel else DelimitedReader()
            info, *others = reader.tables(path, out)
            files += 1
            wrong = judge(case, info, others, scores)
            if case.printed is not None:
                totals["files"] += 1
                where = "WHERE _kind = 'data'" if info.marked else ""
                name = info.columns[AMOUNT][0]
                ((value,),) = duckdb.execute(
                    f"SELECT sum(\"{name}\") FROM '{out / info.parquet}' {where}"
                ).fetchall()
                right = isinstance(value, int | float) and abs(float(value) - case.printed) < 0.005
                totals["right"] += right
                totals["pandas"] += abs(naive(case, path) - case.printed) < 0.005
                if not right:
                    wrong.append(f"grand total {value} for {case.printed}")
            if wrong and given.show:
                print(f"{path.name} {' + '.join(d.__name__ for d in defects)}: {'; '.join(wrong)}")
    return kept.end(figures(scores, totals, files))


def figures(scores: dict[str, Score], totals: Counter[str], files: int) -> list[Figure]:
    """Prints each kind of finding; the least of them all are the figures."""
    print(f"{files} files\n{'finding':<18} {'files':>6} {'precision':>10} {'recall':>8}")
    precisions, recalls = {}, {}
    for kind, score in sorted(scores.items()):
        precisions[kind] = score.right / max(1, score.right + score.false)
        recalls[kind] = score.right / max(1, score.right + score.missed)
        print(
            f"{kind:<18} {score.right + score.missed:>6} {precisions[kind]:>10.3f} "
            f"{recalls[kind]:>8.3f}"
        )
    name = f"{files} workbooks and CSV files with known defects, alone and in pairs"
    of = f"of {len(scores)} kinds of findings"
    return [
        Figure(name, f"least precision {of}", min(precisions.values()), TARGET, shown="{:.2f}"),
        Figure(name, f"least recall {of}", min(recalls.values()), TARGET, shown="{:.2f}"),
        Figure(
            name,
            f"grand totals from rows of data that equal the printed ones, of {totals['files']}",
            totals["right"],
            totals["files"],
            shown="{:.0f}",
            beside={"pandas over the whole column": totals["pandas"]},
        ),
    ]


if __name__ == "__main__":
    sys.exit(main())

"""Where the tables of a sheet begin and how many there are, as annotators saw it; what cells hold,
as other readers have them.

First row of data: of the annotated table with most rows, held against the table of Leaf that holds
most of them. It is right where nothing above it stands in that table; `with headings` counts files
as well where only rows stand there that the corpora call `group` and Leaf keeps as rows. Number of
tables: of sheets for which several are annotated.

Cells: every cell that Leaf or another maintained reader has, of the workbooks beside the foreign
corpora and those of Apache POI: XLS against xlrd, XLSX against openpyxl, and XLSB against the
workbook of the same cells that lies beside it in another format.

Workbooks of Apache POI, which were collected for what is wrong with them: each opens or is refused
in one sentence, in a process of its own with a limit of time and memory, as the app has it.
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from datetime import time as clock
from pathlib import Path
from typing import Any

from bench._foreign import Figure
from bench._foreign.reading import Reading, read
from bench._foreign.truth import Sheet, fuste, strudel
from leaf.errors import LeafError

SECONDS = 25
"""After which a file that is still being read is given up."""
SLOW = 20
MEMORY = 4 << 30
"""Bytes of address space for each file."""
TARGETS = {"Strudel saus": 0.95, "Strudel troy": 0.98, "FUSTE": 0.95}


def measure(corpora: Path, show: bool) -> list[Figure]:
    """Layout, cells and hostile workbooks; what has no corpus is left out."""
    figures: list[Figure] = []
    for name, sheets in _corpora(corpora):
        figures += _layout(name, list(sheets), show)
    figures += measure_cells(corpora, show)
    if (corpora / "poi").is_dir():
        figures += measure_opening(corpora / "poi", show)
    return figures


def _corpora(corpora: Path) -> Iterator[tuple[str, Iterator[Sheet]]]:
    if (corpora / "strudel").is_dir():
        for which in ("saus", "troy"):
            yield f"Strudel {which}", strudel(corpora, which)
    if (corpora / "fuste").is_dir():
        yield "FUSTE", fuste(corpora)


# Layout


def _layout(name: str, sheets: list[Sheet], show: bool) -> list[Figure]:
    counts: Counter[str] = Counter()
    for sheet in sheets:
        tables = [rows for rows in sheet.tables if rows]
        if not tables:
            continue
        reading = read(sheet.path)
        counts["files"] += 1
        said = first_row(sheet, reading)
        counts[said] += 1
        if show and said == "wrong":
            _show_first(sheet, reading)
        if len(tables) > 1:
            counts["several"] += 1
            counts["several, right"] += len(reading.tables) == len(tables)
            if show and len(reading.tables) != len(tables):
                print(f"  {len(reading.tables)} tables for {len(tables)}: {sheet.path.name[:90]}")
        else:
            counts["one"] += 1
            counts["one, right"] += len(reading.tables) == 1
            if show and len(reading.tables) != 1:
                print(f"  {len(reading.tables)} tables for 1: {sheet.path.name[:90]}")
    files = counts["files"]
    figures = [
        Figure(
            name,
            f"first row of data right, share of {files} files",
            counts["right"] / files,
            TARGETS[name],
        ),
        Figure(
            name,
            "first row of data right, with headings",
            (counts["right"] + counts["below groups"]) / files,
        ),
        Figure(
            name,
            f"one table where one is annotated, share of {counts['one']}",
            counts["one, right"] / max(1, counts["one"]),
        ),
    ]
    if counts["several"] > 10:
        share = counts["several, right"] / counts["several"]
        figures.append(
            Figure(
                name,
                f"number of tables right where several are, share of {counts['several']}",
                share,
                0.80,
            )
        )
    return figures


def first_row(sheet: Sheet, reading: Reading) -> str:
    """`right`, `below groups` or `wrong`."""
    truth = max(sheet.tables, key=len)
    ours = max(reading.tables, key=lambda rows: len(set(rows) & set(truth)), default=())
    above = [row for row in ours if row < truth[0]]
    if not ours or truth[0] not in ours:
        return "wrong"
    if not above:
        return "right"
    return (
        "below groups" if all(sheet.rows.get(row, "group") == "group" for row in above) else "wrong"
    )


def _show_first(sheet: Sheet, reading: Reading) -> None:
    truth = max(sheet.tables, key=len)
    ours = max(reading.tables, key=lambda rows: len(set(rows) & set(truth)), default=())
    found = min(ours, default=0)
    print(
        f"  first row {found} for {truth[0]} ({sheet.rows.get(found)}): {sheet.path.name[:90]} "
        f"{reading.error}"
    )


# Cells


@dataclass(frozen=True)
class _Pair:
    """A workbook and what another reader says of it: sheet -> (row, column) -> value."""

    path: Path
    other: Callable[[Path], dict[str, dict[tuple[int, int], Any]]]
    beside: Path | None = None
    """Where the other reader reads another file with the same cells."""


def measure_cells(corpora: Path, show: bool) -> list[Figure]:
    """Share of the cells that are equal, by format."""
    files = sorted(
        p
        for folder in (corpora.parent, corpora / "poi" / "spreadsheet")
        if folder.is_dir()
        for p in folder.iterdir()
    )
    figures = []
    for ending, other, target in (
        (".xls", _by_xlrd, 0.977),
        (".xlsx", _by_openpyxl, None),
        (".xlsb", None, 1.0),
    ):
        pairs = [_Pair(p, other) if other else _beside(p) for p in files if p.suffix == ending]
        counts: Counter[str] = Counter()
        for pair in pairs:
            if pair:
                _compare(pair, counts, show)
        if counts["cells"]:
            what = (
                f"cells as another reader has them, share of {counts['cells']:,} in "
                f"{counts['files']} files {ending}"
            )
            figures.append(Figure("workbooks", what, counts["equal"] / counts["cells"], target))
    return figures


def _beside(path: Path) -> _Pair | None:
    """An XLSB and the ODS, or XLSX, of the same name."""
    ods, xlsx = path.with_suffix(".ods"), path.with_suffix(".xlsx")
    if xlsx.is_file():
        return _Pair(path, _by_openpyxl, xlsx)
    return _Pair(path, _by_leaf, ods) if ods.is_file() else None


def _compare(pair: _Pair, counts: Counter[str], show: bool) -> None:
    try:
        theirs = pair.other(pair.beside or pair.path)
    except Exception:  # noqa: BLE001 - whatever the other reader raises: it gives nothing to compare with
        counts["the other reader fails"] += 1
        return
    try:
        ours = _by_leaf(pair.path)
    except LeafError:
        counts["refused"] += 1
        return
    counts["files"] += 1
    cells = equal = 0
    for name, sheet in theirs.items():
        if name not in ours:
            continue
        found = ours[name]
        for at in sheet.keys() | found.keys():
            cells += 1
            equal += _same(found.get(at), sheet.get(at))
            if show and not _same(found.get(at), sheet.get(at)) and cells - equal <= 3:
                print(
                    f"  {pair.path.name} {name} {at}: {found.get(at)!r}, the other reader "
                    f"{sheet.get(at)!r}"
                )
    if show and cells != equal:
        print(f"  {pair.path.name}: {equal:,} of {cells:,} cells equal")
    counts["cells"] += cells
    counts["equal"] += equal


def _same(ours: Any, theirs: Any) -> bool:
    """As values: a day is the number that stands for it, and an error is no value."""
    if isinstance(ours, str) and isinstance(theirs, str):
        return ours.split() == theirs.split()
    a, b = _number(ours), _number(theirs)
    if a is None or b is None:
        return type(ours) is type(theirs) and bool(ours == theirs)
    return abs(a - b) <= 1e-9 * max(1.0, abs(a)) + 1e-5 * (not isinstance(ours, int | float))


def _number(value: Any) -> float | None:
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, datetime):
        return (value - datetime(1899, 12, 30)).total_seconds() / 86_400
    if isinstance(value, date):
        return float((value - date(1899, 12, 30)).days)
    if isinstance(value, clock):
        return (
            value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
        ) / 86_400
    return value.total_seconds() / 86_400 if isinstance(value, timedelta) else None


def _by_leaf(path: Path) -> dict[str, dict[tuple[int, int], Any]]:
    from leaf.readers.tabular.workbook import Workbook

    with Workbook(path) as book:
        return {sheet.name: _filled(book.iterate(sheet)) for sheet in book.sheets}


def _filled(rows: Iterator[Any]) -> dict[tuple[int, int], Any]:
    return {
        (r, c): cell
        for r, row in enumerate(rows)
        for c, cell in enumerate(row)
        if cell is not None and not (isinstance(cell, str) and not cell.strip())
    }


def _by_xlrd(path: Path) -> dict[str, dict[tuple[int, int], Any]]:
    import io

    import xlrd

    book = xlrd.open_workbook(path, logfile=io.StringIO())
    kinds = {
        xlrd.XL_CELL_TEXT: str,
        xlrd.XL_CELL_NUMBER: float,
        xlrd.XL_CELL_DATE: float,
        xlrd.XL_CELL_BOOLEAN: bool,
    }
    found = {}
    for sheet in book.sheets():
        rows = [
            [kinds[c.ctype](c.value) if c.ctype in kinds else None for c in sheet.row(r)]
            for r in range(sheet.nrows)
        ]
        shift = 1462 if book.datemode else 0
        for r, row in enumerate(rows):
            for c, cell in enumerate(row):
                if shift and cell is not None and sheet.cell_type(r, c) == xlrd.XL_CELL_DATE:
                    row[c] = cell + shift
        found[sheet.name] = _filled(iter(rows))
    return found


def _by_openpyxl(path: Path) -> dict[str, dict[tuple[int, int], Any]]:
    import warnings

    from openpyxl import load_workbook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = load_workbook(path, data_only=True)
    found = {}
    for sheet in book.worksheets:
        found[sheet.title] = _filled(
            [None if cell.data_type == "e" else cell.value for cell in row]
            for row in sheet.iter_rows(min_row=1, min_col=1)
        )
    return found


# Opening


def measure_opening(folder: Path, show: bool) -> list[Figure]:
    """Each workbook opens or is refused in words."""
    files = sorted(
        p for p in folder.rglob("*") if p.suffix in (".xls", ".xlsx", ".xlsm", ".xlsb", ".ods")
    )
    counts: Counter[str] = Counter()
    for path in files:
        outcome, text, seconds = opened(path)
        counts[outcome] += 1
        counts["slow"] += seconds > SLOW
        if show and outcome != "opens":
            print(f"  {outcome} {path.name} ({seconds:.1f} s): {text}")
    return [
        Figure("POI workbooks", f"open, of {len(files)}", counts["opens"]),
        Figure("POI workbooks", "refused in words", counts["refused"]),
        Figure(
            "POI workbooks",
            "raw exceptions and lost processes",
            counts["raised"] + counts["died"],
            0,
            at_least=False,
        ),
        Figure("POI workbooks", f"take over {SLOW} s", counts["slow"], 0, at_least=False),
    ]


def opened(path: Path) -> tuple[str, str, float]:
    """`opens`, `refused`, `raised` or `died`, with what is said; and seconds."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    start = time.perf_counter()
    child = context.Process(target=_open_in_child, args=(path, theirs))
    child.start()
    theirs.close()
    answered = mine.poll(SECONDS)
    try:
        outcome, text = mine.recv() if answered else ("died", f"no answer in {SECONDS} s")
    except EOFError:
        outcome, text = "died", "the process ended"
    if not answered:
        child.kill()
    child.join()
    return outcome, text, time.perf_counter() - start


def _open_in_child(path: Path, pipe: Any) -> None:
    from leaf.readers.worker import inspect, read, tables

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        kind = inspect(str(path), path.name)["kind"]
        read(str(path), kind)
        with tempfile.TemporaryDirectory() as folder:
            tables(str(path), kind, folder)
        pipe.send(("opens", ""))
    except LeafError as e:
        pipe.send(("refused", str(e)))
    except BaseException as e:  # noqa: BLE001 - a panic of Rust is one, and what is measured is that there is none
        pipe.send(("raised", f"{type(e).__name__}: {e}"))

"""Rows of annotated files: data that is lost, what is left out rightly, derived rows that are
found, footnotes that stay."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench._foreign import Figure
from bench._foreign.delimited import PANDAS_WRONG
from bench._foreign.reading import Reading, read
from bench._foreign.truth import Sheet, fuste, plain, strudel


def measure(corpora: Path, show: bool) -> list[Figure]:
    """Every corpus by itself; then all rows of all of them."""
    figures: list[Figure] = []
    whole: Counter[str] = Counter()
    for name, sheets in _corpora(corpora):
        counts: Counter[str] = Counter()
        for sheet in sheets:
            judge(sheet, read(sheet.path, sums=True), counts, show)
        if not counts:
            print(f"{name}: not here, skipped.")
            continue
        whole += counts
        figures += _figures(name, counts)
    return [*figures, *_figures("all corpora", whole)] if whole else figures


def _corpora(corpora: Path) -> Iterator[tuple[str, Iterator[Sheet]]]:
    if (corpora / "strudel").is_dir():
        for which in ("saus", "troy"):
            yield f"Strudel {which}", strudel(corpora, which)
            yield f"Strudel {which} .xlsx", _as_workbooks(strudel(corpora, which))
    if (corpora / "fuste").is_dir():
        yield "FUSTE", fuste(corpora)
        yield "FUSTE .xlsx", _as_workbooks(fuste(corpora))
    yield (
        "DABench",
        (
            plain(path, header_rows=1 + (path.name in PANDAS_WRONG))
            for path in sorted((corpora / "dabench" / "tables").glob("*.csv"))
        ),
    )


def _as_workbooks(sheets: Iterator[Sheet]) -> Iterator[Sheet]:
    """The same cells in a workbook, numbers as numbers."""
    with tempfile.TemporaryDirectory() as folder:
        for number, sheet in enumerate(sheets):
            path = Path(folder) / f"{number} {sheet.path.stem[:80]}.xlsx"
            write_workbook(path, sheet.cells)
            yield Sheet(path, sheet.rows, sheet.cells)
            path.unlink()


def write_workbook(path: Path, cells: list[list[str]]) -> None:
    """Cells of text as a sheet `Data`."""
    from openpyxl import Workbook
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    book = Workbook(write_only=True)
    sheet = book.create_sheet("Data")
    for row in cells:
        sheet.append([_typed(ILLEGAL_CHARACTERS_RE.sub("", cell)) for cell in row])
    book.save(path)


def _typed(cell: str) -> str | float | None:
    plain_text = cell.strip().replace(",", "")
    if not plain_text:
        return None
    if plain_text[0] in "-.0123456789" and not (plain_text[0] == "0" and plain_text[1:2].isdigit()):
        try:
            return (
                float(plain_text)
                if "." in plain_text or "e" in plain_text.lower()
                else int(plain_text)
            )
        except ValueError:
            pass
    return cell if cell[0] != "=" else " " + cell


def judge(sheet: Sheet, reading: Reading, counts: Counter[str], show: bool) -> None:
    """Each annotated row against what became of it."""
    counts["files"] += 1
    if reading.error:
        counts["files refused"] += 1
        counts["rows of files refused"] += sum(kind == "data" for kind in sheet.rows.values())
        if show:
            print(f"  refused {sheet.path.name}: {reading.error}")
        return
    rest = reading.unnamed
    notes_kept = 0
    for row, kind in sheet.rows.items():
        kept = row in reading.data
        lost = not kept and row not in reading.header
        counts[kind] += 1
        wrong = ""
        if lost:
            counts["left out"] += 1
        if kind == "data" and not kept:
            counts["left out"] += not lost
            counts["data left out"] += 1
            wrong = "data left out" if lost else "data in the header"
            counts["data as titles"] += row not in reading.left_out
            if row not in reading.named and row not in reading.left_out:
                said = rest > 0
                rest -= said
                counts["data lost without a word"] += not said
                wrong += "" if said else " without a word"
        if kind == "derived":
            found = not kept or row in reading.doubtful
            counts["derived found"] += found
            counts["derived left out"] += not kept
            wrong = "" if found else "derived kept"
        if kind == "data" and kept and row in reading.doubtful:
            counts["data doubted"] += 1
        if kind == "note" and kept and row not in reading.doubtful:
            counts["notes kept"] += 1
            notes_kept += 1
        if kind == "title" and kept and row not in reading.doubtful:
            counts["titles kept"] += 1
        if wrong and show:
            said_text = (
                " | ".join(cell for cell in sheet.cells[row - 1] if cell)[:90]
                if row <= len(sheet.cells)
                else ""
            )
            print(
                f"  {wrong} ({reading.left_out.get(row, '')}) {sheet.path.name[:60]} row {row}: "
                f"{said_text}"
            )
    counts["files with notes"] += "note" in sheet.rows.values()
    counts["files that keep notes"] += notes_kept > 0
    _columns(sheet, reading, counts)


def _columns(sheet: Sheet, reading: Reading, counts: Counter[str]) -> None:
    """Columns of tables with derived rows: whether the sum over what is kept is that over the rows
    of data."""
    if "derived" not in sheet.rows.values():
        return
    for values in reading.sums.values():
        derived = [row for row in values if sheet.rows.get(row) == "derived"]
        if not derived:
            continue
        counts["columns"] += 1
        true = sum(v for row, v in values.items() if sheet.rows.get(row) == "data")
        given = sum(v for row, v in values.items() if row in reading.data)
        right = abs(true - given) <= 1e-9 * max(1.0, abs(true))
        counts["columns right"] += right
        counts["columns wrong, named"] += not right and all(
            r not in reading.data or r in reading.doubtful for r in derived
        )


def _figures(name: str, c: Counter[str]) -> list[Figure]:
    share = (c["left out"] - c["data left out"]) / max(1, c["left out"])
    total = name == "all corpora"
    figures = [
        Figure(name, f"rows of data lost without a word, of {c['data']:,} in {c['files']:,} files",
               c["data lost without a word"], 0, at_least=False),
        Figure(name, f"rows of data left out, of {c['left out']:,} rows left out", c["data left out"]),
        Figure(name, "precision of what is left out", share, 0.999 if total else None),
    ]  # fmt: skip
    if c["derived"]:
        recall = c["derived found"] / c["derived"]
        figures += [
            Figure(
                name,
                f"derived rows left out or named as doubtful, of {c['derived']:,}",
                recall,
                0.80 if total else None,
            ),
            Figure(name, "derived rows left out", c["derived left out"] / c["derived"]),
            Figure(name, "rows of data named as doubtful", c["data doubted"]),
        ]
    if c["columns"]:
        figures += [
            Figure(
                name,
                f"columns whose sum is that of the data alone, of {c['columns']:,}",
                c["columns right"],
            ),
            Figure(
                name,
                "columns that count something twice, with all such rows named",
                c["columns wrong, named"],
            ),
        ]
    if c["note"]:
        figures += [
            Figure(
                name, f"footnotes kept as rows without a word, of {c['note']:,}", c["notes kept"]
            ),
            Figure(
                name,
                f"files that keep footnotes without a word, of {c['files with notes']:,}",
                c["files that keep notes"],
            ),
        ]
    if c["title"]:
        figures.append(
            Figure(name, f"titles kept as rows without a word, of {c['title']:,}", c["titles kept"])
        )
    figures.append(
        Figure(
            name,
            f"files refused, with {c['rows of files refused']:,} rows of data",
            c["files refused"],
        )
    )
    return figures

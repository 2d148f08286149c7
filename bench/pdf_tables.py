"""Tables of PDFs against known cells, beside pdfplumber: F1 of neighbouring cells, and tables found
where there are none.

    python -m bench.pdf_tables [--files 96] [--without 30] [--show]

The measure is that of the ICDAR 2013 competition: each filled cell with the next filled one to its
right and below it is a relation; texts are compared without blanks. A table that is missed, and one
that is none, counts as 0. Cells that go over several columns stand in the first of them, in the
truth as in what was found. Exit code 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from bench._figures import Figure, Report, changed
from bench._pages import prose, tables
from bench._pages.tables import Drawn, Rows

Relation = tuple[str, str, str]
Finder = Callable[[Path], list[tuple[int, Rows]]]
"""File -> (page, rows) of each table."""


def main() -> int:
    """Print the figures; 1 if a target is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=96)
    parser.add_argument("--without", type=int, default=30)
    parser.add_argument("--show", action="store_true", help="name each table below 0.8")
    given = parser.parse_args()
    report = Report("pdf_tables", ("leaf/readers/documents",), changed(parser, given))
    logging.getLogger("pdfminer").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        made = [(Path(folder) / f"{i}.pdf", i) for i in range(given.files)]
        truth = {path: tables.make(i, path) for path, i in made}
        none = [
            (path, prose.make(i, path))
            for i in range(given.without)
            if (path := Path(folder) / f"none-{i}.pdf")
        ]
        ours = _measure("leaf", leaf_tables, truth, none, given.show)
        others = {
            f"pdfplumber, {way}": _measure(
                f"pdfplumber, {way}", _plumber(way), truth, none, show=False
            )
            for way in ("lines", "text")
        }
        joined = _joined(truth)
    name = f"{given.files} made PDFs"
    invented = f"tables invented on {given.without} pages without"
    return report.end(
        [
            Figure(
                name,
                "F1 of neighbouring cells",
                ours[0],
                0.8,
                True,
                "{:.3f}",
                {n: found[0] for n, found in others.items()},
            ),
            Figure(
                name,
                invented,
                ours[1],
                0,
                False,
                "{:.0f}",
                {n: found[1] for n, found in others.items()},
            ),
            Figure(
                name,
                "tables over several pages that come out as one, every cell right",
                joined,
                0.8,
                shown="{:.1%}",
            ),
        ]
    )


def leaf_tables(path: Path) -> list[tuple[int, Rows]]:
    from leaf.readers.documents.pdf import page_tables

    return [
        (number, table.rows)
        for number, found in page_tables(path)
        for table in found
        if not table.lone
    ]


def _plumber(strategy: str) -> Finder:
    def find(path: Path) -> list[tuple[int, Rows]]:
        import pdfplumber

        options = {"vertical_strategy": strategy, "horizontal_strategy": strategy}
        with pdfplumber.open(path) as document:
            return [
                (page.page_number, [[cell or "" for cell in row] for row in table])
                for page in document.pages
                for table in page.extract_tables(options)
            ]

    return find


def _measure(
    name: str,
    find: Finder,
    truth: dict[Path, tuple[str, list[Drawn]]],
    none: Sequence[tuple[Path, str]],
    show: bool,
) -> tuple[float, int]:
    start = time.perf_counter()
    scores: dict[str, list[float]] = defaultdict(list)
    for path, (what, drawn) in truth.items():
        for style, score in _scores(find(path), drawn):
            scores[style].append(score)
            if show and score < 0.8:
                print(
                    f"  {score:.2f} file {path.stem}: "
                    f"{what}{' (no table)' if style == 'none' else ''}"
                )
    every = [score for found in scores.values() for score in found]
    wrong = Counter(kind for path, kind in none for _, rows in find(path) if rows)
    styles = "  ".join(
        f"{style} {sum(found) / len(found):.2f}" for style, found in sorted(scores.items())
    )
    print(
        f"{name}: F1 {sum(every) / len(every):.3f} of {len(every)} tables, {sum(wrong.values())} "
        f"in {len(none)} pages without"
    )
    print(f"    {styles}\n    {dict(wrong)}  {time.perf_counter() - start:.1f} s")
    return sum(every) / len(every), sum(wrong.values())


def _scores(found: Sequence[tuple[int, Rows]], drawn: Sequence[Drawn]) -> list[tuple[str, float]]:
    """A score for each table drawn, by the best of those found on its page, and 0 for each that is
    left."""
    left = [(page, relations(rows)) for page, rows in found if any(any(row) for row in rows)]
    scores = []
    for table in drawn:
        wanted = relations(table.rows)
        best = max(
            (item for item in left if item[0] == table.page),
            key=lambda item: f1(item[1], wanted),
            default=None,
        )
        if best is None or f1(best[1], wanted) == 0:
            scores.append((table.style, 0.0))
            continue
        scores.append((table.style, f1(best[1], wanted)))
        left.remove(best)
    return scores + [("none", 0.0)] * len(left)


def relations(rows: Rows) -> Counter[Relation]:
    """Each filled cell with the next filled one to the right and below."""
    cells = [["".join(cell.split()) for cell in row] for row in rows]
    found: Counter[Relation] = Counter()
    for direction, lines in (
        ("right", cells),
        ("below", [list(column) for column in zip(*cells, strict=True)]),
    ):
        for line in lines:
            filled = [cell for cell in line if cell]
            found.update((a, b, direction) for a, b in itertools.pairwise(filled))
    return found


def f1(found: Counter[Relation], wanted: Counter[Relation]) -> float:
    same = sum((found & wanted).values())
    return 2 * same / max(1, sum(found.values()) + sum(wanted.values()))


def _joined(truth: dict[Path, tuple[str, list[Drawn]]]) -> float:
    """Share of the tables over several pages that come out as one, with as many rows as they
    have."""
    from leaf.readers.documents.pdf import document_grids

    whole = total = 0
    for path, (_, drawn) in truth.items():
        parts = [table for table in drawn if table.part == 0]
        if len(parts) < 2:
            continue
        total += 1
        head = parts[0].rows[0]
        rows = [head, *(row for part in parts for row in part.rows if row != head)]
        whole += any(
            grid.rows == rows and grid.place == f"pages 1-{len(parts)}"
            for grid in document_grids(path)
        )
    print(f"tables over several pages that come out as one, every cell right: {whole} of {total}")
    return whole / max(1, total)


if __name__ == "__main__":
    sys.exit(main())

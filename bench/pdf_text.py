"""PDF text against bare pypdfium2 and pypdf, in one run: speed over a folder of files, a late page,
closeness to known text."""

from __future__ import annotations

import difflib
import logging
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench._figures import Figure, Report
from bench._pdfs import check_box, column, free_text, pdf, show, table, text_field
from leaf.readers import worker
from leaf.readers.base import Where
from leaf.readers.documents.pdf import PdfReader

REAL = Path(__file__).resolve().parents[2] / "shared" / "data"
WORDS = [
    *(
        "market",
        "share",
        "of",
        "the",
        "northern",
        "region",
        "grew",
        "in",
        "spring",
        "while",
        "costs",
        "for",
        "energy",
        "and",
    ),
    *(
        "transport",
        "fell",
        "by",
        "a",
        "third",
        "but",
        "board",
        "agreed",
        "to",
        "invest",
        "new",
        "plants",
        "near",
        "coast",
    ),
]


def main() -> int:
    """Print the table; 1 if a target is missed."""
    report = Report("pdf_text", ("leaf/readers/documents",))
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        made = _make(Path(folder))
        figures = _speed(
            sorted(REAL.glob("*.pdf"))
            + [path for path, _ in made.values()]
            + [_long(Path(folder), 120)]
        )
        figures += [_late_page(_long(Path(folder), 400)), _closeness(made)]
    return report.end(figures)


def leaf_text(path: Path) -> list[str]:
    return [passage.text for passage in PdfReader().passages(path, Where())]


def pdfium_text(path: Path) -> list[str]:
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    pages = []
    for index in range(len(document)):
        page = document[index]
        text = page.get_textpage()
        pages.append(text.get_text_bounded().replace("\r\n", "\n"))
        text.close()
        page.close()
    document.close()
    return pages


def pypdf_text(path: Path) -> list[str]:
    import pypdf

    return [page.extract_text() for page in pypdf.PdfReader(path).pages]


def _seconds(function: Callable[[Path], object], path: Path) -> float:
    start = time.perf_counter()
    function(path)
    return time.perf_counter() - start


def _speed(files: Sequence[Path]) -> list[Figure]:
    leaf_text(files[0]), pdfium_text(files[0]), pypdf_text(files[0])
    ours = bare = slow = 0.0
    for path in files:
        rounds = [(_seconds(leaf_text, path), _seconds(pdfium_text, path)) for _ in range(5)]
        ours += min(pair[0] for pair in rounds)
        bare += min(pair[1] for pair in rounds)
        slow += _seconds(pypdf_text, path)
    print(f"{len(files)} files: leaf {ours:.3f} s, pypdfium2 {bare:.3f} s, pypdf {slow:.3f} s")
    name = f"text of {len(files)} PDFs"
    return [
        Figure(name, "time, against bare pypdfium2", ours / bare, 1.3, False, "{:.2f} ×"),
        Figure(name, "times as fast as pypdf", slow / ours, 8, True, "{:.1f} ×"),
    ]


def _late_page(path: Path) -> Figure:
    times = [_seconds(lambda p: worker.read(str(p), "pdf", "page 390"), path) for _ in range(15)]
    return Figure("", "page 390 of 400", statistics.median(times) * 1000, 40, False, "{:.1f} ms")


def _closeness(made: dict[str, tuple[Path, str]]) -> Figure:
    ahead = []
    print(f"{'closeness to known text':28}{'leaf':>8}{'pdfium':>8}{'pypdf':>8}")
    for name, (path, truth) in made.items():
        ours, bare, other = (
            _close("\n".join(read(path)), truth) for read in (leaf_text, pdfium_text, pypdf_text)
        )
        print(f"  {name:26}{ours:8.3f}{bare:8.3f}{other:8.3f}")
        ahead.append(ours - max(bare, other))
    what = (
        f"closeness to the known text of {len(made)} files, ahead of the better of both by at least"
    )
    return Figure("", what, min(ahead), -0.005, True, "{:.3f}")


def _close(text: str, truth: str) -> float:
    """Mean of two measures from 0 to 1: words in order, and lines of the truth that are whole lines
    of the text."""
    words = difflib.SequenceMatcher(None, text.split(), truth.split(), autojunk=False).ratio()
    lines = {" ".join(line.split()) for line in text.split("\n")}
    wanted = [" ".join(line.split()) for line in truth.split("\n") if line.strip()]
    return (words + sum(line in lines for line in wanted) / len(wanted)) / 2


def _prose(start: int, lines: int, words: int = 7) -> list[str]:
    picked = [[WORDS[(start + 3 * i + j) % len(WORDS)] for j in range(words)] for i in range(lines)]
    return [" ".join(line) for line in picked]


def _numbers(rows: int) -> list[list[str]]:
    body = [
        [f"Region {i}", f"{1000 + 37 * i:,}", f"{(i * 7) % 100}.{i % 10} %", f"{i * 13 - 40}"]
        for i in range(1, rows)
    ]
    return [["Region", "Revenue", "Share", "Change"], *body]


def _make(folder: Path) -> dict[str, tuple[Path, str]]:
    """Name -> file and its text as a person would type it."""
    rows = _numbers(24)
    rows_text = "\n".join(" ".join(row) for row in rows)
    left, right, prose = _prose(0, 40, 4), _prose(11, 40, 4), _prose(5, 45)
    fine = ["The ofﬁce ﬂoor was difﬁcult to ﬁnd", "a baﬄing aﬀair of ﬁve eﬃcient ﬁrms"]
    plain = ["The office floor was difficult to find", "a baffling affair of five efficient firms"]
    short = [["Item", "Count"], *[[f"part {i}", str(i * 11)] for i in range(1, 15)]]
    divided = ["a long line that ends with a hyphen-", "ated word and goes on below the first"]
    labels = ["Application", "Name of the applicant", "Consent was given"]
    files = {
        "prose": (pdf([column(60, prose)]), "\n".join(prose)),
        "two columns": (pdf([column(60, left) + column(320, right)]), "\n".join(left + right)),
        "ligatures": (pdf([column(60, fine)]), "\n".join(plain)),
        "table drawn by rows": (pdf([table(rows, by_columns=False)]), rows_text),
        "table drawn by columns": (pdf([table(rows, by_columns=True)]), rows_text),
        "table between prose": (
            pdf(
                [
                    column(60, prose[:5])
                    + table(short, by_columns=True)
                    + column(60, prose[5:9], top=400)
                ]
            ),
            "\n".join(prose[:5] + [" ".join(row) for row in short] + prose[5:9]),
        ),
        "form": (
            pdf(
                [column(60, labels)],
                [[text_field("name", "Ann Example", 600), check_box("consent", "Yes", 560)]],
            ),
            "\n".join([*labels, "name: Ann Example", "consent: Yes"]),
        ),
        "annotations": (
            pdf([column(60, prose[:3])], [[free_text("Check this sum", 500)]]),
            "\n".join([*prose[:3], "Check this sum"]),
        ),
        "divided words": (pdf([column(60, divided)]), "\n".join(divided)),
    }
    return {
        name: (_saved(folder / f"{i}.pdf", data), truth)
        for i, (name, (data, truth)) in enumerate(files.items())
    }


def _long(folder: Path, pages: int) -> Path:
    drawn = [
        show(60, 810, f"Page {i}")
        + column(60, _prose(i, 25))
        + table(_numbers(14), by_columns=False, top=400)
        for i in range(pages)
    ]
    return _saved(folder / f"long{pages}.pdf", pdf(drawn))


def _saved(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


if __name__ == "__main__":
    sys.exit(main())

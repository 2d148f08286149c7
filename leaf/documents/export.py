"""What a document can be downloaded as, and what its text is like when it leaves. Other formats are
made by `child`, in the sandbox."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from leaf.shapes.harmless import harmless_markdown, inert


@dataclass(frozen=True)
class Format:
    """A format for download."""

    ending: str
    label: str
    """For people: `Word (DOCX)`."""
    media_type: str

    @property
    def tail(self) -> str:
        """How the name of the file ends: `.csv`; `-raw.csv` for the second form of that kind."""
        kind, _, form = self.ending.partition("-")
        return f"-{form}.{kind}" if form else f".{kind}"


RAW_SHEET = "csv-raw"
"""The form in which formulas stay, which a person has to choose."""
MARKDOWN = ("md", "markdown")
FORMATS: dict[str, tuple[Format, ...]] = {
    "text": (
        Format(
            "docx",
            "Word (DOCX)",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        Format("pdf", "PDF", "application/pdf"),
    ),
    "sheet": (
        Format(
            "xlsx",
            "Excel (XLSX)",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ),
        Format(RAW_SHEET, "CSV, raw", "text/csv"),
    ),
    "code": (),
}
"""Kind of document -> formats besides its own."""


def leaving(text: str, ending: str) -> str:
    """A text as it leaves Leaf in a file of this ending: of Markdown without what acts where it is
    read, of a sheet without formulas. Any other is a program's or a person's to run or to read, and
    stays as it is."""
    if ending in MARKDOWN:
        return harmless_markdown(text)
    return _inert_sheet(text) if ending == "csv" else text


def _inert_sheet(text: str) -> str:
    out = io.StringIO()
    rows = csv.reader(io.StringIO(text))
    csv.writer(out, lineterminator="\n").writerows([inert(cell) for cell in row] for row in rows)
    return out.getvalue()

"""From Markdown or CSV to DOCX, PDF or XLSX. Runs in the confined child; the text may be anything."""

from __future__ import annotations

from pathlib import Path


def convert(path: str, ending: str, title: str, out: str) -> list[str]:
    """Write `document.<ending>` into `out`; returns what could not be taken over. Raises InvalidInputError."""
    text = Path(path).read_text(encoding="utf-8")
    target = Path(out) / f"document.{ending}"
    if ending == "docx":
        from leaf.documents.docx import write
    elif ending == "pdf":
        from leaf.documents.pdf import write
    else:
        from leaf.documents.xlsx import write
    return write(text, title, target)

"""From Markdown or CSV to DOCX, PDF or XLSX. Runs in the confined child; the text may be
anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def convert(
    path: str, ending: str, title: str, out: str, pictures: Sequence[str] = ()
) -> list[str]:
    """Write `document.<ending>` into `out`, with the pictures that a text for PDF or Word has as
    `picture:0` and on; returns what could not be taken over. Raises InvalidInputError."""
    text = Path(path).read_text(encoding="utf-8")
    target = Path(out) / f"document.{ending}"
    if ending == "xlsx":
        from leaf.documents import xlsx

        return xlsx.write(text, title, target)
    if ending == "docx":
        from leaf.documents.docx import write
    else:
        from leaf.documents.pdf import write
    return write(text, title, target, [Path(picture) for picture in pictures])

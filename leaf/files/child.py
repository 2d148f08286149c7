"""What the library asks of the sandbox beyond the formats' own functions; runs in the confined child."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def pictures(path: str, kind: str, pages: Sequence[int], out: str, max_edge: int) -> list[dict[str, Any]]:
    """Draw pages of a PDF, or of a picture, into files of `out`: {"file", "page", "media_type", "width", "height"} for each.

    Raises FileError, InvalidInputError for a page that is not there.
    """
    from leaf.formats.pdf import draw_pages
    from leaf.formats.picture import render

    found = []
    drawn = draw_pages(Path(path), pages, max_edge) if kind == "pdf" else (render(Path(path), page, max_edge) for page in pages)
    for page, picture in zip(pages, drawn, strict=True):
        name = f"page-{page}"
        (Path(out) / name).write_bytes(picture.data)
        size = {"width": picture.width, "height": picture.height}
        found.append({"file": name, "page": page, "media_type": picture.media_type, **size})
    return found


def marked_picture(path: str, page: int, quote: str, out: str) -> int:
    """Draw a page of a PDF with the quote marked into `page.jpg`; the number of marks. Raises FileError, InvalidInputError."""
    from leaf.formats.pdf_marks import render_marked

    drawn, marks = render_marked(Path(path), page, quote)
    (Path(out) / "page.jpg").write_bytes(drawn)
    return marks

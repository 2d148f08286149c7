"""What the library asks of the sandbox beyond the formats' own functions; runs in the confined child."""

from __future__ import annotations

from pathlib import Path


def picture(path: str, page: int, out: str) -> None:
    """Draw a page of a PDF into `page.jpg`. Raises FileError, InvalidInputError for a page that is not there."""
    from leaf.formats.pdf import render_page

    (Path(out) / "page.jpg").write_bytes(render_page(Path(path), page))

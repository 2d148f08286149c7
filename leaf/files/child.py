"""What the library asks of the sandbox beyond the formats' own functions; runs in the confined
child."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def redraw(path: str, out: str, edge: int, pixels: int) -> dict[str, int]:
    """Draw a PNG that untrusted code made anew as `figure.png`, its longer edge at most `edge`.
    Raises UnreadableFileError."""
    from PIL import Image

    from leaf.errors import UnreadableFileError

    Image.MAX_IMAGE_PIXELS = None  # looked at below, before anything is decoded
    try:
        with Image.open(path, formats=["PNG"]) as image:
            if image.width * image.height > pixels:
                raise UnreadableFileError(
                    f"The figure has {image.width:,} × {image.height:,} pixels, which is too large."
                )
            drawn = image.convert("RGB")
    except (OSError, SyntaxError, ValueError) as e:
        raise UnreadableFileError("The figure that the code drew cannot be read.") from e
    drawn.thumbnail((edge, edge))
    drawn.save(Path(out) / "figure.png", optimize=False)
    return {"width": drawn.width, "height": drawn.height}


def pictures(
    path: str, kind: str, pages: Sequence[int], out: str, max_edge: int
) -> list[dict[str, Any]]:
    """Draw pages of a PDF, or of a picture, into files `page-N` of `out`: {"page", "media_type",
    "width", "height"} for each.

    Raises FileError, InvalidInputError for a page that is not there.
    """
    from leaf.readers.documents.pdf import draw_pages
    from leaf.readers.media.picture import render
    from leaf.readers.packed import unpacked

    records = []
    with unpacked(Path(path)) as plain:
        drawn = (
            draw_pages(plain, pages, max_edge)
            if kind == "pdf"
            else (render(plain, page, max_edge) for page in pages)
        )
        for page, picture in zip(pages, drawn, strict=True):
            (Path(out) / f"page-{page}").write_bytes(picture.data)
            size = {"width": picture.width, "height": picture.height}
            records.append({"page": page, "media_type": picture.media_type, **size})
    return records


def marked_picture(path: str, page: int, quote: str, out: str) -> int:
    """Draw a page of a PDF with the quote marked into `page.jpg`; the number of marks. Raises
    FileError, InvalidInputError."""
    from leaf.readers.locate.pdf_marks import render_marked
    from leaf.readers.packed import unpacked

    with unpacked(Path(path)) as plain:
        drawn, marks = render_marked(plain, page, quote)
    (Path(out) / "page.jpg").write_bytes(drawn)
    return marks

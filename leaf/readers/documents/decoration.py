"""Small pictures in the text of mails: logos, signs, lines and pixels that count readers. They are
told, but become no files."""

from __future__ import annotations

from io import BytesIO

SMALL_AREA = 40_000
"""Pixels up to which a picture in a text is a sign and shows nothing to be looked at: 200 by
200."""
SMALL_EDGE = 48
"""Pixels of the shorter edge up to which it is a line, a banner or a button."""
SMALL_BYTES = 4_000
"""The same for pictures whose size is not known."""


def is_decoration(data: bytes, media_type: str) -> bool:
    """Whether a picture that stands in the text of a mail is too small to say anything."""
    if not media_type.lower().startswith("image/"):
        return False
    size = _size(data)
    if size is None:
        return len(data) <= SMALL_BYTES
    return size[0] * size[1] <= SMALL_AREA or min(size) <= SMALL_EDGE


def _size(data: bytes) -> tuple[int, int] | None:
    """Width and height as the picture's own head says; it is not decoded."""
    from PIL import Image

    try:
        with Image.open(BytesIO(data)) as image:
            width, height = image.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    return width, height

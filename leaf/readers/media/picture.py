"""Pictures: what can be said of one without its pixels, and its pixels made ready for a model or a
page.

What leaves here was drawn anew from pixels: turned as its camera was held, scaled down to what a
model can use, and without anything else that the file carried (place, time, owner, colour profile).
"""

from __future__ import annotations

import io
import math
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from leaf.errors import FileTooLargeError, InvalidInputError, UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, Where
from leaf.readers.locate.where import span
from leaf.readers.window import Extent

if TYPE_CHECKING:
    from PIL.Image import Image

PATCH = 28
"""Pixels of a side of the square that is a token to the model."""
MOST_TOKENS = 4_784
"""A larger picture would be scaled down by the model's side."""
MOST_EDGE = 2_000
"""Pixels. A model takes 2,576, but only 2,000 in a request of more than 20 pictures; and what was
sent once must never change."""
MOST_PIXELS = 100_000_000
"""Decoded at once, some 400 MB."""
MOST_PIXELS_JPEG = 1_000_000_000
"""A JPEG is decoded at an eighth of its size where it is large."""
MOST_PIXELS_PROGRESSIVE = 250_000_000
"""A progressive one is held whole meanwhile, at three bytes a pixel."""
MOST_FRAMES = 10_000
LARGEST_PNG = 700_000
"""Bytes up to which a drawing is kept without loss."""
QUALITY = 85
READ_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "TIFF", "HEIF", "AVIF")
MEDIA = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
}
MEDIA |= {"TIFF": "image/tiff", "HEIF": "image/heic", "AVIF": "image/avif"}
AGAIN = "Export or download it again, and add it again."
SMALLER = "Save a smaller copy (up to {most:,.0f} megapixels), or a JPEG, and add that."


@dataclass(frozen=True)
class Drawn:
    """A picture as a model or a page gets it."""

    data: bytes
    media_type: str
    """`image/jpeg`, or `image/png` for drawings and what is partly transparent."""
    width: int
    height: int


class PictureReader:
    """Has no text: what it gives for each page is a sentence that says how to see it."""

    def outline(self, path: Path) -> Outline:
        """Size, pages (of a TIFF) and estimated tokens. Decodes once, so that a broken picture is
        found when it is added."""
        with _opened(path) as image:
            width, height = _turned(image)
            pages, frames = _pages(image), _frames(image)
            media_type = MEDIA[str(image.format)]
            _scaled(image, fitted(*image.size, 64))
        tokens = tokens_of(*fitted(width, height))
        return Outline(
            "picture",
            media_type,
            pages=pages if pages > 1 else None,
            width=width,
            height=height,
            tokens=tokens * pages,
            notes=_animated(frames) if pages == 1 and frames > 1 else (),
        )

    def extent(self, path: Path, where: Where) -> Extent:
        """Number of pages; one for all but a TIFF."""
        with _opened(path) as image:
            return Extent(_pages(image))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        with _opened(path) as image:
            pages = _pages(image)
            last = pages if where.last is None else min(int(where.last), pages)
            for number in range(int(where.first), last + 1):
                image.seek(number - 1)
                width, height = _turned(image)
                yield Passage(
                    f"(a picture, {width}×{height} pixels; view_file shows it)", "page", number
                )


def render(
    path: Path, page: int = 1, max_edge: int = MOST_EDGE, max_tokens: int = MOST_TOKENS
) -> Drawn:
    """A picture, or a page of a TIFF, ready to be seen. Raises FileError, InvalidInputError for a
    page that is not there."""
    with _opened(path) as image:
        pages = _pages(image)
        if not 1 <= page <= pages:
            raise InvalidInputError(
                f"Page {page} is outside this picture.", f"It has {span('page', 1, pages)}."
            )
        if page > 1:
            image.seek(page - 1)
            _check_size(image)
        is_drawing = image.format in ("PNG", "GIF") or image.mode in ("1", "P")
        return encoded(
            _scaled(image, fitted(*image.size, max_edge, max_tokens)), keep_exact=is_drawing
        )


def encoded(image: Image, *, keep_exact: bool = False) -> Drawn:
    """As PNG where it is partly transparent or `keep_exact` and small that way, else as JPEG on
    white."""
    see_through = image.mode == "RGBA" and _extremes(image.getchannel("A"))[0] < 255
    if image.mode == "RGBA" and not see_through:
        image = image.convert("RGB")
    if keep_exact or see_through:
        data = _saved(image, "PNG", optimize=True)
        if len(data) <= LARGEST_PNG:
            return Drawn(data, "image/png", *image.size)
    return Drawn(
        _saved(_on_white(image), "JPEG", quality=QUALITY, optimize=True), "image/jpeg", *image.size
    )


def fitted(
    width: int, height: int, max_edge: int = MOST_EDGE, max_tokens: int = MOST_TOKENS
) -> tuple[int, int]:
    """The size to which a picture is scaled down: neither edge nor tokens above their limits, never
    enlarged."""
    scale = min(1.0, max_edge / max(width, height))
    scale = min(scale, math.sqrt(max_tokens * PATCH * PATCH / (width * height)))
    while True:
        size = max(1, round(width * scale)), max(1, round(height * scale))
        if tokens_of(*size) <= max_tokens:
            return size
        scale *= 0.99


def tokens_of(width: int, height: int) -> int:
    """Tokens of a picture of this size: one for each begun square of 28 pixels."""
    return math.ceil(width / PATCH) * math.ceil(height / PATCH)


@cache
def _register() -> None:
    """HEIC is not Pillow's own. Its own limits on size would come too late and only warn; ours are
    checked before decoding."""
    import pi_heif
    from PIL import Image

    Image.init()
    pi_heif.register_heif_opener(thumbnails=False)
    Image.MAX_IMAGE_PIXELS = None


@contextmanager
def _opened(path: Path) -> Iterator[Image]:
    """The picture, not decoded yet and of an agreeable size. Whatever a broken one makes its
    decoder throw is one sentence."""
    _register()
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=READ_FORMATS) as image:
                _check_size(image)
                yield image
    except Image.DecompressionBombError as e:
        raise FileTooLargeError(
            "The picture unpacks to more than Leaf takes.", SMALLER.format(most=MOST_PIXELS / 1e6)
        ) from e
    except (
        OSError,
        ValueError,
        SyntaxError,
        EOFError,
        KeyError,
        IndexError,
        TypeError,
        RuntimeError,
        struct.error,
    ) as e:
        if isinstance(e, OSError) and e.errno is not None:
            raise
        raise UnreadableFileError(
            "The picture is damaged, incomplete or of a variant that is not known.", AGAIN
        ) from e


def _check_size(image: Image) -> None:
    width, height = image.size
    if not width or not height:
        raise UnreadableFileError("The picture has no pixels.", AGAIN)
    most = MOST_PIXELS
    if image.format in ("JPEG", "MPO"):
        most = MOST_PIXELS_PROGRESSIVE if image.info.get("progressive") else MOST_PIXELS_JPEG
    if width * height > most:
        raise FileTooLargeError(
            f"The picture is {width:,}×{height:,} pixels, more than Leaf takes of this format.",
            SMALLER.format(most=most / 1e6),
        )


def _pages(image: Image) -> int:
    """Frames of a TIFF are pages; those of an animation are not."""
    return _frames(image) if image.format == "TIFF" else 1


def _frames(image: Image) -> int:
    return (
        min(int(getattr(image, "n_frames", 1)), MOST_FRAMES)
        if image.format in ("TIFF", "GIF", "WEBP", "PNG")
        else 1
    )


def _animated(frames: int) -> tuple[Note, ...]:
    return (
        Note("animation", f"An animation of {frames:,} pictures; only the first is seen.", frames),
    )


def _turned(image: Image) -> tuple[int, int]:
    """Width and height once it is turned as its camera was held."""
    width, height = image.size
    return (height, width) if _orientation(image) >= 5 else (width, height)


def _orientation(image: Image) -> int:
    try:
        orientation = image.getexif().get(0x0112, 1)
    except (
        OSError,
        ValueError,
        SyntaxError,
        KeyError,
        TypeError,
        struct.error,
    ):  # broken metadata; the pixels may be whole
        return 1
    return orientation if isinstance(orientation, int) and 1 <= orientation <= 8 else 1


def _scaled(image: Image, size: tuple[int, int]) -> Image:
    """The pixels as RGB or RGBA in that size, then turned the right way up. Of a large JPEG only a
    fraction is decoded."""
    from PIL.Image import Resampling, Transpose

    if image.format in ("JPEG", "MPO") and image.mode in ("RGB", "L", "YCbCr"):
        image.draft(image.mode, size)
    orientation = _orientation(image)
    image.load()
    plain = _plain(image)
    if plain.size != size:
        plain = plain.resize(size, Resampling.LANCZOS, reducing_gap=3.0)
    turns = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    return plain.transpose(turns[orientation]) if orientation in turns else plain


def _plain(image: Image) -> Image:
    """RGB, or RGBA where parts may be transparent. Sixteen bits a pixel are spread over what there
    is, or all would be white."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        grey = image.convert("F")
        low, high = _extremes(grey)
        scale = 255.0 / (high - low) if high > low else 1.0
        return grey.point(lambda value: value * scale - low * scale).convert("L").convert("RGB")
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        return image.convert("RGBA")
    return image if image.mode == "RGB" else image.convert("RGB")


def _extremes(band: Image) -> tuple[float, float]:
    """Least and greatest value of an image with one band."""
    low, high = cast(tuple[float, float], band.getextrema())
    return low, high


def _on_white(image: Image) -> Image:
    if image.mode != "RGBA":
        return image
    from PIL import Image as images

    white = images.new("RGB", image.size, "white")
    white.paste(image, mask=image.getchannel("A"))
    return white


def _saved(image: Image, format: str, **options: object) -> bytes:
    """Bytes without any of the metadata that the picture came with."""
    image.info = {}
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()

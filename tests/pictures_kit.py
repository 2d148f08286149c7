"""Pictures for tests, made in code. HEIC cannot be written without an encoder, so one stands here
as it is."""

from __future__ import annotations

import base64
import io
from typing import Any

from PIL import Image, ImageDraw

RED, BLUE = (200, 30, 30), (20, 20, 220)

_HEIC_HEAD = "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAA"
_HEIC = """
X1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJpbG9jAAAAAERAAAEAAQAAAAABoQABAAAAAAAAADgAAAAjaWluZgAAAAAAAQAAABVp
bmZlAgAAAAABAABodmMxAAAAAA5waXRtAAAAAAABAAAA/WlwcnAAAADdaXBjbwAAAHZodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAA
AAMAAAMAHroCQGEAAQAqQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbq5Ka5uAhoMCAAAAMDIAAAAwAhYgABAAZEAcFzwIkAAAATY29scm5jbHgAAQANAAaAAAAAFGlzcGUA
AAAAAAAAQAAAAEAAAAAoY2xhcAAAAEAAAAABAAAAMAAAAAEAAAAAAAAAAv////AAAAACAAAAEHBpeGkAAAAAAwgICAAAABhpcG1hAAAAAAAAAAEAAQWBAgMFhAAAAEBt
ZGF0AAAANCgBrxmAFA4pJpv/qNH3SKOzT/k4GBRCn3p+QGNZc99NInQhyRK/uuUPGC7YmdxgkL3k0yc=
"""
HEIC = base64.b64decode(_HEIC_HEAD + "".join(_HEIC.split()))
"""64 × 48, red with a blue quarter at the top left."""


def flag(width: int = 64, height: int = 48, mode: str = "RGB") -> Image.Image:
    """Red with a blue quarter at the top left, so that one sees how it is turned."""
    image = Image.new("RGB", (width, height), RED)
    ImageDraw.Draw(image).rectangle((0, 0, width // 2 - 1, height // 2 - 1), fill=BLUE)
    return image.convert(mode)


def saved(image: Image.Image, format: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def png(width: int = 64, height: int = 48) -> bytes:
    return saved(flag(width, height), "PNG")


def photo(width: int = 640, height: int = 480, *, orientation: int = 1, **options: Any) -> bytes:
    """A JPEG with the place where it was taken."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "SecretCamera"
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 12.0, 30.0), 3: "E", 4: (16.0, 22.0, 10.0)})
    return saved(flag(width, height), "JPEG", exif=exif, quality=90, **options)


def pages(count: int) -> bytes:
    """A TIFF of several pages, each a little wider than the one before."""
    images = [flag(60 + 10 * i, 48) for i in range(count)]
    return saved(images[0], "TIFF", save_all=True, append_images=images[1:])


def animation(frames: int = 3) -> bytes:
    images = [Image.new("RGB", (40, 30), (80 * i, 0, 0)) for i in range(frames)]
    return saved(images[0], "GIF", save_all=True, append_images=images[1:], duration=100)


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def is_like(image: Image.Image, at: tuple[int, int], colour: tuple[int, int, int]) -> bool:
    """Whether the pixel there is nearly of that colour."""
    found = image.convert("RGB").getpixel(at)
    assert isinstance(found, tuple)
    return all(abs(a - b) < 40 for a, b in zip(found, colour, strict=True))

"""Pictures: what is said of them, and what a model and a page get to see."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image

from bench._pdfs import pdf, show
from leaf.errors import FileTooLargeError, InvalidInputError, LeafError, UnreadableFileError
from leaf.readers import worker
from leaf.readers.media.picture import MOST_EDGE, MOST_TOKENS, fitted, render, tokens_of
from tests import pictures_kit as kit
from tests.pictures_kit import BLUE, RED, is_like, opened


def saved(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def header(width: int, height: int) -> bytes:
    """A PNG that says to be so large, and holds next to nothing."""
    ihdr = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"IDAT" + zlib.compress(b"\x00" * 10)
    chunks = (
        struct.pack(">I", len(c) - 4) + c + struct.pack(">I", zlib.crc32(c))
        for c in (ihdr, data, b"IEND")
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


FORMATS = {
    "a.png": (kit.png(), "image/png"),
    "a.jpg": (kit.photo(64, 48), "image/jpeg"),
    "a.webp": (kit.saved(kit.flag(), "WEBP", lossless=True), "image/webp"),
    "a.gif": (kit.saved(kit.flag(), "GIF"), "image/gif"),
    "a.tif": (kit.saved(kit.flag(), "TIFF"), "image/tiff"),
    "a.heic": (kit.HEIC, "image/heic"),
    "a.avif": (kit.saved(kit.flag(), "AVIF"), "image/avif"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_picture_is_known_by_content_measured_and_seen(tmp_path: Path, name: str) -> None:
    data, media_type = FORMATS[name]
    path = saved(tmp_path, name, data)
    found = worker.inspect(str(path), "report.csv")
    assert (found["kind"], found["media_type"]) == ("picture", media_type)
    outline = found["outline"]
    assert (outline["width"], outline["height"], outline["pages"], outline["tokens"]) == (
        64,
        48,
        None,
        6,
    )
    drawn = render(path)
    image = opened(drawn.data)
    assert image.size == (drawn.width, drawn.height) == (64, 48)
    assert drawn.media_type == Image.MIME[str(image.format)]
    assert is_like(image, (5, 5), BLUE)
    assert is_like(image, (60, 40), RED)


def test_the_text_of_a_picture_is_how_to_see_it(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.jpg", kit.photo(640, 480, orientation=6))
    window = worker.read(str(path), "picture")
    assert "(a picture, 480×640 pixels; view_file shows it)" in window["text"]
    worker.extract(str(path), "picture", str(tmp_path))
    assert (tmp_path / "passages.jsonl").read_text() == ""


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photo_is_turned_as_the_camera_was_held(tmp_path: Path, orientation: int) -> None:
    blue = {1: (0, 0), 2: (1, 0), 3: (1, 1), 4: (0, 1), 5: (0, 0), 6: (1, 0), 7: (1, 1), 8: (0, 1)}[
        orientation
    ]
    path = saved(tmp_path, "a.jpg", kit.photo(600, 300, orientation=orientation))
    outline = worker.inspect(str(path), "a.jpg")["outline"]
    image = opened(render(path).data)
    assert (
        image.size
        == (outline["width"], outline["height"])
        == ((600, 300) if orientation < 5 else (300, 600))
    )
    corner = tuple(
        20 if side == 0 else length - 20 for side, length in zip(blue, image.size, strict=True)
    )
    assert is_like(image, (corner[0], corner[1]), BLUE)
    assert is_like(image, (image.width - corner[0], image.height - corner[1]), RED)


@pytest.mark.parametrize("format", ["JPEG", "WEBP", "TIFF", "PNG"])
def test_nothing_but_pixels_leaves(tmp_path: Path, format: str) -> None:
    exif = opened(kit.photo()).getexif()
    path = saved(
        tmp_path, "a", kit.saved(kit.flag(), format, exif=exif, icc_profile=b"SecretProfile" * 20)
    )
    assert b"SecretCamera" in path.read_bytes()
    drawn = render(path)
    image = opened(drawn.data)
    assert not image.getexif()
    assert b"Secret" not in drawn.data
    assert not {"exif", "icc_profile", "xmp", "comment"} & set(image.info)


@pytest.mark.parametrize(
    "size",
    [(4032, 3024), (20000, 100), (3000, 3000), (2000, 2000), (100, 60_000), (27, 29), (1, 1)],
)
def test_a_picture_is_scaled_to_what_a_model_uses(size: tuple[int, int]) -> None:
    width, height = fitted(*size)
    assert max(width, height) <= MOST_EDGE
    assert tokens_of(width, height) <= MOST_TOKENS
    assert width <= size[0]
    assert height <= size[1]
    assert (
        width == height
        or abs(width / height - size[0] / size[1]) < 0.02 * size[0] / size[1]
        or min(width, height) < 30
    )


def test_a_picture_of_twenty_thousand_pixels_a_side(tmp_path: Path) -> None:
    """A JPEG is decoded at an eighth; what cannot be is refused by its size, before anything is
    decoded."""
    whole = Image.new("L", (20_000, 20_000), 200)
    path = saved(tmp_path, "a.jpg", kit.saved(whole, "JPEG", quality=20))
    assert worker.inspect(str(path), "a.jpg")["outline"]["width"] == 20_000
    assert max(opened(render(path).data).size) <= MOST_EDGE
    path = saved(tmp_path, "a.png", header(20_000, 20_000))
    with pytest.raises(FileTooLargeError, match="20,000×20,000") as error:
        worker.inspect(str(path), "a.png")
    assert "JPEG" in error.value.hint


BROKEN = {
    "truncated.png": kit.saved(kit.flag(400, 300), "PNG")[:300],
    "truncated.jpg": kit.photo(2000, 1500)[:9_000],
    "truncated.gif": kit.saved(kit.flag(400, 300), "GIF")[:200],
    "truncated.webp": kit.saved(Image.effect_noise((400, 300), 90), "WEBP")[:3_000],
    "truncated.tif": kit.saved(kit.flag(400, 300), "TIFF")[:200],
    "corrupt.heic": kit.HEIC[:100] + b"\xff" * 60 + kit.HEIC[160:],
    "corrupt-pixels.heic": kit.HEIC[:421] + b"\xff" * 4 + kit.HEIC[425:],
    "truncated.heic": kit.HEIC[:200],
    "only-a-head.png": b"\x89PNG\r\n\x1a\n",
    "too-little.png": header(400, 300),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_picture_is_one_sentence(tmp_path: Path, name: str) -> None:
    path = saved(tmp_path, name, BROKEN[name])
    with pytest.raises(UnreadableFileError) as error:
        worker.inspect(str(path), name)
    assert error.value.message.count(".") - name.count(".") <= 2
    assert error.value.hint


def test_an_empty_picture_and_a_raw_one_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="is empty"):
        worker.inspect(str(saved(tmp_path, "a.png", b"")), "a.png")
    with pytest.raises(LeafError, match="raw picture") as error:
        worker.inspect(str(saved(tmp_path, "a.dng", kit.pages(1))), "a.dng")
    assert "JPEG" in error.value.hint


def test_of_an_animation_the_first_picture_is_seen_and_that_is_said(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.gif", kit.animation(5))
    outline = worker.inspect(str(path), "a.gif")["outline"]
    assert outline["notes"][0]["text"] == "An animation of 5 pictures; only the first is seen."
    assert is_like(opened(render(path).data), (10, 10), (0, 0, 0))


def test_a_tiff_has_pages(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.tif", kit.pages(3))
    assert worker.inspect(str(path), "a.tif")["outline"]["pages"] == 3
    assert [render(path, page).width for page in (1, 2, 3)] == [60, 70, 80]
    window = worker.read(str(path), "picture", "pages 2-3")
    assert (window["coverage"], "70×48" in window["text"]) == ("pages 2-3 of 3", True)
    with pytest.raises(InvalidInputError, match="Page 4") as error:
        render(path, 4)
    assert "pages 1-3" in error.value.hint


def test_transparency_stays_in_a_drawing_and_becomes_white_in_a_photo(tmp_path: Path) -> None:
    seen_through = kit.flag(mode="RGBA")
    seen_through.putpixel((60, 40), (0, 0, 0, 0))
    drawn = render(saved(tmp_path, "a.png", kit.saved(seen_through, "PNG")))
    assert drawn.media_type == "image/png"
    assert opened(drawn.data).convert("RGBA").getpixel((60, 40)) == (0, 0, 0, 0)
    noise = Image.effect_noise((1500, 1500), 200).convert("RGBA")
    noise.putalpha(Image.new("L", noise.size, 0))
    drawn = render(saved(tmp_path, "b.png", kit.saved(noise, "PNG")))
    assert drawn.media_type == "image/jpeg"
    assert is_like(opened(drawn.data), (700, 700), (255, 255, 255))


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "CMYK", "I;16"])
def test_every_kind_of_pixel_can_be_seen(tmp_path: Path, mode: str) -> None:
    if mode == "I;16":
        image = Image.new("I;16", (40, 30), 1000)
        image.putpixel((0, 0), 3000)
    else:
        image = kit.flag(mode=mode)
    path = saved(tmp_path, "a", kit.saved(image, "TIFF" if mode in ("CMYK", "I;16") else "PNG"))
    found = opened(render(path).data).convert("L").getextrema()
    assert found[0] < found[1]


def test_pages_without_text_say_how_to_see_them(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.pdf", pdf([show(60, 700, "text"), "", "", show(60, 700, "more")]))
    notes = [note["text"] for note in worker.read(str(path), "pdf")["notes"]]
    assert notes == ["No text on pages 2-3: scanned. view_file shows them."]
    assert worker.read(str(path), "pdf", "page 1")["notes"] == ()
    assert worker.inspect(str(path), "a.pdf")["outline"]["tokens"] > 4_800

"""Pages of a PDF that are pictures: with no text, and with the few words of a stamp."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from leaf.readers.base import FEW_WORDS, NO_TEXT, Where
from leaf.readers.documents.pdf import PdfReader
from leaf.readers.worker import extract, inspect, read

WIDTH, HEIGHT = 595.0, 842.0


def scan(sheet: Canvas, left: float, bottom: float, width: float, height: float) -> None:
    data = io.BytesIO()
    Image.new("L", (300, 420), 200).save(data, "PNG")
    sheet.drawImage(ImageReader(data), left, bottom, width, height)


def whole(sheet: Canvas) -> None:
    scan(sheet, 10, 10, WIDTH - 20, HEIGHT - 20)


def in_strips(sheet: Canvas) -> None:
    for number in range(10):
        scan(sheet, 0, number * HEIGHT / 10, WIDTH, HEIGHT / 10)


def wrapped(sheet: Canvas) -> None:
    name = f"page{sheet.getPageNumber()}"
    sheet.beginForm(name)
    whole(sheet)
    sheet.endForm()
    sheet.doForm(name)


def figure(sheet: Canvas) -> None:
    scan(sheet, 100, 400, 300, 300)


def drawn(path: Path, *pages: tuple[Callable[[Canvas], None], list[str]]) -> Path:
    sheet = Canvas(str(path), pagesize=(WIDTH, HEIGHT))
    for picture, lines in pages:
        picture(sheet)
        for number, line in enumerate(lines):
            sheet.drawString(60, 700 - 14 * number, line)
        sheet.showPage()
    sheet.save()
    return path


@pytest.mark.parametrize("picture", [whole, in_strips, wrapped])
def test_a_scan_with_a_stamp_says_that_only_the_stamp_is_read(
    tmp_path: Path, picture: Callable[[Canvas], None]
) -> None:
    path = drawn(tmp_path / "a.pdf", (picture, ["ABC-000123"]), (picture, []), (figure, ["Figure"]))
    texts = [passage.text for passage in PdfReader().passages(path, Where())]
    assert texts == [f"{FEW_WORDS}\nABC-000123", NO_TEXT, "Figure"]
    notes = inspect(str(path), "a.pdf")["outline"]["notes"]
    assert [(n["kind"], n["count"], n["place"]) for n in notes] == [
        ("no-text-layer", 1, "page 2"),
        ("few-words", 1, "page 1"),
    ]
    (_, few) = read(str(path), "pdf")["notes"]
    assert (few["kind"], few["place"]) == ("few-words", "page 1")
    assert few["text"].startswith("Only a few words on page 1: scanned.")


def test_a_page_with_a_text_over_its_background_is_a_page_of_text(tmp_path: Path) -> None:
    lines = [f"line {number} of a letter on headed paper" for number in range(20)]
    path = drawn(tmp_path / "a.pdf", (whole, lines))
    assert not inspect(str(path), "a.pdf")["outline"]["notes"]
    (passage,) = PdfReader().passages(path, Where())
    assert passage.text.split("\n") == lines


def test_pages_without_text_count_as_no_pages_that_were_read(tmp_path: Path) -> None:
    path = drawn(tmp_path / "a.pdf", (whole, []), (figure, ["Figure"]), (whole, []))
    window = read(str(path), "pdf")
    assert (window["ranges"], window["read"], window["total"]) == (((1, 3),), ((2, 2),), 3)
    assert read(str(path), "pdf", "page 3")["read"] == ()


def test_a_search_says_which_pages_it_could_not_look_at(tmp_path: Path) -> None:
    path = drawn(tmp_path / "a.pdf", (whole, []), (whole, ["ABC-000123"]), (figure, ["Figure"]))
    said = extract(str(path), "pdf", str(tmp_path))
    texts = [json.loads(line)["text"] for line in (tmp_path / "passages.jsonl").open()]
    assert [text.strip() for text in texts] == ["ABC-000123", "Figure"]
    assert [(note["count"], note["text"]) for note in said["notes"]] == [
        (2, "What 2 of its pages show was not searched: they are scanned or damaged.")
    ]
    one = drawn(tmp_path / "b.pdf", (whole, []))
    (note,) = extract(str(one), "pdf", str(tmp_path))["notes"]
    assert note["text"].startswith("What one of its pages shows was not searched")

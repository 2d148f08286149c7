"""What made files hold, and what makers of several formats need."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

HEADER = ["region", "day", "units", "revenue", "note"]
ROWS: list[list[str | float]] = [
    ["North", "2025-01-31", 12, 100.5, "first"],
    ["Süd", "2025-02-28", 7, 250.25, "a, b"],
    ["East", "2025-03-31", 0, -3, ""],
    ["West", "2025-04-30", 1204, 99.5, 'the "last"'],
    ["Total", "", 1223, 447.25, ""],
]
LINES: list[list[str | float]] = [[*HEADER], *ROWS]
PROSE = (
    "The revenue of the north grew in the first quarter.",
    "Ann sends the report by Friday, and Bob reads it.",
    "Größe, façade, 価格 and Цена stand here as well.",
)
DATE = (1980, 1, 1, 0, 0, 0)
_URN = "urn:oasis:names:tc:opendocument:xmlns"
_OFFICE = " ".join(
    f'xmlns:{name}="{_URN}:{name}:1.0"'
    for name in ("office", "table", "text", "presentation")
) + f' xmlns:draw="{_URN}:drawing:1.0"'  # fmt: skip


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP file without dates."""
    out = io.BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(ZipInfo(name, DATE), content, ZIP_DEFLATED)
    return out.getvalue()


def written(name: str, write: Callable[[Path], object]) -> bytes:
    """What a library writes into a file."""
    with tempfile.TemporaryDirectory(prefix="leaf-seed-") as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


def rezipped(data: bytes) -> bytes:
    """A file of Office without the time at which it was saved."""
    with ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts = {
        name: re.sub(rb"20\d\d-\d\d-\d\dT[\d:.]+", b"2025-01-01T00:00:00", content)
        for name, content in parts.items()
    }
    return zipped(parts)


def ods_cell(cell: str | float) -> str:
    typed = (
        'office:value-type="string"'
        if isinstance(cell, str)
        else f'office:value-type="float" office:value="{cell}"'
    )
    return f"<table:table-cell {typed}><text:p>{cell}</text:p></table:table-cell>"


def open_document(kind: str, body: str) -> bytes:
    whole = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {_OFFICE}>{whole}</office:document-content>",
            "META-INF/manifest.xml": "<manifest/>",
        }
    )

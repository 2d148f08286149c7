"""Workbooks written part by part, with what no library here writes."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text")
)


def ods(path: Path, sheet: str) -> Path:
    """An ODS of one sheet S, of which these are the columns and rows in XML."""
    with ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content {SPACES}><office:body><office:spreadsheet>"
            f'<table:table table:name="S">{sheet}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path

"""What kind of file an OLE compound file is, by the names of its streams (MS-CFB): a workbook or
mail that is read, or a document of Office 97-2003, which is named and refused."""

from __future__ import annotations

import struct
from pathlib import Path

from leaf.readers.tabular.biff import is_protected
from leaf.readers.unread import damaged, encrypted, unsupported

XLS = "application/vnd.ms-excel"


def compound_kind(path: Path, name: str) -> tuple[str, str]:
    """Kind and media type. Raises UnreadableFileError or EncryptedFileError."""
    names = _stream_names(path)
    if "EncryptedPackage" in names:
        raise encrypted(name, "Office document")
    if names & {"Workbook", "Book", "WORKBOOK", "BOOK"}:
        if is_protected(path):
            raise encrypted(name, "workbook")
        return "excel", XLS
    if "WordDocument" in names:
        raise unsupported(name, "a Word 97-2003 document (.doc)")
    if "PowerPoint Document" in names:
        raise unsupported(name, "a PowerPoint 97-2003 presentation (.ppt)")
    if "VisioDocument" in names:
        raise unsupported(name, "a Visio drawing")
    if any(n.startswith(("__substg1.0", "__properties_version")) for n in names):
        return "msg", "application/vnd.ms-outlook"
    if not names:
        raise damaged(name, "Office 97-2003 document")
    raise unsupported(name, "an OLE compound file")


def _stream_names(path: Path) -> set[str]:
    """Names in the directory of a compound file (MS-CFB); read by its sector chain, at most 4,000
    sectors."""
    names: set[str] = set()
    with path.open("rb") as file:
        header = file.read(512)
        if len(header) < 512:
            return names
        shift = struct.unpack_from("<H", header, 30)[0]
        if shift not in (9, 12):
            return names
        size = 1 << shift
        table = struct.unpack_from("<109I", header, 76)
        sector = struct.unpack_from("<I", header, 48)[0]
        for _ in range(4000):
            if sector >= 0xFFFFFFFA:
                break
            file.seek((sector + 1) * size)
            block = file.read(size)
            names.update(_entry_names(block))
            which, at = divmod(sector, size // 4)
            if which >= len(table) or table[which] >= 0xFFFFFFFA:
                break
            file.seek((table[which] + 1) * size + at * 4)
            following = file.read(4)
            sector = struct.unpack("<I", following)[0] if len(following) == 4 else 0xFFFFFFFE
    return names


def _entry_names(block: bytes) -> set[str]:
    names = set()
    for at in range(0, len(block) - 127, 128):
        length = struct.unpack_from("<H", block, at + 64)[0]
        if 2 < length <= 64:
            names.add(block[at : at + length - 2].decode("utf-16-le", "replace"))
    return names

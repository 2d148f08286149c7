"""SpreadsheetML 2003: a workbook as one XML file, which Excel and report writers save as `.xml` or
`.xls`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.tabular.cells import column_letter
from leaf.readers.tabular.grid import Merge

if TYPE_CHECKING:
    from lxml.etree import _Element

NAMESPACE = b"urn:schemas-microsoft-com:office:spreadsheet"
_SS = "{" + NAMESPACE.decode() + "}"
_MOST_CELLS = 20_000_000


@dataclass
class XmlSheet:
    """A sheet's cells, as calamine gives those of other workbooks."""

    name: str
    hidden: bool = False
    rows: list[list[Any]] = field(default_factory=list)
    merges: list[Merge] = field(default_factory=list)
    errors: list[tuple[str, str]] = field(default_factory=list)
    """Address and error: `("B7", "#REF!")`; such cells are empty."""


def is_spreadsheetml(head: bytes) -> bool:
    """Whether a file begins as such a workbook."""
    start = head[:8_192]
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        start = start.decode("utf-16", "replace").encode("utf-8", "replace")
    return (
        start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
        and NAMESPACE in start
        and b"Workbook" in start
    )


def read_sheets(path: Path) -> list[XmlSheet]:
    """All sheets. Raises UnreadableFileError, FileTooLargeError."""
    from lxml import etree

    sheets: list[XmlSheet] = []
    cells = 0
    options = {"resolve_entities": False, "no_network": True, "huge_tree": True, "recover": False}
    try:
        for event, element in etree.iterparse(str(path), events=("start", "end"), **options):
            tag = str(element.tag)
            if event == "start" and tag == _SS + "Worksheet":
                sheets.append(XmlSheet(element.get(_SS + "Name") or f"Sheet{len(sheets) + 1}"))
            elif event == "end" and tag == _SS + "Row" and sheets:
                cells += _add_row(sheets[-1], element, _MOST_CELLS - cells)
                element.clear()
            elif event == "end" and tag.endswith("}Visible") and sheets:
                sheets[-1].hidden = element.text in ("SheetHidden", "SheetVeryHidden")
    except (etree.XMLSyntaxError, OSError, ValueError) as e:
        hint = "Open it in a spreadsheet program and save it as .xlsx."
        raise UnreadableFileError("This file is no whole XML workbook.", hint) from e
    return sheets


def _add_row(sheet: XmlSheet, element: _Element, room: int) -> int:
    """Cells that the row takes, gaps before it among them."""
    number = int(element.get(_SS + "Index") or len(sheet.rows) + 1)
    gap = number - 1 - len(sheet.rows)
    if gap < 0:
        raise ValueError("rows out of order")
    cells: list[Any] = []
    for cell in element.iterfind(_SS + "Cell"):
        at = int(cell.get(_SS + "Index") or len(cells) + 1) - 1
        across, down = (
            int(cell.get(_SS + "MergeAcross") or 0),
            int(cell.get(_SS + "MergeDown") or 0),
        )
        if at < len(cells) or at + across + gap >= room:
            _refuse(at < len(cells))
        if across or down:
            sheet.merges.append(((number - 1, at), (number - 1 + down, at + across)))
        value = _value(cell.find(_SS + "Data"))
        if isinstance(value, _Error):
            sheet.errors.append((f"{column_letter(at)}{number}", value.text))
            value = ""
        cells += [""] * (at - len(cells)) + [value] + [""] * across
    sheet.rows += [[] for _ in range(gap)]
    sheet.rows.append(cells)
    return len(cells) + gap + 1


def _refuse(order: bool) -> None:
    if order:
        raise ValueError("cells out of order")
    raise FileTooLargeError(
        f"The workbook has more than {_MOST_CELLS:,} cells.",
        "Delete the far cells, or save the data as CSV.",
    )


@dataclass(frozen=True)
class _Error:
    text: str


def _value(data: _Element | None) -> Any:
    if data is None:
        return ""
    text = "".join(str(part) for part in data.itertext())
    kind = data.get(_SS + "Type") or "String"
    if kind == "Number":
        number = float(text)
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if kind == "DateTime":
        moment = datetime.fromisoformat(text)
        return moment.time() if moment.year < 1900 and moment.time() != time() else moment
    if kind == "Boolean":
        return text.strip() == "1"
    return _Error(text) if kind == "Error" else text

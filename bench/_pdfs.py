"""Small PDFs with known text, written byte by byte, so that what was drawn, in which order and
where, is certain."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH, HEIGHT = 595, 842
LIGATURES = {"ﬀ": "\x01", "ﬁ": "\x02", "ﬂ": "\x03", "ﬃ": "\x04", "ﬄ": "\x05"}
FONT = (
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Type /Encoding "
    "/BaseEncoding /WinAnsiEncoding "
    "/Differences [1 /ff /fi /fl /ffi /ffl] >> >>"
)


def show(x: float, y: float, text: str, size: int = 11) -> str:
    """Drawing of one piece of text; the characters of `LIGATURES` are drawn as single glyphs."""
    for ligature, code in LIGATURES.items():
        text = text.replace(ligature, code)
    return f"BT /F1 {size} Tf {x} {y} Td ({escaped(text)}) Tj ET\n"


def escaped(text: str) -> str:
    """A text between the parentheses of a PDF string."""
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def column(x: float, lines: Sequence[str], top: float = 790, leading: float = 14) -> str:
    """Lines one below the other."""
    return "".join(show(x, top - leading * i, line) for i, line in enumerate(lines))


def table(
    rows: Sequence[Sequence[str]], *, by_columns: bool, top: float = 700, wide: float = 110
) -> str:
    """A table, drawn row by row or column by column."""
    cells = [(i, j) for i in range(len(rows)) for j in range(len(rows[0]))]
    if by_columns:
        cells.sort(key=lambda cell: (cell[1], cell[0]))
    return "".join(show(60 + wide * j, top - 16 * i, rows[i][j]) for i, j in cells)


def text_field(name: str, value: str, y: float) -> str:
    """A form field with a value and no text of its own on the page."""
    return (
        f"<< /Type /Annot /Subtype /Widget /FT /Tx /T ({escaped(name)}) /V ({escaped(value)}) "
        f"/Rect [60 {y} 300 {y + 18}] /F 4 >>"
    )


def check_box(name: str, state: str, y: float) -> str:
    return (
        f"<< /Type /Annot /Subtype /Widget /FT /Btn /T ({name}) /V /{state} /AS /{state} "
        f"/Rect [60 {y} 78 {y + 18}] /F 4 >>"
    )


def free_text(words: str, y: float) -> str:
    """An annotation whose words stand in no page content."""
    return (
        f"<< /Type /Annot /Subtype /FreeText /Contents ({escaped(words)}) /DA (/Helv 11 Tf) "
        f"/Rect [60 {y} 400 {y + 30}] /F 4 >>"
    )


def pdf(pages: Sequence[str], annotations: Sequence[Sequence[str]] = (), title: str = "") -> bytes:
    """A PDF of pages given as drawing operators, each with its annotations and form fields."""
    objects: list[str] = ["", "", FONT, f"<< /Title ({escaped(title)}) >>"]
    kids: list[str] = []
    fields: list[str] = []
    for index, content in enumerate(pages):
        references = []
        for annotation in annotations[index] if index < len(annotations) else ():
            objects.append(annotation)
            references.append(f"{len(objects)} 0 R")
            if "/Widget" in annotation:
                fields.append(references[-1])
        objects.append(
            f"<< /Length {len(content.encode('cp1252'))} >>\nstream\n{content}\nendstream"
        )
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Resources << /Font "
            f"<< /F1 3 0 R >> >> "
            f"/Contents {len(objects)} 0 R /Annots [{' '.join(references)}] >>"
        )
        kids.append(f"{len(objects)} 0 R")
    form = f" /AcroForm << /Fields [{' '.join(fields)}] >>" if fields else ""
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R{form} >>"
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    return _written(objects)


def _written(objects: Sequence[str]) -> bytes:
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    out += (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R "
        f">>\nstartxref\n{start}\n%%EOF\n".encode()
    )
    return bytes(out)

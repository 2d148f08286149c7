"""Markdown to DOCX, by python-docx. Runs in the confined child."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from leaf.documents.markdown import Block, Runs, left_out, parse

WIDEST, HIGHEST = 15.5, 19.0
"""Of a picture, in centimetres."""
DEEPEST = 3
"""Levels of lists that Word's own styles have."""
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write(text: str, title: str, target: Path, pictures: Sequence[Path] = ()) -> list[str]:
    """A document with Word's own styles for headings, lists and quotes. Nothing of it is lost but
    pictures that are not given, and what is said in the sentences that this returns."""
    from docx import Document

    document = Document()
    document.core_properties.title = _UNWRITABLE.sub("", title)[:255]
    document.core_properties.author = "Leaf"
    document.core_properties.comments = ""
    blocks = parse(text, len(pictures))
    _DocxWriter(document, pictures).blocks(document, blocks, 0)
    document.save(str(target))
    return left_out(blocks)


class _DocxWriter:
    def __init__(self, document: Any, pictures: Sequence[Path]) -> None:
        self._document = document
        self._pictures = pictures

    def blocks(
        self, holder: Any, blocks: list[Block] | tuple[Block, ...], depth: int, style: str = ""
    ) -> None:
        for block in blocks:
            self._block(holder, block, depth, style)

    def _block(self, holder: Any, block: Block, depth: int, style: str) -> None:
        if block.kind == "heading":
            self._runs(self._document.add_heading(level=min(block.level, 9)), block.runs)
        elif block.kind == "paragraph":
            self._runs(self._document.add_paragraph(style=style or None), block.runs)
        elif block.kind == "code":
            self._code(block.text)
        elif block.kind == "quote":
            self.blocks(holder, block.items[0], depth, "Intense Quote" if depth else "Quote")
        elif block.kind == "list":
            self._list(block, depth)
        elif block.kind == "table":
            self._table(block)
        elif block.kind == "picture":
            self._picture(block)
        else:
            self._document.add_paragraph("⁂").alignment = 1

    def _picture(self, block: Block) -> None:
        from docx.shared import Cm

        drawn = self._document.add_picture(str(self._pictures[block.level]))
        factor = min(1.0, Cm(WIDEST) / drawn.width, Cm(HIGHEST) / drawn.height)
        drawn.width, drawn.height = int(drawn.width * factor), int(drawn.height * factor)
        described = self._document.element.body.xpath(".//wp:docPr")[-1]
        described.set("descr", _UNWRITABLE.sub("", block.text))

    def _list(self, block: Block, depth: int) -> None:
        name = "List Number" if block.ordered else "List Bullet"
        style = name if depth == 0 else f"{name} {min(depth + 1, DEEPEST)}"
        restart = self._restarted(style, block.start) if block.ordered else None
        for item in block.items:
            first, rest = (
                (item[0], item[1:]) if item and item[0].kind == "paragraph" else (None, item)
            )
            paragraph = self._document.add_paragraph(style=style)
            if restart is not None:
                self._number(paragraph, restart)
            if first is not None:
                self._runs(paragraph, first.runs)
            self.blocks(
                self._document,
                rest,
                depth + 1,
                f"List Continue{'' if depth == 0 else f' {min(depth + 1, DEEPEST)}'}",
            )

    def _restarted(self, style: str, start: int) -> int | None:
        """A numbering of its own for a list, which else would go on counting where the one before
        it ended."""
        from docx.oxml.ns import qn

        properties = self._document.styles[style].element.find(qn("w:pPr"))
        numbering = properties.find(qn("w:numPr")) if properties is not None else None
        if numbering is None:
            return None
        part = self._document.part.numbering_part.numbering_definitions._numbering
        abstract = part.num_having_numId(int(numbering.find(qn("w:numId")).val)).abstractNumId.val
        num = part.add_num(abstract)
        num.add_lvlOverride(ilvl=0).add_startOverride(max(0, min(start, 32_000)))
        return int(num.numId)

    def _number(self, paragraph: Any, number: int) -> None:
        properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
        properties.get_or_add_ilvl().val = 0
        properties.get_or_add_numId().val = number

    def _code(self, text: str) -> None:
        from docx.shared import Pt

        paragraph = self._document.add_paragraph(style="No Spacing")
        run = paragraph.add_run(_UNWRITABLE.sub("", text))
        run.font.name, run.font.size = "Consolas", Pt(9)
        self._document.add_paragraph()

    def _table(self, block: Block) -> None:
        width = max((len(row) for row in block.rows), default=0)
        if not width:
            return
        table = self._document.add_table(rows=len(block.rows), cols=width, style="Table Grid")
        alignment = {"left": 0, "center": 1, "right": 2}
        for number, (row, cells) in enumerate(zip(table.rows, block.rows, strict=True)):
            for i, (cell, runs) in enumerate(zip(row.cells, cells, strict=False)):
                paragraph = cell.paragraphs[0]
                self._runs(paragraph, runs, bold=number == 0)
                if i < len(block.align) and block.align[i] in alignment:
                    paragraph.alignment = alignment[block.align[i]]
        self._document.add_paragraph()

    def _runs(self, paragraph: Any, runs: Runs, bold: bool = False) -> None:
        for piece in runs:
            text = _UNWRITABLE.sub("", piece.text)
            run = (
                self._linked(paragraph, text, piece.link) if piece.link else paragraph.add_run(text)
            )
            run.bold = (piece.bold or bold) or None
            run.italic = piece.italic or None
            run.font.strike = piece.strike or None
            if piece.code:
                run.font.name = "Consolas"

    def _linked(self, paragraph: Any, text: str, address: str) -> Any:
        """A run inside a hyperlink, which python-docx can read but not write."""
        from docx.opc.constants import RELATIONSHIP_TYPE
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn
        from docx.shared import RGBColor

        link = OxmlElement("w:hyperlink")
        link.set(
            qn("r:id"),
            self._document.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True),
        )
        run = paragraph.add_run(text)
        run.font.underline = True
        run.font.color.rgb = RGBColor(0x1F, 0x6F, 0x4A)
        link.append(run._r)
        paragraph._p.append(link)
        return run

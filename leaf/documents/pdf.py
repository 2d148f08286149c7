"""Markdown to PDF, by reportlab with Fira Sans and IBM Plex Mono (Latin, Greek, Cyrillic). Runs in
the confined child.

Chinese, Japanese and Korean use the fonts that PDF readers bring along. Characters of other scripts
are replaced by a box, and the number of them is said: DOCX keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from leaf.documents.markdown import Block, Runs, StyledText, left_out, parse, plain
from leaf.errors import InvalidInputError

TEXT, MONO = "Leaf", "LeafMono"
MISSING = "▯"
CODE_LINE = 90
"""Characters of a line of code, which reportlab does not break."""
MOST_TEXT = 1_000_000
"""Characters of a PDF, some 300 pages; setting them takes half a minute."""
PARAGRAPH = 3_000
"""Characters of a paragraph; one that is longer is set as several, since the time to break its
lines grows with the square."""
HIGHEST = 190
"""Of a picture, in millimetres."""
CELL = 2_000
"""Characters of a table's cell: a cell cannot be parted by a page's end."""
NARROWEST = 11.5
"""Of a column, in points: a letter and what is free beside it."""
GREEN, INK, RULE, QUIET = "#1F6F4A", "#1D2420", "#C9CCC6", "#F2F1EC"
_EAST = (
    (re.compile("[\u3040-\u30ff]"), "HeiseiKakuGo-W5"),
    (re.compile("[\uac00-\ud7af\u1100-\u11ff]"), "HYGothic-Medium"),
    (re.compile("[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]"), "STSong-Light"),
)
_PICTOGRAMS = {
    "✓": "√",
    "✔": "√",
    "☐": "[ ]",
    "☑": "[x]",
    "☒": "[x]",
    "✗": "×",
    "✘": "×",
    "‑": "-",
    "‐": "-",
    "⇒": "→",
    # French parts thousands by the first; no line may end there.
    **dict.fromkeys("\u202f\u2009", "\u00a0"),
    **dict.fromkeys((*map(chr, range(0x2000, 0x2007)), "\u200a", "\u205f"), " "),
    **dict.fromkeys("\u2028\u2029", "\n"),
}
"""What the fonts lack -> what says the same."""
_UNSEEN = frozenset("\u00ad\u180e\ufe0e\ufe0f") | set(
    map(chr, (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A)))
)
"""Characters that draw nothing: where a word may be divided, which way it is written."""


def write(text: str, title: str, target: Path, pictures: Sequence[Path] = ()) -> list[str]:
    """A4 with the title in its head and numbered pages. Returns notes on what it could not show."""
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.units import mm
    from reportlab.platypus import SimpleDocTemplate

    if len(text) > MOST_TEXT:
        raise InvalidInputError(
            f"The document has {len(text):,} characters; a PDF is made of at most {MOST_TEXT:,}.",
            "Download it as Word or Markdown.",
        )
    blocks = parse(text, len(pictures))
    fonts = _Fonts(text)
    told = _Story(fonts, pictures)
    story = told.blocks(blocks, A4[0] - 44 * mm)
    head = fonts.markup(title, TEXT)

    def furnish(canvas: Any, page: Any) -> None:
        canvas.saveState()
        canvas.setFont(TEXT, 8)
        canvas.setFillColor("#6B716C")
        if page.page > 1:
            canvas.drawString(22 * mm, A4[1] - 13 * mm, fonts.known(title)[:110])
        canvas.drawRightString(A4[0] - 22 * mm, 11 * mm, str(page.page))
        canvas.restoreState()

    document = SimpleDocTemplate(
        str(target), pagesize=A4, leftMargin=22 * mm, rightMargin=22 * mm, topMargin=20 * mm, bottomMargin=20 * mm,
        title=title, author="Leaf", creator="Leaf", lang="",
    )  # fmt: skip
    document.build(
        story or [_Story(fonts).paragraph(head, "Normal")],
        onFirstPage=furnish,
        onLaterPages=furnish,
    )
    notes = left_out(blocks)
    if told.cut:
        cells = f"{told.cut:,} cells of tables are" if told.cut > 1 else "1 cell of a table is"
        notes.append(f"{cells} cut at {CELL:,} characters. The Word document keeps everything.")
    if fonts.missing:
        shown = "".join(sorted(fonts.missing)[:8])
        count = (
            f"{fonts.lost:,} characters ({shown}) are"
            if fonts.lost > 1
            else f"1 character ({shown}) is"
        )
        notes.append(
            f"{count} not in the PDF's fonts and shown as {MISSING}. The Word document keeps "
            f"everything."
        )
    if fonts.east:
        notes.append(
            "Chinese, Japanese and Korean are shown with the fonts of the PDF reader, where "
            "it has them."
        )
    return notes


@cache
def _register() -> tuple[frozenset[int], frozenset[int]]:
    """The two families, and the code points that each has."""
    import fontpkg_fira_sans
    import fontpkg_ibm_plex_mono
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    def family(name: str, folder: Path, stem: str) -> frozenset[int]:
        styles = ("Regular", "Bold", "Italic", "BoldItalic")
        names = [name, f"{name}-Bold", f"{name}-Italic", f"{name}-BoldItalic"]
        fonts = [
            TTFont(n, str(folder / f"{stem}-{style}.ttf"))
            for n, style in zip(names, styles, strict=True)
        ]
        for font in fonts:
            pdfmetrics.registerFont(font)
        pdfmetrics.registerFontFamily(name, *names)
        return frozenset.intersection(*(frozenset(font.face.charToGlyph) for font in fonts))

    return (
        family(TEXT, Path(fontpkg_fira_sans.ROOT) / "files", "FiraSans"),
        family(MONO, Path(fontpkg_ibm_plex_mono.ROOT) / "files", "IBMPlexMono"),
    )


class _Fonts:
    """Which font shows which character."""

    def __init__(self, text: str) -> None:
        self._text, self._mono = _register()
        self.east = self._eastern(text)
        self.missing: set[str] = set()
        self.lost = 0

    def _eastern(self, text: str) -> str:
        """The font for ideographs: Japanese where there is kana, Korean where there is hangul, else
        Chinese."""
        from reportlab.pdfbase import pdfmetrics
        from reportlab.pdfbase.cidfonts import UnicodeCIDFont

        for pattern, name in _EAST:
            if pattern.search(text):
                pdfmetrics.registerFont(UnicodeCIDFont(name))
                return name
        return ""

    def markup(self, text: str, font: str) -> str:
        """The text as reportlab's markup, each piece in a font that has it."""
        pieces: list[tuple[str, str]] = []
        for character in text:
            for c in _PICTOGRAMS.get(character, character):
                name, shown = self._choose(c, font)
                if pieces and pieces[-1][0] == name:
                    pieces[-1] = (name, pieces[-1][1] + shown)
                else:
                    pieces.append((name, shown))
        marked = (
            escape(t, quote=False)
            if n == font
            else f'<font name="{n}">{escape(t, quote=False)}</font>'
            for n, t in pieces
        )
        return "".join(marked).replace("\n", "<br/>")

    def known(self, text: str) -> str:
        """The text without what the text font lacks, for places that take one font only."""
        written = (c for character in text for c in _PICTOGRAMS.get(character, character))
        return "".join(c if ord(c) in self._text else "?" for c in written if c not in _UNSEEN)

    def _choose(self, c: str, font: str) -> tuple[str, str]:
        code = ord(c)
        if c in _UNSEEN:
            return font, ""
        if c in "\n\t" or code in (self._mono if font == MONO else self._text):
            return font, c
        if code in self._text:
            return TEXT, c
        if code in self._mono:
            return MONO, c
        if self.east and any(pattern.match(c) for pattern, _ in _EAST):
            return self.east, c
        self.missing.add(c)
        self.lost += 1
        return font, MISSING if ord(MISSING) in self._text else "?"


class _Story:
    """Blocks as reportlab's flowables."""

    def __init__(self, fonts: _Fonts, pictures: Sequence[Path] = ()) -> None:
        self._fonts = fonts
        self._pictures = pictures
        self._styles = _styles()
        self.cut = 0
        """Cells of tables that are not there whole."""

    def paragraph(self, markup: str, style: str) -> Any:
        from reportlab.platypus import Paragraph

        return Paragraph(markup or "&nbsp;", self._styles[style])

    def blocks(self, blocks: list[Block] | tuple[Block, ...], width: float) -> list[Any]:
        return [flowable for block in blocks for flowable in self._block(block, width)]

    def _block(self, block: Block, width: float) -> list[Any]:
        from reportlab.platypus import HRFlowable, Indenter, Spacer

        if block.kind == "heading":
            return [self.paragraph(self._runs(block.runs), f"H{min(block.level, 4)}")]
        if block.kind == "paragraph":
            return [self.paragraph(self._runs(piece), "Normal") for piece in parted(block.runs)]
        if block.kind == "code":
            return self._code(block.text)
        if block.kind == "quote":
            return [
                Indenter(left=12),
                *self.blocks(block.items[0], max(60, width - 12)),
                Indenter(left=-12),
            ]
        if block.kind == "list":
            return self._list(block, width)
        if block.kind == "table":
            return [self._table(block, width), Spacer(1, 8)] if block.rows else []
        if block.kind == "picture":
            return [self._picture(block, width), Spacer(1, 8)]
        return [HRFlowable(width="100%", thickness=0.6, color=RULE, spaceBefore=4, spaceAfter=8)]

    def _picture(self, block: Block, width: float) -> Any:
        from reportlab.lib.units import mm
        from reportlab.platypus import Image

        drawn = Image(str(self._pictures[block.level]), hAlign="LEFT")
        points = 0.375 * drawn.imageWidth  # charts have two dots for each of a screen's
        factor = min(points, width, HIGHEST * mm * drawn.imageWidth / drawn.imageHeight)
        drawn.drawWidth, drawn.drawHeight = (
            factor,
            factor * drawn.imageHeight / drawn.imageWidth,
        )
        return drawn

    def _code(self, text: str) -> list[Any]:
        from reportlab.platypus import XPreformatted

        lines = [
            line[i : i + CODE_LINE]
            for line in text.expandtabs(4).split("\n")
            for i in range(0, max(1, len(line)), CODE_LINE)
        ]
        marked = "\n".join(self._fonts.markup(line, MONO) for line in lines)
        return [XPreformatted(marked, self._styles["Code"])]

    def _list(self, block: Block, width: float) -> list[Any]:
        """Marks hang left of the items; drawn by paragraphs alone, so that an item may go over a
        page's end."""
        from reportlab.platypus import Indenter, Paragraph

        step = 16.0 if width > 120 else 0.0
        story: list[Any] = []
        for number, item in enumerate(block.items, block.start):
            mark = f"{number}." if block.ordered else "•"
            first, rest = (
                (item[0], item[1:]) if item and item[0].kind == "paragraph" else (None, item)
            )
            story.append(Indenter(left=step))
            head, *more = parted(first.runs) if first else [()]
            story.append(
                Paragraph(self._runs(head) or "&nbsp;", self._styles["Item"], bulletText=mark)
            )
            story += [self.paragraph(self._runs(piece), "Item") for piece in more]
            story += self.blocks(rest, width - step)
            story.append(Indenter(left=-step))
        return story

    def _table(self, block: Block, width: float) -> Any:
        from reportlab.platypus import Table

        columns = max(len(row) for row in block.rows)
        aligned = {i: a for i, a in enumerate(block.align) if a in ("center", "right")}

        def cell(runs: Runs, i: int, head: bool) -> Any:
            short = _shortened(runs, CELL)
            self.cut += short != runs
            markup = self._runs(short)
            style = "Cell" + {"center": "Center", "right": "Right"}.get(aligned.get(i, ""), "")
            return self.paragraph(f"<b>{markup}</b>" if head else markup, style)

        data = [
            [cell(row[i] if i < len(row) else (), i, number == 0) for i in range(columns)]
            for number, row in enumerate(block.rows)
        ]
        style = [
            ("LINEBELOW", (0, 0), (-1, -1), 0.4, RULE),
            ("LINEBELOW", (0, 0), (-1, 0), 1.0, INK),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("LEFTPADDING", (0, 0), (-1, -1), edge(columns)),
            ("RIGHTPADDING", (0, 0), (-1, -1), edge(columns)),
        ]
        lengths = [[len(plain(c)) for c in row] for row in block.rows]
        # In a list or a quote a table of many columns goes beyond its edge.
        widths = column_widths(lengths, columns, max(width, columns * NARROWEST))
        return Table(data, colWidths=widths, repeatRows=1, style=style, splitInRow=1)

    def _runs(self, runs: Runs) -> str:
        return "".join(map(self._run, runs))

    def _run(self, run: StyledText) -> str:
        text = self._fonts.markup(run.text, MONO if run.code else TEXT)
        if run.code:
            text = f'<font name="{MONO}" size="8.5">{text}</font>'
        for on, tag in ((run.bold, "b"), (run.italic, "i"), (run.strike, "strike")):
            text = f"<{tag}>{text}</{tag}>" if on else text
        return f'<a href="{escape(run.link)}" color="{GREEN}">{text}</a>' if run.link else text


def parted(runs: Runs) -> list[Runs]:
    """The runs of a paragraph, as several where it is very long."""
    pieces: list[list[StyledText]] = [[]]
    left = PARAGRAPH
    for run in runs:
        text = run.text
        while len(text) > left:
            cut = text.rfind(" ", 0, left) + 1 or left
            pieces[-1].append(replace(run, text=text[:cut]))
            pieces.append([])
            text, left = text[cut:], PARAGRAPH
        pieces[-1].append(replace(run, text=text))
        left -= len(text)
    return [tuple(piece) for piece in pieces]


def column_widths(lengths: list[list[int]], columns: int, width: float) -> list[float]:
    """Widths by how much stands in each column; each has a fifth of an equal share, and room for a
    letter between its edges."""
    weights = [
        max([min(60, row[i]) for row in lengths if i < len(row)] + [3]) ** 0.7
        for i in range(columns)
    ]
    equal = width / columns
    least = min(equal, max(equal / 5, NARROWEST))
    left = width - columns * least
    return [least + left * weight / sum(weights) for weight in weights]


def edge(columns: int) -> float:
    """What is left free at both sides of a cell."""
    return 3 if columns <= 16 else 1


def _shortened(runs: Runs, longest: int) -> Runs:
    pieces: list[StyledText] = []
    left = longest
    for run in runs:
        if len(run.text) > left:
            return (
                *pieces,
                StyledText(
                    run.text[:left] + " …", run.bold, run.italic, run.code, run.strike, run.link
                ),
            )
        pieces.append(run)
        left -= len(run.text)
    return tuple(pieces)


def _styles() -> dict[str, Any]:
    from reportlab.lib.enums import TA_CENTER, TA_RIGHT
    from reportlab.lib.styles import ParagraphStyle

    base: Callable[..., Any] = ParagraphStyle
    normal = base(
        "Normal",
        fontName=TEXT,
        fontSize=10,
        leading=14.5,
        textColor=INK,
        spaceAfter=6,
        splitLongWords=1,
    )
    cell = base("Cell", parent=normal, fontSize=8.8, leading=11.5, spaceAfter=0)
    styles = {
        "Normal": normal,
        "Item": base("Item", parent=normal, bulletIndent=-13, spaceAfter=3, bulletFontName=TEXT),
        "Cell": cell,
        "CellCenter": base("CellCenter", parent=cell, alignment=TA_CENTER),
        "CellRight": base("CellRight", parent=cell, alignment=TA_RIGHT),
        "Code": base(
            "Code", parent=normal, fontName=MONO, fontSize=8.2, leading=11, backColor=QUIET, borderPadding=5, spaceBefore=6,
            spaceAfter=11,
        ),
    }  # fmt: skip
    for level, size in ((1, 19), (2, 14), (3, 11.5), (4, 10)):
        styles[f"H{level}"] = base(
            f"H{level}", parent=normal, fontName=f"{TEXT}-Bold", fontSize=size, leading=size * 1.25,
            spaceBefore=size * 0.7, spaceAfter=size * 0.35, keepWithNext=1,
        )  # fmt: skip
    return styles

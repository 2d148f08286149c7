"""PDFs with known tables: ruled, half ruled, shaded and bare, cells that wrap, headers that span,
one or two columns of text."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table, TableStyle

from bench._pages.prose import justified, sentence

Rows = list[list[str]]

STYLES = ("grid", "frame", "rows", "columns", "booktabs", "header", "shaded", "bare")
PLACES = [
    "Northfield",
    "East Harbour",
    "Saint Orlan",
    "Kirchberg",
    "Vale",
    "Upper Marsh",
    "Lowmoor",
    "Tarn",
    "Old Quay",
    "Dunmere",
]
THINGS = [
    "steel pipes",
    "wheat",
    "paper",
    "ferries",
    "heat pumps",
    "milk",
    "timber",
    "glass",
    "road works",
    "software licences",
]
NAMES = [
    "A. Moreau",
    "Ida Lund",
    "B. Okafor",
    "Chen Wei",
    "R. Silva",
    "Nora Quist",
    "T. Adeyemi",
    "Eva Braun-Keller",
]
MARGIN = 60


@dataclass(frozen=True)
class Drawn:
    """A table as it stands on one page."""

    page: int
    rows: Rows
    """A cell over several columns stands in the first of them."""
    style: str
    part: int = 0
    """Number of the table in its file: parts of one that goes over pages have the same."""


def _number(r: random.Random, kind: str) -> str:
    value = r.uniform(0, 1) ** 2
    return {
        "whole": lambda: f"{int(value * 2_000_000):,}",
        "small": lambda: str(r.randint(0, 400)),
        "share": lambda: f"{value * 100:.1f}%",
        "signed": lambda: f"{r.uniform(-50, 50):.2f}",
        "money": lambda: f"${value * 90_000:,.2f}",
        "year": lambda: str(r.randint(1990, 2026)),
        "bracket": lambda: (
            f"({int(value * 9_000):,})" if r.random() < 0.4 else f"{int(value * 90_000):,}"
        ),
    }[kind]()


NUMBERS = ("whole", "small", "share", "signed", "money", "bracket")
HEADS = {
    "whole": ["Revenue", "Population", "Units sold", "Total cost"],
    "small": ["Staff", "Cases", "Days", "Count"],
    "share": ["Share", "Growth rate", "Margin"],
    "signed": ["Change", "Balance of trade", "Difference"],
    "money": ["Price", "Amount due", "Budget"],
    "bracket": ["Net result", "Cash flow", "Variance"],
    "text": ["Product", "Remark", "Material"],
    "name": ["Responsible", "Contact", "Author"],
    "long": ["Description", "Reason for the change", "Findings"],
}


def content(
    r: random.Random, *, words: bool = False, width: int = 0, long: bool = False
) -> tuple[Rows, list[str]]:
    """Header and rows of a table, and the kind of each column."""
    count = width or r.randint(3, 6)
    kinds = ["place"] + [
        r.choice(("text", "name") if words else (*NUMBERS, *NUMBERS, "text"))
        for _ in range(count - 1)
    ]
    if not words and not any(k in NUMBERS for k in kinds):
        kinds[-1] = "whole"
    if long:
        kinds[1] = "long"
    body = [[_cell(r, kind, i) for kind in kinds] for i in range(r.randint(4, 14))]
    if not words and r.random() < 0.4:
        for row in body:
            for at in range(1, len(row)):
                if kinds[at] != "long" and r.random() < 0.08:
                    row[at] = r.choice(["", "-", "n/a"])
    used: list[str] = []
    for kind in kinds[1:]:
        name = next(
            (n for n in r.sample(HEADS[kind], len(HEADS[kind])) if n not in used),
            f"{HEADS[kind][0]} {len(used)}",
        )
        used.append(name)
    return [[r.choice(["Region", "District", "Site"]), *used], *body], kinds


def _cell(r: random.Random, kind: str, i: int) -> str:
    if kind == "place":
        return f"{PLACES[i % len(PLACES)]}{'' if i < len(PLACES) else ' II'}"
    if kind == "text":
        return r.choice(THINGS)
    if kind == "name":
        return r.choice(NAMES)
    if kind == "long":
        return sentence(r, r.randint(5, 14))
    return _number(r, kind)


def wrapped(
    rows: Rows, kinds: Sequence[str], size: float, widths: dict[str, float], font: str = "Helvetica"
) -> Rows:
    """The same cells with line ends where they do not fit into their column."""
    return [
        [
            "\n".join(simpleSplit(cell, font, size, widths.get(kind, 90))) if cell else ""
            for cell, kind in zip(row, kinds, strict=True)
        ]
        for row in rows
    ]


def _style(
    name: str, rows: int, kinds: Sequence[str], size: float, pad: float
) -> list[tuple[object, ...]]:
    black = colors.black
    found: list[tuple[object, ...]] = [
        ("FONTSIZE", (0, 0), (-1, -1), size),
        ("LEADING", (0, 0), (-1, -1), size * 1.18),
        ("TOPPADDING", (0, 0), (-1, -1), pad),
        ("BOTTOMPADDING", (0, 0), (-1, -1), pad),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        *[("ALIGN", (i, 0), (i, -1), "RIGHT") for i, kind in enumerate(kinds) if kind in NUMBERS],
    ]
    lines: dict[str, list[tuple[object, ...]]] = {
        "grid": [("GRID", (0, 0), (-1, -1), 0.5, black)],
        "frame": [
            ("BOX", (0, 0), (-1, -1), 0.7, black),
            ("LINEBELOW", (0, 0), (-1, 0), 0.7, black),
            ("INNERGRID", (0, 0), (-1, -1), 0.3, colors.grey),
        ],
        "rows": [
            ("LINEBELOW", (0, 0), (-1, -1), 0.4, colors.grey),
            ("LINEABOVE", (0, 0), (-1, 0), 0.4, colors.grey),
        ],
        "columns": [
            ("LINEBEFORE", (1, 0), (-1, -1), 0.4, black),
            ("LINEBELOW", (0, 0), (-1, 0), 0.6, black),
        ],
        "booktabs": [
            ("LINEABOVE", (0, 0), (-1, 0), 1, black),
            ("LINEBELOW", (0, 0), (-1, 0), 0.5, black),
            ("LINEBELOW", (0, -1), (-1, -1), 1, black),
        ],
        "header": [("LINEBELOW", (0, 0), (-1, 0), 0.6, black)],
        "shaded": [
            ("BACKGROUND", (0, 0), (-1, 0), colors.lightgrey),
            ("ROWBACKGROUNDS", (0, 1), (-1, -1), [colors.white, colors.whitesmoke]),
        ],
        "bare": [],
    }
    return found + lines[name]


def draw(
    canvas: Canvas,
    rows: Rows,
    kinds: Sequence[str],
    style: str,
    x: float,
    top: float,
    size: float,
    pad: float,
    extra: Sequence[tuple[object, ...]] = (),
    widths: Sequence[float] | None = None,
) -> float:
    """Draw a table with its upper left corner at a place; gives the y below it."""
    table = Table(
        rows,
        colWidths=widths,
        style=TableStyle([*_style(style, len(rows), kinds, size, pad), *extra]),
    )
    _, height = table.wrapOn(canvas, 500, 700)
    table.drawOn(canvas, x, top - height)
    return float(top - height)


def _flat(rows: Rows) -> Rows:
    return [[" ".join(cell.split()) for cell in row] for row in rows]


def _widths(rows: Rows, size: float, gap: float) -> list[float]:
    """Widths of columns as their longest line needs them, and a gap."""
    return [
        max(
            stringWidth(line, "Helvetica", size)
            for row in rows
            for line in (row[i].split("\n") or [""])
        )
        + 12
        + gap
        for i in range(len(rows[0]))
    ]


class Sheet:
    """A file that is being drawn."""

    def __init__(self, path: Path, size: tuple[float, float] = A4) -> None:
        self.canvas = Canvas(str(path), pagesize=size, invariant=1)
        self.page = 1
        self.width, self.height = size
        self.y = self.height - MARGIN
        self.drawn: list[Drawn] = []
        self.margins()

    def margins(self) -> None:
        self.canvas.setFont("Helvetica", 8)
        self.canvas.drawString(MARGIN, self.height - 32, "Annual report of the harbour board")
        self.canvas.drawCentredString(self.width / 2, 28, str(self.page + 11))

    def turn(self) -> None:
        self.canvas.showPage()
        self.page += 1
        self.y = self.height - MARGIN
        self.margins()

    def prose(
        self, r: random.Random, lines: int, x: float = MARGIN, width: float = 0, size: float = 10
    ) -> None:
        self.y = (
            justified(self.canvas, r, x, self.y, width or self.width - 2 * MARGIN, lines, size) - 14
        )

    def caption(self, number: int, words: str) -> None:
        self.canvas.setFont("Helvetica-Bold", 9)
        self.canvas.drawString(MARGIN, self.y, f"Table {number}: {words}")
        self.y -= 12

    def table(
        self,
        rows: Rows,
        kinds: Sequence[str],
        style: str,
        size: float,
        pad: float,
        *,
        part: int,
        x: float = MARGIN,
        truth: Rows | None = None,
        extra: Sequence[tuple[object, ...]] = (),
        gap: float = 6,
    ) -> None:
        self.y = (
            draw(
                self.canvas,
                rows,
                kinds,
                style,
                x,
                self.y,
                size,
                pad,
                extra,
                _widths(rows, size, gap),
            )
            - 20
        )
        self.drawn.append(Drawn(self.page, _flat(truth or rows), style, part))

    def save(self) -> list[Drawn]:
        self.canvas.save()
        return self.drawn


def simple(r: random.Random, path: Path, style: str) -> list[Drawn]:
    """One table between paragraphs."""
    sheet = Sheet(path)
    sheet.prose(r, r.randint(3, 8))
    if r.random() < 0.5:
        sheet.caption(1, sentence(r, 5))
    rows, kinds = content(r)
    sheet.table(
        rows,
        kinds,
        style,
        r.choice([7, 8, 9, 10]),
        r.choice([1, 2, 3]),
        part=0,
        gap=r.choice([2, 8, 20]),
    )
    sheet.prose(r, r.randint(4, 12))
    return sheet.save()


def wordy(r: random.Random, path: Path, style: str) -> list[Drawn]:
    """A table of words alone."""
    sheet = Sheet(path)
    sheet.prose(r, 5)
    rows, kinds = content(r, words=True, width=r.choice([3, 4]))
    sheet.table(rows, kinds, style, 9, 3, part=0, gap=12)
    sheet.prose(r, 9)
    return sheet.save()


def wrapping(r: random.Random, path: Path, style: str) -> list[Drawn]:
    """Cells of several lines."""
    sheet = Sheet(path)
    rows, kinds = content(r, long=True, width=4)
    size = r.choice([8, 9])
    rows = wrapped(rows, kinds, size, {"long": 150, "place": 60, "text": 60, "name": 70})
    sheet.table(rows, kinds, style, size, 3, part=0, gap=6)
    sheet.prose(r, 10)
    return sheet.save()


def spanning(r: random.Random, path: Path, style: str) -> list[Drawn]:
    """A header of two rows, the upper one over two columns each."""
    sheet = Sheet(path)
    sheet.prose(r, 4)
    rows, kinds = content(r, width=5)
    kinds = ["place", "whole", "share", "whole", "share"]
    body = [[row[0], *(_number(r, kind) for kind in kinds[1:])] for row in rows[1:]]
    head = [["", "2024", "", "2025", ""], [rows[0][0], "Revenue", "Share", "Revenue", "Share"]]
    spans: list[tuple[object, ...]] = [
        ("SPAN", (1, 0), (2, 0)),
        ("SPAN", (3, 0), (4, 0)),
        ("ALIGN", (1, 0), (-1, 0), "CENTER"),
    ]
    if style == "booktabs":
        spans += [("LINEBELOW", (0, 1), (-1, 1), 0.5, colors.black)]
    sheet.table([*head, *body], kinds, style, 9, 2, part=0, extra=spans, gap=12)
    sheet.prose(r, 8)
    return sheet.save()


def sections(r: random.Random, path: Path, style: str) -> list[Drawn]:
    """Rows that head those below them, and a row of totals."""
    sheet = Sheet(path)
    sheet.caption(3, sentence(r, 6))
    rows, kinds = content(r, width=4)
    kinds = ["place", "whole", "share", "signed"]
    made = [rows[0]]
    for i, row in enumerate(rows[1:]):
        if i % 4 == 0:
            made.append(
                [
                    r.choice(["Northern area", "Industry", "Public services", "Households"]),
                    "",
                    "",
                    "",
                ]
            )
        made.append([row[0], *(_number(r, kind) for kind in kinds[1:])])
    made.append(["Total", "9,999,999", "100.0%", "0.00"])
    sheet.table(made, kinds, style, 9, 2, part=0, gap=14)
    sheet.prose(r, 12)
    return sheet.save()


def twice(r: random.Random, path: Path, style: str) -> list[Drawn]:
    """Two tables on a page."""
    sheet = Sheet(path)
    for part in range(2):
        sheet.prose(r, 3)
        if r.random() < 0.5:
            sheet.caption(part + 1, sentence(r, 4))
        rows, kinds = content(r)
        sheet.table(
            rows[:9], kinds, style if part == 0 else r.choice(STYLES), 8, 2, part=part, gap=10
        )
    return sheet.save()


def over_pages(r: random.Random, path: Path, style: str) -> list[Drawn]:
    """A table over two or three pages, its header repeated or not."""
    sheet = Sheet(path)
    sheet.prose(r, 5)
    rows, kinds = content(r, width=4)
    kinds = ["place", "whole", "share", "small"]
    body = [
        [f"{r.choice(PLACES)} {i}", *(_number(r, kind) for kind in kinds[1:])]
        for i in range(r.randint(60, 110))
    ]
    repeated = r.random() < 0.6
    widths = _widths([rows[0], *body], 9, 14)
    at = 0
    while at < len(body):
        head = [rows[0]] if at == 0 or repeated else []
        fits = int((sheet.y - MARGIN - 4) // (9 * 1.18 + 4)) - len(head)
        shown = [*head, *body[at : at + fits]]
        sheet.y = (
            draw(
                sheet.canvas,
                shown,
                kinds,
                style if head or style not in ("header", "columns", "booktabs") else "bare",
                MARGIN,
                sheet.y,
                9,
                2,
                (),
                widths,
            )
            - 20
        )
        sheet.drawn.append(Drawn(sheet.page, _flat(shown), style, 0))
        at += fits
        if at < len(body):
            sheet.turn()
    if sheet.y > 200:
        sheet.prose(r, 6)
    return sheet.save()


def in_columns(r: random.Random, path: Path, style: str) -> list[Drawn]:
    """A narrow table in one of two columns of text."""
    sheet = Sheet(path)
    wide = (sheet.width - 2 * MARGIN - 24) / 2
    right = MARGIN + wide + 24
    top = sheet.y
    side = r.random() < 0.5
    for x, table in ((MARGIN, side), (right, not side)):
        sheet.y = top
        sheet.prose(r, 12, x, wide, 9)
        if table:
            rows, kinds = content(r, width=3)
            kinds = ["place", "whole", "share"]
            rows = [
                ["Region", "Revenue", "Share"],
                *([row[0], _number(r, "whole"), _number(r, "share")] for row in rows[1:]),
            ]
            sheet.table(rows, kinds, style, 8, 2, part=0, x=x)
        sheet.prose(r, 14 if table else 34, x, wide, 9)
    return sheet.save()


def turned(r: random.Random, path: Path, style: str) -> list[Drawn]:
    """A wide table on a page that is turned."""
    sheet = Sheet(path, landscape(A4))
    if r.random() < 0.5:  # drawn sideways on an upright page
        sheet.canvas.setPageSize(A4)
        sheet.canvas.translate(A4[0], 0)
        sheet.canvas.rotate(90)
        if r.random() < 0.5:
            sheet.canvas.setPageRotation(90)
    sheet.prose(r, 3)
    rows, kinds = content(r, width=7)
    sheet.table(rows, kinds, style, 8, 3, part=0)
    return sheet.save()


def tiny(r: random.Random, path: Path, style: str) -> list[Drawn]:
    """Small print, many columns."""
    sheet = Sheet(path)
    sheet.prose(r, 4, size=8)
    rows, _ = content(r, width=9)
    kinds = ["place"] + [r.choice(("small", "share", "whole")) for _ in range(8)]
    rows = [
        ["Region", *(f"Q{i % 4 + 1} {2024 + i // 4}" for i in range(8))],
        *([row[0], *(_number(r, k) for k in kinds[1:])] for row in rows[1:]),
    ]
    sheet.table(rows, kinds, style, 5.5, 1, part=0, gap=r.choice([0, 3]))
    sheet.prose(r, 8, size=8)
    return sheet.save()


def by_columns(r: random.Random, path: Path, style: str) -> list[Drawn]:
    """Drawn column after column, as some programs do."""
    sheet = Sheet(path)
    sheet.prose(r, 4)
    rows, kinds = content(r, width=4)
    size, pitch = 9, 15
    widths = _widths(rows, size, 12)
    sheet.canvas.setFont("Helvetica", size)
    x = float(MARGIN)
    for i, kind in enumerate(kinds):
        for j, row in enumerate(rows):
            y = sheet.y - j * pitch
            if kind in NUMBERS:
                sheet.canvas.drawRightString(x + widths[i] - 8, y, row[i])
            else:
                sheet.canvas.drawString(x, y, row[i])
        x += widths[i]
    if style in ("booktabs", "grid", "rows"):
        for y in (sheet.y + 11, sheet.y - 4, sheet.y - (len(rows) - 1) * pitch - 4):
            sheet.canvas.line(MARGIN - 2, y, x, y)
    sheet.y -= len(rows) * pitch + 10
    sheet.drawn.append(Drawn(1, _flat(rows), style, 0))
    sheet.prose(r, 6)
    return sheet.save()


LAYOUTS: list[Callable[[random.Random, Path, str], list[Drawn]]] = [
    simple, wordy, wrapping, spanning, sections, twice, over_pages, in_columns, turned, tiny, by_columns, simple,
]  # fmt: skip


def make(number: int, path: Path) -> tuple[str, list[Drawn]]:
    """File `number` of the set: each layout comes with each style."""
    r = random.Random(41_000 + number)
    layout = LAYOUTS[number % len(LAYOUTS)]
    style = STYLES[(number // len(LAYOUTS) + number) % len(STYLES)]
    return f"{layout.__name__}, {style}", layout(r, path, style)

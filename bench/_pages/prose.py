"""PDFs without tables: prose, lists, contents, indexes, forms, formulas, code, charts."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

WORDS = [
    "the", "of", "and", "to", "in", "a", "that", "it", "was", "for", "on", "are", "with", "they", "be", "at", "one",
    "have", "this", "from", "by", "hot", "but", "some", "what", "there", "we", "can", "out", "other", "were", "all",
    "your", "when", "up", "use", "word", "how", "said", "an", "each", "she", "which", "do", "their", "time", "if", "will",
    "way", "about", "many", "then", "them", "would", "write", "like", "so", "these", "her", "long", "make", "thing", "see",
    "him", "two", "has", "look", "more", "day", "could", "go", "come", "did", "my", "sound", "no", "most", "number", "who",
    "over", "know", "water", "than", "call", "first", "people", "may", "down", "side", "been", "now", "find", "any", "new",
    "work", "part", "take", "get", "place", "made", "live", "where", "after", "back", "little", "only", "round", "man",
    "year", "came", "show", "every", "good",
]  # fmt: skip


def sentence(r: random.Random, words: int) -> str:
    return " ".join(r.choice(WORDS) for _ in range(words)).capitalize()


def justified(
    canvas: Canvas, r: random.Random, x: float, y: float, width: float, lines: int, size: float = 10
) -> float:
    """A paragraph set to both margins, but its last line; gives the y below it."""
    canvas.setFont("Times-Roman", size)
    for i in range(lines):
        words = [r.choice(WORDS)]
        while stringWidth(" ".join(words), "Times-Roman", size) < width * (
            1 if i < lines - 1 else r.uniform(0.2, 0.9)
        ):
            words.append(r.choice(WORDS))
        words = words[:-1] or words
        if i < lines - 1:
            blank = (width - sum(stringWidth(w, "Times-Roman", size) for w in words)) / max(
                1, len(words) - 1
            )
            at = x
            for word in words:
                canvas.drawString(at, y, word)
                at += stringWidth(word, "Times-Roman", size) + blank
        else:
            canvas.drawString(x, y, " ".join(words))
        y -= size * 1.25
    return y


def plain(r: random.Random, c: Canvas) -> None:
    y = 780.0
    for _ in range(6):
        c.setFont("Helvetica-Bold", 12)
        c.drawString(60, y, f"{r.randint(1, 9)}.{r.randint(1, 9)}    {sentence(r, 4)}")
        y = justified(c, r, 60, y - 18, 470, r.randint(4, 8)) - 12


def two_columns(r: random.Random, c: Canvas) -> None:
    for x in (50.0, 310.0):
        y = 780.0
        while y > 120:
            y = justified(c, r, x, y, 235, r.randint(5, 12), 9) - 8


def three_columns(r: random.Random, c: Canvas) -> None:
    for x in (45.0, 218.0, 391.0):
        y = 780.0
        while y > 150:
            y = justified(c, r, x, y, 158, r.randint(5, 12), 8) - 6


def lists(r: random.Random, c: Canvas) -> None:
    y = justified(c, r, 60, 780, 470, 3) - 10
    for mark in ("•", "{}.", "({})", "–"):
        for i in range(6):
            c.setFont("Times-Roman", 10)
            c.drawString(75, y, mark.format(i + 1) if "{" in mark else mark)
            for line in range(r.randint(1, 2)):
                c.drawString(
                    95, y, sentence(r, r.randint(4, 12)) if line == 0 else sentence(r, 5).lower()
                )
                y -= 13
        y = justified(c, r, 60, y - 6, 470, 2) - 8


def contents(r: random.Random, c: Canvas) -> None:
    y, page = 780.0, 1
    leaders = r.random() < 0.5
    c.setFont("Times-Roman", 11)
    for i in range(28):
        page += r.randint(1, 9)
        title = f"{i // 4 + 1}.{i % 4 + 1}  {sentence(r, r.randint(2, 6))}"
        c.drawString(60, y, title)
        if leaders:
            c.drawString(
                70 + stringWidth(title, "Times-Roman", 11),
                y,
                "." * int((430 - stringWidth(title, "Times-Roman", 11)) / 3),
            )
        c.drawRightString(530, y, str(page))
        y -= 20


def index(r: random.Random, c: Canvas) -> None:
    for x in (50.0, 225.0, 400.0):
        c.setFont("Times-Roman", 9)
        for i in range(50):
            pages = ", ".join(str(r.randint(1, 400)) for _ in range(r.randint(1, 3)))
            c.drawString(
                x + (10 if i % 5 else 0),
                780 - 13 * i,
                f"{sentence(r, r.randint(1, 2)).lower()}, {pages}",
            )


def form(r: random.Random, c: Canvas) -> None:
    c.setFont("Helvetica", 10)
    ruled = r.random() < 0.5
    for i, label in enumerate(
        (
            "Surname:",
            "First name:",
            "Date of birth:",
            "Street:",
            "Postcode:",
            "Town:",
            "Telephone:",
            "E-mail:",
            "Signature:",
        )
    ):
        y = 760 - 34 * i
        c.drawString(64, y, label)
        c.drawString(320, y, ("Number:", "Country:", "Sex:")[i % 3])
        if ruled:
            for x in (60, 160, 316):
                c.rect(x, y - 12, 100 if x == 60 else 156 if x == 160 else 200, 30)
        else:
            c.drawString(160, y, "_" * 24)
            c.drawString(380, y, "_" * 22)


def letter(r: random.Random, c: Canvas) -> None:
    c.setFont("Helvetica", 10)
    for i, line in enumerate(("Harbour Board", "12 Quay Street", "Northfield", "Tel. 555 0134")):
        c.drawString(380, 790 - 13 * i, line)
    for i, line in enumerate(("Ms Ida Lund", "3 Mill Lane", "Lowmoor")):
        c.drawString(60, 730 - 13 * i, line)
    c.drawString(60, 660, "Your ref.: 12-A")
    c.drawString(240, 660, "Our ref.: HB 3345")
    c.drawString(420, 660, "3 May 2026")
    y = 620.0
    for _ in range(4):
        y = justified(c, r, 60, y, 470, 6) - 12


def formulas(r: random.Random, c: Canvas) -> None:
    y = 780.0
    for i in range(8):
        y = justified(c, r, 60, y, 470, 3) - 12
        c.setFont("Times-Italic", 11)
        c.drawString(180, y, f"f{i}(x) = a{i} x + b{i}  −  {r.randint(2, 9)} y")
        c.drawRightString(530, y, f"({i + 1})")
        y -= 22


def code(r: random.Random, c: Canvas) -> None:
    y = justified(c, r, 60, 780, 470, 4) - 10
    c.setFont("Courier", 9)
    for i in range(30):
        c.drawString(
            70 + 18 * (i % 4),
            y,
            f"{r.choice(WORDS)}_{r.choice(WORDS)} = {r.choice(WORDS)}({r.randint(0, 9)}, "
            f"{r.choice(WORDS)})",
        )
        if i % 3 == 0:
            c.drawString(330, y, f"# {sentence(r, 4)}")
        y -= 12


def references(r: random.Random, c: Canvas) -> None:
    y = 780.0
    for i in range(18):
        c.setFont("Times-Roman", 10)
        c.drawString(60, y, f"[{i + 1}]")
        c.drawString(84, y, f"{sentence(r, 2)}, {sentence(r, 8)}.")
        c.drawString(
            84,
            y - 12,
            f"{sentence(r, 4)}, {r.randint(1980, 2025)}, pp. "
            f"{r.randint(1, 99)}–{r.randint(100, 200)}.",
        )
        y -= 32


def chart(r: random.Random, c: Canvas) -> None:
    y = justified(c, r, 60, 780, 470, 6) - 20
    c.setFont("Helvetica", 8)
    for i in range(6):
        c.line(100, y - 40 * i, 500, y - 40 * i)
        c.drawRightString(94, y - 40 * i - 3, str(100 - 20 * i))
    for i in range(9):
        if i % 2 == 0:
            c.line(100 + 50 * i, y, 100 + 50 * i, y - 200)
        c.drawCentredString(100 + 50 * i, y - 212, str(2016 + i))
        c.rect(110 + 48 * i, y - 200, 20, r.randint(20, 180), fill=1)
    c.drawString(260, y - 232, "Figure 2: Freight by year")
    justified(c, r, 60, y - 260, 470, 8)


def glossary(r: random.Random, c: Canvas) -> None:
    y = 780.0
    for _ in range(14):
        c.setFont("Helvetica-Bold", 10)
        c.drawString(60, y, sentence(r, r.randint(1, 2)))
        y = justified(c, r, 180, y, 350, r.randint(2, 4)) - 8


def questions(r: random.Random, c: Canvas) -> None:
    y = 780.0
    c.setFont("Helvetica", 10)
    for i in range(9):
        c.drawString(60, y, f"{i + 1}.  {sentence(r, 9)}?")
        for j, mark in enumerate("abcd"):
            c.drawString(84 + 220 * (j % 2), y - 15 * (1 + j // 2), f"{mark})  {sentence(r, 3)}")
        y -= 56


def slides(r: random.Random, c: Canvas) -> None:
    c.setFont("Helvetica-Bold", 22)
    c.drawString(60, 760, sentence(r, 4))
    c.setFont("Helvetica", 14)
    for i in range(6):
        c.drawString(70, 700 - 40 * i, f"•   {sentence(r, r.randint(3, 6))}")
    c.setFont("Helvetica", 9)
    for x in (60, 220, 380):
        c.rect(x, 300, 140, 80)
        c.drawCentredString(x + 70, 340, sentence(r, 2))


KINDS: list[Callable[[random.Random, Canvas], None]] = [
    plain, two_columns, three_columns, lists, contents, index, form, letter, formulas, code, references, chart, glossary,
    questions, slides,
]  # fmt: skip


def make(number: int, path: Path) -> str:
    """File `number` of those without a table; gives what it shows."""
    r = random.Random(52_000 + number)
    kind = KINDS[number % len(KINDS)]
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    kind(r, canvas)
    canvas.showPage()
    canvas.save()
    return kind.__name__

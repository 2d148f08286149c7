"""The part of `bench.sandbox` about text of a model or a file: what acts where it is drawn or opened,
and what takes longer the longer it is than its length."""

from __future__ import annotations

import csv
import io
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from bench._attempts import Outcome
from leaf.documents.export import leaving
from leaf.exports.manifest import Manifest
from leaf.exports.notebook import _text
from leaf.exports.readme import readme
from leaf.provenance.citations import Text
from leaf.shapes.harmless import harmless_markdown
from leaf.tables.child import export_csv
from leaf.ui.blocks import blocks
from leaf.ui.drawn import growing
from leaf.ui.live.document import LiveDocument
from leaf.ui.live.html import pieces
from leaf.ui.live.text import GrowingText
from leaf.ui.markdown import label, literal, marked, paragraph, safe
from leaf.ui.marks import held
from tests.test_harmless import ATTACKS
from tests.test_ui_markdown import HOSTILE, drawn

SECONDS = 2.0
"""That any other text may take, all of which are short."""
ORDINARY = "The rate of growth is high.\n\n"
LONGER = 4.0
"""Times what the parser of Markdown takes to read an ordinary text of the same length."""
SIZE = 1_000_000
"""Characters of a text that is to take long; an answer has a fiftieth at most."""
TIMES = 10
GROWTH = 20.0
"""By which a text `TIMES` as long may take longer: 10 for one that grows with its length, 100 for
one that grows with its square."""
SLOW = 0.2
"""Seconds below which a growth says nothing."""
PATTERNS = 32
"""Long texts that there are at least."""
ACTS = ("<img", "<svg", "<script", "<!--", "<iframe", 'href="javascript:', 'href="data:')

LONG: dict[str, str | Callable[[int], str]] = {
    "openings of pictures": "![",
    "openings of links": "[",
    "ends of links": "](",
    "openings of links and pictures in turn": "[![",
    "code of growing length": lambda size: " ".join(
        "`" * n for n in range(1, int((2 * size) ** 0.5))
    ),
    "single backticks": "`x ",
    "stars": "*a ",
    "stars without a blank": "*",
    "underlines in turn": "_*",
    "openings of tags": "<a ",
    "openings of comments": "<!-- ",
    "quotes in quotes": "> ",
    "lists in lists": "- ",
    "references": "[a]: b\n",
    "the same reference": "[a][a] ",
    "bars of a table": "|",
    "rows of a table": "|a|b|\n",
    "entities": "&#1;",
    "dollars": "$1 ",
    "strokes": "\\",
    "fences": "```\n",
    "half fences": "``\n",
    "strikes": "~~a ",
    "addresses": "<http://",
    "blanks": " ",
    "lines": "\n",
    "footnotes": "[^1] ",
    "descriptions of pictures": "![" + "a" * 999 + "](",
    "links that are never closed": "[a](",
    "names that are never closed": "[a][",
    "schemes without an end": "](" + "a" * 299,
    "entities in addresses": "](&#58",
    "strokes in addresses": "](\\:",
    "addresses with blanks": "](java script:",
    "formulas": "$a",
    "a word that ends in a star": lambda size: "a" * (size - 1) + "*",
    "words that end in a star": lambda size: "a, " * (size // 3) + "*",
    "a line that is nearly a fence": lambda size: f"```{'a' * (size - 4)}`",
    "blanks that are nearly a fence": lambda size: f"```{' ' * (size - 4)}`",
}
WAYS: dict[str, Callable[[str], object]] = {
    "drawn": safe,
    "drawn while it is written": lambda text: pieces(safe(text)),
    "exported": harmless_markdown,
    "drawn as it stands": paragraph,
    "marked": lambda text: marked(text, [(at, at + 1) for at in range(0, len(text), 7)]),
    "written word by word": lambda text: _write(text),
    "cut into blocks": blocks,
    "with its figures": lambda text: growing(held(Text(0, text), [(1, FIGURE)]), "m"),
}
FIGURE: Any = {"start": 1, "end": 2, "kind": "none"}
ACTING = tuple("=+-@\t\r\n＝＋－＠")
"""How a cell begins that acts."""
NAMES = (
    *(
        "![x](https://evil.example/a.png)",
        "[a](javascript:alert(1))",
        "<img src=x onerror=alert(1)>",
    ),
    *(
        "https://evil.example",
        ":red[x]",
        ":material/home:",
        "a\n\n# b",
        "$\\href{https://evil}{x}$",
    ),
    *("|a|b|\n|-|-|\n|![x](y)|z|", "`a` ![x](https://evil.example)", "\u202egpj.exe", "a" * 10_000),
)
"""What a server may call a model."""
FORMULAS = (
    *(
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "＝1+1",
        "＋1+1",
        "－1+1",
        "＠A1",
    ),
    *('=HYPERLINK("https://evil.example")', "-cmd|' /C calc'!A0", "=IMPORTXML(A1)", '"=1+1'),
)


def texts(only: str) -> Iterator[Outcome]:
    """Every text, by every way on which it is drawn or leaves."""
    for name, check in {**_exports(), **_pages(), **_names(), **_cells()}.items():
        if only in name:
            began = time.monotonic()
            said = check()
            yield Outcome(name, not said, time.monotonic() - began, said[:150], limit=SECONDS)
    for what, piece in LONG.items():
        name = f"a long text of {what}"
        if only in name:
            yield _long(name, piece)


def _exports() -> dict[str, Callable[[], str]]:
    """What acts in an exported chat, each in three places of one."""

    def acts(attack: str) -> str:
        return next(
            (
                document
                for document in (attack, f"Before\n{attack}\n\nafter", attack.replace("\n", "\r\n"))
                if _acts(_read(harmless_markdown(document)))
            ),
            "",
        )

    def in_names(text: str) -> str:
        told = Manifest(format="leaf-chat", version=1, title=text)
        return next((t for t in (readme(told), _text(text)["source"]) if _acts(_read(t))), "")

    def in_document(text: str) -> str:
        left = leaving(text, "md")
        return left if _acts(_read(left)) else ""

    def in_sheet(cell: str) -> str:
        out = io.StringIO()
        csv.writer(out).writerow([cell, "b"])
        first = next(csv.reader(io.StringIO(leaving(out.getvalue(), "csv"), newline="")))[0]
        return first if first[:1] in ACTING else ""

    exported = {f"exported: {text!r}": partial(acts, text) for text in ATTACKS}
    exported |= {f"a document: {text!r}": partial(in_document, text) for text in ATTACKS}
    exported |= {f"a cell of a sheet: {cell!r}": partial(in_sheet, cell) for cell in FORMULAS}
    titled = {f"the title of a bundle: {text!r}": partial(in_names, text) for text in ATTACKS[:6]}
    return {**exported, **titled}


def _pages() -> dict[str, Callable[[], str]]:
    """What acts in a page: drawn by a parser that takes every address, and by the one of answers."""

    def acts(text: str) -> str:
        page = drawn(safe(text))
        live = "".join(piece.html for piece in pieces(safe(text)))
        addresses = re.findall(r'(?:href|src)="([^"]*)"', page + live)
        wrong = [
            a for a in addresses if not a.lower().startswith(("http://", "https://", "mailto:"))
        ]
        return str(wrong) if wrong else page if _acts(page + live) else ""

    return {f"drawn: {text!r}": partial(acts, text) for text in HOSTILE}


def _names() -> dict[str, Callable[[], str]]:
    def acts(name: str) -> str:
        page = drawn(label(name, 32)) + drawn(literal(name))
        free = re.search(r"(?<!\\):(?:red|material)", label(name, 32) + literal(name))
        long = len(label(name, 32).replace("\\", "")) > 80
        return page[:200] if _acts(page) or "<a" in page or "<h1" in page or free or long else ""

    return {f"the name of a model: {name[:60]!r}": partial(acts, name) for name in NAMES}


def _cells() -> dict[str, Callable[[], str]]:
    def acts(cell: str) -> str:
        import duckdb

        con = duckdb.connect()
        con.execute("CREATE TABLE t (a VARCHAR)")
        con.execute("INSERT INTO t VALUES (?)", [cell])
        with tempfile.TemporaryDirectory() as folder:
            source = str(Path(folder) / "t.parquet")
            con.execute(f"COPY t TO '{source}' (FORMAT parquet)")
            export_csv(source, folder, 512, raw=False)
            with (Path(folder) / "export.csv").open(newline="", encoding="utf-8") as file:
                written = list(csv.reader(file))[1][0]
        return written if written[:1] in ACTING else ""

    return {f"a cell of a CSV: {cell!r}": partial(acts, cell) for cell in FORMULAS}


def _read(document: str) -> str:
    """As notebooks and forges read Markdown: with HTML."""
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(document))


def _acts(page: str) -> bool:
    return any(sign in page for sign in ACTS)


def _long(name: str, piece: str | Callable[[int], str]) -> Outcome:
    """How long the slowest way takes for a long text, against the reading of an ordinary one, and
    whether it grows with its length."""
    worst, grown, said = 0.0, 0.0, ""
    ordinary = TIMES * _time(MarkdownIt().render, text_of(ORDINARY, SIZE // TIMES))
    for way, work in WAYS.items():
        whole, growth = _took(work, piece)
        if growth > GROWTH or whole > LONGER * ordinary:  # once more: a busy machine is no text
            whole, growth = map(min, (whole, growth), _took(work, piece))
        if growth > GROWTH:
            said += f"{way}: {growth:.1f} times for {TIMES} times the text; "
        if whole > LONGER * ordinary:
            said += f"{way}: {whole:.1f} s, an ordinary text {ordinary:.1f} s; "
        worst, grown = max(worst, whole), max(grown, growth)
    times = worst / ordinary
    return Outcome(name, not said, worst, said, limit=LONGER * ordinary, growth=grown, times=times)


def _took(work: Callable[[str], object], piece: str | Callable[[int], str]) -> tuple[float, float]:
    """Seconds, and how many times those of a tenth of the text; 0 where it is too quick to tell."""
    whole = _time(work, text_of(piece, SIZE))
    if whole <= SLOW:
        return whole, 0.0
    return whole, whole / max(_time(work, text_of(piece, SIZE // TIMES)), 1e-3)


def text_of(piece: str | Callable[[int], str], size: int) -> str:
    """A text of so many characters."""
    return piece * (size // len(piece)) if isinstance(piece, str) else piece(size)


def _write(text: str) -> None:
    """As an answer that comes all at once."""
    written = GrowingText(LiveDocument(), "m")
    written.feed(text)
    written.draw()
    written.end()


def _time(work: Callable[[str], object], text: str) -> float:
    """Seconds of the processor: what else runs on the machine does not count."""
    began = time.process_time()
    work(text)
    return time.process_time() - began

"""Citations located in their files, against `str.find` over the same text: right page, cells,
paragraph or time, none invented.

Quotes are taken from what a model is given, and set as models and people set them: without line
ends and hyphens, with other quotation marks, ligatures as letters, in another case, without the
bars and letters around cells. As many wrong ones, with another figure or word in them, must not be
verified anywhere.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench._figures import Figure, Report
from bench._pdfs import column, pdf
from leaf.readers.base import Passage, Where
from leaf.readers.locate.locate import search
from leaf.readers.locate.quotes import words
from leaf.readers.locate.where import (
    column_letters,
    column_number,
    parse,
    place,
    sheet_span,
    timestamp,
)
from leaf.readers.worker import reader_of

REAL = Path(__file__).resolve().parents[2] / "shared" / "data"
QUOTES = 200
RIGHT = 0.99
"""Share of quotes at their very place."""
VOCABULARY = [
    *(
        "market",
        "share",
        "of",
        "the",
        "northern",
        "region",
        "grew",
        "in",
        "spring",
        "while",
        "costs",
        "for",
        "energy",
        "and",
    ),
    *(
        "transport",
        "fell",
        "by",
        "third",
        "but",
        "board",
        "agreed",
        "to",
        "invest",
        "new",
        "plants",
        "near",
        "coast",
        "effort",
    ),
    *(
        "\ufb01nal",
        "o\ufb03ce",
        "e\ufb00ect",
        "\ufb02ow",
        "international",
        "cooperation",
        "responsibility",
        "measurement",
    ),
]


@dataclass(frozen=True)
class Case:
    """A quote, and where it stands."""

    path: Path
    kind: str
    place: str
    quote: str


def main() -> int:
    """Print the table; 1 if a target is missed."""
    report = Report("citations", ("leaf/readers",))
    chance = random.Random(5)
    with tempfile.TemporaryDirectory() as folder:
        files = _made(Path(folder), chance) + _real()
        cases = _cases(files, chance)
        wrong = [
            Case(c.path, c.kind, c.place, altered)
            for c in cases
            if (altered := _altered(c.quote, chance))
        ]
        started = time.monotonic()
        found = [_located(case) for case in cases]
        seconds = time.monotonic() - started
        plain = [_by_find(case) for case in cases]
        moved = [_located(Case(c.path, c.kind, "", c.quote)) for c in cases]
        verified = [case for case in wrong if _located(case)]
    right = [case for case, at in zip(cases, found, strict=True) if at == case.place]
    print(f"{len(cases)} quotes of {len({c.path for c in cases})} files")
    for kind in dict.fromkeys(case.kind for case in cases):
        of_kind = [i for i, case in enumerate(cases) if case.kind == kind]
        exact, simple = (
            sum(found[i] == cases[i].place for i in of_kind),
            sum(plain[i] for i in of_kind),
        )
        print(
            f"  {kind:9} {len(of_kind):4} quotes   located {exact / len(of_kind):7.1%}   str.find "
            f"{simple / len(of_kind):7.1%}"
        )
    share = len(right) / len(cases)
    elsewhere = sum(at == case.place for case, at in zip(cases, moved, strict=True)) / len(cases)
    for case, at in zip(cases, found, strict=True):
        if at != case.place:
            print(
                f"  missed: {case.path.name} {case.place}: {at or 'nowhere'} {case.quote[:80]!r}",
                file=sys.stderr,
            )
    for case in verified:
        print(f"  verified: {case.path.name} {case.place} {case.quote[:80]!r}", file=sys.stderr)
    return report.end(
        [
            Figure(
                "",
                f"{len(cases)} quotes of PDF, Excel, captions and Word located at the right page, "
                f"cells, time or paragraph",
                share,
                RIGHT,
                shown="{:.1%}",
                beside={"`str.find` over the text": sum(plain) / len(cases)},
            ),
            Figure("", "the same without a place being named", elsewhere, shown="{:.1%}"),
            Figure("", "quotes, enough to tell", len(cases), QUOTES, shown="{:.0f}"),
            Figure(
                "",
                f"{len(wrong)} with another figure or word: taken for verified",
                len(verified),
                0,
                False,
                "{:.0f}",
            ),
            Figure(
                "",
                "time for one quote, the file read anew each time",
                seconds / len(cases) * 1000,
                shown="{:.1f} ms",
            ),
        ]
    )


def _located(case: Case) -> str:
    found = search(reader_of(case.kind), case.path, case.kind, [(case.place, case.quote)])[0].found
    return found.place if found else ""


def _by_find(case: Case) -> bool:
    """The baseline: the quote as it is in the text at its place."""
    there = reader_of(case.kind).passages(case.path, parse(case.place, case.kind))
    return "\n".join(passage.text for passage in there).find(case.quote) >= 0


# Cases


def _cases(files: list[tuple[Path, str]], chance: random.Random) -> list[Case]:
    """As many from each file, until there are enough; a quote that stands at several places is no
    test of the place."""
    found: list[Case] = []
    sources = [(path, kind, _quotable(path, kind, chance)) for path, kind in files]
    while len(found) < QUOTES and sources:
        for source in list(sources):
            path, kind, quotes = source
            quote = next(quotes, None)
            if quote is None:
                sources.remove(source)
            elif len(found) < QUOTES:
                found.append(Case(path, kind, *quote))
    return found


def _quotable(path: Path, kind: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    passages = list(reader_of(kind).passages(path, Where()))
    whole = words("\n".join(p.text for p in passages)).joined
    chance.shuffle(passages)
    setters = [_as_it_is, _on_one_line, _typed, _shouted]
    for number, passage in enumerate(passages * 3):
        taken = _of_row(passage, chance) if passage.unit == "row" else _of_text(passage, chance)
        if taken is None:
            continue
        at, quote = taken
        if whole.count(words(quote).joined) == 1:
            yield at, setters[number % len(setters)](quote)


def _of_text(passage: Passage, chance: random.Random) -> tuple[str, str] | None:
    tokens = list(re.finditer(r"\S+", passage.text))
    if len(tokens) < 6:
        return None
    count = chance.randint(6, min(40, len(tokens)))
    first = chance.randint(0, len(tokens) - count)
    return place(passage), passage.text[tokens[first].start() : tokens[first + count - 1].end()]


def _of_row(passage: Passage, chance: random.Random) -> tuple[str, str] | None:
    """Neighbouring cells, with or without what is put around them."""
    cells = [re.match(r"([A-Z]{1,3}): (.*)", cell, re.S) for cell in passage.text.split(" | ")]
    if not passage.sheet or len(cells) < 2 or not all(cells):
        return None
    found = [cell for cell in cells if cell]
    count = chance.randint(2, min(6, len(found)))
    first = chance.randint(0, len(found) - count)
    chosen = found[first : first + count]
    columns = column_number(chosen[0][1]), column_number(chosen[-1][1])
    at = sheet_span(passage.sheet, passage.number, passage.number, columns)
    lettered = chance.random() < 0.5
    return at, " | ".join(cell[0] if lettered else cell[2] for cell in chosen)


def _as_it_is(quote: str) -> str:
    return quote


def _on_one_line(quote: str) -> str:
    """Lines joined, and words divided at their ends made whole, as a reader would copy them."""
    return " ".join(re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", quote).split())


def _typed(quote: str) -> str:
    """Typed anew: plain quotation marks and dashes, ligatures as letters."""
    pairs = {
        "“": '"',
        "”": '"',
        "’": "'",
        "–": "-",
        "\ufb01": "fi",
        "\ufb02": "fl",
        "\ufb00": "ff",
        "\ufb03": "ffi",
    }
    return _on_one_line("".join(pairs.get(c, c) for c in quote))


def _shouted(quote: str) -> str:
    return _on_one_line(quote).capitalize()


def _altered(quote: str, chance: random.Random) -> str:
    """The quote with another figure, or with a word more, less or in place of another; empty where
    it has too few words."""
    if digits := list(re.finditer(r"\d+", quote)):
        chosen = chance.choice(digits)
        return quote[: chosen.start()] + str(int(chosen[0]) + 7) + quote[chosen.end() :]
    tokens = quote.split(" ")
    if len(tokens) < 4:
        return ""
    at = chance.randint(1, len(tokens) - 2)
    changes: list[Callable[[], list[str]]] = [
        lambda: [*tokens[:at], "never", *tokens[at:]],
        lambda: [*tokens[:at], "zebra", *tokens[at + 1 :]],
    ]
    return " ".join(chance.choice(changes)())


# Files


def _real() -> list[tuple[Path, str]]:
    kinds = {".pdf": "pdf", ".docx": "docx", ".xlsx": "excel", ".vtt": "captions"}
    return [(path, kinds[path.suffix]) for path in sorted(REAL.glob("*")) if path.suffix in kinds]


def _made(folder: Path, chance: random.Random) -> list[tuple[Path, str]]:
    return [
        (_columns(folder, chance), "pdf"),
        (_book(folder, chance), "excel"),
        (_talk(folder, chance), "captions"),
        (_document(folder, chance), "docx"),
    ]


def _sentence(chance: random.Random, count: int) -> list[str]:
    return [
        chance.choice(
            [
                *VOCABULARY,
                str(chance.randint(10, 9_999)),
                f"{chance.randint(1, 99)}.{chance.randint(1, 9)}%",
            ]
        )
        for _ in range(count)
    ]


def _columns(folder: Path, chance: random.Random) -> Path:
    """Pages of two columns with divided words and ligatures."""
    pages = []
    for _ in range(12):
        drawn = ""
        for x in (50, 320):
            lines = []
            for _ in range(34):
                tokens = _sentence(chance, 5)
                long = chance.choice(["international", "responsibility", "measurement"])
                cut = chance.randint(4, 7)
                lines += [
                    " ".join([*tokens, long[:cut] + "-"]),
                    " ".join([long[cut:], *_sentence(chance, 4)]),
                ]
            drawn += column(x, lines[:50], leading=14)
        pages.append(drawn)
    path = folder / "columns.pdf"
    path.write_bytes(pdf(pages))
    return path


def _book(folder: Path, chance: random.Random) -> Path:
    """Sheets with titles over merged cells, and figures."""
    from openpyxl import Workbook

    book = Workbook()
    for number in range(3):
        sheet = book.create_sheet(f"Part {number}")
        sheet.append([f"Figures of part {number}"])
        sheet.merge_cells("A1:E1")
        sheet.append(["Region", "Note", "Units", "Share", "Change"])
        for _ in range(60):
            words_of_cell = " ".join(_sentence(chance, 4))
            sheet.append(
                [
                    chance.choice(VOCABULARY),
                    words_of_cell,
                    chance.randint(1, 10**6),
                    chance.random(),
                    -chance.randint(1, 999),
                ]
            )
        for row in range(10, 60, 10):
            sheet.merge_cells(f"A{row}:A{row + 1}")
    del book["Sheet"]
    path = folder / "book.xlsx"
    book.save(path)
    return path


def _talk(folder: Path, chance: random.Random) -> Path:
    cues = []
    for number in range(300):
        begin, end = number * 7, number * 7 + 6
        text = "\n".join(" ".join(_sentence(chance, 6)) for _ in range(2))
        cues.append(
            f"{timestamp(begin)}.000 --> {timestamp(end)}.500\n<v Speaker "
            f"{column_letters(number % 4 + 1)}>{text}\n"
        )
    path = folder / "talk.vtt"
    path.write_text("WEBVTT\n\n" + "\n".join(cues), encoding="utf-8")
    return path


def _document(folder: Path, chance: random.Random) -> Path:
    """A Word document, as little of one as a reader takes."""
    from zipfile import ZipFile

    main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    runs = [
        (" ".join(_sentence(chance, 12)), f"“{' '.join(_sentence(chance, 14))}”.")
        for _ in range(150)
    ]
    run = "<w:r><w:t>{}</w:t></w:r>"
    paragraphs = "".join(
        f"<w:p>{run.format(first + ' ')}{run.format(second)}</w:p>" for first, second in runs
    )
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    path = folder / "made.docx"
    with ZipFile(path, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="r1" Type="{relation}" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{main}"><w:body>{paragraphs}</w:body></w:document>',
        )
    return path


if __name__ == "__main__":
    sys.exit(main())

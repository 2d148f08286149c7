"""From a title to a file's name, and from what a model or a person wrote to the text that is kept.
Pure."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence

from leaf.errors import FileTooLargeError, InvalidInputError
from leaf.store.model import DocumentKind

LONGEST = 5_000_000
"""Characters of a document. Longer texts are files to upload."""
TITLE_LENGTH = 200
NAME_LENGTH = 120
CODE = {
    "python": "py", "py": "py", "sql": "sql", "javascript": "js", "js": "js", "typescript": "ts", "ts": "ts", "r": "r",
    "java": "java", "c": "c", "go": "go", "bash": "sh", "sh": "sh", "shell": "sh", "json": "json", "yaml": "yaml", "yml": "yaml",
    "html": "html", "css": "css", "xml": "xml", "toml": "toml", "rust": "rs", "ruby": "rb", "php": "php", "cpp": "cpp",
}  # fmt: skip
"""Language of a code fence -> ending."""
TEXT_ENDINGS = ("md", "markdown", "txt")
SHEET_ENDINGS = ("csv",)
MARKS = ",;\t"
"""What may stand between the cells of a sheet."""
MEDIA_TYPES = {
    "md": "text/markdown",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "py": "text/x-python",
    "sql": "application/sql",
}
_FENCED = re.compile(
    r"\s*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n`]*\n(.*?)\n?[ \t]*\1[ \t]*\s*\Z", re.DOTALL
)
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff\ud800-\udfff]")


def clean_title(title: str) -> str:
    """On one line and not too long. Raises InvalidInputError for an empty one."""
    plain = " ".join(
        "".join(
            c for c in title if not unicodedata.category(c).startswith("C") or c.isspace()
        ).split()
    )
    if not plain:
        raise InvalidInputError("A document needs a title.", "Give it a few words.")
    return plain if len(plain) <= TITLE_LENGTH else plain[: TITLE_LENGTH - 1].rstrip() + "…"


def file_name(title: str, kind: DocumentKind, language: str = "") -> str:
    """A name for the title's file: `Q3: summary` → `Q3 - summary.md`. A title that is a file's name
    keeps its ending."""
    plain = re.sub(r"\s*[/\\:*?\"<>|]+\s*", " - ", title)
    plain = re.sub(r"\s+", " ", plain).strip(" .-")
    stem, ending = _ending(plain)
    allowed = {"text": TEXT_ENDINGS, "sheet": SHEET_ENDINGS, "code": tuple(CODE.values())}[kind]
    if ending not in allowed:
        stem, ending = (
            plain,
            {"text": "md", "sheet": "csv", "code": CODE.get(language.lower(), "txt")}[kind],
        )
    stem = stem.strip(" .-") or "document"
    return f"{stem[:NAME_LENGTH].rstrip(' .')}.{ending}"


def kind_of(path: str) -> DocumentKind:
    """By a file name's ending: CSV is a sheet, Markdown and plain text are text, the rest is
    code."""
    ending = _ending(path)[1]
    return "sheet" if ending in SHEET_ENDINGS else "code" if ending in CODE.values() else "text"


def title_of(path: str) -> str:
    """A title from a path: its last name without the ending of text or a sheet. Raises
    InvalidInputError for an empty one."""
    name = re.split(r"[/\\]", path.strip())[-1]
    stem, ending = _ending(name)
    return clean_title(stem if ending in (*TEXT_ENDINGS, *SHEET_ENDINGS) else name)


def media_type(name: str) -> str:
    return MEDIA_TYPES.get(_ending(name)[1], "text/plain")


def _ending(name: str) -> tuple[str, str]:
    stem, _, ending = name.rpartition(".")
    return (stem, ending.lower()) if stem else (name, "")


def language_of(text: str) -> str:
    """The language that a text's fence names, if all of it stands in one fence."""
    match = _FENCED.fullmatch(text)
    return match.group(2) if match else ""


def clean(kind: DocumentKind, text: str) -> str:
    """The text as it is kept: line ends of one kind, one at the end, no characters that cannot be
    seen, no fence around it all.

    Raises InvalidInputError for an empty text and for a sheet that is not CSV, FileTooLargeError
    over `LONGEST` characters.
    """
    if len(text) > LONGEST:
        raise FileTooLargeError(
            f"The document would have {len(text) / 1e6:.1f} million characters; at most "
            f"{LONGEST / 1e6:.0f} million are kept.",
            "Cut it into several documents, or add it as a file. Nothing was changed.",
        )
    plain = _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    fenced = _FENCED.fullmatch(plain)
    if (
        fenced
        and (kind != "text" or fenced.group(2).lower() in ("", "markdown", "md"))
        and fenced.group(1) not in fenced.group(3)
    ):
        plain = fenced.group(3)
    # A tab at the beginning of a sheet stands behind an empty cell.
    before = " \n" if kind == "sheet" else None
    plain = plain.strip("\n") if kind == "code" else plain.lstrip(before).rstrip()
    if not plain.strip():
        raise InvalidInputError(
            "The document would be empty.", "Give it some content, or delete it."
        )
    return (_checked_csv(plain) if kind == "sheet" else plain) + "\n"


def _checked_csv(text: str) -> str:
    """The same table, commas between its cells. Raises InvalidInputError that names the first line
    that does not fit."""
    rows = csv_rows(text)
    width = len(rows[0])
    for number, row in enumerate(rows, 1):
        if len(row) > width:
            raise InvalidInputError(
                f"Row {number} has {len(row)} cells, the header has {width}. Nothing was written.",
                'Put cells that hold a comma into quotes: "Miller, Ann".',
            )
    out = io.StringIO()
    # In quotes, marks within names cannot be taken for those between cells when it is read again.
    marked = any(mark in name for name in rows[0] for mark in MARKS)
    plain = csv.writer(out, lineterminator="\n")
    quoted = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    (quoted if marked else plain).writerow(rows[0])
    plain.writerows(row + [""] * (width - len(row)) for row in rows[1:])
    return out.getvalue().rstrip("\n")


def csv_rows(text: str) -> list[list[str]]:
    """Rows of a sheet; commas, or the semicolons or tabs of its header, whichever part all of it in
    the same way. Empty lines are left out. Raises InvalidInputError."""
    header, candidates = text.split("\n", 1)[0], list[list[list[str]]]()
    e: csv.Error | None = None
    for mark in MARKS:
        try:
            candidates.append(_parted(text, mark))
        except csv.Error as refused:
            e = e or (refused if mark in header else None)
    rows = max(candidates, key=_evenly, default=[])
    if e is not None and not _evenly(rows)[1]:
        raise InvalidInputError(
            f"This is not CSV: {e}. Nothing was written.",
            "Put cells with quotes or line ends into quotes.",
        ) from e
    if not rows:
        raise InvalidInputError("The sheet would be empty.", "Give it a header and rows.")
    return rows


def _parted(text: str, mark: str) -> list[list[str]]:
    """Raises csv.Error."""
    return [row for row in csv.reader(io.StringIO(text), delimiter=mark, strict=True) if row]


def _evenly(rows: Sequence[Sequence[str]]) -> tuple[float, int]:
    """How well a mark parts a sheet: the share of its rows that are as wide as the header, and how
    wide that is; nothing where it parts few of them. Of equals the first is taken: the comma."""
    width = len(rows[0]) if rows else 0
    if width < 2 or 2 * sum(len(row) > 1 for row in rows) <= len(rows):
        return 0.0, 0
    return sum(len(row) == width for row in rows) / len(rows), width

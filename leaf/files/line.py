"""The one line by which a model learns of a file: name, type, handle, counts, SQL name. Never
content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from leaf.errors import BlobGoneError
from leaf.files.names import shortened
from leaf.readers.base import KINDS, PAGES_LOOKED_AT, SEEN, holds_tables
from leaf.readers.locate.where import timestamp
from leaf.store.model import ChatFile, File

LINE_LENGTH = 150
"""Characters of a line: 60 tokens at 2.5 characters each."""
NAME_LENGTH = 60
MOST_LINES = 20
"""Files that get a line each; beyond, they are only counted."""
MOST_FOLDERS = 8
"""Folders that are named where files are only counted."""
FOLDER_LENGTH = 40
LEAST_WORDS = 20
"""Characters of what people wrote about a file; less of them says nothing."""


def attached_lines(files: Sequence[ChatFile], question: str = "") -> str:
    """A line for each file, or one for them all where they are many. Words that are the question
    itself are not said twice."""
    if len(files) <= MOST_LINES:
        twins = same_content(files)
        return "\n".join(
            attached_line(file, question, twins.get(file.handle, "")) for file in files
        )
    return (
        f"[Attached: {len(files)} files, {files[0].handle} to {files[-1].handle}: "
        f"{counted(files)}. call list_files to see them]"
    )


def counted(files: Sequence[ChatFile]) -> str:
    """How many there are of each kind, and in which folders, if there are any: `12 Table (CSV), 3
    PDF; in 2024/ 8, 2023/ 7`."""
    kinds = Counter(label(chat_file.file) for chat_file in files)
    text = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())
    folders = Counter(f"{_unbracketed(c.file.folder)}/" for c in files if c.file.folder)
    shown = [
        f"{shortened(folder, FOLDER_LENGTH)} {number:,}"
        for folder, number in folders.most_common(MOST_FOLDERS)
    ]
    more = [f"{len(folders) - MOST_FOLDERS:,} more folders"] if len(folders) > MOST_FOLDERS else []
    return f"{text}; in {', '.join([*shown, *more])}" if folders else text


def attached_line(chat_file: ChatFile, question: str = "", same_as: str = "") -> str:
    """`[Attached: q3 sales.xlsx (Spreadsheet) id=f3 48,210 rows × 12 columns, 3 sheets, 2.1 MB,
    tables q3_sales__…]`.

    `same_as` is the handle of another file with the same bytes, so that nobody counts their rows
    twice. What does not fit into `LINE_LENGTH` is left out, the least useful first.
    """
    file = chat_file.file
    line = (
        f"[Attached: {shortened(_unbracketed(file.name), NAME_LENGTH)} ({label(file)}) "
        f"id={chat_file.handle} {_size(file.size)}"
    )
    for fact in ([f"same content as {same_as}"] if same_as else []) + _facts(chat_file):
        if len(line) + len(fact) + 3 <= LINE_LENGTH:
            line += f", {fact}"
    words = _unbracketed(" ".join(file.upload_context.split()))
    left = LINE_LENGTH - len(line) - len(', about it: ""]')
    if words and words != _unbracketed(" ".join(question.split())) and left >= LEAST_WORDS:
        line += f', about it: "{_cut(words, left)}"'
    return line + "]"


def same_content(files: Sequence[ChatFile]) -> dict[str, str]:
    """Handle of each file that has the bytes of an earlier one -> that one's handle."""
    first: dict[str, str] = {}
    return {
        f.handle: first[f.file.sha256]
        for f in files
        if first.setdefault(f.file.sha256, f.handle) != f.handle
    }


def describe_counts(file: File, *, rows: bool = True) -> str:
    """How much there is of it: `48,210 rows × 12 columns, 3 sheets, 2.1 MB`; without rows where
    each table has its own."""
    return ", ".join((*_counts(file, rows=rows), _size(file.size)))


def describe(file: File) -> str:
    """The same with its kind, for people: `Spreadsheet · 48,210 rows × 12 columns, 3 sheets, 2.1
    MB`."""
    return f"{label(file)} · {describe_counts(file)}"


def problem(file: File) -> str:
    """What keeps it from being read, with what to do; empty where nothing does."""
    return f"{file.outline.get('error') or ''} {file.outline.get('hint') or ''}".strip()


def label(file: File) -> str:
    """What kind of file it is, for people."""
    return KINDS[file.kind].label if file.kind in KINDS else "Unreadable"


def may_hold_several(file: File) -> bool:
    """Whether a file may hold more than one table, as far as its outline tells. Its rows are then
    those of the largest."""
    several = len(file.outline.get("sheets") or ()) > 1 or (file.outline.get("tables") or 0) > 1
    return several or _has_blocks(file)


def table_name(chat_file: ChatFile) -> str:
    """The name by which SQL reaches it; `q3_sales__…` where every sheet has one of its own; empty
    if it holds no tables."""
    if not holds_tables(chat_file.file.kind, chat_file.file.outline):
        return ""
    if (chat_file.file.outline.get("tables") or 0) > 1 or len(
        chat_file.file.outline.get("sheets") or ()
    ) > 1:
        return f"{chat_file.slug}__…"
    return f"{chat_file.slug}…" if _has_blocks(chat_file.file) else chat_file.slug


def _has_blocks(file: File) -> bool:
    return any(note.get("kind") == "several-blocks" for note in file.outline.get("notes") or ())


def _facts(chat_file: ChatFile) -> list[str]:
    """Most useful first."""
    file = chat_file.file
    facts = _counts(file)
    name = table_name(chat_file)
    if name:
        facts.append(f"tables {name}" if name.endswith("…") else f"table {name}")
    if pages := _scanned(file):
        facts.append(pages)
    if file.outline.get("error"):
        facts.insert(0, _cut(f"cannot be read: {_unbracketed(str(file.outline['error']))}", 70))
    if file.source != "upload":
        facts.append(f"from {file.source}")
    return facts


def _counts(file: File, *, rows: bool = True) -> list[str]:
    outline = file.outline if rows else {**file.outline, "rows": None, "columns": None}
    counts = []
    if outline.get("width") and outline.get("height"):
        counts.append(f"{outline['width']}×{outline['height']}")
    height, width = outline.get("rows"), outline.get("columns")
    most = "up to " if may_hold_several(file) else ""
    if height is not None and width is not None:
        counts.append(f"{most}{_number(height, 'row')} × {_number(width, 'column')}")
    elif height is not None:
        counts.append(most + _number(height, "row"))
    if len(outline.get("sheets") or ()) > 1:
        counts.append(_number(len(outline["sheets"]), "sheet"))
    if outline.get("pages") is not None:
        counts.append(_number(outline["pages"], "slide" if file.kind == "pptx" else "page"))
    if outline.get("lines") is not None and height is None:
        counts.append(_number(outline["lines"], "line"))
    if outline.get("members") is not None:
        counts.append(f"{_number(outline['members'], 'file')} inside")
    if outline.get("duration") is not None:
        counts.append(timestamp(outline["duration"]))
    if file.kind in ("audio", "video") and not outline.get("error"):
        counts.append(_words_known(file))
    return counts


def _words_known(file: File) -> str:
    """Whether what is said in a recording can be read at once."""
    if not file.outline.get("sound"):
        return "no sound track"
    cues = file.outline.get("cues")
    return (
        "not transcribed yet" if cues is None else "transcript ready" if cues else "no speech in it"
    )


def _scanned(file: File) -> str:
    """`scanned`, or how many pages are, for a PDF without (much of) a text layer; empty for
    everything else."""
    notes = file.outline.get("notes") or ()
    count = sum(n["count"] for n in notes if n.get("kind") in SEEN)
    pages = int(file.outline.get("pages") or 0)
    if file.kind != "pdf" or not count or not pages:
        return ""
    seen = min(pages, PAGES_LOOKED_AT)
    return "scanned" if count >= seen * 0.9 else f"{_number(count, 'page')} scanned"


def _number(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _size(size: int) -> str:
    for unit, power in (("GB", 3), ("MB", 2), ("kB", 1)):
        if size >= 1000**power:
            value = size / 1000**power
            return f"{value:.1f} {unit}" if value < 10 else f"{value:,.0f} {unit}"
    return _number(size, "byte")


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _unbracketed(text: str) -> str:
    """Without what could be taken for the end of the line and the beginning of another."""
    return text.replace("[", "(").replace("]", ")").replace('"', "'")


def lost_file(file: File, lost: BlobGoneError, where: str) -> File:
    """The file with what became of its bytes in its outline."""
    what = (
        f"what {where} has of it was altered or cut"
        if lost.altered
        else f"its content is missing from {where}"
    )
    error = f"{file.name} is lost: {what}."
    return replace(file, outline={**file.outline, "error": error, "hint": "Upload it again."})

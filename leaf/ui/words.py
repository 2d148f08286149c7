"""Numbers, dates and counts in words for a person. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from leaf.agent.attached import AttachedEstimate
from leaf.readers.base import KINDS
from leaf.runs.records import Load
from leaf.runs.waiting import QueuePlace
from leaf.shapes.part_values import tool_name
from leaf.shapes.parts import (
    BudgetData,
    DecisionKept,
    FoldedData,
    ReceiptKept,
    ReceiptsData,
    ToolPart,
    UsageData,
)
from leaf.shapes.results import TableRead
from leaf.store.edited_steps import EditedStep
from leaf.store.model import File

if TYPE_CHECKING:
    from leaf.tools.base import Tool

SOURCES = {
    "upload": "Uploaded",
    "drive": "From Drive",
    "generated": "Made by Leaf",
    "sample": "Sample",
}

UNPACKING = ("members-unread", "members-skipped", "members-deep", "archive-cut")
"""Kinds of notes that say what did not come out of an archive or a mail."""

DRIVE_KINDS = {
    "folder": ("Folder", ":material/folder:"),
    "document": ("Document", ":material/description:"),
    "spreadsheet": ("Spreadsheet", ":material/table_chart:"),
    "presentation": ("Presentation", ":material/slideshow:"),
    "pdf": ("PDF", ":material/picture_as_pdf:"),
    "text": ("Text", ":material/article:"),
    "image": ("Picture", ":material/image:"),
    "audio": ("Audio", ":material/graphic_eq:"),
    "video": ("Video", ":material/movie:"),
    "archive": ("Archive", ":material/folder_zip:"),
    "form": ("Form", ":material/assignment:"),
    "other": ("File", ":material/draft:"),
}
"""Kind of a thing in Drive -> its name and icon."""
GOOGLE_KINDS = {
    "document": "Google Doc",
    "spreadsheet": "Google Sheet",
    "presentation": "Google Slides",
    "form": "Google Form",
}


def size(byte_count: int) -> str:
    """`48.2 MB`."""
    value = float(byte_count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError("unreachable")


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 page`, `1,204 rows`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def money(dollars: float) -> str:
    """`$1.20`, and enough digits for small sums: `$0.0041`."""
    if dollars >= 0.1 or dollars == 0:
        return f"${dollars:,.2f}"
    return f"${dollars:.4f}" if dollars >= 0.0001 else "less than $0.0001"


def seconds(value: float) -> str:
    """`0.2 s`, `14 s`, `2 min 5 s`."""
    if value < 0.95:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes:,} min {rest} s" if minutes else f"{rest} s"


def length(value: float) -> str:
    """How long a recording is, or where in it: `4:07`, `3:00:12`."""
    whole = int(value)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def day(moment: datetime | None, today: date) -> str:
    """`Today`, `Yesterday` or `Earlier`, in the time zone of the server."""
    if moment is None:
        return "Earlier"
    days = (today - moment.astimezone().date()).days
    return "Today" if days <= 0 else "Yesterday" if days == 1 else "Earlier"


def when(moment: datetime, today: date) -> str:
    """`14:02` today, `3 Mar` this year, `3 Mar 2025` before."""
    local = moment.astimezone()
    if local.date() == today:
        return local.strftime("%H:%M")
    year = f" {local.year}" if local.year != today.year else ""
    return f"{local.day} {local.strftime('%b')}{year}"


def kind_label(kind: str) -> str:
    return KINDS[kind].label if kind in KINDS else "File"


def kind_icon(kind: str) -> str:
    return KINDS[kind].icon if kind in KINDS else ":material/draft:"


def drive_icon(kind: str) -> str:
    return DRIVE_KINDS.get(kind, DRIVE_KINDS["other"])[1]


def cut(text: str, longest: int) -> str:
    """On one line, and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def drive_kind(kind: str, mime_type: str) -> str:
    """`Google Sheet` or `Spreadsheet`."""
    if mime_type.startswith("application/vnd.google-apps.") and kind in GOOGLE_KINDS:
        return GOOGLE_KINDS[kind]
    return DRIVE_KINDS.get(kind, DRIVE_KINDS["other"])[0]


def name_icon(name: str) -> str:
    """By the ending, where only the name is at hand."""
    ending = name.rpartition(".")[2].lower()
    return next(
        (kind.icon for kind in KINDS.values() if ending in kind.endings), ":material/draft:"
    )


def counts(outline: Mapping[str, Any]) -> str:
    """`12 pages`, `48,210 rows × 14 columns`, `3 sheets · 1,204 rows × 6 columns`, `4032 × 3024
    pixels`."""
    pieces = []
    if outline.get("width") and outline.get("height"):
        pieces.append(f"{outline['width']} × {outline['height']} pixels")
    sheets: Sequence[str] = outline.get("sheets") or ()
    if len(sheets) > 1:
        pieces.append(count(len(sheets), "sheet"))
    if outline.get("pages"):
        pieces.append(count(outline["pages"], "slide" if outline.get("kind") == "pptx" else "page"))
    if outline.get("rows") is not None and outline.get("columns") is not None:
        pieces.append(f"{count(outline['rows'], 'row')} × {count(outline['columns'], 'column')}")
    elif outline.get("lines"):
        pieces.append(count(outline["lines"], "line"))
    if outline.get("members") is not None:
        pieces.append(f"{count(outline['members'], 'file')} inside")
    if outline.get("duration"):
        pieces.append(length(outline["duration"]))
    return " · ".join(pieces)


def came_out(file: File, inside: Sequence[File]) -> list[str]:
    """A sentence on what came out of an archive or a mail, and what did not; none for other
    files."""
    if not inside and not any(
        note.get("kind") == "members-unread" for note in file.outline.get("notes") or ()
    ):
        return []
    unread = sum(bool(member.outline.get("error")) for member in inside)
    pieces = [
        f"{file.name}: {count(len(inside), 'file')} came out of it"
        + (f", {unread:,} of them cannot be read." if unread else ".")
    ]
    pieces += [
        note["text"] for note in file.outline.get("notes") or () if note.get("kind") in UNPACKING
    ]
    return [" ".join(pieces)]


def notes(file: File) -> list[str]:
    """What was guessed, skipped or repaired while the file was read."""
    return [note["text"] for note in file.outline.get("notes") or () if note.get("text")]


def waiting(place: QueuePlace, limit: int) -> str:
    """What a question waits for; `limit` is the number of answers that may be written at once."""
    if place.ahead == 1:
        return "Waiting for the answer before it"
    if place.ahead:
        return f"Waiting for the {place.ahead:,} answers before it"
    written = f"{count(limit, 'answer')} {'is' if limit == 1 else 'are'} being written"
    return (
        f"Waiting for a free place: "
        f"{written}{' for you' if place.limit == 'person' else ''} already"
    )


def load(now: Load, per_user: int, total: int) -> str:
    """`2 answers are being written, 1 question waits. At once: 20 in all, 3 for one person.`"""
    running = (
        "No answer is"
        if not now.running
        else "1 answer is"
        if now.running == 1
        else f"{now.running:,} answers are"
    )
    waits = (
        f"{now.waiting:,} {'question waits' if now.waiting == 1 else 'questions wait'}"
        if now.waiting
        else "nothing waits"
    )
    return (
        f"{running} being written, {waits}. At once: {total:,} in all, {per_user:,} for one person."
    )


def folded(data: FoldedData) -> str:
    """What a fold did, for whoever reads the chat."""
    fold = data["fold"]
    what = "Earlier results were folded"
    if fold["gone"]["message"]:
        what = "The oldest questions are no longer sent, and earlier results were folded,"
    elif fold["short"]["message"]:
        what = "Earlier results were folded and old answers shortened"
    sizes = (
        f" ({data['before']:,} → {data['after']:,} tokens)"
        if data.get("before") and data.get("after")
        else ""
    )
    return (
        f"{what} to keep the chat within the model's window{sizes}; everything stays readable here."
    )


def budget(data: BudgetData) -> str:
    """`Read 43,000 of 100,000 tokens of file content · 2 files by name only`."""
    named = sum(file["choice"] == "metadata only" for file in data["files"]) + data.get("more", 0)
    rest = f" · {count(named, 'file')} by name only" if named else ""
    return f"Read {_about(data['used'])} of {data['limit']:,} tokens of file content{rest}"


CHOICES = {
    "shown at once": "shown with the question",
    "on request": "opened by the model",
    "folded": "read earlier, folded since",
    "metadata only": "by name only",
}


def decision(file: DecisionKept) -> str:
    """`opened by the model · 4,200 of about 12,000 tokens`."""
    whole = f"about {_about(file['tokens'])} tokens" if file["tokens"] else "no text"
    read = (
        f"{_about(file['read'])} tokens, the whole has {whole}"
        if file["read"]
        else f"the whole has {whole}"
    )
    return f"{CHOICES.get(file['choice'], file['choice'])} · {read}"


def attached(estimate: AttachedEstimate) -> list[str]:
    """What is attached and what it may cost; then a sentence for each file that is too big to be
    read at once."""
    if not estimate.tokens:
        return []
    price = f" · {money(estimate.cost)}" if estimate.cost else ""
    sent = f"the question itself sends up to {_about(estimate.sent)}"
    lines = [f"About {_about(estimate.tokens)} tokens{price} if all of it is read; {sent}"]
    for name, tokens in estimate.too_big[:3]:
        lines.append(
            f"{cut(name, 48)} is about {_about(tokens)} tokens: more than the {estimate.limit:,} "
            f"that one answer reads. "
            "It will be searched and read in parts."
        )
    if len(estimate.too_big) > 3:
        lines.append(f"and {count(len(estimate.too_big) - 3, 'more file')} of that size")
    return lines


def _about(tokens: int) -> str:
    """Rounded to what an estimate can tell: three figures."""
    digits = max(0, len(str(tokens)) - 3)
    return f"{round(tokens, -digits):,}"


def usage(data: UsageData) -> list[str]:
    """`3 s`, `$0.0041 at list price`, `1,240 tokens in (900 cached), 310 tokens out`, and what
    inlining would have cost."""
    pieces = []
    if data.get("seconds"):
        pieces.append(seconds(data["seconds"]))
    if cost := data.get("cost"):
        pieces.append(f"{money(cost)} at list price")
    if data.get("input"):
        cached = f" ({data['cached']:,} cached)" if data.get("cached") else ""
        pieces.append(
            f"{data['input']:,} tokens in{cached}, {count(data.get('output', 0), 'token')} out"
        )
    if data.get("inline_tokens"):
        cost = data.get("inline_cost")
        price = f" ({money(cost)})" if cost else ""
        pieces.append(
            f"Inlining these files would have cost {data['inline_tokens']:,} tokens{price}"
        )
    return pieces


def taken(data: UsageData) -> str:
    """The two that matter, on one line: `3 s · $0.0041`."""
    spent, cost = data.get("seconds"), data.get("cost")
    return " · ".join(filter(None, (seconds(spent) if spent else "", money(cost) if cost else "")))


def traced(found: ReceiptsData) -> str:
    """`12 of 13 figures traced`."""
    figures, having = int(found["figures"]), int(found["with"])
    if not figures:
        return "No figures to trace"
    return f"{having:,} of {count(figures, 'figure')} traced"


def opposite(found: ReceiptsData) -> list[str]:
    """`1 figure says the opposite of the results`, if any does."""
    against = int(found.get("against") or 0)
    verb = "says" if against == 1 else "say"
    return [f"{count(against, 'figure')} {verb} the opposite of the results"] if against else []


def untraced(found: ReceiptsData) -> list[str]:
    """`2 figures without a receipt`, if any is."""
    without = int(found["figures"]) - int(found["with"]) - int(found.get("against") or 0)
    return [f"{count(without, 'figure')} without a receipt"] if without > 0 else []


def worked(parts: Sequence[ToolPart]) -> str:
    """The steps of an answer in one line: `4 steps · 2 queries · 1 chart · Reading a file did not
    work`."""
    failed = [part for part in parts if part["state"] == "output-error"]
    tools = [tool_of(part) for part in parts if part["state"] == "output-available"]
    counted = Counter(tool.counted for tool in tools if tool.counted)
    pieces = [count(len(parts), "step")]
    pieces += [count(number, *noun) for noun, number in counted.items()]
    titles = Counter(tool_of(part).title for part in failed)
    times = {title: f" {count(number, 'time')}" for title, number in titles.items() if number > 1}
    pieces += [f"{title} did not work{times.get(title, '')}" for title in titles]
    return " · ".join(pieces)


def receipt(found: ReceiptKept) -> str:
    """Where one figure comes from, in a few words."""
    kind, how = found["kind"], str(found.get("how") or "")
    if found.get("against"):
        return str(found["against"])
    if kind == "none":
        return "no receipt"
    if kind in ("exact", "rounded"):
        where = " ".join(
            filter(None, (str(found.get("column") or how), str(found.get("result_id") or "")))
        )
        return f"rounded from {found.get('value', '')}, {where}" if kind == "rounded" else where
    if kind == "derived":
        return f"{how} = {found.get('value', '')}"
    return how or str(found.get("place") or "words that were read")


def scanned(table: TableRead) -> str:
    """`sales.xlsx, sheet Data!A1:F120 · 119 of 119 rows · content 3fa9c2…`."""
    pieces = [
        ", ".join(
            filter(None, (str(table.get("file") or table["name"]), str(table.get("place") or "")))
        )
    ]
    if table.get("total") is not None:
        pieces.append(f"{int(table['rows']):,} of {count(int(table['total']), 'row')}")
    if table.get("sha256"):
        pieces.append(f"content {str(table['sha256'])[:12]}")
    return " · ".join(pieces)


def edited_by(step: EditedStep, today: date) -> str:
    """`Edited by Ann · 14:02`; the one user of an app without sign-in is named You."""
    author = {"You": "you", "": "somebody whose account is gone"}.get(step.author, step.author)
    return f"Edited by {author} · {when(step.made_at, today)}"


def file_name(title: str) -> str:
    """A title as the stem of a file's name."""
    return re.sub(r"[^\w -]+", " ", title).strip()[:60].strip() or "chat"


def tool_of(part: ToolPart) -> Tool:
    """What the tool of a step says of itself."""
    from leaf.tools.registry import declared

    return declared(tool_name(part))


def short_id(subject: str) -> str:
    """The end of a long id; other words as they are."""
    return f"…{subject[-8:]}" if len(subject) > 30 and "@" not in subject else subject

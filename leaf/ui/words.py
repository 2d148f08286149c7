"""Numbers, dates and counts in words for a person, in the language of whoever is drawn for. Else
pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from leaf.agent.attached import AttachedEstimate
from leaf.language import places, problems
from leaf.language.text import in_digits, mark, n_, separated, t
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
from leaf.ui import clock

if TYPE_CHECKING:
    from leaf.tools.base import Tool

SOURCES = {
    "upload": mark("Uploaded"),
    "drive": mark("From Drive"),
    "generated": mark("Made by Leaf"),
    "sample": mark("Sample"),
}

UNPACKING = ("members-unread", "members-skipped", "members-deep", "archive-cut")
"""Kinds of notes that say what did not come out of an archive or a mail."""

DRIVE_KINDS = {
    "folder": (mark("Folder"), ":material/folder:"),
    "document": (mark("Document"), ":material/description:"),
    "spreadsheet": (mark("Spreadsheet"), ":material/table_chart:"),
    "presentation": (mark("Presentation"), ":material/slideshow:"),
    "pdf": ("PDF", ":material/picture_as_pdf:"),
    "text": (mark("Text"), ":material/article:"),
    "image": (mark("Picture"), ":material/image:"),
    "audio": (mark("Audio"), ":material/graphic_eq:"),
    "video": (mark("Video"), ":material/movie:"),
    "archive": (mark("Archive"), ":material/folder_zip:"),
    "form": (mark("Form"), ":material/assignment:"),
    "other": (mark("File"), ":material/draft:"),
}
"""Kind of a thing in Drive -> its name and icon."""
MONTHS = (
    mark("Jan"), mark("Feb"), mark("Mar"), mark("Apr"), mark("May"), mark("Jun"),
    mark("Jul"), mark("Aug"), mark("Sep"), mark("Oct"), mark("Nov"), mark("Dec"),
)  # fmt: skip
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
            whole = unit == "B" or value >= 100
            return separated(f"{value:.0f}" if whole else f"{value:.1f}") + f" {unit}"
        value /= 1000
    raise AssertionError("unreachable")


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 page`, `1,204 rows`: the message `{n} page`, `{n} pages` of the catalogs."""
    return n_(f"{{n}} {noun}", f"{{n}} {plural or noun + 's'}", number)


def money(dollars: float) -> str:
    """`$1.20`, and enough digits for small sums: `$0.0041`."""
    if dollars >= 0.1 or dollars == 0:
        return f"${separated(f'{dollars:,.2f}')}"
    return f"${separated(f'{dollars:.4f}')}" if dollars >= 0.0001 else t("less than $0.0001")


def seconds(value: float) -> str:
    """`0.2 s`, `14 s`, `2 min 5 s`."""
    if value < 0.95:
        return separated(f"{value:.1f}") + " s"
    minutes, rest = divmod(round(value), 60)
    return (
        t("{minutes} min {rest} s", minutes=in_digits(minutes), rest=rest)
        if minutes
        else f"{rest} s"
    )


def length(value: float) -> str:
    """How long a recording is, or where in it: `4:07`, `3:00:12`."""
    whole = int(value)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def day(moment: datetime | None, today: date) -> str:
    """`Today`, `Yesterday` or `Earlier`, in the time zone of the browser."""
    if moment is None:
        return t("Earlier")
    days = (today - clock.local(moment).date()).days
    return t("Today") if days <= 0 else t("Yesterday") if days == 1 else t("Earlier")


def when(moment: datetime, today: date) -> str:
    """`14:02` today, `3 Mar` this year, `3 Mar 2025` before."""
    local = clock.local(moment)
    if local.date() == today:
        return local.strftime("%H:%M")
    return day_of_month(local) if local.year == today.year else whole_day(local)


def day_of_month(day: date) -> str:
    """`3 Mar`."""
    return t("{day} {month}", day=day.day, month=month(day))


def whole_day(day: date) -> str:
    """`3 Mar 2025`."""
    return t("{day} {month} {year}", day=day.day, month=month(day), year=day.year)


def month(day: date) -> str:
    """`Mar`."""
    return t(MONTHS[day.month - 1])


def kind_label(kind: str) -> str:
    return t(KINDS[kind].label) if kind in KINDS else t("File")


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
    return t(DRIVE_KINDS.get(kind, DRIVE_KINDS["other"])[0])


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
        pieces.append(
            t("{width} × {height} pixels", width=outline["width"], height=outline["height"])
        )
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
        pieces.append(t("{files} inside", files=count(outline["members"], "file")))
    if outline.get("duration"):
        pieces.append(length(outline["duration"]))
    return " · ".join(pieces)


def came_out(file: File, inside: Sequence[File]) -> list[str]:
    """A sentence on what came out of an archive or a mail, and what did not; none for other
    files."""
    if not inside and not notes(file, ("members-unread",)):
        return []
    unread = sum(bool(member.outline.get("error")) for member in inside)
    pieces = [
        t(
            "{name}: {files} came out of it, {unread} of them cannot be read."
            if unread
            else "{name}: {files} came out of it.",
            name=file.name,
            files=count(len(inside), "file"),
            unread=in_digits(unread),
        )
    ]
    pieces += notes(file, UNPACKING)
    return [" ".join(pieces)]


def notes(file: File, kinds: Sequence[str] = ()) -> list[str]:
    """What was guessed, skipped or repaired while the file was read; of `kinds` alone."""
    return [
        problems.said(note["text"])
        for note in file.outline.get("notes") or ()
        if note.get("text") and (not kinds or note.get("kind") in kinds)
    ]


def waiting(place: QueuePlace, limit: int) -> str:
    """What a question waits for; `limit` is the number of answers that may be written at once."""
    if place.ahead == 1:
        return t("Waiting for the answer before it")
    if place.ahead:
        return t("Waiting for the {ahead} answers before it", ahead=in_digits(place.ahead))
    if place.limit == "person":
        return n_(
            "Waiting for a free place: {n} answer is being written for you already",
            "Waiting for a free place: {n} answers are being written for you already", limit,
        )  # fmt: skip
    return n_(
        "Waiting for a free place: {n} answer is being written already",
        "Waiting for a free place: {n} answers are being written already",
        limit,
    )


def load(now: Load, per_user: int, total: int) -> str:
    """`2 answers are being written, 1 question waits. At once: 20 in all, 3 for one person.`"""
    running = (
        n_("{n} answer is being written", "{n} answers are being written", now.running)
        if now.running
        else t("No answer is being written")
    )
    waits = (
        n_("{n} question waits", "{n} questions wait", now.waiting)
        if now.waiting
        else t("nothing waits")
    )
    return t(
        "{running}, {waits}. At once: {total} in all, {per_user} for one person.",
        running=running,
        waits=waits,
        total=in_digits(total),
        per_user=in_digits(per_user),
    )


def folded(data: FoldedData) -> str:
    """What a fold did, for whoever reads the chat."""
    fold = data["fold"]
    what = t("Earlier results were folded")
    if fold["gone"]["message"]:
        what = t("The oldest questions are no longer sent, and earlier results were folded,")
    elif fold["short"]["message"]:
        what = t("Earlier results were folded and old answers shortened")
    sizes = (
        t(
            " ({before} → {after} tokens)",
            before=in_digits(data["before"]),
            after=in_digits(data["after"]),
        )
        if data.get("before") and data.get("after")
        else ""
    )
    return t(
        "{what} to keep the chat within the model's window{sizes}; everything stays readable here.",
        what=what,
        sizes=sizes,
    )


def budget(data: BudgetData) -> str:
    """`Read 43,000 of 100,000 tokens of file content · 2 files by name only`."""
    named = sum(file["choice"] == "metadata only" for file in data["files"]) + data.get("more", 0)
    rest = t(" · {files} by name only", files=count(named, "file")) if named else ""
    return t(
        "Read {used} of {limit} tokens of file content{rest}",
        used=_about(data["used"]),
        limit=in_digits(data["limit"]),
        rest=rest,
    )


CHOICES = {
    "shown at once": mark("shown with the question"),
    "on request": mark("opened by the model"),
    "folded": mark("read earlier, folded since"),
    "metadata only": mark("by name only"),
}


def decision(file: DecisionKept) -> str:
    """`opened by the model · 4,200 of about 12,000 tokens`."""
    whole = (
        t("about {tokens} tokens", tokens=_about(file["tokens"]))
        if file["tokens"]
        else t("no text")
    )
    read = (
        t("{read} tokens, the whole has {whole}", read=_about(file["read"]), whole=whole)
        if file["read"]
        else t("the whole has {whole}", whole=whole)
    )
    return f"{t(CHOICES.get(file['choice'], file['choice']))} · {read}"


def attached(estimate: AttachedEstimate) -> list[str]:
    """What is attached and what it may cost; then a sentence for each file that is too big to be
    read at once."""
    if not estimate.tokens:
        return []
    price = f" · {money(estimate.cost)}" if estimate.cost else ""
    sent = t("the question itself sends up to {sent}", sent=_about(estimate.sent))
    lines = [
        t(
            "About {tokens} tokens{price} if all of it is read; {sent}",
            tokens=_about(estimate.tokens),
            price=price,
            sent=sent,
        )
    ]
    for name, tokens in estimate.too_big[:3]:
        lines.append(
            t(
                "{name} is about {tokens} tokens: more than the {limit} that one "
                "answer reads. It will be searched and read in parts.",
                name=cut(name, 48),
                tokens=_about(tokens),
                limit=in_digits(estimate.limit),
            )
        )
    if (more := len(estimate.too_big) - 3) > 0:
        lines.append(n_("and {n} more file of that size", "and {n} more files of that size", more))
    return lines


def _about(tokens: int) -> str:
    """Rounded to what an estimate can tell: three figures."""
    digits = max(0, len(str(tokens)) - 3)
    return in_digits(round(tokens, -digits))


def usage(data: UsageData) -> list[str]:
    """`3 s`, `$0.0041 at list price`, `1,240 tokens in (900 cached), 310 tokens out`, and what
    inlining would have cost."""
    pieces = []
    if data.get("seconds"):
        pieces.append(seconds(data["seconds"]))
    if cost := data.get("cost"):
        pieces.append(t("{cost} at list price", cost=money(cost)))
    if data.get("input"):
        cached = (
            t(" ({cached} cached)", cached=in_digits(data["cached"])) if data.get("cached") else ""
        )
        pieces.append(
            t(
                "{input} tokens in{cached}, {tokens} out",
                input=in_digits(data["input"]),
                cached=cached,
                tokens=count(data.get("output", 0), "token"),
            )
        )
    if data.get("inline_tokens"):
        cost = data.get("inline_cost")
        price = f" ({money(cost)})" if cost else ""
        pieces.append(
            t(
                "Inlining these files would have cost {inline_tokens} tokens{price}",
                inline_tokens=in_digits(data["inline_tokens"]),
                price=price,
            )
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
        return t("No figures to trace")
    return t(
        "{having} of {figures} traced", having=in_digits(having), figures=count(figures, "figure")
    )


def opposite(found: ReceiptsData) -> list[str]:
    """`1 figure says the opposite of the results`, if any does."""
    against = int(found.get("against") or 0)
    phrase = n_(
        "{n} figure says the opposite of the results",
        "{n} figures say the opposite of the results",
        against,
    )
    return [phrase] if against else []


def untraced(found: ReceiptsData) -> list[str]:
    """`2 figures without a receipt`, if any is."""
    without = int(found["figures"]) - int(found["with"]) - int(found.get("against") or 0)
    phrase = n_("{n} figure without a receipt", "{n} figures without a receipt", without)
    return [phrase] if without > 0 else []


def receipt(found: ReceiptKept) -> str:
    """Where one figure comes from, in a few words."""
    kind, how = found["kind"], str(found.get("how") or "")
    if found.get("against"):
        return str(found["against"])
    if kind == "none":
        return t("no receipt")
    if kind in ("exact", "rounded"):
        where = " ".join(
            filter(None, (str(found.get("column") or how), str(found.get("result_id") or "")))
        )
        return (
            t("rounded from {value}, {where}", value=found.get("value", ""), where=where)
            if kind == "rounded"
            else where
        )
    if kind == "derived":
        return f"{how} = {found.get('value', '')}"
    return how or places.place(str(found.get("place") or "")) or t("words that were read")


def scanned(table: TableRead) -> str:
    """`sales.xlsx, sheet Data!A1:F120 · 119 of 119 rows · content 3fa9c2…`."""
    name, at = str(table.get("file") or table["name"]), places.place(str(table.get("place") or ""))
    pieces = [", ".join(filter(None, (name, at)))]
    if table.get("total") is not None:
        read, rows = in_digits(int(table["rows"])), count(int(table["total"]), "row")
        pieces.append(t("{read} of {rows}", read=read, rows=rows))
    if table.get("sha256"):
        pieces.append(t("content {sha256}", sha256=str(table["sha256"])[:12]))
    return " · ".join(pieces)


def edited_by(step: EditedStep, today: date) -> str:
    """`Edited by Ann · 14:02`; the one user of an app without sign-in is named You."""
    author = {"You": t("you"), "": t("somebody whose account is gone")}.get(
        step.author, step.author
    )
    return t("Edited by {author} · {made_at}", author=author, made_at=when(step.made_at, today))


def file_name(title: str) -> str:
    """A title as the stem of a file's name."""
    return re.sub(r"[^\w -]+", " ", title).strip()[:60].strip() or "chat"


def tool_of(part: ToolPart) -> Tool:
    """What the tool of a step says of itself."""
    from leaf.tools.registry import declared

    return declared(tool_name(part))

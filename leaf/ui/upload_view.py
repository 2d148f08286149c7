"""How far files are on their way, as the list on a page shows it: for every tab of whoever adds
them the same."""

from __future__ import annotations

from typing import Any

from leaf.jobs.announced import ItemProgress
from leaf.language import problems
from leaf.language.text import in_digits, mark, t
from leaf.sessions.session import Session
from leaf.store.jobs import Job
from leaf.ui import words

SHOWN = 200
"""Files of one job that are listed one by one; of the others there are counts."""
ALREADY = mark("It was there already with the same content.")
FAILED = ("failed", "unreadable")
"""What needs somebody: it comes first, however many are ready."""
Json = dict[str, Any]


def shown(own: Session, here: str) -> list[Json]:
    """What is under way, wherever it was begun, and what became of that which was begun here: in
    the chat of this id, or on Files (`files`), where all of it is shown."""
    jobs = [job for job in own.jobs.list() if job.announced]
    return [_job(own, job, here) for job in jobs if job.under_way or _belongs(job, here)]


def under_way(own: Session) -> int:
    """How many jobs of this kind there are something to be seen of."""
    return sum(job.announced for job in own.jobs.list())


def _belongs(job: Job, here: str) -> bool:
    return here == "files" or here == job.asked.get("target")


def _job(own: Session, job: Job, here: str) -> Json:
    items = own.jobs.shown(job.id, SHOWN)
    return {
        "id": job.id,
        "chat": str(job.asked.get("target", "")),
        "here": _belongs(job, here),
        "over": not job.under_way,
        "total": job.total,
        "coming": job.coming,
        "done": job.done,
        "failed": job.failed,
        "cancelled": job.cancelled,
        "settled": not job.coming and job.done >= job.total and job.beside >= job.done,
        "note": job.note if job.under_way else "",
        "problem": problems.said(job.problem),
        "items": sorted(
            (_item(own, item, job.under_way) for item in items),
            key=lambda one: one["state"] not in FAILED,
        ),
    }


def _item(own: Session, progress: ItemProgress, under_way: bool) -> Json:
    item = progress.item
    state, share, note = _state(own, progress, under_way)
    return {
        "n": item.position,
        "name": item.name,
        "size": item.given.get("size", 0),
        "state": state,
        "share": share,
        "said": note,
        "file": item.file_id,
        "sendable": "path" in item.given,
        "again": item.state == "failed" and "sha256" in item.given,
    }


def _state(own: Session, progress: ItemProgress, under_way: bool) -> tuple[str, float, str]:
    """What the list calls it, how much of that is done (0 to 1, -1 where nobody knows) and more in
    words."""
    item = progress.item
    if item.state == "coming":
        size = int(item.given.get("size") or 0)
        if progress.sent < 0:
            return "waiting", 0.0, ""
        return "sending", min(1.0, progress.sent / size) if size else 1.0, ""
    if item.state == "waiting":
        return ("looking", -1.0, "") if under_way else ("left", 0.0, "")
    if item.state in ("failed", "unreadable", "cancelled"):
        return item.state, 1.0, problems.said(item.problem)
    if progress.is_read:
        return _reading(own, item.file_id)
    return "ready", 1.0, t(ALREADY) if item.state == "known" else ""


def _reading(own: Session, file_id: str) -> tuple[str, float, str]:
    """With the rows so far, where it is known how many there are."""
    done, total = own.jobs.read_so_far(file_id)
    share = done / total if total else -1.0
    file = own.files.get(file_id)
    rows = int(file.outline.get("rows") or 0)
    if share < 0 or not rows:
        return "reading", share, ""
    return (
        "reading",
        share,
        t(
            "about {done} of {rows}",
            done=in_digits(int(rows * share)),
            rows=words.count(rows, "row"),
        ),
    )

"""The budget of file content: how many tokens of files one answer takes in, and what that decides
for each file. Pure.

docs/context.md says the rule: pictures that came with the question at once, while there is room;
everything else on request, in the order of the calls, until the budget is used up; the rest by name
only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, cast

from leaf.readers.media.picture import tokens_of
from leaf.readers.tokens import Rates, estimate
from leaf.shapes.parts import BudgetData, DecisionKept
from leaf.shapes.results import Output
from leaf.store.model import Message

Choice = Literal["shown at once", "on request", "folded", "metadata only"]

BUDGET = "budget"
"""Name of the data part: {"limit", "used", "files": [Decision as JSON], "more": files that are not
listed}."""
LISTED = 30


@dataclass(frozen=True)
class FileInChat:
    """A file as the budget sees it."""

    handle: str
    name: str
    tokens: int
    """Estimated, of the whole file."""
    newest: bool = False
    """Whether it came with the question that is being answered."""


@dataclass(frozen=True)
class Decision:
    """What became of one file in one answer."""

    handle: str
    name: str
    tokens: int
    """Of the whole file."""
    read: int
    """Of it that this answer took in."""
    choice: Choice
    why: str


def with_arrived(files: Sequence[FileInChat], outputs: Iterable[Output]) -> list[FileInChat]:
    """The chat's files and, behind them, those that came into it while the answer was written: from
    Drive."""
    came = [arrival for output in outputs if (arrival := (output.get("data") or {}).get("arrived"))]
    known = {file.handle for file in files}
    new = {f["handle"]: FileInChat(f["handle"], f["name"], f["tokens"]) for f in came}
    return [*files, *(file for handle, file in new.items() if handle not in known)]


def in_order(files: Sequence[FileInChat]) -> list[FileInChat]:
    """This message's files in the order in which they came, then the others from the newest
    back."""
    return [f for f in files if f.newest] + [f for f in reversed(files) if not f.newest]


def at_once(files: Sequence[FileInChat], limit: int) -> list[Decision]:
    """Which of these pictures are shown with the question: in order, those that fit whole. The
    model can look at the others."""
    decisions = []
    left = limit
    for file in in_order(files):
        fits = file.tokens <= left
        why = (
            "fits into the budget"
            if fits
            else f"{file.tokens:,} tokens are more than the {left:,} that are left"
        )
        left -= file.tokens if fits else 0
        decisions.append(
            _decision(
                file, file.tokens if fits else 0, "shown at once" if fits else "metadata only", why
            )
        )
    return decisions


def content_of(output: Output, rates: Rates) -> dict[str, int]:
    """Tokens of file content in a tool's output, by the handle of the file. Empty for a call that
    opened no file."""
    handles = list(dict.fromkeys(str(source["handle"]) for source in output.get("sources") or ()))
    pictures = sum(
        tokens_of(int(p["width"]), int(p["height"])) for p in output.get("pictures") or ()
    )
    if not handles:
        return {}
    whole = estimate(str(output["text"]), rates) + pictures
    shares = dict.fromkeys(handles, 0)
    for passage in (output.get("data") or {}).get("passages") or ():
        if passage.get("handle") in shares:
            shares[passage["handle"]] += len(str(passage.get("text", "")))
    total = sum(shares.values())
    if not total:
        return {handle: round(whole / len(handles)) for handle in handles}
    return {handle: round(whole * part / total) for handle, part in shares.items() if part}


def allowed(limit: int, used: int, calls: int) -> int:
    """Tokens that each of so many calls of one turn may bring in: what is left, in equal parts."""
    return max(0, limit - used) // max(1, calls)


def decide(
    files: Sequence[FileInChat],
    read: Mapping[str, int],
    shown: Mapping[str, int],
    compacted: Iterable[str],
) -> list[Decision]:
    """What became of each file: `read` and `shown` are tokens by handle, `compacted` the files
    whose earlier results were compacted."""
    gone = frozenset(compacted)
    decisions = []
    for file in in_order(files):
        if file.handle in shown:
            decisions.append(
                _decision(file, shown[file.handle], "shown at once", "it came with the question")
            )
        elif read.get(file.handle):
            decisions.append(
                _decision(file, read[file.handle], "on request", "the model opened it")
            )
        elif file.handle in gone:
            decisions.append(
                _decision(file, 0, "folded", "what was read earlier was folded to save room")
            )
        else:
            decisions.append(
                _decision(file, 0, "metadata only", "nothing in it was opened for this answer")
            )
    return decisions


def shown_pictures(history: Sequence[Message]) -> list[tuple[str, int]]:
    """Handle and tokens of each picture that came with the newest question; its label begins with
    the handle."""
    blocks = (
        [
            block
            for raw in history[-1].raw
            if isinstance(raw["content"], list)
            for block in raw["content"]
        ]
        if history
        else []
    )
    return [
        (
            str(b["source"].get("label") or "").partition(" ")[0],
            tokens_of(int(b["source"].get("width") or 1), int(b["source"].get("height") or 1)),
        )
        for b in blocks
        if b["type"] == "image"
    ]


def as_part(limit: int, used: int, decisions: Sequence[Decision]) -> BudgetData:
    """The data of the part."""
    files = [cast("DecisionKept", asdict(decision)) for decision in decisions[:LISTED]]
    return {"limit": limit, "used": used, "files": files, "more": max(0, len(decisions) - LISTED)}


def _decision(file: FileInChat, read: int, choice: Choice, why: str) -> Decision:
    return Decision(file.handle, file.name, file.tokens, read, choice, why)

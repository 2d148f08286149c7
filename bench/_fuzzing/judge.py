"""What a person may be told of a file, and what an upload may come to: `verdicts` names everything
that is wrong with an outcome, and nothing is wrong with most."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MESSAGE, HINT = 300, 450
"""Characters of what is wrong with a file, and of what to do: the longest hint lists all formats
that are read."""

UNCLEAR, UNFORESEEN, HANG, BROKEN = "unclear", "unforeseen", "hang", "broken"
CRASH, MEMORY = "crash", "memory"
WRONG = (UNCLEAR, UNFORESEEN, HANG, BROKEN)
"""What must not be. A crash and a want of memory must be said, and may be."""


@dataclass(frozen=True)
class Outcome:
    """What one step with one file came to, as the person who uploaded it gets it."""

    file: str
    step: str
    """`add`, `unpack`, `tables`, `query`, `profile`, `search`, `read`, `find`, `draw`, `hear`."""
    message: str | None = None
    """Why it cannot be done; None if it was."""
    hint: str = ""
    wrong: str = ""
    """What does not fit together in its result; empty if all does."""

    @property
    def said(self) -> str:
        return f"{self.message or ''} {self.hint}".strip()


@dataclass(frozen=True)
class Verdict:
    """One thing that is to be said of an outcome."""

    what: str
    why: str


_DEATHS = (
    (HANG, re.compile(r"took more than [\d.]+ seconds")),
    (MEMORY, re.compile(r"needed more than [\d,]+ MB of memory|too large to be drawn")),
    (CRASH, re.compile(r"The process that did this work crashed")),
    (UNFORESEEN, re.compile(r"did not expect|answer that (?:cannot be read|is too long)|left some of them out")),
)  # fmt: skip
_INNARDS = (
    ("the name of an exception", re.compile(r"\b(?!\.)[A-Za-z_]*[a-z_](?:Error|Exception|Warning|Panic)\b")),
    ("a traceback", re.compile(r"Traceback|\bFile \"|\bline \d+, in |panicked at|\[Errno|<class |<function ")),
    ("words of a library", re.compile(
        r"NoneType|object has no attribute|not subscriptable|\bcodec can't|\barg(?:ument)?s? must be|"
        r"0x[0-9a-f]{6,}|unhashable|index out of range|unpack requires|not enough values"
    )),
    ("a path of the machine", re.compile(
        r"(?<![\w.:/])/(?:tmp|home|root|work|usr|var|opt|etc|proc|dev)/|/boxes/|\bin/file\b|\bunpacked-"
    )),
    ("a sign that cannot be shown", re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")),
)  # fmt: skip
_WHICH = re.compile(r"\b(?:[Tt]his|[Ii]t|[Tt]he) (?:\w+ ){0,3}\w+|^No ")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\([^)]*\)")


def verdicts(outcome: Outcome) -> Iterator[Verdict]:
    """Everything that is to be said of an outcome."""
    if outcome.wrong:
        yield Verdict(BROKEN, outcome.wrong)
    if outcome.message is None:
        return
    for what, pattern in _DEATHS:
        if pattern.search(outcome.message):
            yield Verdict(what, outcome.said)
    for why in _unclear(outcome, outcome.message):
        yield Verdict(UNCLEAR, f"{why}: {outcome.said}")


def _unclear(outcome: Outcome, message: str) -> Iterator[str]:
    """Why a sentence is not one that a person understands."""
    if not message.strip():
        yield "nothing is said"
        return
    without_name = message.replace(outcome.file, "file", 1)
    for why, pattern in _INNARDS:
        if pattern.search(without_name) or pattern.search(outcome.hint):
            yield f"it holds {why}"
    if len(message) > MESSAGE or len(outcome.hint) > HINT:
        yield "it is too long"
    if not re.search(r"[.!?]['\"”)]?$", message):
        yield "it is no whole sentence"
    if re.search(r"[.!?] +[A-Z]", _QUOTED.sub("x", without_name)):
        yield "it is more than one sentence"
    if outcome.file not in message and not _WHICH.search(message):
        yield "it does not say which file"

"""What a document costs in the chat and in all, and whether an edit ever lands in the wrong place.

A summary of a transcript of 120,000 tokens is asked for over a Messages server on loopback. The
baseline is to have the chat read the transcript itself. Then 100 seeded edits: whatever is applied
must be what was meant. Exits 1 when a target is missed.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench._figures import Figure, Report
from leaf.documents import edits
from leaf.errors import InvalidInputError
from tests.leaf_kit import add, finished, opened
from tests.messages_server import CHARACTERS_A_TOKEN, MessagesServer, Turn

TOKENS = 120_000
IN_CHAT, IN_ALL = 600, 1.1
EDITS = 100
WORDS = [
    "budget",
    "rate",
    "plan",
    "team",
    "north",
    "south",
    "figure",
    "invoice",
    "order",
    "delay",
    "supplier",
    "review",
    "date",
    "owner",
    "risk",
    "scope",
    "cost",
    "margin",
]


def transcript(tokens: int, seed: int = 7) -> str:
    """WebVTT of about so many tokens of what Leaf reads from it: a time and the words of each
    cue."""
    chance, cues, size, at = random.Random(seed), ["WEBVTT"], 0, 0
    while size / CHARACTERS_A_TOKEN < tokens:
        words = f"{chance.choice(('Anna', 'Ben', 'Cleo'))}: " + " ".join(
            chance.choices(WORDS, k=40)
        )
        cues.append(f"{_time(at)}.000 --> {_time(at + 14)}.000\n{words}.")
        size += len(words) + len("[00:00:00] .\n")
        at += 15
    return "\n\n".join(cues) + "\n"


def _time(at: int) -> str:
    return f"{at // 3600:02d}:{at // 60 % 60:02d}:{at % 60:02d}"


MINUTES = "# Plan call\n\n" + "\n\n".join(
    f"## Part {i}\n\n- Decision {i} [00:{i:02d}:00]\n" for i in range(1, 15)
)


def measure_summary() -> tuple[int, float, int]:
    """Tokens that the summary adds to the chat; tokens of all it took over those of the transcript;
    calls of the writer."""

    def brain(body: dict[str, Any]) -> Turn:
        if not body.get("tools"):
            return Turn.say(MINUTES)
        newest = body["messages"][-1]["content"]
        if isinstance(newest, list) and any(block["type"] == "tool_result" for block in newest):
            return Turn.say("The summary is written.")
        given = {"title": "Plan call", "document_type": "meeting-summary", "files": ["f1"]}
        return Turn.call(("create_document", given))

    with MessagesServer(brain) as server, tempfile.TemporaryDirectory() as folder:
        with opened(Path(folder), model_url=server.url, api_key="key") as leaf:
            session = leaf.session(leaf.local_scope())
            chat = session.chats.create()
            file = add(session, "call.vtt", transcript(TOKENS).encode())
            answer = session.messages.send(chat.id, "Summarise this meeting", [file.id])
            message = finished(session, answer.id, 120)
            assert message.status == "completed", message.error
        writer = [r for r in server.requests if not r.body.get("tools")]
        agent = [r for r in server.requests if r.body.get("tools")]
        added = agent[-1].tokens - agent[0].tokens
        total = sum(r.tokens for r in writer) + added + len(MINUTES) / CHARACTERS_A_TOKEN
        return added, total / TOKENS, len(writer)


def measure_edits(seed: int = 11) -> tuple[int, int, int, int]:
    """Edits applied as meant, refused as they must be, applied in the wrong place, and refused or
    applied against expectation."""
    chance = random.Random(seed)
    applied = refused = wrong = unexpected = 0
    for number in range(EDITS):
        text, blocks, expected = _case(chance, number)
        try:
            result: str | None = edits.apply(text, edits.parse(blocks))
        except InvalidInputError:
            result = None
        if result is None and expected is None:
            refused += 1
        elif result == expected:
            applied += 1
        elif result is None:
            unexpected += 1
        else:
            wrong += 1
    return applied, refused, wrong, unexpected


def _case(chance: random.Random, number: int) -> tuple[str, str, str | None]:
    """A text, blocks, and the text that must come out; None where nothing may be changed."""
    lines = [
        f"{'    ' * chance.randint(0, 2)}{' '.join(chance.choices(WORDS, k=6))} {i}."
        for i in range(60)
    ]
    at = chance.randrange(5, 50)
    kind = ("exact", "blanks", "twice", "absent", "overlap")[number % 5]
    new = f"{' '.join(chance.choices(WORDS, k=4))} new"
    if kind == "exact":
        count = chance.randint(1, 3)
        return (
            _text(lines),
            _block(lines[at : at + count], [new]),
            _text([*lines[:at], new, *lines[at + count :]]),
        )
    if kind == "blanks":
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        searched = "  ".join(lines[at].split())
        return (
            _text(lines),
            _block([searched], [new]),
            _text([*lines[:at], indent + new, *lines[at + 1 :]]),
        )
    if kind == "twice":
        lines[at + 3] = f"  {lines[at]}" if chance.random() < 0.5 else lines[at]
        searched = lines[at] if lines[at] == lines[at + 3] else "  ".join(lines[at].split())
        return _text(lines), _block([searched], [new]), None
    if kind == "absent":
        return _text(lines), _block([lines[at].replace(".", " never.")], [new]), None
    return (
        _text(lines),
        _block(lines[at : at + 3], [new]) + _block(lines[at + 2 : at + 4], [new + " 2"]),
        None,
    )


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def _block(old: list[str], new: list[str]) -> str:
    return "\n".join([edits.BEGIN, *old, edits.MIDDLE, *new, edits.END]) + "\n"


def main() -> int:
    report = Report("documents", ("leaf/documents", "leaf/agent"))
    added, share, calls = measure_summary()
    print(f"summary of a transcript of {TOKENS:,} tokens, {calls} call of the writer")
    applied, refused, wrong, unexpected = measure_edits()
    summary = f"summary of a transcript of {TOKENS:,} tokens"
    itself = {"the chat reads it itself": TOKENS}
    return report.end(
        [
            Figure(
                summary, "tokens that it adds to the chat", added, IN_CHAT, False, "{:,.0f}", itself
            ),
            Figure(
                summary, "all its tokens, against the transcript", share, IN_ALL, False, "{:.2f} ×"
            ),
            Figure(f"{EDITS} seeded edits", "applied as meant", applied, shown="{:.0f}"),
            Figure(
                f"{EDITS} seeded edits",
                "refused with a reason, as they must be",
                refused,
                shown="{:.0f}",
            ),
            Figure(f"{EDITS} seeded edits", "in the wrong place", wrong, 0, False, "{:.0f}"),
            Figure(
                f"{EDITS} seeded edits",
                "refused though they fit one place",
                unexpected,
                0,
                False,
                "{:.0f}",
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())

"""The title of a chat: the question cut short, and the one that a model makes of question and answer
once there is an answer. Pure but for the one call."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

from leaf.agent.blocks import text_block
from leaf.agent.endpoint import Endpoint
from leaf.agent.models.base import ModelEvent, ModelRequest, TokenUsage
from leaf.readers.binary import shortened

CUT_CHARACTERS = 60
"""Of the question that stands as the title until there is another."""
READ_CHARACTERS = 1_500
"""Of the question and of the answer that the model is shown."""
MOST_CHARACTERS, MOST_WORDS = 80, 10
"""What is longer is no title but an answer."""
MOST_TOKENS = 300
"""A title takes ten; models that think aloud first need more, and end here at the latest."""
SYSTEM = (
    "You give conversations a title of three to six words, in the language of the question, that says "
    "what it is about. Write the title alone: no quotation marks, no full stop, no Markdown."
)
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_HEAD = re.compile(r"^(?:title|titel|titre|título|titolo)\s*[:：]\s*", re.IGNORECASE)
_AROUND = " \t\"'`*_#«»“”„‘’‚‹›「」『』.。"
_JOINERS = "\u200c\u200d"
"""Not printable, and letters are written with them."""


def cut(question: str) -> str:
    """The beginning of a question in one line, cut at a word."""
    line = " ".join(question.split())
    if len(line) <= CUT_CHARACTERS:
        return line
    return line[:CUT_CHARACTERS].rsplit(" ", 1)[0] + " …"


def ask(
    endpoint: Endpoint,
    model: str,
    question: str,
    answer: str,
    stop: threading.Event,
    spent: Callable[[TokenUsage], None],
) -> str:
    """A title by this model; empty where it gave none. `spent` is told what it took, also where it
    failed. Raises ModelError, and RunError once `stop` is set."""
    exchange = f"<question>\n{question[:READ_CHARACTERS]}\n</question>\n"
    exchange += f"<answer>\n{answer[:READ_CHARACTERS]}\n</answer>"
    request = ModelRequest(
        model,
        SYSTEM,
        (),
        [{"role": "user", "content": [text_block(shortened(exchange))]}],
        MOST_TOKENS,
        profile="basic",  # nothing to think about, and nothing that is asked for again
    )
    used = TokenUsage()

    def event(e: ModelEvent) -> None:
        nonlocal used
        if e.kind == "usage":
            used = e.usage

    try:
        turn = endpoint.model.turn(request, event, stop)
        used = turn.usage
    finally:
        spent(used)
    if turn.stop_reason not in ("end_turn", "stop_sequence"):
        return ""
    return cleaned("".join(b["text"] for b in turn.content if b["type"] == "text"))


def cleaned(text: str) -> str:
    """What a model wrote as a title, without what stands around one; empty for what is none."""
    lines = [line for line in _THOUGHT.sub("", text).splitlines() if line.strip()]
    if len(lines) != 1:
        return ""
    line = "".join(c if c.isprintable() or c in _JOINERS else " " for c in lines[0])
    title = _HEAD.sub("", " ".join(line.split()).strip(_AROUND)).strip(_AROUND)
    if len(title) > MOST_CHARACTERS or len(title.split()) > MOST_WORDS:
        return ""
    return title if any(c.isalnum() for c in title) else ""

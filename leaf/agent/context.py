"""From a chat's history to the messages of a request. Each stored raw message goes out as it was
stored, or as a compaction says; what the API or the model would refuse is left out or filled in,
and always in the same way, so that the prompt cache keeps holding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import cast

from leaf.agent.blocks import question_message, tool_result
from leaf.files.line import attached_lines
from leaf.shapes.raw import RawMessage
from leaf.shapes.results import PictureSent
from leaf.store.model import ChatFile
from leaf.tools.base import Picture

_UNFINISHED = "Not finished: the run ended before this call gave a result."


@cache
def system_prompt(profile: str = "claude") -> str:
    """What the model is told first: the same for every user, chat and day; how to cite, where the
    server has no way."""
    folder = Path(__file__).parent / "prompts"
    names = ("analyst.md", "citing.md") if profile == "basic" else ("analyst.md",)
    return "\n\n".join((folder / name).read_text(encoding="utf-8").strip() for name in names)


def user_message(
    text: str,
    files: Sequence[ChatFile] = (),
    more: Sequence[str] = (),
    pictures: Sequence[Picture] = (),
    told: str = "",
) -> RawMessage:
    """A question as the model gets it now and ever after: its words, a line for each file that came
    with it, `more` lines, and `pictures` among those files, labelled by their handles, in the order
    in which they are seen; before all that what it is `told` of a project's instructions.
    """
    lines = [attached_lines(files, text)] if files else []
    if pictures:
        lines.append(
            f"[Shown above, in this order: {', '.join(picture.label for picture in pictures)}]"
        )
    return question_message(
        text,
        "\n".join([*lines, *more]),
        [cast("PictureSent", asdict(picture)) for picture in pictures],
        told,
    )


def repair(messages: Iterable[RawMessage]) -> list[RawMessage]:
    """Every tool call followed by its result and no result without its call, whatever a broken run
    left behind."""
    repaired: list[RawMessage] = []
    for message in messages:
        waiting = _calls(repaired[-1]) if repaired else []
        if message["role"] == "user":
            message = _answer(message, waiting)
            if message["content"]:
                repaired.append(message)
                continue
        elif waiting:
            repaired.append(_answer({"role": "user", "content": []}, waiting))
        if message["role"] == "assistant":
            repaired.append(message)
    waiting = _calls(repaired[-1]) if repaired else []
    return [*repaired, _answer({"role": "user", "content": []}, waiting)] if waiting else repaired


def _calls(message: RawMessage) -> list[str]:
    if message["role"] != "assistant" or isinstance(message["content"], str):
        return []
    return [block["id"] for block in message["content"] if block["type"] == "tool_use"]


def _answer(message: RawMessage, waiting: list[str]) -> RawMessage:
    """The user message with exactly the results that are waited for, missing ones said to be
    unfinished."""
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    results = {block["tool_use_id"]: block for block in blocks if block["type"] == "tool_result"}
    if list(results) == waiting:
        return message
    answers = [
        results.get(call_id) or tool_result(call_id, _UNFINISHED, is_error=True)
        for call_id in waiting
    ]
    return {
        "role": "user",
        "content": [*answers, *(block for block in blocks if block["type"] != "tool_result")],
    }

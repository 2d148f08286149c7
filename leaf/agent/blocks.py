"""The one place where content blocks for a model are made, with the guard that keeps binary out of text.

Bytes written out as base64 cost a token for every two or three characters and tell the model nothing, so a text that looks like
them is refused, wherever it came from.
"""

from __future__ import annotations

import re
from typing import Any

from leaf.errors import InvalidInputError

Json = dict[str, Any]

_BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{400,}={0,2}")
_BASE64_LINES = re.compile(r"(?:^[A-Za-z0-9+/]{60,76}\r?\n){8,}", re.MULTILINE)
_DATA_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/]{100,}")


def refuse_binary(text: str) -> str:
    """The text itself. Raises InvalidInputError where it holds binary data written as text."""
    found = _DATA_URL.search(text) or next(
        (m for pattern in (_BASE64_LINES, _BASE64_RUN) for m in pattern.finditer(text) if _mixed(m.group())), None
    )
    if found:
        raise InvalidInputError(
            f"The text holds binary data (base64, {len(found.group()):,} characters), which is not sent to a model.",
            "Add it as a file, or leave that part out.",
        )
    return text


def _mixed(run: str) -> bool:
    """Whether a run has capitals, small letters and digits in quantity, as encoded bytes have; words, DNA and hex have not."""
    counts = [sum(map(test, run)) for test in (str.isupper, str.islower, str.isdigit)]
    return all(count * 20 > len(run) for count in counts)


def text_block(text: str) -> Json:
    """A text block; the API takes no empty one."""
    return {"type": "text", "text": refuse_binary(text) or "(empty)"}


def question_message(text: str, attached: str = "") -> Json:
    """A user's question with the lines of the files that came with it. Made once, stored, and sent the same ever after."""
    whole = "\n\n".join(part for part in (text.strip(), attached.strip()) if part)
    if not whole:
        raise InvalidInputError("The question is empty.", "Write what you want to know.")
    return {"role": "user", "content": [text_block(whole)]}


def assistant_message(content: list[Json]) -> Json:
    return {"role": "assistant", "content": content}


def tool_result(call_id: str, text: str, *, is_error: bool = False) -> Json:
    """The result of one tool call."""
    block: Json = {"type": "tool_result", "tool_use_id": call_id, "content": refuse_binary(text) or "(nothing)"}
    return {**block, "is_error": True} if is_error else block

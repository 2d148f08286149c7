"""Chunks (what a run streams) and parts (what a message keeps), and the one reducer from the first to the second.

The names are those of the AI SDK's UI-message stream, so that other front ends can read them. A chunk and a part are plain JSON
objects. Nothing here knows about models, tools or pages.

    start{messageId} · start-step · text-start/-delta/-end{id,delta} · reasoning-start/-delta/-end{id,delta}
    tool-input-start{toolCallId,toolName} · tool-input-delta{toolCallId,inputTextDelta}
    tool-input-available{toolCallId,toolName,input} · tool-input-error{toolCallId,toolName,input,errorText}
    tool-output-available{toolCallId,output} · tool-output-error{toolCallId,errorText}
    source-document{sourceId,mediaType,title,filename} · file{url,mediaType} · data-<name>{data}
    finish-step · reset-step · finish{finishReason} · abort{reason} · error{errorText}
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Chunk = dict[str, Any]
Part = dict[str, Any]

TERMINAL = frozenset({"finish", "abort", "error"})
"""A stream ends with exactly one of these."""


def chunk(kind: str, **fields: Any) -> Chunk:
    """A chunk of that type: `chunk("text-delta", id="t1", delta="Hel")`."""
    return {"type": kind, **fields}


def reduce(chunks: Iterable[Chunk]) -> list[Part]:
    """Parts of a whole stream."""
    parts: list[Part] = []
    for c in chunks:
        apply(parts, c)
    return parts


def apply(parts: list[Part], c: Chunk) -> None:
    """Add one chunk to `parts`, in place. Unknown types are passed over, so that an old reader survives a new writer."""
    kind = str(c.get("type", ""))
    if kind in ("text-start", "reasoning-start"):
        parts.append({"type": kind.removesuffix("-start"), "id": c["id"], "text": "", "state": "streaming"})
    elif kind in ("text-delta", "reasoning-delta"):
        part = _find(parts, kind.removesuffix("-delta"), "id", c["id"])
        if part is not None:
            part["text"] += c["delta"]
    elif kind in ("text-end", "reasoning-end"):
        part = _find(parts, kind.removesuffix("-end"), "id", c["id"])
        if part is not None:
            part["state"] = "done"
    elif kind.startswith("tool-"):
        _apply_tool(parts, kind, c)
    elif kind == "start-step":
        parts.append({"type": "step-start"})
    elif kind == "reset-step":
        _drop_last_step(parts)
    elif kind.startswith("data-"):
        _apply_data(parts, c)
    elif kind in ("source-document", "file"):
        parts.append(dict(c))
    elif kind in TERMINAL:
        _close(parts)


def _apply_tool(parts: list[Part], kind: str, c: Chunk) -> None:
    call_id = c["toolCallId"]
    part = next((p for p in reversed(parts) if p.get("toolCallId") == call_id), None)
    if part is None:
        if "toolName" not in c:
            return
        part = {"type": f"tool-{c['toolName']}", "toolCallId": call_id, "state": "input-streaming"}
        parts.append(part)
    if kind == "tool-input-delta":
        part["inputText"] = part.get("inputText", "") + c["inputTextDelta"]
    elif kind in ("tool-input-available", "tool-input-error"):
        part.pop("inputText", None)
        part["input"] = c.get("input")
        part["state"] = "input-available"
        if kind == "tool-input-error":
            part.update(state="output-error", errorText=c["errorText"])
    elif kind == "tool-output-available":
        part.update(state="output-available", output=c["output"])
    elif kind == "tool-output-error":
        part.update(state="output-error", errorText=c["errorText"])


def _apply_data(parts: list[Part], c: Chunk) -> None:
    """Data parts with an id replace the earlier one with that type and id; without, they are added."""
    if "id" in c:
        part = _find(parts, c["type"], "id", c["id"])
        if part is not None:
            part["data"] = c["data"]
            return
    parts.append(dict(c))


def _find(parts: list[Part], kind: str, key: str, value: object) -> Part | None:
    return next((p for p in reversed(parts) if p["type"] == kind and p.get(key) == value), None)


def _drop_last_step(parts: list[Part]) -> None:
    """Forget what the interrupted attempt of the newest step had shown; the step begins again."""
    for i in range(len(parts) - 1, -1, -1):
        if parts[i]["type"] == "step-start":
            del parts[i + 1 :]
            return
    parts.clear()


def _close(parts: list[Part]) -> None:
    """The stream is over: nothing streams any more, and a tool call without an output was not finished."""
    for part in parts:
        if part.get("state") == "streaming":
            part["state"] = "done"
        elif part.get("state") in ("input-streaming", "input-available"):
            part.update(state="output-error", errorText="Not finished.")
            part.pop("inputText", None)

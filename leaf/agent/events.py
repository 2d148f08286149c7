"""Chunks (what a run streams) and parts (what a message keeps), and the one reducer from the first to the second.

The names are those of the AI SDK's UI-message stream, so that other front ends can read them. A chunk and a part are plain JSON
objects. Nothing here knows about models, tools or pages.

    start{messageId} · start-step{step} · text-start/-delta/-end{id,delta} · reasoning-start/-delta/-end{id,delta}
    tool-input-start{toolCallId,toolName} · tool-input-delta{toolCallId,inputTextDelta}
    tool-input-available{toolCallId,toolName,input} · tool-input-error{toolCallId,toolName,input,errorText}
    tool-output-available{toolCallId,output} · tool-output-error{toolCallId,errorText}
    source-document{sourceId,mediaType,title,filename,providerMetadata} · file{url,mediaType} · data-<name>{id,data}
    data-document-delta{id,data:{delta}}
    finish-step · data-reset-step{data:{step}} · finish{finishReason} · abort{reason} · error{errorText}

A step that runs again, after a cut connection or a crash, streams its chunks again. The reducer takes that: `start-step` with a
number that was there, and `data-reset-step`, drop what the earlier attempt had shown; a `text-start` with a known id begins that
text anew; outputs, sources and data with an id replace their earlier selves.

A client of the AI SDK keeps no fields but those named here, so what Leaf knows of a source stands in its `providerMetadata`.
Answers that were written before have the place beside it, and `reset-step` in place of `data-reset-step`; both are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Chunk = dict[str, Any]
Part = dict[str, Any]

TERMINAL = frozenset({"finish", "abort", "error"})
"""A stream ends with exactly one of these."""

_DELTAS = {
    "text-delta": ("id", "delta"),
    "reasoning-delta": ("id", "delta"),
    "tool-input-delta": ("toolCallId", "inputTextDelta"),
}
"""Chunk type -> its key and its text."""
DOCUMENT_DELTA = "data-document-delta"
RESET = ("data-reset-step", "reset-step")
"""What takes back what a step had shown: as a client of the AI SDK takes it, and as it was called before."""


def chunk(kind: str, **fields: Any) -> Chunk:
    """A chunk of that type: `chunk("text-delta", id="t1", delta="Hel")`."""
    return {"type": kind, **fields}


def place_of(source: Part) -> str:
    """Where in its file a `source-document` points: `page 12`; empty for the whole file."""
    leaf = (source.get("providerMetadata") or {}).get("leaf") or {}
    return str(leaf.get("place") or source.get("place") or "")


def compact(chunks: Iterable[Chunk]) -> list[Chunk]:
    """The same stream with neighbouring deltas of one block joined: what a reader who comes late needs, in fewer chunks."""
    joined: list[Chunk] = []
    for c in chunks:
        if c["type"] == DOCUMENT_DELTA and joined and joined[-1]["type"] == DOCUMENT_DELTA and joined[-1]["id"] == c["id"]:
            joined[-1] = {**c, "data": {"delta": joined[-1]["data"]["delta"] + c["data"]["delta"]}}
            continue
        keys = _DELTAS.get(c["type"])
        last = joined[-1] if joined else {}
        if keys and last.get("type") == c["type"] and last[keys[0]] == c[keys[0]]:
            joined[-1] = {**last, keys[1]: last[keys[1]] + c[keys[1]]}
        else:
            joined.append(c)
    return joined


def reduce(chunks: Iterable[Chunk]) -> list[Part]:
    """Parts of a whole stream."""
    parts: list[Part] = []
    for c in chunks:
        apply(parts, c)
    return parts


def replay(parts: Iterable[Part]) -> list[Chunk]:
    """Chunks that give these parts again, for a viewer who comes when the stream is over; without a first and a last one."""
    chunks: list[Chunk] = []
    step = 0
    for part in parts:
        if part["type"] == "step-start":
            chunks += [chunk("finish-step")] * bool(step)
            step += 1
            chunks.append(chunk("start-step", step=step))
        elif part["type"] in ("text", "reasoning"):
            chunks += _replay_text(part)
        elif part["type"].startswith("tool-"):
            chunks += _replay_tool(part)
        else:
            chunks.append(dict(part))
    return [*chunks, *[chunk("finish-step")] * bool(step)]


def _replay_text(part: Part) -> list[Chunk]:
    kind, block = part["type"], part["id"]
    deltas = [chunk(f"{kind}-delta", id=block, delta=part["text"])] if part["text"] else []
    ends = [chunk(f"{kind}-end", id=block)] if part["state"] == "done" else []
    return [chunk(f"{kind}-start", id=block), *deltas, *ends]


def _replay_tool(part: Part) -> list[Chunk]:
    call_id, name = part["toolCallId"], part["type"].removeprefix("tool-")
    chunks = [chunk("tool-input-start", toolCallId=call_id, toolName=name)]
    if "inputText" in part:
        chunks.append(chunk("tool-input-delta", toolCallId=call_id, inputTextDelta=part["inputText"]))
    if "input" in part:
        chunks.append(chunk("tool-input-available", toolCallId=call_id, toolName=name, input=part["input"]))
    if "output" in part:
        chunks.append(chunk("tool-output-available", toolCallId=call_id, output=part["output"]))
    if "errorText" in part:
        chunks.append(chunk("tool-output-error", toolCallId=call_id, errorText=part["errorText"]))
    return chunks


def apply(parts: list[Part], c: Chunk) -> None:
    """Add one chunk to `parts`, in place. Unknown types are passed over, so that an old reader survives a new writer."""
    kind = str(c.get("type", ""))
    if kind.startswith(("text-", "reasoning-")):
        _apply_text(parts, kind, c)
    elif kind.startswith("tool-"):
        _apply_tool(parts, kind, c)
    elif kind == "start-step":
        _start_step(parts, c.get("step"))
    elif kind in RESET:
        _reset_step(parts, (c.get("data") or c).get("step"))
    elif kind == DOCUMENT_DELTA:
        _grow_document(parts, c)
    elif kind.startswith("data-"):
        _put(parts, c, "id")
    elif kind == "source-document":
        _put(parts, c, "sourceId")
    elif kind == "file":
        _put(parts, c, "url")
    elif kind in TERMINAL:
        _close(parts)


def _apply_text(parts: list[Part], kind: str, c: Chunk) -> None:
    name, _, phase = kind.rpartition("-")
    part = _find(parts, name, "id", c["id"])
    if phase == "start":
        if part is None:
            parts.append({"type": name, "id": c["id"], "text": "", "state": "streaming"})
        else:
            part.update(text="", state="streaming")
    elif part is not None and phase == "delta":
        part["text"] += c["delta"]
    elif part is not None and phase == "end":
        part["state"] = "done"


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
        part.pop("errorText", None)
        part.update(state="output-available", output=c["output"])
    elif kind == "tool-output-error":
        part.update(state="output-error", errorText=c["errorText"])


def _put(parts: list[Part], c: Chunk, key: str) -> None:
    """Add the chunk as a part; with a key that an earlier part of its type has, it takes that one's place."""
    part = _find(parts, c["type"], key, c[key]) if key in c else None
    if part is None:
        parts.append(dict(c))
    else:
        part.clear()
        part.update(c)


def _grow_document(parts: list[Part], c: Chunk) -> None:
    """A document that is being written carries its text; the chunk that says that it is finished takes its place."""
    part = _find(parts, "data-document", "id", c["id"])
    if part is not None:
        part["data"] = {**part["data"], "text": part["data"].get("text", "") + c["data"]["delta"]}


def _find(parts: list[Part], kind: str, key: str, value: object) -> Part | None:
    return next((p for p in reversed(parts) if p["type"] == kind and p.get(key) == value), None)


def _start_step(parts: list[Part], step: int | None) -> None:
    """Begin a step; one that has begun before begins again, without what it had shown."""
    if step is not None and len(_steps(parts)) >= step:
        _reset_step(parts, step)
    else:
        parts.append({"type": "step-start"})


def _reset_step(parts: list[Part], step: int | None) -> None:
    """Forget what the step (1-based; without a number the newest) had shown. A step that has not begun has shown nothing."""
    starts = _steps(parts)
    if step is None:
        del parts[starts[-1] + 1 if starts else 0 :]
    elif 1 <= step <= len(starts):
        del parts[starts[step - 1] + 1 :]


def _steps(parts: list[Part]) -> list[int]:
    return [i for i, part in enumerate(parts) if part["type"] == "step-start"]


def _close(parts: list[Part]) -> None:
    """The stream is over: nothing streams any more, and a tool call without an output was not finished."""
    for part in parts:
        if part.get("state") == "streaming":
            part["state"] = "done"
        elif part.get("state") in ("input-streaming", "input-available"):
            part.update(state="output-error", errorText="Not finished.")
            part.pop("inputText", None)

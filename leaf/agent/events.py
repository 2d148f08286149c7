"""The one reducer from chunks (what a run streams) to parts (what a message keeps). Their types
stand in `leaf.shapes`.

The names are those of the AI SDK's UI-message stream, so that other front ends can read them. A
chunk and a part are plain JSON objects. Nothing here knows about models, tools or pages, and
nothing is checked here: this runs for each piece of a text.

    start{messageId} · start-step{step} · text-start/-delta/-end{id,delta} · reasoning-start/-delta/-end{id,delta}
    tool-input-start{toolCallId,toolName} · tool-input-delta{toolCallId,inputTextDelta}
    tool-input-available{toolCallId,toolName,input} · tool-input-error{toolCallId,toolName,input,errorText}
    tool-output-available{toolCallId,output} · tool-output-error{toolCallId,errorText}
    source-document{sourceId,mediaType,title,filename,providerMetadata} · file{url,mediaType} · data-<name>{id,data}
    data-document-delta{id,data:{delta}}
    finish-step · data-reset-step{data:{step}} · finish{finishReason} · abort{reason} · error{errorText}

A step that runs again, after a cut connection or a crash, streams its chunks again. The reducer
takes that: `start-step` with a number that was there, and `data-reset-step`, drop what the earlier
attempt had shown; a `text-start` with a known id begins that text anew; outputs, sources and data
with an id replace their earlier selves.

A client of the AI SDK keeps no fields but those named here, so what Leaf knows of a source stands
in its `providerMetadata`. Answers that were written before have the place beside it, and
`reset-step` in place of `data-reset-step`; both are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, cast

from leaf.shapes.chunks import (
    RESET,
    TERMINAL,
    Abort,
    BlockEnds,
    BlockGrows,
    BlockStarts,
    Chunk,
    DocumentGrows,
    Error,
    Finish,
    InputGrows,
    InputStarts,
    InputThere,
    InputWrong,
    OldStepReset,
    OutputThere,
    OutputWrong,
    StepReset,
    StepStarts,
    chunk,
    is_block_growing,
    is_document_growing,
    is_input_growing,
)
from leaf.shapes.part_values import is_document, is_reasoning, is_text, is_tool, tool_name
from leaf.shapes.parts import Part, ReasoningPart, SourcePart, TextPart, ToolPart

__all__ = [
    "RESET",
    "TERMINAL",
    "Chunk",
    "Part",
    "apply",
    "chunk",
    "compact",
    "place_of",
    "reduce",
    "replay",
]


def place_of(source: SourcePart) -> str:
    """Where in its file a `source-document` points: `page 12`; empty for the whole file."""
    metadata = source.get("providerMetadata")
    return (metadata["leaf"].get("place") if metadata else "") or source.get("place") or ""


def compact(chunks: Iterable[Chunk]) -> list[Chunk]:
    """The same stream with neighbouring deltas of one block joined: what a reader who comes late
    needs, in fewer chunks."""
    joined: list[Chunk] = []
    for (_, block), group in groupby(chunks, _block_of):
        alike = list(group)
        joined += alike if block is None or len(alike) == 1 else [_joined(alike)]
    return joined


def _block_of(c: Chunk) -> tuple[str, str | None]:
    """What the deltas of one block have in common; None in place of a block for all other
    chunks."""
    if is_block_growing(c) or is_document_growing(c):
        return c["type"], c["id"]
    return c["type"], c["toolCallId"] if is_input_growing(c) else None


def _joined(alike: Sequence[Chunk]) -> Chunk:
    """Deltas of one block as one."""
    last = alike[-1]
    if is_block_growing(last):
        return {**last, "delta": "".join(c["delta"] for c in alike if is_block_growing(c))}
    if is_input_growing(last):
        return {
            **last,
            "inputTextDelta": "".join(c["inputTextDelta"] for c in alike if is_input_growing(c)),
        }
    if is_document_growing(last):
        return {
            **last,
            "data": {"delta": "".join(c["data"]["delta"] for c in alike if is_document_growing(c))},
        }
    return last


def reduce(chunks: Iterable[Chunk]) -> list[Part]:
    """Parts of a whole stream."""
    parts: list[Part] = []
    for c in chunks:
        apply(parts, c)
    return parts


def replay(parts: Iterable[Part]) -> list[Chunk]:
    """Chunks that give these parts again, for a viewer who comes when the stream is over; without a
    first and a last one."""
    chunks: list[Chunk] = []
    step = 0
    for part in parts:
        if part["type"] == "step-start":
            chunks += [chunk("finish-step")] * bool(step)
            step += 1
            chunks.append(chunk("start-step", step=step))
        elif is_text(part):
            chunks += _replay_block(
                part, chunk("text-start", id=part["id"]), chunk("text-end", id=part["id"])
            )
        elif is_reasoning(part):
            chunks += _replay_block(
                part, chunk("reasoning-start", id=part["id"]), chunk("reasoning-end", id=part["id"])
            )
        elif is_tool(part):
            chunks += _replay_tool(part)
        else:
            chunks.append(
                cast("Chunk", dict(part))
            )  # of every other kind part and chunk are the same
    return [*chunks, *[chunk("finish-step")] * bool(step)]


def _replay_block(
    part: TextPart | ReasoningPart, start: BlockStarts, end: BlockEnds
) -> list[Chunk]:
    kind: Literal["text-delta", "reasoning-delta"] = (
        "text-delta" if part["type"] == "text" else "reasoning-delta"
    )
    deltas = [chunk(kind, id=start["id"], delta=part["text"])] if part["text"] else []
    return [start, *deltas, *([end] if part["state"] == "done" else [])]


def _replay_tool(part: ToolPart) -> list[Chunk]:
    call_id, name = part["toolCallId"], tool_name(part)
    chunks: list[Chunk] = [chunk("tool-input-start", toolCallId=call_id, toolName=name)]
    if "inputText" in part:
        chunks.append(
            chunk("tool-input-delta", toolCallId=call_id, inputTextDelta=part["inputText"])
        )
    if "input" in part:
        chunks.append(
            chunk("tool-input-available", toolCallId=call_id, toolName=name, input=part["input"])
        )
    if "output" in part:
        chunks.append(chunk("tool-output-available", toolCallId=call_id, output=part["output"]))
    if "errorText" in part:
        chunks.append(chunk("tool-output-error", toolCallId=call_id, errorText=part["errorText"]))
    return chunks


def apply(parts: list[Part], c: Chunk) -> None:
    """Add one chunk to `parts`, in place. Unknown types are passed over, so that an old reader
    survives a new writer."""
    kind = c["type"]
    if reduce_one := _REDUCERS.get(kind):
        reduce_one(parts, c)
    elif kind.startswith("data-"):
        _put(parts, c, "id")


def _block_starts(parts: list[Part], c: BlockStarts) -> None:
    part = _block(parts, c)
    if part is not None:
        part["text"], part["state"] = "", "streaming"
    elif c["type"] == "text-start":
        parts.append({"type": "text", "id": c["id"], "text": "", "state": "streaming"})
    else:
        parts.append({"type": "reasoning", "id": c["id"], "text": "", "state": "streaming"})


def _block_grows(parts: list[Part], c: BlockGrows) -> None:
    part = _block(parts, c)
    if part is not None:
        part["text"] += c["delta"]


def _block_ends(parts: list[Part], c: BlockEnds) -> None:
    part = _block(parts, c)
    if part is not None:
        part["state"] = "done"


def _block(
    parts: list[Part], c: BlockStarts | BlockGrows | BlockEnds
) -> TextPart | ReasoningPart | None:
    """The newest text or thought with the id that the chunk names."""
    block = c["id"]
    if c["type"].startswith("text"):
        return next((p for p in reversed(parts) if is_text(p) and p.get("id") == block), None)
    return next((p for p in reversed(parts) if is_reasoning(p) and p.get("id") == block), None)


ToolChunk = InputStarts | InputGrows | InputThere | InputWrong | OutputThere | OutputWrong


def _call(parts: list[Part], c: ToolChunk) -> ToolPart | None:
    """The part of a call, which begins with the first chunk that says the tool's name."""
    call_id = c["toolCallId"]
    known = next((p for p in reversed(parts) if is_tool(p) and p["toolCallId"] == call_id), None)
    name = cast("Mapping[str, Any]", c).get("toolName")
    if known is not None or name is None:
        return known
    part: ToolPart = {"type": f"tool-{name}", "toolCallId": call_id, "state": "input-streaming"}
    parts.append(part)
    return part


def _input_starts(parts: list[Part], c: InputStarts) -> None:
    _call(parts, c)


def _input_grows(parts: list[Part], c: InputGrows) -> None:
    if part := _call(parts, c):
        part["inputText"] = part.get("inputText", "") + c["inputTextDelta"]


def _input_there(parts: list[Part], c: InputThere | InputWrong) -> None:
    if part := _call(parts, c):
        part.pop("inputText", None)
        part["input"] = c.get("input")
        part["state"] = "input-available"


def _input_wrong(parts: list[Part], c: InputWrong) -> None:
    _input_there(parts, c)
    _output_wrong(parts, c)


def _output_there(parts: list[Part], c: OutputThere) -> None:
    if part := _call(parts, c):
        part.pop("errorText", None)
        part["state"], part["output"] = "output-available", c["output"]


def _output_wrong(parts: list[Part], c: InputWrong | OutputWrong) -> None:
    if part := _call(parts, c):
        part["state"], part["errorText"] = "output-error", c["errorText"]


def _put(parts: list[Part], c: Chunk, key: str) -> None:
    """Add the chunk as a part; with a key that an earlier part of its type has, it takes that one's
    place."""
    came = cast("dict[str, Any]", c)
    kind, value = came["type"], came.get(key)
    earlier = (
        cast("dict[str, Any]", p)
        for p in reversed(parts)
        if p["type"] == kind and p.get(key) == value
    )
    part = next(earlier, None) if key in came else None
    if part is None:
        parts.append(cast("Part", dict(came)))
    else:
        part.clear()
        part.update(came)


def _put_source(parts: list[Part], c: Chunk) -> None:
    _put(parts, c, "sourceId")


def _put_file(parts: list[Part], c: Chunk) -> None:
    _put(parts, c, "url")


def _document_grows(parts: list[Part], c: DocumentGrows) -> None:
    """A document that is being written carries its text; the chunk that says that it is finished
    takes its place."""
    part = next((p for p in reversed(parts) if is_document(p) and p["id"] == c["id"]), None)
    if part is not None:
        part["data"] = {**part["data"], "text": part["data"].get("text", "") + c["data"]["delta"]}


def _step_starts(parts: list[Part], c: StepStarts) -> None:
    """Begin a step; one that has begun before begins again, without what it had shown."""
    step = c.get("step")
    if step is not None and len(_steps(parts)) >= step:
        _take_back(parts, step)
    else:
        parts.append({"type": "step-start"})


def _step_reset(parts: list[Part], c: StepReset) -> None:
    _take_back(parts, (c.get("data") or {}).get("step"))


def _old_step_reset(parts: list[Part], c: OldStepReset) -> None:
    _take_back(parts, c.get("step"))


def _take_back(parts: list[Part], step: int | None) -> None:
    """Forget what the step (1-based; without a number the newest) had shown. A step that has not
    begun has shown nothing."""
    starts = _steps(parts)
    if step is None:
        del parts[starts[-1] + 1 if starts else 0 :]
    elif 1 <= step <= len(starts):
        del parts[starts[step - 1] + 1 :]


def _steps(parts: list[Part]) -> list[int]:
    return [i for i, part in enumerate(parts) if part["type"] == "step-start"]


def _close(parts: list[Part], _: Finish | Abort | Error) -> None:
    """The stream is over: nothing streams any more, and a tool call without an output was not
    finished."""
    for part in parts:
        if is_text(part) or is_reasoning(part):
            if part.get("state") == "streaming":
                part["state"] = "done"
        elif is_tool(part) and part["state"] in ("input-streaming", "input-available"):
            part["state"], part["errorText"] = "output-error", "Not finished."
            part.pop("inputText", None)


_REDUCERS: Mapping[str, Callable[[list[Part], Any], None]] = {
    "text-start": _block_starts,
    "text-delta": _block_grows,
    "text-end": _block_ends,
    "reasoning-start": _block_starts,
    "reasoning-delta": _block_grows,
    "reasoning-end": _block_ends,
    "tool-input-start": _input_starts,
    "tool-input-delta": _input_grows,
    "tool-input-available": _input_there,
    "tool-input-error": _input_wrong,
    "tool-output-available": _output_there,
    "tool-output-error": _output_wrong,
    "start-step": _step_starts,
    "data-reset-step": _step_reset,
    "reset-step": _old_step_reset,
    "data-document-delta": _document_grows,
    "source-document": _put_source,
    "file": _put_file,
    "finish": _close,
    "abort": _close,
    "error": _close,
}
"""Chunk type -> what it does to the parts. Each takes the chunk of its type."""

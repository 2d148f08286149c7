"""What is shown of a turn and of an answer's sources, as chunks."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Collection, Iterable
from typing import Any

from leaf.agent.events import Chunk, chunk
from leaf.agent.models.base import ModelEvent, Usage

Json = dict[str, Any]


class Narrator:
    """Turns what a model streams into chunks. Blocks without a character are not shown."""

    def __init__(self, number: int, say: Callable[[Chunk], None], taken: Collection[str]) -> None:
        self._number = number
        self._say = say
        self._taken = taken
        self._open: dict[int, str] = {}
        self.usage = Usage()

    def event(self, event: ModelEvent) -> None:
        if event.kind == "usage":
            self.usage = event.usage
        elif event.kind == "tool-input":
            self._tool_input(event)
        else:
            self._text(event)

    def _text(self, event: ModelEvent) -> None:
        block_id = f"{event.kind}-{self._number}-{event.index}"
        if event.phase == "delta" and event.delta:
            if event.index not in self._open:
                self._open[event.index] = block_id
                self._say(chunk(f"{event.kind}-start", id=block_id))
            self._say(chunk(f"{event.kind}-delta", id=block_id, delta=event.delta))
        elif event.phase == "end" and event.index in self._open:
            self._say(chunk(f"{event.kind}-end", id=block_id))

    def _tool_input(self, event: ModelEvent) -> None:
        if event.phase == "start":
            self._open[event.index] = unique_id(event.call_id, self._number, self._taken)
            self._say(chunk("tool-input-start", toolCallId=self._open[event.index], toolName=event.name))
        elif event.phase == "delta" and event.delta:
            self._say(chunk("tool-input-delta", toolCallId=self._open[event.index], inputTextDelta=event.delta))


def unique_id(raw_id: str, number: int, taken: Collection[str]) -> str:
    """A call id that no earlier turn of the answer had: some servers count from 0 in each turn."""
    return f"{raw_id}-{number}" if raw_id in taken else raw_id


def source_chunks(outputs: Iterable[Json]) -> list[Chunk]:
    """Every place that the answer rests on, once."""
    sources: dict[tuple[str, ...], Json] = {}
    for output in outputs:
        for source in output["sources"]:
            sources.setdefault((source["file_id"], source["place"], source["action"], source["query"]), source)
    return [
        chunk(
            "source-document",
            sourceId=f"s{i}",
            mediaType=mimetypes.guess_type(source["name"])[0] or "application/octet-stream",
            title=source["name"],
            filename=source["name"],
            place=source["place"],
            providerMetadata={"leaf": source},
        )
        for i, source in enumerate(sources.values(), 1)
    ]

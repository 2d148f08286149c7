"""What is shown of a turn and of an answer's sources, as chunks."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Collection, Iterable
from typing import cast

from leaf.agent.cited import (
    Citation,
    CitationNumbers,
    CitationResolver,
    MarkReader,
    citation_chunk,
    of_block,
)
from leaf.agent.models.base import ModelEvent, TokenUsage
from leaf.shapes.chunks import Chunk, chunk
from leaf.shapes.parts import Cited, SourcePart
from leaf.shapes.results import Output, SourceUsed


class Narrator:
    """Turns what a model streams into chunks. Blocks without a character are not shown."""

    def __init__(
        self,
        number: int,
        say: Callable[[Chunk], None],
        taken: Collection[str],
        numbers: CitationNumbers | None = None,
        resolver: CitationResolver | None = None,
    ) -> None:
        self._number = number
        self._say = say
        self._taken = taken
        self._numbers = numbers or CitationNumbers()
        self._desk = resolver
        self._open: dict[int, str] = {}
        self._pieces: dict[int, int] = {}
        """Block -> pieces that its text was shown in: citations written into it divide it."""
        self._readers: dict[int, MarkReader] = {}
        self._cited: dict[int, list[Citation]] = {}
        """Block -> what the server says that it cites, shown when its text is complete."""
        self._count = 0
        self.usage = TokenUsage()

    def event(self, event: ModelEvent) -> None:
        if event.kind == "usage":
            self.usage = event.usage
        elif event.kind == "tool-input":
            self._tool_input(event)
        elif event.kind == "citation":
            if citation := of_block(event.citation):
                self._cited.setdefault(event.index, []).append(citation)
        elif event.kind == "questions":
            self._say(
                chunk("data-questions", id=f"questions-{self._number}", data=list(event.questions))
            )
        elif event.kind == "text":
            self._answer(event)
        else:
            self._thought(event)

    def _answer(self, event: ModelEvent) -> None:
        """Text of the answer: citations written into it are taken out, those beside it follow when
        it ends."""
        reader = self._readers.setdefault(event.index, MarkReader())
        if event.phase == "delta":
            for piece in reader.feed(event.delta):
                if isinstance(piece, str):
                    self._show(event.index, piece)
                else:
                    self._cite(event.index, piece)
        elif event.phase == "end":
            for rest in reader.end():
                self._show(event.index, rest)
            self._cite(event.index, self._cited.pop(event.index, []))
            self._close(event.index)

    def _show(self, index: int, text: str) -> None:
        if not text:
            return
        if index not in self._open:
            piece = self._pieces[index] = self._pieces.get(index, -1) + 1
            self._open[index] = f"text-{self._number}-{index}" + (f"-{piece}" if piece else "")
            self._say(chunk("text-start", id=self._open[index]))
        self._say(chunk("text-delta", id=self._open[index], delta=text))

    def _cite(self, index: int, citations: Iterable[Citation]) -> None:
        for citation in dict.fromkeys(citations):
            self._close(index)
            source_id = f"c{self._number}-{self._count}"
            self._count += 1
            self._say(
                citation_chunk(citation, source_id, self._numbers.of(citation.source), self._desk)
            )

    def _close(self, index: int) -> None:
        if index in self._open:
            self._say(chunk("text-end", id=self._open.pop(index)))

    def _thought(self, event: ModelEvent) -> None:
        block_id = f"reasoning-{self._number}-{event.index}"
        if event.phase == "delta" and event.delta:
            if event.index not in self._open:
                self._open[event.index] = block_id
                self._say(chunk("reasoning-start", id=block_id))
            self._say(chunk("reasoning-delta", id=block_id, delta=event.delta))
        elif event.phase == "end" and event.index in self._open:
            self._say(chunk("reasoning-end", id=block_id))

    def _tool_input(self, event: ModelEvent) -> None:
        if event.phase == "start":
            self._open[event.index] = unique_id(event.call_id, self._number, self._taken)
            self._say(
                chunk("tool-input-start", toolCallId=self._open[event.index], toolName=event.name)
            )
        elif event.phase == "delta" and event.delta:
            self._say(
                chunk(
                    "tool-input-delta",
                    toolCallId=self._open[event.index],
                    inputTextDelta=event.delta,
                )
            )


def unique_id(raw_id: str, number: int, taken: Collection[str]) -> str:
    """A call id that no earlier turn of the answer had: some servers count from 0 in each turn."""
    return f"{raw_id}-{number}" if raw_id in taken else raw_id


def source_chunks(outputs: Iterable[Output]) -> list[SourcePart]:
    """Every place that the answer rests on, once."""
    sources: dict[tuple[str, ...], SourceUsed] = {}
    for output in outputs:
        for source in output["sources"]:
            sources.setdefault(
                (source["file_id"], source["place"], source["action"], source["query"]), source
            )
    return [
        chunk(
            "source-document",
            sourceId=f"s{i}",
            mediaType=mimetypes.guess_type(source["name"])[0] or "application/octet-stream",
            title=source["name"],
            filename=source["name"],
            providerMetadata={"leaf": cast("Cited", source)},
        )
        for i, source in enumerate(sources.values(), 1)
    ]

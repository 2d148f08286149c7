"""Chunks as text: the answer to stdout, its steps and what it rests on to stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leaf.shapes.chunks import Chunk
    from leaf.shapes.parts import Cited, CoverageData, SourcePart
    from leaf.shapes.results import Covered


class TextWriter:
    """Prints the answer's text to stdout, and its steps to stderr."""

    def __init__(self) -> None:
        self._open_line = False
        self._blank = ""
        """What ended the last text, held back because a mark would go before it."""
        self._turn = ""
        self._parts: list[SourcePart] = []
        """Citations, for the notes at the end."""
        self._said: set[str] = set()

    def write(self, chunk: Chunk) -> None:
        from leaf.provenance.citations import citation_of
        from leaf.shapes.chunks import is_block_growing, is_block_starting
        from leaf.shapes.part_values import is_source

        kind = chunk["type"]
        cited = citation_of(chunk)
        if kind == "text-start" and is_block_starting(chunk):
            turn = "-".join(chunk["id"].split("-")[:2])
            if turn != self._turn:
                self._end_line()
            self._turn = turn
        elif kind == "text-delta" and is_block_growing(chunk):
            text = self._blank + chunk["delta"]
            shown = text.rstrip()
            self._blank = text[len(shown) :] if shown else text
            print(shown, end="")
            self._open_line = self._open_line or bool(shown)
        elif cited and is_source(chunk):
            self._cite(chunk, cited)
        elif kind == "text-end":
            return
        else:
            self._end_line()
            self._write_other(chunk)

    def _end_line(self) -> None:
        if self._open_line:
            print()
        self._open_line, self._blank, self._turn = False, "", ""

    def _cite(self, chunk: SourcePart, cited: Cited) -> None:
        """A mark where it is new; the same citation comes again once it has been checked."""
        if all(part["sourceId"] != chunk["sourceId"] for part in self._parts):
            print(f" [{cited['citation']}]", end="")
        self._parts = [*(p for p in self._parts if p["sourceId"] != chunk["sourceId"]), chunk]

    def _print_notes(self) -> None:
        from leaf.provenance.citations import footnotes

        self._end_line()
        for number, note in footnotes(self._parts):
            print(f"[{number}] {note}")
        self._parts = []

    def _write_other(self, chunk: Chunk) -> None:
        from leaf.agent.events import place_of
        from leaf.shapes.chunks import RESET, is_last, is_output, is_problem
        from leaf.shapes.part_values import data_in, is_source

        if is_last(chunk):
            self._print_notes()
            if chunk["type"] != "finish":
                self._note(
                    (chunk["errorText"] if chunk["type"] == "error" else chunk["reason"])
                    or "Stopped."
                )
        elif is_output(chunk):
            self._note(f"· {chunk['output'].get('summary', '')}")
        elif is_problem(chunk):
            self._note(f"· {chunk['errorText']}")
        elif is_source(chunk):
            self._note_once(
                " · ".join(filter(None, (f"Source: {chunk['title']}", place_of(chunk))))
            )
        elif waits := data_in(chunk, "status"):
            if waits["text"]:
                self._note(f"· {waits['text']}")
        elif (covered := data_in(chunk, "coverage")) is not None:
            self._note_coverage(covered)
        elif receipts := data_in(chunk, "receipts"):
            from leaf.agent.export import figures_in_words

            self._note(" ".join(figures_in_words(receipts["receipts"])))
        elif questions := data_in(chunk, "questions"):
            print(
                "\n".join(
                    ["", "Questions that work here:", *(f"- {question}" for question in questions)]
                )
            )
        elif chunk["type"] in RESET:
            self._note("· The connection was cut; asking again")

    def _note_coverage(self, data: CoverageData | Sequence[Covered]) -> None:
        from leaf.provenance import coverage

        covered = coverage.as_today(data)
        self._note(coverage.sentence(covered))
        for text in coverage.doubts(covered):
            self._note(f"Doubtful: {text}.")
        for text in coverage.notes(covered):
            self._note(f"Note: {text}.")

    def _note_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._note(text)

    def _note(self, text: str) -> None:
        sys.stdout.flush()
        print(text, file=sys.stderr)

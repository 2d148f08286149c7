"""Chunks as text: the answer to stdout, its steps and what it rests on to stderr."""

from __future__ import annotations

import sys
from typing import Any


class TextWriter:
    """Prints the answer's text to stdout, and its steps to stderr."""

    def __init__(self) -> None:
        self._open_line = False
        self._blank = ""
        """What ended the last text, held back because a mark would go before it."""
        self._turn = ""
        self._parts: list[dict[str, Any]] = []
        """Citations, for the notes at the end."""
        self._said: set[str] = set()

    def write(self, chunk: dict[str, Any]) -> None:
        from leaf.agent.cited import citation_of

        kind = chunk["type"]
        cited = citation_of(chunk)
        if kind == "text-start":
            turn = "-".join(str(chunk.get("id", "")).split("-")[:2])
            if turn != self._turn:
                self._end_line()
            self._turn = turn
        elif kind == "text-delta":
            text = self._blank + chunk["delta"]
            shown = text.rstrip()
            self._blank = text[len(shown) :] if shown else text
            print(shown, end="")
            self._open_line = self._open_line or bool(shown)
        elif cited:
            self._cite(chunk, cited)
        elif kind == "text-end":
            return
        else:
            self._end_line()
            self._write_other(kind, chunk)

    def _end_line(self) -> None:
        if self._open_line:
            print()
        self._open_line, self._blank, self._turn = False, "", ""

    def _cite(self, chunk: dict[str, Any], cited: dict[str, Any]) -> None:
        """A mark where it is new; the same citation comes again once it has been checked."""
        if all(part["sourceId"] != chunk["sourceId"] for part in self._parts):
            print(f" [{cited['citation']}]", end="")
        self._parts = [*(p for p in self._parts if p["sourceId"] != chunk["sourceId"]), chunk]

    def _print_notes(self) -> None:
        from leaf.agent.cited import footnotes

        self._end_line()
        for number, note in footnotes(self._parts):
            print(f"[{number}] {note}")
        self._parts = []

    def _write_other(self, kind: str, chunk: dict[str, Any]) -> None:
        from leaf.agent.events import RESET, place_of

        if kind in ("finish", "abort", "error"):
            self._print_notes()
        if kind == "tool-output-available":
            self._note(f"· {chunk['output'].get('summary', '')}")
        elif kind in ("tool-output-error", "tool-input-error"):
            self._note(f"· {chunk['errorText']}")
        elif kind == "source-document":
            self._note_once(" · ".join(filter(None, (f"Source: {chunk['title']}", place_of(chunk)))))
        elif kind == "data-coverage":
            from leaf.agent import coverage

            covered = coverage.as_today(chunk["data"])
            self._note(coverage.sentence(covered))
            for said in coverage.doubts(covered):
                self._note(f"Doubtful: {said}.")
            for said in coverage.notes(covered):
                self._note(f"Note: {said}.")
        elif kind == "data-receipts":
            from leaf.agent.export import figures_in_words

            self._note(" ".join(figures_in_words(chunk["data"]["receipts"])))
        elif kind == "data-questions":
            print("\n".join(["", "Questions that work here:", *(f"- {question}" for question in chunk["data"])]))
        elif kind in RESET:
            self._note("· The connection was cut; asking again")
        elif kind in ("error", "abort"):
            self._note(str(chunk.get("errorText") or chunk.get("reason") or "Stopped."))

    def _note_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._note(text)

    def _note(self, text: str) -> None:
        sys.stdout.flush()
        print(text, file=sys.stderr)

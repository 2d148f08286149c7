"""Citations of an answer: from what a model names to numbered parts, and from parts back to text with marks.

A model cites in one of two ways. Where the server knows citations, they come beside the text and name a source that was sent.
Elsewhere the model is asked to write them into the text, as `[f1#page 3 "exact words"]`; those are taken out of what is shown.
Either way a citation becomes a `source-document` part right after its text, and code looks whether its words stand there.

The `providerMetadata.leaf` of such a part: `handle`, `file_id`, `name`, `place`, `action` (`cited`), `query`, `quote`, and
`citation` (its number: one for each place), `verified` (true, false, or null while nobody has looked), `problem` (one clause,
where it is false) and `cited_place` (where the words were said to stand, if that was elsewhere).
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from leaf.agent.events import Chunk, Part, chunk

Json = dict[str, Any]

QUOTE = 1_000
"""Characters of a quote that are kept for the page; the model's own words are kept whole beside the parts."""
LONGEST_MARK = 12_000
"""Characters after which something that begins like a written citation is taken for text."""
_PLACE = r"(f\d{1,6})#([^\[\]\"“”„\n]{0,200}?)"
_QUOTE = r"(?:[\s:,]*[\"“„]((?:(?![\"”“]\s*(?:\]|[;,]\s*f\d))(?!\n\s*\n)(?!\[f\d+#).)*)[\"”“])?"
_ITEM = re.sub(r"\((?!\?)", "(?:", _PLACE + _QUOTE)
_MARK = re.compile(rf"\[\s*{_ITEM}(?:\s*[;,]\s*{_ITEM})*\s*\]", re.S)
_PART = re.compile(rf"{_PLACE}{_QUOTE}\s*(?=\]|[;,]\s*f\d)", re.S)
_BEGINNING = re.compile(r"\[\s*(?:f(?:\d{1,6}(?:#(?:(?!\n\s*\n)(?!\[f\d+#).)*)?)?)?$", re.S)
_TELLING = re.compile(r"[\[\]\n]")
"""What may end a citation, or show that there is none."""
_TURN = re.compile(r"text-(\d+)-")


@dataclass(frozen=True)
class Citation:
    """What a model said: these words stand there."""

    source: str
    """Locator: `f1#page 3`."""
    quote: str

    @property
    def handle(self) -> str:
        return self.source.partition("#")[0].strip()

    @property
    def place(self) -> str:
        return self.source.partition("#")[2].strip()


class Desk(Protocol):
    """What an answer needs to know of the chat's files for its citations."""

    def name(self, handle: str) -> tuple[str, str] | None:
        """Id and name of a file of the chat; None if there is none with this handle."""

    def check(self, citations: Sequence[Citation]) -> list[Json]:
        """For each citation {"verified", "place", "problem"}: the place where its words stand, or why they were not found."""


def of_block(citation: Json) -> Citation | None:
    """A citation as the API gives it; None for one that names no passage of a tool's result."""
    if citation.get("type") != "search_result_location":
        return None
    return Citation(str(citation.get("source") or ""), str(citation.get("cited_text") or ""))


# Written into the text


def written(mark: str) -> list[Citation]:
    """The citations of a whole mark, its brackets included."""
    return [Citation(f"{found[1]}#{found[2].strip()}", (found[3] or "").strip()) for found in _PART.finditer(mark)]


class MarkReader:
    """Takes written citations out of a text that comes in pieces. What may still become one is held back."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        """Whether `_held` begins a citation, as far as one can tell."""

    def feed(self, piece: str) -> Iterator[str | list[Citation]]:
        """Text to show, and citations, in their order."""
        self._held += piece
        if self._inside and not _TELLING.search(piece) and len(self._held) < LONGEST_MARK:
            return
        while found := _MARK.search(self._held):
            if found.start():
                yield self._held[: found.start()].rstrip(" ")
            yield written(found[0])
            self._held = self._held[found.end() :]
        begin = self._maybe_begins()
        if begin:
            yield self._held[:begin]
            self._held = self._held[begin:]
        self._inside = self._held.lstrip(" ").startswith("[f")

    def end(self) -> Iterator[str]:
        """What was held back after all."""
        if self._held:
            yield self._held
        self._held = ""

    def _maybe_begins(self) -> int:
        """Where something begins that may become a citation; the blanks before it belong to it."""
        for bracket in re.finditer(r"\[", self._held):
            at = bracket.start()
            if len(self._held) - at < LONGEST_MARK and _BEGINNING.match(self._held, at):
                return len(self._held[:at].rstrip(" "))
        return len(self._held.rstrip(" "))


# Parts


class Numbers:
    """One number for each place that an answer cites, in the order in which it does."""

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        self._known: dict[str, int] = {}
        for part in parts:
            if found := citation_of(part):
                self._known[found["source"]] = int(found["citation"])

    def of(self, source: str) -> int:
        return self._known.setdefault(source, len(self._known) + 1)


def citation_chunk(citation: Citation, source_id: str, number: int, desk: Desk | None) -> Chunk:
    """A citation as a part, not looked at yet."""
    known = desk.name(citation.handle) if desk else None
    file_id, name = known or ("", citation.handle)
    quote = citation.quote.strip()
    leaf = {
        "handle": citation.handle,
        "file_id": file_id,
        "name": name,
        "place": citation.place,
        "action": "cited",
        "query": "",
        "quote": quote if len(quote) <= QUOTE else quote[:QUOTE].rsplit(" ", 1)[0] + " …",
        "source": citation.source,
        "citation": number,
        "verified": None,
        "problem": "",
        "cited_place": "",
    }
    return chunk(
        "source-document",
        sourceId=source_id,
        mediaType=mimetypes.guess_type(name)[0] or "application/octet-stream",
        title=name,
        filename=name,
        providerMetadata={"leaf": leaf},
    )


def checked(part: Part, verdict: Json) -> Chunk:
    """The same part, with what was found."""
    leaf = part["providerMetadata"]["leaf"]
    place = verdict.get("place") or leaf["place"]
    moved = {"cited_place": leaf["place"]} if verdict.get("moved") else {}
    leaf = {**leaf, "place": place, "verified": verdict["verified"], "problem": verdict.get("problem", ""), **moved}
    return {**part, "providerMetadata": {"leaf": leaf}}


def citation_of(part: Mapping[str, Any]) -> Json | None:
    """What a part cites; None for every other part."""
    if part["type"] != "source-document":
        return None
    leaf: Json = (part.get("providerMetadata") or {}).get("leaf") or {}
    return leaf if leaf.get("citation") else None


# Text with marks


@dataclass(frozen=True)
class Mark:
    """A citation at its place in a text."""

    at: int
    """Characters of the text before it."""
    source_id: str
    citation: Json


@dataclass(frozen=True)
class Text:
    """Text parts that belong together: a model that cites gives a sentence in several pieces."""

    index: int
    """Of its first part among the message's parts."""
    text: str
    marks: tuple[Mark, ...] = ()


def flow(parts: Sequence[Part]) -> Iterator[Text | tuple[int, Part]]:
    """The parts in order, neighbouring pieces of one text drawn together with citations as marks; others with their index."""
    open_text: Text | None = None
    turn = ""
    for index, part in enumerate(parts):
        found = citation_of(part)
        if found and open_text is not None:
            mark = Mark(_end_of_words(open_text.text), str(part["sourceId"]), found)
            open_text = Text(open_text.index, open_text.text, (*open_text.marks, mark))
            continue
        of_turn = _TURN.match(str(part.get("id", ""))) if part["type"] == "text" else None
        if open_text is not None and of_turn and of_turn[1] == turn:
            open_text = Text(open_text.index, open_text.text + part["text"], open_text.marks)
            continue
        if open_text is not None:
            yield open_text
            open_text = None
        if part["type"] == "text":
            open_text, turn = Text(index, part["text"]), of_turn[1] if of_turn else ""
        else:
            yield index, part
    if open_text is not None:
        yield open_text


def _end_of_words(text: str) -> int:
    """Where a mark goes: behind the last word, within the last cell of a table's row, after a formula or code that is open."""
    end = len(text.rstrip())
    line = text[text.rfind("\n", 0, end) + 1 : end]
    if line.lstrip().startswith("|") and line.endswith("|") and len(line.strip()) > 1:
        return len(text[: end - 1].rstrip())
    return end


def with_marks(text: Text, form: str = "[{}]") -> str:
    """The text with a mark for each citation, two of one place beside each other drawn together."""
    pieces: list[str] = []
    at = 0
    last: tuple[int, int] | None = None
    for mark in text.marks:
        number = int(mark.citation["citation"])
        if (mark.at, number) == last:
            continue
        pieces += [text.text[at : mark.at], form.format(number)]
        at, last = mark.at, (mark.at, number)
    return "".join([*pieces, text.text[at:]])


def answer_text(parts: Sequence[Part], form: str = "[{}]") -> str:
    """The words of an answer without its steps, its citations as marks."""
    found = [with_marks(piece, form).strip() for piece in flow(parts) if isinstance(piece, Text)]
    return "\n\n".join(text for text in found if text)


def footnotes(parts: Iterable[Part]) -> list[tuple[int, str]]:
    """Each number with the place and the words behind it, and what is wrong about them: `report.pdf, page 3: “…”`."""
    notes: dict[tuple[int, str], str] = {}
    for part in parts:
        found = citation_of(part)
        if found:
            notes.setdefault((int(found["citation"]), found["quote"]), footnote(found))
    return [(number, notes[number, quote]) for number, quote in sorted(notes, key=lambda key: key[0])]


def footnote(found: Mapping[str, Any]) -> str:
    quote = " ".join(str(found["quote"]).split())
    quote = quote if len(quote) <= 200 else quote[:200].rsplit(" ", 1)[0] + " …"
    text = ", ".join(filter(None, (found["name"], found["place"]))) + (f": “{quote}”" if quote else "")
    return text + (f" ({standing(found)})" if standing(found) else "")


def standing(found: Mapping[str, Any]) -> str:
    """What a reader must know of a citation before relying on it; empty if its words stand where it says."""
    if found["verified"] is None:
        return "not checked"
    if not found["verified"]:
        return f"not verified: {found['problem'] or 'the words were not found'}"
    return f"cited from {found['cited_place']}" if found["cited_place"] else ""

"""Citations of an answer while it is written: from what a model names to numbered parts. What
reads them back is `provenance.citations`.

A model cites in one of two ways. Where the server knows citations, they come beside the text and
name a source that was sent. Elsewhere the model is asked to write them into the text, as `[f1#page
3 "exact words"]`; those are taken out of what is shown. Either way a citation becomes a
`source-document` part right after its text, and code looks whether its words stand there.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from leaf.provenance.citations import citation_of
from leaf.shapes.chunks import chunk
from leaf.shapes.parts import Cited, Part, SourcePart
from leaf.shapes.raw import RawBlock

QUOTE = 1_000
"""Characters of a quote that are kept for the page; the model's own words are kept whole beside the
parts."""
LONGEST_MARK = 12_000
"""Characters after which something that begins like a written citation is taken for text."""
_PLACE = r"(f\d{1,6})#([^\[\]\"“”„«»‹›\n]{0,200}?)"


def _quoted(before: str, opening: str, closing: str) -> str:
    """Words in quotation marks of one kind; a mark within them is one of the words."""
    end = rf"[{closing}]\s*(?:\]|[;,]\s*f\d)"
    return rf"{before}[{opening}]((?:(?!{end})(?!\n\s*\n)(?!\[f\d+#).)*)[{closing}]"


_DOUBLE = _quoted(r"[\s:,]*", '"“„«»‹›', '"”“»«›‹')
_SINGLE = _quoted(r"(?<=\d)[\s:,]+", "'‘‚", "'’‘")
"""The name of a sheet has such marks as well, but stands behind no number."""
_QUOTE = rf"(?:{_DOUBLE}|{_SINGLE})?"
_ITEM = re.sub(r"\((?!\?)", "(?:", _PLACE + _QUOTE)
_MARK = re.compile(rf"\[\s*{_ITEM}(?:\s*[;,]\s*{_ITEM})*\s*\]", re.S)
_PART = re.compile(rf"{_PLACE}{_QUOTE}\s*(?=\]|[;,]\s*f\d)", re.S)
_BEGINNING = re.compile(r"\[\s*(?:f(?:\d{1,6}(?:#(?:(?!\n\s*\n)(?!\[f\d+#).)*)?)?)?$", re.S)
_TELLING = re.compile(r"[\[\]\n]")
"""What may end a citation, or show that there is none."""


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


@dataclass(frozen=True)
class Verdict:
    """What a look at a citation has shown."""

    verified: bool | None
    """None where nobody could look."""
    place: str = ""
    """Where the words stand; empty where they were not found."""
    problem: str = ""
    """One clause, where they were not found."""
    moved: bool = False
    """They stand elsewhere than it was said."""


class CitationResolver(Protocol):
    """What an answer needs to know of the chat's files for its citations."""

    def name(self, handle: str) -> tuple[str, str] | None:
        """Id and name of a file of the chat; None if there is none with this handle."""

    def check(self, citations: Sequence[Citation]) -> list[Verdict]:
        """For each citation the place where its words stand, or why they were not found."""


def of_block(citation: RawBlock) -> Citation | None:
    """A citation as the API gives it; None for one that names no passage of a tool's result."""
    if citation.get("type") != "search_result_location":
        return None
    return Citation(str(citation.get("source") or ""), str(citation.get("cited_text") or ""))


# Written into the text


def written(mark: str) -> list[Citation]:
    """The citations of a whole mark, its brackets included."""
    return [
        Citation(f"{match[1]}#{match[2].strip()}", (match[3] or match[4] or "").strip())
        for match in _PART.finditer(mark)
    ]


class MarkReader:
    """Takes written citations out of a text that comes in pieces. What may still become one is held
    back."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        """Whether `_held` begins a citation, as far as one can tell."""

    def feed(self, piece: str) -> Iterator[str | list[Citation]]:
        """Text to show, and citations, in their order."""
        self._held += piece
        if self._inside and not _TELLING.search(piece) and len(self._held) < LONGEST_MARK:
            return
        while match := _MARK.search(self._held):
            if match.start():
                yield self._held[: match.start()].rstrip(" ")
            yield written(match[0])
            self._held = self._held[match.end() :]
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


class CitationNumbers:
    """One number for each place that an answer cites, in the order in which it does."""

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        self._known: dict[str, int] = {}
        for part in parts:
            if citation := citation_of(part):
                self._known[citation["source"]] = int(citation["citation"])

    def of(self, source: str) -> int:
        return self._known.setdefault(source, len(self._known) + 1)


def citation_chunk(
    citation: Citation, source_id: str, number: int, resolver: CitationResolver | None
) -> SourcePart:
    """A citation as a part, not looked at yet."""
    known = resolver.name(citation.handle) if resolver else None
    file_id, name = known or ("", citation.handle)
    quote = citation.quote.strip()
    leaf: Cited = {
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


def checked(part: SourcePart, verdict: Verdict) -> SourcePart:
    """The same part, with what was found."""
    leaf = part["providerMetadata"]["leaf"]
    citation: Cited = {
        **leaf,
        "place": verdict.place or leaf["place"],
        "verified": verdict.verified,
        "problem": verdict.problem,
        "cited_place": leaf["place"] if verdict.moved else leaf["cited_place"],
    }
    return {**part, "providerMetadata": {"leaf": citation}}

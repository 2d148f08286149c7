"""The citations of an answer that is written, from its parts back to text with marks and footnotes.
How they come into the parts is in `agent.cited`. Pure.

The `providerMetadata.leaf` of such a part: `handle`, `file_id`, `name`, `place`, `action`
(`cited`), `query`, `quote`, and `citation` (its number: one for each place), `verified` (true,
false, or null while nobody has looked), `problem` (one clause, where it is false) and `cited_place`
(where the words were said to stand, if that was elsewhere).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from leaf.shapes.part_values import is_source, is_text
from leaf.shapes.parts import Cited, Part

_TURN = re.compile(r"text-(\d+)-")


def citation_of(part: Mapping[str, object]) -> Cited | None:
    """What a part cites; None for every other part."""
    metadata = part.get("providerMetadata") if is_source(part) else None
    return metadata["leaf"] if metadata and metadata["leaf"].get("citation") else None


@dataclass(frozen=True)
class CitationMark:
    """A citation at its place in a text."""

    at: int
    """Characters of the text before it."""
    source_id: str
    citation: Cited


@dataclass(frozen=True)
class Text:
    """Text parts that belong together: a model that cites gives a sentence in several pieces."""

    index: int
    """Of its first part among the message's parts."""
    text: str
    marks: tuple[CitationMark, ...] = ()


def flow(parts: Sequence[Part]) -> Iterator[Text | tuple[int, Part]]:
    """The parts in order, neighbouring pieces of one text drawn together with citations as marks;
    others with their index."""
    open_text: Text | None = None
    turn = ""
    for index, part in enumerate(parts):
        citation = citation_of(part)
        if citation and open_text is not None and is_source(part):
            mark = CitationMark(_end_of_words(open_text.text), part["sourceId"], citation)
            open_text = Text(open_text.index, open_text.text, (*open_text.marks, mark))
            continue
        of_turn = _TURN.match(part.get("id", "")) if is_text(part) else None
        if open_text is not None and is_text(part) and of_turn and of_turn[1] == turn:
            open_text = Text(open_text.index, open_text.text + part["text"], open_text.marks)
            continue
        if open_text is not None:
            yield open_text
            open_text = None
        if is_text(part):
            open_text, turn = Text(index, part["text"]), of_turn[1] if of_turn else ""
        else:
            yield index, part
    if open_text is not None:
        yield open_text


def _end_of_words(text: str) -> int:
    """Where a mark goes: behind the last word, within the last cell of a table's row, after a
    formula or code that is open."""
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
    texts = [with_marks(piece, form).strip() for piece in flow(parts) if isinstance(piece, Text)]
    return "\n\n".join(text for text in texts if text)


def footnotes(parts: Iterable[Part]) -> list[tuple[int, str]]:
    """Each number with the place and the words behind it, and what is wrong about them:
    `report.pdf, page 3: “…”`."""
    notes: dict[tuple[int, str], str] = {}
    for part in parts:
        citation = citation_of(part)
        if citation:
            notes.setdefault((int(citation["citation"]), citation["quote"]), footnote(citation))
    return [
        (number, notes[number, quote]) for number, quote in sorted(notes, key=lambda key: key[0])
    ]


def footnote(found: Cited) -> str:
    quote = " ".join(str(found["quote"]).split())
    quote = quote if len(quote) <= 200 else quote[:200].rsplit(" ", 1)[0] + " …"
    text = ", ".join(filter(None, (found["name"], found["place"]))) + (
        f": “{quote}”" if quote else ""
    )
    return text + (f" ({standing(found)})" if standing(found) else "")


def standing(found: Cited) -> str:
    """What a reader must know of a citation before relying on it; empty if its words stand where it
    says."""
    if found["verified"] is None:
        return "not checked"
    if not found["verified"]:
        return f"not verified: {found['problem'] or 'the words were not found'}"
    return f"cited from {found['cited_place']}" if found["cited_place"] else ""

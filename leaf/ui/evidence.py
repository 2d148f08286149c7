"""What stands under an answer: one line of what it rests on and what it took, and above that, where
there is something, what is doubtful. Each piece is a link that opens its detail beside the page.

All pieces are one element, since drawing costs by the element.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from leaf.language.text import n_, t
from leaf.provenance import coverage
from leaf.provenance.citations import citation_of
from leaf.shapes.part_values import is_source, newest
from leaf.shapes.parts import Cited, Part
from leaf.store.model import Message
from leaf.ui import freshness, markdown, marks, words

Section = Literal["data", "figures", "sources", "cost", "all"]
LONGEST = 130
"""Characters of the line of doubts; what is beyond them is counted."""
LONGEST_PIECE, LONGEST_FIRST = 90, 400
"""Characters of a piece; the first is the worst, and said whole."""


@dataclass(frozen=True)
class EvidencePiece:
    """A few words, and where their detail stands."""

    text: str
    section: Section


def draw_doubts(message: Message) -> None:
    """`2 figures without a receipt · 3 rows left out as totals`; nothing where nothing is in
    doubt."""
    drawn, length = list[EvidencePiece](), 0
    warnings = doubts(message)
    for piece in warnings:
        length += len(piece.text) + 3
        if drawn and length > LONGEST:
            break
        drawn.append(piece)
    if rest := warnings[len(drawn) :]:
        drawn.append(EvidencePiece(t("{n} more", n=len(rest)), "all"))
    if drawn:
        st.caption(f":orange[:material/warning:] {_linked(drawn, message.id)}")


def draw_line(message: Message) -> None:
    """`5,000 of 5,000 rows · 8 of 8 figures traced · 2 sources · 2 s · $0.0041 ⋯`."""
    if facts := pieces(message.parts):
        more = f"[⋯]({marks.EVIDENCE}{message.id}.all)"
        st.caption(f"{_linked(facts, message.id)} {more}", width="stretch")


def _linked(items: Iterable[EvidencePiece], message_id: str) -> str:
    return " · ".join(
        f"[{markdown.label(piece.text, LONGEST_PIECE if at else LONGEST_FIRST)}]"
        f"({marks.EVIDENCE}{message_id}.{piece.section})"
        for at, piece in enumerate(items)
    )


def pieces(parts: Sequence[Part]) -> list[EvidencePiece]:
    """What an answer rests on and what it took, each in few words."""
    receipts = newest(parts, "receipts")
    used = rests_on(parts)
    names = {use["file_id"] or use["name"] for use in used}
    facts = [
        EvidencePiece(coverage.short(coverage.covered_of(parts)), "data"),
        EvidencePiece(
            words.traced(receipts) if receipts and receipts.get("figures") else "", "figures"
        ),
        EvidencePiece(words.count(len(names), "source") if names else "", "sources"),
        EvidencePiece(words.taken(newest(parts, "usage") or {}), "cost"),
    ]
    return [piece for piece in facts if piece.text]


def doubts(message: Message) -> list[EvidencePiece]:
    """What a reader has to know before they trust it, the worst first."""
    parts = message.parts
    receipts = newest(parts, "receipts")
    without = words.untraced(receipts) if receipts and receipts.get("figures") else []
    covered = coverage.covered_of(parts)
    if not without:
        covered = coverage.shown_alone(covered)
    used = rests_on(parts)
    against = coverage.contradictions(covered)
    warnings = [EvidencePiece(text, "data") for text in against]
    if receipts and receipts.get("figures"):
        texts = [*words.opposite(receipts), *without]
        warnings += [EvidencePiece(text, "figures") for text in texts]
    if unverified := sum(use.get("verified") is False for use in used):
        warnings.append(
            EvidencePiece(
                t("{quotes} not verified", quotes=words.count(unverified, "quote")), "sources"
            )
        )
    changed = freshness.since(message.chat_id, [use["file_id"] for use in used])
    warnings += [EvidencePiece(text, "sources") for text, _ in changed]
    warnings += _worst(coverage.doubts(covered)[len(against) :])
    warnings += [EvidencePiece(text, "data") for text in coverage.missing(covered)]
    warnings += _few(coverage.notes(covered))
    return warnings


def _worst(texts: Sequence[str]) -> list[EvidencePiece]:
    """The first in words, and how many others there are: a number alone says nothing."""
    others = len(texts) - 1
    more = n_("{n} more doubt about the rows", "{n} more doubts about the rows", others)
    return [EvidencePiece(text, "data") for text in (*texts[:1], *([more] if others > 0 else []))]


def _few(notes: Sequence[str]) -> list[EvidencePiece]:
    """The note itself, or how many there are."""
    if len(notes) > 1:
        return [EvidencePiece(t("{n} notes on how the data was read", n=len(notes)), "data")]
    return [EvidencePiece(text, "data") for text in notes]


def sources(parts: Sequence[Part]) -> list[Cited]:
    """The `tools.base.Source` values behind an answer, in the order of their use."""
    return [p["providerMetadata"]["leaf"] for p in parts if is_source(p) and not citation_of(p)]


def rests_on(parts: Sequence[Part]) -> list[Cited]:
    """Every place behind an answer, the cited ones among them."""
    return [*filter(None, map(citation_of, parts)), *sources(parts)]

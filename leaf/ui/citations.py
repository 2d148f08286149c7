"""What the numbers in an answer's text stand for: the file, the place and the words, and whether
they stand there."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from leaf.language import places, problems
from leaf.language.text import t
from leaf.shapes.parts import Cited
from leaf.ui import markdown, marks, words
from leaf.ui.redraw import redraw

QUOTE = 180
"""Characters of a quote in the list."""


def draw(cited: Sequence[Cited], message_id: str) -> None:
    """Each number once, with its quotes; a click opens the place with the words marked."""
    if not cited:
        return
    by_number: dict[int, dict[str, Cited]] = {}
    for citation in cited:
        by_number.setdefault(int(citation["citation"]), {}).setdefault(citation["quote"], citation)
    with st.container(gap="xxsmall", key=f"cited-{message_id}"):
        for number in sorted(by_number):
            _draw_number(number, list(by_number[number].values()), message_id)


def _draw_number(number: int, quotes: Sequence[Cited], message_id: str) -> None:
    for index, citation in enumerate(quotes):
        title = " · ".join(filter(None, (citation["name"], places.place(citation["place"]))))
        title = f"\\[{number}\\] {markdown.label(title, 70)}"
        icon = words.name_icon(citation["name"])
        help_text = t("Open the source with these words marked")
        if st.button(
            title,
            key=f"cited-{message_id}-{number}-{index}",
            icon=icon,
            type="tertiary",
            help=help_text,
        ):
            marks.show(citation)
            redraw()
        if citation["quote"]:
            st.caption(markdown.label(f"“{' '.join(str(citation['quote']).split())}”", QUOTE))
        if note := standing(citation):
            _draw_standing(note, citation["verified"])


def standing(found: Cited) -> str:
    """The `standing` of `provenance.citations`, in the language of the page."""
    if found["verified"] is None:
        return t("Not checked")
    if not found["verified"]:
        why = problems.said(found["problem"]) or t("the words were not found")
        return t("Not verified: {why}", why=why)
    at = places.place(found["cited_place"])
    return t("Cited from {place}", place=at) if at else ""


def _draw_standing(note: str, verified: bool | None) -> None:
    if verified is False:
        st.badge(markdown.label(note, 160), icon=":material/help:", color="orange")
    else:
        st.caption(f":material/info: {markdown.label(note, 160)}")

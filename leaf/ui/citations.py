"""What the numbers in an answer's text stand for: the file, the place and the words, and whether
they stand there."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from leaf.language.text import t
from leaf.provenance.citations import standing
from leaf.shapes.parts import Cited
from leaf.ui import markdown, marks, words

QUOTE = 180
"""Characters of a quote in the list."""


def draw(cited: Sequence[Cited], message_id: str) -> None:
    """Each number once, with its quotes; a click opens the place with the words marked."""
    if not cited:
        return
    by_number: dict[int, dict[str, Cited]] = {}
    for found in cited:
        by_number.setdefault(int(found["citation"]), {}).setdefault(found["quote"], found)
    with st.container(gap="xxsmall", key=f"cited-{message_id}"):
        for number in sorted(by_number):
            _draw_number(number, list(by_number[number].values()), message_id)


def _draw_number(number: int, quotes: Sequence[Cited], message_id: str) -> None:
    for index, found in enumerate(quotes):
        place = " · ".join(filter(None, (found["name"], found["place"])))
        title = f"\\[{number}\\] {markdown.label(place, 70)}"
        icon = words.name_icon(found["name"])
        help_text = t("Open the source with these words marked")
        if st.button(
            title,
            key=f"cited-{message_id}-{number}-{index}",
            icon=icon,
            type="tertiary",
            help=help_text,
        ):
            marks.show(found)
            st.rerun()
        if found["quote"]:
            st.caption(markdown.label(f"“{' '.join(str(found['quote']).split())}”", QUOTE))
        if said := standing(found):
            _draw_standing(said, found["verified"])


def _draw_standing(said: str, verified: bool | None) -> None:
    if verified is False:
        st.badge(
            markdown.label(said[:1].upper() + said[1:], 160), icon=":material/help:", color="orange"
        )
    else:
        st.caption(f":material/info: {markdown.label(said[:1].upper() + said[1:], 160)}")

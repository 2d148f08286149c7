"""The list behind the numbers in an answer's text: the file, the place and the words, and whether they stand there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from leaf.agent.cited import standing
from leaf.ui import markdown, marks, words

SHOWN = 6
"""Numbers that are listed at once; the others stand behind a click."""
QUOTE = 180
"""Characters of a quote in the list."""


def draw(cited: Sequence[Mapping[str, Any]], message_id: str) -> None:
    """Each number once, with its quotes; a click opens the place with the words marked."""
    if not cited:
        return
    by_number: dict[int, dict[str, Mapping[str, Any]]] = {}
    for found in cited:
        by_number.setdefault(int(found["citation"]), {}).setdefault(found["quote"], found)
    numbers = sorted(by_number)
    with st.container(gap="xxsmall", key=f"cited-{message_id}"):
        for number in numbers[:SHOWN]:
            _draw_number(number, list(by_number[number].values()), message_id)
    if len(numbers) > SHOWN:
        with st.expander(words.count(len(numbers) - SHOWN, "more citation"), type="compact", key=f"cited-more-{message_id}"):
            for number in numbers[SHOWN:]:
                _draw_number(number, list(by_number[number].values()), message_id)


def _draw_number(number: int, quotes: Sequence[Mapping[str, Any]], message_id: str) -> None:
    for index, found in enumerate(quotes):
        place = " · ".join(filter(None, (found["name"], found["place"])))
        title = f"\\[{number}\\] {markdown.label(place, 70)}"
        icon = words.name_icon(found["name"])
        help_text = "Open the source with these words marked"
        if st.button(title, key=f"cited-{message_id}-{number}-{index}", icon=icon, type="tertiary", help=help_text):
            marks.show(found)
            st.rerun()
        if found["quote"]:
            st.caption(markdown.label(f"“{' '.join(str(found['quote']).split())}”", QUOTE))
        if said := standing(found):
            _draw_standing(said, found["verified"])


def _draw_standing(said: str, verified: bool | None) -> None:
    if verified is False:
        st.badge(markdown.label(said[:1].upper() + said[1:], 160), icon=":material/help:", color="orange")
    else:
        st.caption(f":material/info: {markdown.label(said[:1].upper() + said[1:], 160)}")

"""A board: pinned results and charts, each with what it rests on, computed again when asked."""

import streamlit as st

from leaf.language.text import t
from leaf.ui import board, pinned
from leaf.ui.controls import say_problem
from leaf.ui.state import session

st.container(key="wide")
boards = session().boards.list()
shown = board.chosen(boards)
if shown is None:
    st.title(t("Board"), anchor=False)
    board.draw_empty(begin=True)
else:
    st.set_page_config(page_title=f"{shown.name} · Leaf")
    board.draw_head(shown, boards)
    say_problem()
    pinned.draw_undo()
    if shown.pins:
        pinned.draw_pins(shown)
    else:
        board.draw_empty()

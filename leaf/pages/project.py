"""A project: its chats, instructions, files and people; without one in the address, all of them."""

import streamlit as st

from leaf.ui import project_page, projects

st.container(key="wide")
shown = project_page.chosen()
if shown is None:
    projects.draw_all()
else:
    st.set_page_config(page_title=f"{shown.title} · Leaf")
    project_page.draw(shown)

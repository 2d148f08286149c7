"""The script behind every page: settings of the page, the gate, navigation, sidebar, then the page
itself.

It stands here and not beside `pages/`: Streamlit serves a `pages/` folder beside the running script
by itself, past the gate.
"""

from pathlib import Path

import streamlit as st

from leaf.language.text import mark, t
from leaf.sandbox.slots import working_for
from leaf.ui import (
    browser,
    composer,
    dialogs,
    frame,
    gate,
    language,
    palette,
    preview,
    redraw,
    sidebar,
    state,
    toasts,
    watcher,
)

PAGES = Path(__file__).resolve().parents[1] / "pages"
ASSETS = Path(__file__).resolve().parent / "assets"

watcher.begin()
language.begin()
st.set_page_config(
    page_title="Leaf",
    page_icon=str(ASSETS / "mark.svg"),
    layout="centered",
    initial_sidebar_state="auto",
    menu_items={},
)
frame.style(ASSETS / "leaf.css")
toasts.again()
st.logo(str(ASSETS / "logo.svg"), size="large", icon_image=str(ASSETS / "mark.svg"))

chat = st.Page(PAGES / "chat.py", title=mark("Chat"), icon=":material/forum:", default=True)
files = st.Page(
    PAGES / "files.py", title=mark("Files"), icon=":material/folder_open:", url_path="files"
)
documents = st.Page(
    PAGES / "documents.py", title=mark("Documents"), icon=":material/article:", url_path="documents"
)
board = st.Page(
    PAGES / "board.py", title=mark("Board"), icon=":material/dashboard:", url_path="board"
)
drive = st.Page(
    PAGES / "drive.py", title=mark("Drive"), icon=":material/add_to_drive:", url_path="drive"
)
usage = st.Page(
    PAGES / "usage.py", title=mark("Usage"), icon=":material/bar_chart:", url_path="usage"
)
settings = st.Page(
    PAGES / "settings.py", title=mark("Settings"), icon=":material/tune:", url_path="settings"
)
operations = st.Page(
    PAGES / "operations.py", title=mark("Operations"), icon=":material/dns:", url_path="operations"
)
project = st.Page(
    PAGES / "project.py",
    title=mark("Projects"),
    icon=":material/folder_special:",
    url_path="project",
)
places = [files, documents, board, drive, usage, settings]
page = st.navigation([chat, project, *places, operations], position="hidden")
redraw.keep_address()  # a page that ends early, as one that nobody may open, stands here, too

active = st.query_params.get("chat", "") if page == chat else ""
gate.admit(active)
if not language.is_known():
    language.follow(state.session().team.language())
if page != chat:
    st.set_page_config(page_title=f"{t(page.title)} · Leaf")
    if "chat" in st.query_params:
        browser.clean_address("chat", "message")
with working_for(state.drawn_for()):
    if page == chat and composer.carry_out(active):  # answered while the page waits for its turn
        watcher.begin()  # what was asked is in all that is drawn from here on
        active = st.query_params.get("chat", "")
with state.turns().turn(state.drawn_for()), working_for(state.drawn_for()):
    if state.session().operations.allowed():
        places.append(operations)
    palette.carry_out(chat, [project, *places], active)
    palette.draw(active, [project, *places])
    with st.sidebar:
        sidebar.draw(chat, project, places, active)
    # In one container, however much a page draws: the panel that follows keeps its place, or for a
    # moment there would be two, and what is pressed in the older one would be lost.
    with st.container():
        page.run()
    preview.draw()
    dialogs.keep_open()
watcher.watch(page.url_path)

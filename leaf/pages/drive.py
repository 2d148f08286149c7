"""Google Drive: what is in it, and what goes from it into the library or a chat."""

import streamlit as st

from leaf.language.text import t
from leaf.ui import adding, connection, drive
from leaf.ui.state import session

connection.take_callback()
st.container(key="wide")
st.title(t("Drive"), anchor=False)
adding.draw()

standing = session().drive.connection()
if standing.state == "connected":
    drive.draw(standing)
else:
    connection.draw_card(standing)

"""Google Drive: what is in it, and what goes from it into the library or a chat."""

import streamlit as st

from leaf.ui import adding, connection, drive
from leaf.ui.state import current_scope, leaf

scope = current_scope()
connection.take_callback(scope)
st.container(key="wide")
st.title("Drive", anchor=False)
adding.draw()

standing = leaf().drive_connection(scope)
if standing.state == "connected":
    drive.draw(scope, standing)
else:
    connection.draw_card(scope, standing)

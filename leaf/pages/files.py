"""The library: every file that was uploaded, with what Leaf knows of it and what can be done with
it."""

import streamlit as st

from leaf.language.text import t
from leaf.ui import adding, library, upload_list
from leaf.ui.state import session

st.container(key="wide")
st.title(t("Files"), anchor=False)
upload_list.draw_files()
adding.draw(adding.FILES)
library.draw_undo()

with st.container(horizontal=True, vertical_alignment="bottom"):
    query = st.text_input(
        t("Search files"),
        key="file-search",
        placeholder=t("Name or the words it came with"),
        icon=":material/search:",
        live=True,
    )
    order = st.selectbox(
        t("Sort by"),
        list(library.ORDERS),
        format_func=lambda key: t(library.ORDERS[key]),
        key="file-order",
        width=170,
    )

files = session().files.list(query=query or "", sort=order or "newest")
if files:
    library.draw_rows(files, query or "")
else:
    library.draw_empty(query or "")

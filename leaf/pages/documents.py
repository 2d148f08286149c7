"""Documents that were written in chats: all of them, or one to read, edit and go back in."""

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import t
from leaf.ui import browser, document_page, markdown
from leaf.ui.state import session

st.container(key="wide")
document = None
if "document" in st.query_params:
    try:
        document = session().documents.get(st.query_params["document"])
    except LeafError as problem:
        st.warning(markdown.paragraph(told(problem)))
        browser.clean_address("document")

if document is not None:
    st.set_page_config(page_title=f"{document.title} · Leaf")
    document_page.draw_document(document)
else:
    st.title(t("Documents"), anchor=False)
    document_page.draw_undo()
    query = st.text_input(
        t("Search documents"),
        key="document-search",
        placeholder=t("Title, type or chat"),
        icon=":material/search:",
        live=True,
    )
    document_page.draw_list(session().documents.list(query=query or ""), query or "")

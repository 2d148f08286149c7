"""Documents that were written in chats: all of them, or one to read, edit and go back in."""

import streamlit as st

from leaf.errors import LeafError
from leaf.ui import document_page, markdown
from leaf.ui.state import current_scope, leaf

scope = current_scope()
st.container(key="wide")
document = None
if "document" in st.query_params:
    try:
        document = leaf().documents.get(scope, st.query_params["document"])
    except LeafError as problem:
        st.warning(markdown.paragraph(str(problem)))
        del st.query_params["document"]

if document is not None:
    document_page.draw_document(document, scope)
else:
    st.title("Documents", anchor=False)
    document_page.draw_undo(scope)
    query = st.text_input(
        "Search documents", key="document-search", placeholder="Title, type or chat", icon=":material/search:", live=True
    )
    document_page.draw_list(leaf().documents.list(scope, query=query or ""), scope, query or "")

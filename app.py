"""The ASGI entry of Leaf: `streamlit run app.py`."""

import streamlit as st

from leaf.ui.server import command_routes, explain, lifespan, security_headers, sign_in_words

app = st.App(
    "leaf/ui/shell.py",
    lifespan=lifespan,
    routes=command_routes(),
    middleware=[security_headers(), sign_in_words()],
    on_script_error=explain,
)

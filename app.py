"""The ASGI entry of Leaf: `streamlit run app.py`."""

import streamlit as st

from leaf.ui.server import command_routes, explain, lifespan, middleware

app = st.App(
    "leaf/ui/shell.py",
    lifespan=lifespan,
    routes=command_routes(),
    middleware=middleware(),
    on_script_error=explain,
)

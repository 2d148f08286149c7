"""The ASGI entry of Leaf: `streamlit run app.py`. The wheel ships it, with `.streamlit`, for `leaf
run`."""

import streamlit as st

from leaf.ui.server import (
    SHELL,
    command_routes,
    download_routes,
    explain,
    lifespan,
    live_route,
    middleware,
    shared_link_routes,
    upload_routes,
)
from leaf.ui.standing import look_for_no_components

look_for_no_components()

app = st.App(
    SHELL,
    lifespan=lifespan,
    routes=[
        *command_routes(),
        *upload_routes(),
        *download_routes(),
        *shared_link_routes(),
        live_route(),
    ],
    middleware=middleware(),
    on_script_error=explain,
)

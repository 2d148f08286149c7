"""The app as `app.py` makes it, with a door through which the benchmark starts answers."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from leaf.ui import state
from leaf.ui.server import lifespan, live_route, middleware

SHELL = Path(__file__).resolve().parents[1] / "leaf" / "ui" / "shell.py"


def start(request: Request) -> JSONResponse:
    """Begin `n` answers, each in a chat of its own; the ids of the chats."""
    leaf = state.leaf()
    session = leaf.session(leaf.local_scope())
    chats = [session.chats.create() for _ in range(int(request.query_params["n"]))]
    for chat in chats:
        session.messages.send(chat.id, "Stream")
    return JSONResponse([chat.id for chat in chats])


app = st.App(
    SHELL,
    lifespan=lifespan,
    middleware=middleware(),
    routes=[live_route(), Route("/bench/start", start)],
)

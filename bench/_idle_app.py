"""The app as `app.py` makes it, with a count of the statements that it sends and the names of its
threads."""

from __future__ import annotations

import os
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import streamlit as st
from sqlalchemy import event
from sqlalchemy.engine import Engine
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from leaf.store import duckdb, postgres
from leaf.ui.server import lifespan, middleware

SHELL = Path(__file__).resolve().parents[1] / "leaf" / "ui" / "shell.py"
sent: Counter[str] = Counter()


def counted(place: Any, name: str, database: str) -> None:
    """Count the calls of a function of the store, each of which is one statement."""
    function = getattr(place, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        sent[database] += 1
        return function(*args, **kwargs)

    setattr(place, name, call)


def look(_request: Request) -> JSONResponse:
    """Statements so far by what sent them; threads by their number in the system."""
    threads = {thread.native_id: thread.name for thread in threading.enumerate()}
    return JSONResponse({"pid": os.getpid(), "statements": dict(sent), "threads": threads})


counted(duckdb, "_run", "history")
counted(postgres, "_rows", "history")
counted(postgres._PostgresTransaction, "execute", "history")
event.listen(Engine, "before_cursor_execute", lambda *_: sent.update(["runs"]))

app = st.App(SHELL, lifespan=lifespan, middleware=middleware(), routes=[Route("/bench/look", look)])

"""The log as whoever runs Leaf reads it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

from leaf import logs


@contextmanager
def written(form: str = "json") -> Iterator[StringIO]:
    """What is logged meanwhile, by Leaf and by the libraries that it runs on."""
    out = StringIO()
    logs.set_up(form, out)
    others = logging.StreamHandler(out)
    for name in OTHERS:
        logging.getLogger(name).addHandler(others)
    try:
        yield out
    finally:
        for name in OTHERS:
            logging.getLogger(name).removeHandler(others)
        taken_down()


OTHERS = ("dbos", "streamlit.error_util", "uvicorn")


def taken_down() -> None:
    """As it was before `logs.set_up`."""
    logging.setLogRecordFactory(logging.LogRecord)
    root = logging.getLogger("leaf")
    for handler in [one for one in root.handlers if isinstance(one, logs.LogWriter)]:
        root.removeHandler(handler)
    root.setLevel(logging.NOTSET)

"""`run`: the app, for whoever has installed Leaf; in a checkout as `make run`."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.cli.common import UsageError

if TYPE_CHECKING:
    from leaf.cli.common import Parsers

PACKAGE = Path(__file__).resolve().parents[1]
PLACES = (PACKAGE / "served" / "app.py", PACKAGE.parent / "app.py")
"""Where the wheel puts the entry of the app, and where it is in a checkout. Streamlit finds its
settings beside it."""

MOST_PORTS = 65_535


def add(commands: Parsers) -> None:
    run = commands.add_parser(
        "run", help="the app in the browser, with its data in LEAF_HOME (.leaf)"
    )
    run.add_argument(
        "--address", default="127.0.0.1", help="where it listens (127.0.0.1: this machine only)"
    )
    run.add_argument("--port", type=_port, default=8501, help="(8501)")
    run.set_defaults(command=_run)


def _port(given: str) -> int:
    if not 0 <= int(given) <= MOST_PORTS:
        raise argparse.ArgumentTypeError(f"give a number up to {MOST_PORTS}")
    return int(given)


def _run(args: argparse.Namespace) -> int:
    """This process becomes Streamlit's, so that signals reach the app itself."""
    _check_address(args.address)
    app = next(place for place in PLACES if place.is_file())
    listening = ["--server.address", args.address, "--server.port", str(args.port)]
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", str(app), *listening])


def _check_address(address: str) -> None:
    """Raises UsageError for one at which this machine cannot listen."""
    try:
        family, kind, *_ = socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as trial:
            trial.bind((address, 0))
    except OSError as e:
        raise UsageError(
            f"This machine cannot listen at '{address}': {e.strerror}.",
            "Give an address of this machine, or 0.0.0.0 for all that it has.",
        ) from e

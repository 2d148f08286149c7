"""The apps that are compared: how each is served, when its page can be used, and how it is
asked."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from bench.page import free_port
from bench.peers import leaf, viewers
from bench.peers.environments import environment, version

SERVED = Path(__file__).parent / "served"
STARTS = 60.0
"""Seconds that a start may take."""


Served = tuple[str, int]
"""Address and process."""


@dataclass(frozen=True)
class App:
    """One of the apps."""

    name: str
    serve: Callable[[str], AbstractContextManager[Served]]
    """The address of the model server -> the app, while it runs."""
    ready: Callable[[Any], None]
    """Waits until a question can be typed in the page."""
    one: Callable[[str], list[float]]
    """The address -> how late each word stood in the page of one viewer."""
    many: Callable[[str, int, int], tuple[list[float], float]]
    """(address, viewers, process) -> how late each word reached each of them, and the share of a
    core that it took."""


def apps(only: Sequence[str], cache: Path, viewers_at_most: int) -> list[App]:
    """Those of these names, or all, Leaf first. Makes the environments of the others where they are
    not there."""
    makers: dict[str, Callable[[], App]] = {
        "leaf": lambda: _leaf(viewers_at_most),
        "chainlit": lambda: _chainlit(cache),
        "gradio": lambda: _gradio(cache),
        "streamlit": lambda: _streamlit(cache),
    }
    return [make() for name, make in makers.items() if not only or name in only]


def _leaf(viewers_at_most: int) -> App:
    """With room for so many answers of one person: all viewers are one here."""
    os.environ.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # its first start compiles it, as it does the others
    os.environ |= {"LEAF_RUNS_PER_USER": str(viewers_at_most), "LEAF_RUNS": str(viewers_at_most)}
    return App("Leaf", leaf.serve, leaf.ready, leaf.one, leaf.many)


def _chainlit(cache: Path) -> App:
    program = environment("chainlit", cache) / "chainlit"

    def command(port: int) -> list[str]:
        return [
            str(program),
            "run",
            str(SERVED / "chainlit_app.py"),
            "--headless",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]

    return App(
        version("chainlit"),
        _served(command),
        _wait_for("#chat-input"),
        _typed("#chat-input"),
        _many(viewers.chainlit),
    )


def _gradio(cache: Path) -> App:
    program = environment("gradio", cache) / "python"

    def command(port: int) -> list[str]:
        return [str(program), str(SERVED / "gradio_app.py"), str(port)]

    return App(
        version("gradio"),
        _served(command),
        _wait_for("textarea"),
        _typed("textarea"),
        _many(viewers.gradio),
    )


def _streamlit(cache: Path) -> App:
    program = environment("streamlit", cache) / "streamlit"
    options = [
        "--server.headless",
        "true",
        "--browser.gatherUsageStats",
        "false",
        "--server.address",
        "127.0.0.1",
    ]

    def command(port: int) -> list[str]:
        return [
            str(program),
            "run",
            str(SERVED / "streamlit_app.py"),
            *options,
            "--server.port",
            str(port),
        ]

    return App(
        version("streamlit"),
        _served(command),
        _wait_for("textarea"),
        _typed("textarea"),
        _many(viewers.streamlit),
    )


def _wait_for(selector: str) -> Callable[[Any], None]:
    return lambda page: page.locator(selector).first.wait_for()


def _typed(selector: str) -> Callable[[str], list[float]]:
    """Asks in the page, as a person would."""

    def one(url: str) -> list[float]:
        with viewers.browser() as chromium:
            page = chromium.new_page()
            page.goto(url)
            viewers.ask_in(page, selector)
            return viewers.in_page(page)

    return one


def _many(connect: viewers.Connect) -> Callable[[str, int, int], tuple[list[float], float]]:
    return lambda url, count, process: asyncio.run(viewers.crowd(connect, url, count, process))


def _served(command: Callable[[int], list[str]]) -> Callable[[str], AbstractContextManager[Served]]:
    """Serves an app of an environment of its own, in a folder that was empty at its first start. It
    is ended with the context."""
    folder = tempfile.TemporaryDirectory()

    @contextmanager
    def serve(model_url: str) -> Iterator[Served]:
        port = free_port()
        about = {
            "PATH": os.environ["PATH"],
            "PEER_MODEL_URL": model_url,
            "PEER_PORT": str(port),
            "GRADIO_ANALYTICS_ENABLED": "False",
            "HF_HUB_OFFLINE": "1",
        }
        with ExitStack() as stack:
            environ = {**about, "HOME": folder.name, "CHAINLIT_APP_ROOT": folder.name}
            process = subprocess.Popen(
                command(port),
                cwd=folder.name,
                env=environ,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            url = f"http://127.0.0.1:{port}"
            _answers(url, process)
            yield url, process.pid

    return serve


def _answers(url: str, process: subprocess.Popen[bytes]) -> None:
    """Waits until something is served. Raises RuntimeError if the process ends or `STARTS` passes
    before."""
    until = time.monotonic() + STARTS
    while time.monotonic() < until and process.poll() is None:
        try:
            urlopen(url, timeout=5).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"Nothing is served at {url}.")

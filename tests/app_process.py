"""The app in a process of its own, over a data folder."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]


PATIENCE = "3"
"""Seconds for which a model server that is down is asked again in tests."""


class App:
    """`streamlit run app.py` over a data folder, on a free port, which it keeps when it is started
    again."""

    popen: ClassVar[type[subprocess.Popen[Any]]] = subprocess.Popen
    """What starts it; see `tests.forked_programs`."""

    def __init__(
        self,
        home: Path,
        model_url: str = "",
        log: Path | None = None,
        *,
        secrets: Path | None = None,
        python: str = sys.executable,
        command: Sequence[str] = (),
        folder: Path = ROOT,
        script: str = "app.py",
        token: bool = False,
        base: str = "",
        port: int = 0,
        **variables: str,
    ) -> None:
        self.home = home
        self.model_url = model_url
        self.log = log or home.with_name(f"{home.name}.log")
        self.variables = {"LEAF_TITLES": "off"}
        self.variables |= {} if token else {"LEAF_LOCAL_TOKEN": "off"}
        """Further environment variables. Browsers come without the token that Leaf prints, unless
        `token` asks for it; scripted models are asked for no titles."""
        self.variables |= variables
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}{base}"
        self._base = base
        self._command = list(command) or [python, "-m", "streamlit", "run", script]
        self._folder = folder
        self._options = ["--secrets.files", str(secrets)] if secrets else []
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> App:
        clean = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("ANTHROPIC_", "LEAF_", "STREAMLIT_"))
        }
        model = (
            {
                "LEAF_MODEL_URL": self.model_url,
                "ANTHROPIC_API_KEY": "test-key",
                "LEAF_MODEL_PATIENCE": PATIENCE,
            }
            if self.model_url
            else {}
        )
        with self.log.open("ab") as log:
            flags = (
                ("--address", "--port")
                if self._command[-1] == "run"
                else ("--server.address", "--server.port")
            )
            served = [flags[0], "127.0.0.1", flags[1], str(self.port)]
            served += ["--server.baseUrlPath", self._base] if self._base else []
            self._process = self.popen(
                [*self._command, *served, *self._options],
                cwd=self._folder,
                env={**clean, **model, **self.variables, "LEAF_HOME": str(self.home)},
                stdout=log,
                stderr=log,
            )
        _wait_until_healthy(self.url, self._process)
        return self

    @property
    def opened_url(self) -> str:
        """The address that the app printed at its newest start, with its token."""
        printed = re.findall(r"Leaf is at (\S+)", self.log.read_text())
        assert printed, "the app printed no address"
        return str(printed[-1])

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(15)
            self._process = None


def free_port() -> int:
    """One that stays free until the app has it: below those that the system hands out, and seldom
    drawn by another worker too."""
    return next(filter(is_free, iter(lambda: random.randrange(10_000, 30_000), 0)))


def is_free(port: int) -> bool:
    """Whether a server can listen there."""
    with socket.socket() as probe, contextlib.suppress(OSError):
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
        return True
    return False


def _wait_until_healthy(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the app ended with code {process.returncode}")
        try:
            with urlopen(f"{url}/_stcore/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the app did not start")

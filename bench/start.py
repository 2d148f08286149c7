"""From nothing to a usable page, and what an app that nobody asks anything takes of the memory.

    python -m bench.start

Each app is started several times, in turn: Leaf as it is shipped, with a model connected, and a
Streamlit app of one line, which is what Leaf cannot be faster than. Processor time is that of the
app and its children by the kernel's own count; memory is proportional (PSS), a quarter of a minute
after the first page, of the app and all its children. Then a question is asked, to see that the
client of the model was loaded by then. Exit code 1 if a limit is missed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from bench._figures import Figure, Report
from bench._long_chat import MODEL
from bench.idle import cpu, family
from bench.long_chats import QuickModel
from bench.page import ROOT, browser, free_port

TIMES = 3
RESTS = 15.0
"""Seconds from the first page to the count of the memory."""
MEMORY, MOST = 250.0, 4.0
"""Targets: megabytes; seconds of a core until the first page, against the app of one line."""
PLAIN = "import streamlit as st\n\nst.title('What do you want to know?')\nst.chat_input('Ask')\n"


@dataclass(frozen=True)
class Start:
    """One start. Seconds."""

    healthy: float
    page: float
    cpu: float
    """Of a core, of all processes, until the page."""


def main() -> int:
    """Print the table; 1 if a limit is missed."""
    report = Report(
        "start", ("leaf/ui", "leaf/pages", "leaf/app.py", "leaf/wiring.py", "leaf/sandbox")
    )
    with tempfile.TemporaryDirectory() as folder, QuickModel() as model, browser() as chromium:
        script = Path(folder) / "plain.py"
        script.write_text(PLAIN)
        plain, leaf, memory = [], [], []
        for number in range(TIMES):
            with _app(script, {}) as (url, pid, began):
                plain.append(_opened(chromium, url, pid, began)[0])
            with _app(ROOT / "app.py", _leaf(Path(folder) / str(number), model.url)) as (
                url,
                pid,
                began,
            ):
                start, page = _opened(chromium, url, pid, began)
                leaf.append(start)
                time.sleep(RESTS)
                memory.append({child: pss(child) for child in family(pid)})
                asked = _asked(page, model)
    _say("a Streamlit app of one line", plain)
    _say("Leaf", leaf)
    ratio = statistics.median(s.cpu for s in leaf) / statistics.median(s.cpu for s in plain)
    held = statistics.median(sum(one.values()) for one in memory)
    print(
        "    "
        + ", ".join(f"{size:.0f} MB" for size in sorted(memory[-1].values(), reverse=True))
        + " in each process"
    )
    print(f"first question to the model server: {asked:.2f} s; load {os.getloadavg()[0]:.1f}")
    return report.end(
        [
            Figure(
                "",
                "processor until a usable page, against a Streamlit app of one line",
                ratio,
                MOST,
                False,
                "{:.1f} ×",
            ),
            Figure(
                "",
                "memory at rest with one tab, app and children (PSS)",
                held,
                MEMORY,
                False,
                "{:.0f} MB",
            ),
            Figure("", "first question to the model server", asked, shown="{:.2f} s"),
        ]
    )


def _say(name: str, starts: list[Start]) -> None:
    healthy, page, used = (
        statistics.median(getattr(s, field) for s in starts) for field in ("healthy", "page", "cpu")
    )
    print(
        f"{name:<30} answers after {healthy:5.2f} s, a page after {page:5.2f} s, {used:5.2f} "
        f"s of a core",
        flush=True,
    )


def pss(pid: int) -> float:
    """Megabytes of a process, what it shares divided among those that share it."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _opened(chromium: Any, url: str, pid: int, began: float) -> tuple[Start, Any]:
    healthy = time.monotonic() - began
    page = chromium.new_page()
    page.goto(url)
    page.get_by_role("heading", name="What do you want to know?").wait_for()
    page.get_by_test_id("stChatInputTextArea").wait_for()
    return Start(healthy, time.monotonic() - began, sum(cpu(one) for one in family(pid))), page


def _asked(page: Any, model: QuickModel) -> float:
    """Seconds from Enter until the model server is asked."""
    model.came.clear()
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill("What is here?")
    began = time.time()
    box.press("Enter")
    model.came.wait(30)
    return model.asked[-1][0] - began


def _leaf(home: Path, model_url: str) -> dict[str, str]:
    known = {
        "LEAF_MODEL_URL": model_url,
        "LEAF_TITLES": "off",
        "LEAF_MODEL": MODEL,
        "LEAF_MODEL_PROFILE": "basic",
        "ANTHROPIC_API_KEY": "key",
    }
    return {**known, "LEAF_HOME": str(home), "LEAF_LOCAL_TOKEN": "off"}


@contextmanager
def _app(script: Path, variables: dict[str, str]) -> Iterator[tuple[str, int, float]]:
    """Its address and number, and the moment at which it was started, once it answers."""
    port = free_port()
    served = [
        "--server.address",
        "127.0.0.1",
        "--server.port",
        str(port),
        "--server.headless",
        "true",
    ]
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(script), *served],
        cwd=ROOT,
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        while process.poll() is None:
            try:
                urlopen(f"{url}/_stcore/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.02)
        yield url, process.pid, began
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    sys.exit(main())

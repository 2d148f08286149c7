"""Long chats: how soon one is open, how soon a person's own question stands on the screen, and what
an answer in it costs.

    python -m bench.long_chats [LENGTH ...]

Chats of 100 and 1,000 exchanges, each answer with three steps, three tables, 27 receipts and a
table in its text, in a browser over the app as it is shipped. The baseline in the same run is a
chat of three exchanges: nothing that is not shown may cost.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench._figures import Figure, Report
from bench._long_chat import MODEL, fill
from bench.page import browser, quiet, time_of_rerun
from tests.app_process import App
from tests.live_kit import wait_until
from tests.loopback import Handler, LoopbackServer

LENGTHS = (100, 1_000)
SHORT = 3
TIMES = 5
OPEN, OWN, DRAWN = 1.0, 0.5, 0.6
"""Targets in seconds: open, own question on the screen, drawn again."""


class Quick(Handler):
    """A model that answers at once, and remembers when it was asked and with how much."""

    def do_GET(self) -> None:
        self.send(
            200, json.dumps({"data": [], "has_more": False, "first_id": None, "last_id": None})
        )

    def do_POST(self) -> None:
        body = self.body()
        self.app.asked.append((time.time(), len(body)))
        self.app.came.set()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        usage = {"input_tokens": len(body) // 4, "output_tokens": 1}
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": [],
            "model": MODEL,
            "usage": usage,
        }
        self._event(
            "message_start", message={**message, "stop_reason": None, "stop_sequence": None}
        )
        self._event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        self._event(
            "content_block_delta",
            index=0,
            delta={"type": "text_delta", "text": "Region 7 sold 1,259 pieces, as before."},
        )
        self._event("content_block_stop", index=0)
        self._event(
            "message_delta",
            delta={"stop_reason": "end_turn", "stop_sequence": None},
            usage={"output_tokens": 9},
        )
        self._event("message_stop")
        self.app.ended.append(time.time())
        self.close_connection = True

    def _event(self, kind: str, **fields: Any) -> None:
        self.wfile.write(
            f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
        )
        self.wfile.flush()


class QuickModel(LoopbackServer):
    """What it was asked: (seconds since 1970, bytes)."""

    def __init__(self) -> None:
        super().__init__(Quick)
        self.asked: list[tuple[float, int]] = []
        self.ended: list[float] = []
        self.came = threading.Event()


def main() -> int:
    """Print the table; 1 if a target is missed."""
    given = sys.argv[1:]
    report = Report(
        "long_chats",
        ("leaf/ui", "leaf/store", "leaf/sessions"),
        f"lengths {' '.join(given)}" if given else "",
    )
    lengths = [int(length) for length in given] or list(LENGTHS)
    with tempfile.TemporaryDirectory() as folder, QuickModel() as model:
        home = Path(folder)
        fill(home, {f"Chat of {count}": count for count in (SHORT, *lengths)})
        with _app(home, model.url) as app, browser() as chromium:
            page = chromium.new_page(viewport={"width": 1280, "height": 900})
            page.goto(app.url)
            page.get_by_role("heading", name="What do you want to know?").wait_for()
            counts = (SHORT, *lengths)
            figures = [
                figure
                for count in counts
                for figure in _measure(page, model, count, judged=count != SHORT)
            ]
    return report.end(figures)


@contextmanager
def _app(home: Path, model_url: str) -> Iterator[App]:
    app = App(home, model_url, LEAF_MODEL=MODEL, LEAF_MODEL_PROFILE="basic").start()
    try:
        yield app
    finally:
        app.stop()


def _measure(page: Any, model: QuickModel, count: int, *, judged: bool) -> list[Figure]:
    title = f"Chat of {count}"
    opened, again = [], []
    for _ in range(TIMES):
        page.get_by_role("button", name="New chat").first.click()
        page.get_by_role("heading", name="What do you want to know?").wait_for()
        quiet(page)
        opened.append(_opened(page, title, f"Answer N{count - 1:04}"))
        quiet(page)
        again.append(time_of_rerun(page, title))
        quiet(page)
    own, placed, asked, done = [], [], [], []
    for number in range(TIMES):
        began, seen = _ask(page, f"My own question {count} {number}?")
        page.get_by_text("as before").nth(number).wait_for()
        quiet(page)
        wait_until(lambda: page.evaluate("() => window.leafWhole"))
        own.append(seen)
        placed.append(float(page.evaluate("() => window.leafPlaced")) / 1000 - began)
        asked.append(model.asked[-1][0] - began)
        done.append(_completed(page, model.ended[-1]))
        quiet(page)
    elements = page.evaluate(
        "() => document.querySelectorAll('#stMain [data-testid=stElementContainer]').length"
    )
    print(f"{title}: {elements} elements drawn; last request {model.asked[-1][1] / 1000:,.0f} kB")
    name = f"chat of {count:,} exchanges"
    return [
        _figure(name, "open", opened, OPEN if judged else None),
        _figure(name, "drawn again", again, DRAWN if judged else None),
        _figure(name, "own question on the screen", own, OWN if judged else None),
        _figure(name, "own question drawn in its place", placed, None),
        _figure(name, "from the question to the model server", asked, None),
        _figure(name, "from the model's last word to the whole answer drawn", done, None),
    ]


def _figure(name: str, what: str, seconds: Sequence[float], most: float | None) -> Figure:
    milliseconds = statistics.median(seconds) * 1000
    return Figure(
        name, what, milliseconds, None if most is None else most * 1000, False, "{:,.0f} ms"
    )


def _opened(page: Any, title: str, text: str) -> float:
    """Seconds, by the browser's clock, from the click on the chat until its last answer is there
    and the script is done."""
    script = """([name, text]) => new Promise((resolve, reject) => {
        setTimeout(() => reject(new Error("The chat did not open.")), 60000)
        const began = performance.now()
        const main = document.querySelector('#stMain'), app = document.querySelector('[data-testid=stApp]')
        const look = () => main.innerText.includes(text) && app.dataset.testScriptState === 'notRunning'
            ? resolve((performance.now() - began) / 1000) : requestAnimationFrame(look)
        const button = [...document.querySelectorAll('button')].find(b => b.innerText.trim() === name)
        button.click(); look()
    })"""
    return float(page.evaluate(script, [title, text]))


def _ask(page: Any, question: str) -> tuple[float, float]:
    """When Enter was pressed, in seconds since 1970, and how many seconds later the question stood
    in the window: as the page repeats it until it is drawn, or drawn."""
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    page.evaluate(
        """text => { window.leafSeen = new Promise(resolve => {
            let began = 0
            const stands = where => [...document.querySelectorAll(where)].some(b => {
                const place = b.getBoundingClientRect()
                return place.top < innerHeight && place.bottom > 0 && b.innerText.includes(text)
            })
            const look = () => {
                const found = stands('[class*="st-key-bubble-"], .leaf-echo:not([hidden])')
                found ? (resolve([began, (Date.now() - began) / 1000]), placed(), whole()) : requestAnimationFrame(look)
            }
            const placed = () => {
                if (stands('[class*="st-key-bubble-"]')) window.leafPlaced = Date.now()
                else requestAnimationFrame(placed)
            }
            const whole = () => {
                const all = [...document.querySelectorAll('[class*="st-key-bubble-"],[class*="st-key-actions-"]')]
                const at = all.findIndex(b => b.innerText.includes(text)), next = all[at + 1]
                const done = at >= 0 && at === all.length - 2 && next.className.includes('st-key-actions-')
                const idle = document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'
                if (done && idle) window.leafWhole = Date.now()
                else requestAnimationFrame(whole)
            }
            window.leafWhole = window.leafPlaced = 0
            document.addEventListener('keydown', () => { began = Date.now(); look() }, {once: true, capture: true})
        }) }""",
        question,
    )
    box.press("Enter")
    began, seen = page.evaluate("() => window.leafSeen")
    return float(began) / 1000, float(seen)


def _completed(page: Any, ended: float) -> float:
    """Seconds from a moment until the last answer is drawn whole, with what can be done with it;
    looked at when it is."""
    return float(page.evaluate("() => window.leafWhole")) / 1000 - ended


if __name__ == "__main__":
    sys.exit(main())

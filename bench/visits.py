"""A person's first visit and their way around: how soon a question can be typed once the server is up,
how soon another page stands there, and how much of the page jumps while an answer grows.

    python -m bench.visits

Each first visit is a browser that knows nothing of Leaf yet, the first of them also the app's first. Its
baseline in the same run is a Streamlit app of one line. Pages are switched to by the sidebar, until their
heading stands there. What jumps is the browser's own cumulative layout shift, over an answer with a
query, a table, a list, code and a chart that comes in words, from the question to the whole answer. Exit
code 1 if a target is missed.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench._figures import Figure, Report
from bench.page import browser
from bench.start import PLAIN
from tests.app_process import App
from tests.live_kit import wait_until
from tests.messages_server import Json, MessagesServer, Turn

VISITS = 5
ROUNDS = 4
SIZES = ((1440, 900), (1920, 1080), (390, 844))
FIRST_USE, SWITCH, SHIFT = 2_500.0, 500.0, 0.1
"""Targets: milliseconds, milliseconds, and a part of the window times a part of its height."""
PLACES = ("Files", "Documents", "Board", "Drive", "Usage", "Settings")
SALES = "region,revenue\nNorth,100\nSouth,120\nNorth,200\n"
SQL = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY region"
SPEC = {
    "mark": "bar",
    "encoding": {
        "x": {"field": "region", "type": "nominal"},
        "y": {"field": "revenue", "type": "quantitative"},
    },
}
ANSWER = (
    "## What was sold\n\n- North leads\n- South **follows**\n\n| region | revenue |\n|---|---:|\n"
    f"| North | 300 |\n| South | 120 |\n\n```sql\n{SQL}\n```\n\n"
    + "\n\n".join(f"Paragraph {i} says something about a region." for i in range(1, 13))
)
SWITCHED = """async (place) => {
  const link = [...document.querySelectorAll('[class*="st-key-places"] a')].find((a) => a.textContent.includes(place))
  const began = performance.now()
  link.click()
  const there = () => [...document.querySelectorAll("h1")].some((one) => one.textContent.trim() === place && one.offsetHeight)
  while (!there() && performance.now() - began < 20000) await new Promise(requestAnimationFrame)
  return performance.now() - began
}"""
LISTENED = "Boolean([...document.querySelectorAll('.leaf-uploads input[data-adds=files]')].at(-1)?.onchange)"
SHIFTED = """() => {
  window.shifted = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) shifted += entry.value
  }).observe({ type: "layout-shift" })
}"""


def main() -> int:
    """Print the table; 1 if a target is missed."""
    report = Report("visits", ("leaf/ui", "leaf/pages", "leaf/sessions"))
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        place = Path(folder)
        plain = place / "plain.py"
        plain.write_text(PLAIN)
        with _running(App(place / "none", script=str(plain))) as url:
            bare = [_first_use(chromium, url) for _ in range(VISITS)]
        with (
            MessagesServer(_model) as model,
            _running(App(place / "home", model.url)) as url,
        ):
            first = [_first_use(chromium, url) for _ in range(VISITS)]
            switches = _switches(chromium, url)
            shifts = {size: _shift(chromium, url, size, place) for size in SIZES}
    beside = {"a Streamlit app of one line": statistics.median(bare)}
    ms = "{:,.0f} ms"
    return report.end(
        [
            Figure("first use", "median", statistics.median(first), FIRST_USE, False, ms, beside),
            Figure(
                "first use", "the app's first visit", first[0], FIRST_USE, False, ms,
                {"a Streamlit app of one line": bare[0]},
            ),
            *(
                Figure("page switch", f"to {name}, median", statistics.median(took), SWITCH, False, ms)
                for name, took in switches.items()
            ),
            *(
                Figure("an answer grows", f"layout shift, {wide} × {high}", shift, SHIFT, False, "{:.3f}")
                for (wide, high), shift in shifts.items()
            ),
        ]
    )  # fmt: skip


def _model(body: Json) -> Turn:
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    if turn == 0:
        return Turn.call(("query_tables", {"sql": SQL}), text="I add it up.", delay=0.02)
    if turn == 1:
        return Turn.call(
            ("make_chart", {"sql": SQL, "spec": SPEC}), text="Now a chart.", delay=0.02
        )
    return Turn.say(ANSWER, pieces=100, delay=0.05)


@contextmanager
def _running(app: App) -> Iterator[str]:
    app.start()
    try:
        yield app.url
    finally:
        app.stop()


def _first_use(chromium: Any, url: str) -> float:
    """Milliseconds until a question can be typed, in a browser that has kept nothing."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    began = time.perf_counter()
    page.goto(url)
    page.get_by_test_id("stChatInputTextArea").fill("a")
    took = (time.perf_counter() - began) * 1000
    context.close()
    return took


def _switches(chromium: Any, url: str) -> dict[str, list[float]]:
    """Milliseconds by the page, each come to from the one before it."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(url)
    page.get_by_test_id("stChatInputTextArea").wait_for()
    found: dict[str, list[float]] = {name: [] for name in PLACES}
    for _ in range(ROUNDS):
        for name in PLACES:
            found[name].append(page.evaluate(SWITCHED, name))
            page.wait_for_timeout(400)
    context.close()
    return found


def _shift(chromium: Any, url: str, size: tuple[int, int], folder: Path) -> float:
    """The cumulative layout shift from the question to the whole answer."""
    path = folder / "sales.csv"
    path.write_text(SALES)
    context = chromium.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.goto(url)
    page.get_by_test_id("stChatInputTextArea").wait_for()
    field = page.locator(".leaf-uploads input[data-adds=files]").last
    wait_until(lambda: page.evaluate(LISTENED))
    field.set_input_files(path)
    page.get_by_role("button", name="Leave out sales.csv").filter(visible=True).wait_for()
    page.wait_for_timeout(1500)
    page.get_by_test_id("stChatInputTextArea").fill("What was sold?")
    page.get_by_test_id("stChatInputTextArea").press("Enter")
    page.locator(".leaf-live").wait_for(state="attached")
    page.evaluate(SHIFTED)
    page.get_by_role("button", name="Answer again").filter(visible=True).wait_for(timeout=60_000)
    page.wait_for_timeout(1500)
    shifted: float = page.evaluate("shifted")
    context.close()
    return shifted


if __name__ == "__main__":
    sys.exit(main())

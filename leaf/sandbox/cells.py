"""Runs a chat's Python cells, one after the other, in one namespace: the inside of a confined child
that `sessions` takes.

A line of JSON comes in for each cell and one goes out; in between the cell may ask for a table or a
file (`need`), which the app then puts into `in/`. What is handed out here is only what the code
says of itself: the app checks and bounds all of it again.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import linecache
import os
import re
import sys
import threading
import time
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leaf.sandbox import failures, frames
from leaf.sandbox.child import send

Json = dict[str, Any]

PRINTED = 20_000
"""Characters of what a cell prints that are kept."""
VALUE = 20_000
"""Characters of the last expression's text that are kept."""
FRAMES, FIGURES = 8, 6
"""DataFrames and figures of one cell that are kept."""
FIGURE_INCHES, FIGURE_DPI = 14.0, 110
"""A figure is drawn at most so large, so that nobody draws a billion pixels."""


def serve(requests: io.BufferedReader, answers: int) -> None:
    """Answer cells until the app goes away."""
    notebook = Notebook(requests, answers)
    while line := requests.readline():
        request = json.loads(line)
        send(
            answers,
            json.dumps({"id": request["id"], **notebook.run(request)}, ensure_ascii=False),
        )


def warm_up() -> None:
    """Everything that is slow the first time and that nearly every cell needs."""
    os.environ.update(MPLBACKEND="Agg", JOBLIB_MULTIPROCESSING="0", LOKY_MAX_CPU_COUNT="1")
    os.environ["MATPLOTLIBRC"] = str(Path(__file__).with_name("matplotlibrc"))
    warnings.formatwarning = lambda message, category, *_: f"{category.__name__}: {message}\n"
    frames.warm_up()


class Notebook:
    """The namespace of one chat."""

    def __init__(self, requests: io.BufferedReader, answers: int) -> None:
        self._requests = requests
        self._answers = answers
        self._asking = threading.Lock()
        self._slugs: tuple[str, ...] = ()
        self._kept: tuple[str, ...] = ()
        self._tables: dict[str, Json] = {}
        self._asked: set[str] = set()
        """Files of which all tables are among these."""
        self._read: dict[str, Any] = {}
        """Tables as variables of their names first held them."""
        self._shown: list[tuple[str, Any]] = []
        self._opened: dict[str, str] = {}
        """Files that the cell has opened, which it may open any number of times."""
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.names: dict[str, Any] = module.__dict__
        self.names.update(
            __builtins__=builtins,
            query=self.query,
            table=self.table,
            open_file=self.open_file,
            display=self.display,
        )
        for name, short in (("pandas", "pd"), ("numpy", "np")):
            self.names[short] = sys.modules.get(name)

    def run(self, request: Json) -> Json:
        """Run one cell and say what came of it. `replay` runs it for its effects on the namespace
        alone."""
        began = time.monotonic()
        self._slugs, self._kept = tuple(request["slugs"]), tuple(request["results"])
        self._shown, self._opened = [], {}
        for path in request["paths"]:
            if path not in sys.path:
                sys.path.append(path)
        printed = _Printed()
        out = Path(request["out"])
        answer: Json = {"value": "", "frames": [], "figures": [], "error": None, "notes": []}
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                value = self._execute(request["code"], f"<cell {request['number']}>")
                if not request["replay"]:
                    answer.update(self._results(value, out))
            except BaseException as e:  # noqa: BLE001 - SystemExit and KeyboardInterrupt of the code are its own affair too
                answer["error"] = failures.explain(
                    e, f"<cell {request['number']}>", request["code"]
                )
            finally:
                figures, notes = (
                    _draw_figures(out) if not request["replay"] else (_close_figures(), [])
                )
        answer["figures"] = figures
        answer["notes"] = [*answer["notes"], *notes]
        return {
            **answer,
            "printed": printed.kept(),
            "characters": printed.count,
            "seconds": time.monotonic() - began,
        }

    # What the code may call

    def query(self, sql: str) -> Any:
        """Rows of a DuckDB SELECT over the chat's tables, as a DataFrame; DataFrames of the
        namespace can be named too, and tables as they were changed there."""
        for slug in self._slugs:
            if slug not in self._asked and _is_named(slug, sql.lower(), "__"):
                self._need_table(slug)
                self._asked.add(slug)
        own = {
            name: value
            for name, value in self.names.items()
            if frames.is_frame(value) and _is_named(name, sql) and not self._is_as_read(name)
        }
        for name in self._kept:
            if name not in own and name not in self._tables and _is_named(name, sql.lower()):
                self._need_table(name)
        # what the code has made of a table goes before the table of its name
        changed = {name.lower() for name in own}
        tables = {name: table for name, table in self._tables.items() if name not in changed}
        return frames.query(sql, tables, own)

    def table(self, name: str) -> Any:
        """A fresh copy of one of the chat's tables by its SQL name."""
        source = self._find_table(name)
        if source is None:
            known = (
                ", ".join([*sorted({*self._tables, *self._slugs} - set(self._kept)), *self._kept])
                or "none"
            )
            raise NameError(f"there is no table {name!r} in this chat; there is {known}")
        return frames.read(source)

    def open_file(self, handle: str) -> str:
        """Path of a file of this chat, to read only."""
        handle = str(handle)
        if handle not in self._opened:
            paths = self._need("file", handle)
            if not paths:
                raise FileNotFoundError(f"the chat has no file {handle!r}")
            self._opened[handle] = next(iter(paths.values()))["path"]
        return os.path.relpath(self._opened[handle])

    def display(self, *values: Any) -> None:
        """Show values in the middle of a cell; DataFrames are kept as results."""
        for value in values:
            if (frame := frames.as_frame(value)) is not None:
                # As it is now: what the cell does to it later is no part of what was shown.
                self._shown.append((_name_of(value, self.names), frame.copy(deep=False)))
            else:
                print(_text_of(value))

    # Inside

    def _execute(self, code: str, name: str) -> Any:
        """Run the cell; the value of its last line if that is an expression that does not end with
        a semicolon."""
        tree = ast.parse(code, name)
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        last = tree.body[-1] if tree.body else None
        shown = isinstance(last, ast.Expr) and not code.rstrip().endswith(";")
        body = ast.Module(tree.body[:-1] if shown else tree.body, tree.type_ignores)
        self._load_tables(tree)
        exec(compile(body, name, "exec"), self.names)  # noqa: S102 - this is what the confined child is for
        if not shown:
            return None
        assert isinstance(last, ast.Expr)
        return eval(compile(ast.Expression(last.value), name, "eval"), self.names)  # noqa: S307 - see above

    def _load_tables(self, tree: ast.AST) -> None:
        """Read the tables that the cell names and the namespace does not have yet."""
        named = {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        for name in sorted(named - set(self.names)):
            is_table = name in self._kept or any(
                name == slug or name.startswith(f"{slug}__") for slug in self._slugs
            )
            if is_table and (source := self._find_table(name)) is not None:
                self.names[name] = frames.read(source)
                self._read[name] = self.names[name].copy(deep=False)

    def _is_as_read(self, name: str) -> bool:
        """Whether a variable still holds the rows of the table of its name."""
        return name in self._read and frames.is_same(self.names[name], self._read[name])

    def _find_table(self, name: str) -> Json | None:
        if name not in self._tables:
            self._need_table(name)
        return self._tables.get(name)

    def _need_table(self, name: str) -> None:
        self._tables.update(self._need("result" if name in self._kept else "table", name))

    def _need(self, kind: str, name: str) -> dict[str, Json]:
        """Ask the app for a table or file: name -> path and views. Raises LookupError with its
        words if it cannot be had."""
        with self._asking:
            request = {"need": kind, "name": str(name)[:300]}
            send(self._answers, json.dumps(request, ensure_ascii=False))
            reply = json.loads(self._requests.readline())
        if reply["error"]:
            raise LookupError(reply["error"])
        return dict(reply["paths"])

    def _results(self, value: Any, out: Path) -> Json:
        """The text of the last expression, and the DataFrames to keep."""
        shown, text = list(self._shown), ""
        if (frame := frames.as_frame(value)) is not None:
            shown.append((_name_of(value, self.names), frame))
        elif value is not None and not _is_drawn(value):
            text = _text_of(value)
        notes = (
            [f"{len(shown) - FRAMES} more DataFrames were shown and are not kept."]
            if len(shown) > FRAMES
            else []
        )
        saved_frames = []
        for number, (name, frame) in enumerate(shown[:FRAMES], 1):
            file = f"frame{number}.parquet"
            notes += frames.write(frame, out / file)
            saved_frames.append({"file": file, "name": name})
        return {"value": text, "frames": saved_frames, "notes": notes}


def _is_named(name: str, sql: str, further: str = "") -> bool:
    """Whether SQL holds a name as a whole word, or one that goes on with `further`."""
    more = f"|{re.escape(further)}" if further else ""
    return re.search(rf"(?<!\w){re.escape(name)}(?:(?!\w){more})", sql) is not None


class _Printed(io.TextIOBase):
    """Takes what is printed, keeps its beginning and counts the rest."""

    def __init__(self) -> None:
        self.count = 0
        self._pieces: list[str] = []
        self._room = PRINTED

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.count += len(text)
        if self._room > 0:
            piece = text[: self._room]
            self._pieces.append(piece)
            self._room -= len(piece)
        return len(text)

    def kept(self) -> str:
        return "".join(self._pieces)


def _text_of(value: Any) -> str:
    """A value as its author meant it to be read, cut."""
    import pprint

    if isinstance(value, dict | list | tuple | set):
        text = (
            pprint.pformat(value, width=110, compact=True)
            if len(value) <= 2_000
            else repr(list(value)[:50]) + " …"
        )
    elif type(value).__module__.startswith("numpy") and not getattr(value, "shape", ()):
        text = str(value)
    elif type(value).__module__.startswith("statsmodels") and hasattr(value, "as_text"):
        text = value.as_text()
    else:
        text = repr(value)
    return (
        text
        if len(text) <= VALUE
        else f"{text[:VALUE]}\n… {len(text):,} characters, the first {VALUE:,} are kept"
    )


def _name_of(value: Any, names: Json) -> str:
    """The variable that holds it, if one does."""
    return next(
        (name for name, held in names.items() if held is value and not name.startswith("_")), ""
    )


def _is_drawn(value: Any) -> bool:
    """Whether a value is a plot, which is shown as a figure: its text says nothing."""
    item = value[-1] if isinstance(value, list | tuple) and value else value
    if type(item).__module__ == "numpy" and hasattr(item, "flat") and item.size > 0:
        item = next(iter(item.flat))
    return type(item).__module__.startswith("matplotlib.")


def _figures() -> Iterator[Any]:
    """Open figures, in the order in which they were made."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot is not None else ():
        yield pyplot.figure(number)  # type: ignore[union-attr]


def _draw_figures(out: Path) -> tuple[list[str], list[str]]:
    """Draw every open figure as PNG and close it: the files, and what has to be said."""
    drawn: list[str] = []
    notes: list[str] = []
    for number, figure in enumerate(_figures(), 1):
        if number > FIGURES:
            notes.append(f"More than {FIGURES} figures were drawn; the others are not kept.")
            break
        try:
            width, height = figure.get_size_inches()
            largest = max(width, height)
            if largest > FIGURE_INCHES:
                figure.set_size_inches(
                    width * FIGURE_INCHES / largest, height * FIGURE_INCHES / largest
                )
            _make_room(figure)
            figure.savefig(out / f"figure{number}.png", dpi=FIGURE_DPI, bbox_inches=None)
            drawn.append(f"figure{number}.png")
        except Exception as e:  # noqa: BLE001 - a figure that cannot be drawn hides nothing else
            notes.append(f"Figure {number} could not be drawn: {failures.one_line(e)}")
    _close_figures()
    return drawn, notes


def _make_room(figure: Any) -> None:
    """Let long labels have the room that they need, unless the code has laid the figure out
    itself."""
    defaults = sys.modules["matplotlib"].rcParams
    sides = ("left", "right", "bottom", "top")
    if figure.get_layout_engine() is None and all(
        getattr(figure.subplotpars, side) == defaults[f"figure.subplot.{side}"] for side in sides
    ):
        figure.set_layout_engine("constrained")


def _close_figures() -> list[str]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        with contextlib.suppress(Exception):
            pyplot.close("all")
    return []

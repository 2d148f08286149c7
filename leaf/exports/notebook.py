"""A manifest as a Jupyter notebook (nbformat 4.5): questions and answers to read, queries and cells
to run. Pure."""

from __future__ import annotations

import ast
import importlib.resources
import json
import keyword
import re
import sys
from collections.abc import Iterator
from typing import Any

from leaf.agent.export import as_words, ending_in_words, headed
from leaf.exports.manifest import KeptAnswer, KeptCall, Manifest
from leaf.shapes.harmless import harmless_markdown

Json = dict[str, Any]

INTRODUCTION = """\
# {title}

Made from a chat of Leaf on {exported}. Put the data files into the folder that `DATA` names below, under any name; they are
found by their SHA-256: {files}. Then run all cells. Each query and each cell says whether it gives what the chat had.

It needs nothing of Leaf: `pip install {packages}` is enough. CSV and Parquet files are then read by DuckDB itself; others
cannot be read. With Leaf importable (in its own environment, or after `pip install` of its wheel) files are read as the chat read
them, spreadsheets included, and the last cell traces every figure anew. The Python below runs unconfined: read it first.
"""
START = """\
import json
from pathlib import Path

import numpy as np

DATA = Path("data")
MANIFEST = json.loads({manifest})
CALLS = {{(answer["id"], call["id"]): call for answer in MANIFEST["answers"] for call in answer["calls"]}}
RAN = {{}}
try:
    from leaf.replay import Workbench as _Tables
except ImportError:
    _Tables = DuckTables
_tables = _Tables(MANIFEST["files"], DATA)
_tables_named = [one["name"] for file in MANIFEST["files"] for one in file["tables"]]
_read = {{}}
try:
    display
except NameError:  # outside of Jupyter
    display = print


def _rows_of_table(name):
    quoted = name.replace('"', '""')
    return _tables.query(f'SELECT * FROM "{{quoted}}"')


def _read_table(name):
    frame = _rows_of_table(name)
    _read[name] = frame.copy(deep=int(pd.__version__.split(".")[0]) < 3)
    return frame


def _is_kept(name, frame):
    was = _read.get(name)
    return any(frame is one for one in RAN.values()) or (was is not None and frame.equals(was))


def table(name):
    return _rows_of_table(name)


def query(sql):
    there = {{name: value for name, value in globals().items() if isinstance(value, pd.DataFrame)}}
    own = {{name: there[name] for name in named_in(sql, there)}}
    if all(_is_kept(name, frame) for name, frame in own.items()):
        return _tables.query(sql)
    taken = {{name.lower() for name in own}}
    others = [name for name in named_in(sql.lower(), _tables_named) if name not in taken]
    return query_frames(sql, {{**{{name: _rows_of_table(name) for name in others}}, **own}})


def open_file(name):
    file = file_named(MANIFEST["files"], name)
    path = files_by_hash([file], DATA).get(file["sha256"])
    if path is None:
        raise FileNotFoundError(f"{{file['name']}} is not in {{DATA}}")
    return str(path)


def check_result(answer, call, frame, number=0):
    kept, frame = CALLS[answer, call]["results"][number], frame_of(frame)
    if frame is None:
        print(f"Not looked at: {{kept['result_id']}} is no table here")
        return None
    RAN[answer, call, kept["result_id"]] = frame
    _tables.keep(kept["result_id"], frame)
    different = result_differences(kept, frame)
    print("DIFFERENT: " + different if different else f"Agrees: {{kept['total']:,}} rows")
    return frame
"""
END = """\
if _Tables is not DuckTables:
    from leaf.replay import replay_manifest

    print(replay_manifest(MANIFEST, DATA))
else:
    for answer in MANIFEST["answers"]:
        for receipt in answer["receipts"]:
            frame = RAN.get((receipt["answer"] or answer["id"], receipt["call"], receipt["result_id"]))
            if frame is None or receipt["row"] < 0 or receipt["kind"] == "derived":
                print(f"{receipt['figure']}: {receipt['kind']} {receipt['how']}; not looked at without Leaf")
                if receipt.get("against"):
                    print(f"  {receipt['against']}")
            else:
                cells = list(frame[receipt["column"]]) if receipt["column"] in frame else []
                there = [*cells[receipt["row"] :], *cells, "nothing"]
                now = next((cell for cell in there if same_cell(receipt["value"], cell)), there[0])
                agrees = same_cell(receipt["value"], now)
                print(f"{receipt['figure']}: {'agrees' if agrees else 'DIFFERENT'}, {now} in {receipt['column']}")
"""


def notebook(manifest: Manifest) -> str:
    """The notebook's JSON."""
    cells = list(_cells(manifest))
    about: Json = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    numbered = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells, 1)]
    return json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": about, "cells": numbered},
        ensure_ascii=False,
        indent=1,
    )


def _cells(manifest: Manifest) -> Iterator[Json]:
    names = ", ".join(f"`{file.name}`" for file in manifest.files) or "none are needed"
    title = manifest.title or "Untitled chat"
    yield _text(
        INTRODUCTION.format(
            title=title, exported=manifest.exported[:10], files=names, packages=_packages(manifest)
        )
    )
    yield _code(_source("standalone.py"), hidden=True)
    compact = json.dumps(manifest.model_dump(), ensure_ascii=False, separators=(",", ":"))
    yield _code(START.format(manifest=repr(compact)), hidden=True)
    frames = _frames(manifest)
    if frames:
        yield _code("\n".join(f"{name} = _read_table({name!r})" for name in frames))
    for answer in manifest.answers:
        yield _text(headed(2, answer.question.strip() or "No question"))
        yield from _of_answer(answer)
    yield _text("## The figures")
    yield _code(END)


def _of_answer(answer: KeptAnswer) -> Iterator[Json]:
    """Calls before the words that come after them; what neither queries nor computes is told in a
    line."""
    calls = {call.id: call for call in answer.calls}
    for piece in answer.said:
        if piece.text.strip():
            yield _text(piece.text.strip())
        elif piece.call:
            yield from _of_call(answer.id, calls[piece.call])
    for about, lines in (("Cited:", answer.cited), ("Rests on:", answer.rests)):
        if lines:
            yield _text("\n".join([about, "", *(f"- {as_words(line)}" for line in lines)]))
    if ending := ending_in_words(answer.status):
        yield _text(f"*{ending}*")


def _of_call(answer: str, call: KeptCall) -> Iterator[Json]:
    if call.code:
        code, shown = _with_last(call)
        yield _code(code)
        checks = (
            f"{r.result_id or '_'} = check_result({answer!r}, {call.id!r}, {shown[i]}, {i})"
            for i, r in enumerate(call.results)
            if i in shown
        )
        if source := "\n".join(checks):
            yield _code(source)
    elif call.sql and call.results:
        result = call.results[0].result_id
        asked = f"_tables.query({_quoted(call.sql.strip())}, {result!r})"
        checked = f"check_result({answer!r}, {call.id!r}, {asked})"
        yield _code(f"{result} = {checked}\n{result}" if result else checked)
    else:
        yield _text(
            f"*{call.tool}*: `{json.dumps(call.input, ensure_ascii=False)[:300].replace('`', ' ')}`"
        )


def _with_last(call: KeptCall) -> tuple[str, dict[int, str]]:
    """The code of a cell, and by which name each of its tables is found afterwards. A last line that
    no variable holds gets the name of its result, by which later cells and queries read it."""
    code, last = call.code.strip(), len(call.results) - 1
    shown = {
        i: r.name
        for i, r in enumerate(call.results)
        if r.name.isidentifier() and not keyword.iskeyword(r.name)
    }
    name = call.results[last].result_id if call.results and not call.results[last].name else ""
    at = _last_expression(code) if name else None
    if at is None:
        return code, shown
    before, after = code.encode()[:at].decode(), code.encode()[at:].decode()
    return f"{before}{name} = {after}\n{name}", {**shown, last: name}


def _last_expression(code: str) -> int | None:
    """At which byte the last line of a cell begins that is an expression and stands by itself."""
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return None
    if not body or not isinstance(last := body[-1], ast.Expr) or code.endswith(";"):
        return None
    lines = code.encode().splitlines(keepends=True)
    return sum(map(len, lines[: last.lineno - 1])) + last.col_offset


def _quoted(sql: str) -> str:
    """SQL as a Python string that people can read."""
    if '"""' in sql or "\\" in sql or sql.endswith('"'):
        return repr(sql)
    return f'"""\n{sql}\n"""'


def _frames(manifest: Manifest) -> list[str]:
    """Tables that the chat's Python uses as variables."""
    code = "\n".join(call.code for call in manifest.calls())
    names = [table.name for file in manifest.files for table in file.tables]
    return [
        name for name in names if name.isidentifier() and re.search(rf"\b{re.escape(name)}\b", code)
    ]


PIP_NAMES = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "dateutil": "python-dateutil",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Packages that are imported by another name than they are installed by."""


def _packages(manifest: Manifest) -> str:
    """What pip has to install for the notebook's own code and that of the chat."""
    modules = (
        set().union(*(_imported(call.code) for call in manifest.calls() if call.code))
        - sys.stdlib_module_names
    )
    return " ".join(
        [
            "duckdb",
            "pandas",
            *sorted({PIP_NAMES.get(name, name) for name in modules} - {"duckdb", "pandas", "leaf"}),
        ]
    )


def _imported(code: str) -> set[str]:
    """The modules that a cell imports, without what is inside them."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except SyntaxError:
        return set()
    modules = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    modules += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {module.partition(".")[0] for module in modules}


def _source(name: str) -> str:
    return (
        importlib.resources.files("leaf.exports").joinpath(name).read_text(encoding="utf-8").strip()
    )


def _text(words: str) -> Json:
    return {"cell_type": "markdown", "metadata": {}, "source": harmless_markdown(words)}


def _code(source: str, hidden: bool = False) -> Json:
    metadata: Json = {"jupyter": {"source_hidden": True}} if hidden else {}
    return {
        "cell_type": "code",
        "metadata": metadata,
        "execution_count": None,
        "outputs": [],
        "source": source,
    }

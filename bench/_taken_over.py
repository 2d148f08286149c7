"""What a parser says that a hostile file took over: loaded in the confined child alone, in place of
what it would answer. Those of `tests/hostile_children.py` come besides.

`LINES` are whole lines, said as the answer of any call; the functions replace one function of the
readers each.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_HEAD, _TAIL = b'{"value": "', b'"}'
LINES: dict[str, Callable[[], bytes]] = {
    "no JSON": lambda: b"rubbish",
    "nothing": lambda: b"",
    "bytes that are no text": lambda: b"\xff\xfe\x00\x80" * 1_000,
    "zeros": lambda: bytes(1_000_000),
    "lists inside lists": lambda: b'{"value": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "objects inside objects": lambda: (
        b'{"value": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}"
    ),
    "twenty million lists": lambda: b'{"value": [' + b"[]," * 20_000_000 + b"[]]}",
    "five million words": lambda: b'{"value": [' + b'"",' * 5_000_000 + b'""]}',
    "five million keys": lambda: b'{"value": {' + b'"a":1,' * 5_000_000 + b'"b":1}}',
    "a text of 60 MB": lambda: _HEAD + b"x" * 60_000_000 + _TAIL,
    "a text of 200 MB": lambda: _HEAD + b"x" * 200_000_000 + _TAIL,
    "a text of nothing but quotes": lambda: _HEAD + b'\\"' * 4_000_000 + _TAIL,
    "a number of a million digits": lambda: b'{"value": ' + b"9" * 1_000_000 + b"}",
    "numbers that are none": lambda: b'{"value": NaN}',
    "a number instead of text": lambda: b'{"value": 1e400}',
    "keys twice": lambda: b'{"value": "a", "value": ["b"]}',
    "an error that names a class of Python": lambda: (
        b'{"error": {"class": "__class__", "message": "a", "hint": "b"}}'
    ),
    "an error of the store": lambda: (
        b'{"error": {"class": "StoreError", "message": "Lost.", "hint": ""}}'
    ),
    "an error of the sign-in": lambda: (
        b'{"error": {"class": "SignInError", "message": "Out.", "hint": ""}}'
    ),
    "an error of a stop": lambda: (
        b'{"error": {"class": "RunError", "message": "Stopped.", "hint": ""}}'
    ),
    "an error of 50 MB": lambda: (
        b'{"error": {"class": "FileError", "message": "' + b"x" * 50_000_000 + b'", "hint": ""}}'
    ),
    "an error that is no text": lambda: (
        b'{"error": {"class": "FileError", "message": ["a"], "hint": {}}}'
    ),
    "a disk that is full": lambda: b'{"failure": {"details": "", "disk_full": true}}',
    "a failure with a field more": lambda: b'{"failure": {"details": [], "memory": "x"}}',
    "progress beyond all numbers": lambda: b'{"progress": [' + b"9" * 400 + b", 1]}",
    "progress without end": lambda: b'{"progress": [1, 2]}\n' * 2_000_000,
    "progress that is no number": lambda: b'{"progress": ["1", null]}',
    "lines of nothing without end": lambda: b"\n" * 30_000_000,
}
"""None is a text, which is what the call returns. Made when they are said: together they take half a
GB."""


def __getattr__(name: str) -> Callable[[], None]:
    """`line_3`: what says the fourth of `LINES`."""
    if not name.startswith("line_"):
        raise AttributeError(name)
    line = list(LINES.values())[int(name.removeprefix("line_"))]
    return lambda: _say(line())


def _say(line: bytes) -> None:
    """Have any call answered by this line."""

    def forged(_function: str, _arguments: dict[str, Any]) -> str:
        for descriptor in range(3, 64):
            data = memoryview(line + b"\n")
            try:
                while data:
                    data = data[os.write(descriptor, data) :]
            except OSError:
                continue
        os._exit(0)

    vars(sys.modules["__main__"])["_answer"] = forged


def in_place(module: str, lie: str) -> bool:
    """Tell a lie from here on. What cannot be told fails, where preloading says nothing of it."""
    getattr(importlib.import_module(module), lie)()
    return True


def _instead(module: str, name: str, function: Callable[..., Any]) -> None:
    vars(importlib.import_module(module))[name] = function


# Pictures


def a_picture_with_another_name() -> None:
    """`secret.txt` lies beside the data folder, five folders above the own one."""

    def pictures(path: str, out: str, pages: list[int], **_: Any) -> list[dict[str, Any]]:
        os.link(path, Path(out) / "page-1")
        return [{"page": 1, "media_type": "image/png", "width": 10, "height": 10}]

    _instead("leaf.files.child", "pictures", pictures)


def a_picture_of_secrets() -> None:
    def pictures(path: str, out: str, pages: list[int], **_: Any) -> list[dict[str, Any]]:
        os.symlink(Path.cwd().parents[4] / "secret.txt", Path(out) / "page-1")
        return [{"page": 1, "media_type": "image/png", "width": 10, "height": 10}]

    _instead("leaf.files.child", "pictures", pictures)


def a_picture_that_is_a_pipe() -> None:
    def pictures(path: str, out: str, pages: list[int], **_: Any) -> list[dict[str, Any]]:
        os.mkfifo(Path(out) / "page-1")
        return [{"page": 1, "media_type": "image/png", "width": 10, "height": 10}]

    _instead("leaf.files.child", "pictures", pictures)


def a_picture_that_is_a_folder() -> None:
    def pictures(path: str, out: str, pages: list[int], **_: Any) -> list[dict[str, Any]]:
        (Path(out) / "page-1").mkdir()
        return [{"page": 1, "media_type": "image/png", "width": 10, "height": 10}]

    _instead("leaf.files.child", "pictures", pictures)


def an_output_folder_that_is_a_link() -> None:
    def pictures(path: str, out: str, pages: list[int], **_: Any) -> list[dict[str, Any]]:
        os.rmdir(out)
        os.symlink(Path.cwd().parents[4], out)
        return [{"page": 1, "media_type": "image/png", "width": 10, "height": 10}]

    _instead("leaf.files.child", "pictures", pictures)


def a_picture_of_a_billion_pixels() -> None:
    def pictures(path: str, out: str, pages: list[int], **_: Any) -> list[dict[str, Any]]:
        (Path(out) / "page-1").write_bytes(b"\x89PNG\r\n\x1a\n")
        return [{"page": 1, "media_type": "image/png", "width": 10**9, "height": -1}]

    _instead("leaf.files.child", "pictures", pictures)


# What a file is


def _inspect_as(kind: str, media_type: str, /, **outline: Any) -> None:
    said = {
        "kind": kind,
        "media_type": media_type,
        "outline": {"kind": kind, "media_type": media_type, **outline},
    }
    _instead("leaf.readers.worker", "inspect", lambda path, name: said)


def a_kind_that_is_a_path() -> None:
    _inspect_as("../../../etc", "text/plain")


def a_text_that_is_a_page() -> None:
    _inspect_as("text", "text/html")


def a_picture_with_scripts() -> None:
    _inspect_as("picture", "image/svg+xml", media_type="image/svg+xml", width=1, height=1)


def a_type_with_a_header() -> None:
    _inspect_as("pdf", "application/pdf\r\nSet-Cookie: a=b", pages=1)


def notes_without_end() -> None:
    _inspect_as("text", "text/plain", notes=[{"kind": "x", "text": "x" * 100}] * 60_000)


def a_note_of_a_page() -> None:
    _inspect_as("text", "text/plain", notes=[{"kind": "x", "text": "<script>", "count": 10**40}])


def fewer_pages_than_none() -> None:
    _inspect_as("pdf", "application/pdf", pages=-5)


def a_length_without_end() -> None:
    _inspect_as("audio", "audio/mpeg", duration=float("inf"))


# Tables


def a_table_that_is_a_link() -> None:
    def tables(path: str, kind: str, out: str) -> list[dict[str, Any]]:
        os.symlink(Path.cwd().parents[4] / "secret.txt", Path(out) / "0.parquet")
        return [{"sheet": "", "place": "", "rows": 1, "columns": [["a", "INT"]]}]

    _instead("leaf.readers.worker", "tables", tables)


def a_table_that_is_none() -> None:
    def tables(path: str, kind: str, out: str) -> list[dict[str, Any]]:
        (Path(out) / "0.parquet").write_bytes(b"PAR1" + b"\xff" * 1_000 + b"PAR1")
        return [{"sheet": "", "place": "", "rows": 1, "columns": [["a", "INT"]]}]

    _instead("leaf.readers.worker", "tables", tables)


def tables_that_are_not_there() -> None:
    def tables(path: str, kind: str, out: str) -> list[dict[str, Any]]:
        return [{"sheet": "", "place": "", "rows": 10**30, "columns": [["a", "INT"]]}] * 1_000

    _instead("leaf.readers.worker", "tables", tables)


def _rows(**changed: Any) -> None:
    def query(out: str, **_: Any) -> dict[str, Any]:
        (Path(out) / "result.parquet").write_bytes(b"PAR1")
        rows = {"columns": ["a"], "types": ["INT"], "rows": [[1]], "total": 1, "clipped": 0}
        lists: dict[str, Any] = {
            "said": [],
            "tables": ["t"],
            "data_only": [],
            "read": None,
            "first": {},
        }
        return {**rows, **lists, "sql": "SELECT 1", **changed}

    _instead("leaf.tables.child", "query", query)


def more_rows_than_are_shown() -> None:
    _rows(rows=[[1]] * 50_000, total=50_000)


def fewer_rows_than_are_shown() -> None:
    _rows(rows=[[1]] * 5, total=2)


def rows_of_objects() -> None:
    _rows(rows=[[{"a": [[[]]]}]])


# Members of archives


def _members(paths: list[str], write: Callable[[Path], object]) -> None:
    def unpack(path: str, kind: str, out: str, **_: Any) -> dict[str, Any]:
        for number in range(1, len(paths) + 1):
            write(Path(out) / str(number))
        members = [{"path": name, "size": 1} for name in paths]
        return {"members": members, "problems": [], "problem_count": 0, "notes": []}

    _instead("leaf.readers.archives", "unpack", unpack)


def members_with_paths() -> None:
    names = ["../../../../evil.txt", "/etc/evil.txt", "a/../../evil.txt", "..\\..\\evil.txt"]
    _members(names, lambda path: path.write_text("evil"))


def members_with_names_that_act() -> None:
    names = ["\u202etxt.evil", "a\nb.txt", "![x](https://evil.example)", "\x00.txt", "x" * 5_000]
    _members(names, lambda path: path.write_text("evil"))


def members_that_are_not_there() -> None:
    _members(["a.txt"] * 5, lambda path: None)


def members_that_are_links() -> None:
    _members(["a.txt"], lambda path: os.symlink(Path.cwd().parents[4] / "secret.txt", path))


# Words


def passages_of_another_file() -> None:
    def extract(path: str, kind: str, out: str) -> dict[str, Any]:
        os.symlink(Path.cwd().parents[4] / "secret.txt", Path(out) / "passages.jsonl")
        return {"count": 1, "notes": []}

    _instead("leaf.readers.worker", "extract", extract)

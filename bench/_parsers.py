"""The part of `bench.sandbox` about parsers that a hostile file took over: what they say and leave
behind is handed to the library and the tables as any parser's work is."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import _taken_over
from bench._attempts import DONE, GROWN_MB, SECRET, Outcome, grown, tells
from leaf.errors import LeafError, SandboxError
from leaf.files.library import Library
from leaf.readers.base import KINDS
from leaf.readers.media_types import MEDIA_TYPES, OTHER
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import Pool
from leaf.settings import Settings
from leaf.store import Store, open_store, users
from leaf.store.model import ChatFile, File, Scope
from leaf.tables.tables import Tables
from tests import hostile_children, pictures_kit

HERE = Path(__file__).resolve().parent
PLACES = (HERE, HERE.parent / "tests")
LINE = CallLimits(seconds=10, memory_mb=1_024)
SECONDS = 60.0
"""For a lie about a file: the library gives its parsers so long at least."""
LONGEST = 500_000
"""Characters of what one call may bring that a model or a page gets."""

HONEST = {"progress without end", "keys twice", "a text of nothing but quotes"}
"""Lines behind which an answer of the right type may stand."""


def parsers(home: Path, only: str, untouched: Callable[[], bool]) -> Iterator[Outcome]:
    """Every lie, in a data folder with a picture, a table, a text and an archive."""
    yield from lines(home, only)
    with closing(open_store(Settings(home=home / "library"))) as store:
        desk = Desk.opened(store, home / "library")
        for name, act in {
            **desk.of(hostile_children, OURS),
            **desk.of(_taken_over, THEIRS),
        }.items():
            if only in name:
                yield _tried(home, name, act, untouched)


def lines(home: Path, only: str) -> Iterator[Outcome]:
    """Whole lines in place of an answer. Each has to be an error of the sandbox, soon, and without
    the app having grown by it."""
    for number, name in enumerate(_taken_over.LINES):
        named = f"a parser says {name}"
        if only not in named:
            continue
        with closing(_pool(home / "lines", "_taken_over", f"line_{number}")) as pool:
            _ready(pool)
            began, said, refused = time.monotonic(), "believed", name in HONEST
            with grown() as by:
                try:
                    pool.call("platform:python_version", {}, returns=str, limits=LINE)
                except LeafError as e:
                    said = f"{type(e).__name__}: {e}"
                    refused |= isinstance(e, SandboxError) or _is_file_error(name, said)
            seconds = time.monotonic() - began
        held = refused and len(said) < 10_000 and by[0] < GROWN_MB
        yield Outcome(named, held, seconds, f"{by[0]:.0f} MB; {said[:150]}", limit=LINE.seconds)


def _is_file_error(name: str, said: str) -> bool:
    """An error that a reader may raise is taken over, cut."""
    return name == "an error of 50 MB" and said.startswith("FileError")


def _ready(pool: Pool) -> None:
    """Wait until a child waits, so that its start is not counted."""
    pool.warm()
    deadline = time.monotonic() + 30
    while not pool._children.waiting() and time.monotonic() < deadline:
        time.sleep(0.01)


def _pool(home: Path, module: str, lie: str) -> Pool:
    return Pool(home, size=1, preload=(f"{module}:{lie}",), paths=PLACES)


Act = Callable[[Pool], object]


def _tried(
    home: Path, name: str, act: tuple[str, str, Act], untouched: Callable[[], bool]
) -> Outcome:
    """Whether what a lie brings is an error in words, or plain, bounded and of the kinds that there
    are."""
    module, lie, work = act
    with closing(_pool(home / "taken", module, lie)) as pool:
        pool.call("_taken_over:in_place", {"module": module, "lie": lie}, returns=bool)
        _ready(pool)
        began = time.monotonic()
        with grown() as by:
            try:
                said = str(work(pool))
            except LeafError as e:
                said = f"{type(e).__name__}: {e}"
            except Exception as e:  # noqa: BLE001 - what a person must never see is what this looks for
                said = f"{DONE} as {type(e).__name__}: {e}"
        seconds = time.monotonic() - began
    held = DONE not in said and SECRET not in said and len(said) < LONGEST
    held = held and by[0] < GROWN_MB and untouched() and not tells(home / "library")
    return Outcome(name, held, seconds, f"{by[0]:.0f} MB; {said[:150]}", limit=SECONDS)


@dataclass(frozen=True)
class Desk:
    """What is done with files, by the kind of lie."""

    store: Store
    home: Path
    scope: Scope
    files: dict[str, File]

    @staticmethod
    def opened(store: Store, home: Path) -> Desk:
        scope = users.ensure_local_user(store.db)
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as packed:
            packed.writestr("inside.txt", "words")
        given = {
            "photo.jpg": pictures_kit.photo(30, 20, orientation=1),
            "t.csv": b"a,b\n1,2\n3,4\n",
            "a.txt": b"harmless words",
            "b.zip": archive.getvalue(),
        }
        with closing(Pool(home, size=1, preload=())) as honest:
            library = Library(store, honest, home)
            files = {
                name: library.add(scope, name, io.BytesIO(data)).file
                for name, data in given.items()
            }
            desk = Desk(store, home, scope, files)
            desk._tables(honest)
        return desk

    def of(self, module: Any, lies: dict[str, str]) -> dict[str, tuple[str, str, Act]]:
        """Each lie of a module with what is done where it is told."""
        name = module.__name__.rpartition(".")[2]
        return {
            f"a parser tells of {lie.replace('_', ' ')}": (name, lie, getattr(self, f"_{work}"))
            for lie, work in lies.items()
            if getattr(module, lie)
        }

    def _library(self, pool: Pool) -> Library:
        return Library(self.store, pool, self.home)

    def _chat_file(self) -> ChatFile:
        return ChatFile(chat_id="", handle="f1", slug="t", file=self.files["t.csv"])

    def _picture(self, pool: Pool) -> str:
        library, file = self._library(pool), self.files["photo.jpg"]
        try:
            library.pictures.view(self.scope, file)
        except LeafError:
            return f"{len(library.pictures.thumbnail(self.scope, file.id)[0])} bytes"
        return DONE

    def _arrival(self, pool: Pool) -> str:
        number = sum(1 for _ in (self.home / "blobs").rglob("*")) if self.home.exists() else 0
        data = io.BytesIO(f"<script>{time.monotonic_ns()}-{number}".encode())
        file = self._library(pool).add(self.scope, "song.mp3", data).file
        fits = file.kind in (*KINDS, "unknown") and file.media_type in (
            *MEDIA_TYPES.get(file.kind, ()),
            OTHER,
        )
        outline = json.dumps(file.outline)
        plain = json.loads(outline, parse_constant=lambda _: DONE)
        return f"{'' if fits else DONE} {file.kind} {file.media_type} {plain}"

    def _tables(self, pool: Pool) -> str:
        """With the tables of a run before taken away, so that they are made anew."""
        import shutil

        shutil.rmtree(self.home / "tables", ignore_errors=True)
        found = Tables(self.store, pool, self.home).of(self.scope, [self._chat_file()])
        return f"{[t.name for t in found.tables]} {found.failures}"

    def _query(self, pool: Pool) -> str:
        with closing(Pool(self.home, size=1, preload=())) as honest:
            self._tables(honest)
        queries = Tables(self.store, pool, self.home).queries
        found = queries.query(self.scope, "c1", [self._chat_file()], "SELECT * FROM t")
        return DONE + str(found)

    def _search(self, pool: Pool) -> str:
        import shutil

        shutil.rmtree(self.home / "search", ignore_errors=True)
        found = self._library(pool).search(self.scope, [self.files["a.txt"]], "harmless")
        return f"{DONE if found.hits else ''} {found}"

    def _read(self, pool: Pool) -> str:
        return str(self._library(pool).texts.read(self.scope, self.files["a.txt"], max_tokens=500))

    def _unpack(self, pool: Pool) -> str:
        found = self._library(pool).unpack(self.scope, self.files["b.zip"].id)
        names = [file.name for file in found.inside] if found else []
        acts = [
            n
            for n in names
            if ".." in n.split("/") or n.startswith("/") or "\x00" in n or len(n) > 1_000
        ]
        return f"{DONE if acts else ''} {names} {found.file.outline if found else ''}"


OURS = {
    **dict.fromkeys(
        ("name_another_file", "link_another_file", "draw_a_page_of_script", "draw_other_pages"),
        "picture",
    ),
    **dict.fromkeys(
        (
            "call_a_page_sound",
            "call_it_an_unknown_kind",
            "count_pages_without_end",
            "say_something_else",
        ),
        "arrival",
    ),
    **dict.fromkeys(("name_tables_elsewhere", "leave_a_profile_behind"), "tables"),
    **dict.fromkeys(("write_other_passages", "write_a_line_without_end"), "search"),
    "count_rows_that_are_not_there": "query",
    "say_more_than_was_asked_for": "read",
}
THEIRS = {
    **dict.fromkeys(
        (
            *("a_picture_with_another_name", "a_picture_of_secrets", "a_picture_that_is_a_pipe"),
            *("a_picture_that_is_a_folder", "an_output_folder_that_is_a_link"),
            "a_picture_of_a_billion_pixels",
        ),
        "picture",
    ),
    **dict.fromkeys(
        (
            *("a_kind_that_is_a_path", "a_text_that_is_a_page", "a_picture_with_scripts"),
            *("a_type_with_a_header", "notes_without_end", "a_note_of_a_page"),
            *("fewer_pages_than_none", "a_length_without_end"),
        ),
        "arrival",
    ),
    **dict.fromkeys(
        ("a_table_that_is_a_link", "a_table_that_is_none", "tables_that_are_not_there"), "tables"
    ),
    **dict.fromkeys(
        ("more_rows_than_are_shown", "fewer_rows_than_are_shown", "rows_of_objects"), "query"
    ),
    **dict.fromkeys(
        (
            *("members_with_paths", "members_with_names_that_act"),
            *("members_that_are_not_there", "members_that_are_links"),
        ),
        "unpack",
    ),
    "passages_of_another_file": "search",
}
"""Lie -> what is done that it answers."""
